//! The view of an intent (docs/spec/git-internal.md, Intent).

pub use annals_domain::intent::IntentStatus;
use annals_domain::intent::{Adopted, Event};
use annals_domain::{AnyEvent, GitOid, IntentId, PlanId, Timestamp};
use serde::Serialize;

use crate::views::Project;
use crate::{Entry, HeaderView, Text};

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

impl IntentView {
    fn adopt(header: HeaderView, event: &Adopted, entry: &Entry) -> IntentView {
        let statuses = event.statuses.iter().map(|status| IntentStatusEntry {
            status: status.status,
            changed_at: status.changed_at,
            reason: entry.optional_text(status.reason),
        });
        IntentView {
            header,
            prompt: entry.text(event.prompt),
            content: entry.optional_text(event.content),
            parent: event.parent,
            commit: event.commit,
            plan: event.plan,
            statuses: statuses.collect(),
        }
    }
}

impl Project for IntentView {
    fn create(header: HeaderView, entry: &Entry) -> Option<IntentView> {
        let event = match &entry.event {
            AnyEvent::Intent(Event::Submitted(event)) => event,
            AnyEvent::Intent(Event::Adopted(event)) => {
                return Some(IntentView::adopt(header, event, entry));
            }
            _ => return None,
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
            Event::Rejected(event) => {
                self.becomes(
                    IntentStatus::Cancelled,
                    entry.optional_text(event.reason),
                    entry,
                );
            }
            // git-internal has nothing of the other axis (docs/events.md).
            Event::TakenIn(_)
            | Event::Classified(_)
            | Event::Approved(_)
            | Event::Instructed(_)
            | Event::ExecutionStarted(_)
            | Event::ClarificationRequested(_)
            | Event::ClarificationAnswered(_)
            | Event::Decomposed(_)
            | Event::TaskAdded(_)
            | Event::RerunRequested(_)
            | Event::Submitted(_)
            | Event::Adopted(_)
            | Event::MetadataSet(_)
            | Event::Redacted(_)
            | Event::Sealed(_) => {}
        }
    }
}
