//! Recordings made for tests, line by line.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use tempfile::TempDir;

/// A recording in the making. Each line is a second after the one before.
#[derive(Clone)]
pub(crate) struct Recording {
    pub(crate) session: String,
    pub(crate) lines: Vec<Value>,
    side: Option<Value>,
    second: u32,
}

impl Recording {
    pub(crate) fn of(session: &str) -> Recording {
        Recording {
            session: session.to_owned(),
            lines: Vec::new(),
            side: None,
            second: 0,
        }
    }

    /// Begins so many seconds later.
    pub(crate) fn after(mut self, seconds: u32) -> Recording {
        self.second = seconds;
        self
    }

    /// The lines that follow are on a side chain; null has no `agentId`.
    pub(crate) fn on_side(&mut self, agent: Value) -> &mut Recording {
        self.side = Some(agent);
        self
    }

    pub(crate) fn on_main(&mut self) -> &mut Recording {
        self.side = None;
        self
    }

    /// A line of any kind, with the fields that all lines of a session have.
    pub(crate) fn line(&mut self, kind: &str, fields: Value) -> &mut Recording {
        let number = self.lines.len();
        let time = format!(
            "2026-01-02T{:02}:{:02}:{:02}.000Z",
            3 + self.second / 3600,
            self.second / 60 % 60,
            self.second % 60
        );
        self.second += 1;
        let parent = match number {
            0 => Value::Null,
            n => json!(format!("{}-{}", self.session, n - 1)),
        };
        let mut line = json!({
            "parentUuid": parent, "isSidechain": self.side.is_some(), "userType": "external",
            "cwd": "/home/ada/project", "sessionId": self.session, "version": "2.0.0",
            "gitBranch": "main", "type": kind, "uuid": format!("{}-{number}", self.session),
            "timestamp": time,
        });
        if let Some(agent @ Value::String(_)) = &self.side {
            line["agentId"] = agent.clone();
        }
        extend(&mut line, fields);
        self.lines.push(line);
        self
    }

    /// A line as it is.
    pub(crate) fn raw(&mut self, line: Value) -> &mut Recording {
        self.lines.push(line);
        self
    }

    /// Sets fields of the newest line.
    pub(crate) fn with(&mut self, fields: Value) -> &mut Recording {
        extend(self.lines.last_mut().unwrap(), fields);
        self
    }

    /// What the user says: a text, or a list of parts.
    pub(crate) fn user(&mut self, content: Value) -> &mut Recording {
        self.line(
            "user",
            json!({ "message": { "role": "user", "content": content } }),
        )
    }

    /// What the model says, as a line of a message.
    pub(crate) fn says(&mut self, message: &str, part: Value, tokens: [u64; 4]) -> &mut Recording {
        let [input, cache_read, cache_write, output] = tokens;
        let usage = json!({
            "input_tokens": input, "cache_read_input_tokens": cache_read,
            "cache_creation_input_tokens": cache_write, "output_tokens": output,
        });
        let message = json!({
            "id": message, "type": "message", "role": "assistant", "model": "model-1",
            "content": [part], "stop_reason": null, "usage": usage,
        });
        self.line("assistant", json!({ "message": message }))
    }

    pub(crate) fn text(&mut self, message: &str, text: &str) -> &mut Recording {
        self.says(
            message,
            json!({ "type": "text", "text": text }),
            [1, 2, 3, 4],
        )
    }

    pub(crate) fn calls(
        &mut self,
        message: &str,
        id: &str,
        tool: &str,
        input: Value,
    ) -> &mut Recording {
        let part = json!({ "type": "tool_use", "id": id, "name": tool, "input": input });
        self.says(message, part, [1, 2, 3, 4])
    }

    pub(crate) fn result(&mut self, id: &str, content: Value, is_error: bool) -> &mut Recording {
        let mut part = json!({ "type": "tool_result", "tool_use_id": id, "content": content });
        if is_error {
            part["is_error"] = json!(true);
        }
        self.user(json!([part]))
    }

    /// The text of the file: all lines, or the first ones.
    pub(crate) fn file(&self, lines: usize) -> String {
        let lines = self.lines.iter().take(lines);
        lines.map(|line| format!("{line}\n")).collect()
    }

    /// The name of a line.
    pub(crate) fn name(&self, line: usize) -> String {
        format!("{}-{line}", self.session)
    }
}

fn extend(line: &mut Value, fields: Value) {
    let fields: Map<String, Value> = serde_json::from_value(fields).unwrap();
    for (name, value) in fields {
        line[name] = value;
    }
}

/// A folder of recordings.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }
}

/// A session with something of everything that a session has of its own.
pub(crate) fn story() -> Recording {
    let mut story = Recording::of("story");
    story
        .raw(json!({ "type": "summary", "summary": "What was before", "leafUuid": "leaf" }))
        .user(json!("<command-name>/clear</command-name>"))
        .with(json!({ "isMeta": true }))
        .user(json!("Add a cache\nand test it"))
        .says("m1", json!({ "type": "thinking", "thinking": "Look first.", "signature": "x" }), [1, 2, 3, 1])
        .says("m1", json!({ "type": "text", "text": "I look at the parser." }), [1, 2, 3, 3])
        .calls("m1", "t1", "Read", json!({ "file_path": "/home/ada/project/src/parser.rs" }))
        .calls("m1", "t2", "Bash", json!({ "command": "ls" }))
        .result("t1", json!("fn parse() {}"), false)
        .result("t2", json!([{ "type": "text", "text": "ls: no" }]), true)
        .calls("m2", "t3", "Edit", json!({ "file_path": "/home/ada/project/src/parser.rs", "old_string": "a\n", "new_string": "b\nc\n" }))
        .result("t3", json!("done"), false)
        .with(json!({ "toolUseResult": { "structuredPatch": [{ "oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 2, "lines": ["-a", "+b", "+c"] }] } }))
        .line("system", json!({ "subtype": "compact_boundary", "content": "Conversation compacted", "compactMetadata": { "trigger": "auto", "preTokens": 9 } }))
        .user(json!("This session is being continued"))
        .with(json!({ "isCompactSummary": true }))
        .user(json!([{ "type": "text", "text": "And now faster" }, { "type": "image", "source": { "type": "base64", "data": "AAAA" } }]))
        .calls("m3", "t4", "Write", json!({ "file_path": "/home/ada/project/new.rs", "content": "x\n" }))
        .user(json!([{ "type": "text", "text": "[Request interrupted by user]" }]))
        .user(json!("Never mind"))
        .text("m4", "All right.");
    story
}
