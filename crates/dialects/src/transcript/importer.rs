//! Line by line through the recordings, and what is remembered on the way.

use std::collections::{BTreeSet, HashMap};
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use annals::{Annals, BulkWriter};
use annals_domain::FrameId;
use lru::LruCache;
use uuid::Uuid;

use super::agent::Agent;
use super::batch::Load;
use super::claim::Claim;
use super::ids::{Ids, ToolIds};
use super::item::{Read, Said, Summary};
use super::remark::{Remark, Remarks};
use super::session::{Closed, Session};
use super::texts;
use crate::git::project::project_of;
use crate::import::ImportOptions;
use crate::import::compressed;
use crate::import::error::ImportError;
use crate::import::fields;
use crate::import::read_line::ReadLine;
use crate::report::{Fields, ImportReport, Types};
use crate::secrets::Hit;

pub(super) type Done = Result<(), ImportError>;

/// So many lines, messages and files are remembered: to know those that are
/// repeated, to which side chain a line belongs by its parent, and what was
/// said last of a file.
const REMEMBERED: NonZeroUsize = NonZeroUsize::MIN.saturating_add(65_535);

/// So many working directories are remembered.
const PROJECTS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(4_095);

/// At most so many summaries of a file wait for the session that follows.
const SUMMARIES: usize = 1_000;

/// The newest result about a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct LastResult {
    pub(super) call: ToolIds,
    /// Its frame in the chain's pipeline; none where an earlier import pushed
    /// it, which is read from the log only if it is used.
    pub(super) frame: Option<FrameId>,
}

/// An import on its way.
pub(crate) struct Importer<'a> {
    pub(super) annals: &'a Annals,
    /// Many batches are on their way at once. What is read of the log waits for them.
    pub(super) bulk: BulkWriter<'a>,
    pub(super) agent: &'static Agent,
    pub(super) ids: Ids,
    options: &'a ImportOptions,
    /// Whether what is read now is worth counting, as what was recorded last was new.
    pub(super) count_ahead: Arc<AtomicBool>,
    pub(crate) report: ImportReport,
    pub(super) fields: Fields,
    pub(super) remarks: Remarks,
    unknown: Types,
    pub(super) skipped: Types,
    pub(super) sessions: HashMap<String, Session>,
    /// The chains, each with its session's name first, that have tokens of a message that is not over: sessions are
    /// many, and these are few.
    pub(super) open_usage: BTreeSet<(String, String)>,
    /// The chains of the lines of side chains that have no `agentId`.
    pub(super) side_lines: LruCache<String, String>,
    /// The sessions' newest lines, by [`Ids::line`], and what they say.
    pub(super) seen: LruCache<Uuid, Said>,
    /// Messages that are over.
    pub(super) closed: LruCache<String, Closed>,
    /// The newest results about files, by [`Ids::file`].
    pub(super) results: LruCache<Uuid, LastResult>,
    /// The projects of working directories.
    projects: LruCache<String, Option<String>>,
    /// The file that is read, and its name without the ending.
    pub(super) file: String,
    pub(super) stem: String,
    /// Whether a part of its text could not be kept.
    pub(super) lacks_part: bool,
    /// The newest line of it that says something else than the log.
    pub(super) conflicting: Option<u64>,
    /// Summaries in this file, which belong to the session that follows.
    pub(super) summaries: Vec<(Summary, u64)>,
}

impl<'a> Importer<'a> {
    pub(crate) fn new(
        annals: &'a Annals,
        agent: &'static Agent,
        options: &'a ImportOptions,
        count_ahead: Arc<AtomicBool>,
        source: String,
    ) -> Self {
        Importer {
            annals,
            bulk: annals.bulk(),
            agent,
            ids: Ids::of(agent.key),
            count_ahead,
            options,
            report: ImportReport {
                source,
                ..ImportReport::default()
            },
            fields: Fields::default(),
            remarks: Remarks::default(),
            unknown: Types::default(),
            skipped: Types::default(),
            sessions: HashMap::new(),
            open_usage: BTreeSet::new(),
            side_lines: LruCache::new(REMEMBERED),
            seen: LruCache::new(REMEMBERED),
            closed: LruCache::new(REMEMBERED),
            results: LruCache::new(REMEMBERED),
            projects: LruCache::new(PROJECTS),
            file: String::new(),
            stem: String::new(),
            lacks_part: false,
            conflicting: None,
            summaries: Vec::new(),
        }
    }

    pub(crate) fn begin_file(&mut self, path: &Path) {
        self.file = path.display().to_string();
        self.conflicting = None;
        self.lacks_part = false;
        // It may become a session's name.
        let stem = compressed::stem(path);
        let stem = self.options.secrets.redact(&stem);
        self.redacted(1, &stem.hits);
        self.stem = stem.content.into_owned();
    }

    /// The project of a working directory, if that is on this machine; without secrets, as its path is in no recording.
    pub(super) fn project(&mut self, directory: &str) -> Option<String> {
        if let Some(project) = self.projects.get(directory) {
            return project.clone();
        }
        let project = project_of(directory);
        let project = project.map(|path| self.options.secrets.redact(&path).content.into_owned());
        self.projects.put(directory.to_owned(), project.clone());
        project
    }

    /// Counts the secrets that a line had.
    fn redacted(&mut self, line: u64, hits: &[Hit]) {
        self.report.redacted.add_hits(&self.file, line, hits);
    }

    pub(crate) async fn line(&mut self, line: ReadLine) -> Done {
        self.redacted(line.number, &line.hits);
        self.report.records_read += (line.values + line.lost.len()) as u64;
        if line.values > 1 {
            self.remarks
                .add(Remark::SeveralValues, &self.file, line.number);
        }
        if line.has_half_characters && line.read.is_ok() {
            self.remarks
                .add(Remark::HalfCharacters, &self.file, line.number);
        }
        for reason in line.lost {
            self.report.add_broken(&self.file, line.number, reason);
        }
        match line.read {
            Ok(read) => {
                for value in read {
                    self.understood(value, line.number).await?;
                }
            }
            Err(reason) => self.report.add_broken(&self.file, line.number, reason),
        }
        Ok(())
    }

    async fn understood(&mut self, read: Read, number: u64) -> Done {
        match read {
            Read::Entry(mut entry) => {
                entry.shorten_names();
                return self.entry(&entry, number).await;
            }
            Read::Summary(summary) if self.summaries.len() < SUMMARIES => {
                self.summaries.push((summary, number));
            }
            Read::Summary(summary) => self.summary_left_out(summary, number),
            Read::Backups(backups) => return self.backups(backups, number).await,
            Read::SubAgent(agent) => self.called(agent),
            Read::Skipped { kind, text } => {
                self.skipped.add(&kind);
                fields::count(&text, "", fields::NOTHING, &[], &mut self.fields);
            }
            Read::Waits { kind } => {
                self.skipped.add(&kind);
                self.report.waiting += 1;
                self.remarks.add(Remark::Waits, &self.file, number);
            }
            Read::Unknown { kind, text } => {
                self.unknown.add(&kind);
                fields::count(&text, "", fields::NOTHING, &[], &mut self.fields);
            }
        }
        Ok(())
    }

    fn summary_left_out(&mut self, summary: Summary, line: u64) {
        let load = Load {
            fields: summary.fields,
            ..Load::line()
        };
        self.left_out("summary", &load, line);
    }

    /// Counts a line that belongs to a session of which no work was read.
    pub(super) fn left_out(&mut self, kind: &str, load: &Load, line: u64) {
        self.remarks.add(Remark::HeldTooLong, &self.file, line);
        self.skipped.add(kind);
        self.fields.add(&load.fields);
    }

    /// Ends a file: what is counted up to here is recorded.
    pub(crate) async fn end_file(&mut self) -> Done {
        self.end_usage().await?;
        for (summary, line) in std::mem::take(&mut self.summaries) {
            self.summary_left_out(summary, line);
        }
        Ok(())
    }

    /// Ends the import.
    pub(crate) async fn end(mut self) -> Result<ImportReport, ImportError> {
        for name in self.session_names() {
            if !self.options.ended {
                self.request_pending(&name).await?;
            }
            let calls = std::mem::take(&mut self.session(&name).waiting);
            for call in calls {
                if self.options.ended {
                    let line = call.line;
                    self.give_up(&name, call, line).await?;
                } else if let Some(batch) = self.known(self.ids.tool(&call.id).batch).await? {
                    let args = texts::json(call.input.as_deref());
                    let claim = Claim::Call(call.asked(args.as_ref()));
                    if self.holds(&[claim], batch).await? {
                        self.report.already_there += call.load.lines;
                    } else {
                        self.conflict(&call.id, call.line);
                    }
                } else {
                    self.report.waiting += 1;
                }
            }
            let chains = self.session(&name).chains();
            let held: u64 = chains.map(|chain| chain.held.len() as u64).sum();
            self.report.waiting += held;
        }
        self.settle().await?;
        Ok(self.reported())
    }

    /// Pauses where a recording has come to that grows: what is counted up to here is recorded, and all of it is on
    /// disk. The report is of what was done since the last pause.
    pub(crate) async fn pause(&mut self) -> Result<ImportReport, ImportError> {
        self.end_usage().await?;
        for name in self.session_names() {
            self.request_pending(&name).await?;
        }
        self.settle().await?;
        let mut waiting = 0;
        for session in self.sessions.values_mut() {
            waiting += session.waiting.len() as u64;
            let held = session.chains().map(|chain| chain.held.len() as u64);
            waiting += held.sum::<u64>();
        }
        self.report.waiting += waiting;
        Ok(self.reported())
    }

    /// The report of what was done up to here, of which nothing is reported again.
    fn reported(&mut self) -> ImportReport {
        let source = self.report.source.clone();
        let next = ImportReport {
            source,
            ..ImportReport::default()
        };
        let mut report = std::mem::replace(&mut self.report, next);
        report.unknown_types = std::mem::take(&mut self.unknown).list();
        report.skipped_types = std::mem::take(&mut self.skipped).list();
        let remarks = std::mem::take(&mut self.remarks);
        report.notes = remarks.sentences(|_| true);
        report.left_out = remarks.sentences(Remark::is_left_out);
        std::mem::take(&mut self.fields).report(&mut report);
        report
    }

    /// The names of the sessions, in an order that does not depend on the process.
    fn session_names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.sessions.keys().cloned().collect();
        names.sort();
        names
    }

    /// A session by its name.
    pub(super) fn session(&mut self, name: &str) -> &mut Session {
        self.sessions
            .entry(name.to_owned())
            .or_insert_with(|| Session::new(self.ids, name))
    }
}
