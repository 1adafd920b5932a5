//! `annals record`: telemetry of agents, as it comes.

use annals_live::otlp::{OtlpOptions, OtlpReceiver};
use serde_json::json;

use crate::cli::Record;
use crate::context::Context;
use crate::error::{CliError, ErrorClass};
use crate::signals::Signals;

pub(crate) async fn run(args: &Record, context: &mut Context) -> Result<(), CliError> {
    context.own_files();
    let mut options = OtlpOptions::new(args.otlp);
    options.secrets = args.redaction.secrets()?;
    if let Some(file) = &args.token_file {
        let text = annals_files::open(file).and_then(std::io::read_to_string);
        let text = text.map_err(|error| CliError::input(file, error))?;
        let token = text.lines().next().unwrap_or_default().trim().to_owned();
        if token.is_empty() {
            let message = format!("{} has no token in its first line", file.display());
            return Err(CliError::new(ErrorClass::Invalid, "no_token", message));
        }
        options.token = Some(token);
    }
    let mut signals = Signals::new()?;
    let receiver = OtlpReceiver::start(&context.log, options).await?;
    let address = receiver.address().map_err(CliError::runtime)?;
    match context.output.is_json() {
        true => context
            .output
            .json(&json!({ "listening": address.to_string() }))?,
        false => context
            .output
            .line(&format!("listening on http://{address}; Ctrl-C ends"))?,
    }
    context.output.flush()?;
    let end = async move { signals.next().await };
    receiver.run(end).await.map_err(CliError::runtime)
}
