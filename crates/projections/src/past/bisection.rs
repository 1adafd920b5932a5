//! Finding where an answer changes, in as few questions as it takes.

use std::collections::BTreeSet;

/// A search for the first of numbered states at which an answer is another one than at the first of all. It assumes
/// that the answer changes once.
///
/// ```
/// use annals_projections::past::Bisection;
///
/// let mut search = Bisection::new(0, 1_000);
/// let mut asked = 0;
/// while let Some(state) = search.next_question() {
///     search.answer(state, state < 618);
///     asked += 1;
/// }
/// assert_eq!(search.candidates(), 618..=618);
/// assert_eq!(asked, 10);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bisection {
    /// The last state of which it is known that the answer is the first one.
    low: usize,
    /// The first of which it is known that it is the other one.
    high: usize,
    /// States that gave no answer.
    skipped: BTreeSet<usize>,
}

impl Bisection {
    /// A search between a state, and a later one that has another answer.
    pub fn new(first: usize, last: usize) -> Bisection {
        Bisection {
            low: first,
            high: last.max(first.saturating_add(1)),
            skipped: BTreeSet::new(),
        }
    }

    /// The state to ask about next; none where nothing more can be found out.
    pub fn next_question(&self) -> Option<usize> {
        let middle = self.low + (self.high - self.low) / 2;
        let is_open = |state: &usize| {
            *state > self.low && *state < self.high && !self.skipped.contains(state)
        };
        // The nearest one that can give an answer.
        let above = (middle..self.high).find(is_open);
        let below = (self.low..middle).rev().find(is_open);
        match (below, above) {
            (Some(below), Some(above)) if middle - below < above - middle => Some(below),
            (below, above) => above.or(below),
        }
    }

    /// The answer of a state: whether it is that of the first of all.
    pub fn answer(&mut self, state: usize, as_first: bool) {
        match as_first {
            true => self.low = self.low.max(state),
            false => self.high = self.high.min(state),
        }
    }

    /// A state gives no answer.
    pub fn skip(&mut self, state: usize) {
        self.skipped.insert(state);
    }

    /// The states of which one is the first with another answer: a single one, unless some were skipped.
    pub fn candidates(&self) -> std::ops::RangeInclusive<usize> {
        self.low + 1..=self.high
    }
}
