//! Random histories of intents and tasks: the status is what a plain reading of
//! the record says, it is never stored, and what must hold of every record holds.

mod order;
mod plain;
mod script;

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngSeed, TestRunner};

use super::intake::{intent, status, task};
use super::*;
use crate::run::{
    CreateRun, Decide, DecisionType, DiffFormat, FailRun, ProposePatchSet, StartPatching,
    StartValidation,
};
use crate::task::{AddDependency, CancelTask, FailTask, RecordReview, ReviewVerdict};
use crate::{Emitted, RunId, TaskId, run, task};

use plain::Plain;
use script::{OfIntent, OfTask, Step, scripts};

/// The same cases in every run, unless the environment asks for others with
/// `PROPTEST_CASES` and `PROPTEST_RNG_SEED`.
fn config() -> Config {
    let config = Config {
        failure_persistence: None,
        ..Config::default()
    };
    let rng_seed = match config.rng_seed {
        RngSeed::Random => RngSeed::Fixed(20_260_404),
        fixed @ RngSeed::Fixed(_) => fixed,
    };
    Config { rng_seed, ..config }
}

/// Picks an intent or a task that is not there.
const NOWHERE: usize = 23;

/// A history as it was made.
struct Play {
    given: Given,
    intents: Vec<IntentId>,
    tasks: Vec<TaskId>,
    record: Vec<Emitted>,
    /// How often each command was accepted or refused.
    asked: BTreeMap<String, usize>,
}

impl Play {
    /// Plays a script; what it comes to is checked after each step.
    fn of(script: &[Step], check: impl Fn(&Play)) -> Play {
        let mut play = Play {
            given: Given::new(),
            intents: Vec::new(),
            tasks: Vec::new(),
            record: Vec::new(),
            asked: BTreeMap::new(),
        };
        for step in script {
            let before = play.record.len();
            play.step(step);
            if play.record.len() > before {
                check(&play);
            }
        }
        play
    }

    /// What was accepted has happened; what was refused changes nothing.
    fn ask(&mut self, command: impl Into<Command>) -> bool {
        let command = command.into();
        let name = command.name();
        let decided = self.given.try_execute(command);
        let is_accepted = decided.is_ok();
        let how = if is_accepted { "accepted" } else { "refused" };
        *self.asked.entry(format!("{name} {how}")).or_default() += 1;
        for one in decided.unwrap_or_default() {
            match &one.event {
                AnyEvent::Intent(Event::Submitted(_)) => self.intents.push(IntentId(one.stream.id)),
                AnyEvent::Task(task::Event::Created(_)) => self.tasks.push(TaskId(one.stream.id)),
                _ => {}
            }
            self.record.push(one);
        }
        is_accepted
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Submit {
                child_of,
                after,
                risk,
            } => {
                let command = SubmitIntent {
                    risk: Some(*risk),
                    child_of: child_of.map(|which| self.intent(which)),
                    depends_on: after.iter().map(|which| self.intent(*which)).collect(),
                    ..SubmitIntent::new("work", Source::Human)
                };
                self.ask(command);
            }
            Step::Create { of, dependencies } => {
                let command = CreateTask {
                    intent: Some(self.intent(*of)),
                    dependencies: dependencies.iter().map(|which| self.task(*which)).collect(),
                    ..CreateTask::new("work")
                };
                self.ask(command);
            }
            Step::Depend(which, on) => {
                let (task, dependency) = (self.task(*which), self.task(*on));
                self.ask(AddDependency { task, dependency });
            }
            Step::Intent(which, asked) => {
                let intent = self.intent(*which);
                if matches!(asked, OfIntent::Complete) {
                    self.ask(of_intent(intent, &OfIntent::Analyze));
                    self.ask(of_intent(intent, &OfIntent::Activate));
                }
                self.ask(of_intent(intent, asked));
            }
            Step::Task(which, asked @ (OfTask::Work | OfTask::Succeed | OfTask::Miss)) => {
                let task = self.task(*which);
                self.work(task);
                if !matches!(asked, OfTask::Work) {
                    self.ask(of_task(task, None, asked));
                }
            }
            Step::Task(which, asked) => {
                let task = self.task(*which);
                self.ask(of_task(task, self.last_run(task), asked));
            }
        }
    }

    /// A run of the task goes on until it can be reviewed.
    fn work(&mut self, task: TaskId) {
        let run = match self.last_run(task) {
            Some(run) if self.run_is_open(run) => run,
            _ if self.ask(CreateRun::new(task)) => match self.last_run(task) {
                Some(run) => run,
                None => panic!("a run without a task"),
            },
            _ => return,
        };
        self.ask(StartPatching { run });
        self.ask(ProposePatchSet::new(run, DiffFormat::Unified));
        self.ask(StartValidation { run });
    }

    fn last_run(&self, task: TaskId) -> Option<RunId> {
        match self.given.loaded(task.stream()).state {
            AnyState::Task(state) => state.last_run(),
            other => panic!("expected a task, found {other:?}"),
        }
    }

    fn run_is_open(&self, run: RunId) -> bool {
        match self.given.loaded(run.stream()).state {
            AnyState::Run(state) => {
                !matches!(state.status, run::Status::Completed | run::Status::Failed)
            }
            other => panic!("expected a run, found {other:?}"),
        }
    }

    /// One of the intents, or one that is not there.
    fn intent(&self, which: usize) -> IntentId {
        let count = self.intents.len();
        let index = which.checked_rem(count).filter(|_| which != NOWHERE);
        index.map_or(intent(9_999), |index| self.intents[index])
    }

    /// One of the tasks, or one that is not there.
    fn task(&self, which: usize) -> TaskId {
        let count = self.tasks.len();
        let index = which.checked_rem(count).filter(|_| which != NOWHERE);
        index.map_or(task(9_999), |index| self.tasks[index])
    }
}

fn of_intent(intent: IntentId, asked: &OfIntent) -> Command {
    let reason = None;
    match asked {
        OfIntent::Approve => ApproveIntent { intent, reason }.into(),
        OfIntent::Reject => RejectIntent { intent, reason }.into(),
        OfIntent::Judge(risk) => JudgeIntent {
            intent,
            work_type: None,
            risk: Some(*risk),
            reason,
        }
        .into(),
        OfIntent::Start => StartExecution { intent }.into(),
        OfIntent::Ask(count) => RequestClarification {
            intent,
            questions: vec!["?".into(); *count],
        }
        .into(),
        OfIntent::Answer(question) => AnswerClarification {
            intent,
            question: *question,
            answer: "!".into(),
        }
        .into(),
        OfIntent::Instruct => InstructIntent {
            intent,
            instruction: "more".into(),
        }
        .into(),
        OfIntent::Rerun => RerunIntent {
            intent,
            instruction: None,
        }
        .into(),
        OfIntent::Analyze => AnalyzeIntent {
            intent,
            content: "it".into(),
        }
        .into(),
        OfIntent::Activate => ActivateIntent { intent, reason }.into(),
        OfIntent::Complete => CompleteIntent {
            intent,
            reason,
            abandon_open: true,
        }
        .into(),
        OfIntent::Cancel => CancelIntent { intent, reason }.into(),
    }
}

fn of_task(task: TaskId, last_run: Option<RunId>, asked: &OfTask) -> Command {
    // A task that never ran is asked of a run that is not there.
    let run = last_run.unwrap_or(RunId(Uuid::from_u128(9_999)));
    let review = |verdict| RecordReview {
        task,
        verdict,
        issues: vec![],
        suggestions: vec![],
        chosen_patchset_id: None,
        result_commit_sha: None,
    };
    let reason = None;
    match asked {
        OfTask::Run | OfTask::Work => CreateRun::new(task).into(),
        OfTask::Approve | OfTask::Succeed => review(ReviewVerdict::Approved).into(),
        OfTask::Reject | OfTask::Miss => review(ReviewVerdict::Rejected).into(),
        OfTask::Fail => FailTask { task, reason }.into(),
        OfTask::Cancel => CancelTask { task, reason }.into(),
        OfTask::FailRun => FailRun {
            run,
            error: "no space".into(),
        }
        .into(),
        OfTask::Abandon => Decide::new(run, DecisionType::Abandon).into(),
    }
}

/// What Forge shows of each intent is what the record says.
fn check_statuses(play: &Play) {
    let plain = Plain {
        record: &play.record,
    };
    for id in &play.intents {
        let shown = status(&play.given, id.0.as_u128());
        assert_eq!(shown.as_str(), plain.status(*id), "{id}");
    }
}

/// Every word of an event, and the names of its fields.
fn words(one: &Emitted) -> Vec<String> {
    fn collect(value: &serde_json::Value, words: &mut Vec<String>) {
        match value {
            serde_json::Value::String(word) => words.push(word.clone()),
            serde_json::Value::Array(list) => list.iter().for_each(|it| collect(it, words)),
            serde_json::Value::Object(fields) => {
                for (name, value) in fields {
                    words.push(name.clone());
                    collect(value, words);
                }
            }
            _ => {}
        }
    }
    let value = one.event.serialize_structure(serde_json::value::Serializer);
    let mut words = vec![one.event.event_type().to_owned()];
    collect(&value.expect("every event is JSON"), &mut words);
    words
}

/// Nothing in the record says how far the work on an intent is.
fn check_nothing_is_stored(play: &Play) {
    for one in &play.record {
        if !matches!(one.event, AnyEvent::Intent(_) | AnyEvent::Task(_)) {
            continue;
        }
        for word in words(one) {
            for stored in ["blocked", "error", "status", "executing"] {
                assert_ne!(word, stored, "{one:?}");
            }
        }
    }
}

/// Approval comes once, to what is proposed: no command leads back there.
fn check_approvals(play: &Play) {
    let mut gone_on: BTreeSet<Uuid> = BTreeSet::new();
    for one in &play.record {
        match &one.event {
            AnyEvent::Intent(Event::Approved(_)) => {
                assert!(gone_on.insert(one.stream.id), "{one:?} once more");
            }
            AnyEvent::Intent(Event::ExecutionStarted(_) | Event::RerunRequested(_)) => {
                assert!(
                    gone_on.contains(&one.stream.id),
                    "{one:?} of what is proposed"
                );
            }
            AnyEvent::Intent(Event::Rejected(_)) => {
                gone_on.insert(one.stream.id);
            }
            _ => {}
        }
    }
}

/// Every command to every object has an answer.
fn check_totality(play: &Play) {
    let missing = (intent(9_999), task(9_999));
    for id in play.intents.iter().chain([&missing.0]) {
        for asked in OfIntent::all() {
            let _ = play.given.decide(of_intent(*id, &asked));
        }
        for child_of in [None, Some(*id)] {
            let depends_on = vec![*id];
            let _ = play.given.decide(SubmitIntent {
                child_of,
                depends_on,
                ..SubmitIntent::new("work", Source::Audit)
            });
        }
        for dependency in play.tasks.iter().chain([&missing.1]) {
            let _ = play.given.decide(CreateTask {
                intent: Some(*id),
                dependencies: vec![*dependency],
                ..CreateTask::new("work")
            });
        }
    }
    for id in play.tasks.iter().chain([&missing.1]) {
        for asked in OfTask::ALL {
            let _ = play.given.decide(of_task(*id, play.last_run(*id), &asked));
        }
        for dependency in &play.tasks {
            let (task, dependency) = (*id, *dependency);
            let _ = play.given.decide(AddDependency { task, dependency });
        }
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn the_status_is_what_a_plain_reading_of_the_record_says(script in scripts()) {
        Play::of(&script, check_statuses);
    }

    #[test]
    fn no_history_stores_a_status(script in scripts()) {
        check_nothing_is_stored(&Play::of(&script, |_| {}));
    }

    #[test]
    fn no_history_approves_twice(script in scripts()) {
        check_approvals(&Play::of(&script, |_| {}));
    }

    #[test]
    fn every_command_has_an_answer_in_every_state(script in scripts()) {
        check_totality(&Play::of(&script, |_| {}));
    }
}

#[test]
fn no_type_of_event_is_a_computed_status() {
    for (kind, name, _) in AnyEvent::types() {
        if matches!(kind, StreamKind::Intent | StreamKind::Task) {
            for computed in ["blocked", "error", "aggregate", "inbox"] {
                assert!(!name.contains(computed), "{name}");
            }
        }
    }
}

/// A property of what hardly ever happens says nothing.
#[test]
fn the_random_histories_go_everywhere() {
    let mut runner = TestRunner::deterministic();
    let mut total: BTreeMap<String, usize> = BTreeMap::new();
    for _ in 0..256 {
        let script = scripts().new_tree(&mut runner).unwrap().current();
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        let play = Play::of(&script, |_| {});
        for id in &play.intents {
            let shown = status(&play.given, id.0.as_u128());
            *seen.entry(format!("it ends {shown}")).or_default() += 1;
        }
        for one in &play.record {
            let count = seen.entry(one.event.event_type().to_owned());
            *count.or_default() += 1;
        }
        for (what, count) in seen.into_iter().chain(play.asked) {
            *total.entry(what).or_default() += count;
        }
    }
    println!("{total:#?}");
    let ends = ApprovalStatus::ALL.iter().map(|it| format!("it ends {it}"));
    let asked = OfIntent::all()
        .into_iter()
        .map(|asked| of_intent(intent(1), &asked).name())
        .chain([
            "submit_intent",
            "create_task",
            "create_run",
            "record_review",
            "add_dependency",
        ])
        .flat_map(|name| [format!("{name} accepted"), format!("{name} refused")]);
    let happens = [
        "task.superseded",
        "task.failed",
        "task.done",
        "intent.decomposed",
    ];
    for what in ends.chain(asked).chain(happens.map(str::to_owned)) {
        let count = total.get(&what).copied().unwrap_or_default();
        assert!(count >= 5, "{what} happened {count} times");
    }
}
