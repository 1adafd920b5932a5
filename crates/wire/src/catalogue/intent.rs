//! The events of an intent's stream.

use super::common::{ADOPTED_HEADER, METADATA_SET, METADATA_SET_MEANING, SEALED, SEALED_MEANING};
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
                "the intent that this one refines (document 000: `parent`)",
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
];
