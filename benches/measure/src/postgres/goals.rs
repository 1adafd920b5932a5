//! What was asked of a log on PostgreSQL, next to what was measured.

use super::compared::{COMPARED, ComparedStore, OURS, OURS_WITH_NOTIFY};
use super::results::PostgresResults;
use super::table::{MANY, SINGLES};
use crate::rows::Better;
use crate::table::{Table, figure};

/// What is asked, and the loads that it is asked of.
const RATES: [(&str, &str, f64); 3] = [
    ("64 clients, events/s", "64-clients", 3_000.0),
    (
        "1 client, batches of 100, events/s",
        "1-client-of-100",
        10_000.0,
    ),
    (
        "8 clients, batches of 100, events/s",
        "8-clients-of-100",
        10_000.0,
    ),
];
const TIMES_AS_FAST: f64 = 3.0;
const COPIED_EVENTS: u64 = 1_000_000;
const COPY_SECONDS: f64 = 120.0;

/// One line.
#[derive(Debug, Clone, PartialEq)]
pub struct Goal {
    /// What it is about, and of which store.
    pub title: String,
    /// Which values are better.
    pub better: Better,
    /// What was asked.
    pub asked: f64,
    /// What was measured.
    pub found: f64,
}

impl Goal {
    /// Whether what was measured is as good as what was asked.
    pub fn is_met(&self) -> bool {
        match self.better {
            Better::Higher => self.found >= self.asked,
            Better::Lower => self.found <= self.asked,
        }
    }
}

/// All that was measured and asked for.
pub fn goals(results: &PostgresResults) -> Vec<Goal> {
    let mut goals = Vec::new();
    let is_ours = |store: &&ComparedStore| [OURS, OURS_WITH_NOTIFY].contains(&store.name);
    for store in COMPARED.iter().filter(is_ours) {
        let mut add = |title: &str, asked: f64, found: Option<f64>| {
            goals.extend(found.map(|found| Goal {
                title: format!("{}: {title}", store.title),
                better: Better::Higher,
                asked,
                found,
            }));
        };
        for (title, load, asked) in RATES {
            add(title, asked, results.value(store.name, load, "rate", None));
        }
        for (title, single) in SINGLES {
            let found = results.times_as_fast(store.name, MANY, single);
            add(title, TIMES_AS_FAST, found);
        }
    }
    let copy = results.copy.as_ref();
    let copy = copy.filter(|copy| copy.events >= COPIED_EVENTS);
    goals.extend(copy.map(|copy| Goal {
        title: format!("a copy of {} events, seconds", copy.events),
        better: Better::Lower,
        asked: COPY_SECONDS,
        found: copy.copying_seconds + copy.verifying_seconds,
    }));
    goals
}

/// The same as a table; empty if nothing was measured.
pub fn of_goals(results: &PostgresResults) -> String {
    let goals = goals(results);
    if goals.is_empty() {
        return String::new();
    }
    let mut table = Table::new(["", "asked", "measured", ""]);
    for goal in goals {
        let (asked, found) = (figure(Some(goal.asked)), figure(Some(goal.found)));
        let is_met = match goal.is_met() {
            true => "yes",
            false => "no",
        };
        table.push([goal.title.as_str(), asked.as_str(), found.as_str(), is_met]);
    }
    table.markdown()
}
