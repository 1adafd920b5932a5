//! The keys of the catalogue's rows, byte for byte.
//!
//! ```text
//! key                                                    value
//! "o", id's digits from the last to the first (16)       the object: row.rs
//! "k", kind, status, position                            id
//! "a", kind, length of actor id (u16), actor id, block   nothing
//! "t", kind, tag (16), position                          id
//! "e", kind, external id (16), position                  id
//! "b", target (16), relation, position, number (u32)     id of the source
//! "f", source (16), relation, number (u32)               id of the target
//! "s", plan (16), step (u32)                             u8 status, id of its task
//! "l", id (16), number (u32)                             a tag: name, value
//! "x", id (16), number (u32)                             an external id: name, value
//! "n", id (16), number (u32)                             an alias
//! "u", alias (16)                                        id of its stream
//! "m", session (16), relation, run or node (16)          u32 number; a node's task
//! "w", ticket (16)                                       where it was read: work_items.rs
//! "i", position, number (u32)                            the ticket that was new there
//! "q", what it waits for (u8), position                  id of an intent in the inbox
//! "c", facet (u8), word (16), position                   id of an intent
//! "h", tool call (16), position                          nothing: a later event on the call
//! "d", verdict (u8), by (u8), position                   tool call that was decided on there
//! "r", run (16), position                                tool call that was decided on there
//! "g", position                                          tool call that was decided on for a session
//! "y", tool call (16), position                          tool call that used a permission given with it
//! ```
//!
//! A block is 256 positions. "a" says that among the objects that began within
//! a block there is one that the actor created: one row serves all of them.
//! Numbers are big-endian, a position is a u64: that of the first event on the
//! object that the row leads to, so that every list comes in the order in which
//! its objects were created. A kind is its number in git-internal's registry, a
//! status and a relation are the numbers in status.rs and relation.rs. A tag or an
//! external id is the first half of the SHA-256 of its name, or of its name, a zero byte and
//! its value; an alias is that of its text, and a word that of a type, a label or another facet
//! of an intent. "b" has every relation, "f" only those of one object to many. "m"
//! says which number in "f" a run has, or a node of the session's plans: the
//! first half of the SHA-256 of its id, which is also what stands for a ticket.

use annals_domain::Kind;
use annals_domain::run::{ToolDecider, ToolVerdict};
use annals_event_log::Digest;
use bytes::Bytes;
use uuid::Uuid;

use super::relation::Relation;
use super::row::{LabelMap, label};
use super::status::Status;
use super::waits::Waits;

/// Hex digits of an id.
pub(super) const DIGITS: usize = 32;
/// Bytes of an id.
const ID: usize = 16;
/// Bytes of a position.
const POSITION: usize = 8;

/// Positions of a block are those that differ in this many bits at most.
pub(super) const BLOCK_BITS: u32 = 8;

const OBJECT: u8 = b'o';
const BY_KIND: u8 = b'k';
const BY_ACTOR: u8 = b'a';
const BY_TAG: u8 = b't';
const BY_EXTERNAL_ID: u8 = b'e';
const EXTERNAL_ID: u8 = b'x';
const BACKWARD: u8 = b'b';
const FORWARD: u8 = b'f';
const STEP: u8 = b's';
const TAG: u8 = b'l';
const ALIAS: u8 = b'n';
const ALIAS_STREAM: u8 = b'u';
const MEMBER: u8 = b'm';
const WORK_ITEM: u8 = b'w';
const WORK_ITEM_PLACE: u8 = b'i';
const WAITING: u8 = b'q';
const FACET: u8 = b'c';
const LATER_OF_CALL: u8 = b'h';
const DECIDED: u8 = b'd';
const DECIDED_IN: u8 = b'r';
const GRANTED: u8 = b'g';
const USING: u8 = b'y';

fn key(table: u8, parts: &[&[u8]]) -> Bytes {
    let length = 1 + parts.iter().map(|part| part.len()).sum::<usize>();
    let mut key = Vec::with_capacity(length);
    key.push(table);
    parts.iter().for_each(|part| key.extend_from_slice(part));
    key.into()
}

/// A key of a known length, which needs no memory of its own: its parts one
/// behind the other, which have `N` bytes together.
fn fixed<const N: usize>(parts: &[&[u8]]) -> [u8; N] {
    let mut key = [0; N];
    let mut rest = key.as_mut_slice();
    for part in parts {
        let (here, behind) = rest.split_at_mut(part.len());
        here.copy_from_slice(part);
        rest = behind;
    }
    key
}

/// The key of an object.
pub(super) fn object(id: Uuid) -> Bytes {
    Bytes::copy_from_slice(&of_object(id))
}

/// The same, without memory of its own.
pub(super) fn of_object(id: Uuid) -> [u8; 1 + ID] {
    fixed(&[&[OBJECT], &reversed(id)])
}

/// What the keys of objects begin with whose ids end with digits: those digits
/// from the last to the first, as numbers below 16. Of an odd number of digits
/// the last one is left to [`ends_with`].
pub(super) fn objects_ending(reversed: &[u8]) -> Bytes {
    let (pairs, _) = reversed.as_chunks::<2>();
    let bytes: Vec<u8> = pairs.iter().map(|[a, b]| a << 4 | b).collect();
    key(OBJECT, &[&bytes])
}

/// Whether an id's digits from the last to the first begin with these.
pub(super) fn ends_with(id: Uuid, reversed_digits: &[u8]) -> bool {
    let bytes = reversed(id);
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.zip(reversed_digits).all(|(a, b)| a == *b)
}

/// The id in an object's key.
pub(super) fn object_id(key: &[u8]) -> Option<Uuid> {
    let (table, bytes) = key.split_first()?;
    let id = Uuid::from_slice(bytes).ok().filter(|_| *table == OBJECT)?;
    Some(Uuid::from_bytes(reversed(id)))
}

/// An id's digits from the last to the first. Twice is the id again.
pub(super) fn reversed(id: Uuid) -> [u8; ID] {
    let mut bytes = id.into_bytes();
    bytes.reverse();
    bytes.map(|byte| byte.rotate_left(4))
}

/// The prefix of the objects of a kind in a status.
pub(super) fn of_kind(kind: Kind, status: Option<Status>) -> Bytes {
    Bytes::copy_from_slice(&kind_list(kind, status))
}

fn kind_list(kind: Kind, status: Option<Status>) -> [u8; 3] {
    [BY_KIND, kind.number(), status.map_or(0, Status::code)]
}

/// The prefix of the blocks with objects of a kind that an actor created.
pub(super) fn of_actor(kind: Kind, actor_id: &str) -> Bytes {
    // A header cannot hold a longer id, so nothing is lost by saturating.
    let length = u16::try_from(actor_id.len()).unwrap_or(u16::MAX);
    let parts: [&[u8]; 3] = [&[kind.number()], &length.to_be_bytes(), actor_id.as_bytes()];
    key(BY_ACTOR, &parts)
}

/// The prefix of the objects of a kind that have a tag or an external id, with any
/// value or with this one.
pub(super) fn of_label(map: LabelMap, kind: Kind, name: &str, value: Option<&str>) -> Bytes {
    let table = match map {
        LabelMap::Tags => BY_TAG,
        LabelMap::ExternalIds => BY_EXTERNAL_ID,
    };
    let mut tag = label(name).as_bytes().to_vec();
    if let Some(value) = value {
        tag.push(0);
        tag.extend_from_slice(label(value).as_bytes());
    }
    key(table, &[&[kind.number()], &half(&tag)])
}

/// The first half of a SHA-256, which stands for what has no length of its own.
fn half(bytes: &[u8]) -> [u8; ID] {
    let Digest(digest) = Digest::of(bytes);
    let mut half = [0; ID];
    half.iter_mut().zip(digest).for_each(|(a, b)| *a = b);
    half
}

/// The prefix of the objects that name a target in a field.
pub(super) fn naming(target: Uuid, relation: Relation) -> Bytes {
    key(BACKWARD, &[target.as_bytes(), &[relation.code()]])
}

/// The prefix of all objects that name a target.
pub(super) fn naming_anyhow(target: Uuid) -> Bytes {
    key(BACKWARD, &[target.as_bytes()])
}

/// A row of a list: one of the prefixes above, and where the object began.
pub(super) fn listed(prefix: &Bytes, first: u64) -> Bytes {
    [prefix.as_ref(), &first.to_be_bytes()].concat().into()
}

/// The row of a block in such a list.
pub(super) fn block(prefix: &Bytes, first: u64) -> Bytes {
    listed(prefix, first >> BLOCK_BITS)
}

/// The row of an object among those of its kind in its status.
pub(super) fn in_kind(kind: Kind, status: Option<Status>, first: u64) -> [u8; 3 + POSITION] {
    fixed(&[&kind_list(kind, status), &first.to_be_bytes()])
}

/// The row of a source among those that name a target.
pub(super) fn backward(
    target: Uuid,
    relation: Relation,
    first: u64,
    number: u32,
) -> [u8; 2 + ID + POSITION + 4] {
    fixed(&[
        &[BACKWARD],
        target.as_bytes(),
        &[relation.code()],
        &first.to_be_bytes(),
        &number.to_be_bytes(),
    ])
}

/// The position in a row of a list, which follows the prefix.
pub(super) fn position_in(key: &[u8], prefix: &[u8]) -> Option<u64> {
    let (position, _) = key.get(prefix.len()..)?.split_first_chunk::<POSITION>()?;
    Some(u64::from_be_bytes(*position))
}

/// The relation in a row of those that name a target.
pub(super) fn relation_in(key: &[u8]) -> Option<Relation> {
    Relation::from_code(*key.get(1 + ID)?)
}

/// The prefix of what an object names in fields that hold many.
pub(super) fn named_by(source: Uuid) -> Bytes {
    key(FORWARD, &[source.as_bytes()])
}

/// The prefix of what an object names in one field that holds many.
pub(super) fn named_in(source: Uuid, relation: Relation) -> Bytes {
    key(FORWARD, &[source.as_bytes(), &[relation.code()]])
}

/// What an object names in a field that holds many.
pub(super) fn forward(source: Uuid, relation: Relation, number: u32) -> Bytes {
    key(
        FORWARD,
        &[source.as_bytes(), &[relation.code()], &number.to_be_bytes()],
    )
}

/// A step of a plan.
pub(super) fn step(plan: Uuid, index: u32) -> Bytes {
    key(STEP, &[plan.as_bytes(), &index.to_be_bytes()])
}

/// One of an object's tags or external ids.
pub(super) fn label_at(map: LabelMap, id: Uuid, number: u32) -> Bytes {
    [&labels(map, id)[..], &number.to_be_bytes()]
        .concat()
        .into()
}

/// The prefix of an object's tags or external ids.
pub(super) fn labels(map: LabelMap, id: Uuid) -> Bytes {
    let table = match map {
        LabelMap::Tags => TAG,
        LabelMap::ExternalIds => EXTERNAL_ID,
    };
    key(table, &[id.as_bytes()])
}

/// One of an object's aliases.
pub(super) fn alias(id: Uuid, number: u32) -> Bytes {
    key(ALIAS, &[id.as_bytes(), &number.to_be_bytes()])
}

/// The stream that has an alias.
pub(super) fn alias_stream(alias: &str) -> Bytes {
    key(ALIAS_STREAM, &[&half(alias.as_bytes())])
}

/// The prefix of an object's aliases.
pub(super) fn aliases(id: Uuid) -> Bytes {
    key(ALIAS, &[id.as_bytes()])
}

/// Which number a run has among those that a session names.
pub(super) fn run_of_session(session: Uuid, run: Uuid) -> Bytes {
    member(session, Relation::SessionRuns, run.as_bytes())
}

/// Which number a node of a session's plans has, and its task.
pub(super) fn node_of_session(session: Uuid, node: &str) -> Bytes {
    member(session, Relation::SessionTasks, &half(node.as_bytes()))
}

fn member(session: Uuid, relation: Relation, id: &[u8; ID]) -> Bytes {
    key(MEMBER, &[session.as_bytes(), &[relation.code()], id])
}

/// The bytes that stand for a ticket.
pub(super) fn work_item_mark(id: &str) -> [u8; ID] {
    half(id.as_bytes())
}

/// A ticket, by the bytes that stand for it.
pub(super) fn work_item(mark: &[u8]) -> Bytes {
    key(WORK_ITEM, &[mark])
}

/// The prefix of all tickets, in the order in which they were first read.
pub(super) fn work_items() -> Bytes {
    key(WORK_ITEM_PLACE, &[])
}

/// A ticket in that order.
pub(super) fn work_item_place(position: u64, number: u32) -> Bytes {
    key(
        WORK_ITEM_PLACE,
        &[&position.to_be_bytes(), &number.to_be_bytes()],
    )
}

/// What a list of intents is by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Facet {
    /// The status that follows from approvals and parts.
    Approval,
    /// The kind of work.
    Type,
    /// How risky it is.
    Risk,
    /// Where it comes from.
    Source,
    /// One of its labels.
    Label,
}

impl Facet {
    /// The number in keys.
    pub(super) fn code(self) -> u8 {
        match self {
            Facet::Approval => 1,
            Facet::Type => 2,
            Facet::Risk => 3,
            Facet::Source => 4,
            Facet::Label => 5,
        }
    }
}

/// The prefix of the intents of which a facet has this word.
pub(super) fn of_facet(facet: Facet, word: &str) -> Bytes {
    key(FACET, &[&[facet.code()], &half(label(word).as_bytes())])
}

/// The prefix of the intents that wait for something.
pub(super) fn all_waiting(waits: Waits) -> Bytes {
    key(WAITING, &[&[waits.code()]])
}

/// An intent among those.
pub(super) fn waiting(waits: Waits, first: u64) -> [u8; 2 + POSITION] {
    fixed(&[&[WAITING, waits.code()], &first.to_be_bytes()])
}

/// The prefix of the later events on a tool call.
pub(super) fn later_events_of(call: Uuid) -> Bytes {
    key(LATER_OF_CALL, &[call.as_bytes()])
}

/// An event on a tool call that was not the first.
pub(super) fn later_of_call(call: Uuid, position: u64) -> Bytes {
    listed(&later_events_of(call), position)
}

/// The prefix of the decisions on tool calls with this verdict by this.
pub(super) fn decided(verdict: ToolVerdict, by: ToolDecider) -> Bytes {
    // Their numbers are small; a test says so.
    let code = |code: u16| u8::try_from(code).unwrap_or(u8::MAX);
    key(DECIDED, &[&[code(verdict.code()), code(by.code())]])
}

/// The prefix of the decisions on tool calls of a run.
pub(super) fn decided_in(run: Uuid) -> Bytes {
    key(DECIDED_IN, &[run.as_bytes()])
}

/// The prefix of the decisions on tool calls that hold for a session.
pub(super) fn granted() -> Bytes {
    key(GRANTED, &[])
}

/// The prefix of the decisions that rest on a permission that was given with a tool call.
pub(super) fn using(grant: Uuid) -> Bytes {
    key(USING, &[grant.as_bytes()])
}

/// A row's key for people: its table, and the rest as hex digits or, of an object, its id.
pub(super) fn words(key: &[u8]) -> String {
    if let Some(id) = object_id(key) {
        return format!("of the object {id}");
    }
    let Some((table, rest)) = key.split_first() else {
        return "without a key".to_owned();
    };
    format!("{:?} {}", char::from(*table), hex::encode(rest))
}

/// Where a key has the id of the object that its row belongs to, in most tables.
pub(super) const OF_OBJECT: std::ops::Range<usize> = 1..1 + ID;

/// What of a row follows from content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Depends {
    /// Nothing.
    No,
    /// Some of the fields of an object.
    Object,
    /// All of it, from that of the object in its key.
    OnObjectInKey,
    /// All of it, from that of the object or stream in its value.
    OnObjectInValue,
    /// All of it, from aliases.
    OnAliases,
    /// All of it, from what sessions read.
    OnSessions,
    /// All of it, if it is of this relation, from the nodes of sessions' plans.
    OnNodes(Relation),
}

/// What of a row with this key follows from content.
pub(super) fn depends(key: &[u8]) -> Depends {
    let relation = || match relation_in(key) {
        Some(relation) => Depends::OnNodes(relation),
        None => Depends::No,
    };
    match key.first() {
        Some(&OBJECT) => Depends::Object,
        Some(&(TAG | EXTERNAL_ID | MEMBER)) => Depends::OnObjectInKey,
        Some(&(BY_TAG | BY_EXTERNAL_ID | FACET | ALIAS_STREAM)) => Depends::OnObjectInValue,
        Some(&ALIAS) => Depends::OnAliases,
        Some(&(WORK_ITEM | WORK_ITEM_PLACE)) => Depends::OnSessions,
        Some(&(FORWARD | BACKWARD)) => relation(),
        // Kinds, actors, steps, what waits, and decisions on tool calls.
        _ => Depends::No,
    }
}

/// Whether folds look at rows of this table. The others they only write.
pub(super) fn is_looked_at(key: &[u8]) -> bool {
    matches!(
        key.first(),
        Some(&(STEP | TAG | EXTERNAL_ID | FORWARD | MEMBER | WORK_ITEM))
    )
}
