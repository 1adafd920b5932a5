//! What can be asked of the settings.

use derive_new::new;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Setting;

/// Sets a setting of the log. It holds for decisions from now on: what was
/// decided before stays. A value that checks less than the one before it is a person's to set.
/// All but `review.max_retries` say how approvals are given, and are otherwise a person's to set, or
/// the infrastructure's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct SetSetting {
    /// Which one.
    pub setting: Setting,
    /// Its value: of `autonomy.threshold` none, low, med or high; of
    /// `autonomy.trust_classifier` and `approval.own_requests` true or false; of `review.max_retries`
    /// 0 to 100; of `gate.clock_skew` 0 to 86400 seconds; of `classification.unknown_type` feature, refactor, fix, test or audit.
    #[new(into)]
    pub value: String,
}
