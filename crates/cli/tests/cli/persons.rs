//! What a person decides, and what stops when they have decided it.

use serde_json::{Value, json};

use crate::support::{Place, agent, human};

const CODER: &str = "agent:coder";

/// Proposes an intent, and gives its id.
fn propose(place: &Place, alias: &str, more: &[&str], actor: &str) -> String {
    let args = ["submit", "--alias", alias, "--json", "--actor", actor];
    let args = [&args[..], more, &["Do it"]].concat();
    let id = place.run(&args).ok().json()["id"].clone();
    id.as_str().unwrap().to_owned()
}

fn status(place: &Place, alias: &str) -> String {
    let shown = place.run(&["show", alias, "--as", "forge", "--json"]).ok();
    shown.json()["status"].as_str().unwrap().to_owned()
}

fn task(place: &Place, intent: &str, after: &[&str]) -> String {
    let create = json!({ "title": "work", "intent": intent, "dependencies": after });
    place.accept(&[agent("create_task", create)]).remove(0)
}

/// Demands that a command is refused, and gives the reason.
#[track_caller]
fn refused(place: &Place, command: Value) -> String {
    let answer = place.apply(&[command]).remove(0);
    assert_eq!(answer["ok"], false, "{answer}");
    answer["error"]["message"].as_str().unwrap().to_owned()
}

fn inbox(place: &Place) -> Vec<Value> {
    // An empty one says so on standard error.
    let ran = place.run(&["inbox", "--json"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    ran.lines()
}

#[test]
fn a_run_of_what_a_person_turned_down_fails_or_is_abandoned_and_nothing_else() {
    let place = Place::with_log();
    let intent = propose(&place, "it", &["--risk", "low"], CODER);
    let work = task(&place, &intent, &[]);
    let run = place
        .accept(&[agent("create_run", json!({ "task": work }))])
        .remove(0);
    place.accept(&[agent("start_patching", json!({ "run": run }))]);
    let cancel = json!({ "intent": intent });
    place.accept(&[human("cancel_intent", cancel)]);
    let before = place.run(&["log", "--json"]).ok().lines().len();
    for (name, fields) in [
        (
            "propose_patch_set",
            json!({ "run": run, "format": "unified_diff" }),
        ),
        ("start_validation", json!({ "run": run })),
        ("create_run", json!({ "task": work })),
    ] {
        let why = refused(&place, agent(name, fields));
        assert!(why.contains("is cancelled"), "{name}: {why}");
    }
    assert_eq!(place.run(&["log", "--json"]).ok().lines().len(), before);
    place.accept(&[agent(
        "fail_run",
        json!({ "run": run, "error": "not wanted" }),
    )]);
    place.run(&["verify"]).ok();
}

#[test]
fn a_part_waits_for_its_whole_and_ends_with_it() {
    let place = Place::with_log();
    let whole = propose(&place, "whole", &["--risk", "high"], CODER);
    let part =
        json!({ "prompt": "Do a part", "source": "audit", "risk": "low", "child_of": whole });
    let part = place.accept(&[agent("submit_intent", part)]).remove(0);
    let work = task(&place, &part, &[]);
    let run = json!({ "task": work });
    let why = refused(&place, agent("create_run", run.clone()));
    assert!(why.contains("which is proposed"), "{why}");
    assert_eq!(place.run(&["ready", &part]).stdout, "");
    place.run(&["reject", "whole", "--reason", "no"]).ok();
    assert_eq!(status(&place, &part), "cancelled");
    assert!(refused(&place, agent("create_run", run)).contains("cancelled"));
    assert_eq!(inbox(&place).len(), 0);
    place.run(&["verify"]).ok();
}

#[test]
fn what_needs_a_person_is_refused_to_agents() {
    let place = Place::with_log();
    let intent = propose(&place, "it", &["--risk", "low"], CODER);
    let ask = json!({ "intent": intent, "questions": ["which?"] });
    place.accept(&[agent("request_clarification", ask)]);
    let who = ["--actor", CODER];
    for args in [
        &["answer", "it", "--text", "both"][..],
        &["settings", "review.max_retries", "100"],
        &["settings", "autonomy.threshold", "high"],
    ] {
        let says = ["not permitted", "human"];
        place.run(&[args, &who[..]].concat()).fails(1, &says);
    }
    place.run(&["answer", "it", "--text", "both"]).ok();
    let failed = task(&place, &intent, &[]);
    place.accept(&[agent("fail_task", json!({ "task": failed }))]);
    assert_eq!(status(&place, "it"), "error");
    for args in [
        &["rerun", "it"][..],
        &["reject", "it"],
        &["instruct", "it", "--text", "otherwise"],
    ] {
        let says = ["not permitted", "by a person"];
        place.run(&[args, &who[..]].concat()).fails(1, &says);
    }
    let why = refused(
        &place,
        agent("complete_intent", json!({ "intent": intent })),
    );
    assert!(why.contains("by a person"), "{why}");
    place
        .run(&["rerun", "it", "--instruction", "otherwise"])
        .ok();
    assert_eq!(status(&place, "it"), "approved");
}

#[test]
fn an_actor_whose_kind_reads_like_another_one_is_refused() {
    let place = Place::with_log();
    for kind in ["human ", "Human", " agent"] {
        let actor = json!({ "kind": kind, "id": "ada" });
        let create = json!({ "command": "create_intent", "actor": actor, "prompt": "p" });
        let why = refused(&place, create);
        assert!(
            why.contains("actor") && why.contains("kind"),
            "{kind:?}: {why}"
        );
    }
    propose(&place, "it", &["--risk", "high"], "human:ada");
    for same in ["human:Ada", "human:ada ", "human:ＡDA"] {
        place
            .run(&["approve", "it", "--actor", same])
            .fails(1, &["approval.own_requests"]);
    }
    for kind in ["Human:ada", "human :bob", "AGENT:coder"] {
        place
            .run(&["approve", "it", "--actor", kind])
            .fails(2, &["actor.kind"]);
    }
    place.run(&["approve", "it", "--actor", "human:bob"]).ok();
}

#[test]
fn an_intent_whose_tasks_were_called_off_is_blocked_and_in_the_inbox() {
    let place = Place::with_log();
    let intent = propose(&place, "it", &["--risk", "low"], CODER);
    let first = task(&place, &intent, &[]);
    place.accept(&[agent("cancel_task", json!({ "task": first }))]);
    assert_eq!(status(&place, "it"), "blocked");
    let entry = inbox(&place).remove(0);
    assert_eq!(entry["reasons"], json!(["blocked"]), "{entry}");
    assert!(
        entry["why"].as_str().unwrap().contains("cancelled"),
        "{entry}"
    );
    let blocked = ["list", "intents", "--approval", "blocked", "--json"];
    assert_eq!(place.run(&blocked).ok().lines().len(), 1);
    // What is left waits for one that is called off.
    let other = propose(&place, "other", &["--risk", "low"], CODER);
    let first = task(&place, &other, &[]);
    task(&place, &other, &[&first]);
    place.accept(&[agent("cancel_task", json!({ "task": first }))]);
    assert_eq!(status(&place, "other"), "blocked");
    let entry = inbox(&place).remove(1);
    assert!(
        entry["why"].as_str().unwrap().contains("waited for one"),
        "{entry}"
    );
    assert_eq!(
        entry["failed_tasks"][0]["view"]["reason"],
        "dependency cancelled"
    );
    let before = place.run(&["inbox"]).ok().stdout;
    place.run(&["rebuild"]).ok();
    assert_eq!(place.run(&["inbox"]).ok().stdout, before);
    place.run(&["rerun", "other"]).ok();
    assert_eq!(
        place.run(&["ready", "other", "--json"]).ok().lines().len(),
        1
    );
    place.run(&["verify"]).ok();
}

#[test]
fn a_task_that_waits_for_a_failed_task_of_another_intent_is_in_the_inbox() {
    let place = Place::with_log();
    let base = propose(&place, "base", &["--risk", "low"], CODER);
    let behind = propose(&place, "behind", &["--risk", "low"], CODER);
    let needed = task(&place, &base, &[]);
    let waits = task(&place, &behind, &[&needed]);
    assert_eq!(inbox(&place).len(), 0);
    place.accept(&[agent("fail_task", json!({ "task": needed }))]);
    let entries = inbox(&place);
    assert_eq!(entries.len(), 2, "{entries:?}");
    let entry = &entries[1];
    assert_eq!(
        (&entry["alias"], &entry["reasons"]),
        (&json!("behind"), &json!(["dependency"]))
    );
    let why = entry["why"].as_str().unwrap();
    assert!(
        why.contains(&waits) && why.contains(&needed) && why.contains("failed"),
        "{why}"
    );
    let shown = place.run(&["inbox"]).ok().stdout;
    place.run(&["rebuild"]).ok();
    assert_eq!(place.run(&["inbox"]).ok().stdout, shown);
    // It goes on once the other one is tried again.
    place.run(&["rerun", "base"]).ok();
    assert_eq!(inbox(&place).len(), 0);
    place.run(&["verify"]).ok();
}

/// A run of a task whose work a person rejected is not committed as one that reverts it.
#[test]
fn a_run_that_reverts_commits_nothing_against_a_review() {
    let place = Place::with_log();
    let intent = propose(&place, "it", &["--risk", "low"], "human:ada");
    let task = task(&place, &intent, &[]);
    let begin = |reverts: Option<&str>| -> [String; 2] {
        let mut fields = json!({ "task": task });
        if let Some(reverts) = reverts {
            fields["reverts"] = json!(reverts);
        }
        let run = place.accept(&[agent("create_run", fields)]).remove(0);
        let diff = json!({ "run": run, "format": "unified_diff", "diff": "x" });
        let mut ids = place.accept(&[
            agent("start_patching", json!({ "run": run })),
            agent("propose_patch_set", diff),
            agent("start_validation", json!({ "run": run })),
        ]);
        [run, ids.remove(1)]
    };
    let [_, applied] = begin(None);
    let rejected = json!({ "task": task, "verdict": "rejected", "issues": ["no"] });
    place.accept(&[
        agent("apply_patch_set", json!({ "patch_set": applied })),
        human("record_review", rejected),
    ]);
    let [run, patch_set] = begin(Some(&applied));
    let commit = json!({ "run": run, "decision_type": "commit", "chosen_patchset_id": patch_set });
    let reason = refused(&place, agent("decide", commit));
    assert!(reason.contains("a review rejected the work"), "{reason}");
    let back = json!({ "run": run, "decision_type": "rollback" });
    place.accept(&[agent("decide", back)]);
}

/// A run has at most one decision, and the first is a person's.
#[test]
fn no_agents_import_adds_a_second_decision() {
    let place = Place::with_log();
    let id = |number: u128| uuid::Uuid::from_u128(number).to_string();
    let object = |number: u128, kind: &str, fields: Value| {
        let mut object = json!({ "object_id": id(number), "object_type": kind, "schema_version": 1,
            "created_at": "2026-01-01T00:00:00Z", "created_by": { "kind": "human", "id": "ada" } });
        let fields = fields.as_object().unwrap().clone();
        object.as_object_mut().unwrap().extend(fields);
        format!("{object}\n")
    };
    let task = json!({ "title": "t", "runs": [id(2)], "status": "running" });
    let run = json!({ "task": id(1), "commit": null, "status": "completed" });
    let abandon = json!({ "run_id": id(2), "decision_type": "abandon" });
    let first = [
        object(1, "task", task),
        object(2, "run", run),
        object(3, "decision", abandon),
    ];
    std::fs::write(place.path("first.jsonl"), first.concat()).unwrap();
    let import = [
        "import",
        "git-internal",
        "first.jsonl",
        "--actor",
        "human:ada",
    ];
    place.run(&import).ok();
    let commit = json!({ "run_id": id(2), "decision_type": "commit", "chosen_patchset_id": id(9) });
    std::fs::write(place.path("second.jsonl"), object(4, "decision", commit)).unwrap();
    let import = [
        "import",
        "git-internal",
        "second.jsonl",
        "--actor",
        "agent:x",
    ];
    let ran = place.run(&import);
    assert_ne!(ran.status, 0, "{ran:?}");
    let shown = place.run(&["show", &id(2)]).ok();
    assert!(
        shown.stdout.contains("abandon") && !shown.stdout.contains("commit "),
        "{shown:?}"
    );
}
