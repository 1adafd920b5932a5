//! The driver: steps with a store and with the model, and the first difference.

use std::fmt::{self, Debug};

use annals_event_log::conformance::Harness;
use annals_event_log::{Append, Appended, Blob, Epoch, Position, Query, Record, Stats};
use bytes::Bytes;
use chrono::{DateTime, Utc};
use futures::executor::block_on;
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestRunner};

use super::compare::{self, Differs, Pair, read, same};
use super::concrete::Maker;
use super::log::ModelLog;
use super::record::ModelRecord;
use super::verdict::{Reason, Verdict};
use crate::generators::steps::{CommitStep, CopyStep, MODELS, Step, steps};

/// Where a store and the model differ first.
#[derive(Debug, Clone, thiserror::Error)]
pub struct Difference {
    /// The number of the step, from 0; that of the last one plus 1 for what shows
    /// only in the comparison at the end.
    pub step: usize,
    /// What was asked.
    pub asked: String,
    /// What is right.
    pub expected: String,
    /// What the store answered.
    pub found: String,
    /// The steps up to there, of which the last one shows the difference.
    pub steps: Vec<Step>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "store and model differ at step {}:", self.step)?;
        writeln!(f, "  asked:    {}", self.asked)?;
        writeln!(f, "  expected: {}", self.expected)?;
        writeln!(f, "  found:    {}", self.found)?;
        for (number, step) in self.steps.iter().enumerate() {
            writeln!(f, "  {number}: {step:?}")?;
        }
        Ok(())
    }
}

/// Takes steps with a new log of a harness and with the model.
///
/// # Errors
/// The first [`Difference`].
pub fn check_against_model(store: &dyn Harness, steps: &[Step]) -> Result<(), Box<Difference>> {
    let mut pair = Pair {
        log: store.open(),
        model: ModelLog::new(),
        maker: Maker::default(),
        before: Epoch::NONE,
    };
    let differs = |step: usize, differs: Differs| {
        let (asked, expected, found) = *differs;
        let steps = steps.iter().take(step + 1).cloned().collect();
        Box::new(Difference {
            step,
            asked,
            expected,
            found,
            steps,
        })
    };
    for (number, step) in steps.iter().enumerate() {
        let taken = match step {
            Step::Reopen => {
                pair.log = store.reopen(pair.log);
                Ok(())
            }
            step => pair.take(step),
        };
        let taken = taken.and_then(|()| pair.compare_counts(step));
        taken.map_err(|found| differs(number, found))?;
    }
    let end = compare::everything(&pair);
    block_on(pair.log.close());
    end.map_err(|found| differs(steps.len(), found))
}

/// Takes random steps with so many new logs, of at most `length` steps each, and
/// prints the seed. The environment's `PROPTEST_CASES` and `PROPTEST_RNG_SEED` take
/// the place of `cases` and of a random seed.
///
/// # Panics
/// With the shortest steps found that show a difference, and the seed.
#[allow(
    clippy::panic,
    clippy::print_stdout,
    reason = "this is test code that other crates' tests call; a difference panics"
)]
pub fn check_random(store: &dyn Harness, cases: u32, length: usize) {
    let mut config = Config {
        failure_persistence: None,
        max_shrink_iters: 4_000,
        ..Config::default()
    };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = cases;
    }
    if config.rng_seed == RngSeed::Random {
        config.rng_seed = RngSeed::Fixed(rand::random());
    }
    let (cases, seed) = (config.cases, config.rng_seed);
    println!("{cases} cases of up to {length} steps, PROPTEST_RNG_SEED={seed}");
    let checked = TestRunner::new(config).run(&steps(1..=length.max(1)), |steps| {
        check_against_model(store, &steps)
            .map_err(|difference| TestCaseError::fail(difference.to_string()))
    });
    if let Err(failure) = checked {
        panic!("PROPTEST_RNG_SEED={seed}: {failure}");
    }
}

impl Pair {
    fn take(&mut self, step: &Step) -> Result<(), Differs> {
        match step {
            Step::Append(step) => {
                let append = self.maker.append(&self.model, step);
                let verdict = self.model.judge(&append);
                let answer = block_on(self.log.append(append.clone()));
                let answer = answer.map_err(|error| Reason::from(&error));
                let accepted = judge(|| format!("append {}", brief(&append)), &verdict, answer)?;
                if let Some(appended) = accepted.filter(|appended| !appended.repeated) {
                    let times = self.times(appended)?;
                    self.model.take(&append, |position| times.at(position));
                }
                Ok(())
            }
            Step::Copy(step) => self.copy(step),
            Step::Redact(step) => {
                let redaction = self.maker.redaction(&self.model, step);
                let verdict = self.model.judge_redaction(&redaction);
                let answer = block_on(self.log.redact(redaction.clone()));
                let answer = answer.map_err(|error| Reason::from(&error));
                let asked = || {
                    let (removed, blobs) = (&redaction.removed, &redaction.blobs);
                    let append = brief(&redaction.append);
                    format!("redact {removed:?} and {blobs:?} with {append}")
                };
                let accepted = judge(asked, &verdict, answer)?;
                if let Some(appended) = accepted.filter(|appended| !appended.repeated) {
                    let times = self.times(appended)?;
                    self.before = self.model.checkpoint("").epoch;
                    self.model
                        .take_redaction(&redaction, |position| times.at(position));
                }
                Ok(())
            }
            Step::Commit(step) => self.commit(step),
            Step::DropModel(number) => {
                let name = MODELS.get(*number).copied().unwrap_or_default();
                let verdict = self.model.judge_drop(name);
                let answer = block_on(self.log.drop_model(name));
                let answer = answer.map_err(|error| Reason::from(&error));
                let dropped = judge(|| format!("drop {name:?}"), &verdict, answer)?;
                if dropped.is_some() {
                    self.model.take_drop(name);
                }
                Ok(())
            }
            question => compare::answer(self, question),
        }
    }

    fn copy(&mut self, step: &CopyStep) -> Result<(), Differs> {
        let (records, blobs) = self.maker.copy(&self.model, step);
        let verdict = self.model.judge_copy(&records, &blobs);
        let asked = || format!("copy {records:?} with {} blobs", blobs.len());
        let decode = |record: &ModelRecord| Record::decode(Bytes::from(record.bytes()));
        let decoded: Result<Vec<Record>, _> = records.iter().map(decode).collect();
        let decoded = decoded.map_err(|error| {
            let expected = "records that can be decoded".to_owned();
            Box::new((asked(), expected, error.to_string()))
        })?;
        let offered: Vec<Blob> = blobs.clone();
        let answer = block_on(self.log.append_records(decoded, offered));
        let answer = answer.map_err(|error| Reason::from(&error));
        if judge(asked, &verdict, answer)?.is_some() {
            self.model.take_copy(&records, &blobs);
        }
        Ok(())
    }

    fn commit(&mut self, step: &CommitStep) -> Result<(), Differs> {
        let name = MODELS.get(step.model).copied().unwrap_or_default();
        let actual = self.model.checkpoint(name);
        let mut expected = actual.at(Position(actual.position.0 + step.off));
        if step.stale {
            expected.epoch = self.before;
        }
        let checkpoint = Position(actual.position.0 + step.forward);
        let row = |(key, value): &(u8, Option<u8>)| {
            let key = Bytes::copy_from_slice(&[*key % 4, *key]);
            (key, value.map(|value| Bytes::copy_from_slice(&[value])))
        };
        let rows: Vec<_> = step.rows.iter().map(row).collect();
        let verdict = self.model.judge_commit(name, expected, checkpoint);
        let commit = self.log.commit(name, expected, rows.clone(), checkpoint);
        let answer = block_on(commit).map_err(|error| Reason::from(&error));
        let asked = || format!("commit {rows:?} to {name:?} from {expected:?} to {checkpoint}");
        if judge(asked, &verdict, answer)?.is_some() {
            self.model.take_commit(name, &rows, checkpoint);
        }
        Ok(())
    }

    /// What the store says of the times of records that it has just taken.
    fn times(&self, appended: Appended) -> Result<Times, Differs> {
        let (first, mut at) = (appended.first, Vec::new());
        while (at.len() as u64) <= appended.last.0.saturating_sub(first.0) {
            let from = Position(first.0 + at.len() as u64);
            let asked = || format!("the records from {from}");
            let page = read(asked, block_on(self.log.read(Query::all(from))))?;
            if page.records.is_empty() {
                let expected = format!("records up to {}", appended.last);
                return Err(Box::new((asked(), expected, "none".to_owned())));
            }
            at.extend(page.records.iter().map(Record::recorded_at));
        }
        let last = self.model.records().last().map(|last| last.recorded_at);
        match at.first() {
            Some(now) if last.is_some_and(|last| *now < last) => Err(Box::new((
                format!("recorded_at of the record at {first}"),
                format!("{last:?} or later"),
                format!("{now:?}"),
            ))),
            _ => Ok(Times { first, at }),
        }
    }

    fn compare_counts(&self, step: &Step) -> Result<(), Differs> {
        let after = || format!("the counts after {step:?}");
        let watermark = self.log.watermark();
        same(after, &self.model.watermark(), &watermark)?;
        let stats = read(after, block_on(self.log.stats()))?;
        same(after, &self.model.stats(), &Stats { bytes: 0, ..stats })
    }
}

struct Times {
    first: Position,
    at: Vec<DateTime<Utc>>,
}

impl Times {
    fn at(&self, position: Position) -> DateTime<Utc> {
        let index = usize::try_from(position.0.saturating_sub(self.first.0));
        let at = index.ok().and_then(|index| self.at.get(index));
        at.copied().unwrap_or_default()
    }
}

/// Demands an answer that the verdict allows; what was accepted, if it was.
fn judge<T: PartialEq + Debug>(
    asked: impl FnOnce() -> String,
    verdict: &Verdict<T>,
    answer: Result<T, Reason>,
) -> Result<Option<T>, Differs> {
    if verdict.allows(&answer) {
        return Ok(answer.ok());
    }
    let expected = match (&verdict.accept, verdict.refuse.as_slice()) {
        (Some(accept), []) => format!("{accept:?}"),
        (Some(accept), reasons) => format!("{accept:?}, or a refusal for one of {reasons:?}"),
        (None, reasons) => format!("a refusal for one of {reasons:?}"),
    };
    Err(Box::new((asked(), expected, format!("{answer:?}"))))
}

fn brief(append: &Append) -> String {
    let streams: Vec<&str> = append.events.iter().map(|it| it.stream.as_str()).collect();
    let (batch, expectations) = (append.batch, &append.expectations);
    format!("batch {batch} to {streams:?}, expecting {expectations:?}")
}
