//! The first position after which a condition on an object is not what it was before.

use std::collections::BTreeMap;

use annals_domain::{Kind, StreamRef};
use annals_event_log::Position;
use annals_projections::Fold;
use annals_projections::past::{Bisection, Cause, document, document_text};
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use super::about::{Mark, Objects, Place, Span};
use super::{Past, PastError};
use crate::window::kind_word;
use crate::{At, LoadError, ObjectRef};

/// Folds that are kept while the events are read once.
const KEPT: usize = 32;

/// Whether a condition holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TestAnswer {
    /// It holds.
    Holds,
    /// It does not.
    Fails,
    /// It cannot be said of this view.
    Skip,
    /// The search is to end.
    Stop,
}

/// A view of which it is asked whether the condition holds.
#[derive(Debug, Clone, Copy)]
pub struct Probe<'a> {
    /// The position after which the object is so.
    pub position: Position,
    /// The object as JSON; null before it exists.
    pub document: &'a Value,
    /// The same as a text.
    pub json: &'a str,
}

/// A view that was asked about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Probed {
    /// The position after which the object is so.
    #[serde(serialize_with = "crate::window::required_position")]
    pub position: Position,
    /// What was answered.
    pub answer: TestAnswer,
}

/// What a search found. It assumes that the condition changes once between its ends.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Bisected {
    /// The object's id.
    pub object_id: Uuid,
    /// What it is.
    #[serde(serialize_with = "kind_word")]
    pub object_type: Kind,
    /// How many events on the object there are between the ends.
    pub events: u64,
    /// Whether the condition holds at the first of them.
    pub held: bool,
    /// The views that were asked about, the first and the last one first.
    pub probes: Vec<Probed>,
    /// What came out.
    #[serde(flatten)]
    pub outcome: BisectOutcome,
}

/// What came out of a search.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum BisectOutcome {
    /// The condition changed.
    Changed {
        /// The last position of which it is known that the condition is as it was at the first end.
        #[serde(serialize_with = "crate::window::required_position")]
        before: Position,
        /// The events after which it may be another one for the first time: one, unless views were skipped.
        candidates: Vec<Cause>,
    },
    /// It is the same at both ends: if it changes once, it does not change in between.
    Same,
    /// One of the ends says nothing of the condition.
    Unknown {
        /// The position of that end.
        #[serde(serialize_with = "crate::window::required_position")]
        position: Position,
    },
}

/// What is read of the object's events: where they are, and folds on the way.
struct Line {
    object: ObjectRef,
    stream: StreamRef,
    /// The position of the first end.
    start: Position,
    marks: Vec<Mark>,
    /// Folds of the first so many events.
    folds: BTreeMap<usize, Fold>,
    /// How many events at the beginning had happened by the first end.
    before: usize,
}

impl Past<'_> {
    /// Finds the first position after which a condition on an object is another one than it was by `from`, up to
    /// `to`: where it held, the first one after which it fails, and the other way round. Without `from` it
    /// begins with the object's first event. `test` is asked of some views, about log2 of their number.
    ///
    /// # Errors
    /// [`PastError::NothingBetween`], [`PastError::Order`], [`PastError::Gap`], and [`PastError::Stopped`] where `test`
    /// says so.
    pub async fn bisect(
        self,
        object: ObjectRef,
        from: Option<At>,
        to: At,
        mut test: impl FnMut(&Probe<'_>) -> TestAnswer,
    ) -> Result<Bisected, PastError> {
        self.in_order(from.unwrap_or(At::Position(Position(0))), to)
            .await?;
        let mut line = self.line(object, from, to).await?;
        let (first, last) = (line.before, line.marks.len());
        if first >= last {
            return Err(PastError::NothingBetween { object });
        }
        let mut found = Bisected {
            object_id: object.id,
            object_type: object.kind,
            events: (last - first) as u64,
            held: false,
            probes: Vec::new(),
            outcome: BisectOutcome::Same,
        };
        let mut ends = [TestAnswer::Skip; 2];
        for (answer, number) in ends.iter_mut().zip([first, last]) {
            *answer = self.probe(&mut line, number, &mut test, &mut found).await?;
        }
        found.held = ends[0] == TestAnswer::Holds;
        if let Some(end) = ends.iter().position(|it| *it == TestAnswer::Skip) {
            let position = line.position([first, last][end]);
            found.outcome = BisectOutcome::Unknown { position };
            return Ok(found);
        }
        if ends[0] == ends[1] {
            return Ok(found);
        }
        let mut search = Bisection::new(first, last);
        while let Some(number) = search.next_question() {
            match self.probe(&mut line, number, &mut test, &mut found).await? {
                TestAnswer::Skip => search.skip(number),
                answer => search.answer(number, answer == ends[0]),
            }
        }
        let (low, high) = search.candidates().into_inner();
        let mut candidates = Vec::new();
        for mark in line.marks.get(low - 1..high).unwrap_or_default() {
            candidates.extend(self.cause_at(mark.position).await?);
        }
        let before = line.position(low - 1);
        found.outcome = BisectOutcome::Changed { before, candidates };
        Ok(found)
    }

    /// Reads the events on the object once, and keeps some folds.
    async fn line(self, object: ObjectRef, from: Option<At>, to: At) -> Result<Line, PastError> {
        let (_, stream) = self.annals.locate(object.id).await?;
        let objects = Objects::new(stream, vec![object]);
        let mut fold = Fold::new(object.kind, object.id);
        let mut span = Span::new(from.unwrap_or(At::Position(Position(0))), to);
        let mut line = Line {
            object,
            stream,
            start: self
                .position_of(from.unwrap_or_default())
                .await?
                .unwrap_or_default(),
            marks: Vec::new(),
            folds: BTreeMap::from([(0, fold.clone())]),
            before: 0,
        };
        let mut stride = 1;
        let each = objects.each(self.annals, Mark::FIRST, span.end(), |entry| {
            match span.place(&entry) {
                Place::Outside => return,
                Place::Before => line.before += 1,
                Place::Within => {}
            }
            fold.apply(&entry);
            line.marks.push(Mark::of(&entry));
            let number = line.marks.len();
            if number.is_multiple_of(stride) {
                line.folds.insert(number, fold.clone());
                if line.folds.len() > KEPT {
                    stride *= 2;
                    line.folds.retain(|number, _| number.is_multiple_of(stride));
                }
            }
        });
        each.await?;
        span.check()?;
        if from.is_none() && !line.marks.is_empty() {
            line.before = 1;
        }
        Ok(line)
    }

    /// Asks about the object after its first so many events.
    async fn probe(
        self,
        line: &mut Line,
        number: usize,
        test: &mut impl FnMut(&Probe<'_>) -> TestAnswer,
        found: &mut Bisected,
    ) -> Result<TestAnswer, PastError> {
        let position = line.position(number);
        let fold = self.fold_of(line, number).await?;
        let json = fold.peek().map(document_text).transpose()?;
        let answer = test(&Probe {
            position,
            document: &document(fold.peek())?,
            json: json.as_deref().unwrap_or("null"),
        });
        if answer == TestAnswer::Stop {
            return Err(PastError::Stopped);
        }
        found.probes.push(Probed { position, answer });
        Ok(answer)
    }

    /// The object after its first so many events, from the nearest fold that is kept.
    async fn fold_of(self, line: &mut Line, number: usize) -> Result<Fold, LoadError> {
        let nearest = line.folds.range(..=number).next_back();
        let (done, mut fold) = match nearest {
            Some((done, fold)) => (*done, fold.clone()),
            None => (0, Fold::new(line.object.kind, line.object.id)),
        };
        let marks = line.marks.get(done..number).unwrap_or_default();
        if let (Some(first), Some(last)) = (marks.first(), marks.last()) {
            let objects = Objects::new(line.stream, vec![line.object]);
            let wanted = |position: Position| {
                marks
                    .binary_search_by_key(&position, |mark| mark.position)
                    .is_ok()
            };
            let end = At::Position(last.position);
            let each = objects.each(self.annals, *first, end, |entry| {
                if wanted(entry.position) {
                    fold.apply(&entry);
                }
            });
            each.await?;
            line.folds.insert(number, fold.clone());
        }
        Ok(fold)
    }

    /// The event at a position.
    async fn cause_at(self, position: Position) -> Result<Option<Cause>, LoadError> {
        let contents = self.annals.contents();
        match contents.record(position).await? {
            Some(record) => Ok(Some(Cause::from(&contents.entry(&record).await?))),
            None => Ok(None),
        }
    }
}

impl Line {
    /// The position after which the object is as its first so many events leave it.
    fn position(&self, number: usize) -> Position {
        let mark = number.checked_sub(1).and_then(|it| self.marks.get(it));
        mark.map_or(self.start, |mark| mark.position)
    }
}
