//! What strangers can put into a repository, a folder, a recording or a file, tried on every command
//! that reads or writes such a thing: nothing outside is read, written or deleted, everything
//! ends, and memory is bounded.
//!
//! `cli/hostile.rs`, `cli/terminal.rs` and `cli/private.rs` say what is answered to some of it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::too_many_lines
)]

mod documents;
mod field;
mod files;
mod folders;
mod git;
mod git_bounds;
mod git_elsewhere;
mod git_objects;
mod lengths;
mod own;
