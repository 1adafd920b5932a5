//! Lines of a recording as the reading thread hands them over.

use crate::secrets::Hit;
use crate::transcript::item::Read;

/// A line that was read.
#[derive(Debug)]
pub(crate) struct ReadLine {
    /// Its number in its file, from 1.
    pub(crate) number: u64,
    /// What it says without its secrets, or what is wrong with it.
    pub(crate) read: Result<Vec<Read>, String>,
    /// How many records it has: one, but where an interrupted writer left no line end.
    pub(crate) values: usize,
    /// Parts of it that could not be read, next to records that were: why not.
    pub(crate) lost: Vec<String>,
    /// Whether it has halves of surrogate pairs, which formats replace.
    pub(crate) has_half_characters: bool,
    /// The secrets that it had.
    pub(crate) hits: Vec<Hit>,
    /// How far the import is with it.
    pub(crate) done: u64,
}

/// Why a line cannot be read, and the line, if that is known.
pub(super) struct Unreadable {
    pub(super) reason: String,
    pub(super) bytes: Option<Vec<u8>>,
}

impl Unreadable {
    pub(super) fn of(error: &impl ToString) -> Unreadable {
        Unreadable {
            reason: error.to_string(),
            bytes: None,
        }
    }
}

/// What a line says, or why it says nothing.
pub(super) struct Understood {
    pub(super) read: Result<Vec<Read>, String>,
    pub(super) values: usize,
    pub(super) lost: Vec<String>,
    pub(super) has_half_characters: bool,
    pub(super) hits: Vec<Hit>,
}

impl Understood {
    /// A line of one record.
    pub(super) fn of(read: Result<Vec<Read>, String>) -> Understood {
        Understood {
            read,
            values: 1,
            lost: Vec::new(),
            has_half_characters: false,
            hits: Vec::new(),
        }
    }

    pub(super) fn line(self, number: u64, done: u64) -> ReadLine {
        ReadLine {
            number,
            read: self.read,
            values: self.values,
            lost: self.lost,
            has_half_characters: self.has_half_characters,
            hits: self.hits,
            done,
        }
    }
}
