//! Sessions in the inbox: what they ask for, and the commands that answer.

use annals::projections::CatalogueRow;
use annals::{Annals, SessionDetails};
use serde_json::{Value, json};

use crate::error::CliError;
use crate::output::{Output, Style, in_command, when};

/// Prints a session that asks for an approval.
pub(super) async fn show(
    annals: &Annals,
    row: &CatalogueRow,
    output: &mut Output,
) -> Result<(), CliError> {
    let details = annals.inbox().session_details(row).await?;
    let name = in_command(row.aliases.first().map(String::as_str), row.id);
    if output.is_json() {
        return output.json(&as_json(row, &details, &name));
    }
    let since = details.requests.first().and_then(|it| it.asked_at);
    let since = when(since.unwrap_or(row.created_at));
    let head = format!("{name}  approval  session  since {since}");
    let head = output.style(Style::Bold, &head);
    output.line(&head)?;
    if let Some(title) = &row.title {
        output.line(&format!("  {title}"))?;
    }
    // The reason of an imported record is in words of its own.
    let given = details.requests.iter().map(|it| it.reason.as_ref());
    for (why, reason) in details.reasons(when).iter().zip(given.chain([None])) {
        output.line(&format!("  why: {why}"))?;
        if let Some(reason) = reason {
            output.line(&format!("  reason: {reason}"))?;
        }
    }
    for waiting in &details.queue {
        let branch = waiting.branch.as_ref();
        let of = branch.map_or_else(String::new, |branch| format!(" of {branch}"));
        output.line(&format!("  waits: {}{of} ({})", waiting.kind, waiting.id))?;
    }
    for command in details.resolve(&name) {
        output.line(&format!("  -> {command}"))?;
    }
    Ok(())
}

fn as_json(row: &CatalogueRow, details: &SessionDetails, name: &str) -> Value {
    let since = details.requests.first().and_then(|it| it.asked_at);
    json!({
        "id": row.id,
        "kind": "session",
        "alias": row.aliases.first(),
        "reasons": ["approval"],
        "why": details.reasons(when).join("; "),
        "title": row.title,
        "status": row.status.map(|status| status.word()),
        "since": since.unwrap_or(row.created_at),
        "requests": details.requests,
        "imported": details.recorded.as_ref().map(|it| json!({ "by": it.by, "reason": it.reason })),
        "queue": details.queue,
        "resolve": details.resolve(name),
        "first_position": row.first_position.0,
    })
}
