//! What a server is started with.

use std::path::PathBuf;

/// The superuser of the server.
pub const USER: &str = "annals";

/// What a server is started with.
#[derive(Debug, Clone, Default)]
pub struct Setup {
    /// Settings, such as `("fsync", "on")`. Without any, nothing is synced and 300 connections are taken.
    pub settings: Vec<(String, String)>,
    /// Files in the data folder, such as `server.key`; only the server's user may read them.
    pub files: Vec<(String, String)>,
    /// `pg_hba.conf`; without it passwords are asked for by SCRAM.
    pub hba: Option<String>,
    /// Bytes of a file system for [`Server::small`](super::Server::small), which takes root.
    pub small: Option<u64>,
    /// Where the server's folder is made; without it where temporary files are. The user that the server runs as must
    /// be able to reach it.
    pub folder: Option<PathBuf>,
    /// A network of its own that the server is in, which takes root.
    pub network: Option<Network>,
}

/// A network name space, and the address that its server has there.
#[derive(Debug, Clone)]
pub struct Network {
    /// Its name, as `ip netns` has it.
    pub name: String,
    /// The address that clients come by.
    pub address: String,
}

/// Where a server listens, or what stands before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// A name or an IP address.
    pub host: String,
    /// The port.
    pub port: u16,
}
