//! The gate as one call: a service gives every command of its agents through
//! it, and does what was accepted.

use annals_domain::session::{
    AgentCommand, CommandResult, Event, PolicyProfile, SubmitCommand, Verdict,
};
use annals_domain::{ActorRef, AnyEvent, Command, CommandId, Refusal, SessionId};
use annals_event_log::{Appended, Position};
use annals_projections::session_replay::{
    self, SessionReplayError, SessionReplayOptions, SessionsReplay,
};
use uuid::Uuid;

use crate::{Annals, As, ExecuteError, LoadError, Outcome, Request};

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

/// The key of a command: the batch of one session's command of one id, so that
/// it has one verdict however often it is given.
fn key_of(session: SessionId, command: CommandId) -> Uuid {
    let namespace = Uuid::new_v5(&session.0, b"command.annals");
    Uuid::new_v5(&namespace, command.0.as_bytes())
}

/// The request with its own key, if it gives a command. A command without an id
/// gets one here: from the caller's key, if there is one, so that a repeat gives
/// the same command.
pub(crate) fn keyed(mut request: Request) -> Request {
    if let Command::SubmitCommand(submit) = &mut request.command {
        let from_key = |key: Uuid| Uuid::new_v5(&submit.session.0, key.as_bytes());
        let new = || request.key.map_or_else(Uuid::now_v7, from_key);
        let id = submit.id.unwrap_or_else(|| CommandId(new()));
        submit.id = Some(id);
        request.key = Some(key_of(submit.session, id));
    }
    request
}

/// A command is its own batch: its id is the batch's key.
pub(crate) fn alone(requests: &[Request]) -> Result<(), ExecuteError> {
    if requests.len() < 2 {
        return Ok(());
    }
    let given = |request: &Request| matches!(request.command, Command::SubmitCommand(_));
    match requests.iter().position(given) {
        None => Ok(()),
        Some(index) => Err(ExecuteError::Refused {
            index,
            command: "submit_command",
            refusal: Refusal::invalid(
                "submit",
                "a command is given alone, not in a batch: its verdict is looked up by its id",
            ),
        }),
    }
}

/// The command that a request gives.
pub(crate) fn given(request: &Request) -> Option<CommandId> {
    match &request.command {
        Command::SubmitCommand(submit) => submit.id,
        _ => None,
    }
}

/// A key that was used before, as the caller that gave a command knows it: by its
/// id, or else by the key that its id was made from.
pub(crate) fn explained(
    known_by: (Option<CommandId>, Option<Uuid>),
    error: ExecuteError,
) -> ExecuteError {
    match (known_by, error) {
        ((None, Some(key)), ExecuteError::KeyReused { .. }) => ExecuteError::KeyReused { key },
        ((None, Some(key)), ExecuteError::KeyUnverifiable { first, last, .. }) => {
            ExecuteError::KeyUnverifiable { key, first, last }
        }
        ((Some(id), _), ExecuteError::KeyReused { .. }) => used(format!(
            "{id} was given in this session before, as another command; give each \
             command its own id"
        )),
        ((Some(id), _), ExecuteError::KeyUnverifiable { first, .. }) => used(format!(
            "{id} was given in this session before (position {first}), and its request is \
             not stored any more, so that this cannot be shown to be the same command; give \
             each command its own id"
        )),
        (_, error) => error,
    }
}

/// The id of a command that belongs to another one.
fn used(reason: String) -> ExecuteError {
    ExecuteError::Refused {
        index: 0,
        command: "submit_command",
        refusal: Refusal::invalid("id", reason),
    }
}

impl Annals {
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
    /// let gated = annals.gate(session, &push).await?;
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
        &self,
        session: SessionId,
        command: &AgentCommand,
    ) -> Result<Gated, ExecuteError> {
        let actor = ActorRef::agent(session.to_string());
        self.by(&actor).gate(session, command).await
    }

    /// The recorded commands of sessions under another policy profile; see
    /// [`annals_projections::session_replay`]. Nothing is written to the log.
    ///
    /// # Errors
    /// [`SessionReplayError`].
    pub async fn replay_sessions(
        &self,
        sessions: &[SessionId],
        profile: &PolicyProfile,
        options: SessionReplayOptions<'_>,
    ) -> Result<SessionsReplay, SessionReplayError> {
        session_replay::replay_sessions(self.log.as_ref(), sessions, profile, options).await
    }

    /// What the gate said in a batch that is in the log already.
    pub(crate) async fn verdict_in(
        &self,
        appended: Appended,
    ) -> Result<Option<(CommandId, Verdict)>, LoadError> {
        let mut given = None;
        for position in appended.first.0..=appended.last.0 {
            let Some(record) = self.record(Position(position)).await? else {
                continue;
            };
            let entry = self.entry(&record).await?;
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
    /// [`Annals::gate`].
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
    let (command, verdict) = outcome.verdict.ok_or(ExecuteError::Empty)?;
    Ok(Gated {
        command,
        verdict,
        position,
    })
}
