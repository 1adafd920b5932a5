//! Side chains as sub-tasks, resumed and copied sessions, folders.

use annals::projections::{IntentView, PlanView, RunView, TaskView, ToolInvocationView};
use annals_dialects::claude::{self, ChainIds, ClaudeOptions};
use annals_dialects::import::{GrowingRecordings, in_time_order};
use annals_domain::run::Status;
use futures::executor::block_on;
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

/// What sub-agents did, each in a file of its own, and what is next to it: the name, the caller, and the call.
struct SubAgents(Folder);

impl SubAgents {
    /// A session that calls `outer`, which calls `inner`, which calls `last`.
    fn nested() -> SubAgents {
        let folder = Folder::new();
        let mut recording = Recording::of("s");
        recording
            .user(json!("Survey it"))
            .calls(
                "m1",
                "call-outer",
                "Task",
                json!({ "prompt": "Survey src" }),
            )
            .text("m2", "All of it is short.");
        folder.write("s.jsonl", recording.file(9));
        let agents = SubAgents(folder);
        agents.agent("outer", 100, Some("call-inner"));
        agents.agent("inner", 200, Some("call-last"));
        agents.agent("last", 300, None);
        agents
    }

    fn agent(&self, name: &str, second: u32, call: Option<&str>) {
        let mut agent = Recording::of("s").after(second);
        agent.on_side(json!(name)).user(json!(format!("To {name}")));
        agent.with(json!({ "uuid": format!("{name}-0"), "parentUuid": null }));
        if let Some(call) = call {
            let message = format!("m-{name}");
            agent
                .calls(&message, call, "Task", json!({ "prompt": "Look" }))
                .with(json!({ "uuid": format!("{name}-1") }))
                .result(call, json!("Looked."), false)
                .with(json!({ "uuid": format!("{name}-2") }));
        }
        agent
            .text(&format!("m-{name}-2"), "Looked.")
            .with(json!({ "uuid": format!("{name}-3") }));
        let path = format!("s/subagents/agent-{name}.jsonl");
        self.0.write(&path, agent.file(9));
    }

    fn about(&self, name: &str, about: Value) {
        let path = format!("s/subagents/agent-{name}.meta.json");
        self.0.write(&path, about.to_string());
    }

    /// The callers in the log, from the innermost sub-agent outwards.
    fn check(&self, log: &Log) {
        let ids = claude::ids();
        let task = |name: &str| ids.side_chain("s", name).task;
        let parent = |name: &str| log.get::<TaskView>(task(name)).parent;
        let parents = ["outer", "inner", "last"].map(parent);
        let expected = [ids.session("s").task, task("outer"), task("inner")];
        assert_eq!(parents, expected.map(Some));
        let titles = ["outer", "inner", "last"].map(|name| log.get::<TaskView>(task(name)).title);
        let titles = titles.each_ref().map(|title| title.as_str().unwrap());
        assert_eq!(titles, ["To outer", "To inner", "To last"]);
        assert_eq!(log.count("task.created"), 4);
    }
}

#[test]
fn a_sub_agent_is_a_part_of_the_one_that_called_it() {
    for (outer, inner, last) in [
        // Named by the call and by the caller, by one of them, and by neither the caller's own file.
        (
            json!({ "toolUseId": "call-outer", "spawnDepth": 1 }),
            json!({ "toolUseId": "call-inner", "parentAgentId": "outer", "spawnDepth": 2 }),
            json!({ "toolUseId": "call-last", "parentAgentId": "inner", "spawnDepth": 3 }),
        ),
        (
            json!({ "agentType": "x" }),
            json!({ "parentAgentId": "outer" }),
            json!({ "parentAgentId": "inner" }),
        ),
        (
            json!({ "toolUseId": "call-outer" }),
            json!({ "toolUseId": "call-inner" }),
            json!({ "toolUseId": "call-last" }),
        ),
    ] {
        let agents = SubAgents::nested();
        agents.about("outer", outer);
        agents.about("inner", inner);
        agents.about("last", last);
        let mut log = Log::empty();
        log.import(agents.0.path());
        agents.check(&log);
        assert_eq!(log.report.passed_over, [], "{}", log.report);
        let before = log.annals.position();
        log.import(agents.0.path());
        assert_eq!((log.annals.position(), log.report.imported), (before, 0));
        // One file after the other.
        let mut log = Log::empty();
        for file in [
            "s.jsonl",
            "s/subagents/agent-outer.jsonl",
            "s/subagents/agent-inner.jsonl",
            "s/subagents/agent-last.jsonl",
        ] {
            log.import(&agents.0.path().join(file));
        }
        agents.check(&log);
    }
}

/// The result of the call names the sub-agent, where nothing is next to its recording.
#[test]
fn the_result_of_a_call_names_the_sub_agent_that_it_called() {
    let agents = SubAgents::nested();
    for (name, inner) in [("outer", "inner"), ("inner", "last")] {
        let path = agents
            .0
            .path()
            .join(format!("s/subagents/agent-{name}.jsonl"));
        let text = std::fs::read_to_string(&path).unwrap();
        let lines = text.lines().map(|line| {
            let mut line: Value = serde_json::from_str(line).unwrap();
            if line["message"]["content"][0]["type"] == "tool_result" {
                line["toolUseResult"] = json!({ "status": "completed", "agentId": inner });
            }
            format!("{line}\n")
        });
        std::fs::write(path, lines.collect::<String>()).unwrap();
    }
    let mut log = Log::empty();
    log.import(agents.0.path());
    agents.check(&log);
}

/// The recordings of sub-agents whose times say nothing of their order, and of one whose caller was not read.
#[test]
fn a_caller_comes_first_whatever_its_recording_is_called() {
    let folder = SubAgents(Folder::new());
    let mut recording = Recording::of("s");
    recording.user(json!("Survey it")).text("m1", "Yes.");
    folder.0.write("s.jsonl", recording.file(9));
    // By name the innermost one comes first.
    folder.agent("a", 50, None);
    folder.agent("b", 50, Some("call-a"));
    folder.agent("c", 50, None);
    folder.about("a", json!({ "parentAgentId": "b" }));
    folder.about("c", json!({ "parentAgentId": "gone" }));
    let mut log = Log::empty();
    log.import(folder.0.path());
    let task = |name: &str| log.get::<TaskView>(claude::ids().side_chain("s", name).task);
    let id = |name: &str| claude::ids().side_chain("s", name).task;
    assert_eq!(task("a").parent, Some(id("b")));
    assert_eq!(task("b").title.as_str(), Some("To b"));
    assert_eq!(task("c").parent, Some(id("gone")));
    assert_eq!(task("gone").parent, Some(claude::ids().session("s").task));
}

/// Followed as they grow, sub-agents are parts of those that called them, before any call has its result.
#[test]
fn followed_sub_agents_are_parts_of_those_that_called_them() {
    let agents = SubAgents::nested();
    agents.about("outer", json!({ "toolUseId": "call-outer" }));
    agents.about(
        "inner",
        json!({ "toolUseId": "call-inner", "parentAgentId": "outer" }),
    );
    agents.about(
        "last",
        json!({ "toolUseId": "call-last", "parentAgentId": "inner" }),
    );
    let log = Log::empty();
    let options = ClaudeOptions::default();
    let mut growing = GrowingRecordings::new(&log.annals, "claude", &options).unwrap();
    let paths = ["agent-last", "agent-inner", "agent-outer"].map(|name| {
        let path = format!("s/subagents/{name}.jsonl");
        agents.0.path().join(path)
    });
    let paths = [paths.to_vec(), vec![agents.0.path().join("s.jsonl")]].concat();
    for path in in_time_order(paths) {
        let text = std::fs::read_to_string(&path).unwrap();
        for lines in 1..=text.lines().count() {
            let grown = text.split_inclusive('\n').take(lines).collect::<String>();
            std::fs::write(&path, grown).unwrap();
            let report = block_on(growing.grown(&path, &mut |_| {})).unwrap();
            assert_eq!(report.broken, [], "{report}");
        }
    }
    agents.check(&log);
}
