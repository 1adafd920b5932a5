//! The audit is itself tested: on a log that keeps the invariants, and on the
//! same log with one event made wrong at a time.

mod session;

use std::panic::{AssertUnwindSafe, catch_unwind};

use annals::domain::intent::{ActivateIntent, AnalyzeIntent, CreateIntent};
use annals::domain::metadata::SetMetadata;
use annals::domain::pipeline::{CreatePipeline, FrameKind, PushFrame};
use annals::domain::plan::{CreatePlan, NewStep};
use annals::domain::run::{
    CreateRun, Decide, DecisionType, DiffFormat, ProposePatchSet, RecordProvenance, RecordUsage,
    StartPatching, StartValidation,
};
use annals::domain::snapshot::{
    ContextItemKind, FinalizeSnapshot, NewItem, OpenSnapshot, SelectionStrategy,
};
use annals::domain::task::{AddDependency, CreateTask};
use annals::domain::{
    AnyEvent, Command, FrameId, GitOid, Slot, Visibility, intent, pipeline, plan, run, snapshot,
    task,
};
use annals::projections::{Entry, PieceValue};
use uuid::Uuid;

use super::audit;
use crate::properties::history::History;
use annals_testkit::generators::objects::model::Answer;

const INTENT: Uuid = Uuid::from_u128(1);
const PIPELINE: Uuid = Uuid::from_u128(2);
const PLAN: Uuid = Uuid::from_u128(3);
const SNAPSHOT: Uuid = Uuid::from_u128(4);
const TASKS: [Uuid; 2] = [Uuid::from_u128(5), Uuid::from_u128(6)];
const RUNS: [Uuid; 2] = [Uuid::from_u128(7), Uuid::from_u128(8)];
const PATCHES: [Uuid; 2] = [Uuid::from_u128(9), Uuid::from_u128(10)];

/// A little of everything: a commit, then a run that reverts it.
fn story() -> Vec<Command> {
    let intent = INTENT.into();
    let item = NewItem {
        kind: ContextItemKind::File,
        path: "a".into(),
        preview: None,
        blob: Some(GitOid::Sha1([1; 20])),
        content: None,
    };
    let mut story: Vec<Command> = vec![
        CreateIntent {
            id: Some(intent),
            prompt: "do".into(),
            parent: None,
        }
        .into(),
        AnalyzeIntent {
            intent,
            content: "it".into(),
        }
        .into(),
        ActivateIntent {
            intent,
            reason: None,
        }
        .into(),
        CreatePipeline {
            id: Some(PIPELINE.into()),
            max_frames: None,
            policy: None,
        }
        .into(),
        PushFrame {
            pipeline: PIPELINE.into(),
            kind: FrameKind::ToolCall,
            summary: "called".into(),
            data: None,
            content: None,
            token_estimate: None,
        }
        .into(),
        CreatePlan {
            id: Some(PLAN.into()),
            intent: Some(intent),
            pipeline: Some(PIPELINE.into()),
            fwindow: Some((0, 1)),
            steps: vec![NewStep {
                iframes: vec![FrameId(0)],
                ..NewStep::new("work")
            }],
            ..CreatePlan::default()
        }
        .into(),
        OpenSnapshot {
            id: Some(SNAPSHOT.into()),
            selection_strategy: SelectionStrategy::Explicit,
            items: vec![item],
            summary: None,
        }
        .into(),
        FinalizeSnapshot {
            snapshot: SNAPSHOT.into(),
            summary: None,
        }
        .into(),
        public(SNAPSHOT),
    ];
    let tasks = TASKS.map(|id| CreateTask {
        id: Some(id.into()),
        ..CreateTask::new("work")
    });
    story.extend(tasks.map(Command::from));
    let [dependency, task] = TASKS.map(Into::into);
    story.push(AddDependency { task, dependency }.into());
    story.extend(runs());
    story.extend(session::story());
    story.push(public(INTENT));
    story
}

fn public(object: Uuid) -> Command {
    let visibility = Some(Visibility::Public);
    SetMetadata {
        object,
        visibility,
        tags: None,
        external_ids: None,
    }
    .into()
}

fn runs() -> Vec<Command> {
    let [task, _] = TASKS.map(Into::into);
    let mut commands = Vec::new();
    for (number, (id, patch_set)) in RUNS.into_iter().zip(PATCHES).enumerate() {
        let run = id.into();
        let reverts = (number > 0).then(|| PATCHES[0].into());
        let verdict = if number > 0 {
            DecisionType::Rollback
        } else {
            DecisionType::Commit
        };
        let chosen_patchset_id = Some(PATCHES[0].into());
        commands.extend([
            Command::from(CreateRun {
                id: Some(run),
                reverts,
                ..CreateRun::new(task)
            }),
            StartPatching { run }.into(),
            ProposePatchSet {
                id: Some(patch_set.into()),
                ..ProposePatchSet::new(run, DiffFormat::Unified)
            }
            .into(),
            RecordProvenance {
                run,
                id: None,
                provider: "local".into(),
                model: "small".into(),
                parameters: None,
                temperature: None,
                max_tokens: None,
                token_usage: None,
            }
            .into(),
            RecordUsage {
                run,
                model: None,
                uncached_input_tokens: 1,
                cache_read_tokens: 0,
                cache_write_tokens: 0,
                output_tokens: 1,
                cost_usd: None,
            }
            .into(),
            StartValidation { run }.into(),
            Decide {
                chosen_patchset_id,
                ..Decide::new(run, verdict)
            }
            .into(),
        ]);
    }
    commands
}

fn entries() -> Vec<Entry> {
    let mut history = History::new();
    for command in story() {
        let (answer, result) = history.execute(command.clone());
        assert_eq!(answer, Answer::Accepted, "{command:?}: {result:?}");
    }
    history.entries()
}

/// Makes events wrong, and demands that the audit notices. `wrong` changes the
/// entry and says so.
#[track_caller]
fn check_noticed(what: &str, wrong: impl Fn(&mut Entry) -> bool) {
    let mut entries = entries();
    let changed = entries
        .iter_mut()
        .filter_map(|entry| wrong(entry).then_some(()))
        .count();
    assert!(changed > 0, "{what}: nothing was changed");
    let audited = catch_unwind(AssertUnwindSafe(|| audit(&entries)));
    assert!(audited.is_err(), "{what} goes unnoticed");
}

/// Changes events of one type.
macro_rules! wrong {
    ($what:literal, $aggregate:ident, $module:ident::$event:ident, |$found:ident| $change:expr) => {
        check_noticed($what, |entry| match &mut entry.event {
            AnyEvent::$aggregate($module::Event::$event($found)) => {
                $change;
                true
            }
            _ => false,
        });
    };
}

#[test]
fn a_log_that_keeps_the_invariants_passes() {
    audit(&entries());
}

#[test]
fn a_missing_record_is_noticed() {
    let mut entries = entries();
    entries.remove(3);
    assert!(catch_unwind(AssertUnwindSafe(|| audit(&entries))).is_err());
}

#[test]
fn wrong_references_are_noticed() {
    let nothing = Uuid::from_u128(99);
    wrong!("a parent", Intent, intent::Submitted, |event| event
        .refines =
        Some(INTENT.into()));
    wrong!("a plan", Intent, intent::PlanSelected, |event| event.plan =
        nothing.into());
    wrong!("a plan before", Plan, plan::Drafted, |event| event
        .previous =
        Some(PLAN.into()));
    wrong!("a window", Plan, plan::Drafted, |event| event.fwindow =
        Some((0, 2)));
    wrong!("a range", Plan, plan::Drafted, |event| event.fwindow =
        Some((1, 0)));
    wrong!("a frame", Plan, plan::Drafted, |event| event.steps[0]
        .iframes =
        vec![FrameId(1)]);
    wrong!("a used frame", Pipeline, pipeline::FramesUsed, |event| {
        event.frames[0] = FrameId(1)
    });
    wrong!("a parent task", Task, task::Created, |event| event.parent =
        Some(nothing.into()));
    wrong!("a cycle", Task, task::DependencyAdded, |event| event
        .dependency =
        TASKS[1].into());
    wrong!("a run", Task, task::RunAdded, |event| event.run =
        nothing.into());
    wrong!("a task", Run, run::Created, |event| event.task =
        TASKS[1].into());
    wrong!("a plan of a run", Run, run::Created, |event| event.plan =
        Some(nothing.into()));
}

#[test]
fn wrong_decisions_are_noticed() {
    wrong!("a foreign patch set", Run, run::DecisionMade, |event| {
        event.chosen_patch_set = Some(PATCHES[1].into());
    });
    wrong!("no patch set", Run, run::DecisionMade, |event| event
        .chosen_patch_set =
        None);
    wrong!("a patch set of a retry", Run, run::DecisionMade, |event| {
        event.decision_type = DecisionType::Retry;
    });
    wrong!("a rollback of its own", Run, run::DecisionMade, |event| {
        event.decision_type = DecisionType::Rollback;
    });
    wrong!("who reverted", Run, run::PatchSetReverted, |event| {
        event.reverted_by = RUNS[0].into();
    });
    wrong!("what is applied", Run, run::PatchSetApplied, |event| {
        event.patch_set = PATCHES[1].into();
    });
    check_noticed("a decision while patching", |entry| {
        let found = matches!(
            &entry.event,
            AnyEvent::Run(run::Event::ValidationStarted(_))
        );
        if found {
            entry.event = AnyEvent::Run(run::MetricsRecorded { metrics: Slot(0) }.into());
        }
        found
    });
    check_noticed("a second provenance", |entry| {
        let found = matches!(&entry.event, AnyEvent::Run(run::Event::UsageRecorded(_)));
        if found {
            let again = run::ProvenanceRecorded {
                provenance: Uuid::from_u128(u128::from(entry.position.0)).into(),
                provider: Slot(0),
                model: Slot(0),
                parameters: None,
                temperature: None,
                max_tokens: None,
                token_usage: None,
            };
            entry.event = AnyEvent::Run(again.into());
        }
        found
    });
}

#[test]
fn what_may_not_change_is_noticed() {
    check_noticed("another prompt", |entry| {
        let found = matches!(
            &entry.event,
            AnyEvent::Intent(intent::Event::MetadataSet(_))
        );
        if found {
            let again = intent::Submitted {
                refines: None,
                prompt: Slot(0),
            };
            entry.event = AnyEvent::Intent(again.into());
        }
        found
    });
    check_noticed("active without content", |entry| {
        let found = matches!(&entry.event, AnyEvent::Intent(intent::Event::Analyzed(_)));
        if found {
            entry.event = AnyEvent::Intent(intent::PlanSelected { plan: PLAN.into() }.into());
        }
        found
    });
    check_noticed("completed without being active", |entry| {
        let found = matches!(&entry.event, AnyEvent::Intent(intent::Event::Activated(_)));
        if found {
            entry.event = AnyEvent::Intent(intent::Completed { reason: None }.into());
        }
        found
    });
    check_noticed("an item of a finalized snapshot", |entry| {
        let found = matches!(
            &entry.event,
            AnyEvent::Snapshot(snapshot::Event::MetadataSet(_))
        );
        if found {
            let blob = GitOid::Sha1([2; 20]);
            entry.event = AnyEvent::Snapshot(snapshot::BlobAttached { index: 0, blob }.into());
        }
        found
    });
    wrong!(
        "finalized without a blob",
        Snapshot,
        snapshot::ItemAdded,
        |event| (event.blob, event.content) = (None, None)
    );
    wrong!(
        "a frame's number",
        Pipeline,
        pipeline::FramePushed,
        |event| {
            event.frame_id = FrameId(1);
        }
    );
    check_noticed("a title of 100 characters", |entry| {
        let found = matches!(&entry.event, AnyEvent::Task(task::Event::Created(_)));
        if found {
            entry.pieces[0] = PieceValue::Bytes("t".repeat(100).into());
        }
        found
    });
}
