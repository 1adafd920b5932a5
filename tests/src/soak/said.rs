//! What the processes under test say, line by line, and what the witness keeps of it.
//!
//! A line goes out before an operation and after it, on a pipe that is outside of the
//! faulty disk. What is in a line that was cut off was not said.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::batch::{Batch, Kind};

/// One line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Said {
    /// A batch is about to be appended.
    Sent(Batch),
    /// It was acknowledged.
    Acknowledged {
        /// The batch.
        batch: Batch,
        /// Its first position; 0 where only its last one was reported.
        first: u64,
        /// Its last position.
        last: u64,
    },
    /// It was refused: nothing of it is stored.
    Refused(Batch),
    /// A reader was given all records up to its watermark.
    Records {
        /// How many.
        size: u64,
        /// The root of the tree over the headers that it was given.
        root: String,
    },
    /// A reader was shown an object.
    Object(Uuid),
    /// A checkpoint was signed, or shown.
    Signed {
        /// Of so many records.
        size: u64,
        /// The root.
        root: String,
    },
    /// Content is about to be removed.
    Redacting {
        /// The event, by its position.
        position: u64,
        /// The text that goes.
        text: String,
        /// The batch that says so, where it is one of those that are sent: once that is there,
        /// the content is gone.
        by: Option<Batch>,
    },
    /// It was removed.
    Redacted {
        /// The event.
        position: u64,
    },
    /// No file has anything of what had been removed when this was requested.
    Purged {
        /// The events that had lost their content.
        positions: Vec<u64>,
    },
    /// A copy is about to be made.
    Copying {
        /// Its folder's name.
        to: String,
    },
    /// A copy was made.
    Copied {
        /// Its folder's name.
        to: String,
        /// What was acknowledged when it was begun.
        least: u64,
    },
    /// A copy was looked at, and removed.
    Discarded {
        /// Its folder's name.
        to: String,
    },
    /// Everything up to here was acknowledged a while ago, or the log was closed with it:
    /// the file WATERMARK says so durably.
    Rested(u64),
    /// A step failed, as steps may under a fault.
    Failed {
        /// The step.
        step: String,
        /// The error.
        error: String,
    },
    /// Something is wrong, regardless of what happened to the disk.
    Violation(Violation),
    /// The log needed `annals doctor --truncate-tail` before it opened.
    NeededDoctor(String),
    /// The log was checked.
    Checked {
        /// How many records it has.
        records: u64,
    },
}

/// What must hold; the numbers are those of the list in `docs/reliability.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Invariant {
    /// 1: every acknowledged batch is there, whole.
    Acknowledged,
    /// 2: no batch is partly there.
    Whole,
    /// 3: nothing is there that was never sent, or was refused.
    Sent,
    /// 4: positions and versions are dense.
    Dense,
    /// 5: heads, indexes, catalogue and tree are what the records give.
    Derived,
    /// 6: the repeat of a batch that was not acknowledged lands once.
    Once,
    /// 7: the log fits every checkpoint that was signed.
    Checkpoints,
    /// 8: nothing that a reader was shown is gone, and none is shown too much.
    Shown,
    /// 9: the log opens, `verify` passes, and the next command is taken.
    Usable,
    /// What was removed is gone.
    Removed,
    /// A copy that was made is whole.
    Copied,
    /// Every process comes to an end.
    Ends,
}

/// Something that must hold and does not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Violation {
    /// What must hold.
    pub invariant: Invariant,
    /// What was found instead.
    pub found: String,
}

impl Violation {
    /// A violation.
    pub fn new(invariant: Invariant, found: impl Into<String>) -> Violation {
        Violation {
            invariant,
            found: found.into(),
        }
    }
}

/// Says a line on standard output, at once.
pub fn say(said: &Said) {
    let mut line = serde_json::to_vec(said).expect("a line");
    line.push(b'\n');
    let mut out = std::io::stdout().lock();
    // The parent may be gone; then this process is about to be, too.
    let _ = out.write_all(&line);
    let _ = out.flush();
}

/// What became of a batch, as far as it was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// It was sent, and nothing more was said.
    Unknown,
    /// It was refused.
    Refused,
    /// It was acknowledged up to this position.
    Acknowledged(u64),
}

/// A redaction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Removal {
    /// The text that goes.
    pub text: String,
    /// Whether it was acknowledged.
    pub done: bool,
    /// Whether no file has it, as was said.
    pub purged: bool,
    /// The batches that say so, of those that are sent.
    pub by: BTreeSet<Batch>,
}

/// All that was said of one log.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct History {
    /// The batches, and what became of them.
    pub batches: BTreeMap<Batch, Fate>,
    /// How many records were shown, and the root over them.
    pub records: BTreeSet<(u64, String)>,
    /// Objects that were shown.
    pub objects: BTreeSet<Uuid>,
    /// Sizes and roots of checkpoints.
    pub checkpoints: BTreeSet<(u64, String)>,
    /// What was removed, by the event's position.
    pub removed: BTreeMap<u64, Removal>,
    /// Copies: what they must have at least, if they were finished.
    pub copies: BTreeMap<String, Option<u64>>,
    /// What the file WATERMARK says at least, durably.
    pub rested: u64,
}

impl History {
    /// Adds a line.
    pub fn add(&mut self, said: &Said) {
        match said {
            Said::Sent(batch) => {
                // A repeat of what was acknowledged does not make it unknown.
                let fate = self.batches.entry(*batch).or_insert(Fate::Unknown);
                if *fate == Fate::Refused {
                    *fate = Fate::Unknown;
                }
            }
            Said::Acknowledged { batch, last, .. } => {
                self.batches.insert(*batch, Fate::Acknowledged(*last));
            }
            Said::Refused(batch) => {
                self.batches.insert(*batch, Fate::Refused);
            }
            Said::Records { size, root } => {
                self.records.insert((*size, root.clone()));
            }
            Said::Object(id) => {
                self.objects.insert(*id);
            }
            Said::Signed { size, root } => {
                self.checkpoints.insert((*size, root.clone()));
            }
            Said::Redacting { position, text, by } => {
                let removal = || Removal {
                    text: text.clone(),
                    done: false,
                    purged: false,
                    by: BTreeSet::new(),
                };
                let removal = self.removed.entry(*position).or_insert_with(removal);
                removal.by.extend(*by);
            }
            Said::Redacted { position } => {
                if let Some(removal) = self.removed.get_mut(position) {
                    removal.done = true;
                }
            }
            Said::Purged { positions } => {
                for position in positions {
                    if let Some(removal) = self.removed.get_mut(position) {
                        removal.purged = true;
                    }
                }
            }
            Said::Copying { to } => {
                self.copies.entry(to.clone()).or_insert(None);
            }
            Said::Copied { to, least } => {
                self.copies.insert(to.clone(), Some(*least));
            }
            Said::Discarded { to } => {
                self.copies.remove(to);
            }
            Said::Rested(position) => self.rested = self.rested.max(*position),
            Said::Failed { .. }
            | Said::Violation(_)
            | Said::NeededDoctor(_)
            | Said::Checked { .. } => {}
        }
    }

    /// The last position that was acknowledged.
    pub fn acknowledged(&self) -> u64 {
        let acknowledged = |fate: &Fate| match fate {
            Fate::Acknowledged(last) => *last,
            Fate::Unknown | Fate::Refused => 0,
        };
        self.batches.values().map(acknowledged).max().unwrap_or(0)
    }

    /// Batches of which it is not known whether they are stored.
    pub fn unknown(&self) -> Vec<Batch> {
        let unknown = self
            .batches
            .iter()
            .filter(|(batch, fate)| **fate == Fate::Unknown && batch.kind() != Kind::Redaction);
        unknown.map(|(batch, _)| *batch).collect()
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand::rngs::StdRng;

    use super::super::batch::Kind;
    use super::*;

    #[test]
    fn what_was_said_makes_the_fate_of_a_batch() {
        let batch = Batch::new(&mut StdRng::seed_from_u64(1), Kind::Plain, 3);
        let acknowledged = Said::Acknowledged {
            batch,
            first: 1,
            last: 3,
        };
        let mut history = History::default();
        history.add(&Said::Sent(batch));
        assert_eq!(
            (history.unknown(), history.acknowledged()),
            (vec![batch], 0)
        );
        history.add(&acknowledged);
        // A repeat that is not answered takes nothing back.
        history.add(&Said::Sent(batch));
        assert_eq!((history.unknown(), history.acknowledged()), (vec![], 3));
    }

    #[test]
    fn a_line_is_read_as_it_was_said() {
        let batch = Batch::new(&mut StdRng::seed_from_u64(2), Kind::Intents, 1);
        let said = Said::Acknowledged {
            batch,
            first: 0,
            last: 9,
        };
        let line = serde_json::to_string(&said).unwrap();
        assert_eq!(serde_json::from_str::<Said>(&line).unwrap(), said);
        let cut_off = &line[..line.len() - 1];
        assert!(serde_json::from_str::<Said>(cut_off).is_err());
    }
}
