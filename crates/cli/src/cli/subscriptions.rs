//! What `subscriptions` takes.

use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
A subscription is a named reader of the log with its position. Services have theirs by the library; `annals log --follow \
--subscription NAME` is one on the command line.

Examples:
  annals log subscriptions                positions and lag
  annals log subscriptions --json
  annals log subscriptions --drop mailer  delete one: its reader starts from the beginning")]
pub(crate) struct Subscriptions {
    /// Forget a subscription
    #[arg(long, value_name = "NAME")]
    pub(crate) drop: Option<String>,
}
