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
mod home;
mod hostile;
mod large;
mod links;
mod live;
mod long;
mod moments;
mod neighbours;
mod pages;
mod search;
mod session_tabs;
mod support;
mod token;
mod waiting;
