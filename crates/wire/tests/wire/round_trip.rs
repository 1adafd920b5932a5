//! Every event comes back from its bytes, and nothing else is taken for one.

use annals_wire::sample::samples;
use annals_wire::{DecodeError, decode_structure, encode_structure};
use proptest::prelude::*;

use crate::arbitrary::any_event;

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    #[test]
    fn any_event_comes_back(event in any_event()) {
        let bytes = encode_structure(&event).expect("it is encoded");
        let read = decode_structure(
            event.stream_kind(), event.event_type(), event.schema_version(), &bytes,
        ).expect("it is decoded");
        prop_assert_eq!(&read, &event);
        prop_assert_eq!(encode_structure(&read).expect("it is encoded again"), bytes);
    }

    #[test]
    fn no_part_of_a_structure_is_one(event in any_event(), cut in any::<prop::sample::Index>()) {
        let bytes = encode_structure(&event).expect("it is encoded");
        let part = &bytes[..cut.index(bytes.len())];
        let read = decode_structure(
            event.stream_kind(), event.event_type(), event.schema_version(), part,
        );
        prop_assert!(
            matches!(read, Err(DecodeError::Empty { .. } | DecodeError::Malformed { .. })),
            "{:?}", read
        );
    }

    #[test]
    fn bytes_after_a_structure_are_refused(
        event in any_event(), more in prop::collection::vec(any::<u8>(), 1..20),
    ) {
        let bytes = encode_structure(&event).expect("it is encoded");
        let longer = [&bytes[..], &more[..]].concat();
        let read = decode_structure(
            event.stream_kind(), event.event_type(), event.schema_version(), &longer,
        );
        prop_assert!(
            matches!(read, Err(DecodeError::TrailingBytes { left, .. }) if left == more.len()),
            "{:?}", read
        );
    }

    /// For any bytes, decoding returns; what it accepts, it can write.
    #[test]
    fn arbitrary_bytes_never_panic(
        which in any::<prop::sample::Index>(),
        mut bytes in prop::collection::vec(any::<u8>(), 0..300),
        formatted in any::<bool>(),
    ) {
        let all = samples();
        let event = &all[which.index(all.len())].event;
        if let (true, Some(first)) = (formatted, bytes.first_mut()) {
            *first = 1;
        }
        let read = decode_structure(event.stream_kind(), event.event_type(), 1, &bytes);
        if let Ok(read) = read {
            prop_assert!(encode_structure(&read).is_ok());
        }
    }

    /// A single changed byte gives another event or an error, never a panic.
    #[test]
    fn a_changed_byte_never_panics(
        event in any_event(), at in any::<prop::sample::Index>(), with in 1..=255_u8,
    ) {
        let mut bytes = encode_structure(&event).expect("it is encoded").to_vec();
        let at = at.index(bytes.len());
        bytes[at] ^= with;
        let _ = decode_structure(
            event.stream_kind(), event.event_type(), event.schema_version(), &bytes,
        );
    }
}

/// 256 unless the environment asks for more.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES")
        .ok()
        .and_then(|cases| cases.parse().ok())
        .unwrap_or(256)
}
