//! The keys of every column family: big-endian, so that RocksDB's order of
//! bytes is the order of numbers.
//!
//! ```text
//! records   u64 position of the chunk's first record
//! streams   stream name, 0x00, u64 first version of the run
//! types     event type, 0x00, u64 position of the chunk's first record
//! batches   batch id (16)
//! blobs     SHA-256 (32)
//! tree      u8 level, u64 number of the run's first hash
//! models    model name, 0x00, 'c'              the checkpoint
//!           model name, 0x00, 'r', row key     a row
//! meta      a word
//! ```
//!
//! Names have no control characters, so 0x00 ends them and no name's keys can
//! be between another's.

use annals_event_log::Position;

/// Bytes of a number in a key.
pub(crate) const NUMBER: usize = size_of::<u64>();
/// What ends a name.
pub(crate) const END: u8 = 0x00;
/// The byte above [`END`]: a name with it sorts behind all of the name's keys.
pub(crate) const BEYOND: u8 = 0x01;

const _: () = assert!(NUMBER == 8, "numbers in keys have 8 bytes");

/// Above the names of all read models, which are of ASCII.
pub(crate) const BEYOND_MODELS: [u8; 1] = [u8::MAX];

/// `meta`: the format, u32.
pub(crate) const META_FORMAT: &[u8] = b"format";
/// `meta`: the log's id, 16 bytes.
pub(crate) const META_LOG_ID: &[u8] = b"log_id";
/// `meta`: when the log was created, i64 seconds and u32 nanoseconds.
pub(crate) const META_CREATED_AT: &[u8] = b"created_at";
/// `meta`: the secret of ids that follow from texts, 32 bytes; another one after each redaction.
pub(crate) const META_ID_SECRET: &[u8] = b"id_secret";
/// `meta`: the frontier of the tree.
pub(crate) const META_TREE: &[u8] = b"tree";
/// `meta`: what is left to do of redactions, see `redaction/pending.rs`.
pub(crate) const META_REDACTION: &[u8] = b"redaction";
/// `meta`: how the keys of the parts of what is left begin; a number follows, u32.
const META_REDACTION_PART: &[u8] = b"redaction/";
/// `meta`: the epoch of the content, see [`annals_event_log::Epoch`].
pub(crate) const META_EPOCH: &[u8] = b"epoch";
/// `meta`: there where no row of a read model was ever left unsynced by who closed the log.
pub(crate) const META_ROWS_SYNCED: &[u8] = b"rows_synced";
/// Its value.
pub(crate) const ROWS_SYNCED: [u8; 1] = [1];
/// `meta`: counts, see [`crate::rows::Counts`].
pub(crate) const META_COUNTS: &[u8] = b"counts";

/// `meta`: there while the indexes are rebuilt, see [`crate::rebuild`].
pub(crate) const META_REBUILDING: &[u8] = b"rebuilding";
/// `meta`: how often that was begun, u64.
pub(crate) const META_REBUILT: &[u8] = b"rebuilt";

/// The key of a part of what is left to do of a redaction.
pub(crate) fn redaction_part(number: u32) -> Vec<u8> {
    [META_REDACTION_PART, &number.to_be_bytes()].concat()
}

/// The number of the part that has this key.
pub(crate) fn redaction_part_number(key: &[u8]) -> Option<u32> {
    let number = key.strip_prefix(META_REDACTION_PART)?;
    Some(u32::from_be_bytes(number.try_into().ok()?))
}

/// The keys of all parts: from the first (inclusive) to the second (exclusive).
pub(crate) fn redaction_parts() -> (Vec<u8>, Vec<u8>) {
    let mut beyond = redaction_part(u32::MAX);
    beyond.push(0);
    (redaction_part(0), beyond)
}

/// The key of the chunk that begins at `position`.
pub(crate) fn record(position: Position) -> [u8; NUMBER] {
    position.0.to_be_bytes()
}

/// The key of a run of hashes of the tree.
pub(crate) fn tree(level: u8, first: u64) -> [u8; 1 + NUMBER] {
    let mut key = [level; 1 + NUMBER];
    if let Some(number) = key.get_mut(1..) {
        number.copy_from_slice(&first.to_be_bytes());
    }
    key
}

/// The level and the number of a run's key.
pub(crate) fn split_tree(key: &[u8]) -> Option<(u8, u64)> {
    let (level, number) = key.split_first()?;
    Some((*level, self::number(number)?))
}

/// Reads a number that is the whole key.
pub(crate) fn number(key: &[u8]) -> Option<u64> {
    Some(u64::from_be_bytes(key.try_into().ok()?))
}

/// Writes the key of a name's entry into `out`, replacing what is there.
pub(crate) fn write_entry(out: &mut Vec<u8>, name: &str, number: u64) {
    out.clear();
    out.extend_from_slice(name.as_bytes());
    out.push(END);
    out.extend_from_slice(&number.to_be_bytes());
}

/// The key of a name's entry.
pub(crate) fn entry(name: &str, number: u64) -> Vec<u8> {
    let mut key = Vec::with_capacity(name.len() + 1 + NUMBER);
    write_entry(&mut key, name, number);
    key
}

/// Takes the key of an entry apart.
pub(crate) fn split_entry(key: &[u8]) -> Option<(&str, u64)> {
    let (name, number) = key.split_at_checked(key.len().checked_sub(NUMBER)?)?;
    let (end, name) = name.split_last()?;
    if *end != END {
        return None;
    }
    Some((std::str::from_utf8(name).ok()?, self::number(number)?))
}

/// All keys of a name: from the first (inclusive) to the second (exclusive).
pub(crate) fn bounds(name: &str) -> (Vec<u8>, Vec<u8>) {
    let with = |last: u8| {
        let mut key = Vec::with_capacity(name.len() + 1);
        key.extend_from_slice(name.as_bytes());
        key.push(last);
        key
    };
    (with(END), with(BEYOND))
}

/// What follows a model's name in the key of its checkpoint.
const MODEL_CHECKPOINT: u8 = b'c';
/// The same, of a row.
pub(crate) const MODEL_ROW: u8 = b'r';

/// Takes a key of the read models apart: the name, checkpoint or row, and the row's key.
pub(crate) fn split_model(key: &[u8]) -> Option<(&str, u8, &[u8])> {
    let end = key.iter().position(|byte| *byte == END)?;
    let (name, rest) = key.split_at_checked(end)?;
    let [_, kind, row @ ..] = rest else {
        return None;
    };
    let is_known = matches!(*kind, MODEL_CHECKPOINT | MODEL_ROW);
    let name = std::str::from_utf8(name).ok()?;
    is_known.then_some((name, *kind, row))
}

/// The key of a read model's checkpoint.
pub(crate) fn model_checkpoint(model: &str) -> Vec<u8> {
    model_key(model, MODEL_CHECKPOINT, &[])
}

/// The key of a read model's row; of an empty row, the prefix of all of them.
pub(crate) fn model_row(model: &str, row: &[u8]) -> Vec<u8> {
    model_key(model, MODEL_ROW, row)
}

/// Behind the last row of a read model.
pub(crate) fn model_rows_end(model: &str) -> Vec<u8> {
    model_key(model, MODEL_ROW + 1, &[])
}

fn model_key(model: &str, kind: u8, row: &[u8]) -> Vec<u8> {
    let mut key = Vec::with_capacity(model.len() + 2 + row.len());
    key.extend_from_slice(model.as_bytes());
    key.push(END);
    key.push(kind);
    key.extend_from_slice(row);
    key
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn entries_are_taken_apart_as_they_were_put_together() {
        for (name, number) in [("run-1", 0), ("a-é日本", u64::MAX), ("x-y", 1 << 40)] {
            let key = entry(name, number);
            assert_eq!(key.len(), name.len() + 1 + NUMBER);
            assert_eq!(split_entry(&key), Some((name, number)));
        }
        for bad in [&b""[..], b"12345678", b"x12345678", b"\xff\x0012345678"] {
            assert_eq!(split_entry(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn the_order_of_keys_is_that_of_names_and_then_of_numbers() {
        let names = ["a-1", "a-1 ", "a-10", "a-1é", "b-0"];
        let mut keys = Vec::new();
        for name in names {
            keys.extend([1, 255, 256, u64::MAX].map(|number| entry(name, number)));
        }
        assert!(keys.is_sorted(), "{keys:?}");
        let (from, to) = bounds("a-1");
        let inside: Vec<_> = keys
            .iter()
            .filter(|key| **key >= from && **key < to)
            .collect();
        assert_eq!(
            inside.len(),
            4,
            "only the name's own keys are within its bounds"
        );
    }

    #[test]
    fn a_models_rows_are_adjacent() {
        let keys = [
            model_checkpoint("a"),
            model_row("a", b""),
            model_row("a", &[0xff; 3]),
            model_rows_end("a"),
            model_checkpoint("a.b"),
        ];
        assert!(keys.is_sorted(), "{keys:?}");
        let parts: Vec<_> = keys.iter().map(|key| split_model(key)).collect();
        let expected = [
            Some(("a", b'c', &b""[..])),
            Some(("a", b'r', b"")),
            Some(("a", b'r', &[0xff; 3])),
            None,
            Some(("a.b", b'c', b"")),
        ];
        assert_eq!(parts, expected);
        for bad in [&b""[..], b"a", b"a\0", b"\xff\0c", b"a\0x"] {
            assert_eq!(split_model(bad), None, "{bad:?}");
        }
    }
}
