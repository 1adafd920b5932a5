//! Work on connections of a pool: tried again where that helps, and with a limit on this side, too.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use deadpool_postgres::{ClientWrapper, Object, Pool};
use futures::future::BoxFuture;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use crate::back_off::BackOff;
use crate::failure::Failure;
use crate::metrics::Metrics;
use crate::outcome::Failed;
use crate::settings::Settings;

/// What a server may be late beyond its own limit before the connection is given up.
const GRACE: Duration = Duration::from_secs(5);

/// The parameters of a statement.
pub(crate) type Parameters<'a> = &'a [&'a (dyn ToSql + Sync)];

/// What comes of a step, if it is not too late.
pub(crate) async fn within<T, E: From<Failure>>(
    limit: Duration,
    step: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    let done = tokio::time::timeout(limit, step).await;
    done.unwrap_or_else(|_| Err(Failure::no_answer(limit).into()))
}

/// A connection, for one piece of work.
pub(crate) struct Session {
    client: Object,
    warnings: Arc<AtomicU64>,
    limit: Duration,
}

impl Deref for Session {
    type Target = ClientWrapper;

    fn deref(&self) -> &ClientWrapper {
        &self.client
    }
}

impl Session {
    /// Gives the connection back, or ends it where the work failed: what state it is in is not known then, and the
    /// server rolls back what was open.
    pub(crate) fn end(self, is_well: bool) {
        match is_well {
            true => drop(self.client),
            false => drop(Object::take(self.client)),
        }
    }

    /// How long a piece of work may take.
    pub(crate) fn limit(&self) -> Duration {
        self.limit
    }

    /// Waits for one step of longer work, as long as a piece of work may take.
    pub(crate) async fn within<T, E: Into<Failed>>(
        &self,
        step: impl Future<Output = Result<T, E>>,
    ) -> Result<T, Failed> {
        within(self.limit, async { step.await.map_err(Into::into) }).await
    }

    /// Has a statement executed as such a step.
    pub(crate) async fn execute_within(
        &self,
        text: &str,
        parameters: Parameters<'_>,
    ) -> Result<u64, Failed> {
        let executed = async {
            let statement = self.prepare_cached(text).await?;
            self.execute(&statement, parameters).await
        };
        self.within(executed).await
    }

    /// The rows of a statement, asked for as such a step.
    pub(crate) async fn query_within(
        &self,
        text: &str,
        parameters: Parameters<'_>,
    ) -> Result<Vec<Row>, Failed> {
        let queried = async {
            let statement = self.prepare_cached(text).await?;
            self.query(&statement, parameters).await
        };
        self.within(queried).await
    }

    /// The same with a step that commits: where no answer comes, its outcome is not known.
    pub(crate) async fn commit_within<T>(
        &self,
        step: impl Future<Output = Result<T, Failed>>,
    ) -> Result<T, Failed> {
        match tokio::time::timeout(self.limit, step).await {
            Ok(done) => done,
            Err(_) => Err(Failed::no_answer(self.limit)),
        }
    }

    /// How many commits were cut short on the connections of this pool. Ask before a commit is sent.
    pub(crate) fn warnings(&self) -> u64 {
        self.warnings.load(Ordering::Acquire)
    }

    /// Demands that none was since: otherwise it is not known whether the standbys have this one.
    pub(crate) fn demand_no_warning(&self, before: u64) -> Result<(), Failed> {
        match self.warnings() == before {
            true => Ok(()),
            false => Err(Failed {
                failure: Failure::CutShort {
                    detail: "somebody cancelled it (pg_cancel_backend)".to_owned(),
                },
                is_unknown: true,
            }),
        }
    }
}

/// A pool of connections, and how patiently it is worked with.
pub(crate) struct Sessions {
    pool: Pool,
    warnings: Arc<AtomicU64>,
    limit: Duration,
    /// How long it may take to get a connection: to wait for one, to make one, and to set it up.
    connecting: Duration,
    patience: Duration,
    /// Whether another server may take writes where this one does not.
    has_others: bool,
    metrics: Metrics,
}

impl Sessions {
    pub(crate) fn new(
        (pool, warnings): (Pool, Arc<AtomicU64>),
        connecting: Duration,
        settings: &Settings,
        metrics: Metrics,
    ) -> Sessions {
        Sessions {
            pool,
            warnings,
            connecting,
            limit: settings.statement_timeout + GRACE,
            patience: settings.patience,
            has_others: settings.has_several_hosts(),
            metrics,
        }
    }

    /// A connection.
    pub(crate) async fn session(&self) -> Result<Session, Failure> {
        Ok(Session {
            client: self.client().await?,
            warnings: Arc::clone(&self.warnings),
            limit: self.limit,
        })
    }

    async fn client(&self) -> Result<Object, Failure> {
        let got = tokio::time::timeout(self.connecting, self.pool.get()).await;
        match got {
            Ok(client) => Ok(client?),
            Err(_) => Err(Failure::Unreachable {
                detail: "it takes the connection and does not answer".to_owned(),
            }),
        }
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

    /// Has work done once, which may take so long once there is a connection.
    pub(crate) async fn once<T>(
        &self,
        limit: Duration,
        work: &(impl for<'a> Fn(&'a Session) -> BoxFuture<'a, Result<T, Failed>> + Send + Sync),
    ) -> Result<T, Failed> {
        let session = self.session().await?;
        let done = tokio::time::timeout(limit, work(&session)).await;
        session.end(matches!(done, Ok(Ok(_))));
        // It may be within the commit that time ran out.
        done.unwrap_or_else(|_| Err(Failed::no_answer(limit)))
    }

    /// Has work done once, and not waited for any longer than this: a connection that is made meanwhile is counted.
    pub(crate) async fn soon<T>(
        &self,
        limit: Duration,
        work: impl for<'a> Fn(&'a Session) -> BoxFuture<'a, Result<T, Failed>> + Send + Sync,
    ) -> Result<T, Failed> {
        let ends = tokio::time::Instant::now() + limit;
        let session = tokio::time::timeout_at(ends, self.session()).await;
        let session = session.unwrap_or_else(|_| Err(Failure::no_answer(limit)))?;
        let done = tokio::time::timeout_at(ends, work(&session)).await;
        session.end(matches!(done, Ok(Ok(_))));
        done.unwrap_or_else(|_| Err(Failed::no_answer(limit)))
    }

    /// Has work done that may be repeated, until it passes or patience ends. Rows of read models may be: a commit that
    /// was made is found as that of a faster process.
    pub(crate) async fn run<T>(
        &self,
        work: impl for<'a> Fn(&'a Session) -> BoxFuture<'a, Result<T, Failed>> + Send + Sync,
    ) -> Result<T, Failure> {
        self.run_steps(1, work).await
    }

    /// The same with work of several steps, each of which has the limit of one.
    pub(crate) async fn run_steps<T>(
        &self,
        steps: u32,
        work: impl for<'a> Fn(&'a Session) -> BoxFuture<'a, Result<T, Failed>> + Send + Sync,
    ) -> Result<T, Failure> {
        let mut back_off = self.back_off();
        loop {
            let failed = match self.once(self.limit * steps, &work).await {
                Ok(done) => return Ok(done),
                Err(failed) => failed,
            };
            if !self.helps_again(&failed.failure) || !back_off.again().await {
                return Err(failed.failure);
            }
            let attempt = back_off.attempts();
            self.metrics.again("read");
            if back_off.is_to_say() {
                tracing::warn!(error = %failed.failure, attempt, "trying again");
            }
        }
    }

    /// Lets no connection out any more.
    pub(crate) fn close(&self) {
        self.pool.close();
    }
}
