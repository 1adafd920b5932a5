//! The store on PostgreSQL, from outside, with a real server.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod conformance;
mod failures;
mod killed;
mod leases;
mod many;
mod migrations;
mod model;
mod notifications;
mod objects;
mod parked;
mod roles;
mod support;
mod tls;
mod unknown;
