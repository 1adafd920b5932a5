//! How a viewer is started.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use annals_http::Token;

/// The port unless another one is asked for.
pub const PORT: u16 = 4780;
/// Connections at a time.
const CONNECTIONS: usize = 256;

/// How a viewer is started: for this machine alone, unless more is said.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ViewerOptions {
    /// Where to listen.
    pub address: SocketAddr,
    /// What requests must have. Another address than one of this machine alone needs it.
    pub token: Option<Token>,
    /// Names besides its address by which it is reached, such as that of a proxy before it.
    pub hosts: Vec<String>,
    /// A checkpoint that is kept outside of the log, which pages are held against.
    pub checkpoint: Option<PathBuf>,
    /// The log's folder, in which the search index lies; without it searches look through the log.
    pub folder: Option<PathBuf>,
    /// Connections at a time; more take the places of those that have been idle longest.
    pub connections: usize,
}

impl ViewerOptions {
    /// To listen at an address.
    pub fn new(address: SocketAddr) -> ViewerOptions {
        ViewerOptions {
            address,
            token: None,
            hosts: Vec::new(),
            checkpoint: None,
            folder: None,
            connections: CONNECTIONS,
        }
    }
}

impl Default for ViewerOptions {
    /// On this machine, at [`PORT`].
    fn default() -> ViewerOptions {
        ViewerOptions::new((Ipv4Addr::LOCALHOST, PORT).into())
    }
}
