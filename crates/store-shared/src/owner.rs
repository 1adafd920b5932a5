//! The owner's side: a thread that takes the guests' calls and has the log do them.

use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use annals_event_log::{EventLog, Link, Position, ReadModels, Row};
use annals_store_rocks::RocksLog;
use bytes::Bytes;
use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};
use tokio::runtime::Builder;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio::task::LocalSet;

use crate::frame::{self, Address, GREETING};
use crate::message::{
    self, Answer, AppendFailure, Call, CommitFailure, Malformed, Octets, ReadFailure, RedactFailure,
};

/// The most guests at a time.
const GUESTS: usize = 1_000;
/// The most calls of one guest that are not answered yet.
const CALLS: usize = 1_024;
/// Bytes of all calls that are not answered yet; one that is larger than what is left waits.
const BYTES: usize = 384 * 1024 * 1024;
/// Each call counts for at least so many of them.
const LEAST: usize = 1_024;
/// The most scans of rows at a time, whose answers may be large.
const SCANS: usize = 4;
/// How long an answer takes at most to be written. A guest that does not read is given up.
const TO_ANSWER: Duration = Duration::from_secs(60);
/// How long what was accepted has, when the owner ends.
const TO_END: Duration = Duration::from_secs(30);
/// Answers that are written together have about so many bytes.
const TOGETHER: usize = 64 * 1024;

/// The thread that serves guests. It ends with this.
pub(crate) struct Serving {
    /// The socket, and what tells it from another one in its place.
    socket: (PathBuf, Option<(u64, u64)>),
    stop: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

impl Serving {
    /// Begins to listen in the folder of a log that this process has open for writing.
    pub(crate) fn start(folder: &Path, log: Arc<RocksLog>) -> io::Result<Serving> {
        let listener = listen(folder)?;
        let socket = folder.join(frame::NAME);
        let identity = identity(&socket);
        let (stop, stopped) = watch::channel(false);
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let thread = std::thread::Builder::new().name("annals-owner".into());
        let thread = thread.spawn(move || {
            let serve = async {
                // Within the runtime: it is registered there.
                match UnixListener::from_std(listener) {
                    Ok(listener) => serve(listener, log, stopped).await,
                    Err(error) => tracing::error!(%error, "the log is not shared"),
                }
            };
            LocalSet::new().block_on(&runtime, serve);
        })?;
        Ok(Serving {
            socket: (socket, identity),
            stop,
            thread: Some(thread),
        })
    }

    /// Takes no more calls, and waits until those that were taken are answered.
    pub(crate) fn stop(&mut self) {
        let (socket, known) = &self.socket;
        // Where the folder was replaced, another log's socket may be there.
        if known.is_some() && identity(socket) == *known {
            let _ = std::fs::remove_file(socket);
        }
        let _ = self.stop.send(true);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The device and the number of a file.
fn identity(path: &Path) -> Option<(u64, u64)> {
    let found = std::fs::symlink_metadata(path).ok()?;
    Some((found.dev(), found.ino()))
}

/// Puts a socket in the place of the one before: this process has the lock, so that nobody listens there.
fn listen(folder: &Path) -> io::Result<std::os::unix::net::UnixListener> {
    let own = format!("{}.{}", frame::NAME, std::process::id());
    let address = Address::of(folder, &own)?;
    let at: PathBuf = folder.join(&own);
    match std::fs::remove_file(&at) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let listener = std::os::unix::net::UnixListener::bind(address.path())?;
    std::fs::set_permissions(&at, std::fs::Permissions::from_mode(0o600))?;
    listener.set_nonblocking(true)?;
    std::fs::rename(&at, folder.join(frame::NAME))?;
    Ok(listener)
}

/// What all connections share.
struct Shared {
    log: Arc<RocksLog>,
    bytes: Arc<Semaphore>,
    scans: Semaphore,
    stopped: watch::Receiver<bool>,
    /// How many calls are being done.
    busy: watch::Sender<usize>,
}

async fn serve(listener: UnixListener, log: Arc<RocksLog>, stopped: watch::Receiver<bool>) {
    let (busy, mut idle) = watch::channel(0);
    let shared = Rc::new(Shared {
        log,
        bytes: Arc::new(Semaphore::new(BYTES)),
        scans: Semaphore::new(SCANS),
        stopped: stopped.clone(),
        busy,
    });
    let room = Arc::new(Semaphore::new(GUESTS));
    let mut stop = stopped;
    loop {
        let accepted = tokio::select! {
            _ = stop.wait_for(|stopped| *stopped) => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) => {
                let (shared, room) = (Rc::clone(&shared), Arc::clone(&room).try_acquire_owned());
                tokio::task::spawn_local(async move {
                    if let Err(error) = guest(stream, &shared, room.ok()).await {
                        tracing::debug!(%error, "a guest's connection ended");
                    }
                });
            }
            Err(error) => {
                // Too many open files, for example: those that are there go on.
                tracing::warn!(%error, "a guest could not be taken");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
    drop(listener);
    let done = tokio::time::timeout(TO_END, idle.wait_for(|busy| *busy == 0)).await;
    if done.is_err() {
        tracing::warn!("calls of guests are not answered: the log is closed");
    }
}

/// One guest, until it goes.
async fn guest(
    mut stream: UnixStream,
    shared: &Rc<Shared>,
    room: Option<OwnedSemaphorePermit>,
) -> io::Result<()> {
    let user = rustix::process::geteuid().as_raw();
    let peer = stream.peer_cred()?.uid();
    if peer != user && peer != 0 {
        tracing::warn!(peer, "another user may not write to this log");
        return Err(io::ErrorKind::PermissionDenied.into());
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
    let writing = tokio::task::spawn_local(write(writer, written));
    let mut stop = shared.stopped.clone();
    let read = tokio::select! {
        read = read(reader, shared, answers) => read,
        _ = stop.wait_for(|stopped| *stopped) => Ok(()),
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
        let closed = |_| io::Error::from(io::ErrorKind::BrokenPipe);
        let turn = Arc::clone(calls).acquire_owned().await.map_err(closed)?;
        let bytes = u32::try_from(length.max(LEAST)).map_err(|_| io::ErrorKind::InvalidData)?;
        let bytes = Arc::clone(&shared.bytes).acquire_many_owned(bytes);
        let bytes = bytes.await.map_err(closed)?;
        shared.busy.send_modify(|busy| *busy += 1);
        Ok(Held {
            _turn: turn,
            _bytes: bytes,
            shared: Rc::clone(shared),
        })
    }
}

async fn read(
    reader: OwnedReadHalf,
    shared: &Rc<Shared>,
    answers: mpsc::UnboundedSender<Written>,
) -> io::Result<()> {
    let mut reader = BufReader::with_capacity(TOGETHER, reader);
    let calls = Arc::new(Semaphore::new(CALLS));
    while let Some((length, number)) = frame::header(&mut reader).await? {
        if number == frame::PING {
            let mut frame = frame::start();
            frame::finish(&mut frame, frame::PING)?;
            let _ = answers.send(Written { frame, held: None });
            continue;
        }
        let held = Shared::hold(shared, &calls, length).await?;
        let body = frame::body(&mut reader, length).await?;
        let answers = answers.clone();
        // In the order in which they came: each is in the log's queue when it was polled once.
        tokio::task::spawn_local(async move {
            let answer = match message::decode::<Call>(&body) {
                Ok(call) => {
                    drop(body);
                    answer(&held.shared, call).await
                }
                Err(error) => Err(error),
            };
            let answer = answer.unwrap_or_else(|error| Answer::Malformed(error.to_string()));
            match framed(&answer, number) {
                Ok(frame) => {
                    let held = Some(held);
                    let _ = answers.send(Written { frame, held });
                }
                Err(error) => tracing::warn!(%error, "a guest's call is not answered"),
            }
        });
    }
    Ok(())
}

/// The frame of an answer. One that is too large says so instead.
fn framed(answer: &Answer, number: u64) -> io::Result<Vec<u8>> {
    let encoded = |answer: &Answer| {
        let frame = message::encode(answer, frame::start());
        let mut frame = frame.map_err(io::Error::other)?;
        frame::finish(&mut frame, number).map(|()| frame)
    };
    encoded(answer).or_else(|_| {
        let reason = format!("the answer has more than {} bytes", frame::LARGEST);
        encoded(&Answer::Malformed(reason))
    })
}

/// Writes answers, as many together as there are.
async fn write(mut writer: OwnedWriteHalf, mut answers: mpsc::UnboundedReceiver<Written>) {
    let (mut together, mut held) = (Vec::new(), Vec::new());
    while let Some(first) = answers.recv().await {
        let mut next = Some(first);
        while let Some(written) = next {
            match together.is_empty() {
                true => together = written.frame,
                false => together.extend_from_slice(&written.frame),
            }
            held.extend(written.held);
            let more = together.len() < TOGETHER;
            next = more.then(|| answers.try_recv().ok()).flatten();
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

/// Has the log do what a guest asks for.
async fn answer(shared: &Shared, call: Call) -> Result<Answer, Malformed> {
    let log = &shared.log;
    Ok(match call {
        Call::Append { append, link } => {
            let append = append.into_append()?;
            let done = match link {
                None => log.append(append).await,
                Some((chain, number)) => log.append_linked(append, Link { chain, number }).await,
            };
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
        Call::Rows { model, keys } => {
            let keys: Vec<Bytes> = keys.into_iter().map(|key| key.0).collect();
            let found = log.get_many(&model, &keys).await;
            let found = found.map(|rows| rows.into_iter().map(|row| row.map(Octets)).collect());
            Answer::Rows(found.map_err(ReadFailure::from))
        }
        Call::Scan {
            model,
            prefix,
            beside,
            limit,
            backward,
        } => {
            // The semaphore is never closed.
            let _turn = shared.scans.acquire().await;
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
    })
}
