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
    let text = text.filter(|text| !text.trim().is_empty());
    let root = parse(text.unwrap_or("{}\n"))?;
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
    Ok(root.to_string())
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
        let before = list.elements().len();
        clear(&list, agent);
        if list.elements().len() < before {
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
        true => Ok(root.to_string()),
        false => Ok(text.to_owned()),
    }
}

/// Takes our entries out of a list, and groups that have no others.
fn clear(list: &CstArray, agent: HookAgent) {
    for element in list.elements() {
        let Some(object) = element.as_object() else {
            continue;
        };
        match object.array_value("hooks") {
            Some(inner) => {
                let mut removed = false;
                for hook in inner.elements() {
                    if command(&hook).is_some_and(|command| is_ours(agent, &command)) {
                        hook.remove();
                        removed = true;
                    }
                }
                if removed && inner.elements().is_empty() {
                    element.remove();
                }
            }
            None => {
                if command(&element).is_some_and(|command| is_ours(agent, &command)) {
                    element.remove();
                }
            }
        }
    }
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
