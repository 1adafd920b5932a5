//! Sessions in the inbox: what they ask for, and the commands that answer.

use annals::projections::{CatalogueRow, ObjectView, PendingApprovalView, QueuedCommandView};
use annals::{Annals, At};
use serde_json::{Value, json};

use crate::error::CliError;
use crate::output::{Output, Style, in_command, when};

/// Prints a session that asks for an approval.
pub(super) async fn show(
    annals: &Annals,
    row: &CatalogueRow,
    output: &mut Output,
) -> Result<(), CliError> {
    let ObjectView::Session(session) = annals.view_at(row.id, At::Now).await? else {
        return Ok(());
    };
    let asked = session.pending_approvals();
    let queue = session.queue();
    if output.is_json() {
        return output.json(&as_json(row, &asked, &queue));
    }
    let name = in_command(row.aliases.first().map(String::as_str), row.id);
    let since = asked.first().and_then(|it| it.asked_at);
    let since = when(since.unwrap_or(row.created_at));
    let head = format!("{name}  approval  session  since {since}");
    let head = output.style(Style::Bold, &head);
    output.line(&head)?;
    if let Some(title) = &row.title {
        output.line(&format!("  {title}"))?;
    }
    if asked.is_empty() {
        output.line("  why: another system recorded that it needs an approval")?;
    }
    for pending in &asked {
        output.line(&format!("  why: {}", why(pending)))?;
        if let Some(reason) = &pending.reason {
            output.line(&format!("  reason: {reason}"))?;
        }
    }
    for waiting in &queue {
        let branch = waiting.branch.as_ref();
        let of = branch.map_or_else(String::new, |branch| format!(" of {branch}"));
        output.line(&format!("  waits: {}{of} ({})", waiting.kind, waiting.id))?;
    }
    for command in resolving(row, &asked) {
        output.line(&format!("  -> {command}"))?;
    }
    Ok(())
}

/// Why a session waits, in words.
fn why(pending: &PendingApprovalView) -> String {
    let actions = match pending.actions.as_slice() {
        [] => "an approval".to_owned(),
        actions => format!("an approval of {}", actions.join(", ")),
    };
    match pending.expires_at {
        Some(time) => format!("it asks for {actions}, which expires {}", when(time)),
        None => format!("it asks for {actions}"),
    }
}

/// The commands that answer, the oldest request first.
fn resolving(row: &CatalogueRow, asked: &[PendingApprovalView]) -> Vec<String> {
    let name = in_command(row.aliases.first().map(String::as_str), row.id);
    let answers = |request: String| {
        [
            format!("annals approve {name}{request}"),
            format!("annals reject {name}{request} --reason TEXT"),
        ]
    };
    match asked {
        [] | [_] => answers(String::new()).to_vec(),
        several => several
            .iter()
            .flat_map(|pending| answers(format!(" --request {}", pending.request)))
            .collect(),
    }
}

fn as_json(
    row: &CatalogueRow,
    asked: &[PendingApprovalView],
    queue: &[QueuedCommandView],
) -> Value {
    let why: Vec<String> = asked.iter().map(why).collect();
    let since = asked.first().and_then(|it| it.asked_at);
    json!({
        "id": row.id,
        "kind": "session",
        "alias": row.aliases.first(),
        "reasons": ["approval"],
        "why": why.join("; "),
        "title": row.title,
        "status": row.status.map(|status| status.word()),
        "since": since.unwrap_or(row.created_at),
        "requests": asked,
        "queue": queue,
        "resolve": resolving(row, asked),
        "first_position": row.first_position.0,
    })
}
