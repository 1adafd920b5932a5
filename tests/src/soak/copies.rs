//! Copies of a log, and what lies in the files of a folder.

use std::path::{Path, PathBuf};

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

/// All files in a folder and below.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for path in entries.map(|entry| entry.path()) {
        match path.is_dir() {
            true => found.extend(files(&path)),
            false => found.push(path),
        }
    }
    found.sort();
    found
}

/// The first of these texts that is in a file of the folder, and which file that is.
/// Files are looked through as they are, so they must not be compressed.
pub fn find<'a>(folder: &Path, texts: &[&'a str]) -> Option<(&'a str, PathBuf)> {
    for path in files(folder) {
        // What is deleted meanwhile has nothing.
        let bytes = std::fs::read(&path).unwrap_or_default();
        if bytes.is_empty() {
            continue;
        }
        let found = texts.iter().find(|text| has(&bytes, text.as_bytes()));
        if let Some(text) = found {
            return Some((text, path));
        }
    }
    None
}

/// Turns a bit over in the newest write-ahead log that has any; which one, and where.
pub fn damage(log: &Path, seed: u64) -> Option<(PathBuf, usize)> {
    let mut logs = files(log);
    logs.retain(|path| path.extension().is_some_and(|ending| ending == "log"));
    let mut rng = StdRng::seed_from_u64(seed);
    for path in logs.iter().rev() {
        let mut bytes = std::fs::read(path).ok()?;
        if bytes.is_empty() {
            continue;
        }
        // Near the end as often as anywhere.
        let from = match rng.random() {
            true => 0,
            false => bytes.len().saturating_sub(300),
        };
        let at = rng.random_range(from..bytes.len());
        bytes[at] ^= 1 << rng.random_range(0..8);
        std::fs::write(path, bytes).ok()?;
        return Some((path.clone(), at));
    }
    None
}

fn has(bytes: &[u8], text: &[u8]) -> bool {
    // All texts begin with the same four bytes.
    let (Some(first), length) = (text.first(), text.len()) else {
        return false;
    };
    let mut rest = bytes;
    while let Some(at) = rest.iter().position(|byte| byte == first) {
        match rest.get(at..at + length) {
            Some(found) if found == text => return true,
            Some(_) => rest = &rest[at + 1..],
            None => return false,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_found_wherever_it_is() {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join("below")).unwrap();
        std::fs::write(home.path().join("below/file"), b"\0\0ssoak<1:0>").unwrap();
        let (text, path) = find(home.path(), &["soak<2:0>", "soak<1:0>"]).unwrap();
        assert_eq!((text, path.ends_with("below/file")), ("soak<1:0>", true));
        assert!(find(home.path(), &["soak<1:1>"]).is_none());
    }
}
