//! The reference for runs and what is in them.

use std::collections::BTreeSet;

use annals_domain::Kind;
use annals_domain::run::{self, DecisionType};
use uuid::Uuid;

use super::judged::{Judged, demand, parts, text};
use super::{Model, PatchSet, Run};

impl Model {
    pub(super) fn run(&mut self, id: Uuid, allowed: &[&str]) -> Option<&mut Run> {
        let run = self.runs.get_mut(&id)?;
        demand(allowed.contains(&run.status))?;
        Some(run)
    }

    pub(super) fn unfinished(&mut self, id: Uuid) -> Option<&mut Run> {
        self.run(id, &["created", "patching", "validating"])
    }

    pub(super) fn create_run(&mut self, c: &run::CreateRun) -> Judged {
        let reverts = c.reverts.map(Uuid::from);
        if let Some(patch_set) = reverts {
            let patch_set = self.patch_sets.get(&patch_set)?;
            demand(patch_set.status == "applied")?;
            demand(self.runs.get(&patch_set.run)?.task == c.task.0)?;
        }
        demand(c.plan.is_none_or(|plan| self.plans.contains_key(&plan.0)))?;
        if let Some(snapshot) = c.snapshot {
            self.snapshot_of_run(snapshot.0)?;
        }
        let task = self.tasks.get(&c.task.0)?;
        if task.status == "draft" {
            let mut needs = task.dependencies.iter().map(|id| self.newest(*id));
            demand(needs.all(|id| self.tasks[&id].status == "done"))?;
        }
        let intents = self.works_on(c.task.0, c.plan.map(Uuid::from));
        for intent in intents.into_iter().filter(|_| reverts.is_none()) {
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
            plan: c.plan.map(Uuid::from),
            has_snapshot: c.snapshot.is_some(),
            reverts,
            workers: [self.by].into(),
            ..Run::default()
        };
        let id = c.id?.0;
        self.tasks.get_mut(&c.task.0)?.last_run = Some(id);
        self.runs.insert(id, run);
        self.place(Some(id), Kind::Run)
    }

    pub(super) fn attach_snapshot(&mut self, c: &run::AttachSnapshot) -> Judged {
        self.snapshot_of_run(c.snapshot.0)?;
        self.let_go_or_reverts(c.run.0)?;
        let run = self.unfinished(c.run.0)?;
        demand(!run.has_snapshot)?;
        run.has_snapshot = true;
        Some(true)
    }

    pub(super) fn propose_patch_set(&mut self, c: &run::ProposePatchSet) -> Judged {
        c.touched.iter().try_for_each(|file| text(&file.path))?;
        let run = c.run.0;
        self.run(run, &["patching", "validating"])?;
        self.works(run)?;
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

    pub(super) fn record_evidence(&mut self, c: &run::RecordEvidence) -> Judged {
        text(&c.tool)?;
        parts(&c.report)?;
        self.unfinished(c.run.0)?;
        if let Some(patch_set) = c.patchset_id {
            demand(self.patch_sets.get(&patch_set.0)?.run == c.run.0)?;
        }
        self.place(c.id.map(Uuid::from), Kind::Evidence)
    }

    pub(super) fn record_provenance(&mut self, c: &run::RecordProvenance) -> Judged {
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

    pub(super) fn decide(&mut self, c: &run::Decide) -> Judged {
        if c.decision_type == DecisionType::Commit {
            self.may_commit(c.run.0)?;
        }
        self.reviewed(c)
    }

    /// An agent commits nothing of a task that it worked on, once a review or a person rejected that.
    pub(super) fn may_commit(&self, run: Uuid) -> Option<()> {
        let task = self.runs.get(&run)?.task;
        let is_rejected = self.tasks.get(&task)?.rejections > 0 || self.is_rejected(task);
        demand(self.by != "tester" || !is_rejected || !self.worked(task))
    }

    /// Whether a person rejected the work on a task.
    pub(super) fn is_rejected(&self, task: Uuid) -> bool {
        let turned_down = |run: &Run| run.task == task && run.turned_down;
        self.tasks[&task].rejected_by_person || self.runs.values().any(turned_down)
    }

    /// Whether a person rejected the work on a task, and nothing settled that.
    fn is_rejection_open(&self, id: Uuid) -> bool {
        let task = &self.tasks[&id];
        let is_over = task.superseded || matches!(task.status, "done" | "cancelled");
        !is_over && self.is_rejected(id)
    }

    /// Whether a person rejected a task of an intent, which is not settled.
    pub(super) fn has_rejected(&self, intent: Uuid) -> bool {
        let mut tasks = self.tasks.keys();
        tasks.any(|id| self.intents_of(*id).contains(&intent) && self.is_rejection_open(*id))
    }

    /// Whether the actor worked on a task.
    fn worked(&self, task: Uuid) -> bool {
        let mut attempts = self.runs.values().filter(|it| it.task == task);
        attempts.any(|it| it.workers.contains(self.by))
    }

    /// An agent commits nothing beside what a person rejected, before that is tried again or settled: of what that belongs
    /// to, no agent once it failed, and none who worked on it.
    pub(super) fn settled(&self, run: Uuid) -> Option<()> {
        let run = self.runs.get(&run)?;
        self.settled_in(Some(run.task), &self.works_on(run.task, run.plan))
    }

    /// The same of work on a task, or on intents.
    pub(super) fn settled_in(&self, task: Option<Uuid>, of_it: &BTreeSet<Uuid>) -> Option<()> {
        if self.by != "tester" {
            return Some(());
        }
        for (id, is_barred) in self.rejections(task, of_it) {
            let is_itself = Some(id) == task && self.tasks[&id].status != "failed";
            demand(!is_barred && (is_itself || !self.worked(id)))?;
        }
        Some(())
    }

    /// An agent brings no task that is done to what has a rejected task.
    pub(super) fn none_rejected(&self, intent: Uuid) -> Option<()> {
        let none = self.rejections(None, &BTreeSet::from([intent])).is_empty();
        demand(self.by != "tester" || none)
    }

    /// The rejected tasks of intents, of what these are a part of, of the other parts of that, and of the tasks above
    /// and below one; and whether no agent commits before a rerun.
    fn rejections(&self, task: Option<Uuid>, of_it: &BTreeSet<Uuid>) -> Vec<(Uuid, bool)> {
        let whole = |id: &Uuid| self.intents[id].child_of;
        let above = |id: &Uuid| std::iter::successors(Some(*id), whole);
        let above: BTreeSet<Uuid> = of_it.iter().flat_map(above).collect();
        let mut all: BTreeSet<Uuid> = above.clone();
        let mut open: Vec<Uuid> = above.iter().copied().collect();
        while let Some(id) = open.pop() {
            let parts = self.intents[&id].children.iter();
            open.extend(parts.copied().filter(|part| all.insert(*part)));
        }
        let topmost = |id: Uuid| {
            let parent = |id: &Uuid| self.tasks[id].parent;
            std::iter::successors(Some(id), parent).last()
        };
        let is_open = |id: &Uuid| {
            let intent = &self.intents[id];
            matches!(intent.status, "draft" | "active") && intent.stage != "rejected"
        };
        let mut found = Vec::new();
        for id in self.tasks.keys().filter(|id| self.is_rejection_open(**id)) {
            let own = self.intents_of(*id);
            let runs = self.runs.values().filter(|run| run.task == *id);
            let by_plan = runs.filter_map(|run| run.plan.and_then(|plan| self.owner(plan)));
            let by_plan: BTreeSet<Uuid> = by_plan.collect();
            let of = |intents: &BTreeSet<Uuid>, some: &BTreeSet<Uuid>| {
                intents.iter().any(|it| some.contains(it) && is_open(it))
            };
            let is_family = task.is_some_and(|task| topmost(*id) == topmost(task));
            let goes_on = own.is_empty() || own.iter().any(is_open);
            let is_related = of(&own, &all) || ((is_family || of(&by_plan, &all)) && goes_on);
            if is_related {
                let mut tried_again = own.iter().filter(|it| above.contains(it) && is_open(it));
                let failed = self.tasks[id].status == "failed";
                let waits = failed && tried_again.any(|it| self.intents[it].taken_in);
                found.push((*id, waits));
            }
        }
        found
    }

    /// The same where a review decided.
    pub(super) fn reviewed(&mut self, c: &run::Decide) -> Judged {
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
        run.turned_down |= self.by != "tester" && matches!(verdict, "retry" | "abandon");
        let saves = !matches!(verdict, "commit" | "retry" | "abandon" | "rollback");
        demand(saves || c.checkpoint_id.is_none())?;
        let run = run.clone();
        match c.decision_type {
            DecisionType::Commit => self.commit(c, &run)?,
            DecisionType::Retry => {
                self.let_go_or_reverts(c.run.0)?;
                self.still_running(&run)?;
                let left = self.retries(run.task) < self.settings.retries;
                demand(run.reverts.is_some() || left)?;
                self.runs.get_mut(&c.run.0)?.retried = true;
                let own = self
                    .patch_sets
                    .values_mut()
                    .filter(|patch_set| patch_set.run == c.run.0);
                own.filter(|patch_set| patch_set.status == "proposed")
                    .for_each(|patch_set| patch_set.status = "rejected");
            }
            // Where the task is over already, the run ends alone.
            DecisionType::Abandon => {
                if self.still_running(&run).is_some() {
                    self.end_task(&run, "failed")?;
                }
            }
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
            DecisionType::Checkpoint => {
                self.let_go_or_reverts(c.run.0)?;
                self.still_running(&run)?;
            }
            DecisionType::Other(_) => self.let_go_or_reverts(c.run.0)?,
        }
        let run = self.runs.get_mut(&c.run.0)?;
        run.commits = c.id.map(Uuid::from).filter(|_| verdict == "commit");
        run.result = c.result_commit_sha;
        self.place(c.id.map(Uuid::from), Kind::Decision)
    }

    pub(super) fn commit(&mut self, c: &run::Decide, run: &Run) -> Option<()> {
        self.let_go(c.run.0)?;
        self.settled(c.run.0)?;
        if run.reverts.is_none() {
            let mut intents = self.works_on(run.task, run.plan).into_iter();
            demand(intents.all(|id| self.may_be_done(id).is_some()))?;
        }
        let patch_set = self.patch_sets.get_mut(&c.chosen_patchset_id?.0)?;
        demand(patch_set.run == c.run.0)?;
        demand(matches!(patch_set.status, "proposed" | "applied"))?;
        patch_set.status = "applied";
        self.end_task(run, "done")?;
        if let Some(commit) = c.result_commit_sha {
            for intent in self.works_on(run.task, run.plan) {
                let intent = self.intents.get_mut(&intent)?;
                if intent.status == "active" {
                    intent.commit = Some(commit);
                }
            }
        }
        Some(())
    }

    /// How often a task was tried again.
    pub(super) fn retries(&self, task: Uuid) -> u32 {
        let of_it = |run: &&Run| run.task == task && run.retried && run.reverts.is_none();
        let decided = self.runs.values().filter(of_it).count();
        let decided = u32::try_from(decided).unwrap_or(u32::MAX);
        decided.max(self.tasks[&task].rejections)
    }

    /// What another run has settled is not tried again.
    fn still_running(&self, run: &Run) -> Option<()> {
        demand(run.reverts.is_some() || self.tasks.get(&run.task)?.status == "running")
    }

    pub(super) fn record_result_commit(&mut self, c: &run::RecordResultCommit) -> Judged {
        let made = Some(c.decision.0);
        let found = self.runs.iter().find(|(_, run)| run.commits == made);
        let id = *found?.0;
        match self.runs.get(&id)?.result {
            Some(known) => {
                demand(known == c.commit)?;
                Some(false)
            }
            None => {
                self.let_go(id)?;
                let run = self.runs.get_mut(&id)?;
                run.result = Some(c.commit);
                let (task, plan) = (run.task, run.plan);
                for intent in self.works_on(task, plan) {
                    let intent = self.intents.get_mut(&intent)?;
                    if matches!(intent.status, "active" | "completed") {
                        intent.commit = Some(c.commit);
                    }
                }
                Some(true)
            }
        }
    }

    /// No decision of a run that reverts changes its task.
    pub(super) fn end_task(&mut self, run: &Run, status: &'static str) -> Option<()> {
        if run.reverts.is_none() {
            let task = self.tasks.get_mut(&run.task)?;
            demand(task.status == "running")?;
            task.status = status;
            if status == "failed" {
                self.end_dependents(run.task, "failed");
            }
        }
        Some(())
    }
}
