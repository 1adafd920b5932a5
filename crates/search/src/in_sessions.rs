//! Hits in the sessions that they belong to, one for each turn.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use annals::{Annals, At, TurnRange};
use annals_domain::Kind;
use annals_event_log::Position;
use annals_projections::{Conversation, SessionSummary, TurnBody};
use uuid::Uuid;

use crate::error::SearchError;
use crate::request::Hit;
use crate::task_lookup::{LastingTasks, TaskLookup};

/// Conversations whose turns are remembered.
const REMEMBERED: usize = 64;
/// Prompts, answers and tool calls of a conversation that is read as a whole to find the turn of an event.
const SHORT: u64 = 1_500;
/// The turns before the first one that is looked at, with those that may be recorded late.
const BEGINNING: usize = 1_500;
/// The first turn of a long conversation that is looked at: behind it, conversations are read by an index.
const FIRST: u64 = 1_001;
/// The most turns that are read around an event.
const MOST_AROUND: usize = 4_000;
/// The most turns that are looked at to find those around an event.
const STEPS: usize = 64;
/// Turns by which a tool call may be recorded behind its number.
const LATE: u64 = 500;

/// A hit with its turn.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TurnHit {
    /// The number of the turn; `None` if the session has no turns.
    pub turn: Option<u64>,
    /// The best hit of the turn.
    pub hit: Hit,
    /// The rank of the hit in the answer, from 0.
    pub rank: usize,
}

/// The hits of a session, the best one first.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SessionHits {
    /// The session; `None` for events that belong to no session.
    pub session: Option<SessionSummary>,
    /// The hits, at most one for each turn.
    pub hits: Vec<TurnHit>,
}

/// Finds the sessions and turns of hits.
///
/// It remembers the turns of the conversations that it read last, as long as these do not grow, and the tasks of streams.
pub(crate) struct SessionFinder {
    remembered: Mutex<HashMap<Uuid, (u64, Arc<TurnPlaces>)>>,
    tasks: LastingTasks,
}

impl SessionFinder {
    pub(crate) fn new() -> SessionFinder {
        SessionFinder {
            remembered: Mutex::default(),
            tasks: LastingTasks::default(),
        }
    }

    /// Looks up the tasks of streams.
    pub(crate) fn tasks<'a>(&'a self, annals: &'a Annals) -> TaskLookup<'a> {
        TaskLookup::new(annals, &self.tasks)
    }

    /// The sessions of hits, in the order of the hits.
    pub(crate) async fn of_hits(
        &self,
        annals: &Annals,
        hits: &[Hit],
    ) -> Result<Vec<Option<SessionSummary>>, SearchError> {
        let mut lookup = self.tasks(annals);
        let mut tasks = HashMap::new();
        for hit in hits {
            tasks.insert(&hit.stream, lookup.find(&hit.stream).await?);
        }
        let sessions: HashSet<Uuid> = tasks.values().filter_map(|task| *task).collect();
        let sessions: Vec<Uuid> = sessions.into_iter().collect();
        let sessions = annals.conversations().summaries(&sessions).await?;
        let of_hit = |hit: &Hit| {
            let task = tasks.get(&hit.stream).copied().flatten()?;
            sessions.get(&task).cloned()
        };
        Ok(hits.iter().map(of_hit).collect())
    }

    /// Groups hits by session as of `at`, in the order of the best hit of each.
    pub(crate) async fn group(
        &self,
        annals: &Annals,
        hits: Vec<Hit>,
        at: At,
    ) -> Result<Vec<SessionHits>, SearchError> {
        let mut groups: Vec<SessionHits> = Vec::new();
        let mut tasks = self.tasks(annals);
        let mut sessions = HashSet::new();
        for hit in &hits {
            sessions.extend(tasks.find(&hit.stream).await?);
        }
        let sessions: Vec<Uuid> = sessions.into_iter().collect();
        let sessions = annals.conversations().summaries_at(&sessions, at).await?;
        for (rank, hit) in hits.into_iter().enumerate() {
            let task = tasks.find(&hit.stream).await?;
            let known = groups
                .iter()
                .position(|group| group.session.as_ref().map(|session| session.id) == task);
            let index = match (known, task) {
                (Some(index), _) => index,
                (None, None) => begin(&mut groups, None),
                (None, Some(task)) => {
                    let session = sessions.get(&task).cloned();
                    // A task that is no session has hits like other objects.
                    let is_other = session.is_none();
                    let others = groups.iter().position(|group| group.session.is_none());
                    match others.filter(|_| is_other) {
                        Some(index) => index,
                        None => begin(&mut groups, session),
                    }
                }
            };
            let Some(group) = groups.get_mut(index) else {
                continue;
            };
            let turn = match &group.session {
                Some(session) => {
                    let places = self.places(annals, session, at).await?;
                    places.turn(hit.position, hit.object)
                }
                None => None,
            };
            let is_known = turn.is_some() && group.hits.iter().any(|known| known.turn == turn);
            if !is_known {
                group.hits.push(TurnHit { turn, hit, rank });
            }
        }
        Ok(groups)
    }

    async fn places(
        &self,
        annals: &Annals,
        session: &SessionSummary,
        at: At,
    ) -> Result<Arc<TurnPlaces>, SearchError> {
        let id = session.id;
        if let Some(places) = self.recall(id, session.last_position) {
            return Ok(places);
        }
        let conversation = annals.conversation(id, at, TurnRange::all()).await?;
        let places = Arc::new(TurnPlaces::of(&conversation));
        let mut remembered = self
            .remembered
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if remembered.len() >= REMEMBERED {
            remembered.clear();
        }
        remembered.insert(id, (session.last_position, Arc::clone(&places)));
        Ok(places)
    }

    fn recall(&self, session: Uuid, end: u64) -> Option<Arc<TurnPlaces>> {
        let remembered = self
            .remembered
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let (_, places) = remembered.get(&session).filter(|(at, _)| *at == end)?;
        Some(Arc::clone(places))
    }
}

fn begin(groups: &mut Vec<SessionHits>, session: Option<SessionSummary>) -> usize {
    groups.push(SessionHits {
        session,
        hits: Vec::new(),
    });
    groups.len() - 1
}

/// The positions of a conversation's turns, ascending, with their numbers.
#[derive(Debug)]
struct TurnPlaces {
    turns: Vec<(Position, u64)>,
    prompts: Vec<(Position, u64)>,
    /// The turns of prompts by their intents.
    intents: HashMap<Uuid, u64>,
}

impl TurnPlaces {
    fn of(conversation: &Conversation) -> TurnPlaces {
        let mut places = TurnPlaces {
            turns: Vec::new(),
            prompts: Vec::new(),
            intents: HashMap::new(),
        };
        for turn in &conversation.turns {
            places.turns.push((turn.position, turn.number));
            if let TurnBody::Prompt(prompt) = &turn.body {
                places.prompts.push((turn.position, turn.number));
                places
                    .intents
                    .extend(prompt.intent.map(|intent| (intent, turn.number)));
            }
        }
        places.turns.sort_unstable();
        places.prompts.sort_unstable();
        places
    }

    /// The turn of a hit. Intents, tasks and plans are recorded before the prompt that they stand for; any other event
    /// belongs to the last turn that begins at its position or before.
    fn turn(&self, position: Position, object: Option<(Kind, Uuid)>) -> Option<u64> {
        if let Some((Kind::Intent, id)) = object
            && let Some(turn) = self.intents.get(&id)
        {
            return Some(*turn);
        }
        let is_before = |(at, _): &(Position, u64)| *at < position;
        if let Some((Kind::Intent | Kind::Task | Kind::Plan, _)) = object {
            let next = self.prompts.partition_point(is_before);
            let found = self.prompts.get(next).or(self.prompts.last());
            return found.map(|(_, turn)| *turn);
        }
        let behind = self.turns.partition_point(|(at, _)| *at <= position);
        let found = self.turns.get(behind.saturating_sub(1));
        found.map(|(_, turn)| *turn)
    }
}

/// The turn of a session that the event at a position belongs to, as of `at`. Of a long conversation it reads the turns around
/// the event, by the conversation's index.
pub(crate) async fn turn_of(
    annals: &Annals,
    session: Uuid,
    (position, object): (Position, Option<(Kind, Uuid)>),
    at: At,
) -> Result<Option<u64>, SearchError> {
    let counts = annals.conversations().summaries(&[session]).await?;
    let counts = counts.get(&session).map(|summary| summary.counts);
    let turns = counts.map_or(0, |it| it.prompts + it.answers + it.tool_calls);
    if turns <= SHORT {
        let whole = annals.conversation(session, at, TurnRange::all()).await?;
        return Ok(TurnPlaces::of(&whole).turn(position, object));
    }
    let around = TurnsAround {
        annals,
        session,
        position,
        at,
    };
    let Some(part) = around.read().await? else {
        let whole = annals.conversation(session, at, TurnRange::all()).await?;
        return Ok(TurnPlaces::of(&whole).turn(position, object));
    };
    let places = TurnPlaces::of(&part);
    let here = places.turn(position, None);
    let is_said_later = matches!(object, Some((Kind::Intent | Kind::Task | Kind::Plan, _)));
    let has_prompt = places.prompts.last().is_some_and(|(at, _)| *at >= position);
    if is_said_later && !has_prompt {
        let mut prompts = part.prompts.iter().map(|prompt| prompt.turn);
        return Ok(prompts.find(|prompt| Some(*prompt) > here).or(here));
    }
    Ok(places.turn(position, object))
}

/// The turns around an event of a long conversation.
struct TurnsAround<'a> {
    annals: &'a Annals,
    session: Uuid,
    position: Position,
    at: At,
}

impl TurnsAround<'_> {
    /// Reads them. `None` if the number of turns is not known, which a part read by an index has.
    async fn read(&self) -> Result<Option<Conversation>, SearchError> {
        let (Some(from), Some(all)) = self.turn(FIRST).await? else {
            return Ok(None);
        };
        if from > self.position {
            let range = TurnRange::new(1, BEGINNING);
            let part = self.annals.conversation(self.session, self.at, range);
            return Ok(Some(part.await?));
        }
        let (mut low, mut high) = ((FIRST, from), (all, None));
        // The positions of turns ascend with their numbers, except for calls that were recorded late.
        for step in 0..STEPS {
            if high.0 <= low.0.saturating_add(LATE) {
                break;
            }
            let middle = match (step % 3, high.1) {
                // Events are spread evenly over most conversations.
                (0 | 1, Some(end)) => self.expected(low, (high.0, end)),
                (0, None) => all,
                _ => low.0 + (high.0 - low.0) / 2,
            };
            let (Some(at), _) = self.turn(middle).await? else {
                return Ok(None);
            };
            match at <= self.position {
                true => low = (middle, at),
                false => high = (middle, Some(at)),
            }
            if low.0 >= all {
                break;
            }
        }
        let from = low.0.saturating_sub(LATE).max(1);
        let limit = high.0.saturating_sub(from).saturating_add(LATE + 1);
        let limit = usize::try_from(limit).unwrap_or(MOST_AROUND);
        let range = TurnRange::new(from, limit.min(MOST_AROUND));
        let part = self.annals.conversation(self.session, self.at, range);
        Ok(Some(part.await?))
    }

    /// The number of the turn at the event's position, if turns are spread evenly between two ones.
    fn expected(&self, low: (u64, Position), high: (u64, Position)) -> u64 {
        let whole = u128::from(high.1.0.saturating_sub(low.1.0)).max(1);
        let part = u128::from(self.position.0.saturating_sub(low.1.0));
        let turns = u128::from(high.0.saturating_sub(low.0));
        let turns = u64::try_from(turns * part / whole).unwrap_or(u64::MAX);
        let inside = low.0.saturating_add(turns);
        inside.clamp(low.0.saturating_add(1), high.0.saturating_sub(1))
    }

    /// The position of a turn, and the number of all turns.
    async fn turn(&self, number: u64) -> Result<(Option<Position>, Option<u64>), SearchError> {
        let range = TurnRange::new(number, 1);
        let part = self.annals.conversation(self.session, self.at, range);
        let part = part.await?;
        let turn = part.turns.first();
        Ok((turn.map(|turn| turn.position), part.total))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hits_belong_to_the_turn_of_their_event_or_to_the_next_prompt() {
        let known = Uuid::from_u128(1);
        let of = |pairs: &[(u64, u64)]| {
            pairs
                .iter()
                .map(|(at, turn)| (Position(*at), *turn))
                .collect()
        };
        let places = TurnPlaces {
            turns: of(&[(5, 1), (7, 2), (9, 4), (12, 3), (20, 5)]),
            prompts: of(&[(5, 1), (20, 5)]),
            intents: HashMap::from([(known, 5)]),
        };
        let intent = Some((Kind::Intent, Uuid::nil()));
        for (position, object, expected) in [
            (5, None, 1),
            (8, None, 2),
            (10, None, 4),
            (99, None, 5),
            (1, None, 1),
            (1, intent, 1),
            (6, intent, 5),
            (21, intent, 5),
            (3, Some((Kind::Task, Uuid::nil())), 1),
            (1, Some((Kind::Intent, known)), 5),
        ] {
            let turn = places.turn(Position(position), object);
            assert_eq!(turn, Some(expected), "{position} {object:?}");
        }
    }
}
