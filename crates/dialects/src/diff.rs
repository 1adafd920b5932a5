//! Diffs as texts, for every importer that makes them.

pub(crate) mod hunks;
pub(crate) mod names;
mod sink;

pub(crate) use hunks::Lines;
pub(crate) use sink::Sink;
