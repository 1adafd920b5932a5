//! A full disk, on a small file system of its own.

use std::path::Path;
use std::process::Command;

use annals_event_log::Classified;
use annals_event_log::{AppendError, EventLog, Position, Query};
use annals_store_rocks::{Options, RocksLog};
use futures::executor::block_on;
use uuid::Uuid;

use crate::support::{append, child, event};

const CHILD: &str = "ANNALS_DISK_FULL_CHILD";

/// Not a test by itself: runs where `directory` is a file system of 24 MB.
#[test]
fn child_fills_the_disk() {
    let Some(directory) = std::env::var_os(CHILD) else {
        return;
    };
    let directory = Path::new(&directory);
    let ballast = directory.join("ballast");
    std::fs::write(&ballast, vec![7_u8; 12 << 20]).expect("the ballast");
    let path = directory.join("log");
    let log = RocksLog::create(&path, &Options::default()).expect("a log");

    let mut acknowledged = Position::START;
    let error = loop {
        let events = (0..8)
            .map(|n: u8| event("test-1", vec![n; 60_000]))
            .collect();
        match block_on(log.append(append(Uuid::now_v7(), events))) {
            Ok(appended) => acknowledged = appended.last,
            Err(error) => break error,
        }
    };
    assert!(
        matches!(error, AppendError::Unavailable { .. }),
        "{error:?}"
    );
    assert!(error.is_retryable());
    let message = error.to_string();
    assert!(message.contains("disk is full"), "{message}");
    // It has failed: nothing more is accepted, what was acknowledged can be read.
    let again = block_on(log.append(append(Uuid::now_v7(), vec![event("test-1", vec![1])])));
    assert!(
        matches!(again, Err(AppendError::Unavailable { .. })),
        "{again:?}"
    );
    assert_eq!(log.watermark(), acknowledged);
    block_on(log.close());
    drop(log);

    std::fs::remove_file(&ballast).expect("space is made");
    let log = RocksLog::open(&path, &Options::default()).expect("it opens again");
    assert!(
        log.watermark() >= acknowledged,
        "{} < {acknowledged}",
        log.watermark()
    );
    let last = block_on(log.read(Query::all(acknowledged).limit(1))).expect("a page");
    assert_eq!(last.records[0].position(), acknowledged);
    block_on(log.append(append(Uuid::now_v7(), vec![event("test-1", vec![1])])))
        .expect("room again");
    println!("\nthe disk was full after {acknowledged} events");
}

/// `unshare` with a mount namespace of its own: as root, or as a user where
/// that is allowed.
fn unshare() -> Option<Vec<&'static str>> {
    let ways = [vec!["unshare", "-m"], vec!["unshare", "-rm"]];
    ways.into_iter().find(|way| {
        let mount = ["mount", "-t", "tmpfs", "none", "/mnt"];
        let probe = Command::new(way[0]).args(&way[1..]).args(mount).output();
        probe.is_ok_and(|output| output.status.success())
    })
}

#[test]
fn a_full_disk_loses_nothing_and_is_said() {
    let Some(way) = unshare() else {
        let message = "NOT RUN: a file system of its own cannot be mounted here (unshare -rm)";
        assert!(std::env::var_os("CI").is_none(), "{message}");
        println!("{message}");
        return;
    };
    let directory = tempfile::tempdir().expect("a directory");
    let inner = child("disk_full::child_fills_the_disk", CHILD, directory.path());
    let output = Command::new(way[0])
        .args(&way[1..])
        .args([
            "sh",
            "-c",
            "mount -t tmpfs -o size=24m none \"$0\" && exec \"$@\"",
        ])
        .arg(directory.path())
        .arg(inner.get_program())
        .args(inner.get_args())
        .env(CHILD, directory.path())
        .output()
        .expect("the child");
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{printed}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(
        printed.contains("the disk was full after"),
        "the child did not run: {printed}"
    );
}
