//! The page of an intent.

use annals::projections::{IntentStatusEntry, IntentView};
use annals::{Annals, At};

use super::lines::Page;
use super::named::text;
use super::task;
use crate::commands::list::status_words;
use crate::error::CliError;
use crate::output::{short, when, who};

/// Lines of a prompt and of what was made of it.
const PROMPT: usize = 20;

pub(super) async fn page(annals: &Annals, intent: &IntentView, at: At) -> Result<Page, CliError> {
    let header = &intent.header;
    let mut page = Page::default();
    page.text("prompt", intent.prompt.to_string(), PROMPT);
    // The other axis is not in the view.
    let row = match at {
        At::Now => Some(annals.index().row(header.object_id).await?),
        _ => None,
    };
    let state = match &row {
        Some(row) => status_words(row),
        None => intent.status().to_string(),
    };
    page.line("state", state);
    page.lines("statuses", intent.statuses.iter().map(status).collect());
    page.line(
        "by",
        format!("{}, {}", who(&header.created_by), when(header.created_at)),
    );
    let row = row.as_ref();
    page.some("type", row.and_then(|row| row.work_type.clone()));
    page.some(
        "risk",
        row.and_then(|row| row.risk.map(|risk| risk.to_string())),
    );
    if let Some(content) = &intent.content {
        page.text("analysis", content.to_string(), PROMPT);
    }
    page.some(
        "refines",
        intent.parent.map(|it| format!("intent {}", short(it.0))),
    );
    page.some("plan", intent.plan.map(|it| short(it.0)));
    page.some("commit", intent.commit.map(|commit| commit.to_string()));
    page.lines(
        "tasks",
        task::of_intent(annals, header.object_id, at).await?,
    );
    let id = short(header.object_id);
    page.line(
        "more",
        format!("annals log history {id}, annals show {id} --full, annals log tree {id}"),
    );
    Ok(page)
}

fn status(entry: &IntentStatusEntry) -> String {
    let reason = entry
        .reason
        .as_ref()
        .map(|reason| format!(": {}", text(reason)));
    format!(
        "{}  {:9}{}",
        when(entry.changed_at),
        entry.status.to_string(),
        reason.unwrap_or_default()
    )
}
