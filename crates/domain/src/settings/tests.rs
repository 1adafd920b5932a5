//! Given, when, then for settings.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::*;
use crate::intent::{Risk, RiskBasis};
use crate::testing::Given;
use crate::{ActorRef, AnyEvent, AnyState, Refusal};

fn set(setting: Setting, value: &str) -> SetSetting {
    SetSetting {
        setting,
        value: value.to_owned(),
    }
}

fn state(given: &Given) -> State {
    match given.loaded(stream()).state {
        AnyState::Settings(state) => (*state).clone(),
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

fn twenty(project: Option<&str>) -> SetBudget {
    SetBudget::new(20_000_000, BudgetPeriod::Day).with_project(project.map(str::to_owned))
}

fn budgets(given: &Given) -> Vec<String> {
    let budgets = state(given).budgets.into_iter();
    budgets.map(|it| format!("{it}, {}", it.then)).collect()
}

#[test]
fn a_project_has_one_budget_in_each_period() {
    let mut given = Given::new();
    given.execute(twenty(None));
    given.execute(twenty(Some("shop")));
    given.execute(SetBudget::new(90_500_000, BudgetPeriod::Week).with_project("shop".to_owned()));
    let again = SetBudget::new(1, BudgetPeriod::Day).with_project("shop".to_owned());
    given.execute(again.with_then(OverBudget::Deny));
    let expected = [
        "20/day, ask",
        "0.000001/day for shop, deny",
        "90.50/week for shop, ask",
    ];
    assert_eq!(budgets(&given), expected);
    // The same budget again changes nothing.
    assert!(given.execute(twenty(None)).is_empty());
    given.execute(RemoveBudget::new(BudgetPeriod::Day).with_project("shop".to_owned()));
    assert_eq!(budgets(&given), ["20/day, ask", "90.50/week for shop, ask"]);
    let gone = given.decide(RemoveBudget::new(BudgetPeriod::Month));
    let refusal = gone.unwrap_err().to_string();
    assert!(refusal.contains("no budget for each month"), "{refusal}");
}

#[test]
fn only_a_person_sets_or_removes_a_budget() {
    let mut given = Given::new();
    given.execute(twenty(None));
    for actor in [ActorRef::agent("coder"), ActorRef::system("importer")] {
        let given = given.clone().by(actor);
        let remove = given.decide(RemoveBudget::new(BudgetPeriod::Day));
        for refused in [given.decide(twenty(Some("shop"))), remove] {
            assert!(
                matches!(refused, Err(Refusal::NotPermitted { .. })),
                "{refused:?}"
            );
        }
    }
}

#[test]
fn an_amount_or_a_project_that_holds_for_nothing_is_refused() {
    let given = Given::new();
    for limit in [0, 1_000_000_000_000_001, u64::MAX] {
        let refused = given.decide(SetBudget::new(limit, BudgetPeriod::Day));
        assert!(matches!(
            refused,
            Err(Refusal::Invalid {
                field: "limit_micros",
                ..
            })
        ));
    }
    for project in [
        "",
        " ",
        " shop",
        ".",
        "..",
        "a/shop",
        "./shop",
        "/a/../b",
        "sh\u{200b}op",
        "a\nb",
    ] {
        let refused = given.decide(twenty(Some(project)));
        let is_refused = matches!(
            refused,
            Err(Refusal::Invalid {
                field: "project",
                ..
            })
        );
        assert!(is_refused, "{project:?}: {refused:?}");
    }
    for project in ["shop", "/work/shop", "C:\\work\\shop", "käse laden"] {
        assert!(given.decide(twenty(Some(project))).is_ok(), "{project:?}");
    }
}

#[test]
fn a_log_has_a_bounded_number_of_budgets() {
    let mut given = Given::new();
    for number in 0..100 {
        given.execute(twenty(Some(&format!("p{number}"))));
    }
    assert!(given.decide(twenty(Some("one-more"))).is_err());
    // One that is there is changed still.
    let changed = SetBudget::new(1, BudgetPeriod::Day).with_project("p7".to_owned());
    assert_eq!(given.execute(changed).len(), 1);
}

/// The project is a name: content that a redaction can remove, which then equals no project.
#[test]
fn a_removed_project_is_no_other_one() {
    let mut event: AnyEvent = AnyEvent::Settings(
        BudgetSet {
            project: Some("shop".to_owned()),
            period: BudgetPeriod::Day,
            limit_micros: 1,
            then: OverBudget::Ask,
            number: 1,
        }
        .into(),
    );
    assert!(event.may_have_names());
    event.each_name(&mut |name| *name = crate::removed_name(&[7; 32], 0));
    let mut state = State::default();
    if let AnyEvent::Settings(event) = &event {
        evolve(&mut state, event);
    }
    assert!(!state.budgets[0].has("/work/shop"));
    assert!(state.budgets[0].is_of_removed_project());
    // No such name is chosen.
    let forged = crate::removed_name(&[7; 32], 0);
    assert!(Given::new().decide(twenty(Some(&forged))).is_err());
}

/// Folds events from which each name was removed, as by a redaction: no two stand-ins are equal.
fn without_names(events: &[AnyEvent]) -> State {
    let mut state = State::default();
    for (at, event) in events.iter().enumerate() {
        let mut event = event.clone();
        let digest = [u8::try_from(at).unwrap(); 32];
        event.each_name(&mut |name| *name = crate::removed_name(&digest, 0));
        if let AnyEvent::Settings(event) = &event {
            evolve(&mut state, event);
        }
    }
    state
}

/// A budget that was replaced or removed before a redaction is not listed after it, and no other one is lost.
#[test]
fn budgets_keep_their_identity_without_their_projects() {
    let mut given = Given::new();
    let mut events: Vec<AnyEvent> = Vec::new();
    let mut execute = |command: crate::Command| {
        events.extend(given.execute(command).into_iter().map(|it| it.event));
    };
    execute(twenty(Some("shop")).into());
    execute(twenty(Some("web")).into());
    let less = SetBudget::new(5_000_000, BudgetPeriod::Day).with_project("shop".to_owned());
    execute(less.with_then(OverBudget::Deny).into());
    let remove = RemoveBudget::new(BudgetPeriod::Day).with_project("web".to_owned());
    execute(remove.into());
    let state = without_names(&events);
    let [budget] = state.budgets.as_slice() else {
        panic!("{:?}", state.budgets);
    };
    assert_eq!(
        (budget.limit_micros, budget.then),
        (5_000_000, OverBudget::Deny)
    );
    assert!(budget.is_of_removed_project());
}
