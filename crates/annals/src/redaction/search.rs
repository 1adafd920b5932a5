//! Looking for the content that is to go.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;

use annals_domain::Slot;
use annals_domain::redaction::RemovedPieces;
use annals_event_log::{Content, Digest, Position, Query, ReadError, Record};
use annals_projections::origin_of;
use annals_wire::names_of;
use regex::bytes::Regex;

use super::error::RedactionError;
use super::found::{Stretch, Target};
use super::plan::{Lossy, Plan};
use super::stays;
use crate::{Annals, LoadError};

/// Records that are looked through at once.
const PAGE: usize = 1_000;

/// How deep JSON is looked for within JSON.
const JSON_WITHIN_JSON: usize = 3;

/// Blobs that are remembered as clean; one that comes again much later is looked
/// through again.
const REMEMBERED: usize = 100_000;

/// How often a blob is referred to, and how many of these references go.
#[derive(Debug, Default)]
struct References {
    all: u64,
    going: u64,
}

/// The pieces of a record that have its names.
struct Names {
    pieces: Range<u16>,
    /// Whether a pattern is found in one of the names.
    are_found: bool,
}

/// What is looked for in the content of the log.
struct Search<'a> {
    annals: &'a Annals,
    events: BTreeSet<u64>,
    patterns: Vec<&'a Regex>,
    /// Whether one of them may look at the ends of a text.
    looks_at_ends: bool,
    /// The requested blobs.
    asked: Vec<Digest>,
    /// Blobs that are removed from every event that has them: those, and those with a pattern in them.
    going: HashSet<Digest>,
    /// Blobs in which no pattern was found.
    clean: HashSet<Digest>,
    /// Of the blobs that go, or that an event loses.
    references: HashMap<Digest, References>,
}

/// Looks for targets in a stretch of the log: what goes, without the seals that go with it.
pub(super) async fn plan(
    annals: &Annals,
    targets: &[Target],
    stretch: Stretch,
    progress: &mut (dyn FnMut(Position) + Send),
) -> Result<Plan, RedactionError> {
    annals.reach().await?;
    let mut search = Search::new(annals, targets);
    let (first, seen) = match stretch {
        Stretch::All => (Position(1), annals.log.watermark()),
        Stretch::Between(first, last) => (first, last),
    };
    let mut plan = Plan {
        seen,
        ..Plan::default()
    };
    let named = search.named(plan.seen).await?;
    if search.needs_all() {
        search.all(&mut plan, first, progress).await?;
    } else {
        for record in &named {
            search.record(record, &mut plan).await?;
        }
    }
    search.settle(&mut plan)?;
    Ok(plan)
}

impl<'a> Search<'a> {
    fn new(annals: &'a Annals, targets: &'a [Target]) -> Search<'a> {
        let mut search = Search {
            annals,
            events: BTreeSet::new(),
            patterns: Vec::new(),
            looks_at_ends: false,
            asked: Vec::new(),
            going: HashSet::new(),
            clean: HashSet::new(),
            references: HashMap::new(),
        };
        for target in targets {
            match target {
                Target::Event(position) => {
                    search.events.insert(position.0);
                }
                Target::Blob(digest) => {
                    search.asked.push(*digest);
                    search.going.insert(*digest);
                    search.references.insert(*digest, References::default());
                }
                Target::Pattern(pattern) => {
                    search.looks_at_ends |= stays::looks_at_ends(pattern);
                    search.patterns.push(pattern);
                }
            }
        }
        search
    }

    /// The requested events. The blobs that they refer to are looked for
    /// from now on.
    async fn named(&mut self, end: Position) -> Result<Vec<Record>, RedactionError> {
        let mut records = Vec::with_capacity(self.events.len());
        for position in self.events.iter().copied().map(Position) {
            let record = match (Position(1)..=end).contains(&position) {
                true => self.annals.contents().record(position).await?,
                false => None,
            };
            let record = record.ok_or(RedactionError::NoEvent { position, end })?;
            for digest in record.content().iter().filter_map(Content::blob) {
                self.references.entry(digest).or_default();
            }
            records.push(record);
        }
        Ok(records)
    }

    /// Whether any record may have something of it.
    fn needs_all(&self) -> bool {
        !self.patterns.is_empty() || !self.references.is_empty()
    }

    /// Looks through all records from one on.
    async fn all(
        &mut self,
        plan: &mut Plan,
        first: Position,
        progress: &mut (dyn FnMut(Position) + Send),
    ) -> Result<(), RedactionError> {
        let mut next = Some(first.0);
        while let Some(from) = next.filter(|next| *next <= plan.seen.0) {
            let page = self.annals.log.read(Query::all(Position(from)).limit(PAGE));
            let page = page.await?;
            let seen = plan.seen;
            for record in &page.records {
                if record.position() <= seen {
                    self.record(record, plan).await?;
                }
            }
            next = page.next;
            progress(page.records.last().map_or(seen, Record::position).min(seen));
        }
        Ok(())
    }

    /// Looks through one record.
    async fn record(&mut self, record: &Record, plan: &mut Plan) -> Result<(), RedactionError> {
        self.structure(record, plan)?;
        let named = self.events.contains(&record.position().0);
        let names = self.names(record)?;
        let (mut pieces, mut blobs) = (Vec::new(), Vec::new());
        for (number, piece) in (0_u16..).zip(record.content()) {
            let goes = match &piece {
                Content::Removed { .. } => false,
                Content::Inline { .. } if names.pieces.contains(&number) => {
                    named || names.are_found
                }
                Content::Inline { bytes, .. } => named || self.matches(bytes),
                Content::Blob { digest, .. } | Content::Attachment { digest, .. } => {
                    let everywhere = self.blob_goes(record.position(), *digest).await?;
                    if let Some(references) = self.references.get_mut(digest) {
                        references.all += 1;
                        references.going += u64::from(named || everywhere);
                    }
                    named || everywhere
                }
            };
            if goes {
                pieces.push(number);
                blobs.extend(piece.blob());
            }
        }
        if pieces.is_empty() {
            return Ok(());
        }
        let decoded = annals_wire::decode(record).map_err(LoadError::from)?;
        if let Some((Slot(content), Slot(follows))) = decoded.event.follows()
            && pieces.contains(&content)
            && let Err(place) = pieces.binary_search(&follows)
        {
            pieces.insert(place, follows);
        }
        if origin_of(record).is_persons {
            plan.of_a_person.get_or_insert(record.position());
        }
        let lossy = Lossy {
            removed: RemovedPieces {
                position: record.position().0,
                pieces,
            },
            objects: decoded.event.touches(decoded.stream.id).into_vec(),
            blobs,
        };
        plan.events.entry(decoded.stream).or_default().push(lossy);
        Ok(())
    }

    /// The pieces with a record's names, and whether a pattern is found in one of the names:
    /// a long one is not in one piece, and a piece says more than its names.
    fn names(&self, record: &Record) -> Result<Names, RedactionError> {
        let mut names = Names {
            pieces: 0..0,
            are_found: false,
        };
        if self.patterns.is_empty() {
            return Ok(names);
        }
        names.pieces = names_of(record).map_err(LoadError::from)?;
        if !names.pieces.is_empty() {
            let mut decoded = annals_wire::decode(record).map_err(LoadError::from)?;
            let mut look = |name: &mut String| names.are_found |= self.matches(name.as_bytes());
            decoded.event.each_name(&mut look);
        }
        Ok(names)
    }

    /// Looks through what no redaction removes of a record.
    fn structure(&self, record: &Record, plan: &mut Plan) -> Result<(), RedactionError> {
        // A text is in the bytes unescaped, so that most records need not be decoded.
        let may_be = self.looks_at_ends
            || self.is_found(&record.structure())
            || stays::of_the_header(record)
                .iter()
                .any(|(_, text)| self.is_found(text.as_bytes()));
        if may_be {
            plan.add_stays(stays::of(record, &|text| self.is_found(text))?);
        }
        Ok(())
    }

    /// Whether a pattern is found in content as it is stored, or with the escapes of JSON
    /// undone: much content is JSON, and some has JSON in it again. Where all of it is one
    /// text in JSON, that text is looked through, too: it begins behind its quote.
    fn matches(&self, content: &[u8]) -> bool {
        let is_text = content.first() == Some(&b'"');
        let text = is_text.then(|| serde_json::from_slice::<String>(content));
        if text.is_some_and(|text| text.is_ok_and(|text| self.is_found(text.as_bytes()))) {
            return true;
        }
        let mut text = Cow::Borrowed(content);
        for _ in 0..JSON_WITHIN_JSON {
            if self.is_found(&text) {
                return true;
            }
            match unescaped(&text) {
                Some(plain) => text = Cow::Owned(plain),
                None => return false,
            }
        }
        self.is_found(&text)
    }

    /// Whether a pattern is found in a text as it is.
    fn is_found(&self, text: &[u8]) -> bool {
        self.patterns.iter().any(|pattern| pattern.is_match(text))
    }

    /// Whether a blob goes from every event that refers to it, of which this is one.
    async fn blob_goes(
        &mut self,
        position: Position,
        digest: Digest,
    ) -> Result<bool, RedactionError> {
        if self.going.contains(&digest) {
            return Ok(true);
        }
        if self.patterns.is_empty() || self.clean.contains(&digest) {
            return Ok(false);
        }
        let content = self.annals.log.blob(digest).await?;
        if content.is_none() && self.refers(position, digest).await? {
            // It may have what is to go.
            let reason = format!("the blob {digest} that event {position} refers to is missing");
            return Err(ReadError::Corrupt { reason }.into());
        }
        if content.is_some_and(|content| self.matches(&content)) {
            self.going.insert(digest);
            self.references.entry(digest).or_default();
            return Ok(true);
        }
        if self.clean.len() >= REMEMBERED {
            self.clean.clear();
        }
        self.clean.insert(digest);
        Ok(false)
    }

    /// Returns `true` if an event still refers to a blob, which another redaction may have removed since it was read.
    async fn refers(&self, position: Position, digest: Digest) -> Result<bool, RedactionError> {
        let page = self.annals.log.read(Query::all(position).limit(1)).await?;
        let mut pieces = page.records.iter().flat_map(|record| record.content());
        Ok(pieces.any(|piece| piece.blob() == Some(digest)))
    }

    /// Which blobs go: those that nothing refers to any more.
    fn settle(self, plan: &mut Plan) -> Result<(), RedactionError> {
        for (digest, references) in self.references {
            match references {
                References { all: 0, .. } if self.asked.contains(&digest) => {
                    return Err(RedactionError::NoBlob { digest });
                }
                References { going: 0, .. } => {}
                References { all, going } if all == going => {
                    plan.blobs.insert(digest);
                }
                References { .. } => {
                    plan.shared.insert(digest);
                }
            }
        }
        Ok(())
    }
}

/// A text with each escape of JSON undone once; `None` where it has no escapes.
fn unescaped(text: &[u8]) -> Option<Vec<u8>> {
    let first = text.iter().position(|byte| *byte == b'\\')?;
    let (before, mut rest) = text.split_at_checked(first)?;
    let mut plain = before.to_vec();
    plain.reserve(rest.len());
    while let Some((byte, more)) = rest.split_first() {
        rest = more;
        let (b'\\', Some((escape, more))) = (*byte, rest.split_first()) else {
            plain.push(*byte);
            continue;
        };
        rest = more;
        match escape {
            b'n' => plain.push(b'\n'),
            b't' => plain.push(b'\t'),
            b'r' => plain.push(b'\r'),
            b'b' => plain.push(0x08),
            b'f' => plain.push(0x0c),
            b'u' => rest = unicode(rest, &mut plain),
            // A quote, a slash, a backslash; what is not an escape loses its backslash.
            other => plain.push(*other),
        }
    }
    Some(plain)
}

/// Undoes `\uXXXX`, of which the digits come next, and a pair of them for a character
/// beyond; what is left behind it.
fn unicode<'t>(rest: &'t [u8], plain: &mut Vec<u8>) -> &'t [u8] {
    let code = |digits: &[u8]| {
        let digits = std::str::from_utf8(digits).ok()?;
        u16::from_str_radix(digits, 16).ok()
    };
    let Some((Some(first), mut more)) = rest
        .split_at_checked(4)
        .map(|(digits, more)| (code(digits), more))
    else {
        plain.extend_from_slice(b"u");
        return rest;
    };
    let mut units = vec![first];
    if let [b'\\', b'u', behind @ ..] = more
        && (0xd800..0xdc00).contains(&first)
        && let Some((digits, behind)) = behind.split_at_checked(4)
        && let Some(second) = code(digits)
    {
        units.push(second);
        more = behind;
    }
    let text = String::from_utf16_lossy(&units);
    plain.extend_from_slice(text.as_bytes());
    more
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_undone_once() {
        let of = |text: &str| {
            unescaped(text.as_bytes()).map(|plain| String::from_utf8_lossy(&plain).into_owned())
        };
        assert_eq!(of("no escape"), None);
        let text = "a \"b\"\n\t\\ / é \u{1f600}";
        let json = serde_json::to_string(text).unwrap_or_default();
        assert_eq!(of(&json), Some(format!("\"{text}\"")));
        assert_eq!(of(r"\u00e9\u0041\ud83d\ude00"), Some("éA😀".to_owned()));
        for odd in [r"\", r"\u12", r"\uzzzz", r"\ud83d", r"\ud83d\u0041", "x\\"] {
            assert!(of(odd).is_some(), "{odd}");
        }
        let twice = serde_json::to_string(&json).unwrap_or_default();
        assert_eq!(of(&twice), Some(format!("\"{json}\"")));
    }
}
