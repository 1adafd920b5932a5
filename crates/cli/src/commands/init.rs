//! `annals log init`: creates a log.

use annals::{LogUrl, OpenOptions};
use serde_json::json;

use crate::cli::Init;
use crate::context::Context;
use crate::error::CliError;

pub(crate) async fn run(args: &Init, context: &mut Context) -> Result<(), CliError> {
    let url = context
        .log
        .parse()
        .map_err(|error| CliError::open(&context.log, error))?;
    let place = match url {
        LogUrl::Rocks(path) => path.display().to_string(),
        LogUrl::Postgres(url) => url.to_string(),
        LogUrl::Memory => return Err(CliError::in_memory()),
    };
    let mut options = OpenOptions::new().create_new(true);
    if let Some(log_id) = args.log_id {
        options = options.log_id(log_id);
    }
    context.own_files();
    let annals = context.open(options)?;
    let log_id = annals.log().log_id();
    annals.close().await;
    if context.output.is_json() {
        context
            .output
            .json(&json!({ "log_id": log_id, "path": place }))
    } else {
        context
            .output
            .line(&format!("created the log {log_id} in {place}"))
    }
}
