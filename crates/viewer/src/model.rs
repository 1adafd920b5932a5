//! What pages show and the API answers of objects and events.

use std::collections::BTreeMap;

use annals::domain::ActorRef;
use annals::projections::{CatalogueRow, HistoryEntry, ObjectView, Status};
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

/// Who did something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Who {
    /// The actor's kind: human, agent, system.
    pub(crate) kind: String,
    /// The actor's id.
    pub(crate) id: String,
    /// The name that is shown, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
}

impl Who {
    pub(crate) fn of(actor: &ActorRef) -> Who {
        let name = actor.display_name.clone();
        Who {
            kind: actor.kind.to_string(),
            id: actor.id.clone(),
            name: name.filter(|name| !name.trim().is_empty()),
        }
    }
}

/// Tokens that were used.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Tokens {
    /// Prompt tokens that came neither from a cache nor went into one.
    pub(crate) uncached_input: u64,
    /// Prompt tokens read from a cache.
    pub(crate) cache_read: u64,
    /// Prompt tokens written to a cache.
    pub(crate) cache_write: u64,
    /// Completion tokens.
    pub(crate) output: u64,
    /// Their sum.
    pub(crate) total: u64,
}

impl Tokens {
    pub(crate) fn of(tokens: &annals::projections::Tokens) -> Tokens {
        Tokens {
            uncached_input: tokens.uncached_input_tokens,
            cache_read: tokens.cache_read_tokens,
            cache_write: tokens.cache_write_tokens,
            output: tokens.output_tokens,
            total: tokens.total_tokens,
        }
    }
}

/// An object in a list.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Row {
    /// The object's id.
    pub(crate) id: Uuid,
    /// What it is.
    pub(crate) kind: &'static str,
    /// Its first alias.
    pub(crate) alias: Option<String>,
    /// The first line of what it is called by; of a run, its task's title. Null where there is none, and where it was
    /// removed.
    pub(crate) title: Option<String>,
    /// Where it is in its life at the position that is shown. Null where its kind has no life, and where `is_partial`.
    pub(crate) status: Option<&'static str>,
    /// Of an intent, its status on the axis of approvals; null where another moment than now is shown and it changed
    /// since.
    pub(crate) approval: Option<&'static str>,
    /// Who caused its first event.
    pub(crate) created_by: Who,
    /// When its first event happened.
    pub(crate) created_at: String,
    /// When the last event on it happened that the log has now.
    pub(crate) updated_at: String,
    /// How much there is of what it consists of; empty where it has changed since the position that is shown.
    pub(crate) counts: BTreeMap<&'static str, u64>,
    /// Tokens that it used; null where none are known, or it has changed since the position that is shown.
    pub(crate) tokens: Option<Tokens>,
    /// The position of its first event.
    pub(crate) first_position: u64,
    /// The position of its last event that the log has now.
    pub(crate) last_position: u64,
    /// Whether it has changed since in too many events to say here how it was: its own page does.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_partial: bool,
}

impl Row {
    /// A row as it is now.
    pub(crate) fn of(row: &CatalogueRow) -> Row {
        let title = row.task_title.as_ref().or(row.title.as_ref());
        let title = title.and_then(|title| title.as_str());
        let counts = row.counts.iter().filter(|(_, count)| *count > 0);
        Row {
            id: row.id,
            kind: row.kind.object_type(),
            alias: row.aliases.first().cloned(),
            title: title.map(str::to_owned),
            status: row.status.map(Status::word),
            approval: row.approval.map(|approval| approval.as_str()),
            created_by: Who {
                kind: row.created_by.kind.clone(),
                id: row.created_by.id.clone(),
                name: None,
            },
            created_at: row.created_at.to_string(),
            updated_at: row.updated_at.to_string(),
            counts: counts.copied().collect(),
            tokens: row.tokens.as_ref().map(Tokens::of),
            first_position: row.first_position.0,
            last_position: row.last_position.0,
            is_partial: false,
        }
    }

    /// The same without what was counted of later events, too.
    pub(crate) fn earlier(self, status: Option<&'static str>, is_partial: bool) -> Row {
        Row {
            status,
            approval: None,
            counts: BTreeMap::new(),
            tokens: None,
            is_partial,
            ..self
        }
    }

    /// What it is called by, on one line.
    pub(crate) fn name(&self) -> String {
        match (&self.title, &self.alias) {
            (Some(title), _) if !title.trim().is_empty() => title.clone(),
            (_, Some(alias)) => alias.clone(),
            _ => format!("{} {}", self.kind.replace('_', " "), short(self.id)),
        }
    }
}

/// An id's last digits, which commands take for the id.
pub(crate) fn short(id: Uuid) -> String {
    let digits = id.simple().to_string();
    digits.get(24..).unwrap_or_default().to_owned()
}

/// Where a view is in its life, if its kind has one that lists show.
pub(crate) fn status_of(view: &ObjectView) -> Option<&'static str> {
    let status: Status = match view {
        ObjectView::Intent(view) => view.status().into(),
        ObjectView::Task(view) => return Some(view.status().name()),
        ObjectView::Run(view) => return Some(view.status().name()),
        ObjectView::PatchSet(view) => view.status().into(),
        ObjectView::ToolInvocation(view) => view.status().into(),
        ObjectView::Session(view) => view.status().into(),
        ObjectView::ContextSnapshot(view) if view.finalized => Status::Finalized,
        ObjectView::ContextSnapshot(_) => Status::Open,
        ObjectView::Observation(view) => view.status(),
        ObjectView::Plan(_)
        | ObjectView::Evidence(_)
        | ObjectView::Decision(_)
        | ObjectView::Provenance(_)
        | ObjectView::ContextPipeline(_) => return None,
    };
    Some(status.word())
}

/// An event in a history.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct EventRow {
    /// Its place in the log.
    pub(crate) position: u64,
    /// Its place in its stream.
    pub(crate) version: u64,
    /// The name of its type.
    pub(crate) event_type: String,
    /// When it happened, by its author's clock.
    pub(crate) occurred_at: String,
    /// When the log took it, by its own clock.
    pub(crate) recorded_at: String,
    /// Who caused it.
    pub(crate) actor: Who,
    /// What changed, in one line.
    pub(crate) summary: String,
    /// The object whose stream it is in, if it is one.
    pub(crate) object: Option<Named>,
}

/// An object that something names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Named {
    /// What it is.
    pub(crate) kind: &'static str,
    /// Its id.
    pub(crate) id: Uuid,
}

impl EventRow {
    pub(crate) fn of(entry: &HistoryEntry, object: Option<Named>) -> EventRow {
        EventRow {
            position: entry.position.0,
            version: entry.version.0,
            event_type: entry.event_type.to_owned(),
            occurred_at: entry.occurred_at.to_string(),
            recorded_at: entry.recorded_at.to_string(),
            actor: Who::of(&entry.actor),
            summary: entry.summary.clone(),
            object,
        }
    }
}
