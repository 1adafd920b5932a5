//! Files next to recordings that have more about them: of a sub-agent's recording, who called the sub-agent.

use std::collections::{HashMap, HashSet};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use annals_files::{Dir, Root};

use super::compressed;
use super::files::Recording;
use super::format::{Companions, Kind};
use super::formats::COMPANIONS;

/// The most bytes of such a file. The longest ones have a few hundred.
const MOST: u64 = 64 * 1024;

fn of(kind: &Kind) -> Option<&'static Companions> {
    COMPANIONS.iter().find(|it| std::ptr::eq(it.kind, kind))
}

/// The names of those files of a folder that are companions of others, of one agent or of all.
pub(super) fn names(kind: Option<&Kind>, files: &[String]) -> HashSet<String> {
    let all = COMPANIONS.iter();
    let wanted = all.filter(|it| kind.is_none_or(|kind| std::ptr::eq(it.kind, kind)));
    let of_all = |companions: &'static Companions| {
        let recordings = files.iter().map(Path::new);
        recordings.filter_map(move |file| (companions.name)(&compressed::stem(file)))
    };
    wanted.flat_map(of_all).collect()
}

/// The companion of a recording; none where there is none, or one that cannot be read.
pub(super) fn read(root: &Root, recording: &Path, kind: &Kind) -> Option<Vec<u8>> {
    let name = (of(kind)?.name)(&compressed::stem(recording))?;
    read_next_to(root, recording, &name).ok()
}

/// Reads a file in the folder of another one, without following a link.
fn read_next_to(root: &Root, file: &Path, name: &str) -> io::Result<Vec<u8>> {
    let folder = std::path::absolute(file)?;
    let folder = folder.parent().unwrap_or(&folder);
    let folder = match root {
        Root::Folder(_) => root.folder(file.parent().unwrap_or(file))?,
        Root::File(_) => Dir::open(folder)?,
    };
    let mut bytes = Vec::new();
    let companion = folder.open_file(name.as_ref())?;
    let read = companion.take(MOST + 1).read_to_end(&mut bytes)?;
    match read as u64 > MOST {
        true => Err(io::ErrorKind::FileTooLarge.into()),
        false => Ok(bytes),
    }
}

/// The recordings in their order, but each sub-agent's behind that of the sub-agent that called it.
pub(super) fn callers_first(root: &Root, files: Vec<Recording>) -> Vec<Recording> {
    let owners = FolderOwners::of(&files);
    let caller = |file| caller(root, file).or_else(|| owners.of_file(file));
    let callers: HashMap<PathBuf, PathBuf> = files
        .iter()
        .filter_map(|file| Some((file.path.clone(), caller(file)?)))
        .collect();
    if callers.is_empty() {
        return files;
    }
    let order: Vec<PathBuf> = files.iter().map(|file| file.path.clone()).collect();
    let mut left: HashMap<PathBuf, Recording> = files
        .into_iter()
        .map(|file| (file.path.clone(), file))
        .collect();
    let mut sorted = Vec::with_capacity(order.len());
    for path in &order {
        // A circle of callers ends at the one that it began with.
        let mut line = Vec::new();
        let mut next = Some(path);
        while let Some((path, file)) = next.and_then(|path| left.remove_entry(path)) {
            next = callers.get(&path);
            line.push(file);
        }
        sorted.extend(line.into_iter().rev());
    }
    sorted
}

/// The recordings of sessions and sub-agents whose own sub-agents lie in a folder that is named after them, by that folder:
///
/// ```text
/// chats/session-2026-01-02T03-04-aaaa0024.jsonl
/// chats/aaaa0024-0000-4000-8000-000000000001/sub-1.jsonl
/// chats/sub-1/sub-0.jsonl
/// ```
#[derive(Default)]
struct FolderOwners(HashMap<(PathBuf, String), PathBuf>);

/// The folder of all sessions.
const SESSIONS: &str = "chats";

/// Characters of a session's id at the end of its file's name.
const SHORT: usize = 8;

impl FolderOwners {
    /// Of files in the order of time.
    fn of(files: &[Recording]) -> FolderOwners {
        let mut owners = FolderOwners::default();
        for file in files.iter().filter(|file| has_folders(file)) {
            let stem = compressed::stem(&file.path);
            let Some(folder) = file.path.parent() else {
                continue;
            };
            let session = stem.strip_prefix("session-");
            let key = match session.and_then(|name| name.rsplit_once('-')) {
                Some((_, short)) => Some((folder.to_owned(), short.to_owned())),
                None => folder
                    .parent()
                    .map(|above| (above.to_owned(), stem.clone())),
            };
            if let Some(key) = key {
                owners.0.entry(key).or_insert_with(|| file.path.clone());
            }
        }
        owners
    }

    fn of_file(&self, file: &Recording) -> Option<PathBuf> {
        let folder = Some(file).filter(|file| has_folders(file))?.path.parent()?;
        let (above, name) = (folder.parent()?, folder.file_name()?.to_str()?);
        let short: String = name.chars().take(SHORT).collect();
        let mut keys = [name.to_owned(), short].into_iter();
        let owner = keys.find_map(|key| self.0.get(&(above.to_owned(), key)))?;
        (*owner != file.path).then(|| owner.clone())
    }
}

/// Whether a recording lies in the folder of all sessions, or in one of a session there.
fn has_folders(file: &Recording) -> bool {
    let mut folders = file.path.ancestors().skip(1).take(2);
    folders.any(|folder| folder.file_name().is_some_and(|name| name == SESSIONS))
}

/// The recording of the sub-agent that called the one of a recording.
fn caller(root: &Root, file: &Recording) -> Option<PathBuf> {
    let kind = file.kind?;
    let text = String::from_utf8(read(root, &file.path, kind)?).ok()?;
    let stem = (of(kind)?.caller)(&text)?;
    let name = file.path.file_name()?.to_string_lossy();
    let ending = name.strip_prefix(&compressed::stem(&file.path))?.to_owned();
    Some(file.path.with_file_name(format!("{stem}{ending}")))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs;

    use super::super::files::find;
    use super::*;

    /// Writes recordings of sub-agents that begin at the same time, each with its caller; their order, without companions.
    fn order(agents: &[(&str, &str)]) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        for (agent, caller) in agents {
            let line = r#"{"type":"user","sessionId":"s","timestamp":"2026-01-02T03:04:05Z"}"#;
            fs::write(folder.path().join(format!("agent-{agent}.jsonl")), line).unwrap();
            let about = format!(r#"{{"agentType":"x","parentAgentId":"{caller}"}}"#);
            fs::write(
                folder.path().join(format!("agent-{agent}.meta.json")),
                about,
            )
            .unwrap();
        }
        let root = Root::of(folder.path()).unwrap();
        let (files, others) = find(&root, folder.path(), None).unwrap();
        assert_eq!(others.count, 0, "{others:?}");
        let stem = |file: Recording| compressed::stem(&file.path).replace("agent-", "");
        files.into_iter().map(stem).collect()
    }

    #[test]
    fn a_sub_agent_comes_behind_its_caller() {
        assert_eq!(
            order(&[("a", "b"), ("b", "c"), ("c", ""), ("d", "a")]),
            ["c", "b", "a", "d"]
        );
        assert_eq!(order(&[("a", "none"), ("b", "b")]), ["a", "b"]);
        assert_eq!(order(&[("a", "b"), ("b", "a")]), ["b", "a"]);
    }
}
