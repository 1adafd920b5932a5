//! Lines that edits and patches add and delete, by what calls say of them.

use similar::{Algorithm, DiffTag, capture_diff_slices};

/// Lines of both texts of an edit together, beyond which they are not compared, so that a line is made at once.
const COMPARED: usize = 4_000;

/// Lines that are added and deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Lines {
    pub(super) added: usize,
    pub(super) deleted: usize,
}

impl Lines {
    pub(super) fn plus(self, more: Lines) -> Lines {
        Lines {
            added: self.added + more.added,
            deleted: self.deleted + more.deleted,
        }
    }
}

/// Lines that a text in the place of another adds and deletes; none, if they are too long to be compared.
pub(super) fn replaced(old: &str, new: &str) -> Option<Lines> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    if old.len() + new.len() > COMPARED {
        return None;
    }
    let ops = capture_diff_slices(Algorithm::Myers, &old, &new);
    let mut lines = Lines::default();
    for op in ops {
        match op.tag() {
            DiffTag::Equal => {}
            _ => {
                lines.added += op.new_range().len();
                lines.deleted += op.old_range().len();
            }
        }
    }
    Some(lines)
}

/// A file of an envelope of apply_patch, and its lines.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PatchedFile<'a> {
    pub(super) path: &'a str,
    pub(super) lines: Lines,
}

/// The files of an envelope of apply_patch that is in a text.
pub(super) fn files(text: &str) -> Vec<PatchedFile<'_>> {
    const HEADS: [&str; 3] = ["*** Add File: ", "*** Update File: ", "*** Delete File: "];
    let Some((_, envelope)) = text.split_once("*** Begin Patch") else {
        return Vec::new();
    };
    let mut files: Vec<PatchedFile<'_>> = Vec::new();
    for line in envelope.lines() {
        if line.starts_with("*** End Patch") {
            break;
        }
        if let Some(path) = HEADS.iter().find_map(|head| line.strip_prefix(head)) {
            files.push(PatchedFile {
                path: path.trim(),
                lines: Lines::default(),
            });
        } else if let Some(file) = files.last_mut() {
            file.lines.added += usize::from(line.starts_with('+'));
            file.lines.deleted += usize::from(line.starts_with('-'));
        }
    }
    files
}
