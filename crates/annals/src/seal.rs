//! Sealing: the checksum of an object as it stands.

use annals_domain::metadata::Seal;
use annals_domain::{Command, Timestamp};
use annals_projections::seal_hash;
use chrono::Utc;
use uuid::Uuid;

use crate::{Annals, At, ExecuteError, LoadError, Outcome, Request, ViewError};

/// Why an object was not sealed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SealError {
    /// The object could not be viewed.
    #[error(transparent)]
    View(#[from] ViewError),
    /// The command was not executed.
    #[error(transparent)]
    Execute(#[from] ExecuteError),
}

impl SealError {
    /// Whether the same request may succeed later without being changed.
    pub fn is_retryable(&self) -> bool {
        match self {
            SealError::View(error) => error.is_retryable(),
            SealError::Execute(error) => error.is_retryable(),
        }
    }
}

impl Annals {
    /// Seals an object: computes the canonical hash of its JSON as it stands
    /// after this very event, and records it. Any later event on the object
    /// breaks the seal.
    ///
    /// Give `request` a command that is a [`Seal`]; one that carries its own
    /// checksum is executed as it is.
    ///
    /// # Errors
    /// [`SealError`].
    pub async fn seal(
        &self,
        object: impl Into<Uuid>,
        request: Request,
    ) -> Result<Outcome, SealError> {
        let object = object.into();
        let at = request.at.unwrap_or_else(|| Timestamp::from(Utc::now()));
        let (view, _) = self.view_and_version(object, At::Now).await?;
        let checksum =
            seal_hash(&view, at).map_err(|error| ViewError::from(LoadError::Render(error)))?;
        let command = Command::from(Seal {
            object,
            checksum: Some(checksum),
        });
        let request = Request {
            command,
            at: Some(at),
            ..request
        };
        Ok(self.execute(request).await?)
    }
}
