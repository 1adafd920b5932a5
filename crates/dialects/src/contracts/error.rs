//! Why a text is not an object of the contracts.

use annals_domain::UnknownWord;
use annals_domain::session::{InvalidBase64, InvalidTimeSpan};
use annals_event_log::{Classification, Classified, ErrorClass};

use super::time::InvalidTime;

/// Why a text cannot be read as an object of Contracts v1.1, or as one of its core
/// types.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ContractsError {
    /// It is not valid JSON.
    #[error("it is not valid JSON: {reason}")]
    Syntax {
        /// What is wrong, and where.
        reason: String,
    },
    /// It is JSON, and no object.
    #[error("expected an object, found {found}")]
    NotAnObject {
        /// What it is.
        found: &'static str,
    },
    /// It is nested too deep.
    #[error("it is nested {depth} deep, and the most is {limit}")]
    TooDeep {
        /// How deep it is.
        depth: usize,
        /// How deep it may be.
        limit: usize,
    },
    /// Something is wrong with a property.
    #[error("{place}: {problem}")]
    Property {
        /// The property, with those that contain it: `plan.nodes[3].title`.
        place: String,
        /// What is wrong with it.
        problem: PropertyProblem,
    },
}

impl Classified for ContractsError {
    fn classify(&self) -> Classification {
        use ErrorClass::Invalid;
        Invalid.code("invalid_contract")
    }
}

/// What is wrong with a property, and what is expected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PropertyProblem {
    /// It must be there.
    #[error("it is missing")]
    Missing,
    /// It is of another type.
    #[error("expected {expected}, found {found}")]
    Type {
        /// What is expected.
        expected: &'static str,
        /// What it is.
        found: &'static str,
    },
    /// It is not a whole number in the range that counts have.
    #[error(
        "invalid number {text}: expected a whole number from 0 to {}",
        u32::MAX
    )]
    Number {
        /// The number, cut to its first 80 bytes.
        text: String,
    },
    /// It is not a GUID.
    #[error(
        "invalid GUID {text:?}: expected 32 hex digits with hyphens, such as \
         \"0f8fad5b-d9cb-469f-a165-70867728950e\""
    )]
    Guid {
        /// The text, cut to its first 80 bytes.
        text: String,
    },
    /// It is not one of the known words.
    #[error(transparent)]
    Word(#[from] UnknownWord),
    /// It is not a duration.
    #[error(transparent)]
    Duration(#[from] InvalidTimeSpan),
    /// It is not a time.
    #[error(transparent)]
    Time(#[from] InvalidTime),
    /// It is not base64.
    #[error(transparent)]
    Base64(#[from] InvalidBase64),
    /// A text has an escape like `\ud800` that encodes no character.
    #[error("it has half of a surrogate pair, which is not a character; write both halves")]
    HalfSurrogate,
    /// It must not be blank.
    #[error("it must not be blank")]
    Blank,
    /// It is too long.
    #[error("it has {bytes} bytes, and the most is {limit}")]
    TooLong {
        /// How long it is.
        bytes: usize,
        /// How long it may be.
        limit: usize,
    },
}
