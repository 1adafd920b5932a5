//! Side chains as sub-tasks, resumed and copied sessions, folders.

use annals::projections::{IntentView, PlanView, RunView, TaskView, ToolInvocationView};
use annals_dialects::claude::{self, ChainIds};
use annals_domain::run::Status;
use serde_json::{Value, json};

use super::log::Log;
use super::recording::{Folder, Recording};

/// A session that hands work to a side chain, which is in the same file.
fn delegating(agent: Value) -> Recording {
    let mut recording = Recording::of("s");
    recording
        .user(json!("Go"))
        .calls("m1", "task", "Task", json!({ "prompt": "Search for it" }))
        .on_side(agent)
        .user(json!("Search for it"))
        .with(json!({ "parentUuid": null }))
        .calls("m2", "t1", "Grep", json!({ "pattern": "it" }))
        .result("t1", json!("found"), false)
        .text("m3", "It is there.")
        .on_main()
        .result("task", json!("It is there."), false)
        .text("m4", "Found.");
    recording
}

fn check_side_chain(log: &Log, side: ChainIds) {
    let main = claude::ids().session("s");
    let task: TaskView = log.get(side.task);
    assert_eq!(task.title.as_str(), Some("Search for it"));
    assert_eq!(
        (task.parent, task.intent),
        (Some(main.task), Some(claude::ids().intent("s-0")))
    );
    let run: RunView = log.get(side.run);
    assert_eq!((run.task, run.status()), (side.task, Status::Patching));
    let plan: PlanView = log.get(side.plan);
    assert_eq!((plan.intent, plan.pipeline), (None, Some(side.pipeline)));
    let first: IntentView = log.get(claude::ids().intent("s-0"));
    assert_eq!(first.plan, Some(main.plan));
    let run_of = |id: &str| {
        log.get::<ToolInvocationView>(claude::ids().tool(id).invocation)
            .run_id
    };
    assert_eq!((run_of("task"), run_of("t1")), (main.run, side.run));
    assert_eq!(log.count("intent.submitted"), 1);
    assert_eq!(log.count("task.created"), 2);
    assert_eq!(log.count("run.provenance_recorded"), 2);
    // Two messages on either chain.
    assert_eq!(log.tokens(), [4, 8, 12, 16]);
}

#[test]
fn a_side_chain_is_a_sub_task_with_a_run_of_its_own() {
    let log = Log::of(&delegating(json!("agent-7")));
    check_side_chain(&log, claude::ids().side_chain("s", "agent-7"));
}

#[test]
fn older_side_chains_are_named_by_their_first_line() {
    let log = Log::of(&delegating(json!(null)));
    check_side_chain(&log, claude::ids().side_chain("s", "s-2"));
}

#[test]
fn older_side_chains_may_alternate() {
    let mut recording = Recording::of("s");
    recording.user(json!("Go")).on_side(json!(null));
    for root in ["one", "two"] {
        recording
            .user(json!(root))
            .with(json!({ "parentUuid": null, "uuid": root }));
    }
    for root in ["one", "two"] {
        recording
            .calls(root, &format!("t-{root}"), "Grep", json!({}))
            .with(json!({ "parentUuid": root, "uuid": format!("{root}-a") }));
    }
    for root in ["two", "one"] {
        recording
            .result(&format!("t-{root}"), json!("ok"), false)
            .with(json!({ "parentUuid": format!("{root}-a") }));
    }
    let log = Log::of(&recording);
    for root in ["one", "two"] {
        let call: ToolInvocationView = log.get(claude::ids().tool(&format!("t-{root}")).invocation);
        assert_eq!(call.run_id, claude::ids().side_chain("s", root).run);
    }
}

#[test]
fn older_side_chains_may_hang_on_the_call_that_began_them() {
    let mut recording = Recording::of("s");
    recording.user(json!("Go"));
    for (root, message) in [("one", "m1"), ("two", "m2")] {
        recording
            .on_main()
            .calls(message, &format!("task-{root}"), "Task", json!({}));
        recording
            .on_side(json!(null))
            .user(json!(root))
            .with(json!({ "uuid": root }));
        // The line between could not be read.
        recording
            .text(&format!("{message}-side"), "Done.")
            .with(json!({ "parentUuid": "gone" }));
    }
    let log = Log::of(&recording);
    for root in ["one", "two"] {
        let run: RunView = log.get(claude::ids().side_chain("s", root).run);
        assert_eq!(run.status(), Status::Patching);
    }
    assert_eq!(log.count("task.created"), 3);
}

#[test]
fn a_side_chain_in_a_file_of_its_own_is_the_same() {
    let whole = delegating(json!("agent-7"));
    let lines = |side: bool| -> String {
        let ours = whole
            .lines
            .iter()
            .filter(|line| line["isSidechain"] == side);
        ours.map(|line| format!("{line}\n")).collect()
    };
    let folder = Folder::new();
    // By name the side chain's file comes first; by time it does not.
    folder.write("a/subagents/agent-7.jsonl", lines(true));
    folder.write("s.jsonl", lines(false));
    folder.write("a/notes.txt", "no recording");
    let mut log = Log::empty();
    log.import(folder.path());
    check_side_chain(&log, claude::ids().side_chain("s", "agent-7"));
    let before = log.annals.position();
    log.import(folder.path());
    assert_eq!((log.annals.position(), log.report.imported), (before, 0));
}

/// A session that was resumed: the new file repeats the old lines, with the
/// new session's name or with their own, and goes on.
fn resumed(old: &Recording, name: &str, renamed: bool) -> Recording {
    let mut new = Recording::of(name).after(100);
    new.lines.clone_from(&old.lines);
    if renamed {
        for line in &mut new.lines {
            line["sessionId"] = json!(name);
        }
    }
    new.user(json!("Go on")).text("m9", "Going on.");
    new
}

#[test]
fn repeated_lines_of_a_resumed_session_count_once() {
    let mut old = Recording::of("old");
    old.user(json!("Begin"))
        .calls("m1", "t1", "Bash", json!({}))
        .result("t1", json!("ok"), false)
        .text("m2", "Begun.");
    for renamed in [false, true] {
        let folder = Folder::new();
        folder.write("a.jsonl", old.file(9));
        folder.write("b.jsonl", resumed(&old, "new", renamed).file(99));
        let mut log = Log::empty();
        log.import(folder.path());
        assert_eq!((log.report.records_read, log.report.already_there), (10, 4));
        assert_eq!(
            (log.count("intent.submitted"), log.count("run.tool_invoked")),
            (2, 1)
        );
        assert_eq!(log.tokens(), [3, 6, 9, 12]);
        // The prompt that goes on refines the old one where the recording
        // says that they are of one session.
        let later: IntentView = log.get(claude::ids().intent("new-4"));
        assert_eq!(later.parent, renamed.then(|| claude::ids().intent("old-0")));
        let task: TaskView = log.get(claude::ids().session("new").task);
        let first = if renamed { "old-0" } else { "new-4" };
        assert_eq!(task.intent, Some(claude::ids().intent(first)));
    }
}

#[test]
fn a_copy_without_anything_new_makes_nothing() {
    let old = delegating(json!("agent-7"));
    let mut copy = old.clone();
    for line in &mut copy.lines {
        line["sessionId"] = json!("copy");
    }
    let mut log = Log::of(&old);
    let before = log.annals.position();
    log.grow(&copy, 99);
    assert_eq!((log.annals.position(), log.report.imported), (before, 0));
    assert_eq!(log.report.already_there, 8);
}

#[test]
fn a_session_in_two_files_is_one() {
    let mut first = Recording::of("s");
    first.user(json!("One")).text("m1", "1");
    let mut second = Recording::of("s").after(60);
    second.lines.clone_from(&first.lines);
    second.user(json!("Two")).text("m2", "2");
    second.lines.drain(..2);
    // At once, and the second one alone after the first one.
    for together in [true, false] {
        let folder = Folder::new();
        let (a, b) = (
            folder.write("b.jsonl", first.file(9)),
            folder.write("a.jsonl", second.file(9)),
        );
        let mut log = Log::empty();
        if together {
            log.import(folder.path());
        } else {
            log.import(&a);
            log.import(&b);
        }
        let two: IntentView = log.get(claude::ids().intent("s-2"));
        assert_eq!(two.parent, Some(claude::ids().intent("s-0")));
        assert_eq!(
            (
                log.count("task.created"),
                log.count("pipeline.frame_pushed")
            ),
            (1, 4)
        );
    }
}
