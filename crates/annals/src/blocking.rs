//! The same for programs without an async runtime.

use annals_domain::ActorRef;
use annals_event_log::{Position, ReadError, Record, Stats};
use annals_projections::{HistoryEntry, ObjectView, View};
use futures::StreamExt;
use futures::executor::{BlockingStream, block_on, block_on_stream};
use futures::stream::BoxStream;
use uuid::Uuid;

use crate::{
    At, BatchOutcome, ExecuteError, ObjectRef, OpenError, OpenOptions, Outcome, Request, ViewError,
};

/// A log whose operations block the calling thread. Do not call them from a
/// task of an async runtime: use [`crate::Annals`] there.
#[derive(Debug, Clone)]
pub struct Annals {
    inner: crate::Annals,
}

impl Annals {
    /// As [`crate::Annals::open`].
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn open(url: &str) -> Result<Annals, OpenError> {
        OpenOptions::new().create(true).open(url).map(Annals::from)
    }

    /// The log behind it.
    pub fn inner(&self) -> &crate::Annals {
        &self.inner
    }

    /// As [`crate::Annals::execute`].
    ///
    /// # Errors
    /// [`ExecuteError`].
    pub fn execute(&self, request: Request) -> Result<Outcome, ExecuteError> {
        block_on(self.inner.execute(request))
    }

    /// As [`crate::Annals::execute_batch`].
    ///
    /// # Errors
    /// [`ExecuteError`].
    pub fn execute_batch(
        &self,
        key: Option<Uuid>,
        requests: Vec<Request>,
    ) -> Result<BatchOutcome, ExecuteError> {
        block_on(self.inner.execute_batch(key, requests))
    }

    /// Runs any of the flow's helpers: `annals.by(&actor, |me| me.submit("..."))`
    /// has no blocking variant; this waits for its future.
    pub fn wait<T>(&self, future: impl Future<Output = T>) -> T {
        block_on(future)
    }

    /// The flow's helpers, to be waited for with [`Annals::wait`].
    pub fn by<'a>(&'a self, actor: &'a ActorRef) -> crate::As<'a> {
        self.inner.by(actor)
    }

    /// As [`crate::Annals::resolve`].
    ///
    /// # Errors
    /// [`ViewError`].
    pub fn resolve(&self, id: &str) -> Result<ObjectRef, ViewError> {
        block_on(self.inner.resolve(id))
    }

    /// As [`crate::Annals::view_at`].
    ///
    /// # Errors
    /// [`ViewError`].
    pub fn view_at(&self, id: impl Into<Uuid>, at: At) -> Result<ObjectView, ViewError> {
        block_on(self.inner.view_at(id, at))
    }

    /// As [`crate::Annals::get_at`].
    ///
    /// # Errors
    /// [`ViewError`].
    pub fn get_at<V: View>(&self, id: V::Id, at: At) -> Result<V, ViewError> {
        block_on(self.inner.get_at(id, at))
    }

    /// As [`crate::Annals::history`].
    ///
    /// # Errors
    /// [`ViewError`].
    pub fn history(&self, id: impl Into<Uuid>) -> Result<Vec<HistoryEntry>, ViewError> {
        block_on(self.inner.history(id))
    }

    /// As [`crate::Annals::subscribe`]; the iterator blocks at the end of the
    /// log until more comes.
    pub fn subscribe(
        &self,
        after: Position,
    ) -> BlockingStream<BoxStream<'static, Result<Record, ReadError>>> {
        block_on_stream(self.inner.subscribe(after).boxed())
    }

    /// As [`crate::Annals::stats`].
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn stats(&self) -> Result<Stats, ReadError> {
        block_on(self.inner.stats())
    }

    /// As [`crate::Annals::close`].
    pub fn close(&self) {
        block_on(self.inner.close());
    }
}

impl From<crate::Annals> for Annals {
    fn from(inner: crate::Annals) -> Annals {
        Annals { inner }
    }
}
