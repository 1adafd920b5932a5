//! What is accepted of an intent on its second axis, and what happens then.

use std::sync::Arc;

use super::above;
use super::conditions::{require_conditions, turned_down, waits_for_approval};
use super::decide::emit;
use super::rings::refuse_rings;
use super::shared::refuse_as as refuse;
use super::status::{has_failed, status_in, status_without_open};
use super::who;
use super::{
    Activated, AnswerClarification, ApprovalStatus, ApproveIntent, Approved, Approver,
    ClarificationAnswered, ClarificationRequested, Classification, Classified, Decomposed,
    ExecutionStarted, InstructIntent, Instructed, JudgeIntent, Life, Proposal, RejectIntent,
    Rejected, RequestClarification, Risk, RiskBasis, RiskRule, Stage, StartExecution, State,
    SubmitIntent, Submitted, TakenIn, TypeBasis, TypeRule, classify, risk_in_words, title_and_body,
};
use crate::pieces::Pieces;
use crate::refusal::not_blank;
use crate::world::{Decided, Emitted, World};
use crate::{DecideError, IntentId, Meta, Refusal, StreamKind, approval, observation};

/// The most questions that can be asked at once.
const MOST_QUESTIONS: usize = 100;

pub(crate) fn submit(world: &mut World, command: &SubmitIntent, meta: &Meta) -> Decided {
    let id = command.id.unwrap_or(IntentId(meta.new_id));
    not_blank("prompt", &command.prompt)?;
    for label in &command.labels {
        not_blank("labels", label)?;
    }
    if let Some(work_type) = &command.work_type {
        work_type.check("type")?;
    }
    if let Some(asked) = command.id {
        world.unused(asked.0)?;
    }
    world.absent(id.stream())?;
    if let Some(refined) = command.refines {
        world.require(StreamKind::Intent, refined)?;
    }
    let mut depends_on = Vec::new();
    for other in &command.depends_on {
        world.require(StreamKind::Intent, *other)?;
        if !depends_on.contains(other) {
            depends_on.push(*other);
        }
    }
    let mut events = propose(
        world,
        id,
        &SubmitIntent {
            depends_on,
            ..command.clone()
        },
    )?;
    if let Some(parent) = command.child_of {
        let state = world.intent(parent)?;
        let asked = "submit_intent with it as child_of";
        require_open(parent, &state, asked)?;
        above::require_open(world, parent, &state, asked)?;
        refuse_rings(world, parent, "depends_on", &command.depends_on)?;
        // A part does not begin what is not ready to be begun.
        if state.stage == Stage::Approved && is_ready(world, parent, &state)? {
            events.push(started(parent));
        }
        events.push(decomposed(parent, vec![id]));
    }
    if let Some(cause) = command.observation {
        events.push(observation::decide::led_to(
            world,
            cause,
            id,
            command.source,
        )?);
    }
    Ok(events)
}

/// That an intent was split.
pub(super) fn decomposed(parent: IntentId, children: Vec<IntentId>) -> Emitted {
    emit(parent, Decomposed { children }, Pieces::new())
}

/// A new intent on the axis, classified, and approved where its risk allows it.
/// What it names was looked at.
pub(super) fn propose(
    world: &mut World,
    id: IntentId,
    command: &SubmitIntent,
) -> Result<Vec<Emitted>, DecideError> {
    let mut pieces = Pieces::new();
    let submitted = Submitted {
        refines: command.refines,
        prompt: pieces.text(command.prompt.as_str()),
    };
    let mut events = vec![emit(id, submitted, pieces)];
    let mut pieces = Pieces::new();
    let taken_in = TakenIn {
        source: command.source,
        child_of: command.child_of,
        depends_on: command.depends_on.clone(),
        observation: command.observation,
        labels: pieces.texts(&command.labels),
        extra: pieces.optional_json(command.extra.as_ref()),
    };
    events.push(emit(id, taken_in, pieces));
    let (title, body) = title_and_body(&command.prompt);
    let found = classify(&Proposal {
        title,
        body,
        labels: &command.labels,
        declared: command.work_type.as_ref(),
        source: command.source,
        unknown_type: world.settings()?.unknown_type,
    });
    let (classified, pieces) = by_rule(&found, command.risk);
    events.push(emit(id, classified, pieces));
    let given = GivenRisk::of(&found, command.risk);
    events.extend(let_go(world, id, Life::Absent, &given)?);
    Ok(events)
}

/// What the rules say, but for a risk that the author gave.
fn by_rule(found: &Classification, declared: Option<Risk>) -> (Classified, Pieces) {
    let mut pieces = Pieces::new();
    let (type_basis, type_word) = match &found.type_rule {
        TypeRule::Declared => (TypeBasis::Declared, None),
        TypeRule::Label(word) => (TypeBasis::Label, Some(pieces.text(word.as_str()))),
        TypeRule::Keyword(word) => (TypeBasis::Keyword, Some(pieces.text(word.as_str()))),
        TypeRule::Source => (TypeBasis::Source, None),
        TypeRule::Default => (TypeBasis::Default, None),
    };
    let risk_word = match &found.risk_rule {
        RiskRule::HighWord(word) if declared.is_none() => Some(pieces.text(word.as_str())),
        RiskRule::HighWord(_) | RiskRule::Type => None,
    };
    let classified = Classified {
        work_type: Some(found.work_type.clone()),
        type_basis: Some(type_basis),
        type_word,
        flow: found.flow.clone(),
        risk: Some(declared.unwrap_or(found.risk)),
        risk_basis: Some(match declared {
            Some(_) => RiskBasis::Declared,
            None => risk_basis(&found.risk_rule),
        }),
        risk_word,
        reason: None,
    };
    (classified, pieces)
}

fn risk_basis(rule: &RiskRule) -> RiskBasis {
    match rule {
        RiskRule::HighWord(_) => RiskBasis::HighWord,
        RiskRule::Type => RiskBasis::Type,
    }
}

/// A risk, and what decided it.
struct GivenRisk {
    risk: Risk,
    basis: RiskBasis,
    /// In words.
    why: String,
}

impl GivenRisk {
    /// The risk that the author gave, or else that of the rules.
    fn of(found: &Classification, declared: Option<Risk>) -> GivenRisk {
        match (declared, &found.risk_rule) {
            (Some(risk), _) => GivenRisk::said(risk, RiskBasis::Declared),
            (None, RiskRule::HighWord(word)) => GivenRisk {
                risk: found.risk,
                basis: RiskBasis::HighWord,
                why: risk_in_words(found.risk, RiskBasis::HighWord, None, Some(word)),
            },
            (None, RiskRule::Type) => GivenRisk {
                risk: found.risk,
                basis: RiskBasis::Type,
                why: risk_in_words(found.risk, RiskBasis::Type, Some(&found.work_type), None),
            },
        }
    }

    /// One that an agent or a person gave.
    fn said(risk: Risk, basis: RiskBasis) -> GivenRisk {
        GivenRisk {
            risk,
            basis,
            why: risk_in_words(risk, basis, None, None),
        }
    }
}

/// The system's own approval, where the log's settings allow it at this risk. Its
/// reason is what decided the risk.
fn let_go(
    world: &mut World,
    id: IntentId,
    life: Life,
    given: &GivenRisk,
) -> Result<Vec<Emitted>, DecideError> {
    if !world.settings()?.approves(given.risk, given.basis) {
        return Ok(Vec::new());
    }
    Ok(approved(id, life, Approver::System, Some(&given.why)))
}

/// That an intent was approved. A Draft becomes Active by it.
fn approved(id: IntentId, life: Life, by: Approver, reason: Option<&str>) -> Vec<Emitted> {
    let mut pieces = Pieces::new();
    let reason = pieces.optional_text(reason);
    let mut events = vec![emit(id, Approved { by, reason }, pieces)];
    events.extend(activated(id, life));
    events
}

/// That work on an intent may begin, unless it may already.
fn activated(id: IntentId, life: Life) -> Option<Emitted> {
    let is_draft = matches!(life, Life::Absent | Life::Draft { .. });
    is_draft.then(|| emit(id, Activated { reason: None }, Pieces::new()))
}

/// Demands that an intent is neither finished nor given up.
fn require_open(id: IntentId, state: &State, asked: &'static str) -> Result<(), DecideError> {
    if state.stage == Stage::Rejected {
        return Err(refuse(id, "rejected", asked, "not yet settled"));
    }
    if !state.life.is_open() {
        return Err(refuse(id, state.life.name(), asked, "not yet settled"));
    }
    Ok(())
}

/// Demands that work on an intent has not ended.
pub(crate) fn require_open_work(
    world: &mut World,
    id: IntentId,
    asked: &'static str,
) -> Result<(), DecideError> {
    let state = open_intent(world, id, asked)?;
    above::require_open(world, id, &state, asked)
}

/// The same of an intent that may not exist.
pub(crate) fn require_open_if_any(
    world: &mut World,
    id: IntentId,
    asked: &'static str,
) -> Result<(), DecideError> {
    match world.intent_if_any(id)?.is_some() {
        true => require_open_work(world, id, asked),
        false => Ok(()),
    }
}

/// An intent that is neither finished nor given up.
pub(super) fn open_intent(
    world: &mut World,
    id: IntentId,
    asked: &'static str,
) -> Result<Arc<State>, DecideError> {
    let state = world.intent(id)?;
    require_open(id, &state, asked)?;
    Ok(state)
}

/// A risk that is judged lower lets through what would wait: that is an approval, and as much a
/// person's, and another one's than who asked.
fn check_lower(
    world: &mut World,
    state: &State,
    risk: Option<Risk>,
    meta: &Meta,
) -> Result<(), DecideError> {
    // That a risk is not known says no more than that it may be one. What was approved with a risk
    // is not changed by others because that is judged lower afterwards.
    let is_lower = |risk| risk < state.risk.unwrap_or(Risk::Med);
    if !risk.is_some_and(is_lower) {
        return Ok(());
    }
    let before = state.risk.map_or("unknown", Risk::as_str);
    let what = format!("a lower risk of an intent of {before} risk");
    approval::by_a_person(&what, &meta.actor)?;
    let own_requests = world.settings()?.own_requests;
    Ok(approval::by_another(
        &state.asked_by,
        &meta.actor,
        own_requests,
    )?)
}

/// A risk that is judged as high as the rules gave it lets through what they alone do not, where the log does not trust
/// them: of what somebody else asked for, that is a person's.
fn check_let_go(
    world: &mut World,
    state: &State,
    risk: Option<Risk>,
    meta: &Meta,
) -> Result<(), DecideError> {
    let settings = world.settings()?;
    let lets_go = |risk| settings.approves(risk, RiskBasis::Judged);
    let went_on = |(risk, basis)| settings.approves(risk, basis);
    let is_own = state.asked_by.as_ref().is_some_and(|by| by.is(&meta.actor));
    let waits =
        state.stage == Stage::Proposed && !state.risk.zip(state.risk_basis).is_some_and(went_on);
    if is_own || !waits || !risk.is_some_and(lets_go) {
        return Ok(());
    }
    Ok(approval::by_a_person(
        "an intent that waits and that somebody else requested",
        &meta.actor,
    )?)
}

pub(crate) fn judge(world: &mut World, command: &JudgeIntent, meta: &Meta) -> Decided {
    if command.work_type.is_none() && command.risk.is_none() {
        let reason = "at least one of them must be given";
        return Err(Refusal::invalid("type, risk", reason).into());
    }
    let id = command.intent;
    let state = open_intent(world, id, "judge_intent")?;
    check_lower(world, &state, command.risk, meta)?;
    check_let_go(world, &state, command.risk, meta)?;
    let mut flow = Vec::new();
    if let Some(work_type) = &command.work_type {
        work_type.check("type")?;
        flow = work_type.flow(world.settings()?.unknown_type).to_vec();
    }
    let mut pieces = Pieces::new();
    let classified = Classified {
        work_type: command.work_type.clone(),
        type_basis: command.work_type.as_ref().map(|_| TypeBasis::Judged),
        type_word: None,
        flow,
        risk: command.risk,
        risk_basis: command.risk.map(|_| RiskBasis::Judged),
        risk_word: None,
        reason: pieces.optional_text(command.reason.as_deref()),
    };
    let mut events = vec![emit(id, classified, pieces)];
    if let Some(risk) = command.risk.filter(|_| state.stage == Stage::Proposed) {
        let given = GivenRisk::said(risk, RiskBasis::Judged);
        events.extend(let_go(world, id, state.life, &given)?);
    }
    Ok(events)
}

pub(crate) fn approve(world: &mut World, command: &ApproveIntent, meta: &Meta) -> Decided {
    let id = command.intent;
    let state = open_intent(world, id, "approve_intent")?;
    if state.stage != Stage::Proposed {
        let status = status_in(world, id)?;
        return Err(refuse(id, status.as_str(), "approve_intent", "proposed"));
    }
    let settings = world.settings()?;
    match state.risk.zip(state.risk_basis) {
        Some((Risk::Low, basis)) if settings.approves(Risk::Low, basis) => {}
        Some((Risk::Low, basis)) => {
            let why = settings.why_waits(Some(Risk::Low), Some(basis));
            approval::by_a_person(&format!("an intent of low risk, where {why},"), &meta.actor)?;
        }
        _ => {
            let risk = state.risk.map_or("unknown", Risk::as_str);
            approval::by_a_person(&format!("an intent of {risk} risk"), &meta.actor)?;
        }
    }
    approval::of_an_intent(state.asked_by.as_ref(), &meta.actor, settings.own_requests)?;
    let reason = command.reason.as_deref();
    Ok(approved(id, state.life, Approver::Actor, reason))
}

pub(crate) fn reject(world: &mut World, command: &RejectIntent, meta: &Meta) -> Decided {
    let id = command.intent;
    let state = open_intent(world, id, "reject_intent")?;
    let shown = status_in(world, id)?;
    // What is open of it does not hide what failed.
    let status = status_without_open(world, id)?;
    let waits = matches!(shown, ApprovalStatus::Proposed | ApprovalStatus::Approved);
    if !waits && !has_failed(status) {
        let allowed = "proposed, approved, blocked or in error";
        return Err(refuse(id, shown.as_str(), "reject_intent", allowed));
    }
    who::turned_down_by(world, id, &state, (status, "rejected"), &meta.actor)?;
    let mut pieces = Pieces::new();
    let rejected = Rejected {
        reason: pieces.optional_text(command.reason.as_deref()),
    };
    let mut events = vec![emit(id, rejected, pieces)];
    events.extend(above::parts_end(
        world,
        id,
        &state,
        "rejected",
        &meta.actor,
    )?);
    Ok(events)
}

pub(crate) fn instruct(world: &mut World, command: &InstructIntent, meta: &Meta) -> Decided {
    let id = command.intent;
    let state = open_intent(world, id, "instruct_intent")?;
    let status = status_without_open(world, id)?;
    who::instructed_by(world, &state, status, &meta.actor)?;
    Ok(vec![instructed(id, &command.instruction)?])
}

/// That more was said.
pub(super) fn instructed(id: IntentId, instruction: &str) -> Result<Emitted, Refusal> {
    not_blank("instruction", instruction)?;
    let mut pieces = Pieces::new();
    let instruction = pieces.text(instruction);
    Ok(emit(id, Instructed { instruction }, pieces))
}

pub(crate) fn start_execution(world: &mut World, command: &StartExecution, _: &Meta) -> Decided {
    let (id, asked) = (command.intent, "start_execution");
    let state = open_intent(world, id, asked)?;
    require_ready(world, id, &state, asked)?;
    if state.stage != Stage::Approved {
        let status = status_in(world, id)?;
        return Err(refuse(id, status.as_str(), asked, "approved"));
    }
    Ok(vec![started(id)])
}

/// That work began.
pub(crate) fn started(id: IntentId) -> Emitted {
    emit(id, ExecutionStarted {}, Pieces::new())
}

/// Demands that work on an intent may begin: its own conditions are met, and what it is a part of
/// lets it.
pub(super) fn require_ready(
    world: &mut World,
    id: IntentId,
    state: &State,
    asked: &'static str,
) -> Result<(), DecideError> {
    above::require_ready(world, id, state, asked)?;
    require_conditions(world, id, state, asked)
}

/// Whether work on an intent may begin.
fn is_ready(world: &mut World, id: IntentId, state: &State) -> Result<bool, DecideError> {
    match require_ready(world, id, state, "work on it") {
        Ok(()) => Ok(true),
        Err(DecideError::Refused(_)) => Ok(false),
        Err(needs) => Err(needs),
    }
}

/// Demands that an intent was not turned down and does not wait for an approval, and that the same
/// is so of those that it is a part of.
pub(super) fn require_let_go(
    world: &mut World,
    id: IntentId,
    state: &State,
    asked: &'static str,
) -> Result<(), DecideError> {
    if let Some(how) = turned_down(state) {
        let allowed = "approved or executing; a run of it may only fail (fail_run) or be \
                       abandoned (decide abandon)";
        return Err(refuse(id, how, asked, allowed));
    }
    if waits_for_approval(state) {
        let allowed = "approved or executing (approve_intent)";
        return Err(refuse(id, "proposed", asked, allowed));
    }
    above::require_let_go(world, id, state, asked)
}

/// The same of an intent that may not exist.
pub(crate) fn require_let_go_if_any(
    world: &mut World,
    id: IntentId,
    asked: &'static str,
) -> Result<(), DecideError> {
    match world.intent_if_any(id)? {
        Some(state) => require_let_go(world, id, &state, asked),
        None => Ok(()),
    }
}

/// Demands the same, and of an approved intent that no work on began that its conditions are met.
pub(crate) fn require_begun_or_ready(
    world: &mut World,
    id: IntentId,
    asked: &'static str,
) -> Result<(), DecideError> {
    require_let_go_if_any(world, id, asked)?;
    match world.intent_if_any(id)? {
        Some(state) if state.stage == Stage::Approved => require_ready(world, id, &state, asked),
        _ => Ok(()),
    }
}

/// Demands of an intent that may not exist that the commit of a run may make it done.
pub(crate) fn require_may_be_done_if_any(
    world: &mut World,
    id: IntentId,
    asked: &'static str,
) -> Result<(), DecideError> {
    match world.intent_if_any(id)? {
        Some(state) => above::require_may_be_done(world, id, &state, asked),
        None => Ok(()),
    }
}

/// Demands that an import may bring work on an intent, if that is on the axis: it and what it is a part of are let go, and
/// neither waits for answers or for other intents.
pub(crate) fn require_work(
    world: &mut World,
    id: IntentId,
    asked: &'static str,
) -> Result<(), DecideError> {
    let Some(state) = world.intent_if_any(id)?.filter(|state| state.is_taken_in) else {
        return Ok(());
    };
    require_let_go(world, id, &state, asked)?;
    super::require_none(world, id)?;
    match state.stage == Stage::Approved || state.needs_clarification() {
        true => require_ready(world, id, &state, asked),
        false => Ok(()),
    }
}

/// What beginning a run of a task means for its intent: that work began, if it
/// was approved. One that waits for an approval, or for an answer, has no runs.
///
/// # Errors
/// [`DecideError::Needs`] what is not loaded, and why no run may begin.
pub fn run_begins(world: &mut World, id: IntentId) -> Result<Vec<Emitted>, DecideError> {
    let Some(state) = world.intent_if_any(id)? else {
        return Ok(Vec::new());
    };
    let asked = "create_run of a task of it";
    require_open(id, &state, asked)?;
    match state.stage {
        Stage::Approved => {
            require_ready(world, id, &state, asked)?;
            // One that an import or an older version approved may be a draft still.
            let activated = activated(id, state.life);
            Ok(activated.into_iter().chain([started(id)]).collect())
        }
        Stage::Proposed if state.is_taken_in => {
            require_let_go(world, id, &state, asked)?;
            Ok(Vec::new())
        }
        Stage::Proposed | Stage::Rejected | Stage::Executing => {
            above::require_ready(world, id, &state, asked)?;
            Ok(Vec::new())
        }
    }
}

pub(crate) fn request_clarification(
    world: &mut World,
    command: &RequestClarification,
    _: &Meta,
) -> Decided {
    let asks = "request_clarification";
    open_intent(world, command.intent, asks)?;
    if status_in(world, command.intent)? == ApprovalStatus::Done {
        return Err(refuse(command.intent, "done", asks, "not done"));
    }
    Ok(vec![asked(command.intent, &command.questions)?])
}

/// The event that questions were asked.
pub(super) fn asked(id: IntentId, questions: &[String]) -> Result<Emitted, Refusal> {
    if questions.is_empty() || questions.len() > MOST_QUESTIONS {
        let reason = format!(
            "1 to {MOST_QUESTIONS} are expected, not {}",
            questions.len()
        );
        return Err(Refusal::invalid("questions", reason));
    }
    for question in questions {
        not_blank("questions", question)?;
    }
    let mut pieces = Pieces::new();
    let questions = pieces.texts(questions);
    Ok(emit(id, ClarificationRequested { questions }, pieces))
}

pub(crate) fn answer(world: &mut World, command: &AnswerClarification, meta: &Meta) -> Decided {
    let id = command.intent;
    not_blank("answer", &command.answer)?;
    let state = open_intent(world, id, "answer_clarification")?;
    let Some(first) = state.unanswered.first().copied() else {
        let allowed = "waiting for an answer";
        let asked = "answer_clarification";
        return Err(refuse(id, "without an open question", asked, allowed));
    };
    let question = command.question.unwrap_or(first);
    if question >= state.questions {
        let reason = format!(
            "there is no question {question}; the last one is {}",
            state.questions.saturating_sub(1)
        );
        return Err(Refusal::invalid("question", reason).into());
    }
    if !state.unanswered.contains(&question) {
        let reason = format!("question {question} has its answer; the next without one is {first}");
        return Err(Refusal::invalid("question", reason).into());
    }
    approval::done_by_a_person("a question is answered", &meta.actor)?;
    let mut pieces = Pieces::new();
    let answered = ClarificationAnswered {
        question,
        answer: pieces.text(command.answer.as_str()),
    };
    Ok(vec![emit(id, answered, pieces)])
}
