//! Times and tokens of messages, in the form of both generations.

use serde::Deserialize;

use crate::transcript::item::Usage;

/// Times in milliseconds.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Times {
    #[serde(default)]
    pub(super) created: Option<f64>,
    /// The start of a tool call.
    #[serde(default)]
    pub(super) ran: Option<f64>,
    #[serde(default)]
    pub(super) completed: Option<f64>,
    #[serde(default)]
    pub(super) start: Option<f64>,
    #[serde(default)]
    pub(super) end: Option<f64>,
}

/// Returns the milliseconds between two times, if both are known.
pub(super) fn duration(start: Option<f64>, end: Option<f64>) -> Option<u64> {
    let between = |(start, end): (f64, f64)| (end - start).max(0.0).round() as u64;
    start.zip(end).map(between)
}

/// Tokens of a step. The input excludes the cache. The output excludes the reasoning, except in older versions, which the
/// total shows.
#[derive(Debug, Deserialize)]
pub(super) struct Tokens {
    #[serde(default)]
    input: Option<u64>,
    #[serde(default)]
    output: Option<u64>,
    #[serde(default)]
    reasoning: Option<u64>,
    #[serde(default)]
    total: Option<u64>,
    #[serde(default)]
    cache: Option<Cache>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
struct Cache {
    #[serde(default)]
    read: Option<u64>,
    #[serde(default)]
    write: Option<u64>,
}

impl Tokens {
    /// Returns the tokens with their cost in USD.
    pub(super) fn usage(&self, cost: Option<f64>) -> Usage {
        let tokens = self;
        let cache = tokens.cache.unwrap_or_default();
        let input = tokens.input.unwrap_or_default();
        let read = cache.read.unwrap_or_default();
        let write = cache.write.unwrap_or_default();
        let output = tokens.output.unwrap_or_default();
        let reasoning = tokens.reasoning.unwrap_or_default();
        let without = [read, write, output]
            .into_iter()
            .fold(input, u64::saturating_add);
        let output = match tokens.total == Some(without) {
            true => output,
            false => output.saturating_add(reasoning),
        };
        let has = |count: Option<u64>| u64::from(count.is_some());
        let usage = Usage::of([input, read, write, output].map(Some));
        Usage {
            fields: [
                has(tokens.input),
                has(cache.read),
                has(cache.write),
                has(tokens.output),
                has(tokens.reasoning),
                0,
                u64::from(cost.is_some()),
                0,
            ],
            ..usage.with_reasoning(tokens.reasoning).with_cost(cost)
        }
    }
}
