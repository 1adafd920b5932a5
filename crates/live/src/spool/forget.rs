//! Removing content from a spool: from events that wait, and from files that were put aside or left
//! unfinished (docs/redaction.md, "What goes").

use std::ffi::OsStr;
use std::io::{self, Read};

use annals_files::{Dir, Kind};
use serde::Serialize;
use serde_json::{Map, Value};

use super::{BAD, ENDING, ENTRIES, LOST, MOST_OF_ONE, NEW, OF, Spool, SpoolError, room};

/// The content that is to go.
pub struct Unwanted<'a> {
    /// Finds it in bytes.
    pub is_in: &'a dyn Fn(&[u8]) -> bool,
    /// A text without it.
    pub without: &'a dyn Fn(&str) -> String,
}

/// What a spool had of some content.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct Forgotten {
    /// Events that wait, and have a marker in its place now.
    pub cleaned: usize,
    /// Files that were removed whole: put aside, unfinished, or of no other use.
    pub removed: usize,
    /// Entries that were not searched, and why.
    pub unsearched: Vec<String>,
}

/// The fields of an event's file that have content; the others are ids and times.
const CONTENT: [&str; 3] = ["text", "ruling", "settings"];

/// How often escapes of JSON are undone: an event is a text within the JSON of its file, and has
/// JSON within texts itself.
const LEVELS: usize = 4;

/// Removes content from a spool, and from the other folders in which events of its log wait; with
/// `dry_run` it only counts.
///
/// An event that waits keeps all else that it says. Any other file goes as a whole. In a folder that
/// another log may use now, only files that name this log are changed. A folder that cannot be used is
/// among [`Forgotten::unsearched`].
pub fn forget(spool: &Spool, unwanted: &Unwanted<'_>, dry_run: bool) -> Forgotten {
    let mut forgotten = Forgotten::default();
    let all = |_: &[u8]| true;
    let searched = forget_within(spool, (unwanted, dry_run), &all, &mut forgotten);
    forgotten.refused(searched);
    if let Some(log) = spool.log_id() {
        let own = log.to_string();
        let names_log = |bytes: &[u8]| Event::read(bytes).is_some_and(|it| it.is_of(&own));
        for former in spool.former(log) {
            let is_ours: &dyn Fn(&[u8]) -> bool = match former.is_shared {
                true => &names_log,
                false => &all,
            };
            let searched =
                forget_within(&former.spool, (unwanted, dry_run), is_ours, &mut forgotten);
            forgotten.refused(searched);
        }
    }
    forgotten
}

impl Forgotten {
    /// Notes a folder that could not be searched.
    fn refused(&mut self, searched: Result<(), SpoolError>) {
        if let Err(error) = searched {
            self.unsearched.push(error.to_string());
        }
    }
}

/// Removes content from the files of one folder.
fn forget_within(
    spool: &Spool,
    (unwanted, dry_run): (&Unwanted<'_>, bool),
    is_ours: &dyn Fn(&[u8]) -> bool,
    forgotten: &mut Forgotten,
) -> Result<(), SpoolError> {
    let Some(dir) = spool.open()? else {
        return Ok(());
    };
    let entries = dir.entries_up_to(ENTRIES);
    let entries = entries.map_err(|error| spool.io(error))?;
    let place = spool.path().display();
    if entries.len() >= ENTRIES {
        let reason = format!("{place}: more than {ENTRIES} entries");
        forgotten.unsearched.push(reason);
    }
    let has_events = |name: &OsStr| {
        let name = name.to_string_lossy();
        [ENDING, BAD, NEW].iter().any(|end| name.ends_with(end))
    };
    let is_of_spool = |name: &OsStr| {
        let name = name.to_string_lossy();
        [LOST, room::NAME, crate::bell::NAME].contains(&&*name) || name.starts_with(OF)
    };
    let strange = entries
        .iter()
        .filter(|it| it.kind != Kind::File || !has_events(&it.name));
    for entry in strange.filter(|it| !is_of_spool(&it.name)) {
        let name = entry.name.to_string_lossy();
        let reason = format!("{place}/{name}: it is no file of a spool");
        forgotten.unsearched.push(reason);
    }
    let files = entries.iter().filter(|it| it.kind == Kind::File);
    for entry in files.filter(|it| has_events(&it.name)) {
        let found = match read(&dir, &entry.name) {
            Ok(Some(bytes)) if is_ours(&bytes) => {
                forget_in(spool, &dir, (&entry.name, &bytes), unwanted, dry_run)
            }
            Ok(_) => Ok(None),
            Err(error) => Err(error),
        };
        match found {
            Ok(None) => {}
            Ok(Some(true)) => forgotten.cleaned += 1,
            Ok(Some(false)) => forgotten.removed += 1,
            Err(error) => {
                let name = entry.name.to_string_lossy();
                forgotten
                    .unsearched
                    .push(format!("{place}/{name}: {error}"));
            }
        }
    }
    Ok(())
}

/// The bytes of a file; nothing, if another process has taken it in meanwhile.
fn read(dir: &Dir, name: &OsStr) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    let file = dir.open_file(name);
    match file.and_then(|file| file.take(MOST_OF_ONE + 1).read_to_end(&mut bytes)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
        Ok(read) if read as u64 > MOST_OF_ONE => {
            Err(io::Error::other("it is larger than any event"))
        }
        Ok(_) => Ok(Some(bytes)),
    }
}

/// Removes content from a file, if it has it: `true` if the file stays, cleaned.
fn forget_in(
    spool: &Spool,
    dir: &Dir,
    (name, bytes): (&OsStr, &[u8]),
    unwanted: &Unwanted<'_>,
    dry_run: bool,
) -> io::Result<Option<bool>> {
    let waits = name.to_str().filter(|name| name.ends_with(ENDING));
    let event = waits.and_then(|name| Some((name, Event::read(bytes)?)));
    let cleaned = match event {
        Some((_, event)) if !event.has(unwanted) => return Ok(None),
        Some((name, event)) => event.without(unwanted).map(|bytes| (name, bytes)),
        None if !has(bytes, unwanted) => return Ok(None),
        None => None,
    };
    let stays = cleaned.is_some();
    if !dry_run {
        match cleaned {
            Some((name, text)) => spool.write(name, &text)?,
            None => dir.remove_file(name)?,
        }
    }
    Ok(Some(stays))
}

/// Whether content is in bytes, as they are or with escapes of JSON undone.
fn has(bytes: &[u8], unwanted: &Unwanted<'_>) -> bool {
    let mut bytes = bytes.to_vec();
    for _ in 0..=LEVELS {
        if (unwanted.is_in)(&bytes) {
            return true;
        }
        if !bytes.contains(&b'\\') {
            return false;
        }
        bytes = unescaped(&bytes);
    }
    false
}

/// The file of an event that waits.
struct Event(Map<String, Value>);

impl Event {
    /// Reads a file; nothing of one that is not an object.
    fn read(bytes: &[u8]) -> Option<Event> {
        serde_json::from_slice(bytes).ok().map(Event)
    }

    /// Whether it was told for a log.
    fn is_of(&self, log: &str) -> bool {
        self.0.get("log").and_then(Value::as_str) == Some(log)
    }

    fn has(&self, unwanted: &Unwanted<'_>) -> bool {
        let content = CONTENT.iter().filter_map(|name| self.0.get(*name));
        content
            .map(Value::to_string)
            .any(|text| has(text.as_bytes(), unwanted))
    }

    /// The file without the content; nothing, if that cannot be had.
    fn without(mut self, unwanted: &Unwanted<'_>) -> Option<Vec<u8>> {
        for name in CONTENT {
            if let Some(content) = self.0.get_mut(name) {
                *content = without(content.take(), unwanted, LEVELS);
            }
        }
        match self.has(unwanted) {
            true => None,
            false => serde_json::to_vec(&self.0).ok(),
        }
    }
}

fn without(value: Value, unwanted: &Unwanted<'_>, levels: usize) -> Value {
    match value {
        Value::String(text) => Value::String(text_without(&text, unwanted, levels)),
        Value::Array(values) => {
            let values = values.into_iter();
            values.map(|it| without(it, unwanted, levels)).collect()
        }
        Value::Object(fields) => {
            let fields = fields.into_iter().map(|(name, value)| {
                let name = (unwanted.without)(&name);
                (name, without(value, unwanted, levels))
            });
            Value::Object(fields.collect())
        }
        other => other,
    }
}

fn text_without(text: &str, unwanted: &Unwanted<'_>, levels: usize) -> String {
    let is_json = text.trim_start().starts_with(['{', '[']);
    let inner = match levels.checked_sub(1).filter(|_| is_json) {
        Some(levels) => serde_json::from_str(text).ok().zip(Some(levels)),
        None => None,
    };
    match inner {
        Some((inner, levels)) => without(inner, unwanted, levels).to_string(),
        None => (unwanted.without)(text),
    }
}

/// Bytes with the escapes of JSON undone, wherever they are: a file that was put aside may be no
/// whole JSON.
fn unescaped(bytes: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((byte, behind)) = rest.split_first() {
        rest = behind;
        let (b'\\', Some((escape, behind))) = (*byte, rest.split_first()) else {
            text.push(*byte);
            continue;
        };
        rest = behind;
        match escape {
            b'n' => text.push(b'\n'),
            b't' => text.push(b'\t'),
            b'r' => text.push(b'\r'),
            b'b' => text.push(8),
            b'f' => text.push(12),
            b'u' => {
                let (character, used) = unicode(rest);
                let mut utf8 = [0; 4];
                text.extend(character.encode_utf8(&mut utf8).as_bytes());
                rest = rest.get(used..).unwrap_or_default();
            }
            other => text.push(*other),
        }
    }
    text
}

/// The character of a `\u` escape and how many bytes behind it belong to it, with those of the
/// second half of a pair.
fn unicode(rest: &[u8]) -> (char, usize) {
    let unit = |from: usize| {
        let digits = std::str::from_utf8(rest.get(from..from + 4)?).ok()?;
        u16::from_str_radix(digits, 16).ok()
    };
    let Some(first) = unit(0) else {
        return (char::REPLACEMENT_CHARACTER, 0);
    };
    let second = match rest.get(4..6) {
        Some(b"\\u") => unit(6),
        _ => None,
    };
    if let Some(second) = second
        && let Some(Ok(character)) = char::decode_utf16([first, second]).next()
        && character.len_utf16() == 2
    {
        return (character, 10);
    }
    let one = char::from_u32(u32::from(first));
    (one.unwrap_or(char::REPLACEMENT_CHARACTER), 4)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn forget(text: &str) -> (bool, Option<String>) {
        let is_in = |bytes: &[u8]| bytes.windows(6).any(|it| it == "hünt2".as_bytes());
        let unwanted = Unwanted {
            is_in: &is_in,
            without: &|text| text.replace("hünt2", "[removed]"),
        };
        let event = Event::read(text.as_bytes());
        let cleaned = event.and_then(|event| event.without(&unwanted));
        let cleaned = cleaned.map(|text| String::from_utf8(text).unwrap());
        (has(text.as_bytes(), &unwanted), cleaned)
    }

    #[test]
    fn content_is_found_behind_escapes_at_any_depth() {
        let inner = serde_json::json!({ "command": "echo h\u{fc}nt2" }).to_string();
        let escaped = inner.replace('\u{fc}', "\\u00fc");
        for inner in [inner, escaped] {
            let file = serde_json::json!({ "version": 1, "text": inner }).to_string();
            let (found, cleaned) = forget(&file);
            assert!(found, "{file}");
            let cleaned: Value = serde_json::from_str(&cleaned.unwrap()).unwrap();
            let text: Value = serde_json::from_str(cleaned["text"].as_str().unwrap()).unwrap();
            assert_eq!(text, serde_json::json!({ "command": "echo [removed]" }));
            // What was cut off is no JSON, and is searched all the same.
            let cut = &file[..file.len() - 3];
            assert_eq!(forget(cut), (true, None), "{cut}");
        }
        assert!(!forget(r#"{"text":"{\"command\":\"echo hunt2\"}"}"#).0);
    }

    #[test]
    fn escapes_are_undone() {
        let text = unescaped(br#"a\nb\"\u00e9\ud83d\ude00\ud83dx\u12"#);
        assert_eq!(
            String::from_utf8(text).unwrap(),
            "a\nb\"é😀\u{fffd}x\u{fffd}12"
        );
    }
}
