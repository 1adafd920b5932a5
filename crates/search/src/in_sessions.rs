//! Hits in the sessions that they belong to, one for each turn.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use annals::{Annals, At, SessionError, TurnRange};
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
    /// The number of the turn; `None` if the event belongs to no turn, such as a session's title.
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
        let mut tasks: HashMap<StreamRef, Option<Uuid>> = HashMap::new();
        for (rank, hit) in hits.into_iter().enumerate() {
            let task = match hit.stream.parse::<StreamRef>() {
                Ok(stream) => match tasks.get(&stream) {
                    Some(task) => *task,
                    None => {
                        let task = task_of(annals, stream).await?;
                        tasks.insert(stream, task);
                        task
                    }
                },
                Err(_) => None,
            };
            let known = groups
                .iter()
                .position(|group| group.session.as_ref().map(|session| session.id) == task);
            let index = match (known, task) {
                (Some(index), _) => index,
                (None, None) => begin(&mut groups, None),
                (None, Some(task)) => {
                    let session = summary(annals, task).await?;
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

/// The positions of a conversation's turns, ascending, and the intents of its prompts.
#[derive(Debug)]
struct TurnPlaces {
    positions: Vec<(Position, u64)>,
    intents: HashMap<Uuid, u64>,
}

impl TurnPlaces {
    fn of(conversation: &Conversation) -> TurnPlaces {
        let turns = conversation.turns.iter();
        let mut positions: Vec<(Position, u64)> =
            turns.map(|turn| (turn.position, turn.number)).collect();
        positions.sort_unstable();
        let intents = conversation
            .turns
            .iter()
            .filter_map(|turn| match &turn.body {
                TurnBody::Prompt(prompt) => Some((prompt.intent?, turn.number)),
                _ => None,
            });
        TurnPlaces {
            positions,
            intents: intents.collect(),
        }
    }

    /// The turn of a hit: that of its intent, or the last one that begins at its event or before.
    fn turn(&self, hit: &Hit) -> Option<u64> {
        let intent = match hit.object {
            Some((Kind::Intent, id)) => Some(id),
            _ => None,
        };
        if let Some(turn) = intent.and_then(|id| self.intents.get(&id)) {
            return Some(*turn);
        }
        if matches!(hit.object, Some((Kind::Task, _))) {
            return None;
        }
        let behind = self
            .positions
            .partition_point(|(at, _)| *at <= hit.position);
        let (_, turn) = self.positions.get(behind.checked_sub(1)?)?;
        Some(*turn)
    }
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

async fn summary(annals: &Annals, task: Uuid) -> Result<Option<SessionSummary>, SearchError> {
    match annals.conversations().summary(task, At::Now).await {
        Ok(summary) => Ok(Some(summary)),
        Err(SessionError::NotFound { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
