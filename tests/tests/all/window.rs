//! Windows through the facade: decisions that need one, and policies of one's
//! own on what was recorded.

use annals::domain::pipeline::{
    EvictionPolicy, FrameKind, PushFrame, SetEvictionPolicy, SetMaxFrames,
};
use annals::domain::plan::{AddStep, CreatePlan, NewStep};
use annals::domain::{ActorRef, Command, FrameId, Kind, PipelineId};
use annals::projections::ContextPipelineView;
use annals::projections::replay::{Candidate, ReplayOptions, Yardstick};
use annals::{Annals, At, ExecuteError, ObjectRef, Request};
use futures::executor::block_on;

/// The runtime that runs futures may move them from thread to thread.
fn any_thread<F: Future + Send>(future: F) -> F {
    future
}

fn actor() -> ActorRef {
    ActorRef::agent("coder")
}

fn push(pipeline: PipelineId, tokens: u64) -> Command {
    PushFrame::new(pipeline, FrameKind::ToolCall, "what")
        .with_token_estimate(tokens)
        .into()
}

fn plan(pipeline: PipelineId, end: u32) -> Command {
    CreatePlan::default()
        .with_pipeline(pipeline)
        .with_fwindow((0, end))
        .into()
}

fn execute(annals: &Annals, commands: Vec<Command>) -> Result<(), ExecuteError> {
    let request = |command| Request::new(actor(), command);
    let requests = commands.into_iter().map(request).collect();
    block_on(annals.execute_batch(None, requests)).map(|_| ())
}

fn refused(result: Result<(), ExecuteError>) -> String {
    match result {
        Err(ExecuteError::Refused { refusal, .. }) => refusal.to_string(),
        other => panic!("{other:?}"),
    }
}

/// A pipeline with a seed, which is protected, under a budget of 100 tokens.
fn budgeted() -> (Annals, PipelineId) {
    let annals = block_on(Annals::open("memory:")).expect("a log");
    let actor = actor();
    let me = annals.by(&actor);
    let intent = block_on(me.submit("Add pagination")).expect("an intent");
    let early = block_on(me.open_pipeline_for(intent, EvictionPolicy::token_budget(100)));
    assert!(refused(early.map(|_| ())).contains("analyze it first"));
    block_on(me.analyze(intent, "GET /users takes offset and limit")).expect("an analysis");
    let pipeline = block_on(me.open_pipeline_for(intent, EvictionPolicy::token_budget(100)));
    (annals, pipeline.expect("a pipeline"))
}

#[test]
fn a_pipeline_for_an_intent_begins_with_its_analysis() {
    let (annals, pipeline) = budgeted();
    let view: ContextPipelineView = block_on(annals.get(pipeline)).expect("a pipeline");
    let seed = view.frame_by_id(FrameId(0)).expect("the seed");
    assert_eq!(seed.kind, FrameKind::IntentAnalysis);
    assert_eq!(
        seed.summary.as_str(),
        Some("GET /users takes offset and limit")
    );
    assert_eq!(*view.policy(), EvictionPolicy::token_budget(100));
}

#[test]
fn a_plans_window_is_checked_under_every_policy_and_inside_a_batch() {
    let (annals, pipeline) = budgeted();
    // The seed and the last two of three: 1 + 2 frames.
    let pushes = || vec![push(pipeline, 50), push(pipeline, 50), push(pipeline, 50)];
    let with_plan = |end| [pushes(), vec![plan(pipeline, end)]].concat();
    let says = refused(execute(&annals, with_plan(4)));
    assert!(
        says.contains("start <= end <= 3, the number of frames"),
        "{says}"
    );
    let view: ContextPipelineView = block_on(annals.get(pipeline)).expect("a pipeline");
    assert_eq!(view.next_frame_id, FrameId(1), "all or nothing");
    execute(&annals, with_plan(3)).expect("a range of the window");
    execute(&annals, vec![plan(pipeline, 3)]).expect("the same later");
    assert!(
        refused(execute(&annals, vec![plan(pipeline, 4)]))
            .contains("start <= end <= 3, the number of frames")
    );
    // Another process, whose states are all to be loaded.
    let other = Annals::over(annals.log().clone());
    assert!(
        refused(execute(&other, vec![plan(pipeline, 4)]))
            .contains("start <= end <= 3, the number of frames")
    );
    let unlimited = SetEvictionPolicy::new(pipeline, EvictionPolicy::unlimited());
    let change = vec![unlimited.into(), push(pipeline, 500), plan(pipeline, 4)];
    execute(&other, change).expect("the policy of the same batch counts");
    assert!(
        refused(execute(&annals, vec![plan(pipeline, 5)]))
            .contains("start <= end <= 4, the number of frames")
    );
    let back = SetEvictionPolicy::new(pipeline, EvictionPolicy::max_frames(2));
    execute(&annals, vec![back.into(), plan(pipeline, 4)]).expect("no push yet");
    execute(&annals, vec![push(pipeline, 1), plan(pipeline, 2)]).expect("two are left");
    assert!(
        refused(execute(&annals, vec![plan(pipeline, 3)]))
            .contains("start <= end <= 2, the number of frames")
    );
}

#[test]
fn what_was_recorded_is_tried_under_policies_of_ones_own() {
    let (annals, pipeline) = budgeted();
    for tokens in [40, 40, 40] {
        execute(&annals, vec![push(pipeline, tokens)]).expect("a frame");
    }
    let draft = CreatePlan::default().with_pipeline(pipeline);
    let drafted = block_on(annals.execute(Request::new(actor(), draft))).expect("a plan");
    let step = NewStep::new("use them").with_iframes(vec![FrameId(1), FrameId(3)]);
    let used = AddStep::new(drafted.id.expect("its id").into(), step);
    execute(&annals, vec![used.into()]).expect("uses");
    let limit = SetMaxFrames::new(pipeline, 9);
    execute(&annals, vec![limit.into()]).expect("a limit that waits for its policy");
    let before = annals.position();
    let candidates = [
        Candidate::policy("more", EvictionPolicy::token_budget(1_000)),
        Candidate::policy("limits", EvictionPolicy::default()),
        Candidate::policy("two", EvictionPolicy::max_frames(2)),
    ];
    let options = ReplayOptions::default().with_optimum(true);
    let replayed = any_thread(annals.pipelines().replay(pipeline, &candidates, options));
    let replayed = block_on(replayed).expect("a replay");
    let misses: Vec<u64> = replayed.policies.iter().map(|row| row.misses).collect();
    assert_eq!(misses, [1, 0, 0, 1]);
    let optimum = replayed.policies[3].optimum.clone();
    assert_eq!(
        optimum,
        Some(Yardstick::Exact { misses: 1 }),
        "one place, two uses"
    );
    assert_eq!(annals.position(), before, "nothing is written");
    let view: ContextPipelineView =
        block_on(annals.get_at(pipeline, At::Position(before))).expect("a pipeline");
    assert_eq!(view.max_frames(), 9);
    let object = ObjectRef {
        kind: Kind::ContextPipeline,
        id: pipeline.0,
    };
    let seen = block_on(any_thread(annals.pipelines().window(object, None, At::Now)));
    assert_eq!(
        seen.expect("a window").window.frames.len(),
        view.window.len()
    );
}
