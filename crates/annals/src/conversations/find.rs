//! Sessions by their names.

use annals_domain::Timestamp;
use annals_projections::{SessionRow, SessionSummary};
use uuid::Uuid;

use super::{Conversations, SessionError};
use crate::{At, LoadError, SessionQuery};

/// Sessions that an ambiguous name lists.
const CANDIDATES: usize = 10;

/// Sessions that have a name, those at the top first.
#[derive(Debug, Default)]
struct NameMatches {
    exact: Vec<SessionRow>,
    part: Vec<SessionRow>,
    parts: usize,
}

impl Conversations<'_> {
    /// One session by any unique prefix or suffix of its id or of the agent's session id, or by its number in the list
    /// of sessions, newest activity first: `@last` or `@1`, `@2`.
    ///
    /// # Errors
    /// [`SessionError`].
    pub async fn find(self, name: &str) -> Result<SessionSummary, SessionError> {
        let name = name.trim();
        let not_found = || SessionError::NotFound {
            name: name.to_owned(),
        };
        if let Some(number) = name.strip_prefix('@') {
            let number = match number {
                "last" => 1,
                number => number.parse::<usize>().map_err(|_| not_found())?,
            };
            let offset = number.checked_sub(1).ok_or_else(not_found)?;
            let query = SessionQuery::default().with_offset(offset).with_limit(1);
            let page = self.list(&query).await?;
            let session = page.sessions.into_iter().next();
            return session.map(|it| it.summary).ok_or_else(not_found);
        }
        if let Ok(id) = Uuid::try_parse(name) {
            match self.summary(id, At::Now).await {
                Err(SessionError::NotFound { .. }) => {}
                found => return found,
            }
        }
        let found = self.matching(name).await?;
        let (mut rows, all) = match found.exact.is_empty() {
            true => (found.part, found.parts),
            false => {
                let count = found.exact.len();
                (found.exact, count)
            }
        };
        if all == 1
            && let Some(row) = rows.pop()
        {
            return self.linked(row).await;
        }
        if rows.is_empty() {
            return Err(not_found());
        }
        let candidates = rows.into_iter().take(CANDIDATES).map(|row| row.summary);
        Err(SessionError::Ambiguous {
            name: name.to_owned(),
            candidates: candidates.collect(),
        })
    }

    async fn matching(self, name: &str) -> Result<NameMatches, SessionError> {
        self.annals.reach().await?;
        let part = name.to_ascii_lowercase();
        let digits = part.replace('-', "");
        let log = self.annals.log.as_ref();
        let each = |found: &mut NameMatches, family: Vec<SessionRow>| {
            for row in family {
                found.add(row, name, &part, &digits);
            }
        };
        let found = self.annals.session_rows.families(log, each).await;
        let mut found: NameMatches = found.map_err(LoadError::from)?;
        found.sort();
        Ok(found)
    }
}

impl NameMatches {
    fn add(&mut self, row: SessionRow, name: &str, part: &str, digits: &str) {
        let agents = row.summary.agent_session.as_deref().unwrap_or_default();
        if agents == name {
            self.exact.push(row);
            return;
        }
        if part.is_empty() {
            return;
        }
        let agents = agents.to_ascii_lowercase();
        let is_agents = agents.starts_with(part) || agents.ends_with(part);
        let id = row.summary.id.simple().to_string();
        let is_id = !digits.is_empty() && (id.starts_with(digits) || id.ends_with(digits));
        if is_agents || is_id {
            self.parts += 1;
            self.part.push(row);
            if self.part.len() > 8 * CANDIDATES {
                self.sort();
            }
        }
    }

    /// Keeps the newest ones.
    fn sort(&mut self) {
        let key = |row: &SessionRow| {
            let time = row.summary.last_activity.unwrap_or(Timestamp::EPOCH);
            std::cmp::Reverse((row.summary.parent.is_none(), time))
        };
        self.exact.sort_by_key(key);
        self.part.sort_by_key(key);
        self.part.truncate(CANDIDATES);
    }
}
