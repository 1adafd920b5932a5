//! Keeping a log: exported and imported, backed up and restored.

use std::fs;
use std::process::Stdio;

use annals::event_log::Digest;
use serde_json::{Value, json};

use crate::support::{Ran, agent, fingerprint, grown, root};

#[test]
fn an_export_piped_into_an_import_gives_the_same_root() {
    let (place, story) = grown();
    let mut export = place
        .command(&["export", "annals"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let import = place
        .command(&["--log", "other", "import", "annals", "-", "--json"])
        .stdin(export.stdout.take().unwrap())
        .output()
        .unwrap();
    assert!(export.wait().unwrap().success());
    assert!(import.status.success(), "{import:?}");
    let imported: Value = serde_json::from_slice(&import.stdout).unwrap();
    let stats = place.run(&["stats", "--json"]).ok().json();
    assert_eq!(imported["copied"], stats["events"]);
    assert_eq!(imported["log_id"], stats["log_id"], "it keeps its id");
    let other = place
        .run(&["--log", "other", "stats", "--json"])
        .ok()
        .json();
    for field in ["events", "streams", "batches", "blobs", "blob_bytes"] {
        assert_eq!(other[field], stats[field], "{field}");
    }
    assert_eq!(root(&place, "log"), root(&place, "other"));
    assert_eq!(imported["root"], root(&place, "log"));
    // Views are the same, too.
    let shown = |log| place.run(&["--log", log, "show", &story.run]).ok().stdout;
    assert_eq!(shown("log"), shown("other"));
}

#[test]
fn an_import_is_repeated_and_continued() {
    let (place, story) = grown();
    let said = place.run(&["export", "annals", "all.jsonl"]).ok().stdout;
    assert!(said.contains(&root(&place, "log")), "{said}");
    place
        .run(&["--log", "other", "import", "annals", "all.jsonl"])
        .ok();
    let end = place.run(&["stats", "--json"]).ok().json()["events"]
        .as_u64()
        .unwrap();
    let push = json!({ "pipeline": story.pipeline, "kind": "checkpoint", "summary": "more" });
    place.accept(&[agent("push_frame", push)]);
    let from = (end + 1).to_string();
    place
        .run(&["export", "annals", "new.jsonl", "--from", &from])
        .ok();
    let import = |log: &str, file: &str| place.run(&["--log", log, "import", "annals", file]);
    let again = import("other", "all.jsonl").ok().stdout;
    assert!(again.contains("copied 0 records and 0 blobs"), "{again}");
    import("other", "new.jsonl").ok();
    assert_eq!(root(&place, "log"), root(&place, "other"));
    // An export that does not begin at position 1 does not create a log.
    import("third", "new.jsonl").fails(1, &["no log at third"]);
    assert!(!place.path("third").exists());
    // A log with another id is accepted if it is empty.
    place.run(&["--log", "fourth", "init"]).ok();
    import("fourth", "all.jsonl").fails(0, &["keeps its own id"]);
    let names = fs::read_dir(place.path(".")).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    let parts: Vec<String> = names.filter(|name| name.ends_with(".part")).collect();
    assert!(parts.is_empty(), "{parts:?}");
}

#[test]
fn what_does_not_fit_is_refused_with_its_place() {
    let (place, _) = grown();
    place.run(&["export", "annals", "all.jsonl"]).ok();
    let text = fs::read_to_string(place.path("all.jsonl")).unwrap();
    let import = |log: &str, content: &str| -> Ran {
        fs::write(place.path("bad.jsonl"), content).unwrap();
        place.run(&["--log", log, "import", "annals", "bad.jsonl"])
    };
    // Another log.
    place.run(&["--log", "other", "init"]).ok();
    let create =
        r#"{"command":"create_intent","actor":{"kind":"human","id":"bob"},"prompt":"Another"}"#;
    place.run_with(&["--log", "other", "apply"], create).ok();
    let before = root(&place, "other");
    import("other", &text).fails(1, &["another record at position 1"]);
    assert_eq!(root(&place, "other"), before);
    // Cut off: what was whole is there, and the whole file goes on.
    let lines: Vec<&str> = text.lines().collect();
    let cut = lines[..lines.len() / 2].join("\n");
    import("cut", &cut).fails(1, &["bad.jsonl is cut off behind line"]);
    import("cut", &text).ok();
    assert_eq!(root(&place, "cut"), root(&place, "log"));
    // Altered, where the digests show it, and where only the root does.
    let first = text.find("{\"record\"").unwrap();
    let line = text[..first].lines().count() + 1;
    let altered = |from: &str, to: &str| {
        let (head, tail) = text.split_at(first);
        format!("{head}{}", tail.replacen(from, to, 1))
    };
    let place_of = format!("bad.jsonl, line {line}: ");
    import("damaged", &altered("\"position\":1", "\"position\":7"))
        .fails(3, &[&place_of, "altered"]);
    import("bad", &altered("\"base64\":\"", "\"base64\":\"*")).fails(1, &[&place_of, "base64"]);
    import("nothing", "").fails(1, &["bad.jsonl", "empty"]);
    place
        .run(&["--log", "nothing", "import", "annals", "missing.jsonl"])
        .fails(1, &["missing.jsonl"]);
    assert!(!place.path("nothing").exists());
    let other_root = text.replace(&root(&place, "log"), &Digest::of(b"x").to_string());
    import("root", &other_root).fails(3, &["the root of the log's first"]);
}

#[test]
fn a_backup_is_restored_as_it_is() {
    let (place, story) = grown();
    let backup = place.run(&["backup", "copy", "--json"]).ok().json();
    assert_eq!(backup["root"], root(&place, "log"));
    let before = fingerprint(&place.path("copy"));
    for (log, fast) in [("one", false), ("two", true)] {
        let args = ["--log", log, "restore", "copy", "--json", "--fast"];
        let restored = place.run(&args[..if fast { 6 } else { 5 }]).ok().json();
        assert_eq!(restored["root"], backup["root"]);
        assert_eq!(restored["position"], backup["position"]);
        assert_eq!(restored["verified"], !fast);
        assert_eq!(root(&place, log), root(&place, "log"));
    }
    assert_eq!(fingerprint(&place.path("copy")), before, "it was only read");
    let said = place
        .run(&["--log", "three", "restore", "copy"])
        .ok()
        .stdout;
    assert!(said.contains(backup["root"].as_str().unwrap()), "{said}");
    let id = |log| place.run(&["--log", log, "stats", "--json"]).ok().json()["log_id"].clone();
    assert_eq!(id("one"), id("log"));
    // It goes on by itself.
    let push = json!({ "pipeline": story.pipeline, "kind": "checkpoint", "summary": "on" });
    let push = agent("push_frame", push).to_string();
    place.run_with(&["--log", "one", "apply"], push).ok();
    assert_ne!(root(&place, "one"), root(&place, "log"));
}

#[test]
fn a_restore_that_is_refused_leaves_nothing() {
    let (place, _) = grown();
    place.run(&["backup", "copy"]).ok();
    let restore = |log: &str, backup: &str| place.run(&["--log", log, "restore", backup]);
    restore("log", "copy").fails(1, &["holds a log already"]);
    restore("new", "missing").fails(1, &["no backup at missing"]);
    fs::create_dir(place.path("full")).unwrap();
    fs::write(place.path("full/file"), "text").unwrap();
    restore("full", "copy").fails(1, &["full holds something already"]);
    restore("memory:", "copy").fails(1, &["memory"]);
    for entry in fs::read_dir(place.path("copy")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "sst") {
            let mut bytes = fs::read(&path).unwrap();
            let middle = bytes.len() / 3;
            bytes[middle..middle + 8]
                .iter_mut()
                .for_each(|byte| *byte ^= 0xff);
            // A backup shares its files with the log: this one gets its own.
            fs::remove_file(&path).unwrap();
            fs::write(&path, bytes).unwrap();
        }
    }
    let ran = restore("new", "copy");
    assert_eq!(ran.status, 3, "{ran:?}");
    let names = fs::read_dir(place.path(".")).unwrap();
    let mut names: Vec<String> = names
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_eq!(names, ["copy", "full", "log"]);
}
