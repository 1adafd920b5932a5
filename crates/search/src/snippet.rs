//! The line of a text in which the words are, as much of it as fits.

use std::ops::Range;
use std::str::Lines;

use crate::query::Marked;

/// Characters of a snippet, about.
const LENGTH: usize = 160;

/// A piece of a text with the words marked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Snippet {
    /// The piece.
    pub text: String,
    /// The words in it, in bytes of the piece; none overlaps another.
    pub marks: Vec<Range<usize>>,
    /// Whether the text's line begins before it.
    pub is_cut_before: bool,
    /// Whether the text's line goes on behind it.
    pub is_cut_behind: bool,
    /// The line before it that is not blank, or its beginning.
    pub line_before: Option<String>,
    /// The line behind it that is not blank, or its beginning.
    pub line_behind: Option<String>,
}

impl Snippet {
    /// The line with most different marks of a text, around the first of them.
    pub fn of(text: &str, marked: &Marked) -> Snippet {
        let Some(line) = best_line(text, &marked.bytes) else {
            return Snippet::default();
        };
        let first = marked
            .bytes
            .iter()
            .find(|mark| mark.start >= line.start && mark.start < line.end);
        let first = first.map_or(line.start, |mark| mark.start);
        let piece = around(text, &line, first);
        let shown = text.get(piece.clone()).unwrap_or_default();
        let mut marks: Vec<Range<usize>> = Vec::new();
        for mark in &marked.bytes {
            let begin = mark.start.max(piece.start);
            let end = mark.end.min(piece.end);
            if begin >= end {
                continue;
            }
            let (begin, end) = (begin - piece.start, end - piece.start);
            match marks.last_mut() {
                Some(last) if begin < last.end => last.end = last.end.max(end),
                _ => marks.push(begin..end),
            }
        }
        Snippet {
            text: shown.to_owned(),
            marks,
            // What is only indented is not cut.
            is_cut_before: has_more(text, line.start..piece.start),
            is_cut_behind: has_more(text, piece.end..line.end),
            line_before: beginning(
                text.get(..line.start)
                    .map(str::lines)
                    .and_then(last_written),
            ),
            line_behind: beginning(text.get(line.end..).map(str::lines).and_then(first_written)),
        }
    }

    /// The text in pieces, and whether each is a word that was looked for.
    pub fn pieces(&self) -> Vec<(&str, bool)> {
        let (mut pieces, mut at) = (Vec::new(), 0);
        for mark in &self.marks {
            pieces.push((self.text.get(at..mark.start).unwrap_or_default(), false));
            pieces.push((self.text.get(mark.clone()).unwrap_or_default(), true));
            at = mark.end;
        }
        pieces.push((self.text.get(at..).unwrap_or_default(), false));
        pieces.retain(|(text, _)| !text.is_empty());
        pieces
    }
}

fn last_written(lines: Lines<'_>) -> Option<&str> {
    lines.rev().find(|line| !line.trim().is_empty())
}

fn first_written(mut lines: Lines<'_>) -> Option<&str> {
    lines.find(|line| !line.trim().is_empty())
}

/// A line, or its beginning.
fn beginning(line: Option<&str>) -> Option<String> {
    let line = line?.trim_end();
    let mut shown: String = line.chars().take(LENGTH).collect();
    if shown.len() < line.len() {
        shown.push('…');
    }
    Some(shown)
}

/// Whether there is more than spaces.
fn has_more(text: &str, bytes: Range<usize>) -> bool {
    text.get(bytes).is_some_and(|more| !more.trim().is_empty())
}

/// The line in which most marks begin, the first of those that have as many.
fn best_line(text: &str, marks: &[Range<usize>]) -> Option<Range<usize>> {
    let mut best: Option<(usize, Range<usize>)> = None;
    let mut rest = marks;
    while let Some(mark) = rest.first() {
        let before = text.get(..mark.start).unwrap_or_default();
        let begin = before.rfind('\n').map_or(0, |at| at + 1);
        let behind = text.get(mark.start..).unwrap_or_default();
        let end = behind.find('\n').map_or(text.len(), |at| mark.start + at);
        let here = rest
            .iter()
            .take_while(|mark| mark.start < end)
            .count()
            .max(1);
        if best.as_ref().is_none_or(|(most, _)| here > *most) {
            best = Some((here, begin..end));
        }
        rest = rest.get(here..).unwrap_or_default();
    }
    best.map(|(_, line)| line)
}

/// At most [`LENGTH`] characters of a line around a place in it, from a space on where there is one.
fn around(text: &str, line: &Range<usize>, place: usize) -> Range<usize> {
    let whole = text.get(line.clone()).unwrap_or_default();
    let trimmed = whole.trim_start();
    let start = line.end - trimmed.len();
    let start = start.min(place);
    let before = text.get(start..place).unwrap_or_default();
    let lead = before
        .char_indices()
        .rev()
        .nth(LENGTH / 3)
        .map_or(0, |(at, _)| at);
    let mut begin = start + lead;
    if lead > 0 {
        let space = text.get(begin..place).and_then(|before| before.find(' '));
        begin += space.map_or(0, |at| at + 1);
    }
    let behind = text.get(begin..line.end).unwrap_or_default();
    let end = behind
        .char_indices()
        .nth(LENGTH)
        .map_or(line.end, |(at, _)| begin + at);
    let shown = text.get(begin..end).unwrap_or_default().trim_end();
    begin..begin + shown.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facet::Facet;
    use crate::query::Query;

    fn shown(question: &str, text: &str) -> String {
        let texts = [(Facet::Results, text.to_owned())];
        let marked = Query::parse(question)
            .unwrap()
            .matches(&texts, &Facet::ALL)
            .unwrap();
        let snippet = Snippet::of(text, &marked[0]);
        let mut shown = String::new();
        let mut at = 0;
        for mark in &snippet.marks {
            shown += &snippet.text[at..mark.start];
            shown += &format!("[{}]", &snippet.text[mark.clone()]);
            at = mark.end;
        }
        shown += &snippet.text[at..];
        let cut = |is_cut: bool| if is_cut { "…" } else { "" };
        format!(
            "{}{shown}{}",
            cut(snippet.is_cut_before),
            cut(snippet.is_cut_behind)
        )
    }

    #[test]
    fn a_snippet_is_the_line_with_the_words() {
        assert_eq!(shown("one", "zero\n  one two\nthree"), "[one] two");
        assert_eq!(shown("one two", "one\ntwo one\n"), "[two] [one]");
        assert_eq!(shown("fooBar bar", "a fooBar"), "a [fooBar]");
        let long = format!("{} needle {}", "before ".repeat(100), "é".repeat(300));
        let snippet = shown("needle", &long);
        assert!(
            snippet.starts_with("…before ")
                && snippet.contains("[needle] ééé")
                && snippet.ends_with('…'),
            "{snippet}"
        );
        assert!(snippet.chars().count() < LENGTH + 10);
        assert_eq!(shown("日本", "日本"), "[日本]");
    }

    #[test]
    fn a_snippet_has_the_lines_around_it() {
        let long = "x".repeat(LENGTH + 1);
        let cut = format!("{}…", "x".repeat(LENGTH));
        for (text, before, behind) in [
            ("one", None, None),
            ("zero\none\ntwo\nthree", Some("zero"), Some("two")),
            ("zero\n\n one\n \n  two", Some("zero"), Some("  two")),
            (&format!("{long}\none"), Some(cut.as_str()), None),
        ] {
            let texts = [(Facet::Results, text.to_owned())];
            let marked = Query::parse("one")
                .unwrap()
                .matches(&texts, &Facet::ALL)
                .unwrap();
            let snippet = Snippet::of(text, &marked[0]);
            assert_eq!(snippet.line_before.as_deref(), before, "{text:?}");
            assert_eq!(snippet.line_behind.as_deref(), behind, "{text:?}");
        }
    }
}
