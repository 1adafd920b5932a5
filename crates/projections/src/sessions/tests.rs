//! The fold of sessions: what each event changes, and that rows follow from the events alone.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::fmt::Write as _;

use annals_domain::metadata::MetadataSet;
use annals_domain::pipeline::{self, FrameKind, FramePushed};
use annals_domain::redaction::{Redacted, RemovedPieces};
use annals_domain::run::{
    self, ChangeType, DiffFormat, GrantScope, PatchSetProposed, PatchSetRejected,
    StoredTouchedFile, ToolDecided, ToolDecider, ToolEnded, ToolInvoked, ToolRequested, ToolStatus,
    ToolVerdict, UsageRecorded,
};
use annals_domain::{
    ActorRef, AnyEvent, Emitted, EvidenceId, FrameId, Kind, PatchSetId, Pieces, PipelineId, PlanId,
    StoredEnvironment, StreamKind, TaskId, ToolInvocationId, intent, plan, task,
};
use annals_event_log::memory::MemoryLog;
use annals_event_log::{EventLog, PiecesOf, ReadModels, Record, Redaction, Row};
use futures::executor::block_on;
use uuid::Uuid;

use super::{PastStep, SessionModel, SessionRow};
use crate::costs::{CostGroups, CostModel, CostRange, PriceTable};
use crate::testing::{Story, id, stream, time};

/// The read model of the first generation.
const MODEL: &str = "sessions.3.1";

/// The ids of a session's objects follow from its number.
#[derive(Clone, Copy)]
struct Chain(u8);

impl Chain {
    fn task(self) -> Uuid {
        id(self.0)
    }
    fn run(self) -> Uuid {
        id(self.0 + 1)
    }
    fn plan(self) -> Uuid {
        id(self.0 + 2)
    }
    fn pipeline(self) -> Uuid {
        id(self.0 + 3)
    }
    fn call(self, number: u8) -> ToolInvocationId {
        ToolInvocationId(id(self.0 + 4 + number))
    }
}

const MAIN: Chain = Chain(10);
const SIDE: Chain = Chain(30);
const DEEP: Chain = Chain(50);

/// A story, and what it was told of.
struct Told {
    story: Story,
    events: Vec<(ActorRef, Emitted)>,
}

macro_rules! told_of {
    ($($name:ident: $module:ident, $kind:ident;)+) => {
        impl Told {
            $(
                fn $name<E: Into<$module::Event>>(
                    &mut self,
                    id: Uuid,
                    event: impl FnOnce(&mut Pieces) -> E,
                ) {
                    let mut pieces = Pieces::new();
                    let event: $module::Event = event(&mut pieces).into();
                    self.append(Emitted {
                        stream: stream(StreamKind::$kind, id),
                        event: AnyEvent::$kind(event),
                        pieces,
                    });
                }
            )+
        }
    };
}

told_of! {
    of_run: run, Run;
    of_task: task, Task;
    of_plan: plan, Plan;
    of_pipeline: pipeline, Pipeline;
    of_intent: intent, Intent;
}

impl Told {
    fn new() -> Told {
        Told {
            story: Story::new(),
            events: Vec::new(),
        }
    }

    fn append(&mut self, event: Emitted) {
        self.story.append(&event);
        self.events.push((self.story.actor.clone(), event));
    }

    fn person_speaks(&mut self) {
        self.story.actor = ActorRef::human("user");
    }

    fn agent_speaks(&mut self) {
        self.story.actor = ActorRef::agent("claude-code");
    }

    fn task(&mut self, chain: Chain, title: &str, parent: Option<Chain>) {
        self.of_task(chain.task(), |pieces| task::Created {
            title: pieces.text(title),
            description: None,
            goal: None,
            constraints: Vec::new(),
            acceptance_criteria: Vec::new(),
            requester: None,
            parent: parent.map(|parent| TaskId(parent.task())),
            intent: None,
            dependencies: Vec::new(),
        });
    }

    fn names(&mut self, kind: Kind, object: Uuid, names: &[(&str, &str)]) {
        let event = |pieces: &mut Pieces| {
            let names = names.iter();
            let names = names.map(|(name, text)| (pieces.text(*name), pieces.text(*text)));
            MetadataSet {
                kind: kind.number(),
                object,
                visibility: None,
                tags: None,
                external_ids: Some(names.collect()),
            }
        };
        match kind {
            Kind::Intent => self.of_intent(object, event),
            _ => self.of_task(object, event),
        }
    }

    fn run(&mut self, chain: Chain, extra: &[(&str, &str)]) {
        self.of_run(chain.run(), |pieces| run::Created {
            task: TaskId(chain.task()),
            plan: Some(PlanId(chain.plan())),
            commit: None,
            snapshot: None,
            environment: Some(StoredEnvironment {
                os: pieces.text("unknown"),
                arch: pieces.text("unknown"),
                cwd: pieces.text("/home/ada/shop/src"),
                extra: extra
                    .iter()
                    .map(|(name, text)| {
                        (
                            pieces.text(*name),
                            pieces.text(format!("{text:?}").as_str()),
                        )
                    })
                    .collect(),
            }),
            reverts: None,
        });
    }

    /// What an importer writes of the beginning of a chain.
    fn begin(&mut self, chain: Chain, title: &str, parent: Option<Chain>, names: &[(&str, &str)]) {
        self.of_pipeline(chain.pipeline(), |_| pipeline::Created { max_frames: 0 });
        self.of_plan(chain.plan(), |_| plan::Drafted {
            previous: None,
            intent: None,
            pipeline: Some(PipelineId(chain.pipeline())),
            fwindow: None,
            steps: Vec::new(),
        });
        self.task(chain, title, parent);
        self.names(Kind::Task, chain.task(), names);
        self.run(
            chain,
            &[
                ("git_branch", "main"),
                ("claude_code_version", "2.1.0"),
                ("project", "/home/ada/shop"),
            ],
        );
    }

    fn frame(&mut self, chain: Chain, kind: FrameKind, summary: &str, data: Option<&str>) {
        let number = u64::try_from(self.story.records().len()).unwrap();
        self.of_pipeline(chain.pipeline(), |pieces| FramePushed {
            frame_id: FrameId(number),
            kind,
            summary: pieces.text(summary),
            data: data.map(|data| pieces.text(data)),
            content: None,
            token_estimate: None,
        });
    }

    fn invoked(&mut self, chain: Chain, number: u8, status: ToolStatus) {
        self.of_run(chain.run(), |pieces| ToolInvoked {
            tool_invocation: chain.call(number),
            tool_name: pieces.text("Bash"),
            io_footprint: None,
            args: None,
            status,
            duration_ms: None,
            result_summary: None,
            artifacts: Vec::new(),
        });
    }

    fn requested(&mut self, chain: Chain, number: u8, tool: &str) {
        self.of_run(chain.run(), |pieces| ToolRequested {
            tool_invocation: chain.call(number),
            tool_name: pieces.text(tool),
            io_footprint: None,
            args: None,
        });
    }

    fn decided(&mut self, chain: Chain, number: u8, verdict: ToolVerdict) {
        self.of_run(chain.run(), |_| ToolDecided {
            tool_invocation: chain.call(number),
            tool_name: None,
            verdict,
            by: ToolDecider::Person,
            by_name: None,
            source: None,
            scope: GrantScope::Once,
            grant: None,
            inferred: false,
            reason: None,
            permission_mode: None,
            in_force: None,
        });
    }

    fn ended(&mut self, chain: Chain, number: u8, status: ToolStatus) {
        self.of_run(chain.run(), |_| ToolEnded {
            tool_invocation: chain.call(number),
            tool_name: None,
            status,
            duration_ms: None,
            result_summary: None,
            failure: None,
            artifacts: Vec::new(),
        });
    }

    fn patch_set(&mut self, chain: Chain, patch_set: u8, files: &[(&str, u32, u32)]) {
        self.of_run(chain.run(), |pieces| PatchSetProposed {
            patch_set: PatchSetId(id(patch_set)),
            commit: None,
            format: DiffFormat::Unified,
            artifact: None,
            touched: files
                .iter()
                .map(|(path, lines_added, lines_deleted)| StoredTouchedFile {
                    path: pieces.text(*path),
                    change_type: ChangeType::Modify,
                    lines_added: *lines_added,
                    lines_deleted: *lines_deleted,
                })
                .collect(),
            rationale: None,
        });
    }

    fn usage(&mut self, chain: Chain, model: &str, input: u64, output: u64) {
        self.of_run(chain.run(), |pieces| UsageRecorded {
            model: Some(pieces.text(model)),
            uncached_input_tokens: input,
            cache_read_tokens: 0,
            cache_write_tokens: 0,
            cache_write_1h_tokens: 0,
            output_tokens: output,
            reasoning_tokens: 0,
            web_searches: 0,
            cost_usd: None,
        });
    }

    fn log(&self) -> &MemoryLog {
        &self.story.log
    }

    fn rows(&self) -> Vec<SessionRow> {
        rows(self.log())
    }

    fn only(&self) -> SessionRow {
        let mut rows = self.rows();
        assert_eq!(rows.len(), 1, "{rows:?}");
        rows.remove(0)
    }
}

fn rows(log: &MemoryLog) -> Vec<SessionRow> {
    let model = SessionModel::new();
    let each = |rows: &mut Vec<SessionRow>, family: Vec<SessionRow>| rows.extend(family);
    block_on(model.families(log, each)).unwrap()
}

/// A session in a few words.
fn shown(row: &SessionRow) -> String {
    let it = &row.summary;
    let mut text = format!(
        "{:?} {}/{} by {} {}",
        it.title.as_deref().unwrap_or("-"),
        it.project_name().unwrap_or("-"),
        it.branch.as_deref().unwrap_or("-"),
        it.agent.as_deref().unwrap_or("-"),
        it.agent_session.as_deref().unwrap_or("-"),
    );
    let counts = it.counts;
    let files = it.files;
    let _ = write!(
        text,
        "; {} prompts {} answers {} calls {} failed {} denied {} compactions; {} files +{} -{}",
        counts.prompts,
        counts.answers,
        counts.tool_calls,
        counts.failed_calls,
        counts.denied_calls,
        counts.compactions,
        files.files,
        files.added,
        files.deleted
    );
    if let Some(wait) = &it.waiting {
        let kind = if wait.is_question {
            "question"
        } else {
            "permission"
        };
        let _ = write!(text, "; waits: {kind}");
    }
    if let Some(end) = &it.end {
        let _ = write!(text, "; ended: {} {:?}", end.failed, end.reason);
    }
    text
}

const CLAUDE: [(&str, &str); 1] = [("claude.session", "s-1")];

#[test]
fn a_recording_is_a_session_with_its_counts() {
    let mut told = Told::new();
    told.begin(MAIN, "Fix the tests", None, &CLAUDE);
    told.person_speaks();
    told.frame(
        MAIN,
        FrameKind::IntentAnalysis,
        "# Bug\n\nFix the tests",
        None,
    );
    told.agent_speaks();
    told.frame(
        MAIN,
        FrameKind::StepSummary,
        "Looking.",
        Some(r#"{"git_branch":"fix"}"#),
    );
    told.invoked(MAIN, 0, ToolStatus::Ok);
    told.invoked(MAIN, 1, ToolStatus::Error);
    told.invoked(MAIN, 2, ToolStatus::Error);
    told.decided(MAIN, 2, ToolVerdict::Deny);
    told.patch_set(MAIN, 90, &[("a.rs", 3, 1), ("b.rs", 1, 0)]);
    told.patch_set(MAIN, 91, &[("a.rs", 2, 2)]);
    told.patch_set(MAIN, 92, &[("c.rs", 9, 9)]);
    told.of_run(MAIN.run(), |_| PatchSetRejected {
        patch_set: PatchSetId(id(92)),
        reason: None,
    });
    // A compaction has two frames.
    told.frame(MAIN, FrameKind::Checkpoint, "Conversation compacted", None);
    told.frame(MAIN, FrameKind::Checkpoint, "The user asked...", None);
    told.frame(MAIN, FrameKind::StepSummary, "Done.", None);
    let row = told.only();
    assert_eq!(
        shown(&row),
        "\"Fix the tests\" shop/fix by claude s-1; 1 prompts 2 answers 3 calls 1 failed 1 denied \
         1 compactions; 2 files +6 -3"
    );
    let summary = &row.summary;
    assert_eq!(summary.id, MAIN.task());
    assert_eq!(summary.runs, [MAIN.run()]);
    assert_eq!(summary.agent_version.as_deref(), Some("2.1.0"));
    assert_eq!(summary.directory.as_deref(), Some("/home/ada/shop/src"));
    // From the run on, a second an event; the task's own events are no activity.
    assert_eq!(summary.started, Some(time(5)));
    let events = i64::try_from(told.story.records().len()).unwrap();
    assert_eq!(summary.last_activity, Some(time(events)));
    assert_eq!(
        summary.active_ms,
        u64::try_from(events - 5).unwrap() * 1_000
    );
}

#[test]
fn permissions_and_questions_wait_until_they_are_answered() {
    let mut told = Told::new();
    told.begin(MAIN, "Fix it", None, &CLAUDE);
    let check = |told: &Told, expected: Option<bool>| {
        let waiting = told.only().summary.waiting;
        assert_eq!(waiting.map(|wait| wait.is_question), expected);
    };
    told.requested(MAIN, 0, "Bash");
    check(&told, None);
    told.decided(MAIN, 0, ToolVerdict::Ask);
    check(&told, Some(false));
    told.decided(MAIN, 0, ToolVerdict::Allow);
    check(&told, None);
    told.requested(MAIN, 1, "AskUserQuestion");
    check(&told, Some(true));
    // A rule lets the question be asked. That is no answer.
    told.decided(MAIN, 1, ToolVerdict::Allow);
    check(&told, Some(true));
    told.ended(MAIN, 1, ToolStatus::Ok);
    check(&told, None);
    // A decision that is told late opens nothing.
    told.decided(MAIN, 1, ToolVerdict::Ask);
    check(&told, None);
    told.decided(MAIN, 2, ToolVerdict::Ask);
    check(&told, Some(false));
    told.frame(MAIN, FrameKind::IntentAnalysis, "Never mind", None);
    check(&told, None);
}

#[test]
fn an_end_counts_until_another_run_begins() {
    let mut told = Told::new();
    told.begin(MAIN, "Fix it", None, &CLAUDE);
    told.of_run(MAIN.run(), |pieces| run::Failed {
        error: pieces.text("out of memory"),
    });
    let end = told.only().summary.end.unwrap();
    assert_eq!(
        (end.failed, end.reason.as_deref()),
        (true, Some("out of memory"))
    );
    assert_eq!(end.position, 6);
    told.of_run(id(99), |_| run::Created {
        task: TaskId(MAIN.task()),
        plan: None,
        commit: None,
        snapshot: None,
        environment: None,
        reverts: None,
    });
    let summary = told.only().summary;
    assert_eq!((summary.end, summary.runs.len()), (None, 2));
}

#[test]
fn sub_agents_are_below_their_session_in_any_order() {
    let side = [("claude.session", "s-1"), ("claude.side_chain", "a1")];
    let deep = [("claude.session", "s-1"), ("claude.side_chain", "a2")];
    type Step = fn(&mut Told, &[(&str, &str)]);
    let main: Step = |told, names| told.begin(MAIN, "Main", None, names);
    let of_side: Step = |told, names| told.begin(SIDE, "Side", Some(MAIN), names);
    let of_deep: Step = |told, names| told.begin(DEEP, "Deep", Some(SIDE), names);
    let steps: [(Step, &[(&str, &str)]); 3] = [(main, &CLAUDE), (of_side, &side), (of_deep, &deep)];
    for order in [
        [0, 1, 2],
        [0, 2, 1],
        [2, 1, 0],
        [1, 2, 0],
        [1, 0, 2],
        [2, 0, 1],
    ] {
        let mut told = Told::new();
        for step in order {
            let (step, names) = steps[step];
            step(&mut told, names);
        }
        let mut rows = told.rows();
        rows.sort_by_key(|row| row.summary.id);
        let places: Vec<_> = rows
            .iter()
            .map(|row| (row.summary.id, row.summary.parent, row.summary.root))
            .collect();
        let root = MAIN.task();
        let expected = [
            (root, None, root),
            (SIDE.task(), Some(root), root),
            (DEEP.task(), Some(SIDE.task()), root),
        ];
        assert_eq!(places, expected, "{order:?}");
        assert_eq!(rows[1].summary.agent_session.as_deref(), Some("a1"));
        let family = block_on(SessionModel::new().family(told.log(), DEEP.task())).unwrap();
        assert_eq!(family.len(), 3);
    }
}

#[test]
fn work_by_the_library_is_a_session_and_history_of_git_is_none() {
    let mut told = Told::new();
    told.task(MAIN, "Paginate GET /users", None);
    told.of_run(MAIN.run(), |_| run::Created {
        task: TaskId(MAIN.task()),
        plan: None,
        commit: None,
        snapshot: None,
        environment: None,
        reverts: None,
    });
    told.patch_set(MAIN, 90, &[("a.rs", 1, 1)]);
    assert!(told.rows().is_empty());
    told.usage(MAIN, "m", 10, 20);
    let row = told.only();
    assert_eq!(
        shown(&row),
        "\"Paginate GET /users\" -/- by coder -; 0 prompts 0 answers 0 calls 0 failed 0 denied 0 \
         compactions; 1 files +1 -1"
    );
    assert_eq!(row.used().tokens.total(), 30);
    assert_eq!(row.summary.models.len(), 1);
}

#[test]
fn frames_before_the_run_count_once_it_is_there() {
    let mut told = Told::new();
    told.of_pipeline(MAIN.pipeline(), |_| pipeline::Created { max_frames: 0 });
    told.frame(MAIN, FrameKind::IntentAnalysis, "Do it well", None);
    assert!(told.rows().is_empty());
    told.of_plan(MAIN.plan(), |_| plan::Drafted {
        previous: None,
        intent: None,
        pipeline: Some(PipelineId(MAIN.pipeline())),
        fwindow: None,
        steps: Vec::new(),
    });
    told.task(MAIN, "A task", None);
    told.run(MAIN, &[]);
    told.frame(MAIN, FrameKind::StepSummary, "Done", None);
    let row = told.only();
    assert_eq!(row.summary.title.as_deref(), Some("Do it well"));
    assert_eq!(
        (row.summary.counts.prompts, row.summary.counts.answers),
        (1, 1)
    );
    assert_eq!(row.summary.id, MAIN.task());
}

#[test]
fn a_prompt_that_is_told_live_counts_once() {
    let mut told = Told::new();
    let prompt = [("claude.session", "s-1"), ("claude.prompt", "p-1")];
    told.names(Kind::Intent, id(80), &prompt);
    told.of_intent(id(80), |pieces| intent::Analyzed {
        content: pieces.text("Fix it now"),
    });
    assert!(told.rows().is_empty());
    told.begin(MAIN, "(no prompt)", None, &CLAUDE);
    let row = told.only();
    assert_eq!(row.summary.counts.prompts, 1);
    assert_eq!(row.summary.title.as_deref(), Some("Fix it now"));
    assert_eq!(row.summary.intent, Some(id(80)));
    // Its frame comes with the import of the recording.
    told.person_speaks();
    told.frame(MAIN, FrameKind::IntentAnalysis, "Fix it now", None);
    assert_eq!(told.only().summary.counts.prompts, 1);
    told.frame(MAIN, FrameKind::IntentAnalysis, "And the docs", None);
    assert_eq!(told.only().summary.counts.prompts, 2);
    // The names of an imported prompt have its line.
    let line = [
        ("claude.session", "s-1"),
        ("claude.line", "l-2"),
        ("claude.prompt", "p-2"),
    ];
    told.names(Kind::Intent, id(81), &line);
    assert_eq!(told.only().summary.counts.prompts, 2);
}

#[test]
fn titles_of_agents_come_before_those_of_prompts() {
    let mut told = Told::new();
    told.begin(MAIN, "Fix it", None, &CLAUDE);
    let title = |told: &Told| told.only().summary.title;
    assert_eq!(title(&told).as_deref(), Some("Fix it"));
    told.frame(MAIN, FrameKind::IntentAnalysis, "/clear", None);
    assert_eq!(title(&told).as_deref(), Some("/clear"));
    told.frame(MAIN, FrameKind::IntentAnalysis, "Repair the tests", None);
    assert_eq!(title(&told).as_deref(), Some("Repair the tests"));
    // A summary is the title of the session that has the line.
    let summary = r#"{"line":"l-9","subtype":"summary"}"#;
    told.frame(MAIN, FrameKind::Checkpoint, "Tests repaired", Some(summary));
    assert_eq!(title(&told).as_deref(), Some("Repair the tests"));
    told.frame(MAIN, FrameKind::StepSummary, "x", Some(r#"{"line":"l-9"}"#));
    assert_eq!(title(&told).as_deref(), Some("Tests repaired"));
    let summary = told.only().summary;
    assert!(summary.is_agents_title);
    assert_eq!(summary.counts.compactions, 0);
    for (tool, given, expected) in [
        ("ai-title", "A", "A"),
        ("ai-title", "B", "B"),
        ("custom-title", "Mine", "Mine"),
        ("ai-title", "C", "Mine"),
    ] {
        told.of_run(MAIN.run(), |pieces| run::EvidenceRecorded {
            evidence: EvidenceId(Uuid::new_v5(&id(1), given.as_bytes())),
            patch_set: None,
            kind: run::EvidenceKind::Other("session_title".to_owned()),
            tool: pieces.text(tool),
            command: None,
            exit_code: None,
            summary: Some(pieces.text(given)),
            report_artifacts: Vec::new(),
        });
        assert_eq!(title(&told).as_deref(), Some(expected));
    }
}

/// An error of the vendor is no answer. The session failed until something comes later.
#[test]
fn an_error_in_place_of_an_answer_fails_a_session_for_now() {
    let error = "API Error: 429 {\"type\":\"rate_limit_error\"}";
    let mut told = Told::new();
    told.begin(MAIN, "Fix the tests", None, &CLAUDE);
    told.frame(MAIN, FrameKind::StepSummary, error, None);
    let summary = told.only().summary;
    let end = summary.end.unwrap();
    assert_eq!(
        (end.failed, end.reason.as_deref()),
        (true, Some("rate limit"))
    );
    assert_eq!(summary.counts.answers, 0);
    told.invoked(MAIN, 0, ToolStatus::Ok);
    assert_eq!(told.only().summary.end, None);
    told.frame(
        MAIN,
        FrameKind::StepSummary,
        "API Error: nobody knows",
        None,
    );
    let end = told.only().summary.end.unwrap();
    assert_eq!(end.reason.as_deref(), Some("API error"));
    told.frame(MAIN, FrameKind::IntentAnalysis, "Again", None);
    assert_eq!(told.only().summary.end, None);
}

/// A story with something of everything.
fn everything() -> Told {
    let mut told = Told::new();
    told.begin(MAIN, "Fix the tests", None, &CLAUDE);
    told.frame(MAIN, FrameKind::IntentAnalysis, "Fix the tests", None);
    told.requested(MAIN, 0, "Bash");
    told.decided(MAIN, 0, ToolVerdict::Ask);
    let side = [("claude.session", "s-1"), ("claude.side_chain", "a1")];
    told.begin(SIDE, "Look around", Some(MAIN), &side);
    told.usage(SIDE, "claude-haiku-4-5", 1_001, 77);
    told.usage(MAIN, "claude-opus-4-5", 12_345, 678);
    told.usage(MAIN, "unknown-model", 5, 5);
    told.patch_set(MAIN, 90, &[("a.rs", 3, 1)]);
    told.frame(MAIN, FrameKind::StepSummary, "Done", None);
    told.task(DEEP, "By the library", None);
    told.of_run(DEEP.run(), |_| run::Created {
        task: TaskId(DEEP.task()),
        plan: None,
        commit: None,
        snapshot: None,
        environment: None,
        reverts: None,
    });
    told.usage(DEEP, "claude-opus-4-5", 999, 1);
    for kind in [
        StreamKind::Session,
        StreamKind::Run,
        StreamKind::Task,
        StreamKind::Pipeline,
    ] {
        for event in crate::testing::examples(kind) {
            told.append(event);
        }
    }
    told
}

fn stored(log: &MemoryLog) -> Vec<Row> {
    block_on(log.scan(MODEL, b"", None, 100_000)).unwrap()
}

#[test]
fn rows_follow_from_the_events_alone() {
    let all = everything();
    block_on(SessionModel::new().catch_up(all.log())).unwrap();
    let at_once = stored(all.log());
    assert!(at_once.len() > 20);
    // The same events, folded one by one.
    let model = SessionModel::new();
    let mut one_by_one = Story::new();
    for (actor, event) in &all.events {
        one_by_one.actor = actor.clone();
        one_by_one.append(event);
        block_on(model.catch_up(&one_by_one.log)).unwrap();
    }
    assert_eq!(stored(&one_by_one.log), at_once);
    block_on(model.forget(&one_by_one.log)).unwrap();
    block_on(model.catch_up(&one_by_one.log)).unwrap();
    assert_eq!(stored(&one_by_one.log), at_once);
}

#[test]
fn the_costs_of_sessions_add_up_to_those_of_the_log() {
    let all = everything();
    let prices = PriceTable::standard();
    let add = |groups: &mut CostGroups, cell| {
        groups.add(cell, &[], crate::costs::CostZone::Utc, prices);
    };
    let costs = CostModel::new();
    let groups = block_on(costs.fold(all.log(), &CostRange::default(), add)).unwrap();
    let mut sum = crate::costs::CostSums::default();
    for row in all.rows() {
        sum.add(&row.cost(prices));
    }
    assert!(sum.computed_micros > 0 && sum.unpriced_tokens > 0);
    assert_eq!(sum, groups.total());
}

#[test]
fn the_past_is_what_the_rows_were_then() {
    let all = everything();
    let model = SessionModel::new();
    let each = |rows: &mut Vec<SessionRow>, family: Vec<SessionRow>| rows.extend(family);
    let mut story = Story::new();
    let at_the_time = SessionModel::new();
    for (actor, event) in &all.events {
        story.actor = actor.clone();
        story.append(event);
        let position = story.log.watermark();
        let step = move |record: &Record| match record.position() <= position {
            true => PastStep::Fold,
            false => PastStep::Stop,
        };
        let mut past = block_on(model.families_of_past(all.log(), step, each)).unwrap();
        past.iter_mut().for_each(|row| row.files = None);
        let then = block_on(at_the_time.families(&story.log, each)).unwrap();
        assert_eq!(past, then, "at {position}");
        // The family alone is folded from its own streams.
        let family = block_on(model.family_of_past(all.log(), MAIN.task(), step)).unwrap();
        let mut expected = block_on(at_the_time.family(&story.log, MAIN.task())).unwrap();
        expected.sort_by_key(|row| row.summary.id);
        let mut family = family;
        family.sort_by_key(|row| row.summary.id);
        assert_eq!(family, expected, "at {position}");
    }
}

#[test]
fn removed_content_shows_as_removed() {
    let mut told = Told::new();
    told.begin(MAIN, "Fix it", None, &CLAUDE);
    told.frame(MAIN, FrameKind::IntentAnalysis, "The secret plan", None);
    assert_eq!(
        told.only().summary.title.as_deref(),
        Some("The secret plan")
    );
    let last = told.story.log.watermark();
    let count = told.story.records().last().unwrap().content().len();
    let all: Vec<u16> = (0..u16::try_from(count).unwrap()).collect();
    let mut pieces = Pieces::new();
    let event = Redacted {
        reason: pieces.text("why"),
        removed: vec![RemovedPieces {
            position: last.0,
            pieces: all.clone(),
        }],
        objects: Vec::new(),
    };
    let said = Emitted {
        stream: stream(StreamKind::Pipeline, MAIN.pipeline()),
        event: event.in_stream(StreamKind::Pipeline),
        pieces,
    };
    let redaction = Redaction {
        append: told.story.batch(&[&said]),
        removed: vec![PiecesOf {
            position: last,
            pieces: all,
        }],
        blobs: Vec::new(),
        seen: last,
    };
    block_on(told.log().redact(redaction)).unwrap();
    assert_eq!(told.only().summary.title.as_deref(), Some("[removed]"));
}
