//! The base64 of texts, such as of a file with settings: what no pattern of a text finds.

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};

/// The fewest signs of base64 that are decoded: 18 bytes of text.
const FEWEST: usize = 24;

/// Signs from which a text is told from other bytes.
const BEGINNING: usize = 24;

/// The most signs that are decoded of one run.
const MOST: usize = 1024 * 1024;

/// The lengths of lines that base64 is broken into.
const LINES: [usize; 4] = [60, 64, 72, 76];

/// Decodes with or without padding, and what was cut off.
const ENGINE: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// A part of a text that is the base64 of another one.
pub(super) struct Encoded {
    pub(super) start: usize,
    pub(super) end: usize,
    /// What it stands for.
    pub(super) text: Vec<u8>,
}

/// Whether a text may have the base64 of another one, or its JSON the escapes of it.
pub(super) fn may_be(text: &[u8]) -> bool {
    let mut at = 0;
    while let Some((start, end)) = next_run(text, at) {
        if begins(text, start).is_some() {
            return true;
        }
        at = end;
    }
    false
}

/// The texts of which a text has the base64.
pub(super) fn texts(text: &[u8]) -> Vec<Encoded> {
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some((start, end)) = next_run(text, at) {
        at = end;
        let Some(begin) = begins(text, start) else {
            continue;
        };
        let (signs, end) = lines(text, begin, end);
        at = end;
        if let Some(text) = decoded(&signs) {
            let start = begin;
            found.push(Encoded { start, end, text });
        }
    }
    found
}

/// Where the base64 of a text begins in a run of signs: the letter of an escape and the sign of a
/// diff may be before it.
fn begins(text: &[u8], start: usize) -> Option<usize> {
    let is_escape = start
        .checked_sub(1)
        .is_some_and(|before| text.get(before) == Some(&b'\\'));
    let is_behind = is_escape || text.get(start) == Some(&b'+');
    let mut places = [Some(start), is_behind.then_some(start + 1)].into_iter();
    places.by_ref().flatten().find(|at| {
        let signs = text.get(*at..at + BEGINNING).unwrap_or_default();
        signs.len() == BEGINNING
            && signs.iter().all(|byte| is_sign(*byte))
            && decoded(signs).is_some_and(|it| is_text(&it))
    })
}

/// The next run of signs of base64 that is long enough.
fn next_run(text: &[u8], mut at: usize) -> Option<(usize, usize)> {
    while let Some(window) = text.get(at..at + FEWEST) {
        match window.iter().rposition(|byte| !is_sign(*byte)) {
            Some(other) => at += other + 1,
            None => {
                let rest = text.get(at..).unwrap_or_default();
                let length = rest.iter().position(|byte| !is_sign(*byte));
                return Some((at, at + length.unwrap_or(rest.len())));
            }
        }
    }
    None
}

/// The signs of a run and of the lines that go on with it, and where the last ends.
fn lines(text: &[u8], start: usize, end: usize) -> (Vec<u8>, usize) {
    let mut signs = text.get(start..end).unwrap_or_default().to_vec();
    let (mut at, length) = (end, end - start);
    let is_diff = start.checked_sub(1).and_then(|at| text.get(at)) == Some(&b'+');
    while LINES.contains(&length) && signs.len() < MOST {
        let Some(next) = line_begins(text.get(at..).unwrap_or_default(), is_diff) else {
            break;
        };
        let rest = text.get(at + next..).unwrap_or_default();
        let line = rest.iter().take(length).take_while(|byte| is_sign(**byte));
        let line = line.count();
        if line == 0 {
            break;
        }
        signs.extend_from_slice(rest.get(..line).unwrap_or_default());
        at += next + line;
        if line < length {
            break;
        }
    }
    let rest = text.get(at..).unwrap_or_default();
    at += rest
        .iter()
        .take(2)
        .take_while(|byte| **byte == b'=')
        .count();
    signs.truncate(MOST);
    (signs, at)
}

/// Where the next line begins if a line ends here, as it is or escaped, behind what a quotation
/// puts before it, or a diff.
fn line_begins(text: &[u8], is_diff: bool) -> Option<usize> {
    let escapes = text.iter().take_while(|byte| **byte == b'\\').count();
    let end = match text.get(escapes..)? {
        [b'\r', b'\n', ..] if escapes == 0 => 2,
        [b'\n', ..] if escapes == 0 => 1,
        [b'n', ..] if escapes > 0 => escapes + 1,
        _ => return None,
    };
    let rest = text.get(end..)?;
    // A plus is a sign of base64, too.
    let sign = usize::from(is_diff && rest.first() == Some(&b'+'));
    let blanks = rest.iter().skip(sign).take(20);
    let is_blank = |byte: &&u8| matches!(**byte, b' ' | b'\t' | b'>' | b'|');
    Some(end + sign + blanks.take_while(is_blank).count())
}

fn decoded(signs: &[u8]) -> Option<Vec<u8>> {
    // One sign more than a multiple of four stands for nothing.
    let length = signs.len() - usize::from(signs.len() % 4 == 1);
    ENGINE.decode(signs.get(..length)?).ok()
}

/// Whether bytes begin as a text does.
fn is_text(bytes: &[u8]) -> bool {
    bytes
        .iter()
        .all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\r' | b'\t'))
}

fn is_sign(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/'
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::STANDARD;

    use super::*;

    #[test]
    fn the_base64_of_a_text_is_read_in_one_line_and_in_many() {
        let settings =
            "HOST=localhost\nPORT=5432\n# the name of the user that connects\nUSER=ada\n";
        let signs = STANDARD.encode(settings);
        let broken: Vec<&str> = (0..signs.len())
            .step_by(76)
            .filter_map(|at| signs.get(at..(at + 76).min(signs.len())))
            .collect();
        for shown in [
            signs.clone(),
            broken.join("\n"),
            broken.join("\r\n"),
            broken.join("\\n"),
            broken.join("\n    "),
            broken.join("\n+"),
        ] {
            // A diff has its sign before the first line, too.
            let sign = if shown.contains("\n+") { "\n+" } else { "" };
            let text = format!("see {sign}{shown} there\n");
            let found = texts(text.as_bytes());
            assert_eq!(found.len(), 1, "{text}");
            assert_eq!(found[0].text, settings.as_bytes(), "{text}");
            assert_eq!(text.get(found[0].start..found[0].end), Some(shown.as_str()));
        }
    }

    #[test]
    fn other_runs_are_no_text() {
        for text in [
            "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
            "9fceb02d0ae598e95dc970b74767f19372d61af8",
            "crates/dialects/src/secrets/standard/rules/and/so/on/and/on",
            "MyVeryLongClassNameOfJavaWithManyWordsInIt",
            "short",
            "",
        ] {
            assert!(texts(text.as_bytes()).is_empty(), "{text}");
        }
    }
}
