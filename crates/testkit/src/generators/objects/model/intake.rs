//! The reference for intents that are taken in and approved. What the log gives ids
//! is kept under ids of the model's own, which no command can name.

use std::collections::{BTreeMap, BTreeSet};

use annals_domain::intent::{self, Risk, WorkType};
use annals_domain::run::{Decide, DecisionType, EvidenceKind, RecordEvidence};
use annals_domain::settings::{OverBudget, RemoveBudget, SetBudget, SetSetting, Setting};
use annals_domain::task::{RecordReview, ReviewVerdict};
use annals_domain::{Command, Kind};
use uuid::Uuid;

use super::judged::{Judged, demand, text};
use super::{HIGH_LABEL, Intent, Model, Task};

fn level(risk: Risk) -> usize {
    match risk {
        Risk::Low => 1,
        Risk::Med => 2,
        Risk::High => 3,
    }
}

impl Model {
    pub(super) fn judge_intake(&mut self, command: &Command) -> Judged {
        match command {
            Command::SubmitIntent(c) => self.submit_intent(c),
            Command::JudgeIntent(c) => self.judge_intent(c),
            Command::ApproveIntent(c) => {
                let (by, own) = (self.by, self.settings.own);
                let judged = self.open_intent(c.intent.0)?.judged;
                let goes_on = self.lets_go(Risk::Low, judged);
                let intent = self.open_intent(c.intent.0)?;
                demand(intent.stage == "proposed")?;
                demand(by != "tester" || (goes_on && intent.risk == Some(Risk::Low)))?;
                let is_known = !intent.asked_by.is_empty();
                demand(own || by != intent.asked_by && (is_known || by != "tester"))?;
                (intent.stage, intent.taken_in) = ("approved", true);
                intent.status = "active";
                Some(true)
            }
            Command::RejectIntent(c) => {
                self.open_intent(c.intent.0)?;
                self.may_turn_down(c.intent.0)?;
                let status = self.approval(c.intent.0);
                demand(matches!(status, "proposed" | "approved") || self.has_failed(c.intent.0))?;
                self.end_parts(c.intent.0)?;
                let intent = self.open_intent(c.intent.0)?;
                (intent.stage, intent.status) = ("rejected", "cancelled");
                intent.taken_in = true;
                Some(true)
            }
            Command::InstructIntent(c) => {
                text(&c.instruction)?;
                self.open_intent(c.intent.0)?;
                self.may_instruct(c.intent.0).map(|()| true)
            }
            Command::StartExecution(c) => {
                demand(self.open_intent(c.intent.0)?.stage == "approved")?;
                self.ready(c.intent.0)?;
                self.open_intent(c.intent.0)?.stage = "executing";
                Some(true)
            }
            Command::RequestClarification(c) => {
                self.open_intent(c.intent.0)?;
                demand(self.approval(c.intent.0) != "done")?;
                self.ask(c.intent.0, &c.questions)
            }
            Command::AnswerClarification(c) => self.answer(c),
            Command::RecordAnalysis(c) => self.record_analysis(c),
            Command::RerunIntent(c) => self.rerun(c),
            Command::RecordReview(c) => self.record_review(c),
            Command::SetSetting(c) => self.set_setting(c),
            Command::SetBudget(c) => self.set_budget(c),
            Command::RemoveBudget(c) => self.remove_budget(c),
            Command::RecordObservation(c) => self.record_observation(c),
            Command::ProcessObservation(c) => self.process_observation(c),
            other => panic!("{} is not modelled", other.name()),
        }
    }

    /// An id of the model's own.
    fn own_id(&mut self) -> Uuid {
        self.own_ids += 1;
        Uuid::from_u128((1 << 100) + self.own_ids)
    }

    /// Whether the log gave the object its id.
    pub fn is_own(id: Uuid) -> bool {
        id.as_u128() >> 100 == 1
    }

    pub(super) fn open_intent(&mut self, id: Uuid) -> Option<&mut Intent> {
        let intent = self.intents.get_mut(&id)?;
        demand(matches!(intent.status, "draft" | "active") && intent.stage != "rejected")?;
        Some(intent)
    }

    /// The state of an intent on its way to approval and after it, computed from what there is.
    pub fn approval(&self, id: Uuid) -> &'static str {
        self.approval_of(id, true, true)
    }

    /// Whether something of an intent failed or was called off, and nothing but what is open was added since.
    pub(super) fn has_failed(&self, id: Uuid) -> bool {
        matches!(self.approval_of(id, false, false), "blocked" | "error")
    }

    /// `with_open` says whether its open parts count, `below` whether those of its parts do.
    fn approval_of(&self, id: Uuid, with_open: bool, below: bool) -> &'static str {
        let intent = &self.intents[&id];
        match (intent.stage, intent.status) {
            ("rejected", _) => return "rejected",
            (_, "completed") => return "done",
            (_, "cancelled") => return "cancelled",
            ("proposed", _) => return "proposed",
            _ => {}
        }
        let tasks = intent.tasks.iter().map(|task| &self.tasks[task]);
        let tasks = tasks.filter(|task| !task.superseded);
        let mut parts: Vec<&str> = tasks
            .map(|task| match task.status {
                "done" => "done",
                "failed" => "error",
                "cancelled" if task.stranded => "blocked",
                other => other,
            })
            .collect();
        let children = intent.children.iter();
        parts.extend(children.map(|child| self.approval_of(*child, below, below)));
        let is_over = |part: &&str| {
            let over = ["done", "error", "blocked", "rejected", "cancelled"];
            over.contains(part)
        };
        if !with_open && parts.iter().any(is_over) {
            parts.retain(|part| is_over(part));
        }
        let had_parts = !parts.is_empty();
        parts.retain(|part| !matches!(*part, "rejected" | "cancelled"));
        let begun = match intent.stage {
            "approved" => "approved",
            _ => "executing",
        };
        let settled = |part: &&str| matches!(*part, "done" | "error" | "blocked");
        if !parts.iter().all(settled) || !had_parts {
            begun
        } else if !parts.is_empty() && parts.iter().all(|part| *part == "done") {
            // While something is asked, nothing is done.
            match intent.unanswered.is_empty() {
                true => "done",
                false => begun,
            }
        } else if !parts.is_empty() && parts.iter().all(|part| *part == "error") {
            "error"
        } else {
            "blocked"
        }
    }

    /// Why an intent is in the inbox, if it is (docs/spec/forge.md, Inbox).
    pub fn inbox_reason(&self, id: Uuid) -> Option<&'static str> {
        let intent = &self.intents[&id];
        if !intent.taken_in {
            return None;
        }
        match self.approval_of(id, false, true) {
            "blocked" => return Some("blocked"),
            "error" => return Some("error"),
            _ => {}
        }
        match self.approval(id) {
            "proposed" | "approved" | "executing" if !intent.unanswered.is_empty() => {
                Some("clarification")
            }
            "proposed" => Some("approval"),
            status @ ("approved" | "executing") => {
                let is_over = |id: &Uuid| matches!(self.approval(*id), "rejected" | "cancelled");
                let never = status == "approved" && intent.depends_on.iter().any(is_over);
                let mut tasks = intent.tasks.iter().map(|task| &self.tasks[task]);
                let in_vain = |task: &Task| {
                    let waits = task.status == "draft" && !task.superseded;
                    waits && task.dependencies.iter().any(|id| self.is_never_done(*id))
                };
                let left_over = self.is_left_over(id);
                (never || left_over || tasks.any(in_vain)).then_some("dependency")
            }
            _ => None,
        }
    }

    /// Whether a task, or the one in its place, is never done.
    fn is_never_done(&self, id: Uuid) -> bool {
        let (newest, turned_down) = (self.newest(id), ["rejected", "cancelled"]);
        match self.tasks[&newest].status {
            "done" => false,
            "failed" | "cancelled" => true,
            _ => {
                let mut intents = self.intents_of(newest).into_iter();
                intents.any(|id| turned_down.contains(&self.approval(id)))
            }
        }
    }

    /// Whether something that an intent is a part of has ended.
    fn is_left_over(&self, id: Uuid) -> bool {
        let whole = |id: &Uuid| self.intents[id].child_of;
        let mut above = std::iter::successors(whole(&id), whole);
        above.any(|id| !matches!(self.intents[&id].status, "draft" | "active"))
    }

    /// What became of one of some tasks, or of those in their places, that is never done.
    pub(super) fn lost(&self, tasks: impl IntoIterator<Item = Uuid>) -> Option<&'static str> {
        let newest = tasks.into_iter().map(|task| self.newest(task));
        let statuses: BTreeSet<&str> = newest.map(|task| self.tasks[&task].status).collect();
        let mut lost = ["failed", "cancelled"].into_iter();
        lost.find(|status| statuses.contains(status))
    }

    /// An agent turns down what it asked for itself, and nothing of which something failed.
    pub(super) fn may_turn_down(&self, id: Uuid) -> Option<()> {
        let is_own = self.intents.get(&id)?.asked_by == self.by;
        demand(self.by != "tester" || (is_own && !self.has_failed(id) && !self.has_rejected(id)))
    }

    /// An agent does not instruct what a person approved, nor do those who asked for it.
    fn may_instruct(&self, id: Uuid) -> Option<()> {
        let intent = self.intents.get(&id)?;
        let lets_go = |risk| self.lets_go(risk, intent.judged);
        if self.has_failed(id) {
            demand(self.by != "tester")
        } else if intent.waits_for_approval() {
            demand(self.by != "tester" || self.by == intent.asked_by)
        } else if intent.stage == "proposed" || intent.risk.is_some_and(lets_go) {
            Some(())
        } else {
            demand(self.by != "tester" && (self.settings.own || self.by != intent.asked_by))
        }
    }

    /// The parts of an intent that was turned down, which are not done, end with it.
    pub(super) fn end_parts(&mut self, id: Uuid) -> Option<()> {
        let (mut open, mut ended) = (self.intents[&id].children.clone(), Vec::new());
        while let Some(part) = open.pop() {
            let intent = &self.intents[&part];
            open.extend(&intent.children);
            let is_open = matches!(intent.status, "draft" | "active");
            if is_open && self.approval(part) != "done" {
                self.may_turn_down(part)?;
                ended.push(part);
            }
        }
        for part in ended {
            self.intents.get_mut(&part)?.status = "cancelled";
        }
        Some(())
    }

    fn lets_go(&self, risk: Risk, judged: bool) -> bool {
        let settings = &self.settings;
        level(risk) <= settings.threshold && (judged || settings.trust)
    }

    fn submit_intent(&mut self, c: &intent::SubmitIntent) -> Judged {
        text(&c.prompt)?;
        c.labels.iter().try_for_each(|label| text(label))?;
        let named = c.depends_on.iter().chain(&c.refines).chain(&c.child_of);
        demand(
            named
                .copied()
                .all(|other| self.intents.contains_key(&other.0)),
        )?;
        if let Some(parent) = c.child_of {
            self.open_intent(parent.0)?;
            let mut above = Some(parent.0);
            while let Some(id) = above {
                demand(!c.depends_on.contains(&id.into()))?;
                above = self.intents[&id].child_of;
            }
            let waits = c.depends_on.iter().map(|it| it.0).collect();
            demand(!self.intents_wait_for(waits, parent.0))?;
            self.open_above(parent.0)?;
            // A part begins nothing that is not ready to be begun.
            let is_ready = self.ready(parent.0).is_some();
            let parent = self.open_intent(parent.0)?;
            if parent.stage == "approved" && is_ready {
                parent.stage = "executing";
            }
        }
        self.because(c)?;
        let by_rule = self.risk_by_rule(c.work_type.as_ref(), &c.labels)?;
        let id = c.id?.0;
        self.new_intent(id, c.risk, by_rule);
        self.intents.get_mut(&id)?.child_of = c.child_of.map(Uuid::from);
        self.intents.get_mut(&id)?.depends_on = c.depends_on.iter().map(|it| it.0).collect();
        if let Some(parent) = c.child_of {
            self.intents.get_mut(&parent.0)?.children.push(id);
        }
        self.place(Some(id), Kind::Intent)
    }

    /// No text of the generator has a word that says more than the type, but for one label. A
    /// high word counts before the type.
    fn risk_by_rule(&self, work_type: Option<&WorkType>, labels: &[String]) -> Option<Risk> {
        let word = match work_type {
            None => "feature",
            Some(WorkType::Other(word)) if word == "Fix" => return None,
            Some(WorkType::Other(_)) => &self.settings.unknown,
            Some(listed) => listed.as_str(),
        };
        if labels.iter().any(|label| label == HIGH_LABEL) {
            return Some(Risk::High);
        }
        match word {
            "fix" | "refactor" | "test" => Some(Risk::Low),
            _ => Some(Risk::Med),
        }
    }

    fn new_intent(&mut self, id: Uuid, judged: Option<Risk>, by_rule: Risk) {
        let risk = judged.unwrap_or(by_rule);
        let (stage, status) = match self.lets_go(risk, judged.is_some()) {
            true => ("approved", "active"),
            false => ("proposed", "draft"),
        };
        let intent = Intent {
            status,
            stage,
            taken_in: true,
            asked_by: self.by,
            risk: Some(risk),
            judged: judged.is_some(),
            ..Intent::default()
        };
        self.intents.insert(id, intent);
    }

    fn judge_intent(&mut self, c: &intent::JudgeIntent) -> Judged {
        demand(c.work_type.is_some() || c.risk.is_some())?;
        self.risk_by_rule(c.work_type.as_ref(), &[])?;
        let lets_go = c.risk.is_some_and(|risk| self.lets_go(risk, true));
        let (by, own) = (self.by, self.settings.own);
        let before = self.open_intent(c.intent.0)?;
        let (risk, judged, asked_by) = (before.risk, before.judged, before.asked_by);
        let waits = before.stage == "proposed";
        if lets_go && waits && !risk.is_some_and(|risk| self.lets_go(risk, judged)) {
            demand(by != "tester" || asked_by == by)?;
        }
        let intent = self.open_intent(c.intent.0)?;
        let is_lower = |risk| risk < intent.risk.unwrap_or(Risk::Med);
        if c.risk.is_some_and(is_lower) {
            demand(by != "tester" && (own || by != intent.asked_by))?;
        }
        intent.risk = c.risk.or(intent.risk);
        intent.judged |= c.risk.is_some();
        intent.taken_in = true;
        if lets_go && intent.stage == "proposed" {
            (intent.stage, intent.status) = ("approved", "active");
        }
        Some(true)
    }

    /// Work on an intent may begin, as far as itself and what it is a part of are concerned.
    pub(super) fn ready(&self, id: Uuid) -> Option<()> {
        self.ready_above(id)?;
        self.conditions(id)
    }

    /// What an intent is a part of lets work on it begin.
    fn ready_above(&self, id: Uuid) -> Option<()> {
        self.open_above(id)?;
        let above = self.above(id);
        demand(above.iter().all(|id| self.goes_on(*id).is_some()))?;
        self.wholes(id)
    }

    /// What an intent is a part of, and no work on which began, could begin; asked until work on the part begins.
    pub(super) fn wholes(&self, id: Uuid) -> Option<()> {
        let above = self.above(id);
        let has_begun = self.intents[&id].stage == "executing";
        let waits = |id: &&Uuid| self.intents[*id].stage == "approved";
        let mut waiting = above.iter().filter(waits);
        demand(has_begun || waiting.all(|id| self.conditions(*id).is_some()))
    }

    /// Done parts may make an intent done that no work began on.
    pub(super) fn may_be_done(&self, id: Uuid) -> Option<()> {
        if self.intents[&id].stage == "executing" {
            return Some(());
        }
        self.needed(id)?;
        let above = self.above(id);
        let unbegun = |id: &&Uuid| self.intents[*id].stage != "executing";
        let mut unbegun = above.iter().filter(unbegun);
        demand(unbegun.all(|id| self.needed(*id).is_some()))
    }

    /// Nothing is left to be answered, and what it depends on is done.
    fn conditions(&self, id: Uuid) -> Option<()> {
        demand(self.intents[&id].unanswered.is_empty())?;
        self.needed(id)
    }

    /// What an intent depends on is done.
    pub(super) fn needed(&self, id: Uuid) -> Option<()> {
        let intent = &self.intents[&id];
        demand(
            intent
                .depends_on
                .iter()
                .all(|other| self.approval(*other) == "done"),
        )
    }

    /// Whether some of these intents waits for one: for what it depends on and was split
    /// into, and so on. What is over waits for nothing.
    fn intents_wait_for(&self, mut from: Vec<Uuid>, one: Uuid) -> bool {
        let mut seen = BTreeSet::new();
        while let Some(id) = from.pop() {
            let known = self.intents.get(&id).filter(|_| seen.insert(id));
            let is_open = |it: &&Intent| matches!(it.status, "draft" | "active");
            if let Some(intent) = known.filter(is_open) {
                from.extend(intent.depends_on.iter().chain(&intent.children));
                let above = self.above(id);
                let above = above.iter().map(|whole| &self.intents[whole]);
                let unbegun = above.filter(|it| matches!(it.stage, "proposed" | "approved"));
                from.extend(unbegun.flat_map(|it| &it.depends_on));
            }
        }
        seen.contains(&one)
    }

    fn ask(&mut self, id: Uuid, questions: &[String]) -> Judged {
        demand((1..=100).contains(&questions.len()))?;
        questions.iter().try_for_each(|question| text(question))?;
        let intent = self.open_intent(id)?;
        intent.taken_in = true;
        for _ in questions {
            intent.unanswered.insert(intent.questions);
            intent.questions += 1;
        }
        Some(true)
    }

    fn answer(&mut self, c: &intent::AnswerClarification) -> Judged {
        text(&c.answer)?;
        demand(self.by != "tester")?;
        let intent = self.open_intent(c.intent.0)?;
        let question = c.question.or(intent.unanswered.first().copied())?;
        demand(intent.unanswered.remove(&question))?;
        if intent.unanswered.is_empty() && intent.stage == "executing" {
            intent.stage = "approved";
        }
        Some(true)
    }

    fn record_analysis(&mut self, c: &intent::RecordAnalysis) -> Judged {
        let id = c.intent.0;
        match self.open_intent(id)?.stage {
            "approved" => self.ready(id)?,
            "executing" => self.ready_above(id)?,
            _ => return None,
        }
        let given = [
            !c.tasks.is_empty(),
            !c.child_intents.is_empty(),
            !c.clarifications.is_empty(),
        ];
        demand(given.iter().filter(|given| **given).count() == 1)?;
        self.analyzed_tasks(id, &c.tasks)?;
        self.analyzed_children(id, &c.child_intents)?;
        let intent = self.open_intent(id)?;
        (intent.stage, intent.analyzed) = ("executing", true);
        match c.clarifications.is_empty() {
            true => Some(true),
            false => self.ask(id, &c.clarifications),
        }
    }

    fn analyzed_children(&mut self, parent: Uuid, children: &[intent::ChildIntent]) -> Option<()> {
        let mut ids = BTreeMap::new();
        let mut own = Vec::new();
        for child in children {
            own.push(self.own_id());
            if let Some(name) = &child.id {
                let id = *own.last()?;
                demand(ids.insert(name.as_str(), id).is_none())?;
            }
        }
        let mut above = vec![parent];
        while let Some(next) = self.intents[above.last()?].child_of {
            above.push(next);
        }
        let mut needs: BTreeMap<Uuid, BTreeSet<Uuid>> = BTreeMap::new();
        for (child, id) in children.iter().zip(&own) {
            text(&child.title)?;
            child.labels.iter().try_for_each(|label| text(label))?;
            let of = |name: &String| match ids.get(name.as_str()) {
                Some(id) => Some(*id),
                None => name.parse().ok().filter(|id| self.intents.contains_key(id)),
            };
            let waits: Option<BTreeSet<Uuid>> = child.depends_on.iter().map(of).collect();
            let waits = waits?;
            demand(above.iter().all(|above| !waits.contains(above)))?;
            demand(!self.intents_wait_for(waits.iter().copied().collect(), parent))?;
            needs.insert(*id, waits);
        }
        // What cannot be done last can never be done.
        let mut left: BTreeSet<Uuid> = own.iter().copied().collect();
        while let Some(next) = left.iter().copied().find(|id| needs[id].is_disjoint(&left)) {
            left.remove(&next);
        }
        demand(left.is_empty())?;
        for (child, id) in children.iter().zip(own) {
            let by_rule = self.risk_by_rule(child.work_type.as_ref(), &child.labels)?;
            self.new_intent(id, child.risk, by_rule);
            let new = self.intents.get_mut(&id)?;
            new.child_of = Some(parent);
            new.depends_on = needs.remove(&id)?.into_iter().collect();
            self.intents.get_mut(&parent)?.children.push(id);
        }
        Some(())
    }

    fn analyzed_tasks(&mut self, intent: Uuid, tasks: &[intent::AnalyzedTask]) -> Option<()> {
        let mut ids = BTreeMap::new();
        for task in tasks {
            text(&task.id)?;
            text(&task.title)?;
            demand(task.title.chars().count() < 100)?;
            let own = self.own_id();
            demand(ids.insert(task.id.as_str(), own).is_none())?;
        }
        for task in tasks {
            let of = |name: &String| ids.get(name.as_str()).copied();
            let dependencies: Option<BTreeSet<Uuid>> = task.depends_on.iter().map(of).collect();
            let new = Task {
                status: "draft",
                persons: self.by != "tester",
                intent: Some(intent),
                dependencies: dependencies?,
                ..Task::default()
            };
            self.tasks.insert(ids[task.id.as_str()], new);
            let own = ids[task.id.as_str()];
            self.intents.get_mut(&intent)?.tasks.push(own);
        }
        // What cannot be done last can never be done.
        let mut left: BTreeSet<Uuid> = ids.into_values().collect();
        while let Some(next) = left
            .iter()
            .copied()
            .find(|id| self.tasks[id].dependencies.is_disjoint(&left))
        {
            left.remove(&next);
        }
        demand(left.is_empty())
    }

    fn rerun(&mut self, c: &intent::RerunIntent) -> Judged {
        let id = c.intent.0;
        self.open_intent(id)?;
        self.open_above(id)?;
        demand(self.by != "tester")?;
        demand(self.has_failed(id))?;
        let goes_on = self.approval(id) == "executing";
        c.instruction.iter().try_for_each(|it| text(it))?;
        let failed = |id: &Uuid| {
            let task = &self.tasks[id];
            (task.status == "failed" || task.stranded) && !task.superseded
        };
        let tasks = self.tasks.keys().copied();
        let of_it = tasks.filter(|task| self.intents_of(*task).contains(&id));
        let failed: Vec<Uuid> = of_it.filter(failed).collect();
        demand(!failed.is_empty())?;
        let successors: BTreeMap<Uuid, Uuid> =
            failed.iter().map(|old| (*old, self.own_id())).collect();
        let newer = |model: &Model, id: &Uuid| match successors.get(id) {
            Some(successor) => Some(*successor),
            None => {
                let newest = model.newest(*id);
                let off = model.tasks[&newest].status == "cancelled";
                (!off || successors.contains_key(&newest)).then_some(*id)
            }
        };
        let needs = |old: &Uuid| {
            let needs = self.tasks[old].dependencies.iter();
            needs.filter_map(|id| newer(self, id)).collect()
        };
        let needs: Vec<BTreeSet<Uuid>> = failed.iter().map(needs).collect();
        for (old, dependencies) in failed.into_iter().zip(needs) {
            let task = self.tasks.get_mut(&old)?;
            task.superseded = true;
            task.successor = Some(successors[&old]);
            let again = Task {
                status: "draft",
                persons: self.by != "tester",
                intent: Some(id),
                parent: task.parent,
                dependencies,
                ..Task::default()
            };
            self.tasks.insert(successors[&old], again);
            self.intents.get_mut(&id)?.tasks.push(successors[&old]);
        }
        // What is open of it goes on.
        self.intents.get_mut(&id)?.stage = match goes_on {
            true => "executing",
            false => "approved",
        };
        Some(true)
    }

    fn record_review(&mut self, c: &RecordReview) -> Judged {
        let said = c.issues.iter().chain(&c.suggestions);
        said.clone().try_for_each(|said| text(said))?;
        let rejected = c.verdict == ReviewVerdict::Rejected;
        demand(!rejected || (c.chosen_patchset_id.is_none() && c.result_commit_sha.is_none()))?;
        let retries = self.settings.retries;
        let task = self.tasks.get_mut(&c.task.0)?;
        demand(task.status == "running")?;
        let run = task.last_run?;
        demand(self.runs[&run].reverts.is_none())?;
        demand(self.by != "tester" || !self.runs[&run].workers.contains("tester"))?;
        let again = self.retries(c.task.0) < retries;
        let verdict = match (rejected, again) {
            (false, _) => DecisionType::Commit,
            (true, true) => DecisionType::Retry,
            (true, false) => DecisionType::Abandon,
        };
        let mut chosen = c.chosen_patchset_id;
        if !rejected && chosen.is_none() {
            let own = self.patch_sets.iter().filter(|(_, it)| it.run == run);
            let mut fit = own.filter(|(_, it)| matches!(it.status, "proposed" | "applied"));
            chosen = Some((*fit.next()?.0).into());
            demand(fit.next().is_none())?;
        }
        self.record_evidence(
            &RecordEvidence::new(run.into(), EvidenceKind::Review, "review")
                .with_patchset_id(c.chosen_patchset_id),
        )?;
        let answer = self.reviewed(
            &Decide::new(run.into(), verdict)
                .with_chosen_patchset_id(chosen.filter(|_| !rejected))
                .with_result_commit_sha(c.result_commit_sha),
        )?;
        let person = self.by != "tester";
        let task = self.tasks.get_mut(&c.task.0)?;
        task.rejections += u32::from(rejected);
        task.rejected_by_person |= rejected && person;
        Some(answer)
    }

    fn set_setting(&mut self, c: &SetSetting) -> Judged {
        demand(self.by != "tester" || c.setting == Setting::MaxReviewRetries)?;
        let mut settings = self.settings.clone();
        match c.setting {
            Setting::AutonomyThreshold => {
                let words = ["none", "low", "med", "high"];
                settings.threshold = words.iter().position(|word| *word == c.value)?;
            }
            Setting::TrustClassifier => settings.trust = c.value.parse().ok()?,
            Setting::MaxReviewRetries => {
                settings.retries = c.value.parse().ok()?;
                demand(settings.retries <= 100)?;
            }
            Setting::OwnRequests => settings.own = c.value.parse().ok()?,
            Setting::UnknownType => {
                let words = ["feature", "refactor", "fix", "test", "audit"];
                demand(words.contains(&c.value.as_str()))?;
                settings.unknown.clone_from(&c.value);
            }
            Setting::ClockSkew => {
                settings.skew = c.value.parse().ok()?;
                demand(settings.skew <= 86_400)?;
            }
        }
        let before = &self.settings;
        let same = *before == settings;
        // More retries check less, and are a person's to set.
        demand(self.by != "tester" || settings.retries <= before.retries)?;
        self.settings = settings;
        Some(!same)
    }

    fn set_budget(&mut self, c: &SetBudget) -> Judged {
        demand(self.by != "tester" && c.limit_micros > 0)?;
        let is_relative = |path: &String| path.contains('/') && !path.starts_with('/');
        demand(!c.project.as_ref().is_some_and(is_relative))?;
        let key = (c.period, c.project.clone());
        let value = (c.limit_micros, c.then == Some(OverBudget::Deny));
        let budgets = &mut self.settings.budgets;
        Some(budgets.insert(key, value) != Some(value))
    }

    fn remove_budget(&mut self, c: &RemoveBudget) -> Judged {
        demand(self.by != "tester")?;
        let key = (c.period, c.project.clone());
        self.settings.budgets.remove(&key).map(|_| true)
    }

    /// The task that is in this one's place now.
    pub(super) fn newest(&self, id: Uuid) -> Uuid {
        match self.tasks.get(&id).and_then(|task| task.successor) {
            Some(next) => self.newest(next),
            None => id,
        }
    }

    /// What waits for a task of its intents that failed or was called off ends as that one did.
    pub(super) fn end_dependents(&mut self, failed: Uuid, how: &'static str) {
        let intents = self.intents_of(failed);
        let is_of_them = |task: &Uuid| !self.intents_of(*task).is_disjoint(&intents);
        let tasks: Vec<Uuid> = self.tasks.keys().copied().filter(is_of_them).collect();
        for id in tasks {
            let task = &self.tasks[&id];
            let mut needs = task.dependencies.iter();
            let waits = needs.any(|other| *other == failed || self.newest(*other) == failed);
            if task.status == "draft" && waits {
                self.tasks.entry(id).and_modify(|task| {
                    task.status = how;
                    task.stranded = how == "cancelled";
                });
                self.end_dependents(id, how);
            }
        }
    }

    /// What a run means for the intent of its task.
    pub(super) fn run_begins(&mut self, intent: Uuid) -> Option<()> {
        self.open_intent(intent)?;
        self.ready_above(intent)?;
        if self.intents[&intent].stage == "approved" {
            self.conditions(intent)?;
        }
        let intent = self.intents.get_mut(&intent)?;
        match intent.stage {
            "approved" => intent.stage = "executing",
            "rejected" => return None,
            "proposed" => demand(!intent.taken_in)?,
            _ => {}
        }
        Some(())
    }
}
