//! Histories that cases work on, made by the deciders from commands. Ids, times and salts are
//! the same every time.

use std::collections::HashMap;

use annals::domain::testing::Given;
use annals::domain::{Command, Kind};
use annals::projections::Entry;
use annals_event_log::{Append, Blob, Position, Prepared, Record, StreamName, Version};
use annals_testkit::generators::objects::History;
use chrono::DateTime;
use serde_json::{Value, json};
use uuid::Uuid;

/// The id with this number.
pub(crate) fn id(number: u128) -> Uuid {
    Uuid::from_u128(0x0198_c0de_0000_7000_8000_0000_0000_0000 | number)
}

const INTENT: u128 = 1;
const PLAN: u128 = 2;
const TASK: u128 = 3;
const RUN: u128 = 4;
const PIPELINE: u128 = 5;
/// The session whose gate is asked.
pub(crate) const SESSION: u128 = 6;

/// The objects that views are made of: what they are, and their ids.
pub(crate) const VIEWED: [(Kind, u128); 3] = [
    (Kind::Intent, INTENT),
    (Kind::Run, RUN),
    (Kind::ContextPipeline, PIPELINE),
];

/// A command from the JSON of its fields.
pub(crate) fn command(name: &str, fields: &Value) -> Command {
    let command = Command::from_json(name, &fields.to_string());
    command.unwrap_or_else(|error| panic!("{error}"))
}

/// An intent from its first words to its end: its plan, its task, a run with `calls` tool calls
/// and as many frames. The objects' numbers begin behind `first`.
fn course(first: u128, calls: u128) -> Vec<Command> {
    let of = |number: u128| id(first + number);
    let mut commands = vec![command(
        "create_intent",
        &json!({ "id": of(INTENT), "prompt": "Make the parser faster" }),
    )];
    for round in 1..=20 {
        let content = format!("Round {round}: cache what was parsed, by file and by its time");
        commands.push(command(
            "analyze_intent",
            &json!({ "intent": of(INTENT), "content": content }),
        ));
    }
    let tags = json!({ "team": "core", "quarter": "3" });
    let steps = json!([{ "description": "Measure" }, { "description": "Cache" }]);
    commands.extend([
        command("set_metadata", &json!({ "object": of(INTENT), "tags": tags })),
        command("activate_intent", &json!({ "intent": of(INTENT) })),
        command("create_pipeline", &json!({ "id": of(PIPELINE), "max_frames": 64 })),
        command("create_plan", &json!({ "id": of(PLAN), "intent": of(INTENT), "pipeline": of(PIPELINE), "steps": steps })),
        command("create_task", &json!({ "id": of(TASK), "title": "Cache what was parsed", "intent": of(INTENT) })),
        command("create_run", &json!({ "id": of(RUN), "task": of(TASK), "plan": of(PLAN) })),
        command("start_patching", &json!({ "run": of(RUN) })),
    ]);
    (1..=calls).for_each(|call| work(&mut commands, first, call));
    commands.extend([
        command("propose_patch_set", &json!({ "id": of(10), "run": of(RUN), "format": "git_diff", "rationale": "Faster" })),
        command("start_validation", &json!({ "run": of(RUN) })),
        command("record_evidence", &json!({ "id": of(11), "run": of(RUN), "patchset_id": of(10), "kind": "test", "tool": "cargo", "exit_code": 0 })),
        command("decide", &json!({ "id": of(12), "run": of(RUN), "decision_type": "commit", "chosen_patchset_id": of(10) })),
        command("complete_intent", &json!({ "intent": of(INTENT) })),
    ]);
    commands
}

/// One tool call with its frame, and now and then the tokens that were used.
fn work(commands: &mut Vec<Command>, first: u128, call: u128) {
    let of = |number: u128| id(first + number);
    let arguments = json!({ "command": format!("cargo test case_{call}"), "timeout": 60 });
    let summary = format!("case {call}: {}", "all of its tests passed; ".repeat(6));
    commands.extend([
        command("record_tool_invocation", &json!({
            "id": of(100 + call), "run": of(RUN), "tool_name": "bash", "args": arguments,
            "status": "ok", "duration_ms": 12, "result_summary": summary,
        })),
        command("push_frame", &json!({
            "pipeline": of(PIPELINE), "kind": "tool_call", "summary": summary, "token_estimate": 120,
        })),
    ]);
    if call.is_multiple_of(4) {
        commands.push(command(
            "record_usage",
            &json!({
                "run": of(RUN), "uncached_input_tokens": 100, "cache_read_tokens": 10_000,
                "output_tokens": 300, "cost_usd": 0.01,
            }),
        ));
    }
}

/// A history of some courses, all of whose commands are accepted.
fn history(courses: u128, calls: u128) -> History {
    let commands = (0..courses).flat_map(|number| course(number << 32, calls));
    let history = History::of(commands);
    if let Some((tried, refusal)) = history.refused().next() {
        panic!("{} is refused: {refusal}", tried.command.name());
    }
    history
}

/// The appends of one course.
pub(crate) fn appends() -> Vec<Append> {
    history(1, 100).appends()
}

/// The records of some courses, as a store would give them, and their blobs.
pub(crate) fn records(courses: u128) -> (Vec<Record>, Vec<Blob>) {
    let mut heads: HashMap<StreamName, Version> = HashMap::new();
    let (mut records, mut blobs) = (Vec::new(), Vec::new());
    let mut position = Position::START;
    for append in history(courses, 100).appends() {
        let prepared = Prepared::new(append).expect("what was decided is within the limits");
        for mut event in prepared.events {
            let head = heads.entry(event.stream.clone()).or_default();
            (position, *head) = (position.next(), head.next());
            let at = 1_700_000_000 + i64::try_from(position.0).expect("few records");
            let at = DateTime::from_timestamp(at, 0).expect("a time of this century");
            let bytes = event.stamp(position, *head, at).to_vec();
            records.push(Record::decode(bytes.into()).expect("a record"));
        }
        blobs.extend(prepared.blobs);
    }
    (records, blobs)
}

/// The entries of one course, with their content.
pub(crate) fn entries() -> Vec<Entry> {
    let (records, blobs) = records(1);
    let blobs = blobs
        .iter()
        .map(|blob| (blob.digest(), blob.bytes().clone()));
    let blobs = blobs.collect();
    let entry = |record: &Record| Entry::new(record, &blobs).expect("an entry");
    records.iter().map(entry).collect()
}

/// A session in the middle of its work, under a policy with every rule in it.
pub(crate) fn session() -> Given {
    let repo = json!({ "name": "app", "path": "/src/app" });
    let kinds = [
        "CreateBranch",
        "ApplyPatch",
        "RunTests",
        "Commit",
        "Push",
        "GetDiff",
    ];
    let branches: Vec<String> = (0..50).map(|n| format!("release/{n}")).collect();
    let policy = json!({
        "name": "everything",
        "commandWhitelist": kinds,
        "commandBlacklist": ["SpawnSession"],
        "protectedBranches": branches,
        "maxFilesPerCommit": 100,
        "requireTestsBeforePush": true,
        "requireApprovalForPush": false,
        "limits": { "callsPerMinute": 60_000, "burst": 10_000 },
    });
    let config = json!({
        "sessionId": id(SESSION), "policy": policy, "repo": repo,
        "workspace": { "path": "/work" }, "agentProfile": "coder",
    });
    let mut given = Given::new().command(command("create_session", &json!({ "config": config })));
    for number in 1..=100 {
        let submit = match number % 2 {
            0 => json!({ "kind": "RunTests", "repo": repo }),
            _ => json!({ "kind": "ApplyPatch", "repo": repo, "patchContent": "-a\n+b\n" }),
        };
        given.execute(submitted(number, &submit));
        given.execute(command(
            "complete_command",
            &json!({
                "session": id(SESSION), "id": id(1_000 + number), "outcome": "Success",
            }),
        ));
    }
    given
}

/// A push of the session's, which its gate accepts.
pub(crate) fn push() -> Command {
    let repo = json!({ "name": "app", "path": "/src/app" });
    submitted(
        500,
        &json!({ "kind": "Push", "repo": repo, "branchName": "HEAD:topic" }),
    )
}

fn submitted(number: u128, submit: &Value) -> Command {
    let fields = json!({ "session": id(SESSION), "id": id(1_000 + number), "submit": submit });
    command("submit_command", &fields)
}
