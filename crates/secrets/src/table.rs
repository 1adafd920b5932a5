//! Secrets in the rows of a table, of which the head names them: CSV, tabs, and Markdown.

use std::sync::LazyLock;

use regex::bytes::Regex;

use super::check::Check;

/// What the head of a column says of which the cells are secret.
const HEAD: &str = r"^(?i:(?:[a-z0-9]{1,12}[ _.-]?){0,2}?(?:pass(?:word|wd|phrase|code|wort)?|pwd?|secret|(?:auth|access|api|bearer|refresh|deploy)[ _-]?token|token|(?:api|access|secret|private|license|auth|master|account|app)[ _-]?key|apikey|mot de passe|kennwort|credentials?)s?(?:[ _-]?(?:value|text|plain))?)$";
/// What a listing, a search or a diff puts before a line.
const PREFIX: &str =
    "^(?:[^\\s:,;|]+:[0-9]{1,6}[:-]|[ \t]{0,8}[0-9]{1,6}(?:\t|:|\u{2192}|\u{2502}))?[+>-]?";

/// The most rows of a table that are looked at, and the most bytes of a cell of its head.
const MOST_ROWS: usize = 2_000;
const MOST_HEAD: usize = 40;
/// What columns are between.
const DELIMITERS: &[u8] = b"|\t,;";

// A test makes sure that these are not `None`.
static HEADS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(HEAD).ok());
static PREFIXES: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(PREFIX).ok());

/// Places in a text, from the first byte to behind the last.
type Places = Vec<(usize, usize)>;

/// Where tables have secrets of which the head begins in these parts of a text.
pub(super) fn find(text: &[u8], windows: &[(usize, usize)]) -> Places {
    let (mut found, mut done) = (Vec::new(), 0);
    for (start, end) in windows {
        let mut at = begin_of_line(text, (*start).max(done));
        while at < *end {
            let line = line_at(text, at);
            match head(text, line) {
                Some((delimiter, cells, columns)) => {
                    at = rows(text, line.2, (delimiter, cells, &columns), &mut found);
                    done = done.max(at);
                }
                None => at = line.2,
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Where a line begins, ends, and where the next one begins: at an end of a line, or an escape of one.
type Line = (usize, usize, usize);

fn line_at(text: &[u8], start: usize) -> Line {
    let rest = text.get(start..).unwrap_or_default();
    let mut at = 0;
    while let Some(byte) = rest.get(at) {
        match byte {
            b'\n' => return (start, start + at, start + at + 1),
            b'\\' => {
                let slashes = rest.get(at..).unwrap_or_default();
                let slashes = slashes.iter().take_while(|byte| **byte == b'\\').count();
                if rest.get(at + slashes) == Some(&b'n') {
                    return (start, start + at, start + at + slashes + 1);
                }
                at += slashes;
            }
            _ => at += 1,
        }
    }
    (start, text.len(), text.len())
}

fn begin_of_line(text: &[u8], at: usize) -> usize {
    let before = text.get(..at).unwrap_or_default();
    let end = before.iter().rposition(|byte| *byte == b'\n');
    end.map_or(0, |end| end + 1)
}

/// The cells of a line, each by its first byte and the one behind its last, without spaces, quotes and marks.
fn cells(text: &[u8], (start, end, _): Line, delimiter: u8) -> Places {
    let line = text.get(start..end).unwrap_or_default();
    let prefix = PREFIXES.as_ref().and_then(|prefix| prefix.find(line));
    let mut at = start + prefix.map_or(0, |prefix| prefix.end());
    let rest = text.get(at..end).unwrap_or_default();
    let mut cells = Vec::new();
    for cell in rest.split(|byte| *byte == delimiter) {
        let is_mark = |byte: &&u8| b" \t\r\"'`*\\".contains(byte);
        let first = cell.iter().take_while(is_mark).count();
        let last = cell.iter().rev().take_while(is_mark).count();
        cells.push((
            at + first,
            (at + cell.len()).saturating_sub(last).max(at + first),
        ));
        at += cell.len() + 1;
    }
    cells
}

/// The delimiter, the number of cells and the columns with secrets, if a line is the head of a table.
fn head(text: &[u8], line: Line) -> Option<(u8, usize, Vec<usize>)> {
    let heads = HEADS.as_ref()?;
    DELIMITERS.iter().find_map(|delimiter| {
        let cells = cells(text, line, *delimiter);
        let of = |(start, end): &(usize, usize)| text.get(*start..*end).unwrap_or_default();
        let is_head = |cell: &[u8]| {
            let is_sign = |byte: &u8| {
                byte.is_ascii_alphanumeric() || b" _.-/()".contains(byte) || *byte >= 0x80
            };
            cell.len() <= MOST_HEAD && cell.iter().all(is_sign)
        };
        // Only the bars of Markdown are before the first cell and behind the last, too.
        let is_full = *delimiter == b'|' || cells.iter().all(|cell| !of(cell).is_empty());
        if cells.len() < 2 || !is_full || !cells.iter().all(|cell| is_head(of(cell))) {
            return None;
        }
        let columns = cells.iter().enumerate();
        let columns = columns.filter(|(_, cell)| heads.is_match(of(cell)));
        let columns: Vec<usize> = columns.map(|(column, _)| column).collect();
        (!columns.is_empty()).then_some((*delimiter, cells.len(), columns))
    })
}

/// Adds the secrets of the rows from an offset on; returns where the table ends.
fn rows(
    text: &[u8],
    mut at: usize,
    (delimiter, count, columns): (u8, usize, &[usize]),
    found: &mut Places,
) -> usize {
    for _ in 0..MOST_ROWS {
        if at >= text.len() {
            break;
        }
        let line = line_at(text, at);
        let cells = cells(text, line, delimiter);
        if cells.len() != count {
            break;
        }
        for column in columns {
            let Some((start, end)) = cells.get(*column).copied() else {
                continue;
            };
            let cell = text.get(start..end).unwrap_or_default();
            if !cell.contains(&b' ') && cell.len() >= 6 && Check::Strong.accepts(cell, b"") {
                found.push((start, end));
            }
        }
        at = line.2;
    }
    at
}

#[cfg(test)]
pub(super) fn is_searchable() -> bool {
    HEADS.is_some() && PREFIXES.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        let places = find(text.as_bytes(), &[(0, text.len())]);
        places
            .into_iter()
            .map(|(start, end)| &text[start..end])
            .collect()
    }

    #[test]
    fn cells_below_the_head_of_a_secret_are_found() {
        for text in [
            "user,password\nada,aB3xQ9zR\nbob,t7K1mW5v\n",
            "| user | password |\n| --- | --- |\n| ada | `aB3xQ9zR` |\n| bob | t7K1mW5v |\n\nand",
            "user\tDB Password\tnote\nada\taB3xQ9zR\tx\nbob\tt7K1mW5v\ty\n",
            "password;user\naB3xQ9zR;ada\nt7K1mW5v;bob\n",
            "see\\nuser,password\\nada,aB3xQ9zR\\nbob,t7K1mW5v\\nthere",
            "a.csv:1:user,password\na.csv:2:ada,aB3xQ9zR\na.csv:3:bob,t7K1mW5v\n",
            "     1\tuser,password\n     2\tada,aB3xQ9zR\n     3\tbob,t7K1mW5v\n",
        ] {
            assert_eq!(found(text), ["aB3xQ9zR", "t7K1mW5v"], "{text}");
        }
    }

    #[test]
    fn other_tables_and_code_have_none() {
        for text in [
            "user,name\nada,aB3xQ9zR\n",
            "user,password\nada,hash\nbob,missing\n",
            "fn f(user: &str, password: &str) {\n    g(aB3xQ9zR, password)\n",
            "a password, and more\nword, aB3xQ9zR, other\n",
        ] {
            assert_eq!(found(text), Vec::<&str>::new(), "{text}");
        }
    }
}
