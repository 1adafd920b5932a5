//! A cut of the whole file system: what survives becomes what is visible and durable.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::content::Content;
use super::cut::{Cut, CutReport, FileCut, Knobs, Survival};
use super::file::File;
use super::journal;
use super::journal::Ino;
use super::remains;
use super::tree::{Attributes, Directory, Node, ROOT, Tree};

/// Builds what the cut leaves of `before`, with inode numbers of its own.
pub(super) fn restart(mut before: Tree, cut: Cut) -> (Tree, CutReport) {
    let mut restart = Restart {
        cut,
        draw: draw(cut),
        files: Vec::new(),
        known: HashMap::new(),
    };
    let chosen = restart.choose_entries(&before);
    let mut report = CutReport {
        cut,
        entries_kept: Vec::new(),
        entries_lost: Vec::new(),
        files: Vec::new(),
    };
    for (operation, kept) in before.pending.iter().zip(&chosen) {
        let text = describe(&before, operation);
        if *kept {
            report.entries_kept.push(text)
        } else {
            report.entries_lost.push(text)
        }
    }
    before.commit(&chosen);

    let root = restart.attributes(&before, ROOT);
    let mut after = Tree::after(&before, root);
    keep_times((&before, ROOT), (&mut after, ROOT));
    restart.directory(&mut before, &mut after, (ROOT, ROOT), Path::new(""));
    report.files = restart.files;
    (after, report)
}

/// Times are not what a cut is about: they stay.
fn keep_times((before, old): (&Tree, Ino), (after, new): (&mut Tree, Ino)) {
    if let (Ok(source), Ok(target)) = (before.inode(old), after.inode_mut(new)) {
        target.times = source.times;
    }
}

/// Says an operation on names in words.
pub(super) fn describe(tree: &Tree, operation: &journal::EntryOperation) -> String {
    let names: Vec<String> = operation
        .slots
        .iter()
        .map(|slot| {
            tree.path(slot.directory)
                .join(&slot.name)
                .display()
                .to_string()
        })
        .collect();
    format!("{} {}", operation.call, names.join(" -> "))
}

fn draw(cut: Cut) -> Option<(StdRng, Knobs)> {
    match cut {
        Cut::DropAll | Cut::KeepAll => None,
        Cut::Random { seed } => Some((StdRng::seed_from_u64(seed), Knobs::default())),
        Cut::Tuned { seed, knobs } => Some((StdRng::seed_from_u64(seed), knobs)),
    }
}

struct Restart {
    cut: Cut,
    draw: Option<(StdRng, Knobs)>,
    files: Vec<FileCut>,
    /// The new numbers of what was met, for hard links.
    known: HashMap<Ino, Ino>,
}

impl Restart {
    fn choose_entries(&mut self, tree: &Tree) -> Vec<bool> {
        let count = tree.pending.len();
        let Some((draw, knobs)) = &mut self.draw else {
            return vec![self.cut == Cut::KeepAll; count];
        };
        let survival = match knobs.entries {
            Survival::Mixed => match draw.random_range(0..6) {
                0 => Survival::None,
                1 => Survival::All,
                2 | 3 => Survival::Prefix,
                _ => Survival::Subset,
            },
            chosen => chosen,
        };
        match survival {
            Survival::None => vec![false; count],
            Survival::All => vec![true; count],
            Survival::Prefix => {
                let kept = draw.random_range(0..=count);
                (0..count).map(|number| number < kept).collect()
            }
            _ => {
                let share = [0.2, 0.5, 0.9]
                    .get(draw.random_range(0..3))
                    .copied()
                    .unwrap_or(0.5);
                journal::surviving(&tree.pending, |_| draw.random_bool(share))
            }
        }
    }

    /// The attributes that survive.
    fn attributes(&mut self, before: &Tree, ino: Ino) -> Attributes {
        let Ok(inode) = before.inode(ino) else {
            return Attributes {
                mode: 0o755,
                uid: 0,
                gid: 0,
            };
        };
        let kept = match &mut self.draw {
            None => self.cut == Cut::KeepAll,
            Some(_) if inode.attributes == inode.durable_attributes => true,
            Some((draw, _)) => draw.random(),
        };
        if kept {
            inode.attributes
        } else {
            inode.durable_attributes
        }
    }

    /// Takes the durable names of one directory over, and what is below it.
    fn directory(
        &mut self,
        before: &mut Tree,
        after: &mut Tree,
        (old, new): (Ino, Ino),
        path: &Path,
    ) {
        self.known.insert(old, new);
        let Ok(directory) = before.directory(old) else {
            return;
        };
        for (name, ino) in directory.durable.clone() {
            let path = path.join(&name);
            if let Some(known) = self.known.get(&ino) {
                after.restore_name(new, &name, *known);
                continue;
            }
            let Some(node) = self.node(before, ino, &path) else {
                continue;
            };
            let is_directory = matches!(node, Node::Directory(_));
            let attributes = self.attributes(before, ino);
            let restored = after.allocate(node, attributes, (new, name.clone()));
            keep_times((before, ino), (after, restored));
            self.known.insert(ino, restored);
            after.restore_name(new, &name, restored);
            if is_directory {
                self.directory(before, after, (ino, restored), &path);
            }
        }
    }

    fn node(&mut self, before: &mut Tree, ino: Ino, path: &Path) -> Option<Node> {
        Some(match &mut before.inode_mut(ino).ok()?.node {
            Node::Directory(_) => Node::Directory(Directory::default()),
            Node::Symlink(target) => Node::Symlink(target.clone()),
            Node::Special(kind) => Node::Special(*kind),
            Node::File(file) => Node::File(File::restored(self.content(file, path.to_owned()))),
        })
    }

    fn content(&mut self, file: &mut File, path: PathBuf) -> Content {
        if file.is_synced() {
            return file.durable().clone();
        }
        let (unsynced, size_before) = (file.pending().len(), file.visible().size());
        let forgotten = file.forgotten();
        let (content, mut fate) = match &mut self.draw {
            Some((draw, knobs)) => remains::drawn(file, knobs, draw),
            None if self.cut == Cut::KeepAll => {
                file.sync();
                (file.durable().clone(), "all kept".to_owned())
            }
            None => (file.durable().clone(), "all lost".to_owned()),
        };
        if forgotten > 0 {
            fate.push_str(&format!(", {forgotten} pages lost to a failed sync"));
        }
        let size_after = content.size();
        self.files.push(FileCut {
            path,
            unsynced,
            fate,
            size_before,
            size_after,
        });
        content
    }
}
