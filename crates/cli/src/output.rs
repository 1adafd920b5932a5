//! Standard output: text or JSON, plain or styled, and tables that are printed
//! while they are still growing.

use std::io::{BufWriter, IsTerminal, StdoutLock, Write};

use annals::domain::{ActorRef, Timestamp};
use comfy_table::presets::NOTHING;
use comfy_table::{Attribute, Cell, CellAlignment, ColumnConstraint, Table, Width};
use serde::Serialize;
use uuid::Uuid;

use crate::error::CliError;

/// Characters of a cell; the rest is in the JSON.
const MAX_CELL: usize = 300;

/// Where a command writes to.
pub(crate) struct Output {
    json: bool,
    styled: bool,
    out: BufWriter<StdoutLock<'static>>,
}

/// How a text stands out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    Bold,
    Dim,
}

impl Output {
    pub(crate) fn new(json: bool, styled: bool) -> Output {
        Output {
            json,
            styled,
            out: BufWriter::new(std::io::stdout().lock()),
        }
    }

    /// Whether JSON was asked for.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Prints a text as it is, and ends the line.
    pub(crate) fn line(&mut self, text: &str) -> Result<(), CliError> {
        writeln!(self.out, "{text}").map_err(CliError::Output)
    }

    /// Prints bytes as they are.
    pub(crate) fn raw(&mut self, bytes: &[u8]) -> Result<(), CliError> {
        self.out.write_all(bytes).map_err(CliError::Output)
    }

    /// Standard output itself, for what is too long to be held.
    pub(crate) fn writer(&mut self) -> &mut dyn Write {
        &mut self.out
    }

    /// Prints recorded content: as it is, but on a terminal harmless.
    pub(crate) fn content(&mut self, bytes: &[u8]) -> Result<(), CliError> {
        if std::io::stdout().is_terminal() {
            return self.raw(visible(&String::from_utf8_lossy(bytes)).as_bytes());
        }
        self.raw(bytes)
    }

    /// Prints one value as one line of JSON.
    pub(crate) fn json<T: Serialize>(&mut self, value: &T) -> Result<(), CliError> {
        let text = serde_json::to_string(value).map_err(CliError::Json)?;
        self.line(&text)
    }

    /// Prints names and values, the values aligned.
    pub(crate) fn fields(&mut self, fields: &[(&str, String)]) -> Result<(), CliError> {
        let width = fields.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        for (name, value) in fields {
            let name = self.style(Style::Dim, &format!("{name:width$}"));
            self.line(&format!("{name}  {}", visible(value)))?;
        }
        Ok(())
    }

    /// A text in a style, where styles are wanted.
    pub(crate) fn style(&self, style: Style, text: &str) -> String {
        let code = match style {
            Style::Bold => 1,
            Style::Dim => 2,
        };
        if self.styled {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }

    /// Tells people something on standard error that is no result. Programs are
    /// not disturbed, and a closed standard error is no failure.
    pub(crate) fn note(&self, text: &str) {
        if !self.json {
            let _ = writeln!(std::io::stderr().lock(), "annals: {}", visible(text));
        }
    }

    /// Hands everything to whoever reads it.
    pub(crate) fn flush(&mut self) -> Result<(), CliError> {
        self.out.flush().map_err(CliError::Output)
    }
}

/// A column of a table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    pub(crate) title: &'static str,
    /// The least width, so that pages of rows stand under each other.
    pub(crate) width: u16,
    pub(crate) right: bool,
}

impl Column {
    pub(crate) const fn left(title: &'static str, width: u16) -> Column {
        Column {
            title,
            width,
            right: false,
        }
    }

    pub(crate) const fn right(title: &'static str, width: u16) -> Column {
        Column {
            title,
            width,
            right: true,
        }
    }
}

/// A table that is printed page by page, under one header.
pub(crate) struct Rows<const N: usize> {
    columns: [Column; N],
    begun: bool,
}

impl<const N: usize> Rows<N> {
    pub(crate) fn new(columns: [Column; N]) -> Rows<N> {
        Rows {
            columns,
            begun: false,
        }
    }

    /// Prints more rows.
    pub(crate) fn print(
        &mut self,
        output: &mut Output,
        rows: impl IntoIterator<Item = [String; N]>,
    ) -> Result<(), CliError> {
        let mut table = Table::new();
        table.load_style(NOTHING).force_no_tty();
        if output.styled {
            table.enforce_styling();
        }
        if !self.begun {
            let title = |column: &Column| Cell::new(column.title).add_attribute(Attribute::Bold);
            table.set_header(self.columns.iter().map(title).collect::<Vec<Cell>>());
        }
        table.add_rows(
            rows.into_iter()
                .map(|row| row.map(|text| Cell::new(cell(&text)))),
        );
        if table.is_empty() {
            return Ok(());
        }
        self.begun = true;
        let least = self.columns.map(|column| Width::Fixed(column.width));
        table.set_constraints(least.map(ColumnConstraint::LowerBoundary));
        for (column, shown) in self.columns.iter().zip(table.column_iter_mut()) {
            shown.set_padding((0, 2));
            if column.right {
                shown.set_cell_alignment(CellAlignment::Right);
            }
        }
        for line in table.lines() {
            output.line(line.trim_end())?;
        }
        Ok(())
    }
}

/// A text as it fits into a cell: one line, not too long, nothing hidden.
fn cell(text: &str) -> String {
    let mut cut: String = text.chars().take(MAX_CELL).collect();
    if cut.len() < text.len() {
        cut.push('…');
    }
    visible(&cut.replace(['\n', '\t'], " "))
}

/// A text that cannot do anything to a terminal: what is recorded comes from
/// anywhere, so control and direction characters are shown as escapes.
pub(crate) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        let harmless = matches!(c, '\n' | '\t') || !(c.is_control() || is_direction(c));
        if harmless {
            shown.push(c);
        } else {
            shown.extend(c.escape_unicode());
        }
    }
    shown
}

/// Characters that reorder the text around them.
fn is_direction(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// An id's last digits, which commands take for the id.
pub(crate) fn short(id: Uuid) -> String {
    let digits = id.simple().to_string();
    digits.get(24..).unwrap_or_default().to_owned()
}

/// A time to the second.
pub(crate) fn when(time: Timestamp) -> String {
    time.to_utc().format("%Y-%m-%d %H:%M:%SZ").to_string()
}

/// An actor's kind and name.
pub(crate) fn who(actor: &ActorRef) -> String {
    match &actor.display_name {
        Some(name) if !name.trim().is_empty() => format!("{} {name}", actor.kind),
        _ => format!("{} {}", actor.kind, actor.id),
    }
}

/// A number of bytes for people, and exactly.
pub(crate) fn bytes(n: u64) -> String {
    format!("{} ({n} bytes)", indicatif::BinaryBytes(n))
}

/// So many things.
pub(crate) fn counted(n: u64, one: &str, more: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { more })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recorded_text_cannot_drive_a_terminal() {
        assert_eq!(
            visible("a\x1b[2Jb\u{202e}c\r\n"),
            "a\\u{1b}[2Jb\\u{202e}c\\u{d}\n"
        );
        assert_eq!(visible("日本 é 🦀\t"), "日本 é 🦀\t");
        assert_eq!(cell("two\nlines"), "two lines");
        assert_eq!(cell(&"x".repeat(400)).chars().count(), MAX_CELL + 1);
    }

    #[test]
    fn short_ids_are_the_last_digits() {
        assert_eq!(short(Uuid::from_u128(0x1234_5678_9abc_def0)), "9abcdef0");
    }
}
