//! Recordings of any agent, imported at once and in pieces.

use annals_dialects::ImportReport;
use annals_dialects::import::{self, ImportError, ImportOptions};
use annals_domain::AnyEvent;
use annals_domain::run::Event as RunEvent;
use futures::executor::block_on;
use serde_json::Value;

use crate::claude::log::Log;
use crate::claude::recording::Folder;
pub(crate) use crate::recorded::{calls, happened, prompts};

/// The text of a recording that has these lines.
pub(crate) fn text(lines: &[Value]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

pub(crate) fn try_import(
    log: &Log,
    agent: Option<&str>,
    path: &std::path::Path,
) -> Result<Vec<ImportReport>, ImportError> {
    let options = ImportOptions::default();
    block_on(import::recordings(
        &log.annals,
        path,
        agent,
        &options,
        &mut |_| {},
    ))
}

/// Imports a recording of the agent that its content names.
pub(crate) fn grow(log: &mut Log, name: &str, text: &str) {
    let folder = Folder::new();
    let path = folder.write(name, text);
    let mut reports = try_import(log, None, &path).unwrap();
    assert_eq!(reports.len(), 1);
    log.report = reports.remove(0);
}

/// A log of one recording of which all lines can be read.
pub(crate) fn log_of(name: &str, lines: &[Value]) -> Log {
    let mut log = Log::empty();
    grow(&mut log, name, &text(lines));
    assert_eq!(log.report.broken, [], "{}", log.report);
    log
}

/// Cut at each line and then whole, with every line doubled, and read again, it is the same as at once.
/// `first` is the first cut at which a file says whose it is.
pub(crate) fn check_pieces(name: &str, lines: &[Value], first: usize) {
    check_cuts(name, lines, first);
    let once = log_of(name, lines);
    let tokens = once.tokens();
    let doubled: Vec<Value> = lines
        .iter()
        .flat_map(|line| [line.clone(), line.clone()])
        .collect();
    for (what, lines) in [
        ("doubled lines", doubled),
        ("a doubled file", [lines, lines].concat()),
    ] {
        let doubled = log_of(name, &lines);
        assert_eq!(happened(&doubled), happened(&once), "{what}");
        assert_eq!(doubled.tokens(), tokens, "{what}");
    }
    let copied = log_of("copy.jsonl", lines);
    assert_eq!(happened(&copied), happened(&once), "under another name");
}

/// Cut at each line and then whole, and read again, it is the same as at once.
fn check_cuts(name: &str, lines: &[Value], first: usize) {
    let once = log_of(name, lines);
    let tokens = once.tokens();
    for cut in first..=lines.len() {
        let mut grown = log_of(name, lines.get(..cut).unwrap());
        grow(&mut grown, name, &text(lines));
        assert_eq!(happened(&grown), happened(&once), "cut at {cut}");
        assert_eq!(grown.tokens(), tokens, "cut at {cut}");
        let end = grown.annals.position();
        grow(&mut grown, name, &text(lines));
        assert_eq!(grown.annals.position(), end, "cut at {cut}");
    }
}

/// Each file of each patch set as `change path +added -deleted`.
pub(crate) fn edits(log: &Log) -> Vec<String> {
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
