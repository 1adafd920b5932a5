//! Properties of sums: by any axis, and by sub-agents.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::HashMap;

use proptest::collection::vec;
use proptest::prelude::*;
use uuid::Uuid;

use super::*;
use crate::catalogue::ActorName;

const PRICES: &str = r#"
currency = "USD"
as_of = "2026-01-31"

[[price]]
models = ["a", "b"]
from = "1970-01-02"
input = 3
cache_read = 0.3
cache_write = 3.75
cache_write_1h = 6
output = 15.123457
web_search = 7.5

[[price]]
models = ["a"]
from = "1970-01-03"
input = 2.5
output = 0.000001
"#;

fn run(number: u8) -> Uuid {
    Uuid::from_u128(100 + u128::from(number))
}

fn task(number: u8) -> Uuid {
    Uuid::from_u128(200 + u128::from(number))
}

prop_compose! {
    fn tokens()(counts in prop::array::uniform6(prop_oneof![0..1_000_u128, any::<u64>().prop_map(u128::from)]))
        -> TokenSums
    {
        let [uncached_input_tokens, cache_read_tokens, cache_write_tokens, cache_write_1h_tokens,
            output_tokens, reasoning_tokens] = counts;
        TokenSums {
            uncached_input_tokens, cache_read_tokens, cache_write_tokens, cache_write_1h_tokens,
            output_tokens, reasoning_tokens,
        }
    }
}

prop_compose! {
    fn cell()(
        quarter in 0..400_i64,
        number in 0..8_u8,
        model in prop::option::of(prop::sample::select(vec!["a", "b", "c"])),
        actor in 0..3_u8,
        tokens in tokens(),
        web_searches in 0..50_u128,
        recorded in prop::option::of(0..5_000_000_u128),
    ) -> CostCell {
        CostCell {
            quarter: Quarter(quarter),
            run: run(number),
            model: model.map(str::to_owned),
            actor: ActorName { kind: "agent".to_owned(), id: actor.to_string() },
            used: Used {
                tokens,
                web_searches,
                recorded_micros: recorded.unwrap_or_default(),
                usages: 1,
                with_cost: u64::from(recorded.is_some()),
            },
        }
    }
}

prop_compose! {
    /// Runs of tasks, some of none; tasks below others, and some in circles.
    fn family()(
        tasks in vec(prop::option::of(0..6_u8), 8),
        parents in vec(prop::option::of(0..6_u8), 6),
    ) -> Family {
        let place = |of: &Option<u8>| RunPlace {
            task: of.map(task),
            intent: of.map(|of| task(of / 2)),
            session: of.map(|of| format!("s{}", of / 3)),
            project: of.map(|of| format!("/work/p{}", of / 2)),
            agent: of.map(|of| format!("a{}", of % 2)),
        };
        let runs = (0..).zip(&tasks).map(|(number, of)| (run(number), place(of))).collect();
        let above = (0..).zip(&parents).filter_map(|(below, above)| Some((task(below), task((*above)?))));
        Family { runs, parents: above.collect(), titles: HashMap::new() }
    }
}

/// The axes that go with others.
fn combined() -> Vec<CostAxis> {
    let all = CostAxis::ALL.into_iter();
    all.filter(|axis| *axis != CostAxis::SubAgent).collect()
}

fn groups(cells: &[CostCell], by: &[CostAxis]) -> CostGroups {
    let prices = PriceTable::parse(PRICES).unwrap();
    let mut groups = CostGroups::default();
    for cell in cells {
        groups.explain(cell, &prices);
        groups.add(cell.clone(), by, CostZone::Utc, &prices);
    }
    groups
}

/// The sum of cells, by a way of its own.
fn recount(cells: &[CostCell]) -> CostSums {
    let prices = PriceTable::parse(PRICES).unwrap();
    let mut total = CostSums::default();
    for cell in cells {
        let day = CostZone::Utc.day(cell.quarter);
        let price = cell
            .model
            .as_ref()
            .and_then(|model| prices.price(model, day));
        let (micros, unpriced) = match price {
            Some(price) => price.cost(&cell.used.tokens),
            None => (0, cell.used.tokens.total()),
        };
        let fee = price.and_then(|price| price.web_search);
        let searches = cell.used.web_searches;
        // Half up, in whole millionths.
        total.computed_micros +=
            micros + fee.map_or(0, |fee| (2 * searches * u128::from(fee) + 1_000) / 2_000);
        total.unpriced_tokens += unpriced;
        total.unpriced_searches += if fee.is_none() { searches } else { 0 };
        total.used.add(&cell.used);
    }
    total
}

fn sum<'a>(sums: impl IntoIterator<Item = &'a CostSums>) -> CostSums {
    let mut total = CostSums::default();
    sums.into_iter().for_each(|sums| total.add(sums));
    total
}

proptest! {
    #[test]
    fn the_rows_by_any_axes_add_up_to_the_same_total(
        cells in vec(cell(), 0..60),
        family in family(),
        axes in prop::sample::subsequence(combined(), 0..=3),
    ) {
        let groups = groups(&cells, &axes);
        let total = groups.total();
        prop_assert_eq!(total, recount(&cells));
        let rows = groups.rows(&axes, &family);
        if !axes.is_empty() {
            prop_assert_eq!(sum(rows.iter().map(|row| &row.sums)), total);
        }
        let keys: Vec<_> = rows.iter().map(|row| row.by.clone()).collect();
        for (index, key) in keys.iter().enumerate() {
            prop_assert!(!keys[..index].contains(key), "a row is there twice");
            prop_assert_eq!(key.iter().map(|key| key.axis).collect::<Vec<_>>(), axes.clone());
        }
        let unpriced: u128 = groups.unpriced().iter().map(|it| it.tokens).sum();
        prop_assert_eq!(unpriced, total.unpriced_tokens);
        let unpriced: u128 = groups.unpriced().iter().map(|it| it.web_searches).sum();
        prop_assert_eq!(unpriced, total.unpriced_searches);
        let used = groups.prices();
        let explained: u128 = used.iter().map(|used| used.sums.computed_micros).sum();
        prop_assert_eq!(explained, total.computed_micros);
    }

    #[test]
    fn a_task_with_its_sub_agents_is_the_sum_of_its_parts(
        cells in vec(cell(), 0..60),
        family in family(),
    ) {
        let by = [CostAxis::SubAgent];
        let rows = groups(&cells, &by).rows(&by, &family);
        prop_assert_eq!(sum(rows.iter().map(|row| &row.sums)), recount(&cells));
        let roots = rows.iter().filter(|row| row.depth == 0);
        prop_assert_eq!(sum(roots.map(|row| row.with_sub_agents.as_ref().unwrap())), recount(&cells));
        for (index, row) in rows.iter().enumerate() {
            let below = rows[index + 1..].iter().take_while(|other| other.depth > row.depth);
            let parts: Vec<&CostSums> = below.map(|other| &other.sums).chain([&row.sums]).collect();
            prop_assert_eq!(row.with_sub_agents, Some(sum(parts)));
            if row.depth > 0 {
                let mut above = rows[..index].iter().rev();
                let above = above.find(|other| other.depth < row.depth).unwrap();
                prop_assert_eq!(above.depth, row.depth - 1);
                let id = |row: &CostRow| row.by[0].value.as_ref().unwrap().parse::<Uuid>().unwrap();
                prop_assert_eq!(family.parents.get(&id(row)), Some(&id(above)));
            }
        }
    }
}

#[test]
fn what_is_above_a_sub_agent_has_a_row_though_it_cost_nothing() {
    let prices = PriceTable::parse(PRICES).unwrap();
    let mut groups = CostGroups::default();
    let used = Used {
        usages: 1,
        ..Used::default()
    };
    let cell = CostCell {
        quarter: Quarter(0),
        run: run(1),
        model: None,
        actor: ActorName {
            kind: "agent".to_owned(),
            id: "x".to_owned(),
        },
        used,
    };
    let by = [CostAxis::SubAgent];
    groups.add(cell, &by, CostZone::Utc, &prices);
    let place = RunPlace {
        task: Some(task(1)),
        ..RunPlace::default()
    };
    let family = Family {
        runs: [(run(1), place)].into(),
        parents: [(task(1), task(2))].into(),
        titles: [(task(2), "above".to_owned())].into(),
    };
    let rows = groups.rows(&by, &family);
    let said = rows
        .iter()
        .map(|row| (row.depth, row.by[0].title.clone(), row.sums.used.usages));
    assert_eq!(
        said.collect::<Vec<_>>(),
        [(0, Some("above".to_owned()), 0), (1, None, 1)]
    );
}
