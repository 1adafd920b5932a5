//! The reference: what must be accepted, said as plainly as possible.
//!
//! It shares nothing with the deciders but the commands. Statuses are words in
//! maps; every rule is where the command that it is about is judged.

mod context;
mod intake;
mod judged;
mod observation;
mod open;
mod run;
mod session;
mod state;
mod tool_call;
mod window;

use std::collections::{BTreeMap, BTreeSet};

use annals_domain::{Command, FrameId, IntentId, Kind};
use annals_domain::{intent, plan, task};
use uuid::Uuid;

pub use self::state::{
    Ask, Intent, Observation, PatchSet, Plan, Run, Session, Settings, Snapshot, SnapshotItem, Step,
    Task,
};
pub use self::tool_call::Call;
pub use self::window::Pipeline;

use self::judged::{Judged, demand, text};
use self::state::Shared;
use super::actor::actor;

/// The only label of the generator with a word for a high risk.
pub(super) const HIGH_LABEL: &str = "payments, tested";

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

/// All objects as they are after the commands so far.
#[derive(Debug, Clone, Default)]
pub struct Model {
    /// How many commands there were.
    pub commands: u64,
    /// What became of the last one.
    pub last: Option<Answer>,
    /// Who gives the one that is judged.
    by: &'static str,
    /// Every object whose id the commands gave.
    pub kinds: BTreeMap<Uuid, Kind>,
    /// The intents.
    pub intents: BTreeMap<Uuid, Intent>,
    /// The plans.
    pub plans: BTreeMap<Uuid, Plan>,
    /// The tasks.
    pub tasks: BTreeMap<Uuid, Task>,
    /// The runs.
    pub runs: BTreeMap<Uuid, Run>,
    /// The tool calls that commands gave an id.
    pub calls: BTreeMap<Uuid, Call>,
    /// The patch sets.
    pub patch_sets: BTreeMap<Uuid, PatchSet>,
    /// The snapshots.
    pub snapshots: BTreeMap<Uuid, Snapshot>,
    /// The pipelines.
    pub pipelines: BTreeMap<Uuid, Pipeline>,
    /// The objects by their aliases.
    pub aliases: BTreeMap<String, Uuid>,
    /// The sessions.
    pub sessions: BTreeMap<Uuid, Session>,
    /// The verdict on the last command that was given to a session.
    pub verdict: Option<&'static str>,
    /// The log's settings.
    pub settings: Settings,
    /// The observations.
    pub observations: BTreeMap<Uuid, Observation>,
    /// How many objects the log gave ids that are not known here.
    own_ids: u128,
    shared: Shared,
}

impl Model {
    /// Judges a command, and takes it in if it is accepted.
    pub fn take(&mut self, command: &Command) -> Answer {
        self.by = match actor(self.commands, command).id.as_str() {
            "ada" => "ada",
            "bob" => "bob",
            _ => "tester",
        };
        let mut next = self.clone();
        let answer = match next.judge(command) {
            Some(true) => Answer::Accepted,
            Some(false) => Answer::Nothing,
            None => Answer::Refused,
        };
        if answer == Answer::Accepted {
            if next.by != "tester" {
                next.note_turned_down(self);
            }
            *self = next;
        }
        self.commands += 1;
        self.last = Some(answer);
        answer
    }

    /// What a person made fail or rejected.
    fn note_turned_down(&mut self, before: &Model) {
        for (id, task) in &mut self.tasks {
            let had_failed = before.tasks.get(id).is_some_and(|it| it.status == "failed");
            task.rejected_by_person |= task.status == "failed" && !had_failed;
        }
        for (id, patch_set) in &self.patch_sets {
            let known = before.patch_sets.get(id);
            let was_rejected = known.is_some_and(|it| it.status == "rejected");
            if patch_set.status == "rejected" && !was_rejected {
                self.runs.entry(patch_set.run).or_default().turned_down = true;
            }
        }
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
                self.intent(c.intent.0, &["active"])?;
                self.goes_on(c.intent.0)?;
                if self.intents[&c.intent.0].stage == "approved" {
                    self.ready(c.intent.0)?;
                }
                self.settled_in(None, &BTreeSet::from([c.intent.0]))?;
                self.intent(c.intent.0, &["active"])?.commit = Some(c.commit);
                Some(true)
            }
            Command::CompleteIntent(c) => self.complete(c),
            Command::CancelIntent(c) => {
                let id = c.intent.0;
                if self.intent(id, &["draft", "active"])?.taken_in {
                    self.may_turn_down(id)?;
                }
                self.end_parts(id)?;
                self.intent(id, &["draft", "active"])?.status = "cancelled";
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
                self.task_at_work(c.task.0)?;
                self.changes(c.task.0)
            }
            Command::AddAcceptanceCriterion(c) => {
                text(&c.criterion)?;
                self.task_at_work(c.task.0)?;
                self.changes(c.task.0)
            }
            Command::AddDependency(c) => self.add_dependency(c),
            Command::FailTask(c) => {
                self.open_task(c.task.0)?.status = "failed";
                self.end_dependents(c.task.0, "failed");
                Some(true)
            }
            Command::CancelTask(c) => {
                let persons = self.open_tasks_of_persons();
                self.open_task(c.task.0)?.status = "cancelled";
                self.end_dependents(c.task.0, "cancelled");
                demand(self.by != "tester" || self.open_tasks_of_persons() == persons)?;
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
                self.works(c.run.0)
            }
            Command::StartValidation(c) => {
                self.run(c.run.0, &["patching"])?.status = "validating";
                self.works(c.run.0)
            }
            Command::FailRun(c) => {
                text(&c.error)?;
                self.unfinished(c.run.0)?.status = "failed";
                Some(true)
            }
            Command::RecordToolInvocation(c) => self.record_tool_invocation(c),
            Command::RequestToolCall(c) => self.request_tool_call(c),
            Command::DecideToolCall(c) => self.decide_tool_call(c),
            Command::BeginToolCall(c) => self.begin_tool_call(c),
            Command::EndToolCall(c) => self.end_tool_call(c),
            Command::ProposePatchSet(c) => self.propose_patch_set(c),
            Command::ApplyPatchSet(c) => {
                let run = self.patch_sets.get(&c.patch_set.0)?.run;
                self.let_go(run)?;
                self.may_commit(run)?;
                self.settled(run)?;
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
            Command::RecordResultCommit(c) => self.record_result_commit(c),
            other => self.judge_context(other),
        }
    }

    fn judge_context(&mut self, command: &Command) -> Judged {
        match command {
            Command::OpenSnapshot(c) => self.open_snapshot(c),
            Command::AddItem(c) => {
                let item = Model::new_item(&c.item)?;
                self.open_items(c.snapshot.0)?.push(item);
                Some(true)
            }
            Command::AttachBlob(c) => self.attach_blob(c),
            Command::FinalizeSnapshot(c) => self.finalize_snapshot(c.snapshot.0),
            Command::CreatePipeline(c) => self.create_pipeline(c),
            Command::PushFrame(c) => self.push_frame(c),
            Command::DropFrames(c) => {
                let pipeline = self.pipelines.get_mut(&c.pipeline.0)?;
                let pushed = pipeline.pushed;
                let frames = match &c.frames {
                    Some(frames) => frames.iter().map(|frame| frame.0).collect(),
                    None => (0..pushed).collect::<Vec<_>>(),
                };
                demand(frames.iter().all(|frame| *frame < pushed))?;
                pipeline.window.retain(|frame| !frames.contains(&frame.id));
                Some(!frames.is_empty())
            }
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
                // Sessions and observations have no checksum.
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
                asked_by: self.by,
                ..Intent::default()
            },
        );
        self.place(Some(id), Kind::Intent)
    }

    fn select_plan(&mut self, c: &intent::SelectPlan) -> Judged {
        let plan = self.plans.get(&c.plan.0)?.clone();
        demand(
            self.owner(c.plan.0)
                .is_none_or(|intent| intent == c.intent.0),
        )?;
        let intent = self.intent(c.intent.0, &["active"])?;
        let (current, chosen) = (intent.plan, Some(c.plan.0));
        intent.plan = chosen;
        demand(!plan.revised)?;
        let latest = current.map(|plan| self.end_of_line(plan));
        demand(latest.is_none() || latest == chosen)?;
        self.unbegun(c.intent.0, chosen)?;
        self.plans.get_mut(&c.plan.0)?.intent = Some(c.intent.0);
        let told = self.tell_of_steps(c.intent.0, chosen)?;
        Some(current != chosen || told)
    }

    /// The last of the revisions of a plan, by what each says that it revises.
    fn end_of_line(&self, plan: Uuid) -> Uuid {
        let revises = |of: Uuid| self.plans.iter().find(|(_, it)| it.previous == Some(of));
        let mut last = plan;
        while let Some((next, _)) = revises(last) {
            last = *next;
        }
        last
    }

    // Plans.

    fn step(&mut self, plan: Uuid, step: u32) -> Option<&mut Step> {
        self.plans.get_mut(&plan)?.steps.get_mut(step as usize)
    }

    fn create_plan(&mut self, c: &plan::CreatePlan) -> Judged {
        let id = c.id?.0;
        self.place(Some(id), Kind::Plan)?;
        let mut intent = c.intent.map(|intent| intent.0);
        if let Some(previous) = c.previous {
            self.plans.get(&previous.0)?;
            let made_for = self.owner(previous.0);
            demand(made_for.is_none() || intent.is_none() || made_for == intent)?;
            intent = intent.or(made_for);
        }
        let latest = intent.and_then(|id| self.intents.get(&id)?.plan);
        let latest = latest.map(|plan| self.end_of_line(plan));
        let previous = c.previous.map(Uuid::from).or(latest);
        demand(latest.is_none() || previous == latest)?;
        if let Some(previous) = previous {
            demand(!std::mem::replace(
                &mut self.plans.get_mut(&previous)?.revised,
                true,
            ))?;
        }
        if let Some(intent) = intent {
            self.unbegun(intent, previous)?;
        }
        if let Some(restored) = c.restores {
            let mut earlier = self.plans.get(&previous?)?.previous;
            while earlier? != restored.0 {
                earlier = self.plans.get(&earlier?)?.previous;
            }
            demand(self.plans.get(&restored.0)?.steps.len() == c.steps.len())?;
        }
        let pipeline = c.pipeline.map(|pipeline| pipeline.0);
        demand(pipeline.is_none_or(|id| self.pipelines.contains_key(&id)))?;
        if let Some((start, end)) = c.fwindow {
            let window = &self.pipelines.get(&pipeline?)?.window;
            demand(start <= end && end as usize <= window.len())?;
        }
        let mut plan = Plan {
            intent,
            previous,
            revised: false,
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
            self.tell_of_steps(intent, Some(id))?;
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
        let plan = self.plans.get(&c.plan.0)?.clone();
        let owner = self.owner(c.plan.0);
        self.open_for_work(owner)?;
        let (pipeline, next) = (plan.pipeline, plan.steps.len());
        demand(c.index.is_none_or(|index| index as usize == next))?;
        let step = self.new_step(pipeline, &c.step)?;
        self.used(pipeline, &c.step.iframes, &BTreeSet::new());
        let task = step.task;
        self.plans.get_mut(&c.plan.0)?.steps.push(step);
        if let (Some(intent), Some(task)) = (owner, task) {
            self.tell_of(intent, task)?;
        }
        Some(true)
    }

    fn set_step_status(&mut self, c: &plan::SetStepStatus) -> Judged {
        if c.status.as_str() == "progressing" && self.plans.contains_key(&c.plan.0) {
            let owner = self.owner(c.plan.0);
            self.open_for_work(owner)?;
            if let Some(owner) = owner {
                self.goes_on(owner)?;
                if self.intents[&owner].stage == "approved" {
                    self.ready(owner)?;
                }
            }
        }
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
        self.plans.get(&c.plan.0)?;
        let planned_for = self.owner(c.plan.0);
        self.open_for_work(planned_for)?;
        let is_for = |intent: IntentId| planned_for.is_none_or(|planned| planned == intent.0);
        demand(c.intent.is_none_or(is_for))?;
        demand(self.step(c.plan.0, c.step)?.task.is_none())?;
        let task = task::CreateTask::new(c.title.as_str())
            .with_id(c.id)
            .with_parent(c.parent)
            .with_intent(c.intent.or(planned_for.map(IntentId)));
        self.create_task(&task)?;
        self.step(c.plan.0, c.step)?.task = c.id.map(Uuid::from);
        Some(true)
    }

    /// No work begins on an intent that is over.
    fn open_for_work(&mut self, intent: Option<Uuid>) -> Option<()> {
        match intent {
            Some(id) => {
                self.open_intent(id)?;
                self.open_above(id)
            }
            None => Some(()),
        }
    }

    // Tasks.

    fn open_task(&mut self, id: Uuid) -> Option<&mut Task> {
        let task = self.tasks.get_mut(&id)?;
        demand(matches!(task.status, "draft" | "running"))?;
        Some(task)
    }

    /// An open task of intents that have not ended.
    fn task_at_work(&mut self, id: Uuid) -> Judged {
        self.open_task(id)?;
        for intent in self.intents_of(id) {
            self.open_for_work(Some(intent))?;
        }
        Some(true)
    }

    /// An agent changes no task of a person.
    fn changes(&self, id: Uuid) -> Judged {
        demand(self.by != "tester" || !self.tasks[&id].persons)?;
        Some(true)
    }

    fn create_task(&mut self, c: &task::CreateTask) -> Judged {
        text(&c.title)?;
        demand(c.title.chars().count() < 100)?;
        let named = c.dependencies.iter().chain(&c.parent);
        demand(named.copied().all(|task| self.tasks.contains_key(&task.0)))?;
        self.open_for_work(c.intent.map(Uuid::from))?;
        if let (None, Some(parent)) = (c.intent, c.parent) {
            for intent in self.intents_of(parent.0) {
                self.open_for_work(Some(intent))?;
            }
        }
        let needs = c.dependencies.iter().map(|task| task.0);
        let lost = self.lost(needs);
        let task = Task {
            status: lost.unwrap_or("draft"),
            persons: self.by != "tester",
            stranded: lost == Some("cancelled"),
            intent: c.intent.map(Uuid::from),
            parent: c.parent.map(Uuid::from),
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
        self.task_at_work(task)?;
        demand(self.tasks.contains_key(&dependency))?;
        demand(!self.waits_for(dependency, task))?;
        let persons = self.open_tasks_of_persons();
        let is_new = self.open_task(task)?.dependencies.insert(dependency);
        if is_new {
            self.changes(task)?;
        }
        let lost = self.lost([dependency]);
        let found = self.open_task(task)?;
        if let Some(lost) = lost.filter(|_| is_new && found.status == "draft") {
            found.status = lost;
            found.stranded = lost == "cancelled";
            self.end_dependents(task, lost);
            let all = lost != "cancelled" || self.open_tasks_of_persons() == persons;
            demand(self.by != "tester" || all)?;
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
}
