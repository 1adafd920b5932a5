//! Lists of things to do, as agents keep them.

use serde_json::Value;

use super::words::one_line;

/// How far a list is, and what is being done: `1 of 4 done, now: Update the tests`. None, if it is no such list.
pub(super) fn progress(list: &[Value]) -> Option<String> {
    let mut done = 0;
    let mut now = None;
    for item in list {
        let status = item.get("status").and_then(Value::as_str);
        match status.unwrap_or_default() {
            "completed" | "done" | "complete" | "finished" => done += 1,
            "in_progress" | "in-progress" | "inProgress" | "active" => now = now.or(said(item)),
            _ => {
                said(item)?;
            }
        }
    }
    let first = list.first().and_then(said);
    let next = match now {
        Some(now) => format!(", now: {}", one_line(now)),
        None if done == 0 => first.map_or(String::new(), |first| {
            format!(", first: {}", one_line(first))
        }),
        None => String::new(),
    };
    Some(format!("{done} of {} done{next}", list.len()))
}

fn said(item: &Value) -> Option<&str> {
    let names = ["content", "step", "title", "description", "text", "task"];
    let own = item.as_str();
    own.or_else(|| names.iter().find_map(|name| item.get(name)?.as_str()))
}
