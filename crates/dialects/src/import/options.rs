//! How recordings are imported.

use derive_setters::Setters;

use crate::secrets::Secrets;

/// How to import recordings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Setters)]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct ImportOptions {
    /// The sessions are over: record the tool calls that wait for a result,
    /// as errors. They stay errors; of a result that is read later there is a
    /// frame.
    pub ended: bool,
    /// What is taken out of the lines before they are read; the standard set by
    /// default.
    pub secrets: Secrets,
    /// Keep the text of the recordings, too, without its secrets: [`crate::raw::export`] gives it back.
    pub keep_raw: bool,
}
