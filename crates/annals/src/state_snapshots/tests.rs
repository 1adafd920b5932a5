//! Tests of the snapshots of states.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::sync::Arc;

use annals_event_log::memory::MemoryLog;
use annals_testkit::generators::objects;
use futures::executor::block_on;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use uuid::Uuid;

use super::*;
use crate::{Annals, Request};

/// A stream is long here from so many events on: as short as most are in a random history.
const SHORT: usize = 2;

fn annals() -> Annals {
    Annals::over(Arc::new(MemoryLog::new(Uuid::from_u128(1))))
}

fn streams(annals: &Annals) -> BTreeSet<StreamRef> {
    let mut streams = BTreeSet::new();
    let mut next = Some(1);
    while let Some(from) = next {
        let page = block_on(annals.log().read(Query::all(Position(from)))).unwrap();
        streams.extend(
            page.records
                .iter()
                .map(|record| record.stream().parse::<StreamRef>().unwrap()),
        );
        next = page.next;
    }
    streams
}

fn rows(annals: &Annals) -> Vec<(Bytes, Bytes)> {
    rows_of(annals, MODEL)
}

fn rows_of(annals: &Annals, model: &str) -> Vec<(Bytes, Bytes)> {
    block_on(annals.log().scan(model, &[], None, 10_000)).unwrap()
}

fn put(annals: &Annals, key: Bytes, snapshot: &Snapshot) {
    let log = annals.log();
    let checkpoint = block_on(log.checkpoint(MODEL)).unwrap();
    let row = (key, Some(encode_row(snapshot).unwrap().into()));
    block_on(log.commit(MODEL, checkpoint, vec![row], checkpoint.position)).unwrap();
}

fn seen(loaded: &Loaded) -> (u64, String) {
    (loaded.version, format!("{:?}", loaded.state))
}

fn config(cases: u32) -> Config {
    let config = Config::with_cases(cases);
    let rng_seed = match config.rng_seed {
        RngSeed::Random => RngSeed::Fixed(20_260_102),
        fixed @ RngSeed::Fixed(_) => fixed,
    };
    Config { rng_seed, ..config }
}

proptest! {
    #![proptest_config(config(24))]

    /// Regardless of what happens between two looks, a state from a snapshot is the state from all events.
    #[test]
    fn a_state_from_a_snapshot_is_that_of_all_events(
        commands in objects::commands(120..400),
        looks in prop::collection::vec(1..40_usize, 1..12),
    ) {
        let annals = annals();
        let log = annals.log().as_ref();
        let mut commands = commands.into_iter().enumerate().peekable();
        let mut taken = 0;
        for look in looks.into_iter().cycle() {
            if commands.peek().is_none() {
                break;
            }
            for (n, command) in commands.by_ref().take(look) {
                let request = Request::new(objects::actor(n as u64, &command), command);
                let _ = block_on(annals.execute(request));
            }
            for stream in streams(&annals) {
                let with = block_on(fold_long(log, stream, SHORT)).unwrap();
                let without = block_on(fold_long(log, stream, usize::MAX)).unwrap();
                prop_assert_eq!(seen(&with), seen(&without), "{:?}", stream);
                taken += usize::from(block_on(take(log, stream)).unwrap().is_some());
            }
            let report = block_on(annals.index().verify_states()).unwrap();
            prop_assert!(report.is_sound(), "{:?}", report);
            prop_assert_eq!(report.compared, rows(&annals).len() as u64);
        }
        prop_assert!(taken > 0, "no stream was long enough");
    }
}

/// A log with one long stream, its row and its name.
fn with_a_row() -> (Annals, StreamRef, Bytes, Snapshot) {
    let annals = annals();
    let pipeline = annals_domain::PipelineId(Uuid::from_u128(7));
    let create = annals_domain::pipeline::CreatePipeline::new()
        .with_id(pipeline)
        .with_max_frames(3);
    let agent = annals_domain::ActorRef::agent("coder");
    block_on(annals.execute(Request::new(agent.clone(), create))).unwrap();
    for _ in 0..40 {
        block_on(annals.by(&agent).push_frame(
            pipeline,
            annals_domain::pipeline::FrameKind::ToolCall,
            "a call",
        ))
        .unwrap();
    }
    let stream = pipeline.stream();
    block_on(fold_long(annals.log().as_ref(), stream, SHORT)).unwrap();
    let (key, row) = rows(&annals).pop().unwrap();
    let snapshot = current(&row).unwrap();
    assert_eq!(snapshot.version, 41);
    (annals, stream, key, snapshot)
}

#[test]
fn a_snapshot_is_taken_only_where_it_is_of_this_history_and_of_these_folds() {
    let (annals, stream, key, right) = with_a_row();
    let log = annals.log().as_ref();
    let taken = |snapshot: &Snapshot| {
        put(&annals, key.clone(), snapshot);
        block_on(take(log, stream)).unwrap().is_some()
    };
    assert!(taken(&right), "the control");
    let with = |alter: fn(&mut Snapshot)| {
        let mut snapshot = decode_row(&encode_row(&right).unwrap()).unwrap();
        alter(&mut snapshot);
        snapshot
    };
    assert!(!taken(&with(|it| it.folds += 1)));
    assert!(!taken(&with(|it| it.version -= 1)));
    assert!(!taken(&with(|it| it.version += 1)));
    assert!(!taken(&with(|it| it.version = 0)));
    assert!(!taken(&with(|it| it.record[31] ^= 1)));
    assert!(!taken(&with(|it| it.state.truncate(3))));
    // Another state that can be read, and bytes after one.
    let other = |it: &mut Snapshot| it.state = it.state.replace("41", "40").replace("40", "39");
    assert!(!taken(&with(other)));
    assert!(!taken(&with(|it| it.state.push_str(" {}"))));
    assert!(!taken(&with(|it| it.check[7] ^= 1)));
    let checkpoint = block_on(log.checkpoint(MODEL)).unwrap();
    let row = (key.clone(), Some(Bytes::from_static(b"no row")));
    block_on(log.commit(MODEL, checkpoint, vec![row], checkpoint.position)).unwrap();
    assert!(block_on(take(log, stream)).unwrap().is_none());
}

#[test]
fn every_fault_of_a_snapshot_is_found() {
    let (annals, _, key, right) = with_a_row();
    let found = |key: &Bytes, snapshot: &Snapshot| {
        block_on(annals.log().drop_model(MODEL)).unwrap();
        put(&annals, key.clone(), snapshot);
        let report = block_on(annals.index().verify_states()).unwrap();
        assert_eq!(report.total_findings, report.findings.len() as u64);
        let reason = report.findings.first().map(|fault| fault.reason.clone());
        (report.compared, report.unused, reason.unwrap_or_default())
    };
    let with = |alter: fn(&mut Snapshot)| {
        let mut snapshot = decode_row(&encode_row(&right).unwrap()).unwrap();
        alter(&mut snapshot);
        snapshot
    };
    assert_eq!(found(&key, &right), (1, 0, String::new()), "the control");
    // What it says is another state, which nothing else would notice.
    let other = with(|it| it.state = it.state.replace("41", "40").replace("40", "39"));
    assert_eq!(found(&key, &other), (1, 0, "it differs".to_owned()));
    assert_eq!(
        found(&key, &with(|it| it.folds += 1)),
        (0, 1, String::new())
    );
    let beyond = found(&key, &with(|it| it.version = 50)).2;
    assert_eq!(beyond, "it is of version 50, and the stream ends at 41");
    let elsewhere = found(&key, &with(|it| it.record[0] ^= 1)).2;
    assert_eq!(elsewhere, "it was made from another record");
    let name = Bytes::from_static(b"nothing");
    assert_eq!(found(&name, &right).2, "no stream has such a name");
}

/// What is read again is bounded; a row that could not be read would be written in vain each time.
#[test]
fn a_state_that_is_too_large_has_no_snapshot() {
    let (annals, ..) = with_a_row();
    block_on(annals.log().drop_model(MODEL)).unwrap();
    let stream = StreamRef {
        kind: annals_domain::StreamKind::Intent,
        id: Uuid::from_u128(9),
    };
    let log = annals.log().as_ref();
    let keeps = |tasks: u128| {
        let mut loaded = Loaded {
            version: 1,
            ..Loaded::absent(stream.kind)
        };
        for task in 0..tasks {
            let task = annals_domain::TaskId(Uuid::from_u128(task));
            let added = annals_domain::intent::TaskAdded { task };
            let at = annals_domain::Timestamp::EPOCH;
            let origin = annals_domain::Origin::recorded(at, "agent", "coder", None);
            loaded
                .state
                .evolve(&AnyEvent::Intent(added.into()), &origin);
        }
        let tail = Tail {
            events: 1,
            bytes: usize::MAX,
            last: Some((Position(1), Digest([1; 32]))),
        };
        let checkpoint = block_on(log.checkpoint(MODEL)).unwrap();
        block_on(keep(log, stream, checkpoint, &loaded, &tail)).unwrap();
        let kept = rows(&annals).pop();
        block_on(annals.log().drop_model(MODEL)).unwrap();
        kept.map(|(_, row)| current(&row).is_some())
    };
    assert_eq!(keeps(10_000), Some(true));
    assert_eq!(keeps(40_000), None);
}

#[test]
fn a_rebuild_drops_snapshots() {
    let (annals, ..) = with_a_row();
    block_on(annals.index().rebuild(&mut |_| {})).unwrap();
    assert!(rows(&annals).is_empty());
}

/// A snapshot as it was stored before it had check bytes, in the model of that time.
#[derive(Serialize)]
struct Older {
    folds: u16,
    version: u64,
    record: [u8; 32],
    state: String,
}

fn put_older(annals: &Annals, key: &Bytes, right: &Snapshot) {
    let older = Older {
        folds: right.folds,
        version: right.version,
        record: right.record,
        state: right.state.clone(),
    };
    let row = (key.clone(), Some(encode_row(&older).unwrap().into()));
    let (log, at) = (annals.log(), Position(1));
    let checkpoint = block_on(log.checkpoint("states")).unwrap();
    block_on(log.commit("states", checkpoint, vec![row], at)).unwrap();
}

#[test]
fn a_snapshot_of_an_older_layout_is_not_used_and_no_finding() {
    let (annals, stream, key, right) = with_a_row();
    let log = annals.log().as_ref();
    block_on(log.drop_model(MODEL)).unwrap();
    put_older(&annals, &key, &right);
    let report = block_on(annals.index().verify_states()).unwrap();
    assert_eq!(report, StatesReport::default());
    assert!(block_on(take(log, stream)).unwrap().is_none());

    // The next one that is kept takes its place.
    block_on(fold_long(log, stream, SHORT)).unwrap();
    assert_eq!(rows_of(&annals, "states"), []);
    assert_eq!(rows(&annals).len(), 1);
    assert!(block_on(take(log, stream)).unwrap().is_some());

    put_older(&annals, &key, &right);
    block_on(annals.index().rebuild(&mut |_| {})).unwrap();
    assert_eq!(rows_of(&annals, "states"), []);
}

/// The layout of a row and the model's name change together.
#[test]
fn the_model_is_named_by_the_layout_of_its_rows() {
    let snapshot = Snapshot {
        folds: 1,
        version: 300,
        record: [7; 32],
        check: [8; 8],
        state: "{}".to_owned(),
    };
    let row = encode_row(&snapshot).unwrap();
    let digest = Digest::of(&row).to_string();
    assert_eq!(
        (MODEL, digest.as_str()),
        (
            "states.2",
            "9e46996c5b4b7251e55185de6b136bdc5ac466f64773a7d766ab41cf3993fd85"
        ),
        "the layout changed: give MODEL the next number, put its name now into OLDER, and the new digest here"
    );
}
