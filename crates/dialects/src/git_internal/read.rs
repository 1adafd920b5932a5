//! Reading a source on a thread of its own: once for what it has, and once more
//! object by object.

use std::cell::RefCell;
use std::io;
use std::path::{Path, PathBuf};

use super::error::GitInternalImportError;
use super::known::{Known, Place};
use super::object::Object;
use super::source::{Files, Others, Text, files, texts};
use super::violations::{Reference, references, violations};
use crate::{reading, report};

type Stop = reading::Stop<GitInternalImportError>;
type Outlet = reading::Outlet<News, GitInternalImportError>;

/// Objects that wait to be adopted. Each may be large.
const WAITING: usize = 8;

/// What the reading thread has to say.
pub(super) enum News {
    /// The source's size in bytes, and what in its folders is not read.
    Found { bytes: u64, others: Others },
    /// An object.
    Object(Box<Found>),
    /// A record that is none.
    Broken {
        file: String,
        line: u64,
        reason: String,
        done: u64,
    },
    /// All is read.
    End,
}

/// An object, and what the source itself says against it.
pub(super) struct Found {
    pub(super) object: Object,
    pub(super) file: String,
    pub(super) line: u64,
    pub(super) fields: report::Fields,
    pub(super) violations: Vec<String>,
    /// Objects that it names and that the source does not have.
    pub(super) outside: Vec<Reference>,
    /// Bytes of the source that are read by now.
    pub(super) done: u64,
}

/// Begins to read.
pub(super) fn start(
    path: &Path,
) -> Result<reading::News<News, GitInternalImportError>, GitInternalImportError> {
    let source = path.to_owned();
    reading::start("annals-git-internal", WAITING, News::End, move |outlet| {
        read(&source, outlet)
    })
    .map_err(|error| unreadable(path, error))
}

fn read(path: &Path, outlet: &mut Outlet) -> Result<(), Stop> {
    let Files {
        paths: files,
        bytes,
        others,
    } = files(path)?;
    outlet.send(News::Found { bytes, others })?;
    let known = known(&files)?;
    let mut before = 0;
    for (number, file) in files.iter().enumerate() {
        let mut read = 0;
        let mut sent = Ok(());
        texts(file, &mut |text| {
            read = text.bytes_read;
            let place = Place {
                file: number,
                line: text.line,
            };
            sent = outlet.send(news(text, place, &files, &known, before + read));
            sent.is_ok()
        })
        .map_err(|source| unreadable(file, source))?;
        sent?;
        before += read;
    }
    Ok(())
}

fn unreadable(path: &Path, source: io::Error) -> GitInternalImportError {
    GitInternalImportError::Unreadable {
        path: path.to_owned(),
        source,
    }
}

/// The first reading. What is broken is said in the second one.
fn known(files: &[PathBuf]) -> Result<Known, GitInternalImportError> {
    let mut known = Known::default();
    for (number, file) in files.iter().enumerate() {
        texts(file, &mut |text| {
            let tally = RefCell::default();
            if let Some(Ok(object)) = text.text.ok().map(|text| Object::read(&text, &tally)) {
                let place = Place {
                    file: number,
                    line: text.line,
                };
                // An id of two kinds is said in the second reading too.
                let _ = known.add(&object, place);
            }
            true
        })
        .map_err(|source| unreadable(file, source))?;
    }
    known.close();
    Ok(known)
}

/// What the second reading says of a text.
fn news(text: Text, place: Place, files: &[PathBuf], known: &Known, done: u64) -> News {
    let line = place.line;
    let name = |file: usize| {
        let file = files.get(file).map(|file| file.display().to_string());
        file.unwrap_or_default()
    };
    let file = name(place.file);
    let tally = RefCell::default();
    let read = text.text.map_err(|error| error.to_string());
    let read = read.and_then(|text| {
        let object = Object::read(&text, &tally).map_err(|error| error.to_string())?;
        match known.holder(object.header.id) {
            Some((kind, first)) if kind != object.header.kind => Err(format!(
                "{} {} has the id of the {kind} in {}:{}",
                object.header.kind,
                object.header.id,
                name(first.file),
                first.line,
            )),
            _ => Ok(object),
        }
    });
    match read {
        Err(reason) => News::Broken {
            file,
            line,
            reason,
            done,
        },
        Ok(object) => {
            let (inside, outside): (Vec<Reference>, Vec<Reference>) = references(&object)
                .into_iter()
                .partition(|reference| known.kind(reference.id).is_some());
            let mut violations = violations(&object, known);
            violations.extend(inside.iter().filter_map(|reference| {
                let found = known.kind(reference.id)?;
                (found != reference.kind).then(|| wrong_kind(reference, found))
            }));
            News::Object(Box::new(Found {
                object,
                file,
                line,
                fields: tally.into_inner(),
                violations,
                outside,
                done,
            }))
        }
    }
}

/// What is to be said where an object of another kind is named.
pub(super) fn wrong_kind(reference: &Reference, found: annals_domain::Kind) -> String {
    let Reference { field, kind, id } = reference;
    format!("{field}: {id} is of the kind {found}, not {kind}")
}
