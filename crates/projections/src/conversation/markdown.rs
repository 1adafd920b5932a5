//! Turns as Markdown.
//!
//! Recorded texts are written as they are: prompts, answers and thoughts as Markdown, everything else in code blocks whose
//! fence is longer than any in the text. Each text is written once, so a search finds it as often as it was recorded.

mod block;
mod header;

use std::collections::HashMap;
use std::fmt::{self, Write};

use annals_domain::run::ToolVerdict;
use annals_event_log::Digest;

use self::block::closing;
pub(super) use self::block::{code_span, fenced};
use super::leaves::Leaves;
use super::{CallDecisionTurn, CallResult, PromptTurn, ToolCallTurn, Turn, TurnBody};
use crate::{CostZone, SessionSummary, Text, duration};

/// Levels of headings in Markdown.
const LEVELS: usize = 6;

/// Diffs by the digests that [`FileEdit::diff`](super::FileEdit::diff) names.
pub type Diffs = HashMap<Digest, String>;

/// Writes the turns of a conversation as Markdown, one after the other.
///
/// The writer keeps no turn, so a conversation of any length is written in constant memory.
#[derive(Debug, Clone)]
pub struct MarkdownWriter {
    depth: usize,
    model: Option<String>,
    zone: CostZone,
}

impl Default for MarkdownWriter {
    fn default() -> MarkdownWriter {
        MarkdownWriter {
            depth: 0,
            model: None,
            zone: CostZone::Local,
        }
    }
}

impl MarkdownWriter {
    /// Returns a writer for a session, with times in this machine's time zone.
    pub fn new() -> MarkdownWriter {
        MarkdownWriter::default()
    }

    /// Returns the writer with times in a time zone.
    #[must_use]
    pub fn with_zone(self, zone: CostZone) -> MarkdownWriter {
        MarkdownWriter { zone, ..self }
    }

    /// Returns a writer for a sub-agent's session, whose headings are one level deeper.
    #[must_use]
    pub fn nested(&self) -> MarkdownWriter {
        MarkdownWriter {
            depth: self.depth + 1,
            model: None,
            zone: self.zone,
        }
    }

    /// Writes the title and the session's facts.
    ///
    /// A title that repeats the first prompt is left out, because the prompt follows. `cost` is an amount with its
    /// currency.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn header(
        &self,
        session: &SessionSummary,
        first_prompt: Option<&str>,
        cost: Option<&str>,
        out: &mut impl Write,
    ) -> fmt::Result {
        let level = self.level(if self.depth == 0 { 1 } else { 2 });
        header::write(session, first_prompt, cost, (&level, self.zone), out)
    }

    /// Writes the heading of a sub-agent's session. Its turns follow, by [`MarkdownWriter::nested`].
    ///
    /// # Errors
    /// Those of `out`.
    pub fn sub_agent(&self, cost: Option<&str>, out: &mut impl Write) -> fmt::Result {
        self.heading("Sub-agent session", out)?;
        match cost {
            Some(cost) => writeln!(out, "Cost: {cost}\n"),
            None => Ok(()),
        }
    }

    /// Writes one turn. `diffs` has the diffs of its edits.
    ///
    /// A diff is written if the arguments of the call do not already hold the changed lines.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn turn(&mut self, turn: &Turn, diffs: &Diffs, out: &mut impl Write) -> fmt::Result {
        match &turn.body {
            TurnBody::Prompt(prompt) => self.prompt(turn, prompt, out),
            TurnBody::Thinking { text } => self.markdown("Thinking", text, out),
            TurnBody::Answer { text, model } => self.answer(text, model.as_deref(), out),
            TurnBody::ToolCall(call) => self.call(call, diffs, out),
            TurnBody::Compaction { text, dropped } => {
                let frames = dropped.map(|frames| match frames {
                    1 => " (1 frame dropped)".to_owned(),
                    frames => format!(" ({frames} frames dropped)"),
                });
                let title = format!("Compaction{}", frames.unwrap_or_default());
                self.markdown(&title, text, out)
            }
            TurnBody::SubAgent { .. } => self.sub_agent(None, out),
            TurnBody::Interruption { text } => self.plain("Interruption", text, out),
            TurnBody::Error { text } => self.plain("Error", text, out),
            TurnBody::Note { name, text } => {
                self.plain(&format!("Note: {}", code_span(name)), text, out)
            }
        }
    }

    fn prompt(&self, turn: &Turn, prompt: &PromptTurn, out: &mut impl Write) -> fmt::Result {
        let repeats = |command: &&str| prompt.text.as_str().is_some_and(|it| it.contains(*command));
        let command = prompt.command.as_deref().filter(|it| !repeats(it));
        let command = command.map_or_else(String::new, |it| format!(": {}", code_span(it)));
        let level = self.level(2);
        writeln!(out, "{level} Prompt {}{command}\n", turn.prompt)?;
        if let Some(at) = turn.at {
            writeln!(out, "{}\n", self.zone.time_text(at))?;
        }
        text_as_markdown(&prompt.text, out)
    }

    fn answer(&mut self, text: &Text, model: Option<&str>, out: &mut impl Write) -> fmt::Result {
        // The model is written where it changes.
        let model = model.filter(|model| self.model.as_deref() != Some(model));
        let title = match model {
            Some(model) => {
                self.model = Some(model.to_owned());
                format!("Answer of {}", code_span(model))
            }
            None => "Answer".to_owned(),
        };
        self.markdown(&title, text, out)
    }

    fn markdown(&self, title: &str, text: &Text, out: &mut impl Write) -> fmt::Result {
        self.heading(title, out)?;
        text_as_markdown(text, out)
    }

    fn plain(&self, title: &str, text: &Text, out: &mut impl Write) -> fmt::Result {
        self.heading(title, out)?;
        code("text", text, out)
    }

    fn call(&self, call: &ToolCallTurn, diffs: &Diffs, out: &mut impl Write) -> fmt::Result {
        let tool = match &call.tool {
            Text::Present(tool) => code_span(tool),
            Text::Removed => Text::Removed.to_string(),
        };
        self.heading(&format!("Tool call: {tool}"), out)?;
        let end = ending(call);
        if !end.is_empty() {
            writeln!(out, "{end}\n")?;
        }
        let arguments = call.args.as_ref().map(Leaves::of);
        if let Some(arguments) = &arguments {
            arguments.write(out)?;
        }
        for decision in &call.decisions {
            decided(decision, call.result.as_ref(), self.zone, out)?;
        }
        if let Some(result) = &call.result {
            written_result(result, out)?;
        }
        let mut written = Vec::new();
        for digest in call.edits.iter().filter_map(|edit| edit.diff) {
            let Some(diff) = diffs.get(&digest).filter(|_| !written.contains(&digest)) else {
                continue;
            };
            written.push(digest);
            if !arguments.as_ref().is_some_and(|it| it.hold(diff)) {
                writeln!(out, "Diff:\n")?;
                fenced("diff", diff, out)?;
            }
        }
        Ok(())
    }

    fn heading(&self, title: &str, out: &mut impl Write) -> fmt::Result {
        writeln!(out, "{} {title}\n", self.level(3))
    }

    fn level(&self, level: usize) -> String {
        "#".repeat((level + 2 * self.depth).min(LEVELS))
    }
}

fn text_as_markdown(text: &Text, out: &mut impl Write) -> fmt::Result {
    let Some(text) = text.as_str() else {
        return writeln!(out, "{}\n", Text::Removed);
    };
    if text.trim().is_empty() {
        return Ok(());
    }
    out.write_str(text)?;
    if !text.ends_with('\n') {
        out.write_char('\n')?;
    }
    // A block that the text leaves open would take in everything behind it.
    if let Some(closing) = closing(text) {
        writeln!(out, "{closing}")?;
    }
    out.write_char('\n')
}

fn code(language: &str, text: &Text, out: &mut impl Write) -> fmt::Result {
    match text {
        Text::Present(text) => fenced(language, text, out),
        Text::Removed => writeln!(out, "{}\n", Text::Removed),
    }
}

/// Changed lines, the outcome and the duration.
fn ending(call: &ToolCallTurn) -> String {
    let mut parts = Vec::new();
    if !call.edits.is_empty() {
        let (added, deleted) = call.changed_lines();
        let files = match call.edits.len() {
            1 => "1 file".to_owned(),
            files => format!("{files} files"),
        };
        parts.push(format!("{files} +{added} -{deleted}"));
    }
    parts.extend(call.outcome.words().map(str::to_owned));
    parts.extend(call.duration_ms.map(duration));
    parts.join(" · ")
}

/// Writes who decided, and the reason unless it is part of the result.
fn decided(
    decision: &CallDecisionTurn,
    result: Option<&CallResult>,
    zone: CostZone,
    out: &mut impl Write,
) -> fmt::Result {
    let verdict = match decision.verdict {
        ToolVerdict::Allow => "Allowed",
        ToolVerdict::Deny => "Denied",
        ToolVerdict::Ask => "Question asked",
    };
    write!(out, "{verdict} by {}", decision.by.as_str())?;
    if let Some(name) = &decision.name {
        write!(out, " {}", code_span(name))?;
    }
    if let Some(source) = &decision.source {
        write!(out, " in {}", code_span(source))?;
    }
    if decision.inferred {
        out.write_str(" (inferred)")?;
    }
    if let Some(at) = decision.at {
        write!(out, " on {}", zone.time_text(at))?;
    }
    let result = result.and_then(|it| it.text.as_str()).unwrap_or_default();
    match &decision.reason {
        Some(Text::Present(reason)) if result.contains(reason.trim()) => out.write_str("\n\n"),
        Some(reason) => {
            out.write_str(":\n\n")?;
            code("text", reason, out)
        }
        None => out.write_str("\n\n"),
    }
}

fn written_result(result: &CallResult, out: &mut impl Write) -> fmt::Result {
    let title = match result.is_beginning {
        true => "Result (only its beginning is recorded):",
        false => "Result:",
    };
    let text = result.text.as_str().unwrap_or_default();
    let has_text = !text.is_empty() || result.text == Text::Removed;
    let more = result.json.as_ref().map(|json| Leaves::beyond(json, text));
    let more = more.filter(|more| !more.is_empty());
    if !has_text && more.is_none() {
        return writeln!(out, "Empty result.\n");
    }
    writeln!(out, "{title}\n")?;
    if has_text {
        code("text", &result.text, out)?;
    }
    more.map_or(Ok(()), |more| more.write(out))
}

#[cfg(test)]
mod tests;
