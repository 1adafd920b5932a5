//! What hooks put into configurations, and leave behind when they go.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::Path;

use super::{Change, install, installed, uninstall};
use crate::hook::HookAgent;

const COMMAND: &str = "/usr/bin/annals --log /home/kei/.annals hook";

fn command(agent: HookAgent) -> String {
    format!("{COMMAND} {}", agent.key())
}

fn apply(change: &Change) {
    change.apply().unwrap();
}

fn name(agent: HookAgent) -> &'static str {
    match agent {
        HookAgent::Codex => "config.toml",
        _ => "settings.json",
    }
}

/// Configurations with comments, odd formatting, and hooks of others.
fn configurations(agent: HookAgent) -> Vec<Option<&'static str>> {
    match agent {
        HookAgent::Codex => vec![
            None,
            Some(""),
            Some(
                "# mine\nmodel   = \"gpt-5\" # the best\n\n[hooks]\n\n[[hooks.PreToolUse]]\nmatcher = \"^Bash$\"\n[[hooks.PreToolUse.hooks]]\ntype = \"command\"\ncommand = \"python3 check.py\"\n\n[profiles.x]\na = 1\n",
            ),
        ],
        HookAgent::Cursor => vec![
            None,
            Some(
                "{ \"version\": 1, \"hooks\": { \"stop\": [ { \"command\": \"./own.sh\" } ] } }\n",
            ),
        ],
        _ => vec![
            None,
            Some("{}"),
            Some(
                "// mine\n{\n    \"model\": \"opus\", // the best\n    \"hooks\": {\n        \"PreToolUse\": [\n            { \"matcher\": \"Bash\", \"hooks\": [{ \"type\": \"command\", \"command\": \"python3 check.py\" }] }\n        ],\n    },\n    \"cleanupPeriodDays\": 99999\n}\n",
            ),
        ],
    }
}

fn check(agent: HookAgent, text: Option<&str>, folder: &Path) {
    let path = folder.join(name(agent));
    if let Some(text) = text {
        fs::write(&path, text).unwrap();
    }
    apply(&install(agent, &path, &command(agent)).unwrap());
    let with = fs::read_to_string(&path).unwrap();
    assert_eq!(installed(agent, &path).unwrap(), [command(agent)]);
    for event in agent.events() {
        assert!(with.contains(event), "{event} is missing in {with}");
    }
    if let Some(text) = text {
        let own = [
            "# mine",
            "// mine",
            "// the best",
            "# the best",
            "python3 check.py",
            "./own.sh",
        ];
        for own in own.into_iter().filter(|own| text.contains(own)) {
            assert!(with.contains(own), "{own} is missing in {with}");
        }
    }
    // Again: nothing changes.
    assert!(install(agent, &path, &command(agent)).unwrap().is_nothing());
    // Another log: what we put there is replaced.
    let other = command(agent).replace("/home/kei/.annals", "/srv/log");
    apply(&install(agent, &path, &other).unwrap());
    assert_eq!(installed(agent, &path).unwrap(), [other]);
    let change = uninstall(agent, &path).unwrap();
    apply(&change);
    assert_eq!(
        fs::read_to_string(&path).ok().as_deref(),
        text,
        "{}",
        agent.key()
    );
    assert!(uninstall(agent, &path).unwrap().is_nothing());
    assert!(!change.copy().exists());
}

#[test]
fn hooks_come_and_go_and_leave_nothing_behind() {
    for agent in HookAgent::ALL {
        for text in configurations(agent) {
            let folder = tempfile::tempdir().unwrap();
            check(agent, text, folder.path());
        }
    }
}

#[test]
fn what_was_changed_since_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings.json");
    fs::write(&path, "{\n  \"model\": \"opus\"\n}\n").unwrap();
    apply(&install(HookAgent::Claude, &path, &command(HookAgent::Claude)).unwrap());
    let changed = fs::read_to_string(&path).unwrap().replace("opus", "haiku");
    fs::write(&path, changed).unwrap();
    apply(&uninstall(HookAgent::Claude, &path).unwrap());
    let left = fs::read_to_string(&path).unwrap();
    let left: serde_json::Value = serde_json::from_str(&left).unwrap();
    assert_eq!(left, serde_json::json!({ "model": "haiku" }));
}

#[test]
fn what_cannot_be_understood_is_left_alone() {
    for (agent, text) in [
        (HookAgent::Claude, "{ \"hooks\": [] }"),
        (HookAgent::Claude, "[]"),
        (HookAgent::Claude, "{ \"hooks\": "),
        (HookAgent::Claude, "{ \"hooks\": { \"Stop\": 7 } }"),
        (HookAgent::Codex, "hooks = 7"),
        (HookAgent::Codex, "[hooks"),
        (HookAgent::Codex, "[hooks]\nStop = []"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name(agent));
        fs::write(&path, text).unwrap();
        let error = install(agent, &path, &command(agent))
            .unwrap_err()
            .to_string();
        assert!(error.contains("is not changed: it"), "{text}: {error}");
    }
}

#[test]
fn a_file_that_changes_meanwhile_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings.json");
    fs::write(&path, "{}").unwrap();
    let change = install(HookAgent::Claude, &path, &command(HookAgent::Claude)).unwrap();
    fs::write(&path, "{ }").unwrap();
    let error = change.apply().unwrap_err().to_string();
    assert!(error.contains("has been changed meanwhile"), "{error}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "{ }");
}

/// Somebody put ours and theirs into one group: ours goes, and theirs stays.
#[test]
fn ours_is_taken_out_of_a_group_with_others() {
    let text = format!(
        "{{ \"hooks\": {{ \"Stop\": [{{ \"hooks\": [\n  {{ \"command\": \"./own.sh\" }}, // mine\n  {{ \"command\": \"{}\" }}\n] }}] }} }}",
        command(HookAgent::Claude)
    );
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings.json");
    fs::write(&path, &text).unwrap();
    apply(&uninstall(HookAgent::Claude, &path).unwrap());
    let left = fs::read_to_string(&path).unwrap();
    assert!(
        left.contains("./own.sh") && left.contains("// mine"),
        "{left}"
    );
    assert_eq!(installed(HookAgent::Claude, &path).unwrap(), [""; 0]);
    assert!(!left.contains("annals"), "{left}");
}

#[test]
fn our_commands_are_known_by_their_program_or_by_how_they_were_installed() {
    for (command, is_ours) in [
        ("annals hook claude", true),
        ("/opt/a b/annals --log /x hook claude", true),
        (
            "'/opt/a b/annals' --log '/my log' hook claude --gate p.cedar",
            true,
        ),
        (
            "RUST_LOG=off /usr/bin/env annals --log=/x hook claude",
            true,
        ),
        ("/opt/annals-1.2/bin/recorder --log /x hook claude", true),
        ("\"/it's/annals\" --log /x hook claude", true),
        ("annals hook codex", false),
        ("annals hook", false),
        ("mytool --quiet --log /x/annals hook claude", false),
        ("./own.sh # annals hook-claude", false),
        ("", false),
        ("'", false),
    ] {
        assert_eq!(
            super::is_ours(HookAgent::Claude, command),
            is_ours,
            "{command}"
        );
    }
}

/// What editors and other programs leave: a byte order mark, line ends of Windows, tabs, commas at the end, nothing at
/// all.
#[test]
fn odd_files_come_back_as_they_were() {
    for text in [
        "\u{feff}{\n  \"model\": \"opus\"\n}\n",
        "{\r\n\t\"model\": \"opus\",\r\n}\r\n",
        "{\"model\":\"opus\"}",
        "/* all */ { /* none */ } // end",
        "{ \"hooks\": {} }",
        "{ \"hooks\": { \"PreToolUse\": [] } }",
        "",
        " \n",
    ] {
        let folder = tempfile::tempdir().unwrap();
        check(HookAgent::Claude, Some(text), folder.path());
    }
}
