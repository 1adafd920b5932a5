//! The doctor: what is wrong with a log, and what to do.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use annals::event_log::store_support::referenced_blobs;
use annals::event_log::{Blob, Position, Query};
use serde_json::{Value, json};

use crate::support::{Place, Ran, agent, fingerprint, grown, root};

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
        "clock",
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
        for digest in referenced_blobs(&records) {
            blobs.push(Blob::new(
                from.contents().get(digest).await.unwrap().unwrap(),
            ));
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
            .contains("annals log init")
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
            .contains("annals service apply /dev/null")
    );
    place.run(&["apply", "/dev/null"]).fails(0, &["no command"]);
    place.run(&["doctor"]).ok();

    // While another process writes nothing is a problem.
    let mut writer = place
        .command(&["apply"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let push = json!({ "pipeline": story.pipeline, "kind": "checkpoint", "summary": "on" });
    let mut stdin = writer.stdin.take().unwrap();
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
fn wal(place: &Place) -> PathBuf {
    let entries = fs::read_dir(place.log_dir()).unwrap();
    let logs = entries.map(|entry| entry.unwrap().path());
    let logs = logs.filter(|path| path.extension().is_some_and(|extension| extension == "log"));
    logs.max_by_key(|path| fs::metadata(path).unwrap().len())
        .unwrap()
}

#[test]
fn a_damaged_end_is_removed_only_if_it_was_not_acknowledged() {
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

    // WATERMARK is older, as a power cut leaves it; but the rows that the same process wrote behind
    // it are whole, so it was.
    fs::write(place.log_dir().join("WATERMARK"), acknowledged).unwrap();
    let refused = place.run(&["doctor", "--truncate-tail", "--json"]);
    assert_eq!(
        (refused.status, refused.error_code().as_str()),
        (3, "acknowledged_lost")
    );

    // It was not: nothing is behind it. Removed.
    let mut bytes = fs::read(&file).unwrap();
    let mut end = 0;
    while end <= at {
        // A record of the write-ahead log: checksum, length, type, and the write.
        end += 7 + usize::from(u16::from_le_bytes([bytes[end + 4], bytes[end + 5]]));
    }
    bytes.truncate(end);
    fs::write(&file, bytes).unwrap();
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
fn a_read_only_file_system_is_named() {
    let Some(way) = crate::hook_disk::unshare() else {
        return;
    };
    let place = Place::with_log();
    let script = r#"mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$ANNALS" --log "$0" doctor"#;
    let output = std::process::Command::new(way[0])
        .args(&way[1..])
        .args(["sh", "-c", script])
        .arg(place.log_dir())
        .env("ANNALS", env!("CARGO_BIN_EXE_annals"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("mounted read-only"), "{output:?}");
    assert!(!place.run(&["doctor"]).stdout.contains("mounted read-only"));
}

/// A damaged table is damage, and not what an older program left out.
#[test]
fn a_damaged_tree_is_no_older_log() {
    let (place, _) = grown();
    // A copy is made of finished tables, which is where damage can be done.
    place.run(&["backup", "copy"]).ok();
    let of_tree = |path: &Path| {
        let bytes = fs::read(path).unwrap();
        bytes.windows(8).any(|part| part == b"nametree")
    };
    let entries = fs::read_dir(place.path("copy")).unwrap();
    let tables = entries.map(|entry| entry.unwrap().path());
    let mut damaged = 0;
    for table in tables.filter(|path| path.extension().is_some_and(|it| it == "sst")) {
        if of_tree(&table) {
            let mut bytes = fs::read(&table).unwrap();
            for byte in bytes.iter_mut().skip(60).take(3) {
                *byte ^= 0xff;
            }
            fs::remove_file(&table).unwrap();
            fs::write(&table, bytes).unwrap();
            damaged += 1;
        }
    }
    assert!(damaged > 0, "no table has the tree");
    let ran = place.run(&["--log", "copy", "doctor", "--json"]);
    assert_eq!(ran.status, 3, "{ran:?}");
    let tree = check(&ran, "tree");
    assert_eq!(
        (&tree["state"], &tree["corrupt"]),
        (&json!("problem"), &json!(true))
    );
    assert!(
        !tree["what"].as_str().unwrap().contains("older program"),
        "{tree}"
    );
}
