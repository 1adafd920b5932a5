//! A thousand commits of five files each, into a log on disk, in seconds.

use std::time::{Duration, Instant};

use annals::Annals;
use annals_testkit::process::assert_within;
use futures::executor::block_on;
use tempfile::TempDir;

use super::repo::{TestRepo, files, import_into};

#[test]
fn a_thousand_commits_of_five_files_take_seconds() {
    let repo = TestRepo::new();
    let mut parent = None;
    for n in 0..1_000 {
        let text = |file: usize| {
            (0..20)
                .map(|line| format!("{} {file} {line}\n", n * (line % 3)))
                .collect::<String>()
        };
        let texts: Vec<(String, String)> = (0..5)
            .map(|file| (format!("src/file{file}.txt"), text(file)))
            .collect();
        let list: Vec<(&str, &str)> = texts
            .iter()
            .map(|(p, t)| (p.as_str(), t.as_str()))
            .collect();
        parent = Some(repo.commit(
            &files(&list),
            &Vec::from_iter(parent),
            &format!("commit {n}\n"),
        ));
    }
    let dir = TempDir::new().unwrap();
    let url = format!("rocks:{}", dir.path().join("log").display());
    let annals = block_on(Annals::open(&url)).unwrap();
    let begun = Instant::now();
    let report = import_into(&annals, repo.path()).unwrap();
    let took = begun.elapsed();
    assert_eq!(
        (report.imported, report.events_made),
        (1_000, annals.position().0)
    );
    let begun = Instant::now();
    let again = import_into(&annals, repo.path()).unwrap();
    let repeated = begun.elapsed();
    assert_eq!(again.already_there, 1_000);
    block_on(annals.close());
    let events = report.events_made;
    println!("import git: 1000 commits, {events} events in {took:?}; again in {repeated:?}");
    // It is less than 2 s on two cores.
    assert_within(took, Duration::from_secs(6));
}
