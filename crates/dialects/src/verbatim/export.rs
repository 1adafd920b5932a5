//! Writing a log.

use std::borrow::Cow;
use std::io::{self, Write};

use annals::{Annals, named_removals};
use annals_domain::Object;
use annals_event_log::{
    Content, Digest, Position, Query, ReadError, Record, Store, UnnamedRemovals, record_at, tree,
};
use annals_wire::StructureJson;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use lru::LruCache;
use serde::Serialize;
use serde_json::{Value, json};

use super::error::VerbatimExportError;
use super::lines::{BlobLine, End, First, Line, Readable, RecordLine, VERSION, WORD};
use crate::Progress;

/// Blobs that are remembered as written. One that is named again only after so many
/// others is written again, so that memory is bounded.
const REMEMBERED: usize = 250_000;

/// Bytes of a record beyond which its line has no fields for people: they would make
/// it several times as long.
const READABLE: usize = 256 * 1024;

/// What an export holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerbatimExported {
    /// The first position in it.
    pub from: Position,
    /// The last position in it; the one before `from`, where it has none.
    pub to: Position,
    /// How many records there are in it.
    pub records: u64,
    /// How many blobs.
    pub blobs: u64,
    /// The root of the tree over all records up to the last one.
    pub root: Digest,
}

/// Writes all records from position `from` on, up to where the log ends now, with the
/// content that they refer to. `progress` counts records.
///
/// # Errors
/// [`VerbatimExportError`].
pub async fn export(
    annals: &Annals,
    from: Position,
    out: &mut dyn Write,
    progress: &mut dyn FnMut(Progress),
) -> Result<VerbatimExported, VerbatimExportError> {
    let log = annals.log().as_ref();
    let end = log.watermark();
    let from = Position(from.0.max(1));
    let before = Position(from.0 - 1);
    if before > end {
        return Err(VerbatimExportError::BeyondEnd { from, end });
    }
    let root = tree::root(log, end.0).await?;
    let first = First {
        annals: WORD,
        version: VERSION,
        log_id: log.log_id(),
        from: from.0,
        to: end.0,
        root_before: tree::root(log, before.0).await?.to_string(),
        root: root.to_string(),
    };
    let mut export = Export {
        log,
        out,
        written: LruCache::unbounded(),
        removals: UnnamedRemovals::default(),
        records: 0,
        blobs: 0,
    };
    export.line(&first)?;
    let total = end.0 - before.0;
    let mut next = Some(from.0).filter(|from| *from <= end.0);
    while let Some(from) = next {
        let page = log.read(Query::all(Position(from))).await?;
        let mut records = page.records;
        records.retain(|record| record.position() <= end);
        check_headers(log, &records).await?;
        for record in records {
            export.record(record).await?;
        }
        next = page.next.filter(|next| *next <= end.0);
        let done = export.records;
        progress(Progress { done, total });
    }
    export.end(from, end, root)
}

/// Whether each header is the one that was hashed. An import could not say which one is not.
pub(super) async fn check_headers(log: &dyn Store, records: &[Record]) -> Result<(), ReadError> {
    let Some(first) = records.first() else {
        return Ok(());
    };
    let before = first.position().0.saturating_sub(1);
    let leaves = log.tree_hashes(0, before, records.len()).await?;
    for (record, stored) in records.iter().zip(leaves) {
        if record.has_header() && tree::leaf(record.header_bytes()) != stored {
            let position = record.position();
            let reason =
                format!("the header of record {position} is not that of its hash in the tree");
            return Err(ReadError::Corrupt { reason });
        }
    }
    Ok(())
}

struct Export<'a> {
    log: &'a dyn Store,
    out: &'a mut dyn Write,
    written: LruCache<Digest, ()>,
    removals: UnnamedRemovals,
    records: u64,
    blobs: u64,
}

impl Export<'_> {
    fn line(&mut self, line: &impl Serialize) -> Result<(), VerbatimExportError> {
        let write = |out: &mut dyn Write| -> io::Result<()> {
            serde_json::to_writer(&mut *out, line).map_err(io::Error::from)?;
            out.write_all(b"\n")
        };
        write(self.out).map_err(VerbatimExportError::Write)
    }

    /// Writes a record, and before it the large content that was not written yet.
    async fn record(&mut self, record: Record) -> Result<(), VerbatimExportError> {
        let record = match self.content(&record).await? {
            None => record,
            Some(missing) => self.without(&record, missing).await?,
        };
        // An import would refuse it, perhaps long after the log is gone.
        if record.verify().is_err() {
            let position = record.position();
            let reason = format!("the payload of record {position} is not what its header says");
            return Err(ReadError::Corrupt { reason }.into());
        }
        self.removals.record(&record, named_removals);
        self.line(&Line::Record(Object(line(&record))))?;
        self.records += 1;
        Ok(())
    }

    /// Writes the content that a record refers to; the digest of what is not there.
    async fn content(&mut self, record: &Record) -> Result<Option<Digest>, VerbatimExportError> {
        for digest in record.content().iter().filter_map(Content::blob) {
            // Asking moves it to the ones that were named last.
            if self.written.get(&digest).is_some() {
                continue;
            }
            let Some(bytes) = self.log.blob(digest).await? else {
                return Ok(Some(digest));
            };
            self.line(&Line::Blob(Object(BlobLine {
                digest: digest.to_string(),
                base64: Cow::Owned(STANDARD.encode(&bytes)),
            })))?;
            self.blobs += 1;
            self.written.put(digest, ());
            if self.written.len() > REMEMBERED {
                self.written.pop_lru();
            }
        }
        Ok(None)
    }

    /// The record as it is now: content that is missing may have been removed from it
    /// since it was read.
    async fn without(
        &mut self,
        record: &Record,
        missing: Digest,
    ) -> Result<Record, VerbatimExportError> {
        let position = record.position();
        if let Some(record) = record_at(self.log, position).await?
            && self.content(&record).await?.is_none()
        {
            return Ok(record);
        }
        let reason = format!("record {position} needs the blob {missing}, which is missing");
        Err(ReadError::Corrupt { reason }.into())
    }

    fn end(
        mut self,
        from: Position,
        to: Position,
        root: Digest,
    ) -> Result<VerbatimExported, VerbatimExportError> {
        let removals = std::mem::take(&mut self.removals).into_records();
        if let Some(position) = removals.first().map(|of| of.position) {
            return Err(VerbatimExportError::Removed { position, end: to });
        }
        let (records, blobs) = (self.records, self.blobs);
        let end = End {
            records,
            blobs,
            root: root.to_string(),
        };
        self.line(&Line::End(Object(end)))?;
        self.out.flush().map_err(VerbatimExportError::Write)?;
        Ok(VerbatimExported {
            from,
            to,
            records,
            blobs,
            root,
        })
    }
}

fn line(record: &Record) -> RecordLine<'_> {
    let is_short = record.encoded_len() <= READABLE;
    RecordLine {
        position: record.position().0,
        stream: Cow::Borrowed(record.stream()),
        event_type: Cow::Borrowed(record.event_type()),
        readable: is_short.then(|| Box::new(readable(record))),
        base64: Cow::Owned(STANDARD.encode(record.as_bytes())),
    }
}

fn readable(record: &Record) -> Readable {
    let actor = record.actor();
    // An event of a newer version has no JSON here; its record is whole.
    let event = annals_wire::decode(record).ok();
    let event = event.and_then(|decoded| serde_json::to_value(StructureJson(&decoded.event)).ok());
    let event = event.map(annals_wire::sorted);
    Readable {
        version: record.version().0,
        event_id: record.event_id(),
        batch_id: record.batch_id(),
        schema_version: record.schema_version(),
        occurred_at: record.occurred_at().into(),
        recorded_at: record.recorded_at().into(),
        actor: json!({
            "auth_context_piece": actor.auth_context,
            "display_name_piece": actor.display_name,
            "id": actor.id,
            "kind": actor.kind,
        }),
        correlation: record.correlation(),
        causation: record.causation(),
        event: event.unwrap_or(Value::Null),
        content: record.content().iter().map(piece).collect(),
    }
}

fn piece(piece: &Content) -> Value {
    let reference = |kind: &str, digest: &Digest, size: u64| json!({ "digest": digest.to_string(), "kind": kind, "size": size });
    match piece {
        Content::Inline { bytes, .. } => match std::str::from_utf8(bytes) {
            Ok(text) => json!({ "kind": "inline", "text": text }),
            Err(_) => json!({ "base64": STANDARD.encode(bytes), "kind": "inline" }),
        },
        Content::Blob { digest, size, .. } => reference("blob", digest, *size),
        Content::Attachment { digest, size, .. } => reference("attachment", digest, *size),
        Content::Removed { .. } => json!({ "kind": "removed" }),
    }
}
