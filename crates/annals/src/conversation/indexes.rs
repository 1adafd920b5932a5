//! Indexes of long conversations, kept in memory, so that a later part is read without the parts before it.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use annals_domain::StreamRef;
use annals_event_log::{Epoch, Position, Version};
use annals_projections::{
    Conversation, ConversationFold, ConversationIndex, Merged, PartStart, Relation,
};
use annals_wire::stream_name;
use uuid::Uuid;

use super::{SUB_AGENTS, SessionSources, TurnRange};
use crate::sync::{Mutex, MutexGuard, PoisonError};
use crate::{Annals, At, LoadError, ViewError};

/// The turns at the beginning of a conversation that are read without making an index.
const UNINDEXED: u64 = 1_000;
/// The most turns of a part that is read by an index.
const INDEXED: usize = 5_000;
/// The most indexes that are kept. A turn takes about 100 bytes.
const KEPT: usize = 4;

/// The indexes of the conversations that were read last, the newest first.
#[derive(Debug, Default)]
pub(crate) struct ConversationIndexes(Mutex<VecDeque<Arc<KeptIndex>>>);

/// An index, and the state of the log that it is of.
#[derive(Debug)]
struct KeptIndex {
    session: Uuid,
    /// Content that was removed since is in no part, but prompts have their beginnings here.
    epoch: Epoch,
    position: Position,
    /// `None` for an index of a past position.
    newest: Option<SourceHeads>,
    index: ConversationIndex,
}

/// Everything that a conversation is made of, as far as it can grow.
#[derive(Debug, PartialEq)]
struct SourceHeads {
    streams: Vec<(StreamRef, Version)>,
    sub_agents: Vec<Uuid>,
    prompts: Vec<Uuid>,
}

impl ConversationIndexes {
    fn kept(&self) -> MutexGuard<'_, VecDeque<Arc<KeptIndex>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The newest index of a session up to a position.
    fn find(&self, session: Uuid, epoch: Epoch, position: Position) -> Option<Arc<KeptIndex>> {
        let kept = self.kept();
        let of_session = kept.iter().filter(|kept| {
            kept.session == session && kept.epoch == epoch && kept.position <= position
        });
        of_session.max_by_key(|kept| kept.position).cloned()
    }

    fn keep(&self, index: KeptIndex) {
        let mut kept = self.kept();
        // An index of the newest position takes the place of an older one.
        kept.retain(|known| {
            known.session != index.session
                || (known.position != index.position
                    && (known.newest.is_none() || index.newest.is_none()))
        });
        kept.push_front(Arc::new(index));
        kept.truncate(KEPT);
    }
}

impl Annals {
    /// Reads a later part of a conversation by an index. `None` if the part is read as well without one.
    pub(super) async fn later_part(
        &self,
        sources: &SessionSources,
        at: At,
        range: TurnRange,
    ) -> Result<Option<Conversation>, ViewError> {
        if range.from <= 1 || range.limit > INDEXED {
            return Ok(None);
        }
        let position = match at {
            At::Position(position) => position,
            At::Now => self.position(),
            At::Recorded(_) | At::Occurred(_) => return Ok(None),
        };
        let numbers = range.from..(range.end() as u64).saturating_add(1);
        let epoch = self.log().checkpoint("conversations").await;
        let epoch = epoch.map_err(LoadError::from)?.epoch;
        let known = self.indexes.find(sources.session, epoch, position);
        if let Some(kept) = known
            && self.is_of(&kept, sources, position).await?
            && let Some(part) = self.indexed_part(&kept.index, sources, &numbers).await?
        {
            return Ok(Some(part));
        }
        if range.from <= UNINDEXED {
            return Ok(None);
        }
        let is_newest = position >= self.position();
        let newest = match is_newest {
            true => Some(self.source_heads(sources).await?),
            false => None,
        };
        let at = At::Position(position);
        let (mut fold, _) = self.turns_of(&sources.streams, at, usize::MAX).await?;
        self.add_turns(&mut fold, sources, at, Position(u64::MAX))
            .await?;
        let (mut conversation, index) = fold.finish_indexed();
        self.indexes.keep(KeptIndex {
            session: sources.session,
            epoch,
            position,
            newest,
            index,
        });
        conversation
            .turns
            .retain(|turn| numbers.contains(&turn.number));
        Ok(Some(conversation))
    }

    /// Returns `true` if nothing was added to the conversation between an index and a position.
    async fn is_of(
        &self,
        kept: &KeptIndex,
        sources: &SessionSources,
        position: Position,
    ) -> Result<bool, ViewError> {
        Ok(match &kept.newest {
            _ if kept.position == position => true,
            Some(heads) => *heads == self.source_heads(sources).await?,
            None => false,
        })
    }

    async fn source_heads(&self, sources: &SessionSources) -> Result<SourceHeads, ViewError> {
        let mut streams = Vec::with_capacity(sources.streams.len());
        for stream in &sources.streams {
            let head = self.log().head(&stream_name(*stream)).await;
            streams.push((*stream, head.map_err(LoadError::from)?));
        }
        let index = self.index();
        let (mut sub_agents, mut prompts) = (Vec::new(), Vec::new());
        if let Some(task) = &sources.task {
            let children = index.naming(sources.session, Relation::TaskParent, SUB_AGENTS);
            sub_agents = children.await?;
            if let Some(intent) = task.intent {
                let rows = index.refinements(intent).await?;
                prompts = rows.into_iter().map(|row| row.id).collect();
            }
        }
        Ok(SourceHeads {
            streams,
            sub_agents,
            prompts,
        })
    }

    /// Folds the events of a part alone. `None` if the index is of other events.
    async fn indexed_part(
        &self,
        index: &ConversationIndex,
        sources: &SessionSources,
        numbers: &Range<u64>,
    ) -> Result<Option<Conversation>, ViewError> {
        let fold = match index.start(numbers) {
            None => ConversationFold::new(),
            Some(start) => self.fold_part(&start, sources).await?,
        };
        Ok(fold.finish_part(index, numbers))
    }

    async fn fold_part(
        &self,
        start: &PartStart,
        sources: &SessionSources,
    ) -> Result<ConversationFold, ViewError> {
        let read = |error| ViewError::from(LoadError::from(error));
        let mut fold = ConversationFold::starting(start);
        let mut merged = Merged::new(self.log().as_ref());
        for stream in &sources.streams {
            merged
                .add_from(*stream, start.position)
                .await
                .map_err(read)?;
        }
        while let Some(record) = merged.next().await.map_err(read)? {
            if record.position() > start.last {
                break;
            }
            fold.apply(&self.contents().entry(&record).await?);
        }
        Ok(fold)
    }
}
