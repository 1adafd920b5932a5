//! What a log says of itself, and what it does not hold.

use annals_event_log::ReadError;
use uuid::Uuid;

use super::report::Fault;
use super::verifier::Verifier;
use crate::redaction::{Pending, decode_records};
use crate::rows::{self, Counts};
use crate::{columns, identity, index, keys, secret};

/// What each log says of itself. The others may be missing.
const ALWAYS: [&[u8]; 3] = [keys::META_FORMAT, keys::META_LOG_ID, keys::META_CREATED_AT];

impl Verifier<'_> {
    /// The format, the id, when it was created, and the counts.
    pub(super) fn meta(&mut self, log_id: Uuid) -> Result<(), ReadError> {
        self.words(log_id)?;
        self.nothing_else()?;
        self.counts()
    }

    fn words(&mut self, log_id: Uuid) -> Result<(), ReadError> {
        let mut iterator = self.view.db.iterate_once(self.view.columns.meta);
        iterator.seek_to_first();
        let mut missing = ALWAYS.to_vec();
        while let Some((key, value)) = iterator.item() {
            missing.retain(|word| *word != key);
            let is_right = match key {
                keys::META_FORMAT => *value == identity::FORMAT.to_be_bytes(),
                keys::META_LOG_ID => value == log_id.as_bytes(),
                keys::META_CREATED_AT => rows::is_created_at(log_id, value),
                // These are compared with what was counted and hashed.
                keys::META_TREE | keys::META_COUNTS => true,
                keys::META_ID_SECRET => secret::decode(value).is_some(),
                keys::META_ROWS_SYNCED => *value == keys::ROWS_SYNCED,
                keys::META_EPOCH | keys::META_REBUILT => keys::number(value).is_some(),
                keys::META_REDACTION => Pending::decode(value).is_some(),
                part if keys::redaction_part_number(part).is_some() => {
                    decode_records(value).is_some()
                }
                _ => false,
            };
            if !is_right {
                let entry = String::from_utf8_lossy(key).into_owned();
                self.find(None, None, Fault::Meta { entry });
            }
            iterator.next();
        }
        if let Err(error) = self.view.db.check(&iterator) {
            return self.unreadable(error);
        }
        for word in missing {
            let entry = format!("{} is missing", String::from_utf8_lossy(word));
            self.find(None, None, Fault::Meta { entry });
        }
        Ok(())
    }

    /// RocksDB's own column family holds nothing.
    fn nothing_else(&mut self) -> Result<(), ReadError> {
        let name = columns::DEFAULT;
        let Some(column) = self.view.db.rocks.cf_handle(name) else {
            return Ok(());
        };
        let mut iterator = self.view.db.iterate_once(column);
        iterator.seek_to_first();
        while let Some(key) = iterator.key() {
            let entry = hex::encode(key);
            self.find(None, None, Fault::Surplus { name, entry });
            iterator.next();
        }
        match self.view.db.check(&iterator) {
            Ok(()) => Ok(()),
            Err(error) => self.unreadable(error),
        }
    }

    fn counts(&mut self) -> Result<(), ReadError> {
        let counts = match index::counts(self.view.db, &self.view.columns) {
            Ok(counts) => counts,
            Err(error) => return self.unreadable(error),
        };
        // Where the writer has moved on they count more than was read here.
        if !self.is_at_end()? {
            return Ok(());
        }
        let is_sound = self.report.is_sound();
        let are_blobs_known = !self.blobs.is_faulty && self.are_blobs_still();
        let found = Counts {
            position: self.view.watermark.0,
            streams: self.report.streams,
            batches: self.report.batches,
            blobs: self.report.blobs,
            blob_bytes: self.blobs.bytes,
        };
        // What was found to be wrong already was not counted as it should be.
        let compared = [
            ("records", counts.position, found.position, true),
            ("streams", counts.streams, found.streams, is_sound),
            ("batches", counts.batches, found.batches, is_sound),
            ("blobs", counts.blobs, found.blobs, are_blobs_known),
            (
                "bytes of blobs",
                counts.blob_bytes,
                found.blob_bytes,
                are_blobs_known,
            ),
        ];
        for (what, counted, found, is_known) in compared {
            if is_known && counted != found {
                let fault = Fault::Counts {
                    what,
                    counted,
                    found,
                };
                self.find(None, None, fault);
            }
        }
        Ok(())
    }
}
