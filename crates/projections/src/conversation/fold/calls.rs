//! Tool calls of a conversation: requested, decided, begun, ended, or recorded as a whole.

use annals_domain::run::{
    PatchSetProposed, ToolBegun, ToolDecided, ToolEnded, ToolInvoked, ToolRequested, ToolVerdict,
};
use annals_domain::{Slot, Timestamp, ToolInvocationId};
use chrono::TimeDelta;
use uuid::Uuid;

use super::{ConversationFold, SubAgentStart, TurnSlot};
use crate::conversation::turn::{
    CallDecisionTurn, CallOutcome, CallResult, CallRole, FileEdit, ToolCallTurn, TurnBody,
};
use crate::conversation::{NO_RESULT, role};
use crate::frame_data::CallPlace;
use crate::history::{invoked, requested};
use crate::{CallLine, Entry, PieceValue, Text};

/// The shortest name of a sub-agent that is looked for in results.
const NAME_LENGTH: usize = 6;

/// The progress of a call, from which its outcome follows.
#[derive(Debug, Default)]
pub(super) struct CallProgress {
    /// Whether it was requested before it was recorded: its turn has the time of the request.
    is_requested: bool,
    has_begun: bool,
    /// The verdict that counts: the newest one, but only a person's lifts a denial.
    verdict: Option<ToolVerdict>,
    ended: Option<CallOutcome>,
}

/// Where and when a call was made, as its result's frame has it.
#[derive(Debug, Default)]
pub(super) struct CallStart {
    /// The time of the call's line, if it does not follow from the call's duration.
    pub(super) at: Option<Timestamp>,
    /// The call's line.
    pub(super) line: Option<String>,
    pub(super) place: Option<CallPlace>,
}

impl CallProgress {
    fn outcome(&self) -> CallOutcome {
        match (self.ended, self.verdict) {
            (Some(CallOutcome::Ok), _) => CallOutcome::Ok,
            (_, Some(ToolVerdict::Deny)) => CallOutcome::Denied,
            (Some(ended), _) => ended,
            (None, Some(ToolVerdict::Ask)) if !self.has_begun => CallOutcome::Waiting,
            (None, _) => CallOutcome::Running,
        }
    }
}

impl ConversationFold {
    /// A call that was recorded as a whole.
    pub(super) fn invoked(&mut self, entry: &Entry, event: &ToolInvoked) {
        let line = invoked(event, entry);
        let slot = self.call(entry, event.tool_invocation, Some(event.tool_name), line);
        self.newest_call = Some((entry.batch_id, slot));
        let summary = event.result_summary.map(|slot| entry.text(slot));
        let has_none = summary.as_ref().and_then(Text::as_str) == Some(NO_RESULT);
        let Some(call) = self.call_at(slot) else {
            return;
        };
        if event.args.is_some() {
            call.args = event.args.map(|slot| entry.json(slot));
        }
        call.duration_ms = event.duration_ms.or(call.duration_ms);
        if has_none {
            self.end(slot, CallOutcome::NoResult);
            self.move_to_its_start(slot, &CallStart::default());
            return;
        }
        if call.result.is_none() {
            call.result = summary.map(beginning);
        }
        self.end(slot, CallOutcome::ended(event.status));
    }

    pub(super) fn requested(&mut self, entry: &Entry, event: &ToolRequested) {
        let line = requested(event, entry);
        let is_new = !self.calls.contains_key(&event.tool_invocation);
        let slot = self.call(entry, event.tool_invocation, Some(event.tool_name), line);
        if is_new {
            if let Some(progress) = self.progress(slot) {
                progress.is_requested = true;
            }
            // An import tells of a call without a result when the recording ends, behind what followed the call.
            self.move_to_its_start(slot, &CallStart::default());
        }
        if let Some(call) = self.call_at(slot)
            && call.args.is_none()
        {
            call.args = event.args.map(|slot| entry.json(slot));
        }
    }

    pub(super) fn decided(&mut self, entry: &Entry, event: &ToolDecided) {
        let slot = self.known_call(entry, event.tool_invocation, event.tool_name);
        if let Some(call) = self.call_at(slot) {
            call.decisions.push(CallDecisionTurn {
                verdict: event.verdict,
                by: event.by,
                name: event.by_name.clone(),
                source: event.source.clone(),
                reason: event.reason.map(|slot| entry.text(slot)),
                inferred: event.inferred,
                at: entry.agents_time(),
                position: entry.position,
            });
        }
        if let Some(progress) = self.progress(slot) {
            let was_denied = progress.verdict == Some(ToolVerdict::Deny);
            if !was_denied || event.lifts_denials() {
                progress.verdict = Some(event.verdict);
            }
        }
    }

    pub(super) fn begun(&mut self, entry: &Entry, event: &ToolBegun) {
        let slot = self.known_call(entry, event.tool_invocation, event.tool_name);
        if let Some(progress) = self.progress(slot) {
            progress.has_begun = true;
        }
    }

    pub(super) fn ended(&mut self, entry: &Entry, event: &ToolEnded) {
        let slot = self.known_call(entry, event.tool_invocation, event.tool_name);
        let result = event.failure.or(event.result_summary);
        if let Some(call) = self.call_at(slot) {
            call.duration_ms = event.duration_ms.or(call.duration_ms);
            if call.result.is_none() {
                call.result = result.map(|slot| beginning(entry.text(slot)));
            }
        }
        self.newest_end = Some((entry.batch_id, slot));
        self.end(slot, CallOutcome::ended(event.status));
    }

    pub(super) fn proposed(&mut self, entry: &Entry, event: &PatchSetProposed) {
        let ended = of_batch(self.newest_end, entry);
        let Some(slot) = ended.or_else(|| of_batch(self.newest_call, entry)) else {
            self.patch_of_its_own(entry, event);
            return;
        };
        self.patch_sets.insert(event.patch_set.0, slot);
        if let Some(call) = self.call_at(slot) {
            call.role = CallRole::Edit;
            call.edits.extend(edits(entry, event));
        }
    }

    /// A patch set that no recorded call made: a turn of its own, shown as a call that edits.
    fn patch_of_its_own(&mut self, entry: &Entry, event: &PatchSetProposed) {
        let id = ToolInvocationId(event.patch_set.0);
        let slot = self.call(entry, id, None, CallLine::new("patch", None));
        self.patch_sets.insert(event.patch_set.0, slot);
        if let Some(call) = self.call_at(slot) {
            call.tool = Text::from("patch");
            call.role = CallRole::Edit;
            call.edits.extend(edits(entry, event));
            call.result = event.rationale.map(|slot| CallResult {
                text: entry.text(slot),
                json: None,
                is_beginning: false,
            });
        }
        self.end(slot, CallOutcome::Ok);
    }

    pub(super) fn rejected(&mut self, patch_set: Uuid) {
        let Some(slot) = self.patch_sets.get(&patch_set).copied() else {
            return;
        };
        if let Some(call) = self.call_at(slot) {
            let edits = call.edits.iter_mut();
            for edit in edits.filter(|edit| edit.patch_set == patch_set) {
                edit.rejected = true;
            }
        }
    }

    pub(super) fn set_result(&mut self, slot: usize, result: Option<CallResult>) {
        let Some(result) = result else {
            return;
        };
        if let Some(call) = self.call_at(slot) {
            call.result = Some(result);
        }
        if let Some(progress) = self.progress(slot)
            && progress.ended == Some(CallOutcome::NoResult)
        {
            progress.ended = Some(CallOutcome::Ok);
        }
    }

    /// Moves a call to where it was made.
    pub(super) fn move_to_its_start(&mut self, slot: usize, start: &CallStart) {
        let Some(index) = self.index_of(slot) else {
            return;
        };
        self.order.remove(index);
        let began = match (start.at, self.slots.get(slot)) {
            (None, Some(slot)) => CallTime::of(slot),
            (at, _) => CallTime::exact(at),
        };
        let place = start.place.as_ref();
        let place = place.and_then(|place| self.behind(place, began.began));
        let place = place.unwrap_or_else(|| self.before_later(began, start.line.as_deref()));
        let began = began.began;
        self.order.insert(place.min(self.order.len()), slot);
        if let Some(slot) = self.slots.get_mut(slot) {
            slot.turn.at = began.or(slot.turn.at);
            slot.place.clone_from(&start.place);
        }
    }

    /// The index in the order behind a place, and behind calls that were requested there earlier and lack their results.
    /// `None` if the turn that the place names is not known.
    fn behind(&self, place: &CallPlace, began: Option<Timestamp>) -> Option<usize> {
        let anchor = match (&place.call, &place.line) {
            (Some(call), _) => {
                let slot = self.named_calls.get(call)?;
                self.index_of(*slot)?
            }
            (None, Some(line)) => {
                let is_of_line = |slot: &&usize| {
                    let slot = self.slots.get(**slot);
                    slot.is_some_and(|slot| slot.line.as_ref() == Some(line))
                };
                let texts = self.lines.get(line)?.iter().filter(is_of_line);
                self.index_of(*texts.take(place.texts.max(1)).last()?)?
            }
            (None, None) => return None,
        };
        let behind = self.order.get(anchor + 1..)?;
        let is_before = |slot: &&usize| {
            let Some(other) = self.slots.get(**slot) else {
                return false;
            };
            match &other.place {
                Some(other) => other.is_before(place),
                None => is_requested(other) && other.turn.at < began,
            }
        };
        Some(anchor + 1 + behind.iter().take_while(is_before).count())
    }

    /// The index of a slot in the order. Slots that are looked for are among the last ones.
    fn index_of(&self, slot: usize) -> Option<usize> {
        self.order.iter().rposition(|other| *other == slot)
    }

    /// The index in the order before the turns of later times, and before those whose line follows the line of the call.
    fn before_later(&self, time: CallTime, line: Option<&str>) -> usize {
        let is_later = |other: &&usize| {
            let Some(other) = self.slots.get(**other) else {
                return false;
            };
            let follows = line.is_some() && other.parent_line.as_deref() == line;
            let is_after = time
                .began
                .zip(other.turn.at)
                .is_some_and(|(began, at)| at > began);
            follows || is_after
        };
        let later = self.order.iter().rev().take_while(is_later).count();
        if time.is_counted_back && later == self.order.len() && self.begins_with_prompt() {
            // The lines of some recordings have no times, so that all turns have the session's.
            return later;
        }
        self.order.len() - later
    }

    fn begins_with_prompt(&self) -> bool {
        let first = self.order.first().and_then(|slot| self.slots.get(*slot));
        first.is_some_and(|slot| matches!(slot.turn.body, TurnBody::Prompt(_)))
    }

    pub(super) fn settle_calls(&mut self) {
        for slot in &mut self.slots {
            if let (TurnBody::ToolCall(call), Some(progress)) = (&mut slot.turn.body, &slot.call) {
                call.outcome = progress.outcome();
            }
        }
    }

    /// The call that started a sub-agent: the one whose result names it, or that gave it its task.
    pub(super) fn call_that_started(&self, started: &SubAgentStart) -> Option<usize> {
        let calls = self.order.iter().filter_map(|slot| {
            let TurnBody::ToolCall(call) = &self.slots.get(*slot)?.turn.body else {
                return None;
            };
            let is_free = call.role == CallRole::SubAgent && call.sub_agent.is_none();
            is_free.then_some((*slot, &**call))
        });
        let calls: Vec<(usize, &ToolCallTurn)> = calls.collect();
        let name = started
            .name
            .as_deref()
            .filter(|name| name.len() >= NAME_LENGTH);
        let names = |call: &ToolCallTurn| {
            let result = call.result.as_ref().and_then(|result| result.text.as_str());
            name.zip(result)
                .is_some_and(|(name, text)| text.contains(name))
        };
        let task = started.task.as_str().unwrap_or_default().trim();
        let gives = |call: &ToolCallTurn| !task.is_empty() && role::gives_task(call, task);
        let found = calls.iter().find(|(_, call)| names(call));
        let found = found.or_else(|| calls.iter().find(|(_, call)| gives(call)));
        found.map(|(slot, _)| *slot)
    }

    /// The slot of a call; a new one at the end, if the call is unknown.
    fn call(
        &mut self,
        entry: &Entry,
        id: ToolInvocationId,
        tool: Option<Slot>,
        line: CallLine,
    ) -> usize {
        let tool = tool.map_or_else(|| Text::from("(unnamed)"), |slot| entry.text(slot));
        let role = role::of(&tool, &line);
        if let Some(slot) = self.calls.get(&id).copied() {
            if let Some(call) = self.call_at(slot) {
                if call.role == CallRole::Other {
                    call.role = role;
                }
                call.tool = tool;
                call.line = line;
            }
            return slot;
        }
        let body = TurnBody::ToolCall(Box::new(ToolCallTurn {
            id,
            tool,
            line,
            args: None,
            result: None,
            outcome: CallOutcome::Running,
            duration_ms: None,
            role,
            edits: Vec::new(),
            decisions: Vec::new(),
            sub_agent: None,
        }));
        let slot = self.push(entry, body, None);
        if let Some(slot) = self.slots.get_mut(slot) {
            slot.call = Some(CallProgress::default());
        }
        self.calls.insert(id, slot);
        slot
    }

    fn known_call(&mut self, entry: &Entry, id: ToolInvocationId, tool: Option<Slot>) -> usize {
        if let Some(slot) = self.calls.get(&id) {
            return *slot;
        }
        let name = tool.map(|slot| entry.text(slot).to_string());
        let line = CallLine::new(name.as_deref().unwrap_or_default(), None);
        self.call(entry, id, tool, line)
    }

    fn call_at(&mut self, slot: usize) -> Option<&mut ToolCallTurn> {
        match self.body(slot)? {
            TurnBody::ToolCall(call) => Some(call),
            _ => None,
        }
    }

    fn progress(&mut self, slot: usize) -> Option<&mut CallProgress> {
        self.change(slot)?.call.as_mut()
    }

    fn end(&mut self, slot: usize, outcome: CallOutcome) {
        if let Some(progress) = self.progress(slot) {
            progress.ended = match (progress.ended, outcome) {
                // A recording without the result does not take back how the call ended.
                (Some(known), CallOutcome::NoResult) => Some(known),
                _ => Some(outcome),
            };
        }
    }
}

/// The time at which a call began.
#[derive(Debug, Clone, Copy)]
struct CallTime {
    began: Option<Timestamp>,
    /// Whether it is the time of the result less the duration.
    is_counted_back: bool,
}

impl CallTime {
    fn exact(began: Option<Timestamp>) -> CallTime {
        CallTime {
            began,
            is_counted_back: false,
        }
    }

    /// The time of a call's request, or else its result's, less its duration.
    fn of(slot: &TurnSlot) -> CallTime {
        let (TurnBody::ToolCall(call), Some(at)) = (&slot.turn.body, slot.turn.at) else {
            return CallTime::exact(None);
        };
        let took = call.duration_ms.filter(|_| !is_requested(slot));
        let Some(took) = took.and_then(|took| i64::try_from(took).ok()) else {
            return CallTime::exact(Some(at));
        };
        let took = TimeDelta::try_milliseconds(took);
        let began = took.and_then(|took| at.to_utc().checked_sub_signed(took));
        CallTime {
            began: began.map(Timestamp::from),
            is_counted_back: true,
        }
    }
}

/// The slot of a call, if an event is of the call's batch.
pub(super) fn of_batch(call: Option<(Uuid, usize)>, entry: &Entry) -> Option<usize> {
    let (batch, slot) = call?;
    (batch == entry.batch_id).then_some(slot)
}

/// Returns `true` if a slot is a call that was requested before it was recorded.
fn is_requested(slot: &TurnSlot) -> bool {
    slot.call.as_ref().is_some_and(|call| call.is_requested)
}

fn beginning(text: Text) -> CallResult {
    CallResult {
        text,
        json: None,
        is_beginning: true,
    }
}

/// Returns `true` if the slot is a call whose result is not known.
pub(super) fn lacks_result(slot: Option<&TurnSlot>) -> bool {
    let body = slot.map(|slot| &slot.turn.body);
    matches!(body, Some(TurnBody::ToolCall(call)) if call.result.is_none())
}

fn edits<'a>(entry: &'a Entry, event: &'a PatchSetProposed) -> impl Iterator<Item = FileEdit> + 'a {
    let artifact = event
        .artifact
        .as_ref()
        .and_then(|artifact| artifact.content);
    let piece = artifact.and_then(|slot| entry.pieces.get(usize::from(slot.0)));
    let diff = piece
        .and_then(PieceValue::digest_and_size)
        .map(|(digest, _)| digest);
    event.touched.iter().map(move |file| FileEdit {
        path: entry.text(file.path),
        change: file.change_type.as_str().to_owned(),
        added: file.lines_added,
        deleted: file.lines_deleted,
        rejected: false,
        patch_set: event.patch_set.0,
        diff,
    })
}
