//! Foreign formats: importers and exporters.
//!
//! An importer reads what another tool wrote, appends it as facts and answers
//! with an [`ImportReport`]: what came in, what was inferred, what was lost.
//! Ids follow from the source's own identity, so that repeating an import
//! appends nothing.
//!
//! | Module | What it reads or writes |
//! | --- | --- |
//! | [`import`] | recordings of coding agents; [`import::recordings`] finds out whose a file is |
//! | [`claude`], [`codex`], [`copilot`], [`copilot_chat`], [`cursor`], [`gemini`], [`opencode`], [`openhands`], [`swe_agent`], [`atif`] | the formats of these recordings |
//! | [`atif_export`], [`raw`] | trajectories in ATIF; the text of recordings that was kept |
//! | [`git`], [`git_internal`], [`contracts`], [`forge`] | git's history, git-internal's objects, sessions as Contracts has them, a `.forge` folder |
//! | [`verbatim`] | a log as text, out and in |
//! | [`secrets`] | what a secret looks like: every importer takes them out before anything is stored |
//! | [`retention`] | refs in a git repository that keep what a log names |
//!
//! ```
//! use annals::Annals;
//! use annals_dialects::import::{ImportOptions, recordings};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("session.jsonl");
//! # std::fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/session.jsonl"), &path)?;
//! # futures::executor::block_on(async {
//! let annals = Annals::open("memory:").await?;
//! let options = ImportOptions::default();
//! // A file, or a folder of them; `None` is any agent's.
//! let reports = recordings(&annals, &path, None, &options, &mut |_| {}).await?;
//! let events = annals.position();
//! assert!(reports.len() == 1 && events.0 > 0);
//! recordings(&annals, &path, None, &options, &mut |_| {}).await?;
//! assert_eq!(annals.position(), events);
//! # Ok(())
//! # })
//! # }
//! ```

#![cfg_attr(test, allow(clippy::too_many_lines, reason = "tests may be long"))]

pub mod artifacts;
pub mod atif;
pub mod atif_export;
mod changes;
pub mod claude;
pub mod codex;
pub mod contracts;
pub mod copilot;
pub mod copilot_chat;
pub mod cursor;
mod diff;
pub mod forge;
pub mod gemini;
pub mod git;
pub mod git_internal;
pub mod import;
pub mod lines;
pub mod live;
mod nesting;
pub mod opencode;
pub mod openhands;
mod others;
mod pages;
pub mod raw;
mod reading;
mod report;
pub mod retention;
pub mod swe_agent;
mod tokens;
pub mod transcript;
pub mod verbatim;
pub mod watch;

pub use annals_secrets as secrets;
pub use report::{
    BrokenRecord, FieldCount, ImportReport, PassedOver, Progress, TypeCount, Violations,
};
