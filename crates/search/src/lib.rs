//! Full-text search over a log.
//!
//! [`LogSearch`] answers a [`Query`] with the events that have its words, the best first, each with the line in which
//! they are. An index that lies in the log's folder follows the log. It has words and positions of the log, and no
//! text: *the index proposes, the log decides*. What is shown is read from the log and compared with the question
//! once more, so that nothing is shown that was removed, whatever the index has.
//!
//! [`LogSearch::in_sessions`] groups hits by session, one for each turn of its conversation. [`LogSearch::suggest`] answers
//! while a question is typed ([`Query::parse_typed`]), in bounded time.
//!
//! `docs/search.md` says what is searched, what words are, and how questions are asked; ADR 35 where the index lies,
//! and how a redaction reaches it.

#![cfg_attr(test, allow(clippy::too_many_lines, reason = "tests may be long"))]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "tests may panic"))]

mod ask;
mod document;
mod error;
mod facet;
mod in_sessions;
mod json_text;
mod kept;
mod log_search;
mod place;
mod query;
mod reading;
mod request;
mod schema;
mod snippet;
mod suggest;
mod task_lookup;
mod upkeep;
mod words;

pub use document::{BEGINNING, Document, END, RESULT_BEGINNING, attachments, is_searched};
pub use error::SearchError;
pub use facet::{Facet, UnknownFacet};
pub use in_sessions::{SessionHits, TurnHit};
pub use log_search::LogSearch;
pub use place::Keeping;
pub use query::{Marked, Query, QueryError};
pub use request::{Answer, Count, Hit, Lag, SearchRequest, Using};
pub use snippet::Snippet;
pub use suggest::Suggestions;
