//! `annals show`: a session's conversation, or an object, as it is or as it was.

use annals::domain::intent::ApprovalStatus;
use annals::domain::pipeline::EvictionPolicy;
use annals::domain::run::ApplyStatus;
use annals::domain::{IntentId, Kind, PlanId, RunId, TaskId, Timestamp};
use annals::event_log::{Digest, ReadError};
use annals::projections::{
    CallMoment, ClockSkew, ContextPipelineView, KeptContent, ObjectView, PatchSetView, PieceValue,
    SealCheck, ToolInvocationView, check_seal,
};
use annals::{Annals, At, FrameWas, LoadError, ObjectRef, RedactionNote, SessionError, ViewError};
use serde::Serialize;
use serde_json::json;
use uuid::Uuid;

use crate::cli::{Dialect, Show};
use crate::clock;
use crate::commands::decisions::{by, verdict};
use crate::commands::inbox::added_by;
use crate::commands::{contracts, git_internal, page, show_session, window};
use crate::context::{Context, moment};
use crate::error::{CliError, ErrorClass};
use crate::output::{bytes, counted, when, who};
use crate::render;

pub(crate) async fn run(args: &Show, context: &mut Context) -> Result<(), CliError> {
    clock::in_zone(args.zone.time_zone);
    let annals = context.reader_at(&args.floor).await?;
    let at = moment(&annals, args.moment.at.as_ref()).await?;
    match named(&annals, args).await? {
        Named::Session(session) => show_session::run(&annals, session, at, args, context).await,
        Named::Object(object) => print_object(&annals, object, at, args, context).await,
    }
}

/// The thing that a name stands for.
enum Named {
    Session(Uuid),
    Object(ObjectRef),
}

/// Finds an object or a session. Options for objects name an object.
async fn named(annals: &Annals, args: &Show) -> Result<Named, CliError> {
    let is_for_object = args.is_object || args.window || args.ready || args.dialect.is_some();
    let is_for_session = args.turn.is_some() || args.files;
    if is_for_object {
        let object = super::named::object(annals, &args.id).await?;
        return Ok(Named::Object(object));
    }
    let object = match annals.resolve(&args.id).await {
        Ok(object) => object,
        Err(error) => return by_name(annals, &args.id, error).await,
    };
    if object.kind == Kind::Task {
        match annals.conversations().find(&object.id.to_string()).await {
            Ok(session) => return Ok(Named::Session(session.id)),
            Err(SessionError::NotFound { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    match is_for_session {
        true => Err(no_session(object)),
        false => Ok(Named::Object(object)),
    }
}

/// Finds a session by a name that no object has.
async fn by_name(annals: &Annals, name: &str, no_object: ViewError) -> Result<Named, CliError> {
    match annals.conversations().find(name).await {
        Ok(session) => Ok(Named::Session(session.id)),
        Err(SessionError::NotFound { .. }) if !name.starts_with('@') => Err(no_object.into()),
        Err(error) => Err(error.into()),
    }
}

fn no_session(object: ObjectRef) -> CliError {
    let message = format!("{object} is not a session: --turn and --files need one");
    CliError::new(ErrorClass::Usage, "usage", message).hint("`annals ls` lists the sessions")
}

async fn print_object(
    annals: &Annals,
    object: ObjectRef,
    at: At,
    args: &Show,
    context: &mut Context,
) -> Result<(), CliError> {
    if args.window {
        let seen = annals.pipelines().window(object, args.step, at).await?;
        return window::show(&seen, context);
    }
    if args.ready {
        return contracts::ready(annals, object, at, context).await;
    }
    let report = match wants_page(args, context) && object.kind == Kind::Run {
        true => Some(annals.run_report(RunId(object.id), at).await?),
        false => None,
    };
    let view = match &report {
        Some(report) => ObjectView::Run(report.run.clone()),
        None => annals.view_at(object.id, at).await?,
    };
    if args.diff {
        return diff(annals, &view, context).await;
    }
    match args.dialect {
        Some(Dialect::GitInternal) if object.kind.is_git_internal() => {
            return git_internal::show(&view, args.hash, context);
        }
        Some(Dialect::GitInternal) => {
            return Err(CliError::not_in_dialect(
                &object.to_string(),
                "git-internal",
            ));
        }
        Some(Dialect::Forge) => return forge(annals, object, at, context).await,
        Some(Dialect::Contracts) => return contracts::show(&view, context),
        None => {}
    }
    let json = view.to_json().map_err(LoadError::Render)?;
    let redactions = annals.contents().redactions(object.id).await?;
    let seal = check_seal(&view).map_err(LoadError::Render)?;
    let expired = expired(annals, &view, at).await?;
    let importers = importers(annals, &view, at).await?;
    if context.output.is_json() {
        return context.output.json_line(&with_more(
            json,
            &view,
            seal,
            &redactions,
            &expired,
            &importers,
        )?);
    }
    let remark = remark(&view, at);
    match &report {
        Some(report) => page::run(annals, report, at, &remark, context).await?,
        None if wants_page(args, context)
            && page::object(annals, &view, at, &remark, context).await? => {}
        None => render::object(&mut context.output, &json, &remark)?,
    }
    step_frames_gone(annals, &view, at, context).await?;
    let imported = format!("  imported by {}", importers.join(", "));
    let imported = Some(imported).filter(|_| !importers.is_empty());
    let lines = imported.into_iter().chain(added(annals, &view, at).await?);
    let lines = lines.chain(notes(&view, seal, &expired));
    for line in lines.chain(redactions.iter().map(redacted)) {
        context.output.line(&line)?;
    }
    Ok(())
}

/// What agents added to an intent that waits for its approval, a line each: a person approves it, too.
async fn added(annals: &Annals, view: &ObjectView, at: At) -> Result<Vec<String>, CliError> {
    let ObjectView::Intent(intent) = view else {
        return Ok(Vec::new());
    };
    if !matches!(at, At::Now) {
        return Ok(Vec::new());
    }
    let id = IntentId(intent.header.object_id);
    if annals.index().row(id.0).await?.approval != Some(ApprovalStatus::Proposed) {
        return Ok(Vec::new());
    }
    let additions = annals.inbox().additions(id).await?;
    Ok(additions.iter().map(added_by).collect())
}

/// What is said of an object beside its name.
fn remark(view: &ObjectView, at: At) -> String {
    let mut remark = match at {
        At::Position(position) => format!(" (after event {position})"),
        _ => String::new(),
    };
    if let Some(adopted) = &view.header().adopted {
        remark.push_str(&format!(" (adopted from {})", adopted.dialect.name()));
    }
    remark.push_str(&beyond_json(view));
    if let ObjectView::ContextPipeline(pipeline) = view {
        remark.push_str(&of_window(pipeline));
    }
    remark
}

/// Of a plan, the frames of its steps that were not in the window.
async fn step_frames_gone(
    annals: &Annals,
    view: &ObjectView,
    at: At,
    context: &mut Context,
) -> Result<(), CliError> {
    let ObjectView::Plan(plan) = view else {
        return Ok(());
    };
    let id = PlanId(plan.header.object_id);
    let frames = annals.pipelines().step_frames(id, at).await?;
    let gone = frames
        .iter()
        .filter(|frame| frame.was != FrameWas::InWindow);
    for frame in gone {
        let line = format!("  {}", window::step_frame(frame));
        context.output.line(&line)?;
    }
    Ok(())
}

/// Whether the object is wanted as a person reads it, and not as it is.
fn wants_page(args: &Show, context: &Context) -> bool {
    !args.full && !args.diff && args.dialect.is_none() && !context.output.is_json()
}

/// What is to be said of an object beyond what it is, a line each.
fn notes(view: &ObjectView, seal: SealCheck, expired: &[Expired]) -> Vec<String> {
    let violations = view.header().adopted.iter().flat_map(|it| &it.violations);
    let mut lines: Vec<String> = violations
        .map(|violation| format!("  violation: {violation}"))
        .collect();
    lines.extend(sealed(seal).map(str::to_owned));
    lines.extend(view.header().skew.as_ref().map(skewed));
    lines.extend(expired.iter().map(expired_line));
    if let ObjectView::ToolInvocation(call) = view {
        lines.extend(life(call));
    }
    lines.extend(view.kept_content().iter().map(kept_line));
    lines
}

/// What is known of a tool call's life beyond what git-internal has of it.
fn life(call: &ToolInvocationView) -> Vec<String> {
    let life = &call.life;
    let line = |word: &str, moment: &CallMoment| {
        let at = when(moment.at);
        format!("  {word} on {at} (event {})", moment.position)
    };
    let mut lines = Vec::new();
    if life.judged.is_some() {
        let line = "  another call than the one that was judged: annals object why has both";
        lines.push(line.to_owned());
    }
    lines.extend(life.requested.as_ref().map(|it| line("requested", it)));
    lines.extend(life.decisions.iter().map(|decision| {
        let what = format!("{} by {}", verdict(decision), by(decision));
        line(&what, &decision.moment)
    }));
    lines.extend(life.begun.as_ref().map(|it| line("begun", it)));
    lines.extend(life.ended.as_ref().map(|it| line("ended", it)));
    lines.extend(life.failure.as_ref().map(|it| format!("  failed: {it}")));
    if !life.decisions.is_empty() {
        lines.push(format!(
            "  why: annals object why {}",
            call.header.object_id
        ));
    }
    lines
}

/// The word for a seal that cannot be relied on.
fn seal_word(seal: SealCheck) -> Option<&'static str> {
    match seal {
        SealCheck::Removed => Some("removed"),
        SealCheck::Differs { .. } => Some("differs"),
        _ => None,
    }
}

fn sealed(seal: SealCheck) -> Option<&'static str> {
    match seal {
        SealCheck::Removed => Some(
            "  sealed; the checksum was removed together with content, so that the seal cannot be checked any more",
        ),
        SealCheck::Differs { .. } => {
            Some("  sealed with a checksum that is not that of the object as it is shown here")
        }
        _ => None,
    }
}

/// What clocks disagree on.
fn skewed(skew: &ClockSkew) -> String {
    format!(
        "  clock skew: {} dated before what came before; the first is event {}, which says {}, after {}",
        match skew.events {
            1 => "an event is".to_owned(),
            events => format!("{events} events are"),
        },
        skew.position,
        when(skew.occurred_at),
        when(skew.before),
    )
}

/// Content that the log keeps of an object, and how to see it.
fn kept_line(kept: &KeptContent<'_>) -> String {
    let name = match kept.item {
        Some(item) => format!("item {item} {}", kept.name),
        None => kept.name.clone(),
    };
    match kept.content {
        PieceValue::Removed => format!("  content of {name}: it was removed"),
        PieceValue::Bytes(bytes) => {
            let digest = Digest::of(bytes);
            format!("  content of {name}: annals object cat {digest}")
        }
        PieceValue::Attachment { digest, size } => {
            format!(
                "  content of {name}: {}, annals object cat {digest}",
                bytes(*size)
            )
        }
    }
}

/// The JSON of an object that lost content, whose seal or times cannot be relied on, or whose artifacts
/// have expired, says so in fields more; that of a tool call says what is known of its life.
fn with_more(
    json: String,
    view: &ObjectView,
    seal: SealCheck,
    notes: &[RedactionNote],
    expired: &[Expired],
    importers: &[String],
) -> Result<String, CliError> {
    let Some(open) = json.strip_suffix('}') else {
        return Ok(json);
    };
    let mut more = open.to_owned();
    if let Some(skew) = &view.header().skew {
        let skew = serde_json::to_string(skew).map_err(CliError::json)?;
        more.push_str(&format!(",\"clock_skew\":{skew}"));
    }
    if let Some(word) = seal_word(seal) {
        more.push_str(&format!(",\"seal\":\"{word}\""));
    }
    if !notes.is_empty() {
        let notes = serde_json::to_string(notes).map_err(CliError::json)?;
        more.push_str(&format!(",\"redactions\":{notes}"));
    }
    if !importers.is_empty() {
        let importers = serde_json::to_string(importers).map_err(CliError::json)?;
        more.push_str(&format!(",\"imported_by\":{importers}"));
    }
    if !expired.is_empty() {
        let expired = serde_json::to_string(expired).map_err(CliError::json)?;
        more.push_str(&format!(",\"expired\":{expired}"));
    }
    if let ObjectView::ToolInvocation(call) = view
        && call.life.is_told()
    {
        let life = serde_json::to_string(&call.life).map_err(CliError::json)?;
        more.push_str(&format!(",\"life\":{life}"));
    }
    more.push('}');
    Ok(more)
}

/// Who imported an object: of one that was created by commands, the importer of the first; of one that was adopted, and
/// of a session, those of its first events.
async fn importers(annals: &Annals, view: &ObjectView, at: At) -> Result<Vec<String>, CliError> {
    let header = view.header();
    if header.adopted.is_none() && !matches!(view, ObjectView::Session(_)) {
        let importer = header.created_by.importer();
        return Ok(importer.map(str::to_owned).into_iter().collect());
    }
    let mut pages = annals.history_pages(view.id(), at).await?;
    let mut importers: Vec<String> = Vec::new();
    for entry in pages.next().await?.iter().flatten() {
        if let Some(importer) = entry.actor.importer()
            && !importers.iter().any(|known| known == importer)
        {
            importers.push(importer.to_owned());
        }
    }
    Ok(importers)
}

/// An artifact that its store may have forgotten by then.
#[derive(Debug, Serialize)]
struct Expired {
    field: String,
    store: String,
    key: String,
    expired_at: Timestamp,
}

/// The artifacts of an object that have expired at a moment: now, or when it was as it is shown.
async fn expired(annals: &Annals, view: &ObjectView, at: At) -> Result<Vec<Expired>, CliError> {
    let artifacts = view.artifacts();
    if artifacts.iter().all(|(_, one)| one.expires_at.is_none()) {
        return Ok(Vec::new());
    }
    let now = match at {
        At::Now => Timestamp::from(annals::event_log::now()),
        At::Recorded(time) | At::Occurred(time) => time,
        At::Position(position) => match annals.contents().record(position).await? {
            Some(record) => record.recorded_at().into(),
            None => Timestamp::from(annals::event_log::now()),
        },
    };
    let expired = artifacts.into_iter().filter_map(|(field, one)| {
        let expired_at = one.expires_at.filter(|expires_at| *expires_at <= now)?;
        Some(Expired {
            field,
            store: one.store.to_string(),
            key: one.key.to_string(),
            expired_at,
        })
    });
    Ok(expired.collect())
}

fn expired_line(expired: &Expired) -> String {
    format!(
        "  expired: {} ({} {}) on {}",
        expired.field,
        expired.store,
        expired.key,
        when(expired.expired_at)
    )
}

fn redacted(note: &RedactionNote) -> String {
    let pieces: usize = note.removed.iter().map(|of| of.pieces.len()).sum();
    format!(
        "  redacted by {} on {}: {} ({} of {}; event {})",
        who(&note.actor),
        when(note.at),
        note.reason,
        counted(pieces as u64, "piece", "pieces"),
        counted(note.removed.len() as u64, "event", "events"),
        note.position
    )
}

/// An intent or a task in Forge's words.
async fn forge(
    annals: &Annals,
    object: ObjectRef,
    at: At,
    context: &mut Context,
) -> Result<(), CliError> {
    let json = match object.kind {
        Kind::Intent => {
            serde_json::to_value(annals.inbox().forge_view(IntentId(object.id), at).await?)
        }
        Kind::Task => serde_json::to_value(annals.inbox().forge_task(TaskId(object.id), at).await?),
        _ => {
            return Err(CliError::not_in_dialect(&object.to_string(), "forge"));
        }
    };
    let json = json.map_err(LoadError::Render)?;
    if context.output.is_json() {
        return context.output.json(&json);
    }
    let text = serde_json::to_string_pretty(&json).map_err(LoadError::Render)?;
    context.output.lines(&text)
}

/// A policy that is not git-internal's, and a limit that is not met.
fn of_window(pipeline: &ContextPipelineView) -> String {
    let mut remark = String::new();
    if *pipeline.policy() != EvictionPolicy::default() {
        remark.push_str(&format!(" (policy {})", pipeline.policy().name()));
    }
    if let Some(over) = pipeline.over_limit() {
        remark.push_str(&format!(" (over its limit {})", window::over_limit(&over)));
    }
    remark
}

/// What the JSON has no word for.
fn beyond_json(view: &ObjectView) -> String {
    match view {
        ObjectView::PatchSet(patch_set) => of_patch_set(patch_set),
        ObjectView::Run(run) => match run.ended_after_intent {
            Some((intent, status)) => format!(" (ended after intent {intent} was {status})"),
            None => String::new(),
        },
        ObjectView::Plan(plan) => {
            let by = plan.revised_by.map(|by| format!(" (revised by {by})"));
            let back = plan.restores.map(|to| format!(" (goes back to {to})"));
            [by, back].into_iter().flatten().collect()
        }
        _ => String::new(),
    }
}

fn of_patch_set(patch_set: &PatchSetView) -> String {
    match (
        patch_set.status(),
        patch_set.reverted_by,
        &patch_set.rejection,
    ) {
        (ApplyStatus::Reverted, Some(run), _) => format!(" (reverted by run {run})"),
        (ApplyStatus::Rejected, _, Some(reason)) => format!(" (rejected: {reason})"),
        _ => String::new(),
    }
}

/// Prints a patch set's diff, byte for byte.
async fn diff(annals: &Annals, view: &ObjectView, context: &mut Context) -> Result<(), CliError> {
    let object = format!("{} {}", view.kind(), view.id());
    let none = |reason: &str| {
        let message = format!("{object} has no diff: {reason}");
        CliError::new(ErrorClass::NotFound, "no_diff", message)
    };
    let ObjectView::PatchSet(patch_set) = view else {
        return Err(none("only a patch set or a session has one"));
    };
    let artifact = patch_set
        .artifact
        .as_ref()
        .ok_or_else(|| none("it was recorded without"))?;
    let bytes = match &artifact.content {
        None => return Err(none("it is in another store, as its artifact says")),
        Some(PieceValue::Removed) => return Err(none("it was removed for good")),
        Some(PieceValue::Bytes(bytes)) => bytes.clone(),
        Some(PieceValue::Attachment { digest, .. }) => annals
            .contents()
            .get(*digest)
            .await?
            .ok_or_else(|| ReadError::Corrupt {
                reason: format!("the blob {digest} of {object} is missing"),
            })?,
    };
    let output = &mut context.output;
    if !output.is_json() {
        return output.content(&bytes);
    }
    match std::str::from_utf8(&bytes) {
        Ok(text) => output.json(&json!({ "object_id": view.id(), "diff": text })),
        Err(_) => output.json(&json!({ "object_id": view.id(), "hex": hex::encode(&bytes) })),
    }
}
