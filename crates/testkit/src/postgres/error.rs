//! Why there is no server, and how a test says so.

use std::io::{self, Write as _};
use std::thread;

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// Its programs are not installed, or there is no user to run them as.
    #[error("no PostgreSQL server can be started here: {0}; install Debian's package postgresql")]
    NotInstalled(String),
    /// It did not start, or did not do what it was told.
    #[error("the PostgreSQL server failed: {0}")]
    Failed(String),
    /// The operating system refused something.
    #[error("the PostgreSQL server cannot be started: {0}")]
    Io(#[from] io::Error),
}

/// What was started; where nothing can be, a test says so and does not run, or fails where it had to run.
#[expect(
    clippy::panic,
    reason = "a test that cannot run has to fail, and this is called in tests only"
)]
pub(super) fn or_say_not_run<T>(started: Result<T, ServerError>) -> Option<T> {
    let error = match started {
        Ok(started) => return Some(started),
        Err(error) => error,
    };
    let machine_lacks_it = matches!(error, ServerError::NotInstalled(_));
    if !machine_lacks_it || std::env::var_os("CI").is_some() {
        panic!("{error}");
    }
    let thread = thread::current();
    let test = thread.name().unwrap_or("a test");
    // Not `eprintln`: the harness shows what that prints only of tests that fail.
    let _ = writeln!(io::stderr(), "NOT RUN: {test}: {error}");
    None
}
