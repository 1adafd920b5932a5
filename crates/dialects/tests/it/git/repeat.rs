//! Importing again: nothing twice, only what is new, the same ids everywhere.

use annals_dialects::git::{self, GitOptions, Progress};
use annals_event_log::{Position, Query};
use futures::executor::block_on;

use super::repo::{Imported, TestRepo, files, import, import_into, memory};

fn grow(
    repo: &TestRepo,
    mut parents: Vec<gix::ObjectId>,
    commits: std::ops::Range<u32>,
) -> Vec<gix::ObjectId> {
    for n in commits {
        let parent = parents.last().copied();
        let text = format!("{n}\n");
        parents.push(repo.commit(
            &files(&[("a", &text)]),
            &Vec::from_iter(parent),
            &format!("commit {n}\n"),
        ));
    }
    parents
}

#[test]
fn a_second_import_changes_nothing() {
    let repo = TestRepo::new();
    grow(&repo, Vec::new(), 0..5);
    let Imported { annals, report } = import(&repo);
    assert_eq!((report.imported, report.already_there), (5, 0));
    let before = annals.position();
    let again = import_into(&annals, repo.path()).unwrap();
    assert_eq!(
        (again.records_read, again.imported, again.already_there),
        (5, 0, 5)
    );
    assert_eq!(again.events_made, 0);
    assert_eq!(annals.position(), before);
}

#[test]
fn a_grown_repository_adds_only_what_is_new() {
    let repo = TestRepo::new();
    let commits = grow(&repo, Vec::new(), 0..3);
    let Imported { annals, .. } = import(&repo);
    let before = annals.position();
    grow(&repo, commits, 3..5);
    let report = import_into(&annals, repo.path()).unwrap();
    assert_eq!(
        (report.records_read, report.imported, report.already_there),
        (5, 2, 3)
    );
    assert_eq!(annals.position().0 - before.0, report.events_made);
}

#[test]
fn another_clone_at_another_path_is_the_same_history() {
    let (one, two) = (TestRepo::new(), TestRepo::new());
    assert_eq!(grow(&one, Vec::new(), 0..3), grow(&two, Vec::new(), 0..3));
    let log = import(&one);
    let report = import_into(&log.annals, two.path()).unwrap();
    assert_eq!((report.imported, report.already_there), (0, 3));
    let names = |log: &Imported| {
        let page = block_on(log.annals.log().read(Query::all(Position(1)))).unwrap();
        page.records
            .iter()
            .map(|r| (r.stream().to_string(), r.event_id()))
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&log), names(&import(&two)));
}

#[test]
fn a_limit_takes_the_newest() {
    let repo = TestRepo::new();
    let commits = grow(&repo, Vec::new(), 0..5);
    let annals = memory();
    let options = GitOptions::default().with_limit(2);
    let mut seen = Vec::new();
    let report = block_on(git::import(
        &annals,
        repo.path(),
        &options,
        &mut |p: Progress| seen.push(p),
    ));
    let log = Imported {
        annals,
        report: report.unwrap(),
    };
    assert_eq!((log.report.records_read, log.report.imported), (2, 2));
    assert_eq!(log.intent(commits[3]).prompt.as_str(), Some("commit 3"));
    assert_eq!(log.intent(commits[4]).prompt.as_str(), Some("commit 4"));
    assert_eq!(log.touched(commits[3]), ["modify a +1 -1"]);
    let expected: Vec<Progress> = (0..=2).map(|done| Progress { done, total: 2 }).collect();
    assert_eq!(seen, expected);
}

#[test]
fn a_dropped_import_goes_on_where_it_stopped() {
    let repo = TestRepo::new();
    grow(&repo, Vec::new(), 0..20);
    let annals = memory();
    {
        let options = GitOptions::default();
        let (stop, stopped) = futures::channel::oneshot::channel::<()>();
        let mut stop = Some(stop);
        let mut progress = |p: Progress| {
            if p.done == 3 {
                stop.take()
                    .into_iter()
                    .for_each(|stop| stop.send(()).unwrap());
            }
        };
        let run = std::pin::pin!(git::import(&annals, repo.path(), &options, &mut progress));
        // The first to be done wins; the other one is dropped.
        block_on(futures::future::select(stopped, run));
    }
    let there = annals.position();
    assert!(there.0 > 0);
    let report = import_into(&annals, repo.path()).unwrap();
    assert_eq!(report.records_read, 20);
    assert!(report.already_there >= 3, "{report}");
    assert_eq!(annals.position().0, there.0 + report.events_made);
}
