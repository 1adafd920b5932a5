//! Trajectories of SWE-agent and mini-swe-agent, run on runs that the tests make.

use serde_json::{Value, json};

use crate::agent_log::{AgentLog, check_grown};

const TASK: &str = "ISSUE:\nIt rounds down\nReally.\n\nINSTRUCTIONS:\nSolve it.";

fn step(action: &str, observation: &str, open_file: &str, seconds: f64) -> Value {
    json!({
        "action": action, "observation": observation, "response": format!("I do {action}."),
        "thought": format!("I do {action}."), "execution_time": seconds,
        "state": { "open_file": open_file, "working_dir": "/repo" }, "messages": [{ "role": "system", "content": "long" }],
    })
}

fn asks(action: &str, tool: &str, arguments: Value) -> Value {
    let function = json!({ "name": tool, "arguments": arguments.to_string() });
    json!({
        "role": "assistant", "content": format!("I do {action}."), "thought": format!("I do {action}."),
        "action": action, "agent": "main", "message_type": "action",
        // The model gives the same id to each of its calls.
        "tool_calls": [{ "id": "call", "type": "function", "function": function }],
    })
}

fn answers(text: &str) -> Value {
    json!({ "role": "tool", "content": text, "agent": "main", "message_type": "observation", "tool_call_ids": ["call"] })
}

/// A run after so many steps, of four.
fn run(steps: usize) -> Value {
    let file = "/repo/a.py";
    let all = [
        (
            step("ls", "a.py", "n/a", 0.25),
            asks("ls", "bash", json!({ "command": "ls" })),
            "a.py",
        ),
        (
            step("edit 'x' 'y'", "Text replaced.", file, 0.5),
            asks(
                "edit 'x' 'y'",
                "edit",
                json!({ "search": "x", "replace": "y" }),
            ),
            "Text replaced.",
        ),
        (
            step("ls", "a.py", file, 0.125),
            asks("ls", "bash", json!({ "command": "ls" })),
            "Your command was cancelled because it took more than 30 seconds",
        ),
        (
            step("submit", "diff", file, 0.125),
            asks("submit", "submit", json!({})),
            "diff",
        ),
    ];
    let mut history = vec![
        json!({ "role": "system", "content": "You are", "agent": "main", "message_type": "system_prompt" }),
        json!({ "role": "user", "content": "An example", "agent": "main", "is_demo": true, "message_type": "demonstration" }),
        json!({ "role": "user", "content": TASK, "agent": "main", "message_type": "observation" }),
    ];
    let mut trajectory = Vec::new();
    for (step, asks, answer) in all.into_iter().take(steps) {
        trajectory.push(step);
        history.extend([asks, answers(answer)]);
    }
    let is_over = steps == 4;
    let info = json!({
        "exit_status": is_over.then_some("submitted"), "submission": is_over.then_some("diff --git a/a.py b/a.py\n"),
        "model_stats": { "instance_cost": 0.5, "tokens_sent": 100 * steps, "tokens_received": 10 * steps, "api_calls": steps },
    });
    json!({
        "trajectory": trajectory, "history": history, "info": info, "environment": "main",
        "replay_config": { "agent": { "model": { "name": "m" } } },
    })
}

#[test]
fn a_run_has_its_prompt_calls_tokens_and_submission() {
    let log = AgentLog::of("run.traj", &run(4).to_string());
    assert_eq!(log.prompts(), ["It rounds down\nReally."]);
    let expected = [
        r#"bash ok {"command":"ls"}"#,
        r#"edit ok {"open_file":"/repo/a.py","replace":"y","search":"x"}"#,
        r#"bash error {"command":"ls"}"#,
        r#"submit ok {}"#,
    ];
    assert_eq!(log.calls(), expected);
    assert_eq!(log.tokens(), [400, 0, 0, 40]);
    let diff = "proposed modify a.py +1 -1\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x\n+y\n";
    assert_eq!(log.edits(), [diff]);
    let frames = log.frames();
    for frame in [
        "demonstration: demonstration: An example",
        "system_state: You are",
        "step_summary: I do ls.",
        "submission: diff --git a/a.py b/a.py\n",
        "exit: exit: submitted",
        "config: config: config",
    ] {
        assert!(
            frames.iter().any(|it| it == frame),
            "{frame} in {frames:#?}"
        );
    }
}

#[test]
fn a_run_that_grows_is_one_run() {
    let cuts: Vec<String> = (0..=4).map(|steps| run(steps).to_string()).collect();
    check_grown("run.traj", &cuts);
}

#[test]
fn two_runs_of_one_task_are_two_sessions() {
    let mut other = run(4);
    other["trajectory"][0]["execution_time"] = json!(0.375);
    let mut log = AgentLog::of("run.traj", &run(4).to_string());
    log.add("run.traj", &other.to_string());
    assert_eq!(log.prompts().len(), 2);
    assert_eq!(log.calls().len(), 8);
}

#[test]
fn a_run_without_a_response_waits_and_one_that_is_over_does_not() {
    let log = AgentLog::of(
        "run.traj",
        &json!({ "history": [{ "role": "user", "content": TASK }] }).to_string(),
    );
    assert_eq!(
        (log.prompts().len(), log.0.report.skipped_types.len()),
        (0, 1)
    );
    let over = json!({ "history": [{ "role": "user", "content": TASK }], "info": { "exit_status": "exit_cost" } });
    let log = AgentLog::of("run.traj", &over.to_string());
    assert_eq!(log.prompts().len(), 1);
}

/// The model was asked once more where it gave no command: only the steps have it.
#[test]
fn a_history_alone_and_steps_alone_are_runs() {
    let whole = run(4);
    let history = json!({ "history": whole["history"] });
    let log = AgentLog::of("demo.traj", &history.to_string());
    assert_eq!(log.calls().len(), 4);
    let mut with_query = whole.clone();
    with_query["trajectory"][0]["messages"] =
        json!([{ "role": "system", "content": "You are" }, { "role": "user", "content": TASK }]);
    let steps = json!({ "trajectory": with_query["trajectory"], "environment": "main" });
    let log = AgentLog::of("steps.traj", &steps.to_string());
    assert_eq!(log.prompts(), ["It rounds down\nReally."]);
    assert_eq!(log.calls().len(), 4);
    let mut asked_again = whole;
    let again = step("", "no command", "n/a", 0.0);
    asked_again["trajectory"]
        .as_array_mut()
        .unwrap()
        .insert(1, again);
    let log = AgentLog::of("run.traj", &asked_again.to_string());
    assert_eq!(log.calls().len(), 4);
    assert!(
        log.frames().contains(&"step: step: I do .".to_owned()),
        "{:#?}",
        log.frames()
    );
}

/// A run of mini-swe-agent, as it writes text or calls tools.
fn mini(messages: Value) -> Value {
    let template = "Please fix this:\n<task>\n{{task}}\n</task>\nUse {{shell}}.";
    json!({
        "info": {
            "model_stats": { "instance_cost": 0.5, "api_calls": 2 }, "mini_version": "2.0.0",
            "config": { "agent": { "instance_template": template }, "model": { "model_name": "m" }, "environment": { "cwd": "/repo" } },
            "exit_status": "Submitted", "submission": "diff",
        },
        "messages": messages, "trajectory_format": "mini-swe-agent-1.1",
    })
}

fn mini_messages() -> Value {
    let response = |id: &str| json!({ "id": id, "model": "m-1", "usage": { "prompt_tokens": 30, "completion_tokens": 4, "prompt_tokens_details": { "cached_tokens": 10 } } });
    let call = |id: &str, command: &str| json!([{ "id": id, "type": "function", "function": { "name": "bash", "arguments": json!({ "command": command }).to_string() } }]);
    json!([
        { "role": "system", "content": "You are" },
        { "role": "user", "content": "Please fix this:\n<task>\nIt leaks\n</task>\nUse bash." },
        { "role": "assistant", "content": "Look", "tool_calls": call("c1", "ls"), "extra": { "response": response("r1"), "timestamp": 1780680349.4410355, "actions": [{ "command": "ls", "tool_call_id": "c1" }] } },
        { "role": "tool", "tool_call_id": "c1", "content": "<returncode>2</returncode>\n<output>\nno</output>", "extra": { "returncode": 2, "raw_output": "no", "timestamp": 1780680350.5 } },
        { "role": "assistant", "content": "Submit", "tool_calls": call("c2", "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"), "extra": { "response": response("r2") } },
        { "role": "exit", "content": "diff", "extra": { "exit_status": "Submitted", "submission": "diff" } },
    ])
}

#[test]
fn a_run_of_mini_has_exit_codes_and_tokens_of_its_messages() {
    let log = AgentLog::of("task.traj.json", &mini(mini_messages()).to_string());
    assert_eq!(log.prompts(), ["It leaks"]);
    let expected = [
        r#"bash error {"command":"ls"}"#,
        r#"bash ok {"command":"echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"}"#,
    ];
    assert_eq!(log.calls(), expected);
    assert_eq!(log.tokens(), [40, 20, 0, 8]);
    assert_eq!(log.0.report.waiting, 0);
}

#[test]
fn a_list_of_messages_has_its_commands_in_blocks() {
    let messages = json!([
        { "role": "system", "content": "You are" },
        { "role": "user", "content": "Please solve this issue: It leaks\n\nYou can execute bash commands." },
        { "role": "assistant", "content": "THOUGHT: look\n\n```bash\nls -la\n```" },
        { "role": "user", "content": "<returncode>0</returncode>\n<output>\na</output>" },
        { "role": "assistant", "content": "no command" },
        { "role": "user", "content": "Please always provide EXACTLY ONE action" },
        { "role": "assistant", "content": "again\n```bash\nls -la\n```" },
        { "role": "user", "content": "<returncode>1</returncode>\n<output>\n</output>" },
    ]);
    let log = AgentLog::of("task.traj.json", &messages.to_string());
    assert_eq!(log.prompts(), ["It leaks"]);
    assert_eq!(
        log.calls(),
        [
            r#"bash ok {"command":"ls -la"}"#,
            r#"bash error {"command":"ls -la"}"#
        ]
    );
    let text = messages.to_string();
    let cuts: Vec<String> = (3..=8)
        .map(|end| json!(messages.as_array().unwrap()[..end]).to_string())
        .collect();
    check_grown("task.traj.json", &cuts);
    let mut cut = AgentLog::empty();
    let report = cut.try_add("task.traj.json", &text[..text.len() - 20]);
    assert_eq!((report.broken_count, cut.calls().len()), (1, 1));
}

#[test]
fn a_person_refuses_a_command_and_adds_a_task() {
    let mut messages = mini_messages();
    let refuses =
        json!({ "role": "user", "content": "No!", "extra": { "interrupt_type": "UserRejection" } });
    let adds = json!({ "role": "user", "content": "The user added a new task: And test it", "extra": { "interrupt_type": "UserNewTask" } });
    let list = messages.as_array_mut().unwrap();
    list[3] = refuses;
    list.insert(4, adds);
    let log = AgentLog::of("task.traj.json", &mini(messages).to_string());
    assert_eq!(log.prompts(), ["It leaks", "And test it"]);
    assert!(
        log.calls()[0].starts_with("bash error"),
        "{:?}",
        log.calls()
    );
    assert!(
        log.frames()
            .contains(&"rejection: rejection: No!".to_owned()),
        "{:#?}",
        log.frames()
    );
}

#[test]
fn hostile_documents_are_named_or_kept() {
    let deep = format!("{}1{}", "[".repeat(2_000), "]".repeat(2_000));
    for (text, broken) in [
        (r#"{"trajectory":[{"action":5,"observation":[]}],"history":[{"role":7,"content":{}},{"role":"assistant","content":null,"tool_calls":[5,{"id":1}]}],"info":[]}"#.to_owned(), 0),
        (format!(r#"{{"trajectory":[{{"action":"a","observation":"b"}}],"history":[{{"role":"assistant","content":{deep}}}]}}"#), 0),
        (r#"{"history":[{"role":"assistant","content":"a","extra":{"timestamp":1e300,"returncode":99999999999999999999}}]}"#.to_owned(), 0),
        (r#"{"trajectory":[{"action":"a","observation":"b""#.to_owned(), 1),
    ] {
        let mut log = AgentLog::empty();
        let report = log.try_add("odd.traj", &text);
        assert_eq!(report.broken_count, broken, "{report}");
    }
}
