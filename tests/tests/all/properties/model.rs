//! The reference: what must be accepted, said as plainly as possible.
//!
//! It shares nothing with the deciders but the commands. Statuses are words in
//! maps; every rule stands where the command that it is about is judged.

mod intake;
mod observation;
mod session;
mod window;

use std::collections::{BTreeMap, BTreeSet};

use annals::domain::intent::Risk;
use annals::domain::run::DecisionType;
use annals::domain::{Command, FrameId, GitOid, Kind};
use annals::domain::{alias, intent, metadata, pipeline, plan, run, snapshot, task};
use uuid::Uuid;

pub use self::observation::Observation;
pub use self::session::Session;
pub use self::window::Pipeline;

/// What becomes of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// It is accepted and something happens.
    Accepted,
    /// It is accepted, and all is so already.
    Nothing,
    /// It is refused.
    Refused,
}

#[derive(Debug, Clone, Default)]
pub struct Intent {
    pub status: &'static str,
    pub analyzed: bool,
    pub plan: Option<Uuid>,
    pub commit: Option<GitOid>,
    pub stage: &'static str,
    pub taken_in: bool,
    pub risk: Option<Risk>,
    pub questions: u32,
    pub unanswered: BTreeSet<u32>,
    pub depends_on: BTreeSet<Uuid>,
    pub tasks: Vec<Uuid>,
    pub child_of: Option<Uuid>,
    pub children: Vec<Uuid>,
}

#[derive(Debug, Clone)]
pub struct Step {
    pub status: &'static str,
    pub task: Option<Uuid>,
    pub iframes: BTreeSet<u64>,
    pub oframes: BTreeSet<u64>,
}

#[derive(Debug, Clone, Default)]
pub struct Plan {
    pub intent: Option<Uuid>,
    pub pipeline: Option<Uuid>,
    pub steps: Vec<Step>,
}

#[derive(Debug, Clone, Default)]
pub struct Task {
    pub status: &'static str,
    pub intent: Option<Uuid>,
    pub dependencies: BTreeSet<Uuid>,
    pub last_run: Option<Uuid>,
    pub rejections: u32,
    pub superseded: bool,
    pub successor: Option<Uuid>,
}

#[derive(Debug, Clone, Default)]
pub struct Run {
    pub status: &'static str,
    pub task: Uuid,
    pub has_snapshot: bool,
    pub reverts: Option<Uuid>,
    pub has_provenance: bool,
    pub decided: bool,
    pub tokens: u64,
}

#[derive(Debug, Clone, Default)]
pub struct PatchSet {
    pub run: Uuid,
    pub status: &'static str,
}

#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    pub finalized: bool,
    pub blobs: Vec<bool>,
}

/// All objects as they stand after the commands so far.
#[derive(Debug, Clone, Default)]
pub struct Model {
    /// How many commands there were.
    pub commands: u64,
    /// What became of the last one.
    pub last: Option<Answer>,
    /// Every object whose id the commands gave.
    pub kinds: BTreeMap<Uuid, Kind>,
    pub intents: BTreeMap<Uuid, Intent>,
    pub plans: BTreeMap<Uuid, Plan>,
    pub tasks: BTreeMap<Uuid, Task>,
    pub runs: BTreeMap<Uuid, Run>,
    pub patch_sets: BTreeMap<Uuid, PatchSet>,
    pub snapshots: BTreeMap<Uuid, Snapshot>,
    pub pipelines: BTreeMap<Uuid, Pipeline>,
    pub aliases: BTreeMap<String, Uuid>,
    pub sessions: BTreeMap<Uuid, Session>,
    /// The verdict on the last command that was given to a session.
    pub verdict: Option<&'static str>,
    pub settings: intake::Settings,
    pub observations: BTreeMap<Uuid, Observation>,
    /// How many objects the log gave ids that are not known here.
    own_ids: u128,
    shared: session::Shared,
}

/// Refused, or whether something happens.
type Judged = Option<bool>;

/// Refused unless it holds.
fn demand(holds: bool) -> Option<()> {
    holds.then_some(())
}

fn text(text: &str) -> Option<()> {
    demand(!text.trim().is_empty())
}

impl Model {
    /// Judges a command, and takes it in if it is accepted.
    pub fn take(&mut self, command: &Command) -> Answer {
        let mut next = self.clone();
        let answer = match next.judge(command) {
            Some(true) => Answer::Accepted,
            Some(false) => Answer::Nothing,
            None => Answer::Refused,
        };
        if answer == Answer::Accepted {
            *self = next;
        }
        self.commands += 1;
        self.last = Some(answer);
        answer
    }

    fn judge(&mut self, command: &Command) -> Judged {
        match command {
            Command::CreateIntent(c) => self.create_intent(c),
            Command::AnalyzeIntent(c) => {
                text(&c.content)?;
                let intent = self.intent(c.intent.0, &["draft", "active"])?;
                intent.analyzed = true;
                Some(true)
            }
            Command::ActivateIntent(c) => {
                let intent = self.intent(c.intent.0, &["draft"])?;
                demand(intent.analyzed)?;
                intent.status = "active";
                Some(true)
            }
            Command::SelectPlan(c) => self.select_plan(c),
            Command::RecordCommit(c) => {
                self.intent(c.intent.0, &["active"])?.commit = Some(c.commit);
                Some(true)
            }
            Command::CompleteIntent(c) => {
                self.intent(c.intent.0, &["active"])?.status = "completed";
                Some(true)
            }
            Command::CancelIntent(c) => {
                self.intent(c.intent.0, &["draft", "active"])?.status = "cancelled";
                Some(true)
            }
            Command::CreatePlan(c) => self.create_plan(c),
            Command::AddStep(c) => self.add_step(c),
            Command::SetStepStatus(c) => self.set_step_status(c),
            Command::LinkStepFrames(c) => self.link_step_frames(c),
            Command::SpawnStepTask(c) => self.spawn_step_task(c),
            Command::RecordStepOutput(c) => self.step(c.plan.0, c.step).map(|_| true),
            Command::CreateTask(c) => self.create_task(c),
            Command::AddConstraint(c) => {
                text(&c.constraint)?;
                self.open_task(c.task.0).map(|_| true)
            }
            Command::AddAcceptanceCriterion(c) => {
                text(&c.criterion)?;
                self.open_task(c.task.0).map(|_| true)
            }
            Command::AddDependency(c) => self.add_dependency(c),
            Command::FailTask(c) => {
                self.open_task(c.task.0)?.status = "failed";
                self.fail_dependents(c.task.0);
                Some(true)
            }
            Command::CancelTask(c) => {
                self.open_task(c.task.0)?.status = "cancelled";
                Some(true)
            }
            other => self.judge_run(other),
        }
    }

    fn judge_run(&mut self, command: &Command) -> Judged {
        match command {
            Command::CreateRun(c) => self.create_run(c),
            Command::AttachSnapshot(c) => self.attach_snapshot(c),
            Command::StartPatching(c) => {
                self.run(c.run.0, &["created"])?.status = "patching";
                Some(true)
            }
            Command::StartValidation(c) => {
                self.run(c.run.0, &["patching"])?.status = "validating";
                Some(true)
            }
            Command::FailRun(c) => {
                text(&c.error)?;
                self.unfinished(c.run.0)?.status = "failed";
                Some(true)
            }
            Command::RecordToolInvocation(c) => {
                text(&c.tool_name)?;
                self.unfinished(c.run.0)?;
                self.place(c.id.map(Uuid::from), Kind::ToolInvocation)
            }
            Command::ProposePatchSet(c) => self.propose_patch_set(c),
            Command::ApplyPatchSet(c) => {
                let patch_set = self.patch_sets.get_mut(&c.patch_set.0)?;
                demand(self.runs.get(&patch_set.run)?.status == "validating")?;
                demand(patch_set.status == "proposed")?;
                patch_set.status = "applied";
                Some(true)
            }
            Command::RejectPatchSet(c) => {
                let patch_set = self.patch_sets.get_mut(&c.patch_set.0)?;
                demand(patch_set.status == "proposed")?;
                patch_set.status = "rejected";
                Some(true)
            }
            Command::OverrideRationale(c) => self.patch_sets.get(&c.patch_set.0).map(|_| true),
            Command::RecordEvidence(c) => self.record_evidence(c),
            Command::RecordProvenance(c) => self.record_provenance(c),
            Command::RecordUsage(c) => {
                demand(c.cost_usd.is_none_or(|cost| cost >= 0.0))?;
                let run = self.runs.get_mut(&c.run.0)?;
                for more in [
                    c.uncached_input_tokens,
                    c.cache_read_tokens,
                    c.cache_write_tokens,
                    c.output_tokens,
                ] {
                    run.tokens = run.tokens.checked_add(more)?;
                }
                Some(true)
            }
            Command::RecordMetrics(c) => self.runs.get(&c.run.0).map(|_| true),
            Command::Decide(c) => self.decide(c),
            other => self.judge_context(other),
        }
    }

    fn judge_context(&mut self, command: &Command) -> Judged {
        match command {
            Command::OpenSnapshot(c) => self.open_snapshot(c),
            Command::AddItem(c) => {
                text(&c.item.path)?;
                self.open_blobs(c.snapshot.0)?.push(c.item.blob.is_some());
                Some(true)
            }
            Command::AttachBlob(c) => {
                *self.open_blobs(c.snapshot.0)?.get_mut(c.item as usize)? = true;
                Some(true)
            }
            Command::FinalizeSnapshot(c) => {
                let complete = self
                    .open_blobs(c.snapshot.0)?
                    .iter()
                    .all(|has_blob| *has_blob);
                demand(complete)?;
                self.snapshots.get_mut(&c.snapshot.0)?.finalized = true;
                Some(true)
            }
            Command::CreatePipeline(c) => self.create_pipeline(c),
            Command::PushFrame(c) => self.push_frame(c),
            Command::SetMaxFrames(c) => {
                let pipeline = self.pipelines.get_mut(&c.pipeline.0)?;
                let changes = pipeline.max_frames != c.max_frames;
                pipeline.max_frames = c.max_frames;
                Some(changes)
            }
            Command::SetEvictionPolicy(c) => {
                let pipeline = self.pipelines.get_mut(&c.pipeline.0)?;
                demand(window::makes_sense(&c.policy))?;
                Some(pipeline.set_policy(&c.policy))
            }
            Command::SetGlobalSummary(c) => self.pipelines.get(&c.pipeline.0).map(|_| true),
            Command::SetMetadata(c) => self.set_metadata(c),
            Command::ReserveAlias(c) => self.reserve_alias(c),
            Command::Seal(c) => {
                demand(c.checksum.is_some())?;
                // Sessions and observations are no objects of document 000.
                let kind = self.kinds.get(&c.object)?;
                demand(!matches!(kind, Kind::Session | Kind::Observation)).map(|()| true)
            }
            other => self.judge_session(other),
        }
    }

    /// Gives a new object its id, which nothing else may have. An object that
    /// the log gives an id is not known here.
    fn place(&mut self, id: Option<Uuid>, kind: Kind) -> Judged {
        match id {
            None => Some(true),
            Some(id) => self.kinds.insert(id, kind).is_none().then_some(true),
        }
    }

    // Intents.

    fn intent(&mut self, id: Uuid, allowed: &[&str]) -> Option<&mut Intent> {
        let intent = self.intents.get_mut(&id)?;
        demand(allowed.contains(&intent.status))?;
        Some(intent)
    }

    fn create_intent(&mut self, c: &intent::CreateIntent) -> Judged {
        text(&c.prompt)?;
        demand(
            c.parent
                .is_none_or(|parent| self.intents.contains_key(&parent.0)),
        )?;
        let id = c.id?.0;
        self.intents.insert(
            id,
            Intent {
                status: "draft",
                stage: "proposed",
                ..Intent::default()
            },
        );
        self.place(Some(id), Kind::Intent)
    }

    fn select_plan(&mut self, c: &intent::SelectPlan) -> Judged {
        let made_for = self.plans.get(&c.plan.0)?.intent;
        demand(made_for.is_none_or(|intent| intent == c.intent.0))?;
        self.intent(c.intent.0, &["active"])?.plan = Some(c.plan.0);
        Some(true)
    }

    // Plans.

    fn step(&mut self, plan: Uuid, step: u32) -> Option<&mut Step> {
        self.plans.get_mut(&plan)?.steps.get_mut(step as usize)
    }

    fn create_plan(&mut self, c: &plan::CreatePlan) -> Judged {
        let id = c.id?.0;
        self.place(Some(id), Kind::Plan)?;
        let intent = c.intent.map(|intent| intent.0);
        if let Some(previous) = c.previous {
            let made_for = self.plans.get(&previous.0)?.intent;
            demand(made_for.is_none() || intent.is_none() || made_for == intent)?;
        }
        let pipeline = c.pipeline.map(|pipeline| pipeline.0);
        demand(pipeline.is_none_or(|id| self.pipelines.contains_key(&id)))?;
        if let Some((start, end)) = c.fwindow {
            let window = &self.pipelines.get(&pipeline?)?.window;
            demand(start <= end && end as usize <= window.len())?;
        }
        let mut plan = Plan {
            intent,
            pipeline,
            steps: Vec::new(),
        };
        for step in &c.steps {
            plan.steps.push(self.new_step(pipeline, step)?);
        }
        for step in &c.steps {
            self.used(pipeline, &step.iframes, &BTreeSet::new());
        }
        self.plans.insert(id, plan);
        if let Some(intent) = intent {
            self.intent(intent, &["active"])?.plan = Some(id);
        }
        Some(true)
    }

    fn new_step(&self, pipeline: Option<Uuid>, step: &plan::NewStep) -> Option<Step> {
        text(&step.description)?;
        demand(
            step.task
                .is_none_or(|task| self.tasks.contains_key(&task.0)),
        )?;
        Some(Step {
            status: "pending",
            task: step.task.map(Uuid::from),
            iframes: self.frames(pipeline, &step.iframes)?,
            oframes: self.frames(pipeline, &step.oframes)?,
        })
    }

    /// The step used these frames, in this order, once each.
    fn used(&mut self, pipeline: Option<Uuid>, frames: &[FrameId], known: &BTreeSet<u64>) {
        let Some(pipeline) = pipeline.and_then(|id| self.pipelines.get_mut(&id)) else {
            return;
        };
        let mut seen = known.clone();
        for frame in frames {
            if seen.insert(frame.0) {
                pipeline.touch(frame.0);
            }
        }
    }

    /// Frames that were pushed into the pipeline, whether or not they are
    /// still in its window.
    fn frames(&self, pipeline: Option<Uuid>, frames: &[FrameId]) -> Option<BTreeSet<u64>> {
        if frames.is_empty() {
            return Some(BTreeSet::new());
        }
        let pushed = self.pipelines.get(&pipeline?)?.pushed;
        demand(frames.iter().all(|frame| frame.0 < pushed))?;
        Some(frames.iter().map(|frame| frame.0).collect())
    }

    fn add_step(&mut self, c: &plan::AddStep) -> Judged {
        let plan = self.plans.get(&c.plan.0)?;
        let (pipeline, next) = (plan.pipeline, plan.steps.len());
        demand(c.index.is_none_or(|index| index as usize == next))?;
        let step = self.new_step(pipeline, &c.step)?;
        self.used(pipeline, &c.step.iframes, &BTreeSet::new());
        self.plans.get_mut(&c.plan.0)?.steps.push(step);
        Some(true)
    }

    fn set_step_status(&mut self, c: &plan::SetStepStatus) -> Judged {
        let step = self.step(c.plan.0, c.step)?;
        let allowed = match c.status.as_str() {
            "progressing" | "skipped" => step.status == "pending",
            "completed" => step.status == "progressing",
            "failed" => matches!(step.status, "pending" | "progressing"),
            _ => false,
        };
        demand(allowed)?;
        step.status = c.status.as_str();
        Some(true)
    }

    fn link_step_frames(&mut self, c: &plan::LinkStepFrames) -> Judged {
        let pipeline = self.plans.get(&c.plan.0)?.pipeline;
        self.step(c.plan.0, c.step)?;
        let iframes = self.frames(pipeline, &c.iframes)?;
        let oframes = self.frames(pipeline, &c.oframes)?;
        let known = self.step(c.plan.0, c.step)?.iframes.clone();
        self.used(pipeline, &c.iframes, &known);
        let step = self.step(c.plan.0, c.step)?;
        let before = step.iframes.len() + step.oframes.len();
        step.iframes.extend(iframes);
        step.oframes.extend(oframes);
        Some(step.iframes.len() + step.oframes.len() > before)
    }

    fn spawn_step_task(&mut self, c: &plan::SpawnStepTask) -> Judged {
        demand(self.step(c.plan.0, c.step)?.task.is_none())?;
        let task = task::CreateTask {
            id: c.id,
            parent: c.parent,
            intent: c.intent,
            ..task::CreateTask::new(c.title.as_str())
        };
        self.create_task(&task)?;
        self.step(c.plan.0, c.step)?.task = c.id.map(Uuid::from);
        Some(true)
    }

    // Tasks.

    fn open_task(&mut self, id: Uuid) -> Option<&mut Task> {
        let task = self.tasks.get_mut(&id)?;
        demand(matches!(task.status, "draft" | "running"))?;
        Some(task)
    }

    fn create_task(&mut self, c: &task::CreateTask) -> Judged {
        text(&c.title)?;
        demand(c.title.chars().count() < 100)?;
        let named = c.dependencies.iter().chain(&c.parent);
        demand(named.copied().all(|task| self.tasks.contains_key(&task.0)))?;
        demand(
            c.intent
                .is_none_or(|intent| self.intents.contains_key(&intent.0)),
        )?;
        let mut needs = c.dependencies.iter().map(|task| self.newest(task.0));
        let lost = needs.any(|task| self.tasks[&task].status == "failed");
        let task = Task {
            status: if lost { "failed" } else { "draft" },
            intent: c.intent.map(Uuid::from),
            dependencies: c.dependencies.iter().map(|task| task.0).collect(),
            ..Task::default()
        };
        let id = c.id?.0;
        self.tasks.insert(id, task);
        if let Some(intent) = c.intent {
            self.intents.get_mut(&intent.0)?.tasks.push(id);
        }
        self.place(Some(id), Kind::Task)
    }

    fn add_dependency(&mut self, c: &task::AddDependency) -> Judged {
        let (task, dependency) = (c.task.0, c.dependency.0);
        self.open_task(task)?;
        demand(self.tasks.contains_key(&dependency))?;
        demand(!self.waits_for(dependency, task))?;
        let is_new = self.open_task(task)?.dependencies.insert(dependency);
        let lost = self.tasks[&self.newest(dependency)].status == "failed";
        let found = self.open_task(task)?;
        if is_new && lost && found.status == "draft" {
            found.status = "failed";
            self.fail_dependents(task);
        }
        Some(is_new)
    }

    /// Whether a task is another one or depends on it, however indirectly.
    fn waits_for(&self, task: Uuid, other: Uuid) -> bool {
        let direct = |task: &Task| {
            task.dependencies
                .iter()
                .any(|id| self.waits_for(*id, other))
        };
        task == other || self.tasks.get(&task).is_some_and(direct)
    }

    // Runs and what is in them.

    fn run(&mut self, id: Uuid, allowed: &[&str]) -> Option<&mut Run> {
        let run = self.runs.get_mut(&id)?;
        demand(allowed.contains(&run.status))?;
        Some(run)
    }

    fn unfinished(&mut self, id: Uuid) -> Option<&mut Run> {
        self.run(id, &["created", "patching", "validating"])
    }

    fn create_run(&mut self, c: &run::CreateRun) -> Judged {
        let reverts = c.reverts.map(Uuid::from);
        if let Some(patch_set) = reverts {
            let patch_set = self.patch_sets.get(&patch_set)?;
            demand(patch_set.status == "applied")?;
            demand(self.runs.get(&patch_set.run)?.task == c.task.0)?;
        }
        demand(c.plan.is_none_or(|plan| self.plans.contains_key(&plan.0)))?;
        demand(
            c.snapshot
                .is_none_or(|snapshot| self.snapshots.contains_key(&snapshot.0)),
        )?;
        let task = self.tasks.get(&c.task.0)?;
        if task.status == "draft" {
            let mut needs = task.dependencies.iter().map(|id| self.newest(*id));
            demand(needs.all(|id| self.tasks[&id].status == "done"))?;
        }
        if let Some(intent) = task.intent.filter(|_| reverts.is_none()) {
            self.run_begins(intent)?;
        }
        let task = self.tasks.get_mut(&c.task.0)?;
        match task.status {
            "draft" => task.status = "running",
            "running" => {}
            "done" => demand(reverts.is_some())?,
            _ => return None,
        }
        let run = Run {
            status: "created",
            task: c.task.0,
            has_snapshot: c.snapshot.is_some(),
            reverts,
            ..Run::default()
        };
        let id = c.id?.0;
        self.tasks.get_mut(&c.task.0)?.last_run = Some(id);
        self.runs.insert(id, run);
        self.place(Some(id), Kind::Run)
    }

    fn attach_snapshot(&mut self, c: &run::AttachSnapshot) -> Judged {
        demand(self.snapshots.contains_key(&c.snapshot.0))?;
        let run = self.unfinished(c.run.0)?;
        demand(!run.has_snapshot)?;
        run.has_snapshot = true;
        Some(true)
    }

    fn propose_patch_set(&mut self, c: &run::ProposePatchSet) -> Judged {
        c.touched.iter().try_for_each(|file| text(&file.path))?;
        let run = c.run.0;
        self.run(run, &["patching", "validating"])?;
        let id = c.id?.0;
        self.patch_sets.insert(
            id,
            PatchSet {
                run,
                status: "proposed",
            },
        );
        self.place(Some(id), Kind::PatchSet)
    }

    fn record_evidence(&mut self, c: &run::RecordEvidence) -> Judged {
        text(&c.tool)?;
        self.unfinished(c.run.0)?;
        if let Some(patch_set) = c.patchset_id {
            demand(self.patch_sets.get(&patch_set.0)?.run == c.run.0)?;
        }
        self.place(c.id.map(Uuid::from), Kind::Evidence)
    }

    fn record_provenance(&mut self, c: &run::RecordProvenance) -> Judged {
        text(&c.provider)?;
        text(&c.model)?;
        let mut sum = 0;
        if let Some(used) = c.token_usage {
            sum = used.input_tokens.checked_add(used.output_tokens)?;
            demand(used.total_tokens.is_none_or(|total| total == sum))?;
        }
        let run = self.runs.get_mut(&c.run.0)?;
        demand(!run.has_provenance)?;
        run.has_provenance = true;
        run.tokens = run.tokens.checked_add(sum)?;
        self.place(c.id.map(Uuid::from), Kind::Provenance)
    }

    fn decide(&mut self, c: &run::Decide) -> Judged {
        let run = self.runs.get_mut(&c.run.0)?;
        demand(!run.decided)?;
        run.decided = true;
        let verdict = c.decision_type.as_str();
        let names_patch_set = matches!(verdict, "commit" | "rollback");
        match run.status {
            "validating" => run.status = "completed",
            // A failed run stays failed.
            "failed" => demand(!names_patch_set)?,
            _ => return None,
        }
        demand(names_patch_set || c.chosen_patchset_id.is_none())?;
        demand(names_patch_set || c.result_commit_sha.is_none())?;
        let saves = !matches!(verdict, "commit" | "retry" | "abandon" | "rollback");
        demand(saves || c.checkpoint_id.is_none())?;
        let run = run.clone();
        match c.decision_type {
            DecisionType::Commit => self.commit(c, &run)?,
            DecisionType::Retry => {
                let own = self
                    .patch_sets
                    .values_mut()
                    .filter(|patch_set| patch_set.run == c.run.0);
                own.filter(|patch_set| patch_set.status == "proposed")
                    .for_each(|patch_set| patch_set.status = "rejected");
            }
            DecisionType::Abandon => self.end_task(&run, "failed")?,
            DecisionType::Rollback => {
                let reverts = run.reverts?;
                demand(
                    c.chosen_patchset_id
                        .is_none_or(|chosen| chosen.0 == reverts),
                )?;
                let patch_set = self.patch_sets.get_mut(&reverts)?;
                demand(patch_set.status == "applied")?;
                patch_set.status = "reverted";
            }
            DecisionType::Checkpoint | DecisionType::Other(_) => {}
        }
        self.place(c.id.map(Uuid::from), Kind::Decision)
    }

    fn commit(&mut self, c: &run::Decide, run: &Run) -> Option<()> {
        let patch_set = self.patch_sets.get_mut(&c.chosen_patchset_id?.0)?;
        demand(patch_set.run == c.run.0)?;
        demand(matches!(patch_set.status, "proposed" | "applied"))?;
        patch_set.status = "applied";
        self.end_task(run, "done")?;
        let intent = self.tasks.get(&run.task)?.intent;
        let intent = intent.and_then(|intent| self.intents.get_mut(&intent));
        if let (Some(intent), Some(commit)) = (intent, c.result_commit_sha)
            && intent.status == "active"
        {
            intent.commit = Some(commit);
        }
        Some(())
    }

    /// No decision of a run that reverts changes its task.
    fn end_task(&mut self, run: &Run, status: &'static str) -> Option<()> {
        if run.reverts.is_none() {
            let task = self.tasks.get_mut(&run.task)?;
            demand(task.status == "running")?;
            task.status = status;
            if status == "failed" {
                self.fail_dependents(run.task);
            }
        }
        Some(())
    }

    // Context.

    fn open_blobs(&mut self, snapshot: Uuid) -> Option<&mut Vec<bool>> {
        let snapshot = self.snapshots.get_mut(&snapshot)?;
        demand(!snapshot.finalized)?;
        Some(&mut snapshot.blobs)
    }

    fn open_snapshot(&mut self, c: &snapshot::OpenSnapshot) -> Judged {
        c.items.iter().try_for_each(|item| text(&item.path))?;
        let blobs = c.items.iter().map(|item| item.blob.is_some()).collect();
        let id = c.id?.0;
        self.snapshots.insert(
            id,
            Snapshot {
                finalized: false,
                blobs,
            },
        );
        self.place(Some(id), Kind::ContextSnapshot)
    }

    fn create_pipeline(&mut self, c: &pipeline::CreatePipeline) -> Judged {
        let id = c.id?.0;
        let mut pipeline = Pipeline::default();
        if let Some(policy) = &c.policy {
            demand(window::makes_sense(policy) && window::go_together(policy, c.max_frames))?;
            pipeline.set_policy(policy);
        }
        pipeline.max_frames = c.max_frames.unwrap_or(pipeline.max_frames);
        self.place(Some(id), Kind::ContextPipeline)?;
        self.pipelines.insert(id, pipeline);
        Some(true)
    }

    fn push_frame(&mut self, c: &pipeline::PushFrame) -> Judged {
        if let (Some(data), Some(_)) = (&c.data, &c.content) {
            let data = serde_json::from_str(data.text()).unwrap_or_default();
            let serde_json::Value::Object(data) = data else {
                return None;
            };
            demand(!data.contains_key("content"))?;
        }
        let pipeline = self.pipelines.get_mut(&c.pipeline.0)?;
        pipeline.push(&c.kind, c.token_estimate.unwrap_or(0));
        Some(true)
    }

    /// The generator makes no alias that looks like an id.
    fn reserve_alias(&mut self, c: &alias::ReserveAlias) -> Judged {
        demand(!c.alias.is_empty() && !c.alias.contains([' ', '/', '\n']))?;
        self.kinds.get(&c.object)?;
        match self.aliases.insert(c.alias.clone(), c.object) {
            Some(object) => demand(object == c.object).map(|()| false),
            None => Some(true),
        }
    }

    fn set_metadata(&mut self, c: &metadata::SetMetadata) -> Judged {
        demand(c.visibility.is_some() || c.tags.is_some() || c.external_ids.is_some())?;
        self.kinds.get(&c.object).map(|_| true)
    }
}
