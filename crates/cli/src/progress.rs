//! Progress bars: on standard error, and only if that is a terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

const COUNTED: &str = "{msg} {wide_bar} {human_pos}/{human_len} {eta}";
const COUNTING: &str = "{msg} {spinner} {human_pos}";

/// A bar for work of a known length, or of one that becomes known.
pub(crate) fn bar(what: &'static str, total: Option<u64>) -> ProgressBar {
    // The target draws nothing where standard error is not a terminal.
    let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr());
    bar.set_message(what);
    bar.set_style(style(if total.is_some() { COUNTED } else { COUNTING }));
    bar
}

/// A spinner for work whose length is not known.
pub(crate) fn spinner(what: &'static str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    bar.set_message(what);
    bar.set_style(style("{msg} {spinner} {elapsed}"));
    bar.enable_steady_tick(Duration::from_millis(100));
    bar
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
