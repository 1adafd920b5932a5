//! Following a log: what is there and what comes, until interrupted.

use annals::event_log::{ReadError, Record};
use futures::stream::BoxStream;
use futures::{StreamExt, pin_mut};
use tokio::signal::unix::{SignalKind, signal};

use crate::error::CliError;

/// Records that are given at once, if so many are there.
const PAGE: usize = 500;

/// Gives records to `each` as they come, until it has enough, the log is closed,
/// or the program is interrupted or ended.
pub(super) async fn follow(
    records: BoxStream<'_, Result<Record, ReadError>>,
    mut each: impl AsyncFnMut(&[Record]) -> Result<bool, CliError>,
) -> Result<(), CliError> {
    let mut records = records.ready_chunks(PAGE);
    // A service is ended by SIGTERM.
    let mut terminated = signal(SignalKind::terminate()).map_err(CliError::signal)?;
    let interrupted = tokio::signal::ctrl_c();
    pin_mut!(interrupted);
    loop {
        tokio::select! {
            ended = &mut interrupted => return ended.map_err(CliError::signal),
            _ = terminated.recv() => return Ok(()),
            chunk = records.next() => {
                let Some(chunk) = chunk else { return Ok(()) };
                let chunk = chunk.into_iter().collect::<Result<Vec<Record>, _>>()?;
                if !each(&chunk).await? {
                    return Ok(());
                }
            }
        }
    }
}
