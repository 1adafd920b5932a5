//! The second look for secrets in a page that is written for others: in each text of its conversations before they are drawn,
//! in the text of the page, and in the records of its proof.

use std::collections::{BTreeMap, BTreeSet};

use annals::event_log::{Classified as _, Content, Digest, Position};
use annals::projections::{Conversation, TurnBody};
use annals::proof::{Detail, Proof};
use annals::{Annals, At, ObjectRef, SessionListed, TurnRange};
use annals_dialects::secrets::{SecretValues, Secrets};
use annals_viewer::{HtmlExport, HtmlOptions, export_html};
use serde::Serialize;
use uuid::Uuid;

use super::page_texts::PageTexts;
use crate::error::{CliError, ErrorClass};

/// An object as one HTML file, without the secrets that were found.
pub(in crate::commands) struct CleanExport {
    pub(in crate::commands) export: HtmlExport,
    /// The number of values that were replaced, by kind.
    pub(in crate::commands) replaced: BTreeMap<String, u64>,
    /// Whether the proof was to have whole records and has headers: a record is proved as it is, with its secrets.
    pub(in crate::commands) lacks_records: bool,
}

/// Writes an object as one HTML file, and replaces the secrets in it.
///
/// A value that is found in a text of the conversation is replaced wherever the page repeats it. The markup stays as it is.
pub(in crate::commands) async fn clean_export(
    annals: &Annals,
    name: &str,
    mut options: HtmlOptions,
) -> Result<CleanExport, CliError> {
    let mut export = export_html(annals, name, options).await?;
    let at = options.at.map_or(At::Now, At::Position);
    let secrets = Secrets::standard();
    let mut values = SecretValues::default();
    for session in sessions(annals, export.object.id, at).await? {
        add_conversation(annals, session, at, &secrets, &mut values).await?;
    }
    let has_secrets = add_records(annals, &export, &secrets, &mut values).await?;
    let texts = PageTexts::of(&export.html);
    values.add(&secrets.redact(texts.text()).hits);
    let finder = values.finder();
    let mut clean = texts.without(&export.html, &finder);
    let lacks_records =
        options.detail == Detail::Records && (has_secrets || !clean.replaced.is_empty());
    if lacks_records {
        let (object, position) = (export.object, Position(export.head.size));
        options.detail = Detail::Headers;
        options.at = Some(position);
        let again = export_html(annals, name, options).await;
        export = again.map_err(|_| secret_records(object))?;
        clean = PageTexts::of(&export.html).without(&export.html, &finder);
    }
    export.html = clean.page;
    Ok(CleanExport {
        export,
        replaced: clean.replaced,
        lacks_records,
    })
}

/// The error of an object that is stored with another one, so that its proof has whole records.
fn secret_records(object: ObjectRef) -> CliError {
    let message = format!("the proof of {object} has whole records, and these have secrets");
    let hint = "remove them with `annals log redact`, or export the run with --headers-only";
    CliError::new(ErrorClass::Refused, "secrets", message).hint(hint)
}

/// Returns the replaced secrets in words, as `2 password, 1 github-token`.
pub(in crate::commands) fn in_words(secrets: &BTreeMap<String, u64>) -> String {
    let kinds = secrets
        .iter()
        .map(|(kind, count)| format!("{count} {kind}"));
    kinds.collect::<Vec<_>>().join(", ")
}

/// The sessions whose conversations are on the page of an object: a session and its sub-agent sessions.
async fn sessions(annals: &Annals, object: Uuid, at: At) -> Result<Vec<Uuid>, CliError> {
    let family = match annals.conversations().family(object, at).await {
        Ok(family) => family,
        Err(error) if error.class() == ErrorClass::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    let mut ids = Vec::new();
    let mut next: Vec<&SessionListed> = vec![&family.session];
    while let Some(session) = next.pop() {
        ids.push(session.summary.id);
        next.extend(&session.sub_agents);
    }
    Ok(ids)
}

/// Adds the secrets of a conversation's texts and diffs.
async fn add_conversation(
    annals: &Annals,
    session: Uuid,
    at: At,
    secrets: &Secrets,
    values: &mut SecretValues,
) -> Result<(), CliError> {
    let conversation = annals.conversation(session, at, TurnRange::all()).await?;
    add_json(&conversation, secrets, values)?;
    for digest in digests(&conversation) {
        if let Some(bytes) = annals.conversations().diff(digest).await? {
            add_diff(&String::from_utf8_lossy(&bytes), secrets, values);
        }
    }
    Ok(())
}

/// Adds the secrets of the records of an object's proof, and returns `true` if there are any. A proof has the texts within its
/// records, and of longer ones the digests.
async fn add_records(
    annals: &Annals,
    export: &HtmlExport,
    secrets: &Secrets,
    values: &mut SecretValues,
) -> Result<bool, CliError> {
    let proofs = annals.proofs();
    let proof = proofs.object(export.object, &export.head, Detail::Records);
    let Proof::Inclusion(proof) = proof.await? else {
        return Ok(false);
    };
    let mut has_secrets = false;
    let records = proof.events.iter().filter_map(|it| it.record.as_ref());
    for piece in records.flat_map(|record| record.content()) {
        let Content::Inline { bytes, .. } = piece else {
            continue;
        };
        let text = String::from_utf8_lossy(&bytes);
        for hits in [secrets.redact(&text).hits, secrets.redact_json(&text).hits] {
            has_secrets |= !hits.is_empty();
            values.add(&hits);
        }
    }
    Ok(has_secrets)
}

/// Adds the secrets of a value's texts. A key is the label of the texts below it.
fn add_json(
    value: &impl Serialize,
    secrets: &Secrets,
    values: &mut SecretValues,
) -> Result<(), CliError> {
    let json = serde_json::to_string(value).map_err(|error| {
        let message = format!("the conversation cannot be searched for secrets: {error}");
        CliError::new(ErrorClass::Failed, "secrets", message)
    })?;
    values.add(&secrets.redact_json(&json).hits);
    Ok(())
}

/// Adds the secrets of a diff, also of its old and its new lines alone.
fn add_diff(diff: &str, secrets: &Secrets, values: &mut SecretValues) {
    values.add(&secrets.redact(diff).hits);
    for other in ['-', '+'] {
        let side = diff.lines().filter(|line| !line.starts_with(other));
        let side: Vec<&str> = side.map(|line| line.get(1..).unwrap_or(line)).collect();
        values.add(&secrets.redact(&side.join("\n")).hits);
    }
}

/// The diffs of a conversation, each once.
fn digests(conversation: &Conversation) -> BTreeSet<Digest> {
    let turns = conversation.turns.iter();
    let edits = turns.filter_map(|turn| match &turn.body {
        TurnBody::ToolCall(call) => Some(&call.edits),
        _ => None,
    });
    edits.flatten().filter_map(|edit| edit.diff).collect()
}
