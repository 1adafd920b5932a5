//! Signs of a type in a title that has no word for one: how it begins, the state that it
//! complains of, and in Japanese how it ends.

mod english;
mod japanese;
mod openings;

use super::text::Text;
use super::work::Work;

pub(super) use japanese::last_sign;
pub(super) use openings::opening;

/// The sign that a title has. A question asks for an audit.
pub(super) fn of(title: &Text) -> Option<(Work, String)> {
    let line = title.folded().lines().next().unwrap_or_default();
    if let Some((_, work_type, word)) = last_sign(line) {
        return Some((work_type, word));
    }
    english::sign(title).or_else(|| {
        let asks = line.trim_end().ends_with('?');
        asks.then(|| (Work::Audit, "?".to_owned()))
    })
}
