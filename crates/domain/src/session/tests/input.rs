//! Commands as they come: JSON with the contracts' names, and what is not such a
//! command.

use super::*;

fn body(json: &str) -> Result<CommandBody, String> {
    let fields = format!(r#"{{"session": "{SESSION}", "submit": {json}}}"#);
    match Command::from_json("submit_command", &fields) {
        Ok(Command::SubmitCommand(command)) => Ok(command.submit),
        Ok(other) => panic!("{} was read", other.name()),
        Err(error) => Err(error.to_string()),
    }
}

#[track_caller]
fn check_error(json: &str, says: &str) {
    let error = body(json).expect_err("it is not a command");
    assert!(error.contains(says), "{error:?} does not say {says:?}");
}

#[test]
fn a_command_is_read_by_its_kind_with_the_contracts_names() {
    let created = r#"{"kind": "CreateBranch", "repo": {"name": "app", "path": "/app"},
        "branchName": "work"}"#;
    assert_eq!(body(created), Ok(create_branch("work")));
    let upload = r#"{"kind": "UploadArtifact", "name": "a", "contentType": "b",
        "content": "AQID", "pathHint": "c"}"#;
    let bytes = Base64Bytes(vec![1, 2, 3]);
    let expected = UploadArtifact {
        name: "a".into(),
        content_type: "b".into(),
        content: bytes,
        path_hint: Some("c".into()),
    };
    assert_eq!(body(upload), Ok(expected.into()));
}

#[test]
fn what_is_left_out_is_what_the_document_says() {
    let diff = r#"{"kind": "GetDiff", "repo": {"name": "app", "path": "/app"}}"#;
    assert_eq!(body(diff), Ok(get_diff()));
    let amend = r#"{"kind": "Commit", "repo": {"name": "app", "path": "/app"},
        "message": "work", "includePaths": ["0"]}"#;
    assert_eq!(body(amend), Ok(commit(1)));
}

#[test]
fn an_unknown_kind_is_an_error_that_names_those_that_are_known() {
    check_error(r#"{"kind": "Deploy"}"#, "Deploy");
    check_error(r#"{"kind": "Deploy"}"#, "CreateBranch");
    check_error(r#"{"kind": "push"}"#, "push");
    check_error("{}", "kind");
}

#[test]
fn a_base64_that_is_none_is_an_error() {
    for content in ["%%%", "AQI", "AQID=", "AQ ID"] {
        let json = format!(
            r#"{{"kind": "UploadArtifact", "name": "a", "contentType": "b", "content": "{content}"}}"#
        );
        check_error(&json, "invalid base64");
    }
}

#[test]
fn a_duration_that_is_none_is_an_error() {
    let json = r#"{"kind": "RunTests", "repo": {"name": "app", "path": "/app"},
        "timeout": "5 minutes"}"#;
    check_error(json, "invalid duration");
}

#[test]
fn what_is_wrong_in_a_command_is_said_with_its_place() {
    let repo = r#""repo": {"name": "app", "path": "/app"}"#;
    let upload = |content: &str| {
        format!(r#"{{"kind": "UploadArtifact", "name": "a", "contentType": "b", {content}}}"#)
    };
    let tests = format!(r#"{{"kind": "RunTests", {repo}, "timeout": "5 minutes"}}"#);
    check_error(&tests, "submit_command: submit.timeout: ");
    check_error(
        &upload(r#""content": "%""#),
        "submit_command: submit.content: ",
    );
    let nested = r#"{"kind": "Push", "branchName": "a", "repo": {"name": 1, "path": "/app"}}"#;
    check_error(nested, "submit_command: submit.repo.name: ");
    check_error(r#"{"kind": "Deploy"}"#, "submit_command: submit.kind: ");
    let two = r#"{"kind": "RunTests", "timeout": "5 minutes", "repo": {"name": 1, "path": "/a"}}"#;
    check_error(
        two,
        "submit_command: submit.repo.name: invalid type: integer `1`",
    );
}

#[test]
fn a_field_that_is_missing_or_unknown_is_an_error() {
    let repo = r#""repo": {"name": "app", "path": "/app"}"#;
    check_error(&format!(r#"{{"kind": "Push", {repo}}}"#), "branchName");
    let more = format!(r#"{{"kind": "Push", {repo}, "branchName": "a", "force": true}}"#);
    check_error(&more, "force");
}

#[test]
fn a_limit_that_is_negative_or_too_large_is_an_error() {
    for limits in [
        r#"{"callsPerMinute": -1}"#,
        r#"{"burst": -1}"#,
        r#"{"burst": 4294967296}"#,
        r#"{"perCommandCaps": {"Push": -1}}"#,
    ] {
        let read = serde_json::from_str::<RateLimits>(limits);
        assert!(read.is_err(), "{limits}");
    }
    let twice = r#"{"perCommandCaps": {"Push": 1, "Commit": 2, "Push": 99}}"#;
    let error = serde_json::from_str::<RateLimits>(twice).unwrap_err();
    assert!(
        error.to_string().contains("\"Push\" occurs twice"),
        "{error}"
    );
    let files = r#"{"name": "p", "maxFilesPerCommit": -1}"#;
    assert!(serde_json::from_str::<PolicyProfile>(files).is_err());
}
