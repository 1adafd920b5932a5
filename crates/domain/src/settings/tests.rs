//! Given, when, then for settings.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::*;
use crate::intent::{Risk, RiskBasis};
use crate::testing::Given;
use crate::{AnyState, Refusal};

fn set(setting: Setting, value: &str) -> SetSetting {
    SetSetting {
        setting,
        value: value.to_owned(),
    }
}

fn state(given: &Given) -> State {
    match given.loaded(stream()).state {
        AnyState::Settings(state) => *state,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_was_never_set_has_its_default() {
    let state = state(&Given::new());
    let values: Vec<String> = Setting::ALL.iter().map(|it| state.value(*it)).collect();
    assert_eq!(values, ["low", "true", "2", "false", "feature", "300"]);
}

#[test]
fn a_setting_is_what_it_was_set_to_last() {
    let mut given = Given::new();
    for value in ["none", "low", "med", "high"] {
        given.execute(set(Setting::AutonomyThreshold, value));
        assert_eq!(state(&given).value(Setting::AutonomyThreshold), value);
    }
    given.execute(set(Setting::TrustClassifier, "false"));
    given.execute(set(Setting::MaxReviewRetries, "0"));
    given.execute(set(Setting::UnknownType, "test"));
    let state = state(&given);
    assert_eq!(state.value(Setting::UnknownType), "test");
    assert!(!state.trust_classifier);
    assert_eq!(state.max_review_retries, 0);
}

#[test]
fn setting_what_is_set_changes_nothing() {
    let mut given = Given::new();
    assert!(
        given
            .execute(set(Setting::MaxReviewRetries, "2"))
            .is_empty()
    );
    assert!(
        given
            .execute(set(Setting::AutonomyThreshold, "low"))
            .is_empty()
    );
}

#[test]
fn a_value_that_no_setting_has_is_refused() {
    for (setting, value) in [
        (Setting::AutonomyThreshold, "medium"),
        (Setting::TrustClassifier, "yes"),
        (Setting::MaxReviewRetries, "101"),
        (Setting::MaxReviewRetries, "-1"),
        (Setting::UnknownType, "docs"),
        (Setting::ClockSkew, "86401"),
        (Setting::ClockSkew, "5m"),
        (Setting::AutonomyThreshold, "high "),
        (Setting::TrustClassifier, " true"),
        (Setting::MaxReviewRetries, "01"),
        (Setting::MaxReviewRetries, "+2"),
        (Setting::ClockSkew, "0300"),
    ] {
        let refusal = Given::new().decide(set(setting, value)).unwrap_err();
        assert!(matches!(refusal, Refusal::Invalid { field: "value", .. }));
        assert!(refusal.to_string().contains(value), "{refusal}");
    }
}

/// docs/spec/forge.md, Risk and autonomy: low runs by itself, med and high wait; the
/// classifier's risk counts unless the log says that it does not.
#[test]
fn the_system_approves_up_to_the_threshold_and_what_was_judged() {
    let mut settings = State::default();
    for basis in [RiskBasis::Declared, RiskBasis::Judged] {
        assert!(settings.approves(Risk::Low, basis));
        assert!(!settings.approves(Risk::Med, basis));
        assert!(!settings.approves(Risk::High, basis));
    }
    assert!(settings.approves(Risk::Low, RiskBasis::Type));
    assert!(!settings.approves(Risk::High, RiskBasis::HighWord));
    settings.trust_classifier = false;
    assert!(!settings.approves(Risk::Low, RiskBasis::Type));
    assert!(settings.approves(Risk::Low, RiskBasis::Declared));
    settings.threshold = None;
    assert!(!settings.approves(Risk::Low, RiskBasis::Judged));
}

#[test]
fn why_an_intent_waits_names_the_setting_that_would_let_it_go() {
    let mut settings = State::default();
    let why = |settings: &State, risk, basis| settings.why_waits(risk, basis);
    let (low, rule) = (Some(Risk::Low), Some(RiskBasis::Type));
    assert!(why(&settings, None, None).contains("nothing says how risky"));
    assert!(why(&settings, Some(Risk::Med), rule).contains("up to low (autonomy.threshold)"));
    assert!(why(&settings, low, rule).contains("it was proposed where"));
    settings.trust_classifier = false;
    assert!(why(&settings, low, rule).contains("autonomy.trust_classifier false"));
    settings.threshold = None;
    assert!(why(&settings, low, rule).contains("autonomy.threshold none"));
}
