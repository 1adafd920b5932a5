//! `annals log`: the events, by position.

mod filter;

use annals::domain::{ActorRef, Timestamp};
use annals::event_log::{Direction, Position, Query, Record, Version};
use annals::projections::history_entry;
use annals::{Annals, LoadError};
use futures::StreamExt;
use futures::stream::BoxStream;
use serde::Serialize;
use uuid::Uuid;

use self::filter::{Filter, Verdict};
use super::follow::follow;
use crate::cli::Log;
use crate::context::Context;
use crate::error::{CliError, ErrorClass};
use crate::output::{Column, Output, Rows, short, when, who};

/// Records read, and rows printed, at once.
const PAGE: usize = 500;

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
}

/// Prints lines as they come, and counts what could not be read.
struct Printer<'a> {
    annals: &'a Annals,
    output: &'a mut Output,
    rows: Rows<6>,
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
    let rows = Rows::new([
        Column::right("POSITION", 8),
        Column::left("WHEN", 20),
        Column::left("STREAM", 17),
        Column::left("EVENT", 24),
        Column::left("WHO", 12),
        Column::left("WHAT", 10),
    ]);
    let left = args.limit.unwrap_or(usize::MAX);
    let output = &mut context.output;
    let mut printer = Printer {
        annals: &annals,
        output,
        rows,
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

/// Prints what comes behind a subscription's place, which moves as it is printed; until interrupted, or to the log's end.
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
                .hint("run `annals verify`"))
            }
        }
    }

    /// Prints those of some records that pass the filter. Answers whether more
    /// can follow.
    async fn records(&mut self, records: &[Record], filter: &Filter) -> Result<bool, CliError> {
        let mut lines = Vec::new();
        let mut more = self.left > 0;
        for record in records {
            match filter.judge(record) {
                _ if !more => break,
                Verdict::Show => {
                    lines.push(self.line(record).await?);
                    self.left -= 1;
                    more = self.left > 0;
                }
                Verdict::Skip => {}
                Verdict::Stop => more = false,
            }
        }
        if self.output.is_json() {
            lines.iter().try_for_each(|line| self.output.json(line))?;
        } else {
            self.rows.print(self.output, lines.iter().map(row))?;
        }
        Ok(more)
    }

    async fn line(&mut self, record: &Record) -> Result<Line, CliError> {
        let plain = ActorRef::new(
            annals::domain::ActorKind::from_word(record.actor_kind()),
            record.actor_id(),
        );
        let (actor, summary) = match self.annals.contents().entry(record).await {
            Ok(entry) => {
                let told = history_entry(&entry);
                (told.actor, told.summary)
            }
            Err(LoadError::Read(error)) => return Err(error.into()),
            // The header is whole: what it says is shown, and the rest counted.
            Err(error) => {
                self.unreadable += 1;
                (plain, format!("(unreadable: {error})"))
            }
        };
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
        })
    }
}

fn row(line: &Line) -> [String; 6] {
    // `<kind>-<uuid>` as `<kind> <last digits>`, which `annals show` takes.
    let stream = line.stream.split_once('-').and_then(|(kind, id)| {
        let id = Uuid::parse_str(id).ok()?;
        Some(format!("{kind} {}", short(id)))
    });
    [
        line.position.to_string(),
        when(line.occurred_at),
        stream.unwrap_or_else(|| line.stream.clone()),
        line.event_type.clone(),
        who(&line.actor),
        line.summary.clone(),
    ]
}

/// Which way a log is read.
fn direction(backward: bool) -> Direction {
    if backward {
        Direction::Backward
    } else {
        Direction::Forward
    }
}
