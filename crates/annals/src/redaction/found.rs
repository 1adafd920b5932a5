//! What is to be removed, and what was found of it.

use std::collections::HashSet;

use annals_domain::{ActorRef, Kind, Timestamp};
use annals_event_log::{Digest, PiecesOf, Position};
use derive_new::new;
use derive_setters::Setters;
use regex::bytes::Regex;
use uuid::Uuid;

use super::error::RedactionError;
use super::stays::Stays;

/// What is to be removed.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Target {
    /// All content of the event at a position.
    Event(Position),
    /// A blob, and every piece that refers to it.
    Blob(Digest),
    /// Every piece of content in which a pattern is found.
    Pattern(Regex),
}

/// What a redaction would remove, or removed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Found {
    /// The events that lose content, and which pieces, by ascending positions.
    pub removed: Vec<PiecesOf>,
    /// The blobs that go.
    pub blobs: Vec<Digest>,
    /// Blobs that stay, though an event loses its reference to them: others refer to
    /// them, too. A redaction of the blob removes it everywhere.
    pub shared: Vec<Digest>,
    /// The objects that the events are about.
    pub objects: Vec<(Kind, Uuid)>,
    /// Where a pattern is found in what no redaction removes, the first 1,000.
    pub stays: Vec<Stays>,
    /// How often it is.
    pub stays_count: u64,
    /// The seals of the same streams. Their checksums are among what is removed, so that no
    /// content can be tried against them: these seals cannot be checked any more.
    pub seals: Vec<SealOf>,
    /// Seals that an older version made behind what is removed. Their checksums stay, and content
    /// of few possibilities can be tried against them.
    pub old_seals: Vec<SealOf>,
}

/// What a redaction came to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct RedactReport {
    /// What was removed.
    pub found: Found,
    /// The first and the last event that say so; `None` where there was nothing to
    /// remove. Other events may be between them, see [`RedactReport::redactions`].
    pub recorded: Option<(Position, Position)>,
    /// How many redactions it took: more than one, where very many events lost content, or content
    /// with a pattern came while the log was looked through.
    pub redactions: u32,
    /// Where content with a pattern may be left, from the first of these positions to the
    /// last: it came during the last of the redactions, of which there were many. A call
    /// with the same targets removes it. What was in the log when the first event was
    /// recorded is gone in any case.
    pub unsearched: Option<(Position, Position)>,
}

/// The seal of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct SealOf {
    /// The event that sealed it.
    pub position: Position,
    /// What the object is.
    pub kind: Kind,
    /// Which one it is.
    pub id: Uuid,
}

/// Who has content removed, and why.
#[derive(Debug, Clone, new, Setters)]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct RedactRequest {
    /// What.
    #[setters(skip)]
    pub targets: Vec<Target>,
    /// Who.
    #[setters(skip)]
    pub actor: ActorRef,
    /// Why. It is content like any other, and stays.
    #[new(into)]
    #[setters(skip)]
    pub reason: String,
    /// When, by the caller's clock; now, if it is not given.
    #[new(default)]
    #[setters(into)]
    pub at: Option<Timestamp>,
}

/// What of the log is looked through.
#[derive(Debug, Clone, Copy)]
pub(super) enum Stretch {
    /// Everything that there is.
    All,
    /// From a position to another one, both included.
    Between(Position, Position),
}

impl Stretch {
    /// The same with another end.
    pub(super) fn up_to(self, end: Position) -> Stretch {
        match self {
            Stretch::All => Stretch::All,
            Stretch::Between(first, _) => Stretch::Between(first, end),
        }
    }
}

impl RedactReport {
    /// Takes in one redaction.
    pub(super) fn add(&mut self, removed: Found, (first, last): (Position, Position)) {
        let first = self.recorded.map_or(first, |(first, _)| first);
        self.recorded = Some((first, last));
        self.redactions += 1;
        self.found.add(removed);
    }

    /// What goes wrong once something was removed is a part of the answer.
    pub(super) fn partly(&self, source: RedactionError) -> RedactionError {
        let Some((_, recorded)) = self.recorded else {
            return source;
        };
        RedactionError::Partly {
            events: self.found.removed.len(),
            recorded,
            source: Box::new(source),
        }
    }
}

impl Found {
    fn add(&mut self, more: Found) {
        self.removed.extend(more.removed);
        self.blobs.extend(more.blobs);
        let mut known: HashSet<(Kind, Uuid)> = self.objects.iter().copied().collect();
        let new = more.objects.into_iter().filter(|it| known.insert(*it));
        self.objects.extend(new);
    }

    /// Takes in the seals that another search found. Those that stay are found each time.
    pub(super) fn add_seals(&mut self, more: &Found) {
        self.seals.extend(&more.seals);
        self.old_seals.extend(&more.old_seals);
        self.old_seals.sort_unstable();
        self.old_seals.dedup();
    }
}
