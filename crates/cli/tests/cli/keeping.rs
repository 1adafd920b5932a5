//! Keeping a log: exported and imported, restored, examined, its content printed.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use annals::event_log::Digest;
use serde_json::{Value, json};

use crate::support::{Place, Ran, agent, story};

/// The root that `verify` prints.
fn root(place: &Place, log: &str) -> String {
    let verified = place.run(&["--log", log, "verify", "--json"]).ok().json();
    assert_eq!(verified["ok"], true);
    verified["root"].as_str().unwrap().to_owned()
}

/// A story, and large content that two events share.
fn grown() -> (Place, crate::support::Story) {
    let place = Place::with_log();
    let story = story(&place);
    let push = agent(
        "push_frame",
        json!({ "pipeline": story.pipeline, "kind": "checkpoint", "summary": "x".repeat(5_000) }),
    );
    place.accept(&[push.clone(), push]);
    (place, story)
}

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
    // What goes on behind other records makes no log of its own.
    import("third", "new.jsonl").fails(1, &["no log at third"]);
    assert!(!place.path("third").exists());
    // A log of another id is no other log, if it is empty.
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

/// Every file with the digest of its content.
fn fingerprint(directory: &Path) -> Vec<(String, Digest)> {
    let file = |entry: fs::DirEntry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        (name, Digest::of(&fs::read(entry.path()).unwrap()))
    };
    let entries = fs::read_dir(directory).unwrap();
    let mut files: Vec<_> = entries.map(|entry| file(entry.unwrap())).collect();
    files.sort_by(|a, b| a.0.cmp(&b.0));
    files
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

/// The checks of `doctor --json`, by name.
fn check(ran: &Ran, name: &str) -> Value {
    let report = ran.json();
    let checks = report["checks"].as_array().unwrap();
    let found = checks.iter().find(|check| check["check"] == name);
    found.unwrap_or_else(|| panic!("{name}: {report}")).clone()
}

#[test]
fn the_doctor_finds_a_log_well() {
    let (place, _) = grown();
    let before = fingerprint(&place.log_dir());
    let ran = place.run(&["doctor", "--deep", "--json"]).ok();
    assert_eq!(ran.json()["ok"], true);
    for name in [
        "log",
        "writer",
        "watermark",
        "end",
        "opens",
        "tree",
        "settings",
        "content",
    ] {
        assert_eq!(check(&ran, name)["state"], "ok", "{ran:?}");
    }
    assert!(
        check(&ran, "tree")["what"]
            .as_str()
            .unwrap()
            .contains(&root(&place, "log"))
    );
    assert_eq!(fingerprint(&place.log_dir()), before, "it only looks");
    let text = place.run(&["doctor"]).ok().stdout;
    assert!(
        text.lines()
            .all(|line| line.starts_with("ok") || line.starts_with("note") || line.contains("->")),
        "{text}"
    );
}

#[test]
fn the_doctor_finds_content_that_no_record_refers_to() {
    use annals::event_log::{Blob, Position, Query};
    let (place, _) = grown();
    let open = |log: &str| {
        let options = annals::OpenOptions::new().create(true);
        options.open(place.path(log).to_str().unwrap()).unwrap()
    };
    let (from, to) = (open("log"), open("other"));
    futures::executor::block_on(async {
        let records = from
            .log()
            .read(Query::all(Position(1)))
            .await
            .unwrap()
            .records;
        let mut blobs = vec![Blob::new(vec![7; 5_000])];
        for digest in annals::event_log::store_support::referenced_blobs(&records) {
            blobs.push(Blob::new(from.content(digest).await.unwrap().unwrap()));
        }
        to.log().append_records(records, blobs).await.unwrap();
        from.close().await;
        to.close().await;
    });
    let ran = place
        .run(&["--log", "other", "doctor", "--deep", "--json"])
        .ok();
    let content = check(&ran, "content");
    assert_eq!(content["state"], "note");
    assert!(
        content["what"]
            .as_str()
            .unwrap()
            .starts_with("1 blob of 4.88 KiB"),
        "{content}"
    );
}

#[test]
fn the_doctor_says_what_is_wrong_and_what_to_do() {
    let place = Place::empty();
    let ran = place.run(&["doctor", "--json"]);
    assert_eq!((ran.status, ran.error_code().as_str()), (1, "problems"));
    assert!(
        check(&ran, "log")["remedy"]
            .as_str()
            .unwrap()
            .contains("annals init")
    );

    let (place, story) = grown();
    // Left by what was interrupted.
    fs::write(place.log_dir().join("rows.new"), "half").unwrap();
    fs::create_dir(place.path(".annals-backup-x")).unwrap();
    let ran = place.run(&["doctor"]).ok();
    assert!(
        ran.stdout.contains("rows.new") && ran.stdout.contains(".annals-backup-x"),
        "{ran:?}"
    );

    fs::remove_file(place.log_dir().join("WATERMARK")).unwrap();
    let ran = place.run(&["doctor", "--json"]);
    assert_eq!((ran.status, ran.error_code().as_str()), (3, "problems"));
    let watermark = check(&ran, "watermark");
    assert_eq!(
        (&watermark["state"], &watermark["corrupt"]),
        (&json!("problem"), &json!(true))
    );
    assert!(
        watermark["remedy"]
            .as_str()
            .unwrap()
            .contains("annals apply /dev/null")
    );
    place.run(&["apply", "/dev/null"]).fails(0, &["no command"]);
    place.run(&["doctor"]).ok();

    // Beside a writer nothing is a problem.
    let mut writer = place
        .command(&["apply"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let push = json!({ "pipeline": story.pipeline, "kind": "checkpoint", "summary": "on" });
    let mut stdin = writer.stdin.take().unwrap();
    use std::io::{BufRead, BufReader, Write};
    writeln!(stdin, "{}", agent("push_frame", push)).unwrap();
    let mut answer = String::new();
    BufReader::new(writer.stdout.as_mut().unwrap())
        .read_line(&mut answer)
        .unwrap();
    let ran = place.run(&["doctor", "--json"]).ok();
    assert_eq!(check(&ran, "writer")["state"], "note");
    drop(stdin);
    writer.wait().unwrap();
}

/// The write-ahead log with the last commands.
fn wal(place: &Place) -> std::path::PathBuf {
    let entries = fs::read_dir(place.log_dir()).unwrap();
    let logs = entries.map(|entry| entry.unwrap().path());
    let logs = logs.filter(|path| path.extension().is_some_and(|extension| extension == "log"));
    logs.max_by_key(|path| fs::metadata(path).unwrap().len())
        .unwrap()
}

#[test]
fn a_damaged_end_is_removed_only_if_nobody_was_told_of_it() {
    let (place, story) = grown();
    let acknowledged = fs::read(place.log_dir().join("WATERMARK")).unwrap();
    let last = place.run(&["stats", "--json"]).ok().json()["events"].clone();
    let said = root(&place, "log");
    // One more command, in a write-ahead log of its own, is damaged in the middle.
    let push =
        json!({ "pipeline": story.pipeline, "kind": "checkpoint", "summary": "y".repeat(9_000) });
    let before: Vec<_> = fingerprint(&place.log_dir())
        .into_iter()
        .map(|file| file.0)
        .collect();
    place.accept(&[agent("push_frame", push)]);
    let entries = fs::read_dir(place.log_dir()).unwrap();
    let newest = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "log"))
        .find(|path| !before.contains(&path.file_name().unwrap().to_string_lossy().into_owned()));
    let file = newest.unwrap_or_else(|| wal(&place));
    let mut bytes = fs::read(&file).unwrap();
    let at = bytes
        .windows(64)
        .position(|part| part == [b'y'; 64])
        .unwrap();
    bytes[at] ^= 0xff;
    fs::write(&file, bytes).unwrap();

    // It was acknowledged: refused, and nothing is altered.
    let files = fingerprint(&place.log_dir());
    let ran = place.run(&["doctor", "--json"]);
    assert_eq!(ran.status, 3);
    assert!(
        check(&ran, "end")["remedy"]
            .as_str()
            .unwrap()
            .contains("backup"),
        "{ran:?}"
    );
    let refused = place.run(&["doctor", "--truncate-tail", "--json"]);
    assert_eq!(
        (refused.status, refused.error_code().as_str()),
        (3, "acknowledged_lost")
    );
    assert_eq!(fingerprint(&place.log_dir()), files);

    // It was not: removed.
    fs::write(place.log_dir().join("WATERMARK"), acknowledged).unwrap();
    let ran = place.run(&["doctor", "--json"]);
    assert_eq!(ran.status, 3);
    assert!(
        check(&ran, "end")["remedy"]
            .as_str()
            .unwrap()
            .contains("--truncate-tail"),
        "{ran:?}"
    );
    place.run(&["apply", "/dev/null"]).fails(3, &["corrupt"]);
    let done = place
        .run(&["doctor", "--truncate-tail", "--json"])
        .ok()
        .json();
    assert_eq!((&done["removed"], &done["position"]), (&json!(true), &last));
    assert!(Path::new(done["aside"].as_str().unwrap()).is_dir());
    place.run(&["apply", "/dev/null"]).fails(0, &["no command"]);
    assert_eq!(root(&place, "log"), said);
    place.run(&["doctor"]).ok();
    let again = place.run(&["doctor", "--truncate-tail"]).ok().stdout;
    assert!(again.contains("nothing was removed"), "{again}");
}

#[test]
fn content_is_printed_by_its_digest_or_its_object() {
    let (place, story) = grown();
    let diff = place.run(&["show", &story.patch_set, "--diff"]).ok().stdout;
    let shown = place.run(&["show", &story.patch_set, "--json"]).ok().json();
    let artifact = &shown["artifact"];
    let (hash, key) = (
        artifact["hash"].as_str().unwrap(),
        artifact["key"].as_str().unwrap(),
    );
    assert_eq!((artifact["store"].as_str(), hash), (Some("annals"), key));
    let digest = Digest::of(diff.as_bytes()).to_string();
    assert_eq!(hash, digest);
    let forms = [
        digest.clone(),
        digest.to_uppercase(),
        format!("sha256:{digest}"),
        format!("sha256:{}", &digest[..8]),
        digest[..8].to_owned(),
        digest[..20].to_owned(),
        story.patch_set.clone(),
        story.patch_set[story.patch_set.len() - 8..].to_owned(),
    ];
    for form in &forms {
        assert_eq!(place.run(&["cat", form]).ok().stdout, diff, "{form}");
    }
    place.run(&["cat", &digest, "--out", "diff.txt"]).ok();
    assert_eq!(fs::read_to_string(place.path("diff.txt")).unwrap(), diff);
    let described = place.run(&["cat", &digest, "--json"]).ok().json();
    assert_eq!(described["size"], diff.len());
    assert_eq!(described["text"], diff);

    let none = Digest::of(b"nothing of the log").to_string();
    for (what, says) in [
        (none.as_str(), "no content has this digest"),
        (&none[..12], "neither a digest"),
        (
            &format!("sha256:{}", &none[..12]),
            "begins with these digits",
        ),
        ("sha256:12", "64 hex digits"),
        ("1234567", "neither a digest"),
        ("no such thing", "neither a digest"),
        (&story.task, "none over 4 KiB"),
    ] {
        place.run(&["cat", what]).fails(1, &[says]);
    }
    // The pipeline's two frames share one content.
    assert_eq!(
        place.run(&["cat", &story.pipeline]).ok().stdout,
        "x".repeat(5_000)
    );
    let push =
        json!({ "pipeline": story.pipeline, "kind": "checkpoint", "summary": "z".repeat(6_000) });
    place.accept(&[agent("push_frame", push)]);
    let other = Digest::of("z".repeat(6_000).as_bytes()).to_string();
    place
        .run(&["cat", &story.pipeline])
        .fails(1, &["2 contents", &other]);
}

#[test]
fn stats_say_what_is_saved() {
    let (place, _) = grown();
    let stats = place.run(&["stats", "--content", "--json"]).ok().json();
    let stored = stats["blob_bytes"].as_u64().unwrap();
    assert_eq!(stats["blobs"], 2);
    // The diff once, and the frame's text twice.
    assert_eq!(
        stats["content"],
        json!({ "pieces": 3, "bytes": stored + 5_000 })
    );
    assert!(stats.get("types").is_none());
    let saved = 5_000 * 100 / (stored + 5_000);
    let text = place.run(&["stats", "--content"]).ok().stdout;
    assert!(text.contains("referred to 3 times"), "{text}");
    assert!(text.contains(&format!("{saved} % saved")), "{text}");
    let plain = place.run(&["stats", "--json"]).ok().json();
    assert!(plain.get("content").is_none());
}
