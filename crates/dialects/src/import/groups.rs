//! Recordings in a folder, in groups that are imported together.
//!
//! An import of a folder reads its recordings in time order, since some go together: a session and its sub-agents, and a
//! session with those that were resumed or forked from it, which repeat its lines. Whoever imports the newest work first
//! keeps that order within a group, and is free in the order of the groups.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use annals_files::Root;
use serde_json::Value;

use super::compressed::{self, Content};
use super::database;
use super::error::ImportError;
use super::files::{self, Recording};
use super::formats;

/// Bytes of a recording in which names are looked for that it shares with others.
const HEAD: u64 = 64 * 1024;

/// Lines of these bytes.
const LINES: usize = 20;

/// Fields whose values name a session, or the first line of one.
const NAMES: [&str; 7] = [
    "sessionId",
    "session_id",
    "uuid",
    "id",
    "forked_from_id",
    "parent_thread_id",
    "thread_id",
];

/// Folders into which a line is looked into.
const DEPTH: usize = 3;

/// The length of a UUID: shorter names are no names of sessions.
const UUID: usize = 36;

/// Recordings that go together, in the order in which they are imported.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordingGroup {
    /// The agent, as [`super::agents`] names it.
    pub agent: &'static str,
    /// The recordings, the one that begins first before the others.
    pub files: Vec<GroupedRecording>,
}

/// The recordings of an agent in a folder.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct FoundRecordings {
    /// Those that can be read, in groups.
    pub groups: Vec<RecordingGroup>,
    /// Files that look like recordings and cannot be read, each with the reason.
    pub unread: Vec<(PathBuf, &'static str)>,
}

/// A recording of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct GroupedRecording {
    /// The file.
    pub path: PathBuf,
    /// Its length in bytes; of a database with its write-ahead log.
    pub bytes: u64,
    /// When it was changed last; a database with its write-ahead log.
    pub modified: Option<SystemTime>,
    /// Whether it is a sub-agent's, by its name.
    pub is_sub_agent: bool,
}

impl RecordingGroup {
    /// The length of all files in bytes.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }

    /// The number of recordings that are not a sub-agent's.
    pub fn sessions(&self) -> usize {
        let own = self.files.iter().filter(|file| !file.is_sub_agent);
        own.count()
    }

    /// When one of the files was changed last.
    pub fn modified(&self) -> Option<SystemTime> {
        self.files.iter().filter_map(|file| file.modified).max()
    }
}

/// The recordings of an agent in a folder and below, as [`recordings_in`] finds them.
///
/// # Errors
/// [`ImportError`]: the agent is not known, or the folder cannot be read.
pub fn recording_groups(folder: &Path, agent: &str) -> Result<Vec<RecordingGroup>, ImportError> {
    Ok(recordings_in(folder, agent)?.groups)
}

/// The recordings of an agent in a folder and below, in groups, the group that was changed last before the others, and the
/// files that cannot be read. A folder without recordings has no groups.
///
/// # Errors
/// [`ImportError`]: the agent is not known, or the folder cannot be read.
pub fn recordings_in(folder: &Path, agent: &str) -> Result<FoundRecordings, ImportError> {
    let kind = formats::named(agent)?;
    let root = Root::of(folder).map_err(|source| ImportError::Unreadable {
        path: folder.to_owned(),
        source,
    })?;
    let (found, others) = files::search(&root, folder, Some(kind))?;
    let unread = found.iter().filter(|file| file.kind.is_none());
    let unread = unread.filter_map(|file| Some((file.path.clone(), file.unread?)));
    let unread = unread.chain(others.into_unread()).collect();
    let is_own = |file: &Recording| file.kind.is_some_and(|found| std::ptr::eq(found, kind));
    let found: Vec<PathBuf> = found
        .into_iter()
        .filter(is_own)
        .map(|file| file.path)
        .collect();
    let mut groups = grouped(&found, kind.agent.key);
    groups.sort_by_key(|group| std::cmp::Reverse(group.modified()));
    Ok(FoundRecordings { groups, unread })
}

/// Returns the first 100 files of an agent in a folder and below that nothing reads, each with the reason: those that are
/// compressed by other programs than `zstd`, links out of the folder, and pipes.
///
/// # Errors
/// [`ImportError`]: the agent is not known, or the folder cannot be read.
pub fn unread_in(folder: &Path, agent: &str) -> Result<Vec<(PathBuf, &'static str)>, ImportError> {
    let kind = formats::named(agent)?;
    let root = Root::of(folder).map_err(|source| ImportError::Unreadable {
        path: folder.to_owned(),
        source,
    })?;
    let (_, others) = files::list(&root, folder, Some(kind))?;
    Ok(others.into_unread().collect())
}

/// Groups of files, which are in time order.
fn grouped(found: &[PathBuf], agent: &'static str) -> Vec<RecordingGroup> {
    let mut sets = Sets::new(found.len());
    let mut by_name: HashMap<String, usize> = HashMap::new();
    for (number, path) in found.iter().enumerate() {
        for name in names(path) {
            match by_name.get(&name) {
                Some(other) => sets.join(*other, number),
                None => _ = by_name.insert(name, number),
            }
        }
    }
    let mut groups: HashMap<usize, Vec<GroupedRecording>> = HashMap::new();
    for (number, path) in found.iter().enumerate() {
        let set = sets.first(number);
        groups.entry(set).or_default().push(recording(path));
    }
    let groups = groups.into_values();
    groups
        .map(|files| RecordingGroup { agent, files })
        .collect()
}

fn recording(path: &Path) -> GroupedRecording {
    let log = database::log_path(path);
    let files = [Some(path), log.as_deref()].into_iter().flatten();
    let about: Vec<fs::Metadata> = files.filter_map(|file| fs::metadata(file).ok()).collect();
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let folder = path.parent().and_then(Path::file_name);
    GroupedRecording {
        path: path.to_owned(),
        bytes: about.iter().map(fs::Metadata::len).sum(),
        modified: about.iter().filter_map(|it| it.modified().ok()).max(),
        is_sub_agent: stem.starts_with("agent-")
            || folder.is_some_and(|it| it == "subagents")
            || session_folder(path).is_some(),
    }
}

/// The names that tie a recording to others.
fn names(path: &Path) -> Vec<String> {
    let mut names = Vec::new();
    if let Some(folder) = path
        .parent()
        .filter(|it| it.file_name().is_some_and(|it| it == "events"))
    {
        // Each event of the session has a file of its own.
        names.push(folder.display().to_string());
    }
    if let Some(session) = session_folder(path) {
        // Its own sub-agents lie in a folder of its name.
        names.extend([session, compressed::stem(path)]);
    }
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| {
        let mut content = Content::of(&file)?.take(HEAD);
        content.read_to_end(&mut head)
    });
    if read.is_err() && head.is_empty() {
        return names;
    }
    let text = formats::text(&head);
    for line in text.lines().take(LINES) {
        // The last one may be cut off.
        if let Ok(line) = serde_json::from_str::<Value>(line) {
            add(&line, DEPTH, &mut names);
        }
    }
    names
}

/// The session in whose folder a recording lies, which is a sub-agent's then.
fn session_folder(path: &Path) -> Option<String> {
    let folder = path.parent()?;
    let is_chats = folder.parent()?.file_name()? == "chats";
    let name = folder.file_name().filter(|_| is_chats)?;
    Some(name.to_string_lossy().into_owned())
}

fn add(value: &Value, depth: usize, names: &mut Vec<String>) {
    let Value::Object(fields) = value else {
        return;
    };
    for (field, value) in fields {
        match value {
            Value::String(name) if name.len() == UUID && NAMES.contains(&field.as_str()) => {
                names.push(name.clone());
            }
            Value::Object(_) if depth > 1 => add(value, depth - 1, names),
            _ => {}
        }
    }
}

/// Disjoint sets of numbers.
struct Sets(Vec<usize>);

impl Sets {
    fn new(count: usize) -> Sets {
        Sets((0..count).collect())
    }

    /// The first number of the set that a number is in.
    fn first(&self, mut number: usize) -> usize {
        while let Some(next) = self.0.get(number).filter(|next| **next != number) {
            number = *next;
        }
        number
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.first(one), self.first(other));
        if let Some(set) = self.0.get_mut(one.max(other)) {
            *set = one.min(other);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::json;

    use super::*;

    fn line(session: &str, uuid: &str, at: &str) -> String {
        let message = json!({ "role": "user", "content": "Fix it" });
        let line = json!({ "type": "user", "sessionId": session, "uuid": uuid, "timestamp": at, "message": message });
        format!("{line}\n")
    }

    fn id(n: u8) -> String {
        format!("00000000-0000-4000-8000-{n:012}")
    }

    #[test]
    fn a_session_is_with_its_sub_agents_and_with_what_was_resumed_from_it() {
        let home = tempfile::tempdir().unwrap();
        let write = |name: &str, text: String, days: u64| {
            let path = home.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            let time = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(days * 86_400);
            File::options()
                .append(true)
                .open(&path)
                .unwrap()
                .set_modified(time)
                .unwrap();
        };
        write(
            "p/one.jsonl",
            line(&id(1), &id(11), "2026-01-02T00:00:00Z"),
            2,
        );
        write(
            "p/agent-x.jsonl",
            line(&id(1), &id(12), "2026-01-02T01:00:00Z"),
            2,
        );
        write(
            "p/one/subagents/agent-y.jsonl",
            line(&id(1), &id(13), "2026-01-02T02:00:00Z"),
            2,
        );
        write(
            "p/newest.jsonl",
            line(&id(2), &id(21), "2026-01-03T00:00:00Z"),
            4,
        );
        // It repeats the first line of the first session, and goes on.
        write(
            "p/resumed.jsonl",
            line(&id(3), &id(11), "2026-01-02T00:00:00Z"),
            3,
        );
        write("p/notes.jsonl", "{\"a\":1}\n".to_owned(), 5);
        let groups = recording_groups(home.path(), "claude").unwrap();
        let names = |group: &RecordingGroup| -> Vec<String> {
            let name = |file: &GroupedRecording| {
                file.path
                    .strip_prefix(home.path())
                    .unwrap()
                    .display()
                    .to_string()
            };
            group.files.iter().map(name).collect()
        };
        let found: Vec<Vec<String>> = groups.iter().map(names).collect();
        assert_eq!(
            found,
            [
                vec!["p/newest.jsonl"],
                vec![
                    "p/one.jsonl",
                    "p/resumed.jsonl",
                    "p/agent-x.jsonl",
                    "p/one/subagents/agent-y.jsonl"
                ],
            ]
        );
        assert_eq!(
            groups
                .iter()
                .map(RecordingGroup::sessions)
                .collect::<Vec<_>>(),
            [1, 2]
        );
        assert!(groups[0].bytes() > 0 && groups[0].modified() > groups[1].modified());
        let empty = tempfile::tempdir().unwrap();
        assert_eq!(recording_groups(empty.path(), "claude").unwrap(), []);
        assert!(recording_groups(&empty.path().join("gone"), "claude").is_err());
        assert!(recording_groups(empty.path(), "nobody").is_err());
    }
}
