//! What ends a program that otherwise goes on.

use std::sync::OnceLock;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::low_level::emulate_default_handler;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::error::CliError;

/// SIGXFSZ on Linux and most other systems.
const FILE_TOO_LARGE: i32 = 25;

/// From now on a write beyond the limit of a file's size (`ulimit -f`) fails, and does not end the process: what fails is
/// reported, and a hook never fails. To be called on the runtime.
pub(crate) fn limits_are_errors() {
    // Once there is a handler, it stays; without one the process ends as before.
    let _ = signal(SignalKind::from_raw(FILE_TOO_LARGE));
}

/// From now on Ctrl-C and what ends a service remove what this process is making ([`annals_files::Unfinished`]), and end it
/// then as they always do. It is for commands that do not wait for them otherwise.
///
/// # Errors
/// As [`Signals::new`].
pub(crate) fn remove_unfinished() -> Result<(), CliError> {
    static WAITS: OnceLock<()> = OnceLock::new();
    if WAITS.set(()).is_err() {
        return Ok(());
    }
    let ending = [SIGTERM, SIGINT];
    let mut signals = signal_hook::iterator::Signals::new(ending).map_err(CliError::signal)?;
    let thread = std::thread::Builder::new().name("annals-signals".into());
    let waiting = thread.spawn(move || {
        if let Some(signal) = signals.forever().next() {
            annals_files::remove_unfinished();
            // A shell is told by which signal it ended.
            let _ = emulate_default_handler(signal);
        }
    });
    waiting.map(drop).map_err(CliError::signal)
}

/// Ctrl-C, and what ends a service.
pub(crate) struct Signals {
    terminated: Signal,
    interrupted: Signal,
}

impl Signals {
    /// From now on neither ends the process by itself.
    ///
    /// # Errors
    /// `no_signals`, if the system does not tell of them.
    pub(crate) fn new() -> Result<Signals, CliError> {
        Ok(Signals {
            terminated: signal(SignalKind::terminate()).map_err(CliError::signal)?,
            interrupted: signal(SignalKind::interrupt()).map_err(CliError::signal)?,
        })
    }

    /// Waits for one of them. May be given up and called again.
    pub(crate) async fn next(&mut self) {
        tokio::select! {
            _ = self.terminated.recv() => {}
            _ = self.interrupted.recv() => {}
        }
    }
}
