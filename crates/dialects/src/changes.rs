//! Word of the system that something changed in folders.

use std::path::Path;

use futures::StreamExt;
use futures::channel::mpsc;
use notify::event::{AccessKind, AccessMode};
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};

/// Tells of changes in folders, for as long as it is there.
#[derive(Debug)]
pub(crate) struct Changes {
    told: mpsc::Receiver<()>,
    _watcher: RecommendedWatcher,
}

impl Changes {
    /// Begins to listen for changes in these folders.
    ///
    /// # Errors
    /// Where the system cannot say what changes there.
    pub(crate) fn of<'a>(
        folders: impl IntoIterator<Item = &'a Path>,
        depth: RecursiveMode,
    ) -> notify::Result<Changes> {
        let (mut tell, told) = mpsc::channel(1);
        let mut watcher = notify::recommended_watcher(move |event| {
            if is_change(&event) {
                // A full channel says already that something changed.
                let _ = tell.try_send(());
            }
        })?;
        for folder in folders {
            watcher.watch(folder, depth)?;
        }
        Ok(Changes {
            told,
            _watcher: watcher,
        })
    }

    /// Waits until something changed. Where the system reports no more changes it never ends: the caller looks now and
    /// then.
    pub(crate) async fn next(&mut self) {
        if self.told.next().await.is_none() {
            futures::future::pending::<()>().await;
        }
    }
}

/// Whether something may be another than it was. To look at a folder is not a change:
/// otherwise looking because something changed would never end.
fn is_change(event: &notify::Result<notify::Event>) -> bool {
    let kind = match event {
        Ok(event) => event.kind,
        // Something was missed.
        Err(_) => return true,
    };
    !kind.is_access() || kind == EventKind::Access(AccessKind::Close(AccessMode::Write))
}
