//! Commands about sessions, and commands of agents.

use annals_domain::session::*;
use annals_domain::{Command, CommandId, Kind, SessionId};
use uuid::Uuid;

use super::super::model;
use super::Draw;

const NODES: [&str; 4] = ["a", "b", "c", " "];

impl Draw<'_> {
    /// A session, and what the model knows of it.
    fn session_of(&mut self) -> (SessionId, Option<model::Session>) {
        let id = self.of(Kind::Session);
        (id.into(), self.model.sessions.get(&id).cloned())
    }

    /// A command that a session accepted and that has not ended; sometimes one
    /// that waits, or none.
    fn open_command(&mut self, session: Option<&model::Session>) -> CommandId {
        let Some(session) = session else {
            return Uuid::from_u128(7).into();
        };
        let open: Vec<Uuid> = session.open.keys().copied().collect();
        let waiting: Vec<Uuid> = session.queue.iter().filter_map(|(id, _)| *id).collect();
        let from = if self.dice.once_in(10) { waiting } else { open };
        let picked = self.dice.pick(&from);
        picked.unwrap_or(Uuid::from_u128(7)).into()
    }

    fn request(&mut self, session: Option<&model::Session>) -> Option<CommandId> {
        let named = self.dice.once_in(3);
        let asks = session.map_or(&[][..], |session| &session.asks);
        let known: Vec<Uuid> = asks.iter().filter_map(|ask| ask.request).collect();
        let request = self.dice.pick(&known);
        let request = request.filter(|_| !self.dice.once_in(8));
        named.then(|| request.unwrap_or(Uuid::from_u128(7)).into())
    }

    /// A profile that the model judges by; now and then one that is refused.
    fn profile(&mut self) -> PolicyProfile {
        let plain = |name: &str| PolicyProfile::new(name);
        let limited = |limits| plain("limited").with_limits(limits);
        let guarded = plain("guarded")
            .with_require_approval_for_push(true)
            .with_command_blacklist(vec!["Comment".into()]);
        match self.dice.roll(12) {
            0 => plain("anything"),
            1..5 => guarded,
            5 => plain("narrow")
                .with_command_whitelist(vec!["GetDiff".into(), "RequestApproval".into()]),
            6..8 => limited(RateLimits::new().with_calls_per_minute(1).with_burst(1)),
            8..11 => limited(
                RateLimits::default()
                    .with_per_command_caps(Some([("Push".to_owned(), 1)].into_iter().collect())),
            )
            .with_require_approval_for_push(self.dice.once_in(2)),
            _ => plain(" "),
        }
    }

    pub(super) fn new_session(&mut self, id: Uuid) -> CreateSession {
        let words = self.words();
        let repo = RepoRef::new(self.words(), "/app");
        CreateSession::new(
            SessionConfig::new(
                id.into(),
                self.profile(),
                repo,
                WorkspaceRef::new(words.clone()),
                words,
            )
            .with_parent_session_id(self.dice.once_in(3).then(|| self.of(Kind::Session)))
            .with_plan_node_id(self.reason()),
        )
        .with_approval_expiry_seconds(self.dice.once_in(2).then_some(3))
        .with_pause_after_failures(self.dice.pick(&[None, Some(0), Some(1), Some(2)]).flatten())
    }

    fn body(&mut self) -> CommandBody {
        let repo = RepoRef::new("app", "/app");
        let item = WorkItemRef::new("A-1").with_provider_hint(self.reason());
        match self.dice.roll(10) {
            0 if self.dice.once_in(3) => Push::new(repo, self.words()).into(),
            0..4 => Push::new(repo, self.words().replace(' ', "-")).into(),
            4 => GetDiff::new(repo)
                .with_reference(self.words().replace(char::is_whitespace, "-"))
                .into(),
            5 => Comment::new(item, self.words()).into(),
            6 if self.dice.once_in(2) => QueryWorkItem::new(WorkItemRef::new("A-1")).into(),
            6 => QueryBacklog::new().with_filter(self.reason()).into(),
            7 => UploadArtifact::new(
                self.words(),
                "text/plain",
                Base64Bytes(self.words().into_bytes()),
            )
            .into(),
            8 => Commit::new(repo, self.words(), vec![self.words()])
                .with_amend(self.dice.once_in(2))
                .into(),
            _ => {
                let actions = [vec![], vec!["Push".to_owned()], vec!["deploy".to_owned()]];
                RequestApproval::new(self.words(), self.dice.pick(&actions).unwrap_or_default())
                    .into()
            }
        }
    }

    fn submit(&mut self, session: SessionId, known: Option<&model::Session>) -> SubmitCommand {
        let id = match self.dice.roll(12) {
            0 => None,
            1 => Some(self.open_command(known)),
            _ => Some(self.fresh().into()),
        };
        SubmitCommand::new(session, self.body())
            // One that is nowhere was never given, and is not given twice.
            .with_id(id.map(|id| match id.0.as_u128() {
                7 => self.fresh().into(),
                _ => id,
            }))
            .with_plan_node(self.reason())
    }

    fn task_plan(&mut self) -> TaskPlan {
        let node = |draw: &mut Self| {
            TaskNode::new(draw.dice.pick(&NODES[..3]).unwrap_or("a"), draw.words())
                .with_depends_on(if draw.dice.once_in(3) {
                    vec![draw.dice.pick(&NODES).unwrap_or("a").into()]
                } else {
                    vec![]
                })
                .with_agent_hint(draw.reason())
        };
        let nodes = (0..self.dice.roll(3)).map(|_| node(self)).collect();
        TaskPlan::new(nodes)
    }

    pub(super) fn session_command(&mut self) -> Command {
        let which = self.one_of(24, Kind::Session);
        let (session, known) = self.session_of();
        let known = known.as_ref();
        match which {
            0..2 => {
                let id = self.new_id();
                self.new_session(id).into()
            }
            2..6 => self.submit(session, known).into(),
            6 => ApproveSession::new(session)
                .with_request(self.request(known))
                .with_reason(self.reason())
                .into(),
            7 => DenySession::new(session, self.text())
                .with_request(self.request(known))
                .into(),
            8..10 => ExpireApprovals::new(session).into(),
            10..16 => self.life(session),
            16..20 => {
                let id = self.open_command(known);
                let kind = known.and_then(|it| it.open.get(&id.0)).map(String::as_str);
                self.result(session, id, kind)
            }
            20 => UpdatePlan::new(session, self.task_plan()).into(),
            21 => LinkPlanTask::new(
                session,
                self.dice.pick(&NODES).unwrap_or("a"),
                self.id(Kind::Task),
            )
            .into(),
            _ => AttachRun::new(session, self.id(Kind::Run)).into(),
        }
    }

    fn life(&mut self, session: SessionId) -> Command {
        let reason = self.reason();
        match self.dice.roll(9) {
            0..2 => PauseSession::new(session).with_reason(reason).into(),
            2..5 => ResumeSession::new(session).with_reason(reason).into(),
            5..7 => AbortSession::new(session).with_reason(reason).into(),
            _ => CompleteSession::new(session).with_reason(reason).into(),
        }
    }

    /// A result of a command; of a query mostly what it asked for.
    fn result(&mut self, session: SessionId, id: CommandId, kind: Option<&str>) -> Command {
        let which = match kind {
            Some("QueryBacklog") => 4,
            Some("QueryWorkItem") => 5,
            _ => self.dice.roll(6),
        };
        match which {
            0..2 => CompleteCommand::new(
                session,
                id,
                self.dice
                    .pick(CommandResult::ALL)
                    .unwrap_or(CommandResult::Success),
            )
            .with_message(self.reason())
            .with_error_code(self.reason())
            .into(),
            2 => RecordConflict::new(session, id, RepoRef::new("app", "/app"), self.words())
                .with_patch_content(self.reason())
                .into(),
            3 => RecordArtifact::new(
                session,
                Artifact::new(
                    self.dice
                        .pick(ArtifactKind::ALL)
                        .unwrap_or(ArtifactKind::Log),
                    self.words(),
                )
                .with_inline_text(self.reason())
                .with_path_hint(self.reason()),
            )
            .with_id(Some(id).filter(|_| self.dice.roll(4) > 0))
            .into(),
            4 => RecordBacklog::new(
                session,
                id,
                vec![
                    WorkItemSummary::new("A-1", self.words(), self.words())
                        .with_assignee(self.reason()),
                ],
            )
            .into(),
            _ => RecordWorkItem::new(
                session,
                id,
                WorkItemDetails::new("A-1", self.words(), self.words(), self.words()),
            )
            .into(),
        }
    }

    /// Answers a request for approval, or lets it expire if it is time.
    fn answer(&mut self, session: SessionId, found: &model::Session) -> Command {
        let now = self.model.commands + 1;
        let mut asks = found.asks.iter();
        if asks.any(|ask| ask.expires.is_some_and(|time| time <= now)) {
            return ExpireApprovals::new(session).into();
        }
        if self.dice.once_in(2) {
            return DenySession::new(session, self.words()).into();
        }
        ApproveSession::new(session).into()
    }

    /// Takes a session a step on in its life.
    pub(super) fn step_session_on(&mut self) -> Command {
        let (session, known) = self.session_of();
        let Some(found) = &known else {
            let mut new = self.new_session(self.fresh());
            new.config.parent_session_id = None;
            return new.into();
        };
        let nodes: Vec<String> = found.nodes.iter().cloned().collect();
        match found.status() {
            "Paused" => ResumeSession::new(session).into(),
            "NeedsApproval" if !self.dice.once_in(3) => self.answer(session, found),
            _ if !found.open.is_empty() && self.dice.once_in(2) => {
                let id = self.open_command(known.as_ref());
                let kind = found.open.get(&id.0).map(String::as_str);
                self.result(session, id, kind)
            }
            _ if found.run.is_none() && self.dice.once_in(3) => {
                AttachRun::new(session, self.id(Kind::Run)).into()
            }
            _ if nodes.is_empty() && self.dice.once_in(3) => {
                UpdatePlan::new(session, self.task_plan()).into()
            }
            _ if !nodes.is_empty() && self.dice.once_in(2) => LinkPlanTask::new(
                session,
                self.dice.pick(&nodes).unwrap_or_default(),
                self.id(Kind::Task),
            )
            .into(),
            _ => self.submit(session, known.as_ref()).into(),
        }
    }
}
