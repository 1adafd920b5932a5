//! The events of an intent's stream.

use super::common::{
    ADOPTED_HEADER, METADATA_SET, METADATA_SET_MEANING, REDACTED, REDACTED_MEANING, SEALED,
    SEALED_MEANING,
};
use super::{EventDoc, FieldDoc, content, event, groups, structure};

const STATUS: &[FieldDoc] = &[
    structure("status", "word", "the status"),
    structure("changed_at", "time", "since when"),
    content("reason", "text?", "why"),
];

pub(super) const EVENTS: &[EventDoc] = &[
    event(
        "intent.submitted",
        "The user's request was recorded; the intent is a Draft.",
        &[
            structure(
                "refines",
                "uuid?",
                "the intent that this one refines (docs/spec/git-internal.md: `parent`)",
            ),
            content("prompt", "text", "the request, verbatim"),
        ],
    ),
    event(
        "intent.analyzed",
        "The request was interpreted; this replaces an earlier interpretation.",
        &[content("content", "text", "the structured interpretation")],
    ),
    event(
        "intent.activated",
        "Work may begin; the intent is Active.",
        &[content("reason", "text?", "why")],
    ),
    event(
        "intent.plan_selected",
        "A plan revision became the current one.",
        &[structure("plan", "uuid", "the plan")],
    ),
    event(
        "intent.commit_recorded",
        "The resulting git commit was recorded; the last one wins.",
        &[structure("commit", "git id", "the commit")],
    ),
    event(
        "intent.completed",
        "All work on the intent is finished.",
        &[content("reason", "text?", "why")],
    ),
    event(
        "intent.cancelled",
        "The intent was abandoned before completion.",
        &[content("reason", "text?", "why")],
    ),
    event("intent.metadata_set", METADATA_SET_MEANING, METADATA_SET),
    event("intent.sealed", SEALED_MEANING, SEALED),
    event(
        "intent.adopted",
        "The intent was taken over from another system, as it is.",
        &[
            ADOPTED_HEADER,
            content("prompt", "text", "the request, verbatim"),
            content("content", "text?", "the structured interpretation"),
            structure("parent", "uuid?", "the intent that it refines"),
            structure("commit", "git id?", "the resulting git commit"),
            structure("plan", "uuid?", "the latest plan revision"),
            groups(
                "statuses",
                "list of statuses",
                STATUS,
                "every status that it had, oldest first",
            ),
        ],
    ),
    event(
        "intent.taken_in",
        "The intent was put on Forge's axis: it is proposed, and comes from somewhere.",
        &[
            structure("source", "word", "where it comes from"),
            structure(
                "child_of",
                "uuid?",
                "the intent that it is a part of (docs/spec/forge.md: `parent`)",
            ),
            structure(
                "depends_on",
                "list of uuid",
                "intents that must be done first",
            ),
            structure("observation", "uuid?", "what was noticed that led to it"),
            content("labels", "list of text", "its labels"),
            content("extra", "JSON?", "what else another system knows of it"),
        ],
    ),
    event(
        "intent.classified",
        "What kind of work it is and how risky, by rule or by an actor's judgement. What is absent \
         stays as it was.",
        &[
            structure("work_type", "word?", "the kind of work"),
            structure("type_basis", "word?", "what decided that"),
            content("type_word", "text?", "the label or word that did"),
            structure("flow", "list of word", "the steps that it goes through"),
            structure("risk", "word?", "how risky it is"),
            structure("risk_basis", "word?", "what decided that"),
            content("risk_word", "text?", "the word that did"),
            content("reason", "text?", "why"),
        ],
    ),
    event(
        "intent.approved",
        "The intent may be worked on.",
        &[
            structure("by", "word", "who let it go on"),
            content("reason", "text?", "why"),
        ],
    ),
    event(
        "intent.rejected",
        "The intent is not wanted; in git-internal's words it is Cancelled.",
        &[content("reason", "text?", "why")],
    ),
    event(
        "intent.instructed",
        "More was said about what to do.",
        &[content("instruction", "text", "what was said")],
    ),
    event("intent.execution_started", "Work on the intent began.", &[]),
    event(
        "intent.clarification_requested",
        "It needs an answer before it goes on. Questions are numbered from 0 in the order in \
         which they are asked.",
        &[content("questions", "list of text", "what is asked")],
    ),
    event(
        "intent.clarification_answered",
        "A question was answered. The last answer lets an executing intent go back to approved.",
        &[
            structure("question", "u32", "the number of the question"),
            content("answer", "text", "the answer"),
        ],
    ),
    event(
        "intent.decomposed",
        "The intent was split into intents of their own.",
        &[structure("children", "list of uuid", "the children")],
    ),
    event(
        "intent.task_added",
        "A task belongs to the intent.",
        &[structure("task", "uuid", "the task")],
    ),
    event(
        "intent.rerun_requested",
        "What failed is tried again: each failed task is replaced by a new one.",
        &[structure(
            "superseded",
            "list of uuid",
            "the tasks that failed",
        )],
    ),
    event("intent.redacted", REDACTED_MEANING, REDACTED),
];
