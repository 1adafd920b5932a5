//! What `subscriptions` takes.

use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
A subscription is a name under which something reads the log, and up to where it has read. Services have theirs by
the library; `annals log --follow --subscription NAME` is one on the command line.

Examples:
  annals subscriptions                     where each one is, and how far behind
  annals subscriptions --json
  annals subscriptions --drop mailer       forget one: by its name, all is read once more")]
pub(crate) struct Subscriptions {
    /// Forget a subscription
    #[arg(long, value_name = "NAME")]
    pub(crate) drop: Option<String>,
}
