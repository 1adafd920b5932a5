//! What guests ask of the owner, and what it answers: the ports' own types, as plain data.
//!
//! `docs/sharing.md` describes the bytes.

mod append;
mod codec;
mod failure;

use annals_event_log::{Appended, Epoch, ModelCheckpoint, Position};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

pub(crate) use append::{AppendOf, RedactionOf, blobs, link_of, octets, records};
pub(crate) use codec::{Malformed, Octets, decode, encode};
pub(crate) use failure::{
    AppendFailure, CommitFailure, PurgeFailure, ReadFailure, RedactFailure, Told,
};

use codec::few;

/// What a guest asks for.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Call {
    Append {
        append: AppendOf,
        link: Option<(Uuid, u64)>,
    },
    Copy {
        #[serde(deserialize_with = "few")]
        records: Vec<Octets>,
        #[serde(deserialize_with = "few")]
        blobs: Vec<Octets>,
    },
    Redact(RedactionOf),
    Checkpoint {
        model: String,
    },
    Commit {
        model: String,
        expected: (u64, u64),
        #[serde(deserialize_with = "few")]
        rows: Vec<(Octets, Option<Octets>)>,
        position: u64,
    },
    Rows {
        model: String,
        #[serde(deserialize_with = "few")]
        keys: Vec<Octets>,
    },
    Scan {
        model: String,
        prefix: Octets,
        beside: Option<Octets>,
        limit: u64,
        backward: bool,
    },
    DropModel {
        model: String,
    },
    /// Gives up the bytes of what was removed, or puts that off for the redaction that ends at a position.
    Purge {
        put_off: Option<u64>,
    },
}

/// What the owner answers; each call has its kind.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Answer {
    Appended(Result<AppendedOf, AppendFailure>),
    Redacted(Result<AppendedOf, RedactFailure>),
    Checkpoint(Result<(u64, u64), ReadFailure>),
    Committed(Result<(), CommitFailure>),
    Rows(Result<Vec<Option<Octets>>, ReadFailure>),
    Scanned(Result<Vec<(Octets, Octets)>, ReadFailure>),
    /// The call could not be read.
    Malformed(String),
    /// Whether files were rewritten.
    Purged(Result<bool, PurgeFailure>),
}

impl Answer {
    /// Why the owner's store has failed, if it has.
    pub(crate) fn failure(&self) -> Option<&str> {
        match self {
            Answer::Appended(Err(AppendFailure::Unavailable(reason)))
            | Answer::Redacted(Err(RedactFailure::Append(AppendFailure::Unavailable(reason)))) => {
                Some(reason)
            }
            _ => None,
        }
    }

    /// Whether the owner has closed the log.
    pub(crate) fn is_closed(&self) -> bool {
        use {AppendFailure as Append, CommitFailure as Commit, ReadFailure as Read};
        match self {
            Answer::Appended(done) => matches!(done, Err(Append::Closed)),
            Answer::Redacted(done) => matches!(done, Err(RedactFailure::Append(Append::Closed))),
            Answer::Checkpoint(found) => matches!(found, Err(Read::Closed)),
            Answer::Committed(done) => matches!(done, Err(Commit::Closed)),
            Answer::Rows(found) => matches!(found, Err(Read::Closed)),
            Answer::Scanned(found) => matches!(found, Err(Read::Closed)),
            Answer::Purged(done) => matches!(done, Err(PurgeFailure::Read(Read::Closed))),
            Answer::Malformed(_) => false,
        }
    }
}

/// Positions of the first and the last record, and whether it was a repeat.
pub(crate) type AppendedOf = (u64, u64, bool);

pub(crate) fn appended_of(appended: Appended) -> AppendedOf {
    (appended.first.0, appended.last.0, appended.repeated)
}

pub(crate) fn appended((first, last, repeated): AppendedOf) -> Appended {
    let appended = Appended::new(Position(first), Position(last));
    match repeated {
        true => appended.again(),
        false => appended,
    }
}

pub(crate) fn checkpoint_of(checkpoint: ModelCheckpoint) -> (u64, u64) {
    (checkpoint.position.0, checkpoint.epoch.0)
}

pub(crate) fn checkpoint((position, epoch): (u64, u64)) -> ModelCheckpoint {
    ModelCheckpoint {
        position: Position(position),
        epoch: Epoch(epoch),
    }
}
