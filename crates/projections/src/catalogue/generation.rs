//! The catalogue's generations, and what programs before left of theirs.

use annals_event_log::{Position, Store};

use super::CatalogueError;
use crate::generation::{CURRENT, GenerationError, Generations};

/// Of rows in this version's form (`keys.rs`).
pub(super) const ROWS: Generations<'static> = Generations {
    pointer: "catalogue.13",
};
/// Models of older forms.
const OLDER: &[&str] = &["directory.1"];
/// Models that name the current generation of an older form.
const OLDER_POINTERS: &[&str] = &[
    "catalogue.1",
    "catalogue.2",
    "catalogue.3",
    "catalogue.4",
    "catalogue.5",
    "catalogue.6",
    "catalogue.7",
    "catalogue.8",
    "catalogue.9",
    "catalogue.10",
    "catalogue.11",
];

impl From<GenerationError> for CatalogueError {
    fn from(error: GenerationError) -> CatalogueError {
        match error {
            GenerationError::Read(error) => error.into(),
            GenerationError::Commit(error) => error.into(),
            GenerationError::Malformed => CatalogueError::malformed(CURRENT),
            GenerationError::Moving { attempts } => CatalogueError::Moving { attempts },
        }
    }
}

/// Drops rows of older forms.
pub(super) async fn drop_older_formats(log: &dyn Store) -> Result<(), CatalogueError> {
    for model in OLDER {
        if log.checkpoint(model).await?.position > Position::START {
            log.drop_model(model).await?;
        }
    }
    for pointer in OLDER_POINTERS {
        Generations { pointer }.drop_all(log).await?;
    }
    Ok(())
}
