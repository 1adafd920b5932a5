//! The user at the other end of a connection on this machine, as Linux has it in its tables of sockets.
//!
//! A server on a loopback address is reached by every user of the machine. Which of them has a connection is in
//! `/proc/net/tcp` and `/proc/net/tcp6`: a line a socket, with both addresses, the user and the inode.
//!
//! ```text
//!   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
//!    0: 0100007F:C350 0100007F:10DE 01 00000000:00000000 00:00000000 00000000  1000        0 43210 ...
//! ```

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::OnceLock;

/// The tables of sockets.
const TABLES: [&str; 2] = ["/proc/net/tcp", "/proc/net/tcp6"];

/// The other end of a connection. Requests have it as an extension, as `Arc<Peer>`.
#[derive(Debug)]
pub struct Peer {
    from: SocketAddr,
    to: SocketAddr,
    user: OnceLock<PeerUser>,
}

/// The user at the other end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PeerUser {
    /// The user of this process, or root.
    Own,
    /// Another user, by the number.
    Other(u32),
    /// The user cannot be found: the other end is on another machine, has closed its socket, or the system has no table
    /// of sockets.
    Unknown,
}

impl Peer {
    pub(crate) fn new(from: SocketAddr, to: SocketAddr) -> Peer {
        Peer {
            from,
            to,
            user: OnceLock::new(),
        }
    }

    /// The address of the other end.
    pub fn address(&self) -> SocketAddr {
        self.from
    }

    /// The user of the other end, which is looked up once.
    pub fn user(&self) -> PeerUser {
        *self.user.get_or_init(|| {
            let own = rustix::process::geteuid().as_raw();
            let tables = TABLES.iter().map(std::fs::read_to_string);
            let mut tables = tables.flatten();
            match tables.find_map(|table| user_in(&table, self.from, self.to)) {
                Some(user) if user == own || user == 0 => PeerUser::Own,
                Some(user) => PeerUser::Other(user),
                None => PeerUser::Unknown,
            }
        })
    }
}

/// The user of the socket with these two addresses. One that no process holds any more (inode 0) is not a user's.
fn user_in(table: &str, from: SocketAddr, to: SocketAddr) -> Option<u32> {
    let (from, to) = (plain(from), plain(to));
    table.lines().skip(1).find_map(|line| {
        let mut fields = line.split_ascii_whitespace().skip(1);
        let (local, remote) = (fields.next()?, fields.next()?);
        if address(local)? != from || address(remote)? != to {
            return None;
        }
        let user: u32 = fields.nth(4)?.parse().ok()?;
        let inode: u64 = fields.nth(1)?.parse().ok()?;
        (inode != 0).then_some(user)
    })
}

/// An address without the form of IPv4 addresses in IPv6 sockets.
fn plain(address: SocketAddr) -> (IpAddr, u16) {
    (address.ip().to_canonical(), address.port())
}

/// An address of the table: words of 32 bits as numbers of this machine, and the port.
fn address(text: &str) -> Option<(IpAddr, u16)> {
    let (words, port) = text.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let word = |at: usize| {
        let digits = words.get(at..at + 8)?;
        Some(u32::from_str_radix(digits, 16).ok()?.to_ne_bytes())
    };
    let ip = match words.len() {
        8 => IpAddr::V4(Ipv4Addr::from(word(0)?)),
        32 => {
            let mut bytes = [0; 16];
            for (at, part) in bytes.chunks_mut(4).enumerate() {
                part.copy_from_slice(&word(at * 8)?);
            }
            IpAddr::V6(Ipv6Addr::from(bytes)).to_canonical()
        }
        _ => return None,
    };
    Some((ip, port))
}

#[cfg(all(test, target_endian = "little"))]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    const TABLE: &str = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:10DE 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1 0
   1: 0100007F:10DE 0100007F:C350 01 00000000:00000000 00:00000000 00000000     7        0 2 1 0
   2: 0100007F:C350 0100007F:10DE 01 00000000:00000000 00:00000000 00000000  1000        0 3 1 0
   3: 0100007F:C351 0100007F:10DE 06 00000000:00000000 03:00000000 00000000     0        0 0 3 0
   4: 0000000000000000FFFF00000100007F:C352 0000000000000000FFFF00000100007F:10DE 01 0:0 0:0 0 1001 0 4 1 0
   5: 00000000000000000000000001000000:C353 00000000000000000000000001000000:10DE 01 0:0 0:0 0 1002 0 5 1 0
";

    #[test]
    fn the_client_of_a_connection_is_found() {
        let to = "127.0.0.1:4318";
        for (from, to, user) in [
            ("127.0.0.1:50000", to, Some(1000)),
            // Its process is gone.
            ("127.0.0.1:50001", to, None),
            ("127.0.0.1:50002", to, Some(1001)),
            ("[::1]:50003", "[::1]:4318", Some(1002)),
            ("127.0.0.1:50004", to, None),
            ("127.0.0.1:50000", "127.0.0.1:4319", None),
        ] {
            let found = user_in(TABLE, from.parse().unwrap(), to.parse().unwrap());
            assert_eq!(found, user, "{from}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_connection_of_this_process_is_its_own_user_s() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (server, from) = listener.accept().unwrap();
        let peer = Peer::new(from, server.local_addr().unwrap());
        assert_eq!(peer.user(), PeerUser::Own);
        drop(client);
    }
}
