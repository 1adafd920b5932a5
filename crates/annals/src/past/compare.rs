//! Two pieces of work side by side: what was asked, done, checked and used, and where they part.

use std::collections::BTreeMap;

use annals_projections::past::{Aligned, align, parting};
use serde::Serialize;

use super::side::{CompareSide, FileLines};
use super::{Past, PastError};
use crate::{At, ObjectRef};

/// Two pieces of work side by side.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// The first one.
    pub a: CompareSide,
    /// The second one.
    pub b: CompareSide,
    /// The number of the first tool call, from 0, at which they do different things, or the one ends before the other;
    /// none where all calls are the same. Two calls are the same where their lines are, which
    /// have the tool and what it was called with.
    pub calls_part_at: Option<usize>,
    /// The numbers of the prompts, likewise.
    pub prompts_part_at: Option<usize>,
    /// The tool calls beside each other, by their numbers.
    pub calls: Vec<Aligned>,
    /// All files that either touched.
    pub files: Vec<FileBeside>,
}

/// A file that either of two touched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileBeside {
    /// Its path.
    pub path: String,
    /// What the first did with it.
    pub a: Option<FileLines>,
    /// What the second did with it.
    pub b: Option<FileLines>,
}

impl Past<'_> {
    /// Two runs, tasks, intents or sessions side by side, as they are now. What is held is a line a tool call.
    ///
    /// # Errors
    /// [`ViewError::NoRuns`](crate::ViewError::NoRuns) of other objects, and those of a view.
    pub async fn compare(self, a: ObjectRef, b: ObjectRef) -> Result<Comparison, PastError> {
        self.compare_at(a, b, At::Now).await
    }

    /// The same as they were at a moment. What their runs had used by then is only known of runs that have not
    /// changed since.
    ///
    /// # Errors
    /// Those of [`Past::compare`].
    pub async fn compare_at(
        self,
        a: ObjectRef,
        b: ObjectRef,
        at: At,
    ) -> Result<Comparison, PastError> {
        let (a, b) = (self.side(a, at).await?, self.side(b, at).await?);
        let (of_a, of_b) = (a.lines(), b.lines());
        let (calls_part_at, calls) = (parting(&of_a, &of_b), align(&of_a, &of_b));
        let mut files: BTreeMap<String, FileBeside> = BTreeMap::new();
        for FileLines { path, .. } in a.files.iter().chain(&b.files) {
            files.entry(path.clone()).or_insert_with(|| FileBeside {
                path: path.clone(),
                a: a.file(path),
                b: b.file(path),
            });
        }
        Ok(Comparison {
            calls_part_at,
            prompts_part_at: parting(&a.prompts, &b.prompts),
            calls,
            files: files.into_values().collect(),
            a,
            b,
        })
    }
}

impl CompareSide {
    /// The lines of its calls, by which they are compared.
    fn lines(&self) -> Vec<&str> {
        self.calls.iter().map(|call| call.line.as_str()).collect()
    }

    /// What it did with a file. They are in the order of their paths.
    fn file(&self, path: &str) -> Option<FileLines> {
        let found = self
            .files
            .binary_search_by(|file| file.path.as_str().cmp(path));
        found.ok().and_then(|at| self.files.get(at)).cloned()
    }
}
