//! Read models of one's own: what `ReadModel` promises of any projection, over any store.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use annals::event_log::{Append, Page, Position, Query, ReadError, Redaction, Store};
use annals::projections::{Entry, Projection, ProjectionError, ReadModel, Table, TableQuery};
use annals_testkit::generators::objects;
use annals_testkit::through::{Hook, Through};
use async_trait::async_trait;
use futures::executor::block_on;

use crate::stores::{Logs, over_each_store};

over_each_store! {
    each_event_counts_once_and_the_lag_is_what_is_left,
    rows_are_waited_for_on_any_thread,
    a_rebuild_answers_from_the_rows_before_until_it_is_done,
    another_version_is_folded_again_and_the_rows_before_go,
    a_rebuild_that_is_killed_at_any_call_leaves_whole_rows,
    several_that_fold_at_once_count_each_event_once,
    a_reader_folds_each_event_once_for_all_its_questions,
    a_reader_answers_from_rows_that_others_write_meanwhile,
}

/// How many events there are of each type; with a version, so that it can have another one.
#[derive(Debug)]
struct Types(u32);

impl Projection for Types {
    fn name(&self) -> &str {
        "types"
    }

    fn version(&self) -> u32 {
        self.0
    }

    async fn apply(&self, entry: &Entry, table: &mut Table<'_>) -> Result<(), ProjectionError> {
        let key = entry.event.event_type().as_bytes();
        let count: u64 = table.get(key).await?.unwrap_or_default();
        table.put(key, &(count + 1))
    }
}

fn appends() -> Vec<Append> {
    objects::sample(11, 120).appends()
}

fn log_of(logs: &dyn Logs, appends: &[Append]) -> Arc<dyn Store> {
    let log = logs.open();
    for append in appends {
        block_on(log.append(append.clone())).unwrap();
    }
    log
}

/// What the rows should be: counted from the records, and not by the projection.
fn counted(log: &dyn Store) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    let query = Query::all(Position(1)).limit(10_000);
    for record in block_on(log.read(query)).unwrap().records {
        *counts.entry(record.event_type().to_owned()).or_default() += 1;
    }
    counts
}

async fn rows(model: &ReadModel<Types>, log: &dyn Store) -> BTreeMap<String, u64> {
    let rows = model.scan(log, b"", None, 1_000).await.unwrap();
    let row = |(key, value): (bytes::Bytes, bytes::Bytes)| {
        let key = String::from_utf8(key.to_vec()).unwrap();
        (key, serde_json::from_slice(&value).unwrap())
    };
    rows.into_iter().map(row).collect()
}

fn each_event_counts_once_and_the_lag_is_what_is_left(logs: &dyn Logs) {
    let appends = appends();
    let (first, rest) = appends.split_at(appends.len() / 2);
    let log = log_of(logs, first);
    let log = log.as_ref();
    let types = ReadModel::new(Types(1)).unwrap();
    let before = block_on(types.lag(log)).unwrap();
    assert_eq!(before.events(), log.watermark().0);
    let position = block_on(types.catch_up(log)).unwrap();
    assert_eq!(position, log.watermark());
    for append in rest {
        block_on(log.append(append.clone())).unwrap();
    }
    let lag = block_on(types.lag(log)).unwrap();
    assert_eq!(lag.events(), log.watermark().0 - position.0);
    assert!(lag.events() > 0);
    // Another process goes on where the first one was.
    let other = ReadModel::new(Types(1)).unwrap();
    block_on(other.catch_up(log)).unwrap();
    assert_eq!(block_on(rows(&types, log)), counted(log));
    assert_eq!(block_on(types.lag(log)).unwrap().events(), 0);
}

/// Work that a server waits for on whatever thread is free: it does not compile for other work.
fn on_any_thread<T: Send>(work: T) -> T {
    work
}

fn rows_are_waited_for_on_any_thread(logs: &dyn Logs) {
    let log = log_of(logs, &appends());
    let expected = counted(log.as_ref());
    let work = async move {
        let types = ReadModel::new(Types(1))?;
        types.catch_up(log.as_ref()).await?;
        let rows = types.scan(log.as_ref(), b"", None, 1_000).await?;
        let (first, _) = &rows[0];
        let value: Option<u64> = types.get(log.as_ref(), first).await?;
        Ok::<_, ProjectionError>((rows.len(), value))
    };
    let (rows, first) = block_on(on_any_thread(work)).unwrap();
    assert_eq!(rows, expected.len());
    assert_eq!(first, expected.values().next().copied());
}

/// Waits for work while this thread waits for other work: on a thread of its own.
fn meanwhile<T: Send>(work: impl Future<Output = T> + Send) -> T {
    std::thread::scope(|scope| scope.spawn(|| block_on(work)).join().unwrap())
}

fn a_rebuild_answers_from_the_rows_before_until_it_is_done(logs: &dyn Logs) {
    let appends = appends();
    let (first, rest) = appends.split_at(appends.len() / 2);
    let log = log_of(logs, first);
    let log = log.as_ref();
    let types = ReadModel::new(Types(1)).unwrap();
    block_on(types.catch_up(log)).unwrap();
    // They are wrong, so that one sees which rows answer.
    let wrong = vec![("wrong".into(), Some("1".into()))];
    let at = block_on(log.checkpoint("types.1.1")).unwrap();
    block_on(log.commit("types.1.1", at, wrong, at.position)).unwrap();
    let mut seen = 0;
    let mut rest = rest.iter();
    let mut progress = |_| {
        let row = meanwhile(types.get::<u64>(log, b"wrong"));
        assert_eq!(row.unwrap(), Some(1));
        seen += 1;
        // Others go on to append meanwhile, and to fold into the rows that answer.
        for append in rest.by_ref().take(3) {
            meanwhile(log.append(append.clone())).unwrap();
        }
        let other = ReadModel::new(Types(1)).unwrap();
        meanwhile(other.catch_up(log)).unwrap();
    };
    let rebuilt = block_on(types.rebuild(log, &mut progress)).unwrap();
    assert_eq!(rebuilt, log.watermark());
    assert!(seen > 1);
    assert_eq!(block_on(rows(&types, log)), counted(log));
    let left = block_on(log.scan("types.1.1", b"", None, 1)).unwrap();
    assert_eq!(left, [], "the rows before are gone");
    // What goes on is the new one.
    for append in rest {
        block_on(log.append(append.clone())).unwrap();
    }
    block_on(types.catch_up(log)).unwrap();
    assert_eq!(block_on(rows(&types, log)), counted(log));
}

fn another_version_is_folded_again_and_the_rows_before_go(logs: &dyn Logs) {
    let log = log_of(logs, &appends());
    let log = log.as_ref();
    let before = ReadModel::new(Types(1)).unwrap();
    block_on(before.rebuild(log, &mut |_| {})).unwrap();
    let types = ReadModel::new(Types(3)).unwrap();
    assert_eq!(
        block_on(types.lag(log)).unwrap().events(),
        log.watermark().0
    );
    assert_eq!(block_on(rows(&before, log)), counted(log));
    block_on(types.catch_up(log)).unwrap();
    assert_eq!(block_on(rows(&types, log)), counted(log));
    for model in ["types.1", "types.1.1", "types.1.2"] {
        assert_eq!(
            block_on(log.checkpoint(model)).unwrap().position,
            Position::START
        );
    }
}

/// Ends at one of its calls.
struct Ended {
    calls: AtomicU64,
    at: u64,
}

impl Hook for Ended {
    fn before(&self) -> Result<(), ReadError> {
        match self.calls.fetch_add(1, Ordering::Relaxed) >= self.at {
            true => Err(ReadError::Closed),
            false => Ok(()),
        }
    }
}

fn a_rebuild_that_is_killed_at_any_call_leaves_whole_rows(logs: &dyn Logs) {
    let appends = appends();
    // In memory at each call, elsewhere at one of several.
    let step = u64::from(logs.kind().thinned().min(7));
    let mut at = 0;
    loop {
        let log = log_of(logs, &appends);
        let types = ReadModel::new(Types(1)).unwrap();
        block_on(types.catch_up(log.as_ref())).unwrap();
        let calls = AtomicU64::new(0);
        let killed = Through::new(Arc::clone(&log), Ended { calls, at });
        let rebuilt = block_on(types.rebuild(&killed, &mut |_| {}));
        let again = ReadModel::new(Types(1)).unwrap();
        let expected = counted(log.as_ref());
        assert_eq!(
            block_on(rows(&again, log.as_ref())),
            expected,
            "killed at {at}"
        );
        block_on(again.rebuild(log.as_ref(), &mut |_| {})).unwrap();
        assert_eq!(block_on(rows(&again, log.as_ref())), expected);
        if rebuilt.is_ok() {
            break;
        }
        at += step;
    }
    assert!(at > 10, "{at}");
}

fn several_that_fold_at_once_count_each_event_once(logs: &dyn Logs) {
    let appends = appends();
    let log = logs.open();
    std::thread::scope(|scope| {
        for _ in 0..3 {
            let log = Arc::clone(&log);
            let expected = appends.len();
            scope.spawn(move || {
                let types = ReadModel::new(Types(1)).unwrap();
                let mut each = |position: Position| position.0 < expected as u64;
                // Another one may be faster each time: that is said, and tried again.
                while let Err(error) = block_on(types.follow(log.as_ref(), &mut each)) {
                    assert!(matches!(error, ProjectionError::Moving { .. }), "{error}");
                }
            });
        }
        for append in &appends {
            block_on(log.append(append.clone())).unwrap();
        }
    });
    let types = ReadModel::new(Types(1)).unwrap();
    block_on(types.catch_up(log.as_ref())).unwrap();
    assert_eq!(block_on(rows(&types, log.as_ref())), counted(log.as_ref()));
}

/// Asks for all rows.
struct AllRows;

#[async_trait]
impl TableQuery for AllRows {
    type Answer = BTreeMap<String, u64>;

    async fn answer(&self, table: &Table<'_>) -> Result<Self::Answer, ProjectionError> {
        let (rows, mut next) = table.page(b"", None, 3).await?;
        let mut all = rows;
        while let Some(after) = next {
            let (rows, further) = table.page(b"", Some(&after), 3).await?;
            all.extend(rows);
            next = further;
        }
        let row = |(key, value): (bytes::Bytes, bytes::Bytes)| {
            let key = String::from_utf8(key.to_vec()).unwrap();
            (key, serde_json::from_slice(&value).unwrap())
        };
        Ok(all.into_iter().map(row).collect())
    }
}

/// Counts the records that are read.
#[derive(Clone, Default)]
struct Reads(Arc<AtomicUsize>);

impl Hook for Reads {
    fn page(&self, _: &Query, page: Page) -> Page {
        self.0.fetch_add(page.records.len(), Ordering::Relaxed);
        page
    }
}

fn a_reader_folds_each_event_once_for_all_its_questions(logs: &dyn Logs) {
    let appends = appends();
    let (first, rest) = appends.split_at(appends.len() / 2);
    let (last, rest) = rest.split_last().unwrap();
    let log = log_of(logs, first);
    let reads = Reads::default();
    let reader = Through::new(Arc::clone(&log), reads.clone());
    let types = ReadModel::new(Types(1)).unwrap();
    for _ in 0..3 {
        let answer = block_on(types.read_through(&reader, &AllRows)).unwrap();
        assert_eq!(answer, counted(log.as_ref()));
    }
    assert_eq!(reads.0.swap(0, Ordering::Relaxed), records(log.as_ref()));
    for append in rest {
        let before = records(log.as_ref());
        block_on(log.append(append.clone())).unwrap();
        let answer = block_on(types.read_through(&reader, &AllRows)).unwrap();
        assert_eq!(answer, counted(log.as_ref()));
        let added = records(log.as_ref()) - before;
        assert_eq!(reads.0.swap(0, Ordering::Relaxed), added);
    }
    let lag = block_on(types.lag(log.as_ref())).unwrap();
    assert_eq!(lag.position, Position::START, "nothing was written");
    // Content was removed: what was folded before may have it.
    let redaction = Redaction {
        append: last.clone(),
        removed: Vec::new(),
        blobs: Vec::new(),
        seen: log.watermark(),
    };
    block_on(log.redact(redaction)).unwrap();
    let answer = block_on(types.read_through(&reader, &AllRows)).unwrap();
    assert_eq!(answer, counted(log.as_ref()));
    assert_eq!(reads.0.swap(0, Ordering::Relaxed), records(log.as_ref()));
}

fn records(log: &dyn Store) -> usize {
    usize::try_from(log.watermark().0).unwrap()
}

fn a_reader_answers_from_rows_that_others_write_meanwhile(logs: &dyn Logs) {
    let log = logs.open();
    let log = log.as_ref();
    let reader = ReadModel::new(Types(1)).unwrap();
    let writer = ReadModel::new(Types(1)).unwrap();
    for (n, append) in appends().into_iter().enumerate() {
        block_on(log.append(append)).unwrap();
        match n % 5 {
            1 => drop(block_on(writer.keep_up(log, 2, 1)).unwrap()),
            3 => drop(block_on(writer.catch_up(log)).unwrap()),
            4 if n % 20 == 4 => drop(block_on(writer.rebuild(log, &mut |_| {})).unwrap()),
            _ => {}
        }
        let answer = block_on(reader.read_through(log, &AllRows)).unwrap();
        assert_eq!(answer, counted(log), "after append {n}");
    }
}

#[test]
fn names_that_others_have_are_refused() {
    #[derive(Debug)]
    struct Named(&'static str);
    impl Projection for Named {
        fn name(&self) -> &str {
            self.0
        }
        async fn apply(&self, _: &Entry, _: &mut Table<'_>) -> Result<(), ProjectionError> {
            Ok(())
        }
    }
    for name in [
        "",
        "catalogue",
        "directory",
        "subscriptions",
        "a.b",
        "Tools",
        "ä",
    ] {
        let error = ReadModel::new(Named(name)).unwrap_err();
        assert!(error.to_string().contains(&format!("{name:?}")), "{error}");
    }
    ReadModel::new(Named("tools_2")).unwrap();
}
