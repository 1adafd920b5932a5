//! Objects of one kind, the newest first.

use annals::domain::Kind;
use annals::projections::{ListQuery, Status};
use axum::response::Response;
use maud::{Markup, html};
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::{Asked, Live, Page, Slider};
use crate::html::{more, nothing, rows};
use crate::model::Row;
use crate::problem::Problem;
use crate::shell::CONTRACTS_SESSIONS;

/// Objects that one answer looks at for those that had a status at an earlier position.
const LOOKED_AT: usize = 200;

/// A kind that has a page of its objects.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Listed {
    /// The page's address.
    pub(crate) path: &'static str,
    pub(crate) kind: Kind,
    pub(crate) title: &'static str,
    pub(crate) section: &'static str,
}

const fn listed(
    path: &'static str,
    kind: Kind,
    title: &'static str,
    section: &'static str,
) -> Listed {
    Listed {
        path,
        kind,
        title,
        section,
    }
}

/// All of them.
pub(crate) const LISTS: [Listed; 13] = [
    listed("/intents", Kind::Intent, "Intents", "Intents"),
    listed("/tasks", Kind::Task, "Tasks", "Tasks"),
    listed("/runs", Kind::Run, "Runs", "Runs"),
    listed(
        "/contracts-sessions",
        Kind::Session,
        CONTRACTS_SESSIONS,
        CONTRACTS_SESSIONS,
    ),
    listed("/plans", Kind::Plan, "Plans", "Intents"),
    listed(
        "/pipelines",
        Kind::ContextPipeline,
        "Context pipelines",
        "Context",
    ),
    listed(
        "/snapshots",
        Kind::ContextSnapshot,
        "Context snapshots",
        "Context",
    ),
    listed("/patch-sets", Kind::PatchSet, "Patch sets", "Runs"),
    listed("/tool-calls", Kind::ToolInvocation, "Tool calls", "Runs"),
    listed("/evidence", Kind::Evidence, "Evidence", "Runs"),
    listed("/verdicts", Kind::Decision, "Decisions on runs", "Runs"),
    listed("/provenance", Kind::Provenance, "Provenance", "Runs"),
    listed(
        "/observations",
        Kind::Observation,
        "Observations",
        "Intents",
    ),
];

/// Part of a list.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct List {
    /// The objects, the newest first.
    rows: Vec<Row>,
    /// Where the list goes on, as `after`; null where this is its end.
    next: Option<u64>,
}

pub(crate) async fn list(listed: Listed, asked: Asked) -> Result<Response, Problem> {
    let list = read(listed, &asked).await?;
    let status = asked.params.get("status");
    let words = status.map(|status| format!(" --status {status}"));
    let page = Page {
        title: listed.title.to_owned(),
        section: listed.section,
        live: Live::Log,
        slider: Slider::Positions,
        subject: None,
        markdown: format!("# {}\n\n{}", listed.title, markdown(&list.rows)),
        command: format!(
            "annals object list {}{}",
            listed.kind.object_type(),
            words.unwrap_or_default()
        ),
        data: list,
    };
    asked.answer(page, |list| draw(listed, list, &asked)).await
}

async fn read(listed: Listed, asked: &Asked) -> Result<List, Problem> {
    let status = asked.params.get("status");
    let status = match status {
        None => None,
        Some(word) => Some(status_of(listed.kind, word)?),
    };
    let parent = match asked.params.get("parent") {
        None => None,
        Some(name) => Some(asked.annals().resolve(name).await?.id),
    };
    let moment = asked.moment;
    let after = asked.params.position("after")?;
    let after = after
        .unwrap_or(moment.position.next())
        .min(moment.position.next());
    let limit = asked.params.limit()?;
    let query = ListQuery::new(listed.kind)
        .with_parent(parent)
        .with_after(after);
    if let Some(status) = status.filter(|_| moment.is_chosen) {
        return with_past_status(asked, query, status, limit).await;
    }
    let query = query.with_status(status).with_limit(limit);
    let found = asked.annals().index().list(&query).await?;
    let mut reading = asked.reading();
    let mut rows = Vec::with_capacity(found.rows.len());
    for row in &found.rows {
        rows.extend(reading.row(row).await?);
    }
    Ok(List {
        rows,
        next: found.next.map(|next| next.0),
    })
}

/// Objects that had a status at the shown position. The catalogue has the statuses of now, so each object is read as it was.
async fn with_past_status(
    asked: &Asked,
    query: ListQuery,
    status: Status,
    limit: usize,
) -> Result<List, Problem> {
    let query = query.with_limit(LOOKED_AT);
    let found = asked.annals().index().list(&query).await?;
    let mut reading = asked.reading();
    let mut rows = Vec::new();
    for (index, row) in found.rows.iter().enumerate() {
        let then = reading.row(row).await?;
        rows.extend(then.filter(|then| then.status == Some(status.word())));
        if rows.len() == limit && index + 1 < found.rows.len() {
            let next = Some(row.first_position.0);
            return Ok(List { rows, next });
        }
    }
    Ok(List {
        rows,
        next: found.next.map(|next| next.0),
    })
}

fn status_of(kind: Kind, word: &str) -> Result<Status, Problem> {
    let all = Status::of(kind);
    let found = all.iter().find(|status| status.word() == word);
    found.copied().ok_or_else(|| {
        let known: Vec<&str> = all.iter().map(|status| status.word()).collect();
        let shown: String = word.chars().take(64).collect();
        Problem::invalid(format!(
            "invalid {} status {shown:?}: expected one of {}",
            kind.object_type(),
            known.join(", ")
        ))
    })
}

fn draw(listed: Listed, list: &List, asked: &Asked) -> Markup {
    let moment = asked.moment;
    html! {
        section {
            div.head { h1 { (listed.title) } (filters(listed, asked)) }
            @if list.rows.is_empty() { (nothing(&format!("No {} here.", listed.title.to_lowercase()))) }
            @else { (rows(&list.rows, moment, false)) }
            @if let Some(next) = list.next {
                (more(&moment.link(&asked.with(&[("after", &next.to_string()), ("at", "")])), "Older"))
            }
        }
    }
}

/// The statuses by which a list can be had.
fn filters(listed: Listed, asked: &Asked) -> Markup {
    let all = Status::of(listed.kind);
    let chosen = asked.params.get("status");
    let link = |status: &str| {
        let list = asked.with(&[("status", status), ("after", ""), ("at", "")]);
        asked.moment.link(&list)
    };
    html! {
        @if !all.is_empty() {
            div.filters role="group" aria-label="Status" {
                a href=(link("")) aria-current=[chosen.is_none().then_some("true")] { "all" }
                @for status in all {
                    @let word = status.word();
                    a href=(link(word)) aria-current=[(chosen == Some(word)).then_some("true")] { (word.replace('_', " ")) }
                }
            }
        }
    }
}

/// Objects as a list in Markdown.
pub(crate) fn markdown(rows: &[Row]) -> String {
    let line = |row: &Row| {
        let status = row.status.unwrap_or("-");
        format!("- **{}** {} (`{}`)\n", status, plain(&row.name()), row.id)
    };
    rows.iter().map(line).collect()
}

/// A text in Markdown, in which nothing has a meaning.
pub(crate) fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' => plain.push(' '),
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '#' | '|' | '!' => {
                plain.push('\\');
                plain.push(c);
            }
            c => plain.push(c),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_of_what_was_recorded_is_text() {
        assert_eq!(plain("a [b](c)\n<d>"), "a \\[b\\](c) \\<d\\>");
    }

    #[test]
    fn every_kind_has_a_list() {
        for kind in Kind::ALL {
            let lists = LISTS.iter().filter(|listed| listed.kind == *kind);
            assert_eq!(lists.count(), 1, "{kind}");
        }
    }
}
