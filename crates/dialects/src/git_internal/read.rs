//! Reading a source on a thread of its own: once for what it has, and once more
//! object by object.

use std::cell::RefCell;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;

use futures::SinkExt;
use futures::channel::mpsc;
use futures::executor::block_on;

use super::error::GitInternalImportError;
use super::known::{Known, Place};
use super::object::Object;
use super::source::{Text, files, texts};
use super::violations::{Reference, references, violations};
use crate::report;

/// Objects that wait to be adopted. Each may be large.
const WAITING: usize = 8;

/// What the reading thread has to say.
pub(super) enum News {
    /// The source's size in bytes.
    Found { bytes: u64 },
    /// An object.
    Object(Box<Found>),
    /// A record that is none.
    Broken {
        file: String,
        line: u64,
        reason: String,
        done: u64,
    },
    /// Reading ended before the source did.
    Failed(GitInternalImportError),
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

/// Begins to read. Whoever drops the receiver ends it.
pub(super) fn start(path: &Path) -> Result<mpsc::Receiver<News>, GitInternalImportError> {
    let (sender, receiver) = mpsc::channel(WAITING);
    let path = path.to_owned();
    let spawned = thread::Builder::new()
        .name("annals-git-internal".to_owned())
        .spawn({
            let path = path.clone();
            move || Reading { sender }.run(&path)
        });
    match spawned {
        Ok(_) => Ok(receiver),
        Err(source) => Err(GitInternalImportError::Unreadable { path, source }),
    }
}

struct Reading {
    sender: mpsc::Sender<News>,
}

impl Reading {
    /// Whether anybody still listens.
    fn send(&mut self, news: News) -> bool {
        block_on(self.sender.send(news)).is_ok()
    }

    fn run(mut self, path: &Path) {
        let last = match self.read(path) {
            Ok(()) => News::End,
            Err(error) => News::Failed(error),
        };
        self.send(last);
    }

    fn read(&mut self, path: &Path) -> Result<(), GitInternalImportError> {
        let (files, bytes) = files(path)?;
        if !self.send(News::Found { bytes }) {
            return Ok(());
        }
        let known = known(&files)?;
        let mut before = 0;
        for (number, file) in files.iter().enumerate() {
            let mut read = 0;
            let mut open = true;
            texts(file, &mut |text| {
                read = text.bytes_read;
                let place = Place {
                    file: number,
                    line: text.line,
                };
                open = self.send(news(text, place, &files, &known, before + read));
                open
            })
            .map_err(|source| unreadable(file, source))?;
            if !open {
                return Ok(());
            }
            before += read;
        }
        Ok(())
    }
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
    let read = text.text.and_then(|text| {
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
