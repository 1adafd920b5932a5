//! The store on a cluster of PostgreSQL servers, from outside: primaries that are killed, and cuts of the network.
//!
//! `make failover` runs these tests for longer, and with cuts of the network itself (`namespaces.rs`).
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout
)]

mod cuts;
mod failover;
mod load;
mod namespaces;
mod others;
mod proxy;
mod scenario;
mod servers;
// What is appended, and how a log is read, is the same with one server; the rest of it is not used here.
#[path = "../postgres/support.rs"]
#[allow(dead_code)]
mod support;
