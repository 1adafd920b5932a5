//! What is derived from a log's content and kept in its folder by others than the store: the index for searches.
//!
//! `search` has a folder for each epoch, by its number, which was made of the content of that epoch, and a file with a
//! word of how it is kept. What a folder has is not the store's business, but that it goes is: where bytes of removed
//! content are given up, so are the folders of other epochs. A folder is made before its maker looks at the epoch, and
//! it is renamed before it is removed: what the maker of an old one still writes goes nowhere.

use std::fs;
use std::io;
use std::path::Path;

use annals_event_log::Epoch;

/// The folder's name.
pub(crate) const NAME: &str = "search";
/// The file that says whether an index is kept; nothing of a log's content.
const KEEPING: &str = "KEEPING";

/// Removes all that was made of other content than this epoch's.
pub(crate) fn forget(log: &Path, epoch: Epoch) -> io::Result<()> {
    let folder = log.join(NAME);
    match fs::symlink_metadata(&folder) {
        Ok(found) if found.is_dir() => {}
        // A link leads out of the log, and nothing there is of it.
        Ok(_) => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    }
    let current = epoch.0.to_string();
    for entry in fs::read_dir(&folder)? {
        let name = entry?.file_name();
        if name != *current && name != KEEPING {
            annals_files::forget_entry(&folder, Path::new(&name))?;
        }
    }
    fs::File::open(&folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn what_was_made_of_other_content_goes() {
        let log = tempfile::tempdir().unwrap();
        forget(log.path(), Epoch(3)).unwrap();
        let folder = log.path().join(NAME);
        for name in ["0", "3", "12", "0.going", "3.going"] {
            fs::create_dir_all(folder.join(name).join("within")).unwrap();
            fs::write(folder.join(name).join("within/file"), "secret").unwrap();
        }
        fs::write(folder.join("odd"), "secret").unwrap();
        fs::write(folder.join(KEEPING), "kept").unwrap();
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("kept"), "").unwrap();
        std::os::unix::fs::symlink(outside.path(), folder.join("4")).unwrap();
        forget(log.path(), Epoch(3)).unwrap();
        let entries = fs::read_dir(&folder).unwrap();
        let mut left: Vec<_> = entries.map(|it| it.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["3", KEEPING]);
        assert!(
            outside.path().join("kept").exists(),
            "a link is not followed"
        );

        fs::remove_dir_all(&folder).unwrap();
        std::os::unix::fs::symlink(outside.path(), &folder).unwrap();
        forget(log.path(), Epoch(3)).unwrap();
        assert!(outside.path().join("kept").exists());
    }
}
