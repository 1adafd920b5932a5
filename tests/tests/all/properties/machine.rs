//! The state machine: random histories, judged by the model and by the facade.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use annals::domain::intent::ApprovalStatus;
use annals::domain::session::State;
use annals::domain::{
    AnyState, Command, CommandId, IntentId, Kind, ObservationId, PatchSetId, PipelineId, PlanId,
    RunId, SnapshotId, StreamKind, StreamRef, TaskId,
};
use annals::event_log::Store;
use annals::projections::{
    ContextPipelineView, ContextSnapshotView, InboxQuery, IntentFilter, IntentView, ListQuery,
    ObservationView, PatchSetView, PlanView, RunView, TaskView, View,
};
use annals::{At, ObservationsQuery};
use annals_testkit::generators::objects::model::{self, Model, SnapshotItem};
use annals_testkit::generators::objects::{Dice, command};
use futures::executor::block_on;
use proptest::prelude::*;
use proptest_state_machine::ReferenceStateMachine;
use uuid::Uuid;

use super::audit::audit;
use super::folds;
use super::history::{History, read_all};

/// The reference, which makes the commands.
pub struct Histories;

impl ReferenceStateMachine for Histories {
    type State = Model;
    type Transition = Command;

    fn init_state() -> BoxedStrategy<Model> {
        Just(Model::default()).boxed()
    }

    fn transitions(model: &Model) -> BoxedStrategy<Command> {
        let model = model.clone();
        Dice::strategy()
            .prop_map(move |dice| command(&model, dice))
            .boxed()
    }

    fn apply(mut model: Model, command: &Command) -> Model {
        model.take(command);
        model
    }
}

/// Gives commands to the facade, over a new log, and compares it with the model. `taken` counts them, so that a history
/// that fails shrinks to its beginning first.
pub fn check_against_model(
    log: Arc<dyn Store>,
    mut model: Model,
    commands: Vec<Command>,
    taken: Option<&AtomicUsize>,
) {
    let mut history = History::over(log, 0);
    for command in commands {
        if let Some(taken) = taken {
            taken.fetch_add(1, Ordering::SeqCst);
        }
        model = Histories::apply(model, &command);
        let asked = format!("{} {command:?}", command.name());
        let (answer, result) = history.execute(command);
        assert_eq!(Some(answer), model.last, "{asked}\nanswered: {result:?}");
    }
    assert_eq!(
        read_all(history.log.as_ref()),
        history.seen,
        "a record changed or went"
    );
    audit(&history.entries());
    compare(&history, &model);
}

/// The lists by approval status have the intents that the model has there.
fn compare_lists(history: &History, model: &Model) {
    for approval in ApprovalStatus::ALL {
        let query = ListQuery::new(Kind::Intent)
            .with_intents(IntentFilter::default().with_approval(*approval))
            .with_limit(10_000);
        let listed = block_on(history.annals.index().list(&query))
            .expect("a list")
            .rows;
        let listed: BTreeSet<Uuid> = listed.iter().map(|row| row.id).collect();
        for (id, intent) in model.intents.iter().filter(|(id, _)| !Model::is_own(**id)) {
            let is_there = intent.taken_in && model.approval(*id) == approval.as_str();
            assert_eq!(listed.contains(id), is_there, "{id} by {approval}");
        }
    }
}

/// Everything is as the model has it.
fn compare(history: &History, model: &Model) {
    let query = InboxQuery::default().with_limit(1_000);
    let inbox = block_on(history.annals.inbox().entries(&query)).expect("an inbox");
    let waiting: BTreeMap<Uuid, &str> = inbox
        .entries
        .iter()
        .map(|entry| (entry.id(), entry.reasons[0].as_str()))
        .collect();
    assert_eq!(inbox.total, waiting.len() as u64);
    compare_lists(history, model);
    let known = |id: &Uuid| !Model::is_own(*id);
    for (id, intent) in model.intents.iter().filter(|(id, _)| known(id)) {
        let status = block_on(history.annals.inbox().status_at(IntentId(*id), At::Now));
        assert_eq!(
            status.expect("a status").as_str(),
            model.approval(*id),
            "{id}"
        );
        assert_eq!(waiting.get(id).copied(), model.inbox_reason(*id), "{id}");
        if intent.taken_in {
            let row = block_on(history.annals.index().row(*id)).expect("a row");
            assert_eq!(
                row.approval.map(|it| it.as_str()),
                Some(model.approval(*id)),
                "{id}"
            );
        }
        compare_intent(&get(history, IntentId(*id)), intent);
    }
    for (id, plan) in &model.plans {
        compare_plan(&get(history, PlanId(*id)), plan);
    }
    for (id, task) in model.tasks.iter().filter(|(id, _)| known(id)) {
        let view: TaskView = get(history, TaskId(*id));
        let dependencies = view.dependencies.iter().map(|id| id.0).collect();
        assert_eq!(
            (view.status().name(), dependencies),
            (task.status, task.dependencies.clone())
        );
        assert_eq!(view.intent.map(Uuid::from), task.intent);
    }
    for (id, run) in &model.runs {
        let view: RunView = get(history, RunId(*id));
        assert_eq!(
            (view.status().name(), view.task.0),
            (run.status, run.task),
            "run {id}"
        );
        assert_eq!(view.snapshot.is_some(), run.has_snapshot, "run {id}");
        if let Some(snapshot) = view.snapshot {
            let snapshot: ContextSnapshotView = get(history, snapshot);
            assert!(snapshot.finalized, "the snapshot of run {id}");
        }
        let patch_sets = model
            .patch_sets
            .iter()
            .filter(|(_, found)| found.run == *id);
        assert_eq!(view.patchsets.len(), patch_sets.count(), "run {id}");
    }
    for (id, patch_set) in &model.patch_sets {
        let view: PatchSetView = get(history, PatchSetId(*id));
        let found = (view.status().as_str(), view.run.0);
        assert_eq!(found, (patch_set.status, patch_set.run), "patch set {id}");
    }
    for (id, snapshot) in &model.snapshots {
        let view: ContextSnapshotView = get(history, SnapshotId(*id));
        let items = view.items.iter().map(|item| SnapshotItem {
            blob: item.blob,
            kept: item.content.is_some(),
        });
        let items: Vec<SnapshotItem> = items.collect();
        assert_eq!(
            (view.finalized, items),
            (snapshot.finalized, snapshot.items.clone())
        );
    }
    for (id, pipeline) in &model.pipelines {
        let view: ContextPipelineView = get(history, PipelineId(*id));
        let frames: Vec<u64> = view.frames().map(|frame| frame.frame_id.0).collect();
        let expected: Vec<u64> = pipeline.window.iter().map(|frame| frame.id).collect();
        assert_eq!((frames, view.max_frames()), (expected, pipeline.max_frames));
        assert_eq!(view.next_frame_id.0, pipeline.pushed);
    }
    compare_observations(history, model);
    let states = folds::fold(&history.seen);
    for (id, session) in &model.sessions {
        let stream = StreamRef {
            kind: StreamKind::Session,
            id: *id,
        };
        compare_session(&states[&stream], session);
    }
}

fn compare_observations(history: &History, model: &Model) {
    for (id, observation) in &model.observations {
        let view: ObservationView = get(history, ObservationId(*id));
        let settled = view.processed.as_ref().map(|it| it.intent.map(Uuid::from));
        let found = (view.kind.as_str(), settled);
        assert_eq!(found, (observation.kind, observation.processed), "{id}");
    }
    let open = model.observations.values();
    let open = open.filter(|observation| observation.processed.is_none());
    let query = ObservationsQuery::default().with_limit(1_000);
    let listed = block_on(history.annals.inbox().observations(&query)).expect("a list");
    assert_eq!(listed.entries.len(), open.count());
}

fn compare_session(state: &AnyState, session: &model::Session) {
    let AnyState::Session(state) = state else {
        panic!("expected a session, found {state:?}");
    };
    let State::Known(found) = &**state else {
        panic!("there is no session");
    };
    assert_eq!(found.status.as_str(), session.status());
    let open = |id: &Uuid| found.open.contains_key(&(*id).into());
    assert!(session.open.keys().all(open));
    let named = |id: &Option<Uuid>, command: CommandId| id.is_none_or(|id| id == command.0);
    assert_eq!(found.queue.len(), session.queue.len());
    let queue = found.queue.iter().zip(&session.queue);
    assert!(queue.into_iter().all(|(w, (id, _))| named(id, w.command)));
    assert_eq!(found.pending.len(), session.asks.len());
    let asks = found.pending.iter().zip(&session.asks);
    assert!(
        asks.into_iter()
            .all(|(pending, ask)| named(&ask.request, pending.request))
    );
    assert_eq!(*found.nodes, session.nodes);
    assert_eq!(found.run.map(Uuid::from), session.run);
}

fn get<V: View>(history: &History, id: V::Id) -> V {
    block_on(history.annals.get(id)).expect("an object that was created")
}

fn compare_intent(view: &IntentView, intent: &model::Intent) {
    let found = (view.status().as_str(), view.content.is_some());
    assert_eq!(found, (intent.status, intent.analyzed));
    let found = (view.plan.map(Uuid::from), view.commit);
    assert_eq!(found, (intent.plan, intent.commit));
}

fn compare_plan(view: &PlanView, plan: &model::Plan) {
    assert_eq!(view.pipeline.map(Uuid::from), plan.pipeline);
    assert_eq!(view.steps.len(), plan.steps.len());
    for (found, step) in view.steps.iter().zip(&plan.steps) {
        assert_eq!(found.status().as_str(), step.status);
        assert_eq!(found.task.map(Uuid::from), step.task);
        assert_eq!(found.iframes.len(), step.iframes.len(), "each frame once");
        assert!(
            found
                .iframes
                .iter()
                .all(|frame| step.iframes.contains(&frame.0))
        );
        assert!(
            found
                .oframes
                .iter()
                .all(|frame| step.oframes.contains(&frame.0))
        );
    }
}
