//! `annals tui`: the terminal view.

use std::io::{IsTerminal, stdin, stdout};

use annals_tui::{Options, TuiError};

use crate::cli::Tui;
use crate::context::{Context, through};
use crate::error::{CliError, ErrorClass};
use crate::signals::Signals;

pub(super) async fn run(args: Tui, context: &mut Context) -> Result<(), CliError> {
    if context.output.is_json() || !stdin().is_terminal() || !stdout().is_terminal() {
        let message = "`tui` needs a terminal and has no JSON";
        let error = CliError::new(ErrorClass::Usage, "no_terminal", message);
        return Err(error.hint("`list`, `show`, `history` and `log` print the same for pipes"));
    }
    let annals = context.reader_of_rows().await?;
    let mut signals = Signals::new()?;
    let mut options = Options::default();
    options.at = through(&annals, args.moment.at.as_ref()).await?;
    options.object = args.id;
    options.log = context.shown_log();
    options.zone = args.zone.time_zone;
    options.is_coloured = context.output.is_styled();
    match annals_tui::run(&annals, &options, signals.next()).await {
        Ok(()) => Ok(()),
        Err(TuiError::Screen(error)) => Err(error.into()),
        Err(TuiError::Terminal(error)) => Err(CliError::output(error)),
        Err(error) => Err(CliError::new(
            ErrorClass::Unavailable,
            "tui",
            error.to_string(),
        )),
    }
}
