//! The embedded store, tested from outside: the ports' conformance suite, and
//! what only a store on disk can get wrong.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::too_many_lines,
    reason = "tests fail by panicking"
)]

mod backup;
mod blob_files;
mod blobs;
mod chunks;
mod collect;
mod conformance;
mod few_files;
mod flips;
mod folder;
mod opening;
mod pages;
mod reader;
mod rebuild;
mod recovery;
mod redaction;
mod renewed;
mod streams;
mod support;
mod tree;
mod truncate;
mod verify;
