//! The owner's side: a thread that takes the guests' calls and has the log do them.

use std::cell::Cell;
use std::io;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use annals_event_log::{EventLog, Link, Position, ReadModels, Row};
use annals_files::User;
use annals_store_rocks::{RocksLog, raise_open_files};
use bytes::Bytes;
use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};
use tokio::runtime::Builder;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio::task::LocalSet;

use crate::frame::{self, GREETING};
use crate::linked;
use crate::message::{
    self, Answer, AppendFailure, Call, CommitFailure, Malformed, Octets, PurgeFailure, ReadFailure,
    RedactFailure,
};
use crate::place::Place;
use crate::purge::purge;
use crate::sharing::Sharing;
use crate::wal_age::WalAge;

/// The most guests at a time.
const GUESTS: usize = 1_000;
/// The most calls of one guest that are not answered yet.
const CALLS: usize = 1_024;
/// How often the processor is offered to the log in vain.
const IDLE_TURNS: usize = 2;
/// A call or an answer of more bytes than this counts as large.
const SMALL: usize = 64 * 1024;
/// Bytes of all small calls and answers that are on their way; more wait.
const SMALL_BYTES: usize = 64 * 1024 * 1024;
/// The same of large ones, which keep no small one waiting.
const LARGE_BYTES: usize = 384 * 1024 * 1024;
/// The most look-ups and scans of rows at a time: their answers may be large.
const LOOKS: usize = 8;
/// Keys that are looked up at once.
const KEYS: usize = 1_000;
/// One message in so many seconds says what goes wrong again and again.
const BETWEEN_WARNINGS: Duration = Duration::from_secs(60);
/// How long an answer takes at most to be written. A guest that does not read is given up.
const TO_ANSWER: Duration = Duration::from_secs(60);
/// How often the socket is looked for: programs that clean up may remove it.
const TO_LOOK: Duration = Duration::from_secs(1);
/// How long what was accepted has, when the owner ends.
const TO_END: Duration = Duration::from_secs(30);

/// Whether serving goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Stop {
    No,
    Asked,
    /// The log has failed, for this reason.
    Failed(Arc<str>),
}

/// Notes that the log has failed, and why it did first.
fn fail(stop: &watch::Sender<Stop>, reason: &str) {
    stop.send_if_modified(|stop| {
        let is_first = *stop == Stop::No;
        if is_first {
            *stop = Stop::Failed(reason.into());
        }
        is_first
    });
}

/// The thread that serves guests. It ends with this.
pub(crate) struct Serving {
    socket: Arc<Place>,
    stop: watch::Sender<Stop>,
    thread: Option<JoinHandle<()>>,
}

impl Serving {
    /// Begins to listen in the folder of a log that this process has open for writing.
    pub(crate) fn start(folder: &Path, log: Arc<RocksLog>) -> io::Result<Serving> {
        let (place, listener) = Place::take(folder)?;
        let socket = Arc::new(place);
        let place = Arc::clone(&socket);
        let (stop, _) = watch::channel(Stop::No);
        let stopping = stop.clone();
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let thread = std::thread::Builder::new().name("annals-owner".into());
        let thread = thread.spawn(move || {
            let serve = async {
                // Within the runtime: it is registered there.
                match UnixListener::from_std(listener) {
                    Ok(listener) => serve(listener, &place, log, stopping).await,
                    Err(error) => tracing::error!(%error, "the log is not shared"),
                }
            };
            LocalSet::new().block_on(&runtime, serve);
        })?;
        Ok(Serving {
            socket,
            stop,
            thread: Some(thread),
        })
    }

    /// The log has failed: it is closed, so that another process, or this one, can open it again.
    pub(crate) fn failed(&self, reason: &str) {
        self.socket.leave();
        fail(&self.stop, reason);
    }

    /// Takes no more calls, and waits until those that were taken are answered.
    pub(crate) fn stop(&mut self) {
        self.socket.leave();
        self.stop.send_replace(Stop::Asked);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }

    /// Why the log has failed, if it has.
    pub(crate) fn failure(&self) -> Option<Arc<str>> {
        match &*self.stop.borrow() {
            Stop::Failed(reason) => Some(Arc::clone(reason)),
            Stop::No | Stop::Asked => None,
        }
    }

    /// Waits until guests are not served any more.
    pub(crate) fn ended(&self) -> impl Future<Output = ()> + use<> {
        let mut stop = self.stop.subscribe();
        async move {
            let _ = stop.wait_for(|stop| *stop != Stop::No).await;
        }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.stop();
    }
}

/// What all connections share.
struct Shared {
    log: Arc<RocksLog>,
    small: Arc<Semaphore>,
    large: Arc<Semaphore>,
    looks: Semaphore,
    stop: watch::Sender<Stop>,
    sharing: watch::Sender<Sharing>,
    warned: Cell<Option<Instant>>,
    /// How many calls are being done.
    busy: watch::Sender<usize>,
}

async fn serve(
    mut listener: UnixListener,
    place: &Place,
    log: Arc<RocksLog>,
    stop: watch::Sender<Stop>,
) {
    let (busy, mut idle) = watch::channel(0);
    let shared = Rc::new(Shared {
        log: Arc::clone(&log),
        small: Arc::new(Semaphore::new(SMALL_BYTES)),
        large: Arc::new(Semaphore::new(LARGE_BYTES)),
        looks: Semaphore::new(LOOKS),
        stop: stop.clone(),
        sharing: watch::Sender::new(Sharing::default()),
        warned: Cell::new(None),
        busy,
    });
    let room = Arc::new(Semaphore::new(guests()));
    let mut stop = stop.subscribe();
    let mut looks = tokio::time::interval(TO_LOOK);
    let mut wal = WalAge::default();
    loop {
        let accepted = tokio::select! {
            _ = stop.wait_for(|stop| *stop != Stop::No) => break,
            accepted = listener.accept() => accepted,
            _ = looks.tick() => {
                shared.look_who_may(place);
                wal.look(&log);
                match place.put_back().and_then(|it| it.map(UnixListener::from_std).transpose()) {
                    Ok(Some(again)) => listener = again,
                    Ok(None) => {}
                    Err(error) => shared.warn(&format!("the socket is gone and cannot be put back: {error}")),
                }
                continue;
            }
        };
        match accepted {
            Ok((stream, _)) => {
                shared.look_who_may(place);
                let (shared, room) = (Rc::clone(&shared), Arc::clone(&room).try_acquire_owned());
                tokio::task::spawn_local(async move {
                    if let Err(error) = guest(stream, &shared, room.ok()).await {
                        tracing::debug!(%error, "a guest's connection ended");
                    }
                });
            }
            Err(error) => {
                // Too many open files, for example: those that are there go on.
                shared.warn(&format!("a guest could not be taken: {error}"));
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
    drop(listener);
    // What it answers is a lock on the count, which is not held over what follows: a call that still comes counts, too.
    let waited = tokio::time::timeout(TO_END, idle.wait_for(|busy| *busy == 0));
    let is_late = waited.await.is_err();
    if is_late {
        tracing::warn!("calls of guests are not answered: the log is closed");
    }
    // The next process that writes opens it again: here it is no use to anybody.
    let has_failed = matches!(*stop.borrow(), Stop::Failed(_));
    if has_failed {
        log.close().await;
    }
}

/// One guest, until it goes.
async fn guest(
    mut stream: UnixStream,
    shared: &Rc<Shared>,
    room: Option<OwnedSemaphorePermit>,
) -> io::Result<()> {
    let peer = User(stream.peer_cred()?.uid());
    let mut sharing = shared.sharing.subscribe();
    if !sharing.borrow_and_update().admits(peer) {
        shared.warn(&format!("{peer} may not write to this log"));
        return stream.write_all(frame::REFUSED).await;
    }
    let Some(_room) = room else {
        return stream.write_all(frame::FULL).await;
    };
    let mut greeting = [0; GREETING.len()];
    frame::within(frame::TO_GREET, stream.read_exact(&mut greeting)).await?;
    // A guest of another version reads in it which one this is.
    stream.write_all(&frame::hello(shared.log.log_id())).await?;
    if greeting != *GREETING {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let (reader, writer) = stream.into_split();
    let (answers, written) = mpsc::unbounded_channel();
    let calls = Arc::new(Semaphore::new(CALLS));
    let writing = tokio::task::spawn_local(write(writer, written, Arc::clone(&calls)));
    let mut stop = shared.stop.subscribe();
    let read = tokio::select! {
        read = read(reader, shared, &calls, answers) => read,
        _ = stop.wait_for(|stop| *stop != Stop::No) => Ok(()),
        _ = sharing.wait_for(|sharing| !sharing.admits(peer)) => Ok(()),
    };
    // What was taken is done and answered, also where the guest has said all it will.
    let _ = writing.await;
    read
}

/// An answer on its way, with what its call holds until it is written.
struct Written {
    frame: Vec<u8>,
    held: Option<Held>,
}

/// What a call takes of the bounds.
struct Held {
    _turn: OwnedSemaphorePermit,
    _bytes: OwnedSemaphorePermit,
    /// Of its answer.
    answer: Option<OwnedSemaphorePermit>,
    shared: Rc<Shared>,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.shared.busy.send_modify(|busy| *busy -= 1);
    }
}

impl Shared {
    /// Waits for room for a call of so many bytes.
    async fn hold(shared: &Rc<Shared>, calls: &Arc<Semaphore>, length: usize) -> io::Result<Held> {
        let turn = Arc::clone(calls).acquire_owned().await.map_err(closed)?;
        let bytes = shared.room(length).await?;
        shared.busy.send_modify(|busy| *busy += 1);
        Ok(Held {
            _turn: turn,
            _bytes: bytes,
            answer: None,
            shared: Rc::clone(shared),
        })
    }

    /// Waits for room for so many bytes.
    async fn room(&self, length: usize) -> io::Result<OwnedSemaphorePermit> {
        let room = if length > SMALL {
            &self.large
        } else {
            &self.small
        };
        let bytes = length.clamp(frame::LEAST, LARGE_BYTES);
        let bytes = u32::try_from(bytes).map_err(|_| io::ErrorKind::InvalidData)?;
        let room = Arc::clone(room).acquire_many_owned(bytes);
        room.await.map_err(closed)
    }

    /// Takes notice of a setting that was changed.
    fn look_who_may(&self, place: &Place) {
        let now = place.sharing().unwrap_or_else(|error| {
            self.warn(&format!("no other user may write to the log: {error}"));
            Sharing::default()
        });
        if *self.sharing.borrow() == now {
            return;
        }
        if let Err(error) = place.let_in(&now) {
            self.warn(&format!("who is named cannot connect: {error}"));
        }
        self.sharing.send_replace(now);
    }

    /// Says what goes wrong, once a minute: standard error may be a pipe that is not read.
    fn warn(&self, what: &str) {
        let said = self.warned.get();
        if said.is_none_or(|at| at.elapsed() >= BETWEEN_WARNINGS) {
            self.warned.set(Some(Instant::now()));
            tracing::warn!("{what}");
        }
    }
}

async fn read(
    reader: OwnedReadHalf,
    shared: &Rc<Shared>,
    calls: &Arc<Semaphore>,
    answers: mpsc::UnboundedSender<Written>,
) -> io::Result<()> {
    let mut reader = BufReader::with_capacity(frame::TOGETHER, reader);
    while let Some((length, number)) = frame::header(&mut reader).await? {
        if number == frame::PING {
            let held = Some(Shared::hold(shared, calls, 0).await?);
            let frame = frame::ping()?;
            let _ = answers.send(Written { frame, held });
            continue;
        }
        let mut held = Shared::hold(shared, calls, length).await?;
        let body = frame::body(&mut reader, length).await?;
        let (answers, shared) = (answers.clone(), Rc::clone(shared));
        // In the order in which they came: each is in the log's queue when it was polled once.
        tokio::task::spawn_local(async move {
            let call = called(body).await;
            let looks = match &call {
                // Only these have answers that are larger than their calls.
                Ok(Call::Rows { .. } | Call::Scan { .. }) => shared.looks.acquire().await.ok(),
                _ => None,
            };
            let answer = match call {
                Ok(call) => answer(&shared, call).await,
                Err(error) => Err(error),
            };
            let answer = answer.unwrap_or_else(|error| Answer::Malformed(error.to_string()));
            if let Some(reason) = answer.failure() {
                fail(&shared.stop, reason);
            }
            match framed(&answer, number) {
                Ok(frame) => {
                    drop(answer);
                    // One that is large waits for room, and its look-up keeps its turn until then.
                    held.answer = shared.room(frame.len()).await.ok();
                    drop(looks);
                    let held = Some(held);
                    let _ = answers.send(Written { frame, held });
                }
                Err(error) => shared.warn(&format!("a guest's call is not answered: {error}")),
            }
        });
    }
    Ok(())
}

/// Reads a call; a large one on another thread, as it takes long.
async fn called(body: Vec<u8>) -> Result<Call, Malformed> {
    if body.len() <= SMALL {
        return message::decode(&body);
    }
    let read = tokio::task::spawn_blocking(move || message::decode(&body));
    read.await
        .unwrap_or_else(|error| Err(Malformed::from(error)))
}

fn closed<E>(_: E) -> io::Error {
    io::ErrorKind::BrokenPipe.into()
}

/// How many guests there may be: each takes a file, and the log needs most of those that may be open.
fn guests() -> usize {
    // A thousand guests are more than the usual limit of a shell.
    GUESTS.min(raise_open_files() / 4)
}

/// The frame of an answer. One that is too large says so instead.
fn framed(answer: &Answer, number: u64) -> io::Result<Vec<u8>> {
    let encoded = |answer: &Answer| {
        let frame = message::encode(answer, frame::start());
        let mut frame = frame.map_err(io::Error::other)?;
        frame::finish(&mut frame, number).map(|()| frame)
    };
    encoded(answer).or_else(|_| encoded(&Answer::Malformed(too_large())))
}

fn too_large() -> String {
    format!("the answer has more than {} bytes", frame::LARGEST)
}

/// Writes answers, as many together as there are.
async fn write(
    mut writer: OwnedWriteHalf,
    mut answers: mpsc::UnboundedReceiver<Written>,
    calls: Arc<Semaphore>,
) {
    let (mut together, mut held) = (Vec::new(), Vec::new());
    while let Some(first) = answers.recv().await {
        let mut more = put(first, &mut together, &mut held);
        let mut idle_turns = 0;
        // The log answers a group of calls one after the other: the processor is offered to it while answers come.
        // Otherwise nearly each would be written alone, and wake the guest.
        while more && held.len() < CALLS - calls.available_permits() && idle_turns < IDLE_TURNS {
            std::thread::yield_now();
            tokio::task::yield_now().await;
            idle_turns += 1;
            while more && let Ok(next) = answers.try_recv() {
                more = put(next, &mut together, &mut held);
                idle_turns = 0;
            }
        }
        let write = frame::within(TO_ANSWER, writer.write_all(&together)).await;
        together.clear();
        held.clear();
        if let Err(error) = write {
            tracing::debug!(%error, "a guest does not take its answers");
            return;
        }
    }
}

/// Puts an answer to those that are written together; whether another one may come with them.
fn put(written: Written, together: &mut Vec<u8>, held: &mut Vec<Held>) -> bool {
    held.extend(written.held);
    frame::put_to(together, written.frame)
}

/// Has the log do what a guest asks for.
async fn answer(shared: &Shared, call: Call) -> Result<Answer, Malformed> {
    let log = &shared.log;
    Ok(match call {
        Call::Append { append, link } => {
            let link = link.map(|(chain, number)| Link { chain, number });
            let done = linked::append(log, append.into_append()?, link).await;
            Answer::Appended(done.map(message::appended_of).map_err(AppendFailure::from))
        }
        Call::Copy { records, blobs } => {
            let records = message::records(records)?;
            let done = log.append_records(records, message::blobs(blobs)).await;
            Answer::Appended(done.map(message::appended_of).map_err(AppendFailure::from))
        }
        Call::Redact(redaction) => {
            let done = log.redact(redaction.into_redaction()?).await;
            Answer::Redacted(done.map(message::appended_of).map_err(RedactFailure::from))
        }
        Call::Checkpoint { model } => {
            let found = log.checkpoint(&model).await;
            Answer::Checkpoint(found.map(message::checkpoint_of).map_err(ReadFailure::from))
        }
        Call::Commit {
            model,
            expected,
            rows,
            position,
        } => {
            let rows = rows.into_iter();
            let rows = rows.map(|(key, value)| (key.0, value.map(|it| it.0)));
            let expected = message::checkpoint(expected);
            let done = log.commit(&model, expected, rows.collect(), Position(position));
            Answer::Committed(done.await.map_err(CommitFailure::from))
        }
        Call::Rows { model, keys } => rows(log, &model, keys).await,
        Call::Scan {
            model,
            prefix,
            beside,
            limit,
            backward,
        } => {
            let limit = usize::try_from(limit).unwrap_or(usize::MAX);
            let beside = beside.as_ref().map(|key| &key.0[..]);
            let found = match backward {
                false => log.scan(&model, &prefix.0, beside, limit).await,
                true => log.scan_back(&model, &prefix.0, beside, limit).await,
            };
            let row = |(key, value): Row| (Octets(key), Octets(value));
            let found = found.map(|rows| rows.into_iter().map(row).collect());
            Answer::Scanned(found.map_err(ReadFailure::from))
        }
        Call::DropModel { model } => {
            Answer::Committed(log.drop_model(&model).await.map_err(CommitFailure::from))
        }
        Call::Purge { put_off } => {
            let log = Arc::clone(log);
            // It takes as long as rewriting the log's files does.
            let done = tokio::task::spawn_blocking(move || purge(&log, put_off.map(Position)));
            match done.await {
                Ok(done) => Answer::Purged(done.map_err(PurgeFailure::from)),
                Err(error) => Answer::Malformed(error.to_string()),
            }
        }
    })
}

/// Rows by their keys, as many as a message holds.
async fn rows(log: &RocksLog, model: &str, keys: Vec<Octets>) -> Answer {
    let keys: Vec<Bytes> = keys.into_iter().map(|key| key.0).collect();
    let (mut found, mut bytes) = (Vec::with_capacity(keys.len()), 0);
    for keys in keys.chunks(KEYS) {
        match log.get_many(model, keys).await {
            Ok(rows) => {
                bytes += rows.iter().flatten().map(Bytes::len).sum::<usize>();
                found.extend(rows.into_iter().map(|row| row.map(Octets)));
            }
            Err(error) => return Answer::Rows(Err(error.into())),
        }
        if bytes > frame::LARGEST {
            return Answer::Malformed(too_large());
        }
    }
    Answer::Rows(Ok(found))
}
