//! Which rows of a read model are the current ones.
//!
//! Rows that are rebuilt go to a read model of their own, the next generation, and one commit to a small model
//! next to them says that it is the current one:
//!
//! ```text
//! model          rows
//! <pointer>      "current": u64, the number of the generation
//! <pointer>.<n>  the rows of generation n
//! ```
//!
//! The pointer's name has the version of the rows' form, such as `catalogue.13`: rows of another form are other
//! models, which the first writer folds from the log.

use annals_event_log::{CommitError, ModelCheckpoint, Position, ReadError, Store};
use bytes::Bytes;

pub(crate) const CURRENT: &[u8] = b"current";
/// How often the number is read again because it was changed meanwhile.
const ATTEMPTS: u32 = 16;

/// The number of a generation, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Generation(u64);

impl Generation {
    pub(crate) fn next(self) -> Generation {
        Generation(self.0.saturating_add(1))
    }

    /// The one before, which an interrupted change to this one can have left.
    fn before(self) -> Generation {
        Generation(self.0.saturating_sub(1))
    }
}

/// Why the current generation is not known.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GenerationError {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Commit(#[from] CommitError),
    #[error("the row that names the current generation is malformed")]
    Malformed,
    #[error("the current generation changed {attempts} times while it was being read")]
    Moving { attempts: u32 },
}

/// The generations of a read model, by the name of the model that points to the current one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Generations<'a> {
    pub(crate) pointer: &'a str,
}

impl Generations<'_> {
    /// The read model that has the rows of a generation.
    pub(crate) fn model(self, generation: Generation) -> String {
        format!("{}.{}", self.pointer, generation.0)
    }

    /// The current one; the first where none was rebuilt.
    pub(crate) async fn current(self, log: &dyn Store) -> Result<Generation, GenerationError> {
        let Some(value) = log.get(self.pointer, CURRENT).await? else {
            return Ok(Generation(1));
        };
        let number = value.as_ref().try_into().map(u64::from_be_bytes);
        number
            .map(Generation)
            .map_err(|_| GenerationError::Malformed)
    }

    /// The current one and the checkpoint of its rows.
    pub(crate) async fn begin(
        self,
        log: &dyn Store,
    ) -> Result<(Generation, ModelCheckpoint), GenerationError> {
        for _ in 0..ATTEMPTS {
            let generation = self.current(log).await?;
            let checkpoint = log.checkpoint(&self.model(generation)).await?;
            if self.current(log).await? == generation {
                return Ok((generation, checkpoint));
            }
        }
        Err(GenerationError::Moving { attempts: ATTEMPTS })
    }

    /// Makes a generation the current one, whose rows are those of `rows_at`. Where content was
    /// removed since they were folded, they are gone, and nothing may name them.
    pub(crate) async fn make_current(
        self,
        log: &dyn Store,
        generation: Generation,
        rows_at: ModelCheckpoint,
    ) -> Result<(), GenerationError> {
        let current = log.checkpoint(self.pointer).await?.position;
        let value = Bytes::copy_from_slice(&generation.0.to_be_bytes());
        let rows = vec![(Bytes::from_static(CURRENT), Some(value))];
        let position = rows_at.position.max(current);
        log.commit(self.pointer, rows_at.at(current), rows, position)
            .await?;
        Ok(())
    }

    /// Drops what interrupted changes of generation can have left next to the current one.
    pub(crate) async fn drop_leftovers(
        self,
        log: &dyn Store,
        current: Generation,
    ) -> Result<(), CommitError> {
        log.drop_model(&self.model(current.before())).await?;
        log.drop_model(&self.model(current.next())).await
    }

    /// Drops a generation that is no longer the current one.
    pub(crate) async fn drop_rows(
        self,
        log: &dyn Store,
        generation: Generation,
    ) -> Result<(), CommitError> {
        log.drop_model(&self.model(generation)).await
    }

    /// Drops all generations, and the model that names the current one.
    pub(crate) async fn drop_all(self, log: &dyn Store) -> Result<(), GenerationError> {
        let current = self.current(log).await?;
        let generations = [current.before(), current, current.next()];
        let mut models = generations.map(|it| self.model(it)).to_vec();
        models.push(self.pointer.to_owned());
        for model in models {
            if log.checkpoint(&model).await?.position > Position::START {
                log.drop_model(&model).await?;
            }
        }
        Ok(())
    }
}
