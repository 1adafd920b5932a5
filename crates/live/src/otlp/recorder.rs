//! The thread that records telemetry, one request after the other, and takes in what waits in the spool meanwhile.

use std::sync::Mutex;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use annals::blocking::Wait as _;
use annals::event_log::{Classification, Classified, ErrorClass};
use annals::{Annals, OpenError, OpenOptions};
use annals_dialects::import::ImportError;
use annals_dialects::live::{Live, LiveAgent, Outcome, Telling};
use annals_dialects::secrets::Secrets;
use tokio::sync::oneshot;

use crate::spool::Spool;
use crate::take::take_in;

/// Requests that wait for the thread.
const WAITING: usize = 8;

/// How often the spool is looked into.
const SPOOL: Duration = Duration::from_secs(2);

/// Why something was not recorded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The log cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The log did not take it.
    #[error("it was not recorded: {0}")]
    Log(#[from] ImportError),
    /// There is no thread to do so, or it is ending.
    #[error("it was not recorded: the recorder is not running")]
    NotRunning,
}

impl Classified for RecordError {
    fn classify(&self) -> Classification {
        match self {
            RecordError::Open(error) => error.classify(),
            RecordError::Log(error) => error.classify(),
            RecordError::NotRunning => ErrorClass::Unavailable.code("not_running"),
        }
    }
}

/// What is recorded, and who is told of it.
type Order = (
    Vec<(LiveAgent, Telling)>,
    oneshot::Sender<Result<usize, RecordError>>,
);

/// Records on a thread of its own.
#[derive(Debug)]
pub(super) struct Recorder {
    orders: Mutex<Option<SyncSender<Order>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Recorder {
    pub(super) fn start(log: String, secrets: Secrets) -> Result<Recorder, RecordError> {
        let annals = OpenOptions::new().open(&log)?;
        let (give, orders) = sync_channel(WAITING);
        let thread = std::thread::Builder::new().name("annals-otlp".to_owned());
        let thread = thread.spawn(move || run(&annals, &log, &secrets, &orders));
        Ok(Recorder {
            orders: Mutex::new(Some(give)),
            thread: Mutex::new(Some(thread.map_err(|_| RecordError::NotRunning)?)),
        })
    }

    /// Records what was told; how much of it the log cannot have.
    pub(super) async fn record(
        &self,
        told: Vec<(LiveAgent, Telling)>,
    ) -> Result<usize, RecordError> {
        let (tell, answer) = oneshot::channel();
        let orders = self.orders.lock().ok().and_then(|orders| orders.clone());
        let orders = orders.ok_or(RecordError::NotRunning)?;
        // No more requests come at a time than there is room for.
        orders
            .try_send((told, tell))
            .map_err(|_| RecordError::NotRunning)?;
        answer.await.map_err(|_| RecordError::NotRunning)?
    }

    /// Ends the thread, which closes the log.
    pub(super) fn end(&self) {
        if let Ok(mut orders) = self.orders.lock() {
            orders.take();
        }
        let thread = self.thread.lock().ok().and_then(|mut thread| thread.take());
        if let Some(thread) = thread {
            let _ = thread.join();
        }
    }
}

fn run(annals: &Annals, log: &str, secrets: &Secrets, orders: &Receiver<Order>) {
    let spool = Spool::of(log).ok();
    loop {
        match orders.recv_timeout(SPOOL) {
            Ok((told, tell)) => {
                let _ = tell.send(record(annals, &told).wait());
            }
            Err(RecvTimeoutError::Timeout) => {
                let Some(spool) = &spool else { continue };
                if let Err(error) = take_in(annals, spool, secrets).wait() {
                    tracing::warn!(%error, "what waits in the spool was not taken in");
                }
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    annals.close().wait();
}

async fn record(annals: &Annals, told: &[(LiveAgent, Telling)]) -> Result<usize, RecordError> {
    let mut each: Vec<(&'static str, Live<'_>)> = Vec::new();
    let mut refused = 0;
    for (agent, telling) in told {
        let place = each.iter().position(|(key, _)| *key == agent.key());
        let place = place.unwrap_or_else(|| {
            each.push((agent.key(), Live::new(annals, *agent)));
            each.len() - 1
        });
        let Some((_, live)) = each.get_mut(place) else {
            continue;
        };
        if live.tell(telling).await? == Outcome::Refused {
            refused += 1;
        }
    }
    Ok(refused)
}
