//! The kit tried on the store in memory, and on logs that break their word.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a failed expectation is a failed test"
)]

mod given;
mod invariants;
mod linearizability;
mod model;
mod projections;
