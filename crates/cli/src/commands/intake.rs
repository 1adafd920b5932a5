//! `annals intent submit`, `approve`, `reject`, `answer`, `rerun`, `instruct`, `judge`:
//! what people do with intents, many at once.

use annals::domain::alias::ReserveAlias;
use annals::domain::intent::{
    AnswerClarification, ApproveIntent, InstructIntent, JudgeIntent, RecordAnalysis, RejectIntent,
    RerunIntent, Source, SubmitIntent, WorkType,
};
use annals::domain::session::{ApproveSession, DenySession, PUSH};
use annals::domain::{ActorRef, Command, CommandId, IntentId, Json, Kind, ObservationId, Refusal};
use annals::projections::PendingApprovalView;
use annals::{Annals, At, Outcome, Request, SessionDetails};
use annals_dialects::forge::analysis::Analyzed;
use annals_dialects::forge::record_analysis;
use serde_json::json;
use uuid::Uuid;

use crate::cli::{Analyze, Answer, Approve, Instruct, Judge, Reject, Rerun, Submit, Who};
use crate::commands::classify;
use crate::commands::named::of_kind;
use crate::context::Context;
use crate::error::{CliError, ErrorClass};
use crate::output::{Output, short};
use crate::user::{agent, user};

impl Who {
    /// Who imports: an actor with a kind and an id.
    pub(crate) fn importer(&self, output: &Output) -> Result<ActorRef, CliError> {
        let importer = self.actor(output)?;
        importer
            .check()
            .map_err(|refusal| invalid_actor(&refusal))?;
        Ok(importer)
    }

    /// The actor of a command that a person may have to give: the one that was given, the agent that runs the program, or the
    /// person.
    pub(crate) fn decider(&self, output: &Output) -> Result<ActorRef, CliError> {
        match (&self.actor, agent()) {
            (None, Some(agent)) => Ok(agent),
            _ => self.actor(output),
        }
    }

    /// The actor that was given, or the person who runs the program.
    pub(crate) fn actor(&self, output: &Output) -> Result<ActorRef, CliError> {
        match &self.actor {
            Some(actor) => ActorRef::parse(actor).map_err(|refusal| invalid_actor(&refusal)),
            None => Ok(user(output)),
        }
    }
}

fn invalid_actor(refusal: &Refusal) -> CliError {
    let message = format!("invalid --actor: {refusal}");
    CliError::new(ErrorClass::Usage, "usage", message)
}

pub(crate) async fn submit(args: &Submit, context: &mut Context) -> Result<(), CliError> {
    let prompt = match (&args.observation, args.text.as_slice()) {
        (Some(_), []) => None,
        (_, words) => Some(classify::text(words, &context.output)?),
    };
    let annals = context.writer()?;
    note_type(&annals, args.work_type.as_ref(), &context.output).await?;
    let actor = args.who.actor(&context.output)?;
    let done = submitted(&annals, args, prompt, actor).await;
    let shown = match done {
        Ok((id, outcome)) => show(&annals, id.0, &outcome, &mut context.output).await,
        Err(error) => Err(error),
    };
    annals.close().await;
    shown
}

/// Says how a type is treated that is not listed: it may be a typing error.
async fn note_type(
    annals: &Annals,
    work_type: Option<&WorkType>,
    output: &Output,
) -> Result<(), CliError> {
    if let Some(own) = work_type.filter(|it| it.listed().is_none()) {
        let settings = annals.inbox().settings().await?;
        classify::note_type(own, settings.unknown_type, output);
    }
    Ok(())
}

async fn submitted(
    annals: &Annals,
    args: &Submit,
    prompt: Option<String>,
    actor: ActorRef,
) -> Result<(IntentId, Outcome), CliError> {
    let proposal = proposal(annals, args, prompt).await?;
    let mut depends_on = Vec::new();
    for other in &args.depends_on {
        depends_on.push(intent(annals, other).await?);
    }
    let child_of = match &args.child_of {
        Some(parent) => Some(intent(annals, parent).await?),
        None => None,
    };
    let refines = match &args.refines {
        Some(refined) => Some(intent(annals, refined).await?),
        None => None,
    };
    let id = IntentId(annals::event_log::new_id());
    let command = proposal
        .with_id(id)
        .with_work_type(args.work_type.clone())
        .with_risk(args.risk)
        .with_labels(args.labels.clone())
        .with_refines(refines)
        .with_child_of(child_of)
        .with_depends_on(depends_on);
    let outcome = named(annals, id.0, command, args.alias.as_deref(), actor).await?;
    Ok((id, outcome))
}

/// The text and where it comes from: from an observation, where one is named.
async fn proposal(
    annals: &Annals,
    args: &Submit,
    prompt: Option<String>,
) -> Result<SubmitIntent, CliError> {
    let Some(cause) = &args.observation else {
        let source = args.source.unwrap_or(Source::Human);
        return Ok(SubmitIntent::new(prompt.unwrap_or_default(), source));
    };
    let cause = of(annals, Kind::Observation, cause).await?;
    let mut proposal = annals
        .inbox()
        .intent_from(ObservationId(cause), prompt)
        .await?;
    proposal.source = args.source.unwrap_or(proposal.source);
    Ok(proposal)
}

/// Makes an object, with its alias if it gets one: both, or neither.
pub(super) async fn named(
    annals: &Annals,
    id: Uuid,
    command: impl Into<Command>,
    alias: Option<&str>,
    actor: ActorRef,
) -> Result<Outcome, CliError> {
    let mut requests = vec![Request::new(actor.clone(), command)];
    if let Some(alias) = alias {
        let reserve = ReserveAlias::new(id, alias);
        requests.push(Request::new(actor, reserve));
    }
    let batch = annals.execute_batch(None, requests).await?;
    let position = batch.position;
    let first = batch.outcomes.into_iter().next();
    let what = "what became of the first command";
    Ok(first.ok_or(annals::ExecuteError::Unanswered { what, position })?)
}

/// An intent by its id.
pub(crate) async fn intent(annals: &Annals, id: &str) -> Result<IntentId, CliError> {
    of(annals, Kind::Intent, id).await.map(IntentId)
}

/// An object of a kind by its id.
async fn of(annals: &Annals, kind: Kind, id: &str) -> Result<Uuid, CliError> {
    let object = annals.resolve(id).await?;
    of_kind(object, kind)
}

/// An analysis with what the agent answered read into it.
pub(crate) async fn analyzed(
    annals: &Annals,
    asked: &RecordAnalysis,
) -> Result<RecordAnalysis, CliError> {
    let Some(answer) = &asked.analysis else {
        return Ok(asked.clone());
    };
    let intent = annals.inbox().forge_intent(asked.intent, At::Now).await?;
    let title = intent.title.to_string();
    let known = Analyzed {
        id: &intent.id,
        title: &title,
    };
    let read = record_analysis(asked.intent, known, answer);
    read.map_err(|error| CliError::from(error).during("the analysis cannot be read"))
}

pub(crate) async fn analyze(args: &Analyze, context: &mut Context) -> Result<(), CliError> {
    let answer = classify::text(&args.answer, &context.output)?;
    let answer = Json::from_value(&answer).map_err(CliError::json)?;
    let annals = context.writer()?;
    let done = analysis_of(&annals, args, answer, &mut context.output).await;
    annals.close().await;
    done
}

async fn analysis_of(
    annals: &Annals,
    args: &Analyze,
    answer: Json,
    output: &mut Output,
) -> Result<(), CliError> {
    let id = intent(annals, &args.intent).await?;
    let asked = RecordAnalysis::new(id).with_analysis(answer);
    let command = analyzed(annals, &asked).await?;
    let request = Request::new(args.who.decider(output)?, command);
    let outcome = annals.execute(request).await?;
    show(annals, id.0, &outcome, output).await
}

pub(crate) async fn approve(args: &Approve, context: &mut Context) -> Result<(), CliError> {
    let request = args.request.map(CommandId);
    let command = |kind, id: Uuid| {
        let reason = args.reason.clone();
        match kind {
            Kind::Session => ApproveSession::new(id.into())
                .with_request(request)
                .with_reason(reason)
                .into(),
            _ => ApproveIntent::new(IntentId(id)).with_reason(reason).into(),
        }
    };
    answers(
        Answering::Approve,
        &args.ids,
        request,
        &args.who,
        command,
        context,
    )
    .await
}

/// What is approved or rejected: a request is one of a session.
fn answerable(request: Option<CommandId>) -> &'static [Kind] {
    match request {
        Some(_) => &[Kind::Session],
        None => &[Kind::Intent, Kind::Session],
    }
}

pub(crate) async fn reject(args: &Reject, context: &mut Context) -> Result<(), CliError> {
    let request = args.request.map(CommandId);
    let command = |kind, id: Uuid| {
        let reason = args.reason.clone();
        match kind {
            Kind::Session => DenySession::new(id.into(), reason.unwrap_or_default())
                .with_request(request)
                .into(),
            _ => RejectIntent::new(IntentId(id)).with_reason(reason).into(),
        }
    };
    answers(
        Answering::Reject,
        &args.ids,
        request,
        &args.who,
        command,
        context,
    )
    .await
}

/// Approves or rejects intents and the requests of sessions. A session's request is named: the one that is pending may
/// be another one than the one that a person saw.
async fn answers(
    how: Answering,
    ids: &[String],
    request: Option<CommandId>,
    who: &Who,
    command: impl Fn(Kind, Uuid) -> Command,
    context: &mut Context,
) -> Result<(), CliError> {
    let all = Objects {
        kinds: answerable(request),
        ids,
        who,
    };
    let before = async |annals: &Annals, kind: Kind, id: Uuid| match kind {
        Kind::Session => session_answer(annals, id, how, request).await.map(Some),
        _ => Ok(None),
    };
    each_checked(all, before, command, context).await
}

/// An answer to what a session asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answering {
    Approve,
    Reject,
}

impl Answering {
    fn done(self) -> &'static str {
        match self {
            Answering::Approve => "granted",
            Answering::Reject => "denied",
        }
    }
}

/// The refusal of an answer that names no request: the pending one may be another one than the one that a person saw.
fn unnamed(id: Uuid, details: &SessionDetails, how: Answering) -> CliError {
    /// Requests that a refusal names.
    const NAMED: usize = 4;
    let command = |pending: &PendingApprovalView| {
        let reason = pending.reason.as_ref();
        let reason = reason.map_or_else(String::new, |reason| format!(" (\"{reason}\")"));
        let request = pending.request;
        let command = match how {
            Answering::Approve => format!("`annals intent approve {id} --request {request}`"),
            Answering::Reject => {
                format!("`annals intent reject {id} --request {request} --reason TEXT`")
            }
        };
        let actions = pending.actions.join(", ");
        format!("{command} for {actions}{reason}")
    };
    let named: Vec<String> = details.requests.iter().take(NAMED).map(command).collect();
    let more = details.requests.len().saturating_sub(NAMED);
    let more = match more {
        0 => String::new(),
        more => format!("; `annals intent inbox` has {more} more"),
    };
    let message = format!("which request of session {id} is to be answered is not named");
    CliError::new(ErrorClass::Refused, "request_not_named", message)
        .hint(format!("run {}{more}", named.join(", or ")))
}

/// What an answer to a session grants or denies. A request that is not named is refused, with the commands that name one.
async fn session_answer(
    annals: &Annals,
    id: Uuid,
    how: Answering,
    request: Option<CommandId>,
) -> Result<(&'static str, Vec<String>), CliError> {
    let row = annals.index().row(id).await?;
    let details = annals.inbox().session_details(&row).await?;
    if request.is_none() && !details.requests.is_empty() {
        return Err(unnamed(id, &details, how));
    }
    let mut pending = details.requests.iter();
    let named = pending.find(|pending| Some(pending.request) == request);
    // What another system requested is not known; an approval grants pushes.
    let unknown = || vec![PUSH.to_owned()];
    Ok((
        how.done(),
        named.map_or_else(unknown, |it| it.actions.clone()),
    ))
}

pub(crate) async fn answer(args: &Answer, context: &mut Context) -> Result<(), CliError> {
    let command = |intent| {
        let answer =
            AnswerClarification::new(intent, args.text.clone()).with_question(args.question);
        answer.into()
    };
    each(&args.ids, &args.who, command, context).await
}

pub(crate) async fn rerun(args: &Rerun, context: &mut Context) -> Result<(), CliError> {
    let command = |intent| {
        let instruction = args.instruction.clone();
        RerunIntent::new(intent)
            .with_instruction(instruction)
            .into()
    };
    each(&args.ids, &args.who, command, context).await
}

pub(crate) async fn instruct(args: &Instruct, context: &mut Context) -> Result<(), CliError> {
    let command = |intent| {
        let instruction = args.text.clone();
        InstructIntent::new(intent, instruction).into()
    };
    each(&args.ids, &args.who, command, context).await
}

pub(crate) async fn judge(args: &Judge, context: &mut Context) -> Result<(), CliError> {
    let command = |intent| {
        let judge = JudgeIntent::new(intent)
            .with_work_type(args.work_type.clone())
            .with_risk(args.risk)
            .with_reason(args.reason.clone());
        judge.into()
    };
    each(&args.ids, &args.who, command, context).await?;
    let annals = context.reader()?;
    note_type(&annals, args.work_type.as_ref(), &context.output).await
}

/// Gives a command to each of several intents, one by one. What is refused is
/// said, and the others are done.
async fn each(
    ids: &[String],
    who: &Who,
    command: impl Fn(IntentId) -> Command,
    context: &mut Context,
) -> Result<(), CliError> {
    let command = |_, id: Uuid| command(IntentId(id));
    each_of(&[Kind::Intent], ids, who, command, context).await
}

/// An object of one of some kinds by its id.
async fn of_any(annals: &Annals, kinds: &[Kind], id: &str) -> Result<(Kind, Uuid), CliError> {
    let object = annals.resolve(id).await?;
    let first = kinds.first().copied().unwrap_or(object.kind);
    let expected = kinds.iter().find(|kind| **kind == object.kind);
    let expected = expected.copied().unwrap_or(first);
    Ok((expected, of_kind(object, expected)?))
}

/// The same, of objects of these kinds.
pub(super) async fn each_of(
    kinds: &[Kind],
    ids: &[String],
    who: &Who,
    command: impl Fn(Kind, Uuid) -> Command,
    context: &mut Context,
) -> Result<(), CliError> {
    let all = Objects { kinds, ids, who };
    each_checked(all, async |_: &Annals, _, _| Ok(None), command, context).await
}

/// Objects that are given a command each.
struct Objects<'a> {
    kinds: &'a [Kind],
    ids: &'a [String],
    who: &'a Who,
}

/// What a command did to a session: a word for it, and the actions.
type Answered = Option<(&'static str, Vec<String>)>;

/// The same. `before` may refuse an object before its command, and returns what the command does beyond what the object
/// shows.
async fn each_checked(
    Objects { kinds, ids, who }: Objects<'_>,
    before: impl AsyncFn(&Annals, Kind, Uuid) -> Result<Answered, CliError>,
    command: impl Fn(Kind, Uuid) -> Command,
    context: &mut Context,
) -> Result<(), CliError> {
    let annals = context.writer()?;
    let actor = who.decider(&context.output)?;
    let (mut refused, mut ended) = (Vec::new(), Ok(()));
    for id in ids {
        let done = match of_any(&annals, kinds, id).await {
            Ok((kind, object)) => match before(&annals, kind, object).await {
                Ok(answered) => {
                    let request = Request::new(actor.clone(), command(kind, object));
                    one(&annals, object, request, answered, &mut context.output).await
                }
                Err(error) => Err(error),
            },
            Err(error) => Err(error),
        };
        match done {
            Ok(()) => {}
            Err(error) if error.is_about_request() => {
                if ids.len() > 1 {
                    ended = said(id, &error, &mut context.output);
                }
                refused.push(error);
            }
            Err(error) => {
                ended = Err(error);
                break;
            }
        }
        if ended.is_err() {
            break;
        }
    }
    annals.close().await;
    ended?;
    match (refused.pop(), ids.len()) {
        (None, _) => Ok(()),
        (Some(only), 1) => Err(only),
        (Some(_), all) => {
            let refused = refused.len() + 1;
            let others = match refused < all {
                true => "; the others were done",
                false => "",
            };
            let message = format!("{refused} of {all} were refused, as reported{others}");
            Err(CliError::new(ErrorClass::Refused, "refused", message))
        }
    }
}

async fn one(
    annals: &Annals,
    object: Uuid,
    request: Request,
    answered: Answered,
    output: &mut Output,
) -> Result<(), CliError> {
    let outcome = annals.execute(request).await?;
    shown(annals, object, &outcome, answered, output).await
}

/// Reports one of several objects that was refused, in its place in the output.
fn said(id: &str, error: &CliError, output: &mut Output) -> Result<(), CliError> {
    if output.is_json() {
        return output.json(&json!({ "ok": false, "asked": id, "error": error.said() }));
    }
    output.note(&format!("{id}: {error}"));
    Ok(())
}

/// Where an object is now: an intent on Forge's axis, with its risk.
pub(super) async fn show(
    annals: &Annals,
    id: Uuid,
    outcome: &Outcome,
    output: &mut Output,
) -> Result<(), CliError> {
    shown(annals, id, outcome, None, output).await
}

/// The same, with what was granted or denied.
async fn shown(
    annals: &Annals,
    id: Uuid,
    outcome: &Outcome,
    answered: Answered,
    output: &mut Output,
) -> Result<(), CliError> {
    let row = annals.index().row(id).await?;
    let approval = row.approval.map(|it| it.to_string());
    let status = approval.or_else(|| row.status.map(|it| it.word().to_owned()));
    let status = status.unwrap_or_default();
    if output.is_json() {
        let mut done = json!({
            "ok": true,
            "id": id,
            "position": outcome.position.0,
            "status": status,
        });
        if row.kind == Kind::Intent {
            done["risk"] = json!(row.risk.map(|risk| risk.to_string()));
        }
        if let Some((word, actions)) = answered {
            done[word] = json!(actions);
        }
        return output.json(&done);
    }
    let title = row
        .title
        .map_or_else(String::new, |title| title.to_string());
    let risk = row
        .risk
        .map_or_else(String::new, |risk| format!(" (risk {risk})"));
    let line = format!("{}  {status}{risk}  {title}", short(id));
    output.line(&line)?;
    match answered {
        Some((word, actions)) => output.line(&format!("  {word}: {}", actions.join(", "))),
        None => Ok(()),
    }
}
