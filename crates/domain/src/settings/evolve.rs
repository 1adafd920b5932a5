//! The settings as they are: the rules that deciders follow.

use serde::{Deserialize, Serialize};

use super::{Budget, BudgetPeriod, Event, Set, Setting};
use crate::intent::{ListedType, Risk, RiskBasis};

/// The settings of a log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// The highest risk that needs no approval by a person, if there is one.
    pub threshold: Option<Risk>,
    /// Whether that also counts for a risk that no actor judged, which Quick
    /// Classification gave: what the rules call low goes on by itself.
    pub trust_classifier: bool,
    /// How often a task is tried again after a review rejected it.
    pub max_review_retries: u32,
    /// Whether people may approve their own requests.
    pub own_requests: bool,
    /// By which type's flow and risk one goes that is not listed.
    pub unknown_type: ListedType,
    /// How many seconds the time of a command to a session's gate may be away from the log's clock.
    pub clock_skew: u32,
    /// The budgets, in the order in which each was first set.
    pub budgets: Vec<Budget>,
}

impl Default for State {
    /// Where nothing was set: what is low goes on, whether an actor or the rules judged it low.
    fn default() -> State {
        State {
            threshold: Some(Risk::Low),
            trust_classifier: true,
            max_review_retries: 2,
            own_requests: false,
            unknown_type: ListedType::Feature,
            clock_skew: 300,
            budgets: Vec::new(),
        }
    }
}

impl State {
    /// Never: there are always settings.
    pub fn is_absent(&self) -> bool {
        false
    }

    /// The budget of a project, or of all, in a period.
    pub fn budget(&self, project: Option<&str>, period: BudgetPeriod) -> Option<&Budget> {
        self.budgets.iter().find(|it| it.is_of(project, period))
    }

    /// Whether the system itself approves an intent of this risk.
    pub fn approves(&self, risk: Risk, basis: RiskBasis) -> bool {
        let is_low_enough = self.threshold.is_some_and(|highest| risk <= highest);
        is_low_enough && (self.trust_classifier || basis.is_judgement())
    }

    /// Why an intent of this risk waits for a person's approval.
    pub fn why_waits(&self, risk: Option<Risk>, basis: Option<RiskBasis>) -> String {
        let Some(risk) = risk else {
            return "nothing says how risky it is".to_owned();
        };
        let Some(highest) = self.threshold else {
            return "the system approves nothing (autonomy.threshold none)".to_owned();
        };
        if risk > highest {
            return format!("the system approves up to {highest} (autonomy.threshold)");
        }
        if self.trust_classifier || basis.is_some_and(RiskBasis::is_judgement) {
            return "it was proposed where the system did not approve such a risk".to_owned();
        }
        "only the rules gave that risk (autonomy.trust_classifier false)".to_owned()
    }

    /// The number that stands for a setting's value in events.
    pub(super) fn number(&self, setting: Setting) -> u32 {
        match setting {
            Setting::AutonomyThreshold => self.threshold.map_or(0, |risk| u32::from(risk.code())),
            Setting::TrustClassifier => u32::from(self.trust_classifier),
            Setting::MaxReviewRetries => self.max_review_retries,
            Setting::OwnRequests => u32::from(self.own_requests),
            Setting::UnknownType => u32::from(self.unknown_type.code()),
            Setting::ClockSkew => self.clock_skew,
        }
    }

    /// The value of a setting, as it is set.
    pub fn value(&self, setting: Setting) -> String {
        match setting {
            Setting::AutonomyThreshold => self
                .threshold
                .map_or_else(|| "none".to_owned(), |risk| risk.to_string()),
            Setting::TrustClassifier => self.trust_classifier.to_string(),
            Setting::MaxReviewRetries => self.max_review_retries.to_string(),
            Setting::OwnRequests => self.own_requests.to_string(),
            Setting::UnknownType => self.unknown_type.to_string(),
            Setting::ClockSkew => self.clock_skew.to_string(),
        }
    }
}

/// Folds one event into the state.
pub fn evolve(state: &mut State, event: &Event) {
    match event {
        Event::Set(event) => set(state, event),
        Event::BudgetSet(event) => {
            let budget = Budget {
                project: event.project.clone(),
                period: event.period,
                limit_micros: event.limit_micros,
                then: event.then,
                number: event.number,
            };
            let is_before = |it: &&mut Budget| {
                is_numbered(it, event.number) || it.is_of(event.project.as_deref(), event.period)
            };
            match state.budgets.iter_mut().find(is_before) {
                Some(before) => *before = budget,
                None => state.budgets.push(budget),
            }
        }
        Event::BudgetRemoved(event) => {
            let project = event.project.as_deref();
            state
                .budgets
                .retain(|it| !is_numbered(it, event.number) && !it.is_of(project, event.period));
        }
        Event::Redacted(_) => {}
    }
}

/// Returns `true` if a budget has the number of an event. Names are compared besides, and may be removed.
fn is_numbered(budget: &Budget, number: u32) -> bool {
    number > 0 && budget.number == number
}

fn set(state: &mut State, set: &Set) {
    match set.setting {
        Setting::AutonomyThreshold => {
            let with_code = |risk: &&Risk| u32::from(risk.code()) == set.value;
            state.threshold = Risk::ALL.iter().find(with_code).copied();
        }
        Setting::TrustClassifier => state.trust_classifier = set.value != 0,
        Setting::MaxReviewRetries => state.max_review_retries = set.value,
        Setting::OwnRequests => state.own_requests = set.value != 0,
        Setting::UnknownType => {
            let with_code = |it: &&ListedType| u32::from(it.code()) == set.value;
            let named = ListedType::ALL.iter().find(with_code).copied();
            state.unknown_type = named.unwrap_or(ListedType::Feature);
        }
        Setting::ClockSkew => state.clock_skew = set.value,
    }
}
