//! The URL of a log: what PostgreSQL's own URLs say, and what is ours.

use std::net::IpAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

use crate::error::OpenError;
use crate::objects;
use crate::settings::{Access, Settings, Tls};

/// Connections of one process to one log, at most: room for all of them is made when the log is opened.
const MOST_CONNECTIONS: usize = 10_000;

fn invalid(reason: impl Into<String>) -> OpenError {
    OpenError::InvalidUrl {
        reason: reason.into(),
    }
}

impl Settings {
    /// The settings that a URL says, and else the usual ones. The password may be in PGPASSWORD instead.
    ///
    /// # Errors
    /// [`OpenError::InvalidUrl`].
    pub fn from_url(url: &str) -> Result<Settings, OpenError> {
        parse(url)
    }
}

fn parse(url: &str) -> Result<Settings, OpenError> {
    if !url.starts_with("postgres://") && !url.starts_with("postgresql://") {
        return Err(invalid("it does not begin with postgres://"));
    }
    let (place, query) = url.split_once('?').unwrap_or((url, ""));
    let parameters: Vec<(&str, &str)> = query
        .split('&')
        .filter(|parameter| !parameter.is_empty())
        .map(|parameter| parameter.split_once('=').unwrap_or((parameter, "")))
        .collect();
    let (ours, theirs): (Vec<_>, Vec<_>) =
        parameters.into_iter().partition(|(name, _)| is_ours(name));
    let theirs: Vec<String> = theirs
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let server = match theirs.is_empty() {
        true => Config::from_str(place),
        false => Config::from_str(&format!("{place}?{}", theirs.join("&"))),
    };
    // The library's own words do not have the URL.
    let mut server = server.map_err(|error| {
        let cause = std::error::Error::source(&error).map(ToString::to_string);
        let cause = cause.unwrap_or_else(|| error.to_string());
        // It may be the rest of a password.
        match cause.starts_with("unknown option") {
            true => invalid(
                "an option of it is not known; a & in a password is written %26, a # %23 and a ? %3F",
            ),
            false => invalid(cause),
        }
    })?;
    if server.get_hosts().is_empty() {
        return Err(invalid("it names no host"));
    }
    if server.get_password().is_none()
        && let Ok(password) = std::env::var("PGPASSWORD")
    {
        server.password(password);
    }
    let mut settings = Settings::usual(server);
    let mut mode = None;
    let mut roots = None;
    for (name, value) in ours {
        match name {
            "sslmode" => mode = Some(value),
            "blobs" => {
                let (store, folder) = objects::named(&decoded(value)?)?;
                settings.objects = Some(store);
                settings.objects_folder = folder;
            }
            "sslrootcert" => roots = Some(PathBuf::from(decoded(value)?)),
            _ => take(&mut settings, name, value)?,
        }
    }
    settings.tls = tls(&settings.server, mode, roots)?;
    settings.server.ssl_mode(match settings.tls {
        Tls::Off => SslMode::Disable,
        Tls::Verified { .. } => SslMode::Require,
    });
    settings.check()?;
    Ok(settings)
}

fn is_ours(name: &str) -> bool {
    matches!(
        name,
        "log"
            | "schema"
            | "access"
            | "blobs"
            | "sslmode"
            | "sslrootcert"
            | "require_synchronous"
            | "migrate"
            | "notify"
            | "connections"
            | "connect_timeout"
            | "statement_timeout"
            | "lock_timeout"
            | "idle_in_transaction_timeout"
            | "patience"
            | "poll"
            | "writer_role"
            | "reader_role"
    )
}

fn take(settings: &mut Settings, name: &str, value: &str) -> Result<(), OpenError> {
    match name {
        "log" => settings.log = value.to_owned(),
        "schema" => settings.schema = value.to_owned(),
        "access" => {
            settings.access = match value {
                "read_write" => Access::ReadWrite,
                "read_only" => Access::ReadOnly,
                _ => return Err(invalid("access is read_write or read_only")),
            }
        }
        "require_synchronous" => settings.require_synchronous = flag(name, value)?,
        "migrate" => settings.migrate = flag(name, value)?,
        "notify" => settings.notify = flag(name, value)?,
        "connections" => {
            let count = value
                .parse()
                .ok()
                .filter(|count| (1..=MOST_CONNECTIONS).contains(count));
            let expected = || {
                invalid(format!(
                    "connections is a number from 1 to {MOST_CONNECTIONS}"
                ))
            };
            settings.connections = count.ok_or_else(expected)?;
        }
        "connect_timeout" => settings.connect_timeout = seconds(name, value)?,
        "statement_timeout" => settings.statement_timeout = seconds(name, value)?,
        "lock_timeout" => settings.lock_timeout = seconds(name, value)?,
        "idle_in_transaction_timeout" => {
            settings.idle_in_transaction_timeout = seconds(name, value)?;
        }
        "patience" => settings.patience = seconds(name, value)?,
        "poll" => {
            settings.poll_most = seconds(name, value)?;
            settings.poll_least = settings.poll_least.min(settings.poll_most);
        }
        "writer_role" => settings.writer_role = value.to_owned(),
        _ => settings.reader_role = value.to_owned(),
    }
    Ok(())
}

fn flag(name: &str, value: &str) -> Result<bool, OpenError> {
    match value {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(invalid(format!("{name} is true or false"))),
    }
}

fn seconds(name: &str, value: &str) -> Result<Duration, OpenError> {
    let seconds = value
        .parse::<f64>()
        .ok()
        .filter(|it| (0.001..=86_400.0).contains(it));
    let seconds =
        seconds.ok_or_else(|| invalid(format!("{name} is a number of seconds, 0.001 to 86400")))?;
    Ok(Duration::from_secs_f64(seconds))
}

/// A value whose bytes may be written as `%2F`.
fn decoded(value: &str) -> Result<String, OpenError> {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        rest = behind;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let (digits, behind) = rest
            .split_at_checked(2)
            .ok_or_else(|| invalid("a % without two digits"))?;
        let digits = std::str::from_utf8(digits).unwrap_or_default();
        let byte = u8::from_str_radix(digits, 16).map_err(|_| invalid("a % without two digits"))?;
        bytes.push(byte);
        rest = behind;
    }
    String::from_utf8(bytes).map_err(|_| invalid("a value is not UTF-8"))
}

/// Without a word on it, connections to other machines are encrypted, and those within one are not.
fn tls(server: &Config, mode: Option<&str>, roots: Option<PathBuf>) -> Result<Tls, OpenError> {
    let is_local = |host: &Host| match host {
        Host::Tcp(name) => matches!(name.as_str(), "localhost" | "127.0.0.1" | "::1"),
        Host::Unix(_) => true,
    };
    // An address is what is connected to, whatever the name says.
    let is_here = server.get_hosts().iter().all(is_local)
        && server.get_hostaddrs().iter().all(IpAddr::is_loopback);
    match mode {
        Some("disable") if roots.is_some() => Err(invalid(
            "sslrootcert does not go together with sslmode=disable",
        )),
        Some("disable") => Ok(Tls::Off),
        Some("require" | "verify-full") => Ok(Tls::Verified { roots }),
        None if roots.is_none() && is_here => Ok(Tls::Off),
        None => Ok(Tls::Verified { roots }),
        Some(_) => Err(invalid(
            "sslmode is disable, require or verify-full, and the last two verify the certificate; others can be \
             talked out of it by whoever is between",
        )),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_url_says_what_it_says_and_else_what_is_usual() {
        let settings = parse(
            "postgres://ada:secret@db1,db2:6432/annals?log=team-1&schema=s1&notify=true&patience=1.5&application_name=x\
             &sslrootcert=%2Fetc%2Fca.pem",
        )
        .unwrap();
        assert_eq!(
            (settings.log.as_str(), settings.schema.as_str()),
            ("team-1", "s1")
        );
        assert!(settings.notify && settings.migrate && !settings.require_synchronous);
        assert_eq!(settings.patience, Duration::from_millis(1_500));
        assert_eq!(settings.server.get_application_name(), Some("x"));
        assert_eq!(settings.server.get_hosts().len(), 2);
        let roots = Some(PathBuf::from("/etc/ca.pem"));
        assert_eq!(settings.tls, Tls::Verified { roots });
        assert!(!format!("{settings:?}").contains("secret"));
    }

    #[test]
    fn other_machines_are_spoken_to_with_tls_unless_it_is_turned_off() {
        let tls = |url: &str| parse(url).unwrap().tls;
        let verified = Tls::Verified { roots: None };
        assert_eq!(tls("postgres://localhost/a"), Tls::Off);
        assert_eq!(tls("postgresql://u@127.0.0.1:1/a"), Tls::Off);
        assert_eq!(tls("postgres://db/a"), verified);
        assert_eq!(tls("postgres://localhost,db/a"), verified);
        assert_eq!(tls("postgres://localhost/a?hostaddr=10.0.0.5"), verified);
        assert_eq!(tls("postgres://localhost/a?hostaddr=127.0.0.1"), Tls::Off);
        assert_eq!(tls("postgres://db/a?sslmode=disable"), Tls::Off);
        assert_eq!(tls("postgres://localhost/a?sslmode=require"), verified);
    }

    #[test]
    fn what_cannot_be_meant_is_refused_without_the_password() {
        for bad in [
            "rocks:a",
            "postgres:///a",
            "postgres://u:secret@h:port/a",
            "postgres://u:secret@h/a?log=",
            "postgres://u:secret@h/a?log=a/b",
            "postgres://u:secret@h/a?schema=A",
            "postgres://u:secret@h/a?schema=pg_x",
            "postgres://u:secret@h/a?schema=1a",
            "postgres://u:secret@h/a?notify=yes",
            "postgres://u:secret@h/a?connections=0",
            "postgres://u:secret@h/a?patience=-1",
            "postgres://u:secret@h/a?sslmode=prefer",
            "postgres://u:secret@h/a?sslmode=disable&sslrootcert=x",
            "postgres://u:secret@h/a?sslrootcert=%2",
            "postgres://u:secret@h/a?no_such=1",
            "postgres://u@h/a?password=a&secret",
        ] {
            let error = parse(bad).expect_err(bad);
            assert!(
                matches!(error, OpenError::InvalidUrl { .. }),
                "{bad}: {error}"
            );
            assert!(!error.to_string().contains("secret"), "{error}");
        }
    }
}
