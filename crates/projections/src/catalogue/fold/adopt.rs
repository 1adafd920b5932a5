//! Objects that were taken over from another system, as they are.
//!
//! An adopted object is listed as its header says. One that is
//! adopted again takes its own place: what it had is taken out first. Children
//! of a run count to it, whether or not the run was adopted.

use annals_domain::pipeline::Tally;
use annals_domain::run::ToolStatus;
use annals_domain::{AdoptedHeader, Kind, intent, pipeline, plan, run, snapshot, task};
use uuid::Uuid;

use super::create::{Beginning, NO_CHILDREN, keep_children};
use super::intake::intent_counts;
use super::{Fold, in_window};
use crate::catalogue::keys;
use crate::catalogue::relation::Relation;
use crate::catalogue::row::{Counts, IntentCounts, LabelMap, ObjectRow, Usage, link};
use crate::catalogue::status::Status;

/// How an object was adopted.
enum Adopted {
    /// For the first time.
    New,
    /// In the place of what was there; with what status that was.
    Again(Option<Status>),
}

impl Fold<'_> {
    /// Adopts an object, unless its id is another object's.
    fn adopt(
        &mut self,
        kind: Kind,
        id: Uuid,
        header: &AdoptedHeader,
        beginning: Beginning,
    ) -> Option<Adopted> {
        let stream = self.step.decoded.stream;
        let known = self.objects.known(id).flatten().cloned();
        if let Some(known) = &known
            && known.exists()
            && !known.is(kind, stream)
        {
            return None;
        }
        let before = known.as_ref().filter(|known| known.exists());
        if let Some(before) = before {
            self.leave(before);
        }
        let position = self.step.position();
        let mut row = ObjectRow {
            first: before.map_or(position, |before| before.first),
            last: position,
            events: before.map_or(1, |before| before.events),
            created_at: header.created_at,
            updated_at: header.updated_at,
            actor_kind: header.created_by.kind.clone(),
            actor_id: header.created_by.id.clone(),
            visibility: header.visibility,
            status: beginning.status,
            sort: beginning.sort,
            title: self.title.take(),
            aliases: before.map_or(0, |before| before.aliases),
            links: beginning.links,
            counts: beginning.counts,
            ..ObjectRow::new(kind, id, stream)
        };
        if let Some(known) = known.as_ref().filter(|known| known.kind == kind) {
            keep_children(&mut row, known);
        }
        self.enter(&row);
        self.objects.insert(row);
        for map in LabelMap::ALL {
            self.set_labels(map, kind, id);
        }
        Some(match before {
            Some(before) => Adopted::Again(before.status),
            None => Adopted::New,
        })
    }

    /// Takes an object out of every list that it is in.
    fn leave(&mut self, row: &ObjectRow) {
        // Its actor's block may have other objects of that actor's.
        let list = keys::in_kind(row.kind, row.status, row.first);
        self.rows.delete(&list);
        for link in row.to_one() {
            let key = keys::backward(link.target, link.relation, row.first, 0);
            self.rows.delete(&key);
        }
        for (relation, count) in row.named() {
            for number in 0..u32::try_from(count).unwrap_or(u32::MAX) {
                let key = keys::forward(row.id, relation, number);
                let target = self.rows.get(&key).and_then(|id| Uuid::from_slice(id).ok());
                if let Some(target) = target {
                    let backward = keys::backward(target, relation, row.first, number);
                    self.rows.delete(&backward);
                    self.rows.delete(&key);
                }
            }
        }
        for index in 0..u32::try_from(row.steps()).unwrap_or(u32::MAX) {
            self.rows.delete(&keys::step(row.id, index));
        }
        for map in LabelMap::ALL {
            self.remove_labels(map, row.kind, row.id, row.first, row.labels(map));
        }
    }

    pub(super) fn intent_adopted(&mut self, event: &intent::Adopted) {
        let links = [
            link(Relation::IntentParent, event.parent),
            link(Relation::IntentPlan, event.plan),
        ];
        let id = self.own();
        // What happened to it here stays.
        let known = self.objects.known(id).flatten();
        let counts = known.and_then(intent_counts).copied();
        let counts = IntentCounts {
            commit: event.commit,
            ..counts.unwrap_or_default()
        };
        let beginning = Beginning {
            status: Some(event.status().into()),
            links: links.into_iter().flatten().collect(),
            counts: Counts::Intent(counts),
            ..Beginning::default()
        };
        self.move_intent(id, |fold| {
            fold.adopt(Kind::Intent, id, &event.header, beginning);
        });
    }

    pub(super) fn plan_adopted(&mut self, event: &plan::Adopted) {
        let plan = self.own();
        if let Some(object) = &event.object {
            let links = [
                link(Relation::PlanPrevious, object.previous),
                link(Relation::PlanPipeline, object.pipeline),
            ];
            let beginning = Beginning {
                links: links.into_iter().flatten().collect(),
                counts: super::create::NO_STEPS,
                ..Beginning::default()
            };
            if self
                .adopt(Kind::Plan, plan, &object.header, beginning)
                .is_none()
            {
                return;
            }
        }
        let Some(begun) = self.row(Kind::Plan, plan).map(|row| row.steps()) else {
            return;
        };
        if begun == 0 && event.object.is_none() {
            self.set_title(Kind::Plan, plan);
        }
        let first = u32::try_from(begun).unwrap_or(u32::MAX);
        for (index, adopted) in (first..).zip(&event.steps) {
            self.step_in_status(index, &adopted.step, adopted.status());
        }
    }

    pub(super) fn task_adopted(&mut self, event: &task::Adopted) {
        let task = self.own();
        if let Some(object) = &event.object {
            // What an intent said of it holds where it says nothing itself.
            let counting = self.counting_intent(task);
            let told = counting.filter(|_| object.intent.is_none());
            let links = [
                link(Relation::TaskParent, object.parent),
                link(Relation::TaskIntent, object.intent),
                link(Relation::TaskPartOf, told),
            ];
            let says = object.intent.map(Uuid::from);
            let beginning = Beginning {
                status: Some(object.status.into()),
                sort: object.goal.as_ref().map(|goal| goal.to_string()),
                links: links.into_iter().flatten().collect(),
                counts: Counts::Task {
                    runs: 0,
                    dependencies: 0,
                    // One that is adopted again is a part of its intent still.
                    is_counted: counting.is_some() && counting == says.or(told),
                    is_superseded: false,
                    is_stranded: false,
                },
            };
            self.move_task(|fold| {
                fold.adopt(Kind::Task, task, &object.header, beginning);
            });
        }
        for run in &event.runs {
            self.task_run(run.0);
        }
        self.move_task(|fold| {
            for dependency in &event.dependencies {
                fold.dependency(dependency.0);
            }
        });
    }

    pub(super) fn run_adopted(&mut self, event: &run::Adopted) {
        let run = self.own();
        if let Some(object) = &event.object {
            let links = [
                link(Relation::RunTask, Some(object.task)),
                link(Relation::RunPlan, object.plan),
                link(Relation::RunSnapshot, object.snapshot),
            ];
            let beginning = Beginning {
                status: Some(object.status.into()),
                links: links.into_iter().flatten().collect(),
                counts: NO_CHILDREN,
                ..Beginning::default()
            };
            self.adopt(Kind::Run, run, &object.header, beginning);
        }
        for patch_set in &event.patchsets {
            self.name_patch_set(patch_set.0);
        }
    }

    pub(super) fn patch_set_adopted(&mut self, event: &run::PatchSetAdopted) {
        let Some(object) = &event.object else {
            return;
        };
        let beginning = Beginning {
            status: Some(object.apply_status.into()),
            ..Beginning::default()
        };
        let id = event.patch_set.0;
        let adopted = self.adopt(Kind::PatchSet, id, &object.header, beginning);
        if matches!(adopted, Some(Adopted::New)) {
            self.count_patch_set();
        }
    }

    pub(super) fn evidence_adopted(&mut self, event: &run::EvidenceAdopted) {
        let evidence = &event.evidence;
        let beginning = Beginning {
            sort: Some(evidence.kind.to_string()),
            links: link(Relation::EvidencePatchSet, evidence.patch_set)
                .into_iter()
                .collect(),
            ..Beginning::default()
        };
        let id = evidence.evidence.0;
        let adopted = self.adopt(Kind::Evidence, id, &event.header, beginning);
        if matches!(adopted, Some(Adopted::New)) {
            self.count_evidence();
        }
    }

    /// It changes nothing but itself.
    pub(super) fn decision_adopted(&mut self, event: &run::DecisionAdopted) {
        let decision = &event.decision;
        let beginning = Beginning {
            sort: Some(decision.decision_type.to_string()),
            links: link(Relation::DecisionPatchSet, decision.chosen_patch_set)
                .into_iter()
                .collect(),
            counts: Counts::Decision {
                commit: decision.result_commit,
            },
            ..Beginning::default()
        };
        let id = decision.decision.0;
        self.adopt(Kind::Decision, id, &event.header, beginning);
    }

    pub(super) fn provenance_adopted(&mut self, event: &run::ProvenanceAdopted) {
        let id = event.provenance.0;
        let beginning = Beginning::default();
        let adopted = self.adopt(Kind::Provenance, id, &event.header, beginning);
        if adopted.is_some() {
            let stated = event.token_usage.map(|used| Usage {
                uncached_input: used.input_tokens,
                output: used.output_tokens,
                cost_usd: used.cost_usd,
                ..Usage::default()
            });
            // It is as it came, independent of what was used here before.
            self.state_usage(id, stated);
        }
    }

    pub(super) fn tool_invocation_adopted(&mut self, event: &run::ToolInvocationAdopted) {
        let invocation = &event.invocation;
        let beginning = Beginning {
            status: Some(invocation.status.into()),
            ..Beginning::default()
        };
        let failed = i64::from(invocation.status == ToolStatus::Error);
        let id = invocation.tool_invocation.0;
        match self.adopt(Kind::ToolInvocation, id, &event.header, beginning) {
            Some(Adopted::New) => self.count_call(1, failed),
            Some(Adopted::Again(before)) => {
                let key = keys::later_of_call(id, self.step.position());
                self.rows.put(&key, &[]);
                let had_failed = i64::from(before == Some(Status::Error));
                self.count_call(0, failed - had_failed);
            }
            None => {}
        }
    }

    pub(super) fn snapshot_adopted(&mut self, event: &snapshot::Adopted) {
        if let Some(object) = &event.object {
            let beginning = Beginning {
                status: Some(Status::Open),
                sort: Some(object.strategy.as_str().to_owned()),
                counts: Counts::Snapshot { items: 0 },
                ..Beginning::default()
            };
            self.adopt(Kind::ContextSnapshot, self.own(), &object.header, beginning);
        }
        self.items_added(event.items.len());
    }

    pub(super) fn pipeline_adopted(&mut self, event: &pipeline::Adopted) {
        let id = self.own();
        if let Some(object) = &event.object {
            let beginning = Beginning {
                counts: Counts::Pipeline {
                    frames: 0,
                    window: Tally::new(object.max_frames),
                },
                ..Beginning::default()
            };
            self.adopt(Kind::ContextPipeline, id, &object.header, beginning);
        }
        if let Some(row) = self.row(Kind::ContextPipeline, id) {
            for frame in &event.frames {
                in_window(&mut row.counts, |frames, window| {
                    *frames += 1;
                    window.adopt(&frame.kind);
                });
            }
        }
    }
}
