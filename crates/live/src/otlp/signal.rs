//! A log record or a span: its name and its attributes, of either encoding.

use std::collections::BTreeMap;

use annals::domain::Timestamp;
use annals_dialects::import::RedactedText;
use annals_dialects::secrets::Secrets;
use axum::http::StatusCode;
use chrono::DateTime;
use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::logs::v1::LogRecord;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use serde_json::{Map, Value, json};

use super::answer::{Encoding, Kind};
use super::bounds::{self, TooMuch};

/// How deep lists and maps are looked into.
const DEPTH: usize = 16;

/// A log record or a span.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Signal {
    /// What the program calls the event or the span.
    pub(super) name: String,
    /// When it happened, in nanoseconds since 1970, and when it ended.
    pub(super) nanos: (u64, u64),
    /// Whether there is a time, and none that can be: what is told cannot be recorded at 1970 instead.
    pub(super) has_no_time: bool,
    /// The span that it is, or was told in.
    pub(super) span: String,
    pub(super) trace: String,
    pub(super) is_span: bool,
    /// Whether the span says that it failed, and why.
    pub(super) failure: Option<String>,
    /// Its own attributes, and those of the program that told it.
    pub(super) attributes: Map<String, Value>,
}

impl Signal {
    /// Returns `false` if no agent can have told it: spans of web servers, for example, which are not looked at further.
    pub(super) fn may_be_of_agent(&self) -> bool {
        let begins = |text: &str, names: &[&str]| names.iter().any(|name| text.starts_with(name));
        let service = self.attributes.get("service.name").and_then(Value::as_str);
        begins(&self.name, &["claude_code.", "codex."])
            || begins(
                service.unwrap_or_default(),
                &["claude-code", "codex", "gemini"],
            )
            || self
                .attributes
                .keys()
                .any(|name| name.starts_with("gen_ai."))
    }
}

/// The same without its secrets.
#[derive(Debug)]
pub(super) struct RedactedSignal {
    pub(super) name: RedactedText,
    pub(super) nanos: (u64, u64),
    /// When it happened.
    pub(super) at: Timestamp,
    pub(super) span: Option<RedactedText>,
    pub(super) trace: Option<RedactedText>,
    pub(super) is_span: bool,
    pub(super) failure: Option<RedactedText>,
    /// Its attributes as JSON, and each of them for people.
    pub(super) attributes: RedactedText,
    shown: BTreeMap<String, RedactedText>,
}

impl RedactedSignal {
    pub(super) fn of(signal: &Signal, secrets: &Secrets) -> Option<RedactedSignal> {
        let all = json!({
            "name": signal.name,
            "span": signal.span,
            "trace": signal.trace,
            "failure": signal.failure,
            "attributes": signal.attributes,
        });
        let (all, _) = RedactedText::json(all.to_string().into_bytes(), secrets).ok()?;
        let fields = all.fields().ok()?;
        let attributes = fields.json("attributes")?;
        let each = attributes.fields().ok()?;
        let shown = each.names().filter_map(|name| {
            let value = each.shown(&name)?;
            Some((name.into_string(), value))
        });
        let nanos = i64::try_from(signal.nanos.0).unwrap_or_default();
        Some(RedactedSignal {
            name: fields.text("name").unwrap_or_else(|| "".into()),
            nanos: signal.nanos,
            at: Timestamp::from(DateTime::from_timestamp_nanos(nanos)),
            span: fields.text("span"),
            trace: fields.text("trace"),
            is_span: signal.is_span,
            failure: fields.text("failure"),
            shown: shown.collect(),
            attributes,
        })
    }

    /// The first of some attributes that is there, as text.
    pub(super) fn text(&self, names: &[&str]) -> Option<RedactedText> {
        let mut texts = names.iter().filter_map(|name| self.shown.get(*name));
        texts.find(|text| !text.trim().is_empty()).cloned()
    }

    pub(super) fn number(&self, names: &[&str]) -> Option<f64> {
        self.text(names)?.parse().ok()
    }

    /// The names of its attributes.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.shown.keys().map(String::as_str)
    }
}

/// Why there are no signals in a body.
#[derive(Debug, thiserror::Error)]
pub(super) enum InvalidBody {
    #[error("the body is not a request in JSON: {0}")]
    Json(#[from] serde_json::Error),
    #[error("the body is not a request in Protobuf: {0}")]
    Protobuf(#[from] prost::DecodeError),
    #[error(transparent)]
    TooMuch(#[from] TooMuch),
}

impl InvalidBody {
    /// The status of the answer.
    pub(super) fn status(&self) -> StatusCode {
        match self {
            InvalidBody::TooMuch(_) => StatusCode::PAYLOAD_TOO_LARGE,
            _ => StatusCode::BAD_REQUEST,
        }
    }
}

/// Reads the signals of a body, one after the other, so that no more than one is there at a time in its large form.
pub(super) fn read(
    kind: Kind,
    encoding: Encoding,
    body: &[u8],
    take: &mut dyn FnMut(Signal),
) -> Result<(), InvalidBody> {
    bounds::check(kind, encoding, body)?;
    match kind {
        Kind::Logs => logs(decoded(encoding, body)?, take),
        Kind::Traces => spans(decoded(encoding, body)?, take),
    }
}

fn decoded<T: Message + Default + serde::de::DeserializeOwned>(
    encoding: Encoding,
    body: &[u8],
) -> Result<T, InvalidBody> {
    match encoding {
        Encoding::Json => match serde_json::from_slice(body) {
            Ok(request) => Ok(request),
            Err(error) => match without_malformed_ids(body) {
                Some(request) => Ok(serde_json::from_value(request)?),
                None => Err(error.into()),
            },
        },
        Encoding::Protobuf => Ok(T::decode(body)?),
    }
}

/// A request in JSON without ids of traces and spans that are not hexadecimal: what has such an id is taken for a record
/// outside of a trace, and the others of the request are not lost with it. None, where no id is malformed.
fn without_malformed_ids(body: &[u8]) -> Option<Value> {
    const LISTS: [[&str; 2]; 3] = [
        ["resourceLogs", "resourceSpans"],
        ["scopeLogs", "scopeSpans"],
        ["logRecords", "spans"],
    ];
    let mut request: Value = serde_json::from_slice(body).ok()?;
    let mut found = vec![&mut request];
    for names in LISTS {
        found = found
            .into_iter()
            .flat_map(|object| listed(object, &names))
            .collect();
    }
    let mut count = 0;
    for record in found {
        count += clear_malformed_ids(record);
        for link in listed(record, &["links"]) {
            count += clear_malformed_ids(link);
        }
    }
    (count > 0).then_some(request)
}

/// The elements of lists of an object that have these names.
fn listed<'a>(object: &'a mut Value, names: &[&str]) -> Vec<&'a mut Value> {
    let fields = object.as_object_mut().into_iter().flatten();
    let lists = fields.filter(|(name, _)| names.contains(&name.as_str()));
    let lists = lists.filter_map(|(_, list)| list.as_array_mut());
    lists.flatten().collect()
}

/// Clears ids that are not hexadecimal; how many.
fn clear_malformed_ids(object: &mut Value) -> usize {
    const IDS: [&str; 3] = ["traceId", "spanId", "parentSpanId"];
    let is_hex = |value: &Value| {
        let text = value.as_str();
        let digits = text.map(|it| it.strip_prefix("0x").unwrap_or(it));
        digits.is_some_and(|it| {
            it.len().is_multiple_of(2) && it.bytes().all(|byte| byte.is_ascii_hexdigit())
        })
    };
    let fields = object.as_object_mut().into_iter().flatten();
    let malformed = fields.filter(|(name, value)| IDS.contains(&name.as_str()) && !is_hex(value));
    let mut count = 0;
    for (_, value) in malformed {
        *value = Value::String(String::new());
        count += 1;
    }
    count
}

fn logs(
    request: ExportLogsServiceRequest,
    take: &mut dyn FnMut(Signal),
) -> Result<(), InvalidBody> {
    bounds::check_repeated(request.resource_logs.iter().map(|told| {
        let records = told.scope_logs.iter().map(|it| it.log_records.len());
        (told.resource.as_ref(), records.sum::<usize>())
    }))?;
    for told in request.resource_logs {
        let resource = told.resource.map(|it| it.attributes).unwrap_or_default();
        let records = told.scope_logs.into_iter().flat_map(|it| it.log_records);
        records.for_each(|record| take(log(&resource, record)));
    }
    Ok(())
}

fn log(resource: &[KeyValue], record: LogRecord) -> Signal {
    let mut attributes = attributes(&[resource, &record.attributes]);
    let body = record.body.as_ref().map(|body| value_of(body, DEPTH));
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let named = attributes.get("event.name").and_then(text);
    let own = Some(record.event_name).filter(|name| !name.is_empty());
    let name = named.or(own).or_else(|| body.as_ref().and_then(text));
    let told = [record.time_unix_nano, record.observed_time_unix_nano];
    let can_be = |nanos: &u64| *nanos > 0 && i64::try_from(*nanos).is_ok();
    let in_attributes = || {
        let text = attributes.get("event.timestamp").and_then(text)?;
        let time = DateTime::parse_from_rfc3339(&text).ok()?;
        u64::try_from(time.timestamp_nanos_opt()?).ok()
    };
    let nanos = told.into_iter().find(can_be).or_else(in_attributes);
    let has_no_time = nanos.is_none() && told != [0, 0];
    let nanos = nanos.unwrap_or_default();
    if let Some(body) = body {
        attributes.insert("body".to_owned(), body);
    }
    Signal {
        name: name.unwrap_or_default(),
        nanos: (nanos, nanos),
        has_no_time,
        span: hex(&record.span_id),
        trace: hex(&record.trace_id),
        is_span: false,
        failure: None,
        attributes,
    }
}

fn spans(
    request: ExportTraceServiceRequest,
    take: &mut dyn FnMut(Signal),
) -> Result<(), InvalidBody> {
    bounds::check_repeated(request.resource_spans.iter().map(|told| {
        let spans = told.scope_spans.iter().map(|it| it.spans.len());
        (told.resource.as_ref(), spans.sum::<usize>())
    }))?;
    for told in request.resource_spans {
        let resource = told.resource.map(|it| it.attributes).unwrap_or_default();
        let spans = told.scope_spans.into_iter().flat_map(|it| it.spans);
        spans.for_each(|it| take(span(&resource, it)));
    }
    Ok(())
}

fn span(resource: &[KeyValue], span: Span) -> Signal {
    /// The code of a status that is an error.
    const ERROR: i32 = 2;
    let failed = span.status.filter(|status| status.code == ERROR);
    Signal {
        attributes: attributes(&[resource, &span.attributes]),
        name: span.name,
        nanos: (span.start_time_unix_nano, span.end_time_unix_nano),
        has_no_time: i64::try_from(span.start_time_unix_nano).is_err(),
        span: hex(&span.span_id),
        trace: hex(&span.trace_id),
        is_span: true,
        failure: failed.map(|status| match status.message.is_empty() {
            true => "it failed".to_owned(),
            false => status.message,
        }),
    }
}

/// Attributes as JSON; of those of one name the last.
fn attributes(lists: &[&[KeyValue]]) -> Map<String, Value> {
    let all = lists.iter().flat_map(|list| list.iter());
    all.map(|it| {
        let value = it
            .value
            .as_ref()
            .map_or(Value::Null, |value| value_of(value, DEPTH));
        (it.key.clone(), value)
    })
    .collect()
}

fn value_of(value: &AnyValue, depth: usize) -> Value {
    let Some(depth) = depth.checked_sub(1) else {
        return Value::String("(too deep)".to_owned());
    };
    match &value.value {
        None => Value::Null,
        Some(Any::StringValue(text)) => Value::String(text.clone()),
        Some(Any::BoolValue(value)) => Value::Bool(*value),
        Some(Any::IntValue(value)) => Value::from(*value),
        Some(Any::DoubleValue(value)) => Value::from(*value),
        Some(Any::ArrayValue(list)) => list.values.iter().map(|it| value_of(it, depth)).collect(),
        Some(Any::KvlistValue(list)) => {
            let pairs = list.values.iter().map(|it| {
                let value = it
                    .value
                    .as_ref()
                    .map_or(Value::Null, |value| value_of(value, depth));
                (it.key.clone(), value)
            });
            Value::Object(pairs.collect())
        }
        Some(Any::BytesValue(bytes)) => Value::String(hex(bytes)),
        // An index into a table that logs and traces do not have.
        #[allow(unreachable_patterns)]
        Some(_) => Value::Null,
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
