//! A guest's side: the connection to the process that owns the log.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use annals_files::SocketAddress;
use socket2::{Domain, SockAddr, Socket, Type};
use tokio::io::{AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::runtime::Builder;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use uuid::Uuid;

use crate::frame::{self, GREETING};
use crate::message::{self, Answer, Call};
use crate::room::{Room, Taken};

/// Bytes of calls that the owner has not answered yet; one that is larger than what is left waits.
const BYTES: usize = 384 * 1024 * 1024;
/// An owner from which nothing came for so long, while it has calls to answer, is asked whether it is there.
const TO_ASK: Duration = Duration::from_secs(2);
/// And one that does not answer that for so long is not.
const TO_GIVE_UP: Duration = Duration::from_secs(20);

/// Why there is no connection to an owner.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConnectError {
    /// No process listens.
    #[error("no process that shares the log")]
    Absent,
    /// It has as many guests as it takes.
    #[error("it has as many guests as it takes; try again later")]
    Full,
    /// This user may not write to the log.
    #[error("this user may not write to the log")]
    Refused,
    /// It speaks another version.
    #[error(
        "it shares the log in another version ({theirs:?}, and this program {:?}); \
         use the same version of the program for both, or end that process",
        String::from_utf8_lossy(GREETING).trim_end()
    )]
    Version {
        /// What it said.
        theirs: String,
    },
    /// The operating system refuses, or the other side does not answer.
    #[error("it cannot be reached: {}", slow(.0))]
    Io(#[from] io::Error),
}

/// Why a call has no answer of the log's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallError {
    /// The connection ended before the call was answered: it was done or not. The next owner knows.
    Lost,
    /// The call is larger than any message.
    TooLarge { bytes: usize },
}

struct Outgoing {
    number: u64,
    frame: Vec<u8>,
    waiting: Waiting,
}

struct Waiting {
    answer: oneshot::Sender<Vec<u8>>,
    _room: Taken,
}

/// A connection to the owner; it ends with this.
pub(crate) struct Connection {
    log_id: Uuid,
    process: u32,
    calls: Option<mpsc::UnboundedSender<Outgoing>>,
    numbers: AtomicU64,
    room: Arc<Room>,
    thread: Option<JoinHandle<()>>,
}

impl Connection {
    /// Connects to the process that listens in a log's folder. It blocks for as long as greeting takes.
    pub(crate) fn open(folder: &Path) -> Result<Connection, ConnectError> {
        let address = SocketAddress::of(folder, frame::NAME)?;
        let stream = match connect(&address) {
            Err(error) if is_absent(&error) => return Err(ConnectError::Absent),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                return Err(ConnectError::Refused);
            }
            connected => connected?,
        };
        let (log_id, process) = greet(&stream)?;
        stream.set_nonblocking(true)?;
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let (calls, called) = mpsc::unbounded_channel();
        let thread = std::thread::Builder::new().name("annals-guest".into());
        let thread = thread.spawn(move || {
            let talk = async {
                match UnixStream::from_std(stream) {
                    Ok(stream) => talk(stream, called).await,
                    Err(error) => tracing::error!(%error, "the connection to the owner is lost"),
                }
            };
            runtime.block_on(talk);
        })?;
        Ok(Connection {
            log_id,
            process,
            calls: Some(calls),
            numbers: AtomicU64::new(frame::PING + 1),
            room: Room::new(BYTES),
            thread: Some(thread),
        })
    }

    /// The log that the owner has open.
    pub(crate) fn log_id(&self) -> Uuid {
        self.log_id
    }

    /// The owner's process id.
    pub(crate) fn process(&self) -> u32 {
        self.process
    }

    /// Waits until the connection has ended.
    pub(crate) async fn ended(&self) {
        if let Some(calls) = &self.calls {
            calls.closed().await;
        }
    }

    /// Has the owner do something. The call is on its way when this was polled once, unless much is.
    pub(crate) async fn call(&self, call: &Call) -> Result<Answer, CallError> {
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        let frame = message::encode(call, frame::start());
        let mut frame = frame.map_err(|_| CallError::Lost)?;
        let bytes = frame.len();
        frame::finish(&mut frame, number).map_err(|_| CallError::TooLarge { bytes })?;
        let taken = bytes.max(frame::LEAST);
        if taken > BYTES {
            return Err(CallError::TooLarge { bytes });
        }
        let room = Arc::clone(&self.room).take(taken);
        // A connection that has ended frees no more room.
        let room = tokio::select! {
            biased;
            room = room => room,
            () = self.ended() => return Err(CallError::Lost),
        };
        let (answer, answered) = oneshot::channel();
        let waiting = Waiting {
            answer,
            _room: room,
        };
        let outgoing = Outgoing {
            number,
            frame,
            waiting,
        };
        let calls = self.calls.as_ref().ok_or(CallError::Lost)?;
        calls.send(outgoing).map_err(|_| CallError::Lost)?;
        let answered = tokio::select! {
            biased;
            answered = answered => answered,
            // A call that came into the channel just when the thread left it lies there for as long as this side does.
            () = calls.closed() => return Err(CallError::Lost),
        };
        let body = answered.map_err(|_| CallError::Lost)?;
        // An answer that cannot be read is of an owner that cannot be worked with.
        message::decode(&body).map_err(|error| {
            tracing::warn!(%error, "the owner's answer cannot be read");
            CallError::Lost
        })
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.calls = None;
        let thread = self.thread.take();
        // A waker may drop the last handle on the connection's own thread.
        if let Some(thread) = thread.filter(|it| it.thread().id() != std::thread::current().id()) {
            let _ = thread.join();
        }
    }
}

/// Connects, and waits no longer than for a greeting: a process that is stopped accepts no connection.
fn connect(address: &SocketAddress) -> io::Result<std::os::unix::net::UnixStream> {
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    socket.set_write_timeout(Some(frame::TO_GREET))?;
    socket.connect(&SockAddr::unix(address.path())?)?;
    Ok(OwnedFd::from(socket).into())
}

/// An error of the operating system's, in words.
fn slow(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
            format!("no answer in {} s", frame::TO_GREET.as_secs())
        }
        _ => error.to_string(),
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused
    )
}

/// Greets, and learns which log it is and which process.
fn greet(mut stream: &std::os::unix::net::UnixStream) -> Result<(Uuid, u32), ConnectError> {
    stream.set_read_timeout(Some(frame::TO_GREET))?;
    stream.set_write_timeout(Some(frame::TO_GREET))?;
    stream.write_all(GREETING)?;
    let mut greeting = [0; GREETING.len()];
    stream.read_exact(&mut greeting)?;
    if greeting == *frame::FULL {
        return Err(ConnectError::Full);
    }
    if greeting == *frame::REFUSED {
        return Err(ConnectError::Refused);
    }
    if greeting != *GREETING {
        let theirs = String::from_utf8_lossy(&greeting).trim_end().to_owned();
        return Err(ConnectError::Version { theirs });
    }
    let mut log_id = [0; 16];
    stream.read_exact(&mut log_id)?;
    let mut process = [0; 4];
    stream.read_exact(&mut process)?;
    Ok((Uuid::from_bytes(log_id), u32::from_be_bytes(process)))
}

/// What the two directions of a connection share.
struct Talk {
    pending: RefCell<HashMap<u64, Waiting>>,
    /// When something came from the owner, or it was first asked for something.
    heard: Cell<Instant>,
}

/// Writes calls and hands their answers out, until the connection ends. Those without an answer are lost then.
async fn talk(stream: UnixStream, calls: mpsc::UnboundedReceiver<Outgoing>) {
    let (reader, writer) = stream.into_split();
    let talk = Talk {
        pending: RefCell::default(),
        heard: Cell::new(Instant::now()),
    };
    let ended = tokio::select! {
        ended = receive(&talk, reader) => ended,
        ended = send(&talk, writer, calls) => ended,
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "the connection to the owner ended");
    }
}

async fn receive(talk: &Talk, reader: OwnedReadHalf) -> io::Result<()> {
    let mut reader = BufReader::with_capacity(frame::TOGETHER, reader);
    while let Some((length, number)) = frame::header(&mut reader).await? {
        talk.heard.set(Instant::now());
        let body = frame::body(&mut reader, length).await?;
        talk.heard.set(Instant::now());
        let waiting = talk.pending.borrow_mut().remove(&number);
        if let Some(waiting) = waiting {
            // A caller that is gone has dropped its future; that is allowed.
            let _ = waiting.answer.send(body);
        }
    }
    Err(io::ErrorKind::UnexpectedEof.into())
}

async fn send(
    talk: &Talk,
    mut writer: OwnedWriteHalf,
    mut calls: mpsc::UnboundedReceiver<Outgoing>,
) -> io::Result<()> {
    let mut together = Vec::new();
    let mut asked = false;
    loop {
        let waits = !talk.pending.borrow().is_empty();
        let silence = talk.heard.get().elapsed();
        asked = asked && silence >= TO_ASK;
        let patience = if asked { TO_GIVE_UP } else { TO_ASK };
        let deadline = talk.heard.get() + patience;
        let call = tokio::select! {
            call = calls.recv() => call,
            () = tokio::time::sleep_until(deadline), if waits => {
                if talk.heard.get().elapsed() < patience {
                    continue;
                }
                if asked {
                    return Err(io::ErrorKind::TimedOut.into());
                }
                asked = true;
                write(&mut writer, &frame::ping()?).await?;
                continue;
            }
        };
        // The last handle is gone.
        let Some(first) = call else { return Ok(()) };
        if !waits {
            talk.heard.set(Instant::now());
        }
        let mut next = Some(first);
        while let Some(call) = next {
            talk.pending.borrow_mut().insert(call.number, call.waiting);
            let more = frame::put_to(&mut together, call.frame);
            next = more.then(|| calls.try_recv().ok()).flatten();
        }
        write(&mut writer, &together).await?;
        together.clear();
    }
}

/// Writes all of it, in parts of which each has its time, for as long as the owner takes some.
async fn write(writer: &mut OwnedWriteHalf, bytes: &[u8]) -> io::Result<()> {
    for part in bytes.chunks(frame::STEP) {
        frame::within(frame::TO_GO_ON, writer.write_all(part)).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;
    use futures::executor::block_on;

    use super::*;

    #[test]
    fn a_call_that_nobody_takes_out_of_the_channel_any_more_is_lost() {
        let (calls, mut called) = mpsc::unbounded_channel();
        let connection = Connection {
            log_id: Uuid::nil(),
            process: 0,
            calls: Some(calls),
            numbers: AtomicU64::new(1),
            room: Room::new(BYTES),
            thread: None,
        };
        let call = Call::Checkpoint { model: "m".into() };
        let mut calling = Box::pin(connection.call(&call));
        assert!((&mut calling).now_or_never().is_none(), "it waits");
        // As a channel is left by a thread that ends between the two steps of sending.
        called.close();
        assert_eq!(
            calling.now_or_never().map(Result::err),
            Some(Some(CallError::Lost))
        );
        // The others find it closed.
        assert_eq!(
            block_on(connection.call(&call)).err(),
            Some(CallError::Lost)
        );
        drop(called);
    }
}
