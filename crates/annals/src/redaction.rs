//! Redaction: content is found, removed for good, and what became of it is recorded.

mod notes;
mod plan;
mod seals;
mod search;
mod stays;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use annals_domain::{ActorKind, ActorRef, Kind, Timestamp};
use annals_event_log::{
    Classification, Classified, Digest, ErrorClass, PiecesOf, Position, ReadError, RedactError,
};
use annals_wire::EncodeError;
use derive_new::new;
use derive_setters::Setters;
use regex::bytes::Regex;
use uuid::Uuid;

use crate::{Annals, LoadError};
use plan::{Plan, Step};
use seals::Lost;

pub use notes::RedactionNote;
pub use seals::SealOf;
pub use stays::Stays;

/// Records that are looked through at once.
const PAGE: usize = 1_000;
/// How often content is looked for again because more came meanwhile that refers to the same
/// blobs.
const ATTEMPTS: u32 = 8;
/// How often what came meanwhile is looked through, at most.
const ROUNDS: u32 = 8;

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

/// Why nothing was redacted, or not all. The log is as it was, unless it is
/// [`RedactionError::Partly`], or [`annals_event_log::AppendError::Unavailable`] below
/// [`RedactionError::Store`], where it is unknown: repeat it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RedactionError {
    /// There is no such event.
    #[error("there is no event {position}: the log ends at {end}")]
    NoEvent {
        /// Where it was looked for.
        position: Position,
        /// The log's last position.
        end: Position,
    },
    /// No event has this id.
    #[error("there is no event with the id {id}")]
    NoSuchEvent {
        /// What was looked for.
        id: Uuid,
    },
    /// No event refers to such a blob.
    #[error(
        "no event refers to content with the digest {digest}; if it is stored all the same, `annals gc --apply` removes it"
    )]
    NoBlob {
        /// What was looked for.
        digest: Digest,
    },
    /// The reason would say again what is removed.
    #[error("the reason has in it what is to be removed; say it in other words")]
    ReasonMatches,
    /// The actor has the pattern in it, which would be recorded with the redaction, for good.
    #[error(
        "the pattern is found in the actor, which is recorded with the redaction and stays; use another one"
    )]
    ActorMatches,
    /// A reason must be given.
    #[error("the reason is empty; say why the content must go")]
    NoReason,
    /// Content was appended faster than it could be looked through.
    #[error("content that refers to the same blobs came {attempts} times meanwhile; try again")]
    Contended {
        /// How often it was tried.
        attempts: u32,
    },
    /// Content was removed, but not all of it: what came meanwhile could not be looked
    /// through. The same call removes the rest.
    #[error(
        "content of {} was removed (event {recorded}), but not what came meanwhile: {source}",
        crate::redaction::events(*.events)
    )]
    Partly {
        /// How many events lost content.
        events: usize,
        /// The last event that says so.
        recorded: Position,
        /// Why it went no further.
        #[source]
        source: Box<RedactionError>,
    },
    /// The log could not be read.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// What is to be recorded cannot be written.
    #[error(transparent)]
    Encode(#[from] EncodeError),
    /// The store refused it.
    #[error(transparent)]
    Store(RedactError),
}

impl Classified for RedactionError {
    fn classify(&self) -> Classification {
        use ErrorClass::{Contended, Invalid, NotFound};
        match self {
            RedactionError::NoEvent { .. } | RedactionError::NoSuchEvent { .. } => {
                NotFound.code("no_event")
            }
            RedactionError::NoBlob { .. } => NotFound.code("no_blob"),
            RedactionError::ReasonMatches | RedactionError::NoReason => {
                Invalid.code("invalid_reason")
            }
            RedactionError::ActorMatches => Invalid.code("invalid_actor"),
            RedactionError::Contended { .. } => Contended.code("contended"),
            RedactionError::Partly { source, .. } => source.classify().of("redaction_failed"),
            RedactionError::Load(error) => error.classify().of("redaction_failed"),
            RedactionError::Encode(error) => error.classify().of("redaction_failed"),
            RedactionError::Store(error) => error.classify().of("redaction_failed"),
        }
    }
}

impl From<ReadError> for RedactionError {
    fn from(error: ReadError) -> RedactionError {
        LoadError::from(error).into()
    }
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

impl Annals {
    /// What a redaction of these targets would remove. Reads the whole log, unless
    /// only single events without blobs are requested; `progress` is called with each
    /// position that was looked at.
    ///
    /// # Errors
    /// [`RedactionError`].
    pub async fn find_content(
        &self,
        targets: &[Target],
        progress: &mut (dyn FnMut(Position) + Send),
    ) -> Result<Found, RedactionError> {
        let mut plan = Plan::make(self, targets, Stretch::All, progress).await?;
        plan.add_seals(self, &Lost::new()).await?;
        Ok(plan.found())
    }

    /// Removes content and its salts for good, and records who had it removed, when
    /// and why, in the stream of each event that loses some. No header changes: every
    /// proof and every checkpoint made before stays valid.
    ///
    /// A pattern is looked for again in what came while the log was looked through. So
    /// nothing that was in the log when the first event was recorded is left with it.
    ///
    /// The catalogue is forgotten with it and folded again when it is next read. Others
    /// append, list and look up meanwhile, and find some of the content until this answers. In
    /// the files of the embedded store the old bytes lie until
    /// [`annals_store_rocks::RocksLog::purge`] has rewritten them, or the next opening
    /// for writing has. Backups, exports and proofs that were made before are out of
    /// reach.
    ///
    /// # Errors
    /// [`RedactionError`].
    #[tracing::instrument(level = "debug", skip_all)]
    pub async fn redact(
        &self,
        request: &RedactRequest,
        progress: &mut (dyn FnMut(Position) + Send),
    ) -> Result<RedactReport, RedactionError> {
        check_reason(request)?;
        let is_pattern = |target: &&Target| matches!(target, Target::Pattern(_));
        let patterns: Vec<Target> = request.targets.iter().filter(is_pattern).cloned().collect();
        let mut report = RedactReport::default();
        let mut lost = Lost::new();
        let (mut targets, mut stretch) = (&request.targets, Stretch::All);
        for _ in 0..ROUNDS {
            let removed = self.remove(request, targets, stretch, &mut lost, &mut report, progress);
            let came = removed.await.map_err(|error| report.partly(error))?;
            let came = came.filter(|(from, to)| from <= to);
            report.unsearched = came.filter(|_| !patterns.is_empty());
            // Without a pattern, only seals of what lost content are looked for.
            let Some((from, to)) = came else {
                break;
            };
            (targets, stretch) = (&patterns, Stretch::Between(from, to));
        }
        Ok(report)
    }

    /// Removes what is found of the targets in a stretch of the log, in as many redactions as it
    /// takes, and adds each to the report; answers with what came while it was looked through,
    /// if something was removed. Where what came behind it refers to blobs that go, it goes on to
    /// what is the end by then.
    async fn remove(
        &self,
        request: &RedactRequest,
        targets: &[Target],
        mut stretch: Stretch,
        lost: &mut Lost,
        report: &mut RedactReport,
        progress: &mut (dyn FnMut(Position) + Send),
    ) -> Result<Option<(Position, Position)>, RedactionError> {
        let before = report.recorded.map(|(_, last)| last);
        for _ in 0..ATTEMPTS {
            let mut plan = Plan::make(self, targets, stretch, progress).await?;
            // From here on no seal is made of what goes.
            let _sealing = self.sealing.lock().await;
            let losing = plan.losing();
            plan.add_seals(self, lost).await?;
            let (found, seen) = (plan.found(), plan.seen);
            let mut came = None;
            for Step { redaction, objects } in plan.steps(request)? {
                let part = Found {
                    removed: redaction.removed.clone(),
                    blobs: redaction.blobs.clone(),
                    objects,
                    ..Found::default()
                };
                let redacted = self.catalogue.forgetting(self.log.redact(redaction)).await;
                // For every result: content may be gone that states have names of.
                self.states.forget_all();
                match redacted {
                    Ok(appended) => {
                        report.add(part, (appended.first, appended.last));
                        let from = before.map_or(seen, |last| seen.max(last)).next();
                        came = Some((from, Position(appended.first.0.saturating_sub(1))));
                    }
                    Err(RedactError::StillNamed { .. }) => {
                        came = None;
                        break;
                    }
                    Err(error) => return Err(RedactionError::Store(error)),
                }
            }
            if came.is_some() || found.removed.is_empty() {
                report.found.add_seals(&found);
                report.found.shared.extend(found.shared);
                report.found.stays.extend(found.stays);
                report.found.stays_count += found.stays_count;
                seals::merge(lost, losing);
                return Ok(came);
            }
            stretch = stretch.up_to(self.log.watermark());
        }
        Err(RedactionError::Contended { attempts: ATTEMPTS })
    }
}

/// What of the log is looked through.
#[derive(Debug, Clone, Copy)]
enum Stretch {
    /// Everything that there is.
    All,
    /// From a position to another one, both included.
    Between(Position, Position),
}

impl Stretch {
    /// The same with another end.
    fn up_to(self, end: Position) -> Stretch {
        match self {
            Stretch::All => Stretch::All,
            Stretch::Between(first, _) => Stretch::Between(first, end),
        }
    }
}

impl RedactReport {
    /// Takes in one redaction.
    fn add(&mut self, removed: Found, (first, last): (Position, Position)) {
        let first = self.recorded.map_or(first, |(first, _)| first);
        self.recorded = Some((first, last));
        self.redactions += 1;
        self.found.add(removed);
    }

    /// What goes wrong once something was removed is a part of the answer.
    fn partly(&self, source: RedactionError) -> RedactionError {
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
    fn add_seals(&mut self, more: &Found) {
        self.seals.extend(&more.seals);
        self.old_seals.extend(&more.old_seals);
        self.old_seals.sort_unstable();
        self.old_seals.dedup();
    }
}

fn events(count: usize) -> String {
    match count {
        1 => "1 event".to_owned(),
        count => format!("{count} events"),
    }
}

fn check_reason(request: &RedactRequest) -> Result<(), RedactionError> {
    if request.reason.trim().is_empty() {
        return Err(RedactionError::NoReason);
    }
    let patterns = request.targets.iter().filter_map(|target| match target {
        Target::Pattern(pattern) => Some(pattern),
        Target::Event(_) | Target::Blob(_) => None,
    });
    let ActorRef { kind, id, .. } = &request.actor;
    for pattern in patterns {
        if pattern.is_match(request.reason.as_bytes()) {
            return Err(RedactionError::ReasonMatches);
        }
        let own_kind =
            !ActorKind::LISTED.contains(kind) && pattern.is_match(kind.as_str().as_bytes());
        if own_kind || pattern.is_match(id.as_bytes()) {
            return Err(RedactionError::ActorMatches);
        }
    }
    Ok(())
}
