//! `annals rebuild`: the catalogue anew from the log.

use serde_json::json;

use crate::context::Context;
use crate::error::CliError;
use crate::output::counted;
use crate::progress;

pub(crate) async fn run(context: &mut Context) -> Result<(), CliError> {
    let annals = context.writer()?;
    let bar = progress::bar("rebuilding", Some(annals.position().0));
    let rebuilt = annals
        .rebuild(&mut |position| bar.set_position(position.0))
        .await?;
    bar.finish_and_clear();
    annals.close().await;
    if context.output.is_json() {
        return context
            .output
            .json(&json!({ "events": rebuilt.events, "rows": rebuilt.rows }));
    }
    context.output.line(&format!(
        "made the catalogue anew from {}: {}",
        counted(rebuilt.events, "event", "events"),
        counted(rebuilt.rows, "row", "rows")
    ))
}
