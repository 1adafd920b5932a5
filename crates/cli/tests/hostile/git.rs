//! Repositories that were made to do something: nothing of their configuration is run, and
//! objects that were made to be large are read within bounds.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::field::{Field, pipe, sparse};

/// Runs git in the stranger's folder.
pub fn git(field: &Field, args: &[&str]) -> String {
    git_in(&field.path("hostile"), args, b"")
}

/// Runs git in a folder, with something on its standard input.
pub fn git_in(folder: &Path, args: &[&str], input: &[u8]) -> String {
    let mut child = Command::new("git")
        .args([
            "-c",
            "user.name=Ada",
            "-c",
            "user.email=ada@example.org",
            "-c",
            "init.defaultBranch=main",
        ])
        .args(["-c", "commit.gpgsign=false", "-c", "core.compression=1"])
        .args(["-c", "protocol.file.allow=always", "-c", "gc.auto=0"])
        .args(args)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("these tests need the git program");
    child.stdin.take().unwrap().write_all(input).unwrap();
    let done = child.wait_with_output().unwrap();
    assert!(done.status.success(), "{args:?}: {done:?}");
    String::from_utf8_lossy(&done.stdout).trim().to_owned()
}

/// Makes a repository with a commit, whose message and file are `text`.
pub fn repository_in(folder: &Path, text: &str) {
    fs::create_dir_all(folder).unwrap();
    git_in(folder, &["init", "--quiet"], b"");
    fs::write(folder.join("a.txt"), format!("{text}\n")).unwrap();
    git_in(folder, &["add", "."], b"");
    git_in(folder, &["commit", "--quiet", "-m", text], b"");
}

/// A field whose stranger's folder is a repository with a commit.
pub fn repository() -> Field {
    let field = Field::new();
    repository_in(&field.path("hostile"), "Add a");
    field
}

pub const IMPORT: &[&str] = &["import", "git", "hostile"];

#[test]
fn nothing_that_a_repository_is_configured_with_is_run() {
    let field = repository();
    let ran = field.path("ran");
    let script = field.hostile(
        "run.sh",
        format!("#!/bin/sh\ntouch {}\ncat\n", ran.display()),
    );
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let script = script.to_str().unwrap();
    for key in [
        "core.fsmonitor",
        "core.sshCommand",
        "core.editor",
        "core.pager",
        "core.askPass",
        "core.gitProxy",
        "diff.external",
        "diff.evil.textconv",
        "diff.evil.command",
        "filter.evil.clean",
        "filter.evil.smudge",
        "filter.evil.process",
        "credential.helper",
        "gpg.program",
        "uploadpack.packObjectsHook",
        "merge.evil.driver",
        "alias.log",
        "core.alternateRefsCommand",
    ] {
        git(&field, &["config", key, script]);
    }
    git(
        &field,
        &[
            "config",
            "core.hooksPath",
            field.path("hostile").to_str().unwrap(),
        ],
    );
    field.hostile(".gitattributes", "* diff=evil filter=evil merge=evil\n");
    for hook in [
        "post-checkout",
        "reference-transaction",
        "pre-commit",
        "fsmonitor-watchman",
    ] {
        fs::copy(script, field.path("hostile/.git/hooks").join(hook)).unwrap();
    }
    let ended = field.survives("commands in the configuration", IMPORT);
    assert!(ended.is_good, "{}", ended.said);
    assert!(!ran.exists());
}

#[test]
fn parts_of_a_repository_that_are_not_files_are_not_waited_for() {
    for part in [
        "HEAD",
        "config",
        "packed-refs",
        "refs/heads/main",
        "index",
        "shallow",
        "objects/info/alternates",
        "info/grafts",
    ] {
        let field = repository();
        let path = field.path("hostile/.git").join(part);
        let _ = fs::remove_file(&path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        pipe(&path);
        field.survives(part, IMPORT);
        fs::remove_file(&path).unwrap();
        symlink("/dev/zero", &path).unwrap();
        field.survives(part, IMPORT);
        fs::remove_file(&path).unwrap();
        sparse(&path, 1 << 30);
        field.survives(part, IMPORT);
        fs::remove_file(&path).unwrap();
        symlink(field.path("outside/object.json"), &path).unwrap();
        field.survives(part, IMPORT);
    }
}

/// A megabyte that is a gigabyte.
#[test]
fn an_object_that_is_large_once_it_is_unpacked_is_read_within_bounds() {
    let field = repository();
    sparse(&field.path("hostile/large"), 1 << 30);
    git(&field, &["add", "large"]);
    git(&field, &["commit", "--quiet", "-m", "Add a large file"]);
    fs::remove_file(field.path("hostile/large")).unwrap();
    field.hostile("b.txt", "b\n");
    git(&field, &["add", "-A"]);
    git(&field, &["commit", "--quiet", "-m", "Take it out"]);
    let ended = field.survives("a blob of 1 GiB", IMPORT);
    assert!(ended.is_good, "{}", ended.said);
}

#[test]
fn a_message_that_drives_a_terminal_is_shown_as_escapes() {
    let field = repository();
    let message = "\u{1b}]0;x\u{7}Add\u{9b}2J \u{202e}b\n\n\u{1b}[2J";
    git(
        &field,
        &[
            "commit",
            "--quiet",
            "--allow-empty",
            "--cleanup=verbatim",
            "-m",
            message,
        ],
    );
    assert!(field.survives("a message", IMPORT).is_good);
    for view in [
        &["log"][..],
        &["list", "intent"],
        &["list", "task"],
        &["log", "--json"],
    ] {
        field.survives("a message", view);
    }
}
