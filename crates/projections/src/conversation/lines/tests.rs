//! Tests of turns as lines.

#![allow(clippy::unwrap_used)]

use super::*;
use crate::conversation::samples::{self, answer, conversation, diffs, turn};

fn when(at: Timestamp) -> String {
    at.to_utc().format("%H:%M:%S").to_string()
}

fn lines(turns: &[Turn], folding: Folding) -> Vec<TextLine> {
    let mut writer = LineWriter::new(folding, when);
    let mut out = Vec::new();
    for turn in turns {
        writer.turn(turn, &diffs(), &mut out);
    }
    writer.finish(&mut out);
    out
}

/// Lines as text, with marks around what is emphasized.
fn shown(lines: &[TextLine]) -> String {
    let mark = |emphasis| match emphasis {
        Emphasis::Plain => "",
        Emphasis::Strong => "*",
        Emphasis::Dim => "~",
        Emphasis::Heading => "#",
        Emphasis::Code => "`",
        Emphasis::Added => "+",
        Emphasis::Removed => "-",
    };
    let line = |line: &TextLine| {
        let spans = line.spans.iter();
        let spans = spans.map(|span| format!("{0}{1}{0}", mark(span.emphasis), span.text));
        format!(
            "{:width$}{}\n",
            "",
            spans.collect::<Vec<_>>().join("|"),
            width = line.indent
        )
    };
    lines.iter().map(line).collect()
}

#[track_caller]
fn check(folding: Folding, name: &str, expected: &str) {
    let shown = shown(&lines(&conversation(), folding));
    if std::env::var_os("UPDATE_GOLDENS").is_some() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/conversation/lines");
        std::fs::write(format!("{folder}/{name}"), &shown).unwrap();
    }
    assert_eq!(shown, expected);
}

#[test]
fn folded_turns_are_one_line() {
    check(Folding::Folded, "folded.txt", include_str!("folded.txt"));
}

#[test]
fn open_turns_are_complete() {
    check(Folding::Open, "open.txt", include_str!("open.txt"));
}

#[test]
fn answers_keep_their_text_and_get_colours() {
    for (text, expected) in [
        ("plain", "plain"),
        ("a `b` **c** d", "a |``b``| |***c***| d"),
        ("a ``b`c`` d", "a |```b`c```| d"),
        ("2 * 3 ** 4 `", "2 * 3 ** 4 `"),
        ("## Title", "### Title#"),
        ("#hash", "#hash"),
        ("```\n**x**\n```", "~```~\n`**x**`\n~```~"),
        ("~~~\n```\n~~~\n`a`", "~~~~~\n`````\n~~~~~\n``a``"),
        ("日本 **語**", "日本 |***語***"),
    ] {
        let lines = lines(&[turn(1, answer(text))], Folding::Folded);
        let shown = shown(&lines);
        assert_eq!(shown.trim_matches('\n'), expected, "{text:?}");
        let texts: Vec<String> = lines.iter().map(TextLine::text).collect();
        assert_eq!(texts.join("\n").trim_matches('\n'), text);
    }
}

#[test]
fn a_denied_call_has_the_words_of_the_denial_once() {
    let mut call = samples::denied();
    call.duration_ms = Some(4_700);
    let said = lines(
        &[turn(1, TurnBody::ToolCall(Box::new(call.clone())))],
        Folding::Folded,
    );
    assert_eq!(
        shown(&said),
        "-• -|*Bash *|rm -rf data|- · denied-|- (4.7 s)-|: “not in production”\n"
    );
    call.decisions[0].by = annals_domain::run::ToolDecider::Hook;
    call.decisions[0].reason = Some(Text::from("one\ntwo"));
    let said = lines(
        &[turn(1, TurnBody::ToolCall(Box::new(call)))],
        Folding::Folded,
    );
    assert_eq!(
        shown(&said),
        "-• -|*Bash *|rm -rf data|- · denied-|- (4.7 s)-|- by hook ada-|: one\n    two\n"
    );
}

#[test]
fn a_call_without_a_result_has_no_failure() {
    let end = crate::CallEnd::new(annals_domain::run::ToolStatus::Error);
    let mut call = samples::call("Bash", r#"{"command":"make"}"#, CallRole::Command);
    call.line = call.line.ended(&end.with_result(crate::NO_RESULT));
    call.outcome = CallOutcome::NoResult;
    assert_eq!(call.line.to_string(), "Bash make -> result not recorded");
    let said = lines(
        &[turn(1, TurnBody::ToolCall(Box::new(call)))],
        Folding::Folded,
    );
    assert_eq!(shown(&said), "~• ~|*Bash *|make|~ · result not recorded~\n");
}

/// Marks without their ends are text, and a line of them takes no longer than another one.
#[test]
fn marks_without_an_end_are_text() {
    for mark in ["`", "``", "*", "**", "***", "`*", "** ", "`` "] {
        let text = format!("x {}", mark.repeat(if mark == "`" { 400_000 } else { 7 }));
        let said = lines(&[turn(1, answer(&text))], Folding::Folded);
        let whole: Vec<String> = said.iter().map(TextLine::text).collect();
        let expected = text.trim_end();
        assert!(whole.iter().any(|it| it.trim_end() == expected), "{mark}");
    }
    let said = lines(&[turn(1, answer("a `` b ` c ` d"))], Folding::Folded);
    assert!(shown(&said).contains("` c `"), "{}", shown(&said));
}

#[test]
fn lists_hang_below_their_bullets() {
    let text = "- one\n  10. two\nthree\n-four";
    let lines = lines(&[turn(1, answer(text))], Folding::Folded);
    let hanging: Vec<usize> = lines
        .iter()
        .filter(|it| !it.is_blank())
        .map(|it| it.hanging)
        .collect();
    assert_eq!(hanging, [2, 6, 0, 0]);
}

#[test]
fn a_sub_agents_lines_are_indented() {
    let mut writer = LineWriter::new(Folding::Folded, when).nested().nested();
    let mut out = Vec::new();
    writer.turn(&turn(7, answer("a")), &diffs(), &mut out);
    let line = out.iter().find(|line| !line.is_blank()).unwrap();
    assert_eq!((line.indent, line.turn), (8, 7));
}
