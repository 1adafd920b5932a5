//! What an event changes in the catalogue: a pure function of the event and of
//! the rows that it concerns.
//!
//! Every event on an object moves its last position, its time and its count of
//! events. Beyond that, each function below says what the events of one
//! aggregate do. Should an id be used twice, which deciders refuse, the first
//! object keeps it, and what the second one would have changed is left out.

mod adopt;
mod create;
mod intake;
mod observation;
mod plan_steps;
mod run_children;
mod session;
mod tool_call;
mod work_items;

use annals_domain::intent::Stage;
use annals_domain::metadata::MetadataSet;
use annals_domain::pipeline::Tally;
use annals_domain::{Adoption, AnyEvent, Kind, alias, intent, pipeline, plan, run, snapshot, task};
use uuid::Uuid;

use super::changes::{Changes, Objects};
use super::keys;
use super::relation::Relation;
use super::row::{Counts, LabelMap, Link, ObjectRow, link};
use super::status::Status;
use super::step::Step;
use crate::Text;
use crate::header::{Common, common};

pub(super) use intake::{
    MOST_ANCESTORS, approval, approval_without_open, intent_counts, waits_for_tasks,
};

/// One event about to be folded into the rows.
pub(super) struct Fold<'a> {
    pub(super) objects: &'a mut Objects,
    pub(super) rows: &'a mut Changes,
    pub(super) step: &'a Step,
    /// The title that the event gives, until it is given to the object.
    pub(super) title: Option<Text>,
}

impl Fold<'_> {
    pub(super) fn apply(mut self) {
        self.touch();
        let step = self.step;
        match &step.decoded.event {
            AnyEvent::Intent(event) => self.intent(event),
            AnyEvent::Plan(event) => self.plan(event),
            AnyEvent::Task(event) => self.task(event),
            AnyEvent::Run(event) => self.run(event),
            AnyEvent::Snapshot(event) => self.snapshot(event),
            AnyEvent::Pipeline(event) => self.pipeline(event),
            AnyEvent::Alias(alias::Event::Reserved(event)) => self.reserved(event),
            AnyEvent::Session(event) => self.session(event),
            AnyEvent::Observation(event) => self.observation(event),
            AnyEvent::Alias(alias::Event::Redacted(_))
            | AnyEvent::Bucket(_)
            | AnyEvent::Settings(_) => {}
        }
        if let Some(Common::MetadataSet(event)) = common(&step.decoded.event) {
            self.metadata(event);
        }
    }

    /// The id of the stream, which is also that of its own object.
    fn own(&self) -> Uuid {
        self.step.decoded.stream.id
    }

    /// The row of an object in this stream.
    fn row(&mut self, kind: Kind, id: Uuid) -> Option<&mut ObjectRow> {
        self.objects.get_if(kind, id, self.step.decoded.stream)
    }

    /// Records the event on every object that existed before and that
    /// it is about.
    fn touch(&mut self) {
        for (kind, id) in &self.step.touched {
            self.touch_one(*kind, *id);
        }
    }

    fn touch_one(&mut self, kind: Kind, id: Uuid) {
        let (position, time) = (self.step.position(), self.step.occurred_at());
        // Going on with an adopted object's lists is not a change of it.
        let changes = self.step.decoded.event.adoption() != Some(Adoption::Continued);
        if let Some(row) = self.row(kind, id) {
            row.last = position;
            row.events = row.events.saturating_add(1);
            if changes && time < row.updated_at {
                row.skewed = row.skewed.saturating_add(1);
            } else if changes {
                row.updated_at = time;
            }
        }
    }

    fn set_status(&mut self, kind: Kind, id: Uuid, status: Status) {
        let stream = self.step.decoded.stream;
        let Some(row) = self.objects.get_if(kind, id, stream) else {
            return;
        };
        if row.status == Some(status) {
            return;
        }
        let before = keys::in_kind(kind, row.status, row.first);
        row.status = Some(status);
        let after = keys::in_kind(kind, row.status, row.first);
        self.rows.delete(&before);
        self.rows.put(&after, id.as_bytes());
    }

    /// Replaces the title by what the event gives, if anything.
    fn set_title(&mut self, kind: Kind, id: Uuid) {
        let title = self.title.take();
        if let Some(row) = self.row(kind, id) {
            row.title = title;
        }
    }

    /// Makes a field that holds one object name this one.
    fn link(&mut self, id: Uuid, relation: Relation, target: Uuid) {
        let stream = self.step.decoded.stream;
        let Some(row) = self.objects.get_if(relation.source(), id, stream) else {
            return;
        };
        let first = row.first;
        let found = row.links.iter_mut().find(|link| link.relation == relation);
        if let Some(link) = found {
            let before = keys::backward(link.target, relation, first, 0);
            link.target = target;
            self.rows.delete(&before);
        } else {
            row.links.push(Link { relation, target });
        }
        let after = keys::backward(target, relation, first, 0);
        self.rows.put(&after, id.as_bytes());
    }

    /// Makes a field that holds one object name none.
    fn unlink(&mut self, id: Uuid, relation: Relation) {
        let stream = self.step.decoded.stream;
        let Some(row) = self.objects.get_if(relation.source(), id, stream) else {
            return;
        };
        let place = row.links.iter().position(|link| link.relation == relation);
        if let Some(link) = place.map(|place| row.links.remove(place)) {
            let key = keys::backward(link.target, relation, row.first, 0);
            self.rows.delete(&key);
        }
    }

    /// Appends an object to a field that holds many; `number` counts from 0.
    fn append(&mut self, source: Uuid, relation: Relation, number: u64, target: Uuid) {
        let stream = self.step.decoded.stream;
        let Some(row) = self.objects.get_if(relation.source(), source, stream) else {
            return;
        };
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        let forward = keys::forward(source, relation, number);
        let backward = keys::backward(target, relation, row.first, number);
        self.rows.put(&forward, target.as_bytes());
        self.rows.put(&backward, source.as_bytes());
    }

    fn metadata(&mut self, event: &MetadataSet) {
        let Some(kind) = Kind::from_number(event.kind) else {
            return;
        };
        let (stream, id) = (self.step.decoded.stream, event.object);
        let Some(row) = self.objects.get_if(kind, id, stream) else {
            return;
        };
        if let Some(visibility) = event.visibility {
            row.visibility = visibility;
        }
        if event.tags.is_some() {
            self.set_labels(LabelMap::Tags, kind, id);
        }
        if event.external_ids.is_some() {
            self.set_labels(LabelMap::ExternalIds, kind, id);
        }
    }

    /// Replaces the tags or external ids of an object by those that the event gives.
    fn set_labels(&mut self, map: LabelMap, kind: Kind, id: Uuid) {
        let stream = self.step.decoded.stream;
        let Some(row) = self.objects.get_if(kind, id, stream) else {
            return;
        };
        let (first, before) = (row.first, row.labels(map));
        let new = self.step.labels(map);
        let count = u32::try_from(new.len()).unwrap_or(u32::MAX);
        match map {
            LabelMap::Tags => row.tags = count,
            LabelMap::ExternalIds => row.external_ids = count,
        }
        self.remove_labels(map, kind, id, first, before);
        for (number, label) in (0..).zip(new) {
            // Two texts always have a binary form.
            let value = annals_wire::encode_row(label).unwrap_or_default();
            self.rows.put(&keys::label_at(map, id, number), &value);
            for prefix in label_prefixes(map, kind, &label.0, &label.1) {
                self.rows.put(&keys::listed(&prefix, first), id.as_bytes());
            }
        }
    }

    fn remove_labels(&mut self, map: LabelMap, kind: Kind, id: Uuid, first: u64, count: u32) {
        for number in 0..count {
            let key = keys::label_at(map, id, number);
            if let Some((name, value)) = self.rows.get(&key).and_then(|row| read_label(row)) {
                for prefix in label_prefixes(map, kind, &name, &value) {
                    self.rows.delete(&keys::listed(&prefix, first));
                }
            }
            self.rows.delete(&key);
        }
    }

    fn reserved(&mut self, event: &alias::Reserved) {
        let Some(alias) = self.step.alias() else {
            return;
        };
        let key = keys::alias_stream(alias);
        self.rows.put(&key, self.step.decoded.stream.id.as_bytes());
        let Some(row) = self.objects.get_mut(event.object) else {
            return;
        };
        let key = keys::alias(row.id, row.aliases);
        row.aliases = row.aliases.saturating_add(1);
        self.rows.put(&key, alias.as_bytes());
    }

    fn intent(&mut self, event: &intent::Event) {
        use intent::Event;
        let id = self.own();
        match event {
            Event::Submitted(event) => self.submitted(event),
            Event::Adopted(event) => self.intent_adopted(event),
            Event::PlanSelected(event) => self.link(id, Relation::IntentPlan, event.plan.0),
            Event::Activated(_) => self.intent_status(Status::Active),
            Event::Completed(_) => self.intent_status(Status::Completed),
            Event::Cancelled(_) => self.intent_status(Status::Cancelled),
            Event::CommitRecorded(event) => self.intent_commit(event.commit),
            Event::TakenIn(event) => self.taken_in(event),
            Event::Classified(event) => self.classified(event),
            Event::Approved(_) => self.approved(),
            Event::RerunRequested(_) => self.set_stage(Stage::Approved),
            Event::Rejected(_) => self.intent_rejected(),
            Event::ExecutionStarted(_) => self.set_stage(Stage::Executing),
            Event::ClarificationRequested(event) => self.asked(event.questions.len()),
            Event::ClarificationAnswered(_) => self.answered(),
            Event::Decomposed(event) => self.decomposed(&event.children),
            Event::TaskAdded(event) => self.task_added(event.task),
            Event::Analyzed(_)
            | Event::Instructed(_)
            | Event::MetadataSet(_)
            | Event::Redacted(_)
            | Event::Sealed(_) => {}
        }
    }

    fn plan(&mut self, event: &plan::Event) {
        use plan::Event;
        match event {
            Event::Drafted(event) => self.drafted(event),
            Event::Assigned(event) => {
                self.link(self.own(), Relation::PlanIntent, event.intent.0);
            }
            Event::Adopted(event) => self.plan_adopted(event),
            Event::StepAdded(event) => {
                if event.index == 0 {
                    self.set_title(Kind::Plan, self.own());
                }
                self.step_added(event.index, &event.step);
            }
            Event::StepStatusChanged(event) => self.step_status(event.index, event.status),
            Event::StepTaskSpawned(event) => self.step_task(event.index, event.task),
            Event::StepFramesLinked(_)
            | Event::StepOutputRecorded(_)
            | Event::Revised(_)
            | Event::Restored(_)
            | Event::MetadataSet(_)
            | Event::Redacted(_)
            | Event::Sealed(_) => {}
        }
    }

    fn task(&mut self, event: &task::Event) {
        use task::Event;
        let id = self.own();
        match event {
            Event::Created(event) => self.task_created(event),
            Event::Adopted(event) => self.task_adopted(event),
            Event::DependencyAdded(event) => {
                self.move_task(|fold| fold.dependency(event.dependency.0));
            }
            Event::RunAdded(event) => self.task_run(event.run.0),
            Event::Started(_) => self.task_status(Status::Running),
            Event::Done(_) => self.task_status(Status::Done),
            Event::Failed(_) => self.task_status(Status::Failed),
            Event::Cancelled(event) => self.task_cancelled(event),
            Event::Superseded(_) => self.superseded(),
            Event::Planned(event) => {
                if let Some(link) = link(Relation::TaskSupersedes, event.supersedes) {
                    self.link(id, link.relation, link.target);
                }
            }
            Event::ReviewRecorded(_)
            | Event::ConstraintAdded(_)
            | Event::CriterionAdded(_)
            | Event::MetadataSet(_)
            | Event::Redacted(_)
            | Event::Sealed(_) => {}
        }
    }

    fn task_status(&mut self, status: Status) {
        let id = self.own();
        self.move_task(|fold| fold.set_status(Kind::Task, id, status));
    }

    fn dependency(&mut self, task: Uuid) {
        let Some(row) = self.row(Kind::Task, self.own()) else {
            return;
        };
        if let Counts::Task { dependencies, .. } = &mut row.counts {
            let number = *dependencies;
            *dependencies += 1;
            self.append(self.own(), Relation::TaskDependencies, number, task);
        }
    }

    fn task_run(&mut self, run: Uuid) {
        let Some(row) = self.row(Kind::Task, self.own()) else {
            return;
        };
        if let Counts::Task { runs, .. } = &mut row.counts {
            let number = *runs;
            *runs += 1;
            self.append(self.own(), Relation::TaskRuns, number, run);
        }
    }

    fn run(&mut self, event: &run::Event) {
        use run::Event;
        let id = self.own();
        let set = |fold: &mut Self, patch_set: Uuid, status| {
            fold.set_status(Kind::PatchSet, patch_set, status);
        };
        match event {
            Event::Created(event) => self.run_created(event),
            Event::Adopted(event) => self.run_adopted(event),
            Event::PatchSetAdopted(event) => self.patch_set_adopted(event),
            Event::EvidenceAdopted(event) => self.evidence_adopted(event),
            Event::DecisionAdopted(event) => self.decision_adopted(event),
            Event::ProvenanceAdopted(event) => self.provenance_adopted(event),
            Event::ToolInvocationAdopted(event) => self.tool_invocation_adopted(event),
            Event::SnapshotAttached(event) => {
                self.link(id, Relation::RunSnapshot, event.snapshot.0);
            }
            Event::PatchingStarted(_) => self.set_status(Kind::Run, id, Status::Patching),
            Event::ValidationStarted(_) => self.set_status(Kind::Run, id, Status::Validating),
            Event::ToolInvoked(_)
            | Event::ToolRequested(_)
            | Event::ToolDecided(_)
            | Event::ToolBegun(_)
            | Event::ToolEnded(_) => self.tool_call(event),
            Event::PatchSetProposed(event) => self.patch_set_proposed(event),
            Event::PatchSetApplied(event) => set(self, event.patch_set.0, Status::Applied),
            Event::PatchSetRejected(event) => set(self, event.patch_set.0, Status::Rejected),
            Event::PatchSetReverted(event) => set(self, event.patch_set.0, Status::Reverted),
            Event::RationaleOverridden(event) => {
                self.set_title(Kind::PatchSet, event.patch_set.0);
            }
            Event::EvidenceRecorded(event) => self.evidence_recorded(event),
            Event::ProvenanceRecorded(event) => self.provenance_recorded(event),
            Event::UsageRecorded(event) => self.usage_recorded(event),
            Event::DecisionMade(event) => self.decision_made(event),
            Event::Failed(_) => {
                self.set_status(Kind::Run, id, Status::Failed);
                self.set_title(Kind::Run, id);
            }
            Event::MetricsRecorded(_)
            | Event::ResultCommitRecorded(_)
            | Event::EndedAfterIntent(_)
            | Event::MetadataSet(_)
            | Event::Redacted(_)
            | Event::Sealed(_) => {}
        }
    }

    fn snapshot(&mut self, event: &snapshot::Event) {
        use snapshot::Event;
        let id = self.own();
        match event {
            Event::Opened(event) => self.opened(event),
            Event::Adopted(event) => self.snapshot_adopted(event),
            Event::ItemAdded(_) => self.items_added(1),
            Event::Finalized(event) => {
                self.set_status(Kind::ContextSnapshot, id, Status::Finalized);
                if event.summary.is_some() {
                    self.set_title(Kind::ContextSnapshot, id);
                }
            }
            Event::BlobAttached(_)
            | Event::MetadataSet(_)
            | Event::Redacted(_)
            | Event::Sealed(_) => {}
        }
    }

    fn items_added(&mut self, count: usize) {
        if let Some(row) = self.row(Kind::ContextSnapshot, self.own())
            && let Counts::Snapshot { items } = &mut row.counts
        {
            *items += count as u64;
        }
    }

    fn pipeline(&mut self, event: &pipeline::Event) {
        use pipeline::Event;
        let id = self.own();
        match event {
            Event::Created(event) => self.pipeline_created(event),
            Event::Adopted(event) => self.pipeline_adopted(event),
            Event::FramePushed(event) => {
                if let Some(row) = self.row(Kind::ContextPipeline, id) {
                    in_window(&mut row.counts, |frames, window| {
                        *frames += 1;
                        window.push(&event.kind);
                    });
                }
            }
            Event::FramesDropped(event) => {
                if let Some(row) = self.row(Kind::ContextPipeline, id) {
                    in_window(&mut row.counts, |_, window| {
                        window.drop_frames(event.all);
                    });
                }
            }
            Event::MaxFramesSet(event) => {
                if let Some(row) = self.row(Kind::ContextPipeline, id) {
                    let set = |window: &mut Tally| window.set_max_frames(event.max_frames);
                    in_window(&mut row.counts, |_, window| set(window));
                }
            }
            Event::EvictionPolicySet(event) => {
                if let Some(row) = self.row(Kind::ContextPipeline, id) {
                    let set = |window: &mut Tally| window.set_policy(&event.policy());
                    in_window(&mut row.counts, |_, window| set(window));
                }
            }
            Event::GlobalSummarySet(_) => self.set_title(Kind::ContextPipeline, id),
            Event::FramesUsed(_)
            | Event::MetadataSet(_)
            | Event::Redacted(_)
            | Event::Sealed(_) => {}
        }
    }
}

/// Changes what a pipeline's row counts: frames that were pushed, and those in
/// the window.
fn in_window(counts: &mut Counts, change: impl FnOnce(&mut u64, &mut Tally)) {
    if let Counts::Pipeline { frames, window } = counts {
        change(frames, window);
    }
}

/// The lists that have an object with a tag or an external id.
fn label_prefixes(map: LabelMap, kind: Kind, name: &str, value: &str) -> [bytes::Bytes; 2] {
    [
        keys::of_label(map, kind, name, None),
        keys::of_label(map, kind, name, Some(value)),
    ]
}

/// A tag or an external id from its row. One that cannot be read has no rows in any list.
pub(super) fn read_label(value: &[u8]) -> Option<(String, String)> {
    annals_wire::decode_row(value).ok()
}
