//! The page of a run.

use annals::domain::{IntentId, TaskId, run};
use annals::projections::{
    FailedCall, IntentView, ReportedCheck, ReportedDecision, ReportedFile, ReportedModel,
    RunReport, TaskView, Text, Tokens, duration,
};
use annals::{Annals, At, ViewError};
use annals_terminal::fit;

use super::lines::Page;
use super::named::text;
use crate::error::CliError;
use crate::output::{Output, counted, roughly, short, when};

/// Files, calls and checks that are shown of many.
const SHOWN: usize = 10;
/// Lines of a prompt.
const PROMPT: usize = 6;
/// Columns of a failed call where there is no terminal.
const WIDE: usize = 160;

pub(super) async fn page(
    annals: &Annals,
    report: &RunReport,
    at: At,
    output: &Output,
) -> Result<Page, CliError> {
    let view = &report.run;
    let mut page = Page::default();
    asked(&mut page, annals, view.task, at).await?;
    page.line("state", state(report));
    page.some("error", view.error.as_ref().map(text));
    page.lines("model", report.models.iter().map(model).collect());
    page.some("tokens", report.tokens.map(tokens));
    let cost = report.tokens.and_then(|tokens| tokens.cost_usd);
    page.some("cost", cost.map(|cost| format!("${cost:.4}")));
    if let Some(environment) = &view.environment {
        let branch = environment.extra.iter();
        let mut branch = branch.filter(|(name, _)| name.as_str() == Some("git_branch"));
        let branch = branch
            .next()
            .and_then(|(_, json)| serde_json::from_str::<String>(json.json()?.text()).ok());
        let branch = branch.map(|branch| format!(", branch {branch}"));
        page.line(
            "folder",
            format!("{}{}", text(&environment.cwd), branch.unwrap_or_default()),
        );
    }
    page.some("commit", view.commit.map(|commit| commit.to_string()));
    page.lines("files", files(report));
    page.lines("calls", calls(report, output));
    page.lines("checks", checks(report));
    page.lines(
        "decision",
        report.decision.iter().flat_map(decision).collect(),
    );
    page.line("more", more(report));
    Ok(page)
}

/// The run's task, and what was asked for by a person.
async fn asked(page: &mut Page, annals: &Annals, task: TaskId, at: At) -> Result<(), CliError> {
    let task: TaskView = match annals.get_at(task, at).await {
        Ok(task) => task,
        // Objects of other systems may name a task that was not taken over.
        Err(ViewError::NotFound { .. } | ViewError::NotYet { .. }) => {
            page.line("task", format!("{task}, which is not in the log"));
            return Ok(());
        }
        Err(error) => return Err(error.into()),
    };
    let title = text(&task.title);
    let (id, status) = (short(task.header.object_id), task.status().name());
    page.line("task", format!("{title} ({id}, {status})"));
    if let Some(intent) = task.intent {
        prompt(page, annals, intent, at).await?;
    }
    Ok(())
}

/// What an intent's prompt says.
pub(super) async fn prompt(
    page: &mut Page,
    annals: &Annals,
    intent: IntentId,
    at: At,
) -> Result<(), CliError> {
    match annals.get_at::<IntentView>(intent, at).await {
        Ok(intent) => page.text("prompt", intent.prompt.to_string(), PROMPT),
        Err(ViewError::NotFound { .. } | ViewError::NotYet { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

/// Where the run is, since when, and how long it took.
fn state(report: &RunReport) -> String {
    let view = &report.run;
    let began = view.header.created_at;
    let until = report.ended_at.unwrap_or(report.last_at);
    let took = until.to_utc() - began.to_utc();
    let took = u64::try_from(took.num_milliseconds()).map(duration);
    let took = match (view.status(), took) {
        (_, Err(_)) => String::new(),
        (run::Status::Completed | run::Status::Failed, Ok(took)) => format!(", took {took}"),
        (_, Ok(took)) => format!(", last heard of {took} later"),
    };
    format!("{}, began {}{took}", view.status().name(), when(began))
}

fn model(used: &ReportedModel) -> String {
    let provider = text(&used.provider);
    match provider.starts_with('(') {
        // Importers say so where a recording has none.
        true => format!("{} {provider}", text(&used.model)),
        false => format!("{} ({provider})", text(&used.model)),
    }
}

/// `14.4 k: 2.1 k in, 10 k from a cache, 1.2 k out`.
fn tokens(tokens: Tokens) -> String {
    let sorts = [
        (tokens.uncached_input_tokens, "in"),
        (tokens.cache_read_tokens, "read from a cache"),
        (tokens.cache_write_tokens, "written to a cache"),
        (tokens.output_tokens, "out"),
    ];
    let sorts: Vec<String> = sorts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, sort)| format!("{} {sort}", roughly(*count)))
        .collect();
    format!("{}: {}", roughly(tokens.total_tokens), sorts.join(", "))
}

fn files(report: &RunReport) -> Vec<String> {
    let Some(first) = report.files.first() else {
        return Vec::new();
    };
    let sum = |of: fn(&ReportedFile) -> u64| report.files.iter().map(of).sum::<u64>();
    let (added, deleted) = (sum(|file| file.added), sum(|file| file.deleted));
    let count = counted(report.files.len() as u64, "file", "files");
    let by = counted(report.patch_sets, "patch set", "patch sets");
    let mut lines = vec![format!("{count}, +{added} -{deleted}, by {by}")];
    let file = |file: &ReportedFile| {
        let change = file.change.to_string();
        let (added, deleted) = (file.added, file.deleted);
        let last = short(file.last.0);
        format!(
            "{change:6}  {} +{added} -{deleted}  ({last})",
            text(&file.path)
        )
    };
    lines.extend(report.files.iter().take(SHOWN).map(file));
    if let Some(left) = left(report.files.len(), SHOWN) {
        lines.push(left);
    }
    lines.push(format!("annals show {} --diff", first_diff(report, first)));
    lines
}

/// A patch set whose diff is worth a look: the last one of the last file.
fn first_diff(report: &RunReport, first: &ReportedFile) -> String {
    short(report.files.last().unwrap_or(first).last.0)
}

fn left(all: usize, shown: usize) -> Option<String> {
    let left = all.saturating_sub(shown);
    (left > 0).then(|| format!("and {left} more"))
}

fn calls(report: &RunReport, output: &Output) -> Vec<String> {
    if report.calls == 0 {
        return Vec::new();
    }
    let mut first = counted(report.calls, "call", "calls");
    for (count, word) in [(report.failed, "failed"), (report.denied, "denied")] {
        if count > 0 {
            first.push_str(&format!(", {count} {word}"));
        }
    }
    let shown = report.failed_calls.len().min(SHOWN);
    let failed = report.failed_calls.iter();
    let failed = failed.skip(report.failed_calls.len() - shown);
    let width = output.screen().unwrap_or(WIDE);
    // The last ones: they say most of how it ended.
    if report.failed > shown as u64 {
        first.push_str(&format!("; the last {shown} that failed:"));
    }
    let mut lines = vec![first];
    lines.extend(failed.map(|call| failed_call(call, width)));
    lines
}

fn failed_call(call: &FailedCall, width: usize) -> String {
    let position = format!("event {}  ", call.position);
    let line = &call.line;
    // The name before it takes some columns, too.
    let width = width.saturating_sub(14);
    fit(
        &format!("{position}{}", line.head()),
        line.what(),
        &line.tail(),
        width,
    )
}

fn checks(report: &RunReport) -> Vec<String> {
    let checks = &report.last_checks;
    let mut lines: Vec<String> = Vec::new();
    let before = report.checks.saturating_sub(checks.len().min(SHOWN) as u64);
    if before > 0 {
        lines.push(format!("{before} before these"));
    }
    let shown = checks.iter().skip(checks.len().saturating_sub(SHOWN));
    lines.extend(shown.map(check));
    lines
}

fn check(check: &ReportedCheck) -> String {
    let command = check.command.as_ref().unwrap_or(&check.tool);
    let exit = check.exit_code.map(|code| format!(" -> exit {code}"));
    let summary = check
        .summary
        .as_ref()
        .map(text)
        .filter(|text| !text.is_empty());
    let summary = summary.map(|summary| format!(": {summary}"));
    format!(
        "{} {}{}{}",
        check.kind,
        text(command),
        exit.unwrap_or_default(),
        summary.unwrap_or_default()
    )
}

fn decision(decision: &ReportedDecision) -> Vec<String> {
    let commit = decision.commit.map(|commit| format!(", commit {commit}"));
    let first = format!(
        "{} ({}{}), {}",
        decision.verdict,
        short(decision.id.0),
        commit.unwrap_or_default(),
        when(decision.at)
    );
    let rationale = decision.rationale.as_ref().map(Text::to_string);
    let rationale = rationale.unwrap_or_default();
    let rationale = rationale.lines().take(PROMPT).map(str::to_owned);
    [first].into_iter().chain(rationale).collect()
}

/// Where the rest is.
fn more(report: &RunReport) -> String {
    let id = short(report.run.header.object_id);
    let events = counted(report.events, "event", "events");
    format!("annals log history {id} ({events}), annals show {id} --full, annals log tree {id}")
}
