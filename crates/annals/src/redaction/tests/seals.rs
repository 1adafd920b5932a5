//! The seals of what loses content go with it.

use std::sync::Arc;
use std::time::Duration;

use annals_domain::intent::{AnalyzeIntent, CreateIntent};
use annals_domain::metadata::{Seal, Sealed};
use annals_domain::redaction::RemovedPieces;
use annals_domain::{
    ActorRef, AnyEvent, Command, Emitted, IntegrityHash, IntentId, Kind, Pieces, StreamKind,
    StreamRef, intent,
};
use annals_event_log::memory::MemoryLog;
use annals_event_log::{Content, Position, record_at};
use annals_projections::{SealCheck, check_seal};
use futures::executor::block_on;
use proptest::prelude::*;
use uuid::Uuid;

use super::super::found::{SealOf, Stretch};
use super::super::plan::Lossy;
use super::super::search;
use super::beside::{told, under_way};
use super::{SECRET, annals, pattern, request};
use crate::prepared::Prepared;
use crate::{Annals, At, RedactReport, Request, Target};

fn by(command: impl Into<Command>) -> Request {
    Request::new(ActorRef::human("ada"), command)
}

fn create(annals: &Annals, prompt: &str) -> IntentId {
    let command = CreateIntent::new(prompt);
    let made = block_on(annals.execute(by(command))).unwrap();
    IntentId(made.id.unwrap())
}

fn analyze(annals: &Annals, intent: IntentId, content: &str) -> Position {
    let command = AnalyzeIntent::new(intent, content);
    block_on(annals.execute(by(command))).unwrap().position
}

fn seal(annals: &Annals, intent: IntentId) -> Position {
    let command = Seal::new(intent.0);
    block_on(annals.proofs().seal(intent, by(command)))
        .unwrap()
        .position
}

/// Seals it with a checksum of the caller's.
fn seal_as(annals: &Annals, intent: IntentId, checksum: IntegrityHash) -> Position {
    let command = Seal::new(intent.0).with_checksum(checksum);
    block_on(annals.execute(by(command))).unwrap().position
}

/// Seals it as an older version did: a record of version 1 with the checksum in its structure.
fn seal_as_ever(annals: &Annals, intent: IntentId, checksum: IntegrityHash) -> Position {
    let sealed = Sealed {
        kind: Kind::Intent.number(),
        object: intent.0,
        checksum: None,
        old_checksum: Some(checksum),
    };
    let emitted = Emitted {
        stream: StreamRef {
            kind: StreamKind::Intent,
            id: intent.0,
        },
        event: AnyEvent::Intent(intent::Event::from(sealed)),
        pieces: Pieces::new(),
    };
    let mut prepared = Prepared::default();
    let at = chrono::Utc::now().into();
    prepared
        .add(&emitted, Uuid::now_v7(), at, &ActorRef::human("ada"))
        .unwrap();
    let event = prepared.events.first_mut().unwrap();
    event.schema_version = 1;
    let id = intent.0.as_bytes().as_slice();
    // bincode has a length before bytes of any number.
    event.structure = [&[1, 16, 16], id, &checksum.0].concat().into();
    block_on(annals.log().append(prepared.append(Vec::new())))
        .unwrap()
        .first
}

fn redact(annals: &Annals, targets: Vec<Target>) -> RedactReport {
    block_on(annals.contents().redact(&request(targets), &mut |_| {})).unwrap()
}

fn check(annals: &Annals, intent: IntentId, at: Position) -> SealCheck {
    let view = block_on(annals.view_at(intent, At::Position(at))).unwrap();
    check_seal(&view).unwrap()
}

/// Whether the checksum of a seal is removed.
fn is_gone(annals: &Annals, position: Position) -> bool {
    let record = block_on(record_at(annals.log().as_ref(), position)).unwrap();
    let content = record.unwrap().content();
    matches!(content.first().unwrap(), Content::Removed { .. })
}

fn positions(seals: &[SealOf]) -> Vec<Position> {
    seals.iter().map(|seal| seal.position).collect()
}

#[test]
fn a_checksum_goes_with_content_of_its_stream_and_the_seal_says_so() {
    let annals = annals();
    let (one, other) = (create(&annals, "one"), create(&annals, "other"));
    let before = seal(&annals, one);
    let secret = analyze(&annals, one, "the pin is 1234");
    let behind = seal(&annals, one);
    let untouched = seal(&annals, other);
    for at in [before, behind] {
        assert_eq!(check(&annals, one, at), SealCheck::Holds);
    }
    let report = redact(&annals, vec![Target::Event(secret)]);
    assert_eq!(positions(&report.found.seals), [before, behind]);
    assert_eq!(report.found.seals[0].id, one.0);
    assert_eq!(report.found.old_seals, []);
    assert_eq!(report.redactions, 1, "it is in the same redaction");
    assert_eq!(report.found.removed.len(), 3);
    for at in [before, behind] {
        assert!(is_gone(&annals, at));
        assert_eq!(check(&annals, one, at), SealCheck::Removed);
    }
    assert_eq!(check(&annals, one, annals.position()), SealCheck::NotSealed);
    assert_eq!(check(&annals, other, untouched), SealCheck::Holds);
    // A new seal is of what is left, and another redaction of nothing leaves it.
    let again = seal(&annals, one);
    assert_eq!(check(&annals, one, again), SealCheck::Holds);
    let report = redact(&annals, vec![Target::Event(secret)]);
    assert_eq!((report.redactions, report.found.seals), (0, Vec::new()));
    assert_eq!(check(&annals, one, again), SealCheck::Holds);
}

#[test]
fn a_dry_run_names_the_seals_that_would_go() {
    let annals = annals();
    let intent = create(&annals, SECRET);
    let sealed = seal(&annals, intent);
    let found = block_on(annals.contents().find(&pattern(), &mut |_| {})).unwrap();
    assert_eq!(positions(&found.seals), [sealed]);
    assert_eq!(found.removed.len(), 2);
    assert_eq!(check(&annals, intent, sealed), SealCheck::Holds);
}

#[test]
fn a_seal_of_an_older_version_stays_and_is_named_if_it_was_made_of_what_goes() {
    let annals = annals();
    let intent = create(&annals, "one");
    let checksum = IntegrityHash::of(b"it");
    let before = seal_as_ever(&annals, intent, checksum);
    let secret = analyze(&annals, intent, "the pin is 1234");
    let behind = seal_as_ever(&annals, intent, checksum);
    let differs = |at| match check(&annals, intent, at) {
        SealCheck::Differs { recorded, .. } => recorded,
        other => panic!("{other:?}"),
    };
    assert_eq!((differs(before), differs(behind)), (checksum, checksum));
    let report = redact(&annals, vec![Target::Event(secret)]);
    assert_eq!(positions(&report.found.old_seals), [behind]);
    assert_eq!(report.found.seals, []);
    assert_eq!((differs(before), differs(behind)), (checksum, checksum));
}

/// Seals come while the log is looked through: in the stream that loses content, and with a
/// checksum that the caller computed.
#[test]
fn a_seal_that_comes_while_the_log_is_looked_through_goes_too() {
    let annals = annals();
    let intent = create(&annals, SECRET);
    let checksum = IntegrityHash::of(b"it");
    let writing = annals.clone();
    let mut sealed = Vec::new();
    let mut progress = |_| {
        if sealed.is_empty() {
            let writing = writing.clone();
            let thread = std::thread::spawn(move || {
                [seal(&writing, intent), seal_as(&writing, intent, checksum)]
            });
            sealed.extend(thread.join().unwrap());
        }
    };
    let report = block_on(annals.contents().redact(&request(pattern()), &mut progress)).unwrap();
    assert_eq!(positions(&report.found.seals), sealed);
    assert_eq!(report.unsearched, None);
    assert!(sealed.iter().all(|at| is_gone(&annals, *at)));
}

/// While the steps of a redaction are under way, some of the content is still there.
#[test]
fn no_seal_is_made_of_content_that_is_just_going() {
    let home = tempfile::tempdir().unwrap();
    let annals = told(home.path());
    let last = block_on(record_at(annals.log().as_ref(), annals.position()));
    let last = annals_wire::decode(&last.unwrap().unwrap()).unwrap();
    let intent = IntentId(last.stream.id);
    let (request, mut progress) = (request(pattern()), |_| {});
    let redacting = under_way(&annals, &request, &mut progress);
    let sealing = annals.clone();
    let sealing = std::thread::spawn(move || seal(&sealing, intent));
    std::thread::sleep(Duration::from_millis(200));
    assert!(!sealing.is_finished(), "it waits for the redaction");
    let report = block_on(redacting).unwrap();
    let sealed = sealing.join().unwrap();
    assert!(sealed > report.recorded.unwrap().1);
    // It is of what is left.
    assert_eq!(check(&annals, intent, sealed), SealCheck::Holds);
    block_on(annals.close());
}

/// Where a redaction takes several steps and only some are done, the same search finds the rest of
/// the content; that of a seal is not found by it.
#[test]
fn seals_go_before_what_they_were_made_of() {
    let annals = annals();
    let stream = StreamRef {
        kind: StreamKind::Intent,
        id: Uuid::from_u128(1),
    };
    let mut plan = block_on(search::plan(&annals, &[], Stretch::All, &mut |_| {})).unwrap();
    let lossy = |position| Lossy {
        removed: RemovedPieces {
            position,
            pieces: (0..10_000).collect(),
        },
        objects: Vec::new(),
        blobs: Vec::new(),
    };
    plan.events.insert(stream, (1..=400).map(lossy).collect());
    plan.goes_first(stream, Position(999), 0, Vec::new());
    plan.goes_first(stream, Position(400), 3, Vec::new());
    let steps = plan.steps(&request(Vec::new())).unwrap();
    assert!(steps.len() > 1);
    let removed: Vec<Vec<u64>> = steps
        .iter()
        .map(|step| step.redaction.removed.iter().map(|of| of.position.0))
        .map(Iterator::collect)
        .collect();
    assert!(removed[0].contains(&999) && removed[0].contains(&400));
    assert_eq!(removed.iter().map(Vec::len).sum::<usize>(), 401);
    assert!(removed.iter().all(|positions| positions.is_sorted()));
}

/// What happens to one of a few intents.
#[derive(Debug, Clone, Copy)]
enum Happens {
    Analyzed,
    Sealed,
    SealedAs,
}

fn happens() -> impl Strategy<Value = Happens> {
    prop_oneof![
        Just(Happens::Analyzed),
        Just(Happens::Sealed),
        Just(Happens::SealedAs)
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// The checksums of the streams that lose content go, and no other.
    #[test]
    fn exactly_the_seals_of_the_streams_that_lose_content_go(
        story in prop::collection::vec((0..3_usize, happens()), 1..24),
        targets in prop::collection::vec(any::<prop::sample::Index>(), 1..3),
    ) {
        let annals = Annals::over(Arc::new(MemoryLog::new(Uuid::from_u128(1))));
        let intents: Vec<IntentId> = (0..3).map(|_| create(&annals, "p")).collect();
        // Which intent an event is of, and whether it is a seal.
        let mut events: Vec<(usize, bool)> = (0..3).map(|n| (n, false)).collect();
        for (of, happens) in story {
            let intent = intents[of];
            match happens {
                Happens::Analyzed => analyze(&annals, intent, "c"),
                Happens::Sealed => seal(&annals, intent),
                Happens::SealedAs => seal_as(&annals, intent, IntegrityHash::of(b"it")),
            };
            events.push((of, !matches!(happens, Happens::Analyzed)));
        }
        let targets: Vec<usize> = targets.iter().map(|it| it.index(events.len())).collect();
        let at = |index: usize| Position(index as u64 + 1);
        let report = redact(&annals, targets.iter().map(|index| Target::Event(at(*index))).collect());
        let lost: Vec<usize> = targets.iter().map(|index| events[*index].0).collect();
        for (index, (of, is_seal)) in events.iter().enumerate() {
            let goes = targets.contains(&index) || (*is_seal && lost.contains(of));
            prop_assert_eq!(is_gone(&annals, at(index)), goes, "event {}", at(index));
            if *is_seal {
                let says = check(&annals, intents[*of], at(index));
                prop_assert_eq!(says == SealCheck::Removed, goes);
                prop_assert_eq!(report.found.seals.iter().any(|it| it.position == at(index)), goes);
            }
        }
    }
}
