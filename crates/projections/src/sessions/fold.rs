//! The fold of the log's events into sessions.

mod call;
mod contract;
mod frame;
mod prompt;
mod run;
mod task;

use annals_domain::AnyEvent;
use uuid::Uuid;

use super::held::Rows;
use crate::Entry;
use crate::projection::{Projection, ProjectionError, Table};

type Done = Result<(), ProjectionError>;

/// The fold of events into sessions.
#[derive(Debug, Clone, Copy)]
pub(super) struct SessionRows;

/// What the types of events begin with that belong to sessions.
const STREAMS: [&str; 6] = ["intent.", "pipeline.", "plan.", "run.", "session.", "task."];
/// Events of those streams that change no session.
const UNUSED: [&str; 24] = [
    "pipeline.created",
    "pipeline.frames_used",
    "pipeline.frames_dropped",
    "pipeline.max_frames_set",
    "pipeline.eviction_policy_set",
    "pipeline.global_summary_set",
    "pipeline.metadata_set",
    "pipeline.sealed",
    "pipeline.redacted",
    "plan.step_added",
    "plan.step_status_changed",
    "plan.step_frames_linked",
    "plan.step_task_spawned",
    "plan.step_output_recorded",
    "run.metadata_set",
    "run.sealed",
    "run.redacted",
    "run.rationale_overridden",
    "run.evidence_adopted",
    "session.backlog_queried",
    "session.metadata_set",
    "session.redacted",
    "task.sealed",
    "task.redacted",
];
/// The events of intents that change sessions.
const OF_INTENTS: [&str; 2] = ["intent.metadata_set", "intent.analyzed"];

impl Projection for SessionRows {
    fn name(&self) -> &str {
        "sessions"
    }

    fn version(&self) -> u32 {
        3
    }

    fn wants(&self, event_type: &str) -> bool {
        match event_type.starts_with("intent.") {
            true => OF_INTENTS.contains(&event_type),
            false => {
                STREAMS.iter().any(|start| event_type.starts_with(start))
                    && !UNUSED.contains(&event_type)
            }
        }
    }

    fn reads_blobs(&self, event_type: &str) -> bool {
        // Prompts that are told live. Titles are short otherwise.
        event_type == "intent.analyzed"
    }

    async fn apply(&self, entry: &Entry, table: &mut Table<'_>) -> Done {
        let mut fold = Fold {
            rows: Rows::of(table),
            entry,
        };
        let done = fold.event().await;
        fold.rows.keep();
        done
    }

    async fn finish_page(&self, table: &mut Table<'_>) -> Done {
        Rows::of(table).write()
    }
}

/// One event, and the rows that it changes.
struct Fold<'a, 'log> {
    rows: Rows<'a, 'log>,
    entry: &'a Entry,
}

impl Fold<'_, '_> {
    async fn event(&mut self) -> Done {
        let entry = self.entry;
        let id = entry.stream.id;
        match &entry.event {
            AnyEvent::Task(event) => self.of_task(id, event).await,
            AnyEvent::Run(event) => self.of_run(id, event).await,
            AnyEvent::Plan(event) => self.of_plan(id, event).await,
            AnyEvent::Pipeline(event) => self.of_pipeline(id, event).await,
            AnyEvent::Intent(event) => self.of_intent(id, event).await,
            AnyEvent::Session(event) => self.of_contract(id, event).await,
            _ => Ok(()),
        }
    }

    /// The session that a run's events belong to. A run whose task is not known is one by itself.
    async fn session_of_run(&mut self, run: Uuid) -> Result<Uuid, ProjectionError> {
        let task = self.rows.run(run).await?.map_or(run, |row| row.task);
        self.rows.merged(task).await
    }
}
