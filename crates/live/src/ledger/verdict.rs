//! The verdict of budgets on a tool call: whether one is used up, or its use is not known.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use annals::domain::Timestamp;
use annals::domain::settings::{Budget, OverBudget};
use annals::projections::{CostZone, PriceTable, amount_of_money};
use annals_tool_policy::Verdict;
use chrono::{NaiveDate, TimeDelta};

use super::{BudgetVerdict, Ledger, LedgerCost, LedgerState, Spending, TranscriptUse, is_removed};
use crate::gate::git_folder;
use crate::hook::HookAgent;

/// A ledger that is older says too little: what was used since is not known.
const OLDEST: TimeDelta = TimeDelta::hours(1);
/// The age of a ledger from which on a reason states it.
const STATED: TimeDelta = TimeDelta::minutes(2);
/// The most bytes at the end of a transcript that are read.
const TRANSCRIPT: u64 = 8 * 1024 * 1024;

/// The verdict of the budgets that a call falls under: of several, the strongest. `None` if none of them stops it.
pub fn over_budget(
    state: &LedgerState,
    spending: &Spending,
    now: Timestamp,
) -> Option<BudgetVerdict> {
    let (ledger, budgets, unknown) = match state {
        LedgerState::Absent => return None,
        LedgerState::Known(ledger) => {
            let unknown = stale(ledger, now);
            (Some(ledger.as_ref()), ledger.budgets.as_slice(), unknown)
        }
        LedgerState::Unknown {
            reason,
            budgets: Some(budgets),
        } => (None, budgets.as_slice(), Some(reason.clone())),
        LedgerState::Unknown {
            reason,
            budgets: None,
        } => {
            return Some(BudgetVerdict::unknown(reason));
        }
    };
    if budgets.is_empty() {
        return None;
    }
    let today = CostZone::Local.day_at(now);
    let call = SpendingSession::of(ledger, spending, today, TRANSCRIPT);
    let mut strongest: Option<BudgetVerdict> = None;
    for budget in budgets.iter().filter(|budget| call.falls_under(budget)) {
        // An old ledger counts too little: a budget that is used up by it is used up.
        let used_up = ledger.and_then(|ledger| call.used_up(budget, ledger, now));
        let hidden = || call.hidden(budget, ledger);
        let found = used_up
            .or_else(hidden)
            .or_else(|| match (&unknown, ledger) {
                (None, Some(ledger)) => call.unknown_cost(budget, ledger, now),
                (unknown, _) => {
                    let why = unknown.as_deref().unwrap_or("there is no ledger");
                    let why = format!("its use is not known: {why}; `annals budget` counts again");
                    Some(asked(budget, &why))
                }
            });
        let is_stronger = match (&strongest, &found) {
            (_, None) => false,
            (None, Some(_)) => true,
            (Some(before), Some(found)) => {
                before.verdict == Verdict::Ask && found.verdict == Verdict::Deny
            }
        };
        if is_stronger {
            strongest = found;
        }
    }
    strongest
}

/// Why a ledger says too little; `None` if it is recent.
fn stale(ledger: &Ledger, now: Timestamp) -> Option<String> {
    match ledger.age(now) {
        None => Some("it was counted in the future, by the clock".to_owned()),
        Some(age) if age > OLDEST => Some(format!("it was counted {} ago", age_in_words(age))),
        Some(_) => None,
    }
}

/// The session that spends: its projects, its model, and what it used today.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpendingSession {
    projects: BTreeSet<String>,
    model: Option<String>,
    counted: LedgerCost,
    more: LedgerCost,
    today: NaiveDate,
}

impl SpendingSession {
    /// Looks up a session in the ledger, and in the last `most` bytes of its transcript.
    pub fn of(
        ledger: Option<&Ledger>,
        spending: &Spending,
        today: NaiveDate,
        most: u64,
    ) -> SpendingSession {
        let agent = spending.agent.key();
        let session = spending.session.as_deref().unwrap_or_default();
        let known = ledger.map(|ledger| ledger.of_session(agent, session, today));
        let (counted, project) = known.unwrap_or_default();
        let mut projects = projects(&spending.folders);
        projects.extend(project.map(str::to_owned));
        let used = match (spending.agent, &spending.transcript) {
            (HookAgent::Claude, Some(path)) => {
                TranscriptUse::read(path, today, CostZone::Local, most)
            }
            _ => None,
        };
        let used = used.unwrap_or_default();
        let more = LedgerCost {
            micros: used.cost.micros.saturating_sub(counted.micros),
            unpriced_tokens: used
                .cost
                .unpriced_tokens
                .saturating_sub(counted.unpriced_tokens),
        };
        SpendingSession {
            projects,
            model: spending.model.clone().or(used.model),
            counted,
            more,
            today,
        }
    }

    /// The cost of the session today that the ledger does not have yet.
    pub fn more(&self) -> LedgerCost {
        self.more
    }

    /// The cost of the session today.
    pub fn today(&self) -> LedgerCost {
        let mut cost = self.counted;
        cost.add(self.more);
        cost
    }

    /// The use of a budget, with what the ledger does not have of this session.
    pub fn used(&self, budget: &Budget, ledger: &Ledger) -> LedgerCost {
        let mut used = ledger.used(budget, self.today);
        used.add(self.more);
        used
    }

    /// Returns `true` if the session spends the money of a budget. If no folder of it is known, or the name of a project was
    /// removed, it may be any budget's.
    pub fn falls_under(&self, budget: &Budget) -> bool {
        self.projects.is_empty()
            || budget.is_of_removed_project()
            || self
                .projects
                .iter()
                .any(|project| budget.has(project) || is_removed(project))
    }

    /// Returns `true` if the session is known to spend the money of a budget. If no folder of it is known, these are the
    /// budgets of all projects together.
    pub fn is_of_budget(&self, budget: &Budget) -> bool {
        match self.projects.is_empty() {
            true => budget.project.is_none(),
            false => self.falls_under(budget),
        }
    }

    /// The verdict if names that the budget compares were removed from the log: as if the amount was used.
    fn hidden(&self, budget: &Budget, ledger: Option<&Ledger>) -> Option<BudgetVerdict> {
        let is_hidden = |ledger: &Ledger| ledger.is_hidden(budget, self.today);
        let why = if budget.is_of_removed_project() {
            "the name of its project was removed; a person removes the budget (`annals budget` lists it), and sets it again"
        } else if ledger.is_some_and(is_hidden) {
            "its use is not known: the project of a cost was removed"
        } else if budget.project.is_some() && self.projects.iter().any(|it| is_removed(it)) {
            "its use is not known: the project of the session was removed"
        } else {
            return None;
        };
        Some(verdict_of(budget, verdict_over(budget), why))
    }

    /// The verdict of a budget whose amount is used.
    fn used_up(&self, budget: &Budget, ledger: &Ledger, now: Timestamp) -> Option<BudgetVerdict> {
        let used = self.used(budget, ledger);
        if used.micros < budget.limit_micros {
            return None;
        }
        let age = ledger.age(now).unwrap_or_default();
        let counted = match age >= STATED {
            true => format!(", counted {} ago", age_in_words(age)),
            false => String::new(),
        };
        let why = format!(
            "it is used up: {} of {} this {}{counted}",
            money(used.micros),
            money(budget.limit_micros),
            budget.period,
        );
        Some(verdict_of(budget, verdict_over(budget), &why))
    }

    /// The verdict if it is not known whether the amount is used, or what the call costs.
    fn unknown_cost(
        &self,
        budget: &Budget,
        ledger: &Ledger,
        now: Timestamp,
    ) -> Option<BudgetVerdict> {
        let used = self.used(budget, ledger);
        if used.unpriced_tokens > 0 {
            let why = format!(
                "its use is not known: {} and {} tokens that have no price",
                money(used.micros),
                used.unpriced_tokens
            );
            return Some(asked(budget, &why));
        }
        let day = CostZone::Utc.day_at(now);
        match &self.model {
            None => Some(asked(
                budget,
                "the cost of this call is not known: its model is not known",
            )),
            Some(model) if PriceTable::standard().price(model, day).is_none() => {
                let why = format!("the cost of this call is not known: {model} has no price");
                Some(asked(budget, &why))
            }
            Some(_) => None,
        }
    }
}

fn money(micros: u64) -> String {
    amount_of_money(micros.into(), "USD")
}

/// The verdict once the amount is used.
fn verdict_over(budget: &Budget) -> Verdict {
    match budget.then {
        OverBudget::Ask => Verdict::Ask,
        OverBudget::Deny => Verdict::Deny,
    }
}

fn asked(budget: &Budget, why: &str) -> BudgetVerdict {
    verdict_of(budget, Verdict::Ask, why)
}

fn verdict_of(budget: &Budget, verdict: Verdict, why: &str) -> BudgetVerdict {
    let name = format!("budget {budget}");
    BudgetVerdict {
        verdict,
        reason: format!("{name}: {why}"),
        name,
    }
}

/// A duration in its largest unit.
pub fn age_in_words(age: TimeDelta) -> String {
    let (days, hours, minutes) = (age.num_days(), age.num_hours(), age.num_minutes());
    match (days, hours, minutes) {
        (1.., _, _) => format!("{days} d"),
        (_, 1.., _) => format!("{hours} h"),
        (_, _, 1..) => format!("{minutes} min"),
        _ => format!("{} s", age.num_seconds()),
    }
}

/// The projects that folders may be of: the folders, and the git repositories around them, by the paths that they have and by those
/// behind links. A repository that was made within another one does not hide that.
pub(crate) fn projects(folders: &[String]) -> BTreeSet<String> {
    let mut projects = BTreeSet::new();
    for folder in folders {
        let folder = Path::new(folder);
        let real = fs::canonicalize(folder).ok();
        for folder in [Some(folder.to_owned()), real].into_iter().flatten() {
            let repositories = folder.ancestors().filter_map(repository);
            projects.extend(repositories.map(|repository| text(&repository)));
            projects.insert(text(&folder));
        }
    }
    projects
}

/// The project of a folder: the top level of its git repository, also for a worktree, or the folder itself.
pub fn project_of(folder: &Path) -> String {
    let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    let project = folder.ancestors().find_map(repository);
    text(&project.unwrap_or(folder))
}

/// The top level of the repository that a folder is the top level of; that of the main one for a worktree.
fn repository(folder: &Path) -> Option<PathBuf> {
    let git = git_folder(folder)?;
    let mut above = git.ancestors().skip(1);
    let worktrees = above.next()?;
    match git.parent() == Some(folder) {
        true => Some(folder.to_owned()),
        // REPOSITORY/.git/worktrees/NAME
        false if worktrees.ends_with("worktrees") => {
            let main = above.nth(1)?;
            Some(fs::canonicalize(main).unwrap_or_else(|_| main.to_owned()))
        }
        false => Some(folder.to_owned()),
    }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
