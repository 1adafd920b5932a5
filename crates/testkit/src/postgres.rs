//! PostgreSQL servers of one's own, for the tests of one process: in temporary folders, on free ports of the loopback
//! interface, and gone with the process, however that ends.
//!
//! It runs the programs of Debian's package `postgresql` (below `/usr/lib/postgresql`), or those in
//! `ANNALS_POSTGRES_BIN`. PostgreSQL refuses to run as root: where the tests do, servers run as the user
//! `postgres`.
//!
//! ```no_run
//! use annals_testkit::postgres::{Server, Setup};
//!
//! let Some(server) = Server::or_say_not_run(&Setup::default()) else { return };
//! println!("{}", server.url("postgres"));
//! ```
//!
//! A [`Cluster`] is three of them, a primary and two standbys, of which one can be killed and another promoted:
//!
//! ```no_run
//! use annals_testkit::postgres::{Cluster, ServerError};
//!
//! # fn main() -> Result<(), ServerError> {
//! let Some(mut cluster) = Cluster::or_say_not_run(&Default::default()) else { return Ok(()) };
//! let old = cluster.primary();
//! cluster.kill(old)?;
//! let new = cluster.fail_over()?;
//! println!("{} takes writes now; clients have all three: {}", new + 1, cluster.url("postgres"));
//! cluster.rejoin(old)?;
//! # Ok(())
//! # }
//! ```

mod cluster;
mod error;
mod keeper;
mod port;
mod processes;
mod programs;
mod replica;
mod server;
mod setup;

pub use cluster::Cluster;
pub use error::ServerError;
pub use server::Server;
pub use setup::{Address, Network, Setup, USER};
