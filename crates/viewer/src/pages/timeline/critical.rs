//! The critical path of a run: what its end waited for. Each piece of it is what ended last before the next one began;
//! if any of them had been shorter, the run could have ended earlier. Between them the agent's model was at work, or
//! nothing was.

use super::marks::Mark;

/// The critical path of a run.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct CriticalPath {
    /// The marks on it by their numbers, in the order of time.
    pub(super) marks: Vec<usize>,
    /// How long they took together, in milliseconds.
    pub(super) took_ms: u64,
}

impl CriticalPath {
    /// Finds it among marks. Those that took no time are moments, which nothing waits for.
    pub(super) fn of(marks: &[Mark]) -> CriticalPath {
        let numbered = marks.iter().enumerate();
        let mut by_end: Vec<(usize, &Mark)> =
            numbered.filter(|(_, mark)| mark.took() > 0).collect();
        // Of two that end together the one that took longer is what was waited for.
        by_end.sort_by_key(|(_, mark)| (mark.end, std::cmp::Reverse(mark.start)));
        let mut path = CriticalPath::default();
        let mut begun = i64::MAX;
        for (number, mark) in by_end.into_iter().rev() {
            if mark.end <= begun {
                begun = mark.start;
                path.marks.push(number);
                path.took_ms += mark.took();
            }
        }
        path.marks.reverse();
        path
    }

    pub(super) fn has(&self, mark: usize) -> bool {
        self.marks.binary_search(&mark).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use annals::event_log::Position;

    use super::super::marks::Lane;
    use super::*;

    fn mark(start: i64, end: i64) -> Mark {
        Mark {
            lane: Lane::Call,
            start,
            end,
            status: None,
            object: None,
            position: Position(1),
            name: None,
        }
    }

    #[test]
    fn what_ended_last_before_the_next_began_is_on_it() {
        let marks = [
            mark(0, 10),
            mark(2, 14),
            mark(14, 14),
            mark(15, 20),
            mark(16, 30),
        ];
        let path = CriticalPath::of(&marks);
        assert_eq!(path.marks, [1, 4]);
        assert_eq!(path.took_ms, 12 + 14);
        assert!(path.has(4) && !path.has(3));
    }

    #[test]
    fn of_two_that_end_together_the_longer_one_was_waited_for() {
        let marks = [mark(0, 100), mark(40, 100)];
        assert_eq!(CriticalPath::of(&marks).marks, [0]);
        assert_eq!(CriticalPath::of(&[]), CriticalPath::default());
        assert_eq!(CriticalPath::of(&[mark(5, 5)]).marks, [0; 0]);
    }

    /// No part of the time counts twice, and each piece begins when the one before is over.
    #[test]
    fn pieces_do_not_overlap() {
        let numbers = (0..500_i64).map(|n| (n * 7_919) % 1_000);
        let mut marks: Vec<Mark> = numbers
            .map(|start| mark(start, start + 1 + (start * 31) % 90))
            .collect();
        marks.sort_by_key(|mark| mark.start);
        let path = CriticalPath::of(&marks);
        let pieces: Vec<&Mark> = path.marks.iter().map(|at| &marks[*at]).collect();
        assert!(pieces.len() > 5);
        assert!(pieces.windows(2).all(|two| two[0].end <= two[1].start));
        let last = marks.iter().map(|mark| mark.end).max();
        assert_eq!(pieces.last().map(|mark| mark.end), last);
        let sum: u64 = pieces.iter().map(|mark| mark.took()).sum();
        assert_eq!(path.took_ms, sum);
    }
}
