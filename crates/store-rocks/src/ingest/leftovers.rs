//! Tables of rows that are in a log's directory under their first names, and the table that is missing
//! where one of them belongs.

use std::fs;
use std::path::{Path, PathBuf};

/// How the name of a table begins and ends before RocksDB takes it over.
///
/// Each has its own name. RocksDB takes a table over by a second name for the same
/// file, and removes the first one then; where it could not, the first name is still one
/// of a live table, which writing to it again would destroy.
pub(super) const BEGIN: &str = "rows";
pub(super) const END: &str = ".new";

/// Tables that an interrupted commit left under their first names, or that RocksDB could
/// not remove. Older programs had one name for all, `rows.new`.
pub(crate) fn leftovers(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let is_ours = |entry: &fs::DirEntry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        name.starts_with(BEGIN) && name.ends_with(END)
    };
    let mut found: Vec<PathBuf> = entries.filter(is_ours).map(|entry| entry.path()).collect();
    found.sort();
    found
}

/// The table that RocksDB says is missing in a directory.
pub(crate) fn missing_table(directory: &Path, said: &str) -> Option<PathBuf> {
    let (before, _) = said.split_once(".sst: No such file")?;
    let number = before.rsplit('/').next()?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let path = directory.join(format!("{number}.sst"));
    (is_number && !path.exists()).then_some(path)
}
