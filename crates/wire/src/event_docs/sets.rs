//! Which fields of which objects an event sets, by the names of git-internal's
//! JSON (git-internal).
//!
//! Every event on an object also sets `updated_at` and takes its `checksum`
//! away; that is not listed. A test folds every example and compares.

use annals_domain::Kind;

/// An object and the fields of it that an event sets.
pub type Sets = &'static [(Kind, &'static [&'static str])];

/// The common header's fields, which every event that creates an object sets.
pub const HEADER: &[&str] = &[
    "object_id",
    "object_type",
    "header_version",
    "schema_version",
    "created_at",
    "updated_at",
    "created_by",
    "visibility",
    "tags",
    "external_ids",
    "checksum",
];

/// What an event of this type sets. Of an event that creates or adopts an
/// object the header's fields are not listed.
pub fn sets(event_type: &str) -> Sets {
    let (stream, event) = event_type.split_once('.').unwrap_or_default();
    match stream {
        "intent" => intent(event),
        "plan" => plan(event),
        "task" => task(event),
        "run" => run(event).or_else(|| run_object(event)).unwrap_or(&[]),
        "snapshot" => snapshot(event),
        "pipeline" => pipeline(event),
        // git-internal has no sessions, observations, buckets and aliases.
        _ => &[],
    }
}

fn intent(event: &str) -> Sets {
    match event {
        "submitted" => &[(Kind::Intent, &["prompt", "parent", "statuses"])],
        "analyzed" => &[(Kind::Intent, &["content"])],
        "activated" | "completed" | "cancelled" | "rejected" => &[(Kind::Intent, &["statuses"])],
        "plan_selected" => &[(Kind::Intent, &["plan"])],
        "commit_recorded" => &[(Kind::Intent, &["commit"])],
        "metadata_set" => &[(Kind::Intent, METADATA)],
        "adopted" => &[(
            Kind::Intent,
            &["prompt", "content", "parent", "commit", "plan", "statuses"],
        )],
        _ => &[],
    }
}

const METADATA: &[&str] = &["visibility", "tags", "external_ids"];

fn plan(event: &str) -> Sets {
    match event {
        "drafted" | "adopted" => &[(Kind::Plan, &["previous", "pipeline", "fwindow", "steps"])],
        "step_added"
        | "step_status_changed"
        | "step_frames_linked"
        | "step_task_spawned"
        | "step_output_recorded" => &[(Kind::Plan, &["steps"])],
        "metadata_set" => &[(Kind::Plan, METADATA)],
        _ => &[],
    }
}

fn task(event: &str) -> Sets {
    match event {
        "created" => &[(
            Kind::Task,
            &[
                "title",
                "description",
                "goal",
                "constraints",
                "acceptance_criteria",
                "requester",
                "parent",
                "intent",
                "dependencies",
                "status",
            ],
        )],
        "constraint_added" => &[(Kind::Task, &["constraints"])],
        "criterion_added" => &[(Kind::Task, &["acceptance_criteria"])],
        "dependency_added" => &[(Kind::Task, &["dependencies"])],
        "run_added" => &[(Kind::Task, &["runs"])],
        "started" | "done" | "failed" | "cancelled" => &[(Kind::Task, &["status"])],
        "metadata_set" => &[(Kind::Task, METADATA)],
        "adopted" => &[(
            Kind::Task,
            &[
                "title",
                "description",
                "goal",
                "constraints",
                "acceptance_criteria",
                "requester",
                "parent",
                "intent",
                "runs",
                "dependencies",
                "status",
            ],
        )],
        _ => &[],
    }
}

/// Events about the run itself.
fn run(event: &str) -> Option<Sets> {
    Some(match event {
        "created" => &[(
            Kind::Run,
            &[
                "task",
                "plan",
                "commit",
                "status",
                "snapshot",
                "environment",
            ],
        )],
        "snapshot_attached" => &[(Kind::Run, &["snapshot"])],
        "patching_started" | "validation_started" => &[(Kind::Run, &["status"])],
        "metrics_recorded" => &[(Kind::Run, &["metrics"])],
        "failed" => &[(Kind::Run, &["status", "error"])],
        "metadata_set" => &[(Kind::Run, METADATA)],
        "adopted" => &[(
            Kind::Run,
            &[
                "task",
                "plan",
                "commit",
                "status",
                "snapshot",
                "patchsets",
                "metrics",
                "error",
                "environment",
            ],
        )],
        _ => return None,
    })
}

const TOOL_INVOCATION: &[&str] = &[
    "run_id",
    "tool_name",
    "io_footprint",
    "args",
    "status",
    "result_summary",
    "artifacts",
];

/// What an event on a tool call sets, where it is the first.
const CALL: &[&str] = &["run_id", "tool_name", "args", "status"];

const PATCH_SET: &[&str] = &[
    "run",
    "commit",
    "format",
    "artifact",
    "touched",
    "rationale",
    "apply_status",
];

const EVIDENCE: &[&str] = &[
    "run_id",
    "patchset_id",
    "kind",
    "tool",
    "command",
    "exit_code",
    "summary",
    "report_artifacts",
];

const DECISION: &[&str] = &[
    "run_id",
    "decision_type",
    "chosen_patchset_id",
    "result_commit_sha",
    "checkpoint_id",
    "rationale",
];

const PROVENANCE: &[&str] = &[
    "run_id",
    "provider",
    "model",
    "parameters",
    "temperature",
    "max_tokens",
    "token_usage",
];

/// Events about objects of the run.
fn run_object(event: &str) -> Option<Sets> {
    Some(match event {
        "tool_invoked" | "tool_invocation_adopted" => &[(Kind::ToolInvocation, TOOL_INVOCATION)],
        "tool_requested" => &[(
            Kind::ToolInvocation,
            &["run_id", "tool_name", "io_footprint", "args", "status"],
        )],
        "tool_decided" | "tool_begun" => &[(Kind::ToolInvocation, CALL)],
        "tool_ended" => &[(
            Kind::ToolInvocation,
            &[
                "run_id",
                "tool_name",
                "args",
                "status",
                "result_summary",
                "artifacts",
            ],
        )],
        "patch_set_proposed" => &[(Kind::PatchSet, PATCH_SET), (Kind::Run, &["patchsets"])],
        "patch_set_adopted" => &[(Kind::PatchSet, PATCH_SET)],
        "patch_set_applied" | "patch_set_rejected" | "patch_set_reverted" => {
            &[(Kind::PatchSet, &["apply_status"])]
        }
        "rationale_overridden" => &[(Kind::PatchSet, &["rationale"])],
        "evidence_recorded" | "evidence_adopted" => &[(Kind::Evidence, EVIDENCE)],
        "provenance_recorded" | "provenance_adopted" => &[(Kind::Provenance, PROVENANCE)],
        "usage_recorded" => &[(Kind::Provenance, &["token_usage"])],
        "decision_made" => &[(Kind::Decision, DECISION), (Kind::Run, &["status"])],
        "decision_adopted" => &[(Kind::Decision, DECISION)],
        "result_commit_recorded" => &[(Kind::Decision, &["result_commit_sha"])],
        _ => return None,
    })
}

fn snapshot(event: &str) -> Sets {
    match event {
        "opened" => &[(Kind::ContextSnapshot, &["selection_strategy", "summary"])],
        "item_added" | "blob_attached" => &[(Kind::ContextSnapshot, &["items"])],
        "finalized" => &[(Kind::ContextSnapshot, &["summary"])],
        "metadata_set" => &[(Kind::ContextSnapshot, METADATA)],
        "adopted" => &[(
            Kind::ContextSnapshot,
            &["selection_strategy", "items", "summary"],
        )],
        _ => &[],
    }
}

fn pipeline(event: &str) -> Sets {
    match event {
        "created" => &[(
            Kind::ContextPipeline,
            &["frames", "next_frame_id", "max_frames"],
        )],
        "frame_pushed" => &[(Kind::ContextPipeline, &["frames", "next_frame_id"])],
        "max_frames_set" => &[(Kind::ContextPipeline, &["max_frames"])],
        "eviction_policy_set" => &[(Kind::ContextPipeline, &["max_frames"])],
        "global_summary_set" => &[(Kind::ContextPipeline, &["global_summary"])],
        "metadata_set" => &[(Kind::ContextPipeline, METADATA)],
        "adopted" => &[(
            Kind::ContextPipeline,
            &["frames", "next_frame_id", "max_frames", "global_summary"],
        )],
        _ => &[],
    }
}
