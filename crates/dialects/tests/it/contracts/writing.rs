//! How objects are written: names, order, words, durations, times, bytes.

use annals_dialects::contracts::{Object, Style, read, write};
use annals_domain::session::{
    ArtifactKind, CommandKind, CommandResult, RateLimits, SessionStatus, TaskPlan,
};

use super::{again, json, object};

const REPO: &str = r#""repo":{"name":"n","path":"p"}"#;

/// The properties of a text in their order, those of objects inside included.
fn names(text: &str) -> Vec<&str> {
    let lines = text.lines().map(str::trim);
    let pairs = lines.filter_map(|line| line.strip_prefix('"')?.split_once("\": "));
    pairs.map(|(name, _)| name).collect()
}

#[test]
fn what_an_object_says_comes_before_what_all_have() {
    let text = format!(
        r#"{{"kind":"Commit","correlation":{{"planNodeId":"n","parentCommandId":"{id}","commandId":"{id}","sessionId":"{id}"}},"id":"{id}","amend":true,"includePaths":["a"],"message":"m","repo":{{"path":"p","name":"n"}}}}"#,
        id = super::COMMAND
    );
    let written = object(&text).write(Style::Pretty).unwrap();
    assert_eq!(
        names(&written),
        [
            "repo",
            "name",
            "path",
            "message",
            "includePaths",
            "amend",
            "id",
            "correlation",
            "sessionId",
            "commandId",
            "parentCommandId",
            "planNodeId",
            "kind"
        ]
    );
}

#[test]
fn names_are_in_camel_case() {
    let text = r#"{"CALLSPERMINUTE":1,"BURST":2,"PERCOMMANDCAPS":{"Run_tests":3}}"#;
    let limits = read::<RateLimits>(text).unwrap().value;
    assert_eq!(
        write(&limits, Style::Compact).unwrap(),
        r#"{"callsPerMinute":1,"burst":2,"perCommandCaps":{"Run_tests":3}}"#
    );
}

#[test]
fn the_long_form_is_indented_by_two_spaces_and_closes_what_is_empty_at_once() {
    let plan = r#"{"nodes":[{"id":"a","title":"t","dependsOn":[],"tags":["x","y"]}]}"#;
    let plan = read::<TaskPlan>(plan).unwrap().value;
    assert_eq!(
        write(&plan, Style::Pretty).unwrap(),
        r#"{
  "nodes": [
    {
      "id": "a",
      "title": "t",
      "dependsOn": [],
      "tags": [
        "x",
        "y"
      ]
    }
  ]
}"#
    );
    assert_eq!(write(&RateLimits::default(), Style::Pretty).unwrap(), "{}");
}

#[test]
fn every_word_of_every_enum_comes_back() {
    for status in SessionStatus::ALL {
        let text = json("SessionStatusChanged", &format!(r#""status":"{status}""#));
        assert_eq!(again(&text), text);
    }
    for outcome in CommandResult::ALL {
        let id = super::COMMAND;
        let properties = format!(r#""commandId":"{id}","outcome":"{outcome}""#);
        let text = json("CommandCompleted", &properties);
        assert_eq!(again(&text), text);
    }
    for kind in ArtifactKind::ALL {
        let properties = format!(r#""artifact":{{"kind":"{kind}","name":"n"}}"#);
        let text = json("ArtifactAvailable", &properties);
        assert_eq!(again(&text), text);
    }
    let pascal = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_uppercase())
            && word.bytes().all(|b| b.is_ascii_alphabetic())
    };
    let words = SessionStatus::ALL.iter().map(|word| word.as_str());
    let words = words.chain(CommandResult::ALL.iter().map(|word| word.as_str()));
    let words = words.chain(ArtifactKind::ALL.iter().map(|word| word.as_str()));
    let mut words = words.chain(CommandKind::ALL.iter().map(|word| word.as_str()));
    assert!(words.all(pascal));
}

#[test]
fn durations_are_hours_minutes_and_seconds() {
    for (read, written) in [
        ("00:05:00", "00:05:00"),
        ("1.00:00:00", "1.00:00:00"),
        ("-00:00:01", "-00:00:01"),
        ("0:5:0", "00:05:00"),
        ("00:00:00.25", "00:00:00.2500000"),
        ("10675199.02:48:05.4775807", "10675199.02:48:05.4775807"),
    ] {
        let text = |timeout| json("RunTests", &format!(r#"{REPO},"timeout":"{timeout}""#));
        assert_eq!(again(&text(read)), text(written));
    }
}

#[test]
fn times_are_in_utc_with_an_offset() {
    for (read, written) in [
        ("2025-11-26T12:00:00+00:00", "2025-11-26T12:00:00+00:00"),
        ("2025-11-26T12:00:00Z", "2025-11-26T12:00:00+00:00"),
        (
            "2025-11-26T12:00:00.1000000Z",
            "2025-11-26T12:00:00.1+00:00",
        ),
        (
            "2025-11-26T12:00:00.1234567Z",
            "2025-11-26T12:00:00.1234567+00:00",
        ),
        ("2025-11-26T13:00:00+01:00", "2025-11-26T12:00:00+00:00"),
    ] {
        let text = |time| {
            json(
                "Throttled",
                &format!(r#""scope":"s","retryAfter":"{time}""#),
            )
        };
        assert_eq!(again(&text(read)), text(written));
    }
}

#[test]
fn bytes_are_base64() {
    for (base64, bytes) in [("AQID", &[1, 2, 3][..]), ("", &[]), ("/+8=", &[255, 239])] {
        let text = json(
            "UploadArtifact",
            &format!(r#""name":"n","contentType":"t","content":"{base64}""#),
        );
        let Object::Command(command) = object(&text) else {
            panic!("{text}");
        };
        let annals_domain::session::CommandBody::UploadArtifact(upload) = command.body else {
            panic!("{text}");
        };
        assert_eq!(upload.content.0, bytes);
        assert_eq!(again(&text), text);
    }
}
