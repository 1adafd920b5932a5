//! How objects are read: names in any case, nulls, defaults, what is unknown.

use annals_dialects::contracts::{Foreign, Object, Style, read, write};
use annals_domain::session::{PolicyProfile, RateLimits, SessionConfig, TaskPlan, WorkItemDetails};

use super::{COMMAND, SESSION, again, json, object};

const REPO: &str = r#""repo":{"name":"n","path":"p"}"#;

#[test]
fn names_of_properties_are_read_in_any_case() {
    let plain = json("Push", &format!(r#"{REPO},"branchName":"b""#));
    let other = plain
        .replace("\"repo\"", "\"REPO\"")
        .replace("\"path\"", "\"Path\"")
        .replace("\"branchName\"", "\"BranchName\"")
        .replace("\"id\"", "\"ID\"")
        .replace("\"correlation\"", "\"Correlation\"")
        .replace("\"sessionId\"", "\"sessionid\"")
        .replace("\"kind\"", "\"KIND\"");
    assert_eq!(object(&other), object(&plain));
    assert_eq!(Object::read(&other).unwrap().unknown, []);
    assert_eq!(again(&other), plain);
}

#[test]
fn of_two_properties_with_one_name_the_last_one_counts() {
    let text = json(
        "LinkPlanNode",
        r#""planNodeId":1,"planNodeId":"a","PlanNodeId":"b""#,
    );
    let read = Object::read(&text).unwrap();
    let expected = json("LinkPlanNode", r#""planNodeId":"b""#);
    assert_eq!(read.value.write(Style::Compact).unwrap(), expected);
    assert_eq!(read.unknown.len(), 1);
    assert_eq!(
        (read.unknown[0].path.as_str(), read.unknown[0].count),
        ("planNodeId", 2)
    );
    // Also where the last one is null.
    let text = json("QueryBacklog", r#""filter":"a","FILTER":null"#);
    assert_eq!(again(&text), json("QueryBacklog", ""));
}

#[test]
fn null_is_read_as_nothing_and_never_written() {
    let text = format!(
        r#"{{"repo":{{"name":"n","path":"p"}},"filter":null,"timeout":null,"id":"{COMMAND}",
        "correlation":{{"sessionId":"{SESSION}","commandId":null,"parentCommandId":null,
        "planNodeId":null}},"kind":"RunTests"}}"#
    );
    assert_eq!(again(&text), json("RunTests", REPO));
    let profile = r#"{"name":"n","commandWhitelist":null,"protectedBranches":null,
        "maxFilesPerCommit":null,"requireTestsBeforePush":null,"limits":null}"#;
    let profile = read::<PolicyProfile>(profile).unwrap().value;
    let expected = PolicyProfile::new("n");
    assert_eq!(profile, expected);
}

#[test]
fn what_is_left_out_has_its_default() {
    assert_eq!(
        again(&json("GetDiff", REPO)),
        json("GetDiff", &format!(r#"{REPO},"ref":"HEAD""#))
    );
    assert_eq!(
        again(&json("Commit", &format!(r#"{REPO},"message":"m""#))),
        json(
            "Commit",
            &format!(r#"{REPO},"message":"m","includePaths":[],"amend":false"#)
        )
    );
    assert_eq!(
        again(&json("RequestApproval", r#""reason":"r""#)),
        json("RequestApproval", r#""reason":"r","requiredActions":[]"#)
    );
    assert_eq!(
        again(&json("BacklogQueried", "")),
        json("BacklogQueried", r#""items":[]"#)
    );
    assert_eq!(read::<TaskPlan>("{}").unwrap().value.nodes, []);
    let node = r#"{"nodes":[{"id":"a","title":"t"}]}"#;
    let plan = read::<TaskPlan>(node).unwrap().value;
    assert_eq!(
        write(&plan, Style::Compact).unwrap(),
        r#"{"nodes":[{"id":"a","title":"t","dependsOn":[],"tags":[]}]}"#
    );
    let details = r#"{"id":"a","title":"t","description":"d","status":"s"}"#;
    let details = read::<WorkItemDetails>(details).unwrap().value;
    assert_eq!(details.tags, [""; 0]);
    assert_eq!(
        write(
            &read::<PolicyProfile>(r#"{"name":"n"}"#).unwrap().value,
            Style::Compact
        )
        .unwrap(),
        r#"{"name":"n","protectedBranches":[],"requireTestsBeforePush":false,"requireApprovalForPush":false}"#
    );
}

/// A list that is there and empty allows nothing; one that is not there, anything.
#[test]
fn an_empty_list_is_not_a_missing_one() {
    let text = r#"{"name":"n","commandWhitelist":[],"allowedWorkItemTransitions":[]}"#;
    let profile = read::<PolicyProfile>(text).unwrap().value;
    assert_eq!(profile.command_whitelist, Some(Vec::new()));
    assert_eq!(profile.command_blacklist, None);
    assert_eq!(profile.allowed_work_item_transitions, Some(Vec::new()));
    let limits = read::<RateLimits>(r#"{"perCommandCaps":{}}"#)
        .unwrap()
        .value;
    assert!(limits.per_command_caps.is_some_and(|caps| caps.is_empty()));
}

#[test]
fn ids_are_read_in_any_case_and_written_in_lower_case() {
    let node = "ABCDEF01-2345-6789-ABCD-EF0123456789";
    let text = json("LinkPlanNode", &format!(r#""planNodeId":"{node}""#));
    let lower = text.to_lowercase().replace("linkplannode", "LinkPlanNode");
    let lower = lower
        .replace("plannodeid", "planNodeId")
        .replace("sessionid", "sessionId");
    let upper = text.replace(COMMAND, &COMMAND.to_uppercase());
    assert_eq!(again(&upper), lower);
    // Any other id of a node stays as it is.
    for id in ["Node-1", "{ABCDEF01-2345-6789-ABCD-EF0123456789}", "ABCDEF"] {
        let text = json("LinkPlanNode", &format!(r#""planNodeId":"{id}""#));
        assert_eq!(again(&text), text);
    }
}

#[test]
fn a_configurations_node_is_written_in_lower_case_wherever_it_stands() {
    let config = format!(
        r#"{{"sessionId":"{SESSION}","planNodeId":"abcdef01-2345-6789-abcd-ef0123456789","policy":{{"name":"n","protectedBranches":[],"requireTestsBeforePush":false,"requireApprovalForPush":false}},"repo":{{"name":"n","path":"p"}},"workspace":{{"path":"w"}},"agentProfile":"a"}}"#
    );
    let mut value = read::<SessionConfig>(&config).unwrap().value;
    value.plan_node_id = value.plan_node_id.map(|id| id.to_uppercase());
    assert_eq!(write(&value, Style::Compact).unwrap(), config);
    let spawn = json("SpawnSession", &format!(r#""config":{config}"#));
    assert_eq!(again(&spawn.replace("abcdef01", "ABCDEF01")), spawn);
}

#[test]
fn unknown_properties_are_counted_by_their_paths() {
    let text = r#"{"x":1,"nodes":[{"id":"a","title":"t","y":[{"z":1}]},
        {"id":"b","title":"t","Y":2,"workItem":{"id":"c","w":null}}]}"#;
    let read = read::<TaskPlan>(text).unwrap();
    let unknown: Vec<String> = read
        .unknown
        .iter()
        .map(|field| format!("{} {}", field.path, field.count))
        .collect();
    assert_eq!(
        unknown,
        ["nodes[].Y 1", "nodes[].workItem.w 1", "nodes[].y 1", "x 1"]
    );
}

#[test]
fn an_object_of_another_kind_is_kept_as_it_came() {
    let text = format!(
        r#"  {{ "kind" : "SessionMoved", "ID": "{COMMAND}", "n": 1.50, "e": 1e2, "s": "\u00e9\/", "n": 2,
  "Correlation": {{ "SessionId": "{SESSION}" }}, "half": "\ud800" }}
"#
    );
    let read = Object::read(&text).unwrap();
    assert_eq!(read.unknown, []);
    let Object::Foreign(Foreign { kind, raw }) = &read.value else {
        panic!("{read:?}");
    };
    assert_eq!(kind, "SessionMoved");
    assert_eq!(raw.text(), text.trim());
    assert_eq!(read.value.write(Style::Pretty).unwrap(), text.trim());
    let line = read.value.write(Style::Compact).unwrap();
    assert_eq!(line, text.trim().replace("\n  ", ""));
    assert_eq!(read.value.id().unwrap().to_string(), COMMAND);
    assert_eq!(read.value.session().unwrap().to_string(), SESSION);
    let bare = object(r#"{"kind":"x","id":5,"correlation":[]}"#);
    assert_eq!((bare.id(), bare.session()), (None, None));
}

#[test]
fn a_byte_order_mark_is_passed_over() {
    let text = json("QueryBacklog", "");
    assert_eq!(again(&format!("\u{feff}{text}")), text);
    let other = r#"{"kind":"Moved"}"#;
    assert_eq!(again(&format!("\u{feff}{other}")), other);
    let limits = read::<RateLimits>("\u{feff}{}").unwrap().value;
    assert_eq!(limits, RateLimits::default());
}

/// `kind` is exact: what is written otherwise is another kind.
#[test]
fn a_kind_in_other_letters_is_another_kind() {
    for kind in ["push", "PUSH", "Push ", "command_accepted", "RepoRef"] {
        let text = json(kind, &format!(r#"{REPO},"branchName":"b""#));
        let read = object(&text);
        assert!(matches!(&read, Object::Foreign(_)), "{read:?}");
        assert_eq!(read.kind(), kind);
    }
}
