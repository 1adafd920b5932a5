//! Random commands, valid and invalid, about the objects that are there.
//!
//! Half of them take an object a step on in its life, so that histories get
//! somewhere; the others are any command at all. Ids are mostly those of
//! objects of the right kind, and sometimes of others or of nothing.

mod any;
mod intake;
mod observations;
mod sessions;
mod tool_calls;

use annals_domain::intent::{ActivateIntent, AnalyzeIntent, CreateIntent, SelectPlan};
use annals_domain::pipeline::CreatePipeline;
use annals_domain::plan::{CreatePlan, NewStep, SetStepStatus, SpawnStepTask, StepStatus};
use annals_domain::run::{
    ApplyPatchSet, CreateRun, Decide, DecisionType, RecordResultCommit, StartPatching,
    StartValidation,
};
use annals_domain::task::CreateTask;
use annals_domain::{Command, GitOid, Json, Kind, Ordered};
use uuid::Uuid;

use super::dice::Dice;
use super::model::Model;

/// Makes a command about the objects of a model.
pub fn command(model: &Model, dice: Dice) -> Command {
    let mut draw = Draw { model, dice };
    if draw.dice.once_in(2) {
        draw.any_command()
    } else {
        draw.step_on()
    }
}

/// A model and the dice to choose from it by.
struct Draw<'a> {
    model: &'a Model,
    dice: Dice,
}

impl Draw<'_> {
    // Ids.

    /// An id that nothing has: no two commands of a history make the same.
    fn fresh(&self) -> Uuid {
        Uuid::from_u128(0x1_0000 + u128::from(self.model.commands))
    }

    /// The id for a new object: sometimes one that is taken.
    fn new_id(&mut self) -> Uuid {
        let taken: Vec<Uuid> = self.model.kinds.keys().copied().collect();
        if self.dice.once_in(16) {
            self.dice.pick(&taken).unwrap_or(self.fresh())
        } else {
            self.fresh()
        }
    }

    /// The id for an object inside a run, which the log may give.
    fn optional_id(&mut self) -> Option<Uuid> {
        let id = self.new_id();
        (!self.dice.once_in(3)).then_some(id)
    }

    fn all(&self, kind: Kind) -> Vec<Uuid> {
        let of_kind = self.model.kinds.iter().filter(|(_, found)| **found == kind);
        of_kind.map(|(id, _)| *id).collect()
    }

    /// An object of a kind, most often one whose life is not over; now and
    /// then one of another kind or none at all.
    fn of(&mut self, kind: Kind) -> Uuid {
        let nothing = Uuid::from_u128(7);
        let mut choices = self.all(kind);
        match self.dice.roll(24) {
            0..16 => {
                let live: Vec<Uuid> = choices
                    .iter()
                    .filter(|id| self.is_live(**id))
                    .copied()
                    .collect();
                if !live.is_empty() {
                    choices = live;
                }
            }
            22 => choices = self.model.kinds.keys().copied().collect(),
            23 => choices.clear(),
            _ => {}
        }
        self.dice.pick(&choices).unwrap_or(nothing)
    }

    fn is_live(&self, id: Uuid) -> bool {
        const OVER: &[&str] = &[
            "completed",
            "cancelled",
            "done",
            "failed",
            "applied",
            "rejected",
            "reverted",
        ];
        let model = self.model;
        let over = |status: &str| OVER.contains(&status);
        let intent = model
            .intents
            .get(&id)
            .is_some_and(|intent| over(intent.status));
        let task = model.tasks.get(&id).is_some_and(|task| over(task.status));
        let run = model.runs.get(&id).is_some_and(|run| over(run.status));
        let patch_set = model
            .patch_sets
            .get(&id)
            .is_some_and(|found| over(found.status));
        let snapshot = model
            .snapshots
            .get(&id)
            .is_some_and(|snapshot| snapshot.finalized);
        let session = model
            .sessions
            .get(&id)
            .is_some_and(|session| matches!(session.life, "Error" | "Completed"));
        let observation = model
            .observations
            .get(&id)
            .is_some_and(|observation| observation.processed.is_some());
        !(intent || task || run || patch_set || snapshot || session || observation)
    }

    /// Whether to make the first object of a kind before asking anything of it.
    fn lacks(&mut self, kind: Kind) -> bool {
        self.all(kind).is_empty() && !self.dice.once_in(8)
    }

    fn id<T: From<Uuid>>(&mut self, kind: Kind) -> T {
        self.of(kind).into()
    }

    fn optional<T: From<Uuid>>(&mut self, kind: Kind) -> Option<T> {
        let given = !self.all(kind).is_empty() && !self.dice.once_in(3);
        given.then(|| self.id(kind))
    }

    // Values.

    /// A text, which must not be blank and sometimes is.
    fn text(&mut self) -> String {
        if self.dice.once_in(24) {
            " ".to_owned()
        } else {
            self.words()
        }
    }

    fn words(&mut self) -> String {
        format!("words {}", self.dice.roll(1_000))
    }

    fn reason(&mut self) -> Option<String> {
        (!self.dice.once_in(2)).then(|| self.words())
    }

    fn title(&mut self) -> String {
        let letter = if self.dice.once_in(2) { "é" } else { "t" };
        match self.dice.roll(12) {
            9 => letter.repeat(99),
            10 => letter.repeat(100),
            11 => "\t ".to_owned(),
            _ => self.words(),
        }
    }

    fn json(&mut self) -> Json {
        let text = format!(r#"{{"n": {}}}"#, self.dice.roll(1_000));
        Json::parse(&text).expect("it is JSON")
    }

    fn oid(&mut self) -> GitOid {
        GitOid::Sha1([u8::try_from(self.dice.roll(256)).expect("under 256"); 20])
    }

    fn optional_oid(&mut self) -> Option<GitOid> {
        (!self.dice.once_in(2)).then(|| self.oid())
    }

    fn number(&mut self, sides: usize) -> u32 {
        u32::try_from(self.dice.roll(sides)).expect("it is small")
    }

    fn labels(&mut self) -> Option<Ordered<String>> {
        let count = self.dice.roll(3);
        let pairs = (0..count)
            .map(|n| (format!("key {n}"), self.words()))
            .collect();
        (!self.dice.once_in(3)).then_some(pairs)
    }

    // A step on.

    fn step_on(&mut self) -> Command {
        match self.dice.roll(27) {
            0..3 => self.step_intent_on(),
            3..5 => self.step_plan_on(),
            6..11 => self.step_revert_on(),
            11 => self.step_pipeline_on(),
            12..16 => self.step_session_on(),
            16..22 => self.step_intake_on(),
            5 if self.model.tasks.len() < 4 => self.new_task().into(),
            _ => self.step_run_on(),
        }
    }

    fn step_plan_on(&mut self) -> Command {
        let id = self.of(Kind::Plan);
        let steps = self
            .model
            .plans
            .get(&id)
            .map(|plan| plan.steps.clone())
            .unwrap_or_default();
        let index = self.dice.roll(steps.len());
        let (Some(step), Ok(number)) = (steps.get(index), u32::try_from(index)) else {
            return self.plain_plan().into();
        };
        // Its task is an intent's once an intent has the plan.
        if step.task.is_none() && self.dice.once_in(3) {
            return SpawnStepTask::new(id.into(), number, self.words())
                .with_id(Some(self.fresh().into()))
                .into();
        }
        let status = match step.status {
            "pending" => StepStatus::Progressing,
            _ => StepStatus::Completed,
        };
        SetStepStatus::new(id.into(), number, status).into()
    }

    fn step_pipeline_on(&mut self) -> Command {
        let id = self.of(Kind::ContextPipeline);
        if !self.model.pipelines.contains_key(&id) {
            let id = Some(self.fresh().into());
            return CreatePipeline::new()
                .with_id(id)
                .with_max_frames(self.number(4))
                .into();
        }
        // Frames are there to be used.
        let uses = self
            .model
            .plans
            .iter()
            .find(|(_, plan)| plan.pipeline == Some(id));
        match uses {
            Some((plan, _)) if self.dice.once_in(2) => self.link_frames(*plan).into(),
            _ => self.frame(id.into()).into(),
        }
    }

    /// A plan that is accepted wherever its pipeline is one.
    fn plain_plan(&mut self) -> CreatePlan {
        let steps: Vec<_> = (0..=self.dice.roll(3))
            .map(|_| NewStep::new(self.words()))
            .collect();
        let pipeline = self.optional(Kind::ContextPipeline);
        CreatePlan::default()
            .with_id(Some(self.fresh().into()))
            .with_pipeline(pipeline)
            .with_steps(steps)
    }

    fn step_intent_on(&mut self) -> Command {
        let id = self.of(Kind::Intent);
        match self
            .model
            .intents
            .get(&id)
            .map(|intent| (intent.status, intent.analyzed))
        {
            Some(("draft", false)) => AnalyzeIntent::new(id.into(), self.words()).into(),
            Some(("draft", true)) => ActivateIntent::new(id.into()).into(),
            Some(("active", _)) if self.dice.once_in(4) => {
                SelectPlan::new(id.into(), self.id(Kind::Plan)).into()
            }
            Some(("active", _)) => self.plain_plan().with_intent(Some(id.into())).into(),
            _ => {
                let id = Some(self.fresh().into());
                CreateIntent::new(self.words()).with_id(id).into()
            }
        }
    }

    fn new_task(&mut self) -> CreateTask {
        let intent = self.optional(Kind::Intent);
        CreateTask::new(self.words())
            .with_id(Some(self.fresh().into()))
            .with_intent(intent)
    }

    fn next_run(&mut self) -> Command {
        let task = self.of(Kind::Task);
        if !self.model.tasks.contains_key(&task) {
            return self.new_task().into();
        }
        CreateRun::new(task.into())
            .with_id(Some(self.fresh().into()))
            .with_plan(self.optional(Kind::Plan))
            .with_commit(self.optional_oid())
            .into()
    }

    /// A run that reverts what was applied, from its beginning to its decision.
    fn step_revert_on(&mut self) -> Command {
        let model = self.model;
        let mut runs = model.runs.iter();
        if let Some((run, _)) = runs.find(|(id, run)| run.reverts.is_some() && self.is_live(**id)) {
            return self.step_this_run_on(*run);
        }
        let applied = model
            .patch_sets
            .iter()
            .filter(|(_, found)| found.status == "applied");
        let applied: Vec<(Uuid, Uuid)> = applied.map(|(id, found)| (*id, found.run)).collect();
        let Some((patch_set, run)) = self.dice.pick(&applied) else {
            return self.step_run_on();
        };
        let task = model.runs.get(&run).map_or(Uuid::nil(), |run| run.task);
        let reverts = Some(patch_set.into());
        CreateRun::new(task.into())
            .with_id(Some(self.fresh().into()))
            .with_reverts(reverts)
            .into()
    }

    fn step_run_on(&mut self) -> Command {
        let id = self.of(Kind::Run);
        self.step_this_run_on(id)
    }

    fn step_this_run_on(&mut self, id: Uuid) -> Command {
        let Some(run) = self.model.runs.get(&id) else {
            return self.next_run();
        };
        let of_run = self
            .model
            .patch_sets
            .iter()
            .filter(|(_, patch_set)| patch_set.run == id);
        let statuses: Vec<(Uuid, &str)> = of_run.map(|(id, found)| (*id, found.status)).collect();
        let run_id = id.into();
        match (run.status, run.decided) {
            ("created", _) => StartPatching::new(run_id).into(),
            ("patching", _)
                if (statuses.is_empty() && run.reverts.is_none()) || self.dice.once_in(3) =>
            {
                self.patch_set(run_id).into()
            }
            ("patching", _) => StartValidation::new(run_id).into(),
            ("validating", _) if self.dice.once_in(4) => self.review_of(run.task).into(),
            ("validating", _) if self.dice.once_in(3) => {
                match statuses.iter().find(|(_, status)| *status == "proposed") {
                    Some((id, _)) => ApplyPatchSet::new((*id).into()).into(),
                    None => self.patch_set(run_id).into(),
                }
            }
            ("validating", _) => self.verdict(run_id, run.reverts, &statuses).into(),
            ("failed", false) => {
                let verdicts = [DecisionType::Retry, DecisionType::Abandon];
                let verdict = self.dice.pick(&verdicts).unwrap_or(DecisionType::Retry);
                Decide::new(run_id, verdict)
                    .with_id(Some(self.fresh().into()))
                    .into()
            }
            ("completed", true) if run.result.is_none() && self.dice.once_in(2) => {
                match run.commits {
                    Some(decision) => RecordResultCommit::new(decision.into(), self.oid()).into(),
                    None => self.next_run(),
                }
            }
            _ => self.next_run(),
        }
    }

    /// A decision that fits the run.
    fn verdict(
        &mut self,
        run: annals_domain::RunId,
        reverts: Option<Uuid>,
        statuses: &[(Uuid, &str)],
    ) -> Decide {
        let usable = statuses
            .iter()
            .find(|(_, status)| matches!(*status, "proposed" | "applied"));
        let chosen_patchset_id = usable.map(|(id, _)| (*id).into());
        let others = [
            DecisionType::Checkpoint,
            DecisionType::Abandon,
            DecisionType::Other("escalate".into()),
        ];
        let verdict = match self.dice.roll(6) {
            0 => DecisionType::Retry,
            1..4 if reverts.is_some() => DecisionType::Rollback,
            1..5 if usable.is_some() => DecisionType::Commit,
            _ => self.dice.pick(&others).unwrap_or(DecisionType::Retry),
        };
        let commits = verdict == DecisionType::Commit;
        Decide::new(run, verdict)
            .with_id(Some(self.fresh().into()))
            .with_chosen_patchset_id(chosen_patchset_id.filter(|_| commits))
            .with_result_commit_sha(self.optional_oid().filter(|_| commits))
            .with_rationale(self.reason())
    }
}
