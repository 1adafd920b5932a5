//! Lines of a conversation on standard output.

use annals::projections::{Emphasis, TextLine};
use annals_terminal::{Part, cut_parts, wrap};

use crate::error::CliError;
use crate::output::{Output, Style};

/// Columns of wrapped prose, however wide the terminal is.
const WIDEST: usize = 120;
/// Columns of texts, however narrow the terminal is.
const LEAST: usize = 20;

/// Prints lines, and removes them.
pub(in crate::commands) fn print(
    lines: &mut Vec<TextLine>,
    output: &mut Output,
) -> Result<(), CliError> {
    lines
        .drain(..)
        .try_for_each(|line| print_line(&line, output))
}

fn print_line(line: &TextLine, output: &mut Output) -> Result<(), CliError> {
    let parts = || {
        line.spans
            .iter()
            .map(|span| (span.text.as_str(), span.emphasis))
    };
    let room = |screen: usize| screen.saturating_sub(line.indent).max(LEAST);
    let rows = match output.screen() {
        Some(screen) if line.is_cut => vec![cut_parts(parts(), room(screen))],
        Some(screen) if !line.is_code => wrap(parts(), room(screen.min(WIDEST)), line.hanging),
        _ => {
            let harmless = |(text, emphasis)| (annals_terminal::line(text).into_owned(), emphasis);
            vec![parts().map(harmless).collect()]
        }
    };
    rows.iter()
        .try_for_each(|row| output.line(&styled(row, line.indent, output)))
}

fn styled(row: &[Part<Emphasis>], indent: usize, output: &Output) -> String {
    if row.is_empty() {
        return String::new();
    }
    let mut text = " ".repeat(indent);
    for (part, emphasis) in row {
        match style(*emphasis) {
            Some(style) => text.push_str(&output.style(style, part)),
            None => text.push_str(part),
        }
    }
    text
}

fn style(emphasis: Emphasis) -> Option<Style> {
    Some(match emphasis {
        Emphasis::Plain => return None,
        Emphasis::Strong => Style::Bold,
        Emphasis::Dim => Style::Dim,
        Emphasis::Heading => Style::Heading,
        Emphasis::Code => Style::Code,
        Emphasis::Added => Style::Added,
        Emphasis::Removed => Style::Removed,
    })
}
