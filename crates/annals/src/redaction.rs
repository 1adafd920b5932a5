//! Redaction: content is found, removed for good, and what became of it is recorded.

mod notes;
mod plan;
mod search;

use annals_domain::{ActorRef, Kind, Timestamp};
use annals_event_log::{Digest, PiecesOf, Position, ReadError, RedactError};
use annals_wire::EncodeError;
use regex::bytes::Regex;
use uuid::Uuid;

use crate::{Annals, LoadError};
use plan::Plan;

pub use notes::RedactionNote;

/// Records that are looked through at once.
const PAGE: usize = 1_000;
/// How often content is looked for anew because more came meanwhile.
const ATTEMPTS: u32 = 8;

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
}

/// What a redaction came to.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RedactReport {
    /// What was removed.
    pub found: Found,
    /// The first and the last event that say so; none where there was nothing to
    /// remove.
    pub recorded: Option<(Position, Position)>,
}

/// Why nothing was redacted. The log is as it was, unless it is
/// [`annals_event_log::AppendError::Unavailable`] below [`RedactionError::Store`], where it is unknown:
/// repeat it.
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
    /// A reason must be given.
    #[error("the reason is empty; say why the content must go")]
    NoReason,
    /// Content was appended faster than it could be looked through.
    #[error("content that refers to the same blobs came {attempts} times meanwhile; try again")]
    Contended {
        /// How often it was tried.
        attempts: u32,
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

impl RedactionError {
    /// Whether the same call may succeed later.
    pub fn is_retryable(&self) -> bool {
        match self {
            RedactionError::Contended { .. } => true,
            RedactionError::Load(error) => error.is_retryable(),
            RedactionError::Store(error) => error.is_retryable(),
            _ => false,
        }
    }
}

impl From<ReadError> for RedactionError {
    fn from(error: ReadError) -> RedactionError {
        LoadError::from(error).into()
    }
}

/// Who has content removed, and why.
#[derive(Debug, Clone)]
pub struct RedactRequest {
    /// What.
    pub targets: Vec<Target>,
    /// Who.
    pub actor: ActorRef,
    /// Why. It is content like any other, and stays.
    pub reason: String,
    /// When, by the caller's clock; now, if it is not given.
    pub at: Option<Timestamp>,
}

impl Annals {
    /// What a redaction of these targets would remove. Reads the whole log, unless
    /// single events without blobs are all that is asked for; `progress` is told each
    /// position that was looked at.
    ///
    /// # Errors
    /// [`RedactionError`].
    pub async fn find_content(
        &self,
        targets: &[Target],
        progress: &mut (dyn FnMut(Position) + Send),
    ) -> Result<Found, RedactionError> {
        let plan = Plan::make(self, targets, progress).await?;
        Ok(plan.found())
    }

    /// Removes content and its salts for good, and records who had it removed, when
    /// and why, in the stream of each event that loses some. No header changes: every
    /// proof and every checkpoint made before stays valid.
    ///
    /// The catalogue is forgotten with it and folded anew when it is next asked. In
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
        for _ in 0..ATTEMPTS {
            let plan = Plan::make(self, &request.targets, progress).await?;
            let found = plan.found();
            if found.removed.is_empty() {
                let recorded = None;
                return Ok(RedactReport { found, recorded });
            }
            let redaction = plan.redaction(request)?;
            let redacted = self.catalogue.forgetting(self.log.redact(redaction)).await;
            match redacted {
                Ok(appended) => {
                    let recorded = Some((appended.first, appended.last));
                    return Ok(RedactReport { found, recorded });
                }
                Err(RedactError::StillNamed { .. }) => {}
                Err(error) => return Err(RedactionError::Store(error)),
            }
        }
        Err(RedactionError::Contended { attempts: ATTEMPTS })
    }
}

fn check_reason(request: &RedactRequest) -> Result<(), RedactionError> {
    if request.reason.trim().is_empty() {
        return Err(RedactionError::NoReason);
    }
    let matches = |target: &Target| match target {
        Target::Pattern(pattern) => pattern.is_match(request.reason.as_bytes()),
        Target::Event(_) | Target::Blob(_) => false,
    };
    match request.targets.iter().any(matches) {
        true => Err(RedactionError::ReasonMatches),
        false => Ok(()),
    }
}
