//! Each page is there, says what it must, and has its JSON.

use std::collections::BTreeSet;

use annals::Request;
use annals::blocking::Wait;
use annals::domain::{ActorRef, Command, Timestamp};
use serde_json::{Value, json};

use crate::support::{
    CALL, INTENT, PATCH_SET, PIPELINE, PLAN, Place, RUN, SCRIPT, TASK, Viewing, story, uuid,
};

/// The addresses of all pages of a story.
pub fn addresses() -> Vec<String> {
    let mut all: Vec<String> = [
        "/",
        "/?sort=cost&project=nowhere",
        "/overview",
        "/intents",
        "/tasks",
        "/runs",
        "/sessions",
        "/contracts-sessions",
        "/plans",
        "/pipelines",
        "/snapshots",
        "/patch-sets",
        "/tool-calls",
        "/evidence",
        "/verdicts",
        "/provenance",
        "/observations",
        "/inbox",
        "/decisions",
        "/costs",
        "/costs?by=model&since=7d",
        "/search?q=cache",
        "/log",
        "/log?order=oldest",
        "/events/1",
        "/events/16",
    ]
    .map(str::to_owned)
    .to_vec();
    for object in [INTENT, TASK, RUN, PATCH_SET, PIPELINE, PLAN, CALL] {
        all.push(format!("/objects/{}", uuid(object)));
        all.push(format!("/objects/{}/history", uuid(object)));
    }
    for (object, page) in [
        (INTENT, "tree"),
        (TASK, "tree"),
        (PLAN, "tree"),
        (RUN, "timeline"),
        (RUN, "window"),
        (PLAN, "window"),
        (PIPELINE, "window"),
        (CALL, "window"),
        (PATCH_SET, "diff"),
    ] {
        all.push(format!("/objects/{}/{page}", uuid(object)));
    }
    all.push(format!(
        "/objects/{}/window?beside=max_frames&keep=1",
        uuid(PIPELINE)
    ));
    all.push(format!("/compare?a={}&b={}", uuid(RUN), uuid(TASK)));
    for page in [
        "",
        "/conversation",
        "/turns",
        "/turns?whole=1",
        "/files",
        "/files?layout=split",
        "/find?q=cache",
        "/find?failed=1",
        "/timeline",
        "/context",
        "/context?beside=max_frames&keep=1",
        "/history",
        "/history?order=oldest&limit=2",
        "/proof",
    ] {
        all.push(format!("/sessions/{}{page}", uuid(TASK)));
    }
    all
}

#[test]
fn every_page_is_there_and_what_was_recorded_is_text() {
    let place = Place::new();
    story(&place);
    let viewing = Viewing::of(&place);
    let mut seen = 0;
    for address in addresses() {
        let page = viewing.get(&address);
        assert_eq!(page.status, 200, "{address}: {}", page.body);
        assert!(
            page.header("content-type").starts_with("text/html"),
            "{address}"
        );
        let is_overview = address == "/overview";
        assert!(page.body.contains("<h1>") || is_overview, "{address}");
        // The script of the pages themselves is the only one.
        assert_eq!(page.body.matches("<script").count(), 1, "{address}");
        assert!(!page.body.contains("<img"), "{address}");
        assert!(
            !page.body.contains("style="),
            "{address} has a style that its policy forbids"
        );
        seen += page.body.matches("&lt;script&gt;").count();
    }
    assert!(seen > 10, "what was recorded was shown only {seen} times");
    let data = viewing.data(&format!("/objects/{}", uuid(INTENT)));
    let prompt = data["object"]["prompt"].as_str().unwrap();
    assert_eq!(prompt, format!("Add a cache {SCRIPT}"));
}

#[test]
fn every_page_has_its_json_and_is_described() {
    let place = Place::new();
    story(&place);
    let viewing = Viewing::of(&place);
    let document = viewing.get("/api/v1/openapi.json").json();
    assert_eq!(document["openapi"], "3.1.0");
    let paths = document["paths"].as_object().unwrap();
    let mut described: BTreeSet<&str> = paths.keys().map(String::as_str).collect();
    let part = "/search/suggestions?q=cache".to_owned();
    for address in addresses().into_iter().chain([part]) {
        let path = address.split('?').next().unwrap();
        let path = if path == "/" { "/sessions" } else { path };
        let query = address
            .split_once('?')
            .map_or(String::new(), |(_, query)| format!("?{query}"));
        let answer = viewing.get(&format!("/api/v1{path}{query}"));
        assert_eq!(answer.status, 200, "{address}: {}", answer.body);
        assert_eq!(
            answer.header("content-type"),
            "application/json",
            "{address}"
        );
        let json = answer.json();
        assert_eq!(
            json["position"].as_u64(),
            Some(position_of(&address, &place)),
            "{address}"
        );
        assert!(
            json["data"].is_object() && json["proof"]["root"].is_string(),
            "{address}"
        );
        let shape: Vec<&str> = path.split('/').skip(1).collect();
        let shape = match shape.as_slice() {
            ["objects", _] => "/api/v1/objects/{id}".to_owned(),
            ["objects", _, page] => format!("/api/v1/objects/{{id}}/{page}"),
            ["events", _] => "/api/v1/events/{position}".to_owned(),
            ["sessions", _] => "/api/v1/sessions/{session}".to_owned(),
            ["sessions", _, page] => format!("/api/v1/sessions/{{session}}/{page}"),
            _ => format!("/api/v1{path}"),
        };
        assert!(paths.contains_key(&shape), "{shape} is not described");
        described.remove(shape.as_str());
    }
    assert_eq!(
        described,
        BTreeSet::from(["/api/v1/live"]),
        "what is described and was not asked for"
    );
}

/// The position that a page is of.
fn position_of(address: &str, place: &Place) -> u64 {
    match address.strip_prefix("/events/") {
        Some(position) => position.parse().unwrap(),
        None => place.annals.position().0,
    }
}

#[test]
fn the_overview_says_what_goes_on() {
    let place = Place::new();
    story(&place);
    let (task, run) = (uuid(0xb01), uuid(0xb02));
    place.agent("create_task", json!({ "id": task, "title": "Another" }));
    place.agent("create_run", json!({ "id": run, "task": task }));
    let (failed, broken) = (uuid(0xb03), uuid(0xb04));
    place.agent("create_task", json!({ "id": failed, "title": "A third" }));
    place.agent("create_run", json!({ "id": broken, "task": failed }));
    place.agent("fail_run", json!({ "run": broken, "error": "no disk" }));
    let viewing = Viewing::of(&place);
    let overview = viewing.data("/overview");
    let ids = |name: &str| -> Vec<String> {
        let rows = overview[name].as_array().unwrap().iter();
        rows.map(|row| row["id"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(ids("running"), [run.as_str()]);
    assert!(ids("failed").contains(&broken), "{overview}");
    assert_eq!(overview["waiting_total"], 1);
    assert_eq!(overview["waiting"][0]["reasons"], json!(["approval"]));
    assert_eq!(ids("runs")[0], broken);
    let newest = overview["events"][0]["position"].as_u64().unwrap();
    assert_eq!(newest, place.annals.position().0);
    // Before the failure it was running.
    let before = place.annals.position().0 - 1;
    let overview = viewing.data(&format!("/overview?at={before}"));
    let running: Vec<&str> = overview["running"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["id"].as_str().unwrap())
        .collect();
    assert_eq!(running, [broken.as_str(), run.as_str()]);
    assert_eq!(overview["waiting_total"], Value::Null);
}

#[test]
fn the_inbox_has_intents_and_sessions_with_the_commands_that_answer() {
    let place = Place::new();
    let (first, second) = (uuid(0xe01), uuid(0xe02));
    place.agent(
        "submit_intent",
        json!({ "id": first, "prompt": "Drop the old table", "source": "human" }),
    );
    let repo = json!({ "name": "app", "path": "/src/app" });
    let policy = json!({ "name": "careful", "requireApprovalForPush": true });
    let config = json!({ "sessionId": second, "policy": policy, "repo": repo,
        "workspace": { "path": "/work" }, "agentProfile": "coder" });
    place.human("create_session", json!({ "config": config }));
    let push = json!({ "kind": "Push", "repo": repo, "branchName": "release" });
    place.agent(
        "submit_command",
        json!({ "session": second, "id": uuid(0xe03), "submit": push }),
    );
    let viewing = Viewing::of(&place);
    let inbox = viewing.data("/inbox");
    let entries = inbox["entries"].as_array().unwrap();
    assert_eq!(inbox["total"], 2, "{inbox}");
    let ids: Vec<&Value> = entries.iter().map(|entry| &entry["row"]["id"]).collect();
    assert_eq!(ids, [&json!(first), &json!(second)]);
    assert_eq!(entries[1]["queue"], json!(["Push of release"]));
    let resolve = [
        format!("annals intent approve {second} --request {}", uuid(0xe03)),
        format!(
            "annals intent reject {second} --request {} --reason TEXT",
            uuid(0xe03)
        ),
    ];
    assert_eq!(entries[1]["resolve"], json!(resolve));
    let page = viewing.get("/inbox").body;
    for text in [
        "waits: Push of release",
        "it asks for an approval of Push",
        &resolve[0],
    ] {
        assert!(page.contains(text), "{text}: {page}");
    }
    // A page of one goes on with the other.
    let one = viewing.data("/inbox?limit=1");
    let rest = viewing.data(&format!("/inbox?after={}", one["next"]));
    assert_eq!(rest["entries"][0]["row"]["id"], json!(second));
    assert_eq!(rest["next"], Value::Null);
    assert_eq!(viewing.data("/overview")["waiting_total"], 2);
    // What an agent paused still waits for a person, and what a person paused does not.
    let pause = || json!({ "session": second });
    place.agent("pause_session", pause());
    let paused = viewing.data("/inbox");
    assert_eq!(paused["total"], 2, "{paused}");
    assert_eq!(paused["entries"][1]["resolve"], json!(resolve));
    assert_eq!(viewing.data("/overview")["waiting_total"], 2);
    place.human("pause_session", pause());
    assert_eq!(viewing.data("/inbox")["total"], 1);
}

#[test]
fn lists_and_histories_go_on_where_they_ended() {
    let place = Place::new();
    story(&place);
    for n in 0..25 {
        place.human(
            "create_intent",
            json!({ "id": uuid(0xc00 + n), "prompt": format!("intent {n}") }),
        );
    }
    let viewing = Viewing::of(&place);
    let run: uuid::Uuid = uuid(RUN).parse().unwrap();
    let of_run = place.annals.history(run).wait().unwrap().len();
    for (path, rows, all) in [
        ("/intents".to_owned(), "rows", 27),
        (
            "/log".to_owned(),
            "events",
            place.annals.position().0 as usize,
        ),
        (
            "/log?order=oldest".to_owned(),
            "events",
            place.annals.position().0 as usize,
        ),
        (format!("/objects/{}/history", uuid(RUN)), "events", of_run),
        (
            format!("/objects/{}/history?order=newest", uuid(RUN)),
            "events",
            of_run,
        ),
        (format!("/objects/{}/history", uuid(PATCH_SET)), "events", 2),
        (format!("/objects/{}/history", uuid(CALL)), "events", 1),
    ] {
        let mut found: Vec<u64> = Vec::new();
        let join = if path.contains('?') { '&' } else { '?' };
        let mut next = String::new();
        loop {
            let part = viewing.data(&format!("{path}{join}limit=3{next}"));
            let part_of = part[rows].as_array().unwrap();
            assert!(part_of.len() <= 3, "{path}");
            let position = |row: &Value| {
                row["position"]
                    .as_u64()
                    .or(row["first_position"].as_u64())
                    .unwrap()
            };
            found.extend(part_of.iter().map(position));
            match part["next"].as_u64() {
                Some(after) => next = format!("&after={after}"),
                None => break,
            }
        }
        let different: BTreeSet<u64> = found.iter().copied().collect();
        assert_eq!(
            (found.len(), different.len()),
            (all, all),
            "{path}: {found:?}"
        );
        let oldest = path.contains("oldest") || path.ends_with("history");
        assert!(
            found.is_sorted_by(|a, b| if oldest { a < b } else { a > b }),
            "{path}: {found:?}"
        );
    }
}

#[test]
fn an_object_leads_to_what_it_names_and_what_names_it() {
    let place = Place::new();
    story(&place);
    let viewing = Viewing::of(&place);
    let run = viewing.data(&format!("/objects/{}", uuid(RUN)));
    let linked = |side: &str| -> BTreeSet<(String, String)> {
        let all = run[side].as_array().unwrap().iter();
        all.flat_map(|one| {
            let relation = one["relation"].as_str().unwrap().to_owned();
            let rows = one["rows"].as_array().unwrap().clone();
            rows.into_iter()
                .map(move |row| (relation.clone(), row["id"].as_str().unwrap().to_owned()))
        })
        .collect()
    };
    let one = |relation: &str, id: u64| (relation.to_owned(), uuid(id));
    let names = linked("names");
    for expected in [
        one("run.task", TASK),
        one("run.plan", PLAN),
        one("run.patchsets", PATCH_SET),
    ] {
        assert!(names.contains(&expected), "{expected:?}: {names:?}");
    }
    let named_by = linked("named_by");
    for expected in [
        one("task.runs", TASK),
        one("patch_set.run", PATCH_SET),
        one("tool_invocation.run_id", CALL),
    ] {
        assert!(named_by.contains(&expected), "{expected:?}: {named_by:?}");
    }
    // A short id leads to the same page, whose lasting address has the whole one.
    let short = uuid(RUN)[28..].to_owned();
    let page = viewing.get(&format!("/objects/{short}"));
    assert_eq!(page.status, 200, "{}", page.body);
    let lasting = format!("/objects/{}?at={}", uuid(RUN), place.annals.position());
    assert!(page.body.contains(&lasting), "{}", page.body);
    assert!(
        page.body.contains("annals proof prove"),
        "the command that proves it"
    );
}

#[test]
fn a_run_is_a_timeline() {
    let place = Place::new();
    story(&place);
    let viewing = Viewing::of(&place);
    let timeline = viewing.data(&format!("/objects/{}/timeline", uuid(RUN)));
    let totals = &timeline["totals"];
    assert_eq!(
        (
            &totals["prompts"],
            &totals["calls"],
            &totals["failed_calls"],
            &totals["patch_sets"],
            &totals["checks"]
        ),
        (&json!(1), &json!(2), &json!(1), &json!(1), &json!(1)),
        "{timeline}"
    );
    let lanes: Vec<&str> = timeline["marks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|mark| mark["lane"].as_str().unwrap())
        .collect();
    assert!(lanes.contains(&"prompt"), "{lanes:?}");
    assert!(lanes.contains(&"decision"), "{lanes:?}");
    let call = timeline["marks"]
        .as_array()
        .unwrap()
        .iter()
        .find(|mark| mark["name"] == "bash cargo test")
        .unwrap();
    assert_eq!(
        (&call["duration_ms"], &call["status"]),
        (&json!(7_200), &json!("error"))
    );
    // The check and the decision waited for the call that ended last.
    assert_eq!(call["is_critical"], true, "{timeline}");
    let on_it = timeline["marks"].as_array().unwrap().iter();
    let on_it: u64 = on_it
        .filter(|mark| mark["is_critical"] == true)
        .map(|mark| mark["duration_ms"].as_u64().unwrap())
        .sum();
    assert_eq!(timeline["critical_ms"], on_it);
}

/// A recording may have no times, and then each of its events is at the beginning of 1970.
#[test]
fn calls_of_a_recording_without_times_follow_each_other() {
    let place = Place::new();
    let run = uuid(RUN);
    place.agent("create_task", json!({ "id": uuid(TASK), "title": "Do it" }));
    place.agent("create_run", json!({ "id": run, "task": uuid(TASK) }));
    place.agent("start_patching", json!({ "run": run }));
    for (name, took) in [("open", 100), ("edit", 2_000), ("submit", 30)] {
        let call = json!({ "run": run, "tool_name": name, "status": "ok", "duration_ms": took });
        let call = Command::from_json("record_tool_invocation", &call.to_string()).unwrap();
        let epoch = Timestamp::from(chrono::DateTime::UNIX_EPOCH);
        let request = Request::new(ActorRef::agent("coder"), call).at(epoch);
        place.annals.execute(request).wait().unwrap();
    }
    let timeline = Viewing::of(&place).data(&format!("/objects/{run}/timeline"));
    let marks = timeline["marks"].as_array().unwrap().iter();
    let marks: Vec<_> = marks
        .filter(|mark| mark["lane"] == "call")
        .map(|mark| (&mark["name"], &mark["offset_ms"], &mark["duration_ms"]))
        .collect();
    assert_eq!(
        marks,
        [
            (&json!("open"), &json!(0), &json!(100)),
            (&json!("edit"), &json!(100), &json!(2_000)),
            (&json!("submit"), &json!(2_100), &json!(30)),
        ]
    );
}

#[test]
fn the_window_says_what_is_in_and_what_went() {
    let place = Place::new();
    story(&place);
    let viewing = Viewing::of(&place);
    let window = viewing.data(&format!("/objects/{}/window", uuid(PIPELINE)));
    assert_eq!(
        (&window["total"], &window["gone_total"]),
        (&json!(3), &json!(2)),
        "{window}"
    );
    assert_eq!(
        (&window["tokens"], &window["gone_tokens"]),
        (&json!(309), &json!(201))
    );
    let entered: Vec<&Value> = window["frames"]
        .as_array()
        .unwrap()
        .iter()
        .map(|frame| &frame["entered"])
        .collect();
    assert_eq!(entered, [&json!(false), &json!(false), &json!(true)]);
    let gone = window["gone"].as_array().unwrap();
    assert_eq!((gone.len(), &gone[0]["dropped"]), (2, &json!(false)));
}

#[test]
fn another_policy_stands_beside_the_window() {
    let place = Place::new();
    story(&place);
    let viewing = Viewing::of(&place);
    let address = format!("/objects/{}/window", uuid(PIPELINE));
    assert_eq!(viewing.data(&address)["beside"], Value::Null);
    let frames = |query: &str| -> Vec<(u64, bool)> {
        let window = viewing.data(&format!("{address}?{query}"));
        let tape = window["beside"]["tape"].as_array().unwrap().iter();
        tape.map(|frame| {
            (
                frame["frame"].as_u64().unwrap(),
                frame["only_here"].as_bool().unwrap(),
            )
        })
        .collect()
    };
    // Five frames were pushed, of which the recorded policy kept three.
    let all = frames("beside=unlimited");
    let gone = all.iter().filter(|(_, only_here)| *only_here).count();
    assert_eq!((all.len(), gone), (5, 2), "{all:?}");
    let one = frames("beside=max_frames&keep=1");
    assert_eq!(one, [(all[4].0, false)]);
    let window = viewing.data(&format!("{address}?beside=max_frames&keep=1"));
    let beside = &window["beside"];
    assert_eq!(beside["only_recorded"], 2);
    assert_eq!(
        (
            &beside["recorded"]["evictions"],
            &beside["other"]["evictions"]
        ),
        (&json!(2), &json!(4))
    );
    // As of a moment it is the history until then.
    let earlier = frames("beside=unlimited&at=7");
    assert!(earlier.len() < all.len(), "{earlier:?}");
    for (policy, keep) in [
        ("token_budget", 210),
        ("rolling_summary", 210),
        ("least_recently_used", 2),
        ("kind_quotas", 2),
    ] {
        let kept = frames(&format!("beside={policy}&keep={keep}"));
        assert!(kept.len() <= 2, "{policy}: {kept:?}");
        let page = viewing.get(&format!("{address}?beside={policy}&keep={keep}"));
        assert_eq!(page.status, 200, "{policy}");
    }
}

#[test]
fn a_run_is_called_by_its_task() {
    let place = Place::new();
    story(&place);
    let viewing = Viewing::of(&place);
    let run = format!("/objects/{}", uuid(RUN));
    assert_eq!(viewing.data(&run)["row"]["title"], "Cache it");
    for page in ["", "/timeline", "/history", "/window"] {
        let page = viewing.get(&format!("{run}{page}")).body;
        assert!(page.contains("<h1>Cache it</h1>"), "{page}");
    }
    // So it is where others name it.
    let call = viewing.data(&format!("/objects/{}", uuid(CALL)));
    let rows = call["names"][0]["rows"].as_array().unwrap();
    assert_eq!(rows[0]["title"], "Cache it", "{call}");
}

#[test]
fn assets_have_a_tag_and_are_not_sent_twice() {
    let viewing = Viewing::of(&Place::new());
    for name in ["viewer.css", "viewer.js", "icon.svg"] {
        let first = viewing.get(&format!("/assets/{name}"));
        assert_eq!(first.status, 200);
        let tag = first.header("etag").to_owned();
        let again = viewing.request(
            "GET",
            &format!("/assets/{name}"),
            &[("if-none-match", &tag)],
        );
        assert_eq!((again.status, again.body.as_str()), (304, ""), "{name}");
    }
    assert_eq!(viewing.get("/assets/viewer.rs").status, 404);
}
