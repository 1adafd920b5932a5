//! `annals intent inbox`: what waits for a person, why, and how to resolve it.

mod sessions;

use annals::domain::IntentId;
use annals::domain::intent::ApprovalStatus;
use annals::event_log::Position;
use annals::projections::{ForgeTaskView, InboxEntry, InboxQuery, InboxReason};
use annals::{Addition, InboxDetails, InboxItem, InboxItems};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::cli;
use crate::context::Context;
use crate::error::CliError;
use crate::output::{Output, Style, actor, counted, in_command, short, when};

pub(crate) async fn run(args: &cli::Inbox, context: &mut Context) -> Result<(), CliError> {
    let annals = context.reader_at(&args.floor).await?;
    let query = InboxQuery::default()
        .with_after(args.after.map(Position))
        .with_limit(args.limit);
    let found = annals.inbox().items(&query).await?;
    for item in &found.items {
        match item {
            InboxItem::Intent(entry) => {
                let details = annals.inbox().details(entry).await?;
                if context.output.is_json() {
                    context.output.json(&as_json(entry, &details))?;
                } else {
                    print(entry, &details, &mut context.output)?;
                }
            }
            InboxItem::Session(row) => sessions::show(&annals, row, &mut context.output).await?,
        }
    }
    summary(&found, context);
    Ok(())
}

/// How much there is, and where it goes on.
fn summary(found: &InboxItems, context: &Context) {
    let output = &context.output;
    if found.intents == 0 && found.sessions == 0 {
        output.note("nothing waits for a person");
    }
    if let Some(next) = found.next {
        let total = counted(found.intents, "intent waits", "intents wait");
        let asking = match found.sessions {
            0 => String::new(),
            many => format!(" and {}", counted(many, "session asks", "sessions ask")),
        };
        output.note(&format!(
            "{total}{asking} in all; there are more with --after {next}"
        ));
    }
}

fn words(entry: &InboxEntry) -> Vec<&'static str> {
    entry.reasons.iter().map(|reason| reason.as_str()).collect()
}

/// What an intent is called.
fn name(entry: &InboxEntry) -> String {
    match entry.row.aliases.first() {
        Some(alias) => alias.clone(),
        None => short(entry.id()),
    }
}

/// The commands that take an intent out of the inbox, the likeliest first.
fn resolving(entry: &InboxEntry, details: &InboxDetails) -> Vec<String> {
    let alias = entry.row.aliases.first().map(String::as_str);
    let name = in_command(alias, entry.id());
    let reason = entry.reasons.first().copied();
    let answers = details.questions.iter();
    let answers = answers
        .map(|(number, _)| format!("annals intent answer {name} --question {number} --text TEXT"));
    match reason {
        Some(InboxReason::Approval) => vec![
            format!("annals intent approve {name}"),
            format!("annals intent reject {name} --reason TEXT"),
        ],
        Some(InboxReason::Clarification) => answers.collect(),
        Some(InboxReason::Blocked | InboxReason::Error) => {
            let mut commands = Vec::new();
            if !details.failed_tasks.is_empty() {
                commands.push(format!("annals intent rerun {name} --instruction TEXT"));
            }
            commands.extend(answers);
            commands.push(format!("annals intent reject {name} --reason TEXT"));
            commands
        }
        // What it depends on stays as it is: it is proposed again without that, or not at all.
        Some(InboxReason::Dependency) => never(entry, details, &name),
        None => Vec::new(),
    }
}

/// What resolves that an intent, or a task of it, waits for what is never done.
fn never(entry: &InboxEntry, details: &InboxDetails, name: &str) -> Vec<String> {
    let mut commands = details.settling(entry);
    if entry.row.approval == Some(ApprovalStatus::Approved) {
        commands.push(format!("annals intent reject {name} --reason TEXT"));
    }
    commands
}

fn as_json(entry: &InboxEntry, details: &InboxDetails) -> Value {
    let questions: Vec<Value> = details
        .questions
        .iter()
        .map(|(number, text)| json!({ "question": number, "text": text }))
        .collect();
    let failed = details.failed_tasks.iter().zip(&details.failed_ids);
    let failed: Vec<Value> = failed
        .map(|(task, id)| json!({ "task": id, "view": task }))
        .collect();
    let intents = |intents: &[(IntentId, ApprovalStatus)]| -> Vec<Value> {
        let intents = intents.iter();
        let object =
            |(id, status): &(IntentId, ApprovalStatus)| json!({ "intent": id, "status": status });
        intents.map(object).collect()
    };
    let in_vain = details.in_vain.iter().map(|it| {
        let (intent, how) = it.turned_down.unzip();
        json!({
            "task": it.task,
            "waits_for": it.waits_for,
            "status": it.status.name(),
            "intent": intent,
            "intent_status": how,
        })
    });
    let in_vain: Vec<Value> = in_vain.collect();
    json!({
        "id": entry.id(),
        "kind": "intent",
        "alias": entry.row.aliases.first(),
        "reasons": entry.reasons,
        "why": details.why,
        "title": entry.row.title,
        "status": entry.row.approval,
        "risk": entry.row.risk,
        "source": entry.row.sort,
        "requested_by": details.requested_by,
        "added": details.additions.iter().map(addition).collect::<Vec<Value>>(),
        "since": entry.since(),
        "questions": questions,
        "failed_tasks": failed,
        "failed_children": intents(&details.failed_children),
        "called_off": intents(&details.called_off),
        "in_vain": in_vain,
        "resolve": resolving(entry, details),
        "first_position": entry.row.first_position.0,
    })
}

/// Returns the line that names an addition to an intent, and who made it.
pub(super) fn added_by(added: &Addition) -> String {
    format!("  added by {}: {}", actor(&added.by), added.what)
}

/// What was added to an intent, as JSON.
fn addition(added: &Addition) -> Value {
    json!({ "by": added.by, "at": added.at, "what": added.what })
}

fn print(entry: &InboxEntry, details: &InboxDetails, output: &mut Output) -> Result<(), CliError> {
    let title = entry
        .row
        .title
        .as_ref()
        .map_or_else(String::new, ToString::to_string);
    let risk = match entry.row.risk {
        Some(risk) => format!("risk {risk}"),
        None => "risk not known".to_owned(),
    };
    let requested_by = details.requested_by.as_ref();
    let requested_by = requested_by.map_or_else(String::new, |by| format!("  by {}", actor(by)));
    let head = format!(
        "{}  {}  {risk}  since {}{requested_by}",
        name(entry),
        words(entry).join(", "),
        when(entry.since()),
    );
    let head = output.style(Style::Bold, &head);
    output.line(&head)?;
    output.line(&format!("  {title}"))?;
    output.line(&format!("  why: {}", details.why))?;
    for added in &details.additions {
        output.line(&added_by(added))?;
    }
    for (number, question) in &details.questions {
        output.line(&format!("  {number}? {question}"))?;
    }
    for (task, id) in details.failed_tasks.iter().zip(&details.failed_ids) {
        failed(task, id.0, output)?;
    }
    for (child, status) in &details.failed_children {
        child_line(child.0, *status, output)?;
    }
    for command in resolving(entry, details) {
        output.line(&format!("  -> {command}"))?;
    }
    Ok(())
}

fn failed(task: &ForgeTaskView, id: Uuid, output: &mut Output) -> Result<(), CliError> {
    let reason = task.reason.as_ref().map(|reason| format!(": {reason}"));
    let line = format!(
        "  failed task {} {}{}",
        short(id),
        task.title,
        reason.unwrap_or_default()
    );
    output.line(&line)?;
    let Some(review) = task.reviews.last() else {
        return Ok(());
    };
    for issue in &review.issues {
        output.line(&format!("    issue: {issue}"))?;
    }
    for suggestion in &review.suggestions {
        output.line(&format!("    suggestion: {suggestion}"))?;
    }
    Ok(())
}

fn child_line(child: Uuid, status: ApprovalStatus, output: &mut Output) -> Result<(), CliError> {
    output.line(&format!("  child {} is {status}", short(child)))
}
