//! Private keys, in every form in which they are shown: in a diff, a listing, a comment, or a
//! program that puts one together. There is something before each line, and something
//! behind it; what is between is base64 in long runs.

use std::sync::LazyLock;

use memchr::memmem;
use regex::bytes::Regex;

use super::standard::{KEY_BEGIN, KEY_END, KEY_HEADER};

/// The bytes that may be between the base64 of two lines.
const MOST_BETWEEN: usize = 100;

/// The bytes that may be before a line of a list, and behind it.
const MOST_AROUND: usize = 40;

/// What a run of base64 has at least. Shorter ones are words.
const RUN: usize = 20;

/// The length from which a run is a line of a key in any place.
const FULL: usize = 40;

/// The bytes before a last line in which the key is looked for.
const MOST_KEY: usize = 64 * 1024;

/// How long a first or last line may be.
const MOST_MARK: usize = 80;

// Tests make sure that these are not `None`.
static BEGIN: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(KEY_BEGIN).ok());
static END: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(KEY_END).ok());
static HEADER: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(KEY_HEADER).ok());

/// What a diff, a listing or a comment puts before a line.
static BEFORE_LINE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let before = r#"^(?:\x1b\[[0-9;]*[mK]|[\s+>|\x{2192}\x{2502}#*;"'-]|[0-9]{1,7}(?:\t|[ \t]*[\x{2192}\x{2502}|:]))*"#;
    Regex::new(before).ok()
});

/// What it puts behind one.
static BEHIND_LINE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"(?:\x1b\[[0-9;]*[mK]|[\s"',;\\])*$"#).ok());

/// Part of the first line of every private key.
const KEY: &[u8] = b"PRIVATE KEY";

/// Returns `true` if a private key may begin in a text.
pub(super) fn may_begin(text: &str) -> bool {
    memmem::find(text.as_bytes(), KEY).is_some()
}

/// Where private keys are in a text, whole or cut off, from the first byte of each to
/// behind its last.
pub(super) fn find(text: &[u8]) -> Vec<(usize, usize)> {
    let mut keys = Vec::new();
    let mut at = 0;
    while let Some((start, begun)) = next(&BEGIN, text, at, text.len()) {
        at = begun;
        if let Some(end) = whole(text, begun).or_else(|| cut_off(text, begun)) {
            keys.push((start, end));
            at = end;
        }
    }
    keys.extend(without_begin(text, &keys));
    keys.sort_unstable();
    keys
}

/// Where keys are of which only the end is there: as far before their last line as lines of base64
/// have the same surroundings. Keys that were found whole are left out.
fn without_begin(text: &[u8], known: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let (mut keys, mut from) = (Vec::new(), 0);
    while let Some((mark, end)) = next(&END, text, from, text.len()) {
        let is_known = known
            .iter()
            .any(|(start, end)| (*start..*end).contains(&mark));
        if !is_known && let Some(start) = lines_before(text, from, mark) {
            keys.push((start, end));
        }
        from = end;
    }
    keys
}

/// Where the lines of a key begin that end right before its last line.
fn lines_before(text: &[u8], from: usize, mark: usize) -> Option<usize> {
    let from = from.max(mark.saturating_sub(MOST_KEY));
    let mut runs = Vec::new();
    let mut at = from;
    while at < mark {
        match next_run(text.get(..mark).unwrap_or_default(), at) {
            Some((start, end)) => {
                runs.push((start, end));
                at = end;
            }
            // Nothing near; there may be something further on.
            None => at += MOST_BETWEEN,
        }
    }
    let (mut next_start, mut begin, mut is_full) = (mark, None, false);
    for (start, end) in runs.into_iter().rev() {
        let run = text.get(start..end).unwrap_or_default();
        let is_near = next_start.saturating_sub(end) <= MOST_AROUND;
        // Before a full line there are only full ones.
        if !is_near || !is_varied(run) || (is_full && run.len() < FULL) {
            break;
        }
        is_full |= run.len() >= FULL;
        begin = Some(start);
        next_start = start;
    }
    begin.filter(|_| is_full)
}

/// Where the key ends that began before here, if its last line is there.
fn whole(text: &[u8], begun: usize) -> Option<usize> {
    let (mut at, mut is_full) = (begun, false);
    loop {
        let run = next_run(text, at);
        let limit = run.map_or_else(|| at.saturating_add(MOST_BETWEEN), |(start, _)| start);
        let window = limit.saturating_add(MOST_MARK).min(text.len());
        let before_run = |(start, _): &(usize, usize)| *start <= limit;
        let end = next(&END, text, at, window).filter(before_run);
        // Another one begins: this one was cut off.
        let begin = next(&BEGIN, text, at, window).filter(before_run);
        match (end, begin, run) {
            (Some((start, end)), begin, _) if begin.is_none_or(|(begin, _)| start < begin) => {
                return is_full.then_some(end);
            }
            (_, None, Some((start, end))) => {
                is_full |= end - start >= FULL;
                at = end;
            }
            _ => return None,
        }
    }
}

/// How far a key without a last line reaches: as long as its lines have the same
/// surroundings, so that no text behind it is taken for a part of it.
fn cut_off(text: &[u8], begun: usize) -> Option<usize> {
    let (mut at, mut reached, mut is_full) = (begun, None, false);
    let mut known: Vec<Vec<u8>> = Vec::new();
    while let Some((start, end)) = next_run(text, at) {
        let header = next(
            &HEADER,
            text,
            at,
            start.saturating_add(MOST_MARK).min(text.len()),
        );
        if let Some((from, to)) = header.filter(|(from, to)| *from < end && *to > at) {
            known.push(surroundings(text.get(at..from).unwrap_or_default()));
            at = to;
            continue;
        }
        let between = text.get(at..start).unwrap_or_default();
        let shape = surroundings(between);
        let run = text.get(start..end).unwrap_or_default();
        let is_known = !is_full || known.contains(&shape);
        let is_line = run.len() >= FULL && is_known || is_narrow(between);
        if !is_line || !is_varied(run) {
            break;
        }
        if !is_full {
            known.push(shape);
        }
        is_full |= run.len() >= FULL;
        reached = Some(end);
        at = end;
    }
    reached
}

/// The first run of base64 that begins near an offset.
fn next_run(text: &[u8], from: usize) -> Option<(usize, usize)> {
    let latest = from.saturating_add(MOST_BETWEEN);
    let (mut at, mut start) = (from, from);
    loop {
        match base64_at(text, at) {
            Some(length) => at += length,
            None if at - start >= RUN => return Some((start, at)),
            None => {
                at += 1;
                start = at;
                if start > latest || start >= text.len() {
                    return None;
                }
            }
        }
    }
}

/// The length of the base64 character at an offset; a slash may be escaped.
fn base64_at(text: &[u8], at: usize) -> Option<usize> {
    match text.get(at)? {
        byte if is_base64(*byte) => Some(1),
        b'\\' => {
            let rest = text.get(at..).unwrap_or_default().iter().take(8);
            let escapes = rest.take_while(|byte| **byte == b'\\').count();
            (text.get(at + escapes) == Some(&b'/')).then_some(escapes + 1)
        }
        _ => None,
    }
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/=".contains(&byte)
}

/// Whether it has capital and small letters, as random base64 has and hashes do not.
fn is_varied(run: &[u8]) -> bool {
    run.iter().any(u8::is_ascii_uppercase) && run.iter().any(u8::is_ascii_lowercase)
}

/// What is between two lines but for numbers and spaces, which differ.
fn surroundings(between: &[u8]) -> Vec<u8> {
    let kept = |byte: &&u8| !byte.is_ascii_digit() && !byte.is_ascii_whitespace();
    between.iter().filter(kept).copied().collect()
}

/// Whether it is what line ends, quotes, a diff and a listing put between two lines.
fn is_narrow(between: &[u8]) -> bool {
    let is_narrow = |byte: &u8| {
        byte.is_ascii_digit()
            || byte.is_ascii_whitespace()
            || br#"\:,|>"'+-"#.contains(byte)
            || "→".as_bytes().contains(byte)
    };
    (1..=16).contains(&between.len()) && between.iter().all(is_narrow)
}

/// What a pattern finds first between two offsets.
fn next(
    pattern: &LazyLock<Option<Regex>>,
    text: &[u8],
    from: usize,
    to: usize,
) -> Option<(usize, usize)> {
    let found = LazyLock::force(pattern)
        .as_ref()?
        .find(text.get(from..to)?)?;
    Some((from + found.start(), from + found.end()))
}

/// Where the last place of a pattern is in a text.
fn last(pattern: &LazyLock<Option<Regex>>, text: &str) -> Option<(usize, usize)> {
    let all = LazyLock::force(pattern)
        .as_ref()?
        .find_iter(text.as_bytes());
    all.last().map(|found| (found.start(), found.end()))
}

/// How far a private key is that the strings of a list have, line by line.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
enum Reached {
    /// None has begun, or it has ended.
    #[default]
    Outside,
    /// The line that begins it, or a header.
    Begun,
    /// A full line.
    Full,
    /// A short line: the last one.
    Short,
}

/// Follows a private key over the strings of a list, which has it as lines.
#[derive(Debug, Default, Clone)]
pub struct KeyLines {
    reached: Reached,
    /// The key in the list's objects that has the lines; nothing if they are strings.
    field: String,
}

impl KeyLines {
    /// Where the next string of a list is a line of a key that an earlier one began.
    /// `field` is its key in an object of the list, or nothing.
    pub fn next(&mut self, field: &str, text: &str) -> Option<(usize, usize)> {
        let (begin, end) = (last(&BEGIN, text), last(&END, text));
        let is_followed = self.reached != Reached::Outside && self.field == field;
        if begin.is_none() && !is_followed {
            return None;
        }
        let (start, line_end) = line(text);
        if begin.is_some() || end.is_some() {
            let begins = begin.map(|(start, _)| start) > end.map(|(start, _)| start);
            let has_lines = !matches!(self.reached, Reached::Outside | Reached::Begun);
            self.reached = if begins {
                Reached::Begun
            } else {
                Reached::Outside
            };
            field.clone_into(&mut self.field);
            let end = end.filter(|_| is_followed && has_lines && begin.is_none());
            return end.map(|(mark, end)| (start.min(mark), end));
        }
        let body = text.get(start..line_end).unwrap_or_default();
        self.reached = self.after(body);
        let is_line = self.reached != Reached::Outside && start < line_end;
        is_line.then_some((start, line_end))
    }

    /// Whether a key has begun and not ended.
    pub(super) fn is_open(&self) -> bool {
        self.reached != Reached::Outside
    }

    fn after(&self, body: &str) -> Reached {
        let is_all_base64 = body.bytes().all(is_base64);
        let is_full = body.len() >= FULL && is_varied(body.as_bytes());
        let begins_header = |header: &Regex| header.find(body.as_bytes());
        let header = HEADER.as_ref().and_then(begins_header);
        match self.reached {
            Reached::Outside => Reached::Outside,
            _ if body.is_empty() => self.reached.clone(),
            Reached::Begun if header.is_some_and(|found| found.start() == 0) => Reached::Begun,
            Reached::Begun | Reached::Full if is_all_base64 && is_full => Reached::Full,
            Reached::Full if is_all_base64 => Reached::Short,
            Reached::Short if is_all_base64 && body.starts_with('=') => Reached::Short,
            Reached::Begun | Reached::Full | Reached::Short => Reached::Outside,
        }
    }
}

/// A line without what a diff, a listing or a comment puts around it: its long run of
/// base64, or what is left without signs that such have.
fn line(text: &str) -> (usize, usize) {
    let bytes = text.as_bytes();
    let is_near = |(start, end): &(usize, usize)| {
        *start <= MOST_AROUND && bytes.len() - end <= MOST_AROUND && end - start >= FULL
    };
    if let Some(run) = next_run(bytes, 0).filter(is_near) {
        return run;
    }
    let (_, start) = next(&BEFORE_LINE, bytes, 0, bytes.len()).unwrap_or_default();
    let end = next(&BEHIND_LINE, bytes, start, bytes.len());
    let end = end.map_or(bytes.len(), |(end, _)| end);
    (start, end.max(start))
}

#[cfg(test)]
pub(super) fn is_searchable() -> bool {
    [&BEGIN, &END, &HEADER, &BEFORE_LINE, &BEHIND_LINE]
        .iter()
        .all(|pattern| LazyLock::force(pattern).is_some())
}
