//! A service that records what agents do and judges their commands before they are done, over HTTP on
//! this machine.
//!
//! ```sh
//! export TOKENS='1a2b=agent:coder 3c4d=human:ada'
//! cargo run --bin service -- .annals 127.0.0.1:8000
//! ```
//!
//! | Route | What it does |
//! | --- | --- |
//! | `POST /record` | records a command: `{"command": "create_task", "fields": {"title": "Add a cache"}}` |
//! | `POST /sessions/ID/gate` | judges an agent's command: `{"id": UUID, "submit": {"kind": "Push", ...}}` |
//! | `GET /objects/ID` | shows an object, `?at=12` as it was at position 12 |
//!
//! Callers say who they are by a token (`Authorization: Bearer 1a2b`), and never in a body: so an agent cannot
//! act as a person. A person opens sessions and answers approvals, by `create_session` and
//! `approve_session`; an agent records its work, and has its commands judged in sessions of its own. A request with
//! an `Idempotency-Key`, a UUID, can be sent again when its answer was lost.

use std::collections::HashMap;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;

use annals::domain::session::{AgentCommand, CommandBody, Verdict};
use annals::domain::{ActorKind, ActorRef, Command, CommandId, SessionId};
use annals::projections::{ObjectView, Text};
use annals::{Annals, At, Classified, ErrorClass, Gated, Request};
use axum::extract::rejection::JsonRejection;
use axum::extract::{FromRequestParts, Path, Query, State};
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use uuid::Uuid;

/// What agents may record by themselves, and in their own sessions `complete_command`. The rest is for people, above
/// all what an agent could get around its policy with.
const OF_AGENTS: [&str; 8] = [
    "create_intent",
    "create_task",
    "create_run",
    "start_patching",
    "record_tool_invocation",
    "propose_patch_set",
    "start_validation",
    "record_evidence",
];

#[derive(Clone)]
struct Service {
    annals: Annals,
    /// Who has which token.
    callers: Arc<HashMap<String, ActorRef>>,
}

impl Service {
    /// Demands that a command is one that its actor may record.
    async fn demand_allowed(&self, actor: &ActorRef, command: &Command) -> Result<(), Problem> {
        match command {
            _ if actor.kind == ActorKind::Human => Ok(()),
            Command::CompleteCommand(complete) => {
                self.demand_session_of(actor, complete.session).await
            }
            command if OF_AGENTS.contains(&command.name()) => Ok(()),
            command => {
                let message = format!("{} is for people: ask one of them", command.name());
                Err(Problem::new(StatusCode::FORBIDDEN, "for_people", message))
            }
        }
    }

    /// Demands that a session is this agent's own.
    async fn demand_session_of(&self, agent: &ActorRef, session: SessionId) -> Result<(), Problem> {
        // A row of the index costs the same however long the session is. Its title is the session's agent.
        let row = self.annals.index().row(session).await?;
        let is_own = row.title == Some(Text::from(agent.id.as_str()));
        if is_own && agent.kind == ActorKind::Agent {
            return Ok(());
        }
        let message = format!("session {session} is not one of {}", agent.id);
        Err(Problem::new(StatusCode::FORBIDDEN, "other_agent", message))
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "service: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().ok_or("usage: service LOG [ADDRESS]")?;
    let address = arguments.next().unwrap_or("127.0.0.1:8000".to_owned());
    let address: SocketAddr = address.parse()?;
    if !address.ip().is_loopback() {
        return Err("tokens go over this connection in the clear: give a loopback address".into());
    }
    let tokens = std::env::var("TOKENS").map_err(|_| "TOKENS is not set: TOKEN=human:ada ...")?;
    let service = Service {
        annals: Annals::open(&url).await?,
        callers: Arc::new(callers(&tokens)?),
    };
    let annals = service.annals.clone();
    let router = Router::new()
        .route("/record", post(record))
        .route("/sessions/{session}/gate", post(gate))
        .route("/objects/{id}", get(object))
        .with_state(service);
    let listener = TcpListener::bind(address).await?;
    writeln!(
        io::stdout(),
        "listening on http://{}",
        listener.local_addr()?
    )?;
    let end = async {
        let _ = tokio::signal::ctrl_c().await;
    };
    axum::serve(listener, router)
        .with_graceful_shutdown(end)
        .await?;
    annals.close().await;
    Ok(())
}

/// Reads `TOKEN=KIND:NAME ...`.
fn callers(tokens: &str) -> Result<HashMap<String, ActorRef>, String> {
    let read = |one: &str| {
        let (token, actor) = one.split_once('=')?;
        let (kind, name) = actor.split_once(':')?;
        let actor = match kind {
            "human" => ActorRef::human(name),
            "agent" => ActorRef::agent(name),
            _ => return None,
        };
        Some((token.to_owned(), actor))
    };
    let one = |one| read(one).ok_or("TOKENS: expected TOKEN=human:NAME or TOKEN=agent:NAME".into());
    tokens.split_whitespace().map(one).collect()
}

/// The body of `POST /record`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Recorded {
    command: String,
    fields: Box<RawValue>,
}

/// Records a command. It is on disk when this answers.
async fn record(
    State(service): State<Service>,
    Caller(actor): Caller,
    headers: HeaderMap,
    body: Result<Json<Recorded>, JsonRejection>,
) -> Result<Json<Value>, Problem> {
    let Json(Recorded { command, fields }) = body.map_err(Problem::of_body)?;
    let command = Command::from_json(&command, fields.get()).map_err(Problem::invalid)?;
    service.demand_allowed(&actor, &command).await?;
    let mut request = Request::new(actor, command);
    if let Some(key) = headers.get("Idempotency-Key") {
        let key = key.to_str().ok().and_then(|key| Uuid::parse_str(key).ok());
        let key = key.ok_or_else(|| Problem::invalid("the Idempotency-Key is not a UUID"))?;
        request = request.key(key);
    }
    let outcome = service.annals.execute(request).await?;
    Ok(Json(
        json!({ "id": outcome.id, "position": outcome.position.0, "events": outcome.events }),
    ))
}

/// The body of `POST /sessions/ID/gate`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Submitted {
    /// Chosen by the agent: the same command under the same id gets the same verdict again.
    id: CommandId,
    submit: CommandBody,
    /// Of a commit: the branch that it goes to, and the files that it changes.
    branch: Option<String>,
    files: Option<Vec<String>>,
}

/// Judges an agent's command. The agent does it only if the verdict is `accepted`, and says by
/// `complete_command` how it ended.
async fn gate(
    State(service): State<Service>,
    Caller(agent): Caller,
    Path(session): Path<String>,
    body: Result<Json<Submitted>, JsonRejection>,
) -> Result<Json<Value>, Problem> {
    let Json(Submitted {
        id,
        submit,
        branch,
        files,
    }) = body.map_err(Problem::of_body)?;
    let session = session.parse().map_err(Problem::invalid)?;
    service.demand_session_of(&agent, session).await?;
    let command = AgentCommand::new(id, submit)
        .with_branch(branch)
        .with_files(files);
    let gated = service.annals.by(&agent).gate(session, &command).await?;
    Ok(Json(answer(gated)))
}

fn answer(gated: Gated) -> Value {
    let position = gated.position.0;
    match gated.verdict {
        Verdict::Accepted => json!({ "verdict": "accepted", "position": position }),
        // It waits for a person. The session says what becomes of it.
        Verdict::Queued => json!({ "verdict": "queued", "position": position }),
        Verdict::Throttled { scope, retry_after } => json!({
            "verdict": "throttled", "position": position, "scope": scope, "retry_after": retry_after,
        }),
        Verdict::Rejected { reason, rule } => {
            let rule = rule.map(|rule| rule.to_string());
            json!({ "verdict": "rejected", "position": position, "reason": reason, "rule": rule })
        }
    }
}

/// Which moment is asked for.
#[derive(Deserialize)]
struct Moment {
    at: Option<String>,
}

/// Shows an object, by its id, the end of it, or an alias.
async fn object(
    State(service): State<Service>,
    Caller(_): Caller,
    Path(id): Path<String>,
    Query(moment): Query<Moment>,
) -> Result<Json<ObjectView>, Problem> {
    let at = moment.at.map_or(Ok(At::Now), |at| at.parse())?;
    let object = service.annals.resolve(&id).await?;
    Ok(Json(service.annals.view_at(object.id, at).await?))
}

/// Who sent a request.
struct Caller(ActorRef);

impl FromRequestParts<Service> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, service: &Service) -> Result<Caller, Problem> {
        let header = parts
            .headers
            .get(AUTHORIZATION)
            .and_then(|value| value.to_str().ok());
        let token = header.and_then(|header| header.strip_prefix("Bearer "));
        let caller = token.and_then(|token| service.callers.get(token));
        caller.cloned().map(Caller).ok_or_else(|| {
            let message = "expected Authorization: Bearer TOKEN, with a token of TOKENS".to_owned();
            Problem::new(StatusCode::UNAUTHORIZED, "unknown_caller", message)
        })
    }
}

/// Why a request was not done, for people and for programs.
struct Problem {
    status: StatusCode,
    code: &'static str,
    message: String,
    is_retryable: bool,
}

impl Problem {
    fn new(status: StatusCode, code: &'static str, message: String) -> Problem {
        Problem {
            status,
            code,
            message,
            is_retryable: false,
        }
    }

    fn invalid(message: impl ToString) -> Problem {
        Problem::new(StatusCode::BAD_REQUEST, "invalid", message.to_string())
    }

    fn of_body(rejection: JsonRejection) -> Problem {
        Problem::new(rejection.status(), "invalid_body", rejection.body_text())
    }
}

/// Every error of the library says what its receiver can do.
impl<E: Classified> From<E> for Problem {
    fn from(error: E) -> Problem {
        let status = match error.class() {
            ErrorClass::Invalid | ErrorClass::Usage => StatusCode::BAD_REQUEST,
            ErrorClass::NotFound => StatusCode::NOT_FOUND,
            ErrorClass::Refused => StatusCode::CONFLICT,
            ErrorClass::Contended | ErrorClass::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        let is_retryable = error.is_retryable();
        Problem {
            is_retryable,
            ..Problem::new(status, error.code(), error.to_string())
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let Problem {
            status,
            code,
            message,
            is_retryable,
        } = self;
        let body = json!({ "code": code, "message": message, "retryable": is_retryable });
        (status, Json(body)).into_response()
    }
}
