//! Sessions from outside: verdicts, approvals, tickets, plans, the contracts'
//! stream, and other policy profiles.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::{Place, agent, human, uuid};

const SESSION: u64 = 0x5e_0000_0001;
const PUSH: u64 = 0xc0_0000_0001;
const COMMIT: u64 = 0xc0_0000_0002;
const QUERY: u64 = 0xc0_0000_0003;
const TASK: u64 = 0xd_0000_0003;
const RUN: u64 = 0xd_0000_0004;

fn repo() -> Value {
    json!({ "name": "app", "path": "/src/app" })
}

fn create(policy: &Value) -> Value {
    human(
        "create_session",
        json!({ "config": {
            "sessionId": uuid(SESSION),
            "policy": policy,
            "repo": repo(),
            "workspace": { "path": "/work" },
            "agentProfile": "coder",
        } }),
    )
}

fn submit(id: u64, command: Value) -> Value {
    agent(
        "submit_command",
        json!({ "session": uuid(SESSION), "id": uuid(id), "submit": command }),
    )
}

fn push(branch: &str) -> Value {
    json!({ "kind": "Push", "repo": repo(), "branchName": branch })
}

fn complete(id: u64, outcome: &str) -> Value {
    agent(
        "complete_command",
        json!({ "session": uuid(SESSION), "id": uuid(id), "outcome": outcome }),
    )
}

/// A push that waits, a commit, and the approval.
fn worked() -> Place {
    let place = Place::with_log();
    let policy = json!({ "name": "careful", "protectedBranches": ["main"],
        "requireApprovalForPush": true });
    let commit = json!({ "kind": "Commit", "repo": repo(), "message": "m",
        "includePaths": ["a", "b"] });
    let mut commit = submit(COMMIT, commit);
    commit["branch"] = json!("topic");
    commit["files"] = json!(["a", "b"]);
    place.accept(&[
        create(&policy),
        submit(PUSH, push("topic")),
        commit,
        complete(COMMIT, "Success"),
        human(
            "approve_session",
            json!({ "session": uuid(SESSION), "reason": "fine" }),
        ),
    ]);
    place
}

#[test]
fn apply_answers_with_the_verdict() {
    let place = Place::with_log();
    let policy = json!({ "name": "careful", "protectedBranches": ["main"],
        "requireApprovalForPush": true, "limits": { "perCommandCaps": { "GetDiff": 0 } } });
    let diff = json!({ "kind": "GetDiff", "repo": repo() });
    let answers = place.apply(&[
        create(&policy),
        submit(1, push("main")),
        submit(2, push("topic")),
        submit(3, diff),
        submit(1, push("main")),
    ]);
    assert!(
        answers.iter().all(|answer| answer["ok"] == true),
        "{answers:?}"
    );
    let verdict = |index: usize| answers[index]["verdict"].clone();
    let rejected = json!({ "kind": "CommandRejected", "reason": "Policy violation",
        "policy_rule": "Protected branch" });
    assert_eq!(verdict(1), rejected);
    assert_eq!(verdict(2), json!({ "kind": "Queued" }));
    let throttled = json!({ "kind": "Throttled", "scope": "Rate limit exceeded",
        "retry_after": "9999-12-31T23:59:59.999999900Z" });
    assert_eq!(verdict(3), throttled);
    assert_eq!(
        answers[4], answers[1],
        "the same command has the same verdict"
    );
    assert_eq!(answers[2]["command"], json!(uuid(2)));
}

#[test]
fn bad_commands_are_refused_with_what_is_wrong_and_change_nothing() {
    let place = worked();
    let before = place.run(&["stats", "--json"]).ok().json()["position"].clone();
    let bad = [
        (
            agent(
                "submit_command",
                json!({ "session": uuid(7), "submit": push("x") }),
            ),
            "there is no session",
        ),
        (
            complete(COMMIT, "Success"),
            "not an open command of this session: expected one that was accepted and has not ended",
        ),
        (complete(9, "Failure"), "not an open command"),
        (complete(PUSH, "Maybe"), "Success, Failure"),
        (submit(4, json!({ "kind": "Deploy" })), "CreateBranch"),
        (
            submit(
                5,
                json!({ "kind": "UploadArtifact", "name": "n", "contentType": "t",
                "content": "%%%" }),
            ),
            "invalid base64",
        ),
        (
            create(&json!({ "name": "p", "limits": { "callsPerMinute": -1 } })),
            "config.policy.limits.callsPerMinute",
        ),
        (
            create(&json!({ "name": "p", "commandBlacklist": ["push"] })),
            "unknown command kind",
        ),
        (
            human("approve_session", json!({ "session": uuid(SESSION) })),
            "only when it is NeedsApproval",
        ),
        (
            agent(
                "update_plan",
                json!({ "session": uuid(SESSION), "plan": { "nodes": [
                { "id": "a", "title": "", "dependsOn": ["b"] },
                { "id": "b", "title": "", "dependsOn": ["a"] },
            ] } }),
            ),
            "a -> b -> a",
        ),
    ];
    for (command, says) in bad {
        let answers = place.apply(std::slice::from_ref(&command));
        let message = answers[0]["error"]["message"].to_string();
        assert!(message.contains(says), "{command}: {message}");
    }
    assert_eq!(
        place.run(&["stats", "--json"]).ok().json()["position"].clone(),
        before
    );
}

#[test]
fn a_session_is_shown_listed_and_followed() {
    let place = worked();
    let id = uuid(SESSION);
    let shown = place.run(&["show", &id, "--json"]).ok().json();
    assert_eq!(shown["object_type"], "session");
    assert_eq!(shown["status"], "running");
    let listed = place
        .run(&["list", "sessions", "--status", "running", "--json"])
        .ok();
    assert_eq!(listed.lines()[0]["id"], json!(id));
    let log = place.run(&["log", "--session", &id, "--json"]).ok().lines();
    assert_eq!(log.len(), 9, "{log:?}");
    let config = place
        .run(&["show", &id, "--as", "contracts", "--json"])
        .ok()
        .json();
    assert_eq!(config["policy"]["protectedBranches"], json!(["main"]));
    place
        .run(&["show", &id, "--as", "git-internal"])
        .fails(1, &["git-internal"]);

    let mut child = place
        .command(&["log", "--session", &id, "--follow", "--as", "contracts"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    let first = next();
    assert_eq!(
        (&first["kind"], &first["status"]),
        (&json!("SessionStatusChanged"), &json!("Running"))
    );
    for kind in [
        "SessionStatusChanged",
        "CommandAccepted",
        "CommandCompleted",
    ] {
        assert_eq!(next()["kind"], kind);
    }
    for kind in ["SessionStatusChanged", "CommandAccepted"] {
        assert_eq!(next()["kind"], kind);
    }
    place.accept(&[complete(PUSH, "Failure")]);
    let tail = next();
    assert_eq!(
        (&tail["kind"], &tail["outcome"]),
        (&json!("CommandCompleted"), &json!("Failure"))
    );
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn an_export_is_imported_once_and_comes_back_the_same() {
    let place = worked();
    let id = uuid(SESSION);
    let events = place
        .run(&["export", "contracts", "--session", &id])
        .ok()
        .stdout;
    assert_eq!(events.lines().count(), 6, "{events}");
    let all = place
        .run(&["export", "contracts", "--session", &id, "--commands"])
        .ok()
        .stdout;
    assert_eq!(all.lines().count(), 8);

    let other = Place::with_log();
    let array: Vec<Value> = all
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let unknown = json!({ "zap": [1, 2.50], "id": uuid(77), "correlation": { "sessionId": id },
        "kind": "ZapDetected" });
    let mut lines = all.clone();
    lines.push_str(&format!("{unknown}\n"));
    fs::write(other.path("all.jsonl"), &lines).unwrap();
    fs::write(
        other.path("all.json"),
        serde_json::to_string_pretty(&array).unwrap(),
    )
    .unwrap();
    let report = other
        .run(&["import", "contracts", "all.jsonl", "--json"])
        .ok()
        .json();
    assert_eq!(
        (&report["imported"], &report["broken_count"]),
        (&json!(9), &json!(0))
    );
    assert_eq!(report["unknown_types"][0]["name"], "ZapDetected");
    for file in ["all.jsonl", "all.json"] {
        let again = other
            .run(&["import", "contracts", file, "--json"])
            .ok()
            .json();
        assert_eq!(again["imported"], 0, "{file}: {again}");
    }
    let exported = other
        .run(&["export", "contracts", "--session", &id])
        .ok()
        .stdout;
    assert_eq!(exported, lines);
    let pretty = other
        .run(&["export", "contracts", "--session", &id, "--pretty"])
        .ok()
        .stdout;
    assert!(
        pretty.starts_with("{\n  \"status\": \"Running\",\n"),
        "{pretty}"
    );
    let shown = other.run(&["show", &id, "--json"]).ok().json();
    assert_eq!(shown["status"], "running");
    // What our own gate judges takes nothing from elsewhere.
    let strange = lines.replace(&uuid(COMMIT), &uuid(78));
    fs::write(place.path("strange.jsonl"), strange).unwrap();
    let ran = place.run(&["import", "contracts", "strange.jsonl"]);
    assert!(ran.stdout.contains("one of this log's own"), "{ran:?}");
    ran.fails(1, &["could not be imported"]);
}

#[test]
fn what_cannot_be_imported_is_named_and_the_rest_is_read() {
    let place = Place::with_log();
    let event = |id: u64, kind: &str, more: &str| {
        format!(
            r#"{{{more}"id":"{}","correlation":{{"sessionId":"{}"}},"kind":"{kind}"}}"#,
            uuid(id),
            uuid(SESSION)
        )
    };
    let lines = [
        event(1, "SessionStatusChanged", r#""status":"Running","#),
        event(2, "SessionStatusChanged", r#""status":"Dancing","#),
        event(
            3,
            "UploadArtifact",
            r#""name":"n","contentType":"t","content":"=","#,
        ),
        "{\"kind\":\"Zap\"}".to_owned(),
        "not json".to_owned(),
        event(1, "SessionStatusChanged", r#""status":"Paused","#),
        event(
            4,
            "CommandAccepted",
            &format!(r#""commandId":"{}","#, uuid(9)),
        ),
    ];
    fs::write(place.path("bad.jsonl"), lines.join("\n")).unwrap();
    let ran = place.run(&["import", "contracts", "bad.jsonl", "--json"]);
    let report: Value = serde_json::from_str(ran.stdout.lines().next().unwrap()).unwrap();
    let broken: Vec<(u64, String)> = report["broken"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["line"].as_u64().unwrap(), one["reason"].to_string()))
        .collect();
    let lines: Vec<u64> = broken.iter().map(|(line, _)| *line).collect();
    assert_eq!(lines, [2, 3, 4, 5, 6], "{broken:?}");
    for ((_, reason), says) in broken
        .iter()
        .zip(["Dancing", "base64", "session", "", "id"])
    {
        assert!(reason.contains(says), "{reason}: {says}");
    }
    assert_eq!(report["imported"], 2);
    place
        .run(&["import", "contracts", "missing.jsonl"])
        .fails(1, &["missing.jsonl"]);
    // The command is known by its verdict alone, and can still end.
    place.accept(&[complete(9, "Success")]);
}

#[test]
fn another_profile_is_tried_and_nothing_is_written() {
    let place = worked();
    let before = place.run(&["stats", "--json"]).ok().json()["position"].clone();
    let strict = json!({ "name": "strict", "maxFilesPerCommit": 1 });
    fs::write(place.path("strict.json"), strict.to_string()).unwrap();
    let args = ["replay", "--sessions", "--profile", "strict.json"];
    let replayed = place.run(&[&args[..], &["--json"]].concat()).ok().json();
    assert_eq!(replayed["judged"], 2);
    let flips = json!([{ "from": "accepted", "to": "rejected",
        "rule": "Too many files in commit", "count": 1 }]);
    assert_eq!(replayed["flips"], flips);
    assert_eq!(replayed["approvals"]["saved"], 1);
    assert_eq!(replayed["flipped"][0]["command"], json!(uuid(COMMIT)));
    assert_eq!(replayed["flipped"][0]["outcome"], "Success");
    let text = place.run(&args).ok().stdout;
    assert!(text.contains("Too many files in commit"), "{text}");
    let same = json!({ "name": "careful", "protectedBranches": ["main"],
        "requireApprovalForPush": true });
    fs::write(place.path("same.json"), same.to_string()).unwrap();
    let id = uuid(SESSION);
    let args = ["replay", "--sessions", &id, "--profile", "same.json"];
    let text = place.run(&args).ok().stdout;
    assert!(text.contains("nothing flips"), "{text}");
    assert_eq!(
        place.run(&["stats", "--json"]).ok().json()["position"].clone(),
        before
    );

    for (profile, says) in [
        (json!({ "name": "p", "maxFiles": 1 }), "maxFiles"),
        (
            json!({ "name": "p", "limits": { "burst": -1 } }),
            "limits.burst",
        ),
        (json!({ "name": "p", "commandWhitelist": ["Psuh"] }), "Psuh"),
        (json!({}), "name"),
    ] {
        fs::write(place.path("bad.json"), profile.to_string()).unwrap();
        let args = ["replay", "--sessions", "--profile", "bad.json"];
        place.run(&args).fails(1, &["bad.json", says]);
    }
    place
        .run(&["replay", "--sessions"])
        .fails(2, &["--profile"]);
}

#[test]
fn tickets_are_listed_and_a_plan_says_what_can_be_begun() {
    let place = worked();
    let session = uuid(SESSION);
    let query = json!({ "kind": "QueryBacklog" });
    let nodes = json!([
        { "id": "build", "title": "Build it" },
        { "id": "ship", "title": "Ship it", "dependsOn": ["build"] },
    ]);
    place.accept(&[
        submit(QUERY, query),
        agent(
            "record_backlog",
            json!({ "session": session, "id": uuid(QUERY), "items": [
                { "id": "APP-1", "title": "Cache", "status": "Open", "assignee": "ada" },
                { "id": "APP-2", "title": "Größe", "status": "Done" },
            ] }),
        ),
        complete(QUERY, "Success"),
        agent(
            "update_plan",
            json!({ "session": session, "plan": { "nodes": nodes } }),
        ),
        agent(
            "create_task",
            json!({ "id": uuid(TASK), "title": "Build it" }),
        ),
        agent(
            "link_plan_task",
            json!({ "session": session, "node": "build", "task": uuid(TASK) }),
        ),
    ]);
    let items = place.run(&["list", "work-items", "--json"]).ok().lines();
    let ids: Vec<&str> = items
        .iter()
        .map(|item| item["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["APP-2", "APP-1"]);
    assert_eq!(items[1]["assignee"], "ada");
    let text = place.run(&["list", "work-items"]).ok().stdout;
    assert!(text.contains("Größe"), "{text}");
    place
        .run(&["list", "work-items", "--status", "Open"])
        .fails(2, &["--status"]);

    let ready = |expected: &[&str]| {
        let nodes = place
            .run(&["show", &session, "--ready", "--json"])
            .ok()
            .lines();
        let ids: Vec<&str> = nodes
            .iter()
            .map(|node| node["id"].as_str().unwrap())
            .collect();
        assert_eq!(ids, expected);
    };
    ready(&["build"]);
    place.accept(&[
        agent("create_run", json!({ "id": uuid(RUN), "task": uuid(TASK) })),
        agent(
            "attach_run",
            json!({ "session": session, "run": uuid(RUN) }),
        ),
        complete(PUSH, "Success"),
    ]);
    // The command that ended is the run's tool invocation.
    let tools = place
        .run(&["list", "tool_invocations", "--parent", &uuid(RUN), "--json"])
        .ok()
        .lines();
    assert_eq!(tools.len(), 1);
    assert_eq!(tools[0]["title"], "Push");
    let patch = uuid(0xd_0000_0009);
    place.accept(&[
        agent("start_patching", json!({ "run": uuid(RUN) })),
        agent(
            "propose_patch_set",
            json!({ "run": uuid(RUN), "id": patch, "format": "unified_diff" }),
        ),
        agent("start_validation", json!({ "run": uuid(RUN) })),
        agent(
            "decide",
            json!({ "run": uuid(RUN), "decision_type": "commit", "chosen_patchset_id": patch }),
        ),
    ]);
    ready(&["ship"]);
    // The run's patch set is an artifact in the session's stream.
    let stream = place
        .run(&["export", "contracts", "--session", &session])
        .ok()
        .lines();
    let patches = stream
        .iter()
        .filter(|one| one["artifact"]["kind"] == "Patch");
    assert_eq!(patches.count(), 1);
}

/// The command of an id is not stored any more after a redaction or in an imported log. Another command
/// with that id is then not answered with the verdict of the first one.
#[test]
fn an_id_whose_command_is_not_known_any_more_lets_nothing_pass() {
    let place = Place::with_log();
    let commit = json!({ "kind": "Commit", "repo": repo(), "message": "hunter2-and-more",
        "includePaths": ["a"] });
    let mut accepted = submit(COMMIT, commit);
    accepted["branch"] = json!("topic");
    place.accept(&[
        create(&json!({ "name": "careful", "protectedBranches": ["main"] })),
        accepted.clone(),
    ]);
    place.run(&["export", "annals", "all.jsonl"]).ok();
    place
        .run(&["--log", "copy", "import", "annals", "all.jsonl"])
        .ok();
    place
        .run(&["redact", "--pattern", "hunter2", "--reason", "leaked"])
        .ok();
    for log in ["log", "copy"] {
        let stats = || place.run(&["--log", log, "stats", "--json"]).ok().json();
        let before = stats()["position"].clone();
        for again in [submit(COMMIT, push("main")), accepted.clone()] {
            let refused = place.run_with(&["--log", log, "apply", "-"], again.to_string());
            let answer = &refused.lines()[0];
            assert_eq!(answer["ok"], false, "{log}: {answer}");
            let said = answer["error"]["message"].as_str().unwrap();
            assert!(said.contains("cannot be shown to be the same"), "{said}");
        }
        assert_eq!(stats()["position"], before, "{log}");
    }
}

/// A session that asks for a push and for something else.
fn asking() -> Place {
    let place = Place::with_log();
    let ask = json!({ "kind": "RequestApproval", "reason": "it drops a table",
        "requiredActions": ["migrate"] });
    place.accept(&[
        create(&json!({ "name": "careful", "requireApprovalForPush": true })),
        submit(PUSH, push("topic")),
        submit(COMMIT, ask),
    ]);
    place
}

#[test]
fn the_inbox_lists_what_sessions_ask_for_with_the_commands_that_answer() {
    let place = asking();
    let said = place.run(&["inbox"]).ok();
    let text = said.stdout;
    for expected in [
        "session",
        "it asks for an approval of Push",
        "it asks for an approval of migrate",
        "reason: it drops a table",
        "waits: Push of topic",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    let listed = place.run(&["inbox", "--json"]).ok().json();
    assert_eq!(listed["id"], json!(uuid(SESSION)));
    assert_eq!(listed["kind"], json!("session"));
    let resolve: Vec<String> = serde_json::from_value(listed["resolve"].clone()).unwrap();
    assert_eq!(resolve.len(), 4, "{resolve:?}");
    // Each is a command as it stands there.
    for command in [&resolve[2], &resolve[0]] {
        let words: Vec<&str> = command.split(' ').skip(1).collect();
        place.run(&words).ok();
    }
    assert_eq!(place.run(&["inbox", "--json"]).ok().stdout, "");
    let shown = place.run(&["show", &uuid(SESSION), "--json"]).ok().json();
    assert_eq!(shown["status"], json!("running"), "{shown}");
}

#[test]
fn a_session_is_denied_with_a_reason() {
    let place = asking();
    let asked = uuid(COMMIT);
    let reject = ["reject", &uuid(SESSION), "--request", &asked];
    let refused = place.run(&reject);
    assert_ne!(refused.status, 0);
    assert!(refused.stderr.contains("reason"), "{}", refused.stderr);
    let denied = place.run(&[&reject[..], &["--reason", "not today"]].concat());
    let denied = denied.ok().stdout;
    assert!(denied.contains("denied: migrate"), "{denied}");
    let wrong = place.run(&["approve", &uuid(SESSION), "--request", &uuid(9)]);
    assert_ne!(wrong.status, 0);
}

#[test]
fn no_agent_approves_what_a_session_asks_for() {
    let place = asking();
    let request = uuid(COMMIT);
    let approve = ["approve", &uuid(SESSION), "--request", &request];
    let agent = place.run(&[&approve[..], &["--actor", "agent:coder"]].concat());
    assert_ne!(agent.status, 0);
    assert!(
        agent.stderr.contains("approved by a person"),
        "{}",
        agent.stderr
    );
}

/// What is pending when the answer is given may be another request than the one that was shown.
#[test]
fn an_answer_to_a_session_names_its_request_and_says_what_it_granted() {
    let place = Place::with_log();
    let ask = |what: &str| {
        json!({ "kind": "RequestApproval", "reason": "please",
            "requiredActions": [what] })
    };
    place.accept(&[
        create(&json!({ "name": "careful", "requireApprovalForPush": true })),
        submit(COMMIT, ask("docs")),
    ]);
    let listed = place.run(&["inbox", "--json"]).ok().json();
    let resolve: Vec<String> = serde_json::from_value(listed["resolve"].clone()).unwrap();
    assert!(
        resolve[0].ends_with(&format!("--request {}", uuid(COMMIT))),
        "{resolve:?}"
    );
    for word in ["approve", "reject"] {
        let floating = place.run(&[word, &uuid(SESSION), "--reason", "no"]);
        assert_ne!(floating.status, 0);
        let named = format!(
            "annals intent {word} {} --request {}",
            uuid(SESSION),
            uuid(COMMIT)
        );
        assert!(floating.stderr.contains(&named), "{}", floating.stderr);
        assert!(
            floating.stderr.contains("docs (\"please\")"),
            "{}",
            floating.stderr
        );
    }
    // The agent withdraws it and asks for something else.
    place.accept(&[
        json!({ "command": "deny_session", "session": uuid(SESSION), "reason": "withdrawn",
            "actor": { "kind": "agent", "id": "coder" } }),
        submit(PUSH, ask("Push")),
    ]);
    let words: Vec<&str> = resolve[0].split(' ').skip(1).collect();
    let refused = place.run(&words);
    assert_ne!(refused.status, 0, "{}", refused.stdout);
    let approve = ["approve", &uuid(SESSION), "--request", &uuid(PUSH)];
    let granted = place.run(&approve).ok().stdout;
    assert!(granted.contains("granted: Push"), "{granted}");
}

/// Eight commands at once with one a minute: whatever times an agent gives them.
#[test]
fn the_times_of_callers_make_no_more_room() {
    let place = Place::with_log();
    place.accept(&[create(
        &json!({ "name": "slow", "limits": { "callsPerMinute": 1 } }),
    )]);
    let diff = json!({ "kind": "GetDiff", "repo": repo() });
    let mut accepted = 0;
    for (number, minutes) in [0_i64, 1, 2, 3, 4, -1, -2, -3].into_iter().enumerate() {
        let at = chrono::Utc::now() + chrono::TimeDelta::minutes(minutes);
        let mut command = submit(100 + number as u64, diff.clone());
        command["at"] = json!(at.to_rfc3339());
        let answer = place.apply(&[command]).remove(0);
        assert_eq!(answer["ok"], json!(true), "{answer}");
        accepted += usize::from(answer["verdict"]["kind"] == "CommandAccepted");
    }
    assert_eq!(accepted, 1);
    for at in ["2099-01-01T00:00:00Z", "1970-01-01T00:00:00Z"] {
        let mut command = submit(200, diff.clone());
        command["at"] = json!(at);
        let answer = place.apply(&[command]).remove(0);
        assert_eq!(answer["ok"], json!(false), "{answer}");
        assert!(answer.to_string().contains("gate.clock_skew"), "{answer}");
    }
}
