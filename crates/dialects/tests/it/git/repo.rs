//! Repositories made for tests, object by object, and logs to import them to.

use std::collections::BTreeMap;
use std::path::Path;

use annals::Annals;
use annals::event_log::Digest;
use annals::projections::{EvidenceView, IntentView, PatchSetView, RunView, TaskView, View};
use annals_dialects::git::{self, CommitIds, FieldCount, GitImportError, GitOptions, ImportReport};
use annals_domain::GitOid;
use futures::executor::block_on;
use gix::ObjectId;
use gix::objs::tree::{Entry, EntryKind};
use gix::objs::{Kind, Tree, Write};
use tempfile::TempDir;

pub(crate) const AUTHOR: &str = "Ada Lovelace <ada@example.org> 1700000000 +0000";

/// A file of a tree: how it is kept, and its content (of a submodule, the id).
#[derive(Clone)]
pub(crate) struct File(pub(crate) EntryKind, pub(crate) Vec<u8>);

pub(crate) type Files = BTreeMap<Vec<u8>, File>;

/// Ordinary files.
pub(crate) fn files(list: &[(&str, &str)]) -> Files {
    let file = |(path, text): &(&str, &str)| {
        (
            path.as_bytes().to_vec(),
            File(EntryKind::Blob, text.as_bytes().to_vec()),
        )
    };
    list.iter().map(file).collect()
}

pub(crate) struct TestRepo {
    dir: TempDir,
    repo: gix::Repository,
}

impl TestRepo {
    pub(crate) fn new() -> TestRepo {
        let dir = TempDir::new().unwrap();
        let repo = gix::init(dir.path()).unwrap();
        std::fs::write(repo.git_dir().join("HEAD"), "ref: refs/heads/main\n").unwrap();
        TestRepo { dir, repo }
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn git_dir(&self) -> &Path {
        self.repo.git_dir()
    }

    pub(crate) fn object(&self, kind: Kind, bytes: &[u8]) -> ObjectId {
        self.repo.objects.write_buf(kind, bytes).unwrap()
    }

    pub(crate) fn tree(&self, files: &Files) -> ObjectId {
        let mut folders: BTreeMap<Vec<u8>, Files> = BTreeMap::new();
        let mut entries = Vec::new();
        for (path, file) in files {
            if let Some(slash) = path.iter().position(|b| *b == b'/') {
                let folder = folders.entry(path[..slash].to_vec()).or_default();
                folder.insert(path[slash + 1..].to_vec(), file.clone());
                continue;
            }
            let oid = match file {
                File(EntryKind::Commit, id) => ObjectId::from_hex(id).unwrap(),
                File(_, bytes) => self.object(Kind::Blob, bytes),
            };
            entries.push(Entry {
                mode: file.0.into(),
                filename: path.clone().into(),
                oid,
            });
        }
        for (name, files) in folders {
            let oid = self.tree(&files);
            entries.push(Entry {
                mode: EntryKind::Tree.into(),
                filename: name.into(),
                oid,
            });
        }
        entries.sort();
        self.repo.write_object(Tree { entries }).unwrap().detach()
    }

    /// Writes a commit from its raw text after the parents, and puts `main` on it.
    pub(crate) fn raw_commit(&self, files: &Files, parents: &[ObjectId], rest: &[u8]) -> ObjectId {
        let mut text = format!("tree {}\n", self.tree(files));
        for parent in parents {
            text.push_str(&format!("parent {parent}\n"));
        }
        let id = self.object(Kind::Commit, &[text.as_bytes(), rest].concat());
        self.set_main(id);
        id
    }

    pub(crate) fn set_main(&self, id: ObjectId) {
        let heads = self.repo.git_dir().join("refs/heads");
        std::fs::create_dir_all(&heads).unwrap();
        std::fs::write(heads.join("main"), format!("{id}\n")).unwrap();
    }

    pub(crate) fn commit(&self, files: &Files, parents: &[ObjectId], message: &str) -> ObjectId {
        let rest = format!("author {AUTHOR}\ncommitter {AUTHOR}\n\n{message}");
        self.raw_commit(files, parents, rest.as_bytes())
    }

    pub(crate) fn delete_object(&self, id: ObjectId) {
        let hex = id.to_string();
        let (folder, file) = hex.split_at(2);
        std::fs::remove_file(self.repo.git_dir().join("objects").join(folder).join(file)).unwrap();
    }
}

pub(crate) fn oid(id: ObjectId) -> GitOid {
    id.to_string().parse().unwrap()
}

/// A log in memory with what was imported.
pub(crate) struct Imported {
    pub(crate) annals: Annals,
    pub(crate) report: ImportReport,
}

pub(crate) fn memory() -> Annals {
    block_on(Annals::open("memory:")).unwrap()
}

pub(crate) fn import_into(annals: &Annals, path: &Path) -> Result<ImportReport, GitImportError> {
    block_on(git::import(
        annals,
        path,
        &GitOptions::default(),
        &mut |_| {},
    ))
}

pub(crate) fn import(repo: &TestRepo) -> Imported {
    let annals = memory();
    let report = import_into(&annals, repo.path()).unwrap();
    Imported { annals, report }
}

impl Imported {
    fn get<V: View>(&self, id: V::Id) -> V {
        block_on(self.annals.get::<V>(id)).unwrap()
    }

    pub(crate) fn intent(&self, commit: ObjectId) -> IntentView {
        self.get(CommitIds::of(oid(commit)).intent)
    }

    pub(crate) fn task(&self, commit: ObjectId) -> TaskView {
        self.get(CommitIds::of(oid(commit)).task)
    }

    pub(crate) fn run(&self, commit: ObjectId) -> RunView {
        self.get(CommitIds::of(oid(commit)).run)
    }

    pub(crate) fn patch_set(&self, commit: ObjectId) -> PatchSetView {
        self.get(CommitIds::of(oid(commit)).patch_set)
    }

    pub(crate) fn diff(&self, commit: ObjectId) -> Option<Vec<u8>> {
        let artifact = self.patch_set(commit).artifact?;
        Some(self.content(artifact.key.as_str().unwrap()))
    }

    /// The header that was kept of a commit.
    pub(crate) fn header(&self, commit: ObjectId) -> Option<Vec<u8>> {
        let id = CommitIds::of(oid(commit)).header;
        let evidence: EvidenceView = block_on(self.annals.get(id)).ok()?;
        assert_eq!(evidence.kind.as_str(), "commit_header");
        let [part] = evidence.report_artifacts.as_slice() else {
            panic!("{evidence:?}");
        };
        Some(self.content(part.key.as_str().unwrap()))
    }

    fn content(&self, key: &str) -> Vec<u8> {
        let digest: Digest = key.parse().unwrap();
        let content = block_on(self.annals.contents().get(digest)).unwrap();
        content.unwrap().to_vec()
    }

    /// The touched files as `type path +added -deleted`.
    pub(crate) fn touched(&self, commit: ObjectId) -> Vec<String> {
        let line = |file: &annals::projections::TouchedFileView| {
            let (added, deleted) = (file.lines_added, file.lines_deleted);
            format!("{} {} +{added} -{deleted}", file.change_type, file.path)
        };
        self.patch_set(commit).touched.iter().map(line).collect()
    }

    pub(crate) fn has_note(&self, part: &str) -> bool {
        self.report.notes.iter().any(|note| note.contains(part))
    }

    pub(crate) fn lost(&self, path: &str) -> u64 {
        count(&self.report.fields_lost, path)
    }

    pub(crate) fn kept(&self, path: &str) -> u64 {
        count(&self.report.fields_kept, path)
    }
}

fn count(fields: &[FieldCount], path: &str) -> u64 {
    let field = fields.iter().find(|field| field.path == path);
    field.map_or(0, |field| field.count)
}
