//! What is accepted of a session, and what happens then: its life, its commands
//! and its approvals.

use super::actions::granted;
use super::draft::{Draft, refuse_importer};
use super::plan::{LENGTH, STAND};
pub(crate) use super::results::{
    attach_run, complete_command, link_plan_task, record_artifact, record_backlog, record_conflict,
    record_work_item, update_plan,
};
use super::strictness::at_least_as_strict;
use super::{
    AbortSession, Aborted, AgentCommand, ApprovalDenied, ApproveSession, Approved, CommandBody,
    CommandKind, CommandReceived, CompleteSession, Completed, CreateSession, Created, DenySession,
    Event, ExpireApprovals, PauseSession, Paused, Pending, PendingCommand, RejectionRule,
    ResumeSession, Resumed, Session, SessionConfig, SessionStatus, StoredConfig, SubmitCommand,
    gate,
};
use crate::input::plain_path;
use crate::origin::is_human;
use crate::pieces::Pieces;
use crate::refusal::not_blank;
use crate::settings::Setting;
use crate::world::{Decided, Emitted, World};
use crate::{AnyEvent, By, CommandId, DecideError, Meta, Refusal, SessionId, approval};

/// Bytes of all that the gate compares in one command, each text with its
/// length, or what is stored instead of it: half of what an event's structure has room for.
const MAX_COMPARED: usize = 32 * 1024;
/// After how many failures in a row a session pauses, unless it says otherwise.
pub const PAUSE_AFTER_FAILURES: u32 = 3;

pub(crate) fn create(world: &mut World, command: &CreateSession, meta: &Meta) -> Decided {
    let config = &command.config;
    let id = config.session_id;
    refuse_importer(&meta.actor)?;
    config.check()?;
    world.unused(id.0)?;
    world.absent(id.stream())?;
    let mut bounds = Bounds::default();
    if let Some(parent) = config.parent_session_id {
        let mut parent = Draft::of(world, SessionId(parent), meta)?;
        may_begin_child(&mut parent, config)?;
        bounds = Bounds::of(parent.session());
    }
    let mut pieces = Pieces::new();
    let event = Created {
        config: StoredConfig::store(config, &mut pieces),
        approval_expiry_seconds: bounds.expiry(command.approval_expiry_seconds)?,
        pause_after_failures: bounds.pause(command.pause_after_failures)?,
    };
    Ok(vec![Emitted {
        stream: id.stream(),
        event: AnyEvent::Session(Event::from(event)),
        pieces,
    }])
}

/// The settings of a parent session, which those of a child do not exceed.
#[derive(Default)]
struct Bounds {
    /// After how many seconds its approvals expire.
    expiry: Option<u64>,
    /// After how many failures in a row it pauses; 0 is never.
    pause: u32,
}

impl Bounds {
    fn of(parent: &Session) -> Bounds {
        Bounds {
            expiry: parent.approval_expiry_seconds,
            pause: parent.pause_after_failures,
        }
    }

    /// The expiry that was given, or else the parent's.
    fn expiry(&self, given: Option<u64>) -> Result<Option<u64>, Refusal> {
        match (self.expiry, given) {
            (Some(most), Some(given)) if given > most => {
                let reason = format!(
                    "approvals of the parent session expire after {most} s: expected at most {most}"
                );
                Err(Refusal::invalid("approval_expiry_seconds", reason))
            }
            (bound, given) => Ok(given.or(bound)),
        }
    }

    /// The number of failures that was given, or else the default, as far as the parent allows it.
    fn pause(&self, given: Option<u32>) -> Result<u32, Refusal> {
        let most = self.pause;
        match given {
            Some(given) if most > 0 && (given == 0 || given > most) => {
                let reason = format!(
                    "the parent session pauses after {most} failures in a row: expected 1 to {most}"
                );
                Err(Refusal::invalid("pause_after_failures", reason))
            }
            Some(given) => Ok(given),
            None if most > 0 => Ok(most.min(PAUSE_AFTER_FAILURES)),
            None => Ok(PAUSE_AFTER_FAILURES),
        }
    }
}

/// Whether a session may be begun by another one: that is open, and at least as strict.
fn may_begin_child(parent: &mut Draft<'_>, config: &SessionConfig) -> Result<(), DecideError> {
    let closed = gate::closed(parent.session().status);
    if let Some(reason) = closed.or(parent.parent_closed()?) {
        let reason = format!("it begins no session now: {reason}");
        return Err(Refusal::invalid("config.parentSessionId", reason).into());
    }
    let repo = plain_path(&config.repo.path);
    let session = parent.session();
    if session.repo.as_ref().is_some_and(|own| *own != repo) {
        let reason =
            "it is another repository than that of the parent session: expected the same path";
        return Err(Refusal::invalid("config.repo.path", reason).into());
    }
    at_least_as_strict(&config.policy, gate::policy(session)?)?;
    Ok(())
}

/// What an agent asks to be begun is a child of its own session.
fn may_spawn(draft: &mut Draft<'_>, config: &SessionConfig) -> Result<(), DecideError> {
    config.check()?;
    let own = draft.id();
    if config
        .parent_session_id
        .is_some_and(|parent| parent != own.0)
    {
        let reason = format!("a session begins sessions of its own: expected {own}, or none");
        return Err(Refusal::invalid("config.parentSessionId", reason).into());
    }
    // What is begun later gets the id, and has to be another session than any that there is.
    let spawned = config.session_id;
    draft.world().unused(spawned.0)?;
    draft.world().absent(spawned.stream())?;
    may_begin_child(draft, config)
}

/// Refuses a time of the caller's that is too far from the log's clock. The gate goes by the latter.
fn near_the_clock(world: &mut World, meta: &Meta) -> Result<(), DecideError> {
    if meta.at == meta.now {
        return Ok(());
    }
    let skew = world.settings()?.clock_skew;
    let away = (meta.at.to_utc() - meta.now.to_utc()).abs();
    if away <= chrono::TimeDelta::seconds(i64::from(skew)) {
        return Ok(());
    }
    let reason = format!(
        "{} is too far from the log's clock, {}: expected a time at most {skew} s away from it; leave it out, or have a person set {}",
        meta.at,
        meta.now,
        Setting::ClockSkew
    );
    Err(Refusal::invalid("at", reason).into())
}

pub(crate) fn submit(world: &mut World, command: &SubmitCommand, meta: &Meta) -> Decided {
    near_the_clock(world, meta)?;
    let mut draft = Draft::of(world, command.session, meta)?;
    if gate::closed(draft.session().status).is_none() {
        gate::policy(draft.session())?;
    }
    let given = AgentCommand {
        id: command.id.unwrap_or(CommandId(meta.new_id)),
        parent: command.parent,
        plan_node: command.plan_node.clone(),
        branch: command.branch.clone(),
        files: command.files.clone(),
        body: command.submit.clone(),
    };
    given.check()?;
    check_new(&draft, given.id)?;
    if gate::closed(draft.session().status).is_none() {
        // All that the decision needs is requested before any of its work.
        draft.shared(given.body.kind())?;
        draft.above(given.body.kind())?;
    }
    draft.expire();
    if may_wait(&draft, given.body.kind()) {
        draft.has_room()?;
    }
    let mut pieces = Pieces::new();
    let mut received = given.received(given.correlation(), &mut pieces)?;
    check_room(&received)?;
    if let Some(files) = amended_files(&mut draft, &given)? {
        received.facts.files = Some(files);
    }
    let waiting = waiting(&received, By::from(&meta.actor));
    draft.push(received, pieces);
    let accepted = draft.judge(&waiting)?;
    if accepted && let CommandBody::SpawnSession(spawn) = &given.body {
        may_spawn(&mut draft, &spawn.config)?;
    }
    if accepted && waiting.facts.kind == CommandKind::RequestApproval {
        draft.require(given.id, waiting.facts.actions, true);
    }
    Ok(draft.done())
}

/// How many files a commit changes that amends another one, where the policy limits them.
fn amended_files(draft: &mut Draft<'_>, given: &AgentCommand) -> Result<Option<u32>, DecideError> {
    let (CommandBody::Commit(commit), Some(files)) = (&given.body, &given.files) else {
        return Ok(None);
    };
    let policy = draft.session().policy.as_ref();
    let is_limited = policy.is_some_and(|policy| policy.max_files_per_commit.is_some());
    let is_open = gate::closed(draft.session().status).is_none();
    if !commit.amend || !is_limited || !is_open {
        return Ok(None);
    }
    let mut sessions = vec![draft.id()];
    sessions.extend(draft.family()?.into_iter().map(|(session, _)| session));
    draft.world().amended_files(&sessions, commit, files)
}

/// What the gate compares is kept in the event itself, and has little room.
fn check_room(received: &CommandReceived) -> Result<(), Refusal> {
    let facts = &received.facts;
    let texts = [&facts.repo, &facts.branch, &facts.work_item, &facts.state];
    let named = texts.into_iter().chain([&received.correlation.plan_node]);
    let compared = named.flatten().chain(&facts.actions);
    let bytes: usize = compared.map(|text| text.len().max(STAND) + LENGTH).sum();
    if bytes <= MAX_COMPARED {
        return Ok(());
    }
    let reason = format!(
        "the repository's path, the branch, the ticket and its state, the actions and the plan's \
         node have {bytes} bytes, each counted as at least {STAND} and {LENGTH} more, and may have \
         {MAX_COMPARED}; shorten them"
    );
    Err(Refusal::invalid("submit", reason))
}

/// Whether a command may have to wait, or lets others ask.
fn may_wait(draft: &Draft<'_>, kind: CommandKind) -> bool {
    let session = draft.session();
    let policy = session.policy.as_deref();
    gate::closed(session.status).is_none()
        && (kind == CommandKind::RequestApproval
            || policy.is_some_and(|policy| gate::needs_approval(session, policy, kind)))
}

fn waiting(received: &CommandReceived, by: By) -> PendingCommand {
    PendingCommand {
        command: received.command,
        by,
        facts: received.facts.clone(),
        correlation: received.correlation.clone(),
    }
}

/// A command's id is new, as far as the session remembers. That it never had a
/// verdict here is what its batch's key is for.
fn check_new(draft: &Draft<'_>, id: CommandId) -> Result<(), Refusal> {
    let session = draft.session();
    let waits = session.queue.iter().chain(&session.received);
    let taken_over = session.commands.as_ref();
    let known = session.open.contains_key(&id)
        || waits.into_iter().any(|w| w.command == id)
        || taken_over.is_some_and(|commands| commands.contains(&id));
    if known {
        let reason = format!("{id} is a command of this session already; give each its own id");
        return Err(Refusal::invalid("id", reason));
    }
    Ok(())
}

/// The approval that is answered: the one that is named, or the oldest.
fn asked(
    draft: &Draft<'_>,
    request: Option<CommandId>,
    what: &'static str,
) -> Result<Option<Pending>, DecideError> {
    let session = draft.session();
    if session.status != SessionStatus::NeedsApproval && session.pending.is_empty() {
        return Err(draft.refuse(what, "NeedsApproval"));
    }
    let Some(request) = request else {
        return Ok(session.pending.first().cloned());
    };
    let found = session
        .pending
        .iter()
        .find(|pending| pending.request == request);
    let pending = found.ok_or_else(|| {
        let known: Vec<String> = session
            .pending
            .iter()
            .map(|pending| pending.request.to_string())
            .collect();
        let reason = format!(
            "{request} asks for no approval; {} does",
            known.join(" or ")
        );
        Refusal::invalid("request", reason)
    })?;
    Ok(Some(pending.clone()))
}

/// An approval that has expired cannot be answered any more.
fn in_time(pending: Option<&Pending>, meta: &Meta) -> Result<(), Refusal> {
    match pending.and_then(|pending| pending.expires_at) {
        Some(time) if time <= meta.now => {
            let reason = format!("the approval expired at {time}; expire_approvals records that");
            Err(Refusal::invalid("request", reason))
        }
        _ => Ok(()),
    }
}

pub(crate) fn approve(world: &mut World, command: &ApproveSession, meta: &Meta) -> Decided {
    near_the_clock(world, meta)?;
    let mut draft = Draft::of(world, command.session, meta)?;
    let pending = asked(&draft, command.request, "approve_session")?;
    in_time(pending.as_ref(), meta)?;
    may_approve(&mut draft, pending.as_ref(), meta)?;
    draft.fork();
    let mut pieces = Pieces::new();
    // What another system requested is not known; mostly it is a push.
    let unknown = || vec![gate::PUSH.to_owned()];
    let event = Approved {
        request: pending.as_ref().map(|pending| pending.request),
        actions: pending.map_or_else(unknown, |pending| granted(&pending.actions)),
        reason: pieces.optional_text(command.reason.as_deref()),
    };
    draft.push(event, pieces);
    draft.drain()?;
    draft.ask_on();
    Ok(draft.done())
}

/// A session asks a person, and another one than who asks: of a push, who gave any that waits.
fn may_approve(
    draft: &mut Draft<'_>,
    pending: Option<&Pending>,
    meta: &Meta,
) -> Result<(), DecideError> {
    let own_requests = draft.world().settings()?.own_requests;
    let is_push = |pending: &Pending| pending.actions.iter().any(|action| action == gate::PUSH);
    let frees_queue = pending.is_none_or(is_push);
    let queue = draft.session().queue.iter().filter(|_| frees_queue);
    let asked: Vec<&By> = pending
        .map(|pending| &pending.by)
        .into_iter()
        .chain(queue.map(|waiting| &waiting.by))
        .collect();
    approval::by_a_person("what a session asks for", &meta.actor)?;
    approval::by_another(asked, &meta.actor, own_requests)?;
    Ok(())
}

/// A denial rejects all that waits. Another actor than a person withdraws only what it asked for itself.
fn may_deny(draft: &Draft<'_>, pending: Option<&Pending>, meta: &Meta) -> Result<(), Refusal> {
    let queue = draft.session().queue.iter().map(|waiting| &waiting.by);
    let mut asked = pending.map(|pending| &pending.by).into_iter().chain(queue);
    let is_own = pending.is_some() && asked.all(|by| by.is(&meta.actor));
    match is_own {
        true => Ok(()),
        false => approval::done_by_a_person("what somebody else requested is denied", &meta.actor),
    }
}

pub(crate) fn deny(world: &mut World, command: &DenySession, meta: &Meta) -> Decided {
    not_blank("reason", &command.reason)?;
    near_the_clock(world, meta)?;
    let mut draft = Draft::of(world, command.session, meta)?;
    let pending = asked(&draft, command.request, "deny_session")?;
    in_time(pending.as_ref(), meta)?;
    may_deny(&draft, pending.as_ref(), meta)?;
    draft.fork();
    draft.reject_queue(&command.reason, Some(&RejectionRule::ApprovalDenied));
    let mut pieces = Pieces::new();
    let event = ApprovalDenied {
        request: pending.map(|pending| pending.request),
        reason: pieces.text(command.reason.as_str()),
    };
    draft.push(event, pieces);
    draft.ask_on();
    Ok(draft.done())
}

pub(crate) fn expire(world: &mut World, command: &ExpireApprovals, meta: &Meta) -> Decided {
    near_the_clock(world, meta)?;
    let mut draft = Draft::of(world, command.session, meta)?;
    draft.expire();
    Ok(draft.done())
}

pub(crate) fn pause(world: &mut World, command: &PauseSession, meta: &Meta) -> Decided {
    let mut draft = Draft::of(world, command.session, meta)?;
    let session = draft.session();
    let is_open = match session.status {
        SessionStatus::Unknown | SessionStatus::Running | SessionStatus::NeedsApproval => true,
        // A person's pause takes the place of another one's, which others may undo.
        SessionStatus::Paused => is_human(&meta.actor) && !session.paused_by_person,
        SessionStatus::Error | SessionStatus::Completed => false,
    };
    if !is_open {
        return Err(draft.refuse("pause_session", "Running or NeedsApproval"));
    }
    let mut pieces = Pieces::new();
    let event = Paused {
        reason: pieces.optional_text(command.reason.as_deref()),
        failures: None,
    };
    draft.push(event, pieces);
    Ok(draft.done())
}

pub(crate) fn resume(world: &mut World, command: &ResumeSession, meta: &Meta) -> Decided {
    let mut draft = Draft::of(world, command.session, meta)?;
    if draft.session().status != SessionStatus::Paused {
        return Err(draft.refuse("resume_session", "Paused"));
    }
    if draft.session().paused_by_person && !is_human(&meta.actor) {
        let reason = format!(
            "a person paused session {}, and a person resumes it (an actor of the kind human), not {} {:?}",
            command.session, meta.actor.kind, meta.actor.id
        );
        return Err(Refusal::NotPermitted { reason }.into());
    }
    draft.fork();
    let mut pieces = Pieces::new();
    let event = Resumed {
        reason: pieces.optional_text(command.reason.as_deref()),
    };
    draft.push(event, pieces);
    // What was approved meanwhile is judged now, and what was not is requested again.
    if draft.session().policy.is_some() {
        draft.drain()?;
    }
    draft.ask_on();
    Ok(draft.done())
}

/// Ends a session: commands that wait are rejected, and then it is over.
fn end<E: Into<Event>>(
    world: &mut World,
    (id, asked): (SessionId, &'static str),
    status: SessionStatus,
    meta: &Meta,
    event: impl FnOnce(&mut Pieces) -> E,
) -> Decided {
    let mut draft = Draft::of(world, id, meta)?;
    if draft.session().status.is_terminal() {
        return Err(draft.refuse(asked, "not yet Completed or Error"));
    }
    if draft.session().paused_by_person {
        let what = format!("session {id}, which a person paused, is ended");
        approval::done_by_a_person(&what, &meta.actor)?;
    }
    draft.reject_queue(&gate::terminal_reason(status), None);
    let mut pieces = Pieces::new();
    let event = event(&mut pieces);
    draft.push(event, pieces);
    Ok(draft.done())
}

pub(crate) fn abort(world: &mut World, command: &AbortSession, meta: &Meta) -> Decided {
    let what = (command.session, "abort_session");
    end(world, what, SessionStatus::Error, meta, |pieces| Aborted {
        reason: pieces.optional_text(command.reason.as_deref()),
    })
}

pub(crate) fn complete(world: &mut World, command: &CompleteSession, meta: &Meta) -> Decided {
    let what = (command.session, "complete_session");
    end(world, what, SessionStatus::Completed, meta, |pieces| {
        Completed {
            reason: pieces.optional_text(command.reason.as_deref()),
        }
    })
}
