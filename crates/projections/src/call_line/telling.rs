//! The most telling argument of a tool that is not known.

use serde_json::Value;

use super::arguments::Arguments;
use super::words::one_line;

/// Arguments that are shown of a tool of another server, whose names say what they are.
const PAIRS: usize = 3;

/// Names of arguments that say most, the most telling ones first.
const TELLING: [&str; 24] = [
    "title",
    "name",
    "message",
    "question",
    "description",
    "prompt",
    "task",
    "task_id",
    "intent",
    "fact",
    "thought",
    "goal",
    "plan",
    "summary",
    "text",
    "input",
    "chars",
    "instructions",
    "shell_id",
    "bash_id",
    "session_id",
    "server",
    "key",
    "id",
];

/// What says most of a call; nothing, if it has no arguments.
pub(super) fn telling(tool: &str, args: &Arguments) -> String {
    if let Some(whole) = args.whole() {
        return one_line(whole);
    }
    let questions = args.list(&["questions"]).and_then(<[Value]>::first);
    let question = questions.and_then(|first| first.get("question")?.as_str());
    // The names of arguments of other servers' tools are part of what they say.
    let is_of_server = tool.starts_with("mcp__");
    let named = args.text(&TELLING).filter(|_| !is_of_server);
    if let Some(text) = question.or(named) {
        return one_line(text);
    }
    let scalars: Vec<(&str, String)> = args
        .members()
        .iter()
        .filter_map(|(name, value)| Some((name.as_str(), scalar(value)?)))
        .collect();
    match scalars.as_slice() {
        [] => String::new(),
        [(_, only)] if !is_of_server => one_line(only),
        scalars => {
            let shown = scalars.iter().take(PAIRS);
            let shown: Vec<String> = shown
                .map(|(name, text)| format!("{name}: {text}"))
                .collect();
            one_line(&shown.join(", "))
        }
    }
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if text.trim().is_empty() => None,
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(is_set) => Some(is_set.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}
