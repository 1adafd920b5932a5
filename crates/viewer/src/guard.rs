//! What each request must be, and what each answer says besides its content.

use std::sync::Arc;

use annals_http::{Browsing, Token};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::moment::Params;
use crate::problem::Problem;
use crate::shell;
use crate::state::Shared;

/// Nothing is loaded from elsewhere, and nothing that is written into a page runs.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; \
    connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";
/// What begins the addresses of the API.
const API: &str = "/api/";
/// The parameter of an address that has the token.
const PARAMETER: &str = "token";
/// The seconds for which a browser keeps the token.
const KEPT: u32 = 30 * 24 * 60 * 60;

/// Lets a request through to what answers it, if it may be answered.
pub(crate) async fn guard(
    State(shared): State<Arc<Shared>>,
    request: Request,
    next: Next,
) -> Response {
    let is_api = request.uri().path().starts_with(API);
    let is_asset = request.uri().path().starts_with("/assets/");
    let answer = match admit(&shared, &request) {
        // Files wait for a turn of their own.
        Ok(None) if is_file(request.uri().path()) => next.run(request).await,
        Ok(None) => match shared.turns.acquire().await {
            Ok(_turn) => next.run(request).await,
            Err(_) => Problem::busy("the viewer is ending").into_response(),
        },
        Ok(Some(response)) => response,
        Err(problem) => problem.into_response(),
    };
    let answer = match problem_of(&answer) {
        Some(problem) if is_api => problem.as_json(),
        Some(problem) => problem.answer(shell::problem(&problem)),
        None => answer,
    };
    with_headers(answer, is_asset)
}

/// Returns `true` for the address of a conversation as a file.
fn is_file(path: &str) -> bool {
    path.starts_with("/sessions/") && path.ends_with("/export")
}

/// What is wrong, also where a part of the address could not be read at all.
fn problem_of(answer: &Response) -> Option<Problem> {
    if let Some(problem) = answer.extensions().get::<Problem>() {
        return Some(problem.clone());
    }
    let status = answer.status();
    let is_wrong = status.is_client_error() || status.is_server_error();
    let detail = "the address cannot be read";
    is_wrong.then(|| Problem::new(status, "invalid_request", detail))
}

/// Refuses what must not be answered; gives the answer to what brings the token for the first time.
fn admit(shared: &Shared, request: &Request) -> Result<Option<Response>, Problem> {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let detail =
            "the viewer only reads: commands such as annals intent approve change what is in a log";
        let problem = Problem::new(StatusCode::METHOD_NOT_ALLOWED, "read_only", detail);
        return Err(problem.with(header::ALLOW, "GET, HEAD"));
    }
    let named = shared
        .hosts
        .check(request.uri(), request.headers(), Browsing::Links);
    named.map_err(|refused| Problem::new(refused.status(), refused.code(), refused.to_string()))?;
    refuse_body(request.headers())?;
    let Some(token) = &shared.token else {
        return Ok(None);
    };
    if let Some(response) = first_visit(shared, token, request.uri()) {
        return Ok(Some(response));
    }
    if token.is_in(request.headers(), &shared.cookie) {
        return Ok(None);
    }
    let detail = "this viewer needs its token: open the address that annals service serve printed, or send the token as Authorization: Bearer TOKEN";
    let problem = Problem::new(StatusCode::UNAUTHORIZED, "no_token", detail);
    Err(problem.with(header::WWW_AUTHENTICATE, "Bearer"))
}

/// No request that reads has a body.
fn refuse_body(headers: &HeaderMap) -> Result<(), Problem> {
    let length = headers.get(header::CONTENT_LENGTH);
    let has_length = length.is_some_and(|length| length.as_bytes() != b"0");
    if has_length || headers.contains_key(header::TRANSFER_ENCODING) {
        let detail = "a request has no body here";
        let problem = Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "no_body", detail);
        return Err(problem.with(header::CONNECTION, "close"));
    }
    Ok(())
}

/// The token in an address becomes a cookie, and goes from the address: it is in no history and no link that is passed
/// on.
fn first_visit(shared: &Shared, token: &Token, uri: &Uri) -> Option<Response> {
    let params = Params::read(uri).ok()?;
    if !token.is(params.get(PARAMETER)?) {
        return None;
    }
    let query = uri.query().unwrap_or_default().split('&');
    let others = query.filter(|pair| pair.split('=').next() != Some(PARAMETER));
    let others: Vec<&str> = others.filter(|pair| !pair.is_empty()).collect();
    // A path that begins with two slashes would name another server.
    let path = format!("/{}", uri.path().trim_start_matches('/'));
    let place = match others.is_empty() {
        true => path,
        false => format!("{path}?{}", others.join("&")),
    };
    let cookie = format!(
        "{}={}; Path=/; HttpOnly; SameSite=Lax; Max-Age={KEPT}",
        shared.cookie,
        token.as_str()
    );
    let mut response = StatusCode::SEE_OTHER.into_response();
    let headers = response.headers_mut();
    headers.insert(header::LOCATION, HeaderValue::from_str(&place).ok()?);
    headers.insert(header::SET_COOKIE, HeaderValue::from_str(&cookie).ok()?);
    Some(response)
}

fn with_headers(mut response: Response, is_asset: bool) -> Response {
    let said = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ),
    ];
    let headers = response.headers_mut();
    for (name, value) in said {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if !is_asset {
        let never = HeaderValue::from_static("no-store");
        headers.insert(header::CACHE_CONTROL, never);
    }
    response
}
