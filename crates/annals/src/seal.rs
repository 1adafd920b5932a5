//! Sealing: the checksum of an object in its current state.

use annals_domain::metadata::Seal;
use annals_domain::{Command, Timestamp};
use annals_event_log::{Classification, Classified};
use annals_projections::seal_hash;
use uuid::Uuid;

use crate::batch::canonical_request;
use crate::{At, ExecuteError, LoadError, Outcome, Proofs, Request, ViewError};

/// How often an object is viewed again when events come between.
const ATTEMPTS: u32 = 8;

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

impl Classified for SealError {
    fn classify(&self) -> Classification {
        match self {
            SealError::View(error) => error.classify(),
            SealError::Execute(error) => error.classify(),
        }
    }
}

impl Proofs<'_> {
    /// Seals an object: computes the canonical hash of its JSON as it is
    /// after this very event, and records it. Any later event on the object
    /// breaks the seal. A redaction of content in the same stream removes the checksum, too.
    /// While one is under way this waits for its end.
    ///
    /// Give `request` a command that is a [`Seal`]; a checksum that it carries is
    /// replaced by the right one.
    ///
    /// # Errors
    /// [`SealError`].
    #[tracing::instrument(level = "debug", skip_all)]
    #[allow(clippy::await_holding_invalid_type, reason = "docs/adr/0039")]
    pub async fn seal(
        self,
        object: impl Into<Uuid>,
        request: Request,
    ) -> Result<Outcome, SealError> {
        let object = object.into();
        let at = request
            .at
            .unwrap_or_else(|| Timestamp::from(annals_event_log::now()));
        // The key identifies what was requested, not the checksum that it led to.
        let canonical = canonical_request(std::slice::from_ref(&request))?;
        let _sealing = self.annals.sealing.lock().await;
        for _ in 0..ATTEMPTS {
            let (view, seen) = self.annals.view_and_place(object, At::Now).await?;
            let hashed = seal_hash(&view, at);
            let checksum = hashed.map_err(|error| ViewError::from(LoadError::Render(error)))?;
            let command = Command::from(Seal::new(object).with_checksum(checksum));
            let sealing = Request {
                command,
                at: Some(at),
                ..request.clone()
            };
            // Made only if nothing has happened to the object since it was viewed.
            let sealed = self
                .annals
                .execute_guarded(request.key, canonical.clone(), vec![sealing], vec![seen])
                .await;
            match sealed {
                Err(ExecuteError::Contended { .. }) => {}
                Err(error) => return Err(error.into()),
                Ok(batch) => return Ok(batch.only()?),
            }
        }
        Err(ExecuteError::Contended { attempts: ATTEMPTS }.into())
    }
}
