//! What an importer takes out is nowhere in the log: not in a record, not in a blob,
//! not in a file of the folder.

mod claude;
mod contracts;
mod docs;
mod forge;
mod git;
mod git_internal;

use std::fs;
use std::path::Path;

use annals::Annals;
use annals::event_log::{Content, Position, Query};
use annals_dialects::ImportReport;
use annals_dialects::secrets::Secrets;
use futures::executor::block_on;

/// A token of GitHub's form with a number of its own. No text here is one.
fn token(n: usize) -> String {
    ["gh", "p_", &format!("Pl4nted{n:0>30}")].concat()
}

/// A private key with a number of its own.
fn private_key(n: usize) -> String {
    let mark = |what: &str| format!("-----{what} {}-----", ["PRIVATE", "KEY"].join(" "));
    let lines: Vec<String> = (0..3).map(|line| key_line(n, line)).collect();
    format!("{}\n{}\n{}\n", mark("BEGIN"), lines.join("\n"), mark("END"))
}

/// A line of it.
fn key_line(n: usize, line: usize) -> String {
    format!("MIIEv{n:0>58}{line}")
}

/// A text with each `{n}` of these numbers as the token of that number.
fn planted(text: &str, numbers: std::ops::Range<usize>) -> String {
    numbers.fold(text.to_owned(), |text, n| {
        text.replace(&format!("{{{n}}}"), &token(n))
    })
}

/// All that can be read of a log through its port: records, their content, blobs.
pub(crate) fn through_port(annals: &Annals) -> Vec<u8> {
    let mut all = Vec::new();
    let mut next = Some(1);
    while let Some(from) = next {
        let page = block_on(annals.log().read(Query::all(Position(from)))).unwrap();
        for record in &page.records {
            all.extend_from_slice(record.as_bytes());
            for blob in record.content().iter().filter_map(Content::blob) {
                all.extend_from_slice(&block_on(annals.log().blob(blob)).unwrap().unwrap());
            }
        }
        next = page.next;
    }
    all
}

/// The bytes of all files of a folder and below.
pub(crate) fn files(folder: &Path) -> Vec<u8> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(files(&path));
        } else if path.is_file() {
            all.extend(fs::read(&path).unwrap());
        }
    }
    all
}

fn has(bytes: &[u8], needle: &str) -> bool {
    bytes
        .windows(needle.len())
        .any(|part| part == needle.as_bytes())
}

/// Imports a source with planted secrets twice into a log on disk, and looks for each
/// of them; and once more with the set switched off, where the same search finds
/// them all. Answers with the report of the first import.
fn check(needles: &[String], import: impl Fn(&Annals, &Secrets) -> ImportReport) -> ImportReport {
    let folder = tempfile::tempdir().unwrap();
    let annals = block_on(Annals::open(folder.path().join("log").to_str().unwrap())).unwrap();
    let report = import(&annals, &Secrets::standard());
    let again = import(&annals, &Secrets::standard());
    assert_eq!(again.events_made, 0, "{again}");
    let stored = through_port(&annals);
    block_on(annals.close());
    let on_disk = files(folder.path());
    for needle in needles {
        assert!(
            !has(&stored, needle),
            "{needle} is in a record or a blob\n{report}"
        );
        assert!(!has(&on_disk, needle), "{needle} is in a file\n{report}");
        // A file's name is as its folder has it; nothing else has a secret.
        let mut places = report.redacted.kinds().iter().flat_map(|it| &it.places);
        assert!(!places.any(|place| place.field.contains(needle.as_str())));
    }
    assert!(has(&stored, "[redacted:"));

    let folder = tempfile::tempdir().unwrap();
    let annals = block_on(Annals::open(folder.path().join("log").to_str().unwrap())).unwrap();
    let control = import(&annals, &Secrets::none());
    assert!(control.redacted.is_empty());
    let stored = through_port(&annals);
    block_on(annals.close());
    let on_disk = files(folder.path());
    let missing = needles.iter().filter(|needle| !has(&stored, needle));
    assert_eq!(
        missing.collect::<Vec<_>>(),
        Vec::<&String>::new(),
        "{control}"
    );
    // Tables and blobs may be compressed; what was written last is not.
    assert!(needles.iter().any(|needle| has(&on_disk, needle)));
    report
}

/// How many of a kind were taken out.
fn count(report: &ImportReport, kind: &str) -> u64 {
    let mut kinds = report.redacted.kinds().iter();
    kinds.find(|it| it.kind == kind).map_or(0, |it| it.count)
}

/// The places of a kind, without the folder.
fn places(report: &ImportReport, kind: &str) -> Vec<String> {
    let mut kinds = report.redacted.kinds().iter();
    let kind = kinds.find(|it| it.kind == kind).unwrap();
    let place = |place: &annals_dialects::secrets::RedactedPlace| {
        let text = place.to_string();
        text.rsplit('/').next().unwrap().to_owned()
    };
    kind.places.iter().map(place).collect()
}
