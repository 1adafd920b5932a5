//! What has no shape, or acts on what is around it, is visible on every page, in every answer and in the file of an export.

use annals::blocking::Wait;
use annals_viewer::{HtmlOptions, export_html};
use serde_json::{Value, json};

use crate::support::{Place, Viewing, uuid};

const INTENT: u64 = 0xc_0000_0001;
const WAITING: u64 = 0xc_0000_0002;
const TASK: u64 = 0xc_0000_0003;
const RUN: u64 = 0xc_0000_0004;
const PATCH_SET: u64 = 0xc_0000_0005;
const PIPELINE: u64 = 0xc_0000_0006;
/// A override of the direction, codes of terminals in both forms, what is invisible, and tags.
const HIDDEN: &str =
    "safe\u{202e}\u{1b}[2J\u{9b}31m\u{200b}\u{2066}\u{7f}\u{8}\u{e0041}\u{feff}end";
/// Its beginning as it is shown.
const SHOWN: &str = r"safe\u{202e}\u{1b}[2J\u{9b}31m";

fn story(place: &Place) {
    let (intent, task, run) = (uuid(INTENT), uuid(TASK), uuid(RUN));
    let all = |before: &str| format!("{before} {HIDDEN}");
    place.human(
        "create_intent",
        json!({ "id": intent, "prompt": all("Add") }),
    );
    place.human(
        "submit_intent",
        json!({ "id": uuid(WAITING), "prompt": all("Delete the database"), "source": "human", "risk": "high" }),
    );
    place.agent(
        "analyze_intent",
        json!({ "intent": intent, "content": all("Cache") }),
    );
    place.agent(
        "activate_intent",
        json!({ "intent": intent, "reason": all("clear") }),
    );
    place.agent(
        "create_pipeline",
        json!({ "id": uuid(PIPELINE), "max_frames": 3 }),
    );
    place.agent(
        "push_frame",
        json!({ "pipeline": uuid(PIPELINE), "kind": "step_summary", "summary": all("read") }),
    );
    place.agent(
        "create_task",
        json!({ "id": task, "title": all("Cache"), "intent": intent }),
    );
    place.agent(
        "create_run",
        json!({ "id": run, "task": task, "commit": "1".repeat(40) }),
    );
    place.agent("start_patching", json!({ "run": run }));
    place.agent(
        "record_tool_invocation",
        json!({
            "run": run, "tool_name": all("read"), "args": { "path": all("src") },
            "status": "ok", "result_summary": all("did"),
        }),
    );
    place.agent("propose_patch_set", json!({
        "run": run, "id": uuid(PATCH_SET), "format": "git_diff",
        "diff": format!("diff --git a/p b/p\n@@ -1 +1,2 @@\n-old\n+{HIDDEN}\n same\n"),
        "touched": [{ "path": all("src/p"), "change_type": "modify", "lines_added": 1, "lines_deleted": 1 }],
        "rationale": all("slow"),
    }));
}

/// Demands that nothing hidden is in a text but line breaks and tabs.
#[track_caller]
fn is_clean(what: &str, text: &str) {
    let hidden = |c: char| annals_terminal::is_hidden(c) && !matches!(c, '\n' | '\t');
    let found = text.find(hidden);
    let around = found.map(|at| text[..at].chars().rev().take(60).collect::<String>());
    assert_eq!(found, None, "{what}: behind (backwards) {around:?}");
}

fn strings(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|it| strings(it, found)),
        Value::Object(fields) => fields.values().for_each(|it| strings(it, found)),
        _ => {}
    }
}

#[test]
fn nothing_hidden_is_sent() {
    let place = Place::new();
    story(&place);
    let viewing = Viewing::of(&place);
    let object = |n: u64, rest: &str| format!("/objects/{}{rest}", uuid(n));
    let pages = [
        "/inbox".to_owned(),
        "/intents".to_owned(),
        "/tasks".to_owned(),
        "/runs".to_owned(),
        "/patch-sets".to_owned(),
        "/tool-calls".to_owned(),
        "/log".to_owned(),
        "/events/1".to_owned(),
        "/search?q=safe%E2%80%AE".to_owned(),
        object(INTENT, ""),
        object(INTENT, "/tree"),
        object(WAITING, ""),
        object(RUN, ""),
        object(RUN, "/timeline"),
        object(RUN, "/history"),
        object(PATCH_SET, "/diff"),
        object(PIPELINE, "/window"),
        format!("/compare?a={}&b={}", uuid(RUN), uuid(RUN)),
        // What a request has comes back, too.
        "/runs?status=%E2%80%AE%1B%C2%9B".to_owned(),
        "/objects/%E2%80%AEx".to_owned(),
    ];
    let mut shown = 0;
    for page in pages {
        let answer = viewing.get(&page);
        is_clean(&page, &answer.body);
        shown += usize::from(answer.body.contains(SHOWN));
        let json = viewing.get(&format!("/api/v1{page}"));
        is_clean(&page, &json.body);
        let mut found = Vec::new();
        strings(&json.json(), &mut found);
        // It means what was recorded.
        // Summaries have a part of it, some of them with escapes already.
        let is_hidden = |text: &String| text.contains("\u{202e}") || text.contains(r"\u{202e}");
        let is_shown = answer.status == 200 && answer.body.contains(SHOWN);
        let is_search = page.starts_with("/search");
        assert!(
            !is_shown || is_search || found.iter().any(is_hidden),
            "{page}"
        );
    }
    assert!(shown >= 12, "{shown} pages show it");
    let overview = viewing.get("/overview");
    is_clean("/overview", &overview.body);
    assert!(overview.body.contains(SHOWN));
    // Session pages show badges.
    let badges = "safe<span class=\"ctl\">U+202E</span><span class=\"ctl\">ESC</span>[2J";
    for page in [
        "/".to_owned(),
        format!("/sessions/{}", uuid(TASK)),
        format!("/sessions/{}/find?q=safe", uuid(TASK)),
    ] {
        let page_of = viewing.get(&page);
        is_clean(&page, &page_of.body);
        assert!(page_of.body.contains(badges), "{page}: {}", page_of.body);
    }
    for format in ["html", "markdown", "json"] {
        let page = format!("/sessions/{}/export?format={format}", uuid(TASK));
        let answer = viewing.get(&page);
        assert_eq!(answer.status, 200, "{page}");
        // A Markdown file has what was recorded; of the parts that pages copy hidden characters are escapes.
        match format {
            "markdown" => {
                assert!(answer.body.contains('\u{202e}'), "{page}");
                let part = format!("{page}&from=1&limit=100");
                is_clean(&part, &viewing.get(&part).body);
            }
            _ => is_clean(&page, &answer.body),
        }
        assert!(
            answer
                .header("content-disposition")
                .starts_with("attachment; filename="),
            "{page}"
        );
    }
    let inbox = viewing.get("/inbox").body;
    assert!(
        inbox.contains(&format!("Delete the database {SHOWN}")),
        "{inbox}"
    );
    // Also in what is copied as Markdown, and in the title.
    assert!(
        inbox.contains(&format!(
            "## Delete the database {}",
            SHOWN.replace('[', r"\[")
        )),
        "{inbox}"
    );
    let page = viewing.get(&object(WAITING, "")).body;
    assert!(
        page.contains(&format!("<title>Delete the database {SHOWN}")),
        "{page}"
    );
}

#[test]
fn nothing_hidden_is_in_a_file() {
    let place = Place::new();
    story(&place);
    for object in [INTENT, WAITING, TASK, RUN, PATCH_SET, PIPELINE] {
        let id = uuid(object);
        let export = export_html(&place.annals, &id, HtmlOptions::default());
        let export = export.wait().unwrap();
        is_clean("the file", &export.html);
        assert!(object == PIPELINE || export.html.contains(SHOWN));
    }
}
