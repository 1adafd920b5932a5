//! Tests of the record's bytes: round trips, damage, and the golden record.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use bytes::{Bytes, BytesMut};
use chrono::{DateTime, Utc};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use uuid::Uuid;

use super::*;
use crate::NewEvent;

const GOLDEN: &str = include_str!("../../tests/golden/record-v1.hex");

/// A fixed seed, so that every run is the same; `PROPTEST_RNG_SEED` overrides it.
fn config(cases: u32) -> Config {
    let config = Config::with_cases(cases);
    let rng_seed = match config.rng_seed {
        RngSeed::Random => RngSeed::Fixed(0x00A1_1A15),
        fixed @ RngSeed::Fixed(_) => fixed,
    };
    Config { rng_seed, ..config }
}

/// What only the store knows.
#[derive(Debug, Clone, Copy)]
struct Place {
    position: u64,
    version: u64,
    recorded_at: DateTime<Utc>,
}

fn record_bytes(event: &NewEvent, batch: BatchId, place: Place) -> Bytes {
    let mut bytes = BytesMut::new();
    encode(&Fixed { batch, event }, &mut bytes);
    stamp(
        &mut bytes,
        Position(place.position),
        Version(place.version),
        place.recorded_at,
    );
    bytes.into()
}

/// The event as a record's accessors give it.
fn event_of(record: &Record) -> NewEvent {
    NewEvent {
        stream: record.stream_name(),
        id: record.event_id(),
        event_type: record.event_type().to_owned().into(),
        schema_version: record.schema_version(),
        occurred_at: record.occurred_at(),
        actor: record.actor(),
        correlation: record.correlation(),
        causation: record.causation(),
        structure: record.structure(),
        content: record.content(),
    }
}

/// A piece as a record has it in its bytes.
fn lying(piece: &Content) -> PieceRef<'_> {
    match piece {
        Content::Inline { bytes, .. } => PieceRef::Inline(bytes),
        Content::Blob { digest, .. } => PieceRef::Blob(*digest),
        Content::Attachment { digest, .. } => PieceRef::Attachment(*digest),
        Content::Removed { .. } => PieceRef::Removed,
    }
}

fn place_of(record: &Record) -> Place {
    Place {
        position: record.position().0,
        version: record.version().0,
        recorded_at: record.recorded_at(),
    }
}

/// Bytes that decode are exactly the bytes that encoding again gives: no two byte
/// strings mean the same record. A payload that does not fit its digests is
/// left to `verify`.
fn check_canonical(bytes: &Bytes) -> Result<bool, TestCaseError> {
    let Ok(record) = Record::decode(bytes.clone()) else {
        return Ok(false);
    };
    prop_assert_eq!(record.as_bytes(), bytes);
    let again = record_bytes(&event_of(&record), record.batch_id(), place_of(&record));
    match record.verify() {
        Ok(()) => prop_assert_eq!(&again, bytes),
        Err(_) => prop_assert_eq!(again.len(), bytes.len()),
    }
    Ok(true)
}

fn time() -> impl Strategy<Value = DateTime<Utc>> {
    let range = DateTime::<Utc>::MIN_UTC.timestamp()..=DateTime::<Utc>::MAX_UTC.timestamp();
    (range, 0..1_000_000_000_u32).prop_map(|(s, n)| DateTime::from_timestamp(s, n).unwrap())
}

fn uuid() -> impl Strategy<Value = Uuid> {
    any::<u128>().prop_map(Uuid::from_u128)
}

fn some_uuid() -> impl Strategy<Value = Option<Uuid>> {
    prop::option::of((1..=u128::MAX).prop_map(Uuid::from_u128))
}

fn bytes(most: usize) -> impl Strategy<Value = Bytes> {
    prop::collection::vec(any::<u8>(), 0..=most).prop_map(Bytes::from)
}

fn piece() -> impl Strategy<Value = Content> {
    let digest = || any::<[u8; 32]>().prop_map(Digest);
    let reference = (any::<[u8; 16]>(), digest(), any::<u64>());
    prop_oneof![
        (any::<[u8; 16]>(), bytes(300)).prop_map(|(salt, bytes)| Content::Inline { salt, bytes }),
        reference
            .clone()
            .prop_map(|(salt, digest, size)| Content::Blob { salt, digest, size }),
        reference.prop_map(|(salt, digest, size)| Content::Attachment { salt, digest, size }),
        digest().prop_map(|salted| Content::Removed { salted }),
    ]
}

fn stream() -> impl Strategy<Value = StreamName> {
    ("[a-z][a-z0-9_]{0,31}", "\\PC{1,50}")
        .prop_map(|(kind, id)| StreamName::new(&kind, &id).unwrap())
}

fn event() -> impl Strategy<Value = NewEvent> {
    let names = (stream(), "\\PC{1,25}", "[a-z_]{1,100}", "[a-z@.é日]{1,300}");
    let ids = (uuid(), some_uuid(), some_uuid(), 1..=u16::MAX, time());
    let slots = (
        any::<prop::sample::Index>(),
        any::<prop::sample::Index>(),
        any::<(bool, bool)>(),
    );
    let payload = (bytes(300), prop::collection::vec(piece(), 0..8));
    (names, ids, slots, payload).prop_map(|(names, ids, slots, (structure, content))| {
        let slot = |wanted: bool, index: prop::sample::Index| {
            let there = wanted && !content.is_empty();
            there.then(|| u16::try_from(index.index(content.len())).unwrap())
        };
        let (display_name, auth_context) = (slot(slots.2.0, slots.0), slot(slots.2.1, slots.1));
        NewEvent {
            stream: names.0,
            id: ids.0,
            event_type: names.1.into(),
            schema_version: ids.3,
            occurred_at: ids.4,
            actor: Actor {
                kind: names.2,
                id: names.3,
                display_name,
                auth_context,
            },
            correlation: ids.1,
            causation: ids.2,
            structure,
            content,
        }
    })
}

fn place() -> impl Strategy<Value = Place> {
    (1..=u64::MAX, 1..=u64::MAX, time()).prop_map(|(position, version, recorded_at)| Place {
        position,
        version,
        recorded_at,
    })
}

proptest! {
    #![proptest_config(config(512))]

    #[test]
    fn every_field_survives(event in event(), batch in uuid(), place in place()) {
        let bytes = record_bytes(&event, batch, place);
        let record = Record::decode(bytes.clone()).unwrap();
        let pieces: Vec<PieceRef<'_>> = event.content.iter().map(lying).collect();
        prop_assert_eq!(record.pieces().collect::<Vec<_>>(), pieces);
        prop_assert_eq!(record.structure_bytes(), &event.structure);
        prop_assert_eq!(event_of(&record), event);
        prop_assert_eq!(record.batch_id(), batch);
        prop_assert_eq!(record.position(), Position(place.position));
        prop_assert_eq!(record.version(), Version(place.version));
        prop_assert_eq!(record.recorded_at(), place.recorded_at);
        prop_assert_eq!(record.verify(), Ok(()));
        prop_assert_eq!(record.header_bytes(), &bytes[2..2 + record.header_bytes().len()]);
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in bytes(600)) {
        check_canonical(&bytes)?;
    }

    /// Random bytes hardly ever get past the first fields; damaged records do.
    #[test]
    fn damaged_records_never_panic(
        event in event(),
        place in place(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut bytes = record_bytes(&event, Uuid::nil(), place).to_vec();
        for (index, value) in damage {
            let at = index.index(bytes.len());
            bytes[at] = value;
        }
        check_canonical(&bytes.into())?;
    }
}

/// The golden record, spelt out.
fn golden() -> (NewEvent, BatchId, Place) {
    let salt = |n| [n; 16];
    let gone = Content::Inline {
        salt: salt(0x15),
        bytes: "forgotten".into(),
    };
    let content = vec![
        Content::Inline {
            salt: salt(0x11),
            bytes: "Zoë".into(),
        },
        Content::Inline {
            salt: salt(0x12),
            bytes: Bytes::new(),
        },
        Content::Blob {
            salt: salt(0x13),
            digest: Digest::of(&[0xB0; 5_000]),
            size: 5_000,
        },
        Content::Attachment {
            salt: salt(0x14),
            digest: Digest::of(&[0xA7; 6_000]),
            size: 6_000,
        },
        Content::Removed {
            salted: gone.salted_digest(),
        },
    ];
    let event = NewEvent {
        stream: "run-0198c0de é".parse().unwrap(),
        id: Uuid::from_bytes([0x21; 16]),
        event_type: "test.golden".into(),
        schema_version: 0x0203,
        occurred_at: DateTime::from_timestamp(-1, 5).unwrap(),
        actor: Actor {
            kind: "agent".into(),
            id: "coder@example.org".into(),
            display_name: Some(0),
            auth_context: Some(1),
        },
        correlation: Some(Uuid::from_bytes([0x23; 16])),
        causation: Some(Uuid::from_bytes([0x24; 16])),
        structure: (0..48).collect::<Vec<u8>>().into(),
        content,
    };
    let recorded_at = DateTime::from_timestamp(1_700_000_001, 987_654_321).unwrap();
    let place = Place {
        position: 0x0102_0304_0506_0708,
        version: 3,
        recorded_at,
    };
    (event, Uuid::from_bytes([0x22; 16]), place)
}

/// The stored format is for ever: this file is never edited.
#[test]
fn the_golden_record_is_byte_for_byte_the_same() {
    let (event, batch, place) = golden();
    let encoded = record_bytes(&event, batch, place);
    let golden: String = GOLDEN.split_whitespace().collect();
    assert_eq!(hex::encode(&encoded), golden);
    let record = Record::decode(hex::decode(golden).unwrap().into()).unwrap();
    assert_eq!(event_of(&record), event);
    assert_eq!(record.verify(), Ok(()));
}

#[test]
fn every_truncation_is_refused() {
    let (event, batch, place) = golden();
    let bytes = record_bytes(&event, batch, place);
    for len in 0..bytes.len() {
        let cut = Record::decode(bytes.slice(..len));
        assert!(cut.is_err(), "{len} of {} bytes: {cut:?}", bytes.len());
    }
    let longer = [&bytes[..], &[0]].concat();
    assert!(Record::decode(longer.into()).is_err(), "one byte more");
}

/// A flipped bit is refused, or changes the header, or is found by `verify`.
#[test]
fn every_flipped_bit_is_noticed() {
    let (event, batch, place) = golden();
    let bytes = record_bytes(&event, batch, place);
    let whole = Record::decode(bytes.clone()).unwrap();
    let mut decoded = 0;
    for bit in 0..bytes.len() * 8 {
        let mut flipped = bytes.to_vec();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let flipped = Bytes::from(flipped);
        if check_canonical(&flipped).unwrap() {
            decoded += 1;
            let record = Record::decode(flipped).unwrap();
            let noticed = record.header_bytes() != whole.header_bytes() || record.verify().is_err();
            assert!(noticed, "bit {bit} changed nothing");
        }
    }
    assert!(
        decoded > 0,
        "some flipped bits must get past decoding for this to say anything"
    );
}

/// Fails unless the golden record, changed like this, is refused for that reason.
fn refused(reason: &str, change: impl FnOnce(&mut NewEvent, &mut Place)) {
    let (mut event, batch, mut place) = golden();
    change(&mut event, &mut place);
    let error = Record::decode(record_bytes(&event, batch, place)).unwrap_err();
    assert!(error.reason.contains(reason), "{error}, not {reason}");
}

#[test]
fn what_an_encoder_never_writes_is_refused() {
    let inline = |len: usize| Content::Inline {
        salt: [0; 16],
        bytes: vec![0; len].into(),
    };
    refused("position", |_, place| place.position = 0);
    refused("version", |_, place| place.version = 0);
    refused("version", |event, _| event.schema_version = 0);
    refused("type", |event, _| event.event_type = "".into());
    refused("type", |event, _| event.event_type = "a\0b".into());
    refused("type", |event, _| event.event_type = "a\u{85}".into());
    refused("type", |event, _| event.event_type = "t".repeat(101).into());
    refused("stream", |event, _| {
        event.stream = StreamName::trusted("run")
    });
    refused("actor", |event, _| event.actor.kind = String::new());
    refused("actor", |event, _| event.actor.kind = "k".repeat(101));
    refused("actor", |event, _| event.actor.id = " ".into());
    refused("actor", |event, _| event.actor.id = "i".repeat(1_025));
    refused("piece of the actor", |event, _| event.content.truncate(1));
    refused("structure", |event, _| {
        event.structure = vec![0; limits::STRUCTURE + 1].into();
    });
    refused("inline", |event, _| {
        event.content.push(inline(limits::INLINE + 1));
    });
    refused("too many", |event, _| {
        event.content = vec![inline(0); limits::PIECES + 1];
    });
}

#[test]
fn a_header_says_alone_what_it_says_in_its_record() {
    let golden: String = GOLDEN.split_whitespace().collect();
    let golden = hex::decode(golden).unwrap();
    let record = Record::decode(golden.into()).unwrap();
    let bytes = record.header_bytes();
    let header = Header::decode(bytes).unwrap();
    assert_eq!(header.position(), record.position());
    assert_eq!(header.version(), record.version());
    assert_eq!(header.stream(), record.stream());
    assert_eq!(header.event_id(), record.event_id());
    assert_eq!(header.batch_id(), record.batch_id());
    assert_eq!(header.event_type(), record.event_type());
    assert_eq!(header.occurred_at(), record.occurred_at());
    assert_eq!(header.recorded_at(), record.recorded_at());
    assert_eq!(header.actor(), record.actor());
    assert_eq!(header.digests(), record.digests());
    for end in 0..bytes.len() {
        assert!(
            Header::decode(&bytes[..end]).is_err(),
            "the first {end} bytes"
        );
    }
    let longer = [bytes, &[0]].concat();
    assert!(Header::decode(&longer).is_err());
    assert!(Header::decode(&[1; 70_000]).is_err());
    assert!(Header::decode(&[0xff; 300]).is_err());
}
