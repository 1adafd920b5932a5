//! What of a user's line a person wrote. The program puts texts of its own there: what a command printed,
//! which file is open in the editor, that a task in the background has ended.

/// How a text begins of which nothing was asked by a person.
const BY_PROGRAM: [&str; 3] = ["<command-", "<local-command-", "[Request interrupted"];

/// Elements of which the same is true, where they have an end.
const ELEMENTS_BY_PROGRAM: [&str; 4] = [
    "bash-input",
    "bash-stdout",
    "bash-stderr",
    "task-notification",
];

/// What a person asked for in a text; nothing where the program wrote all of it. A text without elements of
/// the program is as it was.
pub(super) fn asked(text: &str) -> Option<&str> {
    let mut asked = text;
    while let Some(behind) = behind_element(asked) {
        asked = behind.trim_start_matches(['\r', '\n']);
    }
    if is_by_program(asked.trim_start()) {
        return None;
    }
    while let Some(before) = before_element(asked) {
        asked = before.trim_end();
    }
    (!asked.trim().is_empty()).then_some(asked)
}

/// Whether a text begins with what the program puts there, with an end or without one.
pub(super) fn begins_beside(text: &str) -> bool {
    let name = text
        .trim_start()
        .strip_prefix('<')
        .and_then(|rest| rest.split_once('>'));
    name.is_some_and(|(name, _)| end_of(name).is_some())
}

fn is_by_program(text: &str) -> bool {
    let element = |name: &&str| {
        let is_begun = text.starts_with(&format!("<{name}>"));
        is_begun && text.contains(&format!("</{name}>"))
    };
    let begins = |start: &&str| text.starts_with(*start);
    BY_PROGRAM.iter().any(begins) || ELEMENTS_BY_PROGRAM.iter().any(element)
}

/// The text behind the element that it begins with.
fn behind_element(text: &str) -> Option<&str> {
    let (name, rest) = text.trim_start().strip_prefix('<')?.split_once('>')?;
    let end = end_of(name)?;
    rest.split_once(&end).map(|(_, behind)| behind)
}

/// The text before the element that it ends with, which begins a line.
fn before_element(text: &str) -> Option<&str> {
    let (before, name) = text.trim_end().strip_suffix('>')?.rsplit_once("</")?;
    let end = end_of(name)?;
    let (before, within) = before.rsplit_once(&format!("<{name}>"))?;
    let begins_line = before.is_empty() || before.ends_with('\n');
    (begins_line && !within.contains(&end)).then_some(before)
}

/// How an element ends that the program puts before or behind what a person wrote; nothing for another name.
fn end_of(name: &str) -> Option<String> {
    let of_editor = name.strip_prefix("ide_");
    let is_word = |rest: &str| {
        rest.bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte == b'_')
    };
    let is_own = name == "system-reminder" || of_editor.is_some_and(is_word);
    is_own.then(|| format!("</{name}>"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_program_wrote_is_not_asked() {
        for text in [
            "<command-name>/clear</command-name>",
            " <local-command-stdout>x</local-command-stdout>",
            "<bash-input>ls</bash-input>",
            "<bash-stdout>a</bash-stdout><bash-stderr></bash-stderr>",
            "<task-notification>\n<status>completed</status>\n</task-notification>\nRead the output",
            "[Request interrupted by user]",
            "<ide_opened_file>The user opened x</ide_opened_file>",
            "<ide_selection>a</ide_selection>\n<system-reminder>b</system-reminder>\n",
            "<ide_opened_file>x</ide_opened_file>\n<command-name>/clear</command-name>",
            "<ide_opened_file>x</ide_opened_file>\n<bash-input>ls</bash-input>",
            " \n",
            "",
        ] {
            assert_eq!(asked(text), None, "{text:?}");
        }
    }

    #[test]
    fn what_surrounds_a_prompt_is_taken_off_and_the_rest_is_as_it_was() {
        for (text, expected) in [
            ("  Fix it \n", "  Fix it \n"),
            ("<ide_opened_file>x</ide_opened_file>\nFix it", "Fix it"),
            ("<ide_a>x</ide_a>\n<ide_b>y</ide_b>\n\nFix it\n", "Fix it\n"),
            ("Fix it\n<system-reminder>x</system-reminder>\n", "Fix it"),
            (
                "<ide_a>x</ide_a>Fix <ide_b>y</ide_b> it",
                "Fix <ide_b>y</ide_b> it",
            ),
            ("Why <b>this</b>", "Why <b>this</b>"),
            ("a </ide_x>", "a </ide_x>"),
            ("<ide_x>that never ends", "<ide_x>that never ends"),
            ("<ide_x is odd, but a > b", "<ide_x is odd, but a > b"),
            (
                "<system-reminder> is odd, why?",
                "<system-reminder> is odd, why?",
            ),
            (
                "Explain <system-reminder>x</system-reminder>",
                "Explain <system-reminder>x</system-reminder>",
            ),
            (
                "Say\n<ide_a>x</ide_a> hello </ide_a>",
                "Say\n<ide_a>x</ide_a> hello </ide_a>",
            ),
            ("<ide_é>é</ide_é>", "<ide_é>é</ide_é>"),
            ("<bash-input> is odd, why?", "<bash-input> is odd, why?"),
            (
                "<ide_x>a</ide_x>\n    indented\n  code",
                "    indented\n  code",
            ),
        ] {
            assert_eq!(asked(text), Some(expected), "{text:?}");
        }
    }
}
