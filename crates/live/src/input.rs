//! What an agent writes to a hook's standard input, which is waited for until it is whole, and no longer.
//!
//! What has not come cannot be kept, and nobody tells it again. So a hook that is in a hurry hurries with the log,
//! which has a spool beside it, and not with what it is told.

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde::de::IgnoredAny;

use crate::hook::{LARGEST, Outline, SEARCHED_BEYOND};

/// An event is waited for at least so long, whatever the deadline: on a busy machine the agent comes to write it later.
const LEAST: Duration = Duration::from_secs(1);

/// The most bytes that are held.
const HELD: usize = LARGEST + SEARCHED_BEYOND;

/// How long nothing more has to come for an event to be whole whose agent keeps the pipe open.
const QUIET: Duration = Duration::from_millis(20);

/// What came on standard input.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Input {
    /// What came, without the last word of an event that did not come whole: a part of a secret is no longer known as one.
    /// Of an event over [`LARGEST`] bytes 64 KiB more, which [`crate::hook::Hook`] searches for secrets and does not keep.
    pub bytes: Vec<u8>,
    /// How many bytes there were beyond [`LARGEST`].
    pub left_out: u64,
    /// Whether it was neither at its end nor whole when it was waited for no longer.
    pub is_cut_off: bool,
}

impl Input {
    /// Reads an event, by a deadline. Who keeps the pipe open does not keep us: the event is over when it is whole.
    ///
    /// Of one that is too large the beginning is kept, and before that the short fields of the rest: they say whose it is.
    pub fn read(source: impl Read + Send + 'static, deadline: Duration) -> Input {
        let mut coming = Coming::default();
        coming.read(&pieces(source), deadline);
        coming.into_input()
    }
}

/// An event that is coming.
#[derive(Default)]
struct Coming {
    bytes: Vec<u8>,
    /// How many bytes came beyond [`HELD`].
    beyond: u64,
    is_cut_off: bool,
    /// Of one that is too large: its short fields, and how many of them are in what is kept.
    outline: Option<(Outline, usize)>,
}

impl Coming {
    fn read(&mut self, pieces: &Receiver<Vec<u8>>, deadline: Duration) {
        // What is left after that is for the disk.
        let end = Instant::now() + deadline.mul_f64(0.8).max(LEAST);
        // What was looked at and is not whole is so until more comes.
        let mut looked_at = 0;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let is_new = self.bytes.len() != looked_at;
            let wait = if is_new { left.min(QUIET) } else { left };
            match pieces.recv_timeout(wait) {
                Ok(piece) => self.add(&piece),
                Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => {
                    looked_at = self.bytes.len();
                    if is_new && self.is_whole() {
                        return;
                    }
                }
            }
            // Also where it never stops.
            if Instant::now() >= end {
                self.is_cut_off = !self.is_whole();
                return;
            }
        }
    }

    fn add(&mut self, piece: &[u8]) {
        let before = self.bytes.len();
        let room = HELD.saturating_sub(before);
        let (kept, rest) = piece.split_at(room.min(piece.len()));
        self.bytes.extend_from_slice(kept);
        self.beyond += rest.len() as u64;
        let Some(new) = self.bytes.get(LARGEST.max(before)..) else {
            return;
        };
        if new.is_empty() && rest.is_empty() {
            return;
        }
        let (outline, _) = self.outline.get_or_insert_with(|| {
            let mut outline = Outline::new();
            outline.add(self.bytes.get(..LARGEST).unwrap_or_default());
            let count = outline.count();
            (outline, count)
        });
        outline.add(new);
        outline.add(rest);
    }

    /// What came, with the short fields first that are in what is left out.
    fn into_input(mut self) -> Input {
        let late = self.outline.as_ref();
        if let Some(late) = late.and_then(|(outline, count)| outline.behind(*count)) {
            let begin = self.bytes.iter().position(|byte| *byte == b'{');
            let kept = self.bytes.split_off(begin.map_or(0, |it| it + 1));
            let room = HELD.saturating_sub(late.len() + 2);
            let (kept, rest) = kept.split_at(room.min(kept.len()));
            self.bytes = [b"{", &late[..], b",", kept].concat();
            self.beyond += rest.len() as u64;
        }
        let held_beyond = self.bytes.len().saturating_sub(LARGEST);
        if self.is_cut_off {
            drop_last_word(&mut self.bytes);
        }
        Input {
            bytes: self.bytes,
            left_out: self.beyond + held_beyond as u64,
            is_cut_off: self.is_cut_off,
        }
    }

    fn is_whole(&self) -> bool {
        self.beyond == 0 && serde_json::from_slice::<IgnoredAny>(&self.bytes).is_ok()
    }
}

/// Drops what is behind the last white space or quote, at most as much as a secret may have. Nothing is known of how a word
/// would go on: it may be the beginning of a secret.
fn drop_last_word(bytes: &mut Vec<u8>) {
    let ends = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'"';
    let end = bytes.iter().rposition(ends).map_or(0, |at| at + 1);
    bytes.truncate(end.max(bytes.len().saturating_sub(SEARCHED_BEYOND)));
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
                    std::thread::sleep(Duration::from_secs(3_600));
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
            // Where the pieces themselves came too late, on a busy machine, it is no answer.
            let mut tries = (0..50).map(|_| read(&pieces, ends, deadline_ms));
            let in_time = tries.find(|(_, took)| *took < LEAST);
            let Some((input, _)) = in_time else { return };
            assert_eq!(
                (input.bytes.as_slice(), input.is_cut_off),
                (&b"{\"a\":1}"[..], false)
            );
        }
    }

    #[test]
    fn who_keeps_the_pipe_open_keeps_a_whole_event_for_a_moment_only() {
        let (input, took) = read(&[(0, b"{\"a\":1}\n")], false, 3_600_000);
        // Otherwise it would be most of an hour.
        assert!(
            !input.is_cut_off && took < Duration::from_secs(300),
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

    /// Also where the fields that name an event are behind what makes it too large.
    #[test]
    fn of_what_is_too_large_the_short_fields_are_kept() {
        let long = "x".repeat(LARGEST);
        let text = format!(r#"{{"a":1,"long":"{long}","session_id":"s","b":[1],"last":2}}"#);
        let length = text.len();
        let input = Input::read(io::Cursor::new(text), Duration::from_secs(3_600));
        let begin = br#"{"session_id":"s","last":2,"a":1,"long":"xxx"#;
        assert!(input.bytes.starts_with(begin));
        let moved = br#""session_id":"s","last":2,"#.len();
        assert_eq!(input.left_out, (length + moved - LARGEST) as u64);
        assert!(!input.is_cut_off);
    }

    #[test]
    fn what_is_too_large_is_counted() {
        let source = io::repeat(b'x').take(LARGEST as u64 + 7);
        let input = Input::read(source, Duration::from_secs(3_600));
        assert_eq!((input.bytes.len(), input.left_out), (LARGEST + 7, 7));
        let source = io::repeat(b'x').take(HELD as u64 + 7);
        let input = Input::read(source, Duration::from_secs(3_600));
        let left_out = (SEARCHED_BEYOND + 7) as u64;
        assert_eq!((input.bytes.len(), input.left_out), (HELD, left_out));
    }

    #[test]
    fn the_last_word_of_what_is_cut_off_is_dropped() {
        for (came, kept) in [
            (
                "{\"a\":\"b\",\"c\":\"the key is ghp_a1B2",
                "{\"a\":\"b\",\"c\":\"the key is ",
            ),
            ("{\"password\":\"hunt", "{\"password\":\""),
            ("word", ""),
        ] {
            let (input, _) = read(&[(0, came.as_bytes())], false, 1);
            assert!(input.is_cut_off);
            assert_eq!(String::from_utf8_lossy(&input.bytes), kept);
        }
    }
}
