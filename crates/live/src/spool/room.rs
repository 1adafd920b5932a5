//! How much room the spool has, known without a look at each file that waits: a hook costs the same however many there
//! are.
//!
//! The file `room` has how many events and bytes there was room for when the files were counted last, less those that
//! were kept since: 8 bytes of each, the least significant first. What was taken in meanwhile made more room than it
//! says. Only where it has no more, or cannot be read, the files are counted again. It is no more than that: nothing is
//! lost with it.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::time::Duration;

/// The file's name.
pub(super) const NAME: &str = "room";

/// How often, and after how long, it is tried again to be the only one at a file. Whoever has it has it for a moment,
/// unless it was stopped there.
const TRIES: (usize, Duration) = (20, Duration::from_millis(1));

/// Room for so many events and bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Room {
    pub(super) events: u64,
    pub(super) bytes: u64,
}

/// Takes room for an event of so many bytes in a folder that never has more than `most`; `counted` counts what is left
/// of that, or says why there is none.
pub(super) fn take<E>(
    folder: &Path,
    most: Room,
    bytes: u64,
    counted: impl FnOnce() -> Result<Room, E>,
) -> Result<(), E> {
    // Where the file cannot be used, the files that wait are counted each time.
    let file = open(folder)
        .and_then(|file| alone(&file).map(|()| file))
        .ok();
    let known = file.as_ref().and_then(|file| Room::read(file).ok());
    let known = known.filter(|known| known.events <= most.events && known.bytes <= most.bytes);
    let room = match known.and_then(|room| room.less(bytes)) {
        Some(room) => room,
        None => counted()?.less(bytes).unwrap_or_default(),
    };
    if let Some(file) = &file {
        let _ = room.write(file);
    }
    Ok(())
}

impl Room {
    /// What is left when an event was kept; nothing, where there is no room for it.
    fn less(self, bytes: u64) -> Option<Room> {
        Some(Room {
            events: self.events.checked_sub(1)?,
            bytes: self.bytes.checked_sub(bytes)?,
        })
    }

    fn read(file: &File) -> io::Result<Room> {
        let mut read = [[0; 8]; 2];
        file.read_exact_at(read.as_flattened_mut(), 0)?;
        let [events, bytes] = read.map(u64::from_le_bytes);
        Ok(Room { events, bytes })
    }

    fn write(self, file: &File) -> io::Result<()> {
        let written = [self.events, self.bytes].map(u64::to_le_bytes);
        file.write_all_at(written.as_flattened(), 0)
    }
}

fn open(folder: &Path) -> io::Result<File> {
    let mut how = OpenOptions::new();
    how.read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600);
    annals_files::open_with(&folder.join(NAME), &mut how)
}

/// Waits until nobody else is at a file, for a moment: a process that was stopped there must not hold up the others.
pub(super) fn alone(file: &File) -> io::Result<()> {
    let mut tries = 0..TRIES.0;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if tries.next().is_some() => std::thread::sleep(TRIES.1),
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::cell::Cell;
    use std::fs;

    use super::*;

    const MOST: Room = Room {
        events: 10,
        bytes: 1_000,
    };

    /// A folder, and how often its files were counted.
    struct Counted {
        folder: tempfile::TempDir,
        left: Cell<u64>,
        times: Cell<usize>,
    }

    impl Counted {
        fn new() -> Counted {
            Counted {
                folder: tempfile::tempdir().unwrap(),
                left: Cell::new(3),
                times: Cell::new(0),
            }
        }

        fn take(&self, bytes: u64) -> Result<(), &'static str> {
            take(self.folder.path(), MOST, bytes, || {
                self.times.set(self.times.get() + 1);
                let events = self.left.get();
                let room = Room { events, bytes: 100 };
                (events > 0).then_some(room).ok_or("full")
            })
        }

        fn known(&self) -> Option<Room> {
            Room::read(&open(self.folder.path()).unwrap()).ok()
        }
    }

    #[test]
    fn files_are_counted_once_and_then_only_where_there_is_no_more_room() {
        let counted = Counted::new();
        for _ in 0..3 {
            counted.take(30).unwrap();
        }
        assert_eq!(counted.times.get(), 1);
        assert_eq!(
            counted.known(),
            Some(Room {
                events: 0,
                bytes: 10
            })
        );
        counted.take(7).unwrap();
        assert_eq!(counted.times.get(), 2);
        // Bytes are room, too; one that is larger than what is left is the last one.
        counted.take(94).unwrap();
        assert_eq!(counted.times.get(), 3);
        counted.take(101).unwrap();
        assert_eq!(counted.known(), Some(Room::default()));
        counted.left.set(0);
        assert_eq!([counted.take(1), counted.take(1)], [Err("full"); 2]);
        // What was taken in makes room.
        counted.left.set(1);
        counted.take(1).unwrap();
    }

    #[test]
    fn what_the_file_says_is_not_trusted_beyond_what_there_can_be() {
        let counted = Counted::new();
        for odd in [&[0xff; 16][..], b"odd", b""] {
            fs::write(counted.folder.path().join(NAME), odd).unwrap();
            counted.take(0).unwrap();
            assert_eq!(
                counted.known(),
                Some(Room {
                    events: 2,
                    bytes: 100
                })
            );
        }
        assert_eq!(counted.times.get(), 3);
    }

    #[test]
    fn who_is_stopped_at_it_holds_up_nobody() {
        let counted = Counted::new();
        let held = open(counted.folder.path()).unwrap();
        held.lock().unwrap();
        for _ in 0..2 {
            counted.take(1).unwrap();
        }
        assert_eq!((counted.times.get(), counted.known()), (2, None));
        drop(held);
        counted.take(1).unwrap();
        assert_eq!(counted.known().map(|room| room.events), Some(2));
    }
}
