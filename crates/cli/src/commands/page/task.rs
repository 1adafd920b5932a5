//! The page of a task.

use annals::domain::{Kind, RunId};
use annals::projections::{ListQuery, TaskView, Text, duration};
use annals::{Annals, At};

use super::lines::Page;
use super::named::{NAMED, Named, as_of, rows, text};
use super::run::prompt;
use crate::commands::list::took;
use crate::error::CliError;
use crate::output::{counted, roughly, short, when, who};

/// Lines of a description.
const DESCRIPTION: usize = 12;

pub(super) async fn page(annals: &Annals, task: &TaskView, at: At) -> Result<Page, CliError> {
    let mut page = Page::default();
    page.line("title", text(&task.title));
    let reason = task
        .reason
        .as_ref()
        .map(|reason| format!(": {}", text(reason)));
    page.line(
        "state",
        format!(
            "{}{}, since {}",
            task.status().name(),
            reason.unwrap_or_default(),
            when(task.header.updated_at)
        ),
    );
    page.line("created", created(task));
    page.some("goal", task.goal.as_ref().map(ToString::to_string));
    if let Some(intent) = task.intent {
        page.line("intent", short(intent.0));
        prompt(&mut page, annals, intent, at).await?;
    }
    page.some(
        "part of",
        task.parent
            .map(|parent| format!("task {}", short(parent.0))),
    );
    if let Some(description) = &task.description {
        page.text("description", description.to_string(), DESCRIPTION);
    }
    let bullets = |texts: &[Text]| texts.iter().map(|it| format!("- {}", text(it))).collect();
    page.lines("constraints", bullets(&task.constraints));
    page.lines("criteria", bullets(&task.acceptance_criteria));
    page.lines("depends on", dependencies(annals, task, at).await?);
    page.lines("runs", runs(annals, &task.runs, at).await?);
    let id = short(task.header.object_id);
    page.line(
        "more",
        format!("annals log history {id}, annals show {id} --full, annals log tree {id}"),
    );
    Ok(page)
}

fn created(task: &TaskView) -> String {
    let header = &task.header;
    let requester = task.requester.as_ref();
    let requester = requester.map(|requester| format!(", requested by {}", who(requester)));
    format!(
        "{} by {}{}",
        when(header.created_at),
        who(&header.created_by),
        requester.unwrap_or_default()
    )
}

async fn dependencies(annals: &Annals, task: &TaskView, at: At) -> Result<Vec<String>, CliError> {
    let ids = task.dependencies.iter().take(NAMED).map(|it| it.0);
    let named = as_of(annals, rows(annals, ids).await?, at).await?;
    Ok(named.iter().map(|named| named.line("")).collect())
}

/// The runs of a task, the newest ones last.
async fn runs(annals: &Annals, runs: &[RunId], at: At) -> Result<Vec<String>, CliError> {
    let mut lines = Vec::new();
    let before = runs.len().saturating_sub(NAMED);
    if before > 0 {
        lines.push(format!(
            "{} before these",
            counted(before as u64, "run", "runs")
        ));
    }
    let ids = runs.iter().skip(before).map(|run| run.0);
    let named = as_of(annals, rows(annals, ids).await?, at).await?;
    lines.extend(named.iter().map(run_line));
    Ok(lines)
}

/// A run with how long it took and what it used.
fn run_line(run: &Named) -> String {
    let row = &run.row;
    let took = took(row).map(|took| format!(", took {}", duration(took)));
    let tokens = row.tokens.map(|tokens| {
        let cost = tokens.cost_usd.map(|cost| format!(", ${cost:.2}"));
        format!(
            ", {} tokens{}",
            roughly(tokens.total_tokens),
            cost.unwrap_or_default()
        )
    });
    let counts = row.counts.iter().filter(|(_, count)| *count > 0);
    let counts: Vec<String> = counts
        .filter(|(name, _)| ["tool_invocations", "errors", "patch_sets"].contains(name))
        .map(|(name, count)| format!(", {count} {}", name.replace('_', " ")))
        .collect();
    format!(
        "{}  {:10}  {}{}{}{}",
        short(row.id),
        run.status.unwrap_or("-"),
        when(row.created_at),
        took.unwrap_or_default(),
        tokens.unwrap_or_default(),
        counts.concat()
    )
}

/// The tasks of an intent, the newest ones last.
pub(super) async fn of_intent(
    annals: &Annals,
    intent: uuid::Uuid,
    at: At,
) -> Result<Vec<String>, CliError> {
    let query = ListQuery::new(Kind::Task)
        .with_parent(Some(intent))
        .with_limit(NAMED);
    let mut listed = annals.index().list(&query).await?;
    listed.rows.reverse();
    let named = as_of(annals, listed.rows, at).await?;
    let mut lines = Vec::new();
    if listed.next.is_some() {
        lines.push(format!(
            "the last {NAMED}; annals object list tasks --parent {}",
            short(intent)
        ));
    }
    for task in &named {
        let runs = task.row.counts.iter().find(|(name, _)| *name == "runs");
        let runs = runs.map_or(0, |(_, count)| *count);
        lines.push(task.line(&format!("  {}", counted(runs, "run", "runs"))));
    }
    Ok(lines)
}
