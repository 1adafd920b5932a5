//! Tests over the whole product: `tests/tests/all/main.rs`, and the soak, which those
//! tests and the program `soak` run.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "all of this is tests: what the harness itself cannot do ends it"
)]

pub mod soak;
