//! A commit that amends another one: the files of both count.

use super::*;

fn limited() -> Stage {
    Stage::under(PolicyProfile {
        max_files_per_commit: Some(2),
        ..anything()
    })
}

fn commits(number: u128, files: &[&str], amend: bool) -> SubmitCommand {
    SubmitCommand {
        files: Some(words(files)),
        ..submit(
            number,
            Commit {
                repo: repo("/app"),
                message: "m".into(),
                include_paths: words(files),
                amend,
            },
        )
    }
}

#[track_caller]
fn check(stage: &Stage, files: &[&str], passes: bool) {
    let said = stage.clone().when(commits(99, files, true)).concat();
    assert_eq!(
        !said.contains("Too many files"),
        passes,
        "{files:?}: {said}"
    );
}

#[test]
fn amending_twice_makes_no_commit_of_more_files_than_the_limit() {
    let stage = limited()
        .after(commits(1, &["a", "b"], false))
        .after(succeeds(1));
    check(&stage, &["c", "d"], false);
    check(&stage, &["c"], false);
    // The same files, under whatever name, are no more.
    check(&stage, &["a"], true);
    check(&stage, &["b", "./a"], true);
    let stage = limited()
        .after(commits(1, &["a"], false))
        .after(commits(2, &["b"], true));
    check(&stage, &["c"], false);
    check(&stage, &["b"], true);
}

#[test]
fn the_commit_that_is_amended_is_the_last_one_that_did_not_fail() {
    let next = limited()
        .after(commits(1, &["a", "b"], false))
        .after(succeeds(1))
        .after(commits(2, &["c"], false));
    check(&next, &["d"], true);
    check(&next, &["d", "e"], false);
    let failed = next.after(fails(2));
    check(&failed, &["d"], false);
    check(&failed, &["a"], true);
    // One that was rejected is none.
    let rejected =
        limited()
            .after(commits(1, &["a"], false))
            .after(commits(2, &["x", "y", "z"], false));
    check(&rejected, &["b"], true);
    check(&rejected, &["b", "c"], false);
}

#[test]
fn an_amended_commit_of_others_has_the_files_that_its_caller_lists() {
    check(&limited(), &["a", "b"], true);
    check(&limited(), &["a", "b", "c"], false);
}

#[test]
fn a_count_is_recorded_with_the_files_of_both() {
    let stage = limited().after(commits(1, &["a"], false));
    let emitted = stage.given.decide(commits(2, &["b"], true)).unwrap();
    let AnyEvent::Session(Event::CommandReceived(received)) = &emitted[0].event else {
        panic!("{emitted:?}");
    };
    assert_eq!(received.facts.files, Some(2));
}
