//! Starting the viewer, and answering until it ends.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use annals::Annals;
use annals::event_log::{Classification, Classified, ErrorClass};
use annals_http::{Hosts, Limits, serve};
use axum::Router;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};

use crate::inbox_count::InboxCount;
use crate::options::ViewerOptions;
use crate::routes::router;
use crate::searching::Searching;
use crate::state::{FOLLOWERS, Shared};

/// How often it looks whether the search index that it has open was removed.
const LOOK_AT_INDEX: Duration = Duration::from_secs(5);

/// Why there is no viewer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ViewerError {
    /// The address is not this machine's own, and there is no token.
    #[error(
        "{address} can be reached by others: a token is needed, so that not everybody can read the log"
    )]
    NotLoopback {
        /// The address.
        address: SocketAddr,
    },
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What failed.
        #[source]
        source: io::Error,
    },
}

impl Classified for ViewerError {
    fn classify(&self) -> Classification {
        match self {
            ViewerError::NotLoopback { .. } => ErrorClass::Refused.code("not_loopback"),
            ViewerError::Listen { .. } => ErrorClass::Failed.code("listen"),
        }
    }
}

/// A viewer that listens. [`Viewer::run`] answers.
#[derive(Debug)]
pub struct Viewer {
    listener: TcpListener,
    address: SocketAddr,
    router: Router,
    shared: Arc<Shared>,
    most: usize,
    go_on: watch::Sender<bool>,
}

impl Viewer {
    /// Listens. The log should be open for reading only: nothing is written.
    ///
    /// # Errors
    /// [`ViewerError`].
    pub async fn start(annals: Annals, options: ViewerOptions) -> Result<Viewer, ViewerError> {
        let address = options.address;
        if !address.ip().is_loopback() && options.token.is_none() {
            return Err(ViewerError::NotLoopback { address });
        }
        let failed = |source| ViewerError::Listen { address, source };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let (go_on, goes_on) = watch::channel(true);
        let shared = Shared {
            searching: Searching::new(&annals, options.folder.as_deref()),
            annals,
            inbox_count: InboxCount::default(),
            hosts: Hosts::new(address, &options.hosts),
            token: options.token,
            cookie: format!("annals-{}", address.port()),
            checkpoint: options.checkpoint,
            turns: Shared::turns(),
            files: Shared::files(),
            followers: Semaphore::new(FOLLOWERS),
            goes_on,
        };
        let shared = Arc::new(shared);
        Ok(Viewer {
            listener,
            address,
            router: router(Arc::clone(&shared)),
            shared,
            most: options.connections.max(1),
            go_on,
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers requests until `end` is done; what is being answered then may take a moment more.
    pub async fn run(self, end: impl Future<Output = ()>) {
        let shared = Arc::clone(&self.shared);
        // The first conversation is not to wait for the syntaxes of code.
        tokio::task::spawn_blocking(crate::code::warm_up);
        let limits = Limits::new(self.most);
        tokio::select! {
            () = serve(self.listener, self.router, limits, &self.go_on, end) => {}
            () = look_at_index(&shared) => {}
        }
    }
}

/// Closes the search index once it was removed.
async fn look_at_index(shared: &Shared) {
    let mut looks = tokio::time::interval(LOOK_AT_INDEX);
    loop {
        looks.tick().await;
        shared.searching.let_go();
    }
}
