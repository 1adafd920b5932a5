//! Imports against what this log recorded itself.

use uuid::Uuid;

use super::*;
use crate::metadata::MetadataSet;
use crate::redaction::Redacted;
use crate::session::{
    Aborted, Adopted, CommandAccepted, CommandCompleted, CommandQueued, CommandResult, Completed,
    Correlation, Paused, PlanUpdated, SessionConfig, StatusRecorded, StoredConfig, TokenSource,
};
use crate::{Dialect, Kind, Pieces};

fn id(number: u128) -> CommandId {
    CommandId(Uuid::from_u128(number))
}

fn status(status: SessionStatus) -> Event {
    let (reason, correlation) = (None, Correlation::default());
    StatusRecorded {
        status,
        reason,
        correlation,
    }
    .into()
}

fn accepted(number: u128) -> Event {
    CommandAccepted {
        command: id(number),
        token: TokenSource::None,
        correlation: Correlation::default(),
    }
    .into()
}

fn succeeded(number: u128) -> Event {
    CommandCompleted {
        command: id(number),
        outcome: CommandResult::Success,
        message: None,
        error_code: None,
        correlation: Correlation::default(),
    }
    .into()
}

fn importer() -> ActorRef {
    ActorRef::system(IMPORTER)
}

fn after(events: &[(Event, ActorRef)]) -> OwnWork {
    let mut own = OwnWork::default();
    for (event, actor) in events {
        own.note(event, actor);
    }
    own
}

#[test]
fn no_import_changes_the_status_of_a_session_that_this_log_works_in() {
    let (ada, coder) = (ActorRef::human("ada"), ActorRef::agent("coder"));
    let ends: [Event; 3] = [
        Completed { reason: None }.into(),
        Aborted { reason: None }.into(),
        Paused {
            reason: None,
            failures: None,
        }
        .into(),
    ];
    for own in ends {
        let own = after(&[
            (status(SessionStatus::Running), importer()),
            (own, ada.clone()),
        ]);
        for to in SessionStatus::ALL {
            for by in [None, Some(&ada), Some(&coder)] {
                assert_eq!(own.refusal(&status(*to), by), Some(Overruling::Status));
            }
        }
        assert_eq!(own.refusal(&accepted(1), None), None, "nothing was judged");
    }
    let imported = after(&[(status(SessionStatus::Running), importer())]);
    assert_eq!(imported.refusal(&status(SessionStatus::Error), None), None);
}

#[test]
fn no_import_brings_verdicts_and_results_once_the_gate_has_judged() {
    let coder = ActorRef::agent("coder");
    let queued: Event = CommandQueued {
        command: id(1),
        correlation: Correlation::default(),
    }
    .into();
    for judged in [queued, accepted(1)] {
        let own = after(&[(accepted(9), importer()), (judged, coder.clone())]);
        for number in [1, 9] {
            for event in [accepted(number), succeeded(number)] {
                assert_eq!(own.refusal(&event, None), Some(Overruling::Verdict));
            }
        }
    }
    let ended = after(&[(accepted(9), importer()), (succeeded(9), coder)]);
    assert_eq!(
        ended.refusal(&succeeded(9), None),
        Some(Overruling::Ended(id(9)))
    );
    assert_eq!(ended.refusal(&succeeded(8), None), None);
}

#[test]
fn what_a_person_imported_no_agents_import_undoes() {
    let (ada, coder) = (ActorRef::human("ada"), ActorRef::agent("coder"));
    let by_ada = importer().imported_by(&ada);
    let by_coder = importer().imported_by(&coder);
    for from in [
        SessionStatus::Paused,
        SessionStatus::Error,
        SessionStatus::Completed,
    ] {
        for (imported, expected) in [
            (importer(), Some(Overruling::PersonsStatus(from))),
            (by_ada.clone(), Some(Overruling::PersonsStatus(from))),
            (by_coder.clone(), None),
        ] {
            let own = after(&[(status(from), imported)]);
            let running = status(SessionStatus::Running);
            assert_eq!(own.refusal(&running, Some(&coder)), expected);
            assert_eq!(own.refusal(&running, Some(&ada)), None);
        }
    }
    let paused = after(&[(status(SessionStatus::Paused), by_ada)]);
    assert_eq!(
        paused.refusal(&status(SessionStatus::Error), Some(&coder)),
        None,
        "it may end"
    );
}

#[test]
fn removed_content_is_no_event_of_the_sessions_life() {
    let redacted = Event::Redacted(Redacted {
        removed: Vec::new(),
        objects: Vec::new(),
        reason: Pieces::new().text("a secret"),
    });
    let own = after(&[(redacted, ActorRef::human("ada"))]);
    assert_eq!(own.refusal(&status(SessionStatus::Running), None), None);
}

#[test]
fn no_import_replaces_a_plan_of_this_log() {
    let plan = || {
        Event::from(PlanUpdated {
            nodes: vec!["a".to_owned()],
            plan: Pieces::new().text("{}"),
            correlation: Correlation::default(),
        })
    };
    let imported = after(&[(plan(), importer())]);
    assert_eq!(imported.refusal(&plan(), None), None);
    let own = after(&[(plan(), ActorRef::agent("planner"))]);
    assert_eq!(own.refusal(&plan(), None), Some(Overruling::Plan));
}

#[test]
fn no_agents_import_configures_a_child_of_a_session_of_this_log() {
    let (ada, coder) = (ActorRef::human("ada"), ActorRef::agent("coder"));
    let parent = SessionId(Uuid::from_u128(7));
    let own = after(&[(Completed { reason: None }.into(), coder.clone())]);
    assert_eq!(
        own.refusal_of_child(parent, Some(&coder)),
        Some(Overruling::Child(parent))
    );
    assert_eq!(own.refusal_of_child(parent, Some(&ada)), None);
    // Nor of one that a person imported.
    let by_ada = importer().imported_by(&ada);
    let imported = after(&[(status(SessionStatus::Running), by_ada)]);
    assert_eq!(
        imported.refusal_of_child(parent, Some(&coder)),
        Some(Overruling::Child(parent))
    );
    let by_coder = importer().imported_by(&coder);
    let imported = after(&[(status(SessionStatus::Running), by_coder)]);
    assert_eq!(imported.refusal_of_child(parent, Some(&coder)), None);
}

#[test]
fn an_end_by_an_agents_import_hides_no_status_of_a_persons_import() {
    let (ada, coder) = (ActorRef::human("ada"), ActorRef::agent("coder"));
    let by_ada = importer().imported_by(&ada);
    let by_coder = importer().imported_by(&coder);
    for from in [SessionStatus::Paused, SessionStatus::NeedsApproval] {
        for end in [SessionStatus::Completed, SessionStatus::Error] {
            let own = after(&[
                (status(from), by_ada.clone()),
                (status(end), by_coder.clone()),
            ]);
            for to in SessionStatus::ALL {
                let refused = own.refusal(&status(*to), Some(&coder));
                let expected = (!to.is_terminal()).then_some(Overruling::EndAfterPerson(end));
                assert_eq!(refused, expected, "{from} {end} {to}");
                assert_eq!(own.refusal(&status(*to), Some(&ada)), None);
            }
        }
    }
    // A status of an agent's that was recorded between them hides nothing either.
    let own = after(&[
        (status(SessionStatus::Paused), by_ada.clone()),
        (status(SessionStatus::Running), by_coder.clone()),
    ]);
    assert_eq!(
        own.refusal(&status(SessionStatus::Running), Some(&coder)),
        Some(Overruling::PersonsStatus(SessionStatus::Paused))
    );
    // What an agent alone imported it brings on.
    let own = after(&[(status(SessionStatus::Completed), by_coder)]);
    let running = status(SessionStatus::Running);
    assert_eq!(own.refusal(&running, Some(&coder)), None);
}

#[test]
fn no_agents_import_configures_a_session_of_which_a_person_imported_something() {
    let (ada, coder) = (ActorRef::human("ada"), ActorRef::agent("coder"));
    let config = || -> Event {
        let json = r#"{"sessionId":"00000000-0000-0000-0000-000000000001","policy":{"name":"p"},
            "repo":{"name":"app","path":"/app"},"workspace":{"path":"/w"},"agentProfile":"coder"}"#;
        let config: SessionConfig = serde_json::from_str(json).unwrap();
        Adopted {
            dialect: Dialect::Contracts,
            config: Some(StoredConfig::store(&config, &mut Pieces::new())),
        }
        .into()
    };
    let by_ada = importer().imported_by(&ada);
    let own = after(&[(status(SessionStatus::Running), by_ada)]);
    let refused = own.refusal(&config(), Some(&coder));
    assert_eq!(refused, Some(Overruling::PersonsSession));
    assert_eq!(own.refusal(&config(), Some(&ada)), None);
    let by_coder = importer().imported_by(&coder);
    let own = after(&[(status(SessionStatus::Running), by_coder)]);
    assert_eq!(own.refusal(&config(), Some(&coder)), None);
}

#[test]
fn metadata_keeps_no_import_from_changing_a_status() {
    let set = || {
        Event::from(MetadataSet {
            kind: Kind::Session.number(),
            object: Uuid::from_u128(7),
            visibility: None,
            tags: None,
            external_ids: None,
        })
    };
    let own = after(&[(set(), ActorRef::agent("coder"))]);
    let paused = status(SessionStatus::Paused);
    assert_eq!(own.refusal(&paused, Some(&ActorRef::human("ada"))), None);
}
