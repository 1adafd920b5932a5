//! What a receiver answers, in the encoding that it was asked in.

use axum::body::Body;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use opentelemetry_proto::tonic::collector::logs::v1::{
    ExportLogsPartialSuccess, ExportLogsServiceResponse,
};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTracePartialSuccess, ExportTraceServiceResponse,
};
use prost::Message;
use serde_json::json;

/// What a request has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Logs,
    Traces,
}

/// How a body is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    Json,
    Protobuf,
}

/// What is wrong, as RPCs say it.
#[derive(Clone, PartialEq, Message)]
struct Status {
    #[prost(int32, tag = "1")]
    code: i32,
    #[prost(string, tag = "2")]
    message: String,
}

impl Encoding {
    /// The encoding of a request, if it is a known one.
    pub(super) fn of(headers: &HeaderMap) -> Option<Encoding> {
        let text = |name| headers.get(name).and_then(|it| it.to_str().ok());
        let kind = text(header::CONTENT_TYPE)?.split(';').next()?.trim();
        match kind.to_ascii_lowercase().as_str() {
            "application/json" => Some(Encoding::Json),
            "application/x-protobuf" => Some(Encoding::Protobuf),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Encoding::Json => "application/json",
            Encoding::Protobuf => "application/x-protobuf",
        }
    }
}

/// That a request is on disk, but for so many of its signals, which the log cannot have.
pub(super) fn accepted(kind: Kind, encoding: Encoding, refused: usize) -> Response {
    let rejected = i64::try_from(refused).unwrap_or(i64::MAX);
    let reason = "the log refused them: what they are about is over, they are too large, or their time is after the year 2262";
    let body = match (encoding, refused) {
        (Encoding::Json, 0) => b"{}".to_vec(),
        (Encoding::Protobuf, 0) => Vec::new(),
        (Encoding::Json, _) => {
            let rejected = match kind {
                Kind::Logs => "rejectedLogRecords",
                Kind::Traces => "rejectedSpans",
            };
            json!({ "partialSuccess": { rejected: refused.to_string(), "errorMessage": reason } })
                .to_string()
                .into_bytes()
        }
        (Encoding::Protobuf, _) => match kind {
            Kind::Logs => ExportLogsServiceResponse {
                partial_success: Some(ExportLogsPartialSuccess {
                    rejected_log_records: rejected,
                    error_message: reason.to_owned(),
                }),
            }
            .encode_to_vec(),
            Kind::Traces => ExportTraceServiceResponse {
                partial_success: Some(ExportTracePartialSuccess {
                    rejected_spans: rejected,
                    error_message: reason.to_owned(),
                }),
            }
            .encode_to_vec(),
        },
    };
    response(encoding, StatusCode::OK, body)
}

/// That a request was not taken. Exporters repeat those with status 429, 502, 503 and 504.
pub(super) fn refuse(encoding: Option<Encoding>, status: StatusCode, reason: &str) -> Response {
    let encoding = encoding.unwrap_or(Encoding::Json);
    let body = match encoding {
        Encoding::Json => json!({ "message": reason }).to_string().into_bytes(),
        Encoding::Protobuf => Status {
            code: 0,
            message: reason.to_owned(),
        }
        .encode_to_vec(),
    };
    response(encoding, status, body)
}

fn response(encoding: Encoding, status: StatusCode, body: Vec<u8>) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    let name = header::HeaderValue::from_static(encoding.name());
    response.headers_mut().insert(header::CONTENT_TYPE, name);
    response
}
