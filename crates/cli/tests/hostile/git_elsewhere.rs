//! Repositories that lead to another one, or to other files: by links, by files that name folders, by their
//! configuration, and by all of these while an import runs.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::field::{CANARY, Field, pipe};
use crate::git::{IMPORT, git, git_in, repository, repository_in};

type Attack = fn(&Field, &Path);

/// Another user's repository, outside.
fn theirs(field: &Field) -> PathBuf {
    field.path("outside/theirs")
}

fn head_of(repository: &Path) -> String {
    git_in(repository, &["rev-parse", "HEAD"], b"")
}

/// Puts a link in the place of what is there.
fn link(target: PathBuf, place: PathBuf) {
    if place.is_dir() && !place.is_symlink() {
        fs::remove_dir_all(&place).unwrap();
    }
    let _ = fs::remove_file(&place);
    symlink(target, place).unwrap();
}

/// Puts the commit of the other repository where `HEAD` is.
fn take_head(field: &Field, git: &Path) {
    fs::write(git.join("HEAD"), head_of(&theirs(field)) + "\n").unwrap();
}

/// A file `.git` in the place of the folder.
fn name(field: &Field, git: &Path, named: &str) {
    fs::rename(git, field.path("hostile/before")).unwrap();
    fs::write(git, format!("gitdir: {named}\n")).unwrap();
}

const ATTACKS: [(&str, Attack); 15] = [
    ("the folder is a link", |field, git| {
        link(theirs(field).join(".git"), git.to_owned());
    }),
    ("the folder is named", |field, git| {
        name(field, git, "../outside/theirs/.git");
    }),
    ("objects are a link", |field, git| {
        take_head(field, git);
        link(theirs(field).join(".git/objects"), git.join("objects"));
    }),
    ("some objects are a link", |field, git| {
        take_head(field, git);
        for entry in fs::read_dir(theirs(field).join(".git/objects")).unwrap() {
            let name = entry.unwrap().file_name();
            let theirs = theirs(field).join(".git/objects").join(&name);
            link(theirs, git.join("objects").join(name));
        }
    }),
    ("packs are a link", |field, git| {
        git_in(&theirs(field), &["repack", "--quiet", "-a", "-d"], b"");
        take_head(field, git);
        link(
            theirs(field).join(".git/objects/pack"),
            git.join("objects/pack"),
        );
    }),
    ("each pack is a link", |field, git| {
        git_in(&theirs(field), &["repack", "--quiet", "-a", "-d"], b"");
        take_head(field, git);
        for entry in fs::read_dir(theirs(field).join(".git/objects/pack")).unwrap() {
            let entry = entry.unwrap();
            link(
                entry.path(),
                git.join("objects/pack").join(entry.file_name()),
            );
        }
    }),
    ("references are a link", |field, git| {
        fs::write(
            git.join("objects/info/alternates"),
            "../../../outside/theirs/.git/objects\n",
        )
        .unwrap();
        link(theirs(field).join(".git/refs"), git.join("refs"));
    }),
    ("branches are a link", |field, git| {
        link(
            theirs(field).join(".git/refs/heads"),
            git.join("refs/heads"),
        );
    }),
    ("objects are elsewhere, too", |field, git| {
        take_head(field, git);
        let alternates = format!("{}\n", theirs(field).join(".git/objects").display());
        fs::write(git.join("objects/info/alternates"), alternates).unwrap();
    }),
    (
        "objects are elsewhere, too, behind many lines",
        |field, git| {
            take_head(field, git);
            let lines = "# nothing\n".repeat(10_000);
            let alternates = format!("{lines}{}\n", theirs(field).join(".git/objects").display());
            fs::write(git.join("objects/info/alternates"), alternates).unwrap();
        },
    ),
    ("the common folder is elsewhere", |_, git| {
        fs::write(git.join("commondir"), "../../outside/theirs/.git\n").unwrap();
    }),
    (
        "a work tree of what is not said to have it",
        |field, git| {
            git_in(
                &theirs(field),
                &["worktree", "add", "--quiet", "../tree"],
                b"",
            );
            name(field, git, "../outside/theirs/.git/worktrees/tree");
        },
    ),
    (
        "a work tree with its common folder elsewhere",
        |field, git| {
            name(field, git, "fake/.git/worktrees/x");
            let own = field.path("hostile/fake/.git/worktrees/x");
            fs::create_dir_all(&own).unwrap();
            fs::write(own.join("HEAD"), "ref: refs/heads/main\n").unwrap();
            fs::write(own.join("gitdir"), format!("{}\n", git.display())).unwrap();
            fs::write(
                own.join("commondir"),
                format!("{}\n", theirs(field).join(".git").display()),
            )
            .unwrap();
        },
    ),
    ("a work tree behind a link", |field, git| {
        name(field, git, "fake/.git/worktrees/x");
        let own = field.path("hostile/own");
        fs::create_dir_all(&own).unwrap();
        fs::write(own.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::write(own.join("gitdir"), format!("{}\n", git.display())).unwrap();
        fs::write(own.join("commondir"), "../..\n").unwrap();
        let fake = field.path("hostile/fake/.git");
        fs::create_dir_all(fake.join("worktrees")).unwrap();
        symlink("../../../own", fake.join("worktrees/x")).unwrap();
        for part in ["HEAD", "objects", "refs"] {
            symlink(theirs(field).join(".git").join(part), fake.join(part)).unwrap();
        }
    }),
    ("a submodule that is said to be elsewhere", |field, git| {
        name(field, git, "fake/.git/modules/x");
        fs::create_dir_all(field.path("hostile/fake/.git/modules")).unwrap();
        symlink(
            theirs(field).join(".git"),
            field.path("hostile/fake/.git/modules/x"),
        )
        .unwrap();
    }),
];

#[test]
fn no_other_repository_is_imported() {
    for (what, attack) in ATTACKS {
        let field = repository();
        repository_in(&theirs(&field), CANARY);
        attack(&field, &field.path("hostile/.git"));
        let ended = field.survives(what, IMPORT);
        assert!(!ended.is_good, "{what}: {}", ended.said);
        field.survives(what, &["log", "--json"]);
        let stats = field.run(&["list", "intent"]).said;
        assert!(!stats.contains(CANARY), "{what}: {stats}");
    }
}

/// A file that is reported as malformed could be a hard link to another user's file.
#[test]
fn nothing_in_a_file_is_told_that_cannot_be_read() {
    let own = [
        "HEAD",
        "config",
        "packed-refs",
        "shallow",
        "refs/heads/main",
        "objects/info/alternates",
        "commondir",
    ];
    for part in own {
        for before in ["", "ref: ", "gitdir: ", "[core]\n"] {
            let field = repository();
            fs::write(
                field.path("outside/secret"),
                format!("{before}{CANARY}\n{CANARY}\n"),
            )
            .unwrap();
            let path = field.path("hostile/.git").join(part);
            let _ = fs::remove_file(&path);
            fs::hard_link(field.path("outside/secret"), &path).unwrap();
            field.survives(part, IMPORT);
        }
    }
    for before in ["", "gitdir: "] {
        let field = repository();
        let git = field.path("hostile/.git");
        fs::write(field.path("outside/secret"), format!("{before}{CANARY}\n")).unwrap();
        fs::rename(&git, field.path("hostile/before")).unwrap();
        fs::hard_link(field.path("outside/secret"), &git).unwrap();
        assert!(!field.survives(".git", IMPORT).is_good);
    }
}

/// What an import looked at only among the first entries of a folder.
#[test]
fn a_file_that_names_a_folder_is_found_behind_many_others() {
    let field = repository();
    let git = field.path("hostile/.git");
    for n in 0..50 {
        fs::write(git.join(format!("{n}")), "").unwrap();
    }
    fs::write(field.path("outside/HEAD"), CANARY).unwrap();
    fs::write(git.join("commondir"), "../../outside\n").unwrap();
    let ended = field.survives("a common folder", IMPORT);
    assert!(
        !ended.is_good && ended.said.contains("commondir"),
        "{}",
        ended.said
    );
}

const PIPES: [(&str, Attack); 6] = [
    ("a pipe behind other objects", |field, git| {
        fs::create_dir_all(field.path("hostile/other/info")).unwrap();
        pipe(&field.path("hostile/other/info/alternates"));
        fs::write(
            git.join("objects/info/alternates"),
            field.path("hostile/other").to_str().unwrap(),
        )
        .unwrap();
    }),
    ("a pipe behind a link to a folder", |field, git| {
        fs::create_dir(field.path("hostile/heads")).unwrap();
        pipe(&field.path("hostile/heads/main"));
        link(field.path("hostile/heads"), git.join("refs/heads"));
    }),
    ("a pipe behind a configured path", |field, _| {
        pipe(&field.path("hostile/pipe"));
        git(field, &["config", "gitoxide.core.shallowFile", "../pipe"]);
    }),
    ("a pipe behind a common folder", |field, git| {
        fs::create_dir(field.path("hostile/common")).unwrap();
        pipe(&field.path("hostile/common/config"));
        fs::write(git.join("commondir"), "../common\n").unwrap();
    }),
    ("pipes next to an empty folder", |field, git| {
        for part in ["objects", "refs"] {
            fs::rename(git.join(part), field.path("hostile").join(part)).unwrap();
        }
        fs::remove_dir_all(git).unwrap();
        fs::create_dir(git).unwrap();
        pipe(&field.path("hostile/HEAD"));
        pipe(&field.path("hostile/config"));
    }),
    ("pipes for objects", |_, git| {
        let objects = git.join("objects");
        for entry in fs::read_dir(&objects).unwrap() {
            let folder = entry.unwrap().path();
            for file in fs::read_dir(folder).unwrap() {
                let file = file.unwrap().path();
                fs::remove_file(&file).unwrap();
                pipe(&file);
            }
        }
        pipe(&objects.join("pack/pack-1.idx"));
        pipe(&objects.join("pack/pack-1.pack"));
    }),
];

#[test]
fn no_pipe_is_waited_for() {
    for (what, attack) in PIPES {
        let field = repository();
        attack(&field, &field.path("hostile/.git"));
        field.survives(what, IMPORT);
    }
}

/// A link, a pipe and the honest file take turns in the place of a file while imports run.
#[test]
fn a_repository_that_changes_while_it_is_read_leads_nowhere() {
    let field = repository();
    repository_in(&theirs(&field), CANARY);
    git(&field, &["pack-refs", "--all"]);
    let git = field.path("hostile/.git");
    fs::write(
        git.join("refs/heads/main"),
        head_of(&field.path("hostile")) + "\n",
    )
    .unwrap();
    pipe(&field.path("pipe"));
    for part in [
        "refs/heads/main",
        "HEAD",
        "config",
        "packed-refs",
        "commondir",
    ] {
        let targets = [field.path("outside/object.json"), field.path("pipe")];
        swapped(&git.join(part), &targets, || {
            for _ in 0..15 {
                field.survives(part, IMPORT);
            }
        });
    }
    let objects = [theirs(&field).join(".git/objects")];
    fs::write(git.join("HEAD"), head_of(&theirs(&field)) + "\n").unwrap();
    swapped(&git.join("objects"), &objects, || {
        for _ in 0..15 {
            field.survives("objects", IMPORT);
        }
    });
    let listed = field.run(&["list", "intent"]).said;
    assert!(!listed.contains(CANARY), "{listed}");
}

/// While something is done, links take turns with what is in a place, if anything is.
fn swapped(place: &Path, targets: &[PathBuf], done: impl FnOnce()) {
    let aside = place.with_extension("aside");
    let honest = fs::read(place).ok();
    let ends = AtomicBool::new(false);
    thread::scope(|scope| {
        let swapping = scope.spawn(|| {
            while !ends.load(Ordering::Relaxed) {
                for target in targets {
                    if place.is_dir() {
                        fs::rename(place, place.with_extension("kept")).unwrap();
                    }
                    symlink(target, &aside).unwrap();
                    fs::rename(&aside, place).unwrap();
                    match &honest {
                        Some(text) => {
                            fs::write(&aside, text).unwrap();
                            fs::rename(&aside, place).unwrap();
                        }
                        None => fs::remove_file(place).unwrap(),
                    }
                    let _ = fs::rename(place.with_extension("kept"), place);
                    thread::sleep(Duration::from_micros(200));
                }
            }
        });
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(done));
        ends.store(true, Ordering::Relaxed);
        swapping.join().unwrap();
        result.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    });
}

/// Work trees and submodules are elsewhere, too, but what they name names them.
#[test]
fn a_work_tree_and_a_submodule_are_imported() {
    let field = repository();
    let imported = |what: &str, path: &str, commits: usize| {
        let own = Field::new();
        let path = field.path(path);
        let ended = own.survives(what, &["import", "git", path.to_str().unwrap(), "--json"]);
        assert!(ended.is_good, "{what}: {}", ended.said);
        let said = format!("\"imported\": {commits},");
        let packed = format!("\"imported\":{commits},");
        assert!(
            ended.said.contains(&said) || ended.said.contains(&packed),
            "{what}: {}",
            ended.said
        );
    };
    git(
        &field,
        &["worktree", "add", "--quiet", "-b", "side", "../tree"],
    );
    let tree = field.path("tree");
    for n in 0..2 {
        let message = format!("{n}");
        git_in(
            &tree,
            &["commit", "--quiet", "--allow-empty", "-m", &message],
            b"",
        );
    }
    fs::create_dir(tree.join("below")).unwrap();
    imported("the main work tree", "hostile", 1);
    imported("a work tree", "tree", 3);
    imported("below a work tree", "tree/below", 3);
    git(&field, &["pack-refs", "--all"]);
    imported("a work tree with packed references", "tree", 3);
    symlink(&tree, field.path("link")).unwrap();
    imported("a work tree by a link", "link", 3);
    repository_in(&field.path("part"), "A part");
    let part = field.path("part");
    git(
        &field,
        &[
            "submodule",
            "--quiet",
            "add",
            part.to_str().unwrap(),
            "sub/part",
        ],
    );
    git(&field, &["commit", "--quiet", "-m", "Add a part"]);
    imported("a submodule", "hostile/sub/part", 1);
    imported("around a submodule", "hostile", 2);
    imported("next to a submodule", "hostile/sub", 2);
    git_in(&part, &["worktree", "add", "--quiet", "../moved"], b"");
    fs::rename(field.path("moved"), field.path("elsewhere")).unwrap();
    let ended = field.run(&["import", "git", "elsewhere"]);
    assert!(
        !ended.is_good && ended.said.contains("git worktree repair"),
        "{}",
        ended.said
    );
}
