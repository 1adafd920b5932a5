//! What is wrong with a line, or with a message of a document.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::bounds::TooMuch;

/// Why nothing can be read from a line.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BadLine {
    #[error("it is not a JSON object")]
    NotAnObject,
    #[error("{0}")]
    Document(String),
    #[error(transparent)]
    TooMuch(#[from] TooMuch),
    #[error("{}", in_line(.0))]
    Json(#[from] serde_json::Error),
    #[error("in {path}: {}", in_line(.source))]
    Within {
        path: &'static str,
        source: serde_json::Error,
    },
}

impl BadLine {
    /// What a value at a path of the line says.
    pub(crate) fn within<'a, T: Deserialize<'a>>(
        path: &'static str,
        raw: &'a RawValue,
    ) -> Result<T, BadLine> {
        serde_json::from_str(raw.get()).map_err(|source| BadLine::Within { path, source })
    }
}

/// serde_json counts lines within the text that it was given; there is one.
fn in_line(error: &serde_json::Error) -> String {
    error
        .to_string()
        .replace(" at line 1 column ", " at column ")
}
