//! The store on PostgreSQL, from outside, with a real server.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout
)]

mod beside;
mod callers;
mod changed;
mod conformance;
mod crowded;
mod failures;
mod hosts;
mod killed;
mod killed_processes;
mod leases;
mod many;
mod metrics;
mod migrations;
mod model;
mod notifications;
mod objects;
mod parked;
mod plans;
mod process;
mod retries;
mod roles;
mod support;
mod taking_over;
mod tls;
mod unknown;
mod uploads;
mod waits;
