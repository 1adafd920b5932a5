//! Windows as a model saw them, and other policies on what was recorded.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Place, agent, uuid};

const PIPELINE: u64 = 0xd_0000_0001;
const PLAN: u64 = 0xd_0000_0002;
const TASK: u64 = 0xd_0000_0003;
const RUN: u64 = 0xd_0000_0004;
const CALL: u64 = 0xd_0000_0005;
const PATCH_SET: u64 = 0xd_0000_0006;

fn push(kind: &str, summary: &str, tokens: u64) -> Value {
    agent(
        "push_frame",
        json!({ "pipeline": uuid(PIPELINE), "kind": kind, "summary": summary, "token_estimate": tokens }),
    )
}

/// A pipeline of three frames, a run that calls a tool when frame 1 is still in
/// the window and proposes a patch when it has gone, and steps that use it.
fn recorded() -> Place {
    let place = Place::with_log();
    place.accept(&[
        agent(
            "create_pipeline",
            json!({ "id": uuid(PIPELINE), "max_frames": 3 }),
        ),
        push("intent_analysis", "Add pagination", 40),
        agent(
            "create_plan",
            json!({ "id": uuid(PLAN), "pipeline": uuid(PIPELINE), "fwindow": [0, 1] }),
        ),
        agent(
            "create_task",
            json!({ "id": uuid(TASK), "title": "Paginate" }),
        ),
        agent(
            "create_run",
            json!({ "id": uuid(RUN), "task": uuid(TASK), "plan": uuid(PLAN) }),
        ),
        agent("start_patching", json!({ "run": uuid(RUN) })),
        push("tool_call", "read src/list.rs", 100),
        push("tool_call", "read src/page.rs", 200),
        agent(
            "record_tool_invocation",
            json!({ "run": uuid(RUN), "id": uuid(CALL), "tool_name": "edit", "status": "ok" }),
        ),
        push("code_change", "changed src/page.rs", 50),
        agent(
            "propose_patch_set",
            json!({ "run": uuid(RUN), "id": uuid(PATCH_SET), "format": "unified_diff" }),
        ),
        agent(
            "add_step",
            json!({ "plan": uuid(PLAN), "step": { "description": "one", "iframes": [1, 2] } }),
        ),
        agent(
            "set_step_status",
            json!({ "plan": uuid(PLAN), "step": 0, "status": "progressing" }),
        ),
    ]);
    place
}

fn frames(window: &Value) -> Vec<u64> {
    let frames = window["window"]["frames"].as_array().unwrap();
    let id = |frame: &Value| frame["frame_id"].as_u64().unwrap();
    frames.iter().map(id).collect()
}

#[test]
fn the_window_of_each_record_is_that_of_its_own_position() {
    let place = recorded();
    let window = |id: u64, more: &[&str]| {
        let id = uuid(id);
        let args = [&["show", id.as_str(), "--window", "--json"], more].concat();
        place.run(&args).ok().json()
    };
    assert_eq!(frames(&window(RUN, &[])), [0]);
    assert_eq!(frames(&window(CALL, &[])), [0, 1, 2]);
    let patch_set = window(PATCH_SET, &[]);
    assert_eq!(frames(&patch_set), [0, 2, 3]);
    let gone = &patch_set["window"]["evicted"][0];
    assert_eq!((&gone["frame"], &gone["pushed"]), (&json!(1), &json!(3)));
    let position = patch_set["position"].as_u64().unwrap();
    assert!(gone["position"].as_u64().unwrap() < position);
    assert_eq!(frames(&window(PLAN, &[])), [0]);
    assert_eq!(window(PLAN, &[])["fwindow"], json!([0, 1]));
    assert_eq!(frames(&window(PLAN, &["--step", "0"])), [0, 2, 3]);
    assert_eq!(frames(&window(PIPELINE, &[])), [0, 2, 3]);
    assert_eq!(frames(&window(PIPELINE, &["--at", "2"])), [0]);
    assert_eq!(frames(&window(CALL, &["--at", "16"])), [0, 2, 3]);
}

#[test]
fn each_frame_says_why_it_is_in() {
    let place = recorded();
    let shown = place
        .run(&["show", &uuid(PATCH_SET), "--window"])
        .ok()
        .stdout;
    for text in [
        "window of patch_set 00000006 at event",
        "max_frames (3 frames)",
        "its kind is protected",
        "goes next",
        "1 older go first",
        "EVICTED",
        "changed src/page.rs",
    ] {
        assert!(shown.contains(text), "{text:?} is not in {shown}");
    }
    place.accept(&[
        agent("set_eviction_policy", json!({ "pipeline": uuid(PIPELINE), "policy": { "least_recently_used": { "max_frames": 3 } } })),
        agent("link_step_frames", json!({ "plan": uuid(PLAN), "step": 0, "iframes": [0], "inferred": true })),
        agent("add_step", json!({ "plan": uuid(PLAN), "step": { "description": "two", "iframes": [2] } })),
        push("step_summary", "done", 10),
    ]);
    let window = place
        .run(&["show", &uuid(PIPELINE), "--window", "--json"])
        .ok()
        .json();
    assert_eq!(frames(&window), [0, 2, 4]);
    let why = |index: usize| &window["window"]["frames"][index]["why"];
    assert_eq!(*why(0), json!("protected"));
    assert_eq!(why(1)["recent"]["used"]["step"], 1);
    assert_eq!(why(2)["recent"], json!({ "before_it": 1, "used": null }));
}

#[test]
fn frames_that_had_gone_when_a_step_used_them_are_marked() {
    let place = recorded();
    let plan = place.run(&["show", &uuid(PLAN)]).ok().stdout;
    assert!(
        plan.contains(
            "step 0 consumed frame 1 at event 14: evicted before, by the push of frame 3"
        ),
        "{plan}"
    );
    assert!(!plan.contains("consumed frame 2"), "it was there: {plan}");
    let step = place.run(&["show", &uuid(PLAN), "--window", "--step", "0", "--json"]);
    let linked = step.ok().json()["step_frames"].clone();
    assert_eq!(linked[0]["was"]["evicted"]["pushed"], 3);
    assert_eq!(linked[1]["was"], "in_window");
    let never = agent(
        "link_step_frames",
        json!({ "plan": uuid(PLAN), "step": 0, "iframes": [9] }),
    );
    let answer = &place.apply(&[never])[0];
    assert_eq!(answer["ok"], false);
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("never pushed"), "{message}");
}

#[test]
fn a_policy_that_cannot_be_met_says_so() {
    let place = Place::with_log();
    let pipeline = uuid(PIPELINE);
    place.accept(&[
        agent(
            "create_pipeline",
            json!({ "id": pipeline, "policy": { "token_budget": { "max_tokens": 50 } } }),
        ),
        push("checkpoint", "save-point", 80),
        push("tool_call", "read", 20),
    ]);
    let shown = place.run(&["show", &pipeline]).ok().stdout;
    let says = "(policy token_budget) (over its limit by 30 tokens: all frames that are left are protected)";
    assert!(shown.contains(says), "{shown}");
    let window = place
        .run(&["show", &pipeline, "--window", "--json"])
        .ok()
        .json();
    let over = &window["window"]["over_limit"];
    assert_eq!(*over, json!({ "tokens": 30, "until_next_push": false }));
    let replay = place.run(&["replay", &pipeline]);
    assert!(
        replay
            .stderr
            .contains("recorded left the window over its limit after 2 pushes")
    );
}

#[test]
fn a_rolling_summary_stands_for_what_went() {
    let place = Place::with_log();
    let pipeline = uuid(PIPELINE);
    let policy = json!({ "rolling_summary": { "max_tokens": 300, "summary_tokens": 100 } });
    let mut commands = vec![agent(
        "create_pipeline",
        json!({ "id": pipeline, "policy": policy }),
    )];
    commands.extend((0..6).map(|n| push("tool_call", &format!("call {n}\nand more"), 80)));
    place.accept(&commands);
    let window = place
        .run(&["show", &pipeline, "--window", "--json"])
        .ok()
        .json();
    assert_eq!(frames(&window), [4, 5]);
    let summary = &window["window"]["rolling_summary"];
    assert_eq!(summary["stands_for"], json!([[0, 3]]));
    let text = summary["text"].as_str().unwrap();
    assert_eq!(
        text,
        "Earlier frames, of which only this is left: 0-3\n0 tool_call: call 0\n1 tool_call: call 1\n2 tool_call: call 2\n3 tool_call: call 3"
    );
    let shown = place.run(&["show", &pipeline, "--window"]).ok().stdout;
    assert!(shown.contains("3 tool_call: call 3"), "{shown}");
    let exported = place.run(&["export", "git-internal"]);
    let says = "left out: context_pipeline";
    assert!(
        exported.stderr.contains(says) && exported.stderr.contains("rolling_summary (300 tokens"),
        "{exported:?}"
    );
    let git_internal = place
        .run(&["show", &pipeline, "--as", "git-internal"])
        .json();
    assert_eq!(
        git_internal["frames"].as_array().unwrap().len(),
        2,
        "no frame of its own"
    );
}

#[test]
fn what_has_no_window_says_why() {
    let place = recorded();
    let (task, run) = (uuid(TASK), uuid(0xd_0000_0009));
    place.accept(&[agent("create_run", json!({ "id": run, "task": task }))]);
    place
        .run(&["show", &task, "--window"])
        .fails(1, &["has no window", "ask for one of its runs"]);
    place
        .run(&["show", &run, "--window"])
        .fails(1, &["its run has no plan"]);
    place
        .run(&["show", &uuid(PLAN), "--window", "--step", "7"])
        .fails(1, &["no step 7", "it has 1"]);
    place
        .run(&["show", &uuid(RUN), "--window", "--step", "0"])
        .fails(1, &["only a plan has steps"]);
    place
        .run(&["show", &uuid(RUN), "--window", "--at", "2"])
        .fails(1, &["did not exist yet"]);
    place
        .run(&["show", &uuid(PLAN), "--window", "--step", "0", "--at", "5"])
        .fails(1, &["no step 0", "it has 0"]);
    place
        .run(&["show", &uuid(PLAN), "--step", "0"])
        .fails(2, &["--window"]);
    let ran = place.run(&["show", &task, "--window", "--json"]);
    assert_eq!(ran.fails(1, &[]).error_code(), "no_window");
}

fn policy(place: &Place, name: &str, text: &str) -> String {
    fs::write(place.path(name), text).unwrap();
    name.to_owned()
}

#[test]
fn policies_are_tried_side_by_side_and_the_log_stays_as_it_is() {
    let place = recorded();
    let before = place.run(&["stats", "--json"]).ok().json();
    let four = policy(&place, "four.toml", "[max_frames]\nmax_frames = 4\n");
    let tokens = policy(
        &place,
        "tokens.json",
        r#"{"token_budget": {"max_tokens": 100}}"#,
    );
    let pipeline = uuid(PIPELINE);
    let args = [
        "replay",
        &pipeline,
        "--policy",
        &four,
        "--policy",
        &tokens,
        "--optimum",
    ];
    let shown = place.run(&args).ok().stdout;
    let rows: Vec<Vec<&str>> = shown
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert!(
        shown.starts_with("pipeline 00000001: 4 frames pushed, 2 uses, events 1 to"),
        "{shown}"
    );
    assert_eq!(rows[2][..4], ["recorded", "3", "2.2", "3"], "{shown}");
    assert_eq!(
        rows[2][7..],
        ["1", "1", "(50.0", "%)", "0", "+1"],
        "{shown}"
    );
    assert_eq!(rows[3][7..], ["0", "0", "(0.0", "%)", "0", "0"], "{shown}");
    assert_eq!(
        rows[4][7..],
        ["2", "2", "(100.0", "%)", "~2", "0"],
        "{shown}"
    );
    let json = place
        .run(&[&args[..], &["--json", "--windows"]].concat())
        .ok()
        .json();
    assert_eq!(json["policies"][0]["name"], "recorded");
    assert_eq!(
        json["policies"][2]["optimum"],
        json!({ "kind": "heuristic", "misses": 2 })
    );
    let windows = json["windows"].as_array().unwrap();
    assert_eq!(windows.len(), 6, "two moments under three policies");
    assert_eq!(windows[0]["missed"], json!([1]));
    assert_eq!(windows[0]["frames"], json!([[0, 0], [2, 3]]));
    assert_eq!(windows[1]["missed"], json!([]));
    let all = place
        .run(&["replay", "--all", "--policy", &four, "--json"])
        .ok()
        .json();
    assert_eq!(all["total"][1]["misses"], 0);
    assert_eq!(all["pipelines"].as_array().unwrap().len(), 1);
    assert_eq!(
        place.run(&["stats", "--json"]).ok().json()["last_position"],
        before["last_position"]
    );
}

#[test]
fn windows_are_listed_for_people() {
    let place = recorded();
    let shown = place.run(&["replay", &uuid(PIPELINE), "--windows"]).stdout;
    assert!(
        shown.contains("windows of pipeline 00000001\nevent 15, step 0 of plan 00000002\n  recorded: 0, 2-3  MISSED 1"),
        "{shown}"
    );
    assert!(
        shown.contains("the end, event 15\n  recorded: 0, 2-3"),
        "{shown}"
    );
    let early = place
        .run(&["replay", &uuid(PIPELINE), "--at", "10", "--json"])
        .json();
    assert_eq!(early["pushes"], 3);
}

#[test]
fn a_bad_policy_file_is_refused_with_its_line() {
    let place = recorded();
    let pipeline = uuid(PIPELINE);
    for (name, text, says) in [
        (
            "a.toml",
            "[token_budget]\nmax_token = 5\n",
            "a.toml, line 2: unknown field `max_token`",
        ),
        (
            "b.json",
            "{\n \"token_budget\": {\n  \"max_tokens\": -5\n }\n}",
            "b.json, line 3: invalid value",
        ),
        (
            "c.toml",
            "[token_budget]\nmax_tokens = 0\n",
            "c.toml, line 2: a number from 1 is expected",
        ),
        ("d.json", "", "d.json, line 1: there is no policy"),
        (
            "e.toml",
            "[newest]\n",
            "e.toml, line 1: unknown variant `newest`",
        ),
    ] {
        let file = policy(&place, name, text);
        place
            .run(&["replay", &pipeline, "--policy", &file])
            .fails(1, &[says]);
        place.run(&["policies", "--check", &file]).fails(1, &[says]);
    }
    place
        .run(&["replay", &pipeline, "--policy", "nowhere.toml"])
        .fails(1, &["cannot read nowhere.toml"]);
    let good = policy(&place, "same.toml", "[unlimited]");
    policy(&place, "same.json", "{\"unlimited\": {}}");
    place
        .run(&[
            "replay",
            &pipeline,
            "--policy",
            &good,
            "--policy",
            "same.json",
        ])
        .fails(1, &["two policies are called \"same\""]);
    place
        .run(&["replay", &uuid(PLAN)])
        .fails(1, &["expected context_pipeline, found plan"]);
    let taken = policy(&place, "recorded.toml", "[unlimited]");
    place
        .run(&["replay", &pipeline, "--policy", &taken])
        .fails(1, &["recorded.toml has the name of what was recorded"]);
    place.run(&["replay"]).fails(2, &["PIPELINE"]);
    place
        .run(&["replay", "--all", &pipeline])
        .fails(2, &["--all"]);
    place
        .run(&["replay", &pipeline, "--at", "occurred:2026-01-02T03:04:05Z"])
        .fails(2, &["--at"]);
    place
        .run(&["replay", &pipeline, "--at", "99999"])
        .fails(1, &["is not there yet"]);
}

#[test]
fn the_policies_are_described_and_have_a_schema() {
    let place = Place::empty();
    let listed = place.run(&["policies", "--json"]).ok().lines();
    let names: Vec<&str> = listed
        .iter()
        .map(|line| line["policy"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "max_frames",
            "token_budget",
            "rolling_summary",
            "least_recently_used",
            "kind_quotas",
            "unlimited"
        ]
    );
    let schema = place.run(&["policies", "--schema"]).ok().json();
    assert_eq!(schema["oneOf"].as_array().unwrap().len(), 6);
    let tokens = &schema["$defs"]["TokenBudget"];
    assert_eq!(tokens["properties"]["max_tokens"]["minimum"], 1);
    assert_eq!(tokens["additionalProperties"], false);
    let file = policy(
        &place,
        "lru.toml",
        "[least_recently_used]\nmax_frames = 50\n",
    );
    let read = place.run(&["policies", "--check", &file]).ok().json();
    assert_eq!(
        read["least_recently_used"]["protected"],
        json!(["intent_analysis", "checkpoint"])
    );
}
