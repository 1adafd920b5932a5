//! Reading an export: all that can be checked without the log that it goes to.

use std::collections::HashMap;
use std::io::BufRead;

use annals_domain::Object;
use annals_event_log::{Blob, Content, Digest, Record, limits};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::error::VerbatimImportError;
use super::lines::{BlobLine, End, First, Line, RecordLine, VERSION, VerbatimHeader, WORD};
use super::parts::{Part, Parts};
use crate::lines::{LineError, Lines};
use crate::reading::{self, Outlet, Stop};

/// Bytes of a line, at most: a blob of 64 MiB in base64, and what is around it.
const LINE_BYTES: usize = 96 * 1024 * 1024;
/// Bytes of the first line, at most.
const FIRST_BYTES: usize = 64 * 1024;
/// Parts that are read ahead.
const READY: usize = 1;

/// An export that is about to be imported.
pub struct VerbatimSource {
    pub(super) file: String,
    pub(super) header: VerbatimHeader,
    lines: Lines<Box<dyn BufRead + Send>>,
}

/// What the reading side tells.
pub(super) enum ReadEvent {
    Part(Part),
    /// All was read, and the last line was there.
    End,
}

pub(super) type PartEvents = reading::Events<ReadEvent, VerbatimImportError>;

impl std::fmt::Debug for VerbatimSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("VerbatimSource")
            .field("file", &self.file)
            .field("header", &self.header)
            .finish_non_exhaustive()
    }
}

impl VerbatimSource {
    /// Reads the first line of an export. `file` is what messages call it. Blocks.
    ///
    /// # Errors
    /// [`VerbatimImportError`]: it is not an export, of a newer version, or unreadable.
    pub fn open(
        file: impl Into<String>,
        reader: Box<dyn BufRead + Send>,
    ) -> Result<VerbatimSource, VerbatimImportError> {
        let file = file.into();
        let mut lines = Lines::new(reader, LINE_BYTES);
        let not = |reason: &str| VerbatimImportError::NotAnExport {
            file: file.clone(),
            reason: reason.to_owned(),
        };
        let first = match lines.next().map(|line| line.bytes) {
            None => return Err(not("it is empty")),
            Some(Err(LineError::Unreadable(source))) => {
                return Err(VerbatimImportError::Unreadable { file, source });
            }
            Some(Ok(first)) if first.len() <= FIRST_BYTES => first,
            Some(_) => return Err(not("its first line is too long")),
        };
        let header = header(&first, &file)?;
        Ok(VerbatimSource {
            file,
            header,
            lines,
        })
    }

    /// What the first line says.
    pub fn header(&self) -> &VerbatimHeader {
        &self.header
    }

    /// Begins to read the rest, on a thread of its own.
    pub(super) fn start(self) -> Result<(String, VerbatimHeader, PartEvents), VerbatimImportError> {
        let VerbatimSource {
            file,
            header,
            lines,
        } = self;
        let mut reading = Reading {
            file: file.clone(),
            next: header.from,
            header: header.clone(),
            parts: Parts::default(),
            loose: Loose::default(),
            records: 0,
            blobs: 0,
            ended: false,
        };
        let read =
            move |outlet: &mut Outlet<ReadEvent, VerbatimImportError>| reading.all(lines, outlet);
        match reading::start("annals-import", READY, ReadEvent::End, read) {
            Ok(messages) => Ok((file, header, messages)),
            Err(source) => Err(VerbatimImportError::Unreadable { file, source }),
        }
    }
}

/// Reads the first line.
fn header(bytes: &[u8], file: &str) -> Result<VerbatimHeader, VerbatimImportError> {
    let not = |reason: String| VerbatimImportError::NotAnExport {
        file: file.to_owned(),
        reason,
    };
    let value: Value = serde_json::from_slice(bytes)
        .map_err(|error| not(format!("its first line is not JSON: {error}")))?;
    let version = value.get("version").and_then(Value::as_u64);
    let (true, Some(version)) = (value.get("annals").is_some_and(|it| it == WORD), version) else {
        let reason = "its first line does not say {\"annals\":\"export\",\"version\":...}";
        return Err(not(reason.to_owned()));
    };
    if version != u64::from(VERSION) {
        return Err(VerbatimImportError::NewerVersion {
            file: file.to_owned(),
            found: u32::try_from(version).unwrap_or(u32::MAX),
            known: VERSION,
        });
    }
    let Object(first): Object<First<'_>> = serde_json::from_slice(bytes)
        .map_err(|error| not(format!("its first line cannot be read: {error}")))?;
    let root = |text: &str| {
        text.parse::<Digest>()
            .map_err(|error| not(error.to_string()))
    };
    let header = VerbatimHeader {
        log_id: first.log_id,
        from: first.from,
        to: first.to,
        root_before: root(&first.root_before)?,
        root: root(&first.root)?,
    };
    match header.from.checked_sub(1) {
        Some(before) if before <= header.to && header.to < u64::MAX => Ok(header),
        _ => Err(not(format!(
            "its first line says that it goes from position {} to {}",
            header.from, header.to
        ))),
    }
}

/// Content that no record was seen for yet.
#[derive(Default)]
struct Loose {
    blobs: HashMap<Digest, Blob>,
    bytes: usize,
}

/// An export that is being read.
struct Reading {
    file: String,
    header: VerbatimHeader,
    /// The position that comes next.
    next: u64,
    /// What was read and not handed over yet.
    parts: Parts,
    loose: Loose,
    records: u64,
    blobs: u64,
    /// Whether the last line was read.
    ended: bool,
}

type Out<'a> = &'a mut Outlet<ReadEvent, VerbatimImportError>;

impl Reading {
    fn all(
        &mut self,
        mut lines: Lines<Box<dyn BufRead + Send>>,
        outlet: Out<'_>,
    ) -> Result<(), Stop<VerbatimImportError>> {
        let mut count = 1;
        for line in &mut lines {
            count = line.number;
            if line.is_blank() {
                continue;
            }
            let bytes = match line.bytes {
                Ok(bytes) => bytes,
                Err(LineError::Unreadable(source)) => {
                    let file = self.file.clone();
                    return Err(VerbatimImportError::Unreadable { file, source }.into());
                }
                Err(error) => return Err(self.wrong(count, error).into()),
            };
            self.line(count, &bytes, outlet)?;
        }
        if !self.ended {
            // The batches that are whole are copied all the same. Of the last one more may be missing.
            self.parts.hand_over();
            self.hand_over(outlet)?;
            let file = self.file.clone();
            return Err(VerbatimImportError::CutOff { file, lines: count }.into());
        }
        self.parts.end();
        self.hand_over(outlet)
    }

    fn line(
        &mut self,
        number: u64,
        bytes: &[u8],
        outlet: Out<'_>,
    ) -> Result<(), Stop<VerbatimImportError>> {
        if self.ended {
            return Err(self
                .wrong(number, "it comes after the line that ends the export")
                .into());
        }
        let line = serde_json::from_slice(bytes)
            .map_err(|error| self.wrong(number, format!("it cannot be read: {error}")))?;
        match line {
            Line::Blob(Object(blob)) => self.blob(number, &blob, outlet),
            Line::Record(Object(record)) => self.record(number, &record, outlet),
            Line::End(Object(end)) => Ok(self.end(number, &end)?),
        }
    }

    fn blob(
        &mut self,
        number: u64,
        line: &BlobLine<'_>,
        outlet: Out<'_>,
    ) -> Result<(), Stop<VerbatimImportError>> {
        let bytes = self.decoded(number, &line.base64)?;
        if bytes.len() > limits::BLOB {
            let reason = format!("it has more than {} bytes of content", limits::BLOB);
            return Err(self.wrong(number, reason).into());
        }
        let blob = Blob::new(bytes);
        if blob.digest().to_string() != line.digest.to_ascii_lowercase() {
            let reason = format!("the content's digest is {}", blob.digest());
            return Err(self.damaged(number, reason).into());
        }
        self.blobs += 1;
        self.loose.bytes += blob.bytes().len();
        self.loose.blobs.insert(blob.digest(), blob);
        // An append that is within the limits has no more.
        if self.loose.bytes > limits::BATCH_BYTES || self.loose.blobs.len() > limits::PIECES {
            let reason = "there is more content before one record than a log takes at once";
            return Err(self.wrong(number, reason).into());
        }
        self.parts.make_room(self.loose.bytes);
        self.hand_over(outlet)
    }

    fn record(
        &mut self,
        number: u64,
        line: &RecordLine<'_>,
        outlet: Out<'_>,
    ) -> Result<(), Stop<VerbatimImportError>> {
        let bytes = self.decoded(number, &line.base64)?;
        let record = Record::decode(bytes.into()).map_err(|error| self.wrong(number, error))?;
        let position = record.position().0;
        if position != self.next || position > self.header.to {
            let reason = match self.next <= self.header.to {
                true => format!("it is the record at {position}, {} comes next", self.next),
                false => format!(
                    "it is the record at {position}, the export ends at {}",
                    self.header.to
                ),
            };
            return Err(self.wrong(number, reason).into());
        }
        if record.verify().is_err() {
            let reason = format!("the content of record {position} is not what its header says");
            return Err(self.damaged(number, reason).into());
        }
        let same = line.position == position
            && line.stream == record.stream()
            && line.event_type == record.event_type();
        if !same {
            let reason = format!("its fields are not those of its record, which is {position}");
            return Err(self.damaged(number, reason).into());
        }
        if let Some(reason) = self.other_size(&record) {
            return Err(self.damaged(number, reason).into());
        }
        self.next = position.saturating_add(1);
        self.records += 1;
        self.take(record, outlet)
    }

    /// What a record says of content that it is the first to refer to, if the content is
    /// of another size.
    fn other_size(&self, record: &Record) -> Option<String> {
        record.content().iter().find_map(|piece| {
            let (Content::Blob { digest, size, .. } | Content::Attachment { digest, size, .. }) =
                piece
            else {
                return None;
            };
            let found = self.loose.blobs.get(digest)?.bytes().len() as u64;
            (found != *size).then(|| format!("the content {digest} has {found} bytes, not {size}"))
        })
    }

    /// Puts a record into its batch, with the content that it is the first to refer to.
    fn take(&mut self, record: Record, outlet: Out<'_>) -> Result<(), Stop<VerbatimImportError>> {
        let mut loose = std::mem::take(&mut self.loose);
        let named = record.content();
        let named = named.iter().filter_map(Content::blob);
        let blobs = named.filter_map(|digest| loose.blobs.remove(&digest));
        let blobs = blobs.collect();
        self.parts.push(record, blobs);
        self.hand_over(outlet)
    }

    fn end(&mut self, number: u64, end: &End) -> Result<(), VerbatimImportError> {
        let expected = (self.header.records(), self.header.root.to_string());
        if (self.records, &expected.1) != (expected.0, &end.root)
            || (end.records, end.blobs) != (self.records, self.blobs)
        {
            let reason = format!(
                "it says {} records and {} blobs, the first line says {} records; there are {} and {}, \
                 or the two lines name different roots",
                end.records, end.blobs, expected.0, self.records, self.blobs
            );
            return Err(self.damaged(number, reason));
        }
        self.ended = true;
        Ok(())
    }

    /// Hands over the parts that are ready.
    fn hand_over(&mut self, outlet: Out<'_>) -> Result<(), Stop<VerbatimImportError>> {
        while let Some(part) = self.parts.pop() {
            outlet.send(ReadEvent::Part(part))?;
        }
        Ok(())
    }

    fn decoded(&self, number: u64, base64: &str) -> Result<Vec<u8>, VerbatimImportError> {
        STANDARD
            .decode(base64)
            .map_err(|error| self.wrong(number, format!("its base64 cannot be read: {error}")))
    }

    fn wrong(&self, line: u64, reason: impl ToString) -> VerbatimImportError {
        VerbatimImportError::Line {
            file: self.file.clone(),
            line,
            reason: reason.to_string(),
        }
    }

    fn damaged(&self, line: u64, reason: String) -> VerbatimImportError {
        VerbatimImportError::Damaged {
            file: self.file.clone(),
            line,
            reason,
        }
    }
}
