//! The viewer from outside: over sockets, and in a browser.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::too_many_lines
)]

mod browser;
mod export;
mod hostile;
mod large;
mod live;
mod moments;
mod pages;
mod support;
mod token;
