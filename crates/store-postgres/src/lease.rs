//! What one process does for all of a log, such as keeping a shared read model current: it holds a lease, a row with
//! an end in time by the server's clock, and another takes over when it is not renewed.

use std::sync::Arc;
use std::time::Duration;

use annals_event_log::ReadError;
use futures::future::BoxFuture;
use futures::try_join;
use tokio::runtime::Handle;
use tokio::task::unconstrained;
use uuid::Uuid;

use crate::outcome::Failed;
use crate::sessions::{Parameters, Session};
use crate::shared::Shared;

/// How long to ask for a lease, or to give one back.
const PATIENCE: Duration = Duration::from_secs(2);

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

    /// Takes the lease or renews it, from now on for as long as it lasts; `false` where another process has it. It is
    /// asked for once, and for no longer than two seconds: to lead is worth no wait.
    ///
    /// # Errors
    /// [`ReadError`].
    pub async fn take(&self) -> Result<bool, ReadError> {
        let lasts = i64::try_from(self.lasts.as_millis()).unwrap_or(i64::MAX);
        let (name, holder) = (self.name.clone(), self.holder);
        let taken = self.ask(move |shared, session| {
            let name = name.clone();
            Box::pin(async move {
                let parameters: Parameters<'_> =
                    &[&shared.log, &name, &holder, &lasts, &shared.log_id];
                write(session, &shared.sql.take_lease, parameters).await
            })
        });
        Ok(taken.await? == 1)
    }

    /// Gives the lease back, so that another process need not wait for its end.
    ///
    /// # Errors
    /// [`ReadError`]; it ends by itself then.
    pub async fn give_back(&self) -> Result<(), ReadError> {
        let (name, holder) = (self.name.clone(), self.holder);
        let given = self.ask(move |shared, session| {
            let name = name.clone();
            Box::pin(async move {
                let parameters: Parameters<'_> = &[&shared.log, &name, &holder];
                write(session, &shared.sql.end_lease, parameters).await
            })
        });
        given.await.map(drop)
    }

    async fn ask(
        &self,
        asked: impl for<'a> Fn(Arc<Shared>, &'a Session) -> BoxFuture<'a, Result<u64, Failed>>
        + Send
        + Sync
        + 'static,
    ) -> Result<u64, ReadError> {
        let shared = Arc::clone(&self.shared);
        let answer = self.handle.spawn(async move {
            let of_call = Arc::clone(&shared);
            let asking = shared.sessions.soon(PATIENCE, move |session| {
                asked(Arc::clone(&of_call), session)
            });
            asking.await
        });
        let answer = unconstrained(answer).await;
        let answer = answer.map_err(|_| ReadError::Closed)?;
        Ok(answer.map_err(|failed| failed.failure)?)
    }
}

/// Changes a lease's row, and waits for no standby: a lease that is lost in a fail-over is taken again.
async fn write(session: &Session, text: &str, parameters: Parameters<'_>) -> Result<u64, Failed> {
    let statement = session.prepare_cached(text).await?;
    let ((), changed, ()) = try_join!(
        session.batch_execute(
            "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL synchronous_commit = off"
        ),
        session.execute(&statement, parameters),
        session.batch_execute("COMMIT"),
    )?;
    Ok(changed)
}
