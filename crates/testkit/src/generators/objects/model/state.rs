//! The objects of the model: what of each decides over what comes next.

use std::collections::BTreeSet;

use annals_domain::GitOid;
use annals_domain::intent::Risk;
use uuid::Uuid;

/// An intent.
#[derive(Debug, Clone, Default)]
pub struct Intent {
    /// Who requested it.
    pub asked_by: &'static str,
    /// `draft`, `active`, `completed` or `cancelled`.
    pub status: &'static str,
    /// Whether it has an analysis.
    pub analyzed: bool,
    /// The plan that was selected last.
    pub plan: Option<Uuid>,
    /// The commit that was recorded last.
    pub commit: Option<GitOid>,
    /// How far it came on its way to approval.
    pub stage: &'static str,
    /// Whether it came in as a proposal.
    pub taken_in: bool,
    /// How risky it was classified.
    pub risk: Option<Risk>,
    /// How many questions were asked.
    pub questions: u32,
    /// The numbers of the questions without an answer.
    pub unanswered: BTreeSet<u32>,
    /// Intents that must be completed first.
    pub depends_on: BTreeSet<Uuid>,
    /// Its tasks, in the order in which they were added.
    pub tasks: Vec<Uuid>,
    /// The intent that it is a part of.
    pub child_of: Option<Uuid>,
    /// The intents that it was split into.
    pub children: Vec<Uuid>,
}

impl Intent {
    /// Whether no work on it may begin.
    pub(super) fn waits_for_approval(&self) -> bool {
        self.taken_in && self.stage == "proposed"
    }
}

/// A step of a plan.
#[derive(Debug, Clone)]
pub struct Step {
    /// `pending`, `progressing`, `completed`, `failed` or `skipped`.
    pub status: &'static str,
    /// The task that does it.
    pub task: Option<Uuid>,
    /// Frames that it used, by their numbers.
    pub iframes: BTreeSet<u64>,
    /// Frames that it made, by their numbers.
    pub oframes: BTreeSet<u64>,
}

/// A plan.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// Its intent.
    pub intent: Option<Uuid>,
    /// The plan that it revises.
    pub previous: Option<Uuid>,
    /// Whether another plan revises it.
    pub revised: bool,
    /// The pipeline that its frames are of.
    pub pipeline: Option<Uuid>,
    /// Its steps, by their numbers.
    pub steps: Vec<Step>,
}

/// A task.
#[derive(Debug, Clone, Default)]
pub struct Task {
    /// `draft`, `running`, `done`, `failed` or `cancelled`.
    pub status: &'static str,
    /// Its intent.
    pub intent: Option<Uuid>,
    /// The task that it is a part of.
    pub parent: Option<Uuid>,
    /// Tasks that must be done first.
    pub dependencies: BTreeSet<Uuid>,
    /// The run that was created last.
    pub last_run: Option<Uuid>,
    /// How many reviews rejected it.
    pub rejections: u32,
    /// Whether another task took its place.
    pub superseded: bool,
    /// That task.
    pub successor: Option<Uuid>,
}

/// A run.
#[derive(Debug, Clone, Default)]
pub struct Run {
    /// `created`, `patching`, `validating`, `completed` or `failed`.
    pub status: &'static str,
    /// Its task.
    pub task: Uuid,
    /// The plan that it carries out.
    pub plan: Option<Uuid>,
    /// Whether it has a snapshot.
    pub has_snapshot: bool,
    /// The patch set that it reverts.
    pub reverts: Option<Uuid>,
    /// Whether it has its provenance.
    pub has_provenance: bool,
    /// Whether it has its decision.
    pub decided: bool,
    /// Its decision, if that was to commit and its id is known.
    pub commits: Option<Uuid>,
    /// The commit that its decision led to.
    pub result: Option<GitOid>,
    /// The tokens that were recorded.
    pub tokens: u64,
}

/// A patch set.
#[derive(Debug, Clone, Default)]
pub struct PatchSet {
    /// Its run.
    pub run: Uuid,
    /// `proposed`, `applied`, `rejected` or `reverted`.
    pub status: &'static str,
}

/// A snapshot.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    /// Whether it is finalized.
    pub finalized: bool,
    /// Its items.
    pub items: Vec<SnapshotItem>,
}

/// An item of a snapshot.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SnapshotItem {
    /// Its blob.
    pub blob: Option<GitOid>,
    /// Whether the log has its content.
    pub kept: bool,
}
