//! The check: states that explain each answer, and bounds on the moments.

use std::collections::HashMap;

use annals_event_log::{Appended, BatchId, Expected, Position, StreamName, Version};

use super::{AppendAnswer, Call, Handle, History, Moment, Operation, Seen};

/// Why no order of events explains a history.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Inexplicable {
    /// The log is not dense, or a batch is in it in several places.
    #[error("the log's record {found:?} does not follow {}", after(.before))]
    Scattered {
        /// The record before it.
        before: Option<Seen>,
        /// The record.
        found: Seen,
    },
    /// An append was acknowledged, and its batch is not in the log.
    #[error("batch {batch} was acknowledged with {answer:?} and is not in the log")]
    Lost {
        /// The batch.
        batch: BatchId,
        /// What was answered.
        answer: Appended,
    },
    /// A batch is in the log, and no append can have put it there.
    #[error("batch {batch} at {position} is in the log, but no append can have put it there")]
    NotAppended {
        /// The batch.
        batch: BatchId,
        /// Its first position.
        position: Position,
    },
    /// Two appends of one batch were both told that they were the first.
    #[error("two appends of batch {batch} were both answered as the first one")]
    Twice {
        /// The batch.
        batch: BatchId,
    },
    /// A batch is not where its answer says, or its events are others.
    #[error("batch {batch} was answered with {answer:?} and is at {first} to {last}, or altered")]
    Elsewhere {
        /// The batch.
        batch: BatchId,
        /// What was answered.
        answer: Appended,
        /// Where it begins.
        first: Position,
        /// Where it ends.
        last: Position,
    },
    /// A batch was taken although an expectation did not hold.
    #[error("batch {batch} was taken, but {stream} was at {actual}, not as expected: {expected}")]
    Unexpected {
        /// The batch.
        batch: BatchId,
        /// The stream.
        stream: StreamName,
        /// What was expected of it.
        expected: Expected,
        /// Its version before the batch.
        actual: Version,
    },
    /// A read showed a record that the log does not have there.
    #[error("a read showed {shown:?}, where the log has {there:?}: {operation:?}")]
    Vanished {
        /// The read.
        operation: Box<Operation>,
        /// What it showed.
        shown: Seen,
        /// What is there.
        there: Option<Seen>,
    },
    /// An answer is right in no state that the log had.
    #[error("the log was never in a state that explains {operation:?}")]
    NoState {
        /// The call.
        operation: Box<Operation>,
    },
    /// Two answers that cannot both be: the first one shows that a batch was taken
    /// before it returned, and the second one, made later, that it was not.
    #[error(
        "batch {shown} was taken before {returned:?} returned, but not yet when {invoked:?} was made"
    )]
    Order {
        /// A batch that the first answer shows.
        shown: BatchId,
        /// The answer that shows it.
        returned: Box<Operation>,
        /// The call, made later, that does not know it.
        invoked: Box<Operation>,
    },
    /// Of two reads through a handle that may lag, the second shows an earlier state.
    #[error("{then:?} shows an earlier state than {first:?}, which returned before it")]
    Backwards {
        /// The first read.
        first: Box<Operation>,
        /// The second one.
        then: Box<Operation>,
    },
}

fn after(before: &Option<Seen>) -> String {
    match before {
        Some(before) => format!("{before:?}"),
        None => "the beginning".to_owned(),
    }
}

/// What was found to be explained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checked {
    /// Calls.
    pub operations: usize,
    /// Batches in the log.
    pub batches: usize,
    /// Appends that were refused for a conflict.
    pub conflicts: usize,
}

/// Says whether the answers of a history are explained by one order of events.
///
/// # Errors
/// [`Inexplicable`], with the calls that show it.
pub fn check(history: &History) -> Result<Checked, Inexplicable> {
    let states = States::of(&history.log)?;
    let mut bounds = Bounds::new(states.batches.len());
    let taken = states.takers(history)?;
    for (state, taker) in (1..).zip(&taken) {
        match *taker {
            Taker::Answered(operation) => {
                bounds.before(state, operation.returned, operation);
                bounds.after(state, operation.invoked, operation);
            }
            Taker::Unanswered(operation) => bounds.after(state, operation.invoked, operation),
        }
    }
    let mut lagging: HashMap<usize, Vec<(usize, usize, &Operation)>> = HashMap::new();
    let mut of_process: HashMap<usize, Vec<(usize, usize, &Operation)>> = HashMap::new();
    for operation in &history.operations {
        let Some((lo, hi)) = states.explain(operation)? else {
            continue;
        };
        bounds.before(lo, operation.returned, operation);
        let handle = history.handles.get(operation.handle);
        match handle.copied().unwrap_or(Handle::Current) {
            Handle::Current => bounds.after(hi + 1, operation.invoked, operation),
            Handle::Lagging { opened } => {
                bounds.after(hi + 1, opened, operation);
                let reads = lagging.entry(operation.handle).or_default();
                reads.push((lo, hi, operation));
            }
            Handle::OfProcess { opened, process } => {
                let knows_itself = matches!(operation.call, Call::Watermark { .. });
                let since = if knows_itself {
                    opened
                } else {
                    operation.invoked
                };
                bounds.after(hi + 1, since, operation);
                let answers = of_process.entry(process).or_default();
                answers.push((lo, hi, operation));
            }
        }
    }
    for (state, taker) in (1..).zip(&taken) {
        if let Taker::Answered(operation) = *taker
            && let Some(Handle::OfProcess { process, .. }) = history.handles.get(operation.handle)
        {
            let answers = of_process.entry(*process).or_default();
            answers.push((state, usize::MAX, operation));
        }
    }
    for reads in lagging.values_mut().chain(of_process.values_mut()) {
        in_order(reads)?;
    }
    bounds.check(&states)?;
    let conflict = |operation: &&Operation| {
        matches!(
            &operation.call,
            Call::Append {
                answer: AppendAnswer::Conflict { .. },
                ..
            }
        )
    };
    Ok(Checked {
        operations: history.operations.len(),
        batches: states.batches.len(),
        conflicts: history.operations.iter().filter(conflict).count(),
    })
}

/// Demands that no read shows an earlier state than one that returned before it.
fn in_order(reads: &mut [(usize, usize, &Operation)]) -> Result<(), Inexplicable> {
    let mut returns = reads.to_vec();
    returns.sort_by_key(|(.., operation)| operation.returned);
    reads.sort_by_key(|(.., operation)| operation.invoked);
    let mut returned = returns.into_iter().peekable();
    let mut latest: Option<(usize, &Operation)> = None;
    for (_, hi, then) in reads.iter() {
        while let Some((lo, _, first)) =
            returned.next_if(|(.., first)| first.returned < then.invoked)
        {
            if latest.is_none_or(|(known, _)| lo > known) {
                latest = Some((lo, first));
            }
        }
        if let Some((_, first)) = latest.filter(|(lo, _)| lo > hi) {
            return Err(Inexplicable::Backwards {
                first: Box::new(first.clone()),
                then: Box::new((*then).clone()),
            });
        }
    }
    Ok(())
}

/// Bounds on the moments at which the batches were taken, with who sets them. The
/// batch of index 0 is number 1.
struct Bounds<'a> {
    lower: Vec<Option<(Moment, &'a Operation)>>,
    upper: Vec<Option<(Moment, &'a Operation)>>,
}

impl<'a> Bounds<'a> {
    fn new(batches: usize) -> Bounds<'a> {
        Bounds {
            lower: vec![None; batches],
            upper: vec![None; batches],
        }
    }

    /// Batch number `state` was taken after a moment; a number that no batch has, 0 or
    /// one too many, bounds nothing.
    fn after(&mut self, state: usize, moment: Moment, by: &'a Operation) {
        let place = state.checked_sub(1).and_then(|at| self.lower.get_mut(at));
        if let Some(bound) = place
            && bound.is_none_or(|(known, _)| moment > known)
        {
            *bound = Some((moment, by));
        }
    }

    fn before(&mut self, state: usize, moment: Moment, by: &'a Operation) {
        let place = state.checked_sub(1).and_then(|at| self.upper.get_mut(at));
        if let Some(bound) = place
            && bound.is_none_or(|(known, _)| moment < known)
        {
            *bound = Some((moment, by));
        }
    }

    fn check(&self, states: &States) -> Result<(), Inexplicable> {
        let mut largest: Option<(Moment, &Operation)> = None;
        let pairs = self.lower.iter().zip(&self.upper);
        for ((lower, upper), batch) in pairs.zip(&states.batches) {
            if let Some(lower) = *lower
                && largest.is_none_or(|(known, _)| lower.0 > known)
            {
                largest = Some(lower);
            }
            if let (Some((after, invoked)), Some((before, returned))) = (largest, *upper)
                && after >= before
            {
                return Err(Inexplicable::Order {
                    shown: batch.id,
                    returned: Box::new(returned.clone()),
                    invoked: Box::new(invoked.clone()),
                });
            }
        }
        Ok(())
    }
}

/// The append that took a batch.
#[derive(Clone, Copy)]
enum Taker<'a> {
    Answered(&'a Operation),
    /// One of those that were not answered; this one was made first.
    Unanswered(&'a Operation),
}

struct Batch {
    id: BatchId,
    first: Position,
    last: Position,
}

/// The states that the log had: state `j` is after the first `j` batches.
struct States<'a> {
    log: &'a [Seen],
    batches: Vec<Batch>,
    /// The numbers of the batches, from 1.
    numbers: HashMap<BatchId, usize>,
    /// For each stream, the states in which its head moved, with the new head.
    heads: HashMap<&'a StreamName, Vec<(usize, Version)>>,
}

impl<'a> States<'a> {
    fn of(log: &'a [Seen]) -> Result<States<'a>, Inexplicable> {
        let mut states = States {
            log,
            batches: Vec::new(),
            numbers: HashMap::new(),
            heads: HashMap::new(),
        };
        let mut before: Option<&Seen> = None;
        for (position, seen) in (1..).map(Position).zip(log) {
            let goes_on = states.batches.last().is_some_and(|it| it.id == seen.batch);
            let again = !goes_on && states.numbers.contains_key(&seen.batch);
            if seen.position != position || again {
                return Err(Inexplicable::Scattered {
                    before: before.cloned(),
                    found: seen.clone(),
                });
            }
            before = Some(seen);
            match states.batches.last_mut().filter(|_| goes_on) {
                Some(batch) => batch.last = position,
                None => states.batches.push(Batch {
                    id: seen.batch,
                    first: position,
                    last: position,
                }),
            }
            let number = states.batches.len();
            states.numbers.insert(seen.batch, number);
            let moves = states.heads.entry(&seen.stream).or_default();
            match moves.last_mut().filter(|(state, _)| *state == number) {
                Some((_, head)) => *head = head.next(),
                None => {
                    let head = moves.last().map_or(Version::NONE, |(_, head)| *head);
                    moves.push((number, head.next()));
                }
            }
        }
        Ok(states)
    }

    fn head(&self, stream: &StreamName, state: usize) -> Version {
        let moves = self.heads.get(stream).map_or(&[][..], Vec::as_slice);
        let moved = moves.partition_point(|(at, _)| *at <= state);
        let last = moved.checked_sub(1).and_then(|last| moves.get(last));
        last.map_or(Version::NONE, |(_, head)| *head)
    }

    /// The states in which a stream has this head.
    fn with_head(&self, stream: &StreamName, version: Version) -> Option<(usize, usize)> {
        let moves = self.heads.get(stream).map_or(&[][..], Vec::as_slice);
        let index = moves.partition_point(|(_, head)| *head <= version);
        let lo = match index.checked_sub(1).and_then(|last| moves.get(last)) {
            Some((state, head)) if *head == version => *state,
            None if version == Version::NONE => 0,
            _ => return None,
        };
        let hi = moves
            .get(index)
            .map_or(self.batches.len(), |(state, _)| state - 1);
        Some((lo, hi))
    }

    /// The state whose last record is at this position.
    fn ending_at(&self, position: Position) -> Option<usize> {
        if position == Position::START {
            return Some(0);
        }
        let found = self.batches.binary_search_by_key(&position, |it| it.last);
        found.ok().map(|index| index + 1)
    }

    /// Which append took each batch.
    fn takers(&self, history: &'a History) -> Result<Vec<Taker<'a>>, Inexplicable> {
        let mut takers: Vec<Option<Taker<'a>>> = vec![None; self.batches.len()];
        for operation in &history.operations {
            let Call::Append { batch, answer, .. } = &operation.call else {
                continue;
            };
            let number = self.numbers.get(batch).copied();
            if let AppendAnswer::Appended(answer) = answer {
                let number = number.ok_or(Inexplicable::Lost {
                    batch: *batch,
                    answer: *answer,
                })?;
                self.is_where(*batch, *answer, number, operation)?;
            }
            let Some(taker) = number.and_then(|it| takers.get_mut(it - 1)) else {
                continue;
            };
            match (answer, &taker) {
                (AppendAnswer::Appended(answer), _) if answer.repeated => {}
                (AppendAnswer::Appended(_), Some(Taker::Answered(_))) => {
                    return Err(Inexplicable::Twice { batch: *batch });
                }
                (AppendAnswer::Appended(_), _) => *taker = Some(Taker::Answered(operation)),
                (AppendAnswer::Unknown, Some(Taker::Unanswered(known)))
                    if known.invoked <= operation.invoked => {}
                (AppendAnswer::Unknown, Some(Taker::Answered(_))) => {}
                (AppendAnswer::Unknown, _) if self.can_be(operation) => {
                    *taker = Some(Taker::Unanswered(operation));
                }
                _ => {}
            }
        }
        let taken = takers.into_iter().zip(&self.batches);
        let taken = taken.map(|(taker, batch)| {
            let taker = taker.ok_or(Inexplicable::NotAppended {
                batch: batch.id,
                position: batch.first,
            })?;
            if let Taker::Answered(operation) = taker {
                self.was_expected(operation)?;
            }
            Ok(taker)
        });
        taken.collect()
    }

    /// Whether an append that was not answered can have taken its batch.
    fn can_be(&self, operation: &Operation) -> bool {
        let Call::Append { batch, events, .. } = &operation.call else {
            return false;
        };
        self.holds(*batch, events) && self.was_expected(operation).is_ok()
    }

    /// Whether the log's batch has these events.
    fn holds(&self, batch: BatchId, events: &[(StreamName, annals_event_log::EventId)]) -> bool {
        let number = self.numbers.get(&batch).copied().unwrap_or_default();
        let Some(batch) = number.checked_sub(1).and_then(|at| self.batches.get(at)) else {
            return false;
        };
        let index = |position: Position| usize::try_from(position.0).unwrap_or(usize::MAX);
        let there = self.log.get(index(batch.first) - 1..index(batch.last));
        let there = there.unwrap_or_default().iter();
        there
            .map(|seen| (&seen.stream, seen.event))
            .eq(events.iter().map(|(stream, event)| (stream, *event)))
    }

    fn is_where(
        &self,
        batch: BatchId,
        answer: Appended,
        number: usize,
        operation: &Operation,
    ) -> Result<(), Inexplicable> {
        let Call::Append { events, .. } = &operation.call else {
            return Ok(());
        };
        let Some(found) = number.checked_sub(1).and_then(|at| self.batches.get(at)) else {
            return Ok(());
        };
        let same = (answer.first, answer.last) == (found.first, found.last);
        // A repeat may bring other events: its request is what counts.
        if same && (answer.repeated || self.holds(batch, events)) {
            return Ok(());
        }
        Err(Inexplicable::Elsewhere {
            batch,
            answer,
            first: found.first,
            last: found.last,
        })
    }

    fn was_expected(&self, operation: &Operation) -> Result<(), Inexplicable> {
        let Call::Append {
            batch,
            expectations,
            ..
        } = &operation.call
        else {
            return Ok(());
        };
        let number = self.numbers.get(batch).copied().unwrap_or_default();
        for expectation in expectations {
            let actual = self.head(&expectation.stream, number.saturating_sub(1));
            if !expectation.expected.holds(actual) {
                return Err(Inexplicable::Unexpected {
                    batch: *batch,
                    stream: expectation.stream.clone(),
                    expected: expectation.expected,
                    actual,
                });
            }
        }
        Ok(())
    }

    /// The states in which an answer is right, from the first to the last; `None` for
    /// one that says nothing of the state, or is the append that moved it.
    fn explain(&self, operation: &Operation) -> Result<Option<(usize, usize)>, Inexplicable> {
        let end = self.batches.len();
        let found = match &operation.call {
            Call::Append {
                batch,
                expectations,
                answer,
                ..
            } => {
                let number = self.numbers.get(batch).copied();
                match answer {
                    AppendAnswer::Appended(answer) if !answer.repeated => return Ok(None),
                    AppendAnswer::Refused | AppendAnswer::Unknown => return Ok(None),
                    AppendAnswer::Appended(_) | AppendAnswer::Mismatch => {
                        number.map(|number| (number, end))
                    }
                    AppendAnswer::Conflict {
                        stream,
                        expected,
                        actual,
                    } => {
                        let asked = expectations
                            .iter()
                            .any(|it| it.stream == *stream && it.expected == *expected);
                        let states = self.with_head(stream, *actual);
                        let states = states.filter(|_| asked && !expected.holds(*actual));
                        // Once its batch is there, it is answered as a repeat.
                        let before = |(lo, hi): (usize, usize)| {
                            (lo, number.map_or(hi, |number| hi.min(number - 1)))
                        };
                        states.map(before).filter(|(lo, hi)| lo <= hi)
                    }
                }
            }
            Call::Watermark { position } => self.ending_at(*position).map(|state| (state, state)),
            Call::Head { stream, version } => self.with_head(stream, *version),
            Call::Read {
                from,
                records,
                ended,
            } => self.explain_read(operation, *from, records, *ended)?,
        };
        let none = || Inexplicable::NoState {
            operation: Box::new(operation.clone()),
        };
        found.ok_or_else(none).map(Some)
    }

    fn explain_read(
        &self,
        operation: &Operation,
        from: Position,
        records: &[Seen],
        ended: bool,
    ) -> Result<Option<(usize, usize)>, Inexplicable> {
        let mut last = Position(from.0.saturating_sub(1));
        for shown in records {
            let there = usize::try_from(last.0).ok().and_then(|at| self.log.get(at));
            if there != Some(shown) {
                return Err(Inexplicable::Vanished {
                    operation: Box::new(operation.clone()),
                    shown: shown.clone(),
                    there: there.cloned(),
                });
            }
            last = last.next();
        }
        let end = self.batches.len();
        Ok(match (records.is_empty(), ended) {
            // Nothing at `from`: all states that end before it.
            (true, _) => Some((0, self.ended_by(last))),
            (false, true) => self.ending_at(last).map(|state| (state, state)),
            (false, false) => {
                let with_next = self.ended_by(last) + 1;
                (with_next <= end).then_some((with_next, end))
            }
        })
    }

    /// How many batches end at or before a position.
    fn ended_by(&self, position: Position) -> usize {
        self.batches.partition_point(|batch| batch.last <= position)
    }
}
