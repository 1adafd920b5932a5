//! Bad input is named by file and line; nothing of the rest is lost.

use std::io::Write;

use annals_dialects::git_internal::{GitInternalImportError, MAX_OBJECT, import as try_import};
use annals_dialects::secrets::Secrets;
use futures::executor::block_on;
use serde_json::json;

use super::state::{id, object};
use super::{export, file, import, import_text, log};

fn good(number: u128) -> String {
    object("intent", number, json!({ "prompt": "p", "statuses": [] })).to_string()
}

/// Imports bad texts between good ones, and gives what is said of the former.
fn reasons(bad: &[&[u8]]) -> Vec<(u64, String)> {
    let mut text = Vec::new();
    for (number, bad) in (1..).zip(bad) {
        text.extend_from_slice(good(number).as_bytes());
        text.push(b'\n');
        text.extend_from_slice(bad);
        text.push(b'\n');
    }
    let log = log();
    let report = import_text(&log, text);
    assert_eq!(report.imported, bad.len() as u64, "{report}");
    assert_eq!(export(&log).len(), bad.len());
    let all = report.broken.into_iter();
    all.map(|one| {
        assert!(one.file.ends_with("objects.jsonl"), "{}", one.file);
        (one.line, one.reason)
    })
    .collect()
}

#[test]
fn each_bad_line_is_named() {
    let with = |change: serde_json::Value| {
        let mut object = object("intent", 50, json!({ "prompt": "p", "statuses": [] }));
        let fields = object.as_object_mut().unwrap();
        for (name, value) in change.as_object().unwrap() {
            fields.insert(name.clone(), value.clone());
        }
        object.to_string()
    };
    let cases = [
        (good(51)[..100].to_owned(), "EOF"),
        ("[]".to_owned(), "invalid type"),
        ("nonsense".to_owned(), "expected ident"),
        ("{}".to_owned(), "object_id: it is missing"),
        (with(json!({ "object_id": "x" })), "object_id: "),
        (
            with(json!({ "object_type": "commit" })),
            "object_type: unknown kind \"commit\"",
        ),
        (
            with(json!({ "header_version": 0 })),
            "header_version: it must not be 0",
        ),
        (
            with(json!({ "schema_version": -1 })),
            "schema_version: invalid value",
        ),
        (
            with(json!({ "created_at": "yesterday" })),
            "created_at: invalid RFC 3339 time \"yesterday\"",
        ),
        (
            with(json!({ "created_by": { "kind": "human", "id": " " } })),
            "created_by.id: it must not be blank",
        ),
        (with(json!({ "prompt": 5 })), "prompt: invalid type"),
        (with(json!({ "commit": "ABC" })), "commit: "),
        (
            with(json!({ "statuses": [{ "status": "odd" }] })),
            "statuses[0].status: ",
        ),
        (with(json!({ "tags": { "a": 1 } })), "tags: invalid type"),
    ];
    let texts: Vec<&[u8]> = cases.iter().map(|(text, _)| text.as_bytes()).collect();
    let reasons = reasons(&texts);
    assert_eq!(reasons.len(), cases.len());
    for (number, ((line, reason), (_, expected))) in (1..).zip(reasons.iter().zip(&cases)) {
        assert_eq!(*line, 2 * number);
        assert!(reason.contains(expected), "{reason:?} {expected:?}");
    }
}

#[test]
fn an_object_without_a_field_of_its_header_that_must_be_there_is_refused() {
    let fields = [
        "object_id",
        "object_type",
        "schema_version",
        "created_at",
        "created_by",
    ];
    let without = |field: &&str| {
        let mut object = object("intent", 50, json!({ "prompt": "p", "statuses": [] }));
        object.as_object_mut().unwrap().remove(*field);
        object.to_string()
    };
    let texts: Vec<String> = fields.iter().map(without).collect();
    let texts: Vec<&[u8]> = texts.iter().map(String::as_bytes).collect();
    let reasons = reasons(&texts);
    assert_eq!(reasons.len(), fields.len());
    for ((_, reason), field) in reasons.iter().zip(fields) {
        let expected = format!("{field}: it is missing");
        assert!(reason.contains(&expected), "{reason:?} {expected:?}");
    }
}

#[test]
fn blank_stores_keys_and_paths_and_a_reverted_patch_set_are_refused() {
    let patch_set = |name: &str, value: serde_json::Value| {
        let mut fields = json!({ "run": id(2), "format": "git_diff", "touched": [],
            "apply_status": "proposed" });
        fields[name] = value;
        object("patch_set", 50, fields)
    };
    let evidence = json!({ "run_id": id(2), "kind": "test", "tool": "t",
        "report_artifacts": [{ "store": "s", "key": " " }] });
    let snapshot = json!({ "selection_strategy": "explicit",
        "items": [{ "kind": "file", "path": " " }] });
    let touched = json!([{ "path": " ", "change_type": "add", "lines_added": 1,
        "lines_deleted": 0 }]);
    let cases = [
        (
            patch_set("artifact", json!({ "store": " ", "key": "k" })),
            "artifact.store: it must not be blank",
        ),
        (
            object("evidence", 50, evidence),
            "report_artifacts[0].key: it must not be blank",
        ),
        (
            object("context_snapshot", 50, snapshot),
            "items[0].path: it must not be blank",
        ),
        (
            patch_set("touched", touched),
            "touched[0].path: it must not be blank",
        ),
        (
            patch_set("apply_status", json!("reverted")),
            "apply_status: invalid apply status \"reverted\": expected proposed",
        ),
    ];
    let texts: Vec<String> = cases.iter().map(|(object, _)| object.to_string()).collect();
    let texts: Vec<&[u8]> = texts.iter().map(String::as_bytes).collect();
    let reasons = reasons(&texts);
    assert_eq!(reasons.len(), cases.len());
    for ((_, reason), (_, expected)) in reasons.iter().zip(&cases) {
        assert!(reason.contains(expected), "{reason:?} {expected:?}");
    }
}

#[test]
fn bytes_that_are_no_text_and_json_that_is_too_deep_are_named() {
    let deep = |depth: usize| {
        let metrics = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        object(
            "run",
            90,
            json!({ "task": id(1), "status": "created", "metrics": null }),
        )
        .to_string()
        .replace("\"metrics\":null", &format!("\"metrics\":{metrics}"))
    };
    let mut broken = good(60).into_bytes();
    broken[80] = 0xff;
    let reasons = reasons(&[&broken, deep(127).as_bytes(), deep(100_000).as_bytes()]);
    assert!(
        reasons[0].1.contains("not UTF-8 from byte 81"),
        "{reasons:?}"
    );
    assert!(reasons[1].1.contains("nested 128 deep"), "{reasons:?}");
    assert!(reasons[2].1.contains("nested 100001 deep"), "{reasons:?}");
    // A hundred deep is what git-internal itself reads and writes.
    let log = log();
    assert_eq!(import_text(&log, deep(100)).imported, 1);
    assert!(export(&log)[0].json.contains(&"[".repeat(100)));
}

#[test]
fn an_id_of_two_kinds_belongs_to_the_first() {
    let task = object("task", 1, json!({ "title": "t", "status": "draft" })).to_string();
    let log = log();
    let report = import_text(&log, format!("{}\n{task}\n{}", good(1), good(2)));
    assert_eq!((report.imported, report.broken_count), (2, 1), "{report}");
    let expected = format!("task {} has the id of the intent in", id(1));
    assert!(report.broken[0].reason.starts_with(&expected), "{report}");
    assert!(
        report.broken[0].reason.ends_with("objects.jsonl:1"),
        "{report}"
    );
    // The same against what the log has from before.
    let report = import_text(&log, task);
    assert!(
        report.broken[0].reason.contains("of the kind intent"),
        "{report}"
    );
}

#[test]
fn an_object_of_another_run_is_not_moved() {
    let tool = |run| {
        object(
            "tool_invocation",
            1,
            json!({ "run_id": id(run), "tool_name": "t", "status": "ok" }),
        )
        .to_string()
    };
    let log = log();
    import_text(&log, tool(2));
    let report = import_text(&log, tool(3));
    assert!(
        report.broken[0].reason.contains("belongs to run-"),
        "{report}"
    );
}

/// It is one object, and not as many as it has lines.
#[test]
fn an_object_over_several_lines_that_is_cut_off_is_named_once() {
    let statuses = json!([{ "status": "draft", "changed_at": "2026-01-02T03:04:05Z" }, {}]);
    let intent = object("intent", 1, json!({ "prompt": "p", "statuses": statuses }));
    let pretty = serde_json::to_string_pretty(&intent).unwrap();
    for end in [2, 60, pretty.len() / 2, pretty.len() - 1] {
        let (folder, _) = file("cut.json", format!("\n{}", &pretty[..end]));
        std::fs::write(folder.path().join("good.json"), good(2)).unwrap();
        let log = log();
        let report = import(&log, folder.path());
        assert_eq!((report.imported, report.broken_count), (1, 1), "{report}");
        assert_eq!((report.records_read, report.broken[0].line), (2, 2));
        assert!(report.broken[0].reason.contains("EOF"), "{report}");
    }
    // Whole objects that follow are read, however an earlier line ends.
    let log = log();
    let report = import_text(&log, format!("{{\"a\":\n  {}\n", good(3)));
    assert_eq!((report.imported, report.broken_count), (1, 1), "{report}");
}

/// A line of 100 MiB is passed over without being held.
#[test]
fn a_very_long_line_is_skipped() {
    let (_folder, path) = file("long.jsonl", good(1) + "\n");
    let mut long = std::fs::OpenOptions::new()
        .append(true)
        .open(&path)
        .unwrap();
    let chunk = vec![b'x'; 1024 * 1024];
    for _ in 0..100 {
        long.write_all(&chunk).unwrap();
    }
    writeln!(long, "\n{}", good(2)).unwrap();
    let log = log();
    let report = block_on(try_import(&log, &path, &Secrets::standard(), &mut |_| {})).unwrap();
    assert_eq!((report.imported, report.broken_count), (2, 1), "{report}");
    let broken = &report.broken[0];
    assert_eq!(broken.line, 2);
    assert!(broken.reason.contains(&MAX_OBJECT.to_string()), "{report}");
}

#[test]
fn a_source_that_is_not_there_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let error = |path: &std::path::Path| {
        block_on(try_import(&log(), path, &Secrets::standard(), &mut |_| {})).unwrap_err()
    };
    let missing = error(&folder.path().join("missing"));
    assert!(missing.to_string().contains("missing"), "{missing}");
    let empty = error(folder.path());
    assert!(
        matches!(empty, GitInternalImportError::Empty { .. }),
        "{empty}"
    );
}
