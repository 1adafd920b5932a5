//! A recording that is imported while it grows: the same as at once.

use std::collections::BTreeMap;

use annals::projections::{CallOutcome, ToolInvocationView, Turn, TurnBody};
use annals_dialects::claude::{self, ClaudeOptions};
use annals_dialects::import::GrowingRecordings;
use annals_domain::AnyEvent;
use annals_domain::run::CallStatus;
use futures::executor::block_on;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::log::Log;
use super::recording::{Folder, Recording, story};
use crate::recorded::{assert_same, check_followed, prompts, within_lines};

pub(super) fn check_cuts(recording: &Recording, cuts: &[usize]) {
    let once = Log::of(recording);
    let mut grown = Log::empty();
    let mut events = 0;
    for cut in cuts {
        grown.grow(recording, *cut);
        events += grown.report.events_made;
    }
    grown.grow(recording, recording.lines.len());
    events += grown.report.events_made;
    assert_eq!(grown.annals.position().0, events);
    assert_same(&grown, &once, &format!("cut at {cuts:?}"));
    assert_eq!(grown.report.waiting, once.report.waiting);
    // And there is nothing left to add.
    let end = grown.annals.position();
    grown.grow(recording, recording.lines.len());
    assert_eq!(
        (grown.annals.position(), grown.report.events_made),
        (end, 0)
    );
    let lengths = cuts.iter().map(|cut| recording.file(*cut).len());
    let bytes = recording.file(recording.lines.len());
    check_followed(
        "claude",
        ("recording.jsonl", bytes.as_bytes()),
        lengths,
        &once,
    );
}

/// Followed from line to line, and within each, it is the same.
#[test]
fn followed_line_by_line_it_is_the_same() {
    let story = story();
    let bytes = story.file(story.lines.len());
    let bytes = bytes.as_bytes();
    let file = ("recording.jsonl", bytes);
    check_followed("claude", file, within_lines(bytes), &Log::of(&story));
}

/// A file that is shorter than before, or another one of the same name or the same length, is read from its beginning.
#[test]
fn a_recording_that_is_another_one_is_read_from_its_beginning() {
    let (mut first, mut second, mut short) =
        (Recording::of("s"), Recording::of("t"), Recording::of("u"));
    first.user(json!("Do this")).text("m1", "Done.");
    second.user(json!("Do that")).text("m2", "Done.");
    short.user(json!("Do it"));
    let [first, second, short] = [first, second, short].map(|it| it.file(it.lines.len()));
    assert_eq!(first.len(), second.len());
    let (folder, log) = (Folder::new(), Log::empty());
    let options = ClaudeOptions::default();
    let mut growing = GrowingRecordings::new(&log.annals, "claude", &options).unwrap();
    let own = folder.write("r.jsonl", "");
    let mut lines = |bytes: &str, is_replaced: bool| {
        let path = folder.write(if is_replaced { "new" } else { "r.jsonl" }, bytes);
        std::fs::rename(path, &own).unwrap();
        let report = block_on(growing.grown(&own, &mut |_| {})).unwrap();
        (report.records_read, report.events_made > 0)
    };
    assert_eq!(lines(&first, false), (2, true));
    assert_eq!(lines(&first, false), (0, false));
    assert_eq!(lines(&second, false), (2, true), "written over");
    assert_eq!(lines(&second, true), (2, false), "another file");
    assert_eq!(lines(&short, false), (1, true), "shorter");
    assert_eq!(
        lines(&(short.clone() + &first), false),
        (2, false),
        "longer"
    );
    drop(growing);
    assert_eq!(prompts(&log), ["Do this", "Do that", "Do it"]);
}

#[test]
fn cut_at_any_line_it_is_the_same() {
    let story = story();
    for cut in 0..=story.lines.len() {
        check_cuts(&story, &[cut]);
    }
}

/// Cut at a line, killed while that is imported, and then imported as a whole.
pub(super) fn check_kills(
    recording: &Recording,
    cut: usize,
    kills: impl IntoIterator<Item = usize>,
) {
    let once = Log::of(recording);
    let mut grown = Log::empty();
    grown.grow(recording, cut);
    for batches in kills {
        let mut killed = grown.killed_after(batches);
        killed.grow(recording, recording.lines.len());
        let place = format!("{batches} batches of {cut} lines");
        assert_same(&killed, &once, &place);
    }
}

#[test]
fn killed_between_any_two_batches_it_is_the_same() {
    let story = story();
    let lines = story.lines.len();
    check_kills(&story, lines, 0..Log::of(&story).batches());
}

/// What is context alone waits for the session's first work. A kill between that work's two batches, the
/// session's beginning and the frame, must not let it come first.
#[test]
fn what_is_held_comes_behind_the_work_that_it_waited_for_after_a_kill_too() {
    let mut recording = Recording::of("s");
    recording
        .raw(json!({ "type": "summary", "summary": "What was before", "leafUuid": "leaf" }))
        .user(json!("Do it"))
        .text("m1", "Done.");
    let once = Log::of(&recording);
    assert_eq!(once.frames()[0], "intent_analysis: Do it");
    check_kills(&recording, recording.lines.len(), 0..once.batches());
}

/// Tokens are recorded when a file ends. A message that has nothing else must not begin anything there.
#[test]
fn a_message_of_tokens_alone_begins_what_it_begins_at_its_line() {
    let mut recording = Recording::of("s");
    recording
        .user(json!("Do it"))
        .text("m1", " \n")
        .user(json!("Go on"))
        .text("m2", "Done.");
    for cut in 0..=recording.lines.len() {
        check_cuts(&recording, &[cut]);
    }
}

#[test]
fn a_half_written_last_line_is_read_when_it_is_whole() {
    let story = story();
    let folder = Folder::new();
    let whole = story.file(99);
    let path = folder.write("r.jsonl", &whole[..whole.len() - 20]);
    let mut log = Log::empty();
    log.report = log.try_import(&path, &Default::default()).unwrap();
    assert_eq!(log.report.broken_count, 1);
    assert_eq!(log.report.broken[0].line, 18);
    folder.write("r.jsonl", &whole);
    log.import(&path);
    assert_same(&log, &Log::of(&story), "whole");
}

/// A line of a random session; the numbers choose messages and calls, so that
/// they repeat, alternate and go unanswered.
#[derive(Debug, Clone)]
enum Step {
    Prompt,
    Command,
    Text(u8, u64),
    Blank(u8, u64),
    Summary(u8),
    Call(u8, u8, u64),
    Result(u8),
    Side(u8),
    Main,
    Compaction,
    Again(u8),
    Novelty,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => Just(Step::Prompt),
        1 => Just(Step::Command),
        3 => (0..6u8, 0..9u64).prop_map(|(m, n)| Step::Text(m, n)),
        1 => (0..6u8, 0..9u64).prop_map(|(m, n)| Step::Blank(m, n)),
        1 => any::<u8>().prop_map(Step::Summary),
        4 => (0..6u8, 0..8u8, 0..9u64).prop_map(|(m, t, n)| Step::Call(m, t, n)),
        4 => (0..8u8).prop_map(Step::Result),
        1 => (0..2u8).prop_map(Step::Side),
        2 => Just(Step::Main),
        1 => Just(Step::Compaction),
        1 => any::<u8>().prop_map(Step::Again),
        1 => Just(Step::Novelty),
    ]
}

/// A recording of random lines. A message's tokens never shrink, and no two
/// chains share messages or calls.
fn recording(steps: &[Step]) -> Recording {
    let mut recording = Recording::of("r");
    let mut tokens: BTreeMap<String, u64> = BTreeMap::new();
    let mut chain = "main".to_owned();
    let mut says = |recording: &mut Recording, message: String, more: u64, part: Value| {
        let output = tokens.entry(message.clone()).or_default();
        *output += more;
        recording.says(&message, part, [3, 2, 1, *output]);
    };
    for step in steps {
        let of_chain = |letter: &str, n: &u8| format!("{letter}{n}-{chain}");
        match step {
            Step::Text(message, more) => {
                let part = json!({ "type": "text", "text": "t" });
                says(&mut recording, of_chain("m", message), *more, part);
            }
            Step::Blank(message, more) => {
                let part = json!({ "type": "text", "text": " \n" });
                says(&mut recording, of_chain("m", message), *more, part);
            }
            Step::Summary(leaf) => {
                let leaf = format!("leaf-{leaf}");
                recording.raw(json!({ "type": "summary", "summary": leaf, "leafUuid": leaf }));
            }
            Step::Call(message, call, more) => {
                let tool = ["Bash", "Edit", "Read"][usize::from(call % 3)];
                let input = json!({ "file_path": format!("/f{}", call / 3), "old_string": "a", "new_string": "b" });
                let part = json!({ "type": "tool_use", "id": of_chain("t", call), "name": tool, "input": input });
                says(&mut recording, of_chain("m", message), *more, part);
            }
            // Every result of a call says the same: another one would be named.
            Step::Result(call) => {
                let is_error = call % 2 == 1;
                recording.result(&of_chain("t", call), json!("done"), is_error);
            }
            Step::Side(agent) => {
                chain = format!("a{agent}");
                recording.on_side(json!(chain));
            }
            Step::Main => {
                chain = "main".to_owned();
                recording.on_main();
            }
            Step::Again(line) => {
                let lines = &recording.lines;
                let line = lines.get(usize::from(*line) % lines.len().max(1)).cloned();
                line.into_iter().for_each(|line| {
                    recording.raw(line);
                });
            }
            Step::Prompt => {
                recording.user(json!("Do more"));
            }
            Step::Command => {
                recording.user(json!("<command-name>/x</command-name>"));
            }
            Step::Compaction => {
                recording.line("system", json!({ "subtype": "compact_boundary" }));
            }
            Step::Novelty => {
                recording.raw(json!({ "type": "novelty", "x": Value::Null }));
            }
        }
    }
    recording
}

proptest! {
    #![proptest_config(crate::cases(64))]

    #[test]
    fn random_sessions_cut_anywhere_are_the_same(
        steps in prop::collection::vec(step(), 1..40),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 1..4),
    ) {
        let recording = recording(&steps);
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(recording.lines.len() + 1)).collect();
        cuts.sort_unstable();
        check_cuts(&recording, &cuts);
    }

    #[test]
    fn random_sessions_followed_from_anywhere_are_the_same(
        steps in prop::collection::vec(step(), 1..40),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 1..12),
    ) {
        let recording = recording(&steps);
        let bytes = recording.file(recording.lines.len());
        let bytes = bytes.as_bytes();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        cuts.sort_unstable();
        check_followed("claude", ("recording.jsonl", bytes), cuts, &Log::of(&recording));
    }

    #[test]
    fn random_sessions_killed_anywhere_are_the_same(
        steps in prop::collection::vec(step(), 1..30),
        cut in any::<prop::sample::Index>(),
        kills in prop::collection::vec(0..60_usize, 1..4),
    ) {
        let recording = recording(&steps);
        check_kills(&recording, cut.index(recording.lines.len() + 1), kills);
    }
}

/// A recording that goes on in another file: what it refines is in the log.
#[test]
fn prompts_refine_the_one_before_also_across_files() {
    let mut recording = Recording::of("s");
    for prompt in ["one", "two", "three", "four"] {
        recording.user(json!(prompt)).says(
            prompt,
            json!({ "type": "text", "text": "done" }),
            [1, 0, 0, 1],
        );
    }
    let mut log = Log::empty();
    for piece in recording.lines.chunks(4) {
        let mut part = Recording::of("s");
        for line in piece {
            part.raw(line.clone());
        }
        log.grow(&part, part.lines.len());
    }
    let intents = log
        .entries()
        .into_iter()
        .filter_map(|entry| match entry.event {
            AnyEvent::Intent(annals_domain::intent::Event::Submitted(event)) => {
                Some((entry.stream.id, event.refines.map(|id| id.0)))
            }
            _ => None,
        });
    let intents: Vec<_> = intents.collect();
    assert_eq!(intents.len(), 4);
    for pair in intents.windows(2) {
        assert_eq!(pair[1].1, Some(pair[0].0), "{intents:?}");
    }
}

/// The call ends with its result, which is not "already there".
#[test]
fn a_result_that_comes_after_its_call_was_given_up_ends_it() {
    let mut recording = Recording::of("s");
    recording
        .user(json!("Go"))
        .calls("m1", "t1", "Bash", json!({ "command": "make" }))
        .result("t1", json!("built"), false)
        .with(json!({ "toolUseResult": { "stdout": "built" } }));
    let folder = Folder::new();
    let path = folder.write("r.jsonl", recording.file(2));
    let mut log = Log::empty();
    let ended = ClaudeOptions::default().with_ended(true);
    log.report = log.try_import(&path, &ended).unwrap();
    assert_eq!(log.report.imported, 2);
    for (imported, there) in [(1, 2), (0, 3)] {
        log.grow(&recording, 9);
        let report = &log.report;
        assert_eq!(
            (report.imported, report.already_there),
            (imported, there),
            "{report}"
        );
        assert_eq!(report.waiting, 0);
        let kept = [imported, 0, 0];
        assert_eq!(log.fates("message.content[].content"), kept, "{report}");
        assert_eq!(log.fates("toolUseResult.stdout"), [0, 0, imported]);
        assert_eq!(log.has_note("after its call was given up"), imported > 0);
    }
    assert_eq!(log.frames(), ["intent_analysis: Go", "tool_call: built"]);
    let call: ToolInvocationView = log.get(claude::ids().tool("t1").invocation);
    assert_eq!(call.status(), CallStatus::Ok);
    assert_eq!(call.result_summary.unwrap().to_string(), "built");
    let turns = log.turns("s");
    let calls = turns.iter().filter_map(|turn| match &turn.body {
        TurnBody::ToolCall(call) => Some((call.outcome, call.result.as_ref()?.text.to_string())),
        _ => None,
    });
    let expected = (CallOutcome::Ok, "built".to_owned());
    assert_eq!(calls.collect::<Vec<_>>(), [expected]);
    assert_eq!(turns.len(), 2, "nothing stands beside the call: {turns:?}");
}

/// A session goes on in another file, also between a call and its result.
#[test]
fn files_of_a_session_that_are_imported_one_by_one_are_one_conversation() {
    let recording = story();
    let length = recording.lines.len();
    let together = Log::of(&recording).turns("story");
    // A summary is of the session that follows in its file. The last call is given up, which takes its own file to show.
    for cut in 3..length - 4 {
        let (mut first, mut second) = (Recording::of("s"), Recording::of("s"));
        for (index, line) in recording.lines.iter().enumerate() {
            match index < cut {
                true => first.raw(line.clone()),
                false => second.raw(line.clone()),
            };
        }
        let mut log = Log::empty();
        log.grow(&first, length);
        log.grow(&second, length);
        let said = |turns: &[Turn]| -> Vec<String> {
            let said = turns.iter().map(|turn| match &turn.body {
                TurnBody::ToolCall(call) => {
                    format!(
                        "{} {:?} {:?} {:?}",
                        call.tool, call.args, call.result, call.outcome
                    )
                }
                body => format!("{body:?}"),
            });
            said.collect()
        };
        assert_eq!(
            said(&log.turns("story")),
            said(&together),
            "cut behind {cut}"
        );
    }
}

/// A late result says whether the call worked; of an edit that did, the files count.
#[test]
fn a_late_result_has_the_status_of_the_call() {
    for (is_error, expected) in [(true, CallOutcome::Failed), (false, CallOutcome::Ok)] {
        let mut recording = Recording::of("s");
        let edit = json!({ "file_path": "/f", "old_string": "a", "new_string": "b" });
        recording
            .user(json!("Go"))
            .calls("m1", "t1", "Edit", edit)
            .result("t1", json!("the end"), is_error);
        let folder = Folder::new();
        let path = folder.write("r.jsonl", recording.file(2));
        let mut log = Log::empty();
        let ended = ClaudeOptions::default().with_ended(true);
        log.try_import(&path, &ended).unwrap();
        for _ in 0..2 {
            log.grow(&recording, 9);
        }
        assert_eq!(log.report.events_made, 0, "{}", log.report);
        let turns = log.turns("s");
        let [_, turn] = turns.as_slice() else {
            panic!("{turns:?}");
        };
        let TurnBody::ToolCall(call) = &turn.body else {
            panic!("{turn:?}");
        };
        assert_eq!(call.outcome, expected);
        assert_eq!(call.result.as_ref().unwrap().text.to_string(), "the end");
        let made = call.edits.iter().filter(|edit| !edit.rejected).count();
        assert_eq!(made, usize::from(!is_error), "{call:?}");
    }
}

#[test]
fn another_result_of_an_answered_call_is_a_frame_and_a_copy_is_none() {
    let mut recording = Recording::of("s");
    recording
        .user(json!("Go"))
        .calls("m1", "t1", "Bash", json!({ "command": "make" }))
        .result("t1", json!("built"), false)
        .result("t1", json!("built"), false)
        .result("t1", json!("broken"), true);
    let mut log = Log::empty();
    for (imported, there) in [(4, 1), (0, 5)] {
        log.grow(&recording, 9);
        let report = &log.report;
        let counts = (report.imported, report.already_there);
        assert_eq!(counts, (imported, there), "{report}");
        assert_eq!(log.has_note("another result of a tool call"), imported > 0);
    }
    assert!(log.frames().contains(&"tool_call: broken".to_owned()));
    let call: ToolInvocationView = log.get(claude::ids().tool("t1").invocation);
    assert_eq!(call.status(), CallStatus::Ok);
}

/// The same where the recording itself shows that the call was given up.
#[test]
fn a_late_result_is_the_same_in_one_import_and_in_several() {
    let mut recording = Recording::of("s");
    recording
        .user(json!("Go"))
        .calls(
            "m1",
            "t1",
            "Edit",
            json!({ "file_path": "/f", "old_string": "a", "new_string": "b" }),
        )
        .user(json!("Never mind"))
        .text("m2", "All right.")
        .result("t1", json!("too late"), true)
        .result("t1", json!("and once more"), false);
    let log = Log::of(&recording);
    assert_eq!(
        (log.report.imported, log.report.already_there),
        (6, 0),
        "{}",
        log.report
    );
    assert_eq!(log.fates("message.content[].is_error"), [0, 0, 1]);
    for note in [
        "after its call was given up",
        "another result of a tool call",
    ] {
        assert!(log.has_note(note), "{note}: {}", log.report);
    }
    let frames = log.frames();
    assert!(
        frames.contains(&"tool_call: too late".to_owned()),
        "{frames:?}"
    );
    for cut in 0..=recording.lines.len() {
        check_cuts(&recording, &[cut]);
    }
}
