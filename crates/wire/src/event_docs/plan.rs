//! The events of a plan's stream.

use super::common::{
    ADOPTED_HEADER, INFERRED, METADATA_SET, METADATA_SET_MEANING, REDACTED, REDACTED_MEANING,
    SEALED, SEALED_MEANING,
};
use super::{EventDoc, FieldDoc, content, event, group, groups, structure};

const STEP: &[FieldDoc] = &[
    content("description", "text", "what the step should accomplish"),
    content("inputs", "JSON?", "the expected inputs"),
    content("outputs", "JSON?", "the outputs"),
    content("checks", "JSON?", "how it is checked"),
    structure(
        "iframes",
        "list of u64",
        "the frames that it consumes, without duplicates",
    ),
    structure(
        "oframes",
        "list of u64",
        "the frames that it produces, without duplicates",
    ),
    structure("task", "uuid?", "the task that it is handed to"),
];

pub(super) const EVENTS: &[EventDoc] = &[
    event(
        "plan.drafted",
        "The plan was drawn up. A revision takes nothing over from the plan before it.",
        &[
            structure("previous", "uuid?", "the plan that this one revises"),
            structure("intent", "uuid?", "the intent that it is for"),
            structure(
                "pipeline",
                "uuid?",
                "the pipeline that it takes its context from",
            ),
            structure(
                "fwindow",
                "range of u32?",
                "the visible part of the pipeline's window as it was then, a half-open range of \
                 indices",
            ),
            groups(
                "steps",
                "list of steps",
                STEP,
                "the first steps, all of them pending",
            ),
        ],
    ),
    event(
        "plan.step_added",
        "A step was appended; it is pending.",
        &[
            structure("index", "u32", "the step's number, from 0"),
            group("step", "step", STEP, "the step"),
        ],
    ),
    event(
        "plan.step_status_changed",
        "A step's status changed.",
        &[
            structure("index", "u32", "the step's number"),
            structure("status", "word", "its status from now on"),
            content("reason", "text?", "why"),
        ],
    ),
    event(
        "plan.step_frames_linked",
        "A step consumed or produced frames. They are appended to the step's lists.",
        &[
            structure("index", "u32", "the step's number"),
            structure("iframes", "list of u64", "the frames that it consumed"),
            structure("oframes", "list of u64", "the frames that it produced"),
            structure("inferred", "bool", INFERRED),
        ],
    ),
    event(
        "plan.step_task_spawned",
        "A step was given to a separate task.",
        &[
            structure("index", "u32", "the step's number"),
            structure("task", "uuid", "the task"),
        ],
    ),
    event(
        "plan.step_output_recorded",
        "A step's outputs were recorded; the last ones win.",
        &[
            structure("index", "u32", "the step's number"),
            content("outputs", "JSON", "the outputs"),
        ],
    ),
    event("plan.metadata_set", METADATA_SET_MEANING, METADATA_SET),
    event("plan.sealed", SEALED_MEANING, SEALED),
    event(
        "plan.adopted",
        "The plan was taken over from another system, as it is; or the steps of the one taken over \
         just before go on.",
        &[
            group(
                "object",
                "plan?",
                &[
                    ADOPTED_HEADER,
                    structure("previous", "uuid?", "the plan that it revises"),
                    structure(
                        "pipeline",
                        "uuid?",
                        "the pipeline that it takes its context from",
                    ),
                    structure(
                        "fwindow",
                        "range of u32?",
                        "the visible part of the pipeline's window, as the other system had it",
                    ),
                ],
                "the plan; absent where its steps go on",
            ),
            groups(
                "steps",
                "list of steps",
                &[
                    group("step", "step", STEP, "the step"),
                    groups(
                        "statuses",
                        "list of statuses",
                        &[
                            structure("status", "word", "the status"),
                            structure("changed_at", "time", "since when"),
                            content("reason", "text?", "why"),
                        ],
                        "every status that it had, oldest first",
                    ),
                ],
                "steps, in order",
            ),
        ],
    ),
    event(
        "plan.revised",
        "Another plan took its place; at most once.",
        &[structure("by", "uuid", "the revision")],
    ),
    event(
        "plan.assigned",
        "A plan that was drawn up for no intent became the plan of one.",
        &[structure("intent", "uuid", "the intent")],
    ),
    event(
        "plan.restored",
        "The plan goes back to an earlier revision of its line.",
        &[structure("plan", "uuid", "the earlier revision")],
    ),
    event("plan.redacted", REDACTED_MEANING, REDACTED),
];
