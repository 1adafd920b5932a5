//! Results that were used: by an edit of the file that they are about.

use std::path::Path;
use std::thread;

use annals::projections::replay::{Candidate, ReplayOptions};
use annals::projections::{Entry, PlanView};
use annals::{Annals, Request};
use annals_dialects::claude::{self, ClaudeOptions};
use annals_domain::pipeline::{Event as PipelineEvent, EvictionPolicy, FrameKind, PushFrame};
use annals_domain::plan::{
    AddStep, Event as PlanEvent, LinkStepFrames, NewStep, SetStepStatus, StepStatus,
};
use annals_domain::run::{DiffFormat, ProposePatchSet, RecordToolInvocation, ToolStatus};
use annals_domain::{ActorRef, AnyEvent, Command, FrameId, PlanId};
use futures::executor::block_on;
use serde_json::{Value, json};
use uuid::Uuid;

use super::log::Log;
use super::recording::{Folder, Recording};
use crate::recorded::assert_same;

const FIELD: &str = "plan.steps and their frames (a tool result whose file is edited later)";

fn file(name: &str) -> Value {
    json!({ "file_path": format!("/home/ada/project/{name}"), "old_string": "a", "new_string": "b" })
}

/// A call of a tool on a file, and its result.
fn does(recording: &mut Recording, id: &str, tool: &str, name: &str, is_error: bool) {
    recording
        .calls(&format!("m-{id}"), id, tool, file(name))
        .result(id, json!(format!("result of {id}")), is_error);
}

/// A recording of such calls, all of which work.
fn of(calls: &[(&str, &str, &str)]) -> Recording {
    let mut recording = Recording::of("s");
    recording.user(json!("Go"));
    for (id, tool, name) in calls {
        does(&mut recording, id, tool, name, false);
    }
    recording
}

/// The steps of a plan: description, frames consumed and produced, and status.
fn steps(log: &Log, plan: PlanId) -> Vec<(String, Vec<u64>, Vec<u64>, StepStatus)> {
    let plan: PlanView = log.get(plan);
    let frames = |ids: &[FrameId]| ids.iter().map(|id| id.0).collect::<Vec<u64>>();
    let step = |step: &annals::projections::PlanStepView| {
        let (used, made) = (frames(&step.iframes), frames(&step.oframes));
        (step.description.to_string(), used, made, step.status())
    };
    plan.steps.iter().map(step).collect()
}

fn step(
    description: &str,
    used: u64,
    made: u64,
    status: StepStatus,
) -> (String, Vec<u64>, Vec<u64>, StepStatus) {
    (description.to_owned(), vec![used], vec![made], status)
}

fn plan() -> PlanId {
    claude::ids().session("s").plan
}

#[test]
fn an_edit_used_what_was_read_of_its_file() {
    let recording = of(&[
        ("t1", "Read", "src/x.rs"),
        ("t2", "Read", "src/y.rs"),
        ("t3", "Edit", "src/x.rs"),
    ]);
    let log = Log::of(&recording);
    // Frame 0 is the prompt.
    let expected = step("Edit src/x.rs", 1, 3, StepStatus::Completed);
    assert_eq!(steps(&log, plan()), [expected]);
    let ids = claude::ids().session("s");
    let mut uses = 0;
    for entry in log.entries() {
        match &entry.event {
            AnyEvent::Pipeline(PipelineEvent::FramesUsed(used)) => {
                assert_eq!(entry.stream.id, ids.pipeline.0);
                assert_eq!((used.plan, used.step, used.inferred), (ids.plan, 0, true));
                assert_eq!(used.frames.iter().map(|id| id.0).collect::<Vec<_>>(), [1]);
                uses += 1;
            }
            AnyEvent::Plan(PlanEvent::StepFramesLinked(linked)) => assert!(linked.inferred),
            _ => {}
        }
    }
    assert_eq!(uses, 1);
    // What it used, and what it made.
    assert_eq!(log.count("plan.step_frames_linked"), 2);
    assert_eq!(log.fates(FIELD), [0, 1, 0], "{}", log.report);
}

#[test]
fn the_newest_result_counts_and_an_edit_that_worked_is_one() {
    let recording = of(&[
        ("t1", "Read", "a"),
        ("t2", "Read", "a"),
        ("t3", "Edit", "a"),
        ("t4", "MultiEdit", "a"),
        ("t5", "Write", "b"),
        ("t6", "Edit", "b"),
        ("t7", "Edit", "c"),
        ("t8", "Bash", "a"),
        ("t9", "Write", "a"),
    ]);
    let log = Log::of(&recording);
    let done = StepStatus::Completed;
    let expected = [
        step("Edit a", 2, 3, done),
        step("MultiEdit a", 3, 4, done),
        step("Edit b", 5, 6, done),
        step("Write a", 4, 9, done),
    ];
    assert_eq!(steps(&log, plan()), expected);
}

#[test]
fn what_failed_was_not_used_and_its_step_failed() {
    let mut recording = of(&[]);
    for (id, tool, is_error) in [
        ("t1", "Read", true),
        ("t2", "Edit", false),
        ("t3", "Edit", true),
        ("t4", "Edit", false),
    ] {
        does(&mut recording, id, tool, "a", is_error);
    }
    let log = Log::of(&recording);
    let expected = [
        step("Edit a", 2, 3, StepStatus::Failed),
        step("Edit a", 2, 4, StepStatus::Completed),
    ];
    assert_eq!(steps(&log, plan()), expected);
}

#[test]
fn the_same_file_is_known_from_another_folder() {
    let mut recording = of(&[("t1", "Read", "src/a")]);
    let input = json!({ "file_path": "src/a", "old_string": "x", "new_string": "y" });
    recording
        .calls("m2", "t2", "Edit", input.clone())
        .result("t2", json!("ok"), false)
        .calls("m3", "t3", "Edit", input)
        .with(json!({ "cwd": "/home/ada/other" }))
        .result("t3", json!("ok"), false)
        .calls("m4", "t4", "Edit", file("src/a"))
        .with(json!({ "cwd": "/home/ada/project/src" }))
        .result("t4", json!("ok"), false);
    let log = Log::of(&recording);
    let done = StepStatus::Completed;
    let expected = [step("Edit src/a", 1, 2, done), step("Edit a", 2, 4, done)];
    assert_eq!(steps(&log, plan()), expected);
}

/// Each chain has its own context: what one reads the other does not know.
#[test]
fn chains_are_apart() {
    let mut recording = of(&[("t1", "Read", "a")]);
    recording
        .on_side(json!("helper"))
        .user(json!("Help with it"));
    does(&mut recording, "t2", "Edit", "a", false);
    does(&mut recording, "t3", "Read", "b", false);
    does(&mut recording, "t4", "Edit", "b", false);
    recording.on_main();
    does(&mut recording, "t5", "Edit", "b", false);
    does(&mut recording, "t6", "Edit", "a", false);
    let log = Log::of(&recording);
    let done = StepStatus::Completed;
    let side = claude::ids().side_chain("s", "helper").plan;
    assert_eq!(steps(&log, side), [step("Edit b", 2, 3, done)]);
    assert_eq!(steps(&log, plan()), [step("Edit a", 1, 3, done)]);
}

#[test]
fn a_call_that_is_read_again_uses_nothing_more() {
    let mut recording = of(&[("t1", "Edit", "a"), ("t2", "Edit", "a")]);
    does(&mut recording, "t1", "Edit", "a", false);
    let log = Log::of(&recording);
    let expected = step("Edit a", 1, 2, StepStatus::Completed);
    assert_eq!(steps(&log, plan()), [expected]);
}

/// The read and the edit come with different imports.
#[test]
fn what_an_earlier_import_recorded_is_used_by_a_later_one() {
    let recording = of(&[
        ("t1", "Read", "a"),
        ("t2", "Edit", "a"),
        ("t3", "Edit", "a"),
    ]);
    let done = StepStatus::Completed;
    let expected = [step("Edit a", 1, 2, done), step("Edit a", 2, 3, done)];
    let once = Log::of(&recording);
    for cut in [3, 4, 5, 6] {
        let mut grown = Log::empty();
        grown.grow(&recording, cut);
        grown.grow(&recording, 99);
        assert_eq!(steps(&grown, plan()), expected, "cut at {cut}");
        assert_same(&grown, &once, &format!("cut at {cut}"));
        let end = grown.annals.position();
        grown.grow(&recording, 99);
        assert_eq!(grown.annals.position(), end);
        assert_eq!(grown.fates(FIELD), [0; 3]);
    }
}

/// A log of a version that inferred nothing has the frames of the read and of
/// the edit; a use after both would be in the wrong place. (Here the read was of
/// another file, so that nothing was inferred.)
#[test]
fn an_edit_that_was_recorded_without_a_step_stays_without_one() {
    let older = of(&[("t1", "Read", "other"), ("t2", "Edit", "a")]);
    let mut log = Log::of(&older);
    assert_eq!(steps(&log, plan()), []);
    let mut recording = of(&[("t1", "Read", "a"), ("t2", "Edit", "a")]);
    log.grow_otherwise(&recording, 99);
    assert_eq!(steps(&log, plan()), []);
    assert_eq!(log.report.events_made, 0, "{}", log.report);
    assert_eq!(log.report.notes, [""; 0]);
    // The next edit is new.
    does(&mut recording, "t3", "Edit", "a", false);
    log.grow_otherwise(&recording, 99);
    let expected = step("Edit a", 2, 3, StepStatus::Completed);
    assert_eq!(steps(&log, plan()), [expected]);
}

/// The edit's own frame may evict the one that it used. The model had seen it.
#[test]
fn the_use_comes_before_the_push_that_may_evict_its_frame() {
    let log = Log::of(&of(&[("t1", "Read", "a"), ("t2", "Edit", "a")]));
    let pipeline = claude::ids().session("s").pipeline;
    let happened = |entry: &Entry| match &entry.event {
        AnyEvent::Pipeline(PipelineEvent::FramePushed(pushed)) => Some(("push", pushed.frame_id.0)),
        AnyEvent::Pipeline(PipelineEvent::FramesUsed(used)) => Some(("use", used.frames[0].0)),
        _ => None,
    };
    let course: Vec<_> = log.entries().iter().filter_map(happened).collect();
    assert_eq!(course, [("push", 0), ("push", 1), ("use", 1), ("push", 2)]);
    let two = [Candidate::policy("two", EvictionPolicy::max_frames(2))];
    let replayed = log
        .annals
        .pipelines()
        .replay(pipeline, &two, ReplayOptions::default());
    let replayed = block_on(replayed).unwrap();
    let two = &replayed.policies[1];
    let counts = (two.name.as_str(), two.evictions, two.uses, two.misses);
    assert_eq!(counts, ("two", 1, 1, 0));
}

/// Executes a batch as an import does that goes no further.
fn leave(log: &Log, key: Uuid, commands: Vec<Command>) {
    let request = |command| Request::new(ActorRef::human("ada"), command);
    let requests = commands.into_iter().map(request).collect();
    block_on(log.annals.execute_batch(Some(key), requests)).unwrap();
}

/// The step's beginning, under the key that it has in another log.
fn leave_beginning(log: &Log, once: &Log) {
    let plan = plan();
    let is_step = |entry: &&Entry| matches!(&entry.event, AnyEvent::Plan(PlanEvent::StepAdded(_)));
    let key = once.entries().iter().find(is_step).unwrap().batch_id;
    let link = LinkStepFrames::new(plan, 0)
        .with_iframes(vec![FrameId(1)])
        .with_inferred(true);
    let progressing = SetStepStatus::new(plan, 0, StepStatus::Progressing);
    let add = AddStep::new(plan, NewStep::new("Edit a"));
    leave(log, key, vec![add.into(), link.into(), progressing.into()]);
}

fn leave_edit(log: &Log) {
    let (chain, ids) = (claude::ids().session("s"), claude::ids().tool("t2"));
    let invocation = RecordToolInvocation::new(chain.run, "Edit", ToolStatus::Ok)
        .with_id(ids.invocation)
        .with_result_summary(Some("done".to_owned()));
    let push = PushFrame::new(chain.pipeline, FrameKind::CodeChange, "Edit a");
    leave(log, ids.batch, vec![invocation.into(), push.into()]);
}

/// An import that ends before the edit's unit, or after it and before the
/// step's end, is completed by the next one.
#[test]
fn an_interrupted_step_is_completed() {
    let recording = of(&[
        ("t1", "Read", "a"),
        ("t2", "Edit", "a"),
        ("t3", "Edit", "a"),
    ]);
    let once = Log::of(&recording);
    let done = StepStatus::Completed;
    let expected = [step("Edit a", 1, 2, done), step("Edit a", 2, 3, done)];
    for has_edit in [false, true] {
        let mut log = Log::empty();
        // Without the result of t2.
        log.grow(&recording, 4);
        leave_beginning(&log, &once);
        if has_edit {
            leave_edit(&log);
        }
        log.grow_otherwise(&recording, 99);
        assert_eq!(steps(&log, plan()), expected, "{has_edit}");
        assert_eq!(log.count("plan.step_added"), 2);
        assert!(!log.has_note("step of the plan"), "{}", log.report);
        log.grow_otherwise(&recording, 99);
        assert_eq!(log.report.events_made, 0);
    }
}

/// The step of an edit that the log refuses has failed, and made nothing.
#[test]
fn the_step_of_an_edit_that_is_refused_fails() {
    let recording = of(&[("t1", "Read", "a"), ("t2", "Edit", "a")]);
    let mut log = Log::empty();
    log.grow(&recording, 4);
    // Another command has taken the id of its patch set.
    let taken = ProposePatchSet::new(claude::ids().session("s").run, DiffFormat::Unified)
        .with_id(claude::ids().tool("t2").patch_set);
    leave(&log, Uuid::from_u128(1), vec![taken.into()]);
    let folder = Folder::new();
    let path = folder.write("r.jsonl", recording.file(99));
    let report = log.try_import(&path, &ClaudeOptions::default()).unwrap();
    assert_eq!(report.broken_count, 1);
    let failed = ("Edit a".to_owned(), vec![1], vec![], StepStatus::Failed);
    assert_eq!(steps(&log, plan()), [failed]);
    let again = log.try_import(&path, &ClaudeOptions::default()).unwrap();
    assert_eq!((again.broken_count, again.events_made), (1, 0));
}

/// A copy of a session under another name: its reads are in the first one's
/// pipeline, whose frames have the same numbers as others of the copy's.
#[test]
fn frames_of_another_pipeline_are_not_used() {
    let old = of(&[("t1", "Read", "a"), ("t2", "Edit", "a")]);
    let mut copy = old.clone();
    for message in ["m1", "m2", "m3", "m4"] {
        copy.text(message, "I go on.");
    }
    does(&mut copy, "t3", "Edit", "a", false);
    does(&mut copy, "t4", "Edit", "a", false);
    for line in &mut copy.lines {
        line["sessionId"] = json!("copy");
    }
    let mut log = Log::of(&old);
    log.grow(&copy, 99);
    let copied = claude::ids().session("copy").plan;
    let done = StepStatus::Completed;
    assert_eq!(steps(&log, plan()), [step("Edit a", 1, 2, done)]);
    // Its own edit is used by the next one.
    assert_eq!(steps(&log, copied), [step("Edit a", 4, 5, done)]);
    assert!(!log.has_note("step of the plan"), "{}", log.report);
}

/// Adds a step to a plan, as another user would.
fn interfere(annals: &Annals) {
    let annals = annals.clone();
    let add = AddStep::new(plan(), NewStep::new("Another user's"));
    let request = Request::new(ActorRef::human("ada"), add);
    let other = thread::spawn(move || block_on(annals.execute(request)).unwrap());
    other.join().unwrap();
}

/// Imports, and something happens after each line from one on.
fn import_with(log: &mut Log, path: &Path, mut after: impl FnMut(u64)) {
    let options = ClaudeOptions::default();
    let mut lines = 0;
    let mut progress = |_| {
        lines += 1;
        after(lines);
    };
    log.report = block_on(claude::import(&log.annals, path, &options, &mut progress)).unwrap();
}

/// The number that was counted does not fit any more, and is asked for again.
#[test]
fn steps_that_others_add_meanwhile_are_left_alone() {
    let recording = of(&[
        ("t1", "Edit", "a"),
        ("t2", "Edit", "a"),
        ("t3", "Edit", "a"),
    ]);
    let folder = Folder::new();
    let path = folder.write("r.jsonl", recording.file(99));
    let mut log = Log::empty();
    let annals = log.annals.clone();
    // After the result of t2.
    import_with(&mut log, &path, |lines| {
        if lines == 5 {
            interfere(&annals);
        }
    });
    let done = StepStatus::Completed;
    let foreign = (
        "Another user's".to_owned(),
        vec![],
        vec![],
        StepStatus::Pending,
    );
    let expected = [
        step("Edit a", 1, 2, done),
        foreign,
        step("Edit a", 2, 3, done),
    ];
    assert_eq!(steps(&log, plan()), expected);
    assert_eq!(log.report.broken, []);
}
