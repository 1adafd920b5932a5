//! Tool calls: what was decided on them, and why one was allowed or denied.

use std::collections::BTreeSet;

use annals_domain::run::{CallStatus, ToolVerdict};
use annals_domain::{ActorRef, AnyEvent, Kind, RunId, Timestamp, ToolInvocationId, run};
use annals_event_log::Position;
use annals_projections::{
    DecisionPlace, DecisionsQuery, Entry, FileInForceView, Fold, GrantUses, JsonText, ObjectView,
    Relation, Text, ToolDecisionView, ToolInvocationView, history_entry,
};
use serde::{Serialize, Serializer};
use uuid::Uuid;

use crate::{Annals, At, LoadError, ObjectRef, SeenWindow, ViewError};

/// Decisions of a run that are looked at for one that says what was in force.
const LOOK_BACK: usize = 1_000;
/// The last decisions of a run of which one is likely to say what is in force.
const LAST: usize = 64;
/// Runs of an object that are looked at.
const MOST_RUNS: usize = 10_000;

/// Tool calls: what was decided on them, by what, and what was in force. [`Annals::tool_calls`] gives it.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # futures::executor::block_on(async {
/// use annals::domain::ActorRef;
/// use annals::domain::run::{DecideToolCall, RequestToolCall, ToolDecider, ToolVerdict};
/// use annals::projections::DecisionsQuery;
/// use annals::{Annals, Request};
///
/// let annals = Annals::open("memory:").await?;
/// let agent = ActorRef::agent("coder");
/// let me = annals.by(&agent);
/// let intent = me.submit("Tidy up").await?;
/// me.analyze(intent, "Delete what the build made").await?;
/// let task = me.task(intent, "Delete target").await?;
/// let run = me.start_run(task, None, None).await?;
///
/// let request = RequestToolCall::new(run, "bash");
/// let done = annals.execute(Request::new(agent.clone(), request)).await?;
/// let call = done.id.ok_or("a call has an id")?.into();
/// let deny = DecideToolCall::new(run, call, ToolVerdict::Deny, ToolDecider::Rule)
///     .with_by_name("bash(rm:*)".to_owned())
///     .with_source(".agent/settings.json".to_owned());
/// annals.execute(Request::new(agent.clone(), deny)).await?;
///
/// let query = DecisionsQuery::default().with_verdicts(vec![ToolVerdict::Deny]);
/// let denied = annals.tool_calls().decisions(&query).await?;
/// assert_eq!(denied.rows[0].call, call);
/// let why = annals.tool_calls().why(call).await?;
/// assert_eq!(why.verdict.map(|verdict| verdict.verdict), Some(ToolVerdict::Deny));
/// # Ok(())
/// # })
/// # }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct ToolCalls<'a> {
    annals: &'a Annals,
}

/// A decision on a tool call, and what call it was.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DecidedCall {
    /// The call.
    pub call: ToolInvocationId,
    /// Its run.
    pub run: RunId,
    /// The tool's name, as it was when the call was decided on.
    pub tool: Text,
    /// Its arguments, as they were when the call was decided on.
    pub args: Option<JsonText>,
    /// Whether another name or other arguments were recorded under the call's id after a decision; [`ToolCalls::why`] has
    /// them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub recorded_otherwise: bool,
    /// Where the call is in its life now.
    pub status: CallStatus,
    /// What was decided.
    #[serde(flatten)]
    pub decision: ToolDecisionView,
    /// Of a permission that later calls can rest on, how often it was used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uses: Option<GrantUses>,
}

/// Part of a list of decisions.
#[derive(Debug, Clone, PartialEq)]
pub struct DecidedCalls {
    /// The decisions, in the order of their positions.
    pub rows: Vec<DecidedCall>,
    /// Where the list goes on, if there is more of it.
    pub next: Option<Position>,
}

/// The settings and policy files that were in force, and which decision states them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct InForce {
    /// The call whose decision states them: this one, or an earlier one of its run.
    pub stated_with: ToolInvocationId,
    /// The position of that decision.
    #[serde(serialize_with = "number")]
    pub position: Position,
    /// The files.
    pub files: Vec<FileInForceView>,
}

/// An event that something is known of a call from.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ToldBy {
    /// Its position.
    #[serde(serialize_with = "number")]
    pub position: Position,
    /// What it is called.
    pub event_type: &'static str,
    /// When it happened, by what it says.
    pub occurred_at: Timestamp,
    /// Who told of it.
    pub actor: ActorRef,
    /// What it says, in one line.
    pub summary: String,
}

/// Why a tool call was allowed or denied, as far as the log knows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WhyDecided {
    /// The call.
    pub call: ToolInvocationView,
    /// The decision that counts: the last that allows or denies and was stated, or else the last of those that were
    /// inferred, or else the last that asks.
    pub verdict: Option<ToolDecisionView>,
    /// All decisions, in the order in which they came to be known.
    pub decisions: Vec<ToolDecisionView>,
    /// What was in force, as far as that is stated.
    pub in_force: Option<InForce>,
    /// What the model had in its window when the call came up; none where the run has no pipeline.
    pub window: Option<SeenWindow>,
    /// Where all of this comes from, in the order of the log.
    pub told_by: Vec<ToldBy>,
}

fn number<S: Serializer>(position: &Position, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(position.0)
}

impl Annals {
    /// Tool calls: what was decided on them, and why.
    pub fn tool_calls(&self) -> ToolCalls<'_> {
        ToolCalls { annals: self }
    }
}

impl ToolCalls<'_> {
    /// Decisions on tool calls. A page costs what its lines cost, however long the log is; where only those of a tool
    /// are wanted, also what is passed over for them.
    ///
    /// # Errors
    /// [`ViewError::Load`].
    pub async fn decisions(self, query: &DecisionsQuery) -> Result<DecidedCalls, ViewError> {
        let annals = self.annals;
        annals.catch_up().await?;
        let page = annals.catalogue.decisions(annals.log.as_ref(), query).await;
        let page = page.map_err(LoadError::from)?;
        let mut rows = Vec::with_capacity(page.rows.len());
        for place in &page.rows {
            rows.extend(self.decided(place).await?);
        }
        let next = page.next;
        Ok(DecidedCalls { rows, next })
    }

    /// A decision and its call. None where the log was cut since the list was made.
    async fn decided(self, place: &DecisionPlace) -> Result<Option<DecidedCall>, ViewError> {
        let call = ToolInvocationId(place.call);
        let Some((view, _)) = self.told(call).await? else {
            return Ok(None);
        };
        let status = view.status();
        let (tool, args) = view.judged();
        let (tool, args) = (tool.clone(), args.cloned());
        let recorded_otherwise = view.life.judged.is_some();
        let mut decisions = view.life.decisions.into_iter();
        let is_it = |decision: &ToolDecisionView| decision.moment.position == place.position;
        let Some(decision) = decisions.find(is_it) else {
            return Ok(None);
        };
        let is_grant = decision.scope.is_kept() && decision.verdict == ToolVerdict::Allow;
        let uses = match is_grant {
            true => Some(self.uses_of_grant(call).await?),
            false => None,
        };
        Ok(Some(DecidedCall {
            call,
            run: RunId(place.run),
            tool,
            args,
            recorded_otherwise,
            status,
            decision,
            uses,
        }))
    }

    /// How often a permission was used that was given with a call for later ones, too: decisions say so.
    ///
    /// # Errors
    /// [`LoadError`].
    pub async fn uses_of_grant(self, grant: ToolInvocationId) -> Result<GrantUses, LoadError> {
        let annals = self.annals;
        annals.catch_up().await?;
        let log = annals.log.as_ref();
        Ok(annals.catalogue.uses_of_grant(log, grant.0).await?)
    }

    /// A call as all that is known of it tells; none, where nothing is. It costs the events on it alone, however long
    /// its run is.
    ///
    /// # Errors
    /// [`ViewError`].
    pub async fn call(
        self,
        call: ToolInvocationId,
    ) -> Result<Option<ToolInvocationView>, ViewError> {
        Ok(self.told(call).await?.map(|(view, _)| view))
    }

    /// The settings and policy files that the last decisions of a run state to be in force; none, where they state
    /// none.
    ///
    /// # Errors
    /// [`ViewError`].
    pub async fn last_in_force(self, run: RunId) -> Result<Option<InForce>, ViewError> {
        self.annals.catch_up().await?;
        let query = DecisionsQuery::default().with_runs(vec![run.0]);
        self.stated_in(&query.with_limit(LAST)).await
    }

    /// The runs that an object is, has or is in: of a run itself, a task's, a session's, and the run of a
    /// tool call or of what else is in one.
    ///
    /// # Errors
    /// [`ViewError`].
    pub async fn runs_of(self, object: ObjectRef) -> Result<Vec<Uuid>, ViewError> {
        let index = self.annals.index();
        Ok(match object.kind {
            Kind::Task => {
                index
                    .named(object.id, Relation::TaskRuns, MOST_RUNS)
                    .await?
            }
            Kind::Session => {
                index
                    .named(object.id, Relation::SessionRuns, MOST_RUNS)
                    .await?
            }
            Kind::Intent => {
                let tasks = index.naming(object.id, Relation::TaskIntent, MOST_RUNS);
                let mut runs = Vec::new();
                for task in tasks.await? {
                    runs.extend(index.named(task, Relation::TaskRuns, MOST_RUNS).await?);
                }
                runs
            }
            Kind::Run
            | Kind::PatchSet
            | Kind::Evidence
            | Kind::Decision
            | Kind::Provenance
            | Kind::ToolInvocation => vec![self.annals.locate(object.id).await?.1.id],
            kind @ (Kind::Plan
            | Kind::ContextSnapshot
            | Kind::ContextPipeline
            | Kind::Observation) => {
                return Err(ViewError::NoRuns { kind });
            }
        })
    }

    /// A call as the events on it tell, and those events.
    async fn told(
        self,
        call: ToolInvocationId,
    ) -> Result<Option<(ToolInvocationView, Vec<Entry>)>, ViewError> {
        let mut fold = Fold::new(Kind::ToolInvocation, call.0);
        let mut entries = Vec::new();
        for position in self.annals.index().events_of_call(call).await? {
            let contents = self.annals.contents();
            if let Some(record) = contents.record(position).await.map_err(LoadError::from)? {
                let entry = contents.entry(&record).await?;
                fold.apply(&entry);
                entries.push(entry);
            }
        }
        Ok(match fold.view() {
            Some(ObjectView::ToolInvocation(view)) => Some((view, entries)),
            _ => None,
        })
    }

    /// Why a tool call was allowed or denied: each decision, what was in force, and what the model had in
    /// its window.
    ///
    /// # Errors
    /// [`ViewError::NotFound`], and [`ViewError::WrongKind`] of another object.
    pub async fn why(self, call: ToolInvocationId) -> Result<WhyDecided, ViewError> {
        let kind = Kind::ToolInvocation;
        self.annals.locate_kind(call.0, kind).await?;
        let Some((view, entries)) = self.told(call).await? else {
            return Err(ViewError::NotFound {
                id: call.to_string(),
            });
        };
        let object = ObjectRef { kind, id: call.0 };
        let window = match self.annals.pipelines().window(object, None, At::Now).await {
            Ok(window) => Some(window),
            Err(ViewError::NoWindow { .. }) => None,
            Err(error) => return Err(error),
        };
        Ok(WhyDecided {
            verdict: view.life.verdict().cloned(),
            decisions: view.life.decisions.clone(),
            in_force: self.in_force(&view).await?,
            window,
            told_by: entries.iter().map(told_by).collect(),
            call: view,
        })
    }

    /// What was in force when a call was decided on: what its own decisions state, or else the last decision
    /// of its run before that does.
    async fn in_force(self, view: &ToolInvocationView) -> Result<Option<InForce>, ViewError> {
        let call = ToolInvocationId(view.header.object_id);
        let own = view.life.decisions.iter().rev();
        if let Some(stated) = own.filter_map(|it| stated(call, it)).next() {
            return Ok(Some(stated));
        }
        let Some(first) = view.life.decisions.first() else {
            return Ok(None);
        };
        let query = DecisionsQuery::default()
            .with_runs(vec![view.run_id.0])
            .with_after(first.moment.position)
            .with_limit(LOOK_BACK);
        self.stated_in(&query).await
    }

    /// What the first decision of a list states that states any.
    async fn stated_in(self, query: &DecisionsQuery) -> Result<Option<InForce>, ViewError> {
        let annals = self.annals;
        let page = annals.catalogue.decisions(annals.log.as_ref(), query);
        for place in page.await.map_err(LoadError::from)?.rows {
            if let Some(decision) = self.decision_at(place.position).await?
                && let Some(stated) = stated(ToolInvocationId(place.call), &decision)
            {
                return Ok(Some(stated));
            }
        }
        Ok(None)
    }

    async fn decision_at(self, position: Position) -> Result<Option<ToolDecisionView>, ViewError> {
        let contents = self.annals.contents();
        let record = contents.record(position).await.map_err(LoadError::from)?;
        let Some(record) = record else {
            return Ok(None);
        };
        let entry = contents.entry(&record).await?;
        Ok(match &entry.event {
            AnyEvent::Run(run::Event::ToolDecided(event)) => {
                Some(ToolDecisionView::read(event, &entry))
            }
            _ => None,
        })
    }
}

fn stated(call: ToolInvocationId, decision: &ToolDecisionView) -> Option<InForce> {
    Some(InForce {
        stated_with: call,
        position: decision.moment.position,
        files: decision.in_force.clone()?,
    })
}

fn told_by(entry: &Entry) -> ToldBy {
    let told = history_entry(entry);
    ToldBy {
        position: entry.position,
        event_type: told.event_type,
        occurred_at: entry.occurred_at,
        actor: entry.actor.clone(),
        summary: told.summary,
    }
}

impl WhyDecided {
    /// The actors that told of the call, each once.
    pub fn sources(&self) -> Vec<&ActorRef> {
        let mut seen = BTreeSet::new();
        let actors = self.told_by.iter().map(|told| &told.actor);
        actors
            .filter(|actor| seen.insert((actor.kind.as_str(), actor.id.as_str())))
            .collect()
    }
}
