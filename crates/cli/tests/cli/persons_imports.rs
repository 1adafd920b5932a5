//! What a person imported, decided or reviewed is not undone by an agent's import.

use serde_json::json;

use crate::importers::{SESSION, import, object, push, refused, repo, status, taken_over, verdict};
use crate::support::{agent, human, uuid};

#[test]
fn an_end_by_an_agents_import_lifts_no_pause_of_a_person() {
    for held in ["Paused", "NeedsApproval"] {
        let place = taken_over();
        import(&place, "human:ada", &[status(3, held)]).ok();
        import(&place, "agent:coder", &[status(4, "Completed")]).ok();
        for (number, next) in [(5, "Running"), (6, "Unknown"), (7, "Paused")] {
            let says = "only a person's import lets it run again";
            refused(&place, "agent:coder", &[status(number, next)], says);
        }
        let rejected = verdict(&place, 1, push()).to_string();
        assert!(rejected.contains("terminal state"), "{rejected}");
    }
}

#[test]
fn a_person_pauses_an_imported_session_that_an_agent_worked_in() {
    let place = taken_over();
    let tags = json!({ "object": uuid(SESSION), "tags": { "a": "b" } });
    assert_eq!(place.apply(&[agent("set_metadata", tags)])[0]["ok"], true);
    // Metadata is no work.
    import(&place, "human:ada", &[status(3, "Paused")]).ok();
    import(&place, "human:ada", &[status(4, "Running")]).ok();
    verdict(&place, 1, json!({ "kind": "GetDiff", "repo": repo() }));
    refused(&place, "human:ada", &[status(5, "Paused")], "pause_session");
    place.accept(&[human("pause_session", json!({ "session": uuid(SESSION) }))]);
    let rejected = verdict(&place, 2, push());
    assert_eq!(rejected["reason"], "Session is paused", "{rejected}");
}
