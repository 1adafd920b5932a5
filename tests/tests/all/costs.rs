//! What agents' work cost: a recount of the events comes to the same, wherever the rows are, and whatever becomes of
//! them.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use annals::domain::run::Event as RunEvent;
use annals::domain::{ActorRef, AnyEvent, Kind};
use annals::event_log::memory::MemoryLog;
use annals::event_log::{EventLog, Position, Query, Store};
use annals::projections::{CostAxis, CostModel, CostReport, CostRow, Entry, PriceTable, Used};
use annals::{Annals, CostError, CostQuery, OpenOptions, RedactRequest, Target};
use annals_testkit::generators::objects;
use annals_testkit::projections::check_resumable;
use futures::executor::block_on;
use proptest::prelude::*;
use uuid::Uuid;

fn log_of(history: &objects::History) -> Arc<MemoryLog> {
    let log = MemoryLog::new(Uuid::nil());
    for append in history.appends() {
        block_on(log.append(append)).unwrap();
    }
    Arc::new(log)
}

fn entries(log: &dyn Store) -> Vec<Entry> {
    let page = block_on(log.read(Query::all(Position(1)).limit(1_000_000))).unwrap();
    assert_eq!(page.next, None);
    let entry = |record| {
        let blobs = block_on(Entry::fetch(log, record)).unwrap();
        Entry::new(record, &blobs).unwrap()
    };
    page.records.iter().map(entry).collect()
}

/// Tokens of every sort, and the recorded costs in millionths; by day, run and actor.
type Recount = BTreeMap<Place, [u128; 5]>;

/// A day, a run and an actor.
type Place = (String, Uuid, String);

/// The sums of the events, by a way of its own.
fn recount(log: &dyn Store) -> Recount {
    let mut sums = Recount::new();
    // A later provenance of a run takes the place of the one before.
    let mut stated: HashMap<Uuid, (Place, [u128; 5])> = HashMap::new();
    for entry in entries(log) {
        let run = entry.stream.id;
        let day = entry.occurred_at.to_utc().date_naive().to_string();
        let actor = format!("{}:{}", entry.actor.kind, entry.actor.id);
        let place = (day, run, actor);
        let micros = |usd: Option<f64>| usd.map_or(0, |usd| (usd * 1e6).round() as u128);
        match &entry.event {
            AnyEvent::Run(RunEvent::UsageRecorded(used)) => {
                let [input, read, write, output] = used.tokens().map(u128::from);
                let more = [input, read, write, output, micros(used.cost_usd)];
                let sum = sums.entry(place).or_default();
                sum.iter_mut()
                    .zip(more)
                    .for_each(|(sum, more)| *sum += more);
            }
            AnyEvent::Run(RunEvent::ProvenanceRecorded(event)) => {
                let of = event
                    .token_usage
                    .map(|of| (of.input_tokens, of.output_tokens, of.cost_usd));
                stated.remove(&run);
                if let Some((input, output, cost)) = of {
                    stated.insert(
                        run,
                        (place, [input.into(), 0, 0, output.into(), micros(cost)]),
                    );
                }
            }
            _ => {}
        }
    }
    for (place, more) in stated.into_values() {
        let sum = sums.entry(place).or_default();
        sum.iter_mut()
            .zip(more)
            .for_each(|(sum, more)| *sum += more);
    }
    sums.retain(|_, sum| *sum != [0; 5]);
    sums
}

fn counts(used: &Used) -> [u128; 5] {
    let tokens = &used.tokens;
    [
        tokens.uncached_input_tokens,
        tokens.cache_read_tokens,
        tokens.cache_write_tokens,
        tokens.output_tokens,
        used.recorded_micros,
    ]
}

const BY: [CostAxis; 3] = [CostAxis::Day, CostAxis::Run, CostAxis::Actor];

fn report(annals: &Annals, by: &[CostAxis]) -> CostReport {
    block_on(annals.costs().report(&CostQuery::by(by))).unwrap()
}

fn reported(annals: &Annals) -> Recount {
    let report = report(annals, &BY);
    let key = |row: &CostRow, at: usize| row.by[at].value.clone().unwrap();
    let rows = report.rows.iter().map(|row| {
        let place = (key(row, 0), key(row, 1).parse().unwrap(), key(row, 2));
        (place, counts(&row.sums.used))
    });
    let mut rows: Recount = rows.collect();
    rows.retain(|_, sum| *sum != [0; 5]);
    rows
}

/// Work that a server waits for on whatever thread is free: it does not compile for other work.
fn on_any_thread<T: Send>(work: T) -> T {
    work
}

#[test]
fn a_report_is_waited_for_on_any_thread() {
    let annals = Annals::over(log_of(&objects::sample(1, 250)) as Arc<dyn Store>);
    let expected = report(&annals, &BY);
    let work = async move {
        let query = CostQuery::by(BY);
        annals.costs().report(&query).await
    };
    assert_eq!(block_on(on_any_thread(work)).unwrap(), expected);
}

#[test]
fn costs_are_what_a_recount_of_the_events_comes_to() {
    for seed in 0..20 {
        let log = log_of(&objects::sample(seed, 250));
        let annals = Annals::over(Arc::clone(&log) as Arc<dyn Store>);
        let expected = recount(log.as_ref());
        assert_eq!(reported(&annals), expected, "seed {seed}");
        // A second time from the rows alone, and once more from rows that were made again.
        assert_eq!(reported(&annals), expected, "seed {seed}");
        block_on(annals.index().rebuild(&mut |_| {})).unwrap();
        assert_eq!(reported(&annals), expected, "seed {seed}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn the_total_by_any_axis_is_the_same(history in objects::history(150..250)) {
        let log = log_of(&history);
        let annals = Annals::over(Arc::clone(&log) as Arc<dyn Store>);
        let total = report(&annals, &[]).total;
        let mut expected = [0; 5];
        for sums in recount(log.as_ref()).values() {
            expected.iter_mut().zip(sums).for_each(|(sum, more)| *sum += more);
        }
        prop_assert_eq!(counts(&total.used), expected);
        for axis in CostAxis::ALL {
            let report = report(&annals, &[axis]);
            prop_assert_eq!(&report.total, &total);
            let mut sum = annals::projections::CostSums::default();
            report.rows.iter().for_each(|row| sum.add(&row.sums));
            prop_assert_eq!(&sum, &total, "{}", axis);
        }
    }
}

#[test]
fn the_rows_are_the_same_however_their_fold_is_killed() {
    let history = objects::sample(24, 200);
    let appends = history.appends();
    let used =
        |append: &annals::event_log::Append| format!("{append:?}").contains("usage_recorded");
    assert!(appends.iter().any(used), "there is nothing to count");
    let catch_up = |log: &dyn Store| block_on(CostModel::new().catch_up(log));
    let resumed = check_resumable("costs.2.1", &appends, catch_up).unwrap();
    assert!(resumed.kills > 0, "{resumed:?}");
}

/// The first sample that has usage of a named model.
fn with_models() -> (Arc<MemoryLog>, String) {
    for seed in 0..50 {
        let log = log_of(&objects::sample(seed, 250));
        for entry in entries(log.as_ref()) {
            if let AnyEvent::Run(RunEvent::UsageRecorded(used)) = &entry.event
                && let Some(model) = used.model
            {
                let model = entry.text(model).to_string();
                return (log, model);
            }
        }
    }
    panic!("no sample has one");
}

#[test]
fn a_model_that_was_removed_is_in_no_row_and_its_tokens_are() {
    let (log, model_name) = with_models();
    let annals = Annals::over(Arc::clone(&log) as Arc<dyn Store>);
    let models = |annals: &Annals| -> Vec<Option<String>> {
        let rows = report(annals, &[CostAxis::Model]).rows;
        rows.into_iter()
            .map(|row| row.by[0].value.clone())
            .collect()
    };
    assert!(models(&annals).contains(&Some(model_name.clone())));
    let before = report(&annals, &[]).total.used;
    let said = entries(log.as_ref()).into_iter().filter(|entry| {
        let AnyEvent::Run(event) = &entry.event else {
            return false;
        };
        let model = match event {
            RunEvent::UsageRecorded(event) => event.model,
            RunEvent::ProvenanceRecorded(event) => Some(event.model),
            _ => None,
        };
        model.is_some_and(|it| entry.text(it).to_string() == model_name)
    });
    let targets = said.map(|entry| Target::Event(entry.position)).collect();
    let request = RedactRequest::new(targets, ActorRef::human("ada"), "a secret name");
    block_on(annals.contents().redact(&request, &mut |_| {})).unwrap();
    let after = models(&annals);
    assert!(!after.contains(&Some(model_name)), "{after:?}");
    assert_eq!(report(&annals, &[]).total.used, before);
}

#[test]
fn a_log_that_is_open_for_reading_only_has_them_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let url = path.to_str().unwrap();
    let history = objects::sample(3, 250);
    let appends = history.appends();
    let (first, rest) = appends.split_at(appends.len() / 2);
    let writer = block_on(Annals::open(url)).unwrap();
    for append in first {
        block_on(writer.log().append(append.clone())).unwrap();
    }
    let read_only = || OpenOptions::new().read_only(true).open(url).unwrap();
    // Without any rows, with rows of all, and with rows of a part.
    let reader = read_only();
    assert_eq!(reported(&reader), recount(writer.log().as_ref()));
    assert_eq!(reported(&writer), recount(writer.log().as_ref()));
    for append in rest {
        block_on(writer.log().append(append.clone())).unwrap();
    }
    block_on(writer.close());
    let reader = read_only();
    let expected = recount(reader.log().as_ref());
    assert!(!expected.is_empty());
    assert_eq!(reported(&reader), expected);
    block_on(reader.close());
}

#[test]
fn what_costs_cannot_be_by_is_refused() {
    let (log, _) = with_models();
    let annals = Annals::over(log);
    let of = |query: CostQuery| block_on(annals.costs().report(&query)).unwrap_err();
    let at = |text: &str| {
        let at = chrono::DateTime::parse_from_rfc3339(text).unwrap().to_utc();
        CostQuery::default().with_since(annals::domain::Timestamp::from(at))
    };
    let error = of(at("2026-01-31T10:07:00Z"));
    assert!(matches!(error, CostError::NotAQuarter { .. }), "{error}");
    for by in [
        vec![CostAxis::SubAgent, CostAxis::Day],
        vec![CostAxis::Day, CostAxis::Day],
    ] {
        let error = of(CostQuery::by(by));
        assert!(matches!(error, CostError::Axes { .. }), "{error}");
    }
    let error = of(CostQuery::default().with_of(Uuid::max()));
    assert!(matches!(error, CostError::NotFound { .. }), "{error}");
}

#[test]
fn what_an_object_cost_is_what_its_runs_did() {
    for seed in 0..20 {
        let log = log_of(&objects::sample(seed, 250));
        let annals = Annals::over(log);
        let of = |id: Uuid| {
            let query = CostQuery::default().with_of(id);
            block_on(annals.costs().report(&query)).unwrap().total
        };
        for row in report(&annals, &[CostAxis::Run]).rows {
            let run: Uuid = row.by[0].value.as_ref().unwrap().parse().unwrap();
            assert_eq!(of(run), row.sums);
        }
        for row in report(&annals, &[CostAxis::SubAgent]).rows {
            if let Some(task) = &row.by[0].value {
                let with = row.with_sub_agents.unwrap();
                assert_eq!(of(task.parse().unwrap()), with, "seed {seed}");
            }
        }
    }
    assert!(PriceTable::standard().models().next().is_some());
    assert_eq!(Kind::Run.object_type(), "run");
}
