//! Properties of random histories: what is accepted and what is refused, what
//! then always holds, and that folds depend on nothing but the structure of
//! the events before them.
//!
//! They hold over every store. The histories are the same in every run.
//! `PROPTEST_RNG_SEED` takes other ones, `PROPTEST_CASES` more of them; over stores
//! that are not in memory it is one of so many as `Kind::thinned` says.

mod audit;
mod catalogue;
mod folds;
mod history;
mod machine;
mod past;
mod redaction;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use annals::domain::alias::ReserveAlias;
use annals::domain::run::DecisionType;
use annals::domain::task::CreateTask;
use annals::domain::{Command, CommandId, IntentId, TaskId, intent};
use annals::event_log::Position;
use annals::projections::{Entry, ObjectView};
use annals::{Annals, At, ExecuteError, ViewError};
use futures::executor::block_on;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use proptest_state_machine::ReferenceStateMachine;
use uuid::Uuid;

use crate::stores::{Logs, over_each_store};
use annals_testkit::generators::objects::model::{Answer, Model};
use history::History;
use machine::{Histories, check_against_model};

const SEED: u64 = 20_240_229;
const CASES: u32 = 256;
const STEPS: std::ops::RangeInclusive<usize> = 56..=90;

over_each_store! {
    the_model_and_the_log_agree_and_no_history_breaks_an_invariant,
    folding_any_prefix_again_gives_the_same_views,
    a_request_with_a_key_can_be_repeated,
    a_request_can_be_repeated_at_once,
    removing_content_but_names_changes_no_structure_and_no_decision,
    an_alias_is_of_one_object_in_a_copy_too,
}

/// A runner whose cases are the same every time, unless the environment asks
/// for others.
fn runner(logs: &dyn Logs, many: u32) -> TestRunner {
    let mut config = Config {
        failure_persistence: None,
        ..Config::default()
    };
    config.cases = (config.cases / logs.kind().thinned() / many).max(1);
    if config.rng_seed == RngSeed::Random {
        config.rng_seed = RngSeed::Fixed(SEED);
    }
    println!(
        "{} cases, PROPTEST_RNG_SEED={}",
        config.cases, config.rng_seed
    );
    TestRunner::new(config)
}

#[track_caller]
fn check<S: Strategy>(logs: &dyn Logs, strategy: S, property: impl Fn(S::Value)) {
    check_one_of(1, logs, strategy, property);
}

/// Checks a property that takes long in one of so many cases.
#[track_caller]
fn check_one_of<S: Strategy>(many: u32, logs: &dyn Logs, strategy: S, property: impl Fn(S::Value)) {
    let checked = runner(logs, many).run(&strategy, |value| {
        property(value);
        Ok(())
    });
    if let Err(failure) = checked {
        panic!("{failure}");
    }
}

/// The commands of a random history.
fn histories() -> impl Strategy<Value = Commands> {
    Histories::sequential_strategy(STEPS).prop_map(|(_, commands, taken)| Commands {
        list: commands,
        taken,
    })
}

#[derive(Debug)]
struct Commands {
    list: Vec<Command>,
    /// Says how many commands were taken, so that a failing history shrinks.
    taken: Option<Arc<AtomicUsize>>,
}

impl Commands {
    fn take(&self) -> &[Command] {
        if let Some(taken) = &self.taken {
            taken.store(self.list.len(), Ordering::SeqCst);
        }
        &self.list
    }
}

fn the_model_and_the_log_agree_and_no_history_breaks_an_invariant(logs: &dyn Logs) {
    let runner = &mut runner(logs, 1);
    let config = runner.config().clone();
    let answers = std::cell::RefCell::new(BTreeMap::new());
    let checked = runner.run(
        &Histories::sequential_strategy(STEPS),
        |(model, commands, taken)| {
            count(&mut answers.borrow_mut(), &commands);
            check_against_model(logs.open(), model, commands, taken.as_deref());
            Ok(())
        },
    );
    if let Err(failure) = checked {
        panic!("{failure}");
    }
    if config.cases >= CASES && config.rng_seed == RngSeed::Fixed(SEED) {
        check_coverage(&answers.borrow());
    }
}

/// How often a command was accepted, was nothing and was refused.
type Answers = BTreeMap<String, [u32; 3]>;

/// A command's name, a decision's with its verdict.
fn label(command: &Command) -> String {
    match command {
        Command::Decide(decision) => format!("decide {}", decision.decision_type),
        command => command.name().to_owned(),
    }
}

fn count(answers: &mut Answers, commands: &[Command]) {
    let mut model = Model::default();
    for command in commands {
        let [accepted, nothing, refused] = answers.entry(label(command)).or_default();
        model.verdict = None;
        match model.take(command) {
            Answer::Accepted => *accepted += 1,
            Answer::Nothing => *nothing += 1,
            Answer::Refused => *refused += 1,
        }
        if let Some(verdict) = model.verdict {
            let [given, _, _] = answers.entry(format!("a command {verdict}")).or_default();
            *given += 1;
        }
    }
}

/// A property of commands that are never tried, or never accepted, says
/// nothing.
fn check_coverage(answers: &Answers) {
    for (label, [accepted, nothing, refused]) in answers {
        println!("{label:26} {accepted:6} accepted {nothing:6} nothing {refused:6} refused");
    }
    let verdicts = DecisionType::LISTED
        .iter()
        .map(|verdict| format!("decide {verdict}"));
    let names = Command::NAMES.iter().filter(|name| **name != "decide");
    for label in names.map(|name| (*name).to_owned()).chain(verdicts) {
        let [accepted, nothing, refused] = answers.get(&label).copied().unwrap_or_default();
        assert!(accepted >= 10 && refused >= 5, "{label} is hardly tried");
        let may_be_nothing = [
            "add_dependency",
            "attach_run",
            "begin_tool_call",
            "drop_frames",
            "expire_approvals",
            "link_step_frames",
            "select_plan",
            "set_budget",
            "set_setting",
            "set_eviction_policy",
            "set_max_frames",
        ];
        assert_eq!(
            nothing > 0,
            may_be_nothing.contains(&label.as_str()),
            "{label}"
        );
    }
    for verdict in ["accepted", "rejected", "queued", "throttled"] {
        let given = answers.get(&format!("a command {verdict}"));
        assert!(given.is_some_and(|[count, _, _]| *count >= 25), "{verdict}");
    }
}

fn folding_any_prefix_again_gives_the_same_views(logs: &dyn Logs) {
    check(
        logs,
        (histories(), vec(any::<Index>(), 3)),
        |(commands, indices)| {
            let history = History::play(logs.open(), commands.take());
            let end = history.annals.position().0;
            let positions: Vec<u64> = indices
                .iter()
                .map(|index| index.index(end as usize + 1) as u64)
                .collect();
            let all = folds::views(&history.entries());
            let by_facade: Vec<BTreeMap<Uuid, ObjectView>> = positions
                .iter()
                .map(|position| {
                    let first = views_at(&history.annals, all.keys(), *position);
                    assert_eq!(first, views_at(&history.annals, all.keys(), *position));
                    first
                })
                .collect();
            // By hand, over the log opened again, by a facade that knows nothing.
            let reopened = logs.reopen(history.log);
            let records = history::read_all(reopened.as_ref());
            let annals = Annals::over(reopened);
            let entries = history::entries(&annals, &records);
            for (position, views) in positions.iter().zip(by_facade) {
                let prefix: Vec<&Entry> = entries
                    .iter()
                    .filter(|e| e.position.0 <= *position)
                    .collect();
                assert_eq!(folds::views(prefix), views, "at {position} of {end}");
                assert_eq!(
                    views_at(&annals, all.keys(), *position),
                    views,
                    "at {position} of {end}"
                );
            }
        },
    );
}

fn views_at<'a>(
    annals: &Annals,
    ids: impl Iterator<Item = &'a Uuid>,
    position: u64,
) -> BTreeMap<Uuid, ObjectView> {
    let view = |id: &Uuid| match block_on(annals.view_at(*id, At::Position(Position(position)))) {
        Ok(view) => Some((*id, view)),
        Err(ViewError::NotYet { .. }) => None,
        Err(error) => panic!("{error}"),
    };
    ids.filter_map(view).collect()
}

fn a_request_with_a_key_can_be_repeated(logs: &dyn Logs) {
    check(logs, histories(), |commands| {
        let history = History::play(logs.open(), commands.take());
        let end = history.annals.position();
        // By this process and by one that opens the log again.
        let reopened = Annals::over(logs.reopen(history.log));
        for (request, outcome) in history.accepted.iter().rev() {
            let again = block_on(reopened.execute(request.clone())).expect("the same answer");
            assert_eq!(again, *outcome, "{request:?}");
            // A command's own id is its key, instead of the one that comes with it.
            if matches!(request.command, Command::SubmitCommand(_)) {
                continue;
            }
            let other = intent::ActivateIntent::new(IntentId(Uuid::nil()));
            let mut reused = request.clone();
            reused.command = other.into();
            let refused = block_on(reopened.execute(reused));
            assert!(
                matches!(refused, Err(ExecuteError::KeyReused { .. })),
                "{refused:?}"
            );
        }
        assert_eq!(reopened.position(), end, "a repeat stores nothing");
    });
}

fn a_request_can_be_repeated_at_once(logs: &dyn Logs) {
    check(logs, histories(), |commands| {
        let mut history = History::over(logs.open(), 0);
        for command in commands.take() {
            let (answer, _) = history.execute(command.clone());
            if let (Answer::Accepted, Some((request, outcome))) = (answer, history.accepted.last())
            {
                let later = request.clone().at(annals::domain::Timestamp::EPOCH);
                let again = block_on(history.annals.execute(later)).expect("the same answer");
                assert_eq!(
                    again, *outcome,
                    "the time is not a part of the request that a key stands for"
                );
                assert_eq!(history.annals.position(), outcome.position);
            }
        }
    });
}

/// The alias that a command gives.
fn alias_of(command: &Command) -> Option<&str> {
    match command {
        Command::ReserveAlias(reserve) => Some(&reserve.alias),
        _ => None,
    }
}

/// The id that an agent's command was given with.
fn own_id(command: &Command) -> Option<CommandId> {
    match command {
        Command::SubmitCommand(submit) => submit.id,
        _ => None,
    }
}

fn removing_content_but_names_changes_no_structure_and_no_decision(logs: &dyn Logs) {
    let masks = vec(prop::bool::weighted(0.7), 1..16);
    check(
        logs,
        (histories(), any::<Index>(), masks),
        |(commands, index, removed)| {
            let commands = commands.take();
            let (before, after) = commands.split_at(index.index(commands.len() + 1));
            let mut history = History::play(logs.open(), before);
            let rest = logs.open();
            folds::copy_without_content(history.log.as_ref(), rest.as_ref(), &removed);
            let mut emptied = History::over(rest, before.len() as u64);
            let records = history::read_all(emptied.log.as_ref());
            assert_eq!(folds::states(&history.seen), folds::states(&records));

            let whole = folds::views(&history.entries());
            let rest = folds::views(&emptied.entries());
            assert_eq!(whole.len(), rest.len());
            for (id, view) in &whole {
                assert_eq!(folds::structure(view), folds::structure(&rest[id]), "{id}");
                assert!(rest[id].to_json().is_ok());
            }
            if removed.iter().all(|removed| *removed) {
                for view in rest.values() {
                    // That a session was paused after failures says the number of them.
                    let shown = format!("{view:?}");
                    let counted = shown.matches("failures in a row").count();
                    // Names stay here: what decided on a call, and the file that says so.
                    let names = ["by_name: Some(Present(", "source: Some(Present("];
                    let named: usize = names.iter().map(|it| shown.matches(it).count()).sum();
                    let counted = counted + named;
                    assert_eq!(shown.matches("Present(").count(), counted, "{view:?}");
                }
            }
            // What is decided from here on is the same. Only of an agent's command that
            // was given before a copy does not know what it was.
            let mut given: BTreeSet<CommandId> = before.iter().filter_map(own_id).collect();
            // An alias whose text was removed leads nowhere, and can be given again.
            let reserved: BTreeSet<&str> = before.iter().filter_map(alias_of).collect();
            for command in after {
                if own_id(command).is_some_and(|id| !given.insert(id))
                    || alias_of(command).is_some_and(|alias| reserved.contains(alias))
                {
                    continue;
                }
                let (answer, _) = history.execute(command.clone());
                assert_eq!(answer, emptied.execute(command.clone()).0, "{command:?}");
            }
        },
    );
}

/// A copy has another secret, as a log has after a redaction: the stream of an alias does not follow from it, and has to be
/// looked up, also before the catalogue has written rows.
fn an_alias_is_of_one_object_in_a_copy_too(logs: &dyn Logs) {
    let (task, other) = (Uuid::from_u128(1), Uuid::from_u128(2));
    let commands: [Command; 3] = [
        CreateTask::new("one").with_id(TaskId(task)).into(),
        CreateTask::new("another").with_id(TaskId(other)).into(),
        ReserveAlias::new(task, "cache").into(),
    ];
    let history = History::play(logs.open(), &commands);
    let copy = logs.open();
    folds::copy_without_content(history.log.as_ref(), copy.as_ref(), &[false]);
    let mut copy = History::over(copy, 3);
    let found = block_on(copy.annals.resolve("cache")).expect("an alias");
    assert_eq!(found.id, task);
    let again = copy.execute(ReserveAlias::new(other, "cache").into());
    assert_eq!(again.0, Answer::Refused);
}
