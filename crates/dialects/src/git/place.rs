//! Where a repository is: its folders, each opened from the one before it, without following links.
//!
//! A file `.git` names a repository elsewhere: that of a linked work tree, or of a submodule. It is
//! believed only where that repository names the folder of this file, too; otherwise a file that
//! came from another person could bring any repository of this machine into the log.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use annals_files::{Dir, Kind};
use gix::bstr::ByteSlice;

use super::own_files::{self, NAME, Refusal};

/// The folders of a repository.
#[derive(Debug)]
pub(super) struct Place {
    /// Its own folder, in which `HEAD` is.
    pub(super) own: Dir,
    /// The folder with objects, references and the configuration: another one for a linked work tree.
    pub(super) common: Dir,
}

/// Why no repository was found.
#[derive(Debug)]
pub(super) enum NotFound {
    /// There is none.
    Nowhere,
    /// There is something that is not read.
    Refused(Refusal),
}

impl From<Refusal> for NotFound {
    fn from(refusal: Refusal) -> NotFound {
        NotFound::Refused(refusal)
    }
}

/// Finds the repository at a path or in the nearest folder above it, on the same file system.
pub(super) fn find(path: &Path) -> Result<Place, NotFound> {
    search(path).map(|(place, _)| place)
}

/// Finds the work tree of the repository at a path or above it: the main one of a linked work tree, the folder itself
/// of a bare repository.
pub(super) fn main_work_tree(path: &Path) -> Option<PathBuf> {
    let (place, folder) = search(path).ok()?;
    let common = place.common.path();
    if common.file_name() == Some(".git".as_ref()) {
        return common.parent().map(Path::to_owned);
    }
    let is_linked = place.own.identity().ok()? != place.common.identity().ok()?;
    Some(match is_linked {
        true => common.to_owned(),
        false => folder,
    })
}

/// The repository at a path or above it, and the folder in which it was found.
fn search(path: &Path) -> Result<(Place, PathBuf), NotFound> {
    let absolute = std::path::absolute(path).map_err(|_| NotFound::Nowhere)?;
    let mut device = None;
    for ancestor in absolute.ancestors() {
        let dir = match Dir::open(ancestor) {
            Ok(dir) => dir,
            Err(error) if device.is_none() && is_not_a_folder(&error) => {
                return Err(NotFound::Nowhere);
            }
            Err(source) if device.is_none() => return Err(unreadable(ancestor, source).into()),
            Err(_) => return Err(NotFound::Nowhere),
        };
        let identity = dir.identity();
        let (on, _) = identity.map_err(|source| unreadable(ancestor, source))?;
        if *device.get_or_insert(on) != on {
            break;
        }
        if let Some(place) = look(&dir)? {
            return Ok((place, ancestor.to_owned()));
        }
    }
    Err(NotFound::Nowhere)
}

fn is_not_a_folder(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

fn unreadable(path: &Path, source: io::Error) -> Refusal {
    Refusal::Io {
        path: path.to_owned(),
        source,
    }
}

/// The repository in a folder, or the folder itself where it is a bare one.
fn look(dir: &Dir) -> Result<Option<Place>, Refusal> {
    let path = || dir.path_of(".git".as_ref());
    match own_files::kind(dir, ".git")? {
        Some(Kind::File) => return linked(dir).map(Some),
        Some(Kind::Link) => return Err(Refusal::Link { path: path() }),
        Some(Kind::Other) => return Err(Refusal::Odd { path: path() }),
        Some(Kind::Dir) => {
            let own = own_files::folder(dir, ".git".as_ref())?;
            if let Some(place) = own.map(whole).transpose()?.flatten() {
                return Ok(Some(place));
            }
        }
        None => {}
    }
    let again = dir.again().map_err(|source| unreadable(dir.path(), source));
    whole(again?)
}

/// A folder as a repository that has all its parts in it; none where it is not one.
fn whole(own: Dir) -> Result<Option<Place>, Refusal> {
    let has = |name: &str| Ok(own_files::kind(&own, name)?.is_some());
    if !has("HEAD")? {
        return Ok(None);
    }
    if has("commondir")? {
        let path = own.path_of("commondir".as_ref());
        return Err(Refusal::Elsewhere { path });
    }
    if !(has("objects")? && (has("refs")? || has("reftable")?)) {
        return Ok(None);
    }
    let common = own.again();
    let common = common.map_err(|source| unreadable(own.path(), source))?;
    Ok(Some(Place { own, common }))
}

/// The repository that the file `.git` of a folder names, if it names that folder.
fn linked(dir: &Dir) -> Result<Place, Refusal> {
    let path = || dir.path_of(".git".as_ref());
    let text = own_files::whole(dir, ".git", NAME)?.unwrap_or_default();
    let named = text.strip_prefix(b"gitdir:").and_then(named_path);
    let named = named.ok_or_else(|| Refusal::Malformed {
        path: path(),
        expected: "\"gitdir: \" and the path of a repository",
    })?;
    let named = dir.path().join(named);
    let place = match work_tree(dir, &named) {
        Some(place) => Some(place),
        None => submodule(dir, &named),
    };
    place.ok_or_else(|| Refusal::Unconfirmed { path: path() })
}

/// The path in a file that has nothing else.
fn named_path(text: &[u8]) -> Option<&Path> {
    let text = text.trim_ascii();
    let is_path = !text.is_empty() && !text.iter().any(|byte| matches!(byte, 0 | b'\n'));
    is_path.then(|| Path::new(OsStr::from_bytes(text)))
}

/// The repository of a linked work tree: `named` is `COMMON/worktrees/NAME`, and the file `gitdir` in it
/// names the work tree. What does not fit, or cannot be read, confirms nothing.
fn work_tree(dir: &Dir, named: &Path) -> Option<Place> {
    let name = named.file_name()?;
    let above = named.parent()?;
    if above.file_name() != Some("worktrees".as_ref()) {
        return None;
    }
    let common = whole(Dir::open(above.parent()?).ok()?).ok()??.common;
    let own = common.dir("worktrees".as_ref()).ok()?.dir(name).ok()?;
    let text = |name: &str| own_files::whole(&own, name, NAME).ok()?;
    let back = text("gitdir")?;
    let back = own.path().join(named_path(&back)?);
    let is_confirmed = back.file_name() == Some(".git".as_ref())
        && is_same(dir, back.parent()?)
        && text("commondir")?.trim_ascii() == b"../..";
    is_confirmed.then_some(Place { own, common })
}

/// The repository of a submodule: it is below the folder `modules` of another one, and its configuration
/// names the folder of the submodule.
fn submodule(dir: &Dir, named: &Path) -> Option<Place> {
    let mut parts = named.components();
    let is = |part: Component<'_>, name: &str| part == Component::Normal(name.as_ref());
    let is_below = parts.any(|part| is(part, ".git")) && parts.any(|part| is(part, "modules"));
    if !is_below {
        return None;
    }
    let place = whole(Dir::open(named).ok()?).ok()??;
    // Where a work tree has settings of its own, the path is among them.
    let mut files = ["config", "config.worktree"].into_iter();
    let back = files.find_map(|name| {
        let config = own_files::configuration(&place.own, name).ok()??;
        config.string("core.worktree")
    })?;
    let back = place.own.path().join(back.to_path().ok()?);
    is_same(dir, &back).then_some(place)
}

/// Whether a path leads to a folder.
fn is_same(dir: &Dir, path: &Path) -> bool {
    let other = Dir::open(path).and_then(|other| other.identity());
    matches!((dir.identity(), other), (Ok(one), Ok(other)) if one == other)
}
