//! The content of one event, as its object shows it, also where it was removed.
//!
//! The structure of an event stays when its content is removed: what that says is
//! shown, and `[removed]` stands for the rest, or the stand-in of a name.

use std::cell::Cell;

use annals_domain::session as log;
use annals_domain::session::{
    Artifact, Base64Bytes, CommandBody, ItemStatus, RepoRef, StoredRepo, TaskNode, TaskPlan,
    WorkItemDetails, WorkItemSummary,
};
use annals_domain::{Json, Slot};
use annals_projections::{Entry, JsonText, PieceValue, Text};
use serde::Serialize;
use serde::de::DeserializeOwned;
use uuid::Uuid;

use super::remains::{remains, removed};

/// The content of one event.
pub(super) struct Content<'a> {
    entry: &'a Entry,
    /// Whether some of it was requested and is not there.
    incomplete: Cell<bool>,
}

impl<'a> Content<'a> {
    pub(super) fn of(entry: &'a Entry) -> Content<'a> {
        Content {
            entry,
            incomplete: Cell::new(false),
        }
    }

    /// Whether some of what was shown is not there.
    pub(super) fn is_incomplete(&self) -> bool {
        self.incomplete.get()
    }

    pub(super) fn text(&self, slot: Slot) -> String {
        let text = self.entry.text(slot);
        if text == Text::Removed {
            self.incomplete.set(true);
        }
        text.to_string()
    }

    pub(super) fn optional_text(&self, slot: Option<Slot>) -> Option<String> {
        slot.map(|slot| self.text(slot))
    }

    /// What was stored as JSON, unless it was removed.
    fn value<T: DeserializeOwned>(&self, slot: Slot) -> Option<T> {
        let value = match self.entry.json(slot) {
            JsonText::Present(json) => serde_json::from_str(json.text()).ok(),
            JsonText::Removed => None,
        };
        if value.is_none() {
            self.incomplete.set(true);
        }
        value
    }

    pub(super) fn repo(&self, repo: StoredRepo) -> RepoRef {
        RepoRef::new(self.text(repo.name), self.text(repo.path))
    }

    pub(super) fn artifact(&self, event: &log::ArtifactAvailable) -> Artifact {
        Artifact::new(event.kind, self.text(event.name))
            .with_inline_text(self.optional_text(event.inline_text))
            .with_path_hint(self.optional_text(event.path_hint))
            .with_download_uri(self.optional_text(event.download_uri))
            .with_content_type(self.optional_text(event.content_type))
    }

    pub(super) fn plan(&self, event: &log::PlanUpdated) -> TaskPlan {
        let node = |id: &String| TaskNode::new(id.clone(), removed());
        let plan = self.value(event.plan);
        plan.unwrap_or_else(|| TaskPlan::new(event.nodes.iter().map(node).collect()))
    }

    pub(super) fn backlog(&self, event: &log::BacklogQueried) -> Vec<WorkItemSummary> {
        let summary = |item: &ItemStatus| {
            WorkItemSummary::new(item.id.clone(), removed(), item.status.clone())
        };
        let rows = self.value(event.rows);
        rows.unwrap_or_else(|| event.items.iter().map(summary).collect())
    }

    pub(super) fn work_item(&self, event: &log::WorkItemQueried) -> WorkItemDetails {
        let details = self.value(event.details);
        details.unwrap_or_else(|| {
            WorkItemDetails::new(
                event.item.id.clone(),
                removed(),
                removed(),
                event.item.status.clone(),
            )
        })
    }

    /// What a command asks for. `file` is a file's content, where that is stored by
    /// itself.
    pub(super) fn command(&self, event: &log::CommandReceived, file: Option<&[u8]>) -> CommandBody {
        let body = self.value(event.body);
        let mut body = body.unwrap_or_else(|| remains(&event.facts));
        if let (CommandBody::UploadArtifact(upload), Some(slot)) = (&mut body, event.file) {
            upload.content = Base64Bytes(self.file(slot, file));
        }
        body
    }

    fn file(&self, slot: Slot, fetched: Option<&[u8]>) -> Vec<u8> {
        let stored = match self.entry.pieces.get(usize::from(slot.0)) {
            Some(PieceValue::Attachment { .. }) => fetched.map(<[u8]>::to_vec),
            Some(PieceValue::Bytes(bytes)) => Some(bytes.to_vec()),
            Some(PieceValue::Removed) | None => None,
        };
        if stored.is_none() {
            self.incomplete.set(true);
        }
        stored.unwrap_or_default()
    }

    /// An object of an unknown kind; where it was removed, one that says so.
    pub(super) fn foreign(&self, event: &log::ForeignRecorded) -> Option<Json> {
        if let Text::Present(text) = self.entry.text(event.raw)
            && let Ok(json) = Json::parse(&text)
        {
            return Some(json);
        }
        self.incomplete.set(true);
        let stub = RemovedObject {
            removed: true,
            id: self.entry.event_id,
            correlation: RemovedCorrelation {
                session_id: self.entry.stream.id,
            },
            kind: &event.kind,
        };
        // It has no map, so that it can always be written.
        Json::from_value(&stub).ok()
    }
}

/// What stands for an object of an unknown kind that was removed.
#[derive(Serialize)]
struct RemovedObject<'a> {
    removed: bool,
    id: Uuid,
    correlation: RemovedCorrelation,
    kind: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RemovedCorrelation {
    session_id: Uuid,
}
