//! `annals log settings`: the settings that the log's decisions use.

use annals::domain::settings::{SetSetting, Setting, State};
use annals::{Annals, Request};
use serde_json::{Map, Value, json};

use crate::cli;
use crate::context::{Context, moment};
use crate::error::CliError;
use crate::output::Output;

pub(crate) async fn run(args: &cli::Settings, context: &mut Context) -> Result<(), CliError> {
    if let (Some(setting), Some(value)) = (args.name, &args.value) {
        let annals = context.writer()?;
        let done = set(&annals, setting, value, args, &mut context.output).await;
        annals.close().await;
        return done;
    }
    let annals = context.reader()?;
    let at = moment(&annals, args.moment.at.as_ref()).await?;
    let state = annals.inbox().settings_at(at).await?;
    let shown: Vec<Setting> = match args.name {
        Some(setting) => vec![setting],
        None => Setting::ALL.to_vec(),
    };
    show(&state, &shown, &mut context.output)
}

async fn set(
    annals: &Annals,
    setting: Setting,
    value: &str,
    args: &cli::Settings,
    output: &mut Output,
) -> Result<(), CliError> {
    let command = SetSetting::new(setting, value);
    let request = Request::new(args.who.decider(output)?, command);
    annals.execute(request).await?;
    show(&annals.inbox().settings().await?, &[setting], output)
}

fn show(state: &State, shown: &[Setting], output: &mut Output) -> Result<(), CliError> {
    if output.is_json() {
        let fields = shown
            .iter()
            .map(|it| (it.to_string(), json!(state.value(*it))));
        return output.json(&Value::Object(fields.collect::<Map<String, Value>>()));
    }
    let fields: Vec<(&str, String)> = shown
        .iter()
        .map(|it| (it.as_str(), state.value(*it)))
        .collect();
    output.fields(&fields)
}
