//! `export raw`: the recordings whose text was kept when they were imported, as they were but for their
//! secrets.

use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use annals::projections::{ContextSnapshotView, ListQuery, PieceValue};
use annals::{Annals, LoadError, ViewError};
use annals_domain::{Kind, SnapshotId, cut};
use annals_event_log::{Classification, Classified, ErrorClass, Position, ReadError};
use annals_files::Dir;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::Progress;

/// The name of the external id that a recording's snapshot has: the SHA-256 of its text.
pub(crate) const EXTERNAL_ID: &str = "annals.recording";

/// Recordings that are listed at once.
const PAGE: usize = 500;

/// What a log says of a recording whose text it has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Contents {
    pub(crate) agent: String,
    pub(crate) file: String,
    pub(crate) bytes: u64,
    pub(crate) sha256: String,
    /// The snapshots that have its parts, in order.
    pub(crate) parts: Vec<SnapshotId>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) changed: Vec<u64>,
}

/// A recording whose text a log has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KeptRecording {
    /// The agent's key, as [`crate::import::agents`] has it.
    pub agent: String,
    /// Its path below what was imported, with slashes.
    pub file: String,
    /// The length of its text without its secrets, in bytes.
    pub bytes: u64,
    /// The SHA-256 of that, in hex digits.
    pub sha256: String,
    /// Lines that are left out but for their ends, at most 1,000: too long, not in UTF-8, or with a NUL.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed_lines: Vec<u64>,
    /// The snapshot that says so.
    pub snapshot: SnapshotId,
    /// Where the log has that.
    pub position: u64,
    #[serde(skip)]
    parts: Vec<SnapshotId>,
}

/// Why a recording's text is not given.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RawError {
    /// The log cannot be read.
    #[error(transparent)]
    View(#[from] ViewError),
    /// The log cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The snapshot does not say what a recording's says.
    #[error("snapshot {snapshot} does not say which parts a recording has: {reason}")]
    Malformed {
        /// The snapshot.
        snapshot: SnapshotId,
        /// What is wrong with it.
        reason: String,
    },
    /// A part was removed from the log.
    #[error("part {part} of {of} of {file} was removed from the log")]
    Removed {
        /// The recording.
        file: String,
        /// The part's number, from 1.
        part: usize,
        /// How many it has.
        of: usize,
    },
    /// The parts are not the text that was kept.
    #[error(
        "the parts of {file} are another text: its SHA-256 is {found}, and {expected} was recorded"
    )]
    Different {
        /// The recording.
        file: String,
        /// What was recorded.
        expected: String,
        /// That of the parts.
        found: String,
    },
    /// A file cannot be written.
    #[error("{path} cannot be written: {source}")]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl RawError {
    /// Whether it is about one recording, and others may be whole.
    fn is_of_one(&self) -> bool {
        match self {
            RawError::View(error) => matches!(error, ViewError::NotFound { .. }),
            RawError::Malformed { .. } | RawError::Removed { .. } | RawError::Different { .. } => {
                true
            }
            RawError::Read(_) | RawError::Write { .. } => false,
        }
    }
}

impl Classified for RawError {
    fn classify(&self) -> Classification {
        use ErrorClass::Failed;
        match self {
            RawError::View(error) => error.classify().of("export_failed"),
            RawError::Read(error) => error.classify().of("export_failed"),
            RawError::Write { source, .. } => ErrorClass::of_file(source).code("export_failed"),
            RawError::Malformed { .. } | RawError::Removed { .. } | RawError::Different { .. } => {
                Failed.code("export_failed")
            }
        }
    }
}

impl From<LoadError> for RawError {
    fn from(error: LoadError) -> RawError {
        RawError::View(error.into())
    }
}

/// The recordings whose text a log has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeptRecordings {
    /// The oldest first. One that was kept again after it had grown is there several times.
    pub recordings: Vec<KeptRecording>,
    /// Snapshots that should say which parts a recording has, and do not: content of theirs was removed.
    pub unreadable: Vec<NotWritten>,
}

/// The recordings whose text the log has; those of one agent, if it is given.
///
/// # Errors
/// [`RawError`] where the log cannot be read.
pub async fn kept(annals: &Annals, agent: Option<&str>) -> Result<KeptRecordings, RawError> {
    let mut query = ListQuery::new(Kind::ContextSnapshot);
    query.external_id = Some((EXTERNAL_ID.to_owned(), None));
    query.oldest_first = true;
    query.limit = PAGE;
    let mut all = KeptRecordings::default();
    loop {
        let listed = annals.index().list(&query).await?;
        for row in listed.rows {
            match recording(annals, SnapshotId(row.id), row.first_position).await {
                Ok(kept) if agent.is_none_or(|agent| agent == kept.agent) => {
                    all.recordings.push(kept);
                }
                Ok(_) => {}
                Err(error) if error.is_of_one() => all.unreadable.push(NotWritten {
                    file: format!("snapshot {}", row.id),
                    reason: error.to_string(),
                }),
                Err(error) => return Err(error),
            }
        }
        match listed.next {
            Some(next) => query.after = Some(next),
            None => return Ok(all),
        }
    }
}

async fn recording(
    annals: &Annals,
    snapshot: SnapshotId,
    position: Position,
) -> Result<KeptRecording, RawError> {
    let malformed = |reason: String| RawError::Malformed { snapshot, reason };
    let json = content(annals, snapshot).await?;
    let json = json.ok_or_else(|| malformed("its item has no content".into()))?;
    let contents: Contents =
        serde_json::from_slice(&json).map_err(|error| malformed(error.to_string()))?;
    Ok(KeptRecording {
        agent: contents.agent,
        file: contents.file,
        bytes: contents.bytes,
        sha256: contents.sha256,
        changed_lines: contents.changed,
        snapshot,
        position: position.0,
        parts: contents.parts,
    })
}

/// The content of a snapshot's first item; nothing, if there is none or it was removed.
async fn content(annals: &Annals, snapshot: SnapshotId) -> Result<Option<Bytes>, RawError> {
    let view: ContextSnapshotView = annals.get(snapshot).await?;
    match view.items.into_iter().next().and_then(|item| item.content) {
        Some(PieceValue::Bytes(bytes)) => Ok(Some(bytes)),
        Some(PieceValue::Attachment { digest, .. }) => Ok(annals.contents().get(digest).await?),
        Some(PieceValue::Removed) | None => Ok(None),
    }
}

/// Writes a recording's text. What was written is wrong where this fails.
///
/// # Errors
/// [`RawError`].
pub async fn write(
    annals: &Annals,
    recording: &KeptRecording,
    out: &mut dyn Write,
) -> Result<(), RawError> {
    let mut sum = Sha256::new();
    for (number, part) in (1..).zip(&recording.parts) {
        let Some(text) = content(annals, *part).await? else {
            return Err(RawError::Removed {
                file: recording.file.clone(),
                part: number,
                of: recording.parts.len(),
            });
        };
        sum.update(&text);
        let written = out.write_all(&text);
        written.map_err(|source| unwritable(Path::new(&recording.file), source))?;
    }
    let found = hex::encode(sum.finalize());
    match found == recording.sha256 {
        true => Ok(()),
        false => Err(RawError::Different {
            file: recording.file.clone(),
            expected: recording.sha256.clone(),
            found,
        }),
    }
}

fn unwritable(path: &Path, source: io::Error) -> RawError {
    RawError::Write {
        path: path.to_owned(),
        source,
    }
}

/// What an export of recordings did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct RawExportReport {
    /// The folder.
    pub folder: String,
    /// Files that were written.
    pub written: u64,
    /// Files that were there and are the same.
    pub unchanged: u64,
    /// Bytes that were written.
    pub bytes: u64,
    /// Recordings that are the beginning of another one that was kept later, and are not written.
    pub outgrown: u64,
    /// Recordings that were not written, and why.
    pub not_written: Vec<NotWritten>,
}

/// A recording that was not written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NotWritten {
    /// The file.
    pub file: String,
    /// Why.
    pub reason: String,
}

/// Writes recordings into a folder: each as `AGENT/FILE`. Of several texts under one name the newest has it, and
/// the others have a part of their SHA-256 in theirs. Files that are there and are others are left alone.
///
/// # Errors
/// [`RawError`] where the log or the folder cannot be used. What is wrong with one recording is in the report.
pub async fn export(
    annals: &Annals,
    folder: &Path,
    agent: Option<&str>,
    progress: &mut dyn FnMut(Progress),
) -> Result<RawExportReport, RawError> {
    let KeptRecordings {
        recordings,
        unreadable,
    } = kept(annals, agent).await?;
    annals_files::make_own_folders(folder).map_err(|source| unwritable(folder, source))?;
    let mut export = Export {
        annals,
        root: Dir::open(folder).map_err(|source| unwritable(folder, source))?,
        there: HashSet::new(),
        report: RawExportReport {
            folder: folder.display().to_string(),
            not_written: unreadable,
            ..RawExportReport::default()
        },
    };
    let total = recordings.iter().map(|recording| recording.bytes).sum();
    let mut done = 0;
    let all: Vec<_> = with_newest(&recordings).collect();
    // The newest of each name first: what they begin with is not written, once they are.
    let is_newest = |(recording, newest): &(&KeptRecording, &KeptRecording)| {
        std::ptr::eq::<KeptRecording>(*recording, *newest)
    };
    let (newest, older): (Vec<_>, Vec<_>) = all.into_iter().partition(is_newest);
    for (recording, newest) in newest.into_iter().chain(older) {
        export.recording(recording, newest).await?;
        done += recording.bytes;
        progress(Progress { done, total });
    }
    Ok(export.report)
}

/// An export on its way.
struct Export<'a> {
    annals: &'a Annals,
    root: Dir,
    /// The recordings whose text is in the folder.
    there: HashSet<SnapshotId>,
    report: RawExportReport,
}

impl Export<'_> {
    async fn recording(
        &mut self,
        recording: &KeptRecording,
        newest: &KeptRecording,
    ) -> Result<(), RawError> {
        let is_newest = std::ptr::eq(recording, newest);
        let is_there = self.there.contains(&newest.snapshot);
        if !is_newest && is_there && begins(self.annals, recording, newest).await? {
            self.report.outgrown += 1;
            return Ok(());
        }
        let (folders, name) = place(recording, is_newest);
        match write_file(self.annals, recording, &self.root, &folders, &name).await {
            Ok(is_new) => {
                self.there.insert(recording.snapshot);
                match is_new {
                    true => self.report.written += 1,
                    false => self.report.unchanged += 1,
                }
                self.report.bytes += if is_new { recording.bytes } else { 0 };
            }
            Err(error) => self.report.not_written.push(NotWritten {
                file: format!("{}/{name}", folders.join("/")),
                reason: error.to_string(),
            }),
        }
        Ok(())
    }
}

/// Each recording with the newest one of its name.
fn with_newest(all: &[KeptRecording]) -> impl Iterator<Item = (&KeptRecording, &KeptRecording)> {
    let name = |recording: &KeptRecording| place(recording, true);
    let newest: HashMap<_, _> = all.iter().map(|it| (name(it), it)).collect();
    all.iter()
        .filter_map(move |it| Some((it, *newest.get(&name(it))?)))
}

/// Whether a recording's text is the beginning of another's.
async fn begins(
    annals: &Annals,
    short: &KeptRecording,
    long: &KeptRecording,
) -> Result<bool, RawError> {
    let Some((last, whole)) = short.parts.split_last() else {
        return Ok(true);
    };
    let Some((same, [next, ..])) = long.parts.split_at_checked(whole.len()) else {
        return Ok(false);
    };
    if same != whole || short.bytes > long.bytes {
        return Ok(false);
    }
    match (content(annals, *last).await, content(annals, *next).await) {
        (Ok(Some(last)), Ok(Some(next))) => Ok(next.starts_with(&last)),
        (Err(error), _) | (_, Err(error)) if !error.is_of_one() => Err(error),
        _ => Ok(false),
    }
}

/// The folders and the name that a recording's file gets. What a log says is not trusted: no part of it leads out
/// of the folder.
fn place(recording: &KeptRecording, is_newest: bool) -> (Vec<String>, String) {
    let mut folders = vec![plain(&recording.agent)];
    let parts = recording.file.split(['/', '\\']);
    folders.extend(parts.filter(|part| !part.is_empty()).map(plain));
    let name = match folders.len() {
        1 => "recording".to_owned(),
        _ => folders.pop().unwrap_or_default(),
    };
    if is_newest {
        return (folders, name);
    }
    let short = recording.sha256.get(..8).unwrap_or_default();
    let name = match name.rsplit_once('.') {
        Some((stem, ending)) if !stem.is_empty() => format!("{stem}.{}.{ending}", plain(short)),
        _ => format!("{name}.{}", plain(short)),
    };
    (folders, name)
}

/// A part of a path that is a name on every system.
fn plain(part: &str) -> String {
    let is_odd = |c: char| c.is_control() || matches!(c, '/' | '\\' | ':');
    let mut name: String = part
        .chars()
        .map(|c| if is_odd(c) { '_' } else { c })
        .collect();
    name.truncate(cut(&name, 200).len());
    match name.as_str() {
        "" | "." | ".." => "_".to_owned(),
        _ => name,
    }
}

/// Whether the file was written; otherwise it is there and the same.
async fn write_file(
    annals: &Annals,
    recording: &KeptRecording,
    root: &Dir,
    folders: &[String],
    name: &str,
) -> Result<bool, RawError> {
    let path = root.path().join(folders.join("/")).join(name);
    let failed = |source: io::Error| unwritable(&path, source);
    let mut dir = root.again().map_err(failed)?;
    for folder in folders {
        dir = dir.make_dir(OsStr::new(folder)).map_err(failed)?;
    }
    match sha256_of(&dir, OsStr::new(name)).map_err(failed)? {
        Some(there) if there == recording.sha256 => return Ok(false),
        Some(_) => {
            let error = "another file is there; remove it, or export into an empty folder";
            return Err(failed(io::Error::other(error)));
        }
        None => {}
    }
    // The name is there only with the whole text.
    let (partial, file) = partial(&dir, name).map_err(failed)?;
    let written = async {
        let mut out = BufWriter::new(file);
        write(annals, recording, &mut out).await?;
        let file = out.into_inner().map_err(|error| failed(error.into()))?;
        file.sync_all().map_err(failed)?;
        dir.rename(&partial, OsStr::new(name)).map_err(failed)
    };
    let written = written.await;
    if written.is_err() {
        // It may not be there.
        let _ = dir.remove_file(&partial);
    }
    written.map(|()| true)
}

/// A file of another name to write to. What an export left that was interrupted stays.
fn partial(dir: &Dir, name: &str) -> io::Result<(OsString, File)> {
    let mut number = 0;
    loop {
        let partial = OsString::from(format!(".{name}.partial-{number}"));
        match dir.create_file(&partial) {
            Ok(file) => return Ok((partial, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < 1_000 => {
                number += 1;
            }
            Err(error) => return Err(error),
        }
    }
}

fn sha256_of(dir: &Dir, name: &OsStr) -> io::Result<Option<String>> {
    if dir.kind(name)?.is_none() {
        return Ok(None);
    }
    let mut sum = Sha256::new();
    io::copy(&mut dir.open_file(name)?, &mut sum)?;
    Ok(Some(hex::encode(sum.finalize())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(agent: &str, file: &str, is_newest: bool) -> String {
        let recording = KeptRecording {
            agent: agent.into(),
            file: file.into(),
            bytes: 0,
            sha256: "0123456789abcdef".into(),
            changed_lines: Vec::new(),
            snapshot: SnapshotId(uuid::Uuid::nil()),
            position: 0,
            parts: Vec::new(),
        };
        let (folders, name) = place(&recording, is_newest);
        format!("{}/{name}", folders.join("/"))
    }

    #[test]
    fn no_name_leads_out_of_the_folder() {
        for (agent, file, expected) in [
            ("claude", "a/b.jsonl", "claude/a/b.jsonl"),
            ("claude", "/etc/passwd", "claude/etc/passwd"),
            ("..", "../../x", "_/_/_/x"),
            ("a/b", "..\\..\\x", "a_b/_/_/x"),
            ("claude", "", "claude/recording"),
            ("", "a\u{0}\nb", "_/a__b"),
        ] {
            assert_eq!(placed(agent, file, true), expected);
        }
        assert_eq!(placed("c", "a/b.jsonl", false), "c/a/b.01234567.jsonl");
        assert_eq!(placed("c", ".hidden", false), "c/.hidden.01234567");
        assert_eq!(placed("c", "b", false), "c/b.01234567");
        assert!(placed("c", &"é".repeat(1_000), true).len() < 220);
    }
}
