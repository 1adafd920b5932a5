//! Results that were used: by an edit of the file that they are about.

use std::path::Path;
use std::thread;

use annals::projections::PlanView;
use annals::{Annals, Request};
use annals_dialects::claude::{self, ChainIds, ClaudeOptions};
use annals_domain::pipeline::Event as PipelineEvent;
use annals_domain::plan::{AddStep, Event as PlanEvent, NewStep, StepStatus};
use annals_domain::{ActorRef, AnyEvent, PlanId};
use futures::executor::block_on;
use serde_json::{Value, json};

use super::log::Log;
use super::recording::{Folder, Recording};

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
    let frames = |ids: &[annals_domain::FrameId]| ids.iter().map(|id| id.0).collect::<Vec<u64>>();
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
    ChainIds::of_session("s").plan
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
    let ids = ChainIds::of_session("s");
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
    assert_eq!(log.count("plan.step_frames_linked"), 1);
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
    let side = ChainIds::of_side_chain("s", "helper").plan;
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
        assert_eq!(grown.annals.position(), once.annals.position());
        let end = grown.annals.position();
        grown.grow(&recording, 99);
        assert_eq!(grown.annals.position(), end);
        assert_eq!(grown.fates(FIELD), [0; 3]);
    }
}

/// A log of a version that inferred nothing has the frames of the read and of
/// the edit. (Here the read was of another file, so that nothing was inferred.)
#[test]
fn a_log_without_steps_gets_them() {
    let older = of(&[("t1", "Read", "other"), ("t2", "Edit", "a")]);
    let mut log = Log::of(&older);
    assert_eq!(steps(&log, plan()), []);
    let recording = of(&[("t1", "Read", "a"), ("t2", "Edit", "a")]);
    log.grow(&recording, 99);
    let expected = step("Edit a", 1, 2, StepStatus::Completed);
    assert_eq!(steps(&log, plan()), [expected]);
    // The step's five events, and no others.
    assert_eq!(log.report.events_made, 5, "{}", log.report);
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
    let copied = ChainIds::of_session("copy").plan;
    let done = StepStatus::Completed;
    assert_eq!(steps(&log, plan()), [step("Edit a", 1, 2, done)]);
    // Its own edit is used by the next one.
    assert_eq!(steps(&log, copied), [step("Edit a", 4, 5, done)]);
    assert!(!log.has_note("step of the plan"), "{}", log.report);
}

/// Adds a step to a plan, as somebody else would.
fn interfere(annals: &Annals) {
    let annals = annals.clone();
    let add = AddStep::new(plan(), NewStep::new("Somebody else's"));
    let request = Request::new(ActorRef::human("ada"), add);
    let other = thread::spawn(move || block_on(annals.execute(request)).unwrap());
    other.join().unwrap();
}

/// Imports, and something happens after each line from one on.
fn import_beside(log: &mut Log, path: &Path, mut after: impl FnMut(u64)) {
    let options = ClaudeOptions::default();
    let mut lines = 0;
    let mut progress = |_| {
        lines += 1;
        after(lines);
    };
    log.report = block_on(claude::import(&log.annals, path, &options, &mut progress)).unwrap();
}

/// The number that was counted does not fit any more, and is asked for anew.
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
    import_beside(&mut log, &path, |lines| {
        if lines == 5 {
            interfere(&annals);
        }
    });
    let done = StepStatus::Completed;
    let foreign = (
        "Somebody else's".to_owned(),
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
