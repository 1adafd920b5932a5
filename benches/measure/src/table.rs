//! The tables of the page, in Markdown: medians, and ours next to the best peer.

use std::fmt::Write;

use crate::results::Results;
use crate::rows::{Better, ROWS, Row};
use crate::statistics::median;
use crate::stores::{Role, STORES, StoreKind, ours};
use crate::workload::Layout;

/// What is shown where nothing was measured.
const NOTHING: &str = "-";

/// One column for each store, the ratio of ours to the best peer, and, where there were several
/// rounds, that of each of them; only rows and stores of which something was measured. Empty if
/// nothing was.
pub fn of_stores(results: &Results, payload_bytes: usize, layout: Layout) -> String {
    let cell = |row: &Row, store: &StoreKind| value(results, row, store, payload_bytes, layout);
    let measured = |store: &&StoreKind| ROWS.iter().any(|row| cell(row, store).is_some());
    let stores: Vec<&StoreKind> = STORES.iter().filter(measured).collect();
    if stores.is_empty() {
        return String::new();
    }
    let mut table = Table::new(["", "unit"]);
    table
        .head
        .extend(stores.iter().map(|store| store.title.to_owned()));
    table.head.push("ours : best".into());
    let rounds = results.of_rounds();
    let of_round = |row: &Row, round| {
        let own = value(round, row, ours(), payload_bytes, layout);
        ratio(row.better, own, best(round, row, payload_bytes, layout))
    };
    let had_several = rounds.get(1).is_some_and(|second| {
        let own = |row| value(second, row, ours(), payload_bytes, layout);
        ROWS.iter().any(|row| own(row).is_some())
    });
    if had_several {
        table.head.push("each round".into());
    }
    for row in ROWS {
        let values: Vec<_> = stores.iter().map(|store| cell(row, store)).collect();
        if values.iter().all(Option::is_none) {
            continue;
        }
        let mut line = vec![row.title.to_owned(), row.unit.to_owned()];
        line.extend(values.into_iter().map(figure));
        let best = best(results, row, payload_bytes, layout);
        line.push(ratio(row.better, cell(row, ours()), best));
        if had_several {
            let ratios = rounds.iter().map(|round| of_round(row, round));
            line.push(ratios.collect::<Vec<_>>().join(" "));
        }
        table.rows.push(line);
    }
    table.markdown()
}

/// Three columns for each size of payloads: ours, the best peer, their ratio.
pub fn of_payloads(results: &Results, payloads: &[usize], layout: Layout) -> String {
    let mut table = Table::new(["", "unit"]);
    for bytes in payloads {
        let heads = ["ours", "best", "ours : best"];
        table
            .head
            .extend(heads.map(|head| format!("{bytes} B: {head}")));
    }
    for row in ROWS {
        let mut line = vec![row.title.to_owned(), row.unit.to_owned()];
        for &bytes in payloads {
            let own = value(results, row, ours(), bytes, layout);
            let best = best(results, row, bytes, layout);
            line.extend([figure(own), figure(best), ratio(row.better, own, best)]);
        }
        if line.iter().skip(2).any(|cell| cell != NOTHING) {
            table.rows.push(line);
        }
    }
    if table.rows.is_empty() {
        return String::new();
    }
    table.markdown()
}

/// The median of a cell.
fn value(
    results: &Results,
    row: &Row,
    store: &StoreKind,
    payload_bytes: usize,
    layout: Layout,
) -> Option<f64> {
    let measurement = row.measurement.to_string();
    median(&results.values(store.name, &measurement, row.metric, payload_bytes, layout))
}

/// The best peer's.
fn best(results: &Results, row: &Row, payload_bytes: usize, layout: Layout) -> Option<f64> {
    let peers = STORES.iter().filter(|store| store.role == Role::Peer);
    let values = peers.filter_map(|peer| value(results, row, peer, payload_bytes, layout));
    match row.better {
        Better::Higher => values.max_by(f64::total_cmp),
        Better::Lower => values.min_by(f64::total_cmp),
    }
}

/// How many times as good ours is as the best peer: above 1 where ours is better.
pub fn ratio(better: Better, ours: Option<f64>, best: Option<f64>) -> String {
    let (Some(ours), Some(best)) = (ours, best) else {
        return NOTHING.into();
    };
    let ratio = match better {
        Better::Higher => ours / best,
        Better::Lower => best / ours,
    };
    if !ratio.is_finite() {
        return NOTHING.into();
    }
    format!("{ratio:.2}")
}

/// A number with as many digits as say something.
pub fn figure(value: Option<f64>) -> String {
    match value {
        None => NOTHING.into(),
        Some(value) if value >= 100.0 => with_commas(&format!("{value:.0}")),
        Some(value) if value >= 10.0 => format!("{value:.1}"),
        Some(value) => format!("{value:.2}"),
    }
}

fn with_commas(digits: &str) -> String {
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Cells, the first row of which is the head.
#[derive(Debug)]
pub struct Table {
    head: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows.
    pub fn new<const N: usize>(head: [&str; N]) -> Table {
        Table {
            head: head.map(str::to_owned).to_vec(),
            rows: Vec::new(),
        }
    }

    /// A table without rows, of any number of columns.
    pub fn with_head(head: Vec<String>) -> Table {
        Table {
            head,
            rows: Vec::new(),
        }
    }

    /// Adds a row of so many cells as the head has.
    pub fn add(&mut self, row: Vec<String>) {
        self.rows.push(row);
    }

    /// Adds a row.
    pub fn push<const N: usize>(&mut self, row: [&str; N]) {
        self.rows.push(row.map(str::to_owned).to_vec());
    }

    /// As Markdown has it; numbers to the right.
    pub fn markdown(&self) -> String {
        let mut text = line(&self.head);
        let is_number = |column: usize| {
            let mut cells = self.rows.iter().filter_map(|row| row.get(column));
            // A row may be named by a number and a word.
            let is_name = |cell: &str| column == 0 && cell.contains(char::is_alphabetic);
            cells.all(|cell| {
                cell == NOTHING
                    || (cell.starts_with(|c: char| c.is_ascii_digit()) && !is_name(cell))
            })
        };
        let columns = 0..self.head.len();
        let rule = columns.map(|column| if is_number(column) { "---:" } else { "---" });
        text += &line(&rule.map(str::to_owned).collect::<Vec<_>>());
        for row in &self.rows {
            text += &line(row);
        }
        text
    }
}

fn line(cells: &[String]) -> String {
    let mut text = String::from("|");
    for cell in cells {
        // Writing to a string cannot fail.
        let _ = write!(text, " {} |", cell.replace('|', "\\|"));
    }
    text + "\n"
}

#[cfg(test)]
mod tests;
