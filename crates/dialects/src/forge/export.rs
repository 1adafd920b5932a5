//! `export forge`: a `.forge/` folder of what a log knows.
//!
//! A file that an export wrote begins with a line that says of which log it is, and
//! has the digest of its name and the rest. Only a file that still has what the line says is replaced or
//! removed; a file that an export did not write, or that was changed since, stays.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use annals::Annals;
use annals::domain::{IntegrityHash, IntentId, Kind};
use annals::event_log::Position;
use annals::projections::ListQuery;
use annals_files::{Dir, Kind as FileKind};
use serde::Serialize;
use uuid::Uuid;

use super::folder::{Folder, ForgeFolderError, Named, Part, Place, files, unreadable};
use super::logged::{self, Logged};
use super::review::ForgeReview;
use super::task::ForgeTask;
use super::text::{MOST_BYTES, decode};
use super::{difference, intent, render, review, task};
use crate::others::Others;
use crate::report::{NAMED, Progress, counted};

/// What the first line of a file begins with that an export wrote.
const MARK: &str = "# annals";

/// Intents that are listed at once.
const PAGE: usize = 500;

/// The most bytes of a file's name, without its ending: file systems allow 255.
const LONGEST_NAME: usize = 250;

/// Which intents to export.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ForgeSelection {
    /// These; if there are none, all that were ever on Forge's axis.
    pub intents: Vec<IntentId>,
    /// Those that never were, too.
    pub all: bool,
}

/// A file that was left as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftAlone {
    /// The file.
    pub file: String,
    /// Why.
    pub reason: String,
}

/// What an export did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ForgeExportReport {
    /// The folder.
    pub folder: String,
    /// Intents of which there are files now.
    pub intents: u64,
    /// Tasks in them.
    pub tasks: u64,
    /// Reviews.
    pub reviews: u64,
    /// Files that were written.
    pub written: u64,
    /// Files that had said the same before.
    pub unchanged: u64,
    /// Files of earlier exports whose objects are not exported any more. They were
    /// removed.
    pub removed_count: u64,
    /// The first 100 of them.
    pub removed: Vec<String>,
    /// Files that no export of this log wrote, or that were changed since, and that
    /// say something else.
    pub left_alone_count: u64,
    /// The first 100 of them.
    pub left_alone: Vec<LeftAlone>,
    /// What a reader of the export should know, one sentence each.
    pub notes: Vec<String>,
}

/// Writes a `.forge/` folder: a file for each intent, one for its tasks, and one
/// for the last review of each task. `progress` counts intents.
///
/// Files that an export did not write, or that were changed since, are never
/// touched: they are named where they say something else. Files of earlier exports
/// whose objects are not exported any more are removed, where everything is exported.
///
/// # Errors
/// [`ForgeFolderError`]; each file is either as it was or whole. It writes the files
/// where it is called, which blocks for as long as that takes.
pub async fn export(
    annals: &Annals,
    path: &Path,
    selection: &ForgeSelection,
    progress: &mut dyn FnMut(Progress),
) -> Result<ForgeExportReport, ForgeFolderError> {
    let folder = Folder::at(path);
    let parts = Parts {
        intents: folder.make_part(Part::Intents)?,
        tasks: folder.make_part(Part::Tasks)?,
        reviews: folder.make_part(Part::Reviews)?,
    };
    let mut export = Export {
        report: ForgeExportReport {
            folder: folder.root().display().to_string(),
            ..ForgeExportReport::default()
        },
        mark: mark(annals),
        is_whole: selection.intents.is_empty(),
        written: HashSet::new(),
        names: HashMap::new(),
        used: HashSet::new(),
        reviews: HashMap::new(),
        more_reviews: 0,
        incomplete: 0,
        by_id: 0,
        parts,
    };
    if selection.intents.is_empty() {
        export.all(annals, selection.all, progress).await?;
    } else {
        for id in &selection.intents {
            export.intent(annals, *id).await?;
        }
    }
    export.write_reviews()?;
    if selection.intents.is_empty() {
        export.sweep()?;
    }
    Ok(export.finish())
}

fn unwritable(path: &Path, source: io::Error) -> ForgeFolderError {
    ForgeFolderError::Unwritable {
        path: path.to_owned(),
        source,
    }
}

/// A task, until it is known which tasks have one name.
struct Reviewed {
    id: String,
    intent: String,
    /// What was said last.
    review: Option<ForgeReview>,
}

/// The open folders that are written to.
struct Parts {
    intents: Arc<Dir>,
    tasks: Arc<Dir>,
    reviews: Arc<Dir>,
}

struct Export {
    parts: Parts,
    report: ForgeExportReport,
    /// What the first lines of this log's files begin with.
    mark: String,
    /// Whether everything is exported.
    is_whole: bool,
    /// The files of the objects that are exported.
    written: HashSet<PathBuf>,
    /// What intents' files are called.
    names: HashMap<IntentId, String>,
    used: HashSet<String>,
    /// The tasks by their names.
    reviews: HashMap<String, Vec<Reviewed>>,
    /// Reviews that another one of the same task followed.
    more_reviews: u64,
    /// Intents some of whose texts were removed.
    incomplete: u64,
    /// Intents whose files could not have their names.
    by_id: u64,
}

impl Export {
    async fn all(
        &mut self,
        annals: &Annals,
        all: bool,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), ForgeFolderError> {
        let mut after: Option<Position> = None;
        let total = annals.position().0;
        loop {
            let query = ListQuery::new(Kind::Intent)
                .with_oldest_first(true)
                .with_after(after)
                .with_limit(PAGE);
            let listed = annals.index().list(&query).await?;
            for row in &listed.rows {
                if all || row.approval.is_some() {
                    self.intent(annals, IntentId(row.id)).await?;
                }
                progress(Progress {
                    done: row.first_position.0,
                    total,
                });
            }
            match listed.next {
                Some(next) => after = Some(next),
                None => return Ok(()),
            }
        }
    }

    async fn intent(&mut self, annals: &Annals, id: IntentId) -> Result<(), ForgeFolderError> {
        let mut logged = logged::intent(annals, id).await?;
        let name = self.name(&logged.name, id);
        for logged in &mut logged.tasks {
            logged.task.intent_id.clone_from(&name);
        }
        if let Some(parent) = logged.named_parent {
            logged.intent.parent = Some(self.name_of(annals, parent).await?);
        }
        for (place, other) in logged.named_dependencies.iter().enumerate() {
            let name = self.name_of(annals, *other).await?;
            if let Some(named) = logged.intent.depends_on.get_mut(place) {
                *named = name;
            }
        }
        give_names(&mut logged);
        self.incomplete += u64::from(logged.incomplete);
        let file = file_in(&self.parts.intents, &name);
        let text = render::intent(&logged.intent);
        let same = |text: &str| {
            let there = intent::read(text);
            there.is_ok_and(|it| difference::of_intents(&it, &logged.intent).is_empty())
        };
        self.write(&file, &text, &same)?;
        self.report.intents += 1;
        if !logged.tasks.is_empty() {
            self.tasks(&name, &logged)?;
        }
        Ok(())
    }

    fn tasks(&mut self, name: &str, logged: &Logged) -> Result<(), ForgeFolderError> {
        let tasks: Vec<&ForgeTask> = logged.tasks.iter().map(|it| &it.task).collect();
        let file = file_in(&self.parts.tasks, name);
        let same = |text: &str| {
            let there = task::read(text, name);
            there.is_ok_and(|it| {
                let pairs = it.tasks.iter().zip(&tasks);
                it.errors.is_empty()
                    && it.tasks.len() == tasks.len()
                    && pairs.clone().all(|(a, b)| a.task.id == b.id)
                    && pairs
                        .clone()
                        .all(|(a, b)| difference::of_tasks(&a.task, b).is_empty())
            })
        };
        self.write(&file, &render::tasks(tasks.iter().copied()), &same)?;
        self.report.tasks += tasks.len() as u64;
        for logged in &logged.tasks {
            self.more_reviews += (logged.reviews.len() as u64).saturating_sub(1);
            let named = self.reviews.entry(logged.task.id.clone()).or_default();
            named.push(Reviewed {
                id: logged.id.to_string(),
                intent: name.to_owned(),
                review: logged.reviews.last().cloned(),
            });
        }
        Ok(())
    }

    /// The name of an intent's file: its own, unless that cannot be a file name or
    /// another intent has it.
    fn name(&mut self, name: &str, id: IntentId) -> String {
        if let Some(name) = self.names.get(&id) {
            return name.clone();
        }
        let name = match is_file_name(name) && !self.used.contains(name) {
            true => name.to_owned(),
            false => {
                self.by_id += u64::from(name != id.to_string());
                id.to_string()
            }
        };
        self.used.insert(name.clone());
        self.names.insert(id, name.clone());
        name
    }

    /// The name of the file of an intent that another one names. One that is not
    /// there is called by its id.
    async fn name_of(&mut self, annals: &Annals, id: IntentId) -> Result<String, ForgeFolderError> {
        if let Some(name) = self.names.get(&id) {
            return Ok(name.clone());
        }
        match annals.index().place(id).await? {
            Some((Kind::Intent, _)) => {
                let name = logged::name(annals, id).await?;
                Ok(self.name(&name, id))
            }
            Some(_) | None => Ok(id.to_string()),
        }
    }

    fn write_reviews(&mut self) -> Result<(), ForgeFolderError> {
        let mut reviews: Vec<_> = std::mem::take(&mut self.reviews).into_iter().collect();
        reviews.sort_by(|(a, _), (b, _)| a.cmp(b));
        for (name, of_tasks) in reviews {
            // Where several intents have a task of one name, or may have, their names
            // tell which; and where even these do not, its id.
            let is_telling = self.is_whole && of_tasks.len() == 1;
            for Reviewed { id, intent, review } in of_tasks {
                let Some(mut review) = review else {
                    continue;
                };
                review.task_id = match is_telling {
                    true => name.clone(),
                    false => format!("{intent}.{name}"),
                };
                let file = |stem: &str| file_in(&self.parts.reviews, stem);
                let is_taken = self.written.contains(file(&review.task_id).path());
                if is_taken || !is_file_name(&review.task_id) {
                    review.task_id = id;
                }
                let file = file(&review.task_id);
                let same = |text: &str| {
                    let there = review::read(text, &review.task_id);
                    there.is_ok_and(|it| difference::same_review(&it, &review))
                };
                self.write(&file, &render::review(&review), &same)?;
                self.report.reviews += 1;
            }
        }
        Ok(())
    }

    /// Writes a file, if it is not there or an export wrote it.
    fn write(
        &mut self,
        file: &Place,
        text: &str,
        same: &dyn Fn(&str) -> bool,
    ) -> Result<(), ForgeFolderError> {
        let path = file.path();
        self.written.insert(path.to_owned());
        let marked = self.marked(path, text);
        if marked.len() > MOST_BYTES {
            self.leave(path, "its text is larger than 4 MiB, which nothing reads");
            return Ok(());
        }
        match there(file)? {
            There::Nothing => {}
            There::Text(old) if old == marked => {
                self.report.unchanged += 1;
                return Ok(());
            }
            There::Text(old) if self.is_ours(path, &old) => {}
            There::Text(old) if decode(old.as_bytes()).is_ok_and(same) => {
                self.report.unchanged += 1;
                return Ok(());
            }
            There::Text(_) => {
                self.leave(
                    path,
                    "no export of this log wrote it, or it was changed since, and it says \
                     something else",
                );
                return Ok(());
            }
            There::Else(reason) => {
                self.leave(path, reason);
                return Ok(());
            }
        }
        write_whole(file, &marked).map_err(|source| unwritable(path, source))?;
        self.report.written += 1;
        Ok(())
    }

    /// A text behind the line that says who wrote it.
    fn marked(&self, path: &Path, text: &str) -> String {
        format!("{}{}\n{text}", self.mark, digest(path, text))
    }

    /// Whether an export of this log wrote a text there, and it was not changed since.
    fn is_ours(&self, path: &Path, text: &str) -> bool {
        is_exported(&self.mark, path, text)
    }

    fn leave(&mut self, path: &Path, reason: &str) {
        self.report.left_alone_count += 1;
        if self.report.left_alone.len() < NAMED {
            self.report.left_alone.push(LeftAlone {
                file: path.display().to_string(),
                reason: reason.to_owned(),
            });
        }
    }

    /// Removes the files of earlier exports whose objects are not exported any more.
    fn sweep(&mut self) -> Result<(), ForgeFolderError> {
        let Parts {
            intents,
            tasks,
            reviews,
        } = &self.parts;
        for part in [intents, tasks, reviews] {
            for Named { place, .. } in files(part, ".yaml", &mut Others::default())? {
                let path = place.path();
                if self.written.contains(path) {
                    continue;
                }
                if let There::Text(text) = there(&place)?
                    && self.is_ours(path, &text)
                {
                    place.remove().map_err(|source| unwritable(path, source))?;
                    self.report.removed_count += 1;
                    if self.report.removed.len() < NAMED {
                        let file = path.display().to_string();
                        self.report.removed.push(file);
                    }
                }
            }
        }
        Ok(())
    }

    fn finish(mut self) -> ForgeExportReport {
        let notes = &mut self.report.notes;
        if self.more_reviews > 0 {
            notes.push(format!(
                "a folder has one review of a task: {} that another one followed stayed in the log",
                self.more_reviews
            ));
        }
        if self.by_id > 0 {
            notes.push(format!(
                "{} by their ids, since their names are taken or cannot be file names",
                counted(self.by_id, "intent is called", "intents are called")
            ));
        }
        if self.incomplete > 0 {
            notes.push(format!(
                "{} texts that were removed",
                counted(self.incomplete, "intent lacks", "intents lack")
            ));
        }
        self.report
    }
}

/// Gives tasks of one intent different names: one whose name is another's, too,
/// is named by its id.
fn give_names(logged: &mut Logged) {
    let mut used = HashSet::new();
    for LoggedIds { id, task } in logged.tasks.iter_mut().map(LoggedIds::of) {
        if !used.insert(task.id.clone()) {
            task.id = id;
        }
    }
}

/// A task with its id, as a text.
struct LoggedIds<'a> {
    id: String,
    task: &'a mut ForgeTask,
}

impl LoggedIds<'_> {
    fn of(logged: &mut logged::LoggedTask) -> LoggedIds<'_> {
        LoggedIds {
            id: logged.id.to_string(),
            task: &mut logged.task,
        }
    }
}

/// Whether a file of this name, with an ending, can be and stays in its folder.
/// What the first lines of this log's files begin with.
pub(super) fn mark(annals: &Annals) -> String {
    format!("{MARK} {} sha256:", annals.log().log_id())
}

/// Whether an export with this mark wrote a text there, and it was not changed since.
pub(super) fn is_exported(mark: &str, path: &Path, text: &str) -> bool {
    let Some((first, rest)) = text.split_once('\n') else {
        return false;
    };
    first.strip_prefix(mark) == Some(digest(path, rest).as_str())
}

fn is_file_name(name: &str) -> bool {
    let is_inside = Path::new(name).file_name() == Some(OsStr::new(name));
    is_inside && name.len() <= LONGEST_NAME && !name.contains('\0')
}

/// The digest of a file's name and its text: a copy under another name does not have it.
fn digest(path: &Path, text: &str) -> String {
    let name = path.file_name().unwrap_or_default();
    let named = [name.as_encoded_bytes(), b"\n", text.as_bytes()].concat();
    IntegrityHash::of(&named).to_string()
}

/// What is at a path.
enum There {
    Nothing,
    Text(String),
    Else(&'static str),
}

fn there(file: &Place) -> Result<There, ForgeFolderError> {
    let failed = |error| unreadable(file.path(), error);
    match file.kind().map_err(failed)? {
        None => return Ok(There::Nothing),
        Some(FileKind::Link) => return Ok(There::Else("it is a link")),
        Some(FileKind::Dir | FileKind::Other) => return Ok(There::Else("it is not a file")),
        Some(FileKind::File) => {}
    }
    let bytes = file.bytes().map_err(failed)?;
    Ok(match String::from_utf8(bytes) {
        Ok(text) => There::Text(text),
        Err(_) => There::Else("no export of this log wrote it, and it is not UTF-8"),
    })
}

/// Writes a file so that it is either as it was or whole, also after a crash.
fn write_whole(file: &Place, text: &str) -> io::Result<()> {
    let temporary = file.beside(format!(".annals-{}", Uuid::new_v4()).as_ref());
    let written = write_and_sync(&temporary, text).and_then(|()| temporary.rename(file));
    if written.is_err() {
        // The temporary file is not to stay; the first error counts.
        let _ = temporary.remove();
    }
    written
}

/// The file with this name and the ending.
fn file_in(part: &Arc<Dir>, name: &str) -> Place {
    Place::new(part, format!("{name}.yaml").as_ref())
}

fn write_and_sync(place: &Place, text: &str) -> io::Result<()> {
    let mut file = place.create()?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}
