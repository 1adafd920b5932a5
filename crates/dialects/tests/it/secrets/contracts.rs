//! A session of the contracts with secrets in every field.

use annals_dialects::contracts;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures::executor::block_on;
use serde_json::{Value, json};

use super::{check, key_line, places, private_key, token};

fn object(n: u8, kind: &str, properties: Value) -> Value {
    let session = "7c9e6679-7425-40de-944b-e07fc1f90ae7";
    let command = format!("0f8fad5b-d9cb-469f-a165-7086772895{n:02}");
    let mut object = properties;
    object["id"] = command.into();
    object["correlation"] = json!({ "sessionId": session });
    object["kind"] = kind.into();
    object
}

fn objects() -> Vec<Value> {
    let repo = json!({ "name": format!("r-{}", token(1)), "path": format!("/r/{}", token(2)) });
    let upload = format!("first\nTOKEN={}\n{}", token(3), private_key(4));
    vec![
        object(
            1,
            "CreateBranch",
            json!({ "repo": repo, "branchName": format!("b-{}", token(5)) }),
        ),
        object(
            2,
            "ApplyPatch",
            json!({ "repo": repo, "patchContent": private_key(6).replace('\n', "\n+") }),
        ),
        object(
            3,
            "Commit",
            json!({ "repo": repo, "message": format!("Add {}", token(7)), "includePaths": [format!("src/{}", token(8))], "amend": false }),
        ),
        object(
            4,
            "UploadArtifact",
            json!({ "name": format!("n-{}", token(9)), "contentType": "text/plain", "content": STANDARD.encode(upload) }),
        ),
        object(
            5,
            "RequestApproval",
            json!({ "reason": format!("because {}", token(10)), "requiredActions": [token(11)] }),
        ),
        object(
            6,
            "CommandRejected",
            json!({ "commandId": "0f8fad5b-d9cb-469f-a165-708677289501", "reason": format!("no: {}", token(12)) }),
        ),
        object(
            7,
            "NothingKnown",
            json!({ "of": { token(13): [token(14)] }, "aws_secret_access_key": "aB3xQ9z/R7tK1mW5vL8p".repeat(2) }),
        ),
    ]
}

#[test]
fn nothing_of_a_sessions_secrets_is_stored() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.json");
    // Objects over several lines: places count them.
    let text: Vec<String> = objects()
        .iter()
        .map(|object| format!("{object:#}\n"))
        .collect();
    std::fs::write(&path, text.concat()).unwrap();
    let stored = [1, 2, 3, 5, 7, 8, 9, 10, 11, 12, 13, 14];
    let mut needles: Vec<String> = stored.into_iter().map(token).collect();
    needles.extend((0..3).flat_map(|line| [key_line(4, line), key_line(6, line)]));
    needles.push("aB3xQ9z/R7tK1mW5vL8p".repeat(2));
    let report = check(&needles, |annals, secrets| {
        let report = block_on(contracts::import(annals, &path, secrets, &mut |_| {})).unwrap();
        assert_eq!(report.broken, [], "{report}");
        report
    });
    let lines: Vec<String> = text.concat().lines().map(str::to_owned).collect();
    let line = 1 + lines
        .iter()
        .position(|line| line.contains(&token(7)))
        .unwrap();
    let tokens = places(&report, "github-token");
    assert!(
        tokens.contains(&format!("session.json:{line} (message)")),
        "{tokens:?}"
    );
    assert!(
        tokens
            .iter()
            .any(|place| place.ends_with("(content, line 2)")),
        "{tokens:?}"
    );
    assert_eq!(places(&report, "aws-secret-access-key").len(), 1);
}
