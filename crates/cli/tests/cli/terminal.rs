//! What is recorded cannot do anything to a terminal, and cannot look like a line of the program's
//! own, regardless of where it was recorded and which command shows it.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Place, Ran, agent, human, uuid};

/// Every kind of character that hides, moves, reorders or begins a line, and a line that looks like
/// the program's.
const HOSTILE: &str = "x\nannals: all is well\r\u{1b}[2J\u{7f}\u{9b}31m\u{202e}\u{61c}\u{feff}\u{200b}\u{2028}\u{2060}\u{ad}\u{e0041}y";
/// The same, but for the characters that no path and no name may have.
const HOSTILE_NAME: &str = "x\nannals: all is well\u{9b}31m\u{202e}\u{200b}\u{2028}y";

/// Demands that nothing hidden was printed, and that no line was forged.
#[track_caller]
fn is_harmless(args: &[&str], text: &str) {
    let hidden = text
        .chars()
        .find(|c| !matches!(c, '\n' | '\t') && annals_terminal::is_hidden(*c));
    assert_eq!(hidden, None, "{args:?}: {text:?}");
    let forged = text.lines().find(|line| line.starts_with("annals: all"));
    assert_eq!(forged, None, "{args:?}: {text}");
}

#[track_caller]
fn run(place: &Place, args: &[&str]) -> Ran {
    let ran = place.run(args);
    assert!(!ran.stderr.contains("panicked"), "{args:?}: {}", ran.stderr);
    for text in [&ran.stdout, &ran.stderr] {
        is_harmless(args, text);
    }
    let as_json: Vec<&str> = args.iter().copied().chain(["--json"]).collect();
    let machine = place.run(&as_json);
    for text in [&machine.stdout, &machine.stderr] {
        is_harmless(&as_json, text);
    }
    ran
}

/// A log with hostile text in all that a person or an agent can write.
fn hostile_log() -> (Place, Vec<String>) {
    let place = Place::with_log();
    let [intent, task, job, patch_set, pipeline, plan] =
        [1, 2, 3, 4, 5, 6].map(|n| uuid(0xb_0000_0000 + n));
    let oid = "1".repeat(40);
    let answers = place.apply(&[
        human("create_intent", json!({ "id": intent, "prompt": HOSTILE })),
        agent("analyze_intent", json!({ "intent": intent, "content": HOSTILE })),
        agent("activate_intent", json!({ "intent": intent, "reason": HOSTILE })),
        agent("create_pipeline", json!({ "id": pipeline, "max_frames": 8 })),
        agent("push_frame", json!({ "pipeline": pipeline, "kind": { "other": HOSTILE }, "summary": HOSTILE })),
        agent("create_plan", json!({ "id": plan, "intent": intent, "steps": [{ "description": HOSTILE }] })),
        agent("create_task", json!({ "id": task, "title": HOSTILE, "description": HOSTILE, "intent": intent })),
        agent("create_run", json!({ "id": job, "task": task, "commit": oid })),
        agent("start_patching", json!({ "run": job })),
        agent("record_tool_invocation", json!({ "run": job, "tool_name": HOSTILE, "args": { HOSTILE: HOSTILE }, "status": "ok" })),
        agent("propose_patch_set", json!({
            "run": job, "id": patch_set, "format": "git_diff", "diff": HOSTILE,
            "touched": [{ "path": HOSTILE, "change_type": "modify" }], "rationale": HOSTILE,
        })),
        agent("start_validation", json!({ "run": job })),
        agent("record_evidence", json!({ "run": job, "patchset_id": patch_set, "kind": { "other": HOSTILE }, "tool": HOSTILE, "command_line": HOSTILE, "exit_code": 0, "summary": HOSTILE })),
        human("set_metadata", json!({ "object": intent, "tags": { HOSTILE: HOSTILE }, "external_ids": { HOSTILE: HOSTILE } })),
        human("set_metadata", json!({ "object": task, "tags": { HOSTILE: HOSTILE }, "external_ids": { HOSTILE: HOSTILE } })),
        json!({ "command": "cancel_intent", "actor": { "kind": "human", "id": "ada", "display_name": HOSTILE }, "intent": intent, "reason": HOSTILE }),
    ]);
    // Some of them may be refused for what they say; most must be there.
    let accepted = answers.iter().filter(|answer| answer["ok"] == true);
    assert!(accepted.count() >= 12, "{answers:#?}");
    (place, vec![intent, task, job, patch_set, pipeline, plan])
}

#[test]
fn recorded_text_is_harmless_in_every_view() {
    let (place, ids) = hostile_log();
    place
        .run(&["observe", "epiphany", "--alias", "odd", HOSTILE])
        .ok();
    place.run(&["submit", HOSTILE, "--json"]);
    for args in [
        &["log"][..],
        &["log", "--verbose"],
        &["inbox"],
        &["observations"],
        &["work-items"],
        &["list", "intents"],
        &["list", "tasks"],
        &["list", "runs"],
        &["refinements"],
        &["stats"],
        &["verify"],
        &["doctor"],
        &["settings"],
        &["replay", "--all"],
        &[
            "redact",
            "--pattern",
            "well",
            "--reason",
            HOSTILE,
            "--dry-run",
        ],
    ] {
        run(&place, args);
    }
    for id in ids.iter().map(String::as_str).chain(["odd"]) {
        for args in [
            &["show", id][..],
            &["show", id, "--as", "forge"],
            &["history", id],
            &["refs", id],
            &["tree", id],
            &["ready", id],
            &["window", id],
            &["replay", id],
        ] {
            run(&place, args);
        }
    }
    let shown = run(&place, &["show", &ids[0]]).stdout;
    assert!(shown.contains("all is well"), "{shown}");
    let styled = place
        .run(&["show", &ids[0], "--color", "always"])
        .ok()
        .stdout;
    let plain = ["\u{1b}[1m", "\u{1b}[2m", "\u{1b}[0m"]
        .iter()
        .fold(styled, |text, style| text.replace(style, ""));
    is_harmless(&["--color", "always"], &plain);
}

/// What programs read is the same as before: only written in another way.
#[test]
fn json_means_what_was_recorded() {
    let (place, ids) = hostile_log();
    let shown = place.run(&["show", &ids[0], "--json"]).ok();
    let tags = shown.json()["tags"].clone();
    assert_eq!(tags, json!({ HOSTILE: HOSTILE }));
    assert!(shown.stdout.contains("\\u009b"), "{}", shown.stdout);
    assert!(shown.stdout.contains("\\udb40\\udc41"), "{}", shown.stdout);
}

#[test]
fn names_of_files_are_harmless_in_reports_and_errors() {
    let (place, _) = hostile_log();
    let drafts = place.path("project/.forge/intent-drafts");
    fs::create_dir_all(&drafts).unwrap();
    fs::write(
        drafts.join(format!("{HOSTILE_NAME}.md")),
        "---\nno: [yaml\n---\n",
    )
    .unwrap();
    fs::write(drafts.join(format!("{HOSTILE_NAME}.txt")), "a draft?").unwrap();
    let recordings = place.path("recordings");
    fs::create_dir_all(&recordings).unwrap();
    let name = format!("{HOSTILE_NAME}.jsonl");
    fs::write(recordings.join(&name), "{not json\n").unwrap();
    let secret = ["AK", "IAQWERTYUIOPASDFGH"].concat();
    fs::write(place.path(&name), format!("{{\"a\":\"{secret}\"}}\n")).unwrap();
    for args in [
        &["import", "forge", "project"][..],
        &["import", "claude", "recordings"],
        &["import", "git-internal", &name],
        &["import", "contracts", &name],
        &["import", "annals", &name],
        &["secrets", "scan", &name],
        &["show", HOSTILE],
        &["list", HOSTILE],
        &[HOSTILE],
        &["log", "--from", HOSTILE],
        &["--log", HOSTILE_NAME, "log"],
        &["key", "show", &name],
        &["verify", "--checkpoint", &name],
        &["policies", &name],
    ] {
        run(&place, args);
    }
    let report = run(&place, &["secrets", "scan", &name]);
    assert!(report.stdout.contains("all is well"), "{report:?}");
    let broken: Value = json!({ "command": HOSTILE, "actor": { "kind": "human", "id": HOSTILE } });
    let ran = place.run_with(&["apply"], format!("{broken}\n{HOSTILE}\n"));
    is_harmless(&["apply"], &ran.stdout);
    is_harmless(&["apply"], &ran.stderr);
}
