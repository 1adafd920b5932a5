//! Where objects are read from: a file of JSON lines or with one object, or a
//! folder of such files.

use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use super::error::GitInternalImportError;
use crate::lines::{LineError, Lines};

/// The most bytes of one object's JSON.
pub const MAX_OBJECT: usize = 32 * 1024 * 1024;

/// What names of files end with that may hold objects.
const ENDINGS: [&str; 3] = ["json", "jsonl", "ndjson"];

/// Why there is no text.
#[derive(Debug, thiserror::Error)]
pub(super) enum TextError {
    #[error("it is no UTF-8 from byte {byte} of the line on")]
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

/// The files of a source, in the order of their names, and their bytes.
pub(super) fn files(path: &Path) -> Result<(Vec<PathBuf>, u64), GitInternalImportError> {
    let unreadable = |path: &Path, source| GitInternalImportError::Unreadable {
        path: path.to_owned(),
        source,
    };
    let metadata = fs::metadata(path).map_err(|error| unreadable(path, error))?;
    if !metadata.is_dir() {
        if !metadata.is_file() {
            let what = "it is neither a file nor a folder, and it is read twice";
            let source = io::Error::new(io::ErrorKind::InvalidInput, what);
            return Err(unreadable(path, source));
        }
        return Ok((vec![path.to_owned()], metadata.len()));
    }
    let (mut found, mut bytes) = (Vec::new(), 0);
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).map_err(|error| unreadable(&folder, error))?;
        for entry in entries {
            let entry = entry.map_err(|error| unreadable(&folder, error))?;
            let (path, kind) = (entry.path(), entry.file_type());
            // A link could lead round in circles; what it names is read where
            // it is.
            let kind = kind.map_err(|error| unreadable(&path, error))?;
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file() && has_ending(&path) {
                bytes += entry.metadata().map_or(0, |metadata| metadata.len());
                found.push(path);
            }
        }
    }
    if found.is_empty() {
        return Err(GitInternalImportError::Empty {
            path: path.to_owned(),
        });
    }
    found.sort();
    Ok((found, bytes))
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
pub(super) fn texts(path: &Path, each: &mut dyn FnMut(Text) -> bool) -> io::Result<()> {
    if let Some(text) = one_object(path)? {
        let bytes_read = text.len() as u64;
        each(Text {
            line: 1,
            text: Ok(text),
            bytes_read,
        });
        return Ok(());
    }
    let mut lines = Lines::new(BufReader::new(File::open(path)?), MAX_OBJECT);
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

/// The whole file, if it is one object over several lines.
fn one_object(path: &Path) -> io::Result<Option<String>> {
    let mut lines = Lines::new(BufReader::new(File::open(path)?), MAX_OBJECT);
    let Some(first) = lines.find(|line| !line.is_blank()) else {
        return Ok(None);
    };
    let unfinished = |bytes: &[u8]| {
        let read = serde_json::from_slice::<serde::de::IgnoredAny>(bytes);
        read.is_err_and(|error| error.is_eof())
    };
    let begins = first.bytes.is_ok_and(|bytes| unfinished(&bytes));
    if !begins || fs::metadata(path)?.len() > MAX_OBJECT as u64 {
        return Ok(None);
    }
    let Ok(text) = String::from_utf8(fs::read(path)?) else {
        return Ok(None);
    };
    let text = text.trim_start_matches('\u{feff}');
    let whole = serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
    Ok(whole.then(|| text.to_owned()))
}
