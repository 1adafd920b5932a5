//! Hits in the sessions that they belong to, one for each turn.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use annals::{Annals, At, TurnRange};
use annals_domain::{Kind, StreamKind, StreamRef};
use annals_event_log::Position;
use annals_projections::{Conversation, Relation, SessionSummary, TurnBody};
use uuid::Uuid;

use crate::error::SearchError;
use crate::request::Hit;

/// Intents that are walked up from a prompt to the session's first one.
const REFINEMENTS: usize = 2_000;
/// Conversations whose turns are remembered.
const REMEMBERED: usize = 64;
/// The most objects of one kind that name another one.
const NAMING: usize = 16;

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
/// It remembers the turns of the conversations that it read last, as long as these do not grow.
pub(crate) struct SessionFinder {
    remembered: Mutex<HashMap<Uuid, (u64, Arc<TurnPlaces>)>>,
}

impl SessionFinder {
    pub(crate) fn new() -> SessionFinder {
        SessionFinder {
            remembered: Mutex::default(),
        }
    }

    /// Groups hits by session, in the order of the best hit of each.
    pub(crate) async fn group(
        &self,
        annals: &Annals,
        hits: Vec<Hit>,
    ) -> Result<Vec<SessionHits>, SearchError> {
        let mut groups: Vec<SessionHits> = Vec::new();
        let tasks = tasks_of(annals, &hits).await?;
        let sessions: HashSet<Uuid> = tasks.values().filter_map(|task| *task).collect();
        let sessions: Vec<Uuid> = sessions.into_iter().collect();
        let sessions = annals.conversations().summaries(&sessions).await?;
        for (rank, hit) in hits.into_iter().enumerate() {
            let task = tasks.get(&hit.stream).copied().flatten();
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
                Some(session) => self.places(annals, session).await?.turn(&hit),
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
    ) -> Result<Arc<TurnPlaces>, SearchError> {
        let id = session.id;
        if let Some(places) = self.recall(id, session.last_position) {
            return Ok(places);
        }
        let conversation = annals.conversation(id, At::Now, TurnRange::all()).await?;
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
    fn turn(&self, hit: &Hit) -> Option<u64> {
        if let Some((Kind::Intent, id)) = hit.object
            && let Some(turn) = self.intents.get(&id)
        {
            return Some(*turn);
        }
        let is_before = |(at, _): &(Position, u64)| *at < hit.position;
        if let Some((Kind::Intent | Kind::Task | Kind::Plan, _)) = hit.object {
            let next = self.prompts.partition_point(is_before);
            let found = self.prompts.get(next).or(self.prompts.last());
            return found.map(|(_, turn)| *turn);
        }
        let behind = self.turns.partition_point(|(at, _)| *at <= hit.position);
        let found = self.turns.get(behind.saturating_sub(1));
        found.map(|(_, turn)| *turn)
    }
}

/// The tasks that hits belong to, by their streams.
async fn tasks_of(
    annals: &Annals,
    hits: &[Hit],
) -> Result<HashMap<String, Option<Uuid>>, SearchError> {
    let mut tasks = HashMap::new();
    for hit in hits {
        if !tasks.contains_key(&hit.stream) {
            let task = match hit.stream.parse::<StreamRef>() {
                Ok(stream) => task_of(annals, stream).await?,
                Err(_) => None,
            };
            tasks.insert(hit.stream.clone(), task);
        }
    }
    Ok(tasks)
}

/// The task that the events of a stream belong to.
async fn task_of(annals: &Annals, stream: StreamRef) -> Result<Option<Uuid>, SearchError> {
    let index = annals.index();
    let id = stream.id;
    let first = |found: Vec<Uuid>| found.into_iter().next();
    let plan = match stream.kind {
        StreamKind::Task => return Ok(Some(id)),
        StreamKind::Intent => return task_of_intent(annals, id).await,
        StreamKind::Run => return Ok(first(index.named(id, Relation::RunTask, 1).await?)),
        StreamKind::Pipeline => first(index.naming(id, Relation::PlanPipeline, 1).await?),
        StreamKind::Plan => Some(id),
        _ => None,
    };
    let Some(plan) = plan else {
        return Ok(None);
    };
    match first(index.naming(plan, Relation::RunPlan, 1).await?) {
        Some(run) => Ok(first(index.named(run, Relation::RunTask, 1).await?)),
        None => Ok(None),
    }
}

/// The task of an intent or of the intents that it refines. Sub-agents' tasks name the same intent and have a parent.
async fn task_of_intent(annals: &Annals, intent: Uuid) -> Result<Option<Uuid>, SearchError> {
    let index = annals.index();
    let mut next = Some(intent);
    for _ in 0..REFINEMENTS {
        let Some(intent) = next else {
            return Ok(None);
        };
        for task in index.naming(intent, Relation::TaskIntent, NAMING).await? {
            if index.named(task, Relation::TaskParent, 1).await?.is_empty() {
                return Ok(Some(task));
            }
        }
        next = index
            .named(intent, Relation::IntentParent, 1)
            .await?
            .first()
            .copied();
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use annals_domain::{ActorRef, Timestamp};

    use super::*;
    use crate::facet::Facet;
    use crate::snippet::Snippet;

    fn hit(position: u64, object: Option<(Kind, Uuid)>) -> Hit {
        Hit {
            position: Position(position),
            score: 0.0,
            object,
            stream: String::new(),
            event_type: "run.tool_invoked",
            occurred_at: Timestamp::EPOCH,
            actor: ActorRef::human("ada"),
            facet: Facet::Prompts,
            snippet: Snippet::default(),
        }
    }

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
            let turn = places.turn(&hit(position, object));
            assert_eq!(turn, Some(expected), "{position} {object:?}");
        }
    }
}
