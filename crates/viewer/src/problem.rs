//! What is wrong with a request, or went wrong with its answer: a status, a code and words.

use std::fmt;

use annals::event_log::Position;
use annals::{Classified, ErrorClass};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Serialize;

use crate::shown;

/// A request that has no answer. It says itself what it is, once as JSON and once as a page.
#[derive(Debug, Clone)]
pub(crate) struct Problem {
    pub(crate) status: StatusCode,
    pub(crate) code: &'static str,
    pub(crate) detail: String,
    /// A header that goes with the status, such as which methods are allowed.
    with: Option<(HeaderName, &'static str)>,
}

/// A problem as `application/problem+json` (RFC 9457), with a code that keeps its meaning.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Problem")]
pub(crate) struct ProblemJson {
    /// Always `about:blank`: the code says what it is.
    #[serde(rename = "type")]
    kind: &'static str,
    /// The status in words.
    title: &'static str,
    /// The HTTP status.
    status: u16,
    /// The cause in one word, which keeps its meaning.
    code: &'static str,
    /// What was expected, what was found, and what to do.
    detail: String,
    /// Whether the same request may succeed later.
    retryable: bool,
}

impl Problem {
    pub(crate) fn new(
        status: StatusCode,
        code: &'static str,
        detail: impl Into<String>,
    ) -> Problem {
        Problem {
            status,
            code,
            detail: detail.into(),
            with: None,
        }
    }

    /// A part of the address that cannot be read.
    pub(crate) fn invalid(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::BAD_REQUEST, "invalid_request", detail)
    }

    pub(crate) fn not_found(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::NOT_FOUND, "not_found", detail)
    }

    /// A moment that has not come.
    pub(crate) fn beyond_end(position: Position, end: Position) -> Problem {
        let detail = format!("position {position} is not there yet: the log ends at {end}");
        Problem::new(StatusCode::NOT_FOUND, "beyond_end", detail)
    }

    /// More than can be answered at a time.
    pub(crate) fn busy(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "busy", detail).with(header::RETRY_AFTER, "1")
    }

    pub(crate) fn with(self, name: HeaderName, value: &'static str) -> Problem {
        Problem {
            with: Some((name, value)),
            ..self
        }
    }

    /// The heading of its page.
    pub(crate) fn heading(&self) -> &'static str {
        match self.status {
            StatusCode::NOT_FOUND => "Not found",
            StatusCode::BAD_REQUEST => "Invalid address",
            StatusCode::SERVICE_UNAVAILABLE => "Not available now",
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => "No access",
            status if status.is_server_error() => "The page cannot be shown",
            _ => "The request has no answer",
        }
    }

    pub(crate) fn title(&self) -> &'static str {
        self.status.canonical_reason().unwrap_or("Problem")
    }

    /// The answer with a body, and all that belongs to the status.
    pub(crate) fn answer(&self, body: Response) -> Response {
        let mut response = body;
        *response.status_mut() = self.status;
        if let Some((name, value)) = &self.with {
            let value = HeaderValue::from_static(value);
            response.headers_mut().insert(name.clone(), value);
        }
        response
    }

    /// The answer for programs.
    pub(crate) fn as_json(&self) -> Response {
        let json = ProblemJson {
            kind: "about:blank",
            title: self.title(),
            status: self.status.as_u16(),
            code: self.code,
            detail: self.detail.clone(),
            retryable: self.status == StatusCode::SERVICE_UNAVAILABLE,
        };
        let written = shown::json(&json);
        let mut response = self.answer(written.unwrap_or_else(|_| self.status.into_response()));
        let kind = HeaderValue::from_static("application/problem+json");
        response.headers_mut().insert(header::CONTENT_TYPE, kind);
        response
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.detail)
    }
}

/// Errors of the libraries say themselves what they are.
impl<E: Classified + fmt::Display> From<E> for Problem {
    fn from(error: E) -> Problem {
        let status = match error.class() {
            ErrorClass::Invalid | ErrorClass::Usage => StatusCode::BAD_REQUEST,
            ErrorClass::NotFound => StatusCode::NOT_FOUND,
            ErrorClass::Refused => StatusCode::CONFLICT,
            ErrorClass::Contended | ErrorClass::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        if status == StatusCode::INTERNAL_SERVER_ERROR {
            tracing::warn!(%error, "a request failed");
        }
        Problem::new(status, error.code(), error.to_string())
    }
}

/// The response carries the problem; `guard.rs` writes it as JSON or as a page.
impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}
