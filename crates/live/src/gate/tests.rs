//! What a gate says of calls, in each agent's form.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;

use annals::domain::Timestamp;
use annals_dialects::live::{CallStep, Told};
use serde_json::{Value, json};
use uuid::Uuid;

use super::*;
use crate::hook::{Asked, Hook, Surroundings};

const POLICY: &str = r#"
    @id("look") permit (principal, action in Action::"run", resource) when { resource.program == "ls" };
    @id("no-force") @reason("History is not rewritten.")
    forbid (principal, action == Action::"push", resource) when { resource.force };
"#;

const AGENTS: [(HookAgent, &str, &str); 4] = [
    (HookAgent::Claude, "PreToolUse", "Bash"),
    (HookAgent::Codex, "PreToolUse", "Bash"),
    (HookAgent::Cursor, "preToolUse", "Shell"),
    (HookAgent::Gemini, "BeforeTool", "run_shell_command"),
];

fn event(name: &str, tool: &str, command: &str) -> Vec<u8> {
    let event = json!({
        "hook_event_name": name, "session_id": "s1", "cwd": "/shop", "permission_mode": "default",
        "tool_name": tool, "tool_use_id": "call_1", "tool_input": { "command": command },
    });
    event.to_string().into_bytes()
}

fn judged(agent: HookAgent, bytes: &[u8]) -> Ruling {
    let secrets = Secrets::standard();
    let Asked::Call(call) = Asked::read(agent, bytes, &Surroundings::default()) else {
        panic!("it asks for a call");
    };
    let policies = Policies::parse(&[("policy.cedar", POLICY)]).unwrap();
    let file = PolicyFile::new("policy.cedar", POLICY, &secrets);
    Ruling::judge(&policies, vec![file], &call, &secrets)
}

/// Each agent's own form, word by word.
#[test]
fn verdicts_are_answered_in_the_form_of_the_agent() {
    let allowed = "allowed by rule look (run ls)";
    let denied = "denied by rule no-force: History is not rewritten. (push main)";
    let asked = "asked: no rule matches (run make)";
    let specific = |verdict: &str, reason: &str| {
        Some(json!({ "hookSpecificOutput": {
            "hookEventName": "PreToolUse", "permissionDecision": verdict, "permissionDecisionReason": reason,
        } }))
    };
    let flat = |verdict: &str, reason: &str| Some(json!({ "decision": verdict, "reason": reason }));
    let cursor_denied =
        json!({ "permission": "deny", "user_message": denied, "agent_message": denied });
    let expected: [[Option<Value>; 3]; 4] = [
        [
            specific("allow", allowed),
            specific("deny", denied),
            specific("ask", asked),
        ],
        [None, specific("deny", denied), None],
        [
            Some(json!({ "permission": "allow" })),
            Some(cursor_denied),
            None,
        ],
        [
            flat("allow", allowed),
            flat("deny", denied),
            flat("ask", asked),
        ],
    ];
    for ((agent, name, tool), expected) in AGENTS.into_iter().zip(expected) {
        let commands = ["ls", "git push --force origin main", "make"];
        for (command, expected) in commands.into_iter().zip(expected) {
            let ruling = judged(agent, &event(name, tool, command));
            assert_eq!(agent.answer(&ruling), expected, "{agent:?} {command}");
        }
        // Where nothing may be let through unasked, one that asks nobody denies.
        let closed = judged(agent, &event(name, tool, "make")).closed_for(agent);
        let verdict = match agent.asks() {
            true => Verdict::Ask,
            false => Verdict::Deny,
        };
        assert_eq!(closed.verdict, verdict, "{agent:?}");
        assert!(agent.answer(&closed).is_some() && closed.reason.contains(asked));
    }
}

#[test]
fn only_what_asks_for_a_call_is_judged() {
    let around = Surroundings::default();
    for (agent, name, tool) in AGENTS {
        let asks = |bytes: &[u8]| Asked::read(agent, bytes, &around);
        assert!(matches!(asks(&event(name, tool, "ls")), Asked::Call(_)));
        let known = match agent {
            HookAgent::Claude | HookAgent::Codex => ["PostToolUse", "Stop"],
            HookAgent::Cursor => ["postToolUse", "stop"],
            HookAgent::Gemini => ["AfterTool", "AfterAgent"],
        };
        for other in known {
            let asked = asks(&event(other, tool, "ls"));
            assert!(matches!(asked, Asked::Nothing), "{other}: {asked:?}");
        }
        // Nobody knows what these ask for.
        for other in ["Telepathy", "posttooluse", ""] {
            let asked = asks(&event(other, tool, "ls"));
            assert!(matches!(asked, Asked::Unreadable(_)), "{other}: {asked:?}");
        }
        let no_tool = event(name, "", "ls");
        let deep = format!(
            "{{\"hook_event_name\":\"{name}\",\"tool_name\":\"{tool}\",\"tool_input\":{}1{}}}",
            "[".repeat(500),
            "]".repeat(500)
        );
        for bad in [&b""[..], b"[]", b"{", b"\xff", &no_tool, deep.as_bytes()] {
            assert!(matches!(asks(bad), Asked::Unreadable(_)), "{bad:?}");
        }
    }
}

#[test]
fn a_verdict_is_a_decision_of_the_call_with_the_digest_of_its_policy() {
    let secrets = Secrets::standard();
    for (agent, name, tool) in AGENTS {
        let bytes = event(name, tool, "git push --force origin main");
        let ruling = judged(agent, &bytes);
        let named = (Uuid::from_u128(7), Timestamp::EPOCH);
        let hook = Hook::new(agent, named, bytes, 0, &secrets).with_ruling(Some(ruling));
        let telling = hook.telling();
        let hash = IntegrityHash::of(POLICY.as_bytes());
        match &telling.told {
            Told::Call(call) => {
                let [CallStep::Requested { .. }, CallStep::Decided(decided)] = &call.steps[..]
                else {
                    panic!("{call:?}");
                };
                assert_eq!(
                    (decided.verdict, decided.by, decided.by_name.as_deref()),
                    (ToolVerdict::Deny, ToolDecider::Rule, Some("no-force"))
                );
                assert_eq!(decided.source.as_deref(), Some("policy.cedar"));
                assert_eq!(decided.mode.as_deref(), Some("default"));
                let files = vec![("policy.cedar".into(), FileSays::Content(POLICY.into()))];
                assert_eq!(decided.in_force, Some(files));
            }
            told => {
                assert_eq!(agent, HookAgent::Gemini, "{told:?}");
                let beside = telling.beside.as_ref().unwrap();
                let report = beside.report.as_ref().unwrap().as_str();
                assert!(report.contains(&hash.to_string()) && report.contains("no-force"));
            }
        }
    }
}

#[test]
fn secrets_are_in_no_verdict() {
    let key = format!("AKIA{}", "Q3EGRIFO5XKNZ7AB");
    let bytes = event("PreToolUse", "Bash", &format!("deploy {key}"));
    let ruling = judged(HookAgent::Claude, &bytes);
    assert!(!ruling.reason.contains(&key), "{:?}", ruling.reason);
    let text = format!("// {key}\n{POLICY}");
    let file = PolicyFile::new("p", &text, &Secrets::standard());
    let ruling = Ruling {
        files: vec![file],
        ..ruling
    };
    let hash = FileSays::Hash(IntegrityHash::of(text.as_bytes()));
    let files = ruling.decided(None).in_force;
    assert_eq!(files, Some(vec![("p".into(), hash)]));
}

#[test]
fn the_branch_is_the_one_that_is_checked_out() {
    let place = tempfile::tempdir().unwrap();
    let at = |path: &str| place.path().join(path);
    fs::create_dir_all(at("repo/.git/worktrees/other")).unwrap();
    fs::create_dir_all(at("repo/src/deep")).unwrap();
    fs::create_dir_all(at("tree")).unwrap();
    fs::write(at("repo/.git/HEAD"), "ref: refs/heads/topic/x\n").unwrap();
    let other = at("repo/.git/worktrees/other");
    fs::write(other.join("HEAD"), "ref: refs/heads/other\n").unwrap();
    fs::write(at("tree/.git"), format!("gitdir: {}\n", other.display())).unwrap();
    let branch = |path: &str| branch(at(path).to_str().unwrap());
    assert_eq!(branch("repo/src/deep").as_deref(), Some("topic/x"));
    assert_eq!(branch("tree").as_deref(), Some("other"));
    fs::write(at("repo/.git/HEAD"), "0123456789\n").unwrap();
    assert_eq!(branch("repo"), None);
    assert_eq!(branch("nowhere"), None);
}
