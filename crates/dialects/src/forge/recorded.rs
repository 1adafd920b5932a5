//! An agent's answer as the command that records it.

use annals_domain::intent::{self, AnalyzedTask, RecordAnalysis};
use annals_domain::{IntentId, Json};

use super::analysis::{self, Analysis, Analyzed};
use super::data::Extra;
use super::error::Read;
use super::order::order;
use super::task::{ForgeTask, Placed};

/// Characters of a task's title (docs/spec/git-internal.md: fewer than 100).
const TITLE_CHARS: usize = 99;

/// Reads what an agent answered about an intent: JSON, or a JSON text that has it
/// in a fence or in prose.
///
/// # Errors
/// [`super::ForgeError`], with the JSON path.
pub fn record_analysis(
    intent: IntentId,
    analyzed: Analyzed<'_>,
    answer: &Json,
) -> Read<RecordAnalysis> {
    let title = short_title(analyzed.title);
    let analyzed = Analyzed {
        title: &title,
        ..analyzed
    };
    let text: Result<String, _> = serde_json::from_str(answer.text());
    let found = match &text {
        Ok(text) => analysis::read(text, analyzed)?,
        Err(_) => analysis::read(answer.text(), analyzed)?,
    };
    let mut command = RecordAnalysis::new(intent).with_analysis(answer.clone());
    match found {
        Analysis::Tasks(tasks) => command.tasks = in_order(tasks)?,
        Analysis::ChildIntents(children) => {
            command.child_intents = children.into_iter().map(child).collect();
        }
        Analysis::NeedsClarification(questions) => command.clarifications = questions,
    }
    Ok(command)
}

/// As much of an intent's title as a task may have for its own.
fn short_title(title: &str) -> String {
    let line = title.lines().next().unwrap_or_default();
    line.chars().take(TITLE_CHARS).collect()
}

/// The tasks as the agent listed them, if they can be done in some order.
fn in_order(tasks: Vec<Placed>) -> Read<Vec<AnalyzedTask>> {
    if let Err(errors) = order(&tasks)
        && let Some(first) = errors.into_iter().next()
    {
        return Err(first);
    }
    Ok(tasks.into_iter().map(|placed| task(placed.task)).collect())
}

fn task(task: ForgeTask) -> AnalyzedTask {
    AnalyzedTask::new(task.id, task.title)
        .with_complexity(task.complexity)
        .with_plan(task.plan)
        .with_relevant_files(task.relevant_files)
        .with_implementation_steps(task.implementation_steps)
        .with_context(task.context)
        .with_depends_on(task.depends_on)
        .with_extra(kept(&task.extra))
}

fn child(child: analysis::ChildIntent) -> intent::ChildIntent {
    intent::ChildIntent::new(child.title)
        .with_body(child.body)
        .with_id(child.id)
        .with_work_type(child.work_type)
        .with_labels(child.labels)
        .with_depends_on(child.depends_on)
        .with_extra(kept(&child.extra))
}

/// Keys that are not known, as JSON; none, if there are none.
pub(super) fn kept(extra: &Extra) -> Option<Json> {
    if extra.0.is_empty() {
        return None;
    }
    Json::from_value(extra).ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use uuid::Uuid;

    use super::*;

    const INTENT: IntentId = IntentId(Uuid::from_u128(7));

    fn read(answer: &str) -> Read<RecordAnalysis> {
        let analyzed = Analyzed {
            id: "reset",
            title: "Reset link",
        };
        record_analysis(INTENT, analyzed, &Json::parse(answer).unwrap())
    }

    #[test]
    fn an_answer_is_json_or_a_text_that_has_it() {
        let json =
            r#"{"tasks":[{"id":"a","title":"A","depends_on":["b"]},{"id":"b","title":"B"}]}"#;
        let direct = read(json).unwrap();
        let ids: Vec<&str> = direct.tasks.iter().map(|task| task.id.as_str()).collect();
        assert_eq!(ids, ["a", "b"]);
        let wrapped = format!("Here it is:\n```json\n{json}\n```\nDone.");
        let wrapped = read(&serde_json::to_string(&wrapped).unwrap()).unwrap();
        assert_eq!(wrapped.tasks, direct.tasks);
        assert!(wrapped.analysis.is_some());
    }

    #[test]
    fn each_outcome_fills_its_list() {
        let questions = r#"{"outcome":"needs_clarification","clarifications":["which?"]}"#;
        assert_eq!(read(questions).unwrap().clarifications, ["which?"]);
        let children =
            r#"{"outcome":"child_intents","child_intents":[{"title":"a","body":"b","x":1}]}"#;
        let children = read(children).unwrap().child_intents;
        assert_eq!(
            (children[0].title.as_str(), children[0].body.as_str()),
            ("a", "b")
        );
        assert!(children[0].extra.is_some());
        let flat = read(r#"{"plan":"do it"}"#).unwrap().tasks;
        assert_eq!(
            (flat[0].id.as_str(), flat[0].title.as_str()),
            ("reset", "Reset link")
        );
    }

    #[test]
    fn a_task_inherits_as_much_of_the_title_as_it_may_have() {
        let title = "長".repeat(120);
        let analyzed = Analyzed {
            id: "reset",
            title: &title,
        };
        let answer = Json::parse(r#"{"plan":"x"}"#).unwrap();
        let read = record_analysis(INTENT, analyzed, &answer).unwrap();
        assert_eq!(read.tasks[0].title, "長".repeat(99));
    }

    #[test]
    fn tasks_that_wait_for_each_other_are_refused_by_name() {
        let answer = r#"{"tasks":[{"id":"a","title":"A","depends_on":["b"]},
            {"id":"b","title":"B","depends_on":["a"]}]}"#;
        let error = read(answer).unwrap_err().to_string();
        assert!(error.contains("a -> b -> a"), "{error}");
    }
}
