//! Reading a source on a thread of its own: once for what it has, and once more
//! object by object.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use annals_files::Root;

use super::error::GitInternalImportError;
use super::known::{Known, Place};
use super::object::Object;
use super::source::{Files, Text, files, texts, unreadable};
use crate::others::Others;
use crate::secrets::{Hit, Secrets};
use crate::{reading, report};

type Stop = reading::Stop<GitInternalImportError>;
type Outlet = reading::Outlet<ReadEvent, GitInternalImportError>;

/// Objects that wait to be adopted. Each may be large.
const WAITING: usize = 8;

/// What the reading thread has to say.
pub(super) enum ReadEvent {
    /// The source's size in bytes, and what in its folders is not read.
    Found { bytes: u64, others: Others },
    /// All its objects, as far as rules are about several of them.
    Known(Box<Known>),
    /// Secrets that the next record had.
    Redacted {
        file: String,
        line: u64,
        hits: Vec<Hit>,
    },
    /// An object.
    Object(Box<Found>),
    /// A record that is not an object.
    Broken {
        file: String,
        line: u64,
        reason: String,
        done: u64,
    },
    /// All is read.
    End,
}

/// An object and where it is.
pub(super) struct Found {
    pub(super) object: Object,
    pub(super) file: String,
    pub(super) line: u64,
    pub(super) fields: report::Fields,
    /// Bytes of the source that are read by now.
    pub(super) done: u64,
}

/// Begins to read.
pub(super) fn start(
    path: &Path,
    secrets: &Secrets,
) -> Result<reading::Events<ReadEvent, GitInternalImportError>, GitInternalImportError> {
    let (source, secrets) = (path.to_owned(), secrets.clone());
    reading::start(
        "annals-git-internal",
        WAITING,
        ReadEvent::End,
        move |outlet| read(&source, &secrets, outlet),
    )
    .map_err(|error| unreadable(path, error))
}

fn read(path: &Path, secrets: &Secrets, outlet: &mut Outlet) -> Result<(), Stop> {
    let Files {
        root,
        paths: files,
        bytes,
        others,
    } = files(path)?;
    outlet.send(ReadEvent::Found { bytes, others })?;
    outlet.send(ReadEvent::Known(Box::new(known(&root, &files))))?;
    let mut before = 0;
    for file in &files {
        let mut read = 0;
        let mut sent = Ok(());
        let ended = texts(&root, file, &mut |text| {
            read = text.bytes_read;
            let done = before + read;
            sent = without_secrets(text, file, secrets, outlet)
                .and_then(|text| outlet.send(message(text, file, done)));
            sent.is_ok()
        });
        sent?;
        match ended {
            Ok(()) => {}
            Err(source) if files == [path] => return Err(unreadable(file, source).into()),
            // The others are read all the same.
            Err(source) => outlet.send(ReadEvent::Broken {
                file: file.display().to_string(),
                line: 1,
                reason: format!("it cannot be read: {source}"),
                done: before + read,
            })?,
        }
        before += read;
    }
    Ok(())
}

/// A text without its secrets, which it tells first.
fn without_secrets(
    mut text: Text,
    file: &Path,
    secrets: &Secrets,
    outlet: &mut Outlet,
) -> Result<Text, Stop> {
    let Ok(json) = &text.text else {
        return Ok(text);
    };
    let redacted = secrets.redact_json(json);
    let hits = redacted.hits;
    if !hits.is_empty() {
        text.text = Ok(redacted.content.into_owned());
        let (file, line) = (file.display().to_string(), text.line);
        outlet.send(ReadEvent::Redacted { file, line, hits })?;
    }
    Ok(text)
}

/// The first reading, which keeps ids alone. What is broken is said in the second one.
fn known(root: &Root, files: &[PathBuf]) -> Known {
    let mut known = Known::of(files);
    for (number, file) in files.iter().enumerate() {
        let read = texts(root, file, &mut |text| {
            let tally = RefCell::default();
            if let Some(Ok(object)) = text.text.ok().map(|text| Object::read(&text, &tally)) {
                let place = Place {
                    file: number,
                    line: text.line,
                };
                known.add(&object, place);
            }
            true
        });
        // Whether it can be read is said the second time.
        drop(read);
    }
    known
}

/// What the second reading says of a text.
fn message(text: Text, file: &Path, done: u64) -> ReadEvent {
    let (line, file) = (text.line, file.display().to_string());
    let tally = RefCell::default();
    let read = text.text.map_err(|error| error.to_string());
    let read = read.and_then(|text| Object::read(&text, &tally).map_err(|error| error.to_string()));
    match read {
        Err(reason) => ReadEvent::Broken {
            file,
            line,
            reason,
            done,
        },
        Ok(object) => ReadEvent::Object(Box::new(Found {
            object,
            file,
            line,
            fields: tally.into_inner(),
            done,
        })),
    }
}
