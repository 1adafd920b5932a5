//! Moments as people name them: besides positions and times, events and git commits.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use annals_domain::{AnyEvent, GitOid, Timestamp, intent, run};
use annals_event_log::{
    Classification, Classified, ErrorClass, EventId, Position, Query, ReadError, Record,
};
use annals_projections::{InvalidTimeName, TimeName};
use uuid::Uuid;

use super::Past;
use crate::{At, InvalidAt, LoadError};

/// The least digits of a commit's id.
const COMMIT_DIGITS: usize = 7;
/// The most: those of a SHA-256.
const MOST_DIGITS: usize = 64;
/// Events that say to which commit something led.
const OF_COMMITS: [&str; 4] = [
    "run.decision_made",
    "run.result_commit_recorded",
    "run.decision_adopted",
    "intent.commit_recorded",
];
/// Commits that are named where digits are not enough.
const NAMED: usize = 10;

/// A moment as people name it: what [`At`] is as a text, `now`, an event's id (a UUID), or the id of a git commit, at
/// least its first 7 digits. Digits alone are a position; a commit whose first digits are none but decimal ones needs
/// more of them, or all.
///
/// ```
/// use annals::{At, AtName};
/// use annals::event_log::Position;
///
/// assert_eq!("17".parse(), Ok(AtName::At(At::Position(Position(17)))));
/// assert!(matches!("3f2a9c1".parse(), Ok(AtName::Commit(_))));
/// assert!(matches!("0199c0de-0000-7000-8000-000000000001".parse(), Ok(AtName::Event(_))));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AtName {
    /// A moment.
    At(At),
    /// After an event.
    Event(EventId),
    /// After the first event that says that something led to this commit: a decision on a run, or an intent's commit.
    Commit(String),
}

/// A text that names no moment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{source}; an event's id (a UUID) and the id of a git commit (at least its first 7 digits) will do, too"
)]
pub struct InvalidAtName {
    #[from]
    source: InvalidAt,
}

impl Classified for InvalidAtName {
    fn classify(&self) -> Classification {
        self.source.classify()
    }
}

impl Default for AtName {
    fn default() -> AtName {
        AtName::At(At::Now)
    }
}

impl From<At> for AtName {
    fn from(at: At) -> AtName {
        AtName::At(at)
    }
}

impl FromStr for AtName {
    type Err = InvalidAtName;

    fn from_str(text: &str) -> Result<AtName, InvalidAtName> {
        if text == "now" {
            return Ok(AtName::At(At::Now));
        }
        let error = match text.parse() {
            Ok(at) => return Ok(AtName::At(at)),
            Err(error) => error,
        };
        // Hexadecimal digits without hyphens are a commit's.
        if let (true, Ok(id)) = (text.contains('-'), Uuid::parse_str(text)) {
            return Ok(AtName::Event(id));
        }
        let is_commit = (COMMIT_DIGITS..=MOST_DIGITS).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        match is_commit {
            true => Ok(AtName::Commit(text.to_ascii_lowercase())),
            false => Err(error.into()),
        }
    }
}

impl AtName {
    /// Reads a moment as people write it: in the forms of [`AtName`], or as [`At::of_name`] does.
    ///
    /// # Errors
    /// [`InvalidTimeName`].
    pub fn of_name(
        text: &str,
        time: impl FnOnce(TimeName) -> Option<Timestamp>,
    ) -> Result<AtName, InvalidTimeName> {
        match text.parse() {
            Ok(name) => Ok(name),
            Err(_) => At::of_name(text, time).map(AtName::At),
        }
    }
}

impl fmt::Display for AtName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AtName::At(At::Now) => f.write_str("now"),
            AtName::At(At::Position(position)) => write!(f, "{position}"),
            AtName::At(At::Recorded(time)) => write!(f, "{time}"),
            AtName::At(At::Occurred(time)) => write!(f, "occurred:{time}"),
            AtName::Event(id) => write!(f, "{id}"),
            AtName::Commit(digits) => f.write_str(digits),
        }
    }
}

/// Why what was named is no moment.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MomentError {
    /// No event has the id.
    #[error(
        "there is no event {id} in the log: `annals log --json` says the events' ids. Where an object is meant, its \
             history names its events"
    )]
    NoEvent {
        /// The id.
        id: EventId,
    },
    /// No decision led to the commit.
    #[error(
        "no decision in the log led to commit {digits}: `annals object list decisions` shows the commits that decisions led to"
    )]
    NoCommit {
        /// What was given of its id.
        digits: String,
    },
    /// Several commits begin with the digits.
    #[error("{digits} is ambiguous; give more of the commit's digits. It may be {}", .candidates.join(", "))]
    AmbiguousCommit {
        /// What was given of its id.
        digits: String,
        /// Commits that it may be, at most ten.
        candidates: Vec<String>,
    },
    /// The log could not be read.
    #[error(transparent)]
    Load(#[from] LoadError),
}

impl From<ReadError> for MomentError {
    fn from(error: ReadError) -> MomentError {
        LoadError::from(error).into()
    }
}

impl Classified for MomentError {
    fn classify(&self) -> Classification {
        use ErrorClass::{Invalid, NotFound};
        match self {
            MomentError::NoEvent { .. } => NotFound.code("no_event"),
            MomentError::NoCommit { .. } => NotFound.code("no_commit"),
            MomentError::AmbiguousCommit { .. } => Invalid.code("ambiguous"),
            MomentError::Load(error) => error.classify(),
        }
    }
}

impl Past<'_> {
    /// The moment that was named. An event is looked for in the whole log, the newest first, as there is no index of
    /// their ids; a commit among the events that say to which one something led.
    ///
    /// # Errors
    /// [`MomentError`].
    pub async fn at(self, name: &AtName) -> Result<At, MomentError> {
        match name {
            AtName::At(at) => Ok(*at),
            AtName::Event(id) => {
                let found = self.annals.proofs().find_event(*id, |_| {}).await?;
                let position = found.ok_or(MomentError::NoEvent { id: *id })?;
                Ok(At::Position(position))
            }
            AtName::Commit(digits) => Ok(At::Position(self.commit(digits).await?)),
        }
    }

    /// Where it was recorded first that something led to a commit.
    async fn commit(self, digits: &str) -> Result<Position, MomentError> {
        let mut commits: BTreeSet<String> = BTreeSet::new();
        let mut first: Option<Position> = None;
        for event_type in OF_COMMITS {
            let mut next = Some(1);
            while let Some(from) = next {
                let query = Query::event_type(event_type, Position(from));
                let page = self.annals.log.read(query).await?;
                for record in &page.records {
                    let Some(commit) = commit_of(record)?.map(|it| it.to_string()) else {
                        continue;
                    };
                    if commit.starts_with(digits) {
                        let position = record.position();
                        first = Some(first.map_or(position, |first| first.min(position)));
                        if commits.len() < NAMED {
                            commits.insert(commit);
                        }
                    }
                }
                next = page.next;
            }
        }
        let digits = digits.to_owned();
        match (first, commits.len()) {
            (Some(position), 1) => Ok(position),
            (None, _) => Err(MomentError::NoCommit { digits }),
            (Some(_), _) => Err(MomentError::AmbiguousCommit {
                digits,
                candidates: commits.into_iter().collect(),
            }),
        }
    }
}

/// The commit that an event says something led to.
fn commit_of(record: &Record) -> Result<Option<GitOid>, LoadError> {
    Ok(match annals_wire::decode(record)?.event {
        AnyEvent::Run(run::Event::DecisionMade(event)) => event.result_commit,
        AnyEvent::Run(run::Event::DecisionAdopted(event)) => event.decision.result_commit,
        AnyEvent::Run(run::Event::ResultCommitRecorded(event)) => Some(event.commit),
        AnyEvent::Intent(intent::Event::CommitRecorded(event)) => Some(event.commit),
        _ => None,
    })
}
