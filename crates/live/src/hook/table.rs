//! What an agent's events mean: a table for each agent, one row an event.

/// What the hooks of an agent look like.
#[derive(Debug)]
pub(super) struct Dialect {
    /// The names of the fields that have the event, the session, its side chain and so on, the first that is there.
    pub(super) event: &'static [&'static str],
    pub(super) session: &'static [&'static str],
    pub(super) side: &'static [&'static str],
    pub(super) cwd: &'static [&'static str],
    pub(super) version: &'static [&'static str],
    pub(super) model: &'static [&'static str],
    pub(super) prompt: &'static [&'static str],
    /// Whether a prompt's name is one within its session only.
    pub(super) prompt_is_of_session: bool,
    /// Whether a call's name is one within its session only.
    pub(super) call_is_of_session: bool,
    /// The fields that every event may have.
    pub(super) common: &'static [&'static str],
    pub(super) events: &'static [Event],
}

impl Dialect {
    pub(super) fn find(&'static self, name: &str) -> Option<&'static Event> {
        self.events.iter().find(|event| event.name == name)
    }
}

/// An event.
#[derive(Debug)]
pub(super) struct Event {
    pub(super) name: &'static str,
    pub(super) means: Means,
    /// The fields that say it in short.
    pub(super) says: &'static [&'static str],
    /// The fields that it has in addition to the common ones.
    pub(super) fields: &'static [&'static str],
    /// Whether the agent is asked to tell of it.
    pub(super) installed: bool,
}

impl Event {
    pub(super) const fn new(
        name: &'static str,
        means: Means,
        says: &'static [&'static str],
        fields: &'static [&'static str],
    ) -> Event {
        Event {
            name,
            means,
            says,
            fields,
            installed: true,
        }
    }

    /// One that the agent is not asked for: it comes too often, or another one says the same.
    pub(super) const fn quiet(self) -> Event {
        Event {
            installed: false,
            ..self
        }
    }

    /// The kind of evidence that it is, where it is nothing else.
    pub(super) fn kind(&self) -> &'static str {
        match self.means {
            Means::Prompt => "prompt",
            Means::Requested => "tool_requested",
            Means::Ended => "tool_ended",
            Means::Failed => "tool_failed",
            Means::Denied => "permission_denied",
            Means::Asked => "permission_request",
            Means::Around(kind) | Means::Begin(kind) => kind,
        }
    }
}

/// What an event means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Means {
    /// A person asked for something.
    Prompt,
    /// The model wants a tool to be called.
    Requested,
    /// The call came to its end.
    Ended,
    /// The call failed.
    Failed,
    /// The call was not allowed.
    Denied,
    /// A person is asked whether a call is allowed.
    Asked,
    /// It happened around the conversation.
    Around(&'static str),
    /// The same; where nothing of the session came before, it begins with it.
    Begin(&'static str),
}

impl Means {
    /// Whether it is about a tool call.
    pub(super) fn is_of_tool(self) -> bool {
        use Means::{Asked, Denied, Ended, Failed, Requested};
        matches!(self, Requested | Ended | Failed | Denied | Asked)
    }

    /// Whether a session may begin with it.
    pub(super) fn begins(self) -> bool {
        !matches!(self, Means::Around(_))
    }
}
