//! The service is started on a free port, spoken to, killed, and started again.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use annals::Annals;
use annals::blocking::Wait;
use annals::domain::{ActorKind, CommandId};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::run;

const PROGRAM: &str = env!("CARGO_BIN_EXE_service");
const AGENT: &str = "1a2b";
const OTHER_AGENT: &str = "9f9f";
const PERSON: &str = "3c4d";

/// The service as a process, which is killed at the end.
struct Service {
    process: Child,
    address: String,
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Service {
    fn start(log: &Path) -> Service {
        let mut process = Command::new(PROGRAM)
            .arg(log)
            .arg("127.0.0.1:0")
            .env(
                "TOKENS",
                format!("{AGENT}=agent:coder {OTHER_AGENT}=agent:tester {PERSON}=human:ada"),
            )
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut printed = BufReader::new(process.stdout.take().unwrap());
        printed.read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on http://");
        let address = address.unwrap_or_else(|| panic!("it printed {line:?}"));
        Service {
            address: address.to_owned(),
            process,
        }
    }

    /// The status and the JSON of an answer. `headers` has lines of their own.
    fn send(&self, method: &str, path: &str, headers: &str, body: &str) -> (u16, Value) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let length = body.len();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{headers}\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}",
            self.address
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let body = serde_json::from_str(body).unwrap_or_else(|_| panic!("{answer}"));
        (status, body)
    }

    fn post(&self, path: &str, token: &str, body: &Value) -> (u16, Value) {
        let headers = format!("Authorization: Bearer {token}\r\n");
        self.send("POST", path, &headers, &body.to_string())
    }

    fn get(&self, path: &str) -> (u16, Value) {
        let headers = format!("Authorization: Bearer {PERSON}\r\n");
        self.send("GET", path, &headers, "")
    }

    fn record(&self, token: &str, command: &str, fields: Value) -> (u16, Value) {
        let body = json!({ "command": command, "fields": fields });
        self.post("/record", token, &body)
    }

    /// A session of the agent "coder", in which nothing goes to main and pushes need an approval.
    fn session(&self) -> Uuid {
        let session = Uuid::now_v7();
        let config = json!({
            "sessionId": session,
            "policy": {
                "name": "careful",
                "protectedBranches": ["main"],
                "requireApprovalForPush": true,
            },
            "repo": { "name": "shop", "path": "/src/shop" },
            "workspace": { "path": "/work" },
            "agentProfile": "coder",
        });
        let opened = self.record(PERSON, "create_session", json!({ "config": config }));
        assert_eq!(opened.0, 200, "{opened:?}");
        session
    }
}

fn push(id: CommandId, branch: &str) -> Value {
    let repo = json!({ "name": "shop", "path": "/src/shop" });
    json!({ "id": id, "submit": { "kind": "Push", "repo": repo, "branchName": branch } })
}

fn new_id() -> CommandId {
    CommandId(Uuid::now_v7())
}

#[test]
fn commands_are_judged_and_what_was_answered_outlives_the_process() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let service = Service::start(&log);
    let session = service.session();
    let gate = format!("/sessions/{session}/gate");

    let (status, rejected) = service.post(&gate, AGENT, &push(new_id(), "HEAD:main"));
    assert_eq!(
        (status, &rejected["verdict"]),
        (200, &json!("rejected")),
        "{rejected}"
    );
    assert_eq!(rejected["rule"], "Protected branch");
    let waits = push(new_id(), "HEAD:topic");
    let (status, queued) = service.post(&gate, AGENT, &waits);
    assert_eq!(
        (status, &queued["verdict"]),
        (200, &json!("queued")),
        "{queued}"
    );
    let accepted = json!({
        "id": new_id(),
        "submit": { "kind": "RunTests", "repo": { "name": "shop", "path": "/src/shop" } },
    });
    let (status, verdict) = service.post(&gate, AGENT, &accepted);
    assert_eq!(
        (status, &verdict["verdict"]),
        (200, &json!("accepted")),
        "{verdict}"
    );

    // An agent neither approves its own push nor opens a session, and has none but its own.
    let approve = json!({ "session": session });
    let (status, refused) = service.record(AGENT, "approve_session", approve.clone());
    assert_eq!((status, &refused["code"]), (403, &json!("for_people")));
    let (status, refused) = service.post(&gate, OTHER_AGENT, &push(new_id(), "HEAD:topic"));
    assert_eq!((status, &refused["code"]), (403, &json!("other_agent")));
    let done = json!({ "session": session, "id": accepted["id"], "outcome": "Success" });
    assert_eq!(
        service
            .record(OTHER_AGENT, "complete_command", done.clone())
            .0,
        403
    );
    assert_eq!(service.record(AGENT, "complete_command", done).0, 200);
    let (status, approved) = service.record(PERSON, "approve_session", approve);
    assert_eq!(status, 200, "{approved}");

    // Killed, and not asked to end: what was answered is on disk. The same command is not judged again.
    drop(service);
    let service = Service::start(&log);
    let (_, again) = service.post(&gate, AGENT, &waits);
    assert_eq!(again["verdict"], "queued");
    assert_eq!(again["position"], queued["position"]);
    let (status, shown) = service.get(&format!("/objects/{session}"));
    assert_eq!(status, 200, "{shown}");
    let then = format!("/objects/{session}?at={}", queued["position"]);
    let (status, shown_then) = service.get(&then);
    assert_eq!(status, 200, "{shown_then}");
    assert_ne!(shown, shown_then);

    // And this process reads beside it who did what.
    let annals = Annals::open(&log.display().to_string()).wait().unwrap();
    let history = annals.history(session).wait().unwrap();
    let of = |kind| {
        history
            .iter()
            .filter(|entry| entry.actor.kind == kind)
            .count()
    };
    assert!(
        of(ActorKind::Human) >= 2 && of(ActorKind::Agent) >= 4,
        "{history:?}"
    );
    annals.close().wait();
}

#[test]
fn work_is_recorded_once_however_often_it_is_sent() {
    let folder = tempfile::tempdir().unwrap();
    let service = Service::start(&folder.path().join("log"));
    let key = format!(
        "Authorization: Bearer {AGENT}\r\nIdempotency-Key: {}\r\n",
        Uuid::now_v7()
    );
    let create =
        json!({ "command": "create_task", "fields": { "title": "Add a cache" } }).to_string();
    let (status, task) = service.send("POST", "/record", &key, &create);
    assert_eq!(status, 200, "{task}");
    assert_eq!(
        service.send("POST", "/record", &key, &create),
        (200, task.clone())
    );
    let other = create.replace("a cache", "no cache");
    let (status, refused) = service.send("POST", "/record", &key, &other);
    assert_eq!((status, &refused["code"]), (409, &json!("key_reused")));

    let (status, run) = service.record(AGENT, "create_run", json!({ "task": task["id"] }));
    assert_eq!(status, 200, "{run}");
    assert_eq!(
        service
            .record(AGENT, "start_patching", json!({ "run": run["id"] }))
            .0,
        200
    );
    let call = json!({ "run": run["id"], "tool_name": "Bash", "status": "ok" });
    let (status, call) = service.record(AGENT, "record_tool_invocation", call);
    assert_eq!(status, 200, "{call}");
    let (status, shown) = service.get(&format!("/objects/{}", call["id"].as_str().unwrap()));
    assert_eq!(
        (status, &shown["tool_name"]),
        (200, &json!("Bash")),
        "{shown}"
    );
}

#[test]
fn what_is_wrong_with_a_request_is_answered() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let service = Service::start(&log);
    let says = |(status, answer): (u16, Value), expected: u16, code: &str, text: &str| {
        assert_eq!(
            (status, &answer["code"]),
            (expected, &json!(code)),
            "{answer}"
        );
        let message = answer["message"].as_str().unwrap();
        assert!(message.contains(text), "{message}");
        assert_eq!(answer["retryable"], false);
    };
    says(
        service.send("GET", "/objects/1", "", ""),
        401,
        "unknown_caller",
        "Bearer TOKEN",
    );
    says(
        service.record("wrong", "create_task", json!({})),
        401,
        "unknown_caller",
        "",
    );
    let unknown = service.record(AGENT, "create_tusk", json!({}));
    says(unknown, 400, "invalid", "did you mean create_");
    let misspelt = service.record(AGENT, "create_task", json!({ "titel": "Add a cache" }));
    says(misspelt, 400, "invalid", "titel");
    let nothing = service.post("/record", AGENT, &json!({}));
    says(nothing, 422, "invalid_body", "command");
    let nowhere = format!("/objects/{}", Uuid::now_v7());
    says(
        service.get(&nowhere),
        404,
        "not_found",
        "there is no object",
    );
    says(
        service.get(&format!("{nowhere}?at=yesterday")),
        400,
        "invalid_time",
        "yesterday",
    );
    drop(service);

    let address = run(PROGRAM, &[&log.display().to_string(), "0.0.0.0:0"]);
    assert!(!address.0 && address.1.contains("loopback"), "{address:?}");
    assert!(!run(PROGRAM, &[]).0);
}
