//! A log on RocksDB is filled, and copied to PostgreSQL by the code of `annals log copy`.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use annals::{Annals, OpenOptions};
use annals_dialects::Progress;
use annals_dialects::verbatim::{self, CopyStep, VerifyCopy};
use annals_event_log::EventLog;
use annals_measure::payload::Numbers;
use annals_measure::postgres::results::CopyTimes;
use annals_measure::store::StoreError;
use annals_measure::workload::{STREAM_EVENTS, STREAMS};
use annals_store_postgres::{PostgresLog, Settings};
use annals_store_rocks::{Options, RocksLog};
use futures::executor::block_on;
use tokio::runtime::Builder;

use crate::error::CompareError;
use crate::logs;
use crate::server::MeasuredServer;

/// Fills a log with so many events, copies it, and says how long the copy took.
pub fn copy(
    server: &MeasuredServer,
    folder: &Path,
    events: u64,
    payload_bytes: usize,
) -> Result<CopyTimes, CompareError> {
    let folder = tempfile::tempdir_in(folder)?;
    let path = folder.path().join("log");
    fill(&path, events, payload_bytes)?;
    let database = server.database()?;
    server.checkpoint()?;
    // As the program has it: one thread, and the stores work on threads of their own.
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let url = database.url();
    Ok(runtime.block_on(copy_to(&path, &url, events))?)
}

/// By batches of one stream each.
fn fill(path: &Path, events: u64, payload_bytes: usize) -> Result<(), StoreError> {
    let log = RocksLog::create(path, &Options::default()).map_err(StoreError::failed)?;
    let mut numbers = Numbers::new(1);
    let (mut left, mut batch) = (events, 0);
    while left > 0 {
        let size = left.min(STREAM_EVENTS as u64);
        let payloads = (0..size).map(|_| numbers.document(payload_bytes));
        logs::append(&log, batch % STREAMS, payloads.collect())?;
        left -= size;
        batch += 1;
    }
    block_on(log.close());
    Ok(())
}

async fn copy_to(path: &Path, url: &str, events: u64) -> Result<CopyTimes, StoreError> {
    let from = OpenOptions::new().read_only(true);
    let from = from.open(&path.display().to_string()).map_err(said)?;
    let settings = Settings::from_url(&format!("{url}?require_synchronous=true"));
    let settings = settings.map_err(said)?.with_log_id(from.log().log_id());
    let to = PostgresLog::create(&settings).map_err(said)?;
    let to = Annals::over(Arc::new(to));
    let begun = Instant::now();
    let mut verifying = None;
    let mut progress = |step: CopyStep, _: Progress| {
        if step == CopyStep::Verifying {
            verifying.get_or_insert_with(Instant::now);
        }
    };
    let copied = verbatim::copy(&from, &to, VerifyCopy::Everything, &mut progress).await;
    let ended = Instant::now();
    // Not with the catalogue, which the first reader makes: it is no part of the copy.
    from.log().close().await;
    to.log().close().await;
    let copied = copied.map_err(said)?.copied;
    if copied != events {
        let error = format!("wrong answer: expected {events} copied events, found {copied}");
        return Err(StoreError::failed(error));
    }
    let stored = verifying.unwrap_or(ended);
    Ok(CopyTimes {
        events,
        copying_seconds: (stored - begun).as_secs_f64(),
        verifying_seconds: (ended - stored).as_secs_f64(),
    })
}

fn said(error: impl std::error::Error) -> StoreError {
    StoreError::failed(error.to_string())
}
