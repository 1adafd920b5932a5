//! The agents whose hooks are understood.

use std::time::Duration;

use super::table::Dialect;
use super::{claude, codex, cursor, gemini};

/// An agent whose hooks are understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HookAgent {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// Cursor.
    Cursor,
    /// Gemini CLI.
    Gemini,
}

impl HookAgent {
    /// All of them.
    pub const ALL: [HookAgent; 4] = [
        HookAgent::Claude,
        HookAgent::Codex,
        HookAgent::Cursor,
        HookAgent::Gemini,
    ];

    /// Its key, as importers have it.
    pub fn key(self) -> &'static str {
        match self {
            HookAgent::Claude => "claude",
            HookAgent::Codex => "codex",
            HookAgent::Cursor => "cursor",
            HookAgent::Gemini => "gemini",
        }
    }

    /// The agent with this key.
    pub fn by_key(key: &str) -> Option<HookAgent> {
        HookAgent::ALL.into_iter().find(|agent| agent.key() == key)
    }

    /// Its name for people.
    pub fn title(self) -> &'static str {
        match self {
            HookAgent::Claude => "Claude Code",
            HookAgent::Codex => "Codex",
            HookAgent::Cursor => "Cursor",
            HookAgent::Gemini => "Gemini CLI",
        }
    }

    pub(super) fn dialect(self) -> &'static Dialect {
        match self {
            HookAgent::Claude => &claude::DIALECT,
            HookAgent::Codex => &codex::DIALECT,
            HookAgent::Cursor => &cursor::DIALECT,
            HookAgent::Gemini => &gemini::DIALECT,
        }
    }

    /// The events that it is asked to tell of, by their names.
    pub fn events(self) -> impl Iterator<Item = &'static str> {
        let events = self.dialect().events.iter();
        events
            .filter(|event| event.installed)
            .map(|event| event.name)
    }

    /// How long the agent waits for a hook of an event, as this one's own deadline: what is not recorded by then is in
    /// the spool.
    pub fn deadline(self, event: Option<&str>) -> Duration {
        match event {
            // Agents that end give hooks a second and a half in all.
            Some("SessionEnd" | "sessionEnd") => Duration::from_secs(1),
            _ => Duration::from_secs(5),
        }
    }
}
