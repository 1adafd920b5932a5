//! Cells grouped by axes, priced, and added up.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::str::FromStr;

use annals_domain::{REMOVED, Timestamp};
use chrono::NaiveDate;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use uuid::Uuid;

use super::cell::{CostCell, Quarter, TokenSums, Used};
use super::prices::{Price, PriceRow, PriceTable};
use super::zone::CostZone;
use crate::catalogue::ActorName;
use crate::naming::project_label;

/// What costs are grouped by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CostAxis {
    /// The day.
    Day,
    /// The model.
    Model,
    /// Who recorded it.
    Actor,
    /// The run.
    Run,
    /// The run's task.
    Task,
    /// The intent of the task, or of the nearest task above it that has one.
    Intent,
    /// The project: the directory in which the session at the top works.
    Project,
    /// The agent.
    Agent,
    /// The session.
    Session,
    /// The task, with what its sub-agents cost beside it.
    SubAgent,
}

impl CostAxis {
    /// All of them.
    pub const ALL: [CostAxis; 10] = [
        CostAxis::Day,
        CostAxis::Project,
        CostAxis::Model,
        CostAxis::Agent,
        CostAxis::Session,
        CostAxis::SubAgent,
        CostAxis::Actor,
        CostAxis::Run,
        CostAxis::Task,
        CostAxis::Intent,
    ];

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            CostAxis::Day => "day",
            CostAxis::Model => "model",
            CostAxis::Actor => "actor",
            CostAxis::Run => "run",
            CostAxis::Task => "task",
            CostAxis::Intent => "intent",
            CostAxis::Project => "project",
            CostAxis::Agent => "agent",
            CostAxis::Session => "session",
            CostAxis::SubAgent => "sub-agent",
        }
    }

    /// Whether only the run says it.
    pub fn is_of_run(self) -> bool {
        match self {
            CostAxis::Day | CostAxis::Model | CostAxis::Actor => false,
            CostAxis::Run
            | CostAxis::Task
            | CostAxis::Intent
            | CostAxis::Project
            | CostAxis::Agent
            | CostAxis::Session
            | CostAxis::SubAgent => true,
        }
    }

    /// Returns `true` if its values are ids of objects.
    pub fn is_of_objects(self) -> bool {
        match self {
            CostAxis::Day
            | CostAxis::Model
            | CostAxis::Actor
            | CostAxis::Project
            | CostAxis::Agent
            | CostAxis::Session => false,
            CostAxis::Run | CostAxis::Task | CostAxis::Intent | CostAxis::SubAgent => true,
        }
    }
}

impl fmt::Display for CostAxis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for CostAxis {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// A text that names no axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected day, model, actor, run, task, intent, project, agent, session or sub-agent")]
pub struct UnknownAxis;

impl FromStr for CostAxis {
    type Err = UnknownAxis;

    fn from_str(text: &str) -> Result<CostAxis, UnknownAxis> {
        let mut all = CostAxis::ALL.into_iter();
        all.find(|axis| axis.as_str() == text).ok_or(UnknownAxis)
    }
}

/// Tokens and money, added up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CostSums {
    /// What was recorded.
    pub used: Used,
    /// What the tokens cost by the table of prices, in millionths of its currency.
    pub computed_micros: u128,
    /// Tokens that the table has no price for.
    pub unpriced_tokens: u128,
    /// Searches of the web that the table has no price for.
    pub unpriced_searches: u128,
}

impl CostSums {
    /// Adds more.
    pub fn add(&mut self, more: &CostSums) {
        self.used.add(&more.used);
        self.computed_micros = self.computed_micros.saturating_add(more.computed_micros);
        self.unpriced_tokens = self.unpriced_tokens.saturating_add(more.unpriced_tokens);
        self.unpriced_searches = self
            .unpriced_searches
            .saturating_add(more.unpriced_searches);
    }

    /// Returns `true` if something of it has no price.
    pub fn is_partly_unpriced(&self) -> bool {
        (self.unpriced_tokens, self.unpriced_searches) != (0, 0)
    }

    /// What the agents' programs said, in millionths of a USD; `None` where they said nothing.
    pub fn recorded_micros(&self) -> Option<u128> {
        (self.used.with_cost > 0).then_some(self.used.recorded_micros)
    }

    fn entries<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        let TokenSums {
            uncached_input_tokens,
            cache_read_tokens,
            cache_write_tokens,
            cache_write_1h_tokens,
            output_tokens,
            reasoning_tokens,
        } = self.used.tokens;
        let counts = [
            ("uncached_input_tokens", uncached_input_tokens),
            ("cache_read_tokens", cache_read_tokens),
            ("cache_write_tokens", cache_write_tokens),
            ("cache_write_1h_tokens", cache_write_1h_tokens),
            ("output_tokens", output_tokens),
            ("reasoning_tokens", reasoning_tokens),
            ("total_tokens", self.used.tokens.total()),
            ("unpriced_tokens", self.unpriced_tokens),
            ("web_searches", self.used.web_searches),
            ("unpriced_web_searches", self.unpriced_searches),
            ("computed_micros", self.computed_micros),
        ];
        for (name, count) in counts {
            map.serialize_entry(name, &count)?;
        }
        map.serialize_entry("recorded_usd_micros", &self.recorded_micros())?;
        map.serialize_entry("usages", &self.used.usages)?;
        map.serialize_entry("usages_with_recorded_cost", &self.used.with_cost)
    }
}

impl Serialize for CostSums {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.entries(&mut map)?;
        map.end()
    }
}

/// What a row is of, on one axis.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CostKey {
    /// The axis.
    pub axis: CostAxis,
    /// The day, the model, the object's id: `None` where there is none, or it is not known.
    pub value: Option<String>,
    /// What an object is called.
    pub title: Option<String>,
}

/// A row of a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CostRow {
    /// What it is of, in the order of the report's axes.
    pub by: Vec<CostKey>,
    /// What that cost.
    pub sums: CostSums,
    /// Of a task by sub-agents, how many tasks it is below.
    pub depth: usize,
    /// Of a task by sub-agents, the same with all that is below it.
    pub with_sub_agents: Option<CostSums>,
}

impl Serialize for CostRow {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let by: BTreeMap<_, _> = self
            .by
            .iter()
            .map(|it| (it.axis.as_str(), &it.value))
            .collect();
        map.serialize_entry("by", &by)?;
        let title = |it: &'_ CostKey| Some((it.axis.as_str(), it.title.clone()?));
        let titles: BTreeMap<_, _> = self.by.iter().filter_map(title).collect();
        map.serialize_entry("titles", &titles)?;
        self.sums.entries(&mut map)?;
        if let Some(with) = &self.with_sub_agents {
            map.serialize_entry("depth", &self.depth)?;
            map.serialize_entry("with_sub_agents", with)?;
        }
        map.end()
    }
}

/// A model of which tokens, or searches of the web, have no price.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnpricedModel {
    /// Its name; `None` where it is not known.
    pub model: Option<String>,
    /// How many tokens.
    pub tokens: u128,
    /// How many searches of the web.
    pub web_searches: u128,
}

/// What a row of the table of prices was used for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsedPrice {
    /// The model.
    pub model: String,
    /// The row.
    pub row: PriceRow,
    /// The tokens that it priced, and their cost.
    pub sums: CostSums,
}

impl Serialize for UsedPrice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("model", &self.model)?;
        map.serialize_entry("from", &self.row.from)?;
        let Price {
            input,
            cache_read,
            cache_write,
            cache_write_1h,
            output,
            web_search,
        } = self.row.price;
        let amounts = [
            ("input", Some(input)),
            ("cache_read", cache_read),
            ("cache_write", cache_write),
            ("cache_write_1h", cache_write_1h),
            ("output", Some(output)),
        ];
        let amounts: BTreeMap<_, _> = amounts.into_iter().collect();
        map.serialize_entry("micros_for_a_million_tokens", &amounts)?;
        map.serialize_entry("micros_for_a_thousand_web_searches", &web_search)?;
        map.serialize_entry("source", &self.row.source)?;
        self.sums.entries(&mut map)?;
        map.end()
    }
}

/// What agents' work cost, by axes. The rows add up to the total.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CostReport {
    /// The currency of what was computed.
    pub currency: String,
    /// The day as of which the prices are.
    pub prices_as_of: NaiveDate,
    /// Whose days count.
    #[serde(serialize_with = "zone")]
    pub time_zone: CostZone,
    /// Only what was used from here on.
    pub since: Option<Timestamp>,
    /// Only what was used before.
    pub until: Option<Timestamp>,
    /// The axes.
    pub by: Vec<CostAxis>,
    /// By day in the order of time, else those first that cost most; by sub-agent each behind what it is below.
    pub rows: Vec<CostRow>,
    /// All of it.
    pub total: CostSums,
    /// The models of which the table has no price, for the day of use or for a sort of tokens.
    pub unpriced: Vec<UnpricedModel>,
    /// The prices by which the cost was computed, by model and day. They add up to the total, but for models without a
    /// price.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub prices: Vec<UsedPrice>,
}

fn zone<S: Serializer>(zone: &CostZone, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(zone)
}

/// What a run belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunPlace {
    /// Its task.
    pub task: Option<Uuid>,
    /// Its intent.
    pub intent: Option<Uuid>,
    /// Its session, by the name that it has.
    pub session: Option<String>,
    /// The project's path: that of the session at the top.
    pub project: Option<String>,
    /// The agent.
    pub agent: Option<String>,
}

/// The project of a run from which the project's path was removed.
pub const REMOVED_PROJECT: &str = REMOVED;

/// What is known of the runs of a report, of their tasks and of their intents.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Family {
    /// What each run belongs to.
    pub runs: HashMap<Uuid, RunPlace>,
    /// The task that a task is a part of.
    pub parents: HashMap<Uuid, Uuid>,
    /// What tasks and intents are called.
    pub titles: HashMap<Uuid, String>,
}

/// What a group has in common; what no axis asks for is left out.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
struct Group {
    day: Option<NaiveDate>,
    model: Option<String>,
    actor: Option<ActorName>,
    run: Option<Uuid>,
}

/// Cells by what axes ask for, as far as the cells themselves know it.
#[derive(Debug, Clone, Default)]
pub struct CostGroups {
    groups: HashMap<Group, CostSums>,
    /// Of each model, tokens and searches of the web.
    unpriced: BTreeMap<Option<String>, (u128, u128)>,
    prices: BTreeMap<(String, NaiveDate), UsedPrice>,
}

impl CostGroups {
    /// Prices a cell, and adds it to its group.
    pub fn add(&mut self, cell: CostCell, by: &[CostAxis], zone: CostZone, prices: &PriceTable) {
        let sums = priced(cell.model.as_deref(), cell.quarter, cell.used, prices);
        if sums.is_partly_unpriced() {
            let (tokens, searches) = self.unpriced.entry(cell.model.clone()).or_default();
            *tokens = tokens.saturating_add(sums.unpriced_tokens);
            *searches = searches.saturating_add(sums.unpriced_searches);
        }
        let has = |axis| by.contains(&axis);
        let group = Group {
            day: has(CostAxis::Day).then(|| zone.day(cell.quarter)),
            model: cell.model.filter(|_| has(CostAxis::Model)),
            actor: has(CostAxis::Actor).then_some(cell.actor),
            run: by.iter().any(|axis| axis.is_of_run()).then_some(cell.run),
        };
        self.groups.entry(group).or_default().add(&sums);
    }

    /// Notes by which row of the table a cell is priced, for [`CostGroups::prices`].
    pub fn explain(&mut self, cell: &CostCell, prices: &PriceTable) {
        let day = CostZone::Utc.day(cell.quarter);
        let row = cell
            .model
            .as_deref()
            .and_then(|model| prices.row(model, day));
        let (Some(model), Some(row)) = (&cell.model, row) else {
            return;
        };
        let used = self.prices.entry((model.clone(), row.from));
        let used = used.or_insert_with(|| UsedPrice {
            model: model.clone(),
            row: row.clone(),
            sums: CostSums::default(),
        });
        let sums = priced(Some(model), cell.quarter, cell.used, prices);
        used.sums.add(&sums);
    }

    /// The rows of the table by which the explained cells are priced.
    pub fn prices(&self) -> Vec<UsedPrice> {
        self.prices.values().cloned().collect()
    }

    /// The runs that axes ask for.
    pub fn runs(&self) -> Vec<Uuid> {
        let runs: HashSet<Uuid> = self.groups.keys().filter_map(|group| group.run).collect();
        runs.into_iter().collect()
    }

    /// The sum of all groups.
    pub fn total(&self) -> CostSums {
        let mut total = CostSums::default();
        self.groups.values().for_each(|sums| total.add(sums));
        total
    }

    /// The models without a price.
    pub fn unpriced(&self) -> Vec<UnpricedModel> {
        let unpriced = self.unpriced.iter();
        let models = unpriced.map(|(model, (tokens, web_searches))| UnpricedModel {
            model: model.clone(),
            tokens: *tokens,
            web_searches: *web_searches,
        });
        models.collect()
    }

    /// The rows by these axes, which must be those of [`CostGroups::add`]; none by no axis.
    pub fn rows(&self, by: &[CostAxis], family: &Family) -> Vec<CostRow> {
        if by.contains(&CostAxis::SubAgent) {
            return Tree::of(&self.groups, family).rows();
        }
        if by.is_empty() {
            return Vec::new();
        }
        let mut sums: BTreeMap<Vec<CostKey>, CostSums> = BTreeMap::new();
        for (group, more) in &self.groups {
            let keys = by.iter().map(|axis| group.key(*axis, family)).collect();
            sums.entry(keys).or_default().add(more);
        }
        let mut rows: Vec<CostRow> = sums
            .into_iter()
            .map(|(by, sums)| CostRow {
                by,
                sums,
                depth: 0,
                with_sub_agents: None,
            })
            .collect();
        if by.first() != Some(&CostAxis::Day) {
            // It is stable: those that cost the same stay in the order of their keys.
            rows.sort_by_key(|row| std::cmp::Reverse(weight(&row.sums)));
        }
        rows
    }
}

/// What is more comes first.
fn weight(sums: &CostSums) -> (u128, u128) {
    (sums.computed_micros, sums.used.tokens.total())
}

/// The money of what was used of a model. Prices are those of the day of use, by UTC.
pub(crate) fn priced(
    model: Option<&str>,
    quarter: Quarter,
    used: Used,
    prices: &PriceTable,
) -> CostSums {
    let day = CostZone::Utc.day(quarter);
    let (of_tokens, unpriced_tokens) = prices.cost(model, day, &used.tokens);
    let (of_searches, unpriced_searches) = prices.search_cost(model, day, used.web_searches);
    CostSums {
        used,
        computed_micros: of_tokens.saturating_add(of_searches),
        unpriced_tokens,
        unpriced_searches,
    }
}

impl Group {
    fn key(&self, axis: CostAxis, family: &Family) -> CostKey {
        let place = self.run.and_then(|run| family.runs.get(&run));
        let object = |id: Option<Uuid>| {
            let title = id.and_then(|id| family.titles.get(&id).cloned());
            (id.map(|id| id.to_string()), title)
        };
        let task = place.and_then(|place| place.task);
        let (value, title) = match axis {
            CostAxis::Day => (self.day.map(|day| day.to_string()), None),
            CostAxis::Model => (self.model.clone(), None),
            CostAxis::Actor => {
                let name = |actor: &ActorName| format!("{}:{}", actor.kind, actor.id);
                (self.actor.as_ref().map(name), None)
            }
            CostAxis::Run => {
                let (_, title) = object(task);
                (self.run.map(|run| run.to_string()), title)
            }
            CostAxis::Task | CostAxis::SubAgent => object(task),
            CostAxis::Intent => object(place.and_then(|place| place.intent)),
            CostAxis::Session => (place.and_then(|place| place.session.clone()), None),
            CostAxis::Agent => (place.and_then(|place| place.agent.clone()), None),
            CostAxis::Project => {
                let project = place.and_then(|place| place.project.as_deref());
                let label = project.map(|path| project_label(path).to_owned());
                (project.map(str::to_owned), label)
            }
        };
        CostKey { axis, value, title }
    }
}

/// Tasks with what each cost by itself, and what is below which.
struct Tree<'a> {
    family: &'a Family,
    own: HashMap<Option<Uuid>, CostSums>,
    /// Of each task those below it; of `None` those below no other.
    below: BTreeMap<Option<Uuid>, Vec<Option<Uuid>>>,
}

impl<'a> Tree<'a> {
    fn of(groups: &HashMap<Group, CostSums>, family: &'a Family) -> Tree<'a> {
        let mut own: HashMap<Option<Uuid>, CostSums> = HashMap::new();
        for (group, sums) in groups {
            let place = group.run.and_then(|run| family.runs.get(&run));
            let task = place.and_then(|place| place.task);
            own.entry(task).or_default().add(sums);
        }
        let mut below: BTreeMap<Option<Uuid>, Vec<Option<Uuid>>> = BTreeMap::new();
        let mut placed: HashSet<Uuid> = HashSet::new();
        for task in own.keys() {
            let mut task = *task;
            let mut way: HashSet<Uuid> = HashSet::new();
            // Up to a task that has its place, or to one without another above it. What was adopted may go in a circle.
            while let Some(id) = task {
                if !placed.insert(id) {
                    break;
                }
                way.insert(id);
                let above = family.parents.get(&id).copied();
                let above = above.filter(|above| !way.contains(above));
                below.entry(above).or_default().push(Some(id));
                task = above;
            }
        }
        if own.contains_key(&None) {
            below.entry(None).or_default().push(None);
        }
        Tree { family, own, below }
    }

    fn rows(&self) -> Vec<CostRow> {
        let totals = self.totals();
        let mut rows = Vec::new();
        let mut next = self.sorted(None, &totals);
        next.reverse();
        let mut stack: Vec<(Option<Uuid>, usize)> =
            next.into_iter().map(|task| (task, 0)).collect();
        while let Some((task, depth)) = stack.pop() {
            rows.push(CostRow {
                by: vec![CostKey {
                    axis: CostAxis::SubAgent,
                    value: task.map(|task| task.to_string()),
                    title: task.and_then(|task| self.family.titles.get(&task).cloned()),
                }],
                sums: self.own.get(&task).copied().unwrap_or_default(),
                depth,
                with_sub_agents: totals.get(&task).copied(),
            });
            if task.is_some() {
                let below = self.sorted(task, &totals).into_iter().rev();
                stack.extend(below.map(|task| (task, depth + 1)));
            }
        }
        rows
    }

    /// Those below a task, those first that cost most.
    fn sorted(
        &self,
        task: Option<Uuid>,
        totals: &HashMap<Option<Uuid>, CostSums>,
    ) -> Vec<Option<Uuid>> {
        let mut below = self.below.get(&task).cloned().unwrap_or_default();
        let total = |task: &Option<Uuid>| totals.get(task).copied().unwrap_or_default();
        below.sort_by_key(|task| (std::cmp::Reverse(weight(&total(task))), *task));
        below
    }

    /// What each task cost with all that is below it.
    fn totals(&self) -> HashMap<Option<Uuid>, CostSums> {
        // Each behind what it is below, and so backward each before it.
        let mut order: Vec<(Option<Uuid>, Option<Uuid>)> = Vec::new();
        let roots = self.below.get(&None).into_iter().flatten();
        let mut stack: Vec<(Option<Uuid>, Option<Uuid>)> = roots.map(|it| (*it, None)).collect();
        while let Some((task, above)) = stack.pop() {
            order.push((task, above));
            if task.is_some() {
                let below = self.below.get(&task).into_iter().flatten();
                stack.extend(below.map(|below| (*below, task)));
            }
        }
        let mut totals = self.own.clone();
        for (task, above) in order.into_iter().rev() {
            let total = *totals.entry(task).or_default();
            if above.is_some() {
                totals.entry(above).or_default().add(&total);
            }
        }
        totals
    }
}
