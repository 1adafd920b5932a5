//! Refs in the file `packed-refs`, changed under git's own lock on it.
//!
//! The file has a person's branches and tags next to ours. It is read once the lock is held, so that
//! nothing is lost that another process packed meanwhile, and synced before it takes its place.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use gix::ObjectId;
use gix::lock::acquire::Fail;

use super::error::RetentionError;
use super::repository::{PATIENCE, Repository};

const FILE: &str = "packed-refs";
const HEADER: &str = "# pack-refs with:";

/// What the file says of one ref.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Record {
    /// Its line, and the one of what a tag leads to, as they are in the file. A name may be there more than
    /// once.
    lines: Vec<u8>,
    id: Option<ObjectId>,
}

/// The refs of the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Refs {
    /// What the first line says of all: `peeled`, `fully-peeled`, `sorted`.
    traits: Vec<String>,
    records: BTreeMap<Vec<u8>, Record>,
}

/// The file, which no other process changes meanwhile.
pub(super) struct Locked<'a> {
    repository: &'a Repository,
    lock: gix::lock::File,
    refs: Refs,
}

/// The refs under a prefix that are in the file, without waiting for the lock.
pub(super) fn ids(
    repository: &Repository,
    prefix: &str,
) -> Result<Vec<(String, ObjectId)>, RetentionError> {
    Ok(read(repository)?.under(prefix))
}

impl Locked<'_> {
    /// Takes the lock, and reads the file.
    pub(super) fn take(repository: &Repository) -> Result<Locked<'_>, RetentionError> {
        let path = path(repository);
        let patience = Fail::AfterDurationWithBackoff(PATIENCE);
        let lock = gix::lock::File::acquire(&path, patience, None, 0, None);
        let lock = lock.map_err(|error| repository.error(error))?;
        let refs = read(repository)?;
        Ok(Locked {
            repository,
            lock,
            refs,
        })
    }

    /// The refs under a prefix.
    pub(super) fn under(&self, prefix: &str) -> Vec<(String, ObjectId)> {
        self.refs.under(prefix)
    }

    pub(super) fn add(&mut self, name: &str, id: ObjectId) {
        let record = Record {
            lines: format!("{id} {name}\n").into_bytes(),
            id: Some(id),
        };
        self.refs.records.insert(name.as_bytes().to_vec(), record);
    }

    /// Takes a ref away; whether it was there.
    pub(super) fn remove(&mut self, name: &str) -> bool {
        self.refs.records.remove(name.as_bytes()).is_some()
    }

    /// Puts what the file says now in its place, on disk.
    pub(super) fn write(mut self) -> Result<(), RetentionError> {
        let text = self.refs.text();
        let io_error = |error: io::Error| self.repository.io_error(&path(self.repository), &error);
        let written = self.lock.with_mut(|file| {
            file.write_all(&text)?;
            file.flush()
        });
        written.map_err(io_error)?;
        let synced = File::open(self.lock.lock_path()).and_then(|file| file.sync_all());
        synced.map_err(io_error)?;
        let put = self.lock.commit();
        put.map_err(|failed| io_error(failed.error))?;
        self.repository
            .sync_folder(self.repository.git.common_dir())
    }
}

fn path(repository: &Repository) -> PathBuf {
    repository.git.common_dir().join(FILE)
}

fn read(repository: &Repository) -> Result<Refs, RetentionError> {
    let path = path(repository);
    match fs::read(&path) {
        Ok(text) => parse(&text).ok_or_else(|| malformed(repository, &path)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Refs {
            traits: ["peeled", "fully-peeled"].map(str::to_owned).to_vec(),
            ..Refs::default()
        }),
        Err(error) => Err(repository.io_error(&path, &error)),
    }
}

fn malformed(repository: &Repository, path: &Path) -> RetentionError {
    let error = io::Error::new(
        io::ErrorKind::InvalidData,
        "expected lines of an id and the name of a ref; look with `git fsck`",
    );
    repository.io_error(path, &error)
}

/// Reads the file's text; nothing, where it is not in its format.
fn parse(text: &[u8]) -> Option<Refs> {
    let mut refs = Refs::default();
    let mut last: Option<Vec<u8>> = None;
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let bare = line.strip_suffix(b"\n")?;
        match bare.first() {
            Some(b'#') => {
                let said = std::str::from_utf8(bare).ok()?;
                if let Some(traits) = said.strip_prefix(HEADER) {
                    refs.traits = traits.split_whitespace().map(str::to_owned).collect();
                }
            }
            Some(b'^') => refs.records.get_mut(last.as_ref()?)?.lines.extend(line),
            _ => {
                let space = bare.iter().position(|byte| *byte == b' ')?;
                let (id, name) = (bare.get(..space)?, bare.get(space + 1..)?);
                // Which line counts of several is for who reads them: all stay.
                let record = refs.records.entry(name.to_vec()).or_default();
                record.lines.extend(line);
                record.id = ObjectId::from_hex(id).ok();
                last = Some(name.to_vec());
            }
        }
    }
    Some(refs)
}

impl Refs {
    fn under(&self, prefix: &str) -> Vec<(String, ObjectId)> {
        let from = self.records.range(prefix.as_bytes().to_vec()..);
        let ours = from.take_while(|(name, _)| name.starts_with(prefix.as_bytes()));
        let each = |(name, record): (&Vec<u8>, &Record)| {
            Some((String::from_utf8(name.clone()).ok()?, record.id?))
        };
        ours.filter_map(each).collect()
    }

    fn text(&self) -> Vec<u8> {
        let others = self.traits.iter().filter(|one| *one != "sorted");
        let mut text = HEADER.as_bytes().to_vec();
        for one in others.map(String::as_str).chain(["sorted"]) {
            text.push(b' ');
            text.extend(one.as_bytes());
        }
        // git ends the line so.
        text.extend(b" \n");
        for record in self.records.values() {
            text.extend(&record.lines);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    const A: &str = "1111111111111111111111111111111111111111";
    const B: &str = "2222222222222222222222222222222222222222";

    #[test]
    fn what_others_packed_stays_as_it_is() {
        let text = format!(
            "# pack-refs with: peeled fully-peeled sorted \n{A} refs/heads/main\n{B} refs/tags/v1\n^{A}\n"
        );
        let refs = parse(text.as_bytes()).unwrap();
        assert_eq!(refs.text(), text.as_bytes());
        assert_eq!(
            refs.under("refs/heads/"),
            [("refs/heads/main".to_owned(), A.parse().unwrap())]
        );
        // One that is not sorted is sorted from then on, and says so.
        let text = format!("{B} refs/tags/v1\n^{A}\n{A} refs/heads/main\n");
        let sorted =
            format!("# pack-refs with: sorted \n{A} refs/heads/main\n{B} refs/tags/v1\n^{A}\n");
        assert_eq!(parse(text.as_bytes()).unwrap().text(), sorted.as_bytes());
    }

    #[test]
    fn a_duplicate_name_is_still_a_duplicate_afterwards() {
        let text = format!(
            "# pack-refs with: peeled fully-peeled sorted \n{A} refs/heads/main\n{B} refs/heads/main\n\
             {A} refs/tags/v1\n^{B}\n{B} refs/tags/v1\n^{A}\n"
        );
        let refs = parse(text.as_bytes()).unwrap();
        assert_eq!(refs.text(), text.as_bytes());
        assert_eq!(
            refs.under("refs/heads/"),
            [("refs/heads/main".to_owned(), B.parse().unwrap())]
        );
        // Also where other lines are between them.
        let text = format!("{A} refs/heads/main\n{A} refs/heads/a\n{B} refs/heads/main\n");
        let sorted = format!(
            "# pack-refs with: sorted \n{A} refs/heads/a\n{A} refs/heads/main\n{B} refs/heads/main\n"
        );
        assert_eq!(parse(text.as_bytes()).unwrap().text(), sorted.as_bytes());
    }

    #[test]
    fn what_is_not_a_list_of_refs_is_not_taken_for_one() {
        for bad in [
            format!("{A}\n"),
            format!("^{A}\n"),
            format!("{A} refs/heads/main"),
        ] {
            assert_eq!(parse(bad.as_bytes()), None, "{bad}");
        }
    }
}
