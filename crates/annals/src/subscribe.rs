//! The log as a stream: all that is there, then all that comes.

use std::sync::Arc;

use annals_domain::StreamRef;
use annals_event_log::{Position, ReadError, Record, Version};
use annals_wire::stream_name;
use futures::Stream;

use crate::{Annals, follow};

impl Annals {
    /// Every record after `after`, in order, each exactly once: first what is
    /// there, then what comes. It never ends by itself; it ends with
    /// [`ReadError::Closed`] when the log is closed.
    ///
    /// Any number of subscribers may read, each at its own pace: they pull
    /// pages, and none of them holds back a writer.
    pub fn subscribe(
        &self,
        after: Position,
    ) -> impl Stream<Item = Result<Record, ReadError>> + Send + use<> {
        follow::log(Arc::clone(&self.log), after)
    }

    /// Every record of one stream after `after`, in order, each exactly once:
    /// first what is there, then what comes. It never ends by itself; it ends
    /// with [`ReadError::Closed`] when the log is closed. Like
    /// [`Annals::subscribe`], it does not slow down writers.
    pub fn subscribe_to(
        &self,
        stream: StreamRef,
        after: Version,
    ) -> impl Stream<Item = Result<Record, ReadError>> + Send + use<> {
        follow::stream(Arc::clone(&self.log), stream_name(stream), after)
    }
}
