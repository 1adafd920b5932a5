//! Foreign formats: importers and exporters.
//!
//! An importer reads what another tool wrote, appends it as facts and answers
//! with an [`ImportReport`]: what came in, what was inferred, what was lost.
//! Ids follow from the source's own identity, so that repeating an import
//! appends nothing.

#![cfg_attr(test, allow(clippy::too_many_lines, reason = "tests may be long"))]

pub mod artifacts;
pub mod atif;
pub mod atif_export;
pub mod claude;
pub mod codex;
pub mod contracts;
pub mod copilot;
mod diff;
pub mod forge;
pub mod gemini;
pub mod git;
pub mod git_internal;
pub mod import;
pub mod lines;
mod nesting;
pub mod opencode;
pub mod openhands;
mod others;
mod pages;
pub mod raw;
mod reading;
mod report;
pub mod retention;
pub mod secrets;
pub mod swe_agent;
mod tokens;
pub mod transcript;
pub mod verbatim;

pub use report::{
    BrokenRecord, FieldCount, ImportReport, PassedOver, Progress, TypeCount, Violations,
};
