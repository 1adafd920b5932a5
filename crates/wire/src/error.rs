//! Why an event cannot be written, or bytes cannot be read.

use annals_domain::UnknownStream;
use annals_event_log::{Classification, Classified, ErrorClass, InvalidStreamName};

use crate::FormatError;

/// Why an event cannot be encoded. Nothing was stored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// The structure is larger than a record may hold.
    #[error(
        "the structure of {event_type} has {actual} bytes and may have {limit}; \
         shorten the names and lists that it consists of"
    )]
    TooLarge {
        /// The event's type.
        event_type: String,
        /// How many bytes it has, the format byte included.
        actual: usize,
        /// How many it may have.
        limit: usize,
    },
    /// The names of the event are larger than they may be.
    #[error("the names in {event_type} have {actual} bytes and may have {limit}; shorten them")]
    NamesTooLarge {
        /// The event's type.
        event_type: String,
        /// How many bytes they have.
        actual: usize,
        /// How many they may have.
        limit: usize,
    },
    /// The event has more pieces of content than a record may hold.
    #[error(
        "{event_type} has {actual} pieces of content, the actor's included, and may have {limit}; \
         split it into several events"
    )]
    TooManyPieces {
        /// The event's type.
        event_type: String,
        /// How many pieces it has, the actor's included.
        actual: usize,
        /// How many it may have.
        limit: usize,
    },
    /// The event has a value that the encoding cannot express.
    #[error("the structure of {event_type} cannot be encoded: {source}")]
    Unencodable {
        /// The event's type.
        event_type: String,
        /// What the encoding says.
        source: FormatError,
    },
    /// The aggregate's name is not a valid stream name.
    #[error(transparent)]
    Stream(#[from] InvalidStreamName),
}

impl Classified for EncodeError {
    fn classify(&self) -> Classification {
        use ErrorClass::Invalid;
        match self {
            EncodeError::TooLarge { .. }
            | EncodeError::NamesTooLarge { .. }
            | EncodeError::TooManyPieces { .. } => Invalid.code("too_large"),
            EncodeError::Unencodable { .. } | EncodeError::Stream(_) => Invalid.code("unencodable"),
        }
    }
}

/// Why bytes cannot be decoded as an event.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The structure has no bytes at all, not even the one for its format.
    #[error("the structure of {event_type} is empty: its format byte is missing")]
    Empty {
        /// The event's type.
        event_type: String,
    },
    /// The structure is in a format that this version does not know.
    #[error(
        "the structure of {event_type} is in format {found}, which this version of Annals does not \
         know; it was written by a newer version, or is damaged"
    )]
    UnknownFormat {
        /// The event's type.
        event_type: String,
        /// The format byte.
        found: u8,
    },
    /// The stream's kind has no event of this type.
    #[error(
        "unknown event type {event_type:?} in this kind of stream: it was written by a newer \
         version of Annals, or by another program"
    )]
    UnknownType {
        /// The event's type.
        event_type: String,
    },
    /// The event has a newer shape than this version knows.
    #[error(
        "{event_type} has shape {found}, and this version of Annals knows shapes up to {known}; \
         read the log with a newer version"
    )]
    NewerVersion {
        /// The event's type.
        event_type: String,
        /// The shape's version.
        found: u16,
        /// The newest version that this program knows.
        known: u16,
    },
    /// No upcaster leads from this shape to today's.
    #[error("{event_type} has shape {found}, which nothing can turn into shape {known}")]
    UnknownVersion {
        /// The event's type.
        event_type: String,
        /// The version of the shape at which the chain ends.
        found: u16,
        /// Today's version.
        known: u16,
    },
    /// The bytes are not a structure of this type and version.
    #[error("the structure of {event_type} is malformed: {source}")]
    Malformed {
        /// The event's type.
        event_type: String,
        /// What the encoding says.
        source: FormatError,
    },
    /// The names that belong to the structure are not among the content, nor what is left of them.
    #[error("the names of {event_type} are not among its content")]
    Names {
        /// The event's type.
        event_type: String,
    },
    /// Bytes are left over after the structure.
    #[error("the structure of {event_type} is followed by {left} bytes that do not belong to it")]
    TrailingBytes {
        /// The event's type.
        event_type: String,
        /// How many bytes are left over.
        left: usize,
    },
    /// The structure is larger than a record may hold.
    #[error(
        "the structure of {event_type} has {actual} bytes, but at most {limit} are ever written"
    )]
    TooLarge {
        /// The event's type.
        event_type: String,
        /// How many bytes there are.
        actual: usize,
        /// How many there may be.
        limit: usize,
    },
    /// The record's stream belongs to no aggregate of the domain.
    #[error(transparent)]
    Stream(#[from] UnknownStream),
}

impl Classified for DecodeError {
    fn classify(&self) -> Classification {
        use ErrorClass::Unsupported;
        match self {
            DecodeError::Empty { .. }
            | DecodeError::Malformed { .. }
            | DecodeError::TooLarge { .. }
            | DecodeError::TrailingBytes { .. } => Classification::CORRUPT,
            DecodeError::UnknownFormat { .. }
            | DecodeError::UnknownType { .. }
            | DecodeError::NewerVersion { .. }
            | DecodeError::UnknownVersion { .. }
            | DecodeError::Names { .. }
            | DecodeError::Stream(_) => Unsupported.code("unreadable"),
        }
    }
}
