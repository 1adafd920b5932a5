//! The `.forge/` folder (document 004, dialects.md C): the text of its files as
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
//! What an analyze agent answers is no file; [`analysis`] reads it.
//!
//! Nothing here opens a file: a caller reads its bytes, [`text::decode`] makes them
//! text, and [`InFile`] adds the file's name to what is wrong with it. Nothing here
//! knows events either.
//!
//! Unknown keys are kept and written again as they were ([`Extra`]); comments,
//! quotes and the order of known keys are not.

pub mod analysis;
mod answer;
pub mod data;
pub mod draft;
mod emit;
pub mod error;
mod fields;
pub mod intent;
mod json;
pub mod order;
mod recorded;
pub mod render;
pub mod review;
pub mod slug;
pub mod task;
pub mod text;
pub mod words;
mod yaml;

pub use analysis::{Analysis, ChildIntent};
pub use data::{Data, Extra, Scalar};
pub use draft::ForgeDraft;
pub use error::{ForgeError, InFile, Place};
pub use intent::{Clarification, ForgeIntent};
pub use order::order;
pub use recorded::record_analysis;
pub use review::ForgeReview;
pub use slug::{slug, slug_within};
pub use task::{ForgeTask, Placed, TaskFile};
pub use words::{IntentStatus, TaskStatus};
pub use yaml::MOST_NESTING;
