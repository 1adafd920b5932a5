//! Recordings that are as long as one may be, of parts that are as small as they can be: each part is read by
//! itself, and takes many times its length in memory. Every command has a minute on an idle machine (`make timings`), and 640 MiB.

use crate::field::{Ended, Field};

/// The most that is read at once.
const LENGTH: usize = 64 << 20;

/// What a recording of each agent begins with, up to where the list of its messages goes on.
const BEGUN: [(&str, &str, &str); 7] = [
    (
        "gemini",
        "a.json",
        r#"{"sessionId":"s","projectHash":"h","messages":["#,
    ),
    (
        "gemini",
        "a.jsonl",
        r#"{"sessionId":"s","projectHash":"h"}
{"id":"1","type":"gemini","content":"x","toolCalls":["#,
    ),
    (
        "openhands",
        "a.json",
        r#"[{"id":0,"timestamp":"2026-01-02T03:00:00Z","source":"user","action":"message","args":{"content":"x"}},"#,
    ),
    (
        "swe-agent",
        "a.traj",
        r#"{"trajectory":[{"action":"a","observation":"b"},"#,
    ),
    ("swe-agent", "a.traj", r#"{"attempts":[{"trajectory":[]},"#),
    (
        "atif",
        "a.json",
        r#"{"schema_version":"ATIF-v1.7","session_id":"s","trajectory_id":"t","steps":["#,
    ),
    (
        "copilot",
        "a.jsonl",
        r#"{"type":"session.start","id":"1","parentId":null,"data":{"sessionId":"s"}}
{"type":"user.message","id":"2","parentId":"1","data":{"x":["#,
    ),
];

fn filled(begin: &str, part: &str) -> Vec<u8> {
    let times = (LENGTH - begin.len()) / part.len();
    [begin.as_bytes(), part.repeat(times).as_bytes()].concat()
}

fn imported(field: &Field, what: &str, agent: &str, name: &str, bytes: Vec<u8>) -> Ended {
    let path = field.hostile(name, bytes);
    let ended = field.survives(what, &["import", agent, &format!("hostile/{name}")]);
    std::fs::remove_file(path).unwrap();
    assert!(!ended.is_good, "{what}: {}", ended.said);
    ended
}

#[test]
fn lists_and_objects_without_end_are_refused() {
    let field = Field::new();
    for (agent, name, begin) in BEGUN {
        for (before, part, of) in [
            ("", "0,", "lists"),
            ("", "{},", "lists"),
            ("", "[", "lists"),
            (r#"{"id":"1","type":"user","#, r#""":0,"#, "objects"),
        ] {
            let what = format!("{agent} {name} {part}");
            let bytes = filled(&format!("{begin}{before}"), part);
            let ended = imported(&field, &what, agent, name, bytes);
            let said = format!("its {of} have more than ");
            assert!(ended.said.contains(&said), "{what}: {:.2000}", ended.said);
        }
    }
}

#[test]
fn fields_without_end_are_refused() {
    let field = Field::new();
    for (agent, begin) in [
        (
            "gemini",
            r#"{"sessionId":"s","projectHash":"h","messages":[],"#,
        ),
        (
            "atif",
            r#"{"schema_version":"ATIF-v1.7","session_id":"s","trajectory_id":"t","#,
        ),
    ] {
        let mut bytes = begin.as_bytes().to_vec();
        for number in 0..1_000_000 {
            bytes.extend_from_slice(format!(r#""{number}":0,"#).as_bytes());
        }
        let ended = imported(&field, agent, agent, "a.json", bytes);
        assert!(
            ended.said.contains("more than 10000 fields"),
            "{agent}: {:.2000}",
            ended.said
        );
    }
}

/// Each attempt without a response was counted with all of its document.
#[test]
fn attempts_are_looked_at_each_by_itself() {
    let field = Field::new();
    let mut text = r#"{"attempts":["#.to_owned();
    text.push_str(&r#"{"trajectory":[]},"#.repeat(1_000));
    text.push_str(r#"{"trajectory":[]}],"x":""#);
    text.push_str(&"x".repeat(LENGTH - text.len() - 2));
    text.push_str("\"}");
    field.hostile("a.traj", text);
    let ended = field.survives("attempts", &["import", "swe-agent", "hostile/a.traj"]);
    assert!(ended.is_good, "{}", ended.said);
}

/// Each step without anything in it became two messages.
#[test]
fn steps_with_nothing_in_them_are_not_read_without_end() {
    let field = Field::new();
    let mut text =
        r#"{"info":{"exit_status":"x"},"trajectory":[{"action":"a","observation":"b"}"#.to_owned();
    text.push_str(&",{}".repeat(290_000));
    text.push_str("]}");
    let ended = imported(&field, "steps", "swe-agent", "a.traj", text.into_bytes());
    let said = "more than 50000 messages or steps, the most that is read of a run";
    assert!(ended.said.contains(said), "{:.2000}", ended.said);
}

/// A short event said of a million others that they are forgotten.
#[test]
fn condensations_forget_no_more_than_there_may_be() {
    let field = Field::new();
    let mut events = Vec::new();
    for id in 0..2_000 {
        events.push(format!(
            r#"{{"id":{id},"timestamp":"2026-01-02T03:00:00Z","source":"agent","action":"condensation","args":{{"forgotten_events_start_id":0,"forgotten_events_end_id":99999}}}}"#
        ));
    }
    field.hostile("a.json", format!("[{}]", events.join(",")));
    let ended = field.survives("condensations", &["import", "openhands", "hostile/a.json"]);
    assert!(ended.is_good, "{}", ended.said);
}
