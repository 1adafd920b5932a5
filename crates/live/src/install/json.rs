//! Hooks in a configuration of JSON, with or without comments.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstRootNode};
use serde_json::{Value, json};

use super::is_ours;
use crate::hook::HookAgent;

/// Why a configuration is not changed.
type Reason = String;

/// A configuration with our hooks, which it does not have.
pub(super) fn with_hooks(
    text: Option<&str>,
    agent: HookAgent,
    command: &str,
) -> Result<String, Reason> {
    let (mark, text) = without_mark(text.unwrap_or_default());
    let root = parse(if text.trim().is_empty() { "{}\n" } else { text })?;
    let object = root
        .object_value_or_create()
        .ok_or("it is not a JSON object")?;
    if agent == HookAgent::Cursor && object.get("version").is_none() {
        object.append("version", CstInputValue::Number("1".to_owned()));
    }
    let hooks = object
        .object_value_or_create("hooks")
        .ok_or("its field \"hooks\" is not an object")?;
    for event in agent.events() {
        let list = hooks.array_value_or_create(event);
        let list = list.ok_or_else(|| format!("its field \"hooks.{event}\" is not a list"))?;
        list.ensure_multiline();
        list.append(input(&entry(agent, event, command)));
    }
    Ok(format!("{mark}{root}"))
}

/// The byte order mark that some editors put before a text, and the text.
fn without_mark(text: &str) -> (&str, &str) {
    let mark = if text.starts_with('\u{feff}') {
        "\u{feff}"
    } else {
        ""
    };
    (mark, text.get(mark.len()..).unwrap_or_default())
}

/// The entry of a hook, as the agent takes it.
fn entry(agent: HookAgent, event: &str, command: &str) -> Value {
    match agent {
        // Its hooks are let through when they fail, unless they say otherwise.
        HookAgent::Cursor if event == "preToolUse" && is_closed(command) => {
            json!({ "command": command, "timeout": 10, "failClosed": true })
        }
        HookAgent::Cursor => json!({ "command": command, "timeout": 10 }),
        // In milliseconds.
        HookAgent::Gemini => json!({
            "hooks": [{ "type": "command", "command": command, "name": "annals", "timeout": 10_000 }],
        }),
        _ => {
            let hook = json!([{ "type": "command", "command": command, "timeout": 10 }]);
            match event.contains("ToolUse") || event.contains("Permission") {
                true => json!({ "matcher": "*", "hooks": hook }),
                false => json!({ "hooks": hook }),
            }
        }
    }
}

/// Whether a hook's command refuses calls that it cannot judge.
fn is_closed(command: &str) -> bool {
    command
        .split_whitespace()
        .any(|word| word == "--fail-closed")
}

/// A configuration without our hooks, and without what is empty then.
pub(super) fn without_hooks(text: &str, agent: HookAgent) -> Result<String, Reason> {
    let root = parse(text)?;
    let hooks = root.object_value().and_then(|it| it.object_value("hooks"));
    let Some(hooks) = hooks else {
        return Ok(text.to_owned());
    };
    let mut removed = false;
    for property in hooks.properties() {
        let Some(list) = property.array_value() else {
            continue;
        };
        if clear(&list, agent) {
            removed = true;
            if list.elements().is_empty() {
                property.remove();
            }
        }
    }
    if removed && hooks.properties().is_empty() {
        let property = root.object_value().and_then(|it| it.get("hooks"));
        if let Some(property) = property {
            property.remove();
        }
    }
    match removed {
        true => Ok(format!("{}{root}", without_mark(text).0)),
        false => Ok(text.to_owned()),
    }
}

/// Takes our entries out of a list, and groups that have no others; whether there were any.
fn clear(list: &CstArray, agent: HookAgent) -> bool {
    let is_own = |node: &CstNode| command(node).is_some_and(|command| is_ours(agent, &command));
    let mut removed = false;
    for element in list.elements() {
        let inner = element.as_object().and_then(|it| it.array_value("hooks"));
        let Some(inner) = inner else {
            if is_own(&element) {
                element.remove();
                removed = true;
            }
            continue;
        };
        let ours = inner.elements().into_iter().filter(is_own);
        let ours: Vec<CstNode> = ours.collect();
        removed |= !ours.is_empty();
        let is_all = ours.len() == inner.elements().len();
        match is_all && !ours.is_empty() {
            true => element.remove(),
            false => ours.into_iter().for_each(CstNode::remove),
        }
    }
    removed
}

/// Our hooks: their events and commands.
pub(super) fn hooks(text: &str, agent: HookAgent) -> Result<Vec<(String, String)>, Reason> {
    let root = parse(text)?;
    let hooks = root.object_value().and_then(|it| it.object_value("hooks"));
    let properties = hooks
        .map(|hooks: CstObject| hooks.properties())
        .unwrap_or_default();
    let mut found = Vec::new();
    for property in properties {
        let (Some(event), Some(list)) = (property.decoded_name(), property.array_value()) else {
            continue;
        };
        for element in list.elements() {
            let inner = element.as_object().and_then(|it| it.array_value("hooks"));
            let each = inner.map_or_else(|| vec![element.clone()], |inner| inner.elements());
            let commands = each.iter().filter_map(command);
            let ours = commands.filter(|command| is_ours(agent, command));
            found.extend(ours.map(|command| (event.clone(), command)));
        }
    }
    Ok(found)
}

/// The command of an entry.
fn command(node: &CstNode) -> Option<String> {
    let value = node.as_object()?.get("command")?.value()?;
    value.as_string_lit()?.decoded_value().ok()
}

fn parse(text: &str) -> Result<CstRootNode, Reason> {
    let (_, text) = without_mark(text);
    let root = CstRootNode::parse(text, &ParseOptions::default());
    root.map_err(|error| format!("it cannot be read as JSON: {error}"))
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(value) => CstInputValue::Number(value.to_string()),
        Value::String(value) => CstInputValue::String(value.clone()),
        Value::Array(values) => CstInputValue::Array(values.iter().map(input).collect()),
        Value::Object(fields) => {
            let fields = fields
                .iter()
                .map(|(name, value)| (name.clone(), input(value)));
            CstInputValue::Object(fields.collect())
        }
    }
}
