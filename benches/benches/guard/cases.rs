//! The cases that are counted within a function: everything but the store.

use std::sync::Arc;

use annals::domain::session::Event as SessionEvent;
use annals::domain::{ActorRef, AnyEvent, Emitted, Kind, Timestamp};
use annals::projections::{Catalogue, Entry, Fold, ObjectView};
use annals::wire::{Envelope, decode, encode};
use annals_dialects::secrets::Secrets;
use annals_event_log::memory::MemoryLog;
use annals_event_log::tree::{Frontier, Headers};
use annals_event_log::{Append, EventLog, Position, Prepared, Record};
use bytes::Bytes;
use chrono::DateTime;
use futures::executor::block_on;

use crate::case::{Case, Way, counted};
use crate::history::{self, id};
use crate::texts;

/// Bytes of a chunk of the store, about.
const CHUNK: usize = 64 * 1024;
/// Leaves that are hashed.
const LEAVES: usize = 1_000;
/// Events that the catalogue folds, at least.
const FOLDED: usize = 1_000;
/// Types of events that are encoded and decoded, one of each: with names and without, with
/// much content and with none.
const TYPES: [&str; 8] = [
    "intent.submitted",
    "plan.drafted",
    "task.created",
    "run.created",
    "run.tool_invoked",
    "run.usage_recorded",
    "pipeline.frame_pushed",
    "session.command_received",
];

pub(crate) fn all() -> Vec<Case> {
    let within = |(name, case)| Case {
        name,
        way: Way::Within(case),
    };
    let cases: [(&'static str, fn()); 12] = [
        ("append_prepare", append_prepare),
        ("catalogue_fold", catalogue_fold),
        ("gate_decide_push", gate_decide_push),
        ("record_decode", record_decode),
        ("secrets_64_kib", secrets_64_kib),
        ("tree_leaves", tree_leaves),
        ("view_fold_intent", || view_fold(Kind::Intent)),
        ("view_fold_pipeline", || view_fold(Kind::ContextPipeline)),
        ("view_fold_run", || view_fold(Kind::Run)),
        ("view_json", view_json),
        ("wire_decode", wire_decode),
        ("wire_encode", wire_encode),
    ];
    cases.map(within).to_vec()
}

/// One append of all events of a history: checked, encoded and hashed.
fn append_prepare() {
    let mut whole: Option<Append> = None;
    for append in history::appends() {
        match &mut whole {
            None => whole = Some(append),
            Some(whole) => {
                whole.events.extend(append.events);
                whole.blobs.extend(append.blobs);
            }
        }
    }
    let whole = whole.expect("a history is not empty");
    assert!(whole.events.len() > 200);
    counted(
        || whole.clone(),
        |append| Prepared::new(append).expect("an append"),
    );
}

/// A chunk's worth of records read from their bytes.
fn record_decode() {
    let (records, _) = history::records(1);
    let mut room = CHUNK;
    let mut chunk = Vec::new();
    for record in &records {
        let bytes = record.as_bytes().clone();
        let Some(rest) = room.checked_sub(bytes.len()) else {
            break;
        };
        room = rest;
        chunk.push(bytes);
    }
    assert!(chunk.len() < records.len(), "the history fills a chunk");
    let read = |bytes: Bytes| Record::decode(bytes).expect("a record");
    counted(
        || chunk.clone(),
        |chunk| chunk.into_iter().map(read).collect::<Vec<_>>(),
    );
}

/// The leaves of a thousand records, and the tree over them.
fn tree_leaves() {
    let (records, _) = history::records(4);
    let headers: Vec<&[u8]> = records
        .iter()
        .map(Record::header_bytes)
        .take(LEAVES)
        .collect();
    assert_eq!(headers.len(), LEAVES);
    counted(
        || (),
        |()| {
            let mut messages = Headers::default();
            headers.iter().for_each(|header| messages.push(header));
            let mut frontier = Frontier::default();
            frontier.extend(&messages.leaves(), |_| {});
            frontier.root()
        },
    );
}

/// One example of each of the types.
fn examples() -> Vec<Emitted> {
    let samples = annals::wire::sample::samples();
    let example = |name: &&str| {
        let found = samples.iter().find(|it| it.event.event_type() == *name);
        found
            .unwrap_or_else(|| panic!("no example of {name}"))
            .clone()
    };
    TYPES.iter().map(example).collect()
}

fn envelope() -> Envelope {
    Envelope {
        event_id: id(1),
        occurred_at: Timestamp::from(DateTime::UNIX_EPOCH),
        actor: ActorRef::agent("coder"),
        correlation: None,
        causation: None,
    }
}

fn wire_encode() {
    let (examples, envelope) = (examples(), envelope());
    let write = |emitted| encode(emitted, &envelope, &mut || [7; 16]).expect("an example");
    counted(|| (), |()| examples.iter().map(write).collect::<Vec<_>>());
}

fn wire_decode() {
    let (examples, envelope) = (examples(), envelope());
    let log = MemoryLog::new(id(1));
    for (number, emitted) in (1..).zip(&examples) {
        let encoded = encode(emitted, &envelope, &mut || [7; 16]).expect("an example");
        let append = Append {
            batch: id(number),
            request: Bytes::new(),
            events: vec![encoded.event],
            expectations: Vec::new(),
            blobs: encoded.blobs,
        };
        block_on(log.append(append)).expect("room for an example");
    }
    let page = block_on(log.read(annals_event_log::Query::all(Position(1))));
    let records = page.expect("a log in memory").records;
    let read = |record| decode(record).expect("an example");
    counted(|| (), |()| records.iter().map(read).collect::<Vec<_>>());
}

fn fold(entries: &[Entry], kind: Kind) -> ObjectView {
    let (_, number) = history::VIEWED
        .into_iter()
        .find(|(it, _)| *it == kind)
        .expect("one of them");
    let mut fold = Fold::new(kind, id(number));
    entries.iter().for_each(|entry| fold.apply(entry));
    fold.view().expect("an object that is there")
}

/// One object's stream folded into its view.
fn view_fold(kind: Kind) {
    let (_, number) = history::VIEWED
        .into_iter()
        .find(|(it, _)| *it == kind)
        .expect("one of them");
    let mut entries = history::entries();
    entries.retain(|entry| entry.stream.id == id(number));
    assert!(entries.len() > 20, "{kind} has {} entries", entries.len());
    counted(|| (), |()| fold(&entries, kind));
}

/// Three views as JSON.
fn view_json() {
    let entries = history::entries();
    let views = history::VIEWED.map(|(kind, _)| fold(&entries, kind));
    let write = |view: &ObjectView| view.to_json().expect("JSON");
    counted(|| (), |()| views.iter().map(write).collect::<Vec<_>>());
}

/// A thousand events from a log in memory into the catalogue.
fn catalogue_fold() {
    let (records, blobs) = history::records(4);
    assert!(records.len() > FOLDED);
    let log = Arc::new(MemoryLog::new(id(1)));
    block_on(log.append_records(records, blobs)).expect("records that follow each other");
    counted(Catalogue::new, |catalogue| {
        block_on(catalogue.catch_up(log.as_ref())).expect("a log in memory");
        catalogue
    });
}

/// What the gate says to a push.
fn gate_decide_push() {
    let (given, push) = (history::session(), history::push());
    let accepted = |emitted: &Emitted| {
        matches!(
            &emitted.event,
            AnyEvent::Session(SessionEvent::CommandAccepted(_))
        )
    };
    let decided = given.decide(push.clone()).expect("a verdict");
    assert!(decided.iter().any(accepted), "{decided:?}");
    counted(
        || push.clone(),
        |push| given.decide(push).expect("a verdict"),
    );
}

/// Source code without a secret, looked through.
fn secrets_64_kib() {
    let (secrets, text) = (Secrets::standard(), texts::source(64 * 1024));
    let found = secrets.redact(&text).hits;
    assert!(found.is_empty(), "{found:?}");
    counted(|| (), |()| secrets.redact(&text));
}
