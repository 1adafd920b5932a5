//! `import git`, as far as the program has a part in it.

use std::process::Command;

use serde_json::json;

use crate::support::Place;

#[test]
fn what_is_not_a_repository_is_refused() {
    let place = Place::with_log();
    std::fs::create_dir(place.path("plain")).unwrap();
    place
        .run(&["import", "git", "plain"])
        .fails(1, &["plain", "not a git repository"]);
    let ran = place
        .run(&["import", "git", "nowhere", "--json"])
        .fails(1, &[]);
    assert_eq!(ran.error_code(), "import_failed");
    assert_eq!(place.run(&["stats", "--json"]).ok().json()["events"], 0);
}

#[test]
fn a_log_must_be_there() {
    let place = Place::empty();
    place
        .run(&["import", "git", "."])
        .fails(1, &["annals log init"]);
    assert!(!place.log_dir().exists());
}

/// A repository with two commits, made by the git program.
fn repository(place: &Place) {
    let dir = place.path("repo");
    std::fs::create_dir(&dir).unwrap();
    let git = |args: &[&str]| {
        let done = Command::new("git")
            .args(["-c", "user.name=Ada", "-c", "user.email=ada@example.org"])
            .args([
                "-c",
                "commit.gpgsign=false",
                "-c",
                "init.defaultBranch=main",
            ])
            .args(args)
            .current_dir(&dir)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .expect("these tests need the git program");
        assert!(done.status.success(), "{done:?}");
    };
    git(&["init", "--quiet"]);
    for (n, subject) in ["Add a parser", "Make it faster"].into_iter().enumerate() {
        std::fs::write(dir.join("parser.txt"), format!("version {n}\n")).unwrap();
        git(&["add", "."]);
        git(&["commit", "--quiet", "-m", subject]);
    }
}

#[test]
fn a_repository_is_imported_once() {
    let place = Place::with_log();
    repository(&place);
    let first = place.run(&["import", "git", "repo", "--json"]).ok().json();
    assert_eq!(
        (&first["imported"], &first["already_there"]),
        (&json!(2), &json!(0))
    );
    let stats = || place.run(&["stats", "--json"]).ok().json()["position"].clone();
    let position = stats();
    assert_eq!(position, first["events_made"]);
    // Without --json it is text, and nothing changes.
    let again = place.run(&["import", "git", "repo"]).ok().stdout;
    assert!(again.contains("already there  2"), "{again}");
    assert_eq!(stats(), position);

    let runs = place
        .run(&["log", "--type", "run.created", "--json"])
        .ok()
        .lines();
    assert_eq!(runs.len(), 2);
    let run = runs[1]["stream"]
        .as_str()
        .unwrap()
        .trim_start_matches("run-")
        .to_owned();
    let shown = place.run(&["show", &run, "--json"]).ok().json();
    assert_eq!(shown["status"], "completed");
    let then = place.run(&[
        "show",
        &run,
        "--json",
        "--at",
        &runs[1]["position"].to_string(),
    ]);
    assert_eq!(then.ok().json()["status"], "created");
    place.run(&["verify"]).ok();
}
