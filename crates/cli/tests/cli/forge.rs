//! `.forge/` folders from outside: imported, exported, watched.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{Place, Running};

const INTENT: &str = "title: パスワードリセット\nbody: 手段がない。\nsource: human\nrisk: med\n\
                      status: executing\nowner: web\n";
const TASKS: &str = "- {id: route, title: Route, status: done}\n\
                     - {id: link, title: Link, status: failed, depends_on: [route]}\n";
const REVIEW: &str = "verdict: rejected\nissues: [テストがない]\n";
const DRAFT: &str = "---\nlabels: [ui]\n---\n\nCrash on save\n\nIt crashes.\n";

fn put(place: &Place, path: &str, text: impl AsRef<[u8]>) {
    let file = place.path(".forge").join(path);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

/// A log next to a folder with something of each kind.
fn with_folder() -> Place {
    let place = Place::with_log();
    put(
        &place,
        "intents/reset.yaml",
        INTENT.replace("executing", "blocked"),
    );
    put(&place, "tasks/reset.yaml", TASKS);
    put(&place, "reviews/link.yaml", REVIEW);
    put(&place, "intent-drafts/crash.md", DRAFT);
    place
}

#[test]
fn a_folder_is_imported_looked_at_and_exported() {
    let place = with_folder();
    let report = place
        .run(&["import", "forge", ".", "--actor", "kei"])
        .ok()
        .stdout;
    assert!(report.contains("imported       5\n"), "{report}");
    assert!(
        report.contains("1 intent, 2 tasks, 1 review, 1 draft"),
        "{report}"
    );
    let inbox = place.run(&["inbox"]);
    assert!(inbox.stdout.contains("reset  blocked"), "{inbox:?}");
    assert!(inbox.stdout.contains("テストがない"), "{inbox:?}");
    let crash = place
        .run(&["show", "crash", "--as", "forge", "--json"])
        .ok()
        .json();
    assert_eq!(
        (&crash["type"], &crash["source"]),
        (&"fix".into(), &"human".into())
    );
    let by = place.run(&["history", "crash", "--json"]).ok().lines();
    assert_eq!(by[0]["actor"]["id"], "kei");
    let exported = place.run(&["export", "forge", "out", "--json"]).ok().json();
    assert_eq!(
        (&exported["intents"], &exported["written"]),
        (&2.into(), &4.into())
    );
    let text = fs::read_to_string(place.path("out/intents/reset.yaml")).unwrap();
    assert!(
        text.starts_with("# annals ") && text.contains("\nowner: web\n"),
        "{text}"
    );
    assert!(!place.path(".forge/intent-drafts/crash.md").exists());
    place.run(&["verify"]).ok();
}

#[test]
fn what_is_broken_is_named_and_the_exit_status_says_so() {
    let place = with_folder();
    put(&place, "intents/bad.yaml", "title: [x\n");
    put(&place, "intent-drafts/open.md", "---\ntype: fix\n");
    let ran = place.run(&["import", "forge", ".forge"]);
    assert!(
        ran.stdout
            .contains("broken         .forge/intents/bad.yaml:1: "),
        "{ran:?}"
    );
    assert!(
        ran.stdout
            .contains("broken         .forge/intent-drafts/open.md:1: "),
        "{ran:?}"
    );
    assert!(ran.stdout.contains("imported       5\n"), "{ran:?}");
    ran.fails(1, &["2 records could not be imported"]);
    let refused = place.run(&["import", "forge", "nowhere", "--json"]);
    assert_eq!(refused.status, 1);
    let empty = place.path("empty");
    fs::create_dir(&empty).unwrap();
    place
        .run(&["import", "forge", "empty"])
        .fails(1, &["is not a .forge folder and has none"]);
    let without_log = Place::empty();
    put(&without_log, "intents/reset.yaml", INTENT);
    without_log
        .run(&["import", "forge", "."])
        .fails(1, &["annals log init"]);
    without_log
        .run(&["watch", "forge", "."])
        .fails(1, &["annals log init"]);
}

#[test]
fn an_export_leaves_alone_what_it_did_not_write() {
    let place = with_folder();
    place.run(&["import", "forge", ".", "--keep-drafts"]).ok();
    assert!(place.path(".forge/intent-drafts/crash.md").exists());
    let into = place.run(&["export", "forge", "."]).ok().stdout;
    assert!(into.contains("written    1\nunchanged  3\n"), "{into}");
    place.run(&["rerun", "reset"]).ok();
    let ran = place.run(&["export", "forge", "."]);
    assert!(
        ran.stdout
            .contains("left alone  ./.forge/intents/reset.yaml: "),
        "{ran:?}"
    );
    ran.fails(1, &["2 files were left alone"]);
    let text = fs::read_to_string(place.path(".forge/tasks/reset.yaml")).unwrap();
    assert_eq!(text, TASKS);
    // A single one is exported, if only that is named.
    let one = place.run(&["export", "forge", "one", "crash"]).ok().stdout;
    assert!(one.contains("intents    1\n"), "{one}");
}

fn watch(place: &Place) -> Running {
    let mut command = place.command(&["watch", "forge", ".", "--json"]);
    command.stderr(std::process::Stdio::null());
    Running::of(command)
}

#[test]
fn drafts_are_taken_as_they_come_while_others_work_on_the_log() {
    let place = Place::with_log();
    put(&place, "intent-drafts/before.md", DRAFT);
    let mut watching = watch(&place);
    let first = watching.next();
    assert_eq!(first["outcome"], "proposed");
    assert!(
        first["draft"].as_str().unwrap().ends_with("before.md"),
        "{first}"
    );
    put(
        &place,
        "intent-drafts/bad.md",
        "---\ntype: Fix\n---\n\nx\n\ny\n",
    );
    let second = watching.next();
    assert_eq!(
        (&second["outcome"], &second["line"]),
        (&"broken".into(), &2.into())
    );
    // It is looked at again when it changes.
    put(
        &place,
        "intent-drafts/bad.md",
        "---\nrisk: low\n---\n\nx\n\ny\n",
    );
    let third = watching.next();
    assert_eq!(
        (&third["outcome"], &third["status"]),
        (&"proposed".into(), &"approved".into())
    );
    // Other commands do not have to wait for the watch.
    place.run(&["reject", "before"]).ok();
    put(&place, "intent-drafts/before.md", "Again\n\nwith more\n");
    assert_eq!(watching.next()["outcome"], "exists");
    watching.end();
    assert!(place.path(".forge/intent-drafts/before.md").exists());
    assert!(!place.path(".forge/intent-drafts/bad.md").exists());
}

#[test]
fn no_draft_is_lost_or_taken_twice_however_often_the_watch_is_killed() {
    const DRAFTS: usize = 48;
    let place = Place::with_log();
    fs::create_dir_all(place.path(".forge/intent-drafts")).unwrap();
    let folder = place.path(".forge/intent-drafts");
    let mut written = 0;
    // Delays in milliseconds, from before to after a batch is taken.
    let delays = [520, 560, 600, 640, 700, 800, 540, 580];
    for delay in delays {
        let mut watching = watch(&place);
        for _ in 0..DRAFTS / delays.len() {
            put(
                &place,
                &format!("intent-drafts/d{written}.md"),
                format!("Title {written}\n\nbody\n"),
            );
            written += 1;
        }
        std::thread::sleep(Duration::from_millis(delay));
        watching.child.kill().unwrap();
    }
    let watching = watch(&place);
    let patience = Instant::now() + Duration::from_secs(60);
    while left(&folder) > 0 {
        assert!(Instant::now() < patience, "{} are left", left(&folder));
        std::thread::sleep(Duration::from_millis(50));
    }
    drop(watching);
    let listed = place
        .run(&["list", "intents", "--limit", "1000", "--json"])
        .ok()
        .lines();
    each_was_taken_once(&place, &listed, written);
}

#[test]
fn intents_of_agents_are_taken_as_they_come() {
    let place = Place::with_log();
    let intent = |more: &str| format!("title: t\nbody: b\nsource: epiphany\n{more}");
    put(&place, "intents/low.yaml", intent("risk: low\n"));
    let mut watching = watch(&place);
    let first = watching.next();
    assert_eq!(
        (&first["outcome"], &first["status"]),
        (&"recorded".into(), &"approved".into())
    );
    put(&place, "intents/bad.yaml", intent("risk: lwo\n"));
    let second = watching.next();
    assert_eq!(
        (&second["outcome"], &second["line"]),
        (&"broken".into(), &4.into())
    );
    put(&place, "intents/bad.yaml", intent("risk: high\n"));
    let third = watching.next();
    assert_eq!(
        (&third["outcome"], &third["status"]),
        (&"recorded".into(), &"proposed".into())
    );
    // An agent's own word approves nothing, neither at once nor later.
    put(
        &place,
        "intents/own.yaml",
        intent("risk: high\nstatus: approved\n"),
    );
    let own = watching.next();
    assert_eq!(
        (&own["outcome"], &own["status"]),
        (&"recorded".into(), &"proposed".into()),
        "{own}"
    );
    assert!(own.to_string().contains("waits for a person"), "{own}");
    put(
        &place,
        "intents/own.yaml",
        intent("risk: high\nstatus: executing\n"),
    );
    // Each time it is said what of a file does not count.
    let said = |watching: &mut Running, what: &str| {
        let next = watching.next();
        assert_eq!(next["outcome"], "left", "{next}");
        assert!(next.to_string().contains(what), "{next}");
    };
    said(&mut watching, "its file says executing");
    let status = || {
        let shown = place.run(&["show", "own", "--as", "forge", "--json"]).ok();
        shown.json()["status"].clone()
    };
    assert_eq!(status(), "proposed");
    for later in ["risk: low\n", "risk: low\nstatus: approved\n"] {
        put(&place, "intents/own.yaml", intent(later));
        said(
            &mut watching,
            "its file says low, and the log has the risk high",
        );
        assert_eq!(status(), "proposed", "{later}");
    }
    let human = "title: t\nbody: b\nsource: human\nrisk: high\nstatus: approved\n";
    put(&place, "intents/own.yaml", human);
    assert_eq!(watching.next()["outcome"], "left");
    assert_eq!(status(), "proposed");
    // A file that an export writes there is not imported: the next outcome is the draft's.
    place
        .run(&["approve", "bad", "--actor", "human:approver"])
        .ok();
    fs::remove_file(place.path(".forge/intents/bad.yaml")).unwrap();
    place.run(&["export", "forge", ".", "bad"]).ok();
    assert!(place.path(".forge/intents/bad.yaml").exists());
    std::thread::sleep(Duration::from_millis(1_200));
    put(&place, "intent-drafts/d.md", "One line\n");
    assert_eq!(watching.next()["outcome"], "proposed");
    watching.end();
    assert!(place.path(".forge/intents/low.yaml").exists());
}

#[test]
fn no_intent_file_is_lost_or_taken_twice_however_often_the_watch_is_killed() {
    const INTENTS: usize = 32;
    let place = Place::with_log();
    fs::create_dir_all(place.path(".forge/intents")).unwrap();
    let mut written = 0;
    // Delays in milliseconds, from before to after a batch is taken.
    let delays = [520, 560, 600, 640, 700, 800, 540, 580];
    for delay in delays {
        let mut watching = watch(&place);
        for _ in 0..INTENTS / delays.len() {
            // Each is a part of the one before.
            let parent = match written {
                0 => String::new(),
                n => format!("parent: i{}\n", n - 1),
            };
            let text = format!("title: Title {written}\nbody: b\nsource: audit\n{parent}");
            put(&place, &format!("intents/i{written}.yaml"), text);
            written += 1;
        }
        std::thread::sleep(Duration::from_millis(delay));
        watching.child.kill().unwrap();
    }
    let watching = watch(&place);
    let patience = Instant::now() + Duration::from_secs(60);
    // Until the watch has opened the log again, readers say that its end may not be durable.
    let seen = |args: &[&str]| {
        let ran = place.run(args);
        assert_eq!(ran.status, 0, "{ran:?}");
        ran
    };
    let listed = || {
        let args = ["list", "intents", "--limit", "1000", "--oldest", "--json"];
        seen(&args).lines()
    };
    let families = || {
        let has_part = |n: usize| {
            let args = ["show", &format!("i{n}"), "--as", "forge", "--json"];
            let shown = seen(&args).json();
            shown["children"].as_array().map_or(0, Vec::len) == 1
        };
        (0..written - 1).all(has_part)
    };
    while listed().len() < written || !families() {
        assert!(Instant::now() < patience, "{} are taken", listed().len());
        std::thread::sleep(Duration::from_millis(50));
    }
    drop(watching);
    let rows = listed();
    each_was_taken_once(&place, &rows, written);
}

/// One row for each title that was written, in a log that is sound.
fn each_was_taken_once(place: &Place, rows: &[Value], written: usize) {
    let mut titles: Vec<&str> = rows
        .iter()
        .map(|row| row["title"].as_str().unwrap())
        .collect();
    titles.sort_unstable();
    let mut expected: Vec<String> = (0..written).map(|n| format!("Title {n}")).collect();
    expected.sort_unstable();
    assert_eq!(titles, expected);
    place.run(&["verify"]).ok();
}

fn left(folder: &Path) -> usize {
    fs::read_dir(folder).unwrap().count()
}
