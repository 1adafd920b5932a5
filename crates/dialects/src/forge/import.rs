//! `import forge`: a `.forge/` folder, as it is.
//!
//! Intents, tasks and reviews are recorded as facts that no decider judges; drafts
//! are proposals, and are judged like all others. What is in the log already follows
//! its file, as long as only imports of folders changed it.

mod as_they_come;
mod families;
mod hold_back;
mod intents;
mod reviews;
mod rings;
mod tasks;
mod ties;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;

use annals::domain::intent::ListedType;
use annals::domain::settings::{self, Setting};
use annals::domain::{ActorKind, ActorRef, IntentId, Kind, StreamRef, TaskId};
use annals::{Annals, ExecuteError, LoadError};
use derive_new::new;
use derive_setters::Setters;

use super::catch_up::{self, IMPORTER};
use super::drafts::{DraftOptions, Drafted, drafts, take_draft};
use super::facts::Taking;
use super::folder::{Folder, ForgeFolderError};
use super::ids::Ids;
use super::logged::Logged;
use super::source::Source;
use crate::others::Others;
use crate::report::{ImportReport, NAMED, PassedOver, Progress, Violations, counted};
use crate::secrets::Secrets;

pub use as_they_come::{IntentBecame, IntentEntry, IntentsTaken, take_intents};

/// Why an object is left as it is.
const CHANGED_HERE: &str = "this log has events of its own about it";
const NO_EVENT: &str = "no import leads from one to the other";
/// Why nothing is tied to an object.
const NOT_OF_FOLDER: &str = "this log did not take it from a folder";

/// How to import a folder.
#[derive(Debug, Clone, PartialEq, new, Setters)]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct ForgeOptions {
    /// Who imports the folder: its drafts are theirs. Where that is not a person, agents' files
    /// approve nothing.
    #[setters(skip)]
    pub author: ActorRef,
    /// Whether drafts stay where they are, once they are in the log.
    #[new(default)]
    pub keep_drafts: bool,
    /// What is taken out of the files before they are recorded.
    #[new(default)]
    pub secrets: Secrets,
}

/// Imports a `.forge/` folder: intents, tasks, reviews and drafts. `progress`
/// counts files.
///
/// What an intent, a task or a review is called says which one it is. One that is
/// in the log already is brought on to what its file says now, if nothing but
/// imports ever happened to it; or else it is left as it is, and named where its
/// file says something else. One bad file, or one bad task of a file, is named by
/// file and line, and the rest is read. Drafts are proposed as a person's, and
/// their files go once that is on disk.
///
/// A status that says that an agent's intent (of a source that is not human) was let go counts where a
/// person imports; where any other actor does, it waits for one, and the report says so.
///
/// The status of an intent is computed from its tasks and children, regardless of what
/// its file says; where the two differ, the report has it.
///
/// It reads the files where it is called, which blocks for as long as that takes.
///
/// # Errors
/// [`ForgeFolderError`]; what was recorded before stays.
pub async fn import(
    annals: &Annals,
    path: &Path,
    options: &ForgeOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<ImportReport, ForgeFolderError> {
    let folder = Folder::find(path)?;
    let mut report = ImportReport {
        source: format!("forge {}", folder.root().display()),
        ..ImportReport::default()
    };
    let mut others = Others::default();
    let mut source = Source::read(&folder, &options.secrets, &mut others, &mut report);
    let settings = annals.inbox().settings().await?;
    note_types(&source, settings.unknown_type, &mut report);
    let drafts = drafts(&folder, &mut others).unwrap_or_else(|error| {
        let part = folder.drafts().display().to_string();
        report.add_broken(&part, 1, error.to_string());
        Vec::new()
    });
    others.report(&mut report);
    let actor = ActorRef::new(ActorKind::System, IMPORTER);
    let total = source.len() + drafts.len() as u64;
    let shown = Shown {
        progress,
        done: 0,
        total,
    };
    let trusted = match options.author.kind {
        ActorKind::Human => Trusted::Persons,
        _ => Trusted::Nobody,
    };
    let mut import = Import::new(annals, &actor, &settings, report, shown, trusted).await?;
    let held = match trusted {
        // Who lets an import read what they or others approved has looked at it.
        Trusted::Persons => HashMap::new(),
        Trusted::Nobody => import.hold_back(&mut source, &settings, trusted).await?,
    };
    source.let_go(&settings);
    import.intents(&source).await?;
    import.tasks(&source).await?;
    import.reviews(&source.reviews).await?;
    import.families().await?;
    import.statuses(&source.intents, &held).await?;
    let of_drafts = DraftOptions {
        author: options.author.clone(),
        keep: options.keep_drafts,
        secrets: options.secrets.clone(),
    };
    for draft in &drafts {
        let redacted = &mut import.report.redacted;
        match take_draft(annals, draft, &of_drafts, redacted).await {
            Ok(drafted) => import.drafted(draft.path(), drafted),
            Err(error) if error.is_of_file() => import.stuck(draft.path(), &error),
            Err(error) => return Err(error),
        }
    }
    Ok(import.finish().without_secrets(&options.secrets))
}

/// Names the types that are not listed: one may be a slip.
fn note_types(source: &Source, unknown: ListedType, report: &mut ImportReport) {
    let types = source.intents.iter();
    let types = types.filter_map(|file| file.intent.work_type.as_ref());
    let own = types.filter(|it| it.listed().is_none());
    let own: BTreeSet<&str> = own.map(|it| it.as_str()).collect();
    if own.is_empty() {
        return;
    }
    let mut named: Vec<&str> = own.iter().take(NAMED).copied().collect();
    if own.len() > NAMED {
        named.push("...");
    }
    report.notes.push(format!(
        "kept {} not listed: {}; they are treated as {unknown} ({})",
        counted(own.len() as u64, "type that is", "types that are"),
        named.join(", "),
        Setting::UnknownType,
    ));
}

/// An intent that a file of the folder is about.
#[derive(Debug, Clone)]
struct Known {
    id: IntentId,
    /// Whether this import recorded it.
    is_new: bool,
    /// Whether it came from a folder, so that a folder may add to it.
    is_of_folder: bool,
    /// The intent that it is a part of.
    child_of: Option<IntentId>,
    /// Its tasks by their names.
    tasks: HashMap<String, TaskId>,
}

impl Known {
    /// One that is in the log.
    fn of(id: IntentId, logged: &Logged, is_of_folder: bool) -> Known {
        let tasks = logged.tasks.iter();
        Known {
            id,
            is_new: false,
            is_of_folder,
            child_of: logged.child_of,
            tasks: tasks.map(|it| (it.task.id.clone(), it.id)).collect(),
        }
    }
}

/// What was imported, by kind.
#[derive(Debug, Default)]
struct Counts {
    intents: u64,
    tasks: u64,
    reviews: u64,
    drafts: u64,
    /// Intents that agents proposed with a risk that waits for no person.
    let_go: u64,
    /// Intents and tasks that were there and went on.
    brought_on: u64,
}

struct Shown<'a> {
    progress: &'a mut dyn FnMut(Progress),
    done: u64,
    total: u64,
}

impl Shown<'_> {
    fn file(&mut self) {
        self.done += 1;
        (self.progress)(Progress {
            done: self.done,
            total: self.total,
        });
    }
}

/// Whose files are taken at their word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trusted {
    /// Those that say that a person wrote them.
    Persons,
    /// None: the importer is not a person, and may have written any of them.
    Nobody,
}

struct Import<'a> {
    annals: &'a Annals,
    ids: Ids,
    taking: Taking<'a>,
    report: ImportReport,
    counts: Counts,
    /// By which type's flow one goes that is not listed.
    unknown_type: ListedType,
    known: HashMap<String, Known>,
    /// The names of intents that were left as they are in the log.
    left: HashSet<String>,
    /// Ids that tasks of this folder are called by and have.
    claimed: HashSet<TaskId>,
    /// What was recorded of intents, by their names.
    became: HashMap<String, Recorded>,
    shown: Shown<'a>,
    /// Whose word counts for what is settled in the log.
    trusted: Trusted,
}

/// That something was recorded of an intent.
#[derive(Debug, Clone, Copy)]
struct Recorded {
    is_new: bool,
    events: u64,
}

impl<'a> Import<'a> {
    /// An import that has not begun.
    async fn new(
        annals: &'a Annals,
        actor: &'a ActorRef,
        settings: &settings::State,
        report: ImportReport,
        shown: Shown<'a>,
        trusted: Trusted,
    ) -> Result<Import<'a>, ForgeFolderError> {
        Ok(Import {
            annals,
            ids: Ids::of(annals).await?,
            taking: Taking {
                actor,
                at: annals_event_log::now().into(),
            },
            report,
            counts: Counts::default(),
            unknown_type: settings.unknown_type,
            known: HashMap::new(),
            left: HashSet::new(),
            claimed: HashSet::new(),
            became: HashMap::new(),
            shown,
            trusted,
        })
    }

    fn broken(&mut self, path: &Path, line: u64, reason: String) {
        let file = path.display().to_string();
        self.report.add_broken(&file, line, reason);
    }

    fn unfit(&mut self, path: &Path, line: u64, error: &ExecuteError) {
        self.broken(path, line, format!("it does not fit into the log: {error}"));
    }

    fn passed_over(&mut self, path: &Path, reason: String) {
        self.report.passed_over_count += 1;
        if self.report.passed_over.len() < NAMED {
            let file = path.display().to_string();
            self.report.passed_over.push(PassedOver { file, reason });
        }
    }

    fn against(&mut self, path: &Path, line: u64, id: IntentId, violation: String) {
        self.report.add_violations(Violations {
            object_type: Kind::Intent.to_string(),
            object_id: id.0,
            file: path.display().to_string(),
            line,
            violations: vec![violation],
        });
    }

    /// Whether an object of the log came from a folder.
    async fn is_of_folder(&self, stream: StreamRef) -> Result<bool, LoadError> {
        catch_up::is_of_folder(self.annals, stream).await
    }

    fn recorded(&mut self, events: u64) {
        self.report.imported += 1;
        self.report.events_made += events;
    }

    fn drafted(&mut self, path: &Path, drafted: Drafted) {
        self.report.records_read += 1;
        self.shown.file();
        match drafted {
            Drafted::Proposed { events, .. } => {
                self.recorded(events);
                self.counts.drafts += 1;
            }
            Drafted::Known { .. } => self.report.already_there += 1,
            Drafted::Gone => {}
            Drafted::Redacted { events, .. } => {
                match events {
                    0 => self.report.already_there += 1,
                    events => {
                        self.recorded(events);
                        self.counts.drafts += 1;
                    }
                }
                self.passed_over(path, drafted.to_string());
            }
            Drafted::Exists { .. } | Drafted::Changed { .. } => {
                self.passed_over(path, drafted.to_string());
            }
            Drafted::Stays { events, .. } => {
                if events > 0 {
                    self.recorded(events);
                    self.counts.drafts += 1;
                }
                self.broken(path, 1, drafted.to_string());
            }
            Drafted::Broken { line, .. } => self.broken(path, line, drafted.to_string()),
        }
    }

    /// A draft that cannot be read or taken away. The next one may be better.
    fn stuck(&mut self, path: &Path, error: &ForgeFolderError) {
        self.report.records_read += 1;
        self.shown.file();
        self.broken(path, 1, error.to_string());
    }

    fn finish(mut self) -> ImportReport {
        let counts = [
            (self.counts.intents, "intent", "intents"),
            (self.counts.tasks, "task", "tasks"),
            (self.counts.reviews, "review", "reviews"),
            (self.counts.drafts, "draft", "drafts"),
            (self.counts.brought_on, "change", "changes"),
        ];
        let said = counts.iter().filter(|(count, _, _)| *count > 0);
        let said: Vec<String> = said
            .map(|(count, one, more)| counted(*count, one, more))
            .collect();
        if !said.is_empty() {
            let note = format!("imported {}", said.join(", "));
            self.report.notes.push(note);
        }
        if self.counts.let_go > 0 {
            let go = counted(self.counts.let_go, "intent goes on", "intents go on");
            let note = format!("{go} by the system's approval: the risk was declared");
            self.report.notes.push(note);
        }
        self.report
    }
}

fn in_log(differs: &[&str], why: &str) -> String {
    format!(
        "it is in the log already, where {} {} another value, and is left as it is there: {why}",
        differs.join(", "),
        if differs.len() == 1 { "has" } else { "have" }
    )
}
