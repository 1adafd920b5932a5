//! `annals export contracts` and `annals log --as contracts`.

use annals::domain::session::TaskNode;
use annals::domain::{Kind, SessionId};
use annals::projections::ObjectView;
use annals::{Annals, At, ObjectRef};
use annals_dialects::contracts::{
    Commands, Rendered, Renderer, Style, export as export_session, show as show_entry,
};
use futures::StreamExt;

use super::follow::follow;
use super::named::{of_kind, session};
use crate::cli::{ExportContracts, Log};
use crate::context::Context;
use crate::error::CliError;
use crate::output::{Column, Output, Rows, counted};

/// Writes a session's stream.
pub(crate) async fn export(args: &ExportContracts, context: &mut Context) -> Result<(), CliError> {
    let annals = context.reader()?;
    let session = session(&annals, &args.session).await?;
    let commands = match args.commands {
        true => Commands::All,
        false => Commands::Adopted,
    };
    let style = match args.pretty {
        true => Style::Pretty,
        false => Style::Compact,
    };
    let mut writer = Writer {
        output: &mut context.output,
        style,
        incomplete: 0,
    };
    let end = annals.position();
    export_session(&annals, session, commands, end, |shown| {
        writer.write(&shown)
    })
    .await?;
    writer.output.flush()?;
    if writer.incomplete > 0 {
        writer.output.note(&format!(
            "{} of content that was removed",
            counted(writer.incomplete, "object lacks some", "objects lack some")
        ));
    }
    Ok(())
}

/// Shows what a session's events are in the contracts: those that are there, and
/// with `--follow` those that come.
pub(crate) async fn log(args: &Log, context: &mut Context) -> Result<(), CliError> {
    let annals = context.reader_at(&args.floor).await?;
    let id = session(&annals, args.session.as_deref().unwrap_or_default()).await?;
    let mut writer = Writer {
        output: &mut context.output,
        style: Style::Compact,
        incomplete: 0,
    };
    if !args.follow {
        let end = annals.position();
        let each = |shown: Rendered| writer.write(&shown);
        export_session(&annals, id, Commands::Adopted, end, each).await?;
        return writer.output.flush();
    }
    let mut renderer = Renderer::new(Commands::Adopted);
    follow(annals.sessions().events(id).boxed(), async |records| {
        for record in records {
            let entry = annals.contents().entry(record).await?;
            let shown = show_entry(&annals, &mut renderer, &entry).await?;
            shown.iter().try_for_each(|shown| writer.write(shown))?;
        }
        writer.output.flush()?;
        Ok(true)
    })
    .await
}

/// Writes objects, and counts those of which something was removed.
pub(crate) struct Writer<'a> {
    pub(crate) output: &'a mut Output,
    pub(crate) style: Style,
    pub(crate) incomplete: u64,
}

impl Writer<'_> {
    pub(crate) fn write(&mut self, shown: &Rendered) -> Result<(), CliError> {
        self.incomplete += u64::from(shown.incomplete);
        let text = shown.object.write(self.style).map_err(CliError::json)?;
        self.output.json_content(&text)
    }
}

/// Shows a session's configuration as the contracts write it.
pub(crate) fn show(view: &ObjectView, context: &mut Context) -> Result<(), CliError> {
    let not = |object: String| CliError::not_in_dialect(&object, "contracts");
    let ObjectView::Session(session) = view else {
        return Err(not(format!("{} {}", view.kind(), view.id())));
    };
    let id = SessionId(view.id());
    let config = session.config.as_ref().map(|config| config.to_config(id));
    let config =
        config.ok_or_else(|| not(format!("session {id}, whose configuration is not known,")))?;
    let style = match context.output.is_json() {
        true => Style::Compact,
        false => Style::Pretty,
    };
    let text = annals_dialects::contracts::write(&config, style).map_err(CliError::json)?;
    context.output.json_content(&text)
}

/// Shows the nodes of a session's plan that can be begun.
pub(crate) async fn ready(
    annals: &Annals,
    object: ObjectRef,
    at: At,
    context: &mut Context,
) -> Result<(), CliError> {
    of_kind(object, Kind::Session)?;
    let nodes = annals
        .sessions()
        .ready_nodes(SessionId(object.id), at)
        .await?;
    if context.output.is_json() {
        return nodes.iter().try_for_each(|node| context.output.json(node));
    }
    let mut rows = Rows::new([
        Column::left("NODE", 10),
        Column::left("AGENT", 10),
        Column::left("BRANCH", 10),
        Column::left("TITLE", 10),
    ]);
    let cells = |node: &TaskNode| {
        let or_none = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
        [
            node.id.clone(),
            or_none(&node.agent_hint),
            or_none(&node.suggested_branch),
            node.title.clone(),
        ]
    };
    rows.print(&mut context.output, nodes.iter().map(cells))
}
