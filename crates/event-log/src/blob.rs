//! The port of the content-addressed blob store.

use async_trait::async_trait;
use bytes::Bytes;

use crate::{Digest, ReadError};

/// Content with its digest. The digest is computed here and nowhere else, so
/// the two always belong together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blob {
    digest: Digest,
    bytes: Bytes,
}

impl Blob {
    /// Takes content and computes its digest.
    pub fn new(bytes: impl Into<Bytes>) -> Blob {
        let bytes = bytes.into();
        Blob {
            digest: Digest::of(&bytes),
            bytes,
        }
    }

    /// The SHA-256 of the content.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// The content.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }
}

/// Content by digest, each stored once. Blobs come in through
/// [`crate::EventLog::append`], together with the events that refer to them,
/// so that neither is ever there without the other.
#[async_trait]
pub trait Blobs: Send + Sync {
    /// The content with this digest, or `None` where there is none.
    ///
    /// # Errors
    /// [`ReadError::Corrupt`] when what is stored has another digest.
    async fn blob(&self, digest: Digest) -> Result<Option<Bytes>, ReadError>;
}
