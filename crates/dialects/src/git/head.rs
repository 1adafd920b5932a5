//! Where a history begins and ends: the commit of `HEAD`, and what a shallow clone says of its edge.

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use annals_files::Kind;
use gix::ObjectId;
use gix::bstr::{BStr, ByteSlice};

use super::own_files::{self, LIST, NAME, Refusal, configuration};
use super::place::Place;

/// So many references may name each other, as in git.
const SYMBOLIC: usize = 5;

/// Bytes of a line of a list, at most: an id and a name.
const LINE: u64 = 8 << 10;

/// References that each work tree has for itself.
const OF_WORK_TREE: [&str; 3] = ["refs/bisect/", "refs/worktree/", "refs/rewritten/"];

/// What a repository says of its history.
#[derive(Debug)]
pub(super) struct Head {
    /// What its ids are made with.
    pub(super) hash: gix::hash::Kind,
    /// The commit of `HEAD`; none where there are no commits yet.
    pub(super) commit: Option<ObjectId>,
    /// Commits whose parents are not there.
    pub(super) shallow: HashSet<ObjectId>,
}

/// Reads all that an import needs to know besides objects.
pub(super) fn read(place: &Place) -> Result<Head, Refusal> {
    let hash = hash(place)?;
    let references = References { place, hash };
    Ok(Head {
        hash,
        commit: references.head()?,
        shallow: shallow(place, hash)?,
    })
}

/// What the repository's ids are made with. It is all that is taken from its configuration.
fn hash(place: &Place) -> Result<gix::hash::Kind, Refusal> {
    let unsupported = |what| Refusal::Unsupported {
        path: place.common.path_of("config".as_ref()),
        what,
    };
    let Some(config) = configuration(&place.common, "config")? else {
        return Ok(gix::hash::Kind::Sha1);
    };
    let value = |key: &str| config.string(key).map(|value| value.to_ascii_lowercase());
    let version = value("core.repositoryformatversion").unwrap_or_else(|| b"0".to_vec());
    match version.trim_ascii() {
        b"0" => return Ok(gix::hash::Kind::Sha1),
        b"1" => {}
        _ => return Err(unsupported("another format version")),
    }
    if value("extensions.refstorage").is_some_and(|storage| storage != b"files") {
        return Err(unsupported("another storage of references"));
    }
    match value("extensions.objectformat").as_deref() {
        None | Some(b"sha1") => Ok(gix::hash::Kind::Sha1),
        Some(b"sha256") => Ok(gix::hash::Kind::Sha256),
        Some(_) => Err(unsupported("another object format")),
    }
}

/// What a reference says.
enum Said {
    Id(ObjectId),
    Name(String),
}

struct References<'p> {
    place: &'p Place,
    hash: gix::hash::Kind,
}

impl References<'_> {
    /// The commit of `HEAD`, by way of the references that it names.
    fn head(&self) -> Result<Option<ObjectId>, Refusal> {
        // Looked at also where it is not needed: nothing odd is passed over in silence.
        let packed = own_files::open(&self.place.common, "packed-refs".as_ref())?;
        let mut packed = packed.map(BufReader::new);
        let own = &self.place.own;
        let path = || own.path_of("HEAD".as_ref());
        let malformed = |expected| Refusal::Malformed {
            path: path(),
            expected,
        };
        let text = own_files::whole(own, "HEAD", NAME)?;
        let text = text.ok_or_else(|| malformed("an id or the name of a reference"))?;
        let mut said = self.parse(&text, path)?;
        for _ in 0..SYMBOLIC {
            let name = match said {
                Said::Id(id) => return Ok(Some(id)),
                Said::Name(name) => name,
            };
            said = match self.loose(&name)? {
                Some(found) => found,
                None => match packed.take() {
                    Some(packed) => return self.packed(packed, &name),
                    None => return Ok(None),
                },
            };
        }
        match said {
            Said::Id(id) => Ok(Some(id)),
            Said::Name(_) => Err(malformed(
                "not more than five references that name each other",
            )),
        }
    }

    fn parse(&self, text: &[u8], path: impl Fn() -> PathBuf) -> Result<Said, Refusal> {
        let malformed = || Refusal::Malformed {
            path: path(),
            expected: "an id, or \"ref: \" and the name of a reference",
        };
        let Some(name) = text.strip_prefix(b"ref:") else {
            let id = text.get(..self.hash.len_in_hex());
            let rest = text.get(self.hash.len_in_hex()..).unwrap_or_default();
            let is_id = rest.first().is_none_or(u8::is_ascii_whitespace);
            let id = id
                .filter(|_| is_id)
                .and_then(|id| ObjectId::from_hex(id).ok());
            return id.map(Said::Id).ok_or_else(malformed);
        };
        let name = name.trim_ascii();
        if name == b"refs/heads/.invalid" {
            let what = "another storage of references";
            return Err(Refusal::Unsupported { path: path(), what });
        }
        let is_name =
            name.starts_with(b"refs/") && gix::validate::reference::name(BStr::new(name)).is_ok();
        let name = name.to_str().ok().filter(|_| is_name);
        name.map(|name| Said::Name(name.to_owned()))
            .ok_or_else(malformed)
    }

    /// A reference that is a file of its own.
    fn loose(&self, name: &str) -> Result<Option<Said>, Refusal> {
        let is_own = OF_WORK_TREE.iter().any(|prefix| name.starts_with(prefix));
        let base = if is_own {
            &self.place.own
        } else {
            &self.place.common
        };
        let io = |source| Refusal::Io {
            path: base.path().to_owned(),
            source,
        };
        let mut dir = base.again().map_err(io)?;
        let mut parts = name.split('/').peekable();
        while let Some(part) = parts.next() {
            if parts.peek().is_some() {
                match own_files::folder(&dir, part.as_ref())? {
                    Some(next) => dir = next,
                    None => return Ok(None),
                }
                continue;
            }
            // A folder is left behind where references with longer names were.
            if own_files::kind(&dir, part)? == Some(Kind::Dir) {
                return Ok(None);
            }
            let text = own_files::whole(&dir, part, NAME)?;
            let said = text.map(|text| self.parse(&text, || dir.path_of(part.as_ref())));
            return said.transpose();
        }
        Ok(None)
    }

    /// A reference in the list of those that are not files of their own.
    fn packed(
        &self,
        list: BufReader<std::fs::File>,
        name: &str,
    ) -> Result<Option<ObjectId>, Refusal> {
        let path = self.place.common.path_of("packed-refs".as_ref());
        let mut found = None;
        each_line(list, &path, |line| {
            let (id, of) = line.split_once_str(" ").unwrap_or((line, b""));
            if found.is_none() && of == name.as_bytes() {
                let id = id_of_length(id, self.hash);
                found = Some(id.ok_or("lines of an id and a name")?);
            }
            Ok(())
        })?;
        Ok(found)
    }
}

fn id_of_length(text: &[u8], hash: gix::hash::Kind) -> Option<ObjectId> {
    let is_long = text.len() == hash.len_in_hex();
    ObjectId::from_hex(text).ok().filter(|_| is_long)
}

/// The commits at which a shallow clone is cut off.
fn shallow(place: &Place, hash: gix::hash::Kind) -> Result<HashSet<ObjectId>, Refusal> {
    let mut commits = HashSet::new();
    if let Some(list) = own_files::open(&place.common, "shallow".as_ref())? {
        let path = place.common.path_of("shallow".as_ref());
        each_line(BufReader::new(list), &path, |line| {
            if !line.is_empty() {
                commits
                    .insert(id_of_length(line, hash).ok_or("a line with an id for each commit")?);
            }
            Ok(())
        })?;
    }
    Ok(commits)
}

/// Gives the lines of a list to `take`, which says what it expected where one does not fit.
fn each_line(
    list: BufReader<std::fs::File>,
    path: &Path,
    mut take: impl FnMut(&[u8]) -> Result<(), &'static str>,
) -> Result<(), Refusal> {
    let io = |source| Refusal::Io {
        path: path.to_owned(),
        source,
    };
    let malformed = |expected| Refusal::Malformed {
        path: path.to_owned(),
        expected,
    };
    let mut list = list.take(LIST + 1);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = list
            .by_ref()
            .take(LINE)
            .read_until(b'\n', &mut line)
            .map_err(io)?;
        if list.limit() == 0 {
            return Err(Refusal::TooLarge {
                path: path.to_owned(),
                limit: LIST,
            });
        }
        match read {
            0 => return Ok(()),
            _ if line.ends_with(b"\n") || (line.len() as u64) < LINE => {}
            _ => return Err(malformed("lines of at most 8 KiB")),
        }
        take(line.trim_ascii_end()).map_err(malformed)?;
    }
}
