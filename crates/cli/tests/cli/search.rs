//! `annals search`: what is typed and what is shown.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::import_claude::{session, write};
use crate::support::{Place, human};

/// A log with some prompts.
fn place() -> Place {
    let place = Place::with_log();
    for prompt in [
        "Paginate GET /users in cli/userList.go",
        "Fix the flaky test\nTestPagination fails",
        "Write docs",
    ] {
        say(&place, prompt);
    }
    place
}

/// One more event: an intent with this prompt.
fn say(place: &Place, prompt: &str) {
    place.accept(&[human("create_intent", json!({ "prompt": prompt }))]);
}

fn hits(place: &Place, args: &[&str]) -> Value {
    let args: Vec<&str> = ["search", "--json"].iter().chain(args).copied().collect();
    // After a kill a reader may say that it does not show what may not be durable.
    let ran = place.run(&args);
    assert_eq!(ran.status, 0, "{ran:?}");
    serde_json::from_str(&ran.stdout).unwrap()
}

fn positions(answer: &Value) -> Vec<u64> {
    let hits = answer["hits"].as_array().unwrap();
    let mut found: Vec<u64> = hits
        .iter()
        .map(|hit| hit["position"].as_u64().unwrap())
        .collect();
    found.sort_unstable();
    found
}

#[test]
fn an_answer_has_its_line_and_the_command_that_shows_it() {
    let place = place();
    let ran = place.run(&["search", "userlist"]).ok();
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert!(
        lines[0].starts_with("intent ")
            && lines[0].contains("  event 1  ")
            && lines[0].ends_with("in prompts"),
        "{}",
        ran.stdout
    );
    assert_eq!(lines[1], "  Paginate GET /users in cli/userList.go");
    assert_eq!(lines.len(), 3);
    let command: Vec<&str> = lines[2].trim().split(' ').skip(1).collect();
    assert!(
        place
            .run(&command)
            .ok()
            .stdout
            .contains("Paginate GET /users"),
        "{command:?}"
    );
    assert_eq!(ran.stderr, "");

    let styled = place
        .run(&["search", "--color", "always", "testpagination"])
        .ok()
        .stdout;
    assert!(
        styled.contains("  \x1b[1mTestPagination\x1b[0m fails"),
        "{styled:?}"
    );
    let none = place.run(&["search", "nowhere"]);
    assert_eq!(
        (none.status, none.stderr.as_str()),
        (0, "annals: nothing found\n")
    );
    let first = place.run(&["search", "in", "--limit", "1"]).ok();
    assert_eq!(first.stderr, "", "{}", first.stdout);

    let answer = hits(&place, &["pagin* -docs"]);
    assert_eq!(
        (
            positions(&answer).len(),
            &answer["count"],
            &answer["is_exact"],
            &answer["by_index"]
        ),
        (2, &json!(2), &json!(true), &json!(true))
    );
    let best = &answer["hits"][0];
    assert!(
        best["snippet"]
            .as_array()
            .unwrap()
            .iter()
            .any(|piece| piece["mark"] == true),
        "{best}"
    );
    assert_eq!(best["command"][1], "show");
    assert_eq!(
        (&answer["lag"], &answer["searched"]),
        (&Value::Null, &answer["end"])
    );
}

#[test]
fn a_question_that_cannot_be_read_is_refused() {
    let place = place();
    for (args, said) in [
        (
            ["search", "\"unclosed phrase"],
            "the quote at character 1 is not closed",
        ),
        (
            ["search", "--no-index"],
            "the following required arguments were not provided",
        ),
        (["search", "..."], "there is no word in \"...\""),
        (["search", "'-x'"], "nothing found"),
    ] {
        let ran = place.run(&args);
        assert!(ran.stderr.contains(said), "{args:?}: {}", ran.stderr);
    }
    let ran = place.run(&["search", "--", "-docs"]);
    assert!(
        ran.status == 1 && ran.stderr.contains("only says what must not be there"),
        "{}",
        ran.stderr
    );
    let ran = place.run(&["search", "--json", "a*"]);
    let error: Value = serde_json::from_str(&ran.stderr).unwrap();
    assert_eq!(error["error"]["code"], "invalid_query", "{error}");
}

#[test]
fn an_index_is_kept_made_again_or_off() {
    let place = place();
    let folder = place.log_dir().join("search");
    assert_eq!(positions(&hits(&place, &["--no-index", "docs"])), [3]);
    assert!(!folder.exists());
    assert_eq!(positions(&hits(&place, &["docs"])), [3]);
    assert!(folder.join("0/meta.json").exists());
    assert_eq!(
        place.run(&["search", "--rebuild"]).ok().stdout,
        "the search index was made again, up to event 3\n"
    );
    place.run(&["search", "--index", "off"]).ok();
    assert!(!folder.join("0").exists());
    let answer = hits(&place, &["docs"]);
    assert_eq!(
        (positions(&answer), &answer["by_index"]),
        (vec![3], &json!(false))
    );
    assert!(!folder.join("0").exists());

    place.run(&["search", "--index", "kept"]).ok();
    write(&place, "more.jsonl", &session("more"));
    place.run(&["import", "claude", "more.jsonl"]).ok();
    assert!(
        folder.join("0/meta.json").exists(),
        "an import brings it up to date"
    );
    assert_eq!(positions(&hits(&place, &["docs"])), [3]);
    assert!(!positions(&hits(&place, &["edit", "done"])).is_empty());
    assert_eq!(
        place
            .run(&["search", "--index", "lazy", "--json"])
            .ok()
            .stdout,
        "{\"index\":\"lazy\"}\n"
    );
}

#[test]
fn who_may_not_write_is_answered() {
    let place = place();
    let log = place.log_dir();
    let set = |mode| fs::set_permissions(&log, fs::Permissions::from_mode(mode)).unwrap();
    set(0o500);
    // Root may write all the same.
    let may_write = fs::write(log.join("probe"), "").is_ok();
    let answer = hits(&place, &["docs"]);
    set(0o700);
    assert_eq!(positions(&answer), [3]);
    if may_write {
        fs::remove_file(log.join("probe")).unwrap();
        return;
    }
    assert_eq!(answer["by_index"], json!(false));
    assert!(
        answer["lag"].as_str().unwrap().contains("ermission denied"),
        "{answer}"
    );
    assert_eq!(positions(&hits(&place, &["docs"])), [3]);
    set(0o500);
    let answer = hits(&place, &["docs"]);
    set(0o700);
    assert_eq!(
        (positions(&answer), &answer["by_index"]),
        (vec![3], &json!(true)),
        "the index that is there"
    );
}

fn index_files(place: &Place) -> Vec<PathBuf> {
    let mut folders = vec![place.log_dir().join("search")];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.path() {
                path if path.is_dir() => folders.push(path),
                path => found.push(path),
            }
        }
    }
    found
}

/// A segment's file of another index has a right check sum; one of a few bytes has no room for it.
#[test]
fn an_index_with_foreign_or_short_files_is_made_again_without_a_panic() {
    let (place, other) = (place(), place());
    let prompt = |n| {
        let prompt = format!("Prompt {n} of another log");
        human("create_intent", json!({ "prompt": prompt }))
    };
    other.accept(&(0..300).map(prompt).collect::<Vec<_>>());
    hits(&other, &["log"]);
    let segment = ["idx", "pos", "term", "store", "fast", "fieldnorm"];
    let of = |place: &Place, ending: &str| {
        let mut files = index_files(place).into_iter();
        files
            .find(|file| file.extension().is_some_and(|it| it == ending))
            .unwrap()
    };
    let answers = |what: &str| {
        let ran = place.run(&["search", "docs", "--json"]);
        assert_eq!(ran.status, 0, "{what}: {ran:?}");
        assert!(!ran.stderr.contains("panicked"), "{what}: {ran:?}");
        assert!(ran.stderr.contains("is made again"), "{what}: {ran:?}");
        let answer: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(positions(&answer), [3], "{what}");
    };
    assert_eq!(positions(&hits(&place, &["docs"])), [3]);
    for ending in segment {
        fs::copy(of(&other, ending), of(&place, ending)).unwrap();
        answers(ending);
        for length in [0, 3, 5, 7, 8, 20] {
            let file = fs::OpenOptions::new().write(true).open(of(&place, ending));
            file.unwrap().set_len(length).unwrap();
            answers(&format!("{length} bytes of {ending}"));
        }
    }
    // All of them, and the list of segments.
    for file in index_files(&other) {
        fs::copy(
            &file,
            of(&place, "idx").with_file_name(file.file_name().unwrap()),
        )
        .unwrap();
    }
    assert_eq!(positions(&hits(&place, &["docs"])), [3]);
}

#[test]
fn what_is_redacted_goes_with_the_files() {
    let place = place();
    say(&place, "the password is correcthorse");
    assert_eq!(positions(&hits(&place, &["correcthorse"])), [4]);
    assert!(!index_files(&place).is_empty());
    place
        .run(&[
            "redact",
            "--pattern",
            "correcthorse",
            "--reason",
            "it leaked",
        ])
        .ok();
    assert_eq!(index_files(&place), Vec::<PathBuf>::new());
    assert_eq!(
        positions(&hits(&place, &["correcthorse"])),
        Vec::<u64>::new()
    );
    assert_eq!(positions(&hits(&place, &["docs"])), [3]);

    // With --fast the old bytes stay until they are asked for, and no answer shows them.
    say(&place, "the password is batterystaple");
    assert_eq!(positions(&hits(&place, &["batterystaple"])).len(), 1);
    place
        .run(&[
            "redact",
            "--pattern",
            "batterystaple",
            "--reason",
            "it leaked",
            "--fast",
        ])
        .ok();
    assert!(!index_files(&place).is_empty());
    assert_eq!(
        positions(&hits(&place, &["--no-index", "batterystaple"])),
        Vec::<u64>::new()
    );
    place.run(&["redact", "--finish"]).ok();
    assert_eq!(index_files(&place), Vec::<PathBuf>::new());
}

#[test]
fn a_search_that_is_killed_leaves_no_wrong_answers() {
    let place = Place::with_log();
    for hundred in 0..20 {
        let numbers = hundred * 100..(hundred + 1) * 100;
        let prompt = |n| json!({ "prompt": format!("needle number{n} {}", n % 7) });
        let commands: Vec<Value> = numbers.map(|n| human("create_intent", prompt(n))).collect();
        place.accept(&commands);
    }
    let expected = positions(&hits(
        &place,
        &["--no-index", "--limit", "3000", "needle", "3"],
    ));
    assert!(expected.len() > 200);
    for kill in 0..12_u64 {
        if kill % 4 == 0 {
            let _ = fs::remove_dir_all(place.log_dir().join("search"));
        }
        let mut child = place.command(&["search", "needle"]).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(5 + kill * 17));
        let _ = child.kill();
        child.wait().unwrap();
        if kill % 3 == 2 {
            say(&place, &format!("another needle {kill}"));
        }
        let found = positions(&hits(&place, &["--limit", "3000", "needle", "3"]));
        let all = positions(&hits(
            &place,
            &["--no-index", "--limit", "3000", "needle", "3"],
        ));
        assert_eq!(found, all, "after kill {kill}");
    }
}

#[test]
fn a_redaction_that_is_killed_is_completed_with_the_index() {
    let place = place();
    for kill in 0..8_u64 {
        let secret = format!("correcthorse{kill}battery");
        say(&place, &format!("the password is {secret}"));
        assert_eq!(positions(&hits(&place, &[&secret])).len(), 1);
        let redact = ["redact", "--pattern", &secret, "--reason", "it leaked"];
        let mut child = place.command(&redact).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(3 + kill * 13));
        let _ = child.kill();
        child.wait().unwrap();
        // Whether or not it is removed by now, the index says what the log says.
        let all = positions(&hits(&place, &["--no-index", &secret]));
        assert_eq!(
            positions(&hits(&place, &[&secret])),
            all,
            "after kill {kill}"
        );
        let ran = place.run(&redact);
        assert_eq!(ran.status, 0, "after kill {kill}: {ran:?}");
        for file in index_files(&place) {
            let bytes = fs::read(&file).unwrap();
            let has = |word: &[u8]| bytes.windows(word.len()).any(|window| window == word);
            let backwards: Vec<u8> = secret.bytes().rev().collect();
            assert!(
                !has(secret.as_bytes()) && !has(&backwards),
                "{} after kill {kill}",
                file.display()
            );
        }
        assert_eq!(
            positions(&hits(&place, &[&secret])),
            Vec::<u64>::new(),
            "after kill {kill}"
        );
        assert_eq!(positions(&hits(&place, &["docs"])), [3]);
    }
}

/// On a file system of its own: what is searched while the disk is full, and when there is room again.
const FULL: &str = r#"
set -e
mount -t tmpfs -o size=64m none "$1"
cd "$1"
export ANNALS_LOG=log
"$2" init > init.out
"$2" apply < "$3" > apply.out
rm init.out apply.out
dd if=/dev/zero of=ballast bs=64k 2> /dev/null || true
dd if=/dev/zero of=rest bs=1 count=65536 2> /dev/null || true
"$2" --json search needle --limit 3
rm ballast rest
"$2" --json search needle --limit 3
"$2" verify > /dev/null
"#;

/// The same on one that is mounted read-only, and on one that has room and takes no more files.
const READ_ONLY: &str = r#"
set -e
mount -t tmpfs -o size=64m,nr_inodes=200 none "$1"
cd "$1"
export ANNALS_LOG=log
"$2" init > init.out
"$2" apply < "$3" > apply.out
rm init.out apply.out
mount -o remount,ro "$1"
"$2" --json search needle --limit 3
mount -o remount,rw "$1"
n=0
while true 2> /dev/null > "$1/file$n"; do n=$((n + 1)); done 2> /dev/null
"$2" --json search needle --limit 3
rm "$1"/file*
"$2" --json search needle --limit 3
"$2" verify > /dev/null
"#;

/// Runs a script on a file system of its own; its answers.
fn on_a_disk(script: &str) -> Option<Vec<Value>> {
    let place = Place::empty();
    let commands: String = (0..2_000)
        .map(|n| {
            human(
                "create_intent",
                json!({ "prompt": format!("needle number{n} {}", n % 7) }),
            )
        })
        .map(|command| format!("{command}\n"))
        .collect();
    fs::write(place.path("commands"), commands).unwrap();
    fs::create_dir(place.path("disk")).unwrap();
    let ways = [vec!["-m"], vec!["-rm"]];
    let way = ways.into_iter().find(|way| {
        let probe = Command::new("unshare")
            .args(way)
            .args(["mount", "-t", "tmpfs", "none", "/mnt"])
            .output();
        probe.is_ok_and(|output| output.status.success())
    });
    let Some(way) = way else {
        let message = "NOT RUN: a file system of its own cannot be mounted here (unshare -rm)";
        assert!(std::env::var_os("CI").is_none(), "{message}");
        println!("{message}");
        return None;
    };
    let ran = Command::new("unshare")
        .args(way)
        .args(["sh", "-c", script, "sh"])
        .args([
            place.path("disk"),
            env!("CARGO_BIN_EXE_annals").into(),
            place.path("commands"),
        ])
        .output()
        .unwrap();
    let (stdout, stderr) = (
        String::from_utf8_lossy(&ran.stdout),
        String::from_utf8_lossy(&ran.stderr),
    );
    assert!(ran.status.success(), "{stdout}\n{stderr}");
    let answers = stdout.lines();
    Some(
        answers
            .map(|line| serde_json::from_str(line).unwrap())
            .collect(),
    )
}

/// The answers are those of the log, and why not of an index is said as it is.
#[track_caller]
fn is_of_the_log(answer: &Value, reason: &str) {
    assert_eq!(
        (positions(answer).len(), &answer["by_index"]),
        (3, &json!(false)),
        "{answer}"
    );
    let lag = answer["lag"].as_str().unwrap();
    assert!(
        lag.contains(reason) && lag.contains("The log is not concerned"),
        "{lag}"
    );
}

#[track_caller]
fn is_of_the_index(answer: &Value) {
    assert_eq!(
        (positions(answer).len(), &answer["by_index"], &answer["lag"]),
        (3, &json!(true), &Value::Null)
    );
}

#[test]
fn a_full_disk_leaves_the_log_and_is_said() {
    let Some(answers) = on_a_disk(FULL) else {
        return;
    };
    let [full, later] = answers.as_slice() else {
        panic!("{answers:?}");
    };
    is_of_the_log(full, "No space left");
    is_of_the_index(later);
}

#[test]
fn a_disk_on_which_no_index_can_be_made_is_said_as_it_is() {
    let Some(answers) = on_a_disk(READ_ONLY) else {
        return;
    };
    let [read_only, full, later] = answers.as_slice() else {
        panic!("{answers:?}");
    };
    is_of_the_log(read_only, "Read-only file system");
    is_of_the_log(full, "No space left");
    is_of_the_index(later);
}
