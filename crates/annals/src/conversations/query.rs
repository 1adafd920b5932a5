//! Queries for sessions.

use annals_domain::Timestamp;
use annals_projections::PriceTable;
use derive_setters::Setters;

use crate::At;

/// Sessions of one page, unless more are requested.
const LIMIT: usize = 50;

/// The order of sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum SessionSort {
    /// By last activity.
    #[default]
    LastActivity,
    /// By title.
    Title,
    /// By project.
    Project,
    /// By agent.
    Agent,
    /// By active time.
    Duration,
    /// By number of prompts.
    Prompts,
    /// By number of changed files, then of changed lines.
    Files,
    /// By tokens.
    Tokens,
    /// By cost.
    Cost,
}

impl SessionSort {
    /// All orders.
    pub const ALL: [SessionSort; 9] = [
        SessionSort::LastActivity,
        SessionSort::Title,
        SessionSort::Project,
        SessionSort::Agent,
        SessionSort::Duration,
        SessionSort::Prompts,
        SessionSort::Files,
        SessionSort::Tokens,
        SessionSort::Cost,
    ];

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            SessionSort::LastActivity => "last-activity",
            SessionSort::Title => "title",
            SessionSort::Project => "project",
            SessionSort::Agent => "agent",
            SessionSort::Duration => "duration",
            SessionSort::Prompts => "prompts",
            SessionSort::Files => "files",
            SessionSort::Tokens => "tokens",
            SessionSort::Cost => "cost",
        }
    }

    /// Returns `true` if it is by a text, for which the order from A to Z is the natural one.
    pub fn is_of_text(self) -> bool {
        matches!(
            self,
            SessionSort::Title | SessionSort::Project | SessionSort::Agent
        )
    }
}

/// Which sessions, in which order: all of them, newest activity first, unless filters are set. Sub-agent sessions are
/// listed below their parents.
#[derive(Debug, Clone, Setters)]
#[setters(prefix = "with_", strip_option)]
#[non_exhaustive]
pub struct SessionQuery {
    /// Only sessions of this project: its path, a path above it, or its name.
    #[setters(into)]
    pub project: Option<String>,
    /// Only sessions of this agent.
    #[setters(into)]
    pub agent: Option<String>,
    /// Only sessions with a model whose name contains this text.
    #[setters(into)]
    pub model: Option<String>,
    /// Only sessions with activity at or after this time.
    pub since: Option<Timestamp>,
    /// Only sessions that started before this time.
    pub until: Option<Timestamp>,
    /// Only sessions with activity at or after the first time and before the second one: with their first event, their
    /// last one, or tokens used in a quarter of an hour that begins between them.
    pub between: Option<(Timestamp, Timestamp)>,
    /// Only sessions that cost at least this, in millionths of the currency, sub-agents included.
    pub min_cost: Option<u128>,
    /// Only sessions whose cost is known and at most this.
    pub max_cost: Option<u128>,
    /// Only sessions that changed a file whose path matches this glob; a glob without a slash matches the file's name.
    #[setters(into)]
    pub touched: Option<String>,
    /// Only sessions that failed.
    pub only_failed: bool,
    /// Only sessions that wait for a person.
    pub only_waiting: bool,
    /// Sub-agent sessions are rows of their own, too.
    pub with_sub_agents: bool,
    /// Only sessions whose title, project, branch, agent or ids contain all words of this text.
    #[setters(into)]
    pub text: Option<String>,
    /// The order.
    pub sort: SessionSort,
    /// The smallest first: texts from A to Z, oldest activity first.
    pub ascending: bool,
    /// How many sessions to skip.
    pub offset: usize,
    /// How many sessions to return at most.
    pub limit: usize,
    /// As of when.
    pub at: At,
    /// The time by which sessions are active or idle; left out, that of the clock.
    pub now: Option<Timestamp>,
    /// The prices; left out, those that come with this version.
    pub prices: Option<PriceTable>,
}

impl Default for SessionQuery {
    fn default() -> SessionQuery {
        SessionQuery {
            project: None,
            agent: None,
            model: None,
            since: None,
            until: None,
            between: None,
            min_cost: None,
            max_cost: None,
            touched: None,
            only_failed: false,
            only_waiting: false,
            with_sub_agents: false,
            text: None,
            sort: SessionSort::default(),
            ascending: false,
            offset: 0,
            limit: LIMIT,
            at: At::Now,
            now: None,
            prices: None,
        }
    }
}

impl SessionQuery {
    /// The same by other prices, if there are some.
    #[must_use]
    pub fn with_prices_of(self, prices: Option<PriceTable>) -> SessionQuery {
        SessionQuery { prices, ..self }
    }

    pub(crate) fn prices(&self) -> &PriceTable {
        match &self.prices {
            Some(prices) => prices,
            None => PriceTable::standard(),
        }
    }
}
