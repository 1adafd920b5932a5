//! A private folder that stands in for a repository's packs: the library that reads them opens files by
//! their paths, and here no other user decides what these lead to.
//!
//! Packs are links to files that are held open, and their indexes are copied. There are no other folders of
//! objects in it, no graph of commits, and no configuration.

use std::cell::RefCell;
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Permissions};
use std::io::{self, Read as _};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use annals_files::{Dir, Entry, Kind};
use tempfile::TempDir;

use super::own_files::{self, Refusal};

/// The folder of the packs.
const PACK: &str = "pack";

/// So many packs are linked to, each of which is a file that stays open; further ones are copied.
const LINKED: usize = 100;

/// The most packs, and files next to them.
const PACKS: usize = 10_000;

/// Bytes that are copied for packs, at most: an index has about 30 for an object.
const COPIED: u64 = 1 << 30;

/// So often packs are listed again that went while they were opened.
const LISTINGS: usize = 5;

/// A folder that was changed so recently may be changed again without another time: some file systems
/// count seconds, in twos.
const UNSETTLED: Duration = Duration::from_secs(3);

/// The objects of a repository, and the folder that stands in for them.
#[derive(Debug)]
pub(super) struct StandIn {
    folder: TempDir,
    objects: Dir,
    packs: RefCell<Packs>,
}

#[derive(Debug, Default)]
struct Packs {
    /// The names, without their endings, of those that are there.
    names: HashSet<OsString>,
    held: Vec<File>,
    copied: u64,
    /// Their folder when it was listed last, if each change since shows.
    seen: Option<Stamp>,
    /// How often it was listed.
    #[cfg(test)]
    listings: usize,
}

/// What tells two states of a folder apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    identity: (u64, u64),
    modified: SystemTime,
}

impl StandIn {
    /// Makes the folder and puts the packs in it.
    pub(super) fn of(objects: Dir) -> Result<StandIn, Refusal> {
        let folder = annals_files::in_temporary(None, |home| {
            tempfile::Builder::new()
                .prefix("annals-git-")
                .permissions(Permissions::from_mode(0o700))
                .tempdir_in(home)
        });
        let folder = folder.map_err(|error| Refusal::Private(error.into()))?;
        fs::create_dir(folder.path().join("pack")).map_err(Refusal::Private)?;
        let stand_in = StandIn {
            folder,
            objects,
            packs: RefCell::default(),
        };
        stand_in.take_packs()?;
        Ok(stand_in)
    }

    /// The folder.
    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// How many packs are there.
    pub(super) fn packs(&self) -> usize {
        self.packs.borrow().names.len()
    }

    /// Puts those packs into the folder that were not there, as another program may have packed what was
    /// loose; whether there were some. A folder that was not changed is not listed again: a repository
    /// may lack very many objects, and have very many packs.
    pub(super) fn take_packs(&self) -> Result<bool, Refusal> {
        let Some(dir) = own_files::folder(&self.objects, PACK.as_ref())? else {
            return Ok(false);
        };
        // Before it is listed: what comes meanwhile is another state.
        let stamp = self.stamp(&dir);
        let mut packs = self.packs.borrow_mut();
        if stamp.is_some() && packs.seen == stamp {
            return Ok(false);
        }
        packs.seen = None;
        let before = packs.names.len();
        for _ in 0..LISTINGS {
            let mut all_there = true;
            #[cfg(test)]
            {
                packs.listings += 1;
            }
            for name in listed(&dir, &packs.names)? {
                all_there &= packs.take(&dir, &self.folder.path().join("pack"), name)?;
            }
            if all_there {
                packs.seen = stamp;
                break;
            }
        }
        Ok(packs.names.len() > before)
    }

    /// The state of the packs' folder; none, if another change of it might not show.
    fn stamp(&self, dir: &Dir) -> Option<Stamp> {
        let modified = self.objects.modified(PACK.as_ref()).ok()??;
        let ago = SystemTime::now().duration_since(modified);
        // A time to come is another one than that of the next change, too.
        let apart = ago.unwrap_or_else(|ahead| ahead.duration());
        let identity = dir.identity().ok()?;
        (apart > UNSETTLED).then_some(Stamp { identity, modified })
    }

    /// Opens a loose object's file; none where there is none.
    pub(super) fn loose(&self, id: &gix::oid) -> Result<Option<File>, Refusal> {
        let hex = id.to_string();
        let (folder, name) = hex.split_at(2);
        match own_files::folder(&self.objects, folder.as_ref())? {
            Some(dir) => own_files::open(&dir, name.as_ref()),
            None => Ok(None),
        }
    }
}

/// The names of packs that have an index, without the ones that are known.
fn listed(dir: &Dir, known: &HashSet<OsString>) -> Result<Vec<OsString>, Refusal> {
    let entries = dir
        .entries_up_to(PACKS)
        .map_err(|source| match source.kind() {
            io::ErrorKind::FileTooLarge => Refusal::TooMany {
                path: dir.path().to_owned(),
                what: "more than 10,000 files",
            },
            _ => Refusal::Io {
                path: dir.path().to_owned(),
                source,
            },
        })?;
    let with = |ending: &str| {
        let has = |entry: &&Entry| Path::new(&entry.name).extension() == Some(OsStr::new(ending));
        let stem = |entry: &Entry| Path::new(&entry.name).file_stem().map(OsStr::to_owned);
        let found = entries.iter().filter(|entry| entry.kind != Kind::Dir);
        found.filter(has).filter_map(stem).collect::<HashSet<_>>()
    };
    let packs = with("pack");
    let indexes = with("idx").into_iter();
    // An index alone is what is left of a pack.
    let mut names: Vec<OsString> = indexes
        .filter(|name| packs.contains(name) && !known.contains(name))
        .collect();
    names.sort();
    Ok(names)
}

impl Packs {
    /// Puts a pack into a folder; whether it is still there.
    fn take(&mut self, dir: &Dir, folder: &Path, name: OsString) -> Result<bool, Refusal> {
        let file = |ending: &str| own_files::open(dir, &with_ending(&name, ending));
        let (Some(pack), Some(index)) = (file("pack")?, file("idx")?) else {
            return Ok(false);
        };
        let number = self.names.len();
        let target = |ending: &str| folder.join(format!("pack-{number}.{ending}"));
        if self.held.len() < LINKED {
            let way = way_to(&pack);
            symlink(way, target("pack")).map_err(Refusal::Private)?;
            self.held.push(pack);
        } else {
            self.copy(dir, pack, &target("pack"))?;
        }
        // An index counts where its pack is there.
        self.copy(dir, index, &target("idx"))?;
        self.names.insert(name);
        Ok(true)
    }

    fn copy(&mut self, dir: &Dir, file: File, target: &Path) -> Result<(), Refusal> {
        let left = COPIED.saturating_sub(self.copied);
        let mut made = File::create(target).map_err(Refusal::Private)?;
        let copied = io::copy(&mut file.take(left + 1), &mut made);
        let copied = copied.map_err(|source| Refusal::Io {
            path: dir.path().to_owned(),
            source,
        })?;
        if copied > left {
            return Err(Refusal::TooMany {
                path: dir.path().to_owned(),
                what: "indexes of packs, or packs beyond the first 100, of more than 1 GiB",
            });
        }
        self.copied += copied;
        Ok(())
    }
}

fn with_ending(name: &OsStr, ending: &str) -> OsString {
    let mut name = name.to_owned();
    name.push(".");
    name.push(ending);
    name
}

/// A path that leads to an open file, and to nothing else, as long as it is open.
fn way_to(file: &File) -> PathBuf {
    let folder = ["/proc/self/fd", "/dev/fd"].map(Path::new);
    let folder = folder.into_iter().find(|folder| folder.is_dir());
    let folder = folder.unwrap_or(Path::new("/dev/fd"));
    folder.join(file.as_raw_fd().to_string())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use gix::ObjectId;

    use super::*;

    #[test]
    fn an_open_file_is_reached_by_its_way_after_its_name_is_gone() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("pack");
        fs::write(&path, "one").unwrap();
        let held = File::open(&path).unwrap();
        fs::remove_file(&path).unwrap();
        fs::write(&path, "two").unwrap();
        assert_eq!(fs::read(way_to(&held)).unwrap(), b"one");
    }

    #[test]
    fn packs_are_listed_again_only_where_their_folder_changed() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("pack");
        fs::create_dir(&folder).unwrap();
        let add = |name: &str| {
            fs::write(folder.join(name).with_extension("pack"), "").unwrap();
            fs::write(folder.join(name).with_extension("idx"), "").unwrap();
        };
        let changed_ago = |seconds: u64| {
            let time = SystemTime::now() - Duration::from_secs(seconds);
            File::open(&folder).unwrap().set_modified(time).unwrap();
        };
        add("one");
        changed_ago(1_000);
        let stand_in = StandIn::of(Dir::open(home.path()).unwrap()).unwrap();
        let listings = || stand_in.packs.borrow().listings;
        assert_eq!((stand_in.packs(), listings()), (1, 1));
        for _ in 0..10_000 {
            assert!(!stand_in.take_packs().unwrap());
        }
        assert_eq!(listings(), 1, "nothing is new");
        add("two");
        assert!(stand_in.take_packs().unwrap());
        assert_eq!((stand_in.packs(), listings()), (2, 2));
        // It cannot be distinguished from a change of just now, so it is looked at again.
        assert!(!stand_in.take_packs().unwrap());
        assert_eq!(listings(), 3);
        changed_ago(500);
        for _ in 0..1_000 {
            assert!(!stand_in.take_packs().unwrap());
        }
        assert_eq!(listings(), 4);
        // A stranger may have set a time to come.
        let ahead = SystemTime::now() + Duration::from_secs(100_000);
        File::open(&folder).unwrap().set_modified(ahead).unwrap();
        for _ in 0..1_000 {
            assert!(!stand_in.take_packs().unwrap());
        }
        assert_eq!(listings(), 5);
        add("three");
        assert!(stand_in.take_packs().unwrap());
        assert_eq!(stand_in.packs(), 3);
    }

    #[test]
    fn a_stand_in_is_for_its_owner_alone_and_goes_with_its_owner() {
        let home = tempfile::tempdir().unwrap();
        let stand_in = StandIn::of(Dir::open(home.path()).unwrap()).unwrap();
        let path = stand_in.path().to_owned();
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        let id = ObjectId::null(gix::hash::Kind::Sha1);
        assert!(stand_in.loose(&id).unwrap().is_none());
        drop(stand_in);
        assert!(!path.exists());
    }
}
