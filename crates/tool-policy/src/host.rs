//! Hosts that calls name: in URLs, and as programs take them.

use crate::part::{Resource, Type};
use crate::shell::word::Word;

/// The host of a URL.
pub(crate) fn of_url(url: &str) -> Resource {
    let Some((scheme, authority)) = url.split_once("://") else {
        return unknown(url);
    };
    let authority = authority
        .split(['/', '?', '#', '\\'])
        .next()
        .unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    named(without_port(host), url, scheme)
}

/// The file of a URL that is one: `file:///etc/passwd`.
pub(crate) fn file_of(url: &str) -> Option<&str> {
    let (scheme, rest) = url.split_once(':')?;
    let is_file = scheme.eq_ignore_ascii_case("file");
    let rest = rest.strip_prefix("//").unwrap_or(rest);
    let path = rest.find('/').and_then(|at| rest.get(at..));
    path.filter(|_| is_file)
}

/// Whether the path of a file's URL is only known to the program that reads it: it decodes the path, or, as curl does, has
/// patterns of its own in it.
pub(crate) fn is_odd_file(url: &str) -> bool {
    file_of(url).is_some_and(|it| it.contains(['%', '{', '[', '?', '#', '\\']))
}

/// Any host.
pub(crate) fn unknown(text: &str) -> Resource {
    Resource::new(Type::Host, text, false)
}

/// A search, which goes to no host that the call names.
pub(crate) fn search(query: &str) -> Resource {
    Resource::new(Type::Host, "(search)", true)
        .text("host", "")
        .text("scheme", "")
        .text("url", query)
}

fn named(host: &str, url: &str, scheme: &str) -> Resource {
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._:[]".contains(c);
    if host.is_empty() || !host.chars().all(is_plain) {
        // Percent signs, letters that other letters stand for: whoever reads it decides.
        return unknown(url);
    }
    Resource::new(Type::Host, host.as_str(), true)
        .text("host", host.as_str())
        .text("scheme", scheme.to_ascii_lowercase())
        .text("url", url)
}

fn without_port(host: &str) -> &str {
    match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, _)) => address,
        None => host.split(':').next().unwrap_or_default(),
    }
}

/// The host that a word of a command names, if it does.
pub(crate) fn in_word(program: &str, word: &Word) -> Option<Resource> {
    let Some(text) = word.text.as_deref() else {
        let is_file = word.raw.to_ascii_lowercase().contains("file:");
        let is_url = word.raw.contains("://") && !is_file;
        return is_url.then(|| unknown(&word.raw));
    };
    if let Some(at) = text.find("://") {
        let is_scheme = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
        let before = text.get(..at).unwrap_or_default();
        let begin = before.rfind(|c| !is_scheme(c)).map_or(0, |at| at + 1);
        let url = text.get(begin..).unwrap_or_default();
        return (begin < at && file_of(url).is_none()).then(|| of_url(url));
    }
    if text.starts_with('-') {
        return None;
    }
    match program {
        // host:path, user@host:path
        "scp" | "rsync" | "git" | "sftp" => {
            let (before, _) = text.split_once(':')?;
            let host = before.rsplit('@').next()?;
            let is_host = before.contains('@') || (program != "git" && !before.contains('/'));
            is_host.then(|| named(host, text, "ssh"))
        }
        "ssh" | "mosh" | "telnet" | "nc" | "ncat" | "netcat" | "ping" | "nslookup" | "dig"
        | "host" | "ftp" => {
            let host = text.rsplit('@').next()?;
            (!text.contains('/') && !host.chars().all(|c| c.is_ascii_digit()))
                .then(|| named(host, text, program))
        }
        // A URL without a scheme.
        "curl" | "wget" | "http" | "https" | "lynx" | "links" | "aria2c" => {
            let host = text.split(['/', '?', '#']).next()?;
            let is_host = (host.contains('.') && !host.starts_with(['.', '@', '<']))
                || host.starts_with("localhost");
            let host = host.rsplit('@').next()?;
            is_host.then(|| named(without_port(host), text, "http"))
        }
        _ => None,
    }
}

/// The host of a file that bash takes for a connection: `/dev/tcp/HOST/PORT`.
pub(crate) fn of_device(path: &str) -> Option<Resource> {
    let rest = path
        .strip_prefix("/dev/tcp/")
        .or_else(|| path.strip_prefix("/dev/udp/"))?;
    Some(named(rest.split('/').next()?, path, "tcp"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_those_that_are_connected_to() {
        for (url, host) in [
            ("https://docs.rs/x", Some("docs.rs")),
            ("HTTPS://Docs.RS:443", Some("docs.rs")),
            ("https://docs.rs@evil.example/x", Some("evil.example")),
            ("https://evil.example\\@docs.rs", Some("evil.example")),
            ("https://evil.example?docs.rs", Some("evil.example")),
            ("http://[::1]:80/", Some("::1")),
            ("https://docs.rs./", Some("docs.rs")),
            ("https://do%63s.rs", None),
            ("https://d\u{43e}cs.rs", None),
            ("docs.rs", None),
        ] {
            assert_eq!(of_url(url).known_text("host"), host, "{url}");
        }
    }

    #[test]
    fn programs_name_hosts_in_their_ways() {
        for (program, word, host) in [
            ("curl", "example.com/x", Some("example.com")),
            ("curl", "localhost:8080", Some("localhost")),
            ("ssh", "ann@example.com", Some("example.com")),
            ("scp", "a:b", Some("a")),
            ("git", "git@github.com:a/b", Some("github.com")),
            ("git", "HEAD:main", None),
            ("foo", "--url=https://a.b/c", Some("a.b")),
            ("foo", "a.b", None),
        ] {
            let found = in_word(program, &Word::known(word));
            let found = found.as_ref().and_then(|it| it.known_text("host"));
            assert_eq!(found, host, "{program} {word}");
        }
    }
}
