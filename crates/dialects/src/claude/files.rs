//! The files of an import, in time order.

use std::cmp::Ordering;
use std::fs;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use annals_domain::Timestamp;
use annals_files::{Entry, Kind, Root};
use serde::Deserialize;

use super::error::ClaudeImportError;
use super::line::parse_time;
use super::read::LINE_LIMIT;
use crate::lines::Lines;
use crate::others::{self, Others};

/// In so many lines a file's first time is looked for.
const PROBED: usize = 200;

/// A recording.
#[derive(Debug)]
pub(super) struct Recording {
    pub(super) path: PathBuf,
    /// How long it is, in bytes.
    pub(super) bytes: u64,
    /// The first time in it.
    begins: Option<Timestamp>,
}

/// The file at `path`, or all `*.jsonl` files in that folder and below,
/// the one that begins first before the others. Those without any time are
/// last. What lies beside them is named and not read.
pub(super) fn find(
    root: &Root,
    path: &Path,
) -> Result<(Vec<Recording>, Others), ClaudeImportError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| ClaudeImportError::Unreadable { path, source }
    };
    let mut paths = Vec::new();
    let mut others = Others::default();
    if matches!(root, Root::Folder(_)) {
        let mut folders = vec![path.to_owned()];
        while let Some(folder) = folders.pop() {
            match list(root, &folder, &mut folders, &mut paths, &mut others) {
                Ok(()) => {}
                Err(error) if folder == path => return Err(failed(path)(error)),
                // Whoever reads it says what is wrong with it.
                Err(_) => paths.push(folder),
            }
        }
    } else {
        paths.push(path.to_owned());
    }
    if paths.is_empty() {
        let path = path.to_owned();
        return Err(ClaudeImportError::NoRecordings { path });
    }
    let mut files: Vec<Recording> = paths
        .into_iter()
        .map(|path| recording(root, path))
        .collect();
    files.sort_by(order);
    Ok((files, others))
}

fn list(
    root: &Root,
    folder: &Path,
    folders: &mut Vec<PathBuf>,
    files: &mut Vec<PathBuf>,
    others: &mut Others,
) -> io::Result<()> {
    for Entry { name, kind } in root.folder(folder)?.entries()? {
        let path = folder.join(name);
        if kind == Kind::Dir {
            folders.push(path);
        } else if path
            .extension()
            .is_none_or(|name| !name.eq_ignore_ascii_case("jsonl"))
        {
            others.add(path, "its name does not end with .jsonl");
        } else {
            match kind {
                Kind::File => files.push(path),
                Kind::Link => others.add(path, others::LINK),
                Kind::Dir | Kind::Other => others.add(path, others::NO_FILE),
            }
        }
    }
    Ok(())
}

fn order(a: &Recording, b: &Recording) -> Ordering {
    let begins = |file: &Recording| (file.begins.is_none(), file.begins);
    begins(a).cmp(&begins(b)).then_with(|| a.path.cmp(&b.path))
}

/// What is to be known of a file before it is read. One that cannot be read is
/// named when it is its turn, and the others are read all the same.
fn recording(root: &Root, path: PathBuf) -> Recording {
    let (bytes, begins) = probe(root, &path).unwrap_or_default();
    Recording {
        path,
        bytes,
        begins,
    }
}

fn probe(root: &Root, path: &Path) -> io::Result<(u64, Option<Timestamp>)> {
    // What is read from a pipe cannot be read again.
    if !fs::metadata(path)?.is_file() {
        return Ok((0, None));
    }
    let file = root.open(path)?;
    let bytes = file.metadata()?.len();
    let lines = Lines::new(BufReader::new(file), LINE_LIMIT);
    let begins = lines
        .take(PROBED)
        .filter_map(|line| line.bytes.ok())
        .find_map(|line| time_of(&line));
    Ok((bytes, begins))
}

fn time_of(line: &[u8]) -> Option<Timestamp> {
    #[derive(Deserialize)]
    struct Timed {
        timestamp: String,
    }
    let timed: Timed = serde_json::from_slice(line).ok()?;
    parse_time(&timed.timestamp)
}
