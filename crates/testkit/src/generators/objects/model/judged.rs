//! What is demanded of a command, whatever it is about.

use annals_domain::ContentPart;

/// Refused, or whether something happens.
pub(super) type Judged = Option<bool>;

/// Refused unless it holds.
pub(super) fn demand(holds: bool) -> Option<()> {
    holds.then_some(())
}

pub(super) fn text(text: &str) -> Option<()> {
    demand(!text.trim().is_empty())
}

/// Each part has a name of its own.
pub(super) fn parts(parts: &[ContentPart]) -> Option<()> {
    parts.iter().try_for_each(|part| text(&part.name))?;
    let mut names: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
    names.sort_unstable();
    demand(names.windows(2).all(|two| two[0] != two[1]))
}
