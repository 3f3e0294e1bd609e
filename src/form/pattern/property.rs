//! Character properties that ECMA-262 and the engine know by the same name.

/// General categories by the names ECMA-262 knows (table 68), scripts by their shape.
pub(super) fn is_known(name: &str) -> bool {
    match name.split_once('=') {
        Some(("General_Category" | "gc", value)) => CATEGORIES.contains(&value),
        Some(("Script" | "sc" | "Script_Extensions" | "scx", value)) => {
            value.starts_with(|first: char| first.is_ascii_uppercase())
                && value.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        }
        Some(_) => false,
        None => CATEGORIES.contains(&name) || BINARY.contains(&name),
    }
}

const BINARY: &[&str] =
    &["Any", "ASCII", "Alphabetic", "Alpha", "Lowercase", "Lower", "Uppercase", "Upper", "White_Space"];

#[rustfmt::skip] // short and long name side by side
const CATEGORIES: &[&str] = &[
    "L", "Letter", "LC", "Cased_Letter", "Lu", "Uppercase_Letter", "Ll", "Lowercase_Letter",
    "Lt", "Titlecase_Letter", "Lm", "Modifier_Letter", "Lo", "Other_Letter",
    "M", "Mark", "Combining_Mark", "Mn", "Nonspacing_Mark", "Mc", "Spacing_Mark", "Me", "Enclosing_Mark",
    "N", "Number", "Nd", "Decimal_Number", "digit", "Nl", "Letter_Number", "No", "Other_Number",
    "P", "Punctuation", "punct", "Pc", "Connector_Punctuation", "Pd", "Dash_Punctuation",
    "Ps", "Open_Punctuation", "Pe", "Close_Punctuation", "Pi", "Initial_Punctuation",
    "Pf", "Final_Punctuation", "Po", "Other_Punctuation",
    "S", "Symbol", "Sm", "Math_Symbol", "Sc", "Currency_Symbol", "Sk", "Modifier_Symbol", "So", "Other_Symbol",
    "Z", "Separator", "Zs", "Space_Separator", "Zl", "Line_Separator", "Zp", "Paragraph_Separator",
    "C", "Other", "Cc", "Control", "cntrl", "Cf", "Format", "Co", "Private_Use", "Cn", "Unassigned",
];
