//! Folders and lists of commands that are small, and in which very many name each other: each came to no
//! end once, as its time grew with the square or the cube of their number. Every command has a minute
//! on an idle machine (`make timings`).

use std::fmt::Write;

use crate::field::Field;

/// A task's or an intent's id.
fn id(kind: u32, number: usize) -> String {
    format!("01990000-0000-7000-{kind}-{number:012}")
}

#[test]
fn a_long_line_of_parents_is_imported() {
    let field = Field::new();
    for number in 0..1_500 {
        let parent = format!("parent: p{}\n", number + 1);
        let text =
            format!("title: t\nbody: b\nsource: human\nrisk: low\nstatus: approved\n{parent}");
        field.hostile(&format!(".forge/intents/p{number}.yaml"), text);
    }
    field.hostile(
        ".forge/intents/p1500.yaml",
        "title: t\nbody: b\nsource: human\n",
    );
    for _ in 0..2 {
        let ended = field.survives("parents", &["import", "forge", "hostile"]);
        assert!(ended.is_good, "{ended:?}");
    }
}

#[test]
fn a_file_of_many_unknown_names_is_refused() {
    let field = Field::new();
    field.hostile(
        ".forge/intents/i.yaml",
        "title: t\nbody: b\nsource: human\n",
    );
    let long = "n".repeat(50);
    let mut tasks = String::new();
    for number in 0..3_000 {
        let needs = format!("[{long}{}]", 900_000 + number);
        writeln!(
            tasks,
            "- {{id: {long}{number}, title: t, depends_on: {needs}}}"
        )
        .unwrap();
    }
    field.hostile(".forge/tasks/i.yaml", tasks);
    let ended = field.survives("unknown names", &["import", "forge", "hostile"]);
    assert!(!ended.is_good, "{:.2000}", ended.said);
}

#[test]
fn commands_on_long_lines_come_to_an_end() {
    let field = Field::new();
    let actor = r#""actor":{"kind":"agent","id":"a"}"#;
    let own = id(8000, 1);
    let mut commands = format!(
        r#"{{"command":"submit_intent",{actor},"id":"{own}","prompt":"x","source":"human","risk":"low"}}"#
    );
    commands.push('\n');
    let mut parent = own.clone();
    for number in 0..1_000 {
        let (child, task) = (id(8003, number), id(8001, number));
        let needs = match number {
            0 => String::new(),
            _ => format!(r#""{}""#, id(8001, number - 1)),
        };
        writeln!(
            commands,
            r#"{{"command":"submit_intent",{actor},"id":"{child}","prompt":"x","source":"human","risk":"low","child_of":"{parent}"}}
{{"command":"create_task",{actor},"id":"{task}","title":"t","intent":"{own}","dependencies":[{needs}]}}"#
        )
        .unwrap();
        parent = child;
    }
    let (first, last) = (id(8001, 0), id(8003, 0));
    writeln!(
        commands,
        r#"{{"command":"fail_task",{actor},"task":"{first}","reason":"r"}}
{{"command":"reject_intent",{actor},"intent":"{last}","reason":"r"}}"#
    )
    .unwrap();
    field.hostile("commands.jsonl", commands);
    let ended = field.survives("long lines", &["apply", "hostile/commands.jsonl"]);
    let done = ended.said.matches("\"ok\":true").count();
    assert!(done >= 2_002, "{done}: {:.2000}", ended.said);
}
