//! The objects of the model: what of each decides over what comes next.

use std::collections::{BTreeMap, BTreeSet};

use annals_domain::GitOid;
use annals_domain::intent::Risk;
use annals_domain::session::PolicyProfile;
use annals_domain::settings::BudgetPeriod;
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
    /// Whether an actor said so, and no rule.
    pub judged: bool,
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
    /// Whether a person created it.
    pub persons: bool,
    /// Its intent.
    pub intent: Option<Uuid>,
    /// The task that it is a part of.
    pub parent: Option<Uuid>,
    /// Tasks that must be done first.
    pub dependencies: BTreeSet<Uuid>,
    /// The run that was created last.
    pub last_run: Option<Uuid>,
    /// Whether it was called off with a task that it waited for.
    pub stranded: bool,
    /// How many reviews rejected it.
    pub rejections: u32,
    /// Whether a person gave one of these, or made it fail.
    pub rejected_by_person: bool,
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
    /// Whether its decision was to try again.
    pub retried: bool,
    /// Whether a person turned its work down.
    pub turned_down: bool,
    /// Who began, patched, proposed or validated it.
    pub workers: BTreeSet<&'static str>,
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

/// The log's settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// 0 for none, then the risks.
    pub(super) threshold: usize,
    pub(super) trust: bool,
    pub(super) retries: u32,
    /// Whether people may approve their own requests.
    pub(super) own: bool,
    /// By which type one goes that is not listed.
    pub(super) unknown: String,
    /// How far the times of commands to a gate may be from the log's clock. In a history they are the same.
    pub(super) skew: u32,
    /// The amount of each budget, and whether calls over it are denied.
    pub(super) budgets: BTreeMap<(BudgetPeriod, Option<String>), (u64, bool)>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            threshold: 1,
            trust: true,
            retries: 2,
            own: false,
            unknown: "feature".to_owned(),
            skew: 300,
            budgets: BTreeMap::new(),
        }
    }
}

/// An observation.
#[derive(Debug, Clone)]
pub struct Observation {
    /// What kind of observation it is.
    pub kind: &'static str,
    /// Whether it is processed, and by which intent.
    pub processed: Option<Option<Uuid>>,
}

/// A request for approval.
#[derive(Debug, Clone)]
pub struct Ask {
    /// The command, if the history gave it its id.
    pub request: Option<Uuid>,
    /// Who gave it.
    pub by: &'static str,
    /// Whether an approval allows a push.
    pub grants_push: bool,
    /// Whether a RequestApproval asks.
    pub explicit: bool,
    /// After how many commands it expires.
    pub expires: Option<u64>,
}

/// A session.
#[derive(Debug, Clone, Default)]
pub struct Session {
    /// Running, Paused, Error or Completed.
    pub life: &'static str,
    /// Whether a person paused it.
    pub paused_by_person: bool,
    /// The session that began it.
    pub parent: Option<Uuid>,
    /// The policy that it follows.
    pub policy: PolicyProfile,
    /// After how many commands a requested approval expires.
    pub expiry: Option<u64>,
    /// After how many failures in a row it is paused.
    pub pause_after: u32,
    /// The open requests for approval, the oldest first.
    pub asks: Vec<Ask>,
    /// Commands that wait, in order, by the ids that the history gave them, and who gave them.
    pub queue: Vec<(Option<Uuid>, &'static str)>,
    /// Commands that were accepted and have not ended, of those with an id, and what each is.
    pub open: BTreeMap<Uuid, String>,
    /// Those that ended.
    pub ended: BTreeSet<Uuid>,
    /// Whether a push was approved.
    pub may_push: bool,
    /// Failures in a row.
    pub failures: u32,
    /// Its agent, whose sessions share their calls.
    pub agent: String,
    /// The nodes of its plan.
    pub nodes: BTreeSet<String>,
    /// The run that it is attached to.
    pub run: Option<Uuid>,
}

/// How many tokens were taken from buckets that sessions share: by the name of their profile, and by the kind that it has a
/// cap on, or the agent whose calls it limits.
pub type Shared = BTreeMap<(String, String), u32>;
