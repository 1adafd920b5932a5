//! The URL of a log on PostgreSQL, whose password nothing shows.

use std::fmt;

/// The URL of a log on PostgreSQL, as it was given: `postgres://USER@HOST/DATABASE?log=NAME` (`docs/postgres.md`). What
/// shows it, `Debug` too, has `***` in the place of a password.
#[derive(Clone, PartialEq, Eq)]
pub struct PostgresUrl(String);

impl PostgresUrl {
    pub(crate) fn new(url: &str) -> PostgresUrl {
        PostgresUrl(url.to_owned())
    }

    /// All of it, with the password that it may have: to connect by, and for nobody's eyes.
    pub fn with_password(&self) -> &str {
        &self.0
    }

    /// Whether it may have a password in it: what [`fmt::Display`] shows is then not the URL.
    pub fn has_password(&self) -> bool {
        shown(&self.0) != self.0
    }

    /// What tells the log from others: where it is, and neither who asks nor how. Written otherwise (with the usual
    /// port, or hosts in another order) it is another text.
    ///
    /// ```
    /// use annals::LogUrl;
    ///
    /// let url = "postgres://ada:secret@db1,db2/annals?notify=true&log=team";
    /// let Ok(LogUrl::Postgres(url)) = url.parse() else { panic!() };
    /// assert_eq!(url.place(), "db1,db2/annals?log=team&schema=annals");
    ///
    /// let url = "postgres://ada@db1/annals?log=team&blobs=/mnt/b@1";
    /// let Ok(LogUrl::Postgres(url)) = url.parse() else { panic!() };
    /// assert_eq!(url.place(), "db1/annals?log=team&schema=annals");
    /// ```
    pub fn place(&self) -> String {
        let (_, rest) = self.0.split_once("://").unwrap_or_default();
        // As the URL is read where it is connected with: who asks ends at the first @, and an @ of a parameter says
        // nothing.
        let rest = rest.split_once('@').map_or(rest, |(_, rest)| rest);
        let (server, query) = rest.split_once('?').unwrap_or((rest, ""));
        let said = |name: &str| {
            let mut pairs = query.split('&').filter_map(|it| it.split_once('='));
            pairs.rfind(|(found, _)| *found == name).map(|(_, it)| it)
        };
        let mut place = server.to_owned();
        for (name, usual) in PLACE {
            if let Some(value) = said(name).or(usual) {
                place.push(if place.contains('?') { '&' } else { '?' });
                place.push_str(&format!("{name}={value}"));
            }
        }
        place
    }
}

/// Parameters that say where a log is, and what they are where they are left out.
const PLACE: [(&str, Option<&str>); 5] = [
    ("host", None),
    ("port", None),
    ("dbname", None),
    ("log", Some("main")),
    ("schema", Some("annals")),
];

impl fmt::Display for PostgresUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shown(&self.0))
    }
}

impl fmt::Debug for PostgresUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PostgresUrl({:?})", shown(&self.0))
    }
}

/// A URL without what may be a password in it. Where that is not certain, too much is left out.
pub(crate) fn shown(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.to_owned();
    };
    let mut shown = format!("{scheme}://");
    // A password may have any character, also an @ that should have been %40: it ends at the last one.
    let place = match rest.rsplit_once('@') {
        None => rest,
        Some((before, place)) => {
            let name = before.split([':', '?', '@', '/']).next();
            shown.push_str(name.unwrap_or_default());
            // Where the password is cannot be told then.
            if before.contains('?') {
                return shown + "@***";
            }
            shown.push_str(if before.contains(':') { ":***@" } else { "@" });
            place
        }
    };
    let (place, query) = match place.split_once('?') {
        Some((place, query)) => (place, Some(query)),
        None => (place, None),
    };
    shown.push_str(place);
    let parameters = query.into_iter().flat_map(|query| query.split('&'));
    for (number, parameter) in parameters.enumerate() {
        shown.push(if number == 0 { '?' } else { '&' });
        match parameter.split_once('=') {
            Some((name, _)) if may_hold_password(name) => {
                shown.push_str(name);
                shown.push_str("=***");
            }
            _ => shown.push_str(parameter),
        }
    }
    shown
}

/// Whether a parameter's name may be that of a password; one with a `%` may say anything.
fn may_hold_password(name: &str) -> bool {
    name.contains('%') || name.to_ascii_lowercase().contains("pass")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_password_is_shown() {
        for (url, expected) in [
            ("postgres://ada@db/x?log=a", "postgres://ada@db/x?log=a"),
            ("postgres://db:5432/x", "postgres://db:5432/x"),
            (
                "postgres://ada:hunter2@db,db2:1/x?log=a&notify=true",
                "postgres://ada:***@db,db2:1/x?log=a&notify=true",
            ),
            ("postgres://ada:hun@ter2@db/x", "postgres://ada:***@db/x"),
            ("postgres://ada:hun/ter2@db/x", "postgres://ada:***@db/x"),
            ("postgres://ada:hun?ter2@db/x", "postgres://ada@***"),
            (
                "postgres://ada@db/x?password=hunt@er2",
                "postgres://ada@***",
            ),
            (
                "postgres://db/x?log=a&password=hunter2",
                "postgres://db/x?log=a&password=***",
            ),
            (
                "postgres://db/x?p%61ssword=hunter2",
                "postgres://db/x?p%61ssword=***",
            ),
            ("mysql://ada:hunter2@db", "mysql://ada:***@db"),
            ("a/path", "a/path"),
        ] {
            assert_eq!(shown(url), expected, "{url}");
            let url = PostgresUrl::new(url);
            assert_eq!(url.to_string(), expected);
            assert!(!format!("{url:?}").contains("ter2"), "{url:?}");
        }
    }
}
