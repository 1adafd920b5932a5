//! Objects that are not what their ids say, that cannot be read, or whose ids in the log are taken.

use std::fs;
use std::path::{Path, PathBuf};

use annals_dialects::git::CommitIds;

use crate::field::{CANARY, Ended, Field};
use crate::git::{IMPORT, git, git_in, repository, repository_in};

/// A copy of the stranger's repository as it was, outside of their folder.
fn honest(field: &Field) -> PathBuf {
    let honest = field.path("honest");
    git(
        field,
        &[
            "clone",
            "--quiet",
            "--no-hardlinks",
            ".",
            honest.to_str().unwrap(),
        ],
    );
    honest
}

fn loose(repository: &Path, id: &str) -> PathBuf {
    let (folder, name) = id.split_at(2);
    repository.join(".git/objects").join(folder).join(name)
}

/// Puts an object in the place of another one.
fn put(repository: &Path, id: &str, other: &str) {
    let place = loose(repository, id);
    fs::remove_file(&place).unwrap();
    fs::copy(loose(repository, other), place).unwrap();
}

fn count(ended: &Ended, what: &str) -> u64 {
    let line = ended.said.lines().find_map(|line| line.strip_prefix(what));
    line.and_then(|count| count.trim().parse().ok())
        .unwrap_or_else(|| panic!("{what}: {}", ended.said))
}

/// A commit with another text; its id.
fn canary_commit(field: &Field) -> String {
    git(field, &["commit-tree", "HEAD^{tree}", "-m", CANARY])
}

/// The honest repository is imported behind the other one, with all that it has.
fn then_the_honest_one(field: &Field, what: &str) {
    let ended = field.survives(what, &["import", "git", "honest"]);
    assert!(ended.is_good, "{what}: {}", ended.said);
    assert_eq!(count(&ended, "imported "), 1, "{what}: {}", ended.said);
    assert_eq!(count(&ended, "already there "), 0, "{what}: {}", ended.said);
}

#[test]
fn another_text_under_a_known_id_is_not_taken() {
    let field = repository();
    let hostile = field.path("hostile");
    honest(&field);
    let id = git(&field, &["rev-parse", "HEAD"]);
    put(&hostile, &id, &canary_commit(&field));
    let ended = field.survives("a loose object", IMPORT);
    assert!(!ended.is_good);
    assert!(
        ended.said.contains(&id) && ended.said.contains("not what its id says"),
        "{}",
        ended.said
    );
    then_the_honest_one(&field, "a loose object");
}

/// An index that says another id of what is in its pack.
#[test]
fn another_text_under_a_known_id_is_not_taken_from_a_pack() {
    let field = repository();
    let hostile = field.path("hostile");
    honest(&field);
    let id = git(&field, &["rev-parse", "HEAD"]);
    let other = canary_commit(&field);
    let packs = hostile.join(".git/objects/pack");
    let input = format!("{other}\n");
    let args = ["pack-objects", "--quiet", "pack"];
    let name = git_in(&packs, &args, input.as_bytes());
    let index = packs.join(format!("pack-{name}.idx"));
    let mut bytes = fs::read(&index).unwrap();
    let bytes_of = |id: &str| {
        let digits = id.as_bytes().chunks(2);
        let byte = |two: &[u8]| u8::from_str_radix(std::str::from_utf8(two).unwrap(), 16);
        digits.map(|two| byte(two).unwrap()).collect::<Vec<u8>>()
    };
    let known = bytes_of(&id);
    for first in 0..256 {
        let below = u32::from(first >= usize::from(known[0]));
        bytes[8 + 4 * first..][..4].copy_from_slice(&below.to_be_bytes());
    }
    assert_eq!(bytes[8 + 1024..][..20], bytes_of(&other)[..]);
    bytes[8 + 1024..][..20].copy_from_slice(&known);
    fs::remove_file(&index).unwrap();
    fs::write(&index, bytes).unwrap();
    fs::remove_file(loose(&hostile, &id)).unwrap();
    let ended = field.survives("a pack", IMPORT);
    assert!(!ended.is_good);
    assert!(
        ended.said.contains("not what its id says"),
        "{}",
        ended.said
    );
    then_the_honest_one(&field, "a pack");
}

#[test]
fn replacements_are_not_followed() {
    let field = repository();
    honest(&field);
    let other = canary_commit(&field);
    git(&field, &["replace", "HEAD", &other]);
    let blob = git_in(
        &field.path("hostile"),
        &["hash-object", "-w", "--stdin"],
        CANARY.as_bytes(),
    );
    git(&field, &["replace", "HEAD:a.txt", &blob]);
    let ended = field.survives("a replacement", IMPORT);
    assert!(ended.is_good, "{}", ended.said);
    let log = field.survives("a replacement", &["list", "intent"]);
    assert!(log.said.contains("Add a"), "{}", log.said);
    let again = field.survives("a replacement", &["import", "git", "honest"]);
    assert_eq!(count(&again, "already there "), 1);
}

/// A file, a folder and a parent that are not what their ids say.
#[test]
fn files_and_folders_are_checked_as_commits_are() {
    for what in ["HEAD:a.txt", "HEAD^{tree}"] {
        let field = repository();
        let hostile = field.path("hostile");
        let stdin = ["hash-object", "-w", "--stdin"];
        let blob = git_in(&hostile, &stdin, CANARY.as_bytes());
        let entry = format!("100644 blob {blob}\t{CANARY}\n");
        let tree = git_in(&hostile, &["mktree"], entry.as_bytes());
        let other = if what.ends_with("txt") { blob } else { tree };
        let id = git(&field, &["rev-parse", what]);
        put(&hostile, &id, &other);
        let ended = field.survives(what, IMPORT);
        assert!(!ended.is_good && ended.said.contains(&id), "{}", ended.said);
        assert_eq!(count(&ended, "imported "), 1, "{}", ended.said);
        field.survives(what, &["log", "--json"]);
    }
}

/// What an object can be instead of itself.
fn damage(path: &Path, how: &str) {
    fs::remove_file(path).unwrap();
    match how {
        "missing" => {}
        "no object" => fs::write(path, "x".repeat(100)).unwrap(),
        _ => fs::write(path, "").unwrap(),
    }
}

/// Five commits, of each of which something is damaged but for the first and the last.
#[test]
fn what_cannot_be_read_is_named_and_the_rest_goes_on() {
    for how in ["missing", "no object", "empty"] {
        let field = repository();
        let hostile = field.path("hostile");
        for n in 0..4 {
            field.hostile("a.txt", format!("{n}\n"));
            field.hostile(&format!("folder/{n}.txt"), format!("{n}\n"));
            git(&field, &["add", "."]);
            git(&field, &["commit", "--quiet", "-m", &format!("Change {n}")]);
        }
        let blob = git(&field, &["rev-parse", "HEAD~3:a.txt"]);
        let tree = git(&field, &["rev-parse", "HEAD~1:folder"]);
        let commits = git(&field, &["rev-list", "HEAD"]);
        let commits: Vec<&str> = commits.lines().collect();
        damage(&loose(&hostile, &blob), how);
        damage(&loose(&hostile, &tree), how);
        let ended = field.survives(how, IMPORT);
        assert!(!ended.is_good, "{how}: {}", ended.said);
        assert_eq!(count(&ended, "imported "), 5, "{how}: {}", ended.said);
        for (commit, object) in [
            (commits[3], &blob),
            (commits[2], &blob),
            (commits[1], &tree),
            (commits[0], &tree),
        ] {
            let broken = format!("broken         commit {commit}: ");
            let line = ended.said.lines().find(|line| line.starts_with(&broken));
            let line = line.unwrap_or_else(|| panic!("{how}: {}", ended.said));
            assert!(line.contains(object.as_str()), "{how}: {line}");
        }
        assert!(!ended.said.contains(&format!("commit {}: ", commits[4])));
        let again = field.survives(how, IMPORT);
        assert_eq!(count(&again, "already there "), 5, "{}", again.said);
    }
}

/// A commit in the middle that cannot be read: those after it are imported, those before it cannot be
/// reached.
#[test]
fn a_commit_that_cannot_be_read_is_named_and_left_out() {
    let field = repository();
    for n in 0..3 {
        git(
            &field,
            &["commit", "--quiet", "--allow-empty", "-m", &format!("{n}")],
        );
    }
    let lost = git(&field, &["rev-parse", "HEAD~1"]);
    let place = loose(&field.path("hostile"), &lost);
    damage(&place, "no object");
    let ended = field.survives("a commit", IMPORT);
    assert!(!ended.is_good && ended.said.contains(&format!("commit {lost}: ")));
    assert_eq!(count(&ended, "imported "), 1, "{}", ended.said);
}

#[test]
fn a_commit_with_people_that_cannot_be_read_is_named_and_kept() {
    let field = repository();
    let (tree, head) = (
        git(&field, &["rev-parse", "HEAD^{tree}"]),
        git(&field, &["rev-parse", "HEAD"]),
    );
    let good = "Ada <ada@example.org> 1700000000 +0000";
    let mut parent = head;
    let mut odd = Vec::new();
    for people in [
        format!("author Ada\ncommitter {good}\n"),
        format!("author {good}\ncommitter nobody\n"),
        format!("committer {good}\n"),
        String::new(),
    ] {
        let text = format!("tree {tree}\nparent {parent}\n{people}\nOdd\n");
        let args = [
            "hash-object",
            "-t",
            "commit",
            "--literally",
            "-w",
            "--stdin",
        ];
        parent = git_in(&field.path("hostile"), &args, text.as_bytes());
        odd.push(parent.clone());
    }
    git(&field, &["update-ref", "refs/heads/main", &parent]);
    let ended = field.survives("people", IMPORT);
    assert!(!ended.is_good, "{}", ended.said);
    assert_eq!(count(&ended, "imported "), 5, "{}", ended.said);
    for commit in odd {
        let broken = format!("commit {commit}: its ");
        assert!(ended.said.contains(&broken), "{broken}: {}", ended.said);
    }
}

/// Anyone can compute which ids a commit's objects will have.
#[test]
fn a_commit_whose_ids_are_taken_is_named_and_the_rest_goes_on() {
    let field = repository();
    for n in 0..2 {
        git(
            &field,
            &["commit", "--quiet", "--allow-empty", "-m", &format!("{n}")],
        );
    }
    let taken = git(&field, &["rev-parse", "HEAD~1"]);
    let intent = CommitIds::of(taken.parse().unwrap()).intent.0;
    let time = "2026-01-02T03:04:05.500Z";
    let object = format!(
        r#"{{"object_id":"{intent}","object_type":"intent","schema_version":1,"created_at":"{time}","updated_at":"{time}","created_by":{{"kind":"human","id":"eve"}},"prompt":"p","statuses":[{{"status":"draft","changed_at":"{time}"}}]}}"#
    );
    fs::write(field.path("object.json"), object).unwrap();
    let first = field.run(&["import", "git-internal", "object.json"]);
    assert!(first.is_good, "{}", first.said);
    let ended = field.survives("taken ids", IMPORT);
    assert!(!ended.is_good, "{}", ended.said);
    assert_eq!(count(&ended, "imported "), 2, "{}", ended.said);
    let broken = format!("broken         commit {taken}: it was not imported: ");
    assert!(ended.said.contains(&broken), "{}", ended.said);
    let again = field.survives("taken ids", IMPORT);
    assert!(!again.is_good, "{}", again.said);
    assert_eq!(count(&again, "already there "), 2, "{}", again.said);
}

/// Another repository with the same history, packed: in any form the ids are the same.
#[test]
fn an_ordinary_repository_is_imported_in_whichever_form_it_is() {
    let field = repository();
    for n in 0..20 {
        field.hostile("a.txt", format!("{n}\n").repeat(50));
        git(&field, &["add", "."]);
        git(&field, &["commit", "--quiet", "-m", &format!("Change {n}")]);
        if n % 5 == 0 {
            git(&field, &["repack", "--quiet", "-d"]);
        }
    }
    let ended = field.survives("packed", IMPORT);
    assert!(ended.is_good, "{}", ended.said);
    assert_eq!(count(&ended, "imported "), 21);
    git(&field, &["gc", "--quiet"]);
    let again = field.survives("packed again", IMPORT);
    assert!(again.is_good, "{}", again.said);
    assert_eq!(count(&again, "already there "), 21);
    let sha256 = field.path("sha256");
    fs::create_dir(&sha256).unwrap();
    git_in(&sha256, &["init", "--quiet", "--object-format=sha256"], b"");
    let other = Field::new();
    let path = sha256.to_str().unwrap();
    let empty = other.survives("no commits", &["import", "git", path]);
    assert!(empty.is_good && empty.said.contains("imported       0"));
    repository_in(&sha256, "Add a");
    let ended = other.survives("sha256", &["import", "git", path]);
    assert!(ended.is_good, "{}", ended.said);
    assert_eq!(count(&ended, "imported "), 1);
}

/// Another program packs what is loose while it is read.
#[test]
fn a_repository_that_is_packed_meanwhile_is_read_whole() {
    let field = repository();
    for n in 0..40 {
        field.hostile("a.txt", format!("{n}\n"));
        git(&field, &["add", "."]);
        git(&field, &["commit", "--quiet", "-m", &format!("Change {n}")]);
    }
    let hostile = field.path("hostile");
    std::thread::scope(|scope| {
        let packing = scope.spawn(|| {
            for _ in 0..5 {
                git_in(&hostile, &["repack", "--quiet", "-a", "-d", "-f"], b"");
                git_in(&hostile, &["prune-packed"], b"");
                git_in(
                    &hostile,
                    &["commit", "--quiet", "--allow-empty", "-m", "x"],
                    b"",
                );
            }
        });
        while !packing.is_finished() {
            let ended = field.run(IMPORT);
            assert!(ended.is_good, "{}", ended.said);
        }
    });
    let ended = field.survives("packed", IMPORT);
    assert!(ended.is_good, "{}", ended.said);
    assert_eq!(
        count(&ended, "already there ") + count(&ended, "imported "),
        46
    );
}
