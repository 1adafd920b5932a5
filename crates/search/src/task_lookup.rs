//! The tasks that streams belong to: a session is a task with its runs, plans, pipelines and intents.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use annals::Annals;
use annals_domain::{IntentId, StreamKind, StreamRef};
use annals_projections::Relation;
use uuid::Uuid;

use crate::error::SearchError;

/// Intents that are walked up from a prompt to the session's first one.
const REFINEMENTS: usize = 2_000;
/// Streams whose tasks are kept between questions.
const KEPT: usize = 20_000;
/// The most objects of one kind that name another one.
const NAMING: usize = 16;

/// The tasks of runs, plans and pipelines, which never change. The task of an intent does: it can get one of its own.
#[derive(Debug, Default)]
pub(crate) struct LastingTasks(Mutex<HashMap<String, Uuid>>);

impl LastingTasks {
    fn get(&self, stream: &str) -> Option<Uuid> {
        let tasks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.get(stream).copied()
    }

    fn keep(&self, stream: &str, task: Uuid) {
        let mut tasks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if tasks.len() >= KEPT {
            tasks.clear();
        }
        tasks.insert(stream.to_owned(), task);
    }
}

/// Looks up the tasks of streams for one question, each once.
pub(crate) struct TaskLookup<'a> {
    annals: &'a Annals,
    lasting: &'a LastingTasks,
    found: HashMap<String, Option<Uuid>>,
}

impl<'a> TaskLookup<'a> {
    pub(crate) fn new(annals: &'a Annals, lasting: &'a LastingTasks) -> TaskLookup<'a> {
        TaskLookup {
            annals,
            lasting,
            found: HashMap::new(),
        }
    }

    /// The task of a stream that was looked up already. `Some(None)` is a stream that belongs to no task.
    pub(crate) fn known(&self, stream: &str) -> Option<Option<Uuid>> {
        let found = self.found.get(stream).copied();
        found.or_else(|| self.lasting.get(stream).map(Some))
    }

    /// The task that the events of a stream belong to.
    pub(crate) async fn find(&mut self, stream: &str) -> Result<Option<Uuid>, SearchError> {
        if let Some(task) = self.known(stream) {
            return Ok(task);
        }
        let Ok(parsed) = stream.parse::<StreamRef>() else {
            return Ok(None);
        };
        let task = match parsed.kind {
            StreamKind::Task => Some(parsed.id),
            StreamKind::Intent => self.of_intent(parsed.id).await?,
            StreamKind::Run => self.of_run(parsed.id).await?,
            StreamKind::Pipeline => match self.naming(parsed.id, Relation::PlanPipeline).await? {
                Some(plan) => self.of_plan(plan).await?,
                None => None,
            },
            StreamKind::Plan => self.of_plan(parsed.id).await?,
            _ => None,
        };
        if let Some(task) = task.filter(|_| parsed.kind != StreamKind::Intent) {
            self.lasting.keep(stream, task);
        }
        self.found.insert(stream.to_owned(), task);
        Ok(task)
    }

    /// The first object that names another one.
    async fn naming(&self, id: Uuid, relation: Relation) -> Result<Option<Uuid>, SearchError> {
        let found = self.annals.index().naming(id, relation, 1).await?;
        Ok(found.first().copied())
    }

    async fn of_plan(&self, plan: Uuid) -> Result<Option<Uuid>, SearchError> {
        match self.naming(plan, Relation::RunPlan).await? {
            Some(run) => self.of_run(run).await,
            None => Ok(None),
        }
    }

    async fn of_run(&self, run: Uuid) -> Result<Option<Uuid>, SearchError> {
        let index = self.annals.index();
        let found = index.named(run, Relation::RunTask, 1).await?;
        Ok(found.first().copied())
    }

    /// The task of an intent or of the intents that it refines. Sub-agents' tasks name the same intent and have a parent.
    async fn of_intent(&mut self, intent: Uuid) -> Result<Option<Uuid>, SearchError> {
        let index = self.annals.index();
        let (mut next, mut task, mut walked) = (Some(intent), None, Vec::new());
        while let Some(intent) = next.filter(|_| task.is_none() && walked.len() < REFINEMENTS) {
            let stream = IntentId(intent).stream().to_string();
            task = self.known(&stream).flatten();
            if task.is_none() {
                task = self.naming_intent(intent).await?;
                let refined = index.named(intent, Relation::IntentParent, 1).await?;
                next = refined.first().copied();
            }
            walked.push(stream);
        }
        self.found
            .extend(walked.into_iter().map(|stream| (stream, task)));
        Ok(task)
    }

    /// The session's task that names an intent itself.
    async fn naming_intent(&self, intent: Uuid) -> Result<Option<Uuid>, SearchError> {
        let index = self.annals.index();
        for task in index.naming(intent, Relation::TaskIntent, NAMING).await? {
            if index.named(task, Relation::TaskParent, 1).await?.is_empty() {
                return Ok(Some(task));
            }
        }
        Ok(None)
    }
}
