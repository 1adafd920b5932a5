//! What waits for a person is one number: in the header, on the home page, in the inbox and on the overview.

use serde_json::json;

use crate::home::fill;
use crate::support::{Place, Viewing, uuid};

/// A session with a call that a person must allow. Returns its task.
fn ask(place: &Place, number: u64) -> String {
    let (task, run, call) = (
        uuid(0xb00 + number),
        uuid(0xc00 + number),
        uuid(0xd00 + number),
    );
    let title = format!("Session {number}");
    place.agent("create_task", json!({ "id": task, "title": title }));
    place.agent("create_run", json!({ "id": run, "task": task }));
    let command = json!({ "command": format!("rm -rf build-{number}") });
    place.agent(
        "request_tool_call",
        json!({ "run": run, "id": call, "tool_name": "Bash", "args": command }),
    );
    place.agent(
        "decide_tool_call",
        json!({ "run": run, "tool_invocation": call, "tool_name": "Bash", "verdict": "ask", "by": "rule", "by_name": "careful" }),
    );
    task
}

/// The number in the header, the one on the home page's card, and those of the inbox and the overview.
fn numbers(viewing: &Viewing) -> [u64; 4] {
    let home = viewing.get("/").body;
    let header = match home.split_once("Inbox <span class=\"count\">") {
        Some((_, rest)) => rest.split('<').next().unwrap().parse().unwrap(),
        None => 0,
    };
    let (_, card) = home
        .split_once("Waiting for you</h2><div class=\"big\">")
        .unwrap();
    let card = card.split('<').next().unwrap().parse().unwrap();
    let inbox = viewing.data("/inbox")["total"].as_u64().unwrap();
    let overview = viewing.data("/overview")["waiting_total"].as_u64().unwrap();
    [header, card, inbox, overview]
}

#[test]
fn intents_and_sessions_that_wait_are_one_number() {
    let place = Place::new();
    // A page has no cards without a session.
    fill(&place, 1);
    assert_eq!(numbers(&Viewing::of(&place)), [0; 4]);
    place.human(
        "submit_intent",
        json!({ "prompt": "Drop the table", "source": "human", "risk": "high" }),
    );
    assert_eq!(numbers(&Viewing::of(&place)), [1; 4]);
    let waiting = ask(&place, 1);
    assert_eq!(numbers(&Viewing::of(&place)), [2; 4]);
    // A contracts session that asks for an approval is one entry.
    let session = uuid(0xe02);
    let repo = json!({ "name": "app", "path": "/src/app" });
    let policy = json!({ "name": "careful", "requireApprovalForPush": true });
    let config = json!({ "sessionId": session, "policy": policy, "repo": repo,
        "workspace": { "path": "/work" }, "agentProfile": "coder" });
    place.human("create_session", json!({ "config": config }));
    let push = json!({ "kind": "Push", "repo": repo, "branchName": "release" });
    place.agent(
        "submit_command",
        json!({ "session": session, "id": uuid(0xe03), "submit": push }),
    );
    let viewing = Viewing::of(&place);
    assert_eq!(numbers(&viewing), [3; 4]);
    let home = viewing.get("/").body;
    for part in [
        "Allow <code>Bash rm -rf build-1</code>?",
        "Approval: Drop the table",
        &format!("href=\"/sessions/{waiting}\""),
    ] {
        assert!(home.contains(part), "{part}: {home}");
    }
    let inbox = viewing.data("/inbox");
    assert_eq!(inbox["sessions_total"], 1, "{inbox}");
    assert_eq!(inbox["sessions"][0]["session"]["id"], json!(waiting));
    assert_eq!(
        inbox["sessions"][0]["request"],
        json!({ "permission": "Bash rm -rf build-1" })
    );
    assert_eq!(inbox["entries"].as_array().unwrap().len(), 2);
    let page = viewing.get("/inbox").body;
    assert!(page.contains("Session: Session 1"), "{page}");
    assert!(page.contains("3 waiting for you"), "{page}");
    for number in 2..8 {
        ask(&place, number);
    }
    let viewing = Viewing::of(&place);
    assert_eq!(numbers(&viewing), [9; 4]);
    let home = viewing.get("/").body;
    assert!(home.contains("href=\"/inbox\">5 more<"), "{home}");
    // The header of a page of the past has no number of now.
    let past = viewing.get("/?at=4").body;
    assert!(!past.contains("Inbox <span class=\"count\">"), "{past}");
}
