//! A receiver of OpenTelemetry: logs and traces of agents over HTTP, as JSON and as protobuf.
//!
//! It answers when what it was given is on disk, and not before; so an exporter that gets no answer sends again, and what was
//! recorded is not recorded twice. What is read at a time is bounded, in requests and in bytes.

mod answer;
mod meaning;
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
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use self::answer::{Encoding, Kind, refuse};
pub use self::recorder::RecordError;
use self::recorder::Recorder;

/// The largest body of a request.
const LARGEST: usize = 8 * 1024 * 1024;

/// So many requests are read at a time; others wait.
const AT_ONCE: usize = 8;

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
        let served = axum::serve(self.listener, router)
            .with_graceful_shutdown(end)
            .await;
        state.recorder.end();
        served
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
    let Some(encoding) = encoding else {
        let expected = "expected application/json or application/x-protobuf, without compression";
        return refuse(None, StatusCode::UNSUPPORTED_MEDIA_TYPE, expected);
    };
    // Nothing of it is read before there is room.
    let Ok(_turn) = shared.turns.acquire().await else {
        return refuse(
            Some(encoding),
            StatusCode::SERVICE_UNAVAILABLE,
            "it is ending",
        );
    };
    let body = match read(body).await {
        Ok(body) => body,
        Err((status, reason)) => return refuse(Some(encoding), status, reason),
    };
    let signals = match signal::read(kind, encoding, &body) {
        Ok(signals) => signals,
        Err(reason) => return refuse(Some(encoding), StatusCode::BAD_REQUEST, &reason),
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

async fn read(body: Body) -> Result<Vec<u8>, (StatusCode, &'static str)> {
    let read = tokio::time::timeout(PATIENCE, to_bytes(body, LARGEST)).await;
    match read {
        Err(_) => Err((StatusCode::REQUEST_TIMEOUT, "the body took too long")),
        Ok(Err(_)) => Err((
            StatusCode::PAYLOAD_TOO_LARGE,
            "the body is larger than 8 MiB, or ended early",
        )),
        Ok(Ok(bytes)) => Ok(bytes.to_vec()),
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
