//! What agents answer, in JSON, in a fence or in prose.

use std::time::{Duration, Instant};

use super::*;
use crate::forge::order::order;
use annals_domain::task::Complexity;
use annals_testkit::process::assert_within;

const INTENT: Analyzed<'_> = Analyzed {
    id: "reset",
    title: "パスワードリセット",
};

fn read_ok(answer: &str) -> Analysis {
    read(answer, INTENT).unwrap_or_else(|error| panic!("{error}\n{answer}"))
}

fn refused(answer: &str) -> ForgeError {
    read(answer, INTENT).unwrap_err()
}

fn tasks_of(answer: &str) -> Vec<Placed> {
    match read_ok(answer) {
        Analysis::Tasks(tasks) => tasks,
        other => panic!("{other:?}"),
    }
}

fn ids(answer: &str) -> Vec<String> {
    tasks_of(answer)
        .into_iter()
        .map(|placed| placed.task.id)
        .collect()
}

const TWO: &str = r#"{"tasks": [
  {"id": "a", "title": "書く", "plan": "{ ``` }", "complexity": "medium", "depends_on": ["b"]},
  {"id": "b", "title": "調べる", "relevant_files": ["src/a.rs"], "effort": 3}
]}"#;

#[test]
fn child_intents_are_read() {
    let answer = r#"{"outcome": "child_intents", "child_intents": [
        {"title": "a", "body": "b"}, {"title": "c", "body": "", "risk": "low"}]}"#;
    let Analysis::ChildIntents(children) = read_ok(answer) else {
        panic!("no children");
    };
    assert_eq!(
        (children[0].title.as_str(), children[0].body.as_str()),
        ("a", "b")
    );
    assert_eq!(children[1].extra.0.len(), 1);
    assert_eq!(
        (&children[0].work_type, children[0].labels.len()),
        (&None, 0)
    );
}

#[test]
fn a_child_has_its_type_labels_and_what_it_waits_for() {
    let answer = r#"{"outcome": "child_intents", "child_intents": [
        {"id": "a", "title": "a", "body": "", "type": "docs", "labels": ["ui", "login"]},
        {"title": "b", "body": "", "type": "fix", "labels": "ui", "depends_on": ["a"]}]}"#;
    let Analysis::ChildIntents(children) = read_ok(answer) else {
        panic!("no children");
    };
    let docs = Some(WorkType::Other("docs".into()));
    assert_eq!(
        (children[0].id.as_deref(), &children[0].work_type),
        (Some("a"), &docs)
    );
    assert_eq!(children[0].labels, ["ui", "login"]);
    assert_eq!(children[1].work_type, Some(WorkType::Fix));
    assert_eq!(
        (&children[1].labels[..], &children[1].depends_on[..]),
        (&["ui".to_owned()][..], &["a".to_owned()][..])
    );
    let slip = answer.replace("docs", "Fix");
    let analyzed = Analyzed {
        id: "i",
        title: "t",
    };
    let error = read(&slip, analyzed).unwrap_err().to_string();
    assert!(error.contains("child_intents[0].type"), "{error}");
}

#[test]
fn clarifications_are_read() {
    let answer = r#"{"outcome": "needs_clarification", "clarifications": ["誰が?", "いつ?"]}"#;
    let questions = vec!["誰が?".to_owned(), "いつ?".to_owned()];
    assert_eq!(read_ok(answer), Analysis::NeedsClarification(questions));
}

#[test]
fn any_other_outcome_or_none_is_tasks() {
    assert_eq!(ids(TWO), ["a", "b"]);
    for outcome in ["\"tasks\"", "\"planned\"", "null", "5"] {
        let answer = TWO.replacen('{', &format!("{{\"outcome\": {outcome}, "), 1);
        assert_eq!(ids(&answer), ["a", "b"], "{outcome}");
    }
    let task = &tasks_of(TWO)[0].task;
    assert_eq!(task.complexity, Some(Complexity::Med));
    assert_eq!(
        (task.intent_id.as_str(), task.depends_on.len()),
        ("reset", 1)
    );
    assert_eq!(order(&tasks_of(TWO)), Ok(vec![1, 0]));
}

#[test]
fn one_flat_task_inherits_the_intents_id_and_title() {
    let tasks = tasks_of(r#"{"plan": "do it", "implementation_steps": ["x"], "notes": 1}"#);
    let task = &tasks[0].task;
    assert_eq!(
        (tasks.len(), task.id.as_str(), task.title.as_str()),
        (1, "reset", INTENT.title)
    );
    assert_eq!(task.extra.0.len(), 1);
    let own = tasks_of(r#"{"id": "t", "title": "own", "plan": "p"}"#);
    assert_eq!(
        (own[0].task.id.as_str(), own[0].task.title.as_str()),
        ("t", "own")
    );
}

#[test]
fn a_task_of_a_list_without_an_id_gets_one() {
    let answer = r#"{"tasks": [{"title": "a"}, {"id": "x", "title": "b"}, {"title": "c"}]}"#;
    assert_eq!(ids(answer), ["reset-1", "x", "reset-3"]);
    assert_eq!(
        ids(r#"[{"title": "a", "plan": "p"}, {"title": "b"}]"#),
        ["reset-1", "reset-2"]
    );
}

#[test]
fn an_answer_may_be_in_a_fence_or_in_prose() {
    for (before, after) in [
        ("", ""),
        ("\u{feff}\n", "\n"),
        ("```json\n", "\n```"),
        ("```\n", "\n```\n"),
        ("~~~~ JSON\n", "\n~~~~"),
        (
            "Here it is, {a, b} and {} and [x](y) [1]:\n\n```json\n",
            "\n```\nSet {x} {\"y\"}.\n",
        ),
        (
            "I looked at `{\"` and \"{\" and {{\"x\"}}: ",
            " That is all {",
        ),
        (
            "An object such as {\"a\": 1} or [{\"b\": 2}] is none.\n",
            " {\"plan\": \"not this\"}",
        ),
        ("{\"outcome\": \"child_intents\"} would be wrong, so: ", ""),
        ("Broken {\"a\": b} first. ", ""),
        ("日本語で「{\"」と書く。", "以上。"),
    ] {
        let answer = format!("{before}{TWO}{after}");
        assert_eq!(ids(&answer), ["a", "b"], "{answer}");
    }
}

#[test]
fn the_first_that_reads_as_an_analysis_is_taken() {
    let answer = format!("{TWO}\nor\n{{\"tasks\": [{{\"id\": \"z\", \"title\": \"z\"}}]}}");
    assert_eq!(ids(&answer), ["a", "b"]);
    let wrong = TWO.replace("medium", "huge");
    assert_eq!(ids(&format!("{wrong}\nNo, I mean:\n{TWO}")), ["a", "b"]);
}

#[test]
fn a_task_of_a_broken_list_is_not_taken_for_all() {
    let broken = r#"{"tasks": [{"title": "a", "plan": "p",}, {"title": "b", "plan": "q"}]}"#;
    assert!(matches!(
        refused(broken),
        ForgeError::Json { line: Some(1), .. }
    ));
    let listed = r#"{"tasks": [x, [{"title": "b", "plan": "q"}]]}"#;
    assert!(matches!(refused(listed), ForgeError::Json { .. }));
    let cut = r#"Here: {"tasks": [{"title": "a", "plan": "p"}, {"title": "b", "plan": "q"}"#;
    assert_eq!(refused(cut), ForgeError::CutOff { line: 1 });
    let wrong = r#"{"tasks": [{"title": "a", "plan": "p"}, {"title": "b", "complexity": "x"}]}"#;
    assert!(matches!(refused(wrong), ForgeError::Word { .. }));
}

#[test]
fn what_is_wrong_is_named_by_its_path() {
    for (answer, said) in [
        (
            r#"{"tasks": [{"title": "a"}, {"title": "b", "depends_on": "a"}]}"#,
            "tasks[1].depends_on: expected a list, found a text",
        ),
        (
            r#"{"tasks": [{"title": "a", "complexity": "hard"}]}"#,
            "invalid tasks[0].complexity \"hard\": expected one of low, med, high, medium; ",
        ),
        (
            r#"{"tasks": [{"title": "a", "status": "compleeted"}]}"#,
            "invalid tasks[0].status \"compleeted\": expected one of pending, implementing, done, \
             failed, cancelled, completed; did you mean \"completed\"?",
        ),
        (r#"{"tasks": [{"plan": "a"}]}"#, "tasks[0].title is missing"),
        (
            r#"{"tasks": {"title": "a"}}"#,
            "tasks: expected a list, found a mapping",
        ),
        (r#"{"tasks": []}"#, "tasks is empty"),
        (r#"[{"plan": "a"}]"#, "[0].title is missing"),
        (r#"{"plan": ["a"]}"#, "plan: expected a text, found a list"),
        (
            r#"{"plan": "a", "intent_id": "b"}"#,
            "intent_id is \"b\", but this belongs to",
        ),
        (
            r#"{"outcome": "child_intents"}"#,
            "child_intents is missing",
        ),
        (
            r#"{"outcome": "child_intents", "child_intents": [{"title": "a"}]}"#,
            "child_intents[0].body is missing",
        ),
        (
            r#"{"outcome": "needs_clarification", "clarifications": ["a", {}]}"#,
            "clarifications[1]: expected a text, found a mapping",
        ),
        (
            r#"{"outcome": "needs_clarification", "clarifications": []}"#,
            "clarifications is empty",
        ),
        (
            r#"{"outcome": "child_intent", "child_intents": [{}], "context": "c"}"#,
            "invalid outcome \"child_intent\": expected one of child_intents, needs_clarification; \
             did you mean \"child_intents\"?",
        ),
        (r#"{"clarifications": ["a"]}"#, "outcome is missing"),
        (r#"{"tasks": [], "tasks": []}"#, "duplicate key `tasks`; "),
    ] {
        let error = refused(answer).to_string();
        assert!(error.starts_with(said), "{error}\n{said}");
    }
}

#[test]
fn an_answer_without_an_analysis_is_refused() {
    for (answer, line) in [
        ("", None),
        ("I could not do it.", None),
        ("{}", None),
        ("{", None),
        ("one\n{\"result\": {\"plan\": \"x\"}}", Some(2)),
        ("{\"outcome\": \"tasks\"}", Some(1)),
        ("\"{\\\"tasks\\\": []}\"", None),
    ] {
        assert_eq!(refused(answer), ForgeError::NoAnalysis { line }, "{answer}");
    }
}

#[test]
fn no_answer_takes_long_or_uses_up_the_stack() {
    let begun = Instant::now();
    for piece in [
        "{",
        "[",
        "{\"",
        "{\"a\":",
        "[{\"a\":",
        "{\"a\":1,x",
        "{\"a\":1}",
        "[{\"a\":1}]",
        "{\"\\\"",
        "{ \"a\" ",
        "[ ",
        "{\"{",
        "\"{\"",
        "{\"a\":\"{",
        "{\"a\":[{\"b\":1}x",
    ] {
        let answer = piece.repeat(1_000_000 / piece.len());
        let _ = refused(&answer);
        let _ = refused(&(answer + "\nx"));
    }
    assert_within(begun.elapsed(), Duration::from_secs(60));
    let deep = format!(
        "{{\"tasks\": {}{}}}",
        "[".repeat(10_000),
        "]".repeat(10_000)
    );
    assert!(matches!(refused(&deep), ForgeError::TooDeep { .. }));
    let big = "a".repeat(10_000_000);
    assert!(matches!(refused(&big), ForgeError::TooLarge { .. }));
}

mod any_answer {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn is_read_or_refused(answer in "[{}\\[\\]\":,a\\\\ \\n日]{0,40}|\\PC{0,40}") {
            let _ = read(&answer, INTENT);
        }

        /// The analysis is found, regardless of what its texts or the prose around it say.
        #[test]
        fn is_found_whatever_its_texts_say(plan in any::<String>(), prose in "[^{\\[]{0,40}") {
            let json = serde_json::json!({"tasks": [{"id": "a", "title": "t", "plan": plan}]});
            let answer = format!("{prose}\n```json\n{json:#}\n```\n{prose}");
            let tasks = tasks_of(&answer);
            prop_assert_eq!(tasks[0].task.plan.as_deref(), Some(plan.as_str()));
        }
    }
}
