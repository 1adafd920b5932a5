//! The events of a task's stream.

use super::common::{
    ACTOR, ADOPTED_HEADER, METADATA_SET, METADATA_SET_MEANING, REDACTED, REDACTED_MEANING, SEALED,
    SEALED_MEANING,
};
use super::{EventDoc, content, event, group, structure};

pub(super) const EVENTS: &[EventDoc] = &[
    event(
        "task.created",
        "The work was defined; the task is a Draft.",
        &[
            content("title", "text", "short summary, under 100 characters"),
            content("description", "text?", "extended context"),
            structure("goal", "word?", "work classification"),
            content(
                "constraints",
                "list of text",
                "hard rules that the solution must satisfy",
            ),
            content(
                "acceptance_criteria",
                "list of text",
                "testable success conditions",
            ),
            group("requester", "actor?", ACTOR, "who requested the work"),
            structure("parent", "uuid?", "the task that this one is a part of"),
            structure("intent", "uuid?", "the intent that it comes from"),
            structure(
                "dependencies",
                "list of uuid",
                "tasks that must be done first",
            ),
        ],
    ),
    event(
        "task.constraint_added",
        "A hard rule was added.",
        &[content("constraint", "text", "the rule")],
    ),
    event(
        "task.criterion_added",
        "A success condition was added.",
        &[content("criterion", "text", "the condition")],
    ),
    event(
        "task.dependency_added",
        "A task that must be done first was added.",
        &[structure("dependency", "uuid", "the other task")],
    ),
    event(
        "task.run_added",
        "An execution attempt was added.",
        &[structure("run", "uuid", "the attempt")],
    ),
    event(
        "task.started",
        "The first attempt began; the task is Running.",
        &[],
    ),
    event(
        "task.done",
        "A run's Commit decision finished the work.",
        &[structure("run", "uuid", "the run that did it")],
    ),
    event(
        "task.failed",
        "The work was given up.",
        &[
            structure(
                "run",
                "uuid?",
                "the run whose Abandon decision gave it up, if it was one",
            ),
            content("reason", "text?", "why"),
        ],
    ),
    event(
        "task.cancelled",
        "The work is not wanted any more.",
        &[content("reason", "text?", "why")],
    ),
    event("task.metadata_set", METADATA_SET_MEANING, METADATA_SET),
    event("task.sealed", SEALED_MEANING, SEALED),
    event(
        "task.adopted",
        "The task was taken over from another system, as it is; or the lists of the one taken over \
         just before go on.",
        &[
            group(
                "object",
                "task?",
                &[
                    ADOPTED_HEADER,
                    content("title", "text", "short summary"),
                    content("description", "text?", "extended context"),
                    structure("goal", "word?", "work classification"),
                    group("requester", "actor?", ACTOR, "who requested the work"),
                    structure("parent", "uuid?", "the task that it is a part of"),
                    structure("intent", "uuid?", "the intent that it comes from"),
                    structure("status", "word", "its status"),
                ],
                "the task; absent where its lists go on",
            ),
            content(
                "constraints",
                "list of text",
                "hard rules that the solution must satisfy",
            ),
            content(
                "acceptance_criteria",
                "list of text",
                "testable success conditions",
            ),
            structure(
                "runs",
                "list of uuid",
                "its execution attempts, oldest first",
            ),
            structure(
                "dependencies",
                "list of uuid",
                "tasks that must be done first",
            ),
        ],
    ),
    event(
        "task.planned",
        "It was said how to do the work (docs/spec/forge.md).",
        &[
            content(
                "alias",
                "text?",
                "what the task is called within its intent",
            ),
            structure("complexity", "word?", "how much work it is"),
            content("plan", "text?", "how it is to be done"),
            content("relevant_files", "list of text", "the files that matter"),
            content(
                "implementation_steps",
                "list of text",
                "what is to be done, one after the other",
            ),
            content("context", "text?", "what else there is to know"),
            structure(
                "supersedes",
                "uuid?",
                "the failed task whose place it takes",
            ),
            content("extra", "JSON?", "what else another system knows of it"),
        ],
    ),
    event(
        "task.review_recorded",
        "The work was reviewed (docs/spec/forge.md).",
        &[
            structure(
                "run",
                "uuid?",
                "the attempt that was reviewed, if it is known",
            ),
            structure("evidence", "uuid?", "the evidence that the run has of it"),
            structure("verdict", "word", "what it came to"),
            content("issues", "list of text", "what is wrong"),
            content("suggestions", "list of text", "what could be better"),
            content("extra", "JSON?", "what else another system knows of it"),
        ],
    ),
    event(
        "task.superseded",
        "Another task took its place: it does not count any more.",
        &[structure("by", "uuid", "the other task")],
    ),
    event("task.redacted", REDACTED_MEANING, REDACTED),
];
