//! What an event may be, given everything as it was before it.

use annals::domain::run::DecisionType;
use annals::domain::{AnyEvent, FrameId, IntentId, PipelineId, RunId, TaskId};
use annals::domain::{intent, observation, pipeline, plan, run, snapshot, task};
use annals::projections::{
    ContextPipelineView, ContextSnapshotView, DecisionView, Entry, IntentView, ObservationView,
    PatchSetView, PlanView, ProvenanceView, RunView, TaskView, ToolInvocationView,
};

use uuid::Uuid;

use super::Audit;

impl Audit {
    pub(super) fn check_event(&mut self, entry: &Entry) {
        assert_eq!(entry.event.adoption(), None, "no command adopts anything");
        match &entry.event {
            AnyEvent::Intent(event) => self.check_intent(entry, event),
            AnyEvent::Plan(event) => self.check_plan(entry, event),
            AnyEvent::Task(event) => self.check_task(entry, event),
            AnyEvent::Run(event) => self.check_run(entry, event),
            AnyEvent::Snapshot(event) => self.check_snapshot(entry, event),
            AnyEvent::Pipeline(event) => self.check_pipeline(entry, event),
            AnyEvent::Session(event) => self.check_session(entry, event),
            AnyEvent::Bucket(event) => self.check_bucket(entry, event),
            AnyEvent::Observation(event) => self.check_observation(entry, event),
            AnyEvent::Alias(_) | AnyEvent::Settings(_) => {}
        }
    }

    fn check_observation(&self, entry: &Entry, event: &observation::Event) {
        match event {
            observation::Event::Recorded(event) => {
                assert_eq!(entry.version.0, 1, "it is said once");
                for about in &event.about {
                    assert!(self.objects.contains_key(&about.object));
                }
            }
            observation::Event::Processed(event) => {
                let seen: ObservationView = self.the(entry.stream.id);
                assert_eq!(seen.processed, None, "it is settled once");
                event
                    .intent
                    .inspect(|intent| drop(self.the::<IntentView>(*intent)));
            }
            observation::Event::MetadataSet(_) | observation::Event::Redacted(_) => {}
        }
    }

    fn check_intent(&self, entry: &Entry, event: &intent::Event) {
        match event {
            // Everything that is named existed before: no parent is its own.
            intent::Event::Submitted(event) => {
                assert_eq!(entry.version.0, 1, "a prompt is given once");
                event
                    .refines
                    .inspect(|parent| drop(self.the::<IntentView>(*parent)));
            }
            intent::Event::PlanSelected(event) => {
                let plan: PlanView = self.the(event.plan);
                let intent: IntentView = self.the(entry.stream.id);
                assert_eq!(intent.status().as_str(), "active");
                assert_eq!(plan.revised_by, None, "it is the latest revision");
                if let Some(before) = intent.plan {
                    assert_eq!(plan.previous, Some(before), "the line goes on");
                }
            }
            intent::Event::CommitRecorded(_) => {
                let intent: IntentView = self.the(entry.stream.id);
                assert!(matches!(intent.status().as_str(), "active" | "completed"));
            }
            intent::Event::Completed(_) => {
                let id = IntentId(entry.stream.id);
                let plans = self.all::<PlanView>().filter(|it| it.intent == Some(id));
                for step in plans.flat_map(|plan| plan.steps.clone()) {
                    assert_ne!(step.status().as_str(), "progressing");
                }
                let tasks = self.all::<TaskView>();
                let own = tasks.filter(|it| {
                    it.intent == Some(id) || self.is_step_of(TaskId(it.header.object_id), id)
                });
                for task in own.filter(|it| it.intent.is_none_or(|intent| intent == id)) {
                    assert!(!matches!(task.status().name(), "draft" | "running"));
                    let runs = self.all::<RunView>();
                    let own = runs.filter(|run| run.task.0 == task.header.object_id);
                    own.for_each(|run| {
                        assert!(matches!(run.status().name(), "completed" | "failed"))
                    });
                }
            }
            intent::Event::TakenIn(event) => {
                assert_eq!(entry.version.0, 2, "an intent is taken in once");
                for other in event.depends_on.iter().chain(&event.child_of) {
                    self.the::<IntentView>(*other);
                }
                if let Some(cause) = event.observation {
                    let cause: ObservationView = self.the(cause);
                    assert_eq!(cause.processed, None, "it leads to one intent");
                    assert_eq!(cause.kind.source(), event.source);
                }
            }
            intent::Event::Decomposed(event) => {
                for child in &event.children {
                    self.the::<IntentView>(*child);
                }
            }
            intent::Event::TaskAdded(event) => {
                let task: TaskView = self.the(event.task);
                match task.intent {
                    Some(intent) => assert_eq!(intent.0, entry.stream.id),
                    None => assert!(self.is_step_of(event.task, IntentId(entry.stream.id))),
                }
            }
            intent::Event::RerunRequested(event) => {
                for task in &event.superseded {
                    let status = self.the::<TaskView>(*task).status().name();
                    // What was called off with what it waited for is tried again, too.
                    assert!(matches!(status, "failed" | "cancelled"), "{status}");
                }
            }
            intent::Event::Classified(_)
            | intent::Event::Approved(_)
            | intent::Event::Rejected(_)
            | intent::Event::Instructed(_)
            | intent::Event::ExecutionStarted(_)
            | intent::Event::ClarificationRequested(_)
            | intent::Event::ClarificationAnswered(_)
            | intent::Event::Analyzed(_)
            | intent::Event::Activated(_)
            | intent::Event::Cancelled(_)
            | intent::Event::Adopted(_)
            | intent::Event::MetadataSet(_)
            | intent::Event::Redacted(_)
            | intent::Event::Sealed(_) => {}
        }
    }

    /// Whether a task is a step of a plan of an intent, or of one that such a plan revises.
    fn is_step_of(&self, task: TaskId, intent: IntentId) -> bool {
        let plans: Vec<PlanView> = self.all().collect();
        let mut plans_of = plans.iter().filter(|it| it.intent == Some(intent));
        plans_of.any(|plan| {
            let before = |plan: &&PlanView| {
                let previous = plan.previous?;
                plans.iter().find(|it| it.header.object_id == previous.0)
            };
            let mut line = std::iter::successors(Some(plan), before);
            line.any(|plan| plan.steps.iter().any(|step| step.task == Some(task)))
        })
    }

    fn check_plan(&self, entry: &Entry, event: &plan::Event) {
        match event {
            plan::Event::Drafted(event) => {
                assert_eq!(entry.version.0, 1, "a plan is drafted once");
                event
                    .previous
                    .inspect(|plan| drop(self.the::<PlanView>(*plan)));
                event
                    .intent
                    .inspect(|intent| drop(self.the::<IntentView>(*intent)));
                if let Some((start, end)) = event.fwindow {
                    let pipeline = event.pipeline.expect("a range of a pipeline's window");
                    let window = self.the::<ContextPipelineView>(pipeline).frames().len();
                    assert!(
                        start <= end && end as usize <= window,
                        "[{start}, {end}] of {window}"
                    );
                }
                for step in &event.steps {
                    self.check_step(event.pipeline, step);
                }
            }
            plan::Event::StepAdded(event) => {
                let plan: PlanView = self.the(entry.stream.id);
                assert_eq!(event.index as usize, plan.steps.len());
                self.check_step(plan.pipeline, &event.step);
            }
            plan::Event::StepFramesLinked(event) => {
                let plan: PlanView = self.the(entry.stream.id);
                self.check_frames(plan.pipeline, event.iframes.iter().chain(&event.oframes));
            }
            plan::Event::StepTaskSpawned(event) => {
                self.the::<TaskView>(event.task);
                let plan: PlanView = self.the(entry.stream.id);
                let step = plan.step(event.index).expect("a step that is there");
                assert_eq!(step.task, None, "a step has at most one task");
            }
            plan::Event::Revised(event) => {
                let revision: PlanView = self.the(event.by);
                let plan: PlanView = self.the(entry.stream.id);
                assert_eq!(revision.previous.map(Uuid::from), Some(entry.stream.id));
                assert_eq!(plan.revised_by, None, "a plan is revised once");
            }
            plan::Event::Assigned(event) => {
                self.the::<IntentView>(event.intent);
                assert_eq!(self.the::<PlanView>(entry.stream.id).intent, None);
            }
            plan::Event::Restored(event) => {
                let earlier: PlanView = self.the(event.plan);
                let steps = self.the::<PlanView>(entry.stream.id).steps.len();
                assert_eq!(earlier.steps.len(), steps);
                assert!(earlier.revised_by.is_some(), "it is not the latest");
            }
            plan::Event::StepStatusChanged(_)
            | plan::Event::StepOutputRecorded(_)
            | plan::Event::Adopted(_)
            | plan::Event::MetadataSet(_)
            | plan::Event::Redacted(_)
            | plan::Event::Sealed(_) => {}
        }
    }

    fn check_step(&self, pipeline: Option<PipelineId>, step: &plan::StoredStep) {
        step.task.inspect(|task| drop(self.the::<TaskView>(*task)));
        self.check_frames(pipeline, step.iframes.iter().chain(&step.oframes));
    }

    fn check_frames<'a>(
        &self,
        pipeline: Option<PipelineId>,
        frames: impl Iterator<Item = &'a FrameId>,
    ) {
        for frame in frames {
            let pipeline: ContextPipelineView = self.the(pipeline.expect("a pipeline's frame"));
            assert!(*frame < pipeline.next_frame_id, "{frame} was never pushed");
        }
    }

    fn check_task(&mut self, entry: &Entry, event: &task::Event) {
        match event {
            task::Event::Created(event) => {
                assert_eq!(entry.version.0, 1, "a task is created once");
                let title = entry.text(event.title).to_string();
                assert!((1..=99).contains(&title.chars().count()), "{title:?}");
                event
                    .parent
                    .inspect(|parent| drop(self.the::<TaskView>(*parent)));
                event
                    .intent
                    .inspect(|intent| drop(self.the::<IntentView>(*intent)));
                for dependency in &event.dependencies {
                    self.depend(TaskId(entry.stream.id), *dependency);
                }
            }
            task::Event::DependencyAdded(event) => {
                self.depend(TaskId(entry.stream.id), event.dependency);
            }
            task::Event::RunAdded(event) => {
                assert_eq!(self.the::<RunView>(event.run).task.0, entry.stream.id);
            }
            task::Event::Done(event) => {
                assert_eq!(self.the::<RunView>(event.run).task.0, entry.stream.id);
            }
            task::Event::Superseded(event) => {
                let newer: TaskView = self.the(event.by);
                let older: TaskView = self.the(entry.stream.id);
                assert!(matches!(older.status().name(), "failed" | "cancelled"));
                // A step's task that says no intent was tried again for the one that has its plan.
                assert!(older.intent.is_none() || newer.intent == older.intent);
            }
            task::Event::ReviewRecorded(event) => {
                let run: RunView = self.the(event.run.expect("a run that was reviewed"));
                assert_eq!(run.task.0, entry.stream.id);
            }
            task::Event::Planned(_)
            | task::Event::ConstraintAdded(_)
            | task::Event::CriterionAdded(_)
            | task::Event::Started(_)
            | task::Event::Failed(_)
            | task::Event::Cancelled(_)
            | task::Event::Adopted(_)
            | task::Event::MetadataSet(_)
            | task::Event::Redacted(_)
            | task::Event::Sealed(_) => {}
        }
    }

    /// What is to be tried again, or resumed, can be.
    fn check_goes_on(&self, run: RunId, event: &run::DecisionMade) {
        let run: RunView = self.the(run);
        let verdict = event.decision_type.as_str();
        if run.reverts.is_none() && matches!(verdict, "retry" | "checkpoint") {
            assert_eq!(self.the::<TaskView>(run.task).status().name(), "running");
        }
    }

    fn depend(&mut self, task: TaskId, dependency: TaskId) {
        self.the::<TaskView>(dependency);
        assert!(
            !self.depends_on(dependency.0, task.0),
            "{task} would wait for itself"
        );
        self.dependencies
            .entry(task.0)
            .or_default()
            .insert(dependency.0);
    }

    fn check_run(&self, entry: &Entry, event: &run::Event) {
        let run = entry.stream.id;
        let status = || self.the::<RunView>(run).status().name();
        match event {
            run::Event::Created(event) => self.check_new_run(entry, event),
            run::Event::SnapshotAttached(event) => {
                self.the::<ContextSnapshotView>(event.snapshot);
            }
            run::Event::PatchSetProposed(_) => {
                assert!(matches!(status(), "patching" | "validating"));
            }
            run::Event::PatchSetApplied(event) => {
                let patch_set: PatchSetView = self.the(event.patch_set);
                let decision = self.decision_of(RunId(run));
                let committed = decision.is_some_and(|made| {
                    made.decision_type == DecisionType::Commit
                        && made.chosen_patchset_id == Some(event.patch_set)
                });
                assert_eq!(patch_set.run.0, run);
                assert!(committed || status() == "validating");
            }
            run::Event::PatchSetReverted(event) => {
                let decision = self.decision_of(event.reverted_by).expect("a decision");
                assert_eq!(decision.decision_type, DecisionType::Rollback);
                assert_eq!(decision.chosen_patchset_id, Some(event.patch_set));
            }
            run::Event::EvidenceRecorded(event) => {
                let of = event
                    .patch_set
                    .map(|patch_set| self.the::<PatchSetView>(patch_set));
                assert!(of.is_none_or(|patch_set| patch_set.run.0 == run));
            }
            run::Event::ProvenanceRecorded(_) => {
                let all = self
                    .objects
                    .keys()
                    .filter_map(|id| self.view::<ProvenanceView>(*id));
                assert!(
                    !all.into_iter().any(|found| found.run_id.0 == run),
                    "a second provenance"
                );
            }
            run::Event::DecisionMade(event) => {
                self.check_goes_on(RunId(run), event);
                self.check_decision(RunId(run), event);
            }
            run::Event::ResultCommitRecorded(event) => {
                let made = self.decision_of(RunId(run)).expect("a decision");
                assert_eq!(made.header.object_id, event.decision.0);
                assert_eq!(made.decision_type, DecisionType::Commit);
                assert_eq!(made.result_commit_sha, None, "it is recorded once");
            }
            run::Event::EndedAfterIntent(event) => {
                let intent: IntentView = self.the(event.intent);
                assert_eq!(intent.status(), event.status);
                assert!(matches!(status(), "completed" | "failed"));
            }
            run::Event::ToolInvoked(_)
            | run::Event::ToolRequested(_)
            | run::Event::ToolDecided(_)
            | run::Event::ToolBegun(_)
            | run::Event::ToolEnded(_) => self.check_call(run, event),
            run::Event::PatchingStarted(_)
            | run::Event::ValidationStarted(_)
            | run::Event::PatchSetRejected(_)
            | run::Event::RationaleOverridden(_)
            | run::Event::UsageRecorded(_)
            | run::Event::MetricsRecorded(_)
            | run::Event::Failed(_)
            | run::Event::Adopted(_)
            | run::Event::PatchSetAdopted(_)
            | run::Event::EvidenceAdopted(_)
            | run::Event::DecisionAdopted(_)
            | run::Event::ProvenanceAdopted(_)
            | run::Event::ToolInvocationAdopted(_)
            | run::Event::MetadataSet(_)
            | run::Event::Redacted(_)
            | run::Event::Sealed(_) => {}
        }
    }

    /// A call is one run's, its tool is named by its first event, and what happens once is told once.
    fn check_call(&self, run: Uuid, event: &run::Event) {
        let id = run::call_of(event).expect("an event on a call");
        let call: Option<ToolInvocationView> = self.view(id);
        let is_named = match event {
            run::Event::ToolDecided(event) => event.tool_name.is_some(),
            run::Event::ToolBegun(event) => event.tool_name.is_some(),
            run::Event::ToolEnded(event) => event.tool_name.is_some(),
            _ => true,
        };
        let Some(call) = call else {
            assert!(is_named, "the first event on {id} names its tool");
            return;
        };
        assert_eq!(call.run_id.0, run);
        let life = &call.life;
        match event {
            run::Event::ToolInvoked(_) => assert_eq!(life.invoked, None),
            run::Event::ToolBegun(_) => {
                assert_eq!((&life.begun, &life.invoked), (&None, &None));
            }
            run::Event::ToolDecided(_) | run::Event::ToolEnded(_) => assert!(!is_named),
            _ => {}
        }
    }

    fn check_new_run(&self, entry: &Entry, event: &run::Created) {
        assert_eq!(entry.version.0, 1, "plan and commit are given once");
        let task: TaskView = self.the(event.task);
        event.plan.inspect(|plan| drop(self.the::<PlanView>(*plan)));
        event
            .snapshot
            .inspect(|snapshot| drop(self.the::<ContextSnapshotView>(*snapshot)));
        match event
            .reverts
            .map(|patch_set| self.the::<PatchSetView>(patch_set))
        {
            None => {
                assert!(matches!(task.status().name(), "draft" | "running"));
                if let Some(intent) = task.intent {
                    let status = self.the::<IntentView>(intent).status();
                    assert!(matches!(status.as_str(), "draft" | "active"));
                }
            }
            Some(reverts) => {
                assert!(matches!(task.status().name(), "draft" | "running" | "done"));
                assert_eq!(reverts.status().as_str(), "applied");
                assert_eq!(self.the::<RunView>(reverts.run).task, event.task);
            }
        }
    }

    fn decision_of(&self, run: RunId) -> Option<DecisionView> {
        let mut all = self
            .objects
            .keys()
            .filter_map(|id| self.view::<DecisionView>(*id));
        all.find(|decision| decision.run_id == run)
    }

    fn check_decision(&self, run: RunId, event: &run::DecisionMade) {
        assert_eq!(self.decision_of(run), None, "a second decision");
        let view: RunView = self.the(run);
        let chosen = event
            .chosen_patch_set
            .map(|id| self.the::<PatchSetView>(id));
        let statuses = match event.decision_type {
            DecisionType::Commit => {
                let chosen = chosen.expect("a commit names a patch set");
                assert_eq!(chosen.run, run, "of that very run");
                assert!(matches!(chosen.status().as_str(), "proposed" | "applied"));
                &["validating"][..]
            }
            DecisionType::Rollback => {
                let chosen = chosen.expect("a rollback names a patch set");
                assert_eq!(event.chosen_patch_set, view.reverts);
                assert_eq!(chosen.status().as_str(), "applied");
                assert_ne!(chosen.run, run, "a rollback is a run of its own");
                &["validating"]
            }
            _ => {
                assert_eq!(event.chosen_patch_set, None);
                &["validating", "failed"]
            }
        };
        assert!(
            statuses.contains(&view.status().name()),
            "{}",
            event.decision_type
        );
    }

    fn check_snapshot(&self, entry: &Entry, event: &snapshot::Event) {
        match event {
            snapshot::Event::Opened(_) => assert_eq!(entry.version.0, 1),
            snapshot::Event::ItemAdded(_)
            | snapshot::Event::BlobAttached(_)
            | snapshot::Event::Finalized(_) => {
                let snapshot: ContextSnapshotView = self.the(entry.stream.id);
                assert!(!snapshot.finalized, "a finalized snapshot never changes");
            }
            snapshot::Event::Adopted(_)
            | snapshot::Event::MetadataSet(_)
            | snapshot::Event::Redacted(_)
            | snapshot::Event::Sealed(_) => {}
        }
    }

    fn check_pipeline(&self, entry: &Entry, event: &pipeline::Event) {
        match event {
            pipeline::Event::Created(_) => assert_eq!(entry.version.0, 1),
            pipeline::Event::FramePushed(event) => {
                let pipeline: ContextPipelineView = self.the(entry.stream.id);
                assert_eq!(
                    event.frame_id, pipeline.next_frame_id,
                    "no number twice, none left out"
                );
            }
            pipeline::Event::FramesUsed(event) => {
                let plan: PlanView = self.the(event.plan);
                assert_eq!(plan.pipeline, Some(PipelineId(entry.stream.id)));
                self.check_frames(plan.pipeline, event.frames.iter());
            }
            pipeline::Event::FramesDropped(event) => {
                let pipeline: ContextPipelineView = self.the(entry.stream.id);
                let mut ranges = event.frames.iter().peekable();
                while let Some(range) = ranges.next() {
                    assert!(range.first <= range.last && range.last < pipeline.next_frame_id);
                    assert!(ranges.peek().is_none_or(|next| range.last < next.first));
                }
            }
            pipeline::Event::MaxFramesSet(_)
            | pipeline::Event::EvictionPolicySet(_)
            | pipeline::Event::GlobalSummarySet(_)
            | pipeline::Event::Adopted(_)
            | pipeline::Event::MetadataSet(_)
            | pipeline::Event::Redacted(_)
            | pipeline::Event::Sealed(_) => {}
        }
    }
}
