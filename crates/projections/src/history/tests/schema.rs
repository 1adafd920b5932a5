//! What histories show of an event satisfies its JSON Schema.

use annals_domain::StreamKind;
use annals_wire::event_docs::schema_of;
use serde_json::Value;

use super::super::history_entry;
use crate::testing::{Story, redacted};

/// Where a value does not satisfy a schema, by the keywords that the events' schemas have.
fn faults(root: &Value, schema: &Value, value: &Value, path: &str, found: &mut Vec<String>) {
    let Value::Object(keywords) = schema else {
        return found.extend((schema != &Value::Bool(true)).then(|| path.to_owned()));
    };
    for (keyword, said) in keywords {
        let holds = match keyword.as_str() {
            "$ref" => {
                let target = said.as_str().unwrap().trim_start_matches('#');
                faults(root, root.pointer(target).unwrap(), value, path, found);
                true
            }
            "anyOf" => said.as_array().unwrap().iter().any(|form| {
                let mut own = Vec::new();
                faults(root, form, value, path, &mut own);
                own.is_empty()
            }),
            "type" => match said {
                Value::Array(types) => types.iter().any(|it| is_of_type(it, value)),
                one => is_of_type(one, value),
            },
            "const" => said == value,
            "required" => {
                let mut names = said.as_array().unwrap().iter();
                names.all(|name| value.get(name.as_str().unwrap()).is_some())
            }
            "properties" => {
                for (name, schema) in said.as_object().unwrap() {
                    if let Some(member) = value.get(name) {
                        faults(root, schema, member, &format!("{path}.{name}"), found);
                    }
                }
                let all = value.as_object().into_iter().flatten();
                all.filter(|(name, _)| said.get(name).is_none()).count() == 0
            }
            "items" => {
                for item in value.as_array().into_iter().flatten() {
                    faults(root, said, item, &format!("{path}[]"), found);
                }
                true
            }
            "prefixItems" => {
                let items = value.as_array().into_iter().flatten();
                for (schema, item) in said.as_array().unwrap().iter().zip(items) {
                    faults(root, schema, item, &format!("{path}[]"), found);
                }
                true
            }
            "minItems" | "maxItems" => value
                .as_array()
                .is_none_or(|items| Some(items.len() as u64) == said.as_u64()),
            // Numbers are as large as their types allow, and formats are those of their types.
            "minimum" | "maximum" | "format" | "pattern" | "additionalProperties" => true,
            "title" | "description" | "x-part" | "x-number" | "x-version" | "$schema" | "$defs" => {
                true
            }
            other => panic!("{path}: nothing is known of {other}"),
        };
        if !holds {
            found.push(format!("{path}: {keyword} of {value}"));
        }
    }
}

fn is_of_type(name: &Value, value: &Value) -> bool {
    match name.as_str().unwrap() {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("no type {other}"),
    }
}

#[test]
fn what_is_shown_of_an_event_satisfies_its_schema() {
    for kind in StreamKind::ALL {
        for story in [Story::of_all_samples(*kind), Story::of_adopted(*kind)] {
            for record in story.records() {
                let bare = redacted(&record, |_| true);
                for record in [record, bare] {
                    let entry = history_entry(&story.entry(&record));
                    let schema = schema_of(entry.event_type).expect(entry.event_type);
                    let mut found = Vec::new();
                    faults(&schema, &schema, &entry.event, entry.event_type, &mut found);
                    assert_eq!(found, Vec::<String>::new());
                }
            }
        }
    }
}
