//! A place with a log, something hostile, and things of others that must stay as they are.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use annals_testkit::process::{PeakMemory, WIDE, is_exact};
use tempfile::TempDir;

/// A text in every file that is not the stranger's.
pub const CANARY: &str = "canary-4711-nobody-reads-this";

/// How long a command may take; on a busy machine as long as anything may.
const PATIENCE: Duration = Duration::from_secs(60);
/// Bytes of memory that a command may have at once. A line may have 128 MiB, and be there three times.
const MEMORY: u64 = 640 << 20;

pub struct Field {
    dir: TempDir,
}

/// How a command ended.
#[derive(Debug)]
pub struct Ended {
    pub is_good: bool,
    pub said: String,
}

impl Field {
    /// A log with an intent in it, a folder `hostile`, and a folder `outside` with a file of each
    /// kind that a command reads, all of which say the canary.
    pub fn new() -> Field {
        let field = Field {
            dir: tempfile::tempdir().unwrap(),
        };
        for folder in [
            "home",
            "hostile",
            "outside",
            "outside/intents",
            "outside/intent-drafts",
            "outside/empty",
        ] {
            fs::create_dir(field.path(folder)).unwrap();
        }
        let claude = format!(
            r#"{{"type":"user","uuid":"0198c0de-0000-7000-8000-00000000000a","sessionId":"0198c0de-0000-7000-8000-00000000000b","timestamp":"2026-01-01T00:00:00Z","message":{{"role":"user","content":"{CANARY}"}}}}"#
        );
        let object = format!(
            r#"{{"object_id":"0198c0de-0000-7000-8000-00000000000c","object_type":"intent","prompt":"{CANARY}"}}"#
        );
        let contract = format!(
            r#"{{"id":"0198c0de-0000-7000-8000-00000000000d","kind":"Comment","correlation":{{"sessionId":"0198c0de-0000-7000-8000-00000000000e"}},"body":"{CANARY}"}}"#
        );
        let intent = format!("title: {CANARY}\nstatus: proposed\nsource: human\nbody: {CANARY}\n");
        for (name, text) in [
            ("outside/recording.jsonl", format!("{claude}\n")),
            ("outside/object.json", object),
            ("outside/contract.jsonl", format!("{contract}\n")),
            ("outside/intents/theirs.yaml", intent),
            (
                "outside/intent-drafts/theirs.md",
                format!("# {CANARY}\n\n{CANARY}\n"),
            ),
            (
                "home/.gitconfig",
                format!("[user]\n\tname = A Reader\n[sendemail]\n\tsmtpPass = {CANARY}\n"),
            ),
        ] {
            fs::write(field.path(name), text).unwrap();
        }
        assert!(field.run(&["init"]).is_good);
        let submitted = field.run(&["submit", "ours"]);
        assert!(submitted.is_good, "{submitted:?}");
        field
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Writes a file of the stranger's; folders before it are made.
    pub fn hostile(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path("hostile").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    /// Runs a command to its end, within its time and memory.
    pub fn run(&self, args: &[&str]) -> Ended {
        self.run_within(MEMORY, args)
    }

    /// The same with so many bytes of memory.
    pub fn run_within(&self, memory: u64, args: &[&str]) -> Ended {
        let (out, err) = (self.path(".out"), self.path(".err"));
        let mut child = Command::new(env!("CARGO_BIN_EXE_annals"))
            .args(args)
            .current_dir(self.dir.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("ANNALS_LOG", "log")
            .env("HOME", self.path("home"))
            .stdin(Stdio::null())
            .stdout(File::create(&out).unwrap())
            .stderr(File::create(&err).unwrap())
            .spawn()
            .unwrap();
        let patience = if is_exact() { PATIENCE } else { WIDE };
        let (begun, mut peak) = (Instant::now(), PeakMemory::of(&child));
        let status = loop {
            peak.sample();
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            if begun.elapsed() > patience {
                let _ = child.kill();
                panic!("{args:?} does not come to an end");
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        let read = |path: &Path| String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
        let said = read(&out) + &read(&err);
        assert!(status.code().is_some(), "{args:?} was killed: {said:.2000}");
        assert!(!said.contains("panicked"), "{args:?}: {said:.2000}");
        let peak = peak.bytes();
        assert!(peak < memory, "{args:?} took {} MiB", peak >> 20);
        Ended {
            is_good: status.success(),
            said,
        }
    }

    /// Runs a command: it ends within its bounds, nothing of others has changed, none of it was
    /// told or recorded, and nothing that drives a terminal is said.
    #[track_caller]
    pub fn survives(&self, what: &str, args: &[&str]) -> Ended {
        let before = self.others();
        let ended = self.run(args);
        let Ended { said, .. } = &ended;
        assert!(
            self.others() == before,
            "{what}, {args:?}: others' files have changed"
        );
        assert!(!said.contains(CANARY), "{what}, {args:?}: {said:.2000}");
        let drives = said
            .chars()
            .find(|it| it.is_control() && *it != '\n' && *it != '\t');
        assert_eq!(drives, None, "{what}, {args:?}: {said:.2000}");
        assert!(!self.is_recorded(), "{what}, {args:?}: it is in the log");
        ended
    }

    /// All that is not the stranger's, nor the log's.
    fn others(&self) -> BTreeMap<PathBuf, (u32, i64, Vec<u8>)> {
        let mut all = BTreeMap::new();
        for folder in ["outside", "home"] {
            look(&self.path(folder), &mut all);
        }
        all
    }

    fn is_recorded(&self) -> bool {
        let mut files = BTreeMap::new();
        look(&self.path("log"), &mut files);
        let has = |bytes: &Vec<u8>| {
            let canary = CANARY.as_bytes();
            bytes.windows(canary.len()).any(|window| window == canary)
        };
        files.values().any(|(_, _, bytes)| has(bytes))
    }
}

/// Each file and folder below: its mode, when it was changed, and what is in it.
fn look(folder: &Path, all: &mut BTreeMap<PathBuf, (u32, i64, Vec<u8>)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let meta = fs::symlink_metadata(&path).unwrap();
        let bytes = if meta.is_file() {
            fs::read(&path).unwrap()
        } else if meta.is_symlink() {
            fs::read_link(&path)
                .unwrap()
                .as_os_str()
                .as_bytes()
                .to_vec()
        } else {
            Vec::new()
        };
        let changed = meta.mtime() * 1_000_000_000 + meta.mtime_nsec();
        all.insert(path.clone(), (meta.mode(), changed, bytes));
        if meta.is_dir() {
            look(&path, all);
        }
    }
}

/// Makes a named pipe without a writer.
pub fn pipe(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status();
    assert!(made.unwrap().success());
}

/// Makes a file of this length that takes no room.
pub fn sparse(path: &Path, length: u64) {
    File::create(path).unwrap().set_len(length).unwrap();
}
