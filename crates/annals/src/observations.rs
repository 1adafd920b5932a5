//! What agents noticed: recording it, listing what is open, and making an intent
//! of it.

use annals_domain::intent::SubmitIntent;
use annals_domain::observation::{ObservationKind, ProcessObservation, RecordObservation};
use annals_domain::{IntentId, Kind, ObservationId, Refusal};
use annals_event_log::Position;
use annals_projections::{CatalogueRow, ListQuery, ObservationView, Status, Text};
use derive_setters::Setters;

use crate::{As, ExecuteError, Inbox, ViewError};

/// Which observations to list: the oldest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Setters)]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct ObservationsQuery {
    /// Those that are processed, too.
    pub all: bool,
    /// Only those behind the one that was recorded at this position; a list's
    /// `next` goes on where it ended.
    #[setters(into)]
    pub after: Option<Position>,
    /// At most so many; 0 counts as 1.
    pub limit: usize,
}

impl Default for ObservationsQuery {
    /// The oldest 100 that are open.
    fn default() -> ObservationsQuery {
        ObservationsQuery {
            all: false,
            after: None,
            limit: 100,
        }
    }
}

/// Part of the observations.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Observations {
    /// The observations, oldest first.
    pub entries: Vec<ObservationEntry>,
    /// Where the list goes on, if there is more of it.
    pub next: Option<Position>,
}

/// An observation.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ObservationEntry {
    /// Its row: when it was recorded, what it is called.
    pub row: CatalogueRow,
    /// What it says.
    pub view: ObservationView,
}

impl Inbox<'_> {
    /// What agents noticed, the oldest first: what is open, or all of it.
    ///
    /// # Errors
    /// [`ViewError`].
    pub async fn observations(self, query: &ObservationsQuery) -> Result<Observations, ViewError> {
        let listed = self
            .annals
            .index()
            .list(
                &ListQuery::new(Kind::Observation)
                    .with_status((!query.all).then_some(Status::Open))
                    .with_oldest_first(true)
                    .with_after(query.after)
                    .with_limit(query.limit),
            )
            .await?;
        let mut entries = Vec::with_capacity(listed.rows.len());
        for row in listed.rows {
            let view = self.annals.get(ObservationId(row.id)).await?;
            entries.push(ObservationEntry { row, view });
        }
        let next = listed.next;
        Ok(Observations { entries, next })
    }

    /// The proposal of an intent that an observation is the cause of. Its source is
    /// the observation's kind, and its text the observation's, unless one is given.
    /// Whether the observation is open is for [`execute`](crate::Annals::execute) to say.
    ///
    /// # Errors
    /// [`ExecuteError::Refused`] where there is no such observation, or its text was
    /// removed and none is given, and [`ExecuteError::Load`].
    pub async fn intent_from(
        self,
        observation: ObservationId,
        prompt: Option<String>,
    ) -> Result<SubmitIntent, ExecuteError> {
        let refused = |refusal| ExecuteError::Refused {
            index: 0,
            command: "submit_intent",
            refusal,
        };
        let view: ObservationView = match self.annals.get(observation).await {
            Ok(view) => view,
            Err(ViewError::Load(error)) => return Err(error.into()),
            Err(_) => {
                let (kind, id) = (Kind::Observation, observation.0);
                return Err(refused(Refusal::NotFound { kind, id }));
            }
        };
        let prompt = match (prompt, view.text) {
            (Some(prompt), _) | (None, Text::Present(prompt)) => prompt,
            (None, Text::Removed) => {
                let reason = format!("the text of observation {observation} was removed: give one");
                return Err(refused(Refusal::invalid("prompt", reason)));
            }
        };
        Ok(SubmitIntent::new(prompt, view.kind.source()).with_observation(observation))
    }
}

impl As<'_> {
    /// Records what was noticed, with what it rests on: paths, quotes, URLs.
    ///
    /// # Errors
    /// [`ExecuteError`].
    pub async fn observe(
        &self,
        kind: ObservationKind,
        text: impl Into<String>,
        evidence: Vec<String>,
    ) -> Result<ObservationId, ExecuteError> {
        self.create(RecordObservation::new(kind, text).with_evidence(evidence))
            .await
    }

    /// Proposes an intent because of an open observation, which is processed then.
    /// The intent says the same, unless another text is given.
    ///
    /// # Errors
    /// [`ExecuteError`].
    pub async fn act_on(
        &self,
        observation: ObservationId,
        prompt: Option<String>,
    ) -> Result<IntentId, ExecuteError> {
        let command = self
            .annals()
            .inbox()
            .intent_from(observation, prompt)
            .await?;
        self.create(command).await
    }

    /// Marks an open observation as processed: there is nothing to do about it.
    ///
    /// # Errors
    /// [`ExecuteError`].
    pub async fn process(
        &self,
        observation: ObservationId,
        reason: Option<String>,
    ) -> Result<(), ExecuteError> {
        let command = ProcessObservation::new(observation).with_reason(reason);
        self.run_command(command).await.map(|_| ())
    }
}
