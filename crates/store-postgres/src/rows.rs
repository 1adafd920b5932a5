//! The rows that a group of appends adds, and how they are written: in one round trip, with the commit.

use std::collections::HashMap;

use annals_event_log::store_support::BatchRow;
use annals_event_log::tree::Kept;
use annals_event_log::{BatchId, Blob, Digest, Position, StreamName, Version};
use bytes::Bytes;
use futures::try_join;
use tokio_postgres::{Error, Statement};

use crate::head::{Head, signed};
use crate::sessions::{Parameters, Session};
use crate::statements::Statements;

/// A record to be added.
#[derive(Debug)]
pub(crate) struct NewRecord {
    pub(crate) position: Position,
    pub(crate) stream: StreamName,
    pub(crate) version: Version,
    pub(crate) event_type: String,
    pub(crate) bytes: Bytes,
}

/// What a group adds to the tables.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    pub(crate) records: Vec<NewRecord>,
    /// The leaf of each record, in the same order.
    pub(crate) leaves: Vec<Digest>,
    /// Hashes of the levels above the leaves.
    pub(crate) hashes: Vec<Kept>,
    pub(crate) versions: HashMap<StreamName, Version>,
    pub(crate) batches: HashMap<BatchId, BatchRow>,
    /// Content, and the object that has it where it is not kept in the database.
    pub(crate) blobs: Vec<(Blob, Option<String>)>,
}

/// The statements that write them, known to a connection before the first of them is sent.
pub(crate) struct Writing {
    rows: Statement,
    blobs: Statement,
}

impl Writing {
    /// Makes them known to a connection, which takes no time from the second time on.
    pub(crate) async fn prepare(session: &Session, sql: &Statements) -> Result<Writing, Error> {
        let (rows, blobs) = try_join!(
            session.prepare_cached(&sql.add),
            session.prepare_cached(&sql.add_blobs),
        )?;
        Ok(Writing { rows, blobs })
    }
}

impl Rows {
    /// Writes them and the head. All statements are sent when this was polled once, so that a commit that is polled
    /// behind it comes behind them.
    pub(crate) async fn write(
        &self,
        session: &Session,
        writing: &Writing,
        log: i64,
        head: &Head,
    ) -> Result<(), Error> {
        try_join!(
            self.write_blobs(session, &writing.blobs, log),
            self.write_rows(session, &writing.rows, log, head),
        )?;
        Ok(())
    }

    async fn write_rows(
        &self,
        session: &Session,
        statement: &Statement,
        log: i64,
        head: &Head,
    ) -> Result<(), Error> {
        let records = Columns::of(&self.records);
        let leaves: Vec<&[u8]> = self.leaves.iter().map(|leaf| &leaf.0[..]).collect();
        let (streams, versions): (Vec<&str>, Vec<i64>) = self
            .versions
            .iter()
            .map(|(stream, version)| (stream.as_str(), signed(version.0)))
            .unzip();
        let batches: Vec<BatchId> = self.batches.keys().copied().collect();
        let rows = || self.batches.values();
        let firsts: Vec<i64> = rows().map(|row| signed(row.appended.first.0)).collect();
        let lasts: Vec<i64> = rows().map(|row| signed(row.appended.last.0)).collect();
        let requests = || rows().map(|row| row.request.as_ref());
        let salts: Vec<Option<&[u8]>> = requests().map(|it| it.map(|it| &it.salt[..])).collect();
        let digests: Vec<Option<&[u8]>> =
            requests().map(|it| it.map(|it| &it.digest.0[..])).collect();
        let levels: Vec<i64> = self.hashes.iter().map(|it| i64::from(it.level)).collect();
        let numbers: Vec<i64> = self.hashes.iter().map(|it| signed(it.index)).collect();
        let hashes: Vec<&[u8]> = self.hashes.iter().map(|it| &it.hash.0[..]).collect();
        let nanos = i64::from(head.recorded_at.timestamp_subsec_nanos());
        let parameters: Parameters<'_> = &[
            &log,
            &records.positions,
            &records.streams,
            &records.versions,
            &records.types,
            &leaves,
            &records.bytes,
            &streams,
            &versions,
            &batches,
            &firsts,
            &lasts,
            &salts,
            &digests,
            &levels,
            &numbers,
            &hashes,
            &signed(head.position.0),
            &head.recorded_at.timestamp(),
            &nanos,
            &head.frontier.encode(),
            &head.streams,
            &head.batches,
            &head.blobs,
            &head.blob_bytes,
        ];
        session.execute(statement, parameters).await?;
        Ok(())
    }

    async fn write_blobs(
        &self,
        session: &Session,
        statement: &Statement,
        log: i64,
    ) -> Result<(), Error> {
        if self.blobs.is_empty() {
            return Ok(());
        }
        let digests: Vec<Digest> = self.blobs.iter().map(|(blob, _)| blob.digest()).collect();
        let digests: Vec<&[u8]> = digests.iter().map(|digest| &digest.0[..]).collect();
        let sizes = self
            .blobs
            .iter()
            .map(|(blob, _)| signed(blob.bytes().len() as u64));
        let sizes: Vec<i64> = sizes.collect();
        let content = |(blob, object): &'_ (Blob, Option<String>)| match object {
            None => Some(blob.bytes().clone()),
            Some(_) => None,
        };
        let contents: Vec<Option<Bytes>> = self.blobs.iter().map(content).collect();
        let contents: Vec<Option<&[u8]>> = contents.iter().map(Option::as_deref).collect();
        let objects: Vec<Option<&str>> = self
            .blobs
            .iter()
            .map(|(_, object)| object.as_deref())
            .collect();
        session
            .execute(statement, &[&log, &digests, &sizes, &contents, &objects])
            .await?;
        Ok(())
    }
}

/// Records as the columns of their table.
struct Columns<'a> {
    positions: Vec<i64>,
    streams: Vec<&'a str>,
    versions: Vec<i64>,
    types: Vec<&'a str>,
    bytes: Vec<&'a [u8]>,
}

impl<'a> Columns<'a> {
    fn of(records: &'a [NewRecord]) -> Columns<'a> {
        Columns {
            positions: records.iter().map(|it| signed(it.position.0)).collect(),
            streams: records.iter().map(|it| it.stream.as_str()).collect(),
            versions: records.iter().map(|it| signed(it.version.0)).collect(),
            types: records.iter().map(|it| it.event_type.as_str()).collect(),
            bytes: records.iter().map(|it| &it.bytes[..]).collect(),
        }
    }
}
