//! `annals intent ready`: the tasks of an intent that can be begun.

use annals::domain::TaskId;

use crate::cli::Ready;
use crate::commands::intake::intent;
use crate::context::{Context, moment};
use crate::error::CliError;
use crate::output::short;

pub(crate) async fn run(args: &Ready, context: &mut Context) -> Result<(), CliError> {
    let annals = context.reader_at(&args.floor).await?;
    let at = moment(&annals, args.moment.at.as_ref()).await?;
    let intent = intent(&annals, &args.intent).await?;
    let ready: Vec<TaskId> = annals.inbox().ready_tasks(intent, at).await?;
    for task in &ready {
        let view = annals.inbox().forge_task(*task, at).await?;
        if context.output.is_json() {
            let line = serde_json::json!({ "task": task, "view": view });
            context.output.json(&line)?;
        } else {
            let name = if view.id == task.to_string() {
                ""
            } else {
                &view.id
            };
            let line = format!("{}  {name}  {}", short(task.0), view.title);
            context.output.line(&line)?;
        }
    }
    if ready.is_empty() {
        context.output.note("no task of it can be begun now");
    }
    Ok(())
}
