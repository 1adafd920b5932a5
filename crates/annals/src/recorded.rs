//! Recording what another system says happened there: it is kept as it was, and
//! never judged again.

use annals_domain::{ActorRef, Emitted, StreamRef, Timestamp};
use annals_event_log::{AppendError, Position, Version};
use uuid::Uuid;

use crate::prepared::{Prepared, still_at};
use crate::{ExecuteError, Imports};

/// One event that another system says happened.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedEvent {
    /// Its own id there.
    pub id: Uuid,
    /// When it happened, as far as the recording says: the stream of a contracts
    /// session has no times, and gets that of its import.
    pub at: Timestamp,
    /// What happened.
    pub emitted: Emitted,
}

impl Imports<'_> {
    /// Appends events to streams that another system kept, in their order and
    /// together, if nothing else was appended to these streams meanwhile: `after`
    /// has the version of each that the caller knows.
    ///
    /// # Errors
    /// [`ExecuteError::Contended`] if something came between, [`ExecuteError::Refused`] if the importer
    /// ([`Annals::imported_by`](crate::Annals::imported_by)) may not bring one of them, and what the log
    /// says. Nothing is recorded then.
    pub async fn record(
        self,
        after: &[(StreamRef, Version)],
        actor: &ActorRef,
        recorded: &[RecordedEvent],
    ) -> Result<Position, ExecuteError> {
        let streams = || after.iter().map(|(stream, _)| *stream);
        let _turn = self
            .annals
            .locks
            .turn(streams().map(|stream| stream.id).collect())
            .await;
        let mut prepared = Prepared::default();
        let actor = self.annals.recorded_actor(actor);
        for one in recorded {
            let checked = self.annals.check_importer(&one.emitted.event);
            checked.map_err(ExecuteError::import)?;
            prepared.add(&one.emitted, one.id, one.at, &actor)?;
        }
        let expectations = after
            .iter()
            .map(|(stream, version)| still_at(*stream, *version));
        let append = prepared.append(expectations.collect());
        let appended = self.annals.log.append(append).await;
        self.annals.note_append(&appended);
        self.annals.states.forget(streams());
        match appended {
            Ok(appended) => {
                self.annals.keep_up().await;
                Ok(appended.last)
            }
            Err(AppendError::Conflict { .. }) => Err(ExecuteError::Contended { attempts: 1 }),
            Err(error) => Err(ExecuteError::Append(error)),
        }
    }
}
