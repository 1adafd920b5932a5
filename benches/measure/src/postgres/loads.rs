//! The loads: how many clients append what to how many logs.

use std::str::FromStr;

use crate::workload::{STREAMS, UnknownName};

/// What is done at once, on an empty database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Load {
    /// Its name on the command line and in the results.
    pub name: &'static str,
    /// Logs that are appended to.
    pub logs: usize,
    /// Clients of each log.
    pub clients: usize,
    /// Events of each append. An append is atomic, and all its events are of one stream.
    pub batch: usize,
}

const fn load(name: &'static str, logs: usize, clients: usize, batch: usize) -> Load {
    Load {
        name,
        logs,
        clients,
        batch,
    }
}

/// All loads, in the order in which they run.
pub const LOADS: &[Load] = &[
    load("1-client", 1, 1, 1),
    load("2-clients", 1, 2, 1),
    load("64-clients", 1, 64, 1),
    load("32-logs", 32, 2, 1),
    load("64-clients-of-10", 1, 64, 10),
    load("1-client-of-100", 1, 1, 100),
    load("8-clients-of-100", 1, 8, 100),
];

impl Load {
    /// The clients of all logs together.
    pub fn all_clients(&self) -> usize {
        self.logs * self.clients
    }

    /// The log that a client appends to, of all clients.
    pub fn log(&self, client: usize) -> usize {
        client / self.clients.max(1)
    }

    /// The stream of its log that a client's append goes to, by the number of the append. Each client has
    /// streams of its own, so that none is refused because another was faster, and goes from one to the
    /// next.
    pub fn stream(&self, client: usize, append: usize) -> usize {
        let clients = self.clients.max(1);
        let own = (STREAMS / clients).max(1);
        client % clients + clients * (append % own)
    }
}

impl FromStr for &'static Load {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<&'static Load, UnknownName> {
        let found = LOADS.iter().find(|load| load.name == name);
        found.ok_or_else(|| UnknownName::new(name, LOADS.iter().map(|load| load.name)))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn clients_have_logs_and_streams_of_their_own() {
        for load in LOADS {
            let mut taken = BTreeSet::new();
            for client in 0..load.all_clients() {
                assert!(load.log(client) < load.logs, "{load:?}");
                let own: BTreeSet<usize> = (0..STREAMS).map(|n| load.stream(client, n)).collect();
                assert!(own.iter().all(|stream| *stream < STREAMS), "{load:?}");
                for stream in own {
                    assert!(taken.insert((load.log(client), stream)), "{load:?}");
                }
            }
        }
    }

    #[test]
    fn a_load_is_found_by_its_name() {
        for load in LOADS {
            assert_eq!(load.name.parse::<&Load>().unwrap(), load);
        }
        assert!("63-clients".parse::<&Load>().is_err());
    }
}
