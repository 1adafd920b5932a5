//! What a run's timeline consists of: one mark for each call, prompt, sub-agent, patch set, check and decision.
//!
//! A run's events are read once, without their content: a mark is small, and names are read for the marks of a page
//! only.

use std::collections::HashMap;
use std::ops::ControlFlow;

use annals::domain::run::{CallStatus, Event, EvidenceKind, ToolVerdict};
use annals::domain::{AnyEvent, Slot, StreamRef, ToolInvocationId};
use annals::event_log::{Content, Position, Record, Version};
use annals::projections::{NO_RESULT, Relation};
use uuid::Uuid;

use crate::problem::Problem;
use crate::reading::{Found, Reading};

/// Prompts of one run that are shown.
const PROMPTS: usize = 500;
/// Sub-agents of one run that are shown.
const AGENTS: usize = 200;

/// What a mark is of; also the order of the lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Lane {
    Prompt,
    Call,
    Agent,
    PatchSet,
    Check,
    Decision,
}

impl Lane {
    pub(super) const ALL: [Lane; 6] = [
        Lane::Prompt,
        Lane::Call,
        Lane::Agent,
        Lane::PatchSet,
        Lane::Check,
        Lane::Decision,
    ];

    pub(super) fn word(self) -> &'static str {
        match self {
            Lane::Prompt => "prompt",
            Lane::Call => "call",
            Lane::Agent => "agent",
            Lane::PatchSet => "patch set",
            Lane::Check => "check",
            Lane::Decision => "decision",
        }
    }

    /// The class of its style.
    pub(super) fn class(self) -> &'static str {
        match self {
            Lane::PatchSet => "patch",
            lane => lane.word(),
        }
    }
}

/// One thing that happened in a run. Times are milliseconds since 1970.
#[derive(Debug, Clone)]
pub(crate) struct Mark {
    pub(crate) lane: Lane,
    pub(crate) start: i64,
    pub(crate) end: i64,
    pub(crate) status: Option<&'static str>,
    /// The object that it is of.
    pub(crate) object: Option<Uuid>,
    /// The event that says it first.
    pub(crate) position: Position,
    /// What it is called, where that is known without reading more.
    pub(crate) name: Option<String>,
}

impl Mark {
    fn at(lane: Lane, record: &Record, object: Option<Uuid>) -> Mark {
        let time = record.occurred_at().timestamp_millis();
        Mark {
            lane,
            start: time,
            end: time,
            status: None,
            object,
            position: record.position(),
            name: None,
        }
    }

    /// How long it took.
    pub(super) fn took(&self) -> u64 {
        u64::try_from(self.end - self.start).unwrap_or(0)
    }

    pub(super) fn has_failed(&self) -> bool {
        matches!(
            self.status,
            Some("error" | "failed" | "denied" | "rejected")
        )
    }
}

/// The marks of a run, in the order in which they began.
pub(super) async fn marks(reading: &mut Reading<'_>, run: &Found) -> Result<Vec<Mark>, Problem> {
    let mut marks = run_marks(reading, run.stream, true).await?;
    let task = reading
        .annals
        .index()
        .named(run.id, Relation::RunTask, 1)
        .await?;
    if let Some(task) = task.first() {
        agents(reading, *task, &mut marks).await?;
        intents_of(reading, *task, &mut marks).await?;
    }
    marks.sort_by_key(|mark| (mark.start, mark.position));
    Ok(marks)
}

/// The marks of the events in a run's stream; with metadata, such as hooks, or only what a person would see.
pub(crate) async fn run_marks(
    reading: &mut Reading<'_>,
    run: StreamRef,
    with_metadata: bool,
) -> Result<Vec<Mark>, Problem> {
    let mut marks = Marks {
        with_metadata,
        ..Marks::default()
    };
    let each = |record: &Record, event: &AnyEvent| {
        if let AnyEvent::Run(event) = event {
            marks.add(record, event);
        }
        ControlFlow::Continue(())
    };
    reading.each_event(run, Version::NONE, each).await?;
    Ok(marks.all)
}

#[derive(Default)]
struct Marks {
    all: Vec<Mark>,
    /// Where the calls are among them.
    calls: HashMap<ToolInvocationId, usize>,
    patch_sets: HashMap<Uuid, usize>,
    with_metadata: bool,
    /// Where the next mark begins of a recording without times.
    untimed: i64,
}

impl Marks {
    fn add(&mut self, record: &Record, event: &Event) {
        match event {
            Event::ToolInvoked(call) => {
                let took = call.duration_ms;
                self.call(record, event, call.tool_invocation, took, true);
                let summary = call.result_summary.and_then(|slot| inline(record, slot));
                if summary.as_deref() == Some(NO_RESULT) {
                    self.without_result(call.tool_invocation);
                }
            }
            Event::ToolRequested(call) => {
                self.call(record, event, call.tool_invocation, None, false);
            }
            Event::ToolDecided(call) => {
                self.call(record, event, call.tool_invocation, None, false);
                if call.verdict == ToolVerdict::Deny {
                    self.denied(call.tool_invocation);
                }
            }
            Event::ToolBegun(call) => self.call(record, event, call.tool_invocation, None, false),
            Event::ToolEnded(call) => {
                let took = call.duration_ms;
                self.call(record, event, call.tool_invocation, took, true);
            }
            Event::PatchSetProposed(event) => {
                let mut mark = Mark::at(Lane::PatchSet, record, Some(event.patch_set.0));
                mark.status = Some("proposed");
                let path = event
                    .touched
                    .first()
                    .and_then(|file| inline(record, file.path));
                mark.name = path.map(|path| match event.touched.len() {
                    0 | 1 => path,
                    all => format!("{path} and {} more", all - 1),
                });
                self.patch_sets.insert(event.patch_set.0, self.all.len());
                self.all.push(mark);
            }
            Event::PatchSetApplied(event) => self.patch_set(event.patch_set.0, "applied"),
            Event::PatchSetRejected(event) => self.patch_set(event.patch_set.0, "rejected"),
            Event::PatchSetReverted(event) => self.patch_set(event.patch_set.0, "reverted"),
            Event::EvidenceRecorded(event)
                if !self.with_metadata && matches!(event.kind, EvidenceKind::Other(_)) => {}
            Event::EvidenceRecorded(event) => {
                let mut mark = Mark::at(Lane::Check, record, Some(event.evidence.0));
                mark.status = event
                    .exit_code
                    .map(|code| if code == 0 { "ok" } else { "failed" });
                mark.name = event.command.and_then(|slot| inline(record, slot));
                mark.name = mark.name.or_else(|| inline(record, event.tool));
                self.all.push(mark);
            }
            Event::DecisionMade(event) => {
                let mut mark = Mark::at(Lane::Decision, record, Some(event.decision.0));
                mark.name = Some(event.decision_type.to_string());
                self.all.push(mark);
            }
            Event::Failed(event) => {
                let mut mark = Mark::at(Lane::Decision, record, None);
                mark.status = Some("failed");
                mark.name = inline(record, event.error);
                self.all.push(mark);
            }
            _ => {}
        }
        self.follow(record);
    }

    /// A recording without times has them all at the beginning of 1970: its marks follow each other there.
    fn follow(&mut self, record: &Record) {
        let is_untimed = record.occurred_at().timestamp_millis() == 0;
        let newest = self.all.last_mut();
        if let Some(mark) = newest.filter(|mark| is_untimed && mark.position == record.position()) {
            mark.end = self.untimed + (mark.end - mark.start);
            mark.start = self.untimed;
            self.untimed = mark.end;
        }
    }

    /// Adds what an event tells of a call.
    fn call(
        &mut self,
        record: &Record,
        event: &Event,
        id: ToolInvocationId,
        took: Option<u64>,
        ends: bool,
    ) {
        let place = *self.calls.entry(id).or_insert_with(|| {
            self.all.push(Mark::at(Lane::Call, record, Some(id.0)));
            self.all.len() - 1
        });
        let Some(mark) = self.all.get_mut(place) else {
            return;
        };
        let before = mark.status.and_then(status_of);
        mark.status = CallStatus::after(before, event)
            .map(CallStatus::as_str)
            .or(mark.status);
        let time = record.occurred_at().timestamp_millis();
        if ends {
            mark.end = mark.end.max(time);
            let took = took.and_then(|took| i64::try_from(took).ok());
            if let Some(took) = took.filter(|_| mark.position == record.position()) {
                mark.start = mark.end.saturating_sub(took);
            }
        }
        if mark.name.is_none() {
            mark.name = name_of(event).and_then(|slot| inline(record, slot));
        }
    }

    /// A recording can have the denial behind the failed call.
    fn denied(&mut self, id: ToolInvocationId) {
        let place = self.calls.get(&id);
        if let Some(mark) = place.and_then(|place| self.all.get_mut(*place))
            && mark.status == Some("error")
        {
            mark.status = Some("denied");
        }
    }

    /// The recording ends before the call does: it did not fail.
    fn without_result(&mut self, id: ToolInvocationId) {
        let place = self.calls.get(&id);
        if let Some(mark) = place.and_then(|place| self.all.get_mut(*place)) {
            mark.status = Some("result not recorded");
        }
    }

    fn patch_set(&mut self, id: Uuid, status: &'static str) {
        let place = self.patch_sets.get(&id);
        if let Some(mark) = place.and_then(|place| self.all.get_mut(*place)) {
            mark.status = Some(status);
        }
    }
}

fn name_of(event: &Event) -> Option<Slot> {
    match event {
        Event::ToolInvoked(call) => Some(call.tool_name),
        Event::ToolRequested(call) => Some(call.tool_name),
        Event::ToolDecided(call) => call.tool_name,
        Event::ToolBegun(call) => call.tool_name,
        Event::ToolEnded(call) => call.tool_name,
        _ => None,
    }
}

fn status_of(word: &str) -> Option<CallStatus> {
    let mut all = CallStatus::ALL.iter().copied();
    all.find(|status| status.as_str() == word)
}

/// A text that is in the record itself; larger ones are not fetched for a timeline.
fn inline(record: &Record, slot: Slot) -> Option<String> {
    match record.content().into_iter().nth(usize::from(slot.0))? {
        Content::Inline { bytes, .. } => Some(String::from_utf8_lossy(&bytes).into_owned()),
        _ => None,
    }
}

/// The work that was handed on: the runs of the tasks that are parts of this run's task.
async fn agents(
    reading: &mut Reading<'_>,
    task: Uuid,
    marks: &mut Vec<Mark>,
) -> Result<(), Problem> {
    let index = reading.annals.index();
    for part in index.naming(task, Relation::TaskParent, AGENTS).await? {
        for run in index.named(part, Relation::TaskRuns, AGENTS).await? {
            let row = index.row(run).await?;
            if row.first_position > reading.moment.position {
                continue;
            }
            let title = index.row(part).await?.title;
            let shown = reading.row(&row).await?;
            marks.push(Mark {
                lane: Lane::Agent,
                start: row.created_at.to_utc().timestamp_millis(),
                end: row.updated_at.to_utc().timestamp_millis(),
                status: shown.and_then(|row| row.status),
                object: Some(run),
                position: row.first_position,
                name: title.and_then(|title| title.as_str().map(str::to_owned)),
            });
        }
    }
    Ok(())
}

/// The prompts of a run: its task's intent, and those that refine it.
pub(crate) async fn intents_of(
    reading: &mut Reading<'_>,
    task: Uuid,
    marks: &mut Vec<Mark>,
) -> Result<(), Problem> {
    let index = reading.annals.index();
    let mut next = index.named(task, Relation::TaskIntent, 1).await?;
    let mut seen = Vec::new();
    while let Some(intent) = next.pop() {
        if seen.len() == PROMPTS || seen.contains(&intent) {
            break;
        }
        seen.push(intent);
        let Ok(row) = index.row(intent).await else {
            continue;
        };
        if row.first_position <= reading.moment.position {
            let start = row.created_at.to_utc().timestamp_millis();
            marks.push(Mark {
                lane: Lane::Prompt,
                start,
                end: start,
                status: None,
                object: Some(intent),
                position: row.first_position,
                name: row
                    .title
                    .and_then(|title| title.as_str().map(str::to_owned)),
            });
        }
        let refining = index
            .naming(intent, Relation::IntentParent, PROMPTS)
            .await?;
        next.extend(refining);
    }
    Ok(())
}
