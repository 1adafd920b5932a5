//! `annals intent refinements`: what an intent refines, and what refines it.

use crate::cli::Refinements;
use crate::commands::intake::intent;
use crate::commands::list::print_rows;
use crate::context::Context;
use crate::error::CliError;

pub(crate) async fn run(args: &Refinements, context: &mut Context) -> Result<(), CliError> {
    let annals = context.reader_at(&args.floor).await?;
    let intent = intent(&annals, &args.intent).await?;
    let chain = annals.index().refinements(intent).await?;
    print_rows(&chain, &mut context.output)
}
