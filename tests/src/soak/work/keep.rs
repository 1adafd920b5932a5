//! Steps that keep a log: rows, redaction, copies, checkpoints.

use std::sync::PoisonError;

use annals::domain::ActorRef;
use annals::proof::SigningKey;
use annals::{Annals, RedactRequest, Target};
use annals_event_log::{CommitError, Content, EventLog, PiecesOf, Position, Record, Redaction};
use annals_store_rocks::RocksLog;
use futures::executor::block_on;
use rand::Rng;
use rand::rngs::StdRng;

use super::{Failure, Shared, rocks};
use crate::soak::batch::{Batch, Kind};
use crate::soak::said::{Invariant, Said, Violation, say};
use crate::soak::{copies, projection, reading};

/// Commits all rows of a model, again and again.
pub(super) fn rows(log: &dyn EventLog, rows: u32, commits: u16) -> Result<(), Failure> {
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

/// Removes the content of a few events.
pub(super) fn redact(
    annals: &Annals,
    shared: &Shared,
    rng: &mut StdRng,
    events: u16,
) -> Result<(), Failure> {
    for _ in 0..events {
        let log = annals.log().as_ref();
        let records = reading::records(log, log.watermark())?;
        let with_text: Vec<&Record> = records.iter().filter(|r| has_text(r)).collect();
        if with_text.is_empty() {
            return Ok(());
        }
        let record = with_text[rng.random_range(0..with_text.len())];
        redact_one(annals, shared, rng, record)?;
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

fn redact_one(
    annals: &Annals,
    shared: &Shared,
    rng: &mut StdRng,
    record: &Record,
) -> Result<(), Failure> {
    let position = record.position();
    let Some(text) = text_of(annals, record) else {
        return Ok(());
    };
    say(&Said::Redacting {
        position: position.0,
        text: text.clone(),
    });
    if record.event_type().starts_with("test.") {
        plainly(annals.log().as_ref(), rng, record)?;
    } else {
        let request = RedactRequest {
            targets: vec![Target::Event(position)],
            actor: ActorRef::agent("soak"),
            reason: "it must go".into(),
            at: None,
        };
        block_on(annals.redact(&request, &mut |_| {}))?;
    }
    say(&Said::Redacted {
        position: position.0,
    });
    let mut removed = shared
        .removed
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    removed.push((position.0, text));
    Ok(())
}

/// Through the port: all pieces of the event, and its blobs.
fn plainly(log: &dyn EventLog, rng: &mut StdRng, record: &Record) -> Result<(), Failure> {
    let batch = Batch::new(rng, Kind::Plain, 1);
    say(&Said::Sent(batch));
    let content = record.content();
    let pieces = (0..content.len()).map(|n| n as u16).collect();
    let position = record.position();
    let redaction = Redaction {
        append: batch.append(),
        removed: vec![PiecesOf { position, pieces }],
        blobs: content.iter().filter_map(Content::blob).collect(),
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
    let mut checkpoint = block_on(annals.checkpoint(None))?;
    checkpoint.sign(&key)?;
    let head = checkpoint.head();
    say(&Said::Signed {
        size: head.size,
        root: head.root.to_string(),
    });
    Ok(())
}
