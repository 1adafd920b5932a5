//! The conversation of a session, read from the streams of its runs and their pipelines.

use std::sync::Arc;

use annals_domain::{IntentId, Kind, RunId, StreamRef, TaskId};
use annals_event_log::{Position, Query, Record, Store, Version};
use annals_projections::{
    Conversation, ConversationFold, IntentView, Labels, Merged, PlanView, PromptTurn, Relation,
    RunView, SubAgentStart, TaskView, Text, Turn,
};
use annals_wire::stream_name;
use uuid::Uuid;

use crate::{Annals, At, LoadError, ViewError};

/// The most sub-agent sessions of one session that are read.
const SUB_AGENTS: usize = 10_000;

impl Annals {
    /// The conversation of a session as of `at`: of a task with all of its runs, of a contracts session with all of its
    /// runs, or of a single run.
    ///
    /// Sub-agent sessions have conversations of their own; the turns name them.
    ///
    /// # Errors
    /// [`ViewError::NotFound`], [`ViewError::NotYet`] before the session's first event, and [`ViewError::NoRuns`] for an
    /// object of another kind.
    pub async fn conversation(
        &self,
        session: impl Into<Uuid>,
        at: At,
    ) -> Result<Conversation, ViewError> {
        let session = session.into();
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
        let mut fold = self.turns_of(&runs, at).await?;
        if let Some(task) = task {
            self.add_unframed_prompts(&mut fold, &task, at).await?;
            self.add_sub_agents(&mut fold, session, at).await?;
        }
        Ok(fold.finish())
    }

    /// Folds the streams of runs and of their pipelines, merged in the log's order.
    async fn turns_of(&self, runs: &[RunId], at: At) -> Result<ConversationFold, ViewError> {
        let log: Arc<dyn Store> = Arc::clone(self.log());
        let read = |error| ViewError::from(LoadError::from(error));
        let mut merged = Merged::new(log.as_ref());
        for run in runs {
            merged.add(run.stream()).await.map_err(read)?;
            let run: RunView = match self.get_at(*run, at).await {
                Ok(run) => run,
                Err(ViewError::NotYet { .. }) => continue,
                Err(error) => return Err(error),
            };
            if let Some(plan) = run.plan {
                let plan: PlanView = self.get(plan).await?;
                if let Some(pipeline) = plan.pipeline {
                    merged.add(pipeline.stream()).await.map_err(read)?;
                }
            }
        }
        let mut fold = ConversationFold::new();
        while let Some(record) = merged.next().await.map_err(read)? {
            if at.has_happened(&record) {
                fold.apply(&self.contents().entry(&record).await?);
            }
        }
        Ok(fold)
    }

    /// Adds the prompts that an agent's program reported and that no recording holds yet: they are intents without a
    /// frame.
    async fn add_unframed_prompts(
        &self,
        fold: &mut ConversationFold,
        task: &TaskView,
        at: At,
    ) -> Result<(), ViewError> {
        let Some(intent) = task.intent.filter(|_| task.parent.is_none()) else {
            return Ok(());
        };
        let rows = self.index().refinements(intent).await?;
        if rows.len() <= fold.prompts() {
            return Ok(());
        }
        let mut framed = fold.prompt_texts();
        for row in rows {
            let intent: IntentView = match self.get_at(IntentId(row.id), at).await {
                Ok(intent) => intent,
                Err(ViewError::NotYet { .. }) => continue,
                Err(error) => return Err(error),
            };
            let asked = intent.prompt.to_string();
            let is_it = |framed: &String| framed.contains(asked.trim());
            if let Some(known) = framed.iter().position(is_it) {
                framed.remove(known);
                continue;
            }
            let position = self.first_position(IntentId(row.id).stream()).await?;
            let prompt = PromptTurn::new(intent.prompt, intent.header.created_by.clone())
                .with_intent(row.id);
            fold.add_turn(Turn::prompt(intent.header.created_at, position, prompt));
        }
        Ok(())
    }

    async fn add_sub_agents(
        &self,
        fold: &mut ConversationFold,
        session: Uuid,
        at: At,
    ) -> Result<(), ViewError> {
        let index = self.index();
        let children = index.naming(session, Relation::TaskParent, SUB_AGENTS);
        for child in children.await? {
            let task: TaskView = match self.get_at(TaskId(child), at).await {
                Ok(task) => task,
                Err(ViewError::NotYet { .. }) => continue,
                Err(error) => return Err(error),
            };
            let position = self.first_position(TaskId(child).stream()).await?;
            fold.add_sub_agent(&SubAgentStart {
                session: child,
                name: external(&task.header.external_ids, ".side_chain"),
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

/// An id in another system, by the end of its name.
fn external(ids: &Labels, end: &str) -> Option<String> {
    let is_it = |name: &Text| name.as_str().is_some_and(|name| name.ends_with(end));
    let (_, id) = ids.0.iter().find(|(name, _)| is_it(name))?;
    Some(id.as_str()?.to_owned())
}
