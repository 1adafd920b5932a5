//! Groups of fields that a session's events have.

use super::super::{FieldDoc, content, group, name, structure};

/// What an event belongs to.
pub(super) const CORRELATION: &[FieldDoc] = &[
    structure("command", "uuid?", "the command"),
    structure("parent", "uuid?", "the command that led to it"),
    name("plan_node", "text?", "the node of a plan"),
];

/// A repository.
pub(super) const REPO: &[FieldDoc] = &[
    content("name", "text", "its name"),
    content("path", "text", "where it is"),
];

/// What the gate looks at in a command.
pub(super) const FACTS: &[FieldDoc] = &[
    structure("kind", "word", "what the command is"),
    name("repo", "text?", "the path of the repository"),
    name(
        "branch",
        "text?",
        "the branch that is created or pushed; of a commit, the one that its caller said",
    ),
    structure(
        "files",
        "u32?",
        "how many files a commit changes, by its caller; in version 1, how many paths it names",
    ),
    structure("filtered", "bool", "whether a filter chooses the tests"),
    name("work_item", "text?", "the ticket that takes a step"),
    name("state", "text?", "the state that it is to be in"),
    name("actions", "list of text", "what an approval is needed for"),
];

const LIMITS: &[FieldDoc] = &[
    structure(
        "calls_per_minute",
        "u32?",
        "how many commands a minute; absent, any number",
    ),
    structure("burst", "u32?", "how many at once; absent, as many"),
    name(
        "per_command_caps",
        "list of (text, u32)?",
        "how many a minute of one kind, for all sessions together whose profiles have the same \
         name and limits, in the order given",
    ),
];

const POLICY: &[FieldDoc] = &[
    name("name", "text", "its name"),
    name(
        "whitelist",
        "list of text?",
        "the kinds of commands that may be given; absent, all",
    ),
    name(
        "blacklist",
        "list of text?",
        "the kinds of commands that may not be given",
    ),
    name(
        "protected_branches",
        "list of text",
        "branches that are not to be created, committed to or pushed",
    ),
    structure(
        "max_files_per_commit",
        "u32?",
        "how many files a commit may change",
    ),
    structure(
        "require_tests_before_push",
        "bool",
        "whether tests must have passed since the last change before a push",
    ),
    structure(
        "filtered_tests_count",
        "bool",
        "whether tests that a filter chose count, too",
    ),
    structure(
        "require_approval_for_push",
        "bool",
        "whether a push needs an approval",
    ),
    name(
        "transitions",
        "list of text?",
        "the steps that tickets may take, each as `From->To`; absent, any",
    ),
    group(
        "limits",
        "limits?",
        LIMITS,
        "how often commands may be given",
    ),
];

/// How a session is set up.
pub(super) const CONFIG: &[FieldDoc] = &[
    structure("parent", "uuid?", "the session that it was begun by"),
    name("plan_node", "text?", "the node of that session's plan"),
    group("policy", "policy profile", POLICY, "what it may do"),
    group("repo", "repository", REPO, "the repository"),
    content("workspace", "text", "the path of its workspace"),
    group(
        "work_item",
        "ticket?",
        &[
            name("id", "text", "its id"),
            content("provider_hint", "text?", "which system it is of"),
        ],
        "the ticket that it works on",
    ),
    content("agent_profile", "text", "which agent works in it"),
];
