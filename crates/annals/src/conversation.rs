//! The conversation of a session, read from the streams of its runs and their pipelines.

mod indexes;

use annals_domain::{IntentId, Kind, PipelineId, RunId, StreamRef, TaskId};
use annals_event_log::{Digest, Position, Query, Record, Version};
use annals_projections::{
    Conversation, ConversationFold, IntentView, Merged, PromptTurn, Relation, SubAgentStart,
    TaskView, Turn,
};
use annals_wire::stream_name;
use bytes::Bytes;
use uuid::Uuid;

pub(crate) use self::indexes::ConversationIndexes;
use crate::read::Reach;
use crate::{Annals, At, Conversations, LoadError, SessionError, ViewError};

/// The most sub-agent sessions of one session that are read.
const SUB_AGENTS: usize = 10_000;
/// Turns that are folded behind the last requested one: a tool call is recorded behind turns that it precedes.
const BEHIND: usize = 500;

/// The turns of a conversation that a reader asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnRange {
    /// The number of the first turn, from 1.
    pub from: u64,
    /// The most turns.
    pub limit: usize,
}

impl TurnRange {
    /// All turns.
    pub fn all() -> TurnRange {
        TurnRange {
            from: 1,
            limit: usize::MAX,
        }
    }

    /// At most `limit` turns from number `from` on.
    pub fn new(from: u64, limit: usize) -> TurnRange {
        TurnRange { from, limit }
    }

    /// The number of turns up to the last one.
    fn end(self) -> usize {
        let before = usize::try_from(self.from.max(1) - 1).unwrap_or(usize::MAX);
        before.saturating_add(self.limit)
    }
}

/// The objects that a conversation is read from.
struct SessionSources {
    session: Uuid,
    task: Option<TaskView>,
    /// The streams of the runs and of their pipelines.
    streams: Vec<StreamRef>,
}

impl Conversations<'_> {
    /// The bytes of a diff that an edit of a conversation names; `None` if they were removed.
    ///
    /// # Errors
    /// [`SessionError`].
    pub async fn diff(self, digest: Digest) -> Result<Option<Bytes>, SessionError> {
        let read = self.annals.contents().get(digest).await;
        Ok(read.map_err(LoadError::from)?)
    }
}

impl Annals {
    /// The conversation of a session as of `at`: of a task with all of its runs, of a contracts session with all of its
    /// runs, or of a single run.
    ///
    /// Sub-agent sessions have conversations of their own; the turns name them. Reading ends soon behind the range: then
    /// `total` is unknown, and `prompts` has those that were read.
    ///
    /// # Errors
    /// [`ViewError::NotFound`], [`ViewError::NotYet`] before the session's first event, and [`ViewError::NoRuns`] for an
    /// object of another kind.
    pub async fn conversation(
        &self,
        session: impl Into<Uuid>,
        at: At,
        range: TurnRange,
    ) -> Result<Conversation, ViewError> {
        let sources = self.sources_of(session.into(), at).await?;
        if let Some(part) = self.later_part(&sources, at, range).await? {
            return Ok(part);
        }
        let most = range.end().saturating_add(BEHIND);
        let (mut fold, is_whole) = self.turns_of(&sources.streams, at, most).await?;
        let end = match is_whole {
            true => Position(u64::MAX),
            false => fold.last_position(),
        };
        self.add_turns(&mut fold, &sources, at, end).await?;
        let mut conversation = fold.finish();
        if !is_whole {
            conversation.total = None;
        }
        let numbers = range.from..=range.end() as u64;
        conversation
            .turns
            .retain(|turn| numbers.contains(&turn.number));
        Ok(conversation)
    }

    async fn sources_of(&self, session: Uuid, at: At) -> Result<SessionSources, ViewError> {
        let (kind, _) = self.locate(session).await?;
        let (runs, task) = match kind {
            Kind::Task => {
                let task: TaskView = self.get_at(TaskId(session), at).await?;
                (task.runs.clone(), Some(task))
            }
            Kind::Run => (vec![RunId(session)], None),
            Kind::Session => {
                let object = crate::ObjectRef { kind, id: session };
                let runs = self.tool_calls().runs_of(object).await?;
                (runs.into_iter().map(RunId).collect(), None)
            }
            kind => return Err(ViewError::NoRuns { kind }),
        };
        let index = self.index();
        let mut streams = Vec::new();
        for run in runs {
            streams.push(run.stream());
            let plan = index.named(run.0, Relation::RunPlan, 1).await?;
            let Some(plan) = plan.first() else {
                continue;
            };
            let pipeline = index.named(*plan, Relation::PlanPipeline, 1).await?;
            if let Some(pipeline) = pipeline.first() {
                streams.push(PipelineId(*pipeline).stream());
            }
        }
        Ok(SessionSources {
            session,
            task,
            streams,
        })
    }

    /// Folds streams, merged in the log's order, up to a number of turns. Returns `true` with them if these are all.
    async fn turns_of(
        &self,
        streams: &[StreamRef],
        at: At,
        most: usize,
    ) -> Result<(ConversationFold, bool), ViewError> {
        let read = |error| ViewError::from(LoadError::from(error));
        let mut merged = Merged::new(self.log().as_ref());
        for stream in streams {
            merged.add(*stream).await.map_err(read)?;
        }
        let mut fold = ConversationFold::new();
        while let Some(record) = merged.next().await.map_err(read)? {
            match at.reaches(&record) {
                Reach::Yes => {}
                Reach::Skip => continue,
                Reach::Stop => break,
            }
            if fold.turns() >= most {
                return Ok((fold, false));
            }
            fold.apply(&self.contents().entry(&record).await?);
        }
        Ok((fold, true))
    }

    /// Adds the turns of a session's task that are in no stream of a run or pipeline.
    async fn add_turns(
        &self,
        fold: &mut ConversationFold,
        sources: &SessionSources,
        at: At,
        end: Position,
    ) -> Result<(), ViewError> {
        let Some(task) = &sources.task else {
            return Ok(());
        };
        self.add_unframed_prompts(fold, task, at, end).await?;
        self.add_sub_agents(fold, sources.session, at, end).await
    }

    /// Adds the prompts that an agent's program reported and that no recording holds yet: they are intents without a
    /// frame.
    async fn add_unframed_prompts(
        &self,
        fold: &mut ConversationFold,
        task: &TaskView,
        at: At,
        end: Position,
    ) -> Result<(), ViewError> {
        let Some(intent) = task.intent.filter(|_| task.parent.is_none()) else {
            return Ok(());
        };
        let rows = self.index().refinements(intent).await?;
        if rows.len() <= fold.prompt_texts().len() {
            return Ok(());
        }
        // A session that continues another one refines its intents.
        let session = task.header.external_ids.ending_with(".session");
        let mut asked = Vec::new();
        for row in rows {
            let position = self.first_position(IntentId(row.id).stream()).await?;
            if position > end {
                continue;
            }
            let intent: IntentView = match self.get_at(IntentId(row.id), at).await {
                Ok(intent) => intent,
                Err(ViewError::NotYet { .. }) => continue,
                Err(error) => return Err(error),
            };
            let other = intent.header.external_ids.ending_with(".session");
            if session.is_some() && other.is_some() && session != other {
                continue;
            }
            asked.push((row.id, position, intent));
        }
        for (id, position, intent) in unframed(asked, fold.prompt_texts()) {
            let prompt =
                PromptTurn::new(intent.prompt, intent.header.created_by.clone()).with_intent(id);
            fold.add_turn(Turn::prompt(intent.header.created_at, position, prompt));
        }
        Ok(())
    }

    async fn add_sub_agents(
        &self,
        fold: &mut ConversationFold,
        session: Uuid,
        at: At,
        end: Position,
    ) -> Result<(), ViewError> {
        let index = self.index();
        let children = index.naming(session, Relation::TaskParent, SUB_AGENTS);
        for child in children.await? {
            let position = self.first_position(TaskId(child).stream()).await?;
            if position > end {
                continue;
            }
            let task: TaskView = match self.get_at(TaskId(child), at).await {
                Ok(task) => task,
                Err(ViewError::NotYet { .. }) => continue,
                Err(error) => return Err(error),
            };
            fold.add_sub_agent(&SubAgentStart {
                session: child,
                name: task
                    .header
                    .external_ids
                    .ending_with(".side_chain")
                    .map(str::to_owned),
                task: task.description.unwrap_or_else(|| task.title.clone()),
                title: task.title,
                at: Some(task.header.created_at),
                position,
            });
        }
        Ok(())
    }

    /// The position of a stream's first event.
    async fn first_position(&self, stream: StreamRef) -> Result<Position, ViewError> {
        let query = Query::stream(stream_name(stream), Version(1)).limit(1);
        let page = self.log().read(query).await.map_err(LoadError::from)?;
        let first = page.records.first();
        Ok(first.map_or(Position::START, Record::position))
    }
}

/// The prompts without a frame. Frames have the whole text, with what the agent's program added; so a prompt whose own
/// text is a frame's comes before one that a frame only contains.
fn unframed(
    mut asked: Vec<(Uuid, Position, IntentView)>,
    mut framed: Vec<String>,
) -> Vec<(Uuid, Position, IntentView)> {
    let ways: [fn(&str, &str) -> bool; 2] = [
        |framed, asked| framed.trim() == asked,
        |framed, asked| framed.contains(asked),
    ];
    for is_it in ways {
        asked.retain(|(_, _, intent)| {
            let asked = intent.prompt.to_string();
            let known = framed.iter().position(|framed| is_it(framed, asked.trim()));
            known.map(|known| framed.remove(known)).is_none()
        });
    }
    asked
}
