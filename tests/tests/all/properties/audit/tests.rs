//! The audit is itself tested: on a log that keeps the invariants, and on the
//! same log with one event made wrong at a time.

mod session;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

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
use annals::event_log::memory::MemoryLog;
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
    let item = NewItem::new(ContextItemKind::File, "a").with_blob(GitOid::Sha1([1; 20]));
    let mut story: Vec<Command> = vec![
        CreateIntent::new("do").with_id(intent).into(),
        AnalyzeIntent::new(intent, "it").into(),
        ActivateIntent::new(intent).into(),
        CreatePipeline::new().with_id(Some(PIPELINE.into())).into(),
        PushFrame::new(PIPELINE.into(), FrameKind::ToolCall, "called").into(),
        CreatePlan::default()
            .with_id(Some(PLAN.into()))
            .with_intent(intent)
            .with_pipeline(Some(PIPELINE.into()))
            .with_fwindow((0, 1))
            .with_steps(vec![NewStep::new("work").with_iframes(vec![FrameId(0)])])
            .into(),
        OpenSnapshot::new(SelectionStrategy::Explicit)
            .with_id(Some(SNAPSHOT.into()))
            .with_items(vec![item])
            .into(),
        FinalizeSnapshot::new(SNAPSHOT.into()).into(),
        public(SNAPSHOT),
    ];
    let tasks = TASKS.map(|id| CreateTask::new("work").with_id(Some(id.into())));
    story.extend(tasks.map(Command::from));
    let [dependency, task] = TASKS.map(Into::into);
    story.push(AddDependency::new(task, dependency).into());
    story.extend(runs());
    story.extend(session::story());
    story.push(public(INTENT));
    story
}

fn public(object: Uuid) -> Command {
    let visibility = Some(Visibility::Public);
    SetMetadata::new(object).with_visibility(visibility).into()
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
            Command::from(CreateRun::new(task).with_id(run).with_reverts(reverts)),
            StartPatching::new(run).into(),
            ProposePatchSet::new(run, DiffFormat::Unified)
                .with_id(Some(patch_set.into()))
                .into(),
            RecordProvenance::new(run, "local", "small").into(),
            RecordUsage::new(run, 1, 1).into(),
            StartValidation::new(run).into(),
            Decide::new(run, verdict)
                .with_chosen_patchset_id(chosen_patchset_id)
                .into(),
        ]);
    }
    commands
}

fn entries() -> Vec<Entry> {
    let log = Arc::new(MemoryLog::new(Uuid::from_u128(1)));
    let mut history = History::over(log, 0);
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
