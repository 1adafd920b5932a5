//! Ids and keys: they follow from what the recording itself calls a thing.
//!
//! The same session has the same ids in any folder, file or order in which it is
//! found. Logs hold these ids, so that what goes into them never changes.

use annals_domain::{
    EvidenceId, IntentId, PatchSetId, PipelineId, PlanId, ProvenanceId, RunId, SnapshotId, TaskId,
    ToolInvocationId,
};
use annals_event_log::{Digest, IdSecret};
use uuid::Uuid;

use super::item::{Counts, tokens_of};

/// What the ids of one agent's recordings follow from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ids {
    namespace: Uuid,
    key: &'static str,
}

impl Ids {
    /// The ids of an agent by its key, which never changes.
    pub(crate) fn of(key: &'static str) -> Ids {
        let namespace = Uuid::new_v5(&Uuid::NAMESPACE_DNS, format!("{key}.annals").as_bytes());
        Ids { namespace, key }
    }

    /// An id of a thing that the recording names by `parts`.
    fn id(&self, what: &str, parts: &[&str]) -> Uuid {
        // No name has this character, so that no two lists of names are one text.
        let name = [&[what], parts].concat().join("\u{1f}");
        Uuid::new_v5(&self.namespace, name.as_bytes())
    }

    /// The name of a line that has none: it follows from its bytes and the log's secret, so that
    /// a line that was removed cannot be found out by trying what it may have said. Logs of older
    /// versions have no secret.
    pub(crate) fn anonymous(&self, line: &[u8], secret: Option<&IdSecret>) -> String {
        let name = match secret {
            Some(secret) => secret.id(&format!("{} line", self.key), line),
            None => Uuid::new_v5(&self.id("line", &[]), line),
        };
        name.to_string()
    }

    /// What tells a file that a chain works on from all others. No log has it.
    pub(super) fn file(&self, session: &str, chain: &str, path: &str) -> Uuid {
        self.id("file", &[session, chain, path])
    }

    /// What tells a line of a session from all others.
    pub(super) fn line(&self, session: &str, line: &str) -> Uuid {
        self.id("line", &[session, line])
    }

    /// The ids for a session, by its name.
    pub fn session(&self, session: &str) -> ChainIds {
        self.chain(&[session])
    }

    /// The ids for a side chain of a session, by the chain's name: that of the sub-agent, or else
    /// of the chain's first line.
    pub fn side_chain(&self, session: &str, chain: &str) -> ChainIds {
        self.chain(&[session, chain])
    }

    fn chain(&self, parts: &[&str]) -> ChainIds {
        ChainIds {
            task: TaskId(self.id("task", parts)),
            run: RunId(self.id("run", parts)),
            plan: PlanId(self.id("plan", parts)),
            pipeline: PipelineId(self.id("pipeline", parts)),
            batch: self.id("chain", parts),
        }
    }

    /// The intent that a prompt becomes, by the name of its line.
    pub fn intent(&self, line: &str) -> IntentId {
        IntentId(self.id("intent", &[line]))
    }

    /// The batch that records a prompt.
    pub(crate) fn prompt_batch(&self, line: &str) -> Uuid {
        self.id("prompt", &[line])
    }

    /// The intent that a prompt becomes whose name its agent's program told before there was a line
    /// of it.
    pub fn prompted(&self, prompt: &str) -> IntentId {
        IntentId(self.id("prompted", &[prompt]))
    }

    /// The batch that records it.
    pub(crate) fn prompted_batch(&self, prompt: &str) -> Uuid {
        self.id("prompted_batch", &[prompt])
    }

    /// The batch that pushes the frame for a part of a line.
    pub(super) fn frame_batch(&self, line: &str, part: usize) -> Uuid {
        self.id("frame", &[line, &part.to_string()])
    }

    /// The ids for what happened around the conversation, by its line and its number there.
    pub fn evidence(&self, line: &str, number: usize) -> EvidenceIds {
        let parts = [line, &number.to_string()];
        EvidenceIds {
            evidence: EvidenceId(self.id("evidence_object", &parts)),
            batch: self.id("evidence", &parts),
        }
    }

    /// The ids for a tool use, by its id.
    pub fn tool(&self, tool_use: &str) -> ToolIds {
        ToolIds {
            invocation: ToolInvocationId(self.id("tool_invocation", &[tool_use])),
            patch_set: PatchSetId(self.id("patch_set", &[tool_use])),
            batch: self.id("tool", &[tool_use]),
        }
    }

    /// The ids for a tool use whose id another one had before: by its tool and its arguments, too.
    pub(super) fn tool_again(&self, tool_use: &str, tool: &str, args: &str) -> ToolIds {
        self.tool(&format!("{tool_use}\n{tool}\n{args}"))
    }

    /// The ids for a part of a recording's text, by what it says.
    pub(super) fn raw_part(&self, digest: Digest) -> RawIds {
        self.raw("raw_part", &[&digest.to_string()])
    }

    /// The ids for a recording that is kept, by its name and its text.
    pub(super) fn raw_file(&self, name: &str, sha256: &str) -> RawIds {
        self.raw("raw_file", &[name, sha256])
    }

    /// The ids for what the program says of its copies of files, by the name of its line.
    pub(super) fn backups(&self, line: &str) -> RawIds {
        self.raw("backups", &[line])
    }

    fn raw(&self, what: &str, parts: &[&str]) -> RawIds {
        let snapshot = self.id(what, parts);
        RawIds {
            snapshot: SnapshotId(snapshot),
            batch: Uuid::new_v5(&snapshot, b"batch"),
        }
    }

    /// The batch that brings the tokens of a message to these totals. Where there are those only that earlier
    /// versions counted, it has the name that they gave it.
    pub(super) fn usage_batch(&self, message: &str, totals: &Counts) -> Uuid {
        let [.., reasoning, hour, cost, searches] = *totals;
        let tokens = joined(&tokens_of(totals));
        match [reasoning, hour, cost, searches] {
            [0, 0, 0, 0] => self.id("usage", &[message, &tokens]),
            [more @ .., 0] => self.id("usage", &[message, &tokens, &joined(&more)]),
            more => self.id("usage", &[message, &tokens, &joined(&more)]),
        }
    }
}

fn joined(counts: &[u64]) -> String {
    let counts: Vec<String> = counts.iter().map(u64::to_string).collect();
    counts.join("/")
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
    /// The run's provenance.
    pub(super) fn provenance_object(&self) -> ProvenanceId {
        ProvenanceId(Uuid::new_v5(&self.run.0, b"provenance"))
    }

    /// The batch that records it.
    pub(super) fn provenance(&self) -> Uuid {
        Uuid::new_v5(&self.batch, b"provenance")
    }
}

/// The ids of a snapshot of text that is kept, or of what a recording names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RawIds {
    /// The snapshot.
    pub(super) snapshot: SnapshotId,
    /// The batch that records it.
    pub(super) batch: Uuid,
}

/// The ids of what happened around a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EvidenceIds {
    /// The evidence.
    pub evidence: EvidenceId,
    /// The batch that recorded it.
    pub batch: Uuid,
}

/// The ids of what a tool use becomes.
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
    /// The batch that records that it was requested, before its result was read.
    pub(super) fn requested(&self) -> Uuid {
        Uuid::new_v5(&self.batch, b"requested")
    }

    /// The same of a call whose arguments were not written yet.
    pub(super) fn announced(&self) -> Uuid {
        Uuid::new_v5(&self.batch, b"announced")
    }

    /// The batch that records which frames it used.
    pub(super) fn uses(&self) -> Uuid {
        Uuid::new_v5(&self.batch, b"uses")
    }

    /// The batch that records what was decided on it.
    pub(super) fn decided(&self) -> Uuid {
        Uuid::new_v5(&self.batch, b"decided")
    }

    /// The batch that records which frame it made.
    pub(super) fn made(&self) -> Uuid {
        Uuid::new_v5(&self.batch, b"made")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_follow_from_names_and_never_change() {
        let ids = Ids::of("claude");
        let session = ids.session("s");
        assert_ne!(session.task.0, session.run.0);
        assert_ne!(session, ids.side_chain("s", "a"));
        assert_ne!(ids.side_chain("sa", "b"), ids.side_chain("s", "ab"));
        // Logs hold these ids: another value here would import everything twice.
        let known = [
            (session.batch, "90aa4bc0-6a5a-579a-ad08-f33979999c09"),
            (session.run.0, "41149568-023e-5492-b6cb-b2b1db892476"),
            (ids.intent("u").0, "48528463-9d1d-5eb3-b1a2-9108cfb19cb7"),
            (
                ids.prompt_batch("u"),
                "4a5f76c1-d1e9-524d-9b7f-7dfcb04bce6f",
            ),
            (
                ids.frame_batch("u", 0),
                "0f2145a0-56c9-5e4a-aad8-e538bf6a829e",
            ),
            (ids.prompted("p").0, "baf50704-014d-5387-94b7-dab40369d3a3"),
            (
                ids.prompted_batch("p"),
                "72c9ac0f-ae31-5fc7-be9b-d476c1acf58c",
            ),
            (ids.tool("t").batch, "6dc0ac32-25a3-5db1-84a0-cf9ecbf4f8e0"),
            (ids.tool("t").uses(), "46f451e5-e0d5-5e5f-980a-1a1a853d59df"),
            (ids.tool("t").made(), "05366c6e-f6f6-5b2c-955e-9e248a8e5e21"),
            (
                ids.usage_batch("m", &[1, 2, 3, 4, 0, 0, 0, 0]),
                "ed04f19b-80f6-50f2-b29d-c0cf251b4279",
            ),
        ];
        for (id, expected) in known {
            assert_eq!(id.to_string(), expected);
        }
    }
}
