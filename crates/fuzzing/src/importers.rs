//! Importers of files and folders, each into a log in memory: nothing panics, and what is imported
//! again adds nothing.

use std::fs;
use std::io::{BufReader, Cursor};
use std::path::Path;
use std::sync::Arc;

use annals::Annals;
use annals_dialects::claude::{self, ClaudeOptions};
use annals_dialects::forge::{self, ForgeOptions};
use annals_dialects::git::{self, GitOptions};
use annals_dialects::import::{self, ImportOptions};
use annals_dialects::secrets::Secrets;
use annals_dialects::verbatim::{self, VerbatimSource};
use annals_dialects::{ImportReport, contracts, git_internal};
use annals_domain::ActorRef;
use annals_event_log::memory::MemoryLog;
use futures::executor::block_on;
use uuid::Uuid;

use crate::seeds;

fn log() -> Annals {
    Annals::over(Arc::new(MemoryLog::new(Uuid::from_u128(1))))
}

/// Imports twice what a folder holds; the second time adds nothing.
fn twice<E: std::error::Error>(import: impl Fn(&Annals) -> Result<ImportReport, E>) {
    let annals = log();
    if let Ok(first) = import(&annals) {
        let end = annals.position();
        let again = import(&annals).expect("what was imported once");
        assert_eq!(again.events_made, 0, "first {first}\nthen {again}");
        assert_eq!(annals.position(), end);
    }
}

fn file(data: &[u8], name: &str) -> tempfile::TempDir {
    let home = tempfile::tempdir().expect("a folder");
    fs::write(home.path().join(name), data).expect("a file");
    home
}

/// A recording of Claude Code.
pub(crate) fn claude(data: &[u8]) {
    let home = file(data, "session.jsonl");
    let options = ClaudeOptions::default();
    twice(|annals| block_on(claude::import(annals, home.path(), &options, &mut |_| {})));
}

/// A recording of an agent's, as a file of this name.
fn recording(agent: &str, name: &str, data: &[u8]) {
    let home = file(data, name);
    let options = ImportOptions::default();
    let path = home.path().join(name);
    let import = |annals: &Annals| {
        let mut none = |_| {};
        let imported = import::recordings(annals, &path, Some(agent), &options, &mut none);
        block_on(imported).map(|reports| reports.into_iter().next().unwrap_or_default())
    };
    twice(import);
}

/// A session of Gemini CLI: a document, or lines.
pub(crate) fn gemini(data: &[u8]) {
    recording("gemini", "session.json", data);
    recording("gemini", "session.jsonl", data);
}

/// A database of Copilot Chat.
pub(crate) fn copilot_chat(data: &[u8]) {
    recording("copilot-chat", "agent-traces.db", data);
}

/// A transcript of Cursor.
pub(crate) fn cursor(data: &[u8]) {
    recording("cursor", "transcript.jsonl", data);
}

/// A database of OpenCode.
pub(crate) fn opencode(data: &[u8]) {
    recording("opencode", "opencode.db", data);
}

/// A trajectory in ATIF.
pub(crate) fn atif(data: &[u8]) {
    recording("atif", "trajectory.json", data);
}

/// A rollout of Codex.
pub(crate) fn codex(data: &[u8]) {
    recording("codex", "rollout.jsonl", data);
}

/// A session of Copilot CLI.
pub(crate) fn copilot(data: &[u8]) {
    recording("copilot", "events.jsonl", data);
}

/// A conversation of OpenHands: events, a line each, or a list of them.
pub(crate) fn openhands(data: &[u8]) {
    recording("openhands", "events.jsonl", data);
    recording("openhands", "trajectory.json", data);
}

/// A trajectory of SWE-agent.
pub(crate) fn swe_agent(data: &[u8]) {
    recording("swe-agent", "run.traj", data);
}

/// A file of the contracts.
pub(crate) fn contracts(data: &[u8]) {
    let home = file(data, "objects.json");
    let path = home.path().join("objects.json");
    let secrets = Secrets::standard();
    twice(|annals| block_on(contracts::import(annals, &path, &secrets, &mut |_| {})));
}

/// A file of git-internal's objects.
pub(crate) fn git_internal(data: &[u8]) {
    let home = file(data, "objects.jsonl");
    let path = home.path().join("objects.jsonl");
    let secrets = Secrets::standard();
    twice(|annals| block_on(git_internal::import(annals, &path, &secrets, &mut |_| {})));
}

/// A `.forge` folder: the first byte says which of its files the others are.
pub(crate) fn forge(data: &[u8]) {
    const FILES: [&str; 4] = [
        "intents/one.yaml",
        "intent-drafts/two.md",
        "tasks/one.yaml",
        "reviews/three.yaml",
    ];
    let Some((which, text)) = data.split_first() else {
        return;
    };
    let home = tempfile::tempdir().expect("a folder");
    let forge = home.path().join(".forge");
    for (name, text) in FILES.iter().zip(seeds::FORGE) {
        put(&forge, name, text.as_bytes());
    }
    put(&forge, FILES[usize::from(*which) % FILES.len()], text);
    let options = ForgeOptions::new(ActorRef::human("ada"))
        .with_keep_drafts(true)
        .with_secrets(Secrets::standard());
    twice(|annals| block_on(forge::import(annals, home.path(), &options, &mut |_| {})));
}

/// An export of a log: what is taken is as its digests say, and can be exported again.
pub(crate) fn annals(data: &[u8]) {
    let reader = Box::new(BufReader::new(Cursor::new(data.to_vec())));
    let Ok(source) = VerbatimSource::open("export", reader) else {
        return;
    };
    let annals = log();
    if block_on(verbatim::import(&annals, source, &mut |_| {})).is_ok() {
        let mut again = Vec::new();
        let from = annals_event_log::Position(1);
        block_on(verbatim::export(&annals, from, &mut again, &mut |_| {})).expect("a whole log");
    }
}

/// A repository: the first byte says which of git's files the others are.
pub(crate) fn git(data: &[u8]) {
    let Some((which, content)) = data.split_first() else {
        return;
    };
    let home = tempfile::tempdir().expect("a folder");
    let git = home.path().join(".git");
    for (name, content) in seeds::GIT {
        put(&git, name, content);
    }
    let files = [
        "HEAD",
        "config",
        "packed-refs",
        "shallow",
        "refs/heads/main",
        "objects/info/alternates",
        "commondir",
        "logs/HEAD",
        "objects/pack/pack-1.idx",
        "objects/pack/pack-1.pack",
    ];
    put(&git, files[usize::from(*which) % files.len()], content);
    let options = GitOptions::default();
    twice(|annals| block_on(git::import(annals, home.path(), &options, &mut |_| {})));
}

fn put(folder: &Path, name: &str, content: &[u8]) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap_or(folder)).expect("a folder");
    fs::write(path, content).expect("a file");
}
