//! The file editor that several agents have, with its commands `view`, `create`, `str_replace` and `insert`,
//! and patches from what a recording has of files before and after.

use super::edit::{DIFF_LIMIT, FileUse, PatchHunk, Texts};
use crate::diff::{Sink, hunks};
use crate::import::members::Members;

/// What a call of the editor does with the file that it names.
pub(crate) fn files(input: &Members<'_>) -> Vec<FileUse> {
    let Some(path) = input.text("path") else {
        return Vec::new();
    };
    let new = || input.get::<String>("new_str").unwrap_or_default();
    let texts = match input.text("command").as_deref() {
        Some("create") => Texts {
            content: input.get("file_text"),
            ..Texts::default()
        },
        Some("str_replace") => Texts {
            replaced: vec![(input.get("old_str").unwrap_or_default(), new())],
            ..Texts::default()
        },
        // What is around the new lines is not said.
        Some("insert") => Texts {
            replaced: vec![(String::new(), new())],
            ..Texts::default()
        },
        Some("undo_edit") => Texts::default(),
        _ => return vec![FileUse::read(path)],
    };
    vec![FileUse::write(path, texts)]
}

/// The changed parts of a file by its content before and after; none where they are too long.
pub(crate) fn changed(old: &str, new: &str) -> Option<Vec<PatchHunk>> {
    let mut sink = Sink::new(DIFF_LIMIT);
    hunks::write(old.as_bytes(), new.as_bytes(), b"", &mut sink);
    let diff = sink.into_bytes()?;
    Some(of_diff(std::str::from_utf8(&diff).ok()?))
}

/// The changed parts that the unified diff of one file has.
pub(crate) fn of_diff(diff: &str) -> Vec<PatchHunk> {
    let mut hunks: Vec<PatchHunk> = Vec::new();
    let (mut old, mut new) = (0_u64, 0_u64);
    for line in diff.split_terminator('\n') {
        let open = hunks
            .last_mut()
            .filter(|_| old > 0 || new > 0 || line.starts_with('\\'));
        let Some(hunk) = open else {
            if let Some(hunk) = begun(line) {
                (old, new) = (hunk.old_lines, hunk.new_lines);
                hunks.push(hunk);
            }
            continue;
        };
        match line.as_bytes().first() {
            Some(b'+') => new = new.saturating_sub(1),
            Some(b'-') => old = old.saturating_sub(1),
            Some(b'\\') => {}
            _ => (old, new) = (old.saturating_sub(1), new.saturating_sub(1)),
        }
        hunk.lines.push(line.to_owned());
    }
    hunks
}

/// The hunk that a line like `@@ -1,2 +3 @@` begins.
fn begun(line: &str) -> Option<PatchHunk> {
    let range = |text: &str| -> Option<(u64, u64)> {
        match text.split_once(',') {
            Some((start, lines)) => Some((start.parse().ok()?, lines.parse().ok()?)),
            None => Some((text.parse().ok()?, 1)),
        }
    };
    let (ranges, _) = line.strip_prefix("@@ -")?.split_once(" @@")?;
    let (old, new) = ranges.split_once(" +")?;
    let ((old_start, old_lines), (new_start, new_lines)) = (range(old)?, range(new)?);
    Some(PatchHunk {
        old_start,
        old_lines,
        new_start,
        new_lines,
        lines: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn shown(hunks: &[PatchHunk]) -> Vec<String> {
        let shown = |hunk: &PatchHunk| {
            format!(
                "{},{} {},{} {}",
                hunk.old_start,
                hunk.old_lines,
                hunk.new_start,
                hunk.new_lines,
                hunk.lines.join("|")
            )
        };
        hunks.iter().map(shown).collect()
    }

    #[test]
    fn contents_are_compared_line_by_line() {
        let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        let new = "1\n2\n3\n4\nfive\n6\n7\n8\n9\n10";
        let expected = "2,8 2,9  2| 3| 4|-5|+five| 6| 7| 8| 9|+10|\\ No newline at end of file";
        assert_eq!(shown(&changed(old, new).unwrap()), [expected]);
        assert_eq!(shown(&changed("", "a\n").unwrap()), ["0,0 1,1 +a"]);
        assert!(changed("a", "a").unwrap().is_empty());
    }

    #[test]
    fn a_diff_is_read_as_far_as_its_counts_go() {
        let diff = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@ f\n-a\n--- b\n+c\n+++ d\n\\ No newline at end of file\n@@ -9 +9 @@\n-e\n+f\nnoise\n";
        let expected = [
            "1,2 1,2 -a|--- b|+c|+++ d|\\ No newline at end of file",
            "9,1 9,1 -e|+f",
        ];
        assert_eq!(shown(&of_diff(diff)), expected);
        assert!(of_diff("@@ -x +1 @@\n@@ -1\n\\ a").is_empty());
        assert_eq!(
            shown(&of_diff("@@ -1,99999999999999999999 +1 @@\n")),
            [""; 0]
        );
    }
}
