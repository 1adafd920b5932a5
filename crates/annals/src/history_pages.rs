//! The history of an object page by page: that of a long run is larger than memory should be.

use annals_domain::{AnyEvent, Kind, StreamRef};
use annals_event_log::{Query, Version};
use annals_projections::{Entry, HistoryEntry, Teller, is_about};
use annals_wire::stream_name;
use uuid::Uuid;

use crate::read::Reach;
use crate::{Annals, At, LoadError, ViewError};

/// Records read at once.
const PAGE: usize = 200;

/// The history of an object, page by page; made by [`Annals::history_pages`].
#[derive(Debug)]
pub struct HistoryPages<'a> {
    annals: &'a Annals,
    kind: Kind,
    id: Uuid,
    stream: StreamRef,
    at: At,
    next: Option<u64>,
    teller: Teller,
}

impl Annals {
    /// Everything that had happened to an object by then, as [`Annals::history_at`] has it, but page by page, of
    /// which each is as large as some hundred events.
    ///
    /// ```
    /// # use annals::domain::ActorRef;
    /// # use annals::{Annals, At};
    /// # futures::executor::block_on(async {
    /// # let annals = Annals::open("memory:").await?;
    /// # let intent = annals.by(&ActorRef::agent("coder")).submit("Add a cache").await?;
    /// let mut pages = annals.history_pages(intent, At::Now).await?;
    /// while let Some(page) = pages.next().await? {
    ///     for entry in page {
    ///         println!("{} {}", entry.position, entry.summary);
    ///     }
    /// }
    /// # annals.close().await;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// [`ViewError::NotFound`].
    pub async fn history_pages(
        &self,
        id: impl Into<Uuid>,
        at: At,
    ) -> Result<HistoryPages<'_>, ViewError> {
        let id = id.into();
        let (kind, stream) = self.locate(id).await?;
        Ok(HistoryPages {
            annals: self,
            kind,
            id,
            stream,
            at,
            next: Some(1),
            teller: Teller::new(),
        })
    }
}

impl HistoryPages<'_> {
    /// The next page; none after the last one.
    ///
    /// # Errors
    /// [`ViewError::Load`].
    pub async fn next(&mut self) -> Result<Option<Vec<HistoryEntry>>, ViewError> {
        while let Some(from) = self.next {
            let page = self.page(from).await?;
            if !page.is_empty() {
                return Ok(Some(page));
            }
        }
        Ok(None)
    }

    /// What is told of the records from a version on that are about the object, perhaps nothing.
    async fn page(&mut self, from: u64) -> Result<Vec<HistoryEntry>, LoadError> {
        let log = self.annals.log.as_ref();
        let query = Query::stream(stream_name(self.stream), Version(from)).limit(PAGE);
        let page = log.read(query).await?;
        self.next = page.next;
        let mut told = Vec::new();
        for record in &page.records {
            match self.at.reaches(record) {
                Reach::Skip => {}
                Reach::Stop => {
                    self.next = None;
                    break;
                }
                Reach::Yes => {
                    let decoded = annals_wire::decode(record)?;
                    if self.is_told(&decoded.event) {
                        let entry = Entry::of(decoded, &Entry::fetch(log, record).await?)?;
                        told.push(self.teller.tell(&entry));
                    }
                }
            }
        }
        Ok(told)
    }

    /// Whether an event is part of the history. For an aggregate it is its whole stream, a run's with all that is in
    /// it.
    fn is_told(&self, event: &AnyEvent) -> bool {
        let whole = self.stream.kind.kind() == Some(self.kind);
        whole || is_about(event, self.stream, self.kind, self.id)
    }
}
