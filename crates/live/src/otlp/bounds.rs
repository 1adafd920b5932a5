//! Bounds on what a request holds, counted in its bytes before anything is made of them.
//!
//! An empty record is two bytes of protobuf, or three of JSON, and hundreds of bytes once it is decoded. So a request of
//! a few megabytes could take gigabytes. The scan walks the bytes once, allocates nothing but a stack, and counts:
//!
//! | Counted | Most | Of |
//! | --- | --- | --- |
//! | records | 20,000 | resources, scopes, log records and spans together |
//! | values | 500,000 | attributes, their values, events and links of spans |
//!
//! What is malformed is left to the decoder, which refuses it.

use prost::Message;

use super::answer::{Encoding, Kind};

/// Resources, scopes, log records and spans of a request.
pub(super) const RECORDS: usize = 20_000;
/// Attributes and other values of a request.
pub(super) const VALUES: usize = 500_000;
/// Bytes of the resources' attributes, which each of their records has: once for each record.
pub(super) const REPEATED: usize = 32 * 1024 * 1024;
/// Messages in each other that are walked through; the decoder refuses more than 100.
const DEPTH: usize = 128;

/// What there is too much of in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum TooMuch {
    #[error("the request has more than {RECORDS} records: send smaller batches")]
    Records,
    #[error("the request has more than {VALUES} attributes and values: send smaller batches")]
    Values,
    #[error(
        "the resource's attributes, counted for each record, are more than {REPEATED} bytes: send smaller batches"
    )]
    Repeated,
}

/// Demands that a body holds no more than it may.
pub(super) fn check(kind: Kind, encoding: Encoding, body: &[u8]) -> Result<(), TooMuch> {
    let mut count = Count::default();
    match encoding {
        Encoding::Json => json(body, &mut count),
        Encoding::Protobuf => protobuf(kind, body, &mut count),
    }
}

/// Demands that resources are not repeated too often: each with the number of its records.
pub(super) fn check_repeated<'a, R: Message + 'a>(
    resources: impl Iterator<Item = (Option<&'a R>, usize)>,
) -> Result<(), TooMuch> {
    let sizes = resources.map(|(resource, records)| {
        let size = resource.map_or(0, Message::encoded_len);
        size.saturating_mul(records)
    });
    match sizes.fold(0_usize, usize::saturating_add) > REPEATED {
        true => Err(TooMuch::Repeated),
        false => Ok(()),
    }
}

#[derive(Debug, Default)]
struct Count {
    records: usize,
    values: usize,
}

impl Count {
    fn record(&mut self) -> Result<(), TooMuch> {
        self.records += 1;
        match self.records > RECORDS {
            true => Err(TooMuch::Records),
            false => Ok(()),
        }
    }

    fn value(&mut self) -> Result<(), TooMuch> {
        self.values += 1;
        match self.values > VALUES {
            true => Err(TooMuch::Values),
            false => Ok(()),
        }
    }
}

/// A message of a request, by what is in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Request,
    OfResource,
    OfScope,
    Record,
    Span,
    Resource,
    Entity,
    Scope,
    SpanEvent,
    SpanLink,
    KeyValue,
    AnyValue,
    List,
    Map,
    /// Nothing in it is counted.
    Leaf,
}

impl Shape {
    /// The message in a field of this one; none where the field is not one that is counted.
    fn of_field(self, field: u64, kind: Kind) -> Option<Shape> {
        let record = match kind {
            Kind::Logs => Shape::Record,
            Kind::Traces => Shape::Span,
        };
        Some(match (self, field) {
            (Shape::Request, 1) => Shape::OfResource,
            (Shape::OfResource, 1) => Shape::Resource,
            (Shape::OfResource, 2) => Shape::OfScope,
            (Shape::OfScope, 1) => Shape::Scope,
            (Shape::OfScope, 2) => record,
            (Shape::Resource, 3) => Shape::Entity,
            (Shape::Entity, 3 | 4) => Shape::Leaf,
            (Shape::Record, 5) | (Shape::KeyValue, 2) | (Shape::List, 1) => Shape::AnyValue,
            (Shape::Span, 11) => Shape::SpanEvent,
            (Shape::Span, 13) => Shape::SpanLink,
            (Shape::AnyValue, 5) => Shape::List,
            (Shape::AnyValue, 6) => Shape::Map,
            (Shape::Resource | Shape::Map, 1)
            | (Shape::Record, 6)
            | (Shape::Span, 9)
            | (Shape::Scope | Shape::SpanEvent, 3)
            | (Shape::SpanLink, 4) => Shape::KeyValue,
            _ => return None,
        })
    }

    fn is_record(self) -> bool {
        matches!(
            self,
            Shape::OfResource | Shape::OfScope | Shape::Record | Shape::Span
        )
    }
}

/// Walks through the fields of a request and of the messages in it.
fn protobuf(kind: Kind, body: &[u8], count: &mut Count) -> Result<(), TooMuch> {
    // Each message that is open: where it ends, and what it is.
    let mut open = vec![(body.len(), Shape::Request)];
    let mut at = 0;
    loop {
        while open.last().is_some_and(|(end, _)| at >= *end) {
            open.pop();
        }
        let Some((end, shape)) = open.last().copied() else {
            return Ok(());
        };
        let Some(key) = varint(body, &mut at) else {
            return Ok(());
        };
        let length = match key & 7 {
            0 => match varint(body, &mut at) {
                Some(_) => continue,
                None => return Ok(()),
            },
            1 => 8,
            5 => 4,
            2 => match varint(body, &mut at).and_then(|it| usize::try_from(it).ok()) {
                Some(length) if length <= end.saturating_sub(at) => length,
                _ => return Ok(()),
            },
            // The marks of a group, which no message here has.
            3 | 4 => continue,
            _ => return Ok(()),
        };
        let inner = shape.of_field(key >> 3, kind).filter(|_| key & 7 == 2);
        match inner {
            None => at = at.saturating_add(length),
            Some(inner) => {
                match inner.is_record() {
                    true => count.record()?,
                    false => count.value()?,
                }
                if inner == Shape::Leaf {
                    at += length;
                } else if open.len() >= DEPTH {
                    return Ok(());
                } else {
                    open.push((at + length, inner));
                }
            }
        }
    }
}

/// A number of up to ten bytes, with seven bits in each.
fn varint(body: &[u8], at: &mut usize) -> Option<u64> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let byte = *body.get(*at)?;
        *at += 1;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

/// Counts the objects of a JSON text and the elements of its lists. Records are the objects that are as deep as resources,
/// scopes and records are.
fn json(body: &[u8], count: &mut Count) -> Result<(), TooMuch> {
    let mut open = 0_usize;
    // Of each bracket that is open whether it is a list's, as bits.
    let mut lists = 0_u128;
    let mut begins_element = false;
    let mut in_text = false;
    let mut is_escaped = false;
    for byte in body {
        if in_text {
            in_text = is_escaped || *byte != b'"';
            is_escaped = !is_escaped && *byte == b'\\';
            continue;
        }
        let is_space = matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        let is_element = begins_element && !is_space && *byte != b']';
        if is_element {
            begins_element = false;
        }
        match byte {
            b'"' => in_text = true,
            b'{' | b'[' => {
                open += 1;
                lists = (lists << 1) | u128::from(*byte == b'[');
                begins_element = *byte == b'[';
                if *byte == b'{' && matches!(open, 3 | 5 | 7) {
                    count.record()?;
                    continue;
                }
                if *byte == b'{' {
                    count.value()?;
                    continue;
                }
            }
            b'}' | b']' => {
                open = open.saturating_sub(1);
                lists >>= 1;
                begins_element = false;
            }
            b',' => begins_element = lists & 1 == 1,
            _ => {}
        }
        if is_element {
            count.value()?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
    use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
    use opentelemetry_proto::tonic::common::v1::any_value::Value;
    use opentelemetry_proto::tonic::common::v1::{AnyValue, ArrayValue, KeyValue};
    use opentelemetry_proto::tonic::logs::v1::{LogRecord, ResourceLogs, ScopeLogs};
    use opentelemetry_proto::tonic::resource::v1::Resource;
    use opentelemetry_proto::tonic::trace::v1::span::{Event, Link};
    use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span};

    use super::*;

    fn counted(kind: Kind, encoding: Encoding, body: &[u8]) -> (usize, usize) {
        let mut count = Count::default();
        match encoding {
            Encoding::Json => json(body, &mut count).unwrap(),
            Encoding::Protobuf => protobuf(kind, body, &mut count).unwrap(),
        }
        (count.records, count.values)
    }

    fn attribute() -> KeyValue {
        let element = AnyValue {
            value: Some(Value::StringValue("x".to_owned())),
        };
        let list = ArrayValue {
            values: vec![element; 3],
        };
        KeyValue {
            key: "k".to_owned(),
            value: Some(AnyValue {
                value: Some(Value::ArrayValue(list)),
            }),
            ..KeyValue::default()
        }
    }

    /// An attribute is six values: itself, its value, the list, and three elements.
    const ATTRIBUTE: usize = 6;

    fn logs() -> ExportLogsServiceRequest {
        let record = LogRecord {
            attributes: vec![attribute(); 2],
            ..LogRecord::default()
        };
        ExportLogsServiceRequest {
            resource_logs: vec![ResourceLogs {
                resource: Some(Resource {
                    attributes: vec![attribute()],
                    ..Resource::default()
                }),
                scope_logs: vec![ScopeLogs {
                    log_records: vec![record; 5],
                    ..ScopeLogs::default()
                }],
                ..ResourceLogs::default()
            }],
        }
    }

    #[test]
    fn what_a_request_holds_is_counted_before_it_is_decoded() {
        let body = logs().encode_to_vec();
        let values = 1 + ATTRIBUTE + 5 * 2 * ATTRIBUTE;
        let found = counted(Kind::Logs, Encoding::Protobuf, &body);
        assert_eq!(found, (1 + 1 + 5, values));
        let span = Span {
            attributes: vec![attribute()],
            events: vec![Event::default(); 3],
            links: vec![Link::default(); 4],
            ..Span::default()
        };
        let spans = ExportTraceServiceRequest {
            resource_spans: vec![ResourceSpans {
                scope_spans: vec![ScopeSpans {
                    spans: vec![span; 2],
                    ..ScopeSpans::default()
                }],
                ..ResourceSpans::default()
            }],
        };
        let body = spans.encode_to_vec();
        let found = counted(Kind::Traces, Encoding::Protobuf, &body);
        assert_eq!(found, (1 + 1 + 2, 2 * (ATTRIBUTE + 3 + 4)));
    }

    #[test]
    fn json_is_counted_without_its_texts() {
        let record = r#"{"body":{"stringValue":"[{,\"{[,"},"attributes":[{"key":"k","value":{"intValue":"1"}}]}"#;
        let body = format!(
            r#"{{ "resourceLogs": [ {{"scopeLogs":[{{"logRecords":[{record},{record} , {{}}]}}]}} ], "x": [1, 2,[],"a"] }}"#
        );
        let (records, values) = counted(Kind::Logs, Encoding::Json, body.as_bytes());
        assert_eq!(records, 1 + 1 + 3);
        // The request itself, of each of two records a body, an attribute and its value, and four elements.
        assert_eq!(values, 1 + 2 * 3 + 4);
        let broken = br#"{"resourceLogs":[{{{{[[[[,,,}}}]]"#;
        assert!(json(broken, &mut Count::default()).is_ok());
    }

    #[test]
    fn too_many_are_refused_however_they_are_put() {
        let tag = |field: u8| (field << 3) | 2;
        let empty = |n: usize, field: u8| [tag(field), 0].repeat(n);
        let within = |field: u8, inner: Vec<u8>| {
            let mut bytes = vec![tag(field)];
            let mut length = inner.len();
            while length >= 0x80 {
                bytes.push((length as u8 & 0x7f) | 0x80);
                length >>= 7;
            }
            bytes.push(length as u8);
            bytes.extend(inner);
            bytes
        };
        let protobuf =
            |body: &[u8]| check(Kind::Logs, Encoding::Protobuf, body).map_err(|it| it.to_string());
        let records = Err(TooMuch::Records.to_string());
        let values = Err(TooMuch::Values.to_string());
        assert_eq!(protobuf(&empty(RECORDS, 1)), Ok(()));
        assert_eq!(protobuf(&empty(RECORDS + 1, 1)), records);
        assert_eq!(protobuf(&within(1, empty(RECORDS, 2))), records);
        let many = within(1, within(2, empty(RECORDS, 2)));
        assert_eq!(protobuf(&many), records);
        let many = within(1, within(2, within(2, empty(VALUES + 1, 6))));
        assert_eq!(protobuf(&many), values);
        let many = within(1, within(1, empty(VALUES, 1)));
        assert_eq!(protobuf(&many), values);
        let mut broken = empty(RECORDS, 1);
        broken.extend([0xff; 20]);
        assert_eq!(protobuf(&broken), Ok(()));

        let json = |body: &str| check(Kind::Logs, Encoding::Json, body.as_bytes());
        let list = |n: usize, one: &str| vec![one; n].join(",");
        let body = |inner: String| format!(r#"{{"resourceLogs":[{inner}]}}"#);
        assert_eq!(json(&body(list(RECORDS, "{}"))), Ok(()));
        assert_eq!(json(&body(list(RECORDS + 1, "{}"))), Err(TooMuch::Records));
        let many = list(VALUES, "0");
        let many = body(format!(r#"{{"x":[{many}]}}"#));
        assert_eq!(json(&many), Err(TooMuch::Values));
    }

    #[test]
    fn a_large_resource_is_not_repeated_for_ever() {
        let resource = Resource {
            attributes: vec![attribute(); 1_000],
            ..Resource::default()
        };
        let size = resource.encoded_len();
        let fits = REPEATED / size;
        assert_eq!(
            check_repeated([(Some(&resource), fits)].into_iter()),
            Ok(())
        );
        let twice = [(Some(&resource), fits), (Some(&resource), 1)];
        assert_eq!(check_repeated(twice.into_iter()), Err(TooMuch::Repeated));
        assert_eq!(check_repeated([(None::<&Resource>, 9)].into_iter()), Ok(()));
    }
}
