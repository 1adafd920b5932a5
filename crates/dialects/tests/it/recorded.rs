//! Recordings of any agent, imported by what they say: what the log then has, and that it does not
//! depend on the pieces that they were read in.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::Path;

use annals::projections::Entry;
use annals_dialects::ImportReport;
use annals_dialects::import::{self, GrowingRecordings, ImportError, ImportOptions};
use annals_domain::run::{Event as RunEvent, ToolInvoked};
use annals_domain::{AnyEvent, RunId};
use futures::executor::block_on;

use crate::claude::log::Log;
use crate::claude::recording::Folder;
use crate::conversation::conversations;

/// The agents whose recordings grow by lines alone.
const GROWING: [&str; 3] = ["claude", "codex", "copilot"];

/// Imports what is at `path`: recordings of this agent, or of those that they say.
pub(crate) fn try_import(
    log: &Log,
    agent: Option<&str>,
    path: &Path,
) -> Result<Vec<ImportReport>, ImportError> {
    let options = ImportOptions::default();
    let mut none = |_| {};
    block_on(import::recordings(
        &log.annals,
        path,
        agent,
        &options,
        &mut none,
    ))
}

/// Imports what is at `path`; the report of the one agent that it is of.
pub(crate) fn import(log: &mut Log, path: &Path) {
    let mut reports = try_import(log, None, path).unwrap();
    assert_eq!(reports.len(), 1);
    log.report = reports.pop().unwrap();
}

/// The text of a recording that has these lines.
pub(crate) fn text(lines: &[impl Display]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// A log of one recording of which all lines can be read.
pub(crate) fn log_of_lines(name: &str, lines: &[impl Display]) -> Log {
    let log = log_of(name, text(lines));
    assert_eq!(log.report.broken, [], "{}", log.report);
    log
}

/// A log of one file.
pub(crate) fn log_of(name: &str, bytes: impl AsRef<[u8]>) -> Log {
    let mut log = Log::empty();
    import_bytes(&mut log, name, bytes);
    log
}

/// Imports a file that is made of `bytes`.
pub(crate) fn import_bytes(log: &mut Log, name: &str, bytes: impl AsRef<[u8]>) {
    let folder = Folder::new();
    let path = folder.write(name, bytes);
    import(log, &path);
}

/// Why the agent of a file is not known, or is another.
pub(crate) fn refused(agent: Option<&str>, name: &str, bytes: &str) -> String {
    let folder = Folder::new();
    let path = folder.write(name, bytes);
    let error = try_import(&Log::empty(), agent, &path)
        .unwrap_err()
        .to_string();
    error.replace(&path.display().to_string(), "FILE")
}

/// What happened, without its place in the log, and without tokens, whose places may differ, and requests of calls, which
/// depend on where an import ended.
pub(crate) fn happened(log: &Log) -> Vec<impl PartialEq + std::fmt::Debug + use<>> {
    let entries = log.entries().into_iter();
    let entries = entries.filter(|entry| {
        !matches!(
            &entry.event,
            AnyEvent::Run(RunEvent::UsageRecorded(_) | RunEvent::ToolRequested(_))
        )
    });
    let facts = |entry: Entry| {
        let who = (
            entry.event_id,
            entry.batch_id,
            entry.actor,
            entry.occurred_at,
        );
        (entry.stream, who, entry.event, entry.pieces)
    };
    entries.map(facts).collect()
}

/// Two logs have the same, in the same order, and show the same conversations.
#[track_caller]
pub(crate) fn assert_same(log: &Log, expected: &Log, how: &str) {
    // Not the whole of both, which are thousands of lines long.
    let (log_has, expected_has) = (happened(log), happened(expected));
    for (number, (is, should)) in log_has.iter().zip(&expected_has).enumerate() {
        assert_eq!(is, should, "{how}: event {number}");
    }
    assert_eq!(log_has.len(), expected_has.len(), "{how}");
    assert_eq!(log.tokens(), expected.tokens(), "{how}");
    assert_eq!(conversations(log), conversations(expected), "{how}");
}

/// Nothing is added by another import, and nothing is odd.
pub(crate) fn assert_complete(log: &mut Log, name: &str, bytes: impl AsRef<[u8]>) {
    let end = log.annals.position();
    import_bytes(log, name, bytes);
    assert_eq!(log.annals.position(), end, "{}", log.report);
    assert_eq!(log.report.broken, [], "{}", log.report);
}

/// Followed while it grows to each of some lengths in bytes, which may end within a line, it is the same as at once,
/// and each line is read once.
pub(crate) fn check_followed(
    agent: &str,
    (name, bytes): (&str, &[u8]),
    lengths: impl IntoIterator<Item = usize>,
    once: &Log,
) {
    let (folder, log) = (Folder::new(), Log::empty());
    let options = ImportOptions::default();
    let mut growing = GrowingRecordings::new(&log.annals, agent, &options).unwrap();
    let (mut read, mut events) = (0, 0);
    let mut ends = Vec::new();
    for length in lengths.into_iter().chain([bytes.len(), bytes.len()]) {
        let path = folder.write(name, &bytes[..length]);
        let report = block_on(growing.grown(&path, &mut |_| {})).unwrap();
        assert_eq!(report.broken, [], "up to {length}: {report}");
        read += report.records_read;
        events += report.events_made;
        ends.push(log.annals.position());
    }
    assert_eq!(ends.pop(), ends.pop(), "the same once more");
    assert_eq!(log.annals.position().0, events);
    assert_eq!(read, once.report.records_read);
    assert_same(&log, once, "followed");
}

/// Where each line ends, the middle of each, and where nothing but a brace has come.
pub(crate) fn within_lines(bytes: &[u8]) -> Vec<usize> {
    let mut lengths = vec![0, 1];
    let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    for (end, _) in ends {
        let begin = lengths.last().copied().unwrap();
        // Without its end, too.
        lengths.extend([usize::midpoint(begin, end), end, end + 1]);
    }
    lengths
}

/// Cut at each line from the first one on at which a file says whose it is, and then whole, and read again, it is the
/// same as at once. So it is with each line twice.
pub(crate) fn check_lines<L: Display>(name: &str, lines: &[L], first: usize) {
    let once = log_of_lines(name, lines);
    for cut in first..=lines.len() {
        let mut grown = log_of_lines(name, lines.get(..cut).unwrap());
        import_bytes(&mut grown, name, text(lines));
        assert_eq!(grown.report.broken, [], "{cut}: {}", grown.report);
        assert_same(&grown, &once, &format!("cut after line {cut}"));
        assert_complete(&mut grown, name, text(lines));
    }
    let doubled: Vec<&L> = lines.iter().flat_map(|line| [line, line]).collect();
    assert_same(&log_of_lines(name, &doubled), &once, "each line twice");
    let bytes = text(lines).into_bytes();
    let agent = once.report.source.split(' ').next().unwrap();
    if GROWING.contains(&agent) {
        check_followed(agent, (name, &bytes), within_lines(&bytes), &once);
    }
    let mut again = once;
    assert_complete(&mut again, name, text(lines));
}

/// The same, and so it is with the whole file twice, and under another name.
pub(crate) fn check_pieces<L: Display>(name: &str, lines: &[L], first: usize) {
    check_lines(name, lines, first);
    let once = log_of_lines(name, lines);
    let doubled: Vec<&L> = lines.iter().chain(lines).collect();
    assert_same(&log_of_lines(name, &doubled), &once, "a doubled file");
    let copied = log_of_lines("copy.jsonl", lines);
    assert_same(&copied, &once, "under another name");
}

/// The tool calls of a log, as `tool status: result`.
pub(crate) fn calls(log: &Log) -> Vec<String> {
    let call = |entry: &Entry, event: &ToolInvoked| {
        let text = |slot| entry.text(slot).to_string();
        let result = event.result_summary.map(text).unwrap_or_default();
        format!(
            "{} {}: {result}",
            text(event.tool_name),
            event.status.as_str()
        )
    };
    let entries = log.entries();
    let calls = entries.iter().filter_map(|entry| match &entry.event {
        AnyEvent::Run(RunEvent::ToolInvoked(event)) => Some(call(entry, event)),
        _ => None,
    });
    calls.collect()
}

/// How many tool calls a run has.
pub(crate) fn calls_of(log: &Log, run: RunId) -> usize {
    let is_own = |entry: &&Entry| {
        let is_call = matches!(&entry.event, AnyEvent::Run(RunEvent::ToolInvoked(_)));
        is_call && entry.stream.id == run.0
    };
    log.entries().iter().filter(is_own).count()
}

/// The prompts of a log.
pub(crate) fn prompts(log: &Log) -> Vec<String> {
    use annals_domain::intent::Event as IntentEvent;
    let entries = log.entries();
    let prompts = entries.iter().filter_map(|entry| match &entry.event {
        AnyEvent::Intent(IntentEvent::Submitted(event)) => {
            Some(entry.text(event.prompt).to_string())
        }
        _ => None,
    });
    prompts.collect()
}

/// The changed files of a log, as `change path +added -deleted`, each with the diff.
pub(crate) fn edits(log: &Log) -> Vec<(Vec<String>, String)> {
    let entries = log.entries();
    let edits = entries.iter().filter_map(|entry| match &entry.event {
        AnyEvent::Run(RunEvent::PatchSetProposed(event)) => Some(event),
        _ => None,
    });
    let shown = |id| {
        let view: annals::projections::PatchSetView = log.get(id);
        let touched = view.touched.iter().map(|file| {
            let (added, deleted) = (file.lines_added, file.lines_deleted);
            format!("{} {} +{added} -{deleted}", file.change_type, file.path)
        });
        let diff = view.artifact.map(|artifact| {
            let digest = artifact.key.as_str().unwrap().parse().unwrap();
            let bytes = block_on(log.annals.contents().get(digest))
                .unwrap()
                .unwrap();
            String::from_utf8(bytes.to_vec()).unwrap()
        });
        (touched.collect(), diff.unwrap_or_default())
    };
    edits.map(|event| shown(event.patch_set)).collect()
}

/// Each file of each patch set as `change path +added -deleted`.
pub(crate) fn edited_files(log: &Log) -> Vec<String> {
    let mut edits = Vec::new();
    for entry in log.entries() {
        if let AnyEvent::Run(RunEvent::PatchSetProposed(patch)) = &entry.event {
            for file in &patch.touched {
                let (change, path) = (file.change_type.as_str(), entry.text(file.path));
                edits.push(format!(
                    "{change} {path} +{} -{}",
                    file.lines_added, file.lines_deleted
                ));
            }
        }
    }
    edits
}

/// How often there is each type of what was passed over.
pub(crate) fn skipped(report: &ImportReport) -> BTreeMap<&str, u64> {
    let skipped = report.skipped_types.iter();
    skipped.map(|it| (it.name.as_str(), it.count)).collect()
}

/// The agent of a recording is recognized by its beginning, regardless of how long its first line is and
/// of what comes before it.
#[test]
fn a_recording_is_recognized_by_its_beginning() {
    let line = |uuid: &str, text: &str| {
        format!(
            r#"{{"type":"user","sessionId":"s","uuid":"{uuid}","parentUuid":null,"timestamp":"2026-01-01T00:00:00Z","message":{{"role":"user","content":"{text}"}}}}"#
        )
    };
    let long = line("u1", &"a ".repeat(300_000));
    for text in [
        format!("{long}\n{}\n", line("u2", "Fix it")),
        format!("{}{}\n", line("u1", "Go"), line("u2", "Fix it")),
    ] {
        let log = log_of("session.jsonl", &text);
        assert_eq!(log.report.broken, [], "{}", log.report);
        assert_eq!(prompts(&log).len(), 2);
    }
    let document = r#"{"sessionId":"s","projectHash":"p","startTime":"2026-01-02T03:04:05Z","messages":[{"id":"1","timestamp":"2026-01-02T03:04:05Z","type":"user","content":"Fix it"}]}"#;
    let plain = log_of("session-1.json", document);
    let marked = log_of("session-1.json", format!("\u{feff}{document}"));
    assert_eq!(marked.report.broken, [], "{}", marked.report);
    assert_same(&marked, &plain, "a byte order mark");
}
