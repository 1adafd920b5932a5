//! Cards drawn of made-up turns.

#![allow(clippy::unwrap_used)]

use std::collections::HashMap;
use std::sync::LazyLock;

use annals::domain::run::{ToolDecider, ToolVerdict};
use annals::event_log::{Digest, Position};
use annals::projections::{
    CallDecisionTurn, CallOutcome, CallResult, CallRole, FileEdit, JsonText, Text, ToolCallTurn,
    Turn, TurnBody,
};
use uuid::Uuid;

use super::costs::PromptCost;
use super::draw::{self, Drawing};
use super::samples::{HOSTILE, answer, call, prompt, tool, turn};
use crate::code::Colours;
use crate::diff_view::{self, Layout};
use crate::figures::Clock;
use crate::moment::Moment;
use crate::session_entry::{SessionEntry, sample};

const DIFF: &str = "--- a/src/a.rs\n+++ b/src/a.rs\n@@ -1,2 +1,2 @@\n fn x() {\n-let total = 1;\n+let gross = 1;\n";

static NO_COSTS: LazyLock<HashMap<u64, PromptCost>> = LazyLock::new(HashMap::new);

fn drawing(session: &SessionEntry) -> Drawing<'_> {
    let moment = Moment {
        position: Position(900),
        end: Position(900),
        is_chosen: false,
    };
    Drawing {
        session,
        prompts: &[],
        costs: &NO_COSTS,
        find: None,
        clock: Clock::new(annals::event_log::now().into()),
        moment,
        layout: Layout::Unified,
        diffs: HashMap::from([(Digest::of(DIFF.as_bytes()), Some(diff_view::parse(DIFF)))]),
        colours: Colours::new(),
        is_whole: false,
        is_file: false,
    }
}

fn drawn(turns: &[Turn]) -> String {
    let session = sample();
    draw::draw(turns, &mut drawing(&session)).into_string()
}

fn of_call(call: ToolCallTurn) -> String {
    drawn(&[turn(1, 1, TurnBody::ToolCall(Box::new(call)))])
}

fn edit(added: u32, deleted: u32) -> FileEdit {
    let mut edit = FileEdit::new("src/a.rs", "modify", Uuid::nil());
    edit.diff = Some(Digest::of(DIFF.as_bytes()));
    (edit.added, edit.deleted) = (added, deleted);
    edit
}

#[test]
fn what_needs_attention_is_open() {
    let of = |role, outcome, edits: Vec<FileEdit>| {
        let mut call = tool("Edit", r#"{"file_path":"src/a.rs"}"#, role, outcome);
        call.edits = edits;
        of_call(call).contains("id=\"call-1\" open")
    };
    assert!(of(CallRole::Command, CallOutcome::Failed, vec![]));
    assert!(of(CallRole::Command, CallOutcome::Denied, vec![]));
    assert!(of(CallRole::Command, CallOutcome::Waiting, vec![]));
    assert!(of(CallRole::Edit, CallOutcome::Ok, vec![edit(20, 20)]));
    assert!(!of(CallRole::Edit, CallOutcome::Ok, vec![edit(20, 21)]));
    assert!(!of(CallRole::Command, CallOutcome::Ok, vec![]));
    assert!(!of(CallRole::Read, CallOutcome::Ok, vec![]));
    assert!(!of(CallRole::Edit, CallOutcome::NoResult, vec![]));
    let mut new = edit(3, 0);
    new.change = "add".to_owned();
    assert!(!of(CallRole::Edit, CallOutcome::Ok, vec![new]));
}

#[test]
fn an_edit_shows_its_diff_and_not_its_arguments() {
    let args = r#"{"file_path":"/work/src/a.rs","old_string":"OLDTEXT","new_string":"NEWTEXT","replace_all":true}"#;
    let mut call = tool("Edit", args, CallRole::Edit, CallOutcome::Ok);
    call.edits = vec![edit(1, 1)];
    let html = of_call(call.clone());
    assert!(
        html.contains("<del>total</del>") && html.contains("<ins>gross</ins>"),
        "{html}"
    );
    assert!(html.contains("replace_all"), "{html}");
    assert!(!html.contains("OLDTEXT"), "{html}");
    // Without a diff the arguments say what changed.
    call.edits[0].diff = None;
    let html = of_call(call);
    assert!(
        html.contains("OLDTEXT") && html.contains("no diff of this change"),
        "{html}"
    );
}

#[test]
fn a_denial_shows_who_decided_and_the_words() {
    let mut call = tool(
        "Bash",
        r#"{"command":"git push --force"}"#,
        CallRole::Command,
        CallOutcome::Denied,
    );
    let mut decision =
        CallDecisionTurn::new(ToolVerdict::Deny, ToolDecider::Person, Position(35_512));
    decision.name = Some("Ada".to_owned());
    decision.reason = Some(Text::from("No force push <b>"));
    call.decisions = vec![decision];
    let html = of_call(call);
    for part in [
        "Denied by Ada",
        "“No force push &lt;b&gt;”",
        "href=\"/events/35512\"",
        "event 35,512",
    ] {
        assert!(html.contains(part), "{part}: {html}");
    }
    assert_eq!(html.matches("No force push").count(), 1, "{html}");
    // The line holds the command in full, so the arguments do not repeat it.
    assert_eq!(html.matches("git push --force").count(), 1, "{html}");
}

#[test]
fn a_long_result_shows_its_ends() {
    let text: Vec<String> = (1..=1_204).map(|line| format!("line {line}.")).collect();
    let mut call = tool(
        "Bash",
        r#"{"command":"make"}"#,
        CallRole::Command,
        CallOutcome::Ok,
    );
    call.result = Some(CallResult::new(text.join("\n")));
    let html = of_call(call.clone());
    for part in [
        "line 40.",
        "line 1195.",
        "line 1204.",
        "Show 1,204 lines",
        "/turns?from=1&amp;limit=1&amp;whole=1",
    ] {
        assert!(html.contains(part), "{part}");
    }
    for part in ["line 41.", "line 1194."] {
        assert!(!html.contains(part), "{part}");
    }
    let session = sample();
    let mut whole = drawing(&session);
    whole.is_whole = true;
    let turns = [turn(1, 1, TurnBody::ToolCall(Box::new(call)))];
    let html = draw::draw(&turns, &mut whole).into_string();
    assert!((1..=1_204).all(|line| html.contains(&format!("line {line}.\n"))));
}

#[test]
fn plans_and_questions_are_lists() {
    let plan = r#"{"todos":[{"content":"One","status":"completed"},{"content":"Two","status":"in_progress"},{"content":"Three","status":"pending"}]}"#;
    let html = of_call(tool("TodoWrite", plan, CallRole::Plan, CallOutcome::Ok));
    for part in ["<s>One</s>", "▸ ", "Two", "○ ", "Three"] {
        assert!(html.contains(part), "{part}: {html}");
    }
    let asked = r#"{"questions":[{"question":"Which index?","options":[{"label":"customer","description":"fast"},{"label":"status"}]}]}"#;
    let html = of_call(tool(
        "AskUserQuestion",
        asked,
        CallRole::Question,
        CallOutcome::Ok,
    ));
    assert!(
        html.contains("Which index?") && html.contains("<li>customer") && html.contains(" open"),
        "{html}"
    );
    // Arguments of another shape are shown as they are.
    let html = of_call(tool(
        "TodoWrite",
        r#"{"todos":[1,{"x":2}]}"#,
        CallRole::Plan,
        CallOutcome::Ok,
    ));
    assert!(html.contains("<dt>todos</dt>"), "{html}");
}

#[test]
fn removed_content_is_marked() {
    let mut call = tool(
        "Bash",
        r#"{"command":"x"}"#,
        CallRole::Command,
        CallOutcome::Ok,
    );
    call.args = Some(JsonText::Removed);
    call.result = Some(CallResult::new(Text::Removed));
    let answer_removed = turn(
        2,
        1,
        TurnBody::Answer {
            text: Text::Removed,
            model: None,
        },
    );
    let html = drawn(&[
        turn(1, 1, TurnBody::ToolCall(Box::new(call))),
        answer_removed,
    ]);
    for part in [
        "The arguments were removed.",
        "The result was removed.",
        "The answer was removed.",
    ] {
        assert!(html.contains(part), "{part}: {html}");
    }
}

#[test]
fn hostile_text_stays_text() {
    let text = || Text::from(HOSTILE);
    let args = serde_json::json!({ HOSTILE: HOSTILE, "todos": [{ "content": HOSTILE, "status": HOSTILE }], "question": HOSTILE, "options": [HOSTILE] }).to_string();
    let mut turns = vec![
        prompt(1, 1, HOSTILE),
        answer(2, 1, HOSTILE),
        answer(3, 1, &format!("```{HOSTILE}\n{HOSTILE}\n```")),
    ];
    for (number, role) in [
        (4, CallRole::Plan),
        (5, CallRole::Question),
        (6, CallRole::Other),
        (7, CallRole::Read),
        (8, CallRole::Read),
    ] {
        let mut call = tool(HOSTILE, &args, role, CallOutcome::Ok);
        call.result = Some(CallResult::new(HOSTILE));
        call.edits = vec![FileEdit::new(HOSTILE, HOSTILE, Uuid::nil())];
        let mut decision = CallDecisionTurn::new(ToolVerdict::Ask, ToolDecider::Rule, Position(1));
        decision.name = Some(HOSTILE.to_owned());
        decision.source = Some(HOSTILE.to_owned());
        decision.reason = Some(text());
        call.decisions = vec![decision];
        turns.push(turn(number, 1, TurnBody::ToolCall(Box::new(call))));
    }
    turns.extend([
        turn(9, 1, TurnBody::Thinking { text: text() }),
        turn(
            10,
            1,
            TurnBody::Compaction {
                text: text(),
                dropped: Some(3),
            },
        ),
        turn(
            11,
            1,
            TurnBody::SubAgent {
                session: Uuid::nil(),
                title: text(),
                call: None,
            },
        ),
        turn(12, 1, TurnBody::Interruption { text: text() }),
        turn(13, 1, TurnBody::Error { text: text() }),
        turn(
            14,
            1,
            TurnBody::Note {
                name: HOSTILE.to_owned(),
                text: text(),
            },
        ),
    ]);
    for is_file in [false, true] {
        let session = sample();
        let mut drawing = drawing(&session);
        drawing.is_file = is_file;
        let html = draw::draw(&turns, &mut drawing).into_string();
        for part in [
            "<script",
            "<img",
            "\u{202e}",
            "\u{1b}",
            " style=",
            "javascript:",
        ] {
            assert!(!html.contains(part), "{part}: {html}");
        }
        assert!(html.matches("&lt;script&gt;").count() > 20, "{html}");
    }
}

#[test]
fn reads_are_one_line_with_their_names() {
    let turns = [
        call(1, 1, "Read", CallRole::Read, CallOutcome::Ok),
        call(2, 1, "Grep", CallRole::Read, CallOutcome::Ok),
    ];
    let html = drawn(&turns);
    assert!(html.contains("2 reads and searches: a.rs, a.rs"), "{html}");
    assert!(
        html.contains("id=\"turn-1\"") && html.contains("id=\"turn-2\""),
        "{html}"
    );
}

#[test]
fn tags_of_programs_are_shown_as_what_they_mark() {
    let note = |number, name: &str, text: &str| {
        let (name, text) = (name.to_owned(), Text::from(text));
        turn(number, 1, TurnBody::Note { name, text })
    };
    let html = drawn(&[
        prompt(
            1,
            1,
            "<ide_opened_file>a.rs</ide_opened_file>\n<user_query>fix <b></user_query>",
        ),
        answer(2, 1, "<think>why</think>\nIt is **done**"),
        note(
            3,
            "system_state",
            "<command-name>/ide</command-name><command-message>ide</command-message>",
        ),
        answer(4, 1, "x"),
        note(5, "session_meta", "{\"cwd\":\"/x\"}"),
    ]);
    for part in [
        "file opened in the editor",
        "fix &lt;b&gt;",
        "<strong>done</strong>",
        "Thinking ",
        "<code>/ide</code>",
        "Metadata: session meta",
    ] {
        assert!(html.contains(part), "{part}: {html}");
    }
    for part in ["user_query", "&lt;think", "command-name", "command-message"] {
        assert!(!html.contains(part), "{part}: {html}");
    }
}

#[test]
fn a_fold_with_a_match_is_open() {
    let session = sample();
    let turns = [turn(
        1,
        1,
        TurnBody::Thinking {
            text: Text::from("Totals are OFF"),
        },
    )];
    let mut drawing = drawing(&session);
    for (find, is_open) in [("off", true), ("other", false)] {
        drawing.find = Some(find.to_owned());
        let html = draw::draw(&turns, &mut drawing).into_string();
        assert_eq!(html.contains("id=\"call-1\" open"), is_open, "{html}");
    }
}
