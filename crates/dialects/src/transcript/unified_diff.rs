//! A unified diff of one file, as recordings have it: as the changed parts of the file.

use super::edit::PatchHunk;

/// The parts of a unified diff of one file, behind its header; nothing, if it is not a diff or has
/// several files.
pub(crate) fn hunks(diff: &str) -> Option<Vec<PatchHunk>> {
    let mut parts: Vec<Part<'_>> = Vec::new();
    for line in diff.split_terminator('\n') {
        if let Some(head) = line.strip_prefix("@@ -") {
            parts.push(Part::begun_by(head)?);
        } else if let Some(part) = parts.last_mut() {
            part.line(line)?;
        }
    }
    let all: serde_json::Value = parts.into_iter().map(Part::into_json).collect();
    let hunks: Vec<PatchHunk> = serde_json::from_value(all).ok()?;
    (!hunks.is_empty()).then_some(hunks)
}

/// A changed part: the first line before and after, how many lines, and how many are still to come.
struct Part<'d> {
    old: (u64, u64),
    new: (u64, u64),
    left: (u64, u64),
    lines: Vec<&'d str>,
}

impl<'d> Part<'d> {
    fn begun_by(head: &str) -> Option<Part<'d>> {
        let (old, rest) = head.split_once(" +")?;
        let (new, _) = rest.split_once(" @@")?;
        let range = |text: &str| match text.split_once(',') {
            Some((first, count)) => Some((first.parse().ok()?, count.parse().ok()?)),
            None => Some((text.parse().ok()?, 1)),
        };
        let (old, new) = (range(old)?, range(new)?);
        Some(Part {
            old,
            new,
            left: (old.1, new.1),
            lines: Vec::new(),
        })
    }

    /// Adds a line; nothing, if it is not of this part, which has as many lines as its head says.
    fn line(&mut self, line: &'d str) -> Option<()> {
        let (old, new) = match line.chars().next() {
            Some(' ') => (1, 1),
            Some('-') => (1, 0),
            Some('+') => (0, 1),
            Some('\\') => (0, 0),
            // An empty line may have lost its space.
            None if self.left == (0, 0) => return Some(()),
            None => (1, 1),
            Some(_) => return None,
        };
        self.left = (self.left.0.checked_sub(old)?, self.left.1.checked_sub(new)?);
        self.lines.push(if line.is_empty() { " " } else { line });
        Some(())
    }

    fn into_json(self) -> serde_json::Value {
        serde_json::json!({
            "oldStart": self.old.0, "oldLines": self.old.1,
            "newStart": self.new.0, "newLines": self.new.1, "lines": self.lines,
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::transcript::edit::{Patch, Texts, change};

    fn applied(diff: &str) -> String {
        let patch = Patch {
            hunks: hunks(diff),
            outcome: None,
        };
        let change = change("f", &Texts::default(), &patch);
        String::from_utf8(change.diff.unwrap_or_default()).unwrap()
    }

    #[test]
    fn a_diff_is_read_as_it_is_written() {
        let parts = "@@ -5,2 +5,2 @@\n keep\n-a\n+b\n@@ -9,1 +9,2 @@\n \n+c\n\\ No newline at end of file\n";
        let expected = format!("--- a/f\n+++ b/f\n{parts}");
        assert_eq!(applied(parts), expected);
        let header = "diff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n";
        assert_eq!(applied(&format!("{header}{parts}")), expected);
        assert_eq!(
            applied("@@ -1 +1 @@ fn x()\n-a\n+b"),
            "--- a/f\n+++ b/f\n@@ -1,1 +1,1 @@\n-a\n+b\n"
        );
    }

    #[test]
    fn what_is_not_a_diff_of_one_file_gives_none() {
        let two = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n--- a/g\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n";
        for text in ["", "text", "@@ -x +1 @@\n", "@@ -1 +1 @@\nodd\n", two] {
            assert!(hunks(text).is_none(), "{text:?}");
        }
    }
}
