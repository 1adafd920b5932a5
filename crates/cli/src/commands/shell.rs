//! `annals completions` and `annals man`: what the shell wants to know.

use clap::CommandFactory;

use crate::cli::{Cli, Completions, Man};
use crate::context::Context;
use crate::error::CliError;

/// Prints the completion script of a shell.
pub(crate) fn completions(args: &Completions, context: &mut Context) -> Result<(), CliError> {
    // Written to memory first: the generator ends the program if it cannot write.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "annals", &mut script);
    context.output.raw(&script)
}

/// Prints the manual page, or writes one for each command.
pub(crate) fn man(args: &Man, context: &mut Context) -> Result<(), CliError> {
    let Some(dir) = &args.dir else {
        let mut page = Vec::new();
        let rendered = clap_mangen::Man::new(Cli::command()).render(&mut page);
        rendered.map_err(CliError::output)?;
        return context.output.raw(&page);
    };
    let file = |source| CliError::file(dir, source);
    std::fs::create_dir_all(dir).map_err(file)?;
    clap_mangen::generate_to(Cli::command(), dir).map_err(file)
}
