//! What an unfinished redaction explains of the rows that were folded before it.

use annals_domain::redaction::{Redacted, RemovedPieces};
use annals_domain::{Emitted, Kind, Pieces, StreamKind, StreamRef};
use annals_event_log::memory::MemoryLog;
use annals_event_log::{Blobs, EventLog, Record};
use futures::executor::block_on;
use uuid::Uuid;

use super::super::Going;
use super::super::keys::words;
use super::{Rows, rebuilt_rows, samples};
use crate::testing::{Story, redacted};

/// The rows of a log with these records.
fn rows_of(story: &Story, records: Vec<Record>) -> Rows {
    let wanted = records.iter().flat_map(Record::content);
    let blobs = wanted.filter_map(|piece| piece.blob());
    let blobs = blobs.filter_map(|digest| block_on(story.log.blob(digest)).unwrap());
    let blobs = blobs.map(annals_event_log::Blob::new).collect();
    let log = MemoryLog::new(story.log.log_id());
    block_on(log.append_records(records, blobs)).unwrap();
    rebuilt_rows(&log)
}

/// What a redaction of all content of these records is about.
fn going(story: &Story, lost: &[&Record]) -> Going {
    let mut said = Story::new();
    for record in lost {
        let entry = story.entry(record);
        let mut pieces = Pieces::new();
        let objects = entry.touches();
        let event = Redacted {
            removed: vec![RemovedPieces {
                position: record.position().0,
                pieces: vec![0],
            }],
            objects: objects
                .iter()
                .map(|(kind, id)| (kind.number(), *id))
                .collect(),
            reason: pieces.text("why"),
        };
        let stream: StreamRef = entry.stream;
        let event = event.in_stream(stream.kind);
        said.append(&Emitted {
            stream,
            event,
            pieces,
        });
    }
    Going::of(&said.records()).unwrap()
}

/// The keys of rows that differ and are not explained.
fn unexplained(going: &Going, stored: &Rows, folded: &Rows) -> Vec<String> {
    let value = |rows: &Rows, key: &[u8]| {
        let found = rows.iter().find(|(of, _)| of == key);
        found.map(|(_, value)| value.clone())
    };
    let keys = stored.iter().chain(folded).map(|(key, _)| key);
    keys.filter(|key| {
        let (stored, folded) = (value(stored, key), value(folded, key));
        stored != folded && !going.explains(key, stored.as_deref(), folded.as_deref())
    })
    .map(|key| words(key))
    .collect()
}

/// Every example of every event loses its content, alone and with all others.
#[test]
fn all_that_rows_take_from_content_is_explained() {
    let kinds = Kind::ALL.iter().map(|kind| kind.stream_kind());
    for kind in kinds.chain([StreamKind::Alias]) {
        let mut story = Story::of(&samples(kind));
        if kind == StreamKind::Alias {
            // It is that of an object.
            story = Story::of(&[samples(StreamKind::Intent), samples(kind)].concat());
        }
        let records = story.records();
        let stored = rows_of(&story, records.clone());
        let with_content = |record: &&Record| !record.content().is_empty();
        let each = records.iter().filter(with_content).map(|one| vec![one]);
        let all = records.iter().filter(with_content).collect();
        for lost in each.chain([all]) {
            let is_lost =
                |record: &Record| lost.iter().any(|one| one.position() == record.position());
            let left = records.iter().map(|record| match is_lost(record) {
                true => redacted(record, |_| true),
                false => record.clone(),
            });
            let folded = rows_of(&story, left.collect());
            let found = unexplained(&going(&story, &lost), &stored, &folded);
            let events: Vec<&str> = lost.iter().map(|record| record.event_type()).collect();
            assert_eq!(found, [""; 0], "{events:?}");
        }
    }
}

/// What rows say of kinds, statuses, actors and links does not follow from content.
#[test]
fn nothing_else_is_explained() {
    let story = Story::of(&samples(StreamKind::Intent));
    let records = story.records();
    let going = going(&story, &records.iter().collect::<Vec<_>>());
    let rows = rows_of(&story, records);
    for (key, value) in rows.iter().filter(|(key, _)| b"kasq".contains(&key[0])) {
        assert!(!going.explains(key, Some(value), None), "{key:?}");
        assert!(!going.explains(key, None, Some(value)), "{key:?}");
    }
    let objects = rows.iter().filter(|(key, _)| key[0] == b'o');
    let mut count = 0;
    for (key, value) in objects {
        assert!(!going.explains(key, Some(value), None), "it is missing");
        let mut flipped = value.to_vec();
        // The kind, behind the format.
        flipped[1] ^= 1;
        assert!(!going.explains(key, Some(&flipped), Some(value)));
        assert!(!Going::default().explains(key, Some(&flipped), Some(value)));
        count += 1;
    }
    assert!(count > 0 && rows.iter().any(|(key, _)| key[0] == b'k'));
    let other = Uuid::nil().into_bytes();
    let tag = [&b"l"[..], &other, &[0; 4]].concat();
    assert!(!going.explains(&tag, Some(b"x"), None), "of another object");
}
