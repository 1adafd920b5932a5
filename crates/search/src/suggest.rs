//! Suggestions while a question is typed: the best sessions with a few hits of each, by the index alone.

use std::collections::HashMap;

use annals::At;
use annals_domain::Kind;
use annals_event_log::Position;
use annals_projections::SessionSummary;
use uuid::Uuid;

use crate::ask::candidates;
use crate::error::SearchError;
use crate::in_sessions::{SessionHits, TurnHit};
use crate::log_search::LogSearch;
use crate::request::{Hit, SearchRequest};
use crate::upkeep::failed;

/// Candidates that the index is asked for.
const CANDIDATES: usize = 256;
/// Candidates whose sessions are looked up.
const LOOKED_UP: usize = 64;
/// Candidates whose texts are read.
const READ: usize = 40;
/// The most turns of a session that is folded as of the past.
const SHORT: u64 = 300;
/// Bytes from which on a line that another one begins with is a title made of it.
const TITLE: usize = 12;

/// Hits by session for a question that is being typed.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Suggestions {
    /// The sessions, in the order of the best hit of each. No turn has a number: conversations are not read.
    pub sessions: Vec<SessionHits>,
    /// The number of events that the index proposes.
    pub proposed: u64,
    /// The position up to which the index reaches.
    pub searched: Position,
    /// The end of the log.
    pub end: Position,
}

impl LogSearch {
    /// Suggests at most `sessions` sessions with at most `hits` hits of each. `None` if there is no index.
    ///
    /// The index is asked as it is, and the time is bounded: few records are read, and no conversation. Two hits with the
    /// same line, or of the same tool call, count as one. [`LogSearch::catch_up`] and [`LogSearch::refresh`] keep the index
    /// up to date.
    ///
    /// # Errors
    /// [`SearchError`].
    pub async fn suggest(
        &self,
        request: &SearchRequest,
        sessions: usize,
        hits: usize,
    ) -> Result<Option<Suggestions>, SearchError> {
        let (Some(place), Some(kept)) = (&self.place, self.open_index().await?) else {
            return Ok(None);
        };
        let filter = self.filter(request).await?;
        let found = match candidates(&kept, &request.query, &filter, CANDIDATES) {
            Ok(found) => found,
            Err(fault) => return Err(failed(place, self.epoch().await?, fault)),
        };
        let mut groups = Groups::new(sessions, hits);
        let mut tasks = self.sessions.tasks(&self.annals);
        let (mut read, mut looked_up) = (0, 0);
        for candidate in found.best {
            if read >= READ || groups.are_full() {
                break;
            }
            let position = Position(candidate.position);
            let Some(record) = self.annals.contents().record(position).await? else {
                continue;
            };
            let task = match tasks.known(record.stream()) {
                Some(task) => task,
                None if looked_up >= LOOKED_UP => continue,
                None => {
                    looked_up += 1;
                    tasks.find(record.stream()).await?
                }
            };
            if !groups.want(task) {
                continue;
            }
            read += 1;
            let hit = self.hit_of_record(&record, candidate, &request.query, &filter);
            if let Some(hit) = hit.await? {
                groups.add(task, hit);
            }
        }
        Ok(Some(Suggestions {
            sessions: self.named(groups, request.until.unwrap_or(At::Now)).await?,
            proposed: found.count,
            searched: Position(kept.mark.position),
            end: self.annals.position(),
        }))
    }

    /// The groups with their sessions as of `at`; hits of tasks that are no sessions are in one group without a session.
    async fn named(&self, groups: Groups, at: At) -> Result<Vec<SessionHits>, SearchError> {
        let tasks: Vec<Uuid> = groups.groups.iter().filter_map(|(task, _)| *task).collect();
        let known = self.sessions_as_of(&tasks, at).await?;
        let id_of = |session: &Option<SessionSummary>| session.as_ref().map(|it| it.id);
        let mut named: Vec<SessionHits> = Vec::new();
        for (task, hits) in groups.groups {
            let session = task.and_then(|task| known.get(&task)).cloned();
            let id = id_of(&session);
            match named.iter_mut().find(|group| id_of(&group.session) == id) {
                Some(group) => group.hits.extend(hits),
                None => named.push(SessionHits { session, hits }),
            }
        }
        for group in &mut named {
            group.hits.sort_by_key(|found| found.rank);
            group.hits.truncate(groups.most_hits);
        }
        Ok(named)
    }

    /// Sessions as of `at`. Of a long one that went on since then, the state is that of now.
    async fn sessions_as_of(
        &self,
        tasks: &[Uuid],
        at: At,
    ) -> Result<HashMap<Uuid, SessionSummary>, SearchError> {
        let conversations = self.annals.conversations();
        let mut known = conversations.summaries(tasks).await?;
        let is_short = |session: &SessionSummary| {
            let counts = &session.counts;
            counts.prompts + counts.answers + counts.tool_calls <= SHORT
        };
        let short = known.iter().filter(|(_, session)| is_short(session));
        let short: Vec<Uuid> = short.map(|(task, _)| *task).collect();
        known.extend(conversations.summaries_at(&short, at).await?);
        Ok(known)
    }
}

/// Hits by task, in the order of the best hit of each; `None` has those that belong to no task.
struct Groups {
    most_groups: usize,
    most_hits: usize,
    groups: Vec<(Option<Uuid>, Vec<TurnHit>)>,
    /// The number of hits that were added.
    added: usize,
}

impl Groups {
    fn new(most_groups: usize, most_hits: usize) -> Groups {
        Groups {
            most_groups,
            most_hits,
            groups: Vec::new(),
            added: 0,
        }
    }

    fn of(&self, task: Option<Uuid>) -> Option<&Vec<TurnHit>> {
        let found = self.groups.iter().find(|(known, _)| *known == task);
        found.map(|(_, hits)| hits)
    }

    /// Returns `true` if another hit of a task would be shown.
    fn want(&self, task: Option<Uuid>) -> bool {
        match self.of(task) {
            Some(hits) => hits.len() < self.most_hits,
            None => self.groups.len() < self.most_groups,
        }
    }

    fn are_full(&self) -> bool {
        let is_full = |(_, hits): &(Option<Uuid>, Vec<TurnHit>)| hits.len() >= self.most_hits;
        self.groups.len() >= self.most_groups && self.groups.iter().all(is_full)
    }

    /// Adds a hit, unless a better one shows the same.
    fn add(&mut self, task: Option<Uuid>, hit: Hit) {
        let found = self.groups.iter_mut().find(|(known, _)| *known == task);
        let is_shown = |hits: &[TurnHit]| hits.iter().any(|known| is_same(&known.hit, &hit));
        if found.as_ref().is_some_and(|(_, hits)| is_shown(hits)) {
            return;
        }
        let hit = TurnHit {
            turn: None,
            hit,
            rank: self.added,
        };
        self.added += 1;
        match found {
            Some((_, hits)) => hits.push(hit),
            None => self.groups.push((task, vec![hit])),
        }
    }
}

/// Returns `true` if two hits are of the same tool call, or if one has the beginning of the other's line: a prompt is
/// recorded as an intent, as the title of its task, and as a frame of the context.
fn is_same(one: &Hit, other: &Hit) -> bool {
    let is_call = one
        .object
        .is_some_and(|(kind, _)| kind == Kind::ToolInvocation);
    let (line, of_other) = (one.snippet.text.trim(), other.snippet.text.trim());
    let (short, long) = match line.len() <= of_other.len() {
        true => (line, of_other),
        false => (of_other, line),
    };
    is_call && one.object == other.object
        || short == long
        || short.len() >= TITLE && long.starts_with(short)
}

#[cfg(test)]
mod tests {
    use annals_domain::{ActorRef, Timestamp};

    use super::*;
    use crate::facet::Facet;
    use crate::snippet::Snippet;

    fn hit(position: u64, text: &str, object: Option<(Kind, Uuid)>) -> Hit {
        Hit {
            position: Position(position),
            score: 0.0,
            object,
            stream: String::new(),
            event_type: "run.tool_invoked",
            occurred_at: Timestamp::EPOCH,
            actor: ActorRef::human("ada"),
            facet: Facet::Prompts,
            snippet: Snippet {
                text: text.to_owned(),
                ..Snippet::default()
            },
        }
    }

    #[test]
    fn a_group_has_each_line_and_each_call_once() {
        let call = |number| Some((Kind::ToolInvocation, Uuid::from_u128(number)));
        let task = Some(Uuid::from_u128(7));
        let mut groups = Groups::new(2, 3);
        for (position, text, object) in [
            (1, "add pagination to the list", None),
            (2, " add pagination", None),
            (3, "cargo test", call(1)),
            (4, "1 failed", call(1)),
            (5, "cargo doc", call(2)),
        ] {
            assert!(groups.want(task), "{position}");
            groups.add(task, hit(position, text, object));
        }
        let positions = |task| {
            let hits = groups.of(task).into_iter().flatten();
            hits.map(|found| found.hit.position.0).collect::<Vec<_>>()
        };
        assert_eq!(positions(task), [1, 3, 5]);
        assert!(!groups.want(task) && groups.want(None) && !groups.are_full());
        groups.add(None, hit(6, "other", None));
        assert!(groups.want(None) && !groups.want(Some(Uuid::nil())));
        groups.add(None, hit(7, "words", None));
        groups.add(None, hit(8, "again", None));
        assert!(groups.are_full());
    }
}
