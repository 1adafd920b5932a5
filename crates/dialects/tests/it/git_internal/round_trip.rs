//! What git-internal 0.6.0 wrote comes back byte for byte.

use annals_dialects::git_internal::{ExportReport, HashKind, object_hash};
use annals_domain::Kind;
use proptest::prelude::*;
use serde_json::json;

use super::state::{id, lines, object};
use super::writer::{KINDS, Writer};
use crate::cases;

use super::{catalogue, export, file, import, import_text, log, text};

proptest! {
    #![proptest_config(cases(192))]

    #[test]
    fn import_and_export_twice_give_the_same_bytes(seed: u64, count in 1..24_usize) {
        let written: String = Writer::new(seed)
            .objects(count)
            .into_iter()
            .map(|object| object + "\n")
            .collect();
        let first = log();
        let report = import_text(&first, &written);
        prop_assert_eq!(report.broken, vec![]);
        prop_assert_eq!(report.fields_lost, vec![]);
        prop_assert_eq!(report.imported, count as u64);
        let exported = export(&first);
        prop_assert_eq!(&text(&exported), &written);
        for one in &exported {
            prop_assert!(one.problems.is_empty(), "{:?}", one.problems);
        }
        let second = log();
        import_text(&second, text(&exported));
        prop_assert_eq!(text(&export(&second)), written);
        let rows = catalogue(&first);
        prop_assert!(rows.len() > count, "{} rows", rows.len());
        prop_assert_eq!(rows, catalogue(&second));
    }
}

/// Each kind is among the objects, and most fields are now and then there.
#[test]
fn the_writer_writes_all_there_is() {
    let all: String = (0..200)
        .flat_map(|seed| Writer::new(seed).objects(11))
        .collect();
    for kind in KINDS {
        let word = format!("\"object_type\":\"{kind}\"");
        assert_eq!(all.matches(&word).count(), 200, "{kind}");
    }
    for field in [
        "content",
        "inputs",
        "iframes",
        "fwindow",
        "goal",
        "requester",
        "environment",
        "artifact",
        "touched",
        "report_artifacts",
        "checkpoint_id",
        "token_usage",
        "io_footprint",
        "blob",
        "data",
        "token_estimate",
        "global_summary",
    ] {
        let count = all.matches(&format!("\"{field}\":")).count();
        assert!(count > 40, "{field}: {count}");
    }
}

#[test]
fn a_folder_is_read_file_by_file() {
    let objects = Writer::new(7).objects(4);
    let (folder, _) = file("b.json", &objects[1]);
    let put = |name: &str, content: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    };
    // One object over several lines, one in a folder below, and no object.
    let pretty = objects[0].replacen(',', ",\n  ", 8);
    put("a.json", &pretty);
    put(
        "deep/er/c.jsonl",
        &format!("\n{}\r\n{}", objects[2], objects[3]),
    );
    put("README.md", "no object");
    let log = log();
    let report = import(&log, folder.path());
    assert_eq!((report.imported, report.broken_count), (4, 0), "{report}");
    let exported: Vec<String> = export(&log).into_iter().map(|one| one.json).collect();
    assert_eq!(exported, objects);
}

/// The last value of a repeated key counts; the others are not in the log.
#[test]
fn values_of_repeated_keys_are_counted_as_lost() {
    let written = r#"{"object_id":"0198c0de-0000-7000-8000-000000000001","object_type":"run",
        "schema_version":1,"created_at":"2026-01-02T03:04:05Z","created_by":{"id":"a","kind":"agent"},
        "tags":{"b":"1","a":"2","b":"3"},"external_ids":{"x":"1","x":"1","x":"2"},
        "task":"0198c0de-0000-7000-8000-000000000002","status":"created",
        "environment":{"os":"o","arch":"a","cwd":"/","gpu":1,"gpu":2,"ram":3}}"#;
    let log = log();
    let report = import_text(&log, written.replace('\n', ""));
    assert_eq!(report.imported, 1, "{report}");
    let lost: Vec<String> = report
        .fields_lost
        .iter()
        .map(|field| format!("{} {}", field.path, field.count))
        .collect();
    assert_eq!(lost, ["environment.gpu 1", "external_ids.x 2", "tags.b 1"]);
    let kept = |path: &str| report.fields_kept.iter().find(|field| field.path == path);
    assert_eq!(kept("environment.*").map(|field| field.count), Some(2));
    assert_eq!(kept("tags").map(|field| field.count), Some(1));
}

/// What others write is written canonically, and is stable from then on.
#[test]
fn what_others_write_is_stable_from_then_on() {
    let written = r#" {"schema_version":2, "object_type":"patchset","object_id":"0198C0DE000070008000000000000001",
        "created_at":"2026-01-02T03:04:05.100+01:00","created_by":{"id":"a","kind":"agent"},
        "run":"0198c0de-0000-7000-8000-000000000002","diff_format":"git_diff","tags":{"b":"1","a":"2","b":"3"},
        "touched_files":[{"lines_deleted":1,"lines_added":2,"change_type":"add","path":"x"}],
        "commit":"5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a","apply_status":"applied","colour":{"a":1}}"#;
    let first = log();
    let report = import_text(&first, written.replace('\n', ""));
    assert_eq!(report.imported, 1, "{report}");
    let lost: Vec<&str> = report
        .fields_lost
        .iter()
        .map(|field| field.path.as_str())
        .collect();
    assert_eq!(lost, ["colour", "tags.b"]);
    let exported = export(&first);
    let canonical = "{\"object_id\":\"0198c0de-0000-7000-8000-000000000001\",\
        \"object_type\":\"patch_set\",\"header_version\":1,\"schema_version\":2,\
        \"created_at\":\"2026-01-02T02:04:05.100Z\",\"updated_at\":\"2026-01-02T02:04:05.100Z\",\
        \"created_by\":{\"kind\":\"agent\",\"id\":\"a\",\"display_name\":null,\"auth_context\":null},\
        \"visibility\":\"private\",\"tags\":{\"b\":\"3\",\"a\":\"2\"},\"external_ids\":{},\
        \"checksum\":null,\"run\":\"0198c0de-0000-7000-8000-000000000002\",\
        \"commit\":\"5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a\",\"format\":\"git_diff\",\
        \"artifact\":null,\"touched\":[{\"path\":\"x\",\"change_type\":\"add\",\"lines_added\":2,\
        \"lines_deleted\":1}],\"rationale\":null,\"apply_status\":\"applied\"}\n";
    assert_eq!(text(&exported), canonical);
    assert_eq!(exported[0].problems.len(), 1, "a SHA-1");
    let second = log();
    import_text(&second, canonical);
    assert_eq!(text(&export(&second)), canonical);
}

#[test]
fn older_names_of_an_artifact_and_of_a_steps_description_are_read() {
    let artifact = json!({ "store": "s3", "key": "k" });
    let patch_set = json!({ "run": id(2), "format": "git_diff", "touched": [],
        "apply_status": "proposed", "diff_artifact": artifact });
    let plan = json!({ "steps": [{ "intent": "dig", "statuses": [] }] });
    let objects = [object("patch_set", 1, patch_set), object("plan", 3, plan)];
    let log = log();
    let report = import_text(&log, lines(&objects));
    assert_eq!((report.imported, report.broken_count), (2, 0), "{report}");
    assert!(report.fields_lost.is_empty(), "{report}");
    let exported = text(&export(&log));
    for written in [
        r#""artifact":{"store":"s3","key":"k","#,
        r#""steps":[{"description":"dig","#,
    ] {
        assert!(exported.contains(written), "{exported}");
    }
}

#[test]
fn a_strict_export_refuses_runs_and_patch_sets_without_a_commit() {
    let run = json!({ "task": id(3), "status": "created", "patchsets": [id(2)] });
    let patch_set = json!({ "run": id(1), "format": "git_diff", "touched": [],
        "apply_status": "proposed" });
    let log = log();
    let objects = [object("run", 1, run), object("patch_set", 2, patch_set)];
    import_text(&log, lines(&objects));
    let exported = export(&log);
    assert_eq!(exported.len(), 2);
    for one in &exported {
        let demanded = "commit: git-internal demands one, and there is none";
        assert_eq!(one.problems, [demanded]);
        let mut report = ExportReport::default();
        assert!(!report.admit(one, false));
        assert_eq!((report.written, report.refused), (0, 1));
    }
}

/// Made with the tools of the system: `printf 'run 2\0{}' | sha1sum`.
#[test]
fn hashes_are_gits() {
    let hash = |kind, hash| object_hash(kind, "{}", hash).unwrap().to_string();
    assert_eq!(
        hash(Kind::Intent, HashKind::Sha1),
        "31a6bbb8c9b62fb6daf2c22f854c959bd639a413"
    );
    assert_eq!(
        hash(Kind::PatchSet, HashKind::Sha256),
        "50816486d098732fabcf03581bf326ecba21d8e474787ce7ca77fc008219c762"
    );
}
