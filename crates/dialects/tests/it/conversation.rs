//! The conversations of imported recordings: what was said and done, in the order of the recording.

use annals::projections::{CallOutcome, Conversation, ListQuery, Turn, TurnBody};
use annals::{Annals, At, TurnRange};
use annals_domain::Kind;
use futures::executor::block_on;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::claude::log::Log;
use crate::recorded::{assert_same, import_bytes, log_of_lines, text};

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

/// The turns of all conversations of a log, a line each. Compactions are left out: they are one turn with their summary
/// unless an import ended between the two while a call was pending, which agents do not write.
pub(crate) fn conversations(log: &Log) -> Vec<String> {
    let turns = |session| conversation(log, session).turns;
    let turns = sessions(log).into_iter().flat_map(turns);
    let lines = turns.map(|turn| line(&turn));
    lines.filter(|line| !line.starts_with("compact")).collect()
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
    check_parts(&log.annals, session, At::Now);
}

/// Checks that parts of a conversation that are read by an index are those of the whole.
pub(crate) fn check_parts(annals: &Annals, session: Uuid, at: At) {
    let read = |range| block_on(annals.conversation(session, at, range)).unwrap();
    let whole = read(TurnRange::all());
    let total = whole.turns.len();
    // A part that is far behind makes the index.
    assert_eq!(read(TurnRange::new(100_000, 1)).turns, []);
    for from in (2..=total).step_by(total / 50 + 1) {
        for limit in [1, 2, 7, 200] {
            let part = read(TurnRange::new(from as u64, limit));
            let end = (from - 1 + limit).min(total);
            assert_eq!(
                part.turns.as_slice(),
                whole.turns.get(from - 1..end).unwrap(),
                "turns {from} to {end}"
            );
            assert_eq!(part.prompts, whole.prompts);
            assert_eq!(part.total, Some(total as u64));
        }
    }
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

/// A question that waits for its answer, and a command that runs.
#[test]
fn a_call_that_waits_for_its_result_is_shown() {
    let mut lines = Lines::default();
    lines
        .prompt("Build it")
        .text("m-1", "I ask first.")
        .call("m-1", "t-1", "Bash", json!({ "command": "make" }))
        .call("m-1", "t-2", "Read", json!({ "file_path": "/w/a.rs" }));
    let mut log = log_of_lines(NAME, &lines.0);
    let shown = |log: &Log| conversations(log);
    let expected = ["1> Build it", "says I ask first.", "Bash runs", "Read runs"];
    assert_eq!(shown(&log)[..4], expected);
    // The results are added to the calls.
    lines
        .result("t-2", "fn a() {}", false)
        .result("t-1", "made", false);
    import_bytes(&mut log, NAME, text(&lines.0));
    assert_same(&log, &log_of_lines(NAME, &lines.0), "with results");
    let expected = [
        "1> Build it",
        "says I ask first.",
        "Bash: made",
        "Read: fn a() {}",
    ];
    assert_eq!(shown(&log)[..4], expected);
}

/// An agent that ended in a call, and was resumed in another session, which has the lines of the first one.
#[test]
fn the_result_of_a_call_that_waits_in_another_session_is_kept() {
    let mut lines = Lines::default();
    lines
        .prompt("Build it")
        .call("m-1", "t-1", "Bash", json!({ "command": "make" }));
    let mut log = log_of_lines(NAME, &lines.0);
    lines.result("t-1", "made", false).text("m-2", "Done.");
    let forked = text(&lines.0).replace("\"s-1\"", "\"s-2\"");
    for _ in 0..2 {
        import_bytes(
            &mut log,
            "0199aaaa-0000-4000-8000-000000000002.jsonl",
            &forked,
        );
        assert_eq!(log.report.broken, [], "{}", log.report);
    }
    let shown = conversations(&log);
    assert!(shown.contains(&"Bash runs".to_owned()), "{shown:?}");
    assert!(shown.contains(&"Bash: made".to_owned()), "{shown:?}");
}

/// What was requested stays what it was, and what comes under its name is another call.
#[test]
fn a_call_that_is_another_one_under_the_same_name_is_named_and_kept() {
    let mut lines = Lines::default();
    lines
        .prompt("Clean up")
        .call("m-1", "t-1", "Bash", json!({ "command": "rm -rf /" }));
    let mut log = log_of_lines(NAME, &lines.0);
    let mut other = Lines::default();
    other
        .prompt("Clean up")
        .call("m-1", "t-1", "Read", json!({ "file_path": "/ok" }))
        .result("t-1", "fine", false);
    import_bytes(&mut log, NAME, text(&other.0));
    assert_eq!(log.report.broken_count, 1, "{}", log.report);
    let shown = conversations(&log);
    assert!(shown.contains(&"Bash runs".to_owned()), "{shown:?}");
    assert!(shown.contains(&"Read: fine".to_owned()), "{shown:?}");
}

/// OpenCode writes a call before its arguments.
#[test]
fn the_arguments_of_a_call_may_come_after_it() {
    let call = |input: Value| {
        let mut lines = Lines::default();
        lines.prompt("Clean up").call("m-1", "t-1", "Bash", input);
        text(&lines.0)
    };
    let mut log = Log::empty();
    for input in [json!({}), json!({ "command": "make" }), json!({})] {
        import_bytes(&mut log, NAME, call(input));
    }
    let session = *sessions(&log).first().unwrap();
    let turns = conversation(&log, session).turns;
    let args = turns.iter().find_map(|turn| match &turn.body {
        TurnBody::ToolCall(call) => Some(format!("{:?}", call.args)),
        _ => None,
    });
    assert!(args.is_some_and(|args| args.contains("make")));
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

/// Tokens are recorded when a message or the recording ends: behind the next prompt, or before the call that spent them.
#[test]
fn tokens_have_the_same_prompts_if_a_recording_grows_line_by_line() {
    let make = |target: &str| json!({ "command": format!("make {target}") });
    let mut lines = Lines::default();
    lines
        .prompt("Fix the tests")
        .text("m-1", "I look.")
        .call("m-1", "t-1", "Bash", make("test"))
        .result("t-1", "ok", false)
        .prompt("Again")
        .call("m-2", "t-2", "Bash", make("lint"))
        .result("t-2", "ok", false)
        .text("m-3", "Fine.")
        .prompt("And now?")
        .call("m-4", "t-4", "Bash", make("all"))
        .prompt("Thanks");
    let spent = |log: &Log| {
        let session = *sessions(log).first().unwrap();
        let prompts = conversation(log, session).prompts;
        let tokens = prompts.iter().map(|prompt| {
            let models = prompt.models.iter();
            let tokens: u128 = models.map(|it| it.used.tokens.total()).sum();
            (prompt.beginning.clone(), tokens)
        });
        tokens.collect::<Vec<_>>()
    };
    let expected = [
        ("Fix the tests", 15),
        ("Again", 30),
        ("And now?", 15),
        ("Thanks", 0),
    ]
    .map(|(prompt, tokens)| (prompt.to_owned(), tokens));
    assert_eq!(spent(&log_of_lines(NAME, &lines.0)), expected);
    let mut grown = Log::empty();
    for end in 1..=lines.0.len() {
        import_bytes(&mut grown, NAME, text(lines.0.get(..end).unwrap()));
    }
    assert_eq!(spent(&grown), expected);
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

#[test]
fn a_compaction_is_one_turn() {
    let mut lines = Lines::default();
    lines.prompt("Go").text("m-1", "Going.");
    lines.add(
        "system",
        Value::Null,
        json!({ "subtype": "compact_boundary", "content": "Conversation compacted",
            "compactMetadata": { "trigger": "auto", "preTokens": 9 } }),
    );
    let summary = json!({ "role": "user", "content": "This session is being continued" });
    lines.add("user", summary, json!({ "isCompactSummary": true }));
    lines.text("m-2", "Going on.");
    check(
        &lines,
        &[
            "1> Go",
            "says Going.",
            "compaction Conversation compacted",
            "compacted Some(2) This session is being continued",
            "says Going on.",
        ],
    );
}
