//! The view of a decision (docs/spec/git-internal.md, Decision).

use annals_domain::run::{DecisionType, Event};
use annals_domain::{AnyEvent, GitOid, PatchSetId, RunId};
use serde::Serialize;

use crate::views::Project;
use crate::{Entry, HeaderView, Text};

/// Terminal verdict of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DecisionView {
    /// The common header.
    #[serde(flatten)]
    pub header: HeaderView,
    /// The run that it concludes.
    pub run_id: RunId,
    /// The verdict.
    pub decision_type: DecisionType,
    /// The patch set that was chosen, or that a rollback reverted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chosen_patchset_id: Option<PatchSetId>,
    /// The git commit that it led to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_commit_sha: Option<GitOid>,
    /// The id of the saved state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint_id: Option<Text>,
    /// Why this decision was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rationale: Option<Text>,
}

impl Project for DecisionView {
    fn create(header: HeaderView, entry: &Entry) -> Option<DecisionView> {
        let event = match &entry.event {
            AnyEvent::Run(Event::DecisionMade(event)) => event,
            AnyEvent::Run(Event::DecisionAdopted(event)) => &event.decision,
            _ => return None,
        };
        Some(DecisionView {
            header,
            run_id: RunId(entry.stream.id),
            decision_type: event.decision_type.clone(),
            chosen_patchset_id: event.chosen_patch_set,
            result_commit_sha: event.result_commit,
            checkpoint_id: entry.optional_text(event.checkpoint_id),
            rationale: entry.optional_text(event.rationale),
        })
    }

    /// A decision never changes, but that the commit comes later; and its header does.
    fn evolve(&mut self, entry: &Entry) {
        if let AnyEvent::Run(Event::ResultCommitRecorded(event)) = &entry.event
            && event.decision.0 == self.header.object_id
        {
            self.result_commit_sha = Some(event.commit);
        }
    }
}
