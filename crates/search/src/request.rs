//! What is asked, and what is answered.

use annals::At;
use annals_domain::{ActorRef, Kind, Timestamp};
use annals_event_log::Position;
use derive_new::new;
use derive_setters::Setters;
use uuid::Uuid;

use crate::document::Document;
use crate::facet::Facet;
use crate::query::Query;
use crate::snippet::Snippet;

/// What is asked.
///
/// ```
/// use annals_search::{Facet, Query, SearchRequest};
/// let request = SearchRequest::new(Query::parse("index out of bounds")?)
///     .with_facets(vec![Facet::Results])
///     .with_limit(5_usize);
/// # assert_eq!(request.limit, 5);
/// # Ok::<(), annals_search::QueryError>(())
/// ```
#[derive(Debug, Clone, new, Setters)]
#[setters(prefix = "with_", into)]
#[non_exhaustive]
pub struct SearchRequest {
    /// The words.
    #[setters(skip)]
    pub query: Query,
    /// Which texts are searched; none are all.
    #[new(default)]
    pub facets: Vec<Facet>,
    /// Only events on objects of this kind.
    #[new(default)]
    pub kind: Option<Kind>,
    /// Only those of this actor: an id, or `KIND:ID`.
    #[new(default)]
    pub actor: Option<String>,
    /// Only those from this position or time on.
    #[new(default)]
    pub since: Option<At>,
    /// Only those up to this position, or before this time.
    #[new(default)]
    pub until: Option<At>,
    /// The newest first, and not the best.
    #[new(default)]
    #[setters(into = false)]
    pub is_newest_first: bool,
    /// At most so many; 0 counts as 1.
    #[new(value = "20")]
    #[setters(into = false)]
    pub limit: usize,
    /// Where so many events that the index proposed were no answers, nobody looks further ([`Answer::passed_over`]). Of two words
    /// the index knows whether one follows the other. Of more of them it does not know all, and of what is excluded
    /// nothing but single words, so there are questions of which it proposes very many.
    #[new(value = "10_000")]
    #[setters(into = false)]
    pub most_refused: u64,
}

/// Which events count, with positions and seconds.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Filter {
    pub(crate) facets: Vec<Facet>,
    pub(crate) kind: Option<String>,
    pub(crate) actor: Option<String>,
    pub(crate) first: u64,
    pub(crate) last: u64,
    pub(crate) occurred_since: Option<Timestamp>,
    pub(crate) occurred_until: Option<Timestamp>,
    pub(crate) is_newest_first: bool,
}

impl Filter {
    /// Whether an event at a position, and in a second, may count.
    pub(crate) fn takes(&self, position: u64, occurred: i64) -> bool {
        let second = |time: Timestamp| time.to_utc().timestamp();
        (self.first..=self.last).contains(&position)
            && self
                .occurred_since
                .is_none_or(|since| second(since) <= occurred)
            && self
                .occurred_until
                .is_none_or(|until| occurred <= second(until))
    }

    /// Whether an event counts.
    pub(crate) fn takes_document(&self, document: &Document) -> bool {
        let at = document.occurred_at;
        let is_actor = |actor: &str| {
            let ActorRef { kind, id, .. } = &document.actor;
            actor == id
                || actor
                    .strip_prefix(kind.as_str())
                    .and_then(|rest| rest.strip_prefix(':'))
                    == Some(id)
        };
        self.takes(document.position.0, at.to_utc().timestamp())
            && self.occurred_since.is_none_or(|since| since <= at)
            && self.occurred_until.is_none_or(|until| at < until)
            && self
                .kind
                .as_deref()
                .is_none_or(|kind| kind == document.kind())
            && self.actor.as_deref().is_none_or(is_actor)
    }

    /// Whether the index knows all of the filter.
    pub(crate) fn is_of_seconds(&self) -> bool {
        self.occurred_since.is_none() && self.occurred_until.is_none()
    }
}

/// Where answers come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Using {
    /// The index, which is brought up to date first, and made where there is none.
    #[default]
    Index,
    /// The index as it is.
    IndexAsItIs,
    /// The log itself, from its end to its beginning.
    Log,
}

/// How many answers there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Count {
    /// So many.
    Exactly(u64),
    /// So many, and perhaps more: nobody looked further.
    AtLeast(u64),
}

/// Why not all of the log was searched, or not by the index.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Lag {
    /// Another process is bringing it up to date.
    #[error("another process is bringing the search index up to date")]
    Busy,
    /// Content is being removed.
    #[error("content is being removed from the log")]
    Redacting,
    /// The index could not be written.
    #[error("{0}")]
    Failed(String),
    /// It was not asked for.
    #[error("the search index was used as it is")]
    AsItIs,
}

/// What was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The answers, in their order.
    pub hits: Vec<Hit>,
    /// How many there are.
    pub count: Count,
    /// Events that the index proposes and that were not read, since so many before were no answers ([`SearchRequest::most_refused`]).
    pub passed_over: u64,
    /// Up to where the log was searched.
    pub searched: Position,
    /// Where the log ends.
    pub end: Position,
    /// Whether the index was asked.
    pub is_of_index: bool,
    /// Why not all of it was searched, or not by the index.
    pub lag: Option<Lag>,
}

/// An event that has the words.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// Its place in the log.
    pub position: Position,
    /// How good it is compared with others of the same answer; 0 where it was found without the index, or newest first.
    pub score: f32,
    /// The object that it is about.
    pub object: Option<(Kind, Uuid)>,
    /// The stream that it is in.
    pub stream: String,
    /// The name of its type.
    pub event_type: &'static str,
    /// When it happened, by its author's clock.
    pub occurred_at: Timestamp,
    /// Who caused it.
    pub actor: ActorRef,
    /// What the text is in which most of the words are.
    pub facet: Facet,
    /// Its line with the words.
    pub snippet: Snippet,
}
