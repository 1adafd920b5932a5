//! How it looks: a line of where one is at the top, the screen, and a line of keys at the bottom.

mod object;
mod window;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Margin, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Paragraph};

use crate::app::{App, Screen};
use crate::cursor::Cursor;
use crate::fields::{Field, Fields};
use crate::key::KEYS;
use crate::lists::{Lists, Row};
use crate::text::{grouped, short, when};

/// The width of the column of statuses.
const STATUS: usize = 12;

/// The styles, of the terminal's own sixteen colours, so that they fit dark and light ones.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Palette {
    is_coloured: bool,
}

impl Palette {
    pub(crate) fn dim(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    pub(crate) fn bold(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    pub(crate) fn in_colour(self, colour: Color) -> Style {
        match self.is_coloured {
            true => Style::new().fg(colour),
            false => Style::new(),
        }
    }

    fn hit(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD | Modifier::UNDERLINED)
    }

    /// A status says what it is by its word; the colour only helps.
    fn status(self, status: &str) -> Style {
        let good = ["completed", "done", "accepted", "approved", "applied"];
        let bad = ["failed", "rejected", "cancelled", "error"];
        match status {
            status if good.iter().any(|it| status.contains(it)) => self.in_colour(Color::Green),
            status if bad.iter().any(|it| status.contains(it)) => self.in_colour(Color::Red),
            _ => self.in_colour(Color::Yellow),
        }
    }
}

/// Draws everything.
pub(crate) fn draw(frame: &mut Frame<'_>, app: &mut App<'_>) {
    let palette = Palette {
        is_coloured: app.is_coloured,
    };
    let [top, body, bottom] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Fill(1),
        Constraint::Length(1),
    ])
    .areas(frame.area());
    head(frame, top, app, palette);
    app.height = usize::from(body.height.saturating_sub(2));
    let needle = app.needle.clone();
    let pen = Pen {
        palette,
        needle: &needle,
    };
    match app.screen() {
        Some(Screen::Lists(it)) => lists(frame, body, it, &pen),
        Some(Screen::Object(it)) => object::draw(frame, body, it, &pen),
        Some(Screen::Fields(it)) => fields_screen(frame, body, it, &pen),
        None => {}
    }
    foot(frame, bottom, app, palette);
    if app.is_helping {
        help(frame, palette);
    }
}

fn head(frame: &mut Frame<'_>, area: Rect, app: &App<'_>, palette: Palette) {
    let state = match app.follows {
        true => "following",
        false => "live",
    };
    let right = format!("event {} · {state} ", grouped(app.seen().0));
    let left = format!(" annals  {}", app.log);
    frame.render_widget(Line::styled(left, palette.bold()), area);
    frame.render_widget(Line::styled(right, palette.dim()).right_aligned(), area);
}

fn foot(frame: &mut Frame<'_>, area: Rect, app: &App<'_>, palette: Palette) {
    let line = match (&app.typed, &app.note) {
        (Some(typed), None) => Line::raw(format!("/{typed}▏")),
        (Some(typed), Some(note)) => Line::from(vec![
            Span::raw(format!("/{typed}▏  ")),
            Span::styled(note.clone(), palette.dim()),
        ]),
        (None, Some(note)) => Line::styled(
            format!(" {note}"),
            palette
                .in_colour(Color::Yellow)
                .add_modifier(Modifier::BOLD),
        ),
        (None, None) => Line::styled(
            " j/k move · Enter open · Esc back · Tab next · ←/→ time · / search · f follow · ? help · q quit",
            palette.dim(),
        ),
    };
    frame.render_widget(line, area);
}

fn help(frame: &mut Frame<'_>, palette: Palette) {
    let width = 92.min(frame.area().width);
    let height = (KEYS.len() as u16 + 4).min(frame.area().height);
    let area = frame
        .area()
        .centered(Constraint::Length(width), Constraint::Length(height));
    let key = |(keys, does): &(&'static str, &'static str)| {
        Line::from(vec![
            Span::styled(format!("{keys:<10} "), palette.bold()),
            Span::raw(*does),
        ])
    };
    let lines: Vec<Line<'_>> = KEYS.iter().map(key).collect();
    frame.render_widget(Clear, area);
    frame.render_widget(Block::bordered().title(" Keys "), area);
    frame.render_widget(Paragraph::new(lines), area.inner(Margin::new(2, 1)));
}

/// How rows are written: with the hits of what is searched marked.
pub(crate) struct Pen<'a> {
    pub(crate) palette: Palette,
    needle: &'a str,
}

impl Pen<'_> {
    /// A text with its hits marked.
    pub(crate) fn spans(&self, text: &str, style: Style) -> Vec<Span<'static>> {
        let mut spans = Vec::new();
        let mut rest = text;
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
    pub(crate) fn rows(
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
    pub(crate) fn tabs<'t>(
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

fn lists(frame: &mut Frame<'_>, area: Rect, lists: &mut Lists, pen: &Pen<'_>) {
    let [tabs, _, body] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Fill(1),
    ])
    .areas(area);
    frame.render_widget(pen.tabs(Lists::titles(), lists.shown()), tabs);
    let list = lists.list();
    if list.rows.is_empty() {
        frame.render_widget(Line::styled("  none yet", pen.palette.dim()), body);
        return;
    }
    let rows = &list.rows;
    let row = |at: usize| {
        rows.get(at)
            .map(|row| list_row(row, pen))
            .unwrap_or_default()
    };
    pen.rows(frame, body, &mut list.cursor, rows.len(), row);
}

fn list_row(row: &Row, pen: &Pen<'_>) -> Line<'static> {
    let dim = pen.palette.dim();
    let mut spans = pen.spans(&short(row.id), dim);
    spans.push(Span::styled(format!("  {}  ", when(row.created)), dim));
    let status = format!("{:<STATUS$}  ", row.status);
    spans.extend(pen.spans(&status, pen.palette.status(&row.status)));
    spans.extend(pen.spans(&row.what, Style::new()));
    Line::from(spans)
}

fn fields_screen(frame: &mut Frame<'_>, area: Rect, fields: &mut Fields, pen: &Pen<'_>) {
    let [title, _, body] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Fill(1),
    ])
    .areas(area);
    let head = Line::styled(format!(" {}", fields.title), pen.palette.bold());
    frame.render_widget(head, title);
    field_rows(frame, body, &fields.rows, &mut fields.cursor, pen);
}

/// Names and values, as deep as they lie.
pub(crate) fn field_rows(
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
