//! Reading a source on a thread of its own: once for what it has, and once more
//! object by object.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use annals_files::Root;

use super::error::GitInternalImportError;
use super::fields::FieldError;
use super::known::{Known, Place};
use super::object::Object;
use super::revisions::{Format, Revisions, about, format};
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
    /// An event, which is folded into the object that it is about.
    Event { fields: report::Fields, done: u64 },
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
    let (mut known, mut revisions) = (Known::of(&files), Revisions::default());
    if let HasRevisions::Yes = note_known(&root, &files, &revisions, &mut known) {
        revisions = self::revisions(&root, &files, secrets);
        known = Known::of(&files);
        note_known(&root, &files, &revisions, &mut known);
    }
    outlet.send(ReadEvent::Known(Box::new(known)))?;
    let mut before = 0;
    for file in &files {
        let mut read = 0;
        let mut sent = Ok(());
        let ended = texts(&root, file, &mut |text| {
            read = text.bytes_read;
            let done = before + read;
            sent = without_secrets(text, file, secrets, outlet)
                .and_then(|text| outlet.send(message(text, file, done, &revisions)));
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

/// Whether a source has objects of git-internal 0.8.
enum HasRevisions {
    Yes,
    No,
}

/// The first reading, which keeps ids alone. What is broken is said in the second one.
fn note_known(
    root: &Root,
    files: &[PathBuf],
    revisions: &Revisions,
    known: &mut Known,
) -> HasRevisions {
    let mut has_revisions = HasRevisions::No;
    for (number, file) in files.iter().enumerate() {
        let read = texts(root, file, &mut |text| {
            let place = Place {
                file: number,
                line: text.line,
            };
            let Ok(text) = text.text else {
                return true;
            };
            let format = format(&text);
            if format != Format::Whole {
                has_revisions = HasRevisions::Yes;
            }
            if let Some(Ok(object)) = object(&text, format, revisions, &RefCell::default()) {
                known.add(&object, place);
            }
            true
        });
        // Whether it can be read is said the second time.
        drop(read);
    }
    has_revisions
}

/// What revisions and events say of each other, without secrets.
fn revisions(root: &Root, files: &[PathBuf], secrets: &Secrets) -> Revisions {
    let mut revisions = Revisions::default();
    for file in files {
        let read = texts(root, file, &mut |text| {
            if let Some(text) = text.text.ok().filter(|text| format(text) != Format::Whole) {
                revisions.note(&secrets.redact_json(&text).content);
            }
            true
        });
        // Whether it can be read is said when it is imported.
        drop(read);
    }
    revisions.close();
    revisions
}

/// The object that a text is; none, if it is an event.
fn object(
    text: &str,
    format: Format,
    revisions: &Revisions,
    tally: &RefCell<report::Fields>,
) -> Option<Result<Object, FieldError>> {
    match format {
        Format::Whole => Some(Object::read(text, tally)),
        Format::Revision => Some(
            revisions
                .fold(text)
                .and_then(|text| Object::read(&text, tally)),
        ),
        Format::Event => None,
    }
}

/// What the second reading says of a text.
fn message(text: Text, file: &Path, done: u64, revisions: &Revisions) -> ReadEvent {
    let (line, file) = (text.line, file.display().to_string());
    let tally = RefCell::default();
    let read = match text.text {
        Err(error) => Err(error.to_string()),
        Ok(text) => match object(&text, format(&text), revisions, &tally) {
            Some(object) => object.map(Some).map_err(|error| error.to_string()),
            None => folded(&text, revisions, &tally).map(|()| None),
        },
    };
    let fields = tally.into_inner();
    match read {
        Err(reason) => ReadEvent::Broken {
            file,
            line,
            reason,
            done,
        },
        Ok(Some(object)) => ReadEvent::Object(Box::new(Found {
            object,
            file,
            line,
            fields,
            done,
        })),
        Ok(None) => ReadEvent::Event { fields, done },
    }
}

/// Checks that an event is folded into an object of the source.
fn folded(
    text: &str,
    revisions: &Revisions,
    tally: &RefCell<report::Fields>,
) -> Result<(), String> {
    let about = about(text, tally).map_err(|error| error.to_string())?;
    match revisions.has(about.id) {
        true => Ok(()),
        false => Err(format!(
            "{}: the source has no object {}, so that what the event says is not taken; import the object together \
             with its events",
            about.field, about.id
        )),
    }
}
