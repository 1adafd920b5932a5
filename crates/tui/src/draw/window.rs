//! The context window as blocks: as wide as the tokens of each frame.

use annals::domain::pipeline::FrameKind;
use annals::projections::{EvictedFrame, SeenFrame, Why};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Style};
use ratatui::text::{Line, Span};

use super::pen::{Pen, nothing};
use crate::object::Object;
use crate::text::{grouped, safe};

/// Cells of the block of the largest frame.
const WIDEST: u64 = 20;

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, object: &mut Object, pen: &Pen<'_>) {
    let mut cursor = *object.cursor();
    match &object.window {
        None => {}
        Some(Err(reason)) => nothing(frame, area, reason, pen),
        Some(Ok(seen)) => {
            let [head, body] =
                Layout::vertical([Constraint::Length(1), Constraint::Fill(1)]).areas(area);
            let window = &seen.window;
            let held = format!(
                "  {} frames, {} tokens in the window under {}; {} went before",
                grouped(window.frames.len() as u64),
                grouped(window.total_token_estimate),
                safe(&window.policy.to_string()),
                grouped(window.evicted.len() as u64),
            );
            frame.render_widget(Line::styled(held, pen.palette.dim()), head);
            let held = window.frames.iter().map(|it| it.frame.token_estimate);
            let gone = window.evicted.iter().map(|it| it.token_estimate);
            let largest = held.chain(gone).flatten().max().unwrap_or(0).max(1);
            let row = |at: usize| match window.frames.get(at) {
                Some(seen) => held_row(seen, largest, pen),
                None => window
                    .evicted
                    .get(at - window.frames.len())
                    .map(|gone| gone_row(gone, largest, pen))
                    .unwrap_or_default(),
            };
            let len = window.frames.len() + window.evicted.len();
            pen.rows(frame, body, &mut cursor, len, row);
        }
    }
    *object.cursor() = cursor;
}

fn held_row(seen: &SeenFrame, largest: u64, pen: &Pen<'_>) -> Line<'static> {
    let frame = &seen.frame;
    let is_protected = seen.why == Why::Protected;
    let mut spans = block(frame.token_estimate, largest, "█", colour(&frame.kind), pen);
    spans.push(Span::styled(
        if is_protected { " P " } else { "   " },
        pen.palette.bold(),
    ));
    let name = format!(
        "{:>5} {:<18} ",
        frame.frame_id.to_string(),
        frame.kind.label()
    );
    spans.extend(pen.spans(&name, pen.palette.dim()));
    spans.extend(pen.spans(&safe(&frame.summary.to_string()), Style::new()));
    Line::from(spans)
}

fn gone_row(gone: &EvictedFrame, largest: u64, pen: &Pen<'_>) -> Line<'static> {
    let mut spans = block(gone.token_estimate, largest, "░", Color::Reset, pen);
    spans.push(Span::raw("   "));
    let by = match gone.pushed {
        Some(pushed) => format!("evicted by the push of frame {pushed}"),
        None => "dropped by the agent's program".to_owned(),
    };
    let words = format!(
        "{:>5} {:<18} {by} (event {})",
        gone.frame.to_string(),
        gone.kind.label(),
        gone.position
    );
    spans.extend(pen.spans(&words, pen.palette.dim()));
    Line::from(spans)
}

/// A frame's tokens, as a block and as a number.
fn block(
    tokens: Option<u64>,
    largest: u64,
    cell: &str,
    colour: Color,
    pen: &Pen<'_>,
) -> Vec<Span<'static>> {
    let known = tokens.unwrap_or(0);
    let cells = (known.saturating_mul(WIDEST) / largest).clamp(u64::from(known > 0), WIDEST);
    let cells = usize::try_from(cells).unwrap_or(0);
    let rest = WIDEST as usize - cells;
    let number = tokens.map_or("-".to_owned(), grouped);
    vec![
        Span::styled(cell.repeat(cells), pen.palette.in_colour(colour)),
        Span::styled(" ".repeat(rest), Style::new()),
        Span::styled(format!(" {number:>8}"), pen.palette.dim()),
    ]
}

/// What kind of a frame it is, told apart by more than the colour: its name stands beside it.
fn colour(kind: &FrameKind) -> Color {
    match kind {
        FrameKind::IntentAnalysis => Color::Green,
        FrameKind::StepSummary => Color::Blue,
        FrameKind::CodeChange => Color::Magenta,
        FrameKind::ErrorRecovery => Color::Red,
        FrameKind::SystemState => Color::Yellow,
        _ => Color::Cyan,
    }
}
