// Holds lines of text against the grammar that llama.cpp makes of a JSON Schema: its own converter and its own matcher.
//   matcher < jobs      each job: a line with the schema, then lines `+TEXT-AS-JSON-STRING`… and an empty line
// Prints for each job `refused REASON` or one character a text: `y` or `n`.
#include "json-schema-to-grammar.h"
#include "../src/llama-grammar.h"
#include "../src/llama-vocab.h"
#include "json.h"

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

// What llama-grammar.cpp links against and is not asked here: tokens of a model's vocabulary.
int32_t llama_vocab::tokenize(const char *, int32_t, llama_token *, int32_t, bool, bool) const { std::abort(); }
const std::string & llama_vocab::token_to_piece(llama_token) const { std::abort(); }
bool llama_vocab::is_eog(llama_token) const { std::abort(); }

// What the two files link against and does not bear on matching.
std::string string_repeat(const std::string & text, size_t times) {
    std::string all;
    while (times-- > 0) all += text;
    return all;
}
std::string string_join(const std::vector<std::string> & parts, const std::string & between) {
    std::string all;
    for (size_t at = 0; at < parts.size(); at++) all += (at ? between : "") + parts[at];
    return all;
}
std::vector<std::string> string_split(const std::string & text, const std::string & at) {
    std::vector<std::string> parts;
    size_t from = 0, found;
    while ((found = text.find(at, from)) != std::string::npos) {
        parts.push_back(text.substr(from, found - from));
        from = found + at.size();
    }
    parts.push_back(text.substr(from));
    return parts;
}
extern "C" void ggml_abort(const char *, int, const char *, ...) { std::abort(); }
void llama_log_internal(ggml_log_level, const char *, ...) {}

static bool accepts(const std::string & grammar_text, const std::string & text) {
    auto * grammar = llama_grammar_init_impl(nullptr, grammar_text.c_str(), "root", false, nullptr, 0, nullptr, 0);
    if (grammar == nullptr) throw std::runtime_error("the grammar cannot be read");
    bool ended = false;
    try {
        llama_grammar_accept_str(*grammar, text);
        for (const auto & stack : llama_grammar_get_stacks(grammar)) ended = ended || stack.empty();
    } catch (const std::exception &) {
    }
    llama_grammar_free_impl(grammar);
    return ended;
}

int main() {
    std::string line;
    while (std::getline(std::cin, line)) {
        std::string grammar, said, refusal;
        try {
            grammar = json_schema_to_grammar(common_json::parse(line), true);
        } catch (const std::exception & error) {
            refusal = error.what();
        }
        while (std::getline(std::cin, line) && !line.empty()) {
            if (!refusal.empty()) continue;
            try {
                said += accepts(grammar, common_json::parse(line).get<std::string>()) ? 'y' : 'n';
            } catch (const std::exception & error) {
                refusal = error.what();
            }
        }
        for (auto & c : refusal) if (c == '\n') c = ' ';
        if (refusal.empty()) std::cout << said << std::endl;
        else std::cout << "refused " << refusal << std::endl;
    }
}
