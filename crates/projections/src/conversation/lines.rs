//! Turns as lines of emphasized text, for terminals.
//!
//! The lines have no codes of a terminal and are not wrapped: whoever prints them does both. Foreign text in them is as it
//! was recorded, without line breaks.

mod answer;
mod call;
mod text_line;

use annals_domain::Timestamp;

use self::answer::AnswerLines;
use self::call::CallWriter;
pub use self::text_line::{Emphasis, TextLine, TextSpan};
use super::tagged::{NoteLine, TextPart, text_parts};
use super::{CallOutcome, CallRole, Diffs, PromptTurn, ToolCallTurn, Turn, TurnBody};
use crate::Text;

/// Reads whose names a line of several reads has.
const NAMED_READS: usize = 3;

/// Which parts of a conversation are open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Folding {
    /// Prompts, answers, questions and calls that failed or were denied are open. Each other turn is one line.
    #[default]
    Folded,
    /// Everything is open.
    Open,
}

/// Writes the turns of a conversation as lines, one turn after the other.
///
/// Successive reads become one line, so a line can appear with a later turn, or with [`LineWriter::finish`].
#[derive(Debug, Clone)]
pub struct LineWriter {
    folding: Folding,
    when: fn(Timestamp) -> String,
    /// Levels of sub-agents above.
    depth: usize,
    /// Successive reads that have no line yet.
    reads: Vec<Read>,
    /// Whether the last line is empty, or there is none.
    is_blank: bool,
}

/// A read that has no line yet.
#[derive(Debug, Clone)]
struct Read {
    turn: u64,
    what: String,
    line: TextLine,
}

impl LineWriter {
    /// Returns a writer of a session. `when` formats times.
    pub fn new(folding: Folding, when: fn(Timestamp) -> String) -> LineWriter {
        LineWriter {
            folding,
            when,
            depth: 0,
            reads: Vec::new(),
            is_blank: true,
        }
    }

    /// Returns a writer of a sub-agent's session, whose lines are indented further.
    #[must_use]
    pub fn nested(&self) -> LineWriter {
        LineWriter {
            depth: self.depth + 1,
            reads: Vec::new(),
            is_blank: true,
            ..*self
        }
    }

    /// Sets which parts of the following turns are open.
    pub fn set_folding(&mut self, folding: Folding) {
        self.folding = folding;
    }

    /// Adds the lines of a turn. `diffs` has the diffs of its edits.
    pub fn turn(&mut self, turn: &Turn, diffs: &Diffs, out: &mut Vec<TextLine>) {
        if let TurnBody::ToolCall(call) = &turn.body
            && self.is_grouped(call)
        {
            return self.read(turn.number, call);
        }
        self.finish(out);
        let start = out.len();
        match &turn.body {
            TurnBody::Prompt(prompt) => self.prompt(turn, prompt, out),
            TurnBody::Thinking { text } => self.thinking(text, out),
            TurnBody::Answer { text, .. } => {
                self.blank(out);
                match text.as_str() {
                    Some(text) => self.answer(text, out),
                    None => out.push(removed()),
                }
                out.push(TextLine::default());
            }
            TurnBody::ToolCall(call) => {
                CallWriter::new(self.folding, self.when).write(call, diffs, out)
            }
            TurnBody::Compaction { text, dropped } => {
                let frames =
                    dropped.map_or_else(String::new, |it| format!(", {it} frames dropped"));
                let title = format!("Context compacted{frames}");
                self.folded_or_removed(&title, Emphasis::Heading, text, out);
            }
            TurnBody::SubAgent { title, .. } => {
                let line = TextLine::new(Emphasis::Heading, "Sub-agent: ");
                out.push(line.with(Emphasis::Plain, &one_line(title)).indented(2));
            }
            TurnBody::Interruption { text } => self.opened("Interrupted", text, out),
            TurnBody::Error { text } => self.opened("Error", text, out),
            TurnBody::Note { name, text } => self.note(name, text, out),
        }
        self.placed(turn.number, turn.number, start, out);
    }

    /// Adds the lines that are still outstanding.
    pub fn finish(&mut self, out: &mut Vec<TextLine>) {
        let reads = std::mem::take(&mut self.reads);
        let start = out.len();
        let turn = reads.first().map_or(0, |read| read.turn);
        let last = reads.last().map_or(0, |read| read.turn);
        match reads.len() {
            0 => return,
            1 => out.extend(reads.into_iter().map(|read| read.line)),
            count => {
                let mut names: Vec<&str> = Vec::new();
                for read in &reads {
                    if !read.what.is_empty() && !names.contains(&read.what.as_str()) {
                        names.push(&read.what);
                    }
                }
                let more = names.len().saturating_sub(NAMED_READS);
                names.truncate(NAMED_READS);
                let more = match more {
                    0 => String::new(),
                    more => format!(" and {more} more"),
                };
                let line = TextLine::new(Emphasis::Dim, "• ")
                    .with(Emphasis::Strong, &format!("{count} reads "));
                out.push(line.with(Emphasis::Dim, &format!("{}{more}", names.join(", "))));
            }
        }
        self.placed(turn, last, start, out);
    }

    /// Returns the line of a sub-agent's session.
    pub fn sub_agent(&mut self, summary: &str) -> TextLine {
        self.is_blank = false;
        let line = TextLine::new(Emphasis::Heading, "Sub-agent: ").with(Emphasis::Plain, summary);
        line.indented(4 * self.depth + 2)
    }

    /// Gives the lines from `start` on their turn and their indentation.
    fn placed(&mut self, turn: u64, last_turn: u64, start: usize, out: &mut [TextLine]) {
        self.is_blank = out.last().map_or(self.is_blank, TextLine::is_blank);
        for line in out.iter_mut().skip(start) {
            (line.turn, line.last_turn) = (turn, last_turn);
            line.indent += 4 * self.depth;
        }
    }

    /// Returns `true` if a call shares a line with the calls around it.
    fn is_grouped(&self, call: &ToolCallTurn) -> bool {
        self.folding == Folding::Folded
            && call.role == CallRole::Read
            && matches!(call.outcome, CallOutcome::Ok | CallOutcome::NoResult)
    }

    fn read(&mut self, turn: u64, call: &ToolCallTurn) {
        self.reads.push(Read {
            turn,
            what: call.line.what().to_owned(),
            line: call::line_of(call),
        });
    }

    fn prompt(&self, turn: &Turn, prompt: &PromptTurn, out: &mut Vec<TextLine>) {
        self.blank(out);
        let at = turn
            .at
            .map_or_else(String::new, |at| format!(" · {}", (self.when)(at)));
        let title = TextLine::new(Emphasis::Heading, &format!("Prompt {}", turn.prompt));
        out.push(title.with(Emphasis::Dim, &at));
        match prompt.text.as_str() {
            Some(text) => self.prompt_parts(text, out),
            None => out.push(removed().indented(2)),
        }
        out.push(TextLine::default());
    }

    /// The text of a prompt. What the agent's program added is folded.
    fn prompt_parts(&self, text: &str, out: &mut Vec<TextLine>) {
        let strong = |line: &str| TextLine::new(Emphasis::Strong, line).indented(2);
        for part in text_parts(text) {
            match part {
                TextPart::Plain(text) => out.extend(text.lines().map(strong)),
                TextPart::Command(command) => out.extend(command.lines().map(strong)),
                TextPart::Output(text) => self.folded("  Output", Emphasis::Dim, text, out),
                TextPart::Thought(text) => self.folded("  Thinking", Emphasis::Dim, text, out),
                TextPart::Added(name, text) => {
                    self.folded(&format!("  {name}"), Emphasis::Dim, text, out);
                }
            }
        }
    }

    /// An answer. Thoughts in it are folded.
    fn answer(&self, text: &str, out: &mut Vec<TextLine>) {
        for part in text_parts(text) {
            match part {
                TextPart::Plain(text) | TextPart::Output(text) => {
                    out.extend(AnswerLines::of(text));
                }
                TextPart::Command(command) => out.extend(AnswerLines::of(&command)),
                TextPart::Thought(text) => self.folded("Thinking", Emphasis::Dim, text, out),
                TextPart::Added(name, text) => self.folded(name, Emphasis::Dim, text, out),
            }
        }
    }

    /// A note: metadata is folded to its name, and tags of agents' programs to what they mark.
    fn note(&self, name: &str, text: &Text, out: &mut Vec<TextLine>) {
        let Some(whole) = text.as_str() else {
            return self.folded_or_removed(&name.replace('_', " "), Emphasis::Dim, text, out);
        };
        let line = NoteLine::of(name, whole);
        let excerpt = line
            .excerpt
            .map_or_else(String::new, |it| format!(": {it}"));
        let more = if line.is_longer { " …" } else { "" };
        match self.folding {
            Folding::Folded => {
                let title = TextLine::new(Emphasis::Dim, &line.title);
                out.push(title.with(Emphasis::Dim, &format!("{excerpt}{more}")).cut());
            }
            Folding::Open => self.opened_note(&line.title, whole, out),
        }
    }

    /// A note with all of its text.
    fn opened_note(&self, title: &str, text: &str, out: &mut Vec<TextLine>) {
        out.push(TextLine::new(Emphasis::Dim, title));
        let dim = |line: &str| TextLine::new(Emphasis::Dim, line).indented(2);
        for part in text_parts(text) {
            match part {
                TextPart::Plain(text) | TextPart::Output(text) | TextPart::Thought(text) => {
                    out.extend(text.lines().map(dim));
                }
                TextPart::Command(command) => out.extend(command.lines().map(dim)),
                TextPart::Added(_, text) => out.extend(text.lines().map(dim)),
            }
        }
    }

    /// Adds an empty line unless there is one already.
    fn blank(&self, out: &mut Vec<TextLine>) {
        if !self.is_blank {
            out.push(TextLine::default());
        }
    }

    fn thinking(&self, text: &Text, out: &mut Vec<TextLine>) {
        if text.as_str().is_some_and(|text| text.trim().is_empty()) {
            return;
        }
        self.folded_or_removed("Thinking", Emphasis::Dim, text, out);
    }

    /// A text whose first line stands for it, or the note that it was removed.
    fn folded_or_removed(
        &self,
        title: &str,
        emphasis: Emphasis,
        text: &Text,
        out: &mut Vec<TextLine>,
    ) {
        match text.as_str() {
            Some(text) => self.folded(title, emphasis, text, out),
            None => {
                let title = TextLine::new(emphasis, title);
                out.push(title.with(Emphasis::Dim, &format!(": {}", Text::Removed)));
            }
        }
    }

    /// A text whose first line stands for it.
    fn folded(&self, title: &str, emphasis: Emphasis, text: &str, out: &mut Vec<TextLine>) {
        let title = TextLine::new(emphasis, title);
        match self.folding {
            Folding::Open => {
                out.push(title);
                let line = |line| TextLine::new(Emphasis::Dim, line).indented(2);
                out.extend(text.lines().map(line));
            }
            Folding::Folded => {
                let mut lines = text.lines().filter(|line| !line.trim().is_empty());
                let first = lines
                    .next()
                    .map_or_else(String::new, |it| format!(": {}", it.trim()));
                let more = match lines.count() {
                    0 => "",
                    _ => " …",
                };
                out.push(title.with(Emphasis::Dim, &format!("{first}{more}")).cut());
            }
        }
    }

    /// A message that is always open.
    fn opened(&self, title: &str, text: &Text, out: &mut Vec<TextLine>) {
        let mut lines = text
            .as_str()
            .map_or_else(|| vec!["[removed]"], |text| text.lines().collect())
            .into_iter();
        let first = lines.next().unwrap_or_default();
        let title = TextLine::new(Emphasis::Removed, title);
        out.push(title.with(Emphasis::Plain, &format!(": {first}")));
        out.extend(lines.map(|line| TextLine::new(Emphasis::Plain, line).indented(2)));
    }
}

fn removed() -> TextLine {
    TextLine::new(Emphasis::Dim, &Text::Removed.to_string())
}

fn one_line(text: &Text) -> String {
    let text = text.to_string();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
