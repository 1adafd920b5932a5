//! `annals service serve`: shows the log in a browser, or is an owner of it that stays, or both.

mod own;
mod view;

pub(super) use view::Viewing;

use crate::cli::Serve;
use crate::context::Context;
use crate::error::CliError;

pub(super) async fn run(args: &Serve, context: &mut Context) -> Result<(), CliError> {
    match args.record_only {
        true => own::run(context).await,
        false => view::run(args, context).await,
    }
}
