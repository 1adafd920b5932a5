//! The shared store, from outside.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod conformance;
mod owners;
mod strangers;
