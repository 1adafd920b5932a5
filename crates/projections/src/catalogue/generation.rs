//! Which rows are the current ones.
//!
//! Rows that are rebuilt go to a read model of their own, the next
//! generation, and one commit to a small model next to them says that it is the
//! current one:
//!
//! ```text
//! model              rows
//! catalogue.9        "current": u64, the number of the generation
//! catalogue.9.<n>    the rows of generation n (keys.rs)
//! ```
//!
//! The 9 is the version of the rows' format. Rows of another format are other
//! models: they are made from the log by the first writer, and those of
//! older formats are dropped.

use annals_event_log::{CommitError, ModelCheckpoint, Position, Store};
use bytes::Bytes;

use super::CatalogueError;

/// The model that names the current generation.
pub(super) const POINTER: &str = "catalogue.9";
pub(super) const CURRENT: &[u8] = b"current";
/// Models of older formats.
const OLDER: &[&str] = &["directory.1"];
/// Models that name the current generation of an older format.
const OLDER_POINTERS: &[&str] = &[
    "catalogue.1",
    "catalogue.2",
    "catalogue.3",
    "catalogue.4",
    "catalogue.5",
    "catalogue.6",
    "catalogue.7",
    "catalogue.8",
];
/// How often the number is read again because it was changed meanwhile.
const ATTEMPTS: u32 = 16;

/// The number of a generation, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Generation(u64);

impl Generation {
    /// The read model that holds its rows.
    pub(super) fn model(self) -> String {
        self.model_of(POINTER)
    }

    fn model_of(self, pointer: &str) -> String {
        format!("{pointer}.{}", self.0)
    }

    pub(super) fn next(self) -> Generation {
        Generation(self.0.saturating_add(1))
    }

    /// The one before, which an interrupted change to this one can have left.
    fn before(self) -> Generation {
        Generation(self.0.saturating_sub(1))
    }
}

/// The current generation.
pub(super) async fn current(log: &dyn Store) -> Result<Generation, CatalogueError> {
    current_of(log, POINTER).await
}

async fn current_of(log: &dyn Store, pointer: &str) -> Result<Generation, CatalogueError> {
    let Some(value) = log.get(pointer, CURRENT).await? else {
        return Ok(Generation(1));
    };
    let number = value.as_ref().try_into().map(u64::from_be_bytes);
    number
        .map(Generation)
        .map_err(|_| CatalogueError::malformed(CURRENT))
}

/// The current generation and the checkpoint of its rows.
pub(super) async fn begin(
    log: &dyn Store,
) -> Result<(Generation, ModelCheckpoint), CatalogueError> {
    for _ in 0..ATTEMPTS {
        let generation = current(log).await?;
        let checkpoint = log.checkpoint(&generation.model()).await?;
        if current(log).await? == generation {
            return Ok((generation, checkpoint));
        }
    }
    Err(CatalogueError::Moving { attempts: ATTEMPTS })
}

/// Makes a generation the current one, whose rows are those of `rows_at`. Where content was
/// removed since they were folded, they are gone, and nothing may name them.
pub(super) async fn make_current(
    log: &dyn Store,
    generation: Generation,
    rows_at: ModelCheckpoint,
) -> Result<(), CatalogueError> {
    let current = log.checkpoint(POINTER).await?.position;
    let value = Bytes::copy_from_slice(&generation.0.to_be_bytes());
    let rows = vec![(Bytes::from_static(CURRENT), Some(value))];
    let position = rows_at.position.max(current);
    log.commit(POINTER, rows_at.at(current), rows, position)
        .await?;
    Ok(())
}

/// Drops what interrupted changes of generation can have left next to the
/// current one.
pub(super) async fn drop_leftovers(
    log: &dyn Store,
    current: Generation,
) -> Result<(), CommitError> {
    log.drop_model(&current.before().model()).await?;
    log.drop_model(&current.next().model()).await
}

/// Drops a generation that is no longer the current one.
pub(super) async fn drop_rows(log: &dyn Store, generation: Generation) -> Result<(), CommitError> {
    log.drop_model(&generation.model()).await
}

/// Drops rows of older formats.
pub(super) async fn drop_older_formats(log: &dyn Store) -> Result<(), CatalogueError> {
    let mut models: Vec<String> = OLDER.iter().map(|model| (*model).to_owned()).collect();
    for pointer in OLDER_POINTERS {
        let current = current_of(log, pointer).await?;
        let generations = [current.before(), current, current.next()];
        models.extend(generations.map(|generation| generation.model_of(pointer)));
        models.push((*pointer).to_owned());
    }
    for model in models {
        if log.checkpoint(&model).await?.position > Position::START {
            log.drop_model(&model).await?;
        }
    }
    Ok(())
}
