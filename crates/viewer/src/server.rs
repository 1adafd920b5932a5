//! Connections: how many, how long they may take, and how they end.
//!
//! A client that says nothing, or takes nothing, costs a socket and a few kilobytes, and only so many of them are there
//! at a time. When there are as many as there may be, the one goes that has been idle longest, so that who asks gets an
//! answer however many others only hold on.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use annals::Annals;
use annals::event_log::{Classification, Classified, ErrorClass};
use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, Semaphore, watch};
use tokio::task::JoinSet;

use crate::hosts::Hosts;
use crate::options::ViewerOptions;
use crate::routes::router;
use crate::searching::Searching;
use crate::state::{FOLLOWERS, Shared, ended};

/// How long the head of a request may take to come; also how long a connection may wait for its next one.
const HEAD: Duration = Duration::from_secs(10);
/// For how long nothing may be taken of an answer.
const IDLE: Duration = Duration::from_secs(30);
/// Bytes of a request's head.
const HEAD_BYTES: usize = 16 * 1024;
/// Headers of a request.
const HEADERS: usize = 64;
/// How long connections have to end by themselves, when the viewer ends.
const ENDING: Duration = Duration::from_secs(2);
/// How often it is looked for idle ones.
const LOOK: Duration = Duration::from_secs(1);
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
            hosts: Hosts::new(address, &options.hosts),
            token: options.token,
            cookie: format!("annals-{}", address.port()),
            checkpoint: options.checkpoint,
            turns: Shared::turns(),
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
        let open = Arc::new(Open::new());
        let mut connections = JoinSet::new();
        let mut end = std::pin::pin!(end);
        let mut looks = tokio::time::interval(LOOK);
        let mut looks_at_index = tokio::time::interval(LOOK_AT_INDEX);
        loop {
            tokio::select! {
                () = &mut end => break,
                _ = looks.tick() => open.close_idle(),
                _ = looks_at_index.tick() => self.shared.searching.let_go(),
                Some(_) = connections.join_next() => {}
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, _)) => {
                        let ticket = open.enter(self.most);
                        let router = self.router.clone();
                        let goes_on = self.go_on.subscribe();
                        connections.spawn(serve(stream, router, ticket, goes_on));
                    }
                    // No more files, for example: those that are open end in time.
                    Err(error) => {
                        tracing::warn!(%error, "a connection could not be accepted");
                        tokio::time::sleep(Duration::from_millis(100)).await;
                    }
                }
            }
        }
        let _ = self.go_on.send(false);
        let all = async { while connections.join_next().await.is_some() {} };
        if tokio::time::timeout(ENDING, all).await.is_err() {
            connections.shutdown().await;
        }
    }
}

/// Answers the requests of one connection.
async fn serve(stream: TcpStream, router: Router, ticket: Ticket, goes_on: watch::Receiver<bool>) {
    let _ = stream.set_nodelay(true);
    let stream = Watched {
        stream,
        signs: Arc::clone(&ticket.signs),
    };
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_headers(HEADERS)
        .max_buf_size(HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    let mut connection = std::pin::pin!(connection);
    let closed = tokio::select! {
        ended = connection.as_mut() => ended,
        () = ticket.signs.close.notified() => return,
        () = ended(goes_on) => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = closed {
        tracing::debug!(%error, "a connection ended early");
    }
}

/// The connections that are open.
#[derive(Debug)]
struct Open {
    began: Instant,
    signs: Mutex<Vec<Arc<Signs>>>,
}

/// The signs of life of one connection.
#[derive(Debug)]
struct Signs {
    began: Instant,
    /// When bytes went last, in milliseconds since then.
    last: AtomicU64,
    close: Notify,
}

/// A connection's place among those that are open, which it leaves when it ends.
struct Ticket {
    open: Arc<Open>,
    signs: Arc<Signs>,
}

impl Open {
    fn new() -> Open {
        Open {
            began: Instant::now(),
            signs: Mutex::new(Vec::new()),
        }
    }

    /// Makes room for one more, if need be, in the place of the one that has been idle longest.
    fn enter(self: &Arc<Open>, most: usize) -> Ticket {
        let signs = Arc::new(Signs {
            began: self.began,
            last: AtomicU64::new(0),
            close: Notify::new(),
        });
        signs.show();
        let mut all = self.signs.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= most {
            let idlest = all.iter().enumerate();
            let idlest = idlest.min_by_key(|(_, one)| one.last.load(Ordering::Relaxed));
            if let Some((place, _)) = idlest {
                all.swap_remove(place).close.notify_one();
            }
        }
        all.push(Arc::clone(&signs));
        Ticket {
            open: Arc::clone(self),
            signs,
        }
    }

    fn close_idle(&self) {
        let all = self.signs.lock().unwrap_or_else(PoisonError::into_inner);
        for one in all.iter().filter(|one| one.idle_for() > IDLE) {
            one.close.notify_one();
        }
    }
}

impl Signs {
    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn show(&self) {
        self.last.store(self.now(), Ordering::Relaxed);
    }

    fn idle_for(&self) -> Duration {
        let last = self.last.load(Ordering::Relaxed);
        Duration::from_millis(self.now().saturating_sub(last))
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let all = &self.open.signs;
        let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|one| !Arc::ptr_eq(one, &self.signs));
    }
}

/// A connection that shows signs of life when bytes go through it.
#[derive(Debug)]
struct Watched {
    stream: TcpStream,
    signs: Arc<Signs>,
}

impl AsyncRead for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if read.is_ready() {
            self.signs.show();
        }
        read
    }
}

impl AsyncWrite for Watched {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        if written.is_ready() {
            self.signs.show();
        }
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
