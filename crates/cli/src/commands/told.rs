//! Rows of events: what `log` and `history` have in common.

use annals::projections::HistoryEntry;
use serde_json::Value;

use crate::output::{Output, Row};

/// What stands before the lines behind a row.
const INDENT: &str = "          ";
/// Characters of such a line.
const MOST: usize = 2_000;

/// What an event was made of that its line leaves out: of a tool call its arguments and its result.
const MORE: [&str; 4] = ["args", "result_summary", "failure", "tool_invocation"];

/// A row with the event's time, told what was called where that is known, and with `-v` the rest.
pub(super) fn row<const N: usize>(
    cells: [String; N],
    told: Option<&HistoryEntry>,
    day: Option<String>,
    is_verbose: bool,
) -> Row<N> {
    let row = Row::from(cells).with_line_above(day);
    let row = row.with_call(told.and_then(|told| told.call.as_ref()));
    match told.filter(|_| is_verbose) {
        Some(told) => row.with_lines_below(more(told)),
        None => row,
    }
}

/// What is to be said of a call beyond its line, a line each.
fn more(told: &HistoryEntry) -> Vec<String> {
    if told.call.is_none() {
        return Vec::new();
    }
    // What was adopted has the call in a part of its own.
    let event = told.event.get("invocation").unwrap_or(&told.event);
    let fields = MORE.iter().filter_map(|name| {
        let text = match event.get(name)? {
            Value::Null => return None,
            Value::String(text) => text.clone(),
            value => value.to_string(),
        };
        let mut cut: String = text.chars().take(MOST).collect();
        if cut.len() < text.len() {
            cut.push('…');
        }
        Some((*name, cut))
    });
    let lines = fields.flat_map(|(name, text)| {
        let name = name.replace('_', " ");
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.into_iter().enumerate().map(move |(index, line)| {
            let name = if index == 0 { name.as_str() } else { "" };
            format!("{INDENT}{name:15}  {line}")
        })
    });
    lines.collect()
}

/// The width of a column with the times of events.
pub(super) fn when_width(output: &Output) -> u16 {
    match output.screen() {
        // `59 min 59 s ago`
        Some(_) => 15,
        // `2026-01-31 12:00:00 +01:00`
        None => 20,
    }
}
