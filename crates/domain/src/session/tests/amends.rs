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

fn branch(number: u128, name: &str, from: Option<&str>) -> SubmitCommand {
    let from_ref = from.map(str::to_owned);
    let (repo, branch_name) = (repo("/app"), name.to_owned());
    submit(
        number,
        CreateBranch {
            repo,
            branch_name,
            from_ref,
        },
    )
}

/// Which commit is replaced is not known after a branch that starts elsewhere: it may be any one of the session.
#[test]
fn after_a_branch_from_elsewhere_any_commit_may_be_the_one_that_is_amended() {
    let two = limited()
        .after(commits(1, &["a", "b"], false))
        .after(succeeds(1))
        .after(commits(2, &["c"], false))
        .after(succeeds(2));
    check(&two, &["d"], true);
    let created = |from| two.clone().after(branch(3, "topic", from));
    for from in [Some("main"), Some("HEAD~1")] {
        let created = created(from);
        check(&created, &["d"], false);
        check(&created.clone().after(succeeds(3)), &["d"], false);
        // One that was not created changes nothing.
        check(&created.clone().after(fails(3)), &["d"], true);
        // A commit after it is the one that is amended, one while it goes on may be.
        let next = |stage: Stage| stage.after(commits(4, &["e"], false)).after(succeeds(4));
        check(&next(created.clone().after(succeeds(3))), &["d"], true);
        check(&next(created).after(succeeds(3)), &["d"], false);
    }
    // A branch from where the repository is leaves the last commit the one that is amended.
    for from in [None, Some("HEAD")] {
        check(&created(from), &["d"], true);
        check(&created(from).after(succeeds(3)), &["d"], true);
    }
}

#[test]
fn of_commits_that_overlap_each_may_be_the_one_that_is_amended() {
    for ends in [[1, 2], [2, 1]] {
        let overlap = limited()
            .after(commits(1, &["a", "b"], false))
            .after(commits(2, &["c"], false));
        check(&overlap, &["d"], false);
        let [first, second] = ends.map(succeeds);
        let ended = overlap.after(first).after(second);
        check(&ended, &["d"], false);
        check(
            &ended.clone().after(commits(3, &["e"], false)),
            &["d"],
            true,
        );
    }
    // One that amends an earlier commit may replace a later one, if it goes on then.
    let amends = limited()
        .after(commits(1, &["a"], false))
        .after(succeeds(1))
        .after(commits(2, &["b"], true))
        .after(commits(3, &["c"], false))
        .after(succeeds(3));
    check(&amends, &["d"], false);
}

#[test]
fn no_more_commits_are_remembered_than_are_needed() {
    let mut stage = limited();
    for number in 100..200 {
        stage = stage
            .after(commits(number, &["a"], false))
            .after(succeeds(number));
    }
    check(&stage, &["b"], true);
    // One that was forgotten may have had any files.
    let elsewhere = stage.after(branch(300, "topic", Some("main")));
    check(&elsewhere, &["a"], false);
    check(&elsewhere.after(fails(300)), &["a"], true);
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
    record.extend(stage.given.execute(succeeds(1)));
    record.extend(stage.given.execute(commits(2, &["c"], false)));
    assert_eq!(left(&record, |place| place == 0).last("/app").count(), 1);
    assert!(left(&record, |place| place == 3).last("/app").count() >= 2);
}
