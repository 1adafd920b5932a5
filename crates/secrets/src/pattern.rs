//! One pattern, ready to be searched for.

use std::sync::{Arc, OnceLock};

use annals_event_log::{Classification, Classified, ErrorClass};
use regex::bytes::Regex;

use super::check::Check;
use super::key;
use super::line::{self, Parts};
use super::rules::{self, Kind, Rule};
use super::table;

/// The group of a pattern that is the secret, where the whole of it is not.
const GROUP: &str = "secret";

/// What patterns without a name are called.
const UNNAMED: &str = "custom";

/// Bytes before and behind a hint in which a pattern is searched for. A match that reaches the end is searched for
/// again, to the end of the text.
const BEFORE: usize = 512;
const BEHIND: usize = 1024;

/// The bytes of a name that are looked at before a label.
const MOST_NAME: usize = 80;

/// Texts of no secret. What matches one of them matches nearly everything.
const ORDINARY: [&str; 7] = ["a", "0", " ", "the", "main", "2026", "README.md"];

/// Why a pattern is not taken. None of these gets better by trying again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SecretPatternError {
    /// It is not a regular expression.
    #[error("invalid regular expression {pattern:?}: {reason}")]
    Invalid {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        reason: String,
    },
    /// It matches a text of nothing.
    #[error("{pattern:?} matches the empty text: say what a secret has at least, as in [0-9]{{8}}")]
    Empty {
        /// The pattern.
        pattern: String,
    },
    /// What is before the = looks like a name, and is not valid as one.
    #[error(
        "invalid name {name:?} for a kind of secret: expected lower-case letters, digits and hyphens; \
         write (?:{name}=...) if it is a part of the pattern"
    )]
    Name {
        /// What is there.
        name: String,
    },
    /// It matches what is not a secret.
    #[error(
        "{pattern:?} matches ordinary text such as {matched:?}, and would take out nearly \
         everything{}", named.as_ref().map(|name| format!(
            "; {name:?} before the = was read as its name: write (?:{name}=...) if it is a part of it"
        )).unwrap_or_default()
    )]
    Ordinary {
        /// The pattern, without its name.
        pattern: String,
        /// What it matches.
        matched: String,
        /// The name that it was given.
        named: Option<String>,
    },
}

impl Classified for SecretPatternError {
    fn classify(&self) -> Classification {
        use ErrorClass::Usage;
        Usage.code("usage")
    }
}

/// A pattern.
#[derive(Debug, Clone)]
pub(super) struct Pattern {
    pub(super) kind: Arc<str>,
    pub(super) about: Arc<str>,
    /// What a text must have for it to be searched for; nothing for those that
    /// callers add.
    pub(super) hint: Arc<str>,
    /// What a match must be.
    check: Check,
    /// Whether it is that of private keys, which no regular expression finds.
    finds_keys: bool,
    /// Whether it is that of tables, which no regular expression finds either.
    finds_tables: bool,
    /// Whether it gives way to what another one finds in the same place.
    pub(super) is_last: bool,
    /// `true` if its hint may be in another line than a match.
    is_apart: bool,
    /// Whether a key of JSON or YAML may be its label.
    pub(super) by_label: bool,
    /// What such a key must have.
    pub(super) key: Arc<str>,
    regex: Arc<str>,
    /// The part of a text that is searched; the whole without one.
    region: Option<Arc<str>>,
    /// What a match must not have.
    except: Option<Arc<str>>,
    /// Made when a text has the hint: most imports need few of the set.
    searched: OnceLock<Option<Searched>>,
}

/// What is searched for.
#[derive(Debug, Clone)]
struct Searched {
    regex: Regex,
    /// The number of the group that goes.
    group: usize,
    region: Option<Regex>,
    except: Option<Regex>,
    /// `true` if its matches lie within a line.
    is_of_a_line: bool,
}

impl Searched {
    fn of(regex: Regex) -> Searched {
        let parsed = line::parse_unicode(regex.as_str());
        let mut names = regex.capture_names();
        let group = names.position(|name| name == Some(GROUP)).unwrap_or(0);
        Searched {
            regex,
            group,
            region: None,
            except: None,
            is_of_a_line: parsed.is_some_and(|it| line::is_of_a_line(&it)),
        }
    }

    /// Returns the parts of a text that are searched for these places of a hint.
    fn around(&self, text: &[u8], hits: &[(usize, usize)]) -> Parts {
        let mut parts = Parts::new();
        for (start, end) in hits {
            let part = (start.saturating_sub(BEFORE), end + BEHIND);
            let (start, end) = match self.is_of_a_line {
                true => line::within(text, (*start, *end), part),
                false => part,
            };
            line::add(&mut parts, (start, end.min(text.len())));
        }
        parts
    }

    /// Where secrets are in a part of a text that pass the check. A match that the part's end may have cut off, or made
    /// possible, is searched for again in all that follows.
    fn find_in(
        &self,
        check: Check,
        text: &[u8],
        (start, end): (usize, usize),
    ) -> Vec<(usize, usize)> {
        let (mut found, mut at, mut end) = (Vec::new(), start, end.min(text.len()));
        while let Some(captures) = self
            .regex
            .captures_at(text.get(..end).unwrap_or_default(), at)
        {
            let whole = captures.get(0);
            let is_cut_off =
                end < text.len() && !(self.is_of_a_line && text.get(end - 1) == Some(&b'\n'));
            if is_cut_off && whole.is_some_and(|whole| whole.end() == end) {
                end = text.len();
                continue;
            }
            // A group that took no part: the whole is the secret.
            let Some(secret) = captures.get(self.group).or(whole) else {
                break;
            };
            let behind = text.get(secret.end()..).unwrap_or_default();
            let is_excepted = |except: &Regex| {
                let begun = whole.map_or(secret.start(), |whole| whole.start());
                let start = begun - name_before(text.get(..begun).unwrap_or_default());
                except.is_match(text.get(start..secret.start()).unwrap_or_default())
            };
            if !secret.is_empty()
                && check.accepts(secret.as_bytes(), behind)
                && !self.except.as_ref().is_some_and(is_excepted)
            {
                found.push((secret.start(), secret.end()));
            }
            // What is behind a secret may be what is before the next one. An
            // empty match is stepped over.
            at = secret
                .end()
                .max(whole.map_or(at, |whole| whole.start() + 1));
            if at > end {
                break;
            }
        }
        found
    }

    fn find(&self, check: Check, text: &[u8]) -> Vec<(usize, usize)> {
        self.find_in(check, text, (0, text.len()))
    }
}

/// The length of the beginning of a name at the end of a text, whose end is a label.
fn name_before(text: &[u8]) -> usize {
    let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_.:-".contains(byte);
    let before = text.iter().rev().take(MOST_NAME);
    before.take_while(is_name).count()
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Pattern) -> bool {
        self.kind == other.kind && self.regex == other.regex
    }
}

impl Eq for Pattern {}

/// Why the rules are invalid. A test makes sure that they are valid.
#[derive(Debug, thiserror::Error)]
pub(super) enum BadRules {
    /// They are not this TOML.
    #[error(transparent)]
    Toml(#[from] toml::de::Error),
    /// A rule has not just one form.
    #[error("a rule of {kind} has no form, or more than one")]
    Form {
        /// Its kind.
        kind: String,
    },
}

/// The patterns of the standard set, in the order of the kinds.
pub(super) fn standard() -> Result<Vec<Pattern>, BadRules> {
    let mut patterns = Vec::new();
    for kind in &rules::kinds()? {
        for rule in &kind.rules {
            let regex = rule.regex();
            let none = || BadRules::Form {
                kind: kind.name.clone(),
            };
            patterns.push(Pattern::standard(kind, rule, regex.ok_or_else(none)?));
        }
    }
    Ok(patterns)
}

impl Pattern {
    /// A rule of the standard set, with the expression that finds it.
    pub(super) fn standard(kind: &Kind, rule: &Rule, regex: String) -> Pattern {
        Pattern {
            kind: kind.name.as_str().into(),
            about: kind.about.as_str().into(),
            hint: rule.hint.as_str().into(),
            check: rule.check,
            finds_keys: rule.private_key,
            finds_tables: rule.table,
            is_last: rule.last,
            is_apart: rule.apart,
            by_label: rule.has_label(),
            key: rule.key().into(),
            regex: regex.into(),
            region: rule.region.as_deref().map(Arc::from),
            except: rule.except.as_deref().map(Arc::from),
            searched: OnceLock::new(),
        }
    }

    /// What is searched for; nothing if it is not a regular expression, which a test
    /// rules out for the standard set.
    fn searched(&self) -> Option<&Searched> {
        let made = self.searched.get_or_init(|| {
            let of = |regex: &Option<Arc<str>>| regex.as_deref().map(Regex::new).transpose();
            let searched = Searched::of(Regex::new(&self.regex).ok()?);
            Some(Searched {
                is_of_a_line: searched.is_of_a_line && !self.is_apart,
                region: of(&self.region).ok()?,
                except: of(&self.except).ok()?,
                ..searched
            })
        });
        made.as_ref()
    }

    /// Whether it can be searched for.
    #[cfg(test)]
    pub(super) fn is_searchable(&self) -> bool {
        self.searched().is_some()
    }

    /// Returns the parts of a text that are searched for these places of its hint.
    #[cfg(test)]
    pub(super) fn parts(&self, text: &[u8], hits: &[(usize, usize)]) -> Parts {
        let searched = self.searched();
        searched.map_or_else(Parts::new, |searched| searched.around(text, hits))
    }

    /// A pattern of a caller's: a regular expression, or `NAME=` and one. A name is
    /// of small letters, digits and hyphens.
    pub(super) fn custom(text: &str) -> Result<Pattern, SecretPatternError> {
        let is_name = |name: &str| {
            let known =
                |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
            !name.is_empty() && name.bytes().all(known)
        };
        let is_word = |name: &str| {
            let known = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
            !name.is_empty() && name.bytes().all(known)
        };
        let split = text.split_once('=').filter(|(name, _)| is_word(name));
        if let Some((name, _)) = split.filter(|(name, _)| !is_name(name)) {
            let name = name.to_owned();
            return Err(SecretPatternError::Name { name });
        }
        let (named, pattern) = match split {
            Some((name, pattern)) => (Some(name.to_owned()), pattern),
            None => (None, text),
        };
        let regex = Regex::new(pattern).map_err(|error| SecretPatternError::Invalid {
            pattern: pattern.to_owned(),
            reason: error.to_string(),
        })?;
        let pattern = pattern.to_owned();
        if regex.is_match(b"") {
            return Err(SecretPatternError::Empty { pattern });
        }
        if let Some(matched) = ORDINARY.iter().find(|it| regex.is_match(it.as_bytes())) {
            return Err(SecretPatternError::Ordinary {
                pattern,
                matched: (*matched).to_owned(),
                named,
            });
        }
        Ok(Pattern {
            kind: named.as_deref().unwrap_or(UNNAMED).into(),
            about: format!("what matches {pattern}").into(),
            hint: "".into(),
            check: Check::Any,
            finds_keys: false,
            finds_tables: false,
            is_last: false,
            is_apart: false,
            by_label: true,
            key: "".into(),
            regex: regex.as_str().into(),
            region: None,
            except: None,
            searched: OnceLock::from(Some(Searched::of(regex))),
        })
    }

    /// Whether it is that of private keys.
    pub(super) fn finds_keys(&self) -> bool {
        self.finds_keys
    }

    /// Where secrets of it are in a text, from its first byte to behind its last, around places that hint at one. What
    /// it needs of other places, it searches the whole text for.
    pub(super) fn find_near(&self, text: &[u8], hits: &[(usize, usize)]) -> Vec<(usize, usize)> {
        if self.finds_keys {
            return key::find(text);
        }
        if self.finds_tables {
            return table::find(text, hits);
        }
        let Some(searched) = self.searched() else {
            return Vec::new();
        };
        let Some(region) = &searched.region else {
            let parts = searched.around(text, hits).into_iter();
            let mut found: Vec<(usize, usize)> = parts
                .flat_map(|part| searched.find_in(self.check, text, part))
                .collect();
            found.sort_unstable();
            found.dedup();
            return found;
        };
        let mut found = Vec::new();
        for part in region.find_iter(text) {
            let inside = searched.find(self.check, part.as_bytes()).into_iter();
            found.extend(inside.map(|(start, end)| (part.start() + start, part.start() + end)));
        }
        found
    }
}
