//! The program from outside: every test runs the binary.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod apply;
mod bad_input;
mod beside;
mod catalogue;
mod damage;
mod export;
mod flow;
mod help;
mod import;
mod log;
mod support;
