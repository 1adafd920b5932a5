//! What was measured, as the file of `--json` has it.

use serde::{Deserialize, Serialize};

use crate::machine::Machine;
use crate::results::Figure;
use crate::statistics::median;

/// A setting of the server, as the server says it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerSetting {
    /// Its name, such as `fsync`.
    pub name: String,
    /// Its value, with its unit.
    pub value: String,
}

/// How much was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoadSettings {
    /// How often everything was measured.
    pub rounds: usize,
    /// Seconds of each measurement that do not count.
    pub warm_up_seconds: f64,
    /// Seconds of each measurement behind them.
    pub seconds: f64,
    /// Bytes of a payload.
    pub payload_bytes: usize,
    /// Whether this was a run that proves nothing but that it works.
    pub quick: bool,
}

/// One number with all that it belongs to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoadSample {
    /// The store's name.
    pub store: String,
    /// The load's name.
    pub load: String,
    /// Which round, from 0.
    pub round: usize,
    /// The number.
    #[serde(flatten)]
    pub figure: Figure,
}

/// How long the copy of a log took, from RocksDB to PostgreSQL.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CopyTimes {
    /// Events of the log.
    pub events: u64,
    /// Until all of them were stored.
    pub copying_seconds: f64,
    /// From then on until all of the copy was read and checked.
    pub verifying_seconds: f64,
}

/// Everything of one run of `compare-postgres`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PostgresResults {
    /// When it began, in UTC.
    pub date: String,
    /// Which source of ours was measured, and with which compiler.
    pub revision: String,
    /// Where it ran.
    pub machine: Machine,
    /// What the server ran with.
    pub server: Vec<ServerSetting>,
    /// How much was measured.
    pub settings: LoadSettings,
    /// All numbers.
    pub samples: Vec<LoadSample>,
    /// The copy, if it was measured.
    pub copy: Option<CopyTimes>,
    /// What failed.
    pub failures: Vec<String>,
}

impl PostgresResults {
    /// The median of a cell over all rounds, or its value in one of them.
    pub fn value(
        &self,
        store: &str,
        load: &str,
        metric: &str,
        round: Option<usize>,
    ) -> Option<f64> {
        let wanted = |sample: &&LoadSample| {
            sample.store == store
                && sample.load == load
                && sample.figure.metric == metric
                && round.is_none_or(|round| sample.round == round)
        };
        let samples = self.samples.iter().filter(wanted);
        let values: Vec<f64> = samples.map(|sample| sample.figure.value).collect();
        median(&values)
    }

    /// How many times the rate of one load is that of another; nothing where one of them was not measured.
    pub fn times_as_fast(&self, store: &str, load: &str, than: &str) -> Option<f64> {
        let rate = |load| self.value(store, load, "rate", None);
        let ratio = rate(load)? / rate(than)?;
        Some(ratio).filter(|ratio| ratio.is_finite())
    }
}
