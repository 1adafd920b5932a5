//! Notifications between processes, where they are wanted: hints alone. One is sent behind an append's commit, in a
//! transaction of its own, and not for each of them: within the append, its commit would take a lock over the
//! whole server.
//!
//! The server wakes every connection of the database that listens, on any channel. So a process has one for all logs
//! that it has open there, which tells of all of them at once, too.

use std::collections::HashSet;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use futures::FutureExt;
use futures::future::poll_fn;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio_postgres::{AsyncMessage, Client, Error};
use uuid::Uuid;

use crate::connect::{Connector, OWN_NAMES};
use crate::shared::Shared;

/// The channel of all logs: what is told on it is who tells, and of which logs.
const CHANNEL: &str = "annals";
/// The time between two notifications, at least.
const PAUSE: Duration = Duration::from_millis(20);
/// Logs that one notification tells of, at most: it takes less than 8000 bytes.
const MOST: usize = 200;
/// The time until the connection is made again.
const AGAIN: Duration = Duration::from_millis(500);
/// How long the server may take for a notification.
const LIMIT: Duration = Duration::from_secs(10);
/// How long a log that is closed waits until its last commit was told: a connection may have to be made first, on a busy
/// machine.
const LAST: Duration = LIMIT;

/// Those of all servers that logs of this process are open on.
static SWITCHBOARDS: Mutex<Vec<Arc<Switchboard>>> = Mutex::new(Vec::new());

/// A log's place at the switchboard of its server, until it is dropped.
pub(crate) struct Member {
    board: Arc<Switchboard>,
    shared: Arc<Shared>,
}

impl Member {
    /// Takes a place at the server's switchboard, which the first one sets up; there is none where the system refuses
    /// what that takes.
    pub(crate) fn join(shared: &Arc<Shared>, connector: Connector) -> Option<Member> {
        let mut boards = lock(&SWITCHBOARDS);
        let found = boards.iter().find(|it| it.connector.is_as(&connector));
        let board =
            match found.map_or_else(|| Switchboard::start(connector), |it| Ok(Arc::clone(it))) {
                Ok(board) => board,
                Err(error) => {
                    tracing::warn!(%error, "no thread for notifications; readers poll");
                    return None;
                }
            };
        if found.is_none() {
            boards.push(Arc::clone(&board));
        }
        lock(&board.members).push((shared.log_id, Arc::downgrade(shared)));
        Some(Member {
            board,
            shared: Arc::clone(shared),
        })
    }

    /// Tells what this process commits to the log, for ever.
    async fn tell_on(&self) {
        loop {
            self.shared.signals.has_committed().await;
            self.tell();
        }
    }

    /// Waits until the last commit was told, for a moment.
    async fn tell_last(&self) {
        if self.shared.signals.has_committed().now_or_never().is_some() {
            self.tell();
        }
        let told = self.board.untold.is_told(self.shared.log_id);
        if tokio::time::timeout(LAST, told).await.is_err() {
            tracing::debug!("the last commit was not told; readers poll");
        }
    }

    /// Tells all others of this log that there is more: those of this process at once.
    fn tell(&self) {
        let (log_id, position) = (self.shared.log_id, self.shared.watermark.get());
        for other in self.board.members(|it| it == log_id) {
            if !Arc::ptr_eq(&other, &self.shared) {
                other.reached(position.0);
            }
        }
        self.board.untold.add(log_id);
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        let mut boards = lock(&SWITCHBOARDS);
        let mut members = lock(&self.board.members);
        let own = Arc::as_ptr(&self.shared);
        members.retain(|(_, it)| !std::ptr::eq(it.as_ptr(), own));
        if members.is_empty() {
            boards.retain(|it| !Arc::ptr_eq(it, &self.board));
            self.board.ended.notify_one();
        }
    }
}

/// A task that tells what is committed to a log.
pub(crate) struct Telling {
    member: Arc<Member>,
    task: JoinHandle<()>,
}

impl Telling {
    /// Begins to tell, on a worker of the runtime that this is called in.
    pub(crate) fn begin(member: Member) -> Telling {
        let member = Arc::new(member);
        let telling = Arc::clone(&member);
        let task = tokio::spawn(async move { telling.tell_on().await });
        Telling { member, task }
    }

    /// Ends once the last commit was told, or could not be for a while.
    pub(crate) async fn end(self) {
        // A commit that woke the task before it could run is handed back once the task has ended.
        self.task.abort();
        let _ = self.task.await;
        self.member.tell_last().await;
    }
}

/// What the logs of this process that are on one server share for their notifications.
struct Switchboard {
    connector: Connector,
    /// Who tells: what comes back to it is known here.
    own: Uuid,
    members: Mutex<Vec<(Uuid, Weak<Shared>)>>,
    untold: Untold,
    /// The last log has left.
    ended: Notify,
}

impl Switchboard {
    fn start(connector: Connector) -> std::io::Result<Arc<Switchboard>> {
        let board = Arc::new(Switchboard {
            connector,
            own: Uuid::new_v4(),
            members: Mutex::default(),
            untold: Untold::default(),
            ended: Notify::new(),
        });
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let running = Running(Arc::clone(&board));
        thread::Builder::new()
            .name("annals-notify".into())
            .spawn(move || running.run(&runtime))?;
        Ok(board)
    }

    /// Tells and hears, on one connection after the other.
    async fn exchange(&self) {
        loop {
            if let Err(error) = self.exchange_on_one().await {
                tracing::debug!(
                    ?error,
                    "the connection for notifications is lost; readers poll"
                );
            }
            tokio::time::sleep(AGAIN).await;
        }
    }

    async fn exchange_on_one(&self) -> Result<(), Option<Error>> {
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
        tokio::select! {
            ended = heard => ended.map_err(Some),
            refused = self.tell(&client) => refused,
        }
    }

    /// Begins to listen, and tells what is committed here.
    async fn tell(&self, client: &Client) -> Result<(), Option<Error>> {
        // What is told may vanish with the server, unlike what is told of: its commit waits for no disk.
        let begin = format!("{OWN_NAMES}; SET synchronous_commit = off; LISTEN {CHANNEL}");
        ask(client, &begin).await?;
        // What was told before is found by a look.
        self.ring(|_| true);
        loop {
            let untold = self.untold.take().await;
            for some in untold.chunks(MOST) {
                ask(client, &notification(self.own, some)).await?;
            }
            self.untold.told();
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Rings those that another process tells of.
    fn hear(&self, told: &str) {
        let (teller, ids) = read(told);
        if teller != Some(self.own) {
            self.ring(|log_id| ids.contains(&log_id));
        }
    }

    /// Has the heads of some logs looked at soon, where somebody waits for them to move.
    fn ring(&self, which: impl Fn(Uuid) -> bool) {
        for member in self.members(which) {
            if member.signals.has_waiting() {
                member.signals.ring();
            }
        }
    }

    fn members(&self, which: impl Fn(Uuid) -> bool) -> Vec<Arc<Shared>> {
        let members = lock(&self.members);
        let some = members.iter().filter(|(log_id, _)| which(*log_id));
        some.filter_map(|(_, it)| it.upgrade()).collect()
    }
}

/// A switchboard's thread. It is known until that ends, however it ends.
struct Running(Arc<Switchboard>);

impl Running {
    fn run(&self, runtime: &Runtime) {
        runtime.block_on(async {
            tokio::select! {
                () = self.0.ended.notified() => {}
                () = self.0.exchange() => {}
            }
        });
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        lock(&SWITCHBOARDS).retain(|it| !Arc::ptr_eq(it, &self.0));
    }
}

/// The logs with commits that were not told yet.
#[derive(Default)]
struct Untold {
    logs: Mutex<Logs>,
    more: Notify,
    told: Notify,
}

#[derive(Default)]
struct Logs {
    waiting: HashSet<Uuid>,
    under_way: HashSet<Uuid>,
}

impl Untold {
    fn add(&self, log_id: Uuid) {
        lock(&self.logs).waiting.insert(log_id);
        self.more.notify_one();
    }

    /// Waits for some, and gives all of them; with those whose telling ended with its connection.
    async fn take(&self) -> Vec<Uuid> {
        loop {
            let waiting = {
                let mut logs = lock(&self.logs);
                let waiting = mem::take(&mut logs.waiting);
                logs.under_way.extend(waiting);
                logs.under_way.iter().copied().collect::<Vec<Uuid>>()
            };
            if !waiting.is_empty() {
                return waiting;
            }
            self.more.notified().await;
        }
    }

    /// What was taken was told.
    fn told(&self) {
        lock(&self.logs).under_way.clear();
        self.told.notify_waiters();
    }

    /// Waits until nothing of a log is left to be told.
    async fn is_told(&self, log_id: Uuid) {
        loop {
            let told = self.told.notified();
            let is_left = {
                let logs = lock(&self.logs);
                logs.waiting.contains(&log_id) || logs.under_way.contains(&log_id)
            };
            if !is_left {
                return;
            }
            told.await;
        }
    }
}

/// The statement that tells of some logs. Nothing in it comes from outside.
fn notification(own: Uuid, logs: &[Uuid]) -> String {
    let told = [&own].into_iter().chain(logs);
    let told: Vec<String> = told.map(|id| id.simple().to_string()).collect();
    format!("SELECT pg_notify('{CHANNEL}', '{}')", told.join(","))
}

/// Who tells, and of which logs.
fn read(told: &str) -> (Option<Uuid>, HashSet<Uuid>) {
    let mut ids = told.split(',').map(|id| id.parse().ok());
    (ids.next().flatten(), ids.flatten().collect())
}

/// Has a statement done, in a time that a server that is well takes.
async fn ask(client: &Client, text: &str) -> Result<(), Option<Error>> {
    match tokio::time::timeout(LIMIT, client.batch_execute(text)).await {
        Ok(done) => done.map_err(Some),
        Err(_) => Err(None),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use futures::executor::block_on;

    use super::*;

    #[test]
    fn the_longest_notification_fits_and_is_read_as_it_was_told() {
        let own = Uuid::from_u128(1);
        let logs: Vec<Uuid> = (2..).take(MOST).map(Uuid::from_u128).collect();
        let text = notification(own, &logs);
        let payload = text.split('\'').nth(3).unwrap();
        assert!(payload.len() < 8_000, "{}", payload.len());
        assert_eq!(read(payload), (Some(own), logs.into_iter().collect()));
        assert_eq!(read("what somebody else tells"), (None, HashSet::new()));
    }

    #[test]
    fn what_was_not_told_is_told_on_the_next_connection() {
        let (untold, log_id) = (Untold::default(), Uuid::from_u128(1));
        untold.add(log_id);
        assert_eq!(block_on(untold.take()), [log_id]);
        assert!(untold.is_told(log_id).now_or_never().is_none());
        // The connection ended meanwhile.
        assert_eq!(block_on(untold.take()), [log_id]);
        untold.told();
        assert!(untold.is_told(log_id).now_or_never().is_some());
        assert!(untold.take().now_or_never().is_none());
    }
}
