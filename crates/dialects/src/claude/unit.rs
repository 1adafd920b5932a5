//! What is recorded together or not at all.

use annals::Request;
use annals_domain::Command;
use uuid::Uuid;

use super::remark::Remark;
use crate::report::Fields;

/// A batch that is recorded once, whatever else the recording grows by.
#[derive(Debug)]
pub(super) struct Unit {
    /// The idempotency key; it follows from what the recording calls it.
    pub(super) key: Uuid,
    pub(super) requests: Vec<Request>,
    /// The model that it is due to.
    pub(super) model: Option<String>,
    pub(super) load: Load,
    /// The line that completed it.
    pub(super) line: u64,
}

impl Unit {
    /// About how many bytes it holds, if it is a frame.
    pub(super) fn size(&self) -> usize {
        let size = |request: &Request| match &request.command {
            Command::PushFrame(frame) => {
                let data = frame.data.as_ref().map_or(0, |data| data.text().len());
                frame.summary.len() + data
            }
            _ => 0,
        };
        self.requests.iter().map(size).sum()
    }
}

/// What is to be reported of a unit, once it is recorded.
#[derive(Debug, Default)]
pub(super) struct Load {
    /// The fields that went into it.
    pub(super) fields: Fields,
    /// How many lines are done with it.
    pub(super) lines: u64,
    pub(super) remarks: Vec<Remark>,
}

impl Load {
    /// What a line brings.
    pub(super) fn line() -> Load {
        Load {
            lines: 1,
            ..Load::default()
        }
    }

    /// What is to be reported, which is then reported no more.
    pub(super) fn take(&mut self) -> Load {
        std::mem::take(self)
    }

    pub(super) fn add(&mut self, other: Load) {
        self.fields.add(&other.fields);
        self.lines += other.lines;
        self.remarks.extend(other.remarks);
    }
}
