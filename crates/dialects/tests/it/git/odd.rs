//! Repositories that are cut off, empty, damaged, bare, detached, or none.

use annals_dialects::git::GitImportError;
use annals_event_log::Classified;
use tempfile::TempDir;

use super::repo::{TestRepo, files, import, import_into, memory, oid};

#[test]
fn a_shallow_clone_is_reported() {
    let repo = TestRepo::new();
    let gone = repo.commit(&files(&[("a", "1\n")]), &[], "gone\n");
    let edge = repo.commit(&files(&[("a", "2\n")]), &[gone], "edge\n");
    let tip = repo.commit(&files(&[("a", "3\n")]), &[edge], "tip\n");
    std::fs::write(repo.git_dir().join("shallow"), format!("{edge}\n")).unwrap();
    repo.delete_object(gone);
    let log = import(&repo);
    assert!(log.report.shallow);
    assert_eq!(log.report.imported, 2);
    assert!(
        log.has_note(&format!("commit {edge} lacks its parents")),
        "{:?}",
        log.report.notes
    );
    assert_eq!(log.run(edge).commit, Some(oid(gone)));
    assert_eq!((log.diff(edge), log.touched(edge)), (None, Vec::new()));
    assert_eq!(log.touched(tip), ["modify a +1 -1"]);
}

#[test]
fn a_missing_parent_is_no_empty_tree() {
    let repo = TestRepo::new();
    let gone = repo.commit(&files(&[("a", "1\n")]), &[], "gone\n");
    let edge = repo.commit(&files(&[("a", "2\n")]), &[gone], "edge\n");
    repo.delete_object(gone);
    let log = import(&repo);
    assert!(!log.report.shallow);
    assert_eq!(log.run(edge).commit, Some(oid(gone)));
    assert_eq!((log.diff(edge), log.touched(edge)), (None, Vec::new()));
    assert!(log.has_note("lacks its parents"));
}

/// It leads to its parents, and is what its children are compared with.
#[test]
fn a_commit_that_is_too_large_is_left_out_and_no_other_one() {
    let repo = TestRepo::new();
    let root = repo.commit(&files(&[("a", "1\n")]), &[], "root\n");
    let large = "big ".repeat((32 << 20) / 4 + 1);
    let large = repo.commit(&files(&[("a", "2\n")]), &[root], &large);
    let tip = repo.commit(&files(&[("a", "3\n")]), &[large], "tip\n");
    let log = import(&repo);
    assert_eq!((log.report.imported, log.report.broken_count), (2, 1));
    let [broken] = log.report.broken.as_slice() else {
        panic!("{:?}", log.report.broken);
    };
    assert_eq!(broken.file, format!("commit {large}"));
    assert!(broken.reason.contains("more than 32 MiB"), "{broken:?}");
    assert_eq!(log.run(tip).commit, Some(oid(large)));
    assert_eq!(log.touched(tip), ["modify a +1 -1"]);
    assert_eq!(log.touched(root), ["add a +1 -0"]);
    // Also as the newest one.
    repo.set_main(large);
    let log = import(&repo);
    assert_eq!((log.report.imported, log.report.broken_count), (1, 1));
}

#[test]
fn history_before_a_commit_that_cannot_be_read_is_named() {
    let repo = TestRepo::new();
    let root = repo.commit(&files(&[("a", "1\n")]), &[], "root\n");
    let bad = repo.object(gix::objs::Kind::Commit, b"nothing of a commit");
    repo.commit(&files(&[("a", "3\n")]), &[root, bad], "tip\n");
    let log = import(&repo);
    assert_eq!((log.report.imported, log.report.broken_count), (2, 1));
    let reason = &log.report.broken[0].reason;
    assert!(reason.contains("and all history before it"), "{reason}");
}

#[test]
fn a_folder_that_is_no_repository_is_named() {
    let dir = TempDir::new().unwrap();
    for path in [dir.path().to_owned(), dir.path().join("nowhere")] {
        let error = import_into(&memory(), &path).unwrap_err();
        assert!(
            matches!(error, GitImportError::NotARepository { .. }),
            "{error:?}"
        );
        assert!(
            error.to_string().contains(&*path.to_string_lossy()),
            "{error}"
        );
        assert!(!error.is_retryable());
    }
}

#[test]
fn a_repository_without_commits_has_nothing_to_import() {
    let log = import(&TestRepo::new());
    assert_eq!((log.report.records_read, log.annals.position().0), (0, 0));
}

#[test]
fn a_missing_blob_is_named_and_the_rest_is_imported() {
    let repo = TestRepo::new();
    let first = repo.commit(&files(&[("a", "1\n")]), &[], "first\n");
    let second = repo.commit(&files(&[("a", "2\n")]), &[first], "second\n");
    let third = repo.commit(&files(&[("a", "3\n")]), &[second], "third\n");
    let last = repo.commit(&files(&[("a", "4\n")]), &[third], "last\n");
    let lost: gix::ObjectId = "0cfbf08886fca9a91cb753ec8734c84fcbe52c9f".parse().unwrap();
    repo.delete_object(lost);
    let log = import(&repo);
    assert_eq!((log.report.imported, log.report.broken_count), (4, 2));
    for (broken, commit) in log.report.broken.iter().zip([second, third]) {
        assert_eq!(
            (broken.file.as_str(), broken.line),
            (&*format!("commit {commit}"), 0)
        );
        assert!(broken.reason.contains(&lost.to_string()), "{broken:?}");
        assert_eq!((log.diff(commit), log.touched(commit)), (None, Vec::new()));
    }
    assert_eq!(log.intent(second).prompt.as_str(), Some("second"));
    assert_eq!(log.touched(last), ["modify a +1 -1"]);
    assert!(
        log.report
            .to_string()
            .contains(&format!("broken         commit {second}: "))
    );
}

#[test]
fn a_missing_head_commit_is_named() {
    let repo = TestRepo::new();
    let commit = repo.commit(&files(&[("a", "1\n")]), &[], "first\n");
    repo.delete_object(commit);
    let error = import_into(&memory(), repo.path()).unwrap_err();
    assert_missing(&error, commit);
}

#[test]
fn a_detached_head_and_a_bare_repository_are_imported() {
    let repo = TestRepo::new();
    let first = repo.commit(&files(&[("a", "1\n")]), &[], "first\n");
    repo.commit(&files(&[("a", "2\n")]), &[first], "second\n");
    std::fs::write(repo.git_dir().join("HEAD"), format!("{first}\n")).unwrap();
    assert_eq!(import(&repo).report.imported, 1);
    let bare = TempDir::new().unwrap();
    let target = bare.path().join("bare.git");
    copy(repo.git_dir(), &target);
    let config = "[core]\n\trepositoryformatversion = 0\n\tbare = true\n";
    std::fs::write(target.join("config"), config).unwrap();
    assert_eq!(import_into(&memory(), &target).unwrap().imported, 1);
}

#[test]
fn a_folder_inside_a_repository_will_do() {
    let repo = TestRepo::new();
    repo.commit(&files(&[("a", "1\n")]), &[], "first\n");
    let inside = repo.path().join("some/folder");
    std::fs::create_dir_all(&inside).unwrap();
    assert_eq!(import_into(&memory(), &inside).unwrap().imported, 1);
}

fn assert_missing(error: &GitImportError, lost: gix::ObjectId) {
    let GitImportError::MissingObject { object, .. } = error else {
        panic!("{error:?}");
    };
    assert_eq!(*object, lost.to_string());
}

fn copy(from: &std::path::Path, to: &std::path::Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Whoever opened one waited for somebody to write to it.
#[test]
fn a_pipe_in_the_place_of_a_repositorys_file_is_named() {
    for name in [
        "packed-refs",
        "HEAD",
        "config",
        "refs/heads/main",
        "objects/info/alternates",
    ] {
        let repo = TestRepo::new();
        repo.commit(&files(&[("a", "1\n")]), &[], "first\n");
        let pipe = repo.git_dir().join(name);
        std::fs::create_dir_all(pipe.parent().unwrap()).unwrap();
        let _ = std::fs::remove_file(&pipe);
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        let (sender, receiver) = std::sync::mpsc::channel();
        let path = repo.path().to_owned();
        std::thread::spawn(move || drop(sender.send(import_into(&memory(), &path))));
        let imported = receiver.recv_timeout(std::time::Duration::from_secs(120));
        let error = imported.expect("nothing waits").unwrap_err();
        assert!(
            matches!(error, GitImportError::Unreadable { .. }),
            "{error}"
        );
        let said = std::error::Error::source(&error).unwrap().to_string();
        assert!(said.contains(name) && said.contains("a pipe"), "{said}");
    }
}
