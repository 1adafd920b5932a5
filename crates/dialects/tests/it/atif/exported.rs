//! `export atif`: what is exported and imported again has the same prompts, calls, results and tokens.

use annals_dialects::{atif, atif_export, claude};
use annals_domain::{Kind, RunId};
use futures::executor::block_on;
use serde_json::{Value, json};

use crate::claude::log::Log;
use crate::claude::recording::{Recording, story};
use crate::recorded::{assert_complete, calls, log_of, prompts};

fn exported(log: &Log, run: RunId) -> Value {
    let trajectory = block_on(atif_export::export(&log.annals, run)).unwrap();
    serde_json::to_value(trajectory).unwrap()
}

/// The calls of a log in any order: sub-agents come after the others in a trajectory.
fn sorted_calls(log: &Log) -> Vec<String> {
    let mut calls = calls(log);
    calls.sort();
    calls
}

fn check_round_trip(recording: &Recording) -> Value {
    let log = Log::of(recording);
    let ids = claude::ids().session(&recording.session);
    let trajectory = exported(&log, ids.run);
    let text = trajectory.to_string();
    let mut again = log_of("trajectory.json", &text);
    assert_eq!(again.report.broken, [], "{}\n{text}", again.report);
    assert!(
        again.report.source.starts_with("atif "),
        "{}",
        again.report.source
    );
    assert_eq!(prompts(&again), prompts(&log), "{text}");
    assert_eq!(sorted_calls(&again), sorted_calls(&log), "{text}");
    assert_eq!(again.tokens(), log.tokens(), "{text}");
    assert_eq!(again.count("task.created"), log.count("task.created"));
    assert_eq!(again.report.waiting, 0);
    let run = |log: &Log| log.annals.position();
    let end = run(&again);
    assert_complete(&mut again, "copy.json", &text);
    assert_eq!(run(&again), end);
    trajectory
}

/// The rules that validators of the format hold trajectories to.
fn check_rules(trajectory: &Value) {
    assert_eq!(trajectory["schema_version"], "ATIF-v1.7");
    for text in ["name", "version"] {
        assert!(trajectory["agent"][text].is_string());
    }
    for (index, step) in trajectory["steps"].as_array().unwrap().iter().enumerate() {
        assert_eq!(step["step_id"], index + 1);
        assert!(step["message"].is_string() && step["timestamp"].is_string());
        let is_agent = step["source"] == "agent";
        assert!(is_agent || step["source"] == "user" || step["source"] == "system");
        for of_agents in ["tool_calls", "metrics", "reasoning_content", "model_name"] {
            assert!(is_agent || step.get(of_agents).is_none(), "{step}");
        }
        let ids = |list: &Value, name: &str| -> Vec<Value> {
            let list = list.as_array().cloned().unwrap_or_default();
            list.iter().map(|it| it[name].clone()).collect()
        };
        let called = ids(&step["tool_calls"], "tool_call_id");
        let answered = ids(&step["observation"]["results"], "source_call_id");
        assert!(answered.iter().all(|id| called.contains(id)), "{step}");
    }
    for inner in trajectory["subagent_trajectories"]
        .as_array()
        .into_iter()
        .flatten()
    {
        assert!(inner["trajectory_id"].is_string());
        check_rules(inner);
    }
}

#[test]
fn a_session_comes_back_as_it_was() {
    let trajectory = check_round_trip(&story());
    check_rules(&trajectory);
    assert_eq!(trajectory["session_id"], "story");
    assert_eq!(trajectory["agent"]["name"], "claude-code");
    assert_eq!(trajectory["agent"]["version"], "2.0.0");
    assert_eq!(trajectory["agent"]["model_name"], "model-1");
    let steps = trajectory["steps"].as_array().unwrap();
    // The first message: a thought, a text and two calls, of which one failed.
    let first = steps.iter().find(|step| step["source"] == "agent").unwrap();
    assert_eq!(first["reasoning_content"], "Look first.");
    assert_eq!(first["message"], "I look at the parser.");
    assert_eq!(first["tool_calls"].as_array().unwrap().len(), 2);
    let results = &first["observation"]["results"];
    assert_eq!(
        results[0],
        json!({ "source_call_id": "t1", "content": "fn parse() {}" })
    );
    assert_eq!(results[1]["extra"], json!({ "is_error": true }));
    assert_eq!(first["metrics"]["prompt_tokens"], 1 + 2 + 3);
    assert_eq!(first["metrics"]["cached_tokens"], 2);
    let is_short = |step: &&Value| step["extra"]["context_management"]["type"] == "compaction";
    assert_eq!(steps.iter().filter(is_short).count(), 3);
}

#[test]
fn sub_agents_are_within_the_trajectory() {
    let mut recording = Recording::of("s");
    recording
        .user(json!("<ide_opened_file>a.rs</ide_opened_file>\nGo"))
        .calls("m1", "task", "Task", json!({ "prompt": "Search for it" }))
        .on_side(json!("agent-7"))
        .user(json!("Search for it"))
        .calls("m2", "t1", "Grep", json!({ "pattern": "it" }))
        .result("t1", json!("found"), false)
        .text("m3", "It is there.")
        .on_main()
        .result("task", json!("It is there."), false)
        .text("m4", "Found.");
    let trajectory = check_round_trip(&recording);
    check_rules(&trajectory);
    let inner = trajectory["subagent_trajectories"].as_array().unwrap();
    assert_eq!(inner.len(), 1);
    assert_eq!(inner[0]["steps"][0]["message"], "Search for it");
    assert_eq!(
        inner[0]["steps"][1]["tool_calls"][0]["function_name"],
        "Grep"
    );
}

#[test]
fn a_trajectory_comes_back_as_it_was() {
    let log = log_of("trajectory.json", super::trajectory().to_string());
    let run = atif::ids().session("run-1").run;
    let trajectory = exported(&log, run);
    check_rules(&trajectory);
    assert_eq!(trajectory["session_id"], "run-1");
    let agent = json!({ "name": "an-agent", "version": "3.2.1", "model_name": "model-2" });
    assert_eq!(trajectory["agent"], agent);
    let inner = &trajectory["subagent_trajectories"][0];
    assert_eq!(inner["agent"]["name"], "a-finder");
    assert_eq!(inner["steps"].as_array().unwrap().len(), 2);
    let again = log_of("again.json", trajectory.to_string());
    assert_eq!(again.report.broken, [], "{}", again.report);
    assert_eq!(prompts(&again), prompts(&log));
    assert_eq!(sorted_calls(&again), sorted_calls(&log));
    assert_eq!(again.tokens(), log.tokens());
}

#[test]
fn a_task_and_an_intent_are_their_run() {
    let log = Log::of(&story());
    let ids = claude::ids().session("story");
    let run_of = |kind: Kind, id: uuid::Uuid| {
        let object = annals::ObjectRef { kind, id };
        block_on(atif_export::run_of(&log.annals, object))
    };
    assert_eq!(run_of(Kind::Run, ids.run.0).unwrap(), ids.run);
    assert_eq!(run_of(Kind::Task, ids.task.0).unwrap(), ids.run);
    // Also a later prompt of the same session.
    for line in ["story-2", "story-13"] {
        let intent = claude::ids().intent(line);
        assert_eq!(run_of(Kind::Intent, intent.0).unwrap(), ids.run, "{line}");
    }
    assert!(run_of(Kind::Plan, ids.plan.0).is_err());
}

#[test]
fn a_result_that_is_not_a_text_is_one_of_json() {
    let mut recording = Recording::of("s");
    let image = json!([{ "type": "image", "source": { "type": "base64", "data": "AAAA" } }]);
    let texts = json!([{ "type": "text", "text": "a" }, { "type": "text", "text": "b" }]);
    recording
        .user(json!("Go"))
        .calls("m1", "t1", "Shot", json!({}))
        .calls("m1", "t2", "Read", json!({ "file_path": "/a" }))
        .result("t1", image.clone(), false)
        .result("t2", texts.clone(), false)
        .text("m2", "Seen.");
    let log = Log::of(&recording);
    let trajectory = exported(&log, claude::ids().session("s").run);
    check_rules(&trajectory);
    let results = &trajectory["steps"][1]["observation"]["results"];
    let said: Value = serde_json::from_str(results[0]["content"].as_str().unwrap()).unwrap();
    assert_eq!((said, &results[1]["content"]), (image, &texts));
}

/// A run without a prompt has none in its trajectory.
#[test]
fn work_without_a_prompt_comes_back_without() {
    let mut recording = Recording::of("s");
    recording.text("m1", "On it.");
    let trajectory = check_round_trip(&recording);
    let sources = trajectory["steps"].as_array().unwrap().iter();
    assert!(
        sources.clone().all(|step| step["source"] != "user"),
        "{trajectory}"
    );
}
