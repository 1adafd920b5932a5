//! `annals object cat`: content by its digest.

use std::collections::HashSet;
use std::io::IsTerminal;
use std::path::Path;

use annals::event_log::{Content, Digest, Position};
use annals::projections::PieceValue;
use annals::store_rocks::RocksLog;
use annals::{Annals, At, ObjectRef, ViewError};
use serde_json::json;

use crate::cli::Cat;
use crate::context::Context;
use crate::error::{CliError, KeepingError};
use crate::output::bytes as size;
use crate::whole_file::WholeFile;

/// Digits of a digest, and how many of them there must be at least.
const DIGITS: usize = 64;
const MIN_DIGITS: usize = 8;
/// Digests that are named where one was expected.
const NAMED: usize = 20;

pub(crate) async fn run(args: &Cat, context: &mut Context) -> Result<(), CliError> {
    let annals = context.reader()?;
    let meant = meant(&annals, args).await?;
    let digest = meant.digest;
    let Some(content) = annals.contents().get(digest).await? else {
        return Err(missing(&annals, args, &meant).await);
    };
    match &args.out {
        Some(file) => write(file, digest, &content, context),
        None => print(args, digest, &content, context),
    }
}

/// The content that is meant.
#[derive(Debug, PartialEq, Eq)]
struct Meant {
    digest: Digest,
    /// The object whose events refer to it; `None` where the caller named a digest.
    object: Option<ObjectRef>,
}

impl Meant {
    fn named(digest: Digest) -> Meant {
        let object = None;
        Meant { digest, object }
    }
}

async fn meant(annals: &Annals, args: &Cat) -> Result<Meant, CliError> {
    match &args.part {
        Some(part) => part_of(annals, &args.what, part).await,
        None => find(annals, &args.what).await,
    }
}

/// Why content is not stored: no event has it, or it was removed while this looked for it, or it is lost.
async fn missing(annals: &Annals, args: &Cat, was: &Meant) -> CliError {
    let Some(object) = was.object else {
        return none(&args.what, "no content has this digest");
    };
    match meant(annals, args).await {
        Ok(is) if is == *was => {
            let (object, digest) = (object.to_string(), was.digest);
            KeepingError::LostContent { object, digest }.into()
        }
        Ok(_) => none(&args.what, "it was removed for good"),
        Err(error) => error,
    }
}

fn none(what: &str, hint: &'static str) -> CliError {
    let what = what.chars().take(100).collect();
    CliError::from(KeepingError::NoContent { what, hint })
}

/// The digest that is meant: by all or some of its digits, or by an object.
async fn find(annals: &Annals, what: &str) -> Result<Meant, CliError> {
    let plain = what.trim().to_ascii_lowercase();
    let (digits, is_digest) = match plain.strip_prefix("sha256:") {
        Some(digits) => (digits, true),
        None => (plain.as_str(), plain.len() == DIGITS),
    };
    let is_hex = digits.bytes().all(|b| b.is_ascii_hexdigit());
    if let Ok(digest) = digits.parse::<Digest>() {
        return Ok(Meant::named(digest));
    }
    let is_some = is_hex && (MIN_DIGITS..DIGITS).contains(&digits.len());
    if is_digest && !is_some {
        return Err(none(
            what,
            "a digest is 64 hex digits, or 8 or more of them",
        ));
    }
    let begun = match annals.rocks().filter(|_| is_some) {
        Some(rocks) => beginning(&rocks, what, digits)?,
        None => None,
    };
    if is_some && is_digest && annals.rocks().is_none() {
        return Err(none(
            what,
            "only a log in a folder finds it by some of its digits; give all 64",
        ));
    }
    if is_digest {
        return begun
            .map(Meant::named)
            .ok_or_else(|| none(what, "no content's digest begins with these digits"));
    }
    match (begun, annals.resolve(what.trim()).await) {
        (Some(_), Ok(object)) => {
            let (what, id) = (what.trim().to_owned(), object.id);
            Err(CliError::from(KeepingError::DigestOrId { what, id }))
        }
        (Some(digest), Err(_)) => Ok(Meant::named(digest)),
        (None, Ok(object)) => of_object(annals, object).await,
        (None, Err(ViewError::NotFound { .. } | ViewError::InvalidId { .. })) => Err(none(
            what,
            "it is neither a digest, nor 8 or more digits of one, nor the id of an object",
        )),
        (None, Err(error)) => Err(error.into()),
    }
}

/// The one digest that begins with these digits.
fn beginning(rocks: &RocksLog, what: &str, digits: &str) -> Result<Option<Digest>, CliError> {
    let Ok(first) = format!("{digits:0<DIGITS$}").parse() else {
        return Ok(None);
    };
    let blobs = rocks.stored_blobs(first, NAMED)?;
    let named = blobs.iter().map(|blob| blob.digest);
    let begun: Vec<Digest> = named
        .filter(|digest| digest.to_string().starts_with(digits))
        .collect();
    match begun.as_slice() {
        [] => Ok(None),
        [one] => Ok(Some(*one)),
        several => Err(CliError::from(KeepingError::SeveralDigests {
            what: what.to_owned(),
            digests: several.iter().map(ToString::to_string).collect(),
        })),
    }
}

/// The content of this name among those that the log keeps of an object.
async fn part_of(annals: &Annals, what: &str, part: &str) -> Result<Meant, CliError> {
    let object = annals.resolve(what.trim()).await?;
    let view = annals.view_at(object.id, At::Now).await?;
    let kept = view.kept_content();
    let by_number = part.strip_prefix('#').unwrap_or(part).parse().ok();
    let named = kept.iter().find(|one| one.name == part);
    let found = named.or_else(|| {
        let mut numbered = kept.iter().filter(|one| one.item.is_some());
        numbered.find(|one| one.item == by_number)
    });
    match found.map(|one| one.content) {
        Some(PieceValue::Attachment { digest, .. }) => Ok(Meant {
            digest: *digest,
            object: Some(object),
        }),
        Some(PieceValue::Bytes(bytes)) => Ok(Meant::named(Digest::of(bytes))),
        Some(PieceValue::Removed) => Err(none(part, "it was removed for good")),
        None => Err(none(
            part,
            "the object has none of this name; `annals show` names what it has",
        )),
    }
}

/// What the log keeps of an object under names, with its digest.
async fn kept(annals: &Annals, object: ObjectRef) -> Result<Vec<(String, Digest, u64)>, CliError> {
    let view = annals.view_at(object.id, At::Now).await?;
    let kept = view.kept_content().into_iter().filter_map(|one| {
        let PieceValue::Attachment { digest, size } = one.content else {
            return None;
        };
        Some((one.name, *digest, *size))
    });
    let mut kept: Vec<(String, Digest, u64)> = kept.collect();
    let mut seen = HashSet::new();
    kept.retain(|(_, digest, _)| seen.insert(*digest));
    Ok(kept)
}

/// The one content that an object has, or that its events refer to.
async fn of_object(annals: &Annals, object: ObjectRef) -> Result<Meant, CliError> {
    let meant = |digest: Digest| Meant {
        digest,
        object: Some(object),
    };
    let kept = kept(annals, object).await?;
    match kept.as_slice() {
        [] => {}
        [(_, digest, _)] => return Ok(meant(*digest)),
        several => {
            let contents = several
                .iter()
                .take(NAMED)
                .map(|(name, digest, bytes)| format!("{name:?}, {digest} of {}", size(*bytes)));
            return Err(CliError::from(KeepingError::SeveralContents {
                object: object.to_string(),
                all: several.len(),
                contents: contents.collect(),
            }));
        }
    }
    let mut found: Vec<(Digest, u64, Position)> = Vec::new();
    for entry in annals.history(object.id).await? {
        let Some(record) = annals.contents().record(entry.position).await? else {
            continue;
        };
        for piece in record.content() {
            let (Content::Blob { digest, size, .. } | Content::Attachment { digest, size, .. }) =
                piece
            else {
                continue;
            };
            if !found.iter().any(|(known, ..)| *known == digest) {
                found.push((digest, size, record.position()));
            }
        }
    }
    match found.as_slice() {
        [] => Err(none(
            &object.to_string(),
            "its events refer to none over 4 KiB; `annals show` has the rest",
        )),
        [(digest, ..)] => Ok(meant(*digest)),
        several => {
            let named = several.iter().take(NAMED);
            let contents = named.map(|(digest, bytes, position)| {
                format!("{digest} of {} in event {position}", size(*bytes))
            });
            Err(CliError::from(KeepingError::SeveralContents {
                object: object.to_string(),
                all: several.len(),
                contents: contents.collect(),
            }))
        }
    }
}

fn write(
    file: &Path,
    digest: Digest,
    content: &[u8],
    context: &mut Context,
) -> Result<(), CliError> {
    let mut out = WholeFile::create(file)?;
    let written = out.writer().write_all(content);
    written.map_err(|source| CliError::file(file, source))?;
    out.finish()?;
    if context.output.is_json() {
        return context.output.json(&json!({
            "digest": digest.to_string(),
            "size": content.len(),
            "path": file,
        }));
    }
    Ok(())
}

fn print(
    args: &Cat,
    digest: Digest,
    content: &[u8],
    context: &mut Context,
) -> Result<(), CliError> {
    let text = text(content);
    if context.output.is_json() {
        let hex = text.is_none().then(|| hex::encode(content));
        return context.output.json(&json!({
            "digest": digest.to_string(),
            "size": content.len(),
            "text": text,
            "hex": hex,
        }));
    }
    if text.is_none() && !args.force && std::io::stdout().is_terminal() {
        return Err(CliError::from(KeepingError::NoText { digest }));
    }
    match args.force {
        true => context.output.raw(content),
        false => context.output.content(content),
    }
}

/// Content as text, unless it has characters that no text has.
fn text(content: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(content).ok()?;
    let is_plain = |c: char| !c.is_control() || matches!(c, '\n' | '\r' | '\t' | '\x0c' | '\x1b');
    text.chars().all(is_plain).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_text_is_recognised() {
        for plain in ["", "two\nlines\r\n", "日本 🦀\t", "\x1b[1mbold\x1b[0m"] {
            assert_eq!(text(plain.as_bytes()), Some(plain));
        }
        for binary in [&b"\x89PNG\r\n\x1a\n"[..], b"a\0b", b"\xff\xfe"] {
            assert_eq!(text(binary), None, "{binary:?}");
        }
    }
}
