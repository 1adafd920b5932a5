//! Streams of other systems, imported into a log.

use std::fs;

use annals::Annals;
use annals_dialects::ImportReport;
use annals_dialects::contracts::{import, read};
use annals_dialects::secrets::Secrets;
use annals_domain::session::{
    AgentCommand, CommandBody, GetDiff, PolicyProfile, Push, RejectionRule, RepoRef, Verdict,
};
use annals_domain::{CommandId, SessionId};
use annals_event_log::{Position, Query};
use chrono::{DateTime, Utc};
use futures::executor::block_on;
use uuid::Uuid;

use super::{COMMAND, SESSION, json};

/// A session that another one spawned.
const SPAWNED: &str = "3f2504e0-4f89-41d3-9a0c-0305e82c3301";

fn log() -> Annals {
    block_on(Annals::open("memory:")).unwrap()
}

fn import_lines(annals: &Annals, lines: &[String]) -> ImportReport {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.jsonl");
    fs::write(&path, lines.join("\n")).unwrap();
    let secrets = Secrets::standard();
    let report = block_on(import(annals, &path, &secrets, &mut |_| {})).unwrap();
    assert_eq!(report.broken, [], "{report}");
    report
}

fn spawn(policy: &str) -> String {
    let place = r#""repo":{"name":"n","path":"p"},"workspace":{"path":"w"}"#;
    let config =
        format!(r#"{{"sessionId":"{SPAWNED}","policy":{policy},{place},"agentProfile":"coder"}}"#);
    json("SpawnSession", &format!(r#""config":{config}"#))
}

fn session(id: &str) -> SessionId {
    SessionId(id.parse().unwrap())
}

fn repo() -> RepoRef {
    RepoRef::new("n", "p")
}

fn diff() -> CommandBody {
    GetDiff::new(repo()).into()
}

fn push() -> CommandBody {
    Push::new(repo(), "topic").into()
}

/// What the gate says to a command of the session that was spawned.
fn verdict(annals: &Annals, number: u128, body: CommandBody) -> Verdict {
    let command = AgentCommand::new(CommandId(Uuid::from_u128(number)), body);
    let gated = block_on(annals.sessions().gate(session(SPAWNED), &command)).unwrap();
    gated.verdict
}

fn rule(verdict: Verdict) -> Option<RejectionRule> {
    match verdict {
        Verdict::Rejected { rule, .. } => rule,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_spawn_session_gives_the_session_that_it_names_its_configuration() {
    let annals = log();
    let strict = r#"{"name":"strict","commandBlacklist":["Push"]}"#;
    import_lines(&annals, &[spawn(strict)]);
    assert_eq!(verdict(&annals, 1, diff()), Verdict::Accepted);
    let rejected = rule(verdict(&annals, 2, push()));
    assert_eq!(rejected, Some(RejectionRule::InBlacklist));
    // The session that spawned it has none.
    let command = AgentCommand::new(CommandId(Uuid::from_u128(3)), diff());
    let refused = block_on(annals.sessions().gate(session(SESSION), &command)).unwrap_err();
    assert!(
        refused.to_string().contains("without its configuration"),
        "{refused}"
    );
}

#[test]
fn a_configuration_that_another_system_recorded_is_not_checked() {
    let policy = r#"{"name":" ","commandWhitelist":["diff"],"allowedWorkItemTransitions":["x"]}"#;
    let profile: PolicyProfile = read(policy).unwrap().value;
    assert!(profile.check().is_err());
    let annals = log();
    import_lines(&annals, &[spawn(policy)]);
    let rejected = rule(verdict(&annals, 1, diff()));
    assert_eq!(rejected, Some(RejectionRule::NotInWhitelist));
}

#[test]
fn all_is_recorded_at_the_time_of_the_import() {
    let status = json("SessionStatusChanged", r#""status":"Running""#).replace(COMMAND, SPAWNED);
    let annals = log();
    let before = Utc::now();
    let report = import_lines(&annals, &[json("QueryBacklog", ""), status]);
    let after = Utc::now();
    let noted = |note: &String| note.contains("all is recorded at the time of this import");
    assert!(report.notes.iter().any(noted), "{report}");
    let page = block_on(annals.log().read(Query::all(Position(1)))).unwrap();
    let records = page.records.iter();
    let times: Vec<DateTime<Utc>> = records.map(|record| record.occurred_at()).collect();
    assert_eq!(times.len(), 3);
    for time in &times {
        assert_eq!(*time, times[0]);
        assert!((before..=after).contains(time), "{before} {time} {after}");
    }
}

/// What one object is to a log that has another.
fn import_one(annals: &Annals, line: &str) -> ImportReport {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.jsonl");
    fs::write(&path, line).unwrap();
    block_on(import(annals, &path, &Secrets::standard(), &mut |_| {})).unwrap()
}

#[test]
fn a_status_that_differs_in_its_reason_alone_is_the_same() {
    let status = |properties: &str| json("SessionStatusChanged", properties);
    let annals = log();
    import_lines(
        &annals,
        &[status(
            r#""status":"Paused","reason":"Session paused: lunch""#,
        )],
    );
    let end = annals.position();
    for older in [
        r#""status":"Paused","reason":"Session paused""#,
        r#""status":"Paused""#,
    ] {
        let report = import_one(&annals, &status(older));
        assert_eq!(
            (report.already_there, report.broken_count),
            (1, 0),
            "{older}"
        );
        let note = "1 status is in the log already with another reason, which stays";
        assert!(report.notes.iter().any(|it| it == note), "{report}");
    }
    // Nothing else may differ.
    let paused = status(r#""status":"Paused","reason":"Session paused""#);
    let elsewhere = paused.replace(
        r#""correlation":{"#,
        &format!(r#""correlation":{{"commandId":"{SPAWNED}","#),
    );
    for other in [
        status(r#""status":"Running","reason":"Session paused: lunch""#),
        elsewhere,
    ] {
        let report = import_one(&annals, &other);
        let [broken] = &report.broken[..] else {
            panic!("{other}: {report}")
        };
        assert!(
            broken.reason.contains("another object with its id"),
            "{broken:?}"
        );
    }
    let rejected = |reason: &str| {
        json(
            "CommandRejected",
            &format!(r#""commandId":"{COMMAND}","reason":"{reason}""#),
        )
    };
    assert_eq!(annals.position(), end);
    // A reason of anything else is what it says.
    let annals = log();
    import_lines(&annals, &[rejected("no")]);
    assert_eq!(import_one(&annals, &rejected("never")).broken_count, 1);
}
