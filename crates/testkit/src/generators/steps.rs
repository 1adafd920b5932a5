//! Steps for a log, valid and invalid: what [`crate::model`] drives a store with.
//!
//! A step names what it is about by small numbers (the second stream of a list, the
//! third batch that was tried), which are given their meaning when it is taken. So
//! any part of a list of steps is a list of steps, and a failing one shrinks to the
//! few steps that matter.

use annals_event_log::Direction;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// The streams that steps are about: names that resemble each other among them.
pub const STREAMS: [&str; 6] = ["a-1", "a-11", "a-1 é", "a_b-1", "b-1", "b-日本"];

/// Prefixes to list streams by.
pub const PREFIXES: [&str; 6] = ["", "a", "a-1", "b-", "b-日", "none"];

/// The event types of steps.
pub const TYPES: [&str; 3] = ["test.happened", "test.happened2", "test.ended"];

/// The read models of steps; the last two cannot be names of any.
pub const MODELS: [&str; 5] = ["rows", "rows.v2", "other_1", "", "No-Name"];

/// Which batch an append is.
#[derive(Debug, Clone, Copy)]
pub enum BatchStep {
    /// A new one.
    New,
    /// One that was tried before, whether accepted or refused, and just as it was.
    Repeat(usize),
    /// The same id with other events and another request.
    OtherRequest(usize),
}

/// A piece of content.
#[derive(Debug, Clone, Copy)]
pub enum PieceStep {
    /// So many bytes inside the record.
    Inline(usize),
    /// A blob of a small list, which comes with the append or not.
    Blob {
        /// Its number.
        blob: u8,
        /// Whether the append brings it.
        supplied: bool,
        /// Whether it is an attachment.
        attachment: bool,
        /// Whether the size that it says is wrong.
        false_size: bool,
    },
}

/// One event.
#[derive(Debug, Clone)]
pub struct EventStep {
    /// The number of its stream in [`STREAMS`].
    pub stream: usize,
    /// The number of its type in [`TYPES`].
    pub event_type: usize,
    /// Bytes of its structure.
    pub structure: usize,
    /// Its content.
    pub pieces: Vec<PieceStep>,
}

/// What an append expects of a stream.
#[derive(Debug, Clone, Copy)]
pub enum ExpectStep {
    /// Any state.
    Any,
    /// That it is not there.
    NoStream,
    /// That it is there.
    Exists,
    /// That its version differs from the true one by this.
    Off(i8),
}

/// What is wrong with an append by itself, on any log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flaw {
    /// No events.
    NoEvents,
    /// An event type of no characters.
    EmptyType,
    /// An event type with a line break.
    ControlType,
    /// An event type of one byte too many.
    LongType,
    /// Schema version 0.
    SchemaZero,
    /// An actor's id of spaces.
    BlankActor,
    /// An actor's kind of one byte too many.
    LongKind,
    /// An actor's id of one byte too many.
    LongActor,
    /// A structure of one byte too many.
    LargeStructure,
    /// An inline piece of one byte too many.
    LargePiece,
    /// One piece too many.
    ManyPieces,
    /// A display name in a piece that is not there.
    NoActorPiece,
    /// A piece that is removed already.
    RemovedPiece,
}

const FLAWS: [Flaw; 13] = [
    Flaw::NoEvents,
    Flaw::EmptyType,
    Flaw::ControlType,
    Flaw::LongType,
    Flaw::SchemaZero,
    Flaw::BlankActor,
    Flaw::LongKind,
    Flaw::LongActor,
    Flaw::LargeStructure,
    Flaw::LargePiece,
    Flaw::ManyPieces,
    Flaw::NoActorPiece,
    Flaw::RemovedPiece,
];

/// An append.
#[derive(Debug, Clone)]
pub struct AppendStep {
    /// Its batch.
    pub batch: BatchStep,
    /// Its events.
    pub events: Vec<EventStep>,
    /// What it expects, by the number of the stream.
    pub expectations: Vec<(usize, ExpectStep)>,
    /// What is wrong with it.
    pub flaw: Option<Flaw>,
}

/// Which batch copied records are of.
#[derive(Debug, Clone, Copy)]
pub enum CopiedBatch {
    /// A new one.
    New,
    /// The one that the log ends with.
    Last,
    /// One that was tried before.
    Earlier(usize),
}

/// What is wrong with a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyFlaw {
    /// It has no records.
    Empty,
    /// It leaves a position out.
    Gap,
    /// It begins at the last position.
    Overlap,
    /// Its first record leaves a version out.
    Version,
    /// Its first record is older than the log's last.
    Time,
    /// Its blobs do not come with it.
    NoBlobs,
}

/// A verbatim copy of records.
#[derive(Debug, Clone)]
pub struct CopyStep {
    /// Its batch.
    pub batch: CopiedBatch,
    /// Its events.
    pub events: Vec<EventStep>,
    /// What is wrong with it.
    pub flaw: Option<CopyFlaw>,
}

/// A redaction.
#[derive(Debug, Clone)]
pub struct RedactStep {
    /// Pieces that go: a record and a number, each by its place among those there are.
    pub pieces: Vec<(usize, usize)>,
    /// Blobs that go, by their numbers.
    pub blobs: Vec<u8>,
    /// Whether all pieces that refer to these blobs go, as they must.
    pub thorough: bool,
    /// A piece that is not there goes, too.
    pub missing: bool,
    /// The batch that says so.
    pub append: AppendStep,
}

/// A commit of a read model.
#[derive(Debug, Clone)]
pub struct CommitStep {
    /// The number of its name in [`MODELS`].
    pub model: usize,
    /// By how much the expected checkpoint is wrong.
    pub off: u64,
    /// Whether the rows were folded before the last redaction, if there was one.
    pub stale: bool,
    /// How far it moves the checkpoint; beyond the watermark it is refused.
    pub forward: u64,
    /// Keys with values, or without to delete them.
    pub rows: Vec<(u8, Option<u8>)>,
}

/// What a read goes through.
#[derive(Debug, Clone, Copy)]
pub enum SourceStep {
    /// The whole log.
    All,
    /// A stream, by its number.
    Stream(usize),
    /// An event type, by its number.
    EventType(usize),
}

/// A read, page by page to the end.
#[derive(Debug, Clone)]
pub struct ReadStep {
    /// What it goes through.
    pub source: SourceStep,
    /// Where it begins; beyond the end, too.
    pub from: u64,
    /// Which way.
    pub direction: Direction,
    /// Records a page.
    pub limit: usize,
}

/// One step.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Step {
    /// [`EventLog::append`](annals_event_log::EventLog::append).
    Append(AppendStep),
    /// [`EventLog::append_records`](annals_event_log::EventLog::append_records).
    Copy(CopyStep),
    /// [`EventLog::redact`](annals_event_log::EventLog::redact).
    Redact(RedactStep),
    /// [`ReadModels::commit`](annals_event_log::ReadModels::commit).
    Commit(CommitStep),
    /// [`ReadModels::drop_model`](annals_event_log::ReadModels::drop_model), by the
    /// number of its name.
    DropModel(usize),
    /// [`EventLog::read`](annals_event_log::EventLog::read).
    Read(ReadStep),
    /// [`EventLog::streams`](annals_event_log::EventLog::streams).
    Streams {
        /// The number of the prefix in [`PREFIXES`].
        prefix: usize,
        /// The number of the stream to begin after.
        after: Option<usize>,
        /// At most so many.
        limit: usize,
    },
    /// [`EventLog::batch`](annals_event_log::EventLog::batch) of one that was tried.
    Batch {
        /// Which.
        batch: usize,
        /// Whether the step uses it with another request.
        other: bool,
    },
    /// [`EventLog::tree_hashes`](annals_event_log::EventLog::tree_hashes).
    Tree {
        /// From this one on.
        first: u64,
        /// At most so many.
        limit: usize,
    },
    /// [`ReadModels::scan`](annals_event_log::ReadModels::scan) and `scan_back`.
    Scan {
        /// The number of the model.
        model: usize,
        /// The keys' first byte.
        prefix: Option<u8>,
        /// From this key on, exclusive.
        beyond: Option<u8>,
        /// At most so many.
        limit: usize,
    },
    /// The log is closed and opened again.
    Reopen,
}

fn piece() -> impl Strategy<Value = PieceStep> {
    let seldom = proptest::bool::weighted(0.05);
    let blob = (0..6_u8, any::<bool>(), any::<bool>(), seldom);
    prop_oneof![
        3 => select(vec![0, 1, 20, 4096]).prop_map(PieceStep::Inline),
        2 => blob.prop_map(|(blob, supplied, attachment, false_size)| PieceStep::Blob {
            blob, supplied, attachment, false_size
        }),
    ]
}

fn event() -> impl Strategy<Value = EventStep> {
    let size = prop_oneof![9 => 0..50_usize, 1 => Just(64 * 1024)];
    (0..STREAMS.len(), 0..TYPES.len(), size, vec(piece(), 0..3)).prop_map(
        |(stream, event_type, structure, pieces)| EventStep {
            stream,
            event_type,
            structure,
            pieces,
        },
    )
}

fn expectation() -> impl Strategy<Value = (usize, ExpectStep)> {
    let expected = prop_oneof![
        6 => Just(ExpectStep::Off(0)),
        2 => Just(ExpectStep::Any),
        1 => Just(ExpectStep::NoStream),
        1 => Just(ExpectStep::Exists),
        1 => select(vec![-1_i8, 1]).prop_map(ExpectStep::Off),
    ];
    (0..STREAMS.len(), expected)
}

fn append() -> impl Strategy<Value = AppendStep> {
    let batch = prop_oneof![
        8 => Just(BatchStep::New),
        2 => (0..50_usize).prop_map(BatchStep::Repeat),
        1 => (0..50_usize).prop_map(BatchStep::OtherRequest),
    ];
    let flaw = proptest::option::weighted(0.15, select(FLAWS.to_vec()));
    (batch, vec(event(), 1..5), vec(expectation(), 0..3), flaw).prop_map(
        |(batch, events, expectations, flaw)| AppendStep {
            batch,
            events,
            expectations,
            flaw,
        },
    )
}

fn copy() -> impl Strategy<Value = CopyStep> {
    let batch = prop_oneof![
        4 => Just(CopiedBatch::New),
        2 => Just(CopiedBatch::Last),
        1 => (0..50_usize).prop_map(CopiedBatch::Earlier),
    ];
    let flaws = vec![
        CopyFlaw::Empty,
        CopyFlaw::Gap,
        CopyFlaw::Overlap,
        CopyFlaw::Version,
        CopyFlaw::Time,
        CopyFlaw::NoBlobs,
    ];
    let flaw = proptest::option::weighted(0.4, select(flaws));
    (batch, vec(event(), 1..4), flaw).prop_map(|(batch, events, flaw)| CopyStep {
        batch,
        events,
        flaw,
    })
}

fn redact() -> impl Strategy<Value = RedactStep> {
    let pieces = vec((0..500_usize, 0..3_usize), 0..4);
    let often = proptest::bool::weighted(0.8);
    let seldom = proptest::bool::weighted(0.1);
    (pieces, vec(0..6_u8, 0..3), often, seldom, append()).prop_map(
        |(pieces, blobs, thorough, missing, append)| RedactStep {
            pieces,
            blobs,
            thorough,
            missing,
            append,
        },
    )
}

fn commit() -> impl Strategy<Value = CommitStep> {
    let off = prop_oneof![8 => Just(0_u64), 1 => 1..3_u64];
    let rows = vec(
        (any::<u8>(), proptest::option::weighted(0.7, any::<u8>())),
        0..6,
    );
    let stale = proptest::bool::weighted(0.1);
    let parts = (0..MODELS.len(), off, stale, 0..6_u64, rows);
    parts.prop_map(|(model, off, stale, forward, rows)| CommitStep {
        model,
        off,
        stale,
        forward,
        rows,
    })
}

fn limit() -> impl Strategy<Value = usize> {
    select(vec![0, 1, 2, 3, 7, 1_000, usize::MAX])
}

fn read() -> impl Strategy<Value = ReadStep> {
    let source = prop_oneof![
        Just(SourceStep::All),
        (0..STREAMS.len()).prop_map(SourceStep::Stream),
        (0..TYPES.len()).prop_map(SourceStep::EventType),
    ];
    let from = prop_oneof![3 => 0..12_u64, 2 => 0..200_u64, 1 => Just(u64::MAX)];
    let direction = select(vec![Direction::Forward, Direction::Backward]);
    (source, from, direction, limit()).prop_map(|(source, from, direction, limit)| ReadStep {
        source,
        from,
        direction,
        limit,
    })
}

/// One step of any kind.
pub fn step() -> impl Strategy<Value = Step> {
    let streams = (
        0..PREFIXES.len(),
        proptest::option::of(0..STREAMS.len()),
        limit(),
    );
    let key = || proptest::option::of(any::<u8>());
    prop_oneof![
        10 => append().prop_map(Step::Append),
        2 => copy().prop_map(Step::Copy),
        2 => redact().prop_map(Step::Redact),
        4 => commit().prop_map(Step::Commit),
        1 => (0..MODELS.len()).prop_map(Step::DropModel),
        5 => read().prop_map(Step::Read),
        1 => streams.prop_map(|(prefix, after, limit)| Step::Streams { prefix, after, limit }),
        2 => (0..50_usize, any::<bool>()).prop_map(|(batch, other)| Step::Batch { batch, other }),
        1 => (0..40_u64, limit()).prop_map(|(first, limit)| Step::Tree { first, limit }),
        2 => (0..MODELS.len(), key(), key(), limit()).prop_map(|(model, prefix, beyond, limit)| {
            Step::Scan { model, prefix, beyond, limit }
        }),
        1 => Just(Step::Reopen),
    ]
}

/// Lists of steps.
pub fn steps(
    length: impl Into<proptest::collection::SizeRange>,
) -> impl Strategy<Value = Vec<Step>> {
    vec(step(), length)
}
