//! The `.keep` file of a pack: why it is kept, and for whom, a line each. Lines of others stay as
//! they are.

use super::owner::{Belongs, Owner};

/// How a file begins that names no log, as older versions wrote it.
const MARK: &str = "annals log retain:";
/// How the line of a log begins.
const LOG: &str = "annals log retain: for the log ";
/// The line of an older version's entry next to those of logs.
const NO_LOG: &str = "annals log retain: for an entry without a log";
const WHY: &str = "annals log retain: blobs that a log names and no commit does. `annals log retain --release --as keep-pack` lets them go.";

/// A `.keep` file that a log has a line in, or an older version wrote.
#[derive(Debug)]
pub(super) struct KeepFile {
    lines: Vec<String>,
}

impl KeepFile {
    /// Reads a file; nothing of one that only others wrote.
    pub(super) fn read(text: &str) -> Option<KeepFile> {
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let file = KeepFile { lines };
        (text.starts_with(MARK) || file.logs().next().is_some()).then_some(file)
    }

    fn logs(&self) -> impl Iterator<Item = &str> {
        self.lines.iter().filter_map(|line| line.strip_prefix(LOG))
    }

    /// Whether a line keeps the pack for somebody else than this log: for another log or tool, or
    /// for an older version's entry.
    fn is_of_others(line: &str, owner: &Owner) -> bool {
        match line.strip_prefix(LOG) {
            Some(log) => log != owner.name,
            None if line == NO_LOG => !owner.unowned,
            None => !line.starts_with(MARK) && !line.trim().is_empty(),
        }
    }

    pub(super) fn whose(&self, owner: &Owner) -> Belongs {
        match self.logs().any(|log| log == owner.name) {
            true => Belongs::Own,
            false if self.logs().next().is_some() => Belongs::Other,
            false => Belongs::Unowned,
        }
    }

    /// Whether the file stays once this log has released the pack.
    pub(super) fn stays_without(&self, owner: &Owner) -> bool {
        match self.whose(owner) {
            Belongs::Unowned if !owner.unowned => true,
            _ => self.without(owner).is_some(),
        }
    }

    /// The file without the lines of this log; nothing, if no other line says who keeps the pack.
    pub(super) fn without(&self, owner: &Owner) -> Option<String> {
        let others = || {
            let lines = self.lines.iter();
            lines.filter(|line| KeepFile::is_of_others(line, owner))
        };
        others().next()?;
        let is_ours = others().any(|line| line.starts_with(MARK));
        let left = self.lines.iter().filter(|line| {
            KeepFile::is_of_others(line, owner) || (is_ours && line.as_str() == WHY)
        });
        Some(left.flat_map(|line| [line.as_str(), "\n"]).collect())
    }

    /// The text of a file with a line of this log, or of none, next to what is there.
    pub(super) fn with(before: Option<&str>, owner: Option<&Owner>) -> String {
        let lines = before.unwrap_or(WHY).lines();
        let mut lines: Vec<String> = lines.map(str::to_owned).collect();
        let is_unowned = before.is_some_and(|text| {
            let is_blank = text.trim().is_empty();
            let is_marked = text.starts_with(MARK);
            is_blank || (is_marked && !text.lines().any(|line| line.starts_with(LOG)))
        });
        match owner {
            Some(owner) => {
                lines.extend(is_unowned.then(|| NO_LOG.to_owned()));
                lines.push(format!("{LOG}{}", owner.name));
            }
            None if is_unowned => {}
            None => lines.extend([WHY, NO_LOG].map(str::to_owned)),
        }
        let mut seen = std::collections::HashSet::new();
        lines.retain(|line| seen.insert(line.clone()));
        lines
            .iter()
            .flat_map(|line| [line.as_str(), "\n"])
            .collect()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use uuid::Uuid;

    use super::*;

    fn owner(number: u128) -> Owner {
        Owner::new(Uuid::from_u128(number), false)
    }

    #[test]
    fn each_log_has_a_line_and_the_last_one_takes_the_file() {
        let (a, b) = (owner(1), owner(2));
        let text = KeepFile::with(None, Some(&a));
        assert!(text.starts_with(WHY), "{text}");
        let both = KeepFile::with(Some(&text), Some(&b));
        assert_eq!(KeepFile::with(Some(&both), Some(&b)), both);
        let file = KeepFile::read(&both).unwrap();
        assert_eq!(file.whose(&a), Belongs::Own);
        assert_eq!(file.whose(&owner(3)), Belongs::Other);
        let left = KeepFile::read(&file.without(&a).unwrap()).unwrap();
        assert_eq!(left.whose(&a), Belongs::Other);
        assert_eq!(left.whose(&b), Belongs::Own);
        assert_eq!(left.without(&b), None);
    }

    #[test]
    fn a_file_of_an_older_version_belongs_to_no_log() {
        let file = KeepFile::read(&format!("{WHY}\n")).unwrap();
        assert_eq!(file.whose(&owner(1)), Belongs::Unowned);
        assert!(file.stays_without(&owner(1)));
        let unowned = Owner::new(Uuid::from_u128(1), true);
        assert!(!file.stays_without(&unowned));
    }

    #[test]
    fn an_entry_of_an_older_version_stays_next_to_a_log() {
        let text = KeepFile::with(Some(&format!("{WHY}\n")), Some(&owner(1)));
        let file = KeepFile::read(&text).unwrap();
        assert_eq!(file.whose(&owner(1)), Belongs::Own);
        let left = KeepFile::read(&file.without(&owner(1)).unwrap()).unwrap();
        assert_eq!(left.whose(&owner(1)), Belongs::Unowned);
        assert_eq!(file.without(&Owner::new(Uuid::from_u128(1), true)), None);
    }

    #[test]
    fn an_empty_file_of_another_tool_is_not_removed() {
        let text = KeepFile::with(Some(""), Some(&owner(1)));
        let left = KeepFile::read(&text).unwrap().without(&owner(1));
        assert!(left.is_some_and(|text| !text.is_empty()));
    }

    #[test]
    fn lines_of_others_stay() {
        let theirs = "kept by the backup\n";
        assert!(KeepFile::read(theirs).is_none());
        let both = KeepFile::with(Some(theirs), Some(&owner(1)));
        let file = KeepFile::read(&both).unwrap();
        assert_eq!(file.whose(&owner(1)), Belongs::Own);
        assert_eq!(file.without(&owner(1)).unwrap(), theirs);
    }
}
