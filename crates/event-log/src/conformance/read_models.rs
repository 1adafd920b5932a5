//! Read models: rows and checkpoint together, and in order.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use bytes::Bytes;
use futures::executor::block_on;

use super::Harness;
use super::support::{Done, at, batch_to, must_append};
use crate::Classified;
use crate::{CommitError, Position, Row, Rows, Store};

const MODEL: &str = "catalogue.v1_a";

fn put(key: &str, value: &str) -> (Bytes, Option<Bytes>) {
    (
        Bytes::copy_from_slice(key.as_bytes()),
        Some(Bytes::copy_from_slice(value.as_bytes())),
    )
}

fn delete(key: &str) -> (Bytes, Option<Bytes>) {
    (Bytes::copy_from_slice(key.as_bytes()), None)
}

fn commit(log: &dyn Store, expected: u64, rows: Rows, checkpoint: u64) -> Result<(), CommitError> {
    block_on(log.commit(MODEL, at(expected), rows, Position(checkpoint)))
}

fn checkpoint(log: &dyn Store, model: &str) -> u64 {
    block_on(log.checkpoint(model)).unwrap().position.0
}

fn get(log: &dyn Store, key: &str) -> Option<Bytes> {
    block_on(log.get(MODEL, key.as_bytes())).unwrap()
}

fn scan(log: &dyn Store, prefix: &[u8], after: Option<&[u8]>, limit: usize) -> Vec<Row> {
    block_on(log.scan(MODEL, prefix, after, limit)).unwrap()
}

/// A commit moves both, and both are there after reopening.
pub fn rows_and_checkpoint_move_together(harness: &dyn Harness) {
    let log = harness.open();
    must_append(&*log, batch_to("a-1", 9));
    assert_eq!(checkpoint(&*log, MODEL), 0);
    assert_eq!(get(&*log, "a"), None);
    commit(&*log, 0, vec![put("a", "1"), put("b", "")], 3).unwrap();
    assert_eq!(checkpoint(&*log, MODEL), 3);
    assert_eq!(get(&*log, "a").as_deref(), Some(&b"1"[..]));
    assert_eq!(
        get(&*log, "b").as_deref(),
        Some(&b""[..]),
        "an empty value is a value"
    );
    commit(
        &*log,
        3,
        vec![put("a", "2"), delete("b"), delete("never")],
        9,
    )
    .unwrap();
    let log = harness.reopen(log);
    assert_eq!(checkpoint(&*log, MODEL), 9);
    assert_eq!(
        scan(&*log, b"", None, 10),
        [(Bytes::from("a"), Bytes::from("2"))]
    );
    commit(&*log, 9, Vec::new(), 9).expect("a commit that changes nothing");
    // Another model has its own rows and checkpoint.
    assert_eq!(checkpoint(&*log, "catalogue.v1_"), 0);
    assert_eq!(block_on(log.get("catalogue.v1_", b"a")).unwrap(), None);
    block_on(log.commit("catalogue.v1_", at(0), vec![put("a", "x")], Position(1))).unwrap();
    assert_eq!(get(&*log, "a").as_deref(), Some(&b"2"[..]));
}

/// While commits go on, a row is as new as the checkpoints around its reading.
pub fn a_reader_never_sees_one_without_the_other(harness: &dyn Harness) {
    const COMMITS: u64 = 200;
    let log = harness.open();
    must_append(&*log, batch_to("a-1", usize::try_from(COMMITS).unwrap()));
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !done.load(Ordering::Acquire) {
                    let before = checkpoint(&*log, MODEL);
                    let row = get(&*log, "row").map_or(0, |value| {
                        std::str::from_utf8(&value).unwrap().parse::<u64>().unwrap()
                    });
                    let after = checkpoint(&*log, MODEL);
                    assert!(
                        before <= row && row <= after,
                        "{row} between {before} and {after}"
                    );
                }
            });
        }
        let _done = Done(&done);
        for n in 1..=COMMITS {
            commit(&*log, n - 1, vec![put("row", &n.to_string())], n).unwrap();
        }
    });
}

/// Two that fold the same events do not both count them.
pub fn the_faster_writer_wins(harness: &dyn Harness) {
    let log = harness.open();
    must_append(&*log, batch_to("a-1", 10));
    for round in 0..10_u64 {
        let answers: Vec<Result<(), CommitError>> = thread::scope(|scope| {
            let race = |n: usize| {
                let log = &*log;
                scope.spawn(move || {
                    commit(
                        log,
                        round,
                        vec![put(&format!("{round}/{n}"), "won")],
                        round + 1,
                    )
                })
            };
            let racers: Vec<_> = (0..8).map(race).collect();
            racers
                .into_iter()
                .map(|racer| racer.join().unwrap())
                .collect()
        });
        let lost: Vec<_> = answers.into_iter().filter_map(Result::err).collect();
        assert_eq!(lost.len(), 7, "round {round}");
        for error in lost {
            assert!(error.is_retryable());
            match error {
                CommitError::Checkpoint {
                    model,
                    expected,
                    actual,
                } => {
                    assert_eq!(model, MODEL);
                    assert_eq!((expected, actual), (Position(round), Position(round + 1)));
                }
                other => panic!("round {round}: {other:?}"),
            }
        }
        let rows = scan(&*log, format!("{round}/").as_bytes(), None, 100);
        assert_eq!(rows.len(), 1, "round {round}: the losers wrote nothing");
    }
}

/// A wrong checkpoint, one beyond the watermark, a bad name: no row is written.
pub fn a_refused_commit_changes_nothing(harness: &dyn Harness) {
    let log = harness.open();
    must_append(&*log, batch_to("a-1", 5));
    commit(&*log, 0, vec![put("a", "1")], 2).unwrap();
    let changes = || vec![put("a", "refused"), put("b", "refused")];
    for expected in [0, 1, 3, 5] {
        match commit(&*log, expected, changes(), 5) {
            Err(CommitError::Checkpoint { actual, .. }) => assert_eq!(actual, Position(2)),
            other => panic!("expected {expected}: {other:?}"),
        }
    }
    match commit(&*log, 2, changes(), 6) {
        Err(
            error @ CommitError::BeyondWatermark {
                checkpoint,
                watermark,
            },
        ) => {
            assert_eq!((checkpoint, watermark), (Position(6), Position(5)));
            assert!(!error.is_retryable());
        }
        other => panic!("beyond the watermark: {other:?}"),
    }
    let too_long = "m".repeat(101);
    for bad in ["", "A", "a-b", "a/b", "a b", "a\0", "é", &too_long] {
        let refused = block_on(log.commit(bad, at(0), changes(), Position(1)));
        assert!(
            matches!(refused, Err(CommitError::InvalidName { .. })),
            "{bad:?}: {refused:?}"
        );
        let refused = block_on(log.drop_model(bad));
        assert!(
            matches!(refused, Err(CommitError::InvalidName { .. })),
            "{bad:?}: {refused:?}"
        );
        assert_eq!(checkpoint(&*log, bad), 0, "{bad:?}");
        assert_eq!(block_on(log.get(bad, b"a")).unwrap(), None, "{bad:?}");
        assert!(
            block_on(log.scan(bad, b"", None, 9)).unwrap().is_empty(),
            "{bad:?}"
        );
        let back = block_on(log.scan_back(bad, b"", None, 9)).unwrap();
        assert!(back.is_empty(), "{bad:?}");
    }
    assert_eq!(checkpoint(&*log, MODEL), 2);
    assert_eq!(
        scan(&*log, b"", None, 10),
        [(Bytes::from("a"), Bytes::from("1"))]
    );
    let longest = "m".repeat(100);
    block_on(log.commit(&longest, at(0), changes(), Position(1))).unwrap();
    assert_eq!(checkpoint(&*log, &longest), 1);
}

/// Where one commit names a key twice, the later change is the one that counts.
pub fn the_last_change_of_a_key_counts(harness: &dyn Harness) {
    let log = harness.open();
    must_append(&*log, batch_to("a-1", 1));
    let rows = vec![
        put("a", "1"),
        put("b", "1"),
        put("a", "2"),
        delete("b"),
        delete("c"),
        put("c", "3"),
    ];
    commit(&*log, 0, rows, 1).unwrap();
    let wanted = [("a", "2"), ("c", "3")].map(|(k, v)| (Bytes::from(k), Bytes::from(v)));
    assert_eq!(scan(&*log, b"", None, 10), wanted);
}

/// A commit of very many rows, which a store may write in another way, keeps
/// every promise of a small one: the last change of a key counts, it is all or
/// nothing with its checkpoint, and small ones before and behind it stay in
/// their order.
pub fn many_rows_are_committed_at_once(harness: &dyn Harness) {
    const ROWS: u32 = 30_000;
    let log = harness.open();
    must_append(&*log, batch_to("a-1", 4));
    let key = |n: u32| Bytes::copy_from_slice(&n.to_be_bytes());
    let value = |n: u32| Some(Bytes::from(n.to_string()));
    commit(&*log, 0, vec![(key(1), value(0)), (key(2), value(0))], 1).unwrap();

    // From the last to the first, so that they must be put in order.
    let mut rows: Rows = (0..ROWS).rev().map(|n| (key(n), value(n))).collect();
    rows.extend([(key(5), value(0)), (key(5), value(50)), (key(2), None)]);
    assert!(matches!(
        commit(&*log, 0, rows.clone(), 2),
        Err(CommitError::Checkpoint { actual, .. }) if actual == Position(1)
    ));
    assert_eq!(checkpoint(&*log, MODEL), 1);
    commit(&*log, 1, rows, 2).unwrap();
    commit(&*log, 2, vec![(key(3), value(30)), (key(4), None)], 3).unwrap();

    let check = |log: &dyn Store| {
        let some = scan(log, b"", None, 6);
        let wanted = [(0, "0"), (1, "1"), (3, "30"), (5, "50"), (6, "6"), (7, "7")];
        assert_eq!(some, wanted.map(|(n, text)| (key(n), Bytes::from(text))));
        let back = block_on(log.scan_back(MODEL, b"", None, 1)).unwrap();
        assert_eq!(back, [(key(ROWS - 1), value(ROWS - 1).unwrap())]);
        assert_eq!(checkpoint(log, MODEL), 3);
    };
    check(&*log);
    let log = harness.reopen(log);
    check(&*log);
    block_on(log.drop_model(MODEL)).unwrap();
    assert!(scan(&*log, b"", None, 10).is_empty());
    assert_eq!(checkpoint(&*log, MODEL), 0);
}

/// Scans follow the byte order of the keys, for any bytes.
pub fn rows_are_scanned_in_order(harness: &dyn Harness) {
    let log = harness.open();
    must_append(&*log, batch_to("a-1", 1));
    let keys: [&[u8]; 11] = [
        b"a",
        b"a\0",
        b"a\0b",
        b"a\xff",
        b"a\xff\xff",
        b"b",
        b"\0",
        b"\0\0",
        b"\xff",
        b"\xff\xff",
        b"c/r",
    ];
    let row = |key: &[u8]| (Bytes::copy_from_slice(key), Bytes::copy_from_slice(key));
    let rows = keys
        .iter()
        .map(|key| (row(key).0, Some(row(key).1)))
        .collect();
    commit(&*log, 0, rows, 1).unwrap();
    for other in ["catalogue.v1_", "catalogue.v1_a0", "catalogue.v1_a."] {
        block_on(log.commit(other, at(0), vec![put("a", "other")], Position(1))).unwrap();
    }
    let mut sorted = keys;
    sorted.sort_unstable();
    for prefix in [
        &b""[..],
        b"a",
        b"a\0",
        b"a\xff",
        b"\xff",
        b"\xff\xff",
        b"\xff\xff\xff",
        b"zz",
        b"c/",
    ] {
        for after in [
            None,
            Some(&b""[..]),
            Some(b"a"),
            Some(b"a\0a"),
            Some(b"b"),
            Some(b"\xff"),
            Some(b"\xff\xff"),
        ] {
            for limit in [0, 1, 3, 100] {
                compare_scans(&*log, &sorted, (prefix, after), limit);
            }
        }
    }
}

/// Both scans of rows that have their keys as values, from a place on.
fn compare_scans(
    log: &dyn Store,
    sorted: &[&[u8]],
    (prefix, place): (&[u8], Option<&[u8]>),
    limit: usize,
) {
    let row = |key: &&[u8]| (Bytes::copy_from_slice(key), Bytes::copy_from_slice(key));
    let of_prefix = || sorted.iter().filter(|key| key.starts_with(prefix));
    let behind = of_prefix().filter(|key| place.is_none_or(|after| **key > after));
    let wanted: Vec<Row> = behind.take(limit.max(1)).map(row).collect();
    let found = scan(log, prefix, place, limit);
    assert_eq!(
        found, wanted,
        "prefix {prefix:?}, after {place:?}, limit {limit}"
    );
    let before = of_prefix().rev();
    let before = before.filter(|key| place.is_none_or(|before| **key < before));
    let wanted: Vec<Row> = before.take(limit.max(1)).map(row).collect();
    let found = block_on(log.scan_back(MODEL, prefix, place, limit)).unwrap();
    assert_eq!(
        found, wanted,
        "prefix {prefix:?}, before {place:?}, limit {limit}"
    );
}

/// Each key gets its own answer, in the order of the request.
pub fn many_rows_are_got_at_once(harness: &dyn Harness) {
    let log = harness.open();
    must_append(&*log, batch_to("a-1", 2));
    let get = |keys: &[&str]| {
        let keys: Vec<Bytes> = keys
            .iter()
            .map(|key| Bytes::copy_from_slice(key.as_bytes()))
            .collect();
        block_on(log.get_many(MODEL, &keys)).unwrap()
    };
    let value = |text: &str| Some(Bytes::copy_from_slice(text.as_bytes()));
    assert_eq!(get(&["a"]), [None], "a model that does not exist");
    let rows = vec![put("a", "1"), put("b", ""), put("c", "3")];
    commit(&*log, 0, rows, 1).unwrap();
    commit(&*log, 1, vec![put("a", "2"), delete("c")], 2).unwrap();
    block_on(log.commit("catalogue.v1_", at(0), vec![put("d", "x")], Position(1))).unwrap();
    assert_eq!(get(&[]), Vec::<Option<Bytes>>::new());
    let asked = ["d", "b", "a", "c", "b", ""];
    let wanted = [None, value(""), value("2"), None, value(""), None];
    assert_eq!(get(&asked), wanted);
    let keys = [Bytes::from("a")];
    assert_eq!(
        block_on(log.get_many("not/a model", &keys)).unwrap(),
        [None]
    );
}

/// Rows and checkpoint go, those of other models stay, and it can begin again.
pub fn a_dropped_model_is_gone(harness: &dyn Harness) {
    let log = harness.open();
    must_append(&*log, batch_to("a-1", 2));
    let others = ["catalogue.v1_", "catalogue.v1_a0", "catalogue.v1_b"];
    for model in [&others[..], &[MODEL]].concat() {
        block_on(log.commit(
            model,
            at(0),
            vec![put("a", "1"), put("b", "2")],
            Position(2),
        ))
        .unwrap();
    }
    block_on(log.drop_model(MODEL)).unwrap();
    block_on(log.drop_model(MODEL)).expect("dropping what is not there");
    let log = harness.reopen(log);
    assert_eq!(checkpoint(&*log, MODEL), 0);
    assert_eq!(
        (get(&*log, "a"), scan(&*log, b"", None, 10)),
        (None, Vec::new())
    );
    for model in others {
        assert_eq!(checkpoint(&*log, model), 2, "{model}");
        assert_eq!(
            block_on(log.scan(model, b"", None, 10)).unwrap().len(),
            2,
            "{model}"
        );
    }
    commit(&*log, 0, vec![put("c", "3")], 1).unwrap();
    assert_eq!(
        scan(&*log, b"", None, 10),
        [(Bytes::from("c"), Bytes::from("3"))]
    );
}
