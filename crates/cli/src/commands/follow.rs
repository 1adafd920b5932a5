//! Following a log: what is there and what comes, until interrupted.

use annals::event_log::{ReadError, Record};
use futures::StreamExt;
use futures::stream::BoxStream;

use crate::error::CliError;
use crate::signals::Signals;

/// Records that are given at once, if so many are there.
const PAGE: usize = 500;

/// Gives records to `each` as they come, until it has enough, the log is closed,
/// or the program is interrupted or ended.
pub(super) async fn follow(
    records: BoxStream<'_, Result<Record, ReadError>>,
    mut each: impl AsyncFnMut(&[Record]) -> Result<bool, CliError>,
) -> Result<(), CliError> {
    let mut records = records.ready_chunks(PAGE);
    let mut signals = Signals::new()?;
    loop {
        tokio::select! {
            () = signals.next() => return Ok(()),
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
