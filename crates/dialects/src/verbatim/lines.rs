//! The lines of an export.

use std::borrow::Cow;

use annals_domain::Object;
use annals_event_log::Digest;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

/// The version of the lines' format.
pub(super) const VERSION: u32 = 1;

/// The word by which the first line says what it is.
pub(super) const WORD: &str = "export";

/// What the first line says of an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerbatimHeader {
    /// The id of the log that was exported.
    pub log_id: Uuid,
    /// The position of the first record in it.
    pub from: u64,
    /// The position of the last record in it; the one before `from`, where it has none.
    pub to: u64,
    /// The root of the tree over all records before the first one in it.
    pub root_before: Digest,
    /// The root over all records up to the last one in it.
    pub root: Digest,
}

impl VerbatimHeader {
    /// How many records there are in it.
    pub fn records(&self) -> u64 {
        self.to.saturating_add(1).saturating_sub(self.from)
    }
}

/// The first line.
#[derive(Serialize, Deserialize)]
pub(super) struct First<'a> {
    pub(super) annals: &'a str,
    pub(super) version: u32,
    pub(super) log_id: Uuid,
    pub(super) from: u64,
    pub(super) to: u64,
    pub(super) root_before: String,
    pub(super) root: String,
}

/// Every other line.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Line<'a> {
    #[serde(borrow)]
    Blob(Object<BlobLine<'a>>),
    #[serde(borrow)]
    Record(Object<RecordLine<'a>>),
    End(Object<End>),
}

/// Large content, before the first record that refers to it.
#[derive(Serialize, Deserialize)]
pub(super) struct BlobLine<'a> {
    pub(super) digest: String,
    #[serde(borrow)]
    pub(super) base64: Cow<'a, str>,
}

/// A record. Its bytes are what counts. The first three fields must agree with them;
/// what people read is not read back.
#[derive(Serialize, Deserialize)]
pub(super) struct RecordLine<'a> {
    pub(super) position: u64,
    #[serde(borrow)]
    pub(super) stream: Cow<'a, str>,
    #[serde(borrow, rename = "type")]
    pub(super) event_type: Cow<'a, str>,
    #[serde(flatten, skip_deserializing)]
    pub(super) readable: Option<Box<Readable>>,
    #[serde(borrow)]
    pub(super) base64: Cow<'a, str>,
}

/// What people want to see of a record.
#[derive(Serialize)]
pub(super) struct Readable {
    pub(super) version: u64,
    pub(super) event_id: Uuid,
    pub(super) batch_id: Uuid,
    pub(super) schema_version: u16,
    pub(super) occurred_at: annals_domain::Timestamp,
    pub(super) recorded_at: annals_domain::Timestamp,
    pub(super) actor: Value,
    pub(super) correlation: Option<Uuid>,
    pub(super) causation: Option<Uuid>,
    pub(super) event: Value,
    pub(super) content: Vec<Value>,
}

/// The last line. Where it is missing, the export was cut off.
#[derive(Serialize, Deserialize)]
pub(super) struct End {
    pub(super) records: u64,
    pub(super) blobs: u64,
    pub(super) root: String,
}
