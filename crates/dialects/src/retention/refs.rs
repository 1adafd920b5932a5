//! A ref for each blob: `refs/ai/blobs/<id>`.

use std::collections::HashSet;

use gix::ObjectId;
use gix::refs::transaction::{Change, LogChange, PreviousValue, RefEdit, RefLog};
use gix::refs::{FullName, Target};

use super::Done;
use super::error::RetentionError;
use super::repository::{Held, Repository};

/// Where the refs are.
const PREFIX: &str = "refs/ai/blobs/";

pub(super) fn retain(repository: &Repository, held: &[Held]) -> Result<Done, RetentionError> {
    let there = there(repository)?;
    let new = held.iter().filter(|held| !there.contains(&held.id));
    let edits = new.map(|held| edit(repository, held.id, Some(held.id)));
    change(repository, edits.collect::<Result<_, _>>()?)
}

pub(super) fn release(
    repository: &Repository,
    going: &HashSet<ObjectId>,
) -> Result<Done, RetentionError> {
    let there = there(repository)?;
    let going = there.into_iter().filter(|id| going.contains(id));
    let edits = going.map(|id| edit(repository, id, None));
    change(repository, edits.collect::<Result<_, _>>()?)
}

fn change(repository: &Repository, edits: Vec<RefEdit>) -> Result<Done, RetentionError> {
    let changed = edits.len();
    if changed > 0 {
        repository.edit_refs(edits, true)?;
    }
    Ok(Done {
        changed,
        holder: None,
    })
}

/// The blobs that have their ref.
fn there(repository: &Repository) -> Result<HashSet<ObjectId>, RetentionError> {
    let error = |error| repository.error(error);
    let references = repository.git.references().map_err(error)?;
    let mut found = HashSet::new();
    for reference in references.prefixed(PREFIX).map_err(error)? {
        let reference = reference.map_err(error)?;
        let Some(id) = reference.try_id() else {
            continue;
        };
        if reference.name().as_bstr() == name(id.detach()).as_str() {
            found.insert(id.detach());
        }
    }
    Ok(found)
}

fn name(id: ObjectId) -> String {
    format!("{PREFIX}{id}")
}

/// Sets the ref of a blob, or takes it away.
fn edit(
    repository: &Repository,
    id: ObjectId,
    new: Option<ObjectId>,
) -> Result<RefEdit, RetentionError> {
    let full = FullName::try_from(name(id)).map_err(|error| repository.other_error(error))?;
    let change = match new {
        Some(new) => Change::Update {
            log: LogChange::default(),
            expected: PreviousValue::MustNotExist,
            new: Target::Object(new),
        },
        None => Change::Delete {
            expected: PreviousValue::MustExistAndMatch(Target::Object(id)),
            log: RefLog::AndReference,
        },
    };
    Ok(RefEdit {
        change,
        name: full,
        deref: false,
    })
}
