//! Reading beside recording: it makes the same log as reading before it.

#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use annals::Annals;
use annals::projections::Entry;
use annals_domain::Timestamp;
use annals_event_log::memory::MemoryLog;
use annals_event_log::{IdSecret, Position, Query};
use futures::StreamExt;
use futures::executor::block_on;
use serde_json::{Value, json};
use tempfile::TempDir;
use uuid::Uuid;

use super::*;
use crate::import::source::{self, ReadEvent, Reader};
use crate::import::{counting, record};
use crate::reading;
use crate::secrets::Secrets;
use crate::transcript::commands::{self, Asked};
use crate::transcript::importer::Importer;

/// A session with prompts, texts, calls, edits, secrets, lines without a name and lines that
/// are none, of which some are longer than what is handed over at once.
fn session(name: &str, lines: usize) -> String {
    let mut text = json!({ "type": "summary", "summary": name, "leafUuid": "leaf" }).to_string();
    text.push('\n');
    for n in 0..lines {
        let said = |kind: &str, content: Value| {
            let message = json!({
                "id": format!("{name}-m{}", n / 4), "role": kind, "model": "model-1",
                "content": content, "usage": { "input_tokens": n, "output_tokens": 1 },
            });
            let second = format!(
                "2026-01-02T{:02}:{:02}:{:02}Z",
                n / 3600,
                n / 60 % 60,
                n % 60
            );
            json!({
                "type": kind, "uuid": format!("{name}-{n}"), "sessionId": name,
                "cwd": "/home/ada", "timestamp": second, "message": message,
            })
        };
        let call = format!("{name}-t{}", n / 3);
        let file =
            json!({ "file_path": "/home/ada/a.rs", "old_string": "a\n", "new_string": "b\n" });
        // Longer than what is kept of a text; of a result all is kept.
        let long = if n < 4 { 600_000 } else { 0 };
        let line = match n % 12 {
            0 => said(
                "user",
                json!(format!(
                    "Prompt {n}: use ghp_{}a1B2c3",
                    "a1B2c3D4e5".repeat(3)
                )),
            ),
            1 | 4 | 7 => said(
                "assistant",
                json!([{ "type": "tool_use", "id": call, "name": "Read", "input": file }]),
            ),
            10 => said(
                "assistant",
                json!([{ "type": "tool_use", "id": call, "name": "Edit", "input": file }]),
            ),
            2 | 5 | 8 | 11 => said(
                "user",
                json!([{ "type": "tool_result", "tool_use_id": call, "content": "x y ".repeat(long + n * 40 % 9_000) }]),
            ),
            3 => said(
                "assistant",
                json!([{ "type": "thinking", "thinking": "Hm?" }, { "type": "text", "text": "t ".repeat(long + n * 7_000 % 100_000) }]),
            ),
            6 => {
                json!({ "type": "user", "sessionId": name, "message": { "content": format!("<command-name>{n}") } })
            }
            9 if n % 24 == 9 => {
                json!({ "type": "system", "uuid": format!("{name}-{n}"), "sessionId": name, "content": format!("Said {n}") })
            }
            _ => json!({ "type": "novelty", "n": n }),
        };
        writeln!(text, "{line}").unwrap();
        if n % 17 == 0 {
            text.push_str("\n{ no json\n");
        }
    }
    text
}

fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, lines) in [("b", 700), ("a", 90), ("empty", 0)] {
        let path = folder.path().join(format!("{name}.jsonl"));
        fs::write(path, session(name, lines)).unwrap();
    }
    // Some of what the first one says, again, and some of it otherwise.
    let again = session("b", 200).replace("Prompt 36", "Prompt 37");
    fs::write(folder.path().join("c.jsonl"), again).unwrap();
    folder
}

/// An import into a log that had nothing: all entries, the report, and what was told on the way.
fn import_from(
    read: impl FnOnce(Reader, Arc<AtomicBool>) -> reading::Events<ReadEvent, ClaudeImportError>,
) -> (Vec<Entry>, ImportReport, Vec<Progress>) {
    let names = IdSecret::from_bytes(&[1; 32]).unwrap();
    let log = MemoryLog::with_id_secret(Uuid::from_u128(7), names.clone());
    let annals = Annals::over(Arc::new(log));
    let options = ClaudeOptions::default();
    let count_ahead = Arc::default();
    let reader = Reader {
        secrets: options.secrets.clone(),
        names: Some(names),
        kind: &KIND,
        found: None,
        keeps: false,
        raw: None,
        format: Box::new(Claude::default()),
    };
    let events = read(reader, Arc::clone(&count_ahead));
    let importer = Importer::new(&annals, &AGENT, &options, count_ahead, "claude".to_owned());
    let mut told = Vec::new();
    let mut progress = |progress| told.push(progress);
    let report = block_on(record(importer, events, &mut progress))
        .unwrap()
        .unwrap();
    let (mut entries, mut next) = (Vec::new(), Some(1));
    while let Some(from) = next {
        let page = block_on(annals.log().read(Query::all(Position(from)))).unwrap();
        for record in &page.records {
            // When the log took it no two imports share.
            let recorded_at = Timestamp::EPOCH;
            let entry = block_on(annals.contents().entry(record)).unwrap();
            entries.push(Entry {
                recorded_at,
                ..entry
            });
        }
        next = page.next;
    }
    (entries, report, told)
}

#[test]
fn several_threads_make_the_log_that_one_makes() {
    let folder = folder();
    let path = folder.path();
    let one = import_from(|mut reader, _| source::here(path, &mut reader));
    let counted = import_from(|mut reader, _| {
        let read = source::here(path, &mut reader);
        counting::start(read, Arc::new(AtomicBool::new(true))).unwrap()
    });
    let several = import_from(|reader, is_wanted| {
        counting::start(source::start(path, reader).unwrap(), is_wanted).unwrap()
    });
    for other in [&counted, &several] {
        assert_eq!(one.1, other.1, "the reports");
        assert_eq!(one.2, other.2, "what was told on the way");
        assert_eq!(one.0.len(), other.0.len());
        for (one, other) in one.0.iter().zip(&other.0) {
            assert_eq!(one, other);
        }
    }
    let report = &several.1;
    assert!(
        report.events_made > 1_000 && report.broken_count > 40,
        "{report}"
    );
    assert!(report.already_there > 100, "{report}");
    assert!(
        !report.redacted.is_empty() && !report.unknown_types.is_empty(),
        "{report}"
    );
}

#[test]
fn of_what_is_read_ahead_little_is_held() {
    let folder = folder();
    let mut reader = Reader {
        secrets: Secrets::none(),
        names: None,
        kind: &KIND,
        found: None,
        keeps: false,
        raw: None,
        format: Box::new(Claude::default()),
    };
    let mut events = source::here(folder.path(), &mut reader);
    let (mut parts, mut done) = (0, 0);
    while let Some(received) = block_on(events.next()) {
        if let ReadEvent::Lines(lines) = received.unwrap() {
            let Some(last) = lines.last() else { continue };
            assert!(lines.len() <= 64);
            // A part ends with the line that makes it as long as it may be.
            let before_last = lines.iter().nth_back(1).map_or(done, |line| line.done);
            assert!(before_last.saturating_sub(done) < 256 * 1024);
            (parts, done) = (parts + 1, last.done);
        }
    }
    assert!(parts > 20, "{parts}");
}

/// Versions before this one recorded all of a text as the prompt, with what the editor told beside it.
#[test]
fn a_prompt_that_was_recorded_with_what_stood_beside_it_is_known() {
    let beside = "<ide_opened_file>a.rs</ide_opened_file>\nFix it";
    let long = format!(
        "<ide_opened_file>a.rs</ide_opened_file>\n{}",
        "x".repeat(1 << 21)
    );
    let selected = format!(
        "<ide_selection>{}</ide_selection>\nFix it",
        "x".repeat(1 << 21)
    );
    for (logged, said, is_known) in [
        (beside, beside, true),
        ("Fix it", beside, true),
        ("Fix that", beside, false),
        (long.as_str(), long.as_str(), true),
        (selected.as_str(), selected.as_str(), true),
    ] {
        let annals = Annals::over(Arc::new(MemoryLog::new(Uuid::from_u128(7))));
        let asked = Asked {
            intent: ids().intent("l"),
            refines: None,
            text: logged,
            session: "s",
            line: Some("l"),
            prompt: None,
        };
        let requests = commands::prompt(&AGENT, &asked, Timestamp::EPOCH);
        let key = ids().prompt_batch("l");
        block_on(annals.execute_batch(Some(key), requests)).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let line = json!({
            "type": "user", "uuid": "l", "sessionId": "s", "message": { "content": said },
        });
        fs::write(folder.path().join("s.jsonl"), line.to_string()).unwrap();
        let options = ClaudeOptions::default();
        let report = block_on(import(&annals, folder.path(), &options, &mut |_| {})).unwrap();
        assert_eq!(report.broken.is_empty(), is_known, "{report}");
        let page = block_on(annals.log().read(Query::all(Position(1)))).unwrap();
        let records = page.records.iter();
        let prompts = records.filter(|record| record.event_type() == "intent.submitted");
        assert_eq!(prompts.count(), 1);
    }
}
