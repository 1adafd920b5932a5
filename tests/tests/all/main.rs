//! Tests that span crates: the whole flow, properties, kills and faults.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::too_many_lines,
    reason = "a failed expectation is a failed test"
)]

mod altered;
mod bulk;
mod costs;
mod creation;
mod disk;
mod disk_full;
mod durability;
mod flow;
mod gate;
mod kill;
mod kill_catalogue;
mod linearizability;
mod model;
mod observations;
mod power;
mod power_rocks;
mod project;
mod properties;
mod read_models;
mod seal;
mod session_replay;
mod shared;
mod soak;
mod spool;
mod states;
mod stores;
mod support;
mod together;
mod unfinished;
mod verify_catalogue;
mod window;
