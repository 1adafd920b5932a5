//! Bad files are named with their lines, and the rest is read.

use annals::Request;
use annals_dialects::forge::{ForgeFolderError, ForgeOptions, import, intent};
use annals_dialects::secrets::Secrets;
use annals_domain::TaskId;
use annals_domain::alias::ReserveAlias;
use annals_domain::task::CreateTask;
use futures::executor::block_on;
use uuid::Uuid;

use super::{Forge, author, broken, log, violations};

const GOOD: &str = "title: good\nbody: b\nsource: human\n";

/// What is said of one bad file next to a good one.
fn said_of(path: &str, text: impl AsRef<[u8]>) -> Vec<String> {
    let forge = Forge::of(&[("intents/good.yaml", GOOD)]);
    forge.put(path, text);
    let report = forge.import(&log());
    assert_eq!(report.imported, 1, "the good one is read: {report}");
    broken(&report)
}

#[track_caller]
fn names(path: &str, text: impl AsRef<[u8]>, place: &str, what: &str) {
    let said = said_of(path, text);
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(
        said[0].starts_with(&format!("{path}:{place}: ")),
        "{said:?}"
    );
    assert!(said[0].contains(what), "{said:?}");
}

#[test]
fn frontmatter_that_is_not_closed() {
    names(
        "intent-drafts/a.md",
        "---\ntype: fix\n\nx\n\ny\n",
        "1",
        "not closed",
    );
}

#[test]
fn yaml_that_is_not_valid() {
    names(
        "intents/a.yaml",
        "title: [a\nbody: b\n",
        "2",
        "not valid YAML",
    );
    names(
        "tasks/good.yaml",
        "- id: t\n\ttitle: x\n",
        "2",
        "found a tab",
    );
    names(
        "reviews/t.yaml",
        "verdict: \"approved\n",
        "1",
        "not valid YAML",
    );
    names(
        "intent-drafts/a.md",
        "---\nlabels: [a\n---\nx\n\ny\n",
        "2",
        "frontmatter",
    );
}

#[test]
fn a_draft_without_a_text_and_an_intent_without_a_body() {
    names("intent-drafts/a.md", "\n", "1", "no text");
    names(
        "intents/a.yaml",
        "title: a\nsource: human\n",
        "1",
        "body is missing",
    );
}

#[test]
fn a_type_in_other_letters_than_the_listed_one() {
    names(
        "intents/a.yaml",
        format!("{GOOD}type: Fix\n"),
        "4",
        "did you mean \"fix\"?",
    );
    names(
        "intent-drafts/a.md",
        "---\ntype: AUDIT\n---\nx\n\ny\n",
        "2",
        "\"AUDIT\": expected one of",
    );
}

#[test]
fn a_risk_that_is_spelled_wrong() {
    names(
        "intents/a.yaml",
        format!("{GOOD}risk: hihg\n"),
        "4",
        "did you mean \"high\"?",
    );
    names(
        "intent-drafts/a.md",
        "---\nrisk: lwo\n---\nx\n\ny\n",
        "2",
        "did you mean \"low\"?",
    );
}

#[test]
fn tasks_of_an_intent_that_there_is_not() {
    names(
        "tasks/ghost.yaml",
        "- {id: t, title: x}\n",
        "1",
        "no such intent; add intents/ghost",
    );
    let forge = Forge::of(&[
        ("intents/a.yaml", "title: a\n"),
        ("tasks/a.yaml", "- {id: t, title: x}\n"),
    ]);
    let said = broken(&forge.import(&log()));
    assert!(
        said[1].contains("the file of their intent \"a\" has to be corrected first"),
        "{said:?}"
    );
}

#[test]
fn a_task_that_waits_for_itself_does_not_lose_the_others() {
    let tasks = "- {id: a, title: x}\n- {id: b, title: x, depends_on: [b]}\n\
                 - {id: c, title: x, depends_on: [b, a]}\n- {id: d, title: x, depends_on: [e]}\n\
                 - {id: e, title: x, depends_on: [d]}\n- {id: f, title: x, depends_on: [zz]}\n\
                 - {id: a, title: again}\n- {title: no id}\n- {id: g, title: x, depends_on: [a]}\n\
                 - {id: h, title: x, complexity: huge}\n- {id: i, title: x, depends_on: [h]}\n";
    let forge = Forge::of(&[("intents/i.yaml", GOOD), ("tasks/i.yaml", tasks)]);
    let annals = log();
    let report = forge.import(&annals);
    let mut said = broken(&report);
    let line = |said: &String| said.split(':').nth(1).unwrap().parse::<u64>().unwrap();
    said.sort_by_key(line);
    let expected = [
        ("2", "depends on itself"),
        ("3", "\"c\" depends on \"b\", which cannot be taken"),
        ("4", "wait for each other: d -> e -> d"),
        ("6", "depends on \"zz\", which is not a task"),
        ("7", "\"a\""),
        ("8", "id is missing"),
        ("10", "complexity"),
        ("11", "\"i\" depends on \"h\", which cannot be taken"),
    ];
    assert_eq!(said.len(), expected.len(), "{said:#?}");
    for (said, (line, what)) in said.iter().zip(expected) {
        assert!(
            said.starts_with(&format!("tasks/i.yaml:{line}: ")),
            "{said}"
        );
        assert!(said.contains(what), "{said}");
    }
    assert_eq!(report.notes, ["imported 1 intent, 2 tasks"]);
    // What was mended fills the gap.
    forge.put("tasks/i.yaml", "- {id: a, title: x}\n- {id: b, title: x, depends_on: [g]}\n- {id: g, title: x, depends_on: [a]}\n");
    let report = forge.import(&annals);
    assert_eq!((report.imported, report.already_there), (1, 3), "{report}");
}

#[test]
fn line_ends_and_a_byte_order_mark_of_other_systems_are_read() {
    let forge = Forge::of(&[
        (
            "intents/a.yaml",
            "\u{feff}title: a\r\nbody: b\r\nsource: human\r\n",
        ),
        ("tasks/a.yaml", "\u{feff}- id: t\r\n  title: x\r\n"),
        ("reviews/t.yaml", "\u{feff}{\"verdict\": \"approved\"}\r\n"),
        (
            "intent-drafts/d.md",
            "\u{feff}---\r\ntype: fix\r\n---\r\n\r\nt\r\n\r\nb\r\n",
        ),
    ]);
    let report = forge.import(&log());
    assert_eq!(broken(&report), Vec::<String>::new());
    assert_eq!(report.imported, 4);
}

#[test]
fn a_file_that_is_not_utf_8() {
    let latin = b"title: caf\xe9\nbody: b\nsource: human\n";
    names(
        "intents/a.yaml",
        latin,
        "1",
        "0xe9 at offset 10 of the file is not UTF-8",
    );
    names(
        "tasks/good.yaml",
        b"\n- {id: t, title: \xff}\n",
        "2",
        "not UTF-8",
    );
    names("reviews/t.yaml", b"\xff", "1", "not UTF-8");
    names("intent-drafts/a.md", b"x\n\n\xff", "3", "not UTF-8");
}

#[test]
fn reviews_of_what_there_is_not_and_of_what_several_have() {
    names(
        "reviews/t9.yaml",
        "verdict: approved\n",
        "1",
        "no intent of the folder has such a task",
    );
    names(
        "reviews/t.yaml",
        "task_id: u\nverdict: approved\n",
        "1",
        "\"u\"",
    );
    let forge = Forge::of(&[
        ("intents/a.yaml", GOOD),
        ("intents/b.yaml", GOOD),
        ("tasks/a.yaml", "- {id: t, title: x}\n"),
        ("tasks/b.yaml", "- {id: t, title: x}\n"),
        ("reviews/t.yaml", "verdict: rejected\nissues: [no]\n"),
    ]);
    let annals = log();
    let said = broken(&forge.import(&annals));
    assert!(
        said[0].contains("several intents have a task \"t\""),
        "{said:?}"
    );
    assert!(said[0].contains("a.t.yaml or b.t.yaml"), "{said:?}");
    forge.put("reviews/a.t.yaml", "verdict: rejected\nissues: [no]\n");
    let report = forge.import(&annals);
    assert_eq!(report.notes, ["imported 1 review"]);
    let exported = Forge::new();
    exported.export(&annals);
    assert_eq!(exported.names("reviews"), ["a.t.yaml"]);
    // Another log knows them as well.
    let other = log();
    assert_eq!(
        exported.import(&other).notes,
        ["imported 2 intents, 2 tasks, 1 review"]
    );
}

#[test]
fn unknown_keys_that_are_nested_too_deep() {
    let deep = |n: usize| format!("{GOOD}k: {}1{}\n", "[".repeat(n), "]".repeat(n));
    names("intents/a.yaml", deep(33), "4", "nested more than 32 deep");
    let forge = Forge::of(&[("intents/a.yaml", &deep(32))]);
    let annals = log();
    forge.import(&annals);
    let exported = Forge::new();
    exported.export(&annals);
    let read = |forge: &Forge| intent::read(&forge.get("intents/a.yaml")).unwrap();
    assert_eq!(read(&exported), read(&forge));
}

#[test]
fn every_intent_of_every_ring_is_refused() {
    let of = |names: &str| format!("{GOOD}depends_on: [{names}]\n");
    let forge = Forge::new();
    for (name, needs) in [
        ("a", "b"),
        ("b", "a"),
        ("x", "a, y"),
        ("y", "a, x"),
        ("z", "x"),
    ] {
        forge.put(&format!("intents/{name}.yaml"), of(needs));
    }
    let report = forge.import(&log());
    assert_eq!((report.imported, report.broken_count), (1, 4), "{report}");
    // Rings that share one of theirs.
    let forge = Forge::new();
    for (name, needs) in [
        ("n1", "n5"),
        ("n5", "n1, n6"),
        ("n6", "n0, n4"),
        ("n4", "n0, n5"),
        ("n0", ""),
    ] {
        forge.put(&format!("intents/{name}.yaml"), of(needs));
    }
    let report = forge.import(&log());
    assert_eq!((report.imported, report.broken_count), (1, 4), "{report}");
    // Parents of each other.
    let forge = Forge::new();
    forge.put("intents/a.yaml", format!("{GOOD}parent: b\n"));
    forge.put("intents/b.yaml", format!("{GOOD}parent: a\n"));
    assert_eq!(forge.import(&log()).broken_count, 2);
}

#[test]
fn a_task_that_is_called_by_an_id() {
    let id = "0192f0c1-2b3c-7d4e-8f50-617283940a1b";
    let task = format!("- {{id: {id}, title: x}}\n");
    let forge = Forge::new();
    // The id of its intent; and that of a task of another one.
    forge.put(&format!("intents/{id}.yaml"), GOOD);
    forge.put(&format!("tasks/{id}.yaml"), &task);
    let annals = log();
    let report = forge.import(&annals);
    assert_eq!(report.notes, ["imported 1 intent, 1 task"], "{report}");
    assert_eq!(forge.import(&annals).events_made, 0);
    let forge = Forge::of(&[("intents/a.yaml", GOOD), ("intents/b.yaml", GOOD)]);
    forge.put("tasks/a.yaml", &task);
    forge.put("tasks/b.yaml", task.replace("title: x", "title: y"));
    let annals = log();
    assert_eq!(forge.import(&annals).notes, ["imported 2 intents, 2 tasks"]);
    let again = forge.import(&annals);
    assert_eq!(
        (again.events_made, again.passed_over_count),
        (0, 0),
        "{again}"
    );
}

#[test]
fn a_bad_file_of_tasks_does_not_make_an_intent_done_for_ever() {
    let done = format!("{GOOD}status: done\n");
    let forge = Forge::of(&[("intents/i.yaml", &done), ("tasks/i.yaml", "- [\n")]);
    let annals = log();
    let report = forge.import(&annals);
    assert_eq!(violations(&report).len(), 1, "{report}");
    forge.put("tasks/i.yaml", "- {id: t, title: x, status: failed}\n");
    let said = violations(&forge.import(&annals));
    assert!(said[0].contains("come to error, which counts"), "{said:?}");
    // Nor does a file that went.
    std::fs::remove_file(forge.file("tasks/i.yaml")).unwrap();
    let said = violations(&forge.import(&annals));
    assert!(said[0].contains("come to error, which counts"), "{said:?}");
}

#[test]
fn intents_that_wait_for_each_other() {
    let of = |more: &str| format!("{GOOD}{more}\n");
    let forge = Forge::new();
    forge.put("intents/a.yaml", of("depends_on: [b]"));
    forge.put("intents/b.yaml", of("parent: a"));
    // It waits for its own parent, which waits for its parts.
    forge.put("intents/c.yaml", of("parent: d\ndepends_on: [d]"));
    forge.put("intents/d.yaml", GOOD);
    forge.put("intents/e.yaml", of("depends_on: [e]"));
    forge.put("intents/f.yaml", of("depends_on: [a]"));
    let report = forge.import(&log());
    let said = broken(&report);
    let files: Vec<&str> = said
        .iter()
        .map(|it| it.split(": ").next().unwrap())
        .collect();
    let mut sorted = files.clone();
    sorted.sort_unstable();
    let expected = ["intents/c.yaml:5", "intents/d.yaml:1", "intents/e.yaml:4"];
    assert_eq!(sorted, expected, "{said:#?}");
    // a waits for b, which is a part of it: that is what parts are.
    assert_eq!(report.imported, 3, "{report}");
}

/// What is said of a second import, of other files, into the log of the first.
fn one_after_the_other(first: &[(&str, &str)], second: &[(&str, &str)]) -> Vec<String> {
    let of = |files: &[(&str, &str)]| {
        let forge = Forge::new();
        for (name, more) in files {
            forge.put(&format!("intents/{name}.yaml"), format!("{GOOD}{more}\n"));
        }
        forge
    };
    let annals = log();
    assert_eq!(broken(&of(first).import(&annals)), Vec::<String>::new());
    let report = of(second).import(&annals);
    let said = broken(&report);
    assert_eq!(
        report.imported as usize,
        second.len() - said.len(),
        "{report}"
    );
    said
}

#[test]
fn intents_that_came_one_after_the_other_and_wait_for_each_other_are_named() {
    let said = one_after_the_other(&[("a", "depends_on: [b]")], &[("b", "depends_on: [a]")]);
    assert!(said[0].starts_with("intents/b.yaml:4: "), "{said:?}");
    assert!(said[0].contains("b -> a -> b"), "{said:?}");
    let said = one_after_the_other(&[("a", "parent: b")], &[("b", "parent: a")]);
    assert!(said[0].contains("wait for each other"), "{said:?}");
    // A part that waits for the whole, regardless of which came first.
    let said = one_after_the_other(&[("b", "")], &[("a", "parent: b\ndepends_on: [b]")]);
    assert_eq!(said.len(), 1, "{said:?}");
    // The whole need not be there yet.
    let said = one_after_the_other(&[("x", "")], &[("a", "parent: b\ndepends_on: [b]")]);
    assert!(said[0].contains("a -> b -> a"), "{said:?}");
    // Over others, of the log and of the folder.
    let said = one_after_the_other(
        &[("a", "depends_on: [c]"), ("x", "")],
        &[
            ("b", "depends_on: [a]"),
            ("c", "depends_on: [b, x]"),
            ("d", "depends_on: [x]"),
        ],
    );
    assert_eq!(said.len(), 2, "{said:?}");
    // What waits without a circle is taken.
    let said = one_after_the_other(
        &[("a", "depends_on: [b]\nparent: p")],
        &[("b", ""), ("p", "")],
    );
    assert_eq!(said, Vec::<String>::new());
}

#[test]
fn what_names_an_intent_that_is_not_there_holds_once_it_is() {
    let forge = Forge::new();
    forge.put(
        "intents/a.yaml",
        format!("{GOOD}depends_on: [b]\nparent: p\n"),
    );
    forge.put("intents/b.yaml", "title: b\n");
    let annals = log();
    let report = forge.import(&annals);
    let said = violations(&report);
    assert!(
        said[0].starts_with("intents/a.yaml:5: parent names \"p\""),
        "{said:?}"
    );
    assert!(
        said[1].starts_with("intents/a.yaml:4: depends_on names \"b\""),
        "{said:?}"
    );
    forge.put("intents/b.yaml", GOOD);
    forge.put("intents/p.yaml", format!("{GOOD}status: executing\n"));
    let report = forge.import(&annals);
    assert_eq!((report.imported, report.already_there), (2, 1), "{report}");
    let seen = |alias: &str| {
        let object = block_on(annals.resolve(alias)).unwrap();
        let id = annals_domain::IntentId(object.id);
        (
            id,
            block_on(annals.inbox().forge_intent(id, annals::At::Now)).unwrap(),
        )
    };
    let (a, view) = seen("a");
    assert_eq!(
        (view.depends_on, view.parent),
        (vec!["b".to_owned()], Some("p".to_owned()))
    );
    assert_eq!(seen("p").1.children, [a]);
}

#[test]
fn an_intent_whose_name_another_kind_of_object_has_is_not_taken() {
    let annals = log();
    let task = TaskId(Uuid::from_u128(9));
    let create = CreateTask::new("x").with_id(task);
    block_on(annals.execute(Request::new(author(), create))).unwrap();
    let reserve = ReserveAlias::new(task.0, "taken");
    block_on(annals.execute(Request::new(author(), reserve))).unwrap();
    let forge = Forge::of(&[("intents/free.yaml", GOOD), ("intents/taken.yaml", GOOD)]);
    let report = forge.import(&annals);
    let said = broken(&report);
    assert_eq!((report.imported, said.len()), (1, 1), "{said:?}");
    let expected = "intents/taken.yaml:1: its name is that of a task in the log already";
    assert!(said[0].starts_with(expected), "{said:?}");
    assert_eq!(block_on(annals.resolve("taken")).unwrap().id, task.0);
}

#[test]
fn a_path_that_is_no_folder_of_this_kind() {
    let options = ForgeOptions::new(author()).with_secrets(Secrets::standard());
    let empty = tempfile::tempdir().unwrap();
    let import = |path| block_on(import(&log(), path, &options, &mut |_| {}));
    let refused = import(empty.path()).unwrap_err();
    assert!(
        matches!(refused, ForgeFolderError::NoForge { .. }),
        "{refused}"
    );
    let missing = empty.path().join("missing");
    let refused = import(&missing).unwrap_err();
    assert!(
        matches!(refused, ForgeFolderError::Unreadable { .. }),
        "{refused}"
    );
    std::fs::write(&missing, "x").unwrap();
    assert!(matches!(
        import(&missing),
        Err(ForgeFolderError::Unreadable { .. })
    ));
}

#[test]
fn what_does_not_fit_is_named_and_many_children_do() {
    let forge = Forge::of(&[
        ("intents/whole.yaml", &format!("{GOOD}status: executing\n")),
        ("tasks/whole.yaml", "- {id: t, title: x, status: done}\n"),
    ]);
    for n in 0..1_200 {
        forge.put(
            &format!("intents/c{n}.yaml"),
            format!("{GOOD}parent: whole\nstatus: done\n"),
        );
    }
    let many: String = (0..70_000).map(|_| "- x\n").collect();
    forge.put(
        "reviews/t.yaml",
        format!("verdict: rejected\nissues:\n{many}"),
    );
    let annals = log();
    let report = forge.import(&annals);
    let said = broken(&report);
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(
        said[0].starts_with("reviews/t.yaml:1: it does not fit"),
        "{said:?}"
    );
    let id = annals_domain::IntentId(block_on(annals.resolve("whole")).unwrap().id);
    let view = block_on(annals.inbox().forge_intent(id, annals::At::Now)).unwrap();
    assert_eq!((view.children.len(), view.status.as_str()), (1_200, "done"));
}
