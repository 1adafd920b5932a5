//! The kinds of events of a session in plain words.

/// The kind of an event, by the name of its type.
pub(super) fn words(event_type: &str) -> &'static str {
    match event_type {
        "task.created" | "task.adopted" => "session recorded",
        "task.started" => "work began",
        "task.done" => "session done",
        "task.failed" => "session failed",
        "task.cancelled" => "session cancelled",
        "task.run_added" => "run added",
        "task.metadata_set" | "run.metadata_set" | "pipeline.metadata_set" => "names and labels",
        "task.sealed" | "run.sealed" | "pipeline.sealed" => "sealed",
        "task.redacted" | "run.redacted" | "pipeline.redacted" => "content removed",
        "task.constraint_added" => "constraint",
        "task.criterion_added" => "acceptance criterion",
        "task.dependency_added" => "dependency",
        "task.planned" => "plan chosen",
        "task.review_recorded" => "review",
        "task.superseded" => "replaced by another task",
        "run.created" | "run.adopted" => "run began",
        "run.snapshot_attached" => "context snapshot",
        "run.patching_started" => "work began",
        "run.validation_started" => "checks began",
        "run.tool_invoked" | "run.tool_invocation_adopted" => "tool call",
        "run.tool_requested" => "tool call requested",
        "run.tool_decided" => "decision on a tool call",
        "run.tool_begun" => "tool call began",
        "run.tool_ended" => "tool call ended",
        "run.patch_set_proposed" | "run.patch_set_adopted" => "files changed",
        "run.patch_set_applied" => "change applied",
        "run.patch_set_rejected" => "change rejected",
        "run.patch_set_reverted" => "change reverted",
        "run.rationale_overridden" => "reason replaced",
        "run.evidence_recorded" | "run.evidence_adopted" => "check",
        "run.provenance_recorded" | "run.provenance_adopted" => "agent and model",
        "run.usage_recorded" => "tokens used",
        "run.metrics_recorded" => "measurements",
        "run.decision_made" | "run.decision_adopted" => "decision on the run",
        "run.failed" => "run failed",
        "run.result_commit_recorded" => "commit",
        "run.ended_after_intent" => "run ended",
        "pipeline.created" | "pipeline.adopted" => "context began",
        "pipeline.frame_pushed" => "added to the context",
        "pipeline.frames_used" => "context used",
        "pipeline.frames_dropped" => "context compacted",
        "pipeline.max_frames_set" | "pipeline.eviction_policy_set" => "context limit",
        "pipeline.global_summary_set" => "context summary",
        _ => "other",
    }
}

/// The kind of an event and its line, both in plain words.
pub(super) fn plain<'a>(event_type: &str, summary: &'a str) -> (&'static str, &'a str) {
    let kind = words(event_type);
    let named = |prefix: &str| {
        let (_, rest) = summary.strip_prefix(prefix)?.split_once(": ")?;
        Some(rest)
    };
    match event_type {
        "pipeline.frame_pushed" => frame(summary).unwrap_or((kind, summary)),
        "run.patch_set_proposed" => (kind, named("patch set ").unwrap_or(summary)),
        "run.evidence_recorded" => (kind, named("evidence ").unwrap_or(summary)),
        _ => (kind, without_call(summary)),
    }
}

/// The kind and the text of a frame, from a line such as `frame 3 pushed: thinking "First I read", 12 tokens`.
fn frame(summary: &str) -> Option<(&'static str, &str)> {
    let (_, frame) = summary.strip_prefix("frame ")?.split_once(" pushed: ")?;
    let (kind, rest) = frame.split_once(" \"")?;
    let (text, _) = rest.rsplit_once('"')?;
    let kind = match kind {
        "intent_analysis" => "prompt",
        "step_summary" => "answer",
        "thinking" | "other: thinking" => "thought",
        "tool_call" | "code_change" | "error_recovery" => "tool result",
        "checkpoint" => "summary",
        "system_state" => "added by the program",
        _ => "added to the context",
    };
    Some((kind, text))
}

/// A line without the id of its tool call.
fn without_call(summary: &str) -> &str {
    match summary.rsplit_once(" (call ") {
        Some((line, id)) if id.ends_with(')') && id.len() < 12 => line,
        _ => summary,
    }
}

#[cfg(test)]
mod tests {
    use annals::domain::{AnyEvent, Kind};

    use super::{plain, words};

    #[test]
    fn every_event_of_a_session_has_words() {
        let is_of_session = |kind: Option<Kind>| {
            matches!(kind, Some(Kind::Task | Kind::Run | Kind::ContextPipeline))
        };
        let mut checked = 0;
        for (stream, event_type, _) in AnyEvent::types() {
            if is_of_session(stream.kind()) {
                assert_ne!(words(event_type), "other", "{event_type}");
                checked += 1;
            }
        }
        assert!(checked > 40, "{checked}");
    }

    #[test]
    fn lines_are_plain() {
        let frame = "frame 3 pushed: step_summary \"It is \"done\"\", 12 tokens";
        for (event_type, line, expected) in [
            ("pipeline.frame_pushed", frame, ("answer", "It is \"done\"")),
            (
                "pipeline.frame_pushed",
                "other",
                ("added to the context", "other"),
            ),
            (
                "run.patch_set_proposed",
                "patch set 9646aa8b proposed: a.rs +1 -0",
                ("files changed", "a.rs +1 -0"),
            ),
            (
                "run.tool_decided",
                "denied by person: Bash x (call 3d330594)",
                ("decision on a tool call", "denied by person: Bash x"),
            ),
        ] {
            assert_eq!(plain(event_type, line), expected, "{line}");
        }
    }
}
