//! Lines of several parts, such as styles, broken or cut to the width of a terminal.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::line;

/// What stands for what was cut away.
const CUT: &str = "…";
/// Spaces of a tab.
const TAB: &str = "    ";

/// A part of a line with its mark, such as a style.
pub type Part<T> = (String, T);

/// Makes a line of parts harmless and breaks it between words into lines of at most `width` columns. Lines behind the
/// first one are indented by `hanging` columns. A word that is wider than a line is broken anywhere.
///
/// ```
/// use annals_terminal::wrap;
/// let lines = wrap([("- some ", 'p'), ("code here", 'c')], 12, 2);
/// let texts: Vec<String> = lines.iter().map(|line| line.iter().map(|(text, _)| text.as_str()).collect()).collect();
/// assert_eq!(texts, ["- some code", "  here"]);
/// ```
pub fn wrap<'a, T: Copy + PartialEq>(
    parts: impl IntoIterator<Item = (&'a str, T)>,
    width: usize,
    hanging: usize,
) -> Vec<Vec<Part<T>>> {
    let width = width.max(1);
    let mut wrapped = Wrapped {
        width,
        hanging: hanging.min(width / 2),
        lines: Vec::new(),
        current: Vec::new(),
        columns: 0,
        is_fresh: true,
    };
    let mut word = Word::default();
    for (text, mark) in parts {
        let text = line(text).replace('\t', TAB);
        for c in text.chars() {
            if c != ' ' && !word.spaces.is_empty() {
                wrapped.add(std::mem::take(&mut word));
            }
            word.push(c, mark);
        }
    }
    wrapped.add(word);
    wrapped.end();
    wrapped.lines
}

/// Makes a line of parts harmless and cuts it to at most `width` columns.
///
/// ```
/// use annals_terminal::cut_parts;
/// assert_eq!(cut_parts([("Bash ", 0), ("go test ./...", 1)], 10), [("Bash ".to_owned(), 0), ("go t…".to_owned(), 1)]);
/// ```
pub fn cut_parts<'a, T: Copy>(
    parts: impl IntoIterator<Item = (&'a str, T)>,
    width: usize,
) -> Vec<Part<T>> {
    let parts = parts.into_iter();
    let parts: Vec<Part<T>> = parts
        .map(|(text, mark)| (line(text).replace('\t', TAB), mark))
        .collect();
    let whole: usize = parts.iter().map(|(text, _)| text.width()).sum();
    if whole <= width {
        return parts;
    }
    let mut left = width.saturating_sub(CUT.width());
    let mut kept: Vec<Part<T>> = Vec::new();
    for (text, mark) in parts {
        let mut part = String::new();
        let mut is_over = false;
        for c in text.chars() {
            let own = c.width().unwrap_or(0);
            if own > left {
                is_over = true;
                break;
            }
            left -= own;
            part.push(c);
        }
        if is_over {
            part.push_str(if width > 0 { CUT } else { "" });
        }
        kept.push((part, mark));
        if is_over {
            break;
        }
    }
    kept
}

/// A word with the spaces behind it.
struct Word<T> {
    parts: Vec<Part<T>>,
    columns: usize,
    spaces: Vec<Part<T>>,
}

impl<T> Default for Word<T> {
    fn default() -> Word<T> {
        Word {
            parts: Vec::new(),
            columns: 0,
            spaces: Vec::new(),
        }
    }
}

impl<T: Copy + PartialEq> Word<T> {
    fn push(&mut self, c: char, mark: T) {
        match c {
            ' ' => add(&mut self.spaces, c, mark),
            _ => {
                self.columns += c.width().unwrap_or(0);
                add(&mut self.parts, c, mark);
            }
        }
    }
}

/// Adds a character to the last part, or to a new one if the mark changes.
fn add<T: PartialEq>(parts: &mut Vec<Part<T>>, c: char, mark: T) {
    match parts.last_mut() {
        Some((text, last)) if *last == mark => text.push(c),
        _ => parts.push((c.to_string(), mark)),
    }
}

/// Lines as they are filled.
struct Wrapped<T> {
    width: usize,
    hanging: usize,
    lines: Vec<Vec<Part<T>>>,
    current: Vec<Part<T>>,
    columns: usize,
    /// Nothing but indentation is in the current line.
    is_fresh: bool,
}

impl<T: Copy + PartialEq> Wrapped<T> {
    fn add(&mut self, word: Word<T>) {
        if !self.is_fresh && self.columns + word.columns > self.width {
            self.end();
        }
        for (text, mark) in word.parts {
            for c in text.chars() {
                let own = c.width().unwrap_or(0);
                if !self.is_fresh && self.columns + own > self.width {
                    self.end();
                }
                self.put(c, own, mark);
                self.is_fresh = false;
            }
        }
        for (text, mark) in word.spaces {
            text.chars().for_each(|c| self.put(c, 1, mark));
        }
    }

    fn put(&mut self, c: char, columns: usize, mark: T) {
        if self.current.is_empty() && !self.lines.is_empty() {
            let indent = self.hanging;
            (0..indent).for_each(|_| add(&mut self.current, ' ', mark));
            self.columns = indent;
        }
        add(&mut self.current, c, mark);
        self.columns += columns;
    }

    /// Ends the line, without the spaces at its end.
    fn end(&mut self) {
        let mut line = std::mem::take(&mut self.current);
        while let Some((text, _)) = line.last_mut() {
            text.truncate(text.trim_end_matches(' ').len());
            if !text.is_empty() {
                break;
            }
            line.pop();
        }
        self.lines.push(line);
        (self.columns, self.is_fresh) = (self.hanging, true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(lines: &[Vec<Part<u8>>]) -> Vec<String> {
        let text = |line: &Vec<Part<u8>>| line.iter().map(|(text, _)| text.as_str()).collect();
        lines.iter().map(text).collect()
    }

    #[test]
    fn lines_are_broken_between_words() {
        for (text, width, hanging, expected) in [
            ("a bb ccc dddd", 6, 0, vec!["a bb", "ccc", "dddd"]),
            ("a bb", 6, 0, vec!["a bb"]),
            ("", 6, 0, vec![""]),
            ("  a b", 4, 0, vec!["  a", "b"]),
            ("- one two", 6, 2, vec!["- one", "  two"]),
            ("abcdef gh", 4, 0, vec!["abcd", "ef", "gh"]),
            ("日本 日本", 5, 0, vec!["日本", "日本"]),
            ("a\u{1b}[2Jb", 20, 0, vec!["a\\u{1b}[2Jb"]),
            ("a\tb", 9, 0, vec!["a    b"]),
            ("abc", 0, 9, vec!["a", "b", "c"]),
        ] {
            assert_eq!(
                texts(&wrap([(text, 0)], width, hanging)),
                expected,
                "{text:?}"
            );
        }
    }

    #[test]
    fn a_word_of_two_parts_stays_together() {
        let lines = wrap([("aa ", 1), ("bb", 2), (", c", 1)], 5, 0);
        assert_eq!(texts(&lines), ["aa", "bb, c"]);
        assert_eq!(lines[1][0], ("bb".to_owned(), 2));
        assert_eq!(lines[1][1], (", c".to_owned(), 1));
    }

    #[test]
    fn cut_lines_are_as_wide_as_the_terminal() {
        for (parts, width, expected) in [
            (vec![("abc", 0), ("def", 1)], 6, "abcdef"),
            (vec![("abc", 0), ("def", 1)], 5, "abcd…"),
            (vec![("abc", 0), ("def", 1)], 3, "ab…"),
            (vec![("日本語", 0)], 5, "日本…"),
            (vec![("abc", 0)], 0, ""),
        ] {
            let text: String = cut_parts(parts, width)
                .into_iter()
                .map(|(text, _)| text)
                .collect();
            assert_eq!(text, expected);
        }
    }
}
