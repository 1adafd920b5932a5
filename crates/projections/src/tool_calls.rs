//! The tool calls of a log, each with what is needed to judge it again: what was called, where, by
//! whom, and what became of it.

use std::collections::HashMap;

use annals_domain::{AnyEvent, RunId, Slot, Timestamp, ToolInvocationId, run};
use annals_event_log::{Classification, Classified, Position, Query, ReadError, Record, Store};
use derive_setters::Setters;
use serde::Serialize;

use crate::{Entry, EntryError};

/// Records read at once.
const PAGE: usize = 1_000;

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
    /// The arguments, as JSON; none, if there are none, or they were removed.
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
    /// The agent's session, by the agent's own name, if that is known.
    pub session: Option<String>,
    /// Whether a person allowed it, if a person decided last.
    pub allowed_by_person: Option<bool>,
    /// Whether anybody or anything ever denied it.
    pub was_denied: bool,
    /// Whether anything but a person decided on it.
    is_decided_by_others: bool,
    /// Whether a decision of such was stated.
    is_stated: bool,
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
}

impl Classified for CallsError {
    fn classify(&self) -> Classification {
        match self {
            CallsError::Read(error) => error.classify(),
            CallsError::Entry(error) => error.classify(),
        }
    }
}

/// Where a run is.
#[derive(Debug, Clone, Default)]
struct Setting {
    cwd: Option<String>,
    branch: Option<String>,
}

/// The tool calls of a log, by position.
///
/// # Errors
/// [`CallsError`].
pub async fn recorded_calls(
    log: &dyn Store,
    mut query: CallsQuery<'_>,
) -> Result<Vec<RecordedCall>, CallsError> {
    let mut calls = Calls {
        from: query.from.unwrap_or(Position::START),
        occurred_since: query.occurred_since,
        recorded_since: query.recorded_since,
        ..Calls::default()
    };
    let through = query.through.unwrap_or_else(|| log.watermark());
    let mut read = 0;
    for name in calls.types() {
        // Where runs are is needed of those before, too.
        let mut next = Some(Position(1).0);
        while let Some(from) = next {
            let page = log
                .read(Query::event_type(name, Position(from)).limit(PAGE))
                .await?;
            for record in page.records.iter().filter(|it| it.position() <= through) {
                let entry = entry(log, record).await?;
                calls.take(&entry);
            }
            read += page.records.len() as u64;
            if let Some(progress) = query.progress.as_mut() {
                progress(read);
            }
            next = page.next.filter(|next| *next <= through.0);
        }
    }
    Ok(calls.finish())
}

async fn entry(log: &dyn Store, record: &Record) -> Result<Entry, CallsError> {
    let mut blobs = HashMap::new();
    for digest in Entry::wanted(record) {
        if let Some(blob) = log.blob(digest).await? {
            blobs.insert(digest, blob);
        }
    }
    Ok(Entry::new(record, &blobs)?)
}

/// The calls so far.
#[derive(Default)]
struct Calls {
    from: Position,
    occurred_since: Option<Timestamp>,
    recorded_since: Option<Timestamp>,
    settings: HashMap<RunId, Setting>,
    found: Vec<RecordedCall>,
    at: HashMap<ToolInvocationId, usize>,
}

impl Calls {
    /// The types of events, in the order in which they are read: first where runs are, then what was
    /// called, then what was decided on it.
    fn types(&self) -> [&'static str; 6] {
        [
            "run.created",
            "run.tool_requested",
            "run.tool_invoked",
            "run.tool_begun",
            "run.tool_ended",
            "run.tool_decided",
        ]
    }

    fn take(&mut self, entry: &Entry) {
        let AnyEvent::Run(event) = &entry.event else {
            return;
        };
        let run = RunId(entry.stream.id);
        match event {
            run::Event::Created(created) => {
                let Some(environment) = &created.environment else {
                    return;
                };
                let present = |slot| entry.text(slot).as_str().map(str::to_owned);
                let cwd = present(environment.cwd).filter(|cwd| cwd.starts_with('/'));
                let mut extra = environment.extra.iter();
                let branch =
                    extra.find(|(name, _)| entry.text(*name).as_str() == Some("git_branch"));
                let branch = branch.and_then(|(_, value)| {
                    serde_json::from_str::<String>(entry.json(*value).json()?.text()).ok()
                });
                self.settings.insert(run, Setting { cwd, branch });
            }
            run::Event::ToolInvoked(invoked) => {
                let told = Told::of(entry, invoked.tool_name, invoked.args);
                self.call(entry, run, invoked.tool_invocation, told);
                self.ran(invoked.tool_invocation);
            }
            run::Event::ToolBegun(begun) => self.ran(begun.tool_invocation),
            run::Event::ToolEnded(ended) => self.ran(ended.tool_invocation),
            run::Event::ToolRequested(requested) => {
                let told = Told::of(entry, requested.tool_name, requested.args);
                self.call(entry, run, requested.tool_invocation, told);
            }
            run::Event::ToolDecided(decided) => self.decided(entry, decided),
            _ => {}
        }
    }

    fn ran(&mut self, id: ToolInvocationId) {
        let call = self.at.get(&id).and_then(|at| self.found.get_mut(*at));
        if let Some(call) = call.filter(|it| it.outcome == CallOutcome::Unknown) {
            call.outcome = CallOutcome::Ran;
        }
    }

    /// What a person decided was asked before. Of what others decided the last one counts, and what was stated before
    /// what was inferred.
    fn decided(&mut self, entry: &Entry, decided: &run::ToolDecided) {
        let at = self.at.get(&decided.tool_invocation);
        let Some(call) = at.and_then(|at| self.found.get_mut(*at)) else {
            // Nothing says what was called.
            return;
        };
        let is_denied = decided.verdict == run::ToolVerdict::Deny;
        call.was_denied |= is_denied;
        let mode = decided.permission_mode.map(|slot| entry.text(slot));
        if let Some(mode) = mode.as_ref().and_then(|mode| mode.as_str()) {
            call.mode = Some(mode.to_owned());
        }
        if decided.by == run::ToolDecider::Person {
            call.allowed_by_person = Some(!is_denied);
            if !call.is_decided_by_others {
                call.outcome = CallOutcome::Asked;
            }
            return;
        }
        if decided.inferred && call.is_stated {
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

    /// A record that says what was called. Of several the later one, which tells of the call as a whole, knows best.
    fn call(&mut self, entry: &Entry, run: RunId, id: ToolInvocationId, told: Told) {
        let known = self.at.get(&id).and_then(|at| self.found.get_mut(*at));
        if let Some(call) = known {
            call.is_removed &= told.is_removed;
            call.tool = told.tool.or(call.tool.take());
            call.args = told.args.or(call.args.take());
            if entry.position < call.position {
                call.position = entry.position;
                call.occurred_at = entry.occurred_at;
                call.recorded_at = entry.recorded_at;
            }
            return;
        }
        let setting = self.settings.get(&run).cloned().unwrap_or_default();
        self.at.insert(id, self.found.len());
        self.found.push(RecordedCall {
            id,
            run,
            position: entry.position,
            occurred_at: entry.occurred_at,
            recorded_at: entry.recorded_at,
            actor: entry.actor.id.clone(),
            tool: told.tool,
            args: told.args,
            is_removed: told.is_removed,
            cwd: setting.cwd,
            branch: setting.branch,
            mode: None,
            outcome: CallOutcome::Unknown,
            session: None,
            allowed_by_person: None,
            was_denied: false,
            is_decided_by_others: false,
            is_stated: false,
        });
    }

    fn finish(self) -> Vec<RecordedCall> {
        let Calls {
            from,
            occurred_since,
            recorded_since,
            mut found,
            ..
        } = self;
        found.retain(|call| {
            call.position >= from
                && occurred_since.is_none_or(|since| call.occurred_at >= since)
                && recorded_since.is_none_or(|since| call.recorded_at >= since)
        });
        found.sort_by_key(|call| call.position);
        found
    }
}

/// What a record says of a call.
struct Told {
    tool: Option<String>,
    args: Option<String>,
    is_removed: bool,
}

impl Told {
    fn of(entry: &Entry, tool: Slot, args: Option<Slot>) -> Told {
        let tool = entry.text(tool);
        let args = args.map(|slot| entry.json(slot));
        let has_args = args.as_ref().is_none_or(|args| args.json().is_some());
        Told {
            is_removed: tool.as_str().is_none() || !has_args,
            tool: tool.as_str().map(str::to_owned),
            args: args.and_then(|args| Some(args.json()?.text().to_owned())),
        }
    }
}
