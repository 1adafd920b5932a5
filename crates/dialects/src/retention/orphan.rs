//! One commit without a parent, `refs/ai/uploads`, whose tree has the blobs of all logs under names
//! that people can read: `<id of the log>/<kind of object>/<its id>/<number>-<label>`. Paths without
//! a log, as older versions write them, belong to none.
//!
//! Each change makes a new commit without a parent, so that what is let go is held by no older
//! one.

use std::collections::{BTreeMap, HashSet};
use std::fs;

use annals_domain::Kind;
use gix::ObjectId;
use gix::actor::Signature;
use gix::objs::tree::{Entry, EntryKind};
use gix::objs::{Commit, Tree};
use gix::refs::transaction::{Change, LogChange, PreviousValue, RefEdit};
use gix::refs::{FullName, Target};

use super::blobs::Place;
use super::error::RetentionError;
use super::owner::{Belongs, Owner};
use super::packed_refs::{self, Locked};
use super::repository::{Done, Held, Repository};

/// The ref.
const NAME: &str = "refs/ai/uploads";
/// Levels of its tree below the folder of a log.
const LEVELS: usize = 3;
/// Characters of a label that go into a name.
const LONGEST_LABEL: usize = 80;

/// Paths, and the blobs there.
type Files = BTreeMap<Vec<String>, ObjectId>;

pub(super) fn retain(
    repository: &Repository,
    held: &[Held],
    owner: &Owner,
) -> Result<Done, RetentionError> {
    let (old, mut files) = there(repository)?;
    let own = files
        .iter()
        .filter(|(path, _)| whose(path, owner) == Belongs::Own);
    let before: HashSet<ObjectId> = own.map(|(_, id)| *id).collect();
    let ids = held.iter().map(|held| held.id);
    let (new, unread) = repository.readable(ids.filter(|id| !before.contains(id)));
    let bad: HashSet<ObjectId> = unread.iter().map(|unread| unread.id).collect();
    for held in held.iter().filter(|held| !bad.contains(&held.id)) {
        for place in &held.places {
            insert(&mut files, path(owner, place), held.id);
        }
    }
    let changed = new.len();
    repository.freshen(new)?;
    let holder = write(repository, old, &files)?;
    Ok(Done {
        changed,
        holder,
        unread,
        ..Done::default()
    })
}

pub(super) fn release(
    repository: &Repository,
    going: &HashSet<ObjectId>,
    owner: &Owner,
) -> Result<Done, RetentionError> {
    let (old, mut files) = there(repository)?;
    let mut changed = HashSet::new();
    files.retain(|path, id| {
        let goes = going.contains(id) && owner.may_release(whose(path, owner));
        if goes {
            changed.insert(*id);
        }
        !goes
    });
    let others = files
        .iter()
        .filter(|(path, _)| whose(path, owner) != Belongs::Own);
    let others: HashSet<ObjectId> = others.map(|(_, id)| *id).collect();
    let holder = write(repository, old, &files)?;
    Ok(Done {
        changed: changed.len(),
        held_by_others: others.intersection(going).count(),
        holder,
        ..Done::default()
    })
}

/// Whose a path is: below the folder of a log it is that log's.
fn whose(path: &[String], owner: &Owner) -> Belongs {
    let namespace = path.first().filter(|_| path.len() > LEVELS);
    owner.whose(namespace.map(String::as_str))
}

/// Puts a blob at its path, in place of the one with the same number: a label may have been
/// removed since.
fn insert(files: &mut Files, path: Vec<String>, id: ObjectId) {
    if let [above @ .., name] = path.as_slice() {
        let number = |name: &str| name.split('-').next().map(str::to_owned);
        let mut first = above.to_vec();
        first.push(number(name).unwrap_or_default());
        let same = |other: &[String]| match other {
            [others @ .., other] => others == above && number(other) == number(name),
            [] => false,
        };
        let there = files.range(first..).map(|(path, _)| path);
        let there: Vec<Vec<String>> = there.take_while(|path| same(path)).cloned().collect();
        for other in there {
            files.remove(&other);
        }
    }
    files.insert(path, id);
}

/// What was read of the ref: the commit and its tree.
type Old = Option<(ObjectId, ObjectId)>;

/// The commit and its tree, and the files in it.
fn there(repository: &Repository) -> Result<(Old, Files), RetentionError> {
    let error = |error| repository.error(error);
    let foreign = |reason: String| repository.foreign(NAME, reason);
    let packed = packed_refs::ids(repository, "refs/ai")?;
    repository.check_free(&["refs/ai"], &packed)?;
    let reference = repository.git.try_find_reference(NAME).map_err(error)?;
    let Some(reference) = reference else {
        return Ok((None, Files::new()));
    };
    let id = reference.try_id().map(gix::Id::detach);
    let id = id.ok_or_else(|| foreign("it is a symbolic ref".to_owned()))?;
    // What a gc removed while an older version of annals was used is rebuilt.
    let gone = || Ok((Some((id, ObjectId::null(id.kind()))), Files::new()));
    let Some(object) = repository.git.try_find_object(id).map_err(error)? else {
        return gone();
    };
    let kind = object.kind;
    let commit = object.try_into_commit();
    let commit = commit.map_err(|_| foreign(format!("it is a {kind}, and not a commit")))?;
    if commit.parent_ids().next().is_some() {
        return Err(foreign("its commit has a parent".to_owned()));
    }
    let tree = commit.tree_id().map_err(error)?.detach();
    let mut files = Files::new();
    if !repository.git.has_object(tree) {
        return gone();
    }
    read(repository, tree, &mut Vec::new(), &mut files)?
        .map_or(Ok(()), |path| Err(foreign(format!("it has {path:?}"))))?;
    Ok((Some((id, tree)), files))
}

/// Reads a tree; the answer is a path that has something else than blobs three levels down, or
/// four.
fn read(
    repository: &Repository,
    tree: ObjectId,
    above: &mut Vec<String>,
    files: &mut Files,
) -> Result<Option<String>, RetentionError> {
    let found = repository.git.find_tree(tree);
    let found = found.map_err(|error| repository.error(error))?;
    for entry in found.iter() {
        let entry = entry.map_err(|error| repository.error(error))?;
        above.push(entry.filename().to_string());
        let inner = entry.object_id();
        match entry.mode().kind() {
            EntryKind::Tree if above.len() <= LEVELS => {
                if let Some(path) = read(repository, inner, above, files)? {
                    return Ok(Some(path));
                }
            }
            EntryKind::Blob if above.len() >= LEVELS => {
                files.insert(above.clone(), inner);
            }
            _ => return Ok(Some(above.join("/"))),
        }
        above.pop();
    }
    Ok(None)
}

/// Makes the ref hold these files; the answer is the new commit, if there is one.
fn write(
    repository: &Repository,
    old: Old,
    files: &Files,
) -> Result<Option<String>, RetentionError> {
    let expected = match old {
        None => PreviousValue::MustNotExist,
        Some((commit, _)) => PreviousValue::MustExistAndMatch(Target::Object(commit)),
    };
    if files.is_empty() {
        return old
            .map_or(Ok(()), |(commit, _)| delete(repository, commit))
            .map(|()| None);
    }
    let paths: Vec<(&[String], ObjectId)> = files.iter().map(|(path, id)| (&**path, *id)).collect();
    let mut trees = Vec::new();
    let tree = write_tree(repository, &paths, &mut trees)?;
    if old.is_some_and(|(_, known)| known == tree) {
        return Ok(None);
    }
    let author = Signature {
        name: "annals log retain".into(),
        email: "annals@localhost".into(),
        time: gix::date::Time::now_local_or_utc(),
    };
    let commit = Commit {
        tree,
        parents: Vec::new().into(),
        author: author.clone(),
        committer: author,
        encoding: None,
        message: "Blobs that a log names\n\nWritten by annals log retain --as orphan.\n".into(),
        extra_headers: Vec::new(),
    };
    let commit = repository.git.write_object(&commit);
    let commit = commit.map_err(|error| repository.error(error))?.detach();
    // Trees that are there already were let go once.
    trees
        .iter()
        .try_for_each(|id| repository.check_content(*id))?;
    repository.freshen(trees.iter().copied())?;
    trees.push(commit);
    repository.sync_objects(&trees)?;
    let update = Change::Update {
        log: LogChange::default(),
        expected,
        new: Target::Object(commit),
    };
    edit(repository, update)?;
    repository.check_all_there(trees)?;
    Ok(Some(commit.to_string()))
}

fn edit(repository: &Repository, change: Change) -> Result<(), RetentionError> {
    let name = FullName::try_from(NAME).map_err(|error| repository.other_error(error))?;
    let edit = RefEdit {
        change,
        name,
        deref: false,
    };
    repository.set_ref(edit)
}

/// Removes the ref, from its own file and from `packed-refs`, if it still names this commit.
fn delete(repository: &Repository, commit: ObjectId) -> Result<(), RetentionError> {
    let file = repository.git.common_dir().join(NAME);
    let _lock = repository.lock_ref(&file)?;
    let mut packed = Locked::take(repository)?;
    let current = match fs::read_to_string(&file) {
        Ok(text) => text.trim().parse().ok(),
        Err(_) => packed
            .under(NAME)
            .into_iter()
            .find(|(name, _)| name == NAME)
            .map(|(_, id)| id),
    };
    if current != Some(commit) {
        return Err(RetentionError::Changed {
            path: repository.path().to_owned(),
            name: NAME,
        });
    }
    repository.remove(&file)?;
    match packed.remove(NAME) {
        true => packed.write(),
        false => Ok(()),
    }
}

/// Writes a tree, and those below it, of paths that are sorted.
fn write_tree(
    repository: &Repository,
    paths: &[(&[String], ObjectId)],
    written: &mut Vec<ObjectId>,
) -> Result<ObjectId, RetentionError> {
    let mut entries = Vec::new();
    let first = |(path, _): &(&[String], ObjectId)| path.first().cloned().unwrap_or_default();
    for group in paths.chunk_by(|a, b| first(a) == first(b)) {
        let Some(one) = group.first() else { continue };
        let filename = first(one).into();
        let (mode, oid) = match one {
            ([_], blob) => (EntryKind::Blob.into(), *blob),
            _ => {
                let below = group
                    .iter()
                    .map(|(path, id)| (path.get(1..).unwrap_or(&[]), *id));
                let below: Vec<_> = below.collect();
                (
                    EntryKind::Tree.into(),
                    write_tree(repository, &below, written)?,
                )
            }
        };
        entries.push(Entry {
            mode,
            filename,
            oid,
        });
    }
    entries.sort();
    let tree = repository.git.write_object(&Tree { entries });
    let tree = tree.map_err(|error| repository.error(error))?.detach();
    written.push(tree);
    Ok(tree)
}

/// Where a blob is in the tree.
fn path(owner: &Owner, place: &Place) -> Vec<String> {
    let kind = match place.kind {
        Kind::ContextSnapshot => "snapshots",
        Kind::PatchSet => "patch_sets",
        Kind::Evidence => "evidence",
        Kind::ToolInvocation => "tool_invocations",
        _ => "others",
    };
    let label = harmless(&place.label);
    let number = format!("{:04}", place.number);
    let name = match label.as_str() {
        "" => number,
        label => format!("{number}-{label}"),
    };
    let log = owner.name.clone();
    vec![log, kind.to_owned(), place.id.to_string(), name]
}

/// A label as a part of a file's name: letters, digits and a few signs, in any language, and `_` for
/// all others.
fn harmless(label: &str) -> String {
    let mut name = String::new();
    for character in label.chars() {
        match character {
            '.' | '-' | '+' | '@' | '=' | '_' => name.push(character),
            letter if letter.is_alphanumeric() => name.push(letter),
            _ if name.ends_with('_') => {}
            _ => name.push('_'),
        }
    }
    let name: String = name.chars().take(LONGEST_LABEL).collect();
    name.trim_matches(['_', '.']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_become_names_that_do_no_harm() {
        for (label, name) in [
            ("src/main.rs", "src_main.rs"),
            ("https://docs.rs/a?b=c", "https_docs.rs_a_b=c"),
            ("../../etc/passwd", "etc_passwd"),
            (".git", "git"),
            ("größe 日本", "größe_日本"),
            ("a\0b\nc\u{202e}d", "a_b_c_d"),
            ("///", ""),
        ] {
            assert_eq!(harmless(label), name);
            assert!(!harmless(label).contains(['/', '\0', '\\']));
        }
        assert_eq!(harmless(&"x".repeat(500)).len(), LONGEST_LABEL);
    }
}
