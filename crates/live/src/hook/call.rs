//! What a hook says of a tool call.

use annals::domain::run::{ToolDecider, ToolVerdict};
use annals_dialects::import::RedactedText;
use annals_dialects::live::{CallStep, CallTold, Decided};

use super::fields::Fields;
use super::table::{Dialect, Means};

/// The steps of a call's life that an event tells of; nothing, where it names no call.
pub(super) fn told(dialect: &Dialect, means: Means, fields: &Fields<'_>) -> Option<CallTold> {
    let id = id(dialect, fields)?;
    let tool = fields.first(&["tool_name"]).unwrap_or_else(|| "".into());
    let steps = match means {
        Means::Requested => vec![requested(fields)],
        Means::Ended => ended(fields, None),
        Means::Failed => ended(fields, Some(failure(fields))),
        Means::Denied => vec![CallStep::Decided(Decided {
            // Only what classifies calls by itself tells of what it denies.
            reason: fields.first(&["reason"]),
            ..decided(ToolVerdict::Deny, ToolDecider::Classifier, fields)
        })],
        // Which rule had the person asked is not told; the mode is what is known of it.
        Means::Asked => vec![CallStep::Decided(Decided {
            by_name: fields.first(&["permission_mode"]),
            is_inferred: true,
            ..decided(ToolVerdict::Ask, ToolDecider::Mode, fields)
        })],
        Means::Prompt | Means::Around(_) | Means::Begin(_) => return None,
    };
    Some(CallTold { id, tool, steps })
}

/// The call's name, one among all of its agent's.
fn id(dialect: &Dialect, fields: &Fields<'_>) -> Option<RedactedText> {
    let id = fields.first(&["tool_use_id"])?;
    if !dialect.call_is_of_session {
        return Some(id);
    }
    let thread = fields.first(dialect.side);
    let thread = thread.or_else(|| fields.first(dialect.session))?;
    Some(RedactedText::joined(&[thread, id], "/"))
}

fn requested(fields: &Fields<'_>) -> CallStep {
    CallStep::Requested {
        args: fields.json("tool_input"),
    }
}

/// That it came to its end. How long it took says when it began.
fn ended(fields: &Fields<'_>, failure: Option<RedactedText>) -> Vec<CallStep> {
    let duration_ms = ["duration_ms", "duration"].into_iter().find_map(|name| {
        let took: f64 = serde_json::from_str(&fields.json(name)?).ok()?;
        (took >= 0.0).then(|| took.round() as u64)
    });
    let begun = duration_ms.map(|ms_before| CallStep::Begun { ms_before });
    let result = ["tool_response", "tool_output"]
        .into_iter()
        .find_map(|name| fields.json(name));
    let ended = CallStep::Ended {
        worked: failure.is_none(),
        duration_ms,
        failure,
        result,
    };
    // The request, too: where its own hook did not run, this one has the arguments.
    // It comes last: a run that has ended takes it of calls that are known alone.
    begun
        .into_iter()
        .chain([ended, requested(fields)])
        .collect()
}

fn failure(fields: &Fields<'_>) -> RedactedText {
    let said = fields.first(&["error", "error_message"]);
    said.unwrap_or_else(|| "it failed".into())
}

fn decided(verdict: ToolVerdict, by: ToolDecider, fields: &Fields<'_>) -> Decided {
    Decided {
        verdict,
        by,
        by_name: None,
        source: None,
        scope: None,
        grant: None,
        reason: None,
        mode: fields.first(&["permission_mode"]),
        is_inferred: false,
        in_force: None,
    }
}
