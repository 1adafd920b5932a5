//! Imports, watchers, telemetry and hooks beside owners that are killed and terminated: each goes on, and nothing is lost.
//!
//! A round takes some seconds. `make owners` runs a thousand, from a seed that it prints.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Place, Ran};

/// How long a process may take that does something: it is there to name the one that hangs, and breaks on no busy machine.
const FOR_EVER: Duration = Duration::from_secs(900);
/// Lines of the transcript that is imported.
const LINES: usize = 1_500;

fn number(variable: &str, otherwise: u64) -> u64 {
    match std::env::var(variable) {
        Ok(text) if !text.is_empty() => text.parse().unwrap(),
        _ => otherwise,
    }
}

/// Numbers that follow from a seed (xorshift).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

/// A process that ends with this.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Process {
    /// Starts the program; what it prints goes to a file, as nobody reads a pipe meanwhile.
    fn start(place: &Place, args: &[&str]) -> Process {
        let name = format!("{}.txt", args.join("-").replace(['/', '.', ':'], "-"));
        let says = OpenOptions::new()
            .create(true)
            .append(true)
            .open(place.path(&name))
            .unwrap();
        let mut command = place.command(args);
        command.stdout(Stdio::null()).stderr(says);
        Process(command.spawn().unwrap())
    }

    fn signal(&self, name: &str) {
        let args = [format!("-{name}"), self.0.id().to_string()];
        Command::new("kill").args(args).status().unwrap();
    }

    /// Waits until it has ended; whether it succeeded.
    #[track_caller]
    fn ended(&mut self, what: &str) -> bool {
        let begun = Instant::now();
        loop {
            if let Some(status) = self.0.try_wait().unwrap() {
                return status.success();
            }
            assert!(begun.elapsed() < FOR_EVER, "{what} hangs");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

fn line(session: &str, n: usize) -> String {
    let second = format!("2026-11-26T10:{:02}:{:02}Z", n / 60 % 60, n % 60);
    let (sort, message) = match n % 10 {
        0 => (
            "user",
            json!({ "role": "user", "content": format!("Step {n}") }),
        ),
        _ => (
            "assistant",
            json!({ "id": format!("m{n}"), "model": "claude-sonnet-4-6", "role": "assistant",
                "content": [{ "type": "text", "text": format!("Done {n} {}", "so ".repeat(n % 300)) }] }),
        ),
    };
    let line = json!({ "type": sort, "uuid": format!("{session}-{n}"), "sessionId": session, "timestamp": second,
        "cwd": "/shop", "message": message });
    format!("{line}\n")
}

fn session(n: u64) -> String {
    format!("5e0c1a52-6c3e-4b53-9f0b-{n:012x}")
}

fn hook(session: &str, n: u64) -> String {
    json!({
        "session_id": session, "cwd": "/shop", "hook_event_name": "UserPromptSubmit",
        "prompt_id": format!("p{n}"), "prompt": format!("Fix {n}"),
    })
    .to_string()
}

fn told(address: &str, n: u64) -> bool {
    use std::io::Read as _;
    let attribute =
        |key: &str, value: &str| json!({ "key": key, "value": { "stringValue": value } });
    let body = json!({ "resourceLogs": [{ "scopeLogs": [{ "logRecords": [{
        "timeUnixNano": (1_795_000_000_000_000_000_u64 + n).to_string(),
        "attributes": [
            attribute("event.name", "user_prompt"), attribute("session.id", &session(7)),
            attribute("prompt", "Fix it"), attribute("prompt.id", &format!("o{n}")),
        ],
    }] }] }] })
    .to_string();
    let Ok(mut stream) = std::net::TcpStream::connect(address) else {
        return false;
    };
    let request = format!(
        "POST /v1/logs HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{body}",
        body.len()
    );
    let mut said = String::new();
    stream.set_read_timeout(Some(FOR_EVER)).unwrap();
    stream.write_all(request.as_bytes()).is_ok()
        && stream.read_to_string(&mut said).is_ok()
        && said.starts_with("HTTP/1.1 200")
}

fn owner(place: &Place) -> Process {
    Process::start(place, &["serve", "--record-only"])
}

/// A place with processes that stay, and how many events were given to hooks and to the receiver.
struct Round {
    place: Place,
    watching: Process,
    receiving: Process,
    address: String,
    hooks: u64,
    telemetry: u64,
}

impl Round {
    fn start() -> Round {
        let place = Place::with_log();
        fs::create_dir(place.path("transcripts")).unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = port.local_addr().unwrap().to_string();
        drop(port);
        let watching = Process::start(&place, &["watch", "claude", "transcripts"]);
        let receiving = Process::start(&place, &["record", "--otlp", &address]);
        Round {
            place,
            watching,
            receiving,
            address,
            hooks: 0,
            telemetry: 0,
        }
    }

    /// Gives each of those that stay something to do.
    fn step(&mut self, numbers: &mut Numbers) {
        match numbers.below(4) {
            0 => {
                let run = self
                    .place
                    .run_with(&["hook", "claude"], hook(&session(2), self.hooks));
                assert_eq!((run.status, run.stdout.as_str()), (0, ""), "{run:?}");
                self.hooks += 1;
            }
            1 => {
                let path = self.place.path("transcripts/s.jsonl");
                let file = OpenOptions::new().append(true).create(true).open(path);
                let text: String = (0..5).map(|n| line(&session(3), n)).collect();
                file.unwrap().write_all(text.as_bytes()).unwrap();
            }
            2 => self.telemetry += u64::from(told(&self.address, self.telemetry)),
            _ => {
                self.place.run(&["submit", "Fix it"]).ok();
            }
        }
    }

    /// Imports a transcript while owners come and go.
    fn import(&mut self, numbers: &mut Numbers) {
        let text: String = (0..LINES).map(|n| line(&session(1), n)).collect();
        fs::write(self.place.path("s.jsonl"), text).unwrap();
        let mut owning = owner(&self.place);
        let mut importing = Process::start(&self.place, &["import", "claude", "s.jsonl"]);
        let begun = Instant::now();
        let succeeded = loop {
            std::thread::sleep(Duration::from_millis(numbers.below(300)));
            owning.signal(["KILL", "TERM"][numbers.below(2) as usize]);
            owning.ended("an owner");
            if numbers.below(3) > 0 {
                self.step(numbers);
            }
            owning = owner(&self.place);
            if let Some(status) = importing.0.try_wait().unwrap() {
                break status.success();
            }
            assert!(begun.elapsed() < FOR_EVER, "an import hangs");
        };
        assert!(succeeded, "{}", self.said());
        owning.signal("TERM");
        owning.ended("an owner");
    }

    fn said(&self) -> String {
        let path = self.place.path("import-claude-s-jsonl.txt");
        fs::read_to_string(path).unwrap_or_default()
    }

    /// Everything that was given is there, once.
    fn check(mut self) {
        self.watching.signal("TERM");
        self.receiving.signal("TERM");
        assert!(self.watching.ended("a watcher"), "a watcher failed");
        assert!(self.receiving.ended("a receiver"), "a receiver failed");
        // What hooks left in the spool is taken in by the next command that writes.
        self.place.run(&["submit", "The last one"]).ok();
        let again = self.place.run(&["import", "claude", "s.jsonl", "--json"]);
        let again: Value = again.ok().json();
        assert_eq!(again["events_made"], 0, "{again}");
        let events: Ran = self.place.run(&["log", "--json", "-n", "1000000"]).ok();
        let intents = events.stdout.lines();
        let intents: Vec<&str> = intents
            .filter(|line| line.contains("intent.submitted"))
            .collect();
        for n in 0..self.hooks {
            // The summary quotes it, within a JSON string.
            let prompt = format!("\\\"Fix {n}\\\"");
            let found = intents.iter().filter(|line| line.contains(&prompt));
            assert_eq!(found.count(), 1, "hook {n}");
        }
        assert_eq!(
            self.place.run(&["verify", "--json"]).ok().json()["ok"],
            true
        );
    }
}

#[test]
fn everyone_goes_on_while_owners_come_and_go() {
    let (rounds, seed) = (number("ANNALS_OWNERS", 2), number("ANNALS_SEED", 19));
    let mut numbers = Numbers(seed | 1 << 40);
    for round in 1..=rounds {
        let mut place = Round::start();
        place.import(&mut numbers);
        place.check();
        if rounds > 10 {
            println!("round {round} of {rounds}, ANNALS_SEED={seed}");
        }
    }
}
