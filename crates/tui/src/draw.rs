//! How it looks: a line of where one is at the top, the screen, and a line of keys at the bottom.

mod object;
mod pen;
mod session;
mod slider;
mod window;

use annals_terminal::wrap;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Margin, Rect};
use ratatui::style::{Color, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Paragraph};

use self::pen::{Palette, Pen, field_rows};
use crate::app::{App, Prompt, Screen};
use crate::fields::Fields;
use crate::key::KEYS;
use crate::lists::{Lists, Row};
use crate::text::{grouped, short};

/// The most rows of a message at the bottom.
const NOTE: usize = 4;
/// The width of the column of keys.
const KEY: usize = 11;
/// The width of the column of statuses.
const STATUS: usize = 12;

/// The keys at the bottom, for terminals of several widths.
const HINTS: [&str; 3] = [
    " j/k move · Enter open · Esc back · Tab next · ←/→ time · t go to · / search · f follow · ? help · q quit",
    " Enter open · Esc back · ←/→ time · / search · ? help",
    " ? help · q quit",
];

/// Draws everything.
pub(crate) fn draw(frame: &mut Frame<'_>, app: &mut App<'_>) {
    let palette = Palette::new(app.is_coloured);
    let lines = foot(frame.area().width, app, palette);
    let [top, body, bottom] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Fill(1),
        Constraint::Length(lines.len() as u16),
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
    frame.render_widget(Paragraph::new(lines), bottom);
    if app.is_helping {
        help(frame, palette);
    }
}

/// The top line: the log, and the position that is shown.
fn head(frame: &mut Frame<'_>, area: Rect, app: &App<'_>, palette: Palette) {
    let (right, style) = match (app.past(), app.follows) {
        (Some(past), _) => {
            let style = palette.in_colour(Color::Yellow).patch(palette.bold());
            (past.line(), style)
        }
        (None, true) => (present(app, "following"), palette.dim()),
        (None, false) => (present(app, "live"), palette.dim()),
    };
    let right = Line::styled(format!(" {right} "), style);
    let width = u16::try_from(right.width()).unwrap_or(u16::MAX);
    let [log, shown] =
        Layout::horizontal([Constraint::Fill(1), Constraint::Length(width)]).areas(area);
    let left = format!(" annals  {}", app.log);
    frame.render_widget(Line::styled(left, palette.bold()), log);
    frame.render_widget(right, shown);
}

fn present(app: &App<'_>, state: &str) -> String {
    format!("event {} · {state}", grouped(app.seen().0))
}

/// The lines at the bottom: the line that is typed, a message, or the keys.
fn foot(width: u16, app: &App<'_>, palette: Palette) -> Vec<Line<'static>> {
    let typed = app.typed.as_ref().map(|typed| match typed.prompt {
        Prompt::Search => format!("/{}▏", typed.text),
        Prompt::Time => format!("position or time: {}▏", typed.text),
    });
    match (typed, &app.note) {
        (Some(typed), None) => vec![Line::raw(typed)],
        (Some(typed), Some(note)) => vec![Line::from(vec![
            Span::raw(format!("{typed}  ")),
            Span::styled(note.clone(), palette.dim()),
        ])],
        (None, Some(note)) => {
            let style = palette.in_colour(Color::Yellow).patch(palette.bold());
            let lines = wrapped(note, usize::from(width).saturating_sub(1));
            let lines = lines.into_iter().take(NOTE);
            lines
                .map(|line| Line::styled(format!(" {line}"), style))
                .collect()
        }
        (None, None) => vec![Line::styled(hint(width), palette.dim())],
    }
}

/// A text broken into lines of at most `width` columns.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let lines = wrap([(text, ())], width, 0).into_iter();
    lines
        .map(|parts| parts.into_iter().map(|(text, ())| text).collect())
        .collect()
}

/// The keys that fit the width.
fn hint(width: u16) -> &'static str {
    let fits = |hint: &&&str| hint.chars().count() <= usize::from(width);
    HINTS.iter().find(fits).unwrap_or(&"? help")
}

fn help(frame: &mut Frame<'_>, palette: Palette) {
    let width = 92.min(frame.area().width);
    let room = usize::from(width).saturating_sub(KEY + 4);
    let mut lines: Vec<Line<'_>> = Vec::new();
    for (keys, does) in KEYS {
        let mut keys = keys;
        for does in wrapped(does, room) {
            lines.push(Line::from(vec![
                Span::styled(format!("{keys:<KEY$}"), palette.bold()),
                Span::raw(does),
            ]));
            keys = "";
        }
    }
    let height = (lines.len() as u16 + 2).min(frame.area().height);
    let area = frame
        .area()
        .centered(Constraint::Length(width), Constraint::Length(height));
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
