//! `import opencode`, run on databases that the tests make after the published schema.

use std::fs;
use std::path::Path;

use rusqlite::{Connection, params};
use serde_json::{Value, json};

use crate::claude::log::Log;
use crate::claude::recording::Folder;
use crate::recorded::{assert_same, calls, edits, import, prompts, refused, skipped};

const SCHEMA: &str = "
    CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT NOT NULL, parent_id TEXT,
        slug TEXT NOT NULL, directory TEXT NOT NULL, title TEXT NOT NULL, version TEXT NOT NULL,
        time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL);
    CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, time_created INTEGER NOT NULL,
        time_updated INTEGER NOT NULL, data TEXT NOT NULL);
    CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT NOT NULL, session_id TEXT NOT NULL,
        time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL, data TEXT NOT NULL);";

/// The time of the first row, in milliseconds.
const BEGIN: i64 = 1_767_322_800_000;

/// A row: of a session (its id and its parent), a message (its session and data) or a part (its message and data).
#[derive(Clone)]
enum Row {
    Session(&'static str, Option<&'static str>),
    Message(&'static str, &'static str, Value),
    Part(&'static str, &'static str, &'static str, Value),
}

fn write(path: &Path, rows: &[Row]) -> Connection {
    let database = Connection::open(path).unwrap();
    database.execute_batch(SCHEMA).unwrap();
    add(&database, rows, 0);
    database
}

fn add(database: &Connection, rows: &[Row], from: i64) {
    for (at, row) in (BEGIN + from..).zip(rows) {
        let done = match row {
            Row::Session(id, parent) => database.execute(
                "INSERT INTO session VALUES (?1, 'p', ?2, 's', '/p', 'Title', '1.2.3', ?3, ?3)",
                params![id, parent, at],
            ),
            Row::Message(id, session, data) => database.execute(
                "INSERT INTO message VALUES (?1, ?2, ?3, ?3, ?4)",
                params![id, session, at, data.to_string()],
            ),
            Row::Part(id, message, session, data) => database.execute(
                "INSERT INTO part VALUES (?1, ?2, ?3, ?4, ?4, ?5)",
                params![id, message, session, at, data.to_string()],
            ),
        };
        done.unwrap();
    }
}

fn tokens(input: u64, output: u64, reasoning: u64, read: u64, write: u64) -> Value {
    json!({ "input": input, "output": output, "reasoning": reasoning,
        "cache": { "read": read, "write": write } })
}

fn assistant(tokens: Value) -> Value {
    json!({
        "role": "assistant", "parentID": "m1", "modelID": "gpt-1", "providerID": "openai",
        "mode": "build", "path": { "cwd": "/p", "root": "/p" }, "cost": 0, "tokens": tokens,
        "time": { "created": BEGIN + 2, "completed": BEGIN + 9 },
    })
}

fn user() -> Value {
    json!({ "role": "user", "time": { "created": BEGIN }, "agent": "build" })
}

fn story() -> Vec<Row> {
    let diff = "Index: /p/a.ts\n===\n--- /p/a.ts\n+++ /p/a.ts\n@@ -1,1 +1,2 @@\n hi();\n+bob();\n";
    let time = json!({ "start": BEGIN + 4, "end": BEGIN + 6 });
    let tool = |call: &str, tool: &str, state: Value| json!({ "type": "tool", "callID": call, "tool": tool, "state": state });
    vec![
        Row::Session("ses_1", None),
        Row::Message("m1", "ses_1", user()),
        Row::Part(
            "p01",
            "m1",
            "ses_1",
            json!({ "type": "text", "text": "Greet " }),
        ),
        Row::Part(
            "p02",
            "m1",
            "ses_1",
            json!({ "type": "text", "text": "Bob" }),
        ),
        Row::Part(
            "p03",
            "m1",
            "ses_1",
            json!({ "type": "text", "text": "Called the Read tool", "synthetic": true }),
        ),
        Row::Part(
            "p04",
            "m1",
            "ses_1",
            json!({ "type": "file", "mime": "text/plain", "url": "file:///p/a.ts" }),
        ),
        // The program writes the tokens of the newest step here, when the step is over.
        Row::Message("m2", "ses_1", assistant(tokens(0, 0, 0, 0, 0))),
        Row::Part(
            "p05",
            "m2",
            "ses_1",
            json!({ "type": "step-start", "snapshot": "abc" }),
        ),
        Row::Part(
            "p06",
            "m2",
            "ses_1",
            json!({ "type": "reasoning", "text": "Look first.", "time": time }),
        ),
        Row::Part(
            "p07",
            "m2",
            "ses_1",
            json!({ "type": "text", "text": "I look.", "time": time }),
        ),
        Row::Part(
            "p08",
            "m2",
            "ses_1",
            tool(
                "call_0",
                "read",
                json!({
            "status": "completed", "input": { "filePath": "/p/a.ts" }, "output": "hi();", "title": "a.ts",
            "metadata": { "preview": "hi();" }, "time": time }),
            ),
        ),
        Row::Part(
            "p09",
            "m2",
            "ses_1",
            json!({ "type": "step-finish", "reason": "tool-calls", "cost": 0,
            "tokens": tokens(10, 5, 3, 60, 4) }),
        ),
        Row::Part(
            "p10",
            "m2",
            "ses_1",
            tool(
                "call_0",
                "edit",
                json!({
            "status": "completed", "input": { "filePath": "/p/a.ts", "oldString": "hi();", "newString": "hi();\nbob();" },
            "output": "Edit applied successfully.", "title": "a.ts", "metadata": { "diff": diff }, "time": time }),
            ),
        ),
        Row::Part(
            "p11",
            "m2",
            "ses_1",
            tool(
                "call_1",
                "bash",
                json!({
            "status": "error", "input": { "command": "make" }, "error": "no make", "time": time }),
            ),
        ),
        Row::Part(
            "p12",
            "m2",
            "ses_1",
            json!({ "type": "step-finish", "reason": "stop", "cost": 0,
            "tokens": tokens(20, 2, 0, 0, 0) }),
        ),
        Row::Part(
            "p13",
            "m2",
            "ses_1",
            json!({ "type": "patch", "hash": "abc", "files": ["/p/a.ts"] }),
        ),
        Row::Message("m3", "ses_1", user()),
        Row::Part(
            "p14",
            "m3",
            "ses_1",
            json!({ "type": "compaction", "auto": true }),
        ),
        Row::Message("m4", "ses_1", {
            let mut data = assistant(tokens(7, 1, 2, 0, 0));
            data["summary"] = json!(true);
            data["error"] =
                json!({ "name": "MessageAbortedError", "data": { "message": "Aborted" } });
            data
        }),
        Row::Part(
            "p15",
            "m4",
            "ses_1",
            json!({ "type": "text", "text": "We greet Bob." }),
        ),
    ]
}

fn imported(rows: &[Row]) -> Log {
    let folder = Folder::new();
    let path = folder.path().join("opencode.db");
    drop(write(&path, rows));
    let mut log = Log::empty();
    import(&mut log, &path);
    log
}

#[test]
fn a_session_has_its_prompt_calls_edits_and_tokens() {
    let log = imported(&story());
    assert_eq!(log.report.broken, [], "{}", log.report);
    assert_eq!(prompts(&log), ["Greet Bob"]);
    // Both calls have the same id, as some providers give it.
    let expected = [
        "read ok: hi();",
        "edit ok: Edit applied successfully.",
        "bash error: no make",
    ];
    assert_eq!(calls(&log), expected);
    // The steps of m2, and m4, which has none; reasoning is output.
    assert_eq!(log.tokens(), [10 + 20 + 7, 60, 4, 8 + 2 + 3]);
    let diff = "--- a/a.ts\n+++ b/a.ts\n@@ -1,1 +1,2 @@\n hi();\n+bob();\n";
    let edit = (vec!["modify a.ts +1 -0".to_owned()], diff.to_owned());
    assert_eq!(edits(&log), [edit]);
    let frames = log.frames();
    for expected in [
        "intent_analysis: Greet Bob",
        "system_state: Called the Read tool",
        "file: file",
        "thinking: Look first.",
        "step_summary: I look.",
        "patch: patch",
        "checkpoint: The conversation is made shorter",
        "checkpoint: We greet Bob.",
        "system_state: MessageAbortedError: Aborted",
    ] {
        assert!(
            frames.iter().any(|it| it == expected),
            "{expected}: {frames:#?}"
        );
    }
    assert_eq!(skipped(&log.report).get("step-start"), Some(&1));
    assert_eq!((log.report.waiting, log.count("task.created")), (0, 1));
    assert_eq!(log.fates("state.input"), [3, 0, 0]);
    assert_eq!(log.fates("directory"), [1, 0, 0]);
    assert_eq!(log.fates("title"), [1, 0, 0]);
}

#[test]
fn the_total_says_whether_reasoning_is_in_the_output() {
    let mut with_total = tokens(10, 5, 3, 60, 4);
    with_total["total"] = json!(10 + 5 + 60 + 4);
    let part = json!({ "type": "step-finish", "reason": "stop", "tokens": with_total });
    let rows = [
        Row::Session("ses_1", None),
        Row::Message("m1", "ses_1", assistant(json!(null))),
        Row::Part("p1", "m1", "ses_1", part),
    ];
    assert_eq!(imported(&rows).tokens(), [10, 60, 4, 5]);
}

#[test]
fn a_session_with_a_parent_is_a_sub_agent() {
    let mut rows = story();
    rows.extend([
        Row::Session("ses_2", Some("ses_1")),
        Row::Session("ses_3", Some("ses_2")),
        Row::Message("n1", "ses_3", user()),
        Row::Part(
            "q1",
            "n1",
            "ses_3",
            json!({ "type": "text", "text": "Find Bob" }),
        ),
        Row::Message("n2", "ses_3", assistant(tokens(1, 1, 0, 0, 0))),
        Row::Part(
            "q2",
            "n2",
            "ses_3",
            json!({ "type": "text", "text": "There." }),
        ),
    ]);
    let log = imported(&rows);
    assert_eq!(log.report.broken, [], "{}", log.report);
    assert_eq!(prompts(&log), ["Greet Bob"]);
    assert_eq!(log.count("task.created"), 2);
    assert!(
        log.frames()
            .contains(&"intent_analysis: Find Bob".to_owned())
    );
    // Parents in a circle do not make an import go on for ever.
    let circle = [
        Row::Session("a", Some("b")),
        Row::Session("b", Some("a")),
        Row::Message("n1", "a", assistant(tokens(1, 1, 0, 0, 0))),
        Row::Part("q1", "n1", "a", json!({ "type": "text", "text": "There." })),
    ];
    assert_eq!(imported(&circle).report.broken, []);
}

#[test]
fn read_after_each_row_it_is_the_same_as_at_once() {
    let story = story();
    let once = imported(&story);
    // The program writes the parts of a prompt at once: nothing tells that more will come.
    let within_prompt = 3;
    for cut in (1..story.len()).filter(|cut| *cut != within_prompt) {
        let (mut log, folder) = imported_in_two(&story, cut);
        assert_eq!(log.report.broken, [], "{cut}: {}", log.report);
        assert_eq!(log.tokens(), once.tokens(), "{cut}");
        assert_eq!(calls(&log), calls(&once), "{cut}");
        let end = log.annals.position();
        import(&mut log, &folder.path().join("opencode.db"));
        assert_eq!(log.annals.position(), end, "{cut}: {}", log.report);
    }
    let (log, _folder) = imported_in_two(&story, within_prompt);
    let reasons: Vec<&str> = log
        .report
        .broken
        .iter()
        .map(|it| it.reason.as_str())
        .collect();
    let expected =
        r#""ses_1/p01" was recorded before with another content; the log keeps the first"#;
    assert_eq!(reasons, [expected]);
    assert_same(&imported(&story), &once, "again");
}

/// A log into which a database is imported that has the first rows, and then all.
fn imported_in_two(rows: &[Row], cut: usize) -> (Log, Folder) {
    let folder = Folder::new();
    let path = folder.path().join("opencode.db");
    let mut log = Log::empty();
    let database = write(&path, &rows[..cut]);
    import(&mut log, &path);
    add(&database, &rows[cut..], cut as i64);
    drop(database);
    import(&mut log, &path);
    (log, folder)
}

#[test]
fn what_is_still_written_is_left_for_a_later_import() {
    let open = json!({ "role": "assistant", "modelID": "gpt-1", "providerID": "openai", "time": { "created": BEGIN } });
    let running = json!({ "type": "tool", "callID": "c", "tool": "bash",
        "state": { "status": "running", "input": { "command": "make" }, "time": { "start": BEGIN } } });
    let rows = [
        Row::Session("ses_1", None),
        Row::Message("m1", "ses_1", open),
        Row::Part(
            "p1",
            "m1",
            "ses_1",
            json!({ "type": "text", "text": "I", "time": { "start": BEGIN } }),
        ),
        Row::Part("p2", "m1", "ses_1", running),
    ];
    let folder = Folder::new();
    let path = folder.path().join("opencode.db");
    let database = write(&path, &rows);
    let mut log = Log::empty();
    import(&mut log, &path);
    assert_eq!(
        skipped(&log.report).get("text that is still written"),
        Some(&1)
    );
    assert_eq!((log.report.waiting, calls(&log).len()), (1, 0));
    let text = json!({ "type": "text", "text": "I run it.", "time": { "start": BEGIN, "end": BEGIN + 1 } });
    let done = json!({ "type": "tool", "callID": "c", "tool": "bash",
        "state": { "status": "completed", "input": { "command": "make" }, "output": "made",
            "time": { "start": BEGIN, "end": BEGIN + 5 } } });
    for (id, data) in [("p1", text), ("p2", done)] {
        let set = "UPDATE part SET data = ?2 WHERE id = ?1";
        database
            .execute(set, params![id, data.to_string()])
            .unwrap();
    }
    import(&mut log, &path);
    assert_eq!(log.report.broken, [], "{}", log.report);
    assert_eq!(calls(&log), ["bash ok: made"]);
    assert!(log.frames().contains(&"step_summary: I run it.".to_owned()));
}

/// A program that has the database open leaves what is new in the write-ahead log next to it.
#[test]
fn what_is_in_the_write_ahead_log_alone_is_read() {
    let folder = Folder::new();
    let path = folder.path().join("opencode.db");
    let database = Connection::open(&path).unwrap();
    database.pragma_update(None, "journal_mode", "wal").unwrap();
    database
        .pragma_update(None, "wal_autocheckpoint", 0)
        .unwrap();
    database.execute_batch(SCHEMA).unwrap();
    add(&database, &story(), 0);
    let before = fs::read(&path).unwrap();
    let mut log = Log::empty();
    import(&mut log, &path);
    assert_eq!(log.report.broken, [], "{}", log.report);
    assert_same(&log, &imported(&story()), "in the log");
    assert_eq!(fs::read(&path).unwrap(), before);
    // A folder of databases is read in the same way.
    let mut of_folder = Log::empty();
    import(&mut of_folder, folder.path());
    assert_same(&of_folder, &log, "in a folder");
}

#[cfg(unix)]
#[test]
fn a_log_that_is_a_link_is_not_read() {
    let folder = Folder::new();
    let path = folder.path().join("opencode.db");
    drop(write(&path, &story()));
    let elsewhere = folder.write("elsewhere", "of another");
    std::os::unix::fs::symlink(elsewhere, folder.path().join("opencode.db-wal")).unwrap();
    let mut log = Log::empty();
    import(&mut log, &path);
    assert_eq!(log.report.broken_count, 1, "{}", log.report);
    let reason = &log.report.broken[0].reason;
    assert!(reason.starts_with("it cannot be copied: "), "{reason}");
    assert_eq!(prompts(&log), Vec::<String>::new());
}

#[test]
fn a_damaged_database_is_named() {
    let folder = Folder::new();
    let path = folder.path().join("opencode.db");
    drop(write(&path, &story()));
    let whole = fs::read(&path).unwrap();
    for cut in [100, 1_000, 5_000, whole.len() / 2, whole.len() - 1] {
        fs::write(&path, &whole[..cut.min(whole.len())]).unwrap();
        let mut log = Log::empty();
        import(&mut log, &path);
        assert!(log.report.broken_count > 0, "{cut}: {}", log.report);
        assert!(log.report.broken[0].file.ends_with("opencode.db"));
    }
    // Nothing is lost but the row that had the last byte.
    fs::write(&path, &whole[..whole.len() - 1]).unwrap();
    let mut log = Log::empty();
    import(&mut log, &path);
    let reasons: Vec<&str> = log
        .report
        .broken
        .iter()
        .map(|it| it.reason.as_str())
        .collect();
    let expected = format!(
        "it is cut: it has {} bytes of {}",
        whole.len() - 1,
        whole.len()
    );
    assert_eq!(reasons.first(), Some(&expected.as_str()), "{}", log.report);
    assert!(reasons.len() <= 2, "{reasons:?}");
    assert_eq!((prompts(&log).len(), calls(&log).len()), (1, 3));
    for seed in 0..200_usize {
        let mut damaged = whole.clone();
        for at in 0..8 {
            let place = 100 + (seed * 7_919 + at * 104_729) % (damaged.len() - 100);
            damaged[place] ^= 0xa5;
        }
        fs::write(&path, &damaged).unwrap();
        import(&mut Log::empty(), &path);
    }
}

#[test]
fn a_damaged_page_loses_its_own_rows() {
    let parts = 500_usize;
    let names: Vec<String> = (0..parts).map(|at| format!("p{at:05}")).collect();
    let folder = Folder::new();
    let path = folder.path().join("opencode.db");
    let database = write(
        &path,
        &[
            Row::Session("ses_1", None),
            Row::Message("m1", "ses_1", assistant(tokens(1, 1, 0, 0, 0))),
        ],
    );
    for (name, at) in names.iter().zip(BEGIN..) {
        let data = json!({ "type": "text", "text": format!("text {name}") }).to_string();
        let values = params![name, "m1", "ses_1", at, data];
        let insert = "INSERT INTO part VALUES (?1, ?2, ?3, ?4, ?4, ?5)";
        database.execute(insert, values).unwrap();
    }
    drop(database);
    let mut bytes = fs::read(&path).unwrap();
    let page = 4_096;
    let middle = format!("text p{:05}", parts / 2);
    let place = bytes
        .windows(middle.len())
        .position(|it| it == middle.as_bytes())
        .unwrap();
    let page_begins = place / page * page;
    bytes[page_begins..page_begins + page].fill(0xff);
    fs::write(&path, &bytes).unwrap();
    let mut log = Log::empty();
    import(&mut log, &path);
    assert_eq!(log.report.broken_count, 1, "{}", log.report);
    let reason = &log.report.broken[0].reason;
    let expected = "rows of the table \"part\" cannot be read";
    assert!(reason.contains(expected), "{reason}");
    let frames = log.frames();
    let texts = frames.iter().filter(|it| it.starts_with("step_summary"));
    let count = texts.count();
    assert!((parts - 60..parts).contains(&count), "{count}");
    for name in [&names[0], &names[parts - 1]] {
        assert!(frames.contains(&format!("step_summary: text {name}")));
    }
}

/// A page that is in a table many times does not make its rows many.
#[test]
fn a_page_that_is_there_many_times_is_named() {
    let folder = Folder::new();
    let path = folder.path().join("opencode.db");
    let database = write(&path, &[Row::Session("ses_1", None)]);
    for number in 0..400_i64 {
        let data = user().to_string();
        let values = params![format!("m{number:04}"), "ses_1", BEGIN + number, data];
        let insert = "INSERT INTO message VALUES (?1, ?2, ?3, ?3, ?4)";
        database.execute(insert, values).unwrap();
    }
    let root: i64 = database
        .query_row(
            "SELECT rootpage FROM sqlite_schema WHERE name = 'message'",
            (),
            |row| row.get(0),
        )
        .unwrap();
    drop(database);
    let mut bytes = fs::read(&path).unwrap();
    let page = usize::try_from(root - 1).unwrap() * 4_096;
    let number = |bytes: &[u8], at: usize| usize::from(bytes[at]) << 8 | usize::from(bytes[at + 1]);
    assert_eq!(bytes[page], 5, "it has pages below it");
    let cells = number(&bytes, page + 3);
    let place = |bytes: &[u8], cell: usize| page + number(bytes, page + 12 + 2 * cell);
    let first = place(&bytes, 0);
    let child: [u8; 4] = bytes[first..first + 4].try_into().unwrap();
    for cell in 1..cells {
        let at = place(&bytes, cell);
        bytes[at..at + 4].copy_from_slice(&child);
    }
    fs::write(&path, &bytes).unwrap();
    let mut log = Log::empty();
    import(&mut log, &path);
    let expected = "rows of the table \"message\" cannot be read: they are not in order";
    assert_eq!(log.report.broken[0].reason, expected, "{}", log.report);
}

/// Older databases of tests and tools have no sessions.
#[test]
fn a_database_without_sessions_is_read() {
    let folder = Folder::new();
    let path = folder.path().join("opencode.db");
    let database = write(&path, &story());
    database.execute_batch("DROP TABLE session").unwrap();
    drop(database);
    let mut log = Log::empty();
    import(&mut log, &path);
    assert_eq!(log.report.broken_count, 1, "{}", log.report);
    let reason = &log.report.broken[0].reason;
    assert_eq!(reason, "it has no table \"session\"");
    assert_eq!((prompts(&log).len(), calls(&log).len()), (1, 3));
}

#[test]
fn what_a_strangers_schema_names_is_not_run() {
    for (schema, table) in [
        (
            "CREATE TABLE session (id, directory); CREATE TABLE message (id, session_id, time_created, data);",
            "part",
        ),
        (
            "CREATE VIEW session AS SELECT 1 AS id; CREATE TABLE message (id); CREATE TABLE part (id);",
            "session",
        ),
    ] {
        let folder = Folder::new();
        let path = folder.path().join("opencode.db");
        Connection::open(&path)
            .unwrap()
            .execute_batch(schema)
            .unwrap();
        let mut log = Log::empty();
        import(&mut log, &path);
        assert_eq!(log.report.broken_count, 1);
        let reason = &log.report.broken[0].reason;
        assert!(
            reason.contains(&format!("it has no table \"{table}\"")),
            "{reason}"
        );
    }
}

/// However its schema is written, a table that is code of the database does not count as a table.
#[test]
fn a_table_that_says_otherwise_that_it_is_virtual_is_not_read() {
    for sql in [
        "CREATE VIRTUAL TABLE message USING fts5(id, session_id, data)",
        "CREATE/**/VIRTUAL TABLE message USING fts5(id, session_id, data)",
        "create virtual table message USING fts5(id, session_id, data)",
    ] {
        let folder = Folder::new();
        let path = folder.path().join("opencode.db");
        let database = write(&path, &story());
        database
            .pragma_update(None, "writable_schema", true)
            .unwrap();
        let update = "UPDATE sqlite_schema SET sql = ?1, rootpage = 0 WHERE name = 'message'";
        database.execute(update, params![sql]).unwrap();
        drop(database);
        let mut log = Log::empty();
        import(&mut log, &path);
        let named = log.report.broken.iter().any(|broken| {
            broken.reason.contains("it has no table \"message\"")
                || broken.reason.contains("the database cannot be read")
        });
        assert!(named, "{sql}: {}", log.report);
    }
}

#[test]
fn odd_rows_are_named_and_the_others_are_read() {
    let mut rows = story();
    rows.extend([
        Row::Message("z1", "ses_1", json!([])),
        Row::Part("z2", "m2", "ses_1", json!(5)),
        Row::Part(
            "z3",
            "nowhere",
            "ses_1",
            json!({ "type": "text", "text": "lost and found" }),
        ),
        Row::Part("z4", "m2", "ses_1", json!({ "type": "tool", "state": 7 })),
        Row::Part("z5", "m2", "ses_1", json!({ "type": "novelty" })),
        Row::Message(
            "z6",
            "ses_1",
            json!({ "role": "assistant", "tokens": { "input": -1 } }),
        ),
        Row::Part(
            "z7",
            "m2",
            "",
            json!({ "type": "text", "text": "of no session" }),
        ),
    ]);
    let log = imported(&rows);
    assert_eq!(log.report.broken_count, 4, "{}", log.report);
    assert_eq!((prompts(&log).len(), calls(&log).len()), (1, 3));
    let frames = log.frames();
    assert!(
        frames.contains(&"step_summary: lost and found".to_owned()),
        "{frames:#?}"
    );
    assert!(
        frames.contains(&"novelty: novelty".to_owned()),
        "{frames:#?}"
    );
}

#[test]
fn secrets_are_taken_out_of_cells() {
    let secret = format!(
        "ghp_{}",
        "a1B2c3D4e5F6g7H8i9J0".repeat(2).get(..36).unwrap()
    );
    let text = format!("Use {secret} here");
    let rows = [
        Row::Session("ses_1", None),
        Row::Message("m1", "ses_1", user()),
        Row::Part("p1", "m1", "ses_1", json!({ "type": "text", "text": text })),
    ];
    let log = imported(&rows);
    let prompts = prompts(&log);
    assert!(
        !prompts[0].contains(&secret) && prompts[0].starts_with("Use "),
        "{prompts:?}"
    );
}

/// A column of text has nothing in quotes.
#[test]
fn secrets_are_taken_out_of_columns_of_text() {
    let secret = format!("ghp_{}", "Ab3".repeat(12));
    let folder = Folder::new();
    let path = folder.path().join("opencode.db");
    let database = write(&path, &story());
    let set = "UPDATE session SET directory = ?1, version = ?1, title = ?1";
    database
        .execute(set, params![format!("/p/{secret}/x")])
        .unwrap();
    drop(database);
    let mut log = Log::empty();
    import(&mut log, &path);
    assert!(log.report.broken.is_empty(), "{}", log.report);
    assert!(
        log.report
            .redacted
            .kinds()
            .iter()
            .any(|kind| kind.to_string().contains("github-token"))
    );
    let all = format!("{:?}", log.entries());
    assert!(!all.contains("Ab3Ab3"), "{all}");
}

/// The program writes a message's tokens again while it works.
#[test]
fn tokens_count_when_their_message_is_over() {
    let message = |input: u64, is_over: bool| {
        let mut data = assistant(tokens(input, 10, 0, 1, 0));
        if !is_over {
            data["time"] = json!({ "created": BEGIN + 2 });
        }
        let text =
            json!({ "type": "text", "text": "Hi", "time": { "start": BEGIN, "end": BEGIN + 1 } });
        [
            Row::Session("ses_1", None),
            Row::Message("m1", "ses_1", data),
            Row::Part("p1", "m1", "ses_1", text),
        ]
    };
    let mut log = Log::empty();
    let mut folders = Vec::new();
    for (input, is_over) in [(5, false), (50, true), (50, true)] {
        let folder = Folder::new();
        let path = folder.path().join("opencode.db");
        drop(write(&path, &message(input, is_over)));
        import(&mut log, &path);
        folders.push(folder);
    }
    assert_eq!(log.tokens(), [50, 1, 0, 10]);
}

/// A program that was killed leaves a message open. With `--ended` it is as it will be.
#[test]
fn what_was_left_open_is_read_of_sessions_that_are_over() {
    let mut data = assistant(tokens(5, 10, 0, 1, 0));
    data["time"] = json!({ "created": BEGIN + 2 });
    let text = json!({ "type": "text", "text": "Half a", "time": { "start": BEGIN } });
    let rows = [
        Row::Session("ses_1", None),
        Row::Message("m1", "ses_1", data),
        Row::Part("p1", "m1", "ses_1", text),
    ];
    let folder = Folder::new();
    let path = folder.path().join("opencode.db");
    drop(write(&path, &rows));
    let log = Log::empty();
    for (ended, frames, tokens) in [(false, 0, [0; 4]), (true, 1, [5, 1, 0, 10])] {
        let options = annals_dialects::import::ImportOptions::default().with_ended(ended);
        let mut none = |_| {};
        let imported =
            annals_dialects::import::recordings(&log.annals, &path, None, &options, &mut none);
        futures::executor::block_on(imported).unwrap();
        assert_eq!((log.frames().len(), log.tokens()), (frames, tokens));
    }
}

#[test]
fn another_database_is_not_known() {
    let folder = Folder::new();
    let path = folder.path().join("other.db");
    Connection::open(&path)
        .unwrap()
        .execute_batch("CREATE TABLE spans (id, trace_id)")
        .unwrap();
    let bytes = fs::read(&path).unwrap();
    assert!(bytes.starts_with(b"SQLite format 3"));
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let said = refused(Some("opencode"), "lines.db", "{\"a\":1}\n{\"b\":2}\n");
    assert!(said.contains("is not a recording that is known"), "{said}");
    let said = refused(None, "other.db", &text);
    assert!(said.contains("is not a recording that is known"), "{said}");
}

const NEWER_SCHEMA: &str = "
    CREATE TABLE session_v2 (id TEXT PRIMARY KEY, project_id TEXT NOT NULL, parent_id TEXT,
        fork_session_id TEXT, fork_boundary TEXT, slug TEXT NOT NULL, directory TEXT NOT NULL, title TEXT,
        version TEXT NOT NULL, cost REAL NOT NULL DEFAULT 0, time_created INTEGER NOT NULL,
        time_updated INTEGER NOT NULL);
    CREATE TABLE session_message (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, type TEXT NOT NULL,
        seq INTEGER NOT NULL, time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL, data TEXT NOT NULL);";

/// The tables of the second generation, in the making. Each row is a millisecond after the one before.
struct Newer {
    database: Connection,
    at: i64,
}

impl Newer {
    /// In a database that may have those of the first one.
    fn within(database: Connection, at: i64) -> Newer {
        database.execute_batch(NEWER_SCHEMA).unwrap();
        Newer { database, at }
    }

    fn in_folder(folder: &Folder) -> Newer {
        let path = folder.path().join("opencode.db");
        Newer::within(Connection::open(path).unwrap(), BEGIN)
    }

    fn session(&mut self, id: &str, parent: Option<&str>, fork_of: Option<&str>) -> &mut Newer {
        self.at += 1;
        let values = params![id, parent, fork_of, self.at];
        let insert = "INSERT INTO session_v2 (id, project_id, parent_id, fork_session_id, slug, directory, title, \
                      version, time_created, time_updated) \
                      VALUES (?1, 'p', ?2, ?3, 's', '/p', 'Title of ' || ?1, '2.0.3', ?4, ?4)";
        self.database.execute(insert, values).unwrap();
        self
    }

    fn row(&mut self, session: &str, id: &str, kind: &str, mut data: Value) -> &mut Newer {
        self.at += 1;
        if data["time"].is_null() {
            data["time"] = json!({ "created": self.at });
        }
        let last = "SELECT coalesce(max(seq), 0) + 1 FROM session_message WHERE session_id = ?1";
        let seq: i64 = self
            .database
            .query_row(last, [session], |row| row.get(0))
            .unwrap();
        let values = params![id, session, kind, seq, self.at, data.to_string()];
        let insert = "INSERT INTO session_message VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?6)";
        self.database.execute(insert, values).unwrap();
        self
    }

    fn user(&mut self, session: &str, id: &str, text: &str) -> &mut Newer {
        self.row(session, id, "user", json!({ "text": text }))
    }

    /// A message of the model that is over.
    fn says(&mut self, session: &str, id: &str, content: Value, tokens: Value) -> &mut Newer {
        let time = json!({ "created": self.at + 1, "completed": self.at + 1 });
        let data = json!({
            "agent": "build", "model": { "id": "gpt-1", "providerID": "openai" }, "time": time,
            "content": content, "finish": "stop", "cost": 0.01, "tokens": tokens,
        });
        self.row(session, id, "assistant", data)
    }

    /// Copies the first rows of a session to another one, as a fork has them.
    fn copies(&mut self, from: &str, to: &str, rows: i64) -> &mut Newer {
        let insert = "INSERT INTO session_message \
                      SELECT ?2 || '_' || seq, ?2, type, seq, time_created, time_updated, data \
                      FROM session_message WHERE session_id = ?1 AND seq <= ?3";
        let values = params![from, to, rows];
        self.database.execute(insert, values).unwrap();
        self
    }

    /// A session with something of everything.
    fn story(&mut self, session: &str) -> &mut Newer {
        let id = |name: &str| format!("{session}_{name}");
        let diff = "Index: a.ts\n===\n--- a.ts\n+++ a.ts\n@@ -1,1 +1,2 @@\n hi();\n+bob();\n";
        let said = |text: &str| json!([{ "type": "text", "text": text }]);
        let tool = |id: &str, name: &str, state: Value| {
            let time = json!({ "created": BEGIN + 4, "ran": BEGIN + 5, "completed": BEGIN + 8 });
            json!({ "type": "tool", "id": id, "name": name, "state": state, "time": time })
        };
        let content = json!([
            { "type": "reasoning", "text": "Look first.", "time": { "created": BEGIN + 3 } },
            { "type": "text", "id": "t", "text": "I look." },
            tool("call_1", "read", json!({ "status": "completed", "input": { "path": "/p/a.ts" },
                "content": said("hi();"), "structured": { "truncated": false } })),
            tool("call_2", "edit", json!({ "status": "completed",
                "input": { "path": "/p/a.ts", "oldString": "hi();", "newString": "hi();\nbob();" },
                "content": said("Edited a.ts"), "metadata": { "files": [{ "file": "a.ts", "patch": diff }] } })),
            tool("call_3", "shell", json!({ "status": "error", "input": { "command": "make" },
                "error": { "type": "tool.execution", "message": "no make" } })),
        ]);
        self.row(session, &id("1"), "agent-switched", json!({ "agent": "build" }))
            .row(session, &id("2"), "system", json!({ "text": "You are an agent." }))
            .row(session, &id("3"), "user", json!({ "text": "Greet Bob",
                "files": [{ "uri": "file:///p/a.ts", "mime": "text/plain" }] }))
            .says(session, &id("4"), content, tokens(10, 5, 3, 60, 4))
            .row(session, &id("5"), "synthetic", json!({ "text": "A file changed" }))
            .row(session, &id("6"), "shell", json!({ "shellID": "sh_1", "command": "ls", "status": "exited",
                "exit": 0, "output": { "output": "a.ts", "cursor": 4, "size": 4, "truncated": false },
                "time": { "created": BEGIN + 9, "completed": BEGIN + 10 } }))
            .row(session, &id("7"), "compaction", json!({ "status": "completed", "reason": "auto",
                "summary": "We greet Bob.", "recent": "", "tokens": tokens(7, 1, 2, 0, 0) }))
            .row(session, &id("8"), "assistant", json!({ "agent": "build", "content": [],
                "model": { "id": "gpt-1", "providerID": "openai" },
                "error": { "type": "aborted", "message": "Step interrupted" } }))
            .row(session, &id("9"), "idle", json!({ "outcome": "interrupted" }))
    }
}

/// A log of what a folder's database has.
fn log_of_folder(folder: &Folder) -> Log {
    let mut log = Log::empty();
    import(&mut log, &folder.path().join("opencode.db"));
    log
}

#[test]
fn a_session_of_the_second_generation_has_its_prompt_calls_edits_and_tokens() {
    let folder = Folder::new();
    Newer::in_folder(&folder)
        .session("ses_1", None, None)
        .story("ses_1");
    let mut log = log_of_folder(&folder);
    assert_eq!(log.report.broken, [], "{}", log.report);
    assert_eq!(prompts(&log), ["Greet Bob"]);
    let expected = [
        "read ok: hi();",
        "edit ok: Edited a.ts",
        "shell error: no make",
        "shell ok: a.ts",
    ];
    assert_eq!(calls(&log), expected);
    assert_eq!(log.tokens(), [10 + 7, 60, 4, 8 + 3]);
    let diff = "--- a/a.ts\n+++ b/a.ts\n@@ -1,1 +1,2 @@\n hi();\n+bob();\n";
    let edit = (vec!["modify a.ts +1 -0".to_owned()], diff.to_owned());
    assert_eq!(edits(&log), [edit]);
    let frames = log.frames();
    for expected in [
        "agent-switched: agent-switched",
        "system_state: You are an agent.",
        "intent_analysis: Greet Bob",
        "file: file",
        "thinking: Look first.",
        "step_summary: I look.",
        "system_state: A file changed",
        "checkpoint: We greet Bob.",
        "system_state: aborted: Step interrupted",
    ] {
        let count = frames.iter().filter(|it| *it == expected).count();
        assert_eq!(count, 1, "{expected}: {frames:#?}");
    }
    assert_eq!((log.report.waiting, log.count("task.created")), (0, 1));
    assert_eq!(skipped(&log.report).get("idle"), Some(&1));
    for (path, fates) in [
        ("title", [1, 0, 0]),
        ("content[].state.input", [3, 0, 0]),
        ("tokens.input", [2, 0, 0]),
        ("text", [3, 0, 0]),
    ] {
        assert_eq!(log.fates(path), fates, "{path} in {}", log.report);
    }
    let end = log.annals.position();
    import(&mut log, &folder.path().join("opencode.db"));
    assert_eq!(log.annals.position(), end, "{}", log.report);
}

/// At first the table of sessions had its old name.
#[test]
fn messages_of_the_second_generation_are_read_of_sessions_in_either_table() {
    let folder = Folder::new();
    let mut newer = Newer::in_folder(&folder);
    newer.session("ses_1", None, None).story("ses_1");
    let rename = "DROP TABLE IF EXISTS session; ALTER TABLE session_v2 RENAME TO session";
    newer.database.execute_batch(rename).unwrap();
    let log = log_of_folder(&folder);
    assert_eq!(log.report.broken, [], "{}", log.report);
    assert_eq!((prompts(&log).len(), calls(&log).len()), (1, 4));
    assert_eq!(log.fates("directory"), [1, 0, 0]);
}

#[test]
fn a_session_of_the_second_generation_with_a_parent_is_a_sub_agent() {
    let folder = Folder::new();
    Newer::in_folder(&folder)
        .session("ses_1", None, None)
        .session("ses_0", Some("ses_1"), None)
        .user("ses_1", "m1", "Greet Bob")
        .user("ses_0", "m2", "Find Bob")
        .says(
            "ses_0",
            "m3",
            json!([{ "type": "text", "text": "There." }]),
            tokens(1, 1, 0, 0, 0),
        );
    let log = log_of_folder(&folder);
    assert_eq!(log.report.broken, [], "{}", log.report);
    assert_eq!(prompts(&log), ["Greet Bob"]);
    assert_eq!(log.count("task.created"), 2);
    let frames = log.frames();
    assert!(frames.contains(&"intent_analysis: Find Bob".to_owned()));
}

/// A fork has copies of the messages before it, under ids of its own.
#[test]
fn what_a_fork_copies_counts_once() {
    let text = |text: &str| json!([{ "type": "text", "text": text }]);
    for is_restamped in [false, true] {
        let folder = Folder::new();
        let mut newer = Newer::in_folder(&folder);
        newer
            .session("ses_9", None, None)
            .user("ses_9", "m1", "Go on")
            .says("ses_9", "m2", text("One"), tokens(10, 1, 0, 0, 0))
            .user("ses_9", "m3", "Not that")
            // Newer sessions have ids that come before others.
            .session("ses_5", None, Some("ses_9"))
            .copies("ses_9", "ses_5", 2)
            .user("ses_5", "m4", "Go on")
            .says("ses_5", "m5", text("Two"), tokens(100, 2, 0, 0, 0))
            .session("ses_1", None, Some("ses_5"))
            .copies("ses_5", "ses_1", 4)
            .user("ses_1", "m6", "Go on");
        if is_restamped {
            let set = "UPDATE session_v2 SET time_created = ?1";
            newer.database.execute(set, params![BEGIN]).unwrap();
            let set = "UPDATE session_v2 SET time_created = time_created + 1 WHERE id = 'ses_5'; \
                       UPDATE session_v2 SET time_created = time_created + 2 WHERE id = 'ses_1';";
            newer.database.execute_batch(set).unwrap();
        }
        let log = log_of_folder(&folder);
        assert_eq!(log.report.broken, [], "{}", log.report);
        let asked = prompts(&log);
        let all = asked.iter().filter(|it| *it == "Go on").count();
        assert_eq!((asked.len(), all), (4, 3), "{is_restamped}: {asked:?}");
        assert_eq!(log.tokens(), [110, 0, 0, 3]);
        let copied = "user (of the session that it was forked from)";
        assert_eq!(skipped(&log.report).get(copied), Some(&3));
        // Without the sessions that they were forked from, nothing else has the messages.
        newer
            .database
            .execute_batch(
                "DELETE FROM session_v2 WHERE id <> 'ses_1'; \
                 DELETE FROM session_message WHERE session_id <> 'ses_1';",
            )
            .unwrap();
        let log = log_of_folder(&folder);
        assert_eq!((prompts(&log).len(), log.tokens()), (3, [110, 0, 0, 3]));
    }
}

/// In the first generation nothing names the session that another one was forked from.
#[test]
fn what_a_fork_of_the_first_generation_copies_counts_once() {
    let said = |text: &str| json!({ "type": "text", "text": text });
    let folder = Folder::new();
    let database = write(
        &folder.path().join("opencode.db"),
        &[
            Row::Session("ses_9", None),
            Row::Message("m1", "ses_9", user()),
            Row::Part("p1", "m1", "ses_9", said("Go on")),
            Row::Message("m2", "ses_9", assistant(tokens(10, 1, 0, 0, 0))),
            Row::Part("p2", "m2", "ses_9", said("One")),
        ],
    );
    let fork = "INSERT INTO session SELECT 'ses_5', project_id, NULL, slug, directory, 'Title (fork #1)', version, \
                time_created + 20, time_updated + 20 FROM session; \
                INSERT INTO message SELECT 'f' || id, 'ses_5', time_created, time_updated, \
                replace(data, '\"parentID\":\"m1\"', '\"parentID\":\"fm1\"') FROM message; \
                INSERT INTO part SELECT 'f' || id, 'f' || message_id, 'ses_5', time_created, time_updated, data FROM part;";
    database.execute_batch(fork).unwrap();
    add(
        &database,
        &[
            Row::Message("m3", "ses_5", user()),
            Row::Part("p3", "m3", "ses_5", said("Go on")),
        ],
        30,
    );
    let log = log_of_folder(&folder);
    assert_eq!(log.report.broken, [], "{}", log.report);
    assert_eq!(prompts(&log), ["Go on", "Go on"]);
    assert_eq!(log.tokens(), [10, 0, 0, 1]);
}

/// A program of the second generation leaves the older tables as they were, and goes on in the newer ones.
#[test]
fn a_session_in_the_tables_of_both_generations_is_read_once() {
    for keeps_ids in [true, false] {
        let folder = Folder::new();
        let path = folder.path().join("opencode.db");
        let database = write(&path, &story());
        let older = log_of_folder(&folder);
        let mut newer = Newer::within(database, BEGIN - 10);
        newer.session("ses_1", None, None);
        newer.at = BEGIN;
        let id = |id: &str| match keeps_ids {
            true => id.to_owned(),
            false => format!("evt_{id}"),
        };
        let call = json!({ "type": "tool", "id": "call_1", "name": "bash", "state": {
            "status": "error", "input": { "command": "make" }, "error": { "message": "no make" } } });
        newer
            .user("ses_1", &id("m1"), "Greet \n\nBob")
            .row(
                "ses_1",
                &id("m1x"),
                "synthetic",
                json!({ "text": "Called the Read tool" }),
            )
            .says("ses_1", &id("m2"), json!([call]), tokens(20, 2, 0, 0, 0));
        let mut log = log_of_folder(&folder);
        assert_eq!(log.report.broken, [], "{}", log.report);
        assert_eq!(prompts(&log), prompts(&older));
        assert_eq!(calls(&log), calls(&older));
        assert_eq!(log.frames(), older.frames());
        assert_eq!(log.tokens(), older.tokens());
        // It goes on, with a prompt that it had before.
        newer.at = BEGIN + 100;
        newer.user("ses_1", "m9", "Greet Bob").says(
            "ses_1",
            "m10",
            json!([{ "type": "text", "text": "Again" }]),
            tokens(1, 1, 0, 0, 0),
        );
        import(&mut log, &path);
        assert_eq!(log.report.broken, [], "{}", log.report);
        assert_eq!(prompts(&log), ["Greet Bob", "Greet Bob"]);
        let [input, read, write, output] = older.tokens();
        assert_eq!(log.tokens(), [input + 1, read, write, output + 1]);
    }
}

#[test]
fn a_message_of_the_second_generation_waits_until_it_is_over() {
    let open = |at: i64, text: &str| {
        json!({
            "agent": "build", "model": { "id": "gpt-1", "providerID": "openai" }, "time": { "created": at },
            "content": [{ "type": "text", "text": text }],
        })
    };
    let folder = Folder::new();
    let mut newer = Newer::in_folder(&folder);
    newer
        .session("ses_1", None, None)
        .user("ses_1", "m1", "Greet Bob")
        .row("ses_1", "m2", "assistant", open(BEGIN, "I gr"))
        .user("ses_1", "m3", "And Eve");
    let mut log = log_of_folder(&folder);
    assert_eq!((log.report.waiting, prompts(&log).len()), (2, 1));
    let set = "UPDATE session_message SET data = ?1 WHERE id = 'm2'";
    let values = params![open(BEGIN, "I greet").to_string()];
    newer.database.execute(set, values).unwrap();
    // The program was killed; the next message of the model shows it.
    newer.says(
        "ses_1",
        "m4",
        json!([{ "type": "text", "text": "Both." }]),
        tokens(1, 1, 0, 0, 0),
    );
    import(&mut log, &folder.path().join("opencode.db"));
    assert_eq!(log.report.broken, [], "{}", log.report);
    assert_eq!((log.report.waiting, prompts(&log).len()), (0, 2));
    assert_same(&log, &log_of_folder(&folder), "at once");
    let frames = log.frames();
    assert!(
        frames.contains(&"step_summary: I greet".to_owned()),
        "{frames:#?}"
    );
}

/// What is not read is named, and the import is not complete.
#[test]
fn newer_tables_of_sessions_are_named() {
    let folder = Folder::new();
    let path = folder.path().join("opencode.db");
    let database = write(&path, &story());
    let tables = "CREATE TABLE session_v3 (id, name);
        CREATE TABLE turns (id, session_id, data);
        CREATE TABLE parts (id);
        CREATE TABLE session_share (id, session_id, data);
        CREATE TABLE todo (session_id, content);";
    database.execute_batch(tables).unwrap();
    assert_eq!(log_of_folder(&folder).report.broken, []);
    let rows =
        "INSERT INTO session_v3 VALUES (1, 'a'), (2, 'b'); INSERT INTO turns VALUES (1, 1, '{}');
        INSERT INTO session_share VALUES (1, 1, 1); INSERT INTO todo VALUES (1, 1);";
    database.execute_batch(rows).unwrap();
    let log = log_of_folder(&folder);
    let reasons: Vec<&str> = log
        .report
        .broken
        .iter()
        .map(|it| it.reason.as_str())
        .collect();
    assert_eq!(reasons.len(), 2, "{}", log.report);
    for (reason, expected) in reasons.iter().zip([
        "its table \"session_v3\" is not read, as its form is not known (rows: 2)",
        "its table \"turns\" is not read, as its form is not known (rows: 1)",
    ]) {
        assert!(reason.starts_with(expected), "{reason}");
    }
    assert_eq!(prompts(&log), ["Greet Bob"]);
}

#[test]
fn a_generation_of_tables_that_is_not_whole_is_named() {
    for (drop, expected) in [
        ("session_message", Some("session_message")),
        ("session_v2", Some("session_v2")),
        ("part", None),
    ] {
        let folder = Folder::new();
        let mut newer = Newer::in_folder(&folder);
        newer.session("ses_1", None, None).story("ses_1");
        let drop = format!("DROP TABLE IF EXISTS {drop}");
        newer.database.execute_batch(&drop).unwrap();
        let log = log_of_folder(&folder);
        let broken = &log.report.broken;
        let named = expected.map(|name| format!("it has no table \"{name}\""));
        let reasons: Vec<&String> = broken.iter().map(|it| &it.reason).collect();
        let is_named = named.iter().all(|named| reasons.contains(&named));
        assert!(is_named, "{expected:?}: {}", log.report);
        assert_eq!(reasons.is_empty(), expected.is_none(), "{}", log.report);
    }
}

#[test]
fn odd_messages_of_the_second_generation_are_named_and_the_others_are_read() {
    let folder = Folder::new();
    let mut newer = Newer::in_folder(&folder);
    newer
        .session("ses_1", None, None)
        .user("ses_1", "m1", "Greet Bob")
        .row("ses_1", "m2", "novelty", json!({ "x": 1 }))
        .row("ses_1", "m3", "user", json!({ "text": 5 }))
        .row("ses_1", "m4", "", json!({}))
        .says(
            "ses_1",
            "m5",
            json!([5, {}, { "type": "tool" }, { "type": "novelty" }, { "type": "text", "text": "Done" }]),
            json!({ "input": 1 }),
        )
        .row("ses_1", "m6", "shell", json!({}))
        .row("nowhere", "m7", "user", json!({ "text": "of no session" }));
    newer
        .database
        .execute_batch("UPDATE session_message SET data = '[]' WHERE id = 'm4'")
        .unwrap();
    let log = log_of_folder(&folder);
    assert_eq!(log.report.broken_count, 2, "{}", log.report);
    assert_eq!(prompts(&log), ["of no session", "Greet Bob"]);
    assert_eq!(log.tokens(), [1, 0, 0, 0]);
    let frames = log.frames();
    for expected in ["step_summary: Done", "novelty: novelty"] {
        assert!(frames.iter().any(|it| it == expected), "{frames:#?}");
    }
}
