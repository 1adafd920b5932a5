//! Snapshots of states, as a program that begins again takes them: what a long run is told does not
//! depend on them, and they are what the folds of this version give.

use std::collections::BTreeMap;

use annals::domain::run::{CreateRun, FailRun, RecordToolInvocation, StartPatching, ToolStatus};
use annals::domain::task::CreateTask;
use annals::domain::{
    ActorRef, AnyState, Command, Origin, RunId, STATES_VERSION, StreamKind, StreamRef, TaskId,
};
use annals::{Annals, OpenOptions, Request};
use annals_event_log::Digest;
use annals_testkit::generators::objects;
use futures::executor::block_on;
use uuid::Uuid;

/// The read model that has the snapshots.
const MODEL: &str = "states";
/// More calls than a stream may have that is folded from its beginning.
const CALLS: usize = 900;

fn request(command: impl Into<Command>) -> Request {
    Request::new(ActorRef::agent("coder"), command)
}

fn call(run: RunId) -> Request {
    request(RecordToolInvocation {
        run,
        id: None,
        tool_name: "bash".into(),
        io_footprint: None,
        args: None,
        status: ToolStatus::Ok,
        result_summary: None,
        artifacts: vec![],
        output: vec![],
        duration_ms: None,
    })
}

/// Begins a run with many calls.
fn long_run(annals: &Annals) -> RunId {
    let (task, run) = (TaskId(Uuid::now_v7()), RunId(Uuid::now_v7()));
    let create_task = CreateTask {
        id: Some(task),
        ..CreateTask::new("a long one")
    };
    let create_run = CreateRun {
        id: Some(run),
        ..CreateRun::new(task)
    };
    let mut all = vec![
        request(create_task),
        request(create_run),
        request(StartPatching { run }),
    ];
    all.extend((0..CALLS).map(|_| call(run)));
    block_on(annals.execute_batch(None, all)).unwrap();
    run
}

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
    let run = long_run(&annals);
    assert_eq!(snapshots(&annals), 0, "who wrote it has it in memory");
    close(annals);

    let annals = open();
    block_on(annals.execute(call(run))).unwrap();
    assert_eq!(snapshots(&annals), 1, "the run's; its task is short");
    close(annals);

    // Who reads beside a writer takes it as well, and keeps none.
    let reader = OpenOptions::new().read_only(true).open(&url).unwrap();
    let report = block_on(reader.verify_states()).unwrap();
    assert_eq!(
        (report.compared, report.total_findings),
        (1, 0),
        "{report:?}"
    );
    close(reader);

    let annals = open();
    let fail = FailRun {
        run,
        error: "out of time".into(),
    };
    block_on(annals.execute(request(fail))).unwrap();
    close(annals);
    let annals = open();
    let refused = block_on(annals.execute(call(run)));
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
                let origin = Origin {
                    at: tried.at,
                    kind: tried.actor.kind.as_str(),
                    id: &tried.actor.id,
                };
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
const DIGEST: &str = "26a40acd0fca7683050d7192fe85613e78c7a411a71aac0d17bad11196f45e3e";

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
        "version {STATES_VERSION}: a state, its serialized form, a fold or the generated commands changed. If \
         snapshots that were kept before would not be folded alike today, raise STATES_VERSION; then put the new \
         digest here"
    );
}
