//! `annals log redact` and `annals log gc`: content goes from everything that shows it and from
//! the files, and who had it removed is shown.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Place, agent, grown, human, uuid};

const SECRET: &str = "hunter2-and-more";

fn intent(prompt: &str) -> Value {
    json!({
        "command": "create_intent",
        "actor": {"kind": "human", "id": "ada"},
        "prompt": prompt,
    })
}

/// The files of a folder that have a text in them.
fn files_with(folder: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        if !entry.file_type().unwrap().is_file() {
            continue;
        }
        let bytes = std::fs::read(entry.path()).unwrap();
        if bytes
            .windows(text.len())
            .any(|part| part == text.as_bytes())
        {
            found.push(entry.file_name().into_string().unwrap());
        }
    }
    found
}

#[test]
fn an_event_is_redacted_and_every_view_says_so() {
    let place = Place::with_log();
    let ids = place.accept(&[
        intent(&format!("the password is {SECRET}")),
        intent("other"),
    ]);
    assert!(
        !files_with(&place.log_dir(), SECRET).is_empty(),
        "the control"
    );
    let root = |place: &Place| place.run(&["verify", "--json"]).ok().json()["root"].clone();
    assert!(root(&place).is_string());
    let dry = place
        .run(&["redact", "1", "--reason", "leaked", "--dry-run"])
        .ok();
    assert!(
        dry.stdout
            .contains("would remove 1 piece of content of 1 event, and 0 blobs"),
        "{dry:?}"
    );
    assert!(dry.stdout.contains("nothing was changed"));
    assert!(dry.stdout.contains("--pattern finds every one"));
    let args = [
        "redact",
        "1",
        "--reason",
        "leaked",
        "--actor",
        "human:bob",
        "--json",
    ];
    let report = place.run(&args).ok().json();
    assert_eq!(report["recorded"], json!({"first": 3, "last": 3}));
    assert_eq!(report["events"], json!([{"position": 1, "pieces": [0]}]));
    assert_eq!(
        (&report["rewritten"], &report["dry_run"]),
        (&json!(true), &json!(false))
    );
    assert_eq!(files_with(&place.log_dir(), SECRET), [""; 0]);
    place.run(&["verify"]).ok();
    let shown = place.run(&["show", &ids[0]]).ok().stdout;
    assert!(
        shown.contains("[removed]") && !shown.contains(SECRET),
        "{shown}"
    );
    assert!(
        shown.contains("redacted by human bob on ")
            && shown.contains(": leaked (1 piece of 1 event; event 3)"),
        "{shown}"
    );
    let before = place.run(&["show", &ids[0], "--at", "1"]).ok().stdout;
    assert!(
        before.contains("[removed]"),
        "the past has it no more: {before}"
    );
    let view = place.run(&["show", &ids[0], "--json"]).ok().json();
    assert_eq!(view["prompt"], json!({"removed": true}));
    assert_eq!(view["redactions"][0]["reason"], "leaked");
    assert_eq!(view["redactions"][0]["actor"]["id"], "bob");
    assert_eq!(
        view["redactions"][0]["removed"],
        json!([{"position": 1, "pieces": [0]}])
    );
    let other = place.run(&["show", &ids[1], "--json"]).ok().json();
    assert!(other.get("redactions").is_none(), "{other}");
    let history = place.run(&["history", &ids[0]]).ok().stdout;
    assert!(
        history.contains("1 piece of content removed from event 1: \"leaked\""),
        "{history}"
    );
    let list = place.run(&["list", "intents"]).ok().stdout;
    assert!(
        list.contains("[removed]") && list.contains("other"),
        "{list}"
    );
    // Life goes on.
    let cancel = json!({
        "command": "cancel_intent", "actor": {"kind": "human", "id": "ada"}, "intent": ids[0],
    });
    assert_eq!(place.apply(&[cancel])[0]["ok"], true);
    let again = place
        .run(&["redact", "1", "--reason", "leaked"])
        .ok()
        .stdout;
    assert!(again.contains("nothing to remove"), "{again}");
}

#[test]
fn a_pattern_and_a_blob_are_removed_wherever_they_are() {
    let place = Place::with_log();
    let large = format!("{SECRET} ").repeat(400);
    place.accept(&[
        intent(&large),
        intent("kept"),
        intent(&format!("short {SECRET}")),
        intent(&large),
    ]);
    let found = place.run(&[
        "redact",
        "--pattern",
        "hunter[0-9]",
        "--reason",
        "x",
        "--dry-run",
        "--json",
    ]);
    let found = found.ok().json();
    assert_eq!(found["events"].as_array().unwrap().len(), 3);
    let blob = found["blobs"][0].as_str().unwrap().to_owned();
    let one = place
        .run(&["redact", "1", "--reason", "x", "--fast"])
        .ok()
        .stdout;
    assert!(one.contains(&format!("the blob {blob} stays")), "{one}");
    assert!(one.contains("`annals log redact --finish`"), "{one}");
    let of_blob = place.run(&[
        "redact",
        &format!("sha256:{blob}"),
        "--reason",
        "x",
        "--json",
    ]);
    let of_blob = of_blob.ok().json();
    assert_eq!(of_blob["events"], json!([{"position": 4, "pieces": [0]}]));
    assert_eq!(of_blob["blobs"], json!([blob]));
    place
        .run(&["redact", &blob, "--reason", "x"])
        .fails(1, &["no event refers to content"]);
    // In JSON, which escapes it.
    let prompt = json!({ "text": format!("say \"{SECRET}\"\nnow") }).to_string();
    place.accept(&[intent(&prompt)]);
    let quoted = format!("say \"{SECRET}\"\nnow");
    let args = [
        "redact",
        "--pattern",
        &quoted,
        "--reason",
        "x",
        "--dry-run",
        "--json",
    ];
    let found = place.run(&args).ok().json();
    assert_eq!(found["events"].as_array().unwrap().len(), 1);
    // A text in JSON begins behind its quote.
    let pipeline = json!("0198c0de-0000-7000-8000-0000000000f0");
    let push = json!({ "pipeline": pipeline, "kind": "tool_call", "summary": "s", "content": "first\nlast" });
    place.accept(&[
        agent("create_pipeline", json!({ "id": pipeline })),
        agent("push_frame", push),
    ]);
    for pattern in ["^first", "^first\nlast$", "last$"] {
        let args = [
            "redact",
            "--pattern",
            pattern,
            "--reason",
            "x",
            "--dry-run",
            "--json",
        ];
        let found = place.run(&args).ok().json();
        assert_eq!(found["events"].as_array().unwrap().len(), 1, "{pattern}");
    }
    // A text that is not JSON has its quotes.
    place.accept(&[intent(r#""third" and "last""#)]);
    let args = [
        "redact",
        "--pattern",
        "^third",
        "--reason",
        "x",
        "--dry-run",
    ];
    let none = place.run(&args).ok().stdout;
    assert!(none.contains("nothing to remove"), "{none}");
    place
        .run(&["redact", "--pattern", SECRET, "--reason", "a leak"])
        .ok();
    assert_eq!(files_with(&place.log_dir(), SECRET), [""; 0]);
    assert_eq!(place.run(&["stats", "--json"]).ok().json()["blobs"], 0);
    let finish = place.run(&["redact", "--finish"]).ok().stdout;
    assert!(finish.contains("nothing was left"), "{finish}");
    place.run(&["verify"]).ok();
    let gc = place.run(&["gc"]).ok().stdout;
    assert!(gc.contains("nothing to collect"), "{gc}");
    let gc = place.run(&["gc", "--apply", "--json"]).ok().json();
    assert_eq!(
        gc,
        json!({"collected": true, "blobs": 0, "bytes": 0, "digests": []})
    );
}

#[test]
fn a_seal_goes_with_the_content_that_it_was_made_of_and_says_so() {
    let place = Place::with_log();
    let ids = place.accept(&[intent(&format!("the password is {SECRET}"))]);
    place.accept(&[human("seal", json!({ "object": ids[0] }))]);
    let show = |more: &[&str]| place.run(&[&["show", &ids[0]], more].concat()).ok();
    let sealed = show(&["--json"]).json();
    let checksum = sealed["checksum"].as_str().unwrap().to_owned();
    assert_eq!(sealed.get("seal"), None, "it holds");
    assert!(!files_with(&place.log_dir(), &checksum).is_empty());
    let args = ["redact", "--pattern", SECRET, "--reason", "leaked"];
    let dry = place.run(&[&args[..], &["--dry-run"]].concat()).ok().stdout;
    assert!(
        dry.contains("1 seal could not be checked any more"),
        "{dry}"
    );
    let report = place.run(&args).ok().stdout;
    for says in [
        "removed 2 pieces of content of 2 events",
        "1 seal cannot be checked any more",
        "  event 2: of intent ",
    ] {
        assert!(report.contains(says), "{report}");
    }
    assert_eq!(files_with(&place.log_dir(), &checksum), [""; 0]);
    // As it was sealed, and as it is now.
    let was = show(&["--at", "2"]).stdout;
    assert!(was.contains("the seal cannot be checked any more"), "{was}");
    let was = show(&["--at", "2", "--json"]).json();
    assert_eq!(
        (&was["checksum"], &was["seal"]),
        (&Value::Null, &json!("removed"))
    );
    let now = show(&["--json"]).json();
    assert_eq!((&now["checksum"], now.get("seal")), (&Value::Null, None));
    let history = place.run(&["history", &ids[0]]).ok().stdout;
    assert!(
        history.contains("sealed; the checksum was removed"),
        "{history}"
    );
    place.run(&["verify"]).ok();
}

#[test]
fn a_checksum_that_the_caller_gives_is_recorded_as_it_is() {
    let place = Place::with_log();
    let ids = place.accept(&[intent("p")]);
    let given = "c3".repeat(32);
    place.accept(&[human(
        "seal",
        json!({ "object": ids[0], "checksum": given }),
    )]);
    let shown = place.run(&["show", &ids[0], "--json"]).ok().json();
    assert_eq!(
        (&shown["checksum"], &shown["seal"]),
        (&json!(given), &json!("differs"))
    );
    let shown = place.run(&["show", &ids[0]]).ok().stdout;
    assert!(
        shown.contains("a checksum that is not that of the object"),
        "{shown}"
    );
}

#[test]
fn an_export_says_that_content_was_removed() {
    let place = Place::with_log();
    let fields = json!({ "title": "t", "constraints": ["first", "second"] });
    place.accept(&[intent("a prompt"), agent("create_task", fields)]);
    for event in ["1", "2"] {
        place.run(&["redact", event, "--reason", "leaked"]).ok();
    }
    let of = |field: &str| format!("{field}: its content was removed, and git-internal demands it");
    let ran = place.run(&["export", "git-internal"]);
    ran.fails(1, &[&of("prompt"), &of("title")]);
}

#[test]
fn what_makes_no_sense_is_refused_and_changes_nothing() {
    let place = Place::with_log();
    place.accept(&[intent("a prompt")]);
    let refused: [(&[&str], i32, &str); 9] = [
        (
            &[
                "redact",
                "--pattern",
                "prompt",
                "--reason",
                "x",
                "--actor",
                "human:prompter",
            ],
            1,
            "found in the actor",
        ),
        (
            &["redact", "2", "--reason", "x"],
            1,
            "there is no event 2: the log ends at 1",
        ),
        (&["redact", "0", "--reason", "x"], 1, "there is no event 0"),
        (&["redact", "1", "--reason", " "], 1, "the reason is empty"),
        (
            &["redact", "--pattern", "prompt", "--reason", "the prompt"],
            1,
            "in other words",
        ),
        (
            &["redact", "--pattern", "(", "--reason", "x"],
            2,
            "regex parse error",
        ),
        (&["redact", "1"], 2, "--reason"),
        (&["redact", "--reason", "x"], 2, "EVENT|BLOB"),
        (
            &[
                "redact",
                "0198c0de-0000-7000-8000-000000000001",
                "--reason",
                "x",
            ],
            1,
            "no event with the id",
        ),
    ];
    for (args, status, says) in refused {
        place.run(args).fails(status, &[says]);
    }
    assert_eq!(place.run(&["stats", "--json"]).ok().json()["position"], 1);
    let memory = ["--log", "memory:", "redact", "--finish"];
    place.run(&memory).fails(1, &["in memory"]);
}

fn session(id: u64, config: &Value) -> Value {
    let mut config = config.clone();
    config["sessionId"] = uuid(id).into();
    config["workspace"] = json!({ "path": "/work" });
    config["agentProfile"] = "coder".into();
    human("create_session", json!({ "config": config }))
}

/// All places where a rule compares a text that a person chose.
fn named(place: &Place, secret: &str) {
    let name = |of: &str| format!("{of}-{secret}");
    let repo = json!({ "name": "app", "path": name("/src") });
    let strict = json!({ "policy": { "name": name("careful"), "protectedBranches": [name("main")],
        "allowedWorkItemTransitions": [format!("{}->Done", name("Open"))],
        "limits": { "perCommandCaps": { "GetDiff": 5 } } },
        "repo": repo, "planNodeId": name("node"),
        "workItem": { "id": name("T") } });
    let open = json!({ "policy": { "name": "open" }, "repo": { "name": "app", "path": "/src" } });
    let submit = |session: u64, id: u64, command: Value| {
        agent(
            "submit_command",
            json!({ "session": uuid(session), "id": uuid(id),
            "plan_node": name("step"), "submit": command }),
        )
    };
    let task = uuid(0x7_0000_0001);
    let run = uuid(0x7_0000_0002);
    place.accept(&[
        session(1, &strict),
        session(2, &open),
        submit(1, 10, json!({ "kind": "GetDiff", "repo": repo, "ref": "HEAD" })),
        submit(2, 20, json!({ "kind": "CreateBranch", "repo": repo, "branchName": name("work") })),
        submit(2, 21, json!({ "kind": "TransitionTicket", "item": { "id": name("T") }, "state": name("Done") })),
        submit(2, 22, json!({ "kind": "RequestApproval", "reason": "r", "requiredActions": [name("deploy")] })),
        human("approve_session", json!({ "session": uuid(2) })),
        submit(2, 23, json!({ "kind": "QueryWorkItem", "item": { "id": name("T") } })),
        submit(2, 24, json!({ "kind": "QueryBacklog" })),
        agent("record_work_item", json!({ "session": uuid(2), "id": uuid(23), "details":
            { "id": name("T"), "title": "t", "description": "d", "status": name("Open"), "tags": [] } })),
        agent("record_backlog", json!({ "session": uuid(2), "id": uuid(24), "items":
            [{ "id": name("B"), "title": "t", "status": name("Open") }] })),
        agent("update_plan", json!({ "session": uuid(2), "plan":
            { "nodes": [{ "id": name("node"), "title": "t", "dependsOn": [], "tags": [] }] } })),
        human("create_task", json!({ "id": task, "title": "a task", "goal": { "other": name("goal") } })),
        agent("link_plan_task", json!({ "session": uuid(2), "node": name("node"), "task": task })),
        agent("create_run", json!({ "id": run, "task": task })),
        agent("start_patching", json!({ "run": run })),
        agent("start_validation", json!({ "run": run })),
        agent("record_evidence", json!({ "run": run, "kind": name("fuzz"), "tool": "t" })),
        agent("decide", json!({ "run": run, "decision_type": name("escalate"), "rationale": "r" })),
    ]);
}

/// Each of them is content: the control finds it in the files, and once it is removed it is
/// in none, the log holds, views show what is left, and the gate lets nothing through by it.
#[test]
fn names_are_removed_like_all_content() {
    let place = Place::with_log();
    named(&place, "hunter2");
    assert!(!files_with(&place.log_dir(), "hunter2").is_empty());
    // The text between names belongs to none of them.
    let between = r#"^\[""#;
    let args = [
        "redact",
        "--pattern",
        between,
        "--reason",
        "x",
        "--dry-run",
        "--json",
    ];
    let report = place.run(&args).ok().json();
    assert_eq!(report["events"], json!([]), "{report}");
    let args = [
        "redact",
        "--pattern",
        "hunter2",
        "--reason",
        "it leaked",
        "--json",
    ];
    let report = place.run(&args).ok().json();
    assert_eq!(report["stays_count"], 0, "{report}");
    assert_eq!(files_with(&place.log_dir(), "hunter2"), [""; 0]);
    let again = place.run(&args).ok().json();
    assert_eq!(
        (&again["events"], &again["stays_count"]),
        (&json!([]), &json!(0)),
        "{again}"
    );
    place.run(&["verify"]).ok();
    for view in [
        &["log", "--json"][..],
        &["list", "session", "--json"],
        &["history", &uuid(2)],
        &["show", &uuid(1)],
    ] {
        let shown = place.run(view).ok().stdout;
        assert!(!shown.contains("hunter2"), "{view:?}: {shown}");
        assert!(shown.contains("[removed"), "{view:?}: {shown}");
    }
    let push =
        json!({ "kind": "Push", "repo": { "name": "app", "path": "/src" }, "branchName": "main" });
    let push = |session: u64, id: u64| {
        agent(
            "submit_command",
            json!({ "session": uuid(session), "id": uuid(id), "submit": push.clone() }),
        )
    };
    let refused = place.apply(&[push(1, 30)]);
    assert!(
        refused[0]
            .to_string()
            .contains("were removed by a redaction"),
        "{refused:?}"
    );
    place.accept(&[push(2, 31)]);
}

/// What a redaction cannot remove is named, so that it is not taken for gone.
#[test]
fn what_a_pattern_finds_in_structure_is_named() {
    let (place, story) = grown();
    let other = agent(
        "push_frame",
        json!({ "pipeline": story.pipeline, "kind": { "other": "about-hunter2" }, "summary": "the word is hunter2" }),
    );
    place.accept(&[other]);
    let args = ["redact", "--pattern", "hunter2", "--reason", "it leaked"];
    let dry = place
        .run(&[&args[..], &["--dry-run", "--json"]].concat())
        .ok();
    let dry = dry.json();
    assert_eq!(dry["stays_count"], 1, "{dry}");
    let field = dry["stays"][0]["field"].as_str().unwrap().to_owned();
    assert!(field.contains("kind"), "{dry}");
    let said = place.run(&args).ok().stdout;
    assert!(said.contains("in 1 place that cannot be removed"), "{said}");
    assert!(said.contains(&field), "{said}");
    let again = place.run(&args).ok().stdout;
    assert!(again.contains("nothing to remove but that"), "{again}");
    assert!(!again.contains("gone already"), "{again}");
    // An end of the text is seen, too; ids, digests and times are not texts of a user.
    let anchored = [
        "redact",
        "--pattern",
        "^about-",
        "--reason",
        "x",
        "--dry-run",
        "--json",
    ];
    assert_eq!(place.run(&anchored).ok().json()["stays_count"], 1);
    let numbers = [
        "redact",
        "--pattern",
        "^0198[0-9a-f]",
        "--reason",
        "x",
        "--dry-run",
        "--json",
    ];
    assert_eq!(place.run(&numbers).ok().json()["stays_count"], 0);
}

/// Each occurrence outside of the content is named, also where it looks like an id.
#[test]
fn what_a_pattern_finds_in_a_header_or_in_a_kind_like_an_id_is_named() {
    let place = Place::with_log();
    let token = "0123456789abcdef0123456789abcdef01234567";
    let padded = format!("hunter2-key{}", "z".repeat(54));
    let by = json!({ "kind": "hunter2pw", "id": "bob" });
    let line = |mut command: Value| {
        command["actor"] = by.clone();
        command
    };
    let frame = |kind: &str| {
        line(
            json!({ "command": "push_frame", "pipeline": uuid(1), "kind": { "other": kind }, "summary": "s" }),
        )
    };
    place.accept(&[
        line(json!({ "command": "create_pipeline", "id": uuid(1) })),
        frame(token),
        frame(&padded),
    ]);
    let found = |pattern: &str| {
        let args = [
            "redact",
            "--pattern",
            pattern,
            "--reason",
            "x",
            "--dry-run",
            "--json",
        ];
        let report = place.run(&args).ok().json();
        let stays = report["stays"].as_array().unwrap().iter();
        stays
            .map(|it| it["field"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(found("^hunter2pw$"), ["actor.kind"; 3]);
    assert_eq!(found("0123456789abcdef").len(), 1);
    assert_eq!(found(r"\<hunter2-key").len(), 1);
}

/// A hook's event with a text, as an agent tells it.
fn tell(place: &Place, name: &str, fields: Value) {
    let mut event = json!({
        "session_id": "5e0c1a52-6c3e-4b53-9f0b-1c1f0a6b7d10", "cwd": "/srv", "hook_event_name": name,
    });
    let fields = fields.as_object().unwrap().clone();
    event.as_object_mut().unwrap().extend(fields);
    let args = ["hook", "claude", "--deadline", "60000"];
    place.run_with(&args, event.to_string()).ok();
}

#[test]
fn what_waits_or_was_put_aside_loses_it_too() {
    let place = Place::with_log();
    place.accept(&[intent(&format!("the password is {SECRET}"))]);
    // It waits for its session, which begins with a prompt.
    let text = format!("echo \"{SECRET}\"\necho other");
    tell(&place, "Stop", json!({ "last_assistant_message": text }));
    let spool = place.path("log.spool");
    let bad = spool.join("00000000000001-x-00000000.bad");
    std::fs::write(&bad, format!("{{\"text\": \"{SECRET}")).unwrap();
    let escaped = spool.join("00000000000002-x-00000000.bad");
    std::fs::write(&escaped, "{\"text\": \"\\u0068unter2-and-more").unwrap();
    let other = spool.join("00000000000003-x-00000000.bad");
    std::fs::write(&other, "nonsense").unwrap();
    std::fs::create_dir(place.path("log.tail-1")).unwrap();
    let waiting = files_with(&spool, SECRET).len();
    assert_eq!(waiting, 2, "the control");

    let args = [
        "redact",
        "--pattern",
        "hunter2-[a-z-]+",
        "--reason",
        "leaked",
    ];
    let dry = place
        .run(&[&args[..], &["--dry-run", "--json"]].concat())
        .ok()
        .json();
    assert_eq!(
        (&dry["spool"]["cleaned"], &dry["spool"]["removed"]),
        (&json!(1), &json!(2))
    );
    assert_eq!(files_with(&spool, SECRET).len(), waiting);
    let said = place.run(&args).ok().stdout;
    assert!(
        said.contains("cleaned 1 queued event in ") && said.contains("removed 2 files"),
        "{said}"
    );
    assert!(said.contains("not searched: log.tail-1: "), "{said}");
    assert_eq!(files_with(&spool, SECRET), [""; 0]);
    assert_eq!(files_with(&place.log_dir(), SECRET), [""; 0]);
    assert!(!bad.exists() && !escaped.exists() && other.exists());

    // What is left of the event is recorded with its session.
    tell(
        &place,
        "UserPromptSubmit",
        json!({ "prompt_id": "p1", "prompt": "go on" }),
    );
    assert_eq!(place.run_with(&["apply"], "").status, 0);
    let state = place.run(&["hook", "status", "--json"]).ok().json()["spool"]["state"].clone();
    assert_eq!((&state["waiting"], &state["bad"]), (&json!(0), &json!(1)));
}

#[test]
fn a_spool_that_is_not_searched_is_named() {
    let place = Place::with_log();
    place.accept(&[intent(&format!("the password is {SECRET}"))]);
    tell(&place, "Stop", json!({}));
    let spool = place.path("log.spool");
    let said = place
        .run(&["redact", "1", "--reason", "leaked"])
        .ok()
        .stdout;
    let named = format!("not searched: {}: 1 event", spool.display());
    assert!(
        said.contains(&named) && said.contains("--pattern"),
        "{said}"
    );
    // One that a link leads to is not used.
    std::fs::rename(&spool, place.path("elsewhere")).unwrap();
    std::os::unix::fs::symlink("elsewhere", &spool).unwrap();
    let args = [
        "redact",
        "--pattern",
        "hunter2",
        "--reason",
        "leaked",
        "--json",
    ];
    let report = place.run(&args).fails(0, &["log.spool"]).json();
    assert_eq!(report["not_reached"][0]["path"], json!(spool));
    assert_eq!(report["spool"]["cleaned"], 0);
}

/// Spools of before are searched whatever their mode; what is not searched is named.
#[test]
fn former_spools_and_what_interrupted_commands_left_are_searched_or_named() {
    let place = Place::with_log();
    std::os::unix::fs::symlink("log", place.path("link")).unwrap();
    tell(&place, "Stop", json!({ "last_assistant_message": SECRET }));
    let (spool, former) = (place.path("log.spool"), place.path("link.spool"));
    std::fs::create_dir(&former).unwrap();
    for entry in std::fs::read_dir(&spool).unwrap().map(Result::unwrap) {
        if entry.file_name().to_string_lossy().ends_with(".hook") {
            std::fs::rename(entry.path(), former.join(entry.file_name())).unwrap();
        }
    }
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&former, mode).unwrap();
    std::fs::write(spool.join("x.hook~"), SECRET).unwrap();
    assert_eq!(files_with(&former, SECRET).len(), 1, "the control");
    let part = ".out.0192f0c1a1b2c3d4e5f60192f0c1a1b2.part";
    std::fs::write(place.path(part), SECRET).unwrap();
    std::fs::create_dir(place.path(".annals-backup-abc")).unwrap();
    // A folder that cannot be used.
    std::os::unix::fs::symlink("log", place.path("second")).unwrap();
    std::fs::write(place.path("second.spool"), SECRET).unwrap();

    let named = |ran: &crate::support::Ran| {
        for not_searched in [part, ".annals-backup-abc", "x.hook~", "second.spool"] {
            let is_named =
                |line: &str| line.contains("not searched") && line.contains(not_searched);
            assert!(ran.stdout.lines().any(is_named), "{not_searched}: {ran:?}");
        }
    };
    let args = ["redact", "--pattern", SECRET, "--reason", "leaked"];
    let dry = place.run(&[&args[..], &["--dry-run"]].concat()).ok();
    named(&dry);
    let ran = place.run(&args).ok();
    named(&ran);
    assert!(
        !former.exists() || files_with(&former, SECRET).is_empty(),
        "{ran:?}"
    );
    let status = place.run(&["hook", "status"]).ok().stdout;
    assert!(status.contains("second.spool"), "{status}");
    let doctor = place.run(&["doctor"]).fails(1, &[]);
    for left in [part, ".annals-backup-abc", "second.spool"] {
        assert!(doctor.stdout.contains(left), "{left}: {doctor:?}");
    }
}
