//! The stores that are compared: which program has them, what they can do, and how durable an
//! append of theirs is. `docs/performance.md` is written from this list.

use std::str::FromStr;

use crate::measurement::Measurement;
use crate::measurement::Measurement::{Append, Batch, Conditional, Fill, Read};
use crate::workload::{Layout, UnknownName};

/// The program that has a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Program {
    /// `compare-ours`: what is built with the workspace's RocksDB.
    Ours,
    /// `compare-peers`, from outside of the workspace.
    Peers,
}

/// What a store is in the tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Ours.
    Ours,
    /// What a user might take instead of ours: the best of these is what ours is compared with.
    Peer,
    /// A layer below, or another kind of store: shown, and not compared with.
    Beside,
}

/// One store.
#[derive(Debug)]
pub struct StoreKind {
    /// Its name on command lines.
    pub name: &'static str,
    /// Its name in tables, with its version.
    pub title: &'static str,
    /// The program that has it.
    pub program: Program,
    /// What it is in the tables.
    pub role: Role,
    /// How durable an append is when it returns, and what is to be known of it.
    pub durability: &'static str,
    /// What it can do.
    pub can: fn(Measurement, Layout) -> bool,
}

fn everything(_: Measurement, _: Layout) -> bool {
    true
}

fn without_conditions(measurement: Measurement, _: Layout) -> bool {
    !matches!(measurement, Conditional(_))
}

fn one_writer(measurement: Measurement, _: Layout) -> bool {
    matches!(measurement, Append(1) | Batch(_))
}

fn appends_and_batches(measurement: Measurement, _: Layout) -> bool {
    matches!(measurement, Append(_) | Batch(_))
}

fn batches_of_one_stream(measurement: Measurement, layout: Layout) -> bool {
    match measurement {
        Append(_) => true,
        Batch(_) | Fill | Read => layout == Layout::Runs,
        _ => false,
    }
}

fn single_events(measurement: Measurement, _: Layout) -> bool {
    matches!(measurement, Append(_) | Conditional(_))
}

/// All stores, in the order of the tables.
pub const STORES: &[StoreKind] = &[
    StoreKind {
        name: "annals",
        title: "ours",
        program: Program::Ours,
        role: Role::Ours,
        durability: "`RocksLog` with its default options, through `EventLog::append` and \
            `EventLog::read`: the group's write-ahead log is synced (`fdatasync`) before any of \
            its appends is acknowledged or visible. Every record has its hashes, and the Merkle \
            tree is kept.",
        can: everything,
    },
    StoreKind {
        name: "tephra",
        title: "Tephra 0.4.1",
        program: Program::Peers,
        role: Role::Peer,
        durability: "`WriteCoordinator` with its default settings: appends of several callers \
            share one sync, which is done before they are acknowledged.",
        can: everything,
    },
    StoreKind {
        name: "umadb",
        title: "UmaDB 0.7.8",
        program: Program::Peers,
        role: Role::Peer,
        durability: "the library below its server, `writer_thread_blocking` behind a channel, as \
            the server runs it and without the network: appends that wait together share one \
            sync.",
        can: everything,
    },
    StoreKind {
        name: "sqlite",
        title: "SQLite (WAL, FULL)",
        program: Program::Peers,
        role: Role::Peer,
        durability: "`rusqlite` 0.32.1 with the SQLite that it brings (3.46.0), \
            `journal_mode=WAL`, `synchronous=FULL`: each transaction syncs the write-ahead log. \
            One connection writes, and clients take turns. A table with the position as its key \
            and a unique index of stream and version. (git-internal, in the same program, wants \
            this version of SQLite.)",
        can: everything,
    },
    StoreKind {
        name: "varvedb",
        title: "VarveDB 0.4.2",
        program: Program::Peers,
        role: Role::Peer,
        durability: "a transaction of LMDB for each append, with LMDB's default flags: data and \
            meta page are synced before it returns. A batch is of one stream, so it has batches \
            and a large log in runs only; it has no condition. Clients take turns.",
        can: batches_of_one_stream,
    },
    StoreKind {
        name: "allsource",
        title: "AllSource 0.27.0",
        program: Program::Peers,
        role: Role::Peer,
        durability: "its write-ahead log with `sync_on_write`, the default: each event is synced \
            (`fsync`) by itself, under a lock. Payloads are JSON, so bytes go in as hexadecimal \
            digits. A batch of its is so many single writes and not atomic, and all events are \
            kept in memory: it is measured with single events only.",
        can: single_events,
    },
    StoreKind {
        name: "rocksdb",
        title: "raw RocksDB",
        program: Program::Ours,
        role: Role::Beside,
        durability: "the layer below ours, through the same crate: a `WriteBatch` with `sync`, a \
            row for the event under its position and an empty row for its stream. No hashes, no \
            versions, no conditions; LZ4, as ours.",
        can: without_conditions,
    },
    StoreKind {
        name: "file",
        title: "bare file",
        program: Program::Peers,
        role: Role::Beside,
        durability: "`write` at the end of a file and `fdatasync`: the least that a log whose \
            file grows can do.",
        can: one_writer,
    },
    StoreKind {
        name: "file-preallocated",
        title: "bare file, preallocated",
        program: Program::Peers,
        role: Role::Beside,
        durability: "`write` into a file of zeros that is there and synced, and `fdatasync`, \
            which then has no length to write: the least that any log on this disk can do.",
        can: one_writer,
    },
    StoreKind {
        name: "git-internal",
        title: "git-internal 0.6.0",
        program: Program::Peers,
        role: Role::Beside,
        durability: "objects, not events: each payload is a blob of the library. It has no store \
            of its own and syncs nothing, so a single one is written as git writes a loose \
            object (compressed, into a new file, `fsync`, renamed, the folder synced), and a \
            batch as a pack by its encoder, with its index, whose files and folder are synced \
            then.",
        can: appends_and_batches,
    },
];

/// Our store.
///
/// The list has it first; a test holds it to that.
pub fn ours() -> &'static StoreKind {
    &STORES[0]
}

impl FromStr for &'static StoreKind {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<&'static StoreKind, UnknownName> {
        let found = STORES.iter().find(|store| store.name == name);
        found.ok_or_else(|| UnknownName::new(name, STORES.iter().map(|store| store.name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ours_is_the_first_and_the_only_one() {
        assert_eq!(ours().role, Role::Ours);
        let count = STORES.iter().filter(|store| store.role == Role::Ours);
        assert_eq!(count.count(), 1);
        for measurement in Measurement::ALL {
            for layout in Layout::ALL {
                assert!((ours().can)(measurement, layout));
            }
        }
    }

    /// The titles say which versions are measured; the manifest says which are built.
    #[test]
    fn titles_have_the_versions_that_are_built() {
        let manifest = include_str!("../../compare/Cargo.toml");
        let packages = [
            ("tephra", "tephra"),
            ("umadb", "umadb-core"),
            ("umadb", "umadb-dcb"),
            ("varvedb", "varvedb"),
            ("allsource", "allsource-core"),
            ("git-internal", "git-internal"),
        ];
        for (name, package) in packages {
            let store: &StoreKind = name.parse().unwrap();
            let mut words = store.title.split(' ');
            let version = words.next_back().unwrap();
            let line = manifest.lines().find(|line| {
                let named = line.split([' ', '=']).next();
                named == Some(package)
            });
            let line = line.unwrap_or_else(|| panic!("no {package} in the manifest"));
            assert!(line.contains(&format!("\"={version}\"")), "{line}");
        }
        let sqlite: &StoreKind = "sqlite".parse().unwrap();
        let built = manifest.lines().find(|line| line.starts_with("rusqlite"));
        let version = built.and_then(|line| line.split('"').nth(1)).unwrap();
        let version = version.trim_start_matches('=');
        assert!(
            sqlite
                .durability
                .contains(&format!("`rusqlite` {version} "))
        );
    }
}
