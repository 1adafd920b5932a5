//! `annals policy evictions`: what policies there are, and their schema.

use annals::domain::pipeline::EvictionPolicy;
use serde_json::{Value, json};

use super::commands_schema;
use crate::cli::Policies;
use crate::context::Context;
use crate::error::CliError;
use crate::output::{Column, Output, Rows};
use crate::policy_file;

pub(crate) fn run(args: &Policies, context: &mut Context) -> Result<(), CliError> {
    let output = &mut context.output;
    if let Some(path) = &args.check {
        return output.json(&policy_file::read(path)?);
    }
    let schema = schema();
    match args.schema {
        true => commands_schema::print(output, &schema),
        false => list(output, &schema),
    }
}

fn schema() -> Value {
    let mut schema = commands_schema::generator().into_root_schema_for::<EvictionPolicy>();
    schema.insert("title".to_owned(), "eviction policy".into());
    schema.into()
}

/// The policies' names, what they do, and the fields that they take: all of it
/// from the schema.
fn list(output: &mut Output, schema: &Value) -> Result<(), CliError> {
    let variants = schema.get("oneOf").and_then(Value::as_array);
    let described = variants.into_iter().flatten().filter_map(|variant| {
        let (name, body) = variant.get("properties")?.as_object()?.iter().next()?;
        let meaning = variant.get("description").and_then(Value::as_str);
        Some((name.clone(), one_line(meaning), fields(schema, body)))
    });
    let described: Vec<(String, String, Vec<String>)> = described.collect();
    if output.is_json() {
        return described.iter().try_for_each(|(name, meaning, fields)| {
            output.json(&json!({ "policy": name, "meaning": meaning, "fields": fields }))
        });
    }
    let mut rows = Rows::new([
        Column::left("POLICY", 20),
        Column::left("FIELDS", 40),
        Column::left("MEANING", 10),
    ]);
    rows.print(
        output,
        described
            .into_iter()
            .map(|(name, meaning, fields)| [name, fields.join(", "), meaning]),
    )
}

fn one_line(text: Option<&str>) -> String {
    text.unwrap_or_default().replace('\n', " ")
}

/// The fields of a policy; those that may be left out in brackets.
fn fields(schema: &Value, body: &Value) -> Vec<String> {
    let reference = body.get("$ref").and_then(Value::as_str);
    let name = reference.and_then(|it| it.strip_prefix("#/$defs/"));
    let body = name.and_then(|name| schema.get("$defs")?.get(name));
    let Some(fields) = body.and_then(|body| body.get("properties")?.as_object()) else {
        return Vec::new();
    };
    let required = body.and_then(|body| body.get("required")?.as_array());
    let is_required = |field: &str| {
        required.is_some_and(|required| required.iter().any(|it| it.as_str() == Some(field)))
    };
    let shown = |field: &String| match is_required(field) {
        true => field.clone(),
        false => format!("[{field}]"),
    };
    fields.keys().map(shown).collect()
}
