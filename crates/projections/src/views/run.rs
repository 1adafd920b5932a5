//! The view of a run (docs/spec/git-internal.md, Run).

use annals_domain::intent::IntentStatus;
use annals_domain::run::{Adopted, Event, Status};
use annals_domain::{AnyEvent, GitOid, IntentId, PatchSetId, PlanId, SnapshotId, TaskId};
use serde::{Serialize, Serializer};

use crate::views::Project;
use crate::{Entry, EnvironmentView, HeaderView, JsonText, Text};

/// One execution attempt of a task.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunView {
    /// The common header.
    #[serde(flatten)]
    pub header: HeaderView,
    /// The task that it is an attempt at.
    pub task: TaskId,
    /// The plan version that is executed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanId>,
    /// The baseline commit; null before a repository's first one.
    pub commit: Option<GitOid>,
    #[serde(serialize_with = "status_name")]
    status: Status,
    /// The context that it started with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<SnapshotId>,
    /// Its candidate diffs, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub patchsets: Vec<PatchSetId>,
    /// Execution metrics.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metrics: Option<JsonText>,
    /// What went wrong, if it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Text>,
    /// The machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub environment: Option<EnvironmentView>,
    /// The applied patch set that it is there to revert; not part of the JSON.
    #[serde(skip)]
    pub reverts: Option<PatchSetId>,
    /// The intent that was over before the run ended, and its status then; not
    /// part of the JSON.
    #[serde(skip)]
    pub ended_after_intent: Option<(IntentId, IntentStatus)>,
}

fn status_name<S: Serializer>(status: &Status, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(status.name())
}

impl RunView {
    /// Its status now.
    pub fn status(&self) -> Status {
        self.status
    }

    fn adopt(header: HeaderView, event: &Adopted, entry: &Entry) -> Option<RunView> {
        let object = event.object.as_ref()?;
        let environment = object.environment.as_ref();
        Some(RunView {
            header,
            task: object.task,
            plan: object.plan,
            commit: object.commit,
            status: object.status.into(),
            snapshot: object.snapshot,
            patchsets: event.patchsets.clone(),
            metrics: entry.optional_json(object.metrics),
            error: entry.optional_text(object.error),
            environment: environment.map(|stored| EnvironmentView::read(stored, entry)),
            reverts: None,
            ended_after_intent: None,
        })
    }
}

impl Project for RunView {
    fn create(header: HeaderView, entry: &Entry) -> Option<RunView> {
        let event = match &entry.event {
            AnyEvent::Run(Event::Created(event)) => event,
            AnyEvent::Run(Event::Adopted(event)) => return RunView::adopt(header, event, entry),
            _ => return None,
        };
        let environment = event.environment.as_ref();
        Some(RunView {
            header,
            task: event.task,
            plan: event.plan,
            commit: event.commit,
            status: Status::Created,
            snapshot: event.snapshot,
            patchsets: Vec::new(),
            metrics: None,
            error: None,
            environment: environment.map(|stored| EnvironmentView::read(stored, entry)),
            reverts: event.reverts,
            ended_after_intent: None,
        })
    }

    fn evolve(&mut self, entry: &Entry) {
        let AnyEvent::Run(event) = &entry.event else {
            return;
        };
        match event {
            Event::Adopted(event) => self.patchsets.extend(&event.patchsets),
            Event::SnapshotAttached(event) => self.snapshot = Some(event.snapshot),
            Event::PatchingStarted(_) => self.status = Status::Patching,
            Event::ValidationStarted(_) => self.status = Status::Validating,
            Event::PatchSetProposed(event) => self.patchsets.push(event.patch_set),
            Event::MetricsRecorded(event) => self.metrics = Some(entry.json(event.metrics)),
            Event::DecisionMade(_) => {
                // A decision on a failed run leaves it failed.
                if self.status != Status::Failed {
                    self.status = Status::Completed;
                }
            }
            Event::Failed(event) => {
                self.status = Status::Failed;
                self.error = Some(entry.text(event.error));
            }
            Event::EndedAfterIntent(event) => {
                self.ended_after_intent = Some((event.intent, event.status));
            }
            Event::Created(_)
            | Event::ResultCommitRecorded(_)
            | Event::ToolInvoked(_)
            | Event::PatchSetAdopted(_)
            | Event::EvidenceAdopted(_)
            | Event::DecisionAdopted(_)
            | Event::ProvenanceAdopted(_)
            | Event::ToolInvocationAdopted(_)
            | Event::ToolRequested(_)
            | Event::ToolDecided(_)
            | Event::ToolBegun(_)
            | Event::ToolEnded(_)
            | Event::PatchSetApplied(_)
            | Event::PatchSetRejected(_)
            | Event::PatchSetReverted(_)
            | Event::RationaleOverridden(_)
            | Event::EvidenceRecorded(_)
            | Event::ProvenanceRecorded(_)
            | Event::UsageRecorded(_)
            | Event::MetadataSet(_)
            | Event::Redacted(_)
            | Event::Sealed(_) => {}
        }
    }
}
