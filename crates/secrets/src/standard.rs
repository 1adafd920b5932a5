//! What is around secrets: fragments of the patterns that `rules.toml` is turned into.

/// What may be right before a word: nothing that belongs to it, or the end of
/// an escape, as in JSON within JSON, URLs and the colours of a terminal.
macro_rules! before {
    () => {
        r"(?:(?-u:\b)|_|\\[abefnrtv]|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|%[0-9A-Fa-f]{2}|\[[0-9;]*[mK])"
    };
}

/// Spaces, line ends and the escapes of them.
macro_rules! gap {
    ($least:literal) => {
        // A line of a diff or of a quotation begins with its sign.
        concat!(
            r"(?:(?:\n|\\+n)[+>|-]|[ \t\r\n]|\\+[nrt]){",
            $least,
            r",40}"
        )
    };
}

/// A quote, escaped however often.
macro_rules! quote {
    () => {
        r#"(?:\\*["'`])"#
    };
}

/// `"value": `, where a list has names and values.
macro_rules! value {
    () => {
        concat!(
            quote!(),
            r"?(?i:value)",
            quote!(),
            "?",
            gap!(0),
            r"[:=]",
            gap!(0)
        )
    };
}

pub(super) const BEFORE: &str = before!();

/// A quote, escaped however often.
pub(super) const QUOTE: &str = quote!();

/// What is between a label and what it labels, in JSON, YAML, XML, CSV, shells,
/// programs and what they ask; quotes may be escaped, however often.
pub(super) const ASSIGNED: &str = concat!(
    quote!(),
    r"?(?:[ \t]{0,3}\[[^\]\n]{0,40}\])?[\])]?",
    "(?:",
    gap!(0),
    r"(?:->|[?:=>,|]{1,3})",
    gap!(0),
    // The type that a program declares.
    r"(?:[&A-Za-z_][&'A-Za-z0-9_.:\[\]<>|? ]{0,40}=",
    gap!(0),
    ")?(?:",
    value!(),
    ")?|",
    gap!(1),
    value!(),
    ")",
    // What makes a value of a text, and how it is written.
    r"(?:[A-Za-z_][A-Za-z0-9_.:]{0,40}!?\()?(?:[A-Za-z]{0,2}",
    quote!(),
    ")?"
);

/// What is between a label and what it labels in commands.
pub(super) const SPACED: &str = concat!(quote!(), r"?(?:[ \t]|\\+t){1,40}", quote!(), "?");

/// What ends a word of a certain length.
pub(super) const WORD_END: &str = "(?-u:[^A-Za-z0-9]|$)";

/// The same for base64.
pub(super) const BASE64_END: &str = "(?-u:[^A-Za-z0-9+/=]|$)";

/// What stands for a secret that is elsewhere, such as the name of a variable.
pub(super) const PLACEHOLDER: &str = r"\$[A-Za-z_][A-Za-z0-9_]*|\$[0-9@*]|\$\([^()]*\)|[$\#%]{0,2}\{{1,2}[^{}]*\}{1,2}|<[^<>]*>|\*+|\[[^\[\]]*\]|%[A-Za-z]|%\([A-Za-z0-9_]*\)s|%[A-Za-z_][A-Za-z0-9_]*%|:";

/// The first line of a private key.
pub(super) const KEY_BEGIN: &str =
    r"-{4,5} ?BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)? ?-{4,5}";

/// Its last line.
pub(super) const KEY_END: &str = r"-{4,5} ?END (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)? ?-{4,5}";

/// A header of one.
pub(super) const KEY_HEADER: &str =
    r"(?:Proc-Type|DEK-Info|Version|Comment|Charset): ?[A-Za-z0-9,.@():/ -]{1,80}";
