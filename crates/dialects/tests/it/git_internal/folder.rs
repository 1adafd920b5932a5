//! What a folder has in addition to the objects: named, and not read.

use annals_dialects::git_internal::{GitInternalImportError, import as try_import};
use annals_dialects::secrets::Secrets;
use futures::executor::block_on;
use serde_json::json;

use super::state::object;
use super::{file, import, log};

fn intent() -> String {
    object("intent", 1, json!({ "prompt": "p", "statuses": [] })).to_string()
}

#[cfg(unix)]
#[test]
fn links_and_files_without_a_known_ending_are_named() {
    let (folder, path) = file("b.json", intent());
    let within = |name: &str| folder.path().join(name);
    std::fs::create_dir(within("deep")).unwrap();
    std::fs::write(within("deep/README.md"), "no object").unwrap();
    std::fs::write(within("c"), intent()).unwrap();
    std::os::unix::fs::symlink(&path, within("a.json")).unwrap();
    std::os::unix::fs::symlink(folder.path(), within("round")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(within("s.json")).unwrap();
    // What leads to objects elsewhere, and what is no file, leave the import incomplete.
    let (elsewhere, outside) = file("d.json", intent());
    std::os::unix::fs::symlink(&outside, within("one.json")).unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), within("all")).unwrap();
    let report = import(&log(), folder.path());
    let unread: Vec<&str> = report.broken.iter().map(|it| it.file.as_str()).collect();
    let expected = ["all", "one.json", "s.json"].map(|it| within(it).display().to_string());
    assert_eq!(unread, expected, "{report}");
    assert_eq!((report.imported, report.broken_count), (1, 3), "{report}");
    assert_eq!(report.passed_over_count, 4);
    let ending = "its name does not end with";
    let expected = [
        ("a.json", "it is a link"),
        ("c", ending),
        ("deep/README.md", ending),
        ("round", "it is a link"),
    ];
    assert_eq!(report.passed_over.len(), expected.len(), "{report}");
    for (found, (name, reason)) in report.passed_over.iter().zip(expected) {
        assert_eq!(found.file, within(name).display().to_string());
        assert!(found.reason.starts_with(reason), "{found:?}");
        let line = format!("\npassed over    {}: {reason}", found.file);
        assert!(report.to_string().contains(&line), "{report}");
    }
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["passed_over_count"], 4);
    let second = &json["passed_over"][1]["file"];
    assert_eq!(second, &json!(within("c").display().to_string()));
}

/// The list is of the first ones, regardless of the order in which the system gives them.
#[test]
fn no_more_than_a_hundred_are_named() {
    let (folder, _) = file("objects.json", intent());
    for number in (0..150).rev() {
        std::fs::write(folder.path().join(format!("{number:03}.txt")), "").unwrap();
    }
    let report = import(&log(), folder.path());
    assert_eq!(report.passed_over_count, 150);
    let names = report.passed_over.iter().enumerate();
    let right = |(n, one): (usize, &annals_dialects::PassedOver)| {
        one.file.ends_with(&format!("{n:03}.txt"))
    };
    assert_eq!(names.map(right).filter(|right| *right).count(), 100);
    let text = report.to_string();
    assert!(text.contains("\npassed over    and 50 more"), "{text}");
}

#[test]
fn a_folder_without_objects_says_what_else_it_has() {
    let (folder, _) = file("objects.txt", intent());
    let error = block_on(try_import(
        &log(),
        folder.path(),
        &Secrets::standard(),
        &mut |_| {},
    ))
    .unwrap_err();
    let GitInternalImportError::Empty { passed_over, .. } = error else {
        panic!("{error}");
    };
    assert_eq!(passed_over, 1);
    let (_folder, path) = file("objects.txt", intent());
    // A file that is named itself is read regardless of its ending.
    let report = import(&log(), &path);
    assert_eq!((report.imported, report.passed_over_count), (1, 0));
}
