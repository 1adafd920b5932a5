//! `annals events`: the documentation of all events.

use annals::domain::{AnyEvent, StreamKind};
use annals::wire::event_docs::{self, FieldDoc, Part};
use serde_json::{Value, json};

use crate::context::Context;
use crate::error::CliError;

pub(crate) fn run(context: &mut Context) -> Result<(), CliError> {
    if !context.output.is_json() {
        return context
            .output
            .raw(annals::wire::events_markdown().as_bytes());
    }
    let versions = AnyEvent::types();
    for kind in StreamKind::ALL {
        for doc in event_docs::events(*kind) {
            let version = versions.iter().find(|(_, name, _)| *name == doc.event_type);
            context.output.json(&json!({
                "event_type": doc.event_type,
                "stream": kind.as_str(),
                "schema_version": version.map(|(_, _, version)| version),
                "meaning": doc.meaning,
                "sets": sets(doc.event_type),
                "fields": fields(doc.fields),
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
        let (part, inner) = match doc.part {
            Part::Structure => ("structure", None),
            Part::Content => ("content", None),
            Part::Name => ("name", None),
            Part::Group(inner) => ("group", Some(fields(inner))),
            Part::Groups(inner) => ("list", Some(fields(inner))),
        };
        let (name, meaning) = (doc.name, doc.meaning);
        let mut value = json!({ "name": name, "type": doc.kind, "part": part, "meaning": meaning });
        if let Some(inner) = inner {
            value["fields"] = inner.into();
        }
        value
    };
    docs.iter().map(field).collect()
}
