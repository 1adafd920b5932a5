//! Commands by which agents resume a session.

/// A command that resumes a session: the agent's program and its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResumeCommand {
    words: Vec<String>,
}

/// The arguments of each agent's program, before the agent's session id.
const COMMANDS: [(&str, &[&str]); 7] = [
    ("claude", &["claude", "--resume"]),
    ("codex", &["codex", "resume"]),
    ("copilot", &["copilot", "--resume"]),
    ("cursor", &["cursor-agent", "--resume"]),
    ("gemini", &["gemini", "--resume"]),
    ("opencode", &["opencode", "--session"]),
    ("openhands", &["openhands", "--resume"]),
];

impl ResumeCommand {
    /// The command for a session of an agent, by the agent's own session id. `None` if the agent has no such command
    /// or the id is not one word: it would be another command.
    ///
    /// ```
    /// use annals_projections::ResumeCommand;
    /// let command = ResumeCommand::of("claude", "7c41e9").map(|command| command.to_string());
    /// assert_eq!(command.as_deref(), Some("claude --resume 7c41e9"));
    /// assert_eq!(ResumeCommand::of("claude", "--dangerously-skip-permissions"), None);
    /// ```
    pub fn of(agent: &str, agent_session: &str) -> Option<ResumeCommand> {
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let is_id = !agent_session.is_empty()
            && agent_session.len() <= 200
            && !agent_session.starts_with(['-', '.'])
            && !agent_session.contains("..")
            && agent_session.chars().all(is_part);
        let (_, words) = COMMANDS.iter().find(|(known, _)| *known == agent)?;
        is_id.then(|| {
            let words = words.iter().copied().chain([agent_session]);
            ResumeCommand {
                words: words.map(str::to_owned).collect(),
            }
        })
    }

    /// The agents that have such a command.
    pub fn agents() -> impl Iterator<Item = &'static str> {
        COMMANDS.iter().map(|(agent, _)| *agent)
    }

    /// The program and its arguments.
    pub fn words(&self) -> &[String] {
        &self.words
    }
}

impl std::fmt::Display for ResumeCommand {
    /// Writes the command for a shell. No word needs quotes.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.words.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(agent: &str, session: &str) -> Option<String> {
        ResumeCommand::of(agent, session).map(|command| command.to_string())
    }

    #[test]
    fn agents_have_their_own_commands() {
        assert_eq!(
            command("codex", "0199-ab").as_deref(),
            Some("codex resume 0199-ab")
        );
        assert_eq!(
            command("opencode", "ses_4f.x").as_deref(),
            Some("opencode --session ses_4f.x")
        );
        assert_eq!(
            command("claude", "0198c0de-0000-7000-8000-000000000001").as_deref(),
            Some("claude --resume 0198c0de-0000-7000-8000-000000000001")
        );
        assert_eq!(command("swe-agent", "1"), None);
    }

    #[test]
    fn an_id_is_one_word() {
        for bad in [
            "",
            "-c",
            "--dangerously-skip-permissions",
            "a:b",
            "a b",
            "a;b",
            "$(x)",
            "`x`",
            "-x",
            "..",
            ".",
            "a..b",
            "../x",
            "a/b",
            "a\nb",
            "a'b",
            "a\u{202e}b",
        ] {
            assert_eq!(command("claude", bad), None, "{bad:?}");
        }
    }
}
