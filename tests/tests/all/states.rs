//! Snapshots of states, as a restarted program reads them: the answers that a long run gets do not
//! depend on them, and they are what the folds of this version give.

use std::collections::BTreeMap;

use annals::domain::run::{FailRun, ToolStatus};
use annals::domain::{AnyState, Origin, STATES_VERSION, StreamKind, StreamRef};
use annals::{Annals, OpenOptions};
use annals_event_log::Digest;
use annals_testkit::generators::objects;
use futures::executor::block_on;
use rocksdb::IteratorMode;

use crate::support::{call, raw, request, run_with_calls};

/// The read model that has the snapshots.
const MODEL: &str = "states.2";
/// More calls than a stream may have that is folded from its beginning.
const CALLS: usize = 900;

fn snapshots(annals: &Annals) -> usize {
    block_on(annals.log().scan(MODEL, &[], None, 100))
        .unwrap()
        .len()
}

#[test]
fn a_process_that_begins_takes_a_long_run_from_a_snapshot() {
    let home = tempfile::tempdir().unwrap();
    let url = home.path().join("log").display().to_string();
    let open = || block_on(Annals::open(&url)).unwrap();
    let close = |annals: Annals| block_on(annals.close());

    let annals = open();
    let run = run_with_calls(&annals, CALLS);
    assert_eq!(snapshots(&annals), 0, "who wrote it has it in memory");
    close(annals);

    let annals = open();
    block_on(annals.execute(call(run, ToolStatus::Ok))).unwrap();
    assert_eq!(snapshots(&annals), 1, "the run's; its task is short");
    close(annals);

    // A reader next to a writer uses it as well, and keeps none.
    let reader = OpenOptions::new().read_only(true).open(&url).unwrap();
    let report = block_on(reader.index().verify_states()).unwrap();
    assert_eq!(
        (report.compared, report.total_findings),
        (1, 0),
        "{report:?}"
    );
    close(reader);

    let annals = open();
    let fail = FailRun::new(run, "out of time");
    block_on(annals.execute(request(fail))).unwrap();
    close(annals);
    let annals = open();
    let refused = block_on(annals.execute(call(run, ToolStatus::Ok)));
    assert!(refused.is_err(), "what came behind the snapshot counts");
    close(annals);
}

/// What a snapshot of a state is as text.
fn written(state: &AnyState) -> String {
    let mut text = Vec::new();
    state
        .serialize(&mut serde_json::Serializer::new(&mut text))
        .unwrap();
    String::from_utf8(text).unwrap()
}

fn read(kind: StreamKind, text: &str) -> AnyState {
    AnyState::deserialize(kind, &mut serde_json::Deserializer::from_str(text)).unwrap()
}

/// Gives the state after each event of generated histories to `each`.
fn each_state(mut each: impl FnMut(StreamRef, &AnyState)) {
    for seed in 1..=24 {
        let history = objects::sample(seed, 600);
        let mut states: BTreeMap<String, AnyState> = BTreeMap::new();
        for (tried, events) in history.accepted() {
            for emitted in events {
                let stream = emitted.stream;
                let state = states
                    .entry(stream.to_string())
                    .or_insert_with(|| AnyState::new(stream.kind));
                let origin = Origin::new(tried.at, &tried.actor);
                state.evolve(&emitted.event, &origin);
                each(stream, state);
            }
        }
    }
}

#[test]
fn a_state_that_was_written_is_read_again() {
    let mut kinds = BTreeMap::new();
    each_state(|stream, state| {
        let text = written(state);
        let again = read(stream.kind, &text);
        assert_eq!(format!("{state:?}"), format!("{again:?}"), "{text}");
        *kinds.entry(stream.kind.as_str()).or_insert(0) += 1;
    });
    println!("{kinds:?}");
    assert_eq!(
        kinds.len(),
        StreamKind::ALL.len(),
        "every kind of aggregate: {kinds:?}"
    );
}

/// All states of generated histories, at [`STATES_VERSION`].
const DIGEST: &str = "ed95eccb21e82a0c6a9000f9a7a17e717454f8f40ecbdd04dde212e92fd052a5";

#[test]
fn the_version_of_the_folds_changes_with_them() {
    let mut all = Vec::new();
    each_state(|_, state| {
        all.extend_from_slice(written(state).as_bytes());
        all.push(b'\n');
    });
    let digest = Digest::of(&all).to_string();
    assert_eq!(
        digest, DIGEST,
        "version {STATES_VERSION}: a state, its serialized form, a fold or the generated commands changed. Raise \
         STATES_VERSION, unless it was the commands alone; then put the new digest here"
    );
}

/// The newest shapes of events at [`STATES_VERSION`], as the change log names them.
const SHAPES: &str = "d46d1fbf06f553e3";

/// A program that does not know an event must not take a state in which it is; nor may it take one in which an
/// older event is read in another way.
#[test]
fn the_version_of_the_folds_changes_with_the_shapes_of_events() {
    let (_, shapes) = include_str!("../../../CHANGELOG.md")
        .split_once("### Shapes")
        .unwrap();
    let (_, newest) = shapes.split_once("(shapes `").unwrap();
    assert!(
        newest.starts_with(SHAPES),
        "version {STATES_VERSION}: events have new shapes. Raise STATES_VERSION, then put their digest here"
    );
}

/// What is damaged in the log is a finding here, and not the end of what `annals verify` found before.
#[test]
fn a_damaged_record_in_a_long_stream_is_a_finding() {
    let home = tempfile::tempdir().unwrap();
    let url = home.path().join("log").display().to_string();
    let annals = block_on(Annals::open(&url)).unwrap();
    let run = run_with_calls(&annals, CALLS);
    block_on(annals.close());
    let annals = block_on(Annals::open(&url)).unwrap();
    block_on(annals.execute(call(run, ToolStatus::Ok))).unwrap();
    assert_eq!(snapshots(&annals), 1);
    block_on(annals.close());
    let db = raw(&url);
    let records = db.cf_handle("records").unwrap();
    let (key, mut chunk) = db
        .iterator_cf(records, IteratorMode::Start)
        .nth(3)
        .unwrap()
        .unwrap();
    chunk[0] = 9;
    db.put_cf(records, key, chunk).unwrap();
    drop(db);
    let reader = OpenOptions::new().read_only(true).open(&url).unwrap();
    let report = block_on(reader.index().verify_states()).unwrap();
    assert_eq!((report.compared, report.total_findings), (1, 1));
    let said = report.findings[0].to_string();
    assert!(said.contains("the log cannot be read"), "{said}");
    block_on(reader.close());
}
