//! A whole story, from `init` to `backup`, as its user sees it.

use serde_json::{Value, json};

use crate::support::{Place, human, story, uuid};

#[test]
fn init_makes_a_log_once_and_says_where() {
    let place = Place::empty();
    let id = uuid(7);
    let made = place.run(&["init", "--log-id", &id]).ok();
    assert_eq!(made.stdout, format!("created the log {id} in log\n"));
    place
        .run(&["init"])
        .fails(1, &["log holds a log already", "--log"]);
    assert_eq!(
        place.run(&["init", "--json"]).fails(1, &[]).error_code(),
        "log_exists"
    );
    let stats = place.run(&["stats", "--json"]).ok().json();
    assert_eq!(stats["log_id"], id);
    assert_eq!(
        (&stats["position"], &stats["events"]),
        (&json!(0), &json!(0))
    );

    let other = place
        .run(&["--log", "rocks:other/deep", "init", "--json"])
        .ok()
        .json();
    assert_eq!(other["path"], "other/deep");
    assert!(place.path("other/deep").is_dir());
    place
        .run(&["--log", "memory:", "init"])
        .fails(1, &["memory", "--log"]);
}

#[test]
fn show_tells_how_an_object_is_and_how_it_was() {
    let place = Place::with_log();
    let story = story(&place);
    let page = place.run(&["show", &story.run]).ok().stdout;
    assert!(page.starts_with(&format!("run {}\n", story.run)), "{page}");
    for says in ["  state ", "completed, began ", "+3000 -0", "  decision "] {
        assert!(page.contains(says), "{says} is not in {page}");
    }
    assert!(page.contains("src/parser.rs"), "{page}");
    let shown = place.run(&["show", &story.run, "--full"]).ok().stdout;
    assert!(
        shown.starts_with(&format!("run {}\n", story.run)),
        "{shown}"
    );
    assert!(shown.contains("status      completed"), "{shown}");
    assert!(shown.contains("created_by  agent coder"), "{shown}");
    assert!(!shown.contains("null") && !shown.contains('{'), "{shown}");

    let now = place.run(&["show", &story.run, "--json"]).ok();
    assert_eq!(now.stdout.lines().count(), 1);
    assert_eq!(now.json()["status"], "completed");
    assert_eq!(now.json()["object_type"], "run");

    // The run's own history says where it was created.
    let history = place.run(&["history", &story.run, "--json"]).ok().lines();
    let created = history[0]["position"].to_string();
    let then = place
        .run(&["show", &story.run, "--at", &created, "--full"])
        .ok()
        .stdout;
    assert!(
        then.starts_with(&format!("run {} (after event {created})\n", story.run)),
        "{then}"
    );
    assert!(then.contains("status      created"), "{then}");
    let before = (history[0]["position"].as_u64().unwrap() - 1).to_string();
    place
        .run(&["show", &story.run, "--at", &before])
        .fails(1, &["did not exist yet"]);
    place
        .run(&["show", &story.run, "--at", "999"])
        .fails(1, &["position 999 is not there yet"]);
}

#[test]
fn times_go_by_either_clock() {
    let place = Place::with_log();
    let story = story(&place);
    // The first command says that it happened in January; it was recorded just now.
    let show = |at: &str| place.run(&["show", &story.intent, "--json", "--at", at]);
    let occurred = show("occurred:2026-01-02T03:04:05Z").ok().json();
    assert_eq!(occurred["statuses"].as_array().unwrap().len(), 1);
    show("2020-01-01T00:00:00Z").fails(1, &["did not exist yet"]);
    let recorded = show("2999-01-01T00:00:00Z").ok().json();
    assert_eq!(recorded["statuses"].as_array().unwrap().len(), 3);
}

#[test]
fn every_object_can_be_shown_by_its_last_digits() {
    let place = Place::with_log();
    let story = story(&place);
    for id in [
        &story.intent,
        &story.task,
        &story.run,
        &story.patch_set,
        &story.pipeline,
    ] {
        let short = &id[id.len() - 8..];
        let shown = place.run(&["show", short, "--json"]).ok().json();
        assert_eq!(shown["object_id"], **id);
        let text = place.run(&["show", &short.to_uppercase()]).ok().stdout;
        assert!(text.contains(id.as_str()), "{text}");
    }
    let patch_set = place.run(&["show", &story.patch_set]).ok().stdout;
    assert!(
        patch_set.contains("modify src/parser.rs +3000 -0"),
        "{patch_set}"
    );
}

#[test]
fn a_diff_comes_out_as_it_went_in() {
    let place = Place::with_log();
    let story = story(&place);
    let diff = place.run(&["show", &story.patch_set, "--diff"]).ok().stdout;
    assert_eq!(diff, format!("diff --git\n{}", "+x\n".repeat(3000)));
    let json = place
        .run(&["show", &story.patch_set, "--diff", "--json"])
        .ok()
        .json();
    assert_eq!(json["diff"], diff);
    place
        .run(&["show", &story.run, "--diff"])
        .fails(1, &["has no diff", "only a patch set"]);
}

#[test]
fn history_tells_who_did_what_when() {
    let place = Place::with_log();
    let story = story(&place);
    let table = place.run(&["history", &story.intent]).ok().stdout;
    let header = table.lines().next().unwrap();
    for title in ["POSITION", "WHEN", "WHO", "WHAT"] {
        assert!(header.contains(title), "{header}");
    }
    assert!(table.contains("2026-01-02 03:04:05Z  human ada"), "{table}");
    let lines = place
        .run(&["history", &story.intent, "--json"])
        .ok()
        .lines();
    let types: Vec<&str> = lines
        .iter()
        .map(|line| line["event_type"].as_str().unwrap())
        .collect();
    assert_eq!(
        types[..3],
        ["intent.submitted", "intent.analyzed", "intent.activated"]
    );
    assert_eq!(lines[0]["event"]["prompt"], "Add a cache");
    assert_eq!(table.lines().count(), lines.len() + 1);

    let until = lines[1]["position"].to_string();
    let earlier = place
        .run(&["history", &story.intent, "--at", &until, "--json"])
        .ok()
        .lines();
    assert_eq!(earlier, lines[..2]);
}

#[test]
fn stats_verify_and_backup_agree() {
    let place = Place::with_log();
    story(&place);
    let stats = place.run(&["stats", "--json", "--types"]).ok().json();
    let events = stats["events"].as_u64().unwrap();
    assert!(events > 14 && stats["position"] == events, "{stats}");
    assert!(stats["bytes"].as_u64().unwrap() > 0);
    assert_eq!(
        (&stats["streams"], &stats["batches"], &stats["blobs"]),
        (&json!(4), &json!(14), &json!(1))
    );
    let counted: u64 = stats["types"]
        .as_object()
        .unwrap()
        .values()
        .filter_map(Value::as_u64)
        .sum();
    assert_eq!(counted, events);
    let text = place.run(&["stats", "--types"]).ok().stdout;
    assert!(
        text.contains(&format!("events   {events}")) && text.contains("run.created"),
        "{text}"
    );

    let verified = place.run(&["verify", "--json"]).ok().json();
    assert_eq!(
        (&verified["ok"], &verified["records"]),
        (&json!(true), &json!(events))
    );
    assert_eq!(verified["unreferenced_blobs"], 0);
    let catalogue = &verified["catalogue"];
    assert_eq!(
        (&catalogue["position"], &catalogue["total_findings"]),
        (&json!(events), &json!(0))
    );
    assert!(catalogue["rows"].as_u64().unwrap() > 10, "{catalogue}");
    let text = place.run(&["verify"]).ok().stdout;
    assert!(text.starts_with("sound: "), "{text}");
    assert!(
        text.contains("rows are those that the log gives up to position"),
        "{text}"
    );

    // What follows from the records is the same when it is rebuilt.
    let rebuilt = place.run(&["rebuild", "--indexes", "--json"]).ok().json();
    let expected = json!({
        "records": events, "streams": 4, "batches": 14, "blobs": 1,
        "batches_without_request": 0, "batches_removed": 0,
    });
    assert_eq!(
        (&rebuilt["indexes"], &rebuilt["events"]),
        (&expected, &json!(events))
    );
    let again = place.run(&["verify", "--json"]).ok().json();
    assert_eq!(
        (&again["ok"], &again["root"]),
        (&json!(true), &verified["root"])
    );
    let text = place.run(&["rebuild", "--indexes"]).ok().stdout;
    assert!(
        text.contains("rebuilt the indexes") && text.contains("rebuilt the catalogue"),
        "{text}"
    );
    place
        .run(&["--log", "nowhere", "rebuild", "--indexes"])
        .fails(1, &["there is no log at nowhere"]);
    place
        .run(&["--log", "memory:", "rebuild", "--indexes"])
        .fails(1, &["in memory"]);

    let copied = place.run(&["backup", "copy/here", "--json"]).ok().json();
    assert_eq!(copied["position"], events);
    place
        .run(&["backup", "copy/here"])
        .fails(1, &["not an empty directory", "another place"]);
    let copy = place
        .run(&["--log", "copy/here", "stats", "--json"])
        .ok()
        .json();
    assert_eq!(
        (&copy["events"], &copy["log_id"]),
        (&json!(events), &stats["log_id"])
    );
    place.run(&["--log", "copy/here", "verify"]).ok();
    // The copy is a log of its own.
    let goes_on = human("create_intent", json!({ "prompt": "another" })).to_string();
    place
        .run_with(&["--log", "copy/here", "apply"], goes_on)
        .ok();
    assert_eq!(
        place.run(&["stats", "--json"]).ok().json()["events"],
        events
    );
}

#[test]
fn colour_is_used_only_where_it_is_wanted() {
    let place = Place::with_log();
    let story = story(&place);
    for args in [vec!["show", story.run.as_str()], vec!["log"], vec!["stats"]] {
        let plain = place.run(&args).ok().stdout;
        assert!(!plain.contains('\x1b'), "{plain}");
        let styled = place
            .run(&[args.clone(), vec!["--color", "always"]].concat())
            .ok()
            .stdout;
        assert!(styled.contains("\x1b["), "{styled}");
        let never = place
            .run(&[args, vec!["--color=never"]].concat())
            .ok()
            .stdout;
        assert_eq!(never, plain);
    }
}

#[test]
fn recorded_text_cannot_drive_the_terminal() {
    let place = Place::with_log();
    let nasty = human(
        "create_intent",
        json!({ "id": uuid(9), "prompt": "a\u{1b}[2Jb\u{202e}c" }),
    );
    place.accept(&[nasty]);
    for args in [
        vec!["show", &uuid(9)],
        vec!["history", &uuid(9)],
        vec!["log"],
    ] {
        let shown = place.run(&args).ok().stdout;
        assert!(
            !shown.contains('\x1b') && !shown.contains('\u{202e}'),
            "{shown:?}"
        );
    }
}
