//! Steps that keep a log: rows, redaction, copies, checkpoints.

use std::sync::PoisonError;

use annals::domain::ActorRef;
use annals::proof::SigningKey;
use annals::{Annals, RedactRequest, Target};
use annals_event_log::{
    CommitError, Content, Digest, EventLog, PiecesOf, Position, Record, Redaction, Store,
};
use annals_store_rocks::RocksLog;
use futures::executor::block_on;
use rand::Rng;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;

use super::{Failure, Shared, rocks};
use crate::soak::batch::{Batch, Kind};
use crate::soak::said::{Invariant, Said, Violation, say};
use crate::soak::{copies, projection, reading};

/// How many times as many events are redacted where they are redacted at once.
const MANY: usize = 40;

/// Commits all rows of a model, again and again.
pub(super) fn rows(log: &dyn Store, rows: u32, commits: u16) -> Result<(), Failure> {
    for _ in 0..commits {
        let before = block_on(log.checkpoint(projection::WHOLE))?;
        let to = log.watermark();
        let new = projection::whole(to, rows);
        match block_on(log.commit(projection::WHOLE, before, new, to)) {
            Ok(()) | Err(CommitError::Checkpoint { .. } | CommitError::Epoch { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Removes the content of a few events, one after the other or many at once.
pub(super) fn redact(
    annals: &Annals,
    shared: &Shared,
    rng: &mut StdRng,
    events: u16,
) -> Result<(), Failure> {
    let (times, at_once) = match rng.random() {
        true => (events, 1),
        false => (1, usize::from(events) * MANY),
    };
    for _ in 0..times {
        let log = annals.log().as_ref();
        let records = reading::records(log, log.watermark())?;
        let with_text: Vec<&Record> = records.iter().filter(|r| has_text(r)).collect();
        // Nearly all of them, where there are few.
        let mut some: Vec<&Record> = with_text.choose_multiple(rng, at_once).copied().collect();
        some.sort_by_key(|record| record.position());
        redact_some(annals, shared, rng, &some)?;
    }
    Ok(())
}

/// The text of a record that the witness can look for.
fn text_of(annals: &Annals, record: &Record) -> Option<String> {
    let bytes = match record.content().into_iter().next()? {
        Content::Inline { bytes, .. } => bytes,
        Content::Blob { digest, .. } => block_on(annals.log().blob(digest)).ok()??,
        _ => return None,
    };
    let text = String::from_utf8_lossy(&bytes);
    let end = text.find('>')?;
    let text = text.get(..=end)?;
    text.starts_with("soak<").then(|| text.to_owned())
}

fn has_text(record: &Record) -> bool {
    let is_ours =
        record.event_type().starts_with("test.") || record.event_type() == "intent.submitted";
    let first = record.content().into_iter().next();
    is_ours && matches!(first, Some(Content::Inline { .. } | Content::Blob { .. }))
}

fn redact_some(
    annals: &Annals,
    shared: &Shared,
    rng: &mut StdRng,
    records: &[&Record],
) -> Result<(), Failure> {
    let with_text = records.iter().filter_map(|record| {
        let text = text_of(annals, record)?;
        Some((*record, text))
    });
    let (records, texts): (Vec<&Record>, Vec<String>) = with_text.unzip();
    let Some(first) = records.first() else {
        return Ok(());
    };
    let through_the_port = first.event_type().starts_with("test.");
    let batch = Batch::new(rng, Kind::Redaction, 1);
    for (record, text) in records.iter().zip(&texts) {
        let (position, text) = (record.position().0, text.clone());
        let by = through_the_port.then_some(batch);
        say(&Said::Redacting { position, text, by });
    }
    if through_the_port {
        plainly(annals.log().as_ref(), batch, &records)?;
    } else {
        let positions = records.iter().map(|record| record.position());
        let request = RedactRequest::new(
            positions.map(Target::Event).collect(),
            ActorRef::agent("soak"),
            "it must go",
        );
        block_on(annals.contents().redact(&request, &mut |_| {}))?;
    }
    let mut removed = shared
        .removed
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    for (record, text) in records.iter().zip(texts) {
        let position = record.position().0;
        say(&Said::Redacted { position });
        removed.push((position, text));
    }
    Ok(())
}

/// Through the port: all pieces of the events, and their blobs.
fn plainly(log: &dyn Store, batch: Batch, records: &[&Record]) -> Result<(), Failure> {
    say(&Said::Sent(batch));
    let pieces_of = |record: &&Record| PiecesOf {
        position: record.position(),
        pieces: (0..record.content().len()).map(|n| n as u16).collect(),
    };
    let blobs_of = |record: &&Record| -> Vec<Digest> {
        let content = record.content();
        content.iter().filter_map(Content::blob).collect()
    };
    let redaction = Redaction {
        append: batch.append(),
        removed: records.iter().map(pieces_of).collect(),
        blobs: records.iter().flat_map(blobs_of).collect(),
        seen: log.watermark(),
    };
    let appended = block_on(log.redact(redaction))?;
    let (first, last) = (appended.first.0, appended.last.0);
    say(&Said::Acknowledged { batch, first, last });
    Ok(())
}

/// Gives up the bytes of what was removed, and looks for them in the files.
pub(super) fn purge(annals: &Annals, shared: &Shared) -> Result<(), Failure> {
    let removed = {
        let removed = shared
            .removed
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        removed.clone()
    };
    rocks(annals)?.purge()?;
    let texts: Vec<&str> = removed.iter().map(|(_, text)| text.as_str()).collect();
    if !shared.compression
        && let Some((text, path)) = copies::find(&shared.path, &texts)
    {
        let found = format!("{text} is in {} after a purge", path.display());
        say(&Said::Violation(Violation::new(Invariant::Removed, found)));
    }
    let positions = removed.iter().map(|(position, _)| *position).collect();
    say(&Said::Purged { positions });
    Ok(())
}

/// A name for a copy.
fn next_copy(shared: &Shared) -> String {
    let mut copies = shared.copies.lock().unwrap_or_else(PoisonError::into_inner);
    copies.1 += 1;
    format!("copy-{}", copies.1)
}

fn copied(shared: &Shared, to: String, least: Position) {
    say(&Said::Copied {
        to: to.clone(),
        least: least.0,
    });
    let mut copies = shared.copies.lock().unwrap_or_else(PoisonError::into_inner);
    copies.0.push(to);
}

/// Copies the log.
pub(super) fn backup(annals: &Annals, shared: &Shared) -> Result<(), Failure> {
    let to = next_copy(shared);
    say(&Said::Copying { to: to.clone() });
    let least = annals.position();
    rocks(annals)?.backup(&shared.home.join(&to))?;
    copied(shared, to, least);
    Ok(())
}

/// Makes a log of a copy, as `annals restore` does.
pub(super) fn restore(shared: &Shared) -> Result<(), Failure> {
    let last = {
        let copies = shared.copies.lock().unwrap_or_else(PoisonError::into_inner);
        copies.0.last().cloned()
    };
    let Some(from) = last else { return Ok(()) };
    let to = next_copy(shared);
    say(&Said::Copying { to: to.clone() });
    let copy = RocksLog::open_reader(&shared.home.join(from), &shared.options)?;
    let least = copy.watermark();
    copy.backup(&shared.home.join(&to))?;
    copied(shared, to, least);
    block_on(copy.close());
    Ok(())
}

/// Signs a checkpoint of all that is durable.
pub(super) fn sign(annals: &Annals) -> Result<(), Failure> {
    let key = SigningKey::generate("soak")?;
    let mut checkpoint = block_on(annals.proofs().checkpoint(None))?;
    checkpoint.sign(&key)?;
    let head = checkpoint.head();
    say(&Said::Signed {
        size: head.size,
        root: head.root.to_string(),
    });
    Ok(())
}
