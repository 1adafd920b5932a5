//! The rows that a group of appends adds, and how they are written: in one round trip, with the commit.

use std::collections::HashMap;

use annals_event_log::store_support::BatchRow;
use annals_event_log::tree::Kept;
use annals_event_log::{BatchId, Blob, Digest, Position, StreamName, Version};
use bytes::Bytes;
use futures::try_join;
use tokio_postgres::{Error, Statement};

use crate::head::{Head, signed};
use crate::sessions::Session;
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
    records: Statement,
    versions: Statement,
    batches: Statement,
    hashes: Statement,
    blobs: Statement,
    head: Statement,
}

impl Writing {
    /// Makes them known to a connection, which takes no time from the second time on.
    pub(crate) async fn prepare(session: &Session, sql: &Statements) -> Result<Writing, Error> {
        let (records, versions, batches, hashes, blobs, head) = try_join!(
            session.prepare_cached(&sql.add_records),
            session.prepare_cached(&sql.set_versions),
            session.prepare_cached(&sql.set_batches),
            session.prepare_cached(&sql.add_hashes),
            session.prepare_cached(&sql.add_blobs),
            session.prepare_cached(&sql.set_head),
        )?;
        Ok(Writing {
            records,
            versions,
            batches,
            hashes,
            blobs,
            head,
        })
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
            self.write_records(session, &writing.records, log),
            self.write_versions(session, &writing.versions, log),
            self.write_batches(session, &writing.batches, log),
            self.write_hashes(session, &writing.hashes, log),
            self.write_blobs(session, &writing.blobs, log),
            write_head(session, &writing.head, log, head),
        )?;
        Ok(())
    }

    async fn write_records(
        &self,
        session: &Session,
        statement: &Statement,
        log: i64,
    ) -> Result<(), Error> {
        let positions: Vec<i64> = self
            .records
            .iter()
            .map(|it| signed(it.position.0))
            .collect();
        let streams: Vec<&str> = self.records.iter().map(|it| it.stream.as_str()).collect();
        let versions: Vec<i64> = self.records.iter().map(|it| signed(it.version.0)).collect();
        let types: Vec<&str> = self
            .records
            .iter()
            .map(|it| it.event_type.as_str())
            .collect();
        let leaves: Vec<&[u8]> = self.leaves.iter().map(|leaf| &leaf.0[..]).collect();
        let bytes: Vec<&[u8]> = self.records.iter().map(|it| &it.bytes[..]).collect();
        session
            .execute(
                statement,
                &[
                    &log, &positions, &streams, &versions, &types, &leaves, &bytes,
                ],
            )
            .await?;
        Ok(())
    }

    async fn write_versions(
        &self,
        session: &Session,
        statement: &Statement,
        log: i64,
    ) -> Result<(), Error> {
        let (streams, versions): (Vec<&str>, Vec<i64>) = self
            .versions
            .iter()
            .map(|(stream, version)| (stream.as_str(), signed(version.0)))
            .unzip();
        session
            .execute(statement, &[&log, &streams, &versions])
            .await?;
        Ok(())
    }

    async fn write_batches(
        &self,
        session: &Session,
        statement: &Statement,
        log: i64,
    ) -> Result<(), Error> {
        let ids: Vec<BatchId> = self.batches.keys().copied().collect();
        let rows = || self.batches.values();
        let firsts: Vec<i64> = rows().map(|row| signed(row.appended.first.0)).collect();
        let lasts: Vec<i64> = rows().map(|row| signed(row.appended.last.0)).collect();
        let requests = || rows().map(|row| row.request.as_ref());
        let salts: Vec<Option<&[u8]>> = requests().map(|it| it.map(|it| &it.salt[..])).collect();
        let digests: Vec<Option<&[u8]>> =
            requests().map(|it| it.map(|it| &it.digest.0[..])).collect();
        session
            .execute(statement, &[&log, &ids, &firsts, &lasts, &salts, &digests])
            .await?;
        Ok(())
    }

    async fn write_hashes(
        &self,
        session: &Session,
        statement: &Statement,
        log: i64,
    ) -> Result<(), Error> {
        if self.hashes.is_empty() {
            return Ok(());
        }
        let levels: Vec<i64> = self.hashes.iter().map(|it| i64::from(it.level)).collect();
        let numbers: Vec<i64> = self.hashes.iter().map(|it| signed(it.index)).collect();
        let hashes: Vec<&[u8]> = self.hashes.iter().map(|it| &it.hash.0[..]).collect();
        session
            .execute(statement, &[&log, &levels, &numbers, &hashes])
            .await?;
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

async fn write_head(
    session: &Session,
    statement: &Statement,
    log: i64,
    head: &Head,
) -> Result<(), Error> {
    let nanos = i64::from(head.recorded_at.timestamp_subsec_nanos());
    let parameters: [&(dyn tokio_postgres::types::ToSql + Sync); 9] = [
        &log,
        &signed(head.position.0),
        &head.recorded_at.timestamp(),
        &nanos,
        &head.frontier.encode(),
        &head.streams,
        &head.batches,
        &head.blobs,
        &head.blob_bytes,
    ];
    session.execute(statement, &parameters).await?;
    Ok(())
}
