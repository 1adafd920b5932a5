//! Events of contracts sessions. One that has a run is the session of the run's task.

use annals_domain::run::ToolStatus;
use annals_domain::session::{self, CommandResult, SessionStatus, StoredConfig, invocation_of};
use annals_domain::{CommandId, SessionId, StreamKind};
use uuid::Uuid;

use super::call::CallStep;
use super::{Done, Fold};
use crate::projection::ProjectionError;

impl Fold<'_, '_> {
    pub(super) async fn of_contract(&mut self, stream: Uuid, event: &session::Event) -> Done {
        use session::Event;
        let id = self.contract(stream).await?;
        match event {
            Event::Created(event) => self.config(id, &event.config).await,
            Event::Adopted(event) => match &event.config {
                Some(config) => self.config(id, config).await,
                None => Ok(()),
            },
            Event::RunAttached(event) => self.attached(id, stream, event.run.0).await,
            Event::CommandReceived(event) => {
                if let Some(branch) = &event.facts.branch {
                    self.rows.session(id).await?.row.summary.branch = Some(branch.clone());
                }
                let step = CallStep::Requested { is_question: false };
                self.command(id, stream, event.command, &step).await
            }
            Event::CommandRejected(event) => self.refused(id, stream, event.command).await,
            Event::CommandCompleted(event) => {
                let status = match event.outcome {
                    CommandResult::Success => ToolStatus::Ok,
                    CommandResult::Failure => ToolStatus::Error,
                };
                let step = CallStep::Over(status);
                self.command(id, stream, event.command, &step).await
            }
            Event::ApprovalRequired(event) => {
                let at = self.entry.occurred_at;
                let session = self.rows.session(id).await?;
                session.wait_for(event.request.0, false, at);
                Ok(())
            }
            Event::Approved(event) => self.approval_ended(id, event.request).await,
            Event::ApprovalDenied(event) => self.approval_ended(id, event.request).await,
            Event::ApprovalExpired(event) => self.approval_ended(id, Some(event.request)).await,
            Event::Completed(event) => {
                let reason = self.text(event.reason);
                self.ended(id, false, reason).await
            }
            Event::Aborted(event) => {
                let reason = self.text(event.reason);
                self.ended(id, true, reason).await
            }
            Event::StatusRecorded(event) => {
                let reason = self.text(event.reason);
                match event.status {
                    SessionStatus::Completed => self.ended(id, false, reason).await,
                    SessionStatus::Error => self.ended(id, true, reason).await,
                    _ => Ok(()),
                }
            }
            Event::Paused(_)
            | Event::Resumed(_)
            | Event::CommandQueued(_)
            | Event::CommandAccepted(_)
            | Event::Throttled(_)
            | Event::ConflictDetected(_)
            | Event::ArtifactAvailable(_)
            | Event::PlanUpdated(_)
            | Event::PlanNodeLinked(_)
            | Event::BacklogQueried(_)
            | Event::WorkItemQueried(_)
            | Event::ForeignRecorded(_)
            | Event::MetadataSet(_)
            | Event::Redacted(_) => Ok(()),
        }
    }

    /// The session that a contracts session is.
    async fn contract(&mut self, stream: Uuid) -> Result<Uuid, ProjectionError> {
        let id = self.rows.merged(stream).await?;
        self.rows.ensure(id).await?;
        let entry = self.entry;
        let session = self.rows.session(id).await?;
        session.note(entry, true);
        session.add_stream(StreamKind::Session, stream);
        self.rows.begin(id).await?;
        Ok(id)
    }

    /// Merges a contracts session into the session of its run's task.
    async fn attached(&mut self, id: Uuid, stream: Uuid, run: Uuid) -> Done {
        let Some(run) = self.rows.run(run).await? else {
            return Ok(());
        };
        self.rows.merge(id, run.task).await?;
        let task = self.rows.merged(run.task).await?;
        let session = self.rows.session(task).await?;
        session.add_stream(StreamKind::Session, stream);
        Ok(())
    }

    async fn config(&mut self, id: Uuid, config: &StoredConfig) -> Done {
        let entry = self.entry;
        let text = |slot| Some(entry.text(slot).to_string()).filter(|it| !it.trim().is_empty());
        let profile = text(config.agent_profile);
        let session = self.rows.session(id).await?;
        let summary = &mut session.row.summary;
        let agent = config.agent.clone().or(profile);
        summary.agent = summary.agent.take().or(agent);
        summary.directory = summary.directory.take().or(text(config.workspace));
        summary.project = summary.project.take().or(text(config.repo.path));
        if let Some(item) = &config.work_item {
            session.facts.task_title.get_or_insert(item.id.clone());
        }
        session.settle();
        let parent = config.parent.map(|parent| parent.0);
        match parent {
            Some(parent) => self.rows.set_parent(id, Some(parent)).await,
            None => Ok(()),
        }
    }

    async fn command(
        &mut self,
        id: Uuid,
        stream: Uuid,
        command: CommandId,
        step: &CallStep<'_>,
    ) -> Done {
        let call = invocation_of(SessionId(stream), command);
        self.step(id, call.0, step).await
    }

    /// A command that was rejected is a call that was denied.
    async fn refused(&mut self, id: Uuid, stream: Uuid, command: CommandId) -> Done {
        let call = invocation_of(SessionId(stream), command);
        self.step(id, call.0, &CallStep::Refused).await?;
        self.rows.session(id).await?.close_wait(command.0, true);
        Ok(())
    }

    async fn approval_ended(&mut self, id: Uuid, request: Option<CommandId>) -> Done {
        let session = self.rows.session(id).await?;
        match request {
            Some(request) => session.close_wait(request.0, true),
            None => session.close_approvals(),
        }
        Ok(())
    }
}
