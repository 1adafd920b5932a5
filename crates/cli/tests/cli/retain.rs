//! Blobs that the log names stay in a git repository, through every gc of git's own, and go once they
//! are let go.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Place, agent, human, uuid};

/// A log with two snapshots, and a repository that has the content of some items.
struct Kept {
    place: Place,
    /// In the repository alone, of the first snapshot.
    file: String,
    /// In the log alone, of the first snapshot.
    note: String,
    /// In the repository alone, of the second snapshot.
    page: String,
    /// In both snapshots.
    both: String,
}

const FIRST: u64 = 1;
const SECOND: u64 = 2;

fn git(repo: &Path, args: &[&str]) -> String {
    git_with(repo, args, "")
}

fn git_with(repo: &Path, args: &[&str], input: &str) -> String {
    use std::io::Write;
    let mut child = Command::new("git")
        .arg("-C")
        .arg(repo)
        .args(args)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    let out = child.wait_with_output().unwrap();
    assert!(out.status.success(), "git {args:?}: {out:?}");
    String::from_utf8(out.stdout).unwrap().trim().to_owned()
}

fn has(repo: &Path, blob: &str) -> bool {
    let mut command = Command::new("git");
    command.arg("-C").arg(repo).args(["cat-file", "-e", blob]);
    command.output().unwrap().status.success()
}

/// A repository with a commit.
fn repository(path: &Path, format: &str) {
    fs::create_dir(path).unwrap();
    git(
        path,
        &[
            "init",
            "-q",
            "-b",
            "main",
            &format!("--object-format={format}"),
        ],
    );
    git(path, &["config", "user.name", "Ada"]);
    git(path, &["config", "user.email", "ada@example.org"]);
    fs::write(path.join("a.txt"), "a\n").unwrap();
    git(path, &["add", "."]);
    git(path, &["commit", "-q", "-m", "first"]);
}

impl Kept {
    fn new() -> Kept {
        let place = Place::with_log();
        let repo = place.path("repo");
        repository(&repo, "sha1");
        let write = |text: &str| git_with(&repo, &["hash-object", "-w", "--stdin"], text);
        let (file, page, both) = (write("file\n"), write("page\n"), write("both\n"));
        let item = |kind: &str, path: &str, blob: &str| json!({ "kind": kind, "path": path, "blob": blob });
        place.accept(&[
            agent(
                "open_snapshot",
                json!({ "id": uuid(FIRST), "selection_strategy": "explicit", "items": [
                item("file", "src/main.rs", &file),
                { "kind": "snippet", "path": "../design notes", "content": "note\n" },
                item("command", "cargo test", &both),
            ] }),
            ),
            agent(
                "open_snapshot",
                json!({ "id": uuid(SECOND), "selection_strategy": "explicit", "items": [
                item("url", "https://docs.rs/a", &page),
                item("command", "cargo test", &both),
            ] }),
            ),
        ]);
        let note = git_with(&repo, &["hash-object", "--stdin"], "note\n");
        Kept {
            place,
            file,
            note,
            page,
            both,
        }
    }

    fn repo(&self) -> PathBuf {
        self.place.path("repo")
    }

    fn retain(&self, args: &[&str]) -> Value {
        let all = [&["retain", "--repo", "repo", "--json"], args].concat();
        self.place.run(&all).ok().json()
    }

    /// The id of the log, which is the name of its namespace.
    fn log_id(&self) -> String {
        let stats = self.place.run(&["stats", "--json"]).ok().json();
        stats["log_id"].as_str().unwrap().to_owned()
    }

    /// Runs the command for another log, which names the same blobs.
    fn retain_other(&self, args: &[&str]) -> Value {
        if !self.place.path("other").exists() {
            self.place.run(&["--log", "other", "init"]).ok();
            let item = |kind: &str, path: &str, blob: &str| json!({ "kind": kind, "path": path, "blob": blob });
            let open = json!({ "command": "open_snapshot", "actor": { "kind": "agent", "id": "b" },
                "selection_strategy": "explicit", "items": [
                    item("file", "src/main.rs", &self.file),
                    { "kind": "snippet", "path": "notes", "content": "note\n" },
                    item("url", "https://docs.rs/a", &self.page),
                    item("command", "cargo test", &self.both),
                ] });
            let args = ["--log", "other", "apply"];
            self.place.run_with(&args, open.to_string()).ok();
        }
        let all = [
            &["--log", "other", "retain", "--repo", "repo", "--json"],
            args,
        ]
        .concat();
        self.place.run(&all).ok().json()
    }

    fn all(&self) -> [&str; 4] {
        [&self.file, &self.note, &self.page, &self.both]
    }

    /// Which of the four are there.
    fn there(&self) -> [bool; 4] {
        self.all().map(|blob| has(&self.repo(), blob))
    }

    fn gc(&self) {
        git(&self.repo(), &["repack", "-adkq"]);
        git(&self.repo(), &["gc", "-q", "--prune=now"]);
    }

    fn fsck(&self) {
        let said = git(&self.repo(), &["fsck", "--full", "--strict"]);
        // What was let go, or was in an older commit of the uploads.
        let good = |line: &str| line.starts_with("dangling ");
        assert!(said.lines().all(good), "{said}");
    }

    /// Refs, and every file of the repository's own folder with its content.
    fn state(&self) -> (String, BTreeMap<PathBuf, Vec<u8>>) {
        fn walk(folder: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    walk(&path, files);
                } else {
                    files.insert(path.clone(), fs::read(&path).unwrap());
                }
            }
        }
        let mut files = BTreeMap::new();
        walk(&self.repo().join(".git"), &mut files);
        (git(&self.repo(), &["for-each-ref"]), files)
    }
}

/// Each of the strategies that hold: what survives, what changes nothing, what goes.
fn check_strategy(how: &str) {
    let kept = Kept::new();
    let report = kept.retain(&["--as", how]);
    let counts = |report: &Value| {
        let number = |name: &str| report[name].as_u64().unwrap();
        (
            number("named"),
            number("changed"),
            number("unchanged"),
            number("written"),
        )
    };
    assert_eq!(counts(&report), (4, 4, 0, 1), "{report}");
    kept.fsck();
    for _ in 0..2 {
        kept.gc();
        assert_eq!(kept.there(), [true; 4], "{how}");
    }
    assert_eq!(git(&kept.repo(), &["cat-file", "blob", &kept.note]), "note");
    kept.fsck();

    let before = kept.state();
    let again = kept.retain(&["--as", how]);
    assert_eq!(counts(&again), (4, 0, 4, 0), "{again}");
    assert!(
        kept.state() == before,
        "{how}: a second run changed something"
    );

    // What the other snapshot names stays.
    let released = kept.retain(&["--as", how, "--release", &uuid(FIRST)]);
    assert_eq!(
        (&released["changed"], &released["shared"]),
        (&json!(2), &json!([kept.both]))
    );
    kept.gc();
    assert_eq!(kept.there(), [false, false, true, true], "{how}");
    kept.fsck();

    let released = kept.retain(&["--as", how, "--release"]);
    assert_eq!(released["changed"], 2, "{released}");
    kept.gc();
    assert_eq!(kept.there(), [false; 4], "{how}");
    kept.fsck();
    let refs = git(&kept.repo(), &["for-each-ref", "refs/ai"]);
    assert_eq!(refs, "");
    let again = kept.retain(&["--as", how, "--release"]);
    assert_eq!(again["changed"], 0, "{again}");
}

#[test]
fn without_retention_git_removes_them() {
    let kept = Kept::new();
    kept.gc();
    assert_eq!(kept.there(), [false; 4]);
}

#[test]
fn blobs_kept_by_refs_survive_a_gc_until_they_are_let_go() {
    check_strategy("refs");
}

#[test]
fn blobs_kept_by_an_orphan_commit_survive_a_gc_until_they_are_let_go() {
    check_strategy("orphan");
}

#[test]
fn blobs_kept_by_a_pack_survive_a_gc_until_they_are_let_go() {
    check_strategy("keep-pack");
}

#[test]
fn refs_stand_under_the_ids_of_their_blobs() {
    let kept = Kept::new();
    kept.retain(&["--as", "refs", &uuid(SECOND)]);
    let listed = git(
        &kept.repo(),
        &[
            "for-each-ref",
            "--format=%(objectname) %(objecttype) %(refname)",
        ],
    );
    let log = kept.log_id();
    let name = |id| format!("{id} blob refs/ai/blobs/{log}/{id}");
    let mut expected = [&kept.both, &kept.page].map(name);
    expected.sort();
    let found: Vec<&str> = listed
        .lines()
        .filter(|line| line.contains("refs/ai/"))
        .collect();
    let mut found: Vec<String> = found.into_iter().map(str::to_owned).collect();
    found.sort();
    assert_eq!(found, expected);
}

#[test]
fn an_orphan_commits_tree_is_easy_to_read_and_grows() {
    let kept = Kept::new();
    let tree = || {
        git(
            &kept.repo(),
            &["ls-tree", "-r", "--name-only", "refs/ai/uploads"],
        )
    };
    kept.retain(&["--as", "orphan", &uuid(FIRST)]);
    let first = format!("{}/snapshots/{}", kept.log_id(), uuid(FIRST));
    let expected = [
        format!("{first}/0000-src_main.rs"),
        format!("{first}/0001-design_notes"),
        format!("{first}/0002-cargo_test"),
    ];
    assert_eq!(tree().lines().collect::<Vec<_>>(), expected);
    let report = kept.retain(&["--as", "orphan"]);
    let commit = git(&kept.repo(), &["rev-parse", "refs/ai/uploads"]);
    assert_eq!(report["holder"], commit);
    assert_eq!(tree().lines().count(), 5, "{}", tree());
    let parents = git(&kept.repo(), &["log", "--format=%P", "refs/ai/uploads"]);
    assert_eq!(parents, "");
}

#[test]
fn a_kept_pack_has_these_blobs_alone_and_says_why() {
    let kept = Kept::new();
    let report = kept.retain(&["--as", "keep-pack"]);
    let name = report["holder"].as_str().unwrap();
    let folder = kept.repo().join(".git/objects/pack");
    let keep = fs::read_to_string(folder.join(format!("{name}.keep"))).unwrap();
    assert!(keep.contains("blobs that a log names"), "{keep}");
    let index = folder.join(format!("{name}.idx"));
    let listed = git(
        &kept.repo(),
        &["verify-pack", "-v", index.to_str().unwrap()],
    );
    let mut found: Vec<&str> = listed
        .lines()
        .filter_map(|line| line.split_once(" blob "))
        .map(|(id, _)| id)
        .collect();
    let mut all = kept.all();
    all.sort_unstable();
    found.sort_unstable();
    assert_eq!(found, all);
    let left = fs::read_dir(kept.repo().join(".git")).unwrap();
    let left = left.filter(|entry| {
        entry
            .as_ref()
            .unwrap()
            .file_name()
            .to_string_lossy()
            .contains("annals")
    });
    assert_eq!(left.count(), 0);
}

/// `gc.recentObjectsHook`, which git has from 2.41 on.
fn hook(kept: &Kept, ids: &[&str]) {
    let program = env!("CARGO_BIN_EXE_annals");
    let (log, repo) = (kept.place.log_dir(), kept.repo());
    let hook = format!(
        "{program} --log {} retain --repo {} --as custom-gc {}",
        log.display(),
        repo.display(),
        ids.join(" ")
    );
    git(&repo, &["config", "gc.recentObjectsHook", &hook]);
}

fn git_has_the_hook() -> bool {
    let version = Command::new("git").arg("version").output().unwrap();
    let version = String::from_utf8(version.stdout).unwrap();
    let mut numbers = version
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|n| n.parse().ok());
    let version: (u32, u32) = (numbers.next().unwrap(), numbers.next().unwrap());
    if version < (2, 41) {
        let said = "NOT RUN: git has no gc.recentObjectsHook before 2.41\n";
        assert!(std::env::var_os("CI").is_none(), "{said}");
        // Past the capture of the tests' output: what was not run is to be seen.
        let _ = std::io::Write::write_all(&mut std::io::stderr(), said.as_bytes());
    }
    version >= (2, 41)
}

#[test]
fn a_custom_gc_is_told_what_to_keep_and_drops_what_it_is_not() {
    if !git_has_the_hook() {
        return;
    }
    let kept = Kept::new();
    let printed = kept
        .place
        .run(&["retain", "--repo", "repo", "--as", "custom-gc"])
        .ok();
    let mut all = kept.all().map(str::to_owned);
    all.sort();
    assert_eq!(printed.stdout.lines().collect::<Vec<_>>(), all);
    let before = kept.state();
    assert_eq!(kept.retain(&["--as", "custom-gc"])["ids"], json!(all));
    assert!(
        kept.state() == before,
        "a second mark pass changed something"
    );
    hook(&kept, &[]);
    // Of what is packed, git asks for nothing.
    let gc = || git(&kept.repo(), &["gc", "-q", "--prune=now"]);
    kept.retain(&["--as", "custom-gc", "--protect"]);
    for _ in 0..2 {
        gc();
        assert_eq!(kept.there(), [true; 4]);
    }
    kept.fsck();
    // What is not listed any more goes.
    hook(&kept, &[&uuid(SECOND)]);
    gc();
    assert_eq!(kept.there(), [false, false, true, true]);
    git(&kept.repo(), &["config", "--unset", "gc.recentObjectsHook"]);
    kept.gc();
    assert_eq!(kept.there(), [false; 4]);
    kept.place
        .run(&["retain", "--repo", "repo", "--as", "custom-gc", "--release"])
        .fails(1, &["custom-gc holds nothing"]);
}

#[test]
fn what_is_packed_is_protected_from_a_gc_that_does_not_ask() {
    if !git_has_the_hook() {
        return;
    }
    let kept = Kept::new();
    let repo = kept.repo();
    let ids = kept.retain(&["--as", "custom-gc"])["ids"].clone();
    let ids: Vec<&str> = ids
        .as_array()
        .unwrap()
        .iter()
        .map(|id| id.as_str().unwrap())
        .collect();
    git_with(
        &repo,
        &["pack-objects", "-q", ".git/objects/pack/pack"],
        &(ids.join("\n") + "\n"),
    );
    git(&repo, &["prune-packed", "-q"]);
    let report = kept.retain(&["--as", "custom-gc", "--protect"]);
    assert_eq!(report["changed"], 4, "{report}");
    hook(&kept, &[]);
    git(&repo, &["gc", "-q", "--prune=now"]);
    assert_eq!(kept.there(), [true; 4]);
    kept.fsck();
    kept.place
        .run(&["retain", "--repo", "repo", "--as", "refs", "--protect"])
        .fails(2, &["--protect"]);
}

#[test]
fn a_blob_that_is_nowhere_is_named_and_the_others_are_kept() {
    let kept = Kept::new();
    git(&kept.repo(), &["gc", "-q", "--prune=now"]);
    let tree = git(&kept.repo(), &["rev-parse", "HEAD^{tree}"]);
    let add = json!({ "snapshot": uuid(SECOND), "item": { "kind": "file", "path": "a tree", "blob": tree } });
    kept.place.accept(&[agent("add_item", add)]);
    for how in ["refs", "orphan", "keep-pack", "custom-gc"] {
        let args = ["retain", "--repo", "repo", "--as", how];
        let ran = kept.place.run(&args).fails(
            1,
            &[
                &kept.file,
                &kept.page,
                &kept.both,
                "neither the repository nor the log has it",
                "it is a tree",
                "4 blobs",
            ],
        );
        assert!(!ran.stderr.contains(&kept.note), "{}", ran.stderr);
        let allowed = [&args[..], &["--allow-missing", "--json"]].concat();
        let report = kept.place.run(&allowed).json();
        assert_eq!(report["missing"].as_array().unwrap().len(), 4, "{report}");
        assert_eq!(report["missing"][0]["named_by"]["kind"], "context_snapshot");
    }
    kept.gc();
    assert_eq!(kept.there(), [false, true, false, false]);
}

#[test]
fn objects_that_are_named_mean_what_belongs_to_them() {
    let kept = Kept::new();
    let repo = kept.repo();
    let diff = git_with(&repo, &["hash-object", "-w", "--stdin"], "diff\n");
    let [intent, task, run] = [11, 12, 13].map(uuid);
    kept.place.accept(&[
        human("create_intent", json!({ "id": intent, "prompt": "p" })),
        agent(
            "create_task",
            json!({ "id": task, "title": "t", "intent": intent }),
        ),
        agent(
            "create_run",
            json!({ "id": run, "task": task, "snapshot": uuid(FIRST) }),
        ),
        agent("start_patching", json!({ "run": run })),
        agent(
            "propose_patch_set",
            json!({
                "run": run, "format": "git_diff", "artifact": { "store": "git", "key": diff },
            }),
        ),
    ]);
    for id in [intent, task, run] {
        let report = kept.retain(&["--as", "custom-gc", &id]);
        let mut ids = vec![
            json!(kept.file),
            json!(kept.note),
            json!(kept.both),
            json!(diff),
        ];
        ids.sort_by_key(ToString::to_string);
        assert_eq!(report["ids"], json!(ids));
    }
    assert_eq!(kept.retain(&["--as", "custom-gc"])["named"], 5);
}

#[test]
fn a_repository_with_the_other_hash_gets_the_content_under_its_own_id() {
    let kept = Kept::new();
    let other = kept.place.path("other");
    repository(&other, "sha256");
    let args = ["retain", "--repo", "other", "--as", "refs", "--json"];
    let ran = kept.place.run(&args);
    assert_eq!(ran.status, 1);
    let report = ran.json();
    assert_eq!(
        (&report["changed"], &report["other_hash"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(report["missing"].as_array().unwrap().len(), 3);
    git(&other, &["gc", "-q", "--prune=now"]);
    let id = git_with(&other, &["hash-object", "--stdin"], "note\n");
    let name = format!("refs/ai/blobs/{}/{id}", kept.log_id());
    assert_eq!(git(&other, &["cat-file", "blob", &name]), "note");
    git(&other, &["fsck", "--full", "--strict"]);
}

#[test]
fn locks_of_other_processes_are_waited_for_and_never_broken() {
    let kept = Kept::new();
    let own = kept.repo().join(".git");
    let before = git(&kept.repo(), &["for-each-ref"]);
    for (how, lock) in [
        ("refs", "packed-refs.lock"),
        ("orphan", "refs/ai/uploads.lock"),
    ] {
        let lock = own.join(lock);
        fs::create_dir_all(lock.parent().unwrap()).unwrap();
        fs::write(&lock, "").unwrap();
        let args = ["retain", "--repo", "repo", "--as", how];
        kept.place.run(&args).fails(
            1,
            &[
                "another process works on the repository",
                "Try again",
                lock.file_name()
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .trim_end_matches(".lock"),
            ],
        );
        assert!(lock.exists());
        assert_eq!(git(&kept.repo(), &["for-each-ref"]), before, "{how}");
        fs::remove_file(&lock).unwrap();
        kept.retain(&["--as", how]);
        kept.retain(&["--as", how, "--release"]);
    }
}

#[test]
fn a_commit_of_another_process_is_not_harmed() {
    let kept = Kept::new();
    let repo = kept.repo();
    let other = std::thread::spawn(move || {
        for n in 0..20 {
            fs::write(repo.join("a.txt"), format!("{n}\n")).unwrap();
            git(&repo, &["commit", "-q", "-a", "-m", &n.to_string()]);
            git(&repo, &["tag", &format!("t{n}")]);
            git(&repo, &["pack-refs", "--all"]);
        }
    });
    let mut rounds = 0;
    while !other.is_finished() || rounds == 0 {
        for how in ["refs", "orphan", "keep-pack"] {
            for release in [&[][..], &["--release"]] {
                let args = [&["retain", "--repo", "repo", "--as", how], release].concat();
                let ran = kept.place.run(&args);
                assert!(
                    ran.status == 0 || ran.stderr.contains("Try again"),
                    "{ran:?}"
                );
            }
        }
        rounds += 1;
    }
    other.join().unwrap();
    kept.fsck();
    assert_eq!(git(&kept.repo(), &["rev-list", "--count", "HEAD"]), "21");
    assert_eq!(git(&kept.repo(), &["tag"]).lines().count(), 20);
}

/// A release that only takes refs away must not put an old list of refs in the place of a new one.
#[test]
fn refs_that_are_packed_while_ours_go_stay() {
    let kept = Kept::new();
    let repo = kept.repo();
    let other = std::thread::spawn(move || {
        for n in 0..40 {
            git(&repo, &["branch", &format!("b{n}")]);
            git(&repo, &["pack-refs", "--all"]);
        }
    });
    while !other.is_finished() {
        for release in [&[][..], &["--release"]] {
            let args = [&["retain", "--repo", "repo", "--as", "refs"], release].concat();
            let ran = kept.place.run(&args);
            let is_told = ran.stderr.contains("Try again");
            assert!(ran.status == 0 || is_told, "{ran:?}");
        }
    }
    other.join().unwrap();
    let branches = git(&kept.repo(), &["for-each-ref", "refs/heads/"]);
    assert_eq!(branches.lines().count(), 41, "{branches}");
    kept.fsck();
}

#[test]
fn what_a_killed_process_left_is_removed_and_two_do_not_work_at_once() {
    let kept = Kept::new();
    let left = kept.repo().join(".git/annals-retain-0.tmp");
    fs::create_dir(&left).unwrap();
    fs::write(left.join("stream"), "a person's words").unwrap();
    let own = fs::File::open(kept.repo().join(".git")).unwrap();
    own.lock().unwrap();
    let args = ["retain", "--repo", "repo", "--as", "keep-pack"];
    let says = ["another `annals log retain`", "Try again"];
    kept.place.run(&args).fails(1, &says);
    drop(own);
    kept.retain(&["--as", "keep-pack"]);
    assert!(!left.exists());
}

/// Content that was removed from the log is not kept once more. It is released before: its id is removed
/// with it, as texts could be tried against the id.
#[test]
fn what_was_redacted_is_not_kept_again() {
    let kept = Kept::new();
    kept.retain(&["--as", "refs"]);
    let report = kept.retain(&["--as", "refs", "--release"]);
    assert_eq!(report["changed"], 4, "{report}");
    let redact = ["redact", "--pattern", "note", "--reason", "leaked"];
    kept.place.run(&redact).ok();
    let report = kept.retain(&["--as", "refs"]);
    assert_eq!(report["named"], 3, "{report}");
    let shown = kept.place.run(&["log", "--json"]).ok();
    assert!(!shown.stdout.contains(&kept.note), "{shown:?}");
    kept.gc();
    assert_eq!(kept.there(), [true, false, true, true]);
}

#[test]
fn nothing_is_written_through_links_nor_elsewhere() {
    let links: [(&str, &str); 5] = [
        ("objects", "folder"),
        ("refs", "folder"),
        ("refs/ai", "folder"),
        ("objects/pack", "folder"),
        ("packed-refs", "file"),
    ];
    for (name, kind) in links {
        let kept = Kept::new();
        let (inside, outside) = (
            kept.repo().join(".git").join(name),
            kept.place.path("outside"),
        );
        match kind {
            "folder" if inside.exists() => fs::rename(&inside, &outside).unwrap(),
            "folder" => fs::create_dir(&outside).unwrap(),
            _ => fs::write(&outside, "").unwrap(),
        }
        symlink(&outside, &inside).unwrap();
        for how in ["refs", "orphan", "keep-pack", "custom-gc"] {
            let args = ["retain", "--repo", "repo", "--as", how];
            kept.place.run(&args).fails(1, &["link", name]);
        }
    }
    let kept = Kept::new();
    git(&kept.repo(), &["worktree", "add", "-q", "../tree"]);
    let args = ["retain", "--repo", "tree", "--as", "refs"];
    kept.place
        .run(&args)
        .fails(1, &["leads to the repository at", "name that one"]);
    symlink(kept.repo().join(".git"), kept.place.path("linked-git")).unwrap();
    fs::create_dir(kept.place.path("fake")).unwrap();
    symlink(kept.repo().join(".git"), kept.place.path("fake/.git")).unwrap();
    let args = ["retain", "--repo", "fake", "--as", "refs"];
    kept.place
        .run(&args)
        .fails(1, &["leads to the repository at"]);
    fs::create_dir(kept.place.path("empty")).unwrap();
    let args = ["retain", "--repo", "empty", "--as", "refs"];
    kept.place.run(&args).fails(1, &["is not a git repository"]);
    // A folder within a repository is not one.
    fs::create_dir(kept.repo().join("src")).unwrap();
    let args = ["retain", "--repo", "repo/src", "--as", "refs"];
    kept.place.run(&args).fails(1, &["is not a git repository"]);
    assert_eq!(git(&kept.repo(), &["for-each-ref", "refs/ai"]), "");
}

#[test]
fn what_others_made_of_the_same_name_is_left_alone() {
    let kept = Kept::new();
    let repo = kept.repo();
    git(&repo, &["update-ref", "refs/ai/uploads", "HEAD"]);
    git(&repo, &["update-ref", "refs/ai/blobs/mine", &kept.file]);
    let args = ["retain", "--repo", "repo", "--as", "orphan"];
    kept.place.run(&args).fails(
        1,
        &["refs/ai/uploads", "was not written by annals", "a.txt"],
    );
    kept.retain(&["--as", "refs"]);
    kept.retain(&["--as", "refs", "--release"]);
    let left = git(&repo, &["for-each-ref", "--format=%(refname)", "refs/ai"]);
    assert_eq!(left, "refs/ai/blobs/mine\nrefs/ai/uploads");
}

#[test]
fn what_another_log_keeps_stays() {
    for how in ["refs", "orphan", "keep-pack"] {
        let kept = Kept::new();
        kept.place.run(&["--log", "other", "init"]).ok();
        let item = json!({ "kind": "snippet", "path": "theirs", "content": "theirs\n" });
        let open = json!({ "command": "open_snapshot", "actor": { "kind": "agent", "id": "b" },
                           "selection_strategy": "explicit", "items": [item] });
        kept.place
            .run_with(&["--log", "other", "apply"], open.to_string())
            .ok();
        let theirs = git_with(&kept.repo(), &["hash-object", "--stdin"], "theirs\n");
        kept.retain(&["--as", how]);
        let args = ["--log", "other", "retain", "--repo", "repo", "--as", how];
        kept.place.run(&args).ok();
        kept.retain(&["--as", how, "--release"]);
        kept.gc();
        assert_eq!(kept.there(), [false; 4], "{how}");
        assert!(has(&kept.repo(), &theirs), "{how}");
    }
}

/// Both logs name all four blobs: a release by one of them leaves what the other one keeps, in
/// either order, and what it keeps survives until that one releases it, too.
#[test]
fn blobs_that_two_logs_keep_stay_until_both_release_them() {
    for how in ["refs", "orphan", "keep-pack"] {
        for first_keeps_first in [true, false] {
            let kept = Kept::new();
            let own = |args: &[&str]| kept.retain(&[&["--as", how], args].concat());
            let other = |args: &[&str]| kept.retain_other(&[&["--as", how], args].concat());
            match first_keeps_first {
                true => drop((own(&[]), other(&[]))),
                false => drop((other(&[]), own(&[]))),
            }
            let released = own(&["--release"]);
            let counts = (&released["changed"], &released["held_by_others"]);
            assert_eq!(counts, (&json!(4), &json!(4)), "{how}: {released}");
            kept.gc();
            assert_eq!(kept.there(), [true; 4], "{how}");
            kept.fsck();
            let before = kept.state();
            assert_eq!(other(&[])["changed"], 0, "{how}");
            assert!(kept.state() == before, "{how}");
            // One of several, while the first log keeps it again.
            own(&[]);
            assert_eq!(other(&["--release"])["changed"], 4, "{how}");
            kept.gc();
            assert_eq!(kept.there(), [true; 4], "{how}");
            assert_eq!(own(&["--release"])["held_by_others"], 0, "{how}");
            kept.gc();
            assert_eq!(kept.there(), [false; 4], "{how}");
            kept.fsck();
        }
    }
}

/// Puts what an older version kept, or another tool of the same form, into the repository.
fn keep_without_a_log(kept: &Kept, how: &str) {
    let repo = kept.repo();
    match how {
        "refs" => {
            let name = format!("refs/ai/blobs/{}", kept.file);
            git(&repo, &["update-ref", &name, &kept.file]);
        }
        "orphan" => {
            let tree = |entry: String| git_with(&repo, &["mktree"], &entry);
            let files = tree(format!("100644 blob {}\t0000-src_main.rs\n", kept.file));
            let object = tree(format!("040000 tree {files}\t{}\n", uuid(FIRST)));
            let top = tree(format!("040000 tree {object}\tsnapshots\n"));
            let commit = git(&repo, &["commit-tree", "-m", "kept", &top]);
            git(&repo, &["update-ref", "refs/ai/uploads", &commit]);
        }
        _ => {
            let folder = repo.join(".git/objects/pack");
            let base = folder.join("pack");
            let args = ["pack-objects", "-q", base.to_str().unwrap()];
            let name = git_with(&repo, &args, &format!("{}\n", kept.file));
            let keep = folder.join(format!("pack-{name}.keep"));
            fs::write(
                keep,
                "annals log retain: blobs that a log names and no commit does.\n",
            )
            .unwrap();
        }
    }
}

#[test]
fn what_an_older_version_keeps_stays_until_it_is_asked_for() {
    for how in ["refs", "orphan", "keep-pack"] {
        let kept = Kept::new();
        keep_without_a_log(&kept, how);
        let report = kept.retain(&["--as", how]);
        assert_eq!(
            (&report["changed"], &report["named"]),
            (&json!(4), &json!(4))
        );
        let released = kept.retain(&["--as", how, "--release"]);
        let counts = (&released["changed"], &released["held_by_others"]);
        assert_eq!(counts, (&json!(4), &json!(1)), "{how}: {released}");
        kept.gc();
        assert_eq!(kept.there(), [true, false, false, false], "{how}");
        let released = kept.retain(&["--as", how, "--release", "--unowned"]);
        let counts = (&released["changed"], &released["held_by_others"]);
        assert_eq!(counts, (&json!(1), &json!(0)), "{how}: {released}");
        kept.gc();
        assert_eq!(kept.there(), [false; 4], "{how}");
        kept.fsck();
    }
    let kept = Kept::new();
    let args = ["retain", "--repo", "repo", "--as", "refs", "--unowned"];
    kept.place.run(&args).fails(2, &["--release"]);
}

#[test]
fn a_pack_that_another_tool_keeps_stays() {
    let kept = Kept::new();
    let name = kept.retain(&["--as", "keep-pack"])["holder"].clone();
    let folder = kept.repo().join(".git/objects/pack");
    let keep = folder.join(format!("{}.keep", name.as_str().unwrap()));
    let text = fs::read_to_string(&keep).unwrap();
    fs::write(&keep, format!("{text}for the backup\n")).unwrap();
    let released = kept.retain(&["--as", "keep-pack", "--release"]);
    assert_eq!(released["held_by_others"], 4, "{released}");
    kept.gc();
    assert_eq!(kept.there(), [true; 4]);
    assert_eq!(fs::read_to_string(&keep).unwrap(), "for the backup\n");
}

/// A ref of the name of ours that is something else keeps nothing, and is not ours to change.
#[test]
fn what_others_made_of_our_refs_names_is_named() {
    let kept = Kept::new();
    let namespace = format!("refs/ai/blobs/{}", kept.log_id());
    let ours = format!("{namespace}/{}", kept.file);
    git(&kept.repo(), &["update-ref", &ours, "HEAD"]);
    let args = ["retain", "--repo", "repo", "--as", "refs"];
    kept.place
        .run(&args)
        .fails(1, &["does not name that blob", &kept.file]);
    git(&kept.repo(), &["update-ref", "-d", &ours]);
    git(&kept.repo(), &["update-ref", &namespace, "HEAD"]);
    kept.place
        .run(&args)
        .fails(1, &["refs/ai/blobs", "in the way"]);
    git(&kept.repo(), &["update-ref", "-d", &namespace]);
    git(&kept.repo(), &["update-ref", "refs/ai/blobs", "HEAD"]);
    kept.place
        .run(&args)
        .fails(1, &["refs/ai/blobs", "in the way"]);
    git(&kept.repo(), &["pack-refs", "--all"]);
    kept.place
        .run(&args)
        .fails(1, &["refs/ai/blobs", "in the way"]);
}

#[test]
fn what_is_damaged_is_not_kept() {
    let kept = Kept::new();
    let path = kept.repo().join(".git/objects");
    let path = path.join(&kept.file[..2]).join(&kept.file[2..]);
    let other = kept
        .repo()
        .join(".git/objects")
        .join(&kept.page[..2])
        .join(&kept.page[2..]);
    fs::remove_file(&path).unwrap();
    fs::copy(other, &path).unwrap();
    let others = [false, true, true, true];
    for how in ["refs", "orphan", "keep-pack"] {
        let args = ["retain", "--repo", "repo", "--as", how];
        kept.place.run(&args).fails(1, &[&kept.file, "damaged"]);
        // The others are kept, and a second run says the same of the one that is not.
        kept.place.run(&args).fails(1, &[&kept.file, "damaged"]);
    }
    // A custom gc reads nothing, unless it is to protect: a damaged file protects nothing.
    let protect = ["retain", "--repo", "repo", "--as", "custom-gc", "--protect"];
    kept.place.run(&protect[..5]).ok();
    kept.place.run(&protect).fails(1, &[&kept.file, "damaged"]);
    // One whose file is not an object at all.
    fs::remove_file(&path).unwrap();
    fs::write(&path, "no object").unwrap();
    for how in ["refs", "orphan", "keep-pack"] {
        let args = ["retain", "--repo", "repo", "--as", how];
        kept.place.run(&args).fails(1, &[&kept.file, "damaged"]);
    }
    // What a mark pass left out a gc would remove.
    for protect in [&protect[..5], &protect] {
        let mut args = protect.to_vec();
        args.push("--allow-missing");
        let ran = kept.place.run(&args);
        assert!(
            ran.status == 0 && ran.stdout.contains(&kept.file),
            "{ran:?}"
        );
    }
    fs::remove_file(&path).unwrap();
    kept.gc();
    assert_eq!(kept.there(), others);
}

/// git takes a multi-pack-index that names a pack which is gone for what it is.
#[test]
fn an_old_index_of_several_packs_hides_nothing() {
    let kept = Kept::new();
    let repo = kept.repo();
    let pack = |blobs: &str| {
        let into = ".git/objects/pack/pack";
        git_with(&repo, &["pack-objects", "-q", into], blobs)
    };
    pack(&format!("{}\n{}\n{}\n", kept.file, kept.page, kept.both));
    let small = pack(&format!("{}\n{}\n", kept.file, kept.page));
    git(&repo, &["multi-pack-index", "write"]);
    for ending in ["pack", "idx"] {
        let path = repo.join(format!(".git/objects/pack/pack-{small}.{ending}"));
        fs::remove_file(path).unwrap();
    }
    git(&repo, &["prune-packed"]);
    kept.retain(&["--as", "refs"]);
    fs::remove_file(repo.join(".git/objects/pack/multi-pack-index")).unwrap();
    kept.gc();
    assert_eq!(kept.there(), [true; 4]);
}

/// What git put into a cruft pack has its age from there.
#[test]
fn what_is_in_a_cruft_pack_gets_a_file_of_its_own() {
    let kept = Kept::new();
    let repo = kept.repo();
    git(&repo, &["gc", "-q", "--cruft", "--prune=2.weeks.ago"]);
    let loose = repo
        .join(".git/objects")
        .join(&kept.file[..2])
        .join(&kept.file[2..]);
    let is_cruft = fs::read_dir(repo.join(".git/objects/pack")).unwrap();
    let mut names = is_cruft.map(|entry| entry.unwrap().file_name());
    assert!(!loose.exists() && names.any(|name| name.to_string_lossy().ends_with(".mtimes")));
    kept.retain(&["--as", "refs"]);
    assert!(loose.exists());
    kept.fsck();
}

#[test]
fn uploads_whose_commit_is_gone_are_made_again() {
    let kept = Kept::new();
    kept.retain(&["--as", "orphan"]);
    let commit = git(&kept.repo(), &["rev-parse", "refs/ai/uploads"]);
    let path = kept.repo().join(".git/objects");
    fs::remove_file(path.join(&commit[..2]).join(&commit[2..])).unwrap();
    kept.retain(&["--as", "orphan"]);
    kept.gc();
    assert_eq!(kept.there(), [true; 4]);
    kept.fsck();
}

#[test]
fn a_repository_that_only_names_another_is_not_written_to() {
    let kept = Kept::new();
    let before = kept.state();
    let evil = kept.place.path("evil");
    git(&kept.repo(), &["init", "-q", evil.to_str().unwrap()]);
    let victim = kept.repo().join(".git");
    fs::write(
        evil.join(".git/commondir"),
        format!("{}\n", victim.display()),
    )
    .unwrap();
    let file = kept.place.path("file");
    fs::create_dir(&file).unwrap();
    fs::write(file.join(".git"), format!("gitdir: {}\n", victim.display())).unwrap();
    for path in ["evil", "evil/.git", "file", "file/.git"] {
        for how in ["refs", "orphan", "keep-pack"] {
            let ran = kept.place.run(&["retain", "--repo", path, "--as", how]);
            assert_eq!(ran.status, 1, "{path} {how}: {ran:?}");
        }
    }
    assert!(kept.state() == before);
}

#[test]
fn a_repository_with_an_unknown_extension_is_not_written_to() {
    let kept = Kept::new();
    let config = kept.repo().join(".git/config");
    let with = |version: u8, extensions: &str| {
        let core = format!("[core]\n\trepositoryformatversion = {version}\n\tbare = false\n");
        fs::write(&config, core + extensions).unwrap();
    };
    let unknown = [
        ("[extensions]\n\tfuture = true\n", "extensions.future"),
        ("[extensions \"some\"]\n\tThing\n", "extensions.some.thing"),
        (
            "[extensions]\n\tnoop = x\n\tcompatObjectFormat = sha256\n",
            "compatobjectformat",
        ),
    ];
    let packed = || fs::read(kept.repo().join(".git/packed-refs")).ok();
    for (extensions, named) in unknown {
        with(1, extensions);
        let before = packed();
        for how in ["refs", "orphan", "keep-pack", "custom-gc"] {
            let ran = kept.place.run(&["retain", "--repo", "repo", "--as", how]);
            ran.fails(1, &[named, "does not know"]);
        }
        assert_eq!(packed(), before);
        assert!(!kept.repo().join(".git/refs/ai").exists());
    }
    with(1, "[extensions]\n\tobjectFormat = sha1\n\tnoop = x\n");
    kept.retain(&["--as", "refs"]);
    // git ignores such words where the format has version 0.
    with(0, unknown[0].0);
    kept.retain(&["--as", "orphan"]);
    with(0, "");
    kept.fsck();
}
