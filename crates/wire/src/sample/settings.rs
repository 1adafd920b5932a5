//! Examples of the events of a log's settings.

use annals_domain::settings::{
    self, BudgetPeriod, BudgetRemoved, BudgetSet, OverBudget, Set, Setting,
};
use annals_domain::{AnyEvent, Emitted};

use super::values::emitted;

pub(super) fn samples() -> Vec<Emitted> {
    let settings = |event: settings::Event| emitted(|_| AnyEvent::Settings(event));
    vec![
        settings(
            Set {
                setting: Setting::AutonomyThreshold,
                value: 2,
            }
            .into(),
        ),
        settings(
            BudgetSet {
                project: Some("shop".to_owned()),
                period: BudgetPeriod::Week,
                limit_micros: 20_500_000,
                then: OverBudget::Deny,
                number: 2,
            }
            .into(),
        ),
        settings(
            BudgetRemoved {
                project: Some("/home/zoë/shop".to_owned()),
                period: BudgetPeriod::Day,
                number: 1,
            }
            .into(),
        ),
    ]
}
