//! A log record or a span: its name and its attributes, of either encoding.

use annals::domain::Timestamp;
use chrono::DateTime;
use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use prost::Message;
use serde_json::{Map, Value};

use super::answer::{Encoding, Kind};

/// How deep lists and maps are looked into.
const DEPTH: usize = 16;

/// A log record or a span.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Signal {
    /// What the program calls the event or the span.
    pub(super) name: String,
    /// When it happened, in nanoseconds since 1970, and when it ended.
    pub(super) nanos: (u64, u64),
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
    /// The first of some attributes that is there, as text.
    pub(super) fn text(&self, names: &[&str]) -> Option<String> {
        let text = |name: &&str| match self.attributes.get(*name)? {
            Value::String(text) => Some(text.clone()),
            Value::Null => None,
            other => Some(other.to_string()),
        };
        names
            .iter()
            .filter_map(text)
            .find(|text| !text.trim().is_empty())
    }

    pub(super) fn number(&self, names: &[&str]) -> Option<f64> {
        self.text(names)?.parse().ok()
    }

    /// When it happened.
    pub(super) fn at(&self) -> Timestamp {
        let nanos = i64::try_from(self.nanos.0).unwrap_or_default();
        Timestamp::from(DateTime::from_timestamp_nanos(nanos))
    }
}

/// The signals of a body.
pub(super) fn read(kind: Kind, encoding: Encoding, body: &[u8]) -> Result<Vec<Signal>, String> {
    match kind {
        Kind::Logs => decoded(encoding, body).map(logs),
        Kind::Traces => decoded(encoding, body).map(spans),
    }
}

fn decoded<T: Message + Default + serde::de::DeserializeOwned>(
    encoding: Encoding,
    body: &[u8],
) -> Result<T, String> {
    match encoding {
        Encoding::Json => serde_json::from_slice(body).map_err(|error| error.to_string()),
        Encoding::Protobuf => T::decode(body).map_err(|error| error.to_string()),
    }
}

fn logs(request: ExportLogsServiceRequest) -> Vec<Signal> {
    let mut signals = Vec::new();
    for of_resource in request.resource_logs {
        let resource = of_resource
            .resource
            .map(|it| it.attributes)
            .unwrap_or_default();
        for of_scope in of_resource.scope_logs {
            for record in of_scope.log_records {
                let attributes = attributes(&[&resource, &record.attributes]);
                let body = record.body.as_ref().map(|body| json(body, DEPTH));
                let named = |name: &str| {
                    attributes
                        .get(name)
                        .and_then(Value::as_str)
                        .map(str::to_owned)
                };
                let own = Some(record.event_name).filter(|name| !name.is_empty());
                let said = body.as_ref().and_then(Value::as_str).map(str::to_owned);
                let name = named("event.name").or(own).or_else(|| said.clone());
                let nanos = match record.time_unix_nano {
                    0 => record.observed_time_unix_nano,
                    nanos => nanos,
                };
                let mut signal = Signal {
                    name: name.unwrap_or_default(),
                    nanos: (nanos, nanos),
                    span: hex(&record.span_id),
                    trace: hex(&record.trace_id),
                    is_span: false,
                    failure: None,
                    attributes,
                };
                if let Some(body) = body {
                    signal.attributes.insert("body".to_owned(), body);
                }
                signals.push(signal);
            }
        }
    }
    signals
}

fn spans(request: ExportTraceServiceRequest) -> Vec<Signal> {
    /// The code of a status that is an error.
    const ERROR: i32 = 2;
    let mut signals = Vec::new();
    for of_resource in request.resource_spans {
        let resource = of_resource
            .resource
            .map(|it| it.attributes)
            .unwrap_or_default();
        for of_scope in of_resource.scope_spans {
            for span in of_scope.spans {
                let failed = span.status.filter(|status| status.code == ERROR);
                signals.push(Signal {
                    attributes: attributes(&[&resource, &span.attributes]),
                    name: span.name,
                    nanos: (span.start_time_unix_nano, span.end_time_unix_nano),
                    span: hex(&span.span_id),
                    trace: hex(&span.trace_id),
                    is_span: true,
                    failure: failed.map(|status| match status.message.is_empty() {
                        true => "it failed".to_owned(),
                        false => status.message,
                    }),
                });
            }
        }
    }
    signals
}

/// Attributes as JSON; of those of one name the last.
fn attributes(lists: &[&[KeyValue]]) -> Map<String, Value> {
    let all = lists.iter().flat_map(|list| list.iter());
    all.map(|it| {
        let value = it
            .value
            .as_ref()
            .map_or(Value::Null, |value| json(value, DEPTH));
        (it.key.clone(), value)
    })
    .collect()
}

fn json(value: &AnyValue, depth: usize) -> Value {
    let Some(depth) = depth.checked_sub(1) else {
        return Value::String("(too deep)".to_owned());
    };
    match &value.value {
        None => Value::Null,
        Some(Any::StringValue(text)) => Value::String(text.clone()),
        Some(Any::BoolValue(value)) => Value::Bool(*value),
        Some(Any::IntValue(value)) => Value::from(*value),
        Some(Any::DoubleValue(value)) => Value::from(*value),
        Some(Any::ArrayValue(list)) => list.values.iter().map(|it| json(it, depth)).collect(),
        Some(Any::KvlistValue(list)) => {
            let pairs = list.values.iter().map(|it| {
                let value = it
                    .value
                    .as_ref()
                    .map_or(Value::Null, |value| json(value, depth));
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
