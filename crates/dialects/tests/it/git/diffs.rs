//! The diffs and touched files. The expected texts are what `git show` prints.

use gix::ObjectId;
use gix::objs::tree::EntryKind;

use super::repo::{File, Files, Imported, TestRepo, files, import};

/// Imports two states of a tree, one commit each; the second commit.
fn change(before: &Files, after: &Files) -> (Imported, ObjectId) {
    let repo = TestRepo::new();
    let first = repo.commit(before, &[], "before\n");
    let second = repo.commit(after, &[first], "after\n");
    (import(&repo), second)
}

fn check(before: &Files, after: &Files, touched: &[&str], diff: &str) {
    let (log, commit) = change(before, after);
    assert_eq!(log.touched(commit), touched);
    let text = log.diff(commit).expect("there is a diff");
    assert_eq!(String::from_utf8_lossy(&text), diff);
}

fn one(path: &[u8], kind: EntryKind, content: &[u8]) -> Files {
    Files::from([(path.to_vec(), File(kind, content.to_vec()))])
}

#[test]
fn a_text_change_is_exactly_what_git_prints() {
    let before = "import os\n\ndef first():\n    a = 1\n    b = 2\n    c = 3\n    d = 4\n    return a\n\ndef second():\n    return 2";
    let after = "import os\nimport sys\n\ndef first():\n    a = 1\n    b = 2\n    c = 3\n    d = 4\n    return b\n\ndef third():\n    return 3\n\ndef second():\n    return 2\n";
    let expected = "\
diff --git a/my file.py b/my file.py
index ffdfc7e..87f727f 100644
--- a/my file.py\t
+++ b/my file.py\t
@@ -1,11 +1,15 @@
 import os
+import sys
 
 def first():
     a = 1
     b = 2
     c = 3
     d = 4
-    return a
+    return b
+
+def third():
+    return 3
 
 def second():
-    return 2
\\ No newline at end of file
+    return 2
";
    let path = "my file.py";
    check(
        &files(&[(path, before)]),
        &files(&[(path, after)]),
        &["modify my file.py +6 -2"],
        expected,
    );
}

#[test]
fn files_come_and_go_in_the_order_of_their_paths() {
    let expected = "\
diff --git a/b/gone b/b/gone
deleted file mode 100644
index 5626abf..0000000
--- a/b/gone
+++ /dev/null
@@ -1 +0,0 @@
-one
diff --git a/empty b/empty
new file mode 100644
index 0000000..e69de29
diff --git a/new b/new
new file mode 100644
index 0000000..1946f04
--- /dev/null
+++ b/new
@@ -0,0 +1,2 @@
+two
+three
";
    check(
        &files(&[("b/gone", "one\n"), ("stays", "x\n")]),
        &files(&[("empty", ""), ("new", "two\nthree\n"), ("stays", "x\n")]),
        &["delete b/gone +0 -1", "add empty +0 -0", "add new +2 -0"],
        expected,
    );
}

#[test]
fn a_rename_is_found() {
    let text = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n";
    let expected = "\
diff --git a/old name b/dir/new
similarity index 100%
rename from old name
rename to dir/new
";
    check(
        &files(&[("old name", text)]),
        &files(&[("dir/new", text)]),
        &["rename dir/new +0 -0"],
        expected,
    );
}

#[test]
fn a_rename_with_changes_is_found_from_half_on() {
    let numbers =
        |range: std::ops::Range<u32>| range.map(|n| format!("line {n}\n")).collect::<String>();
    let before = files(&[("old", &numbers(10..20))]);
    let (log, commit) = change(&before, &files(&[("new", &numbers(10..18))]));
    assert_eq!(log.touched(commit), ["rename new +0 -2"]);
    let text = String::from_utf8(log.diff(commit).unwrap()).unwrap();
    assert!(
        text.starts_with("diff --git a/old b/new\nsimilarity index 80%\nrename from old\n"),
        "{text}"
    );
    assert!(
        text.contains("\n--- a/old\n+++ b/new\n@@ -6,5 +6,3 @@ line 14\n"),
        "{text}"
    );
    let (log, commit) = change(&before, &files(&[("new", &numbers(16..26))]));
    assert_eq!(log.touched(commit), ["add new +10 -0", "delete old +0 -10"]);
}

#[test]
fn binary_files_are_whole_and_have_no_lines() {
    // git compresses faster and less: its data begins with JcmZQz.
    let expected = "\
diff --git a/x b/x
index bdc955b7b2e610ad5a72302b139a2e6cb325519a..8835708590a9afa236e1bbad18df9d23de82ccd3 100644
GIT binary patch
literal 2
Jc${Nk0ssI600RI3

literal 2
Jc${Nk1ONa700IC2

";
    let (log, commit) = change(
        &one(b"x", EntryKind::Blob, b"\0\x01"),
        &one(b"x", EntryKind::Blob, b"\0\x02"),
    );
    assert_eq!(log.touched(commit), ["modify x +0 -0"]);
    let text = String::from_utf8(log.diff(commit).unwrap()).unwrap();
    assert_eq!(text, expected);
    // The first commit has one, too.
    assert_eq!(log.kept("content of binary files"), 2);
    assert!(log.report.notes.is_empty(), "{:?}", log.report.notes);
}

#[test]
fn modes_are_part_of_the_diff() {
    check(
        &one(b"x", EntryKind::Blob, b"1\n"),
        &one(b"x", EntryKind::BlobExecutable, b"1\n"),
        &["modify x +0 -0"],
        "diff --git a/x b/x\nold mode 100644\nnew mode 100755\n",
    );
    let expected = "\
diff --git a/x b/x
old mode 100755
new mode 100644
index d00491f..0cfbf08
--- a/x
+++ b/x
@@ -1 +1 @@
-1
+2
";
    check(
        &one(b"x", EntryKind::BlobExecutable, b"1\n"),
        &one(b"x", EntryKind::Blob, b"2\n"),
        &["modify x +1 -1"],
        expected,
    );
}

#[test]
fn a_file_that_becomes_a_link_is_deleted_and_added() {
    let expected = "\
diff --git a/x b/x
deleted file mode 100644
index d00491f..0000000
--- a/x
+++ /dev/null
@@ -1 +0,0 @@
-1
diff --git a/x b/x
new file mode 120000
index 0000000..c78ee1a
--- /dev/null
+++ b/x
@@ -0,0 +1 @@
+there
\\ No newline at end of file
";
    check(
        &one(b"x", EntryKind::Blob, b"1\n"),
        &one(b"x", EntryKind::Link, b"there"),
        &["modify x +1 -1"],
        expected,
    );
}

#[test]
fn a_file_can_become_a_folder() {
    let (log, commit) = change(&files(&[("x", "1\n")]), &files(&[("x/y", "2\n3\n")]));
    assert_eq!(log.touched(commit), ["delete x +0 -1", "add x/y +2 -0"]);
}

#[test]
fn a_submodule_is_listed_without_lines() {
    let (a, b) = ("1".repeat(40), "2".repeat(40));
    let (log, commit) = change(
        &one(b"sub", EntryKind::Commit, a.as_bytes()),
        &one(b"sub", EntryKind::Commit, b.as_bytes()),
    );
    assert_eq!(log.touched(commit), ["modify sub +0 -0"]);
    assert!(log.has_note("submodule"));
    let expected = format!(
        "diff --git a/sub b/sub\nindex 1111111..2222222 160000\n--- a/sub\n+++ b/sub\n@@ -1 +1 @@\n-Subproject commit {a}\n+Subproject commit {b}\n"
    );
    assert_eq!(
        String::from_utf8(log.diff(commit).unwrap()).unwrap(),
        expected
    );
}

#[test]
fn paths_that_are_not_utf_8_stay_whole_in_the_diff() {
    let (log, commit) = change(&Files::new(), &one(b"caf\xe9", EntryKind::Blob, b"1\n"));
    assert_eq!(log.touched(commit), ["add caf\u{fffd} +1 -0"]);
    let text = String::from_utf8(log.diff(commit).unwrap()).unwrap();
    assert!(
        text.starts_with("diff --git \"a/caf\\351\" \"b/caf\\351\"\n"),
        "{text}"
    );
    assert!(log.has_note("path that is not UTF-8"));
    assert_eq!(log.lost("path's bytes"), 1);
}

#[test]
fn a_path_of_spaces_is_taken() {
    let (log, commit) = change(&Files::new(), &one(b" ", EntryKind::Blob, b"1\n"));
    assert_eq!(log.touched(commit), ["add \" \" +1 -0"]);
    assert!(log.has_note("white space"));
}

#[test]
fn content_that_is_not_utf_8_comes_back_byte_for_byte() {
    let (log, commit) = change(&Files::new(), &one(b"x", EntryKind::Blob, b"caf\xe9\n"));
    assert!(log.diff(commit).unwrap().ends_with(b"+caf\xe9\n"));
}

#[test]
fn beyond_2000_files_the_list_is_cut_and_the_diff_is_not() {
    let many: Files = (0..2_003)
        .map(|n| {
            (
                format!("f{n:04}").into_bytes(),
                File(EntryKind::Blob, format!("{n}\n").into_bytes()),
            )
        })
        .collect();
    let (log, commit) = change(&Files::new(), &many);
    assert_eq!(log.touched(commit).len(), 2_000);
    assert!(log.has_note("more than 2,000 files"));
    assert_eq!(log.lost("files of the list, beyond 2,000"), 3);
    let text = String::from_utf8(log.diff(commit).unwrap()).unwrap();
    assert_eq!(text.matches("diff --git ").count(), 2_003);
}

#[test]
fn a_diff_over_the_limit_is_left_out() {
    let line = "x".repeat(1023) + "\n";
    let large = line.repeat(64 * 1024 + 1);
    let (log, commit) = change(
        &Files::new(),
        &files(&[("large", &large), ("small", "1\n")]),
    );
    assert_eq!(log.diff(commit), None);
    assert_eq!(
        log.touched(commit),
        ["add large +65537 -0", "add small +1 -0"]
    );
    assert!(log.has_note("too large"));
    assert_eq!(log.lost("diff"), 1);
}

#[test]
fn an_empty_commit_has_an_empty_diff() {
    let same = files(&[("a", "1\n")]);
    let (log, commit) = change(&same, &same);
    assert_eq!(log.touched(commit), Vec::<String>::new());
    assert_eq!(log.diff(commit).as_deref(), Some(b"".as_slice()));
    assert!(log.report.notes.is_empty(), "{:?}", log.report.notes);
}
