//! Removing content: records are rewritten from the write on that says so, and then the
//! old bytes are given up.
//!
//! ```text
//! check     on a reader's thread: the pieces are there, no blob is needed that goes
//! begin     on the writer's: what came since is checked, and one write has the batch that
//!           says so, the first records, and the list of what is left (pending.rs)
//! step      the next records, between two groups of others' appends (steps.rs)
//! end       the last records; the blobs; everything that was folded goes
//! ```
//!
//! What is small is done in one write. What is interrupted is completed when the log is
//! opened for writing the next time. The blobs go last, so that no record names one that is
//! not there; for appends they are gone from the beginning. One redaction comes after the
//! other.

mod pending;
mod steps;
mod unfinished;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use annals_event_log::store_support::RequestDigest;
use annals_event_log::{Appended, Digest, PiecesOf, Position, Prepared, RedactError, Redaction};
use futures::channel::oneshot;
use rocksdb::WriteBatch;

use crate::columns::Columns;
use crate::db::Db;
use crate::error::{StoreFailure, corrupt};
use crate::index;
use crate::models::Turns;
use crate::read::View;
use crate::staging::Refusal;
use crate::writer::Groups;

pub(crate) use pending::{Left, Pending, decode_records, pending};
pub(crate) use steps::{Failure, Steps, resume};
pub(crate) use unfinished::{unfinished, unnamed};

pub use unfinished::Unfinished;

use steps::{Chunk, chunk_of};

/// What the writer makes of a redaction that was checked and encoded.
pub(crate) struct Removal {
    removed: Vec<PiecesOf>,
    blobs: Vec<Digest>,
    seen: Position,
    /// Up to where the pieces and the blobs were compared with the records.
    checked: Option<Position>,
}

impl From<&Redaction> for Removal {
    fn from(redaction: &Redaction) -> Removal {
        Removal {
            removed: redaction.removed.clone(),
            blobs: redaction.blobs.clone(),
            seen: redaction.seen,
            checked: None,
        }
    }
}

impl Removal {
    /// Checks what is to be removed against what is published: what the writer need not do
    /// while others wait for it. A record that was once as it should be stays so, as only
    /// other redactions change it.
    pub(crate) fn check_published(
        mut self,
        view: &View<'_>,
        prepared: &Prepared,
    ) -> Result<Removal, RedactError> {
        // A repeat is answered as the first time.
        if index::batch_row(view.db, &view.columns, prepared.batch)?.is_none() {
            self.check(view.db, &view.columns, view.watermark)?;
            self.checked = Some(view.watermark);
        }
        Ok(self)
    }

    /// Checks what is to be removed against the records, up to the last.
    fn check(&self, db: &Db, columns: &Columns<'_>, last: Position) -> Result<(), RedactError> {
        let blobs: HashSet<Digest> = self.blobs.iter().copied().collect();
        if self.checked.is_none() {
            self.check_pieces(db, columns, &blobs, last)?;
        }
        if blobs.is_empty() {
            return Ok(());
        }
        let of: HashMap<Position, &[u16]> = self
            .removed
            .iter()
            .map(|from| (from.position, from.pieces.as_slice()))
            .collect();
        let mut next = self.checked.unwrap_or(self.seen).next();
        while next <= last {
            let chunk = chunk_of(db, columns, next)?;
            let behind = chunk.records.iter().filter(|r| r.position() >= next);
            for record in behind {
                let pieces = of.get(&record.position()).copied().unwrap_or_default();
                Redaction::check_record(record, pieces, &blobs)?;
            }
            let end = chunk.first.saturating_add(chunk.records.len() as u64);
            if end <= next.0 {
                return Err(corrupt(format!("the record at {next} is missing")).into());
            }
            next = Position(end);
        }
        Ok(())
    }

    fn check_pieces(
        &self,
        db: &Db,
        columns: &Columns<'_>,
        blobs: &HashSet<Digest>,
        last: Position,
    ) -> Result<(), RedactError> {
        let mut chunk: Option<Chunk> = None;
        for PiecesOf { position, pieces } in &self.removed {
            if *position == Position::START || *position > last {
                return Err(RedactError::NoPiece {
                    position: *position,
                    piece: pieces.first().copied().unwrap_or_default(),
                });
            }
            let known = chunk.as_mut().and_then(|chunk| chunk.at_mut(*position));
            if known.is_none() {
                chunk = Some(chunk_of(db, columns, *position)?);
            }
            if let Some(record) = chunk.as_mut().and_then(|chunk| chunk.at_mut(*position)) {
                Redaction::check_record(record, pieces, blobs)?;
            }
        }
        Ok(())
    }
}

type Answer = oneshot::Sender<Result<Appended, RedactError>>;

/// A redaction that waits for its turn.
pub(crate) struct Waiting {
    pub(crate) prepared: Prepared,
    pub(crate) request: RequestDigest,
    pub(crate) removal: Removal,
    pub(crate) turns: Arc<Turns>,
}

impl Waiting {
    /// Begins it between two groups, once no other one is under way.
    pub(crate) fn begin(mut self, groups: Result<&mut Groups<'_>, StoreFailure>, answer: Answer) {
        let groups = match groups {
            Ok(groups) => groups,
            Err(failure) => return tell(answer, Err(failure.into())),
        };
        if groups.staging.going().is_some() {
            groups.put_back(Box::new(move |groups| self.begin(groups, answer)));
            return;
        }
        match groups.redact(&mut self) {
            Ok(Begun { appended, left }) => match left {
                None => tell(answer, Ok(appended)),
                Some(steps) => {
                    let under_way = UnderWay {
                        steps,
                        appended,
                        turns: self.turns,
                    };
                    groups.put_back(Box::new(move |groups| under_way.go_on(groups, answer)));
                }
            },
            Err(error) => tell(answer, Err(error)),
        }
    }
}

/// A redaction with steps left to do.
struct UnderWay {
    steps: Steps,
    appended: Appended,
    turns: Arc<Turns>,
}

impl UnderWay {
    /// Does the next step between two groups.
    fn go_on(mut self, groups: Result<&mut Groups<'_>, StoreFailure>, answer: Answer) {
        let groups = match groups {
            Ok(groups) => groups,
            Err(failure) => return tell(answer, Err(failure.into())),
        };
        match groups.step(&mut self.steps, &self.turns) {
            Ok(true) => tell(answer, Ok(self.appended)),
            Ok(false) => groups.put_back(Box::new(move |groups| self.go_on(groups, answer))),
            Err(error) => tell(answer, Err(error)),
        }
    }
}

fn tell(answer: Answer, result: Result<Appended, RedactError>) {
    // A caller that is gone has dropped its future; that is allowed.
    let _ = answer.send(result);
}

/// What became of a redaction in its first write.
struct Begun {
    appended: Appended,
    /// Nothing, if all of it was done.
    left: Option<Steps>,
}

impl Groups<'_> {
    /// Appends the batch and removes the content, or the first of it. Nothing is staged when
    /// it begins.
    fn redact(&mut self, waiting: &mut Waiting) -> Result<Begun, RedactError> {
        let done = |appended| Begun {
            appended,
            left: None,
        };
        let columns = self.db.columns()?;
        match self.staging.known(&waiting.prepared) {
            Ok(None) => {}
            Ok(Some(appended)) => return Ok(done(appended)),
            Err(Refusal::Batch(error)) => return Err(error.into()),
            // Nothing is staged yet.
            Err(Refusal::Store(error)) => return Err(error.into()),
        }
        let removal = &mut waiting.removal;
        removal.check(self.db, &columns, self.staging.last())?;
        let appended = match self.staging.append(&mut waiting.prepared, waiting.request) {
            Ok(appended) => appended,
            Err(Refusal::Batch(error)) => return Err(error.into()),
            Err(Refusal::Store(error)) => return Err(self.give_up(&error).into()),
        };
        let finished = self.staging.finish();
        let finished = finished.map_err(|error| self.give_up(&error))?;
        let Some((mut write, last)) = finished else {
            return Ok(done(appended));
        };
        let (removed, blobs) = (
            std::mem::take(&mut removal.removed),
            std::mem::take(&mut removal.blobs),
        );
        let mut steps = Steps::new(last, removed, blobs);
        // What others write about files and rows must not come between these steps.
        let _turn = waiting.turns.take();
        let stepped = steps.rewrite(self.db, &columns, &mut write);
        stepped.map_err(|error| self.give_up(&error))?;
        let is_over = steps.is_over();
        if is_over {
            self.put_end(&mut steps, &columns, &mut write)?;
        } else {
            steps.store(&columns, &mut write);
            self.staging.begin_removal(steps.blobs());
        }
        self.write_alone(write)?;
        if is_over {
            self.renew_readers()?;
        }
        self.publish(last);
        Ok(Begun {
            appended,
            left: (!is_over).then_some(steps),
        })
    }

    /// Rewrites the next records, and ends with the last of them; whether that was it.
    fn step(&mut self, steps: &mut Steps, turns: &Turns) -> Result<bool, RedactError> {
        let columns = self.db.columns()?;
        let mut write = WriteBatch::default();
        let stepped = steps.rewrite(self.db, &columns, &mut write);
        stepped.map_err(|error| self.give_up(&error))?;
        if !steps.is_over() {
            self.write_alone(write)?;
            return Ok(false);
        }
        let _turn = turns.take();
        self.put_end(steps, &columns, &mut write)?;
        self.write_alone(write)?;
        self.renew_readers()?;
        self.staging.end_removal();
        Ok(true)
    }

    /// Has readers in other processes see that content is gone. Where that fails, the redaction is not answered,
    /// and the next opening does it.
    fn renew_readers(&mut self) -> Result<(), StoreFailure> {
        let renewed = self.db.renew_readers();
        renewed.map_err(|failure| self.give_up(&failure.into()))
    }

    /// Puts the end of a redaction into a write.
    fn put_end(
        &mut self,
        steps: &mut Steps,
        columns: &Columns<'_>,
        write: &mut WriteBatch,
    ) -> Result<(), StoreFailure> {
        let mut counts = *self.staging.counts_mut();
        let going = self.staging.going();
        let stays = |digest: &Digest| going.is_some_and(|going| !going.contains(digest));
        let ended = steps.end(self.db, columns, &mut counts, stays, write);
        ended.map_err(|error| self.give_up(&error))?;
        *self.staging.counts_mut() = counts;
        Ok(())
    }
}
