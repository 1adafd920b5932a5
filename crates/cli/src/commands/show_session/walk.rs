//! The turns of a session and of its sub-agent sessions, in reading order.

use std::collections::{HashMap, HashSet};
use std::vec::IntoIter;

use annals::projections::{Diffs, SessionSummary, Turn, TurnBody};
use annals::{Annals, At, SessionListed, TurnRange};
use uuid::Uuid;

use crate::error::CliError;

/// Levels of sub-agents whose turns are read.
const DEEPEST: usize = 64;

/// A step of a walk.
pub(in crate::commands) enum Step {
    Turn(Turn),
    /// A sub-agent's session begins. If sub-agents are entered, its turns follow, and then [`Step::End`].
    SubAgent {
        session: Uuid,
        /// Whether the turn before this step started it.
        is_of_turn: bool,
    },
    /// The turns of a session are complete.
    End,
}

/// Reads the turns of a session in a range, one by one, and each sub-agent's session behind the turn that started it.
pub(in crate::commands) struct Walk<'a> {
    annals: &'a Annals,
    at: At,
    top: SessionListed,
    /// The sub-agent sessions at any depth.
    below: HashMap<Uuid, SessionListed>,
    levels: Vec<Level>,
    seen: HashSet<Uuid>,
    enters: bool,
    total: Option<u64>,
}

/// A session that is being read.
#[derive(Default)]
struct Level {
    turns: IntoIter<Turn>,
    /// The sub-agent's session that comes next, and whether the last turn started it.
    started: Option<(Uuid, bool)>,
    /// Sub-agent sessions, of which those that no turn started follow the last turn.
    children: IntoIter<Uuid>,
}

impl<'a> Walk<'a> {
    pub(in crate::commands) async fn begin(
        annals: &'a Annals,
        session: Uuid,
        at: At,
        range: TurnRange,
    ) -> Result<Walk<'a>, CliError> {
        let family = annals.conversations().family(session, at).await?;
        let top = family.session;
        // A contracts session has the turns of its task's session.
        let session = top.summary.id;
        let mut below = HashMap::new();
        let mut left: Vec<SessionListed> = top.sub_agents.clone();
        while let Some(listed) = left.pop() {
            left.extend(listed.sub_agents.iter().cloned());
            below.insert(listed.summary.id, listed);
        }
        let mut walk = Walk {
            annals,
            at,
            top,
            below,
            levels: Vec::new(),
            seen: HashSet::from([session]),
            enters: true,
            total: None,
        };
        walk.total = walk.enter(session, range).await?;
        Ok(walk)
    }

    /// Sets whether the turns of sub-agents are steps.
    pub(in crate::commands) fn enters_sub_agents(&mut self, enters: bool) {
        self.enters = enters;
    }

    /// The members of the session's task in JSON, each with a comma behind it.
    pub(in crate::commands) async fn task(&self) -> Result<String, CliError> {
        let view = self.annals.view_at(self.top().summary.id, self.at).await?;
        let mut members = match serde_json::to_value(&view).map_err(CliError::json)? {
            serde_json::Value::Object(members) => members,
            _ => return Ok(String::new()),
        };
        for own in ["description", "session", "turns"] {
            members.remove(own);
        }
        let text = serde_json::to_string(&members).map_err(CliError::json)?;
        let inside = text.strip_prefix('{').and_then(|it| it.strip_suffix('}'));
        let inside = inside.filter(|inside| !inside.is_empty());
        Ok(inside.map_or(String::new(), |inside| format!("{inside},")))
    }

    /// The session.
    pub(in crate::commands) fn top(&self) -> &SessionListed {
        &self.top
    }

    pub(in crate::commands) fn summary(&self) -> &SessionSummary {
        &self.top.summary
    }

    /// The number of turns of the session, if it is known.
    pub(in crate::commands) fn total(&self) -> Option<u64> {
        self.total
    }

    /// The session or one of its sub-agent sessions.
    pub(in crate::commands) fn listed(&self, session: Uuid) -> Option<&SessionListed> {
        match session == self.top.summary.id {
            true => Some(&self.top),
            false => self.below.get(&session),
        }
    }

    /// Depth of the session whose turns are read: 0 for the session at the top.
    pub(in crate::commands) fn depth(&self) -> usize {
        self.levels.len().saturating_sub(1)
    }

    /// The first prompt of the session, before any step was taken.
    pub(in crate::commands) fn first_prompt(&self) -> Option<&str> {
        let turns = self.levels.first()?.turns.as_slice();
        turns.iter().find_map(|turn| match &turn.body {
            TurnBody::Prompt(prompt) => prompt.text.as_str(),
            _ => None,
        })
    }

    pub(in crate::commands) async fn next(&mut self) -> Result<Option<Step>, CliError> {
        loop {
            let Some(level) = self.levels.last_mut() else {
                return Ok(None);
            };
            if let Some((session, is_of_turn)) = level.started.take() {
                if !self.seen.insert(session) {
                    continue;
                }
                match (self.enters, self.levels.len() < DEEPEST) {
                    (true, true) => {
                        self.enter(session, TurnRange::all()).await?;
                    }
                    (true, false) => self.levels.push(Level::default()),
                    (false, _) => {}
                }
                return Ok(Some(Step::SubAgent {
                    session,
                    is_of_turn,
                }));
            }
            if let Some(turn) = level.turns.next() {
                level.started = started(&turn).map(|session| (session, true));
                return Ok(Some(Step::Turn(turn)));
            }
            if let Some(session) = level.children.next() {
                level.started = Some((session, false));
                continue;
            }
            self.levels.pop();
            return Ok(Some(Step::End));
        }
    }

    /// Begins to read a session, and returns the number of its turns, if it is known.
    async fn enter(&mut self, session: Uuid, range: TurnRange) -> Result<Option<u64>, CliError> {
        let conversation = self.annals.conversation(session, self.at, range).await?;
        let total = conversation.total;
        let listed = self.listed(session);
        let children = listed.map_or(&[][..], |listed| listed.sub_agents.as_slice());
        let children: Vec<Uuid> = children.iter().map(|child| child.summary.id).collect();
        self.levels.push(Level {
            turns: conversation.turns.into_iter(),
            started: None,
            children: children.into_iter(),
        });
        Ok(total)
    }

    /// The diffs of a turn's edits.
    pub(in crate::commands) async fn diffs(&self, turn: &Turn) -> Result<Diffs, CliError> {
        let mut diffs = Diffs::new();
        let TurnBody::ToolCall(call) = &turn.body else {
            return Ok(diffs);
        };
        for digest in call.edits.iter().filter_map(|edit| edit.diff) {
            if diffs.contains_key(&digest) {
                continue;
            }
            if let Some(bytes) = self.annals.conversations().diff(digest).await? {
                diffs.insert(digest, String::from_utf8_lossy(&bytes).into_owned());
            }
        }
        Ok(diffs)
    }
}

/// The sub-agent's session that a turn started.
fn started(turn: &Turn) -> Option<Uuid> {
    match &turn.body {
        TurnBody::ToolCall(call) => call.sub_agent,
        TurnBody::SubAgent { session, .. } => Some(*session),
        _ => None,
    }
}
