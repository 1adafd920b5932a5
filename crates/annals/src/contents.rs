//! Records and their content, as they are in the log.

use annals_event_log::{Digest, Position, ReadError, Record, record_at};
use annals_projections::{Entry, EntryError};
use annals_store_rocks::{PurgeError, Unfinished};
use bytes::Bytes;

use crate::{Annals, Files, LoadError};

/// The records of a log with their content: read, looked for, and removed for good. [`Annals::contents`]
/// gives it.
///
/// A record has what folds need. Texts are pieces of content beside it, and large ones are blobs, which an
/// [`Entry`] brings together.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # futures::executor::block_on(async {
/// use annals::domain::ActorRef;
/// use annals::event_log::Position;
/// use annals::{Annals, RedactRequest, Target};
///
/// let annals = Annals::open("memory:").await?;
/// let ada = ActorRef::human("ada");
/// let intent = annals.by(&ada).submit("The password is hunter2").await?;
///
/// let contents = annals.contents();
/// let record = contents.record(Position(1)).await?.ok_or("the log is empty")?;
/// assert_eq!(record.event_type(), "intent.submitted");
/// let target = Target::Event(record.position());
/// let request = RedactRequest::new(vec![target], ada, "a password");
/// contents.redact(&request, &mut |_| {}).await?;
/// assert_eq!(contents.redactions(intent).await?.len(), 1);
/// # Ok(())
/// # })
/// # }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Contents<'a> {
    pub(crate) annals: &'a Annals,
}

impl Annals {
    /// Records and their content: to read, to look for, to remove.
    pub fn contents(&self) -> Contents<'_> {
        Contents { annals: self }
    }
}

impl Contents<'_> {
    /// The record at a position, unless the log ends before it.
    ///
    /// # Errors
    /// [`ReadError`].
    pub async fn record(self, position: Position) -> Result<Option<Record>, ReadError> {
        record_at(self.annals.log.as_ref(), position).await
    }

    /// Content by its digest: a diff, a report.
    ///
    /// # Errors
    /// [`ReadError`].
    pub async fn get(self, digest: Digest) -> Result<Option<Bytes>, ReadError> {
        self.annals.log.blob(digest).await
    }

    /// A record with its content fetched.
    ///
    /// # Errors
    /// [`LoadError`].
    pub async fn entry(self, record: &Record) -> Result<Entry, LoadError> {
        let log = self.annals.log.as_ref();
        let blobs = Entry::fetch(log, record).await?;
        match Entry::new(record, &blobs) {
            Err(error @ EntryError::MissingBlob { .. }) => {
                // Content may have been removed since the record was read.
                let again = self.record(record.position()).await?;
                match again.filter(|again| again != record) {
                    Some(again) => Ok(Entry::new(&again, &Entry::fetch(log, &again).await?)?),
                    None => Err(error.into()),
                }
            }
            entry => Ok(entry?),
        }
    }

    /// A redaction that is not finished, in an embedded store. `None` also where what is left of it to
    /// do cannot be read: [`annals_store_rocks::RocksLog::verify`] names that.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn unfinished_redaction(self) -> Result<Option<Unfinished>, ReadError> {
        let Some(rocks) = self.annals.rocks() else {
            return Ok(None);
        };
        match rocks.unfinished_redaction() {
            Err(ReadError::Corrupt { .. }) => Ok(None),
            unfinished => unfinished,
        }
    }

    /// Gives up the bytes of everything that was removed: rewrites the files that may hold them, in whichever
    /// process owns the log. Whether there were any; a log without files has none. Others append and read meanwhile.
    ///
    /// # Errors
    /// [`PurgeError`].
    pub async fn purge(self) -> Result<bool, PurgeError> {
        match &self.annals.files {
            Files::None => Ok(false),
            Files::Alone(rocks) if !rocks.needs_purge()? => Ok(false),
            Files::Alone(rocks) => rocks.purge().map(|()| true),
            Files::Shared(shared) => shared.purge().await,
        }
    }

    /// Leaves the bytes of the redaction whose last event has this position in the files until [`Contents::purge`]
    /// is called: the next opening does not rewrite them. Where another redaction came since, it does nothing.
    ///
    /// # Errors
    /// [`PurgeError`].
    pub async fn put_off_purge(self, said: Position) -> Result<(), PurgeError> {
        match &self.annals.files {
            Files::None => Ok(()),
            Files::Alone(rocks) => rocks.put_off_purge(said),
            Files::Shared(shared) => shared.put_off_purge(said).await,
        }
    }
}
