//! Given, when, then for observations, and for the intents that they lead to.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use uuid::Uuid;

use super::*;
use crate::intent::{self, Source, SubmitIntent, TakenIn};
use crate::testing::{Given, events, texts};
use crate::{
    AnyEvent, AnyState, Dependence, IntentId, Kind, ObservationId, Refusal, Slot, StreamKind,
};

const NOTICED: ObservationId = ObservationId(Uuid::from_u128(1));
const INTENT: IntentId = IntentId(Uuid::from_u128(2));
const OTHER: IntentId = IntentId(Uuid::from_u128(3));

fn record(kind: ObservationKind) -> RecordObservation {
    RecordObservation {
        id: Some(NOTICED),
        ..RecordObservation::new(kind, "the login test repeats its setup\nthree times")
    }
}

fn process(reason: Option<&str>) -> ProcessObservation {
    ProcessObservation {
        observation: NOTICED,
        reason: reason.map(str::to_owned),
    }
}

fn submit(id: IntentId, source: Source) -> SubmitIntent {
    SubmitIntent {
        id: Some(id),
        observation: Some(NOTICED),
        ..SubmitIntent::new("Share the setup", source)
    }
}

/// An epiphany was recorded.
fn noticed() -> Given {
    Given::new().command(record(ObservationKind::Epiphany))
}

fn state(given: &Given) -> State {
    match given.loaded(NOTICED.stream()).state {
        AnyState::Observation(state) => *state,
        other => panic!("{other:?}"),
    }
}

fn refused(given: &Given, command: impl Into<crate::Command>) -> Refusal {
    given.decide(command).unwrap_err()
}

#[test]
fn what_was_noticed_is_recorded_with_its_evidence_and_what_it_is_about() {
    let given = Given::new().command(intent::CreateIntent {
        id: Some(INTENT),
        prompt: "p".into(),
        parent: None,
    });
    let emitted = given
        .decide(RecordObservation {
            evidence: vec!["tests/login.rs:12".into(), "「三回」".into()],
            about: vec![INTENT.0, INTENT.0],
            ..record(ObservationKind::Reflection)
        })
        .unwrap();
    let recorded = Recorded {
        kind: ObservationKind::Reflection,
        text: Slot(0),
        evidence: vec![Slot(1), Slot(2)],
        about: vec![Subject {
            kind: Kind::Intent.number(),
            object: INTENT.0,
        }],
    };
    assert_eq!(events(&emitted), [AnyEvent::Observation(recorded.into())]);
    assert_eq!(
        texts(&emitted),
        [[
            "the login test repeats its setup\nthree times",
            "tests/login.rs:12",
            "「三回」"
        ]]
    );
    assert_eq!(emitted[0].stream, NOTICED.stream());
    assert_eq!(
        emitted[0].event.creates(NOTICED.0),
        Some((Kind::Observation, NOTICED.0))
    );
}

#[test]
fn an_observation_that_asks_for_no_id_gets_the_one_that_comes_with_the_command() {
    let given = Given::new();
    let command = RecordObservation::new(ObservationKind::Epiphany, "気づき");
    let emitted = given.decide(command).unwrap();
    assert_eq!(emitted[0].stream.kind, StreamKind::Observation);
    assert_eq!(emitted[0].stream.id, given.meta().new_id);
}

#[test]
fn a_blank_text_or_piece_of_evidence_is_refused() {
    let blank = RecordObservation {
        text: "\u{3000}\n".into(),
        ..record(ObservationKind::Epiphany)
    };
    let refusal = refused(&Given::new(), blank);
    assert!(matches!(refusal, Refusal::Invalid { field: "text", .. }));
    let blank = RecordObservation {
        evidence: vec!["a".into(), " ".into()],
        ..record(ObservationKind::Epiphany)
    };
    let refusal = refused(&Given::new(), blank);
    assert!(matches!(
        refusal,
        Refusal::Invalid {
            field: "evidence",
            ..
        }
    ));
}

#[test]
fn what_an_observation_is_about_must_be_there() {
    let command = RecordObservation {
        about: vec![INTENT.0],
        ..record(ObservationKind::Epiphany)
    };
    let refusal = refused(&Given::new(), command);
    assert_eq!(refusal, Refusal::Unknown { id: INTENT.0 });
}

#[test]
fn an_id_that_is_taken_is_refused() {
    let taken = refused(&noticed(), record(ObservationKind::Reflection));
    let (kind, id) = (Kind::Observation, NOTICED.0);
    assert_eq!(taken, Refusal::Exists { kind, id });
    let command = intent::CreateIntent {
        id: Some(IntentId(NOTICED.0)),
        prompt: "p".into(),
        parent: None,
    };
    assert_eq!(refused(&noticed(), command), Refusal::Exists { kind, id });
}

#[test]
fn an_observation_with_nothing_to_do_is_put_aside_with_the_reason() {
    let mut given = noticed();
    let emitted = given.execute(process(Some("it is meant so")));
    let processed = Processed {
        intent: None,
        reason: Some(Slot(0)),
    };
    assert_eq!(events(&emitted), [AnyEvent::Observation(processed.into())]);
    assert_eq!(texts(&emitted), [["it is meant so"]]);
    assert_eq!(state(&given), State::Processed { intent: None });
}

#[test]
fn an_observation_is_processed_once() {
    let given = noticed().command(process(None));
    let again = refused(&given, process(None));
    let says = again.to_string();
    assert!(matches!(again, Refusal::Transition { .. }), "{says}");
    assert!(says.contains("is processed, with nothing to do"), "{says}");
    assert!(says.contains("record_observation"), "{says}");
    let led = noticed().command(submit(INTENT, Source::Epiphany));
    let says = refused(&led, process(None)).to_string();
    assert!(says.contains(&format!("led to intent {INTENT}")), "{says}");
}

#[test]
fn an_observation_that_is_not_there_is_neither_processed_nor_a_cause() {
    let not_found = Refusal::NotFound {
        kind: Kind::Observation,
        id: NOTICED.0,
    };
    assert_eq!(refused(&Given::new(), process(None)), not_found);
    let command = submit(INTENT, Source::Epiphany);
    assert_eq!(refused(&Given::new(), command), not_found);
}

/// docs/spec/forge.md, Intent, `source`: an epiphany and a reflection lead to intents of
/// that source.
#[test]
fn an_intent_names_the_observation_and_processes_it_in_the_same_batch() {
    for (kind, source) in [
        (ObservationKind::Epiphany, Source::Epiphany),
        (ObservationKind::Reflection, Source::Reflection),
    ] {
        let given = Given::new().command(record(kind));
        let (emitted, guards) = given.decide_guarded(submit(INTENT, source)).unwrap();
        let taken_in = emitted.iter().find_map(|one| match &one.event {
            AnyEvent::Intent(intent::Event::TakenIn(event)) => Some(event),
            _ => None,
        });
        let TakenIn {
            source: from,
            observation,
            ..
        } = taken_in.expect("it is taken in");
        assert_eq!((*from, *observation), (source, Some(NOTICED)));
        let last = emitted.last().unwrap();
        let processed = Processed {
            intent: Some(INTENT),
            reason: None,
        };
        assert_eq!(last.stream, NOTICED.stream());
        assert_eq!(last.event, AnyEvent::Observation(processed.into()));
        assert_eq!(emitted[0].stream, INTENT.stream(), "the principal first");
        // The second writer finds another version.
        assert!(guards.contains(&(NOTICED.stream(), Dependence::State, 1)));
    }
}

#[test]
fn an_observation_leads_to_one_intent() {
    let given = noticed().command(submit(INTENT, Source::Epiphany));
    let led = State::Processed {
        intent: Some(INTENT),
    };
    assert_eq!(state(&given), led);
    let again = refused(&given, submit(OTHER, Source::Epiphany));
    let says = again.to_string();
    assert!(matches!(again, Refusal::Transition { .. }), "{says}");
    assert!(says.contains(&format!("led to intent {INTENT}")), "{says}");
    let aside = noticed().command(process(None));
    let says = refused(&aside, submit(INTENT, Source::Epiphany)).to_string();
    assert!(says.contains("nothing to do"), "{says}");
}

#[test]
fn an_intent_comes_from_what_the_observation_is() {
    for source in [Source::Human, Source::Audit, Source::Reflection] {
        let refusal = refused(&noticed(), submit(INTENT, source));
        let says = refusal.to_string();
        assert!(
            matches!(
                refusal,
                Refusal::Invalid {
                    field: "source",
                    ..
                }
            ),
            "{says}"
        );
        assert!(says.contains("of the kind epiphany"), "{says}");
        assert!(says.contains(&format!("{source} was given")), "{says}");
    }
}

#[test]
fn a_refused_intent_leaves_the_observation_open() {
    let mut given = noticed();
    let blank = SubmitIntent {
        prompt: " ".into(),
        ..submit(INTENT, Source::Epiphany)
    };
    given.try_execute(blank).unwrap_err();
    let open = State::Open {
        kind: ObservationKind::Epiphany,
    };
    assert_eq!(state(&given), open);
}

#[test]
fn what_is_given_with_an_observation_is_read_by_name_and_nothing_else() {
    let read = crate::Command::from_json;
    let fields = r#"{"kind":"epiphany","text":"気づいた","evidence":["a"],"about":[]}"#;
    assert!(read("record_observation", fields).is_ok());
    let error = read("record_observation", r#"{"kind":"hunch","text":"t"}"#).unwrap_err();
    assert!(
        error.to_string().contains("epiphany, reflection"),
        "{error}"
    );
    let error = read("process_observation", r#"{"observation":"x","intent":"y"}"#).unwrap_err();
    assert!(error.to_string().contains("observation"), "{error}");
}
