//! Why it cannot be read what an event asks for.

use annals::event_log::{Classification, Classified, ErrorClass};

/// Why it cannot be read what an event asks for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UnreadableHook {
    /// Its bytes are not a text.
    #[error("it is not UTF-8")]
    NotUtf8,
    /// There is nothing.
    #[error("it is empty")]
    Empty,
    /// It is something else than JSON, or something else in JSON.
    #[error("it is not a JSON object")]
    NotAnObject,
    /// It begins as an object.
    #[error("it cannot be read as JSON: {0}")]
    Json(#[source] serde_json::Error),
    /// It is not whole, since it is larger than what is read.
    #[error("it is larger than {} bytes, by {left_out}", super::LARGEST)]
    TooLarge {
        /// How many bytes there were beyond.
        left_out: u64,
    },
    /// What it is an event of is not said: it may ask for a call.
    #[error("it names no event")]
    NoEvent,
    /// It may ask for a call. Its name comes from elsewhere, and is not repeated.
    #[error("its event is not known")]
    UnknownEvent,
    /// Which tool is to be called is not said.
    #[error("it names no tool")]
    NoTool,
    /// What the tool is to be called with.
    #[error("the tool's arguments cannot be read: {0}")]
    Arguments(#[source] serde_json::Error),
}

impl Classified for UnreadableHook {
    fn classify(&self) -> Classification {
        ErrorClass::Invalid.code("unreadable_hook")
    }
}
