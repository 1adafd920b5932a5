//! An object's pages, and where it is in time.

use annals::domain::Timestamp;
use annals::projections::HistoryEntry;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Style};
use ratatui::text::{Line, Span};

use super::pen::{Pen, field_rows, nothing};
use super::slider::Slider;
use super::window;
use crate::object::{Object, Page};
use crate::text::{grouped, safe, since, when};

/// Cells of the bar that says when in the whole time an event was.
const BAR: usize = 24;

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, object: &mut Object, pen: &Pen<'_>) {
    let [title, tabs, body, time] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Fill(1),
        Constraint::Length(1),
    ])
    .areas(area);
    let called = format!(" {}", object.called);
    frame.render_widget(Line::styled(called, pen.palette.bold()), title);
    let chosen = Page::ALL.iter().position(|(_, page)| *page == object.page);
    let titles = Page::ALL.iter().map(|(title, _)| *title);
    frame.render_widget(pen.tabs(titles, chosen.unwrap_or(0)), tabs);
    match object.page {
        Page::Fields => {
            let mut cursor = *object.cursor();
            field_rows(frame, body, &object.fields, &mut cursor, pen);
            *object.cursor() = cursor;
        }
        Page::Timeline => timeline(frame, body, object, pen),
        Page::Window => window::draw(frame, body, object, pen),
        Page::Diff => diff(frame, body, object, pen),
    }
    frame.render_widget(slider(object, usize::from(time.width), pen), time);
}

fn timeline(frame: &mut Frame<'_>, area: Rect, object: &mut Object, pen: &Pen<'_>) {
    let mut cursor = *object.cursor();
    let history = &object.history;
    let now = object.moment();
    let times = history.iter().map(|entry| entry.occurred_at);
    let start = times.clone().min();
    let end = times.max();
    let (Some(start), Some(end)) = (start, end) else {
        return;
    };
    let row = |at: usize| match history.get(at) {
        None => Line::default(),
        Some(entry) => event_row(entry, (start, end), at > now, pen),
    };
    pen.rows(frame, area, &mut cursor, history.len(), row);
    *object.cursor() = cursor;
}

fn event_row(
    entry: &HistoryEntry,
    (start, end): (Timestamp, Timestamp),
    is_later: bool,
    pen: &Pen<'_>,
) -> Line<'static> {
    let dim = pen.palette.dim();
    let style = if is_later { dim } else { Style::new() };
    let colour = match entry.event_type {
        it if it.contains("tool") => Color::Blue,
        it if it.contains("patch_set") => Color::Magenta,
        it if it.contains("decision") || it.contains("evidence") => Color::Green,
        it if it.contains("failed") => Color::Red,
        _ => Color::Reset,
    };
    let bar = match is_later {
        true => dim,
        false => pen.palette.in_colour(colour),
    };
    let mut spans = vec![
        Span::styled(format!("{:>9}  ", since(start, entry.occurred_at)), dim),
        Span::styled(mark(start, end, entry.occurred_at), bar),
        Span::raw("  "),
    ];
    spans.extend(pen.spans(&safe(&entry.summary), style));
    spans.push(Span::styled(format!("  #{}", entry.position), dim));
    Line::from(spans)
}

/// Where in the whole time an event was.
fn mark(start: Timestamp, end: Timestamp, at: Timestamp) -> String {
    let millis = |time: Timestamp| (time.to_utc() - start.to_utc()).num_milliseconds().max(0);
    let (whole, part) = (millis(end).max(1), millis(at));
    let cell = part.saturating_mul(BAR as i64 - 1) / whole;
    let cell = usize::try_from(cell).unwrap_or(0).min(BAR - 1);
    format!("{}●{}", "─".repeat(cell), " ".repeat(BAR - 1 - cell))
}

fn diff(frame: &mut Frame<'_>, area: Rect, object: &mut Object, pen: &Pen<'_>) {
    let mut cursor = *object.cursor();
    match &object.diff {
        None => {}
        Some(Err(reason)) => nothing(frame, area, reason, pen),
        Some(Ok(lines)) => {
            let row = |at: usize| {
                let line = lines.get(at).cloned().unwrap_or_default();
                let style = diff_style(&line, pen);
                Line::from(pen.spans(&line, style))
            };
            pen.rows(frame, area, &mut cursor, lines.len(), row);
        }
    }
    *object.cursor() = cursor;
}

fn diff_style(line: &str, pen: &Pen<'_>) -> Style {
    let headers = [
        "diff ",
        "index ",
        "--- ",
        "+++ ",
        "new file",
        "deleted file",
    ];
    match line {
        line if headers.iter().any(|it| line.starts_with(it)) => pen.palette.bold(),
        line if line.starts_with("@@") => pen.palette.in_colour(Color::Cyan),
        line if line.starts_with('+') => pen.palette.in_colour(Color::Green),
        line if line.starts_with('-') => pen.palette.in_colour(Color::Red),
        _ => Style::new(),
    }
}

/// The event after which the object is shown, among all of its events.
fn slider(object: &Object, width: usize, pen: &Pen<'_>) -> Line<'static> {
    let (at, of) = (object.moment(), object.history.len());
    let Some(entry) = object.history.get(at) else {
        return Line::default();
    };
    let words = format!(
        "{}  event {} · {} of {}",
        when(entry.occurred_at),
        grouped(entry.position.0),
        grouped(at as u64 + 1),
        grouped(of as u64),
    );
    let is_present = object.moment.is_none();
    let slider = Slider {
        words,
        at,
        of,
        is_present,
    };
    slider.line(width, pen)
}
