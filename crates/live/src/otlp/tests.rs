//! Telemetry, from the bytes of a request to the events of a log.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use annals::OpenOptions;
use annals::blocking::Wait as _;
use annals::domain::AnyEvent;
use annals::domain::run::{Event as RunEvent, ToolDecider, ToolVerdict};
use annals::event_log::{Position, Query, Record};
use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use prost::Message;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::{OtlpError, OtlpOptions, OtlpReceiver, Token};

/// A receiver on a log of its own, on a thread.
struct Running {
    folder: tempfile::TempDir,
    address: SocketAddr,
    end: oneshot::Sender<()>,
    thread: std::thread::JoinHandle<()>,
}

impl Running {
    fn start(token: Option<&str>) -> Running {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log").to_str().unwrap().to_owned();
        let created = OpenOptions::new().create_new(true).open(&log).unwrap();
        created.close().wait();
        let (end, ended) = oneshot::channel();
        let (tell, told) = std::sync::mpsc::channel();
        let mut options = OtlpOptions::new("127.0.0.1:0".parse().unwrap());
        options.token = token.and_then(Token::bearer);
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async {
                let receiver = OtlpReceiver::start(&log, options).await.unwrap();
                tell.send(receiver.address().unwrap()).unwrap();
                let end = async {
                    let _ = ended.await;
                };
                receiver.run(end).await.unwrap();
            });
        });
        Running {
            address: told.recv().unwrap(),
            folder,
            end,
            thread,
        }
    }

    /// Sends a request; the status, and the body of the answer.
    fn send(&self, path: &str, headers: &[(&str, &str)], body: &[u8]) -> (u16, Vec<u8>) {
        let mut stream = TcpStream::connect(self.address).unwrap();
        let host = self.address;
        let mut head = format!(
            "POST {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n",
            body.len()
        );
        if !headers.iter().any(|(name, _)| *name == "Host") {
            head.push_str(&format!("Host: {host}\r\n"));
        }
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        stream.write_all(format!("{head}\r\n").as_bytes()).unwrap();
        // It may be refused before all of it was read.
        let _ = stream.write_all(body);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let end = answer.windows(4).position(|it| it == b"\r\n\r\n").unwrap();
        let head = String::from_utf8(answer[..end].to_vec()).unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, answer[end + 4..].to_vec())
    }

    fn json(&self, path: &str, body: &Value) -> u16 {
        self.send(
            path,
            &[("Content-Type", "application/json")],
            body.to_string().as_bytes(),
        )
        .0
    }

    /// Ends it, and gives the events of its log.
    fn end(self) -> Vec<AnyEvent> {
        self.ended().into_iter().map(|(_, event)| event).collect()
    }

    /// Ends it, and gives the events of its log with their times.
    fn ended(self) -> Vec<(String, AnyEvent)> {
        self.end.send(()).unwrap();
        self.thread.join().unwrap();
        let log = self.folder.path().join("log");
        let annals = OpenOptions::new()
            .read_only(true)
            .open(log.to_str().unwrap())
            .unwrap();
        let page = annals
            .log()
            .read(Query::all(Position(1)).limit(10_000))
            .wait()
            .unwrap();
        let entry = |record: &Record| {
            let event = annals.contents().entry(record).wait().unwrap().event;
            (record.occurred_at().to_rfc3339(), event)
        };
        let events = page.records.iter().map(entry).collect();
        annals.close().wait();
        events
    }
}

/// A log request of Claude Code with one event.
fn claude(name: &str, sequence: u64, attributes: Value) -> Value {
    let attribute = |name: &str, value: &Value| {
        let value = match value {
            Value::Number(number) => json!({ "intValue": number.to_string() }),
            value => json!({ "stringValue": value }),
        };
        json!({ "key": name, "value": value })
    };
    let mut all = vec![
        attribute("session.id", &json!("s1")),
        attribute("event.name", &json!(name)),
        attribute("event.sequence", &json!(sequence)),
    ];
    all.extend(
        attributes
            .as_object()
            .unwrap()
            .iter()
            .map(|(name, value)| attribute(name, value)),
    );
    json!({ "resourceLogs": [{
        "resource": { "attributes": [attribute("service.name", &json!("claude-code"))] },
        "scopeLogs": [{ "scope": { "name": "com.anthropic.claude_code.events" }, "logRecords": [{
            "timeUnixNano": (1_795_000_000_000_000_000_u64 + sequence).to_string(),
            "body": { "stringValue": format!("claude_code.{name}") },
            "attributes": all,
        }] }],
    }] })
}

fn decisions(events: &[AnyEvent]) -> Vec<(ToolVerdict, ToolDecider)> {
    let decided = |event: &AnyEvent| match event {
        AnyEvent::Run(RunEvent::ToolDecided(event)) => Some((event.verdict, event.by)),
        _ => None,
    };
    events.iter().filter_map(decided).collect()
}

fn evidence(events: &[AnyEvent]) -> usize {
    let is = |event: &&AnyEvent| matches!(event, AnyEvent::Run(RunEvent::EvidenceRecorded(_)));
    events.iter().filter(is).count()
}

#[test]
fn decisions_are_told_by_who_made_them_and_once_in_either_encoding() {
    let running = Running::start(None);
    for (sequence, source, decision) in [
        (1, "config", "accept"),
        (2, "hook", "reject"),
        (3, "user_permanent", "accept"),
        (4, "user_reject", "reject"),
    ] {
        let attributes = json!({
            "tool_use_id": format!("t{sequence}"), "tool_name": "Bash", "decision": decision, "source": source,
        });
        let request = claude("tool_decision", sequence, attributes);
        assert_eq!(running.json("/v1/logs", &request), 200);
        // Sent again, and as protobuf: it is the same.
        let request: ExportLogsServiceRequest = serde_json::from_value(request).unwrap();
        let headers = [("Content-Type", "application/x-protobuf")];
        let (status, body) = running.send("/v1/logs", &headers, &request.encode_to_vec());
        assert_eq!((status, body.as_slice()), (200, &b""[..]));
    }
    let around = [
        (
            "permission_mode_changed",
            json!({ "from_mode": "default", "to_mode": "plan" }),
        ),
        ("compaction", json!({ "trigger": "auto" })),
        (
            "api_request",
            json!({ "model": "claude-sonnet-4-6", "input_tokens": 7 }),
        ),
    ];
    for (sequence, (name, attributes)) in around.into_iter().enumerate() {
        let request = claude(name, 10 + sequence as u64, attributes);
        assert_eq!(running.json("/v1/logs", &request), 200);
        assert_eq!(running.json("/v1/logs", &request), 200);
    }
    let result =
        json!({ "tool_use_id": "t1", "tool_name": "Bash", "success": "true", "duration_ms": 12 });
    assert_eq!(
        running.json("/v1/logs", &claude("tool_result", 20, result)),
        200
    );
    let events = running.end();
    let expected = [
        (ToolVerdict::Allow, ToolDecider::Rule),
        (ToolVerdict::Deny, ToolDecider::Hook),
        (ToolVerdict::Allow, ToolDecider::Person),
        (ToolVerdict::Deny, ToolDecider::Person),
    ];
    assert_eq!(decisions(&events), expected);
    let reported = |event: &AnyEvent| match event {
        AnyEvent::Run(RunEvent::ToolDecided(event)) => event.is_reported(),
        _ => true,
    };
    assert!(events.iter().all(reported));
    assert_eq!(evidence(&events), 3);
    let ended = |event: &&AnyEvent| matches!(event, AnyEvent::Run(RunEvent::ToolEnded(_)));
    assert_eq!(events.iter().filter(ended).count(), 1);
}

#[test]
fn codex_and_spans_of_any_agent_are_told() {
    let running = Running::start(None);
    let text = |name: &str, value: &str| json!({ "key": name, "value": { "stringValue": value } });
    let codex = json!({ "resourceLogs": [{
        "resource": { "attributes": [text("service.name", "codex_cli_rs")] },
        "scopeLogs": [{ "logRecords": [{
            "timeUnixNano": "1795000000000000001",
            "attributes": [
                text("event.name", "codex.tool_decision"), text("conversation.id", "c1"), text("call_id", "x1"),
                text("tool_name", "shell"), text("decision", "approved_for_session"), text("source", "User"),
            ],
        }] }],
    }] });
    assert_eq!(running.json("/v1/logs", &codex), 200);
    let spans = json!({ "resourceSpans": [{
        "resource": { "attributes": [text("service.name", "my-agent")] },
        "scopeSpans": [{ "spans": [
            {
                "traceId": "5b8efff798038103d269b633813fc60c", "spanId": "eee19b7ec3c1b174", "name": "execute_tool search",
                "startTimeUnixNano": "1795000000000000000", "endTimeUnixNano": "1795000000500000000",
                "status": { "code": 2, "message": "no network" },
                "attributes": [
                    text("gen_ai.operation.name", "execute_tool"), text("gen_ai.conversation.id", "g1"),
                    text("gen_ai.tool.call.id", "call1"), text("gen_ai.tool.name", "search"),
                    text("gen_ai.tool.call.arguments", "{\"q\":\"x\"}"),
                ],
            },
            {
                "traceId": "5b8efff798038103d269b633813fc60c", "spanId": "eee19b7ec3c1b175", "name": "GET /health",
                "startTimeUnixNano": "1795000000000000000", "endTimeUnixNano": "1795000000500000000",
                "attributes": [text("http.method", "GET")],
            },
        ] }],
    }] });
    assert_eq!(running.json("/v1/traces", &spans), 200);
    let request: ExportTraceServiceRequest = serde_json::from_value(spans).unwrap();
    let headers = [("Content-Type", "application/x-protobuf")];
    assert_eq!(
        running
            .send("/v1/traces", &headers, &request.encode_to_vec())
            .0,
        200
    );
    let events = running.end();
    assert_eq!(
        decisions(&events),
        [(ToolVerdict::Allow, ToolDecider::Person)]
    );
    let ended = |event: &AnyEvent| match event {
        AnyEvent::Run(RunEvent::ToolEnded(event)) => Some(event.duration_ms),
        _ => None,
    };
    assert_eq!(
        events.iter().filter_map(ended).collect::<Vec<_>>(),
        [Some(500)]
    );
    // The server's span names no agent.
    assert_eq!(evidence(&events), 0);
}

#[test]
fn what_is_wrong_is_refused_by_its_status() {
    let running = Running::start(Some("secret"));
    let json = ("Content-Type", "application/json");
    let token = ("Authorization", "Bearer secret");
    let large = vec![b' '; 9 * 1024 * 1024];
    for (path, headers, body, status) in [
        ("/v1/logs", vec![json], &b"{}"[..], 401),
        (
            "/v1/logs",
            vec![json, ("Authorization", "Bearer secreT")],
            b"{}",
            401,
        ),
        (
            "/v1/logs",
            vec![json, ("Authorization", "Bearer secrets")],
            b"{}",
            401,
        ),
        ("/v1/logs", vec![json, token], b"{}", 200),
        ("/v1/logs", vec![json, token], b"{\"resourceLogs\":7}", 400),
        (
            "/v1/logs",
            vec![("Content-Type", "application/x-protobuf"), token],
            b"\xff\xff",
            400,
        ),
        (
            "/v1/logs",
            vec![("Content-Type", "text/plain"), token],
            b"{}",
            415,
        ),
        (
            "/v1/logs",
            vec![json, token, ("Content-Encoding", "gzip")],
            b"{}",
            400,
        ),
        (
            "/v1/logs",
            vec![json, token, ("Content-Encoding", "zstd")],
            b"{}",
            415,
        ),
        ("/v1/logs", vec![token], b"{}", 415),
        ("/v1/logs", vec![json, token], large.as_slice(), 413),
        ("/v1/metrics", vec![json, token], b"{}", 404),
    ] {
        assert_eq!(
            running.send(path, &headers, body).0,
            status,
            "{path} {headers:?}"
        );
    }
    assert!(running.end().is_empty());
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

/// Exporters may pack what they send, and cut it into chunks. What is small and would become large is refused.
#[test]
fn packed_and_chunked_bodies_are_read() {
    let running = Running::start(None);
    let told = |sequence| claude("compaction", sequence, json!({ "trigger": "auto" })).to_string();
    let json = ("Content-Type", "application/json; charset=utf-8");
    let gzip = ("Content-Encoding", "gzip");
    let send = |body: &[u8]| running.send("/v1/logs", &[json, gzip], body).0;
    assert_eq!(send(&packed(told(1).as_bytes())), 200);
    assert_eq!(send(&packed(&vec![b' '; 100 * 1024 * 1024])), 413);
    let whole = packed(told(2).as_bytes());
    assert_eq!(send(&whole[..whole.len() / 2]), 400);

    let mut stream = TcpStream::connect(running.address).unwrap();
    let host = running.address;
    let head = format!(
        "POST /v1/logs HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Type: application/json\r\n"
    );
    let chunked = format!("{head}Transfer-Encoding: chunked\r\n\r\n");
    stream.write_all(chunked.as_bytes()).unwrap();
    for chunk in told(3).as_bytes().chunks(100) {
        stream
            .write_all(format!("{:x}\r\n", chunk.len()).as_bytes())
            .unwrap();
        stream.write_all(chunk).unwrap();
        stream.write_all(b"\r\n").unwrap();
    }
    stream.write_all(b"0\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert_eq!(evidence(&running.end()), 2);
}

/// Clients that do not end their requests hold up neither others nor the end, however many they are.
#[test]
fn slow_clients_hold_up_nobody() {
    let running = Running::start(None);
    let begun = |text: &str| {
        let mut stream = TcpStream::connect(running.address).unwrap();
        stream.write_all(text.as_bytes()).unwrap();
        stream
    };
    let heads = (0..50).map(|_| begun("POST /v1/logs HTTP/1.1\r\nHo"));
    let heads: Vec<TcpStream> = heads.collect();
    let head = format!(
        "POST /v1/logs HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: 99999\r\n\r\n{{",
        running.address
    );
    let bodies: Vec<TcpStream> = (0..32).map(|_| begun(&head)).collect();
    let asked = std::time::Instant::now();
    let told = claude("compaction", 1, json!({ "trigger": "auto" }));
    assert_eq!(running.json("/v1/logs", &told), 200);
    // They are given up in 5 s; the good one did not wait for that.
    let took = asked.elapsed();
    assert!(took < std::time::Duration::from_secs(4), "{took:?}");
    let asked = std::time::Instant::now();
    assert_eq!(evidence(&running.end()), 1);
    let took = asked.elapsed();
    // `make timings` has the exact figure, which a busy machine breaks.
    let most = if std::env::var_os("ANNALS_TIMINGS").is_some() {
        9
    } else {
        300
    };
    assert!(took < std::time::Duration::from_secs(most), "{took:?}");
    drop((heads, bodies));
}

/// A page of another site reaches this machine under a name of its own, or says where it is from.
#[test]
fn pages_of_web_sites_cannot_write() {
    let running = Running::start(None);
    let port = running.address.port();
    let attributes = json!({
        "tool_use_id": "t1", "tool_name": "Bash", "decision": "accept", "source": "user_permanent",
    });
    let forged = claude("tool_decision", 1, attributes).to_string();
    let json = ("Content-Type", "application/json");
    let (rebound, own) = (
        format!("evil.example:{port}"),
        format!("http://127.0.0.1:{port}"),
    );
    for (headers, status) in [
        (vec![("Host", rebound.as_str())], 421),
        (vec![("Host", "localhost.evil.example")], 421),
        (vec![("Host", "127.0.0.1")], 421),
        (vec![("Origin", "http://evil.example")], 403),
        (vec![("Origin", "null")], 403),
        (vec![("Origin", "http://127.0.0.1:1")], 403),
        (vec![("Sec-Fetch-Site", "cross-site")], 403),
        (
            vec![
                ("Sec-Fetch-Site", "cross-site"),
                ("Sec-Fetch-Mode", "navigate"),
            ],
            403,
        ),
    ] {
        let headers: Vec<_> = headers.into_iter().chain([json]).collect();
        let (found, body) = running.send("/v1/logs", &headers, forged.as_bytes());
        assert_eq!(found, status, "{headers:?}");
        assert!(!body.is_empty());
        let path = running.send("/no/such", &headers, b"{}").0;
        assert_eq!(path, status, "{headers:?}");
    }
    let result =
        json!({ "tool_use_id": "t2", "tool_name": "Bash", "success": "true", "duration_ms": 1 });
    let good = claude("tool_result", 2, result).to_string();
    for headers in [
        vec![json],
        vec![json, ("Origin", own.as_str())],
        vec![json, ("Host", format!("localhost:{port}").leak())],
    ] {
        let status = running.send("/v1/logs", &headers, good.as_bytes()).0;
        assert_eq!(status, 200, "{headers:?}");
    }
    let events = running.end();
    assert_eq!(decisions(&events), []);
    let ended = |event: &&AnyEvent| matches!(event, AnyEvent::Run(RunEvent::ToolEnded(_)));
    assert_eq!(events.iter().filter(ended).count(), 1);
}

/// What is small and would become large is refused before it is.
#[test]
fn requests_with_too_many_records_are_refused() {
    let running = Running::start(None);
    let protobuf = ("Content-Type", "application/x-protobuf");
    let text = ("Content-Type", "application/json");
    let gzip = ("Content-Encoding", "gzip");
    let empty = [0x0a, 0].repeat(2_000_000);
    let list = vec!["{}"; 2_000_000].join(",");
    let list = format!("{{\"resourceLogs\":[{list}]}}");
    let began = std::time::Instant::now();
    for path in ["/v1/logs", "/v1/traces"] {
        for (headers, body) in [
            (vec![protobuf], empty.clone()),
            (vec![protobuf, gzip], packed(&empty)),
            (vec![text], list.clone().into_bytes()),
            (vec![text, gzip], packed(list.as_bytes())),
        ] {
            let (status, answer) = running.send(path, &headers, &body);
            let answer = String::from_utf8_lossy(&answer).into_owned();
            assert_eq!(status, 413, "{headers:?}");
            assert!(answer.contains("20000 records"), "{answer}");
        }
    }
    let took = began.elapsed();
    assert!(took < std::time::Duration::from_secs(60), "{took:?}");
    let few = claude("compaction", 1, json!({ "trigger": "auto" }));
    assert_eq!(running.json("/v1/logs", &few), 200);
    assert_eq!(evidence(&running.end()), 1);
}

/// A request of many records is recorded in parts, between which others have their turn.
#[test]
fn many_records_of_one_request_are_recorded() {
    let running = Running::start(None);
    let mut all = claude("compaction", 0, json!({ "trigger": "auto" }));
    let records: Vec<Value> = (0..300)
        .map(|n| {
            let one = claude("compaction", n, json!({ "trigger": "auto" }));
            one["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0].clone()
        })
        .collect();
    all["resourceLogs"][0]["scopeLogs"][0]["logRecords"] = records.into();
    assert_eq!(running.json("/v1/logs", &all), 200);
    assert_eq!(evidence(&running.end()), 300);
}

/// One id that is not hexadecimal costs no other record of its request, nor its own.
#[test]
fn a_malformed_id_is_none() {
    let running = Running::start(None);
    let mut all = claude("compaction", 0, json!({ "trigger": "auto" }));
    let ids = [
        json!("5b8efff798038103d269b633813fc60c"),
        json!("xyz"),
        json!("5b8"),
        json!(7),
        json!(null),
    ];
    let records: Vec<Value> = (0..)
        .zip(&ids)
        .map(|(n, id)| {
            let one = claude("compaction", n, json!({ "trigger": "auto" }));
            let mut one = one["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0].clone();
            one["traceId"] = id.clone();
            one["spanId"] = id.clone();
            one
        })
        .collect();
    all["resourceLogs"][0]["scopeLogs"][0]["logRecords"] = records.into();
    assert_eq!(running.json("/v1/logs", &all), 200);
    // What is malformed elsewhere is refused.
    all["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0]["attributes"] = json!(7);
    assert_eq!(running.json("/v1/logs", &all), 400);
    assert_eq!(evidence(&running.end()), ids.len());
}

/// A time that cannot be is none; nothing is recorded at 1970 for it.
#[test]
fn a_time_that_cannot_be_is_another_one_or_refused() {
    let running = Running::start(None);
    let with = |sequence: u64, attributes: Value, nanos: u64, observed: u64| {
        let mut all = claude("compaction", sequence, attributes);
        let record = &mut all["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0];
        record["timeUnixNano"] = nanos.to_string().into();
        record["observedTimeUnixNano"] = observed.to_string().into();
        let json = [("Content-Type", "application/json")];
        let (status, body) = running.send("/v1/logs", &json, all.to_string().as_bytes());
        assert_eq!(status, 200);
        serde_json::from_slice::<Value>(&body).unwrap()
    };
    let (bad, observed) = (1_u64 << 63, 1_790_000_000_000_000_000);
    let told = json!({ "event.timestamp": "2026-01-02T03:04:05Z" });
    assert_eq!(with(1, told, bad, 0), json!({}));
    assert_eq!(with(2, json!({}), u64::MAX, observed), json!({}));
    let refused = with(3, json!({}), bad, 0);
    assert_eq!(refused["partialSuccess"]["rejectedLogRecords"], "1");
    let is_evidence = |event: &AnyEvent| evidence(std::slice::from_ref(event)) == 1;
    let events = running.ended().into_iter();
    let times: Vec<String> = events
        .filter(|(_, event)| is_evidence(event))
        .map(|(time, _)| time)
        .collect();
    let expected = ["2026-01-02T03:04:05+00:00", "2026-09-21T14:13:20+00:00"];
    assert_eq!(times, expected);
}

/// Other users of this machine reach a loopback address, too.
#[cfg(target_os = "linux")]
#[test]
fn other_users_of_this_machine_need_the_token() {
    use std::os::unix::process::CommandExt as _;
    let as_another = |running: &Running, token: &str| {
        let body = claude("compaction", 1, json!({ "trigger": "auto" })).to_string();
        let (port, host) = (running.address.port(), running.address);
        let request = format!(
            "POST /v1/logs HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let script =
            format!("exec 3<>/dev/tcp/127.0.0.1/{port}; printf %s \"$1\" >&3; head -n 1 <&3");
        let mut command = std::process::Command::new("bash");
        let command = command
            .args(["-c", &script, "bash", &request])
            .current_dir("/");
        let answered = command.uid(12_345).output();
        answered.map(|it| String::from_utf8_lossy(&it.stdout).into_owned())
    };
    let running = Running::start(None);
    match as_another(&running, "guess") {
        Ok(answer) => assert!(answer.starts_with("HTTP/1.1 401"), "{answer}"),
        Err(error) => eprintln!("NOT RUN: only root acts for others: {error}"),
    }
    assert!(running.end().is_empty());
    let running = Running::start(Some("right"));
    if let Ok(answer) = as_another(&running, "right") {
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        assert_eq!(evidence(&running.end()), 1);
    }
}

#[test]
fn others_may_not_write_without_a_token() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let options = OtlpOptions::new("0.0.0.0:0".parse().unwrap());
    let refused = runtime
        .block_on(OtlpReceiver::start("/nowhere", options))
        .unwrap_err();
    assert!(
        matches!(refused, OtlpError::NotLoopback { .. }),
        "{refused}"
    );
}
