//! The reference for tool calls: a call is what was said of it, and what is said again is nothing.

use annals_domain::run::{
    BeginToolCall, DecideToolCall, EndToolCall, GrantScope, RecordToolInvocation, RequestToolCall,
    TELEMETRY, ToolDecider,
};
use annals_domain::{Command, Kind};
use uuid::Uuid;

use super::Model;
use super::judged::{Judged, demand, parts, text};

/// A tool call: what was said of it and came into the log.
#[derive(Debug, Clone, Default)]
pub struct Call {
    /// Its run.
    pub run: Uuid,
    /// What was said of it, oldest first.
    pub said: Vec<Command>,
}

impl Call {
    fn requests(&self) -> impl Iterator<Item = &RequestToolCall> {
        self.said.iter().filter_map(|said| match said {
            Command::RequestToolCall(said) => Some(said),
            _ => None,
        })
    }

    fn ends(&self) -> impl Iterator<Item = &EndToolCall> {
        self.said.iter().filter_map(|said| match said {
            Command::EndToolCall(said) => Some(said),
            _ => None,
        })
    }

    fn invoked(&self) -> Option<&RecordToolInvocation> {
        self.said.iter().find_map(|said| match said {
            Command::RecordToolInvocation(said) => Some(said),
            _ => None,
        })
    }

    fn has_begun(&self) -> bool {
        let begins = |said: &Command| matches!(said, Command::BeginToolCall(_));
        self.said.iter().any(begins)
    }
}

/// Whether something is said that nobody said before.
fn is_new(says: bool, known: impl IntoIterator<Item = bool>) -> bool {
    says && !known.into_iter().any(|known| known)
}

/// Whether telemetry reported a decision.
fn is_reported(c: &DecideToolCall) -> bool {
    c.source.as_deref() == Some(TELEMETRY)
}

fn says_more(c: &DecideToolCall, known: &DecideToolCall) -> bool {
    fn differs<T: PartialEq>(more: &Option<T>, known: &Option<T>) -> bool {
        more.is_some() && more != known
    }
    let scope = |c: &DecideToolCall| c.scope.unwrap_or(GrantScope::Once);
    c.verdict != known.verdict
        || c.by != known.by
        || scope(c) != scope(known)
        || differs(&c.by_name, &known.by_name)
        || differs(&c.source, &known.source)
        || (is_reported(known) && !is_reported(c))
        || differs(&c.grant, &known.grant)
        || (!c.inferred && known.inferred)
        || (c.reason.is_some() && known.reason.is_none())
        || (c.permission_mode.is_some() && known.permission_mode.is_none())
        || (c.in_force.is_some() && known.in_force.is_none())
}

/// Whether a decision contradicts another one that the same decider may have made. What is inferred contradicts
/// nothing that is stated.
fn contradicts(known: &DecideToolCall, c: &DecideToolCall) -> bool {
    fn differs<T: PartialEq>(one: &Option<T>, other: &Option<T>) -> bool {
        one.is_some() && other.is_some() && one != other
    }
    let scope = |c: &DecideToolCall| c.scope.unwrap_or(GrantScope::Once);
    let decides_otherwise = c.verdict != known.verdict || scope(c) != scope(known);
    let is_another = c.by != known.by
        || differs(&c.by_name, &known.by_name)
        || differs(&c.source, &known.source);
    let is_a_guess = known.inferred && !c.inferred;
    decides_otherwise && !is_another && !is_a_guess
}

impl Model {
    /// The call that has an id, if any object has it; refused where that is none of this run's calls.
    fn call(&self, run: Uuid, id: Uuid) -> Option<Option<Call>> {
        match self.kinds.get(&id) {
            None => Some(None),
            Some(_) => {
                let call = self.calls.get(&id)?;
                demand(call.run == run)?;
                Some(Some(call.clone()))
            }
        }
    }

    fn say(&mut self, run: Uuid, id: Option<Uuid>, said: impl Into<Command>) -> Judged {
        if let Some(id) = id {
            self.kinds.insert(id, Kind::ToolInvocation);
            let call = self.calls.entry(id).or_default();
            call.run = run;
            call.said.push(said.into());
        }
        Some(true)
    }

    pub(super) fn record_tool_invocation(&mut self, c: &RecordToolInvocation) -> Judged {
        text(&c.tool_name)?;
        parts(&c.output)?;
        let (run, id) = (c.run.0, c.id.map(Uuid::from));
        let known = match id {
            Some(id) => self.call(run, id)?,
            None => None,
        };
        match known {
            Some(call) => demand(call.invoked().is_none())?,
            None => self.unfinished(run).map(|_| ())?,
        }
        self.say(run, id, c.clone())
    }

    pub(super) fn request_tool_call(&mut self, c: &RequestToolCall) -> Judged {
        text(&c.tool_name)?;
        self.runs.get(&c.run.0)?;
        let (run, id) = (c.run.0, c.id.map(Uuid::from));
        let known = match id {
            Some(id) => self.call(run, id)?,
            None => None,
        };
        let Some(call) = known else {
            self.unfinished(run)?;
            return self.say(run, id, c.clone());
        };
        let (invoked, requests) = (call.invoked(), || call.requests());
        let args = requests().map(|it| it.args.is_some());
        let args = args.chain(invoked.map(|it| it.args.is_some()));
        let files = requests().map(|it| it.io_footprint.is_some());
        let files = files.chain(invoked.map(|it| it.io_footprint.is_some()));
        let adds = (requests().count() == 0 && invoked.is_none())
            || is_new(c.args.is_some(), args)
            || is_new(c.io_footprint.is_some(), files);
        match adds {
            true => self.say(run, id, c.clone()),
            false => Some(false),
        }
    }

    pub(super) fn decide_tool_call(&mut self, c: &DecideToolCall) -> Judged {
        for name in [&c.tool_name, &c.by_name, &c.source].into_iter().flatten() {
            text(name)?;
        }
        for file in c.in_force.iter().flatten() {
            text(&file.path)?;
            demand(file.content.is_some() != file.hash.is_some())?;
        }
        let is_of_person = c.by == ToolDecider::Person && !c.inferred && !is_reported(c);
        demand(!is_of_person || self.by != "tester")?;
        self.runs.get(&c.run.0)?;
        let (run, id) = (c.run.0, c.tool_invocation.0);
        match self.call(run, id)? {
            None => demand(c.tool_name.is_some())?,
            Some(call) => {
                for said in call.said.iter().rev() {
                    match said {
                        Command::DecideToolCall(known) if contradicts(known, c) => break,
                        Command::DecideToolCall(known) if !says_more(c, known) => {
                            return Some(false);
                        }
                        _ => {}
                    }
                }
            }
        }
        self.say(run, Some(id), c.clone())
    }

    pub(super) fn begin_tool_call(&mut self, c: &BeginToolCall) -> Judged {
        c.tool_name.as_deref().map_or(Some(()), text)?;
        self.runs.get(&c.run.0)?;
        let (run, id) = (c.run.0, c.tool_invocation.0);
        match self.call(run, id)? {
            None => demand(c.tool_name.is_some())?,
            Some(call) if call.has_begun() || call.invoked().is_some() => return Some(false),
            Some(_) => {}
        }
        self.say(run, Some(id), c.clone())
    }

    pub(super) fn end_tool_call(&mut self, c: &EndToolCall) -> Judged {
        c.tool_name.as_deref().map_or(Some(()), text)?;
        parts(&c.output)?;
        self.runs.get(&c.run.0)?;
        let (run, id) = (c.run.0, c.tool_invocation.0);
        let Some(call) = self.call(run, id)? else {
            demand(c.tool_name.is_some())?;
            return self.say(run, Some(id), c.clone());
        };
        let (invoked, ends) = (call.invoked(), || call.ends());
        let so = ends().map(|it| it.status == c.status);
        let so = so.chain(invoked.map(|it| it.status == c.status));
        let took = ends().map(|it| it.duration_ms.is_some());
        let took = took.chain(invoked.map(|it| it.duration_ms.is_some()));
        let summary = ends().map(|it| it.result_summary.is_some());
        let summary = summary.chain(invoked.map(|it| it.result_summary.is_some()));
        let failure = ends().map(|it| it.failure.is_some());
        let output = ends().map(|it| !it.output.is_empty());
        let output = output.chain(invoked.map(|it| !it.output.is_empty()));
        let adds = is_new(true, so)
            || is_new(c.duration_ms.is_some(), took)
            || is_new(c.result_summary.is_some(), summary)
            || is_new(c.failure.is_some(), failure)
            || is_new(!c.output.is_empty(), output);
        match adds {
            true => self.say(run, Some(id), c.clone()),
            false => Some(false),
        }
    }
}
