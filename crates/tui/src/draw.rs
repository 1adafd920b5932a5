//! How it looks: a line of where one is at the top, the screen, and a line of keys at the bottom.

mod object;
mod pen;
mod session;
mod window;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Margin, Rect};
use ratatui::style::{Color, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Paragraph};

use self::pen::{Palette, Pen, field_rows};
use crate::app::{App, Screen};
use crate::fields::Fields;
use crate::key::KEYS;
use crate::lists::{Lists, Row};
use crate::text::{grouped, short};

/// The width of the column of statuses.
const STATUS: usize = 12;

/// Draws everything.
pub(crate) fn draw(frame: &mut Frame<'_>, app: &mut App<'_>) {
    let palette = Palette::new(app.is_coloured);
    let [top, body, bottom] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Fill(1),
        Constraint::Length(1),
    ])
    .areas(frame.area());
    head(frame, top, app, palette);
    app.height = usize::from(body.height.saturating_sub(2));
    let needle = app.needle.clone();
    let pen = Pen::new(palette, &needle);
    match app.screen() {
        Some(Screen::Lists(it)) => lists(frame, body, it, &pen),
        Some(Screen::Session(it)) => session::draw(frame, body, it, &pen),
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
            palette.in_colour(Color::Yellow).patch(palette.bold()),
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
    spans.push(Span::styled(format!("  {}  ", row.when()), dim));
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
