//! What hooks of each agent tell.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use annals::domain::Timestamp;
use annals::domain::run::{ToolDecider, ToolVerdict};
use annals_dialects::live::{Around, CallStep, Telling, Told};
use annals_dialects::secrets::Secrets;
use uuid::Uuid;

use super::{Hook, HookAgent, LARGEST, NO_SESSION};

fn hook(agent: HookAgent, bytes: &[u8]) -> Hook {
    let named = (Uuid::from_u128(7), Timestamp::EPOCH);
    Hook::new(agent, named, bytes.to_vec(), 0, &Secrets::standard())
}

fn around(telling: &Telling) -> &Around {
    match &telling.told {
        Told::Around(around) => around,
        told => panic!("evidence is expected, not {told:?}"),
    }
}

fn goldens(agent: HookAgent) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("goldens")
        .join(agent.key())
}

/// Every event of the tables has a file with its JSON, each of its fields is known, and it is of its session.
#[test]
fn every_known_event_has_its_json_and_all_fields_are_known() {
    for agent in HookAgent::ALL {
        let files = fs::read_dir(goldens(agent)).unwrap();
        let stem = |file: fs::DirEntry| {
            file.path()
                .file_stem()
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned()
        };
        let files: BTreeSet<String> = files.map(|file| stem(file.unwrap())).collect();
        let events = agent.dialect().events.iter();
        let events: BTreeSet<String> = events.map(|event| event.name.to_owned()).collect();
        assert_eq!(files, events, "{}", agent.key());
        for event in &events {
            let json = fs::read(goldens(agent).join(format!("{event}.json"))).unwrap();
            let telling = hook(agent, &json).telling();
            assert_ne!(&*telling.session, NO_SESSION, "{event}");
            assert_eq!(telling.cwd.as_deref(), Some("/home/kei/shop"), "{event}");
            if let Told::Around(around) = &telling.told {
                let summary = around.summary.as_deref().unwrap_or_default();
                assert!(!summary.contains("unknown"), "{event}: {summary}");
                assert!(around.report.is_some(), "{event}");
            }
        }
    }
}

#[test]
fn what_an_event_means_is_told() {
    use HookAgent::{Claude, Codex, Cursor, Gemini};
    for (agent, event, kind, tool, summary, begins) in [
        (
            Claude,
            "SessionStart",
            "session_start",
            "SessionStart",
            Some("startup"),
            false,
        ),
        (
            Claude,
            "PermissionRequest",
            "permission_request",
            "Bash",
            None,
            true,
        ),
        (
            Claude,
            "PreCompact",
            "compaction",
            "PreCompact",
            Some("auto"),
            false,
        ),
        (
            Claude,
            "SubagentStart",
            "subagent_start",
            "SubagentStart",
            Some("Explore"),
            true,
        ),
        (Claude, "Stop", "stop", "Stop", None, false),
        (
            Claude,
            "SessionEnd",
            "session_end",
            "SessionEnd",
            Some("prompt_input_exit"),
            true,
        ),
        (
            Codex,
            "SubagentStop",
            "subagent_stop",
            "SubagentStop",
            Some("explorer"),
            false,
        ),
        (
            Codex,
            "agent-turn-complete",
            "turn_complete",
            "agent-turn-complete",
            None,
            false,
        ),
        (
            Cursor,
            "sessionEnd",
            "session_end",
            "sessionEnd",
            Some("completed"),
            true,
        ),
        (
            Gemini,
            "BeforeAgent",
            "prompt",
            "BeforeAgent",
            Some("Fix the failing test"),
            true,
        ),
        (
            Gemini,
            "BeforeTool",
            "tool_requested",
            "run_shell_command",
            Some("run_shell_command"),
            true,
        ),
    ] {
        let json = fs::read(goldens(agent).join(format!("{event}.json"))).unwrap();
        let telling = hook(agent, &json).telling();
        let around = around(&telling);
        let found = (
            around.kind,
            around.tool.as_str(),
            around.summary.as_deref(),
            around.begins,
        );
        assert_eq!(found, (kind, tool, summary, begins), "{event}");
    }
}

#[test]
fn prompts_are_called_as_transcripts_call_them() {
    for (agent, event, expected) in [
        (
            HookAgent::Claude,
            "UserPromptSubmit",
            "0b9d7c1e-58c4-4b0e-8a55-2f6f0c1d9e01",
        ),
        (
            HookAgent::Codex,
            "UserPromptSubmit",
            "019c4b43-1451-7af3-be4c-5576369bf1ba/019c4b44-0000-7000-8000-000000000001",
        ),
        (
            HookAgent::Cursor,
            "beforeSubmitPrompt",
            "9e000000-0000-4000-8000-000000000002",
        ),
    ] {
        let json = fs::read(goldens(agent).join(format!("{event}.json"))).unwrap();
        let expected = Told::Prompt {
            id: expected.into(),
            text: "Fix the failing test".into(),
        };
        assert_eq!(hook(agent, &json).telling().told, expected);
    }
}

#[test]
fn calls_are_told_step_by_step() {
    let steps = |agent: HookAgent, event: &str| {
        let json = fs::read(goldens(agent).join(format!("{event}.json"))).unwrap();
        match hook(agent, &json).telling().told {
            Told::Call(call) => (call.id, call.tool, call.steps),
            told => panic!("a call is expected, not {told:?}"),
        }
    };
    let (id, tool, requested) = steps(HookAgent::Claude, "PreToolUse");
    assert_eq!((id.as_str(), tool.as_str()), ("toolu_01AbC", "Bash"));
    let [CallStep::Requested { args: Some(args) }] = requested.as_slice() else {
        panic!("{requested:?}");
    };
    assert!(args.contains("cargo test"));

    let (_, _, ended) = steps(HookAgent::Claude, "PostToolUse");
    let [
        CallStep::Begun { ms_before: 1250 },
        CallStep::Ended { worked: true, .. },
        CallStep::Requested { .. },
    ] = ended.as_slice()
    else {
        panic!("{ended:?}");
    };
    let (_, _, failed) = steps(HookAgent::Cursor, "postToolUseFailure");
    let Some(CallStep::Ended {
        worked: false,
        failure: Some(failure),
        duration_ms: Some(30_000),
        ..
    }) = failed.iter().rev().nth(1)
    else {
        panic!("{failed:?}");
    };
    assert_eq!(failure.as_str(), "Command timed out after 30s");
    let (_, _, denied) = steps(HookAgent::Claude, "PermissionDenied");
    let [CallStep::Decided(denied)] = denied.as_slice() else {
        panic!("{denied:?}");
    };
    assert_eq!(
        (denied.verdict, denied.by),
        (ToolVerdict::Deny, ToolDecider::Classifier)
    );
    assert_eq!(
        denied.reason.as_deref(),
        Some("It may delete files outside of the project")
    );
    // As rollouts call it: by its thread.
    let (id, ..) = steps(HookAgent::Codex, "PostToolUse");
    assert_eq!(
        id.as_str(),
        "019c4b43-1451-7af3-be4c-5576369bf1ba/call_def456"
    );
}

#[test]
fn what_a_call_has_no_place_for_is_kept_beside_it() {
    let json = br#"{"session_id":"s","hook_event_name":"PreToolUse","tool_use_id":"t","tool_name":"Bash","aura":1}"#;
    let telling = hook(HookAgent::Claude, json).telling();
    let beside = telling.beside.unwrap();
    assert_eq!(beside.summary.as_deref(), Some("t (unknown fields: aura)"));
    assert!(beside.report.is_some());
}

#[test]
fn sub_agents_are_side_chains() {
    let json = fs::read(goldens(HookAgent::Claude).join("SubagentStart.json")).unwrap();
    let telling = hook(HookAgent::Claude, &json).telling();
    assert_eq!(telling.side.as_deref(), Some("a1b2c3d4"));
    assert_eq!(telling.title.as_deref(), Some("Explore"));
}

#[test]
fn what_is_not_known_is_kept_and_named() {
    let json = br#"{"session_id":"s","hook_event_name":"Telepathy","thought":"of you"}"#;
    let telling = hook(HookAgent::Claude, json).telling();
    let told = around(&telling);
    assert_eq!(told.summary.as_deref(), Some("unknown event Telepathy"));
    assert_eq!((told.kind, told.tool.as_str()), ("hook", "Telepathy"));
    assert!(told.report.as_ref().unwrap().as_str().contains("of you"));

    let json = br#"{"session_id":"s","hook_event_name":"Stop","mood":"good","zeal":1}"#;
    let telling = hook(HookAgent::Claude, json).telling();
    let expected = Some("(unknown fields: mood, zeal)");
    assert_eq!(around(&telling).summary.as_deref(), expected);
}

#[test]
fn what_is_malformed_is_kept_as_it_is() {
    for (bytes, reason) in [
        (&b""[..], "it is empty"),
        (b"nonsense", "it is not a JSON object"),
        (b"[1]", "it is not a JSON object"),
        (
            b"{\"a\":",
            "it cannot be read as JSON: it ends early, at line 1 column 5",
        ),
        (b"\xff\xfe", "it is not a JSON object"),
    ] {
        let telling = hook(HookAgent::Claude, bytes).telling();
        let told = around(&telling);
        assert_eq!(told.summary.as_deref(), Some(reason));
        assert_eq!(&*telling.session, NO_SESSION);
        assert!(told.begins && told.report.is_some());
    }
    // Of another shape: fields that are not what they are called.
    let telling = hook(
        HookAgent::Claude,
        br#"{"session_id":{"a":1},"hook_event_name":7}"#,
    )
    .telling();
    assert_eq!(
        around(&telling).summary.as_deref(),
        Some("unknown event (unnamed)")
    );
}

#[test]
fn secrets_are_out_of_it() {
    let key = format!("AKIA{}", "Q3EGRIFO5XKNZ7AB");
    let json = format!(
        r#"{{"session_id":"s","hook_event_name":"Stop","last_assistant_message":"{key}"}}"#
    );
    for text in [json.clone(), format!("not JSON: {json}")] {
        let hook = hook(HookAgent::Claude, text.as_bytes());
        assert!(!hook.text().contains(&key), "{}", hook.text());
        assert!(hook.text().contains("[redacted:aws-access-key-id]"));
    }
}

/// A secret that the limit cuts in two, wherever that is.
#[test]
fn a_secret_at_the_limit_is_not_kept_in_part() {
    let key = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let begin = r#"{"session_id":"s","hook_event_name":"Stop","last_assistant_message":""#;
    for inside in [1, 5, 20, key.len() - 1, key.len()] {
        let filler = "y ".repeat((LARGEST - begin.len() - inside) / 2 + 1);
        let filler = &filler[filler.len() - (LARGEST - begin.len() - inside)..];
        for rest in ["", "\"}", &" rest".repeat(100_000)] {
            let text = format!("{begin}{filler}{key}{rest}");
            let expected = (text.len() - LARGEST) as u64;
            let source = std::io::Cursor::new(text);
            let input = crate::Input::read(source, std::time::Duration::from_secs(3_600));
            assert_eq!(input.left_out, expected);
            if input.left_out == 0 {
                continue;
            }
            let named = (Uuid::from_u128(7), Timestamp::EPOCH);
            let secrets = Secrets::standard();
            let hook = Hook::new(
                HookAgent::Claude,
                named,
                input.bytes,
                input.left_out,
                &secrets,
            );
            assert!(!hook.text().contains("ghp"), "{inside} {}", rest.len());
            assert!(hook.text().len() <= LARGEST);
            assert!(hook.text().len() > LARGEST - 1_000);
            assert_eq!(hook.names().0.as_deref(), Some("s"));
        }
    }
}

#[test]
fn what_is_cut_off_is_said() {
    let named = (Uuid::from_u128(7), Timestamp::EPOCH);
    let bytes = b"{\"a\":".to_vec();
    let hook = Hook::new(HookAgent::Claude, named, bytes, 12, &Secrets::none());
    let telling = hook.telling();
    let summary = around(&telling).summary.clone().unwrap();
    assert!(
        summary.ends_with("12 bytes at its end were left out"),
        "{summary:?}"
    );
    const { assert!(LARGEST > 10 * 1024 * 1024) };
}
