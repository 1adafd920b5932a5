//! Questions that change nothing, and the comparison of everything at the end.

use std::fmt::{self, Debug};
use std::sync::Arc;

use annals_event_log::{
    Digest, Direction, Epoch, Position, Query, ReadError, Row, Source, Store, StreamHead,
    StreamName, Version, tree,
};
use bytes::Bytes;
use futures::executor::block_on;

use super::concrete::{Maker, blob, nth, stream};
use super::log::ModelLog;
use crate::generators::steps::{MODELS, PREFIXES, ReadStep, STREAMS, SourceStep, Step, TYPES};
use crate::invariants;

/// What was asked, expected and found.
pub(super) type Differs = Box<(String, String, String)>;

/// Demands that two things are equal.
pub(super) fn same<T: PartialEq + Debug>(
    asked: impl FnOnce() -> String,
    expected: &T,
    found: &T,
) -> Result<(), Differs> {
    if expected == found {
        return Ok(());
    }
    let (expected, found) = (format!("{expected:?}"), format!("{found:?}"));
    Err(Box::new((asked(), expected, found)))
}

/// Demands that a read succeeds.
pub(super) fn read<T>(
    asked: impl FnOnce() -> String,
    answer: Result<T, ReadError>,
) -> Result<T, Differs> {
    answer.map_err(|error| Box::new((asked(), "an answer".to_owned(), error.to_string())))
}

/// A store and the model of it.
pub(super) struct Pair {
    pub(super) log: Arc<dyn Store>,
    pub(super) model: ModelLog,
    pub(super) maker: Maker,
    /// The epoch before the last redaction.
    pub(super) before: Epoch,
}

/// Asks the store and the model a question.
pub(super) fn answer(pair: &Pair, question: &Step) -> Result<(), Differs> {
    let asked = || format!("{question:?}");
    let (log, model) = (&*pair.log, &pair.model);
    match question {
        Step::Read(step) => pages(pair, step),
        Step::Streams {
            prefix,
            after,
            limit,
        } => {
            let prefix = PREFIXES.get(*prefix).copied().unwrap_or_default();
            streams(pair, prefix, after.map(stream).as_ref(), *limit)
        }
        Step::Batch { batch, other } => {
            let Some(tried) = nth(&pair.maker.tried, *batch) else {
                return Ok(());
            };
            let request = match other {
                true => Bytes::from_static(b"a third one"),
                false => tried.request.clone(),
            };
            let expected = model.batch(tried.batch, &request);
            let found = read(asked, block_on(log.batch(tried.batch, &request)))?;
            same(asked, &expected, &found)
        }
        Step::Tree { first, limit } => {
            let found = read(asked, block_on(log.tree_hashes(0, *first, *limit)))?;
            same(asked, &model.tree_hashes(0, *first, *limit), &found)
        }
        Step::Scan {
            model: number,
            prefix,
            beyond,
            limit,
        } => {
            let name = MODELS.get(*number).copied().unwrap_or_default();
            let prefix: Vec<u8> = prefix.iter().map(|byte| byte % 4).collect();
            let beyond = beyond.map(|byte| [byte % 4, byte]);
            scans(
                pair,
                name,
                &prefix,
                beyond.as_ref().map(|key| &key[..]),
                *limit,
            )
        }
        _ => Ok(()),
    }
}

/// A record as a difference shows it; equal where all bytes are.
#[derive(PartialEq)]
struct Brief {
    place: String,
    bytes: Digest,
}

impl Brief {
    fn new(position: Position, version: Version, stream: &str, bytes: &[u8]) -> Brief {
        Brief {
            place: format!("{position}: {stream} {version}"),
            bytes: Digest::of(bytes),
        }
    }
}

impl Debug for Brief {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digest = self.bytes.to_string();
        let first = digest.get(..8).unwrap_or_default();
        write!(f, "{} (SHA-256 {first}..)", self.place)
    }
}

/// All pages of a read, each compared.
fn pages(pair: &Pair, step: &ReadStep) -> Result<(), Differs> {
    let source = match step.source {
        SourceStep::All => Source::All,
        SourceStep::Stream(number) => Source::Stream(stream(number)),
        SourceStep::EventType(number) => {
            Source::EventType(nth(&TYPES, number).copied().unwrap_or_default().to_owned())
        }
    };
    let mut query = Query::all(Position(step.from)).limit(step.limit);
    query.source = source;
    query.direction = step.direction;
    loop {
        let asked = || format!("a page of {query:?}");
        let (expected, more) = pair.model.page(&query);
        let page = read(asked, block_on(pair.log.read(query.clone())))?;
        let expected = expected.iter().map(|record| {
            let (at, version) = (record.position, record.version);
            Brief::new(at, version, record.event.stream.as_str(), &record.bytes())
        });
        let found = page.records.iter().map(|record| {
            let (at, version) = (record.position(), record.version());
            Brief::new(at, version, record.stream(), record.as_bytes())
        });
        let (expected, found): (Vec<Brief>, Vec<Brief>) = (expected.collect(), found.collect());
        same(asked, &expected, &found)?;
        let asked = || format!("whether there is a page behind that of {query:?}");
        same(asked, &more, &page.next.is_some())?;
        let Some(next) = page.next else { return Ok(()) };
        let onward = match query.direction {
            Direction::Forward => next > query.from,
            Direction::Backward => next < query.from,
        };
        same(
            || format!("that {next} leads on in {query:?}"),
            &true,
            &onward,
        )?;
        query.from = next;
    }
}

fn streams(
    pair: &Pair,
    prefix: &str,
    after: Option<&StreamName>,
    limit: usize,
) -> Result<(), Differs> {
    let asked = || format!("{limit} streams that begin with {prefix:?}, after {after:?}");
    let found = block_on(pair.log.streams(prefix, after, limit));
    let found: Vec<StreamHead> = read(asked, found)?;
    same(asked, &pair.model.streams(prefix, after, limit), &found)
}

fn scans(
    pair: &Pair,
    name: &str,
    prefix: &[u8],
    beyond: Option<&[u8]>,
    limit: usize,
) -> Result<(), Differs> {
    let (log, model) = (&*pair.log, &pair.model);
    let asked = |way: &str| format!("{limit} rows {way} of {name:?}, {prefix:?}, {beyond:?}");
    let forward = || asked("forward");
    let found: Vec<Row> = read(forward, block_on(log.scan(name, prefix, beyond, limit)))?;
    same(forward, &model.scan(name, prefix, beyond, limit), &found)?;
    let back = || asked("backward");
    let found: Vec<Row> = read(back, block_on(log.scan_back(name, prefix, beyond, limit)))?;
    same(back, &model.scan_back(name, prefix, beyond, limit), &found)?;
    let keys: Vec<Bytes> = (0..=8_u8)
        .map(|n| Bytes::copy_from_slice(&[n % 4, n]))
        .collect();
    let expected: Vec<_> = keys.iter().map(|key| model.row(name, key)).collect();
    let many = || asked("by their keys");
    same(
        many,
        &expected,
        &read(many, block_on(log.get_many(name, &keys)))?,
    )?;
    for (key, expected) in keys.iter().zip(&expected) {
        let one = || format!("the row {key:?} of {name:?}");
        same(one, expected, &read(one, block_on(log.get(name, key)))?)?;
    }
    let checkpoint = || format!("the checkpoint of {name:?}");
    let found = read(checkpoint, block_on(log.checkpoint(name)))?;
    same(checkpoint, &model.checkpoint(name), &found)
}

/// Everything that can be asked, and the invariants.
pub(super) fn everything(pair: &Pair) -> Result<(), Differs> {
    let (log, model) = (&*pair.log, &pair.model);
    let sources = (0..STREAMS.len()).map(SourceStep::Stream);
    let types = (0..TYPES.len()).map(SourceStep::EventType);
    for source in sources.chain(types).chain([SourceStep::All]) {
        for (direction, from) in [(Direction::Forward, 0), (Direction::Backward, u64::MAX)] {
            let step = ReadStep {
                source,
                from,
                direction,
                limit: 7,
            };
            pages(pair, &step)?;
        }
    }
    for number in 0..STREAMS.len() {
        let name = stream(number);
        let asked = || format!("the head of {name}");
        let found: Version = read(asked, block_on(log.head(&name)))?;
        same(asked, &model.head(&name), &found)?;
    }
    for prefix in PREFIXES {
        streams(pair, prefix, None, 1_000)?;
    }
    for tried in &pair.maker.tried {
        let asked = || format!("the status of batch {}", tried.batch);
        let found = read(asked, block_on(log.batch(tried.batch, &tried.request)))?;
        same(asked, &model.batch(tried.batch, &tried.request), &found)?;
    }
    for number in 0..6 {
        let digest = blob(number).digest();
        let asked = || format!("blob {number}");
        let found = read(asked, block_on(log.blob(digest)))?;
        same(asked, &model.blob(digest).cloned(), &found)?;
    }
    for level in [0, 8, 16] {
        let asked = || format!("the tree's hashes of level {level}");
        let found = read(asked, block_on(log.tree_hashes(level, 0, usize::MAX)))?;
        same(asked, &model.tree_hashes(level, 0, usize::MAX), &found)?;
    }
    roots(log, pair)?;
    for name in MODELS {
        scans(pair, name, b"", None, usize::MAX)?;
    }
    let violated = |violation: invariants::Violation| {
        let asked = "the invariants at the end".to_owned();
        Box::new((asked, "none violated".to_owned(), violation.to_string()))
    };
    invariants::check_all(log).map(|_| ()).map_err(violated)
}

/// The root of every size that there was.
fn roots(log: &dyn Store, pair: &Pair) -> Result<(), Differs> {
    let Position(end) = pair.model.watermark();
    for (size, leaves) in (0..=end).zip(0_usize..) {
        let asked = || format!("the root of {size} records");
        let found: Digest = read(asked, block_on(tree::root(log, size)))?;
        same(asked, &pair.model.root(leaves), &found)?;
    }
    Ok(())
}
