//! The view of an intent (document 000, Intent).

use std::fmt;

use annals_domain::intent::Event;
use annals_domain::{AnyEvent, GitOid, IntentId, PlanId, Timestamp};
use serde::Serialize;

use crate::object::Project;
use crate::{Entry, HeaderView, Text};

/// Where an intent is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum IntentStatus {
    /// The prompt is recorded.
    Draft,
    /// It was interpreted and work is going on.
    Active,
    /// All work on it is finished.
    Completed,
    /// It was abandoned.
    Cancelled,
}

impl IntentStatus {
    /// The word that the JSON has.
    pub fn as_str(self) -> &'static str {
        match self {
            IntentStatus::Draft => "draft",
            IntentStatus::Active => "active",
            IntentStatus::Completed => "completed",
            IntentStatus::Cancelled => "cancelled",
        }
    }
}

impl fmt::Display for IntentStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One status of an intent's history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct IntentStatusEntry {
    /// The status.
    pub status: IntentStatus,
    /// Since when.
    pub changed_at: Timestamp,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Text>,
}

/// A request with its structured interpretation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct IntentView {
    /// The common header.
    #[serde(flatten)]
    pub header: HeaderView,
    /// The request, verbatim.
    pub prompt: Text,
    /// The interpretation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<Text>,
    /// The intent that it refines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<IntentId>,
    /// The resulting git commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<GitOid>,
    /// The latest plan revision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanId>,
    /// Every status that it had, oldest first.
    pub statuses: Vec<IntentStatusEntry>,
}

impl IntentView {
    /// Its status now.
    pub fn status(&self) -> IntentStatus {
        self.statuses
            .last()
            .map_or(IntentStatus::Draft, |entry| entry.status)
    }

    fn becomes(&mut self, status: IntentStatus, reason: Option<Text>, entry: &Entry) {
        self.statuses.push(IntentStatusEntry {
            status,
            changed_at: entry.occurred_at,
            reason,
        });
    }
}

impl Project for IntentView {
    fn create(header: HeaderView, entry: &Entry) -> Option<IntentView> {
        let AnyEvent::Intent(Event::Submitted(event)) = &entry.event else {
            return None;
        };
        let mut view = IntentView {
            header,
            prompt: entry.text(event.prompt),
            content: None,
            parent: event.refines,
            commit: None,
            plan: None,
            statuses: Vec::new(),
        };
        view.becomes(IntentStatus::Draft, None, entry);
        Some(view)
    }

    fn evolve(&mut self, entry: &Entry) {
        let AnyEvent::Intent(event) = &entry.event else {
            return;
        };
        match event {
            Event::Analyzed(event) => self.content = Some(entry.text(event.content)),
            Event::Activated(event) => {
                self.becomes(
                    IntentStatus::Active,
                    entry.optional_text(event.reason),
                    entry,
                );
            }
            Event::PlanSelected(event) => self.plan = Some(event.plan),
            Event::CommitRecorded(event) => self.commit = Some(event.commit),
            Event::Completed(event) => {
                self.becomes(
                    IntentStatus::Completed,
                    entry.optional_text(event.reason),
                    entry,
                );
            }
            Event::Cancelled(event) => {
                self.becomes(
                    IntentStatus::Cancelled,
                    entry.optional_text(event.reason),
                    entry,
                );
            }
            Event::Submitted(_) | Event::MetadataSet(_) | Event::Sealed(_) => {}
        }
    }
}
