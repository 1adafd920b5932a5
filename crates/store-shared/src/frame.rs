//! Frames, greetings, and the name of the socket: what both sides of the connection share.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use uuid::Uuid;

/// The socket's name in the log's folder.
pub(crate) const NAME: &str = "sock";
/// What each side says first, with its version of the protocol in it.
pub(crate) const GREETING: &[u8; 16] = b"annals share 01\n";
/// The owner's greeting, with the log's id and the owner's process id.
pub(crate) const HELLO: usize = GREETING.len() + 16 + 4;
/// What the owner answers a guest that it has no room for.
pub(crate) const FULL: &[u8; 16] = b"annals share is\n";
/// What it answers one that may not write to the log.
pub(crate) const REFUSED: &[u8; 16] = b"annals share no\n";
/// How long a side takes at most to greet.
pub(crate) const TO_GREET: Duration = Duration::from_secs(5);
/// Bytes of a frame's header: the length of what follows the length (u32), and the call's number (u64), both
/// big-endian.
pub(crate) const HEADER: usize = 4 + 8;
/// The most bytes of one message. The largest append, with all that the limits of the log allow, has fewer.
pub(crate) const LARGEST: usize = 320 * 1024 * 1024;
/// How long a message takes at most that has begun, and for each [`STEP`] of it.
pub(crate) const TO_GO_ON: Duration = Duration::from_secs(10);
const TO_STEP: Duration = Duration::from_millis(100);
/// Bytes by which the memory for a message grows, so that a length alone takes none.
pub(crate) const STEP: usize = 1024 * 1024;
/// Each message counts for at least so many bytes of what may be on its way.
pub(crate) const LEAST: usize = 1_024;
/// Frames that are written together have about so many bytes.
pub(crate) const TOGETHER: usize = 64 * 1024;
/// The number of a frame that only asks whether the other side is there; its answer has it too.
pub(crate) const PING: u64 = 0;

/// The owner's greeting: what the guest says too, which log it has open, and which process it is.
pub(crate) fn hello(log_id: Uuid) -> [u8; HELLO] {
    let mut hello = [0; HELLO];
    hello[..GREETING.len()].copy_from_slice(GREETING);
    let (id, process) = hello[GREETING.len()..].split_at_mut(16);
    id.copy_from_slice(log_id.as_bytes());
    process.copy_from_slice(&std::process::id().to_be_bytes());
    hello
}

/// The header's place, to be filled in by [`finish`].
pub(crate) fn start() -> Vec<u8> {
    vec![0; HEADER]
}

/// Completes a frame whose header was left open.
///
/// # Errors
/// `InvalidInput` for one that is larger than [`LARGEST`].
pub(crate) fn finish(frame: &mut [u8], number: u64) -> io::Result<()> {
    let body = frame.len().saturating_sub(HEADER);
    let length = u32::try_from(body + 8).ok().filter(|_| body <= LARGEST);
    let length = length.ok_or(io::ErrorKind::InvalidInput)?;
    let (header, _) = frame.split_at_mut(HEADER);
    let (length_at, number_at) = header.split_at_mut(4);
    length_at.copy_from_slice(&length.to_be_bytes());
    number_at.copy_from_slice(&number.to_be_bytes());
    Ok(())
}

/// A frame that asks, or answers, whether this side is there.
pub(crate) fn ping() -> io::Result<Vec<u8>> {
    let mut ping = start();
    finish(&mut ping, PING).map(|()| ping)
}

/// Puts a frame to those that are written together; whether another one may come with them.
pub(crate) fn put_to(together: &mut Vec<u8>, frame: Vec<u8>) -> bool {
    match together.is_empty() {
        true => *together = frame,
        false => together.extend_from_slice(&frame),
    }
    together.len() < TOGETHER
}

/// Reads a frame's header: the body's length and the call's number. `None` at the end of the stream.
///
/// # Errors
/// `InvalidData` for a length that no frame has.
pub(crate) async fn header(
    reader: &mut (impl AsyncRead + Unpin),
) -> io::Result<Option<(usize, u64)>> {
    let mut first = [0; 1];
    if reader.read(&mut first).await? == 0 {
        return Ok(None);
    }
    let mut header = [0; HEADER];
    let (start, rest) = header.split_at_mut(1);
    start.copy_from_slice(&first);
    within(TO_GO_ON, reader.read_exact(rest)).await?;
    let (length, number) = header.split_at(4);
    let number = <[u8; 8]>::try_from(number).map_err(|_| io::ErrorKind::InvalidData)?;
    let length = <[u8; 4]>::try_from(length).map_err(|_| io::ErrorKind::InvalidData)?;
    let length = usize::try_from(u32::from_be_bytes(length)).ok();
    let body = length.and_then(|length| length.checked_sub(8));
    let body = body.filter(|body| *body <= LARGEST);
    let body = body.ok_or(io::ErrorKind::InvalidData)?;
    Ok(Some((body, u64::from_be_bytes(number))))
}

/// Reads a body of so many bytes. Memory is taken as they come.
pub(crate) async fn body(
    reader: &mut (impl AsyncRead + Unpin),
    length: usize,
) -> io::Result<Vec<u8>> {
    let steps = u32::try_from(length / STEP).unwrap_or(u32::MAX);
    let read = async {
        let mut body = Vec::with_capacity(length.min(STEP));
        while body.len() < length {
            let from = body.len();
            body.resize(length.min(from + STEP), 0);
            reader.read_exact(&mut body[from..]).await?;
        }
        Ok(body)
    };
    within(TO_GO_ON + TO_STEP * steps, read).await
}

/// Waits so long, and no longer.
pub(crate) async fn within<T>(
    patience: Duration,
    done: impl Future<Output = io::Result<T>>,
) -> io::Result<T> {
    match tokio::time::timeout(patience, done).await {
        Ok(done) => done,
        Err(_) => Err(io::ErrorKind::TimedOut.into()),
    }
}
