//! The log itself, verbatim, as JSON lines: `docs/export-format.md` describes them.
//!
//! What [`export`] writes, [`import`] copies into a log that is empty, or that is a beginning of it, record by record
//! and byte by byte. So both have the same root. [`copy()`] does both at once, without text between them, from any
//! store to any other.

mod copied_by;
mod copy;
mod error;
mod export;
mod import;
mod lines;
mod parts;
mod read;

pub use copy::{CopyStep, LogCopied, LogCopyError, VerifyCopy, copy};
pub use error::{VerbatimExportError, VerbatimImportError};
pub use export::{VerbatimExported, export};
pub use import::{VerbatimImported, examine, import};
pub use lines::VerbatimHeader;
pub use read::VerbatimSource;
