//! What was found, as pages and the API have it.

use annals::projections::SessionSummary;
use annals_search::{Answer, Count, Hit, SessionHits, Snippet};
use schemars::JsonSchema;
use serde::Serialize;

use annals::domain::{Kind, Timestamp};
use uuid::Uuid;

use crate::model::{Named, Who};

/// What was found.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct Search {
    /// What was looked for; empty where nothing was.
    pub(super) query: String,
    /// The events that are shown, the best first.
    pub(super) hits: Vec<Found>,
    /// The sessions of these events, in the order of the best hit of each, with one event for each turn.
    pub(super) sessions: Vec<FoundSession>,
    /// How many there are, at least.
    pub(super) count: u64,
    /// Whether there are exactly so many.
    pub(super) is_exact: bool,
    /// Events that the index proposes and that were not read, since too many before were no answers.
    pub(super) passed_over: u64,
    /// Up to which position the log was searched.
    pub(super) searched: u64,
    /// Whether the index was asked; otherwise the log was looked through, the newest first.
    pub(super) by_index: bool,
    /// Why not all of the log was searched, or not by the index.
    pub(super) lag: Option<String>,
    /// The first event that is shown, from 0.
    pub(super) from: usize,
    /// Where it goes on, as `from`; null where this is the end.
    pub(super) next: Option<usize>,
}

/// A session with turns that have the words.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct FoundSession {
    /// The session; null for events that belong to no session.
    pub(super) id: Option<Uuid>,
    /// Its title.
    pub(super) title: Option<String>,
    /// The label of its project.
    pub(super) project: Option<String>,
    /// Its agent.
    pub(super) agent: Option<String>,
    /// The time of its last event by the agent's clock.
    pub(super) last_activity: Option<Timestamp>,
    /// `active`, `waiting`, `ended`, `failed` or `idle`.
    pub(super) status: Option<&'static str>,
    /// The turns, the best first.
    pub(super) turns: Vec<FoundTurn>,
}

/// A turn that has the words.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct FoundTurn {
    /// The turn's number; null for an event outside of the conversation.
    pub(super) turn: Option<u64>,
    /// The position of its best event.
    pub(super) position: u64,
}

/// An event that has the words.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Found {
    /// Its place in the log.
    pub(super) position: u64,
    /// The name of its type.
    pub(super) event_type: String,
    /// When it happened, by its author's clock.
    pub(super) occurred_at: String,
    /// Who caused it.
    pub(super) actor: Who,
    /// The object that it is about.
    pub(super) object: Option<Named>,
    /// What that is called.
    pub(super) name: Option<String>,
    /// What the text is: prompts, tools, results or rationale.
    #[serde(rename = "in")]
    pub(super) facet: &'static str,
    /// Its line, in pieces of which some are the words.
    pub(super) snippet: Vec<Piece>,
    /// Whether the line begins before the first piece.
    pub(super) is_cut_before: bool,
    /// Whether it goes on behind the last one.
    pub(super) is_cut_behind: bool,
}

/// A piece of a line.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct Piece {
    /// The text.
    pub(super) text: String,
    /// Whether it is a word that was looked for.
    pub(super) mark: bool,
}

impl Found {
    /// The tool, if the text is of a tool call.
    pub(super) fn tool(&self) -> Option<&str> {
        let kind = self.object.as_ref().map(|object| object.kind);
        let is_call = kind == Some(Kind::ToolInvocation.object_type());
        self.name.as_deref().filter(|_| is_call)
    }
}

impl Search {
    /// The part of an answer that is shown. The answer has one event more, if there is one.
    pub(super) fn of(query: &str, answer: &Answer, from: usize, limit: usize) -> Search {
        let (count, is_exact) = match answer.count {
            Count::Exactly(count) => (count, true),
            Count::AtLeast(count) => (count, false),
        };
        let hits = answer.hits.iter().skip(from).take(limit);
        let hits: Vec<Found> = hits.map(Found::of).collect();
        let next = from.saturating_add(limit);
        Search {
            query: query.to_owned(),
            next: Some(next).filter(|next| *next < answer.hits.len()),
            hits,
            sessions: Vec::new(),
            count,
            is_exact,
            passed_over: answer.passed_over,
            searched: answer.searched.0,
            by_index: answer.is_of_index,
            lag: answer.lag.as_ref().map(ToString::to_string),
            from,
        }
    }
}

impl FoundSession {
    /// The hits of a session as of a time.
    pub(super) fn of(group: &SessionHits, now: Timestamp) -> FoundSession {
        let session = group.session.as_ref();
        let text =
            |field: fn(&SessionSummary) -> Option<&str>| session.and_then(field).map(str::to_owned);
        FoundSession {
            id: session.map(|session| session.id),
            title: text(|session| session.title.as_deref()),
            project: text(SessionSummary::project_name),
            agent: text(|session| session.agent.as_deref()),
            last_activity: session.and_then(|session| session.last_activity),
            status: session.map(|session| session.activity(now).as_str()),
            turns: group
                .hits
                .iter()
                .map(|hit| FoundTurn {
                    turn: hit.turn,
                    position: hit.hit.position.0,
                })
                .collect(),
        }
    }
}

impl Found {
    fn of(hit: &Hit) -> Found {
        Found {
            position: hit.position.0,
            event_type: hit.event_type.to_owned(),
            occurred_at: hit.occurred_at.to_string(),
            actor: Who::of(&hit.actor),
            object: hit.object.map(|(kind, id)| Named {
                kind: kind.object_type(),
                id,
            }),
            name: None,
            facet: hit.facet.as_str(),
            snippet: pieces(&hit.snippet),
            is_cut_before: hit.snippet.is_cut_before,
            is_cut_behind: hit.snippet.is_cut_behind,
        }
    }
}

/// The pieces of a snippet.
pub(super) fn pieces(snippet: &Snippet) -> Vec<Piece> {
    let pieces = snippet.pieces().into_iter();
    pieces
        .map(|(text, mark)| Piece {
            text: text.to_owned(),
            mark,
        })
        .collect()
}
