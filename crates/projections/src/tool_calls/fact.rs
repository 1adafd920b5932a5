//! What one record says of tool calls, free of the log: made of many records at once.

use std::collections::HashMap;

use annals_domain::{
    ActorKind, AnyEvent, Kind, RunId, Slot, StoredEnvironment, TaskId, Timestamp, ToolInvocationId,
    metadata, run, session, task,
};
use annals_event_log::{Digest, Position, ReadError, Record, Store};
use bytes::Bytes;
use rayon::prelude::*;
use uuid::Uuid;

use crate::{Entry, EntryError};

/// The types of events that say something, in the order in which they are read: first where runs are and what agents
/// call their sessions, then what was called, then what was decided on it.
pub(super) const TYPES: [&str; 9] = [
    "task.metadata_set",
    "session.run_attached",
    "run.created",
    "run.tool_requested",
    "run.tool_invoked",
    "run.tool_invocation_adopted",
    "run.tool_begun",
    "run.tool_ended",
    "run.tool_decided",
];
/// Of these nothing but the structure is needed.
const BARE: [&str; 2] = ["run.tool_begun", "run.tool_ended"];
/// How the external id ends that says what an agent calls a task's session.
const SESSION: &str = ".session";

/// What a record says.
#[derive(Debug)]
pub(super) enum Fact {
    /// What an agent calls the session that a task is of.
    Session(TaskId, String),
    /// A run is one of a session of this log.
    Attached(RunId, Uuid),
    /// Where a run is, and of which task.
    Run(RunId, TaskId, Setting),
    /// What was called; whether it is over.
    Call(Box<Told>, bool),
    /// A call ran.
    Ran(ToolInvocationId),
    /// Something decided on a call.
    Decided(Decided),
    /// Nothing.
    Nothing,
}

/// Where a run is.
#[derive(Debug, Clone, Default)]
pub(super) struct Setting {
    pub(super) cwd: Option<String>,
    pub(super) branch: Option<String>,
}

/// What a record says of a call.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) id: ToolInvocationId,
    pub(super) run: RunId,
    pub(super) position: Position,
    pub(super) occurred_at: Timestamp,
    pub(super) recorded_at: Timestamp,
    pub(super) actor: String,
    pub(super) tool: Option<String>,
    pub(super) args: Option<String>,
    pub(super) is_removed: bool,
}

/// A decision on a call.
#[derive(Debug)]
pub(super) struct Decided {
    pub(super) call: ToolInvocationId,
    pub(super) position: Position,
    pub(super) verdict: run::ToolVerdict,
    pub(super) by: run::ToolDecider,
    /// Whether a person recorded it as their own, or an import of a person's did.
    pub(super) is_by_person: bool,
    pub(super) inferred: bool,
    /// Whether telemetry reported it.
    pub(super) is_reported: bool,
    pub(super) mode: Option<String>,
}

/// Records with the content that is not in them.
#[derive(Debug)]
pub(super) struct Page {
    records: Vec<Record>,
    blobs: HashMap<Digest, Bytes>,
}

impl Page {
    /// Fetches what records lack.
    pub(super) async fn complete(log: &dyn Store, records: Vec<Record>) -> Result<Page, ReadError> {
        let mut blobs = HashMap::new();
        for record in records.iter().filter(|it| !is_bare(it)) {
            blobs.extend(Entry::fetch(log, record).await?);
        }
        Ok(Page { records, blobs })
    }

    /// What they say, on all processors.
    pub(super) fn facts(&self) -> Result<Vec<Fact>, EntryError> {
        let facts = self.records.par_iter().map(|record| self.fact(record));
        let facts: Vec<Result<Fact, EntryError>> = facts.collect();
        facts.into_iter().collect()
    }

    fn fact(&self, record: &Record) -> Result<Fact, EntryError> {
        if !is_bare(record) {
            return Ok(read(&Entry::new(record, &self.blobs)?));
        }
        let position = record.position();
        let decoded = annals_wire::decode_event_of(record);
        let (_, event) = decoded.map_err(|source| EntryError::Decode { position, source })?;
        Ok(match event {
            AnyEvent::Run(event) => run::call_of(&event).map_or(Fact::Nothing, Fact::Ran),
            _ => Fact::Nothing,
        })
    }
}

fn is_bare(record: &Record) -> bool {
    BARE.contains(&record.event_type())
}

fn read(entry: &Entry) -> Fact {
    match &entry.event {
        AnyEvent::Task(task::Event::MetadataSet(event)) => named(entry, event),
        AnyEvent::Session(session::Event::RunAttached(event)) => {
            Fact::Attached(event.run, entry.stream.id)
        }
        AnyEvent::Run(event) => of_run(entry, event),
        _ => Fact::Nothing,
    }
}

fn named(entry: &Entry, event: &metadata::MetadataSet) -> Fact {
    if Kind::from_number(event.kind) != Some(Kind::Task) {
        return Fact::Nothing;
    }
    let mut ids = event.external_ids.iter().flatten();
    let is_session = |slot: Slot| {
        let name = entry.text(slot);
        name.as_str().is_some_and(|name| name.ends_with(SESSION))
    };
    let found = ids.find(|(name, _)| is_session(*name));
    let session = found.and_then(|(_, session)| entry.text(*session).as_str().map(str::to_owned));
    session.map_or(Fact::Nothing, |session| {
        Fact::Session(TaskId(event.object), session)
    })
}

fn of_run(entry: &Entry, event: &run::Event) -> Fact {
    let told = |id, tool, args| Box::new(Told::of(entry, id, tool, args));
    match event {
        run::Event::Created(event) => {
            let setting = event.environment.as_ref().map(|it| setting(entry, it));
            Fact::Run(
                RunId(entry.stream.id),
                event.task,
                setting.unwrap_or_default(),
            )
        }
        run::Event::ToolRequested(event) => Fact::Call(
            told(event.tool_invocation, event.tool_name, event.args),
            false,
        ),
        run::Event::ToolInvoked(event) => Fact::Call(
            told(event.tool_invocation, event.tool_name, event.args),
            true,
        ),
        run::Event::ToolInvocationAdopted(event) => {
            let event = &event.invocation;
            Fact::Call(
                told(event.tool_invocation, event.tool_name, event.args),
                true,
            )
        }
        run::Event::ToolDecided(event) => Fact::Decided(Decided {
            call: event.tool_invocation,
            position: entry.position,
            verdict: event.verdict,
            by: event.by,
            is_by_person: event.is_persons()
                && entry.actor.kind == ActorKind::Human
                && entry.actor.may_be_imported_by_a_person(),
            inferred: event.inferred,
            is_reported: event.is_reported(),
            mode: event.permission_mode.and_then(|slot| present(entry, slot)),
        }),
        _ => Fact::Nothing,
    }
}

fn present(entry: &Entry, slot: Slot) -> Option<String> {
    entry.text(slot).as_str().map(str::to_owned)
}

fn setting(entry: &Entry, environment: &StoredEnvironment) -> Setting {
    let mut extra = environment.extra.iter();
    let branch = extra.find(|(name, _)| entry.text(*name).as_str() == Some("git_branch"));
    Setting {
        cwd: present(entry, environment.cwd).filter(|cwd| cwd.starts_with('/')),
        branch: branch.and_then(|(_, value)| {
            serde_json::from_str::<String>(entry.json(*value).json()?.text()).ok()
        }),
    }
}

impl Told {
    fn of(entry: &Entry, id: ToolInvocationId, tool: Slot, args: Option<Slot>) -> Told {
        let tool = present(entry, tool);
        let args = args.map(|slot| entry.json(slot));
        let has_args = args.as_ref().is_none_or(|args| args.json().is_some());
        Told {
            id,
            run: RunId(entry.stream.id),
            position: entry.position,
            occurred_at: entry.occurred_at,
            recorded_at: entry.recorded_at,
            actor: entry.actor.id.clone(),
            is_removed: tool.is_none() || !has_args,
            tool,
            args: args.and_then(|args| Some(args.json()?.text().to_owned())),
        }
    }
}
