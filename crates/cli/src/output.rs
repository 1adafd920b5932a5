//! Standard output: text or JSON, plain or styled, as it is or by a pager.
//!
//! What a log holds comes from anywhere, so all that is printed goes through [`annals_terminal`]
//! here, at the one way out: commands need not think of it.

mod table;

use std::borrow::Cow;
use std::io::{BufWriter, IsTerminal, Write};

use annals::domain::ActorRef;
use serde::Serialize;
use serde_json::json;
use uuid::Uuid;

pub(crate) use self::table::{Column, Row, Rows};
pub(crate) use crate::clock::when;
pub(crate) use crate::counted::counted;
use crate::error::CliError;
use crate::pager::{PagerCommand, Sink};
pub(crate) use crate::say::{say, say_json};

/// What begins every code of a terminal.
const ESCAPE: char = '\x1b';
/// The codes of [`Style`], and of their end.
const STYLES: [&str; 7] = [
    "\x1b[1m",
    "\x1b[2m",
    "\x1b[38;5;1m",
    "\x1b[38;5;2m",
    "\x1b[38;5;3m",
    "\x1b[1;38;5;6m",
    "\x1b[0m",
];

/// Where a command writes to.
pub(crate) struct Output {
    json: bool,
    styled: bool,
    /// The columns of the terminal that people read it on, if it is one.
    screen: Option<usize>,
    out: BufWriter<Sink>,
}

/// How a text is emphasized.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    Bold,
    Dim,
    /// What is not there any more: red.
    Removed,
    /// What is there now: green.
    Added,
    /// Code: yellow.
    Code,
    /// A heading: bold cyan.
    Heading,
}

impl Output {
    pub(crate) fn new(json: bool, styled: bool) -> Output {
        Output {
            json,
            styled,
            screen: None,
            out: BufWriter::new(Sink::Stdout(std::io::stdout().lock())),
        }
    }

    /// The same for a terminal of so many columns, where no line of a table is longer.
    pub(crate) fn on_screen(self, columns: Option<usize>) -> Output {
        Output {
            screen: columns,
            ..self
        }
    }

    /// The same by a pager, if there is one.
    pub(crate) fn paged(self, pager: Option<PagerCommand>) -> Output {
        match pager {
            Some(command) => Output {
                out: BufWriter::new(Sink::Waiting(command)),
                ..self
            },
            None => self,
        }
    }

    /// The columns of the terminal that lines must fit into, if it is one.
    pub(crate) fn screen(&self) -> Option<usize> {
        self.screen
    }

    /// Whether JSON was requested: `--json`.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Whether styles are wanted.
    pub(crate) fn is_styled(&self) -> bool {
        self.styled
    }

    /// Prints one line, in which what is hidden is shown as escapes, line breaks too.
    pub(crate) fn line(&mut self, text: &str) -> Result<(), CliError> {
        let shown = self.shown(text);
        writeln!(self.out, "{shown}").map_err(CliError::output)
    }

    /// Prints a text of several lines, each as [`Output::line`] does. Only for texts whose line
    /// breaks are ours.
    pub(crate) fn lines(&mut self, text: &str) -> Result<(), CliError> {
        text.lines().try_for_each(|line| self.line(line))
    }

    /// A line without what is hidden, but for the styles that [`Output::style`] gives.
    fn shown<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if !self.styled || !text.contains(ESCAPE) {
            return annals_terminal::line(text);
        }
        let mut shown = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find(ESCAPE) {
            let (before, code) = rest.split_at(at);
            shown.push_str(&annals_terminal::line(before));
            let known = STYLES.iter().find(|style| code.starts_with(**style));
            // Any other is shown as what it is.
            let taken = known.map_or(ESCAPE.len_utf8(), |style| style.len());
            let (code, behind) = code.split_at(taken);
            match known {
                Some(style) => shown.push_str(style),
                None => shown.push_str(&annals_terminal::line(code)),
            }
            rest = behind;
        }
        shown.push_str(&annals_terminal::line(rest));
        Cow::Owned(shown)
    }

    /// Prints bytes of the program's own as they are: help, completions, man pages.
    pub(crate) fn raw(&mut self, bytes: &[u8]) -> Result<(), CliError> {
        self.out.write_all(bytes).map_err(CliError::output)
    }

    /// Standard output for JSON that is too long to be held.
    pub(crate) fn json_writer(&mut self) -> annals_terminal::Writer<&mut dyn Write> {
        annals_terminal::Writer::json(&mut self.out)
    }

    /// Prints recorded content: as it is, but on a terminal harmless.
    pub(crate) fn content(&mut self, bytes: &[u8]) -> Result<(), CliError> {
        if std::io::stdout().is_terminal() {
            let text = String::from_utf8_lossy(bytes);
            return self.raw(annals_terminal::lines(&text).as_bytes());
        }
        self.raw(bytes)
    }

    /// Prints one value as one line of JSON.
    pub(crate) fn json<T: Serialize>(&mut self, value: &T) -> Result<(), CliError> {
        let text = serde_json::to_string(value).map_err(CliError::json)?;
        self.json_line(&text)
    }

    /// Prints JSON that was written already as a line.
    pub(crate) fn json_line(&mut self, text: &str) -> Result<(), CliError> {
        self.json_text(text)?;
        self.raw(b"\n")
    }

    /// Prints JSON whose very bytes count, since others take its digest, as a line: as it is, but
    /// on a terminal harmless.
    pub(crate) fn json_content(&mut self, text: &str) -> Result<(), CliError> {
        match std::io::stdout().is_terminal() {
            true => self.json_line(text),
            false => self.raw(format!("{text}\n").as_bytes()),
        }
    }

    /// Prints JSON that was written already, or a part of it.
    pub(crate) fn json_text(&mut self, text: &str) -> Result<(), CliError> {
        self.raw(annals_terminal::json(text).as_bytes())
    }

    /// Prints names and values, the values aligned.
    pub(crate) fn fields(&mut self, fields: &[(&str, String)]) -> Result<(), CliError> {
        let width = fields.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        for (name, value) in fields {
            let name = self.style(Style::Dim, &format!("{name:width$}"));
            self.line(&format!("{name}  {value}"))?;
        }
        Ok(())
    }

    /// A text in a style, where styles are wanted.
    pub(crate) fn style(&self, style: Style, text: &str) -> String {
        let code = match style {
            Style::Bold => "1",
            Style::Dim => "2",
            Style::Removed => "38;5;1",
            Style::Added => "38;5;2",
            Style::Code => "38;5;3",
            Style::Heading => "1;38;5;6",
        };
        if self.styled {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }

    /// Tells people something on standard error that is not a result. With `--json`
    /// nothing is written, and a closed standard error is not an error.
    pub(crate) fn note(&self, text: &str) {
        if !self.json {
            say(&format!("annals: {text}"));
        }
    }

    /// Says on standard error what should not stay as it is, to programs too.
    pub(crate) fn warn(&self, text: &str) {
        match self.json {
            true => say_json(&json!({ "warning": text }).to_string()),
            false => say(&format!("annals: warning: {text}")),
        }
    }

    /// Writes out everything that is buffered.
    pub(crate) fn flush(&mut self) -> Result<(), CliError> {
        self.out.flush().map_err(CliError::output)
    }
}

impl<const N: usize> Rows<N> {
    /// Prints more rows, on a terminal no wider than it is.
    pub(crate) fn print(
        &mut self,
        output: &mut Output,
        rows: impl IntoIterator<Item = impl Into<Row<N>>>,
    ) -> Result<(), CliError> {
        let rows = rows.into_iter().map(Into::into).collect();
        let lines = self.lines(rows, output.screen, output.styled);
        lines.iter().try_for_each(|line| output.line(line))
    }
}

/// An id's last digits, which commands take for the id.
pub(crate) fn short(id: Uuid) -> String {
    let digits = id.simple().to_string();
    digits.get(24..).unwrap_or_default().to_owned()
}

/// What names an object in a command that is printed for the user to run: its alias, if no shell
/// and no parser of options takes that for anything but a word, or else its whole id, for the short one may
/// be that of several objects.
pub(crate) fn in_command(alias: Option<&str>, id: Uuid) -> String {
    match alias.filter(|alias| is_plain_word(alias)) {
        Some(alias) => alias.to_owned(),
        None => id.to_string(),
    }
}

fn is_plain_word(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    !text.is_empty() && !text.starts_with('-') && text.bytes().all(is_plain)
}

/// An actor's kind and id, and who imported what it did.
pub(crate) fn actor(actor: &ActorRef) -> String {
    let importer = actor.auth_context.as_deref();
    let importer = importer.filter(|it| it.starts_with("imported by "));
    let importer = importer.map_or_else(String::new, |importer| format!(" ({importer})"));
    format!("{} {}{importer}", actor.kind, actor.id)
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

/// A large number as people read it: three digits and a prefix. `--json` has all of them.
pub(crate) fn roughly(number: u64) -> String {
    const PREFIXES: [(u64, char); 3] = [(1_000_000_000, 'G'), (1_000_000, 'M'), (1_000, 'k')];
    // What would round to a thousand of a prefix is one of the next.
    let fits = |(unit, _): &&(u64, char)| number >= unit - unit / 2_000;
    let Some((unit, prefix)) = PREFIXES.iter().find(fits) else {
        return number.to_string();
    };
    #[allow(clippy::cast_precision_loss, reason = "three digits are shown")]
    let value = number as f64 / *unit as f64;
    let digits = if value < 99.95 { 1 } else { 0 };
    format!("{value:.digits$} {prefix}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recorded_text_cannot_drive_a_terminal() {
        let foreign = "a\x1b[2Jb\u{202e}c\r\n\x1b[31md";
        let shown = "a\\u{1b}[2Jb\\u{202e}c\\r\\n\\u{1b}[31md";
        for styled in [false, true] {
            let output = Output::new(false, styled);
            assert_eq!(output.shown(foreign), shown);
            let bold = output.style(Style::Bold, foreign);
            let expected = match styled {
                true => format!("\x1b[1m{shown}\x1b[0m"),
                false => shown.to_owned(),
            };
            assert_eq!(output.shown(&bold), expected);
            assert_eq!(output.shown("日本 é 🦀\t"), "日本 é 🦀\t");
        }
    }

    #[test]
    fn large_numbers_are_shown_with_three_digits() {
        for (number, shown) in [
            (0, "0"),
            (999, "999"),
            (1_000, "1.0 k"),
            (14_449, "14.4 k"),
            (99_960, "100 k"),
            (999_499, "999 k"),
            (999_500, "1.0 M"),
            (14_400_000, "14.4 M"),
            (999_600_000, "1.0 G"),
            (u64::MAX, "18446744074 G"),
        ] {
            assert_eq!(roughly(number), shown);
        }
    }

    #[test]
    fn short_ids_are_the_last_digits() {
        assert_eq!(short(Uuid::from_u128(0x1234_5678_9abc_def0)), "9abcdef0");
    }

    #[test]
    fn a_command_has_a_plain_alias_or_the_whole_id() {
        let id = Uuid::from_u128(0x1234_5678_9abc_def0);
        for plain in ["auth", "fix-login_2.1", "A", "..", "2"] {
            assert_eq!(in_command(Some(plain), id), plain);
        }
        let others = [
            "a;b", "$(a)", "${IFS}", "a'b", "a\"b", "*", "#a", "a#", "-a", "--", "a|b", "a&b",
            "a>b", "~a", "`a`", "!a", "{a,b}", "[a]", "a?", "a=b", "%a", "a:b", "\u{e9}", "",
        ];
        for other in others {
            assert_eq!(in_command(Some(other), id), id.to_string(), "{other:?}");
        }
        assert_eq!(in_command(None, id), id.to_string());
    }
}
