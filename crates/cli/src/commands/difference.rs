//! Changes for people: a value before and after, and the event that changed it.

use annals::domain::Kind;
use annals::projections::past::{Cause, Change, DiffLine, PatchOp, line_diff};
use annals::{CausedChange, ObjectDiff};
use serde_json::Value;

use crate::error::CliError;
use crate::output::{Output, Style, counted, short, when, who};

/// Characters of a value on one line.
const MAX_VALUE: usize = 100;
/// Characters of a line of a long text.
const MAX_LINE: usize = 200;
/// Lines of a long text.
const MAX_LINES: usize = 40;
/// Lines around those that differ.
const CONTEXT: usize = 2;
/// Fields that nearly every event changes: shown last.
const LAST: [&str; 2] = ["updated_at", "checksum"];

/// Fields that are in the title, or say nothing to people.
const TITLE: [&str; 4] = [
    "object_type",
    "object_id",
    "header_version",
    "schema_version",
];

/// An event in a few words.
pub(super) fn event(cause: &Cause) -> String {
    format!(
        "event {} {}, {}, {}",
        cause.position,
        cause.event_type,
        when(cause.occurred_at),
        who(&cause.actor)
    )
}

/// What changed of an object, by the events that changed it, in the order of the log.
pub(super) fn object(diff: &ObjectDiff, output: &mut Output) -> Result<(), CliError> {
    let title = title(diff.object_type, diff.object_id);
    let title = output.style(Style::Bold, &title);
    let made = if diff.existed {
        ""
    } else {
        ", made in between"
    };
    let mut causes: Vec<&Cause> = diff.changes.iter().map(|it| &it.cause).collect();
    causes.sort_by_key(|cause| cause.position);
    causes.dedup_by_key(|cause| cause.position);
    let changes = counted(diff.changes.len() as u64, "change", "changes");
    let events = counted(diff.events, "event", "events");
    output.line(&format!("{title}: {changes}, {events}{made}"))?;
    for cause in causes {
        output.line(&output.style(Style::Dim, &format!("  {}", event(cause))))?;
        let is_its = |it: &&CausedChange| it.cause.position == cause.position;
        let is_last = |it: &CausedChange| LAST.contains(&it.change.place.to_string().as_str());
        let (last, first): (Vec<_>, Vec<_>) = diff
            .changes
            .iter()
            .filter(is_its)
            .partition(|it| is_last(it));
        let shown = first.into_iter().chain(last);
        for caused in shown.filter(|it| diff.existed || says_something(&it.change)) {
            change(&caused.change, "    ", output)?;
        }
    }
    Ok(())
}

/// Whether a field of an object that came to be says more than its title, and that there is nothing.
fn says_something(change: &Change) -> bool {
    let is_empty = match &change.new {
        None | Some(Value::Null) => true,
        Some(Value::Array(list)) => list.is_empty(),
        Some(Value::Object(fields)) => fields.is_empty() && !change.place.is_root(),
        Some(_) => false,
    };
    !is_empty && !TITLE.contains(&change.place.to_string().as_str())
}

/// An object's kind and the end of its id.
pub(super) fn title(kind: Kind, id: uuid::Uuid) -> String {
    format!("{} {}", kind.object_type(), short(id))
}

/// One change: on one line, or a long text as the lines that differ.
pub(super) fn change(change: &Change, indent: &str, output: &mut Output) -> Result<(), CliError> {
    let place = match change.place.is_root() {
        true => String::new(),
        false => format!("{}: ", change.place),
    };
    if let (Some(Value::String(old)), Some(Value::String(new))) = (&change.old, &change.new)
        && (is_long(old) || is_long(new))
    {
        return long_text(&place, (old, new), indent, output);
    }
    if change.op == PatchOp::Add && change.place.is_root() {
        return output.line(&format!("{indent}it came to be"));
    }
    // What was not there before.
    let old = change
        .old
        .as_ref()
        .filter(|old| !(old.is_null() && change.place.is_root()));
    let old = old.map(value);
    let new = change.new.as_ref().map(value);
    let removed = old.map(|old| output.style(Style::Removed, &old));
    let added = new.map(|new| output.style(Style::Added, &new));
    let shown = match (removed, added) {
        (Some(old), Some(new)) => format!("~ {place}{old} -> {new}"),
        (None, Some(new)) => format!("+ {place}{new}"),
        (Some(old), None) => format!("- {place}{old}"),
        (None, None) => return Ok(()),
    };
    output.line(&format!("{indent}{shown}"))
}

fn is_long(text: &str) -> bool {
    text.contains('\n') || text.chars().count() > MAX_VALUE
}

fn long_text(
    place: &str,
    (old, new): (&str, &str),
    indent: &str,
    output: &mut Output,
) -> Result<(), CliError> {
    output.line(format!("{indent}~ {place}").trim_end())?;
    let lines = line_diff(old, new, CONTEXT);
    for line in lines.iter().take(MAX_LINES) {
        let shown = match line {
            DiffLine::Same(text) => format!("  {}", cut(text, MAX_LINE)),
            DiffLine::Removed(text) => {
                output.style(Style::Removed, &format!("- {}", cut(text, MAX_LINE)))
            }
            DiffLine::Added(text) => {
                output.style(Style::Added, &format!("+ {}", cut(text, MAX_LINE)))
            }
            DiffLine::Skipped(lines) => {
                let same = counted(*lines as u64, "line", "lines");
                output.style(Style::Dim, &format!("  … {same} …"))
            }
        };
        output.line(&format!("{indent}  {shown}"))?;
    }
    match lines.len().saturating_sub(MAX_LINES) {
        0 => Ok(()),
        more => {
            let more = counted(more as u64, "more line", "more lines");
            let more = output.style(Style::Dim, &format!("… {more}; --json has all"));
            output.line(&format!("{indent}  {more}"))
        }
    }
}

/// A value on one line: a text as it is, everything else as JSON.
pub(super) fn value(value: &Value) -> String {
    match value {
        Value::String(text) if !text.is_empty() && text.trim() == text => cut(text, MAX_VALUE),
        other => cut(&other.to_string(), MAX_VALUE),
    }
}

/// The beginning of a text.
pub(super) fn cut(text: &str, most: usize) -> String {
    let mut cut: String = text.chars().take(most).collect();
    if cut.len() < text.len() {
        cut.push('…');
    }
    cut
}
