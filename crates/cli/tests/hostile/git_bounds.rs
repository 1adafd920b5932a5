//! Repositories that are small and become large: files without end, lines without end, pairs to compare.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use crate::field::{Field, sparse};
use crate::git::{IMPORT, git, git_in, repository};

/// A commit with a folder, on top of the others.
fn commit_tree(field: &Field, tree: &str) {
    let commit = git(field, &["commit-tree", tree, "-p", "HEAD", "-m", "Large"]);
    git(field, &["update-ref", "refs/heads/main", &commit]);
}

/// A folder in which an object is so many times.
fn many(field: &Field, kind: &str, id: &str, times: usize) -> String {
    let mode = if kind == "tree" { "040000" } else { "100644" };
    let entry = |n: usize| format!("{mode} {kind} {id}\tentry{n:06}\n");
    let entries: String = (0..times).map(entry).collect();
    git_in(&field.path("hostile"), &["mktree"], entries.as_bytes())
}

fn blob(field: &Field, content: &[u8]) -> String {
    let args = ["hash-object", "-w", "--stdin"];
    git_in(&field.path("hostile"), &args, content)
}

#[test]
fn a_hundred_million_files_are_not_listed() {
    let field = repository();
    let file = blob(&field, b"x\n");
    let mut tree = many(&field, "blob", &file, 100);
    for _ in 0..3 {
        tree = many(&field, "tree", &tree, 100);
    }
    commit_tree(&field, &tree);
    let ended = field.survives("files", IMPORT);
    assert!(ended.is_good, "{}", ended.said);
    assert!(
        ended.said.contains("more than 100,000 files"),
        "{}",
        ended.said
    );
    assert!(ended.said.contains("imported       2"), "{}", ended.said);
}

/// Folder in folder: each path is longer than the one before.
#[test]
fn folders_without_end_are_not_listed() {
    let field = repository();
    let file = blob(&field, b"x\n");
    let mut child = Command::new("git")
        .args(["mktree", "--batch"])
        .current_dir(field.path("hostile"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut entry = format!("100644 blob {file}\tx");
    let mut tree = String::new();
    for _ in 0..12_000 {
        write!(input, "{entry}\n\n").unwrap();
        input.flush().unwrap();
        tree.clear();
        output.read_line(&mut tree).unwrap();
        entry = format!("040000 tree {}\td", tree.trim());
    }
    drop(input);
    assert!(child.wait().unwrap().success());
    commit_tree(&field, tree.trim());
    let ended = field.survives("folders", IMPORT);
    assert!(ended.is_good, "{}", ended.said);
    assert!(ended.said.contains("very long paths"), "{}", ended.said);
}

#[test]
fn lines_without_end_are_not_compared() {
    for (what, before, after) in [
        ("line ends", vec![b'\n'; 60 << 20], vec![b'\n'; 60 << 20]),
        (
            "many line ends",
            vec![b'\n'; 30 << 20],
            vec![b'\n'; 300 << 20],
        ),
    ] {
        let field = repository();
        let mut after = after;
        after.push(b'x');
        for content in [before, after] {
            let file = blob(&field, &content);
            drop(content);
            let tree = many(&field, "blob", &file, 1);
            commit_tree(&field, &tree);
        }
        survives_without_diffs(&field, what);
    }
}

/// An import that says which files it left out of diffs.
fn survives_without_diffs(field: &Field, what: &str) {
    let ended = field.survives(what, IMPORT);
    assert!(ended.is_good, "{}", ended.said);
    assert!(
        ended.said.contains("too large to be compared"),
        "{}",
        ended.said
    );
}

/// Texts just below the limits, all of whose lines change, several times.
#[test]
fn texts_that_are_compared_fit_into_memory() {
    for (what, length) in [("lines", 40), ("long lines", 1000)] {
        let field = repository();
        for n in 0..6 {
            let line = |line: usize| format!("{:>1$}\n", line * 7 + n, length - 1);
            let text: String = (0..(23 << 20) / length).map(line).collect();
            let file = blob(&field, text.as_bytes());
            let tree = many(&field, "blob", &file, 1);
            commit_tree(&field, &tree);
        }
        let ended = field.survives(what, IMPORT);
        assert!(ended.is_good, "{}", ended.said);
    }
}

/// One large file, many times.
#[test]
fn a_large_file_is_not_read_without_end() {
    let field = repository();
    let text = "a line of a text\n".repeat(900_000);
    let file = blob(&field, text.as_bytes());
    drop(text);
    let other = blob(&field, &b"another line\n".repeat(900_000));
    for file in [file, other] {
        let tree = many(&field, "blob", &file, 3_000);
        commit_tree(&field, &tree);
    }
    survives_without_diffs(&field, "one file");
}

/// Files that come and go are compared in pairs.
#[test]
fn files_to_be_compared_with_each_other_fit_into_memory() {
    let field = repository();
    let mut trees = Vec::new();
    for side in ["old", "new"] {
        let mut entries = String::new();
        for n in 0..120 {
            let text = format!("{side} {n}\n").repeat((3 << 20) / 8);
            let file = blob(&field, text.as_bytes());
            entries.push_str(&format!("100644 blob {file}\t{side}{n:03}\n"));
        }
        let hostile = field.path("hostile");
        trees.push(git_in(&hostile, &["mktree"], entries.as_bytes()));
    }
    for tree in trees {
        commit_tree(&field, &tree);
    }
    let ended = field.survives("pairs", IMPORT);
    assert!(ended.is_good, "{}", ended.said);
    assert!(ended.said.contains("only unchanged files count as renamed"));
}

/// A file full of secrets: each is remembered with its place.
#[test]
fn secrets_without_end_fit_into_memory() {
    let field = repository();
    let key = format!("AKIA{}", "ABCDEFGHIJKLMNOP");
    let text = format!("{key}\n").repeat(900_000);
    let file = blob(&field, text.as_bytes());
    let tree = many(&field, "blob", &file, 1);
    commit_tree(&field, &tree);
    let ended = field.survives("secrets", IMPORT);
    assert!(ended.is_good, "{}", ended.said);
}

/// Packs and folders next to them.
#[test]
fn many_packs_are_read_with_few_open_files() {
    let field = repository();
    for n in 0..150 {
        field.hostile("a.txt", format!("{n}\n"));
        git(&field, &["add", "."]);
        git(&field, &["commit", "--quiet", "-m", &format!("Change {n}")]);
        git(&field, &["repack", "--quiet", "-d"]);
    }
    let packs = fs::read_dir(field.path("hostile/.git/objects/pack")).unwrap();
    assert!(packs.count() > 300);
    let ended = field.survives("packs", IMPORT);
    assert!(ended.is_good, "{}", ended.said);
    assert!(ended.said.contains("imported       151"), "{}", ended.said);
}

/// Blobs that no command may have at once, one as a file of its own and one in a pack.
#[test]
fn blobs_that_are_larger_than_memory_are_verified_and_kept_in_packs() {
    const MEMORY: u64 = 160 << 20;
    let field = repository();
    let write = |threshold: &str, bytes: u64| {
        sparse(&field.path("hostile/large"), bytes);
        let threshold = format!("core.bigFileThreshold={threshold}");
        git(&field, &["-c", &threshold, "hash-object", "-w", "large"])
    };
    let loose = write("1g", 192 << 20);
    let packed = write("64m", 193 << 20);
    let objects = field.path("hostile/.git/objects");
    let is_loose = |id: &str| objects.join(&id[..2]).join(&id[2..]).exists();
    assert!(is_loose(&loose) && !is_loose(&packed));
    let item = |blob: &str| format!(r#"{{"kind":"file","path":"{blob}","blob":"{blob}"}}"#);
    let snapshot = format!(
        r#"{{"command":"open_snapshot","actor":{{"kind":"agent","id":"a"}},"selection_strategy":"explicit","items":[{},{}]}}"#,
        item(&loose),
        item(&packed)
    );
    fs::write(field.path("snapshot.jsonl"), snapshot).unwrap();
    let applied = field.run(&["apply", "snapshot.jsonl"]);
    assert!(applied.is_good, "{}", applied.said);
    let verify = ["verify", "--artifacts", "--repo", "hostile"];
    let ended = field.run_within(MEMORY, &verify);
    assert!(
        ended.is_good && ended.said.contains("2 artifacts: 2 verified"),
        "{}",
        ended.said
    );
    let retain = |how: &str| {
        let ended = field.run_within(MEMORY, &["retain", "--repo", "hostile", "--as", how]);
        assert!(ended.is_good, "{}", ended.said);
    };
    retain("keep-pack");
    git(&field, &["gc", "-q", "--prune=now"]);
    git(&field, &["fsck", "--full", "--strict"]);
    for blob in [&loose, &packed] {
        git(&field, &["cat-file", "-e", blob]);
    }
    // Each has a pack of its own, which is the same after a second run.
    let kept = || {
        let names = fs::read_dir(objects.join("pack")).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.ends_with(".keep")).count()
    };
    assert_eq!(kept(), 2);
    retain("keep-pack");
    assert_eq!(kept(), 2);
    retain("refs");
    retain("orphan");
    git(&field, &["fsck", "--full", "--strict"]);
}
