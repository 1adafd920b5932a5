//! Checkpoints, keys and proofs, from outside.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Place, Ran, Story, human, story, uuid};

/// A log with a history, a key, and a signed checkpoint of it.
fn place() -> (Place, Story) {
    let place = Place::with_log();
    let story = story(&place);
    place.run(&["key", "generate", "log.key"]).ok();
    place
        .run(&["checkpoint", "--key", "log.key", "--out", "cp"])
        .ok();
    (place, story)
}

fn more(place: &Place, n: u64) {
    let create = human("create_intent", json!({ "id": uuid(n), "prompt": "more" }));
    place.accept(&[create]);
}

fn size(place: &Place, name: &str) -> u64 {
    let note = fs::read_to_string(place.path(name)).unwrap();
    note.lines().nth(1).unwrap().parse().unwrap()
}

/// The same command, on a folder that has no log.
fn offline(place: &Place, args: &[&str]) -> Ran {
    place.run(&[&["--log", "nowhere"], args].concat())
}

#[test]
fn keys_are_made_once_and_kept_private() {
    let place = Place::empty();
    let made = place.run(&["key", "generate", "log.key"]).ok().stdout;
    assert!(made.starts_with("log+"), "{made}");
    assert_eq!(fs::read_to_string(place.path("log.key.pub")).unwrap(), made);
    let mode = fs::metadata(place.path("log.key")).unwrap().permissions();
    assert_eq!(mode.mode() & 0o777, 0o600);
    assert_eq!(place.run(&["key", "show", "log.key"]).ok().stdout, made);
    let shown = place.run(&["key", "show", "log.key", "--json"]).ok().json();
    assert_eq!(shown["public_key"], made.trim());

    let private = fs::read(place.path("log.key")).unwrap();
    let again = place.run(&["key", "generate", "log.key"]);
    again.fails(1, &["log.key is there already", "never overwritten"]);
    fs::remove_file(place.path("log.key")).unwrap();
    let again = place.run(&["key", "generate", "log.key"]);
    again.fails(1, &["log.key.pub is there already"]);
    assert!(!place.path("log.key").exists(), "no half of a pair is left");
    fs::write(place.path("log.key"), private).unwrap();

    let named = ["key", "generate", "w.key", "--name", "example.org/witness"];
    let made = place.run(&named).ok().stdout;
    assert!(made.starts_with("example.org/witness+"), "{made}");
    let bad = ["key", "generate", "x.key", "--name", "two words"];
    place.run(&bad).fails(1, &["two words", "without spaces"]);
    assert!(!place.path("x.key").exists());
    place
        .run(&["key", "show", "log.key.pub"])
        .fails(1, &["not a private key"]);
    place.run(&["key", "show", "none"]).fails(1, &["none"]);
}

#[test]
fn a_checkpoint_is_checked_against_the_log_that_grew() {
    let (place, _) = place();
    let first = size(&place, "cp");
    assert!(first > 10);
    more(&place, 1);
    let args = ["verify", "--checkpoint", "cp", "--key", "log.key.pub"];
    let ran = place.run(&args).ok();
    assert!(ran.stdout.contains("sound: "), "{ran:?}");
    assert!(ran.stdout.contains("signed by log+"), "{ran:?}");
    let all = place.run(&[&args[..], &["--json"]].concat()).ok().json();
    assert_eq!(
        (&all["ok"], &all["records"]),
        (&json!(true), &json!(first + 1))
    );
    let checkpoint = &all["checkpoint"];
    assert_eq!(
        (&checkpoint["size"], &checkpoint["fits"]),
        (&json!(first), &json!(true))
    );
    let checked = checkpoint["signatures_checked"].as_array();
    assert_eq!(checked.unwrap().len(), 1);

    let since = place.run(&["verify", "--since", "cp"]).ok();
    assert!(since.stdout.contains("sound: 1 record since"), "{since:?}");
    assert!(
        since.stdout.contains("NO SIGNATURE WAS CHECKED"),
        "{since:?}"
    );
    let since = place
        .run(&["verify", "--since", "cp", "--json"])
        .ok()
        .json();
    assert_eq!((&since["ok"], &since["records"]), (&json!(true), &json!(1)));
    let both = ["verify", "--since", "cp", "--checkpoint", "cp", "--json"];
    let both = place.run(&both).ok().json();
    assert_eq!(both["checkpoint"]["fits"], true);

    place.run(&["key", "generate", "other.key"]).ok();
    let args = ["verify", "--checkpoint", "cp", "--key", "other.key.pub"];
    place.run(&args).fails(3, &["not signed by other+"]);
    place
        .run(&["verify", "--key", "other.key.pub"])
        .fails(2, &["--checkpoint"]);
    let at = place
        .run(&["checkpoint", "--at", "3", "--json"])
        .ok()
        .json();
    assert_eq!(at["size"], 3);
    assert!(at["note"].as_str().unwrap().contains("\n3\n"));
    place
        .run(&["checkpoint", "--at", "1000"])
        .fails(1, &["position 1000 is not there yet"]);
}

#[test]
fn a_log_that_lost_its_end_does_not_fit() {
    let (place, _) = place();
    place.run(&["backup", "earlier"]).ok();
    more(&place, 1);
    place
        .run(&["checkpoint", "--key", "log.key", "--out", "cp"])
        .ok();
    let newest = size(&place, "cp");
    let earlier = |args: &[&str]| place.run(&[&["--log", "earlier"], args].concat());
    let ran = earlier(&["verify", "--checkpoint", "cp"]).fails(3, &["lost its end"]);
    assert!(!ran.stdout.contains("sound"), "{ran:?}");
    assert!(
        ran.stdout.contains("NOT THE LOG OF THE CHECKPOINT: "),
        "{ran:?}"
    );
    let ran = earlier(&["verify", "--checkpoint", "cp", "--json"]).fails(3, &[]);
    assert_eq!(ran.error_code(), "does_not_fit");
    let all = ran.json();
    assert_eq!(
        (&all["ok"], &all["total_findings"]),
        (&json!(false), &json!(0))
    );
    assert_eq!(all["checkpoint"]["fits"], false);
    let mismatch = all["checkpoint"]["misfit"].as_str().unwrap();
    assert!(mismatch.contains("lost its end"), "{mismatch}");
    let ran = earlier(&["verify", "--since", "cp", "--json"]).fails(3, &[]);
    assert_eq!(ran.error_code(), "does_not_fit");
    // And it does not get into the file where the newest one is kept.
    earlier(&["checkpoint", "--key", "log.key", "--out", "cp"]).fails(3, &["lost its end"]);
    earlier(&["checkpoint", "--follow", "--key", "log.key", "--out", "cp"])
        .fails(3, &["lost its end"]);
    assert_eq!(size(&place, "cp"), newest);
    earlier(&["prove", "1", "--checkpoint", "cp"]).fails(3, &["lost its end"]);
    // A log of its own is another log.
    let other = Place::with_log();
    fs::copy(place.path("cp"), other.path("cp")).unwrap();
    other
        .run(&["verify", "--checkpoint", "cp"])
        .fails(3, &["different logs"]);
}

#[test]
fn checkpoints_stay_outside_the_log() {
    let (place, _) = place();
    let inside = place.run(&["checkpoint", "--out", "log/cp"]);
    inside.fails(1, &["inside the log", "elsewhere"]);
    let inside = place.run(&["checkpoint", "--follow", "--out", "log/cp"]);
    inside.fails(1, &["inside the log"]);
    let inside = place.run(&["prove", "1", "--out", "log/p"]);
    inside.fails(1, &["inside the log"]);
    fs::write(place.path("notes"), "mine").unwrap();
    let other = place.run(&["checkpoint", "--out", "notes"]);
    other.fails(1, &["notes", "not a checkpoint"]);
    assert_eq!(fs::read(place.path("notes")).unwrap(), b"mine");
    place.run(&["verify"]).ok();
}

#[test]
fn an_object_is_proved_without_the_log() {
    let (place, story) = place();
    let prove = |args: &[&str]| place.run(&[&["prove", "--checkpoint", "cp"], args].concat());
    prove(&[&story.run, "--out", "run.json"]).ok();
    more(&place, 1);
    let args = ["verify", "--proof", "run.json", "--checkpoint", "cp"];
    let with_key = [&args[..], &["--key", "log.key.pub"]].concat();
    let ran = offline(&place, &with_key).ok();
    assert!(ran.stdout.starts_with("proved: "), "{ran:?}");
    for text in ["signed by log+", "; -v lists them"] {
        assert!(ran.stdout.contains(text), "{text} is not in {}", ran.stdout);
    }
    assert!(!ran.stdout.contains("run.created"), "{ran:?}");
    let listed = offline(&place, &[&with_key[..], &["--verbose"]].concat()).stdout;
    for text in ["run.created", "run.decision_made"] {
        assert!(listed.contains(text), "{text} is not in {listed}");
    }
    assert!(!ran.stdout.contains("NO SIGNATURE"), "{ran:?}");
    let unchecked = offline(&place, &args).ok();
    assert!(unchecked.stdout.contains("NO SIGNATURE WAS CHECKED"));
    assert!(
        unchecked.stdout.contains("was not checked"),
        "{unchecked:?}"
    );
    let checked = offline(&place, &[&args[..], &["--json"]].concat())
        .ok()
        .json();
    let history = place.run(&["history", &story.run, "--json"]).ok().lines();
    let positions = |values: &[Value]| -> Vec<u64> {
        values
            .iter()
            .map(|v| v["position"].as_u64().unwrap())
            .collect()
    };
    let events = checked["events"].as_array().unwrap();
    assert_eq!(positions(events), positions(&history));
    assert_eq!(checked["object"]["id"], story.run);
    assert!(events[0]["event"].is_object());

    // A part of the run, by the last digits of its id: the same way.
    let digits = &story.patch_set[24..];
    fs::write(place.path("part.json"), prove(&[digits]).ok().stdout).unwrap();
    let args = ["verify", "--proof", "part.json", "--checkpoint", "cp"];
    assert!(offline(&place, &args).ok().stdout.contains("of patch_set"));
    prove(&[digits, "--headers-only"]).fails(1, &["leave --headers-only away"]);

    prove(&[&story.intent, "--headers-only", "--out", "bare.json"]).ok();
    let bare = fs::read_to_string(place.path("bare.json")).unwrap();
    assert!(!bare.contains("\"record\""), "{bare}");
    let args = ["verify", "--proof", "bare.json", "--checkpoint", "cp"];
    let ran = offline(&place, &args).ok();
    assert!(ran.stdout.contains("by the header only"), "{ran:?}");
    let listed = offline(&place, &[&args[..], &["--verbose"]].concat());
    assert!(listed.stdout.contains("(header only)"), "{listed:?}");
}

#[test]
fn an_event_is_proved_by_its_position_or_its_id() {
    let (place, story) = place();
    let log = place.run(&["log", "--json"]).ok().lines();
    let event = log[4]["event_id"].as_str().unwrap();
    let by_id = place.run(&["prove", event]).ok().stdout;
    let by_position = place.run(&["prove", "5"]).ok().stdout;
    assert_eq!(by_id, by_position);
    let proof: Value = serde_json::from_str(&by_id).unwrap();
    assert_eq!(proof["events"][0]["position"], 5);

    place.run(&["prove", "0"]).fails(1, &["no position 0"]);
    place.run(&["prove", "999"]).fails(1, &["not there yet"]);
    place
        .run(&["prove", "6", "--at", "5"])
        .fails(1, &["not there yet"]);
    place
        .run(&["prove", &uuid(99)])
        .fails(1, &["there is no object"]);
    place.run(&["prove"]).fails(2, &[]);
    // The intent begins with the log: nothing of the run is there yet.
    place
        .run(&["prove", &story.run, "--at", "2"])
        .fails(1, &["nothing of run"]);

    // For an earlier log, with that log's checkpoint and no other.
    place.run(&["prove", "2", "--at", "3", "--out", "p"]).ok();
    place
        .run(&["checkpoint", "--at", "3", "--out", "third"])
        .ok();
    offline(&place, &["verify", "--proof", "p", "--checkpoint", "third"]).ok();
    offline(&place, &["verify", "--proof", "p", "--checkpoint", "cp"])
        .fails(3, &["for a log of 3 records"]);
}

#[test]
fn growth_is_proved_without_the_log() {
    let (place, _) = place();
    fs::copy(place.path("cp"), place.path("old")).unwrap();
    more(&place, 1);
    more(&place, 2);
    place
        .run(&["checkpoint", "--key", "log.key", "--out", "cp"])
        .ok();
    place
        .run(&[
            "prove",
            "--since",
            "old",
            "--checkpoint",
            "cp",
            "--out",
            "grown",
        ])
        .ok();
    let args = ["verify", "--proof", "grown", "--checkpoint", "cp"];
    let ran = offline(&place, &args).ok();
    assert!(ran.stdout.contains("has only grown"), "{ran:?}");
    let with_old = [&args[..], &["--since", "old", "--key", "log.key.pub"]].concat();
    let ran = offline(&place, &with_old).ok();
    assert!(ran.stdout.contains("the checkpoint of --since"), "{ran:?}");
    let other = [&args[..], &["--since", "cp"]].concat();
    offline(&place, &other).fails(3, &["the checkpoint of --since is of"]);
    place
        .run(&["prove", "--since", "cp", "--checkpoint", "old"])
        .fails(1, &["the other way round"]);
}

#[test]
fn a_changed_proof_fails() {
    let (place, story) = place();
    let made = place
        .run(&["prove", &story.intent, "--checkpoint", "cp"])
        .ok();
    let whole = made.json();
    let verify = |proof: &[u8]| {
        fs::write(place.path("p"), proof).unwrap();
        offline(&place, &["verify", "--proof", "p", "--checkpoint", "cp"])
    };
    verify(made.stdout.as_bytes()).ok();
    let mut less = whole.clone();
    less["events"][0]["position"] = json!(2);
    verify(less.to_string().as_bytes()).fails(3, &["the proof does not hold", "event 2"]);
    let mut other = whole.clone();
    other["object"]["id"] = json!(uuid(7));
    verify(other.to_string().as_bytes()).fails(3, &["the proof does not hold"]);
    let mut other = whole.clone();
    other["origin"] = json!("annals/other");
    verify(other.to_string().as_bytes()).fails(3, &["different logs"]);
    let mut other = whole.clone();
    other["annals_proof"] = json!(9);
    verify(other.to_string().as_bytes()).fails(1, &["version 9"]);
    let mut other = whole;
    other["extra"] = json!(1);
    verify(other.to_string().as_bytes()).fails(1, &["unknown field"]);
    for bad in [&b""[..], b"\0\xff\xfe", b"{", b"[1,2"] {
        verify(bad).fails(1, &["this is not a proof"]);
    }
    verify(&[b' '; 1_000_000]).fails(1, &["this is not a proof"]);

    let checkpoint = |bytes: &[u8]| {
        fs::write(place.path("bad"), bytes).unwrap();
        place.run(&["verify", "--checkpoint", "bad"])
    };
    for bad in [&b""[..], b"\0\xff\xfe", b"annals/x\n", b"a\n1\n2\n"] {
        checkpoint(bad).fails(1, &["this is not a checkpoint"]);
    }
    checkpoint(&vec![b'x'; 3_000_000]).fails(1, &["expected at most 1000000 bytes"]);
    place
        .run(&["verify", "--checkpoint", "none"])
        .fails(1, &["none"]);
    place
        .run(&["verify", "--checkpoint", "log"])
        .fails(1, &["log"]);
    place
        .run(&["verify", "--proof", "p"])
        .fails(2, &["--checkpoint"]);
    let key = ["verify", "--checkpoint", "cp", "--key", "log.key"];
    place.run(&key).fails(1, &["this is a private key"]);
}

#[test]
fn a_witness_signs_what_has_only_grown() {
    let (place, _) = place();
    place
        .run(&["key", "generate", "w.key", "--name", "witness"])
        .ok();
    fs::copy(place.path("cp"), place.path("old")).unwrap();
    more(&place, 1);
    place
        .run(&["checkpoint", "--key", "log.key", "--out", "cp"])
        .ok();
    let args = [
        "checkpoint",
        "sign",
        "cp",
        "--key",
        "w.key",
        "--since",
        "old",
    ];
    let printed = place.run(&args).ok().stdout;
    place.run(&[&args[..], &["--out", "cp"]].concat()).ok();
    assert_eq!(fs::read_to_string(place.path("cp")).unwrap(), printed);
    let both = ["--key", "w.key.pub", "--key", "log.key.pub"];
    place
        .run(&[&["verify", "--checkpoint", "cp"], &both[..]].concat())
        .ok();
    // The other way round the log has not grown.
    let args = [
        "checkpoint",
        "sign",
        "old",
        "--key",
        "w.key",
        "--since",
        "cp",
    ];
    place.run(&args).fails(1, &["the other way round"]);
    // A checkpoint of a history that this log does not have.
    let forged = printed.replacen("annals/", "annals/x", 1);
    fs::write(place.path("forged"), forged).unwrap();
    let args = [
        "checkpoint",
        "sign",
        "forged",
        "--key",
        "w.key",
        "--since",
        "old",
    ];
    place.run(&args).fails(3, &["different logs"]);
    let args = ["checkpoint", "sign", "cp", "--key", "w.key", "--out", "old"];
    place
        .run(&args)
        .fails(1, &["something else than this checkpoint"]);
    // Without --since no log is needed.
    offline(&place, &["checkpoint", "sign", "old", "--key", "w.key"]).ok();
}

#[test]
fn signatures_that_are_there_stay() {
    let (place, _) = place();
    for name in ["one", "two"] {
        let key = format!("{name}.key");
        place.run(&["key", "generate", &key]).ok();
        place
            .run(&["checkpoint", "sign", "cp", "--key", &key, "--out", "all"])
            .ok();
    }
    let keys = ["log.key.pub", "one.key.pub", "two.key.pub"].map(|file| ["--key", file]);
    place
        .run(&[&["verify", "--since", "all"], &keys.concat()[..]].concat())
        .ok();
    // A signed checkpoint is not replaced by one without signatures.
    place.run(&["checkpoint", "--out", "cp"]).ok();
    more(&place, 1);
    let before = fs::read(place.path("cp")).unwrap();
    place
        .run(&["checkpoint", "--out", "cp"])
        .fails(1, &["cp has a signed checkpoint", "sign with --key"]);
    place
        .run(&["checkpoint", "--follow", "--out", "cp"])
        .fails(1, &["sign with --key"]);
    assert_eq!(fs::read(place.path("cp")).unwrap(), before);
}

#[test]
fn checkpoints_follow_a_log_that_another_process_writes() {
    let (place, _) = place();
    let first = size(&place, "cp");
    let args = [
        "checkpoint",
        "--follow",
        "--key",
        "log.key",
        "--out",
        "cp",
        "--every",
        "2",
        "--every-seconds",
        "3600",
        "--json",
    ];
    let mut child = place.command(&args).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || -> u64 {
        let line: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        line["size"].as_u64().unwrap()
    };
    assert_eq!(next(), first, "one at once");
    more(&place, 1);
    more(&place, 2);
    assert_eq!(next(), first + 2);
    assert_eq!(size(&place, "cp"), first + 2);
    more(&place, 3);
    let ended = Command::new("kill").arg(child.id().to_string()).status();
    assert!(ended.unwrap().success());
    assert_eq!(next(), first + 3, "a last one");
    assert!(child.wait().unwrap().success());
    let args = ["verify", "--checkpoint", "cp", "--key", "log.key.pub"];
    place.run(&args).ok();
    place.run(&["checkpoint", "--follow"]).fails(2, &["--out"]);
}

/// A file that is not a proof is not overwritten, and no key is put into a log.
#[test]
fn nothing_else_is_written_over_and_no_key_lies_in_a_log() {
    let place = Place::with_log();
    let intent = serde_json::json!({
        "command": "create_intent", "actor": {"kind": "human", "id": "ada"}, "prompt": "x",
    });
    place.accept(std::slice::from_ref(&intent));
    place.run(&["key", "generate", "k"]).ok();
    let key = fs::read(place.path("k")).unwrap();
    place
        .run(&["prove", "1", "--out", "k"])
        .fails(1, &["is not a proof"]);
    assert_eq!(fs::read(place.path("k")).unwrap(), key);
    place.run(&["prove", "1", "--out", "p"]).ok();
    place.run(&["prove", "1", "--out", "p"]).ok();
    place
        .run(&["key", "generate", "log/k"])
        .fails(1, &["is inside the log"]);
    // A log that has lost its end is not a checkpoint that was named the wrong way round.
    place.run(&["backup", "old"]).ok();
    place.accept(&[intent]);
    place.run(&["checkpoint", "--out", "cp"]).ok();
    place
        .run(&["--log", "old", "prove", "--since", "cp"])
        .fails(3, &["lost its end"]);
}

/// An old copy in the place of a log that is followed is not followed instead.
#[test]
fn who_follows_a_log_notices_that_another_is_in_its_place() {
    let (place, _) = place();
    place.run(&["backup", "old"]).ok();
    more(&place, 1);
    let args = [
        "checkpoint",
        "--follow",
        "--key",
        "log.key",
        "--out",
        "cp",
        "--json",
    ];
    let mut child = place.command(&args).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    lines.next().unwrap().unwrap();
    fs::rename(place.log_dir(), place.path("away")).unwrap();
    fs::rename(place.path("old"), place.log_dir()).unwrap();
    let ended = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(1), "{said}");
    assert!(said.contains("moved, removed or replaced"), "{said}");
    place.run(&args).fails(3, &["lost its end"]);
}
