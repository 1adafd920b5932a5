//! Foreign formats: importers and exporters.
//!
//! An importer reads what another tool wrote, appends it as facts and answers
//! with an [`ImportReport`]: what came in, what was inferred, what was lost.
//! Ids follow from the source's own identity, so that repeating an import
//! appends nothing.

pub mod artifacts;
pub mod claude;
pub mod contracts;
mod diff;
pub mod forge;
pub mod git;
pub mod git_internal;
pub mod lines;
mod nesting;
mod others;
mod pages;
mod reading;
mod report;
pub mod retention;
pub mod secrets;
mod tokens;
pub mod verbatim;

pub use report::{
    BrokenRecord, FieldCount, ImportReport, PassedOver, Progress, TypeCount, Violations,
};
