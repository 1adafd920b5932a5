//! A policy profile of sessions as a policy over git commands of agents.
//!
//! A profile's kinds of commands are what git does: a push, a commit, a branch, a diff, a patch. What
//! the gate of sessions knows, and a single call does not say, is asked: how many files a commit
//! changes, whether tests ran, whether pushes were approved. Rates and tickets are not of git.

use std::fmt::Write as _;

use annals::domain::session::{CommandKind, PolicyProfile};
use annals_tool_policy::Policies;

/// A profile as Cedar.
pub(super) fn cedar(profile: &PolicyProfile) -> String {
    let mut rules = Rules {
        name: profile.name.as_str(),
        text: String::new(),
    };
    for (kind, scope) in KINDS {
        let word = kind.as_str();
        let lists = |list: &[String]| list.iter().any(|listed| listed == word);
        let is_out = profile
            .command_whitelist
            .as_deref()
            .is_some_and(|list| !lists(list));
        let is_black = profile.command_blacklist.as_deref().is_some_and(lists);
        let rule = match (is_out, is_black) {
            (true, _) => ("not-in-whitelist", "Command not in whitelist"),
            (false, true) => ("in-blacklist", "Command in blacklist"),
            (false, false) => continue,
        };
        rules.forbid(
            &format!("{}/{word}", rule.0),
            &format!("Policy violation: {}", rule.1),
            scope,
        );
    }
    if !profile.protected_branches.is_empty() {
        let scope = format!(
            "action in [Action::\"branch\", Action::\"commit\", Action::\"push\"], resource)\n\
             when {{ resource.protected_by.contains({}) }}",
            quoted(&profile.name)
        );
        rules.forbid(
            "protected-branch",
            "Policy violation: Protected branch",
            &scope,
        );
    }
    if let Some(most) = profile.max_files_per_commit {
        rules.ask(
            "max-files",
            &format!("Does it change at most {most} files?"),
            COMMIT,
        );
    }
    if profile.require_tests_before_push {
        rules.ask(
            "tests-before-push",
            "Did the tests pass after the last change?",
            PUSH,
        );
    }
    if profile.require_approval_for_push {
        rules.ask("approval-for-push", "Pushes need an approval.", PUSH);
    }
    rules.add(
        "otherwise",
        "@default\npermit",
        "action in Action::\"run\", resource)\nwhen { resource.program == \"git\" }",
    );
    rules.text
}

/// Adds the branches that a profile protects, by the patterns as the gate of sessions reads them.
pub(super) fn protect(policies: Policies, profile: PolicyProfile) -> Policies {
    let name = profile.name.clone();
    policies.with_protected(name, move |branch| profile.protects(branch))
}

const PUSH: &str = "action == Action::\"push\", resource)";
const COMMIT: &str = "action == Action::\"commit\", resource)";

/// What git does that a profile has a kind for.
const KINDS: [(CommandKind, &str); 5] = [
    (CommandKind::Push, PUSH),
    (CommandKind::Commit, COMMIT),
    (
        CommandKind::CreateBranch,
        "action == Action::\"branch\", resource)\nwhen { !resource.deletes }",
    ),
    (
        CommandKind::GetDiff,
        "action in Action::\"run\", resource)\n\
         when { resource.program == \"git\" && [\"diff\", \"show\", \"format-patch\"].contains(resource.subcommand) }",
    ),
    (
        CommandKind::ApplyPatch,
        "action in Action::\"run\", resource)\n\
         when { resource.program == \"git\" && [\"am\", \"apply\"].contains(resource.subcommand) }",
    ),
];

struct Rules<'a> {
    name: &'a str,
    text: String,
}

impl Rules<'_> {
    fn forbid(&mut self, id: &str, reason: &str, scope: &str) {
        self.add(id, &format!("@reason({})\nforbid", quoted(reason)), scope);
    }

    fn ask(&mut self, id: &str, question: &str, scope: &str) {
        self.add(id, &format!("@ask({})\nforbid", quoted(question)), scope);
    }

    fn add(&mut self, id: &str, effect: &str, scope: &str) {
        let id = quoted(&format!("{}/{id}", self.name));
        let _ = writeln!(self.text, "@id({id})\n{effect} (principal, {scope};\n");
    }
}

/// A text as Cedar has it.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() || !c.is_ascii() => {
                let _ = write!(quoted, "\\u{{{:x}}}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use annals_tool_policy::{Call, Verdict};
    use serde_json::json;

    use super::*;

    fn verdict(profile: &PolicyProfile, command: &str) -> (Verdict, Option<String>) {
        verdict_on("main", profile, command)
    }

    fn verdict_on(
        branch: &str,
        profile: &PolicyProfile,
        command: &str,
    ) -> (Verdict, Option<String>) {
        let text = cedar(profile);
        let policies = Policies::parse(&[("profile.json", &text)]).expect("it is valid");
        let policies = protect(policies, profile.clone());
        let call = Call::new("Bash", json!({ "command": command })).with_branch(branch.to_owned());
        let judged = policies.judge(&call);
        (judged.verdict, judged.rule().map(|rule| rule.id.clone()))
    }

    #[test]
    fn a_profile_judges_git_commands() {
        let profile = PolicyProfile::new("care\"ful")
            .with_protected_branches(vec!["main".to_owned(), "refs/heads/release".to_owned()])
            .with_command_blacklist(vec!["ApplyPatch".to_owned()])
            .with_max_files_per_commit(10)
            .with_require_tests_before_push(true);
        for (command, expected, rule) in [
            ("git status", Verdict::Allow, Some("care\"ful/otherwise")),
            (
                "git push origin main",
                Verdict::Deny,
                Some("care\"ful/protected-branch"),
            ),
            (
                "git push origin HEAD:refs/heads/release",
                Verdict::Deny,
                Some("care\"ful/protected-branch"),
            ),
            (
                "git push origin topic",
                Verdict::Ask,
                Some("care\"ful/tests-before-push"),
            ),
            (
                "git push",
                Verdict::Ask,
                Some("care\"ful/tests-before-push"),
            ),
            (
                "git commit -m x",
                Verdict::Deny,
                Some("care\"ful/protected-branch"),
            ),
            (
                "git checkout -b x && git commit -m x",
                Verdict::Ask,
                Some("care\"ful/max-files"),
            ),
            (
                "git apply x",
                Verdict::Deny,
                Some("care\"ful/in-blacklist/ApplyPatch"),
            ),
            (
                "git branch -f release x",
                Verdict::Deny,
                Some("care\"ful/protected-branch"),
            ),
            ("ls", Verdict::Ask, None),
        ] {
            let found = verdict(&profile, command);
            assert_eq!(found, (expected, rule.map(str::to_owned)), "{command}");
        }
    }

    #[test]
    fn a_whitelist_forbids_what_it_does_not_list() {
        let profile = PolicyProfile::new("p").with_command_whitelist(vec!["Commit".to_owned()]);
        assert_eq!(verdict(&profile, "git push origin x").0, Verdict::Deny);
        assert_eq!(verdict(&profile, "git diff").0, Verdict::Deny);
        assert_eq!(verdict(&profile, "git commit -m x").0, Verdict::Allow);
    }

    #[test]
    fn patterns_protect_as_the_gate_of_sessions_reads_them() {
        let on = |pattern: &str, branch: &str, command: &str| {
            let patterns = vec![pattern.to_owned()];
            let profile = PolicyProfile::new("p").with_protected_branches(patterns);
            verdict_on(branch, &profile, command).0
        };
        for (pattern, command) in [
            ("release/*", "git push origin release/1"),
            ("release/*", "git push origin HEAD:refs/heads/release/a/b"),
            ("*", "git push origin main"),
            ("m?in", "git push origin main"),
            ("refs/heads/m*", "git branch -f main x"),
            ("heads/main", "git push origin +topic:main"),
            ("top*", "git commit -m x"),
            ("top*", "git branch -m x"),
        ] {
            assert_eq!(
                on(pattern, "topic", command),
                Verdict::Deny,
                "{pattern} {command}"
            );
        }
        assert_eq!(
            on("release/*", "release/1", "git commit -m x"),
            Verdict::Deny
        );
        assert_eq!(
            on("release/*", "topic", "git push origin releases"),
            Verdict::Allow
        );
        // Which one it is, is not known.
        assert_eq!(on("release/*", "topic", "git push"), Verdict::Ask);
        assert_eq!(on("release/*", "topic", "git push origin $B"), Verdict::Ask);
    }

    #[test]
    fn a_branch_is_made_by_a_move_and_with_a_folder_too() {
        let profile =
            PolicyProfile::new("p").with_command_blacklist(vec!["CreateBranch".to_owned()]);
        for command in [
            "git branch -m x",
            "git branch -m topic x",
            "git worktree add ../x",
            "git checkout -t origin/x",
        ] {
            assert_eq!(verdict(&profile, command).0, Verdict::Deny, "{command}");
        }
        assert_eq!(verdict(&profile, "git branch -d x").0, Verdict::Allow);
        assert_eq!(
            verdict(&profile, "git worktree add ../x y").0,
            Verdict::Allow
        );
    }
}
