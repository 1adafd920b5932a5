//! Notifications between processes, where they are wanted: hints alone. One is sent behind an append's commit, in a
//! transaction of its own, and not for each of them: within the append, its commit would take a lock over the
//! whole server.
//!
//! The server wakes every connection of the database that listens, whatever it listens to. So a process has one
//! for all logs that it has open there, which tells of all of them at once, too.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use futures::future::poll_fn;
use tokio::runtime::Builder;
use tokio::sync::Notify;
use tokio_postgres::{AsyncMessage, Client, Error};
use uuid::Uuid;

use crate::connect::Connector;
use crate::shared::Shared;

/// The channel of all logs: what is told on it is who tells, and of which logs.
const CHANNEL: &str = "annals";
/// The time between two notifications, at least.
const PAUSE: Duration = Duration::from_millis(20);
/// Logs that one notification tells of, at most: it takes less than 8000 bytes.
const MOST: usize = 200;

/// Those of all servers that logs of this process are open on.
static SWITCHBOARDS: Mutex<Vec<Arc<Switchboard>>> = Mutex::new(Vec::new());

/// What the logs of this process that are on one server share for their notifications.
struct Switchboard {
    connector: Connector,
    /// Who tells: what comes back to it is known here.
    own: Uuid,
    members: Mutex<Vec<Weak<Shared>>>,
    /// Logs with commits that were not told yet.
    untold: Mutex<HashSet<Uuid>>,
    committed: Notify,
    /// The last log has left.
    ended: Notify,
}

/// Tells other processes what this one commits to a log, and has it hear what they tell, until the future is dropped.
pub(crate) async fn connect(shared: Arc<Shared>, connector: Connector) {
    let Some(member) = Member::join(&shared, connector) else {
        return;
    };
    loop {
        shared.signals.has_committed().await;
        member.tell();
    }
}

/// A log's place at a switchboard, until it is dropped.
struct Member {
    board: Arc<Switchboard>,
    shared: Arc<Shared>,
}

impl Member {
    /// Takes a place at the server's switchboard, which the first one sets up.
    fn join(shared: &Arc<Shared>, connector: Connector) -> Option<Member> {
        let mut boards = lock(&SWITCHBOARDS);
        let found = boards.iter().find(|it| it.connector.is_as(&connector));
        let board = match found {
            Some(board) => Arc::clone(board),
            None => {
                let board = Arc::new(Switchboard::new(connector));
                let of_thread = Arc::clone(&board);
                let pause = shared.settings.poll_most;
                let limit = shared.settings.statement_timeout;
                let started = thread::Builder::new()
                    .name("annals-notify".into())
                    .spawn(move || of_thread.run(pause, limit));
                if let Err(error) = started {
                    tracing::warn!(%error, "no thread for notifications; readers poll");
                    return None;
                }
                boards.push(Arc::clone(&board));
                board
            }
        };
        lock(&board.members).push(Arc::downgrade(shared));
        Some(Member {
            board,
            shared: Arc::clone(shared),
        })
    }

    /// Tells all others of this log that there is more: those of this process at once.
    fn tell(&self) {
        let log_id = self.shared.log_id;
        self.board
            .ring(|it| it.log_id == log_id && !std::ptr::eq(it, &*self.shared));
        lock(&self.board.untold).insert(log_id);
        self.board.committed.notify_one();
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        let mut boards = lock(&SWITCHBOARDS);
        let mut members = lock(&self.board.members);
        let own = Arc::as_ptr(&self.shared);
        members.retain(|it| !std::ptr::eq(it.as_ptr(), own));
        if members.is_empty() {
            boards.retain(|it| !Arc::ptr_eq(it, &self.board));
            self.board.ended.notify_one();
        }
    }
}

impl Switchboard {
    fn new(connector: Connector) -> Switchboard {
        Switchboard {
            connector,
            own: Uuid::new_v4(),
            members: Mutex::default(),
            untold: Mutex::default(),
            committed: Notify::new(),
            ended: Notify::new(),
        }
    }

    /// What its thread does.
    fn run(&self, pause: Duration, limit: Duration) {
        let runtime = match Builder::new_current_thread().enable_all().build() {
            Ok(runtime) => runtime,
            Err(error) => {
                tracing::warn!(%error, "no runtime for notifications; readers poll");
                return;
            }
        };
        runtime.block_on(async {
            tokio::select! {
                () = self.ended.notified() => {}
                () = self.exchange(pause, limit) => {}
            }
        });
    }

    async fn exchange(&self, pause: Duration, limit: Duration) {
        loop {
            if let Err(error) = self.exchange_on_one(limit).await {
                tracing::debug!(
                    ?error,
                    "the connection for notifications is lost; readers poll"
                );
            }
            // What was told meanwhile is found by a look.
            self.ring(|_| true);
            tokio::time::sleep(pause).await;
        }
    }

    /// On one connection, until it ends.
    async fn exchange_on_one(&self, limit: Duration) -> Result<(), Option<Error>> {
        let (client, mut connection) = self.connector.dialer.connect().await?;
        let heard = async {
            while let Some(message) = poll_fn(|context| connection.poll_message(context)).await {
                if let AsyncMessage::Notification(told) = message? {
                    self.hear(told.payload());
                }
            }
            Ok::<(), Error>(())
        };
        // The client asks, and the connection is what answers it: both are polled until the connection ends.
        let ended = tokio::select! {
            ended = heard => ended.map_err(Some),
            refused = self.tell(&client, limit) => refused,
        };
        ended
    }

    /// Rings those that another process tells of.
    fn hear(&self, told: &str) {
        let mut ids = told.split(',');
        if ids.next() == Some(&self.own.simple().to_string()) {
            return;
        }
        let ids: HashSet<Uuid> = ids.filter_map(|id| id.parse().ok()).collect();
        self.ring(|it| ids.contains(&it.log_id));
    }

    /// Has the heads of some logs looked at soon, where somebody waits for them to move.
    fn ring(&self, which: impl Fn(&Shared) -> bool) {
        let members: Vec<Arc<Shared>> = lock(&self.members)
            .iter()
            .filter_map(Weak::upgrade)
            .collect();
        for member in members {
            if member.signals.has_waiting() && which(&member) {
                member.signals.ring();
            }
        }
    }

    /// Begins to listen, and tells what is committed here.
    async fn tell(&self, client: &Client, limit: Duration) -> Result<(), Option<Error>> {
        // What is told may vanish with the server, unlike what is told of: its commit waits for no disk.
        let begin = format!("SET synchronous_commit = off; LISTEN {CHANNEL}");
        ask(client, &begin, limit).await?;
        loop {
            self.committed.notified().await;
            let untold: Vec<Uuid> = lock(&self.untold).drain().collect();
            for some in untold.chunks(MOST) {
                ask(client, &self.notification(some), limit).await?;
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// The statement that tells of some logs. Nothing in it comes from outside.
    fn notification(&self, logs: &[Uuid]) -> String {
        let told = [&self.own].into_iter().chain(logs);
        let told: Vec<String> = told.map(|id| id.simple().to_string()).collect();
        format!("SELECT pg_notify('{CHANNEL}', '{}')", told.join(","))
    }
}

/// Has a statement done, in a time that a server that is well takes.
async fn ask(client: &Client, text: &str, limit: Duration) -> Result<(), Option<Error>> {
    match tokio::time::timeout(limit, client.batch_execute(text)).await {
        Ok(done) => done.map_err(Some),
        Err(_) => Err(None),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
