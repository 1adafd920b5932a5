//! In what two of the same name differ.

use super::intent::ForgeIntent;
use super::review::ForgeReview;
use super::task::ForgeTask;

/// The fields in which two intents differ, as the files call them.
pub(super) fn of_intents(a: &ForgeIntent, b: &ForgeIntent) -> Vec<&'static str> {
    let fields = [
        ("title", a.title == b.title),
        ("body", a.body == b.body),
        ("source", a.source == b.source),
        ("type", a.work_type == b.work_type),
        ("risk", a.risk == b.risk),
        ("status", a.status == b.status),
        ("parent", a.parent == b.parent),
        ("created_at", a.created_at == b.created_at),
        ("labels", a.labels == b.labels),
        ("clarifications", a.clarifications == b.clarifications),
        ("depends_on", a.depends_on == b.depends_on),
        ("unknown keys", a.extra == b.extra),
    ];
    differing(&fields)
}

/// The fields in which two tasks of one name differ, as the files call them.
pub(super) fn of_tasks(a: &ForgeTask, b: &ForgeTask) -> Vec<&'static str> {
    let fields = [
        ("title", a.title == b.title),
        ("status", a.status == b.status),
        ("complexity", a.complexity == b.complexity),
        ("plan", a.plan == b.plan),
        ("relevant_files", a.relevant_files == b.relevant_files),
        (
            "implementation_steps",
            a.implementation_steps == b.implementation_steps,
        ),
        ("context", a.context == b.context),
        ("depends_on", a.depends_on == b.depends_on),
        ("unknown keys", a.extra == b.extra),
    ];
    differing(&fields)
}

fn differing(fields: &[(&'static str, bool)]) -> Vec<&'static str> {
    let other = fields.iter().filter(|(_, same)| !same);
    other.map(|(name, _)| *name).collect()
}

/// Whether two reviews of one task say the same.
pub(super) fn same_review(a: &ForgeReview, b: &ForgeReview) -> bool {
    a.verdict == b.verdict
        && a.issues == b.issues
        && a.suggestions == b.suggestions
        && a.extra == b.extra
}
