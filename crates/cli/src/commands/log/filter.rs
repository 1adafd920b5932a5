//! Which events `annals log` shows, and where reading them begins.

use annals::domain::{AnyEvent, StreamRef};
use annals::event_log::{Direction, Position, Query, ReadError, Record, StreamName};
use annals::wire::stream_name;
use annals::{Annals, At};
use chrono::{DateTime, Utc};

use super::direction;
use crate::cli::Log;
use crate::commands::events;
use crate::commands::named::{object, session};
use crate::error::{CliError, ErrorClass};

/// Which events are shown.
pub(super) struct Filter {
    /// The first position that can be shown.
    pub(super) first: Position,
    pub(super) stream: Option<StreamName>,
    event_type: Option<String>,
    actor: Option<String>,
    occurred_since: Option<DateTime<Utc>>,
    direction: Direction,
}

/// What becomes of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Show,
    /// Not this one, but perhaps a later one.
    Skip,
    /// Not this one and no later one.
    Stop,
}

impl Filter {
    pub(super) async fn new(args: &Log, annals: &Annals) -> Result<Filter, CliError> {
        let stream = match (&args.stream, &args.session) {
            (Some(stream), _) => Some(find_stream(annals, stream).await?),
            (None, Some(id)) => Some(stream_name(session(annals, id).await?.stream())),
            (None, None) => None,
        };
        if let Some(name) = &args.event_type {
            check_type(name)?;
        }
        let (mut first, mut occurred_since) = (Position(1), None);
        match args.since {
            None | Some(At::Now) => {}
            Some(At::Position(position)) => {
                // To begin where the next record will be is to follow it.
                let end = annals.position();
                if position > end.next() {
                    return Err(CliError::beyond_end(position, end));
                }
                first = position.max(first);
            }
            Some(At::Recorded(time)) => first = recorded_since(annals, time.to_utc()).await?,
            Some(At::Occurred(time)) => occurred_since = Some(time.to_utc()),
        }
        Ok(Filter {
            first,
            stream,
            event_type: args.event_type.clone(),
            actor: args.actor.clone(),
            occurred_since,
            direction: direction(args.backward),
        })
    }

    /// Where to read: the narrowest source there is.
    pub(super) fn query(&self) -> Query {
        let query = match (&self.stream, &self.event_type) {
            (Some(stream), _) => Query::stream(stream.clone(), annals::event_log::Version(1)),
            (None, Some(event_type)) => Query::event_type(event_type.as_str(), self.first),
            (None, None) => Query::all(self.first),
        };
        match self.direction {
            Direction::Forward => query,
            Direction::Backward => query.starting_at(u64::MAX).backward(),
        }
    }

    /// Whether the newest events come first.
    pub(super) fn is_backward(&self) -> bool {
        self.direction == Direction::Backward
    }

    /// Whether a record is shown.
    pub(super) fn judge(&self, record: &Record) -> Verdict {
        if record.position() < self.first {
            return match self.direction {
                Direction::Forward => Verdict::Skip,
                Direction::Backward => Verdict::Stop,
            };
        }
        let stream = self
            .stream
            .as_ref()
            .is_none_or(|stream| record.stream() == stream.as_str());
        let event_type = self
            .event_type
            .as_deref()
            .is_none_or(|name| record.event_type() == name);
        let actor = self
            .actor
            .as_deref()
            .is_none_or(|actor| is_actor(record, actor));
        let time = self
            .occurred_since
            .is_none_or(|time| record.occurred_at() >= time);
        if stream && event_type && actor && time {
            Verdict::Show
        } else {
            Verdict::Skip
        }
    }
}

/// Whether `text` names the record's actor, by `kind:id` or by its id alone.
fn is_actor(record: &Record, text: &str) -> bool {
    let with_kind = text
        .strip_prefix(record.actor_kind())
        .and_then(|rest| rest.strip_prefix(':'))
        .is_some_and(|id| id == record.actor_id());
    with_kind || text == record.actor_id()
}

/// A stream by its name, or by its object's id.
async fn find_stream(annals: &Annals, text: &str) -> Result<StreamName, CliError> {
    if text.parse::<StreamRef>().is_ok()
        && let Ok(name) = text.parse()
    {
        return Ok(name);
    }
    let object = object(annals, text).await?;
    let kind = object.kind.stream_kind();
    let name = StreamRef {
        kind,
        id: object.id,
    }
    .to_string()
    .parse();
    match name {
        Ok(name) if kind.kind() == Some(object.kind) => Ok(name),
        _ => Err(CliError::new(
            ErrorClass::Invalid,
            "no_stream",
            format!("{object} shares the stream of its run"),
        )
        .hint(format!(
            "look at it with `annals log history {}`",
            object.id
        ))),
    }
}

fn check_type(name: &str) -> Result<(), CliError> {
    let types = AnyEvent::types();
    match types.iter().any(|(_, known, _)| *known == name) {
        true => Ok(()),
        false => Err(events::unknown(name)),
    }
}

/// The first position that was recorded at or after a time; the one after the
/// last where none was. Times of recording never decrease, so halving finds it.
async fn recorded_since(annals: &Annals, time: DateTime<Utc>) -> Result<Position, ReadError> {
    let (mut low, mut high) = (1, annals.position().0 + 1);
    while low < high {
        let middle = low + (high - low) / 2;
        let page = annals
            .log()
            .read(Query::all(Position(middle)).limit(1))
            .await?;
        match page.records.first() {
            Some(record) if record.recorded_at() < time => low = middle + 1,
            _ => high = middle,
        }
    }
    Ok(Position(low))
}
