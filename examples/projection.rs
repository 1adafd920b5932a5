//! A projection with a table of its own: how often each tool was called, and how often that failed.
//!
//! ```sh
//! cargo run --bin projection -- .annals            # brings the table up to date, and prints it
//! cargo run --bin projection -- .annals --follow   # and goes on, as events come
//! cargo run --bin projection -- .annals --rebuild  # folds the whole log into new rows first
//! ```
//!
//! The table is a *read model* of the log: rows that are stored with it, under a name. With them the log keeps
//! a *checkpoint*, up to which event they count. Rows and checkpoint are written together, so each event
//! counts exactly once, however often this program is killed; and where content is removed from the log, its
//! read models are dropped with it, and folded again of what is left. The tests below show both.

use std::io::{self, Write};
use std::process::ExitCode;

use annals::OpenOptions;
use annals::domain::AnyEvent;
use annals::domain::run::{Event, ToolStatus};
use annals::event_log::{Position, Store};
use annals::projections::{Entry, Projection, ProjectionError, ReadModel, Table};
use serde::{Deserialize, Serialize};

/// Rows that are printed at once.
const PAGE: usize = 1_000;

/// How often each tool was called. The tool's name is a row's key.
struct Tools;

/// A row.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
struct Tool {
    calls: u64,
    failed: u64,
}

impl Projection for Tools {
    fn name(&self) -> &str {
        "example_tools"
    }

    /// Only these are decoded: events of other types, also of types to come, are passed over.
    fn wants(&self, event_type: &str) -> bool {
        event_type == "run.tool_invoked"
    }

    async fn apply(&self, entry: &Entry, table: &mut Table<'_>) -> Result<(), ProjectionError> {
        let AnyEvent::Run(Event::ToolInvoked(invoked)) = &entry.event else {
            return Ok(());
        };
        // The name is content, and may have been removed: then it is "[removed]".
        let name = entry.text(invoked.tool_name).to_string();
        let mut tool: Tool = table.get(name.as_bytes()).await?.unwrap_or_default();
        tool.calls += 1;
        tool.failed += u64::from(invoked.status == ToolStatus::Error);
        table.put(name.as_bytes(), &tool)
    }
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
    let usage = "usage: projection LOG [--follow | --rebuild]";
    let url = arguments.next().ok_or(usage)?;
    let flag = arguments.next();
    // For writing, as it has rows to write; other processes go on with the log meanwhile.
    let annals = OpenOptions::new().open(&url)?;
    let log = annals.log().as_ref();
    let tools = ReadModel::new(Tools)?;
    match flag.as_deref() {
        None | Some("--follow") => {}
        Some("--rebuild") => {
            tools.rebuild(log, &mut |_| {}).await?;
        }
        Some(_) => return Err(usage.into()),
    }
    loop {
        let position = tools.catch_up(log).await?;
        print(&tools, log, position).await?;
        if flag.as_deref() != Some("--follow") {
            break;
        }
        log.wait_above(position).await?;
    }
    annals.close().await;
    Ok(())
}

/// Prints the table, by the tools' names.
async fn print(
    tools: &ReadModel<Tools>,
    log: &dyn Store,
    position: Position,
) -> Result<(), Box<dyn std::error::Error>> {
    let mut out = io::stdout();
    writeln!(out, "CALLS  FAILED  TOOL    (up to position {position})")?;
    let mut after = None;
    loop {
        let rows = tools.scan(log, b"", after.as_deref(), PAGE).await?;
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
        let catch_up = |log: &dyn Store| {
            block_on(async { ReadModel::new(Tools)?.catch_up(log).await }).map(|_| ())
        };
        // The rows of its version 1, as they were folded first.
        let resumed = check_resumable("example_tools.1.1", &history.appends(), catch_up).unwrap();
        assert!(resumed.rows > 0 && resumed.redactions > 0, "{resumed:?}");
    }

    async fn tool(log: &dyn Store, name: &str) -> Option<Tool> {
        let tools = ReadModel::new(Tools).unwrap();
        tools.get(log, name.as_bytes()).await.unwrap()
    }

    async fn catch_up(log: &dyn Store) -> Position {
        let tools = ReadModel::new(Tools).unwrap();
        tools.catch_up(log).await.unwrap()
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
            assert_eq!(catch_up(log).await, position);
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
            catch_up(log).await;
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
