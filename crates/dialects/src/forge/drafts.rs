//! Drafts: what people want becomes a proposal, and the draft's file goes once that
//! is on disk (docs/spec/forge.md).
//!
//! A draft's name and its text are the key of what it proposes. So a draft whose
//! file is still there after a crash is known again, and proposed once.

use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use annals::domain::intent::{Source, SubmitIntent};
use annals::domain::{ActorRef, IntegrityHash, IntentId};
use annals::{Annals, ExecuteError, Request};
use derive_new::new;
use derive_setters::Setters;
use serde_json::json;
use uuid::Uuid;

use super::draft::{self, ForgeDraft};
use super::error::ForgeError;
use super::facts;
use super::folder::{Folder, ForgeFolderError, Part, Place, files, unreadable};
use super::ids::Ids;
use super::names::{is_alias, known_as, reads_like, reserve};
use super::remains::Remains;
use super::sieve::Sieve;
use super::text::decode;
use crate::others::Others;
use crate::report::counted;
use crate::secrets::{Redactions, Secrets};

/// What a draft's file ends with.
const ENDING: &str = ".md";

/// What the name of a draft ends with that is on disk and about to go. It begins
/// with a dot.
const TAKEN: &str = ".md.taken";

/// The most bytes of a file's name.
const LONGEST: usize = 255;

/// A draft's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DraftFile {
    /// Its name without the ending.
    pub name: String,
    /// Where it is.
    pub(super) place: Place,
    /// Whether it was about to be removed when an earlier import was stopped.
    is_leftover: bool,
}

impl DraftFile {
    /// Where it is.
    pub fn path(&self) -> &Path {
        self.place.path()
    }
}

/// How to take drafts.
#[derive(Debug, Clone, PartialEq, new, Setters)]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct DraftOptions {
    /// Whose they are.
    #[setters(skip)]
    pub author: ActorRef,
    /// Whether they stay where they are.
    #[new(default)]
    pub keep: bool,
    /// What is taken out of them before they are proposed.
    #[new(default)]
    pub secrets: Secrets,
}

/// What became of a draft.
#[derive(Debug)]
#[non_exhaustive]
pub enum Drafted {
    /// It is an intent now, and its file is gone, unless it was to stay.
    Proposed {
        /// The intent.
        intent: IntentId,
        /// Its alias, if it has one.
        alias: Option<String>,
        /// How many events it took.
        events: u64,
    },
    /// It was an intent already, with the same text: an earlier import was stopped before
    /// it removed the file, or the file was to stay.
    Known {
        /// The intent.
        intent: IntentId,
    },
    /// Another object has its name. The file stays.
    Exists {
        /// Its id.
        object: Uuid,
    },
    /// It is an intent now, and its file was changed meanwhile. The file stays.
    Changed {
        /// The intent.
        intent: IntentId,
    },
    /// It is an intent now, and its file cannot go. It stays.
    Stays {
        /// The intent.
        intent: IntentId,
        /// How many events it took; none, if it was an intent before.
        events: u64,
        /// Why it cannot go.
        reason: String,
    },
    /// It is an intent now, without its secrets. Its file stays: what was taken out
    /// and is not a secret after all is nowhere else.
    Redacted {
        /// The intent.
        intent: IntentId,
        /// How many events it took; none, if it was an intent before.
        events: u64,
        /// How many secrets were taken out.
        secrets: u64,
    },
    /// It cannot be read, or proposes nothing that is accepted. The file stays.
    Broken {
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// The file was removed meanwhile.
    Gone,
}

impl fmt::Display for Drafted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Drafted::Proposed { intent, alias, .. } => match alias {
                Some(alias) => write!(f, "it is the intent {alias} now ({intent})"),
                None => write!(f, "it is the intent {intent} now"),
            },
            Drafted::Known { intent } => write!(f, "it is the intent {intent} already"),
            Drafted::Exists { object } => write!(
                f,
                "another object in the log has its name already ({object}); rename the draft"
            ),
            Drafted::Changed { intent } => write!(
                f,
                "it is the intent {intent} now, and the file was changed meanwhile; what it says \
                 now is not in the log: rename it to propose that too, or delete it"
            ),
            Drafted::Stays { intent, reason, .. } => write!(
                f,
                "it is the intent {intent} now, and its file stays: {reason}"
            ),
            Drafted::Redacted {
                intent, secrets, ..
            } => write!(
                f,
                "it is the intent {intent} now, without {}; its file stays, since the log has \
                 not all of it: delete it",
                counted(*secrets, "secret", "secrets")
            ),
            Drafted::Broken { reason, .. } => f.write_str(reason),
            Drafted::Gone => f.write_str("the file was removed meanwhile"),
        }
    }
}

/// The drafts of a folder, those first that were about to be removed. Hidden files and
/// links are not drafts.
pub(super) fn drafts(
    folder: &Folder,
    others: &mut Others,
) -> Result<Vec<DraftFile>, ForgeFolderError> {
    let Some(folder) = folder.part(Part::Drafts)? else {
        return Ok(Vec::new());
    };
    let mut leftovers = Vec::new();
    for file in files(&folder, TAKEN, &mut Others::default())? {
        if let Some(name) = file.name.strip_prefix('.') {
            leftovers.push(DraftFile {
                name: name.to_owned(),
                place: file.place,
                is_leftover: true,
            });
        }
    }
    let mut skipped = Others::default();
    let found = files(&folder, ENDING, &mut skipped)?;
    others.add_all(skipped, |path| !is_hidden(path));
    let found = found
        .into_iter()
        .filter(|file| !is_hidden(file.place.path()));
    leftovers.extend(found.map(|file| DraftFile {
        name: file.name,
        place: file.place,
        is_leftover: false,
    }));
    Ok(leftovers)
}

/// Editors keep what they are about to save in hidden files.
pub(super) fn is_hidden(path: &Path) -> bool {
    let name = path.file_name().and_then(OsStr::to_str);
    name.is_some_and(|name| name.starts_with('.'))
}

/// Proposes what a draft says without its secrets, which are counted in `redacted`,
/// and takes its file away once that is on disk.
///
/// # Errors
/// [`ForgeFolderError`], where nothing can be said of the draft: its file cannot be
/// read, or the log takes nothing.
pub async fn take_draft(
    annals: &Annals,
    file: &DraftFile,
    options: &DraftOptions,
    redacted: &mut Redactions,
) -> Result<Drafted, ForgeFolderError> {
    let bytes = match file.place.bytes() {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Drafted::Gone),
        Err(error) => return Err(unreadable(file.path(), error)),
    };
    let mut sieve = Sieve::new(&options.secrets);
    let name = sieve.text(&file.name, 1);
    let read = decode(&bytes).and_then(|text| draft::read_through(text, &mut sieve));
    redacted.add_hits(&file.path().display().to_string(), 1, &sieve.hits);
    let draft = match read {
        Ok(draft) => draft,
        Err(error) => return Ok(broken(&error)),
    };
    let digest = match sieve.hits.is_empty() {
        true => IntegrityHash::of(&bytes),
        false => digest_of(&draft),
    };
    let drafted = propose(annals, &name, &draft, digest, options).await?;
    if let Drafted::Known { intent } = drafted
        && is_newer(annals, file, intent).await?
    {
        // The same text was written again later, perhaps on purpose.
        return Ok(Drafted::Exists { object: intent.0 });
    }
    let intent = match drafted {
        Drafted::Proposed { intent, .. } | Drafted::Known { intent } => intent,
        other => return Ok(other),
    };
    if options.keep {
        return Ok(drafted);
    }
    let events = match drafted {
        Drafted::Proposed { events, .. } => events,
        _ => 0,
    };
    if !sieve.hits.is_empty() {
        let secrets = sieve.hits.len() as u64;
        return Ok(Drafted::Redacted {
            intent,
            events,
            secrets,
        });
    }
    let stays = |reason| Drafted::Stays {
        intent,
        events,
        reason,
    };
    Ok(match take_away(file, &bytes) {
        Ok(TakenAway::Gone) => drafted,
        Ok(TakenAway::Changed) => Drafted::Changed { intent },
        Ok(TakenAway::Behind(behind)) => stays(format!(
            "{} is in the way; look at that file and remove it",
            behind.display()
        )),
        Err(error) => stays(error.to_string()),
    })
}

/// Whether a draft's file was written after its intent was recorded, so that it is
/// not what a crash left behind.
async fn is_newer(
    annals: &Annals,
    file: &DraftFile,
    intent: IntentId,
) -> Result<bool, ForgeFolderError> {
    let written = file.place.stamp().and_then(|(_, written)| written);
    let history = annals.history(intent).await?;
    let (Some(written), Some(first)) = (written, history.first()) else {
        return Ok(false);
    };
    Ok(!file.is_leftover && SystemTime::from(first.recorded_at.to_utc()) < written)
}

fn broken(error: &ForgeError) -> Drafted {
    Drafted::Broken {
        line: error.line().unwrap_or(1),
        reason: error.to_string(),
    }
}

/// The digest of what a draft says without its secrets: one of its file would say
/// something of them.
fn digest_of(draft: &ForgeDraft) -> IntegrityHash {
    let said = json!([
        draft.title,
        draft.body,
        draft.labels,
        draft.work_type,
        draft.risk
    ]);
    IntegrityHash::of(said.to_string().as_bytes())
}

async fn propose(
    annals: &Annals,
    name: &str,
    draft: &ForgeDraft,
    digest: IntegrityHash,
    options: &DraftOptions,
) -> Result<Drafted, ForgeFolderError> {
    let ids = Ids::of(annals).await?;
    let intent = ids.intent(name);
    let key = ids.draft(intent, &digest);
    let known = known_as(annals, &ids, name).await?;
    if let Some(other) = known.filter(|known| known.id != intent.0)
        && annals.index().place(intent).await?.is_none()
    {
        return Ok(Drafted::Exists { object: other.id });
    }
    let is_free = is_alias(name) && reads_like(annals, &ids, name, intent).await?.is_none();
    let alias = is_free.then(|| name.to_owned());
    let remains = Remains {
        name: (alias.is_none() && intent.to_string() != name).then(|| name.to_owned()),
        ..Remains::default()
    };
    let command = SubmitIntent::new(facts::prompt(&draft.title, &draft.body), Source::Human)
        .with_id(intent)
        .with_work_type(draft.work_type.clone())
        .with_risk(draft.risk)
        .with_labels(draft.labels.clone())
        .with_extra(remains.to_json());
    let mut requests = vec![Request::new(options.author.clone(), command)];
    if let Some(alias) = &alias {
        let command = reserve(intent, alias.clone());
        requests.push(Request::new(options.author.clone(), command));
    }
    match annals.execute_batch(Some(key), requests).await {
        Ok(batch) if batch.repeated => Ok(Drafted::Known { intent }),
        Ok(batch) => Ok(Drafted::Proposed {
            intent,
            alias,
            events: batch.outcomes.iter().map(|it| it.events as u64).sum(),
        }),
        // The key is made of this draft: it was proposed before, by another author, or content of
        // it was removed since.
        Err(ExecuteError::KeyReused { .. } | ExecuteError::KeyUnverifiable { .. }) => {
            Ok(Drafted::Known { intent })
        }
        Err(ExecuteError::Refused { refusal, .. }) => Ok(match known {
            Some(object) => Drafted::Exists { object: object.id },
            None => Drafted::Broken {
                line: 1,
                reason: refusal.to_string(),
            },
        }),
        Err(error @ ExecuteError::Encode(_)) => Ok(Drafted::Broken {
            line: 1,
            reason: format!("it does not fit into an event: {error}"),
        }),
        Err(error) => Err(error.into()),
    }
}

/// What became of a draft's file.
#[derive(Debug, PartialEq, Eq)]
enum TakenAway {
    Gone,
    /// It says something else by now, and is there.
    Changed,
    /// This one is in the way.
    Behind(PathBuf),
}

/// Takes a draft's file away, if it still says what was read.
///
/// The file gets another name first: a new text that is saved under the old name
/// meanwhile is not lost.
fn take_away(file: &DraftFile, read: &[u8]) -> Result<TakenAway, ForgeFolderError> {
    let unwritable = |source| ForgeFolderError::Unwritable {
        path: file.path().to_owned(),
        source,
    };
    if file.is_leftover {
        return gone(file.place.remove()).map_err(unwritable);
    }
    let aside = format!(".{}{TAKEN}", file.name);
    if aside.len() > LONGEST {
        // There is no room for another name.
        let now = file.place.bytes();
        if now.map_err(|error| unreadable(file.path(), error))? != read {
            return Ok(TakenAway::Changed);
        }
        return gone(file.place.remove()).map_err(unwritable);
    }
    let aside = file.place.beside(aside.as_ref());
    // Another one that is about to go is not to be lost.
    if aside.kind().map_err(unwritable)?.is_some() {
        return Ok(TakenAway::Behind(aside.path().to_owned()));
    }
    match file.place.rename(&aside) {
        Ok(()) => {}
        // Another process took it away first, and had its text.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(TakenAway::Gone),
        Err(error) => return Err(unwritable(error)),
    }
    let now = aside.bytes();
    let now = now.map_err(|error| unreadable(aside.path(), error))?;
    if now == read {
        return gone(aside.remove()).map_err(unwritable);
    }
    put_back(file, &aside).map_err(unwritable)?;
    Ok(TakenAway::Changed)
}

/// Puts a text back that was not read. If there is a newer one under its name, the text
/// becomes a draft of its own.
fn put_back(file: &DraftFile, aside: &Place) -> io::Result<()> {
    let others = (1..100).map(|n| format!("{} ({n}){ENDING}", file.name));
    let others = others.map(|name| file.place.beside(name.as_ref()));
    for place in std::iter::once(file.place.clone()).chain(others) {
        match aside.link(&place) {
            Ok(()) => return aside.remove(),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            // Some file systems have no links.
            Err(_) if place.kind()?.is_none() => return aside.rename(&place),
            Err(_) => {}
        }
    }
    Err(io::Error::from(io::ErrorKind::AlreadyExists))
}

fn gone(removed: io::Result<()>) -> io::Result<TakenAway> {
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(TakenAway::Gone),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs;
    use std::sync::Arc;

    use super::*;

    fn place() -> (tempfile::TempDir, DraftFile) {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a.md"), "first").unwrap();
        let folder = Arc::new(annals_files::Dir::open(dir.path()).unwrap());
        let file = DraftFile {
            name: "a".to_owned(),
            place: Place::new(&folder, "a.md".as_ref()),
            is_leftover: false,
        };
        (dir, file)
    }

    fn names(dir: &Path) -> Vec<String> {
        let entries = fs::read_dir(dir).unwrap();
        let name = |entry: fs::DirEntry| entry.file_name().into_string().unwrap();
        let mut names: Vec<String> = entries.map(|entry| name(entry.unwrap())).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_that_says_what_was_read_goes() {
        let (dir, file) = place();
        assert_eq!(take_away(&file, b"first").unwrap(), TakenAway::Gone);
        assert_eq!(names(dir.path()), Vec::<String>::new());
        // Another process may have taken it away.
        assert_eq!(take_away(&file, b"first").unwrap(), TakenAway::Gone);
    }

    #[test]
    fn a_file_that_was_changed_since_stays() {
        let (dir, file) = place();
        assert_eq!(take_away(&file, b"before").unwrap(), TakenAway::Changed);
        assert_eq!(names(dir.path()), ["a.md"]);
        assert_eq!(fs::read(file.path()).unwrap(), b"first");
    }

    #[test]
    fn a_changed_text_with_a_newer_one_under_its_name_becomes_a_draft_of_its_own() {
        let (dir, file) = place();
        let aside = dir.path().join(".a.md.taken");
        fs::write(&aside, "second").unwrap();
        put_back(&file, &file.place.beside(".a.md.taken".as_ref())).unwrap();
        assert_eq!(names(dir.path()), ["a (1).md", "a.md"]);
        assert_eq!(fs::read(dir.path().join("a (1).md")).unwrap(), b"second");
        assert_eq!(fs::read(file.path()).unwrap(), b"first");
    }

    #[test]
    fn one_that_is_about_to_go_is_not_lost_to_another() {
        let (dir, file) = place();
        let aside = dir.path().join(".a.md.taken");
        fs::write(&aside, "other").unwrap();
        let taken = take_away(&file, b"first").unwrap();
        assert_eq!(taken, TakenAway::Behind(aside.clone()));
        assert_eq!(fs::read(&aside).unwrap(), b"other");
        assert!(file.path().exists());
    }
}
