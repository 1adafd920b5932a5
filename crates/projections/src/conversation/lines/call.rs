//! Tool calls as lines.

use annals_domain::Timestamp;
use annals_domain::run::{ToolDecider, ToolVerdict};

use super::text_line::{Emphasis, TextLine};
use super::{CallOutcome, CallRole, Diffs, Folding, ToolCallTurn};
use crate::conversation::leaves::Leaves;
use crate::conversation::{CallDecisionTurn, CallResult};
use crate::{Text, duration};

/// Lines of the message of a call that failed or was denied.
const MESSAGE: usize = 10;
/// A duration in milliseconds that a folded call shows.
const NOTABLE: u64 = 1_000;

/// A call in one line: `• Edit common.go +3 -12 · 1 s`.
pub(super) fn line_of(call: &ToolCallTurn) -> TextLine {
    let mark = match call.outcome {
        CallOutcome::Failed | CallOutcome::Denied => Emphasis::Removed,
        _ => Emphasis::Dim,
    };
    let (head, tail) = (call.line.head(), call.line.tail());
    let mut line = TextLine::new(mark, "• ")
        .with(Emphasis::Strong, &head)
        .with(Emphasis::Plain, call.line.what());
    // The tail has the counts of the arguments; those of the recorded files are exact.
    let (counts, end) = split(&tail);
    let has_edits = !call.edits.is_empty();
    match has_edits.then(|| call.changed_lines()) {
        Some((added, deleted)) => {
            line = line
                .with(Emphasis::Added, &format!(" +{added}"))
                .with(Emphasis::Removed, &format!(" -{deleted}"));
        }
        None => line = line.with(Emphasis::Plain, counts),
    }
    // The outcome of the conversation counts: a later event can change how the call ended.
    let end = match call.outcome {
        CallOutcome::Denied | CallOutcome::NoResult => "",
        _ => end,
    };
    line = line.with(mark, end);
    let outcome = match call.outcome {
        CallOutcome::Failed if !end.is_empty() => None,
        outcome => outcome.words(),
    };
    if let Some(outcome) = outcome {
        line = line.with(mark, &format!(" · {outcome}"));
    }
    match call.duration_ms.filter(|took| *took >= NOTABLE) {
        Some(took) if call.outcome == CallOutcome::Denied => {
            line.with(mark, &format!(" ({})", short(took)))
        }
        Some(took) if !end.contains(&format!("({})", duration(took))) => {
            line.with(Emphasis::Dim, &format!(" · {}", short(took)))
        }
        _ => line,
    }
    .cut()
}

/// The decision that denied a call, with its words.
fn denial(call: &ToolCallTurn) -> Option<(&CallDecisionTurn, &str)> {
    if call.outcome != CallOutcome::Denied {
        return None;
    }
    let mut decisions = call.decisions.iter().rev();
    let denied = decisions.find(|decision| decision.verdict == ToolVerdict::Deny)?;
    let words = denied.reason.as_ref()?.as_str()?.trim();
    (!words.is_empty()).then_some((denied, words))
}

/// The line of a denied call, with the words of the denial behind it.
fn denied_line(
    call: &ToolCallTurn,
    (decision, words): (&CallDecisionTurn, &str),
    out: &mut Vec<TextLine>,
) {
    let mut line = line_of(call);
    line.is_cut = false;
    let (open, close) = match decision.by {
        ToolDecider::Person => ("“", "”"),
        by => {
            let name = decision.name.as_deref();
            let name = name.map_or_else(String::new, |name| format!(" {name}"));
            line = line.with(Emphasis::Removed, &format!(" by {by}{name}"));
            ("", "")
        }
    };
    let mut lines = words.lines();
    let first = lines.next().unwrap_or_default();
    let rest: Vec<&str> = lines.collect();
    let Some((last, rest)) = rest.split_last() else {
        return out.push(line.with(Emphasis::Plain, &format!(": {open}{first}{close}")));
    };
    out.push(line.with(Emphasis::Plain, &format!(": {open}{first}")));
    let of = |text: &str| TextLine::new(Emphasis::Plain, text).indented(4);
    out.extend(rest.iter().map(|text| of(text)));
    out.push(of(&format!("{last}{close}")));
}

/// A duration without tenths of seconds where they do not matter.
fn short(took: u64) -> String {
    match took {
        ..10_000 => duration(took).replace(".0 s", " s"),
        10_000..60_000 => format!("{} s", took / 1_000),
        _ => duration(took),
    }
}

/// The counts of lines at the beginning of a call's tail, and the rest.
fn split(tail: &str) -> (&str, &str) {
    let end = tail.find(" -> ").or_else(|| tail.find(" ("));
    tail.split_at(end.unwrap_or(tail.len()))
}

/// Writes one call.
pub(super) struct CallWriter {
    folding: Folding,
    when: fn(Timestamp) -> String,
}

impl CallWriter {
    pub(super) fn new(folding: Folding, when: fn(Timestamp) -> String) -> CallWriter {
        CallWriter { folding, when }
    }

    pub(super) fn write(&self, call: &ToolCallTurn, diffs: &Diffs, out: &mut Vec<TextLine>) {
        let is_open = self.folding == Folding::Open;
        if let Some(denial) = denial(call).filter(|_| !is_open) {
            return denied_line(call, denial, out);
        }
        out.push(line_of(call));
        let went_wrong = matches!(call.outcome, CallOutcome::Failed | CallOutcome::Denied);
        if is_open || call.role == CallRole::Question {
            self.arguments(call, out);
        }
        let by_person = |decision: &CallDecisionTurn| decision.by == ToolDecider::Person;
        let is_shown = |decision: &&CallDecisionTurn| {
            is_open || decision.verdict == ToolVerdict::Deny || by_person(decision)
        };
        for decision in call.decisions.iter().filter(is_shown) {
            self.decision(decision, out);
        }
        if let Some(result) = &call.result {
            match (is_open, went_wrong || call.role == CallRole::Question) {
                (true, _) => self.result(result, usize::MAX, out),
                (false, true) => self.result(result, MESSAGE, out),
                (false, false) => {}
            }
        }
        if is_open {
            self.diffs(call, diffs, out);
        }
    }

    fn arguments(&self, call: &ToolCallTurn, out: &mut Vec<TextLine>) {
        let Some(args) = &call.args else {
            return;
        };
        let leaves = Leaves::of(args);
        // What the line has in full is not repeated.
        let rest = leaves
            .leaves
            .iter()
            .filter(|(_, value)| value != call.line.what());
        for (path, value) in rest {
            let label = match path.is_empty() {
                true => String::new(),
                false => format!("{path}: "),
            };
            let line = TextLine::new(Emphasis::Dim, &label).indented(2);
            if value.contains('\n') {
                out.push(line);
                let of = |line| TextLine::new(Emphasis::Code, line).indented(4).code();
                out.extend(value.lines().map(of));
            } else {
                out.push(line.with(Emphasis::Code, value).code());
            }
        }
    }

    fn decision(&self, decision: &CallDecisionTurn, out: &mut Vec<TextLine>) {
        let (verdict, emphasis) = match decision.verdict {
            ToolVerdict::Allow => ("allowed", Emphasis::Dim),
            ToolVerdict::Deny => ("denied", Emphasis::Removed),
            ToolVerdict::Ask => ("question asked", Emphasis::Dim),
        };
        let mut line = format!("{verdict} by {}", decision.by);
        if let Some(name) = &decision.name {
            line.push_str(&format!(" {name}"));
        }
        if let Some(source) = &decision.source {
            line.push_str(&format!(" ({source})"));
        }
        if decision.inferred {
            line.push_str(", inferred");
        }
        if let Some(at) = decision.at {
            line.push_str(&format!(", {}", (self.when)(at)));
        }
        let line = TextLine::new(emphasis, &line.replace('\n', " ")).indented(2);
        let words = match &decision.reason {
            Some(Text::Present(words)) if words.trim().is_empty() => return out.push(line),
            Some(Text::Present(words)) => words.trim(),
            Some(Text::Removed) => return out.push(line.with(Emphasis::Dim, ": [removed]")),
            None => return out.push(line),
        };
        match (decision.by, words.lines().count()) {
            (ToolDecider::Person, 1) => {
                out.push(line.with(Emphasis::Plain, &format!(": “{words}”")))
            }
            (_, 1) => out.push(line.with(Emphasis::Plain, &format!(": {words}"))),
            _ => {
                out.push(line.with(Emphasis::Plain, ":"));
                let of = |line| TextLine::new(Emphasis::Plain, line).indented(4);
                out.extend(words.lines().map(of));
            }
        }
    }

    fn result(&self, result: &CallResult, most: usize, out: &mut Vec<TextLine>) {
        let code = |text: &str| TextLine::new(Emphasis::Plain, text).indented(4).code();
        let Some(text) = result.text.as_str() else {
            return out.push(code(&Text::Removed.to_string()));
        };
        let count = text.lines().count();
        out.extend(text.lines().take(most).map(code));
        if count > most {
            let more = format!("… {} more lines: --full", count - most);
            out.push(TextLine::new(Emphasis::Dim, &more).indented(4));
        }
        if result.is_beginning {
            let note = "only the beginning of the result is recorded";
            out.push(TextLine::new(Emphasis::Dim, note).indented(4));
        }
        let more = result.json.as_ref().map(|json| Leaves::beyond(json, text));
        for (path, value) in more.iter().flat_map(|it| &it.leaves).take(most) {
            for (index, line) in value.lines().enumerate() {
                let label = if index == 0 { path.as_str() } else { "" };
                let line =
                    TextLine::new(Emphasis::Dim, &format!("{label}: ")).with(Emphasis::Plain, line);
                out.push(line.indented(4).code());
            }
        }
    }

    fn diffs(&self, call: &ToolCallTurn, diffs: &Diffs, out: &mut Vec<TextLine>) {
        let mut shown = Vec::new();
        for digest in call.edits.iter().filter_map(|edit| edit.diff) {
            let Some(diff) = diffs.get(&digest).filter(|_| !shown.contains(&digest)) else {
                continue;
            };
            shown.push(digest);
            out.extend(diff.lines().map(diff_line));
        }
    }
}

fn diff_line(line: &str) -> TextLine {
    let emphasis = match line.as_bytes().first() {
        _ if line.starts_with("+++ ") || line.starts_with("--- ") => Emphasis::Dim,
        Some(b'+') => Emphasis::Added,
        Some(b'-') => Emphasis::Removed,
        Some(b' ') | None => Emphasis::Plain,
        Some(_) => Emphasis::Dim,
    };
    TextLine::new(emphasis, line).indented(4).code()
}
