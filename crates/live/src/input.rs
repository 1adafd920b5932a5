//! What an agent writes to a hook's standard input, which is waited for until it is whole, and no longer.
//!
//! What has not come cannot be kept, and nobody tells it again. So a hook that is in a hurry hurries with the log,
//! which has a spool beside it, and not with what it is told.

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde::de::IgnoredAny;

use crate::hook::LARGEST;

/// An event is waited for at least so long, whatever the deadline: on a busy machine the agent comes to write it later.
const LEAST: Duration = Duration::from_secs(1);

/// How long nothing more has to come for an event to be whole whose agent keeps the pipe open.
const QUIET: Duration = Duration::from_millis(20);

/// What came on standard input.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Input {
    /// At most [`LARGEST`] bytes of it.
    pub bytes: Vec<u8>,
    /// How many bytes there were beyond.
    pub left_out: u64,
    /// Whether it was neither at its end nor whole when it was waited for no longer.
    pub is_cut_off: bool,
}

impl Input {
    /// Reads an event, by a deadline. Who keeps the pipe open does not keep us: the event is over when it is whole.
    pub fn read(source: impl Read + Send + 'static, deadline: Duration) -> Input {
        let pieces = pieces(source);
        let mut input = Input {
            bytes: Vec::new(),
            left_out: 0,
            is_cut_off: false,
        };
        // What is left after that is for the disk.
        let end = Instant::now() + deadline.mul_f64(0.8).max(LEAST);
        // What was looked at and is not whole is so until more comes.
        let mut looked_at = 0;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let is_new = input.bytes.len() != looked_at;
            let wait = if is_new { left.min(QUIET) } else { left };
            match pieces.recv_timeout(wait) {
                Ok(piece) => input.add(&piece),
                Err(RecvTimeoutError::Disconnected) => return input,
                Err(RecvTimeoutError::Timeout) => {
                    looked_at = input.bytes.len();
                    if is_new && input.is_whole() {
                        return input;
                    }
                }
            }
            // Also where it never stops.
            if Instant::now() >= end {
                input.is_cut_off = !input.is_whole();
                return input;
            }
        }
    }

    fn add(&mut self, piece: &[u8]) {
        let room = LARGEST.saturating_sub(self.bytes.len());
        let (kept, rest) = piece.split_at(room.min(piece.len()));
        self.bytes.extend_from_slice(kept);
        self.left_out += rest.len() as u64;
    }

    fn is_whole(&self) -> bool {
        self.left_out == 0 && serde_json::from_slice::<IgnoredAny>(&self.bytes).is_ok()
    }
}

/// The pieces of a source, read on a thread of its own: reading cannot be interrupted.
fn pieces(mut source: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (tell, told) = channel();
    let reader = std::thread::Builder::new().name("annals-hook-input".to_owned());
    // Without the thread there is no input.
    let _ = reader.spawn(move || {
        let mut piece = vec![0_u8; 64 * 1024];
        loop {
            match source.read(&mut piece) {
                Ok(0) => return,
                Ok(read) => {
                    let bytes = piece.get(..read).unwrap_or_default().to_vec();
                    if tell.send(bytes).is_err() {
                        return;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    });
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pieces that come at their times, and then the end, or nothing more.
    struct Slow {
        pieces: Vec<(u64, &'static [u8])>,
        ends: bool,
    }

    impl Read for Slow {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let Some((ms, piece)) = (!self.pieces.is_empty()).then(|| self.pieces.remove(0)) else {
                if !self.ends {
                    std::thread::sleep(Duration::from_secs(60));
                }
                return Ok(0);
            };
            std::thread::sleep(Duration::from_millis(ms));
            into[..piece.len()].copy_from_slice(piece);
            Ok(piece.len())
        }
    }

    fn read(pieces: &[(u64, &'static [u8])], ends: bool, deadline_ms: u64) -> (Input, Duration) {
        let source = Slow {
            pieces: pieces.to_vec(),
            ends,
        };
        let begun = Instant::now();
        let input = Input::read(source, Duration::from_millis(deadline_ms));
        (input, begun.elapsed())
    }

    #[test]
    fn an_event_that_comes_late_is_waited_for_whatever_the_deadline() {
        let pieces: [(u64, &[u8]); 2] = [(150, b"{\"a\":"), (150, b"1}")];
        for (ends, deadline_ms) in [(true, 1), (false, 1), (true, 5_000)] {
            let (input, _) = read(&pieces, ends, deadline_ms);
            assert_eq!(
                (input.bytes.as_slice(), input.is_cut_off),
                (&b"{\"a\":1}"[..], false)
            );
        }
    }

    #[test]
    fn who_keeps_the_pipe_open_keeps_a_whole_event_for_a_moment_only() {
        let (input, took) = read(&[(0, b"{\"a\":1}\n")], false, 60_000);
        assert!(
            !input.is_cut_off && took < Duration::from_secs(10),
            "{took:?}"
        );
    }

    #[test]
    fn what_never_becomes_whole_is_cut_off() {
        for pieces in [&[(0, &b"{\"a\":"[..])][..], &[]] {
            let (input, took) = read(pieces, false, 1);
            assert!(input.is_cut_off && took >= LEAST, "{took:?}");
        }
        // An end is an end, whatever came before it.
        assert!(!read(&[(0, b"{\"a\":")], true, 1).0.is_cut_off);
    }

    #[test]
    fn what_is_too_large_is_counted() {
        let source = io::repeat(b'x').take(LARGEST as u64 + 7);
        let input = Input::read(source, Duration::from_secs(60));
        assert_eq!((input.bytes.len(), input.left_out), (LARGEST, 7));
    }
}
