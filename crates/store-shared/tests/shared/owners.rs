//! Owners that go, guests that take their place, and others who knock.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use annals_event_log::{
    Actor, Append, AppendError, Blob, Content, EventLog, NewEvent, PiecesOf, Position, Query,
    ReadError, ReadModels, Redaction,
};
use annals_store_rocks::RocksLog;
use annals_store_shared::SharedLog;
use bytes::Bytes;
use chrono::DateTime;
use futures::FutureExt;
use futures::executor::block_on;
use tempfile::TempDir;
use uuid::Uuid;

use crate::conformance::options;

const GREETING: &[u8; 16] = b"annals share 01\n";

fn append_of(batch: Uuid, stream: &str, content: Vec<Content>, blobs: Vec<Blob>) -> Append {
    let event = NewEvent {
        stream: stream.parse().unwrap(),
        id: Uuid::new_v4(),
        event_type: "test.happened".into(),
        schema_version: 1,
        occurred_at: DateTime::UNIX_EPOCH,
        actor: Actor {
            kind: "agent".into(),
            id: "a".into(),
            display_name: None,
            auth_context: None,
        },
        correlation: None,
        causation: None,
        structure: Bytes::new(),
        content,
    };
    Append {
        batch,
        request: Bytes::from(batch.as_bytes().to_vec()),
        events: vec![event],
        expectations: Vec::new(),
        blobs,
    }
}

pub(crate) fn append(batch: Uuid) -> Append {
    append_of(batch, "test-1", Vec::new(), Vec::new())
}

/// Compares a time with its exact figure in seconds where `make timings` asks for it, and with five minutes otherwise: a busy
/// machine may take its time.
#[track_caller]
pub(crate) fn within(took: Duration, exact: u64) {
    let is_exact = std::env::var_os("ANNALS_TIMINGS").is_some();
    let most = Duration::from_secs(if is_exact { exact } else { 300 });
    assert!(took < most, "it took {took:?}, and may take {most:?}");
}

fn home() -> (TempDir, PathBuf) {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("log");
    (home, path)
}

fn batches(log: &dyn EventLog) -> Vec<Uuid> {
    let (mut found, mut from) = (Vec::new(), Some(1));
    while let Some(position) = from {
        let page = block_on(log.read(Query::all(Position(position)))).unwrap();
        found.extend(page.records.iter().map(|record| record.batch_id()));
        from = page.next;
    }
    found
}

#[test]
fn the_next_guest_that_writes_becomes_the_owner() {
    let (_home, path) = home();
    let owner = SharedLog::create(&path, &options()).unwrap();
    let guest = SharedLog::open(&path, &options()).unwrap();
    assert!(owner.is_owner() && !guest.is_owner());
    block_on(guest.append(append(Uuid::new_v4()))).unwrap();
    assert_eq!(owner.watermark(), Position(1));
    assert_eq!(guest.watermark(), Position(1));

    block_on(owner.close());
    let began = Instant::now();
    let appended = block_on(guest.append(append(Uuid::new_v4()))).unwrap();
    let took = began.elapsed();
    assert_eq!(appended.last, Position(2));
    assert!(guest.is_owner());
    // Where it waited for what does not come, it would be 30 s.
    within(took, 10);
    // What one as a guest waited for, one still sees.
    assert_eq!(
        block_on(guest.wait_above(Position(1))).unwrap(),
        Position(2)
    );
    drop(owner);
}

/// As a bulk writer leaves its younger appends, or a stream what it has begun ahead.
#[test]
fn an_append_that_is_not_polled_any_more_keeps_no_other_one_waiting() {
    let (_home, path) = home();
    let owner = SharedLog::create(&path, &options()).unwrap();
    let guest = SharedLog::open(&path, &options()).unwrap();
    block_on(owner.close());
    // One of them finds that the connection has ended, and looks for the next owner.
    let mut left = Vec::new();
    for _ in 0..50 {
        let mut append = Box::pin(guest.append(append(Uuid::new_v4())));
        // Those that come after the search may be answered at once.
        if (&mut append).now_or_never().is_none() {
            left.push(append);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let (done, waiting) = std::sync::mpsc::channel();
    let other = guest.clone();
    let waits = std::thread::spawn(move || {
        let appended = block_on(other.append(append(Uuid::new_v4())));
        done.send(appended.is_ok()).unwrap();
    });
    let is_done = waiting.recv_timeout(Duration::from_secs(120));
    assert_eq!(is_done, Ok(true), "it hangs");
    assert!(!left.is_empty(), "each was answered at once");
    waits.join().unwrap();
    drop(left);
    assert!(guest.is_owner());
    block_on(guest.close());
}

#[test]
fn an_owner_that_stays_keeps_its_write_ahead_log_short() {
    let (_home, path) = home();
    let owner = SharedLog::create(&path, &options()).unwrap();
    for _ in 0..6 {
        let blob = Blob::new(Uuid::new_v4().to_string().repeat(30_000).into_bytes());
        let content = vec![Content::Blob {
            salt: [1; 16],
            digest: blob.digest(),
            size: blob.bytes().len() as u64,
        }];
        let append = append_of(Uuid::new_v4(), "test-1", content, vec![blob]);
        block_on(owner.append(append)).unwrap();
    }
    let log = owner.rocks();
    let begun = Instant::now();
    while log.wal_bytes().unwrap() > 2 * 1024 * 1024 {
        assert!(begun.elapsed() < Duration::from_secs(120), "it never is");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(batches(&owner).len(), 6);
}

#[test]
fn appends_under_way_are_made_once_whatever_becomes_of_the_owner() {
    let (_home, path) = home();
    let mut owners = vec![SharedLog::create(&path, &options()).unwrap()];
    let guests: Vec<SharedLog> = (0..3)
        .map(|_| SharedLog::open(&path, &options()).unwrap())
        .collect();
    let acknowledged: BTreeSet<Uuid> = std::thread::scope(|scope| {
        let writers: Vec<_> = guests
            .iter()
            .flat_map(|guest| [guest, guest])
            .map(|guest| {
                scope.spawn(move || {
                    (0..200)
                        .map(|_| {
                            let batch = Uuid::new_v4();
                            block_on(guest.append(append(batch))).unwrap();
                            batch
                        })
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        std::thread::sleep(Duration::from_millis(20));
        block_on(owners.remove(0).close());
        writers
            .into_iter()
            .flat_map(|writer| writer.join().unwrap())
            .collect()
    });
    assert_eq!(acknowledged.len(), 1_200);
    assert_eq!(guests.iter().filter(|guest| guest.is_owner()).count(), 1);
    let found = batches(&guests[0]);
    assert_eq!(found.len(), 1_200, "each is there once");
    assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), acknowledged);
}

/// tokio has a task pause after 128 steps, and wakes it when its runtime goes on, which does not while it is blocked.
#[test]
fn a_guest_that_blocks_a_thread_of_a_runtime_waits_no_longer_than_others() {
    let (_home, path) = home();
    let owner = SharedLog::create(&path, &options()).unwrap();
    let guest = SharedLog::open(&path, &options()).unwrap();
    let (done, waiting) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        runtime.unwrap().block_on(async {
            for _ in 0..200 {
                block_on(guest.append(append(Uuid::new_v4()))).unwrap();
            }
            // Here it has no steps left, and what follows takes some.
            block_on(owner.close());
            for _ in 0..200 {
                block_on(guest.checkpoint("m")).unwrap();
            }
            assert!(guest.is_owner());
            block_on(guest.close());
        });
        done.send(guest.watermark()).unwrap();
    });
    let seen = waiting.recv_timeout(Duration::from_secs(120));
    assert_eq!(seen, Ok(Position(200)), "it waits for ever");
}

/// Up to where an owner comes before it is killed.
const STAGES: [&str; 4] = ["accepted", "heard", "greeted", "called"];

/// Takes one guest in an owner's place, up to a stage, and goes as one that is killed: its socket stays.
fn owner_that_dies(path: &Path, log_id: Uuid, stage: &str) -> std::thread::JoinHandle<()> {
    let listener = UnixListener::bind(path.join("sock")).unwrap();
    let last = STAGES.iter().position(|it| *it == stage).unwrap();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        if last >= 1 {
            stream.read_exact(&mut [0; 16]).unwrap();
        }
        if last >= 2 {
            let hello = [&GREETING[..], log_id.as_bytes(), &[0; 4]].concat();
            stream.write_all(&hello).unwrap();
        }
        if last >= 3 {
            stream.read_exact(&mut [0; 12]).unwrap();
        }
    })
}

#[test]
fn a_guest_goes_on_at_whatever_stage_its_owner_dies() {
    for stage in STAGES {
        let (_home, path) = home();
        let log = SharedLog::create(&path, &options()).unwrap();
        block_on(log.close());
        let owner = owner_that_dies(&path, log.log_id(), stage);
        let (done, waiting) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let guest = SharedLog::open(&path, &options()).unwrap();
            let appended = block_on(guest.append(append(Uuid::new_v4()))).unwrap();
            done.send((appended.last, guest.is_owner())).unwrap();
        });
        let appended = waiting.recv_timeout(Duration::from_secs(120));
        assert_eq!(appended, Ok((Position(1), true)), "{stage}");
        owner.join().unwrap();
    }
}

#[test]
fn a_large_append_and_its_blob_come_over() {
    let (_home, path) = home();
    let _owner = SharedLog::create(&path, &options()).unwrap();
    let guest = SharedLog::open(&path, &options()).unwrap();
    let blob = Blob::new(vec![7; 20 * 1024 * 1024]);
    let content = Content::Blob {
        salt: [1; 16],
        digest: blob.digest(),
        size: blob.bytes().len() as u64,
    };
    let append = append_of(Uuid::new_v4(), "test-1", vec![content], vec![blob.clone()]);
    block_on(guest.append(append)).unwrap();
    use annals_event_log::Blobs;
    let found = block_on(guest.blob(blob.digest())).unwrap();
    assert_eq!(found.as_ref(), Some(blob.bytes()));
}

#[test]
fn an_owner_that_does_not_share_is_named() {
    let (_home, path) = home();
    let owner = RocksLog::create(&path, &options()).unwrap();
    let began = Instant::now();
    let error = SharedLog::open(&path, &options()).unwrap_err();
    assert!(error.to_string().contains("locked"), "{error}");
    within(began.elapsed(), 20);
    drop(owner);
    assert!(SharedLog::open(&path, &options()).unwrap().is_owner());
}

#[test]
fn a_path_longer_than_a_sockets_name_is_shared() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("a".repeat(120)).join("b".repeat(120));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("log");
    let owner = SharedLog::create(&path, &options()).unwrap();
    let guest = SharedLog::open(&path, &options()).unwrap();
    block_on(guest.append(append(Uuid::new_v4()))).unwrap();
    assert_eq!(owner.watermark(), Position(1));
}

fn knock(path: &Path) -> UnixStream {
    let stream = UnixStream::connect(path.join("sock")).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(120)))
        .unwrap();
    stream
}

/// Says something, and reads until the owner hangs up.
fn said(path: &Path, what: &[u8]) -> Vec<u8> {
    let mut stream = knock(path);
    // It may hang up before it has read all of it.
    let _ = stream.write_all(what);
    let mut heard = Vec::new();
    let _ = stream.read_to_end(&mut heard);
    heard
}

#[test]
fn garbage_harms_nobody() {
    let (_home, path) = home();
    let owner = SharedLog::create(&path, &options()).unwrap();
    let guest = SharedLog::open(&path, &options()).unwrap();
    let greeted = |frame: &[u8]| [&GREETING[..], frame].concat();

    // Another program, another version: both read who is there.
    for greeting in [&b"GET / HTTP/1.1\r\n"[..], b"annals share 02\n"] {
        let heard = said(&path, greeting);
        assert_eq!(&heard[..16], GREETING);
        assert_eq!(heard.len(), 36);
    }
    // Lengths that no message has.
    for length in [0_u32, 7, u32::MAX, 400 << 20] {
        let mut frame = length.to_be_bytes().to_vec();
        frame.extend([0, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(said(&path, &greeted(&frame)).len(), 36);
    }
    // A call that cannot be read has an answer that says so.
    let body = [0xff_u8; 40];
    let mut frame = (8 + body.len() as u32).to_be_bytes().to_vec();
    frame.extend(9_u64.to_be_bytes());
    frame.extend(body);
    let mut stream = knock(&path);
    stream.write_all(&greeted(&frame)).unwrap();
    let mut heard = [0; 36 + 12];
    stream.read_exact(&mut heard).unwrap();
    assert_eq!(heard[40..48], 9_u64.to_be_bytes());
    // One that hangs up in the middle, and one that says no more.
    let mut cut = 100_u32.to_be_bytes().to_vec();
    cut.extend([0; 20]);
    drop(knock(&path).write_all(&greeted(&cut)));
    let mut silent = knock(&path);
    silent.write_all(&greeted(&cut)).unwrap();

    block_on(guest.append(append(Uuid::new_v4()))).unwrap();
    assert_eq!(owner.watermark(), Position(1));
    assert_eq!(batches(&guest).len(), 1);
}

#[test]
fn a_thousand_guests_leave_room_for_their_appends() {
    let (_home, path) = home();
    let owner = SharedLog::create(&path, &options()).unwrap();
    let guest = SharedLog::open(&path, &options()).unwrap();
    let crowd: Vec<UnixStream> = (0..900)
        .map_while(|_| UnixStream::connect(path.join("sock")).ok())
        .map(|mut stream| {
            stream.write_all(GREETING).unwrap();
            stream
        })
        .collect();
    assert!(crowd.len() > 200, "only {} came", crowd.len());
    block_on(guest.append(append(Uuid::new_v4()))).unwrap();
    assert_eq!(owner.watermark(), Position(1));
    drop(crowd);
}

#[test]
fn what_is_too_large_is_refused_as_by_the_log() {
    let (_home, path) = home();
    let _owner = SharedLog::create(&path, &options()).unwrap();
    let guest = SharedLog::open(&path, &options()).unwrap();
    // Five blobs of 64 MiB are more than any message.
    let blobs = (0..6)
        .map(|n| Blob::new(vec![n; 64 * 1024 * 1024]))
        .collect();
    let append = append_of(Uuid::new_v4(), "test-1", Vec::new(), blobs);
    let refused = block_on(guest.append(append)).unwrap_err();
    assert!(matches!(refused, AppendError::TooLarge { .. }), "{refused}");
    assert_eq!(guest.watermark(), Position::START);
}

#[test]
fn a_log_is_created_by_one_of_many() {
    let (_home, path) = home();
    let logs: Vec<SharedLog> = std::thread::scope(|scope| {
        let opening: Vec<_> = (0..6)
            .map(|_| scope.spawn(|| SharedLog::open_or_create(&path, &options()).unwrap()))
            .collect();
        opening.into_iter().map(|it| it.join().unwrap()).collect()
    });
    assert_eq!(logs.iter().filter(|log| log.is_owner()).count(), 1);
    let ids: BTreeSet<Uuid> = logs.iter().map(|log| log.log_id()).collect();
    assert_eq!(ids.len(), 1);
    // All go at once.
    std::thread::scope(|scope| {
        for log in logs {
            scope.spawn(move || block_on(log.close()));
        }
    });
    assert!(SharedLog::open(&path, &options()).unwrap().is_owner());
}

/// A frame with a call, as a guest would send it.
fn frame(number: u64, body: &[u8]) -> Vec<u8> {
    let mut frame = (8 + body.len() as u32).to_be_bytes().to_vec();
    frame.extend(number.to_be_bytes());
    frame.extend(body);
    frame
}

/// Greets, and says something.
fn greeted(path: &Path, what: &[u8]) -> UnixStream {
    let mut stream = knock(path);
    stream.write_all(GREETING).unwrap();
    let mut greeting = [0; 36];
    stream.read_exact(&mut greeting).unwrap();
    stream.write_all(what).unwrap();
    stream
}

#[test]
fn a_length_alone_takes_no_memory_and_no_list_is_endless() {
    let (_home, path) = home();
    let owner = SharedLog::create(&path, &options()).unwrap();
    // A checkpoint whose read model has a name of 2^62 bytes.
    let huge = frame(1, &[3, 0xfd, 0, 0, 0, 0, 0, 0, 0, 0x40]);
    // Two million keys without a byte.
    let mut keys = vec![5, 1, b'm', 0xfc];
    keys.extend(2_000_000_u32.to_le_bytes());
    keys.resize(keys.len() + 2_000_000, 0);
    for call in [huge, frame(1, &keys)] {
        let mut stream = greeted(&path, &call);
        let mut answer = [0; 13];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(answer[12], 6, "it cannot be read");
    }
    block_on(owner.append(append(Uuid::new_v4()))).unwrap();
}

#[test]
fn who_reads_no_answers_gets_no_more_of_them() {
    let (_home, path) = home();
    let _owner = SharedLog::create(&path, &options()).unwrap();
    let guest = SharedLog::open(&path, &options()).unwrap();
    let mut stream = greeted(&path, &[]);
    stream
        .set_write_timeout(Some(Duration::from_secs(1)))
        .unwrap();
    let pings = frame(0, &[]).repeat(10_000);
    let mut sent = 0;
    while sent < 400 && stream.write_all(&pings).is_ok() {
        sent += 1;
    }
    assert!(
        sent < 400,
        "four million questions were taken, and no answer read"
    );
    block_on(guest.append(append(Uuid::new_v4()))).unwrap();
}

#[test]
fn a_message_that_comes_slowly_keeps_no_small_one_waiting() {
    let (_home, path) = home();
    let _owner = SharedLog::create(&path, &options()).unwrap();
    let guest = SharedLog::open(&path, &options()).unwrap();
    let begun = |number: u64| {
        let mut begun = (300_u32 << 20).to_be_bytes().to_vec();
        begun.extend(number.to_be_bytes());
        greeted(&path, &begun)
    };
    let _slow = [begun(1), begun(1), begun(1)];
    let began = Instant::now();
    block_on(guest.append(append(Uuid::new_v4()))).unwrap();
    within(began.elapsed(), 30);
}

#[test]
fn a_store_that_has_failed_is_given_up() {
    let (home, path) = home();
    let owner = SharedLog::create(&path, &options()).unwrap();
    let guest = SharedLog::open(&path, &options()).unwrap();
    block_on(guest.append(append(Uuid::new_v4()))).unwrap();
    let elsewhere = home.path().join("elsewhere");
    std::fs::rename(&path, &elsewhere).unwrap();
    let refused = block_on(owner.append(append(Uuid::new_v4()))).unwrap_err();
    assert!(
        matches!(refused, AppendError::Unavailable { .. }),
        "{refused}"
    );
    std::fs::rename(&elsewhere, &path).unwrap();
    // The owner is still there, and has the lock no more.
    let appended = block_on(guest.append(append(Uuid::new_v4()))).unwrap();
    // Whether the one that was refused was made is unknown: it was, or was not.
    assert!((2..=3).contains(&appended.last.0), "{appended:?}");
    assert!(guest.is_owner());
    let refused = block_on(owner.append(append(Uuid::new_v4()))).unwrap_err();
    assert!(
        matches!(refused, AppendError::Unavailable { .. }),
        "{refused}"
    );
}

#[test]
fn an_owner_whose_store_failed_for_a_guest_says_so() {
    let (home, path) = home();
    let owner = SharedLog::create(&path, &options()).unwrap();
    let guest = SharedLog::open(&path, &options()).unwrap();
    let elsewhere = home.path().join("elsewhere");
    std::fs::rename(&path, &elsewhere).unwrap();
    let refused = block_on(guest.append(append(Uuid::new_v4()))).unwrap_err();
    assert!(
        matches!(refused, AppendError::Unavailable { .. }),
        "{refused}"
    );
    std::fs::rename(&elsewhere, &path).unwrap();
    block_on(guest.append(append(Uuid::new_v4()))).unwrap();
    let refused = block_on(owner.append(append(Uuid::new_v4()))).unwrap_err();
    assert!(
        matches!(refused, AppendError::Unavailable { .. }),
        "{refused}"
    );
}

#[test]
fn what_is_in_the_sockets_place_keeps_nobody_from_writing() {
    let (home, path) = home();
    block_on(SharedLog::create(&path, &options()).unwrap().close());
    let foreign = home.path().join("foreign");
    let _foreign = UnixListener::bind(&foreign).unwrap();
    for target in ["sock", "../foreign"] {
        let _ = std::fs::remove_file(path.join("sock"));
        std::os::unix::fs::symlink(target, path.join("sock")).unwrap();
        let log = SharedLog::open(&path, &options()).unwrap();
        assert!(log.is_owner(), "{target}");
        let guest = SharedLog::open(&path, &options()).unwrap();
        block_on(guest.append(append(Uuid::new_v4()))).unwrap();
        block_on(guest.close());
        block_on(log.close());
    }
}

#[test]
fn one_that_waits_takes_the_owners_place_without_writing() {
    let (_home, path) = home();
    let owner = SharedLog::create(&path, &options()).unwrap();
    let guest = SharedLog::open(&path, &options()).unwrap();
    let waiting = guest.clone();
    let waiting = std::thread::spawn(move || block_on(waiting.own()));
    block_on(guest.append(append(Uuid::new_v4()))).unwrap();
    assert!(!waiting.is_finished() && !guest.is_owner());
    block_on(owner.close());
    waiting.join().unwrap().unwrap();
    assert!(guest.is_owner());
    // It owns it already.
    block_on(guest.own()).unwrap();
    let ended = guest.clone();
    let ended = std::thread::spawn(move || block_on(ended.ended()));
    block_on(guest.append(append(Uuid::new_v4()))).unwrap();
    assert!(!ended.is_finished());
    block_on(guest.close());
    ended.join().unwrap();
}

#[test]
fn a_socket_that_was_removed_is_put_back() {
    let (home, path) = home();
    let owner = SharedLog::create(&path, &options()).unwrap();
    let before = SharedLog::open(&path, &options()).unwrap();
    let sock = path.join("sock");
    std::fs::remove_file(&sock).unwrap();
    // Opening waits for it.
    let guest = SharedLog::open(&path, &options()).unwrap();
    for log in [&guest, &before] {
        block_on(log.append(append(Uuid::new_v4()))).unwrap();
        assert!(!log.is_owner());
    }
    assert_eq!(owner.watermark(), Position(2));
    // Nothing is put into another folder that is in its place.
    let elsewhere = home.path().join("elsewhere");
    std::fs::rename(&path, &elsewhere).unwrap();
    std::fs::create_dir(&path).unwrap();
    std::thread::sleep(Duration::from_millis(2_500));
    assert!(!sock.exists());
    std::fs::remove_dir(&path).unwrap();
    std::fs::rename(&elsewhere, &path).unwrap();
    block_on(owner.close());
    assert!(!sock.exists());
}

#[test]
fn a_failed_store_says_why_to_every_later_call() {
    let (home, path) = home();
    let owner = SharedLog::create(&path, &options()).unwrap();
    let elsewhere = home.path().join("elsewhere");
    std::fs::rename(&path, &elsewhere).unwrap();
    let first = block_on(owner.append(append(Uuid::new_v4()))).unwrap_err();
    std::fs::rename(&elsewhere, &path).unwrap();
    let AppendError::Unavailable { source } = first else {
        panic!("{first}")
    };
    // Until it is closed, it may still answer.
    block_on(owner.ended());
    let deadline = Instant::now() + Duration::from_secs(120);
    let read = loop {
        match block_on(owner.read(Query::all(Position(1)))) {
            Err(error) => break error,
            Ok(_) => assert!(Instant::now() < deadline, "it is not closed"),
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let appended = block_on(owner.append(append(Uuid::new_v4()))).unwrap_err();
    for said in [read.to_string(), appended.to_string()] {
        assert!(said.contains(&source.to_string()), "{said}");
        assert!(!said.contains("the log is closed"), "{said}");
    }
    // One that is closed in order still says that.
    let other = SharedLog::open(&path, &options()).unwrap();
    block_on(other.close());
    let closed = block_on(other.read(Query::all(Position(1)))).unwrap_err();
    assert!(matches!(closed, ReadError::Closed), "{closed}");
}

fn holds(folder: &Path, secret: &[u8]) -> bool {
    let mut files = std::fs::read_dir(folder).unwrap();
    files.any(|file| {
        let file = file.unwrap();
        let there = file.file_type().unwrap().is_file();
        let bytes = if there {
            std::fs::read(file.path())
        } else {
            Ok(Vec::new())
        };
        // A file may go while it is looked for.
        let bytes = bytes.unwrap_or_default();
        bytes.windows(secret.len()).any(|part| part == secret)
    })
}

#[test]
fn a_guest_has_the_owner_give_up_the_bytes_of_what_it_removed() {
    const SECRET: &[u8] = b"correct horse battery staple";
    let (_home, path) = home();
    let _owner = SharedLog::create(&path, &options()).unwrap();
    let guest = SharedLog::open(&path, &options()).unwrap();
    assert!(!block_on(guest.purge()).unwrap(), "nothing was removed");
    let content = vec![Content::Inline {
        salt: [1; 16],
        bytes: Bytes::from_static(SECRET),
    }];
    block_on(guest.append(append_of(Uuid::new_v4(), "test-1", content, Vec::new()))).unwrap();
    let redaction = Redaction {
        append: append(Uuid::new_v4()),
        removed: vec![PiecesOf {
            position: Position(1),
            pieces: vec![0],
        }],
        blobs: Vec::new(),
        seen: guest.watermark(),
    };
    let said = block_on(guest.redact(redaction)).unwrap().last;
    assert!(holds(&path, SECRET), "nothing has been rewritten yet");
    block_on(guest.put_off_purge(said)).unwrap();
    assert!(holds(&path, SECRET), "it was put off");
    assert!(block_on(guest.purge()).unwrap());
    assert!(!holds(&path, SECRET));
    assert!(!guest.rocks().needs_purge().unwrap());
    block_on(guest.append(append(Uuid::new_v4()))).unwrap();
}
