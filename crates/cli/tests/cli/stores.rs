//! One list of cases over logs in a folder, in a folder that another process owns, and on PostgreSQL: what a user sees is
//! the same. A log in memory ends with the command that has it, and no command of these works on one.

use std::cell::OnceCell;
use std::io::Write;
use std::ops::Deref;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::postgres;
use crate::support::{Place, Running, agent, decision, grown_in, human, root, story, uuid};

/// Makes a test of each case over each store.
macro_rules! over_each_store {
    ($($case:ident,)+) => {
        mod in_a_folder {
            $(
                #[test]
                fn $case() {
                    super::$case(&super::Stored::new(super::Place::empty(), false));
                }
            )+
        }
        mod in_a_shared_folder {
            $(
                #[test]
                fn $case() {
                    super::$case(&super::Stored::new(super::Place::empty(), true));
                }
            )+
        }
        mod on_postgres {
            $(
                #[test]
                fn $case() {
                    if let Some(place) = super::postgres::place() {
                        super::$case(&super::Stored::new(place, false));
                    }
                }
            )+
        }
    };
}

over_each_store! {
    a_whole_story_is_recorded_shown_and_proved,
    removed_content_is_shown_by_nothing,
    a_repeat_is_answered_and_not_recorded,
    an_export_becomes_the_same_log,
    processes_write_beside_each_other,
    what_comes_is_followed,
    a_rebuilt_catalogue_is_the_same,
    recordings_are_imported_once,
    proofs_hold_when_what_they_prove_was_removed,
    a_pattern_is_removed_from_all_that_has_it,
    the_event_that_changed_an_object_is_found,
    decisions_on_tool_calls_are_listed_and_explained,
    another_policy_is_tried_on_what_was_recorded,
    what_waits_for_a_person_is_settled_and_worked_on,
    an_observation_leads_to_an_intent,
    a_subscription_goes_on_where_it_ended,
    costs_are_summed_by_what_they_are_of,
}

/// A place whose log is in one of the stores.
struct Stored {
    /// The process that owns the log, if it is shared. It ends before the place goes.
    owner: OnceCell<Running>,
    is_shared: bool,
    place: Place,
}

impl Stored {
    fn new(place: Place, is_shared: bool) -> Stored {
        Stored {
            owner: OnceCell::new(),
            is_shared,
            place,
        }
    }

    /// Makes the log. Where it is shared, another process owns it from then on, and every command is a guest of it.
    fn init(&self, more: &[&str]) {
        self.run(&[&["init"][..], more].concat()).ok();
        if self.is_shared {
            self.owner.get_or_init(|| {
                let serve = self.command(&["serve", "--record-only", "--json"]);
                let mut owner = Running::of(serve);
                assert_eq!(owner.next()["state"], "owner");
                owner
            });
        }
    }
}

impl Deref for Stored {
    type Target = Place;

    fn deref(&self) -> &Place {
        &self.place
    }
}

fn a_whole_story_is_recorded_shown_and_proved(place: &Stored) {
    place.init(&[]);
    let story = grown_in(place);
    let shown = |args: &[&str]| place.run(args).ok().stdout;
    assert!(shown(&["show", &story.run]).contains("completed"));
    assert!(shown(&["list", "runs"]).contains("completed"));
    assert!(shown(&["tree", &story.intent]).contains("Cache it"));
    assert!(shown(&["cat", &story.patch_set]).contains("+x\n"));
    assert!(shown(&["log", "--json"]).lines().count() > 14);
    let history = place.run(&["history", &story.run, "--json"]).ok().lines();
    let created = history[0]["position"].to_string();
    let before = shown(&["show", &story.run, "--at", &created, "--full"]);
    assert!(before.contains("status      created"), "{before}");
    assert!(shown(&["diff", &story.run, &created]).contains("completed"));
    // By its last digits, as the catalogue knows it.
    let short = &story.task[story.task.len() - 8..];
    assert!(shown(&["show", short]).contains("Cache it"));
    let found = place.run(&["search", "parser", "--json"]);
    assert!(
        found.status == 0 && found.stdout.contains("parser"),
        "{found:?}"
    );

    let verified = place.run(&["verify", "--json"]).ok().json();
    assert_eq!(
        (&verified["ok"], &verified["catalogue"]["total_findings"]),
        (&json!(true), &json!(0))
    );
    let stats = place.run(&["stats", "--json"]).ok().json();
    for field in ["streams", "batches", "blobs"] {
        assert_eq!(verified[field], stats[field], "{field}");
    }
    assert_eq!(verified["records"], stats["events"]);
    place.run(&["checkpoint", "--out", "now"]).ok();
    place.run(&["prove", &story.run, "--out", "proof"]).ok();
    place
        .run(&["verify", "--proof", "proof", "--checkpoint", "now"])
        .ok();
    place.accept(&[human("create_intent", json!({ "prompt": "more" }))]);
    for args in [
        ["verify", "--checkpoint", "now"],
        ["verify", "--since", "now"],
    ] {
        assert!(shown(&args).contains("sound"), "{args:?}");
    }
    let doctor = place.run(&["doctor"]).ok().stdout;
    assert!(
        doctor.contains("root ") && doctor.contains("catalogue"),
        "{doctor}"
    );
}

fn removed_content_is_shown_by_nothing(place: &Stored) {
    place.init(&[]);
    let secret = "hunter2-and-more";
    let ids = place.accept(&[
        human(
            "create_intent",
            json!({ "prompt": format!("the password is {secret}") }),
        ),
        human("create_intent", json!({ "prompt": "other" })),
    ]);
    place.run(&["checkpoint", "--out", "before"]).ok();
    let removed = place.run(&["redact", "1", "--reason", "leaked"]);
    assert_eq!(removed.status, 0, "{removed:?}");
    for args in [
        &["show", ids[0].as_str()][..],
        &["log", "--json"],
        &["export", "annals"],
        &["search", "password"],
    ] {
        let ran = place.run(args);
        assert!(ran.status == 0 && !ran.stdout.contains(secret), "{ran:?}");
    }
    assert!(place.run(&["show", &ids[1]]).ok().stdout.contains("other"));
    let verified = place
        .run(&["verify", "--checkpoint", "before", "--json"])
        .ok()
        .json();
    assert_eq!(verified["ok"], true, "{verified}");
    assert_eq!(place.run(&["doctor"]).status, 0);
}

fn a_repeat_is_answered_and_not_recorded(place: &Stored) {
    place.init(&[]);
    let create = human("create_intent", json!({ "key": uuid(5), "prompt": "once" }));
    let first = place.apply(std::slice::from_ref(&create));
    let again = place.apply(&[create]);
    assert_eq!(
        (&first[0]["ok"], &first[0]["id"]),
        (&json!(true), &again[0]["id"])
    );
    let other = human(
        "create_intent",
        json!({ "key": uuid(5), "prompt": "another" }),
    );
    assert_eq!(place.apply(&[other])[0]["ok"], false);
    assert_eq!(place.run(&["stats", "--json"]).ok().json()["events"], 1);
}

fn an_export_becomes_the_same_log(place: &Stored) {
    let of = Place::with_log();
    grown_in(&of);
    let exported = of.run(&["export", "annals"]).ok().stdout;
    // Elsewhere the import makes the log.
    if place.is_shared {
        let stats = of.run(&["stats", "--json"]).ok().json();
        place.init(&["--log-id", stats["log_id"].as_str().unwrap()]);
    }
    let imported = place
        .run_with(&["import", "annals", "-", "--json"], &exported)
        .ok();
    let known = imported.json()["copied"].clone();
    assert_eq!(place.run(&["export", "annals"]).ok().stdout, exported);
    let again = place
        .run_with(&["import", "annals", "-", "--json"], &exported)
        .ok();
    assert_eq!(
        (&again.json()["copied"], &again.json()["known"]),
        (&json!(0), &known)
    );
}

fn processes_write_beside_each_other(place: &Stored) {
    place.init(&[]);
    let lines = |writer: u64| -> String {
        let create = |n| {
            human(
                "create_intent",
                json!({ "id": uuid(writer * 1_000 + n), "prompt": "p" }),
            )
        };
        (1..=20).map(|n| format!("{}\n", create(n))).collect()
    };
    let writers: Vec<_> = (1..=4)
        .map(|writer| {
            let mut child = place
                .command(&["apply"])
                .stdin(Stdio::piped())
                .spawn()
                .unwrap();
            child
                .stdin
                .take()
                .unwrap()
                .write_all(lines(writer).as_bytes())
                .unwrap();
            child
        })
        .collect();
    for writer in writers {
        let ended = writer.wait_with_output().unwrap();
        assert!(ended.status.success(), "{ended:?}");
    }
    assert_eq!(place.run(&["stats", "--json"]).ok().json()["events"], 80);
    let all = place
        .run(&["list", "intents", "--limit", "100", "--json"])
        .ok()
        .lines();
    assert_eq!(all.len(), 80);
    assert_eq!(place.run(&["verify", "--json"]).ok().json()["ok"], true);
}

fn what_comes_is_followed(place: &Stored) {
    place.init(&[]);
    let mut follow = Running::of(place.command(&["log", "--follow", "--json"]));
    for n in 1..=3 {
        place.accept(&[human(
            "create_intent",
            json!({ "id": uuid(n), "prompt": "p" }),
        )]);
        assert_eq!(follow.next()["position"], n);
    }
}

fn a_rebuilt_catalogue_is_the_same(place: &Stored) {
    place.init(&[]);
    let story = grown_in(place);
    let listed = || place.run(&["tree", &story.intent]).ok().stdout;
    let before = listed();
    let rebuilt = place.run(&["rebuild", "--json"]).ok().json();
    assert!(rebuilt["rows"].as_u64().unwrap() > 0, "{rebuilt}");
    assert_eq!(listed(), before);
    assert_eq!(place.run(&["verify", "--json"]).ok().json()["ok"], true);
}

fn recordings_are_imported_once(place: &Stored) {
    place.init(&[]);
    let session = "0b1f4a52-7a6e-4c0e-9d0a-0000000000a1";
    let folder = place.path("projects");
    std::fs::create_dir_all(&folder).unwrap();
    let prompt = json!({
        "type": "user", "uuid": "l1", "sessionId": session, "timestamp": "2026-11-26T01:02:03Z", "cwd": "/shop",
        "message": { "role": "user", "content": "Cache the parser" },
    });
    let answer = json!({
        "type": "assistant", "uuid": "l2", "sessionId": session, "timestamp": "2026-11-26T01:02:04Z", "cwd": "/shop",
        "message": { "id": "m2", "model": "claude-sonnet-4-6", "role": "assistant",
            "usage": { "input_tokens": 3, "output_tokens": 4 }, "content": [{ "type": "text", "text": "Done" }] },
    });
    std::fs::write(folder.join("s.jsonl"), format!("{prompt}\n{answer}\n")).unwrap();
    let events = || {
        place.run(&["stats", "--json"]).ok().json()["events"]
            .as_u64()
            .unwrap()
    };
    let import = || place.run(&["watch", "claude", "projects", "--once", "--json"]);
    let first = import();
    assert_eq!(first.status, 0, "{first:?}");
    let made = events();
    assert!(made > 0, "{first:?}");
    assert_eq!(import().status, 0);
    assert_eq!(events(), made);
    place.accept(&[human("create_intent", json!({ "prompt": "goes on" }))]);
}

/// Checkpoints and proofs are over what stays.
fn proofs_hold_when_what_they_prove_was_removed(place: &Stored) {
    place.init(&[]);
    let create = |prompt: &str| human("create_intent", json!({ "prompt": prompt }));
    let ids = place.accept(&[create("the password is hunter2"), create("other")]);
    place.run(&["key", "generate", "log.key"]).ok();
    let checkpoint = |out: &str| {
        let args = ["checkpoint", "--key", "log.key", "--out", out];
        place.run(&args).ok();
    };
    let prove = |what: &[&str], checkpoint: &str, out: &str| {
        let with = ["--checkpoint", checkpoint, "--out", out];
        place.run(&[&["prove"][..], what, &with].concat()).ok();
    };
    // As somebody does who has the files and not the log.
    let proved = |proof: &str, checkpoint: &str| {
        let elsewhere = [
            "--log",
            "nowhere",
            "verify",
            "--key",
            "log.key.pub",
            "--json",
        ];
        let with = ["--proof", proof, "--checkpoint", checkpoint];
        let proved = place.run(&[&elsewhere[..], &with].concat()).ok().json();
        assert_eq!(proved["ok"], true, "{proved}");
        proved
    };
    checkpoint("old");
    prove(&[&ids[0]], "old", "whole");
    let removed = place.run(&["redact", "1", "--reason", "leaked"]);
    assert_eq!(removed.status, 0, "{removed:?}");
    checkpoint("new");
    prove(&[&ids[0]], "new", "rest");
    prove(&["--since", "old"], "new", "grown");
    // Who has an older proof has what it says.
    let whole = proved("whole", "old");
    assert!(whole.to_string().contains("hunter2"), "{whole}");
    let rest = proved("rest", "new");
    assert!(!rest.to_string().contains("hunter2"), "{rest}");
    assert_eq!(rest["object"]["id"], ids[0].as_str());
    assert_eq!(
        rest["events"][0]["event_id"],
        whole["events"][0]["event_id"]
    );
    assert_eq!(proved("grown", "new")["kind"], "consistency");
    // What is exported is the same log, and does not have it either.
    let exported = place.run(&["export", "annals"]).ok().stdout;
    let imported = ["--log", "elsewhere", "import", "annals", "-"];
    place.run_with(&imported, &exported).ok();
    assert_eq!(root(place, "elsewhere"), root(place, place.log()));
    let again = ["--log", "elsewhere", "verify", "--checkpoint", "old"];
    place.run(&again).ok();
}

fn a_pattern_is_removed_from_all_that_has_it(place: &Stored) {
    place.init(&[]);
    let large = "the key is AKIA-1234 ".repeat(400);
    let intent = |prompt: &str| human("create_intent", json!({ "prompt": prompt }));
    let ids = place.accept(&[
        intent(&large),
        intent("kept"),
        intent("short AKIA-1234"),
        intent(&large),
    ]);
    let redact = |more: &[&str]| {
        let args = ["redact", "--pattern", "AKIA-[0-9]+", "--reason", "a leak"];
        let ran = place.run(&[&args[..], more, &["--json"]].concat());
        assert_eq!(ran.status, 0, "{ran:?}");
        ran.json()
    };
    let found = redact(&["--dry-run"]);
    let of = |position: u64| json!({ "position": position, "pieces": [0] });
    assert_eq!(found["events"], json!([of(1), of(3), of(4)]));
    let blob = found["blobs"][0].as_str().unwrap();
    assert_eq!(place.run(&["cat", blob]).ok().stdout, large);
    assert_eq!(place.run(&["stats", "--json"]).ok().json()["blobs"], 1);

    assert_eq!(redact(&["--actor", "human:bob"])["events"], found["events"]);
    place.run(&["cat", blob]).fails(1, &["holds no content"]);
    assert_eq!(place.run(&["stats", "--json"]).ok().json()["blobs"], 0);
    let shown = place.run(&["show", &ids[0], "--at", "1"]).ok().stdout;
    assert!(
        shown.contains("[removed]"),
        "the past has it no more: {shown}"
    );
    let shown = place.run(&["show", &ids[0]]).ok().stdout;
    assert!(shown.contains("redacted by human bob"), "{shown}");
    let listed = place.run(&["list", "intents"]).ok().stdout;
    assert!(
        listed.contains("kept") && !listed.contains("AKIA"),
        "{listed}"
    );
    assert_eq!(redact(&[])["events"], json!([]), "nothing is left");
    assert_eq!(place.run(&["verify", "--json"]).ok().json()["ok"], true);
}

fn the_event_that_changed_an_object_is_found(place: &Stored) {
    place.init(&[]);
    let run = story(place).run;
    let position = |event_type: &str| {
        let events = place.run(&["log", "--type", event_type, "--json"]).ok();
        events.lines()[0]["position"].to_string()
    };
    let started = position("run.patching_started");
    let validating = position("run.validation_started");
    let decided = position("run.decision_made");
    let json = |args: &[&str]| place.run(&[args, &["--json"]].concat()).ok().json();

    let diff = json(&["diff", &run, &started]);
    let changes = diff["patch"].as_array().unwrap();
    let status = changes.iter().find(|it| it["path"] == "/status").unwrap();
    assert_eq!(
        (&status["old"], &status["value"]),
        (&json!("patching"), &json!("completed"))
    );
    assert_eq!(status["cause"]["position"].to_string(), decided);
    let why = json(&["why", &run, "status"]);
    let causes = why["changes"].as_array().unwrap().iter();
    let causes: Vec<&str> = causes
        .filter_map(|it| it["cause"]["event_type"].as_str())
        .collect();
    let expected = [
        "run.decision_made",
        "run.validation_started",
        "run.patching_started",
        "run.created",
    ];
    assert_eq!(causes, expected);
    let test = ["--test", r#"/status=="patching""#];
    let of_run = ["bisect", "--id", &run, "--from", &started];
    let found = json(&[&of_run[..], &test].concat());
    assert_eq!(found["outcome"], "changed", "{found}");
    assert_eq!(found["candidates"][0]["position"].to_string(), validating);
    // A moment is also the commit that a decision led to.
    let at = |moment: &str| json(&["show", &run, "--at", moment]);
    assert_eq!(at(&"2".repeat(40)), at(&decided));
    assert_ne!(at(&validating), at(&decided));
    let compared = json(&["compare", &run, &run]);
    assert_eq!(compared["calls_part_at"], Value::Null);
}

fn decisions_on_tool_calls_are_listed_and_explained(place: &Stored) {
    place.init(&[]);
    let (task, run, calls) = (uuid(1), uuid(2), [uuid(11), uuid(12), uuid(13)]);
    let decide = |call: &str, fields: Value| {
        let mut all = json!({ "run": run, "tool_invocation": call, "tool_name": "Bash" });
        all.as_object_mut()
            .unwrap()
            .extend(fields.as_object().unwrap().clone());
        decision(all)
    };
    let request = |call: &str, command: &str| {
        let args = json!({ "command": command });
        agent(
            "request_tool_call",
            json!({ "run": run, "id": call, "tool_name": "Bash", "args": args }),
        )
    };
    place.accept(&[
        agent("create_task", json!({ "id": task, "title": "Publish it" })),
        agent("create_run", json!({ "id": run, "task": task })),
        request(&calls[0], "git push --force"),
        decide(&calls[0], json!({
            "verdict": "deny", "by": "rule", "by_name": "Bash(git push:*)", "reason": "never force",
        })),
        request(&calls[1], "cargo test"),
        decide(&calls[1], json!({ "verdict": "ask", "by": "mode", "by_name": "default" })),
        decide(&calls[1], json!({ "verdict": "allow", "by": "person", "by_name": "ada", "scope": "session" })),
        decide(&calls[2], json!({ "verdict": "allow", "by": "person", "grant": calls[1], "inferred": true })),
    ]);
    let listed = |more: &[&str]| {
        let args = [&["decisions", "--oldest", "--json"], more].concat();
        let lines = place.run(&args).ok().lines();
        let call = |line: &Value| line["call"].as_str().unwrap().to_owned();
        lines.iter().map(call).collect::<Vec<_>>()
    };
    let [denied, asked, granted] = calls.clone();
    assert_eq!(
        listed(&[]),
        [&denied, &asked, &asked, &granted].map(String::clone)
    );
    assert_eq!(listed(&["--denied"]), std::slice::from_ref(&denied));
    assert_eq!(
        listed(&["--by", "person"]),
        [asked.clone(), granted.clone()]
    );
    assert_eq!(
        listed(&["--run", &run, "--asked"]),
        std::slice::from_ref(&asked)
    );
    let grants = place.run(&["decisions", "--grants", "--json"]).ok().json();
    assert_eq!(
        (&grants["call"], &grants["uses"]["count"]),
        (&json!(asked), &json!(1))
    );
    let why = place.run(&["why", &denied]).ok().stdout;
    for part in [
        "git push --force",
        "deny by rule Bash(git push:*)",
        "because: never force",
    ] {
        assert!(why.contains(part), "{part:?} is not in {why}");
    }
    let why = place.run(&["why", &granted]).ok().stdout;
    assert!(why.contains(&format!("annals object why {asked}")), "{why}");
    let waiting = ["list", "tool_invocation", "--status", "denied", "--json"];
    assert_eq!(place.run(&waiting).ok().lines().len(), 1);
}

fn another_policy_is_tried_on_what_was_recorded(place: &Stored) {
    place.init(&[]);
    let (pipeline, plan) = (uuid(1), uuid(2));
    let push = |kind: &str, summary: &str, tokens: u64| {
        let frame = json!({ "pipeline": pipeline, "kind": kind, "summary": summary, "token_estimate": tokens });
        agent("push_frame", frame)
    };
    place.accept(&[
        agent(
            "create_pipeline",
            json!({ "id": pipeline, "max_frames": 3 }),
        ),
        push("intent_analysis", "Add pagination", 40),
        agent("create_plan", json!({ "id": plan, "pipeline": pipeline })),
        push("tool_call", "read src/list.rs", 100),
    ]);
    let third = place.apply(&[push("tool_call", "read src/page.rs", 200)]);
    let third = third[0]["position"].to_string();
    place.accept(&[
        push("code_change", "changed src/page.rs", 50),
        agent(
            "add_step",
            json!({ "plan": plan, "step": { "description": "one", "iframes": [1, 2] } }),
        ),
        agent(
            "set_step_status",
            json!({ "plan": plan, "step": 0, "status": "progressing" }),
        ),
    ]);
    let end = || place.run(&["stats", "--json"]).ok().json()["position"].clone();
    let before = end();
    std::fs::write(place.path("four.toml"), "[max_frames]\nmax_frames = 4\n").unwrap();
    let args = ["replay", &pipeline, "--policy", "four.toml", "--json"];
    let replayed = place.run(&args).ok().json();
    let of = |policy: usize| {
        let policy = &replayed["policies"][policy];
        (
            policy["name"].as_str().unwrap(),
            policy["misses"].as_u64().unwrap(),
        )
    };
    // The step used the first call, which had gone by then; with room for four it would have been there.
    assert_eq!([of(0), of(1)], [("recorded", 1), ("four", 0)]);
    assert_eq!(replayed["pushes"], 4);
    let before_the_last = ["replay", "--all", "--at", &third, "--json"];
    let all = place.run(&before_the_last).ok().json();
    assert_eq!(all["pipelines"][0]["pushes"], 3);
    let window = ["show", &pipeline, "--window", "--json"];
    let window = place.run(&window).ok().json();
    let frames = window["window"]["frames"].as_array().unwrap().iter();
    let frames: Vec<&Value> = frames.map(|frame| &frame["frame_id"]).collect();
    assert_eq!(frames, [0, 2, 3]);
    assert_eq!(end(), before, "nothing is recorded");
}

/// What an agent answers who is asked how an intent is carried out.
const PLAN: &str = r#"I looked at the code. Here is the plan:

```json
{"tasks": [
  {"id": "form", "title": "Add the form", "depends_on": ["mail"], "complexity": "low"},
  {"id": "mail", "title": "Send the mail", "plan": "one function", "relevant_files": ["mail.rs"]}
]}
```
"#;

fn what_waits_for_a_person_is_settled_and_worked_on(place: &Stored) {
    place.init(&[]);
    let submit = |alias: &str, more: &[&str], text: &str| {
        let args = [&["submit", "--alias", alias][..], more, &[text]].concat();
        place.run(&args).ok();
    };
    submit("link", &[], "Add a link to the login page");
    submit("reset", &["--risk", "low"], "Reset link");
    let waiting = place.run(&["inbox", "--json"]).ok().lines();
    assert_eq!(
        waiting.len(),
        1,
        "what is low goes on by itself: {waiting:?}"
    );
    assert_eq!(
        (&waiting[0]["alias"], &waiting[0]["reasons"]),
        (&json!("link"), &json!(["approval"]))
    );
    let approve = waiting[0]["resolve"][0].as_str().unwrap();
    let approve: Vec<&str> = approve.split(' ').skip(1).collect();
    place
        .run(&[&approve[..], &["--actor", "human:approver"]].concat())
        .ok();
    assert_eq!(place.run(&["inbox"]).stdout, "");
    // A name is given once, whichever process gives it.
    let twice = place.run(&["submit", "--alias", "link", "--json", "Another one"]);
    assert_eq!(twice.status, 1, "{twice:?}");

    place.run_with(&["analyze", "reset", "-"], PLAN).ok();
    let ready = || place.run(&["ready", "reset", "--json"]).ok().lines();
    let first = ready();
    assert_eq!(first.len(), 1, "the form waits for the mail: {first:?}");
    assert_eq!(first[0]["view"]["id"], "mail");
    let run = agent("create_run", json!({ "task": first[0]["task"] }));
    let run = place.accept(&[run]).remove(0);
    place.accept(&[
        agent("start_patching", json!({ "run": run })),
        agent(
            "propose_patch_set",
            json!({ "run": run, "format": "unified_diff" }),
        ),
        agent("start_validation", json!({ "run": run })),
        human(
            "record_review",
            json!({ "task": first[0]["task"], "verdict": "approved" }),
        ),
    ]);
    assert_eq!(ready()[0]["view"]["id"], "form", "the mail is done");
    place.run(&["verify"]).ok();
}

fn an_observation_leads_to_an_intent(place: &Stored) {
    place.init(&[]);
    let observe = |alias: &str, text: &str| {
        let args = ["observe", "epiphany", "--alias", alias, "--json", text];
        place.run(&args).ok().json()["id"].clone()
    };
    let cache = observe("cache", "The cache is never emptied");
    observe("fine", "The log is never cut");
    let open = || place.run(&["observations", "--json"]);
    let aliases: Vec<Value> = open()
        .ok()
        .lines()
        .iter()
        .map(|it| it["alias"].clone())
        .collect();
    assert_eq!(aliases, ["cache", "fine"]);
    let proposed = place
        .run(&["submit", "--observation", "cache", "--json"])
        .ok()
        .json();
    let seen = place.run(&["show", "cache", "--json"]).ok().json();
    assert_eq!(
        (&seen["status"], &seen["intent"], &seen["object_id"]),
        (&json!("processed"), &proposed["id"], &cache)
    );
    place
        .run(&["process", "fine", "--reason", "it is meant so"])
        .ok();
    assert_eq!(open().stdout, "", "none is open");
    let all = place.run(&["observations", "--all"]).ok().stdout;
    assert!(all.contains("nothing to do, it is meant so"), "{all}");
    let before = place
        .run(&["show", "cache", "--at", "2", "--json"])
        .ok()
        .json();
    assert_eq!(before["status"], "open");
}

fn a_subscription_goes_on_where_it_ended(place: &Stored) {
    place.init(&[]);
    let append = |n: u64| {
        place.accept(&[human(
            "create_intent",
            json!({ "id": uuid(n), "prompt": "p" }),
        )]);
    };
    let take = |name: &str| {
        let args = ["log", "--subscription", name, "--json"];
        let lines = place.run(&args).ok().lines();
        let position = |line: &Value| line["position"].as_u64().unwrap();
        lines.iter().map(position).collect::<Vec<u64>>()
    };
    (1..=3).for_each(append);
    assert_eq!(take("mailer"), [1, 2, 3]);
    assert_eq!(take("mailer"), [0; 0]);
    append(4);
    let listed = || place.run(&["subscriptions", "--json"]).ok().lines();
    let mailer = json!({ "name": "mailer", "acknowledged": 3, "behind": 1 });
    assert_eq!(listed(), [mailer]);
    // Each has a place of its own, and keeps it when content is removed and when the catalogue is made again.
    assert_eq!(take("billing"), [1, 2, 3, 4]);
    let redact = ["redact", "1", "--reason", "it leaked", "--actor", "ada"];
    assert_eq!(place.run(&redact).status, 0);
    place.run(&["rebuild"]).ok();
    assert_eq!(take("mailer"), [4, 5]);
    assert_eq!(take("billing"), [5]);
    place.run(&["subscriptions", "--drop", "mailer"]).ok();
    place
        .run(&["subscriptions", "--drop", "mailer"])
        .fails(1, &["there is no subscription mailer"]);
    assert_eq!(listed().len(), 1);
}

fn costs_are_summed_by_what_they_are_of(place: &Stored) {
    place.init(&[]);
    let line = |n: u8, day: u8, message: Value| {
        let by = if message["role"] == "user" {
            "user"
        } else {
            "assistant"
        };
        let at = format!("2026-01-{day:02}T10:00:{n:02}Z");
        let line = json!({ "type": by, "uuid": format!("u{n}"), "sessionId": "s", "cwd": "/w", "timestamp": at,
            "isSidechain": false, "message": message });
        format!("{line}\n")
    };
    let says = |id: &str, model: &str, input: u64| {
        json!({ "role": "assistant", "id": id, "model": model, "content": [{ "type": "text", "text": "x" }],
            "usage": { "input_tokens": input, "cache_read_input_tokens": 1, "cache_creation_input_tokens": 0,
                "output_tokens": 2 } })
    };
    let session = [
        line(1, 2, json!({ "role": "user", "content": "Fix it" })),
        line(2, 2, says("m1", "model-1", 10)),
        line(3, 3, says("m2", "model-2", 20)),
        line(4, 3, says("m3", "model-1", 30)),
    ];
    std::fs::write(place.path("s.jsonl"), session.concat()).unwrap();
    let prices = "currency = \"EUR\"\nas_of = \"2026-01-31\"\n[[price]]\nmodels = [\"model-1\"]\n\
        from = \"2026-01-01\"\ninput = 1000\ncache_read = 100\noutput = 2000\n";
    std::fs::write(place.path("prices.toml"), prices).unwrap();
    let imported = place.run(&["import", "claude", "s.jsonl", "--ended"]);
    assert_eq!(imported.status, 0, "{imported:?}");
    let by = |axis: &str| {
        let args = ["cost", "--json", "--prices", "prices.toml", "--by", axis];
        let report = place.run(&args).ok().json();
        assert_eq!(report["total"]["computed_micros"], 48_200, "{report}");
        let row = |row: &Value| {
            let of = row["by"][axis].as_str().unwrap_or("-").to_owned();
            (of, row["computed_micros"].as_u64().unwrap())
        };
        report["rows"]
            .as_array()
            .unwrap()
            .iter()
            .map(row)
            .collect::<Vec<_>>()
    };
    let rows = |rows: &[(&str, u64)]| -> Vec<(String, u64)> {
        rows.iter()
            .map(|(of, micros)| ((*of).to_owned(), *micros))
            .collect()
    };
    assert_eq!(
        by("day"),
        rows(&[("2026-01-02", 14_100), ("2026-01-03", 34_100)])
    );
    assert_eq!(by("model"), rows(&[("model-1", 48_200), ("model-2", 0)]));
    assert_eq!(by("session"), rows(&[("s", 48_200)]));
    // Rows that are folded again say the same.
    place.run(&["rebuild"]).ok();
    assert_eq!(by("model"), rows(&[("model-1", 48_200), ("model-2", 0)]));
}
