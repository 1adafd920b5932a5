//! `annals log`: the events, by position.

mod filter;

use annals::domain::{ActorRef, Timestamp};
use annals::event_log::{Direction, Position, Query, Record, Version};
use annals::projections::{Entry, HistoryEntry, Teller};
use annals::{Annals, LoadError};
use futures::StreamExt;
use futures::stream::BoxStream;
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use self::filter::{Filter, Verdict};
use super::follow::follow;
use super::told;
use crate::cli::Log;
use crate::clock::Days;
use crate::context::Context;
use crate::error::{CliError, ErrorClass};
use crate::output::{Column, Output, Row, Rows, short, who};

/// Records read, and rows printed, at once.
const PAGE: usize = 500;
/// The events that say what was called.
const CALLS: [&str; 2] = ["run.tool_requested", "run.tool_invoked"];

/// One line of `--json`.
#[derive(Serialize)]
struct Line {
    position: u64,
    version: u64,
    stream: String,
    event_type: String,
    occurred_at: Timestamp,
    recorded_at: Timestamp,
    actor: ActorRef,
    event_id: Uuid,
    batch_id: Uuid,
    correlation: Option<Uuid>,
    causation: Option<Uuid>,
    summary: String,
    /// What is told of it to people, if it could be read.
    #[serde(skip)]
    told: Option<HistoryEntry>,
}

/// Prints lines as they come, and counts what could not be read.
struct Printer<'a> {
    annals: &'a Annals,
    output: &'a mut Output,
    rows: Rows<6>,
    days: Days,
    teller: Teller,
    is_verbose: bool,
    left: usize,
    unreadable: u64,
}

pub(crate) async fn run(args: &Log, context: &mut Context) -> Result<(), CliError> {
    let annals = match args.subscription {
        // It has a place to write.
        Some(_) => context.writer_at(&args.floor).await?,
        None => context.reader_at(&args.floor).await?,
    };
    let filter = Filter::new(args, &annals).await?;
    let left = args.limit.unwrap_or(usize::MAX);
    let mut printer = Printer {
        annals: &annals,
        rows: Rows::new(columns(&context.output)),
        days: match args.follow {
            true => Days::followed(),
            false => Days::default(),
        },
        teller: Teller::new(),
        is_verbose: context.is_verbose,
        output: &mut context.output,
        left,
        unreadable: 0,
    };
    if let Some(name) = &args.subscription {
        subscribed(name, args.follow, &mut printer, &filter).await?;
        annals.close().await;
    } else if args.follow {
        let records = followed(&annals, &filter);
        follow(records, async |records| {
            let more = printer.records(records, &filter).await?;
            printer.output.flush()?;
            Ok(more)
        })
        .await?;
    } else {
        page_through(&mut printer, &filter).await?;
    }
    printer.end()
}

/// On a terminal, what happened comes before what it is called and who did it.
fn columns(output: &Output) -> [Column; 6] {
    let when = told::when_width(output);
    [
        Column::right("POSITION", 8),
        Column::left("WHEN", when),
        Column::left("STREAM", 17),
        Column::left("EVENT", 24).if_as_wide_as(160),
        Column::left("WHO", 12).if_as_wide_as(110),
        Column::left("WHAT", 10),
    ]
}

/// Prints what is there.
async fn page_through(printer: &mut Printer<'_>, filter: &Filter) -> Result<(), CliError> {
    let page_size = printer.left.clamp(1, PAGE);
    let mut query: Query = filter.query().limit(page_size);
    loop {
        let page = printer.annals.log().read(query.clone()).await?;
        let more = printer.records(&page.records, filter).await?;
        match page.next {
            Some(next) if more => query.from = next,
            _ => return Ok(()),
        }
        // A filter may skip whole pages: do not crawl through them.
        query.limit = PAGE;
    }
}

/// Prints what comes behind a subscription's place, which moves as it is printed; until interrupted, or to the log's
/// end.
async fn subscribed(
    name: &str,
    is_following: bool,
    printer: &mut Printer<'_>,
    filter: &Filter,
) -> Result<(), CliError> {
    let begin = Position(filter.first.0.saturating_sub(1));
    let annals = printer.annals;
    let mut subscription = annals.subscription_after(name, begin).await?;
    let from = subscription.acknowledged().max(begin);
    let end = annals.position();
    if from >= end && !is_following {
        return Ok(());
    }
    follow(annals.subscribe(from).boxed(), async |records| {
        printer.records(records, filter).await?;
        printer.output.flush()?;
        let Some(last) = records.last() else {
            return Ok(true);
        };
        subscription.acknowledge(last.position()).await?;
        Ok(is_following || last.position() < end)
    })
    .await
}

/// What is there and what comes: of one stream, if only that is shown.
fn followed(
    annals: &Annals,
    filter: &Filter,
) -> BoxStream<'static, Result<Record, annals::event_log::ReadError>> {
    let stream = filter
        .stream
        .as_ref()
        .and_then(|name| name.as_str().parse().ok());
    match stream {
        Some(stream) => annals.subscribe_to(stream, Version::NONE).boxed(),
        None => {
            let after = Position(filter.first.0.saturating_sub(1));
            annals.subscribe(after).boxed()
        }
    }
}

impl Printer<'_> {
    /// Says how many events could not be read.
    fn end(&mut self) -> Result<(), CliError> {
        match self.unreadable {
            0 => Ok(()),
            unreadable => {
                self.output.flush()?;
                Err(CliError::new(
                    ErrorClass::Unsupported,
                    "unreadable",
                    format!("{unreadable} events cannot be read, as shown in their place"),
                )
                .hint("run `annals proof verify`"))
            }
        }
    }

    /// Prints those of some records that pass the filter. Answers whether more
    /// can follow.
    async fn records(&mut self, records: &[Record], filter: &Filter) -> Result<bool, CliError> {
        let mut shown = Vec::new();
        let mut more = self.left > 0;
        for record in records {
            match filter.judge(record) {
                _ if !more => break,
                Verdict::Show => {
                    shown.push(record);
                    self.left -= 1;
                    more = self.left > 0;
                }
                Verdict::Skip => {}
                Verdict::Stop => more = false,
            }
        }
        if filter.is_backward() {
            self.learn(&shown).await?;
        }
        let mut lines = Vec::new();
        for record in shown {
            lines.push(self.line(record).await?);
        }
        if self.output.is_json() {
            lines.iter().try_for_each(|line| self.output.json(line))?;
        } else {
            let rows: Vec<Row<6>> = lines.iter().map(|line| self.row(line)).collect();
            self.rows.print(self.output, rows)?;
        }
        Ok(more)
    }

    /// Learns what was called: read backward, that comes behind what became of it.
    async fn learn(&mut self, records: &[&Record]) -> Result<(), CliError> {
        for record in records.iter().filter(|it| CALLS.contains(&it.event_type())) {
            if let Ok(entry) = self.read(record).await? {
                self.teller.learn(&entry);
            }
        }
        Ok(())
    }

    /// An entry, or why it cannot be read.
    async fn read(&self, record: &Record) -> Result<Result<Entry, LoadError>, CliError> {
        match self.annals.contents().entry(record).await {
            Err(LoadError::Read(error)) => Err(error.into()),
            read => Ok(read),
        }
    }

    async fn line(&mut self, record: &Record) -> Result<Line, CliError> {
        let plain = ActorRef::new(
            annals::domain::ActorKind::from_word(record.actor_kind()),
            record.actor_id(),
        );
        let told = self.read(record).await?;
        let told = told.map(|entry| self.teller.tell(&entry));
        let (actor, summary) = match &told {
            Ok(told) => (told.actor.clone(), told.summary.clone()),
            // The header is whole: what it says is shown, and the rest counted.
            Err(error) => {
                self.unreadable += 1;
                (plain, format!("(unreadable: {error})"))
            }
        };
        // Whole events would be as large as what was recorded.
        let told = told.ok().map(|told| match self.is_verbose {
            true => told,
            false => HistoryEntry {
                event: Value::Null,
                ..told
            },
        });
        Ok(Line {
            position: record.position().0,
            version: record.version().0,
            stream: record.stream().to_owned(),
            event_type: record.event_type().to_owned(),
            occurred_at: record.occurred_at().into(),
            recorded_at: record.recorded_at().into(),
            actor,
            event_id: record.event_id(),
            batch_id: record.batch_id(),
            correlation: record.correlation(),
            causation: record.causation(),
            summary,
            told,
        })
    }

    fn row(&mut self, line: &Line) -> Row<6> {
        // `<kind>-<uuid>` as `<kind> <last digits>`, which `annals show` takes.
        let stream = line.stream.split_once('-').and_then(|(kind, id)| {
            let id = Uuid::parse_str(id).ok()?;
            Some(format!("{kind} {}", short(id)))
        });
        let moment = self.days.moment(line.occurred_at);
        let cells = [
            line.position.to_string(),
            moment.time,
            stream.unwrap_or_else(|| line.stream.clone()),
            line.event_type.clone(),
            who(&line.actor),
            line.summary.clone(),
        ];
        told::row(cells, line.told.as_ref(), moment.day, self.is_verbose)
    }
}

/// Which way a log is read.
fn direction(backward: bool) -> Direction {
    if backward {
        Direction::Backward
    } else {
        Direction::Forward
    }
}
