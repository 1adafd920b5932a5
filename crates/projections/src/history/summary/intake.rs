//! What happened on Forge's axis, in one line.

use annals_domain::intent::{
    Approved, Approver, ClarificationRequested, Classified, RiskBasis, TakenIn, TypeBasis,
};
use annals_domain::observation::{Processed, Recorded};
use annals_domain::task::{Planned, ReviewRecorded};
use annals_domain::{observation, settings};

use super::words::{because, count, excerpt, metadata, quoted, redacted, short};
use crate::Entry;

pub(super) fn settings(event: &settings::Event, entry: &Entry) -> String {
    let mut state = settings::State::default();
    settings::evolve(&mut state, event);
    match event {
        settings::Event::Set(set) => format!("{} -> {}", set.setting, state.value(set.setting)),
        settings::Event::BudgetSet(event) => {
            let budget = state.budgets.first().map(ToString::to_string);
            let budget = budget.unwrap_or_default();
            format!("budget {budget}, over it: {}", event.then)
        }
        settings::Event::BudgetRemoved(event) => match &event.project {
            Some(project) => format!("budget a {} for {project} removed", event.period),
            None => format!("budget a {} for all projects removed", event.period),
        },
        settings::Event::Redacted(event) => redacted(event, entry),
    }
}

pub(super) fn observation(event: &observation::Event, entry: &Entry) -> String {
    use observation::Event;
    match event {
        Event::Recorded(event) => observed(event, entry),
        Event::Processed(event) => processed(event, entry),
        Event::MetadataSet(event) => metadata(event),
        Event::Redacted(event) => redacted(event, entry),
    }
}

fn observed(event: &Recorded, entry: &Entry) -> String {
    let mut line = format!("{} {}", event.kind, quoted(entry, event.text));
    let pieces = event.evidence.len();
    if pieces > 0 {
        line.push_str(&format!(
            ", with {}",
            count(pieces, "piece of evidence", "pieces of evidence")
        ));
    }
    let about: Vec<String> = event.about.iter().map(|it| short(it.object)).collect();
    if !about.is_empty() {
        line.push_str(&format!(", about {}", about.join(", ")));
    }
    line
}

fn processed(event: &Processed, entry: &Entry) -> String {
    let led = match event.intent {
        Some(intent) => format!("led to intent {}", short(intent)),
        None => "nothing to do".to_owned(),
    };
    format!("processed, {led}{}", because(entry, event.reason))
}

pub(super) fn taken_in(event: &TakenIn) -> String {
    let child = event.child_of.map(|id| format!(", part of {}", short(id)));
    let after = match event.depends_on.as_slice() {
        [] => String::new(),
        others => {
            let ids: Vec<String> = others.iter().map(|id| short(*id)).collect();
            format!(", after {}", ids.join(", "))
        }
    };
    let cause = event
        .observation
        .map(|id| format!(", because of observation {}", short(id)));
    format!(
        "proposed by {}{}{after}{}",
        event.source,
        child.unwrap_or_default(),
        cause.unwrap_or_default()
    )
}

/// The type and the risk, each with what decided it.
pub(super) fn classified(event: &Classified, entry: &Entry) -> String {
    let mut parts = Vec::new();
    if let Some(work_type) = &event.work_type {
        let word = event.type_word.map(|slot| quoted(entry, slot));
        let by = match event.type_basis {
            Some(TypeBasis::Label) => format!(" (label {})", word.unwrap_or_default()),
            Some(TypeBasis::Keyword) => format!(" (word {})", word.unwrap_or_default()),
            Some(basis) => format!(" ({basis})"),
            None => String::new(),
        };
        parts.push(format!("type {work_type}{by}"));
    }
    if let Some(risk) = event.risk {
        let word = event.risk_word.map(|slot| quoted(entry, slot));
        let by = match event.risk_basis {
            Some(RiskBasis::HighWord) => format!(" (word {})", word.unwrap_or_default()),
            Some(basis) => format!(" ({basis})"),
            None => String::new(),
        };
        parts.push(format!("risk {risk}{by}"));
    }
    format!("{}{}", parts.join(", "), because(entry, event.reason))
}

pub(super) fn approved(event: &Approved, entry: &Entry) -> String {
    let by = match event.by {
        Approver::Actor => "",
        Approver::System => " by the system, as its risk needs no approval by a person",
    };
    format!("approved{by}{}", because(entry, event.reason))
}

pub(super) fn asked(event: &ClarificationRequested, entry: &Entry) -> String {
    let questions = entry.texts(&event.questions);
    let shown: Vec<String> = questions.iter().map(excerpt).collect();
    format!("asked: {}", shown.join(" "))
}

pub(super) fn planned(event: &Planned, entry: &Entry) -> String {
    let mut parts = Vec::new();
    parts.extend(event.alias.map(|alias| quoted(entry, alias)));
    parts.extend(event.complexity.map(|it| format!("complexity {it}")));
    let steps = event.implementation_steps.len();
    parts.extend((steps > 0).then(|| count(steps, "step", "steps")));
    let instead = event
        .supersedes
        .map(|id| format!("instead of task {}", short(id)));
    parts.extend(instead);
    match parts.is_empty() {
        true => "planned".to_owned(),
        false => format!("planned: {}", parts.join(", ")),
    }
}

pub(super) fn reviewed(event: &ReviewRecorded, entry: &Entry) -> String {
    let issues: Vec<String> = entry.texts(&event.issues).iter().map(excerpt).collect();
    match issues.is_empty() {
        true => format!("review {}", event.verdict),
        false => format!("review {}: {}", event.verdict, issues.join(" ")),
    }
}
