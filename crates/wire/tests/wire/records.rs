//! Whole events: envelope, pieces, blobs, and what removing them changes.

use annals_domain::{ActorRef, AnyEvent, Emitted, Pieces, StreamKind, StreamRef, intent};
use annals_event_log::{
    Append, Blob, Content, NewEvent, Position, Prepared, Record, Salt, Version, limits,
};
use annals_wire::sample::samples;
use annals_wire::{DecodeError, EncodeError, Encoded, Envelope, decode, encode, random_salt};
use bytes::Bytes;
use chrono::DateTime;
use uuid::Uuid;

pub fn envelope() -> Envelope {
    Envelope {
        event_id: Uuid::from_u128(11),
        occurred_at: DateTime::from_timestamp(1_767_323_045, 1)
            .expect("a time")
            .into(),
        actor: ActorRef::human("zoë@example.org")
            .with_display_name("Zoë".to_owned())
            .with_auth_context("oidc:example.org".to_owned()),
        correlation: Some(Uuid::from_u128(12)),
        causation: Some(Uuid::from_u128(13)),
    }
}

/// Salts 0, 1, 2, ...
pub fn counting() -> impl FnMut() -> Salt {
    let mut next = 0_u128;
    move || {
        next += 1;
        (next - 1).to_be_bytes()
    }
}

pub fn encoded(emitted: &Emitted) -> Encoded {
    encode(emitted, &envelope(), &mut counting()).expect("it is encoded")
}

/// The record that a store would make of an event.
pub fn record(event: NewEvent, blobs: Vec<Blob>) -> Record {
    let append = Append {
        batch: Uuid::from_u128(14),
        request: Bytes::new(),
        events: vec![event],
        expectations: Vec::new(),
        blobs,
    };
    let mut prepared = Prepared::new(append).expect("the append is allowed");
    let bytes = prepared.events[0].stamp(Position(1), Version(1), DateTime::UNIX_EPOCH);
    Record::decode(Bytes::copy_from_slice(bytes)).expect("a record")
}

/// The same record with every piece removed for good, as the format describes
/// it: a 4 and the salted digest in place of each.
pub fn redacted(record: &Record) -> Record {
    let mut bytes = Vec::new();
    let header = record.header_bytes();
    bytes.extend_from_slice(
        &u16::try_from(header.len())
            .expect("a short header")
            .to_be_bytes(),
    );
    bytes.extend_from_slice(header);
    let structure = record.structure();
    bytes.extend_from_slice(
        &u32::try_from(structure.len())
            .expect("a short one")
            .to_be_bytes(),
    );
    bytes.extend_from_slice(&structure);
    let pieces = record.content();
    bytes.extend_from_slice(
        &u16::try_from(pieces.len())
            .expect("few pieces")
            .to_be_bytes(),
    );
    for piece in pieces {
        bytes.push(4);
        bytes.extend_from_slice(&piece.salted_digest().0);
    }
    Record::decode(bytes.into()).expect("a record")
}

#[test]
fn every_example_comes_back_from_its_record_with_and_without_its_content() {
    for emitted in samples() {
        let Encoded { event, blobs } = encoded(&emitted);
        let record = record(event, blobs);
        let decoded = decode(&record).expect("it is decoded");
        assert_eq!(
            (decoded.stream, &decoded.event),
            (emitted.stream, &emitted.event)
        );
        assert_eq!(decoded.record, record);

        let redacted = redacted(&record);
        assert!(
            redacted
                .content()
                .iter()
                .all(|piece| matches!(piece, Content::Removed { .. }))
        );
        assert_eq!(redacted.verify(), Ok(()));
        let left = decode(&redacted).expect("it is decoded").event;
        assert_eq!(without_names(left), without_names(emitted.event));
    }
}

/// An event with all names empty: what stays the same regardless of what is removed.
pub fn without_names(mut event: AnyEvent) -> AnyEvent {
    event.each_name(&mut String::clear);
    event
}

#[test]
fn the_envelope_goes_into_the_header() {
    let emitted = &samples()[0];
    let Encoded { event, blobs } = encoded(emitted);
    let record = record(event, blobs);
    let envelope = envelope();
    assert_eq!(record.stream(), emitted.stream.to_string());
    assert_eq!(record.event_id(), envelope.event_id);
    assert_eq!(record.event_type(), "intent.submitted");
    assert_eq!(record.schema_version(), 1);
    assert_eq!(record.occurred_at(), envelope.occurred_at.to_utc());
    assert_eq!(
        (record.correlation(), record.causation()),
        (envelope.correlation, envelope.causation)
    );
    assert_eq!(
        (record.actor_kind(), record.actor_id()),
        ("human", "zoë@example.org")
    );
    assert_eq!(
        (record.display_name_piece(), record.auth_context_piece()),
        (Some(1), Some(2))
    );
    let texts = record
        .content()
        .into_iter()
        .skip(1)
        .map(inline)
        .collect::<Vec<_>>();
    assert_eq!(texts, ["Zoë", "oidc:example.org"]);
}

fn inline(piece: Content) -> String {
    match piece {
        Content::Inline { bytes, .. } => String::from_utf8(bytes.to_vec()).expect("a text"),
        other => panic!("{other:?} is not inline"),
    }
}

#[test]
fn an_actor_without_texts_adds_no_piece() {
    let envelope = Envelope {
        actor: ActorRef::agent("coder"),
        ..envelope()
    };
    let encoded = encode(&samples()[0], &envelope, &mut counting()).expect("it is encoded");
    assert_eq!(encoded.event.content.len(), 1);
    assert_eq!(encoded.event.actor.display_name, None);
    assert_eq!(encoded.event.actor.auth_context, None);
}

fn with_pieces(pieces: Pieces) -> Emitted {
    let event = intent::Activated { reason: None };
    let stream = StreamRef {
        kind: StreamKind::Intent,
        id: Uuid::from_u128(1),
    };
    Emitted {
        stream,
        event: AnyEvent::Intent(event.into()),
        pieces,
    }
}

#[test]
fn pieces_over_the_limit_and_attachments_become_blobs() {
    let mut pieces = Pieces::new();
    pieces.text("x".repeat(limits::INLINE));
    pieces.text("y".repeat(limits::INLINE + 1));
    pieces.attachment(b"diff".to_vec());
    let Encoded { event, blobs } = encoded(&with_pieces(pieces));
    let digests: Vec<_> = blobs.iter().map(Blob::digest).collect();
    assert_eq!(blobs.len(), 2);
    assert!(
        matches!(&event.content[0], Content::Inline { bytes, .. } if bytes.len() == limits::INLINE)
    );
    assert!(
        matches!(&event.content[1], Content::Blob { digest, size: 4_097, .. } if *digest == digests[0])
    );
    assert!(
        matches!(&event.content[2], Content::Attachment { digest, size: 4, .. } if *digest == digests[1])
    );
    assert_eq!(&blobs[1].bytes()[..], b"diff");
}

#[test]
fn every_piece_has_a_salt_of_its_own() {
    let mut pieces = Pieces::new();
    pieces.text("same");
    pieces.text("same");
    pieces.attachment(b"same".to_vec());
    let Encoded { event, .. } = encoded(&with_pieces(pieces));
    let salts: Vec<u128> = event
        .content
        .iter()
        .map(|piece| match piece {
            Content::Inline { salt, .. }
            | Content::Blob { salt, .. }
            | Content::Attachment { salt, .. } => u128::from_be_bytes(*salt),
            Content::Removed { .. } => panic!("a new piece cannot be removed"),
        })
        .collect();
    assert_eq!(salts, [0, 1, 2, 3, 4]);
    assert_ne!(random_salt(), random_salt());
}

#[test]
fn more_pieces_than_a_record_holds_are_refused() {
    let pieces = |count| {
        let mut pieces = Pieces::new();
        (0..count).for_each(|_| {
            pieces.text("");
        });
        encode(&with_pieces(pieces), &envelope(), &mut counting())
    };
    assert!(pieces(limits::PIECES - 2).is_ok());
    let error = pieces(limits::PIECES - 1).unwrap_err();
    assert!(
        matches!(error, EncodeError::TooManyPieces { actual: 10_001, .. }),
        "{error}"
    );
}

#[test]
fn a_stream_of_no_aggregate_is_refused() {
    let Encoded { mut event, blobs } = encoded(&samples()[0]);
    event.stream = "tool-7".parse().expect("a stream's name");
    let error = decode(&record(event, blobs)).unwrap_err();
    assert!(matches!(error, DecodeError::Stream(_)), "{error}");
}
