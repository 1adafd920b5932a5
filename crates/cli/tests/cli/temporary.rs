//! Temporary folders that are missing or cannot be written, and readers beside a watermark that a power cut left behind.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Stdio};

use annals::event_log::Digest;
use serde_json::json;

use crate::support::{Place, Ran, agent, grown, human, uuid, wait_for};

/// What reads without changing anything.
const READS: [&[&str]; 8] = [
    &["list", "intents"],
    &["log"],
    &["inbox"],
    &["stats"],
    &["verify"],
    &["doctor"],
    &["search", "cache"],
    &["export", "annals"],
];

fn run(place: &Place, args: &[&str], temporary: &Path, home: &Path) -> Ran {
    let mut command = place.command(args);
    command
        .env("TMPDIR", temporary)
        .env("HOME", home)
        .env_remove("XDG_CACHE_HOME");
    Ran::of(command.output().unwrap())
}

fn owner(place: &Place) -> Child {
    let mut command = place.command(&["serve", "--record-only"]);
    let child = command.stdin(Stdio::null()).spawn().unwrap();
    wait_for(|| place.log_dir().join("sock").exists());
    child
}

/// What no folder can be made in: a file is no folder, whoever asks.
fn file(place: &Place) -> std::path::PathBuf {
    fs::write(place.path("file"), "x").unwrap();
    place.path("file")
}

#[test]
fn reading_needs_no_temporary_folder_of_the_machine() {
    let (place, _) = grown();
    let (none, file, home) = (Path::new("/nonexistent"), file(&place), place.path("home"));
    // By way of the usual folder, of the cache, and of the log's folder.
    let ways = [
        (Path::new(""), &file),
        (none, &home),
        (file.as_path(), &home),
        (none, &file),
    ];
    for is_owned in [false, true] {
        let owner = is_owned.then(|| owner(&place));
        for (temporary, home) in ways {
            for args in READS {
                let ran = run(&place, args, temporary, home);
                assert_eq!(ran.status, 0, "{args:?} {temporary:?} {home:?}: {ran:?}");
                assert!(!ran.stderr.contains("no log"), "{ran:?}");
            }
        }
        if let Some(mut owner) = owner {
            owner.kill().unwrap();
            owner.wait().unwrap();
        }
    }
    let is_left = |folder: &Path| {
        let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
        let mut names = entries.map(|it| it.file_name().to_string_lossy().into_owned());
        names.any(|name| name.starts_with("annals-"))
    };
    assert!(!is_left(&place.log_dir()), "nothing stays in the log");
    assert!(!is_left(&home.join(".cache/annals")));
}

/// Where nothing can be made at all, the cause is named, and not that there is no log.
#[test]
fn where_no_folder_takes_it_the_cause_is_said() {
    let (place, _) = grown();
    let file = file(&place);
    let log = place.log_dir();
    let as_root = is_root();
    // Root writes anywhere, so that this needs another user, to whom the log is readable alone.
    if !as_root {
        fs::set_permissions(&log, fs::Permissions::from_mode(0o500)).unwrap();
    } else {
        eprintln!("NOT RUN: root writes into every folder");
        return;
    }
    let ran = run(&place, &["log"], &file, &file);
    fs::set_permissions(&log, fs::Permissions::from_mode(0o700)).unwrap();
    assert_ne!(ran.status, 0);
    for part in ["no temporary files can be made in", "set TMPDIR"] {
        assert!(ran.stderr.contains(part), "{ran:?}");
    }
    assert!(!ran.stderr.contains("there is no log"), "{ran:?}");
}

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|it| std::os::unix::fs::MetadataExt::uid(&it) == 0)
}

/// Writes the position up to which readers see a log, as a writer did that lost its power later.
fn put_back(place: &Place, position: u64) {
    let bytes = position.to_be_bytes();
    let mut value = bytes.to_vec();
    value.extend(&Digest::of(&bytes).0[..8]);
    let path = place.log_dir().join("WATERMARK");
    let mut content = fs::read(&path).unwrap();
    content[..16].copy_from_slice(&value);
    content[16..40].fill(0);
    fs::write(&path, content).unwrap();
}

/// After a power cut the rows and the snapshots may be newer than the file WATERMARK: the log is sound.
#[test]
fn a_catalogue_ahead_of_the_watermark_is_no_damage() {
    let place = Place::with_log();
    let pipeline = uuid(0xb_0000_0001);
    place.accept(&[
        human("create_intent", json!({ "prompt": "Add a cache" })),
        agent(
            "create_pipeline",
            json!({ "id": pipeline, "max_frames": 4 }),
        ),
    ]);
    // A long stream, of which a snapshot is kept.
    let push = |n: usize| {
        let summary = format!("step {n} {}", "x".repeat(300));
        agent(
            "push_frame",
            json!({ "pipeline": pipeline, "kind": "step_summary", "summary": summary }),
        )
    };
    // Where a group of records ended: a writer publishes no other positions.
    let mut ends = Vec::new();
    let mut pushed = 0;
    for some in [1, 200, 200, 200, 200] {
        let found = place.run(&["verify", "--json"]).ok().json();
        ends.push(found["position"].as_u64().unwrap());
        let some: Vec<_> = (pushed..pushed + some).map(push).collect();
        pushed += some.len();
        place.accept(&some);
        if pushed == 201 {
            // A row names the current rows from here on.
            place.run(&["rebuild"]).ok();
        }
    }
    let before = place.run(&["verify", "--json"]).ok().json();
    let end = before["position"].as_u64().unwrap();
    place.run(&["checkpoint", "--out", "cp"]).ok();
    for position in ends {
        put_back(&place, position);
        // It cannot be told yet whether the log still is what the checkpoint says.
        place
            .run(&["verify", "--since", "cp"])
            .fails(1, &["next opening for writing"]);
        let ran = place.run(&["verify", "--json"]);
        let found = ran.json();
        assert_eq!(ran.status, 0, "{position}: {ran:?}");
        assert_eq!(found["ok"], true, "{found}");
        assert_eq!(found["catalogue"]["compared"], false, "{found}");
        assert_eq!(found["catalogue"]["ahead_of"], position, "{found}");
        // A warning says so, too.
        let text = place.run(&["verify"]).fails(0, &["not shown"]).stdout;
        assert!(
            text.contains("ahead") && text.contains("next opening"),
            "{text}"
        );
        place.run(&["doctor"]).fails(0, &["not shown"]);
    }
    // The next opening for writing settles it.
    place.run(&["apply", "/dev/null"]).fails(0, &["no command"]);
    let after = place.run(&["verify", "--json"]).ok().json();
    assert_eq!(after["position"], end);
    assert_eq!(after["root"], before["root"]);
    assert_eq!(after["catalogue"]["compared"], true, "{after}");
    assert_eq!(after["ok"], true, "{after}");
}
