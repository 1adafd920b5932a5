//! The order in which tasks can be done, and why there may be none.

use super::*;
use crate::forge::task;

/// `b a` is a task b that waits for a.
fn tasks(lines: &[&str]) -> Vec<Placed> {
    let task = |line: &&str| {
        let (id, needs) = line.split_once(' ').unwrap_or((line, ""));
        let needs = needs.replace(' ', ", ");
        format!("- {{id: {id}, title: x, depends_on: [{needs}]}}\n")
    };
    let text: String = lines.iter().map(task).collect();
    let file = task::read(&format!("# tasks\n{text}"), "i").unwrap();
    assert_eq!(file.errors, []);
    file.tasks
}

fn ordered(lines: &[&str]) -> Vec<usize> {
    order(&tasks(lines)).unwrap()
}

fn refused(lines: &[&str]) -> Vec<ForgeError> {
    order(&tasks(lines)).unwrap_err()
}

fn paths(lines: &[&str]) -> Vec<String> {
    let path = |error| match error {
        ForgeError::Cycle { path, .. } => path.join(" -> "),
        other => panic!("{other}"),
    };
    refused(lines).into_iter().map(path).collect()
}

#[test]
fn order_in_the_file_does_not_matter() {
    assert_eq!(ordered(&["c b", "b a", "a"]), [2, 1, 0]);
    assert_eq!(ordered(&["a", "b a", "c b"]), [0, 1, 2]);
    assert_eq!(ordered(&["d b c", "b a", "c a", "a"]), [3, 1, 2, 0]);
    assert_eq!(order(&[]), Ok(vec![]));
}

#[test]
fn what_does_not_wait_stays_in_its_place() {
    assert_eq!(ordered(&["x", "y z", "z", "w"]), [0, 2, 1, 3]);
    assert_eq!(ordered(&["b a a", "a"]), [1, 0]);
}

#[test]
fn an_unknown_id_is_refused() {
    let errors = refused(&["task-1", "b task-2", "c d nothing-like-it"]);
    assert_eq!(errors.len(), 3);
    assert_eq!(errors[0].line(), Some(3));
    assert_eq!(
        errors[0].to_string(),
        "[1].depends_on[0]: the task \"b\" depends on \"task-2\", which is not a task of this \
         intent; did you mean \"task-1\"?"
    );
    assert!(matches!(
        &errors[2],
        ForgeError::UnknownDependency { nearest: None, .. }
    ));
}

#[test]
fn a_self_dependency_is_refused() {
    let errors = refused(&["a", "b a b"]);
    let [ForgeError::SelfDependency { at, task }] = &errors[..] else {
        panic!("{errors:?}");
    };
    assert_eq!(
        (at.path.as_str(), at.line, task.as_str()),
        ("[1].depends_on[1]", Some(3), "b")
    );
}

#[test]
fn a_duplicate_id_is_refused() {
    let errors = refused(&["a", "b", "a b"]);
    let [ForgeError::DuplicateId { at, first, .. }] = &errors[..] else {
        panic!("{errors:?}");
    };
    assert_eq!(
        (at.path.as_str(), at.line, *first),
        ("[2].id", Some(4), Some(2))
    );
    assert_eq!(refused(&["a", "a a"]).len(), 2);
}

#[test]
fn a_cycle_is_refused_and_named_as_a_path() {
    assert_eq!(paths(&["a b", "b a"]), ["a -> b -> a"]);
    assert_eq!(
        paths(&["x", "y c", "c b", "b a", "a c x"]),
        ["c -> b -> a -> c"]
    );
    assert_eq!(
        paths(&["a b", "b a", "c d", "d e", "e c", "f a"]),
        ["a -> b -> a", "c -> d -> e -> c"]
    );
    let cycle = &refused(&["a b", "b a"])[0];
    assert_eq!(cycle.line(), Some(2));
    assert!(
        cycle
            .to_string()
            .contains("wait for each other: a -> b -> a"),
        "{cycle}"
    );
}

#[test]
fn a_long_chain_uses_up_no_stack() {
    let mut lines = vec!["t0".to_owned()];
    lines.extend((1..20_000).map(|n| format!("t{n} t{}", n - 1)));
    lines.reverse();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    assert_eq!(ordered(&lines).len(), 20_000);
}
