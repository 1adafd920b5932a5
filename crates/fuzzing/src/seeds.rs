//! Inputs that the parsers accept, or nearly: all written here, none from elsewhere.

use std::sync::Arc;

use annals::Annals;
use annals::proof::Detail;
use annals_dialects::verbatim;
use annals_domain::{ActorRef, StreamKind, Timestamp};
use annals_event_log::memory::MemoryLog;
use annals_event_log::{Append, Digest, EventLog as _, Position, Query, Record};
use annals_wire::Envelope;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use chrono::DateTime;
use futures::executor::block_on;
use uuid::Uuid;

/// An intent, a draft, tasks and a review, as a `.forge` folder has them.
pub(crate) const FORGE: [&str; 4] = [
    "title: Add a cache\nstatus: approved\nsource: human\nbody: |\n  Cache the parser's results.\nlabels: [fast, \"a b\"]\n\
     depends_on: []\nclarifications:\n  - question: Where?\n    answer: In memory\n",
    "---\nlabels: [a]\nrisk: low\n---\n# Try it\n\nA first draft.\n",
    "tasks:\n  - id: one\n    title: Write it\n    status: completed\n    depends_on: []\n  - id: two\n    title: Test it\n",
    "status: pass\nissues: []\n",
];

/// A repository of two commits, file by file; its objects are loose, and in a pack too.
pub(crate) const GIT: [(&str, &[u8]); 12] = [
    ("HEAD", include_bytes!("../seeds/git/HEAD")),
    ("config", include_bytes!("../seeds/git/config")),
    (
        "objects/1c/035a1f0a047c5256f9af5d20e43c2ad4384f7f",
        include_bytes!("../seeds/git/objects/1c/035a1f0a047c5256f9af5d20e43c2ad4384f7f"),
    ),
    (
        "objects/43/e6bbd38c346c9693224a03d28f60e263311231",
        include_bytes!("../seeds/git/objects/43/e6bbd38c346c9693224a03d28f60e263311231"),
    ),
    (
        "objects/45/9612514d29b5b7ae52c76fbc9045fcb2bb4cf7",
        include_bytes!("../seeds/git/objects/45/9612514d29b5b7ae52c76fbc9045fcb2bb4cf7"),
    ),
    (
        "objects/5d/90422423db5ef6b431e8b9e60e0baf04b8742a",
        include_bytes!("../seeds/git/objects/5d/90422423db5ef6b431e8b9e60e0baf04b8742a"),
    ),
    (
        "objects/ee/b9dc8b413a96e8c8a11b2e96b418640361cfa7",
        include_bytes!("../seeds/git/objects/ee/b9dc8b413a96e8c8a11b2e96b418640361cfa7"),
    ),
    (
        "objects/f3/28e4d9d04c31d0d70d16d21a07d1613be9d577",
        include_bytes!("../seeds/git/objects/f3/28e4d9d04c31d0d70d16d21a07d1613be9d577"),
    ),
    (
        "objects/pack/pack-1.idx",
        include_bytes!("../seeds/git/objects/pack/pack-1.idx"),
    ),
    (
        "objects/pack/pack-1.pack",
        include_bytes!("../seeds/git/objects/pack/pack-1.pack"),
    ),
    ("packed-refs", include_bytes!("../seeds/git/packed-refs")),
    (
        "refs/heads/main",
        include_bytes!("../seeds/git/refs/heads/main"),
    ),
];

/// A log of one event of every type, as the samples have them, with times that never change.
fn log() -> Annals {
    let log = MemoryLog::new(Uuid::from_u128(1));
    for (number, sample) in (1_u128..).zip(annals_wire::sample::samples()) {
        let envelope = Envelope {
            event_id: Uuid::from_u128(number),
            occurred_at: Timestamp::from(DateTime::UNIX_EPOCH),
            actor: ActorRef::agent("coder"),
            correlation: None,
            causation: None,
        };
        let encoded = annals_wire::encode(&sample, &envelope, &mut || [7; 16]).expect("a sample");
        let append = Append {
            batch: Uuid::from_u128(number),
            request: Bytes::new(),
            events: vec![encoded.event],
            expectations: Vec::new(),
            blobs: encoded.blobs,
        };
        block_on(log.append(append)).expect("a sample has room");
    }
    Annals::over(Arc::new(log))
}

fn read(annals: &Annals) -> Vec<Record> {
    let page = annals.log().read(Query::all(Position(1)));
    block_on(page).expect("a log in memory").records
}

pub(crate) fn records() -> Vec<Vec<u8>> {
    let records = read(&log());
    records
        .iter()
        .map(|record| record.as_bytes().to_vec())
        .collect()
}

pub(crate) fn structures() -> Vec<Vec<u8>> {
    let seed = |record: &Record| {
        let kind = record.stream().split('-').next().unwrap_or_default();
        let kind = StreamKind::ALL.iter().position(|it| it.as_str() == kind);
        let name = record.event_type();
        let head = [
            kind.unwrap_or(0) as u8,
            record.schema_version() as u8,
            name.len() as u8,
        ];
        // Without the record its names are not at hand: they are in the structure.
        let event = annals_wire::decode(record).expect("a record of ours").event;
        let structure = annals_wire::encode_structure(&event).expect("an event that was read");
        [&head, name.as_bytes(), &structure].concat()
    };
    read(&log()).iter().map(seed).collect()
}

pub(crate) fn chunks() -> Vec<Vec<u8>> {
    let framed = |record: &Vec<u8>| [&(record.len() as u32).to_be_bytes(), &record[..]].concat();
    let records: Vec<Vec<u8>> = records().iter().map(framed).collect();
    let chunk = |records: &[Vec<u8>]| [vec![1], records.concat()].concat();
    records.chunks(5).map(chunk).collect()
}

pub(crate) fn watermarks() -> Vec<Vec<u8>> {
    // A position and the first half of its digest, as WATERMARK has them; the others may be missing.
    let value = |position: u64| {
        let bytes = position.to_be_bytes();
        let Digest(digest) = Digest::of(&bytes);
        [&bytes[..], &digest[..8]].concat()
    };
    let marks = [0, 1, 17, u64::MAX].map(value);
    let long = [marks.concat(), vec![0; 8]].concat();
    marks
        .into_iter()
        .chain([Vec::new(), long, vec![0; 72]])
        .collect()
}

fn texts_of(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

pub(crate) fn apply_lines() -> Vec<Vec<u8>> {
    texts_of(&[
        r#"{"command":"create_intent","actor":{"kind":"human","id":"ada"},"prompt":"Add a cache"}"#,
        r#"{"command":"push_frame","actor":{"kind":"agent","id":"coder"},"pipeline":"01980000-0000-7000-8000-000000000001","kind":{"other":"note"},"summary":"s","data":{"a":[1,2.5,null]}}"#,
        r#"{"command":"submit_command","actor":{"kind":"agent","id":"a"},"session":"01980000-0000-7000-8000-000000000001","submit":{"kind":"CreateBranch","repo":{"name":"r","path":"/r"},"branchName":"b"},"key":"01980000-0000-7000-8000-000000000002","at":"2026-01-02T03:04:05Z"}"#,
        r#"{"command":"set_metadata","actor":{"kind":"system","id":"s","display_name":"S"},"object":"01980000-0000-7000-8000-000000000001","tags":{"a":"b"}}"#,
    ])
}

/// Tables of prices.
pub(crate) fn prices() -> Vec<Vec<u8>> {
    let small = "currency = \"USD\"\nas_of = \"2026-01-31\"\n[[price]]\nmodels = [\"m\"]\n\
        from = \"2026-01-01\"\ninput = 3\ncache_read = 0.3\noutput = 15.5\n";
    let standard = annals::projections::PriceTable::standard_text();
    vec![small.into(), standard.into()]
}

pub(crate) fn policies() -> Vec<Vec<u8>> {
    texts_of(&[
        "[token_budget]\nmax_tokens = 5\n",
        "{\"unlimited\": {}}",
        "[kind_quotas]\nothers = 50\n[[kind_quotas.quotas]]\nkind = { other = \"note\" }\nkeep = 0\n",
        "[rolling_summary]\nmax_tokens = 10\nsummary_tokens = 2\n",
        "# a comment\n[max_frames]\nmax_frames = 3\nprotected = [\"checkpoint\"]\n",
    ])
}

pub(crate) fn proofs() -> Vec<Vec<u8>> {
    let annals = log();
    let head = |size| block_on(annals.proofs().head(Some(size))).expect("a log in memory");
    let (old, new) = (head(5), head(20));
    let event = block_on(annals.proofs().event(Position(7), &new, Detail::Headers));
    let whole = block_on(annals.proofs().event(Position(3), &old, Detail::Records));
    let grown = block_on(annals.proofs().consistency(&old, &new));
    let proofs = [event, whole, grown].into_iter().flatten();
    proofs.filter_map(|proof| proof.to_json().ok()).collect()
}

pub(crate) fn notes() -> Vec<Vec<u8>> {
    let annals = log();
    let note = |size| block_on(annals.proofs().checkpoint(Some(size))).map(|it| it.to_bytes());
    let plain: Vec<Vec<u8>> = [1, 20]
        .into_iter()
        .filter_map(|size| note(size).ok())
        .collect();
    let signature = BASE64_STANDARD.encode([9; 68]);
    let signed = plain.iter().map(|note| {
        let line = format!("\u{2014} example.org/log {signature}\n");
        [&note[..], line.as_bytes()].concat()
    });
    let signed: Vec<Vec<u8>> = signed.collect();
    [plain, signed].concat()
}

pub(crate) fn keys() -> Vec<Vec<u8>> {
    // The base point of the curve is not the key of any signer.
    let point = [&[0x58][..], &[0x66; 31]].concat();
    let of = |name: &str, kind: &str| {
        let key = [&[1][..], &point].concat();
        let Digest(digest) = Digest::of(&[name.as_bytes(), b"\n", &key].concat());
        let id: String = digest
            .iter()
            .take(4)
            .map(|byte| format!("{byte:02x}"))
            .collect();
        format!("{kind}{name}+{id}+{}\n", BASE64_STANDARD.encode(key))
    };
    let public = of("example.org/log", "");
    let two = [public.clone(), of("b", "")].concat();
    let private = of("example.org/log", &["PRIVATE", "KEY", ""].join("+"));
    texts_of(&[&public, &two, &private])
}

pub(crate) fn texts() -> Vec<Vec<u8>> {
    // Put together here: no text of this repository looks like a key.
    let token = ["gh", "p_", &"aB3x".repeat(9)].concat();
    let key = format!(
        "-----BEGIN {0}-----\n{1}\n{1}\n-----END {0}-----\n",
        ["PRIVATE", "KEY"].join(" "),
        "MIIE".repeat(16)
    );
    let json = serde_json::json!({ "env": { "name": "AWS_SECRET_ACCESS_KEY", "value": "aB3xQ9z/R7tK1mW5vL8p".repeat(2) }, "k": key, "t": token });
    let within = serde_json::json!({ "out": json.to_string() }).to_string();
    texts_of(&[
        &format!("export TOKEN={token}\n"),
        &key,
        &json.to_string(),
        &within,
        "Authorization: Bearer abc.def.ghi\nhttps://ada:secret@example.org/\n+  password: x\n",
    ])
}

pub(crate) fn contracts() -> Vec<Vec<u8>> {
    let session = "7c9e6679-7425-40de-944b-e07fc1f90ae7";
    let object = |n: u8, kind: &str, more: &str| {
        format!(
            r#"{{"id":"0f8fad5b-d9cb-469f-a165-7086772895{n:02}","correlation":{{"sessionId":"{session}"}},"kind":"{kind}"{more}}}"#
        )
    };
    let branch = object(
        1,
        "CreateBranch",
        r#","repo":{"name":"r","path":"/r"},"branchName":"b""#,
    );
    let commit = object(
        2,
        "Commit",
        r#","repo":{"name":"r","path":"/r"},"message":"m","includePaths":["a"],"amend":false"#,
    );
    let rejected = object(
        3,
        "CommandRejected",
        r#","commandId":"0f8fad5b-d9cb-469f-a165-708677289501","reason":"no""#,
    );
    let unknown = object(4, "NothingKnown", r#","of":{"a":[1,2.50,null,"\u0041"]}"#);
    let all = format!("[{branch},{commit},{rejected},{unknown}]");
    let lines = [&branch[..], &commit, &rejected, &unknown].join("\n");
    texts_of(&[&branch, &commit, &rejected, &unknown, &all, &lines])
}

pub(crate) fn gemini() -> Vec<Vec<u8>> {
    let lines = [
        r#"{"sessionId":"s","projectHash":"h","startTime":"2026-01-02T03:04:00Z","kind":"main"}"#,
        r#"{"id":"u","timestamp":"2026-01-02T03:04:01Z","type":"user","content":[{"text":"Add a cache"}]}"#,
        r#"{"id":"g","timestamp":"2026-01-02T03:04:02Z","type":"gemini","model":"x","content":"Yes","thoughts":[{"subject":"Hm","description":"So"}],"tokens":{"input":9,"cached":3,"output":4,"thoughts":1,"tool":0,"total":14},"toolCalls":[{"id":"c","name":"replace","args":{"file_path":"/w/a.rs","old_string":"a","new_string":"b"},"status":"success","result":[{"functionResponse":{"id":"c","name":"replace","response":{"output":"done"}}}],"resultDisplay":{"fileDiff":"--- a\n+++ a\n@@ -1 +1 @@\n-a\n+b\n","originalContent":"a"}}]}"#,
        r#"{"$set":{"messages":[{"id":"h","type":"user","content":"<state_snapshot>"}]}}"#,
        r#"{"$rewindTo":"u"}"#,
    ];
    let document = format!(
        r#"{{"sessionId":"s","projectHash":"h","messages":[{},{}]}}"#,
        lines[1], lines[2]
    );
    let mut seeds = texts_of(&lines);
    seeds.extend([lines.join("\n").into_bytes(), document.into_bytes()]);
    seeds
}

pub(crate) fn codex() -> Vec<Vec<u8>> {
    let lines = [
        r#"{"timestamp":"2026-01-02T03:04:00Z","type":"session_meta","payload":{"id":"s","cwd":"/w","model_provider":"openai","cli_version":"1"}}"#,
        r#"{"timestamp":"2026-01-02T03:04:01Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Add a cache"}]}}"#,
        r#"{"timestamp":"2026-01-02T03:04:02Z","type":"response_item","payload":{"type":"function_call","name":"apply_patch","call_id":"c","arguments":"{\"input\":\"*** Begin Patch\\n*** Update File: a.rs\\n@@\\n-a\\n+b\\n*** End Patch\"}"}}"#,
        r#"{"timestamp":"2026-01-02T03:04:03Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":"{\"output\":\"done\",\"metadata\":{\"exit_code\":0}}"}}"#,
        r#"{"timestamp":"2026-01-02T03:04:04Z","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":9,"cached_input_tokens":3,"output_tokens":4},"last_token_usage":{"input_tokens":9,"cached_input_tokens":3,"output_tokens":4}}}}"#,
    ];
    let mut seeds = texts_of(&lines);
    seeds.push(lines.join("\n").into_bytes());
    seeds.push(include_bytes!("../seeds/rollout.jsonl.zst").to_vec());
    seeds
}

pub(crate) fn copilot() -> Vec<Vec<u8>> {
    let lines = [
        r#"{"type":"session.start","data":{"sessionId":"s","version":1,"producer":"copilot-agent"},"id":"a","timestamp":"2026-01-02T03:04:00Z","parentId":null}"#,
        r#"{"type":"user.message","data":{"content":"Add a cache","attachments":[]},"id":"b","timestamp":"2026-01-02T03:04:01Z","parentId":"a"}"#,
        r#"{"type":"assistant.message","data":{"messageId":"m","content":"Yes","toolRequests":[{"toolCallId":"c","name":"create","arguments":"{\"path\":\"/w/a\",\"file_text\":\"x\"}","type":"function"}]},"id":"d","timestamp":"2026-01-02T03:04:02Z","parentId":"b"}"#,
        r#"{"type":"tool.execution_complete","data":{"toolCallId":"c","result":{"result_type":"success","text_result_for_llm":"done"}},"id":"e","timestamp":"2026-01-02T03:04:03Z","parentId":"d"}"#,
    ];
    let mut seeds = texts_of(&lines);
    seeds.push(lines.join("\n").into_bytes());
    seeds
}

pub(crate) fn openhands() -> Vec<Vec<u8>> {
    let lines = [
        r#"{"id":"a","timestamp":"2026-01-02T03:04:01","source":"user","llm_message":{"role":"user","content":[{"type":"text","text":"Add a cache"}]},"kind":"MessageEvent"}"#,
        r#"{"id":"b","timestamp":"2026-01-02T03:04:02","source":"agent","thought":[{"type":"text","text":"Yes"}],"action":{"command":"create","path":"/w/a","file_text":"x","kind":"FileEditorAction"},"tool_name":"file_editor","tool_call_id":"c","tool_call":{"id":"c","name":"file_editor","arguments":"{\"command\":\"create\",\"path\":\"/w/a\",\"file_text\":\"x\"}"},"kind":"ActionEvent"}"#,
        r#"{"id":"d","timestamp":"2026-01-02T03:04:03","source":"environment","tool_call_id":"c","observation":{"content":[{"type":"text","text":"done"}],"is_error":false,"kind":"FileEditorObservation"},"kind":"ObservationEvent"}"#,
    ];
    let older = r#"[{"id":0,"timestamp":"2026-01-02T03:04:01","source":"user","action":"message","args":{"content":"Add a cache"}}]"#;
    let mut seeds = texts_of(&lines);
    seeds.extend([lines.join("\n").into_bytes(), older.as_bytes().to_vec()]);
    seeds
}

pub(crate) fn swe_agent() -> Vec<Vec<u8>> {
    let run = r#"{"environment":"main","history":[{"role":"system","content":"You are","message_type":"system_prompt"},{"role":"user","content":"ISSUE:\nIt rounds","message_type":"observation"},{"role":"assistant","content":"ls","thought":"ls","action":"ls","message_type":"action","tool_calls":[{"id":"c","type":"function","function":{"name":"bash","arguments":"{\"command\":\"ls\"}"}}]},{"role":"tool","content":"a.py","message_type":"observation","tool_call_ids":["c"]}],"trajectory":[{"action":"ls","observation":"a.py","response":"ls","thought":"ls","execution_time":0.25}],"info":{"exit_status":"submitted","submission":"x","model_stats":{"tokens_sent":9,"tokens_received":4}}}"#;
    texts_of(&[run])
}

pub(crate) fn copilot_chat() -> Vec<Vec<u8>> {
    vec![include_bytes!("../seeds/copilot_chat.db").to_vec()]
}

pub(crate) fn cursor() -> Vec<Vec<u8>> {
    let lines = [
        r#"{"role":"user","message":{"content":[{"type":"text","text":"<timestamp>Sunday, Aug 2, 2026, 3:51 AM (UTC-7)</timestamp>\n<user_query>\nAdd a cache\n</user_query>"}]}}"#,
        r#"{"role":"assistant","message":{"content":[{"type":"text","text":"Yes"},{"type":"tool_use","name":"Write","input":{"path":"/w/a","contents":"x"}},{"type":"tool_use","name":"StrReplace","input":{"path":"/w/a","old_string":"x","new_string":"y"}}]}}"#,
        r#"{"role":"assistant","message":{"content":[{"type":"tool_use","id":"c","name":"ApplyPatch","input":"*** Begin Patch\n*** Delete File: a\n*** End Patch"}]}}"#,
        r#"{"role":"user","message":{"content":[{"type":"tool_result","tool_use_id":"c","content":"done"}]}}"#,
        r#"{"type":"turn_ended","status":"success"}"#,
    ];
    let mut seeds = texts_of(&lines);
    seeds.push(lines.join("\n").into_bytes());
    seeds
}

pub(crate) fn opencode() -> Vec<Vec<u8>> {
    vec![
        include_bytes!("../seeds/opencode.db").to_vec(),
        include_bytes!("../seeds/opencode_2.db").to_vec(),
    ]
}

pub(crate) fn atif() -> Vec<Vec<u8>> {
    let step = r#"{"step_id":2,"timestamp":"2026-01-02T03:04:02Z","source":"agent","message":"Yes","reasoning_content":"Hm","tool_calls":[{"tool_call_id":"c","function_name":"Edit","arguments":{"file_path":"/w/a.rs","old_string":"a","new_string":"b"}}],"observation":{"results":[{"source_call_id":"c","content":"done","extra":{"is_error":true}},{"content":[{"type":"text","text":"x"}]}]},"metrics":{"prompt_tokens":9,"cached_tokens":3,"completion_tokens":4}}"#;
    let prompt = r#"{"step_id":1,"source":"user","message":"Add a cache"}"#;
    let of = |name: &str, more: &str| {
        format!(
            r#"{{"schema_version":"ATIF-v1.7","session_id":"s","trajectory_id":"{name}","agent":{{"name":"x","version":"1"}},"steps":[{prompt},{step}]{more}}}"#
        )
    };
    let inner = format!(r#","subagent_trajectories":[{}]"#, of("t2", ""));
    texts_of(&[
        &of("t", ""),
        &of("t", &inner),
        &of("t", r#","extra":{"a":1}"#),
    ])
}

pub(crate) fn recordings() -> Vec<Vec<u8>> {
    let line = |n: u8, kind: &str, message: &str| {
        format!(
            r#"{{"type":"{kind}","uuid":"u{n}","parentUuid":null,"sessionId":"s","cwd":"/w","version":"1","timestamp":"2026-01-02T03:04:{n:02}Z","message":{message}}}"#
        )
    };
    let lines = [
        r#"{"type":"summary","summary":"All of it","leafUuid":"u0"}"#.to_owned(),
        line(1, "user", r#"{"role":"user","content":"Add a cache"}"#),
        line(
            2,
            "assistant",
            r#"{"id":"m","model":"x","content":[{"type":"thinking","thinking":"Hm"},{"type":"text","text":"Yes"}],"usage":{"input_tokens":3,"output_tokens":4}}"#,
        ),
        line(
            3,
            "assistant",
            r#"{"id":"m","model":"x","content":[{"type":"tool_use","id":"t1","name":"Edit","input":{"file_path":"/w/a.rs","old_string":"a","new_string":"b"}}],"usage":{"input_tokens":3,"output_tokens":9}}"#,
        ),
        line(
            4,
            "user",
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"done"}]}"#,
        ),
    ];
    let whole = format!("{}\n", lines.join("\n"));
    let mut seeds = texts_of(&lines.each_ref().map(String::as_str));
    seeds.push(whole.into_bytes());
    seeds
}

pub(crate) fn objects() -> Vec<Vec<u8>> {
    let head = |kind: &str, n: u8| {
        format!(
            r#""object_id":"01980000-0000-7000-8000-0000000000{n:02}","object_type":"{kind}","header_version":1,"schema_version":1,"created_at":"2026-01-02T03:04:05Z","updated_at":"2026-01-02T03:04:05Z","created_by":{{"kind":"human","id":"ada","display_name":null,"auth_context":null}},"visibility":"private","tags":{{}},"external_ids":{{}},"checksum":null"#
        )
    };
    let intent = format!(
        r#"{{{},"prompt":"Add","content":null,"statuses":[{{"status":"draft","changed_at":"2026-01-02T03:04:05Z"}}]}}"#,
        head("intent", 1)
    );
    let task = format!(
        r#"{{{},"title":"Add it","description":null,"goal":null,"constraints":[],"acceptance_criteria":[],"intent":"01980000-0000-7000-8000-000000000001","runs":[],"dependencies":[],"status":"draft"}}"#,
        head("task", 2)
    );
    let both = format!("{intent}\n{task}\n");
    texts_of(&[&intent, &task, &both])
}

pub(crate) fn forge() -> Vec<Vec<u8>> {
    let seed = |(which, text): (u8, &str)| [&[which], text.as_bytes()].concat();
    (0..).zip(FORGE).map(seed).collect()
}

pub(crate) fn exports() -> Vec<Vec<u8>> {
    let annals = log();
    let mut whole = Vec::new();
    let mut shown = |_| {};
    let exported = verbatim::export(&annals, Position(1), &mut whole, &mut shown);
    block_on(exported).expect("a whole log");
    let first = whole.split_inclusive(|byte| *byte == b'\n').take(3);
    vec![first.collect::<Vec<_>>().concat(), whole]
}

pub(crate) fn git() -> Vec<Vec<u8>> {
    let content = |name: &str| {
        let found = GIT.iter().find(|(it, _)| *it == name);
        found.map_or(&[][..], |(_, content)| content)
    };
    let seed = |which: u8, content: &[u8]| [&[which], content].concat();
    vec![
        seed(0, content("HEAD")),
        seed(1, content("config")),
        seed(1, b"[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectFormat = sha256\n[include]\n\tpath = ../x\n"),
        seed(2, content("packed-refs")),
        seed(3, content("refs/heads/main")),
        seed(4, content("refs/heads/main")),
        seed(4, b"ref: refs/heads/old\n"),
        seed(5, b"../../elsewhere/objects\n"),
        seed(6, b"../elsewhere\n"),
        seed(8, content("objects/pack/pack-1.idx")),
        seed(9, content("objects/pack/pack-1.pack")),
    ]
}
