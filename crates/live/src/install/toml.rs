//! Hooks in Codex's configuration of TOML.

use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, value};

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
    let mut document = parse(text.unwrap_or_default())?;
    let hooks = document.entry("hooks").or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    let hooks = hooks.as_table_mut().ok_or("its \"hooks\" is not a table")?;
    for event in agent.events() {
        let list = hooks
            .entry(event)
            .or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()));
        let list = list.as_array_of_tables_mut();
        let list = list
            .ok_or_else(|| format!("its \"hooks.{event}\" is not written as [[hooks.{event}]]"))?;
        list.push(group(event, command));
    }
    Ok(document.to_string())
}

fn group(event: &str, command: &str) -> Table {
    let mut hook = Table::new();
    hook.insert("type", value("command"));
    hook.insert("command", value(command));
    hook.insert("timeout", value(10));
    let mut list = ArrayOfTables::new();
    list.push(hook);
    let mut group = Table::new();
    if event.contains("ToolUse") || event.contains("Permission") {
        group.insert("matcher", value("*"));
    }
    group.insert("hooks", Item::ArrayOfTables(list));
    group
}

/// A configuration without our hooks, and without what is empty then.
pub(super) fn without_hooks(text: &str, agent: HookAgent) -> Result<String, Reason> {
    if hooks(text, agent)?.is_empty() {
        return Ok(text.to_owned());
    }
    let mut document = parse(text)?;
    let Some(table) = document.get_mut("hooks").and_then(Item::as_table_mut) else {
        return Ok(text.to_owned());
    };
    let events: Vec<String> = table.iter().map(|(event, _)| event.to_owned()).collect();
    for event in events {
        let Some(list) = table.get_mut(&event).and_then(Item::as_array_of_tables_mut) else {
            continue;
        };
        let mut removed = false;
        let mut at = 0;
        while let Some(group) = list.get_mut(at) {
            let gone = clear(group, agent);
            removed |= gone.is_some();
            match gone {
                Some(true) => drop(list.remove(at)),
                _ => at += 1,
            }
        }
        if removed && list.is_empty() {
            table.remove(&event);
        }
    }
    if table.is_empty() {
        document.remove("hooks");
    }
    Ok(document.to_string())
}

/// Takes our hooks out of a group: nothing, where it has none, or else whether it is empty then.
fn clear(group: &mut Table, agent: HookAgent) -> Option<bool> {
    let list = group.get_mut("hooks")?.as_array_of_tables_mut()?;
    let before = list.len();
    list.retain(|hook| !command(hook).is_some_and(|command| is_ours(agent, command)));
    (list.len() < before).then(|| list.is_empty())
}

/// Our hooks: their events and commands.
pub(super) fn hooks(text: &str, agent: HookAgent) -> Result<Vec<(String, String)>, Reason> {
    let document = parse(text)?;
    let Some(table) = document.get("hooks").and_then(Item::as_table) else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    for (event, groups) in table {
        let groups = groups.as_array_of_tables().into_iter().flatten();
        let lists = groups.filter_map(|group| group.get("hooks")?.as_array_of_tables());
        let commands = lists.flatten().filter_map(command);
        let ours = commands.filter(|command| is_ours(agent, command));
        found.extend(ours.map(|command| (event.to_owned(), command.to_owned())));
    }
    Ok(found)
}

fn command(hook: &Table) -> Option<&str> {
    hook.get("command")?.as_str()
}

fn parse(text: &str) -> Result<DocumentMut, Reason> {
    let document: Result<DocumentMut, toml_edit::TomlError> = text.parse();
    document.map_err(|error| format!("it cannot be read as TOML: {}", error.message()))
}
