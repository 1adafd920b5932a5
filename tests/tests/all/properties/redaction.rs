//! Redaction over random histories: after any removal no state changes but for names, what
//! is decided next is the same but in sessions, the catalogue is what it would be had the content never
//! been there, and headers and roots stay.

use std::collections::BTreeSet;

use annals::domain::redaction::Redacted;
use annals::domain::{ActorRef, Command, StreamRef};
use annals::event_log::{Content, Position, Record, Store, tree};
use annals::projections::Entry;
use annals::wire::names_of;
use annals::{RedactRequest, Target};
use futures::executor::block_on;
use proptest::prelude::*;
use proptest::sample::Index;
use regex::bytes::Regex;

use super::catalogue::{anew, dump};
use super::history::{History, read_all};
use super::{check, folds, histories};
use crate::stores::{Logs, over_each_store};

over_each_store! {
    a_redacted_history_goes_on_as_it_would_have,
}

/// What is removed: everything, what many texts have in them, or single events.
fn targets() -> impl Strategy<Value = (u8, Vec<Index>)> {
    (0..3_u8, prop::collection::vec(any::<Index>(), 1..4))
}

fn request(kind: u8, events: &[Index], end: Position) -> RedactRequest {
    let pattern = |text: &str| vec![Target::Pattern(Regex::new(text).expect("a pattern"))];
    let targets = match kind {
        0 => pattern("(?s-u)^.*[^z]"),
        1 => pattern("[aeiou]{2}"),
        _ if end == Position::START => Vec::new(),
        _ => {
            let at = |index: &Index| index.index(usize::try_from(end.0).expect("few")) as u64 + 1;
            events
                .iter()
                .map(|index| Target::Event(Position(at(index))))
                .collect()
        }
    };
    RedactRequest::new(targets, ActorRef::human("zzz"), "zzz")
}

fn said(entries: &[Entry]) -> Vec<(u64, u16)> {
    let of = |entry: &Entry| Redacted::of(&entry.event).map(|event| event.removed.clone());
    let removed = entries.iter().filter_map(of).flatten();
    let mut said: Vec<(u64, u16)> = removed
        .flat_map(|from| {
            from.pieces
                .into_iter()
                .map(move |piece| (from.position, piece))
        })
        .collect();
    said.sort_unstable();
    said
}

fn gone(records: &[Record]) -> Vec<(u64, u16)> {
    let of = |record: &Record| {
        let position = record.position().0;
        let pieces = (0_u16..).zip(record.content());
        let gone = pieces.filter(|(_, piece)| matches!(piece, Content::Removed { .. }));
        gone.map(move |(number, _)| (position, number))
            .collect::<Vec<_>>()
    };
    records.iter().flat_map(of).collect()
}

/// Every blob that a record refers to is there, and no other.
fn check_blobs(log: &dyn Store, records: &[Record]) {
    let named: BTreeSet<_> = records
        .iter()
        .flat_map(Record::content)
        .filter_map(|piece| piece.blob())
        .collect();
    for digest in &named {
        assert!(block_on(log.blob(*digest)).expect("an open log").is_some());
    }
    let stats = block_on(log.stats()).expect("an open log");
    assert_eq!(stats.blobs, named.len() as u64);
}

/// The streams of records that lost names.
fn without_names(records: &[Record]) -> BTreeSet<StreamRef> {
    let lost = records.iter().filter(|record| {
        let names = names_of(record).expect("a record of ours");
        let content = record.content();
        names
            .map(usize::from)
            .any(|piece| matches!(content[piece], Content::Removed { .. }))
    });
    let stream = |record: &Record| record.stream().parse().expect("a stream of ours");
    lost.map(stream).collect()
}

/// Whether a command is given to a session.
fn is_of_a_session(command: &Command) -> bool {
    use Command as C;
    matches!(
        command,
        C::CreateSession(_)
            | C::SubmitCommand(_)
            | C::ApproveSession(_)
            | C::DenySession(_)
            | C::ExpireApprovals(_)
            | C::PauseSession(_)
            | C::ResumeSession(_)
            | C::AbortSession(_)
            | C::CompleteSession(_)
            | C::CompleteCommand(_)
            | C::RecordConflict(_)
            | C::RecordArtifact(_)
            | C::RecordBacklog(_)
            | C::RecordWorkItem(_)
            | C::UpdatePlan(_)
            | C::LinkPlanTask(_)
            | C::AttachRun(_)
    )
}

/// Whether a command reserves an alias that one of those before it reserved.
fn asks_again(before: &[Command], command: &Command) -> bool {
    let alias = |command: &Command| match command {
        Command::ReserveAlias(reserve) => Some(reserve.alias.clone()),
        _ => None,
    };
    let asked = alias(command);
    asked.is_some() && before.iter().any(|command| alias(command) == asked)
}

fn a_redacted_history_goes_on_as_it_would_have(logs: &dyn Logs) {
    check(
        logs,
        (histories(), any::<Index>(), targets()),
        |(commands, index, (kind, events))| {
            let commands = commands.take();
            let (before, after) = commands.split_at(index.index(commands.len() + 1));
            let mut untouched = History::play(logs.open(), before);
            let mut history = History::play(logs.open(), before);
            let log = history.log.clone();
            let size = log.watermark();
            let was = read_all(log.as_ref());
            let root = block_on(tree::root(log.as_ref(), size.0)).expect("a root");
            let asked = request(kind, &events, size);
            // The catalogue has seen it all.
            let ids: Vec<_> = folds::views(&history.entries()).into_keys().collect();
            for id in &ids {
                block_on(history.annals.index().row(*id)).expect("its row");
            }
            let report =
                block_on(history.annals.contents().redact(&asked, &mut |_| {})).expect("it goes");
            let is = read_all(log.as_ref());
            assert_eq!(report.recorded.is_some(), is.len() > was.len());
            for (was, is) in was.iter().zip(&is) {
                assert_eq!(was.header_bytes(), is.header_bytes());
                assert_eq!(is.verify(), Ok(()));
            }
            let again = block_on(tree::root(log.as_ref(), size.0)).expect("a root");
            assert_eq!(again, root);
            assert_eq!(said(&history.entries()), gone(&is));
            check_blobs(log.as_ref(), &is);
            let lost = without_names(&is);
            let states = |records| {
                let mut states = folds::states(records);
                states.retain(|stream, _| !lost.contains(stream));
                states
            };
            assert_eq!(states(&was), states(&is));
            // Nothing is found a second time.
            let twice =
                block_on(history.annals.contents().redact(&asked, &mut |_| {})).expect("nothing");
            assert_eq!(twice.recorded, None, "{twice:?}");
            for id in &ids {
                block_on(history.annals.index().row(*id)).expect("its row");
                let notes =
                    block_on(history.annals.contents().redactions(*id)).expect("its stream");
                let object = report.found.objects.iter().any(|(_, object)| object == id);
                assert!(!object || !notes.is_empty(), "{id}");
            }
            let catalogue = annals::projections::Catalogue::new();
            block_on(catalogue.catch_up(log.as_ref())).expect("it catches up");
            block_on(catalogue.flush(log.as_ref())).expect("its rows are written");
            assert_eq!(dump(log.as_ref()), anew(log.as_ref()));
            for command in after {
                // The gate is stricter where names are gone, and the buckets that sessions share
                // are others. An alias that was removed belongs to no object.
                let differs = is_of_a_session(command) || asks_again(before, command);
                if report.recorded.is_some() && differs {
                    continue;
                }
                let (answer, _) = untouched.execute(command.clone());
                assert_eq!(answer, history.execute(command.clone()).0, "{command:?}");
            }
        },
    );
}
