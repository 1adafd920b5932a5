//! A receiver of OpenTelemetry: logs and traces of agents over HTTP, as JSON and as protobuf.
//!
//! It answers when what it was given is on disk, and not before; so an exporter that gets no answer sends again, and
//! what was recorded is not recorded twice. What is read at a time is bounded, in requests and in bytes.

mod answer;
mod meaning;
mod packed;
mod recorder;
mod signal;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use annals::event_log::{Classification, Classified, ErrorClass};
use annals_dialects::secrets::Secrets;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use axum::routing::post;
use futures::FutureExt as _;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use self::answer::{Encoding, Kind, refuse};
use self::packed::Packed;
pub use self::recorder::RecordError;
use self::recorder::Recorder;
use crate::bell::Listener;
use crate::spool::Spool;

/// The largest body of a request.
const LARGEST: usize = 8 * 1024 * 1024;

/// So many requests are read at a time; others wait.
const AT_ONCE: usize = 8;

/// How often the spool is looked into, where no bell is rung.
const TO_LOOK: Duration = Duration::from_secs(2);

/// How long requests may take that are under way when it ends.
const TO_END: Duration = Duration::from_secs(3);

/// How long a body may take to come.
const PATIENCE: Duration = Duration::from_secs(10);

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
    /// What a request must have as its bearer token.
    pub token: Option<String>,
    /// What is taken out.
    pub secrets: Secrets,
}

impl OtlpOptions {
    /// To listen at an address, for this machine alone.
    pub fn new(address: SocketAddr) -> OtlpOptions {
        OtlpOptions {
            address,
            token: None,
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
    token: Option<String>,
    secrets: Secrets,
    turns: Semaphore,
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
        let listener = listener.map_err(|source| OtlpError::Listen { address, source })?;
        let recorder = Recorder::start(log.to_owned(), options.secrets.clone())?;
        let state = Shared {
            token: options.token,
            secrets: options.secrets,
            turns: Semaphore::new(AT_ONCE),
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
        let state = Arc::clone(&self.state);
        let router = Router::new()
            .route("/v1/logs", post(logs))
            .route("/v1/traces", post(traces))
            .with_state(self.state);
        let end = end.boxed().shared();
        let late = end.clone().then(|()| tokio::time::sleep(TO_END));
        let served = axum::serve(self.listener, router).with_graceful_shutdown(end);
        let served = tokio::select! {
            served = served.into_future() => served,
            () = listen(self.spool, &state.recorder) => Ok(()),
            // Somebody sends a request that does not end.
            () = late => Ok(()),
        };
        state.recorder.end();
        served
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

async fn logs(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    take(&shared, Kind::Logs, request).await
}

async fn traces(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    take(&shared, Kind::Traces, request).await
}

/// Takes a request, and answers when it is on disk.
async fn take(shared: &Shared, kind: Kind, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let encoding = Encoding::of(&head.headers);
    if !is_allowed(shared.token.as_deref(), &head.headers) {
        return refuse(
            encoding,
            StatusCode::UNAUTHORIZED,
            "a bearer token is expected",
        );
    }
    let (Some(encoding), Some(packed)) = (encoding, Packed::of(&head.headers)) else {
        let expected =
            "expected application/json or application/x-protobuf, with gzip or no compression";
        return refuse(encoding, StatusCode::UNSUPPORTED_MEDIA_TYPE, expected);
    };
    // Nothing of it is read before there is room.
    let Ok(_turn) = shared.turns.acquire().await else {
        return refuse(
            Some(encoding),
            StatusCode::SERVICE_UNAVAILABLE,
            "it is ending",
        );
    };
    let body = match read(body, packed).await {
        Ok(body) => body,
        Err((status, reason)) => return refuse(Some(encoding), status, reason),
    };
    let signals = match signal::read(kind, encoding, &body) {
        Ok(signals) => signals,
        Err(error) => {
            let reason = error.to_string();
            return refuse(Some(encoding), StatusCode::BAD_REQUEST, &reason);
        }
    };
    let told = signals
        .iter()
        .filter_map(|signal| meaning::told(signal, &shared.secrets));
    let told: Vec<_> = told.collect();
    match shared.recorder.record(told).await {
        Ok(refused) => answer::accepted(kind, encoding, refused),
        Err(error) => {
            tracing::warn!(%error, "telemetry was not recorded");
            let reason = error.to_string();
            refuse(Some(encoding), StatusCode::SERVICE_UNAVAILABLE, &reason)
        }
    }
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
    for signal in signal::read(kind, encoding, body).unwrap_or_default() {
        let _ = meaning::told(&signal, secrets);
    }
}

async fn read(body: Body, packed: Packed) -> Result<Vec<u8>, (StatusCode, &'static str)> {
    let read = tokio::time::timeout(PATIENCE, to_bytes(body, LARGEST)).await;
    let too_large = "the body is larger than 8 MiB, or ended early";
    let bytes = match read {
        Err(_) => return Err((StatusCode::REQUEST_TIMEOUT, "the body took too long")),
        Ok(Err(_)) => return Err((StatusCode::PAYLOAD_TOO_LARGE, too_large)),
        Ok(Ok(bytes)) => bytes,
    };
    match packed.unpacked(bytes.into(), LARGEST) {
        Ok(Some(bytes)) => Ok(bytes),
        Ok(None) => Err((StatusCode::PAYLOAD_TOO_LARGE, too_large)),
        Err(_) => Err((StatusCode::BAD_REQUEST, "the body is not packed with gzip")),
    }
}

/// Whether a request has the token, if there is one. How long it takes does not say how much of it was right.
fn is_allowed(token: Option<&str>, headers: &HeaderMap) -> bool {
    let Some(token) = token else {
        return true;
    };
    let given = headers
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok());
    let given = given
        .and_then(|value| value.strip_prefix("Bearer "))
        .unwrap_or_default();
    let (token, given) = (token.as_bytes(), given.as_bytes());
    let differ = token
        .iter()
        .zip(given)
        .fold(0, |differ, (a, b)| differ | (a ^ b));
    token.len() == given.len() && differ == 0
}

#[cfg(test)]
mod tests;
