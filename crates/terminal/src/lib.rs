//! Text from anywhere, made harmless for a terminal, for pages, and for JSON that people read.
//!
//! What a log holds comes from strangers: names of files, keys of tags, what a tool printed. Shown
//! as it is, it could move the cursor, hide or reorder the text around it, or begin a line that
//! looks like one of ours. Everything that a program prints passes through one of the functions
//! here:
//!
//! | Function | For | What becomes of hidden characters |
//! | --- | --- | --- |
//! | [`line()`] | one line of ours with foreign text in it | escapes, line breaks too |
//! | [`lines()`] | foreign text of many lines, pages of HTML, Markdown | escapes, except for line breaks and tabs |
//! | [`json()`] | JSON | JSON's own escapes: it means the same as before |
//!
//! [`Writer`] does the same for text that comes in pieces. [`fit()`] makes a line as short as a terminal is wide,
//! [`wrap()`] breaks it into several lines.
//!
//! ```
//! assert_eq!(annals_terminal::line("a\u{1b}[2J\nb"), r"a\u{1b}[2J\nb");
//! assert_eq!(annals_terminal::lines("a\u{202e}\nb"), "a\\u{202e}\nb");
//! assert_eq!(annals_terminal::json("[\"a\u{9b}b\"]"), r#"["a\u009bb"]"#);
//! ```

use std::borrow::Cow;

use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

mod fit;
mod json;
mod wrap;
mod writer;

pub use fit::{columns, fit};
pub use json::json;
pub use wrap::{Part, cut_parts, wrap};
pub use writer::Writer;

/// A text on one line: hidden characters and line breaks as escapes, spaces of any kind as plain
/// ones. A tab stays.
pub fn line(text: &str) -> Cow<'_, str> {
    shown(text, None, |c| c == '\t')
}

/// A text of many lines: the same, but line breaks (`\n`) stay too.
pub fn lines(text: &str) -> Cow<'_, str> {
    lines_after(text, None)
}

/// The same of a text that comes behind a character.
fn lines_after(text: &str, before: Option<char>) -> Cow<'_, str> {
    shown(text, before, |c| matches!(c, '\t' | '\n'))
}

/// The text with all that is hidden as escapes, except for what is kept.
fn shown(text: &str, before: Option<char>, keep: fn(char) -> bool) -> Cow<'_, str> {
    let changes = |(before, c): (Option<char>, char)| {
        !keep(c) && (is_hidden(c) || is_odd_space(c) || is_stray_selector(before, c))
    };
    // Most text is plain ASCII; there only control characters are of interest.
    if !with_the_one_before(text, before).any(changes) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for (before, c) in with_the_one_before(text, before) {
        match c {
            c if !changes((before, c)) => shown.push(c),
            '\n' => shown.push_str("\\n"),
            '\r' => shown.push_str("\\r"),
            c if is_odd_space(c) => shown.push(' '),
            c => shown.extend(c.escape_unicode()),
        }
    }
    Cow::Owned(shown)
}

/// The selector of the shape of emoji: behind one it stays.
const EMOJI_SELECTOR: char = '\u{fe0f}';

/// The characters of a text, each with the one before it.
fn with_the_one_before(
    text: &str,
    before: Option<char>,
) -> impl Iterator<Item = (Option<char>, char)> {
    let each_before = std::iter::once(before).chain(text.chars().map(Some));
    each_before.zip(text.chars())
}

/// Whether a character is the selector of emoji, and not behind one: a text can be smuggled in selectors.
fn is_stray_selector(before: Option<char>, c: char) -> bool {
    c == EMOJI_SELECTOR && !before.is_some_and(may_be_emoji)
}

/// Whether a character is a symbol, as emoji are, or one of the emoji that are punctuation.
fn may_be_emoji(c: char) -> bool {
    let is_symbol = matches!(
        c.general_category(),
        GeneralCategory::OtherSymbol | GeneralCategory::MathSymbol
    );
    let is_mark = matches!(c, '\u{203c}' | '\u{2049}' | '\u{3030}' | '\u{303d}');
    !c.is_ascii() && !is_hidden(c) && (is_symbol || is_mark)
}

/// Whether a character has no visible shape, or acts on the text around it: Unicode's
/// control and format characters, its line and paragraph separators, the blank of Braille, and what else is left out
/// where it cannot be shown (`Default_Ignorable_Code_Point`), selectors of glyph variants too. The selector of emoji
/// (U+FE0F) is not: behind an emoji it chooses its shape, and elsewhere the functions here escape it.
pub fn is_hidden(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_control();
    }
    let by_category = matches!(
        c.general_category(),
        GeneralCategory::Control
            | GeneralCategory::Format
            | GeneralCategory::LineSeparator
            | GeneralCategory::ParagraphSeparator
    );
    by_category || is_ignorable(c)
}

/// What is ignorable by default and of no category that says so, and what is blank: joiners, fillers and selectors, and
/// planes of tags and selectors in which a text can be smuggled.
fn is_ignorable(c: char) -> bool {
    matches!(
        c,
        '\u{34f}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{2065}'
            | '\u{2800}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0e}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fff8}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// Whether it is a space, but not the plain one.
fn is_odd_space(c: char) -> bool {
    !c.is_ascii() && c.general_category() == GeneralCategory::SpaceSeparator
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All that Unicode calls control, format or separator.
    fn of_interest() -> impl Iterator<Item = char> {
        use GeneralCategory as Is;
        ('\0'..=char::MAX).filter(|c| {
            matches!(
                c.general_category(),
                Is::Control
                    | Is::Format
                    | Is::LineSeparator
                    | Is::ParagraphSeparator
                    | Is::SpaceSeparator
            )
        })
    }

    #[test]
    fn no_control_format_or_separator_character_passes() {
        let mut seen = 0;
        for c in of_interest() {
            seen += 1;
            let text = format!("a{c}b");
            let shown = line(&text);
            let expected = match c {
                ' ' | '\t' => text.clone(),
                '\n' => "a\\nb".to_owned(),
                '\r' => "a\\rb".to_owned(),
                c if c.general_category() == GeneralCategory::SpaceSeparator => "a b".to_owned(),
                c => format!("a{}b", c.escape_unicode()),
            };
            assert_eq!(shown, expected, "U+{:04X}", u32::from(c));
            let expected = if c == '\n' { text.clone() } else { expected };
            assert_eq!(lines(&text), expected, "U+{:04X}", u32::from(c));
        }
        assert!(seen > 240, "{seen} characters");
    }

    #[test]
    fn what_was_seen_to_pass_is_escaped() {
        for c in [
            '\u{61c}',
            '\u{feff}',
            '\u{200b}',
            '\u{2028}',
            '\u{2029}',
            '\u{2060}',
            '\u{ad}',
            '\u{e0041}',
            '\u{e0100}',
            '\u{115f}',
            '\u{3164}',
            '\u{9b}',
            '\u{7f}',
            '\u{202e}',
            '\u{2800}',
            '\u{fe00}',
            '\u{fe0e}',
            '\u{fe0f}',
        ] {
            assert_eq!(line(&c.to_string()), c.escape_unicode().to_string());
        }
    }

    #[test]
    fn the_selector_of_emoji_stays_behind_one_alone() {
        let escaped = r"\u{fe0f}";
        for (text, expected) in [
            ("❤\u{fe0f}".to_owned(), "❤\u{fe0f}".to_owned()),
            ("‼\u{fe0f}".to_owned(), "‼\u{fe0f}".to_owned()),
            ("a\u{fe0f}b".to_owned(), format!("a{escaped}b")),
            ("日\u{fe0f}".to_owned(), format!("日{escaped}")),
            (
                "❤\u{fe0f}\u{fe0f}".to_owned(),
                format!("❤\u{fe0f}{escaped}"),
            ),
        ] {
            assert_eq!(line(&text), expected);
            assert_eq!(lines(&text), expected);
            let in_json = json(&format!("\"{text}\"")).into_owned();
            let expected = expected.replace(escaped, r"\ufe0f");
            assert_eq!(in_json, format!("\"{expected}\""));
        }
    }

    #[test]
    fn what_people_write_stays_as_it_is() {
        for text in [
            "",
            "plain",
            "日本 é 🦀\tß ﷺ",
            "❤\u{fe0f}",
            "हिन्दी",
            "a\u{301}",
        ] {
            assert!(matches!(line(text), Cow::Borrowed(_)), "{text}");
        }
        assert_eq!(line("un\u{a0}: deux\u{3000}三"), "un : deux 三");
        assert_eq!(lines("two\r\nlines\n"), "two\\r\nlines\n");
    }
}
