//! From a commit to the commands that record it.
//!
//! | Command | From | Time |
//! | --- | --- | --- |
//! | create_intent, set_metadata | subject; the commit's id as external id `git.commit` | author's |
//! | analyze_intent, activate_intent | body, or else the subject | author's |
//! | create_task | subject, cut to 99 characters | author's |
//! | create_run, start_patching | first parent as the baseline | author's |
//! | propose_patch_set | diff, touched files, body as rationale | author's |
//! | record_evidence | the header, if it says more than this table has | committer's |
//! | start_validation, decide | the commit's id as the result | committer's |
//! | complete_intent | | committer's |

use std::io;

use annals::Request;
use annals_domain::intent::{ActivateIntent, AnalyzeIntent, CompleteIntent, CreateIntent};
use annals_domain::metadata::SetMetadata;
use annals_domain::run::{
    CreateRun, Decide, DecisionType, DiffFormat, Payload, ProposePatchSet, StartPatching,
    StartValidation,
};
use annals_domain::task::CreateTask;
use annals_domain::{
    Command, DecisionId, EvidenceId, GitOid, IntentId, Ordered, PatchSetId, RunId, TaskId,
    Timestamp,
};
use annals_event_log::limits;
use uuid::Uuid;

use super::commit::Facts;
use super::diff::Patch;
use super::header;
use super::remark::Remark;
use super::tally::Tally;

/// The most characters of a title: fewer than 100 (docs/spec/git-internal.md, Task.title).
const TITLE: usize = 99;

/// What stands for an empty message.
const NO_MESSAGE: &str = "(empty message)";

/// What stands for an empty title.
const NO_SUBJECT: &str = "(no subject)";

/// A byte of text becomes at most so many bytes of JSON.
const JSON_GROWTH: usize = 6;

/// A diff below this is within every limit, whatever its bytes.
const SURELY_FITS: usize = 8 * 1024 * 1024;

/// The ids of the objects that a commit becomes. They follow from the commit's
/// id alone: the same commit has the same ids, in whichever clone it is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommitIds {
    /// The intent.
    pub intent: IntentId,
    /// The task.
    pub task: TaskId,
    /// The run.
    pub run: RunId,
    /// The run's patch set.
    pub patch_set: PatchSetId,
    /// The run's decision.
    pub decision: DecisionId,
    /// The run's evidence, which has the commit's header.
    pub header: EvidenceId,
    /// The batch that made them all.
    pub batch: Uuid,
}

impl CommitIds {
    /// The ids for a commit.
    pub fn of(commit: GitOid) -> CommitIds {
        let namespace = Uuid::new_v5(&Uuid::NAMESPACE_DNS, b"git.annals");
        let id = |what: &str| Uuid::new_v5(&namespace, format!("{commit}/{what}").as_bytes());
        CommitIds {
            intent: IntentId(id("intent")),
            task: TaskId(id("task")),
            run: RunId(id("run")),
            patch_set: PatchSetId(id("patch_set")),
            decision: DecisionId(id("decision")),
            header: EvidenceId(id("header")),
            batch: id("batch"),
        }
    }
}

/// The commands that record a commit, to be executed as one batch.
pub(super) fn requests(
    facts: &Facts,
    parent: Option<GitOid>,
    patch: Patch,
    tally: &mut Tally,
) -> Vec<Request> {
    let CommitIds {
        intent,
        task,
        run,
        patch_set,
        decision,
        header,
        ..
    } = CommitIds::of(facts.oid);
    let prompt = prompt(facts);
    let content = facts.body.as_deref().unwrap_or(prompt);
    let external_ids = Ordered(vec![("git.commit".to_owned(), facts.oid.to_string())]);
    let by_author: [Command; 8] = [
        CreateIntent::new(prompt).with_id(intent).into(),
        SetMetadata::new(intent.0)
            .with_external_ids(external_ids)
            .into(),
        AnalyzeIntent::new(intent, content).into(),
        ActivateIntent::new(intent).into(),
        CreateTask::new(title(facts, tally))
            .with_id(task)
            .with_intent(intent)
            .into(),
        CreateRun::new(task).with_id(run).with_commit(parent).into(),
        StartPatching::new(run).into(),
        propose(facts, run, parent, patch, tally)
            .with_id(patch_set)
            .into(),
    ];
    let by_committer: [Command; 3] = [
        StartValidation::new(run).into(),
        Decide::new(run, DecisionType::Commit)
            .with_id(decision)
            .with_chosen_patchset_id(patch_set)
            .with_result_commit_sha(facts.oid)
            .into(),
        CompleteIntent::new(intent).into(),
    ];
    let evidence = facts.header.as_deref();
    let evidence = evidence.map(|text| header::evidence(run, header, text).into());
    dated(facts, by_author, evidence.into_iter().chain(by_committer))
}

/// The commands of a commit, by its author at the time at which each was given.
fn dated(
    facts: &Facts,
    authored: impl IntoIterator<Item = Command>,
    committed: impl Iterator<Item = Command>,
) -> Vec<Request> {
    let request =
        |at: Timestamp| move |command: Command| Request::new(facts.author.clone(), command).at(at);
    let first = authored.into_iter().map(request(facts.authored_at));
    first
        .chain(committed.map(request(facts.committed_at)))
        .collect()
}

fn prompt(facts: &Facts) -> &str {
    match facts.subject.as_str() {
        "" => NO_MESSAGE,
        subject => subject,
    }
}

fn title(facts: &Facts, tally: &mut Tally) -> String {
    if facts.subject.is_empty() {
        return NO_SUBJECT.to_owned();
    }
    let title: String = facts.subject.chars().take(TITLE).collect();
    if title.len() < facts.subject.len() {
        tally.fields.inferred("task.title, cut from the subject");
    }
    title.trim_end().to_owned()
}

fn propose(
    facts: &Facts,
    run: RunId,
    parent: Option<GitOid>,
    patch: Patch,
    tally: &mut Tally,
) -> ProposePatchSet {
    let Patch { diff, touched, .. } = patch;
    let others: usize = touched.iter().map(|file| file.path.len()).sum::<usize>()
        + facts.subject.len() * 3
        + facts.body.as_ref().map_or(0, String::len) * 2
        + facts.header.as_ref().map_or(0, String::len);
    let diff = diff.map(Payload).filter(|diff| fits(diff, others));
    if parent.is_some() {
        tally.fields.kept("first parent");
    }
    ProposePatchSet::new(run, DiffFormat::GitDiff)
        .with_commit(parent)
        .with_diff(diff)
        .with_touched(touched)
        .with_rationale(facts.body.clone())
        .with_observed(true)
}

/// Whether a batch can have this diff beside `others` bytes of other text: as
/// a blob, and inside the request, which is JSON.
fn fits(diff: &Payload, others: usize) -> bool {
    if diff.0.len() <= SURELY_FITS {
        return true;
    }
    let mut counter = Counter(0);
    if serde_json::to_writer(&mut counter, diff).is_err() {
        return false;
    }
    let request = others
        .saturating_mul(JSON_GROWTH)
        .saturating_add(counter.0)
        .saturating_add(64 * 1024);
    let blobs = others.saturating_add(diff.0.len());
    diff.0.len() <= limits::BLOB && blobs <= limits::BATCH_BYTES && request <= limits::REQUEST
}

/// Counts what is written.
struct Counter(usize);

impl io::Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Whether the commands have the diff.
pub(super) fn has_diff(requests: &[Request]) -> bool {
    requests.iter().any(|request| {
        matches!(&request.command, Command::ProposePatchSet(patch) if patch.diff.is_some())
    })
}

/// Notes what became of a diff that was looked for.
pub(super) fn note_diff(facts: &Facts, requests: &[Request], tally: &mut Tally) {
    if has_diff(requests) {
        tally.fields.kept("diff and touched files");
    } else {
        tally.remarks.add(Remark::DiffTooLarge, facts.id);
        tally.fields.lost("diff", 1);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn ids_follow_from_the_commit_id_and_never_change() {
        let commit: GitOid = "0123456789abcdef0123456789abcdef01234567".parse().unwrap();
        let other: GitOid = "1123456789abcdef0123456789abcdef01234567".parse().unwrap();
        let ids = CommitIds::of(commit);
        assert_ne!(ids.batch, CommitIds::of(other).batch);
        assert_ne!(ids.intent.0, ids.task.0);
        // Logs hold these ids: another value here would import everything twice.
        assert_eq!(
            ids.batch.to_string(),
            "67daf6e7-b497-599f-9b12-056469f035e2"
        );
        assert_eq!(ids.run.to_string(), "0c3caf14-63ac-57f3-bb64-61faea69daa4");
    }

    #[test]
    fn a_diff_fits_by_its_json_too() {
        let plain = |len: usize| Payload(vec![b'x'; len]);
        assert!(fits(&plain(60 * 1024 * 1024), 0));
        assert!(
            !fits(&plain(64 * 1024 * 1024), 0),
            "its JSON has two quotes more"
        );
        assert!(
            !fits(&plain(60 * 1024 * 1024), 1024 * 1024),
            "the rest may grow sixfold"
        );
        let newlines = Payload(vec![b'\n'; 33 * 1024 * 1024]);
        assert!(!fits(&newlines, 0), "each line end is two bytes of JSON");
        let binary = Payload(vec![0xff; 33 * 1024 * 1024]);
        assert!(!fits(&binary, 0), "each byte is two hex digits");
    }
}
