//! Random profiles and random things that are asked of two sessions, at times
//! that sometimes go backwards.

use proptest::collection::vec;
use proptest::option::{of, weighted};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use super::*;

/// All that a history is made from.
#[derive(Debug, Clone)]
pub(super) struct Script {
    /// The profiles of the two sessions.
    pub(super) policies: [PolicyProfile; 2],
    pub(super) expiry_seconds: Option<u64>,
    pub(super) pause_after: u32,
    pub(super) steps: Vec<Step>,
}

/// Something is asked of one of the sessions, so many milliseconds after the
/// step before.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub(super) millis: i64,
    pub(super) session: usize,
    pub(super) asked: Asked,
}

/// What is asked. Commands and requests are named by a number that picks one of
/// those that are there; 7 picks none of them.
#[derive(Debug, Clone)]
pub(super) enum Asked {
    /// A command is given, under an id that is new.
    Give(CommandBody, Told),
    /// A command is given under an id that is there.
    GiveAgain(usize, CommandBody, Told),
    Ends(usize, CommandResult),
    Reads(usize, &'static str, &'static str),
    Approve(Option<usize>),
    Deny(Option<usize>),
    Expire,
    Pause,
    Resume,
    Abort,
    Complete,
}

/// What the caller says of a commit: the branch that the repository is on, and how many files.
#[derive(Debug, Clone, Copy)]
pub(super) struct Told {
    pub(super) branch: Option<&'static str>,
    pub(super) files: Option<u32>,
}

const KINDS: [&str; 9] = [
    "CreateBranch",
    "ApplyPatch",
    "RunTests",
    "Commit",
    "Push",
    "GetDiff",
    "TransitionTicket",
    "RequestApproval",
    "QueryBacklog",
];
const BRANCHES: [&str; 4] = ["main", "refs/heads/main", "rel", "work"];
/// What is said of a commit that is on no branch.
pub(super) const ODD: [&str; 3] = [
    "refs/tags/v1",
    "HEAD",
    "0123456789abcdef0123456789abcdef01234567",
];
/// What pushes name, in addition to branches.
pub(super) const REFSPECS: [&str; 12] = [
    "HEAD:main",
    "+main",
    ":rel",
    "work:rel",
    "main:work",
    "heads/main",
    "HEAD",
    "--all",
    ":",
    "refs/heads/*:refs/heads/*",
    "main:refs/tags/v1",
    "main rel",
];
const STEPS: [&str; 3] = ["Open->Done", "Done->Open", "Open->Open"];

fn owned(words: Vec<&'static str>) -> Vec<String> {
    words.into_iter().map(str::to_owned).collect()
}

fn limits() -> impl Strategy<Value = RateLimits> {
    let kinds = prop_oneof![
        2 => subsequence(KINDS.to_vec(), 1..=3),
        1 => Just(vec!["Push"]),
    ];
    let caps = kinds
        .prop_flat_map(|kinds| {
            let caps = vec(
                prop_oneof![1 => Just(0), 6 => 1_u32..4, 5 => 7_u32..90],
                kinds.len(),
            );
            caps.prop_map(move |caps| owned(kinds.clone()).into_iter().zip(caps).collect())
        })
        .boxed();
    let per_minute = prop_oneof![1 => Just(0), 4 => 1_u32..120];
    (weighted(0.7, per_minute), of(0_u32..5), weighted(0.6, caps)).prop_map(
        |(calls_per_minute, burst, per_command_caps)| RateLimits {
            calls_per_minute,
            burst,
            per_command_caps,
        },
    )
}

pub(super) fn policy() -> impl Strategy<Value = PolicyProfile> {
    let white = prop_oneof![
        1 => Just(vec![]),
        9 => subsequence(KINDS.to_vec(), 5..=9),
    ];
    (
        weighted(0.15, white),
        weighted(0.3, subsequence(KINDS.to_vec(), 0..=2)),
        subsequence(BRANCHES.to_vec(), 0..=2),
        of(0_u32..3),
        (weighted(0.4, any::<bool>()), weighted(0.7, Just(()))),
        of(subsequence(STEPS.to_vec(), 0..=3)),
        weighted(0.75, limits()),
    )
        .prop_map(|(white, black, branches, files, asks, steps, limits)| {
            let (tests, approval) = asks;
            PolicyProfile {
                name: "p".into(),
                command_whitelist: white.map(owned),
                command_blacklist: black.map(owned),
                protected_branches: owned(branches),
                max_files_per_commit: files,
                require_tests_before_push: tests.is_some(),
                filtered_tests_count: tests == Some(true),
                require_approval_for_push: approval.is_some(),
                allowed_work_item_transitions: steps.map(owned),
                limits,
            }
        })
}

pub(super) fn body() -> impl Strategy<Value = CommandBody> {
    let branch = || select(&BRANCHES[..]);
    let path = || prop_oneof![5 => Just("/app"), 1 => Just("/lib")];
    let actions = subsequence(vec!["deploy", "Push", "rollback"], 0..=2);
    prop_oneof![
        2 => (branch(), path()).prop_map(|(branch, path)| CreateBranch {
            repo: repo(path), branch_name: branch.into(), from_ref: None,
        }.into()),
        2 => Just(apply_patch()),
        3 => (path(), weighted(0.3, Just("unit".to_owned()))).prop_map(|(path, filter)| RunTests {
            repo: repo(path), filter, timeout: None,
        }.into()),
        3 => (0_usize..4, path()).prop_map(|(files, path)| Commit {
            repo: repo(path), message: "work".into(),
            include_paths: vec![".".into(); files], amend: files == 2,
        }.into()),
        7 => branch().prop_map(push),
        2 => select(&REFSPECS[..]).prop_map(push),
        3 => Just(get_diff()),
        3 => (select(&["A", "B"][..]), select(&["Open", "Done"][..]))
            .prop_map(|(item, state)| transition(item, state)),
        2 => actions.prop_map(|actions| request_approval(&actions)),
        2 => Just(query_backlog()),
    ]
}

fn told() -> impl Strategy<Value = Told> {
    let names = prop_oneof![9 => select(&BRANCHES[..]), 1 => select(&ODD[..])];
    let branch = weighted(0.6, names);
    (branch, weighted(0.9, 0_u32..4)).prop_map(|(branch, files)| Told { branch, files })
}

fn asked() -> impl Strategy<Value = Asked> {
    let which = || 0_usize..8;
    let items = || (select(&["A", "B"][..]), select(&["Open", "Done"][..]));
    let outcome = prop_oneof![Just(CommandResult::Success), Just(CommandResult::Failure)];
    prop_oneof![
        96 => (body(), told()).prop_map(|(body, told)| Asked::Give(body, told)),
        4 => (which(), body(), told())
            .prop_map(|(which, body, told)| Asked::GiveAgain(which, body, told)),
        80 => (which(), outcome).prop_map(|(which, outcome)| Asked::Ends(which, outcome)),
        14 => (which(), items()).prop_map(|(which, (item, state))| Asked::Reads(which, item, state)),
        20 => of(which()).prop_map(Asked::Approve),
        6 => of(which()).prop_map(Asked::Deny),
        6 => Just(Asked::Expire),
        2 => Just(Asked::Pause),
        12 => Just(Asked::Resume),
        1 => Just(Asked::Abort),
        1 => Just(Asked::Complete),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let millis = prop_oneof![
        6 => Just(0_i64),
        6 => (0_i64..8).prop_map(|seconds| seconds * 1_000),
        2 => 0_i64..3_000,
        2 => (0_i64..40).prop_map(|seconds| seconds * 1_000),
        1 => (-20_i64..0).prop_map(|seconds| seconds * 1_000),
    ];
    let session = prop_oneof![3 => Just(0_usize), 1 => Just(1)];
    (millis, session, asked()).prop_map(|(millis, session, asked)| Step {
        millis,
        session,
        asked,
    })
}

/// The second session has the first one's profile, one of the same name and
/// limits, one of another name, or any.
pub(super) fn scripts() -> impl Strategy<Value = Script> {
    let policies = (policy(), policy(), 0_u8..4).prop_map(|(first, other, how)| {
        let second = match how {
            0 => first.clone(),
            1 => PolicyProfile {
                limits: first.limits.clone(),
                ..other
            },
            2 => PolicyProfile {
                name: "q".into(),
                ..first.clone()
            },
            _ => other,
        };
        [first, second]
    });
    (policies, of(1_u64..30), 0_u32..4, vec(step(), 1..70)).prop_map(
        |(policies, expiry_seconds, pause_after, steps)| Script {
            policies,
            expiry_seconds,
            pause_after,
            steps,
        },
    )
}
