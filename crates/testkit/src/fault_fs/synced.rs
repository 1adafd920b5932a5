//! What is durable and what is not, for assertions.

use std::fmt;
use std::path::{Path, PathBuf};

use super::restart::describe;
use super::tree::{Node, ROOT, Tree};

/// Something that a power cut could take.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unsynced {
    /// Of which file, or the name that an operation changed; from the root of the
    /// file system.
    pub path: PathBuf,
    /// What it is, in words.
    pub what: String,
}

impl fmt::Display for Unsynced {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}: {}", self.path.display(), self.what)
    }
}

pub(super) fn is_synced(tree: &Tree, path: &Path) -> bool {
    let mut at = ROOT;
    for name in path {
        let Ok(directory) = tree.directory(at) else {
            return false;
        };
        let pending = tree.pending.iter().flat_map(|operation| &operation.slots);
        let changed = pending
            .clone()
            .any(|slot| slot.directory == at && slot.name == name);
        let (Some(visible), Some(durable)) =
            (directory.visible.get(name), directory.durable.get(name))
        else {
            return false;
        };
        if changed || visible != durable {
            return false;
        }
        at = *visible;
    }
    let Ok(inode) = tree.inode(at) else {
        return false;
    };
    let content = match &inode.node {
        Node::File(file) => file.is_synced(),
        Node::Directory(_) => !tree
            .pending
            .iter()
            .any(|it| it.slots.iter().any(|slot| slot.directory == at)),
        Node::Symlink(_) | Node::Special(_) => true,
    };
    content && inode.attributes == inode.durable_attributes
}

pub(super) fn unsynced(tree: &Tree) -> Vec<Unsynced> {
    let mut found = Vec::new();
    let mut directories = vec![(ROOT, PathBuf::new())];
    while let Some((at, path)) = directories.pop() {
        let Ok(directory) = tree.directory(at) else {
            continue;
        };
        for (name, ino) in &directory.visible {
            let path = path.join(name);
            let Ok(inode) = tree.inode(*ino) else {
                continue;
            };
            match &inode.node {
                Node::Directory(_) => directories.push((*ino, path.clone())),
                Node::File(file) if !file.is_synced() => {
                    let (changes, lost) = (file.pending().len(), file.forgotten());
                    let what = format!("{changes} unsynced changes, {lost} pages forgotten");
                    found.push(Unsynced {
                        path: path.clone(),
                        what,
                    });
                }
                _ => {}
            }
            if inode.attributes != inode.durable_attributes {
                found.push(Unsynced {
                    path,
                    what: "unsynced attributes".into(),
                });
            }
        }
    }
    for operation in &tree.pending {
        if let Some(slot) = operation.slots.last() {
            let path = tree.path(slot.directory).join(&slot.name);
            found.push(Unsynced {
                path,
                what: format!("unsynced: {}", describe(tree, operation)),
            });
        }
    }
    found
}
