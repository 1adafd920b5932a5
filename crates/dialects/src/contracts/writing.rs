//! JSON as Contracts v1.1's options write it, compact or over several lines.

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;

use super::escaping::Relaxed;

/// How JSON is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Style {
    /// In one line, without white space between its parts: one object a line.
    #[default]
    Compact,
    /// Over several lines, indented by two spaces, as Contracts v1.1 has it
    /// (WriteIndented).
    Pretty,
}

/// A value as JSON.
pub(super) fn to_text<T: Serialize + ?Sized>(
    value: &T,
    style: Style,
) -> Result<String, serde_json::Error> {
    match style {
        Style::Compact => with(value, Relaxed::compact()),
        Style::Pretty => with(value, Relaxed::pretty()),
    }
}

fn with<T: Serialize + ?Sized>(
    value: &T,
    formatter: impl Formatter,
) -> Result<String, serde_json::Error> {
    let mut bytes = Vec::new();
    value.serialize(&mut Serializer::with_formatter(&mut bytes, formatter))?;
    // JSON that is made of texts is UTF-8.
    String::from_utf8(bytes).map_err(serde::ser::Error::custom)
}
