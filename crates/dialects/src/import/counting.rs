//! Counting the tokens of what was read, on a thread of its own between the reading and the recording one: it takes
//! half as long as reading, and two processors are to have work.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::StreamExt;
use futures::executor::block_on;

use super::error::ImportError;
use super::source::ReadEvent;
use crate::reading::{self, Stop};
use crate::tokens;
use crate::transcript::item::Read;

/// Parts that may be counted before they are looked at.
const READY: usize = 1;

/// Passes on what was read, with its tokens counted while `is_wanted`. They take long, and a line that the log has
/// already needs none.
pub(crate) fn start(
    mut events: reading::Events<ReadEvent, ImportError>,
    is_wanted: Arc<AtomicBool>,
) -> Result<reading::Events<ReadEvent, ImportError>, ImportError> {
    let count = move |outlet: &mut reading::Outlet<ReadEvent, ImportError>| {
        // The thread that first splits a text has the splitter's memory for itself, and others share one that is locked.
        tokens::estimate("a");
        while let Some(event) = block_on(events.next()) {
            match event? {
                ReadEvent::End => return Ok(()),
                event => outlet.send(counted(event, &is_wanted))?,
            }
        }
        // The reading thread ended without a last message.
        Err(Stop::ReceiverDropped)
    };
    reading::start("annals-tokens", READY, ReadEvent::End, count).map_err(ImportError::Thread)
}

fn counted(mut event: ReadEvent, is_wanted: &AtomicBool) -> ReadEvent {
    if let ReadEvent::Lines(lines) = &mut event {
        let reads = lines.iter_mut().filter_map(|line| line.read.as_mut().ok());
        for read in reads.flatten() {
            if let (true, Read::Entry(entry)) = (is_wanted.load(Ordering::Relaxed), read) {
                entry.count_ahead();
            }
        }
    }
    event
}
