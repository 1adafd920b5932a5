//! The reference for runs and what is in them.

use annals_domain::Kind;
use annals_domain::run::{self, DecisionType};
use uuid::Uuid;

use super::judged::{Judged, demand, parts, text};
use super::{Model, PatchSet, Run, Task};

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

    /// An agent commits nothing of a task that it worked on, once a review rejected that.
    pub(super) fn may_commit(&self, run: Uuid) -> Option<()> {
        let run = self.runs.get(&run)?;
        let of_it = |it: &&Run| it.task == run.task;
        let mut attempts = self.runs.values().filter(of_it);
        let worked = self.by == "tester" && attempts.any(|it| it.workers.contains(self.by));
        demand(!worked || run.reverts.is_some() || self.tasks.get(&run.task)?.rejections == 0)
    }

    /// An agent commits nothing of an intent of which a person rejected a task for good, before that is tried again.
    pub(super) fn tried_again(&self, run: Uuid) -> Option<()> {
        let run = self.runs.get(&run)?;
        let intents = self.works_on(run.task, run.plan);
        let rejected = |(id, task): (&Uuid, &Task)| {
            task.rejected_by_person
                && task.status == "failed"
                && !task.superseded
                && !self.intents_of(*id).is_disjoint(&intents)
        };
        demand(self.by != "tester" || run.reverts.is_some() || !self.tasks.iter().any(rejected))
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
        self.tried_again(c.run.0)?;
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
