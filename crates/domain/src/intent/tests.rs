//! Given, when, then for intents.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod intake;
mod properties;

use uuid::Uuid;

use super::*;
use crate::plan::CreatePlan;
use crate::task::CreateTask;
use crate::testing::{Given, events, stream, texts};
use crate::{AnyEvent, AnyState, Command, GitOid, IntentId, Kind, PlanId, Refusal, StreamKind};

const INTENT: IntentId = IntentId(Uuid::from_u128(1));
const PARENT: IntentId = IntentId(Uuid::from_u128(2));
const PLAN: PlanId = PlanId(Uuid::from_u128(3));
const COMMIT: GitOid = GitOid::Sha1([7; 20]);

fn create() -> CreateIntent {
    CreateIntent {
        id: Some(INTENT),
        prompt: "Add pagination".into(),
        parent: None,
    }
}

fn analyze() -> Command {
    AnalyzeIntent {
        intent: INTENT,
        content: "offset and limit".into(),
    }
    .into()
}

fn activate() -> Command {
    ActivateIntent {
        intent: INTENT,
        reason: None,
    }
    .into()
}

fn complete() -> Command {
    CompleteIntent::new(INTENT).into()
}

fn cancel() -> Command {
    CancelIntent {
        intent: INTENT,
        reason: None,
    }
    .into()
}

fn intent_event(event: impl Into<Event>) -> AnyEvent {
    AnyEvent::Intent(event.into())
}

/// An intent in every state that it can be in, and a plan in addition.
fn all_states() -> [(Life, Given); 5] {
    let draft = Given::new()
        .command(CreatePlan {
            id: Some(PLAN),
            ..CreatePlan::default()
        })
        .command(create());
    let analyzed = draft.clone().command(analyze());
    let active = analyzed.clone().command(activate());
    [
        (Life::Draft { analyzed: false }, draft.clone()),
        (Life::Draft { analyzed: true }, analyzed),
        (Life::Active, active.clone()),
        (Life::Completed, active.command(complete())),
        (Life::Cancelled, draft.command(cancel())),
    ]
}

/// Every command on an intent that is there.
fn all_commands() -> Vec<Command> {
    vec![
        analyze(),
        activate(),
        SelectPlan {
            intent: INTENT,
            plan: PLAN,
        }
        .into(),
        RecordCommit {
            intent: INTENT,
            commit: COMMIT,
        }
        .into(),
        complete(),
        cancel(),
        CreatePlan {
            intent: Some(INTENT),
            ..CreatePlan::default()
        }
        .into(),
    ]
}

const DRAFT: Life = Life::Draft { analyzed: false };
const ANALYZED: Life = Life::Draft { analyzed: true };

/// All that is accepted: the command, the state before and the state after.
const ACCEPTED: &[(&str, Life, Life)] = &[
    ("analyze_intent", DRAFT, ANALYZED),
    ("analyze_intent", ANALYZED, ANALYZED),
    ("analyze_intent", Life::Active, Life::Active),
    ("activate_intent", ANALYZED, Life::Active),
    ("select_plan", Life::Active, Life::Active),
    ("record_commit", Life::Active, Life::Active),
    ("complete_intent", Life::Active, Life::Completed),
    ("cancel_intent", DRAFT, Life::Cancelled),
    ("cancel_intent", ANALYZED, Life::Cancelled),
    ("cancel_intent", Life::Active, Life::Cancelled),
    ("create_plan", Life::Active, Life::Active),
];

fn state_of(given: &Given) -> Life {
    match given.loaded(stream(StreamKind::Intent, 1)).state {
        AnyState::Intent(state) => state.life,
        other => panic!("expected an intent, found {other:?}"),
    }
}

#[test]
fn transitions_are_accepted_along_the_matrix_and_refused_elsewhere() {
    let mut accepted = 0;
    for (before, given) in all_states() {
        assert_eq!(state_of(&given), before);
        for command in all_commands() {
            let asked = command.name();
            let row = ACCEPTED
                .iter()
                .find(|(name, from, _)| *name == asked && *from == before);
            let mut given = given.clone();
            match (row, given.try_execute(command)) {
                (Some((_, _, after)), Ok(_)) => {
                    accepted += 1;
                    assert_eq!(state_of(&given), *after, "{asked} on {before:?}");
                }
                (None, Err(refusal)) => check_transition(&refusal, before.name(), asked),
                (_, result) => panic!("{asked} on {before:?}: {result:?}"),
            }
        }
    }
    assert_eq!(accepted, ACCEPTED.len());
}

fn check_transition(refusal: &Refusal, in_state: &str, was_asked: &str) {
    let Refusal::Transition {
        kind: Kind::Intent,
        id,
        state,
        asked,
        ..
    } = refusal
    else {
        panic!("{was_asked} on {in_state}: {refusal}");
    };
    assert_eq!(
        (*id, state.as_str(), *asked),
        (INTENT.0, in_state, was_asked)
    );
    let message = refusal.to_string();
    for part in [&INTENT.to_string(), in_state, was_asked] {
        assert!(message.contains(part), "{message:?} lacks {part:?}");
    }
}

#[test]
fn no_command_changes_the_prompt() {
    // Submitted is the only event with a prompt, and the first of its stream.
    for (state, given) in all_states() {
        for command in all_commands() {
            let decided = given.decide(command).unwrap_or_default();
            let again = events(&decided)
                .iter()
                .any(|event| matches!(event, AnyEvent::Intent(Event::Submitted(_))));
            assert!(!again, "submitted again while {state:?}");
        }
        let (kind, id) = (Kind::Intent, INTENT.0);
        assert_eq!(
            given.decide(create()),
            Err(Refusal::Exists { kind, id }),
            "created again while {state:?}"
        );
    }
}

#[test]
fn a_prompt_is_kept_verbatim_and_apart() {
    let prompt = "  Add\tpagination\n\n".to_owned();
    let emitted = Given::new()
        .decide(CreateIntent { prompt, ..create() })
        .expect("accepted");
    let submitted = Submitted {
        refines: None,
        prompt: crate::Slot(0),
    };
    assert_eq!(events(&emitted), [intent_event(submitted)]);
    assert_eq!(emitted[0].stream, stream(StreamKind::Intent, 1));
    assert_eq!(texts(&emitted), [["  Add\tpagination\n\n"]]);
}

#[test]
fn an_intent_without_an_id_gets_the_new_one() {
    let given = Given::new();
    let emitted = given
        .decide(CreateIntent {
            id: None,
            ..create()
        })
        .expect("accepted");
    assert_eq!(emitted[0].stream.id, given.meta().new_id);
}

#[test]
fn a_blank_prompt_or_content_is_refused() {
    let given = Given::new().command(create());
    for blank in ["", " ", "\n\t", "\u{3000}"] {
        let prompt = CreateIntent {
            id: None,
            prompt: blank.into(),
            parent: None,
        };
        check_blank(given.decide(prompt), "prompt");
        let content = AnalyzeIntent {
            intent: INTENT,
            content: blank.into(),
        };
        check_blank(given.decide(content), "content");
    }
}

fn check_blank<T: std::fmt::Debug>(result: Result<T, Refusal>, named: &str) {
    assert!(
        matches!(&result, Err(Refusal::Invalid { field, .. }) if *field == named),
        "{named}: {result:?}"
    );
}

#[test]
fn an_intent_refines_one_that_is_there() {
    let refining = CreateIntent {
        parent: Some(PARENT),
        ..create()
    };
    let missing = |id: IntentId| {
        Err(Refusal::NotFound {
            kind: Kind::Intent,
            id: id.0,
        })
    };
    assert_eq!(Given::new().decide(refining.clone()), missing(PARENT));
    let itself = CreateIntent {
        parent: Some(INTENT),
        ..create()
    };
    assert_eq!(Given::new().decide(itself), missing(INTENT));
    let given = Given::new().command(CreateIntent {
        id: Some(PARENT),
        ..create()
    });
    let emitted = given.decide(refining).expect("accepted");
    assert!(
        matches!(&emitted[0].event, AnyEvent::Intent(Event::Submitted(event))
            if event.refines == Some(PARENT))
    );
}

#[test]
fn an_id_that_another_kind_has_is_taken() {
    let given = Given::new().command(CreateTask {
        id: Some(INTENT.0.into()),
        ..CreateTask::new("a task")
    });
    let (kind, id) = (Kind::Task, INTENT.0);
    assert_eq!(given.decide(create()), Err(Refusal::Exists { kind, id }));
}

#[test]
fn nothing_can_be_asked_of_an_intent_that_is_not_there() {
    let given = Given::new().command(CreatePlan {
        id: Some(PLAN),
        ..CreatePlan::default()
    });
    for command in all_commands() {
        let asked = command.name();
        let (kind, id) = (Kind::Intent, INTENT.0);
        assert_eq!(
            given.decide(command),
            Err(Refusal::NotFound { kind, id }),
            "{asked}"
        );
    }
}

#[test]
fn a_selected_plan_must_be_there() {
    let [_, _, (_, given), ..] = all_states();
    let plan = PlanId(Uuid::from_u128(99));
    let select = SelectPlan {
        intent: INTENT,
        plan,
    };
    let (kind, id) = (Kind::Plan, plan.0);
    assert_eq!(given.decide(select), Err(Refusal::NotFound { kind, id }));
}

#[test]
fn commits_and_interpretations_may_follow_each_other() {
    let [_, _, (_, mut given), ..] = all_states();
    for byte in 1..=2 {
        let commit = GitOid::Sha1([byte; 20]);
        let emitted = given.execute(RecordCommit {
            intent: INTENT,
            commit,
        });
        assert_eq!(events(&emitted), [intent_event(CommitRecorded { commit })]);
        let content = format!("reading {byte}");
        let emitted = given.execute(AnalyzeIntent {
            intent: INTENT,
            content: content.clone(),
        });
        assert_eq!(texts(&emitted), [[content]]);
    }
}

#[test]
fn reasons_are_content() {
    let reason = || Some("because".to_owned());
    let intent = INTENT;
    let [_, (_, analyzed), (_, active), ..] = all_states();
    for (given, command) in [
        (
            analyzed,
            Command::from(ActivateIntent {
                intent,
                reason: reason(),
            }),
        ),
        (
            active.clone(),
            CompleteIntent {
                reason: reason(),
                ..CompleteIntent::new(intent)
            }
            .into(),
        ),
        (
            active,
            CancelIntent {
                intent,
                reason: reason(),
            }
            .into(),
        ),
    ] {
        let emitted = given.decide(command).expect("accepted");
        assert_eq!(texts(&emitted), [["because"]]);
    }
}
