//! The names that a server answers by: a page of another site whose name was made to lead here (DNS rebinding) is refused.

use std::net::{IpAddr, SocketAddr};

use axum::http::uri::Authority;
use axum::http::{HeaderMap, StatusCode, Uri, header};

/// The names under which requests may come.
#[derive(Debug, Clone)]
pub struct Hosts {
    address: SocketAddr,
    /// Further names, in lower case.
    names: Vec<String>,
}

/// Whether a link on a page of another site may lead here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Browsing {
    /// A person may follow a link to this server: its pages are for browsers, and reading changes nothing.
    Links,
    /// No page of another site leads here.
    Nothing,
}

/// Why a request is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// There is no `Host` header, or more than one.
    #[error("expected one Host header")]
    NoHost,
    /// The name is not one of this server's.
    #[error(
        "this name is not one of this server's: use the address that it listens on, or start it with --host NAME"
    )]
    WrongHost,
    /// A page of another site sent the request.
    #[error("a page of another site sent this request")]
    ForeignOrigin,
}

impl Refused {
    /// The status of the answer.
    pub fn status(self) -> StatusCode {
        match self {
            Refused::NoHost => StatusCode::BAD_REQUEST,
            Refused::WrongHost => StatusCode::MISDIRECTED_REQUEST,
            Refused::ForeignOrigin => StatusCode::FORBIDDEN,
        }
    }

    /// The cause in one word, which keeps its meaning.
    pub fn code(self) -> &'static str {
        match self {
            Refused::NoHost => "invalid_request",
            Refused::WrongHost => "wrong_host",
            Refused::ForeignOrigin => "foreign_origin",
        }
    }
}

impl Hosts {
    /// The names of a server: the address that it listens on, and further names, such as that of a proxy before it.
    pub fn new(address: SocketAddr, names: &[String]) -> Hosts {
        let names = names.iter().map(|name| name.to_ascii_lowercase());
        Hosts {
            address,
            names: names.collect(),
        }
    }

    /// Demands that a request is for a name of this server, and not from a page of another site.
    ///
    /// # Errors
    /// [`Refused`].
    pub fn check(&self, uri: &Uri, headers: &HeaderMap, browsing: Browsing) -> Result<(), Refused> {
        let mut hosts = headers.get_all(header::HOST).iter();
        let (Some(host), None) = (hosts.next(), hosts.next()) else {
            return Err(Refused::NoHost);
        };
        let host = host.to_str().ok().and_then(|it| it.parse().ok());
        let is_ours = host.is_some_and(|host| self.is_ours(&host))
            && uri.authority().is_none_or(|it| self.is_ours(it));
        if !is_ours {
            return Err(Refused::WrongHost);
        }
        for origin in headers.get_all(header::ORIGIN) {
            let origin = origin
                .to_str()
                .ok()
                .and_then(|it| it.strip_prefix("http://"));
            let origin = origin.and_then(|it| it.parse().ok());
            if !origin.is_some_and(|origin| self.is_ours(&origin)) {
                return Err(Refused::ForeignOrigin);
            }
        }
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let is_foreign = matches!(text("sec-fetch-site"), Some("cross-site" | "same-site"));
        // A link from elsewhere may be followed; what it shows stays with this site.
        let is_link = browsing == Browsing::Links && text("sec-fetch-mode") == Some("navigate");
        match is_foreign && !is_link {
            true => Err(Refused::ForeignOrigin),
            false => Ok(()),
        }
    }

    /// Returns `true` if a name is one of this server's. An address cannot be rebound, so that any will do that can lead
    /// here; a name can.
    fn is_ours(&self, authority: &Authority) -> bool {
        let port = match authority.port() {
            Some(port) => port.as_str().parse().ok(),
            None => Some(80),
        };
        let host = authority.host().to_ascii_lowercase();
        if authority.as_str().contains('@') {
            return false;
        }
        if self.names.contains(&host) {
            // A proxy before it may have another port.
            return true;
        }
        if port != Some(self.address.port()) {
            return false;
        }
        if host == "localhost" {
            return true;
        }
        let literal = host.trim_start_matches('[').trim_end_matches(']');
        match literal.parse::<IpAddr>() {
            Ok(ip) if self.address.ip().is_loopback() => ip.is_loopback(),
            Ok(_) => true,
            Err(_) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn status_for(
        browsing: Browsing,
        address: &str,
        uri: &str,
        headers: &[(&'static str, &str)],
    ) -> u16 {
        let hosts = Hosts::new(address.parse().unwrap(), &["Viewer.example".to_owned()]);
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().unwrap());
        }
        match hosts.check(&uri.parse().unwrap(), &map, browsing) {
            Ok(()) => 200,
            Err(refused) => refused.status().as_u16(),
        }
    }

    fn status(address: &str, uri: &str, headers: &[(&'static str, &str)]) -> u16 {
        status_for(Browsing::Links, address, uri, headers)
    }

    #[test]
    fn only_names_of_the_server_are_answered() {
        let local = "127.0.0.1:4780";
        for (host, expected) in [
            ("127.0.0.1:4780", 200),
            ("localhost:4780", 200),
            ("LOCALHOST:4780", 200),
            ("[::1]:4780", 200),
            ("127.0.0.2:4780", 200),
            ("viewer.example", 200),
            ("viewer.example:8443", 200),
            ("user@viewer.example", 421),
            ("127.0.0.1", 421),
            ("127.0.0.1:80", 421),
            ("evil.example:4780", 421),
            ("127.0.0.1.evil.example:4780", 421),
            ("localhost.evil.example:4780", 421),
            ("10.0.0.1:4780", 421),
            ("user@127.0.0.1:4780", 421),
            ("127.0.0.1:99999", 421),
            ("", 421),
        ] {
            assert_eq!(status(local, "/", &[("host", host)]), expected, "{host}");
        }
        assert_eq!(status(local, "/", &[]), 400);
        assert_eq!(
            status(local, "/", &[("host", local), ("host", "evil.example")]),
            400
        );
        assert_eq!(
            status(local, "http://evil.example/", &[("host", local)]),
            421
        );
        assert_eq!(
            status("0.0.0.0:4780", "/", &[("host", "10.0.0.1:4780")]),
            200
        );
        assert_eq!(
            status("0.0.0.0:4780", "/", &[("host", "evil.example:4780")]),
            421
        );
    }

    #[test]
    fn pages_of_other_sites_get_nothing() {
        let local = "127.0.0.1:4780";
        let with =
            |name: &'static str, value: &str| status(local, "/", &[("host", local), (name, value)]);
        assert_eq!(with("origin", "http://127.0.0.1:4780"), 200);
        for origin in [
            "null",
            "http://evil.example",
            "https://127.0.0.1:4780",
            "http://127.0.0.1:4781",
        ] {
            assert_eq!(with("origin", origin), 403, "{origin}");
        }
        assert_eq!(with("sec-fetch-site", "same-origin"), 200);
        assert_eq!(with("sec-fetch-site", "none"), 200);
        assert_eq!(with("sec-fetch-site", "cross-site"), 403);
        // Another port of this machine is another site's page as well.
        assert_eq!(with("sec-fetch-site", "same-site"), 403);
        let link = [
            ("host", local),
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-mode", "navigate"),
        ];
        assert_eq!(status(local, "/", &link), 200);
        assert_eq!(status_for(Browsing::Nothing, local, "/", &link), 403);
    }
}
