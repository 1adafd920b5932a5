//! `import atif`, run on trajectories that the tests make after the published schema of the format.

mod exported;

use annals::projections::TaskView;
use annals_dialects::atif;
use annals_dialects::import::{ImportOptions, recordings};
use futures::executor::block_on;
use serde_json::{Value, json};

use crate::claude::log::Log;
use crate::claude::recording::Folder;
use crate::recorded::{
    assert_complete, assert_same, calls, edits, import, import_bytes, log_of, prompts, refused,
    skipped,
};

fn at(second: u32) -> String {
    format!("2026-01-02T03:00:{second:02}Z")
}

fn steps() -> Vec<Value> {
    vec![
        json!({ "step_id": 1, "timestamp": at(1), "source": "system", "message": "You are an agent." }),
        json!({ "step_id": 2, "timestamp": at(2), "source": "user", "message": [
            { "type": "text", "text": "Greet Bob" },
            { "type": "image", "source": { "media_type": "image/png", "path": "images/1.png" } },
        ] }),
        json!({
            "step_id": 3, "timestamp": at(3), "source": "agent", "model_name": "model-2",
            "message": "I look and edit.", "reasoning_content": "Read first.", "reasoning_effort": "high",
            "tool_calls": [
                { "tool_call_id": "call_1", "function_name": "Read", "arguments": { "file_path": "a.ts" } },
                { "tool_call_id": "call_2", "function_name": "str_replace_editor", "arguments": {
                    "command": "str_replace", "path": "a.ts", "old_str": "hi();\n", "new_str": "hi();\nbob();\n" } },
                { "tool_call_id": "call_3", "function_name": "bash", "arguments": { "command": "make" } },
            ],
            "observation": { "results": [
                { "source_call_id": "call_1", "content": "hi();" },
                { "source_call_id": "call_2", "content": [{ "type": "text", "text": "edited" }] },
                { "source_call_id": "call_3", "content": "no make", "extra": { "exit_code": 2 } },
                { "content": "the disk is nearly full" },
            ] },
            "metrics": { "prompt_tokens": 100, "cached_tokens": 60, "completion_tokens": 9, "cost_usd": 0.5,
                "extra": { "cache_creation_input_tokens": 10 } },
            "llm_call_count": 1,
        }),
        json!({
            "step_id": 4, "timestamp": "2026-01-02 03:00:04", "source": "agent", "message": "",
            "tool_calls": [{ "tool_call_id": "call_1", "function_name": "task", "arguments": { "prompt": "Find Bob" } }],
            "observation": { "results": [{ "source_call_id": "call_1", "content": "There.",
                "subagent_trajectory_ref": [{ "trajectory_id": "sub-1" }] }] },
            "metrics": { "prompt_tokens": 20, "completion_tokens": 1 },
        }),
        json!({ "step_id": 5, "timestamp": at(5), "source": "system", "message": "The conversation is shorter.",
            "extra": { "context_management": { "type": "compaction" } } }),
        json!({ "step_id": 6, "timestamp": at(6), "source": "agent", "message": "Done.",
            "metrics": { "prompt_tokens": 5, "completion_tokens": 2 } }),
    ]
}

fn trajectory() -> Value {
    json!({
        "schema_version": "ATIF-v1.7", "session_id": "run-1", "trajectory_id": "t-1",
        "agent": { "name": "an-agent", "version": "3.2.1", "model_name": "model-1" },
        "steps": steps(), "notes": "A note",
        "final_metrics": { "total_prompt_tokens": 125, "total_completion_tokens": 12, "total_steps": 6 },
        "subagent_trajectories": [{
            "schema_version": "ATIF-v1.7", "trajectory_id": "sub-1",
            "agent": { "name": "a-finder", "version": "1" },
            "steps": [
                { "step_id": 1, "timestamp": at(3), "source": "user", "message": "Find Bob" },
                { "step_id": 2, "timestamp": at(4), "source": "agent", "message": "There.",
                    "tool_calls": [{ "tool_call_id": "call_1", "function_name": "grep", "arguments": {} }],
                    "observation": { "results": [{ "source_call_id": "call_1", "content": "bob" }] },
                    "metrics": { "prompt_tokens": 3, "completion_tokens": 4 } },
            ],
        }],
    })
}

fn check(log: &Log) {
    assert_eq!(prompts(log), ["Greet Bob"]);
    let expected = [
        "Read ok: hi();",
        "str_replace_editor ok: edited",
        "bash error: no make",
        "task ok: There.",
        "grep ok: bob",
    ];
    assert_eq!(calls(log), expected);
    assert_eq!(log.tokens(), [30 + 20 + 5 + 3, 60, 10, 9 + 1 + 2 + 4]);
    let diff = "--- a/a.ts\n+++ b/a.ts\n@@ -1 +1,2 @@\n hi();\n+bob();\n";
    let edit = (vec!["modify a.ts +1 -0".to_owned()], diff.to_owned());
    assert_eq!(edits(log), [edit]);
    assert_eq!(log.count("task.created"), 2);
    let frames = log.frames();
    for expected in [
        "system_state: You are an agent.",
        "image: image",
        "thinking: Read first.",
        "step_summary: I look and edit.",
        "system_state: the disk is nearly full",
        "subagent_trajectory_ref: subagent_trajectory_ref",
        "checkpoint: The conversation is shorter.",
        "intent_analysis: Find Bob",
        "agent: agent",
        "notes: notes",
    ] {
        assert!(
            frames.iter().any(|it| it == expected),
            "{expected}: {frames:#?}"
        );
    }
}

#[test]
fn a_trajectory_has_its_prompts_calls_edits_tokens_and_sub_agents() {
    let text = serde_json::to_string_pretty(&trajectory()).unwrap();
    let mut log = log_of("trajectory.json", &text);
    assert_eq!(log.report.broken, [], "{}", log.report);
    check(&log);
    assert_eq!(log.report.waiting, 0);
    assert_eq!(skipped(&log.report).get("final_metrics"), Some(&1));
    assert_eq!(log.fates("tool_calls[].arguments"), [5, 0, 0]);
    assert_eq!(log.fates("metrics.cost_usd"), [1, 0, 0]);
    assert_eq!(log.fates("metrics.prompt_tokens"), [4, 0, 0]);
    assert_complete(&mut log, "copy.json", trajectory().to_string());
}

#[test]
fn a_copy_that_is_written_otherwise_is_the_same() {
    let mut unnamed = trajectory();
    for step in unnamed["steps"].as_array_mut().unwrap() {
        step.as_object_mut().unwrap().remove("step_id");
    }
    unnamed["subagent_trajectories"][0]
        .as_object_mut()
        .unwrap()
        .remove("trajectory_id");
    for trajectory in [trajectory(), unnamed] {
        let folder = Folder::new();
        let pretty = serde_json::to_string_pretty(&trajectory).unwrap();
        folder.write("a.json", &pretty);
        folder.write("b.json", trajectory.to_string());
        let mut log = Log::empty();
        import(&mut log, folder.path());
        assert_eq!(log.report.broken, [], "{}", log.report);
        assert_same(&log, &log_of("a.json", &pretty), "copied");
    }
}

#[test]
fn every_version_is_read() {
    for version in 0..=7 {
        let mut trajectory = trajectory();
        trajectory["schema_version"] = json!(format!("ATIF-v1.{version}"));
        check(&log_of("trajectory.json", trajectory.to_string()));
    }
}

#[test]
fn a_trajectory_that_grows_is_the_same_as_at_once() {
    let mut whole = trajectory();
    // What follows the steps is written when they are over.
    let fields = whole.as_object_mut().unwrap();
    fields.remove("subagent_trajectories");
    let once = log_of("t.json", whole.to_string());
    for kept in 0..steps().len() {
        let mut less = whole.clone();
        less["steps"] = json!(steps()[..kept]);
        let mut grown = log_of("t.json", less.to_string());
        import_bytes(&mut grown, "t.json", whole.to_string());
        assert_eq!(grown.report.broken, [], "{}", grown.report);
        assert_same(&grown, &once, &format!("{kept} steps"));
    }
}

#[test]
fn what_comes_before_a_cut_is_read() {
    let text = format!(
        r#"{{"schema_version":"ATIF-v1.7","session_id":"run-1","trajectory_id":"t-1","agent":{},"steps":[{},{},{{"step_id":3"#,
        trajectory()["agent"],
        steps()[0],
        steps()[1],
    );
    let log = log_of("t.json", &text);
    assert_eq!(log.report.broken_count, 1, "{}", log.report);
    assert_eq!(log.report.broken[0].line, 3);
    assert_eq!(prompts(&log), ["Greet Bob"]);
}

/// What is read of the beginning has the names that it has in the whole.
#[test]
fn cut_anywhere_and_then_whole_it_is_the_same() {
    let mut unnamed = trajectory();
    for id in ["session_id", "trajectory_id"] {
        unnamed.as_object_mut().unwrap().remove(id);
    }
    let unnamed = annals_wire::sorted(unnamed).to_string();
    let rest = &unnamed[1..unnamed.len() - 1];
    let names = r#""session_id":"run-1","trajectory_id":"t-1""#;
    // The trajectories of sub-agents may come before the steps, too.
    let mut less: Value = serde_json::from_str(&unnamed).unwrap();
    let inner = less
        .as_object_mut()
        .unwrap()
        .remove("subagent_trajectories");
    let inner = inner.unwrap().to_string();
    let less = annals_wire::sorted(less).to_string();
    let less = &less[1..less.len() - 1];
    let texts = [
        format!("{{{names},{rest}}}"),
        format!("{{{rest},{names}}}"),
        format!(r#"{{{names},"subagent_trajectories":{inner},{less}}}"#),
    ];
    let once = log_of("t.json", &texts[0]);
    for text in texts {
        for cut in (100..text.len()).step_by(211) {
            let mut log = Log::empty();
            import_given(&mut log, "t.json", &text[..cut]);
            assert_eq!(log.report.broken_count, 1, "{cut}: {}", log.report);
            import_bytes(&mut log, "t.json", &text);
            assert_eq!(log.report.broken, [], "{cut}: {}", log.report);
            assert_eq!(prompts(&log), prompts(&once), "{cut}");
            assert_eq!((calls(&log), log.tokens()), (calls(&once), once.tokens()));
        }
    }
}

/// Imports a file whose beginning may not say that it is a trajectory.
fn import_given(log: &mut Log, name: &str, text: &str) {
    let folder = Folder::new();
    let path = folder.write(name, text);
    let options = ImportOptions::default();
    let mut none = |_| {};
    let imported = recordings(&log.annals, &path, Some("atif"), &options, &mut none);
    log.report = block_on(imported).unwrap().pop().unwrap();
}

#[test]
fn context_that_a_continuation_copies_is_not_read_twice() {
    let mut first = trajectory();
    first["continued_trajectory_ref"] = json!("trajectory.cont-1.json");
    let mut copied = steps();
    for step in &mut copied {
        step["is_copied_context"] = json!(true);
    }
    copied.push(json!({ "step_id": 7, "timestamp": at(7), "source": "user", "message": "Go on" }));
    copied.push(
        json!({ "step_id": 8, "timestamp": at(8), "source": "agent", "message": "I do.",
        "metrics": { "prompt_tokens": 1, "completion_tokens": 1 } }),
    );
    let next = json!({ "schema_version": "ATIF-v1.7", "session_id": "run-1", "trajectory_id": "t-2",
        "agent": { "name": "an-agent", "version": "3.2.1" }, "steps": copied });
    let mut log = log_of("a.json", first.to_string());
    import_bytes(&mut log, "b.json", next.to_string());
    assert_eq!(log.report.broken, [], "{}", log.report);
    assert_eq!(prompts(&log), ["Greet Bob", "Go on"]);
    assert_eq!(calls(&log).len(), 5);
    assert_eq!(log.count("task.created"), 2);
    assert_eq!(skipped(&log.report).get("copied context"), Some(&6));
}

#[test]
fn trajectories_on_lines_are_several() {
    let mut other = trajectory();
    other["session_id"] = json!("run-2");
    other["trajectory_id"] = json!("t-9");
    let text = format!("{}\n{other}\n", trajectory());
    let log = log_of("all.jsonl", text);
    assert_eq!(log.report.broken, [], "{}", log.report);
    assert_eq!((prompts(&log).len(), calls(&log).len()), (2, 10));
}

#[test]
fn odd_steps_are_named_and_the_others_are_read() {
    let mut odd = trajectory();
    let steps = odd["steps"].as_array_mut().unwrap();
    steps.extend([
        json!(5),
        json!({ "step_id": "x", "source": "agent", "message": "" }),
        json!({ "step_id": 20, "source": "agent", "message": 5 }),
        json!({ "source": "agent", "message": "unnumbered" }),
        json!({ "step_id": 22, "source": "judge", "message": "kept" }),
        json!({ "step_id": 3, "source": "agent", "message": "another" }),
        json!({ "step_id": 24, "source": "agent", "message": "x", "metrics": { "prompt_tokens": 1, "cached_tokens": 9 } }),
        json!({ "step_id": 25, "source": "agent", "message": "x",
            "observation": { "results": [5, { "source_call_id": "nowhere", "content": "of no call" }] } }),
    ]);
    let log = log_of("t.json", odd.to_string());
    let broken: Vec<u64> = log.report.broken.iter().map(|it| it.line).collect();
    assert_eq!(broken, [7, 8, 9, 12, 14], "{}", log.report);
    let frames = log.frames();
    for expected in [
        "step_summary: unnumbered",
        "judge: judge",
        "tool_call: of no call",
    ] {
        assert!(
            frames.iter().any(|it| it == expected),
            "{expected}: {frames:#?}"
        );
    }
    // Trajectories within trajectories have an end.
    let mut nested = trajectory();
    for depth in 0..40 {
        let mut around = trajectory();
        around["trajectory_id"] = json!(format!("t-{depth}"));
        around["subagent_trajectories"] = json!([nested]);
        nested = around;
    }
    let log = log_of("t.json", nested.to_string());
    assert_eq!(log.report.broken_count, 1, "{}", log.report);
}

#[test]
fn a_sub_agent_of_a_sub_agent_is_a_part_of_it() {
    let mut nested = trajectory();
    let mut last = nested["subagent_trajectories"][0].clone();
    last["trajectory_id"] = json!("sub-2");
    last["steps"][0]["message"] = json!("Find Eve");
    nested["subagent_trajectories"][0]["subagent_trajectories"] = json!([last]);
    let log = log_of("t.json", nested.to_string());
    let task = |name: &str| atif::ids().side_chain("run-1", name).task;
    let inner: TaskView = log.get(task("sub-1"));
    assert_eq!(inner.parent, Some(atif::ids().session("run-1").task));
    let last: TaskView = log.get(task("sub-2"));
    assert_eq!(
        (last.parent, last.title.as_str()),
        (Some(task("sub-1")), Some("Find Eve"))
    );
}

#[test]
fn another_agents_file_is_named() {
    let gemini = r#"{"sessionId":"s","projectHash":"h","messages":[]}"#;
    let said = refused(Some("atif"), "a.json", gemini);
    assert!(said.contains("it looks like one of Gemini CLI"), "{said}");
    let said = refused(Some("gemini"), "a.json", &trajectory().to_string());
    assert!(said.contains("it looks like one of ATIF"), "{said}");
}
