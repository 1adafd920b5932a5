//! What a person imported, decided or reviewed is not undone by an agent's import.

use serde_json::{Value, json};

use crate::importers::{
    PARENT, SESSION, import, object, push, refused, repo, status, submit, taken_over, verdict,
};
use crate::support::{Place, agent, human, uuid};

fn spawn(number: u64, session: u64, parent: Option<u64>, policy: Value) -> Value {
    let mut config = json!({
        "sessionId": uuid(session), "policy": policy, "repo": repo(), "workspace": { "path": "/w" },
        "agentProfile": "coder",
    });
    if let Some(parent) = parent {
        config["parentSessionId"] = json!(uuid(parent));
    }
    object(
        number,
        parent.unwrap_or(PARENT),
        "SpawnSession",
        json!({ "config": config }),
    )
}

fn lax() -> Value {
    json!({ "name": "p" })
}

fn strict() -> Value {
    json!({ "name": "p", "requireTestsBeforePush": true })
}

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
fn no_agents_import_configures_what_a_person_imported() {
    // A status alone is enough.
    let place = Place::with_log();
    import(&place, "human:ada", &[status(1, "Running")]).ok();
    let ran = import(&place, "agent:coder", &[spawn(2, SESSION, None, lax())]);
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(
        ran.stdout
            .contains("a person imported something of the session"),
        "{ran:?}"
    );
    let answer = place.apply(&[submit(1, push())])[0].clone();
    assert!(answer["error"].is_object(), "{answer}");
    // A person's configuration replaces an agent's.
    let place = Place::with_log();
    import(&place, "agent:coder", &[spawn(1, SESSION, None, lax())]).ok();
    import(&place, "human:ada", &[spawn(2, SESSION, None, strict())]).ok();
    let rejected = verdict(&place, 1, push());
    assert_eq!(
        rejected["policy_rule"], "Tests required before push",
        "{rejected}"
    );
    // One that is ignored is named, whoever imports it.
    for (number, actor) in [(3, "agent:coder"), (4, "human:ada")] {
        let ran = import(&place, actor, &[spawn(number, SESSION, None, lax())]);
        assert_eq!(ran.status, 1, "{ran:?}");
        assert!(
            ran.stdout.contains("another configuration, which stays"),
            "{ran:?}"
        );
    }
    import(&place, "human:ada", &[spawn(5, SESSION, None, strict())]).ok();
}

#[test]
fn no_agents_import_begins_a_child_of_what_a_person_imported() {
    let place = taken_over();
    let child = SESSION + 1;
    let ran = import(
        &place,
        "agent:coder",
        &[spawn(3, child, Some(SESSION), lax())],
    );
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(
        ran.stdout.contains("only a person's import configures it"),
        "{ran:?}"
    );
    import(
        &place,
        "human:ada",
        &[spawn(4, child, Some(SESSION), lax())],
    )
    .ok();
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
