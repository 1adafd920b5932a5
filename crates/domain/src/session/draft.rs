//! A decision about a session while it is made: the events so far, and the
//! session as they leave it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::own_work::{IMPORTER, reads_like_importer};
use super::{
    ApprovalExpired, ApprovalRequired, CommandAccepted, CommandKind, CommandQueued,
    CommandRejected, Correlation, Event, Judgement, LAST_ENDED, PUSH, Pending, PendingCommand,
    RATE_LIMIT_SCOPE, RejectionRule, Session, SessionStatus, State, Throttled, TokenSource, gate,
};
use crate::bucket::{self, Level, Limit};
use crate::pieces::Pieces;
use crate::world::{Emitted, World};
use crate::{
    ActorRef, AnyEvent, CommandId, DecideError, Kind, Meta, Naming, Origin, Refusal, SessionId,
    StreamRef, Timestamp,
};

/// Sessions above a session that are looked at, at most.
const MAX_PARENTS: usize = 64;
/// The most commands of a session that wait for an approval.
const MAX_WAITING: usize = 1_000;

/// A decision about a session. The session itself is only copied for decisions
/// that look at what their own events do to it ([`Draft::fork`]): it may have
/// many open commands, and most decisions are about one.
pub(super) struct Draft<'a> {
    world: &'a mut World,
    id: SessionId,
    meta: &'a Meta,
    before: Arc<Session>,
    after: Option<Box<Session>>,
    /// Buckets that sessions share, as this decision leaves them.
    buckets: HashMap<StreamRef, Option<Level>>,
    emitted: Vec<Emitted>,
}

/// A bucket that sessions share, with the limit under which one of them takes from it.
pub(super) struct LimitedBucket {
    stream: StreamRef,
    limit: Limit,
    /// The name of that session's profile.
    profile: String,
}

/// Refuses a command in the name of the importer, or in one that reads like it.
pub(super) fn refuse_importer(actor: &ActorRef) -> Result<(), Refusal> {
    if !reads_like_importer(actor) {
        return Ok(());
    }
    let reason = format!(
        "events of other systems are recorded in the name of system {IMPORTER:?}, and no command is given in it; name \
         another actor"
    );
    Err(Refusal::NotPermitted { reason })
}

impl<'a> Draft<'a> {
    /// Begins a decision about a session that is there.
    pub(super) fn of(
        world: &'a mut World,
        id: SessionId,
        meta: &'a Meta,
    ) -> Result<Draft<'a>, DecideError> {
        refuse_importer(&meta.actor)?;
        let before = match &*world.session(id)? {
            State::Known(session) => Arc::clone(session),
            State::Absent => {
                let kind = Kind::Session;
                return Err(Refusal::NotFound { kind, id: id.0 }.into());
            }
        };
        Ok(Draft {
            world,
            id,
            meta,
            before,
            after: None,
            buckets: HashMap::new(),
            emitted: Vec::new(),
        })
    }

    /// The session: as this decision's events leave it, if it was forked, and
    /// else as it was before.
    pub(super) fn session(&self) -> &Session {
        self.after.as_deref().unwrap_or(&self.before)
    }

    /// From here on the session is seen as the events leave it.
    pub(super) fn fork(&mut self) {
        if self.after.is_none() {
            self.after = Some(Box::new(Session::clone(&self.before)));
        }
    }

    pub(super) fn id(&self) -> SessionId {
        self.id
    }

    pub(super) fn world(&mut self) -> &mut World {
        self.world
    }

    /// Adds an event.
    pub(super) fn push(&mut self, event: impl Into<Event>, pieces: Pieces) {
        let event = event.into();
        if let Some(session) = &mut self.after {
            let at = self.meta.time_of_session(&event);
            session.evolve(&event, &Origin::new(at, &self.meta.actor));
        }
        self.emitted.push(Emitted {
            stream: self.id.stream(),
            event: AnyEvent::Session(event),
            pieces,
        });
    }

    /// Adds an event of another aggregate.
    pub(super) fn push_other(&mut self, emitted: Emitted) {
        self.emitted.push(emitted);
    }

    pub(super) fn done(self) -> Vec<Emitted> {
        self.emitted
    }

    /// The bucket of a kind of commands, or of its agent's calls, if the session shares one.
    fn bucket(&mut self, kind: CommandKind) -> Result<Option<StreamRef>, DecideError> {
        let session = self.after.as_deref().unwrap_or(&self.before);
        let name = session.bucket(kind);
        name.map(|name| self.world.bucket_stream(name)).transpose()
    }

    /// What is in the bucket of a kind of commands, if the profile has a cap on it or limits the agent's calls.
    pub(super) fn shared(&mut self, kind: CommandKind) -> Result<Option<Level>, DecideError> {
        let Some(bucket) = self.bucket(kind)? else {
            return Ok(None);
        };
        self.level(bucket)
    }

    fn level(&mut self, bucket: StreamRef) -> Result<Option<Level>, DecideError> {
        if let Some(level) = self.buckets.get(&bucket) {
            return Ok(*level);
        }
        let level = self.world.bucket(bucket)?.level;
        self.buckets.insert(bucket, level);
        Ok(level)
    }

    /// The buckets of the sessions that this one was begun by, for a kind of commands, and their levels: what a session
    /// does counts as theirs, so that beginning one gives no further tokens. Each is there once, and none is its own.
    pub(super) fn above(&mut self, kind: CommandKind) -> Result<Vec<LimitedBucket>, DecideError> {
        let own = self.bucket(kind)?;
        let (mut found, mut next) = (Vec::new(), self.session().parent);
        // Other systems' sessions may name each other.
        for _ in 0..MAX_PARENTS {
            let Some(parent) = next else {
                break;
            };
            let state = self.world.session_if_any(parent)?;
            let Some(State::Known(parent)) = state.as_deref() else {
                break;
            };
            next = parent.parent;
            let Some(limit) = parent.limit_of(kind) else {
                continue;
            };
            let policy = gate::policy(parent)?;
            let Some(name) = parent.bucket(kind) else {
                continue;
            };
            let stream = self.world.bucket_stream(name)?;
            let is_there = |it: &LimitedBucket| it.stream == stream;
            if Some(stream) != own && !found.iter().any(is_there) {
                let profile = policy.name.clone();
                found.push(LimitedBucket {
                    stream,
                    limit,
                    profile,
                });
            }
        }
        for bucket in &found {
            self.level(bucket.stream)?;
        }
        Ok(found)
    }

    /// A judgement, where the buckets of the sessions above have a say, too.
    fn within_above(
        &mut self,
        kind: CommandKind,
        judgement: Judgement,
    ) -> Result<Judgement, DecideError> {
        if !matches!(judgement, Judgement::Accepted { .. }) {
            return Ok(judgement);
        }
        let mut latest = None;
        for bucket in self.above(kind)? {
            let level = self.level(bucket.stream)?;
            latest = latest.max(bucket.limit.check(level, self.meta.now).err());
        }
        Ok(
            latest.map_or(judgement, |retry_after| Judgement::Throttled {
                retry_after,
            }),
        )
    }

    /// Why the sessions that this one was begun by let it do nothing, if so: one of them is paused or over.
    pub(super) fn parent_closed(&mut self) -> Result<Option<String>, DecideError> {
        let mut next = self.session().parent;
        // Other systems' sessions may name each other.
        for _ in 0..MAX_PARENTS {
            let Some(parent) = next else {
                return Ok(None);
            };
            let state = self.world.session_if_any(parent)?;
            let Some(State::Known(parent)) = state.as_deref() else {
                return Ok(None);
            };
            if let Some(reason) = gate::closed(parent.status) {
                return Ok(Some(format!("Parent: {reason}")));
            }
            next = parent.parent;
        }
        Ok(None)
    }

    /// The other sessions that work in this one's repository and belong to its family: those above it, and all that
    /// these began. They share what is checked out there.
    pub(super) fn family(&mut self) -> Result<Vec<(SessionId, Arc<Session>)>, DecideError> {
        let (own, repo) = (self.id, self.session().repo.clone());
        let (mut root, mut next) = (own, self.session().parent);
        // Other systems' sessions may name each other.
        for _ in 0..MAX_PARENTS {
            let Some(parent) = next else {
                break;
            };
            let state = self.world.session_if_any(parent)?;
            let Some(State::Known(state)) = state.as_deref() else {
                break;
            };
            (root, next) = (parent, state.parent);
        }
        let (mut found, mut seen) = (Vec::new(), HashSet::from([root]));
        let mut level = vec![root];
        while !level.is_empty() {
            let field = Naming::SessionParent;
            self.world
                .load_all(level.iter().map(|session| session.stream()))?;
            self.world
                .load_naming(field, level.iter().map(|session| session.0))?;
            let mut below = Vec::new();
            for id in level {
                let state = self.world.session_if_any(id)?;
                if let Some(State::Known(session)) = state.as_deref()
                    && id != own
                {
                    found.push((id, Arc::clone(session)));
                }
                let children = self.world.naming(field, id.0)?;
                let children = children.into_iter().map(SessionId);
                below.extend(children.filter(|child| seen.insert(*child)));
            }
            level = below;
        }
        // Of a session that a version before this created, the repository is not known.
        found.retain(|(_, it)| it.repo.is_none() || repo.is_none() || it.repo == repo);
        Ok(found)
    }

    /// Forgets the tests that passed before a change by another session of the family, for this decision.
    fn void_tests(&mut self) -> Result<(), DecideError> {
        let session = self.session();
        let policy = session.policy.as_deref();
        let are_required = policy.is_some_and(|policy| policy.require_tests_before_push);
        if !are_required || session.tested.is_empty() {
            return Ok(());
        }
        let family = self.family()?;
        let changed = family.iter().filter_map(|(_, it)| it.changed_at).max();
        let session = self.session();
        let is_void = |repo: &&String| session.tested_at.get(*repo).copied() <= changed;
        let void: Vec<String> = session.tested.keys().filter(is_void).cloned().collect();
        if changed.is_none() || void.is_empty() {
            return Ok(());
        }
        self.fork();
        if let Some(session) = &mut self.after {
            session.tested.retain(|repo, _| !void.contains(repo));
        }
        Ok(())
    }

    /// Judges a command that was just received; whether it was accepted.
    pub(super) fn judge(&mut self, waiting: &PendingCommand) -> Result<bool, DecideError> {
        if waiting.facts.kind == CommandKind::Push {
            self.void_tests()?;
        }
        let shared = match gate::closed(self.session().status) {
            Some(_) => None,
            None => self.shared(waiting.facts.kind)?,
        };
        let mut judgement = gate::judge(self.session(), &waiting.facts, self.meta.now, shared)?;
        let is_open = gate::closed(self.session().status).is_none();
        if is_open && let Some(reason) = self.parent_closed()? {
            let rule = Some(RejectionRule::ParentClosed);
            judgement = Judgement::Rejected { reason, rule };
        }
        let judgement = self.within_above(waiting.facts.kind, judgement)?;
        let accepted = matches!(judgement, Judgement::Accepted { .. });
        self.verdict(waiting, judgement)?;
        Ok(accepted)
    }

    /// Adds what became of a command.
    fn verdict(
        &mut self,
        waiting: &PendingCommand,
        judgement: Judgement,
    ) -> Result<(), DecideError> {
        match judgement {
            Judgement::Rejected { reason, rule } => self.reject(waiting, &reason, rule),
            Judgement::Throttled { retry_after } => {
                let mut pieces = Pieces::new();
                let event = Throttled {
                    scope: pieces.text(RATE_LIMIT_SCOPE),
                    retry_after,
                    correlation: waiting.correlation.clone(),
                };
                self.push(event, pieces);
            }
            Judgement::Unsaid(unsaid) => return Err(unsaid.refusal().into()),
            Judgement::Queued => self.queue(waiting),
            Judgement::Accepted { token } => self.accept(waiting, token)?,
        }
        Ok(())
    }

    fn reject(&mut self, waiting: &PendingCommand, reason: &str, rule: Option<RejectionRule>) {
        let mut pieces = Pieces::new();
        let event = CommandRejected {
            command: waiting.command,
            reason: pieces.text(reason),
            rule,
            correlation: waiting.correlation.clone(),
        };
        self.push(event, pieces);
    }

    fn queue(&mut self, waiting: &PendingCommand) {
        let event = CommandQueued {
            command: waiting.command,
            correlation: waiting.correlation.clone(),
        };
        self.push(event, Pieces::new());
        let session = self.session();
        let asked = session.pending.iter().find(|pending| !pending.explicit);
        match asked.cloned() {
            None => self.require(waiting.command, vec![PUSH.to_owned()], false),
            Some(pending) if session.status != SessionStatus::NeedsApproval => {
                self.ask_again(pending);
            }
            Some(_) => {}
        }
    }

    /// Requests an approval.
    pub(super) fn require(&mut self, request: CommandId, actions: Vec<String>, explicit: bool) {
        let event = ApprovalRequired {
            request,
            actions,
            explicit,
            expires_at: self.expiry(),
        };
        self.push(event, Pieces::new());
    }

    fn expiry(&self) -> Option<Timestamp> {
        let seconds = i64::try_from(self.session().approval_expiry_seconds?).ok();
        let delta = seconds.and_then(chrono::TimeDelta::try_seconds);
        let time = delta.and_then(|delta| self.meta.now.to_utc().checked_add_signed(delta));
        Some(
            time.map_or_else(bucket::latest, Timestamp::from)
                .min(bucket::latest()),
        )
    }

    fn accept(&mut self, waiting: &PendingCommand, token: TokenSource) -> Result<(), DecideError> {
        let event = CommandAccepted {
            command: waiting.command,
            token,
            correlation: waiting.correlation.clone(),
        };
        self.push(event, Pieces::new());
        let kind = waiting.facts.kind;
        for bucket in self.above(kind)? {
            self.take(waiting, bucket);
        }
        if token == TokenSource::Shared
            && let Some(stream) = self.bucket(kind)?
            && let Some(limit) = self.session().limit_of(kind)
        {
            let profile = gate::policy(self.session())?.name.clone();
            self.take(
                waiting,
                LimitedBucket {
                    stream,
                    limit,
                    profile,
                },
            );
        }
        Ok(())
    }

    /// Takes a token from a bucket that sessions share.
    fn take(&mut self, waiting: &PendingCommand, bucket: LimitedBucket) {
        let LimitedBucket {
            stream,
            limit,
            profile,
        } = bucket;
        let mut pieces = Pieces::new();
        let event = bucket::Taken {
            session: self.id,
            command: waiting.command,
            kind: waiting.facts.kind,
            profile: pieces.text(profile),
            capacity: limit.capacity,
            per_minute: limit.per_minute,
        };
        let level = self.buckets.entry(stream).or_default();
        *level = Some(limit.take(*level, self.meta.now));
        self.push_other(Emitted {
            stream,
            event: AnyEvent::Bucket(event.into()),
            pieces,
        });
    }

    /// Judges the commands that wait, in their order, until one must wait on: a
    /// push is not judged by an approval of something else.
    pub(super) fn drain(&mut self) -> Result<(), DecideError> {
        if self.session().status == SessionStatus::Paused {
            return Ok(());
        }
        let closed = self.parent_closed()?;
        if !self.session().queue.is_empty() {
            self.void_tests()?;
        }
        while let Some(waiting) = self.session().queue.front().cloned() {
            let policy = gate::policy(self.session())?;
            if gate::needs_approval(self.session(), policy, waiting.facts.kind) {
                break;
            }
            if let Some(reason) = &closed {
                self.reject(&waiting, reason, Some(RejectionRule::ParentClosed));
                continue;
            }
            let shared = self.shared(waiting.facts.kind)?;
            let policy = gate::policy(self.session())?;
            let judged = match gate::admit(
                self.session(),
                policy,
                &waiting.facts,
                self.meta.now,
                shared,
            ) {
                // Nothing more will be known of it, and what waits behind it must not wait for that.
                Judgement::Unsaid(unsaid) => Judgement::Rejected {
                    reason: gate::POLICY_VIOLATION.to_owned(),
                    rule: Some(unsaid.rule()),
                },
                judged => judged,
            };
            let judged = self.within_above(waiting.facts.kind, judged)?;
            self.verdict(&waiting, judged)?;
        }
        Ok(())
    }

    /// Rejects all commands that wait.
    pub(super) fn reject_queue(&mut self, reason: &str, rule: Option<&RejectionRule>) {
        for waiting in self.session().queue.clone() {
            self.reject(&waiting, reason, rule.cloned());
        }
    }

    /// Goes on asking for what is still pending, unless the session is paused.
    pub(super) fn ask_on(&mut self) {
        if self.session().status == SessionStatus::Paused {
            return;
        }
        let Some(pending) = self.session().pending.first().cloned() else {
            if let Some(waiting) = self.session().queue.front().cloned() {
                self.require(waiting.command, vec![PUSH.to_owned()], false);
            }
            return;
        };
        self.ask_again(pending);
    }

    fn ask_again(&mut self, pending: Pending) {
        let Pending {
            request,
            by: _,
            actions,
            explicit,
            expires_at,
        } = pending;
        let event = ApprovalRequired {
            request,
            actions,
            explicit,
            expires_at,
        };
        self.push(event, Pieces::new());
    }

    /// Lets approvals expire whose time has come.
    pub(super) fn expire(&mut self) {
        while let Some(request) = self.expired() {
            self.fork();
            let rule = RejectionRule::ApprovalExpired;
            self.reject_queue(rule.as_str(), Some(&rule));
            self.push(ApprovalExpired { request }, Pieces::new());
            if !self.session().pending.is_empty() {
                self.ask_on();
            }
        }
    }

    fn expired(&self) -> Option<CommandId> {
        let due = |pending: &&Pending| pending.expires_at.is_some_and(|time| time <= self.meta.now);
        self.session()
            .pending
            .iter()
            .find(due)
            .map(|pending| pending.request)
    }

    /// There is an end to what may wait for one answer, which is one append.
    pub(super) fn has_room(&self) -> Result<(), Refusal> {
        let session = self.session();
        let waits = session.queue.len().max(session.pending.len());
        if waits < MAX_WAITING {
            return Ok(());
        }
        let reason = format!(
            "{MAX_WAITING} commands of it wait for an approval; approve or deny that first"
        );
        Err(Refusal::invalid("session", reason))
    }

    /// The command, if it was accepted and has not ended.
    pub(super) fn open(&self, command: CommandId) -> Result<Correlation, Refusal> {
        match self.session().open.get(&command) {
            Some(open) => Ok(Correlation {
                command: Some(command),
                ..open.correlation.clone()
            }),
            None => {
                let reason = format!(
                    "{command} is not an open command of this session: expected one that was \
                     accepted and has not ended"
                );
                Err(Refusal::invalid("id", reason))
            }
        }
    }

    /// What belongs to a command that was accepted, ended or not.
    pub(super) fn accepted(&self, command: CommandId) -> Result<Correlation, Refusal> {
        if let Some(ended) = self.session().ended_command(command) {
            return Ok(Correlation {
                command: Some(command),
                ..ended.clone()
            });
        }
        self.open(command).map_err(|_| {
            let reason = format!(
                "{command} is not a known command of this session: expected one that was accepted \
                 and has not ended, or is among the last {LAST_ENDED} that did; without an id it is \
                 recorded for the session"
            );
            Refusal::invalid("id", reason)
        })
    }

    pub(super) fn refuse(&self, asked: &'static str, allowed: &'static str) -> DecideError {
        Refusal::Transition {
            kind: Kind::Session,
            id: self.id.0,
            state: self.session().status.to_string(),
            asked,
            allowed,
        }
        .into()
    }
}
