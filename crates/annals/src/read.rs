//! Views, histories and ids: everything that is answered from the log.

use std::fmt;
use std::str::FromStr;

use annals_domain::{AnyEvent, Kind, StreamRef, Timestamp, alias};
use annals_event_log::{
    Classification, Classified, Content, ErrorClass, Expectation, Expected, Position, Query,
    Record, Version,
};
use annals_projections::{
    Entry, Fold, HistoryEntry, InvalidTimeName, ObjectView, TimeName, View, is_about,
};
use annals_wire::stream_name;
use uuid::Uuid;

use crate::{Annals, LoadError};

/// Records read at once while a stream is folded.
const PAGE: usize = 500;

/// The moment at which something is looked at. As a text it is a position (`1234`), a time by the log's clock
/// (`2026-01-31T12:00:00Z`) or one by the callers' clocks (`occurred:2026-01-31T12:00:00Z`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum At {
    /// Now: everything that is durable.
    #[default]
    Now,
    /// After the record at this position. Behind the log's end it is the same as [`At::Now`].
    Position(Position),
    /// By the log's own clock: records taken up to this time.
    Recorded(Timestamp),
    /// By the callers' clocks: events that had happened by this time.
    Occurred(Timestamp),
}

/// A text that is not a valid [`At`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "invalid time {text:?}: expected a position, an RFC 3339 time (by the log's clock) or occurred:TIME (by the callers' clocks)"
)]
pub struct InvalidAt {
    /// The text.
    pub text: String,
}

impl Classified for InvalidAt {
    fn classify(&self) -> Classification {
        ErrorClass::Invalid.code("invalid_time")
    }
}

impl FromStr for At {
    type Err = InvalidAt;

    fn from_str(text: &str) -> Result<At, InvalidAt> {
        if let Ok(position) = text.parse() {
            return Ok(At::Position(Position(position)));
        }
        let (occurred, time) = match text.strip_prefix("occurred:") {
            Some(time) => (true, time),
            None => (false, text),
        };
        let time = chrono::DateTime::parse_from_rfc3339(time).map_err(|_| InvalidAt {
            text: text.to_owned(),
        })?;
        let time = Timestamp::from(time.to_utc());
        Ok(if occurred {
            At::Occurred(time)
        } else {
            At::Recorded(time)
        })
    }
}

/// Whether an event had happened at a moment.
pub(crate) enum Reach {
    Yes,
    /// Not this one, but perhaps a later one.
    Skip,
    /// Not this one and no later one.
    Stop,
}

impl At {
    /// Reads a moment as people write it: in the forms of [`At`], or with a [`TimeName`] as the time. `time` gives the
    /// instant of a name, such as [`TimeName::moment`] in a time zone.
    ///
    /// ```
    /// use annals::At;
    /// use annals::domain::Timestamp;
    /// use annals::projections::CostZone;
    ///
    /// let now = Timestamp::EPOCH;
    /// let at = At::of_name("1970-01-01", |name| name.moment(CostZone::Utc, now));
    /// assert!(matches!(at, Ok(At::Recorded(end)) if end > now));
    /// let at = At::of_name("17", |name| name.moment(CostZone::Utc, now));
    /// assert!(matches!(at, Ok(At::Position(_))));
    /// ```
    ///
    /// # Errors
    /// [`InvalidTimeName`], also for a time that no calendar has.
    pub fn of_name(
        text: &str,
        time: impl FnOnce(TimeName) -> Option<Timestamp>,
    ) -> Result<At, InvalidTimeName> {
        if let Ok(at) = text.parse() {
            return Ok(at);
        }
        let (name, at): (&str, fn(Timestamp) -> At) = match text.strip_prefix("occurred:") {
            Some(name) => (name, At::Occurred),
            None => (text, At::Recorded),
        };
        time(name.parse()?).map(at).ok_or(InvalidTimeName)
    }

    /// Whether an event had happened by then.
    pub(crate) fn has_happened(self, record: &Record) -> bool {
        matches!(self.reaches(record), Reach::Yes)
    }

    pub(crate) fn reaches(self, record: &Record) -> Reach {
        let reached = match self {
            At::Now => true,
            At::Position(position) => record.position() <= position,
            At::Recorded(time) => record.recorded_at() <= time.to_utc(),
            At::Occurred(time) => record.occurred_at() <= time.to_utc(),
        };
        match (reached, self) {
            (true, _) => Reach::Yes,
            (false, At::Occurred(_)) => Reach::Skip,
            (false, _) => Reach::Stop,
        }
    }

    /// Whether an entry had happened by then.
    pub(crate) fn includes(self, entry: &Entry) -> bool {
        match self {
            At::Now => true,
            At::Position(position) => entry.position <= position,
            At::Recorded(time) => entry.recorded_at <= time,
            At::Occurred(time) => entry.occurred_at <= time,
        }
    }
}

/// An object's kind and id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ObjectRef {
    /// What it is.
    pub kind: Kind,
    /// Which one it is.
    pub id: Uuid,
}

impl ObjectRef {
    /// The object's id, if it is of this kind.
    ///
    /// # Errors
    /// [`ViewError::WrongKind`] of another one.
    pub fn of_kind(self, expected: Kind) -> Result<Uuid, ViewError> {
        let ObjectRef { kind: found, id } = self;
        match found == expected {
            true => Ok(id),
            false => Err(ViewError::WrongKind {
                id,
                expected,
                found,
            }),
        }
    }
}

impl fmt::Display for ObjectRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, self.id)
    }
}

/// Why there is no view.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ViewError {
    /// No object has the id.
    #[error(
        "there is no object {id:?}: expected its UUID, at least its last 8 hex digits, or an \
         alias; `annals ls` lists the sessions, `annals object list` the objects"
    )]
    NotFound {
        /// The given id.
        id: String,
    },
    /// Several objects' ids end with these digits.
    #[error("{id:?} is ambiguous; give more of its last digits. It may be {}", list(.candidates))]
    Ambiguous {
        /// The given id.
        id: String,
        /// Objects that it may be, at most ten.
        candidates: Vec<ObjectRef>,
    },
    /// The text is neither a UUID nor the end of one, nor can it be an alias.
    #[error("invalid id {id:?}: expected a UUID, at least its last 8 hex digits, or an alias")]
    InvalidId {
        /// The given id.
        id: String,
    },
    /// The object is of another kind.
    #[error("{id} is the id of another kind: expected {expected}, found {found}")]
    WrongKind {
        /// The object.
        id: Uuid,
        /// The expected kind.
        expected: Kind,
        /// The object's kind.
        found: Kind,
    },
    /// No window was in force for the object.
    #[error("{object} has no window: {reason}")]
    NoWindow {
        /// The object.
        object: ObjectRef,
        /// Why.
        reason: String,
    },
    /// An object of another kind was named where one with runs is needed.
    #[error(
        "no run belongs to a {kind}: expected a session, an intent, a task, a run, or what is in one"
    )]
    NoRuns {
        /// The object's kind.
        kind: Kind,
    },
    /// The object did not exist yet.
    #[error(
        "{object} did not exist yet at that moment. Times are those of recording: `occurred:TIME` asks by the \
         times that events say"
    )]
    NotYet {
        /// The object.
        object: ObjectRef,
    },
    /// The log could not be read.
    #[error(transparent)]
    Load(#[from] LoadError),
}

impl Classified for ViewError {
    fn classify(&self) -> Classification {
        use ErrorClass::{Invalid, NotFound};
        match self {
            ViewError::NotFound { .. } => NotFound.code("not_found"),
            ViewError::Ambiguous { .. } => Invalid.code("ambiguous"),
            ViewError::InvalidId { .. } => Invalid.code("invalid_id"),
            ViewError::WrongKind { .. } => Invalid.code("wrong_kind"),
            ViewError::NoWindow { .. } => Invalid.code("no_window"),
            ViewError::NoRuns { .. } => Invalid.code("no_runs"),
            ViewError::NotYet { .. } => NotFound.code("not_yet"),
            ViewError::Load(error) => error.classify(),
        }
    }
}

fn list(candidates: &[ObjectRef]) -> String {
    let texts: Vec<String> = candidates.iter().map(ObjectRef::to_string).collect();
    texts.join(", ")
}

impl Annals {
    /// Finds an object by its UUID, by the last 8 or more hex digits of it, or
    /// by an alias.
    ///
    /// # Errors
    /// [`ViewError::NotFound`], [`ViewError::Ambiguous`] and
    /// [`ViewError::InvalidId`].
    pub async fn resolve(&self, id: &str) -> Result<ObjectRef, ViewError> {
        if let Ok(uuid) = Uuid::parse_str(id) {
            let (kind, _) = self.locate(uuid).await?;
            return Ok(ObjectRef { kind, id: uuid });
        }
        let digits: String = id.chars().filter(|c| *c != '-').collect();
        let is_hex = digits.bytes().all(|b| b.is_ascii_hexdigit());
        if digits.len() < 8 || digits.len() > 32 || !is_hex {
            return self.resolve_alias(id).await;
        }
        let found = self.ending(&digits, 11).await?;
        let mut candidates: Vec<ObjectRef> = found
            .into_iter()
            .map(|(kind, id)| ObjectRef { kind, id })
            .collect();
        match candidates.as_slice() {
            [] => Err(ViewError::NotFound { id: id.to_owned() }),
            [only] => Ok(*only),
            _ => {
                candidates.truncate(10);
                Err(ViewError::Ambiguous {
                    id: id.to_owned(),
                    candidates,
                })
            }
        }
    }

    async fn resolve_alias(&self, name: &str) -> Result<ObjectRef, ViewError> {
        if alias::check(name).is_err() {
            return Err(ViewError::InvalidId {
                id: name.chars().take(64).collect(),
            });
        }
        let stream = stream_name(self.index().alias_stream(name).await?);
        let page = self.log.read(Query::stream(stream, Version(1)).limit(1));
        let page = page.await.map_err(LoadError::from)?;
        let reserved = match page.records.first() {
            Some(record) => Some(annals_wire::decode(record).map_err(LoadError::from)?),
            None => None,
        };
        let reserved = reserved.map(|decoded| (decoded.event, decoded.record.content()));
        match reserved {
            // One whose text was removed leads nowhere.
            Some((AnyEvent::Alias(alias::Event::Reserved(event)), content))
                if !matches!(
                    content.get(usize::from(event.alias.0)),
                    Some(Content::Removed { .. })
                ) =>
            {
                let (kind, _) = self.locate(event.object).await?;
                Ok(ObjectRef {
                    kind,
                    id: event.object,
                })
            }
            _ => Err(ViewError::NotFound {
                id: name.to_owned(),
            }),
        }
    }

    pub(crate) async fn locate(&self, id: Uuid) -> Result<(Kind, StreamRef), ViewError> {
        let place = self.index().place(id).await?;
        place.ok_or_else(|| ViewError::NotFound { id: id.to_string() })
    }

    /// The stream of an object, if it is of this kind.
    pub(crate) async fn locate_kind(
        &self,
        id: Uuid,
        expected: Kind,
    ) -> Result<StreamRef, ViewError> {
        let (kind, stream) = self.locate(id).await?;
        ObjectRef { kind, id }.of_kind(expected)?;
        Ok(stream)
    }

    /// An object as it is now.
    ///
    /// # Errors
    /// [`ViewError`].
    pub async fn view(&self, id: impl Into<Uuid>) -> Result<ObjectView, ViewError> {
        self.view_at(id, At::Now).await
    }

    /// An object as it was.
    ///
    /// # Errors
    /// [`ViewError::NotYet`] before its first event.
    pub async fn view_at(&self, id: impl Into<Uuid>, at: At) -> Result<ObjectView, ViewError> {
        self.view_and_place(id.into(), at)
            .await
            .map(|(view, _)| view)
    }

    /// An object, and the stream and version that it was folded from.
    #[tracing::instrument(level = "debug", skip(self))]
    pub(crate) async fn view_and_place(
        &self,
        id: Uuid,
        at: At,
    ) -> Result<(ObjectView, Expectation), ViewError> {
        let (kind, stream) = self.locate(id).await?;
        let mut fold = Fold::new(kind, id);
        let about = |event: &AnyEvent| is_about(event, stream, kind, id);
        let last = self
            .each_entry(stream, at, about, |entry| fold.apply(&entry))
            .await?;
        let object = ObjectRef { kind, id };
        let view = fold.view().ok_or(ViewError::NotYet { object })?;
        let expected = Expected::Exactly(last);
        Ok((
            view,
            Expectation {
                stream: stream_name(stream),
                expected,
            },
        ))
    }

    /// An object of a known kind as it is now.
    ///
    /// # Errors
    /// [`ViewError::WrongKind`] besides those of [`Annals::view`].
    pub async fn get<V: View>(&self, id: V::Id) -> Result<V, ViewError> {
        self.get_at(id, At::Now).await
    }

    /// An object of a known kind as it was.
    ///
    /// # Errors
    /// As [`Annals::get`] and [`Annals::view_at`].
    pub async fn get_at<V: View>(&self, id: V::Id, at: At) -> Result<V, ViewError> {
        let id = id.into();
        let view = self.view_at(id, at).await?;
        let found = view.kind();
        V::from_object(view).ok_or(ViewError::WrongKind {
            id,
            expected: V::KIND,
            found,
        })
    }

    /// Everything that happened to an object, oldest first.
    ///
    /// # Errors
    /// [`ViewError`].
    pub async fn history(&self, id: impl Into<Uuid>) -> Result<Vec<HistoryEntry>, ViewError> {
        self.history_at(id, At::Now).await
    }

    /// Everything that had happened to an object by then, oldest first. For
    /// an aggregate it is its whole stream, a run's with all that is in it.
    ///
    /// # Errors
    /// [`ViewError`].
    pub async fn history_at(
        &self,
        id: impl Into<Uuid>,
        at: At,
    ) -> Result<Vec<HistoryEntry>, ViewError> {
        let mut pages = self.history_pages(id, at).await?;
        let mut history = Vec::new();
        while let Some(page) = pages.next().await? {
            history.extend(page);
        }
        Ok(history)
    }

    /// Gives the entries of a stream that are about something to `each`; the
    /// version of the last record that had happened by then. The content of the
    /// others is not fetched.
    pub(crate) async fn each_entry(
        &self,
        stream: StreamRef,
        at: At,
        about: impl Fn(&AnyEvent) -> bool,
        each: impl FnMut(Entry),
    ) -> Result<Version, LoadError> {
        self.each_entry_from(stream, Version(1), at, about, each)
            .await
    }

    /// The same, from a version on.
    pub(crate) async fn each_entry_from(
        &self,
        stream: StreamRef,
        first: Version,
        at: At,
        about: impl Fn(&AnyEvent) -> bool,
        mut each: impl FnMut(Entry),
    ) -> Result<Version, LoadError> {
        self.fold_stream(
            stream,
            first,
            at,
            &mut each,
            move |_, event, _| about(event),
            |each, entry| each(entry),
        )
        .await
    }

    /// Folds the events of a stream from a version on: `needs` sees each of them, and says
    /// whether `apply` is given it, with its content.
    pub(crate) async fn fold_stream<S>(
        &self,
        stream: StreamRef,
        first: Version,
        at: At,
        state: &mut S,
        needs: impl Fn(&mut S, &AnyEvent, &Record) -> bool,
        apply: impl Fn(&mut S, Entry),
    ) -> Result<Version, LoadError> {
        let log = self.log.as_ref();
        let name = stream_name(stream);
        let mut last = Version::NONE;
        let mut next = Some(first.0);
        while let Some(from) = next {
            let page = log
                .read(Query::stream(name.clone(), Version(from)).limit(PAGE))
                .await?;
            for record in &page.records {
                match at.reaches(record) {
                    Reach::Skip => {}
                    Reach::Stop => return Ok(last),
                    Reach::Yes => {
                        last = record.version();
                        let decoded = annals_wire::decode(record)?;
                        if needs(state, &decoded.event, record) {
                            let blobs = Entry::fetch(log, record).await?;
                            apply(state, Entry::of(decoded, &blobs)?);
                        }
                    }
                }
            }
            next = page.next;
        }
        Ok(last)
    }
}

#[cfg(test)]
mod tests {
    use annals_projections::CostZone;

    use super::*;

    #[test]
    fn moments_are_read() {
        assert_eq!("17".parse(), Ok(At::Position(Position(17))));
        assert!(matches!(
            "2026-01-02T03:04:05Z".parse(),
            Ok(At::Recorded(_))
        ));
        assert!(matches!(
            "occurred:2026-01-02T03:04:05+01:00".parse(),
            Ok(At::Occurred(_))
        ));
        for bad in ["", "-1", "yesterday", "occurred:17"] {
            assert!(bad.parse::<At>().is_err(), "{bad}");
        }
    }

    #[test]
    fn times_have_names() {
        let now = Timestamp::EPOCH;
        let read = |text: &str| At::of_name(text, |name| name.moment(CostZone::Utc, now));
        assert_eq!(read("17"), Ok(At::Position(Position(17))));
        assert_eq!(read("now"), Ok(At::Recorded(now)));
        assert_eq!(read("00:00"), Ok(At::Recorded(now)));
        assert_eq!(read("occurred:now"), Ok(At::Occurred(now)));
        assert!(matches!(read("1970-01-02T03:04:05Z"), Ok(At::Recorded(_))));
        for bad in ["", "-1", "the other day", "occurred:17", "4294967295d"] {
            assert_eq!(read(bad), Err(InvalidTimeName), "{bad}");
        }
    }
}
