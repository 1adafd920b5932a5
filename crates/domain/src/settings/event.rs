//! What happens to the settings of a log.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{BudgetPeriod, OverBudget};
use crate::codes::coded_enum;
use crate::event::{Touched, events};
use crate::redaction::Redacted;

coded_enum! {
    /// A setting of the log.
    pub enum Setting {
        /// Up to which judged risk the system approves intents itself: `none`,
        /// `low`, `med` or `high`.
        AutonomyThreshold = 1 => "autonomy.threshold",
        /// Whether the risk that Quick Classification gives approves, too.
        TrustClassifier = 2 => "autonomy.trust_classifier",
        /// How often a task is tried again after a review rejected it.
        MaxReviewRetries = 3 => "review.max_retries",
        /// Whether people may approve their own requests.
        OwnRequests = 4 => "approval.own_requests",
        /// By which listed type's flow and risk a type goes that is not listed.
        UnknownType = 5 => "classification.unknown_type",
        /// How many seconds the time of a command to a session's gate may be away from the log's clock.
        ClockSkew = 6 => "gate.clock_skew",
    }
}

events! {
    /// An event of the settings' stream.
    pub enum Event {
        Set = "settings.set" v 1,
        BudgetSet = "settings.budget_set" v 2,
        BudgetRemoved = "settings.budget_removed" v 2,
        Redacted = "settings.redacted" v 1,
    }
}

/// A setting was set. It holds for decisions from now on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Set {
    /// Which one.
    pub setting: Setting,
    /// Its value: of a threshold 0 for none, 1 low, 2 med, 3 high; of a switch 0
    /// or 1; of a count or of seconds the number; of a type its number.
    pub value: u32,
}

/// A budget was set. It takes the place of the one of the same project and period.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BudgetSet {
    /// The project, by its path or by the last part of that; absent for all projects together.
    pub project: Option<String>,
    /// The period.
    pub period: BudgetPeriod,
    /// The amount in millionths of a USD.
    pub limit_micros: u64,
    /// The verdict on a tool call once the amount is used.
    pub then: OverBudget,
    /// The number of the budget, from 1; the one that it replaces has the same. 0 in events of version 1.
    pub number: u32,
}

/// A budget was removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BudgetRemoved {
    /// The project, as the budget had it; absent for that of all projects together.
    pub project: Option<String>,
    /// The period.
    pub period: BudgetPeriod,
    /// The number of the budget. 0 in events of version 1.
    pub number: u32,
}

/// Settings are not an object.
fn touches(_: &Event, _: Uuid) -> Touched {
    Touched::new()
}
