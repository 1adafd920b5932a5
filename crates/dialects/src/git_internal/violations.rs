//! What our rules say against an object that is adopted all the same.
//!
//! git-internal's setters check nothing, so that objects come in any state.

use std::collections::{BTreeSet, HashSet};
use std::fmt::Display;

use annals_domain::intent::IntentStatus;
use annals_domain::plan::StepStatus;
use annals_domain::run::{DecisionType, RunStatus};
use annals_domain::task::TaskStatus;
use annals_domain::{GitOid, Kind, PatchSetId};
use uuid::Uuid;

use super::both::{Asked, Both};
use super::circle::Circle;
use super::context::Pipeline;
use super::object::{Body, Object};
use super::run::{Decision, Evidence, PatchSet, Provenance, Run, ToolInvocation};
use super::workflow::{Intent, Plan, StatusEntry, Step, Task};

/// An object that another one names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reference {
    pub(super) field: String,
    pub(super) kind: Kind,
    pub(super) id: Uuid,
}

/// A field and what is wrong with it.
struct Against<'a> {
    both: Both<'a>,
    id: Uuid,
    said: Vec<String>,
}

/// What is to be said against an object. Whether what it names is there,
/// [`references`] is for.
pub(super) async fn violations(object: &Object, both: Both<'_>) -> Asked<Vec<String>> {
    let mut against = Against {
        both,
        id: object.header.id,
        said: Vec::new(),
    };
    if object.header.updated_at < object.header.created_at {
        against.say("updated_at", "it is before created_at");
    }
    match &object.body {
        Body::Intent(of) => against.intent(of),
        Body::Plan(of) => against.plan(of),
        Body::Task(of) => against.task(of),
        Body::Run(of) => against.run(of).await?,
        Body::PatchSet(of) => against.patch_set(of).await?,
        Body::Evidence(of) => against.evidence(of).await?,
        Body::Decision(of) => against.decision(of).await?,
        Body::Provenance(of) => against.provenance(of).await?,
        Body::ToolInvocation(of) => against.tool_invocation(of),
        Body::Pipeline(of) => against.pipeline(of),
        Body::Snapshot(_) => {}
    }
    Ok(against.said)
}

/// The objects that an object names.
pub(super) fn references(object: &Object) -> Vec<Reference> {
    let mut all = Vec::new();
    let mut add = |field: &str, kind, id: Option<Uuid>| {
        all.extend(id.map(|id| Reference {
            field: field.to_owned(),
            kind,
            id,
        }));
    };
    match &object.body {
        Body::Intent(of) => {
            add("parent", Kind::Intent, of.parent.map(Uuid::from));
            add("plan", Kind::Plan, of.plan.map(Uuid::from));
        }
        Body::Plan(of) => {
            add("previous", Kind::Plan, of.previous.map(Uuid::from));
            add(
                "pipeline",
                Kind::ContextPipeline,
                of.pipeline.map(Uuid::from),
            );
            for (index, step) in of.steps.iter().enumerate() {
                let field = format!("steps[{index}].task");
                add(&field, Kind::Task, step.task.map(Uuid::from));
            }
        }
        Body::Task(of) => {
            add("parent", Kind::Task, of.parent.map(Uuid::from));
            add("intent", Kind::Intent, of.intent.map(Uuid::from));
            for (index, run) in of.runs.iter().enumerate() {
                add(&format!("runs[{index}]"), Kind::Run, Some(run.0));
            }
            for (index, task) in of.dependencies.iter().enumerate() {
                add(&format!("dependencies[{index}]"), Kind::Task, Some(task.0));
            }
        }
        Body::Run(of) => {
            add("task", Kind::Task, Some(of.task.0));
            add("plan", Kind::Plan, of.plan.map(Uuid::from));
            add(
                "snapshot",
                Kind::ContextSnapshot,
                of.snapshot.map(Uuid::from),
            );
            for (index, id) in of.patchsets.iter().enumerate() {
                add(&format!("patchsets[{index}]"), Kind::PatchSet, Some(id.0));
            }
        }
        Body::PatchSet(of) => add("run", Kind::Run, Some(of.run)),
        Body::Evidence(of) => {
            add("run_id", Kind::Run, Some(of.run));
            add("patchset_id", Kind::PatchSet, of.patch_set.map(Uuid::from));
        }
        Body::Decision(of) => {
            add("run_id", Kind::Run, Some(of.run));
            let chosen = of.chosen.map(Uuid::from);
            add("chosen_patchset_id", Kind::PatchSet, chosen);
        }
        Body::Provenance(of) => add("run_id", Kind::Run, Some(of.run)),
        Body::ToolInvocation(of) => add("run_id", Kind::Run, Some(of.run)),
        Body::Snapshot(_) | Body::Pipeline(_) => {}
    }
    all
}

fn join(path: &[Uuid]) -> String {
    let ids: Vec<String> = path.iter().map(Uuid::to_string).collect();
    ids.join(" -> ")
}

impl Against<'_> {
    fn say(&mut self, field: &str, what: impl Display) {
        self.said.push(format!("{field}: {what}"));
    }

    fn not_blank(&mut self, field: &str, text: &str) {
        if text.trim().is_empty() {
            self.say(field, "it is blank");
        }
    }

    fn not_twice<T: Ord + Copy + Display>(&mut self, field: &str, items: &[T]) {
        let mut seen = BTreeSet::new();
        if let Some(twice) = items.iter().find(|item| !seen.insert(**item)) {
            self.say(field, format!("{twice} stands there twice"));
        }
    }

    fn no_cycle(&mut self, field: &str) {
        if let Some(circle) = self.both.known.parent_circle(self.id) {
            let way = way_round(&circle);
            self.say(field, format!("it leads back to the object{way}"));
        }
    }

    /// git-internal demands a commit of 64 hex digits.
    fn commit(&mut self, commit: Option<GitOid>) {
        match commit {
            None => self.say("commit", "it is missing"),
            Some(GitOid::Sha1(_)) => self.say("commit", "it is a SHA-1, not a SHA-256"),
            Some(GitOid::Sha256(_)) => {}
        }
    }

    fn history<S: Copy + PartialEq + Display>(
        &mut self,
        field: &str,
        statuses: &[StatusEntry<S>],
        first: S,
        may: fn(S, S) -> bool,
    ) {
        match statuses.first() {
            None => self.say(field, "there is none"),
            Some(entry) if entry.status != first => {
                self.say(
                    field,
                    format!("the first one is {}, not {first}", entry.status),
                );
            }
            Some(_) => {}
        }
        for pair in statuses.windows(2) {
            let [from, to] = pair else { continue };
            if !may(from.status, to.status) {
                self.say(
                    field,
                    format!("{} -> {} is no transition", from.status, to.status),
                );
            }
            if to.changed_at < from.changed_at {
                self.say(field, format!("{} is before {}", to.status, from.status));
            }
        }
    }

    fn intent(&mut self, of: &Intent) {
        self.not_blank("prompt", &of.prompt);
        self.no_cycle("parent");
        self.history(
            "statuses",
            &of.statuses,
            IntentStatus::Draft,
            IntentStatus::may_become,
        );
        let was_active = of
            .statuses
            .iter()
            .any(|entry| entry.status == IntentStatus::Active);
        if was_active && of.content.is_none() {
            self.say("content", "it was active without content");
        }
        if of.commit.is_some() && !was_active {
            self.say("commit", "it was never active");
        }
        if let Some(GitOid::Sha1(_)) = of.commit {
            self.commit(of.commit);
        }
    }

    fn plan(&mut self, of: &Plan) {
        self.no_cycle("previous");
        if let Some((start, end)) = of.fwindow {
            if start > end {
                self.say("fwindow", format!("[{start}, {end}] is no range"));
            }
            if of.pipeline.is_none() {
                self.say("fwindow", "it is a range of no pipeline");
            }
        }
        let pushed = of
            .pipeline
            .and_then(|pipeline| self.both.known.next_frame_of(pipeline.0));
        for (index, step) in of.steps.iter().enumerate() {
            self.step(
                &format!("steps[{index}]"),
                step,
                of.pipeline.is_some(),
                pushed,
            );
        }
    }

    fn step(&mut self, place: &str, step: &Step, has_pipeline: bool, pushed: Option<u64>) {
        self.not_blank(&format!("{place}.description"), &step.description);
        let field = format!("{place}.statuses");
        self.history(
            &field,
            &step.statuses,
            StepStatus::Pending,
            StepStatus::may_become,
        );
        for (name, frames) in [("iframes", &step.iframes), ("oframes", &step.oframes)] {
            let field = format!("{place}.{name}");
            self.not_twice(&field, frames);
            if !has_pipeline && !frames.is_empty() {
                self.say(&field, "they are frames of no pipeline");
            }
            let never = frames
                .iter()
                .find(|frame| pushed.is_some_and(|next| frame.0 >= next));
            if let Some(frame) = never {
                self.say(&field, format!("frame {frame} was never pushed"));
            }
        }
    }

    fn task(&mut self, of: &Task) {
        self.not_blank("title", &of.title);
        let length = of.title.chars().count();
        if length >= 100 {
            self.say(
                "title",
                format!("it has {length} characters, not under 100"),
            );
        }
        self.no_cycle("parent");
        self.not_twice("runs", &of.runs);
        self.not_twice("dependencies", &of.dependencies);
        if let Some(circle) = self.both.known.dependency_circle(self.id) {
            let way = way_round(&circle);
            self.say("dependencies", format!("they lead back to the task{way}"));
        }
        let needs_runs = matches!(of.status, TaskStatus::Running | TaskStatus::Done);
        if needs_runs && of.runs.is_empty() {
            self.say("status", format!("it is {} without a run", of.status));
        }
        if of.status == TaskStatus::Draft && !of.runs.is_empty() {
            self.say("status", "it is draft and has runs");
        }
    }

    async fn run(&mut self, of: &Run) -> Asked<()> {
        self.commit(of.commit);
        self.not_twice("patchsets", &of.patchsets);
        for patch_set in &of.patchsets {
            let owner = self.both.run_of(patch_set.0).await?;
            if let Some(owner) = owner.filter(|owner| *owner != self.id) {
                let foreign = format!("{patch_set} says that it is of run {owner}");
                self.say("patchsets", foreign);
            }
        }
        if self.both.lacks_run(of.task.0, self.id).await? {
            self.say("task", "the task's runs do not have this one");
        }
        if of.status == RunStatus::Completed && self.both.decision_of(self.id).await?.is_none() {
            self.say("status", "it is completed without a decision");
        }
        if of.status == RunStatus::Failed && of.error.is_none() {
            self.say("error", "it failed without saying why");
        }
        Ok(())
    }

    async fn patch_set(&mut self, of: &PatchSet) -> Asked<()> {
        self.commit(of.commit);
        if self.both.lacks_patch_set(of.run, self.id).await? {
            self.say("run", "the run's patchsets do not have this one");
        }
        Ok(())
    }

    async fn of_run(&mut self, field: &str, patch_set: Option<PatchSetId>, run: Uuid) -> Asked<()> {
        let Some(patch_set) = patch_set else {
            return Ok(());
        };
        let owner = self.both.run_of(patch_set.0).await?;
        if let Some(owner) = owner.filter(|owner| *owner != run) {
            self.say(field, format!("it is of run {owner}"));
        }
        Ok(())
    }

    async fn evidence(&mut self, of: &Evidence) -> Asked<()> {
        self.not_blank("tool", &of.tool);
        self.of_run("patchset_id", of.patch_set, of.run).await
    }

    async fn decision(&mut self, of: &Decision) -> Asked<()> {
        self.of_run("chosen_patchset_id", of.chosen, of.run).await?;
        if of.decision_type == DecisionType::Commit && of.chosen.is_none() {
            self.say("chosen_patchset_id", "a commit names no patch set");
        }
        if let Some(GitOid::Sha1(_)) = of.result_commit {
            self.say("result_commit_sha", "it is a SHA-1, not a SHA-256");
        }
        let first = self.both.decision_of(of.run).await?;
        if let Some(first) = first.filter(|first| *first != self.id) {
            self.say("run_id", format!("the run has decision {first} already"));
        }
        Ok(())
    }

    async fn provenance(&mut self, of: &Provenance) -> Asked<()> {
        self.not_blank("provider", &of.provider);
        self.not_blank("model", &of.model);
        let first = self.both.provenance_of(of.run).await?;
        if let Some(first) = first.filter(|first| *first != self.id) {
            self.say("run_id", format!("the run has provenance {first} already"));
        }
        let Some(used) = &of.token_usage else {
            return Ok(());
        };
        let sum = u128::from(used.input_tokens) + u128::from(used.output_tokens);
        if sum != u128::from(used.total_tokens) {
            let total = format!("it is {}, not the sum {sum}", used.total_tokens);
            self.say("token_usage.total_tokens", total);
        }
        if used.cost_usd.is_some_and(|cost| cost < 0.0) {
            self.say("token_usage.cost_usd", "it is negative");
        }
        Ok(())
    }

    fn tool_invocation(&mut self, of: &ToolInvocation) {
        self.not_blank("tool_name", &of.tool_name);
    }

    fn pipeline(&mut self, of: &Pipeline) {
        let mut seen = HashSet::new();
        let mut last = None;
        for frame in &of.frames {
            if !seen.insert(frame.frame_id) {
                self.say(
                    "frames",
                    format!("frame {} stands there twice", frame.frame_id),
                );
            } else if last.is_some_and(|last| frame.frame_id < last) {
                self.say(
                    "frames",
                    format!("frame {} is out of order", frame.frame_id),
                );
            }
            last = Some(frame.frame_id);
        }
        let highest = of.frames.iter().map(|frame| frame.frame_id).max();
        if highest.is_some_and(|highest| highest >= of.next_frame_id) {
            let next = format!(
                "it is {}, and a frame has that number or a higher one",
                of.next_frame_id
            );
            self.say("next_frame_id", next);
        }
    }
}

/// By what way a circle leads back, as the end of a sentence.
fn way_round(circle: &Circle) -> String {
    match circle {
        Circle::Through(path) => format!(": {}", join(path)),
        Circle::Among(size) => format!(", in a circle among {size} objects"),
    }
}
