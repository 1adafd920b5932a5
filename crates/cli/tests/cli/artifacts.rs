//! Artifacts: whether they are what their references say, and which have expired.

use std::fs;
use std::process::Command;

use annals::event_log::Digest;
use serde_json::{Value, json};

use crate::support::{Place, agent, human, uuid};

/// A run, in which evidence can be recorded.
fn place_with_run() -> Place {
    let place = Place::with_log();
    place.accept(&[
        human("create_task", json!({ "id": uuid(1), "title": "Test it" })),
        agent("create_run", json!({ "id": uuid(2), "task": uuid(1) })),
    ]);
    place
}

fn evidence(n: u64, more: Value) -> Value {
    let mut fields = json!({ "run": uuid(2), "id": uuid(n), "kind": "test", "tool": "cargo" });
    let Value::Object(more) = more else {
        panic!("fields are an object")
    };
    fields.as_object_mut().unwrap().extend(more);
    agent("record_evidence", fields)
}

fn reference(store: &str, key: &str, content: &str) -> Value {
    let hash = Digest::of(content.as_bytes()).to_string();
    json!({ "store": store, "key": key, "size_bytes": content.len(), "hash": hash })
}

#[test]
fn expired_artifacts_are_marked_as_of_when_one_looks() {
    let place = place_with_run();
    let artifact = |key: &str, expires_at: &str| json!({ "store": "s3", "key": key, "expires_at": expires_at });
    let artifacts = [
        artifact("old", "2020-01-02T03:04:05Z"),
        artifact("young", "2999-01-01T00:00:00Z"),
        json!({ "store": "s3", "key": "for ever" }),
    ];
    let ids = place.accept(&[evidence(3, json!({ "report_artifacts": artifacts }))]);
    let shown = place.run(&["show", &ids[0], "--json"]).ok().json();
    let expected = json!([{ "field": "report_artifacts[0]", "store": "s3", "key": "old",
                            "expired_at": "2020-01-02T03:04:05Z" }]);
    assert_eq!(shown["expired"], expected);
    let text = place.run(&["show", &ids[0]]).ok().stdout;
    let line = "expired: report_artifacts[0] (s3 old) on 2020-01-02 03:04:05Z";
    assert!(text.contains(line), "{text}");
    assert!(!text.contains("young) on"), "{text}");
    // The far future is a moment like any other, and then the second one is gone, too.
    let later = place
        .run(&["show", &ids[0], "--at", "2999-01-01T00:00:00Z", "--json"])
        .ok()
        .json();
    assert_eq!(later["expired"].as_array().unwrap().len(), 2);
    // When it was recorded, the first one had expired already.
    let recorded = place.run(&["stats", "--json"]).ok().json()["events"].to_string();
    let then = place
        .run(&["show", &ids[0], "--at", &recorded, "--json"])
        .ok()
        .json();
    assert_eq!(then["expired"], expected);
    // By the callers' clocks it was there before its artifact expired.
    let mut early = evidence(
        4,
        json!({ "report_artifacts": [artifact("old", "2020-01-02T03:04:05Z")] }),
    );
    early["at"] = json!("2020-01-01T00:00:00Z");
    let ids = place.accept(&[early]);
    let before = place.run(&[
        "show",
        &ids[0],
        "--at",
        "occurred:2020-01-02T00:00:00Z",
        "--json",
    ]);
    assert!(before.ok().json().get("expired").is_none());
    // git-internal has no such field.
    let exported = place.run(&["export", "git-internal", &ids[0]]).ok().json();
    assert!(exported.get("expired").is_none());
}

#[test]
fn artifacts_are_verified_broken_or_unknown() {
    let place = place_with_run();
    let repo = place.path("repo");
    let git = |args: &[&str]| {
        let out = Command::new("git")
            .args(args)
            .current_dir(&repo)
            .output()
            .unwrap();
        assert!(out.status.success(), "{out:?}");
        String::from_utf8(out.stdout).unwrap().trim().to_owned()
    };
    fs::create_dir(&repo).unwrap();
    git(&["init", "-q"]);
    fs::write(repo.join("page"), "page\n").unwrap();
    let page = git(&["hash-object", "-w", "page"]);
    fs::write(place.path("good.log"), "good").unwrap();
    fs::write(place.path("changed.log"), "other").unwrap();
    let url = format!("file://{}", place.path("good.log").display());
    let artifacts = [
        reference("file", "good.log", "good"),
        reference("local", &url, "good"),
        json!({ "store": "file", "key": "good.log" }),
        reference("path", "missing.log", "good"),
        reference("s3", "good.log", "good"),
        reference("git", &page, "page\n"),
        json!({ "store": "git", "key": page }),
    ];
    place.accept(&[
        evidence(3, json!({ "report_artifacts": artifacts, "report": [{ "name": "a", "content": "kept" }] })),
        agent("open_snapshot", json!({ "id": uuid(5), "selection_strategy": "explicit", "items": [
            { "kind": "url", "path": "page", "blob": page },
            { "kind": "snippet", "path": "note", "content": "note" },
            { "kind": "file", "path": "gone", "blob": "1".repeat(40) },
        ] })),
    ]);
    let counts = |report: &Value| {
        ["verified", "broken", "unknown"].map(|name| report[name].as_u64().unwrap())
    };
    let verify = |args: &[&str]| {
        let all = [&["verify", "--artifacts", "--json"], args].concat();
        place.run(&all)
    };
    // Without the repository its four blobs are unknown.
    assert_eq!(counts(&verify(&[]).ok().json()), [4, 0, 7]);
    let report = verify(&["--repo", "repo"]).ok().json();
    assert_eq!(counts(&report), [7, 0, 4], "{report}");
    assert_eq!(report["ok"], true);
    let unknown = report["unknown_artifacts"].to_string();
    for reason in ["has no hash", "missing.log", "s3", "has no such blob"] {
        assert!(unknown.contains(reason), "{reason}: {unknown}");
    }
    place.accept(&[evidence(
        4,
        json!({ "report_artifacts": [
        reference("file", "changed.log", "good"),
        reference("git", &page, "page?"),
    ] }),
    )]);
    let ran = verify(&["--repo", "repo"]);
    assert_eq!(
        (ran.status, ran.error_code().as_str()),
        (3, "verification_failed")
    );
    let report = ran.json();
    assert_eq!((counts(&report), &report["ok"]), ([7, 2, 4], &json!(false)));
    let broken = &report["broken_artifacts"][0];
    assert_eq!(
        (&broken["object_id"], &broken["field"], &broken["reason"]),
        (
            &json!(uuid(4)),
            &json!("report_artifacts[0]"),
            &json!("expected 4 bytes, found 5")
        )
    );
    let text = place.run(&["verify", "--artifacts", "--repo", "repo"]);
    assert!(
        text.stdout
            .contains("BROKEN: evidence 00000004 report_artifacts[0], file changed.log"),
        "{text:?}"
    );
    assert!(
        text.stdout
            .contains("13 artifacts: 7 verified, 2 broken, 4 unknown; 0 expired"),
        "{text:?}"
    );
    text.fails(3, &["verification failed: 2 findings"]);
    fs::create_dir(place.path("elsewhere")).unwrap();
    let report = verify(&["--files", "elsewhere"]).ok().json();
    assert_eq!(report["broken"], 0);
    place
        .run(&["verify", "--repo", "repo"])
        .fails(2, &["--artifacts"]);
}

#[test]
fn a_damaged_object_is_named_and_the_others_are_verified() {
    let place = place_with_run();
    let repo = place.path("repo");
    fs::create_dir(&repo).unwrap();
    let git = |args: &[&str]| {
        let out = Command::new("git").args(args).current_dir(&repo).output();
        let out = out.unwrap();
        assert!(out.status.success(), "{out:?}");
        String::from_utf8(out.stdout).unwrap().trim().to_owned()
    };
    git(&["init", "-q"]);
    let write = |text: &str| {
        fs::write(repo.join("file"), text).unwrap();
        git(&["hash-object", "-w", "file"])
    };
    let blobs = [
        write("one\n"),
        write("two\n"),
        write("three\n"),
        write("four\n"),
    ];
    let object = |blob: &str| repo.join(".git/objects").join(&blob[..2]).join(&blob[2..]);
    // Cut off, no object at all, and another one.
    let cut = fs::read(object(&blobs[0])).unwrap();
    for (blob, bytes) in [
        (&blobs[0], cut[..cut.len() / 2].to_vec()),
        (&blobs[1], b"nothing".to_vec()),
        (&blobs[2], fs::read(object(&blobs[3])).unwrap()),
    ] {
        fs::remove_file(object(blob)).unwrap();
        fs::write(object(blob), bytes).unwrap();
    }
    let items = blobs
        .each_ref()
        .map(|blob| json!({ "kind": "file", "path": blob, "blob": blob }));
    place.accept(&[
        agent(
            "open_snapshot",
            json!({ "id": uuid(5), "selection_strategy": "explicit", "items": items }),
        ),
        evidence(
            6,
            json!({ "report_artifacts": [reference("git", &blobs[0], "one\n")] }),
        ),
        evidence(
            7,
            json!({ "report_artifacts": [reference("git", &blobs[3], "four\n")] }),
        ),
    ]);
    let ran = place.run(&["verify", "--artifacts", "--repo", "repo", "--json"]);
    assert_eq!(ran.error_code(), "verification_failed");
    let report = ran.json();
    assert_eq!(
        (&report["verified"], &report["broken"]),
        (&json!(2), &json!(4)),
        "{report}"
    );
    let reasons = report["broken_artifacts"].as_array().unwrap().iter();
    let reasons: Vec<&str> = reasons.map(|it| it["reason"].as_str().unwrap()).collect();
    let damaged = "the repository's object is damaged; look with `git fsck`";
    let other = format!("expected the blob {}, found {}", blobs[2], blobs[3]);
    assert_eq!(reasons[1..3], [damaged, &other]);
    assert_eq!(reasons[0], reasons[3]);
}

/// A hook tells of a call's end before a transcript tells of the call, if one ever does.
#[test]
fn artifacts_of_a_calls_end_are_kept_and_verified_once() {
    let place = place_with_run();
    let repo = place.path("repo");
    let git = |args: &[&str]| {
        let out = Command::new("git").args(args).current_dir(&repo).output();
        let out = out.unwrap();
        assert!(out.status.success(), "{out:?}");
        String::from_utf8(out.stdout).unwrap().trim().to_owned()
    };
    fs::create_dir(&repo).unwrap();
    git(&["init", "-q"]);
    fs::write(repo.join("page"), "page\n").unwrap();
    let page = git(&["hash-object", "-w", "page"]);
    let output = json!([reference("git", &page, "page\n")]);
    let request = json!({ "run": uuid(2), "id": uuid(3), "tool_name": "Bash" });
    let end =
        json!({ "run": uuid(2), "tool_invocation": uuid(3), "status": "ok", "artifacts": output });
    place.accept(&[
        agent("request_tool_call", request),
        agent("end_tool_call", end),
    ]);
    let counts = || {
        let args = ["verify", "--artifacts", "--json", "--repo", "repo"];
        let report = place.run(&args).ok().json();
        ["verified", "broken", "unknown"].map(|name| report[name].as_u64().unwrap())
    };
    assert_eq!(counts(), [1, 0, 0]);
    place
        .run(&["retain", "--repo", "repo", "--as", "refs"])
        .ok();
    git(&["gc", "-q", "--prune=now"]);
    git(&["cat-file", "-e", &page]);
    let invoked = json!({
        "run": uuid(2), "id": uuid(3), "tool_name": "Bash", "status": "ok", "artifacts": output,
    });
    place.accept(&[agent("record_tool_invocation", invoked)]);
    assert_eq!(counts(), [1, 0, 0]);
}
