//! Objects as pages: what a person looks for first. `--full` has all fields.

mod intent;
mod lines;
mod named;
mod run;
mod task;

use annals::projections::{ObjectView, RunReport};
use annals::{Annals, At};

use self::lines::Page;
use crate::context::Context;
use crate::error::CliError;
use crate::output::Style;

/// Prints a run with what its stream says of it.
pub(super) async fn run(
    annals: &Annals,
    report: &RunReport,
    at: At,
    remark: &str,
    context: &mut Context,
) -> Result<(), CliError> {
    let page = run::page(annals, report, at, &context.output).await?;
    print(page, "run", report.run.header.object_id, remark, context)
}

/// Prints an intent or a task; false of what has no page of its own.
pub(super) async fn object(
    annals: &Annals,
    view: &ObjectView,
    at: At,
    remark: &str,
    context: &mut Context,
) -> Result<bool, CliError> {
    let page = match view {
        ObjectView::Intent(intent) => intent::page(annals, intent, at).await?,
        ObjectView::Task(task) => task::page(annals, task, at).await?,
        _ => return Ok(false),
    };
    let kind = view.kind().object_type();
    print(page, kind, view.id(), remark, context)?;
    Ok(true)
}

fn print(
    page: Page,
    kind: &str,
    id: uuid::Uuid,
    remark: &str,
    context: &mut Context,
) -> Result<(), CliError> {
    let output = &mut context.output;
    let title = output.style(Style::Bold, &format!("{kind} {id}"));
    output.line(format!("{title}{remark}").trim_end())?;
    page.print(output)
}
