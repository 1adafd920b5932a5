//! How rows are written: the styles, what is searched, the cursor.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};

use crate::cursor::Cursor;
use crate::fields::Field;
use crate::text::safe;

/// The styles, of the terminal's own sixteen colours, so that they fit dark and light ones.
#[derive(Debug, Clone, Copy)]
pub(super) struct Palette {
    is_coloured: bool,
}

impl Palette {
    pub(super) fn new(is_coloured: bool) -> Palette {
        Palette { is_coloured }
    }

    pub(super) fn dim(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    pub(super) fn bold(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    pub(super) fn in_colour(self, colour: Color) -> Style {
        match self.is_coloured {
            true => Style::new().fg(colour),
            false => Style::new(),
        }
    }

    fn hit(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD | Modifier::UNDERLINED)
    }

    /// A status says what it is by its word; the colour only helps.
    pub(super) fn status(self, status: &str) -> Style {
        let good = ["completed", "done", "accepted", "approved", "applied"];
        let bad = ["failed", "rejected", "cancelled", "error"];
        match status {
            status if good.iter().any(|it| status.contains(it)) => self.in_colour(Color::Green),
            status if bad.iter().any(|it| status.contains(it)) => self.in_colour(Color::Red),
            _ => self.in_colour(Color::Yellow),
        }
    }
}

/// How rows are written: with the hits of what is searched marked.
pub(super) struct Pen<'a> {
    pub(super) palette: Palette,
    needle: &'a str,
}

impl<'a> Pen<'a> {
    pub(super) fn new(palette: Palette, needle: &'a str) -> Pen<'a> {
        Pen { palette, needle }
    }

    /// A text with its hits marked. What is hidden in it is shown, wherever the text comes from.
    pub(super) fn spans(&self, text: &str, style: Style) -> Vec<Span<'static>> {
        let mut spans = Vec::new();
        let text = annals_terminal::line(text);
        let mut rest = &*text;
        while let Some(at) = position(rest, self.needle) {
            let (before, hit) = rest.split_at(at);
            let (hit, behind) = hit.split_at(self.needle.len());
            spans.push(Span::styled(before.to_owned(), style));
            spans.push(Span::styled(
                hit.to_owned(),
                style.patch(self.palette.hit()),
            ));
            rest = behind;
        }
        spans.push(Span::styled(rest.to_owned(), style));
        spans
    }

    /// Rows of which some are shown, the one with the cursor marked.
    pub(super) fn rows(
        &self,
        frame: &mut Frame<'_>,
        area: Rect,
        cursor: &mut Cursor,
        len: usize,
        row: impl Fn(usize) -> Line<'static>,
    ) {
        let shown = cursor.shown(len, usize::from(area.height));
        for (at, area) in shown.zip(area.rows()) {
            let line = row(at);
            let is_here = at == cursor.at;
            let mark = if is_here { "▸ " } else { "  " };
            let mut spans = vec![Span::raw(mark)];
            spans.extend(line.spans);
            let line = Line::from(spans);
            let style = match is_here {
                true => Style::new().add_modifier(Modifier::REVERSED),
                false => Style::new(),
            };
            frame.render_widget(line.patch_style(style), area);
        }
    }

    /// Names of which one is chosen.
    pub(super) fn tabs<'t>(
        &self,
        titles: impl Iterator<Item = &'t str>,
        chosen: usize,
    ) -> Line<'static> {
        let mut spans = vec![Span::raw(" ")];
        for (at, title) in titles.enumerate() {
            let style = match at == chosen {
                true => self.palette.bold().add_modifier(Modifier::REVERSED),
                false => self.palette.dim(),
            };
            spans.push(Span::styled(format!(" {} {title} ", at + 1), style));
            spans.push(Span::raw(" "));
        }
        Line::from(spans)
    }
}

/// Why there is nothing on a page.
pub(super) fn nothing(frame: &mut Frame<'_>, area: Rect, reason: &str, pen: &Pen<'_>) {
    let line = Line::styled(format!("  {}", safe(reason)), pen.palette.dim());
    frame.render_widget(line, area);
}

/// Names and values, as deep as they lie.
pub(super) fn field_rows(
    frame: &mut Frame<'_>,
    area: Rect,
    fields: &[Field],
    cursor: &mut Cursor,
    pen: &Pen<'_>,
) {
    let width = |field: &Field| 2 * field.depth + field.name.chars().count();
    let width = fields.iter().map(width).max().unwrap_or(0).min(32);
    let row = |at: usize| match fields.get(at) {
        None => Line::default(),
        Some(field) => {
            let name = format!("{:indent$}{}", "", field.name, indent = 2 * field.depth);
            let mut spans = pen.spans(&format!("{name:<width$}  "), pen.palette.dim());
            let style = match field.names {
                Some(_) => pen.palette.in_colour(Color::Cyan),
                None => Style::new(),
            };
            spans.extend(pen.spans(&field.value, style));
            Line::from(spans)
        }
    };
    pen.rows(frame, area, cursor, fields.len(), row);
}

/// Where a text has the words, whatever the case of ASCII letters.
fn position(text: &str, needle: &str) -> Option<usize> {
    let len = needle.len();
    let fits = |(at, _): &(usize, char)| {
        text.get(*at..at + len)
            .is_some_and(|part| part.eq_ignore_ascii_case(needle))
    };
    match len {
        0 => None,
        _ => text.char_indices().find(fits).map(|(at, _)| at),
    }
}
