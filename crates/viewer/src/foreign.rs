//! Foreign text as it is drawn: control and bidi characters become badges, terminal colours are dropped, long lines fold.

use std::borrow::Cow;

use maud::{Markup, html};

/// Characters of a line that are drawn; the rest is counted.
const LINE: usize = 2_000;

/// A piece of a text: plain, or a character that has no visible shape.
enum Piece<'a> {
    Plain(&'a str),
    Hidden(char),
}

/// Draws a text with a badge in the place of each hidden character, such as `ESC` or `U+202E`.
pub(crate) fn text(text: &str) -> Markup {
    html! { @for piece in pieces(text) { @match piece {
        Piece::Plain(plain) => { (plain) }
        Piece::Hidden(hidden) => { span.ctl { (name(hidden)) } }
    } } }
}

/// A text in an attribute, with the name of each hidden character in its place.
pub(crate) fn attribute(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for piece in pieces(text) {
        match piece {
            Piece::Plain(plain) => shown.push_str(plain),
            Piece::Hidden(hidden) => shown.push_str(&name(hidden)),
        }
    }
    shown
}

/// The badge of a hidden character.
pub(crate) fn name(hidden: char) -> Cow<'static, str> {
    Cow::Borrowed(match hidden {
        '\0' => "NUL",
        '\u{7}' => "BEL",
        '\u{8}' => "BS",
        '\u{b}' => "VT",
        '\u{c}' => "FF",
        '\r' => "CR",
        '\u{1b}' => "ESC",
        '\u{7f}' => "DEL",
        other => return Cow::Owned(format!("U+{:04X}", u32::from(other))),
    })
}

/// Returns `true` if a character gets a badge.
pub(crate) fn is_badge(c: char) -> bool {
    annals_terminal::is_hidden(c) && !matches!(c, '\n' | '\t')
}

fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut from = 0;
    for (at, hidden) in text.match_indices(is_badge) {
        if from < at {
            pieces.extend(text.get(from..at).map(Piece::Plain));
        }
        pieces.extend(hidden.chars().next().map(Piece::Hidden));
        from = at + hidden.len();
    }
    pieces.extend(
        text.get(from..)
            .filter(|rest| !rest.is_empty())
            .map(Piece::Plain),
    );
    pieces
}

/// A text on one line of at most so many characters.
pub(crate) fn one_line(text: &str, most: usize) -> String {
    let mut line = String::new();
    let words = text.split_whitespace();
    for word in words {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if line.len() > most * 4 {
            break;
        }
    }
    cut(&line, most)
}

/// The first characters of a text, and an ellipsis if there are more.
pub(crate) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some(_) => {
            let end = text.char_indices().nth(most.saturating_sub(1));
            let kept = text.get(..end.map_or(0, |(end, _)| end)).unwrap_or("");
            format!("{}…", kept.trim_end())
        }
    }
}

/// A command's output without terminal colours, cursor movements and carriage returns before line breaks.
pub(crate) fn output(text: &str) -> Cow<'_, str> {
    if !text.contains(['\u{1b}', '\r']) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['\u{1b}', '\r']) {
        let (before, from) = rest.split_at(at);
        plain.push_str(before);
        let skipped = match escape(from) {
            Some(length) => length,
            None if from.starts_with("\r\n") => 1,
            None => {
                let first = from.chars().next();
                plain.extend(first);
                first.map_or(1, char::len_utf8)
            }
        };
        rest = from.get(skipped..).unwrap_or("");
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}

/// The length of the control sequence (`ESC [ … letter`) that a text begins with.
fn escape(text: &str) -> Option<usize> {
    let rest = text.strip_prefix("\u{1b}[")?;
    let is_parameter = |byte: &u8| (0x20..=0x3f).contains(byte);
    let length = rest.bytes().take_while(is_parameter).count();
    let last = rest.as_bytes().get(length)?;
    (length < 32 && (0x40..=0x7e).contains(last)).then_some(2 + length + 1)
}

/// Draws a line; of a long one only the beginning.
pub(crate) fn line(line: &str) -> Markup {
    match line.char_indices().nth(LINE) {
        None => text(line),
        Some((end, _)) => {
            let (shown, rest) = line.split_at(end);
            html! { (text(shown)) span.dim { " … " (crate::figures::grouped(rest.chars().count() as u64)) " more characters" } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_badges() {
        let shown = text("a\u{202e}<b>\u{1b}[31m\tc\r\u{fe0f}").into_string();
        assert_eq!(
            shown,
            "a<span class=\"ctl\">U+202E</span>&lt;b&gt;<span class=\"ctl\">ESC</span>[31m\tc<span class=\"ctl\">CR</span>\u{fe0f}"
        );
    }

    #[test]
    fn output_has_no_colours() {
        assert_eq!(output("\u{1b}[1;31mred\u{1b}[0m\r\nnext\r"), "red\nnext\r");
        assert_eq!(output("\u{1b}]0;title\u{7}"), "\u{1b}]0;title\u{7}");
        assert_eq!(output("\u{1b}["), "\u{1b}[");
        assert_eq!(output("plain"), "plain");
    }

    #[test]
    fn long_texts_are_cut() {
        assert_eq!(one_line("a\n  b\tc", 10), "a b c");
        assert_eq!(one_line("αβγδε", 3), "αβ…");
        assert_eq!(cut("", 3), "");
        let long = line(&"x".repeat(2_500)).into_string();
        assert!(long.ends_with(" … 500 more characters</span>"), "{long}");
    }
}
