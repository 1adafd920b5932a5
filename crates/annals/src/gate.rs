//! The gate as one call: a service gives every command of its agents through
//! it, and does what was accepted.

use annals_domain::session::{
    AgentCommand, CommandResult, Event, PolicyProfile, SubmitCommand, Verdict,
};
use annals_domain::{ActorRef, AnyEvent, CommandId, SessionId};
use annals_event_log::{Appended, Position, Query, Version};
use annals_projections::session_replay::{
    self, SessionReplayError, SessionReplayOptions, SessionsReplay,
};
use annals_wire::stream_name;

use crate::request::answered;
use crate::{Annals, As, ExecuteError, LoadError, Outcome, Sessions};

/// What the gate said of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gated {
    /// The command.
    pub command: CommandId,
    /// What became of it when it was given.
    pub verdict: Verdict,
    /// Where the log has it. A read at or after it sees the verdict.
    pub position: Position,
}

impl Sessions<'_> {
    /// Gives a command to a session's gate, in the name of an agent called like
    /// the session; [`As::gate`] names another actor. The verdict is on disk when
    /// it is answered. The same command under the same id gets the same verdict
    /// again, and is not judged a second time.
    ///
    /// ```
    /// # use annals::domain::session::*;
    /// # use annals::domain::{ActorRef, CommandId, SessionId};
    /// # use annals::{Annals, Request};
    /// # use uuid::Uuid;
    /// # futures::executor::block_on(async {
    /// let annals = Annals::open("memory:").await?;
    /// let session = SessionId(Uuid::now_v7());
    /// let repo = RepoRef::new("app", "/src/app");
    /// let policy = PolicyProfile::new("careful").with_protected_branches(vec!["main".into()]);
    /// let workspace = WorkspaceRef::new("/work");
    /// let config = SessionConfig::new(session, policy, repo.clone(), workspace, "coder");
    /// let create = CreateSession::new(config);
    /// annals.execute(Request::new(ActorRef::human("ada"), create)).await?;
    ///
    /// let push = Push::new(repo, "HEAD:main");
    /// let push = AgentCommand::new(CommandId(Uuid::now_v7()), push);
    /// let gated = annals.sessions().gate(session, &push).await?;
    /// assert_eq!(
    ///     gated.verdict,
    ///     Verdict::Rejected {
    ///         reason: "Policy violation".into(),
    ///         rule: Some(RejectionRule::ProtectedBranch),
    ///     }
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// [`ExecuteError`]: an unknown session, an id that another command has. A
    /// rejected command is not an error.
    pub async fn gate(
        self,
        session: SessionId,
        command: &AgentCommand,
    ) -> Result<Gated, ExecuteError> {
        let actor = ActorRef::agent(session.to_string());
        self.annals.by(&actor).gate(session, command).await
    }

    /// The present verdict on a command: of one that was queued, what became of it when its approval was answered.
    /// None, where the session was given no such command. [`Sessions::gate`] answers with the first verdict, also when
    /// it is given the command again. It reads the session's events from the last one back to the verdict.
    ///
    /// # Errors
    /// [`LoadError`].
    pub async fn verdict(
        self,
        session: SessionId,
        command: CommandId,
    ) -> Result<Option<Verdict>, LoadError> {
        let query = Query::stream(stream_name(session.stream()), Version(u64::MAX)).backward();
        let mut next = Some(u64::MAX);
        while let Some(from) = next {
            let page = self
                .annals
                .log
                .read(query.clone().starting_at(from))
                .await?;
            for record in &page.records {
                let entry = self.annals.contents().entry(record).await?;
                let text = |slot| entry.text(slot).to_string();
                let verdict = Verdict::of(&entry.event, command, text);
                let is_given = matches!(&entry.event,
                    AnyEvent::Session(Event::CommandReceived(event)) if event.command == command);
                if verdict.is_some() || is_given {
                    return Ok(verdict);
                }
            }
            next = page.next;
        }
        Ok(None)
    }

    /// The recorded commands of sessions under another policy profile; see
    /// [`annals_projections::session_replay`]. Nothing is written to the log.
    ///
    /// # Errors
    /// [`SessionReplayError`].
    pub async fn replay(
        self,
        sessions: &[SessionId],
        profile: &PolicyProfile,
        options: SessionReplayOptions<'_>,
    ) -> Result<SessionsReplay, SessionReplayError> {
        session_replay::replay_sessions(self.annals.log.as_ref(), sessions, profile, options).await
    }
}

impl Annals {
    /// What the gate said in a batch that is in the log already.
    pub(crate) async fn verdict_in(
        &self,
        appended: Appended,
    ) -> Result<Option<(CommandId, Verdict)>, LoadError> {
        let mut given = None;
        for position in appended.first.0..=appended.last.0 {
            let Some(record) = self.contents().record(Position(position)).await? else {
                continue;
            };
            let entry = self.contents().entry(&record).await?;
            if let AnyEvent::Session(Event::CommandReceived(event)) = &entry.event {
                given = Some(event.command);
            }
            let text = |slot| entry.text(slot).to_string();
            if let Some(command) = given
                && let Some(verdict) = Verdict::of(&entry.event, command, text)
            {
                return Ok(Some((command, verdict)));
            }
        }
        Ok(None)
    }
}

impl As<'_> {
    /// Gives a command to a session's gate, in the actor's name: see
    /// [`Sessions::gate`].
    ///
    /// # Errors
    /// [`ExecuteError`].
    pub async fn gate(
        &self,
        session: SessionId,
        command: &AgentCommand,
    ) -> Result<Gated, ExecuteError> {
        let submit = SubmitCommand::new(session, command.body.clone())
            .with_id(command.id)
            .with_parent(command.parent)
            .with_plan_node(command.plan_node.clone())
            .with_branch(command.branch.clone())
            .with_files(command.files.clone());
        let outcome = self.run_command(submit).await?;
        gated(outcome)
    }

    /// Records how an accepted command ended.
    ///
    /// # Errors
    /// [`ExecuteError`]: a command that was not accepted, or has ended.
    pub async fn complete_command(
        &self,
        session: SessionId,
        command: CommandId,
        outcome: CommandResult,
        message: Option<String>,
        error_code: Option<String>,
    ) -> Result<(), ExecuteError> {
        let complete = annals_domain::session::CompleteCommand::new(session, command, outcome)
            .with_message(message)
            .with_error_code(error_code);
        self.run_command(complete).await.map(|_| ())
    }
}

/// The outcome of giving a command.
fn gated(outcome: Outcome) -> Result<Gated, ExecuteError> {
    let position = outcome.position;
    let (command, verdict) = answered(outcome.verdict, "the verdict", position)?;
    Ok(Gated {
        command,
        verdict,
        position,
    })
}
