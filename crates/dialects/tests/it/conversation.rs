//! The conversations of imported recordings: what was said and done, in the order of the recording.

use annals::projections::{CallOutcome, Conversation, ListQuery, Turn, TurnBody};
use annals::{At, TurnRange};
use annals_domain::Kind;
use futures::executor::block_on;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::claude::log::Log;
use crate::recorded::{import_bytes, log_of_lines, text};

const NAME: &str = "0199aaaa-0000-4000-8000-000000000001.jsonl";

/// A recording of Claude Code in the making: each line follows the one before, a second later.
#[derive(Default)]
struct Lines(Vec<Value>);

impl Lines {
    fn line(&mut self, kind: &str, message: Value) -> &mut Lines {
        self.add(kind, message, json!({}))
    }

    fn add(&mut self, kind: &str, message: Value, more: Value) -> &mut Lines {
        let number = self.0.len();
        let mut line = json!({
            "type": kind, "uuid": format!("line-{number}"), "sessionId": "s-1", "cwd": "/w/shop",
            "timestamp": format!("2026-01-02T03:04:{number:02}.000Z"), "version": "2.0.0",
            "parentUuid": number.checked_sub(1).map(|before| format!("line-{before}")),
            "isSidechain": false, "userType": "external", "message": message,
        });
        if let (Value::Object(line), Value::Object(more)) = (&mut line, more) {
            line.extend(more);
        }
        self.0.push(line);
        self
    }

    fn prompt(&mut self, text: &str) -> &mut Lines {
        self.line("user", json!({ "role": "user", "content": text }))
    }

    fn says(&mut self, message: &str, content: Value) -> &mut Lines {
        let message = json!({
            "id": message, "role": "assistant", "type": "message", "model": "claude-opus-4-5",
            "content": [content], "usage": { "input_tokens": 10, "output_tokens": 5 },
        });
        self.line("assistant", message)
    }

    fn text(&mut self, message: &str, text: &str) -> &mut Lines {
        self.says(message, json!({ "type": "text", "text": text }))
    }

    fn call(&mut self, message: &str, id: &str, tool: &str, input: Value) -> &mut Lines {
        self.says(
            message,
            json!({ "type": "tool_use", "id": id, "name": tool, "input": input }),
        )
    }

    fn result(&mut self, id: &str, content: &str, is_error: bool) -> &mut Lines {
        let result = json!({
            "type": "tool_result", "tool_use_id": id, "content": content, "is_error": is_error,
        });
        self.line("user", json!({ "role": "user", "content": [result] }))
    }
}

impl Lines {
    /// A line about the prompts that wait while the agent works.
    fn queue(&mut self, operation: &str, content: &str) -> &mut Lines {
        let number = self.0.len();
        self.0.push(json!({
            "type": "queue-operation", "operation": operation, "content": content, "sessionId": "s-1",
            "timestamp": format!("2026-01-02T03:04:{number:02}.000Z"),
        }));
        self
    }

    /// A queued text as the model got it.
    fn attach(&mut self, prompt: &str, mode: &str) -> &mut Lines {
        let attachment = json!({ "type": "queued_command", "prompt": prompt, "commandMode": mode });
        self.add(
            "attachment",
            Value::Null,
            json!({ "attachment": attachment }),
        );
        if let Some(Value::Object(line)) = self.0.last_mut() {
            line.remove("message");
        }
        self
    }
}

fn conversation(log: &Log, session: Uuid) -> Conversation {
    block_on(log.annals.conversation(session, At::Now, TurnRange::all())).unwrap()
}

/// The sessions of a log: tasks, oldest first.
fn sessions(log: &Log) -> Vec<Uuid> {
    let tasks = block_on(log.annals.index().list(&ListQuery::new(Kind::Task))).unwrap();
    tasks.rows.into_iter().map(|row| row.id).collect()
}

/// A turn in one line.
fn line(turn: &Turn) -> String {
    match &turn.body {
        TurnBody::Prompt(prompt) => format!("{}> {}", turn.prompt, prompt.text),
        TurnBody::Thinking { text } => format!("thinks {text}"),
        TurnBody::Answer { text, .. } => format!("says {text}"),
        TurnBody::ToolCall(call) => {
            let outcome = match call.outcome {
                CallOutcome::Ok => "",
                CallOutcome::Failed => " failed",
                CallOutcome::Denied => " denied",
                CallOutcome::Waiting => " waits",
                CallOutcome::Running => " runs",
                CallOutcome::NoResult => " without result",
            };
            let result = call
                .result
                .as_ref()
                .map(|result| format!(": {}", result.text));
            let agent = if call.sub_agent.is_some() {
                " (sub-agent)"
            } else {
                ""
            };
            format!(
                "{}{outcome}{agent}{}",
                call.tool,
                result.unwrap_or_default()
            )
        }
        TurnBody::Compaction { text, dropped } => format!("compacted {dropped:?} {text}"),
        TurnBody::SubAgent { title, .. } => format!("sub-agent {title}"),
        TurnBody::Interruption { text } => format!("interrupted {text}"),
        TurnBody::Error { text } => format!("error {text}"),
        TurnBody::Note { name, text } => format!("{name} {text}"),
        other => format!("{other:?}"),
    }
}

fn check(lines: &Lines, expected: &[&str]) {
    let log = log_of_lines(NAME, &lines.0);
    let session = *sessions(&log).first().unwrap();
    let conversation = conversation(&log, session);
    let turns: Vec<String> = conversation.turns.iter().map(line).collect();
    assert_eq!(turns, expected);
    let total = turns.len() as u64;
    assert_eq!(conversation.total, Some(total));
    let numbers = conversation.turns.iter().map(|turn| turn.number);
    assert!(numbers.eq(1..=total));
}

#[test]
fn a_conversation_has_everything_in_the_order_of_the_recording() {
    let mut lines = Lines::default();
    lines
        .prompt("Fix the tests")
        .says(
            "m-1",
            json!({ "type": "thinking", "thinking": "Hm.", "signature": "x" }),
        )
        .text("m-1", "I look.")
        .call("m-1", "t-1", "Bash", json!({ "command": "make test" }))
        .call("m-1", "t-2", "Read", json!({ "file_path": "/w/shop/a.rs" }))
        .text("m-1", "Both run.")
        .result("t-2", "fn a() {}", false)
        .result("t-1", "Exit code 2\nFAIL", true)
        .text("m-2", "Fixed.")
        .prompt("Thanks");
    check(
        &lines,
        &[
            "1> Fix the tests",
            "thinks Hm.",
            "says I look.",
            "Bash failed: Exit code 2\nFAIL",
            "Read: fn a() {}",
            "says Both run.",
            "says Fixed.",
            "2> Thanks",
        ],
    );
}

#[test]
fn a_call_stays_where_it_was_made_if_the_tool_names_a_shorter_duration() {
    let mut lines = Lines::default();
    let result = |id: &str, text: &str| {
        let result = json!({ "type": "tool_result", "tool_use_id": id, "content": text });
        json!({ "role": "user", "content": [result] })
    };
    lines
        .prompt("Search")
        .call("m-1", "t-1", "Glob", json!({ "pattern": "*.rs" }))
        .call("m-1", "t-2", "Bash", json!({ "command": "make test" }))
        .add(
            "user",
            result("t-1", "a.rs"),
            json!({ "toolUseResult": { "durationMs": 100, "filenames": ["a.rs"] } }),
        )
        .result("t-2", "ok", false)
        .text("m-2", "Found.");
    check(
        &lines,
        &["1> Search", "Glob: a.rs", "Bash: ok", "says Found."],
    );
}

/// Lines of one second, as some recordings have them: times tell nothing of the order.
#[test]
fn calls_stay_where_they_were_made_without_times() {
    let mut lines = Lines::default();
    let read = |path: &str| json!({ "file_path": path });
    lines
        .prompt("Read all")
        .call("m-1", "t-0", "Read", read("/w/shop/0.rs"))
        .result("t-0", "zero", false)
        .call("m-2", "t-1", "Read", read("/w/shop/1.rs"))
        .call("m-2", "t-2", "Read", read("/w/shop/2.rs"))
        .text("m-2", "Two run.")
        .call("m-2", "t-3", "Read", read("/w/shop/3.rs"))
        .call("m-2", "t-4", "Read", read("/w/shop/4.rs"))
        .text("m-2", "All run.")
        .result("t-4", "four", false)
        .result("t-2", "two", false)
        .result("t-3", "three", false)
        .result("t-1", "one", false)
        .text("m-3", "Read.");
    for line in &mut lines.0 {
        line["timestamp"] = json!("2026-01-02T03:04:05.000Z");
    }
    check(
        &lines,
        &[
            "1> Read all",
            "Read: zero",
            "Read: one",
            "Read: two",
            "says Two run.",
            "Read: three",
            "Read: four",
            "says All run.",
            "says Read.",
        ],
    );
}

#[test]
fn a_session_that_continues_another_one_has_its_own_prompts() {
    let mut first = Lines::default();
    first.prompt("Name the colours").text("m-1", "Red.");
    let mut second = Lines(first.0.clone());
    second.prompt("And one more").text("m-2", "Green.");
    for line in &mut second.0 {
        line["sessionId"] = json!("s-2");
    }
    let mut log = log_of_lines(NAME, &first.0);
    import_bytes(
        &mut log,
        "0199aaaa-0000-4000-8000-000000000002.jsonl",
        text(&second.0),
    );
    let talks = sessions(&log).into_iter().map(|session| {
        let turns = conversation(&log, session).turns;
        turns.iter().map(line).collect::<Vec<String>>()
    });
    let mut talks: Vec<_> = talks.collect();
    talks.sort();
    let expected = [
        vec!["1> And one more", "says Green."],
        vec!["1> Name the colours", "says Red."],
    ];
    assert_eq!(talks, expected);
}

#[test]
fn a_queued_prompt_is_one_turn() {
    let mut lines = Lines::default();
    lines
        .prompt("Build")
        .call("m-1", "t-1", "Bash", json!({ "command": "make" }))
        .queue("enqueue", "Also test")
        .queue("enqueue", "And lint")
        .result("t-1", "ok", false)
        .queue("remove", "Also test")
        .attach("Also test", "prompt")
        .queue("dequeue", "")
        .attach("And lint", "prompt")
        .text("m-2", "Done.")
        .attach("Build", "prompt");
    check(
        &lines,
        &[
            "1> Build",
            "Bash: ok",
            "2> Also test",
            "3> And lint",
            "says Done.",
            "4> Build",
        ],
    );
}

#[test]
fn a_call_without_a_result_stays_where_it_was_made() {
    let mut lines = Lines::default();
    lines
        .prompt("Fix the tests")
        .call("m-1", "t-1", "Bash", json!({ "command": "sleep 1000" }))
        .prompt("[Request interrupted by user]")
        .prompt("Never mind")
        .text("m-2", "Fine.");
    check(
        &lines,
        &[
            "1> Fix the tests",
            "Bash without result",
            "interrupted [Request interrupted by user]",
            "2> Never mind",
            "says Fine.",
        ],
    );
}

#[test]
fn tokens_and_calls_belong_to_their_prompt() {
    let mut lines = Lines::default();
    lines
        .prompt("Fix the tests")
        .call("m-1", "t-1", "Bash", json!({ "command": "make test" }))
        .result("t-1", "Exit code 2", true)
        .prompt("Again")
        .text("m-2", "Fine.");
    let log = log_of_lines(NAME, &lines.0);
    let session = *sessions(&log).first().unwrap();
    let prompts = conversation(&log, session).prompts;
    let seen: Vec<_> = prompts
        .iter()
        .map(|prompt| {
            let tokens: u128 = prompt.models.iter().map(|it| it.used.tokens.total()).sum();
            (
                prompt.beginning.as_str(),
                prompt.tool_calls,
                prompt.failed,
                tokens,
            )
        })
        .collect();
    assert_eq!(seen, [("Fix the tests", 1, 1, 15), ("Again", 0, 0, 15)]);
}

#[test]
fn a_conversation_ends_at_the_position_that_is_asked_for() {
    let mut lines = Lines::default();
    lines
        .prompt("Fix the tests")
        .text("m-1", "One.")
        .text("m-2", "Two.");
    let log = log_of_lines(NAME, &lines.0);
    let session = *sessions(&log).first().unwrap();
    let whole = conversation(&log, session);
    let second = whole.turns.get(1).unwrap();
    let at = At::Position(second.position);
    let then = block_on(log.annals.conversation(session, at, TurnRange::all())).unwrap();
    assert_eq!(then.turns.as_slice(), whole.turns.get(..2).unwrap());
    assert_eq!(whole.turn_at(second.position), Some(second));
}
