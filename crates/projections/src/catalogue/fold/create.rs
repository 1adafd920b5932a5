//! Events that create an object with a stream of its own, and what every
//! creation does.

use annals_domain::intent::PartsTally;
use annals_domain::pipeline::Tally;
use annals_domain::{ActorKind, Kind, intent, pipeline, plan, run, snapshot, task};
use uuid::Uuid;

use super::Fold;
use crate::catalogue::keys;
use crate::catalogue::relation::Relation;
use crate::catalogue::row::{Counts, IntentCounts, Link, ObjectRow, link};
use crate::catalogue::status::Status;

/// What a new object begins with, beyond what the event's header says.
#[derive(Default)]
pub(super) struct Beginning {
    pub(super) status: Option<Status>,
    pub(super) sort: Option<String>,
    pub(super) links: Vec<Link>,
    pub(super) counts: Counts,
}

/// The counts of a plan without steps.
pub(super) const NO_STEPS: Counts = Counts::Plan {
    pending: 0,
    progressing: 0,
    completed: 0,
    failed: 0,
    skipped: 0,
};

/// What a new intent counts.
pub(super) const NO_PARTS: Counts = Counts::Intent(IntentCounts {
    stage: 0,
    risk: 0,
    is_taken_in: false,
    is_counted: false,
    unanswered: 0,
    dependencies: 0,
    parts: PartsTally {
        open: 0,
        done: 0,
        failed: 0,
        blocked: 0,
        called_off: 0,
        is_decomposed: false,
    },
    is_part: false,
    waiting: 0,
    commit: None,
});

/// The counts of a run in which nothing has happened.
pub(super) const NO_CHILDREN: Counts = Counts::Run {
    tool_invocations: 0,
    errors: 0,
    patch_sets: 0,
    evidence: 0,
    named_patch_sets: 0,
};

/// A run's children count to it, also when its own row is replaced.
pub(super) fn keep_children(row: &mut ObjectRow, before: &ObjectRow) {
    if row.kind != Kind::Run {
        return;
    }
    row.usage = before.usage;
    row.stated = before.stated;
    row.provenance = before.provenance;
    row.counts = before.counts;
    if let Counts::Run {
        named_patch_sets, ..
    } = &mut row.counts
    {
        *named_patch_sets = 0;
    }
}

impl Fold<'_> {
    /// Creates an object, unless its id is taken; whether it did.
    pub(super) fn create(&mut self, kind: Kind, id: Uuid, beginning: Beginning) -> bool {
        let known = self.objects.known(id).flatten();
        if known.is_some_and(ObjectRow::exists) {
            return false;
        }
        let record = &self.step.decoded.record;
        let position = self.step.position();
        let mut row = ObjectRow {
            first: position,
            last: position,
            events: 1,
            created_at: self.step.occurred_at(),
            updated_at: self.step.occurred_at(),
            actor_kind: ActorKind::from_word(record.actor_kind()),
            actor_id: record.actor_id().to_owned(),
            status: beginning.status,
            sort: beginning.sort,
            title: self.title.take(),
            links: beginning.links,
            counts: beginning.counts,
            ..ObjectRow::new(kind, id, self.step.decoded.stream)
        };
        if let Some(children) = known.filter(|known| known.kind == kind) {
            keep_children(&mut row, children);
        }
        self.enter(&row);
        self.objects.insert(row);
        true
    }

    /// Enters a new object into the lists that it belongs to.
    pub(super) fn enter(&mut self, row: &ObjectRow) {
        let id = row.id.as_bytes();
        let list = keys::in_kind(row.kind, row.status, row.first);
        self.rows.put(&list, id);
        self.rows.put_actor(row.kind, &row.actor_id, row.first);
        for link in row.to_one() {
            let key = keys::backward(link.target, link.relation, row.first, 0);
            self.rows.put(&key, id);
        }
    }

    pub(super) fn submitted(&mut self, event: &intent::Submitted) {
        let beginning = Beginning {
            status: Some(Status::Draft),
            links: link(Relation::IntentParent, event.refines)
                .into_iter()
                .collect(),
            counts: NO_PARTS,
            ..Beginning::default()
        };
        self.create(Kind::Intent, self.own(), beginning);
    }

    pub(super) fn drafted(&mut self, event: &plan::Drafted) {
        let links = [
            link(Relation::PlanPrevious, event.previous),
            link(Relation::PlanPipeline, event.pipeline),
            link(Relation::PlanIntent, event.intent),
        ];
        let beginning = Beginning {
            links: links.into_iter().flatten().collect(),
            counts: NO_STEPS,
            ..Beginning::default()
        };
        if self.create(Kind::Plan, self.own(), beginning) {
            for (index, step) in (0..).zip(&event.steps) {
                self.step_added(index, step);
            }
        }
    }

    pub(super) fn task_created(&mut self, event: &task::Created) {
        let links = [
            link(Relation::TaskParent, event.parent),
            link(Relation::TaskIntent, event.intent),
        ];
        let beginning = Beginning {
            status: Some(Status::Draft),
            sort: event.goal.as_ref().map(|goal| goal.to_string()),
            links: links.into_iter().flatten().collect(),
            counts: Counts::Task {
                runs: 0,
                dependencies: 0,
                is_counted: false,
                is_superseded: false,
                is_stranded: false,
            },
        };
        if self.create(Kind::Task, self.own(), beginning) {
            for task in &event.dependencies {
                self.dependency(task.0);
            }
        }
    }

    pub(super) fn run_created(&mut self, event: &run::Created) {
        let links = [
            link(Relation::RunTask, Some(event.task)),
            link(Relation::RunPlan, event.plan),
            link(Relation::RunSnapshot, event.snapshot),
        ];
        let beginning = Beginning {
            status: Some(Status::Created),
            links: links.into_iter().flatten().collect(),
            counts: NO_CHILDREN,
            ..Beginning::default()
        };
        self.create(Kind::Run, self.own(), beginning);
    }

    pub(super) fn opened(&mut self, event: &snapshot::Opened) {
        let beginning = Beginning {
            status: Some(Status::Open),
            sort: Some(event.strategy.as_str().to_owned()),
            counts: Counts::Snapshot { items: 0 },
            ..Beginning::default()
        };
        self.create(Kind::ContextSnapshot, self.own(), beginning);
    }

    pub(super) fn pipeline_created(&mut self, event: &pipeline::Created) {
        let beginning = Beginning {
            counts: Counts::Pipeline {
                frames: 0,
                window: Tally::new(event.max_frames),
            },
            ..Beginning::default()
        };
        self.create(Kind::ContextPipeline, self.own(), beginning);
    }
}
