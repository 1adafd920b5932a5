//! What agents tell while they work: their hooks, what waits of them, and their telemetry.

use std::path::PathBuf;

use annals_dialects::secrets::Secrets;
use annals_domain::Timestamp;
use annals_live::hook::{Asked, Hook, HookAgent, Surroundings};
use annals_live::{PolicyFile, Ruling, Spool};
use uuid::Uuid;

/// The name of a file of the spool.
const WAITS: &str = "00000000000001-x-00000000.hook";

/// A hook's JSON, of each agent: whatever it is, it tells something, and what is kept of it is told in the same way.
pub(crate) fn hook(data: &[u8]) {
    let secrets = Secrets::standard();
    let named = (Uuid::from_u128(7), Timestamp::EPOCH);
    for agent in HookAgent::ALL {
        let hook = Hook::new(agent, named, data.to_vec(), 0, &secrets);
        let again = hook.text().as_bytes().to_vec();
        let again = Hook::new(agent, named, again, 0, &secrets);
        assert_eq!(again.telling(), hook.telling());
        let ruling = Ruling::failure("it is a test", &secrets);
        if let Asked::Call(_) = Asked::read(agent, data, &Surroundings::default()) {
            let ruled = hook.with_ruling(Some(ruling));
            assert_ne!(ruled.telling(), again.telling(), "a verdict is told");
        }
    }
}

/// A file of the spool: what is read of it is kept so that it is read again as the same.
pub(crate) fn spool(data: &[u8]) {
    let home = tempfile::tempdir().expect("a folder");
    let log = home.path().join("log");
    let spool = Spool::of(log.to_str().expect("a path")).expect("a spool");
    let secrets = Secrets::standard();
    let named = (Uuid::from_u128(7), Timestamp::EPOCH);
    let first = Hook::new(HookAgent::Claude, named, b"{}".to_vec(), 0, &secrets);
    spool.put(&first).expect("it makes the folder");
    for waits in spool.waiting().expect("what waits") {
        spool.remove(&waits).expect("it is gone");
    }
    std::fs::write(spool.path().join(WAITS), data).expect("a file");
    let read = |spool: &Spool| {
        let waiting = spool.waiting().expect("what waits");
        let read = waiting.first().map(|it| spool.read(it, &secrets));
        read.and_then(|read| read.expect("it is there or put aside"))
    };
    let Some(hook) = read(&spool) else {
        assert_eq!(spool.state().expect("its state").bad, 1);
        return;
    };
    std::fs::remove_file(spool.path().join(WAITS)).expect("it is gone");
    spool.put(&hook).expect("it is kept");
    assert_eq!(read(&spool), Some(hook));
}

/// An agent's settings, behind a line with what it asks for.
pub(crate) fn settings(data: &[u8]) {
    annals_live::fuzzing::settings(data);
}

/// A body of telemetry, behind a byte that says of which kind and encoding it is.
pub(crate) fn telemetry(data: &[u8]) {
    annals_live::fuzzing::telemetry(data);
}

macro_rules! golden {
    ($name:literal) => {
        include_bytes!(concat!("../../live/goldens/", $name, ".json")).to_vec()
    };
}

pub(crate) fn hooks() -> Vec<Vec<u8>> {
    vec![
        golden!("claude/PreToolUse"),
        golden!("claude/PostToolUse"),
        golden!("claude/UserPromptSubmit"),
        golden!("codex/agent-turn-complete"),
        golden!("codex/PermissionRequest"),
        golden!("cursor/preToolUse"),
        golden!("gemini/BeforeTool"),
    ]
}

pub(crate) fn spooled() -> Vec<Vec<u8>> {
    let secrets = Secrets::standard();
    let home = tempfile::tempdir().expect("a folder");
    let log = home.path().join("log");
    let spool = Spool::of(log.to_str().expect("a path")).expect("a spool");
    let file = PolicyFile::new("p.cedar", "permit (principal, action, resource);", &secrets);
    let mut ruling = Ruling::failure("it is a test", &secrets);
    ruling.files.push(file);
    for (number, ruling) in [(1, None), (2, Some(ruling))] {
        let named = (Uuid::from_u128(number), Timestamp::EPOCH);
        let bytes = golden!("claude/PreToolUse");
        let hook = Hook::new(HookAgent::Claude, named, bytes, 0, &secrets);
        spool.put(&hook.with_ruling(ruling)).expect("it is kept");
    }
    let files = std::fs::read_dir(spool.path()).expect("a folder");
    let files = files.map(|file| file.expect("an entry").path());
    let is_event = |file: &PathBuf| file.extension().is_some_and(|it| it == "hook");
    let mut files: Vec<_> = files.filter(is_event).collect();
    files.sort();
    let read = |file| std::fs::read(file).expect("a file");
    files.into_iter().map(read).collect()
}

pub(crate) fn settings_of_agents() -> Vec<Vec<u8>> {
    let rules = r#"{"permissions":{"allow":["Bash(npm test:*)","Bash(git * main)","Edit(/src/**)"],"ask":["Bash(git push *)"],"deny":["Read(./.env)","Edit(~/x/*.key)","WebFetch(domain:*.example.com)"]},"allowManagedPermissionRulesOnly":false}"#;
    let asked = ["npm test && ls | head", "src/../main.rs", "git $(x) 'y"];
    let seed = |asked: &&str| format!("{asked}\n{rules}").into_bytes();
    asked.iter().map(seed).collect()
}

pub(crate) fn telemetries() -> Vec<Vec<u8>> {
    let logs = r#"{"resourceLogs":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"claude-code"}}]},"scopeLogs":[{"logRecords":[{"timeUnixNano":"1795000000000000000","body":{"stringValue":"claude_code.tool_decision"},"attributes":[{"key":"event.name","value":{"stringValue":"tool_decision"}},{"key":"session.id","value":{"stringValue":"s"}},{"key":"tool_use_id","value":{"stringValue":"t"}},{"key":"decision","value":{"stringValue":"accept"}},{"key":"source","value":{"stringValue":"config"}}]}]}]}]}"#;
    let spans = r#"{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"0102030405060708090a0b0c0d0e0f10","spanId":"0102030405060708","name":"execute_tool x","startTimeUnixNano":"1795000000000000000","endTimeUnixNano":"1795000000000000001","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"execute_tool"}},{"key":"gen_ai.tool.call.id","value":{"stringValue":"c"}},{"key":"gen_ai.conversation.id","value":{"arrayValue":{"values":[{"intValue":"1"}]}}}]}]}]}]}"#;
    // A log record with a name in its body, as protobuf writes it.
    let protobuf =
        b"\x0a\x13\x12\x11\x12\x0f\x09\x00\x00\x00\x00\x00\x00\x00\x00\x2a\x04\x0a\x02hi";
    let seed = |how: u8, body: &[u8]| [&[how], body].concat();
    vec![
        seed(2, logs.as_bytes()),
        seed(3, spans.as_bytes()),
        seed(0, protobuf),
        seed(1, protobuf),
    ]
}
