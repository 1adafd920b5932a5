//! Binary files in diffs: the git program applies them, and takes them back.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use gix::ObjectId;
use gix::objs::tree::EntryKind;
use rand::rngs::StdRng;
use rand::{RngCore, SeedableRng};
use tempfile::TempDir;

use super::repo::{File, Files, Imported, TestRepo, import, import_into};

const FIELD: &str = "content of binary files";

/// Two states of a tree as two commits; the second one.
fn change(before: &Files, after: &Files) -> (TestRepo, Imported, ObjectId) {
    let repo = TestRepo::new();
    let first = repo.commit(before, &[], "before\n");
    let second = repo.commit(after, &[first], "after\n");
    let log = import(&repo);
    (repo, log, second)
}

fn tree(list: &[(&str, &[u8])]) -> Files {
    let file = |(path, bytes): &(&str, &[u8])| {
        (
            path.as_bytes().to_vec(),
            File(EntryKind::Blob, bytes.to_vec()),
        )
    };
    list.iter().map(file).collect()
}

/// Bytes that cannot be compressed, with a NUL among the first ones.
fn noise(seed: u64, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    StdRng::seed_from_u64(seed).fill_bytes(&mut bytes);
    bytes.first_mut().into_iter().for_each(|byte| *byte = 0);
    bytes
}

fn git(folder: &Path, args: &[&str], input: &[u8]) {
    let mut child = Command::new("git")
        .args(args)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("these tests need the git program");
    child.stdin.take().unwrap().write_all(input).unwrap();
    let done = child.wait_with_output().unwrap();
    assert!(done.status.success(), "git {args:?}: {done:?}");
}

/// What the files are after a diff was applied to them.
fn applied(files: &Files, diff: &[u8], args: &[&str]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let dir = TempDir::new().unwrap();
    git(dir.path(), &["init", "--quiet"], b"");
    let named = |path: &[u8]| dir.path().join(String::from_utf8(path.to_vec()).unwrap());
    for (path, File(_, bytes)) in files {
        let path = named(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    git(dir.path(), &[&["apply"], args, &["-"]].concat(), diff);
    let mut found = Vec::new();
    let mut folders = vec![dir.path().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true if path.ends_with(".git") => {}
                true => folders.push(path),
                false => {
                    let name = path.strip_prefix(dir.path()).unwrap();
                    let name = name.to_str().unwrap().as_bytes().to_vec();
                    found.push((name, fs::read(path).unwrap()));
                }
            }
        }
    }
    found.sort();
    found
}

fn contents(files: &Files) -> Vec<(Vec<u8>, Vec<u8>)> {
    let files = files.iter();
    files
        .map(|(path, File(_, bytes))| (path.clone(), bytes.clone()))
        .collect()
}

/// A change whose diff leads from one state to the other, and back.
fn check(before: &Files, after: &Files) -> String {
    let (_repo, log, commit) = change(before, after);
    let diff = log.diff(commit).expect("there is a diff");
    assert!(applied(before, &diff, &[]) == contents(after), "forward");
    assert!(applied(after, &diff, &["-R"]) == contents(before), "back");
    assert_eq!(log.lost(FIELD), 0);
    assert!(log.report.notes.is_empty(), "{:?}", log.report.notes);
    String::from_utf8(diff).unwrap()
}

#[test]
fn git_applies_binary_files_and_takes_them_back() {
    let (one, two) = (noise(1, 5_000), noise(2, 200_000));
    let others: [(&str, &[u8]); 2] = [("a.txt", b"1\n2\n"), ("z.txt", b"x\n")];
    let with = |file: &[(&str, &[u8])]| tree(&[&others, file].concat());
    let text = b"now a text\n".as_slice();
    for (before, after) in [
        (with(&[]), with(&[("image", &one)])),
        (with(&[("image", &one)]), with(&[])),
        (with(&[("image", &one)]), with(&[("image", &two)])),
        (with(&[("image", b"")]), with(&[("image", &one)])),
        (with(&[("image", &one)]), with(&[("image", b"")])),
        (with(&[("image", text)]), with(&[("image", &one)])),
        (with(&[("image", &one)]), with(&[("image", text)])),
        (with(&[("old", &one)]), with(&[("some folder/new", &one)])),
        (
            with(&[("b", &one), ("c", &two)]),
            tree(&[
                ("a.txt", b"1\n3\n"),
                ("b", &two),
                ("c", &one),
                ("d", &[0; 9_000]),
            ]),
        ),
    ] {
        check(&before, &after);
    }
}

/// Lines of data have up to 52 bytes, and groups of four.
#[test]
fn contents_of_every_length_are_applied() {
    let file = |length: usize| (format!("f{length:03}"), noise(length as u64, length));
    let all: Vec<(String, Vec<u8>)> = (1..130).map(file).collect();
    let list: Vec<(&str, &[u8])> = all
        .iter()
        .map(|(path, bytes)| (path.as_str(), bytes.as_slice()))
        .collect();
    check(&Files::new(), &tree(&list));
}

#[test]
fn a_binary_file_becomes_executable_too() {
    let mut after = tree(&[("x", &noise(4, 100))]);
    after
        .values_mut()
        .for_each(|file| file.0 = EntryKind::BlobExecutable);
    let diff = check(&tree(&[("x", &noise(3, 100))]), &after);
    assert!(
        diff.contains("old mode 100644\nnew mode 100755\nindex "),
        "{diff}"
    );
}

#[test]
fn the_same_repository_adds_nothing() {
    let (repo, log, _) = change(
        &tree(&[("x", &noise(5, 100))]),
        &tree(&[("x", &noise(6, 100))]),
    );
    let position = log.annals.position();
    let again = import_into(&log.annals, repo.path()).unwrap();
    assert_eq!(
        (again.imported, again.already_there, again.events_made),
        (0, 2, 0)
    );
    assert_eq!(log.annals.position(), position);
}

#[test]
fn a_binary_file_over_the_limit_is_named_and_the_others_are_kept() {
    let large = noise(7, (16 << 20) + 1);
    let small = noise(8, 100);
    let (_repo, log, commit) = change(
        &Files::new(),
        &tree(&[("large", &large), ("small", &small), ("t", b"1\n")]),
    );
    let diff = String::from_utf8(log.diff(commit).unwrap()).unwrap();
    assert!(diff.contains("\nBinary files /dev/null and b/large differ\n"));
    assert_eq!(diff.matches("\nGIT binary patch\nliteral 100\n").count(), 1);
    assert_eq!((log.kept(FIELD), log.lost(FIELD)), (1, 1));
    assert!(
        log.has_note("binary files that are too large"),
        "{:?}",
        log.report.notes
    );
}

#[test]
fn binary_files_of_a_commit_have_a_limit_together() {
    let files: Vec<(String, Vec<u8>)> = (0..4)
        .map(|n| (format!("f{n}"), noise(n, 8 << 20)))
        .collect();
    let list: Vec<(&str, &[u8])> = files
        .iter()
        .map(|(path, bytes)| (path.as_str(), bytes.as_slice()))
        .collect();
    let (_repo, log, commit) = change(&Files::new(), &tree(&list));
    let diff = log.diff(commit).unwrap();
    assert!(diff.len() < 25 << 20, "{}", diff.len());
    assert_eq!((log.kept(FIELD), log.lost(FIELD)), (2, 2));
}

/// A text's diff that fitted before binary files were kept fits now.
#[test]
fn binary_files_take_no_room_from_texts() {
    let line = "x".repeat(1023) + "\n";
    let text = line.repeat(40 * 1024);
    let (_repo, log, commit) = change(
        &Files::new(),
        &tree(&[("binary", &noise(9, 9 << 20)), ("text", text.as_bytes())]),
    );
    let diff = String::from_utf8(log.diff(commit).unwrap()).unwrap();
    assert!(diff.contains("\nBinary files /dev/null and b/binary differ\n"));
    assert!(diff.contains("\n@@ -0,0 +1,40960 @@\n"));
    assert_eq!((log.kept(FIELD), log.lost(FIELD)), (0, 1));
    assert_eq!(log.kept("diff and touched files"), 2);
}

#[test]
fn binary_files_with_secrets_are_left_out() {
    let token = format!("ghp_{}", "0aZ9".repeat(9));
    let text = [b"\0\x01".as_slice(), token.as_bytes()].concat();
    let wide: Vec<u8> = token.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let key = b"\x30\x82\x04\xbd\x02\x01\x00\x30\x0d\x06\x09\x2a\x86\x48";
    for (what, secret) in [
        ("a text", text.as_slice()),
        ("UTF-16", &wide),
        ("a key", key),
    ] {
        for (before, after) in [
            (Files::new(), tree(&[("x", secret)])),
            (tree(&[("x", secret)]), tree(&[("x", b"\0\x02")])),
            (tree(&[("x", secret)]), tree(&[("x", b"a text\n")])),
        ] {
            let (_repo, log, commit) = change(&before, &after);
            let diff = String::from_utf8(log.diff(commit).unwrap()).unwrap();
            assert!(diff.ends_with(" and b/x differ\n"), "{what}: {diff}");
            assert!(!diff.contains("index "), "{what}: {diff}");
            assert!(
                log.has_note("with secrets"),
                "{what}: {:?}",
                log.report.notes
            );
            assert!(log.lost(FIELD) > 0, "{what}");
        }
    }
}
