//! Answers: Markdown whose marks stay and get colours.

use super::text_line::{Emphasis, TextLine};

/// The lines of an answer.
pub(super) struct AnswerLines<'a> {
    lines: std::str::Lines<'a>,
    /// The mark and the length of the fence of the code block that is open.
    fence: Option<(char, usize)>,
}

impl<'a> AnswerLines<'a> {
    pub(super) fn of(text: &'a str) -> AnswerLines<'a> {
        AnswerLines {
            lines: text.lines(),
            fence: None,
        }
    }
}

impl Iterator for AnswerLines<'_> {
    type Item = TextLine;

    fn next(&mut self) -> Option<TextLine> {
        let line = self.lines.next()?;
        let mark = fence(line);
        if let Some((own, length)) = self.fence {
            let ends = |(mark, run, is_bare)| mark == own && run >= length && is_bare;
            if mark.is_some_and(ends) {
                self.fence = None;
                return Some(TextLine::new(Emphasis::Dim, line));
            }
            return Some(TextLine::new(Emphasis::Code, line).code());
        }
        if let Some((mark, length, _)) = mark {
            self.fence = Some((mark, length));
            return Some(TextLine::new(Emphasis::Dim, line));
        }
        let content = line.trim_start();
        if is_heading(content) {
            return Some(TextLine::new(Emphasis::Heading, line));
        }
        if content.starts_with('|') {
            return Some(spans(TextLine::default(), line).code());
        }
        let hanging = (line.len() - content.len()) + bullet(content);
        Some(spans(TextLine::default(), line).hanging(hanging))
    }
}

/// The mark of a fence, its length, and whether nothing follows.
fn fence(line: &str) -> Option<(char, usize, bool)> {
    let content = line.trim();
    let mark = content.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let rest = content.trim_start_matches(mark);
    let length = content.len() - rest.len();
    (length >= 3 && !rest.contains('`')).then_some((mark, length, rest.is_empty()))
}

fn is_heading(line: &str) -> bool {
    let rest = line.trim_start_matches('#');
    let level = line.len() - rest.len();
    (1..=6).contains(&level) && rest.starts_with(' ')
}

/// The width of a bullet or a number with the spaces behind it; 0 if the line is not an item of a list.
fn bullet(line: &str) -> usize {
    let mark = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = line.len() - mark.len();
    let is_item = match digits {
        0 => mark.starts_with(['-', '*', '+']),
        1..=9 => mark.starts_with(['.', ')']),
        _ => false,
    };
    let rest = mark
        .get(1..)
        .filter(|rest| is_item && rest.starts_with(' '));
    rest.map_or(0, |rest| line.len() - rest.trim_start().len())
}

/// Adds a line of prose, its code and its bold text emphasized.
fn spans(mut out: TextLine, line: &str) -> TextLine {
    let mut rest = line;
    let mut plain = 0;
    loop {
        let Some(found) = rest.get(plain..).and_then(|it| it.find(['`', '*'])) else {
            return out.with(Emphasis::Plain, rest);
        };
        let at = plain + found;
        let (before, from) = rest.split_at(at);
        match marked(from) {
            Some((length, emphasis)) => {
                let (text, behind) = from.split_at(length);
                out = out.with(Emphasis::Plain, before).with(emphasis, text);
                (rest, plain) = (behind, 0);
            }
            // A run of backticks without its end is text, as a whole: none of its backticks is looked at again.
            None => plain = at + ticks(from).max(1),
        }
    }
}

/// The number of backticks at the beginning of a text.
fn ticks(text: &str) -> usize {
    text.len() - text.trim_start_matches('`').len()
}

/// The length of the code or the bold text at the beginning of a text, with its marks.
fn marked(text: &str) -> Option<(usize, Emphasis)> {
    if text.starts_with('`') {
        let run = ticks(text);
        let mark = text.get(..run)?;
        let end = text.get(run..)?.find(mark)?;
        return Some((run + end + run, Emphasis::Code));
    }
    let inner = text
        .strip_prefix("**")
        .filter(|it| !it.starts_with([' ', '*']))?;
    let end = inner.find("**")?;
    Some((end + 4, Emphasis::Strong))
}
