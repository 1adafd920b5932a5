//! The events that say what came of a session's commands, and of its plan.

use super::super::{EventDoc, FieldDoc, content, event, group, groups, name, structure};
use super::BELONGS_TO;
use super::groups::REPO;

/// A ticket and the state that it is in.
const ITEM: &[FieldDoc] = &[
    name("id", "text", "its id"),
    name("status", "text", "its state, in its own system's words"),
];

pub(super) const COMPLETED: EventDoc = event(
    "session.command_completed",
    "An accepted command ended.",
    &[
        structure("command", "uuid", "the command"),
        structure("outcome", "word", "how it ended"),
        content("message", "text?", "what is to be said of it"),
        content(
            "error_code",
            "text?",
            "the number or word of what went wrong",
        ),
        BELONGS_TO,
    ],
);

pub(super) const CONFLICT: EventDoc = event(
    "session.conflict_detected",
    "A command met a conflict.",
    &[
        group("repo", "repository", REPO, "the repository"),
        content("details", "text", "what is in conflict"),
        content("patch", "text?", "the patch"),
        BELONGS_TO,
    ],
);

pub(super) const ARTIFACT: EventDoc = event(
    "session.artifact_available",
    "A command made something.",
    &[
        structure("kind", "word", "what it is"),
        content("name", "text", "its name"),
        content(
            "inline_text",
            "text?",
            "its content, where it is a short text",
        ),
        content("path_hint", "text?", "where it is in the workspace"),
        content("download_uri", "text?", "where it can be fetched"),
        content("content_type", "text?", "its media type"),
        BELONGS_TO,
    ],
);

pub(super) const PLAN: EventDoc = event(
    "session.plan_updated",
    "The plan was replaced as a whole.",
    &[
        name(
            "nodes",
            "list of text",
            "the ids of its nodes, in its order",
        ),
        content("plan", "JSON", "the plan"),
        BELONGS_TO,
    ],
);

pub(super) const NODE: EventDoc = event(
    "session.plan_node_linked",
    "A node of the plan became a task.",
    &[
        name("node", "text", "the node"),
        structure("task", "uuid", "the task"),
    ],
);

pub(super) const BACKLOG: EventDoc = event(
    "session.backlog_queried",
    "A backlog was read. One that is too long for an event goes on in the next.",
    &[
        groups(
            "items",
            "list of tickets",
            ITEM,
            "the tickets, in order, each with its state",
        ),
        content(
            "rows",
            "JSON",
            "the same tickets with all that was said of them, a list",
        ),
        structure("more", "bool", "whether the next event goes on with them"),
        BELONGS_TO,
    ],
);

pub(super) const WORK_ITEM: EventDoc = event(
    "session.work_item_queried",
    "A ticket was read.",
    &[
        group("item", "ticket", ITEM, "the ticket and its state"),
        content("details", "JSON", "all that was said of it"),
        BELONGS_TO,
    ],
);
