//! What of an intent is still open, and how it ends with the intent.

use super::rejections::is_rejected_by_a_person;
use super::status::status_in;
use super::tasks::{intents_of_task, tasks_of};
use super::{ApprovalStatus, ClarificationAnswered, Standing, State};
use crate::pieces::Pieces;
use crate::plan::{self, StepStatus, StepStatusChanged};
use crate::world::{Emitted, World};
use crate::{DecideError, IntentId, Naming, PlanId, RunId, TaskId, run, task};

/// More than this a refusal does not name.
const NAMED: usize = 8;

/// Why a run or a step fails, a task is cancelled and a question gets no answer, where
/// the caller gave no reason.
const REASON: &str = "the intent was completed";

/// Tasks that are draft or running, runs that have not ended, steps that go on,
/// questions without an answer, and intents that it was split into.
pub(super) struct OpenWork {
    tasks: Vec<(TaskId, task::Status)>,
    runs: Vec<(RunId, run::Status)>,
    steps: Vec<(PlanId, u32)>,
    questions: Vec<u32>,
    children: Vec<(IntentId, ApprovalStatus)>,
    /// Whether a person created one of the tasks, or rejected the work on it.
    has_a_persons_task: bool,
}

/// What is open of an intent. All its parts, its plans, and the runs of its tasks
/// are read, so that the append is guarded on all of them.
pub(super) fn open_work(
    world: &mut World,
    id: IntentId,
    intent: &State,
) -> Result<OpenWork, DecideError> {
    let (of_it, plans) = tasks_of(world, id, intent)?;
    let mut open = OpenWork {
        tasks: Vec::new(),
        runs: Vec::new(),
        steps: steps(world, &plans)?,
        questions: intent.unanswered.iter().copied().collect(),
        children: children(world, intent)?,
        has_a_persons_task: false,
    };
    for id in of_it {
        let Some(task) = world.task_if_any(id)? else {
            continue;
        };
        open.add_task(world, id, &task)?;
        for run in runs_of(world, id, &task)? {
            if let Some(state) = world.run_if_any(run)? {
                open.add_run(run, state.status);
            }
        }
    }
    for plan in &plans {
        open.add_runs_of_plan(world, *plan)?;
    }
    Ok(open)
}

/// The attempts at a task: those that it knows, and those that imports brought.
fn runs_of(world: &mut World, id: TaskId, task: &task::State) -> Result<Vec<RunId>, DecideError> {
    let mut runs = task.runs.clone();
    for run in world.naming(Naming::RunTask, id.0)? {
        let run = RunId(run);
        let state = world.run_if_any(run)?;
        if state.is_some_and(|it| it.task == Some(id)) && !task.runs.contains(&run) {
            runs.push(run);
        }
    }
    Ok(runs)
}

/// The steps of plans that are progressing.
fn steps(world: &mut World, plans: &[PlanId]) -> Result<Vec<(PlanId, u32)>, DecideError> {
    let mut steps = Vec::new();
    for plan in plans {
        let state = world.plan(*plan)?;
        for (number, step) in (0..).zip(&state.steps) {
            if step.status == StepStatus::Progressing {
                steps.push((*plan, number));
            }
        }
    }
    Ok(steps)
}

/// The intents that one was split into and that are not settled.
fn children(
    world: &mut World,
    intent: &State,
) -> Result<Vec<(IntentId, ApprovalStatus)>, DecideError> {
    let mut children = Vec::new();
    for child in &intent.children {
        if world.intent_if_any(*child)?.is_none() {
            continue;
        }
        let status = status_in(world, *child)?;
        if status.standing() == Some(Standing::Open) {
            children.push((*child, status));
        }
    }
    Ok(children)
}

impl OpenWork {
    fn add_task(
        &mut self,
        world: &mut World,
        id: TaskId,
        task: &task::State,
    ) -> Result<(), DecideError> {
        let status = task.status;
        let is_open = matches!(status, task::Status::Draft | task::Status::Running);
        if is_open && !self.tasks.contains(&(id, status)) {
            self.tasks.push((id, status));
            self.has_a_persons_task |= task.is_a_persons || is_rejected_by_a_person(world, task)?;
        }
        Ok(())
    }

    /// Whether a person created a task that is open, or rejected the work on it.
    pub(super) fn has_a_persons_task(&self) -> bool {
        self.has_a_persons_task
    }

    fn add_run(&mut self, id: RunId, status: run::Status) {
        if status.is_unfinished() && !self.runs.contains(&(id, status)) {
            self.runs.push((id, status));
        }
    }

    /// The runs that carry out a plan, whichever tasks they have. A task that
    /// belongs to no intent ends with its run: that of another intent does not end with this one.
    fn add_runs_of_plan(&mut self, world: &mut World, plan: PlanId) -> Result<(), DecideError> {
        for run in world.naming(Naming::RunPlan, plan.0)? {
            let run = RunId(run);
            let state = world.run_if_any(run)?;
            let open = state.filter(|it| it.plan == Some(plan) && it.is_unfinished());
            let Some(state) = open else {
                continue;
            };
            self.add_run(run, state.status);
            if let Some(id) = state.task
                && intents_of_task(world, id)?.is_empty()
                && let Some(task) = world.task_if_any(id)?
            {
                self.add_task(world, id, &task)?;
            }
        }
        Ok(())
    }

    fn is_empty(&self) -> bool {
        self.tasks.is_empty()
            && self.runs.is_empty()
            && self.steps.is_empty()
            && self.questions.is_empty()
            && self.children.is_empty()
    }

    /// What must be so for the intent to be completed, if it is not so. What others
    /// requested does not end with it.
    pub(super) fn in_the_way(&self, abandon_open: bool) -> Option<&'static str> {
        if !self.children.is_empty() {
            let allowed = "active and the intents that it was split into are settled \
                           (complete_intent, reject_intent or cancel_intent of each)";
            return Some(allowed);
        }
        let allowed = "active and nothing of it is open (or with abandon_open, which ends it)";
        (!abandon_open && !self.is_empty()).then_some(allowed)
    }

    /// Each with its state, as a refusal says it. What only others can end comes first.
    pub(super) fn named(&self) -> String {
        let children = self.children.iter();
        let children = children.map(|(id, status)| format!("intent {id} is {status}"));
        let tasks = self.tasks.iter();
        let tasks = tasks.map(|(id, status)| format!("task {id} is {}", status.name()));
        let runs = self.runs.iter();
        let runs = runs.map(|(id, status)| format!("run {id} is {}", status.name()));
        let steps = self.steps.iter();
        let steps = steps.map(|(plan, step)| format!("step {step} of plan {plan} is progressing"));
        let questions = self.questions.iter();
        let questions = questions.map(|number| format!("question {number} has no answer"));
        let mut named: Vec<String> = children
            .chain(tasks)
            .chain(runs)
            .chain(steps)
            .chain(questions)
            .collect();
        let more = named.len().saturating_sub(NAMED);
        named.truncate(NAMED);
        if more > 0 {
            named.push(format!("{more} more are open"));
        }
        named.join(", ")
    }

    /// Ends all that ends with the intent.
    pub(super) fn abandoned(&self, id: IntentId, reason: Option<&str>) -> Vec<Emitted> {
        let reason = reason.filter(|it| !it.trim().is_empty()).unwrap_or(REASON);
        let fail = |(id, _): &(RunId, run::Status)| {
            let mut pieces = Pieces::new();
            let error = pieces.text(reason);
            run::decide::emit(*id, run::Failed { error }, pieces)
        };
        let cancel = |(id, _): &(TaskId, task::Status)| {
            let mut pieces = Pieces::new();
            let reason = Some(pieces.text(reason));
            task::decide::emit(*id, task::Cancelled::new(reason), pieces)
        };
        let stop = |(plan, index): &(PlanId, u32)| {
            let mut pieces = Pieces::new();
            let failed = StepStatusChanged {
                index: *index,
                status: StepStatus::Failed,
                reason: Some(pieces.text(reason)),
            };
            plan::decide::emit(*plan, failed, pieces)
        };
        let close = |question: &u32| {
            let mut pieces = Pieces::new();
            let answered = ClarificationAnswered {
                question: *question,
                answer: pieces.text(format!("not answered: {reason}")),
            };
            super::decide::emit(id, answered, pieces)
        };
        let ended = self.runs.iter().map(fail);
        let ended = ended.chain(self.tasks.iter().map(cancel));
        let ended = ended.chain(self.steps.iter().map(stop));
        ended.chain(self.questions.iter().map(close)).collect()
    }
}
