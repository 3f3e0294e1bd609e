"""The engines themselves: each makes its grammar of a schema and says which texts it would let a model write."""

import json
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).parent


class Refused(Exception):
    """The engine does not take the schema."""


class Llguidance:
    name = "llguidance"
    separators = (",", ":")

    def __init__(self):
        import llguidance

        self.matcher = llguidance.LLMatcher
        self.tokens = llguidance.LLTokenizer("byte")  # a token a byte

    def judge(self, schema, texts):
        grammar = self.matcher.grammar_from_json_schema(json.dumps(schema))
        said = []
        for text in texts:
            matcher = self.matcher(self.tokens, grammar, log_level=0)
            if matcher.is_error():
                raise Refused(matcher.get_error())
            taken = list(text.encode())
            said.append(matcher.try_consume_tokens(taken) == len(taken) and matcher.is_accepting())
        return said


class Xgrammar:
    name = "xgrammar"
    separators = (",", ":")

    def __init__(self):
        sys.path.insert(0, str(HERE / "stand_ins"))
        import xgrammar
        from xgrammar.testing import _is_grammar_accept_string

        self.grammar, self.accepts = xgrammar.Grammar, _is_grammar_accept_string

    def judge(self, schema, texts):
        try:
            grammar = self.grammar.from_json_schema(json.dumps(schema))
        except Exception as error:
            raise Refused(str(error)) from error
        return [self.accepts(grammar, text) for text in texts]


class Outlines:
    """outlines-core: the schema becomes one regular expression over characters, walked here as a DFA over bytes."""

    name = "outlines-core"
    separators = (",", ":")
    # Characters of a regular expression above which the index takes minutes; then Python reads it.
    long = 4000

    def __init__(self):
        import outlines_core

        self.core = outlines_core
        self.build = outlines_core.json_schema.build_regex_from_schema
        # A token a byte; 0 is the end.
        self.vocabulary = outlines_core.Vocabulary(0, {bytes([byte]): [byte] for byte in range(1, 256)})

    def judge(self, schema, texts):
        try:
            regex = self.build(json.dumps(schema))
            if len(regex) > self.long:
                return [re.fullmatch(regex, text) is not None for text in texts]
            guide = self.core.Index(regex, self.vocabulary)
        except Exception as error:
            raise Refused(str(error)) from error
        return [self.walk(guide, text.encode()) for text in texts]

    def walk(self, index, data):
        state = index.get_initial_state()
        for byte in data:
            state = index.get_next_state(state, byte)
            if state is None:
                return False
        return index.is_final_state(state)


class Llamacpp:
    """llama.cpp: its own converter and matcher, compiled from the source that llama-cpp-python ships."""

    name = "llama.cpp"
    separators = (",", ":")

    def __init__(self, program):
        self.program = program

    def judge(self, schema, texts):
        job = json.dumps(schema) + "\n" + "".join(json.dumps(text) + "\n" for text in texts) + "\n"
        done = subprocess.run([self.program], input=job, capture_output=True, text=True, timeout=60)
        said = done.stdout.strip()
        if done.returncode != 0:
            raise Refused(f"exit {done.returncode}: {done.stderr.strip()[-200:]}")
        if said.startswith("refused"):
            raise Refused(said.removeprefix("refused ").strip())
        return [mark == "y" for mark in said]
