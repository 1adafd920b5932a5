//! What all requests share.

use std::path::PathBuf;
use std::sync::Arc;

use annals::Annals;
use annals_http::{Hosts, Token};
use tokio::sync::{Semaphore, watch};

use crate::inbox_count::InboxCount;
use crate::searching::Searching;

/// So many requests are answered at a time; others wait. It bounds what folds take of memory.
const AT_ONCE: usize = 8;
/// So many pages follow the log at a time.
pub(crate) const FOLLOWERS: usize = 64;

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) annals: Annals,
    pub(crate) hosts: Hosts,
    pub(crate) token: Option<Token>,
    /// The name of the cookie that has the token: cookies are of all ports of a host.
    pub(crate) cookie: String,
    /// A checkpoint that is kept outside of the log.
    pub(crate) checkpoint: Option<PathBuf>,
    pub(crate) searching: Searching,
    pub(crate) inbox_count: InboxCount,
    pub(crate) turns: Semaphore,
    /// Whole conversations as files: one at a time, as each takes seconds and much memory.
    pub(crate) files: Arc<Semaphore>,
    pub(crate) followers: Semaphore,
    /// Whether the viewer goes on.
    pub(crate) goes_on: watch::Receiver<bool>,
}

impl Shared {
    pub(crate) fn turns() -> Semaphore {
        Semaphore::new(AT_ONCE)
    }

    pub(crate) fn files() -> Arc<Semaphore> {
        Arc::new(Semaphore::new(1))
    }
}
