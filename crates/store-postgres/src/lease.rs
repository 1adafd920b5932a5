//! What one process does for all of a log, such as keeping a shared read model current: it holds a lease, a row with
//! an end in time by the server's clock, and another takes over when it is not renewed.

use std::sync::Arc;
use std::time::Duration;

use annals_event_log::ReadError;
use tokio::runtime::Handle;
use tokio::task::unconstrained;
use uuid::Uuid;

use crate::shared::Shared;

/// One process's place in line for a lease. It holds nothing until [`Lease::take`] says so.
///
/// A lease keeps work from being done twice for nothing. It is no lock: who holds one may be stopped for longer than it
/// lasts. Let what is written be checked where it is written, as commits of read models are by their
/// checkpoint.
pub struct Lease {
    shared: Arc<Shared>,
    handle: Handle,
    name: String,
    holder: Uuid,
    lasts: Duration,
}

impl std::fmt::Debug for Lease {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lease")
            .field("name", &self.name)
            .field("holder", &self.holder)
            .field("lasts", &self.lasts)
            .finish_non_exhaustive()
    }
}

impl Lease {
    pub(crate) fn new(shared: Arc<Shared>, handle: Handle, name: &str, lasts: Duration) -> Lease {
        Lease {
            shared,
            handle,
            name: name.to_owned(),
            holder: Uuid::new_v4(),
            lasts,
        }
    }

    /// Takes the lease or renews it, from now on for as long as it lasts; `false` where another process has it.
    ///
    /// # Errors
    /// [`ReadError`].
    pub async fn take(&self) -> Result<bool, ReadError> {
        let lasts = i64::try_from(self.lasts.as_millis()).unwrap_or(i64::MAX);
        let (shared, name, holder) = (Arc::clone(&self.shared), self.name.clone(), self.holder);
        let taken = self.handle.spawn(async move {
            let (sessions, asked) = (&shared.sessions, &shared);
            let taken = sessions.run(|session| {
                let (shared, name) = (Arc::clone(asked), name.clone());
                Box::pin(async move {
                    let take = session.prepare_cached(&shared.sql.take_lease).await?;
                    let taken = session
                        .execute(&take, &[&shared.log, &name, &holder, &lasts])
                        .await?;
                    Ok(taken == 1)
                })
            });
            taken.await
        });
        Ok(unconstrained(taken)
            .await
            .map_err(|_| ReadError::Closed)??)
    }

    /// Gives the lease back, so that another process need not wait for its end.
    ///
    /// # Errors
    /// [`ReadError`].
    pub async fn give_back(&self) -> Result<(), ReadError> {
        let (shared, name, holder) = (Arc::clone(&self.shared), self.name.clone(), self.holder);
        let given = self.handle.spawn(async move {
            let (sessions, asked) = (&shared.sessions, &shared);
            let given = sessions.run(|session| {
                let (shared, name) = (Arc::clone(asked), name.clone());
                Box::pin(async move {
                    let end = session.prepare_cached(&shared.sql.end_lease).await?;
                    session
                        .execute(&end, &[&shared.log, &name, &holder])
                        .await?;
                    Ok(())
                })
            });
            given.await
        });
        Ok(unconstrained(given)
            .await
            .map_err(|_| ReadError::Closed)??)
    }
}
