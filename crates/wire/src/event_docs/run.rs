//! The events of a run's stream.

use super::common::{
    ADOPTED_HEADER, ARTIFACT, ENVIRONMENT, METADATA_SET, METADATA_SET_MEANING, REDACTED,
    REDACTED_MEANING, SEALED, SEALED_MEANING,
};
use super::{EventDoc, FieldDoc, content, event, group, groups, structure};

const FOOTPRINT: &[FieldDoc] = &[
    content(
        "paths_read",
        "list of text",
        "files read, relative to the repository",
    ),
    content(
        "paths_written",
        "list of text",
        "files written, relative to the repository",
    ),
];

const TOUCHED: &[FieldDoc] = &[
    content("path", "text", "the path, relative to the repository"),
    structure("change_type", "word", "what happened to the file"),
    structure("lines_added", "u32", "lines added"),
    structure("lines_deleted", "u32", "lines deleted"),
];

const TOKENS: &[FieldDoc] = &[
    structure("input_tokens", "u64", "tokens in the prompt"),
    structure("output_tokens", "u64", "tokens in the completion"),
    structure("cost_usd", "f64?", "estimated cost in USD"),
];

const TOOL_INVOKED: &[FieldDoc] = &[
    structure("tool_invocation", "uuid", "the call's id"),
    content("tool_name", "text", "the tool's registered name"),
    group(
        "io_footprint",
        "footprint?",
        FOOTPRINT,
        "files read and written",
    ),
    content("args", "JSON?", "the arguments"),
    structure("status", "word", "how it ended"),
    structure("duration_ms", "u64?", "how long it took, in milliseconds"),
    content("result_summary", "text?", "short summary of the output"),
    groups(
        "artifacts",
        "list of artifacts",
        ARTIFACT,
        "full output files",
    ),
];

const EVIDENCE: &[FieldDoc] = &[
    structure("evidence", "uuid", "the evidence's id"),
    structure(
        "patch_set",
        "uuid?",
        "the patch set that was validated; absent for the whole run",
    ),
    structure("kind", "word", "what kind of step it was"),
    content("tool", "text", "the tool's name"),
    content("command", "text?", "the full command line"),
    structure("exit_code", "i32?", "the process's exit code"),
    content("summary", "text?", "short summary of the result"),
    groups(
        "report_artifacts",
        "list of artifacts",
        ARTIFACT,
        "full report files",
    ),
];

const DECISION: &[FieldDoc] = &[
    structure("decision", "uuid", "the decision's id"),
    structure("decision_type", "word", "the verdict"),
    structure(
        "chosen_patch_set",
        "uuid?",
        "the patch set that was chosen (commit) or reverted (rollback)",
    ),
    structure("result_commit", "git id?", "the git commit that it led to"),
    content("checkpoint_id", "text?", "the id of the saved state"),
    content("rationale", "text?", "why this decision was made"),
];

pub(super) const EVENTS: &[EventDoc] = &[
    event(
        "run.created",
        "An attempt was begun; the run is Created.",
        &[
            structure("task", "uuid", "the task"),
            structure(
                "plan",
                "uuid?",
                "the plan version that is executed; it never changes",
            ),
            structure(
                "commit",
                "git id?",
                "the baseline commit; absent before a repository's first one",
            ),
            structure("snapshot", "uuid?", "the context that the run starts with"),
            group("environment", "environment?", ENVIRONMENT, "the machine"),
            structure(
                "reverts",
                "uuid?",
                "the applied patch set that this run is there to revert",
            ),
        ],
    ),
    event(
        "run.snapshot_attached",
        "The context that the run started with was attached.",
        &[structure("snapshot", "uuid", "the snapshot")],
    ),
    event(
        "run.patching_started",
        "The agent began to change code; the run is Patching.",
        &[],
    ),
    event(
        "run.validation_started",
        "The agent began to check its changes; the run is Validating.",
        &[],
    ),
    event("run.tool_invoked", "A tool was called.", TOOL_INVOKED),
    event(
        "run.patch_set_proposed",
        "A candidate diff was proposed.",
        &[
            structure("patch_set", "uuid", "the patch set's id"),
            structure("commit", "git id?", "the commit that the diff applies to"),
            structure("format", "word", "how the diff is written"),
            group("artifact", "artifact?", ARTIFACT, "where the diff is"),
            groups(
                "touched",
                "list of files",
                TOUCHED,
                "the files that it touches",
            ),
            content("rationale", "text?", "what was changed and why"),
        ],
    ),
    event(
        "run.patch_set_applied",
        "A patch set was applied.",
        &[structure("patch_set", "uuid", "the patch set")],
    ),
    event(
        "run.patch_set_rejected",
        "A patch set was turned down.",
        &[
            structure("patch_set", "uuid", "the patch set"),
            content("reason", "text?", "why"),
        ],
    ),
    event(
        "run.patch_set_reverted",
        "An applied patch set was taken back by a separate run.",
        &[
            structure("patch_set", "uuid", "the patch set"),
            structure(
                "reverted_by",
                "uuid",
                "the run whose Rollback decision took it back",
            ),
        ],
    ),
    event(
        "run.rationale_overridden",
        "A patch set's rationale was replaced, for example by a reviewer.",
        &[
            structure("patch_set", "uuid", "the patch set"),
            content("rationale", "text?", "the new rationale; absent removes it"),
        ],
    ),
    event(
        "run.evidence_recorded",
        "A validation step was recorded.",
        EVIDENCE,
    ),
    event(
        "run.provenance_recorded",
        "Provider, model and parameters were recorded.",
        &[
            structure("provenance", "uuid", "the provenance's id"),
            content("provider", "text", "the provider"),
            content("model", "text", "the model"),
            content("parameters", "JSON?", "the provider's own parameters"),
            structure("temperature", "f64?", "sampling temperature"),
            structure("max_tokens", "u64?", "maximum generation length in tokens"),
            group(
                "token_usage",
                "tokens?",
                TOKENS,
                "tokens used so far; the total is their sum",
            ),
        ],
    ),
    event(
        "run.usage_recorded",
        "Tokens were used, on top of what was recorded before.",
        &[
            content("model", "text?", "the model"),
            structure(
                "uncached_input_tokens",
                "u64",
                "prompt tokens that came neither from a cache nor went into one",
            ),
            structure(
                "cache_read_tokens",
                "u64",
                "prompt tokens read from a cache",
            ),
            structure(
                "cache_write_tokens",
                "u64",
                "prompt tokens written to a cache",
            ),
            structure("output_tokens", "u64", "completion tokens"),
            structure("cost_usd", "f64?", "estimated cost in USD"),
        ],
    ),
    event(
        "run.metrics_recorded",
        "Metrics were recorded; they replace earlier ones.",
        &[content("metrics", "JSON", "the metrics")],
    ),
    event(
        "run.decision_made",
        "The verdict was given. On a run that had not failed it completes the run.",
        DECISION,
    ),
    event(
        "run.failed",
        "The run could not go on; it is Failed.",
        &[content("error", "text", "what went wrong")],
    ),
    event("run.metadata_set", METADATA_SET_MEANING, METADATA_SET),
    event("run.sealed", SEALED_MEANING, SEALED),
    event(
        "run.adopted",
        "The run was taken over from another system, as it is; or the patch sets of the one taken \
         over just before go on.",
        &[
            group(
                "object",
                "run?",
                &[
                    ADOPTED_HEADER,
                    structure("task", "uuid", "the task that it is an attempt at"),
                    structure("plan", "uuid?", "the plan version that was executed"),
                    structure("commit", "git id?", "the baseline commit"),
                    structure("status", "word", "its status"),
                    structure("snapshot", "uuid?", "the context that it started with"),
                    content("metrics", "JSON?", "execution metrics"),
                    content("error", "text?", "what went wrong"),
                    group("environment", "environment?", ENVIRONMENT, "the machine"),
                ],
                "the run; absent where its patch sets go on",
            ),
            structure(
                "patchsets",
                "list of uuid",
                "its patch sets, oldest first, whether or not they exist",
            ),
        ],
    ),
    event(
        "run.patch_set_adopted",
        "A patch set was taken over from another system, as it is; or the files of the one taken \
         over just before go on.",
        &[
            structure("patch_set", "uuid", "the patch set's id"),
            group(
                "object",
                "patch set?",
                &[
                    ADOPTED_HEADER,
                    structure("commit", "git id?", "the commit that the diff applies to"),
                    structure("format", "word", "how the diff is written"),
                    group("artifact", "artifact?", ARTIFACT, "where the diff is"),
                    content("rationale", "text?", "what was changed and why"),
                    structure("apply_status", "word", "what became of it"),
                ],
                "the patch set; absent where its files go on",
            ),
            groups(
                "touched",
                "list of files",
                TOUCHED,
                "the files that it touches",
            ),
        ],
    ),
    event(
        "run.evidence_adopted",
        "Evidence was taken over from another system, as it is.",
        &[
            ADOPTED_HEADER,
            group("evidence", "evidence", EVIDENCE, "the evidence"),
        ],
    ),
    event(
        "run.decision_adopted",
        "A decision was taken over from another system, as it is. It changes nothing but itself.",
        &[
            ADOPTED_HEADER,
            group("decision", "decision", DECISION, "the decision"),
        ],
    ),
    event(
        "run.provenance_adopted",
        "A provenance was taken over from another system, as it is.",
        &[
            ADOPTED_HEADER,
            structure("provenance", "uuid", "the provenance's id"),
            content("provider", "text", "the provider"),
            content("model", "text", "the model"),
            content("parameters", "JSON?", "the provider's own parameters"),
            structure("temperature", "f64?", "sampling temperature"),
            structure("max_tokens", "u64?", "maximum generation length in tokens"),
            group(
                "token_usage",
                "tokens?",
                &[
                    structure("input_tokens", "u64", "tokens in the prompt"),
                    structure("output_tokens", "u64", "tokens in the completion"),
                    structure(
                        "total_tokens",
                        "u64",
                        "the total as the other system had it, which need not be their sum",
                    ),
                    structure("cost_usd", "f64?", "estimated cost in USD"),
                ],
                "tokens used",
            ),
        ],
    ),
    event(
        "run.tool_invocation_adopted",
        "A tool invocation was taken over from another system, as it is.",
        &[
            ADOPTED_HEADER,
            group(
                "invocation",
                "tool invocation",
                TOOL_INVOKED,
                "the tool invocation",
            ),
        ],
    ),
    event(
        "run.result_commit_recorded",
        "The git commit that the decision led to, which was made after it; once.",
        &[
            structure("decision", "uuid", "the decision"),
            structure("commit", "git id", "the commit"),
        ],
    ),
    event(
        "run.ended_after_intent",
        "The run ended although its intent had been completed or cancelled before.",
        &[
            structure("intent", "uuid", "the intent of the run's task"),
            structure("status", "word", "the status that it had then"),
        ],
    ),
    event("run.redacted", REDACTED_MEANING, REDACTED),
];
