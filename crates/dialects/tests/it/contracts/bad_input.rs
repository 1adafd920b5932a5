//! What is not an object is refused, with its place and with what is expected.

use annals_domain::session::{PolicyProfile, RepoRef, SessionConfig, TaskPlan};

use super::{COMMAND, SESSION, json, refusal, refusal_of};

const REPO: &str = r#""repo":{"name":"n","path":"p"}"#;

fn check(text: &str, expected: &str) {
    let said = refusal(text);
    assert!(said.starts_with(expected), "{said}\nis not\n{expected}");
}

#[test]
fn what_is_not_an_object_is_refused() {
    check("", "it is not valid JSON: EOF");
    check("nonsense", "it is not valid JSON: expected");
    check(&json("Push", REPO)[..40], "it is not valid JSON: EOF");
    check(&format!("{} x", json("Push", REPO)), "it is not valid JSON");
    check(
        r#"{"kind":"Push",}"#,
        "it is not valid JSON: trailing comma",
    );
    check(r#"{/* */"kind":"Push"}"#, "it is not valid JSON");
    check("[]", "expected an object, found an array");
    check(" \"x\"", "expected an object, found a text");
    check("5", "expected an object, found a number");
    check("true", "expected an object, found true or false");
    check("null", "expected an object, found null");
}

#[test]
fn kind_says_what_an_object_is() {
    check("{}", "kind: it is missing");
    check(r#"{"kind":null}"#, "kind: it is missing");
    check(r#"{"kind":5}"#, "kind: expected a text, found a number");
    check(r#"{"kind":" "}"#, "kind: it must not be blank");
    let long = "x".repeat(201);
    let said = "kind: it has 201 bytes, and the most is 200";
    check(&format!(r#"{{"kind":"{long}"}}"#), said);
}

#[test]
fn what_is_missing_is_named_by_its_place() {
    check(&json("Push", REPO), "branchName: it is missing");
    check(
        &json("Push", r#""repo":{"name":"n"},"branchName":"b""#),
        "repo.path: it is missing",
    );
    check(&json("CommandAccepted", ""), "commandId: it is missing");
    check(
        r#"{"kind":"QueryBacklog","correlation":{}}"#,
        "id: it is missing",
    );
    check(
        &format!(r#"{{"kind":"QueryBacklog","id":"{COMMAND}"}}"#),
        "correlation: it is missing",
    );
    check(
        &json("QueryBacklog", "").replace("sessionId", "session"),
        "correlation.sessionId: it is missing",
    );
    check(
        &json(
            "PlanUpdated",
            r#""plan":{"nodes":[{"id":"a","title":"t"},{"id":"b"}]}"#,
        ),
        "plan.nodes[1].title: it is missing",
    );
    let nameless = refusal_of::<PolicyProfile>("{}");
    assert_eq!(nameless, "name: it is missing");
    let config = format!(r#"{{"sessionId":"{SESSION}","policy":{{"name":"n"}}}}"#);
    assert_eq!(refusal_of::<SessionConfig>(&config), "repo: it is missing");
}

#[test]
fn a_value_of_another_type_is_refused() {
    let push = |branch: &str| json("Push", &format!(r#"{REPO},"branchName":{branch}"#));
    let said = "branchName: expected a text, found";
    check(&push("5"), &format!("{said} a number"));
    check(&push("{}"), &format!("{said} an object"));
    check(&push("[\"b\"]"), &format!("{said} an array"));
    check(&push("true"), &format!("{said} true or false"));
    check(
        &push(r#""\ud800""#),
        "branchName: it has half of a surrogate pair",
    );
    check(
        &json("Push", r#""repo":"annals","branchName":"b""#),
        "repo: expected an object, found a text",
    );
    check(
        &json("Push", r#""repo":{"\udc00":1},"branchName":"b""#),
        "repo: it has half of a surrogate pair",
    );
    let commit = |rest| json("Commit", &format!(r#"{REPO},"message":"m",{rest}"#));
    check(
        &commit(r#""includePaths":"a""#),
        "includePaths: expected an array, found a text",
    );
    check(
        &commit(r#""includePaths":["a",null]"#),
        "includePaths[1]: expected a text, found null",
    );
    check(
        &commit(r#""amend":"false""#),
        "amend: expected true or false, found a text",
    );
    check(
        &json("BacklogQueried", r#""items":[{"id":"a"},5]"#),
        "items[0].title: it is missing",
    );
    check(
        &json("BacklogQueried", r#""items":[5]"#),
        "items[0]: expected an object, found a number",
    );
    let said = refusal_of::<RepoRef>(r#"{"name":"n","path":{}}"#);
    assert_eq!(said, "path: expected a text, found an object");
}

#[test]
fn ids_are_guids_with_hyphens() {
    for id in [
        "",
        "x",
        "0f8fad5bd9cb469fa16570867728950e",
        "{0f8fad5b-d9cb-469f-a165-70867728950e}",
        "urn:uuid:0f8fad5b-d9cb-469f-a165-70867728950e",
        "0f8fad5b-d9cb-469f-a165-70867728950g",
        "0f8fad5b-d9cb-469f-a16570867728950e-",
    ] {
        let text = json("CommandAccepted", &format!(r#""commandId":"{id}""#));
        check(
            &text,
            &format!("commandId: invalid GUID {id:?}: expected 32 hex digits"),
        );
    }
    check(
        &json("CommandAccepted", r#""commandId":7"#),
        "commandId: expected a text, found a number",
    );
    let long = json(
        "CommandAccepted",
        &format!(r#""commandId":"{}""#, "é".repeat(9_999)),
    );
    assert!(refusal(&long).len() < 300);
}

#[test]
fn words_of_an_enum_are_exact() {
    let status = |word: &str| json("SessionStatusChanged", &format!(r#""status":{word}"#));
    let known = "Unknown, Running, Paused, NeedsApproval, Error, Completed";
    for word in ["running", "Stopped", "", "Running "] {
        check(
            &status(&format!("{word:?}")),
            &format!("status: unknown session status {word:?}: expected one of {known}"),
        );
    }
    check(&status("1"), "status: expected a text, found a number");
    check(
        &json(
            "ArtifactAvailable",
            r#""artifact":{"kind":"Film","name":"n"}"#,
        ),
        "artifact.kind: unknown artifact kind \"Film\": expected one of Diff, Patch,",
    );
    let outcome = format!(r#""commandId":"{COMMAND}","outcome":"success""#);
    check(
        &json("CommandCompleted", &outcome),
        "outcome: unknown command result \"success\": expected one of Success, Failure",
    );
}

#[test]
fn limits_are_whole_numbers() {
    for number in [
        "-1",
        "1.5",
        "1.0",
        "1e3",
        "4294967296",
        "99999999999999999999",
    ] {
        let text = format!(r#"{{"name":"n","limits":{{"burst":{number}}}}}"#);
        assert_eq!(
            refusal_of::<PolicyProfile>(&text),
            format!(
                "limits.burst: invalid number {number}: expected a whole number from 0 to 4294967295"
            )
        );
    }
    assert_eq!(
        refusal_of::<PolicyProfile>(r#"{"name":"n","maxFilesPerCommit":"5"}"#),
        "maxFilesPerCommit: expected a whole number, found a text"
    );
    assert_eq!(
        refusal_of::<PolicyProfile>(r#"{"name":"n","limits":{"perCommandCaps":{"Push":-1}}}"#),
        "limits.perCommandCaps.Push: invalid number -1: expected a whole number from 0 to 4294967295"
    );
    assert_eq!(
        refusal_of::<PolicyProfile>(r#"{"name":"n","limits":{"perCommandCaps":[]}}"#),
        "limits.perCommandCaps: expected an object, found an array"
    );
}

#[test]
fn durations_times_and_bytes_are_what_they_should_be() {
    let timeout = |text| json("RunTests", &format!(r#"{REPO},"timeout":{text}"#));
    check(
        &timeout(r#""5m""#),
        "timeout: invalid duration \"5m\": expected [-][d.]hh:mm:ss[.fffffff]",
    );
    check(&timeout("300"), "timeout: expected a text, found a number");
    let retry = |text| json("Throttled", &format!(r#""scope":"s","retryAfter":{text}"#));
    check(
        &retry(r#""2025-11-26T12:00:00""#),
        "retryAfter: invalid time \"2025-11-26T12:00:00\": expected a date, T, a time of day",
    );
    check(&retry("0"), "retryAfter: expected a text, found a number");
    let upload = |content| {
        let rest = format!(r#""name":"n","contentType":"t","content":{content}"#);
        json("UploadArtifact", &rest)
    };
    check(&upload(r#""AQI""#), "content: invalid base64: ");
    check(&upload(r#""A_-=""#), "content: invalid base64: ");
    check(
        &upload("[1,2,3]"),
        "content: expected a text, found an array",
    );
}

#[test]
fn deep_nesting_is_refused_and_not_followed() {
    let nested = |depth: usize| {
        let (open, close) = ("[".repeat(depth - 1), "]".repeat(depth - 1));
        json("QueryBacklog", &format!(r#""x":{open}{close}"#))
    };
    assert!(refusal(&nested(64)).starts_with("read: "));
    check(&nested(65), "it is nested 65 deep, and the most is 64");
    check(
        &nested(1_000_000),
        "it is nested 1000000 deep, and the most is 64",
    );
    let plan = format!("{}{}", r#"{"nodes":["#.repeat(40), "]}".repeat(40));
    assert!(refusal_of::<TaskPlan>(&plan).starts_with("it is nested 80 deep"));
}
