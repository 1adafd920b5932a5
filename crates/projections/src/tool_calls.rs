//! The tool calls of a log, each with what is needed to judge it again: what was called, where, by
//! whom, and what became of it.

mod fact;

use std::collections::HashMap;

use annals_domain::{RunId, TaskId, Timestamp, ToolInvocationId, run};
use annals_event_log::{Classification, Classified, ErrorClass, Position, Query, ReadError, Store};
use derive_setters::Setters;
use futures::stream::{self, TryStreamExt};
use serde::Serialize;
use uuid::Uuid;

use self::fact::{Decided, Fact, Page, Setting, TYPES, Told};
use crate::EntryError;
use crate::aside::{ThreadLost, aside};
use crate::same_call::is_another_call;
use crate::tool_name::is_generic;

/// Records read at once.
const PAGE: usize = 1_000;
/// Pages that are decoded while others are read.
const AHEAD: usize = 3;

/// What became of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CallOutcome {
    /// It ran, and nothing says that anybody was asked.
    Ran,
    /// A person was asked.
    Asked,
    /// It was denied.
    Denied,
    /// It was requested, and nothing is known of what came of it.
    Unknown,
}

/// A tool call as it was recorded.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RecordedCall {
    /// Its id.
    pub id: ToolInvocationId,
    /// Its run.
    pub run: RunId,
    /// The first record of it.
    pub position: Position,
    /// When that happened.
    pub occurred_at: Timestamp,
    /// When the log took it.
    pub recorded_at: Timestamp,
    /// Who caused it, as that record says.
    pub actor: String,
    /// The tool; none, if its name was removed.
    pub tool: Option<String>,
    /// The arguments, as JSON; none, if there are none, or they were removed. Where other ones were recorded after the
    /// first decision, those that were judged.
    pub args: Option<String>,
    /// Whether something of it was removed, so that it cannot be judged again.
    pub is_removed: bool,
    /// The directory that its run is in.
    pub cwd: Option<String>,
    /// The branch that was checked out when its run began.
    pub branch: Option<String>,
    /// The agent's permission mode, if a decision says it.
    pub mode: Option<String>,
    /// What became of it.
    pub outcome: CallOutcome,
    /// The session that its run is of: by the agent's own name, or else its id here.
    pub session: Option<String>,
    /// Whether a person allowed it, if a person decided last. What an agent, or an agent's import, says of a person, what
    /// was inferred, and what telemetry reported does not count.
    pub allowed_by_person: Option<bool>,
    /// Whether anybody or anything ever denied it.
    pub was_denied: bool,
    /// Whether anything but a person decided on it.
    is_decided_by_others: bool,
    /// Whether a decision of such was stated.
    is_stated: bool,
    /// Whether the log has a decision that allows or denies, and that telemetry did not report.
    is_settled: bool,
    /// The arguments that a later record replaced, and where that is.
    replaced: Option<(Option<String>, Position)>,
}

/// Which calls are read.
#[derive(Default, Setters)]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct CallsQuery<'a> {
    /// Only calls that were recorded first at this position or later.
    #[setters(into)]
    pub from: Option<Position>,
    /// Only what was recorded up to this position.
    #[setters(into)]
    pub through: Option<Position>,
    /// Only calls that happened at this time or later.
    #[setters(into)]
    pub occurred_since: Option<Timestamp>,
    /// Only calls that were recorded at this time or later.
    #[setters(into)]
    pub recorded_since: Option<Timestamp>,
    /// Is called now and then with the number of records that were read.
    #[setters(strip_option)]
    pub progress: Option<&'a mut (dyn FnMut(u64) + Send)>,
}

impl std::fmt::Debug for CallsQuery<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CallsQuery")
            .field("from", &self.from)
            .field("through", &self.through)
            .field("occurred_since", &self.occurred_since)
            .finish_non_exhaustive()
    }
}

/// Why calls could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallsError {
    /// The log could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A record could not be decoded.
    #[error(transparent)]
    Entry(#[from] EntryError),
    /// A thread ended before its work.
    #[error("a thread that decodes records ended before its work was done")]
    Thread,
}

impl Classified for CallsError {
    fn classify(&self) -> Classification {
        match self {
            CallsError::Read(error) => error.classify(),
            CallsError::Entry(error) => error.classify(),
            CallsError::Thread => ErrorClass::Unavailable.code("unreadable"),
        }
    }
}

impl From<ThreadLost> for CallsError {
    fn from(_: ThreadLost) -> CallsError {
        CallsError::Thread
    }
}

/// The tool calls of a log, by position.
///
/// # Errors
/// [`CallsError`].
pub async fn recorded_calls(
    log: &dyn Store,
    mut query: CallsQuery<'_>,
) -> Result<Vec<RecordedCall>, CallsError> {
    let mut calls = Calls::default();
    let through = query.through.unwrap_or_else(|| log.watermark());
    let mut read = 0;
    for name in TYPES {
        // Where runs are is needed of those before, too.
        let pages = stream::try_unfold(Some(Position(1).0), |from| async move {
            let Some(from) = from.filter(|from| *from <= through.0) else {
                return Ok(None);
            };
            let page = log
                .read(Query::event_type(name, Position(from)).limit(PAGE))
                .await?;
            let mut records = page.records;
            records.retain(|record| record.position() <= through);
            let count = records.len() as u64;
            let page_of = Page::complete(log, records).await?;
            Ok::<_, CallsError>(Some(((page_of, count), page.next)))
        });
        let facts = pages
            .map_ok(|(page, count)| async move {
                let facts = aside(move || page.facts()).await??;
                Ok::<_, CallsError>((facts, count))
            })
            .try_buffered(AHEAD);
        futures::pin_mut!(facts);
        while let Some((facts, count)) = facts.try_next().await? {
            facts.into_iter().for_each(|fact| calls.take(fact));
            read += count;
            if let Some(progress) = query.progress.as_mut() {
                progress(read);
            }
        }
    }
    Ok(calls.finish(&query))
}

/// The calls so far.
#[derive(Default)]
struct Calls {
    /// What agents call the sessions of tasks.
    named: HashMap<TaskId, String>,
    /// The sessions of this log that have runs.
    attached: HashMap<RunId, Uuid>,
    runs: HashMap<RunId, (TaskId, Setting)>,
    found: Vec<RecordedCall>,
    at: HashMap<ToolInvocationId, usize>,
}

impl Calls {
    fn take(&mut self, fact: Fact) {
        match fact {
            // What is set later replaces it.
            Fact::Session(task, session) => {
                self.named.insert(task, session);
            }
            Fact::Attached(run, session) => {
                self.attached.entry(run).or_insert(session);
            }
            Fact::Run(run, task, setting) => {
                self.runs.insert(run, (task, setting));
            }
            Fact::Call(told, is_over) => {
                let id = told.id;
                self.call(*told);
                if is_over {
                    self.ran(id);
                }
            }
            Fact::Ran(id) => self.ran(id),
            Fact::Decided(decided) => self.decided(decided),
            Fact::Nothing => {}
        }
    }

    fn ran(&mut self, id: ToolInvocationId) {
        let call = self.at.get(&id).and_then(|at| self.found.get_mut(*at));
        if let Some(call) = call.filter(|it| it.outcome == CallOutcome::Unknown) {
            call.outcome = CallOutcome::Ran;
        }
    }

    /// What a person decided was asked before. Of what others decided the last one counts, and what was stated before
    /// what was inferred, and what the log was told at first hand before what telemetry reported.
    fn decided(&mut self, decided: Decided) {
        let at = self.at.get(&decided.call);
        let Some(call) = at.and_then(|at| self.found.get_mut(*at)) else {
            // Nothing says what was called.
            return;
        };
        // What was recorded after a decision is not what was judged.
        if let Some((args, _)) = call.replaced.take_if(|(_, at)| decided.position < *at) {
            call.args = args;
        }
        if decided.is_reported && call.is_settled {
            return;
        }
        let is_told_here = !decided.inferred && !decided.is_reported;
        call.is_settled |= is_told_here && decided.verdict != run::ToolVerdict::Ask;
        let is_denied = decided.verdict == run::ToolVerdict::Deny;
        call.was_denied |= is_denied;
        call.mode = decided.mode.or(call.mode.take());
        if decided.by == run::ToolDecider::Person {
            if decided.is_by_person {
                call.allowed_by_person = Some(!is_denied);
            }
            if !call.is_decided_by_others {
                call.outcome = CallOutcome::Asked;
            }
            return;
        }
        if decided.inferred && call.is_stated {
            return;
        }
        if call.is_stated && call.outcome == CallOutcome::Denied && !is_denied {
            // A person alone lifts a denial.
            return;
        }
        call.is_stated |= !decided.inferred;
        call.is_decided_by_others = true;
        call.outcome = match decided.verdict {
            run::ToolVerdict::Allow => CallOutcome::Ran,
            run::ToolVerdict::Ask => CallOutcome::Asked,
            run::ToolVerdict::Deny => CallOutcome::Denied,
        };
    }

    /// A record that says what was called. Of several the later one, which tells of the call as a whole, knows its
    /// arguments best; the tool's name is that of the first one that says one.
    fn call(&mut self, told: Told) {
        let known = self.at.get(&told.id).and_then(|at| self.found.get_mut(*at));
        if let Some(call) = known {
            call.is_removed &= told.is_removed;
            if call.tool.as_deref().is_none_or(is_generic) {
                call.tool = told.tool.or(call.tool.take());
            }
            let before = (None, call.args.as_deref().map(Some));
            if is_another_call(before, (None, told.args.as_deref().map(Some))) {
                call.replaced = Some((call.args.take(), told.position));
            }
            call.args = told.args.or(call.args.take());
            if told.position < call.position {
                call.position = told.position;
                call.occurred_at = told.occurred_at;
                call.recorded_at = told.recorded_at;
            }
            return;
        }
        let run = self.runs.get(&told.run);
        let setting = run.map(|(_, setting)| setting.clone()).unwrap_or_default();
        let named = run.and_then(|(task, _)| self.named.get(task)).cloned();
        let attached = self.attached.get(&told.run);
        self.at.insert(told.id, self.found.len());
        self.found.push(RecordedCall {
            id: told.id,
            run: told.run,
            position: told.position,
            occurred_at: told.occurred_at,
            recorded_at: told.recorded_at,
            actor: told.actor,
            tool: told.tool,
            args: told.args,
            is_removed: told.is_removed,
            cwd: setting.cwd,
            branch: setting.branch,
            mode: None,
            outcome: CallOutcome::Unknown,
            session: named.or_else(|| attached.map(Uuid::to_string)),
            allowed_by_person: None,
            was_denied: false,
            is_decided_by_others: false,
            is_stated: false,
            is_settled: false,
            replaced: None,
        });
    }

    fn finish(self, query: &CallsQuery<'_>) -> Vec<RecordedCall> {
        let mut found = self.found;
        found.retain(|call| {
            query.from.is_none_or(|from| call.position >= from)
                && query
                    .occurred_since
                    .is_none_or(|since| call.occurred_at >= since)
                && query
                    .recorded_since
                    .is_none_or(|since| call.recorded_at >= since)
        });
        found.sort_by_key(|call| call.position);
        found
    }
}
