//! `import copilot-chat`, run on databases that the tests make after the schema of real ones.

use std::fs;
use std::path::Path;

use annals::projections::TaskView;
use annals_dialects::copilot_chat;
use annals_dialects::import::{ImportOptions, recordings};
use futures::executor::block_on;
use rusqlite::{Connection, params};
use serde_json::{Value, json};

use crate::claude::log::Log;
use crate::claude::recording::Folder;
use crate::recorded::{
    assert_same, calls, calls_of, edited_files, import, prompts, refused, skipped, try_import,
};

const NAME: &str = "agent-traces.db";

const SCHEMA: &str = "
    CREATE TABLE spans (span_id TEXT PRIMARY KEY, trace_id TEXT NOT NULL, parent_span_id TEXT,
        name TEXT NOT NULL, start_time_ms INTEGER NOT NULL, end_time_ms INTEGER NOT NULL,
        status_code INTEGER NOT NULL DEFAULT 0, status_message TEXT,
        operation_name TEXT, provider_name TEXT, agent_name TEXT, conversation_id TEXT,
        request_model TEXT, response_model TEXT,
        input_tokens INTEGER, output_tokens INTEGER, cached_tokens INTEGER, reasoning_tokens INTEGER,
        tool_name TEXT, tool_call_id TEXT, tool_type TEXT, chat_session_id TEXT, turn_index INTEGER, ttft_ms REAL);
    CREATE TABLE span_attributes (span_id TEXT NOT NULL REFERENCES spans(span_id) ON DELETE CASCADE,
        key TEXT NOT NULL, value TEXT, PRIMARY KEY (span_id, key));
    CREATE TABLE span_events (id INTEGER PRIMARY KEY AUTOINCREMENT, span_id TEXT NOT NULL,
        name TEXT NOT NULL, timestamp_ms INTEGER NOT NULL, attributes TEXT);";

/// The time of the first span, in milliseconds.
const BEGIN: i64 = 1_767_322_800_000;

/// A span: its columns, attributes and events.
#[derive(Clone, Default)]
struct Span {
    columns: Vec<(&'static str, Value)>,
    attributes: Vec<(&'static str, String)>,
    events: Vec<(&'static str, Value)>,
}

impl Span {
    /// One that begins `at` milliseconds after the first one, and lasts for 10.
    fn new(
        id: &'static str,
        above: Option<&'static str>,
        at: i64,
        operation: &'static str,
    ) -> Span {
        let trace = json!("t1");
        Span {
            columns: vec![
                ("span_id", json!(id)),
                ("trace_id", trace),
                ("parent_span_id", json!(above)),
                ("name", json!(operation)),
                ("start_time_ms", json!(BEGIN + at)),
                ("end_time_ms", json!(BEGIN + at + 10)),
                ("operation_name", json!(operation)),
            ],
            ..Span::default()
        }
    }

    fn with(mut self, column: &'static str, value: Value) -> Span {
        self.columns.retain(|(name, _)| *name != column);
        self.columns.push((column, value));
        self
    }

    fn says(mut self, key: &'static str, value: impl ToString) -> Span {
        self.attributes.push((key, value.to_string()));
        self
    }

    fn happened(mut self, name: &'static str, attributes: Value) -> Span {
        self.events.push((name, attributes));
        self
    }

    fn id(&self) -> &str {
        self.columns[0].1.as_str().unwrap_or_default()
    }
}

fn agent(id: &'static str, above: Option<&'static str>, at: i64, prompt: &str) -> Span {
    Span::new(id, above, at, "invoke_agent")
        .with("chat_session_id", json!("s"))
        .with("input_tokens", json!(999))
        .says("copilot_chat.repo.head_branch_name", "main")
        .says("copilot_chat.repo.head_commit_hash", "29c3a99a")
        .says("copilot_chat.user_request", prompt)
        .happened("user_message", json!({ "content": prompt }))
        .happened("turn_start", json!({ "turnId": "0" }))
}

/// A request: what was sent as role and text, and the parts that came back.
fn request(
    id: &'static str,
    above: Option<&'static str>,
    at: i64,
    sent: &[(&str, &str)],
    parts: Value,
) -> Span {
    let message = |(role, text): &(&str, &str)| json!({ "role": role, "parts": [{ "type": "text", "content": text }] });
    let sent: Value = sent.iter().map(message).collect();
    Span::new(id, above, at, "chat")
        .with("chat_session_id", json!("s"))
        .with("conversation_id", json!(format!("request {id}")))
        .with("response_model", json!("gpt-test"))
        .with("input_tokens", json!(100))
        .with("cached_tokens", json!(60))
        .with("output_tokens", json!(10))
        .says("gen_ai.input.messages", sent)
        .says(
            "gen_ai.output.messages",
            json!([{ "role": "assistant", "parts": parts }]),
        )
        .says("gen_ai.response.finish_reasons", "[\"stop\"]")
        .says("gen_ai.request.temperature", "0.1")
}

fn calls_tool(id: &str, name: &str, arguments: Value) -> Value {
    json!({ "type": "tool_call", "id": id, "name": name, "arguments": arguments.to_string() })
}

fn tool(
    id: &'static str,
    above: Option<&'static str>,
    at: i64,
    (name, call): (&str, &str),
    result: &str,
) -> Span {
    Span::new(id, above, at, "execute_tool")
        .with("tool_name", json!(name))
        .says("gen_ai.tool.call.id", call)
        .says("gen_ai.tool.call.arguments", "{}")
        .says("gen_ai.tool.call.result", result)
}

/// Work with something of everything.
fn story() -> Vec<Span> {
    let create = json!({ "filePath": "/w/a.txt", "content": "1\n2\n" });
    let edit = json!({ "filePath": "/w/a.txt", "oldString": "2\n", "newString": "3\n" });
    let rendered = json!({ "node": { "children": [{ "text": "It is made" }, { "text": "a.txt", "lineBreakBefore": true }] } });
    let around = "<context>\n<userRequest>\nMake a file\n</userRequest>";
    let sent = [("system", "You are"), ("user", around)];
    vec![
        request(
            "s00",
            None,
            0,
            &[("user", "Write a title")],
            json!([{ "type": "text", "content": "A file" }]),
        )
        .with("chat_session_id", Value::Null)
        .with("agent_name", json!("title"))
        .says("copilot_chat.parent_chat_session_id", "s"),
        agent("s01", None, 1, "Make a file"),
        tool("s02", Some("s01"), 2, ("manage_todo_list", ""), "No list"),
        request(
            "s03",
            Some("s01"),
            3,
            &sent,
            json!([
                { "type": "reasoning", "content": "Hm" },
                { "type": "text", "content": "I make it." },
                calls_tool("c1", "create_file", create),
            ]),
        )
        .with("reasoning_tokens", json!(4)),
        Span::new("s04", Some("s01"), 14, "execute_hook")
            .says("copilot_chat.hook_type", "PreToolUse")
            .says("copilot_chat.hook_command", "tee log")
            .says(
                "copilot_chat.hook_input",
                json!({ "tool_name": "create_file" }),
            )
            .says("copilot_chat.hook_result_kind", "success"),
        tool(
            "s05",
            Some("s01"),
            15,
            ("create_file", "c1"),
            &rendered.to_string(),
        ),
        tool(
            "s06",
            None,
            16,
            ("vscode_editFile_internal", "c1"),
            "edited",
        )
        .with("trace_id", json!("t2"))
        .with("end_time_ms", json!(BEGIN + 20)),
        request(
            "s07",
            Some("s01"),
            30,
            &[
                sent[0],
                sent[1],
                ("assistant", "I make it."),
                ("tool", "It is made"),
            ],
            json!([
                calls_tool("c2", "replace_string_in_file", edit),
                calls_tool("c3", "runSubagent", json!({ "prompt": "Look for it" })),
            ]),
        ),
        tool("s08", Some("s01"), 41, ("replace_string_in_file", "c2"), "")
            .with("status_code", json!(2))
            .with("status_message", json!("no such text")),
        tool("s09", Some("s01"), 42, ("runSubagent", "c3"), "It is there"),
        agent("s10", Some("s09"), 42, "Look for it"),
        request(
            "s11",
            Some("s10"),
            43,
            &[("system", "You are"), ("user", "Look for it")],
            json!([{ "type": "text", "content": "Here" }]),
        ),
        tool("s12", Some("s10"), 44, ("grep_search", "c4"), "a.txt"),
        request(
            "s13",
            Some("s01"),
            60,
            &[("user", "Go on")],
            json!([{ "type": "text", "content": "Done" }]),
        )
        .with("status_code", json!(2))
        .with("status_message", json!("cut off"))
        .happened("exception", json!({ "exception.message": "cut off" })),
        Span::new("s14", Some("s01"), 70, "embeddings").says("novelty", "x"),
        agent("s15", None, 100, "Go on").with("trace_id", json!("t3")),
    ]
}

fn write(path: &Path, spans: &[Span]) -> Connection {
    let database = Connection::open(path).unwrap();
    database.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
    database.execute_batch(SCHEMA).unwrap();
    for span in spans {
        add(&database, span);
    }
    database
}

fn add(database: &Connection, span: &Span) {
    let names: Vec<&str> = span.columns.iter().map(|(name, _)| *name).collect();
    let marks: Vec<String> = (1..=names.len()).map(|at| format!("?{at}")).collect();
    let insert = format!(
        "INSERT INTO spans ({}) VALUES ({})",
        names.join(", "),
        marks.join(", ")
    );
    let values = span.columns.iter().map(|(_, value)| match value {
        Value::Null => rusqlite::types::Value::Null,
        Value::Number(number) => number.as_i64().unwrap().into(),
        value => value.as_str().unwrap().to_owned().into(),
    });
    database
        .execute(&insert, rusqlite::params_from_iter(values))
        .unwrap();
    for (key, value) in &span.attributes {
        database
            .execute(
                "INSERT INTO span_attributes VALUES (?1, ?2, ?3)",
                params![span.id(), key, value],
            )
            .unwrap();
    }
    for (at, (name, attributes)) in (BEGIN..).zip(&span.events) {
        database
            .execute(
                "INSERT INTO span_events (span_id, name, timestamp_ms, attributes) VALUES (?1, ?2, ?3, ?4)",
                params![span.id(), name, at, attributes.to_string()],
            )
            .unwrap();
    }
}

fn log_of(spans: &[Span]) -> Log {
    let (folder, mut log) = (Folder::new(), Log::empty());
    let path = folder.path().join(NAME);
    drop(write(&path, spans));
    import(&mut log, &path);
    assert_eq!(log.report.broken, [], "{}", log.report);
    log
}

#[test]
fn a_session_has_what_a_recount_has() {
    let log = log_of(&story());
    assert_eq!(prompts(&log), ["Make a file", "Go on"]);
    assert_eq!(log.report.waiting, 0, "{}", log.report);
    let expected = [
        "create_file ok: It is made\na.txt",
        "replace_string_in_file error: no such text",
        "runSubagent ok: It is there",
        "grep_search ok: a.txt",
    ];
    assert_eq!(calls(&log), expected);
    let files = edited_files(&log);
    assert_eq!(files, ["add /w/a.txt +2 -0", "modify /w/a.txt +1 -1"]);
    assert_eq!(log.tokens(), [200, 300, 0, 50]);
    let ids = copilot_chat::ids();
    assert_eq!(calls_of(&log, ids.session("s").run), 3);
    let task: TaskView = log.get(ids.session("s").task);
    assert_eq!(task.title.as_str(), Some("Make a file"));
    let title: TaskView = log.get(ids.side_chain("s", "t1/s00").task);
    assert_eq!(title.title.as_str(), Some("Write a title"));
    assert_eq!(title.parent, Some(ids.session("s").task));
    assert_eq!(calls_of(&log, ids.side_chain("s", "t1/s10").run), 1);
    let frames = log.frames();
    for frame in [
        "thinking: Hm",
        "step_summary: I make it.",
        "system_state: cut off",
        "exception: exception",
        "embeddings: embeddings",
        "code_change: create_file /w/a.txt: It is made\na.txt",
    ] {
        let count = frames.iter().filter(|it| *it == frame).count();
        assert_eq!(count, 1, "{frame} in {frames:#?}");
    }
    // Once for each chain that says it, however often a request repeats it.
    let said = |text: &str| frames.iter().filter(|it| it.ends_with(text)).count();
    assert_eq!(said(": You are"), 2, "{frames:#?}");
    assert_eq!(said("</userRequest>"), 1, "{frames:#?}");
    assert_eq!(said(": Look for it"), 1, "{frames:#?}");
}

#[test]
fn what_becomes_of_fields_is_said() {
    let log = log_of(&story());
    for (path, fates) in [
        ("attributes.gen_ai.output.messages[].parts[]", [8, 0, 0]),
        ("attributes.gen_ai.input.messages[]", [5, 0, 0]),
        ("attributes.gen_ai.request.temperature", [0, 0, 5]),
        ("attributes.copilot_chat.hook_command", [1, 0, 0]),
        ("input_tokens", [5, 3, 0]),
    ] {
        assert_eq!(log.fates(path), fates, "{path} in {}", log.report);
    }
    let unknown = log.report.unknown_types.iter().map(|it| it.name.as_str());
    assert_eq!(unknown.collect::<Vec<_>>(), ["embeddings"]);
    assert_eq!(skipped(&log.report)["turn_start"], 3);
}

/// A span is written when it is over, its children before it: whatever a database has when it is imported, in the end
/// there is the same.
#[test]
fn a_database_that_grows_is_the_same_as_one_at_once() {
    let once = log_of(&story());
    // The order in which spans end.
    let mut ended = story();
    ended.sort_by_key(|span| match span.id() {
        "s01" => i64::MAX - 1,
        "s15" => i64::MAX,
        "s10" => BEGIN + 56,
        "s09" => BEGIN + 57,
        _ => span
            .columns
            .iter()
            .find(|(name, _)| *name == "end_time_ms")
            .unwrap()
            .1
            .as_i64()
            .unwrap(),
    });
    for cut in 1..ended.len() {
        let (folder, mut log) = (Folder::new(), Log::empty());
        let path = folder.path().join(NAME);
        let database = write(&path, &ended[..cut]);
        import(&mut log, &path);
        for span in &ended[cut..] {
            add(&database, span);
        }
        drop(database);
        import(&mut log, &path);
        assert_same(&log, &once, &format!("after {cut} spans"));
        let end = log.annals.position();
        import(&mut log, &path);
        assert_eq!(log.annals.position(), end, "{}", log.report);
    }
}

/// What is below a span that is not there waits, and is said to.
#[test]
fn a_span_without_the_one_above_waits() {
    let spans: Vec<Span> = story()
        .into_iter()
        .filter(|span| span.id() != "s01")
        .collect();
    let log = log_of(&spans);
    assert_eq!(prompts(&log), ["Go on"]);
    assert_eq!(log.report.waiting, 13, "{}", log.report);
    assert_eq!(skipped(&log.report)["span below one that is not there"], 13);
    let notes = log.report.notes.join("\n");
    assert!(notes.contains("--ended does without that"), "{notes}");
    let spans = &story()[..1];
    let log = log_of(spans);
    assert_eq!(log.annals.position().0, 0);
    assert_eq!(
        skipped(&log.report)["span beside a session that is not there"],
        1
    );
}

/// Some models name their calls `call_0` again and again.
#[test]
fn calls_of_one_name_are_calls_of_their_own() {
    let says = |text: &str| calls_tool("call_0", "grep_search", json!({ "query": text }));
    let mut spans = vec![agent("a1", None, 0, "Look for it")];
    for (ask, answer, at, text) in [("b1", "c1", 1, "x"), ("b2", "c2", 21, "y")] {
        spans.push(request(ask, Some("a1"), at, &[], json!([says(text)])));
        spans.push(tool(
            answer,
            Some("a1"),
            at + 10,
            ("grep_search", "call_0"),
            text,
        ));
    }
    // In another session, too.
    spans.push(agent("a2", None, 100, "And there").with("chat_session_id", json!("z")));
    spans.push(tool("c3", Some("a2"), 101, ("grep_search", "call_0"), "z"));
    let log = log_of(&spans);
    let expected = [
        "grep_search ok: x",
        "grep_search ok: y",
        "grep_search ok: z",
    ];
    assert_eq!(calls(&log), expected);
    let ids = copilot_chat::ids();
    assert_eq!(calls_of(&log, ids.session("s").run), 2);
    assert_eq!(calls_of(&log, ids.session("z").run), 1);
}

/// A tool that runs within another one is of that one's session, and waits until that one is there.
#[test]
fn an_inner_tool_is_of_the_tool_around_it() {
    let asks = || json!([calls_tool("call_0", "edit", json!({}))]);
    let inner = tool("i", None, 52, ("inner", "call_0"), "edited")
        .with("trace_id", json!("t9"))
        .with("end_time_ms", json!(BEGIN + 58));
    let first = [
        agent("a1", None, 0, "One"),
        request("b1", Some("a1"), 1, &[], asks()),
        tool("c1", Some("a1"), 12, ("edit", "call_0"), "x"),
    ];
    let second = [
        agent("a2", None, 40, "Two").with("chat_session_id", json!("z")),
        request("b2", Some("a2"), 41, &[], asks()),
        tool("c2", Some("a2"), 51, ("edit", "call_0"), "y"),
    ];
    let mut all: Vec<Span> = first.iter().chain(&second).cloned().collect();
    all.push(inner.clone());
    let once = log_of(&all);
    let (folder, mut log) = (Folder::new(), Log::empty());
    let path = folder.path().join(NAME);
    let database = write(&path, &first);
    add(&database, &inner);
    import(&mut log, &path);
    assert_eq!(log.report.waiting, 1, "{}", log.report);
    for span in &second {
        add(&database, span);
    }
    drop(database);
    import(&mut log, &path);
    assert_same(&log, &once, "grown");
}

/// What is kept of a span of a kind that is not known is in the log, and so is what cannot be read of an answer, and
/// why a tool failed that said something, too.
#[test]
fn nothing_is_lost_of_what_is_odd() {
    let spans = [
        agent("a1", None, 0, "Go"),
        Span::new("e1", Some("a1"), 1, "embeddings").says("novelty", "PRECIOUS"),
        Span::new("b1", Some("a1"), 2, "chat")
            .says("gen_ai.output.messages", "[{\"parts\":[]},UNREADABLE"),
        request(
            "b2",
            Some("a1"),
            20,
            &[],
            json!([calls_tool("c", "run", json!({}))]),
        ),
        tool("d1", Some("a1"), 31, ("run", "c"), "half of it")
            .with("status_code", json!(2))
            .with("status_message", json!("ON FIRE")),
    ];
    let log = log_of(&spans);
    let all = format!("{:?}", log.entries());
    for text in ["PRECIOUS", "UNREADABLE", "ON FIRE", "half of it"] {
        assert!(all.contains(text), "{text} is lost: {}", log.report);
    }
}

/// Requests beside sessions wait for these, however many there were before.
#[test]
fn what_waited_makes_room_for_what_waits() {
    let title = |id, session: &str, at| {
        request(id, None, at, &[("user", "title")], json!([]))
            .with("chat_session_id", Value::Null)
            .says("copilot_chat.parent_chat_session_id", session)
            .says("copilot_chat.hook_output", "x".repeat(40 << 20))
    };
    let spans = [
        title("t1", "one", 0),
        agent("a1", None, 1, "One").with("chat_session_id", json!("one")),
        title("t2", "two", 2),
        agent("a2", None, 3, "Two").with("chat_session_id", json!("two")),
    ];
    let log = log_of(&spans);
    for (session, expected) in [("one", "One"), ("two", "Two")] {
        let task: TaskView = log.get(copilot_chat::ids().session(session).task);
        assert_eq!(task.title.as_str(), Some(expected));
    }
}

/// What an agent tells another one to do was not typed by a person, also where its parent is gone.
#[test]
fn the_order_of_a_sub_agent_is_no_prompt() {
    let spans = [agent("a1", Some("gone"), 0, "Look for it")];
    let (folder, log) = (Folder::new(), Log::empty());
    let path = folder.path().join(NAME);
    drop(write(&path, &spans));
    let mut options = ImportOptions::default();
    options.ended = true;
    block_on(recordings(&log.annals, &path, None, &options, &mut |_| {})).unwrap();
    assert!(log.annals.position().0 > 0);
    assert_eq!(prompts(&log), Vec::<String>::new());
}

/// A tool that no call names, and nothing above, waits for its session's work, as all does that is around it; one that
/// names a call waits for that.
#[test]
fn a_tool_by_itself_waits() {
    let spans =
        [tool("c1", None, 0, ("manage_todo_list", ""), "none").with("trace_id", json!("t9"))];
    let log = log_of(&spans);
    assert_eq!(log.report.waiting, 1, "{}", log.report);
    let known = [tool("c1", None, 0, ("inner", "call_9"), "none")];
    let waiting = log_of(&known);
    assert_eq!(
        skipped(&waiting.report)["span below one that is not there"],
        1
    );
}

/// A clock that was set back does not put a span before the one that it is below.
#[test]
fn times_that_are_not_in_order_change_no_place() {
    let mut spans = story();
    spans[3] = spans[3].clone().with("start_time_ms", json!(BEGIN - 50));
    let log = log_of(&spans);
    assert_eq!(prompts(&log), ["Make a file", "Go on"]);
    assert_eq!(calls(&log).len(), 4);
}

#[test]
fn hostile_rows_are_named_or_kept() {
    let (folder, mut log) = (Folder::new(), Log::empty());
    let path = folder.path().join(NAME);
    let mut spans = story();
    let odd = |id, at| {
        request(
            id,
            Some("s15"),
            at,
            &[],
            json!([5, { "type": 7 }, { "type": "tool_call", "arguments": "{" }]),
        )
    };
    spans.push(odd("h1", 101).says("gen_ai.tool.call.result", "{\"node\":5}"));
    spans.push(odd("h2", 102).with("trace_id", json!("")));
    spans.push(Span::new("h3", Some("h3"), 103, "chat"));
    spans.push(Span::new("h4", Some("s15"), 104, ""));
    let database = write(&path, &spans);
    database
        .execute_batch(
            "INSERT INTO span_attributes VALUES ('absent', 'x', 'y');
             INSERT INTO span_events (span_id, name, timestamp_ms) VALUES ('absent', 'x', 'y');
             INSERT INTO spans (span_id, trace_id, name, start_time_ms, end_time_ms) VALUES (x'ff', 't', 'n', 'x', 1e999);
             UPDATE span_attributes SET value = '[[[' WHERE span_id = 'h2' AND key = 'gen_ai.input.messages';
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400000)
             INSERT INTO span_attributes SELECT 'h4', 'key ' || i, 'x' FROM n;",
        )
        .unwrap();
    drop(database);
    import(&mut log, &path);
    assert_eq!(log.report.broken.len(), 1, "{}", log.report);
    assert_eq!(prompts(&log), ["Make a file", "Go on"]);
    let passed_over = skipped(&log.report);
    assert_eq!(passed_over["attribute of a span that is not there"], 1);
    assert!(passed_over["row of a span that is too long"] > 10_000);
    assert_eq!(passed_over["span below one that is not there"], 1);
    let end = log.annals.position();
    import(&mut log, &path);
    assert_eq!(log.annals.position(), end, "{}", log.report);
}

#[test]
fn another_agents_database_is_named() {
    let folder = Folder::new();
    let path = folder.path().join("traces.db");
    drop(write(&path, &story()));
    let error = try_import(&Log::empty(), Some("opencode"), &path).unwrap_err();
    assert!(error.to_string().contains("Copilot Chat"), "{error}");
    let cut = fs::read(&path).unwrap();
    fs::write(&path, &cut[..cut.len() / 2]).unwrap();
    let mut log = Log::empty();
    import(&mut log, &path);
    assert!(!log.report.broken.is_empty(), "{}", log.report);
    let said = refused(Some("copilot-chat"), "a.db", "no database");
    assert!(said.contains("FILE"), "{said}");
}
