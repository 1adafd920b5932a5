//! Objects that are named on the page of another one.

use annals::projections::{CatalogueRow, ObjectView, Status, Text};
use annals::{Annals, At, ViewError};
use uuid::Uuid;

use crate::error::CliError;
use crate::output::{short, when};

/// Objects of one sort that are named on a page.
pub(super) const NAMED: usize = 20;

/// A text that may have been removed, on one line.
pub(super) fn text(text: &Text) -> String {
    let words = text.to_string();
    let words: Vec<&str> = words.split_whitespace().collect();
    words.join(" ")
}

/// An object that belongs to another one, as it was at a moment.
pub(super) struct Named {
    pub(super) row: CatalogueRow,
    pub(super) status: Option<&'static str>,
}

/// The rows of objects: of those that are there, for objects of other systems may name some that were not taken over.
pub(super) async fn rows(
    annals: &Annals,
    ids: impl Iterator<Item = Uuid>,
) -> Result<Vec<CatalogueRow>, CliError> {
    let mut rows = Vec::new();
    for id in ids {
        match annals.index().row(id).await {
            Ok(row) => rows.push(row),
            Err(ViewError::NotFound { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(rows)
}

/// Objects that a list has, as they were at a moment: those that there were.
pub(super) async fn as_of(
    annals: &Annals,
    rows: Vec<CatalogueRow>,
    at: At,
) -> Result<Vec<Named>, CliError> {
    let mut named = Vec::new();
    for row in rows {
        if at == At::Now {
            let status = row.status.map(Status::word);
            named.push(Named { row, status });
            continue;
        }
        let status = match annals.view_at(row.id, at).await {
            Ok(ObjectView::Run(run)) => Some(run.status().name()),
            Ok(ObjectView::Task(task)) => Some(task.status().name()),
            Ok(_) => None,
            Err(ViewError::NotYet { .. }) => continue,
            Err(error) => return Err(error.into()),
        };
        named.push(Named { row, status });
    }
    Ok(named)
}

impl Named {
    /// Its id, where it is in its life, since when there is it, and what it is called.
    pub(super) fn line(&self, more: &str) -> String {
        let status = self.status.unwrap_or("-");
        let title = self.row.task_title.as_ref().or(self.row.title.as_ref());
        let title = title.map(text).unwrap_or_default();
        let line = format!(
            "{}  {status:10}  {}{more}  {title}",
            short(self.row.id),
            when(self.row.created_at)
        );
        line.trim_end().to_owned()
    }
}
