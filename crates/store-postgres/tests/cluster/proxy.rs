//! What stands between a server and who talks with it, and can be cut without any rights: while it is, it hands nothing
//! on, not even that a connection ended, and what was said comes late when it is whole again.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

use annals_testkit::postgres::Address;

#[derive(Default)]
struct Link {
    is_cut: Mutex<bool>,
    changed: Condvar,
}

impl Link {
    fn wait_until_whole(&self) {
        let is_cut = self.is_cut.lock().unwrap();
        drop(self.changed.wait_while(is_cut, |is_cut| *is_cut).unwrap());
    }
}

/// The way to a server.
pub(crate) struct Proxy {
    port: u16,
    link: Arc<Link>,
}

impl Proxy {
    pub(crate) fn before(server: Address) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let link = Arc::new(Link::default());
        let shared = Arc::clone(&link);
        // It ends with the tests' process.
        thread::spawn(move || {
            for client in listener.incoming() {
                let (server, link) = (server.clone(), Arc::clone(&shared));
                thread::spawn(move || join(client.unwrap(), &server, &link));
            }
        });
        Proxy { port, link }
    }

    pub(crate) fn address(&self) -> Address {
        Address {
            host: "127.0.0.1".to_owned(),
            port: self.port,
        }
    }

    /// Cuts it, or makes it whole.
    pub(crate) fn cut(&self, is_cut: bool) {
        *self.link.is_cut.lock().unwrap() = is_cut;
        self.link.changed.notify_all();
    }
}

/// Joins a client with the server, as soon as that can be. Where there is none, the connection ends.
fn join(client: TcpStream, server: &Address, link: &Arc<Link>) {
    link.wait_until_whole();
    let Ok(server) = TcpStream::connect((server.host.as_str(), server.port)) else {
        return;
    };
    let back = (server.try_clone().unwrap(), client.try_clone().unwrap());
    for (from, to) in [(client, server), back] {
        let link = Arc::clone(link);
        let _ = to.set_nodelay(true);
        thread::spawn(move || hand_on(from, to, &link));
    }
}

fn hand_on(mut from: TcpStream, mut to: TcpStream, link: &Link) {
    let mut bytes = [0; 65_536];
    loop {
        let count = from.read(&mut bytes).unwrap_or(0);
        // That it has ended is handed on no sooner than what was said.
        link.wait_until_whole();
        if count == 0 || to.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}
