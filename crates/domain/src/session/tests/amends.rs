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

/// The commits of a record, where the events at some places have lost their content and their names.
fn left(record: &[Emitted], is_removed: impl Fn(usize) -> bool) -> Commits {
    let mut commits = Commits::default();
    for (place, one) in record.iter().enumerate() {
        let mut event = one.event.clone();
        let removed = is_removed(place);
        if removed {
            event.each_name(&mut |name| *name = crate::removed_name(&[7; 32], place));
        }
        if let AnyEvent::Session(event) = &event {
            commits.apply(event, at_millis(0), &|slot| match removed {
                true => None,
                false => one.pieces.text_of(slot),
            });
        }
    }
    commits
}

#[test]
fn what_was_removed_of_a_commit_counts_as_much_as_it_can() {
    let mut stage = limited();
    let mut record = Vec::new();
    for command in [
        Command::from(commits(1, &["a", "b"], false)),
        succeeds(1).into(),
        commits(2, &["b"], true).into(),
        succeeds(2).into(),
    ] {
        record.extend(stage.given.execute(command));
    }
    assert_eq!(left(&record, |_| false).last("/app").count(), 2);
    for removed in 0..record.len() {
        let files = left(&record, |place| place == removed).last("/app");
        assert!(files.count() >= 2, "{removed}: {files:?}");
    }
    // The path of its repository may be any, and what it amended, too.
    assert!(left(&record, |_| true).last("/app").count() >= 2);
    // A commit behind one that was removed has it in it as far as is known.
    let mut stage = limited();
    let mut record = stage.given.execute(commits(1, &["a", "b"], false));
    record.extend(stage.given.execute(commits(2, &["c"], false)));
    assert_eq!(left(&record, |place| place == 0).last("/app").count(), 1);
    assert!(left(&record, |place| place == 2).last("/app").count() >= 2);
}
