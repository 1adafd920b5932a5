//! Damaged lines of recordings, of all agents that record lines: whole records are read, what is lost is named.

use annals_dialects::ImportReport;
use annals_dialects::import::{GrowingRecordings, ImportOptions};
use futures::executor::block_on;
use serde_json::{Value, json};

use crate::claude::log::Log;
use crate::claude::recording::{Folder, Recording};
use crate::recorded::{assert_same, import, log_of, prompts, text};

/// A recording of an agent whose prompts are on lines of their own.
struct Sample {
    agent: &'static str,
    name: &'static str,
    lines: Vec<Value>,
    /// The lines of the prompts "One", "Two" and "Three", from 0.
    prompts: [usize; 3],
}

fn at(second: usize) -> String {
    format!("2026-01-02T03:00:{second:02}.000Z")
}

fn claude() -> Sample {
    let mut recording = Recording::of("s");
    for (number, prompt) in ["One", "Two", "Three"].into_iter().enumerate() {
        recording
            .user(json!(prompt))
            .text(&format!("m{number}"), "Yes, 日本.");
    }
    Sample {
        agent: "claude",
        name: "s.jsonl",
        lines: recording.lines,
        prompts: [0, 2, 4],
    }
}

fn codex() -> Sample {
    const THREAD: &str = "019b0000-0000-7000-8000-000000000001";
    let mut lines = vec![json!({
        "timestamp": at(0), "type": "session_meta",
        "payload": { "id": THREAD, "timestamp": at(0), "cwd": "/w", "source": "cli" },
    })];
    let mut said = |role: &str, kind: &str, text: &str| {
        let content = json!([{ "type": kind, "text": text }]);
        let payload = json!({ "type": "message", "role": role, "content": content });
        lines.push(
            json!({ "timestamp": at(lines.len()), "type": "response_item", "payload": payload }),
        );
    };
    for prompt in ["One", "Two", "Three"] {
        said("user", "input_text", prompt);
        said("assistant", "output_text", &format!("Yes, {prompt}, 日本."));
    }
    Sample {
        agent: "codex",
        name: "rollout-2026-01-02T03-00-00-019b0000-0000-7000-8000-000000000001.jsonl",
        lines,
        prompts: [1, 3, 5],
    }
}

fn copilot() -> Sample {
    let mut lines: Vec<Value> = Vec::new();
    let mut event = |kind: &str, data: Value| {
        let number = lines.len();
        let id = |number: usize| format!("e2000000-0000-4000-8000-{number:012}");
        let parent = number.checked_sub(1).map(id);
        lines.push(json!({
            "type": kind, "data": data, "id": id(number), "parentId": parent, "timestamp": at(number),
        }));
    };
    event(
        "session.start",
        json!({ "sessionId": "s", "version": 1, "context": { "cwd": "/w" } }),
    );
    for prompt in ["One", "Two", "Three"] {
        event(
            "user.message",
            json!({ "content": prompt, "attachments": [] }),
        );
        let said = json!({ "messageId": prompt, "content": "Yes, 日本.", "toolRequests": [] });
        event("assistant.message", said);
    }
    Sample {
        agent: "copilot",
        name: "events.jsonl",
        lines,
        prompts: [1, 3, 5],
    }
}

fn gemini() -> Sample {
    let mut lines = vec![json!({
        "sessionId": "s", "projectHash": "cafe", "startTime": at(0), "lastUpdated": at(0), "kind": "main",
    })];
    for prompt in ["One", "Two", "Three"] {
        for (kind, content) in [("user", prompt), ("gemini", "Yes, 日本.")] {
            lines.push(json!({
                "id": format!("{kind}-{prompt}"), "timestamp": at(lines.len()), "type": kind, "content": content,
            }));
        }
    }
    Sample {
        agent: "gemini",
        name: "session-1.jsonl",
        lines,
        prompts: [1, 3, 5],
    }
}

fn openhands() -> Sample {
    let mut lines: Vec<Value> = Vec::new();
    for prompt in ["One", "Two", "Three"] {
        for (source, role, said) in [
            ("user", "user", prompt),
            ("agent", "assistant", "Yes, 日本."),
        ] {
            let content = json!([{ "type": "text", "text": said, "cache_prompt": false }]);
            lines.push(json!({
                "id": format!("event-{}", lines.len()), "timestamp": at(lines.len()).trim_end_matches('Z'),
                "source": source, "kind": "MessageEvent",
                "llm_message": { "role": role, "content": content },
            }));
        }
    }
    Sample {
        agent: "openhands",
        name: "events.jsonl",
        lines,
        prompts: [0, 2, 4],
    }
}

fn cursor() -> Sample {
    let mut lines: Vec<Value> = Vec::new();
    for prompt in ["One", "Two", "Three"] {
        let asked = format!("<user_query>\n{prompt}\n</user_query>");
        for (role, said) in [
            ("user", asked),
            ("assistant", format!("Yes, {prompt}, 日本.")),
        ] {
            let content = json!([{ "type": "text", "text": said }]);
            lines.push(json!({ "role": role, "message": { "content": content } }));
        }
    }
    Sample {
        agent: "cursor",
        name: "s.jsonl",
        lines,
        prompts: [0, 2, 4],
    }
}

fn samples() -> [Sample; 6] {
    [
        claude(),
        codex(),
        copilot(),
        gemini(),
        openhands(),
        cursor(),
    ]
}

impl Sample {
    fn file(&self) -> String {
        text(&self.lines)
    }

    /// The file with something before the line of the second prompt, on that line.
    fn with_before(&self, before: &[u8]) -> Vec<u8> {
        let line = self.prompts[1];
        let mut bytes = text(&self.lines[..line]).into_bytes();
        bytes.extend_from_slice(before);
        bytes.extend_from_slice(text(&self.lines[line..]).as_bytes());
        bytes
    }

    /// The line of the answer to the first prompt, as it is written a second time.
    fn answer(&self) -> Vec<u8> {
        self.lines[self.prompts[0] + 1].to_string().into_bytes()
    }

    /// What an import names of a damaged line, and that nothing else is missing, and a second one adds nothing.
    fn check(&self, bytes: &[u8]) -> Vec<String> {
        let mut log = log_of(self.name, bytes);
        let whole = log_of(self.name, self.file());
        assert_same(&log, &whole, self.agent);
        assert_eq!(prompts(&log), ["One", "Two", "Three"], "{}", self.agent);
        let named = named(&log.report);
        let end = log.annals.position();
        let folder = Folder::new();
        let path = folder.write(self.name, bytes);
        import(&mut log, &path);
        assert_eq!(log.annals.position(), end, "{}", log.report);
        assert_eq!(self::named(&log.report), named, "{}", log.report);
        named
    }
}

fn named(report: &ImportReport) -> Vec<String> {
    let broken = report.broken.iter();
    broken
        .map(|it| format!("{}: {}", it.line, it.reason))
        .collect()
}

const READ: &str = "the whole records of the line were read";

#[test]
fn a_whole_record_behind_one_that_was_cut_off_is_read() {
    for sample in samples() {
        let line = sample.prompts[1] + 1;
        let answer = sample.answer();
        // Wherever it was cut off: also within a character, and behind an object that it has.
        let text = String::from_utf8(answer.clone()).unwrap();
        let is_odd =
            |cut: &usize| !text.is_char_boundary(*cut) || text[..*cut].ends_with(['}', ':', '{']);
        for cut in (1..answer.len()).filter(|cut| cut % 16 == 0 || is_odd(cut)) {
            let before = answer.get(..cut).unwrap();
            let expected = format!(
                "{line}: bytes 1 to {cut} of the line are a part of a record, which is lost; {READ}"
            );
            let named = sample.check(&sample.with_before(before));
            assert_eq!(named, [expected], "{} cut at {cut}", sample.agent);
        }
    }
}

#[test]
fn nul_bytes_before_a_record_are_named() {
    for sample in samples() {
        let line = sample.prompts[1] + 1;
        let named = sample.check(&sample.with_before(&[0; 4096]));
        let expected = format!(
            "{line}: bytes 1 to 4096 of the line are NUL, and what was written there is lost; {READ}"
        );
        assert_eq!(named, [expected], "{}", sample.agent);
        // Also at the beginning and the end of the file.
        let bytes = [&[0; 16], sample.file().as_bytes(), &[0; 16]].concat();
        let named = sample.check(&bytes);
        let [first, last] = named.as_slice() else {
            panic!("{named:?}");
        };
        assert!(first.starts_with("1: bytes 1 to 16 of the line are NUL"));
        let end = sample.lines.len() + 1;
        assert!(last.starts_with(&format!("{end}: bytes 1 to 16 of the line are NUL")));
    }
}

#[test]
fn a_record_before_one_that_was_cut_off_is_read() {
    for sample in samples() {
        let answer = sample.answer();
        let cut = answer.get(..answer.len() / 2).unwrap();
        let line = sample.prompts[1];
        let bytes = [
            text(&sample.lines[..line]).as_bytes(),
            sample.lines[line].to_string().as_bytes(),
            cut,
            b"\n",
            text(&sample.lines[line + 1..]).as_bytes(),
        ]
        .concat();
        let named = sample.check(&bytes);
        assert!(
            named.len() == 1 && named[0].ends_with(READ),
            "{}: {named:?}",
            sample.agent
        );
    }
}

/// A lost record is lost: of the first answer only its beginning is there.
#[test]
fn what_was_cut_off_for_good_is_all_that_is_missing() {
    for sample in samples() {
        let answer = sample.answer();
        let (half, first) = (answer.len() / 2, sample.prompts[0]);
        let bytes = [
            text(&sample.lines[..=first]).as_bytes(),
            answer.get(..half).unwrap(),
            text(&sample.lines[first + 2..]).as_bytes(),
        ]
        .concat();
        let log = log_of(sample.name, &bytes);
        assert_eq!(prompts(&log), ["One", "Two", "Three"], "{}", sample.agent);
        let mut less = sample.lines.clone();
        less.remove(first + 1);
        let without = log_of(sample.name, text(&less));
        assert_eq!(log.frames(), without.frames(), "{}", sample.agent);
        assert_eq!(log.report.broken_count, 1, "{}", log.report);
        assert_eq!(log.report.records_read, without.report.records_read + 1);
    }
}

/// Followed byte by byte around the damage, it is the same as at once, and each damage is named once.
#[test]
fn followed_a_damaged_recording_is_the_same() {
    for sample in samples() {
        let answer = sample.answer();
        let cut = answer.get(..answer.len() / 2).unwrap();
        let before = [cut, &[0; 8][..]].concat();
        let bytes = sample.with_before(&before);
        let whole = log_of(sample.name, &bytes);
        let begin = text(&sample.lines[..sample.prompts[1]]).len();
        let end = begin + before.len() + sample.lines[sample.prompts[1]].to_string().len();
        let (folder, log) = (Folder::new(), Log::empty());
        let options = ImportOptions::default();
        let mut growing = GrowingRecordings::new(&log.annals, sample.agent, &options).unwrap();
        let mut broken = Vec::new();
        // Of agents whose recordings are read anew each time, each import names it.
        let is_in_lines = ["claude", "codex", "copilot", "cursor"].contains(&sample.agent);
        let lengths = match is_in_lines {
            true => (begin..=end + 1)
                .chain([bytes.len(), bytes.len()])
                .collect(),
            false => vec![bytes.len()],
        };
        for length in lengths {
            let path = folder.write(sample.name, bytes.get(..length).unwrap());
            let report = block_on(growing.grown(&path, &mut |_| {})).unwrap();
            broken.extend(named(&report));
        }
        assert_same(&log, &whole, sample.agent);
        assert_eq!(broken, named(&whole.report), "{}", sample.agent);
    }
}

/// The first line says whose recording it is.
#[test]
fn a_recording_is_recognized_by_damaged_lines() {
    for sample in samples() {
        let lines: Vec<String> = sample.lines.iter().map(Value::to_string).collect();
        let whole = log_of(sample.name, sample.file());
        for before in [&b"\0\0\0"[..], b"{\"cut\":\"\xe6"] {
            let bytes: Vec<u8> = lines
                .iter()
                .flat_map(|line| [before, line.as_bytes(), b"\n"].concat())
                .collect();
            let log = log_of(sample.name, &bytes);
            assert_same(&log, &whole, sample.agent);
            assert_eq!(log.report.broken_count, lines.len() as u64);
        }
    }
}

#[test]
fn the_secrets_of_a_damaged_line_are_taken_out() {
    let secret = format!("ghp_{}a1B2c3", "a1B2c3D4e5".repeat(3));
    let mut sample = claude();
    sample.lines[sample.prompts[1]]["message"]["content"] = json!(format!("Use {secret}"));
    let cut = format!("{{\"type\":\"user\",\"text\":\"{secret} ");
    let log = log_of(sample.name, sample.with_before(cut.as_bytes()));
    let prompts = prompts(&log);
    assert!(prompts[1].starts_with("Use [redacted:"), "{prompts:?}");
    assert_eq!(log.report.redacted.count(), 1, "{}", log.report);
    let named = named(&log.report);
    assert!(
        named[0].contains(&format!("bytes 1 to {} of", cut.len())),
        "{named:?}"
    );
}
