//! Work on connections of a pool: tried again where that helps, and with a limit on this side, too.

use std::ops::Deref;
use std::time::Duration;

use deadpool_postgres::{ClientWrapper, Object, Pool};
use futures::future::BoxFuture;
use tokio_postgres::types::ToSql;

use crate::back_off::BackOff;
use crate::failure::Failure;
use crate::outcome::Failed;

/// What a server may be late beyond its own limit before the connection is given up.
const GRACE: Duration = Duration::from_secs(5);

/// The parameters of a statement.
pub(crate) type Parameters<'a> = &'a [&'a (dyn ToSql + Sync)];

/// A connection, for one piece of work.
pub(crate) struct Session(Object);

impl Deref for Session {
    type Target = ClientWrapper;

    fn deref(&self) -> &ClientWrapper {
        &self.0
    }
}

impl Session {
    /// Gives the connection back, or ends it where the work failed: nobody knows then what state it is in, and the
    /// server rolls back what was open.
    pub(crate) fn end(self, is_well: bool) {
        match is_well {
            true => drop(self.0),
            false => drop(Object::take(self.0)),
        }
    }
}

/// A pool of connections, and how patiently it is worked with.
pub(crate) struct Sessions {
    pool: Pool,
    limit: Duration,
    patience: Duration,
    /// Whether another server may take writes where this one does not.
    has_others: bool,
}

impl Sessions {
    pub(crate) fn new(
        pool: Pool,
        statement_timeout: Duration,
        patience: Duration,
        has_others: bool,
    ) -> Sessions {
        Sessions {
            pool,
            limit: statement_timeout + GRACE,
            patience,
            has_others,
        }
    }

    /// A connection.
    pub(crate) async fn session(&self) -> Result<Session, Failure> {
        Ok(Session(self.pool.get().await?))
    }

    /// How long a piece of work may take before its connection is given up.
    pub(crate) fn limit(&self) -> Duration {
        self.limit
    }

    /// Attempts for as long as this pool is patient.
    pub(crate) fn back_off(&self) -> BackOff {
        BackOff::new(self.patience)
    }

    /// Whether to try again after a failure.
    pub(crate) fn helps_again(&self, failure: &Failure) -> bool {
        failure.is_transient() || (self.has_others && matches!(failure, Failure::ReadOnly { .. }))
    }

    /// Has work done once.
    pub(crate) async fn once<T>(
        &self,
        work: &(impl for<'a> Fn(&'a Session) -> BoxFuture<'a, Result<T, Failed>> + Send + Sync),
    ) -> Result<T, Failed> {
        let session = self.session().await?;
        let done = tokio::time::timeout(self.limit, work(&session)).await;
        session.end(matches!(done, Ok(Ok(_))));
        // It may be within the commit that time ran out.
        done.unwrap_or_else(|_| {
            Err(Failed {
                failure: Failure::no_answer(self.limit),
                is_unknown: true,
            })
        })
    }

    /// Has work done that may be repeated, until it passes or patience ends. What may have been stored is not
    /// repeated.
    pub(crate) async fn run<T>(
        &self,
        work: impl for<'a> Fn(&'a Session) -> BoxFuture<'a, Result<T, Failed>> + Send + Sync,
    ) -> Result<T, Failure> {
        let mut back_off = self.back_off();
        loop {
            let failed = match self.once(&work).await {
                Ok(done) => return Ok(done),
                Err(failed) => failed,
            };
            let ends = failed.is_unknown || !self.helps_again(&failed.failure);
            if ends || !back_off.again().await {
                return Err(failed.failure);
            }
            let attempt = back_off.attempts();
            tracing::warn!(error = %failed.failure, attempt, "trying again");
        }
    }

    /// Lets no connection out any more.
    pub(crate) fn close(&self) {
        self.pool.close();
    }
}
