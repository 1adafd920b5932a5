//! The filters of the session list. The address holds them.

use std::collections::BTreeMap;

use annals::domain::Timestamp;
use annals::projections::{CostTime, CostZone};
use annals::{SessionQuery, SessionSort};
use maud::{Markup, html};

use super::SessionList;
use crate::answer::{Asked, escaped};
use crate::figures::counted;
use crate::foreign;
use crate::html::grouped;
use crate::moment::{Moment, Params};
use crate::problem::Problem;
use crate::session_entry::{SessionEntry, agent_name, model_name};

/// The names of the filters' parameters.
const NAMES: [&str; 11] = [
    "project", "agent", "model", "date", "since", "until", "cost", "touched", "q", "waiting",
    "failed",
];
/// Values of a filter that can be chosen.
const LISTED: usize = 100;

/// A filter, as the address holds it.
#[derive(Debug, Default)]
pub(super) struct Filter {
    values: BTreeMap<&'static str, String>,
    since: Option<Timestamp>,
    until: Option<Timestamp>,
    min_cost: Option<u128>,
    pub(super) sort: Sort,
    pub(super) ascending: bool,
}

/// A column by which the list is sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Sort {
    #[default]
    Activity,
    Title,
    Project,
    Agent,
    Active,
    Prompts,
    Files,
    Tokens,
    Cost,
}

impl Sort {
    pub(super) const ALL: [Sort; 9] = [
        Sort::Title,
        Sort::Project,
        Sort::Agent,
        Sort::Activity,
        Sort::Active,
        Sort::Prompts,
        Sort::Files,
        Sort::Tokens,
        Sort::Cost,
    ];

    /// The word in the address.
    pub(super) fn word(self) -> &'static str {
        match self {
            Sort::Activity => "activity",
            Sort::Title => "title",
            Sort::Project => "project",
            Sort::Agent => "agent",
            Sort::Active => "active",
            Sort::Prompts => "prompts",
            Sort::Files => "files",
            Sort::Tokens => "tokens",
            Sort::Cost => "cost",
        }
    }

    /// The column's heading.
    pub(super) fn heading(self) -> &'static str {
        match self {
            Sort::Activity => "Last activity",
            Sort::Title => "Title",
            Sort::Project => "Project",
            Sort::Agent => "Agent, model",
            Sort::Active => "Active time",
            Sort::Prompts => "Prompts",
            Sort::Files => "Files",
            Sort::Tokens => "Tokens",
            Sort::Cost => "Cost",
        }
    }

    /// Texts begin with A, numbers with the largest.
    pub(super) fn is_ascending(self) -> bool {
        matches!(self, Sort::Title | Sort::Project | Sort::Agent)
    }

    fn of_query(self) -> SessionSort {
        match self {
            Sort::Activity => SessionSort::LastActivity,
            Sort::Title => SessionSort::Title,
            Sort::Project => SessionSort::Project,
            Sort::Agent => SessionSort::Agent,
            Sort::Active => SessionSort::Duration,
            Sort::Prompts => SessionSort::Prompts,
            Sort::Files => SessionSort::Files,
            Sort::Tokens => SessionSort::Tokens,
            Sort::Cost => SessionSort::Cost,
        }
    }
}

impl Filter {
    /// Reads the filter of an address.
    pub(super) fn read(params: &Params, now: Timestamp) -> Result<Filter, Problem> {
        let value = |name: &'static str| Some((name, params.get(name)?.to_owned()));
        let values: BTreeMap<&'static str, String> = NAMES.into_iter().filter_map(value).collect();
        let time = |name: &str| -> Result<Option<CostTime>, Problem> {
            let Some(text) = values.get(name) else {
                return Ok(None);
            };
            let shown: String = text.chars().take(64).collect();
            let read = text.parse().map(Some);
            read.map_err(|error| Problem::invalid(format!("invalid {name} {shown:?}: {error}")))
        };
        let begins = time("date")?.or(time("since")?);
        let sort = match params.get("sort") {
            None => Sort::default(),
            Some(word) => Sort::ALL
                .into_iter()
                .find(|sort| sort.word() == word)
                .ok_or_else(|| {
                    let shown: String = word.chars().take(64).collect();
                    let known: Vec<&str> = Sort::ALL.into_iter().map(Sort::word).collect();
                    Problem::invalid(format!(
                        "invalid sort {shown:?}: expected one of {}",
                        known.join(", ")
                    ))
                })?,
        };
        Ok(Filter {
            since: begins.and_then(|time| time.begins(CostZone::Local, now)),
            until: time("until")?.and_then(|time| time.ends(CostZone::Local, now)),
            min_cost: values.get("cost").map(|text| amount(text)).transpose()?,
            sort,
            ascending: match params.get("order") {
                None => sort.is_ascending(),
                Some("asc") => true,
                Some("desc") => false,
                Some(_) => return Err(Problem::invalid("invalid order: expected asc or desc")),
            },
            values,
        })
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    /// Returns `true` if all sessions are listed, newest activity first.
    pub(super) fn is_default(&self) -> bool {
        self.values.is_empty() && self.sort == Sort::Activity && !self.ascending
    }

    /// Restricts a query.
    pub(super) fn apply(&self, mut query: SessionQuery) -> SessionQuery {
        let own = |name: &str| self.get(name).map(str::to_owned);
        query.project = own("project");
        query.agent = own("agent");
        query.model = own("model");
        query.since = self.since;
        query.until = self.until;
        query.min_cost = self.min_cost;
        query.touched = own("touched");
        query.text = own("q");
        query.only_waiting = self.get("waiting").is_some();
        query.only_failed = self.get("failed").is_some();
        query.sort = self.sort.of_query();
        // The query's order is the column's own one, or the reverse of it.
        query.ascending = self.ascending != self.sort.is_ascending();
        query
    }

    /// The command that lists the same.
    pub(super) fn command(&self) -> String {
        let mut command = "annals ls".to_owned();
        for name in ["project", "agent", "model", "since", "until"] {
            if let Some(value) = self.get(name) {
                command.push_str(&format!(" --{name} '{}'", value.replace('\'', "'\\''")));
            }
        }
        command
    }
}

/// An amount in USD, in millionths.
fn amount(text: &str) -> Result<u128, Problem> {
    let shown: String = text.chars().take(64).collect();
    let invalid = || {
        Problem::invalid(format!(
            "invalid cost {shown:?}: expected an amount in USD such as 0.50"
        ))
    };
    let (whole, rest) = text.split_once('.').unwrap_or((text, ""));
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty()
        || whole.len() > 9
        || rest.len() > 6
        || !is_digits(whole)
        || !is_digits(rest)
    {
        return Err(invalid());
    }
    format!("{whole}{rest:0<6}").parse().map_err(|_| invalid())
}

/// The values that the filters offer.
#[derive(Debug, Default)]
pub(super) struct Choices {
    projects: BTreeMap<String, String>,
    agents: BTreeMap<String, String>,
    models: BTreeMap<String, String>,
}

impl Choices {
    pub(super) fn of(sessions: &[SessionEntry], filter: &Filter) -> Choices {
        let mut choices = Choices::default();
        for session in sessions {
            if let (Some(path), Some(name)) = (&session.project, &session.project_name) {
                choices.projects.insert(path.clone(), name.clone());
            }
            if let Some(agent) = &session.agent {
                choices
                    .agents
                    .insert(agent.clone(), agent_name(agent).to_owned());
            }
            for model in &session.models {
                choices
                    .models
                    .insert(model.clone(), model_name(model).to_owned());
            }
        }
        // A chosen value stays choosable.
        for (name, map) in [
            ("project", &mut choices.projects),
            ("agent", &mut choices.agents),
            ("model", &mut choices.models),
        ] {
            if let Some(value) = filter.get(name) {
                map.entry(value.to_owned())
                    .or_insert_with(|| value.to_owned());
            }
        }
        choices
    }

    /// The number of projects in words.
    pub(super) fn projects(&self) -> Option<String> {
        let count = self.projects.len() as u64;
        (count > 0).then(|| counted(count, "project", "projects"))
    }
}

/// Draws the filter bar, with the numbers of waiting and failed sessions.
pub(super) fn draw(
    filter: &Filter,
    choices: &Choices,
    counts: (usize, Option<usize>),
    list: &SessionList,
    asked: &Asked,
) -> Markup {
    let select = |name: &str, label: &str, all: &str, values: &[(String, String)]| {
        let chosen = filter.get(name).unwrap_or("");
        html! {
            label.unseen for={ "filter-" (name) } { (label) }
            select id={ "filter-" (name) } name=(name) {
                option value="" { (all) }
                @for (value, word) in values.iter().take(LISTED) { option value=(value) selected[value == chosen] { (foreign::cut(word, 40)) } }
            }
        }
    };
    let pairs = |map: &BTreeMap<String, String>| map.clone().into_iter().collect::<Vec<_>>();
    let own = |pairs: &[(&str, &str)]| {
        pairs
            .iter()
            .map(|(value, word)| ((*value).to_owned(), (*word).to_owned()))
            .collect::<Vec<_>>()
    };
    let dates = own(&[
        ("1d", "Today"),
        ("2d", "Since yesterday"),
        ("7d", "Last 7 days"),
        ("30d", "Last 30 days"),
        ("90d", "Last 90 days"),
    ]);
    let costs = own(&[
        ("0.10", "Over $0.10"),
        ("1", "Over $1"),
        ("5", "Over $5"),
        ("20", "Over $20"),
    ]);
    let check = |name: &str, word: &str, count: Option<usize>| {
        html! {
            label.button.toggle { input type="checkbox" name=(name) value="1" checked[filter.get(name).is_some()]; (word) @if let Some(count) = count { span.count { (grouped(count as u64)) } } }
        }
    };
    let hidden = ["since", "until", "q"]
        .into_iter()
        .filter_map(|name| Some((name, filter.get(name)?)));
    html! {
        form.filters method="get" action="/" aria-label="Filters" {
            @if asked.moment.is_chosen { input type="hidden" name="at" value=(asked.moment.position); }
            @for (name, value) in hidden { input type="hidden" name=(name) value=(value); }
            @for name in ["sort", "order", "stack"] { @if let Some(value) = asked.params.get(name) { input type="hidden" name=(name) value=(value); } }
            (select("project", "Project", "All projects", &pairs(&choices.projects)))
            (select("agent", "Agent", "All agents", &pairs(&choices.agents)))
            (select("model", "Model", "All models", &pairs(&choices.models)))
            (select("date", "Date", "Any date", &dates))
            (select("cost", "Cost", "Any cost", &costs))
            label.unseen for="filter-touched" { "Touched file" }
            input.path #filter-touched name="touched" value=[filter.get("touched")] placeholder="touched file, *.ts" maxlength="500" autocomplete="off";
            (check("waiting", "Waiting", Some(counts.0)))
            (check("failed", "Failed", counts.1))
            button.button.unscripted type="submit" { "Filter" }
            span.result { (grouped(list.total as u64)) " of " (counted(list.all as u64, "session", "sessions")) }
        }
        (active(filter, asked.moment))
    }
}

/// The active filters that the bar does not show, each removable.
fn active(filter: &Filter, moment: Moment) -> Markup {
    let shown: Vec<&str> = ["since", "until", "q"]
        .into_iter()
        .filter(|name| filter.get(name).is_some())
        .collect();
    html! { @if !shown.is_empty() { p.row { @for name in shown {
        a.button.small href=(without(filter, name, moment)) { "Remove “" (name) " " (foreign::text(filter.get(name).unwrap_or_default())) "”" }
    } } } }
}

/// The address with one filter less.
fn without(filter: &Filter, removed: &str, moment: Moment) -> String {
    let kept = filter.values.iter().filter(|(name, _)| **name != removed);
    let kept: Vec<String> = kept
        .map(|(name, value)| format!("{name}={}", escaped(value)))
        .collect();
    match kept.is_empty() {
        true => moment.link("/"),
        false => moment.link(&format!("/?{}", kept.join("&"))),
    }
}

/// What a list without a match shows.
pub(super) fn no_match(filter: &Filter, moment: Moment) -> Markup {
    let count = filter.values.len();
    html! {
        div.box.empty {
            h2 { "No session matches " (counted(count as u64, "filter", "filters")) }
            p.row {
                @for (name, value) in &filter.values {
                    a.button href=(without(filter, name, moment)) { "Remove “" @match *name {
                        "waiting" | "failed" => { (name) }
                        name => { (name) " " (foreign::text(&foreign::cut(value, 40))) }
                    } "”" }
                }
                a.button href=(moment.link("/")) { "Clear all" }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn amounts_are_in_millionths() {
        assert_eq!(amount("1").unwrap(), 1_000_000);
        assert_eq!(amount("0.10").unwrap(), 100_000);
        assert_eq!(amount("12.345678").unwrap(), 12_345_678);
        for bad in [
            "",
            ".5",
            "-1",
            "1.2.3",
            "1e9",
            "9999999999",
            "0.1234567",
            "１",
        ] {
            assert!(amount(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_address_holds_the_filter() {
        let params = Params::of(&[
            ("project", "/work/a b"),
            ("failed", "1"),
            ("sort", "cost"),
            ("date", "7d"),
        ]);
        let filter = Filter::read(&params, Timestamp::EPOCH).unwrap();
        assert_eq!(filter.get("project"), Some("/work/a b"));
        assert_eq!((filter.sort, filter.ascending), (Sort::Cost, false));
        assert!(filter.since.is_some() && filter.until.is_none());
        let moment = Moment {
            position: annals::event_log::Position(7),
            end: annals::event_log::Position(9),
            is_chosen: true,
        };
        assert_eq!(
            without(&filter, "failed", moment),
            "/?date=7d&project=%2Fwork%2Fa%20b&at=7"
        );
        assert_eq!(filter.command(), "annals ls --project '/work/a b'");
        for (name, value) in [
            ("sort", "x"),
            ("order", "up"),
            ("date", "soon"),
            ("cost", "free"),
            ("until", "x"),
        ] {
            let params = Params::of(&[(name, value)]);
            assert_eq!(
                Filter::read(&params, Timestamp::EPOCH)
                    .unwrap_err()
                    .status
                    .as_u16(),
                400,
                "{name}"
            );
        }
    }
}
