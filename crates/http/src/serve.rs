//! Accepting connections, and answering their requests until the server ends.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::connections::{Limits, Open, Ticket, Watched};
use crate::peer::Peer;

/// Bytes of a request's head.
const HEAD_BYTES: usize = 16 * 1024;
/// Headers of a request.
const HEADERS: usize = 64;
/// How often overdue connections are looked for.
const LOOK: Duration = Duration::from_secs(1);
/// The pause after a connection that could not be accepted.
const PAUSE: Duration = Duration::from_millis(100);

/// Waits until a server ends.
pub async fn ended(mut goes_on: watch::Receiver<bool>) {
    let _ = goes_on.wait_for(|goes_on| !goes_on).await;
}

/// Answers requests until `end` is done; what is being answered then has [`Limits::ending`]. `go_on` becomes `false` when
/// it ends, for answers that would go on for ever. Each request has its [`Peer`] as an extension.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    limits: Limits,
    go_on: &watch::Sender<bool>,
    end: impl Future<Output = ()>,
) {
    let open = Arc::new(Open::new(limits.clone()));
    let mut connections = JoinSet::new();
    let mut end = std::pin::pin!(end);
    let mut looks = tokio::time::interval(LOOK);
    loop {
        tokio::select! {
            () = &mut end => break,
            _ = looks.tick() => open.close_overdue(),
            Some(_) = connections.join_next() => {}
            accepted = listener.accept() => match accepted {
                Ok((stream, from)) => {
                    let ticket = open.enter(from.ip());
                    let (router, between) = (router.clone(), limits.between);
                    let goes_on = go_on.subscribe();
                    connections.spawn(answer(stream, from, router, between, ticket, goes_on));
                }
                // No more files, for example: those that are open end in time.
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
    }
    let _ = go_on.send(false);
    let all = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(limits.ending, all).await.is_err() {
        connections.shutdown().await;
    }
}

/// Answers the requests of one connection.
async fn answer(
    stream: TcpStream,
    from: SocketAddr,
    router: Router,
    between: Duration,
    ticket: Ticket,
    goes_on: watch::Receiver<bool>,
) {
    let _ = stream.set_nodelay(true);
    let to = stream.local_addr();
    let peer = Arc::new(Peer::new(from, to.unwrap_or(from)));
    let signs = Arc::clone(&ticket.signs);
    let router = TowerToHyperService::new(router);
    let service = service_fn(move |mut request: Request<Incoming>| {
        let working = signs.working();
        request.extensions_mut().insert(Arc::clone(&peer));
        let answer = router.call(request);
        async move {
            let answer = answer.await;
            drop(working);
            answer
        }
    });
    let stream = Watched::new(stream, &ticket.signs);
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(between)
        .max_headers(HEADERS)
        .max_buf_size(HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), service);
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
