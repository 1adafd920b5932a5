//! git-internal's objects to the byte (git-internal, crate git-internal
//! 0.6.0): import, export and hash of the eleven kinds.
//!
//! An object is read field by field and adopted as events; it is written from
//! its folded state, never from a copy of its text. What git-internal 0.6.0
//! wrote comes back byte for byte, so that [`object_hash`] agrees; what others
//! wrote is written in the canonical form and is stable from then on. Revisions and events of 0.8 and later are
//! read as the objects of 0.6.0 that they are together.

mod both;
mod circle;
mod context;
mod error;
mod export;
mod fields;
mod hash;
mod header;
mod import;
mod judge;
mod known;
mod object;
mod parts;
mod read;
mod revisions;
mod run;
mod source;
mod violations;
mod workflow;

pub use error::{GitInternalExportError, GitInternalImportError};
pub use export::{ExportReport, ObjectProblems, Rendered, each_object, render};
pub use hash::{HashKind, object_hash};
pub use import::import;
pub use source::MAX_OBJECT;
