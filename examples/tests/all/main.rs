//! The examples are run as programs, as somebody who tries them does.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failed expectation is a failed test"
)]

mod auditor;
mod projection;
mod service;

use std::process::{Command, Output};

/// What a program printed and how it ended.
fn run(program: &str, arguments: &[&str]) -> (bool, String) {
    let ran = Command::new(program).args(arguments).output().unwrap();
    let Output {
        status,
        stdout,
        stderr,
    } = ran;
    let printed = String::from_utf8([stdout, stderr].concat()).unwrap();
    (status.success(), printed)
}
