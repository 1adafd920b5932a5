//! What is known of one tool call: a fold of the events on it.
//!
//! A run's state has none of its calls, so that the hundred-thousandth costs what the first did. A decision
//! on a call that is known asks the world for this fold of that call's events alone.

use super::tool_event::is_telemetry;
use super::{
    CallStatus, Event, GrantScope, ToolDecided, ToolDecider, ToolEnded, ToolInvoked, ToolStatus,
    ToolVerdict,
};
use crate::ToolInvocationId;

/// What the decider knows of a tool call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolCall {
    /// Whether its request is known.
    pub is_requested: bool,
    /// Whether it is known to have begun.
    pub is_begun: bool,
    /// Whether it was told of as one that is over, which happens once.
    pub is_invoked: bool,
    /// Whether something says that it worked.
    pub is_ok: bool,
    /// Whether something says that it failed.
    pub is_error: bool,
    /// Which optional fields are known.
    pub known: KnownFields,
    /// The decisions on it, in the order in which they came to be known.
    pub decisions: Vec<KnownDecision>,
}

/// Which optional fields of a call are known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct KnownFields {
    /// Its arguments.
    pub args: bool,
    /// The files that it reads and writes.
    pub io_footprint: bool,
    /// How long it took.
    pub duration: bool,
    /// The summary of its output.
    pub result_summary: bool,
    /// What failed.
    pub failure: bool,
    /// Its output files.
    pub artifacts: bool,
}

/// A decision on a call, as far as others are compared with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownDecision {
    /// What was decided.
    pub verdict: ToolVerdict,
    /// What decided.
    pub by: ToolDecider,
    /// Its name.
    pub by_name: Option<String>,
    /// The file that it is in.
    pub source: Option<String>,
    /// How long it holds.
    pub scope: GrantScope,
    /// The permission that it rests on.
    pub grant: Option<ToolInvocationId>,
    /// Whether it was inferred.
    pub inferred: bool,
    /// Whether a reason is known.
    pub has_reason: bool,
    /// Whether the mode of permissions is known.
    pub has_permission_mode: bool,
    /// Whether it is known what was in force.
    pub has_in_force: bool,
}

impl KnownDecision {
    /// What an event says.
    pub fn of(event: &ToolDecided) -> KnownDecision {
        KnownDecision {
            verdict: event.verdict,
            by: event.by,
            by_name: event.by_name.clone(),
            source: event.source.clone(),
            scope: event.scope,
            grant: event.grant,
            inferred: event.inferred,
            has_reason: event.reason.is_some(),
            has_permission_mode: event.permission_mode.is_some(),
            has_in_force: event.in_force.is_some(),
        }
    }

    /// Whether two may be of one decider: nothing that both say of it differs.
    fn may_be_of_the_same(&self, other: &KnownDecision) -> bool {
        fn agrees<T: PartialEq>(one: Option<&T>, other: Option<&T>) -> bool {
            one.is_none() || other.is_none() || one == other
        }
        self.by == other.by
            && agrees(self.by_name.as_ref(), other.by_name.as_ref())
            && agrees(self.source.as_ref(), other.source.as_ref())
    }

    /// Whether this takes back what an earlier one says: its decider decides otherwise. What was inferred takes back
    /// nothing that was stated.
    fn takes_back(&self, earlier: &KnownDecision) -> bool {
        (self.verdict, self.scope) != (earlier.verdict, earlier.scope)
            && (earlier.inferred || !self.inferred)
            && self.may_be_of_the_same(earlier)
    }

    /// Whether another one adds nothing to this: it says the same, or less. What was stated says
    /// more than what was inferred, and what was told at first hand more than what telemetry reported.
    pub fn covers(&self, other: &KnownDecision) -> bool {
        fn says<T: PartialEq>(known: Option<&T>, other: Option<&T>) -> bool {
            other.is_none() || known == other
        }
        (self.verdict, self.by, self.scope) == (other.verdict, other.by, other.scope)
            && says(self.by_name.as_ref(), other.by_name.as_ref())
            && says(self.source.as_ref(), other.source.as_ref())
            && (!is_telemetry(self.source.as_deref()) || is_telemetry(other.source.as_deref()))
            && says(self.grant.as_ref(), other.grant.as_ref())
            && (!self.inferred || other.inferred)
            && (self.has_reason || !other.has_reason)
            && (self.has_permission_mode || !other.has_permission_mode)
            && (self.has_in_force || !other.has_in_force)
    }
}

impl ToolCall {
    /// Folds one event on the call in; others change nothing.
    pub fn evolve(&mut self, event: &Event) {
        match event {
            Event::ToolRequested(event) => {
                self.is_requested = true;
                self.known.args |= event.args.is_some();
                self.known.io_footprint |= event.io_footprint.is_some();
            }
            Event::ToolDecided(event) => self.decisions.push(KnownDecision::of(event)),
            Event::ToolBegun(_) => self.is_begun = true,
            Event::ToolEnded(event) => self.ended(event),
            Event::ToolInvoked(event) => self.invoked(event),
            Event::ToolInvocationAdopted(event) => self.invoked(&event.invocation),
            _ => {}
        }
    }

    /// Whether a decision adds nothing to those that are known. Only what its decider said last is a repetition: one
    /// that allowed, then denied, and allows again, has decided three times.
    pub fn has_decided(&self, decision: &KnownDecision) -> bool {
        let newest = self.decisions.iter().rev();
        newest
            .take_while(|later| !later.takes_back(decision))
            .any(|known| known.covers(decision))
    }

    fn ended(&mut self, event: &ToolEnded) {
        self.end(event.status);
        self.known.duration |= event.duration_ms.is_some();
        self.known.result_summary |= event.result_summary.is_some();
        self.known.failure |= event.failure.is_some();
        self.known.artifacts |= !event.artifacts.is_empty();
    }

    fn invoked(&mut self, event: &ToolInvoked) {
        self.is_invoked = true;
        self.end(event.status);
        self.known.args |= event.args.is_some();
        self.known.io_footprint |= event.io_footprint.is_some();
        self.known.duration |= event.duration_ms.is_some();
        self.known.result_summary |= event.result_summary.is_some();
        self.known.artifacts |= !event.artifacts.is_empty();
    }

    fn end(&mut self, status: ToolStatus) {
        match status {
            ToolStatus::Ok => self.is_ok = true,
            ToolStatus::Error => self.is_error = true,
        }
    }

    /// Whether something says that it ended so.
    pub fn ended_so(&self, status: ToolStatus) -> bool {
        match status {
            ToolStatus::Ok => self.is_ok,
            ToolStatus::Error => self.is_error,
        }
    }

    /// Adds what is known from later events.
    pub(crate) fn merge(&mut self, later: &ToolCall) {
        self.is_requested |= later.is_requested;
        self.is_begun |= later.is_begun;
        self.is_invoked |= later.is_invoked;
        self.is_ok |= later.is_ok;
        self.is_error |= later.is_error;
        self.known.args |= later.known.args;
        self.known.io_footprint |= later.known.io_footprint;
        self.known.duration |= later.known.duration;
        self.known.result_summary |= later.known.result_summary;
        self.known.failure |= later.known.failure;
        self.known.artifacts |= later.known.artifacts;
        self.decisions.extend_from_slice(&later.decisions);
    }
}

impl CallStatus {
    /// The status of a call after an event on it; `before` is absent where nothing of it was known.
    ///
    /// A call that began has begun, whatever is decided afterwards, and one that ended has ended. Where
    /// sources disagree on how, the last one counts. A person alone lifts a denial ([`ToolDecided::lifts_denials`]).
    pub fn after(before: Option<CallStatus>, event: &Event) -> Option<CallStatus> {
        let waits = matches!(
            before,
            None | Some(CallStatus::Requested | CallStatus::Denied)
        );
        match event {
            Event::ToolRequested(_) => before.or(Some(CallStatus::Requested)),
            Event::ToolDecided(event)
                if before == Some(CallStatus::Denied) && !event.lifts_denials() =>
            {
                before
            }
            Event::ToolDecided(event) if waits => Some(match event.verdict {
                ToolVerdict::Deny => CallStatus::Denied,
                ToolVerdict::Allow | ToolVerdict::Ask => CallStatus::Requested,
            }),
            Event::ToolBegun(_) if waits => Some(CallStatus::Running),
            Event::ToolEnded(event) => Some(event.status.into()),
            Event::ToolInvoked(event) => Some(event.status.into()),
            Event::ToolInvocationAdopted(event) => Some(event.invocation.status.into()),
            _ => before,
        }
    }

    /// How the call ended, if it did.
    pub fn ended(self) -> Option<ToolStatus> {
        match self {
            CallStatus::Requested | CallStatus::Denied | CallStatus::Running => None,
            CallStatus::Ok => Some(ToolStatus::Ok),
            CallStatus::Error => Some(ToolStatus::Error),
        }
    }
}

impl From<ToolStatus> for CallStatus {
    fn from(status: ToolStatus) -> CallStatus {
        match status {
            ToolStatus::Ok => CallStatus::Ok,
            ToolStatus::Error => CallStatus::Error,
        }
    }
}
