//! The stores that are compared, and what an append of each is. `docs/performance.md` is written from this
//! list.

use std::str::FromStr;

use crate::stores::Role;
use crate::workload::UnknownName;

/// One store.
#[derive(Debug)]
pub struct ComparedStore {
    /// Its name on the command line and in the results.
    pub name: &'static str,
    /// Its name in tables.
    pub title: &'static str,
    /// What it is in the tables.
    pub role: Role,
    /// What an append is, what a log is, and what is to be known of it.
    pub about: &'static str,
}

/// The name of ours.
pub const OURS: &str = "annals";

/// The name of the same with notifications.
pub(super) const OURS_WITH_NOTIFY: &str = "annals-notify";

/// All stores, in the order of the tables.
pub const COMPARED: &[ComparedStore] = &[
    ComparedStore {
        name: OURS,
        title: "Annals on PostgreSQL",
        role: Role::Ours,
        about: "`PostgresLog` with its default settings, through `EventLog::append`. A log is a log of one \
            schema; clients of one share its handle, and so a connection for appends. Positions are in the order \
            of commits and have no gaps, every record has its hashes, the Merkle tree and the batch's row \
            for repeats are kept.",
    },
    ComparedStore {
        name: OURS_WITH_NOTIFY,
        title: "the same, `notify`",
        role: Role::Beside,
        about: "the same with `notify=true`: other processes are told of appends, and this one listens.",
    },
    ComparedStore {
        name: "annals-rocks",
        title: "Annals on RocksDB",
        role: Role::Beside,
        about: "`RocksLog` with its default options, through the same calls: what leaving the machine costs. A log \
            is a folder.",
    },
    ComparedStore {
        name: "message-db",
        title: "message-db's schema",
        role: Role::Peer,
        about: "the table `messages`, its three indexes and `write_message` in PL/pgSQL, written after the published \
            schema. A log is a category: a write holds an advisory lock on the stream's category up to its \
            commit, which is what gives a category an order. A batch is one statement that calls \
            the function for each message, in one transaction: less than a client's calls one by one.",
    },
    ComparedStore {
        name: "marten",
        title: "Marten's schema",
        role: Role::Peer,
        about: "`mt_streams`, `mt_events`, the sequence and `mt_quick_append_events` in PL/pgSQL (its mode Quick, \
            streams with names), written after the published schema. A log is a schema. An append is one call, in a \
            transaction without the round trips of a BEGIN and a COMMIT. Numbers come from a sequence: they have \
            gaps and are not in the order of commits, so that appends wait for each other on one stream only, and \
            a reader has to wait for what may still come.",
    },
];

impl FromStr for &'static ComparedStore {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<&'static ComparedStore, UnknownName> {
        let found = COMPARED.iter().find(|store| store.name == name);
        found.ok_or_else(|| UnknownName::new(name, COMPARED.iter().map(|store| store.name)))
    }
}
