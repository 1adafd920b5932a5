//! What was measured, as the store's programs print it and as the file of `--json` has it.

use serde::{Deserialize, Serialize};

use crate::machine::Machine;
use crate::workload::Layout;

/// One number, as a store's program prints it: a line of JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// What it is; [`crate::rows`] says what that means.
    pub metric: String,
    /// Its value, in the unit of its row.
    pub value: f64,
}

impl Figure {
    /// A number under a name.
    pub fn new(metric: impl Into<String>, value: f64) -> Figure {
        Figure {
            metric: metric.into(),
            value,
        }
    }
}

/// One number with all that it belongs to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// The store's name.
    pub store: String,
    /// The measurement's name.
    pub measurement: String,
    /// Bytes of a payload.
    pub payload_bytes: usize,
    /// `interleaved` or `runs`.
    pub layout: String,
    /// Which round, from 0.
    pub round: usize,
    /// The number.
    #[serde(flatten)]
    pub figure: Figure,
}

/// How much was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// How often the main table was measured; the others once.
    pub rounds: usize,
    /// Seconds of each measurement of appends.
    pub seconds: f64,
    /// Events of the filled logs.
    pub events: usize,
    /// Bytes of payloads; the first one is the main table's.
    pub payloads: Vec<usize>,
    /// Whether this was a run that proves nothing but that it works.
    pub quick: bool,
}

/// Everything of one run of `compare`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// When it began, in UTC.
    pub date: String,
    /// Which source of ours was measured, and with which compiler, as `scripts/compare.sh` says.
    pub revision: String,
    /// Where it ran.
    pub machine: Machine,
    /// How much was measured.
    pub settings: Settings,
    /// All numbers.
    pub samples: Vec<Sample>,
    /// How the pages of files were dropped from memory before cold reads, as the programs say.
    pub cold: Vec<String>,
    /// What failed.
    pub failures: Vec<String>,
}

impl Results {
    /// What was measured in each round by itself.
    pub fn of_rounds(&self) -> Vec<Results> {
        let of = |round| {
            let samples = self.samples.iter().filter(|sample| sample.round == round);
            Results {
                samples: samples.cloned().collect(),
                ..self.clone()
            }
        };
        (0..self.settings.rounds).map(of).collect()
    }

    /// The values of one cell, one for each round.
    pub fn values(
        &self,
        store: &str,
        measurement: &str,
        metric: &str,
        payload_bytes: usize,
        layout: Layout,
    ) -> Vec<f64> {
        let wanted = |sample: &&Sample| {
            sample.store == store
                && sample.measurement == measurement
                && sample.figure.metric == metric
                && sample.payload_bytes == payload_bytes
                && sample.layout == layout.name()
        };
        let samples = self.samples.iter().filter(wanted);
        samples.map(|sample| sample.figure.value).collect()
    }
}

/// How a [`Line`] begins on the output of a store's program: libraries print there, too.
pub const MARK: &str = "measured: ";

/// A line of a store's program: a number, or how cold reads were made cold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Line {
    /// A number.
    Figure(Figure),
    /// How the pages of files were dropped from memory.
    Cold(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_what_it_was_when_it_was_printed() {
        let figure = Line::Figure(Figure::new("rate", 1_234.5));
        let cold = Line::Cold("dropped".into());
        for line in [figure, cold] {
            let text = serde_json::to_string(&line).unwrap();
            assert!(!text.contains('\n'));
            assert_eq!(serde_json::from_str::<Line>(&text).unwrap(), line);
        }
    }
}
