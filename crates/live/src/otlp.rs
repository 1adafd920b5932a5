//! A receiver of OpenTelemetry: logs and traces of agents over HTTP, as JSON and as protobuf.
//!
//! It answers when what it was given is on disk, and not before; so an exporter that gets no answer sends again, and
//! what was recorded is not recorded twice.
//!
//! ```text
//! connection -> guard (name, origin, token or user) -> body (size, rate) -> turn -> bounds -> signals -> recorder
//! ```
//!
//! Each step is bounded before the next one allocates: `annals_http` bounds connections and bodies, `bounds.rs` what a body
//! holds, `turns.rs` how many bodies are decoded at a time, and the recorder takes part after part.

mod answer;
mod bounds;
mod meaning;
mod packed;
mod recorder;
mod signal;
mod turns;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use annals::event_log::{Classification, Classified, ErrorClass};
use annals_dialects::live::{LiveAgent, Telling};
use annals_dialects::secrets::Secrets;
use annals_http::{Bodies, BodyError, BodyLimits, Browsing, Hosts, Limits, Peer, PeerUser, serve};
use axum::Router;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use axum::routing::post;
use tokio::net::TcpListener;
use tokio::sync::watch;

use self::answer::{Encoding, Kind, refuse};
use self::packed::Packed;
pub use self::recorder::RecordError;
use self::recorder::Recorder;
use self::signal::InvalidBody;
use self::turns::Turns;
use crate::bell::Listener;
use crate::spool::Spool;
pub use annals_http::Token;

/// The largest body of a request, packed or not.
const LARGEST: usize = 8 * 1024 * 1024;

/// Connections at a time.
const CONNECTIONS: usize = 256;

/// How long a connection may wait for its next request: exporters send every few seconds, or once in a minute.
const BETWEEN: Duration = Duration::from_secs(75);

/// For how long no byte may go, which is how long an answer may take.
const IDLE: Duration = Duration::from_secs(300);

/// How often the spool is looked into, where no bell is rung.
const TO_LOOK: Duration = Duration::from_secs(2);

/// How long requests may take that are under way when it ends.
const TO_END: Duration = Duration::from_secs(3);

/// Why the receiver does not run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OtlpError {
    /// The address is not this machine's own, and there is no token.
    #[error(
        "{address} can be reached by others: give --token-file, so that not everybody can write to the log"
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
        source: std::io::Error,
    },
    /// The log cannot be written.
    #[error(transparent)]
    Record(#[from] RecordError),
}

impl Classified for OtlpError {
    fn classify(&self) -> Classification {
        match self {
            OtlpError::NotLoopback { .. } => ErrorClass::Refused.code("not_loopback"),
            OtlpError::Listen { .. } => ErrorClass::Failed.code("listen"),
            OtlpError::Record(error) => error.classify(),
        }
    }
}

/// How telemetry is received.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct OtlpOptions {
    /// Where to listen.
    pub address: SocketAddr,
    /// The bearer token of requests. Without one, only this user and root can write.
    pub token: Option<Token>,
    /// Names besides its address by which it is reached, such as that of a proxy before it.
    pub hosts: Vec<String>,
    /// What is taken out.
    pub secrets: Secrets,
}

impl OtlpOptions {
    /// To listen at an address, for this user of this machine alone.
    pub fn new(address: SocketAddr) -> OtlpOptions {
        OtlpOptions {
            address,
            token: None,
            hosts: Vec::new(),
            secrets: Secrets::standard(),
        }
    }
}

/// A receiver that listens.
#[derive(Debug)]
pub struct OtlpReceiver {
    listener: TcpListener,
    state: Arc<Shared>,
    /// None beside a log in memory.
    spool: Option<Spool>,
}

#[derive(Debug)]
struct Shared {
    hosts: Hosts,
    token: Option<Token>,
    secrets: Secrets,
    bodies: Bodies,
    turns: Turns,
    recorder: Recorder,
}

impl OtlpReceiver {
    /// Listens, and opens the log that `--log` names.
    ///
    /// # Errors
    /// [`OtlpError`].
    pub async fn start(log: &str, options: OtlpOptions) -> Result<OtlpReceiver, OtlpError> {
        let address = options.address;
        if !address.ip().is_loopback() && options.token.is_none() {
            return Err(OtlpError::NotLoopback { address });
        }
        let listener = TcpListener::bind(address).await;
        let failed = |source| OtlpError::Listen { address, source };
        let listener = listener.map_err(failed)?;
        let bound = listener.local_addr().map_err(failed)?;
        let recorder = Recorder::start(log.to_owned(), options.secrets.clone())?;
        let state = Shared {
            hosts: Hosts::new(bound, &options.hosts),
            token: options.token,
            secrets: options.secrets,
            bodies: Bodies::new(BodyLimits::new(LARGEST)),
            turns: Turns::new(),
            recorder,
        };
        Ok(OtlpReceiver {
            listener,
            state: Arc::new(state),
            spool: Spool::of(log).ok(),
        })
    }

    /// Where it listens.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Answers requests until `end` is done, and closes the log then.
    ///
    /// # Errors
    /// Those of the operating system.
    pub async fn run(self, end: impl Future<Output = ()> + Send + 'static) -> std::io::Result<()> {
        let state = self.state;
        let router = Router::new()
            .route("/v1/logs", post(logs))
            .route("/v1/traces", post(traces))
            .layer(from_fn_with_state(Arc::clone(&state), guard))
            .with_state(Arc::clone(&state));
        let mut limits = Limits::new(CONNECTIONS);
        limits.between = BETWEEN;
        limits.idle = IDLE;
        limits.ending = TO_END;
        let (go_on, _) = watch::channel(true);
        tokio::select! {
            () = serve(self.listener, router, limits, &go_on, end) => {}
            () = listen(self.spool, &state.recorder) => {}
        }
        state.recorder.end();
        Ok(())
    }
}

/// Has what hooks put into the spool taken in at once, for as long as it is waited for.
async fn listen(spool: Option<Spool>, recorder: &Recorder) {
    let Some(spool) = spool else {
        return std::future::pending().await;
    };
    let mut bell = Listener::new(spool);
    let mut looks = tokio::time::interval(TO_LOOK);
    let mut is_said = false;
    loop {
        if let Err(error) = bell.hang()
            && !std::mem::replace(&mut is_said, true)
        {
            tracing::warn!(%error, "hooks are taken in now and then only");
        }
        tokio::select! {
            () = bell.rung() => {}
            _ = looks.tick() => {}
        }
        recorder.look();
    }
}

/// Lets a request through to what answers it, if it may write.
async fn guard(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    match admit(&shared, &request) {
        Ok(()) => next.run(request).await,
        Err((status, reason)) => refuse(Encoding::of(request.headers()), status, &reason),
    }
}

/// Refuses what must not write: requests under another name, of pages of other sites, and of other users without the
/// token.
fn admit(shared: &Shared, request: &Request) -> Result<(), (StatusCode, String)> {
    let (uri, headers) = (request.uri(), request.headers());
    let named = shared.hosts.check(uri, headers, Browsing::Nothing);
    named.map_err(|refused| (refused.status(), refused.to_string()))?;
    let expected = "a bearer token is expected: send it as Authorization: Bearer TOKEN";
    if let Some(token) = &shared.token {
        return match token.is_bearer_of(headers) {
            true => Ok(()),
            false => Err((StatusCode::UNAUTHORIZED, expected.to_owned())),
        };
    }
    let peer = request.extensions().get::<Arc<Peer>>();
    let whose = match peer.map_or(PeerUser::Unknown, |peer| peer.user()) {
        PeerUser::Own => return Ok(()),
        PeerUser::Other(user) => format!("this connection is that of user {user}"),
        // Only Linux has a table of sockets with their users.
        _ if !cfg!(target_os = "linux") => return Ok(()),
        _ => "the user of this connection is not known".to_owned(),
    };
    let hint =
        "without a token only the user of `annals record` can write: start it with --token-file";
    Err((StatusCode::UNAUTHORIZED, format!("{whose}; {hint}")))
}

async fn logs(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    take(shared, Kind::Logs, request).await
}

async fn traces(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    take(shared, Kind::Traces, request).await
}

/// Takes a request, and answers when it is on disk.
async fn take(shared: Arc<Shared>, kind: Kind, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let encoding = Encoding::of(&head.headers);
    let (Some(encoding), Some(packed)) = (encoding, Packed::of(&head.headers)) else {
        let expected =
            "expected application/json or application/x-protobuf, with gzip or no compression";
        return refuse(encoding, StatusCode::UNSUPPORTED_MEDIA_TYPE, expected);
    };
    match recorded(&shared, (kind, encoding, packed), body).await {
        Ok(refused) => answer::accepted(kind, encoding, refused),
        Err((status, reason)) => refuse(Some(encoding), status, &reason),
    }
}

/// Records what a body tells: how many of its signals the log cannot have, or why it was not recorded.
async fn recorded(
    shared: &Arc<Shared>,
    (kind, encoding, packed): (Kind, Encoding, Packed),
    body: axum::body::Body,
) -> Result<usize, (StatusCode, String)> {
    let mut body = shared.bodies.read(body).await.map_err(unread)?;
    // What is unpacked may be large whatever it was before.
    let mut turn = shared.turns.of(body.len()).await;
    let bytes = unpacked(body.take(), packed).await?;
    body.holds(bytes.len());
    if turn.is_too_small_for(bytes.len()) {
        drop(turn);
        turn = shared.turns.of(bytes.len()).await;
    }
    let state = Arc::clone(shared);
    let read = tokio::task::spawn_blocking(move || told(kind, encoding, &bytes, &state.secrets));
    let told = read.await.map_err(|_| internal())?;
    let (told, without_time) = told.map_err(|error| (error.status(), error.to_string()))?;
    drop(body);
    let recorded = shared.recorder.record(told).await;
    drop(turn);
    let refused = recorded.map_err(|error| {
        tracing::warn!(%error, "telemetry was not recorded");
        (StatusCode::SERVICE_UNAVAILABLE, error.to_string())
    })?;
    Ok(refused + without_time)
}

/// The answer to a body that could not be read.
fn unread(error: BodyError) -> (StatusCode, String) {
    match error {
        BodyError::TooSlow => (StatusCode::REQUEST_TIMEOUT, error.to_string()),
        BodyError::NoRoom => (StatusCode::SERVICE_UNAVAILABLE, error.to_string()),
        BodyError::Broken => (StatusCode::BAD_REQUEST, error.to_string()),
        _ => too_large(),
    }
}

fn too_large() -> (StatusCode, String) {
    let reason = "the body is larger than 8 MiB: send smaller batches";
    (StatusCode::PAYLOAD_TOO_LARGE, reason.to_owned())
}

/// The answer if a thread was lost.
fn internal() -> (StatusCode, String) {
    let reason = "the body could not be read: send it again";
    (StatusCode::SERVICE_UNAVAILABLE, reason.to_owned())
}

async fn unpacked(bytes: Vec<u8>, packed: Packed) -> Result<Vec<u8>, (StatusCode, String)> {
    if packed == Packed::Not {
        return Ok(bytes);
    }
    let unpacked = tokio::task::spawn_blocking(move || packed.unpacked(bytes, LARGEST));
    match unpacked.await.map_err(|_| internal())? {
        Ok(Some(bytes)) => Ok(bytes),
        Ok(None) => Err(too_large()),
        Err(_) => {
            let reason = "the body is not packed with gzip".to_owned();
            Err((StatusCode::BAD_REQUEST, reason))
        }
    }
}

/// What a body tells, of which agents, and how many signals of agents have no time that can be.
fn told(
    kind: Kind,
    encoding: Encoding,
    body: &[u8],
    secrets: &Secrets,
) -> Result<(Vec<(LiveAgent, Telling)>, usize), InvalidBody> {
    let (mut told, mut without_time) = (Vec::new(), 0);
    signal::read(
        kind,
        encoding,
        body,
        &mut |signal| match meaning::told(&signal, secrets) {
            Some(_) if signal.has_no_time => without_time += 1,
            telling => told.extend(telling),
        },
    )?;
    Ok((told, without_time))
}

/// What a body tells, for a fuzzer.
pub(crate) fn understand(is_of_spans: bool, is_json: bool, body: &[u8], secrets: &Secrets) {
    let kind = match is_of_spans {
        true => Kind::Traces,
        false => Kind::Logs,
    };
    let encoding = match is_json {
        true => Encoding::Json,
        false => Encoding::Protobuf,
    };
    drop(told(kind, encoding, body, secrets));
}

#[cfg(test)]
mod tests;
