//! The names in a run's events: see [`crate::AnyEvent::each_name`].

use super::{DecisionType, Event, EvidenceKind};

/// Whether an event of this type may have names.
pub(crate) fn may_have_names(event: &Event) -> bool {
    matches!(
        event,
        Event::EvidenceRecorded(_)
            | Event::EvidenceAdopted(_)
            | Event::DecisionMade(_)
            | Event::DecisionAdopted(_)
            | Event::ToolDecided(_)
    )
}

/// Gives each name of an event to `each`: kinds of evidence and types of decisions that no list
/// has; and what decided on a tool call, and its file.
pub(crate) fn each_name(event: &mut Event, each: &mut dyn FnMut(&mut String)) {
    if let Event::ToolDecided(event) = event {
        let names = [&mut event.by_name, &mut event.source];
        names.into_iter().flatten().for_each(each);
        return;
    }
    let own = match event {
        Event::EvidenceRecorded(event) => EvidenceKind::own_word(&mut event.kind),
        Event::EvidenceAdopted(event) => EvidenceKind::own_word(&mut event.evidence.kind),
        Event::DecisionMade(event) => DecisionType::own_word(&mut event.decision_type),
        Event::DecisionAdopted(event) => DecisionType::own_word(&mut event.decision.decision_type),
        _ => None,
    };
    if let Some(word) = own {
        each(word);
    }
}
