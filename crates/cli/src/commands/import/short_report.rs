//! The report of an import of recordings, for people: five lines, and one for each problem.

use annals::projections::project_label;
use annals_dialects::{BrokenRecord, ImportReport};

use crate::commands::overview::Overview;
use crate::error::CliError;
use crate::output::{Output, counted, when};

/// Problems that are named.
const PROBLEMS: usize = 10;
/// Projects that are named.
const PROJECTS: usize = 5;

/// Prints the report.
pub(super) fn print(
    overview: &Overview,
    reports: &[ImportReport],
    output: &mut Output,
) -> Result<(), CliError> {
    for (name, value) in [
        ("sessions", sessions(overview)),
        ("projects", projects(overview)),
        ("time", times(overview)),
        ("cost", overview.cost()),
        ("secrets", secrets(reports)),
    ] {
        output.line(&format!("{name:<14} {value}"))?;
    }
    let kept: u64 = reports.iter().map(|report| report.kept_raw).sum();
    if kept > 0 {
        let kept = counted(kept, "recording", "recordings");
        output.line(&format!("text kept      {kept}: annals export raw"))?;
    }
    for left_out in reports.iter().flat_map(|report| &report.left_out) {
        output.line(&format!("left out       {left_out}"))?;
    }
    problems(reports, output)
}

fn sessions(overview: &Overview) -> String {
    let continued = overview.sessions - overview.new_sessions;
    match (overview.new_sessions, continued) {
        (0, 0) => "none new; all was imported before".to_owned(),
        (new, 0) => format!("{new} new"),
        (new, continued) => format!("{new} new, {continued} continued"),
    }
}

fn projects(overview: &Overview) -> String {
    let all = overview.projects.len();
    let named: Vec<&str> = overview
        .projects
        .iter()
        .take(PROJECTS)
        .map(|path| project_label(path))
        .collect();
    match all.saturating_sub(PROJECTS) {
        0 if all == 0 => "none".to_owned(),
        0 => format!("{all} ({})", named.join(", ")),
        more => format!("{all} ({} and {more} more)", named.join(", ")),
    }
}

fn times(overview: &Overview) -> String {
    match overview.times {
        Some((first, last)) => format!("{} to {}", when(first), when(last)),
        None => "unknown".to_owned(),
    }
}

fn secrets(reports: &[ImportReport]) -> String {
    let count: u64 = reports.iter().map(|report| report.redacted.count()).sum();
    if count == 0 {
        return "none found".to_owned();
    }
    let kinds = reports.iter().flat_map(|report| report.redacted.kinds());
    let kinds: Vec<String> = kinds
        .map(|kind| format!("{} {}", kind.count, kind.kind))
        .collect();
    format!("{count} removed ({})", kinds.join(", "))
}

/// The records that could not be read, each with its file and line.
fn problems(reports: &[ImportReport], output: &mut Output) -> Result<(), CliError> {
    let all: u64 = reports.iter().map(|report| report.broken_count).sum();
    let broken = reports
        .iter()
        .flat_map(|report| &report.broken)
        .take(PROBLEMS);
    let mut named = 0;
    for BrokenRecord { file, line, reason } in broken {
        let line = match line {
            0 => String::new(),
            line => format!(":{line}"),
        };
        output.line(&format!("broken         {file}{line}: {reason}"))?;
        named += 1;
    }
    match all - named {
        0 => Ok(()),
        more => output.line(&format!(
            "broken         and {more} more: --report names them"
        )),
    }
}
