//! AI credits, the unit of Copilot's costs: a billion (10^9) nano credits are one credit, which is $0.01.
//!
//! Ends of sessions, calls of models and checkpoints have a count of nano credits. Some versions of Copilot start the counts
//! of a resumed session at zero, others continue them.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use crate::import::members::Members;

/// Counts of a model: uncached input, cache reads, cache writes, output, and nano credits.
pub(super) type Counts = [u64; 5];

/// The USD of a nano credit.
const USD: f64 = 1e-11;

/// The largest plausible count of nano credits: $90,000.
const MOST: f64 = 9e15;

/// Converts nano credits to USD; `None` for zero.
pub(super) fn usd(nano: u64) -> Option<f64> {
    #[allow(clippy::cast_precision_loss, reason = "it is at most 2^53")]
    let nano = nano as f64;
    (nano > 0.0).then_some(nano * USD)
}

/// Reads the nano credits of an object.
pub(super) fn nano(of: &Members<'_>) -> Option<u64> {
    let nano: f64 = of.get("totalNanoAiu")?;
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is in range"
    )]
    let whole = || nano.round() as u64;
    (0.0..=MOST).contains(&nano).then(whole)
}

/// Splits input, cache reads, cache writes and output into uncached input and the others. An input that is smaller than
/// the cached tokens excludes them.
pub(super) fn parts(counts: [Option<u64>; 4]) -> [u64; 4] {
    let [input, read, written, output] = counts.map(Option::unwrap_or_default);
    let cached = read.saturating_add(written);
    let uncached = input.checked_sub(cached).unwrap_or(input);
    [uncached, read, written, output]
}

fn with_nano([input, read, written, output]: [u64; 4], nano: u64) -> Counts {
    [input, read, written, output, nano]
}

/// Counts of a session by model.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    /// Counts since the newest start of the program.
    counted: BTreeMap<String, Counts>,
    /// Counts between the newest end of the session and that start.
    carried: BTreeMap<String, Counts>,
    /// The counts in the newest end of the session.
    ended: BTreeMap<String, Counts>,
    /// All counted nano credits, and those before the newest start of the program.
    nano: u64,
    nano_at_start: u64,
}

/// The part of a session's end that was not counted before.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Rest {
    /// Counts by model.
    pub(super) models: Vec<(String, Counts)>,
    /// Nano credits without a model.
    pub(super) nano: u64,
}

impl Ledger {
    /// Begins a new start of the program.
    pub(super) fn restart(&mut self) {
        for (model, counts) in std::mem::take(&mut self.counted) {
            add(self.carried.entry(model).or_default(), counts);
        }
        self.nano_at_start = self.nano;
    }

    /// Counts a message or a call of a model.
    pub(super) fn count(&mut self, model: Option<&str>, tokens: [u64; 4], nano: u64) {
        let model = model.unwrap_or_default().to_owned();
        let counts = with_nano(tokens, nano);
        add(self.counted.entry(model).or_default(), counts);
        self.nano = self.nano.saturating_add(nano);
    }

    /// Counts a checkpoint. Returns the nano credits that were not counted before.
    pub(super) fn checkpoint(&mut self, nano: u64) -> u64 {
        let total = match nano < self.nano_at_start {
            true => self.nano_at_start.saturating_add(nano),
            false => nano,
        };
        let more = total.saturating_sub(self.nano);
        self.nano = self.nano.saturating_add(more);
        more
    }

    /// Counts the end of the session. Returns the part that was not counted before.
    pub(super) fn end(&mut self, data: &Members<'_>) -> Rest {
        let metrics: BTreeMap<String, Box<RawValue>> = data.get("modelMetrics").unwrap_or_default();
        let said: BTreeMap<String, Counts> = metrics
            .iter()
            .map(|(model, metric)| (model.clone(), counts_of(metric)))
            .collect();
        let counts_on = self.counts_on(&said);
        let mut counted = std::mem::take(&mut self.counted);
        let carried = std::mem::take(&mut self.carried);
        let mut before = BTreeMap::new();
        if counts_on {
            for (model, counts) in carried {
                add(counted.entry(model).or_default(), counts);
            }
            before.clone_from(&self.ended);
        }
        let mut rest = Rest {
            models: rest_of(&said, &before, counted),
            nano: 0,
        };
        let of_models = said.values().map(|[.., nano]| *nano);
        let of_models = of_models.fold(0, u64::saturating_add);
        let total = nano(data).unwrap_or_default().max(of_models);
        let total = match counts_on {
            true => total,
            false => self.nano_at_start.saturating_add(total),
        };
        let mut more = total.saturating_sub(self.nano);
        for (_, [.., nano]) in &mut rest.models {
            // A checkpoint has counted some of them without a model.
            *nano = (*nano).min(more);
            more -= *nano;
        }
        rest.nano = more;
        rest.models.retain(|(_, counts)| *counts != [0; 5]);
        self.nano = self.nano.max(total);
        self.nano_at_start = self.nano;
        self.ended = said;
        rest
    }

    /// Returns `true` if an end of the session continues the counts of the one before: it is at least the sum of that end
    /// and of the output since.
    fn counts_on(&self, said: &BTreeMap<String, Counts>) -> bool {
        if self.ended.is_empty() {
            return false;
        }
        let has = |(model, before): (&String, &Counts)| {
            let now = said.get(model);
            now.is_some_and(|now| now.iter().zip(before).all(|(now, before)| now >= before))
        };
        let output = |counts: &Counts| {
            let [.., output, _] = *counts;
            output
        };
        let sum = |all: &BTreeMap<String, Counts>| all.values().map(output).sum::<u64>();
        let since = sum(&self.counted).saturating_add(sum(&self.carried));
        let is_silent = self.counted.is_empty() && self.carried.is_empty();
        // Without a count of the output since, the counts are taken as new ones.
        let is_more = sum(said) >= sum(&self.ended).saturating_add(since) && since > 0;
        self.ended.iter().all(has) && (is_more || is_silent)
    }
}

/// Reads the counts of a model in a session's end.
fn counts_of(metric: &RawValue) -> Counts {
    let metric = Members::of(Some(metric));
    let usage = metric.within("usage");
    let names = [
        "inputTokens",
        "cacheReadTokens",
        "cacheWriteTokens",
        "outputTokens",
    ];
    let tokens = parts(names.map(|name| usage.count(name)));
    with_nano(tokens, nano(&metric).unwrap_or_default())
}

/// Subtracts the counts of the end before and the counted messages.
fn rest_of(
    said: &BTreeMap<String, Counts>,
    before: &BTreeMap<String, Counts>,
    mut counted: BTreeMap<String, Counts>,
) -> Vec<(String, Counts)> {
    // Counts without a known model are subtracted from any.
    let mut others = [0; 5];
    counted.retain(|model, counts| {
        let is_named = said.contains_key(model);
        if !is_named {
            add(&mut others, *counts);
        }
        is_named
    });
    let mut rest = Vec::new();
    for (model, counts) in said {
        let mut counts = *counts;
        take(
            &mut counts,
            &mut before.get(model).copied().unwrap_or_default(),
        );
        take(&mut counts, &mut counted.remove(model).unwrap_or_default());
        take(&mut counts, &mut others);
        rest.push((model.clone(), counts));
    }
    rest
}

fn add(sums: &mut Counts, counts: Counts) {
    for (sum, more) in sums.iter_mut().zip(counts) {
        *sum = sum.saturating_add(more);
    }
}

/// Subtracts `counted` from `counts`, and from itself.
fn take(counts: &mut Counts, counted: &mut Counts) {
    for (counts, counted) in counts.iter_mut().zip(counted) {
        let taken = (*counts).min(*counted);
        *counts -= taken;
        *counted -= taken;
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn end(ledger: &mut Ledger, output: u64, nano: u64) -> Vec<(String, Counts)> {
        let data = serde_json::json!({ "totalNanoAiu": nano, "modelMetrics": { "m": {
            "totalNanoAiu": nano, "usage": { "inputTokens": 10 * output, "outputTokens": output },
        } } });
        let data = data.to_string();
        let rest = ledger.end(&Members::read(&data).unwrap());
        assert_eq!(rest.nano, 0);
        rest.models
    }

    #[test]
    fn cached_tokens_are_a_part_of_the_input() {
        let of = |input, read, write, output| parts([input, read, write, output].map(Some));
        assert_eq!(of(100, 60, 10, 5), [30, 60, 10, 5]);
        assert_eq!(of(10, 60, 0, 5), [10, 60, 0, 5]);
        assert_eq!(of(1, u64::MAX, u64::MAX, 0), [1, u64::MAX, u64::MAX, 0]);
        assert_eq!(parts([None; 4]), [0; 4]);
    }

    #[test]
    fn ends_that_begin_to_count_again_add_up() {
        let mut ledger = Ledger::default();
        ledger.count(Some("m"), [0, 0, 0, 40], 0);
        assert_eq!(
            end(&mut ledger, 40, 260),
            [("m".to_owned(), [400, 0, 0, 0, 260])]
        );
        ledger.restart();
        ledger.count(Some("m"), [0, 0, 0, 60], 0);
        assert_eq!(
            end(&mut ledger, 60, 740),
            [("m".to_owned(), [600, 0, 0, 0, 740])]
        );
    }

    #[test]
    fn ends_that_count_on_are_counted_once() {
        let mut ledger = Ledger::default();
        ledger.count(Some("m"), [0, 0, 0, 40], 0);
        end(&mut ledger, 40, 260);
        // A part that was killed.
        ledger.restart();
        ledger.count(Some("m"), [0, 0, 0, 5], 0);
        ledger.restart();
        ledger.count(Some("m"), [0, 0, 0, 60], 0);
        assert_eq!(
            end(&mut ledger, 105, 900),
            [("m".to_owned(), [650, 0, 0, 0, 640])]
        );
        // It was resumed, and nothing was asked.
        ledger.restart();
        assert_eq!(end(&mut ledger, 105, 900), []);
    }

    #[test]
    fn an_end_has_nothing_of_a_part_that_was_killed_before() {
        let mut ledger = Ledger::default();
        ledger.count(Some("m"), [0, 0, 0, 40], 0);
        assert_eq!(ledger.checkpoint(200), 200);
        ledger.restart();
        ledger.count(Some("m"), [0, 0, 0, 3], 0);
        assert_eq!(
            end(&mut ledger, 3, 50),
            [("m".to_owned(), [30, 0, 0, 0, 50])]
        );
    }

    #[test]
    fn checkpoints_count_on_or_begin_again() {
        for says in [1_300, 300] {
            let mut ledger = Ledger::default();
            end(&mut ledger, 1, 1_000);
            assert_eq!(ledger.checkpoint(says), 300, "{says}");
            assert_eq!(ledger.checkpoint(says), 0, "{says}");
        }
    }

    #[test]
    fn what_no_model_has_is_of_none() {
        let mut ledger = Ledger::default();
        let rest = ledger.end(&Members::read(r#"{"totalNanoAiu":7e2}"#).unwrap());
        assert_eq!((rest.models, rest.nano), (Vec::new(), 700));
        assert_eq!(
            nano(&Members::read(r#"{"totalNanoAiu":-1}"#).unwrap()),
            None
        );
        assert_eq!(
            nano(&Members::read(r#"{"totalNanoAiu":1e99}"#).unwrap()),
            None
        );
        assert_eq!((usd(1_000_000_000), usd(0)), (Some(0.01), None));
    }
}
