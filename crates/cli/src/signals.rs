//! What ends a program that otherwise goes on.

use std::sync::{OnceLock, mpsc};

use signal_hook::low_level::emulate_default_handler;
use tokio::runtime::Builder;
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
    let (ready, is_ready) = mpsc::channel();
    let thread = std::thread::Builder::new().name("annals-signals".into());
    let waiting = thread.spawn(move || {
        let ended = end_without_unfinished(&ready);
        if let Err(error) = ended {
            let _ = ready.send(Err(error));
        }
    });
    waiting.map_err(CliError::signal)?;
    // The thread answers, unless it was lost: then a signal ends the process as before.
    is_ready.recv().unwrap_or(Ok(()))
}

/// Waits for a signal, and ends the process by it.
fn end_without_unfinished(ready: &mpsc::Sender<Result<(), CliError>>) -> Result<(), CliError> {
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(CliError::runtime)?;
    let ended = runtime.block_on(async {
        let mut signals = Signals::new()?;
        let _ = ready.send(Ok(()));
        Ok::<SignalKind, CliError>(signals.which().await)
    })?;
    annals_files::remove_unfinished();
    // A shell is told by which signal it ended.
    let _ = emulate_default_handler(ended.as_raw_value());
    Ok(())
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
        self.which().await;
    }

    /// Waits for one of them, and tells which.
    async fn which(&mut self) -> SignalKind {
        tokio::select! {
            _ = self.terminated.recv() => SignalKind::terminate(),
            _ = self.interrupted.recv() => SignalKind::interrupt(),
        }
    }
}
