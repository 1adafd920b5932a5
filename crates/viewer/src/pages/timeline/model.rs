//! A timeline as pages and the API have it.

use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use super::critical::CriticalPath;
use super::marks::{Lane, Mark};
use crate::figures::Clock;
use crate::moment::Moment;

/// Marks of a page.
const SHOWN: usize = 200;
/// Bars of the strip.
const BARS: usize = 100;

/// What a timeline is drawn for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TimelineView {
    pub(crate) moment: Moment,
    /// The clock of local times; without it, times are in UTC.
    pub(crate) clock: Option<Clock>,
    /// The word for the whole: run or session.
    pub(crate) of: &'static str,
}

/// A run as a timeline.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Timeline {
    /// When the first thing in it began. Null where nothing has happened in it.
    pub(super) began_at: Option<String>,
    /// When the last one ended.
    pub(super) ended_at: Option<String>,
    /// From the one to the other, in milliseconds.
    pub(super) duration_ms: u64,
    /// For how long tools were at work, in milliseconds: calls that overlap count once.
    pub(super) busy_ms: u64,
    /// How long what is on the critical path took, in milliseconds: what the run's end waited for, one behind the
    /// other.
    pub(super) critical_ms: u64,
    /// How many marks are on it.
    pub(super) critical_marks: usize,
    /// What the run cost until now, in words; null where nothing is known, and where another moment than now is shown.
    pub(super) cost: Option<String>,
    /// How many there are.
    pub(super) totals: Totals,
    /// Of a run with more marks than are shown, all of it in bars of as many marks each; otherwise empty.
    pub(super) strip: Vec<Bar>,
    /// The marks that are shown, in the order in which they began.
    pub(super) marks: Vec<Shown>,
    /// Which mark is the first that is shown, from 0.
    pub(super) from: usize,
    /// Where it goes on, as `from`; null where this is the end.
    pub(super) next: Option<usize>,
}

/// How much there is in a run.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(super) struct Totals {
    pub(super) marks: usize,
    pub(super) prompts: usize,
    pub(super) calls: usize,
    pub(super) failed_calls: usize,
    pub(super) denied_calls: usize,
    pub(super) agents: usize,
    pub(super) patch_sets: usize,
    pub(super) checks: usize,
    pub(super) failed_checks: usize,
}

/// Several marks in one bar.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Bar {
    /// The first of its marks.
    pub(super) from: usize,
    /// For how long its calls took, in milliseconds.
    pub(super) took_ms: u64,
    /// How many of its marks failed.
    pub(super) failed: usize,
}

/// One thing that happened in a run.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Shown {
    /// What it is: prompt, call, agent, patch set, check or decision.
    pub(super) lane: &'static str,
    /// What it is called: a tool's name, a prompt's beginning, a path, a command.
    pub(super) name: Option<String>,
    /// How it ended.
    pub(super) status: Option<&'static str>,
    /// The object that it is of.
    pub(super) object: Option<Uuid>,
    /// When it began.
    pub(super) started_at: String,
    /// Milliseconds since the run's first mark.
    pub(super) offset_ms: u64,
    /// How long it took, in milliseconds; 0 where only a moment is known.
    pub(super) duration_ms: u64,
    /// Whether it is on the critical path.
    pub(super) is_critical: bool,
    /// The event that says it first.
    pub(super) position: u64,
    #[serde(skip)]
    pub(super) mark: Option<Mark>,
    /// The address that the mark leads to, unless it is that of its object or event.
    #[serde(skip)]
    pub(super) link: Option<String>,
}

pub(super) fn timeline_of(marks: &[Mark], from: usize) -> Timeline {
    let began = marks.first().map(|mark| mark.start);
    let ended = marks.iter().map(|mark| mark.end).max();
    let span = began.zip(ended).map_or(0, |(began, ended)| ended - began);
    let from = from.min(marks.len());
    let shown = marks.iter().enumerate().skip(from).take(SHOWN);
    let next = from + shown.len();
    let path = CriticalPath::of(marks);
    Timeline {
        began_at: began.map(rfc3339),
        ended_at: ended.map(rfc3339),
        duration_ms: u64::try_from(span).unwrap_or(0),
        busy_ms: busy(marks),
        critical_ms: path.took_ms,
        critical_marks: path.marks.len(),
        cost: None,
        totals: totals(marks),
        strip: strip(marks),
        marks: shown
            .map(|(number, mark)| Shown::of(mark, began.unwrap_or(0), path.has(number)))
            .collect(),
        from,
        next: Some(next).filter(|next| *next < marks.len()),
    }
}

impl Timeline {
    /// Gives each shown mark the address that a function has for it.
    pub(crate) fn link(&mut self, address: impl Fn(&Mark) -> Option<String>) {
        for shown in &mut self.marks {
            shown.link = shown.mark.as_ref().and_then(&address);
        }
    }
}

impl Shown {
    fn of(mark: &Mark, began: i64, is_critical: bool) -> Shown {
        Shown {
            lane: mark.lane.word(),
            name: mark.name.clone(),
            status: mark.status,
            object: mark.object,
            started_at: rfc3339(mark.start),
            offset_ms: u64::try_from(mark.start - began).unwrap_or(0),
            duration_ms: mark.took(),
            is_critical,
            position: mark.position.0,
            mark: Some(mark.clone()),
            link: None,
        }
    }
}

fn rfc3339(ms: i64) -> String {
    let time = chrono::DateTime::from_timestamp_millis(ms).unwrap_or_default();
    time.to_rfc3339_opts(chrono::SecondsFormat::Millis, true)
}

fn totals(marks: &[Mark]) -> Totals {
    let many = |lane: Lane, failed: bool| {
        let is_one = |mark: &&Mark| mark.lane == lane && (!failed || mark.has_failed());
        marks.iter().filter(is_one).count()
    };
    let denied = marks
        .iter()
        .filter(|mark| mark.lane == Lane::Call && mark.status == Some("denied"))
        .count();
    Totals {
        marks: marks.len(),
        prompts: many(Lane::Prompt, false),
        calls: many(Lane::Call, false),
        failed_calls: many(Lane::Call, true) - denied,
        denied_calls: denied,
        agents: many(Lane::Agent, false),
        patch_sets: many(Lane::PatchSet, false),
        checks: many(Lane::Check, false),
        failed_checks: many(Lane::Check, true),
    }
}

/// For how long calls went on; those beside each other count once. Marks are in the order in which they began.
fn busy(marks: &[Mark]) -> u64 {
    let (mut sum, mut until) = (0, i64::MIN);
    for call in marks.iter().filter(|mark| mark.lane == Lane::Call) {
        let start = call.start.max(until);
        sum += u64::try_from(call.end - start).unwrap_or(0);
        until = until.max(call.end);
    }
    sum
}

fn strip(marks: &[Mark]) -> Vec<Bar> {
    if marks.len() <= SHOWN {
        return Vec::new();
    }
    let each = marks.len().div_ceil(BARS);
    let bar = |(index, marks): (usize, &[Mark])| Bar {
        from: index * each,
        took_ms: busy(marks),
        failed: marks.iter().filter(|mark| mark.has_failed()).count(),
    };
    marks.chunks(each).enumerate().map(bar).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use annals::event_log::Position;

    use super::*;

    fn call(start: i64, end: i64, status: &'static str) -> Mark {
        Mark {
            lane: Lane::Call,
            start,
            end,
            status: Some(status),
            object: None,
            position: Position(1),
            name: None,
        }
    }

    #[test]
    fn what_goes_on_beside_another_counts_once() {
        let marks = [
            call(0, 10, "ok"),
            call(5, 12, "ok"),
            call(6, 7, "ok"),
            call(20, 21, "ok"),
        ];
        assert_eq!(busy(&marks), 13);
    }

    #[test]
    fn a_long_run_is_paged_and_has_a_strip() {
        let marks: Vec<Mark> = (0..50_000)
            .map(|n| {
                call(
                    n * 10,
                    n * 10 + 5,
                    if n % 1_000 == 0 { "error" } else { "ok" },
                )
            })
            .collect();
        let timeline = timeline_of(&marks, 400);
        assert_eq!((timeline.marks.len(), timeline.next), (SHOWN, Some(600)));
        assert_eq!(timeline.strip.len(), BARS);
        assert_eq!(
            timeline.strip.iter().map(|bar| bar.failed).sum::<usize>(),
            50
        );
        assert_eq!(
            timeline.strip.iter().map(|bar| bar.took_ms).sum::<u64>(),
            250_000
        );
        assert_eq!(timeline.marks[0].offset_ms, 4_000);
        assert_eq!(timeline_of(&marks, usize::MAX).next, None);
        assert!(timeline_of(&marks[..SHOWN], 0).strip.is_empty());
        assert_eq!(timeline_of(&[], 0).began_at, None);
    }
}
