//! Suggestions, as the list box and the API have them.

use annals::domain::Timestamp;
use annals::projections::SessionSummary;
use annals_search::{SessionHits, TurnHit};
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use super::model::{Piece, pieces};
use crate::figures::counted;
use crate::html::place;
use crate::index_upkeep::UpkeepState;
use crate::moment::Moment;

/// The way that remains without an index.
const PRESS_ENTER: &str = "Press Enter to search the log itself.";

/// Turns that have the words typed so far.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct SuggestionList {
    /// The words as they were typed; the last one may be incomplete.
    pub(super) query: String,
    /// The sessions, the best first.
    pub(super) sessions: Vec<SuggestedSession>,
    /// The state of the search index: `current`, `behind`, `missing`, `off` or `failed`.
    pub(super) index: IndexState,
    /// The share of the log that the index has, in percent.
    pub(super) percent: u64,
    /// The state of the index or of the words, as a sentence; null if there is nothing to report.
    pub(super) note: Option<String>,
    /// Whether the index is being brought up to date, so that the same request soon has a better answer.
    pub(super) is_growing: bool,
    /// The address of all results.
    pub(super) all: String,
}

/// The state of the search index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum IndexState {
    /// It has all events.
    #[default]
    Current,
    /// It lacks the newest events.
    Behind,
    /// There is none yet.
    Missing,
    /// None is kept of this log.
    Off,
    /// It cannot be made or read.
    Failed,
}

/// A session with turns that have the words.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SuggestedSession {
    /// The session; null for events that belong to no session.
    pub(super) id: Option<Uuid>,
    /// Its title.
    pub(super) title: Option<String>,
    /// The label of its project.
    pub(super) project: Option<String>,
    /// Its agent.
    pub(super) agent: Option<String>,
    /// The time of its last event by the agent's clock; null if it is not known, or later than the shown position.
    pub(super) last_activity: Option<Timestamp>,
    /// `active`, `waiting`, `ended`, `failed` or `idle`; null for a long session that went on since the shown position.
    pub(super) status: Option<&'static str>,
    /// The turns, the best first.
    pub(super) turns: Vec<SuggestedTurn>,
}

/// A turn that has the words.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SuggestedTurn {
    /// The position of its event.
    pub(super) position: u64,
    /// The address of the page that opens at the turn.
    pub(super) address: String,
    /// When the event happened, by its author's clock; null if that is not known.
    pub(super) occurred_at: Option<Timestamp>,
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

impl SuggestionList {
    /// Describes an index that reaches up to a position, in a log that is searched up to its end.
    pub(super) fn describe(
        &mut self,
        searched: Option<u64>,
        end: u64,
        is_kept: bool,
        upkeep: &UpkeepState,
    ) {
        let reached = searched.unwrap_or(0).max(upkeep.reached).min(end);
        self.percent = reached.saturating_mul(100) / end.max(1);
        let failure = upkeep.failure.as_deref().map(sentence);
        self.is_growing = is_kept && failure.is_none() && searched.is_none_or(|at| at < end);
        (self.index, self.note) = match (searched, failure) {
            (None, _) if !is_kept => {
                let note = format!("No search index is kept of this log. {PRESS_ENTER}");
                (IndexState::Off, Some(note))
            }
            (Some(searched), _) if searched >= end => (IndexState::Current, None),
            (None, Some(failure)) => {
                let note = format!("{failure} {PRESS_ENTER}");
                (IndexState::Failed, Some(note))
            }
            (None, None) => {
                let note = format!("The search index is being made: {} %.", self.percent);
                (IndexState::Missing, Some(note))
            }
            (Some(searched), failure) => {
                let newest = counted(end - searched, "newest event is", "newest events are");
                let failure = failure.map(|failure| format!(" {failure}"));
                let failure = failure.unwrap_or_default();
                let note = format!("The {newest} not searched yet.{failure}");
                (IndexState::Behind, Some(note))
            }
        };
    }

    /// The number of turns.
    pub(super) fn turns(&self) -> u64 {
        self.sessions.iter().map(|it| it.turns.len() as u64).sum()
    }

    /// The result in one sentence, for screen readers.
    pub(super) fn summary(&self) -> String {
        let sessions = self.sessions.iter().filter(|it| it.id.is_some()).count();
        let found = match self.turns() {
            0 => "No results.".to_owned(),
            turns => format!(
                "{} in {}.",
                counted(turns, "result", "results"),
                counted(sessions as u64, "session", "sessions")
            ),
        };
        match &self.note {
            Some(note) => format!("{found} {note}"),
            None => found,
        }
    }
}

/// A message as a sentence.
pub(super) fn sentence(message: &str) -> String {
    let mut letters = message.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    let text = format!("{}{}", first.unwrap_or_default(), letters.as_str());
    match text.ends_with('.') {
        true => text,
        false => format!("{text}."),
    }
}

impl SuggestedSession {
    /// The hits of a session as of a time.
    pub(super) fn of(group: &SessionHits, moment: Moment, now: Timestamp) -> SuggestedSession {
        let session = group.session.as_ref();
        let text =
            |field: fn(&SessionSummary) -> Option<&str>| session.and_then(field).map(str::to_owned);
        let id = session.map(|session| session.id);
        // Of a session that went on since the shown position, the status may not be that of then.
        let is_as_then = |session: &&SessionSummary| {
            !moment.is_chosen || session.last_position() <= moment.position
        };
        let then = session.filter(is_as_then);
        let turns = group.hits.iter();
        SuggestedSession {
            id,
            title: text(|session| session.title.as_deref()),
            project: text(SessionSummary::project_name),
            agent: text(|session| session.agent.as_deref()),
            last_activity: then.and_then(|session| session.last_activity),
            status: then.map(|session| session.activity(now).as_str()),
            turns: turns
                .map(|found| SuggestedTurn::of(found, id, moment))
                .collect(),
        }
    }
}

impl SuggestedTurn {
    fn of(found: &TurnHit, session: Option<Uuid>, moment: Moment) -> SuggestedTurn {
        let hit = &found.hit;
        let position = hit.position.0;
        let address = match (session, hit.object) {
            (Some(session), _) => moment.link(&format!("/sessions/{session}?position={position}")),
            (None, Some((_, object))) => format!("{}?at={position}", place(object)),
            (None, None) => moment.link(&format!("/events/{position}")),
        };
        SuggestedTurn {
            position,
            address,
            occurred_at: Some(hit.occurred_at).filter(|at| *at != Timestamp::EPOCH),
            facet: hit.facet.as_str(),
            snippet: pieces(&hit.snippet),
            is_cut_before: hit.snippet.is_cut_before,
            is_cut_behind: hit.snippet.is_cut_behind,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(
        searched: Option<u64>,
        is_kept: bool,
        failure: Option<&str>,
    ) -> (IndexState, String, bool) {
        let upkeep = UpkeepState {
            is_running: failure.is_none(),
            reached: 250,
            failure: failure.map(str::to_owned),
        };
        let mut list = SuggestionList::default();
        list.describe(searched, 1_000, is_kept, &upkeep);
        (list.index, list.note.unwrap_or_default(), list.is_growing)
    }

    #[test]
    fn the_state_of_the_index_is_a_sentence() {
        use IndexState::{Behind, Current, Failed, Missing, Off};
        let no_room = Some("no room");
        for (searched, is_kept, failure, state, note, is_growing) in [
            (Some(1_000), true, None, Current, "", false),
            (Some(1_000), true, no_room, Current, "", false),
            (
                None,
                true,
                None,
                Missing,
                "The search index is being made: 25 %.",
                true,
            ),
            (
                Some(999),
                true,
                None,
                Behind,
                "The 1 newest event is not searched yet.",
                true,
            ),
            (
                Some(10),
                true,
                no_room,
                Behind,
                "The 990 newest events are not searched yet. No room.",
                false,
            ),
            (
                None,
                true,
                no_room,
                Failed,
                "No room. Press Enter to search the log itself.",
                false,
            ),
            (
                None,
                false,
                None,
                Off,
                "No search index is kept of this log. Press Enter to search the log itself.",
                false,
            ),
        ] {
            let expected = (state, note.to_owned(), is_growing);
            assert_eq!(described(searched, is_kept, failure), expected, "{note}");
        }
    }
}
