//! What an export writes, and what it leaves alone.

use std::fs;

use annals::{Annals, Request};
use annals_dialects::forge::{ForgeSelection, export, intent};
use annals_domain::intent::{ApproveIntent, CreateIntent, Source, SubmitIntent};
use annals_domain::{ActorRef, IntentId};
use futures::executor::block_on;
use uuid::Uuid;

use super::{Forge, author, log};

const GOOD: &str = "title: good\nbody: b\nsource: human\n";

fn submit(annals: &Annals, id: u128, text: &str) -> IntentId {
    let id = IntentId(Uuid::from_u128(id));
    let command = SubmitIntent::new(text, Source::Human).with_id(id);
    block_on(annals.execute(Request::new(author(), command))).unwrap();
    id
}

fn approve(annals: &Annals, intent: IntentId) {
    let command = ApproveIntent::new(intent);
    let approver = ActorRef::human("approver");
    block_on(annals.execute(Request::new(approver, command))).unwrap();
}

#[test]
fn what_the_log_learned_is_written_anew() {
    let annals = log();
    let id = submit(&annals, 7, "Title\n\nbody");
    let forge = Forge::new();
    let first = forge.export(&annals);
    assert_eq!((first.intents, first.written), (1, 1));
    let name = format!("intents/{id}.yaml");
    assert!(forge.get(&name).contains("status: proposed"));
    let again = forge.export(&annals);
    assert_eq!((again.written, again.unchanged), (0, 1));
    approve(&annals, id);
    assert_eq!(forge.export(&annals).written, 1);
    assert!(forge.get(&name).contains("status: approved"));
}

#[test]
fn files_that_an_export_did_not_write_are_not_touched() {
    let annals = log();
    let forge = Forge::of(&[("intents/mine.yaml", GOOD), ("intents/notes.txt", "x")]);
    forge.import(&annals);
    let id = IntentId(block_on(annals.resolve("mine")).unwrap().id);
    approve(&annals, id);
    // It says something else now than the file.
    let report = forge.export(&annals);
    assert_eq!((report.written, report.left_alone_count), (0, 1));
    assert!(report.left_alone[0].file.ends_with("intents/mine.yaml"));
    assert_eq!(forge.get("intents/mine.yaml"), GOOD);
    assert_eq!(forge.get("intents/notes.txt"), "x");
}

#[test]
fn files_that_were_changed_since_are_not_touched() {
    let annals = log();
    let id = submit(&annals, 7, "Title\n\nbody");
    let forge = Forge::new();
    forge.export(&annals);
    let name = format!("intents/{id}.yaml");
    let changed = forge.get(&name).replace("title: Title", "title: Mine");
    forge.put(&name, &changed);
    approve(&annals, id);
    assert_eq!(forge.export(&annals).left_alone_count, 1);
    assert_eq!(forge.get(&name), changed);
    // A folder and a link of that name are not touched either.
    fs::remove_file(forge.file(&name)).unwrap();
    fs::create_dir(forge.file(&name)).unwrap();
    assert_eq!(forge.export(&annals).left_alone_count, 1);
    fs::remove_dir(forge.file(&name)).unwrap();
    std::os::unix::fs::symlink("elsewhere", forge.file(&name)).unwrap();
    assert_eq!(forge.export(&annals).left_alone_count, 1);
    assert!(!forge.file("intents/elsewhere").exists());
}

#[test]
fn files_of_earlier_exports_that_nothing_stands_for_go_and_no_others() {
    let forge = Forge::new();
    let first = log();
    let old = submit(&first, 1, "old");
    forge.export(&first);
    forge.put("intents/mine.yaml", GOOD);
    let second = log();
    let new = submit(&second, 2, "new");
    let selected = ForgeSelection {
        intents: vec![new],
        all: false,
    };
    // A part of the log says nothing about the rest.
    let report = block_on(export(&second, forge.path(), &selected, &mut |_| {})).unwrap();
    assert_eq!((report.written, report.removed_count), (1, 0));
    let report = forge.export(&second);
    assert_eq!(report.removed_count, 1);
    assert!(
        report.removed[0].ends_with(&format!("{old}.yaml")),
        "{report:?}"
    );
    assert_eq!(
        forge.names("intents"),
        [format!("{new}.yaml"), "mine.yaml".to_owned()]
    );
    assert!(!forge.file(&format!("intents/{old}.yaml")).exists());
}

#[test]
fn intents_that_were_never_on_the_axis_are_written_where_asked_for() {
    let annals = log();
    let command =
        CreateIntent::new("Only git-internal's\n\nbody").with_id(IntentId(Uuid::from_u128(3)));
    block_on(annals.execute(Request::new(author(), command))).unwrap();
    let forge = Forge::new();
    assert_eq!(forge.export(&annals).intents, 0);
    let all = ForgeSelection {
        intents: Vec::new(),
        all: true,
    };
    let report = block_on(export(&annals, forge.path(), &all, &mut |_| {})).unwrap();
    assert_eq!(report.intents, 1);
    let text = forge.get(&format!("intents/{}.yaml", Uuid::from_u128(3)));
    let read = intent::read(&text).unwrap();
    assert_eq!(
        (read.title.as_str(), read.source),
        ("Only git-internal's", Source::Human)
    );
}

#[test]
fn nothing_is_written_outside_of_the_folder() {
    let annals = log();
    let forge = Forge::new();
    // A log from another user may have any name in an intent's JSON.
    for (id, name) in [
        (1, "../../out"),
        (2, "/tmp/out"),
        (3, ".."),
        (4, "a/b"),
        (5, ""),
    ] {
        let id = IntentId(Uuid::from_u128(id));
        let extra = serde_json::json!({ "forge_file": { "name": name } });
        let command = SubmitIntent::new("t\n\nb", Source::Human)
            .with_id(id)
            .with_extra(annals_domain::Json::from_value(&extra).unwrap());
        block_on(annals.execute(Request::new(author(), command))).unwrap();
    }
    let report = forge.export(&annals);
    assert_eq!(report.written, 5);
    let expected: Vec<String> = (1..=5)
        .map(|id| format!("{}.yaml", Uuid::from_u128(id)))
        .collect();
    assert_eq!(forge.names("intents"), expected);
    assert_eq!(forge.names("."), ["intents", "reviews", "tasks"]);
}

#[test]
fn what_others_put_beside_an_intent_is_not_taken_for_its_file() {
    let annals = log();
    let of = |id, extra: serde_json::Value| {
        SubmitIntent::new("Title\n\nbody", Source::Human)
            .with_id(IntentId(Uuid::from_u128(id)))
            .with_extra(annals_domain::Json::from_value(&extra).unwrap())
    };
    let fake = serde_json::json!({ "title_and_body": ["fake", "fake"], "name": "bob" });
    let kept = serde_json::json!({ "forge_file": { "title_and_body": ["fake", "fake"] } });
    for command in [of(1, fake), of(2, kept)] {
        block_on(annals.execute(Request::new(author(), command))).unwrap();
    }
    let forge = Forge::new();
    forge.export(&annals);
    for id in [1, 2] {
        let text = forge.get(&format!("intents/{}.yaml", Uuid::from_u128(id)));
        let read = intent::read(&text).unwrap();
        assert_eq!((read.title.as_str(), read.body.as_str()), ("Title", "body"));
    }
}

#[test]
fn parents_and_dependencies_are_called_as_their_files_are() {
    let annals = log();
    let forge = Forge::of(&[("intent-drafts/My idea.md", "Whole\n\nb\n")]);
    forge.import(&annals);
    let rows = annals::projections::ListQuery::new(annals_domain::Kind::Intent);
    let whole = IntentId(block_on(annals.index().list(&rows)).unwrap().rows[0].id);
    for (n, (child_of, depends_on)) in [(Some(whole), vec![]), (None, vec![whole])]
        .into_iter()
        .enumerate()
    {
        let command = SubmitIntent::new("Part\n\nb", Source::Human)
            .with_id(IntentId(Uuid::from_u128(n as u128)))
            .with_child_of(child_of)
            .with_depends_on(depends_on);
        block_on(annals.execute(Request::new(author(), command))).unwrap();
    }
    let exported = Forge::new();
    exported.export(&annals);
    let report = exported.import(&log());
    assert_eq!(
        (
            report.imported,
            report.violations_count,
            report.broken_count
        ),
        (3, 0, 0),
        "{report}"
    );
    let part =
        intent::read(&exported.get(&format!("intents/{}.yaml", Uuid::from_u128(0)))).unwrap();
    assert_eq!(part.parent.as_deref(), Some("My idea"));
}

#[test]
fn parts_of_a_log_are_exported_beside_each_other() {
    let annals = log();
    let task = "- {id: t, title: x}\n";
    let forge = Forge::of(&[
        ("intents/a.yaml", GOOD),
        ("intents/b.yaml", GOOD),
        ("tasks/a.yaml", task),
        ("tasks/b.yaml", task),
        ("reviews/a.t.yaml", "verdict: approved\n"),
        ("reviews/b.t.yaml", "verdict: rejected\n"),
    ]);
    forge.import(&annals);
    let out = Forge::new();
    for name in ["a", "b"] {
        let id = IntentId(block_on(annals.resolve(name)).unwrap().id);
        let selected = ForgeSelection {
            intents: vec![id],
            all: false,
        };
        block_on(export(&annals, out.path(), &selected, &mut |_| {})).unwrap();
    }
    assert_eq!(out.names("reviews"), ["a.t.yaml", "b.t.yaml"]);
    assert!(out.get("reviews/a.t.yaml").contains("approved"));
}

#[test]
fn the_files_of_another_log_are_not_touched() {
    let first = log();
    submit(&first, 1, "one");
    let forge = Forge::new();
    forge.export(&first);
    let other = Annals::over(std::sync::Arc::new(
        annals::event_log::memory::MemoryLog::new(Uuid::from_u128(2)),
    ));
    submit(&other, 1, "another");
    let report = forge.export(&other);
    assert_eq!(
        (
            report.written,
            report.removed_count,
            report.left_alone_count
        ),
        (0, 0, 1)
    );
}

#[test]
fn a_copy_of_a_file_that_an_export_wrote_is_not_touched() {
    let annals = log();
    let id = submit(&annals, 1, "one");
    let forge = Forge::new();
    forge.export(&annals);
    forge.put(
        "intents/copy.yaml",
        forge.get(&format!("intents/{id}.yaml")),
    );
    assert_eq!(forge.export(&annals).removed_count, 0);
    assert_eq!(forge.names("intents").len(), 2);
}

#[test]
fn nothing_is_written_through_a_link() {
    let annals = log();
    submit(&annals, 1, "one");
    let elsewhere = tempfile::tempdir().unwrap();
    let forge = Forge::new();
    std::os::unix::fs::symlink(elsewhere.path(), forge.file("intents")).unwrap();
    let selection = ForgeSelection::default();
    let refused = block_on(export(&annals, forge.path(), &selection, &mut |_| {})).unwrap_err();
    assert!(refused.to_string().contains("is a link"), "{refused}");
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    // Nor where `.forge` is not a folder.
    let plain = tempfile::tempdir().unwrap();
    fs::write(plain.path().join(".forge"), "x").unwrap();
    assert!(block_on(export(&annals, plain.path(), &selection, &mut |_| {})).is_err());
    assert_eq!(fs::read_dir(plain.path()).unwrap().count(), 1);
}

#[test]
fn names_of_every_kind_come_back() {
    let forge = Forge::new();
    let long = "n".repeat(250);
    for name in [
        "why?",
        "a*b",
        "a:b",
        "a\\b",
        "tab\there",
        "..x",
        "<x>",
        long.as_str(),
    ] {
        forge.put(&format!("intents/{name}.yaml"), GOOD);
        forge.put(&format!("tasks/{name}.yaml"), "- {id: 't?', title: x}\n");
    }
    let annals = log();
    let report = forge.import(&annals);
    assert_eq!((report.imported, report.broken_count), (16, 0), "{report}");
    let exported = Forge::new();
    let report = exported.export(&annals);
    assert_eq!(report.notes, Vec::<String>::new());
    assert_eq!(exported.names("intents"), forge.names("intents"));
    assert_eq!(exported.names("tasks"), forge.names("tasks"));
}

#[test]
fn the_second_intent_of_one_name_is_called_by_its_id() {
    let annals = log();
    let extra = serde_json::json!({ "forge_file": { "name": "My idea" } });
    for id in [1, 2] {
        let command = SubmitIntent::new("t\n\nb", Source::Human)
            .with_id(IntentId(Uuid::from_u128(id)))
            .with_extra(annals_domain::Json::from_value(&extra).unwrap());
        block_on(annals.execute(Request::new(author(), command))).unwrap();
    }
    let forge = Forge::new();
    assert_eq!(forge.export(&annals).written, 2);
    let second = format!("{}.yaml", Uuid::from_u128(2));
    assert_eq!(forge.names("intents"), [second, "My idea.yaml".to_owned()]);
}

#[test]
fn a_file_that_would_be_larger_than_4_mib_is_not_written_and_named() {
    let annals = log();
    let large = format!("Large\n\n{}", "x".repeat(4 << 20));
    for (id, prompt) in [(1, large), (2, "Small\n\nbody".to_owned())] {
        let command = CreateIntent::new(prompt).with_id(IntentId(Uuid::from_u128(id)));
        block_on(annals.execute(Request::new(author(), command))).unwrap();
    }
    let all = ForgeSelection {
        intents: Vec::new(),
        all: true,
    };
    let forge = Forge::new();
    let report = block_on(export(&annals, forge.path(), &all, &mut |_| {})).unwrap();
    assert_eq!((report.written, report.left_alone_count), (1, 1));
    let [large, small] = [1, 2].map(|id| format!("{}.yaml", Uuid::from_u128(id)));
    let left = &report.left_alone[0];
    assert!(left.file.ends_with(&large), "{left:?}");
    assert!(left.reason.contains("larger than 4 MiB"), "{left:?}");
    assert_eq!(forge.names("intents"), [small]);
}
