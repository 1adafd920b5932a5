//! `annals object why ID FIELD`: the events that made a field what it is, the newest first.

use annals::FieldHistory;

use crate::cli::Why;
use crate::commands::difference;
use crate::context::{Context, moment};
use crate::error::CliError;
use crate::output::{Output, Style, counted};

pub(crate) async fn run(args: &Why, context: &mut Context) -> Result<(), CliError> {
    let annals = context.reader_at(&args.floor).await?;
    let at = moment(&annals, args.at.as_ref()).await?;
    // The command is chosen by the field.
    let Some(field) = &args.field else {
        return Ok(());
    };
    let object = super::named::object(&annals, &args.id).await?;
    let limit = args.limit.unwrap_or(usize::MAX);
    let history = annals.past().why(object, field, at, limit).await?;
    match context.output.is_json() {
        true => context.output.json(&history),
        false => print(&history, &mut context.output),
    }
}

fn print(history: &FieldHistory, output: &mut Output) -> Result<(), CliError> {
    let title = difference::title(history.object_type, history.object_id);
    let title = output.style(Style::Bold, &format!("{title} {}", history.field));
    let now = match &history.value {
        Some(value) => difference::value(value),
        None => "not there any more".to_owned(),
    };
    output.line(&format!("{title}: {now}"))?;
    for change in &history.changes {
        let event = difference::event(&change.cause);
        output.line(&format!("  {}", output.style(Style::Dim, &event)))?;
        for part in &change.patch {
            difference::change(part, "    ", output)?;
        }
    }
    let left_out = history.total - history.changes.len() as u64;
    if left_out > 0 {
        let earlier = counted(left_out, "earlier change is", "earlier changes are");
        output.note(&format!("{earlier} left out; -n shows more"));
    }
    Ok(())
}
