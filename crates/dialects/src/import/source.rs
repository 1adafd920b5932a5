//! Reading recordings on a thread of its own: line by line, without their secrets, and understood by
//! their format as far as a line says by itself what it is. What the lines become is decided beside it.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};
use std::ops::Range;
use std::path::{Path, PathBuf};

use annals_event_log::IdSecret;
use annals_files::Root;
use futures::StreamExt;

use super::bad_line::BadLine;
use super::bounds;
use super::companions;
use super::compressed::{self, Content};
use super::database::{self, Database, DatabaseError, Row};
use super::error::ImportError;
use super::files::{self, Beginning, Recording};
use super::format::{Format, Kind};
use super::formats;
use super::members::Members;
use super::raw::{RawFile, RawPart, RawText};
use super::read_line::{ReadLine, Understood, Unreadable};
use super::redacted::{RedactedLine, RedactedText};
use super::splices::{self, Piece};
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
        // The kept text is not compressed.
        let name = compressed::plain_name(&name);
        let (name, _) = RedactedText::plain(name, &self.secrets);
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
        self.begin(&root, path);
        Ok(())
    }

    fn begin(&mut self, root: &Root, path: &Path) {
        let (stem, _) = RedactedText::plain(&compressed::stem(path), &self.secrets);
        self.format.within(&folders(path, &self.secrets));
        self.format.begin(stem.as_str());
        let companion = companions::read(root, path, self.kind);
        let companion = companion.and_then(|it| RedactedText::json(it, &self.secrets).ok());
        if let Some((companion, _)) = companion {
            self.format.accompanied(&companion);
        }
    }

    fn read_file(
        &mut self,
        root: &Root,
        recording: &Recording,
        before: u64,
        outlet: &mut Outlet,
    ) -> Result<(), Stop> {
        let path = recording.path.as_path();
        let mut file = match root.open(path) {
            Ok(file) => file,
            Err(error) => return self.unopened(error, before, outlet),
        };
        let (content, head) = match begun(&file, recording) {
            Ok(begun) => begun,
            Err(error) => return self.unopened(error, before, outlet),
        };
        self.begin(root, path);
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_document = self
            .format
            .is_document(&head.head(compressed::plain_name(&name)));
        let tables = self
            .format
            .tables()
            .filter(|_| database::is_one(&head.bytes));
        let span = Span {
            before,
            most: content.is_compressed.then_some(recording.bytes),
        };
        let number = match tables {
            Some(_) if content.is_compressed => {
                let compressed = Err(DatabaseError::Compressed);
                self.read_database(compressed, before, outlet)?
            }
            Some(tables) => {
                drop(content);
                let database = Database::copied(&mut file, root, path, tables);
                self.read_database(database, before, outlet)?
            }
            // What was read of a pipe cannot be read again.
            None => {
                let whole = BufReader::new(head.bytes.as_slice().chain(content));
                match is_document {
                    true => self.read_document(whole, before, outlet)?,
                    false => self.read_lines(whole, span, outlet)?,
                }
            }
        };
        let held = self.format.end();
        let read = match (held.is_empty(), number, recording.kind) {
            // A document in which there is nothing of its format.
            (true, 0, None) if is_document && tables.is_none() => Err(UNKNOWN.to_owned()),
            (true, ..) => return Ok(()),
            (false, ..) => Ok(held),
        };
        let line = Understood::of(read);
        outlet.send(ReadEvent::Lines(vec![line.line(number.max(1), before)]))
    }

    /// Reports a file that was there when the files were listed.
    fn unopened(&mut self, error: io::Error, before: u64, outlet: &mut Outlet) -> Result<(), Stop> {
        let line = Line {
            number: 1,
            bytes: Err(LineError::Unreadable(error)),
            end: "",
            has_mark: false,
        };
        let line = self.understand(line, before);
        outlet.send(ReadEvent::Lines(vec![line]))
    }

    /// Reads lines; the number of the last one.
    fn read_lines(
        &mut self,
        reader: impl BufRead,
        span: Span,
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
            ready.push(self.understand(line, span.done(lines.bytes_read())));
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
            Ok(RedactedLine { text, hits, .. }) => {
                has_half_characters = text.has_half_characters();
                self.send_raw(outlet)?;
                let read = self.format.document(text, self.names.as_ref());
                (read.map_err(|bad| bad.to_string()), hits)
            }
            Err(unreadable) => (Err(unreadable.reason), Vec::new()),
        };
        let messages = read.unwrap_or_else(|reason| vec![(1, Err(BadLine::Document(reason)))]);
        let last = messages.last().map_or(0, |(number, _)| *number);
        let mut ready = Vec::new();
        for (number, read) in messages {
            let read = read.map(|read| vec![read]);
            let message = Understood {
                has_half_characters: std::mem::take(&mut has_half_characters),
                hits: std::mem::take(&mut hits),
                ..Understood::of(read.map_err(|bad| bad.to_string()))
            };
            ready.push(message.line(number, done));
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
        let row = Understood {
            has_half_characters,
            hits,
            ..Understood::of(read)
        };
        row.line(number, done)
    }

    /// The text of a line or of a document without its secrets, which is kept so.
    fn redacted(
        &mut self,
        line: u64,
        bytes: Result<Vec<u8>, LineError>,
    ) -> Result<RedactedLine, Unreadable> {
        let text = bytes.map_err(|error| Unreadable::of(&error));
        let mut read = text.and_then(|bytes| {
            bounds::check(&bytes).map_err(|error| Unreadable::of(&error))?;
            let read = RedactedLine::of(bytes, &self.secrets);
            read.map_err(|(error, bytes)| Unreadable {
                bytes: Some(bytes),
                ..Unreadable::of(&error)
            })
        });
        let Some(raw) = &mut self.raw else {
            return read;
        };
        match &mut read {
            Ok(read) if read.text.is_json() => raw.add(&read.text),
            // It was looked through as JSON, and is none.
            Ok(read) => match read.text.not_json(raw.keys(), &self.secrets) {
                Some((text, found)) => {
                    raw.add(&text);
                    read.hits.extend(found);
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
        let understood = match self.redacted(number, line.bytes) {
            Ok(line) => self.understood(line),
            Err(Unreadable { reason, bytes }) => {
                let records = bytes.and_then(|bytes| self.records(&bytes));
                records.unwrap_or_else(|| Understood::of(Err(reason)))
            }
        };
        understood.line(number, done)
    }

    /// What a line says. Only one that cannot be read as one record may have several, or damaged ones.
    fn understood(&mut self, mut line: RedactedLine) -> Understood {
        let has_half_characters = line.text.has_half_characters();
        let hits = std::mem::take(&mut line.hits);
        let read = self.value(line.text.clone());
        let read = match read {
            Err(bad) if !line.text.is_json() => match self.records(&line.into_bytes()) {
                // Of the text that is kept all of the line's secrets were taken out.
                Some(records) if self.raw.is_some() => return Understood { hits, ..records },
                Some(records) => return records,
                None => Err(bad),
            },
            read => read,
        };
        Understood {
            has_half_characters,
            hits,
            ..Understood::of(read.map_err(|bad| bad.to_string()))
        }
    }

    /// The whole records of a damaged line. `None` if it has none.
    fn records(&mut self, line: &[u8]) -> Option<Understood> {
        let is_record = |range: Range<usize>| {
            let record = line.get(range).and_then(|it| str::from_utf8(it).ok());
            let members = record.and_then(|record| Members::read(record).ok());
            members.is_some_and(|members| self.format.is_record(&members))
        };
        let pieces = splices::pieces(line, is_record);
        let is_nul = |piece: &Piece| matches!(piece, Piece::Lost(lost) if lost.is_nul());
        let is_worth = |piece: &Piece| matches!(piece, Piece::Record(_)) || is_nul(piece);
        if !pieces.iter().any(is_worth) {
            return None;
        }
        let mut all = Understood::of(Ok(Vec::new()));
        let (mut reads, mut records) = (Vec::new(), 0);
        for piece in pieces {
            match piece {
                Piece::Record(range) => match self.record(line, range.clone()) {
                    Ok(record) => {
                        records += 1;
                        all.has_half_characters |= record.has_half_characters;
                        all.hits.extend(record.hits);
                        reads.extend(record.read.unwrap_or_default());
                    }
                    Err(reason) => all.lost.push(in_bytes(&range, &reason)),
                },
                Piece::Lost(bytes) => all.lost.push(bytes.to_string()),
            }
        }
        all.values = records.max(1);
        // A line of which nothing was read is one broken record.
        all.read = match records {
            0 => Err(all.lost.drain(..).collect::<Vec<_>>().join("; ")),
            _ => Ok(reads),
        };
        Some(all)
    }

    /// A record of a damaged line.
    fn record(&mut self, line: &[u8], range: Range<usize>) -> Result<Understood, String> {
        let bytes = line.get(range).unwrap_or_default();
        bounds::check(bytes).map_err(|error| error.to_string())?;
        let read = RedactedText::json(bytes.to_vec(), &self.secrets);
        let (text, hits) = read.map_err(|error| error.to_string())?;
        let has_half_characters = text.has_half_characters();
        let read = self.value(text).map_err(|bad| bad.to_string())?;
        Ok(Understood {
            has_half_characters,
            hits,
            ..Understood::of(Ok(read))
        })
    }

    fn value(&mut self, text: RedactedText) -> Result<Vec<Read>, BadLine> {
        self.format.line(text, self.names.as_ref())
    }
}

fn in_bytes(range: &Range<usize>, reason: &str) -> String {
    let Range { start, end } = range;
    format!("bytes {} to {end} of the line: {reason}", start + 1)
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

/// Reads the beginning of a file. Returns it and the content behind it.
fn begun<'f>(file: &'f File, recording: &Recording) -> io::Result<(Content<'f>, Beginning)> {
    let mut content = Content::checked(file)?;
    let mut head = Beginning::default();
    head.read(&mut content, recording.head)?;
    Ok((content, head))
}

/// The bytes of an import that one file counts for.
#[derive(Debug, Clone, Copy)]
struct Span {
    /// The bytes of the files before it.
    before: u64,
    /// The length of a compressed file.
    most: Option<u64>,
}

impl Span {
    /// Returns the progress of the import after so many bytes of the file's content.
    fn done(self, read: u64) -> u64 {
        self.before + self.most.map_or(read, |most| read.min(most))
    }
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
