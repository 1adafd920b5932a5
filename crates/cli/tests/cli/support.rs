//! A log in a temporary folder, and the program run on it.

use std::fs;
use std::io::{BufRead, BufReader, Read as _, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use annals::event_log::Digest;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A folder that goes when the test ends, with room for a log, or the program's log elsewhere.
pub struct Place {
    dir: TempDir,
    log: String,
}

/// What the program answered.
#[derive(Debug)]
pub struct Ran {
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Place {
    /// A place without a log.
    pub fn empty() -> Place {
        Place::at("log")
    }

    /// A place whose log has this URL, and is not made yet.
    pub fn at(log: impl Into<String>) -> Place {
        Place {
            dir: tempfile::tempdir().unwrap(),
            log: log.into(),
        }
    }

    /// A place with a new log.
    pub fn with_log() -> Place {
        let place = Place::empty();
        place.run(&["init"]).ok();
        place
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The log, as `--log` names it.
    pub fn log(&self) -> &str {
        &self.log
    }

    pub fn log_dir(&self) -> PathBuf {
        self.path("log")
    }

    /// The program, about to run on this place's log.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_annals"));
        command
            .args(args)
            .current_dir(self.dir.path())
            .env("ANNALS_LOG", &self.log)
            .env_remove("PGPASSWORD")
            .env("TZ", "UTC")
            // The name of the user who runs the tests is hidden.
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env_remove("GIT_AUTHOR_NAME")
            .env_remove("GIT_AUTHOR_EMAIL")
            .env_remove("ANNALS_ACTOR")
            // Settings of agents of the user who runs the tests do not count.
            .env("HOME", self.path("home"))
            .env_remove("CLAUDE_CONFIG_DIR")
            .env_remove("CLAUDE_PROJECT_DIR")
            .env_remove("CODEX_HOME")
            .env_remove("XDG_STATE_HOME")
            .env_remove("XDG_DATA_HOME")
            .env_remove("XDG_CONFIG_HOME")
            // An agent that runs the tests is not the one that runs the program.
            .env_remove("CLAUDECODE")
            .env_remove("CODEX_SANDBOX")
            .env_remove("CODEX_THREAD_ID")
            .env_remove("CURSOR_AGENT")
            .env_remove("GEMINI_CLI")
            .env_remove("RUST_LOG")
            .env_remove("NO_COLOR")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub fn run(&self, args: &[&str]) -> Ran {
        Ran::of(self.command(args).output().unwrap())
    }

    /// Runs the program with a text on its standard input.
    pub fn run_with(&self, args: &[&str], input: impl AsRef<[u8]>) -> Ran {
        let mut child = self.command(args).stdin(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.as_ref().to_vec();
        // Beside the reading of its answers, which fill a pipe. It may end before it has read everything.
        let writing = thread::spawn(move || {
            let _ = stdin.write_all(&input);
        });
        let ran = Ran::of(child.wait_with_output().unwrap());
        writing.join().unwrap();
        ran
    }

    /// Applies commands and gives the answers.
    pub fn apply(&self, commands: &[Value]) -> Vec<Value> {
        let lines: Vec<String> = commands
            .iter()
            .map(|command| format!("{command}\n"))
            .collect();
        let ran = self.run_with(&["apply"], lines.concat());
        let answers = ran.lines();
        assert_eq!(answers.len(), commands.len(), "{ran:?}");
        answers
    }

    /// Applies commands that must all be accepted, and gives their ids.
    pub fn accept(&self, commands: &[Value]) -> Vec<String> {
        let id = |answer: Value| {
            assert_eq!(answer["ok"], true, "{answer}");
            answer["id"].as_str().unwrap().to_owned()
        };
        self.apply(commands).into_iter().map(id).collect()
    }
}

impl Ran {
    pub fn of(output: Output) -> Ran {
        Ran {
            status: match output.status.code() {
                Some(status) => status,
                None => panic!("the program was killed: {output:?}"),
            },
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Demands success and silence on standard error.
    #[track_caller]
    pub fn ok(self) -> Ran {
        assert_eq!((self.status, self.stderr.as_str()), (0, ""), "{self:?}");
        self
    }

    /// Demands an exit status, and that standard error says all of `says`.
    #[track_caller]
    pub fn fails(self, status: i32, says: &[&str]) -> Ran {
        assert_eq!(self.status, status, "{self:?}");
        for text in says {
            assert!(
                self.stderr.contains(text),
                "{text:?} is not in {}",
                self.stderr
            );
        }
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        self
    }

    /// Standard output as one JSON value.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Standard output as a JSON value a line.
    #[track_caller]
    pub fn lines(&self) -> Vec<Value> {
        let parse =
            |line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}: {self:?}"));
        self.stdout.lines().map(parse).collect()
    }

    /// Standard error as the error that `--json` prints; gives its code.
    #[track_caller]
    pub fn error_code(&self) -> String {
        let error: Value =
            serde_json::from_str(&self.stderr).unwrap_or_else(|_| panic!("{self:?}"));
        assert!(error["error"]["message"].is_string());
        error["error"]["code"].as_str().unwrap().to_owned()
    }
}

/// A command of a person's.
pub fn human(name: &str, fields: Value) -> Value {
    by("human", "ada", name, fields)
}

/// A command of an agent's.
pub fn agent(name: &str, fields: Value) -> Value {
    by("agent", "coder", name, fields)
}

/// A decision on a tool call: a person's is given by a person, unless it is inferred.
pub fn decision(fields: Value) -> Value {
    let is_of_person = fields["by"] == "person" && fields["inferred"] != true;
    match is_of_person {
        true => human("decide_tool_call", fields),
        false => agent("decide_tool_call", fields),
    }
}

fn by(kind: &str, id: &str, name: &str, fields: Value) -> Value {
    let mut command = json!({ "command": name, "actor": { "kind": kind, "id": id } });
    let Value::Object(fields) = fields else {
        panic!("fields are an object")
    };
    command.as_object_mut().unwrap().extend(fields);
    command
}

/// A UUID whose last digits are a number's.
pub fn uuid(n: u64) -> String {
    format!("01980000-0000-7000-8000-{n:012x}")
}

/// The ids of a small history that has one of almost everything.
pub struct Story {
    pub intent: String,
    pub task: String,
    pub run: String,
    pub patch_set: String,
    pub pipeline: String,
}

/// An intent that led to a commit, in 14 commands.
pub fn story(place: &Place) -> Story {
    let (intent, task, run) = (
        uuid(0xa_0000_0001),
        uuid(0xa_0000_0002),
        uuid(0xa_0000_0003),
    );
    let (patch_set, pipeline) = (uuid(0xa_0000_0004), uuid(0xa_0000_0005));
    let oid = "1".repeat(40);
    place.accept(&[
        human("create_intent", json!({ "id": intent, "prompt": "Add a cache", "at": "2026-01-02T03:04:05Z" })),
        agent("analyze_intent", json!({ "intent": intent, "content": "Cache the parser's results" })),
        agent("activate_intent", json!({ "intent": intent, "reason": "clear enough" })),
        agent("create_pipeline", json!({ "id": pipeline, "max_frames": 8 })),
        agent("push_frame", json!({ "pipeline": pipeline, "kind": "step_summary", "summary": "read the parser" })),
        agent("create_task", json!({ "id": task, "title": "Cache it", "intent": intent })),
        agent("create_run", json!({ "id": run, "task": task, "commit": oid })),
        agent("start_patching", json!({ "run": run })),
        agent("record_tool_invocation", json!({ "run": run, "tool_name": "read", "args": { "path": "src/parser.rs" }, "status": "ok" })),
        agent("propose_patch_set", json!({
            "run": run, "id": patch_set, "format": "git_diff", "diff": format!("diff --git\n{}", "+x\n".repeat(3000)),
            "touched": [{ "path": "src/parser.rs", "change_type": "modify", "lines_added": 3000 }],
            "rationale": "The parser is slow",
        })),
        agent("start_validation", json!({ "run": run })),
        agent("record_evidence", json!({ "run": run, "patchset_id": patch_set, "kind": "test", "tool": "cargo", "command_line": "cargo test", "exit_code": 0 })),
        human("decide", json!({ "run": run, "decision_type": "commit", "chosen_patchset_id": patch_set, "result_commit_sha": "2".repeat(40) })),
        human("complete_intent", json!({ "intent": intent, "reason": "merged" })),
    ]);
    Story {
        intent,
        task,
        run,
        patch_set,
        pipeline,
    }
}

/// The root that `verify` prints.
pub fn root(place: &Place, log: &str) -> String {
    let verified = place.run(&["--log", log, "verify", "--json"]).ok().json();
    assert_eq!(verified["ok"], true);
    verified["root"].as_str().unwrap().to_owned()
}

/// A story, and large content that two events share.
pub fn grown() -> (Place, Story) {
    let place = Place::with_log();
    let story = grown_in(&place);
    (place, story)
}

/// The same in a log that is there.
pub fn grown_in(place: &Place) -> Story {
    let story = story(place);
    let push = agent(
        "push_frame",
        json!({ "pipeline": story.pipeline, "kind": "checkpoint", "summary": "x".repeat(5_000) }),
    );
    place.accept(&[push.clone(), push]);
    story
}

/// Every file with the digest of its content.
pub fn fingerprint(directory: &Path) -> Vec<(String, Digest)> {
    let file = |entry: fs::DirEntry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        (name, Digest::of(&fs::read(entry.path()).unwrap()))
    };
    let entries = fs::read_dir(directory).unwrap().map(Result::unwrap);
    // A socket has no content.
    let entries = entries.filter(|entry| entry.file_type().unwrap().is_file());
    let mut files: Vec<_> = entries.map(file).collect();
    files.sort_by(|a, b| a.0.cmp(&b.0));
    files
}

/// A process that has the log for itself and answers no other one, until its standard input is closed.
pub fn sole_owner(place: &Place) -> Child {
    let mut owner = place
        .command(&["apply", "--exclusive"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    // It refuses a line when it has the log, and not before.
    writeln!(owner.stdin.as_mut().unwrap(), "{{}}").unwrap();
    let mut said = String::new();
    let mut answers = BufReader::new(owner.stdout.as_mut().unwrap());
    answers.read_line(&mut said).unwrap();
    assert!(said.contains(r#""ok":false"#), "{said}");
    owner
}

/// A program that runs until it is ended, and prints a JSON value a line.
pub struct Running {
    pub child: Child,
    lines: std::io::Lines<BufReader<ChildStdout>>,
}

impl Running {
    pub fn of(mut command: Command) -> Running {
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Running { child, lines }
    }

    /// What it prints next.
    #[track_caller]
    pub fn next(&mut self) -> Value {
        let line = self.lines.next().expect("it goes on").unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// Ends it as a service is ended.
    pub fn terminate(&self) {
        let pid = self.child.id().to_string();
        Command::new("kill").arg(pid).status().unwrap();
    }

    /// The same, and waits until it has ended well; returns what it printed to standard error, if that is a pipe.
    #[track_caller]
    pub fn end(mut self) -> String {
        self.terminate();
        assert!(self.child.wait().unwrap().success());
        let mut warned = String::new();
        if let Some(mut stderr) = self.child.stderr.take() {
            stderr.read_to_string(&mut warned).unwrap();
        }
        warned
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until something is so, and not for ever.
#[track_caller]
pub fn wait_for(is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(120), "it never is");
        thread::sleep(Duration::from_millis(20));
    }
}

/// The bytes that a text in base 64 stands for.
pub(crate) fn unbase64(text: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits = text
        .bytes()
        .filter_map(|byte| DIGITS.iter().position(|digit| *digit == byte));
    let (mut bytes, mut bits, mut many) = (Vec::new(), 0_usize, 0);
    for digit in digits {
        (bits, many) = (bits << 6 | digit, many + 6);
        if many >= 8 {
            many -= 8;
            bytes.push((bits >> many & 0xff) as u8);
            bits &= (1 << many) - 1;
        }
    }
    bytes
}
