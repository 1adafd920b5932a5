//! Histories to test with: appends without meaning for stores, and commands and
//! events of Annals' own objects for what is built on them.
//!
//! - [`appends`] knows only bytes. Its [`Sample`](appends::Sample) makes appends that
//!   any store must take, the same for the same seed.
//! - [`steps`] are operations on a log, valid and invalid: conflicting, repeated,
//!   too large, malformed, with unknown blobs. [`crate::model`] knows the right answers.
//! - [`objects`] are histories of Annals' own objects: commands, valid and invalid, the
//!   events that the deciders make of them, and a log that holds them.

pub mod appends;
pub mod objects;
pub mod steps;
