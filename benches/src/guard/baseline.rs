//! The committed counts: `benches/guard.json`.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::toolchain::Toolchain;

/// Instructions by the name of their case.
pub type Counts = BTreeMap<String, u64>;

/// What a new file allows, in percent.
const TOLERANCE_PERCENT: f64 = 3.0;

/// What was counted when the file was written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    /// What it was counted with; with anything else there is nothing to compare.
    pub toolchain: Toolchain,
    /// By how much a count may differ, either way, in percent.
    pub tolerance_percent: f64,
    /// The counts, by the names of the cases.
    pub cases: BTreeMap<String, Expected>,
}

/// What one case took.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    /// Instructions.
    pub instructions: u64,
    /// Its own tolerance, where it is not that of the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tolerance_percent: Option<f64>,
}

/// Why the file cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BaselineError {
    /// It cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// It is not what [`Baseline::write`] writes.
    #[error("{} is not a valid baseline: {source}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: serde_json::Error,
    },
}

impl Baseline {
    /// A file without cases.
    pub fn new(toolchain: Toolchain) -> Baseline {
        Baseline {
            toolchain,
            tolerance_percent: TOLERANCE_PERCENT,
            cases: BTreeMap::new(),
        }
    }

    /// Reads the file; `None` where there is none.
    ///
    /// # Errors
    /// [`BaselineError`].
    pub fn read(path: &Path) -> Result<Option<Baseline>, BaselineError> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(io_error(path, source)),
        };
        let read = serde_json::from_str(&text).map_err(|source| malformed(path, source))?;
        Ok(Some(read))
    }

    /// Writes the file.
    ///
    /// # Errors
    /// [`BaselineError`].
    pub fn write(&self, path: &Path) -> Result<(), BaselineError> {
        let text = serde_json::to_string_pretty(self).map_err(|source| malformed(path, source))?;
        std::fs::write(path, text + "\n").map_err(|source| io_error(path, source))
    }

    /// How much the count of a case may differ, in percent.
    pub fn tolerance_percent(&self, case: &str) -> f64 {
        let own = self.cases.get(case).and_then(|it| it.tolerance_percent);
        own.unwrap_or(self.tolerance_percent)
    }

    /// The file after an intended change: new counts, and the tolerances as they were.
    #[must_use]
    pub fn updated(&self, toolchain: Toolchain, counts: &Counts) -> Baseline {
        let expected = |(case, instructions): (&String, &u64)| {
            let known = self.cases.get(case);
            let expected = Expected {
                instructions: *instructions,
                tolerance_percent: known.and_then(|known| known.tolerance_percent),
            };
            (case.clone(), expected)
        };
        Baseline {
            toolchain,
            tolerance_percent: self.tolerance_percent,
            cases: counts.iter().map(expected).collect(),
        }
    }
}

fn io_error(path: &Path, source: io::Error) -> BaselineError {
    BaselineError::Io {
        path: path.to_owned(),
        source,
    }
}

fn malformed(path: &Path, source: serde_json::Error) -> BaselineError {
    BaselineError::Malformed {
        path: path.to_owned(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::toolchain::tests::toolchain;

    #[test]
    fn the_committed_file_can_be_read_and_is_written_as_it_is() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("guard.json");
        let baseline = Baseline::read(&path).unwrap().unwrap();
        assert!(baseline.cases.len() > 10, "{baseline:?}");
        let home = tempfile::tempdir().unwrap();
        let copy = home.path().join("copy.json");
        baseline.write(&copy).unwrap();
        let read = |path: &Path| std::fs::read_to_string(path).unwrap();
        assert_eq!(read(&copy), read(&path));
    }

    #[test]
    fn a_file_that_is_not_there_is_not_an_error_and_another_one_is() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("guard.json");
        assert_eq!(Baseline::read(&path).unwrap(), None);
        std::fs::write(&path, r#"{"cases":{}}"#).unwrap();
        let error = Baseline::read(&path).unwrap_err().to_string();
        assert!(
            error.contains("guard.json is not a valid baseline"),
            "{error}"
        );
    }

    #[test]
    fn an_update_keeps_tolerances_and_forgets_cases_that_are_gone() {
        let mut old = Baseline::new(toolchain("1.95.0"));
        let expected = |tolerance_percent| Expected {
            instructions: 100,
            tolerance_percent,
        };
        old.cases.insert("noisy".to_owned(), expected(Some(5.0)));
        old.cases.insert("gone".to_owned(), expected(None));
        let counts = [("noisy".to_owned(), 120), ("new".to_owned(), 7)];
        let new = old.updated(toolchain("1.96.0"), &counts.into());
        let names: Vec<&str> = new.cases.keys().map(String::as_str).collect();
        assert_eq!(names, ["new", "noisy"]);
        assert_eq!(new.cases["noisy"].instructions, 120);
        assert_eq!(
            (new.tolerance_percent("noisy"), new.tolerance_percent("new")),
            (5.0, 3.0)
        );
        assert_eq!(new.toolchain, toolchain("1.96.0"));
    }
}
