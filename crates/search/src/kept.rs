//! The index on the disk: opened, checked, written.

use std::any::Any;
use std::collections::BTreeMap;
use std::io::{self, BufReader, Read as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tantivy::directory::MmapDirectory;
use tantivy::directory::error::{LockError, OpenDirectoryError, OpenReadError, OpenWriteError};
use tantivy::directory::footer::Footer;
use tantivy::indexer::IndexWriter;
use tantivy::{
    Directory, HasLen, Index, IndexReader, IndexSettings, ReloadPolicy, Searcher, TantivyError,
};
use uuid::Uuid;

use crate::document::Document;
use crate::reading::Reading;
use crate::schema::{self, FORMAT, Fields};

/// Bytes that a thread gathers before it writes a segment.
const THREAD_BYTES: usize = 64 * 1024 * 1024;
/// The same where little is added; the least that there can be.
const LITTLE_BYTES: usize = 16 * 1024 * 1024;
/// Threads that add documents, at most.
const THREADS: usize = 4;
/// How often opening is tried again because files were replaced meanwhile.
const ATTEMPTS: u32 = 8;

/// Up to where the index is, and of which log: it lies in each commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Mark {
    pub(crate) format: u32,
    /// The log's id.
    pub(crate) log: Uuid,
    /// The epoch of the content that it was made of.
    pub(crate) epoch: u64,
    /// The last event that is in it.
    pub(crate) position: u64,
    /// That event's id, by which another history of the same log is known.
    pub(crate) event: Option<Uuid>,
}

/// Why the index cannot be used.
#[derive(Debug)]
pub(crate) enum Fault {
    /// Another process is writing it.
    Busy,
    /// The operating system refused.
    Io(io::Error),
    /// It is not what we wrote.
    Damaged(String),
}

impl From<TantivyError> for Fault {
    fn from(error: TantivyError) -> Fault {
        let copied = |error: &io::Error| match error.raw_os_error() {
            Some(code) => io::Error::from_raw_os_error(code),
            None => io::Error::new(error.kind(), error.to_string()),
        };
        match &error {
            TantivyError::LockFailure(LockError::LockBusy, _) => Fault::Busy,
            TantivyError::LockFailure(LockError::IoError(source), _)
            | TantivyError::OpenDirectoryError(OpenDirectoryError::IoError {
                io_error: source,
                ..
            })
            | TantivyError::OpenReadError(OpenReadError::IoError {
                io_error: source, ..
            })
            | TantivyError::OpenWriteError(OpenWriteError::IoError {
                io_error: source, ..
            })
            | TantivyError::IoError(source)
                if source.kind() != io::ErrorKind::UnexpectedEof
                    && source.kind() != io::ErrorKind::InvalidData =>
            {
                Fault::Io(copied(source))
            }
            _ => Fault::Damaged(error.to_string()),
        }
    }
}

/// What `work` answers; a panic of the library over bytes that it does not expect is a damage.
pub(crate) fn guarded<T>(work: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|panic| Err(Fault::Damaged(said(panic.as_ref()))))
}

fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("it cannot be read").to_owned()
}

/// An index that is there, for reading.
pub(crate) struct Kept {
    index: Index,
    reader: IndexReader,
    pub(crate) fields: Fields,
    pub(crate) mark: Mark,
}

impl Kept {
    /// Opens the index in a folder; none where nothing was committed yet. Every file is compared with its check sum.
    pub(crate) fn open(folder: &Path) -> Result<Option<Kept>, Fault> {
        let mut attempt = 0;
        loop {
            attempt += 1;
            match guarded(|| Kept::open_once(folder)) {
                Err(Fault::Damaged(_)) if attempt < ATTEMPTS && has_meta(folder) => {}
                done => return done,
            }
        }
    }

    fn open_once(folder: &Path) -> Result<Option<Kept>, Fault> {
        if !has_meta(folder) {
            return Ok(None);
        }
        let index = Index::open(Reading(directory(folder)?))?;
        let fields = schema::prepare(&index)?;
        let Some(mark) = mark_of(&index)? else {
            return Ok(None);
        };
        check_files(&index, folder)?;
        let reader = index
            .reader_builder()
            .reload_policy(ReloadPolicy::Manual)
            .try_into()?;
        Ok(Some(Kept {
            index,
            reader,
            fields,
            mark,
        }))
    }

    /// What is in the index now.
    pub(crate) fn searcher(&self) -> Searcher {
        self.reader.searcher()
    }

    /// Whether it is what is in the folder still.
    pub(crate) fn is_current(&self) -> bool {
        mark_of(&self.index).is_ok_and(|mark| mark == Some(self.mark))
    }
}

/// What the names of the files end with that every segment has. Some of them are first needed by a question.
const NEEDED: [&str; 6] = ["idx", "pos", "term", "store", "fast", "fieldnorm"];

/// The file with the check sums of the segments' files. Each file ends with its own, which is right in another index's file, too.
const SUMS: &str = "SUMS";

/// Bytes of it that are read.
const MOST: u64 = 1024 * 1024;

/// Bytes behind a file's check sum, without which the library does not look for it.
const FOOTER_END: usize = 8;

/// Files of segments by their names, with their check sums.
type Sums = BTreeMap<PathBuf, u32>;

/// The check sums that were recorded; none where they cannot be read.
fn recorded_sums(folder: &Path) -> Sums {
    let recorded = annals_files::open(&folder.join(SUMS));
    let recorded = recorded.map(|file| serde_json::from_reader(BufReader::new(file.take(MOST))));
    recorded.ok().and_then(Result::ok).unwrap_or_default()
}

/// Records the check sums of the files that have come.
pub(crate) fn record_sums(folder: &Path) -> Result<(), Fault> {
    let (directory, recorded) = (directory(folder)?, recorded_sums(folder));
    let mut sums = Sums::new();
    for file in files(&Index::open(Reading(directory.clone()))?)? {
        let sum = match recorded.get(&file) {
            Some(sum) => *sum,
            None => sum_of(&directory, &file)?,
        };
        sums.insert(file, sum);
    }
    let sums = serde_json::to_vec(&sums).map_err(|error| Fault::Damaged(error.to_string()))?;
    directory
        .atomic_write(Path::new(SUMS), &sums)
        .map_err(Fault::Io)
}

/// The files of all segments that are there.
fn files(index: &Index) -> Result<Vec<PathBuf>, Fault> {
    let mut files = Vec::new();
    for segment in index.load_metas()?.segments {
        for file in segment.list_files() {
            let is_there = index.directory().exists(&file);
            let ending = file.extension().and_then(|ending| ending.to_str());
            match is_there.map_err(TantivyError::from)? {
                true => files.push(file),
                false if ending.is_some_and(|ending| NEEDED.contains(&ending)) => {
                    return Err(Fault::Damaged(format!("{} is missing", file.display())));
                }
                false => {}
            }
        }
    }
    Ok(files)
}

/// The check sum at the end of a file.
fn sum_of(directory: &MmapDirectory, file: &Path) -> Result<u32, Fault> {
    let content = directory.open_read(file).map_err(TantivyError::from)?;
    if content.len() < FOOTER_END {
        return Err(Fault::Damaged(format!("{} is cut off", file.display())));
    }
    let (footer, _) = Footer::extract_footer(content).map_err(TantivyError::from)?;
    Ok(footer.crc)
}

/// Compares every file with its check sum, and that with the one that was recorded. What the library knows of files by
/// its own list is not enough: the list may be missing.
fn check_files(index: &Index, folder: &Path) -> Result<(), Fault> {
    let (directory, recorded) = (directory(folder)?, recorded_sums(folder));
    for file in files(index)? {
        let sum = sum_of(&directory, &file)?;
        let is_own = recorded.get(&file).is_none_or(|recorded| *recorded == sum);
        let is_whole = index.directory().validate_checksum(&file);
        if !is_own || !is_whole.map_err(TantivyError::from)? {
            let reason = format!("{} does not have its check sum", file.display());
            return Err(Fault::Damaged(reason));
        }
    }
    Ok(())
}

fn has_meta(folder: &Path) -> bool {
    folder.join("meta.json").is_file()
}

fn directory(folder: &Path) -> Result<MmapDirectory, Fault> {
    let opened = MmapDirectory::open(folder);
    opened.map_err(|error| Fault::from(TantivyError::from(error)))
}

fn mark_of(index: &Index) -> Result<Option<Mark>, Fault> {
    let Some(payload) = index.load_metas()?.payload else {
        return Ok(None);
    };
    let mark: Mark =
        serde_json::from_str(&payload).map_err(|error| Fault::Damaged(error.to_string()))?;
    match mark.format {
        FORMAT => Ok(Some(mark)),
        other => Err(Fault::Damaged(format!(
            "it has the form {other}, and not {FORMAT}"
        ))),
    }
}

/// Adds documents to an index; one process at a time.
pub(crate) struct Writer {
    writer: IndexWriter,
    fields: Fields,
    /// What was committed last.
    pub(crate) mark: Option<Mark>,
}

impl Writer {
    /// Opens the index in a folder for adding to it, and makes one where there is none.
    pub(crate) fn open(folder: &Path, is_much: bool) -> Result<Writer, Fault> {
        guarded(|| {
            let (schema, _) = Fields::schema();
            let directory = directory(folder)?;
            let index = match has_meta(folder) {
                true => Index::open(directory)?,
                false => Index::create(directory, schema, IndexSettings::default())?,
            };
            let fields = schema::prepare(&index)?;
            let threads =
                std::thread::available_parallelism().map_or(1, |it| it.get().min(THREADS));
            let writer = match is_much {
                true => index.writer_with_num_threads(threads, threads * THREAD_BYTES)?,
                false => index.writer_with_num_threads(1, LITTLE_BYTES)?,
            };
            // Whoever had the lock before may have gone on.
            let mark = mark_of(&index)?;
            Ok(Writer {
                writer,
                fields,
                mark,
            })
        })
    }

    pub(crate) fn add(&mut self, document: &Document) -> Result<(), Fault> {
        let added = self.writer.add_document(self.fields.document(document));
        match added {
            Ok(_) => Ok(()),
            // It says that a thread ended, and the commit says why.
            Err(error) => Err(match self.writer.prepare_commit() {
                Ok(_) => error.into(),
                Err(cause) => cause.into(),
            }),
        }
    }

    /// Writes what was added, with up to where that is: both are there after a crash, or neither.
    pub(crate) fn commit(&mut self, mark: Mark) -> Result<(), Fault> {
        let payload =
            serde_json::to_string(&mark).map_err(|error| Fault::Damaged(error.to_string()))?;
        guarded(|| {
            let mut commit = self.writer.prepare_commit()?;
            commit.set_payload(&payload);
            commit.commit()?;
            Ok(())
        })?;
        self.mark = Some(mark);
        Ok(())
    }

    /// Waits for what is merged meanwhile.
    pub(crate) fn finish(self) -> Result<(), Fault> {
        guarded(|| Ok(self.writer.wait_merging_threads()?))
    }
}
