//! A redaction whose process was killed between its steps: what is not rewritten yet is not damage,
//! and what is damaged is found all the same.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use annals::domain::alias::ReserveAlias;
use annals::domain::intent::CreateIntent;
use annals::domain::metadata::SetMetadata;
use annals::domain::task::CreateTask;
use annals::domain::{ActorRef, Command, IntentId, Ordered, TaskId};
use annals::event_log::Position;
use annals::projections::{CatalogueFault, CatalogueReport};
use annals::store_rocks::{Options, Unfinished};
use annals::{Annals, OpenOptions, RedactRequest, Request, Target};
use futures::executor::block_on;
use futures::future::{Either, select};
use regex::bytes::Regex;
use rocksdb::DB;
use tempfile::TempDir;
use uuid::Uuid;

use crate::support::child;

const CHILD: &str = "ANNALS_UNFINISHED_CHILD";
const SECRET: &str = "hunter2";
/// Of 60 KB each, and each a step.
const TASKS: u128 = 300;

fn task(number: u128) -> TaskId {
    TaskId(Uuid::from_u128(
        0x0198_c0de_0000_7000_8000_0000_0000_0000 | number,
    ))
}

/// An intent that loses nothing.
fn other() -> IntentId {
    IntentId(task(0xffff).0)
}

fn by(command: impl Into<Command>) -> Request {
    Request::new(ActorRef::human("ada"), command)
}

fn open(path: &Path) -> Annals {
    let store = Options::default().with_redaction_step_bytes(1);
    let options = OpenOptions::new().create(true).store(store);
    options.open(path.to_str().unwrap()).unwrap()
}

/// Tasks that have the secret in their titles and tags, and all their rows.
fn fill(annals: &Annals) {
    let kept: Vec<String> = (0..15).map(|_| "x".repeat(4_000)).collect();
    let intent = CreateIntent::new("other").with_id(other());
    block_on(annals.execute(by(intent))).unwrap();
    for number in 0..TASKS {
        let created = CreateTask::new(format!("{SECRET} {number}"))
            .with_id(task(number))
            .with_constraints(kept.clone());
        let tagged = SetMetadata::new(task(number).0)
            .with_tags(Ordered(vec![("of".to_owned(), SECRET.to_owned())]));
        block_on(annals.execute_batch(None, vec![by(created), by(tagged)])).unwrap();
    }
    // It is in a stream of its own; the object loses nothing else.
    let reserved = ReserveAlias::new(other().0, format!("{SECRET}-of-ada"));
    block_on(annals.execute(by(reserved))).unwrap();
    block_on(annals.index().rebuild(&mut |_| {})).unwrap();
}

/// Not a test by itself: the process that dies as soon as the log says what is removed.
#[test]
fn child_dies_in_a_redaction() {
    let Some(directory) = std::env::var_os(CHILD) else {
        return;
    };
    let annals = open(Path::new(&directory));
    fill(&annals);
    let request = RedactRequest::new(
        vec![Target::Pattern(Regex::new(SECRET).unwrap())],
        ActorRef::human("ada"),
        "it leaked",
    );
    let said = Box::pin(annals.wait_for(annals.position().next()));
    let mut progress = |_| {};
    let redacting = Box::pin(annals.contents().redact(&request, &mut progress));
    let is_said = matches!(block_on(select(said, redacting)), Either::Left(_));
    assert!(is_said, "it was one step");
    std::thread::sleep(Duration::from_millis(20));
    std::process::abort();
}

/// A log whose redaction is unfinished.
fn killed() -> (TempDir, std::path::PathBuf) {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("log");
    let status = child("unfinished::child_dies_in_a_redaction", CHILD, &path)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert_eq!(status.code(), None, "it was killed");
    (home, path)
}

struct Verified {
    unfinished: Option<Unfinished>,
    catalogue: CatalogueReport,
}

fn verify(path: &Path) -> Verified {
    let options = OpenOptions::new().read_only(true);
    let annals = options.open(path.to_str().unwrap()).unwrap();
    let rocks = annals.rocks().unwrap();
    let _ = rocks.stand_still();
    let report = rocks.verify(&mut |_| {}).unwrap();
    assert!(report.is_sound(), "{:#?}", report.findings);
    let catalogue = block_on(annals.index().verify(&mut |_| {})).unwrap();
    let unfinished = annals.contents().unfinished_redaction().unwrap();
    block_on(annals.close());
    Verified {
        unfinished,
        catalogue,
    }
}

fn raw(path: &Path) -> DB {
    let families = DB::list_cf(&rocksdb::Options::default(), path).unwrap();
    DB::open_cf(&rocksdb::Options::default(), path, families).unwrap()
}

/// The keys and values of a table of the catalogue that `is_one` takes.
fn rows(db: &DB, table: u8, is_one: impl Fn(&[u8], &[u8]) -> bool) -> Vec<(Vec<u8>, Vec<u8>)> {
    let models = db.cf_handle("models").unwrap();
    db.iterator_cf(models, rocksdb::IteratorMode::Start)
        .map(Result::unwrap)
        .filter(|(key, value)| {
            let row = key.windows(2).position(|it| it == b"\0r");
            let row = row.map_or(&[][..], |at| &key[at + 2..]);
            row.first() == Some(&table) && is_one(&row[1..], value)
        })
        .map(|(key, value)| (key.to_vec(), value.to_vec()))
        .collect()
}

fn reversed(id: Uuid) -> [u8; 16] {
    let mut bytes = id.into_bytes();
    bytes.reverse();
    bytes.map(|byte| byte.rotate_left(4))
}

fn has(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|it| it == text.as_bytes())
}

#[test]
fn a_redaction_that_was_killed_is_unfinished_and_no_damage() {
    let (_home, path) = killed();
    let Verified {
        unfinished,
        catalogue,
    } = verify(&path);
    let unfinished = unfinished.expect("it was killed between its steps");
    assert!(!unfinished.is_going_on);
    assert!(
        unfinished.left > 0 && unfinished.left <= 2 * TASKS as u64 + 1,
        "{}",
        unfinished.left
    );
    assert!(unfinished.said > Position(2 * TASKS as u64));
    assert!(catalogue.is_sound(), "{:#?}", catalogue.findings);
    assert!(catalogue.going > 0);
    let annals = open(&path);
    assert_eq!(annals.contents().unfinished_redaction().unwrap(), None);
    let view = block_on(annals.index().row(task(1))).unwrap();
    assert!(!format!("{view:?}").contains(SECRET));
    block_on(annals.close());
    let verified = verify(&path);
    assert_eq!(verified.unfinished, None);
    assert!(
        verified.catalogue.is_sound(),
        "{:#?}",
        verified.catalogue.findings
    );
    assert_eq!(verified.catalogue.going, 0);
}

#[test]
fn damage_beside_an_unfinished_redaction_is_found() {
    let (_home, path) = killed();
    let db = raw(&path);
    let models = db.cf_handle("models").unwrap();
    let object = |id: Uuid| {
        let found = rows(&db, b'o', |key, _| key == reversed(id));
        let [row] = &found[..] else {
            panic!("one row of {id}")
        };
        row.clone()
    };
    // A row of what loses nothing.
    let (key, mut row) = object(other().0);
    *row.last_mut().unwrap() ^= 1;
    db.put_cf(models, key, row).unwrap();
    // Of an object that loses its title: what does not follow from content.
    let (key, mut row) = object(task(1).0);
    assert!(has(&row, SECRET), "the control: it has the title");
    let actor = row.windows(3).position(|it| it == b"ada").unwrap();
    row[actor] = b'i';
    db.put_cf(models, key, row).unwrap();
    // One that cannot be read at all.
    let (key, row) = object(task(2).0);
    db.put_cf(models, key, &row[..row.len() / 2]).unwrap();
    // One that is missing, and one of another table.
    let (key, _) = object(task(3).0);
    db.delete_cf(models, key).unwrap();
    let listed = rows(&db, b'k', |_, id| id == task(4).0.as_bytes());
    db.delete_cf(models, &listed[0].0).unwrap();
    drop(db);

    let verified = verify(&path);
    assert!(verified.unfinished.is_some());
    let found = &verified.catalogue.findings;
    let is_of = |id: Uuid| format!("of the object {id}");
    let different = [other().0, task(1).0, task(2).0];
    for id in different {
        let row = is_of(id);
        assert!(
            found.contains(&CatalogueFault::Different { row }),
            "{found:#?}"
        );
    }
    let row = is_of(task(3).0);
    assert!(
        found.contains(&CatalogueFault::Missing { row }),
        "{found:#?}"
    );
    let is_listed = |it: &CatalogueFault| matches!(it, CatalogueFault::Missing { row } if row.starts_with("'k'"));
    assert!(found.iter().any(is_listed), "{found:#?}");
    assert_eq!(verified.catalogue.total_findings, 5, "{found:#?}");
    assert!(verified.catalogue.going > 0, "what is going is none");
}
