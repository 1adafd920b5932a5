//! The reference for what belongs to an intent, and for what of it is open.

use std::collections::BTreeSet;

use annals_domain::intent;
use uuid::Uuid;

use super::judged::{Judged, demand};
use super::{Model, Run, Task};

impl Model {
    /// The intent of a plan: its own, or else that of the plan that revises it.
    pub(super) fn owner(&self, plan: Uuid) -> Option<Uuid> {
        let revision = || self.plans.iter().find(|(_, it)| it.previous == Some(plan));
        let own = self.plans.get(&plan)?.intent;
        own.or_else(|| self.owner(*revision()?.0))
    }

    /// The intents that a task is work on: its own, or else those whose plans have it as
    /// a step, and those of the task that it is a part of.
    pub(super) fn intents_of(&self, task: Uuid) -> BTreeSet<Uuid> {
        let found = &self.tasks[&task];
        if let Some(intent) = found.intent {
            return BTreeSet::from([intent]);
        }
        let has = |plan: &&Uuid| {
            let mut steps = self.plans[*plan].steps.iter();
            steps.any(|step| step.task == Some(task))
        };
        let plans = self.plans.keys().filter(has);
        let mut intents: BTreeSet<Uuid> = plans.filter_map(|plan| self.owner(*plan)).collect();
        if let Some(parent) = found.parent {
            intents.extend(self.intents_of(parent));
        }
        intents
    }

    /// The intents that a run is work on: those of its task, and that of its plan.
    pub(super) fn works_on(&self, task: Uuid, plan: Option<Uuid>) -> BTreeSet<Uuid> {
        let mut intents = self.intents_of(task);
        intents.extend(plan.and_then(|plan| self.owner(plan)));
        intents
    }

    /// The intents that one is a part of, up to one that is executing.
    pub(super) fn above(&self, id: Uuid) -> Vec<Uuid> {
        let (mut above, mut next) = (Vec::new(), self.intents[&id].child_of);
        while let Some(whole) = next {
            above.push(whole);
            let intent = &self.intents[&whole];
            next = intent.child_of.filter(|_| intent.stage != "executing");
        }
        above
    }

    /// Neither an intent nor what it is a part of waits for an approval or was turned down.
    pub(super) fn goes_on(&self, id: Uuid) -> Option<()> {
        let mut all = self.above(id).into_iter().chain([id]);
        demand(all.all(|id| {
            let intent = &self.intents[&id];
            !intent.waits_for_approval() && intent.status != "cancelled"
        }))
    }

    /// Nothing that an intent is a part of has ended.
    pub(super) fn open_above(&self, id: Uuid) -> Option<()> {
        let mut above = self.above(id).into_iter();
        demand(above.all(|id| matches!(self.intents[&id].status, "draft" | "active")))
    }

    /// Neither the task of a run was given up, nor does one of the intents that it is work on wait for an approval, nor was
    /// one turned down.
    pub(super) fn let_go(&self, run: Uuid) -> Option<()> {
        let run = self.runs.get(&run)?;
        let status = self.tasks.get(&run.task)?.status;
        demand(!matches!(status, "failed" | "cancelled"))?;
        let intents = self.works_on(run.task, run.plan);
        demand(intents.iter().all(|id| self.goes_on(*id).is_some()))
    }

    /// The same, but for a run that takes back what was applied.
    pub(super) fn let_go_or_reverts(&self, run: Uuid) -> Option<()> {
        match self.runs.get(&run)?.reverts {
            Some(_) => Some(()),
            None => self.let_go(run),
        }
    }

    /// Who gives the command works on a run, as far as its intents let them.
    pub(super) fn works(&mut self, run: Uuid) -> Judged {
        self.let_go_or_reverts(run)?;
        let by = self.by;
        self.runs.get_mut(&run)?.workers.insert(by);
        Some(true)
    }

    /// No step goes on that an intent gets with a plan while it waits for an approval.
    pub(super) fn unbegun(&self, intent: Uuid, plan: Option<Uuid>) -> Option<()> {
        let mut next = plan;
        while let Some(plan) = next.and_then(|id| self.plans.get(&id)) {
            let mut steps = plan.steps.iter().filter(|_| plan.intent.is_none());
            if steps.any(|step| step.status == "progressing") {
                self.intents.get(&intent)?;
                return self.goes_on(intent);
            }
            next = plan.previous.filter(|_| plan.intent.is_none());
        }
        Some(())
    }

    /// An intent learns of a task that says no intent; whether that was new to it.
    pub(super) fn tell_of(&mut self, intent: Uuid, task: Uuid) -> Judged {
        let is_free = self.tasks.get(&task).is_some_and(|it| it.intent.is_none());
        let known = self.intents.get(&intent).filter(|_| is_free);
        if known.is_none_or(|it| it.tasks.contains(&task)) {
            return Some(false);
        }
        // A task that is done makes nothing done that may not begin.
        if self.tasks[&task].status == "done" {
            self.may_be_done(intent)?;
            self.none_rejected(intent)?;
        }
        self.intents.get_mut(&intent)?.tasks.push(task);
        Some(true)
    }

    /// The same of the tasks of a plan's steps, and of those of the plans before it.
    pub(super) fn tell_of_steps(&mut self, intent: Uuid, plan: Option<Uuid>) -> Judged {
        let (mut next, mut told) = (plan, false);
        while let Some(plan) = next.and_then(|id| self.plans.get(&id)).cloned() {
            for task in plan.steps.iter().filter_map(|step| step.task) {
                told |= self.tell_of(intent, task)?;
            }
            next = plan.previous;
        }
        Some(told)
    }

    /// Nothing of an intent is open when it is completed, or it ends with it; its parts
    /// that are intents must have ended before.
    pub(super) fn complete(&mut self, c: &intent::CompleteIntent) -> Judged {
        let id = c.intent.0;
        let intent = self.intent(id, &["active"])?.clone();
        self.goes_on(id)?;
        self.needed(id)?;
        self.wholes(id)?;
        let failed = self.has_failed(id);
        demand(self.by != "tester" || (!failed && intent.unanswered.is_empty()))?;
        let waits = |child: &Uuid| {
            let status = self.approval(*child);
            matches!(status, "proposed" | "approved" | "executing")
        };
        demand(!intent.children.iter().any(waits))?;
        let persons = self.open_tasks_of_persons();
        let of_plans = self.end_runs_of_plans(id);
        let is_open =
            of_plans | self.end_tasks(id) | self.end_steps(id) | !intent.unanswered.is_empty();
        demand(c.abandon_open || !is_open)?;
        demand(self.by != "tester" || self.open_tasks_of_persons() == persons)?;
        let intent = self.intent(id, &["active"])?;
        if !intent.unanswered.is_empty() && intent.stage == "executing" {
            intent.stage = "approved";
        }
        intent.unanswered.clear();
        intent.status = "completed";
        Some(true)
    }

    pub(super) fn open_tasks_of_persons(&self) -> BTreeSet<Uuid> {
        let is_open = |task: &Task| matches!(task.status, "draft" | "running");
        let persons = self.tasks.iter();
        let persons =
            persons.filter(|(id, task)| is_open(task) && (task.persons || self.is_rejected(**id)));
        persons.map(|(id, _)| *id).collect()
    }

    /// Ends the open tasks of an intent and their runs; whether there were any.
    fn end_tasks(&mut self, intent: Uuid) -> bool {
        let tasks = self.tasks.keys().copied();
        let of_it: BTreeSet<Uuid> = tasks
            .filter(|task| self.intents_of(*task).contains(&intent))
            .collect();
        let mut any = false;
        for (id, task) in &mut self.tasks {
            if of_it.contains(id) && matches!(task.status, "draft" | "running") {
                task.status = "cancelled";
                any = true;
            }
        }
        for run in self.runs.values_mut() {
            let is_open = matches!(run.status, "created" | "patching" | "validating");
            if of_it.contains(&run.task) && is_open {
                run.status = "failed";
                any = true;
            }
        }
        any
    }

    /// Ends the open runs that carry out plans of an intent, and the open tasks of these
    /// that belong to no intent; whether there were any.
    fn end_runs_of_plans(&mut self, intent: Uuid) -> bool {
        let of_it = |run: &Run| run.plan.and_then(|plan| self.owner(plan)) == Some(intent);
        let is_open = |run: &Run| matches!(run.status, "created" | "patching" | "validating");
        let runs = self.runs.iter();
        let ended: Vec<(Uuid, Uuid)> = runs
            .filter(|(_, run)| is_open(run) && of_it(run))
            .map(|(id, run)| (*id, run.task))
            .collect();
        for (run, task) in &ended {
            self.runs.entry(*run).or_default().status = "failed";
            let is_free = self.intents_of(*task).is_empty();
            let task = self.tasks.entry(*task).or_default();
            if is_free && matches!(task.status, "draft" | "running") {
                task.status = "cancelled";
            }
        }
        !ended.is_empty()
    }

    /// Ends the steps of an intent's plans that go on; whether there were any.
    fn end_steps(&mut self, intent: Uuid) -> bool {
        let plans = self.plans.keys().copied();
        let of_it: Vec<Uuid> = plans
            .filter(|plan| self.owner(*plan) == Some(intent))
            .collect();
        let mut any = false;
        for plan in of_it {
            for step in &mut self.plans.entry(plan).or_default().steps {
                if step.status == "progressing" {
                    step.status = "failed";
                    any = true;
                }
            }
        }
        any
    }
}
