//! Plans: replaced as a whole, without cycles, and nodes that became tasks. The
//! graph alone has its tests next to it, in `plan.rs`.

use super::*;
use crate::task::CreateTask;
use crate::testing::texts;
use crate::{Kind, TaskId};

const TASK: TaskId = TaskId(Uuid::from_u128(60));

fn node(id: &str, depends_on: &[&str]) -> TaskNode {
    TaskNode {
        id: id.into(),
        title: id.to_uppercase(),
        depends_on: words(depends_on),
        work_item: None,
        agent_hint: None,
        suggested_branch: None,
        tags: vec![],
    }
}

fn update(nodes: Vec<TaskNode>) -> UpdatePlan {
    UpdatePlan {
        session: SESSION,
        plan: TaskPlan { nodes },
    }
}

fn link(node: &str) -> LinkPlanTask {
    LinkPlanTask {
        session: SESSION,
        node: node.into(),
        task: TASK,
    }
}

fn with_task() -> Stage {
    Stage::under(anything()).after(CreateTask {
        id: Some(TASK),
        ..CreateTask::new("work")
    })
}

#[test]
fn a_plan_replaces_the_one_before_as_a_whole() {
    let mut stage = with_task();
    let first = update(vec![node("a", &[]), node("b", &["a"])]);
    let emitted = stage.given.execute(first.clone());
    assert_eq!(said(&emitted), [r#"plan ["a", "b"]"#]);
    let stored: TaskPlan = serde_json::from_str(&texts(&emitted)[0][0]).unwrap();
    assert_eq!(stored, first.plan);
    let second = update(vec![node("c", &[])]);
    assert_eq!(stage.when(second), [r#"plan ["c"]"#]);
    stage.check_invalid(link("a"), "node", "is not a node");
    assert_eq!(stage.when(link("c")), [r#""c" is a task"#]);
    assert_eq!(stage.when(update(vec![])), ["plan []"]);
}

#[test]
fn a_plan_with_a_cycle_is_refused_with_the_cycle_named() {
    let stage = with_task();
    let cycle = update(vec![
        node("a", &["c"]),
        node("b", &["a"]),
        node("c", &["b"]),
    ]);
    stage.check_invalid(cycle, "plan", "nodes wait for each other: a -> c -> b -> a");
    let itself = update(vec![node("a", &["a"])]);
    stage.check_invalid(itself, "plan", "a -> a");
}

#[test]
fn a_plan_with_a_missing_dependency_is_refused() {
    let missing = update(vec![node("a", &["z"])]);
    with_task().check_invalid(missing, "plan", r#""a" depends on "z""#);
}

#[test]
fn a_plan_with_a_duplicate_node_id_is_refused() {
    let stage = with_task();
    let twice = update(vec![node("a", &[]), node("a", &[])]);
    stage.check_invalid(twice, "plan", r#"two nodes have the id "a""#);
    let blank = update(vec![node(" ", &[])]);
    stage.check_invalid(blank, "plan", "blank");
}

#[test]
fn a_refused_plan_changes_nothing() {
    let stage = with_task().after(update(vec![node("a", &[])]));
    stage.refusal(update(vec![node("b", &["b"])]));
    assert!(stage.given.decide(link("a")).is_ok());
}

#[test]
fn a_node_is_linked_to_a_task_that_is_there() {
    let stage = with_task().after(update(vec![node("a", &[])]));
    stage.check_invalid(
        link("b"),
        "node",
        r#""b" is not a node of the session's plan"#,
    );
    stage.check_invalid(link(" "), "node", "blank");
    let nothing = LinkPlanTask {
        task: Uuid::from_u128(99).into(),
        ..link("a")
    };
    let missing = Refusal::NotFound {
        kind: Kind::Task,
        id: Uuid::from_u128(99),
    };
    assert_eq!(stage.refusal(nothing), missing);
    let mut stage = stage;
    assert_eq!(stage.when(link("a")), [r#""a" is a task"#]);
}

#[test]
fn plans_and_nodes_are_for_sessions_that_are_not_over() {
    let planned = with_task().after(update(vec![node("a", &[])]));
    let mut paused = planned.clone().after(pause());
    paused.when(update(vec![node("b", &[])]));
    paused.when(link("b"));
    for end in [Command::from(abort()), complete().into()] {
        let stage = planned.clone().after(end);
        let state = stage.status().to_string();
        let allowed = (state, "not yet Completed or Error");
        assert_eq!(stage.allowed_when(update(vec![])), allowed);
        assert_eq!(stage.allowed_when(link("a")), allowed);
    }
}
