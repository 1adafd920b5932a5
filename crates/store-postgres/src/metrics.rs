//! What is counted and timed for who operates a log, by the facade `metrics`: where the program installs no recorder,
//! nothing is kept. `docs/postgres.md` has the table of names.

use std::sync::Arc;
use std::time::Duration;

use annals_event_log::Position;
use metrics::{
    Label, Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram,
};

use crate::settings::Settings;

const BATCHES: &str = "annals_postgres_batches_total";
const EVENTS: &str = "annals_postgres_events_total";
const GROUP_SECONDS: &str = "annals_postgres_group_seconds";
const GROUP_BATCHES: &str = "annals_postgres_group_batches";
const RETRIES: &str = "annals_postgres_retries_total";
const POSITION: &str = "annals_postgres_position";
const LOOKS: &str = "annals_postgres_looks_total";
const LEADS: &str = "annals_postgres_leads";

/// How a batch ended.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Outcome {
    /// Committed, or found to have been.
    Acknowledged,
    /// Nothing was stored.
    Refused,
    /// Not known yet.
    Unknown,
}

impl Outcome {
    fn label(self) -> &'static str {
        match self {
            Outcome::Acknowledged => "acknowledged",
            Outcome::Refused => "refused",
            Outcome::Unknown => "unknown",
        }
    }
}

/// The figures of one log, told from those of others by its name and schema.
#[derive(Debug, Clone)]
pub(crate) struct Metrics {
    labels: Vec<Label>,
}

impl Metrics {
    pub(crate) fn of(settings: &Settings) -> Metrics {
        describe();
        Metrics {
            labels: vec![
                Label::new("log", Arc::<str>::from(settings.log.as_str())),
                Label::new("schema", Arc::<str>::from(settings.schema.as_str())),
            ],
        }
    }

    fn with(&self, name: &'static str, value: impl Into<String>) -> Vec<Label> {
        let mut labels = self.labels.clone();
        labels.push(Label::new(name, value.into()));
        labels
    }

    /// Batches were answered.
    pub(crate) fn answered(&self, batches: usize, outcome: Outcome) {
        counter!(BATCHES, self.with("outcome", outcome.label())).increment(batches as u64);
    }

    /// A group was committed.
    pub(crate) fn committed(&self, took: Duration, batches: usize, events: usize) {
        counter!(EVENTS, self.labels.clone()).increment(events as u64);
        histogram!(GROUP_SECONDS, self.labels.clone()).record(took);
        histogram!(GROUP_BATCHES, self.labels.clone()).record(batches as f64);
    }

    /// Something is tried again.
    pub(crate) fn again(&self, what: &'static str) {
        counter!(RETRIES, self.with("what", what)).increment(1);
    }

    /// Up to where this process knows the log.
    pub(crate) fn reached(&self, position: Position) {
        gauge!(POSITION, self.labels.clone()).set(position.0 as f64);
    }

    /// The head was looked at.
    pub(crate) fn looked(&self) {
        counter!(LOOKS, self.labels.clone()).increment(1);
    }

    /// Whether this process keeps a read model current for all.
    pub(crate) fn leads(&self, model: &str, leads: bool) {
        gauge!(LEADS, self.with("model", model)).set(f64::from(u8::from(leads)));
    }
}

fn describe() {
    describe_counter!(BATCHES, "Batches that were answered, by outcome");
    describe_counter!(EVENTS, "Events that this process committed");
    describe_histogram!(
        GROUP_SECONDS,
        Unit::Seconds,
        "From the first attempt at a group to its commit"
    );
    describe_histogram!(GROUP_BATCHES, "Batches in a committed group");
    describe_counter!(
        RETRIES,
        "What was tried again, since the server did not do it"
    );
    describe_gauge!(POSITION, "The log's end, as this process knows it");
    describe_counter!(LOOKS, "Looks at the log's head");
    describe_gauge!(
        LEADS,
        "Whether this process keeps a read model current for all: 1 or 0"
    );
}
