//! What is accepted of a context snapshot, and what happens then.

use super::{
    AddItem, AttachBlob, BlobAttached, Event, FinalizeSnapshot, Finalized, ItemAdded, NewItem,
    OpenSnapshot, Opened, State,
};
use crate::pieces::Pieces;
use crate::refusal::not_blank;
use crate::world::{Decided, Emitted, World};
use crate::{AnyEvent, DecideError, Kind, Meta, Refusal, SnapshotId};

/// How many items without a blob a refusal names.
const NAMED_ITEMS: usize = 20;

fn emit(id: SnapshotId, event: impl Into<Event>, pieces: Pieces) -> Emitted {
    Emitted {
        stream: id.stream(),
        event: AnyEvent::Snapshot(event.into()),
        pieces,
    }
}

/// Reads an open snapshot: for each item, whether its blob is there.
fn read_open<T>(
    world: &mut World,
    id: SnapshotId,
    asked: &'static str,
    read: impl FnOnce(&[bool]) -> Result<T, Refusal>,
) -> Result<T, DecideError> {
    match &*world.snapshot(id)? {
        State::Open { blobs } => Ok(read(blobs)?),
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
    let event = ItemAdded {
        index,
        kind: item.kind.clone(),
        path: pieces.text(item.path.as_str()),
        preview: pieces.optional_text(item.preview.as_deref()),
        blob: item.blob,
    };
    Ok(emit(id, event, pieces))
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
    let index = read_open(world, command.snapshot, "add_item", |blobs| {
        next_index(blobs.len())
    })?;
    Ok(vec![item_added(command.snapshot, index, &command.item)?])
}

pub(crate) fn attach_blob(world: &mut World, command: &AttachBlob, _: &Meta) -> Decided {
    read_open(world, command.snapshot, "attach_blob", |blobs| {
        if blobs.get(command.item as usize).is_some() {
            return Ok(());
        }
        let (item, count) = (command.item, blobs.len());
        let reason =
            format!("there is no item {item}; the snapshot has {count} items, numbered from 0");
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

fn all_have_blobs(blobs: &[bool]) -> Result<(), Refusal> {
    let lacking = || blobs.iter().enumerate().filter(|(_, has_blob)| !**has_blob);
    let count = lacking().count();
    if count == 0 {
        return Ok(());
    }
    let mut named: Vec<String> = lacking()
        .take(NAMED_ITEMS)
        .map(|(index, _)| index.to_string())
        .collect();
    if count > NAMED_ITEMS {
        named.push(format!("and {} more", count - NAMED_ITEMS));
    }
    let reason = format!(
        "{count} of {} items have no blob yet: {}; attach_blob each of them first",
        blobs.len(),
        named.join(", ")
    );
    Err(Refusal::invalid("items", reason))
}
