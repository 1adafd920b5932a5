//! Calls that an agent told of as it worked, and its transcript afterwards.

use annals::projections::ToolInvocationView;
use annals_dialects::claude;
use annals_dialects::live::{CallStep, CallTold, Live, Outcome, Telling, Told, agent};
use annals_domain::Timestamp;
use annals_domain::run::CallStatus;
use futures::executor::block_on;
use serde_json::json;

use crate::claude::log::Log;
use crate::claude::recording::Recording;

/// Tells of a call of the session `s`.
fn tell(log: &Log, tool: &'static str, steps: Vec<CallStep>) {
    let call = CallTold {
        id: "t1".into(),
        tool: tool.into(),
        steps,
    };
    let name = log.annals.position().0;
    let telling = Telling::new("s", name, Timestamp::EPOCH, Told::Call(call));
    let mut live = Live::new(&log.annals, agent("claude").unwrap());
    assert_eq!(block_on(live.tell(&telling)).unwrap(), Outcome::Recorded);
}

fn requested() -> CallStep {
    CallStep::Requested {
        args: Some(r#"{"command":"make"}"#.into()),
    }
}

fn built(worked: bool) -> CallStep {
    CallStep::Ended {
        worked,
        duration_ms: Some(7),
        failure: None,
        result: Some(r#""built""#.into()),
    }
}

fn call(log: &Log) -> ToolInvocationView {
    let id = claude::ids().tool("t1").invocation;
    let why = block_on(log.annals.tool_calls().why(id)).unwrap();
    assert_eq!(why.call, log.get::<ToolInvocationView>(id));
    let row = block_on(log.annals.index().row(id)).unwrap();
    assert_eq!(row.title.as_ref(), Some(&why.call.tool_name));
    why.call
}

/// A session in which the result of a call is missing, since a person went on.
fn interrupted() -> Recording {
    let mut recording = Recording::of("s");
    recording
        .user(json!("Build it"))
        .calls("m1", "t1", "Bash", json!({ "command": "make" }))
        .user(json!("Never mind"))
        .text("m2", "All right.");
    recording
}

/// That a transcript has no result says nothing of how the call ended.
#[test]
fn a_call_that_its_transcript_gives_up_ended_as_a_hook_told() {
    for (worked, expected) in [(true, CallStatus::Ok), (false, CallStatus::Error)] {
        let mut log = Log::empty();
        tell(&log, "Bash", vec![requested(), built(worked)]);
        let mut recording = interrupted();
        log.grow(&recording, 9);
        assert!(log.has_note("given up without a result"), "{}", log.report);
        let view = call(&log);
        assert_eq!(view.status(), expected);
        assert_eq!(view.result_summary.unwrap().to_string(), "built");
        // Again, and with its result, which comes late: neither adds anything to the call.
        log.grow(&recording, 9);
        assert_eq!(log.report.events_made, 0, "{}", log.report);
        recording.result("t1", json!("too late"), !worked);
        log.grow(&recording, 9);
        assert!(
            log.has_note("another result of a tool call"),
            "{}",
            log.report
        );
        let view = call(&log);
        assert_eq!(view.status(), expected);
        assert_eq!(view.result_summary.unwrap().to_string(), "built");
        log.grow(&recording, 9);
        assert_eq!(log.report.events_made, 0, "{}", log.report);
    }
}

/// What a hook tells after it counts, as what is told last.
#[test]
fn an_end_that_is_told_after_its_call_was_given_up_counts() {
    let mut log = Log::empty();
    log.grow(&interrupted(), 9);
    assert_eq!(call(&log).status(), CallStatus::Error);
    tell(&log, "Bash", vec![built(true)]);
    let view = call(&log);
    assert_eq!(view.status(), CallStatus::Ok);
    assert_eq!(view.result_summary.unwrap().to_string(), "built");
}

#[test]
fn a_call_is_named_by_the_first_source_that_says_a_tool() {
    let transcript = |tool| {
        let mut recording = Recording::of("s");
        recording
            .user(json!("Build it"))
            .calls("m1", "t1", tool, json!({ "command": "make" }))
            .result("t1", json!("built"), false);
        recording
    };
    let mcp = "mcp__build__make";
    for (told, expected) in [
        (&[""][..], mcp),
        (&["mcp_tool"], mcp),
        (&["mcp_tool", ""], mcp),
        (&["Bash"], "Bash"),
        (&["", "Bash"], "Bash"),
        (&["mcp_tool", "Bash"], "Bash"),
    ] {
        let mut log = Log::empty();
        for (number, tool) in told.iter().enumerate() {
            let steps = match number {
                0 => vec![built(true)],
                _ => vec![requested()],
            };
            tell(&log, tool, steps);
        }
        if let [tool] = told {
            let shown = match *tool {
                "" => "(unnamed)",
                tool => tool,
            };
            assert_eq!(call(&log).tool_name.to_string(), shown);
        }
        log.grow(&transcript(mcp), 9);
        assert_eq!(call(&log).tool_name.to_string(), expected, "{told:?}");
    }
}
