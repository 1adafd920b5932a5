//! What a tool call spends, and what a budget answers.

use std::path::PathBuf;

use annals_tool_policy::Verdict;

use crate::hook::HookAgent;

/// Whose money a tool call spends.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Spending {
    /// The agent.
    pub agent: HookAgent,
    /// The agent's session id.
    pub session: Option<String>,
    /// The folders that the call is made in, and that the agent was started in.
    pub folders: Vec<String>,
    /// The model, if the event names it.
    pub model: Option<String>,
    /// The transcript, if the event names it.
    pub transcript: Option<PathBuf>,
}

impl Spending {
    /// A call of an agent of which nothing else is known.
    pub fn new(agent: HookAgent) -> Spending {
        Spending {
            agent,
            session: None,
            folders: Vec::new(),
            model: None,
            transcript: None,
        }
    }

    /// The same of a session.
    #[must_use]
    pub fn with_session(self, session: Option<String>) -> Spending {
        Spending { session, ..self }
    }

    /// The same in some folders.
    #[must_use]
    pub fn with_folders(self, folders: Vec<String>) -> Spending {
        Spending { folders, ..self }
    }

    /// The same of a model.
    #[must_use]
    pub fn with_model(self, model: Option<String>) -> Spending {
        Spending { model, ..self }
    }

    /// The same with a transcript.
    #[must_use]
    pub fn with_transcript(self, transcript: Option<PathBuf>) -> Spending {
        Spending { transcript, ..self }
    }
}

/// The verdict of a budget on a tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BudgetVerdict {
    /// Ask or deny.
    pub verdict: Verdict,
    /// The budget's name, such as `budget 20/day for shop`.
    pub name: String,
    /// The reason, for the agent and the person.
    pub reason: String,
}

impl BudgetVerdict {
    /// The verdict where not even the budgets are known.
    pub fn unknown(reason: &str) -> BudgetVerdict {
        BudgetVerdict {
            verdict: Verdict::Ask,
            name: "budgets".to_owned(),
            reason: format!(
                "the budgets are not known: {reason}; `annals budget` writes the files again"
            ),
        }
    }
}
