//! What the program says of itself: help, schemas, the catalogue, manual pages.

use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::Place;

#[test]
fn every_command_has_help_with_examples() {
    let place = Place::empty();
    let commands: [&[&str]; 64] = [
        &["start"],
        &["resume"],
        &["share"],
        &["record", "on"],
        &["record", "off"],
        &["record", "status"],
        &["intent", "submit"],
        &["log", "events"],
        &["object", "list"],
        &["service", "serve"],
        &["init"],
        &["apply"],
        &["commands"],
        &["events"],
        &["import"],
        &["import", "git"],
        &["import", "claude"],
        &["import", "codex"],
        &["import", "copilot-chat"],
        &["import", "cursor"],
        &["import", "opencode"],
        &["import", "atif"],
        &["import", "contracts"],
        &["import", "forge"],
        &["import", "annals"],
        &["export", "annals"],
        &["export", "atif"],
        &["export", "contracts"],
        &["export", "forge"],
        &["watch", "forge"],
        &["list"],
        &["log"],
        &["show"],
        &["history"],
        &["diff"],
        &["bisect"],
        &["compare"],
        &["why"],
        &["replay"],
        &["policies"],
        &["classify"],
        &["secrets"],
        &["secrets", "scan"],
        &["observe"],
        &["observations"],
        &["process"],
        &["stats"],
        &["verify"],
        &["prove"],
        &["checkpoint"],
        &["checkpoint", "sign"],
        &["key", "generate"],
        &["key", "show"],
        &["backup"],
        &["restore"],
        &["copy"],
        &["doctor"],
        &["cat"],
        &["redact"],
        &["gc"],
        &["rebuild"],
        &["completions"],
        &["man"],
        &[],
    ];
    for command in commands {
        let help = place.run(&[command, &["--help"]].concat()).ok().stdout;
        assert!(help.contains("Examples:"), "{command:?}: {help}");
        assert!(
            help.contains("--json") && help.contains("--log"),
            "{command:?}: {help}"
        );
    }
    assert!(place.run(&["--version"]).ok().stdout.starts_with("annals "));
}

#[test]
fn the_schema_covers_every_command() {
    let place = Place::empty();
    let names: Vec<String> = place
        .run(&["commands", "--list", "--json"])
        .ok()
        .lines()
        .iter()
        .map(|line| line["command"].as_str().unwrap().to_owned())
        .collect();
    assert!(names.len() > 40, "{names:?}");
    let document = place.run(&["commands"]).ok().json();
    assert!(document["$schema"].is_string() && document["$defs"].is_object());
    let commands = document["commands"].as_object().unwrap();
    assert_eq!(commands.len(), names.len());
    for name in &names {
        let schema = &commands[name];
        assert_eq!(schema["properties"]["command"]["const"], **name);
        assert_eq!(schema["additionalProperties"], Value::Bool(false), "{name}");
        for field in ["actor", "at", "key", "correlation", "causation"] {
            assert!(
                schema["properties"][field]["description"].is_string(),
                "{name}.{field}"
            );
        }
        assert_eq!(schema["required"][0], "command");
    }
    let one = place.run(&["commands", "push_frame", "--json"]).ok().json();
    assert_eq!(one["title"], "push_frame");
    assert!(one["properties"]["token_estimate"].is_object());
    let list = place.run(&["commands", "--list"]).ok().stdout;
    assert!(
        list.lines()
            .all(|line| line.split_whitespace().count() > 2 || line.contains("MEANING")),
        "{list}"
    );
}

#[test]
fn the_catalogue_describes_every_event() {
    let place = Place::empty();
    let markdown = place.run(&["events"]).ok().stdout;
    assert!(markdown.starts_with("# Events"));
    let events = place.run(&["events", "--json"]).ok().lines();
    assert!(events.len() > 40);
    for event in events {
        let name = event["event_type"].as_str().unwrap();
        assert!(markdown.contains(name), "{name}");
        assert!(event["schema_version"].as_u64().unwrap() >= 1);
        assert!(event["fields"].is_array() && event["meaning"].is_string());
    }
}

#[test]
fn every_event_has_a_schema_with_the_fields_that_are_described() {
    let place = Place::empty();
    let document = place.run(&["events", "--schema"]).ok().json();
    assert!(document["$schema"].is_string() && document["$defs"].is_object());
    for event in place.run(&["events", "--json"]).ok().lines() {
        let schema = &document["events"][event["event_type"].as_str().unwrap()];
        let described = schema["description"].as_str().unwrap();
        assert_eq!(event["meaning"], described.replace('\n', " "));
        assert_eq!(schema["x-version"], event["schema_version"]);
        for field in event["fields"].as_array().unwrap() {
            let property = &schema["properties"][field["name"].as_str().unwrap()];
            let described = property["description"].as_str().unwrap();
            assert_eq!(field["meaning"], described.replace('\n', " "));
        }
    }
    let one = place.run(&["events", "task.failed", "--json"]).ok().json();
    assert_eq!(one["title"], "task.failed");
    assert!(one["properties"]["reason"]["anyOf"].is_array());
}

#[test]
fn completions_are_made_for_every_shell() {
    let place = Place::empty();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = place.run(&["completions", shell]).ok().stdout;
        assert!(script.contains("history"), "{shell}");
    }
    let script = place.run(&["completions", "bash"]).ok().stdout;
    std::fs::write(place.path("annals.bash"), script).unwrap();
    let checked = Command::new("bash")
        .arg("-n")
        .arg(place.path("annals.bash"))
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    assert!(checked.status.success(), "{checked:?}");
}

#[test]
fn there_is_a_manual_page_for_every_command() {
    let place = Place::empty();
    let page = place.run(&["man"]).ok().stdout;
    assert!(page.contains(".TH annals"), "{page}");
    place.run(&["man", "--dir", "man/man1"]).ok();
    for name in [
        "annals",
        "annals-apply",
        "annals-show",
        "annals-import-git",
        "annals-export-annals",
    ] {
        let page = std::fs::read_to_string(place.path(&format!("man/man1/{name}.1"))).unwrap();
        assert!(page.contains(".SH NAME"), "{name}");
    }
}

#[test]
fn old_spellings_are_hidden_and_name_the_new_ones() {
    let place = Place::empty();
    let top = place.run(&["--help"]).ok().stdout;
    for shown in [
        "start", "ls", "show", "search", "cost", "import", "record", "proof", "intent", "object",
    ] {
        assert!(top.contains(&format!("\n  {shown} ")), "{shown}: {top}");
    }
    for hidden in ["init", "apply", "submit", "verify", "list", "hook"] {
        assert!(!top.contains(&format!("\n  {hidden} ")), "{hidden}: {top}");
    }
    // Agents take status 2 of a hook as a refusal.
    for (old, new, status) in [
        (&["submit"][..], "annals intent submit", 2),
        (&["verify"], "annals proof verify", 2),
        (&["hook", "install"], "annals record on", 1),
    ] {
        let help = place.run(&[old, &["--help"]].concat()).ok().stdout;
        assert!(
            help.starts_with(&format!("New spelling: {new}\n")),
            "{help}"
        );
        let wrong = place.run(&[old, &["--no-such-option"]].concat());
        wrong.fails(
            status,
            &[
                "unexpected argument",
                &format!("the new spelling is `{new}`"),
            ],
        );
    }
    let new = place.run(&["proof", "verify", "--no-such-option"]);
    assert!(!new.stderr.contains("new spelling"), "{new:?}");
}

#[test]
fn both_spellings_do_the_same() {
    let place = Place::with_log();
    let id = place
        .run(&[
            "intent", "submit", "--risk", "high", "Fix it", "--actor", "ada", "--json",
        ])
        .ok()
        .json();
    let id = id["id"].as_str().unwrap().to_owned();
    let both = [
        (&["list", "intents"][..], &["object", "list", "intents"][..]),
        (&["log"], &["log", "events"]),
        (&["inbox"], &["intent", "inbox"]),
        (&["commands", "--list"], &["service", "commands", "--list"]),
        (&["policies"], &["policy", "evictions"]),
    ];
    for (old, new) in both {
        let (old, new) = (place.run(old).ok(), place.run(new).ok());
        assert_eq!(old.stdout, new.stdout);
        assert!(!old.stdout.is_empty());
    }
    place.run(&["intent", "approve", &id]).ok();
    place.run(&["proof", "verify"]).ok();
    place
        .run(&["log", "init"])
        .fails(1, &["holds a log already"]);
}
