//! Opening for reading: next to a process that writes, or where no process does.

use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use annals_event_log::{Position, Watermark};

use crate::checks::hold;
use crate::error::OpenError;
use crate::open::{Access, Opened};
use crate::open_secondary::open_secondary;
use crate::options::Options;
use crate::pace::{Manifest, manifest};
use crate::secondary::Follower;
use crate::slot::Slot;
use crate::watermark_file::{self, WatermarkFile};
use crate::{endless, folder, identity};

/// How often opening a reader must fail while the log does not change.
const STILL_ATTEMPTS: u32 = 5;
const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(20);
/// For how long it is tried while the log changes.
const RESTLESS: Duration = Duration::from_secs(10);

/// Opens an existing log for reading, while another process may write to it.
pub(crate) fn open_reader(path: &Path, options: &Options) -> Result<Opened, OpenError> {
    let log_id = identity::read(path)?;
    let file = WatermarkFile::open(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => no_watermark(path),
        _ => OpenError::io(&path.join(watermark_file::NAME), error),
    })?;
    if file
        .read()
        .map_err(|error| OpenError::io(path, error))?
        .is_none()
    {
        return Err(no_watermark(path));
    }
    // Before the database is opened: what is removed from then on is not missed.
    let removals = file.removals();
    let removals = removals.map_err(|error| OpenError::io(path, error))?;
    let folder = hold(path)?;
    endless::check(path)?;
    let db = settled(path, || {
        open_secondary(path, &folder, options, log_id, Arc::default())
    })?;
    let db = Slot::new(Arc::new(db));
    let watermark = Arc::new(Watermark::new(Position::START));
    let follower = Follower::new(
        Arc::clone(&db),
        (options.clone(), log_id),
        (file, removals),
        Arc::clone(&watermark),
    );
    let follower = Arc::new(follower);
    follower
        .begin()
        .map_err(|error| follower.beginning(path, error))?;
    Ok(Opened {
        log_id,
        db,
        watermark,
        access: Access::Follow(follower),
    })
}

/// Repeats what can fail while a writer replaces files at that moment. It
/// is true damage where the log does not change and the attempt fails again.
fn settled<T>(
    path: &Path,
    mut attempt: impl FnMut() -> Result<T, OpenError>,
) -> Result<T, OpenError> {
    let deadline = Instant::now() + RESTLESS;
    let (mut last, mut still) = (signs_of_life(path), 0);
    loop {
        let error = match attempt() {
            Ok(done) => return Ok(done),
            Err(error) => error,
        };
        let signs = signs_of_life(path);
        still = if signs == last { still + 1 } else { 0 };
        last = signs;
        let passing = matches!(
            error,
            OpenError::Corrupt { .. }
                | OpenError::MissingColumnFamily { .. }
                | OpenError::Rocks { .. }
        );
        if !passing || still >= STILL_ATTEMPTS || Instant::now() > deadline {
            return Err(error);
        }
        thread::sleep(BETWEEN_ATTEMPTS);
    }
}

/// What changes while a process writes: which manifest there is, how long it is,
/// and the watermark.
fn signs_of_life(path: &Path) -> (Manifest, Vec<u8>) {
    let watermark = folder::read_file(&path.join(watermark_file::NAME));
    (manifest(path), watermark.unwrap_or_default())
}

fn no_watermark(path: &Path) -> OpenError {
    let reason = format!("its file {} is missing or damaged", watermark_file::NAME);
    let remedy = "opening the log once for writing creates it again, as `annals service apply /dev/null` does";
    OpenError::corrupt_but(path, reason, remedy)
}
