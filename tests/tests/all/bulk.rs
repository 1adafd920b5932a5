//! The bulk writer: it stores what one batch after the other stores, regardless of other writers.

mod contention;
mod interference;
mod kill;
mod late;
mod same;
mod sync;
mod unusual;

use annals::Request;
use annals::domain::pipeline::{CreatePipeline, FrameKind, PushFrame};
use annals::domain::run::{CreateRun, RecordToolInvocation, StartPatching, ToolStatus};
use annals::domain::task::CreateTask;
use annals::domain::{PipelineId, RunId, TaskId, Timestamp, ToolInvocationId};
use annals::event_log::{Content, Position, Query, Record, Store};
use chrono::DateTime;
use futures::executor::block_on;
use uuid::Uuid;

use crate::support::request;

const TASK: TaskId = TaskId(Uuid::from_u128(1));
const RUN: RunId = RunId(Uuid::from_u128(2));
const PIPELINE: PipelineId = PipelineId(Uuid::from_u128(3));

/// The key of a batch.
fn key(n: u128) -> Uuid {
    Uuid::from_u128((1 << 100) + n)
}

/// The same at a time that is the same in every log.
fn then(request: Request) -> Request {
    let at = DateTime::from_timestamp(1_700_000_000, 0).expect("a time");
    request.at(Timestamp::from(at))
}

fn create_pipeline(id: PipelineId) -> Request {
    request(CreatePipeline::new().with_id(id))
}

/// A task, a run that is at work, and a pipeline.
fn setting() -> Vec<Request> {
    let requests = [
        request(CreateTask::new("import").with_id(TASK)),
        request(CreateRun::new(TASK).with_id(RUN)),
        request(StartPatching::new(RUN)),
        create_pipeline(PIPELINE),
    ];
    requests.map(then).into()
}

fn push(pipeline: PipelineId, summary: impl Into<String>) -> Request {
    request(PushFrame::new(pipeline, FrameKind::StepSummary, summary).with_token_estimate(7))
}

fn call(n: u128) -> Request {
    request(
        RecordToolInvocation::new(RUN, "bash", ToolStatus::Ok)
            .with_id(ToolInvocationId(Uuid::from_u128((1 << 90) + n)))
            .with_duration_ms(3),
    )
}

/// What an importer records of a tool call.
fn unit(n: u128) -> Vec<Request> {
    vec![call(n), push(PIPELINE, format!("call {n}"))]
}

fn records(log: &dyn Store) -> Vec<Record> {
    let (mut records, mut next) = (Vec::new(), Some(1));
    while let Some(from) = next {
        let page = block_on(log.read(Query::all(Position(from)))).expect("a page");
        records.extend(page.records);
        next = page.next;
    }
    records
}

/// The batches of a log in their order, each once.
fn batches(log: &dyn Store) -> Vec<Uuid> {
    let mut batches: Vec<Uuid> = records(log).iter().map(Record::batch_id).collect();
    batches.dedup();
    batches
}

/// The names of ids that a log gave, or that follow from such. Those that a test gives are numbers; they stay.
#[derive(Default)]
struct Names {
    given: Vec<Uuid>,
}

impl Names {
    fn of(&mut self, id: Uuid) -> String {
        if id.get_version_num() == 0 {
            return id.to_string();
        }
        let known = self.given.iter().position(|given| *given == id);
        let number = known.unwrap_or_else(|| {
            self.given.push(id);
            self.given.len() - 1
        });
        format!("made-{number}")
    }

    /// A text with its ids replaced.
    fn within(&mut self, text: &str) -> String {
        let ids = regex::Regex::new("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}").unwrap();
        let replaced = ids.replace_all(text, |found: &regex::Captures<'_>| {
            self.of(Uuid::parse_str(&found[0]).unwrap())
        });
        replaced.into_owned()
    }
}

/// All that records say but for their salts and when they were recorded. Ids that the log made are numbered
/// as they come.
fn told(records: &[Record], names: &mut Names) -> Vec<String> {
    let content = |piece: &Content| match piece {
        Content::Inline { bytes, .. } => format!("{bytes:?}"),
        piece => format!("{:?}", piece.reference()),
    };
    let one = |record: &Record| {
        let decoded = annals_wire::decode(record).expect("an event of ours");
        let pieces: Vec<String> = record.content().iter().map(content).collect();
        // An event's id follows from its batch's key, and is the same wherever that is.
        let event_id = match record.event_id().get_version_num() {
            5 => record.event_id().to_string(),
            _ => names.of(record.event_id()),
        };
        let rest = names.within(&format!(
            "{} {}@{} of {} at {} by {}:{} ({:?}, {:?}) {} v{} {:?} {pieces:?}",
            record.position(),
            record.stream(),
            record.version(),
            record.batch_id(),
            record.occurred_at(),
            record.actor_kind(),
            record.actor_id(),
            record.correlation(),
            record.causation(),
            record.event_type(),
            record.schema_version(),
            decoded.event,
        ));
        format!("{event_id} {rest}")
    };
    records.iter().map(one).collect()
}
