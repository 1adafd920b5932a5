//! Our logs, on PostgreSQL and on RocksDB, through the calls of their port, as threads of a service call them.

use std::sync::Arc;

use annals_benches::batch;
use annals_event_log::{Append, Store, StreamName};
use annals_measure::store::{StoreError, stream_name};
use annals_store_postgres::{PostgresLog, Settings};
use annals_store_rocks::{Options, RocksLog};
use bytes::Bytes;
use futures::executor::block_on;

use crate::target::{Client, Place, Target};

/// Open logs of one kind.
pub struct Logs {
    logs: Vec<Arc<dyn Store>>,
}

impl Logs {
    /// Logs of one schema. A server that could lose what it acknowledges is refused.
    pub fn on_postgres(place: Place<'_>, notify: bool) -> Result<Logs, StoreError> {
        Logs::open(place, |number| {
            let choices = format!("log=log-{number}&notify={notify}&require_synchronous=true");
            let settings = Settings::from_url(&format!("{}?{choices}", place.url));
            let settings = settings.map_err(StoreError::failed)?;
            let log = PostgresLog::create(&settings).map_err(StoreError::failed)?;
            Ok(Arc::new(log))
        })
    }

    /// Logs in folders.
    pub fn on_rocks(place: Place<'_>) -> Result<Logs, StoreError> {
        Logs::open(place, |number| {
            let folder = place.folder.join(format!("log-{number}"));
            let log = RocksLog::create(&folder, &Options::default());
            Ok(Arc::new(log.map_err(StoreError::failed)?))
        })
    }

    fn open(
        place: Place<'_>,
        open: impl Fn(usize) -> Result<Arc<dyn Store>, StoreError>,
    ) -> Result<Logs, StoreError> {
        let logs: Result<_, StoreError> = (0..place.logs).map(open).collect();
        Ok(Logs { logs: logs? })
    }
}

impl Target for Logs {
    fn client(&self, log: usize) -> Result<Box<dyn Client>, StoreError> {
        let log = self.logs.get(log);
        let log = log.ok_or_else(|| StoreError::failed("there is no such log"))?;
        Ok(Box::new(LogClient {
            log: Arc::clone(log),
        }))
    }

    fn events(&self) -> Result<u64, StoreError> {
        Ok(self.logs.iter().map(|log| log.watermark().0).sum())
    }

    fn close(self: Box<Self>) -> Result<(), StoreError> {
        self.logs.iter().for_each(|log| block_on(log.close()));
        Ok(())
    }
}

/// Clients of one log share its handle.
struct LogClient {
    log: Arc<dyn Store>,
}

impl Client for LogClient {
    fn append(&mut self, stream: usize, payloads: Vec<String>) -> Result<(), StoreError> {
        append(self.log.as_ref(), stream, payloads)
    }
}

/// Appends one batch, regardless of where its stream is.
pub fn append(log: &dyn Store, stream: usize, payloads: Vec<String>) -> Result<(), StoreError> {
    let stream: StreamName = stream_name(stream).parse().map_err(StoreError::failed)?;
    let payloads: Vec<Bytes> = payloads.into_iter().map(Bytes::from).collect();
    let append = Append {
        expectations: Vec::new(),
        ..batch(&stream, 0, &payloads)
    };
    block_on(log.append(append))
        .map(drop)
        .map_err(StoreError::failed)
}
