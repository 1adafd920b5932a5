//! Whose entries a run may change. Each log has a namespace, named by its id; entries without a log
//! are those of older versions and of other tools.

use uuid::Uuid;

/// The log that a run is about.
#[derive(Debug)]
pub(super) struct Owner {
    /// The name of its namespace: the id of the log.
    pub(super) name: String,
    /// Whether a release also removes entries without a log.
    pub(super) unowned: bool,
}

/// Whose an entry is, as seen by one log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Belongs {
    /// To this log.
    Own,
    /// To no log.
    Unowned,
    /// To another log or tool.
    Other,
}

impl Owner {
    pub(super) fn new(log: Uuid, unowned: bool) -> Owner {
        Owner {
            name: log.hyphenated().to_string(),
            unowned,
        }
    }

    /// Whose the entries of a namespace are.
    pub(super) fn whose(&self, namespace: Option<&str>) -> Belongs {
        match namespace {
            Some(name) if name == self.name => Belongs::Own,
            Some(_) => Belongs::Other,
            None => Belongs::Unowned,
        }
    }

    /// Whether a release may remove such entries.
    pub(super) fn may_release(&self, belongs: Belongs) -> bool {
        match belongs {
            Belongs::Own => true,
            Belongs::Unowned => self.unowned,
            Belongs::Other => false,
        }
    }
}
