//! Commands about proposals, approvals, questions and reruns.

use annals_domain::intent::*;
use annals_domain::run::{StartPatching, StartValidation};
use annals_domain::settings::{
    BudgetPeriod, OverBudget, RemoveBudget, SetBudget, SetSetting, Setting,
};
use annals_domain::task::{CreateTask, FailTask, RecordReview, ReviewVerdict};
use annals_domain::{Command, IntentId, Kind};
use uuid::Uuid;

use super::super::model::HIGH_LABEL;
use super::Draw;

impl Draw<'_> {
    fn risk(&mut self) -> Option<Risk> {
        self.dice.pick(&[
            None,
            None,
            Some(Risk::Low),
            Some(Risk::Med),
            Some(Risk::High),
        ])?
    }

    fn work_type(&mut self) -> Option<WorkType> {
        // Some that are on no list, and a slip.
        let own = ["docs", "文書", "Fix"].map(|word| WorkType::Other(word.to_owned()));
        match self.dice.roll(8) {
            0..4 => None,
            4 => own.get(self.dice.roll(3)).cloned(),
            _ => self.dice.pick(WorkType::LISTED),
        }
    }

    /// A label, which sometimes has a word for a high risk.
    fn label(&mut self) -> String {
        match self.dice.once_in(6) {
            true => HIGH_LABEL.to_owned(),
            false => self.text(),
        }
    }

    /// A list that sometimes holds an object of a kind.
    fn some<T: From<Uuid>>(&mut self, kind: Kind) -> Vec<T> {
        match self.dice.once_in(4) {
            true => self.optional(kind).into_iter().collect(),
            false => Vec::new(),
        }
    }

    pub(super) fn proposal(&mut self) -> SubmitIntent {
        let sources = Source::ALL;
        let source = self.dice.pick(sources).unwrap_or(Source::Human);
        SubmitIntent::new(self.text(), source)
            .with_id(Some(self.new_id().into()))
            .with_work_type(self.work_type())
            .with_risk(self.risk())
            .with_labels(
                (0..self.dice.roll(3))
                    .map(|_| self.label())
                    .collect::<Vec<_>>(),
            )
            .with_refines(self.some(Kind::Intent).pop())
            .with_child_of(self.some(Kind::Intent).pop())
            .with_depends_on(self.some(Kind::Intent))
    }

    pub(super) fn intake_command(&mut self) -> Command {
        let intent = self.id(Kind::Intent);
        match self.one_of(14, Kind::Intent) {
            0 => self.proposal().into(),
            1 => JudgeIntent::new(intent)
                .with_work_type(self.work_type())
                .with_risk(self.risk())
                .with_reason(self.reason())
                .into(),
            2 => ApproveIntent::new(intent).with_reason(self.reason()).into(),
            3 => RejectIntent::new(intent).with_reason(self.reason()).into(),
            4 => InstructIntent::new(intent, self.text()).into(),
            5 => StartExecution::new(intent).into(),
            6 => RequestClarification::new(
                intent,
                (0..self.dice.roll(3)).map(|_| self.text()).collect(),
            )
            .into(),
            7 => self.reply(intent).into(),
            8 => self.analysis(intent).into(),
            9 => self.rerun(intent).into(),
            10 => self.review().into(),
            11 => self.budget().into(),
            12 => RemoveBudget::new(self.period())
                .with_project(self.project())
                .into(),
            _ => self.setting().into(),
        }
    }

    fn reply(&mut self, intent: IntentId) -> AnswerClarification {
        AnswerClarification::new(intent, self.text())
            .with_question(self.dice.once_in(3).then(|| self.number(3)))
    }

    fn rerun(&mut self, intent: IntentId) -> RerunIntent {
        RerunIntent::new(intent).with_instruction(self.dice.once_in(3).then(|| self.text()))
    }

    fn setting(&mut self) -> SetSetting {
        let (setting, values): (_, &[&str]) = match self.dice.roll(6) {
            0 => (
                Setting::AutonomyThreshold,
                &["low", "none", "med", "high", "all"],
            ),
            1 => (Setting::TrustClassifier, &["false", "true", "maybe"]),
            2 => (Setting::OwnRequests, &["true", "false", "maybe"]),
            3 => (Setting::UnknownType, &["feature", "test", "audit", "docs"]),
            4 => (Setting::ClockSkew, &["300", "0", "60", "86401", "5m"]),
            _ => (Setting::MaxReviewRetries, &["2", "0", "1", "101", "-1"]),
        };
        SetSetting::new(setting, self.dice.pick(values).unwrap_or("low").to_owned())
    }

    fn period(&mut self) -> BudgetPeriod {
        let all = [BudgetPeriod::Day, BudgetPeriod::Day, BudgetPeriod::Week];
        self.dice.pick(&all).unwrap_or(BudgetPeriod::Day)
    }

    fn project(&mut self) -> Option<String> {
        let all = [None, None, Some("shop"), Some("/work/shop"), Some("a/b")];
        self.dice.pick(&all).flatten().map(str::to_owned)
    }

    fn budget(&mut self) -> SetBudget {
        let limit = self.dice.pick(&[5_000_000, 5_000_000, 7_500_000, 0]);
        SetBudget::new(limit.unwrap_or(1), self.period())
            .with_project(self.project())
            .with_then(self.dice.once_in(3).then_some(OverBudget::Deny))
    }

    fn analysis(&mut self, intent: IntentId) -> RecordAnalysis {
        let mut analysis = RecordAnalysis::new(intent);
        match self.dice.roll(5) {
            0..3 => {
                for number in 0..=self.dice.roll(3) {
                    let name = match self.dice.once_in(16) {
                        true => "t0".to_owned(),
                        false => format!("t{number}"),
                    };
                    let depends_on = match self.dice.once_in(2) {
                        true => vec![format!("t{}", self.dice.roll(number + 2))],
                        false => Vec::new(),
                    };
                    analysis.tasks.push(
                        AnalyzedTask::new(name, self.title())
                            .with_plan(self.reason())
                            .with_depends_on(depends_on),
                    );
                }
            }
            3 => {
                analysis.child_intents = (0..=self.dice.roll(2))
                    .map(|number| self.child(number))
                    .collect()
            }
            _ => analysis.clarifications = vec![self.text()],
        }
        if self.dice.once_in(16) {
            analysis.clarifications.push(self.text());
        }
        analysis
    }

    fn child(&mut self, number: usize) -> ChildIntent {
        let mut depends_on = Vec::new();
        if self.dice.once_in(3) {
            depends_on.push(format!("c{}", self.dice.roll(number + 2)));
        }
        if self.dice.once_in(6) {
            depends_on.push(self.id::<IntentId>(Kind::Intent).to_string());
        }
        ChildIntent::new(self.text())
            .with_body(self.words())
            .with_id((!self.dice.once_in(4)).then(|| format!("c{number}")))
            .with_work_type(self.work_type())
            .with_risk(self.risk())
            .with_labels(
                (0..self.dice.roll(2))
                    .map(|_| self.label())
                    .collect::<Vec<_>>(),
            )
            .with_depends_on(depends_on)
    }

    pub(super) fn review_of(&mut self, task: Uuid) -> RecordReview {
        let mut review = self.review();
        review.task = task.into();
        review
    }

    fn review(&mut self) -> RecordReview {
        let verdict = match self.dice.once_in(3) {
            true => ReviewVerdict::Approved,
            false => ReviewVerdict::Rejected,
        };
        let approved = verdict == ReviewVerdict::Approved;
        RecordReview::new(self.id(Kind::Task), verdict)
            .with_issues(
                (0..self.dice.roll(2))
                    .map(|_| self.text())
                    .collect::<Vec<_>>(),
            )
            .with_chosen_patchset_id(if approved && self.dice.once_in(4) {
                self.optional(Kind::PatchSet)
            } else {
                None
            })
            .with_result_commit_sha(self.optional_oid().filter(|_| approved))
    }

    /// The next thing that happens to an intent that was taken in, so that some
    /// become blocked and are tried again.
    pub(super) fn step_intake_on(&mut self) -> Command {
        let model = self.model;
        let taken = model.intents.iter().filter(|(id, intent)| {
            intent.taken_in && !super::Model::is_own(**id) && intent.status != "cancelled"
        });
        let mut taken: Vec<Uuid> = taken.map(|(id, _)| *id).collect();
        let failed = |id: &Uuid| matches!(model.approval(*id), "blocked" | "error");
        if taken.iter().any(failed) && self.dice.once_in(2) {
            taken.retain(failed);
        }
        let Some(id) = self.dice.pick(&taken) else {
            return self.proposal().into();
        };
        let intent = IntentId(id);
        let found = &model.intents[&id];
        if !found.unanswered.is_empty() && self.dice.once_in(2) {
            return self.reply(intent).into();
        }
        match model.approval(id) {
            "proposed" => ApproveIntent::new(intent).into(),
            "approved" if self.dice.once_in(3) => StartExecution::new(intent).into(),
            "approved" | "executing" if self.dice.once_in(5) => self.analysis(intent).into(),
            "executing" if self.dice.once_in(8) => {
                RequestClarification::new(intent, vec![self.words()]).into()
            }
            "blocked" | "error" if self.dice.once_in(4) => RejectIntent::new(intent).into(),
            "blocked" | "error" => self.rerun(intent).into(),
            _ => self.step_work_on(id),
        }
    }

    /// A task of an intent, and its run up to a review.
    fn step_work_on(&mut self, id: Uuid) -> Command {
        let model = self.model;
        let own = model.tasks.iter().filter(|(task, found)| {
            found.intent == Some(id)
                && !super::Model::is_own(**task)
                && matches!(found.status, "draft" | "running")
        });
        let own: Vec<Uuid> = own.map(|(id, _)| *id).collect();
        let Some(task) = self.dice.pick(&own).filter(|_| !self.dice.once_in(4)) else {
            return self.task_of(id).into();
        };
        if self.dice.once_in(6) {
            let reason = self.reason();
            let task = task.into();
            return FailTask::new(task).with_reason(reason).into();
        }
        let found = &model.tasks[&task];
        let run = found.last_run.map(|run| (run, model.runs[&run].status));
        match run {
            Some((run, "created")) => StartPatching::new(run.into()).into(),
            Some((run, "patching")) if self.dice.once_in(2) => self
                .patch_set(run.into())
                .with_id(Some(self.fresh().into()))
                .into(),
            Some((run, "patching")) => StartValidation::new(run.into()).into(),
            Some((_, "validating")) => self.review_of(task).into(),
            _ => annals_domain::run::CreateRun::new(task.into())
                .with_id(Some(self.fresh().into()))
                .into(),
        }
    }

    fn task_of(&mut self, intent: Uuid) -> CreateTask {
        let model = self.model;
        let own = model
            .tasks
            .iter()
            .filter(|(id, task)| task.intent == Some(intent) && !super::Model::is_own(**id));
        let own: Vec<Uuid> = own.map(|(id, _)| *id).collect();
        let dependency = self.dice.pick(&own).filter(|_| self.dice.once_in(2));
        CreateTask::new(self.words())
            .with_id(Some(self.fresh().into()))
            .with_intent(Some(intent.into()))
            .with_dependencies(dependency.map(Into::into).into_iter().collect::<Vec<_>>())
    }
}
