//! `annals service events`: the documentation of all events, and their JSON Schemas.

use annals::domain::{AnyEvent, StreamKind};
use annals::wire::event_docs::{self, FieldDoc, Part};
use serde_json::{Value, json};

use super::commands_schema;
use super::named::did_you_mean;
use crate::cli::Events;
use crate::context::Context;
use crate::error::{CliError, ErrorClass};
use crate::output::Output;

pub(crate) fn run(args: &Events, context: &mut Context) -> Result<(), CliError> {
    let output = &mut context.output;
    match &args.name {
        Some(name) => {
            let schema = event_docs::schema_of(name).ok_or_else(|| unknown(name))?;
            commands_schema::print(output, &schema)
        }
        None if args.schema => commands_schema::print(output, &event_docs::all_schemas()),
        None => document(output),
    }
}

/// The error of a name that no event type has.
pub(super) fn unknown(name: &str) -> CliError {
    let types = AnyEvent::types();
    let meant = did_you_mean(name, types.iter().map(|(_, known, _)| *known));
    let name: String = name.chars().take(64).collect();
    let message = format!("there is no event type {name:?}{meant}");
    CliError::new(ErrorClass::NotFound, "unknown_event_type", message)
        .hint("`annals service events` describes them all")
}

fn document(output: &mut Output) -> Result<(), CliError> {
    if !output.is_json() {
        return output.raw(annals::wire::events_markdown().as_bytes());
    }
    for kind in StreamKind::ALL {
        for doc in event_docs::events(*kind) {
            output.json(&json!({
                "event_type": doc.event_type,
                "stream": kind.as_str(),
                "schema_version": doc.version,
                "meaning": doc.meaning,
                "sets": sets(doc.event_type),
                "fields": fields(&doc.fields),
            }))?;
        }
    }
    Ok(())
}

/// Objects and the fields of theirs that an event sets.
fn sets(event_type: &str) -> Value {
    let sets = event_docs::sets(event_type).iter();
    let named = sets.map(|(kind, fields)| (kind.to_string(), json!(fields)));
    Value::Object(named.collect())
}

fn fields(docs: &[FieldDoc]) -> Vec<Value> {
    let field = |doc: &FieldDoc| {
        let (part, inner) = match &doc.part {
            Part::Structure => ("structure", None),
            Part::Content => ("content", None),
            Part::Name => ("name", None),
            Part::Group(inner) => ("group", Some(fields(inner))),
            Part::Groups(inner) => ("list", Some(fields(inner))),
        };
        let mut value = json!({
            "name": doc.name,
            "type": doc.kind,
            "part": part,
            "meaning": doc.meaning,
        });
        if let Some(inner) = inner {
            value["fields"] = inner.into();
        }
        value
    };
    docs.iter().map(field).collect()
}
