//! docs/spec/forge.md, Intent: what is proposed, who lets it go on, what is asked and
//! answered. Each test has the name of its row or sentence (docs/spec/forge.md).

mod above;
mod analyses;
mod axis;
mod belonging;
mod parts;
mod people;
mod questions;
mod rejections;
mod settled;
mod ways_around;

use super::*;
use crate::run::{CreateRun, DiffFormat, ProposePatchSet, StartPatching, StartValidation};
use crate::settings::{SetSetting, Setting};
use crate::task::{FailTask, RecordReview, ReviewVerdict};
use crate::{ActorRef, Emitted, RunId, TaskId};

pub(super) fn intent(number: u128) -> IntentId {
    IntentId(Uuid::from_u128(number))
}

pub(super) fn task(number: u128) -> TaskId {
    TaskId(Uuid::from_u128(number))
}

/// A request under an id of the test's own.
pub(super) fn submit(number: u128, prompt: &str) -> SubmitIntent {
    SubmitIntent {
        id: Some(intent(number)),
        ..SubmitIntent::new(prompt, Source::Human)
    }
}

/// A request whose author says how risky it is.
pub(super) fn risky(number: u128, risk: Risk) -> SubmitIntent {
    SubmitIntent {
        risk: Some(risk),
        ..submit(number, "Paginate the list")
    }
}

pub(super) fn judge(number: u128, risk: Risk) -> JudgeIntent {
    JudgeIntent {
        intent: intent(number),
        work_type: None,
        risk: Some(risk),
        reason: None,
    }
}

pub(super) fn approve(number: u128) -> ApproveIntent {
    ApproveIntent {
        intent: intent(number),
        reason: None,
    }
}

pub(super) fn reject(number: u128) -> RejectIntent {
    RejectIntent {
        intent: intent(number),
        reason: None,
    }
}

pub(super) fn instruct(number: u128, instruction: &str) -> InstructIntent {
    InstructIntent {
        intent: intent(number),
        instruction: instruction.into(),
    }
}

pub(super) fn start(number: u128) -> StartExecution {
    StartExecution {
        intent: intent(number),
    }
}

pub(super) fn ask(number: u128, questions: &[&str]) -> RequestClarification {
    RequestClarification {
        intent: intent(number),
        questions: questions.iter().map(|it| (*it).to_owned()).collect(),
    }
}

pub(super) fn answer(number: u128, question: Option<u32>) -> AnswerClarification {
    AnswerClarification {
        intent: intent(number),
        question,
        answer: "both".into(),
    }
}

pub(super) fn rerun(number: u128) -> RerunIntent {
    RerunIntent {
        intent: intent(number),
        instruction: None,
    }
}

pub(super) fn task_of(of: u128, number: u128) -> CreateTask {
    CreateTask {
        id: Some(task(number)),
        intent: Some(intent(of)),
        ..CreateTask::new("work")
    }
}

pub(super) fn fail_task(number: u128) -> FailTask {
    FailTask {
        task: task(number),
        reason: None,
    }
}

fn set(setting: Setting, value: &str) -> SetSetting {
    SetSetting {
        setting,
        value: value.into(),
    }
}

/// A task is worked on until its review approves it.
pub(super) fn finish_task(given: &mut Given, number: u128) {
    let run = RunId(given.execute(CreateRun::new(task(number)))[0].stream.id);
    given.execute(StartPatching { run });
    given.execute(ProposePatchSet::new(run, DiffFormat::Unified));
    given.execute(StartValidation { run });
    given.execute(RecordReview {
        task: task(number),
        verdict: ReviewVerdict::Approved,
        issues: vec![],
        suggestions: vec![],
        chosen_patchset_id: None,
        result_commit_sha: None,
    });
}

/// What Forge shows of an intent.
pub(super) fn status(given: &Given, number: u128) -> ApprovalStatus {
    given
        .ask(|world| status_in(world, intent(number)))
        .expect("it is there")
}

fn state(given: &Given, number: u128) -> State {
    match given.loaded(intent(number).stream()).state {
        AnyState::Intent(state) => (*state).clone(),
        other => panic!("expected an intent, found {other:?}"),
    }
}

/// The names of the events, in their order.
fn names(emitted: &[Emitted]) -> Vec<&'static str> {
    emitted.iter().map(|one| one.event.event_type()).collect()
}

/// An approval; the system's has a reason.
fn approved_by(by: Approver) -> AnyEvent {
    let reason = (by == Approver::System).then_some(crate::Slot(0));
    intent_event(Approved { by, reason })
}

/// Why the system approved something.
fn reason_of_approval(emitted: &[Emitted]) -> String {
    let approved = |one: &Emitted| one.event.event_type() == "intent.approved";
    let place = emitted.iter().position(approved).expect("an approval");
    texts(emitted).swap_remove(place).swap_remove(0)
}

fn classified(emitted: &[Emitted]) -> (&Classified, Vec<String>) {
    for (one, pieces) in emitted.iter().zip(texts(emitted)) {
        if let AnyEvent::Intent(Event::Classified(event)) = &one.event {
            return (event, pieces);
        }
    }
    panic!("nothing is classified by {emitted:?}");
}

// Risk decides who lets it go on.

#[test]
fn low_risk_runs_by_itself() {
    let mut given = Given::new();
    let emitted = given.execute(risky(1, Risk::Low));
    assert_eq!(
        names(&emitted),
        [
            "intent.submitted",
            "intent.taken_in",
            "intent.classified",
            "intent.approved",
            "intent.activated",
        ]
    );
    assert_eq!(emitted[3].event, approved_by(Approver::System));
    assert_eq!(status(&given, 1), ApprovalStatus::Approved);
    given.execute(task_of(1, 11));
    given.execute(CreateRun::new(task(11)));
    assert_eq!(status(&given, 1), ApprovalStatus::Executing);
}

#[test]
fn med_and_high_wait_for_a_persons_approval() {
    for risk in [Risk::Med, Risk::High] {
        let mut given = Given::new();
        let emitted = given.execute(risky(1, risk));
        assert!(!names(&emitted).contains(&"intent.approved"), "{risk}");
        assert_eq!(status(&given, 1), ApprovalStatus::Proposed);
        let emitted = given.execute(approve(1));
        assert_eq!(events(&emitted)[0], approved_by(Approver::Actor));
        assert_eq!(names(&emitted), ["intent.approved", "intent.activated"]);
        assert_eq!(status(&given, 1), ApprovalStatus::Approved);
    }
}

#[test]
fn an_intent_without_a_risk_waits() {
    let mut given = Given::new().command(create());
    assert_eq!(state(&given, 1).risk, None);
    given.execute(JudgeIntent {
        work_type: Some(WorkType::Test),
        risk: None,
        ..judge(1, Risk::Low)
    });
    assert_eq!(status(&given, 1), ApprovalStatus::Proposed);
}

#[test]
fn a_risk_that_the_rules_gave_approves_nothing_where_the_log_does_not_trust_it() {
    let mut given = Given::new().command(set(Setting::TrustClassifier, "false"));
    let emitted = given.execute(submit(1, "Fix the crash at login"));
    let (event, _) = classified(&emitted);
    assert_eq!(event.risk, Some(Risk::Low));
    assert_eq!(event.risk_basis, Some(RiskBasis::Type));
    assert_eq!(status(&given, 1), ApprovalStatus::Proposed);
}

#[test]
fn what_the_rules_call_low_goes_on_with_the_rule_as_its_reason() {
    let mut given = Given::new();
    let emitted = given.execute(submit(1, "Fix the crash at login"));
    assert_eq!(emitted[3].event, approved_by(Approver::System));
    assert_eq!(reason_of_approval(&emitted), "risk low by rule (type fix)");
    // It trusts the rules as far as it trusts a person.
    given.execute(submit(2, "Fix the crash of the payment"));
    given.execute(submit(3, "Paginate the list"));
    for waits in [2, 3] {
        assert_eq!(status(&given, waits), ApprovalStatus::Proposed);
    }
}

#[test]
fn the_systems_approval_says_who_or_what_gave_the_risk() {
    let all = Given::new().command(set(Setting::AutonomyThreshold, "high"));
    let why = |command: SubmitIntent| reason_of_approval(&all.decide(command).expect("accepted"));
    assert_eq!(why(risky(1, Risk::Low)), "risk low (declared)");
    let high = why(submit(1, "Fix the auth migration"));
    assert_eq!(high, "risk high by rule (word \"migration\")");
    let mut given = Given::new().command(risky(1, Risk::High));
    let judged = given.execute(judge(1, Risk::Low));
    assert_eq!(reason_of_approval(&judged), "risk low (judged)");
}

#[test]
fn the_logs_threshold_says_up_to_which_risk_the_system_approves() {
    for (threshold, approves) in [
        ("none", [false, false, false]),
        ("low", [true, false, false]),
        ("med", [true, true, false]),
        ("high", [true, true, true]),
    ] {
        let given = Given::new().command(set(Setting::AutonomyThreshold, threshold));
        for (risk, approves) in [Risk::Low, Risk::Med, Risk::High].into_iter().zip(approves) {
            let emitted = given.decide(risky(1, risk)).expect("accepted");
            let is_approved = names(&emitted).contains(&"intent.approved");
            assert_eq!(is_approved, approves, "{risk} where up to {threshold} is");
        }
    }
}

// The rule that decided is in the event.

/// What decided the type and the risk, with the words.
fn bases(command: SubmitIntent) -> [String; 2] {
    let emitted = Given::new().decide(command).expect("accepted");
    let (event, pieces) = classified(&emitted);
    let word = |slot: Option<crate::Slot>| {
        slot.map(|slot| format!(" {}", pieces[usize::from(slot.0)]))
            .unwrap_or_default()
    };
    let work_type = event.work_type.as_ref().expect("a type");
    assert_eq!(event.flow, work_type.flow(ListedType::Feature));
    [
        format!(
            "{} by {}{}",
            work_type,
            event.type_basis.expect("a basis"),
            word(event.type_word)
        ),
        format!(
            "{} by {}{}",
            event.risk.expect("a risk"),
            event.risk_basis.expect("a basis"),
            word(event.risk_word)
        ),
    ]
}

#[test]
fn the_rule_that_decided_the_type_is_in_the_event() {
    let labelled = |prompt: &str| SubmitIntent {
        labels: vec!["ui".into(), "Refactor".into(), "fix".into()],
        ..submit(1, prompt)
    };
    let declared = |prompt: &str| SubmitIntent {
        work_type: Some(WorkType::Audit),
        ..labelled(prompt)
    };
    let reflected = |prompt: &str| SubmitIntent {
        source: Source::Reflection,
        ..submit(1, prompt)
    };
    for (command, expected) in [
        (declared("Fix the crash"), "audit by declared"),
        (declared("バグを修正する"), "audit by declared"),
        (labelled("Fix the crash"), "refactor by label Refactor"),
        (labelled("バグを修正する"), "refactor by label Refactor"),
        (submit(1, "A crash and a bug"), "fix by keyword bug"),
        (submit(1, "ログインのバグ"), "fix by keyword バグ"),
        (submit(1, "テストを足す"), "test by keyword テスト"),
        (reflected("Paginate the list"), "audit by source"),
        (reflected("一覧をページ分けする"), "audit by source"),
        (submit(1, "Paginate the list"), "feature by default"),
        (submit(1, "一覧をページ分けする"), "feature by default"),
    ] {
        assert_eq!(bases(command.clone())[0], expected, "{}", command.prompt);
    }
}

#[test]
fn the_rule_that_decided_the_risk_is_in_the_event() {
    let declared = |prompt: &str| SubmitIntent {
        risk: Some(Risk::Med),
        ..submit(1, prompt)
    };
    for (command, expected) in [
        (
            submit(1, "Fix the auth migration"),
            "high by high_word migration",
        ),
        (submit(1, "認証を直す"), "high by high_word 認証"),
        (submit(1, "Fix the crash"), "low by type"),
        (submit(1, "不具合を直す"), "low by type"),
        (submit(1, "Paginate the list"), "med by type"),
        (declared("Fix the auth migration"), "med by declared"),
        (declared("認証を直す"), "med by declared"),
    ] {
        assert_eq!(bases(command.clone())[1], expected, "{}", command.prompt);
    }
}

#[test]
fn a_judgement_overrides_as_an_event_of_its_own() {
    let mut given = Given::new().command(submit(1, "Fix the auth migration"));
    assert_eq!(state(&given, 1).risk, Some(Risk::High));
    let emitted = given.execute(JudgeIntent {
        reason: Some("only a typo".into()),
        ..judge(1, Risk::Med)
    });
    let expected = Classified {
        work_type: None,
        type_basis: None,
        type_word: None,
        flow: vec![],
        risk: Some(Risk::Med),
        risk_basis: Some(RiskBasis::Judged),
        risk_word: None,
        reason: Some(crate::Slot(0)),
    };
    assert_eq!(events(&emitted), [intent_event(expected)]);
    assert_eq!(texts(&emitted), [["only a typo"]]);
    let after = state(&given, 1);
    assert_eq!(
        (after.risk, after.risk_basis),
        (Some(Risk::Med), Some(RiskBasis::Judged))
    );
    // Judging the type leaves the risk as it was judged.
    let emitted = given.execute(JudgeIntent {
        work_type: Some(WorkType::Audit),
        risk: None,
        ..judge(1, Risk::Low)
    });
    let (event, _) = classified(&emitted);
    assert_eq!(event.type_basis, Some(TypeBasis::Judged));
    assert_eq!(event.flow, [FlowStep::Audit, FlowStep::Report]);
    assert_eq!(state(&given, 1).risk, Some(Risk::Med));
}

#[test]
fn a_risk_judged_low_lets_a_proposed_intent_go_on() {
    let mut given = Given::new().command(risky(1, Risk::High));
    let emitted = given.execute(judge(1, Risk::Low));
    assert_eq!(
        names(&emitted),
        ["intent.classified", "intent.approved", "intent.activated"]
    );
    assert_eq!(emitted[1].event, approved_by(Approver::System));
    // Once: what is approved is only classified again.
    let emitted = given.execute(judge(1, Risk::Low));
    assert_eq!(names(&emitted), ["intent.classified"]);
}

#[test]
fn a_type_that_is_not_listed_goes_by_the_setting_for_those() {
    let docs = || WorkType::Other("docs".into());
    let of_docs = |number: u128| SubmitIntent {
        work_type: Some(docs()),
        ..submit(number, "Describe the cache")
    };
    let mut given = Given::new();
    let emitted = given.execute(of_docs(1));
    let (event, _) = classified(&emitted);
    assert_eq!(event.work_type, Some(docs()));
    assert_eq!((event.risk, event.flow.len()), (Some(Risk::Med), 3));
    assert_eq!(status(&given, 1), ApprovalStatus::Proposed);

    given.execute(set(Setting::UnknownType, "test"));
    let emitted = given.execute(of_docs(2));
    let why = "risk low by rule (type docs, as classification.unknown_type)";
    assert_eq!(reason_of_approval(&emitted), why);
    given.execute(set(Setting::UnknownType, "audit"));
    let emitted = given.execute(JudgeIntent {
        work_type: Some(docs()),
        risk: None,
        ..judge(1, Risk::Low)
    });
    let (event, _) = classified(&emitted);
    assert_eq!(event.flow, [FlowStep::Audit, FlowStep::Report]);
    // What was decided stays.
    assert_eq!(state(&given, 1).risk, Some(Risk::Med));
}

#[test]
fn a_listed_type_in_other_letters_is_refused_with_the_word() {
    let slip = SubmitIntent {
        work_type: Some(WorkType::Other("Fix".into())),
        ..submit(1, "Describe the cache")
    };
    let refusal = Given::new().decide(slip).expect_err("a slip").to_string();
    assert!(refusal.contains("write \"fix\""), "{refusal}");
    let given = Given::new().command(risky(1, Risk::High));
    let slip = JudgeIntent {
        work_type: Some(WorkType::Other("AUDIT".into())),
        ..judge(1, Risk::Low)
    };
    assert!(given.decide(slip).is_err());
}

#[test]
fn a_judgement_of_nothing_is_refused() {
    let given = Given::new().command(risky(1, Risk::High));
    let nothing = JudgeIntent {
        risk: None,
        ..judge(1, Risk::Low)
    };
    check_blank(given.decide(nothing), "type, risk");
}

/// For git-internal an approved intent is active, so that it takes its runs' commits.
#[test]
fn approval_activates_a_draft_and_its_runs_commits_are_its_own() {
    let mut given = Given::new()
        .command(risky(1, Risk::High))
        .command(approve(1));
    assert_eq!(state(&given, 1).life, Life::Active);
    given.execute(task_of(1, 11));
    let run = RunId(given.execute(CreateRun::new(task(11)))[0].stream.id);
    given.execute(StartPatching { run });
    given.execute(ProposePatchSet::new(run, DiffFormat::Unified));
    given.execute(StartValidation { run });
    let emitted = given.execute(RecordReview {
        task: task(11),
        verdict: ReviewVerdict::Approved,
        issues: vec![],
        suggestions: vec![],
        chosen_patchset_id: None,
        result_commit_sha: Some(COMMIT),
    });
    assert!(names(&emitted).contains(&"intent.commit_recorded"));
    assert_eq!(status(&given, 1), ApprovalStatus::Done);
    // One that was active before is not activated again.
    let given = Given::new()
        .command(create())
        .command(analyze())
        .command(activate());
    let emitted = given.decide(approve(1)).expect("accepted");
    assert_eq!(names(&emitted), ["intent.approved"]);
}

// What is proposed.

#[test]
fn a_submitted_intent_is_a_draft_of_document_000_and_proposed() {
    let mut given = Given::new();
    for (number, source) in (1..).zip(Source::ALL.iter().copied()) {
        let emitted = given.execute(SubmitIntent {
            source,
            ..submit(number, "Paginate the list")
        });
        assert!(
            matches!(&emitted[1].event, AnyEvent::Intent(Event::TakenIn(event))
                if event.source == source),
            "{emitted:?}"
        );
        let state = state(&given, number);
        assert_eq!(state.life, Life::Draft { analyzed: false });
        assert!(state.is_taken_in);
        assert_eq!(status(&given, number), ApprovalStatus::Proposed);
    }
}

#[test]
fn what_an_intent_says_is_kept_verbatim_and_apart() {
    let prompt = "ログイン画面にリンクを追加する。\n\n現状では手段がない。\n";
    let emitted = Given::new()
        .decide(SubmitIntent {
            labels: vec!["ui".into(), "画面".into()],
            extra: Some(crate::testing::json(r#"{"b": 1.50, "a": 2}"#)),
            ..submit(1, prompt)
        })
        .expect("accepted");
    let texts = texts(&emitted);
    assert_eq!(texts[0], [prompt]);
    // But the white space between tokens of JSON.
    assert_eq!(texts[1], ["ui", "画面", r#"{"b":1.50,"a":2}"#]);
}

#[test]
fn a_source_is_given_and_one_of_those_there_are() {
    let read = |fields: &str| Command::from_json("submit_intent", fields);
    for source in Source::ALL {
        let fields = format!(r#"{{"prompt":"p","source":"{source}"}}"#);
        assert!(read(&fields).is_ok(), "{fields}");
    }
    for (fields, says) in [
        (r#"{"prompt":"p"}"#, "source"),
        (
            r#"{"prompt":"p","source":"hunch"}"#,
            "human, audit, epiphany, reflection",
        ),
        (r#"{"prompt":"p","source":"Human"}"#, "human, audit"),
    ] {
        let error = read(fields).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn what_an_intent_names_must_be_there() {
    let given = Given::new().command(submit(1, "one"));
    let new = || submit(2, "two");
    let (missing, (kind, id)) = (intent(9), (Kind::Intent, intent(9).0));
    for command in [
        SubmitIntent {
            refines: Some(missing),
            ..new()
        },
        SubmitIntent {
            child_of: Some(missing),
            ..new()
        },
        SubmitIntent {
            depends_on: vec![intent(1), missing],
            ..new()
        },
    ] {
        assert_eq!(given.decide(command), Err(Refusal::NotFound { kind, id }));
    }
    let itself = SubmitIntent {
        depends_on: vec![intent(2)],
        ..new()
    };
    let id = intent(2).0;
    assert_eq!(given.decide(itself), Err(Refusal::NotFound { kind, id }));
    let twice = SubmitIntent {
        depends_on: vec![intent(1), intent(1)],
        ..new()
    };
    let given = given.command(twice);
    assert_eq!(state(&given, 2).depends_on, [intent(1)], "each once");
    let id = intent(1).0;
    assert_eq!(
        given.decide(submit(1, "again")),
        Err(Refusal::Exists { kind, id })
    );
}

#[test]
fn a_blank_prompt_label_question_answer_or_instruction_is_refused() {
    let given = Given::new()
        .command(submit(1, "one"))
        .command(ask(1, &["which?"]));
    for blank in ["", " ", "\n\t", "\u{3000}"] {
        check_blank(given.decide(submit(2, blank)), "prompt");
        let labels = vec!["ui".into(), blank.into()];
        check_blank(
            given.decide(SubmitIntent {
                labels,
                ..submit(2, "two")
            }),
            "labels",
        );
        check_blank(given.decide(ask(1, &["which?", blank])), "questions");
        let answer = AnswerClarification {
            answer: blank.into(),
            ..answer(1, None)
        };
        check_blank(given.decide(answer), "answer");
        check_blank(given.decide(instruct(1, blank)), "instruction");
    }
}
