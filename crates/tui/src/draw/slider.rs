//! The line at the bottom of a screen that is moved through time.

use ratatui::style::Color;
use ratatui::text::{Line, Span};

use super::pen::Pen;

/// The place of a screen in its time: a step of several, the last of which is the present.
pub(super) struct Slider {
    /// The step's time, event and number.
    pub(super) words: String,
    /// The step, from 0.
    pub(super) at: usize,
    /// The number of steps.
    pub(super) of: usize,
    pub(super) is_present: bool,
}

impl Slider {
    /// Draws it as wide as the screen: the words, and a line from the first step to the present.
    pub(super) fn line(&self, width: usize, pen: &Pen<'_>) -> Line<'static> {
        let words = match self.is_present {
            true => format!(" {} · now ", self.words),
            false => format!(" {} ", self.words),
        };
        let cells = width.saturating_sub(words.chars().count() + 3).max(4);
        let at = self.at.min(self.of.saturating_sub(1));
        let cell = at.saturating_mul(cells - 1) / self.of.saturating_sub(1).max(1);
        let style = match self.is_present {
            true => pen.palette.dim(),
            false => pen.palette.in_colour(Color::Yellow),
        };
        Line::from(vec![
            Span::styled(words, pen.palette.bold()),
            Span::styled("━".repeat(cell), style),
            Span::styled("◆", style),
            Span::styled("┄".repeat(cells - 1 - cell), pen.palette.dim()),
        ])
    }
}
