//! One commit's own words and people, in the forms that a log takes.

use annals_domain::{ActorRef, GitOid, Timestamp, cut};
use chrono::DateTime;
use gix::ObjectId;
use gix::bstr::{BStr, ByteSlice};
use gix::objs::{CommitRef, Kind};

use super::header;
use super::objects::{Fault, Objects};
use super::remark::Remark;
use super::tally::{Tally, decode};
use crate::secrets::Secrets;

/// The longest message that is kept: an event's request has its own limit, and
/// the body goes into it twice.
const MESSAGE_LIMIT: usize = 1024 * 1024;

/// The longest id of an actor, in bytes.
const ACTOR_ID_LIMIT: usize = 1_024;

/// 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z: what RFC 3339 can write.
const TIME_RANGE: (i64, i64) = (-62_135_596_800, 253_402_300_799);

/// What a commit says of itself.
#[derive(Debug, Clone)]
pub(super) struct Facts {
    pub(super) id: ObjectId,
    pub(super) oid: GitOid,
    pub(super) tree: ObjectId,
    /// The subject; empty where there is none.
    pub(super) subject: String,
    pub(super) body: Option<String>,
    pub(super) author: ActorRef,
    pub(super) authored_at: Timestamp,
    pub(super) committed_at: Timestamp,
    /// Its header, if that says more than the fields above.
    pub(super) header: Option<String>,
}

/// A commit as it is stored.
pub(super) struct Raw {
    bytes: Vec<u8>,
    /// What is stored, where that cannot be read and `bytes` is what can be read of it.
    stored: Option<Vec<u8>>,
    hash: gix::hash::Kind,
    /// The people whose lines cannot be read, and have an empty one instead.
    unreadable: Unreadable,
}

/// Whose lines of a commit cannot be read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Unreadable {
    author: bool,
    committer: bool,
}

impl Raw {
    /// Reads a commit; none where it is not there.
    pub(super) fn of(objects: &Objects, id: ObjectId) -> Result<Option<Raw>, Fault> {
        let mut bytes = Vec::new();
        match objects.get(&id, &mut bytes)? {
            None => Ok(None),
            Some(kind) => Raw::read((id, kind), bytes, objects.hash()).map(Some),
        }
    }

    /// Reads a commit without its message, also one that is too large to be imported; none where it is not there.
    pub(super) fn beginning(objects: &Objects, id: ObjectId) -> Result<Option<Raw>, Fault> {
        let mut bytes = Vec::new();
        let Some(kind) = objects.get_large(&id, &mut bytes)? else {
            return Ok(None);
        };
        let end = header_of(&bytes).len();
        bytes.truncate(end);
        bytes.push(b'\n');
        Raw::read((id, kind), bytes, objects.hash()).map(Some)
    }

    fn read(
        (id, kind): (ObjectId, Kind),
        bytes: Vec<u8>,
        hash: gix::hash::Kind,
    ) -> Result<Raw, Fault> {
        let malformed = || Fault::Malformed {
            id,
            expected: "a commit",
        };
        if kind != Kind::Commit {
            return Err(malformed());
        }
        let mut raw = Raw {
            bytes,
            stored: None,
            hash,
            unreadable: Unreadable::default(),
        };
        if CommitRef::from_bytes(&raw.bytes, hash).is_err() {
            let (bytes, unreadable) = repaired(&raw.bytes).ok_or_else(malformed)?;
            raw.stored = Some(std::mem::replace(&mut raw.bytes, bytes));
            raw.unreadable = unreadable;
            CommitRef::from_bytes(&raw.bytes, hash).map_err(|_| malformed())?;
        }
        Ok(raw)
    }

    /// What it says.
    pub(super) fn commit(&self) -> gix::Result<CommitRef<'_>> {
        let mut commit = CommitRef::from_bytes(&self.bytes, self.hash)?;
        if self.unreadable.author {
            commit.author = b"".as_bstr();
        }
        if self.unreadable.committer {
            commit.committer = b"".as_bstr();
        }
        Ok(commit)
    }

    /// Its lines up to the message, as they are stored.
    fn header(&self) -> &BStr {
        header_of(self.stored.as_deref().unwrap_or(&self.bytes)).as_bstr()
    }

    /// What of it cannot be read.
    pub(super) fn broken(&self) -> Option<&'static str> {
        let Unreadable { author, committer } = self.unreadable;
        match (author, committer) {
            (true, true) => {
                Some("its author and its committer cannot be read; the rest was imported")
            }
            (true, false) => Some("its author cannot be read; the rest was imported"),
            (false, true) => Some("its committer cannot be read; the rest was imported"),
            (false, false) => None,
        }
    }
}

/// A commit's lines up to its message.
fn header_of(bytes: &[u8]) -> &[u8] {
    let end = bytes.find(b"\n\n").map_or(bytes.len(), |end| end + 1);
    bytes.get(..end).unwrap_or(bytes)
}

/// A commit with lines of people that can be read, in the places where they belong, and whose were not;
/// none where it is not even a commit's beginning.
fn repaired(bytes: &[u8]) -> Option<(Vec<u8>, Unreadable)> {
    /// What the library reads as a person.
    const NOBODY: &[u8] = b" <> 0 +0000";
    let header = header_of(bytes);
    let message = bytes.get(header.len()..).unwrap_or_default();
    let mut lines = header.lines().peekable();
    let mut made = Vec::with_capacity(bytes.len() + 64);
    let mut write = |parts: &[&[u8]]| {
        parts.iter().for_each(|part| made.extend_from_slice(part));
        made.push(b'\n');
    };
    write(&[lines.next().filter(|line| line.starts_with(b"tree "))?]);
    while let Some(parent) = lines.next_if(|line| line.starts_with(b"parent ")) {
        write(&[parent]);
    }
    let mut person = |name: &[u8]| {
        let line = lines.next_if(|line| line.starts_with(name));
        let signature = line.map(|line| line.get(name.len()..).unwrap_or_default());
        let signature = signature.filter(|raw| {
            let mut rest = *raw;
            let read = gix::actor::SignatureRef::from_bytes_consuming(&mut rest);
            read.is_ok() && rest.is_empty()
        });
        write(&[name, signature.unwrap_or(NOBODY)]);
        signature.is_none()
    };
    let unreadable = Unreadable {
        author: person(b"author "),
        committer: person(b"committer "),
    };
    lines.for_each(|line| write(&[line]));
    made.extend_from_slice(if message.is_empty() { b"\n" } else { message });
    Some((made, unreadable))
}

/// Reads a commit. Whatever is wrong with its texts and dates is mapped and
/// noted, never an error.
pub(super) fn facts(
    id: ObjectId,
    oid: GitOid,
    (raw, commit): (&Raw, &CommitRef<'_>),
    secrets: &Secrets,
    tally: &mut Tally,
) -> Facts {
    let (subject, body) = message(id, commit, secrets, tally);
    let author = person(id, commit, secrets, tally);
    let (authored, committed) = (commit.author().ok(), commit.committer().ok());
    let authored_at = time(id, authored.map(|author| author.time), tally);
    let committed_at = time(id, committed.map(|committer| committer.time), tally);
    tally.fields.kept("author.date");
    tally.fields.kept("committer.date");
    let header = header::header(id, raw.header(), commit, secrets, tally);
    let tree = commit.tree();
    Facts {
        id,
        oid,
        tree,
        subject,
        body,
        author,
        authored_at,
        committed_at,
        header,
    }
}

/// Subject and body as git tells them apart: the subject is the first
/// paragraph on one line, the body is the rest.
fn message(
    id: ObjectId,
    commit: &CommitRef<'_>,
    secrets: &Secrets,
    tally: &mut Tally,
) -> (String, Option<String>) {
    let (text, lossless) = decode(commit.message, commit.encoding);
    if !lossless {
        tally.remarks.add(Remark::MessageNotUtf8, id);
        tally.fields.lost("message's bytes", 1);
    }
    let text = tally.without_secrets(&text, secrets, id, "message");
    let mut text = text.as_str();
    if text.len() > MESSAGE_LIMIT {
        text = cut(text, MESSAGE_LIMIT);
        tally.remarks.add(Remark::MessageCut, id);
        tally.fields.lost("message's end", 1);
    }
    let (subject, body) = split(text);
    if subject.is_empty() {
        tally.remarks.add(Remark::EmptyMessage, id);
        tally.fields.inferred("subject");
    } else {
        tally.fields.kept("subject");
    }
    match &body {
        Some(_) => tally.fields.kept("body"),
        None => tally.fields.inferred("body, from the subject"),
    }
    (subject, body)
}

fn split(text: &str) -> (String, Option<String>) {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let mut lines = lines.iter().copied().skip_while(|line| line.is_empty());
    let first: Vec<&str> = lines.by_ref().take_while(|line| !line.is_empty()).collect();
    let rest: Vec<&str> = lines.collect();
    let body = rest.join("\n");
    let body = body.trim_matches('\n');
    let body = if body.trim().is_empty() {
        None
    } else {
        Some(body.to_owned())
    };
    (first.join(" ").trim().to_owned(), body)
}

/// The author as an actor: a person whose id is the e-mail address.
fn person(id: ObjectId, commit: &CommitRef<'_>, secrets: &Secrets, tally: &mut Tally) -> ActorRef {
    let Ok(author) = commit.author() else {
        tally.remarks.add(Remark::AuthorUnreadable, id);
        tally.fields.lost("author", 1);
        return ActorRef::human("unknown");
    };
    let (name, name_kept) = decode(author.name, commit.encoding);
    let (email, email_kept) = decode(author.email, commit.encoding);
    if !(name_kept && email_kept) {
        tally.remarks.add(Remark::AuthorNotUtf8, id);
        tally.fields.lost("author's bytes", 1);
    }
    let name = tally.without_secrets(&name, secrets, id, "author.name");
    let email = tally.without_secrets(&email, secrets, id, "author.email");
    let (name, email) = (name.trim(), email.trim());
    let actor_id = match (email, name) {
        ("", "") => "unknown",
        ("", name) => name,
        (email, _) => email,
    };
    if email.is_empty() {
        tally.remarks.add(Remark::BlankAuthor, id);
        tally.fields.inferred("author.email");
    } else {
        tally.fields.kept("author.email");
    }
    if actor_id.len() > ACTOR_ID_LIMIT {
        tally.remarks.add(Remark::AuthorCut, id);
    }
    let mut actor = ActorRef::human(cut(actor_id, ACTOR_ID_LIMIT).trim_end());
    if !name.is_empty() {
        tally.fields.kept("author.name");
        actor.display_name = Some(name.to_owned());
    }
    actor
}

/// The seconds of a raw date such as `1700000000 +0100`.
fn time(id: ObjectId, raw: Option<&str>, tally: &mut Tally) -> Timestamp {
    let seconds = raw.and_then(|raw| raw.split_whitespace().next()?.parse::<i64>().ok());
    let Some(seconds) = seconds else {
        tally.remarks.add(Remark::TimeUnreadable, id);
        return Timestamp::EPOCH;
    };
    let (earliest, latest) = TIME_RANGE;
    if seconds < earliest || seconds > latest {
        tally.remarks.add(Remark::TimeOutOfRange, id);
    }
    let inside = seconds.clamp(earliest, latest);
    DateTime::from_timestamp(inside, 0).map_or(Timestamp::EPOCH, Timestamp::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_split_as_git_does() {
        let check = |text: &str, subject: &str, body: Option<&str>| {
            assert_eq!(
                split(text),
                (subject.to_owned(), body.map(str::to_owned)),
                "{text:?}"
            );
        };
        check("", "", None);
        check("\n \n", "", None);
        check("one\n", "one", None);
        check("\n\none  \ntwo\n", "one two", None);
        check("one\n\nbody\n", "one", Some("body"));
        check(
            "one\r\n\r\n\r\n  body\r\nmore\r\n\r\n",
            "one",
            Some("  body\nmore"),
        );
        check("one\n\nfirst\n\nsecond\n", "one", Some("first\n\nsecond"));
    }

    #[test]
    fn lines_of_people_that_cannot_be_read_are_replaced() {
        #[track_caller]
        fn check(people: &str, message: &str, expected: (bool, bool)) {
            let tree = "0".repeat(40);
            let bytes = format!("tree {tree}\nparent {tree}\n{people}encoding x\n{message}");
            let (made, unreadable) = repaired(bytes.as_bytes()).unwrap();
            let commit = CommitRef::from_bytes(&made, gix::hash::Kind::Sha1).unwrap();
            assert_eq!((unreadable.author, unreadable.committer), expected);
            assert_eq!(commit.encoding, Some("x".into()));
            assert_eq!(commit.parents.len(), 1);
            assert_eq!(commit.message, message.get(1..).unwrap_or_default());
        }
        let (good, bad) = ("A <a@b> 1 +0000", "nobody at all");
        let both = |a: &str, c: &str| format!("author {a}\ncommitter {c}\n");
        check(&both(good, good), "\nm", (false, false));
        check(&both(bad, good), "\nm\n\nbody\n", (true, false));
        check(&both(good, bad), "\nm", (false, true));
        check(&both("", ""), "\nm", (true, true));
        check(&format!("committer {good}\n"), "\nm", (true, false));
        check("", "", (true, true));
        assert!(repaired(b"something else").is_none());
    }

    #[test]
    fn latin_1_is_read_where_the_commit_says_so() {
        let bytes = b"caf\xe9".as_bstr();
        assert_eq!(
            decode(bytes, Some(b"ISO-8859-1".as_bstr())),
            ("café".into(), true)
        );
        assert_eq!(decode(bytes, None), ("caf\u{fffd}".into(), false));
        assert_eq!(
            decode("café".as_bytes().as_bstr(), None),
            ("café".into(), true)
        );
    }
}
