//! The viewer from outside: over sockets, and in a browser.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::too_many_lines
)]

mod browser;
mod compare;
mod costs;
mod export;
mod hidden;
mod hostile;
mod large;
mod live;
mod moments;
mod pages;
mod search;
mod support;
mod token;
