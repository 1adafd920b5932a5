//! `annals log gc`: blobs that no event refers to.

use annals::store_rocks::Orphans;
use serde_json::json;

use crate::cli::Gc;
use crate::context::Context;
use crate::error::CliError;
use crate::output::{bytes, counted};
use crate::progress;

/// Digests that are printed.
const SHOWN: usize = 20;

pub(crate) async fn run(args: &Gc, context: &mut Context) -> Result<(), CliError> {
    let annals = match args.apply {
        true => context.alone()?,
        false => context.reader()?,
    };
    let Some(rocks) = annals.rocks() else {
        return Err(CliError::in_memory());
    };
    let bar = progress::bar("looking through", Some(annals.position().0));
    let orphans = match args.apply {
        true => rocks
            .collect(&mut |position| bar.set_position(position.0))
            .await
            .map_err(CliError::from),
        false => rocks
            .orphans(&mut |position| bar.set_position(position.0))
            .map_err(CliError::from),
    };
    bar.finish_and_clear();
    annals.close().await;
    show(args.apply, &orphans?, context)
}

fn show(applied: bool, orphans: &Orphans, context: &mut Context) -> Result<(), CliError> {
    let output = &mut context.output;
    if output.is_json() {
        let digests = orphans.digests.iter().map(ToString::to_string);
        return output.json(&json!({
            "collected": applied,
            "blobs": orphans.blobs,
            "bytes": orphans.bytes,
            "digests": digests.collect::<Vec<_>>(),
        }));
    }
    if orphans.blobs == 0 {
        return output.line("every blob is referred to: there is nothing to collect");
    }
    let verb = match applied {
        true => "collected",
        false => "would collect",
    };
    output.line(&format!(
        "{verb} {} that no event refers to: {}",
        counted(orphans.blobs, "blob", "blobs"),
        bytes(orphans.bytes)
    ))?;
    for digest in orphans.digests.iter().take(SHOWN) {
        output.line(&format!("  {digest}"))?;
    }
    match applied {
        true => Ok(()),
        false => output.line("nothing was changed: --apply collects"),
    }
}
