//! A projection with a table of its own: how often each tool was called, and how often that failed.
//!
//! ```sh
//! cargo run --bin projection -- .annals            # brings the table up to date, and prints it
//! cargo run --bin projection -- .annals --follow   # and goes on, as events come
//! ```
//!
//! The table is a *read model* of the log: rows that are stored with it, under a name. With them the log keeps
//! a *checkpoint*, up to which event they count. Rows and checkpoint are written together, so each event
//! counts exactly once, however often this program is killed; and where content is removed from the log, its
//! read models are dropped with it, and made again of what is left. The tests below show both.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::process::ExitCode;

use annals::OpenOptions;
use annals::domain::AnyEvent;
use annals::domain::run::{Event, ToolStatus};
use annals::event_log::{CommitError, Position, Query, ReadError, Record, Store};
use annals::projections::{Entry, EntryError};
use serde::{Deserialize, Serialize};

/// The table's name. A new one for another form of its rows makes them again.
const MODEL: &str = "example_tools_v1";

/// Events that are read at once.
const PAGE: usize = 1_000;

/// A row: the tool's name is its key.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
struct Tool {
    calls: u64,
    failed: u64,
}

#[derive(Debug, thiserror::Error)]
enum ProjectionError {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Entry(#[from] EntryError),
    #[error(transparent)]
    Commit(#[from] CommitError),
    #[error("a row of {MODEL} cannot be read: {0}")]
    Row(#[from] serde_json::Error),
}

fn main() -> ExitCode {
    match futures::executor::block_on(run()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "projection: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().ok_or("usage: projection LOG [--follow]")?;
    let is_following = arguments.next().is_some_and(|flag| flag == "--follow");
    // For writing, as it has rows to write; other processes go on with the log meanwhile.
    let annals = OpenOptions::new().open(&url)?;
    let log = annals.log().as_ref();
    loop {
        let position = catch_up(log).await?;
        print(log, position).await?;
        if !is_following {
            break;
        }
        log.wait_above(position).await?;
    }
    annals.close().await;
    Ok(())
}

/// Folds what the table lacks into it, a page at a time, and answers with the position up to which it is.
async fn catch_up(log: &dyn Store) -> Result<Position, ProjectionError> {
    loop {
        // First of all: it says which content the log has. Where some is removed after this, the commit
        // below is refused, and what was read is thrown away.
        let checkpoint = log.checkpoint(MODEL).await?;
        let page = log
            .read(Query::all(checkpoint.position.next()).limit(PAGE))
            .await?;
        let Some(last) = page.records.last() else {
            return Ok(checkpoint.position);
        };
        let counts = match count(log, &page.records).await {
            Err(ProjectionError::Entry(EntryError::MissingBlob { .. }))
                if log.checkpoint(MODEL).await?.epoch != checkpoint.epoch =>
            {
                continue;
            }
            counts => counts?,
        };
        let mut rows = Vec::new();
        for (name, more) in counts {
            let row = log.get(MODEL, name.as_bytes()).await?;
            let mut tool: Tool =
                row.map_or(Ok(Tool::default()), |row| serde_json::from_slice(&row))?;
            tool.calls += more.calls;
            tool.failed += more.failed;
            rows.push((name.into(), Some(serde_json::to_vec(&tool)?.into())));
        }
        match log.commit(MODEL, checkpoint, rows, last.position()).await {
            Err(CommitError::Epoch { .. } | CommitError::Checkpoint { .. }) => continue,
            committed => committed?,
        }
    }
}

/// What some records add to the table.
async fn count(
    log: &dyn Store,
    records: &[Record],
) -> Result<BTreeMap<String, Tool>, ProjectionError> {
    let mut counts: BTreeMap<String, Tool> = BTreeMap::new();
    // Only these are decoded: events of other types, also of types to come, are passed over.
    for record in records
        .iter()
        .filter(|record| record.event_type() == "run.tool_invoked")
    {
        let entry = entry(log, record).await?;
        let AnyEvent::Run(Event::ToolInvoked(invoked)) = &entry.event else {
            continue;
        };
        // The name is content, and may have been removed: then it is "[removed]".
        let name = entry.text(invoked.tool_name).to_string();
        let tool = counts.entry(name).or_default();
        tool.calls += 1;
        tool.failed += u64::from(invoked.status == ToolStatus::Error);
    }
    Ok(counts)
}

/// A record decoded, with its content.
async fn entry(log: &dyn Store, record: &Record) -> Result<Entry, ProjectionError> {
    let mut blobs = std::collections::HashMap::new();
    for digest in Entry::wanted(record) {
        if let Some(blob) = log.blob(digest).await? {
            blobs.insert(digest, blob);
        }
    }
    Ok(Entry::new(record, &blobs)?)
}

/// Prints the table, by the tools' names.
async fn print(log: &dyn Store, position: Position) -> Result<(), Box<dyn std::error::Error>> {
    let mut out = io::stdout();
    writeln!(out, "CALLS  FAILED  TOOL    (up to position {position})")?;
    let mut after = None;
    loop {
        let rows = log.scan(MODEL, b"", after.as_deref(), PAGE).await?;
        for (name, row) in &rows {
            let tool: Tool = serde_json::from_slice(row)?;
            // Escaped: agents choose these names, and a terminal obeys what it is given.
            let name = String::from_utf8_lossy(name);
            writeln!(out, "{:5}  {:6}  {name:?}", tool.calls, tool.failed)?;
        }
        match rows.last() {
            Some((name, _)) => after = Some(name.to_vec()),
            None => return Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use annals::domain::run::RecordToolInvocation;
    use annals::domain::{ActorRef, ToolInvocationId};
    use annals::{Annals, RedactRequest, Target};
    use annals_testkit::generators::objects;
    use annals_testkit::projections::check_resumable;
    use futures::executor::block_on;

    use super::*;

    /// The check kills the projection at each of its calls, and removes content before each of them.
    #[test]
    fn it_comes_to_the_same_rows_however_it_is_killed() {
        let history = objects::sample(24, 150);
        let catch_up = |log: &dyn Store| block_on(catch_up(log)).map(|_| ());
        let resumed = check_resumable(MODEL, &history.appends(), catch_up).unwrap();
        assert!(resumed.rows > 0 && resumed.redactions > 0, "{resumed:?}");
    }

    async fn tool(log: &dyn Store, name: &str) -> Option<Tool> {
        let row = log.get(MODEL, name.as_bytes()).await.unwrap()?;
        serde_json::from_slice(&row).unwrap()
    }

    #[test]
    fn a_name_that_is_removed_leaves_the_table() {
        block_on(async {
            let annals = Annals::open("memory:").await.unwrap();
            let (log, agent) = (annals.log().as_ref(), ActorRef::agent("coder"));
            let me = annals.by(&agent);
            let intent = me.submit("Mend the parser").await.unwrap();
            me.analyze(intent, "It fails on empty input").await.unwrap();
            let task = me.task(intent, "Mend it").await.unwrap();
            let run = me.start_run(task, None, None).await.unwrap();
            let call = |name: &str, status| me.tool(RecordToolInvocation::new(run, name, status));
            call("Bash", ToolStatus::Error).await.unwrap();
            call("Bash", ToolStatus::Ok).await.unwrap();
            let secret: ToolInvocationId = call("hunter2", ToolStatus::Ok).await.unwrap();
            let position = annals.position();
            assert_eq!(catch_up(log).await.unwrap(), position);
            assert_eq!(
                tool(log, "Bash").await,
                Some(Tool {
                    calls: 2,
                    failed: 1
                })
            );
            assert!(tool(log, "hunter2").await.is_some());

            let target = Target::Event(position);
            let request = RedactRequest::new(vec![target], ActorRef::human("ada"), "a password");
            annals
                .contents()
                .redact(&request, &mut |_| {})
                .await
                .unwrap();
            assert!(annals.view(secret).await.is_ok());
            catch_up(log).await.unwrap();
            assert_eq!(
                tool(log, "Bash").await,
                Some(Tool {
                    calls: 2,
                    failed: 1
                })
            );
            assert_eq!(tool(log, "hunter2").await, None);
            assert_eq!(
                tool(log, "[removed]").await,
                Some(Tool {
                    calls: 1,
                    failed: 0
                })
            );
        });
    }
}
