//! The only way in for recordings: from files to entries, free of secrets, with a report.

pub(crate) mod bad_line;
pub(crate) mod bounds;
mod companions;
pub(crate) mod compressed;
pub(crate) mod counting;
pub(crate) mod database;
pub(crate) mod document;
pub(crate) mod error;
pub(crate) mod fields;
pub(crate) mod files;
pub(crate) mod format;
pub(crate) mod formats;
mod groups;
mod growing;
pub(crate) mod members;
pub(crate) mod not_read;
mod options;
pub(crate) mod outline;
pub(crate) mod raw;
pub(crate) mod read_line;
pub(crate) mod redacted;
pub(crate) mod source;
pub(crate) mod splices;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use annals::Annals;
use futures::StreamExt;

use crate::claude;
use crate::reading;
use crate::report::{ImportReport, Progress};
use crate::transcript::importer::Importer;
pub use error::ImportError;
use format::Kind;
pub use groups::{
    FoundRecordings, GroupedRecording, RecordingGroup, recording_groups, recordings_in, unread_in,
};
pub use growing::GrowingRecordings;
pub use options::ImportOptions;
pub use redacted::{JsonFields, NotUtf8, RedactedFields, RedactedText};
use source::{Found, Kept, ReadEvent, Reader};

type Events = reading::Events<ReadEvent, ImportError>;

/// Imports recordings at `path`: the file, or all in that folder and below, in time order. `agent`
/// is one of [`agents`]; without it, what each file says decides whose recording it is. There is a
/// report for each agent of which there are recordings. `progress` is called after each line, in
/// bytes.
///
/// It reads on threads of its own: one takes secrets out of what comes next and parses it, one counts
/// its tokens, while what came before is recorded; it needs no particular async runtime.
/// Dropping the future stops it between two batches; what was imported stays,
/// and the next import goes on from there. Lines that cannot be read are named
/// in the report, and the others are read.
///
/// # Errors
/// [`ImportError`].
pub async fn recordings(
    annals: &Annals,
    path: &Path,
    agent: Option<&str>,
    options: &ImportOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<Vec<ImportReport>, ImportError> {
    let all = match agent {
        Some(key) => vec![(formats::named(key)?, None)],
        None => {
            let found = source::by_agent(path).await?.into_iter();
            found.map(|(kind, found)| (kind, Some(found))).collect()
        }
    };
    let mut reports = Vec::new();
    for (kind, found) in all {
        // Boxed, because the compiler bounds how deep futures lie in each other.
        let import = Box::pin(import(annals, path, kind, found, options, progress));
        reports.push(import.await?);
    }
    Ok(reports)
}

/// Imports the recording of Claude Code at `path`, or all `*.jsonl` files in that folder and
/// below, in time order; what else is there is named in the report. `progress`
/// is called after each line, in bytes.
///
/// It reads on threads of its own: one takes secrets out of what comes next and parses it, one counts
/// its tokens, while what came before is recorded; it needs no particular async runtime.
/// Dropping the future stops it between two batches; what was imported stays,
/// and the next import goes on from there. Lines that cannot be read are named
/// in the report, and the others are read.
///
/// # Errors
/// [`ImportError`].
pub async fn claude_code(
    annals: &Annals,
    path: &Path,
    options: &ImportOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<ImportReport, ImportError> {
    import(annals, path, &claude::KIND, None, options, progress).await
}

/// The agents whose recordings are imported: the key of each, and its name for people.
pub fn agents() -> impl Iterator<Item = (&'static str, &'static str)> {
    formats::FORMATS
        .into_iter()
        .map(|kind| (kind.agent.key, kind.title))
}

/// How the names of an agent's recordings end, without the dot.
///
/// # Errors
/// [`ImportError::UnknownAgent`].
pub fn endings(agent: &str) -> Result<&'static [&'static str], ImportError> {
    Ok(formats::named(agent)?.endings)
}

/// Recordings in the order in which an import of all of them reads them: the one that begins first before the others.
pub fn in_time_order(paths: Vec<PathBuf>) -> Vec<PathBuf> {
    files::in_time_order(paths)
}

/// Imports the recordings of one format at `path`: those that were found, or else that are found there.
pub(crate) async fn import(
    annals: &Annals,
    path: &Path,
    kind: &'static Kind,
    found: Option<Found>,
    options: &ImportOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<ImportReport, ImportError> {
    let agent = kind.agent;
    let count_ahead = Arc::new(AtomicBool::new(false));
    let mut reader = Reader {
        secrets: options.secrets.clone(),
        names: annals.log().id_secret().await?,
        kind,
        found,
        format: (kind.format)(),
        keeps: options.keep_raw,
        raw: None,
    };
    if options.ended {
        reader.format.ended();
    }
    let events = counting::start(source::start(path, reader)?, Arc::clone(&count_ahead))?;
    let source = format!("{} {}", agent.key, path.display());
    let importer = Importer::new(annals, agent, options, count_ahead, source);
    match record(importer, events, progress).await? {
        Some(report) => Ok(report.without_secrets(&options.secrets)),
        None => Err(ImportError::Interrupted {
            path: path.to_owned(),
        }),
    }
}

/// Records what is read, in the order in which it comes; nothing, if that ended too early.
pub(crate) async fn record(
    mut importer: Importer<'_>,
    mut events: Events,
    progress: &mut dyn FnMut(Progress),
) -> Result<Option<ImportReport>, ImportError> {
    match recorded(&mut importer, &mut events, progress).await? {
        true => importer.end().await.map(Some),
        false => Ok(None),
    }
}

/// Records what is read; whether that was all.
async fn recorded(
    importer: &mut Importer<'_>,
    events: &mut Events,
    progress: &mut dyn FnMut(Progress),
) -> Result<bool, ImportError> {
    let mut total = 0;
    while let Some(event) = events.next().await {
        match event? {
            ReadEvent::Found { bytes, others } => {
                total = bytes;
                others.report(&mut importer.report);
            }
            ReadEvent::File(file) => importer.begin_file(&file),
            ReadEvent::Lines(lines) => {
                for line in lines {
                    let done = line.done;
                    importer.line(line).await?;
                    // A file may have grown since its length was asked for.
                    let total = total.max(done);
                    progress(Progress { done, total });
                }
            }
            ReadEvent::Part(part) => importer.keep_part(part).await?,
            ReadEvent::FileEnd(kept) => {
                importer.end_file().await?;
                match kept {
                    Kept::Text(file) => importer.keep_recording(file).await?,
                    Kept::Database => importer.database_not_kept(),
                    Kept::Nothing => {}
                }
            }
            ReadEvent::End => return Ok(true),
        }
    }
    Ok(false)
}
