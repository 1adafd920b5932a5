//! The digests of a record: those that its header holds, and those of what is there.

use bytes::{Bytes, BytesMut};

use super::form::{Form, PREFIX, Whole, known};
use super::layout::{AT_CONTENT_DIGEST, AT_STRUCTURE_DIGEST, HEADER_START};
use super::{Record, piece};
use crate::Digest;
use crate::tree::leaf;

/// What [`Record::verify`] compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordDigests {
    /// SHA-256 of the structure.
    pub structure: Digest,
    /// SHA-256 over the pieces' salted digests.
    pub content: Digest,
}

/// What was altered of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Altered {
    /// Its structure or its content.
    #[error("its payload is not what its header says")]
    Payload,
    /// Its header, or its hash in the tree.
    #[error("its header is not that of its hash in the tree")]
    Header,
}

impl Record {
    /// The record's bytes. A store may keep them without what follows from the others; that is made here,
    /// once.
    pub fn as_bytes(&self) -> &Bytes {
        match self.form {
            Form::Whole => &self.bytes,
            Form::Short => &self.whole().bytes,
        }
    }

    /// The bytes as they are kept, and the form that they have.
    pub(crate) fn kept(&self) -> (&Bytes, Form) {
        (&self.bytes, self.form)
    }

    /// How many bytes [`Record::as_bytes`] has, which need not be made for that.
    pub fn encoded_len(&self) -> usize {
        self.bytes.len() + self.form.left_out()
    }

    /// The header's bytes: what represents the record in a proof. See [`Record::has_header`].
    pub fn header_bytes(&self) -> &[u8] {
        let end = self.header_end as usize + self.form.left_out();
        &self.as_bytes()[HEADER_START..end]
    }

    /// Whether the header that was appended is known. It is not known where only a part of
    /// the digests is kept and what they are computed from was altered.
    pub fn has_header(&self) -> bool {
        match self.form {
            Form::Whole => true,
            Form::Short => self.whole().fits,
        }
    }

    /// The digests that the header holds. Of one that is kept in part and is not that of what is there, the rest
    /// is not known: it is zeros, so that what was altered looks right nowhere.
    pub fn digests(&self) -> RecordDigests {
        let whole = self.as_bytes();
        let digest = |at: usize| {
            let mut digest = Digest([0; 32]);
            let at = HEADER_START + at;
            digest.0.copy_from_slice(&whole[at..at + 32]);
            digest
        };
        RecordDigests {
            structure: digest(AT_STRUCTURE_DIGEST),
            content: digest(AT_CONTENT_DIGEST),
        }
    }

    /// Whether structure and content are what the header says, as far as it is kept.
    ///
    /// # Errors
    /// The digests of what is there, when they are not those of the header.
    pub fn verify(&self) -> Result<(), RecordDigests> {
        if self.form == Form::Short && self.has_header() {
            return Ok(());
        }
        let made = self.made_digests();
        match made == self.digests() {
            true => Ok(()),
            false => Err(made),
        }
    }

    /// The record's hash in the tree, made of what is there.
    ///
    /// # Errors
    /// [`Altered::Payload`], where structure and content are not what the header says: a leaf of that would
    /// pass for what was appended from then on.
    pub fn leaf(&self) -> Result<Digest, Altered> {
        match self.verify() {
            Ok(()) => Ok(leaf(self.header_bytes())),
            Err(_) => Err(Altered::Payload),
        }
    }

    fn whole(&self) -> &Whole {
        self.whole.get_or_init(|| self.make_whole())
    }

    fn make_whole(&self) -> Whole {
        let RecordDigests { structure, content } = self.made_digests();
        let (before, behind) = self.bytes.split_at(HEADER_START + AT_STRUCTURE_DIGEST);
        let (kept_structure, behind) = behind.split_at(PREFIX);
        let (kept_content, behind) = behind.split_at(PREFIX);
        let fits = structure.0.starts_with(kept_structure) && content.0.starts_with(kept_content);
        let (structure, content) = (
            known(structure, kept_structure),
            known(content, kept_content),
        );
        let mut whole = BytesMut::with_capacity(self.encoded_len());
        for part in [before, &structure.0, &content.0, behind] {
            whole.extend_from_slice(part);
        }
        Whole {
            bytes: whole.freeze(),
            fits,
        }
    }

    /// The digests of what is there.
    fn made_digests(&self) -> RecordDigests {
        RecordDigests {
            structure: Digest::of(&self.structure()),
            content: piece::content_digest(self.content().iter()),
        }
    }
}
