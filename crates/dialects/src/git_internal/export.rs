//! `export git-internal`: the objects' JSON, rendered from their folded state.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use annals::{Annals, At, LoadError};
use annals_domain::pipeline::EvictionPolicy;
use annals_domain::{AnyEvent, GitOid, Kind, run};
use annals_event_log::{Position, ReadError};
use annals_projections::{Entry, Fold, ObjectView};
use annals_wire::Decoded;
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use super::error::GitInternalExportError;
use super::object::Object;
use crate::Progress;
use crate::pages::{first, page};

/// An object's JSON, and what git-internal 0.6.0 could not read of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    /// What it is.
    pub kind: Kind,
    /// Which one it is.
    pub id: Uuid,
    /// The JSON, compact.
    pub json: String,
    /// What git-internal could not read, field by field. A strict export
    /// refuses an object with any.
    pub problems: Vec<String>,
    /// What git-internal has no place for, so that the JSON does not say it.
    pub lost: Vec<String>,
}

/// What an export did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ExportReport {
    /// Objects that were written.
    pub written: u64,
    /// Objects that were not, since git-internal could not read them.
    pub refused: u64,
    /// Those that were refused, or written although git-internal cannot read
    /// them, the first 100, with the reasons.
    pub problems: Vec<ObjectProblems>,
    /// Objects that were written without something that git-internal has no
    /// place for.
    pub incomplete: u64,
    /// The first 100 of them, with what is left out.
    pub lost: Vec<ObjectLosses>,
}

/// An object of which something is left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ObjectLosses {
    /// What it is.
    pub object_type: String,
    /// Which one it is.
    pub object_id: Uuid,
    /// What is left out.
    pub lost: Vec<String>,
}

/// An object that git-internal cannot read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ObjectProblems {
    /// What it is.
    pub object_type: String,
    /// Which one it is.
    pub object_id: Uuid,
    /// Why, field by field.
    pub problems: Vec<String>,
}

/// How many objects with problems a report names.
const NAMED: usize = 100;

impl ExportReport {
    /// Counts an object, and says whether it is to be written.
    pub fn admit(&mut self, rendered: &Rendered, relaxed: bool) -> bool {
        let writes = relaxed || rendered.problems.is_empty();
        if writes {
            self.written += 1;
        } else {
            self.refused += 1;
        }
        if !rendered.problems.is_empty() && self.problems.len() < NAMED {
            self.problems.push(ObjectProblems {
                object_type: rendered.kind.to_string(),
                object_id: rendered.id,
                problems: rendered.problems.clone(),
            });
        }
        if writes && !rendered.lost.is_empty() {
            self.incomplete += 1;
            if self.lost.len() < NAMED {
                self.lost.push(ObjectLosses {
                    object_type: rendered.kind.to_string(),
                    object_id: rendered.id,
                    lost: rendered.lost.clone(),
                });
            }
        }
        writes
    }
}

/// What git-internal has no place for.
fn losses(view: &ObjectView) -> Vec<String> {
    match view {
        ObjectView::ContextPipeline(of) if *of.policy() != EvictionPolicy::default() => {
            vec![format!(
                "the eviction policy {}: git-internal knows max_frames alone, and {} is written",
                of.policy(),
                of.max_frames()
            )]
        }
        ObjectView::ToolInvocation(of) if !of.life.decisions.is_empty() => {
            let reason = "the decisions on it: git-internal has no place for them";
            vec![reason.to_owned()]
        }
        _ => Vec::new(),
    }
}

/// Renders an object.
///
/// # Errors
/// [`LoadError::Render`].
pub fn render(view: &ObjectView) -> Result<Rendered, LoadError> {
    let json = view.to_json().map_err(LoadError::Render)?;
    let mut problems = commit_problems(view);
    // Another reader cannot be expected to read what our own one refuses.
    if let Err(error) = Object::read(&json, &RefCell::default()) {
        let removed = removed(&json).into_iter();
        let error = error.to_string();
        let place = error.split(": ").next().unwrap_or_default();
        // A list of texts is read, and refused, as a whole.
        let is_of = |path: &String| {
            let below = path.strip_prefix(place);
            below.is_some_and(|rest| rest.is_empty() || rest.starts_with(['[', '.']))
        };
        problems.push(match removed.rev().find(is_of) {
            Some(path) => format!("{path}: its content was removed, and git-internal demands it"),
            None => error,
        });
    }
    Ok(Rendered {
        kind: view.kind(),
        id: view.id(),
        json,
        problems,
        lost: losses(view),
    })
}

/// Where an object's JSON says that content was removed.
fn removed(json: &str) -> Vec<String> {
    fn find(value: &Value, path: &str, found: &mut Vec<String>) {
        match value {
            Value::Object(members)
                if members.len() == 1 && members.get("removed") == Some(&Value::Bool(true)) =>
            {
                found.push(path.to_owned());
            }
            Value::Object(members) => members.iter().for_each(|(name, value)| {
                let dot = if path.is_empty() { "" } else { "." };
                find(value, &format!("{path}{dot}{name}"), found);
            }),
            Value::Array(items) => items.iter().enumerate().for_each(|(index, value)| {
                find(value, &format!("{path}[{index}]"), found);
            }),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    let mut found = Vec::new();
    if let Ok(value) = serde_json::from_str(json) {
        find(&value, "", &mut found);
    }
    found
}

/// git-internal reads commits of 64 hex digits only, and demands one of runs
/// and patch sets.
fn commit_problems(view: &ObjectView) -> Vec<String> {
    let (field, commit, needed) = match view {
        ObjectView::Intent(of) => ("commit", of.commit, false),
        ObjectView::Run(of) => ("commit", of.commit, true),
        ObjectView::PatchSet(of) => ("commit", of.commit, true),
        ObjectView::Decision(of) => ("result_commit_sha", of.result_commit_sha, false),
        ObjectView::Plan(_)
        | ObjectView::Task(_)
        | ObjectView::Evidence(_)
        | ObjectView::Provenance(_)
        | ObjectView::ToolInvocation(_)
        | ObjectView::ContextSnapshot(_)
        | ObjectView::ContextPipeline(_)
        | ObjectView::Session(_)
        | ObjectView::Observation(_) => return Vec::new(),
    };
    match commit {
        Some(GitOid::Sha256(_)) => Vec::new(),
        Some(GitOid::Sha1(_)) => vec![format!(
            "{field}: it is a SHA-1 of 40 hex digits, and git-internal reads 64"
        )],
        None if needed => vec![format!(
            "{field}: git-internal demands one, and there is none"
        )],
        None => Vec::new(),
    }
}

/// Gives every object of the log to `each`, as of now, oldest first.
/// `progress` counts records.
///
/// # Errors
/// [`GitInternalExportError`].
pub async fn each_object(
    annals: &Annals,
    progress: &mut dyn FnMut(Progress),
    each: &mut dyn FnMut(Rendered),
) -> Result<(), GitInternalExportError> {
    let end = annals.position();
    let mut walk = Walk {
        annals,
        end,
        later: later(annals, end).await?,
        seen: HashSet::new(),
    };
    let mut next = first(end);
    while let Some(from) = next {
        let records;
        (records, next) = page(annals, from, end).await?;
        for record in &records {
            let decoded = annals_wire::decode(record).map_err(LoadError::from)?;
            if let Some(view) = walk.created(&decoded).await? {
                each(render(&view)?);
            }
        }
        progress(Progress {
            done: next.unwrap_or(end.0),
            total: end.0,
        });
    }
    Ok(())
}

/// Whether git-internal has objects like it: of tool calls those that ended.
fn has_ended(view: &ObjectView) -> bool {
    match view {
        ObjectView::ToolInvocation(call) => call.status().ended().is_some(),
        _ => true,
    }
}

/// Where later events on a run's objects are: few objects have any, and to look
/// for them in their run's stream would take as long as the run is.
#[derive(Debug, Default)]
struct Later {
    /// By the object.
    events: HashMap<Uuid, Vec<Position>>,
    /// Tokens used, by the run.
    usage: HashMap<Uuid, Vec<Position>>,
}

async fn later(annals: &Annals, end: Position) -> Result<Later, GitInternalExportError> {
    let mut later = Later::default();
    let mut next = first(end);
    while let Some(from) = next {
        let records;
        (records, next) = page(annals, from, end).await?;
        for record in &records {
            if !record.event_type().starts_with("run.") {
                continue;
            }
            let decoded = annals_wire::decode(record).map_err(LoadError::from)?;
            later.note(&decoded);
        }
    }
    Ok(later)
}

impl Later {
    fn note(&mut self, decoded: &Decoded) {
        let (run, position) = (decoded.stream.id, decoded.record.position());
        if matches!(decoded.event, AnyEvent::Run(run::Event::UsageRecorded(_))) {
            self.usage.entry(run).or_default().push(position);
            return;
        }
        let call = match &decoded.event {
            AnyEvent::Run(event) => run::call_of(event),
            _ => None,
        };
        // Any event on a tool call may be the first; most calls have one that tells of all.
        let is_later = match call {
            Some(call) if is_told_at_once(&decoded.event) => self.events.contains_key(&call.0),
            Some(_) => true,
            None => decoded.event.creates(run).is_none(),
        };
        if !is_later && decoded.event.adoption().is_none() {
            return;
        }
        for (kind, id) in decoded.event.touches(run) {
            if kind != Kind::Run {
                self.events.entry(id).or_default().push(position);
            }
        }
    }
}

/// Whether an event tells of a tool call as one that is over.
fn is_told_at_once(event: &AnyEvent) -> bool {
    matches!(event, AnyEvent::Run(run::Event::ToolInvoked(_)))
}

struct Walk<'a> {
    annals: &'a Annals,
    end: Position,
    later: Later,
    /// Objects of which a later event may look like the first: those that were adopted, and tool calls.
    seen: HashSet<Uuid>,
}

impl Walk<'_> {
    /// The object that a record creates, as it is at the end.
    async fn created(
        &mut self,
        decoded: &Decoded,
    ) -> Result<Option<ObjectView>, GitInternalExportError> {
        let Some((kind, id)) = decoded.event.creates(decoded.stream.id) else {
            return Ok(None);
        };
        if !kind.is_git_internal() {
            return Ok(None);
        }
        let is_seen = match kind {
            Kind::ToolInvocation => self.seen.contains(&id),
            _ => decoded.event.adoption().is_some() && !self.seen.insert(id),
        };
        if is_seen {
            return Ok(None);
        }
        if kind == Kind::ToolInvocation
            && (decoded.event.adoption().is_some() || self.later.events.contains_key(&id))
        {
            self.seen.insert(id);
        }
        if decoded.stream.kind.kind() == Some(kind) {
            let view = self.annals.view_at(id, At::Position(self.end)).await?;
            return Ok(Some(view));
        }
        let own = decoded.record.position();
        let mut positions = self.later.events.remove(&id).unwrap_or_default();
        if kind == Kind::Provenance {
            let usage = self.later.usage.get(&decoded.stream.id);
            positions.extend(usage.into_iter().flatten());
        }
        positions.push(own);
        positions.sort_unstable();
        positions.dedup();
        let mut fold = Fold::new(kind, id);
        for position in positions {
            fold.apply(&self.entry(position).await?);
        }
        Ok(fold.view().filter(has_ended))
    }

    async fn entry(&self, position: Position) -> Result<Entry, GitInternalExportError> {
        let record = self
            .annals
            .contents()
            .record(position)
            .await?
            .ok_or_else(|| {
                let reason = format!("record {position} is not there");
                ReadError::Corrupt { reason }
            })?;
        Ok(self.annals.contents().entry(&record).await?)
    }
}
