//! What approvals grant.

use super::CommandKind;
use crate::input::word_like;

/// What an approval of these actions grants. The kinds of commands are known in any case, `push` is `Push`; other words
/// are the caller's own.
pub(super) fn granted(actions: &[String]) -> Vec<String> {
    let kind = |action: &String| {
        let kinds = CommandKind::ALL.iter().map(|kind| kind.as_str());
        word_like(action, kinds).map_or_else(|| action.clone(), str::to_owned)
    };
    actions.iter().map(kind).collect()
}
