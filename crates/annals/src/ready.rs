//! What of a session's plan can be begun.

use std::collections::HashSet;

use annals_domain::session::TaskNode;
use annals_domain::task::Status;
use annals_domain::{SessionId, TaskId};
use annals_projections::{SessionView, TaskView};

use crate::{At, Sessions, ViewError};

impl Sessions<'_> {
    /// Nodes of a session's plan that can be begun, in the plan's order: they are
    /// not done, and all that they depend on is (docs/spec/contracts.md, Plans). A node is
    /// done if the task that it is linked to is Done at that moment.
    ///
    /// # Errors
    /// [`ViewError`].
    pub async fn ready_nodes(self, session: SessionId, at: At) -> Result<Vec<TaskNode>, ViewError> {
        let view: SessionView = self.annals.get_at(session, at).await?;
        let mut done: HashSet<TaskId> = HashSet::new();
        for task in view.plan.nodes().iter().filter_map(|node| node.task) {
            match self.annals.get_at::<TaskView>(task, at).await {
                Ok(seen) if seen.status() == Status::Done => {
                    done.insert(task);
                }
                // A task that was linked later than this moment is not done.
                Ok(_) | Err(ViewError::NotFound { .. } | ViewError::NotYet { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        let ready = view.ready_nodes(|task| done.contains(&task));
        Ok(ready.into_iter().cloned().collect())
    }
}
