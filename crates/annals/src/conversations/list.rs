//! The list of sessions: filters, order, pages.

use std::cmp::Reverse;
use std::collections::HashSet;

use annals_domain::Timestamp;
use annals_event_log::{Position, Record};
use annals_projections::{
    CostSums, ProjectionError, SessionActivity, SessionRow, SessionSummary, is_agent, is_project,
};
use globset::{GlobBuilder, GlobMatcher};
use uuid::Uuid;

use super::overview::{OverviewDays, SessionTally};
use super::{
    Conversations, OverviewQuery, SessionError, SessionOverview, SessionPage, family_activity, step,
};
use crate::{At, LoadError, SessionQuery, SessionSort};

/// The most bytes of a pattern for paths.
const PATTERN_BYTES: usize = 1_024;
/// The fewest digits by which a word of a filter is a part of an id.
const ID_DIGITS: usize = 6;

impl Conversations<'_> {
    /// Sessions, newest activity first unless sorted otherwise.
    ///
    /// # Errors
    /// [`SessionError`].
    pub async fn list(self, query: &SessionQuery) -> Result<SessionPage, SessionError> {
        self.annals.reach().await?;
        let now = self.now_at(query.at, query.now).await?;
        let (picked, _) = self.scan(query, None, now).await?;
        self.page(picked, query, now).await
    }

    /// Like [`Conversations::list`], with an overview of all sessions of the log, whatever the query's filters are. The
    /// rows are read once for both.
    ///
    /// # Errors
    /// [`SessionError`].
    pub async fn list_with_overview(
        self,
        query: &SessionQuery,
        overview: &OverviewQuery,
    ) -> Result<(SessionPage, SessionOverview), SessionError> {
        self.annals.reach().await?;
        let now = self.now_at(query.at, query.now).await?;
        let days = OverviewDays::new(overview);
        let (picked, tally) = self.scan(query, Some(&days), now).await?;
        let page = self.page(picked, query, now).await?;
        let overview = self.overview(tally, &days, now, query).await?;
        Ok((page, overview))
    }

    /// Reads the rows of all sessions once: those that match, and facts about all of them if days are given.
    async fn scan(
        self,
        query: &SessionQuery,
        days: Option<&OverviewDays>,
        now: Timestamp,
    ) -> Result<(Picked, SessionTally), SessionError> {
        let glob = query.touched.as_deref().map(path_glob).transpose()?;
        let touched = match (query.at, &glob) {
            (At::Now, Some(glob)) => Some(self.touched(glob).await?),
            _ => None,
        };
        let filter = Filter::new(query, (glob, touched), now);
        let keep = query.offset.saturating_add(query.limit);
        let each = |(picked, tally): &mut (Picked, SessionTally), family: Vec<SessionRow>| {
            picked.all += 1;
            if let Some(days) = days {
                tally.add(&family, days, now, query.prices());
            }
            for (key, rows, own) in filter.matching(family) {
                picked.add(SessionPick { key, rows, own }, keep, query);
            }
        };
        let (log, model) = (self.annals.log.as_ref(), &self.annals.session_rows);
        let found = match (query.at, &query.touched) {
            (At::Now, _) => model.families(log, each).await,
            (At::Position(end), None) => self.families_at(end, each).await,
            (at, _) => {
                let step = |record: &Record| step(at, record);
                model.families_of_past(log, step, each).await
            }
        };
        Ok(found.map_err(LoadError::from)?)
    }

    /// The page of the sessions that match.
    async fn page(
        self,
        mut picked: Picked,
        query: &SessionQuery,
        now: Timestamp,
    ) -> Result<SessionPage, SessionError> {
        picked.sort(query.offset.saturating_add(query.limit), query);
        let picks = picked.sessions.into_iter().skip(query.offset);
        let picks = picks.map(|pick| (pick.rows, pick.own)).collect();
        Ok(SessionPage {
            sessions: self.listed(picks, now, query.prices()).await?,
            total: picked.total,
            all: picked.all,
        })
    }

    /// Gives `each` the families as of a position. Of most of them, the rows of today are those of then: only the sessions
    /// that had events before and behind the position are folded again.
    async fn families_at<A: Default + Send>(
        self,
        end: Position,
        each: impl Fn(&mut A, Vec<SessionRow>) + Sync,
    ) -> Result<A, ProjectionError> {
        let (log, model) = (self.annals.log.as_ref(), &self.annals.session_rows);
        let divide = |found: &mut (A, Vec<Uuid>), family: Vec<SessionRow>| {
            let first = family.iter().map(|row| row.summary.first_position).min();
            let last = family.iter().map(|row| row.summary.last_position).max();
            let root = family.first().map(|row| row.summary.root);
            match (first, last) {
                (Some(first), _) if first > end.0 => {}
                (_, Some(last)) if last > end.0 => found.1.extend(root),
                _ => each(&mut found.0, family),
            }
        };
        let (mut made, grown) = model.families(log, divide).await?;
        for session in grown {
            let step = |record: &Record| step(At::Position(end), record);
            let family = model.family_of_past(log, session, step).await?;
            if !family.is_empty() {
                each(&mut made, family);
            }
        }
        Ok(made)
    }

    /// The sessions that changed certain files.
    async fn touched(self, glob: &PathGlob<'_>) -> Result<HashSet<Uuid>, SessionError> {
        let (log, model) = (self.annals.log.as_ref(), &self.annals.session_rows);
        let found = model.that_touched(log, &|path| glob.matches(path)).await;
        Ok(found.map_err(LoadError::from)?)
    }
}

fn path_glob(pattern: &str) -> Result<PathGlob<'_>, SessionError> {
    PathGlob::new(pattern).ok_or_else(|| SessionError::Pattern {
        pattern: pattern.to_owned(),
    })
}

/// A glob for paths.
struct PathGlob<'a> {
    pattern: &'a str,
    is_of_name: bool,
    /// It takes time in proportion to the length of a path, whatever the pattern is.
    matcher: GlobMatcher,
}

impl<'a> PathGlob<'a> {
    fn new(pattern: &'a str) -> Option<PathGlob<'a>> {
        let pattern = pattern.trim();
        if pattern.is_empty() || pattern.len() > PATTERN_BYTES {
            return None;
        }
        let glob = GlobBuilder::new(pattern).literal_separator(true).build();
        Some(PathGlob {
            pattern,
            is_of_name: !pattern.contains('/'),
            matcher: glob.ok()?.compile_matcher(),
        })
    }

    fn matches(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        let subject = match self.is_of_name {
            true => name,
            false => path,
        };
        subject == self.pattern || self.matcher.is_match(subject)
    }
}

/// What a page keeps of the sessions that match.
#[derive(Default)]
struct Picked {
    sessions: Vec<SessionPick>,
    total: usize,
    all: usize,
}

/// A session that matches, with its family.
struct SessionPick {
    key: SortKey,
    rows: Vec<SessionRow>,
    own: Uuid,
}

impl Picked {
    /// Adds a session. Only those are kept that the page may have.
    fn add(&mut self, pick: SessionPick, keep: usize, query: &SessionQuery) {
        self.total += 1;
        self.sessions.push(pick);
        if self.sessions.len() >= keep.saturating_mul(2).saturating_add(1_024) {
            self.sort(keep, query);
        }
    }

    fn sort(&mut self, keep: usize, query: &SessionQuery) {
        self.sessions.sort_by(|a, b| {
            let order = a.key.cmp(&b.key);
            let order = match query.ascending {
                true => order,
                false => order.reverse(),
            };
            order.then_with(|| Reverse(a.own).cmp(&Reverse(b.own)))
        });
        self.sessions.truncate(keep);
    }
}

/// The value that sessions are sorted by; of two that are the same, the newest one is first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum SortKey {
    Number(u128, u128, Option<Timestamp>),
    Text(String, Reverse<Option<Timestamp>>),
}

/// A query's filters.
struct Filter<'a> {
    query: &'a SessionQuery,
    glob: Option<PathGlob<'a>>,
    /// The sessions with a file that matches; `None` if rows have their files.
    touched: Option<HashSet<Uuid>>,
    now: Timestamp,
    words: Vec<String>,
}

impl<'a> Filter<'a> {
    fn new(
        query: &'a SessionQuery,
        (glob, touched): (Option<PathGlob<'a>>, Option<HashSet<Uuid>>),
        now: Timestamp,
    ) -> Filter<'a> {
        let words = query.text.as_deref().unwrap_or_default().split_whitespace();
        Filter {
            query,
            glob,
            touched,
            now,
            words: words.map(str::to_lowercase).collect(),
        }
    }

    /// The sessions of a family that match, each with what is below it.
    fn matching(&self, family: Vec<SessionRow>) -> Vec<(SortKey, Vec<SessionRow>, Uuid)> {
        let root = family.first().map(|row| row.summary.root);
        let mut found = Vec::new();
        if self.query.with_sub_agents {
            let subs = family.iter().map(|row| row.summary.id);
            for own in subs.filter(|id| Some(*id) != root) {
                let rows = subtree(&family, own);
                if let Some(key) = self.key(&rows, own) {
                    found.push((key, rows, own));
                }
            }
        }
        if let Some(root) = root
            && let Some(key) = self.key(&family, root)
        {
            found.push((key, family, root));
        }
        found
    }

    /// The sort key of a session, if it matches.
    fn key(&self, rows: &[SessionRow], own: Uuid) -> Option<SortKey> {
        let row = rows.iter().find(|row| row.summary.id == own)?;
        let summary = &row.summary;
        let last = rows
            .iter()
            .filter_map(|row| row.summary.last_activity)
            .max();
        let is_match = self.is_of_place(summary)
            && self.is_of_time(summary, last)
            && self.is_active(rows)
            && self.has_model(rows)
            && self.has_words(summary)
            && self.has_status(rows, summary, last)
            && self.is_touched(rows);
        if !is_match {
            return None;
        }
        let cost = self.cost(rows);
        if cost.as_ref().is_some_and(|cost| self.is_beyond(cost)) {
            return None;
        }
        let cost = cost.map_or(0, |cost| cost.computed_micros);
        Some(self.sort_key(rows, summary, last, cost))
    }

    /// The cost of a session with its sub-agents, if the query needs it.
    fn cost(&self, rows: &[SessionRow]) -> Option<CostSums> {
        let query = self.query;
        let needs_cost =
            query.sort == SessionSort::Cost || query.min_cost.is_some() || query.max_cost.is_some();
        needs_cost.then(|| {
            let mut sums = CostSums::default();
            rows.iter()
                .for_each(|row| sums.add(&row.cost(query.prices())));
            sums
        })
    }

    /// Returns `true` if a cost is outside of the bounds. A cost that is not known is below no maximum.
    fn is_beyond(&self, cost: &CostSums) -> bool {
        let is_known = !cost.is_partly_unpriced() && cost.used.tokens.total() > 0;
        let query = self.query;
        let is_above = |max| !is_known || cost.computed_micros > max;
        query.min_cost.is_some_and(|min| cost.computed_micros < min)
            || query.max_cost.is_some_and(is_above)
    }

    fn sort_key(
        &self,
        rows: &[SessionRow],
        own: &SessionSummary,
        last: Option<Timestamp>,
        cost: u128,
    ) -> SortKey {
        let number = |value: u128| SortKey::Number(value, 0, last);
        let text = |text: Option<&str>| {
            let text = text.unwrap_or_default().to_lowercase();
            // Those without any come last.
            let text = match text.is_empty() {
                true => char::MAX.to_string(),
                false => text,
            };
            SortKey::Text(text, Reverse(last))
        };
        match self.query.sort {
            SessionSort::LastActivity => {
                let position = rows.iter().map(|row| row.summary.last_position).max();
                SortKey::Number(millis(last), position.unwrap_or_default().into(), last)
            }
            SessionSort::Title => text(own.title.as_deref()),
            SessionSort::Project => text(own.project_name()),
            SessionSort::Agent => text(own.agent.as_deref()),
            SessionSort::Duration => number(own.active_ms.into()),
            SessionSort::Prompts => number(own.counts.prompts.into()),
            SessionSort::Files => {
                let sum = |count: fn(&SessionSummary) -> u64| {
                    let counts = rows.iter().map(|row| u128::from(count(&row.summary)));
                    counts.fold(0, u128::saturating_add)
                };
                let lines = sum(|it| it.files.added.saturating_add(it.files.deleted));
                SortKey::Number(sum(|it| it.files.files), lines, last)
            }
            SessionSort::Tokens => {
                let tokens = rows.iter().map(|row| row.used().tokens.total());
                number(tokens.fold(0, u128::saturating_add))
            }
            SessionSort::Cost => number(cost),
        }
    }

    fn is_of_place(&self, summary: &SessionSummary) -> bool {
        let is_project = |wanted: &str| {
            let path = summary.project.as_deref();
            path.is_some_and(|path| is_project(path, wanted))
        };
        let is_agent = |wanted: &str| {
            let agent = summary.agent.as_deref();
            agent.is_some_and(|agent| is_agent(agent, wanted))
        };
        self.query.project.as_deref().is_none_or(is_project)
            && self.query.agent.as_deref().is_none_or(is_agent)
    }

    fn is_of_time(&self, summary: &SessionSummary, last: Option<Timestamp>) -> bool {
        let is_since = |since: Timestamp| last.is_some_and(|last| last >= since);
        let is_until = |until: Timestamp| summary.started.is_some_and(|started| started < until);
        self.query.since.is_none_or(is_since) && self.query.until.is_none_or(is_until)
    }

    fn is_active(&self, rows: &[SessionRow]) -> bool {
        let Some((from, until)) = self.query.between else {
            return true;
        };
        let (from, until) = (from.to_utc().timestamp(), until.to_utc().timestamp());
        let mut times = rows.iter().flat_map(SessionRow::active_seconds);
        times.any(|time| (from..until).contains(&time))
    }

    fn has_model(&self, rows: &[SessionRow]) -> bool {
        let Some(wanted) = self.query.model.as_deref().map(str::to_lowercase) else {
            return true;
        };
        let mut models = rows.iter().flat_map(|row| &row.summary.models);
        models.any(|it| {
            let model = it.model.as_deref().unwrap_or_default();
            model.to_lowercase().contains(&wanted)
        })
    }

    fn has_words(&self, summary: &SessionSummary) -> bool {
        if self.words.is_empty() {
            return true;
        }
        let texts = [
            &summary.title,
            &summary.project,
            &summary.branch,
            &summary.agent,
            &summary.agent_session,
        ];
        let texts = texts.into_iter().flatten().map(|text| text.to_lowercase());
        let texts: Vec<String> = texts.collect();
        let id = summary.id.simple().to_string();
        // A few digits are in most ids.
        let is_id = |word: &String| {
            word.len() >= ID_DIGITS
                && (id.starts_with(word.as_str()) || id.ends_with(word.as_str()))
        };
        let has = |word: &String| is_id(word) || texts.iter().any(|text| text.contains(word));
        self.words.iter().all(has)
    }

    fn has_status(
        &self,
        rows: &[SessionRow],
        own: &SessionSummary,
        last: Option<Timestamp>,
    ) -> bool {
        let query = self.query;
        if query.only_failed && own.activity(self.now) != SessionActivity::Failed {
            return false;
        }
        if query.only_waiting {
            let others = rows.iter().filter(|row| row.summary.id != own.id);
            let others = others.map(|row| row.summary.activity(self.now));
            return family_activity(own, others, last, self.now) == SessionActivity::Waiting;
        }
        true
    }

    fn is_touched(&self, rows: &[SessionRow]) -> bool {
        let Some(glob) = &self.glob else {
            return true;
        };
        rows.iter().any(|row| match &self.touched {
            Some(touched) => touched.contains(&row.summary.id),
            None => {
                let mut files = row.files.iter().flatten();
                files.any(|file| glob.matches(&file.path))
            }
        })
    }
}

/// A time as a number that sorts like it; 0 if it is not known.
fn millis(time: Option<Timestamp>) -> u128 {
    let millis = time.map_or(0, |time| time.to_utc().timestamp_millis());
    u128::try_from(millis).unwrap_or_default()
}

/// A session of a family with what is below it.
fn subtree(family: &[SessionRow], own: Uuid) -> Vec<SessionRow> {
    let mut ids = HashSet::from([own]);
    loop {
        let before = ids.len();
        let below = family.iter().filter(|row| {
            let parent = row.summary.parent;
            parent.is_some_and(|parent| ids.contains(&parent))
        });
        let below: Vec<Uuid> = below.map(|row| row.summary.id).collect();
        ids.extend(below);
        if ids.len() == before {
            break;
        }
    }
    let is_below = |row: &&SessionRow| ids.contains(&row.summary.id);
    family.iter().filter(is_below).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_match_names_or_whole_paths() {
        for (pattern, path, expected) in [
            ("*.rs", "src/lib.rs", true),
            ("lib.rs", "src/lib.rs", true),
            ("src/*.rs", "src/lib.rs", true),
            ("src/*.rs", "src/a/lib.rs", false),
            ("src/**/*.rs", "src/a/b/lib.rs", true),
            ("src/lib.rs", "src/lib.rs", true),
            ("*.md", "src/lib.rs", false),
        ] {
            let glob = PathGlob::new(pattern);
            let matches = glob.map(|glob| glob.matches(path));
            assert_eq!(matches, Some(expected), "{pattern} {path}");
        }
        assert!(PathGlob::new(" ").is_none());
    }

    /// A matcher that tries each division of the path among the wildcards would take years.
    #[test]
    fn a_glob_of_many_wildcards_takes_little_time() {
        let path = "a/".repeat(200) + "b";
        for pattern in ["**/a/".repeat(40), "*a*/".repeat(40), "**a".repeat(100)] {
            let glob = PathGlob::new(&pattern);
            assert!(!glob.is_some_and(|glob| glob.matches(&path)), "{pattern}");
        }
        assert!(PathGlob::new(&"*".repeat(PATTERN_BYTES + 1)).is_none());
    }

    #[test]
    fn sessions_without_a_text_come_behind_those_with_one() {
        let key = |text: &str| match text {
            "" => SortKey::Text(char::MAX.to_string(), Reverse(None)),
            text => SortKey::Text(text.to_owned(), Reverse(None)),
        };
        let keys = [key("a"), key("z"), key("")];
        assert!(keys.is_sorted());
        let newest = Timestamp::from(annals_event_log::now());
        let number = |last| SortKey::Number(1, 0, last);
        assert!(number(None) < number(Some(newest)));
    }
}
