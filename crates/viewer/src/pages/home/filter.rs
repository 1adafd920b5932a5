//! The filters of the session list. The address holds them.

use std::collections::{BTreeMap, BTreeSet};

use annals::domain::Timestamp;
use annals::projections::{CostTime, CostZone, ProjectLabels, parse_amount};
use annals::{SessionQuery, SessionSort};
use chrono::{Datelike as _, NaiveDate};
use maud::{Markup, html};

use super::SessionList;
use super::summary::HomeSummary;
use crate::answer::escaped;
use crate::figures::{Clock, counted, grouped};
use crate::foreign;
use crate::moment::{Moment, Params};
use crate::problem::Problem;
use crate::session_entry::{agent_name, model_name};

/// The names of the filters' parameters.
const NAMES: [&str; 11] = [
    "project", "agent", "model", "date", "since", "until", "cost", "touched", "q", "waiting",
    "failed",
];
/// Values of a filter that can be chosen.
const LISTED: usize = 100;
/// Dates and costs that can be chosen, each with its words.
const DATES: [(&str, &str); 5] = [
    ("1d", "Today"),
    ("2d", "Since yesterday"),
    ("7d", "Last 7 days"),
    ("30d", "Last 30 days"),
    ("90d", "Last 90 days"),
];
const COSTS: [(&str, &str); 6] = [
    ("..1", "Up to $1"),
    ("1..5", "$1 to $5"),
    ("5..20", "$5 to $20"),
    ("1", "$1 and more"),
    ("5", "$5 and more"),
    ("20", "$20 and more"),
];

/// A filter, as the address holds it.
#[derive(Debug, Default)]
pub(super) struct Filter {
    values: BTreeMap<&'static str, String>,
    since: Option<Timestamp>,
    until: Option<Timestamp>,
    /// The day of activity, with its beginning and its end.
    day: Option<NaiveDate>,
    between: Option<(Timestamp, Timestamp)>,
    cost: CostBounds,
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

    /// Reads the column of an address.
    fn read(params: &Params) -> Result<Sort, Problem> {
        let Some(word) = params.get("sort") else {
            return Ok(Sort::default());
        };
        let mut all = Sort::ALL.into_iter();
        all.find(|sort| sort.word() == word).ok_or_else(|| {
            let shown: String = word.chars().take(64).collect();
            let known: Vec<&str> = Sort::ALL.into_iter().map(Sort::word).collect();
            Problem::invalid(format!(
                "invalid sort {shown:?}: expected one of {}",
                known.join(", ")
            ))
        })
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
        let zone = CostZone::Local;
        let (date, since) = (time("date")?, time("since")?);
        let day = date.filter(|date| date.is_day());
        let begins = date.filter(|date| !date.is_day()).or(since);
        let begins = begins.and_then(|time| time.begins(zone, now));
        let day_begins = day.and_then(|day| day.begins(zone, now));
        let sort = Sort::read(params)?;
        let cost = values.get("cost").map(|text| CostBounds::read(text));
        Ok(Filter {
            since: begins,
            until: time("until")?.and_then(|time| time.ends(zone, now)),
            day: day_begins.map(|begins| zone.day_at(begins)),
            between: day_begins.zip(day.and_then(|day| day.ends(zone, now))),
            cost: cost.transpose()?.unwrap_or_default(),
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

    /// Restricts a query.
    pub(super) fn apply(&self, mut query: SessionQuery) -> SessionQuery {
        let own = |name: &str| self.get(name).map(str::to_owned);
        query.project = own("project");
        query.agent = own("agent");
        query.model = own("model");
        query.since = self.since;
        query.until = self.until;
        query.between = self.between;
        query.min_cost = self.cost.least;
        query.max_cost = self.cost.most;
        query.touched = own("touched");
        query.text = own("q");
        query.only_waiting = self.get("waiting").is_some();
        query.only_failed = self.get("failed").is_some();
        query.sort = self.sort.of_query();
        query.ascending = self.ascending;
        query
    }

    /// The day of activity that the list is filtered by.
    pub(super) fn day(&self) -> Option<NaiveDate> {
        self.day
    }

    /// The command that lists the same.
    pub(super) fn command(&self) -> String {
        let mut command = "annals ls".to_owned();
        let mut add = |option: &str, value: &str| {
            let value = value.replace('\'', "'\\''");
            command.push_str(&format!(" --{option} '{value}'"));
        };
        for (name, value) in &self.values {
            match (*name, self.day) {
                ("date", Some(_)) => add("on", value),
                ("date", None) => add("since", value),
                ("q", _) => add("text", value),
                ("cost" | "waiting" | "failed", _) => {}
                // The date takes the place of the time.
                ("since", None) if self.get("date").is_some() => {}
                (name, _) => add(name, value),
            }
        }
        for (option, text) in [("min-cost", self.cost.least), ("max-cost", self.cost.most)] {
            if let Some(micros) = text {
                add(option, &plain_amount(micros));
            }
        }
        if self.sort != Sort::default() {
            add("sort", self.sort.of_query().as_str());
        }
        for name in ["waiting", "failed"] {
            if self.get(name).is_some() {
                command.push_str(&format!(" --{name}"));
            }
        }
        if self.ascending != self.sort.is_ascending() {
            command.push_str(" --reverse");
        }
        command
    }
}

/// Bounds of a cost in millionths of a USD, both included.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct CostBounds {
    least: Option<u128>,
    most: Option<u128>,
}

impl CostBounds {
    /// Reads `5` (at least), `..5` (at most) or `1..5`.
    fn read(text: &str) -> Result<CostBounds, Problem> {
        let shown: String = text.chars().take(64).collect();
        let invalid = || {
            Problem::invalid(format!(
                "invalid cost {shown:?}: expected a least amount in USD such as 0.50, a highest one such as ..5, or both such as 1..5"
            ))
        };
        let amount = |text: &str| match text {
            "" => Ok(None),
            text => parse_amount(text)
                .map(|micros| Some(micros.into()))
                .ok_or_else(invalid),
        };
        let (least, most) = text.split_once("..").unwrap_or((text, ""));
        let bounds = CostBounds {
            least: amount(least)?,
            most: amount(most)?,
        };
        match bounds == CostBounds::default() {
            true => Err(invalid()),
            false => Ok(bounds),
        }
    }

    /// The bounds in words, such as "$1 to $5".
    fn in_words(self) -> String {
        match (self.least, self.most) {
            (Some(least), Some(most)) => {
                format!("${} to ${}", plain_amount(least), plain_amount(most))
            }
            (Some(least), None) => format!("${} and more", plain_amount(least)),
            (None, Some(most)) => format!("Up to ${}", plain_amount(most)),
            (None, None) => String::new(),
        }
    }
}

/// An amount in the form in which it is read, such as `0.5`.
fn plain_amount(micros: u128) -> String {
    let (whole, part) = (micros / 1_000_000, micros % 1_000_000);
    match part {
        0 => whole.to_string(),
        part => format!("{whole}.{part:06}")
            .trim_end_matches('0')
            .to_owned(),
    }
}

/// The values that the filters offer, each with its words.
#[derive(Debug, Default)]
pub(super) struct Choices {
    projects: BTreeMap<String, String>,
    agents: BTreeMap<String, String>,
    models: BTreeMap<String, String>,
    dates: Vec<(String, String)>,
    costs: Vec<(String, String)>,
}

impl Choices {
    pub(super) fn of(summary: &HomeSummary, filter: &Filter, clock: Clock) -> Choices {
        let labels = ProjectLabels::of(summary.projects.iter().map(String::as_str));
        let label = |path: &str| labels.label(path).to_owned();
        let named = |values: &BTreeSet<String>, name: &dyn Fn(&str) -> String, chosen: &str| {
            let named = |value: &String| (value.clone(), name(value));
            let mut choices: BTreeMap<String, String> = values.iter().map(named).collect();
            // A chosen value stays choosable.
            if let Some(value) = filter.get(chosen) {
                choices
                    .entry(value.to_owned())
                    .or_insert_with(|| value.to_owned());
            }
            choices
        };
        let fixed = |choices: &[(&str, &str)], chosen: &str, words: &dyn Fn(&str) -> String| {
            let own = |(value, word): &(&str, &str)| ((*value).to_owned(), (*word).to_owned());
            let other = filter.get(chosen);
            let other = other.filter(|value| choices.iter().all(|(known, _)| known != value));
            let other = other.map(|value| (value.to_owned(), words(value)));
            choices.iter().map(own).chain(other).collect()
        };
        let of_date = |value: &str| match filter.day {
            Some(day) if day.year() == CostZone::Local.day_at(clock.now()).year() => {
                day.format("%a %-d %b").to_string()
            }
            Some(day) => day.format("%-d %b %Y").to_string(),
            None => value.to_owned(),
        };
        Choices {
            projects: named(&summary.projects, &label, "project"),
            agents: named(&summary.agents, &|it| agent_name(it).to_owned(), "agent"),
            models: named(&summary.models, &|it| model_name(it).to_owned(), "model"),
            dates: fixed(&DATES, "date", &of_date),
            costs: fixed(&COSTS, "cost", &|_| filter.cost.in_words()),
        }
    }
}

/// Draws the filter bar, with the numbers of waiting and failed sessions.
pub(super) fn draw(
    filter: &Filter,
    choices: &Choices,
    (waiting, failed): (usize, usize),
    list: &SessionList,
    (params, moment): (&Params, Moment),
) -> Markup {
    // A phone has room for these only while they are set.
    let is_rare = |name: &str| {
        matches!(name, "model" | "date" | "cost" | "touched") && filter.get(name).is_none()
    };
    let select = |name: &str, label: &str, all: &str, values: &[(String, String)]| {
        let chosen = filter.get(name).unwrap_or("");
        html! {
            label.unseen for={ "filter-" (name) } { (label) }
            select.desk[is_rare(name)] id={ "filter-" (name) } name=(name) {
                option value="" { (all) }
                @for (value, word) in offered(values, chosen) { option value=(value) selected[value == chosen] { (foreign::cut(word, 40)) } }
            }
        }
    };
    let pairs = |map: &BTreeMap<String, String>| map.clone().into_iter().collect::<Vec<_>>();
    let check = |name: &str, word: &str, count: usize| {
        let class = match (name, count) {
            ("waiting", 1..) => "count",
            _ => "dim num",
        };
        html! {
            label.button.toggle { input type="checkbox" name=(name) value="1" checked[filter.get(name).is_some()]; (word) span.(class) { (grouped(count as u64)) } }
        }
    };
    let hidden = ["since", "until", "q"]
        .into_iter()
        .filter_map(|name| Some((name, filter.get(name)?)));
    html! {
        form.filters #filters method="get" action="/" aria-label="Filters" {
            @if moment.is_chosen { input type="hidden" name="at" value=(moment.position); }
            @for (name, value) in hidden { input type="hidden" name=(name) value=(value); }
            @for name in ["sort", "order", "stack"] { @if let Some(value) = params.get(name) { input type="hidden" name=(name) value=(value); } }
            (select("project", "Project", "All projects", &pairs(&choices.projects)))
            (select("agent", "Agent", "All agents", &pairs(&choices.agents)))
            (select("model", "Model", "All models", &pairs(&choices.models)))
            (select("date", "Date", "Any date", &choices.dates))
            (select("cost", "Cost", "Any cost", &choices.costs))
            label.unseen for="filter-touched" { "Touched file" }
            input.path.desk[is_rare("touched")] #filter-touched name="touched" value=[filter.get("touched")] placeholder="touched file, *.ts" maxlength="500" autocomplete="off";
            (check("waiting", "Waiting sessions", waiting))
            (check("failed", "Failed", failed))
            button.button.unscripted type="submit" { "Filter" }
            span.result { (grouped(list.total as u64)) " of " (counted(list.all as u64, "session", "sessions")) }
        }
        (active(filter, moment))
    }
}

/// The values of a filter that are listed, with the chosen one among them.
fn offered<'a>(values: &'a [(String, String)], chosen: &str) -> Vec<&'a (String, String)> {
    let first = values.iter().take(LISTED);
    let other = values.iter().skip(LISTED);
    first
        .chain(other.filter(|(value, _)| value == chosen))
        .collect()
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

    fn read(pairs: &[(&str, &str)]) -> Result<Filter, Problem> {
        let now = chrono::DateTime::parse_from_rfc3339("2026-11-28T12:00:00Z").unwrap();
        Filter::read(&Params::of(pairs), Timestamp::from(now.to_utc()))
    }

    #[test]
    fn costs_have_bounds() {
        for (text, least, most, words) in [
            ("1", Some(1_000_000), None, "$1 and more"),
            ("0.10", Some(100_000), None, "$0.1 and more"),
            ("2..", Some(2_000_000), None, "$2 and more"),
            ("..1", None, Some(1_000_000), "Up to $1"),
            ("1..5.25", Some(1_000_000), Some(5_250_000), "$1 to $5.25"),
        ] {
            let bounds = CostBounds::read(text).unwrap();
            assert_eq!(bounds, CostBounds { least, most }, "{text}");
            assert_eq!(bounds.in_words(), words);
        }
        for bad in ["..", ".5", "-1", "1..2..3", "1e9", "free", "1...2"] {
            assert!(CostBounds::read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_date_is_one_day_or_a_number_of_days() {
        let day = read(&[("date", "2026-11-27")]).unwrap();
        assert_eq!(day.day(), "2026-11-27".parse().ok());
        assert!(day.since.is_none());
        let (begins, ends) = day.between.unwrap();
        assert_eq!((ends.to_utc() - begins.to_utc()).num_hours(), 24);
        let days = read(&[("date", "7d")]).unwrap();
        assert!(days.day().is_none() && days.between.is_none() && days.since.is_some());
    }

    #[test]
    fn the_command_lists_the_same() {
        for (pairs, command) in [
            (&[][..], "annals ls"),
            (&[("date", "2026-11-27")], "annals ls --on '2026-11-27'"),
            (
                &[("date", "7d"), ("since", "30d")],
                "annals ls --since '7d'",
            ),
            (
                &[("cost", "0.5..5"), ("failed", "1")],
                "annals ls --min-cost '0.5' --max-cost '5' --failed",
            ),
            (&[("q", "it's")], "annals ls --text 'it'\\''s'"),
            (&[("sort", "active")], "annals ls --sort 'duration'"),
            (
                &[("sort", "title"), ("order", "desc")],
                "annals ls --sort 'title' --reverse",
            ),
        ] {
            assert_eq!(read(pairs).unwrap().command(), command);
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
        for (name, value) in [
            ("sort", "x"),
            ("order", "up"),
            ("date", "soon"),
            ("cost", "free"),
            ("until", "x"),
        ] {
            let problem = read(&[(name, value)]).unwrap_err();
            assert_eq!(problem.status.as_u16(), 400, "{name}");
        }
    }
}
