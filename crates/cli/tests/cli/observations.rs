//! Observations: what agents noticed, what is open, and what came of it.

use serde_json::{Value, json};

use crate::support::Place;

/// Forge's texts are Japanese, and so is this one.
const REFLECTION: &str = "テストの準備が三か所で重複している\n\n共通の関数にまとめられる。";

fn observe(place: &Place, alias: &str, kind: &str, more: &[&str]) -> String {
    let mut args = vec!["observe", kind, "--alias", alias, "--json"];
    args.extend(more);
    let done = place.run(&args).ok().json();
    assert_eq!(done["status"], "open");
    done["id"].as_str().unwrap().to_owned()
}

fn shown(place: &Place, id: &str) -> Value {
    place.run(&["show", id, "--json"]).ok().json()
}

fn short(id: &str) -> &str {
    &id[id.len() - 8..]
}

/// Forge, the table of sources: an epiphany is an agent's notice, which leads
/// to an intent when the agent judges that something should be done; a reflection
/// is what the reflecting agent found.
#[test]
fn sources_epiphany_and_reflection_of_document_004_lead_to_intents_that_name_them() {
    let place = Place::with_log();
    let epiphany = observe(
        &place,
        "cache",
        "epiphany",
        &[
            "--evidence",
            "src/cache.rs:88",
            "The cache is never emptied",
        ],
    );
    let args = [
        "observe",
        "reflection",
        "--alias",
        "setup",
        "--about",
        "cache",
        "--actor",
        "agent:reflect",
        "-",
    ];
    place.run_with(&args, REFLECTION).ok();
    let reflection = shown(&place, "setup");
    assert_eq!(reflection["text"], REFLECTION);
    assert_eq!(
        reflection["about"],
        json!([{ "kind": "observation", "id": epiphany }])
    );

    let proposed = place
        .run(&["submit", "--observation", "cache", "--json"])
        .ok()
        .json();
    let intent = proposed["id"].as_str().unwrap();
    let forge = place
        .run(&["show", intent, "--as", "forge", "--json"])
        .ok()
        .json();
    assert_eq!(forge["source"], "epiphany");
    assert_eq!(forge["title"], "The cache is never emptied");
    assert_eq!(forge["observation"], *epiphany);

    let args = ["submit", "--observation", "setup", "--json"];
    let proposed = place
        .run(&[&args[..], &["準備を関数にまとめる"]].concat())
        .ok()
        .json();
    let second = proposed["id"].as_str().unwrap();
    let forge = place
        .run(&["show", second, "--as", "forge", "--json"])
        .ok()
        .json();
    assert_eq!(
        (&forge["source"], &forge["title"]),
        (&json!("reflection"), &json!("準備を関数にまとめる"))
    );

    for (observation, led) in [("cache", intent), ("setup", second)] {
        let seen = shown(&place, observation);
        assert_eq!(seen["status"], "processed");
        assert_eq!(seen["intent"], *led);
    }
    place.run(&["verify"]).ok();
}

#[test]
fn open_observations_stand_the_oldest_first_with_what_settles_them() {
    let place = Place::with_log();
    let args = [
        "--evidence",
        "src/cache.rs:88",
        "The cache is never emptied",
    ];
    let cache = observe(&place, "cache", "epiphany", &args);
    observe(&place, "fine", "epiphany", &["The log is never cut"]);
    place
        .run_with(&["observe", "reflection", "--about", "cache"], REFLECTION)
        .ok();
    let listed = place.run(&["observations"]).ok().stdout;
    let lines: Vec<&str> = listed.lines().collect();
    assert!(lines[0].starts_with("cache  epiphany  since "), "{listed}");
    assert_eq!(
        lines[1..5],
        [
            "  The cache is never emptied",
            "  evidence: src/cache.rs:88",
            "  -> annals intent submit --observation cache",
            "  -> annals intent process cache --reason TEXT"
        ]
    );
    assert!(lines[5].starts_with("fine  epiphany"), "{listed}");
    assert!(
        listed.contains("  テストの準備が三か所で重複している\n\n  共通の関数"),
        "{listed}"
    );
    assert!(
        listed.contains(&format!("  about: observation {}", short(&cache))),
        "{listed}"
    );

    let process = ["process", "fine", "--reason", "it is meant so"];
    let done = place.run(&process).ok().stdout;
    assert!(done.contains("processed  The log is never cut"), "{done}");
    let open = place.run(&["observations", "--json"]).ok().lines();
    assert_eq!(open.len(), 2);
    assert_eq!(open[0]["alias"], "cache");
    assert_eq!(
        open[0]["resolve"][0],
        "annals intent submit --observation cache"
    );
    let all = place.run(&["observations", "--all"]).ok().stdout;
    assert!(
        all.contains("  processed: nothing to do, it is meant so"),
        "{all}"
    );
    let one = place.run(&["observations", "--all", "-n", "1"]);
    assert!(
        one.stderr.contains("there are more with --after"),
        "{one:?}"
    );
    let position = open[0]["first_position"].to_string();
    let rest = place.run(&["observations", "--after", &position, "--json"]);
    assert_eq!(rest.ok().lines().len(), 1);
}

#[test]
fn without_observations_nothing_is_listed_and_that_is_said() {
    let place = Place::with_log();
    for (args, note) in [
        (&["observations"][..], "no observation is open"),
        (&["observations", "--all"], "nothing was noticed"),
    ] {
        let ran = place.run(args);
        assert_eq!((ran.status, ran.stdout.as_str()), (0, ""));
        assert!(ran.stderr.contains(note), "{ran:?}");
    }
}

#[test]
fn the_tree_of_an_observation_has_the_intent_and_all_below_it() {
    let place = Place::with_log();
    let cache = observe(&place, "cache", "epiphany", &["The cache grows"]);
    let args = ["submit", "--observation", "cache", "--risk", "low"];
    place
        .run(&[&args[..], &["--alias", "empty-it", "Empty the cache"]].concat())
        .ok();
    let plan = r#"{"id": "drop", "title": "Drop what is old", "plan": "one line"}"#;
    place.run(&["analyze", "empty-it", plan]).ok();
    let tree = place.run(&["tree", "cache"]).ok().stdout;
    let lines: Vec<&str> = tree.lines().collect();
    assert!(lines[0].starts_with("observation "), "{tree}");
    assert!(lines[0].contains(" processed [cache] epiphany: The cache grows"));
    assert!(lines[1].starts_with("  intent "), "{tree}");
    assert!(lines[2].starts_with("    task "), "{tree}");
    assert!(lines[2].contains("Drop what is old"), "{tree}");

    let refs = place.run(&["refs", "cache"]).ok().stdout;
    assert!(refs.contains("intent.observation"), "{refs}");
    let listed = place.run(&["list", "observations", "--status", "processed"]);
    assert!(listed.ok().stdout.contains("The cache grows"));
    let children = place.run(&["list", "intents", "--parent", "cache"]).ok();
    assert!(children.stdout.contains("Empty the cache"), "{children:?}");
    let history = place.run(&["history", &cache]).ok().stdout;
    assert!(
        history.contains("epiphany \"The cache grows\""),
        "{history}"
    );
    assert!(history.contains("processed, led to intent"), "{history}");
    let of_intent = place.run(&["history", "empty-it"]).ok().stdout;
    let cause = format!("because of observation {}", short(&cache));
    assert!(of_intent.contains(&cause), "{of_intent}");
    let before = place.run(&["show", "cache", "--at", "2", "--json"]).ok();
    assert_eq!(before.json()["status"], "open");
}

#[test]
fn an_observation_leads_to_one_intent_of_its_own_source() {
    let place = Place::with_log();
    observe(&place, "cache", "epiphany", &["The cache grows"]);
    let end = |place: &Place| place.run(&["log", "--json"]).ok().lines().len();
    let before = end(&place);
    let submit = ["submit", "--observation", "cache"];
    place
        .run(&[&submit[..], &["--source", "reflection"]].concat())
        .fails(1, &["source", "of the kind epiphany", "name epiphany"]);
    assert_eq!(end(&place), before, "nothing is stored");
    place.run(&submit).ok();
    place
        .run(&submit)
        .fails(1, &["is processed, as it led to intent"]);
    place
        .run(&["process", "cache"])
        .fails(1, &["is processed, as it led to intent"]);
    place
        .run(&["submit", "--observation", "nothing"])
        .fails(1, &["there is no object"]);
}

#[test]
fn what_is_not_an_observation_is_refused_by_name() {
    let place = Place::with_log();
    place.run(&["submit", "--alias", "it", "Do it"]).ok();
    let wrong = ["submit", "--observation", "it"];
    place.run(&wrong).fails(1, &["intent", "observation"]);
    place.run(&["process", "it"]).fails(1, &["observation"]);
    place
        .run(&["observe", "hunch", "x"])
        .fails(2, &["hunch", "epiphany, reflection"]);
    place
        .run_with(&["observe", "epiphany"], " \n")
        .fails(1, &["text is not valid", "must not be blank"]);
    place
        .run(&["observe", "epiphany", "x", "--about", "nobody"])
        .fails(1, &["nobody"]);
    place
        .run(&["observe", "epiphany", "x", "--evidence", " "])
        .fails(1, &["evidence is not valid"]);
}

#[test]
fn several_observations_are_processed_at_once_and_what_is_refused_is_said() {
    let place = Place::with_log();
    observe(&place, "a", "epiphany", &["a"]);
    observe(&place, "b", "reflection", &["b"]);
    let ran = place.run(&["process", "a", "a", "b"]);
    let refused = ran.fails(1, &["a: process_observation is refused", "nothing to do"]);
    assert!(
        refused.stderr.contains("1 of 3 were refused"),
        "{refused:?}"
    );
    let open = place.run(&["observations"]);
    assert_eq!(open.stdout, "");
}

#[test]
fn services_record_observations_by_commands() {
    let place = Place::with_log();
    let agent = json!({ "kind": "agent", "id": "reflect" });
    let key = "0198c0de-0000-7000-8000-0000000000aa";
    let record = json!({ "command": "record_observation", "actor": agent, "key": key,
        "kind": "reflection", "text": REFLECTION, "evidence": ["tests/login.rs:12"] });
    let ids = place.accept(&[record.clone(), record]);
    assert_eq!(ids[0], ids[1], "a repeat stores nothing");
    let submit = json!({ "command": "submit_intent", "actor": agent, "prompt": "まとめる",
        "source": "reflection", "observation": ids[0] });
    let intent = place.accept(&[submit]).remove(0);
    let seen = shown(&place, &ids[0]);
    assert_eq!(seen["created_by"]["id"], "reflect");
    assert_eq!(seen["intent"], *intent);
    assert_eq!(place.run(&["log", "--json"]).ok().lines().len(), 5);
}
