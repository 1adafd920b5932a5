//! `annals record`: telemetry of agents, as it comes.

use annals_live::otlp::{OtlpOptions, OtlpReceiver, Token};
use serde_json::json;

use crate::cli::Record;
use crate::context::Context;
use crate::error::{CliError, ErrorClass};
use crate::signals::Signals;
use crate::small_text;

pub(crate) async fn run(args: &Record, context: &mut Context) -> Result<(), CliError> {
    let Some(address) = args.otlp else {
        let error = CliError::new(
            ErrorClass::Usage,
            "usage",
            "--otlp ADDRESS:PORT is required",
        );
        return Err(error.hint("`annals service record --otlp 127.0.0.1:4318` receives telemetry"));
    };
    context.own_files();
    let mut options = OtlpOptions::new(address);
    options.secrets = args.redaction.secrets()?;
    if let Some(file) = &args.token_file {
        options.token = Token::bearer(&small_text::token(file, &context.output)?);
    }
    options.hosts.clone_from(&args.hosts);
    let receiver = OtlpReceiver::start(&context.log, options).await?;
    // Before that, to be told to end ends it at once: a server that does not answer may be waited for.
    let mut signals = Signals::new()?;
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
