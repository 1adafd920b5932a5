//! `annals intent observe`, `observations`, `process`: what agents noticed.

use annals::domain::observation::{ProcessObservation, RecordObservation};
use annals::domain::{ActorRef, Kind, ObservationId};
use annals::event_log::Position;
use annals::projections::{ObservationView, Text};
use annals::{Annals, LoadError, ObservationEntry, ObservationsQuery, Outcome};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::cli::{self, Observe, Process};
use crate::commands::{classify, intake};
use crate::context::Context;
use crate::error::CliError;
use crate::output::{Output, Style, in_command, short, when};

pub(crate) async fn observe(args: &Observe, context: &mut Context) -> Result<(), CliError> {
    let text = classify::text(&args.text, &context.output)?;
    let annals = context.writer()?;
    let actor = args.who.actor(&context.output)?;
    let shown = match observed(&annals, args, text, actor).await {
        Ok((id, outcome)) => intake::show(&annals, id, &outcome, &mut context.output).await,
        Err(error) => Err(error),
    };
    annals.close().await;
    shown
}

async fn observed(
    annals: &Annals,
    args: &Observe,
    text: String,
    actor: ActorRef,
) -> Result<(Uuid, Outcome), CliError> {
    let mut about = Vec::new();
    for object in &args.about {
        about.push(annals.resolve(object).await?.id);
    }
    let id = annals::event_log::new_id();
    let command = RecordObservation::new(args.kind, text)
        .with_id(ObservationId(id))
        .with_evidence(args.evidence.clone())
        .with_about(about);
    let outcome = intake::named(annals, id, command, args.alias.as_deref(), actor).await?;
    Ok((id, outcome))
}

pub(crate) async fn process(args: &Process, context: &mut Context) -> Result<(), CliError> {
    let command = |_, id| {
        let (observation, reason) = (ObservationId(id), args.reason.clone());
        ProcessObservation::new(observation)
            .with_reason(reason)
            .into()
    };
    intake::each_of(&[Kind::Observation], &args.ids, &args.who, command, context).await
}

pub(crate) async fn list(args: &cli::Observations, context: &mut Context) -> Result<(), CliError> {
    let annals = context.reader_at(&args.floor).await?;
    let query = ObservationsQuery::default()
        .with_all(args.all)
        .with_after(args.after.map(Position))
        .with_limit(args.limit);
    let found = annals.inbox().observations(&query).await?;
    for noticed in &found.entries {
        if context.output.is_json() {
            context.output.json(&as_json(noticed)?)?;
        } else {
            print(noticed, &mut context.output)?;
        }
    }
    if found.entries.is_empty() {
        let none = match (args.after, args.all) {
            (Some(_), _) => "there are no more",
            (None, true) => "nothing was noticed",
            (None, false) => "no observation is open",
        };
        context.output.note(none);
    }
    if let Some(next) = found.next {
        context
            .output
            .note(&format!("there are more with --after {next}"));
    }
    Ok(())
}

/// What an observation is called.
fn name(noticed: &ObservationEntry) -> String {
    match noticed.row.aliases.first() {
        Some(alias) => alias.clone(),
        None => short(noticed.row.id),
    }
}

/// The commands that settle an open observation, the likeliest first.
fn resolving(noticed: &ObservationEntry) -> Vec<String> {
    let alias = noticed.row.aliases.first().map(String::as_str);
    let name = in_command(alias, noticed.row.id);
    match noticed.view.processed {
        Some(_) => Vec::new(),
        None => vec![
            format!("annals intent submit --observation {name}"),
            format!("annals intent process {name} --reason TEXT"),
        ],
    }
}

/// The view, with what it is called and what settles it.
fn as_json(noticed: &ObservationEntry) -> Result<Value, CliError> {
    let mut json = serde_json::to_value(&noticed.view).map_err(LoadError::Render)?;
    json["alias"] = json!(noticed.row.aliases.first());
    json["resolve"] = json!(resolving(noticed));
    json["first_position"] = json!(noticed.row.first_position.0);
    Ok(json)
}

fn print(noticed: &ObservationEntry, output: &mut Output) -> Result<(), CliError> {
    let view = &noticed.view;
    let by = &view.header.created_by;
    let head = format!(
        "{}  {}  since {}  by {} {}",
        name(noticed),
        view.kind,
        when(view.header.created_at),
        by.kind,
        by.id,
    );
    let head = output.style(Style::Bold, &head);
    output.line(&head)?;
    indented("", &view.text, output)?;
    for evidence in &view.evidence {
        indented("evidence: ", evidence, output)?;
    }
    for about in &view.about {
        output.line(&format!("  about: {} {}", about.kind, short(about.id)))?;
    }
    settled(view, output)?;
    for command in resolving(noticed) {
        output.line(&format!("  -> {command}"))?;
    }
    Ok(())
}

/// A text, each of its lines below the head.
fn indented(label: &str, text: &Text, output: &mut Output) -> Result<(), CliError> {
    let text = text.to_string();
    for (number, line) in text.lines().enumerate() {
        let label = if number == 0 { label } else { "" };
        output.line(format!("  {label}{line}").trim_end())?;
    }
    Ok(())
}

/// What came of it.
fn settled(view: &ObservationView, output: &mut Output) -> Result<(), CliError> {
    let Some(processed) = &view.processed else {
        return Ok(());
    };
    let what = match processed.intent {
        Some(intent) => format!("processed: led to intent {}", short(intent.0)),
        None => "processed: nothing to do".to_owned(),
    };
    let reason = processed
        .reason
        .as_ref()
        .map(|reason| format!(", {reason}"));
    let line = format!("  {what}{}", reason.unwrap_or_default());
    output.line(&line)
}
