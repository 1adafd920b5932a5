//! What is accepted of a context snapshot, and what happens then.

use super::{
    AddItem, AttachBlob, BlobAttached, Event, FinalizeSnapshot, Finalized, ItemAdded, ItemState,
    NewItem, OpenSnapshot, Opened, State,
};
use crate::pieces::Pieces;
use crate::refusal::not_blank;
use crate::world::{Decided, Emitted, World};
use crate::{AnyEvent, DecideError, GitOid, Kind, Meta, Payload, Refusal, SnapshotId};

/// How many items without a blob a refusal names.
const NAMED_ITEMS: usize = 20;

fn emit(id: SnapshotId, event: impl Into<Event>, pieces: Pieces) -> Emitted {
    Emitted {
        stream: id.stream(),
        event: AnyEvent::Snapshot(event.into()),
        pieces,
    }
}

/// Reads the items of an open snapshot.
fn read_open<T>(
    world: &mut World,
    id: SnapshotId,
    asked: &'static str,
    read: impl FnOnce(&[ItemState]) -> Result<T, Refusal>,
) -> Result<T, DecideError> {
    match &*world.snapshot(id)? {
        State::Open { items } => Ok(read(items)?),
        state @ (State::Absent | State::Finalized) => {
            let (kind, state) = (Kind::ContextSnapshot, state.name().into());
            Err(Refusal::Transition {
                kind,
                id: id.0,
                state,
                asked,
                allowed: "open",
            }
            .into())
        }
    }
}

/// The number of the item that comes after `count` others.
fn next_index(count: usize) -> Result<u32, Refusal> {
    u32::try_from(count).map_err(|_| Refusal::invalid("item", "the snapshot has too many items"))
}

fn item_added(id: SnapshotId, index: u32, item: &NewItem) -> Result<Emitted, Refusal> {
    not_blank("path", &item.path)?;
    not_blank("kind", item.kind.as_str())?;
    let mut pieces = Pieces::new();
    let mut event = ItemAdded {
        index,
        kind: item.kind.clone(),
        path: pieces.text(item.path.as_str()),
        preview: pieces.optional_text(item.preview.as_deref()),
        blob: item.blob,
        content: None,
        content_blob: None,
    };
    if let Some(content) = &item.content {
        event.blob = None;
        event.content_blob = Some(pieces.text(blob_of(item, content)?.to_string()));
        event.content = Some(pieces.attachment(content.0.clone()));
    }
    Ok(emit(id, event, pieces))
}

/// The git blob of an item's content, checked against the one that is given. It is a SHA-1 where
/// nothing says otherwise, as git-internal and most repositories have them.
fn blob_of(item: &NewItem, content: &Payload) -> Result<GitOid, Refusal> {
    let computed = match item.blob {
        Some(given) => given.same_hash_of_blob(&content.0),
        None => GitOid::sha1_of_blob(&content.0),
    };
    let computed = computed.map_err(|attack| {
        let reason = format!("{attack}; give the item its blob of 64 hex digits (SHA-256)");
        Refusal::invalid("content", reason)
    })?;
    match item.blob {
        Some(given) if given != computed => {
            let path: String = item.path.chars().take(100).collect();
            let reason = format!(
                "it is {given}, and the content given for {path:?} is the blob {computed}; leave \
                 one of them out or correct it"
            );
            Err(Refusal::invalid("blob", reason))
        }
        _ => Ok(computed),
    }
}

pub(crate) fn open(world: &mut World, command: &OpenSnapshot, meta: &Meta) -> Decided {
    let id = command.id.unwrap_or(SnapshotId(meta.new_id));
    if let Some(asked) = command.id {
        world.unused(asked.0)?;
    }
    world.absent(id.stream())?;
    let mut pieces = Pieces::new();
    let event = Opened {
        strategy: command.selection_strategy,
        summary: pieces.optional_text(command.summary.as_deref()),
    };
    let mut emitted = vec![emit(id, event, pieces)];
    for (index, item) in command.items.iter().enumerate() {
        emitted.push(item_added(id, next_index(index)?, item)?);
    }
    Ok(emitted)
}

pub(crate) fn add_item(world: &mut World, command: &AddItem, _: &Meta) -> Decided {
    let index = read_open(world, command.snapshot, "add_item", |items| {
        next_index(items.len())
    })?;
    Ok(vec![item_added(command.snapshot, index, &command.item)?])
}

pub(crate) fn attach_blob(world: &mut World, command: &AttachBlob, _: &Meta) -> Decided {
    read_open(world, command.snapshot, "attach_blob", |items| {
        let item = command.item;
        let reason = match items.get(item as usize) {
            None => {
                let count = items.len();
                format!("there is no item {item}; the snapshot has {count} items, numbered from 0")
            }
            Some(ItemState::Kept) => {
                format!("the log has the content of item {item}, and its blob with it")
            }
            Some(_) => return Ok(()),
        };
        Err(Refusal::invalid("item", reason))
    })?;
    let event = BlobAttached {
        index: command.item,
        blob: command.blob,
    };
    Ok(vec![emit(command.snapshot, event, Pieces::new())])
}

pub(crate) fn finalize(world: &mut World, command: &FinalizeSnapshot, _: &Meta) -> Decided {
    read_open(world, command.snapshot, "finalize_snapshot", all_have_blobs)?;
    let mut pieces = Pieces::new();
    let event = Finalized {
        summary: pieces.optional_text(command.summary.as_deref()),
    };
    Ok(vec![emit(command.snapshot, event, pieces)])
}

/// What becomes of a snapshot that a run gets: it is what the run saw, and does not change from then
/// on. One that lacks something is refused.
pub(crate) fn finalize_for_run(
    world: &mut World,
    id: SnapshotId,
) -> Result<Option<Emitted>, DecideError> {
    let state = world.snapshot(id)?;
    let State::Open { items } = &*state else {
        return Ok(None);
    };
    if let Some(lacks) = lacking(items) {
        let reason = format!(
            "{lacks}; a run's snapshot is complete: give each its blob with attach_blob, or attach a \
             snapshot whose items have their content"
        );
        return Err(Refusal::invalid("snapshot", reason).into());
    }
    let event = Finalized { summary: None };
    Ok(Some(emit(id, event, Pieces::new())))
}

fn all_have_blobs(items: &[ItemState]) -> Result<(), Refusal> {
    lacking(items).map_or(Ok(()), |lacks| {
        let reason = format!("{lacks}; attach_blob each of them first");
        Err(Refusal::invalid("items", reason))
    })
}

/// Which items have neither a blob nor content; `None` where all have theirs.
fn lacking(items: &[ItemState]) -> Option<String> {
    let lacking = || {
        let numbered = items.iter().enumerate();
        numbered.filter(|(_, item)| **item == ItemState::Lacking)
    };
    let count = lacking().count();
    if count == 0 {
        return None;
    }
    let mut named: Vec<String> = lacking()
        .take(NAMED_ITEMS)
        .map(|(index, _)| index.to_string())
        .collect();
    if count > NAMED_ITEMS {
        named.push(format!("and {} more", count - NAMED_ITEMS));
    }
    Some(format!(
        "{count} of {} items have no blob yet: {}",
        items.len(),
        named.join(", ")
    ))
}
