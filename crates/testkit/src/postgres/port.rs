//! Free ports.

use std::io;
use std::net::TcpListener;

use uuid::Uuid;

/// A port that nobody listens on, below those that systems give to connections that go out (from 32768 on). One of these
/// is taken easily while a server is down, even by a client that looks for this very server and then finds itself.
pub(super) fn free() -> io::Result<u16> {
    for _ in 0..100 {
        let [high, low, ..] = Uuid::new_v4().into_bytes();
        let port = 15_000 + u16::from_be_bytes([high, low]) % 15_000;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return Ok(port);
        }
    }
    Err(io::ErrorKind::AddrInUse.into())
}
