//! Random things that are asked of a few intents and their tasks. Each is named
//! by a number that picks one of those that are there.

use proptest::collection::vec;
use proptest::option::weighted;
use proptest::sample::select;

use super::*;

/// Something is asked.
#[derive(Debug, Clone)]
pub(super) enum Step {
    Submit {
        child_of: Option<usize>,
        after: Option<usize>,
        risk: Risk,
    },
    Create {
        of: usize,
        dependencies: Vec<usize>,
    },
    Depend(usize, usize),
    Intent(usize, OfIntent),
    Task(usize, OfTask),
}

/// What is asked of an intent.
#[derive(Debug, Clone)]
pub(super) enum OfIntent {
    Approve,
    Reject,
    Judge(Risk),
    Start,
    Ask(usize),
    Answer(Option<u32>),
    Instruct,
    Rerun,
    Analyze,
    Activate,
    /// It is analysed and activated before, where it was not.
    Complete,
    Cancel,
}

impl OfIntent {
    /// Each of them.
    pub(super) fn all() -> [OfIntent; 12] {
        [
            OfIntent::Approve,
            OfIntent::Reject,
            OfIntent::Judge(Risk::Low),
            OfIntent::Start,
            OfIntent::Ask(2),
            OfIntent::Answer(None),
            OfIntent::Instruct,
            OfIntent::Rerun,
            OfIntent::Analyze,
            OfIntent::Activate,
            OfIntent::Complete,
            OfIntent::Cancel,
        ]
    }
}

/// What is asked of a task.
#[derive(Debug, Clone, Copy)]
pub(super) enum OfTask {
    Run,
    /// It is worked on until it can be reviewed.
    Work,
    /// And its review approves it.
    Succeed,
    /// And its review rejects it.
    Miss,
    Approve,
    Reject,
    Fail,
    Cancel,
    FailRun,
    Abandon,
}

impl OfTask {
    /// Each of them.
    pub(super) const ALL: [OfTask; 10] = [
        OfTask::Run,
        OfTask::Work,
        OfTask::Succeed,
        OfTask::Miss,
        OfTask::Approve,
        OfTask::Reject,
        OfTask::Fail,
        OfTask::Cancel,
        OfTask::FailRun,
        OfTask::Abandon,
    ];
}

fn risk() -> impl Strategy<Value = Risk> {
    prop_oneof![4 => Just(Risk::Low), 1 => Just(Risk::Med), 1 => Just(Risk::High)]
}

fn of_intent() -> impl Strategy<Value = OfIntent> {
    prop_oneof![
        6 => Just(OfIntent::Approve),
        1 => Just(OfIntent::Reject),
        1 => risk().prop_map(OfIntent::Judge),
        8 => Just(OfIntent::Start),
        2 => (0_usize..3).prop_map(OfIntent::Ask),
        6 => weighted(0.3, 0_u32..4).prop_map(OfIntent::Answer),
        1 => Just(OfIntent::Instruct),
        6 => Just(OfIntent::Rerun),
        1 => Just(OfIntent::Analyze),
        1 => Just(OfIntent::Activate),
        1 => Just(OfIntent::Complete),
        1 => prop_oneof![1 => Just(OfIntent::Cancel), 3 => Just(OfIntent::Start)],
    ]
}

fn of_task() -> impl Strategy<Value = OfTask> {
    prop_oneof![
        12 => Just(OfTask::Succeed),
        6 => Just(OfTask::Miss),
        3 => Just(OfTask::Fail),
        6 => select(&OfTask::ALL[..]),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let which = || 0..=NOWHERE;
    // Most happens to few intents, so that something becomes of them.
    let few = || prop_oneof![2 => Just(0_usize), 1 => Just(1), 2 => 0..=NOWHERE];
    let submit = (weighted(0.5, few()), weighted(0.1, which()), risk());
    prop_oneof![
        2 => submit.prop_map(|(child_of, after, risk)| Step::Submit { child_of, after, risk }),
        3 => (few(), vec(which(), 0..2))
            .prop_map(|(of, dependencies)| Step::Create { of, dependencies }),
        1 => (which(), which()).prop_map(|(task, on)| Step::Depend(task, on)),
        12 => (few(), of_intent()).prop_map(|(which, asked)| Step::Intent(which, asked)),
        24 => (which(), of_task()).prop_map(|(which, asked)| Step::Task(which, asked)),
    ]
}

/// There is one intent at least, with two tasks.
pub(super) fn scripts() -> impl Strategy<Value = Vec<Step>> {
    let first = risk().prop_map(|risk| {
        let submit = Step::Submit {
            child_of: None,
            after: None,
            risk,
        };
        let create = || Step::Create {
            of: 0,
            dependencies: vec![],
        };
        vec![submit, create(), create()]
    });
    (first, vec(step(), 10..80)).prop_map(|(first, rest)| [first, rest].concat())
}
