//! `run.usage_recorded`, version 1 to 2: what of a cache's writes stays for an hour, and what of the completion the
//! model thought with, was not recorded.

use annals_domain::Slot;
use serde::Deserialize;

use super::Step;
use super::run_usage_recorded_v2::UsageRecordedV2;

/// The shape of version 1.
#[derive(Deserialize)]
pub(super) struct UsageRecordedV1 {
    model: Option<Slot>,
    uncached_input_tokens: u64,
    cache_read_tokens: u64,
    cache_write_tokens: u64,
    output_tokens: u64,
    cost_usd: Option<f64>,
}

pub(super) const STEP: Step<UsageRecordedV1, UsageRecordedV2> =
    Step::new("run.usage_recorded", 1, |old| UsageRecordedV2 {
        model: old.model,
        uncached_input_tokens: old.uncached_input_tokens,
        cache_read_tokens: old.cache_read_tokens,
        cache_write_tokens: old.cache_write_tokens,
        cache_write_1h_tokens: 0,
        output_tokens: old.output_tokens,
        reasoning_tokens: 0,
        cost_usd: old.cost_usd,
    });
