//! Whether every blob has its own digest, and every reference a blob.

use annals_event_log::{Content, Digest, ReadError};

use super::chunks::Outline;
use super::report::Fault;
use super::verifier::{Known, Verifier};
use crate::index;

impl Verifier<'_> {
    /// Reads all blobs, whether or not anything refers to them.
    pub(super) fn stored_blobs(&mut self) -> Result<(), ReadError> {
        self.blobs.counted = self.counted_blobs();
        let mut iterator = self.view.db.iterate_once(self.view.columns.blobs);
        iterator.seek_to_first();
        while let Some((key, value)) = iterator.item() {
            self.report.blobs += 1;
            let size = value.len() as u64;
            self.blobs.bytes += size;
            match key.try_into().map(Digest) {
                Ok(digest) if Digest::of(value) == digest => {
                    let is_used = false;
                    self.blobs.remember(digest, Known::Sound { size, is_used });
                }
                Ok(digest) => self.faulty_blob(digest, Fault::ChangedBlob { digest }),
                Err(_) => {
                    self.blobs.is_faulty = true;
                    let (name, entry) = ("blobs", hex::encode(key));
                    self.find(None, None, Fault::Surplus { name, entry });
                }
            }
            iterator.next();
        }
        if let Err(error) = self.view.db.check(&iterator) {
            self.blobs.is_faulty = true;
            self.unreadable(error)?;
        }
        Ok(())
    }

    fn counted_blobs(&self) -> Option<(u64, u64)> {
        let counts = index::counts(self.view.db, &self.view.columns).ok()?;
        Some((counts.blobs, counts.blob_bytes))
    }

    /// Whether the blobs can be compared with what the log counts: a writer may have deleted
    /// some while they were read, without a record that says so.
    pub(super) fn are_blobs_still(&self) -> bool {
        self.blobs.counted == self.counted_blobs()
    }

    fn faulty_blob(&mut self, digest: Digest, fault: Fault) {
        self.blobs.is_faulty = true;
        self.blobs.remember(digest, Known::Faulty);
        self.find(None, None, fault);
    }

    /// Looks for the blobs that a record refers to.
    pub(super) fn references(&mut self, record: &Outline) -> Result<(), ReadError> {
        for (digest, said) in &record.references {
            let found = match self.blobs.known.get_mut(digest) {
                Some(Known::Faulty) => continue,
                Some(Known::Sound { size, is_used }) => {
                    *is_used = true;
                    Ok(*size)
                }
                // It is not remembered, or came meanwhile.
                None => match self.look_up(*digest)? {
                    Ok(size) => {
                        let is_used = true;
                        self.blobs.remember(*digest, Known::Sound { size, is_used });
                        Ok(size)
                    }
                    Err(fault) => Err(fault),
                },
            };
            let fault = match found {
                Ok(found) if found == *said => continue,
                Ok(found) => Fault::BlobSize {
                    digest: *digest,
                    said: *said,
                    found,
                },
                Err(fault) => {
                    self.blobs.is_faulty = true;
                    self.blobs.remember(*digest, Known::Faulty);
                    fault
                }
            };
            self.find(Some(record.position), Some(record.stream.as_str()), fault);
        }
        Ok(())
    }

    /// Takes the references of records behind the watermark in. These are not verified, and their blobs are stored.
    pub(super) fn references_behind(&mut self) -> Result<(), ReadError> {
        let (view, known) = (self.view, &mut self.blobs.known);
        let read = view.db.each_behind(view.watermark, |record| {
            for piece in record.content() {
                let (Content::Blob { digest, .. } | Content::Attachment { digest, .. }) = piece
                else {
                    continue;
                };
                if let Some(Known::Sound { is_used, .. }) = known.get_mut(&digest) {
                    *is_used = true;
                }
            }
        });
        match read {
            Ok(()) => Ok(()),
            Err(error) => self.unreadable(error),
        }
    }

    /// The length of a blob, or what is wrong with it.
    fn look_up(&self, digest: Digest) -> Result<Result<u64, Fault>, ReadError> {
        match self.view.db.get(self.view.columns.blobs, &digest.0) {
            Ok(None) => Ok(Err(Fault::MissingBlob { digest })),
            Ok(Some(content)) if Digest::of(&content) == digest => Ok(Ok(content.len() as u64)),
            Ok(Some(_)) => Ok(Err(Fault::ChangedBlob { digest })),
            Err(ReadError::Corrupt { reason }) => Ok(Err(Fault::Unreadable { reason })),
            Err(error) => Err(error),
        }
    }
}
