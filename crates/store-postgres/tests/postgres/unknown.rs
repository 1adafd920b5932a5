//! A connection that ends around a commit, in both ways: the commit was made and its answer is lost, or it never
//! arrived. Either way the batch is there once, and its caller learns what is true.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread;
use std::time::Duration;

use annals_event_log::{
    AppendError, BatchStatus, Content, EventLog, PiecesOf, Position, Redaction,
};
use annals_store_postgres::{AppendFailure, PostgresLog, Settings};
use annals_testkit::invariants;
use futures::executor::block_on;
use uuid::Uuid;

use crate::support::{DATABASE, all, batch, server, settings};

/// What becomes of the next commit that comes by.
const PASS: u8 = 0;
/// It is handed on, and nothing of what the server says to it.
const LOSE_ANSWER: u8 = 1;
/// It is not handed on.
const LOSE_COMMIT: u8 = 2;
/// A connection is being cut: nothing comes back on it.
const CUT: u8 = 3;

/// Stands between a log and its server.
struct Proxy {
    port: u16,
    next: Arc<AtomicU8>,
}

impl Proxy {
    fn before(port: u16) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let own = listener.local_addr().unwrap().port();
        let next = Arc::new(AtomicU8::new(PASS));
        let shared = Arc::clone(&next);
        // It ends with the tests' process.
        thread::spawn(move || {
            for client in listener.incoming() {
                let server = TcpStream::connect(("127.0.0.1", port)).unwrap();
                hand_on(client.unwrap(), server, Arc::clone(&shared));
            }
        });
        Proxy { port: own, next }
    }

    /// What becomes of the next commit.
    fn arm(&self, what: u8) {
        self.next.store(what, Ordering::SeqCst);
    }

    fn is_done(&self) -> bool {
        self.next.load(Ordering::SeqCst) == PASS
    }
}

/// Hands on what both sides say, on threads of its own.
fn hand_on(client: TcpStream, server: TcpStream, next: Arc<AtomicU8>) {
    let is_cut = Arc::new(AtomicU8::new(PASS));
    let (mut from_client, mut to_server) =
        (client.try_clone().unwrap(), server.try_clone().unwrap());
    let cut = Arc::clone(&is_cut);
    thread::spawn(move || {
        let mut bytes = [0; 65_536];
        while let Ok(count @ 1..) = from_client.read(&mut bytes) {
            let said = &bytes[..count];
            // With the byte that ends it: an isolation level has the word in it, too.
            let is_commit = said.windows(7).any(|word| word == b"COMMIT\0");
            let what = if is_commit {
                next.swap(PASS, Ordering::SeqCst)
            } else {
                PASS
            };
            if what != PASS {
                cut.store(CUT, Ordering::SeqCst);
            }
            if what != LOSE_COMMIT && to_server.write_all(said).is_err() {
                break;
            }
            if what != PASS {
                // Until the server has done it.
                thread::sleep(Duration::from_millis(150));
                break;
            }
        }
        let _ = from_client.shutdown(Shutdown::Both);
        let _ = to_server.shutdown(Shutdown::Both);
    });
    thread::spawn(move || {
        let (mut server, mut client, mut bytes) = (server, client, [0; 65_536]);
        while let Ok(count @ 1..) = server.read(&mut bytes) {
            if is_cut.load(Ordering::SeqCst) == PASS && client.write_all(&bytes[..count]).is_err() {
                break;
            }
        }
    });
}

/// A new log, a proxy, and the settings of the log by way of it.
fn behind_proxy() -> Option<(PostgresLog, Proxy, Settings)> {
    let server = server()?;
    let own = settings(server, DATABASE, "");
    let log = PostgresLog::create(&own).unwrap();
    let proxy = Proxy::before(server.port());
    let (from, to) = (format!(":{}/", server.port()), format!(":{}/", proxy.port));
    let url = format!(
        "{}?log={}",
        server.url(DATABASE).replace(&from, &to),
        own.log
    );
    Some((log, proxy, Settings::from_url(&url).unwrap()))
}

#[test]
fn an_append_whose_commit_is_not_answered_is_settled_by_the_log() {
    let Some((direct, proxy, settings)) = behind_proxy() else {
        return;
    };
    let log = PostgresLog::open(&settings).unwrap();
    for (n, what) in [LOSE_ANSWER, LOSE_COMMIT, LOSE_ANSWER]
        .into_iter()
        .enumerate()
    {
        proxy.arm(what);
        let append = batch("a-1", 2);
        let appended = block_on(log.append(append.clone())).unwrap();
        assert!(proxy.is_done(), "nothing was cut");
        // It is the caller's own, however often it took a connection.
        assert!(!appended.repeated, "{appended:?}");
        assert_eq!(appended.first, Position(2 * n as u64 + 1));
        let status = block_on(direct.batch(append.batch, &append.request)).unwrap();
        assert_eq!(status, BatchStatus::Known(appended.again()));
    }
    assert_eq!(all(&direct).len(), 6);
    invariants::check_all(&direct).unwrap();
}

#[test]
fn a_caller_that_is_told_nothing_is_known_settles_it_by_repeating() {
    let Some((direct, proxy, settings)) = behind_proxy() else {
        return;
    };
    let log = PostgresLog::open(&settings.with_patience(Duration::from_millis(1))).unwrap();
    for (what, is_stored) in [(LOSE_ANSWER, true), (LOSE_COMMIT, false)] {
        proxy.arm(what);
        let append = batch("a-1", 2);
        let error = block_on(log.append(append.clone())).expect_err("the connection was cut");
        let AppendError::Unavailable { source } = &error else {
            panic!("{error}")
        };
        let failed: &AppendFailure = source.downcast_ref().unwrap();
        assert!(failed.is_unknown && failed.attempts == 1, "{failed}");
        assert!(
            failed
                .to_string()
                .contains("repeat it with the same batch id"),
            "{failed}"
        );
        // From another process, too.
        let again = block_on(direct.append(append.clone())).unwrap();
        assert_eq!(again.repeated, is_stored);
        assert_eq!(block_on(log.append(append)).unwrap(), again.again());
    }
    assert_eq!(all(&direct).len(), 4);
}

#[test]
fn a_copy_and_a_redaction_are_settled_in_the_same_way() {
    let Some((direct, proxy, settings)) = behind_proxy() else {
        return;
    };
    let mut told = batch("a-1", 3);
    told.events[1].content = vec![Content::Inline {
        salt: [1; 16],
        bytes: "secret".into(),
    }];
    block_on(direct.append(told)).unwrap();
    let records = all(&direct);

    let copy = settings
        .clone()
        .with_log(Uuid::new_v4().simple().to_string());
    let copy = PostgresLog::create(&copy).unwrap();
    proxy.arm(LOSE_ANSWER);
    let copied = block_on(copy.append_records(records.clone(), Vec::new())).unwrap();
    assert!(proxy.is_done() && !copied.repeated);
    assert_eq!(all(&copy), records);
    let error = block_on(copy.append_records(records, Vec::new())).expect_err("it is there");
    assert!(
        matches!(error, AppendError::NotContiguous { .. }),
        "{error}"
    );

    let log = PostgresLog::open(&settings).unwrap();
    for (n, what) in [LOSE_ANSWER, LOSE_COMMIT].into_iter().enumerate() {
        proxy.arm(what);
        let redaction = Redaction {
            append: batch("a-1", 1),
            removed: vec![PiecesOf {
                position: Position(2),
                pieces: vec![0],
            }],
            blobs: Vec::new(),
            seen: Position(3),
        };
        let said = block_on(log.redact(redaction)).unwrap();
        assert!(proxy.is_done() && !said.repeated);
        assert_eq!(said.last, Position(4 + n as u64));
    }
    assert!(matches!(
        all(&direct)[1].content()[..],
        [Content::Removed { .. }]
    ));
    invariants::check_all(&direct).unwrap();
}
