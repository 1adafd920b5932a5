//! Processes of other users: who is named writes, who is not is refused, and none of them ever owns the log.
//!
//! The other user's process is this test's program, run as another one. Only root can do that.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use annals_event_log::{Append, AppendError, Classified, EventLog, ReadError};
use annals_store_rocks::RocksLog;
use annals_store_shared::{ShareError, SharedLog, Sharing, SharingError, User};
use futures::executor::block_on;
use tempfile::TempDir;
use uuid::Uuid;

use crate::conformance::options;
use crate::owners::{append, within};

const CHILD: &str = "ANNALS_STRANGER";
/// Users that no machine has.
const NAMED: User = User(54_321);
const UNNAMED: User = User(54_322);

/// Not a test by itself: a process of another user. It opens the log, and appends once for each line that it is given.
#[test]
fn child_of_another_user() {
    let Some(path) = std::env::var_os(CHILD) else {
        return;
    };
    let path = Path::new(&path);
    let log = match SharedLog::open(path, &options()) {
        Ok(log) => log,
        Err(error) => return say(&told(&error)),
    };
    say("open");
    for line in std::io::stdin().lines() {
        match line.unwrap().as_str() {
            "own" => say(&block_on(log.own()).unwrap_err().to_string()),
            _ => match block_on(log.append(once())) {
                Ok(appended) => say(&format!("appended {}", appended.last)),
                Err(AppendError::Unavailable { source }) => say(&source.to_string()),
                Err(error) => say(&error.to_string()),
            },
        }
    }
}

fn once() -> Append {
    append(Uuid::new_v4())
}

fn told(error: &ShareError) -> String {
    format!("{}: {error}", error.code())
}

fn say(line: &str) {
    println!("\n> {line}");
}

/// A log of this user, and its program for others.
struct Place {
    home: TempDir,
}

impl Place {
    fn new() -> Option<Place> {
        if User::current() != User(0) {
            eprintln!("NOT RUN: only root runs processes of other users");
            assert!(std::env::var_os("CI").is_none(), "it has to run in CI");
            return None;
        }
        let home = tempfile::tempdir().unwrap();
        let open = |path: &Path| {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777)).unwrap();
        };
        open(home.path());
        std::fs::create_dir(home.path().join("tmp")).unwrap();
        open(&home.path().join("tmp"));
        // Where it was built, others may not look.
        std::fs::copy(
            std::env::current_exe().unwrap(),
            home.path().join("program"),
        )
        .unwrap();
        Some(Place { home })
    }

    fn log(&self) -> PathBuf {
        self.home.path().join("log")
    }

    fn other(&self, user: User) -> Other {
        let mut child = Command::new(self.home.path().join("program"))
            .args(["--exact", "strangers::child_of_another_user", "--nocapture"])
            .env(CHILD, self.log())
            .env("TMPDIR", self.home.path().join("tmp"))
            .current_dir("/")
            .uid(user.0)
            .gid(user.0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let says = BufReader::new(child.stdout.take().unwrap());
        Other { child, says }
    }
}

/// A process of another user.
struct Other {
    child: Child,
    says: BufReader<ChildStdout>,
}

impl Other {
    fn hear(&mut self) -> String {
        let mut line = String::new();
        while self.says.read_line(&mut line).unwrap() > 0 {
            if let Some(said) = line.strip_prefix("> ") {
                return said.trim_end().to_owned();
            }
            line.clear();
        }
        panic!("it ended and said nothing")
    }

    fn ask(&mut self, what: &str) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{what}").unwrap();
    }

    fn append(&mut self) -> String {
        self.ask("append");
        self.hear()
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[track_caller]
fn is_refused(said: &str, user: User) {
    for word in [
        "not_named",
        "may not write",
        &format!("annals log share-with --with {}", user.0),
    ] {
        assert!(said.contains(word), "{word:?} is not in {said}");
    }
}

#[test]
fn another_user_writes_once_it_is_named_and_no_longer_than_that() {
    let Some(place) = Place::new() else { return };
    let path = place.log();
    let owner = SharedLog::create(&path, &options()).unwrap();
    block_on(owner.append(once())).unwrap();
    is_refused(&place.other(NAMED).hear(), NAMED);

    // The owner runs on, and it holds for it.
    assert!(Sharing::let_in(&path, NAMED).unwrap());
    assert!(!Sharing::let_in(&path, NAMED).unwrap(), "it is done");
    let mut other = place.other(NAMED);
    assert_eq!(other.hear(), "open");
    assert_eq!(other.append(), "appended 2");
    assert_eq!(owner.watermark().0, 2);
    is_refused(&place.other(UNNAMED).hear(), UNNAMED);
    for entry in std::fs::read_dir(&path).unwrap() {
        let (path, found) = entry.map(|it| (it.path(), it.metadata().unwrap())).unwrap();
        assert_eq!(found.uid(), 0, "{}", path.display());
    }
    let mode = || std::fs::metadata(&path).unwrap().mode() & 0o777;
    assert_eq!(
        mode(),
        0o750,
        "the mask of the list, and nothing for others"
    );
    // What an owner makes after that is for it too.
    block_on(owner.close());
    let owner = SharedLog::open(&path, &options()).unwrap();
    assert_eq!(other.append(), "appended 3");
    let mut again = place.other(NAMED);
    assert_eq!(again.hear(), "open");
    assert_eq!(again.append(), "appended 4");

    // Who is connected is disconnected, and the rights go.
    assert!(Sharing::keep_out(&path, NAMED).unwrap());
    assert!(!Sharing::keep_out(&path, NAMED).unwrap());
    // The owner looks once a second, on a busy machine later.
    let deadline = Instant::now() + Duration::from_secs(120);
    for other in [&mut other, &mut again] {
        let said = loop {
            let said = other.append();
            if !said.starts_with("appended") || Instant::now() > deadline {
                break said;
            }
            std::thread::sleep(Duration::from_millis(100));
        };
        assert!(said.contains("may not write"), "{said}");
    }
    let end = owner.watermark();
    is_refused(&place.other(NAMED).hear(), NAMED);
    for entry in std::fs::read_dir(&path).unwrap() {
        let path = entry.unwrap().path();
        let listed = annals_files::listed(&path).unwrap();
        assert_eq!(listed, None, "{}", path.display());
    }
    assert_eq!(mode(), 0o700);
    assert!(end.0 >= 4);
    assert_eq!(owner.watermark(), end, "nothing came behind it");
}

/// The rights on the files alone, as a person gives them, let nobody write: the owner looks at who is there.
#[test]
fn one_that_can_read_and_reach_the_socket_is_still_refused() {
    let Some(place) = Place::new() else { return };
    let path = place.log();
    let owner = SharedLog::create(&path, &options()).unwrap();
    let open = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    open(&path, 0o755);
    for entry in std::fs::read_dir(&path).unwrap() {
        open(&entry.unwrap().path(), 0o666);
    }
    open(&path.join("ANNALS"), 0o644);
    is_refused(&place.other(UNNAMED).hear(), UNNAMED);
    assert_eq!(owner.watermark().0, 0);
}

/// Rights on the files make nobody an owner: with a process that owns the log, and without one.
#[test]
fn one_that_may_write_the_files_is_still_refused() {
    let Some(place) = Place::new() else { return };
    let path = place.log();
    let owner = SharedLog::create(&path, &options()).unwrap();
    block_on(owner.append(once())).unwrap();
    let open = || {
        let open = |path: &Path| {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777)).unwrap();
        };
        open(&path);
        for entry in std::fs::read_dir(&path).unwrap() {
            open(&entry.unwrap().path());
        }
    };
    open();
    is_refused(&place.other(UNNAMED).hear(), UNNAMED);
    block_on(owner.close());
    open();
    is_refused(&place.other(UNNAMED).hear(), UNNAMED);
    let log = RocksLog::open(&path, &options()).unwrap();
    assert_eq!(log.watermark().0, 1);
    block_on(log.close());
}

#[test]
fn who_is_named_never_owns_the_log() {
    let Some(place) = Place::new() else { return };
    let path = place.log();
    let owner = SharedLog::create(&path, &options()).unwrap();
    Sharing::let_in(&path, NAMED).unwrap();
    let mut other = place.other(NAMED);
    assert_eq!(other.hear(), "open");
    assert_eq!(other.append(), "appended 1");
    other.ask("own");
    let said = other.hear();
    assert!(said.contains("cannot own the log"), "{said}");

    // It waits for the next owner, and finds it.
    block_on(owner.close());
    other.ask("append");
    std::thread::sleep(Duration::from_millis(500));
    let owner = SharedLog::open(&path, &options()).unwrap();
    assert!(owner.is_owner(), "nobody else took the lock");
    assert_eq!(other.hear(), "appended 2");

    // Where there is none, it is told so, and what helps.
    block_on(owner.close());
    let began = Instant::now();
    let said = place.other(NAMED).hear();
    within(began.elapsed(), 20);
    for word in [
        "owner_unreachable",
        "no process owns the log",
        "annals service serve --record-only",
    ] {
        assert!(said.contains(word), "{word:?} is not in {said}");
    }
    // Who is not named need not wait for that.
    is_refused(&place.other(UNNAMED).hear(), UNNAMED);
    let log = RocksLog::open(&path, &options()).unwrap();
    block_on(log.close());
}

#[test]
fn a_guest_that_finds_no_owner_says_that_it_is_to_be_tried_again() {
    let error = ShareError::NoOwner {
        path: "log".into(),
        user: NAMED,
        owner: User(0),
    };
    assert!(error.is_retryable());
    let error = ReadError::from(error);
    assert!(error.is_retryable(), "{error}");
}

#[test]
fn who_may_in_any_case_and_what_is_no_log_are_refused() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("log");
    let missing = Sharing::let_in(&path, NAMED).unwrap_err();
    assert!(
        matches!(missing, SharingError::NotFound { .. }),
        "{missing}"
    );
    let log = RocksLog::create(&path, &options()).unwrap();
    for always in [User(0), User::current()] {
        let refused = Sharing::let_in(&path, always).unwrap_err();
        assert!(matches!(refused, SharingError::Always { .. }), "{refused}");
    }
    block_on(log.close());
    // A damaged file lets nobody in, and is said to be one.
    std::fs::write(path.join("SHARE"), "annals share, format 2\n7\n").unwrap();
    let refused = Sharing::let_in(&path, NAMED).unwrap_err();
    assert!(refused.to_string().contains("format 1"), "{refused}");
    let log = SharedLog::open(&path, &options()).unwrap();
    assert!(log.is_owner());
}
