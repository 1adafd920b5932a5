//! What the tools of Cursor do with files, by their names and inputs, and what of a text a person typed.

use annals_domain::Timestamp;
use annals_domain::run::ChangeType;
use chrono::{DateTime, FixedOffset, NaiveDateTime};
use serde_json::value::RawValue;

use crate::import::members::Members;
use crate::transcript::Ids;
use crate::transcript::agent::Agent;
use crate::transcript::apply_patch;
use crate::transcript::edit::{FileUse, Patch, Texts};
use crate::transcript::item::COUNTS;

/// Cursor.
pub(crate) static AGENT: Agent = Agent {
    key: "cursor",
    actor: "cursor",
    provider: "cursor",
    version_key: "cursor_version",
    no_model: "",
    token_paths: [""; COUNTS],
    setting_paths: ["cwd", "", "cursor_version"],
    time_path: "(the time)",
    session_path: "conversation_id",
    files,
    edits,
    patch: |_| Patch::default(),
    asked,
    begins_beside: |_| false,
};

/// What a person typed is in an element, beside what the program adds in others.
const TYPED: &str = "user_query";

/// When a person typed it is in another one.
const TYPED_AT: &str = "timestamp";

/// How a text begins in which a person typed nothing.
const BY_PROGRAM: [&str; 7] = [
    "<attached_files>",
    "<conversation_summary>",
    "<open_and_recently_viewed_files>",
    "<system-reminder>",
    "<system_notification>",
    "<system_reminder>",
    "<user_info>",
];

/// What a person asked for in a text; nothing where the program wrote all of it.
pub(super) fn asked(text: &str) -> Option<&str> {
    let text = text.trim();
    let by_program = || BY_PROGRAM.iter().any(|start| text.starts_with(start));
    let typed = match element(text, TYPED) {
        Some(typed) => typed.trim(),
        None if by_program() => "",
        None => text,
    };
    (!typed.is_empty()).then_some(typed)
}

/// When a person typed a text, as it says: `Sunday, Aug 2, 2026, 3:51 AM (UTC-7)`.
pub(super) fn typed_at(text: &str) -> Option<Timestamp> {
    // What a person typed may have such an element, too.
    let before = text
        .split_once(&format!("<{TYPED}>"))
        .map_or(text, |(before, _)| before);
    let (_, within) = before.split_once(&format!("<{TYPED_AT}>"))?;
    let (time, _) = within.split_once(&format!("</{TYPED_AT}>"))?;
    let (time, zone) = time.trim().rsplit_once(" (UTC")?;
    let zone = zone.strip_suffix(')')?;
    let (sign, hours) = match zone.split_at_checked(1) {
        Some(("-", hours)) => (-1, hours),
        Some(("+", hours)) => (1, hours),
        _ => (1, "0"),
    };
    let (hours, minutes) = hours.split_once(':').unwrap_or((hours, "0"));
    let (hours, minutes): (i32, i32) = (hours.parse().ok()?, minutes.parse().ok()?);
    let seconds = hours
        .checked_mul(3_600)?
        .checked_add(minutes.checked_mul(60)?)?;
    let zone = FixedOffset::east_opt(seconds.checked_mul(sign)?)?;
    let time = NaiveDateTime::parse_from_str(time, "%A, %b %e, %Y, %I:%M %p").ok()?;
    let time: DateTime<FixedOffset> = time.and_local_timezone(zone).single()?;
    Some(Timestamp::from(time.to_utc()))
}

/// The text within an element of this name, which may have the end of one in it.
fn element<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let (_, within) = text.split_once(&format!("<{name}>"))?;
    let end = within.rfind(&format!("</{name}>"))?;
    within.get(..end)
}

fn edits(tool: &str) -> bool {
    matches!(
        tool,
        "ApplyPatch" | "Delete" | "Edit" | "MultiEdit" | "StrReplace" | "Write"
    )
}

/// The files that a call names; none for tools whose footprint is not known.
fn files(tool: &str, input: Option<&RawValue>) -> Vec<FileUse> {
    let given = Members::of(input);
    let path = || {
        let names = ["path", "file_path", "target_file"];
        names.into_iter().find_map(|name| given.text(name))
    };
    let file = match tool {
        "ApplyPatch" => return patched(input, &given),
        "Read" => path().map(FileUse::read),
        "Write" => path().map(|path| {
            let content = given.get("contents").or_else(|| given.get("content"));
            let texts = Texts {
                content,
                ..Texts::default()
            };
            FileUse::write(path, texts)
        }),
        "Edit" | "StrReplace" => path().map(|path| FileUse::write(path, replaced(&given))),
        "MultiEdit" => path().map(|path| {
            let edits = given.list("edits").into_iter();
            let edits = edits.map(|edit| replaced(&Members::of(Some(edit))).replaced);
            let texts = Texts {
                replaced: edits.flatten().collect(),
                ..Texts::default()
            };
            FileUse::write(path, texts)
        }),
        "Delete" => path().map(|path| {
            let texts = Texts {
                change: Some(ChangeType::Delete),
                ..Texts::default()
            };
            FileUse::write(path, texts)
        }),
        _ => None,
    };
    file.into_iter().collect()
}

fn replaced(given: &Members<'_>) -> Texts {
    let text = |name: &str| given.get::<String>(name);
    Texts {
        replaced: text("old_string")
            .zip(text("new_string"))
            .into_iter()
            .collect(),
        ..Texts::default()
    }
}

fn patched(input: Option<&RawValue>, given: &Members<'_>) -> Vec<FileUse> {
    let own: Option<String> = input.and_then(|raw| serde_json::from_str(raw.get()).ok());
    let text = own
        .or_else(|| given.text("patch"))
        .or_else(|| given.text("input"));
    text.map_or_else(Vec::new, |text| apply_patch::files(&text))
}

/// The ids of what is imported.
pub fn ids() -> Ids {
    Ids::of(AGENT.key)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::{Value, json, value::to_raw_value};

    use super::*;
    use crate::transcript::edit::{Access, change};

    fn uses(tool: &str, input: Value) -> Vec<FileUse> {
        files(tool, Some(&to_raw_value(&input).unwrap()))
    }

    fn diff(tool: &str, input: Value) -> String {
        let file = uses(tool, input).pop().unwrap();
        assert!(file.access == Access::Write && edits(tool));
        let change = change(&file.path, &file.texts, &Patch::default());
        String::from_utf8(change.diff.unwrap_or_default()).unwrap()
    }

    #[test]
    fn an_edit_has_the_diff_of_its_texts() {
        let added = "--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+1\n";
        assert_eq!(
            diff("Write", json!({ "path": "n", "contents": "1\n" })),
            added
        );
        let changed = "--- a/n\n+++ b/n\n@@ -1 +1 @@\n-x\n+y\n";
        let one = json!({ "path": "n", "old_string": "x", "new_string": "y" });
        assert_eq!(diff("StrReplace", one.clone()), changed);
        let many = json!({ "file_path": "n", "edits": [one, 5] });
        assert_eq!(diff("MultiEdit", many), changed);
        assert_eq!(diff("Delete", json!({ "path": "n" })), "");
        let patch = "*** Begin Patch\n*** Update File: n\n@@\n-x\n+y\n*** End Patch";
        assert_eq!(uses("ApplyPatch", json!(patch)).len(), 1);
        assert_eq!(uses("ApplyPatch", json!({ "patch": patch })).len(), 1);
    }

    #[test]
    fn odd_inputs_name_no_file() {
        assert_eq!(uses("Write", json!({ "path": 5 })), []);
        assert_eq!(uses("Shell", json!({ "path": "x" })), []);
        assert_eq!(files("ApplyPatch", None), []);
        let read = uses("Read", json!({ "path": "/a", "limit": 40 }));
        assert!(matches!(read.as_slice(), [file] if file.access == Access::Read));
    }

    #[test]
    fn a_person_typed_what_is_in_the_element() {
        let text = "<timestamp>Sunday, Aug 2, 2026, 3:51 AM (UTC-7)</timestamp>\n<user_query>\nDo it\n</user_query>";
        assert_eq!(asked(text), Some("Do it"));
        let at = typed_at(text).unwrap();
        assert_eq!(at.to_string(), "2026-08-02T10:51:00Z");
        assert_eq!(asked("Do it"), Some("Do it"));
        assert_eq!(
            asked("<user_query>a</user_query>b</user_query>"),
            Some("a</user_query>b")
        );
        for by_program in [
            "",
            " \n",
            "<system_reminder>x</system_reminder>",
            "<user_query> </user_query>",
        ] {
            assert_eq!(asked(by_program), None, "{by_program}");
        }
    }

    #[test]
    fn the_time_is_what_the_program_put_before() {
        let time = "<timestamp>Sunday, Aug 2, 2026, 3:51 AM (UTC-7)</timestamp>";
        let asks =
            |before: &str| format!("{before}<user_query>why {time} </timestamp>?</user_query>");
        assert!(typed_at(&asks(time)).is_some());
        assert_eq!(typed_at(&asks("")), None);
    }

    #[test]
    fn odd_times_are_none() {
        let of = |time: &str| typed_at(&format!("<timestamp>{time}</timestamp>"));
        for odd in [
            "",
            "x",
            "Sunday, Aug 2, 2026, 3:51 AM",
            "Sunday, Aug 2, 2026, 3:51 AM (UTC-99999999999)",
            "Sunday, Aug 2, 2026, 3:51 AM (UTC-2147483647)",
            "Monday, Aug 2, 2026, 3:51 AM (UTC-7)",
            "Sunday, Aug 32, 2026, 3:51 AM (UTC-7)",
        ] {
            assert_eq!(of(odd), None, "{odd}");
        }
        let of = |zone: &str| {
            of(&format!("Sunday, Aug 2, 2026, 12:30 PM (UTC{zone})"))
                .unwrap()
                .to_string()
        };
        assert_eq!(of(""), "2026-08-02T12:30:00Z");
        assert_eq!(of("+5:30"), "2026-08-02T07:00:00Z");
    }
}
