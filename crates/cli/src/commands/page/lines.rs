//! Names, and lines behind them.

use annals_terminal::{columns, fit};

use crate::error::CliError;
use crate::output::{Output, Style};

/// Columns of texts where there is no terminal.
const WIDE: usize = 100;
/// Columns of texts, however narrow the terminal is.
const LEAST: usize = 30;

/// A page of names, each with lines behind it.
#[derive(Debug, Default)]
pub(super) struct Page {
    fields: Vec<Field>,
}

#[derive(Debug)]
struct Field {
    name: &'static str,
    content: Content,
}

#[derive(Debug)]
enum Content {
    /// Lines as they are.
    Lines(Vec<String>),
    /// A text that is broken into lines, of which at most so many are shown.
    Text(String, usize),
}

impl Page {
    /// Adds a line.
    pub(super) fn line(&mut self, name: &'static str, line: impl Into<String>) {
        self.lines(name, vec![line.into()]);
    }

    /// Adds a line, if there is one.
    pub(super) fn some(&mut self, name: &'static str, line: Option<impl Into<String>>) {
        if let Some(line) = line {
            self.line(name, line);
        }
    }

    /// Adds lines, if there are any.
    pub(super) fn lines(&mut self, name: &'static str, lines: Vec<String>) {
        if !lines.is_empty() {
            let content = Content::Lines(lines);
            self.fields.push(Field { name, content });
        }
    }

    /// Adds a text, at most so many lines of it.
    pub(super) fn text(&mut self, name: &'static str, text: impl Into<String>, most: usize) {
        let text = text.into();
        if !text.trim().is_empty() {
            let content = Content::Text(text, most);
            self.fields.push(Field { name, content });
        }
    }

    /// Prints all of it.
    pub(super) fn print(self, output: &mut Output) -> Result<(), CliError> {
        let widest = self.fields.iter().map(|field| field.name.len()).max();
        let name_width = widest.unwrap_or(0);
        let taken = name_width + 4;
        let screen = output
            .screen()
            .map(|screen| screen.saturating_sub(taken).max(LEAST));
        for Field { name, content } in self.fields {
            let lines = match content {
                Content::Lines(lines) => lines,
                Content::Text(text, most) => wrapped(&text, screen.unwrap_or(WIDE), most),
            };
            for (index, line) in lines.into_iter().enumerate() {
                let name = if index == 0 { name } else { "" };
                let name = output.style(Style::Dim, &format!("{name:name_width$}"));
                let line = match screen {
                    Some(screen) => fit("", &line, "", screen),
                    None => line,
                };
                output.line(format!("  {name}  {line}").trim_end())?;
            }
        }
        Ok(())
    }
}

/// A text in lines of at most so many columns, broken between words; what is more than `most` lines is counted.
fn wrapped(text: &str, width: usize, most: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for line in text.trim().lines() {
        let mut kept = String::new();
        for word in line.split_whitespace() {
            if !kept.is_empty() && columns(&kept) + 1 + columns(word) > width {
                lines.push(std::mem::take(&mut kept));
            }
            if !kept.is_empty() {
                kept.push(' ');
            }
            kept.push_str(word);
        }
        lines.push(kept);
        // The rest is only counted.
        if lines.len() > most {
            break;
        }
    }
    if lines.len() > most {
        lines.truncate(most);
        lines.push("…".to_owned());
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_broken_between_words() {
        assert_eq!(wrapped("a bb ccc dddd", 6, 9), ["a bb", "ccc", "dddd"]);
        assert_eq!(wrapped("  a\n\nb  c\n", 9, 9), ["a", "", "b c"]);
        assert_eq!(wrapped("aaaaaaaa b", 3, 9), ["aaaaaaaa", "b"]);
        assert_eq!(wrapped("日本 日本", 5, 9), ["日本", "日本"]);
        assert_eq!(wrapped("a\nb\nc", 9, 2), ["a", "b", "…"]);
        assert_eq!(wrapped("a\nb", 9, 2), ["a", "b"]);
    }
}
