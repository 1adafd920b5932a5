//! Which rules an object violates, by all that is known: the import's own objects and
//! what the log has already. The result does not depend on the pieces in which objects
//! come.

use std::collections::HashSet;

use annals::Annals;

use super::both::{Asked, Both, MANY};
use super::known::Known;
use super::object::Object;
use super::violations::{Reference, references, violations};

/// What is said against one object at most; the rest is counted.
const SAID: usize = 100;
/// How far links of the log are followed in search of cycles.
const DEEP: usize = 1_000;
/// Links of the log that are followed for it.
const LINKS: usize = 65_536;

/// What is to be said against an object, a sentence each.
pub(super) async fn judge(object: &Object, both: Both<'_>) -> Asked<Vec<String>> {
    let mut said = violations(object, both).await?;
    for Reference { field, kind, id } in references(object) {
        match both.kind(id).await? {
            Some(found) if found == kind => {}
            Some(found) => said.push(format!("{field}: {id} is of the kind {found}, not {kind}")),
            None => said.push(format!("{field}: there is no {kind} {id}")),
        }
    }
    if said.len() > SAID {
        let more = said.len() - SAID;
        said.truncate(SAID);
        said.push(format!("and {more} more"));
    }
    Ok(said)
}

/// Follows parents and dependencies from the import's objects on through the
/// log. `false` if there were more than could be followed.
pub(super) async fn lead_on(known: &mut Known, annals: &Annals) -> Asked<bool> {
    let mut left = LINKS;
    let mut seen = HashSet::new();
    let mut ends = known.ends();
    for _ in 0..DEEP {
        let mut next = Vec::new();
        for (relation, id) in ends {
            if known.kind(id).is_some() || !seen.insert((relation, id)) {
                continue;
            }
            if left == 0 {
                return Ok(false);
            }
            let named = annals.index().named(id, relation, MANY.min(left)).await?;
            left = left.saturating_sub(1 + named.len());
            next.extend(named.iter().map(|id| (relation, *id)));
            known.lead_on(relation, id, named);
        }
        if next.is_empty() {
            return Ok(true);
        }
        ends = next;
    }
    Ok(false)
}
