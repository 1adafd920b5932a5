//! Several streams in the order of the log.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet, VecDeque};

use annals_domain::StreamRef;
use annals_event_log::{Position, Query, ReadError, Record, Store, Version};
use annals_wire::stream_name;

/// Records that all streams together hold in memory.
const HELD: usize = 8_192;
/// Records of one stream that are read at once.
const PAGE: usize = 512;

/// One stream, as far as it was read.
struct Cursor {
    stream: StreamRef,
    page: VecDeque<Record>,
    next: Option<u64>,
}

/// The records of several streams by position. Streams can be added on the way;
/// what they had before is then left out.
pub struct Merged<'a> {
    log: &'a dyn Store,
    cursors: Vec<Cursor>,
    /// The position of the next record of each cursor that has one.
    heads: BinaryHeap<Reverse<(Position, usize)>>,
    known: HashSet<StreamRef>,
    at: Position,
}

impl<'a> Merged<'a> {
    /// Nothing is read yet.
    pub fn new(log: &'a dyn Store) -> Merged<'a> {
        Merged {
            log,
            cursors: Vec::new(),
            heads: BinaryHeap::new(),
            known: HashSet::new(),
            at: Position::START,
        }
    }

    /// Adds a stream, unless it is there.
    ///
    /// # Errors
    /// [`ReadError`].
    pub async fn add(&mut self, stream: StreamRef) -> Result<(), ReadError> {
        if !self.known.insert(stream) {
            return Ok(());
        }
        self.cursors.push(Cursor {
            stream,
            page: VecDeque::new(),
            next: Some(1),
        });
        self.fill(self.cursors.len() - 1).await
    }

    /// Adds a stream from the record at a position on, unless it is there.
    ///
    /// # Errors
    /// [`ReadError`].
    pub async fn add_from(
        &mut self,
        stream: StreamRef,
        position: Position,
    ) -> Result<(), ReadError> {
        if !self.known.insert(stream) {
            return Ok(());
        }
        let next = self.first_version(stream, position).await?;
        self.cursors.push(Cursor {
            stream,
            page: VecDeque::new(),
            next: Some(next),
        });
        self.fill(self.cursors.len() - 1).await
    }

    /// The version of a stream's first record at a position or behind it, found by bisection.
    async fn first_version(&self, stream: StreamRef, position: Position) -> Result<u64, ReadError> {
        let name = stream_name(stream);
        let (mut low, mut high) = (1, self.log.head(&name).await?.0.saturating_add(1));
        while low < high {
            let middle = low + (high - low) / 2;
            let query = Query::stream(name.clone(), Version(middle)).limit(1);
            let page = self.log.read(query).await?;
            match page.records.first() {
                Some(record) if record.position() < position => low = middle + 1,
                _ => high = middle,
            }
        }
        Ok(low)
    }

    /// Reads on in a stream until it has a record behind the current position.
    async fn fill(&mut self, index: usize) -> Result<(), ReadError> {
        let limit = (HELD / self.cursors.len().max(1)).clamp(8, PAGE);
        let Some(cursor) = self.cursors.get_mut(index) else {
            return Ok(());
        };
        loop {
            while cursor
                .page
                .front()
                .is_some_and(|record| record.position() <= self.at)
            {
                cursor.page.pop_front();
            }
            if let Some(record) = cursor.page.front() {
                self.heads.push(Reverse((record.position(), index)));
                return Ok(());
            }
            let Some(next) = cursor.next else {
                return Ok(());
            };
            let query = Query::stream(stream_name(cursor.stream), Version(next)).limit(limit);
            let page = self.log.read(query).await?;
            cursor.page = page.records.into();
            cursor.next = page.next;
        }
    }

    /// The next record of all streams.
    ///
    /// # Errors
    /// [`ReadError`].
    pub async fn next(&mut self) -> Result<Option<Record>, ReadError> {
        let Some(Reverse((position, index))) = self.heads.pop() else {
            return Ok(None);
        };
        let record = self
            .cursors
            .get_mut(index)
            .and_then(|cursor| cursor.page.pop_front());
        self.at = position;
        self.fill(index).await?;
        Ok(record)
    }
}

impl std::fmt::Debug for Merged<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Merged")
            .field("streams", &self.cursors.len())
            .field("at", &self.at)
            .finish_non_exhaustive()
    }
}
