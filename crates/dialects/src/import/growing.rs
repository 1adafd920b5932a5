//! Recordings that grow: what was read of one is not read again.
//!
//! An import reads a recording from its beginning, asks the log for all that it has of it, and forgets what it knew.
//! Between two growths of a recording that is followed, the state that its lines led to stays in memory, as though the
//! import had paused there: its format's, and what is known of its sessions. So a growth costs what was added. Nothing
//! else depends on it: what is in the log is what an import of the whole recording makes, and where the state is gone
//! (another process, another file under the same name, one of too many) the recording is read from its beginning.

use std::fs::File;
use std::io::{self, BufReader, Seek, SeekFrom};
use std::num::NonZeroUsize;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::channel;

use annals::Annals;
use annals_event_log::Digest;
use annals_files::Root;
use lru::LruCache;

use super::compressed;
use super::error::ImportError;
use super::format::Kind;
use super::source::{AT_ONCE, Found, Outlet, READY, ReadEvent, Reader, Stop};
use super::{ImportOptions, counting, formats, recorded, source};
use crate::lines::{LINE_LIMIT, Line, LineError, Lines};
use crate::reading;
use crate::report::{ImportReport, Progress};
use crate::transcript::importer::Importer;

/// Of so many recordings the state is kept, the ones that grew last.
const KEPT: NonZeroUsize = NonZeroUsize::MIN.saturating_add(15);

/// So many bytes at its beginning, and before where it goes on, tell a recording from another one.
const COMPARED: u64 = 4096;

/// The recordings of an agent, followed as they grow.
pub struct GrowingRecordings<'a> {
    annals: &'a Annals,
    kind: &'static Kind,
    options: &'a ImportOptions,
    known: LruCache<PathBuf, Growing<'a>>,
}

/// What is known of a recording.
struct Growing<'a> {
    reader: Reader,
    importer: Importer<'a>,
    count_ahead: Arc<AtomicBool>,
    place: Place,
}

/// How far a recording was read, and what is there by which it is known again.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct Place {
    /// The file, by its device and its number there.
    file: (u64, u64),
    /// Up to where it was read: behind a line.
    bytes: u64,
    /// How many lines that were.
    lines: u64,
    /// The digests of its first bytes, and of those before where it goes on.
    ends: Option<[Digest; 2]>,
}

impl std::fmt::Debug for GrowingRecordings<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GrowingRecordings").finish_non_exhaustive()
    }
}

impl<'a> GrowingRecordings<'a> {
    /// To follow the recordings of an agent, as [`super::agents`] names it.
    ///
    /// The calls of a session that goes on are not given up: [`ImportOptions::ended`] is for recordings that are over.
    ///
    /// # Errors
    /// [`ImportError::UnknownAgent`].
    pub fn new(
        annals: &'a Annals,
        agent: &str,
        options: &'a ImportOptions,
    ) -> Result<GrowingRecordings<'a>, ImportError> {
        Ok(GrowingRecordings {
            annals,
            kind: formats::named(agent)?,
            options,
            known: LruCache::new(KEPT),
        })
    }

    /// Imports what came to a recording since it was imported last: of one that is not known the whole. The report is
    /// of that.
    ///
    /// A last line that is not whole yet waits until it is. `progress` is called after each line, in bytes.
    ///
    /// # Errors
    /// [`ImportError`]; what was imported stays, and the next time the recording is read from its beginning.
    pub async fn grown(
        &mut self,
        path: &Path,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<ImportReport, ImportError> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_compressed = compressed::is_compressed(&name);
        if !is_in_lines(self.kind) || self.options.keep_raw || is_compressed {
            // It is written anew as a whole, or kept as a whole.
            let found = match is_in_lines(self.kind) {
                true => None,
                false => Some(self.found(path).await?),
            };
            return super::import(self.annals, path, self.kind, found, self.options, progress)
                .await;
        }
        let unreadable = |source| ImportError::Unreadable {
            path: path.to_owned(),
            source,
        };
        let file = Root::of(path).and_then(|root| root.open(path));
        let file = file.map_err(unreadable)?;
        // If this ends early, nothing is known of it any more.
        let known = self.known.pop(path);
        let known = known.filter(|known| known.place.is_in(&file));
        let mut growing = match known {
            Some(known) => known,
            None => self.unread(path).await?,
        };
        let bytes = file.metadata().map_err(unreadable)?.len();
        let is_long = bytes.saturating_sub(growing.place.bytes) > AT_ONCE.0;
        let (mut reader, mut place) = (growing.reader, growing.place);
        let (give, given) = channel();
        let of = path.to_owned();
        let read = move |outlet: &mut Outlet| {
            let read = reader.read_on(&of, file, &mut place, outlet);
            let _ = give.send((reader, place));
            read
        };
        let events = reading::start("annals-import", READY, ReadEvent::End, read);
        let mut events = events.map_err(ImportError::Thread)?;
        if is_long {
            events = counting::start(events, Arc::clone(&growing.count_ahead))?;
        }
        let is_over = recorded(&mut growing.importer, &mut events, progress).await?;
        let (Ok((reader, place)), true) = (given.try_recv(), is_over) else {
            return Err(ImportError::Interrupted {
                path: path.to_owned(),
            });
        };
        let report = growing.importer.pause().await?;
        let report = report.without_secrets(&self.options.secrets);
        let growing = Growing {
            reader,
            place,
            importer: growing.importer,
            count_ahead: growing.count_ahead,
        };
        self.known.put(path.to_owned(), growing);
        Ok(report)
    }

    /// A document or a database, if it is a recording of the agent: its program keeps others next to them.
    async fn found(&self, path: &Path) -> Result<Found, ImportError> {
        let mut found = source::by_agent(path).await?;
        let own = found
            .iter()
            .position(|(kind, _)| std::ptr::eq(*kind, self.kind));
        match (own, found.first()) {
            (Some(own), _) => Ok(found.swap_remove(own).1),
            (None, Some((other, _))) => Err(ImportError::AnotherAgent {
                path: path.to_owned(),
                expected: self.kind.title,
                found: other.title,
            }),
            (None, None) => Err(ImportError::UnknownRecording {
                path: path.to_owned(),
            }),
        }
    }

    /// A recording of which nothing was read.
    async fn unread(&self, path: &Path) -> Result<Growing<'a>, ImportError> {
        let source = format!("{} {}", self.kind.agent.key, path.display());
        let counts = Arc::new(AtomicBool::new(false));
        Ok(Growing {
            reader: Reader {
                secrets: self.options.secrets.clone(),
                names: self.annals.log().id_secret().await?,
                kind: self.kind,
                found: None,
                format: (self.kind.format)(),
                keeps: false,
                raw: None,
            },
            importer: Importer::new(
                self.annals,
                self.kind.agent,
                self.options,
                Arc::clone(&counts),
                source,
            ),
            count_ahead: counts,
            place: Place::default(),
        })
    }
}

/// Whether all of an agent's recordings have lines, and grow by them.
fn is_in_lines(kind: &Kind) -> bool {
    kind.endings == ["jsonl"] && (kind.format)().tables().is_none()
}

impl Reader {
    /// Reads what came to a file, up to its last line that is whole.
    fn read_on(
        &mut self,
        path: &Path,
        mut file: File,
        place: &mut Place,
        outlet: &mut Outlet,
    ) -> Result<(), Stop> {
        let unreadable = |source| ImportError::Unreadable {
            path: path.to_owned(),
            source,
        };
        if place.ends.is_none() {
            // Whose it is, half a line does not say.
            if !has_begun(&file).map_err(unreadable)? {
                return Ok(());
            }
            self.begin_alone(path)?;
            outlet.send(ReadEvent::File(path.to_owned()))?;
        }
        let from = place.bytes;
        file.seek(SeekFrom::Start(from)).map_err(unreadable)?;
        let mut lines = Lines::behind(place.lines, BufReader::new(&file), LINE_LIMIT);
        let (mut ready, mut since) = (Vec::new(), from);
        while let Some(line) = lines.next() {
            let end = from + lines.bytes_read();
            if !is_whole(&line, &file, end).map_err(unreadable)? {
                break;
            }
            place.bytes = end;
            // What comes behind one that has no end yet is still the same line.
            place.lines = line.number - u64::from(line.end.is_empty());
            if line.is_blank() {
                continue;
            }
            ready.push(self.understand(line, end));
            if ready.len() >= AT_ONCE.1 || end - since >= AT_ONCE.0 {
                since = end;
                outlet.send(ReadEvent::Lines(std::mem::take(&mut ready)))?;
            }
        }
        outlet.send(ReadEvent::Lines(ready))?;
        place.know(&file).map_err(unreadable)?;
        Ok(())
    }
}

/// Whether the first line of a file is whole.
fn has_begun(file: &File) -> io::Result<bool> {
    let mut lines = Lines::new(BufReader::new(file), LINE_LIMIT);
    match lines.next() {
        Some(line) => is_whole(&line, file, lines.bytes_read()),
        None => Ok(false),
    }
}

/// Whether no more of a line will come. One without an end may be the last one of a program that ends none.
fn is_whole(line: &Line, file: &File, end: u64) -> io::Result<bool> {
    match &line.bytes {
        Ok(_) if !line.end.is_empty() => Ok(true),
        Ok(bytes) => Ok(is_value(bytes)),
        Err(LineError::TooLong { .. }) => {
            let mut last = [0];
            file.read_exact_at(&mut last, end.saturating_sub(1))?;
            Ok(last == [b'\n'])
        }
        Err(LineError::Unreadable(error)) => Err(error.kind().into()),
    }
}

/// Whether it is one JSON object or list, behind which only another one could come.
fn is_value(bytes: &[u8]) -> bool {
    let bytes = bytes.trim_ascii();
    let is_closed = matches!(bytes, [b'{', .., b'}'] | [b'[', .., b']']);
    is_closed && serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok()
}

impl Place {
    /// Whether a file is the one that was read so far, and has grown if anything.
    fn is_in(&self, file: &File) -> bool {
        let Ok(about) = file.metadata() else {
            return false;
        };
        let is_it = (about.dev(), about.ino()) == self.file && about.len() >= self.bytes;
        // Nothing tells one of which nothing was read.
        is_it && self.bytes > 0 && self.ends_in(file).ok() == self.ends
    }

    /// Remembers by what the file is known again.
    fn know(&mut self, file: &File) -> io::Result<()> {
        let about = file.metadata()?;
        self.file = (about.dev(), about.ino());
        self.ends = Some(self.ends_in(file)?);
        Ok(())
    }

    fn ends_in(&self, file: &File) -> io::Result<[Digest; 2]> {
        let length = self.bytes.min(COMPARED);
        let mut bytes = vec![0; usize::try_from(length).unwrap_or_default()];
        file.read_exact_at(&mut bytes, 0)?;
        let first = Digest::of(&bytes);
        file.read_exact_at(&mut bytes, self.bytes - length)?;
        Ok([first, Digest::of(&bytes)])
    }
}
