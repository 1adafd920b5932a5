//! `annals export atif`.

use annals_dialects::atif_export::{export as export_run, run_of};

use crate::cli::ExportAtif;
use crate::context::Context;
use crate::error::CliError;

/// Writes a run as a trajectory.
pub(crate) async fn export(args: &ExportAtif, context: &mut Context) -> Result<(), CliError> {
    let annals = context.reader()?;
    let object = super::named::object(&annals, &args.id).await?;
    let run = run_of(&annals, object).await?;
    let trajectory = export_run(&annals, run).await?;
    if !trajectory.has_agent() {
        context.output.note(&format!(
            "the log has no message of a model and no tool call of run {run}: the trajectory has only what was \
             asked; `annals log history {run}` shows what the log has"
        ));
    }
    let text = match args.pretty {
        true => serde_json::to_string_pretty(&trajectory),
        false => serde_json::to_string(&trajectory),
    };
    context.output.json_line(&text.map_err(CliError::json)?)?;
    context.output.flush()
}
