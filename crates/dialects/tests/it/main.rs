//! The importers, run against sources that the tests make.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout
)]

mod claude;
mod git;
mod git_internal;
