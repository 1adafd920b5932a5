//! What `tui` takes.

use clap::Args;

use super::reading::{Moment, Zone};

#[derive(Debug, Args)]
#[command(after_help = "\
Browses sessions, conversations and objects: fields, runs as a timeline, context windows and diffs. The arrow keys move \
through time, `t` goes to a position or a time, `?` lists the keys. New events appear as they come.

It only reads, and needs a terminal. For pipes use `annals ls`, `annals show` and `annals log`.

Examples:
  annals tui
  annals tui --at yesterday
  annals tui @last
  annals tui 1a2b3c4d --at 1000")]
pub(crate) struct Tui {
    /// The session or object to open [default: the lists]
    #[arg(value_name = "ID")]
    pub(crate) id: Option<String>,
    #[command(flatten)]
    pub(crate) moment: Moment,
    #[command(flatten)]
    pub(crate) zone: Zone,
}
