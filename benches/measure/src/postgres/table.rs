//! The tables of the page, in Markdown: medians, ours next to the best peer, and many logs next to one.

use super::compared::{COMPARED, ComparedStore, OURS};
use super::results::PostgresResults;
use super::rows::{LOAD_ROWS, LoadRow};
use crate::rows::Better;
use crate::stores::Role;
use crate::table::{Table, figure, ratio};

/// How many times as fast 32 logs are as one of them, and as one with as many clients as all of them have.
pub(super) const MANY: &str = "32-logs";
pub(super) const SINGLES: [(&str, &str); 2] = [
    ("32 logs : one of them (2 clients)", "2-clients"),
    ("32 logs : one log with 64 clients", "64-clients"),
];

/// One column for each store, the ratio of ours to the best peer, and, where there were several rounds, that of
/// each of them; only rows and stores of which something was measured. Empty if nothing was.
pub fn of_loads(results: &PostgresResults) -> String {
    let stores = measured_stores(results);
    if stores.is_empty() {
        return String::new();
    }
    let rounds = results.settings.rounds;
    let mut head = vec![String::new(), "unit".to_owned()];
    head.extend(stores.iter().map(|store| store.title.to_owned()));
    head.push("ours : best".to_owned());
    if rounds > 1 {
        head.push("each round".to_owned());
    }
    let mut table = Table::with_head(head);
    for row in LOAD_ROWS {
        let values: Vec<_> = stores
            .iter()
            .map(|store| results.value(store.name, row.load, row.metric, None))
            .collect();
        if values.iter().all(Option::is_none) {
            continue;
        }
        let mut cells = vec![row.title.to_owned(), row.unit.to_owned()];
        cells.extend(values.into_iter().map(figure));
        cells.push(to_best(results, row, None));
        if rounds > 1 {
            let ratios = (0..rounds).map(|round| to_best(results, row, Some(round)));
            cells.push(ratios.collect::<Vec<_>>().join(" "));
        }
        table.add(cells);
    }
    table.markdown()
}

/// How many times as fast many logs are as one. Empty if nothing was measured.
pub fn of_many_logs(results: &PostgresResults) -> String {
    let stores = measured_stores(results);
    let mut head = vec![String::new()];
    head.extend(stores.iter().map(|store| store.title.to_owned()));
    let mut table = Table::with_head(head);
    let mut is_empty = true;
    for (title, single) in SINGLES {
        let ratios: Vec<_> = stores
            .iter()
            .map(|store| results.times_as_fast(store.name, MANY, single))
            .collect();
        is_empty &= ratios.iter().all(Option::is_none);
        let mut cells = vec![title.to_owned()];
        cells.extend(ratios.into_iter().map(figure));
        table.add(cells);
    }
    match is_empty {
        true => String::new(),
        false => table.markdown(),
    }
}

fn measured_stores(results: &PostgresResults) -> Vec<&'static ComparedStore> {
    let is_measured = |store: &&ComparedStore| {
        let mut samples = results.samples.iter();
        samples.any(|sample| sample.store == store.name)
    };
    COMPARED.iter().filter(is_measured).collect()
}

/// How many times as good ours is as the best peer: above 1 where ours is better.
fn to_best(results: &PostgresResults, row: &LoadRow, round: Option<usize>) -> String {
    let value = |store: &str| results.value(store, row.load, row.metric, round);
    let peers = COMPARED.iter().filter(|store| store.role == Role::Peer);
    let values = peers.filter_map(|peer| value(peer.name));
    let best = match row.better {
        Better::Higher => values.max_by(f64::total_cmp),
        Better::Lower => values.min_by(f64::total_cmp),
    };
    ratio(row.better, value(OURS), best)
}
