//! How a session's conversation looks.

use annals::projections::Emphasis;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Style};
use ratatui::text::{Line, Span};

use super::pen::{Palette, Pen};
use super::slider::Slider;
use crate::session::{SessionRow, SessionScreen};
use crate::text::{grouped, when};

/// Columns of the cursor's mark.
const MARK: u16 = 2;

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, screen: &mut SessionScreen, pen: &Pen<'_>) {
    let [title, facts, _, body, time] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Fill(1),
        Constraint::Length(1),
    ])
    .areas(area);
    let head = Line::styled(format!(" {}", screen.title), pen.palette.bold());
    frame.render_widget(head, title);
    let line = Line::styled(format!(" {}", screen.facts), pen.palette.dim());
    frame.render_widget(line, facts);
    frame.render_widget(slider(screen, usize::from(time.width), pen), time);
    screen.fit(usize::from(body.width.saturating_sub(MARK)));
    if screen.rows.is_empty() {
        frame.render_widget(Line::styled("  no turns yet", pen.palette.dim()), body);
        return;
    }
    let rows = &screen.rows;
    let row = |at: usize| {
        rows.get(at)
            .map(|row| line_of(row, pen))
            .unwrap_or_default()
    };
    pen.rows(frame, body, &mut screen.cursor, rows.len(), row);
}

/// The turn up to which the session is shown, among all of its turns.
fn slider(screen: &SessionScreen, width: usize, pen: &Pen<'_>) -> Line<'static> {
    let at = screen.step();
    let Some(step) = screen.steps.get(at) else {
        return Line::default();
    };
    let position = screen.past.map_or(*step, |past| past.position);
    let shown = screen.newest().map(|time| format!("{}  ", when(time)));
    let words = format!(
        "{}event {} · turn {} of {}",
        shown.unwrap_or_default(),
        grouped(position.0),
        grouped(screen.shown() as u64),
        grouped(screen.total as u64),
    );
    let slider = Slider {
        words,
        at,
        of: screen.steps.len(),
        is_present: screen.past.is_none(),
    };
    slider.line(width, pen)
}

fn line_of(row: &SessionRow, pen: &Pen<'_>) -> Line<'static> {
    let mut spans = vec![Span::raw(" ".repeat(row.indent))];
    for (text, emphasis) in &row.parts {
        spans.extend(pen.spans(text, style(*emphasis, pen.palette)));
    }
    Line::from(spans)
}

fn style(emphasis: Emphasis, palette: Palette) -> Style {
    match emphasis {
        Emphasis::Plain => Style::new(),
        Emphasis::Strong => palette.bold(),
        Emphasis::Dim => palette.dim(),
        Emphasis::Heading => palette.in_colour(Color::Cyan).patch(palette.bold()),
        Emphasis::Code => palette.in_colour(Color::Yellow),
        Emphasis::Added => palette.in_colour(Color::Green),
        Emphasis::Removed => palette.in_colour(Color::Red),
    }
}
