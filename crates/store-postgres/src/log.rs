//! An open log: its threads, and how it is opened and closed.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use annals_event_log::ReadError;
use tokio::runtime::{Builder, Handle};
use tokio::sync::watch;
use tokio::task::unconstrained;
use uuid::Uuid;

use crate::commit_loop;
use crate::error::OpenError;
use crate::leading::Leading;
use crate::lease::Lease;
use crate::opening::{self, Mode};
use crate::queue::Queue;
use crate::settings::{Access, Settings};
use crate::shared::Shared;
use crate::switchboard::{Member, Telling};
use crate::tail;
use crate::uploads;

/// A log in a PostgreSQL database.
///
/// It works on threads of its own and is bound to no runtime; dropping it lets what was accepted be committed. Any
/// number of processes, and of handles in one process, may have the same log open.
pub struct PostgresLog {
    pub(crate) shared: Arc<Shared>,
    pub(crate) handle: Handle,
    pub(crate) queue: Queue,
    pub(crate) leading: Leading,
    closed: AtomicBool,
    ended: watch::Receiver<()>,
}

impl fmt::Debug for PostgresLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresLog")
            .field("log", &self.shared.settings.log)
            .field("log_id", &self.shared.log_id)
            .finish_non_exhaustive()
    }
}

/// What a log's thread gives to who opens it.
struct Opened {
    shared: Arc<Shared>,
    handle: Handle,
    queue: Queue,
    ended: watch::Receiver<()>,
}

impl PostgresLog {
    /// Opens a log that is there.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn open(settings: &Settings) -> Result<PostgresLog, OpenError> {
        PostgresLog::start(settings, Mode::Open)
    }

    /// Creates a log, and its schema where that is not there.
    ///
    /// # Errors
    /// [`OpenError`], and [`OpenError::AlreadyExists`] where there is a log of that name.
    pub fn create(settings: &Settings) -> Result<PostgresLog, OpenError> {
        PostgresLog::start(settings, Mode::Create)
    }

    /// Opens a log, and creates it where it is not there: for processes that start at the same time.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn open_or_create(settings: &Settings) -> Result<PostgresLog, OpenError> {
        PostgresLog::start(settings, Mode::OpenOrCreate)
    }

    fn start(settings: &Settings, mode: Mode) -> Result<PostgresLog, OpenError> {
        let failed = |error: &dyn fmt::Display| OpenError::Threads {
            detail: error.to_string(),
        };
        let (answer, answered) = mpsc::channel();
        let settings = settings.clone();
        let run = move || run(settings, mode, &answer);
        let thread = thread::Builder::new().name("annals-postgres".into());
        thread.spawn(run).map_err(|error| failed(&error))?;
        let Opened {
            shared,
            handle,
            queue,
            ended,
        } = answered.recv().map_err(|error| failed(&error))??;
        Ok(PostgresLog {
            leading: Leading::new(Arc::clone(&shared), handle.clone()),
            shared,
            handle,
            queue,
            closed: AtomicBool::new(false),
            ended,
        })
    }

    /// The log's id and whether this handle may only read, or that it is closed.
    pub(crate) fn opened(&self) -> Result<&Arc<Shared>, ReadError> {
        match self.closed.load(Ordering::Acquire) {
            true => Err(ReadError::Closed),
            false => Ok(&self.shared),
        }
    }

    /// Whether nothing may be written.
    pub(crate) fn is_read_only(&self) -> bool {
        self.shared.settings.access == Access::ReadOnly
    }

    pub(crate) fn id(&self) -> Uuid {
        self.shared.log_id
    }

    /// A place in line for what one process does for all of this log, under a name.
    pub fn lease(&self, name: &str, lasts: Duration) -> Lease {
        Lease::new(Arc::clone(&self.shared), self.handle.clone(), name, lasts)
    }

    /// Takes nothing more.
    pub(crate) fn shut(&self) {
        self.closed.store(true, Ordering::Release);
        self.shared.watermark.close();
        self.queue.close();
    }

    /// Waits until what was accepted is committed and the threads have ended.
    pub(crate) async fn ended(&self) {
        // The sender is dropped at the end, and never sends.
        let mut ended = self.ended.clone();
        let _ = unconstrained(ended.changed()).await;
    }
}

impl Drop for PostgresLog {
    fn drop(&mut self) {
        // The threads end by themselves when the queue is empty.
        self.shut();
    }
}

/// What a log's own thread does, from opening to closing.
fn run(settings: Settings, mode: Mode, answer: &mpsc::Sender<Result<Opened, OpenError>>) {
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .thread_name("annals-postgres")
        .enable_all()
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            let detail = error.to_string();
            let _ = answer.send(Err(OpenError::Threads { detail }));
            return;
        }
    };
    runtime.block_on(async {
        let (shared, connector) = match opening::open(settings, mode).await {
            Ok(opened) => opened,
            Err(error) => {
                let _ = answer.send(Err(error));
                return;
            }
        };
        let shared = Arc::new(shared);
        let (queue, queued) = Queue::new(shared.settings.queue_bytes, Handle::current());
        let (alive, ended) = watch::channel(());
        tokio::spawn(tail::poll(Arc::clone(&shared)));
        if shared.settings.access == Access::ReadWrite && shared.objects.is_some() {
            tokio::spawn(sweep(Arc::clone(&shared)));
        }
        let notify = shared.settings.notify;
        let member = notify.then(|| Member::join(&shared, connector)).flatten();
        let telling = member.map(Telling::begin);
        let opened = Opened {
            shared: Arc::clone(&shared),
            handle: Handle::current(),
            queue,
            ended,
        };
        // Who opens it may be gone: then the queue is, too, and this ends.
        let _ = answer.send(Ok(opened));
        // On a worker, as what drives its connection: mostly neither wakes another thread to go on.
        let committing = tokio::spawn(commit_loop::run(Arc::clone(&shared), queued));
        if let Err(error) = committing.await {
            tracing::error!(%error, "the loop that commits has failed");
            // Nobody looks at the head any more.
            shared.watermark.close();
        }
        if let Some(telling) = telling {
            telling.end().await;
        }
        shared.appends.close();
        shared.sessions.close();
        drop(alive);
    });
}

/// Removes objects that a redaction of a process that died has left.
async fn sweep(shared: Arc<Shared>) {
    let of_call = Arc::clone(&shared);
    let swept = shared.sessions.run(move |session| {
        let shared = Arc::clone(&of_call);
        Box::pin(async move { uploads::sweep(&shared, session).await })
    });
    if let Err(failure) = swept.await {
        tracing::warn!(error = %failure, "removed content is left in the object store");
    }
}
