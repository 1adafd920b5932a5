//! `annals object why`: why a tool call was allowed or denied.

use annals::domain::ToolInvocationId;
use annals::domain::run::{CallStatus, ToolVerdict};
use annals::event_log::Digest;
use annals::projections::{FileInForceView, PieceValue, ToolDecisionView, ToolInvocationView};
use annals::{Annals, InForce, SeenWindow, WhyDecided};
use serde_json::json;

use super::decisions::{by, uses, verdict, words};
use crate::cli::Why;
use crate::context::Context;
use crate::error::CliError;
use crate::output::{Output, Style, counted, short, when, who};

/// Frames of the window that are shown; `annals show --window` has all.
const FRAMES: usize = 8;
/// Characters of a frame's summary, and of a call's arguments.
const EXCERPT: usize = 100;

pub(crate) async fn run(args: &Why, context: &mut Context) -> Result<(), CliError> {
    let annals = context.reader_at(&args.floor).await?;
    let object = super::named::object(&annals, &args.id).await?;
    let call = super::named::of_kind(object, annals::domain::Kind::ToolInvocation);
    let call = call.map_err(|error| {
        error.hint("without a field only a tool call has a why; of a field of any object: annals object why ID FIELD")
    })?;
    let why = annals.tool_calls().why(ToolInvocationId(call)).await?;
    let output = &mut context.output;
    if output.is_json() {
        return output.json(&as_json(&why)?);
    }
    head(&why.call, output)?;
    life(&why, output)?;
    decisions(&annals, &why, output).await?;
    in_force(&why, output)?;
    window(&why, output)?;
    told_by(&why, output)
}

/// All of it; the call as `annals show --json` has it, with what is beyond that.
fn as_json(why: &WhyDecided) -> Result<serde_json::Value, CliError> {
    let mut value = serde_json::to_value(why).map_err(CliError::json)?;
    if let Some(call) = value.get_mut("call").and_then(|it| it.as_object_mut()) {
        call.insert("duration_ms".to_owned(), json!(why.call.duration_ms));
        let life = &why.call.life;
        for (name, moment) in [
            ("requested", &life.requested),
            ("begun", &life.begun),
            ("ended", &life.ended),
        ] {
            let moment = serde_json::to_value(moment).map_err(CliError::json)?;
            call.insert(name.to_owned(), moment);
        }
        if let Some(judged) = &life.judged {
            let judged = serde_json::to_value(judged).map_err(CliError::json)?;
            call.insert("judged".to_owned(), judged);
        }
        let failure = serde_json::to_value(&life.failure).map_err(CliError::json)?;
        call.insert("failure".to_owned(), failure);
    }
    Ok(value)
}

fn head(call: &ToolInvocationView, output: &mut Output) -> Result<(), CliError> {
    let (tool, args) = call.judged();
    let title = format!(
        "{} {} of run {}: {}",
        tool,
        short(call.header.object_id),
        short(call.run_id.0),
        status(call)
    );
    output.line(&output.style(Style::Bold, &title))?;
    let args = words(args);
    if !args.is_empty() {
        output.line(&format!("  {}", excerpt(&args)))?;
    }
    let Some(judged) = &call.life.judged else {
        return Ok(());
    };
    let recorded = excerpt(&words(judged.recorded_args.as_ref()));
    let recorded = match judged.recorded_tool_name == judged.tool_name {
        true => format!("  recorded with other arguments after the first decision: {recorded}"),
        false => format!(
            "  recorded as another call after the first decision: {} {recorded}",
            judged.recorded_tool_name
        ),
    };
    output.line(recorded.trim_end())
}

/// What became of a call, in words.
fn status(call: &ToolInvocationView) -> String {
    let verdict = call.life.verdict().map(|decision| decision.verdict);
    match (call.status(), verdict) {
        (CallStatus::Requested, Some(ToolVerdict::Ask)) => "somebody is to be asked".to_owned(),
        (CallStatus::Requested, Some(ToolVerdict::Allow)) => "allowed, not begun".to_owned(),
        (CallStatus::Requested, _) => "requested".to_owned(),
        (CallStatus::Denied, _) => "denied".to_owned(),
        (status, Some(ToolVerdict::Deny)) => format!("denied, and yet {status}"),
        (status, Some(ToolVerdict::Allow)) => format!("allowed, {status}"),
        (status, _) => status.to_string(),
    }
}

fn life(why: &WhyDecided, output: &mut Output) -> Result<(), CliError> {
    let life = &why.call.life;
    let moments = [
        ("requested", &life.requested),
        ("begun", &life.begun),
        ("ended", &life.ended),
    ];
    let mut fields = Vec::new();
    for (name, moment) in moments {
        if let Some(moment) = moment {
            let text = format!("{} (event {})", when(moment.at), moment.position);
            fields.push((name, text));
        }
    }
    if let Some(duration) = why.call.duration_ms {
        fields.push(("took", format!("{duration} ms")));
    }
    if let Some(failure) = &life.failure {
        fields.push(("failed", excerpt(&failure.to_string())));
    }
    output.fields(&fields)
}

async fn decisions(annals: &Annals, why: &WhyDecided, output: &mut Output) -> Result<(), CliError> {
    output.line("")?;
    if why.decisions.is_empty() {
        return output
            .line("No decision on it is known: the agent's recording does not state one.");
    }
    output.line(&output.style(Style::Bold, "Decisions"))?;
    for decision in &why.decisions {
        for line in decision_lines(decision) {
            output.line(&line)?;
        }
        if decision.scope.is_kept() && decision.verdict == ToolVerdict::Allow {
            let call = ToolInvocationId(why.call.header.object_id);
            let used = annals.tool_calls().uses_of_grant(call).await?;
            output.line(&format!("    {}", uses(used.count)))?;
        }
    }
    Ok(())
}

fn decision_lines(decision: &ToolDecisionView) -> Vec<String> {
    let mut lines = vec![format!(
        "  {} by {}; told by {} on {} (event {})",
        verdict(decision),
        by(decision),
        who(&decision.moment.told_by),
        when(decision.moment.at),
        decision.moment.position
    )];
    if let Some(grant) = decision.grant {
        let grant = grant.0;
        lines.push(format!(
            "    rests on what was allowed with call {}: annals object why {grant}",
            short(grant)
        ));
    }
    if let Some(reason) = &decision.reason {
        lines.push(format!("    because: {}", excerpt(&reason.to_string())));
    }
    if let Some(mode) = &decision.permission_mode {
        lines.push(format!("    mode of permissions: {mode}"));
    }
    lines
}

fn in_force(why: &WhyDecided, output: &mut Output) -> Result<(), CliError> {
    let Some(InForce {
        stated_with,
        position,
        files,
    }) = &why.in_force
    else {
        if why.decisions.is_empty() {
            return Ok(());
        }
        output.line("")?;
        return output.line("What was in force is not stated.");
    };
    output.line("")?;
    let place = match stated_with.0 == why.call.header.object_id {
        true => format!("In force (event {position})"),
        false => format!(
            "In force, as stated before with call {} (event {position})",
            short(stated_with.0)
        ),
    };
    output.line(&output.style(Style::Bold, &place))?;
    if files.is_empty() {
        return output.line("  no settings or policy file");
    }
    files
        .iter()
        .try_for_each(|file| output.line(&format!("  {}", file_line(file))))
}

/// A file, and how to read it.
fn file_line(file: &FileInForceView) -> String {
    let path = &file.path;
    match (&file.content, file.hash) {
        (Some(PieceValue::Removed), _) => format!("{path}: its content was removed"),
        (Some(PieceValue::Bytes(bytes)), _) => {
            let digest = Digest::of(bytes);
            format!("{path}: annals object cat {digest}")
        }
        (Some(PieceValue::Attachment { digest, .. }), _) => {
            format!("{path}: annals object cat {digest}")
        }
        (None, Some(hash)) => format!("{path}: SHA-256 {hash}; the log does not keep its content"),
        (None, None) => path.to_string(),
    }
}

fn window(why: &WhyDecided, output: &mut Output) -> Result<(), CliError> {
    output.line("")?;
    let Some(SeenWindow { window, .. }) = &why.window else {
        return output
            .line("What the model had in its window is not known: the run has no pipeline.");
    };
    if window.frames.is_empty() && why.call.life.invoked.is_none() {
        let line =
            "What the model had in its window is not known yet: no transcript tells of the call.";
        return output.line(line);
    }
    let frames = counted(window.frames.len() as u64, "frame", "frames");
    let tokens = counted(window.total_token_estimate, "token", "tokens");
    let title = format!("The model had {frames} in its window, {tokens}");
    output.line(&output.style(Style::Bold, &title))?;
    let skipped = window.frames.len().saturating_sub(FRAMES);
    if skipped > 0 {
        let id = why.call.header.object_id;
        output.line(&format!(
            "  the last {FRAMES} of them; annals show {id} --window has all"
        ))?;
    }
    for seen in window.frames.iter().skip(skipped) {
        let frame = &seen.frame;
        let line = format!(
            "  {:>5}  {}  {}",
            frame.frame_id.to_string(),
            frame.kind.label(),
            excerpt(&frame.summary.to_string())
        );
        output.line(&line)?;
    }
    Ok(())
}

fn told_by(why: &WhyDecided, output: &mut Output) -> Result<(), CliError> {
    output.line("")?;
    output.line(&output.style(Style::Bold, "From"))?;
    for told in &why.told_by {
        let line = format!(
            "  event {} {} by {}",
            told.position,
            told.event_type,
            who(&told.actor)
        );
        output.line(&line)?;
    }
    Ok(())
}

/// The beginning of a text, on one line.
fn excerpt(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<&str>>().join(" ");
    let mut cut: String = line.chars().take(EXCERPT).collect();
    if cut.len() < line.len() {
        cut.push('…');
    }
    cut
}
