//! What ends a program that otherwise goes on.

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::error::CliError;

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
