//! What `tui` takes.

use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
Shows lists of what the log has, and opens an object: its fields, a run as a timeline, the context
window as blocks, a patch set's diff. The arrow keys move the object through time: every page shows
it as it was after one of its events. New events appear as they come. `?` shows the keys.

It only reads. It needs a terminal; for pipes there are `list`, `show`, `history` and `log`.

Examples:
  annals tui
  annals tui 1a2b3c4d")]
pub(crate) struct Tui {
    /// The object to begin with; otherwise the lists
    #[arg(value_name = "ID")]
    pub(crate) id: Option<String>,
}
