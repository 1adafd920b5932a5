//! The files of an import, in time order.

use std::cmp::Ordering;
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Seek as _};
use std::path::{Path, PathBuf};

use annals_domain::Timestamp;
use annals_files::{self as files, Root};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::companions;
use super::compressed::{self, Content};
use super::database;
use super::error::ImportError;
use super::format::{Head, Kind, time};
use super::formats;
use super::not_read::not_read;
use super::outline::outline_of_line;
use crate::lines::{LINE_LIMIT, LineError, Lines};
use crate::others::Others;

/// In so many lines a file's first time is looked for.
const PROBED: usize = 200;

/// Bytes of a file by which its format is recognized: the second number is read where the first is not
/// enough, as a line or a part of a document is long.
const HEAD: [u64; 2] = [128 * 1024, 4 * 1024 * 1024];

/// The most lines of a file by which its format is recognized if its first bytes do not tell it, and their most bytes.
const FIRST_LINES: usize = 50;
const FIRST_LINES_BYTES: u64 = 256 * 1024 * 1024;

/// Why a file is left alone whose name does not end like that of a recording.
const NO_RECORDING: &str = "its name does not end like that of a recording";

/// The reason for compressed recordings that are not decompressed.
const COMPRESSED: &str = "it is compressed: decompress it, and import it again";

/// The reason for compressed recordings whose beginning cannot be decompressed.
const DAMAGED: &str = "it is compressed, and damaged: nothing of it can be decompressed";

/// Why recordings in UTF-16 are not read.
const UTF_16: &str = "it is UTF-16: save it as UTF-8";

/// Why a file is no recording whose name is that of one.
const NOT_JSON: &str =
    "its name ends like that of a recording, and none of its first lines is JSON";

/// Why a file is no recording whose first lines are longer than what is read.
const TOO_LONG: &str =
    "one of its first lines has more than 64 MiB, the most that is read; split it or leave it out";

/// A recording.
#[derive(Debug)]
pub(super) struct Recording {
    pub(super) path: PathBuf,
    /// How long it is, in bytes.
    pub(super) bytes: u64,
    /// The first time in it.
    begins: Option<Timestamp>,
    /// So many first bytes of it tell its format, or do not tell it.
    pub(super) head: u64,
    /// Its format, as far as its beginning tells.
    pub(super) kind: Option<&'static Kind>,
    /// Whether it is JSON over several lines.
    pub(super) is_document: bool,
    /// Whether it is a database; nothing where it could not be read.
    pub(super) is_database: Option<bool>,
    /// Why it cannot be read, if it looks like a recording and is of no format.
    pub(super) unread: Option<&'static str>,
}

/// The file at `path`, or all files in that folder and below whose names end like recordings of
/// this format (or of any), the one that begins first before the others. Those without any time are
/// last. What is next to them is named and not read.
pub(super) fn find(
    root: &Root,
    path: &Path,
    kind: Option<&'static Kind>,
) -> Result<(Vec<Recording>, Others), ImportError> {
    let (files, others) = search(root, path, kind)?;
    if files.is_empty() {
        return Err(ImportError::NoRecordings {
            path: path.to_owned(),
            wanted: formats::wanted(kind),
        });
    }
    Ok((files, others))
}

/// As [`find`], also where there is nothing.
pub(super) fn search(
    root: &Root,
    path: &Path,
    kind: Option<&'static Kind>,
) -> Result<(Vec<Recording>, Others), ImportError> {
    let (paths, others) = list(root, path, kind)?;
    let mut files: Vec<Recording> = paths
        .into_iter()
        .map(|path| recording(root, path))
        .collect();
    files.sort_by(order);
    Ok((companions::callers_first(root, files), others))
}

/// The paths that [`search`] looks into, and what is next to them.
pub(super) fn list(
    root: &Root,
    path: &Path,
    kind: Option<&'static Kind>,
) -> Result<(Vec<PathBuf>, Others), ImportError> {
    let mut paths = Vec::new();
    let mut others = Others::default();
    if !matches!(root, Root::Folder(_)) {
        return Ok((vec![path.to_owned()], others));
    }
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        match list_one(root, &folder, kind, &mut folders, &mut paths, &mut others) {
            Ok(()) => {}
            Err(source) if folder == path => {
                return Err(ImportError::Unreadable {
                    path: folder,
                    source,
                });
            }
            // Reading it says what is wrong with it.
            Err(_) => paths.push(folder),
        }
    }
    Ok((paths, others))
}

/// Files in the order in which an import of the folder that they are in reads them.
pub(super) fn in_time_order(paths: Vec<PathBuf>) -> Vec<PathBuf> {
    if paths.len() < 2 {
        return paths;
    }
    let known = |path: PathBuf| recording(&Root::File(path.clone()), path);
    let mut files: Vec<Recording> = paths.into_iter().map(known).collect();
    files.sort_by(order);
    let files = match files.first() {
        // The folder of each file is looked into, whichever it is.
        Some(first) => companions::callers_first(&Root::File(first.path.clone()), files),
        None => files,
    };
    files.into_iter().map(|file| file.path).collect()
}

fn list_one(
    root: &Root,
    folder: &Path,
    kind: Option<&'static Kind>,
    folders: &mut Vec<PathBuf>,
    files: &mut Vec<PathBuf>,
    others: &mut Others,
) -> io::Result<()> {
    let entries = root.folder(folder)?.entries()?;
    let names = entries.iter().map(|entry| entry.name.to_string_lossy());
    let names: Vec<String> = names.map(|name| name.into_owned()).collect();
    let companions = companions::names(kind, &names);
    // `*.json` may be anything, unless the agent is named.
    let is_recording = |name: &str| match kind {
        Some(_) => formats::is_wanted(kind, name),
        None => formats::is_recording_by_name(None, name),
    };
    for entry in entries {
        let name = entry.name.to_string_lossy().into_owned();
        let is_wanted = formats::is_wanted(kind, &name);
        let path = folder.join(entry.name);
        match entry.kind {
            files::Kind::Dir => folders.push(path),
            files::Kind::File if companions.contains(&name) => {}
            files::Kind::File if formats::is_compressed_recording(kind, &name) => {
                others.add_unread(path, COMPRESSED);
            }
            files::Kind::Link => others.add_link(root.path(), path, &is_recording),
            _ if !is_wanted => others.add(path, kind.map_or(NO_RECORDING, |kind| kind.unwanted)),
            files::Kind::File => files.push(path),
            files::Kind::Other => others.add_no_file(path, is_recording(&name)),
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
    probe(root, &path).unwrap_or(Recording {
        path,
        bytes: 0,
        begins: None,
        head: HEAD[0],
        kind: None,
        is_document: false,
        is_database: None,
        unread: None,
    })
}

fn probe(root: &Root, path: &Path) -> io::Result<Recording> {
    // What is read from a pipe cannot be read again.
    if !fs::metadata(path)?.is_file() {
        return Err(io::ErrorKind::NotSeekable.into());
    }
    let file = root.open(path)?;
    let bytes = file.metadata()?.len();
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = compressed::plain_name(&name);
    let mut content = Content::of(&file)?;
    let (head, kind) = match beginning(&mut content, name) {
        Err(_) if content.is_compressed => return Ok(damaged(path, bytes)),
        found => found?,
    };
    drop(content);
    let kind = match kind {
        None if !head.is_all && is_lines(name) => {
            (&file).rewind()?;
            of_lines(BufReader::new(Content::of(&file)?), name)
        }
        kind => kind,
    };
    (&file).rewind()?;
    let is_database = database::is_one(&head.bytes);
    let probed = match is_database {
        true => Probed::default(),
        false => Probed::of(BufReader::new(Content::of(&file)?)),
    };
    let text = formats::text(&head.bytes);
    let is_document = matches!(
        text.trim_start().lines().next().map(str::trim),
        Some("{" | "[")
    );
    let unread = match kind {
        None if !is_document => {
            let refused = not_read(&head.head(name));
            refused.or_else(|| unread(&head.bytes, name, &probed))
        }
        _ => None,
    };
    Ok(Recording {
        head: head.most,
        is_document,
        unread,
        is_database: Some(is_database),
        path: path.to_owned(),
        bytes,
        begins: probed.begins,
        kind,
    })
}

/// A compressed recording whose beginning cannot be decompressed.
fn damaged(path: &Path, bytes: u64) -> Recording {
    Recording {
        path: path.to_owned(),
        bytes,
        begins: None,
        head: HEAD[0],
        kind: None,
        is_document: false,
        is_database: Some(false),
        unread: Some(DAMAGED),
    }
}

/// Why a file of no known format cannot be read, if it looks like a recording.
fn unread(head: &[u8], name: &str, probed: &Probed) -> Option<&'static str> {
    let is_lines = is_lines(name);
    if let Some(text) = utf_16(head) {
        let head = Head {
            name,
            text: &text,
            bytes: text.as_bytes(),
            is_all: false,
        };
        return (is_lines || formats::of(&head).is_some()).then_some(UTF_16);
    }
    let is_unread = is_lines && probed.has_lines && (!probed.has_json || probed.is_too_long);
    is_unread.then_some(match probed.is_too_long {
        true => TOO_LONG,
        false => NOT_JSON,
    })
}

/// The text of bytes that begin with a byte order mark of UTF-16.
fn utf_16(bytes: &[u8]) -> Option<String> {
    let (mark, rest) = bytes.split_at_checked(2)?;
    let unit = match mark {
        [0xff, 0xfe] => u16::from_le_bytes,
        [0xfe, 0xff] => u16::from_be_bytes,
        _ => return None,
    };
    let units = rest.as_chunks::<2>().0.iter().map(|pair| unit(*pair));
    let text = char::decode_utf16(units).map(|it| it.unwrap_or(char::REPLACEMENT_CHARACTER));
    Some(text.collect())
}

/// What the first lines of a file say.
#[derive(Default)]
struct Probed {
    /// The first time.
    begins: Option<Timestamp>,
    /// Whether a line is not blank.
    has_lines: bool,
    /// Whether a line is JSON, or at least begins with an object or a list.
    has_json: bool,
    /// Whether a line is longer than what is read.
    is_too_long: bool,
}

impl Probed {
    fn of(reader: impl BufRead) -> Probed {
        let mut probed = Probed::default();
        for line in Lines::new(reader, LINE_LIMIT).take(PROBED) {
            if line.is_blank() {
                continue;
            }
            probed.has_lines = true;
            let bytes = match line.bytes {
                Ok(bytes) => bytes,
                Err(error) => {
                    probed.is_too_long |= matches!(error, LineError::TooLong { .. });
                    continue;
                }
            };
            probed.has_json = probed.has_json || begins_with_json(&bytes);
            probed.begins = time_of(&bytes);
            if probed.begins.is_some() {
                return probed;
            }
        }
        probed
    }
}

/// Returns `true` for the name of a file of lines.
fn is_lines(name: &str) -> bool {
    name.to_ascii_lowercase().ends_with(".jsonl")
}

/// The format of a file by each of its first lines alone. Of a long line the outline tells it.
fn of_lines(reader: impl BufRead, name: &str) -> Option<&'static Kind> {
    let mut lines = Lines::new(reader, LINE_LIMIT);
    for _ in 0..FIRST_LINES {
        let line = lines.next()?;
        if let Ok(bytes) = &line.bytes {
            let outline = outline_of_line(formats::text(bytes));
            let head = Head {
                name,
                text: &outline,
                bytes: outline.as_bytes(),
                is_all: true,
            };
            if let Some(kind) = formats::of(&head) {
                return Some(kind);
            }
        }
        if lines.bytes_read() > FIRST_LINES_BYTES {
            break;
        }
    }
    None
}

fn begins_with_json(line: &[u8]) -> bool {
    let line = line.trim_ascii_start();
    let mut values = serde_json::Deserializer::from_slice(line).into_iter::<IgnoredAny>();
    let is_whole = matches!(values.next(), Some(Ok(_)));
    is_whole && (line.starts_with(b"{") || line.starts_with(b"["))
}

/// The first bytes of a file with this name, as many as tell its format, and that.
fn beginning(file: &mut impl Read, name: &str) -> io::Result<(Beginning, Option<&'static Kind>)> {
    let mut beginning = Beginning::default();
    for most in HEAD {
        beginning.read(file, most)?;
        let kind = formats::of(&beginning.head(name));
        if kind.is_some() || beginning.is_all || database::is_one(&beginning.bytes) {
            return Ok((beginning, kind));
        }
    }
    Ok((beginning, None))
}

/// The first bytes of a file.
#[derive(Default)]
pub(super) struct Beginning {
    pub(super) bytes: Vec<u8>,
    /// The most bytes that were requested.
    most: u64,
    is_all: bool,
}

impl Beginning {
    /// Reads on, up to the first `most` bytes. An error behind other bytes is left to the next read.
    pub(super) fn read(&mut self, file: &mut impl Read, most: u64) -> io::Result<()> {
        let there = self.bytes.len() as u64;
        let mut next = file.by_ref().take(most.saturating_sub(there));
        let read = next.read_to_end(&mut self.bytes);
        self.most = most;
        self.is_all = read.is_ok() && (self.bytes.len() as u64) < most;
        match read {
            Err(error) if self.bytes.is_empty() => Err(error),
            _ => Ok(()),
        }
    }

    /// What the formats are recognized by.
    pub(super) fn head<'a>(&'a self, name: &'a str) -> Head<'a> {
        Head {
            name,
            text: formats::text(&self.bytes),
            bytes: &self.bytes,
            is_all: self.is_all,
        }
    }
}

fn time_of(line: &[u8]) -> Option<Timestamp> {
    #[derive(Deserialize)]
    struct Timed {
        timestamp: String,
    }
    let timed: Timed = serde_json::from_slice(line).ok()?;
    time(&timed.timestamp)
}
