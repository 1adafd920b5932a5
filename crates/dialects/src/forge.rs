//! The `.forge/` folder (docs/spec/forge.md): the text of its files as
//! plain structs, and these as text again.
//!
//! ```text
//! .forge/
//!   intent-drafts/{stem}.md     what a person wants          draft
//!   intents/{id}.yaml           every intent of any source   intent
//!   tasks/{intent-id}.yaml      the tasks of an intent       task, order
//!   reviews/{task-id}.yaml      what a review came to        review
//! ```
//!
//! What an analyze agent answers is not a file; [`analysis`] reads it.
//!
//! The readers open no file and know no events: a caller reads a file's bytes,
//! [`text::decode`] makes them text, and [`InFile`] adds the file's name to what is
//! wrong with it. [`import()`], [`export()`] and [`take_draft`] do the rest, and
//! [`DraftWatch`] notices new drafts.
//!
//! Unknown keys are kept and written again as they were ([`Extra`]); comments,
//! quotes and the order of known keys are not.

pub mod analysis;
mod answer;
mod catch_up;
pub mod data;
mod difference;
pub mod draft;
mod drafts;
mod emit;
pub mod error;
mod export;
mod facts;
mod fields;
mod folder;
mod ids;
mod import;
pub mod intent;
mod json;
mod logged;
mod names;
pub mod order;
mod queue;
mod recorded;
mod remains;
pub mod render;
pub mod review;
mod sieve;
pub mod slug;
mod source;
pub mod task;
pub mod text;
mod watch;
pub mod words;
mod yaml;

pub use analysis::{Analysis, ChildIntent};
pub use data::{Data, Extra, Scalar};
pub use draft::ForgeDraft;
pub use drafts::{DraftFile, DraftOptions, Drafted, take_draft};
pub use error::{ForgeError, InFile, Place};
pub use export::{ForgeExportReport, ForgeSelection, LeftAlone, export};
pub use folder::{Folder, ForgeFolderError};
pub use import::{ForgeOptions, IntentBecame, IntentEntry, IntentsTaken, import, take_intents};
pub use intent::{Clarification, ForgeIntent};
pub use order::order;
pub use recorded::record_analysis;
pub use review::ForgeReview;
pub use slug::{slug, slug_within};
pub use task::{ForgeTask, Placed, TaskFile};
pub use watch::{DraftWatch, Ready};
pub use words::{IntentStatus, TaskStatus};
pub use yaml::MOST_NESTING;
