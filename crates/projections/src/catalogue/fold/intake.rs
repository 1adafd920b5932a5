//! What happens to an intent on Forge's axis, and to the tasks and
//! children that decide its status.
//!
//! An intent's status is computed from its parts, so what happens to a task can
//! move its intent into the inbox or out of it, and the intents above that. The
//! rows count the parts; nothing is looked through to know where an intent is.

use annals_domain::intent::{
    self, ApprovalStatus, Classified, PartsTally, Risk, Stage, Standing, TakenIn, approval_status,
};
use annals_domain::{GitOid, IntentId, Kind, TaskId, task};
use uuid::Uuid;

use super::Fold;
use crate::catalogue::keys::{self, Facet};
use crate::catalogue::relation::Relation;
use crate::catalogue::row::{Counts, IntentCounts, Link, ObjectRow, link};
use crate::catalogue::status::Status;
use crate::catalogue::waits::{Waits, waits};

/// Intents above one another, at most; no real split is deeper.
pub(in crate::catalogue) const MOST_ANCESTORS: usize = 1_000;

/// How a task comes to be a part of an intent: it says so, or else the intent does.
const OF_TASK: [Relation; 2] = [Relation::TaskIntent, Relation::TaskPartOf];

/// The state of an intent, as far as others depend on it.
struct Place {
    waits: Option<Waits>,
    first: u64,
    status: ApprovalStatus,
    /// The same, if it is listed by it.
    listed: Option<ApprovalStatus>,
    /// The intent that counts it among its parts.
    above: Option<Uuid>,
}

/// What the row of an intent counts.
pub(in crate::catalogue) fn intent_counts(row: &ObjectRow) -> Option<&IntentCounts> {
    match &row.counts {
        Counts::Intent(counts) => Some(counts),
        _ => None,
    }
}

fn intent_counts_mut(row: &mut ObjectRow) -> Option<&mut IntentCounts> {
    match &mut row.counts {
        Counts::Intent(counts) => Some(counts),
        _ => None,
    }
}

/// The status of an intent on Forge's axis.
pub(in crate::catalogue) fn approval(row: &ObjectRow) -> Option<ApprovalStatus> {
    approval_of(row, |parts| parts)
}

/// The same without what is open of it: what failed waits for a person, whatever else goes on.
pub(in crate::catalogue) fn approval_without_open(row: &ObjectRow) -> Option<ApprovalStatus> {
    approval_of(row, PartsTally::without_open)
}

fn approval_of(row: &ObjectRow, counted: fn(PartsTally) -> PartsTally) -> Option<ApprovalStatus> {
    let counts = intent_counts(row)?;
    let life = match row.status {
        Some(Status::Active) => intent::Life::Active,
        Some(Status::Completed) => intent::Life::Completed,
        Some(Status::Cancelled) => intent::Life::Cancelled,
        _ => intent::Life::Draft { analyzed: false },
    };
    let asks = counts.unanswered > 0;
    let parts = counted(counts.parts);
    Some(approval_status(life, counts.stage(), &parts, asks))
}

/// A task as its intent counts it.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Part {
    standing: Option<Standing>,
    waits: bool,
}

impl Part {
    fn of(row: &ObjectRow) -> Part {
        Part {
            standing: standing(row),
            waits: waits_for_tasks(row),
        }
    }
}

/// How a task counts to its intent.
fn standing(row: &ObjectRow) -> Option<Standing> {
    let Counts::Task {
        is_superseded,
        is_stranded,
        ..
    } = row.counts
    else {
        return None;
    };
    match row.status {
        _ if is_superseded => None,
        Some(Status::Draft | Status::Running) => Some(Standing::Open),
        Some(Status::Done) => Some(Standing::Done),
        Some(Status::Failed) => Some(Standing::Failed),
        Some(Status::Cancelled) if is_stranded => Some(Standing::Blocked),
        Some(Status::Cancelled) => Some(Standing::CalledOff),
        _ => None,
    }
}

/// Whether a task was not begun, and waits for others.
pub(in crate::catalogue) fn waits_for_tasks(row: &ObjectRow) -> bool {
    let Counts::Task {
        dependencies,
        is_superseded,
        ..
    } = row.counts
    else {
        return false;
    };
    dependencies > 0 && !is_superseded && row.status == Some(Status::Draft)
}

impl Fold<'_> {
    fn place(&self, id: Uuid) -> Option<Place> {
        let row = self.objects.known(id).flatten()?;
        let counts = intent_counts(row)?;
        let status = approval(row)?;
        let above = row
            .links
            .iter()
            .find(|link| link.relation == Relation::IntentChildOf);
        Some(Place {
            waits: waits(counts, status, approval_without_open(row)?),
            first: row.first,
            status,
            listed: counts.is_taken_in.then_some(status),
            above: above.map(|link| link.target).filter(|_| counts.is_counted),
        })
    }

    /// Makes a change to an intent, and what follows for the inbox and for the
    /// intents that it is a part of.
    pub(super) fn move_intent(&mut self, id: Uuid, change: impl FnOnce(&mut Self)) {
        let mut before = self.place(id);
        change(self);
        let mut moved = id;
        // Children never form a cycle; if they did, this would end all the same.
        for _ in 0..MOST_ANCESTORS {
            let after = self.place(moved);
            self.list_waiting(moved, before.as_ref(), after.as_ref());
            self.list_approval(moved, before.as_ref(), after.as_ref());
            let standing = |place: &Option<Place>| {
                place
                    .as_ref()
                    .map(|place| (place.above, place.status.standing()))
            };
            let (was, is) = (standing(&before), standing(&after));
            let Some(above) = is.and_then(|(above, _)| above).filter(|_| was != is) else {
                return;
            };
            let counted = was.filter(|(known, _)| *known == Some(above));
            before = self.place(above);
            if let Some(counts) = self.intent_row(above) {
                counts
                    .parts
                    .remove(counted.and_then(|(_, standing)| standing));
                counts.parts.add(is.and_then(|(_, standing)| standing));
            }
            moved = above;
        }
    }

    fn list_waiting(&mut self, id: Uuid, before: Option<&Place>, after: Option<&Place>) {
        let key = |place: Option<&Place>| {
            let place = place?;
            place.waits.map(|waits| keys::waiting(waits, place.first))
        };
        let (before, after) = (key(before), key(after));
        if before == after {
            return;
        }
        if let Some(before) = before {
            self.rows.take_away(&before);
        }
        if let Some(after) = after {
            self.rows.put_new(&after, id.as_bytes());
        }
    }

    /// Moves an intent between the lists by approval status.
    fn list_approval(&mut self, id: Uuid, before: Option<&Place>, after: Option<&Place>) {
        let key = |place: Option<&Place>| {
            let place = place?;
            let list = keys::of_facet(Facet::Approval, place.listed?.as_str());
            Some(keys::listed(&list, place.first))
        };
        let is = |place: Option<&Place>| place.and_then(|place| place.listed);
        if is(before) == is(after) {
            return;
        }
        if let Some(before) = key(before) {
            self.rows.take_away(&before);
        }
        if let Some(after) = key(after) {
            self.rows.put_new(&after, id.as_bytes());
        }
    }

    /// Moves the intent of this stream from the list of one word to that of another.
    fn list_facet(&mut self, facet: Facet, before: Option<&str>, after: Option<&str>) {
        let id = self.own();
        let Some(first) = self.row(Kind::Intent, id).map(|row| row.first) else {
            return;
        };
        if before == after {
            return;
        }
        let key = |word| keys::listed(&keys::of_facet(facet, word), first);
        if let Some(before) = before {
            self.rows.delete(&key(before));
        }
        if let Some(after) = after {
            self.rows.put(&key(after), id.as_bytes());
        }
    }

    /// What the row of any intent counts, whose stream it may be.
    fn intent_row(&mut self, id: Uuid) -> Option<&mut IntentCounts> {
        let known = self.objects.known(id).flatten();
        known.filter(|row| row.exists() && row.kind == Kind::Intent)?;
        intent_counts_mut(self.objects.get_mut(id)?)
    }

    fn change_intent(&mut self, change: impl FnOnce(&mut IntentCounts)) {
        let id = self.own();
        self.move_intent(id, |fold| {
            if let Some(row) = fold.row(Kind::Intent, id).and_then(intent_counts_mut) {
                change(row);
            }
        });
    }

    /// The status of the first axis, on which the second depends.
    pub(super) fn intent_status(&mut self, status: Status) {
        let id = self.own();
        self.move_intent(id, |fold| fold.set_status(Kind::Intent, id, status));
    }

    pub(super) fn intent_commit(&mut self, commit: GitOid) {
        self.change_intent(|counts| counts.commit = Some(commit));
    }

    pub(super) fn set_stage(&mut self, stage: Stage) {
        self.change_intent(|counts| counts.set_stage(stage));
    }

    /// What is turned down is Cancelled in git-internal's words.
    pub(super) fn intent_rejected(&mut self) {
        self.change_intent(|counts| {
            counts.is_taken_in = true;
            counts.set_stage(Stage::Rejected);
        });
        self.intent_status(Status::Cancelled);
    }

    pub(super) fn taken_in(&mut self, event: &TakenIn) {
        let id = self.own();
        self.change_intent(|counts| {
            counts.is_taken_in = true;
            counts.dependencies = event.depends_on.len() as u64;
            counts.is_part = event.child_of.is_some();
        });
        let source = event.source.as_str().to_owned();
        let row = self.row(Kind::Intent, id);
        let before = row.and_then(|row| row.sort.replace(source.clone()));
        self.list_facet(Facet::Source, before.as_deref(), Some(&source));
        let step = self.step;
        for label in step.intent_labels() {
            self.list_facet(Facet::Label, None, Some(label));
        }
        if let Some(link) = link(Relation::IntentChildOf, event.child_of) {
            self.link(id, link.relation, link.target);
        }
        if let Some(link) = link(Relation::IntentObservation, event.observation) {
            self.link(id, link.relation, link.target);
        }
        for (number, other) in (0..).zip(&event.depends_on) {
            self.append(id, Relation::IntentDependencies, number, other.0);
        }
    }

    pub(super) fn classified(&mut self, event: &Classified) {
        let id = self.own();
        if let Some(work_type) = &event.work_type {
            let word = work_type.as_str().to_owned();
            let row = self.row(Kind::Intent, id);
            let before = row.and_then(|row| row.work_type.replace(word.clone()));
            self.list_facet(Facet::Type, before.as_deref(), Some(&word));
        }
        if let Some(risk) = event.risk {
            let row = self.row(Kind::Intent, id);
            let before = row.and_then(|row| intent_counts(row)?.risk());
            let before = before.map(Risk::as_str);
            self.list_facet(Facet::Risk, before, Some(risk.as_str()));
        }
        self.change_intent(|counts| {
            counts.is_taken_in = true;
            if let Some(risk) = event.risk {
                counts.set_risk(risk);
            }
        });
    }

    pub(super) fn approved(&mut self) {
        self.change_intent(|counts| {
            counts.is_taken_in = true;
            counts.set_stage(Stage::Approved);
        });
    }

    pub(super) fn asked(&mut self, questions: usize) {
        let more = u32::try_from(questions).unwrap_or(u32::MAX);
        self.change_intent(|counts| {
            counts.is_taken_in = true;
            counts.unanswered = counts.unanswered.saturating_add(more);
        });
    }

    /// The last answer lets an executing intent go back to approved.
    pub(super) fn answered(&mut self) {
        self.change_intent(|counts| {
            counts.unanswered = counts.unanswered.saturating_sub(1);
            if counts.unanswered == 0 && counts.stage() == Stage::Executing {
                counts.set_stage(Stage::Approved);
            }
        });
    }

    pub(super) fn decomposed(&mut self, children: &[IntentId]) {
        self.change_intent(|counts| counts.parts.is_decomposed = true);
        for child in children {
            let standing = self
                .place(child.0)
                .and_then(|place| place.status.standing());
            let is_new = match self.intent_row(child.0) {
                Some(row) => !std::mem::replace(&mut row.is_counted, true),
                None => false,
            };
            if is_new {
                self.change_intent(|counts| counts.parts.add(standing));
            }
        }
    }

    pub(super) fn task_added(&mut self, task: TaskId) {
        let known = self.objects.known(task.0).flatten();
        let Some(part) = known.filter(|row| row.exists()).map(Part::of) else {
            return;
        };
        let mut is_new = false;
        if let Some(row) = self.objects.get_mut(task.0)
            && let Counts::Task { is_counted, .. } = &mut row.counts
        {
            is_new = !std::mem::replace(is_counted, true);
        }
        if is_new {
            self.link_task(task);
            self.change_intent(|counts| counts.add_part(part));
        }
    }

    /// Links a task that says no intent to the one of this stream.
    fn link_task(&mut self, task: TaskId) {
        let intent = self.own();
        let Some(row) = self.objects.get_mut(task.0) else {
            return;
        };
        if row
            .links
            .iter()
            .any(|link| OF_TASK.contains(&link.relation))
        {
            return;
        }
        row.links.push(Link {
            relation: Relation::TaskPartOf,
            target: intent,
        });
        let key = keys::backward(intent, Relation::TaskPartOf, row.first, 0);
        self.rows.put(&key, task.0.as_bytes());
    }

    /// Makes a change to the task of this stream, and what follows for its intent.
    pub(super) fn move_task(&mut self, change: impl FnOnce(&mut Self)) {
        let id = self.own();
        let part_of = |fold: &Self| fold.objects.known(id).flatten().map(Part::of);
        let before = part_of(self);
        change(self);
        let after = part_of(self);
        let Some(intent) = self.counting_intent(id).filter(|_| before != after) else {
            return;
        };
        self.move_intent(intent, |fold| {
            if let Some(counts) = fold.intent_row(intent) {
                before.into_iter().for_each(|part| counts.remove_part(part));
                after.into_iter().for_each(|part| counts.add_part(part));
            }
        });
    }

    /// The intent that counts a task among its parts.
    pub(super) fn counting_intent(&self, task: Uuid) -> Option<Uuid> {
        let row = self.objects.known(task).flatten()?;
        let Counts::Task {
            is_counted: true, ..
        } = row.counts
        else {
            return None;
        };
        let links = &mut row.links.iter();
        let link = links.find(|link| OF_TASK.contains(&link.relation));
        link.map(|link| link.target)
    }

    pub(super) fn task_cancelled(&mut self, event: &task::Cancelled) {
        let id = self.own();
        self.move_task(|fold| {
            fold.set_status(Kind::Task, id, Status::Cancelled);
            if let Some(row) = fold.row(Kind::Task, id)
                && let Counts::Task { is_stranded, .. } = &mut row.counts
            {
                *is_stranded = event.dependency.is_some();
            }
        });
    }

    pub(super) fn superseded(&mut self) {
        let id = self.own();
        self.move_task(|fold| {
            if let Some(row) = fold.row(Kind::Task, id)
                && let Counts::Task { is_superseded, .. } = &mut row.counts
            {
                *is_superseded = true;
            }
        });
    }
}

impl IntentCounts {
    fn add_part(&mut self, part: Part) {
        self.parts.add(part.standing);
        self.waiting = self.waiting.saturating_add(u32::from(part.waits));
    }

    fn remove_part(&mut self, part: Part) {
        self.parts.remove(part.standing);
        self.waiting = self.waiting.saturating_sub(u32::from(part.waits));
    }

    /// How far the intent was let go.
    pub(in crate::catalogue) fn stage(&self) -> Stage {
        match self.stage {
            1 => Stage::Approved,
            2 => Stage::Executing,
            3 => Stage::Rejected,
            _ => Stage::Proposed,
        }
    }

    fn set_stage(&mut self, stage: Stage) {
        self.stage = match stage {
            Stage::Proposed => 0,
            Stage::Approved => 1,
            Stage::Executing => 2,
            Stage::Rejected => 3,
        };
    }

    /// How risky it is, if anything said so.
    pub(in crate::catalogue) fn risk(&self) -> Option<Risk> {
        let with_code = |risk: &&Risk| risk.code() == u16::from(self.risk);
        Risk::ALL.iter().find(with_code).copied()
    }

    fn set_risk(&mut self, risk: Risk) {
        self.risk = u8::try_from(risk.code()).unwrap_or(0);
    }
}
