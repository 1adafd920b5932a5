//! git-internal's objects on the command line.

use serde_json::{Value, json};

use crate::support::{Place, human, uuid};

const COMMIT: &str = "5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a";

/// An intent as git-internal writes it.
fn intent(n: u64, status: &str) -> String {
    let time = "2026-01-02T03:04:05.500Z";
    format!(
        "{{\"object_id\":\"{}\",\"object_type\":\"intent\",\"header_version\":1,\
         \"schema_version\":1,\"created_at\":\"{time}\",\"updated_at\":\"{time}\",\
         \"created_by\":{{\"kind\":\"human\",\"id\":\"ada\",\"display_name\":null,\
         \"auth_context\":null}},\"visibility\":\"private\",\"tags\":{{\"z\":\"1\",\"a\":\"2\"}},\
         \"external_ids\":{{}},\"checksum\":null,\"prompt\":\"p\",\
         \"statuses\":[{{\"status\":\"{status}\",\"changed_at\":\"{time}\"}}]}}",
        uuid(n)
    )
}

fn run(commit: &Value) -> String {
    json!({
        "object_id": uuid(9), "object_type": "run", "schema_version": 1,
        "created_at": "2026-01-02T03:04:05Z", "created_by": { "kind": "agent", "id": "coder" },
        "task": uuid(8), "commit": commit, "status": "created",
    })
    .to_string()
}

#[test]
fn what_comes_in_goes_out_as_it_was() {
    let place = Place::with_log();
    let objects = [intent(1, "draft"), intent(2, "completed")].join("\n") + "\n";
    std::fs::write(place.path("objects.jsonl"), &objects).unwrap();
    let imported = place.run(&["import", "git-internal", "objects.jsonl"]).ok();
    for line in [
        "read           2",
        "imported       2",
        "violation      objects.jsonl:2: intent",
        "the first one is completed, not draft",
    ] {
        assert!(imported.stdout.contains(line), "{}", imported.stdout);
    }
    assert_eq!(place.run(&["export", "git-internal"]).ok().stdout, objects);
    // Some of them, by the ends of their ids.
    let last = &uuid(2)[28..];
    let some = place
        .run(&["export", "git-internal", &format!("0000{last}")])
        .ok();
    assert_eq!(some.stdout, intent(2, "completed") + "\n");
    let again = place
        .run(&["import", "git-internal", "objects.jsonl", "--json"])
        .ok()
        .json();
    assert_eq!(
        (&again["imported"], &again["already_there"]),
        (&json!(0), &json!(2))
    );
}

#[test]
fn an_object_is_shown_as_git_internal_writes_it() {
    let place = Place::with_log();
    std::fs::write(place.path("one.json"), intent(1, "completed")).unwrap();
    place.run(&["import", "git-internal", "one.json"]).ok();
    let id = uuid(1);
    let as_written = place.run(&["show", &id, "--as", "git-internal"]).ok();
    assert_eq!(as_written.stdout, intent(1, "completed") + "\n");
    let hash = |kind: &[&str]| {
        let args = [&["show", &id, "--as", "git-internal", "--hash"], kind].concat();
        place.run(&args).ok().stdout.trim().len()
    };
    assert_eq!((hash(&[]), hash(&["sha256"])), (40, 64));
    let shown = place.run(&["show", &id]).ok().stdout;
    assert!(shown.contains("(adopted from git-internal)"), "{shown}");
    assert!(
        shown.contains("violation: statuses: the first one"),
        "{shown}"
    );
    let history = place.run(&["history", &id]).ok().stdout;
    assert!(
        history.contains("adopted from git-internal, 1 violation"),
        "{history}"
    );
}

#[test]
fn what_git_internal_could_not_read_is_refused_unless_told_otherwise() {
    let place = Place::with_log();
    let sha1 = json!(&COMMIT[..40]);
    std::fs::write(place.path("run.json"), run(&sha1)).unwrap();
    std::fs::write(place.path("good.json"), intent(1, "draft")).unwrap();
    place.run(&["import", "git-internal", "."]).ok();
    let says = &["refused: run", "commit: it is a SHA-1", "--relaxed"];
    let strict = place.run(&["export", "git-internal"]).fails(1, says);
    assert_eq!(strict.stdout, intent(1, "draft") + "\n");
    let relaxed = place.run(&["export", "git-internal", "--relaxed", "--json"]);
    assert_eq!((relaxed.status, relaxed.stdout.lines().count()), (0, 2));
    let report: Value = serde_json::from_str(relaxed.stderr.trim()).unwrap();
    assert_eq!(report["written"], 2);
    assert_eq!(report["problems"][0]["object_type"], "run");
    // What it wrote can be read again here.
    std::fs::write(place.path("relaxed.jsonl"), &relaxed.stdout).unwrap();
    let other = place.path("other");
    let other = other.to_str().unwrap();
    place.run(&["--log", other, "init"]).ok();
    let import = ["--log", other, "import", "git-internal", "relaxed.jsonl"];
    place.run(&import).ok();
    let again = ["--log", other, "export", "git-internal", "--relaxed"];
    assert_eq!(place.run(&again).stdout, relaxed.stdout);
}

#[test]
fn bad_records_are_named_and_the_rest_is_read() {
    let place = Place::with_log();
    let lines = [
        intent(1, "draft"),
        "{".to_owned(),
        intent(2, "odd"),
        intent(3, "draft"),
    ];
    std::fs::write(place.path("objects.jsonl"), lines.join("\n")).unwrap();
    let import = ["import", "git-internal", "objects.jsonl"];
    let ran = place
        .run(&import)
        .fails(1, &["2 records could not be imported"]);
    for line in [
        "imported       2",
        "objects.jsonl:2: ",
        "objects.jsonl:3: statuses[0].status",
    ] {
        assert!(ran.stdout.contains(line), "{}", ran.stdout);
    }
    let missing = ["import", "git-internal", "missing.jsonl"];
    place.run(&missing).fails(1, &["cannot read missing.jsonl"]);
}

/// Objects of our own are written in the same form.
#[test]
fn objects_of_our_own_are_exported() {
    let place = Place::with_log();
    let ids = place.accept(&[human("create_intent", json!({ "prompt": "Add a cache" }))]);
    let exported = place.run(&["export", "git-internal"]).ok().json();
    assert_eq!(exported["object_id"], ids[0].as_str());
    assert_eq!(exported["header_version"], 1);
}

#[test]
fn free_json_has_the_same_hash_after_an_export_and_an_import() {
    let place = Place::with_log();
    let lines = format!(
        "{}\n{}\n{}",
        human("create_task", json!({ "id": uuid(2), "title": "t" })),
        human(
            "create_run",
            json!({ "id": uuid(3), "task": uuid(2), "commit": COMMIT })
        ),
        // Spaces of a person's hand, and a number that is not written as serde would.
        format_args!(
            r#"{{"command":"record_tool_invocation","actor":{{"kind":"agent","id":"coder"}},"run":"{}","id":"{}","tool_name":"sh","status":"ok","args":{{ "z" : [ 1.50, 2 ],  "a b": "x  \" y" }}}}"#,
            uuid(3),
            uuid(4)
        )
    );
    let answers = place.run_with(&["apply"], lines).ok().lines();
    assert!(
        answers.iter().all(|answer| answer["ok"] == true),
        "{answers:?}"
    );
    let shown = |log: &str, more: &[&str]| {
        let args = ["--log", log, "show", &uuid(4), "--as", "git-internal"];
        place.run(&[&args[..], more].concat()).ok().stdout
    };
    let json = shown("log", &[]);
    assert!(json.contains(r#"{"z":[1.50,2],"a b":"x  \" y"}"#), "{json}");
    let exported = place.run(&["export", "git-internal"]).ok().stdout;
    std::fs::write(place.path("all.jsonl"), exported).unwrap();
    place.run(&["--log", "other", "init"]).ok();
    place
        .run(&["--log", "other", "import", "git-internal", "all.jsonl"])
        .ok();
    assert_eq!(shown("other", &[]), json);
    for hash in [&["--hash"][..], &["--hash", "sha256"]] {
        assert_eq!(shown("other", hash), shown("log", hash));
    }
}
