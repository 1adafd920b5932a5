//! Random graphs of tasks that wait for each other, and a plain runner: it runs
//! any task that may run, in no particular order.

use proptest::collection::vec;

use super::super::intake::{finish_task, risky, start, task_of};
use super::*;

const MOST: usize = 8;

/// Tasks 0 to `MOST` - 1; each waits for some of those with smaller numbers.
#[derive(Debug, Clone)]
struct Graph {
    /// Whether a task waits for another one, by both their numbers.
    waits: Vec<Vec<bool>>,
    /// The tasks whose work comes to nothing.
    fails: Vec<bool>,
    /// The order in which the tasks are made.
    made: Vec<usize>,
    /// Which of the tasks that may run is run next.
    picks: Vec<usize>,
}

fn graphs() -> impl Strategy<Value = Graph> {
    let waits = vec(vec(proptest::bool::weighted(0.3), MOST), MOST);
    let fails = vec(proptest::bool::weighted(0.15), MOST);
    let made = Just((0..MOST).collect::<Vec<usize>>()).prop_shuffle();
    let picks = vec(0..MOST, MOST);
    (waits, fails, made, picks).prop_map(|(waits, fails, made, picks)| Graph {
        waits,
        fails,
        made,
        picks,
    })
}

impl Graph {
    fn waits_for(&self, which: usize) -> Vec<usize> {
        (0..which).filter(|on| self.waits[which][*on]).collect()
    }

    /// Tasks that fail or wait for one that does; smaller numbers come first.
    fn lost(&self) -> Vec<bool> {
        let mut lost: Vec<bool> = Vec::new();
        for which in 0..MOST {
            let waits_in_vain = self.waits_for(which).iter().any(|on| lost[*on]);
            lost.push(waits_in_vain || self.fails[which]);
        }
        lost
    }

    /// The tasks, made in the graph's order: what is there already is waited for
    /// from the beginning, the rest as soon as it is there.
    fn make(&self) -> Given {
        let mut given = Given::new().command(risky(1, Risk::Low)).command(start(1));
        for (place, which) in self.made.iter().copied().enumerate() {
            let before = &self.made[..place];
            let waits_for = self.waits_for(which);
            let known = waits_for.iter().filter(|on| before.contains(on));
            given.execute(CreateTask {
                dependencies: known.map(|on| id(*on)).collect(),
                ..task_of(1, number(which))
            });
            for earlier in before
                .iter()
                .filter(|it| self.waits_for(**it).contains(&which))
            {
                given.execute(AddDependency {
                    task: id(*earlier),
                    dependency: id(which),
                });
            }
        }
        given
    }

    /// Works on a task; whether it was done.
    fn work(&self, given: &mut Given, which: usize) {
        if !self.fails[which] {
            return finish_task(given, number(which));
        }
        given.execute(CreateRun::new(id(which)));
        given.execute(FailTask {
            task: id(which),
            reason: None,
        });
    }
}

fn number(which: usize) -> u128 {
    100 + which as u128
}

fn id(which: usize) -> TaskId {
    task(number(which))
}

fn task_status(given: &Given, which: usize) -> task::Status {
    match given.loaded(id(which).stream()).state {
        AnyState::Task(state) => state.status,
        other => panic!("expected a task, found {other:?}"),
    }
}

/// The tasks that may be run now, of those that were made.
fn ready(given: &Given) -> Vec<usize> {
    let may_run = |which: &usize| given.decide(CreateRun::new(id(*which))).is_ok();
    (0..MOST).filter(may_run).collect()
}

/// Runs one task after the other until none may be run; in which order.
fn run_all(graph: &Graph, given: &mut Given) -> Vec<usize> {
    let mut order: Vec<usize> = Vec::new();
    for pick in &graph.picks {
        let ready = ready(given);
        let Some(index) = pick.checked_rem(ready.len()) else {
            break;
        };
        order.push(ready[index]);
        graph.work(given, ready[index]);
    }
    assert!(ready(given).is_empty(), "it would never end");
    order
}

/// Each task that ran did so after what it waits for, none after a failure, and
/// all of them are settled.
fn check_run(graph: &Graph, given: &Given, order: &[usize]) {
    for (place, which) in order.iter().enumerate() {
        for on in graph.waits_for(*which) {
            assert!(
                order[..place].contains(&on),
                "{which} ran before {on}: {order:?}"
            );
            assert!(!graph.fails[on], "{which} ran after {on} failed: {order:?}");
        }
    }
    let lost = graph.lost();
    for (which, lost) in lost.iter().copied().enumerate() {
        let expected = if lost {
            task::Status::Failed
        } else {
            task::Status::Done
        };
        assert_eq!(
            task_status(given, which),
            expected,
            "task {which}, {order:?}"
        );
        let ran = graph
            .waits_for(which)
            .iter()
            .all(|on| order.contains(on) && !graph.fails[*on]);
        assert_eq!(order.contains(&which), ran, "task {which}, {order:?}");
    }
    let expected = match (lost.contains(&true), lost.contains(&false)) {
        (true, true) => ApprovalStatus::Blocked,
        (true, false) => ApprovalStatus::Error,
        _ => ApprovalStatus::Done,
    };
    assert_eq!(status(given, 1), expected);
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn tasks_run_in_the_order_of_their_dependencies_however_they_were_made(graph in graphs()) {
        let mut given = graph.make();
        let order = run_all(&graph, &mut given);
        check_run(&graph, &given, &order);
    }

    /// Tasks that are made while others run, or have failed already, fare alike.
    #[test]
    fn tasks_run_in_the_same_way_while_others_are_still_made(graph in graphs()) {
        let mut given = Given::new().command(risky(1, Risk::Low)).command(start(1));
        let mut order = Vec::new();
        for which in 0..MOST {
            let waits_for = graph.waits_for(which);
            given.execute(CreateTask {
                dependencies: waits_for.into_iter().map(id).collect(),
                ..task_of(1, number(which))
            });
            let ready = ready(&given);
            if let Some(index) = graph.picks[which].checked_rem(ready.len() + 1)
                && let Some(next) = ready.get(index)
            {
                order.push(*next);
                graph.work(&mut given, *next);
            }
        }
        order.extend(run_all(&graph, &mut given));
        check_run(&graph, &given, &order);
    }
}

#[test]
fn an_earlier_failure_and_a_later_success_are_among_the_random_graphs() {
    let mut runner = TestRunner::deterministic();
    let [mut some, mut none, mut deep] = [0; 3];
    for _ in 0..256 {
        let graph = graphs().new_tree(&mut runner).unwrap().current();
        let lost = graph.lost();
        some += usize::from(lost.contains(&true) && lost.contains(&false));
        none += usize::from(!lost.contains(&true));
        let through = |which: usize| {
            let waits_for = graph.waits_for(which);
            waits_for.iter().any(|on| lost[*on] && !graph.fails[*on])
        };
        deep += usize::from((0..MOST).any(through));
    }
    for (what, count) in [
        ("some fail", some),
        ("none fails", none),
        ("several levels", deep),
    ] {
        assert!(count >= 20, "{what}: {count}");
    }
}
