//! Whether artifacts are what their references say, as far as they can be fetched here: from the
//! log itself, from files, and from a git repository.

use std::collections::HashSet;
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

use annals::Annals;
use annals_domain::{
    AnyEvent, ArtifactRef, GitOid, Integrity, IntegrityHash, Kind, Sha1Attack, Timestamp, run,
};
use annals_event_log::Digest;
use annals_files::Root;
use annals_projections::{ArtifactView, ContextItem, Entry, Fold, ObjectView, PieceValue};
use bytes::Bytes;
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::pages::{first, page};
use crate::retention::RetentionError;
use crate::retention::blobs::may_have_artifacts;
use crate::retention::error::Unreadable;
use crate::retention::reading::{FoundBlob, GitBlobs, ReadBlob};

/// Artifacts of one answer that are named; the rest is counted.
const NAMED: usize = 1_000;

/// Where artifacts are looked for in addition to the log.
#[derive(Debug, Clone)]
pub struct ArtifactCheck {
    /// The folder that relative paths of the stores `file`, `local` and `path` are in.
    pub files: PathBuf,
    /// The git repository of the artifacts of the store `git` and of items' blobs.
    pub repository: Option<PathBuf>,
    /// When it is: what has expired by then is said to.
    pub now: Timestamp,
}

/// What was found.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ArtifactReport {
    /// Those that are what their references say.
    pub verified: u64,
    /// Those that are something else.
    pub broken: u64,
    /// Those of which nothing can be said.
    pub unknown: u64,
    /// How many of all of them have expired.
    pub expired: u64,
    /// Those that are broken, the first 1,000.
    pub broken_artifacts: Vec<CheckedArtifact>,
    /// Those that are unknown, the first 1,000.
    pub unknown_artifacts: Vec<CheckedArtifact>,
}

/// An artifact, and what is said of it.
#[derive(Debug, Clone, Serialize)]
pub struct CheckedArtifact {
    /// What the object is that refers to it.
    pub object_type: &'static str,
    /// Which one it is.
    pub object_id: Uuid,
    /// The field, with the place in its list.
    pub field: String,
    /// The store.
    pub store: String,
    /// The key in it.
    pub key: String,
    /// Whether it has expired.
    pub expired: bool,
    /// Why it is not verified.
    pub reason: String,
}

/// What can be said of one.
enum Verdict {
    Verified,
    Broken(String),
    Unknown(String),
}

/// Checks every artifact and every item's content that the log refers to.
///
/// # Errors
/// [`RetentionError`], where the log or the repository cannot be read. An artifact that cannot be
/// fetched is not an error: it is counted as unknown.
pub async fn check_artifacts(
    annals: &Annals,
    check: &ArtifactCheck,
) -> Result<ArtifactReport, RetentionError> {
    let git = check
        .repository
        .as_deref()
        .map(GitBlobs::open)
        .transpose()?;
    let mut checker = Checker {
        annals,
        check,
        git,
        ended: HashSet::new(),
        report: ArtifactReport::default(),
    };
    let end = annals.position();
    let mut next = first(end);
    while let Some(from) = next {
        let records;
        (records, next) = page(annals, from, end).await?;
        for record in records.iter().filter(|it| has_artifacts(it.event_type())) {
            checker.see(&annals.contents().entry(record).await?).await?;
        }
    }
    Ok(checker.report)
}

/// Whether events of this type have artifacts, or make items.
fn has_artifacts(event_type: &str) -> bool {
    matches!(event_type, "snapshot.opened" | "snapshot.adopted") || may_have_artifacts(event_type)
}

struct Checker<'a> {
    annals: &'a Annals,
    check: &'a ArtifactCheck,
    git: Option<GitBlobs>,
    /// Calls that were looked at when their end came.
    ended: HashSet<Uuid>,
    report: ArtifactReport,
}

impl Checker<'_> {
    async fn see(&mut self, entry: &Entry) -> Result<(), RetentionError> {
        let made = match &entry.event {
            // A call's artifacts come with its end, where nothing tells of the call as a whole.
            AnyEvent::Run(run::Event::ToolEnded(ended)) => {
                let id = ended.tool_invocation.0;
                self.ended.insert(id).then_some((Kind::ToolInvocation, id))
            }
            AnyEvent::Run(run::Event::ToolInvoked(invoked))
                if self.ended.contains(&invoked.tool_invocation.0) =>
            {
                None
            }
            event => event.creates(entry.stream.id),
        };
        let Some((kind, id)) = made else {
            return Ok(());
        };
        if kind == Kind::ContextSnapshot {
            let view = self.annals.view_at(id, annals::At::Now).await?;
            if let ObjectView::ContextSnapshot(view) = view {
                for item in &view.items {
                    self.item(id, item).await;
                }
            }
            return Ok(());
        }
        let mut fold = Fold::new(kind, id);
        fold.apply(entry);
        let view = match fold.view() {
            Some(view) => view,
            // The end of a call of which something is known before.
            None => self.annals.view_at(id, annals::At::Now).await?,
        };
        for (field, artifact) in view.artifacts() {
            self.artifact(kind, id, field, artifact).await;
        }
        Ok(())
    }

    async fn artifact(&mut self, kind: Kind, id: Uuid, field: String, view: &ArtifactView) {
        let (verdict, expired) = match view.to_ref() {
            None => (
                Verdict::Unknown("its reference was removed".to_owned()),
                false,
            ),
            Some(artifact) => {
                let verdict = self.verdict(view, &artifact).await;
                (verdict, artifact.is_expired(self.check.now))
            }
        };
        let checked = CheckedArtifact {
            object_type: kind.object_type(),
            object_id: id,
            field,
            store: view.store.to_string(),
            key: view.key.to_string(),
            expired,
            reason: String::new(),
        };
        self.count(verdict, checked);
    }

    async fn verdict(&self, view: &ArtifactView, artifact: &ArtifactRef) -> Verdict {
        match &view.content {
            Some(PieceValue::Removed) => Verdict::Unknown("its content was removed".to_owned()),
            Some(PieceValue::Bytes(bytes)) => compare(artifact, bytes),
            Some(PieceValue::Attachment { digest, .. }) => match self.content(*digest).await {
                Ok(Some(bytes)) => compare(artifact, &bytes),
                Ok(None) => Verdict::Broken("the log has lost its content".to_owned()),
                Err(verdict) => verdict,
            },
            None => match artifact.store.as_str() {
                "annals" => self.of_log(artifact).await,
                "file" | "local" | "path" => self.of_file(artifact),
                "git" => self.of_git(artifact),
                store => Verdict::Unknown(format!("the store {store:?} is not looked into")),
            },
        }
    }

    /// A reference to a log that came without its content, as an adopted one does.
    async fn of_log(&self, artifact: &ArtifactRef) -> Verdict {
        let Ok(digest) = artifact.key.parse::<Digest>() else {
            return Verdict::Unknown("its key is not a SHA-256".to_owned());
        };
        match self.content(digest).await {
            Ok(Some(bytes)) => compare(artifact, &bytes),
            Ok(None) => Verdict::Unknown("this log has no such content".to_owned()),
            Err(verdict) => verdict,
        }
    }

    fn of_file(&self, artifact: &ArtifactRef) -> Verdict {
        let key = artifact
            .key
            .strip_prefix("file://")
            .unwrap_or(&artifact.key);
        // A key may come from elsewhere: it names nothing outside of the folder, and follows no link.
        let files = std::path::absolute(&self.check.files);
        let files = files.unwrap_or_else(|_| self.check.files.clone());
        let path = files.join(key);
        let opened = Root::of(&files).and_then(|root| root.open(&path));
        let length = |file: &File| Some(file.metadata().ok()?.len());
        if let (Some(expected), Ok(file)) = (artifact.size_bytes, &opened)
            && let Some(found) = length(file).filter(|found| *found != expected)
        {
            return Verdict::Broken(format!("expected {expected} bytes, found {found}"));
        }
        match opened.and_then(measure) {
            Ok((size, hash)) => compare_measured(artifact, size, hash),
            Err(error) => Verdict::Unknown(format!("{}: {error}", path.display())),
        }
    }

    fn of_git(&self, artifact: &ArtifactRef) -> Verdict {
        let Ok(blob) = artifact.key.parse::<GitOid>() else {
            return Verdict::Unknown("its key is not the id of a git object".to_owned());
        };
        let read = match self.blob(blob) {
            Ok(read) => read,
            Err(verdict) => return verdict,
        };
        let measured = compare_measured(artifact, read.size, read.hash);
        match (is_same_blob(blob, read.id), measured) {
            (Verdict::Verified, Verdict::Unknown(_)) => Verdict::Verified,
            (Verdict::Verified, verdict) | (verdict, _) => verdict,
        }
    }

    /// A blob of the repository; or what is to be said, if it cannot be read.
    fn blob(&self, blob: GitOid) -> Result<ReadBlob, Verdict> {
        let Some(git) = &self.git else {
            let reason = "no repository was given with --repo";
            return Err(Verdict::Unknown(reason.to_owned()));
        };
        match git.read(blob) {
            FoundBlob::Read(read) => Ok(read),
            FoundBlob::Missing => Err(Verdict::Unknown(
                "the repository has no such blob".to_owned(),
            )),
            FoundBlob::Unreadable(Unreadable::Damaged) => Err(Verdict::Broken(
                "the repository's object is damaged; look with `git fsck`".to_owned(),
            )),
            FoundBlob::Unreadable(Unreadable::TooLarge(size)) => Err(Verdict::Unknown(format!(
                "it has {size} bytes and is stored as a change of another object, of which 256 MiB are \
                 read at most"
            ))),
        }
    }

    /// Content of the log; or what is to be said, if it is there and cannot be read.
    async fn content(&self, digest: Digest) -> Result<Option<Bytes>, Verdict> {
        let content = self.annals.contents().get(digest).await;
        content
            .map_err(|error| Verdict::Broken(format!("the log's content cannot be read: {error}")))
    }

    async fn item(&mut self, id: Uuid, item: &ContextItem) {
        let Some(blob) = item.blob else {
            return;
        };
        let (store, verdict) = match &item.content {
            Some(PieceValue::Removed) => {
                let reason = "its content was removed".to_owned();
                ("annals", Verdict::Unknown(reason))
            }
            Some(PieceValue::Bytes(bytes)) => ("annals", is_blob(blob, bytes)),
            Some(PieceValue::Attachment { digest, .. }) => {
                let verdict = match self.content(*digest).await {
                    Ok(Some(bytes)) => is_blob(blob, &bytes),
                    Ok(None) => Verdict::Broken("the log has lost its content".to_owned()),
                    Err(verdict) => verdict,
                };
                ("annals", verdict)
            }
            None => ("git", self.item_of_git(blob)),
        };
        let checked = CheckedArtifact {
            object_type: Kind::ContextSnapshot.object_type(),
            object_id: id,
            field: format!("items[{}]", item.index),
            store: store.to_owned(),
            key: blob.to_string(),
            expired: false,
            reason: String::new(),
        };
        self.count(verdict, checked);
    }

    fn item_of_git(&self, blob: GitOid) -> Verdict {
        match self.blob(blob) {
            Ok(read) => is_same_blob(blob, read.id),
            Err(verdict) => verdict,
        }
    }

    fn count(&mut self, verdict: Verdict, mut checked: CheckedArtifact) {
        self.report.expired += u64::from(checked.expired);
        let (count, named, reason) = match verdict {
            Verdict::Verified => {
                self.report.verified += 1;
                return;
            }
            Verdict::Broken(reason) => (
                &mut self.report.broken,
                &mut self.report.broken_artifacts,
                reason,
            ),
            Verdict::Unknown(reason) => (
                &mut self.report.unknown,
                &mut self.report.unknown_artifacts,
                reason,
            ),
        };
        *count += 1;
        checked.reason = reason;
        if named.len() < NAMED {
            named.push(checked);
        }
    }
}

fn compare(artifact: &ArtifactRef, content: &[u8]) -> Verdict {
    match artifact.verify_integrity(content) {
        Integrity::Verified => Verdict::Verified,
        Integrity::Unknown => Verdict::Unknown("its reference has no hash".to_owned()),
        Integrity::Broken => {
            let size = content.len() as u64;
            Verdict::Broken(difference(artifact, size, IntegrityHash::of(content)))
        }
    }
}

fn compare_measured(artifact: &ArtifactRef, size: u64, hash: IntegrityHash) -> Verdict {
    if artifact.size_bytes.is_some_and(|known| known != size)
        || artifact.hash.is_some_and(|known| known != hash)
    {
        return Verdict::Broken(difference(artifact, size, hash));
    }
    match artifact.hash {
        Some(_) => Verdict::Verified,
        None => Verdict::Unknown("its reference has no hash".to_owned()),
    }
}

fn difference(artifact: &ArtifactRef, size: u64, hash: IntegrityHash) -> String {
    match artifact.size_bytes {
        Some(expected) if expected != size => {
            format!("expected {expected} bytes, found {size}")
        }
        _ => {
            let expected = artifact
                .hash
                .map_or_else(String::new, |hash| hash.to_string());
            format!("expected the SHA-256 {expected}, found {hash}")
        }
    }
}

fn is_blob(blob: GitOid, content: &[u8]) -> Verdict {
    is_same_blob(blob, blob.same_hash_of_blob(content).ok())
}

/// Whether content is of a blob, by the id that follows from it, if one does.
fn is_same_blob(blob: GitOid, found: Option<GitOid>) -> Verdict {
    match found {
        Some(found) if found == blob => Verdict::Verified,
        Some(found) => Verdict::Broken(format!("expected the blob {blob}, found {found}")),
        None => Verdict::Broken(Sha1Attack.to_string()),
    }
}

/// The size and the hash of a file, however large it is.
fn measure(mut file: File) -> std::io::Result<(u64, IntegrityHash)> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 64 * 1024];
    let mut size = 0;
    loop {
        let read = file.read(&mut buffer)?;
        let Some(bytes) = buffer.get(..read).filter(|bytes| !bytes.is_empty()) else {
            break;
        };
        hasher.update(bytes);
        size += bytes.len() as u64;
    }
    Ok((size, IntegrityHash(hasher.finalize().into())))
}
