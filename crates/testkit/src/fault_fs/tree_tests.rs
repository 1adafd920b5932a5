//! Names and what cuts leave of them: what was synced, what was moved, what was removed.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use fuser::Errno;
use proptest::prelude::*;

use super::cut::Cut;
use super::file::File;
use super::journal::{Ino, surviving};
use super::restart::restart;
use super::synced::{is_synced, unsynced};
use super::tree::{Attributes, Directory, Node, ROOT, Tree};

const OWNER: Attributes = Attributes {
    mode: 0o755,
    uid: 0,
    gid: 0,
};

/// A directory's path and a name in it.
type Name = (&'static str, &'static str);

#[derive(Clone, Debug)]
enum Step {
    Create(Name),
    MakeDirectory(Name),
    Link(Name, Name),
    Unlink(Name),
    RemoveDirectory(Name),
    Rename(Name, Name),
    Exchange(Name, Name),
    SyncDirectory(&'static str),
}

fn name() -> impl Strategy<Value = Name> {
    let directory = prop::sample::select(vec!["", "a", "b", "a/b", "b/a"]);
    (directory, prop::sample::select(vec!["a", "b", "x", "y"]))
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => name().prop_map(Step::Create),
        3 => name().prop_map(Step::MakeDirectory),
        2 => (name(), name()).prop_map(|(from, to)| Step::Link(from, to)),
        2 => name().prop_map(Step::Unlink),
        2 => name().prop_map(Step::RemoveDirectory),
        6 => (name(), name()).prop_map(|(from, to)| Step::Rename(from, to)),
        1 => (name(), name()).prop_map(|(from, to)| Step::Exchange(from, to)),
        3 => prop::sample::select(vec!["", "a", "b", "a/b", "b/a"]).prop_map(Step::SyncDirectory),
    ];
    prop::collection::vec(step, 0..40)
}

/// What must come of the names, found without a journal.
#[derive(Default)]
struct Expected {
    /// Names that their directory's last sync covers.
    promised: HashMap<(Ino, String), Option<Ino>>,
    /// Files that were durable once and have had a name all the time since.
    safe: BTreeSet<u64>,
}

fn resolve(tree: &Tree, path: &str) -> Result<Ino, Errno> {
    Path::new(path)
        .iter()
        .try_fold(ROOT, |at, name| tree.lookup(at, name))
}

fn at(tree: &Tree, name: Name) -> Result<(Ino, &'static OsStr), Errno> {
    Ok((resolve(tree, name.0)?, OsStr::new(name.1)))
}

fn new_file(number: u64) -> Node {
    let mut file = File::default();
    file.write(0, &number.to_le_bytes());
    file.sync();
    Node::File(file)
}

fn apply(tree: &mut Tree, step: &Step, number: u64) -> Result<Vec<(Ino, String)>, Errno> {
    let mut touched = Vec::new();
    let mut touch = |name: (Ino, &OsStr)| touched.push((name.0, name.1.to_str().unwrap().into()));
    match *step {
        Step::Create(name) => {
            let name = at(tree, name)?;
            tree.make("create", name, new_file(number), OWNER)?;
            touch(name);
        }
        Step::MakeDirectory(name) => {
            let name = at(tree, name)?;
            tree.make("mkdir", name, Node::Directory(Directory::default()), OWNER)?;
            touch(name);
        }
        Step::Link(from, to) => {
            let (from, to) = (at(tree, from)?, at(tree, to)?);
            let ino = tree.lookup(from.0, from.1)?;
            tree.link(ino, to.0, to.1)?;
            touch(to);
        }
        Step::Unlink(name) => {
            let name = at(tree, name)?;
            tree.unlink(name.0, name.1)?;
            touch(name);
        }
        Step::RemoveDirectory(name) => {
            let name = at(tree, name)?;
            tree.remove_directory(name.0, name.1)?;
            touch(name);
        }
        Step::Rename(from, to) | Step::Exchange(from, to) => {
            let (from, to) = (at(tree, from)?, at(tree, to)?);
            // The kernel refuses to move a directory into itself.
            let (one, other) = (tree.lookup(from.0, from.1)?, tree.lookup(to.0, to.1));
            let inside = |top: Ino, below: Ino| {
                tree.path(below).starts_with(tree.path(top)) && tree.directory(top).is_ok()
            };
            let exchange = matches!(step, Step::Exchange(..));
            if inside(one, to.0) || other.is_ok_and(|other| exchange && inside(other, from.0)) {
                return Err(Errno::EINVAL);
            }
            if exchange {
                tree.exchange(from, to)?
            } else {
                tree.rename(from, to, false)?
            }
            touch(from);
            touch(to);
        }
        Step::SyncDirectory(path) => {
            let ino = resolve(tree, path)?;
            tree.sync_directory(ino)?;
        }
    }
    Ok(touched)
}

fn run(steps: &[Step]) -> (Tree, Expected) {
    let mut tree = Tree::new(1 << 20, OWNER);
    let mut expected = Expected::default();
    for (number, step) in steps.iter().enumerate() {
        let Ok(touched) = apply(&mut tree, step, number as u64) else {
            continue;
        };
        for name in touched {
            expected.promised.remove(&name);
        }
        if let Step::SyncDirectory(path) = step {
            let ino = resolve(&tree, path).unwrap();
            for name in ["a", "b", "x", "y"] {
                let found = tree.lookup(ino, OsStr::new(name)).ok();
                expected.promised.insert((ino, name.into()), found);
            }
        }
        expected.safe.extend(files(&durable(&tree)));
        let named = files(&visible(&tree));
        expected.safe.retain(|file| named.contains(file));
    }
    (tree, expected)
}

/// Each path, with its file's number, or nothing for a directory.
type Paths = BTreeMap<PathBuf, Option<u64>>;

fn walk(tree: &Tree, names: fn(&Directory) -> &BTreeMap<std::ffi::OsString, Ino>) -> Paths {
    let mut found = Paths::new();
    let mut left = vec![(ROOT, PathBuf::new())];
    while let Some((at, path)) = left.pop() {
        for (name, ino) in names(tree.directory(at).unwrap()) {
            let path = path.join(name);
            let number = match &tree.inode(*ino).unwrap().node {
                Node::File(file) => {
                    let bytes = file.durable().read(0, 8);
                    Some(u64::from_le_bytes(bytes.try_into().unwrap()))
                }
                _ => {
                    left.push((*ino, path.clone()));
                    None
                }
            };
            found.insert(path, number);
        }
    }
    found
}

fn visible(tree: &Tree) -> Paths {
    walk(tree, |directory| &directory.visible)
}

fn durable(tree: &Tree) -> Paths {
    walk(tree, |directory| &directory.durable)
}

fn files(paths: &Paths) -> BTreeSet<u64> {
    paths.values().copied().flatten().collect()
}

/// The paths of which every name is promised, and whether something is there.
fn promised(tree: &Tree, expected: &Expected) -> (Paths, Vec<PathBuf>) {
    let (mut there, mut absent) = (Paths::new(), Vec::new());
    let all = visible(tree);
    let mut left = vec![(ROOT, PathBuf::new())];
    while let Some((at, path)) = left.pop() {
        for name in ["a", "b", "x", "y"] {
            let path = path.join(name);
            match expected.promised.get(&(at, name.to_owned())) {
                None => {}
                Some(None) => absent.push(path),
                Some(Some(ino)) => {
                    there.insert(path.clone(), all[&path]);
                    if tree.directory(*ino).is_ok() {
                        left.push((*ino, path));
                    }
                }
            }
        }
    }
    (there, absent)
}

fn check(steps: &[Step], cut: Cut) -> Result<(), TestCaseError> {
    let (before, expected) = run(steps);
    let (there, absent) = promised(&before, &expected);
    for (path, number) in &there {
        let own = number.is_some(); // a directory is synced when what it names is
        prop_assert!(!own || is_synced(&before, path), "{:?}", unsynced(&before));
    }
    let (durable_before, visible_before) = (durable(&before), visible(&before));
    let nothing_unsynced = unsynced(&before).is_empty();

    let (after, report) = restart(before, cut);
    let left = visible(&after);
    prop_assert_eq!(&left, &durable(&after), "a cut leaves nothing unsynced");
    prop_assert!(unsynced(&after).is_empty());
    for (path, number) in &there {
        prop_assert_eq!(
            left.get(path),
            Some(number),
            "{} was synced; {}",
            path.display(),
            report
        );
    }
    for path in &absent {
        prop_assert!(
            !left.contains_key(path),
            "{} was removed; {}",
            path.display(),
            report
        );
    }
    let found = files(&left);
    for file in &expected.safe {
        prop_assert!(
            found.contains(file),
            "file {} has no name; {}",
            file,
            report
        );
    }
    if cut == Cut::DropAll {
        prop_assert_eq!(&left, &durable_before);
    }
    if cut == Cut::KeepAll || nothing_unsynced {
        prop_assert_eq!(&left, &visible_before);
    }
    let again = restart(run(steps).0, cut).0;
    prop_assert_eq!(&left, &visible(&again), "the same seed");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn names_survive_a_random_cut(steps in steps(), seed: u64) {
        check(&steps, Cut::Random { seed })?;
    }

    #[test]
    fn names_survive_the_other_cuts(steps in steps()) {
        check(&steps, Cut::DropAll)?;
        check(&steps, Cut::KeepAll)?;
    }
}

/// Two files and two directories, all synced: what the next tests move about.
fn synced_tree() -> (Tree, BTreeSet<u64>) {
    let mut tree = Tree::new(1 << 20, OWNER);
    let steps = [
        Step::MakeDirectory(("", "a")),
        Step::MakeDirectory(("a", "b")),
        Step::MakeDirectory(("", "e")),
        Step::Create(("a", "x")),
        Step::Create(("e", "y")),
        Step::SyncDirectory("a"),
        Step::SyncDirectory("e"),
        Step::SyncDirectory(""),
    ];
    for (number, step) in steps.iter().enumerate() {
        apply(&mut tree, step, number as u64).unwrap();
    }
    let files = files(&durable(&tree));
    assert_eq!(files.len(), 2);
    (tree, files)
}

/// Files that are moved, step by step, and never removed.
fn moves() -> Vec<Vec<Step>> {
    use Step::{Exchange, Link, MakeDirectory, RemoveDirectory, Rename, Unlink};
    vec![
        vec![Rename(("a", "x"), ("", "x"))],
        vec![
            Rename(("a", "x"), ("a", "y")),
            Rename(("a", "y"), ("", "x")),
        ],
        vec![Link(("a", "x"), ("", "x")), Unlink(("a", "x"))],
        vec![
            Link(("a", "x"), ("e", "x")),
            Unlink(("a", "x")),
            Rename(("e", "x"), ("e", "b")),
        ],
        vec![Rename(("e", "y"), ("a", "y")), RemoveDirectory(("", "e"))],
        vec![MakeDirectory(("", "b")), Rename(("a", "x"), ("b", "x"))],
        vec![
            MakeDirectory(("", "b")),
            MakeDirectory(("b", "a")),
            Rename(("a", "x"), ("b/a", "x")),
        ],
        vec![Rename(("a", "b"), ("", "b")), Rename(("", "a"), ("b", "a"))],
        vec![Rename(("e", "y"), ("", "y")), Rename(("", "a"), ("", "e"))],
        vec![
            Rename(("", "e"), ("a/b", "a")),
            Rename(("a", "x"), ("a/b", "y")),
        ],
        vec![
            Exchange(("a", "x"), ("", "e")),
            Exchange(("", "e"), ("a", "b")),
        ],
    ]
}

#[test]
fn no_subset_of_moves_loses_a_file() {
    for steps in moves() {
        for wanted in 0..1u32 << steps.len() {
            let (mut tree, files_before) = synced_tree();
            for step in &steps {
                apply(&mut tree, step, 99).unwrap();
            }
            let chosen = surviving(&tree.pending, |number| wanted & (1 << number) != 0);
            tree.commit(&chosen);
            let left = durable(&tree);
            assert_eq!(
                files(&left),
                files_before,
                "{chosen:?} of {steps:?} leave {left:?}"
            );
        }
    }
}

#[test]
fn no_sync_of_one_directory_loses_a_file() {
    for steps in moves() {
        for directory in ["", "a", "a/b", "e", "b", "b/a", "a/b/a"] {
            let (mut tree, files_before) = synced_tree();
            for step in &steps {
                apply(&mut tree, step, 99).unwrap();
            }
            // Some of them are not there in some cases, or are files.
            let _ = resolve(&tree, directory).and_then(|ino| tree.sync_directory(ino));
            let left = durable(&tree);
            assert_eq!(
                files(&left),
                files_before,
                "{directory:?} of {steps:?}: {left:?}"
            );
        }
    }
}

/// The mistake of a store that syncs the folder it made, and not the one it is in.
#[test]
fn a_directory_takes_its_own_name_from_its_parent_only() {
    let mut tree = Tree::new(1 << 20, OWNER);
    apply(&mut tree, &Step::MakeDirectory(("", "a")), 0).unwrap();
    apply(&mut tree, &Step::Create(("a", "x")), 1).unwrap();
    apply(&mut tree, &Step::SyncDirectory("a"), 2).unwrap();
    assert!(!is_synced(&tree, Path::new("a/x")));
    assert!(durable(&tree).is_empty());
    apply(&mut tree, &Step::SyncDirectory(""), 3).unwrap();
    assert!(is_synced(&tree, Path::new("a/x")), "{:?}", unsynced(&tree));
    assert_eq!(durable(&tree), visible(&tree));
}

#[test]
fn inodes_and_space_are_freed() {
    let mut tree = Tree::new(10, OWNER);
    for round in 0..100 {
        let name = (ROOT, OsStr::new("x"));
        let ino = tree
            .make("create", name, Node::File(File::default()), OWNER)
            .unwrap();
        assert_eq!(
            tree.write(ino, 0, &[1; 8 * 4096]).unwrap(),
            8 * 4096,
            "round {round}"
        );
        assert_eq!(tree.write(ino, 8 * 4096, &[1; 3 * 4096]).unwrap(), 2 * 4096);
        assert_eq!(tree.write(ino, 10 * 4096, &[1]).unwrap_err(), Errno::ENOSPC);
        assert_eq!(
            tree.write(ino, 4096, &[2; 4096]).unwrap(),
            4096,
            "what is there may change"
        );
        tree.unlink(name.0, name.1).unwrap();
        assert_eq!(tree.space(), (0, 10));
        tree.sync_directory(ROOT).unwrap();
        assert_eq!(tree.count(), 1, "the root is left");
    }
}
