//! The text of recordings that is kept with `--keep-raw`, and given back.

use std::path::Path;

use annals_dialects::import::{self, ImportOptions};
use annals_dialects::raw::{self, RawExportReport};
use annals_dialects::{ImportReport, Progress};
use futures::executor::block_on;

use crate::claude::log::Log;
use crate::claude::recording::Folder;

const LINE: &str = r#"{"type":"user","uuid":"u1","sessionId":"s1","timestamp":"2026-01-02T03:04:05Z","message":{"role":"user","content":"Fix it"}}"#;

fn keep(log: &Log, path: &Path) -> ImportReport {
    let options = ImportOptions::default().with_keep_raw(true);
    let mut none = |_| {};
    let imported = import::recordings(&log.annals, path, Some("claude"), &options, &mut none);
    block_on(imported).unwrap().remove(0)
}

fn export(log: &Log, folder: &Path) -> RawExportReport {
    let mut last = Progress { done: 0, total: 0 };
    let mut shown = |progress| last = progress;
    let exported = raw::export(&log.annals, folder, None, &mut shown);
    let report = block_on(exported).unwrap();
    assert_eq!(last.done, last.total);
    report
}

/// What is exported of a file with this text.
fn given_back(bytes: &[u8]) -> String {
    let (from, to) = (Folder::new(), Folder::new());
    let log = Log::empty();
    from.write("a/session.jsonl", bytes);
    assert_eq!(keep(&log, from.path()).kept_raw, 1);
    let report = export(&log, to.path());
    assert_eq!((report.written, report.not_written.len()), (1, 0));
    assert_eq!(export(&log, to.path()).unchanged, 1);
    std::fs::read_to_string(to.path().join("claude/a/session.jsonl")).unwrap()
}

#[test]
fn a_text_comes_back_byte_for_byte() {
    let two = LINE.replace("u1", "u2");
    let long = LINE.replace("Fix it", &"é".repeat(1_500_000));
    for text in [
        format!("{LINE}\n{two}\n"),
        format!("{LINE}\n{two}"),
        format!("\u{feff}{LINE}\r\n\r\n  \t\n{two}\r\n\n"),
        format!("{LINE}{two}\nno json\n"),
        format!("{long}\n{two}\n{long}"),
    ] {
        assert!(given_back(text.as_bytes()) == text, "{:.300}", text);
    }
}

#[test]
fn secrets_are_gone() {
    let token = format!("ghp_{}", "Ab3".repeat(12));
    let with = LINE.replace("Fix it", &format!("use {token}"));
    let escaped = with.replace("ghp_", "\\u0067hp_").replace("u1", "u2");
    let text = given_back(format!("{with}\n{escaped}\n").as_bytes());
    assert!(!text.contains("Ab3Ab3"), "{text}");
    assert_eq!(text.lines().count(), 2);

    // A line that is not JSON has secrets, too.
    let text = given_back(format!("{LINE}\n{with}{{\nsee {token}\n").as_bytes());
    assert!(!text.contains("Ab3Ab3"), "{text}");
    assert_eq!(text.lines().count(), 3);

    // Nor is a key over several lines that are not JSON.
    let key = "-----BEGIN RSA PRIVATE KEY-----\n".to_owned()
        + &"MIIEpAIBAAKCAQEAuGbXWiK3dQTyCbX5xdE4yCuYp0AF2d15Qq1JSXT8lx8CEAc9\n".repeat(5)
        + "-----END RSA PRIVATE KEY-----\n";
    let text = given_back(format!("{LINE}\n{key}done\n").as_bytes());
    assert!(!text.contains("uGbXWiK3dQTyCbX5"), "{text}");
    assert!(text.ends_with("done\n"), "{text}");
}

/// No secret can be seen in bytes that are not text, or are text of another form: they are left out.
#[test]
fn lines_that_are_no_text_are_left_out_and_named() {
    let token = format!("ghp_{}", "Ab3".repeat(12));
    let wide: Vec<u8> = token.bytes().flat_map(|byte| [byte, 0]).collect();
    let odd = [
        LINE.as_bytes(),
        b"\n\xff",
        token.as_bytes(),
        b"\n",
        &wide,
        b"\n",
    ];
    assert_eq!(given_back(&odd.concat()), format!("{LINE}\n\n\n"));
    let (from, log) = (Folder::new(), Log::empty());
    keep(&log, &from.write("a.jsonl", odd.concat()));
    let kept = block_on(raw::kept(&log.annals, None)).unwrap();
    assert_eq!(kept.recordings[0].changed_lines, [2, 3]);
}

/// The same text is kept once, and one that has grown takes the place of what it was.
#[test]
fn a_recording_that_grew_is_given_back_as_it_is_now() {
    let (from, to) = (Folder::new(), Folder::new());
    let log = Log::empty();
    let two = LINE.replace("u1", "u2");
    let path = from.write("session.jsonl", format!("{LINE}\n"));
    assert_eq!(keep(&log, &path).kept_raw, 1);
    let end = log.annals.position();
    assert_eq!(keep(&log, &path).kept_raw, 0);
    assert_eq!(log.annals.position(), end);
    from.write("session.jsonl", format!("{LINE}\n{two}\n"));
    assert_eq!(keep(&log, &path).kept_raw, 1);

    let report = export(&log, to.path());
    assert_eq!((report.written, report.outgrown), (1, 1));
    let text = std::fs::read_to_string(to.path().join("claude/session.jsonl")).unwrap();
    assert_eq!(text, format!("{LINE}\n{two}\n"));
}

/// Two texts of one name are both given back, and a file that the export did not write stays.
#[test]
fn no_text_takes_the_place_of_another() {
    let (from, to) = (Folder::new(), Folder::new());
    let log = Log::empty();
    let other = LINE.replace("u1", "u2").replace("s1", "s2");
    let path = from.write("session.jsonl", format!("{other}\n"));
    keep(&log, &path);
    from.write("session.jsonl", format!("{LINE}\n"));
    keep(&log, &path);
    let report = export(&log, to.path());
    assert_eq!((report.written, report.outgrown), (2, 0));
    let kept = block_on(raw::kept(&log.annals, Some("claude")))
        .unwrap()
        .recordings;
    let name = format!("claude/session.{}.jsonl", &kept[0].sha256[..8]);
    let text = std::fs::read_to_string(to.path().join(name)).unwrap();
    assert_eq!(text, format!("{other}\n"));

    to.write("claude/session.jsonl", "mine");
    let report = export(&log, to.path());
    assert_eq!((report.written, report.unchanged), (0, 1));
    assert_eq!(report.not_written.len(), 1);
    assert!(
        report.not_written[0]
            .reason
            .contains("another file is there")
    );
    let text = std::fs::read_to_string(to.path().join("claude/session.jsonl")).unwrap();
    assert_eq!(text, "mine");
    let others = block_on(raw::kept(&log.annals, Some("codex"))).unwrap();
    assert_eq!(others.recordings, []);
}
