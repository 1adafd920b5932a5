//! `import claude`, run on recordings that the tests make.

mod conflicts;
mod course;
mod edits;
mod estimates;
mod fidelity;
mod grown;
pub(crate) mod log;
mod odd;
mod program;
mod queue;
pub(crate) mod recording;
mod sides;
mod usage;
mod uses;
