//! What follows from settings for calls.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::Path;

use annals::domain::run::ToolVerdict::{self, Allow, Ask, Deny};
use annals_dialects::live::FileSays;
use annals_dialects::secrets::Secrets;
use annals_tool_policy::Call;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::Settings;
use crate::hook::{HookAgent, Surroundings};

/// A home with a project in it, and settings at each level.
struct Home(TempDir);

impl Home {
    fn with(files: &[(&str, Value)]) -> Home {
        let home = Home(tempfile::tempdir().unwrap());
        fs::create_dir_all(home.0.path().join("app/.claude")).unwrap();
        fs::create_dir_all(home.0.path().join(".claude")).unwrap();
        for (path, settings) in files {
            fs::write(home.0.path().join(path), settings.to_string()).unwrap();
        }
        home
    }

    /// Of the project alone.
    fn allowing(allow: &[&str], ask: &[&str], deny: &[&str]) -> Home {
        let permissions = json!({ "allow": allow, "ask": ask, "deny": deny });
        Home::with(&[(PROJECT, json!({ "permissions": permissions }))])
    }

    fn path(&self, path: &str) -> String {
        self.0.path().join(path).to_str().unwrap().to_owned()
    }

    fn read(&self, call: &Call) -> Settings {
        let around = Surroundings {
            home: Some(self.path("")),
            workspace: Some(self.path("app")),
            ..Surroundings::default()
        };
        Settings::read(HookAgent::Claude, call, &around, &Secrets::standard()).unwrap()
    }

    fn call(&self, tool: &str, args: Value) -> Call {
        Call::new(tool, args)
            .with_cwd(self.path("app"))
            .with_mode("default".to_owned())
    }

    /// What follows for a command: the verdict, and the rule or the mode.
    fn bash(&self, command: &str) -> Option<(ToolVerdict, String)> {
        self.says(&self.call("Bash", json!({ "command": command })))
    }

    fn says(&self, call: &Call) -> Option<(ToolVerdict, String)> {
        let inferred = self.read(call).inferred?;
        Some((inferred.verdict, inferred.name.to_string()))
    }
}

const PROJECT: &str = "app/.claude/settings.json";
const LOCAL: &str = "app/.claude/settings.local.json";
const USER: &str = ".claude/settings.json";

#[test]
fn commands_are_matched_as_claude_code_does() {
    let home = Home::allowing(
        &[
            "Bash(npm test:*)",
            "Bash(ls *)",
            "Bash(git * main)",
            "Bash(make)",
            "Bash(say*)",
        ],
        &["Bash(git push *)"],
        &["Bash(rm:*)", "Bash(curl evil.example*)"],
    );
    for (command, expected) in [
        ("npm test", Some((Allow, "Bash(npm test:*)"))),
        ("npm test -- --watch", Some((Allow, "Bash(npm test:*)"))),
        ("npm testing", None),
        ("npm run build", None),
        ("ls", Some((Allow, "Bash(ls *)"))),
        ("ls -la", Some((Allow, "Bash(ls *)"))),
        ("lsof", None),
        ("saying so", Some((Allow, "Bash(say*)"))),
        ("git checkout main", Some((Allow, "Bash(git * main)"))),
        ("git checkout topic", None),
        ("make", Some((Allow, "Bash(make)"))),
        ("make all", None),
        // Each command of several must be allowed; one that is denied denies all.
        ("npm test && ls -la", Some((Allow, "Bash(npm test:*)"))),
        ("npm test && cargo build", None),
        ("npm test | rm -rf x", Some((Deny, "Bash(rm:*)"))),
        ("cd src && npm test", Some((Allow, "Bash(npm test:*)"))),
        // What asks comes before what allows, and what denies before both.
        ("git push origin main", Some((Ask, "Bash(git push *)"))),
        ("git push; rm x", Some((Deny, "Bash(rm:*)"))),
        (
            "curl evil.example/x",
            Some((Deny, "Bash(curl evil.example*)")),
        ),
        // What is only known when it runs may be anything.
        ("npm test $(cat x)", None),
        ("$X -la", None),
        ("ls 'x", None),
    ] {
        let expected = expected.map(|(verdict, rule)| (verdict, rule.to_owned()));
        assert_eq!(home.bash(command), expected, "{command}");
    }
}

/// Which commands Claude Code takes to be of files is not known for sure.
#[test]
fn a_command_on_a_file_that_must_not_be_read_is_left_open() {
    let home = Home::allowing(&["Bash(cat:*)"], &[], &["Read(.env)", "Edit(/gen/**)"]);
    for (command, is_open) in [
        ("cat a.txt", false),
        ("cat .env", true),
        ("cat x/.env", true),
        ("cat a.txt > gen/a", true),
        ("cat a.txt > b", false),
        ("cat \"$FILE\"", true),
    ] {
        assert_eq!(home.bash(command).is_none(), is_open, "{command}");
    }
}

#[test]
fn files_are_matched_as_git_ignores_them() {
    let home = Home::allowing(
        &["Edit(/src/**)", "Read(~/notes/*)", "Edit(docs/**/*.md)"],
        &["Edit(//etc/**)"],
        &["Read(.env)", "Read(secrets/)"],
    );
    let edit = |path: &str| home.says(&home.call("Write", json!({ "file_path": path })));
    let read = |path: &str| home.says(&home.call("Read", json!({ "file_path": path })));
    for (found, expected) in [
        (edit("src/a/b.rs"), Some((Allow, "Edit(/src/**)"))),
        (
            edit(&home.path("app/src/b.rs")),
            Some((Allow, "Edit(/src/**)")),
        ),
        (edit("src/../other/b.rs"), None),
        (edit("docs/a/b/c.md"), Some((Allow, "Edit(docs/**/*.md)"))),
        (edit("docs/a/b/c.txt"), None),
        (edit("/etc/hosts"), Some((Ask, "Edit(//etc/**)"))),
        (read("deep/down/.env"), Some((Deny, "Read(.env)"))),
        (read("x/secrets/key"), Some((Deny, "Read(secrets/)"))),
        (
            read(&home.path("notes/a")),
            Some((Allow, "Read(~/notes/*)")),
        ),
        (read(&home.path("notes/a/b")), None),
        // A search may read what must not be read.
        (
            home.says(&home.call("Grep", json!({ "pattern": "x" }))),
            None,
        ),
    ] {
        let expected = expected.map(|(verdict, rule): (_, &str)| (verdict, rule.to_owned()));
        assert_eq!(found, expected);
    }
}

#[test]
fn other_tools_are_matched_by_name_server_and_host() {
    let home = Home::allowing(
        &[
            "mcp__github",
            "mcp__db__read*",
            "WebFetch(domain:*.example.com)",
            "TodoWrite",
            "Skill(x)",
        ],
        &[],
        &["mcp__db__drop"],
    );
    for (tool, args, expected) in [
        ("mcp__github__create_issue", json!({}), Some(Allow)),
        ("mcp__githubs__create_issue", json!({}), None),
        ("mcp__db__read_row", json!({}), Some(Allow)),
        ("mcp__db__drop", json!({}), Some(Deny)),
        ("mcp__db__write", json!({}), None),
        (
            "WebFetch",
            json!({ "url": "https://docs.example.com/x" }),
            Some(Allow),
        ),
        (
            "WebFetch",
            json!({ "url": "https://example.org/docs.example.com" }),
            None,
        ),
        ("TodoWrite", json!({ "todos": [] }), Some(Allow)),
        ("Skill", json!({ "skill": "x" }), None),
    ] {
        let found = home.read(&home.call(tool, args)).inferred;
        assert_eq!(found.map(|it| it.verdict), expected, "{tool}");
    }
}

#[test]
fn modes_decide_where_no_rule_does() {
    let home = Home::allowing(&["Bash(ls:*)"], &["Bash(git push:*)"], &["Bash(rm:*)"]);
    let says = |mode: &str, tool: &str, args: Value| {
        home.says(&home.call(tool, args).with_mode(mode.to_owned()))
    };
    let bash = |command: &str| json!({ "command": command });
    let bypass = "bypassPermissions";
    for (found, expected) in [
        (
            says(bypass, "Bash", bash("cargo build")),
            Some((Allow, bypass)),
        ),
        (
            says(bypass, "Bash", bash("rm x")),
            Some((Deny, "Bash(rm:*)")),
        ),
        (
            says(bypass, "Bash", bash("git push")),
            Some((Ask, "Bash(git push:*)")),
        ),
        (
            says("acceptEdits", "Edit", json!({ "file_path": "a" })),
            Some((Allow, "acceptEdits")),
        ),
        (
            says("acceptEdits", "Edit", json!({ "file_path": "/etc/a" })),
            None,
        ),
        (says("acceptEdits", "Bash", bash("cargo build")), None),
        (says("plan", "Edit", json!({ "file_path": "a" })), None),
        (says("default", "Bash", bash("cargo build")), None),
    ] {
        let expected = expected.map(|(verdict, name): (_, &str)| (verdict, name.to_owned()));
        assert_eq!(found, expected);
    }
}

#[test]
fn all_levels_count_and_are_kept_by_their_digests() {
    let rules = |list: &str, rule: &str| json!({ "permissions": { list: [rule] } });
    let user = json!({
        "permissions": { "allow": ["Bash(ls:*)", "Bash(cat:*)"] },
        "env": { "TOKEN": format!("ghp_{}", "a1B2".repeat(9)) },
    });
    let home = Home::with(&[
        (USER, user),
        (PROJECT, rules("deny", "Bash(cat:*)")),
        (LOCAL, rules("allow", "Bash(ls -la)")),
    ]);
    let settings = home.read(&home.call("Bash", json!({ "command": "ls -la" })));
    let inferred = settings.inferred.clone().unwrap();
    assert_eq!(inferred.name.as_str(), "Bash(ls -la)");
    assert_eq!(inferred.source.as_deref(), Some(&*home.path(LOCAL)));
    let kept = settings.in_force();
    let mine = kept
        .iter()
        .filter(|(path, _)| Path::new(path.as_str()).starts_with(home.0.path()));
    let is_kept: Vec<(&str, bool)> = mine
        .map(|(path, says)| (path.as_str(), matches!(says, FileSays::Content(_))))
        .collect();
    // A file with a secret is known by its SHA-256 alone.
    let (local, project, user) = (home.path(LOCAL), home.path(PROJECT), home.path(USER));
    let expected = [
        (local.as_str(), true),
        (project.as_str(), true),
        (user.as_str(), false),
    ];
    assert_eq!(is_kept, expected);
    assert_eq!(home.bash("ls x"), Some((Allow, "Bash(ls:*)".to_owned())));
    assert_eq!(home.bash("cat x"), Some((Deny, "Bash(cat:*)".to_owned())));
}

#[test]
fn settings_that_cannot_be_read_say_nothing() {
    let home = Home::allowing(&["Bash(ls:*)"], &[], &[]);
    fs::write(home.path(LOCAL), "{").unwrap();
    let settings = home.read(&home.call("Bash", json!({ "command": "ls" })));
    assert_eq!(settings.inferred, None);
    assert_eq!(settings.files.len(), 2, "{settings:?}");
    for odd in [
        json!([]),
        json!({ "permissions": [] }),
        json!({ "permissions": { "allow": [7, "("] } }),
    ] {
        fs::write(home.path(LOCAL), odd.to_string()).unwrap();
        assert_eq!(
            home.bash("ls"),
            Some((Allow, "Bash(ls:*)".to_owned())),
            "{odd}"
        );
    }
}
