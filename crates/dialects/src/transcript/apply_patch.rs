//! The envelope of apply_patch, which the tools of several agents take: one text that adds, deletes
//! and changes files.
//!
//! ```text
//! *** Begin Patch
//! *** Add File: new.rs
//! +fn new() {}
//! *** Update File: old.rs
//! *** Move to: other.rs
//! @@ fn old()
//!  unchanged
//! -before
//! +after
//! *** Delete File: gone.rs
//! *** End Patch
//! ```
//!
//! What is odd in it is passed over: a call that was refused has its envelope, too.

use annals_domain::run::ChangeType;

use super::edit::{FileUse, Texts};

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";

/// The text before the envelope that a text has, and what follows.
pub(crate) fn split(text: &str) -> Option<(&str, &str)> {
    let at = text.find(BEGIN)?;
    Some((text.get(..at)?, text.get(at..)?))
}

/// The files that an envelope adds, deletes and changes, in its order. One that is cut has those
/// before the cut.
pub(crate) fn files(text: &str) -> Vec<FileUse> {
    let Some((_, envelope)) = split(text) else {
        return Vec::new();
    };
    let mut sections: Vec<Section> = Vec::new();
    for line in envelope.split_terminator('\n').skip(1) {
        if line.trim_end() == END {
            break;
        }
        match Section::begun_by(line.trim_end()) {
            Some(section) => sections.push(section),
            None => {
                if let Some(section) = sections.last_mut() {
                    section.line(line);
                }
            }
        }
    }
    sections.into_iter().flat_map(Section::files).collect()
}

/// What an envelope does with a file.
#[derive(Debug)]
struct Section {
    path: String,
    change: ChangeType,
    /// The file's name from then on.
    moved_to: Option<String>,
    /// The text of an added file.
    content: String,
    /// The changed parts, before and after.
    parts: Vec<(String, String)>,
    is_part_open: bool,
}

impl Section {
    fn begun_by(line: &str) -> Option<Section> {
        let heads = [
            ("*** Add File: ", ChangeType::Add),
            ("*** Update File: ", ChangeType::Modify),
            ("*** Delete File: ", ChangeType::Delete),
        ];
        let found = |(head, change)| Some((line.strip_prefix(head)?, change));
        let (path, change) = heads.into_iter().find_map(found)?;
        Some(Section {
            path: path.trim().to_owned(),
            change,
            moved_to: None,
            content: String::new(),
            parts: Vec::new(),
            is_part_open: false,
        })
    }

    fn line(&mut self, line: &str) {
        match self.change {
            ChangeType::Add => {
                if let Some(text) = line.strip_prefix('+') {
                    push_line(&mut self.content, text);
                }
            }
            ChangeType::Modify => self.changed(line),
            ChangeType::Delete | ChangeType::Rename | ChangeType::Copy => {}
        }
    }

    fn changed(&mut self, line: &str) {
        if let Some(path) = line.strip_prefix("*** Move to: ") {
            self.moved_to = Some(path.trim().to_owned());
            return;
        }
        if line.starts_with("@@") || line.starts_with("*** ") {
            self.is_part_open = false;
            return;
        }
        if !self.is_part_open {
            self.is_part_open = true;
            self.parts.push((String::new(), String::new()));
        }
        let Some((before, after)) = self.parts.last_mut() else {
            return;
        };
        if let Some(text) = line.strip_prefix('-') {
            push_line(before, text);
        } else if let Some(text) = line.strip_prefix('+') {
            push_line(after, text);
        } else if line.is_empty() || line.starts_with(' ') {
            // An empty line of the file may have lost its space.
            let text = line.strip_prefix(' ').unwrap_or_default();
            push_line(before, text);
            push_line(after, text);
        }
    }

    fn files(self) -> Vec<FileUse> {
        let content = (self.change == ChangeType::Add).then_some(self.content);
        let texts = |change| Texts {
            content,
            replaced: self.parts,
            change: Some(change),
            diff: None,
        };
        let files = match self.moved_to.filter(|path| !path.is_empty()) {
            None => vec![FileUse::write(self.path, texts(self.change))],
            Some(path) => {
                let gone = Texts {
                    change: Some(ChangeType::Delete),
                    ..Texts::default()
                };
                vec![
                    FileUse::write(self.path, gone),
                    FileUse::write(path, texts(ChangeType::Rename)),
                ]
            }
        };
        let is_named = |file: &FileUse| !file.path.trim().is_empty();
        files.into_iter().filter(is_named).collect()
    }
}

fn push_line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::transcript::edit::{Patch, change};

    /// Each file as `change path +added -deleted`.
    fn counted(text: &str) -> Vec<String> {
        let files = files(text);
        let line = |file: &FileUse| {
            let change = change(&file.path, &file.texts, &Patch::default());
            let (kind, lines) = (change.change_type.as_str(), change.lines);
            let path = &file.path;
            format!("{kind} {path} +{} -{}", lines.added, lines.deleted)
        };
        files.iter().map(line).collect()
    }

    #[test]
    fn each_file_of_an_envelope_is_one() {
        let text = "*** Begin Patch\n*** Add File: a b.txt\n+1\n+\n+3\n*** Update File: old.rs\n\
            *** Move to: new.rs\n@@ fn x()\n ctx\n-one\n+two\n+three\n@@\n-last\n*** End of File\n\
            *** Delete File: gone\n*** Update File: c\n-a\n\n+b\n*** End Patch\nafter\n";
        let expected = [
            "add a b.txt +3 -0",
            "delete old.rs +0 -0",
            "rename new.rs +2 -2",
            "delete gone +0 -0",
            "modify c +1 -1",
        ];
        assert_eq!(counted(text), expected);
    }

    #[test]
    fn the_diff_has_the_lines_around() {
        let text = "*** Begin Patch\n*** Update File: f\n@@\n a\n-b\n+c\n*** End Patch";
        let file = files(text).pop().unwrap();
        let change = change("f", &file.texts, &Patch::default());
        let diff = String::from_utf8(change.diff.unwrap()).unwrap();
        assert_eq!(diff, "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n");
    }

    #[test]
    fn odd_envelopes_have_what_can_be_read() {
        assert!(files("no patch").is_empty());
        assert!(files("*** Begin Patch").is_empty());
        assert!(files("*** Begin Patch\n+x\n*** Add File: \n+x").is_empty());
        // Cut within a file.
        assert_eq!(
            counted("*** Begin Patch\n*** Add File: a\n+1\n+2"),
            ["add a +2 -0"]
        );
        // A line of the text that looks like a head has a sign before it.
        let text = "*** Begin Patch\n*** Add File: a\n+*** Delete File: b\né\n*** End Patch";
        assert_eq!(counted(text), ["add a +1 -0"]);
        let text = "*** Begin Patch\n*** Update File: a\n*** Delete File: b\n*** End Patch";
        assert_eq!(counted(text), ["modify a +0 -0", "delete b +0 -0"]);
    }
}
