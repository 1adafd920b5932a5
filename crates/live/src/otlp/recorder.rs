//! The thread that records telemetry, one request after the other, and takes in what waits in the spool meanwhile.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use annals::blocking::Wait as _;
use annals::event_log::{Classification, Classified, ErrorClass};
use annals::{Annals, OpenError, OpenOptions};
use annals_dialects::import::ImportError;
use annals_dialects::live::{Live, LiveAgent, Outcome, Telling};
use annals_dialects::secrets::Secrets;
use tokio::sync::oneshot;

use crate::grants;
use crate::spool::Spool;
use crate::take::take_in;

/// Orders that wait for the thread: one of each request that has a turn, and a look.
const WAITING: usize = 9;
/// Signals of one order: between two of a large request, others have theirs.
const AT_ONCE: usize = 128;

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

/// What the thread is to do.
enum Order {
    /// To record this, and to tell of it.
    Record(
        Vec<(LiveAgent, Telling)>,
        oneshot::Sender<Result<usize, RecordError>>,
    ),
    /// To take in what waits in the spool.
    Look,
}

/// Records on a thread of its own.
#[derive(Debug)]
pub(super) struct Recorder {
    orders: Mutex<Option<SyncSender<Order>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
    /// Whether something waits in the spool that was not looked at.
    is_rung: Arc<AtomicBool>,
}

impl Recorder {
    pub(super) fn start(log: String, secrets: Secrets) -> Result<Recorder, RecordError> {
        let annals = OpenOptions::new().open(&log)?;
        let (give, orders) = sync_channel(WAITING);
        let thread = std::thread::Builder::new().name("annals-otlp".to_owned());
        let is_rung = Arc::new(AtomicBool::new(false));
        let rung = Arc::clone(&is_rung);
        let thread = thread.spawn(move || run(&annals, (&log, &rung), &secrets, &orders));
        Ok(Recorder {
            is_rung,
            orders: Mutex::new(Some(give)),
            thread: Mutex::new(Some(thread.map_err(|_| RecordError::NotRunning)?)),
        })
    }

    /// Records what was told; how much of it the log cannot have.
    pub(super) async fn record(
        &self,
        told: Vec<(LiveAgent, Telling)>,
    ) -> Result<usize, RecordError> {
        let mut told = told.into_iter();
        let mut refused = 0;
        loop {
            let part: Vec<_> = told.by_ref().take(AT_ONCE).collect();
            if part.is_empty() {
                return Ok(refused);
            }
            refused += self.record_part(part).await?;
        }
    }

    async fn record_part(&self, told: Vec<(LiveAgent, Telling)>) -> Result<usize, RecordError> {
        let (tell, answer) = oneshot::channel();
        let orders = self.orders.lock().ok().and_then(|orders| orders.clone());
        let orders = orders.ok_or(RecordError::NotRunning)?;
        // No more requests come at a time than there is room for.
        orders
            .try_send(Order::Record(told, tell))
            .map_err(|_| RecordError::NotRunning)?;
        answer.await.map_err(|_| RecordError::NotRunning)?
    }

    /// Has what waits in the spool taken in.
    pub(super) fn look(&self) {
        self.is_rung.store(true, Ordering::Release);
        if let Ok(orders) = self.orders.lock()
            && let Some(orders) = orders.as_ref()
        {
            // Where there is no room for it, it looks behind what it does now.
            let _ = orders.try_send(Order::Look);
        }
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

fn run(
    annals: &Annals,
    (log, is_rung): (&str, &AtomicBool),
    secrets: &Secrets,
    orders: &Receiver<Order>,
) {
    let spool = Spool::of(log).ok();
    while let Ok(order) = orders.recv() {
        if let Order::Record(told, tell) = order {
            let _ = tell.send(record(annals, &told).wait());
        }
        let Some(spool) = &spool else { continue };
        if !is_rung.swap(false, Ordering::AcqRel) {
            continue;
        }
        if let Err(error) = take_in(annals, spool, secrets).wait() {
            tracing::warn!(%error, "what waits in the spool was not taken in");
        }
    }
    annals.close().wait();
}

/// Records a part of a request, and answers when it is on disk; how much of it the log cannot have.
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
        let mut telling = telling.clone();
        if grants::looks_into_log(&telling) {
            live.settle().await?;
            let completed = grants::complete(annals, *agent, &mut telling).await;
            completed.map_err(|error| ImportError::View(Box::new(error)))?;
        }
        if live.tell_ahead(&telling).await? == Outcome::Refused {
            refused += 1;
        }
    }
    // One sync for all of them.
    for (_, live) in &mut each {
        live.settle().await?;
    }
    Ok(refused)
}
