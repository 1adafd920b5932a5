//! Where objects are read from: a file of JSON lines or with one object, or a
//! folder of such files. What else is in a folder is named, not read.

use std::fs;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use annals_files::{Entry, Kind, Root};
use serde::de::IgnoredAny;

use super::error::GitInternalImportError;
use crate::lines::{LineError, Lines};
use crate::others::Others;

/// The most bytes of one object's JSON.
pub const MAX_OBJECT: usize = 32 * 1024 * 1024;

/// What names of files end with that may hold objects.
const ENDINGS: [&str; 3] = ["json", "jsonl", "ndjson"];

/// Why there is no text.
#[derive(Debug, thiserror::Error)]
pub(super) enum TextError {
    #[error("it is not UTF-8 from byte {byte} of the line on")]
    NotUtf8 { byte: usize },
    #[error(transparent)]
    Line(#[from] LineError),
}

/// One text that should be an object.
pub(super) struct Text {
    /// Its line in the file, from 1.
    pub(super) line: u64,
    /// The text, or why there is none.
    pub(super) text: Result<String, TextError>,
    /// Bytes of the file that are read by now.
    pub(super) bytes_read: u64,
}

/// The files of a source.
#[derive(Debug)]
pub(super) struct Files {
    /// What they are opened by.
    pub(super) root: Root,
    /// Those that are read, in the order of their names.
    pub(super) paths: Vec<PathBuf>,
    /// Their bytes.
    pub(super) bytes: u64,
    /// What is next to them.
    pub(super) others: Others,
}

/// Finds the files of a source.
pub(super) fn files(path: &Path) -> Result<Files, GitInternalImportError> {
    let metadata = fs::metadata(path).map_err(|error| unreadable(path, error))?;
    let root = Root::of(path).map_err(|error| unreadable(path, error))?;
    if matches!(root, Root::File(_)) {
        if !metadata.is_file() {
            let what = "it is neither a file nor a folder, and it is read twice";
            let source = io::Error::new(io::ErrorKind::InvalidInput, what);
            return Err(unreadable(path, source));
        }
        return Ok(Files {
            root,
            paths: vec![path.to_owned()],
            bytes: metadata.len(),
            others: Others::default(),
        });
    }
    let mut files = Files {
        root,
        paths: Vec::new(),
        bytes: 0,
        others: Others::default(),
    };
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        match files.look_into(&folder, &mut folders) {
            Err(error) if folder == path => return Err(unreadable(path, error)),
            // Reading it as a file reports what is wrong with it.
            Err(_) => files.paths.push(folder),
            Ok(()) => {}
        }
    }
    if files.paths.is_empty() {
        return Err(GitInternalImportError::Empty {
            path: path.to_owned(),
            passed_over: files.others.count,
        });
    }
    files.paths.sort();
    Ok(files)
}

impl Files {
    fn look_into(&mut self, folder: &Path, folders: &mut Vec<PathBuf>) -> io::Result<()> {
        let open = self.root.folder(folder)?;
        for Entry { name, kind } in open.entries()? {
            let path = folder.join(&name);
            match kind {
                Kind::Dir => folders.push(path),
                Kind::Link => {
                    // Editors keep hidden links next to what they edit.
                    let is_read =
                        |name: &str| has_ending(Path::new(name)) && !name.starts_with('.');
                    self.others.add_link(self.root.path(), path, &is_read);
                }
                Kind::Other => {
                    let is_read = has_ending(&path);
                    self.others.add_no_file(path, is_read);
                }
                Kind::File if !has_ending(&path) => {
                    let reason = "its name does not end with .json, .jsonl or .ndjson";
                    self.others.add(path, reason);
                }
                Kind::File => {
                    self.bytes += open.bytes(&name)?.unwrap_or_default();
                    self.paths.push(path);
                }
            }
        }
        Ok(())
    }
}

pub(super) fn unreadable(path: &Path, source: io::Error) -> GitInternalImportError {
    GitInternalImportError::Unreadable {
        path: path.to_owned(),
        source,
    }
}

fn has_ending(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| {
        ENDINGS
            .iter()
            .any(|known| ending.eq_ignore_ascii_case(known))
    })
}

/// Gives each text of a file to `each`, until it says that it has seen enough.
///
/// # Errors
/// When the file cannot be opened.
pub(super) fn texts(
    root: &Root,
    path: &Path,
    each: &mut dyn FnMut(Text) -> bool,
) -> io::Result<()> {
    if let Some(text) = one_object(root, path)? {
        each(text);
        return Ok(());
    }
    let mut lines = Lines::new(BufReader::new(root.open(path)?), MAX_OBJECT);
    while let Some(line) = lines.next() {
        if line.is_blank() {
            continue;
        }
        let text = match line.bytes {
            Ok(bytes) => String::from_utf8(bytes).map_err(|error| TextError::NotUtf8 {
                byte: error.utf8_error().valid_up_to() + 1,
            }),
            Err(error) => Err(error.into()),
        };
        let more = each(Text {
            line: line.number,
            text,
            bytes_read: lines.bytes_read(),
        });
        if !more {
            break;
        }
    }
    Ok(())
}

/// The whole file, if it is one object over several lines, also where that is
/// cut off.
fn one_object(root: &Root, path: &Path) -> io::Result<Option<Text>> {
    let mut lines = Lines::new(BufReader::new(root.open(path)?), MAX_OBJECT);
    let Some(first) = lines.find(|line| !line.is_blank()) else {
        return Ok(None);
    };
    let unfinished = |bytes: &[u8]| {
        let read = serde_json::from_slice::<IgnoredAny>(bytes);
        read.is_err_and(|error| error.is_eof())
    };
    let begins = first.bytes.is_ok_and(|bytes| unfinished(&bytes));
    let mut file = root.open(path)?;
    if !begins || file.metadata()?.len() > MAX_OBJECT as u64 {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let Ok(text) = String::from_utf8(bytes) else {
        return Ok(None);
    };
    let text = text.trim_start_matches('\u{feff}');
    let is_one = match serde_json::from_str::<IgnoredAny>(text) {
        Ok(_) => true,
        // There is only the object that ends too early: that is to be
        // said once, and not once for every line of it.
        Err(error) => error.is_eof() && !text.lines().any(is_object),
    };
    Ok(is_one.then(|| Text {
        line: first.number,
        text: Ok(text.to_owned()),
        bytes_read: text.len() as u64,
    }))
}

/// Whether a line is a whole object, as one of many. An empty one (`{}`) is not
/// counted: it is found within objects over several lines.
fn is_object(line: &str) -> bool {
    let line = line.trim();
    line.starts_with('{') && line != "{}" && serde_json::from_str::<IgnoredAny>(line).is_ok()
}
