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
        let open: Vec<Uuid> = session.open.iter().copied().collect();
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
        let plain = |name: &str| PolicyProfile {
            name: name.into(),
            ..PolicyProfile::default()
        };
        let limited = |limits| PolicyProfile {
            limits: Some(limits),
            ..plain("limited")
        };
        let guarded = PolicyProfile {
            require_approval_for_push: true,
            command_blacklist: Some(vec!["Comment".into()]),
            ..plain("guarded")
        };
        match self.dice.roll(12) {
            0 => plain("anything"),
            1..5 => guarded,
            5 => PolicyProfile {
                command_whitelist: Some(vec!["GetDiff".into(), "RequestApproval".into()]),
                ..plain("narrow")
            },
            6..8 => limited(RateLimits {
                calls_per_minute: Some(1),
                burst: Some(1),
                per_command_caps: None,
            }),
            8..11 => PolicyProfile {
                require_approval_for_push: self.dice.once_in(2),
                ..limited(RateLimits {
                    per_command_caps: Some([("Push".to_owned(), 1)].into_iter().collect()),
                    ..RateLimits::default()
                })
            },
            _ => plain(" "),
        }
    }

    pub(super) fn new_session(&mut self, id: Uuid) -> CreateSession {
        let words = self.words();
        let repo = RepoRef {
            name: self.words(),
            path: "/app".into(),
        };
        CreateSession {
            config: SessionConfig {
                session_id: id.into(),
                parent_session_id: self.dice.once_in(3).then(|| self.of(Kind::Session)),
                plan_node_id: self.reason(),
                policy: self.profile(),
                repo,
                workspace: WorkspaceRef {
                    path: words.clone(),
                },
                work_item: None,
                agent_profile: words,
            },
            approval_expiry_seconds: self.dice.once_in(2).then_some(3),
            pause_after_failures: self.dice.pick(&[None, Some(0), Some(1), Some(2)]).flatten(),
        }
    }

    fn body(&mut self) -> CommandBody {
        let repo = RepoRef {
            name: "app".into(),
            path: "/app".into(),
        };
        let item = WorkItemRef {
            id: "A-1".into(),
            provider_hint: self.reason(),
        };
        match self.dice.roll(10) {
            0..4 => Push {
                repo,
                branch_name: self.words(),
            }
            .into(),
            4 => GetDiff {
                repo,
                reference: self.words(),
            }
            .into(),
            5 => Comment {
                item,
                body: self.words(),
            }
            .into(),
            6 => QueryBacklog {
                filter: self.reason(),
            }
            .into(),
            7 => UploadArtifact {
                name: self.words(),
                content_type: "text/plain".into(),
                content: Base64Bytes(self.words().into_bytes()),
                path_hint: None,
            }
            .into(),
            8 => Commit {
                repo,
                message: self.words(),
                include_paths: vec![self.words()],
                amend: self.dice.once_in(2),
            }
            .into(),
            _ => {
                let actions = [vec![], vec!["Push".to_owned()], vec!["deploy".to_owned()]];
                RequestApproval {
                    reason: self.words(),
                    required_actions: self.dice.pick(&actions).unwrap_or_default(),
                }
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
        SubmitCommand {
            branch: None,
            files: None,
            session,
            // One that is nowhere was never given, and is not given twice.
            id: id.map(|id| match id.0.as_u128() {
                7 => self.fresh().into(),
                _ => id,
            }),
            parent: None,
            plan_node: self.reason(),
            submit: self.body(),
        }
    }

    fn task_plan(&mut self) -> TaskPlan {
        let node = |draw: &mut Self| TaskNode {
            id: draw.dice.pick(&NODES[..3]).unwrap_or("a").into(),
            title: draw.words(),
            depends_on: if draw.dice.once_in(3) {
                vec![draw.dice.pick(&NODES).unwrap_or("a").into()]
            } else {
                vec![]
            },
            work_item: None,
            agent_hint: draw.reason(),
            suggested_branch: None,
            tags: vec![],
        };
        let nodes = (0..self.dice.roll(3)).map(|_| node(self)).collect();
        TaskPlan { nodes }
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
            6 => ApproveSession {
                session,
                request: self.request(known),
                reason: self.reason(),
            }
            .into(),
            7 => DenySession {
                session,
                request: self.request(known),
                reason: self.text(),
            }
            .into(),
            8..10 => ExpireApprovals { session }.into(),
            10..16 => self.life(session),
            16..20 => {
                let id = self.open_command(known);
                self.result(session, id)
            }
            20 => UpdatePlan {
                session,
                plan: self.task_plan(),
            }
            .into(),
            21 => LinkPlanTask {
                session,
                node: self.dice.pick(&NODES).unwrap_or("a").into(),
                task: self.id(Kind::Task),
            }
            .into(),
            _ => AttachRun {
                session,
                run: self.id(Kind::Run),
            }
            .into(),
        }
    }

    fn life(&mut self, session: SessionId) -> Command {
        let reason = self.reason();
        match self.dice.roll(9) {
            0..2 => PauseSession { session, reason }.into(),
            2..5 => ResumeSession { session, reason }.into(),
            5..7 => AbortSession { session, reason }.into(),
            _ => CompleteSession { session, reason }.into(),
        }
    }

    fn result(&mut self, session: SessionId, id: CommandId) -> Command {
        match self.dice.roll(6) {
            0..2 => CompleteCommand {
                session,
                id,
                outcome: self
                    .dice
                    .pick(CommandResult::ALL)
                    .unwrap_or(CommandResult::Success),
                message: self.reason(),
                error_code: self.reason(),
            }
            .into(),
            2 => RecordConflict {
                session,
                id,
                repo: RepoRef {
                    name: "app".into(),
                    path: "/app".into(),
                },
                details: self.words(),
                patch_content: self.reason(),
            }
            .into(),
            3 => RecordArtifact {
                session,
                id: Some(id).filter(|_| self.dice.roll(4) > 0),
                artifact: Artifact {
                    kind: self
                        .dice
                        .pick(ArtifactKind::ALL)
                        .unwrap_or(ArtifactKind::Log),
                    name: self.words(),
                    inline_text: self.reason(),
                    path_hint: self.reason(),
                    download_uri: None,
                    content_type: None,
                },
            }
            .into(),
            4 => RecordBacklog {
                session,
                id,
                items: vec![WorkItemSummary {
                    id: "A-1".into(),
                    title: self.words(),
                    status: self.words(),
                    assignee: self.reason(),
                }],
            }
            .into(),
            _ => RecordWorkItem {
                session,
                id,
                details: WorkItemDetails {
                    id: "A-1".into(),
                    title: self.words(),
                    description: self.words(),
                    status: self.words(),
                    assignee: None,
                    tags: vec![],
                },
            }
            .into(),
        }
    }

    /// Answers a request for approval, or lets it expire if it is time.
    fn answer(&mut self, session: SessionId, found: &model::Session) -> Command {
        let now = self.model.commands + 1;
        let mut asks = found.asks.iter();
        if asks.any(|ask| ask.expires.is_some_and(|time| time <= now)) {
            return ExpireApprovals { session }.into();
        }
        if self.dice.once_in(3) {
            return DenySession {
                session,
                request: None,
                reason: self.words(),
            }
            .into();
        }
        ApproveSession {
            session,
            request: None,
            reason: None,
        }
        .into()
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
            "Paused" => ResumeSession {
                session,
                reason: None,
            }
            .into(),
            "NeedsApproval" if self.dice.once_in(2) => self.answer(session, found),
            _ if !found.open.is_empty() && self.dice.once_in(2) => {
                let id = self.open_command(known.as_ref());
                self.result(session, id)
            }
            _ if found.run.is_none() && self.dice.once_in(3) => AttachRun {
                session,
                run: self.id(Kind::Run),
            }
            .into(),
            _ if nodes.is_empty() && self.dice.once_in(3) => UpdatePlan {
                session,
                plan: self.task_plan(),
            }
            .into(),
            _ if !nodes.is_empty() && self.dice.once_in(2) => LinkPlanTask {
                session,
                node: self.dice.pick(&nodes).unwrap_or_default(),
                task: self.id(Kind::Task),
            }
            .into(),
            _ => self.submit(session, known.as_ref()).into(),
        }
    }
}
