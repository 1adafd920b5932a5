//! The events of a session's stream: its life, its approvals and the gate.
//! What comes of commands is in `session/results.rs`.

mod groups;
mod results;

use self::groups::{CONFIG, CORRELATION, FACTS};
use super::common::{METADATA_SET, METADATA_SET_MEANING, REDACTED, REDACTED_MEANING};
use super::{EventDoc, FieldDoc, content, event, group, name, structure};

const BELONGS_TO: FieldDoc = group(
    "correlation",
    "correlation",
    CORRELATION,
    "what it belongs to",
);
const REASON: FieldDoc = content("reason", "text?", "why");
const COMMAND: FieldDoc = structure("command", "uuid", "the command");

pub(super) const EVENTS: &[EventDoc] = &[
    event(
        "session.created",
        "The session was created; it runs.",
        &[
            group("config", "configuration", CONFIG, "how it is set up"),
            structure(
                "approval_expiry_seconds",
                "u64?",
                "after how many seconds an unanswered approval expires; absent, never",
            ),
            structure(
                "pause_after_failures",
                "u32",
                "after how many failures in a row it pauses; 0 is never",
            ),
        ],
    ),
    event(
        "session.adopted",
        "The session was taken over from another system, whose verdicts are recorded as they were; \
         or more of one taken over before came.",
        &[
            structure("dialect", "word", "the format that it came in"),
            group(
                "config",
                "configuration?",
                CONFIG,
                "how it is set up, where that is known",
            ),
        ],
    ),
    event(
        "session.paused",
        "No command is accepted until the session is resumed.",
        &[
            content("reason", "text?", "why, in the words of who paused it"),
            structure(
                "failures",
                "u32?",
                "how many failures in a row paused it; absent where an actor paused it",
            ),
        ],
    ),
    event(
        "session.resumed",
        "Commands are judged again; the count of failures starts again from 0.",
        &[REASON],
    ),
    event(
        "session.approval_required",
        "An approval is requested; or, once another one was answered, is still requested.",
        &[
            structure(
                "request",
                "uuid",
                "the command that asks for it: a RequestApproval, or the first push that waits",
            ),
            name("actions", "list of text", "what it is to allow"),
            structure(
                "explicit",
                "bool",
                "whether a RequestApproval asks, and not a push that needs it",
            ),
            structure("expires_at", "time?", "when it expires; absent, never"),
        ],
    ),
    event(
        "session.approved",
        "An approval was given. It holds until the session ends; commands that waited for it are \
         judged next.",
        &[
            structure(
                "request",
                "uuid?",
                "the command that asked for it; absent where another system knows",
            ),
            name("actions", "list of text", "what is allowed now"),
            REASON,
        ],
    ),
    event(
        "session.approval_denied",
        "An approval was denied. All commands that waited were rejected just before.",
        &[
            structure(
                "request",
                "uuid?",
                "the command that asked for it; absent where another system knows",
            ),
            content("reason", "text", "why"),
        ],
    ),
    event(
        "session.approval_expired",
        "An approval was not answered in time. All commands that waited were rejected just before.",
        &[structure(
            "request",
            "uuid",
            "the command that asked for the approval",
        )],
    ),
    event("session.aborted", "The session was aborted.", &[REASON]),
    event("session.completed", "The session is over.", &[REASON]),
    event(
        "session.command_received",
        "A command was given. What became of it is said by the next event on it.",
        &[
            COMMAND,
            group("facts", "facts", FACTS, "what the gate looks at"),
            BELONGS_TO,
            content("body", "JSON", "what it asks for, without a file's content"),
            content(
                "files",
                "JSON?",
                "the files that a commit changes, as its caller said them: a list of texts",
            ),
            content(
                "file",
                "bytes?",
                "the content of a file that is stored; an attachment",
            ),
        ],
    ),
    event(
        "session.command_queued",
        "A command waits for an approval.",
        &[COMMAND, BELONGS_TO],
    ),
    event(
        "session.command_accepted",
        "A command was accepted.",
        &[
            COMMAND,
            structure("token", "word", "the bucket that it took a token from"),
            BELONGS_TO,
        ],
    ),
    event(
        "session.command_rejected",
        "A command was rejected.",
        &[
            COMMAND,
            content("reason", "text", "why"),
            structure(
                "rule",
                "word?",
                "by which rule; absent where the session's status says no",
            ),
            BELONGS_TO,
        ],
    ),
    event(
        "session.throttled",
        "A command came too early.",
        &[
            content("scope", "text", "what is limited"),
            structure("retry_after", "time", "from when on it may be given"),
            group(
                "correlation",
                "correlation",
                CORRELATION,
                "what it belongs to: the command, above all",
            ),
        ],
    ),
    results::COMPLETED,
    results::CONFLICT,
    results::ARTIFACT,
    results::PLAN,
    results::NODE,
    results::BACKLOG,
    results::WORK_ITEM,
    event(
        "session.run_attached",
        "A run goes on in the session: commands that end from now on are its tool invocations.",
        &[structure("run", "uuid", "the run")],
    ),
    event(
        "session.status_recorded",
        "Another system says which status the session is in.",
        &[
            structure("status", "word", "the status"),
            REASON,
            BELONGS_TO,
        ],
    ),
    event(
        "session.foreign_recorded",
        "An object of another system whose kind is not known; it is kept as it came.",
        &[
            name("kind", "text", "what it calls itself"),
            content("raw", "JSON", "the object"),
        ],
    ),
    event("session.metadata_set", METADATA_SET_MEANING, METADATA_SET),
    event("session.redacted", REDACTED_MEANING, REDACTED),
];
