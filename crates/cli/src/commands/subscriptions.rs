//! `annals log subscriptions`: who reads the log by a name, and up to where.

use serde_json::json;

use crate::cli::Subscriptions;
use crate::context::Context;
use crate::error::{CliError, ErrorClass};
use crate::output::{Column, Rows};

pub(crate) async fn run(args: &Subscriptions, context: &mut Context) -> Result<(), CliError> {
    match &args.drop {
        Some(name) => drop_one(name, context).await,
        None => list(context).await,
    }
}

async fn list(context: &mut Context) -> Result<(), CliError> {
    let annals = context.reader()?;
    let places = annals.subscriptions().await?;
    let output = &mut context.output;
    if output.is_json() {
        return places.iter().try_for_each(|place| {
            output.json(&json!({
                "name": place.name,
                "acknowledged": place.acknowledged.0,
                "behind": place.behind,
            }))
        });
    }
    let mut rows = Rows::new([
        Column::left("SUBSCRIPTION", 20),
        Column::right("ACKNOWLEDGED", 12),
        Column::right("BEHIND", 8),
    ]);
    let cells = places.iter().map(|place| {
        [
            place.name.clone(),
            place.acknowledged.to_string(),
            place.behind.to_string(),
        ]
    });
    rows.print(output, cells)
}

async fn drop_one(name: &str, context: &mut Context) -> Result<(), CliError> {
    let annals = context.writer()?;
    let dropped = annals.drop_subscription(name).await;
    annals.close().await;
    if !dropped? {
        let message = format!("there is no subscription {name}");
        let error = CliError::new(ErrorClass::NotFound, "no_subscription", message);
        return Err(error.hint("`annals log subscriptions` lists them"));
    }
    match context.output.is_json() {
        true => context.output.json(&json!({ "dropped": name })),
        false => context.output.line(&format!("dropped {name}")),
    }
}
