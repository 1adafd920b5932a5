//! Draws a tool call: one line, and below it arguments, decisions, diffs and the result.

use annals::domain::run::{ToolDecider, ToolVerdict};
use annals::projections::{
    CallDecisionTurn, CallOutcome, CallResult, CallRole, FileEdit, Text, ToolCallTurn, Turn,
};
use maud::{Markup, html};
use serde_json::Value;

use super::draw::Drawing;
use crate::diff_view;
use crate::figures::{counted, grouped, lines, took};
use crate::foreign;

/// Changed lines up to which an edit is open.
const OPEN_LINES: u32 = 40;
/// Changed lines from which a diff is folded inside its call.
const FOLDED_LINES: u32 = 400;
/// Lines of a result that are shown at its beginning and its end.
const FIRST: usize = 40;
const LAST: usize = 10;
/// Characters of an argument that are shown.
const ARGUMENT: usize = 4_000;

/// Draws a tool call.
pub(super) fn draw(turn: &Turn, call: &ToolCallTurn, drawing: &mut Drawing<'_>) -> Markup {
    let (class, badge) = match call.outcome {
        CallOutcome::Failed => ("bad", Some(("bad", "failed"))),
        CallOutcome::Denied => ("denied", Some(("wait", "denied"))),
        CallOutcome::Waiting => ("denied", Some(("wait", "waiting"))),
        CallOutcome::Running if drawing.is_at_work() => ("running", Some(("good", "running"))),
        CallOutcome::Running | CallOutcome::NoResult => {
            ("", Some(("plain", "result not recorded")))
        }
        CallOutcome::Ok => ("", None),
    };
    let is_agent = call.sub_agent.is_some() || call.role == CallRole::SubAgent;
    let (added, deleted) = counts(&call.edits);
    html! {
        details.call.(class).agent[is_agent] id={ "call-" (turn.number) } open[is_open(call, drawing.is_open()) || drawing.opens_turn(turn)] {
            summary {
                @if let Some((kind, word)) = badge { span.badge.(kind) { (word) @if let Some(waited) = waited(call) { " (" (took(waited)) ")" } } }
                @if is_agent { span.badge.agent { "sub-agent" } }
                span.tool { (foreign::text(call.line.head().trim())) }
                span.arg { bdi { (foreign::text(&foreign::cut(call.line.what(), 300))) } }
                @if let Some(words) = denial_words(call) { span.words dir="auto" { "“" (foreign::text(&in_short(words))) "”" } }
                span.end {
                    @if !call.edits.is_empty() { (lines(added, deleted)) }
                    @if let Some(sub) = call.sub_agent { (drawing.sub_agent_figures(sub)) }
                    @if let Some(ms) = call.duration_ms.filter(|_| waited(call).is_none()) { span.num.clock { (took(ms)) } }
                }
            }
            div.in {
                (body(turn, call, drawing))
            }
        }
    }
}

/// The words of a denial as the call's line has them.
fn in_short(words: &str) -> String {
    foreign::one_line(words, 120)
}

/// The time that a denied call waited for its decision, in milliseconds.
fn waited(call: &ToolCallTurn) -> Option<u64> {
    call.duration_ms
        .filter(|ms| *ms > 0 && call.outcome == CallOutcome::Denied)
}

/// The words with which a person denied a call.
fn denial_words(call: &ToolCallTurn) -> Option<&str> {
    let is_by_person = |decision: &&CallDecisionTurn| {
        decision.verdict == ToolVerdict::Deny && decision.by == ToolDecider::Person
    };
    let denials = call.decisions.iter().filter(is_by_person);
    let mut words = denials.filter_map(|decision| decision.reason.as_ref()?.as_str());
    let is_denied = call.outcome == CallOutcome::Denied;
    words.rfind(|words| is_denied && !words.trim().is_empty())
}

fn counts(edits: &[FileEdit]) -> (u64, u64) {
    let edits = || edits.iter().filter(|edit| !edit.rejected);
    let sum = |of: fn(&FileEdit) -> u32| edits().map(|edit| u64::from(of(edit))).sum();
    (sum(|edit| edit.added), sum(|edit| edit.deleted))
}

/// Returns `true` for a call that is open at first.
fn is_open(call: &ToolCallTurn, is_whole: bool) -> bool {
    let changed: u32 = call.edits.iter().fold(0, |sum, edit| {
        sum.saturating_add(edit.added).saturating_add(edit.deleted)
    });
    let is_new = call.edits.iter().any(|edit| edit.change == "add");
    match call.outcome {
        _ if is_whole => true,
        CallOutcome::Failed | CallOutcome::Denied | CallOutcome::Waiting => true,
        _ => match call.role {
            CallRole::Question => true,
            _ => !call.edits.is_empty() && !is_new && changed <= OPEN_LINES,
        },
    }
}

fn body(turn: &Turn, call: &ToolCallTurn, drawing: &mut Drawing<'_>) -> Markup {
    let args = match &call.args {
        Some(args) => match args.json() {
            Some(json) => serde_json::from_str::<Value>(json.text()).ok(),
            None => {
                return html! { (redacted("The arguments were removed.")) (result(turn, call, drawing)) };
            }
        },
        None => None,
    };
    let special = match (call.role, &args) {
        (CallRole::Plan, Some(args)) => plan(args),
        (CallRole::Question, Some(args)) => question(args),
        _ => None,
    };
    html! {
        @match special {
            Some(special) => { (special) }
            None => { @if let Some(args) = &args { (arguments(args, call)) } }
        }
        @if !call.decisions.is_empty() { dl.args { @for decision in &call.decisions { (self::decision(decision, denial_words(call), drawing)) } } }
        @for edit in &call.edits { (self::edit(edit, call.edits.len(), drawing)) }
        @if let Some(sub) = call.sub_agent { (drawing.sub_agent(sub)) }
        (result(turn, call, drawing))
    }
}

/// Arguments as names and values. Those that the line or the diff holds in full are left out.
fn arguments(args: &Value, call: &ToolCallTurn) -> Markup {
    let Value::Object(fields) = args else {
        return html! { @if !args.is_null() { dl.args { dt { "argument" } dd dir="auto" { (argument(args)) } } } };
    };
    let in_diff = |name: &str| {
        let is_content = matches!(
            name,
            "old_string"
                | "new_string"
                | "content"
                | "edits"
                | "patch"
                | "input"
                | "changes"
                | "diff"
                | "old_str"
                | "new_str"
                | "file_text"
        );
        is_content && call.edits.iter().any(|edit| edit.diff.is_some())
    };
    let in_line = |value: &Value| value.as_str().is_some_and(|text| text == call.line.what());
    let is_path =
        |name: &str| matches!(name, "file_path" | "path" | "filePath") && !call.edits.is_empty();
    let shown: Vec<(&String, &Value)> = fields
        .iter()
        .filter(|(name, value)| {
            !in_diff(name) && !in_line(value) && !is_path(name) && !value.is_null()
        })
        .collect();
    html! { @if !shown.is_empty() { dl.args { @for (name, value) in shown {
        dt { (foreign::text(&foreign::cut(name, 60))) } dd dir="auto" { (argument(value)) }
    } } } }
}

fn argument(value: &Value) -> Markup {
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let rest = text.chars().count().saturating_sub(ARGUMENT);
    html! {
        (foreign::text(&foreign::output(&text.chars().take(ARGUMENT).collect::<String>())))
        @if rest > 0 { span.dim { " … " (grouped(rest as u64)) " more characters" } }
    }
}

/// A plan as a list of steps.
fn plan(args: &Value) -> Option<Markup> {
    let steps = ["todos", "plan", "todo_list", "todoList", "items"];
    let steps = steps.iter().find_map(|name| args.get(name)?.as_array())?;
    let texts = ["content", "step", "title", "description", "text"];
    let text = |step: &Value| -> Option<String> {
        let text = texts.iter().find_map(|name| step.get(name)?.as_str());
        text.or(step.as_str()).map(str::to_owned)
    };
    let read: Option<Vec<(String, &str)>> = steps
        .iter()
        .map(|step| {
            Some((
                text(step)?,
                step.get("status")
                    .and_then(Value::as_str)
                    .unwrap_or("pending"),
            ))
        })
        .collect();
    let explanation = args.get("explanation").and_then(Value::as_str);
    Some(html! {
        @if let Some(explanation) = explanation { p { (foreign::text(explanation)) } }
        ul.todo { @for (text, status) in read? { li dir="auto" { @match status {
            "completed" | "done" => { "✓ " span.unseen { "done: " } s { (foreign::text(&text)) } }
            "in_progress" | "in-progress" | "doing" => { strong { "▸ " span.unseen { "in progress: " } (foreign::text(&text)) } }
            "cancelled" => { "– " span.unseen { "cancelled: " } (foreign::text(&text)) }
            _ => { "○ " span.unseen { "open: " } (foreign::text(&text)) }
        } } } }
    })
}

/// Questions with their options.
fn question(args: &Value) -> Option<Markup> {
    let questions = match args.get("questions") {
        Some(Value::Array(questions)) => questions.iter().collect(),
        _ => vec![args],
    };
    let asked = |question: &'_ Value| -> Option<Markup> {
        let words = question
            .get("question")
            .or(question.get("prompt"))?
            .as_str()?;
        let options = question.get("options").and_then(Value::as_array);
        let option = |option: &Value| -> Markup {
            let label = option
                .as_str()
                .or_else(|| option.get("label")?.as_str())
                .unwrap_or_default();
            let more = option.get("description").and_then(Value::as_str);
            html! { li { (foreign::text(label)) @if let Some(more) = more { span.dim { " · " (foreign::text(more)) } } } }
        };
        Some(html! {
            div.ask { strong dir="auto" { (foreign::text(words)) }
                @if let Some(options) = options { ol { @for one in options { (option(one)) } } } }
        })
    };
    let all: Option<Vec<Markup>> = questions.into_iter().map(asked).collect();
    all.map(|all| html! { @for one in all { (one) } })
}

/// A decision with its reason, unless the call's line has the reason in full.
fn decision(decision: &CallDecisionTurn, in_line: Option<&str>, drawing: &Drawing<'_>) -> Markup {
    let reason = decision.reason.as_ref().filter(|reason| {
        let words = reason.as_str();
        words.is_none() || words != in_line || words.is_some_and(|it| in_short(it) != it.trim())
    });
    let verb = match decision.verdict {
        ToolVerdict::Allow => "Allowed",
        ToolVerdict::Deny => "Denied",
        ToolVerdict::Ask => "Asked",
    };
    let name = decision.name.as_deref();
    let is_person = decision.by == ToolDecider::Person;
    html! {
        dt { "decision" }
        dd.say {
            strong { (verb) " by " @match (decision.by, name) {
                (ToolDecider::Person, Some(name)) => { (foreign::text(name)) }
                (ToolDecider::Person, None) => { "a person" }
                (ToolDecider::Mode, Some(name)) => { "the mode " code { (foreign::text(name)) } }
                (by, Some(name)) => { "the " (by.as_str()) " " code { (foreign::text(name)) } }
                (by, None) => { "a " (by.as_str()) }
            } }
            @if let Some(at) = decision.at { ", " (drawing.clock.clock(at)) }
            @if decision.inferred { span.dim { " · inferred, not recorded" } }
        }
        @if let Some(reason) = reason {
            dt { @if is_person { "words" } @else { "reason" } }
            dd.say dir="auto" { @match reason.as_str() {
                Some(words) if is_person => { "“" (foreign::text(words)) "”" }
                Some(words) => { (foreign::text(words)) }
                None => { (redacted("The reason was removed.")) }
            } }
        }
        @if let Some(source) = &decision.source { dt { "rule file" } dd { (foreign::text(source)) } }
        dt { "event" } dd { (drawing.event(decision.position)) }
    }
}

/// A changed file with its diff.
fn edit(edit: &FileEdit, edits: usize, drawing: &mut Drawing<'_>) -> Markup {
    let path = edit.path.to_string();
    let changed = edit.added.saturating_add(edit.deleted);
    let diff = match edit.diff {
        Some(digest) => drawing.diff(digest, &path),
        None => Err("The recording has no diff of this change."),
    };
    let drawn = match diff {
        Ok(file) => diff_view::draw(&file, drawing.layout, &mut drawing.colours),
        Err(why) => html! { p.diff-note { (why) } },
    };
    let is_folded = changed > FOLDED_LINES && !drawing.is_whole;
    html! {
        div {
            @if edits > 1 || edit.rejected {
                div.label { code { (foreign::text(&path)) } (lines(edit.added.into(), edit.deleted.into()))
                    @if edit.rejected { span.badge.bad { "rejected" } } }
            }
            @if is_folded {
                details.think { summary { "Diff, " (counted(changed.into(), "changed line", "changed lines")) } (drawn) }
            } @else { (drawn) }
        }
    }
}

/// The result: its first and last lines, and a link to all of them.
fn result(turn: &Turn, call: &ToolCallTurn, drawing: &Drawing<'_>) -> Markup {
    let Some(result) = &call.result else {
        return html! {};
    };
    let Some(text) = result.text.as_str() else {
        return redacted("The result was removed.");
    };
    if text.is_empty() && result.json.is_none() {
        return html! { div.label { "No output · " (drawing.event(turn.position)) } };
    }
    let text = foreign::output(text);
    let text = text.trim_end_matches('\n');
    let all = text.split('\n').count();
    let is_short = drawing.is_whole || all <= FIRST + LAST + 2;
    let is_told = match call.outcome {
        CallOutcome::Ok => call.edits.iter().any(|edit| edit.diff.is_some()),
        CallOutcome::Denied => call
            .decisions
            .iter()
            .any(|decision| decision.reason.is_some()),
        _ => false,
    };
    let tool = foreign::attribute(&foreign::cut(call.line.head().trim(), 60));
    let label = format!("Result of {tool}, event {}", grouped(turn.position.0));
    if is_told && !drawing.is_whole {
        // The diff shows the change, or the decision its reason; the text only confirms it.
        return html! {
            details.think { summary { "Result " span.num { "· " (counted(all as u64, "line", "lines")) } }
                pre.out tabindex="0" role="region" aria-label=(label) dir="auto" { (output(text.split('\n').take(FIRST + LAST), false)) } }
        };
    }
    html! {
        div {
            div.label {
                "Result · " (counted(all as u64, "line", "lines"))
                @if result.is_beginning { span.badge { "only the beginning is recorded" } }
                span.spacer {}
                (drawing.event(turn.position))
            }
            pre.out tabindex="0" role="region" aria-label=(label) dir="auto" {
                @if is_short { (output(text.split('\n'), drawing.is_whole)) }
                @else {
                    (output(text.split('\n').take(FIRST), false))
                    span.gapline.dim { a href=(drawing.whole(turn.number)) data-inline="turn" { "Show " (grouped(all as u64)) " lines" } }
                    (output(text.split('\n').skip(all - LAST), false))
                }
            }
            @if let Some(json) = extra(result, turn) { (json) }
        }
    }
}

fn output<'a>(lines: impl Iterator<Item = &'a str>, is_whole: bool) -> Markup {
    html! { @for line in lines {
        @if is_whole { (foreign::text(line)) } @else { (foreign::line(line)) }
        "\n"
    } }
}

/// Structured content beyond the text.
fn extra(result: &CallResult, turn: &Turn) -> Option<Markup> {
    let json = result.json.as_ref()?;
    let Some(json) = json.json() else {
        return Some(redacted("Structured content was removed."));
    };
    let shown = foreign::cut(json.text(), ARGUMENT);
    let label = format!("Structured content, event {}", grouped(turn.position.0));
    Some(
        html! { details.think { summary { "Structured content, " (grouped(json.text().len() as u64)) " bytes" } pre.out tabindex="0" role="region" aria-label=(label) { (foreign::text(&shown)) } } },
    )
}

/// Content that was removed for good.
pub(super) fn redacted(what: &str) -> Markup {
    html! { div.redacted { "Redacted. " (what) " The proof of this position is still valid." } }
}

/// A text, or the note that it was removed.
pub(super) fn or_redacted(text: &Text, what: &str, draw: impl FnOnce(&str) -> Markup) -> Markup {
    match text.as_str() {
        Some(text) => draw(text),
        None => redacted(what),
    }
}
