//! The only way in for recordings: from files to entries, free of secrets, with a report.

pub(crate) mod bad_line;
pub(crate) mod counting;
pub(crate) mod database;
pub(crate) mod document;
pub(crate) mod error;
pub(crate) mod fields;
pub(crate) mod files;
pub(crate) mod formats;
pub(crate) mod members;
pub(crate) mod outline;
pub(crate) mod raw;
pub(crate) mod redacted;
pub(crate) mod source;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use annals::Annals;
use annals_event_log::IdSecret;
use derive_setters::Setters;
use futures::StreamExt;

use crate::reading;
use crate::report::{ImportReport, Progress};
use crate::secrets::Secrets;
use crate::transcript::importer::Importer;
use crate::transcript::item::Read;
use bad_line::BadLine;
use database::{Row, Tables};
pub use error::ImportError;
use formats::{Head, Kind};
use redacted::RedactedText;
use source::{Found, Kept, ReadEvent, Reader};

/// How to import recordings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Setters)]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct ImportOptions {
    /// The sessions are over: record the tool calls that wait for a result,
    /// as errors. They stay errors; of a result that is read later there is a
    /// frame.
    pub ended: bool,
    /// What is taken out of the lines before they are read; the standard set by
    /// default.
    pub secrets: Secrets,
    /// Keep the text of the recordings, too, without its secrets: [`crate::raw::export`] gives it back.
    pub keep_raw: bool,
}

/// A format of recordings: from what a file has to entries. It may remember what it read before.
pub(crate) trait Format: Send {
    /// The sessions are over: what a program left open is as it will be.
    fn ended(&mut self) {}

    /// A file begins that lies in `folders`, the innermost one last. It is told before [`Self::begin`].
    fn within(&mut self, folders: &[String]) {
        let _ = folders;
    }

    /// A file begins, whose name without its ending is `stem`.
    fn begin(&mut self, stem: &str) {
        let _ = stem;
    }

    /// Whether a file is one document. Otherwise it has lines.
    fn is_document(&self, head: &Head<'_>) -> bool {
        let _ = head;
        false
    }

    /// What a line says. A line without a name gets one that follows from `names`.
    fn line(&mut self, text: RedactedText, names: Option<&IdSecret>) -> Result<Vec<Read>, BadLine>;

    /// What a document says: the number of each message from 1, and what it is.
    fn document(
        &mut self,
        text: RedactedText,
        names: Option<&IdSecret>,
    ) -> Result<Vec<Numbered>, BadLine> {
        let reads = self.line(text, names)?;
        Ok(reads.into_iter().map(|read| (1, Ok(read))).collect())
    }

    /// The tables of its databases; none if its files are none.
    fn tables(&self) -> Option<&'static Tables> {
        None
    }

    /// What a row of a database says.
    fn row(&mut self, row: Row, names: Option<&IdSecret>) -> Result<Vec<Read>, BadLine> {
        let _ = (row, names);
        Ok(Vec::new())
    }

    /// What was held until the file ended.
    fn end(&mut self) -> Vec<Read> {
        Vec::new()
    }
}

/// A message of a document by its number from 1, or what is wrong with it.
pub(crate) type Numbered = (u64, Result<Read, BadLine>);

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
        Some(key) => {
            let kind = formats::by_key(key).ok_or_else(|| ImportError::UnknownAgent {
                agent: key.to_owned(),
            })?;
            vec![(kind, None)]
        }
        None => {
            let found = source::by_agent(path).await?.into_iter();
            found.map(|(kind, found)| (kind, Some(found))).collect()
        }
    };
    let mut reports = Vec::new();
    for (kind, found) in all {
        reports.push(import(annals, path, kind, found, options, progress).await?);
    }
    Ok(reports)
}

/// The agents whose recordings are imported: the key of each, and its name for people.
pub fn agents() -> impl Iterator<Item = (&'static str, &'static str)> {
    formats::FORMATS
        .into_iter()
        .map(|kind| (kind.agent.key, kind.title))
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
        Some(report) => Ok(report),
        None => Err(ImportError::Interrupted {
            path: path.to_owned(),
        }),
    }
}

/// Records what is read, in the order in which it comes; nothing, if that ended too early.
pub(crate) async fn record(
    mut importer: Importer<'_>,
    mut events: reading::Events<ReadEvent, ImportError>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Option<ImportReport>, ImportError> {
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
            ReadEvent::End => return importer.end().await.map(Some),
        }
    }
    Ok(None)
}
