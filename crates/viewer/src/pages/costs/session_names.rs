//! The sessions of a report's rows, found by the tasks that the report adds up, without a list of all sessions.

use std::collections::{BTreeMap, HashMap};

use annals::projections::{CostAxis, CostKey, CostReport, CostRow, CostSums, SessionSummary};
use annals::{Annals, CostQuery};
use uuid::Uuid;

use super::model::CostLine;
use crate::costing;
use crate::problem::Problem;

/// The title of a session without one.
const UNTITLED: &str = "Untitled session";

/// A task of each session of a report, by the session's name in the report.
pub(super) type SessionTasks = HashMap<String, Uuid>;

/// A session that a row names.
pub(super) struct CostSession {
    pub(super) id: Uuid,
    pub(super) title: String,
}

/// Reads a report. By sessions it also has a task of each.
pub(super) async fn report(
    annals: &Annals,
    query: CostQuery,
) -> Result<(CostReport, SessionTasks), Problem> {
    let has = |axis| query.by.contains(&axis);
    if !has(CostAxis::Session) {
        return Ok((costing::report(annals, query).await?, SessionTasks::new()));
    }
    if has(CostAxis::Task) {
        let report = costing::report(annals, query).await?;
        let tasks = tasks(&report.rows);
        return Ok((report, tasks));
    }
    let mut by = query.by.clone();
    by.push(CostAxis::Task);
    let mut report = costing::report(annals, query.with_by(by)).await?;
    let tasks = tasks(&report.rows);
    without_last_axis(&mut report);
    Ok((report, tasks))
}

fn tasks(rows: &[CostRow]) -> SessionTasks {
    let mut tasks = SessionTasks::new();
    for row in rows {
        let value = |axis| {
            let key = row.by.iter().find(|key| key.axis == axis);
            key.and_then(|key| key.value.as_deref())
        };
        let task = value(CostAxis::Task).and_then(|task| task.parse().ok());
        if let (Some(session), Some(task)) = (value(CostAxis::Session), task) {
            tasks.entry(session.to_owned()).or_insert(task);
        }
    }
    tasks
}

/// Adds up the rows that differ in the last axis alone. They are in the order of a report without that axis.
fn without_last_axis(report: &mut CostReport) {
    report.by.pop();
    let mut sums: BTreeMap<Vec<CostKey>, CostSums> = BTreeMap::new();
    for mut row in std::mem::take(&mut report.rows) {
        row.by.pop();
        sums.entry(row.by).or_default().add(&row.sums);
    }
    let rows = sums.into_iter().map(|(by, sums)| CostRow {
        by,
        sums,
        depth: 0,
        with_sub_agents: None,
    });
    report.rows = rows.collect();
    if report.by.first() != Some(&CostAxis::Day) {
        let weight = |sums: &CostSums| (sums.computed_micros, sums.used.tokens.total());
        report
            .rows
            .sort_by_key(|row| std::cmp::Reverse(weight(&row.sums)));
    }
}

/// The sessions of rows by their names in the report.
pub(super) async fn sessions(
    annals: &Annals,
    rows: &[CostLine],
    tasks: &SessionTasks,
) -> Result<HashMap<String, CostSession>, Problem> {
    let names = rows.iter().flat_map(|row| &row.by);
    let names = names.filter_map(|key| key.session());
    // A contracts session has its own id as its name.
    let wanted: HashMap<&str, Uuid> = names
        .filter_map(|name| Some((name, tasks.get(name).copied().or(name.parse().ok())?)))
        .collect();
    let conversations = annals.conversations();
    let ids: Vec<Uuid> = wanted.values().copied().collect();
    let of_tasks = conversations.summaries(&ids).await?;
    // The task may be that of a sub-agent, whose work belongs to the session above it.
    let tops: Vec<Uuid> = of_tasks.values().map(|it| it.root).collect();
    let tops = conversations.summaries(&tops).await?;
    let mut found = HashMap::new();
    for (name, task) in wanted {
        let Some(own) = of_tasks.get(&task) else {
            continue;
        };
        let has_name = |it: &&SessionSummary| it.agent_session.as_deref() == Some(name);
        let top = tops.get(&own.root);
        let session = Some(own).filter(has_name).or(top).unwrap_or(own);
        let title = session.title.clone();
        let session = CostSession {
            id: session.id,
            title: title.unwrap_or_else(|| UNTITLED.to_owned()),
        };
        found.insert(name.to_owned(), session);
    }
    Ok(found)
}
