//! Ids and keys: they follow from what the recording itself calls a thing.
//!
//! The same session has the same ids in whichever folder, file or order it is
//! found. Logs hold these ids, so that what goes into them never changes.

use annals_domain::{
    IntentId, PatchSetId, PipelineId, PlanId, ProvenanceId, RunId, TaskId, ToolInvocationId,
};
use annals_event_log::IdSecret;
use uuid::Uuid;

/// An id of a thing that the recording names by `parts`.
fn id(what: &str, parts: &[&str]) -> Uuid {
    let namespace = Uuid::new_v5(&Uuid::NAMESPACE_DNS, b"claude.annals");
    // No name has this character, so that no two lists of names are one text.
    let name = [&[what], parts].concat().join("\u{1f}");
    Uuid::new_v5(&namespace, name.as_bytes())
}

/// The name of a line that has no `uuid`: it follows from its bytes and the log's secret, so that
/// nobody finds out what a line said that was removed by trying what it may have said. Logs of older
/// versions have none.
pub(super) fn anonymous(line: &[u8], secret: Option<&IdSecret>) -> String {
    let name = match secret {
        Some(secret) => secret.id("claude line", line),
        None => Uuid::new_v5(&id("line", &[]), line),
    };
    name.to_string()
}

/// What tells a file that a chain works on from all others. No log has it.
pub(super) fn file_of(session: &str, chain: &str, path: &str) -> Uuid {
    id("file", &[session, chain, path])
}

/// What tells a line of a session from all others.
pub(super) fn line_of(session: &str, line: &str) -> Uuid {
    id("line", &[session, line])
}

/// The ids of what a session becomes, or a side chain of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChainIds {
    /// The task.
    pub task: TaskId,
    /// Its run.
    pub run: RunId,
    /// The run's plan.
    pub plan: PlanId,
    /// The pipeline that the plan takes its context from.
    pub pipeline: PipelineId,
    /// The batch that made them.
    pub batch: Uuid,
}

impl ChainIds {
    /// The ids for a session: its `sessionId`.
    pub fn of_session(session: &str) -> ChainIds {
        ChainIds::of(&[session])
    }

    /// The ids for a side chain of a session: the chain's `agentId`, or else
    /// the `uuid` of its first line.
    pub fn of_side_chain(session: &str, chain: &str) -> ChainIds {
        ChainIds::of(&[session, chain])
    }

    fn of(parts: &[&str]) -> ChainIds {
        ChainIds {
            task: TaskId(id("task", parts)),
            run: RunId(id("run", parts)),
            plan: PlanId(id("plan", parts)),
            pipeline: PipelineId(id("pipeline", parts)),
            batch: id("chain", parts),
        }
    }

    /// The run's provenance.
    pub(super) fn provenance_object(&self) -> ProvenanceId {
        ProvenanceId(Uuid::new_v5(&self.run.0, b"provenance"))
    }

    /// The batch that records it.
    pub(super) fn provenance(&self) -> Uuid {
        Uuid::new_v5(&self.batch, b"provenance")
    }
}

/// The intent that a prompt becomes: the `uuid` of its line.
pub fn intent(line: &str) -> IntentId {
    IntentId(id("intent", &[line]))
}

/// The batch that records a prompt.
pub(super) fn prompt_batch(line: &str) -> Uuid {
    id("prompt", &[line])
}

/// The batch that pushes the frame for a part of a line.
pub(super) fn frame_batch(line: &str, part: usize) -> Uuid {
    id("frame", &[line, &part.to_string()])
}

/// The ids of what a tool use becomes: its `id`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToolIds {
    /// The tool invocation.
    pub invocation: ToolInvocationId,
    /// The patch set, if it is an edit.
    pub patch_set: PatchSetId,
    /// The batch that made them.
    pub batch: Uuid,
}

impl ToolIds {
    /// The ids for a tool use.
    pub fn of(tool_use: &str) -> ToolIds {
        ToolIds {
            invocation: ToolInvocationId(id("tool_invocation", &[tool_use])),
            patch_set: PatchSetId(id("patch_set", &[tool_use])),
            batch: id("tool", &[tool_use]),
        }
    }

    /// The batch that records which frames it used.
    pub(super) fn uses(&self) -> Uuid {
        Uuid::new_v5(&self.batch, b"uses")
    }

    /// The batch that records which frame it made.
    pub(super) fn made(&self) -> Uuid {
        Uuid::new_v5(&self.batch, b"made")
    }
}

/// The batch that brings the tokens of a message to these totals.
pub(super) fn usage_batch(message: &str, totals: &[u64; 4]) -> Uuid {
    let totals = totals.map(|total| total.to_string()).join("/");
    id("usage", &[message, &totals])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_follow_from_names_and_never_change() {
        let session = ChainIds::of_session("s");
        assert_ne!(session.task.0, session.run.0);
        assert_ne!(session, ChainIds::of_side_chain("s", "a"));
        assert_ne!(
            ChainIds::of_side_chain("sa", "b"),
            ChainIds::of_side_chain("s", "ab")
        );
        // Logs hold these ids: another value here would import everything twice.
        let known = [
            (session.batch, "90aa4bc0-6a5a-579a-ad08-f33979999c09"),
            (session.run.0, "41149568-023e-5492-b6cb-b2b1db892476"),
            (intent("u").0, "48528463-9d1d-5eb3-b1a2-9108cfb19cb7"),
            (prompt_batch("u"), "4a5f76c1-d1e9-524d-9b7f-7dfcb04bce6f"),
            (frame_batch("u", 0), "0f2145a0-56c9-5e4a-aad8-e538bf6a829e"),
            (
                ToolIds::of("t").batch,
                "6dc0ac32-25a3-5db1-84a0-cf9ecbf4f8e0",
            ),
            (
                ToolIds::of("t").uses(),
                "46f451e5-e0d5-5e5f-980a-1a1a853d59df",
            ),
            (
                ToolIds::of("t").made(),
                "05366c6e-f6f6-5b2c-955e-9e248a8e5e21",
            ),
            (
                usage_batch("m", &[1, 2, 3, 4]),
                "ed04f19b-80f6-50f2-b29d-c0cf251b4279",
            ),
        ];
        for (id, expected) in known {
            assert_eq!(id.to_string(), expected);
        }
    }
}
