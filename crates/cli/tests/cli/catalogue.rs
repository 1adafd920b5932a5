//! Lists, links, trees and rebuilding, as a new user would use them.

use serde_json::{Value, json};

use crate::support::{Place, agent, human, story, uuid};

/// Ids of a history in which every field that names another object is set.
const INTENT: u64 = 0xb_0000_0001;
const REFINED: u64 = 0xb_0000_0002;
const PIPELINE: u64 = 0xb_0000_0003;
const PLAN: u64 = 0xb_0000_0004;
const REVISED: u64 = 0xb_0000_0005;
const TASK: u64 = 0xb_0000_0006;
const PART: u64 = 0xb_0000_0007;
const OF_STEP: u64 = 0xb_0000_0008;
const SNAPSHOT: u64 = 0xb_0000_0009;
const RUN: u64 = 0xb_0000_000a;
const PATCH_SET: u64 = 0xb_0000_000b;
const EVIDENCE: u64 = 0xb_0000_000c;
const DECISION: u64 = 0xb_0000_000d;
const PROVENANCE: u64 = 0xb_0000_000e;
const CALL: u64 = 0xb_0000_000f;

fn fully_linked() -> Place {
    let place = Place::with_log();
    let oid = "1".repeat(40);
    let step = json!({ "description": "read it" });
    place.accept(&[
        human("create_intent", json!({ "id": uuid(INTENT), "prompt": "Add a cache" })),
        agent("analyze_intent", json!({ "intent": uuid(INTENT), "content": "c" })),
        agent("activate_intent", json!({ "intent": uuid(INTENT) })),
        human("create_intent", json!({ "id": uuid(REFINED), "prompt": "Bounded", "parent": uuid(INTENT) })),
        agent("create_pipeline", json!({ "id": uuid(PIPELINE), "max_frames": 8 })),
        agent("create_plan", json!({ "id": uuid(PLAN), "intent": uuid(INTENT), "pipeline": uuid(PIPELINE), "steps": [step] })),
        agent("create_plan", json!({ "id": uuid(REVISED), "intent": uuid(INTENT), "previous": uuid(PLAN) })),
        agent("select_plan", json!({ "intent": uuid(INTENT), "plan": uuid(REVISED) })),
        agent("create_task", json!({ "id": uuid(TASK), "title": "Cache it", "intent": uuid(INTENT) })),
        agent("create_task", json!({ "id": uuid(PART), "title": "Part of it", "parent": uuid(TASK), "dependencies": [uuid(TASK)] })),
        agent("spawn_step_task", json!({ "plan": uuid(PLAN), "step": 0, "id": uuid(OF_STEP), "title": "Read" })),
        agent("open_snapshot", json!({ "id": uuid(SNAPSHOT), "selection_strategy": "explicit" })),
        agent("create_run", json!({ "id": uuid(RUN), "task": uuid(TASK), "plan": uuid(PLAN), "snapshot": uuid(SNAPSHOT), "commit": oid })),
        agent("start_patching", json!({ "run": uuid(RUN) })),
        agent("record_tool_invocation", json!({ "run": uuid(RUN), "id": uuid(CALL), "tool_name": "read", "status": "error" })),
        agent("record_provenance", json!({ "run": uuid(RUN), "id": uuid(PROVENANCE), "provider": "p", "model": "m" })),
        agent("propose_patch_set", json!({ "run": uuid(RUN), "id": uuid(PATCH_SET), "format": "git_diff", "rationale": "It is slow" })),
        agent("start_validation", json!({ "run": uuid(RUN) })),
        agent("record_evidence", json!({ "run": uuid(RUN), "id": uuid(EVIDENCE), "patchset_id": uuid(PATCH_SET), "kind": "test", "tool": "cargo", "exit_code": 0 })),
        human("decide", json!({ "run": uuid(RUN), "id": uuid(DECISION), "decision_type": "commit", "chosen_patchset_id": uuid(PATCH_SET), "result_commit_sha": oid })),
    ]);
    place
}

fn ends(links: &Value, direction: &str, relation: &str) -> Vec<String> {
    let links = links[direction].as_array().unwrap();
    let of = links.iter().filter(|link| link["relation"] == relation);
    of.map(|link| {
        assert_eq!(link["exists"], true, "{link}");
        link["id"].as_str().unwrap().to_owned()
    })
    .collect()
}

#[test]
fn every_relationship_is_shown_from_both_ends() {
    let place = fully_linked();
    // git-internal's table, in its order, and the field that it lacks.
    let table = [
        ("intent.parent", REFINED, INTENT),
        ("intent.plan", INTENT, REVISED),
        ("plan.previous", REVISED, PLAN),
        ("plan.pipeline", PLAN, PIPELINE),
        ("plan_step.task", PLAN, OF_STEP),
        ("task.parent", PART, TASK),
        ("task.intent", TASK, INTENT),
        ("task.runs", TASK, RUN),
        ("task.dependencies", PART, TASK),
        ("run.task", RUN, TASK),
        ("run.plan", RUN, PLAN),
        ("run.snapshot", RUN, SNAPSHOT),
        ("run.patchsets", RUN, PATCH_SET),
        ("patch_set.run", PATCH_SET, RUN),
        ("evidence.run_id", EVIDENCE, RUN),
        ("evidence.patchset_id", EVIDENCE, PATCH_SET),
        ("decision.run_id", DECISION, RUN),
        ("decision.chosen_patchset_id", DECISION, PATCH_SET),
        ("provenance.run_id", PROVENANCE, RUN),
        ("tool_invocation.run_id", CALL, RUN),
        ("plan.intent", PLAN, INTENT),
    ];
    for (relation, source, target) in table {
        let from = place.run(&["refs", &uuid(source), "--json"]).ok().json();
        assert_eq!(
            ends(&from, "forward", relation),
            [uuid(target)],
            "{relation}"
        );
        let to = place.run(&["refs", &uuid(target), "--json"]).ok().json();
        let sources = ends(&to, "backward", relation);
        assert!(sources.contains(&uuid(source)), "{relation}: {sources:?}");
    }
    let shown = place.run(&["refs", &uuid(RUN)]).ok().stdout;
    for line in [
        "-> run.task",
        "<- tool_invocation.run_id",
        "Cache it",
        "0000000a",
    ] {
        let found = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            found.contains(line) || line == "0000000a",
            "{line}: {shown}"
        );
    }
}

fn ids(lines: &[Value]) -> Vec<&str> {
    lines
        .iter()
        .map(|line| line["id"].as_str().unwrap())
        .collect()
}

#[test]
fn lists_are_filtered_and_cut_into_pages() {
    let place = fully_linked();
    let list = |args: &[&str]| {
        let args = [&["list"], args, &["--json"]].concat();
        place.run(&args).ok().lines()
    };
    assert_eq!(
        ids(&list(&["tasks"])),
        [uuid(OF_STEP), uuid(PART), uuid(TASK)]
    );
    assert_eq!(
        ids(&list(&["task", "--oldest", "--limit", "1"])),
        [uuid(TASK)]
    );
    assert_eq!(ids(&list(&["task", "--status", "done"])), [uuid(TASK)]);
    assert_eq!(
        ids(&list(&["Task", "--parent", &uuid(INTENT)])),
        [uuid(OF_STEP), uuid(TASK)]
    );
    assert_eq!(ids(&list(&["runs", "--parent", &uuid(PLAN)])), [uuid(RUN)]);
    assert_eq!(
        ids(&list(&["invocation", "--status", "error"])),
        [uuid(CALL)]
    );
    assert_eq!(
        ids(&list(&["patchset", "--actor", "agent:coder"])),
        [uuid(PATCH_SET)]
    );
    assert_eq!(ids(&list(&["intents", "--actor", "coder"])), [""; 0]);
    assert_eq!(list(&["intents", "--actor", "human:ada"]).len(), 2);
    assert_eq!(list(&["intents", "--actor", "agent:ada"]).len(), 0);
    assert_eq!(list(&["run", "--until", "2020-01-01T00:00:00Z"]).len(), 0);
    assert_eq!(list(&["run", "--since", "2020-01-01T00:00:00Z"]).len(), 1);

    let first = list(&["task", "--limit", "2"]);
    let after = first[1]["first_position"].to_string();
    assert_eq!(ids(&list(&["task", "--after", &after])), [uuid(TASK)]);
    // The output says that there is more, and how to get it.
    let shown = place.run(&["list", "task", "--limit", "2"]);
    assert!(
        shown.stderr.contains(&format!("--after {after}")),
        "{shown:?}"
    );
    assert!(shown.stdout.contains("Part of it"), "{shown:?}");

    let run = &list(&["run"])[0];
    assert_eq!(run["status"], "completed");
    assert_eq!(run["links"]["task"], uuid(TASK));
    assert_eq!(run["counts"]["tool_errors"], 1);
    assert_eq!(list(&["plan", "--oldest"])[0]["counts"]["pending_steps"], 1);
}

#[test]
fn external_ids_find_objects() {
    let place = fully_linked();
    let set = |id: u64, ids: Value| {
        human(
            "set_metadata",
            json!({ "object": uuid(id), "external_ids": ids }),
        )
    };
    place.accept(&[
        set(TASK, json!({ "jira": "ANN-7", "github": "12" })),
        set(PART, json!({ "jira": "ANN-8" })),
    ]);
    let list = |id: &str| {
        let args = ["list", "task", "--external-id", id, "--json"];
        place.run(&args).ok().lines()
    };
    assert_eq!(ids(&list("jira")), [uuid(PART), uuid(TASK)]);
    assert_eq!(ids(&list("jira=ANN-7")), [uuid(TASK)]);
    assert_eq!(
        list("jira=ANN-7")[0]["external_ids"],
        json!({ "jira": "ANN-7", "github": "12" })
    );
    assert_eq!(
        list("jira=ANN").len() + list("ANN-7").len() + list("github=").len(),
        0
    );
    // They are not tags.
    assert_eq!(
        place
            .run(&["list", "task", "--tag", "jira", "--json"])
            .ok()
            .lines()
            .len(),
        0
    );
    place.accept(&[set(TASK, json!({ "jira": "ANN-8" }))]);
    assert_eq!(list("jira=ANN-7").len() + list("github").len(), 0);
    assert_eq!(ids(&list("jira=ANN-8")), [uuid(PART), uuid(TASK)]);
    place.run(&["verify"]).ok();
    place.run(&["rebuild"]).ok();
    assert_eq!(ids(&list("jira=ANN-8")), [uuid(PART), uuid(TASK)]);
    place
        .run(&["list", "work-items", "--external-id", "jira"])
        .fails(2, &["--external-id"]);
}

#[test]
fn tags_and_aliases_find_objects() {
    let place = fully_linked();
    let tags = json!({ "team": "parser", "urgent": "" });
    place.accept(&[
        human(
            "set_metadata",
            json!({ "object": uuid(TASK), "tags": tags, "visibility": "public" }),
        ),
        human(
            "set_metadata",
            json!({ "object": uuid(PART), "tags": { "team": "runtime" } }),
        ),
    ]);
    let reserve = json!({ "object": uuid(TASK), "alias": "add-cache" });
    let answer = &place.apply(&[human("reserve_alias", reserve)])[0];
    assert_eq!(answer["ok"], true, "{answer}");
    let list = |tag: &str| {
        place
            .run(&["list", "task", "--tag", tag, "--json"])
            .ok()
            .lines()
    };
    assert_eq!(ids(&list("team")), [uuid(PART), uuid(TASK)]);
    assert_eq!(ids(&list("team=parser")), [uuid(TASK)]);
    assert_eq!(ids(&list("urgent=")), [uuid(TASK)]);
    assert_eq!(list("team=").len() + list("parser").len(), 0);
    place.accept(&[human(
        "set_metadata",
        json!({ "object": uuid(TASK), "tags": {} }),
    )]);
    assert_eq!(list("team=parser").len(), 0);

    let shown = place.run(&["show", "add-cache", "--json"]).ok().json();
    assert_eq!(shown["object_id"], uuid(TASK));
    let row = &place
        .run(&["list", "task", "--status", "done", "--json"])
        .ok()
        .lines()[0];
    assert_eq!(
        (&row["aliases"], &row["visibility"]),
        (&json!(["add-cache"]), &json!("public"))
    );
    let tree = place.run(&["tree", "add-cache"]).ok().stdout;
    assert!(
        tree.starts_with("task 00000006 done [add-cache] Cache it"),
        "{tree}"
    );
    place
        .run(&["show", "drop-cache"])
        .fails(1, &["no object", "annals object list"]);
}

#[test]
fn a_tree_has_everything_that_belongs_to_an_object() {
    let place = fully_linked();
    let tree = place.run(&["tree", &uuid(INTENT), "--json"]).ok().json();
    let nodes: Vec<(u64, &str)> = tree["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|node| {
            (
                node["depth"].as_u64().unwrap(),
                node["id"].as_str().unwrap(),
            )
        })
        .collect();
    let expected = [
        (0, INTENT),
        (1, PLAN),
        (2, REVISED),
        (1, TASK),
        (2, PART),
        (2, RUN),
        (3, PATCH_SET),
        (4, EVIDENCE),
        (3, DECISION),
        (3, PROVENANCE),
        (3, CALL),
        (1, OF_STEP),
        (1, REFINED),
    ];
    let expected: Vec<(u64, String)> = expected.map(|(depth, id)| (depth, uuid(id))).to_vec();
    let nodes: Vec<(u64, String)> = nodes
        .into_iter()
        .map(|(d, id)| (d, id.to_owned()))
        .collect();
    assert_eq!(nodes, expected);
    assert_eq!(tree["more"], false);
    let shown = place.run(&["tree", &uuid(INTENT), "--depth", "1"]);
    assert!(shown.stderr.contains("left out"), "{shown:?}");
    assert!(
        shown.stdout.contains("\n  task 00000006 done Cache it"),
        "{shown:?}"
    );
    assert!(shown.stdout.contains("(and more)"), "{shown:?}");
}

#[test]
fn the_catalogue_is_rebuilt_on_request() {
    let place = fully_linked();
    let before = place.run(&["list", "task", "--json"]).ok().stdout;
    let rebuilt = place.run(&["rebuild", "--json"]).ok().json();
    let events = place.run(&["stats", "--json"]).ok().json()["events"].clone();
    assert_eq!(rebuilt["events"], events);
    assert_eq!(place.run(&["list", "task", "--json"]).ok().stdout, before);
    let said = place.run(&["rebuild"]).ok().stdout;
    assert!(said.starts_with("rebuilt the catalogue from"), "{said}");
    place.run(&["verify"]).ok();
}

#[test]
fn a_read_can_demand_what_was_written() {
    let place = Place::with_log();
    let story = story(&place);
    let end = place.run(&["stats", "--json"]).ok().json()["events"].to_string();
    let commands: [&[&str]; 6] = [
        &["show", &story.run],
        &["history", &story.run],
        &["list", "run"],
        &["refs", &story.run],
        &["tree", &story.run],
        &["log"],
    ];
    for command in commands {
        place
            .run(&[command, &["--min-position", &end]].concat())
            .ok();
    }
    let beyond = place.run(&["list", "run", "--min-position", "1000", "--json"]);
    assert_eq!(
        beyond.fails(1, &["position 1000", "ends at"]).error_code(),
        "behind"
    );
}

#[test]
fn what_cannot_be_listed_is_explained() {
    let place = fully_linked();
    let cases: [(&[&str], i32, &str); 12] = [
        (&["list"], 2, "<KIND>"),
        (&["list", "commit"], 2, "expected one of intent, plan"),
        (
            &["list", "run", "--status", "done"],
            1,
            "expected one of created, patching",
        ),
        (
            &["list", "plan", "--status", "done"],
            1,
            "this kind has no status",
        ),
        (&["list", "run", "--parent", "1234"], 1, "no object"),
        (&["list", "run", "--parent", &uuid(0xffff)], 1, "no object"),
        (
            &["list", "intent", "--parent", &uuid(RUN)],
            1,
            "no intent belongs to a run",
        ),
        (&["list", "run", "--since", "tomorrow"], 2, "RFC 3339"),
        (&["list", "run", "--limit", "0"], 2, "from 1 on"),
        (&["list", "run", "--after", "last"], 2, "--after"),
        (&["refs", &uuid(0xffff)], 1, "no object"),
        (&["tree", "no such"], 1, "invalid id"),
    ];
    for (args, status, says) in cases {
        place.run(args).fails(status, &[says]);
    }
    let error = place.run(&["list", "intent", "--parent", &uuid(RUN), "--json"]);
    assert_eq!(error.error_code(), "not_a_parent");
}

#[test]
fn the_largest_limits_are_limits() {
    let place = Place::with_log();
    let story = story(&place);
    let most = usize::MAX.to_string();
    for args in [
        ["list", "runs", "--limit", most.as_str()],
        ["refs", story.run.as_str(), "--limit", most.as_str()],
        ["tree", story.run.as_str(), "--limit", most.as_str()],
    ] {
        place.run(&args).ok();
    }
    let tree = ["tree", story.intent.as_str(), "--objects", "1", "--json"];
    assert_eq!(place.run(&tree).json()["nodes"][0]["more"], true);
}

#[test]
fn a_plan_that_an_intent_selects_is_one_of_its_plans() {
    let place = Place::with_log();
    let lines = [
        human("create_plan", json!({ "id": uuid(1) })),
        human("create_intent", json!({ "id": uuid(2), "prompt": "p" })),
        human(
            "analyze_intent",
            json!({ "intent": uuid(2), "content": "c" }),
        ),
        human("activate_intent", json!({ "intent": uuid(2) })),
    ];
    place.accept(&lines);
    // A process of its own has nothing in memory.
    place.accept(&[human(
        "select_plan",
        json!({ "intent": uuid(2), "plan": uuid(1) }),
    )]);
    place.run(&["verify"]).ok();
    let args = ["list", "plans", "--parent", &uuid(2), "--json"];
    assert_eq!(place.run(&args).ok().json()["id"], uuid(1));
}
