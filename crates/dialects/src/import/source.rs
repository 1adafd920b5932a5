//! Reading recordings on a thread of its own: line by line, without their secrets, and understood by
//! their format as far as a line says by itself what it is. What the lines become is decided beside it.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};

use annals_event_log::IdSecret;
use annals_files::Root;
use futures::StreamExt;

use super::bad_line::BadLine;
use super::bounds;
use super::database::{self, Database, DatabaseError, Row};
use super::error::ImportError;
use super::files::{self, Beginning, Recording};
use super::format::{Format, Kind};
use super::formats;
use super::raw::{RawFile, RawPart, RawText};
use super::redacted::RedactedText;
use crate::lines::{BYTE_ORDER_MARK, LINE_LIMIT, Line, LineError, Lines};
use crate::others::Others;
use crate::reading;
use crate::secrets::{Hit, Secrets};
use crate::transcript::item::Read;

/// Bytes and lines that are handed over at once: so many that the two threads seldom wait for each
/// other, and so few that it does not matter how much of a line they hold.
pub(super) const AT_ONCE: (u64, usize) = (256 * 1024, 64);

/// Such parts that may be ready before they are looked at. A part is as long as [`AT_ONCE`] and one
/// line more, which may have [`LINE_LIMIT`].
pub(super) const READY: usize = 3;

/// So many folders around a file are told to its format.
const FOLDERS: usize = 2;

/// Why a file is left alone of which no format is known.
const UNKNOWN: &str = "it is not a recording that is known";

/// What the reading thread tells.
#[derive(Debug)]
pub(crate) enum ReadEvent {
    /// The files are found: so many bytes will come.
    Found { bytes: u64, others: Others },
    /// A file begins.
    File(PathBuf),
    /// Lines of it, in their order.
    Lines(Vec<ReadLine>),
    /// A part of its text, which is kept.
    Part(RawPart),
    /// The file is over.
    FileEnd(Kept),
    /// That was all.
    End,
}

/// What was kept of a file's text.
#[derive(Debug)]
pub(crate) enum Kept {
    /// All of it, in the parts that were told.
    Text(RawFile),
    /// It is a database, and has no text.
    Database,
    /// It has no text, or no text is kept.
    Nothing,
}

/// A line that was read.
#[derive(Debug)]
pub(crate) struct ReadLine {
    /// Its number in its file, from 1.
    pub(crate) number: u64,
    /// What it says without its secrets, or what is wrong with it.
    pub(crate) read: Result<Vec<Read>, String>,
    /// How many JSON values it has: one, but where an interrupted writer left no line end.
    pub(crate) values: usize,
    /// Whether it has halves of surrogate pairs, which formats replace.
    pub(crate) has_half_characters: bool,
    /// The secrets that it had.
    pub(crate) hits: Vec<Hit>,
    /// How far the import is with it.
    pub(crate) done: u64,
}

/// By what lines are read.
pub(crate) struct Reader {
    pub(crate) secrets: Secrets,
    /// What the names follow from of lines that have none.
    pub(crate) names: Option<IdSecret>,
    pub(crate) kind: &'static Kind,
    /// What was found of its agent; nothing where it is looked for.
    pub(crate) found: Option<Found>,
    pub(crate) format: Box<dyn Format>,
    /// Whether the recordings' text is kept.
    pub(crate) keeps: bool,
    /// The text of the file that is read, if it is kept.
    pub(crate) raw: Option<RawText>,
}

pub(super) type Stop = reading::Stop<ImportError>;
pub(super) type Outlet = reading::Outlet<ReadEvent, ImportError>;

/// Starts reading.
pub(crate) fn start(
    path: &Path,
    mut reader: Reader,
) -> Result<reading::Events<ReadEvent, ImportError>, ImportError> {
    let path = path.to_owned();
    let read = move |outlet: &mut Outlet| reader.read(&path, outlet);
    reading::start("annals-import", READY, ReadEvent::End, read).map_err(ImportError::Thread)
}

/// Reads on the thread that calls it, however many lines there are.
#[cfg(test)]
pub(crate) fn here(path: &Path, reader: &mut Reader) -> reading::Events<ReadEvent, ImportError> {
    reading::here(1_000_000, ReadEvent::End, |outlet| {
        reader.read(path, outlet)
    })
}

impl Reader {
    fn read(&mut self, path: &Path, outlet: &mut Outlet) -> Result<(), Stop> {
        let root = Root::of(path).map_err(|source| ImportError::Unreadable {
            path: path.to_owned(),
            source,
        })?;
        let Found { files, others } = match self.found.take() {
            Some(found) => found,
            None => self.wanted(&root, path)?,
        };
        let bytes = files.iter().map(|file| file.bytes).sum();
        outlet.send(ReadEvent::Found { bytes, others })?;
        let mut before = 0;
        for file in files {
            outlet.send(ReadEvent::File(file.path.clone()))?;
            // Of a database the rows are read, and it has no text.
            let has_text = file.is_database != Some(true);
            self.raw = (self.keeps && has_text).then(|| self.raw_of(&root, &file.path));
            self.read_file(&root, &file, before, outlet)?;
            let kept = self.end_raw(outlet)?;
            let kept = match (kept, self.keeps && !has_text) {
                (Some(file), _) => Kept::Text(file),
                (None, true) => Kept::Database,
                (None, false) => Kept::Nothing,
            };
            outlet.send(ReadEvent::FileEnd(kept))?;
            before += file.bytes;
        }
        Ok(())
    }

    /// The text of a file of which nothing was read yet. Its name is its path below what is imported.
    fn raw_of(&self, root: &Root, path: &Path) -> RawText {
        let below = match root {
            Root::Folder(dir) => path.strip_prefix(dir.path()).ok(),
            Root::File(_) => path.file_name().map(Path::new),
        };
        let parts = below.unwrap_or(path).components();
        let parts = parts.map(|part| part.as_os_str().to_string_lossy());
        let name = parts.collect::<Vec<_>>().join("/");
        let (name, _) = RedactedText::plain(&name, &self.secrets);
        RawText::of(name.into_string())
    }

    /// Hands over the parts of the text that are complete.
    fn send_raw(&mut self, outlet: &mut Outlet) -> Result<(), Stop> {
        let parts = self.raw.as_mut().map(RawText::take);
        for part in parts.into_iter().flatten() {
            outlet.send(ReadEvent::Part(part))?;
        }
        Ok(())
    }

    fn end_raw(&mut self, outlet: &mut Outlet) -> Result<Option<RawFile>, Stop> {
        let Some(raw) = self.raw.take() else {
            return Ok(None);
        };
        let (last, kept) = raw.end();
        for part in last {
            outlet.send(ReadEvent::Part(part))?;
        }
        Ok(kept)
    }

    /// The files of its format, which was given. A file of an unknown one is read line by line, which names what is
    /// wrong with it; but not what has no such lines.
    fn wanted(&self, root: &Root, path: &Path) -> Result<Found, ImportError> {
        let kind = self.kind;
        let (mut files, mut others) = files::find(root, path, Some(kind))?;
        let has_rows = self.format.tables().is_some();
        let is_own = |file: &Recording| match file.kind {
            Some(found) => std::ptr::eq(found, kind),
            None => {
                let has_form = file.is_database.is_none_or(|is_one| is_one == has_rows);
                !file.is_document && has_form
            }
        };
        for file in files.extract_if(.., |file| !is_own(file)) {
            match file.kind {
                Some(found) if file.path == path => {
                    return Err(ImportError::AnotherAgent {
                        path: file.path,
                        expected: kind.title,
                        found: found.title,
                    });
                }
                None if file.path == path => {
                    return Err(ImportError::UnknownRecording { path: file.path });
                }
                Some(found) => others.add(file.path, found.left),
                None => others.add(file.path, UNKNOWN),
            }
        }
        Ok(Found { files, others })
    }

    /// Begins a file that is a recording of the agent, to be read by itself.
    pub(super) fn begin_alone(&mut self, path: &Path) -> Result<(), ImportError> {
        let root = Root::of(path).map_err(|source| ImportError::Unreadable {
            path: path.to_owned(),
            source,
        })?;
        self.wanted(&root, path)?;
        self.begin(path);
        Ok(())
    }

    fn begin(&mut self, path: &Path) {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let (stem, _) = RedactedText::plain(&stem, &self.secrets);
        self.format.within(&folders(path, &self.secrets));
        self.format.begin(stem.as_str());
    }

    fn read_file(
        &mut self,
        root: &Root,
        recording: &Recording,
        before: u64,
        outlet: &mut Outlet,
    ) -> Result<(), Stop> {
        let path = recording.path.as_path();
        let (mut file, head) = match open(root, recording) {
            Ok(opened) => opened,
            // It was there a moment ago; the others are still read.
            Err(error) => {
                let bytes = Err(LineError::Unreadable(error));
                let line = Line {
                    number: 1,
                    bytes,
                    end: "",
                    has_mark: false,
                };
                let line = self.understand(line, before);
                return outlet.send(ReadEvent::Lines(vec![line]));
            }
        };
        self.begin(path);
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_document = self.format.is_document(&head.head(&name));
        let tables = self
            .format
            .tables()
            .filter(|_| database::is_one(&head.bytes));
        // What was read of a pipe cannot be read again.
        let whole = || BufReader::new(head.bytes.as_slice().chain(&file));
        let number = match tables {
            Some(tables) => {
                let database = Database::copied(&mut file, root, path, tables);
                self.read_database(database, before, outlet)?
            }
            None if is_document => self.read_document(whole(), before, outlet)?,
            None => self.read_lines(whole(), before, outlet)?,
        };
        let held = self.format.end();
        let read = match (held.is_empty(), number, recording.kind) {
            // A document in which there is nothing of its format.
            (true, 0, None) if is_document && tables.is_none() => Err(UNKNOWN.to_owned()),
            (true, ..) => return Ok(()),
            (false, ..) => Ok(held),
        };
        let line = ReadLine {
            number: number.max(1),
            read,
            values: 1,
            has_half_characters: false,
            hits: Vec::new(),
            done: before,
        };
        outlet.send(ReadEvent::Lines(vec![line]))
    }

    /// Reads lines; the number of the last one.
    fn read_lines(
        &mut self,
        reader: impl BufRead,
        before: u64,
        outlet: &mut Outlet,
    ) -> Result<u64, Stop> {
        let mut lines = Lines::new(reader, LINE_LIMIT);
        let (mut ready, mut since, mut last) = (Vec::new(), 0, 0);
        while let Some(line) = lines.next() {
            self.keep_around(&line);
            if line.is_blank() {
                self.send_raw(outlet)?;
                continue;
            }
            last = line.number;
            let end = line.end;
            ready.push(self.understand(line, before + lines.bytes_read()));
            self.keep_end(end);
            self.send_raw(outlet)?;
            let bytes = lines.bytes_read() - since;
            if ready.len() >= AT_ONCE.1 || bytes >= AT_ONCE.0 {
                since = lines.bytes_read();
                outlet.send(ReadEvent::Lines(std::mem::take(&mut ready)))?;
            }
        }
        outlet.send(ReadEvent::Lines(ready))?;
        Ok(last)
    }

    /// Reads a document; the number of its last message, or 0 if it has none.
    fn read_document(
        &mut self,
        mut reader: impl BufRead,
        before: u64,
        outlet: &mut Outlet,
    ) -> Result<u64, Stop> {
        let mut bytes = Vec::new();
        let most = LINE_LIMIT as u64;
        let read = reader.by_ref().take(most + 1).read_to_end(&mut bytes);
        let bytes = match read {
            Ok(read) if read as u64 > most => Err(LineError::TooLong { limit: LINE_LIMIT }),
            Ok(_) => Ok(self.without_mark(bytes)),
            Err(error) => Err(LineError::Unreadable(error)),
        };
        let done = before + bytes.as_ref().map_or(0, |bytes| bytes.len() as u64);
        let mut has_half_characters = false;
        let (read, mut hits) = match self.redacted(1, bytes) {
            Ok((text, hits)) => {
                has_half_characters = text.has_half_characters();
                self.send_raw(outlet)?;
                let read = self.format.document(text, self.names.as_ref());
                (read.map_err(|bad| bad.to_string()), hits)
            }
            Err(reason) => (Err(reason), Vec::new()),
        };
        let messages = read.unwrap_or_else(|reason| vec![(1, Err(BadLine::Document(reason)))]);
        let last = messages.last().map_or(0, |(number, _)| *number);
        let mut ready = Vec::new();
        for (number, read) in messages {
            let read = read.map(|read| vec![read]);
            ready.push(ReadLine {
                number,
                read: read.map_err(|bad| bad.to_string()),
                values: 1,
                has_half_characters: std::mem::take(&mut has_half_characters),
                hits: std::mem::take(&mut hits),
                done,
            });
            if ready.len() >= AT_ONCE.1 {
                outlet.send(ReadEvent::Lines(std::mem::take(&mut ready)))?;
            }
        }
        outlet.send(ReadEvent::Lines(ready))?;
        Ok(last)
    }

    /// Reads the rows of a database; the number of the last one. What keeps it from being read is
    /// said of the row behind.
    fn read_database(
        &mut self,
        database: Result<Database, DatabaseError>,
        before: u64,
        outlet: &mut Outlet,
    ) -> Result<u64, Stop> {
        let (mut number, mut done, mut since) = (0, before, before);
        let mut ready = Vec::new();
        let secrets = self.secrets.clone();
        let read = database.and_then(|database| {
            database.rows(&secrets, |row| {
                number += 1;
                done += row.as_ref().map_or(0, |(row, _)| row.bytes());
                ready.push(self.understand_row(number, row, done));
                if ready.len() < AT_ONCE.1 && done - since < AT_ONCE.0 {
                    return Ok(());
                }
                since = done;
                outlet.send(ReadEvent::Lines(std::mem::take(&mut ready)))
            })
        });
        match read {
            Ok(sent) => sent?,
            Err(error) => {
                number += 1;
                ready.push(self.understand_row(number, Err(error), done));
            }
        }
        outlet.send(ReadEvent::Lines(ready))?;
        Ok(number)
    }

    fn understand_row(
        &mut self,
        number: u64,
        row: Result<(Row, Vec<Hit>), DatabaseError>,
        done: u64,
    ) -> ReadLine {
        let mut has_half_characters = false;
        let (read, hits) = match row {
            Ok((row, hits)) => {
                let mut texts = row.cells.iter().map(|(_, text)| text);
                has_half_characters = texts.any(RedactedText::has_half_characters);
                let (table, id) = (row.table, row.id);
                let mut cells = row.cells.iter().map(|(_, text)| text.as_str());
                let read = cells.try_for_each(|text| bounds::check(text.as_bytes()));
                let read = read.map_err(BadLine::from);
                let read = read.and_then(|()| self.format.row(row, self.names.as_ref()));
                let named = |bad: BadLine| {
                    let reason = bad.to_string();
                    DatabaseError::Row { table, id, reason }.to_string()
                };
                (read.map_err(named), hits)
            }
            Err(error) => (Err(error.to_string()), Vec::new()),
        };
        ReadLine {
            number,
            read,
            values: 1,
            has_half_characters,
            hits,
            done,
        }
    }

    /// The text of a line or of a document without its secrets, which is kept so.
    fn redacted(
        &mut self,
        line: u64,
        bytes: Result<Vec<u8>, LineError>,
    ) -> Result<(RedactedText, Vec<Hit>), String> {
        let text = bytes.map_err(|error| error.to_string());
        let mut read = text.and_then(|bytes| {
            bounds::check(&bytes).map_err(|error| error.to_string())?;
            let read = RedactedText::json(bytes, &self.secrets);
            read.map_err(|error| error.to_string())
        });
        let Some(raw) = &mut self.raw else {
            return read;
        };
        match &mut read {
            Ok((text, _)) if text.is_json() => raw.add(text),
            // It was looked through as JSON, and is none.
            Ok((text, hits)) => match text.not_json(raw.keys(), &self.secrets) {
                Some((text, found)) => {
                    raw.add(&text);
                    hits.extend(found);
                }
                None => raw.changed(line),
            },
            Err(_) => raw.changed(line),
        }
        read
    }

    /// Keeps what is before a line, and of a blank line all.
    fn keep_around(&mut self, line: &Line) {
        let Some(raw) = &mut self.raw else {
            return;
        };
        if line.has_mark {
            raw.add_end("\u{feff}");
        }
        if line.is_blank()
            && let Ok(bytes) = &line.bytes
        {
            raw.add_blanks(bytes);
            raw.add_end(line.end);
        }
    }

    /// A document without the byte order mark that some editors put before it.
    fn without_mark(&mut self, mut bytes: Vec<u8>) -> Vec<u8> {
        if bytes.starts_with(BYTE_ORDER_MARK) {
            bytes.drain(..BYTE_ORDER_MARK.len());
            self.keep_end("\u{feff}");
        }
        bytes
    }

    fn keep_end(&mut self, end: &'static str) {
        if let Some(raw) = &mut self.raw {
            raw.add_end(end);
        }
    }

    pub(super) fn understand(&mut self, line: Line, done: u64) -> ReadLine {
        let number = line.number;
        let mut has_half_characters = false;
        let (read, hits) = match self.redacted(number, line.bytes) {
            Ok((text, hits)) => {
                has_half_characters = text.has_half_characters();
                (self.values(text).map_err(|bad| bad.to_string()), hits)
            }
            Err(reason) => (Err(reason), Vec::new()),
        };
        let (values, read) = read.map_or_else(
            |reason| (1, Err(reason)),
            |(values, read)| (values, Ok(read)),
        );
        ReadLine {
            number,
            read,
            values,
            has_half_characters,
            hits,
            done,
        }
    }

    /// How many values a line has, and what they say. Only a line that cannot be read as one value
    /// may be several.
    fn values(&mut self, text: RedactedText) -> Result<(usize, Vec<Read>), BadLine> {
        let bad = match self.value(text.clone()) {
            Ok(reads) => return Ok((1, reads)),
            Err(bad) => bad,
        };
        let values = text.values();
        if values.len() < 2 {
            return Err(bad);
        }
        let (count, mut reads) = (values.len(), Vec::new());
        for value in values {
            reads.extend(self.value(value)?);
        }
        Ok((count, reads))
    }

    fn value(&mut self, text: RedactedText) -> Result<Vec<Read>, BadLine> {
        self.format.line(text, self.names.as_ref())
    }
}

/// The names of the innermost folders that a file lies in, without their secrets: a recording in
/// several files has its session's name there.
fn folders(path: &Path, secrets: &Secrets) -> Vec<String> {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut names: Vec<String> = path
        .ancestors()
        .skip(1)
        .filter_map(Path::file_name)
        .take(FOLDERS)
        .map(|name| RedactedText::plain(&name.to_string_lossy(), secrets))
        .map(|(name, _)| name.into_string())
        .collect();
    names.reverse();
    names
}

/// A file and its beginning, behind which it goes on.
fn open(root: &Root, recording: &Recording) -> io::Result<(File, Beginning)> {
    let mut file = root.open(&recording.path)?;
    let mut head = Beginning::default();
    head.read(&mut file, recording.head)?;
    Ok((file, head))
}

/// What is imported of one agent.
#[derive(Debug, Default)]
pub(crate) struct Found {
    files: Vec<Recording>,
    /// What is left alone.
    others: Others,
}

/// The recordings of an agent.
pub(crate) type OfAgent = (&'static Kind, Found);

/// The recordings at `path` by their agents, in the order of the table. The first one has what is named: files that
/// cannot be read, and those that are left alone.
pub(crate) async fn by_agent(path: &Path) -> Result<Vec<OfAgent>, ImportError> {
    let of = path.to_owned();
    let look = move |outlet: &mut reading::Outlet<Vec<OfAgent>, ImportError>| {
        let root = Root::of(&of).map_err(|source| ImportError::Unreadable {
            path: of.clone(),
            source,
        })?;
        outlet.send(found_by_agent(&root, &of)?)
    };
    let found = reading::start("annals-import", READY, Vec::new(), look);
    let mut found = found.map_err(ImportError::Thread)?;
    match found.next().await {
        Some(found) => found,
        None => Err(ImportError::Interrupted {
            path: path.to_owned(),
        }),
    }
}

fn found_by_agent(root: &Root, path: &Path) -> Result<Vec<OfAgent>, ImportError> {
    let (files, mut others) = files::find(root, path, None)?;
    let is_of = |kind: &'static Kind| {
        move |file: &Recording| file.kind.is_some_and(|own| std::ptr::eq(own, kind))
    };
    let kinds = formats::FORMATS.into_iter();
    let kinds = kinds.filter(|kind| files.iter().any(is_of(kind)));
    let mut found: Vec<OfAgent> = kinds.map(|kind| (kind, Found::default())).collect();
    if found.is_empty() {
        return Err(unknown(root, path, &files));
    }
    for file in files {
        let own = found.iter().position(|(kind, _)| is_of(kind)(&file));
        let own = own.or(file.is_database.is_none().then_some(0));
        match (own.and_then(|own| found.get_mut(own)), file.unread) {
            (Some((_, own)), _) => own.files.push(file),
            (None, Some(reason)) => others.add_unread(file.path, reason),
            (None, None) => others.add(file.path, UNKNOWN),
        }
    }
    if let Some((_, first)) = found.first_mut() {
        first.others = others;
    }
    Ok(found)
}

/// Why no file is known: perhaps one that cannot be read would be.
fn unknown(root: &Root, path: &Path, files: &[Recording]) -> ImportError {
    for file in files.iter().filter(|file| file.is_database.is_none()) {
        if let Err(source) = root.open(&file.path) {
            return ImportError::Unreadable {
                path: file.path.clone(),
                source,
            };
        }
    }
    if let Some((file, reason)) = files.iter().find_map(|file| Some((file, file.unread?))) {
        return ImportError::Unreadable {
            path: file.path.clone(),
            source: io::Error::new(io::ErrorKind::InvalidData, reason),
        };
    }
    ImportError::UnknownRecording {
        path: path.to_owned(),
    }
}
