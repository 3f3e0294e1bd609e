//! What the author probably meant.

use super::draft::Draft;
use super::keywords;

/// Why a name that is no keyword of `draft` is refused, and what to write instead.
pub(crate) fn unknown_keyword(name: &str, draft: Draft) -> (String, Option<String>) {
    let reason = if let Some(drafts) = keywords::drafts_with(name) {
        format!("`{name}` is a keyword of {drafts}, not of {}", draft.name())
    } else if matches!(name, "contentEncoding" | "contentMediaType" | "contentSchema") {
        format!("`{name}` is an annotation in {}: nothing would enforce it", draft.name())
    } else {
        format!("`{name}` is not a keyword of {}: nothing would enforce it", draft.name())
    };
    (reason, instead(name, draft))
}

fn instead(name: &str, draft: Draft) -> Option<String> {
    let known = match name {
        "nullable" => "`\"type\": [\"string\", \"null\"]`, with the type that stands there",
        "discriminator" => "`anyOf` whose alternatives have a `const` member",
        "example" if draft >= Draft::Six => "`examples`, an array",
        "xml" | "externalDocs" => "`description`",
        "divisibleBy" => "`multipleOf`",
        "extends" => "`allOf`",
        "disallow" => "`not`",
        "optional" => "leave the member out of `required`",
        "const" => "`enum` with one value",
        "if" | "then" | "else" => "`anyOf`",
        "dependencies" => "`dependentRequired` for lists of names, `dependentSchemas` for schemas",
        "dependentRequired" | "dependentSchemas" => "`dependencies`",
        "additionalItems" => "`items`, beside `prefixItems`",
        "prefixItems" => "`items` with an array",
        "definitions" => "`$defs`, and `#/$defs/…` in the references",
        "$defs" => "`definitions`, and `#/definitions/…` in the references",
        "$id" => "`id`",
        "id" => "`$id`",
        "$recursiveRef" => "`$ref`, or `$dynamicRef`",
        "$dynamicRef" => "`$ref`",
        "$vocabulary" => "leave it out: it belongs in meta-schemas",
        "contentEncoding" => "a `pattern`",
        "contentSchema" | "contentMediaType" => "members of the body itself instead of JSON within a string",
        _ if name.starts_with("x-") => "name it in the route's `annotations`",
        _ => return nearest(name, draft.keyword_names()).map(|near| format!("`{near}`")),
    };
    Some(known.to_owned())
}

/// The nearest of some names: the same but for case, else within two edits.
pub(crate) fn nearest<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let lower = name.to_ascii_lowercase();
    names
        .map(|candidate| (distance(&lower, &candidate.to_ascii_lowercase()), candidate))
        .filter(|(edits, candidate)| *edits <= 2 && *edits < candidate.len().div_ceil(2))
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, candidate)| candidate)
}

/// Edits from one word to the other: insert, delete, replace, swap two neighbours.
fn distance(left: &str, right: &str) -> usize {
    let (left, right): (Vec<char>, Vec<char>) = (left.chars().collect(), right.chars().collect());
    if left.len().abs_diff(right.len()) > 2 {
        return usize::MAX;
    }
    let mut rows: Vec<Vec<usize>> = vec![(0..=right.len()).collect()];
    for (i, a) in left.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in right.iter().enumerate() {
            let mut edits = (rows[i][j] + usize::from(a != b)).min(rows[i][j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *a == right[j - 1] && left[i - 1] == *b {
                edits = edits.min(rows[i - 1][j - 1] + 1);
            }
            row.push(edits);
        }
        rows.push(row);
    }
    rows[left.len()][right.len()]
}
