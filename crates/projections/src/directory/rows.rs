//! The directory's rows, byte for byte.
//!
//! ```text
//! key                                value
//! "i", id (16)                       u8 kind, u8 stream kind, stream id (16)
//! "s", the id's 32 hex digits from   u8 kind
//!      the last to the first
//! ```
//!
//! A kind is its number in document 000's registry, 8 to 18. A stream kind is
//! 1 intent, 2 plan, 3 task, 4 run, 5 snapshot, 6 pipeline,
//! 7 alias.

use annals_domain::{Kind, StreamKind, StreamRef};
use bytes::Bytes;
use uuid::Uuid;

use super::DirectoryError;

/// The read model's name. Rows of another form are another model.
pub(super) const MODEL: &str = "directory.1";

/// An object's kind and the stream that holds it.
pub(super) type Place = (Kind, StreamRef);

/// Hex digits of an id.
pub(super) const DIGITS: usize = 32;

const BY_ID: u8 = b'i';
const BY_SUFFIX: u8 = b's';

fn stream_code(kind: StreamKind) -> u8 {
    match kind {
        StreamKind::Intent => 1,
        StreamKind::Plan => 2,
        StreamKind::Task => 3,
        StreamKind::Run => 4,
        StreamKind::Snapshot => 5,
        StreamKind::Pipeline => 6,
        StreamKind::Alias => 7,
    }
}

fn stream_kind(code: u8) -> Option<StreamKind> {
    StreamKind::ALL
        .iter()
        .copied()
        .find(|kind| stream_code(*kind) == code)
}

fn key(table: u8, rest: &[u8]) -> Bytes {
    let mut key = Vec::with_capacity(1 + rest.len());
    key.push(table);
    key.extend_from_slice(rest);
    key.into()
}

/// The key of an object's place.
pub(super) fn id_key(id: Uuid) -> Bytes {
    key(BY_ID, id.as_bytes())
}

/// The key of an object by its digits from the last to the first, or what such
/// keys begin with.
pub(super) fn suffix_key(reversed: &str) -> Bytes {
    key(BY_SUFFIX, reversed.as_bytes())
}

/// The digits of an id from the last to the first.
pub(super) fn reversed_digits(id: Uuid) -> String {
    id.simple().to_string().chars().rev().collect()
}

/// Both rows of an object.
pub(super) fn rows(id: Uuid, place: &Place) -> [(Bytes, Option<Bytes>); 2] {
    let (kind, stream) = place;
    let mut value = vec![kind.number(), stream_code(stream.kind)];
    value.extend_from_slice(stream.id.as_bytes());
    let by_suffix = suffix_key(&reversed_digits(id));
    [
        (id_key(id), Some(value.into())),
        (by_suffix, Some(vec![kind.number()].into())),
    ]
}

fn malformed(key: &[u8]) -> DirectoryError {
    DirectoryError::MalformedRow {
        key: hex::encode(key),
    }
}

/// An object's place from its row.
pub(super) fn read_place(key: &[u8], value: &[u8]) -> Result<Place, DirectoryError> {
    let read = || {
        let ([kind, code], id) = value.split_first_chunk::<2>()?;
        let stream = StreamRef {
            kind: stream_kind(*code)?,
            id: Uuid::from_slice(id).ok()?,
        };
        Some((Kind::from_number(*kind)?, stream))
    };
    read().ok_or_else(|| malformed(key))
}

/// An object from its row by suffix: the digits from the last to the first,
/// the kind and the id.
pub(super) fn read_suffix(
    key: &[u8],
    value: &[u8],
) -> Result<(String, Kind, Uuid), DirectoryError> {
    let read = || {
        let (table, digits) = key.split_first()?;
        let reversed = String::from_utf8(digits.to_vec()).ok()?;
        let forward: String = reversed.chars().rev().collect();
        let id = Uuid::try_parse(&forward)
            .ok()
            .filter(|_| *table == BY_SUFFIX)?;
        let [kind] = value else { return None };
        Some((reversed, Kind::from_number(*kind)?, id))
    };
    read().ok_or_else(|| malformed(key))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn the_rows_are_what_the_table_says() {
        let id: Uuid = "0198c0de-0000-7000-8000-0000000000af".parse().unwrap();
        let stream = StreamRef {
            kind: StreamKind::Run,
            id: Uuid::from_u128(5),
        };
        let [(id_key, place), (suffix_key, kind)] = rows(id, &(Kind::PatchSet, stream));
        assert_eq!(
            hex::encode(&id_key),
            "690198c0de000070008000".to_owned() + "0000000000af"
        );
        let place = place.unwrap();
        assert_eq!(hex::encode(&place), "0b0400000000000000000000000000000005");
        assert_eq!(suffix_key, "sfa0000000000000800070000ed0c8910");
        assert_eq!(kind.as_deref(), Some([11].as_slice()));
        assert_eq!(
            read_place(&id_key, &place).unwrap(),
            (Kind::PatchSet, stream)
        );
        let reversed = reversed_digits(id);
        assert_eq!(
            read_suffix(&suffix_key, &[11]).unwrap(),
            (reversed, Kind::PatchSet, id)
        );
    }

    #[test]
    fn every_stream_kind_has_a_code_of_its_own() {
        for kind in StreamKind::ALL {
            assert_eq!(stream_kind(stream_code(*kind)), Some(*kind));
        }
        assert_eq!(stream_kind(0), None);
    }

    #[test]
    fn malformed_rows_are_named() {
        for value in [[].as_slice(), &[12], &[12, 9], &[1; 18], &[12; 17]] {
            let error = read_place(b"ix", value).unwrap_err();
            assert!(error.to_string().contains("6978"), "{error}");
        }
        for (key, value) in [(b"s12".as_slice(), [11].as_slice()), (b"", &[11])] {
            assert!(read_suffix(key, value).is_err());
        }
    }
}
