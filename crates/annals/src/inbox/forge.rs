//! Intents and tasks in Forge's words.

use annals_domain::{IntentId, Kind, TaskId};
use annals_projections::{ForgeChildView, ForgeIntentView, ForgeTaskView, ForgeView};

use crate::{At, Inbox, LoadError, ViewError};

impl Inbox<'_> {
    /// An intent in Forge's words, as it was, with its tasks and children.
    ///
    /// # Errors
    /// [`ViewError::NotYet`] before its first event.
    pub async fn forge_view(self, intent: IntentId, at: At) -> Result<ForgeView, ViewError> {
        let view = self.forge_intent(intent, at).await?;
        let mut tasks = Vec::new();
        for task in &view.tasks {
            tasks.extend(self.forge_task_if_any(*task, at).await?);
        }
        let tasks = tasks
            .into_iter()
            .filter(|task| task.superseded_by.is_none());
        let tasks = tasks.collect();
        let mut children = Vec::new();
        for child in &view.children {
            match self.forge_intent(*child, at).await {
                Ok(child) => children.push(ForgeChildView::from(child)),
                // A folder may name a part that is not imported yet.
                Err(ViewError::NotFound { .. } | ViewError::NotYet { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(ForgeView::new(view, tasks, children))
    }

    /// An intent in Forge's words, as it was.
    ///
    /// # Errors
    /// [`ViewError::NotYet`] before its first event.
    pub async fn forge_intent(
        self,
        intent: IntentId,
        at: At,
    ) -> Result<ForgeIntentView, ViewError> {
        let kind = Kind::Intent;
        let stream = self.annals.locate_kind(intent.0, kind).await?;
        let mut view = None;
        let apply = |entry| ForgeIntentView::apply(&mut view, intent, &entry);
        self.annals.each_entry(stream, at, |_| true, apply).await?;
        let object = crate::ObjectRef { kind, id: intent.0 };
        let mut view = view.ok_or(ViewError::NotYet { object })?;
        view.status = match at {
            At::Now => self.status(intent).await?,
            at => self.status_at(intent, at).await?,
        };
        view.id = self.annals.index().called(intent.0).await?;
        if let Some(parent) = view.child_of {
            view.parent = Some(self.annals.index().called(parent.0).await?);
        }
        for other in view.dependencies.clone() {
            let name = self.annals.index().called(other.0).await?;
            view.depends_on.push(name);
        }
        Ok(view)
    }

    /// A task in Forge's words, as it was.
    ///
    /// # Errors
    /// [`ViewError::NotYet`] before its first event.
    pub async fn forge_task(self, task: TaskId, at: At) -> Result<ForgeTaskView, ViewError> {
        let kind = Kind::Task;
        self.annals.locate_kind(task.0, kind).await?;
        let object = crate::ObjectRef { kind, id: task.0 };
        let view = self.forge_task_if_any(task, at).await?;
        view.ok_or(ViewError::NotYet { object })
    }

    pub(super) async fn forge_task_if_any(
        self,
        task: TaskId,
        at: At,
    ) -> Result<Option<ForgeTaskView>, LoadError> {
        let mut view = self.bare_forge_task(task, at).await?;
        if let Some(view) = &mut view {
            if let Some(intent) = view.intent {
                view.intent_id = Some(self.annals.index().called(intent.0).await?);
            }
            for other in view.dependencies.clone() {
                let named = self.bare_forge_task(other, at).await?;
                view.depends_on
                    .push(named.map_or_else(|| other.to_string(), |named| named.id));
            }
        }
        Ok(view)
    }

    /// The same, without what other objects are called.
    async fn bare_forge_task(
        self,
        task: TaskId,
        at: At,
    ) -> Result<Option<ForgeTaskView>, LoadError> {
        let mut view = None;
        let apply = |entry| ForgeTaskView::apply(&mut view, task, &entry);
        self.annals
            .each_entry(task.stream(), at, |_| true, apply)
            .await?;
        Ok(view)
    }
}
