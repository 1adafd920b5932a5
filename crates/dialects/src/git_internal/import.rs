//! `import git-internal`: objects are adopted as they are.

use std::collections::HashSet;
use std::path::Path;

use annals::{AdoptRefusal, Adopted, Annals, ExecuteError, ImportedObject};
use annals_event_log::{AppendError, limits};
use annals_wire::EncodeError;
use futures::StreamExt;
use uuid::Uuid;

use super::both::Both;
use super::error::GitInternalImportError;
use super::judge::{judge, lead_on};
use super::known::Known;
use super::parts::Longest;
use super::read::{self, Found, ReadEvent};
use crate::report::{self, ImportReport, Progress, Violations, counted};
use crate::secrets::Secrets;

/// Objects that are adopted in one append.
const BATCH_OBJECTS: usize = 256;
/// Bytes of content beyond which no further object is put into an append.
const BATCH_BYTES: usize = 4 * 1024 * 1024;

/// Entries below which no list by itself makes an object too large.
const MANY: usize = 100;

/// Imports git-internal's objects from a file of JSON lines, a file with one
/// object, or a folder of such files. `progress` counts bytes.
///
/// `secrets` are taken out of each object before it is read.
///
/// Objects are adopted in the order of the source, in any state. One
/// that is there already, unchanged, is left alone; one that was adopted in
/// another state is replaced; one that has events of this log's own is refused.
/// What cannot be read is named, and the rest is read.
///
/// It reads on a thread of its own and needs no particular async runtime.
///
/// # Errors
/// [`GitInternalImportError`].
pub async fn import(
    annals: &Annals,
    path: &Path,
    secrets: &Secrets,
    progress: &mut dyn FnMut(Progress),
) -> Result<ImportReport, GitInternalImportError> {
    let mut messages = read::start(path, secrets)?;
    let mut import = Import {
        annals,
        report: ImportReport {
            source: format!("git-internal {}", path.display()),
            ..ImportReport::default()
        },
        fields: report::Fields::default(),
        adoptees: Vec::new(),
        waiting: Vec::new(),
        ids: HashSet::new(),
        bytes: 0,
        replaced: 0,
        folded: 0,
        known: Known::default(),
    };
    let (mut total, mut done) = (0, 0);
    while let Some(received) = messages.next().await {
        let message = match received {
            Ok(message) => message,
            Err(error) => {
                import.flush().await?;
                return Err(error);
            }
        };
        match message {
            ReadEvent::Found { bytes, others } => {
                total = bytes;
                others.report(&mut import.report);
            }
            ReadEvent::Known(known) => import.learn(*known).await?,
            ReadEvent::Redacted { file, line, hits } => {
                import.report.redacted.add_hits(&file, line, &hits);
            }
            ReadEvent::Object(found) => {
                done = found.done;
                import.object(*found).await?;
            }
            ReadEvent::Event { fields, done: read } => {
                done = read;
                import.report.records_read += 1;
                import.folded += 1;
                import.fields.add(&fields);
            }
            ReadEvent::Broken {
                file,
                line,
                reason,
                done: read,
            } => {
                done = read;
                import.report.records_read += 1;
                import.report.add_broken(&file, line, reason);
            }
            ReadEvent::End => {
                import.flush().await?;
                return Ok(import.finish().without_secrets(secrets));
            }
        }
        progress(Progress { done, total });
    }
    Err(GitInternalImportError::Interrupted {
        path: path.to_owned(),
    })
}

/// Why an object was not adopted: what is too long, where that is why.
fn refused(refusal: &AdoptRefusal, longest: &Longest) -> String {
    let AdoptRefusal::Unfit(EncodeError::TooLarge { .. } | EncodeError::TooManyPieces { .. }) =
        refusal
    else {
        return refusal.to_string();
    };
    let Longest { field, entries } = longest;
    let list = match entries {
        ..MANY => String::new(),
        _ => format!("; its longest list of that kind is {field}, with {entries} entries"),
    };
    format!("{refusal}{list}. The other objects were read")
}

/// What is to be reported of an object that waits for the next append.
struct Waiting {
    longest_list: Longest,
    file: String,
    line: u64,
    fields: report::Fields,
    violations: Vec<String>,
}

struct Import<'a> {
    annals: &'a Annals,
    report: ImportReport,
    fields: report::Fields,
    /// Objects that wait for the next append, and what to report of each.
    adoptees: Vec<ImportedObject>,
    waiting: Vec<Waiting>,
    ids: HashSet<Uuid>,
    bytes: usize,
    /// Objects that were there in another state.
    replaced: u64,
    /// Events that were folded into the objects that they are about.
    folded: u64,
    known: Known,
}

impl Import<'_> {
    /// Takes in what is to be known before the first object is judged.
    async fn learn(&mut self, mut known: Known) -> Result<(), GitInternalImportError> {
        if !lead_on(&mut known, self.annals).await? {
            let note = "parents and dependencies lead on to more objects of the log than are \
                        followed: a cycle through the others is not listed";
            self.report.notes.push(note.to_owned());
        }
        known.close();
        self.known = known;
        Ok(())
    }

    async fn object(&mut self, found: Found) -> Result<(), GitInternalImportError> {
        self.report.records_read += 1;
        let header = &found.object.header;
        let (kind, id) = (header.kind, header.id);
        if let Some((holder, place)) = self.known.holder(id)
            && holder != kind
        {
            let reason = format!("{kind} {id} has the id of the {holder} in {place}");
            self.report.add_broken(&found.file, found.line, reason);
            return Ok(());
        }
        if self.ids.contains(&id) || self.waiting.len() == BATCH_OBJECTS || self.bytes > BATCH_BYTES
        {
            self.flush().await?;
        }
        let both = Both {
            known: &self.known,
            annals: self.annals,
        };
        let violations = judge(&found.object, both).await?;
        let (events, digest) = found.object.adoption(&violations);
        // Long lists of ids and numbers are in the structure, up to its limit.
        self.bytes += events.len().saturating_sub(1) * limits::STRUCTURE;
        let pieces = events.iter().flat_map(|event| event.pieces.list());
        self.bytes += pieces.map(|piece| piece.bytes.len()).sum::<usize>();
        self.ids.insert(id);
        self.adoptees.push(ImportedObject {
            kind,
            id,
            actor: header.created_by.clone(),
            at: header.updated_at,
            digest,
            events,
        });
        self.waiting.push(Waiting {
            longest_list: found.object.longest_list(),
            file: found.file,
            line: found.line,
            fields: found.fields,
            violations,
        });
        Ok(())
    }

    /// Adopts what waits.
    async fn flush(&mut self) -> Result<(), GitInternalImportError> {
        let adoptees = std::mem::take(&mut self.adoptees);
        let waiting = std::mem::take(&mut self.waiting);
        self.ids.clear();
        self.bytes = 0;
        if adoptees.is_empty() {
            return Ok(());
        }
        let answers = match self.annals.imports().adopt(&adoptees).await {
            // Together they are too large for an append; each alone is, or
            // says why not.
            Err(ExecuteError::Append(AppendError::TooLarge { .. })) => {
                let mut answers = Vec::with_capacity(adoptees.len());
                for adoptee in &adoptees {
                    let alone = self
                        .annals
                        .imports()
                        .adopt(std::slice::from_ref(adoptee))
                        .await;
                    answers.extend(alone.map_err(Box::new)?);
                }
                answers
            }
            answers => answers.map_err(Box::new)?,
        };
        for ((adoptee, one), answer) in adoptees.iter().zip(waiting).zip(answers) {
            self.note(adoptee, one, answer);
        }
        Ok(())
    }

    fn finish(mut self) -> ImportReport {
        self.fields.report(&mut self.report);
        if self.folded > 0 {
            let events = counted(
                self.folded,
                "event of git-internal 0.8 is",
                "events of git-internal 0.8 are",
            );
            let note = format!("{events} taken into the objects that they are about");
            self.report.notes.push(note);
        }
        if self.replaced > 0 {
            let note = format!(
                "{} in the log in another state: the imported state counts now; `annals log history` \
                 and `annals show --at` have what was before",
                counted(self.replaced, "object was", "objects were")
            );
            self.report.notes.push(note);
        }
        self.report
    }

    fn note(&mut self, adoptee: &ImportedObject, one: Waiting, answer: Adopted) {
        self.replaced += u64::from(matches!(answer, Adopted::Replaced));
        let report = &mut self.report;
        match answer {
            Adopted::Unchanged => report.already_there += 1,
            Adopted::Refused(refusal) => {
                let reason = refused(&refusal, &one.longest_list);
                report.add_broken(&one.file, one.line, reason);
            }
            Adopted::New | Adopted::Replaced => {
                report.imported += 1;
                report.events_made += adoptee.events.len() as u64;
                self.fields.add(&one.fields);
                if !one.violations.is_empty() {
                    report.add_violations(Violations {
                        object_type: adoptee.kind.to_string(),
                        object_id: adoptee.id,
                        file: one.file,
                        line: one.line,
                        violations: one.violations,
                    });
                }
            }
        }
    }
}
