//! Tests of chunks: both forms round trip, damage is noticed.
#![allow(clippy::unwrap_used)]

use annals_event_log::{Append, Content, NewEvent, Position, Prepared, Version};
use chrono::DateTime;
use proptest::prelude::*;
use uuid::Uuid;

use super::*;
use crate::fixtures::{append_of, event};

/// Whole records from position 7 on, one for each payload.
fn whole(payloads: &[Vec<u8>]) -> Vec<Bytes> {
    let event = |payload: &Vec<u8>| NewEvent {
        structure: payload.clone().into(),
        content: vec![Content::Inline {
            salt: [3; 16],
            bytes: payload.clone().into(),
        }],
        id: Uuid::from_u128(9),
        ..event("run-1")
    };
    let append = Append {
        batch: Uuid::from_u128(1),
        ..append_of(payloads.iter().map(event).collect())
    };
    let mut prepared = Prepared::new(append).unwrap();
    let events = prepared.events.iter_mut().zip(7..);
    let stamped = |(event, position): (&mut annals_event_log::EncodedEvent, u64)| {
        let version = Version(position - 6);
        let bytes = event.stamp(Position(position), version, DateTime::UNIX_EPOCH);
        Bytes::copy_from_slice(bytes)
    };
    events.map(stamped).collect()
}

fn built(records: &[Bytes]) -> Bytes {
    let mut chunk = vec![9; 3];
    begin(&mut chunk);
    records.iter().for_each(|record| push(&mut chunk, record));
    chunk.into()
}

fn old(records: &[Bytes]) -> Bytes {
    let mut chunk = vec![WHOLE];
    for record in records {
        chunk.extend_from_slice(&u32::try_from(record.len()).unwrap().to_be_bytes());
        chunk.extend_from_slice(record);
    }
    chunk.into()
}

fn payloads() -> impl Strategy<Value = Vec<Vec<u8>>> {
    prop::collection::vec(prop::collection::vec(any::<u8>(), 0..80), 1..20)
}

proptest! {
    /// Either form gives the records that were put in, byte for byte, with all that they say.
    #[test]
    fn what_was_put_in_comes_out(payloads in payloads()) {
        let records = whole(&payloads);
        for chunk in [built(&records), old(&records)] {
            let read = records_from(7, &chunk).unwrap();
            prop_assert_eq!(&rewrite(form(&chunk).unwrap(), &read)[..], &chunk[..]);
            let lengths: Vec<_> = places(&chunk).unwrap().map(|it| it.unwrap().record_len()).collect();
            prop_assert_eq!(lengths, records.iter().map(Bytes::len).collect::<Vec<_>>());
            for ((read, record), place) in read.iter().zip(&records).zip(places(&chunk).unwrap()) {
                let whole = Record::decode(record.clone()).unwrap();
                let place = place.unwrap();
                prop_assert_eq!(read.encoded_len(), record.len());
                prop_assert_eq!(read.digests(), whole.digests());
                prop_assert_eq!(read.header_bytes(), whole.header_bytes());
                prop_assert_eq!(read.as_bytes(), record);
                prop_assert_eq!(read, &whole);
                prop_assert_eq!(&place.copied(&chunk).unwrap(), &whole);
                prop_assert_eq!(place.names(&chunk), Some((whole.event_type(), whole.stream())));
                prop_assert_eq!(read.verify(), Ok(()));
            }
        }
    }

    /// A record that lost content has the header that it had.
    #[test]
    fn a_chunk_without_some_content_is_the_chunk_that_it_was(payloads in payloads(), gone: prop::sample::Index) {
        let records = whole(&payloads);
        for chunk in [built(&records), old(&records)] {
            let mut read = records_from(7, &chunk).unwrap();
            let at = gone.index(read.len());
            read[at] = read[at].without(&[0]).unwrap();
            let again: Bytes = rewrite(form(&chunk).unwrap(), &read).into();
            prop_assert_eq!(form(&again).unwrap(), form(&chunk).unwrap());
            let again = records_from(7, &again).unwrap();
            for (again, record) in again.iter().zip(&records) {
                let whole = Record::decode(record.clone()).unwrap();
                prop_assert_eq!(again.header_bytes(), whole.header_bytes());
                prop_assert_eq!(again.verify(), Ok(()));
            }
            let is_removed = matches!(again[at].content()[..], [Content::Removed { .. }]);
            prop_assert!(is_removed);
        }
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..200), format in 0..3_u8) {
        if let (1.., Some(first)) = (format, bytes.first_mut()) {
            *first = format;
        }
        let bytes = Bytes::from(bytes);
        let _ = records(&bytes);
        for place in places(&bytes).into_iter().flatten().flatten() {
            let _ = (place.names(&bytes), place.copied(&bytes), place.record(&bytes), place.record_len());
        }
    }
}

/// A flipped bit is noticed: it cannot be read, or another header comes of it, or it is not what the header says.
#[test]
fn every_flipped_bit_is_noticed() {
    let chunk = built(&whole(&[b"one".to_vec(), b"three".to_vec()]));
    let headers = |records: &[Record]| -> Vec<Vec<u8>> {
        let headers = records.iter().map(|record| record.header_bytes().to_vec());
        headers.collect()
    };
    let before = headers(&records(&chunk).unwrap());
    let (mut unread, mut header, mut payload) = (0, 0, 0);
    for bit in 0..chunk.len() * 8 {
        let mut flipped = chunk.to_vec();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let Ok(read) = records_from(7, &flipped.into()) else {
            unread += 1;
            continue;
        };
        match read.iter().all(|record| record.verify().is_ok()) {
            true => {
                assert_ne!(headers(&read), before, "bit {bit} changed nothing");
                header += 1;
            }
            false => payload += 1,
        }
    }
    println!("{unread} are unreadable, {header} alter a header, {payload} do not fit it");
    // Payloads of 3 and 5 bytes, twice each, with a salt and two beginnings of digests.
    assert_eq!(payload, (2 * (3 + 5) + 2 * (16 + 4 + 4)) * 8);
}

#[test]
fn a_chunk_that_is_cut_anywhere_inside_a_record_is_noticed() {
    let records = whole(&[b"one".to_vec(), b"three".to_vec()]);
    for chunk in [built(&records), old(&records)] {
        let first = places(&chunk).unwrap().next().unwrap().unwrap();
        for cut in 0..chunk.len() {
            let result = super::records(&chunk.slice(..cut));
            let whole = cut == 1 || cut == first.at.end;
            assert_eq!(result.is_ok(), whole, "cut at {cut}: {result:?}");
        }
        let mut unknown = chunk.to_vec();
        unknown[0] = 3;
        let error = places(&unknown).err().unwrap().to_string();
        assert!(error.contains("format is unknown"), "{error}");
    }
}

#[test]
fn room_ends_at_the_target() {
    let mut chunk = Vec::new();
    begin(&mut chunk);
    push(&mut chunk, &whole(&[vec![0; 1_000]])[0]);
    let left = TARGET_BYTES - chunk.len() - LENGTH + Form::Short.left_out();
    assert!(has_room(&chunk, left));
    assert!(!has_room(&chunk, left + 1));
}
