//! The JSON Schemas of the events, as `annals log history --json` shows them: with content in its place.

use std::collections::BTreeSet;

use annals_domain::{AnyEvent, StreamKind};
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::sorted;

const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";
/// What a reference to a definition begins with.
const DEFINITIONS: &str = "#/$defs/";

/// One event's schema.
pub(super) struct EventSchema {
    pub(super) stream: StreamKind,
    pub(super) event_type: &'static str,
    pub(super) version: u16,
    /// The schema of its fields, which refers to definitions.
    pub(super) fields: Map<String, Value>,
}

/// Events' schemas, and what they refer to.
pub(super) struct Schemas {
    pub(super) events: Vec<EventSchema>,
    pub(super) definitions: Map<String, Value>,
}

impl Schemas {
    /// The schemas of all events.
    pub(super) fn of_all() -> Schemas {
        Schemas::of(|_| true)
    }

    fn of(is_asked: impl Fn(&str) -> bool) -> Schemas {
        let mut generator = SchemaSettings::draft2020_12()
            .for_serialize()
            .into_generator();
        let types = AnyEvent::types().into_iter();
        let events = types
            .filter(|(_, event_type, _)| is_asked(event_type))
            .map(|(stream, event_type, version)| EventSchema {
                stream,
                event_type,
                version,
                fields: fields(stream, event_type, &mut generator),
            })
            .collect();
        let mut schemas = Schemas {
            events,
            definitions: members(sorted(generator.take_definitions(true).into())),
        };
        schemas.drop_unused();
        schemas
    }

    /// Events themselves are definitions, too; those that are not a part of another are left out.
    fn drop_unused(&mut self) {
        let mut used = BTreeSet::new();
        let events = self.events.iter().flat_map(|event| event.fields.values());
        let mut next: Vec<&Value> = events.collect();
        while let Some(value) = next.pop() {
            match value {
                Value::Object(members) => next.extend(members.values()),
                Value::Array(items) => next.extend(items),
                Value::String(text) => {
                    let name = text.strip_prefix(DEFINITIONS);
                    if let Some(name) = name.filter(|name| used.insert((*name).to_owned())) {
                        next.extend(self.definitions.get(name));
                    }
                }
                Value::Null | Value::Bool(_) | Value::Number(_) => {}
            }
        }
        self.definitions.retain(|name, _| used.contains(name));
    }
}

/// The schema of an event's fields. A named type comes as a reference; the event's schema is made
/// of the type itself.
fn fields(
    stream: StreamKind,
    event_type: &str,
    generator: &mut SchemaGenerator,
) -> Map<String, Value> {
    let schema = AnyEvent::schema(stream, event_type, generator).map(Value::from);
    let named = schema.as_ref().and_then(definition_name);
    let definition = named.and_then(|name| generator.definitions().get(name).cloned());
    definition
        .or(schema)
        .map(sorted)
        .map_or_else(Map::new, members)
}

fn members(object: Value) -> Map<String, Value> {
    match object {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

/// The name of the definition that a schema refers to.
pub(super) fn definition_name(schema: &Value) -> Option<&str> {
    schema.get("$ref")?.as_str()?.strip_prefix(DEFINITIONS)
}

/// The text of a schema's description, in one line.
pub(super) fn description(schema: &Value) -> String {
    let text = schema.get("description").and_then(Value::as_str);
    text.unwrap_or_default().replace('\n', " ")
}

fn titled(event: &EventSchema) -> Map<String, Value> {
    let mut schema = event.fields.clone();
    schema.insert("title".into(), event.event_type.into());
    schema.insert("x-version".into(), event.version.into());
    schema
}

/// The JSON Schema of one event in the current version of its shape, with what it refers to.
/// `None` where no event has this name.
pub fn schema_of(event_type: &str) -> Option<Value> {
    let Schemas {
        events,
        definitions,
    } = Schemas::of(|found| found == event_type);
    let mut schema = titled(events.first()?);
    schema.insert("$schema".into(), DIALECT.into());
    schema.insert("$defs".into(), definitions.into());
    Some(sorted(schema.into()))
}

/// The JSON Schemas of all events in one document, by their names.
pub fn all_schemas() -> Value {
    let Schemas {
        events,
        definitions,
    } = Schemas::of_all();
    let named = events
        .iter()
        .map(|event| (event.event_type.to_owned(), titled(event).into()));
    sorted(json!({
        "$schema": DIALECT,
        "title": "Annals events",
        "description": "The member `event` of what `annals log history --json` prints, by event type.",
        "events": named.collect::<Map<String, Value>>(),
        "$defs": definitions,
    }))
}
