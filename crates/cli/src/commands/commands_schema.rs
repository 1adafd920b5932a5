//! `annals service commands`: the JSON Schema of the lines that `apply` takes.

use annals::domain::{ActorRef, Command, Timestamp};
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::named::did_you_mean;
use crate::cli::Commands;
use crate::context::Context;
use crate::error::{CliError, ErrorClass};
use crate::output::{Column, Output, Rows};

const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

pub(crate) fn run(args: &Commands, context: &mut Context) -> Result<(), CliError> {
    let output = &mut context.output;
    match &args.name {
        _ if args.list => list(output),
        Some(name) if Command::NAMES.contains(&name.as_str()) => print(output, &one(name)),
        Some(name) => {
            let meant = did_you_mean(name, Command::NAMES.iter().copied());
            let name: String = name.chars().take(64).collect();
            let message = format!("there is no command {name:?}{meant}");
            Err(
                CliError::new(ErrorClass::NotFound, "unknown_command", message)
                    .hint("`annals service commands --list` names them all"),
            )
        }
        None => print(output, &all()),
    }
}

/// Prints a schema: for people indented.
pub(super) fn print(output: &mut Output, schema: &Value) -> Result<(), CliError> {
    let schema = annals::wire::sorted(schema.clone());
    if output.is_json() {
        return output.json(&schema);
    }
    let text = serde_json::to_string_pretty(&schema).map_err(CliError::json)?;
    output.lines(&text)
}

fn list(output: &mut Output) -> Result<(), CliError> {
    let mut generator = generator();
    let meanings = Command::NAMES.iter().map(|name| {
        let schema = line_schema(name, &mut generator);
        let meaning = schema
            .get("description")
            .and_then(Value::as_str)
            .unwrap_or_default();
        (*name, first_sentence(meaning))
    });
    let meanings: Vec<(&str, String)> = meanings.collect();
    if output.is_json() {
        let line =
            |(name, meaning): &(&str, String)| json!({ "command": name, "meaning": meaning });
        return meanings
            .iter()
            .try_for_each(|meaning| output.json(&line(meaning)));
    }
    let mut rows = Rows::new([Column::left("COMMAND", 24), Column::left("MEANING", 10)]);
    rows.print(
        output,
        meanings
            .into_iter()
            .map(|(name, meaning)| [name.to_owned(), meaning]),
    )
}

fn first_sentence(text: &str) -> String {
    let text = text.replace('\n', " ");
    let text = text.strip_prefix("Command: ").unwrap_or(&text);
    let sentence = text
        .split_inclusive(". ")
        .next()
        .unwrap_or_default()
        .trim_end();
    let mut letters = sentence.chars();
    letters
        .next()
        .map(char::to_uppercase)
        .into_iter()
        .flatten()
        .chain(letters)
        .collect()
}

pub(super) fn generator() -> SchemaGenerator {
    SchemaSettings::draft2020_12().into_generator()
}

/// One command's schema, with what it refers to.
fn one(name: &str) -> Value {
    let mut generator = generator();
    let mut schema = line_schema(name, &mut generator);
    schema.insert("$schema".into(), DIALECT.into());
    schema.insert("title".into(), name.into());
    schema.insert("$defs".into(), generator.take_definitions(true).into());
    schema.into()
}

/// All commands: a schema that every line satisfies, and each command's by name.
fn all() -> Value {
    let mut generator = generator();
    let mut commands = Map::new();
    for name in Command::NAMES {
        commands.insert((*name).to_owned(), line_schema(name, &mut generator).into());
    }
    let references = Command::NAMES
        .iter()
        .map(|name| json!({ "$ref": format!("#/commands/{name}") }));
    json!({
        "$schema": DIALECT,
        "title": "Annals commands",
        "description": "A line of `annals service apply`: one of these objects.",
        "oneOf": references.collect::<Vec<Value>>(),
        "commands": commands,
        "$defs": generator.take_definitions(true),
    })
}

/// A command's fields and, around them, what every line has.
fn line_schema(name: &str, generator: &mut SchemaGenerator) -> Map<String, Value> {
    let mut schema = fields_schema(name, generator);
    let properties = schema.entry("properties").or_insert_with(|| json!({}));
    if let Value::Object(properties) = properties {
        properties.extend(envelope(name, generator));
    }
    let required = schema.entry("required").or_insert_with(|| json!([]));
    if let Value::Array(required) = required {
        required.splice(0..0, [json!("command"), json!("actor")]);
    }
    schema
}

fn fields_schema(name: &str, generator: &mut SchemaGenerator) -> Map<String, Value> {
    let schema = Command::schema(name, generator).map(Value::from);
    // A named type comes as a reference; the line's schema is made of the type itself.
    let reference = schema
        .as_ref()
        .and_then(|schema| schema.get("$ref"))
        .and_then(Value::as_str);
    let definition = reference
        .and_then(|reference| reference.strip_prefix("#/$defs/"))
        .and_then(|definition| generator.definitions_mut().remove(definition));
    match definition.or(schema) {
        Some(Value::Object(schema)) => schema,
        _ => Map::new(),
    }
}

fn envelope(name: &str, generator: &mut SchemaGenerator) -> Map<String, Value> {
    let uuid =
        |meaning: &str| json!({ "type": "string", "format": "uuid", "description": meaning });
    let described = |schema: schemars::Schema, meaning: &str| {
        let mut schema = Value::from(schema);
        if let Value::Object(schema) = &mut schema {
            schema.insert("description".into(), meaning.into());
        }
        schema
    };
    let actor = generator.subschema_for::<ActorRef>();
    let at = generator.subschema_for::<Timestamp>();
    let fields = [
        (
            "command",
            json!({ "const": name, "description": "The command's name." }),
        ),
        ("actor", described(actor, "Who gives the command.")),
        (
            "at",
            described(at, "When it happened, RFC 3339; left out, now."),
        ),
        (
            "key",
            uuid("The batch id: repeating a line with the same key is safe."),
        ),
        (
            "correlation",
            uuid("What the events belong to, beyond their batch."),
        ),
        ("causation", uuid("The event that led to them.")),
    ];
    fields
        .into_iter()
        .map(|(name, schema)| (name.to_owned(), schema))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reference_is_defined() {
        fn references(value: &Value, found: &mut Vec<String>) {
            match value {
                Value::Object(fields) => {
                    for (name, value) in fields {
                        match value {
                            Value::String(target) if name == "$ref" => found.push(target.clone()),
                            value => references(value, found),
                        }
                    }
                }
                Value::Array(items) => items.iter().for_each(|item| references(item, found)),
                _ => {}
            }
        }
        let documents = Command::NAMES.iter().map(|name| one(name)).chain([all()]);
        for document in documents {
            let mut found = Vec::new();
            references(&document, &mut found);
            assert!(!found.is_empty());
            for target in found {
                let pointer = target.trim_start_matches('#');
                assert!(
                    document.pointer(pointer).is_some(),
                    "{target} in {}",
                    document["title"]
                );
            }
        }
    }

    #[test]
    fn fields_of_lines_and_of_commands_do_not_clash() {
        let mut generator = generator();
        for name in Command::NAMES {
            let own = fields_schema(name, &mut generator);
            for field in ["command", "actor", "at", "key", "correlation", "causation"] {
                assert!(
                    own["properties"].get(field).is_none(),
                    "{name} has a field {field}"
                );
            }
            assert!(own.contains_key("description"), "{name} is not described");
        }
    }

    #[test]
    fn the_list_has_one_sentence_each() {
        assert_eq!(first_sentence("Command: seals\nit. More."), "Seals it.");
    }
}
