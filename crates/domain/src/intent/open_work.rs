//! What of an intent is still open, and how it ends with the intent.

use super::State;
use crate::pieces::Pieces;
use crate::world::{Emitted, World};
use crate::{DecideError, RunId, TaskId, run, task};

/// More than this a refusal does not name.
const NAMED: usize = 8;

/// Why a run fails, or a task is cancelled, where nobody said why.
const REASON: &str = "the intent was completed";

/// Tasks that are draft or running, and runs that have not ended.
pub(super) struct OpenWork {
    tasks: Vec<(TaskId, task::Status)>,
    runs: Vec<(RunId, run::Status)>,
}

/// What is open of an intent. All its tasks and their runs are read, so that the
/// append is guarded on all of them.
pub(super) fn open_work(world: &mut World, intent: &State) -> Result<OpenWork, DecideError> {
    let (mut tasks, mut runs) = (Vec::new(), Vec::new());
    for id in &intent.tasks {
        let Some(task) = world.task_if_any(*id)? else {
            continue;
        };
        if matches!(task.status, task::Status::Draft | task::Status::Running) {
            tasks.push((*id, task.status));
        }
        for run in &task.runs {
            let found = world.run_if_any(*run)?;
            runs.extend(
                found
                    .filter(|it| it.is_unfinished())
                    .map(|it| (*run, it.status)),
            );
        }
    }
    Ok(OpenWork { tasks, runs })
}

impl OpenWork {
    pub(super) fn is_empty(&self) -> bool {
        self.tasks.is_empty() && self.runs.is_empty()
    }

    /// Each with its state, as a refusal says it.
    pub(super) fn named(&self) -> String {
        let tasks = self.tasks.iter();
        let tasks = tasks.map(|(id, status)| format!("task {id} is {}", status.name()));
        let runs = self.runs.iter();
        let runs = runs.map(|(id, status)| format!("run {id} is {}", status.name()));
        let mut named: Vec<String> = tasks.chain(runs).collect();
        let more = named.len().saturating_sub(NAMED);
        named.truncate(NAMED);
        if more > 0 {
            named.push(format!("{more} more are open"));
        }
        named.join(", ")
    }

    /// Ends it all.
    pub(super) fn abandoned(&self, reason: Option<&str>) -> Vec<Emitted> {
        let reason = reason.filter(|it| !it.trim().is_empty()).unwrap_or(REASON);
        let fail = |(id, _): &(RunId, run::Status)| {
            let mut pieces = Pieces::new();
            let error = pieces.text(reason);
            run::decide::emit(*id, run::Failed { error }, pieces)
        };
        let cancel = |(id, _): &(TaskId, task::Status)| {
            let mut pieces = Pieces::new();
            let reason = Some(pieces.text(reason));
            task::decide::emit(*id, task::Cancelled { reason }, pieces)
        };
        let runs = self.runs.iter().map(fail);
        runs.chain(self.tasks.iter().map(cancel)).collect()
    }
}
