//! What agents' work cost: tokens and money, by what it was spent on.

use std::collections::{HashMap, HashSet};

use annals_domain::{Kind, Timestamp};
use annals_event_log::{Classification, Classified, ErrorClass};
use annals_projections::{
    CostAxis, CostGroups, CostRange, CostReport, CostZone, Family, PlacedObject, PriceTable,
    Quarter, Relation, RunPlace, is_agent, is_project,
};
use derive_setters::Setters;
use uuid::Uuid;

use crate::{Annals, LoadError};

/// The name that external ids of sessions end with.
const SESSION_ID: &str = ".session";
/// How many tasks a task may be below.
const MOST_ABOVE: usize = 1_000;
/// Objects below one whose costs are asked for.
const MOST_BELOW: usize = 100_000;

/// What agents' work cost. [`Annals::costs`] gives it; `docs/costs.md` says what counts.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # futures::executor::block_on(async {
/// use annals::domain::ActorRef;
/// use annals::domain::run::RecordUsage;
/// use annals::projections::CostAxis;
/// use annals::{Annals, CostQuery, Request};
///
/// let annals = Annals::open("memory:").await?;
/// let agent = ActorRef::agent("coder");
/// let me = annals.by(&agent);
/// let intent = me.submit("Add pagination").await?;
/// me.analyze(intent, "GET /users takes offset and limit").await?;
/// let task = me.task(intent, "Paginate GET /users").await?;
/// let run = me.start_run(task, None, None).await?;
/// let used = RecordUsage::new(run, 1_000, 200).with_model("claude-opus-4-5".to_owned());
/// annals.execute(Request::new(agent.clone(), used)).await?;
///
/// let report = annals.costs().report(&CostQuery::by([CostAxis::Model])).await?;
/// assert_eq!(report.rows.len(), 1);
/// assert_eq!(report.total.computed_micros, 1_000 * 5 + 200 * 25);
/// # Ok(())
/// # })
/// # }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Costs<'a> {
    pub(crate) annals: &'a Annals,
}

impl Annals {
    /// What agents' work cost.
    pub fn costs(&self) -> Costs<'_> {
        Costs { annals: self }
    }

    /// Lets the rows of costs follow what is appended, now and then. As with the catalogue, nothing fails for it.
    pub(crate) async fn keep_up_costs(&self) {
        if let Err(error) = self.costs.keep_up(self.log.as_ref()).await {
            tracing::debug!(%error, "the rows of costs do not keep up");
        }
    }
}

/// Which costs, and by what: all of them in one sum, unless more is said.
#[derive(Debug, Clone, Default, Setters)]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct CostQuery {
    /// By what; a day in each row, a model in each, or both. [`CostAxis::SubAgent`] is by itself.
    pub by: Vec<CostAxis>,
    /// Only what was used from here on: the beginning of a quarter of an hour.
    #[setters(into)]
    pub since: Option<Timestamp>,
    /// Only what was used before: the beginning of a quarter of an hour.
    #[setters(into)]
    pub until: Option<Timestamp>,
    /// Whose days count.
    pub zone: CostZone,
    /// Only what belongs to this run, task (with its sub-agents), intent or session.
    #[setters(into)]
    pub of: Option<Uuid>,
    /// Only the work in this project: its path, a path above it, or its name.
    #[setters(into)]
    pub project: Option<String>,
    /// Only the work of this agent: its key or its name.
    #[setters(into)]
    pub agent: Option<String>,
    /// The prices; left out, those that come with this version.
    #[setters(into)]
    pub prices: Option<PriceTable>,
    /// List the prices that were used.
    pub explain_prices: bool,
}

impl CostQuery {
    /// All costs by these axes.
    pub fn by(by: impl Into<Vec<CostAxis>>) -> CostQuery {
        CostQuery::default().with_by(by.into())
    }

    fn prices(&self) -> &PriceTable {
        match &self.prices {
            Some(prices) => prices,
            None => PriceTable::standard(),
        }
    }
}

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CostError {
    /// The log, the catalogue or the rows of costs could not be read.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// Costs are kept by the quarter of an hour.
    #[error(
        "{time} begins no quarter of an hour, by which costs are kept: name a day, or a time such as 10:00, 10:15, 10:30 or 10:45"
    )]
    NotAQuarter {
        /// The time.
        time: Timestamp,
    },
    /// An axis that goes with no other one, or one that is there twice.
    #[error("costs by {axis} go with no other axis: ask for them by themselves")]
    Axes {
        /// The axis.
        axis: CostAxis,
    },
    /// There is no such object.
    #[error("there is no object {id}")]
    NotFound {
        /// The id.
        id: Uuid,
    },
    /// An object that no run belongs to.
    #[error(
        "{id} is a {}, to which no costs belong: name a run, a task, an intent or a session",
        kind.object_type()
    )]
    Kind {
        /// The id.
        id: Uuid,
        /// What it is.
        kind: Kind,
    },
}

impl Classified for CostError {
    fn classify(&self) -> Classification {
        match self {
            CostError::Load(error) => error.classify(),
            CostError::NotAQuarter { .. } | CostError::Axes { .. } => {
                ErrorClass::Invalid.code("invalid_query")
            }
            CostError::NotFound { .. } => ErrorClass::NotFound.code("not_found"),
            CostError::Kind { .. } => ErrorClass::Invalid.code("wrong_kind"),
        }
    }
}

impl Costs<'_> {
    /// The costs that a query asks for.
    ///
    /// # Errors
    /// [`CostError`].
    pub async fn report(self, query: &CostQuery) -> Result<CostReport, CostError> {
        check_axes(&query.by)?;
        let range = CostRange::new(quarter(query.since)?, quarter(query.until)?);
        self.annals.reach().await?;
        let runs = match query.of {
            Some(id) => Some(self.runs_of(id).await?),
            None => None,
        };
        let range = range.with_runs(runs);
        let range = match query.project.is_some() || query.agent.is_some() {
            true => {
                let runs = self.runs_that_match(query, &range).await?;
                range.with_runs(Some(runs))
            }
            false => range,
        };
        let (log, prices) = (self.annals.log.as_ref(), query.prices());
        let add = |groups: &mut CostGroups, cell| {
            if query.explain_prices {
                groups.explain(&cell, prices);
            }
            groups.add(cell, &query.by, query.zone, prices);
        };
        let costs = &self.annals.costs;
        let folded = costs.fold(log, &range, add).await;
        let groups: CostGroups = folded.map_err(LoadError::from)?;
        let family = self.family(groups.runs(), &query.by).await?;
        Ok(CostReport {
            currency: prices.currency().to_owned(),
            prices_as_of: prices.as_of(),
            time_zone: query.zone,
            since: query.since,
            until: query.until,
            by: query.by.clone(),
            rows: groups.rows(&query.by, &family),
            total: groups.total(),
            unpriced: groups.unpriced(),
            prices: groups.prices(),
        })
    }

    /// The runs of a range whose project and agent are those of the query, as the axes name them.
    async fn runs_that_match(
        self,
        query: &CostQuery,
        range: &CostRange,
    ) -> Result<Vec<Uuid>, CostError> {
        let (log, prices) = (self.annals.log.as_ref(), query.prices());
        let add = |groups: &mut CostGroups, cell| {
            groups.add(cell, &[CostAxis::Run], query.zone, prices);
        };
        let folded = self.annals.costs.fold(log, range, add).await;
        let groups: CostGroups = folded.map_err(LoadError::from)?;
        let axes = [CostAxis::Project, CostAxis::Agent];
        let family = self.family(groups.runs(), &axes).await?;
        let is_match = |place: &RunPlace| {
            let is_project = |wanted: &str| {
                let project = place.project.as_deref();
                project.is_some_and(|path| is_project(path, wanted))
            };
            let is_agent = |wanted: &str| {
                let agent = place.agent.as_deref();
                agent.is_some_and(|agent| is_agent(agent, wanted))
            };
            query.project.as_deref().is_none_or(is_project)
                && query.agent.as_deref().is_none_or(is_agent)
        };
        let runs = family.runs.iter().filter(|(_, place)| is_match(place));
        Ok(runs.map(|(run, _)| *run).collect())
    }

    async fn placed(
        self,
        ids: &[Uuid],
        with_external_ids: bool,
    ) -> Result<Vec<PlacedObject>, CostError> {
        self.annals.catch_up().await?;
        let (catalogue, log) = (&self.annals.catalogue, self.annals.log.as_ref());
        let placed = catalogue.placed(log, ids, with_external_ids).await;
        Ok(placed.map_err(LoadError::from)?)
    }

    /// What the runs of a report belong to.
    async fn family(self, runs: Vec<Uuid>, by: &[CostAxis]) -> Result<Family, CostError> {
        if runs.is_empty() {
            return Ok(Family::default());
        }
        let of_sessions = by.contains(&CostAxis::Session);
        let has_names = of_sessions || by.contains(&CostAxis::Agent);
        let runs = self.placed(&runs, false).await?;
        let tasks = runs.iter().filter_map(|run| run.link(Relation::RunTask));
        let tasks = self.with_those_above(tasks.collect(), has_names).await?;
        let mut family = Family::default();
        for task in tasks.values() {
            let above = task.link(Relation::TaskParent);
            family.parents.extend(above.map(|above| (task.id, above)));
            let title = task.title.as_ref().map(ToString::to_string);
            family.titles.extend(title.map(|title| (task.id, title)));
        }
        for run in &runs {
            let task = run.link(Relation::RunTask);
            let of_task = task.map(|task| place(task, &tasks)).unwrap_or_default();
            let mut of_run = RunPlace { task, ..of_task };
            if of_sessions {
                let index = self.annals.index();
                let named = index.naming(run.id, Relation::SessionRuns, 1).await?;
                let named = named.first().map(ToString::to_string);
                of_run.session = named.or(of_run.session);
            }
            family.runs.insert(run.id, of_run);
        }
        if by.contains(&CostAxis::Project) {
            self.name_projects(&mut family).await?;
        }
        if by.contains(&CostAxis::Intent) {
            let intents = family.runs.values().filter_map(|place| place.intent);
            let intents: HashSet<Uuid> = intents.collect();
            let intents: Vec<Uuid> = intents.into_iter().collect();
            for intent in self.placed(&intents, false).await? {
                let title = intent.title.as_ref().map(ToString::to_string);
                family.titles.extend(title.map(|title| (intent.id, title)));
            }
        }
        Ok(family)
    }

    /// Adds the project to each run: that of the session at the top, also for runs of sub-agents.
    async fn name_projects(self, family: &mut Family) -> Result<(), CostError> {
        let tops: HashMap<Uuid, Uuid> = family
            .runs
            .iter()
            .filter_map(|(run, place)| Some((*run, top(place.task?, &family.parents))))
            .collect();
        let all: HashSet<Uuid> = tops.values().copied().collect();
        let projects = self.annals.projects_of(all).await?;
        for (run, place) in &mut family.runs {
            place.project = match tops.get(run) {
                Some(top) => projects.get(top).cloned(),
                None => self.annals.project_of_run(*run).await?,
            };
        }
        Ok(())
    }

    /// Tasks, and those that they are a part of.
    async fn with_those_above(
        self,
        tasks: Vec<Uuid>,
        with_external_ids: bool,
    ) -> Result<HashMap<Uuid, PlacedObject>, CostError> {
        let mut known: HashMap<Uuid, PlacedObject> = HashMap::new();
        let mut next: HashSet<Uuid> = tasks.into_iter().collect();
        for _ in 0..MOST_ABOVE {
            next.retain(|task| !known.contains_key(task));
            if next.is_empty() {
                break;
            }
            let ids: Vec<Uuid> = next.drain().collect();
            for task in self.placed(&ids, with_external_ids).await? {
                next.extend(task.link(Relation::TaskParent));
                known.insert(task.id, task);
            }
        }
        Ok(known)
    }

    /// The runs that belong to an object.
    async fn runs_of(self, id: Uuid) -> Result<Vec<Uuid>, CostError> {
        let found = self.placed(&[id], false).await?.pop();
        let kind = found.ok_or(CostError::NotFound { id })?.kind;
        let index = self.annals.index();
        let tasks = match kind {
            Kind::Run => return Ok(vec![id]),
            Kind::Session => {
                let runs = index.named(id, Relation::SessionRuns, MOST_BELOW).await?;
                return Ok(unique(runs));
            }
            Kind::Task => vec![id],
            Kind::Intent => {
                let mut tasks = index.naming(id, Relation::TaskIntent, MOST_BELOW).await?;
                tasks.extend(index.naming(id, Relation::TaskPartOf, MOST_BELOW).await?);
                tasks
            }
            kind => return Err(CostError::Kind { id, kind }),
        };
        let mut runs = Vec::new();
        let (mut next, mut seen) = (tasks, HashSet::new());
        while let Some(task) = next.pop() {
            if !seen.insert(task) || seen.len() > MOST_BELOW {
                continue;
            }
            runs.extend(index.naming(task, Relation::RunTask, MOST_BELOW).await?);
            next.extend(index.naming(task, Relation::TaskParent, MOST_BELOW).await?);
        }
        Ok(unique(runs))
    }
}

fn unique(runs: Vec<Uuid>) -> Vec<Uuid> {
    let mut seen = HashSet::new();
    runs.into_iter().filter(|run| seen.insert(*run)).collect()
}

/// The task at the top, above which is no other one. What was adopted may go in a circle.
fn top(task: Uuid, parents: &HashMap<Uuid, Uuid>) -> Uuid {
    let (mut top, mut seen) = (task, HashSet::new());
    while let Some(above) = parents.get(&top).filter(|_| seen.insert(top)) {
        top = *above;
    }
    top
}

/// What a task belongs to, or the nearest one above it that says so.
fn place(task: Uuid, tasks: &HashMap<Uuid, PlacedObject>) -> RunPlace {
    let mut place = RunPlace::default();
    let (mut next, mut seen) = (tasks.get(&task), HashSet::new());
    while let Some(task) = next.filter(|task| seen.insert(task.id)) {
        let intent = task.link(Relation::TaskIntent);
        let intent = intent.or_else(|| task.link(Relation::TaskPartOf));
        place.intent = place.intent.or(intent);
        if place.session.is_none() {
            let mut names = task.external_ids.iter();
            let session = names.find_map(|(name, id)| Some((name.strip_suffix(SESSION_ID)?, id)));
            if let Some((agent, session)) = session {
                place.session = Some(session.clone());
                place.agent = Some(agent.to_owned());
            }
        }
        let above = task.link(Relation::TaskParent);
        next = above.and_then(|above| tasks.get(&above));
    }
    place
}

fn quarter(time: Option<Timestamp>) -> Result<Option<Quarter>, CostError> {
    let quarter = |time| Quarter::beginning_at(time).ok_or(CostError::NotAQuarter { time });
    time.map(quarter).transpose()
}

fn check_axes(by: &[CostAxis]) -> Result<(), CostError> {
    let mut seen = HashSet::new();
    for axis in by {
        let is_alone = *axis != CostAxis::SubAgent || by.len() == 1;
        if !is_alone || !seen.insert(*axis) {
            return Err(CostError::Axes { axis: *axis });
        }
    }
    Ok(())
}
