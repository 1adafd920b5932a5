//! Intents that agents write to `intents/`, as they come: each file by itself, with the rules of
//! an import.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use annals::Annals;
use annals::domain::{ActorKind, ActorRef, IntentId};

use super::{Import, Shown, Trusted};
use crate::forge::catch_up::IMPORTER;
use crate::forge::export::{is_exported, mark};
use crate::forge::folder::{Folder, ForgeFolderError, Named, Part, Place, unreadable};
use crate::forge::source::Source;
use crate::report::{ImportReport, NAMED};
use crate::secrets::{Redactions, Secrets};

/// Files that are taken together: a report names each of so many.
const TOGETHER: usize = NAMED / 2;

/// A file of an intent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IntentEntry(pub(in crate::forge) Named);

impl IntentEntry {
    /// The name of its intent.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub(in crate::forge) fn place(&self) -> &Place {
        &self.0.place
    }
}

/// What became of an intent's file, which stays in any case.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum IntentBecame {
    /// It is in the log now.
    Recorded {
        /// The intent.
        intent: IntentId,
        /// How many events it took.
        events: u64,
        /// What should be known of it, such as a parent that is not there yet.
        remarks: Vec<String>,
    },
    /// It was in the log, and goes on as its file says.
    BroughtOn {
        /// The intent.
        intent: IntentId,
        /// How many events it took.
        events: u64,
        /// What its file says that does not count.
        remarks: Vec<String>,
    },
    /// The log has all that it says.
    Known {
        /// The intent.
        intent: IntentId,
    },
    /// It is in the log, and left there as it is.
    Left {
        /// Why.
        reason: String,
    },
    /// An export of this log wrote it.
    Exported,
    /// It cannot be read or taken.
    Broken {
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// The file was removed meanwhile.
    Gone,
}

impl fmt::Display for IntentBecame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            IntentBecame::Recorded {
                intent, remarks, ..
            } => {
                write!(f, "it is recorded as the intent {intent}")?;
                remarks.iter().try_for_each(|it| write!(f, "; {it}"))
            }
            IntentBecame::BroughtOn {
                intent, remarks, ..
            } => {
                write!(f, "the intent {intent} goes on as it says")?;
                remarks.iter().try_for_each(|it| write!(f, "; {it}"))
            }
            IntentBecame::Known { intent } => write!(f, "the intent {intent} has all that it says"),
            IntentBecame::Left { reason } | IntentBecame::Broken { reason, .. } => {
                f.write_str(reason)
            }
            IntentBecame::Exported => f.write_str("an export of this log wrote it"),
            IntentBecame::Gone => f.write_str("the file was removed meanwhile"),
        }
    }
}

/// What became of several files.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct IntentsTaken {
    /// Each file, in the order in which they were given.
    pub files: Vec<(PathBuf, IntentBecame)>,
    /// Secrets that were taken out.
    pub redacted: Redactions,
}

/// Records what files of intents say, by the rules of an import: a parent, and what another one
/// depends on, before that one, regardless of the order in which they are given. One bad file does not hold
/// the others. A file that was taken before adds nothing, however often it is taken again, and
/// what an export of this log wrote is left out. Tasks and reviews are for an import.
///
/// # Errors
/// [`ForgeFolderError`]; what was recorded before stays.
pub async fn take_intents(
    annals: &Annals,
    folder: &Folder,
    files: &[IntentEntry],
    secrets: &Secrets,
) -> Result<IntentsTaken, ForgeFolderError> {
    let mut taken = IntentsTaken::default();
    let batch = Batch::of(files, secrets);
    for files in batch.files.chunks(TOGETHER) {
        take(annals, folder, files, &batch.named, secrets, &mut taken).await?;
    }
    let paths = files.iter().map(IntentEntry::path);
    let places: HashMap<&Path, usize> = paths.zip(0..).collect();
    taken
        .files
        .sort_by_key(|(path, _)| places.get(path.as_path()).copied());
    Ok(taken)
}

/// Files that are taken one part after the other.
struct Batch<'f> {
    /// Those that others name as their parents, or as what they depend on, come before them.
    files: Vec<&'f IntentEntry>,
    /// The parents that are named. None of them is done by itself: its parts may come later.
    named: HashSet<String>,
}

impl<'f> Batch<'f> {
    fn of(files: &'f [IntentEntry], secrets: &Secrets) -> Batch<'f> {
        let names = files.iter().map(|file| secrets.redact(file.name()));
        let names: Vec<String> = names.map(|name| name.content.into_owned()).collect();
        let places: HashMap<&str, usize> = names.iter().map(String::as_str).zip(0..).collect();
        let (mut needs, mut named) = (Vec::with_capacity(files.len()), HashSet::new());
        for file in files {
            // One that cannot be read names nothing, and is named when it is taken.
            let mut source = Source::default();
            source.read_intents([file.0.clone()], secrets, &mut ImportReport::default());
            let mut others = Vec::new();
            for file in source.intents {
                others.extend(file.intent.depends_on);
                named.extend(file.intent.parent.clone());
                others.extend(file.intent.parent);
            }
            let others = others.iter().filter_map(|name| places.get(name.as_str()));
            needs.push(others.copied().collect::<Vec<usize>>());
        }
        let order = in_order(&needs).into_iter();
        Batch {
            files: order.filter_map(|place| files.get(place)).collect(),
            named,
        }
    }
}

/// The places of a list with those that each needs before it, otherwise in their order. What needs itself
/// in the end has no such order, and its place is arbitrary.
fn in_order(needs: &[Vec<usize>]) -> Vec<usize> {
    let (mut order, mut seen) = (Vec::with_capacity(needs.len()), HashSet::new());
    for first in 0..needs.len() {
        let mut way = Vec::new();
        if seen.insert(first) {
            way.push((first, 0));
        }
        while let Some((at, next)) = way.last_mut() {
            match needs.get(*at).and_then(|needs| needs.get(*next)) {
                Some(needed) => {
                    *next += 1;
                    if seen.insert(*needed) {
                        way.push((*needed, 0));
                    }
                }
                None => {
                    order.push(*at);
                    way.pop();
                }
            }
        }
    }
    order
}

async fn take(
    annals: &Annals,
    folder: &Folder,
    files: &[&IntentEntry],
    named: &HashSet<String>,
    secrets: &Secrets,
    taken: &mut IntentsTaken,
) -> Result<(), ForgeFolderError> {
    let mark = mark(annals);
    let (mut there, mut names) = (Vec::new(), Vec::new());
    for entry in files {
        let path = entry.path().to_owned();
        match entry.place().bytes() {
            Ok(bytes) if is_exported(&mark, &path, &String::from_utf8_lossy(&bytes)) => {
                taken.files.push((path, IntentBecame::Exported));
            }
            Ok(_) => {
                let name = secrets.redact(entry.name()).content.into_owned();
                names.push((path, name.clone()));
                there.push(Named {
                    name,
                    place: entry.place().clone(),
                });
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                taken.files.push((path, IntentBecame::Gone));
            }
            Err(error) => {
                let reason = unreadable(&path, error).to_string();
                taken
                    .files
                    .push((path, IntentBecame::Broken { line: 1, reason }));
            }
        }
    }
    let (mut report, settings) = (ImportReport::default(), annals.inbox().settings().await?);
    let mut source = Source::default();
    source.read_intents(there, secrets, &mut report);
    let tasks = folder.part(Part::Tasks)?;
    // What has tasks is not done without them, and a whole not without its parts.
    let has_parts = |name: &&String| {
        let file = |tasks| Place::new(tasks, format!("{name}.yaml").as_ref());
        let has_tasks = |tasks| matches!(file(tasks).kind(), Ok(Some(_)));
        named.contains(*name) || tasks.as_ref().is_some_and(has_tasks)
    };
    let own = names.iter().map(|(_, name)| name);
    source.bad_tasks = own.filter(has_parts).cloned().collect();
    let actor = ActorRef::new(ActorKind::System, IMPORTER);
    let shown = Shown {
        progress: &mut |_| {},
        done: 0,
        total: source.len(),
    };
    let trusted = match annals.is_imported_by_another() {
        true => Trusted::Nobody,
        false => Trusted::Persons,
    };
    let mut import = Import::new(annals, &actor, &settings, report, shown, trusted).await?;
    let held = import.hold_back(&mut source, &settings, trusted).await?;
    source.let_go(&settings);
    import.intents(&source).await?;
    import.families().await?;
    for file in &source.intents {
        if let Some(id) = import.known.get(&file.file.name).map(|known| known.id) {
            import.name_held(file, id, &held);
        }
    }
    let became = names.into_iter().map(|(path, name)| {
        let became = import.of_file(&path, &name);
        (path, became)
    });
    taken.files.extend(became.collect::<Vec<_>>());
    taken.redacted.merge(import.report.redacted);
    Ok(())
}

impl Import<'_> {
    /// What became of a file.
    fn of_file(&self, path: &Path, name: &str) -> IntentBecame {
        let file = path.display().to_string();
        if let Some(broken) = self.report.broken.iter().find(|it| it.file == file) {
            return IntentBecame::Broken {
                line: broken.line,
                reason: broken.reason.clone(),
            };
        }
        let intent = self.known.get(name).map(|known| known.id);
        let intent = intent.unwrap_or_else(|| self.ids.intent(name));
        let of_file = self.report.violations.iter().filter(|it| it.file == file);
        let remarks: Vec<String> = of_file.flat_map(|it| it.violations.clone()).collect();
        match self.became.get(name) {
            Some(recorded) if recorded.is_new => IntentBecame::Recorded {
                intent,
                events: recorded.events,
                remarks,
            },
            Some(recorded) => IntentBecame::BroughtOn {
                intent,
                events: recorded.events,
                remarks,
            },
            None => {
                let left = self.report.passed_over.iter().find(|it| it.file == file);
                let reasons = left.map(|left| left.reason.clone()).into_iter();
                let reasons: Vec<String> = reasons.chain(remarks).collect();
                match reasons.is_empty() {
                    true => IntentBecame::Known { intent },
                    false => IntentBecame::Left {
                        reason: reasons.join("; "),
                    },
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::in_order;

    #[test]
    fn what_is_needed_comes_before_what_needs_it() {
        let order = |needs: &[&[usize]]| {
            let needs: Vec<Vec<usize>> = needs.iter().map(|it| it.to_vec()).collect();
            in_order(&needs)
        };
        assert_eq!(order(&[&[], &[], &[]]), [0, 1, 2]);
        assert_eq!(order(&[&[2], &[], &[1]]), [1, 2, 0]);
        assert_eq!(order(&[&[1, 2], &[3], &[3], &[]]), [3, 1, 2, 0]);
        // In a circle each comes once.
        assert_eq!(order(&[&[1], &[2], &[0], &[3]]), [2, 1, 0, 3]);
        // A long line needs no deep stack.
        let mut line: Vec<Vec<usize>> = (1..100_000).map(|next| vec![next]).collect();
        line.push(Vec::new());
        assert!(in_order(&line).into_iter().eq((0..100_000).rev()));
    }
}
