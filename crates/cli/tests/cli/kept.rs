//! Reports, outputs and what a snapshot saw: kept in the log, shown, exported, removed.

use annals::event_log::Digest;
use serde_json::{Value, json};

use crate::support::{Place, agent, human, uuid};

const REPORT: &str = "<testsuite tests=\"2\"/>\n";
const SECRET: &str = "hunter2-and-more";

/// A run with a report in two parts, an output and a snapshot of two items.
struct Kept {
    place: Place,
    run: String,
    evidence: String,
    invocation: String,
    snapshot: String,
}

fn kept() -> Kept {
    let place = Place::with_log();
    let [task, run, evidence, invocation, snapshot] = [1, 2, 3, 4, 5].map(uuid);
    place.accept(&[
        human("create_task", json!({ "id": task, "title": "Test it" })),
        agent(
            "open_snapshot",
            json!({ "id": snapshot, "selection_strategy": "explicit", "items": [
                { "kind": "snippet", "path": "design notes", "content": "hi\n" },
                { "kind": "image", "path": "shot.png", "content": { "base64": "iVD/" } },
            ] }),
        ),
        agent("create_run", json!({ "id": run, "task": task })),
        agent(
            "record_tool_invocation",
            json!({ "run": run, "id": invocation, "tool_name": "bash", "status": "ok", "output": [
                { "name": "stdout", "content": format!("the password is {SECRET}\n") },
                { "name": "stderr", "content": REPORT },
            ] }),
        ),
        agent(
            "record_evidence",
            json!({ "run": run, "id": evidence, "kind": "test", "tool": "cargo", "report": [
                { "name": "junit.xml", "content_type": "application/xml", "content": REPORT },
                { "name": "core", "content": { "base64": "AP8A" } },
            ] }),
        ),
    ]);
    Kept {
        place,
        run,
        evidence,
        invocation,
        snapshot,
    }
}

#[test]
fn reports_outputs_and_items_are_kept_once_and_shown_by_cat() {
    let kept = kept();
    let place = &kept.place;
    let digest = Digest::of(REPORT.as_bytes()).to_string();
    let shown = place.run(&["show", &kept.evidence, "--json"]).ok().json();
    let of = &shown["report_artifacts"];
    assert_eq!(
        of[0],
        json!({
            "store": "annals", "key": digest, "hash": digest, "size_bytes": REPORT.len(),
            "content_type": "application/xml; name=\"junit.xml\"", "expires_at": null,
        })
    );
    assert_eq!(
        of[1]["content_type"],
        "application/octet-stream; name=\"core\""
    );
    let cat = |args: &[&str]| place.run(&[&["cat"], args].concat()).ok().stdout;
    assert_eq!(cat(&[&digest]), REPORT);
    assert_eq!(cat(&[&kept.evidence, "--part", "junit.xml"]), REPORT);
    assert_eq!(cat(&[&kept.invocation, "--part", "stderr"]), REPORT);
    assert_eq!(cat(&[&kept.snapshot, "--part", "design notes"]), "hi\n");
    assert_eq!(cat(&[&kept.snapshot, "-p", "0"]), "hi\n");
    let image = cat(&[&kept.snapshot, "--part", "1", "--json"]);
    let image: Value = serde_json::from_str(&image).unwrap();
    assert_eq!(image["hex"], "8950ff");
    place
        .run(&["cat", &kept.evidence])
        .fails(1, &["2 contents", "\"junit.xml\"", &digest, "--part"]);
    place
        .run(&["cat", &kept.evidence, "--part", "none"])
        .fails(1, &["none of this name"]);
    let text = place.run(&["show", &kept.snapshot]).ok().stdout;
    assert!(
        text.contains("content of item 0 design notes: 3 B"),
        "{text}"
    );
    let stats = place.run(&["stats", "--content", "--json"]).ok().json();
    // Six parts and items, two of them the same.
    assert_eq!(
        (&stats["blobs"], &stats["content"]["pieces"]),
        (&json!(5), &json!(6))
    );
    place.run(&["verify"]).ok();
}

#[test]
fn reports_and_outputs_go_out_as_references_with_their_hashes() {
    let kept = kept();
    let ids = [&kept.evidence, &kept.invocation, &kept.snapshot];
    for id in ids {
        let shown = kept.place.run(&["show", id, "--as", "git-internal"]).ok();
        let exported = kept.place.run(&["export", "git-internal", id]).ok();
        assert_eq!(shown.stdout, exported.stdout);
        let other = Place::with_log();
        std::fs::write(other.path("one.json"), &exported.stdout).unwrap();
        other.run(&["import", "git-internal", "one.json"]).ok();
        assert_eq!(
            other.run(&["export", "git-internal"]).ok().stdout,
            exported.stdout
        );
    }
    let evidence = kept.place.run(&["export", "git-internal", &kept.evidence]);
    let evidence = evidence.ok().json();
    let hash = Digest::of(REPORT.as_bytes()).to_string();
    assert_eq!(evidence["report_artifacts"][0]["hash"], hash);
    let snapshot = kept.place.run(&["export", "git-internal", &kept.snapshot]);
    let snapshot = snapshot.ok().json();
    let blob: Vec<u8> =
        serde_json::from_value(snapshot["items"][0]["blob"]["Sha1"].clone()).unwrap();
    // `git hash-object` of "hi\n".
    assert_eq!(
        hex::encode(blob),
        "45b983be36b73c0788dc9cbcb76cbb80fc7bb057"
    );
}

#[test]
fn reports_outputs_and_items_are_redacted_by_event_and_by_pattern() {
    let kept = kept();
    let place = &kept.place;
    let redact = |args: &[&str]| {
        let all = [&["redact", "--reason", "leaked", "--json"], args].concat();
        place.run(&all).ok().json()
    };
    let report = redact(&["--pattern", SECRET]);
    assert_eq!(report["events"].as_array().unwrap().len(), 1);
    place
        .run(&["cat", &kept.invocation, "--part", "stdout"])
        .fails(1, &["removed for good"]);
    let text = place.run(&["show", &kept.invocation]).ok().stdout;
    assert!(text.contains("content of stdout: it was removed"), "{text}");
    // The evidence still refers to what both had.
    let digest = Digest::of(REPORT.as_bytes()).to_string();
    let position = |id: &str| {
        let history = place.run(&["history", id, "--json"]).ok();
        history.lines()[0]["position"].as_u64().unwrap().to_string()
    };
    redact(&[&position(&kept.invocation)]);
    assert_eq!(place.run(&["cat", &digest]).ok().stdout, REPORT);
    redact(&[&position(&kept.evidence)]);
    place
        .run(&["cat", &digest])
        .fails(1, &["no content has this digest"]);
    // Opened, and then the first item.
    let item: u64 = position(&kept.snapshot).parse().unwrap();
    redact(&[&(item + 1).to_string()]);
    place
        .run(&["cat", &kept.snapshot, "--part", "0"])
        .fails(1, &["removed for good"]);
    place.run(&["verify"]).ok();
    place.run(&["show", &kept.run]).ok();
}

#[test]
fn what_is_given_twice_or_not_as_it_says_is_refused() {
    let kept = kept();
    let refused = |name: &str, fields: Value, says: &str| {
        let answer = &kept.place.apply(&[agent(name, fields)])[0];
        assert_eq!(answer["ok"], false, "{answer}");
        assert!(answer.to_string().contains(says), "{answer}");
    };
    let item = |content: &str, blob: &str| {
        json!({ "selection_strategy": "explicit",
                "items": [{ "kind": "file", "path": "a", "content": content, "blob": blob }] })
    };
    let blob = "45b983be36b73c0788dc9cbcb76cbb80fc7bb057";
    refused("open_snapshot", item("other", blob), blob);
    kept.place
        .accept(&[agent("open_snapshot", item("hi\n", blob))]);
    let two = json!({ "name": "a", "content": "x" });
    let report = json!({ "run": kept.run, "kind": "test", "tool": "t", "report": [two, two] });
    refused("record_evidence", report, "two parts have the name");
}

#[test]
fn the_schema_of_the_commands_has_what_is_kept() {
    let place = Place::empty();
    for (command, field) in [
        ("record_evidence", "report"),
        ("record_tool_invocation", "output"),
        ("open_snapshot", "items"),
        ("add_item", "item"),
    ] {
        let schema = place.run(&["commands", command, "--json"]).ok().json();
        assert!(schema["properties"][field].is_object(), "{schema}");
        let text = schema.to_string();
        assert!(text.contains("base64"), "{command}: {text}");
    }
}
