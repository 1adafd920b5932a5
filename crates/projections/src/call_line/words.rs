//! Texts of calls on one line.

use std::ops::Range;

/// Characters of what a call is about; the rest is in its arguments.
const LONGEST: usize = 300;
/// What stands for the line breaks of a command.
const BREAK: &str = " ⏎ ";

/// A text on one line, its words with one space between them, cut where it is long.
pub(super) fn one_line(text: &str) -> String {
    let words = words(text);
    shortened(words.join(" "), LONGEST)
}

/// The first line of a text that has something in it, cut after so many characters.
pub(super) fn first_line(text: &str, most: usize) -> Option<String> {
    let mut lines = beginning(text).lines();
    let line = lines.find(|line| !words(line).is_empty())?;
    Some(shortened(words(line).join(" "), most))
}

/// A command on one line, with a mark for its line breaks; the spaces within its lines count.
pub(super) fn command(text: &str) -> String {
    let is_space = |c: char| c.is_whitespace() || c.is_control();
    let plain = |line: &str| -> String {
        let shown = line.chars().map(|c| if is_space(c) { ' ' } else { c });
        shown.collect()
    };
    let lines = beginning(text.trim()).lines();
    let lines: Vec<String> = lines
        .map(|line| plain(line.trim_matches(is_space)))
        .filter(|line| !line.is_empty())
        .collect();
    shortened(lines.join(BREAK), LONGEST)
}

/// As much of a text as can be of interest for a line.
fn beginning(text: &str) -> &str {
    annals_domain::cut(text, 16 * LONGEST)
}

fn words(text: &str) -> Vec<&str> {
    let words = beginning(text).split(|c: char| c.is_whitespace() || c.is_control());
    words.filter(|word| !word.is_empty()).collect()
}

fn shortened(text: String, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

/// A text with the short name of a file in the place of its whole path, if that is the path there.
pub(super) fn relative(text: &str, path: Option<Range<usize>>, file: &str) -> Option<String> {
    let path = path?;
    let whole = text.get(path.clone())?;
    let folder = whole.strip_suffix(file)?;
    let is_folder = folder.ends_with(['/', '\\']) && !file.is_empty();
    let (before, behind) = (text.get(..path.start)?, text.get(path.end..)?);
    is_folder.then(|| format!("{before}{file}{behind}"))
}
