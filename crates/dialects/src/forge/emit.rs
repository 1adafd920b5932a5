//! Data as YAML text that any reader of YAML 1.1 or 1.2 reads as the same data.
//!
//! A text is written as it is where that is safe, after `|` where it has several lines,
//! and else in double quotes with escapes. It is never folded, so its lines and
//! spaces are those that were written.

use super::data::{Data, Scalar, is_word};

/// A key longer than this, in quotes, is written after `?`: what comes before a
/// `:` may have 1024 characters at most (YAML 1.2, 8.2.2).
const LONGEST_KEY: usize = 1000;

/// How many spaces what is inside is indented by.
const STEP: usize = 2;

/// A whole document.
pub(super) fn document(data: &Data) -> String {
    let mut out = String::new();
    match data {
        Data::List(items) if !items.is_empty() => list(&mut out, items, 0),
        Data::Map(pairs) if !pairs.is_empty() => map(&mut out, pairs, 0),
        _ => {
            out += &inline(data);
            out.push('\n');
        }
    }
    out
}

/// Writes a mapping; the cursor is at its indentation already.
fn map(out: &mut String, pairs: &[(Scalar, Data)], indent: usize) {
    for (index, (key, value)) in pairs.iter().enumerate() {
        if index > 0 {
            pad(out, indent);
        }
        let key = scalar(key);
        if key.len() > LONGEST_KEY {
            *out += "? ";
            *out += &key;
            out.push('\n');
            pad(out, indent);
        } else {
            *out += &key;
        }
        out.push(':');
        after_colon(out, value, indent);
    }
}

fn after_colon(out: &mut String, value: &Data, indent: usize) {
    match value {
        Data::List(items) if !items.is_empty() => {
            out.push('\n');
            pad(out, indent + STEP);
            list(out, items, indent + STEP);
        }
        Data::Map(pairs) if !pairs.is_empty() => {
            out.push('\n');
            pad(out, indent + STEP);
            map(out, pairs, indent + STEP);
        }
        _ => leaf(out, value, indent),
    }
}

/// Writes a list; the cursor is at its indentation already.
fn list(out: &mut String, items: &[Data], indent: usize) {
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            pad(out, indent);
        }
        out.push('-');
        match item {
            Data::List(items) if !items.is_empty() => {
                out.push(' ');
                list(out, items, indent + STEP);
            }
            Data::Map(pairs) if !pairs.is_empty() => {
                out.push(' ');
                map(out, pairs, indent + STEP);
            }
            _ => leaf(out, item, indent),
        }
    }
}

/// Writes what has nothing inside, and ends the line.
fn leaf(out: &mut String, value: &Data, indent: usize) {
    if let Data::Scalar(Scalar::Text(text)) = value
        && is_block(text)
    {
        block(out, text, indent + STEP);
        return;
    }
    out.push(' ');
    *out += &inline(value);
    out.push('\n');
}

fn pad(out: &mut String, indent: usize) {
    out.extend(std::iter::repeat_n(' ', indent));
}

/// What has nothing inside, on one line.
fn inline(data: &Data) -> String {
    match data {
        Data::Scalar(value) => scalar(value),
        Data::List(_) => "[]".to_owned(),
        Data::Map(_) => "{}".to_owned(),
    }
}

fn scalar(scalar: &Scalar) -> String {
    match scalar {
        Scalar::Bare(spelling) => spelling.clone(),
        Scalar::Text(text) if is_plain(text) => text.clone(),
        Scalar::Text(text) => quoted(text),
    }
}

/// Whether a text may be written without quotes and is then a text in every version of
/// YAML: it begins with a letter and has nothing that means something.
fn is_plain(text: &str) -> bool {
    text.starts_with(char::is_alphabetic)
        && !is_word(text)
        && text.chars().all(is_shown)
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.ends_with([':', ' '])
}

/// Whether a text is written after `|`: its lines are kept there as they are. The
/// first one must not begin with a space or be empty, by which the indentation
/// would be misread, and at the end of the text only one line end can be written.
fn is_block(text: &str) -> bool {
    let lines = text.strip_suffix('\n').unwrap_or(text);
    text.contains('\n')
        && !lines.is_empty()
        && !lines.starts_with([' ', '\t', '\n'])
        && !lines.ends_with('\n')
        && text
            .chars()
            .all(|it| is_shown(it) || matches!(it, '\n' | '\t'))
        && !lines.split('\n').any(is_blank_but_not_empty)
}

/// Such a line looks empty, and editors take its spaces away.
fn is_blank_but_not_empty(line: &str) -> bool {
    !line.is_empty() && line.trim().is_empty()
}

fn block(out: &mut String, text: &str, indent: usize) {
    let (header, lines) = match text.strip_suffix('\n') {
        Some(lines) => (" |\n", lines),
        None => (" |-\n", text),
    };
    *out += header;
    for line in lines.split('\n') {
        if !line.is_empty() {
            pad(out, indent);
            *out += line;
        }
        out.push('\n');
    }
}

/// A text in double quotes.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out += "\\\"",
            '\\' => out += "\\\\",
            '\n' => out += "\\n",
            '\r' => out += "\\r",
            '\t' => out += "\\t",
            _ if is_shown(character) => out.push(character),
            _ => out += &escaped(u32::from(character)),
        }
    }
    out.push('"');
    out
}

fn escaped(code: u32) -> String {
    match code {
        0..=0xff => format!("\\x{code:02x}"),
        0x100..=0xffff => format!("\\u{code:04x}"),
        _ => format!("\\U{code:08x}"),
    }
}

/// Whether a character stands for itself. Those that end lines for some readers,
/// that are invisible or that change the direction of the text are escaped.
fn is_shown(character: char) -> bool {
    let hidden = matches!(character,
        '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200c}' | '\u{200e}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        | '\u{fff0}'..='\u{ffff}');
    // The last two of each plane are not characters.
    let noncharacter = u32::from(character) & 0xfffe == 0xfffe;
    !character.is_control() && !hidden && !noncharacter
}

#[cfg(test)]
mod tests;
