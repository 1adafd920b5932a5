//! A log in a temporary folder, a viewer on it, and requests as bytes.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::time::Duration;

use annals::blocking::Wait;
use annals::domain::{ActorRef, Command};
use annals::event_log::Digest;
use annals::{Annals, OpenOptions, Request};
use annals_viewer::{Viewer, ViewerOptions};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

/// A log, open for writing.
pub struct Place {
    pub dir: TempDir,
    pub annals: Annals,
}

impl Place {
    pub fn new() -> Place {
        let dir = tempfile::tempdir().unwrap();
        let options = OpenOptions::new().create_new(true);
        let annals = options
            .open(dir.path().join("log").to_str().unwrap())
            .unwrap();
        Place { dir, annals }
    }

    pub fn log(&self) -> String {
        self.dir.path().join("log").to_str().unwrap().to_owned()
    }

    /// Gives a command, which must be accepted.
    pub fn give(&self, actor: ActorRef, name: &str, fields: Value) {
        let command = Command::from_json(name, &fields.to_string()).unwrap();
        let request = Request::new(actor, command);
        self.annals.execute(request).wait().unwrap();
    }

    pub fn human(&self, name: &str, fields: Value) {
        self.give(ActorRef::human("ada"), name, fields);
    }

    pub fn agent(&self, name: &str, fields: Value) {
        self.give(ActorRef::agent("coder"), name, fields);
    }

    /// The root over all records.
    pub fn root(&self) -> Digest {
        self.annals.proofs().head(None).wait().unwrap().root
    }
}

/// A UUID whose last digits are a number's.
pub fn uuid(n: u64) -> String {
    format!("01980000-0000-7000-8000-{n:012x}")
}

pub const INTENT: u64 = 0xa_0000_0001;
pub const TASK: u64 = 0xa_0000_0002;
pub const RUN: u64 = 0xa_0000_0003;
pub const PATCH_SET: u64 = 0xa_0000_0004;
pub const PIPELINE: u64 = 0xa_0000_0005;
pub const PLAN: u64 = 0xa_0000_0006;
pub const CALL: u64 = 0xa_0000_0007;
/// What no page may take for anything but text.
pub const SCRIPT: &str =
    "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">";

/// An intent that led to a commit, whose prompt, file, arguments and output try to be scripts.
pub fn story(place: &Place) {
    let (intent, task, run) = (uuid(INTENT), uuid(TASK), uuid(RUN));
    let oid = "1".repeat(40);
    place.human(
        "create_intent",
        json!({ "id": intent, "prompt": format!("Add a cache {SCRIPT}") }),
    );
    place.agent(
        "analyze_intent",
        json!({ "intent": intent, "content": "Cache the parser's results" }),
    );
    place.agent(
        "activate_intent",
        json!({ "intent": intent, "reason": "clear enough" }),
    );
    place.agent(
        "create_pipeline",
        json!({ "id": uuid(PIPELINE), "max_frames": 3 }),
    );
    place.agent(
        "create_plan",
        json!({ "id": uuid(PLAN), "intent": intent, "pipeline": uuid(PIPELINE) }),
    );
    for n in 0..5 {
        place.agent("push_frame", json!({ "pipeline": uuid(PIPELINE), "kind": "step_summary", "summary": format!("read {n} {SCRIPT}"), "token_estimate": 100 + n }));
    }
    place.agent(
        "create_task",
        json!({ "id": task, "title": "Cache it", "intent": intent }),
    );
    place.agent(
        "create_run",
        json!({ "id": run, "task": task, "plan": uuid(PLAN), "commit": oid }),
    );
    place.agent("start_patching", json!({ "run": run }));
    place.agent("record_tool_invocation", json!({
        "run": run, "id": uuid(CALL), "tool_name": "read", "args": { "path": format!("src/{SCRIPT}.rs") },
        "status": "ok", "duration_ms": 1_200, "result_summary": format!("</pre>{SCRIPT}"),
    }));
    place.agent("record_tool_invocation", json!({ "run": run, "tool_name": "bash", "args": { "command": "cargo test" }, "status": "error", "duration_ms": 7_200, "result_summary": "1 failed" }));
    place.agent("propose_patch_set", json!({
        "run": run, "id": uuid(PATCH_SET), "format": "git_diff", "diff": format!("diff --git a/p b/p\n@@ -1 +1,2 @@\n-old\n+{SCRIPT}\n same\n"),
        "touched": [{ "path": format!("src/{SCRIPT}.rs"), "change_type": "modify", "lines_added": 1, "lines_deleted": 1 }],
        "rationale": format!("The parser is slow {SCRIPT}"),
    }));
    place.agent("start_validation", json!({ "run": run }));
    place.agent("record_evidence", json!({ "run": run, "patchset_id": uuid(PATCH_SET), "kind": "test", "tool": "cargo", "command_line": "cargo test", "exit_code": 0 }));
    place.human("decide", json!({ "run": run, "decision_type": "commit", "chosen_patchset_id": uuid(PATCH_SET), "result_commit_sha": "2".repeat(40) }));
    place.human(
        "complete_intent",
        json!({ "intent": intent, "reason": "merged" }),
    );
    place.human("submit_intent", json!({ "prompt": format!("Delete the database {SCRIPT}"), "source": "human", "risk": "high" }));
}

/// A viewer at work, beside the process that owns the log.
pub struct Viewing {
    pub address: SocketAddr,
    _runtime: Runtime,
    end: Option<oneshot::Sender<()>>,
    running: Option<tokio::task::JoinHandle<()>>,
}

impl Viewing {
    pub fn of(place: &Place) -> Viewing {
        let mut options = ViewerOptions::new(([127, 0, 0, 1], 0).into());
        options.folder = Some(place.log().into());
        Viewing::with(place, options)
    }

    pub fn with(place: &Place, options: ViewerOptions) -> Viewing {
        let reader = OpenOptions::new()
            .read_only(true)
            .open(&place.log())
            .unwrap();
        let reader = reader.at_least(place.annals.position());
        reader.reach().wait().unwrap();
        Viewing::over(reader, options)
    }

    pub fn over(annals: Annals, options: ViewerOptions) -> Viewing {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let viewer = runtime.block_on(Viewer::start(annals, options)).unwrap();
        let address = viewer.address();
        let (end, ended) = oneshot::channel();
        let running = runtime.spawn(viewer.run(async {
            let _ = ended.await;
        }));
        Viewing {
            address,
            _runtime: runtime,
            end: Some(end),
            running: Some(running),
        }
    }

    /// Ends it, and waits until it has.
    pub fn end(&mut self) {
        let _ = self.end.take().unwrap().send(());
        let running = self.running.take().unwrap();
        let ended = async { tokio::time::timeout(Duration::from_secs(120), running).await };
        self._runtime
            .block_on(ended)
            .expect("it ends in time")
            .unwrap();
    }

    pub fn host(&self) -> String {
        self.address.to_string()
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(120)))
            .unwrap();
        stream
    }

    /// Sends bytes, and reads the answer until the connection ends.
    pub fn send(&self, bytes: &[u8]) -> Answer {
        let mut stream = self.connect();
        // It may be refused before all of it was sent.
        let _ = stream.write_all(bytes);
        Answer::read(&mut stream)
    }

    /// A request with headers of its own.
    pub fn request(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
        let mut text = format!("{method} {path} HTTP/1.1\r\nconnection: close\r\n");
        if !headers
            .iter()
            .any(|(name, _)| name.eq_ignore_ascii_case("host"))
        {
            text.push_str(&format!("host: {}\r\n", self.host()));
        }
        for (name, value) in headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        text.push_str("\r\n");
        self.send(text.as_bytes())
    }

    pub fn get(&self, path: &str) -> Answer {
        self.request("GET", path, &[])
    }

    /// The data of an answer of the API, which must be one.
    #[track_caller]
    pub fn data(&self, path: &str) -> Value {
        let answer = self.get(&format!("/api/v1{path}"));
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        answer.json()["data"].clone()
    }
}

/// An answer, read to its end.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Answer {
    pub fn read(stream: &mut TcpStream) -> Answer {
        let mut bytes = Vec::new();
        // One that was refused early may be reset behind its answer.
        let _ = stream.read_to_end(&mut bytes);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let mut lines = head.lines();
        let status = lines.next().unwrap_or_default().split(' ').nth(1);
        let status = status.and_then(|word| word.parse().ok()).unwrap_or(0);
        let headers = lines.filter_map(|line| line.split_once(": "));
        let headers: Vec<(String, String)> = headers
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect();
        let is_chunked = headers
            .iter()
            .any(|(name, value)| name == "transfer-encoding" && value == "chunked");
        let body = if is_chunked {
            joined(body)
        } else {
            body.to_owned()
        };
        Answer {
            status,
            headers,
            body,
        }
    }

    pub fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value)
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// A body that came in chunks.
fn joined(mut body: &str) -> String {
    let mut whole = String::new();
    while let Some((length, rest)) = body.split_once("\r\n") {
        let length = usize::from_str_radix(length, 16).unwrap_or(0);
        if length == 0 || rest.len() < length {
            break;
        }
        whole.push_str(&rest[..length]);
        body = rest[length..].trim_start_matches("\r\n");
    }
    whole
}

/// Every file of a folder with the digest of its content; a socket has none.
pub fn fingerprint(directory: &Path) -> Vec<(String, Digest)> {
    let entries = std::fs::read_dir(directory).unwrap().map(Result::unwrap);
    let files = entries.filter(|entry| entry.file_type().unwrap().is_file());
    let mut files: Vec<_> = files
        .map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            (name, Digest::of(&std::fs::read(entry.path()).unwrap()))
        })
        .collect();
    files.sort_by(|a, b| a.0.cmp(&b.0));
    files
}
