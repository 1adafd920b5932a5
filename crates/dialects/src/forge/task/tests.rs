//! Tasks as their files have them.

use super::*;
use crate::forge::render;

const FULL: &str = "\
- id: t2
  title: 画面にリンクを置く
  intent_id: reset
  status: implementing
  complexity: medium
  plan: |-
    リンクを足す。

    画面を確かめる。
  relevant_files:
    - src/login.rs
    - 'src/a: b.rs'
  implementation_steps: [書く, 確かめる]
  context: no
  depends_on: [t1]
  attempt: 03
- id: t1
  title: メールを送る
  intent_id: reset
  status: completed
  complexity: low
";

fn read_ok(text: &str) -> Vec<ForgeTask> {
    let file = read(text, "reset").unwrap();
    assert_eq!(file.errors, []);
    file.tasks.into_iter().map(|placed| placed.task).collect()
}

#[test]
fn a_list_of_tasks_is_read() {
    let tasks = read_ok(FULL);
    let [second, first] = &tasks[..] else {
        panic!("{tasks:?}");
    };
    assert_eq!((second.id.as_str(), first.id.as_str()), ("t2", "t1"));
    assert_eq!(second.status, TaskStatus::Implementing);
    assert_eq!(second.complexity, Some(Complexity::Med));
    assert_eq!(
        second.plan.as_deref(),
        Some("リンクを足す。\n\n画面を確かめる。")
    );
    assert_eq!(second.relevant_files, ["src/login.rs", "src/a: b.rs"]);
    assert_eq!(second.implementation_steps, ["書く", "確かめる"]);
    assert_eq!(second.context.as_deref(), Some("no"));
    assert_eq!(second.depends_on, ["t1"]);
    assert_eq!(second.extra.0.len(), 1);
}

#[test]
fn the_status_is_pending_by_default_and_the_intent_that_of_the_file() {
    let tasks = read_ok("- id: a\n  title: b\n");
    assert_eq!(tasks[0].status, TaskStatus::Pending);
    assert_eq!(tasks[0].intent_id, "reset");
    assert_eq!(tasks[0].complexity, None);
}

#[test]
fn done_and_completed_and_each_complexity_are_read_and_document_004s_are_written() {
    for (status, complexity, written) in [
        ("done", "low", ["done", "low"]),
        ("completed", "med", ["done", "med"]),
        ("cancelled", "medium", ["cancelled", "med"]),
        ("failed", "high", ["failed", "high"]),
    ] {
        let text = format!("- {{id: a, title: b, status: {status}, complexity: {complexity}}}\n");
        let text = render::tasks(&read_ok(&text));
        let [status, complexity] = written;
        assert!(text.contains(&format!("  status: {status}\n")), "{text}");
        assert!(
            text.contains(&format!("  complexity: {complexity}\n")),
            "{text}"
        );
    }
}

#[test]
fn reading_what_was_written_gives_the_same_tasks() {
    for text in [
        FULL.to_owned(),
        FULL.replace('\n', "\r\n"),
        "[]\n".to_owned(),
    ] {
        let tasks = read_ok(&text);
        assert_eq!(read_ok(&render::tasks(&tasks)), tasks);
    }
}

#[test]
fn one_bad_task_does_not_lose_the_others() {
    let text = "\
- id: a
  title: b
- id: c
  title: d
  complexity: hihg
- just text
- id: e
  id: f
  title: g
- id: h
  title: &x i
- id: j
  title: k
  depends_on: [[a]]
- title: no id
- id: l
  title: m
  intent_id: other
- id: z
  title: last
";
    let file = read(text, "reset").unwrap();
    let ids: Vec<&str> = file
        .tasks
        .iter()
        .map(|placed| placed.task.id.as_str())
        .collect();
    assert_eq!(ids, ["a", "z"]);
    assert_eq!(file.tasks[1].at.line, Some(19));
    assert_eq!(file.tasks[1].at.path, "[8]");
    let lines: Vec<_> = file.errors.iter().map(ForgeError::line).collect();
    assert_eq!(lines, [5, 6, 8, 11, 14, 15, 18].map(Some));
    let said: Vec<String> = file.errors.iter().map(ToString::to_string).collect();
    for (said, part) in said.iter().zip([
        "invalid [1].complexity \"hihg\": expected one of low, med, high, medium; did you mean \
         \"high\"?",
        "[2]: expected a mapping, found a text",
        "duplicate key `id` (the first is in line 7)",
        "anchors and aliases",
        "[5].depends_on[0]: expected a text, found a list",
        "[6].id is missing",
        "[7].intent_id is \"other\", but this belongs to \"reset\"",
    ]) {
        assert!(said.starts_with(part), "{said}\n{part}");
    }
}

#[test]
fn a_file_that_is_no_list_is_refused() {
    for text in ["id: a\ntitle: b\n", "text", "tasks: []\n"] {
        let refused = read(text, "reset");
        assert!(
            matches!(
                refused,
                Err(ForgeError::Type {
                    expected: "a list",
                    ..
                })
            ),
            "{text}"
        );
    }
    assert!(matches!(read("", "reset"), Err(ForgeError::Empty { .. })));
    assert!(matches!(
        read("- [", "reset"),
        Err(ForgeError::Syntax { .. })
    ));
    assert_eq!(read("[]", "reset"), Ok(TaskFile::default()));
}
