//! What telemetry tells of a session: decisions on calls, results, and what happened around the conversation.

use annals::domain::run::{GrantScope, TELEMETRY, ToolDecider, ToolVerdict};
use annals_dialects::import::RedactedText;
use annals_dialects::live::{Around, CallStep, CallTold, Decided, LiveAgent, Telling, Told, agent};
use annals_dialects::secrets::Secrets;
use serde_json::{Value, json};
use uuid::Uuid;

use super::signal::{RedactedSignal, Signal};

/// What programs write for a prompt that they are not to tell.
const NOT_TOLD: [&str; 2] = ["<REDACTED>", "[REDACTED]"];

/// What a signal tells, and of which agent; nothing, where it names no session, as spans of web servers do.
pub(super) fn told(signal: &Signal, secrets: &Secrets) -> Option<(LiveAgent, Telling)> {
    if !signal.may_be_of_agent() {
        return None;
    }
    let signal = RedactedSignal::of(signal, secrets)?;
    let (key, session) = whose(&signal)?;
    let whose = agent(key)?;
    let name = event(&signal);
    let (calls, prompt) = match key {
        "claude" => (claude(name, &signal), prompt(name, &signal)),
        "codex" => (codex(name, &signal, &session), None),
        _ => (gen_ai(&signal), None),
    };
    let told = match (calls, prompt) {
        (Some(call), _) => Told::Call(call),
        (None, Some(prompt)) => prompt,
        (None, None) => Told::Around(around(name, &signal, secrets)),
    };
    let mut telling = Telling::new(session, identity(&signal), signal.at, told);
    telling.version = signal.text(&["app.version", "service.version"]);
    telling.model = signal.text(&["model", "gen_ai.response.model", "gen_ai.request.model"]);
    telling.side = signal.text(&["agent.id", "agent_id"]);
    telling.title = Some(RedactedText::joined(
        &["A session of ".into(), key.into()],
        "",
    ));
    Some((whose, telling))
}

/// The agent's key and its session.
fn whose(signal: &RedactedSignal) -> Option<(&'static str, RedactedText)> {
    let service = signal.text(&["service.name"]);
    let service = service.as_deref().unwrap_or_default();
    if signal.name.starts_with("claude_code.") || service.starts_with("claude-code") {
        return Some(("claude", signal.text(&["session.id"])?));
    }
    if signal.name.starts_with("codex.") || service.starts_with("codex") {
        let session = [
            "conversation.id",
            "conversation_id",
            "thread.id",
            "thread_id",
        ];
        return Some(("codex", signal.text(&session)?));
    }
    if service.starts_with("gemini") {
        return Some(("gemini", signal.text(&["session.id"])?));
    }
    // By the conventions for generative models: any other agent.
    let session = signal.text(&["gen_ai.conversation.id", "session.id"]);
    let speaks = signal.names().any(|name| name.starts_with("gen_ai."));
    let session = session.or_else(|| signal.trace.clone());
    speaks
        .then_some(())
        .and(session)
        .map(|session| ("otel", session))
}

/// The event without its program's name.
fn event(signal: &RedactedSignal) -> &str {
    let name = signal.name.as_str();
    let name = name
        .strip_prefix("claude_code.")
        .or_else(|| name.strip_prefix("codex."));
    name.unwrap_or(&signal.name)
}

/// What tells a signal from all others: an exporter that sends it again tells of the same one.
fn identity(signal: &RedactedSignal) -> Uuid {
    let numbers = [signal.nanos.0.to_string(), signal.nanos.1.to_string()];
    let named = [
        signal.trace.clone(),
        signal.span.clone(),
        Some(signal.name.clone()),
        signal.text(&["session.id", "conversation.id", "gen_ai.conversation.id"]),
        signal.text(&["event.sequence"]),
        signal.text(&["tool_use_id", "call_id", "gen_ai.tool.call.id"]),
    ];
    let named = named.map(|name| name.as_deref().unwrap_or_default().to_owned());
    let parts: Vec<String> = numbers.into_iter().chain(named).collect();
    Uuid::new_v5(&Uuid::NAMESPACE_OID, parts.join("\u{1f}").as_bytes())
}

fn prompt(name: &str, signal: &RedactedSignal) -> Option<Told> {
    if name != "user_prompt" {
        return None;
    }
    let text = signal
        .text(&["prompt"])
        .filter(|text| !NOT_TOLD.contains(&text.as_str()))?;
    let id = signal.text(&["prompt.id"])?;
    Some(Told::Prompt { id, text })
}

fn claude(name: &str, signal: &RedactedSignal) -> Option<CallTold> {
    let step = match name {
        "tool_decision" => CallStep::Decided(claude_decided(signal)?),
        "tool_result" => CallStep::Ended {
            worked: &*signal.text(&["success"])? == "true",
            duration_ms: signal
                .number(&["duration_ms"])
                .map(|took| took.max(0.0).round() as u64),
            failure: signal.text(&["error"]),
            result: None,
        },
        _ => return None,
    };
    call(signal.text(&["tool_use_id", "tool.use_id"])?, signal, step)
}

/// A decision by who made it: settings, a hook, or a person for once or for longer.
fn claude_decided(signal: &RedactedSignal) -> Option<Decided> {
    let verdict = verdict(&signal.text(&["decision"])?)?;
    let source = signal.text(&["source", "decision_source"]);
    let (by, scope) = match source.as_deref().unwrap_or_default() {
        "hook" => (ToolDecider::Hook, None),
        "classifier" | "auto" => (ToolDecider::Classifier, None),
        "user_permanent" => (ToolDecider::Person, Some(GrantScope::Settings)),
        // For the session it is at most, which the event does not say.
        "user_temporary" | "user_abort" | "user_reject" | "user" => {
            (ToolDecider::Person, Some(GrantScope::Once))
        }
        _ => (ToolDecider::Rule, None),
    };
    Some(decided(verdict, by, scope, source, signal))
}

fn codex(name: &str, signal: &RedactedSignal, session: &RedactedText) -> Option<CallTold> {
    let id = signal.text(&["call_id"])?;
    let step = match name {
        "tool_decision" => CallStep::Decided(codex_decided(signal)?),
        "tool_result" => CallStep::Ended {
            worked: &*signal.text(&["success"])? == "true",
            duration_ms: signal
                .number(&["duration_ms"])
                .map(|took| took.max(0.0).round() as u64),
            failure: None,
            result: signal.text(&["output"]),
        },
        _ => return None,
    };
    call(
        RedactedText::joined(&[session.clone(), id], "/"),
        signal,
        step,
    )
}

fn codex_decided(signal: &RedactedSignal) -> Option<Decided> {
    let said = signal.text(&["decision"])?;
    let source = signal.text(&["source"]);
    let scope = match said.as_str().to_ascii_lowercase().replace('_', "").as_str() {
        "approvedforsession" => Some(GrantScope::Session),
        // A rule was written for what is like it.
        said if said.starts_with("approved") && said != "approved" => Some(GrantScope::Settings),
        _ => None,
    };
    let by_name = source.as_deref().unwrap_or_default().to_ascii_lowercase();
    let by = match by_name.as_str() {
        "user" => ToolDecider::Person,
        "automatedreviewer" | "automated_reviewer" => ToolDecider::Classifier,
        _ => ToolDecider::Rule,
    };
    Some(decided(verdict(&said)?, by, scope, source, signal))
}

fn verdict(word: &str) -> Option<ToolVerdict> {
    let word = word.to_ascii_lowercase().replace('_', "");
    let begins = |beginnings: &[&str]| beginnings.iter().any(|it| word.starts_with(it));
    match word.as_str() {
        "ask" => Some(ToolVerdict::Ask),
        "allow" => Some(ToolVerdict::Allow),
        "deny" | "abort" | "timedout" => Some(ToolVerdict::Deny),
        _ if begins(&["accept", "approved"]) => Some(ToolVerdict::Allow),
        _ if begins(&["reject", "denied"]) => Some(ToolVerdict::Deny),
        _ => None,
    }
}

fn decided(
    verdict: ToolVerdict,
    by: ToolDecider,
    scope: Option<GrantScope>,
    by_name: Option<RedactedText>,
    signal: &RedactedSignal,
) -> Decided {
    Decided {
        verdict,
        by,
        by_name,
        // Any program that reaches the receiver can send it: it is not a decision of the gate.
        source: Some(TELEMETRY.into()),
        scope,
        grant: None,
        reason: signal.text(&["reason"]),
        mode: signal.text(&["permission_mode"]),
        is_inferred: false,
        in_force: None,
    }
}

/// A tool's execution, by the conventions for generative models.
fn gen_ai(signal: &RedactedSignal) -> Option<CallTold> {
    let is_tool = &*signal.text(&["gen_ai.operation.name"])? == "execute_tool";
    let id = signal
        .text(&["gen_ai.tool.call.id"])
        .filter(|_| is_tool && signal.is_span)?;
    let took = signal.nanos.1.saturating_sub(signal.nanos.0) / 1_000_000;
    let requested = CallStep::Requested {
        args: signal.text(&["gen_ai.tool.call.arguments"]),
    };
    let ended = CallStep::Ended {
        worked: signal.failure.is_none(),
        duration_ms: Some(took),
        failure: signal.failure.clone(),
        result: signal.text(&["gen_ai.tool.call.result"]),
    };
    let begun = CallStep::Begun { ms_before: 0 };
    let tool = signal.text(&["gen_ai.tool.name"]);
    Some(CallTold {
        id,
        tool: tool.unwrap_or_else(|| "".into()),
        steps: vec![requested, begun, ended],
    })
}

fn call(id: RedactedText, signal: &RedactedSignal, step: CallStep) -> Option<CallTold> {
    let tool = signal.text(&["tool_name", "tool.name"]);
    Some(CallTold {
        id,
        tool: tool.unwrap_or_else(|| "".into()),
        steps: vec![step],
    })
}

/// All of it, as evidence.
fn around(name: &str, signal: &RedactedSignal, secrets: &Secrets) -> Around {
    let kind = match name {
        "permission_mode_changed" => "permission_mode",
        "compaction" => "compaction",
        "api_request" => "api_request",
        "api_error" => "api_error",
        "user_prompt" => "user_prompt",
        "tool_decision" => "tool_decision",
        "tool_result" => "tool_result",
        _ if signal.is_span => "span",
        _ => "telemetry",
    };
    let shown = [
        "to_mode",
        "mode",
        "trigger",
        "decision",
        "error",
        "model",
        "gen_ai.operation.name",
        "tool_name",
    ];
    let attributes: Value = serde_json::from_str(&signal.attributes).unwrap_or_default();
    let mut report = json!({ "name": &*signal.name, "attributes": attributes });
    if signal.is_span
        && let Some(report) = report.as_object_mut()
    {
        let nanos = signal.nanos.1.saturating_sub(signal.nanos.0);
        for (name, value) in [
            ("span", &signal.span),
            ("trace", &signal.trace),
            ("failure", &signal.failure),
        ] {
            report.insert(name.to_owned(), Value::from(value.as_deref()));
        }
        report.insert("nanoseconds".to_owned(), Value::from(nanos));
    }
    let report = RedactedText::json(report.to_string().into_bytes(), secrets).ok();
    Around {
        kind,
        tool: signal.name.clone(),
        is_by_person: false,
        summary: signal.text(&shown),
        report: report.map(|(report, _)| report),
        begins: true,
    }
}
