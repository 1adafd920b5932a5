//! Logs that break their word, each in one way: the invariants name it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use annals_event_log::memory::MemoryLog;
use annals_event_log::{
    Append, Appended, BatchStatus, Content, Digest, EventLog, Page, Position, Query, ReadError,
    Record, Source, Stats, Store, StreamHead, Version,
};
use annals_testkit::generators::appends::Sample;
use annals_testkit::generators::objects;
use annals_testkit::invariants::{Invariant, acknowledged, check_all};
use annals_testkit::model::ModelRecord;
use annals_testkit::through::{Hook, Through};
use bytes::Bytes;
use futures::FutureExt;
use futures::executor::block_on;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use uuid::Uuid;

/// One way in which a log can be wrong.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Lie {
    Gap,
    Version,
    Time,
    Content,
    OldWatermark,
    Batch,
    BatchUnknown,
    Head,
    NoStream,
    MoreStreams,
    StreamIndex,
    StreamIndexBack,
    TypeIndex,
    Leaf,
    MoreHashes,
    UpperHash,
    NoBlob,
    OtherBlob,
    ShortBlob,
    Streams,
    Batches,
    Blobs,
}

impl Lie {
    const ALL: [(Lie, Invariant); 22] = [
        (Lie::Gap, Invariant::DensePositions),
        (Lie::Version, Invariant::DenseVersions),
        (Lie::Time, Invariant::Times),
        (Lie::Content, Invariant::Digests),
        (Lie::OldWatermark, Invariant::DensePositions),
        (Lie::Batch, Invariant::Batches),
        (Lie::BatchUnknown, Invariant::Batches),
        (Lie::Head, Invariant::Heads),
        (Lie::NoStream, Invariant::Heads),
        (Lie::MoreStreams, Invariant::Heads),
        (Lie::StreamIndex, Invariant::Indexes),
        (Lie::StreamIndexBack, Invariant::Indexes),
        (Lie::TypeIndex, Invariant::Indexes),
        (Lie::Leaf, Invariant::Tree),
        (Lie::MoreHashes, Invariant::Tree),
        (Lie::UpperHash, Invariant::Tree),
        (Lie::NoBlob, Invariant::Blobs),
        (Lie::OtherBlob, Invariant::Blobs),
        (Lie::ShortBlob, Invariant::Blobs),
        (Lie::Streams, Invariant::Stats),
        (Lie::Batches, Invariant::Stats),
        (Lie::Blobs, Invariant::Stats),
    ];
}

/// A record with some of its bytes changed.
fn altered(record: &Record, at: usize, by: &[u8]) -> Record {
    let mut bytes = record.as_bytes().to_vec();
    bytes[at..at + by.len()].copy_from_slice(by);
    Record::decode(bytes.into()).expect("still a record")
}

impl Hook for Lie {
    fn watermark(&self, position: Position) -> Position {
        match self {
            Lie::OldWatermark => Position(position.0 - 1),
            _ => position,
        }
    }

    fn page(&self, query: &Query, mut page: Page) -> Page {
        let backward = query.direction == annals_event_log::Direction::Backward;
        let of_stream = matches!(query.source, Source::Stream(_));
        let of_type = matches!(query.source, Source::EventType(_));
        match self {
            Lie::StreamIndex if of_stream && !backward => drop(page.records.pop()),
            Lie::StreamIndexBack if of_stream && backward => page.records.reverse(),
            Lie::TypeIndex if of_type => drop(page.records.pop()),
            _ => {}
        }
        if query.source != Source::All {
            return page;
        }
        if *self == Lie::Gap {
            page.records
                .retain(|record| record.position() != Position(7));
        }
        for record in &mut page.records {
            // In the header, after its length: the version at 9, the time at 17.
            let at_seven = record.position() == Position(7);
            match self {
                Lie::Version if at_seven => {
                    let version = (record.version().0 + 1).to_be_bytes();
                    *record = altered(record, 2 + 9, &version);
                }
                Lie::Time if at_seven => *record = altered(record, 2 + 17, &[0; 8]),
                Lie::Content if at_seven => {
                    *record = altered(record, 2 + 111, &[1, 2, 3]);
                }
                Lie::Batch if at_seven => *record = altered(record, 2 + 57, &[9; 16]),
                _ => {}
            }
        }
        page
    }

    fn head(&self, version: Version) -> Version {
        match self {
            Lie::Head => version.next(),
            _ => version,
        }
    }

    fn streams(&self, mut streams: Vec<StreamHead>) -> Vec<StreamHead> {
        match (self, streams.last().cloned()) {
            (Lie::NoStream, Some(_)) => drop(streams.remove(0)),
            (Lie::MoreStreams, Some(last)) if last.name.as_str() < "zz" => {
                let name = "zz-1".parse().unwrap();
                streams.push(StreamHead { name, ..last });
            }
            _ => {}
        }
        streams
    }

    fn batch(&self, status: BatchStatus) -> BatchStatus {
        match self {
            Lie::BatchUnknown => BatchStatus::Unknown,
            _ => status,
        }
    }

    fn hashes(&self, level: u8, mut hashes: Vec<Digest>) -> Vec<Digest> {
        match self {
            Lie::Leaf if hashes.len() > 7 && level == 0 => hashes[7] = Digest::of(b"another"),
            Lie::MoreHashes if !hashes.is_empty() && level == 0 => hashes.push(hashes[0]),
            Lie::UpperHash if level == 8 => hashes.iter_mut().for_each(|it| it.0[0] ^= 1),
            _ => {}
        }
        hashes
    }

    fn blob(&self, blob: Option<Bytes>) -> Option<Bytes> {
        let blob = blob?;
        match self {
            Lie::NoBlob => None,
            Lie::OtherBlob => Some(vec![0; blob.len()].into()),
            Lie::ShortBlob => Some(blob.slice(1..)),
            _ => Some(blob),
        }
    }

    fn stats(&self, mut stats: Stats) -> Stats {
        match self {
            Lie::Streams => stats.streams += 1,
            Lie::Batches => stats.batches -= 1,
            Lie::Blobs => stats.blobs -= 1,
            _ => {}
        }
        stats
    }
}

/// Over 256 records in 5 streams, the last batches with blobs.
fn filled() -> (Arc<dyn Store>, Vec<(Append, Appended)>) {
    let log = Arc::new(MemoryLog::new(Uuid::from_u128(1)));
    let mut sample = Sample::new(1);
    let mut appended = Vec::new();
    for number in 0..100 {
        let names = ["a-1", "b-1", "b-2", "c-1", "c-11"];
        let mut append = sample.append(names[number % 5], 3);
        if number > 96 {
            let (blob, piece) = sample.blob();
            append.events[0].content.push(piece);
            append.blobs.push(blob);
        }
        let answer = block_on(log.append(append.clone())).unwrap();
        appended.push((append, answer));
    }
    (log, appended)
}

#[test]
fn a_sound_log_is_called_sound() {
    let (log, appended) = filled();
    let report = check_all(&*log).unwrap();
    let counts = (report.records, report.streams, report.batches, report.blobs);
    assert_eq!(counts, (300, 5, 100, 3));
    assert_eq!((report.unreferenced_blobs, report.removed_pieces), (0, 0));
    for (append, answer) in &appended {
        acknowledged(&*log, append, *answer).unwrap();
    }
    assert!(check_all(&MemoryLog::new(Uuid::from_u128(2))).is_ok());
}

#[test]
fn each_lie_is_noticed_by_the_invariant_that_it_violates() {
    for (lie, invariant) in Lie::ALL {
        let (log, _) = filled();
        let log = Through::new(log, lie);
        let violation = check_all(&log).expect_err(&format!("{lie:?} is not noticed"));
        assert_eq!(violation.invariant, invariant, "{lie:?}: {violation}");
        println!("{lie:?}: {violation}");
    }
}

/// A store that answers the same to every `first` and every `from`. It is asked so often and
/// no more, so that a check without an end fails here and does not hang.
struct Stuck {
    log: Arc<dyn Store>,
    hashes: bool,
    asked: AtomicU64,
}

impl Stuck {
    fn new(hashes: bool) -> Through<Stuck> {
        let (log, _) = filled();
        let stuck = Stuck {
            log: Arc::clone(&log),
            hashes,
            asked: AtomicU64::new(0),
        };
        Through::new(log, stuck)
    }
}

impl Hook for Stuck {
    fn before(&self) -> Result<(), ReadError> {
        let asked = self.asked.fetch_add(1, Ordering::SeqCst);
        assert!(asked < 1_000, "it asks and asks");
        Ok(())
    }

    fn hashes(&self, level: u8, hashes: Vec<Digest>) -> Vec<Digest> {
        let first = self.log.tree_hashes(level, 0, 1_000).now_or_never();
        match self.hashes {
            true => first.unwrap().unwrap(),
            false => hashes,
        }
    }

    fn page(&self, query: &Query, page: Page) -> Page {
        let first = query.clone().starting_at(1);
        let next = Some(query.from.saturating_add(1));
        match (self.hashes, &query.source) {
            (false, Source::Stream(_)) => Page {
                next,
                ..self.log.read(first).now_or_never().unwrap().unwrap()
            },
            _ => page,
        }
    }
}

#[test]
fn a_store_that_ignores_where_to_begin_is_named() {
    for (hashes, invariant) in [(true, Invariant::Tree), (false, Invariant::Indexes)] {
        let violation = check_all(&Stuck::new(hashes)).expect_err("a violation");
        assert_eq!(violation.invariant, invariant, "{violation}");
    }
}

#[test]
fn what_was_acknowledged_and_is_not_as_it_was_given_is_named() {
    let (log, appended) = filled();
    let (append, answer) = appended[50].clone();
    let refused = |append: &Append, answer: Appended| {
        let violation = acknowledged(&*log, append, answer).expect_err("a violation");
        assert_eq!(violation.invariant, Invariant::Acknowledged, "{violation}");
    };
    let mut never_sent = append.clone();
    never_sent.batch = Uuid::from_u128(5);
    refused(&never_sent, answer);
    let mut more = append.clone();
    more.events.push(more.events[0].clone());
    refused(&more, answer);
    for change in [
        |append: &mut Append| append.events[1].structure = Bytes::from_static(b"other"),
        |append: &mut Append| append.events[2].id = Uuid::nil(),
        |append: &mut Append| {
            let salted = Digest::of(b"one piece more");
            append.events[0].content.push(Content::Removed { salted });
        },
        |append: &mut Append| append.events.swap(0, 1),
    ] {
        let mut other = append.clone();
        change(&mut other);
        refused(&other, answer);
    }
    refused(&append, Appended::new(Position(1), Position(3)));
}

#[test]
fn histories_of_objects_are_sound_logs() {
    let mut runner = TestRunner::deterministic();
    for _ in 0..10 {
        let history = objects::valid(60).new_tree(&mut runner).unwrap().current();
        assert_eq!(history.refused().count(), 0);
        let log = history.log();
        let report = check_all(&log).unwrap();
        assert_eq!(report.records, history.events().count() as u64);
        assert!(report.records > 20, "{report:?}");
    }
}

/// The model's record is the store's, byte for byte.
#[test]
fn the_models_record_is_the_stores() {
    let (log, appended) = filled();
    let page = block_on(log.read(Query::all(Position(1)))).unwrap();
    let mut records = page.records.iter();
    for (append, _) in appended {
        for event in append.events {
            let record = records.next().unwrap();
            let model = ModelRecord {
                position: record.position(),
                version: record.version(),
                recorded_at: record.recorded_at(),
                batch: append.batch,
                event,
            };
            assert_eq!(model.bytes(), record.as_bytes().to_vec());
            assert_eq!(model.header(), record.header_bytes());
        }
    }
}
