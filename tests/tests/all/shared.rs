//! Many processes append to one log, and its owners are killed.
//!
//! Each child opens the log to share it, appends from several threads, and says on its standard output what it sends,
//! what was acknowledged, and when it has become the owner. The parent kills owners (SIGKILL), begins new processes in
//! their place, and compares what was said with the log.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use annals_event_log::{EventLog, Position, Query};
use annals_store_rocks::{Options, RocksLog};
use annals_store_shared::SharedLog;
use futures::executor::block_on;
use uuid::Uuid;

use crate::support::{append, child, event};

const CHILD: &str = "ANNALS_SHARED_CHILD";
const THREADS: u32 = 4;
const PATIENCE: Duration = Duration::from_secs(120);

fn say(word: &str, what: impl std::fmt::Display) {
    let mut out = std::io::stdout().lock();
    // The parent may be gone; then this process is about to be, too.
    let _ = writeln!(out, "\n{word} {what}");
    let _ = out.flush();
}

/// Not a test by itself: one of the processes. It ends when its standard input does.
#[test]
fn child_appends_to_a_shared_log() {
    let Some(directory) = std::env::var_os(CHILD) else {
        return;
    };
    let directory = Path::new(&directory);
    let log = SharedLog::open_or_create(directory, &Options::default()).expect("a log");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !log.is_owner() {
                std::thread::sleep(Duration::from_millis(1));
            }
            say("owner", std::process::id());
        });
        for _ in 0..THREADS {
            scope.spawn(|| {
                loop {
                    let batch = Uuid::new_v4();
                    let stream = format!("test-{}", batch.as_u128() % 20);
                    let events = vec![event(&stream, batch.as_bytes().to_vec())];
                    say("sent", batch);
                    block_on(log.append(append(batch, events))).expect("an append");
                    say("acknowledged", batch);
                }
            });
        }
    });
}

/// What a process says.
enum Word {
    Owner(u32),
    Sent(Uuid),
    Acknowledged(Uuid),
}

fn word(line: &str) -> Option<Word> {
    let (word, rest) = line.split_once(' ')?;
    // A kill may cut the last line short: an id is whole or not there.
    match word {
        "owner" => rest.parse().ok().map(Word::Owner),
        "sent" => rest.parse().ok().map(Word::Sent),
        "acknowledged" => rest.parse().ok().map(Word::Acknowledged),
        _ => None,
    }
}

/// The processes, and what they have said.
struct Crowd<'a> {
    directory: &'a Path,
    processes: Vec<Child>,
    says: (Sender<Word>, Receiver<Word>),
    sent: BTreeSet<Uuid>,
    acknowledged: BTreeSet<Uuid>,
}

impl Crowd<'_> {
    fn begin(&mut self) {
        let mut process = child(
            "shared::child_appends_to_a_shared_log",
            CHILD,
            self.directory,
        )
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("a child");
        let lines = BufReader::new(process.stdout.take().expect("its output")).lines();
        let said = self.says.0.clone();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                if let Some(word) = word(&line)
                    && said.send(word).is_err()
                {
                    return;
                }
            }
        });
        self.processes.push(process);
    }

    fn hear(&mut self, word: Word) -> Option<u32> {
        match word {
            Word::Owner(process) => return Some(process),
            Word::Sent(batch) => self.sent.insert(batch),
            Word::Acknowledged(batch) => self.acknowledged.insert(batch),
        };
        None
    }

    /// The next process that says that it is the owner, and how long that took.
    fn next_owner(&mut self) -> (u32, Duration) {
        let began = Instant::now();
        loop {
            let left = PATIENCE.saturating_sub(began.elapsed());
            let word = self
                .says
                .1
                .recv_timeout(left)
                .expect("an owner, in two minutes");
            if let Some(process) = self.hear(word) {
                return (process, began.elapsed());
            }
        }
    }

    fn listen(&mut self, time: Duration) {
        let until = Instant::now() + time;
        while let Ok(word) = self.says.1.recv_timeout(until - Instant::now().min(until)) {
            assert!(self.hear(word).is_none(), "a second owner beside the first");
        }
    }

    fn kill(&mut self, process: u32) {
        let at = self.processes.iter().position(|it| it.id() == process);
        let mut process = self.processes.swap_remove(at.expect("one of ours"));
        process.kill().expect("the kill");
        process.wait().expect("its end");
    }
}

/// So many processes, and so many owners killed. Gives how long each next owner took.
fn owners_are_killed(processes: usize, kills: usize) -> Vec<Duration> {
    let home = tempfile::tempdir().expect("a folder");
    let directory = home.path().join("log");
    let mut crowd = Crowd {
        directory: &directory,
        processes: Vec::new(),
        says: channel(),
        sent: BTreeSet::new(),
        acknowledged: BTreeSet::new(),
    };
    for _ in 0..processes {
        crowd.begin();
    }
    let mut took = Vec::new();
    let (mut owner, _) = crowd.next_owner();
    for _ in 0..kills {
        crowd.listen(Duration::from_millis(60));
        crowd.kill(owner);
        let (next, time) = crowd.next_owner();
        took.push(time);
        owner = next;
        crowd.begin();
    }
    crowd.listen(Duration::from_millis(300));
    for mut process in crowd.processes.drain(..) {
        process.kill().expect("the kill");
        process.wait().expect("its end");
    }
    while let Ok(word) = crowd.says.1.recv_timeout(Duration::from_millis(300)) {
        crowd.hear(word);
    }
    let log = RocksLog::open(&directory, &Options::default()).expect("the log");
    check(&log, &crowd.sent, &crowd.acknowledged);
    took
}

fn check(log: &RocksLog, sent: &BTreeSet<Uuid>, acknowledged: &BTreeSet<Uuid>) {
    let mut times: BTreeMap<Uuid, usize> = BTreeMap::new();
    let (mut expected, mut next) = (Position::START, Some(1));
    while let Some(from) = next {
        let page = block_on(log.read(Query::all(Position(from)))).expect("a page");
        for record in &page.records {
            expected = expected.next();
            assert_eq!(record.position(), expected, "positions have a gap");
            assert_eq!(record.structure(), record.batch_id().as_bytes()[..]);
            *times.entry(record.batch_id()).or_default() += 1;
        }
        next = page.next;
    }
    println!(
        "{} acknowledged, {} in the log",
        acknowledged.len(),
        times.len()
    );
    assert!(
        acknowledged.len() > 100,
        "only {} appends",
        acknowledged.len()
    );
    for batch in acknowledged {
        assert_eq!(times.get(batch), Some(&1), "batch {batch} was acknowledged");
    }
    for (batch, times) in times {
        assert_eq!(times, 1, "batch {batch} is there {times} times");
        assert!(sent.contains(&batch), "batch {batch} was never sent");
    }
    let verified = log.verify(&mut |_| {}).expect("a log that can be read");
    assert!(verified.is_sound(), "{verified:?}");
}

/// `ANNALS_KILLS` owners of 16 processes, as in `make test-long`; 6 of 4 otherwise.
#[test]
fn nothing_is_lost_or_twice_where_owners_are_killed() {
    let kills = std::env::var("ANNALS_KILLS").ok();
    let kills: Option<usize> = kills.map(|kills| kills.parse().expect("a number"));
    let mut took = match kills {
        Some(kills) => owners_are_killed(16, kills),
        None => owners_are_killed(4, 6),
    };
    took.sort();
    println!(
        "the next owner: median {:?}, longest {:?}",
        took[took.len() / 2],
        took.last()
    );
}
