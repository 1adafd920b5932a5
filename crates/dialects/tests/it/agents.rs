//! Recordings of any agent, imported at once and in pieces.

use annals::projections::Entry;
use annals_dialects::ImportReport;
use annals_dialects::import::{self, ImportError, ImportOptions};
use annals_domain::run::Event as RunEvent;
use annals_domain::{AnyEvent, intent};
use futures::executor::block_on;
use serde_json::Value;

use crate::claude::log::Log;
use crate::claude::recording::Folder;

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

/// What happened, without where it stands in the log, and without the tokens, whose places may differ.
fn happened(log: &Log) -> Vec<impl PartialEq + std::fmt::Debug + use<>> {
    let is_usage =
        |entry: &Entry| matches!(&entry.event, AnyEvent::Run(RunEvent::UsageRecorded(_)));
    let entries = log.entries().into_iter().filter(|entry| !is_usage(entry));
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
pub(crate) fn check_cuts(name: &str, lines: &[Value], first: usize) {
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

/// What each prompt asked for.
pub(crate) fn prompts(log: &Log) -> Vec<String> {
    let prompt = |entry: &Entry| match &entry.event {
        AnyEvent::Intent(intent::Event::Submitted(event)) => {
            Some(entry.text(event.prompt).to_string())
        }
        _ => None,
    };
    log.entries().iter().filter_map(prompt).collect()
}

/// Each tool call as `tool status: result`.
pub(crate) fn calls(log: &Log) -> Vec<String> {
    let call = |entry: &Entry| match &entry.event {
        AnyEvent::Run(RunEvent::ToolInvoked(call)) => {
            let result = call.result_summary.map(|slot| entry.text(slot).to_string());
            let (tool, status) = (entry.text(call.tool_name), call.status.as_str());
            Some(format!("{tool} {status}: {}", result.unwrap_or_default()))
        }
        _ => None,
    };
    log.entries().iter().filter_map(call).collect()
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
