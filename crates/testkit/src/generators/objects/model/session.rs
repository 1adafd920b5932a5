//! The reference for sessions: as much of the gate as the generator's profiles
//! ask for. The gate in full has a reference of its own, in the domain's tests.
//!
//! A command of a history comes a second after the one before, and histories
//! are shorter than a minute: no bucket that gets one token a minute is
//! refilled, so tokens are only counted.

use std::collections::{BTreeMap, BTreeSet};

use annals_domain::session::{
    AttachRun, CommandBody, CommandKind, CommandResult, CompleteCommand, CreateSession,
    LinkPlanTask, PolicyProfile, SubmitCommand, TaskPlan, UpdatePlan,
};
use annals_domain::{Command, CommandId, Kind, SessionId, folded};
use uuid::Uuid;

use super::judged::{Judged, demand, text};
use super::state::Shared;
use super::{Ask, Model, Session};

impl Session {
    /// The status as a session shows it.
    pub fn status(&self) -> &'static str {
        match self.life {
            "Running" if !self.asks.is_empty() => "NeedsApproval",
            life => life,
        }
    }

    fn over(&self) -> bool {
        matches!(self.life, "Error" | "Completed")
    }

    /// What was denied or has expired, and pushes that asked, are not requested
    /// any more.
    fn forget(&mut self, request: Option<Uuid>) {
        self.queue.clear();
        self.asks
            .retain(|ask| ask.explicit && ask.request != request);
    }

    fn expire(&mut self, now: u64) -> bool {
        let mut any = false;
        let due = |ask: &&Ask| ask.expires.is_some_and(|time| time <= now);
        while let Some(ask) = self.asks.iter().find(due) {
            let request = ask.request;
            self.forget(request);
            any = true;
        }
        any
    }

    /// The ask that is answered, if it can be.
    fn answered(&self, request: Option<CommandId>, now: u64) -> Option<Ask> {
        let named = |ask: &&Ask| request.is_none_or(|id| ask.request == Some(id.0));
        let ask = self.asks.iter().find(named)?;
        demand(!self.over())?;
        demand(ask.expires.is_none_or(|time| now < time))?;
        Some(ask.clone())
    }

    /// The bucket that a kind of commands takes tokens from, and how many it holds.
    fn bucket(&self, kind: &str) -> Option<((String, String), u32)> {
        let limits = self.policy.limits.as_ref()?;
        let cap = limits.per_command_caps.as_ref();
        if let Some(cap) = cap.and_then(|caps| caps.get(kind)) {
            return Some(((self.policy.name.clone(), kind.to_owned()), *cap));
        }
        let capacity = limits.burst.or(limits.calls_per_minute)?;
        limits.calls_per_minute?;
        Some((
            (self.policy.name.clone(), format!("of {}", self.agent)),
            capacity,
        ))
    }

    /// Whether there is a token for a kind of commands, in the buckets of the sessions above, too; then it is taken from
    /// each.
    fn token(&mut self, kind: &str, above: &[Session], shared: &mut Shared) -> bool {
        let above = above.iter().filter_map(|session| session.bucket(kind));
        let buckets: BTreeMap<_, _> = above.chain(self.bucket(kind)).collect();
        let taken = |bucket: &(String, String)| shared.get(bucket).copied().unwrap_or_default();
        if buckets
            .iter()
            .any(|(bucket, capacity)| taken(bucket) >= *capacity)
        {
            return false;
        }
        for bucket in buckets.into_keys() {
            *shared.entry(bucket).or_default() += 1;
        }
        true
    }

    /// Judges a command that is not held back by an approval.
    fn rate(
        &mut self,
        id: Option<Uuid>,
        kind: &str,
        above: &[Session],
        shared: &mut Shared,
    ) -> &'static str {
        if !self.token(kind, above, shared) {
            return "throttled";
        }
        self.open.extend(id.map(|id| (id, kind.to_owned())));
        "accepted"
    }

    fn ask(
        &mut self,
        (request, by): (Option<Uuid>, &'static str),
        actions: &[String],
        explicit: bool,
        now: u64,
    ) {
        self.asks.push(Ask {
            request,
            by,
            grants_push: actions.iter().any(|action| action == "Push"),
            explicit,
            expires: self.expiry.map(|seconds| now + seconds),
        });
    }

    /// The verdict on a command.
    fn judge(
        &mut self,
        (id, by): (Option<Uuid>, &'static str),
        (body, closed, above): (&CommandBody, bool, &[Session]),
        now: u64,
        shared: &mut Shared,
    ) -> &'static str {
        let kind = body.kind().to_string();
        let lists = |list: &Option<Vec<String>>| list.as_ref().map(|list| list.contains(&kind));
        let denied = lists(&self.policy.command_whitelist) == Some(false)
            || lists(&self.policy.command_blacklist) == Some(true);
        if self.life != "Running" || closed || denied {
            return "rejected";
        }
        let push = matches!(body, CommandBody::Push(_));
        if push && self.policy.require_approval_for_push && !self.may_push {
            self.queue.push((id, by));
            if self.asks.iter().all(|ask| ask.explicit) {
                self.ask((id, by), &["Push".to_owned()], false, now);
            }
            return "queued";
        }
        let verdict = self.rate(id, &kind, above, shared);
        if let ("accepted", CommandBody::RequestApproval(asks)) = (verdict, body) {
            self.ask((id, by), &asks.required_actions, true, now);
        }
        verdict
    }
}

/// Whether a policy allows nothing that another one forbids, of all that the generator's profiles say.
fn is_as_strict(child: &PolicyProfile, parent: &PolicyProfile) -> bool {
    let allows = |policy: &PolicyProfile, kind: &str| {
        let lists = |list: &Option<Vec<String>>| {
            let list = list.as_ref();
            list.map(|list| list.iter().any(|it| it == kind))
        };
        lists(&policy.command_whitelist) != Some(false)
            && lists(&policy.command_blacklist) != Some(true)
    };
    // All limits of the generator are one a minute.
    let limits = |policy: &PolicyProfile, kind: &str| {
        let limits = policy.limits.as_ref();
        limits.is_some_and(|limits| {
            let caps = limits.per_command_caps.as_ref();
            limits.calls_per_minute.is_some() || caps.is_some_and(|caps| caps.get(kind).is_some())
        })
    };
    let approval = child.require_approval_for_push || !parent.require_approval_for_push;
    approval
        && CommandKind::ALL.iter().all(|kind| {
            let kind = kind.as_str();
            !allows(child, kind)
                || (allows(parent, kind) && (limits(child, kind) || !limits(parent, kind)))
        })
}

/// Whether the nodes' ids are their own, and every node waits only for nodes
/// that do not wait for it.
fn is_plan(plan: &TaskPlan) -> bool {
    let ids: BTreeSet<&String> = plan.nodes.iter().map(|node| &node.id).collect();
    let mut left: Vec<_> = plan.nodes.iter().collect();
    let mut done: BTreeSet<&String> = BTreeSet::new();
    loop {
        let ready = |node: &&&annals_domain::session::TaskNode| {
            node.depends_on.iter().all(|id| done.contains(id))
        };
        let next: Vec<&String> = left.iter().filter(ready).map(|node| &node.id).collect();
        if next.is_empty() {
            break;
        }
        done.extend(next);
        left.retain(|node| !done.contains(&node.id));
    }
    let blank = ids.iter().any(|id| id.trim().is_empty());
    left.is_empty() && ids.len() == plan.nodes.len() && !blank
}

impl Model {
    /// The number of the command that is judged: the second of its time.
    fn now(&self) -> u64 {
        self.commands + 1
    }

    fn session(&mut self, id: SessionId) -> Option<&mut Session> {
        self.sessions.get_mut(&id.0)
    }

    /// A session that is not over.
    fn unended(&mut self, id: SessionId) -> Option<&mut Session> {
        let session = self.session(id)?;
        demand(!session.over())?;
        Some(session)
    }

    pub(super) fn judge_session(&mut self, command: &Command) -> Judged {
        let now = self.now();
        match command {
            Command::CreateSession(c) => self.create_session(c),
            Command::SubmitCommand(c) => self.submit(c),
            Command::ApproveSession(c) => {
                let ask = self.session(c.session)?.answered(c.request, now)?;
                self.may_approve(c.session, &ask)?;
                self.approve(c.session, &ask)
            }
            Command::DenySession(c) => {
                text(&c.reason)?;
                let by = self.by;
                let session = self.session(c.session)?;
                let ask = session.answered(c.request, now)?;
                let own = ask.by == "tester" && session.queue.iter().all(|(_, by)| *by == "tester");
                demand(by != "tester" || own)?;
                session.forget(ask.request);
                Some(true)
            }
            Command::ExpireApprovals(c) => Some(self.session(c.session)?.expire(now)),
            Command::PauseSession(c) => {
                let by_person = self.by != "tester";
                let session = self.unended(c.session)?;
                let takes_over = by_person && !session.paused_by_person;
                demand(session.life == "Running" || takes_over)?;
                (session.life, session.paused_by_person) = ("Paused", by_person);
                Some(true)
            }
            Command::ResumeSession(c) => self.resume(c.session),
            Command::AbortSession(c) => self.end_session(c.session, "Error"),
            Command::CompleteSession(c) => self.end_session(c.session, "Completed"),
            Command::CompleteCommand(c) => self.complete_command(c),
            Command::RecordConflict(c) => self.open_command(c.session, c.id, &["Commit", "Push"]),
            Command::RecordArtifact(c) => self.accepted_command(c.session, c.id),
            Command::RecordBacklog(c) => self.open_command(c.session, c.id, &["QueryBacklog"]),
            Command::RecordWorkItem(c) => self.open_command(c.session, c.id, &["QueryWorkItem"]),
            Command::UpdatePlan(c) => self.update_plan(c),
            Command::LinkPlanTask(c) => self.link_plan_task(c),
            Command::AttachRun(c) => self.attach_run(c),
            other => self.judge_intake(other),
        }
    }

    fn create_session(&mut self, c: &CreateSession) -> Judged {
        let config = &c.config;
        text(&config.policy.name)?;
        let parent = config.parent_session_id;
        let (mut expiry, mut pause_after) = (c.approval_expiry_seconds, c.pause_after_failures);
        if let Some(id) = parent {
            let above = self.sessions.get(&id)?;
            demand(
                above
                    .expiry
                    .is_none_or(|most| expiry.is_none_or(|it| it <= most)),
            )?;
            expiry = expiry.or(above.expiry);
            let most = above.pause_after;
            demand(most == 0 || pause_after.is_none_or(|it| it > 0 && it <= most))?;
            pause_after = pause_after.or((most > 0).then_some(most.min(3)));
            demand(!self.is_closed(Some(id)))?;
            demand(is_as_strict(
                &config.policy,
                &self.sessions.get(&id)?.policy,
            ))?;
        }
        let session = Session {
            life: "Running",
            parent,
            agent: folded(&config.agent_profile),
            policy: config.policy.clone(),
            expiry,
            pause_after: pause_after.unwrap_or(3),
            ..Session::default()
        };
        self.sessions.insert(config.session_id.0, session);
        self.place(Some(config.session_id.0), Kind::Session)
    }

    /// Whether a session or one of those above it is paused or over.
    fn is_closed(&self, session: Option<Uuid>) -> bool {
        let Some(session) = session.and_then(|id| self.sessions.get(&id)) else {
            return false;
        };
        session.life != "Running" || self.is_closed(session.parent)
    }

    /// A person's pause is undone by a person.
    fn resume(&mut self, id: SessionId) -> Judged {
        let by_person = self.by != "tester";
        let session = self.session(id)?;
        demand(session.life == "Paused")?;
        demand(by_person || !session.paused_by_person)?;
        (session.life, session.failures) = ("Running", 0);
        session.paused_by_person = false;
        self.drain(id);
        Some(true)
    }

    /// Pushes that wait and may be made are judged, unless the session is paused.
    fn drain(&mut self, id: SessionId) {
        let parent = self.sessions.get(&id.0).and_then(|session| session.parent);
        let closed = self.is_closed(parent);
        let above = self.above_session(parent);
        let Some(session) = self.sessions.get_mut(&id.0) else {
            return;
        };
        if !session.may_push || session.life != "Running" {
            return;
        }
        for (id, _) in std::mem::take(&mut session.queue) {
            if !closed {
                session.rate(id, "Push", &above, &mut self.shared);
            }
        }
    }

    /// The sessions that one was begun by, the nearest first.
    fn above_session(&self, parent: Option<Uuid>) -> Vec<Session> {
        let (mut above, mut next) = (Vec::new(), parent);
        while let Some(session) = next.and_then(|id| self.sessions.get(&id)) {
            above.push(session.clone());
            next = session.parent;
        }
        above
    }

    fn submit(&mut self, c: &SubmitCommand) -> Judged {
        if let CommandBody::Push(push) = &c.submit {
            demand(!push.branch_name.contains(' '))?;
        }
        let (now, id) = (self.now(), c.id.map(Uuid::from));
        let parent = self.sessions.get(&c.session.0)?.parent;
        let closed = self.is_closed(parent);
        let above = self.above_session(parent);
        let session = self.sessions.get_mut(&c.session.0)?;
        if let Some(id) = id {
            let waits = session.queue.iter().any(|(waits, _)| *waits == Some(id));
            demand(!session.open.contains_key(&id) && !waits)?;
        }
        session.expire(now);
        let command = (&c.submit, closed, above.as_slice());
        self.verdict = Some(session.judge((id, self.by), command, now, &mut self.shared));
        Some(true)
    }

    /// A person approves, and none of those whose commands it frees.
    fn may_approve(&mut self, session: SessionId, ask: &Ask) -> Option<()> {
        let (by, own) = (self.by, self.settings.own);
        demand(by != "tester")?;
        let session = self.session(session)?;
        let mut freed = session.queue.iter().filter(|_| ask.grants_push);
        demand(own || (ask.by != by && freed.all(|(_, giver)| *giver != by)))
    }

    /// Pushes are all that waits, and all of them for the same.
    fn approve(&mut self, id: SessionId, ask: &Ask) -> Judged {
        let session = self.sessions.get_mut(&id.0)?;
        session.may_push |= ask.grants_push;
        let may_push = session.may_push;
        session
            .asks
            .retain(|other| other.request != ask.request && (other.explicit || !may_push));
        self.drain(id);
        Some(true)
    }

    fn end_session(&mut self, session: SessionId, life: &'static str) -> Judged {
        let by_person = self.by != "tester";
        let session = self.unended(session)?;
        demand(by_person || !session.paused_by_person)?;
        session.life = life;
        session.queue.clear();
        session.asks.clear();
        Some(true)
    }

    /// A result is for an open command of a kind that has such results.
    fn open_command(&mut self, session: SessionId, id: CommandId, kinds: &[&str]) -> Judged {
        let kind = self.session(session)?.open.get(&id.0)?;
        demand(kinds.contains(&kind.as_str())).map(|()| true)
    }

    /// A command that ended may still have made something, and so may the session itself.
    fn accepted_command(&mut self, session: SessionId, id: Option<CommandId>) -> Judged {
        let session = self.session(session)?;
        let is_known =
            |id: CommandId| session.open.contains_key(&id.0) || session.ended.contains(&id.0);
        demand(id.is_none_or(is_known)).map(|()| true)
    }

    fn complete_command(&mut self, c: &CompleteCommand) -> Judged {
        let session = self.session(c.session)?;
        session.open.remove(&c.id.0)?;
        session.ended.insert(c.id.0);
        session.failures = match c.outcome {
            CommandResult::Success => 0,
            CommandResult::Failure => session.failures + 1,
        };
        let most = session.pause_after;
        if most > 0 && session.failures >= most && session.life == "Running" {
            (session.life, session.paused_by_person) = ("Paused", false);
        }
        Some(true)
    }

    fn update_plan(&mut self, c: &UpdatePlan) -> Judged {
        demand(is_plan(&c.plan))?;
        let nodes = c.plan.nodes.iter().map(|node| node.id.clone()).collect();
        self.unended(c.session)?.nodes = nodes;
        Some(true)
    }

    fn link_plan_task(&mut self, c: &LinkPlanTask) -> Judged {
        demand(self.unended(c.session)?.nodes.contains(&c.node))?;
        demand(self.tasks.contains_key(&c.task.0)).map(|()| true)
    }

    fn attach_run(&mut self, c: &AttachRun) -> Judged {
        if self.unended(c.session)?.run == Some(c.run.0) {
            return Some(false);
        }
        self.unfinished(c.run.0)?;
        self.unended(c.session)?.run = Some(c.run.0);
        Some(true)
    }
}
