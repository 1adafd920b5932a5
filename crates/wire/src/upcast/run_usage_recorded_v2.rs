//! `run.usage_recorded`, version 2 to 3: searches of the web were not counted.

use annals_domain::Slot;
use annals_domain::run::UsageRecorded;
use serde::{Deserialize, Serialize};

use super::Step;

/// The shape of version 2.
#[derive(Serialize, Deserialize)]
pub(super) struct UsageRecordedV2 {
    pub(super) model: Option<Slot>,
    pub(super) uncached_input_tokens: u64,
    pub(super) cache_read_tokens: u64,
    pub(super) cache_write_tokens: u64,
    pub(super) cache_write_1h_tokens: u64,
    pub(super) output_tokens: u64,
    pub(super) reasoning_tokens: u64,
    pub(super) cost_usd: Option<f64>,
}

pub(super) const STEP: Step<UsageRecordedV2, UsageRecorded> =
    Step::new("run.usage_recorded", 2, |old| UsageRecorded {
        model: old.model,
        uncached_input_tokens: old.uncached_input_tokens,
        cache_read_tokens: old.cache_read_tokens,
        cache_write_tokens: old.cache_write_tokens,
        cache_write_1h_tokens: old.cache_write_1h_tokens,
        output_tokens: old.output_tokens,
        reasoning_tokens: old.reasoning_tokens,
        web_searches: 0,
        cost_usd: old.cost_usd,
    });
