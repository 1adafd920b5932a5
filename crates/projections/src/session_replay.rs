//! What-if: the recorded commands of sessions under another policy profile.
//!
//! A session's stream has every command that was given, with what its gate
//! looked at. [`replay_sessions`] judges each of them again, in the order of the
//! log, under a profile of the caller's, and compares. What people and adapters
//! did (approvals, pauses, results of commands) is taken as it was recorded,
//! where it can have happened; what the profile alone decides (verdicts, tokens
//! of buckets, the queue) is not. It reads the log and changes nothing in it.
//!
//! Under the profile that was in force nothing flips. What cannot be judged is
//! counted as unknown: commands that another system judged and that are not
//! here themselves, rates where the recorded stream has no times of its own, and
//! commands whose names were removed by a redaction.

mod aftermath;
mod report;
mod simulated;
mod trial;

use std::collections::BTreeSet;
use std::sync::Arc;

use annals_domain::session::{self, PolicyProfile};
use annals_domain::{AnyEvent, SessionId, StreamKind, StreamRef, bucket};
use annals_event_log::{
    Classification, Classified, ErrorClass, Position, Query, ReadError, Record, Store, Version,
};
use annals_wire::{DecodeError, Decoded, stream_name};
use derive_setters::Setters;

pub use aftermath::Aftermath;
pub use report::{Approvals, Class, Flip, FlipCount, Said, SessionsReplay, Unknown, Verdicts};

use crate::{Merged, bucket_stream};
use simulated::{Known, SharedBucket, parent_of};
pub use trial::IMPORTER;
use trial::Trial;

/// Records read at once.
const PAGE: usize = 1_000;
/// Streams listed at once.
const STREAMS: usize = 1_000;

/// What a replay of sessions does beyond counting.
#[derive(Default, Setters)]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct SessionReplayOptions<'a> {
    /// Reads no further than this position.
    #[setters(into)]
    pub through: Option<Position>,
    /// Is called now and then with the number of records that were judged.
    #[setters(strip_option)]
    pub progress: Option<&'a mut (dyn FnMut(u64) + Send)>,
}

impl std::fmt::Debug for SessionReplayOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SessionReplayOptions")
            .field("through", &self.through)
            .finish_non_exhaustive()
    }
}

/// Why sessions were not judged again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionReplayError {
    /// The log has no such session, or did not have it yet.
    #[error("there is no session {session} in the part of the log that is replayed")]
    NoSession {
        /// The session.
        session: SessionId,
    },
    /// The profile is not valid.
    #[error("invalid profile: {reason}")]
    InvalidProfile {
        /// What is wrong with it.
        reason: String,
    },
    /// The log could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A record could not be decoded.
    #[error("record {position} cannot be decoded: {source}")]
    Decode {
        /// The record's position.
        position: Position,
        /// What is wrong with it.
        source: DecodeError,
    },
}

impl Classified for SessionReplayError {
    fn classify(&self) -> Classification {
        use ErrorClass::{Invalid, NotFound};
        match self {
            SessionReplayError::NoSession { .. } => NotFound.code("not_yet"),
            SessionReplayError::InvalidProfile { .. } => Invalid.code("invalid_policy"),
            SessionReplayError::Read(error) => error.classify(),
            SessionReplayError::Decode { source, .. } => source.classify(),
        }
    }
}

/// Judges the recorded commands of sessions again; of all sessions, if none is
/// named.
///
/// # Errors
/// [`SessionReplayError`].
pub async fn replay_sessions(
    log: &dyn Store,
    sessions: &[SessionId],
    profile: &PolicyProfile,
    mut options: SessionReplayOptions<'_>,
) -> Result<SessionsReplay, SessionReplayError> {
    profile
        .check()
        .map_err(|refusal| SessionReplayError::InvalidProfile {
            reason: refusal.to_string(),
        })?;
    let through = options.through.unwrap_or_else(|| log.watermark());
    let chosen = match sessions {
        [] => all(log, through).await?,
        named => named.to_vec(),
    };
    let mut merged = Merged::new(log);
    let mut trial = Trial::new(Arc::new(profile.clone()));
    let mut agents = BTreeSet::new();
    for session in &chosen {
        let known = known(log, *session, through).await?;
        let Some(mut known) = known else {
            return Err(SessionReplayError::NoSession { session: *session });
        };
        for agent in agents_above(log, known.parent()).await? {
            known.add_above(&agent);
            agents.insert(agent);
        }
        agents.extend(known.agent().map(str::to_owned));
        trial.add(*session, known);
        merged.add(session.stream()).await?;
    }
    let secret = log.id_secret().await?;
    for (name, bucket) in shared_buckets(profile, agents) {
        // Older versions had no secret for it.
        for secret in [None, secret.as_ref()] {
            let stream = bucket_stream(secret, &name);
            trial.add_bucket(stream, bucket.clone());
            merged.add(stream).await?;
        }
    }
    let mut read = 0;
    while let Some(record) = merged.next().await? {
        if record.position() > through {
            break;
        }
        let decoded = decode(&record)?;
        if let AnyEvent::Session(session::Event::RunAttached(event)) = &decoded.event {
            merged.add(event.run.stream()).await?;
        }
        trial.fold(&record, &decoded);
        read += 1;
        if let Some(progress) = options.progress.as_mut().filter(|_| read % 1_000 == 0) {
            progress(read);
        }
    }
    Ok(trial.report(through))
}

/// The buckets of a profile that sessions share, and their names: of the kinds that it has caps on, and of the calls of
/// these agents. Other sessions take tokens from them, too.
fn shared_buckets(
    profile: &PolicyProfile,
    agents: BTreeSet<String>,
) -> Vec<(String, SharedBucket)> {
    let capped = bucket::names_of(profile).into_iter();
    let caps = capped.map(|(kind, name)| (name, SharedBucket::Cap(kind)));
    let limits = profile.limits.as_ref();
    let is_limited = limits.is_some_and(|limits| limits.calls_per_minute.is_some());
    let agents = agents.into_iter().filter(|_| is_limited);
    let calls = agents.map(|agent| {
        let name = bucket::calls_name(profile, &agent);
        (name, SharedBucket::Calls(agent))
    });
    caps.chain(calls).collect()
}

fn decode(record: &Record) -> Result<Decoded, SessionReplayError> {
    annals_wire::decode(record).map_err(|source| SessionReplayError::Decode {
        position: record.position(),
        source,
    })
}

/// All sessions of the log that had begun by a position.
async fn all(log: &dyn Store, through: Position) -> Result<Vec<SessionId>, SessionReplayError> {
    let prefix = format!("{}-", StreamKind::Session);
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let heads = log.streams(&prefix, after.as_ref(), STREAMS).await?;
        let Some(last) = heads.last() else {
            return Ok(found);
        };
        after = Some(last.name.clone());
        for head in &heads {
            let Ok(stream) = head.name.as_str().parse::<StreamRef>() else {
                continue;
            };
            let first = Query::stream(head.name.clone(), Version(1)).limit(1);
            let page = log.read(first).await?;
            if page
                .records
                .first()
                .is_some_and(|first| first.position() <= through)
            {
                found.push(SessionId(stream.id));
            }
        }
    }
}

/// The agents of a session and of those that it was begun by.
async fn agents_above(
    log: &dyn Store,
    session: Option<SessionId>,
) -> Result<BTreeSet<String>, SessionReplayError> {
    let (mut agents, mut seen, mut next) = (BTreeSet::new(), BTreeSet::new(), session);
    while let Some(session) = next.filter(|session| seen.insert(*session)) {
        let first = Query::stream(stream_name(session.stream()), Version(1)).limit(1);
        let page = log.read(first).await?;
        let Some(record) = page.records.first() else {
            break;
        };
        next = None;
        if let AnyEvent::Session(event) = &decode(record)?.event {
            agents.extend(Known::new(event).agent().map(str::to_owned));
            next = parent_of(event);
        }
    }
    Ok(agents)
}

/// What must be known of a session before its first command is judged: of one
/// that another system kept, which commands it judged, and the commands; of one that
/// another session began, which were rejected for what became of that.
async fn known(
    log: &dyn Store,
    session: SessionId,
    through: Position,
) -> Result<Option<Known>, SessionReplayError> {
    let name = stream_name(session.stream());
    let mut known: Option<Known> = None;
    let mut next = Some(1);
    while let Some(from) = next {
        let limit = if known.is_some() { PAGE } else { 1 };
        let page = log
            .read(Query::stream(name.clone(), Version(from)).limit(limit))
            .await?;
        for record in page
            .records
            .iter()
            .filter(|record| record.position() <= through)
        {
            let decoded = decode(record)?;
            if let AnyEvent::Session(event) = &decoded.event {
                known.get_or_insert_with(|| Known::new(event)).note(event);
            }
        }
        if !known.as_ref().is_some_and(Known::looks_ahead) {
            return Ok(known);
        }
        next = page.next;
    }
    Ok(known)
}
