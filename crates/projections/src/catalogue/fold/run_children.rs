//! What happens within a run: its children, which have rows of their own, and
//! what the run's row counts of them.

use annals_domain::run::{
    DecisionMade, EvidenceRecorded, PatchSetProposed, ProvenanceRecorded, UsageRecorded,
};
use annals_domain::{Kind, StreamKind};
use uuid::Uuid;

use super::Fold;
use super::create::{Beginning, NO_CHILDREN};
use crate::catalogue::relation::Relation;
use crate::catalogue::row::{Counts, ObjectRow, Usage, link};
use crate::catalogue::status::Status;

impl Fold<'_> {
    /// The row of the run whose stream this is. Where there is no such run, it
    /// is a row that only counts its children, until there is one.
    pub(super) fn run_of_children(&mut self) -> Option<&mut ObjectRow> {
        let (stream, id) = (self.step.decoded.stream, self.own());
        if stream.kind != StreamKind::Run {
            return None;
        }
        match self.objects.known(id).flatten() {
            Some(row) if row.kind != Kind::Run => return None,
            Some(_) => {}
            None => self.objects.insert(ObjectRow {
                counts: NO_CHILDREN,
                ..ObjectRow::new(Kind::Run, id, stream)
            }),
        }
        self.objects.get_mut(id)
    }

    /// Counts tool invocations, and those that failed.
    pub(super) fn count_call(&mut self, calls: u64, failed: i64) {
        if let Some(run) = self.run_of_children()
            && let Counts::Run {
                tool_invocations,
                errors,
                ..
            } = &mut run.counts
        {
            *tool_invocations += calls;
            *errors = errors.saturating_add_signed(failed);
        }
    }

    pub(super) fn patch_set_proposed(&mut self, event: &PatchSetProposed) {
        let beginning = Beginning {
            status: Some(Status::Proposed),
            ..Beginning::default()
        };
        let patch_set = event.patch_set.0;
        if !self.create(Kind::PatchSet, patch_set, beginning) {
            return;
        }
        self.count_patch_set();
        self.name_patch_set(patch_set);
    }

    pub(super) fn count_patch_set(&mut self) {
        if let Some(run) = self.run_of_children()
            && let Counts::Run { patch_sets, .. } = &mut run.counts
        {
            *patch_sets += 1;
        }
    }

    /// Makes the run name a patch set, if there is a run.
    pub(super) fn name_patch_set(&mut self, patch_set: Uuid) {
        let run = self.own();
        if let Some(row) = self.row(Kind::Run, run)
            && let Counts::Run {
                named_patch_sets, ..
            } = &mut row.counts
        {
            let number = *named_patch_sets;
            *named_patch_sets += 1;
            self.append(run, Relation::RunPatchSets, number, patch_set);
        }
    }

    pub(super) fn evidence_recorded(&mut self, event: &EvidenceRecorded) {
        let beginning = Beginning {
            sort: Some(event.kind.to_string()),
            links: link(Relation::EvidencePatchSet, event.patch_set)
                .into_iter()
                .collect(),
            ..Beginning::default()
        };
        if self.create(Kind::Evidence, event.evidence.0, beginning) {
            self.count_evidence();
        }
    }

    pub(super) fn count_evidence(&mut self) {
        if let Some(run) = self.run_of_children()
            && let Counts::Run { evidence, .. } = &mut run.counts
        {
            *evidence += 1;
        }
    }

    pub(super) fn decision_made(&mut self, event: &DecisionMade) {
        let beginning = Beginning {
            sort: Some(event.decision_type.to_string()),
            links: link(Relation::DecisionPatchSet, event.chosen_patch_set)
                .into_iter()
                .collect(),
            counts: Counts::Decision {
                commit: event.result_commit,
            },
            ..Beginning::default()
        };
        self.create(Kind::Decision, event.decision.0, beginning);
        let run = self.own();
        let failed = |row: &mut ObjectRow| row.status == Some(Status::Failed);
        if !self.row(Kind::Run, run).is_some_and(failed) {
            self.set_status(Kind::Run, run, Status::Completed);
        }
    }

    pub(super) fn provenance_recorded(&mut self, event: &ProvenanceRecorded) {
        let provenance = event.provenance.0;
        if !self.create(Kind::Provenance, provenance, Beginning::default()) {
            return;
        }
        // It does not say which of its input tokens came from a cache.
        let stated = event.token_usage.map(|used| Usage {
            uncached_input: used.input_tokens,
            output: used.output_tokens,
            cost_usd: used.cost_usd,
            ..Usage::default()
        });
        self.state_usage(provenance, stated);
        // Tokens that were used before it was there count to it all the same.
        let used = self.run_of_children().and_then(|run| run.usage);
        if let Some(row) = self.row(Kind::Provenance, provenance) {
            row.usage = used;
        }
    }

    /// Records the tokens that a provenance says its run used.
    pub(super) fn state_usage(&mut self, provenance: Uuid, stated: Option<Usage>) {
        let Some(run) = self.run_of_children() else {
            return;
        };
        run.provenance = Some(provenance);
        run.stated = stated;
        if let Some(row) = self.row(Kind::Provenance, provenance) {
            row.stated = stated;
        }
    }

    pub(super) fn usage_recorded(&mut self, event: &UsageRecorded) {
        let used = Usage {
            uncached_input: event.uncached_input_tokens,
            cache_read: event.cache_read_tokens,
            cache_write: event.cache_write_tokens,
            output: event.output_tokens,
            cost_usd: event.cost_usd,
        };
        let Some(run) = self.run_of_children() else {
            return;
        };
        Usage::add(&mut run.usage, used);
        let provenance: Option<Uuid> = run.provenance;
        if let Some(provenance) = provenance {
            self.touch_one(Kind::Provenance, provenance);
            if let Some(row) = self.row(Kind::Provenance, provenance) {
                Usage::add(&mut row.usage, used);
            }
        }
    }
}
