//! Damage ends with 3.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::support::{Place, human, story, uuid};

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_file() {
            fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}

fn create(place: &Place, numbers: std::ops::Range<u64>) {
    let create = |n| human("create_intent", json!({ "id": uuid(n), "prompt": "p" }));
    place.accept(&numbers.map(create).collect::<Vec<_>>());
}

/// Records behind WATERMARK are missing: no writer opens the log, so it is not called sound.
#[test]
fn an_older_copy_over_a_log_fails_its_verification() {
    let place = Place::with_log();
    create(&place, 1..4);
    place.run(&["checkpoint", "--out", "cp"]).ok();
    copy(&place.log_dir(), &place.path("before"));
    create(&place, 4..9);
    create(&place, 9..14);
    place.run(&["checkpoint", "--out", "newer"]).ok();
    copy(&place.path("before"), &place.log_dir());
    let doctor = place.run(&["doctor", "--json"]);
    assert_eq!(doctor.status, 3, "{doctor:?}");
    place.run(&["apply", "/dev/null"]).fails(3, &["corrupt"]);
    let verified = place.run(&["verify", "--json"]);
    assert_eq!(verified.status, 3, "{verified:?}");
    let report = verified.json();
    assert_eq!(report["ok"], false, "{report}");
    let message = report["findings"][0]["message"].as_str().unwrap();
    assert!(
        message.starts_with("behind position 3 the log cannot be read: "),
        "{message}"
    );
    let since = place.run(&["verify", "--since", "cp", "--json"]);
    assert_eq!(since.status, 3, "{since:?}");
    assert_eq!(since.json()["findings"][0]["message"], message);
    let since = place
        .run(&["verify", "--since", "cp"])
        .fails(3, &["backup"]);
    assert!(since.stdout.contains("DAMAGED"), "{since:?}");
    // A checkpoint of what is behind it is not told that the next opening settles that.
    for command in [
        ["verify", "--since", "newer"],
        ["verify", "--checkpoint", "newer"],
        ["checkpoint", "--out", "newer"],
    ] {
        let ran = place.run(&command).fails(3, &[]);
        assert!(!ran.stderr.contains("settles it"), "{ran:?}");
    }
    let text = place.run(&["verify"]).fails(3, &["backup"]);
    assert!(!text.stdout.contains("settles it"), "{text:?}");
    assert!(!text.stderr.contains("makes it durable"), "{text:?}");
}

/// What is behind WATERMARK hangs together: the next writer makes it durable, and nothing is wrong.
#[test]
fn an_older_watermark_is_sound_and_is_said() {
    let place = Place::with_log();
    create(&place, 1..4);
    place.run(&["checkpoint", "--out", "cp"]).ok();
    let before = fs::read(place.log_dir().join("WATERMARK")).unwrap();
    create(&place, 4..9);
    fs::write(place.log_dir().join("WATERMARK"), before).unwrap();
    // Standard error tells what is not shown.
    let report = place
        .run(&["verify", "--json"])
        .fails(0, &["position 8"])
        .json();
    assert_eq!(
        (&report["ok"], &report["position"]),
        (&json!(true), &json!(3))
    );
    assert_eq!(report["unpublished"], 8);
    let since = ["verify", "--since", "cp", "--json"];
    let report = place.run(&since).fails(0, &["position 8"]).json();
    assert_eq!(report["ok"], true, "{report}");
    let text = place.run(&["verify"]).fails(0, &["position 8"]).stdout;
    assert!(text.contains("the files go on to position 8"), "{text}");
    place.run(&["apply", "/dev/null"]).fails(0, &["no command"]);
    let report = place.run(&["verify", "--json"]).ok().json();
    assert_eq!(
        (&report["position"], &report["unpublished"]),
        (&json!(8), &json!(null))
    );
}

/// A killed writer leaves records behind WATERMARK. What counts the log counts what other commands read.
#[test]
fn counts_are_those_of_what_is_read_after_a_killed_writer() {
    const COUNTS: [&str; 4] = ["position", "events", "streams", "batches"];
    let place = Place::with_log();
    create(&place, 1..4);
    let before = place.run(&["log", "stats", "--json"]).ok().json();
    let watermark = fs::read(place.log_dir().join("WATERMARK")).unwrap();
    let long = json!({ "id": uuid(4), "prompt": "p".repeat(5_000) });
    place.accept(&[human("create_intent", long)]);
    fs::write(place.log_dir().join("WATERMARK"), watermark).unwrap();
    let list = place.run(&["object", "list", "intents", "--json"]);
    assert_eq!(list.fails(0, &["position 4"]).stdout.lines().count(), 3);
    let stats = place.run(&["log", "stats", "--json"]);
    let stats = stats.fails(0, &["position 4"]).json();
    for count in COUNTS {
        assert_eq!(stats[count], before[count], "{count}: {stats}");
    }
    let text = place.run(&["log", "stats", "--types", "--content"]);
    let text = text.fails(0, &["position 4"]).stdout;
    assert!(text.contains("intent.submitted"), "{text}");
    let report = place.run(&["proof", "verify", "--json"]);
    let report = report.fails(0, &["position 4"]).json();
    assert_eq!(
        [&report["records"], &report["streams"], &report["batches"]],
        [&before["events"], &before["streams"], &before["batches"]],
        "{report}"
    );
    assert_eq!(report["unreferenced_blobs"], 0, "{report}");
}

#[test]
fn a_damaged_log_fails_its_verification() {
    let place = Place::with_log();
    story(&place);
    // A copy is made of finished tables, which is where damage can be done.
    place.run(&["backup", "copy"]).ok();
    for entry in fs::read_dir(place.path("copy")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name.ends_with(".sst") || name.ends_with(".log") {
            let mut bytes = fs::read(&path).unwrap();
            let middle = bytes.len() / 3;
            for byte in bytes.iter_mut().skip(middle).take(64) {
                *byte ^= 0xff;
            }
            fs::remove_file(&path).unwrap();
            fs::write(&path, bytes).unwrap();
        }
    }
    let ran = place.run(&["--log", "copy", "verify", "--json"]);
    assert_eq!(ran.status, 3, "{ran:?}");
    let code = ran.error_code();
    assert!(
        ["corrupt", "verification_failed"].contains(&code.as_str()),
        "{code}"
    );
    // The log itself is as it was: the files of the copy were replaced.
    place.run(&["verify"]).ok();
}

#[test]
fn a_log_without_its_watermark_is_corrupt() {
    let place = Place::with_log();
    story(&place);
    fs::remove_file(place.log_dir().join("WATERMARK")).unwrap();
    place.run(&["stats"]).fails(3, &["WATERMARK", "corrupt"]);
    assert_eq!(
        place
            .run(&["show", "12345678", "--json"])
            .fails(3, &[])
            .error_code(),
        "corrupt"
    );
}
