//! `annals export`: writes the log for others.

use std::collections::HashSet;

use annals::Annals;
use annals::event_log::{Content, Digest, Position, Query, ReadError, Record};
use annals::wire::{self, StructureJson};
use serde::Serialize;
use serde_json::{Value, json};

use crate::cli::ExportAnnals;
use crate::context::{Context, reached};
use crate::error::CliError;
use crate::output::Output;
use crate::progress;

/// The version of the lines' format.
const FORMAT: u32 = 1;

/// A record as a line. `record` is what counts: its bytes are those that the
/// log holds, and everything else is read from them.
#[derive(Serialize)]
struct Line<'a> {
    position: u64,
    version: u64,
    stream: &'a str,
    event_id: uuid::Uuid,
    batch_id: uuid::Uuid,
    event_type: &'a str,
    schema_version: u16,
    occurred_at: annals::domain::Timestamp,
    recorded_at: annals::domain::Timestamp,
    actor: Value,
    correlation: Option<uuid::Uuid>,
    causation: Option<uuid::Uuid>,
    structure_digest: String,
    content_digest: String,
    event: Value,
    content: Vec<Value>,
    record: String,
}

/// Writes the log itself.
pub(crate) async fn annals(args: &ExportAnnals, context: &mut Context) -> Result<(), CliError> {
    let annals = context.reader()?;
    let end = annals.position();
    // To begin where the next record will be is to write nothing yet.
    let from = Position(args.from.max(1));
    reached(&annals, annals::At::Position(Position(from.0 - 1)))?;
    let output = &mut context.output;
    output.json(&json!({
        "annals": FORMAT,
        "log_id": annals.log().log_id(),
        "from": from.0,
        "to": end.0,
    }))?;
    let bar = progress::bar("exporting", Some(end.0));
    let mut written = HashSet::new();
    let mut next = Some(from.0).filter(|from| *from <= end.0);
    while let Some(from) = next {
        let page = annals.log().read(Query::all(Position(from))).await?;
        for record in page
            .records
            .iter()
            .take_while(|record| record.position() <= end)
        {
            blobs(&annals, record, &mut written, output).await?;
            output.json(&line(record))?;
        }
        next = page.next.filter(|next| *next <= end.0);
        bar.set_position(from);
    }
    bar.finish_and_clear();
    Ok(())
}

/// Writes the large content that a record refers to, each piece once.
async fn blobs(
    annals: &Annals,
    record: &Record,
    written: &mut HashSet<Digest>,
    output: &mut Output,
) -> Result<(), CliError> {
    for digest in record.content().iter().filter_map(Content::blob) {
        if written.contains(&digest) {
            continue;
        }
        let bytes = annals
            .content(digest)
            .await?
            .ok_or_else(|| ReadError::Corrupt {
                reason: format!(
                    "record {} needs the blob {digest}, which is missing",
                    record.position()
                ),
            })?;
        output.json(&json!({
            "blob": digest.to_string(),
            "size": bytes.len(),
            "hex": hex::encode(&bytes),
        }))?;
        written.insert(digest);
    }
    Ok(())
}

fn line(record: &Record) -> Line<'_> {
    let digests = record.digests();
    let actor = record.actor();
    // An event of a newer version has no JSON here; its record is whole.
    let event = wire::decode(record).ok();
    let event = event.and_then(|decoded| serde_json::to_value(StructureJson(&decoded.event)).ok());
    Line {
        position: record.position().0,
        version: record.version().0,
        stream: record.stream(),
        event_id: record.event_id(),
        batch_id: record.batch_id(),
        event_type: record.event_type(),
        schema_version: record.schema_version(),
        occurred_at: record.occurred_at().into(),
        recorded_at: record.recorded_at().into(),
        actor: json!({
            "kind": actor.kind,
            "id": actor.id,
            "display_name_piece": actor.display_name,
            "auth_context_piece": actor.auth_context,
        }),
        correlation: record.correlation(),
        causation: record.causation(),
        structure_digest: digests.structure.to_string(),
        content_digest: digests.content.to_string(),
        event: event.unwrap_or(Value::Null),
        content: record.content().iter().map(piece).collect(),
        record: hex::encode(record.as_bytes()),
    }
}

fn piece(piece: &Content) -> Value {
    let reference = |kind: &str, salt: &[u8], digest: &Digest, size: u64| json!({ "kind": kind, "salt": hex::encode(salt), "digest": digest.to_string(), "size": size });
    match piece {
        Content::Inline { salt, bytes } => {
            let mut value = reference("inline", salt, &Digest::of(bytes), bytes.len() as u64);
            match std::str::from_utf8(bytes) {
                Ok(text) => value["text"] = text.into(),
                Err(_) => value["hex"] = hex::encode(bytes).into(),
            }
            value
        }
        Content::Blob { salt, digest, size } => reference("blob", salt, digest, *size),
        Content::Attachment { salt, digest, size } => reference("attachment", salt, digest, *size),
        Content::Removed { salted } => json!({ "kind": "removed", "salted": salted.to_string() }),
    }
}
